// "Who attends to whom": one curve from every query to every key that it looks at.
#include <algorithm>
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr float kFaintest = 0.01f;  // thinner links are not drawn
constexpr int kAllLinks = 40;        // with more tokens, those not in focus show only their strongest link

class Arcs {
 public:
  Arcs(Context& c, Box area, float top) : c_(c), list_(ImGui::GetWindowDrawList()) {
    const int n = std::max(c.state.tokens, c.state.keyTokens);
    left_ = area.x, right_ = area.right();
    x0_ = area.x + area.width * 0.225f, x1_ = area.x + area.width * 0.76f;
    const float room = area.bottom() - top - 26;
    pitch_ = std::min(56.0f, room / static_cast<float>(n));
    y0_ = top + 12 + std::max(0.0f, (room - pitch_ * static_cast<float>(n)) / 2) + pitch_ / 2;
    thick_ = std::min(10.0f, pitch_ * 0.45f);
  }

  void draw() {
    const CellRef focus = c_.focus();
    const attention::Rows rows = attention::rowsOf(focus.tensor);
    byKey_ = rows == attention::Rows::keys;
    chosen_ = rows == attention::Rows::other ? -1 : focus.row;
    key_ = focus.tensor == TensorId::weights || focus.tensor == TensorId::scores ? focus.col : -1;
    captions();
    links(false);
    links(true);
    labels();
  }

 private:
  float y(int token) const { return y0_ + pitch_ * static_cast<float>(token); }

  void captions() {
    if (pitch_ < 14) return;
    const float top = y(0) - std::max(pitch_ / 2, 18.0f) - 2;
    textRight(list_, c_.fonts.small, x0_ - 8, top, c_.palette.muted, "query");
    textMiddle(list_, c_.fonts.small, x1_ + 10, top, c_.palette.muted, "key");
  }

  void links(bool strong) {
    const int keys = c_.state.keyTokens;
    std::vector<float> row(static_cast<std::size_t>(keys));
    for (int i = 0; i < c_.state.tokens; ++i) {
      for (int j = 0; j < keys; ++j) row[static_cast<std::size_t>(j)] = c_.weight(i, j);
      const auto best = std::max_element(row.begin(), row.end()) - row.begin();
      for (int j = 0; j < keys; ++j) {
        const bool chosen = byKey_ ? j == chosen_ : i == chosen_;
        if (chosen != strong || (!chosen && keys > kAllLinks && j != best)) continue;
        link(i, j, std::min(row[static_cast<std::size_t>(j)], 1.0f), chosen);
      }
    }
  }

  void link(int i, int j, float w, bool chosen) {
    if (w < kFaintest) return;
    const float alpha = chosen ? 0.88f : c_.palette.dark ? 0.2f : 0.15f;
    const float middle = (x0_ + x1_) / 2, width = 1.0f + thick_ * w;
    const ImU32 color = withAlpha(c_.palette.weight, alpha);
    list_->PathLineTo({x0_, y(i)});
    if (i == j) list_->PathLineTo({x1_, y(j)});
    else list_->PathBezierCubicCurveTo({middle, y(i)}, {middle, y(j)}, {x1_, y(j)}, 40);
    list_->PathStroke(color, 0, width);
  }

  void labels() {
    for (int t = 0; t < c_.state.tokens; ++t) {
      const bool chosen = !byKey_ && t == chosen_;
      if (pitch_ < 11 && !chosen) continue;
      ImFont* font = chosen ? c_.fonts.strong : c_.fonts.text;
      const std::string word = elide(font, c_.state.labels[static_cast<std::size_t>(t)], std::min(110.0f, x0_ - left_ - 18));
      textRight(list_, font, x0_ - 10, y(t), chosen ? c_.palette.query : c_.palette.text, word);
      const float width = textWidth(font, word), high = std::min(pitch_, 24.0f);
      c_.places["query:" + std::to_string(t)] = {x0_ - 10 - width, y(t) - high / 2, width, high};
    }
    const std::vector<std::string>& keys = document::keyLabels(c_.state);
    for (int t = 0; t < c_.state.keyTokens; ++t) {
      const bool chosen = t == (byKey_ ? chosen_ : key_);
      if (pitch_ < 11 && !chosen) continue;
      ImFont* font = chosen ? c_.fonts.strong : c_.fonts.text;
      textMiddle(list_, font, x1_ + 10, y(t), chosen ? c_.palette.key : c_.palette.text,
                 elide(font, keys[static_cast<std::size_t>(t)], std::min(110.0f, right_ - x1_ - 18)));
    }
  }

  Context& c_;
  ImDrawList* list_;
  float left_ = 0, right_ = 0, x0_ = 0, x1_ = 0, y0_ = 0, pitch_ = 0, thick_ = 0;
  int chosen_ = -1, key_ = -1;
  bool byKey_ = false;
};

}  // namespace

void arcs(Context& c) {
  if (c.layout.arcs.empty()) return;
  const Box area = onScreen(c.layout, c.view, c.layout.arcs);
  const Box& board = c.layout.board;
  if (area.bottom() < board.y || area.y > board.bottom()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  const float top = card(c, area, "Who attends to whom");
  Arcs(c, area, top).draw();
  list->PopClipRect();
}

float card(Context& c, const Box& box, std::string_view title) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel, 8);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 8);
  textMiddle(list, c.fonts.strong, box.x + 18, box.y + 22, c.palette.text, elide(c.fonts.strong, title, box.width - 36));
  return box.y + 38;
}

}  // namespace views
