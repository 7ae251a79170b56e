// "Who attends to whom": one curve from every query to every key that it looks at.
#include <algorithm>
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr int kAllPairs = 1600;   // with more, queries that are not in focus show only their strongest link
constexpr std::size_t kMost = 400;  // links that are drawn
constexpr float kOff = 0.2f;      // pixels by which a curve may be off

constexpr std::string_view kTitle = "Who attends to whom";

class Arcs {
 public:
  Arcs(Context& c, Box area, float top) : c_(c), list_(ImGui::GetWindowDrawList()) {
    const int n = std::max(c.state.tokens, c.state.keyTokens);
    left_ = area.x, right_ = area.right(), top_ = top;
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
    collect();
    for (const bool chosen : {false, true}) {  // those of the token in focus on top
      for (const Link& l : links_) {
        if (l.chosen == chosen) link(l);
      }
    }
    labels();
    note();
  }

 private:
  float y(int token) const { return y0_ + pitch_ * static_cast<float>(token); }

  void captions() {
    if (pitch_ < 14) return;
    const float top = y(0) - std::max(pitch_ / 2, 18.0f) - 2;
    textRight(list_, c_.fonts.small, x0_ - 8, top, c_.palette.muted, "query");
    textMiddle(list_, c_.fonts.small, x1_ + 10, top, c_.palette.muted, "key");
  }

  struct Link {
    int query, key;
    float weight;
    bool chosen;
  };

  void add(int i, int j, bool chosen) {
    const float w = c_.weight(i, j);
    if (w >= attention::kLink) links_.push_back({i, j, w, chosen});
  }

  // Those of the token in focus, and the strongest of the others.
  void collect() {
    const attention::Tensor& w = c_.weights();
    const int queries = c_.rowsSoFar(), keys = w.cols();
    strongestOnly_ = queries * keys > kAllPairs;
    const auto isChosen = [this](int i, int j) { return (byKey_ ? j : i) == chosen_; };
    for (int i = 0; i < queries; ++i) {
      for (int j = 0; !strongestOnly_ && j < keys; ++j) add(i, j, isChosen(i, j));
      if (!strongestOnly_) continue;
      const int best = c_.summaries.row(c_.weightsId(), w, c_.weightsHead(), i).highAt;
      if (best >= 0 && !isChosen(i, best)) add(i, best, false);
      if (byKey_ && chosen_ >= 0) add(i, chosen_, true);
    }
    for (int j = 0; strongestOnly_ && !byKey_ && chosen_ >= 0 && j < keys; ++j) add(chosen_, j, true);
    const auto isBefore = [](const Link& a, const Link& b) { return a.chosen != b.chosen ? a.chosen : a.weight > b.weight; };
    if (links_.size() > kMost) {
      std::nth_element(links_.begin(), links_.begin() + kMost, links_.end(), isBefore);
      links_.resize(kMost);
    }
  }

  // A curve has as many points as its bend needs.
  void link(const Link& l) {
    const float alpha = l.chosen ? 0.88f : c_.palette.dark ? 0.2f : 0.15f;
    const float middle = (x0_ + x1_) / 2, width = 1.0f + thick_ * std::min(l.weight, 1.0f);
    const float from = y(l.query), to = y(l.key);
    const int points = std::clamp(static_cast<int>(std::sqrt(0.75f * std::fabs(to - from) / kOff)) + 1, 1, 32);
    list_->PathLineTo({x0_, from});
    if (points < 3) list_->PathLineTo({x1_, to});
    else list_->PathBezierCubicCurveTo({middle, from}, {middle, to}, {x1_, to}, points);
    list_->PathStroke(withAlpha(c_.palette.weight, alpha), 0, width);
  }

  // What is left out is said.
  void note() {
    const int all = c_.summaries.links(c_.weightsId(), c_.weights(), c_.weightsHead());
    const int drawn = static_cast<int>(links_.size());
    if (drawn >= all) return;
    const std::string words = std::to_string(drawn) + " of " + std::to_string(all) + " links of 1 % or more" +
                              (strongestOnly_ ? ": each query's strongest" : ": the strongest");
    const float room = right_ - left_ - 36 - textWidth(c_.fonts.strong, kTitle) - 16;
    const std::string fitting = elide(c_.fonts.small, words, room);
    const float width = textWidth(c_.fonts.small, fitting), midY = top_ - 16;
    textRight(list_, c_.fonts.small, right_ - 18, midY, c_.palette.muted, fitting);
    c_.places["arcs-note"] = {right_ - 18 - width, midY - 8, width, 16};
  }

  void labels() {
    for (int t = 0; t < c_.rowsSoFar(); ++t) {
      const bool chosen = !byKey_ && t == chosen_;
      if (pitch_ < 11 && !chosen) continue;
      ImFont* font = chosen ? c_.fonts.strong : pitch_ < 16 ? c_.fonts.small : c_.fonts.text;
      const std::string word = elide(font, c_.state.labels[static_cast<std::size_t>(t)], std::min(110.0f, x0_ - left_ - 18));
      textRight(list_, font, x0_ - 10, y(t), chosen ? c_.palette.query : c_.palette.text, word);
      const float width = textWidth(font, word), high = std::min(pitch_, 24.0f);
      c_.places["query:" + std::to_string(t)] = {x0_ - 10 - width, y(t) - high / 2, width, high};
    }
    const std::vector<std::string>& keys = document::keyLabels(c_.state);
    for (int t = 0; t < c_.state.keyTokens; ++t) {
      const bool chosen = t == (byKey_ ? chosen_ : key_);
      if (pitch_ < 11 && !chosen) continue;
      ImFont* font = chosen ? c_.fonts.strong : pitch_ < 16 ? c_.fonts.small : c_.fonts.text;
      textMiddle(list_, font, x1_ + 10, y(t), chosen ? c_.palette.key : c_.palette.text,
                 elide(font, keys[static_cast<std::size_t>(t)], std::min(110.0f, right_ - x1_ - 18)));
    }
  }

  Context& c_;
  ImDrawList* list_;
  std::vector<Link> links_;
  bool strongestOnly_ = false;
  float left_ = 0, right_ = 0, top_ = 0, x0_ = 0, x1_ = 0, y0_ = 0, pitch_ = 0, thick_ = 0;
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
  const float top = card(c, area, kTitle);
  c.places["arcs"] = area;
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
