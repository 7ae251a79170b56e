// Keys that are patches of a picture (the option patch_columns): the picture, lit where the selected query
// looks, in place of the arcs; and the patches themselves in place of words.
#include "views/panels/picture.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "views/panels/panels.h"

namespace views {
namespace {

constexpr float kGap = 3;        // between patches
constexpr float kNumbered = 44;  // from this size on a patch shows its weight
constexpr ImU32 kVeil =
    IM_COL32(128, 128, 128, 255);  // takes the contrast, so dark and light are dimmed alike
constexpr float kThickest = 0.8f;  // of the veil over a patch with weight 0
constexpr float kLargest = 96;     // of a patch

/// The pixels of a patch: a row of X, one number a pixel, or three where it is in colour. Of Q, K and V X has
/// those of a recorded model, in colour, or zeros.
struct Pixels {
  const float* values;
  int side, channels;
};

std::optional<Pixels> pixelsOf(const Context& c, bool ofKeys, int token) {
  const attention::Tensor& x = ofKeys && c.state.cross ? c.state.xKv : c.state.x;
  const bool isX = c.state.mode == document::Mode::x;
  if (token >= x.rows() || (!isX && c.state.cross)) return {};
  if (const float* row = x.row(0, token);
      !isX && std::all_of(row, row + x.cols(), [](float v) { return v == 0; }))
    return {};
  for (const int channels : {isX ? 1 : 3, 3}) {
    const int side = static_cast<int>(std::lround(std::sqrt(x.cols() / channels)));
    if (side > 1 && side * side * channels == x.cols()) return Pixels{x.row(0, token), side, channels};
  }
  return {};
}

/// −1 is dark, 1 light.
int brightness(float value) {
  return static_cast<int>(std::lround(255 * std::clamp((value + 1) / 2, 0.0f, 1.0f)));
}

bool paint(const Context& c, bool ofKeys, int token, const Box& box) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const std::optional<Pixels> pixels = pixelsOf(c, ofKeys, token);
  if (!pixels) return false;
  const auto at = [&](float from, float size, int i) {
    return std::round(from + size * static_cast<float>(i) / static_cast<float>(pixels->side));
  };
  for (int i = 0; i < pixels->side * pixels->side; ++i) {
    const int r = i / pixels->side, col = i % pixels->side;
    const float* v = pixels->values + i * pixels->channels;
    const int red = brightness(v[0]), green = pixels->channels == 3 ? brightness(v[1]) : red,
              blue = pixels->channels == 3 ? brightness(v[2]) : red;
    list->AddRectFilled({at(box.x, box.width, col), at(box.y, box.height, r)},
                        {at(box.x, box.width, col + 1), at(box.y, box.height, r + 1)},
                        IM_COL32(red, green, blue, 255));
  }
  return true;
}

class Picture {
 public:
  Picture(Context& c, const Box& area) : c_(c), list_(ImGui::GetWindowDrawList()) {
    const CellRef focus = c.focus();
    const attention::Rows rows = attention::rowsOf(focus.tensor);
    byKey_ = rows == attention::Rows::keys;
    if (rows != attention::Rows::other && (byKey_ || focus.row < c.rowsSoFar())) chosen_ = focus.row;
    key_ = attention::isOfPairs(focus.tensor) ? focus.col : byKey_ ? focus.row : -1;
    across_ = std::min(c.state.patchColumns, c.state.keyTokens);
    // Tokens that fill no row, such as [CLS], stand in a column of their own before the picture.
    before_ = c.state.keyTokens % across_;
    const int down = c.state.keyTokens / across_, columns = across_ + (before_ > 0 ? 1 : 0);
    const Box room{area.x + 18, area.y + 68, area.width - 36, area.height - 84};
    cell_ = std::floor(std::min(
        {room.width / static_cast<float>(columns), room.height / static_cast<float>(down), kLargest}));
    x_ = std::round(room.midX() - cell_ * static_cast<float>(columns) / 2);
    y_ = std::round(room.y + (room.height - cell_ * static_cast<float>(down)) / 2);
    if (chosen_ >= 0)
      for (int t = 0; t < c.state.keyTokens; ++t) most_ = std::max(most_, weight(t));
    says_ = {area.x + 18, area.y + 44, area.width - 36, 20};
  }

