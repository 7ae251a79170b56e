#include "views/pages/model_compare.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/sentence.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using base::joined;

constexpr std::uint32_t kPairSlot = 9990;  // of the first texture, of three
constexpr float kPairGap = 14, kPairCaption = 22;

/// Cells as large as all of a matrix has room for, in the middle of the box.
draw::Heatmap fitted(const attention::Tensor& w, const Box& box) {
  draw::Heatmap look;
  look.cell = box.width / static_cast<float>(std::max(w.rows(), w.cols()));
  look.x = box.x + (box.width - look.cell * static_cast<float>(w.cols())) / 2,
  look.y = box.y + (box.height - look.cell * static_cast<float>(w.rows())) / 2;
  look.gap = look.cell >= 6 ? 1.0f : 0.0f, look.radius = 0;
  return look;
}

class HeadPair {
 public:
  HeadPair(Context& c, PageColumn& column)
      : c_(c),
        view_(c.view.model.compare),
        column_(column),
        first_(pictureOf(view_.first)),
        second_(pictureOf(view_.second)) {}

  void draw() {
    column_.openCard("Two heads side by side");
    close();
    if (first_.each != 1 || second_.each != 1) {
      column_.sentence("They are being computed.");
      return column_.closeCard();
    }
    subtract();
    const Box start = column_.take(0);
    size_ = std::floor(std::min((start.width - 2 * kPairGap) / 3, 260.0f));
    const std::array<base::Message, 3> captions{nameOf(view_.first), nameOf(view_.second), "first − second"};
    column_.take(kPairCaption + size_ + 8);
    for (int i = 0; i < 3; ++i) {
      const Box box{start.x + static_cast<float>(i) * (size_ + kPairGap), start.y + kPairCaption, size_,
                    size_};
      textMiddle(list_, c_.fonts.small, box.x, start.y + 8, c_.palette.muted,
                 elide(c_.fonts.small, captions[static_cast<std::size_t>(i)], size_));
      picture(i, box);
    }
    legend(start.x + 2 * (size_ + kPairGap));
    numbers();
    column_.closeCard();
  }

 private:
  struct Cell {
    int row = 0, col = 0;
  };

  const document::LayerPicture& pictureOf(HeadPlace at) const {
    return c_.derived.layers()[static_cast<std::size_t>(at.layer)];
  }
  base::Message nameOf(HeadPlace at) const {
    return hasLayers(c_.state) ? base::message({"Layer ", at.layer + 1, ", head ", at.head + 1})
                               : base::message({"Head ", at.head + 1});
  }
  float of(int which, Cell at) const {
    if (which == 2) return view_.difference.at(0, at.row, at.col);
    return which == 0 ? first_.weights.at(view_.first.head, at.row, at.col)
                      : second_.weights.at(view_.second.head, at.row, at.col);
  }

  void close() {
    const Box row = column_.take(0);
    const float side = c_.roomy() ? 44.0f : 28.0f;
    const Box cross{row.right() - side, row.y - 34 - (side - 28) / 2, side, side};
    const FocusRing::Key key = column_.keys("model:pair-close", cross);
    if (Widgets(c_).cross("model:pair-close", cross) || key.press) view_ = {};
  }

  /// Once for each pair and each change of its numbers.
  void subtract() {
    const std::array<std::uint64_t, 6> of{first_.version,          second_.version,
                                          key(view_.first.layer),  key(view_.first.head),
                                          key(view_.second.layer), key(view_.second.head)};
    if (view_.of == of) return;
    view_.of = of, ++view_.version;
    const attention::Tensor& w = first_.weights;
    view_.difference = attention::Tensor(1, w.rows(), w.cols());
    const float *a = w.head(view_.first.head), *b = second_.weights.head(view_.second.head);
    float* to = view_.difference.row(0, 0);
    view_.most = 0;
    for (int i = 0; i < w.rows() * w.cols(); ++i)
      to[i] = a[i] - b[i], view_.most = std::max(view_.most, std::fabs(to[i]));
    std::vector<int> order(static_cast<std::size_t>(w.rows() * w.cols()));
    std::iota(order.begin(), order.end(), 0);
    view_.strongest.resize(std::min<std::size_t>(ModelCompare::kStrongest, order.size()));
    std::partial_sort_copy(
        order.begin(), order.end(), view_.strongest.begin(), view_.strongest.end(), [to](int i, int j) {
          return std::fabs(to[i]) != std::fabs(to[j]) ? std::fabs(to[i]) > std::fabs(to[j]) : i < j;
        });
  }
  static std::uint64_t key(int n) { return static_cast<std::uint64_t>(n); }

