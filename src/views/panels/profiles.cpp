// Beside the weights of a long board, what its rows and columns add up to: the entropy of each row, and how
// much each key gets.
#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr float kProfileBars = 24, kProfileBand = 7, kBesideWeights = 4;

/// Numbers along one side of the matrix, from its beginning.
struct AlongSide {
  const attention::Profiles::Profile& of;
  float cell, from, seenFrom, seenTo;  ///< the first cell begins at `from`; only what is seen is drawn

  /// Calls use(from, to, the largest number there) for each cell, or for each pixel where cells are smaller.
  template <class Use>
  void each(Use use) const {
    const std::vector<float>& numbers = of.numbers;
    const auto count = static_cast<int>(numbers.size());
    const float pitch = std::max(cell, 1.0f), end = std::min(from + cell * static_cast<float>(count), seenTo);
    const float skipped = std::max(std::floor((seenFrom - from) / pitch), 0.0f);
    for (float at = from + skipped * pitch; at < end; at += pitch) {
      const int first = std::clamp(static_cast<int>((at - from) / cell + 0.5f), 0, count - 1),
                last = std::clamp(static_cast<int>((at + pitch - from) / cell + 0.5f), first + 1, count);
      use(at, at + pitch, *std::max_element(numbers.begin() + first, numbers.begin() + last));
    }
  }
  float most() const { return std::max(of.most, 1e-6f); }
};

}  // namespace

void weightProfiles(Context& c, const MatrixPlace& m, const Box& box, const draw::Heatmap& look) {
  attention::Profiles& profiles = c.summaries.profiles();
  const int head = c.state.focusHead;
  if (c.summaries.isComputed(TensorId::weights, head))
    profiles.ask(head, c.summaries.stamps(TensorId::weights, head).latest);
  const attention::Tensor& w = c.trace.weights;
  if (!profiles.areThere(head, w.rows(), w.cols())) return;
  const Box& board = c.layout.board;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  const CellRef focus = c.focus();
  const bool isOfWeights = attention::isOfPairs(focus.tensor) && w.contains(head, focus.row, focus.col);

  const AlongSide rows{profiles.entropies(), m.cell, box.y, board.y, board.bottom()};
  const float left = box.right() + kBesideWeights, most = rows.most();
  const auto row = [&](float from, float to, float bits) {
    list->AddRectFilled({left, from}, {left + std::max(kProfileBars * bits / most, 0.5f), to},
                        withAlpha(c.palette.query, 0.4f));
  };
  if (left < board.right()) rows.each(row);
  c.widgetRects["profile:rows"] = {left, box.y, kProfileBars, box.height};

  const AlongSide columns{profiles.received(), m.cell, box.x, board.x, board.right()};
  const float top = box.bottom() + 2, largest = columns.most();
  const auto column = [&](float from, float to, float sum) {
    const float share = std::sqrt(std::max(sum, 0.0f) / largest);
    list->AddRectFilled({from, top}, {to, top + kProfileBand}, toU32(draw::at(look.map, share)));
  };
  if (top < board.bottom()) columns.each(column);
  c.widgetRects["profile:columns"] = {box.x, top, box.width, kProfileBand};
  if (!isOfWeights || c.summaries.sampledEach() > 1) return;  // the row may be another than that computed
  // The numbers of the cell that is looked at.
  const float y = box.y + (static_cast<float>(focus.row) + 0.5f) * m.cell;
  const auto number = [](const attention::Profiles::Profile& of, int at) {
    return formatNumber(static_cast<double>(of.numbers[static_cast<std::size_t>(at)]), 1);
  };
  const std::string bits = number(profiles.entropies(), focus.row);
  const float middle = std::clamp(y, box.y + 7, box.bottom() - 7),
              end = left + 3 + textWidth(c.fonts.monoSmall, bits);
  list->AddRectFilled({left, middle - 7}, {end, middle + 7}, c.palette.background, 3);
  textMiddle(list, c.fonts.monoSmall, left + 2, middle, c.palette.text, bits);
  textRight(list, c.fonts.monoSmall, box.x - 4, top + kProfileBand + 6, c.palette.text,
            "Σ" + number(profiles.received(), focus.col));
}

}  // namespace views