  void draw() {
    if (cell_ < 4) return;
    if (chosen_ >= 0) {
      const std::string& label =
          (byKey_ ? document::keyLabels(c_.state) : c_.state.labels)[static_cast<std::size_t>(chosen_)];
      textMiddle(list_, c_.fonts.small, says_.x, says_.midY(), c_.palette.muted,
                 elide(c_.fonts.small,
                       byKey_ ? base::message({"Lit: the patches that look at ", label})
                              : base::message({"Lit: the patches that ", label, " looks at"}),
                       says_.width));
    }
    for (int t = 0; t < c_.state.keyTokens; ++t) patch(t);
  }

 private:
  float weight(int t) const { return byKey_ ? c_.weight(t, chosen_) : c_.weight(chosen_, t); }

  Box boxOf(int t) const {
    const int at = t - before_, row = t < before_ ? t : at / across_,
              col = t < before_ ? 0 : at % across_ + (before_ > 0 ? 1 : 0);
    const float gap = cell_ < 16 ? 1 : kGap;
    return {x_ + cell_ * static_cast<float>(col), y_ + cell_ * static_cast<float>(row), cell_ - gap,
            cell_ - gap};
  }

  void patch(int t) {
    const Box box = boxOf(t);
    const ImVec2 from{box.x, box.y}, to{box.right(), box.bottom()};
    const bool isPainted = t >= before_ && paint(c_, true, t, box);
    const float share = chosen_ < 0 || most_ <= 0 ? 1 : std::clamp(weight(t) / most_, 0.0f, 1.0f);
    if (isPainted) list_->AddRectFilled(from, to, withAlpha(kVeil, kThickest * (1 - share)));
    else if (chosen_ >= 0) list_->AddRectFilled(from, to, withAlpha(c_.palette.weight, share));
    list_->AddRect(from, to, c_.palette.border);
    if (!isPainted && chosen_ < 0 && box.width >= 24) {
      const AsIs asIs;
      textCentered(
          list_, c_.fonts.small, box.midX(), box.midY(), c_.palette.text,
          elide(c_.fonts.small, document::keyLabels(c_.state)[static_cast<std::size_t>(t)], box.width - 4));
    }
    if (chosen_ >= 0 && cell_ >= kNumbered) number(box, weight(t));
    if (t == key_) list_->AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1}, c_.palette.key, 0, 0, 2);
    if (t == chosen_ && !byKey_ && !c_.state.cross)
      list_->AddRect({from.x - 1, from.y - 1}, {to.x + 1, to.y + 1}, c_.palette.query, 0, 0, 2);
    if (!c_.state.cross) c_.widgetRects["query:" + std::to_string(t)] = box;
  }

  void number(const Box& box, float value) {
    const std::string words = formatNumber(static_cast<double>(value), 2);
    const float width = textWidth(c_.fonts.monoSmall, words) + 8;
    const Box at{box.right() - width - 4, box.bottom() - 22, width, 18};
    list_->AddRectFilled({at.x, at.y}, {at.right(), at.bottom()}, withAlpha(c_.palette.panel, 0.92f), 3);
    textCentered(list_, c_.fonts.monoSmall, at.midX(), at.midY(), c_.palette.text, words);
  }

  Context& c_;
  ImDrawList* list_;
  Box says_;
  float cell_ = 0, x_ = 0, y_ = 0, most_ = 0;
  int across_ = 1, before_ = 0, chosen_ = -1, key_ = -1;
  bool byKey_ = false;
};

}  // namespace

bool patchLabel(Context& c, bool ofKeys, int token, const Box& box) {
  if (ofKeys ? token < c.state.keyTokens % c.state.patchColumns : c.state.cross) return false;
  if (!paint(c, ofKeys, token, box)) return false;
  ImGui::GetWindowDrawList()->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border);
  return true;
}

void picture(Context& c, const Box& area) { Picture(c, area).draw(); }

}  // namespace views