  void picture(int which, const Box& box) {
    const attention::Tensor& w = view_.difference;
    if (which < 2) {
      drawHead(c_, which == 0 ? first_ : second_, which == 0 ? view_.first.head : view_.second.head, box,
               kPairSlot + static_cast<std::uint32_t>(which), 1);
    } else {
      draw::Heatmap look = fitted(w, box);
      look.low = -end(), look.high = end(), look.map = c_.palette.signedMap;
      c_.heatmaps.draw(list_, kPairSlot + 2, {w.head(0), w.rows(), w.cols(), w.cols(), view_.version}, look);
    }
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 3);
    c_.widgetRects[joined({"model:pair:", which})] = box;
    point(box);
  }

  /// The cell under the pointer, or below a finger.
  void point(const Box& box) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const attention::Tensor& w = view_.difference;
    if (!ImGui::IsWindowHovered() || !box.contains(mouse.x, mouse.y)) return;
    const draw::Heatmap at = fitted(w, box);
    const int row = static_cast<int>((mouse.y - at.y) / at.cell),
              col = static_cast<int>((mouse.x - at.x) / at.cell);
    if (mouse.y >= at.y && row < w.rows() && mouse.x >= at.x && col < w.cols()) over_ = Cell{row, col};
  }

  float end() const { return niceBound(std::max(view_.most, 1e-3f)); }

  /// Below the difference: its colours, and what they stand for.
  void legend(float x) {
    const Box row = column_.take(28);
    constexpr int kSteps = 64;
    const float step = size_ / kSteps;
    for (int i = 0; i < kSteps; ++i) {
      const float left = x + static_cast<float>(i) * step;
      list_->AddRectFilled({left, row.y}, {left + step + 0.5f, row.y + 6},
                           toU32(draw::at(c_.palette.signedMap, (static_cast<float>(i) + 0.5f) / kSteps)));
    }
    const std::string most = formatNumber(double{end()}, 2);
    textMiddle(list_, c_.fonts.monoSmall, x, row.y + 17, c_.palette.muted, formatNumber(-double{end()}, 2));
    textCentered(list_, c_.fonts.monoSmall, x + size_ / 2, row.y + 17, c_.palette.muted, "0");
    textRight(list_, c_.fonts.monoSmall, x + size_, row.y + 17, c_.palette.muted, most);
  }

  /// Of the cell under the pointer, or of those that differ most.
  void numbers() {
    const attention::Tensor& w = view_.difference;
    const bool isExact = w.rows() == c_.state.tokens && w.cols() == c_.state.keyTokens;
    if (!isExact)
      column_.sentence(base::message({"Cells are blocks of ", (c_.state.tokens + w.rows() - 1) / w.rows(),
                                      " tokens a side, each with its weight that is farthest from 0."}));
    column_.sentence(over_ ? "The cell under the pointer:" : "Where they differ most:");
    const std::vector<int> cells = over_ ? std::vector{over_->row * w.cols() + over_->col} : view_.strongest;
    for (const int cell : cells) line({cell / w.cols(), cell % w.cols()}, isExact);
    for (std::size_t i = cells.size(); i < ModelCompare::kStrongest; ++i) column_.take(22);  // always as high
  }

  void line(Cell at, bool isExact) {
    const Box row = column_.take(22);
    const auto two = [](float value) { return formatNumber(double{value}, 2); };
    const float difference = of(2, at);
    const std::string sum = joined({two(of(0, at)), " − ", two(of(1, at)), " = ", two(difference)});
    textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.text, sum);
    const float room = row.width - textWidth(c_.fonts.monoSmall, sum) - 8;
    const int side = (c_.state.tokens + view_.difference.rows() - 1) / view_.difference.rows();
    const AsIs own;
    const std::string words = isExact
                                  ? joined({c_.state.labels[static_cast<std::size_t>(at.row)], " → ",
                                            document::keyLabels(c_.state)[static_cast<std::size_t>(at.col)]})
                                  : joined({at.row * side + 1, "… → ", at.col * side + 1, "…"});
    textMiddle(list_, c_.fonts.small, row.x, row.midY(), c_.palette.muted,
               elide(c_.fonts.small, words, room));
  }

  Context& c_;
  ModelCompare& view_;
  PageColumn& column_;
  const document::LayerPicture &first_, &second_;
  std::optional<Cell> over_;
  float size_ = 0;
  ImDrawList* list_ = ImGui::GetWindowDrawList();
};

}  // namespace

float drawHead(Context& c, const document::LayerPicture& of, int head, const Box& box, std::uint32_t slot,
               float opacity) {
  const attention::Tensor& w = of.weights;
  const bool isSigned = views::isSigned(c.state);
  draw::Heatmap look = fitted(w, box);
  look.high = 1, look.low = isSigned ? -1.0f : 0.0f,
  look.map = isSigned ? c.palette.signedMap : c.palette.weightMap;
  look.scale = static_cast<draw::Scale>(document::shownScale(c.state));
  look.opacity = opacity;
  draw::Values values{w.head(head), w.rows(), w.cols(), w.cols(), of.version};
  values.rowPeaks = of.peaks.data() + static_cast<std::ptrdiff_t>(head) * w.rows();
  c.heatmaps.draw(ImGui::GetWindowDrawList(), slot, values, look);
  return look.cell;
}

void chooseHead(Context& c, HeadPlace at) {
  ModelCompare& view = c.view.model.compare;
  if (!view.chooses) view.first = view.isOn ? view.second : HeadPlace{c.state.batchItem, c.state.focusHead};
  view.chooses = view.first == at;  // a head beside itself says nothing: the next one is the second
  view.isOn = !view.chooses;
  if (view.isOn) view.second = at;
}

void compareHeads(Context& c, PageColumn& column) {
  ModelCompare& view = c.view.model.compare;
  const auto isThere = [&](HeadPlace at) { return at.layer < c.state.batch && at.head < c.state.heads; };
  if (!view.isOn) return;
  if (!isThere(view.first) || !isThere(view.second)) return void(view = {});
  HeadPair(c, column).draw();
}

}  // namespace views
