#include <algorithm>
#include <cmath>

#include "views/board/board.h"
#include "views/guide/guide.h"
#include "views/panels/coach_view.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::TensorId;

struct CoachWords {
  std::string_view what, why;
};
constexpr CoachWords kCoachWords[CoachView::kSteps] = {{"Drag this number:", "the weights follow."},
                                                       {"Flip Causal:", "no word looks at what comes after it."},
                                                       {"Add a head:", "a second way to look."}};

void endCoach(Context& c) { c.requests.guide.push_back({GuideAct::What::coached, 0, "", {}}); }

/// Does the first head have other numbers than at the start?
bool isChanged(const attention::Tensor& now, const attention::Tensor& start) {
  for (int r = 0; r < std::min(now.rows(), start.rows()); ++r)
    for (int col = 0; col < std::min(now.cols(), start.cols()); ++col)
      if (now.at(0, r, col) != start.at(0, r, col)) return true;
  return false;
}

void noteDone(const document::State& now, CoachView& v) {
  v.done[0] |= isChanged(now.q, v.start.q) || isChanged(now.k, v.start.k) || isChanged(now.v, v.start.v);
  v.done[1] |= now.causal != v.start.causal;
  v.done[2] |= now.heads > v.start.heads;
}

class Coach {
 public:
  explicit Coach(Context& c) : c_(c), v_(*c.view.coach) {}

  void draw() {
    for (int i = 0; i < CoachView::kSteps; ++i) {
      if (v_.done[i]) continue;
      if (const Box target = targetOf(i); !target.empty()) return step(i, target);
    }
  }

  void offer() {
    const std::string_view words = "Lessons, puzzles and questions:";
    const float button = textWidth(c_.fonts.text, "Open the Guide") + 24, width = textWidth(c_.fonts.text, words) + button + 3 * kPad + 28;
    const Box& board = c_.layout.board;
    const float wide = std::min(width, board.width - 2 * kEdge), above = c_.layout.width == Width::full ? 0.0f : 64.0f;  // a message may stand below it
    const Box box{board.right() - wide - kEdge, board.bottom() - 56 - kEdge - above, wide, 56};
    begin(box);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.panel, 8);
    list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 8);
    const float right = box.right() - 40 - button;
    textMiddle(list, c_.fonts.text, box.x + kPad, box.midY(), c_.palette.text, elide(c_.fonts.text, words, right - box.x - kPad));
    Widgets w(c_);
    if (w.button("coach:guide", {right, box.midY() - 14, button, 28}, "Open the Guide", true)) endCoach(c_), openGuide(c_);
    if (w.cross("coach:close", {box.right() - 36, box.midY() - 14, 28, 28})) endCoach(c_);
    ImGui::End();
  }

 private:
  static constexpr float kWidth = 284, kPad = 16, kLine = 20, kEdge = 12;
  static constexpr int kQuery = 3, kColumn = 2;  // the number to drag: of the last word, whose weights are selected

  // What the step is about; empty if the page has hidden it, or it is not in view.
  Box targetOf(int i) const {
    if (i > 0) {
      const std::string_view name = i == 1 ? "causal" : "heads";
      const auto at = c_.widgetRects.find(name);
      return at == c_.widgetRects.end() || c_.locked(name) ? Box() : Box(at->second);
    }
    const MatrixPlace* q = c_.layout.find(TensorId::q);
    if (!q || !c_.editable(TensorId::q) || q->rows <= kQuery || q->cols <= kColumn) return {};
    const Box cell = onScreen(c_.layout, c_.view, q->cellBox(kQuery, kColumn));
    return cell.bottom() < c_.layout.board.bottom() ? cell : Box();
  }

  // In the free corner over Q, left of Kᵀ.
  Box place(float height) const {
    const Box& board = c_.layout.board;
    const MatrixPlace* k = c_.layout.find(TensorId::k);
    const float right = k ? onScreen(c_.layout, c_.view, k->box).x - kEdge : board.right() - kEdge;
    const float width = std::min(kWidth, right - board.x - kEdge);
    return {right - width, board.y + 20, width, height};
  }

  void step(int i, const Box& target) {
    const CoachWords& words = kCoachWords[i];
    const Box corner = place(0);
    const float text = corner.width - 2 * kPad, first = textWidth(c_.fonts.strong, words.what) + 5;
    const bool isOneLine = first + textWidth(c_.fonts.text, words.why) <= text;
    const Box box = place(isOneLine ? 70.0f : 90.0f + (textWidth(c_.fonts.text, words.why) > text ? kLine : 0.0f));
    begin(box);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->PushClipRectFullScreen();
    leader(list, i, target, box);
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.ink, 8);
    textMiddle(list, c_.fonts.strong, box.x + kPad, box.y + 23, c_.palette.inkText, words.what);
    if (isOneLine) textMiddle(list, c_.fonts.text, box.x + kPad + first, box.y + 23, c_.palette.inkText, words.why);
    else paragraph(list, c_.fonts.text, box.x + kPad, box.y + 34, text, c_.palette.inkText, words.why);
    dots(list, i, box);
    const float skip = textWidth(c_.fonts.small, "Skip");
    const Box link{box.right() - kPad - skip, box.bottom() - 28, skip, 18};
    textMiddle(list, c_.fonts.small, link.x, link.midY(), c_.palette.inkText, "Skip");
    list->AddLine({link.x, link.bottom() - 1}, {link.right(), link.bottom() - 1}, c_.palette.inkText, 1);
    if (Widgets(c_).area("coach:skip", {link.x - 12, link.y - 13, link.width + 24, 44})) endCoach(c_);
    list->PopClipRect();
    ImGui::End();
    c_.widgetRects["coach"] = box;
  }

  void dots(ImDrawList* list, int now, const Box& box) const {
    constexpr ImU32 kDone = IM_COL32(0x3c, 0xc7, 0x9a, 0xff);
    float x = box.x + kPad;
    const float y = box.bottom() - 19;
    for (int i = 0; i < CoachView::kSteps; ++i) {
      if (i == now) {
        list->AddRectFilled({x, y - 4}, {x + 16, y + 4}, c_.palette.inkText, 4);
        x += 22;
        continue;
      }
      if (v_.done[i]) list->AddCircleFilled({x + 4, y}, 4, kDone);
      else list->AddCircle({x + 4, y}, 3.5f, c_.palette.inkText, 0, 1);
      x += 14;
    }
  }

  // A line from the box to what it speaks of, along the gaps of the board: to the right edge of the number, or up to the control.
  void leader(ImDrawList* list, int i, const Box& target, const Box& box) const {
    const ImU32 ink = c_.palette.ink;
    list->AddRect({target.x - 2, target.y - 2}, {target.right() + 2, target.bottom() + 2}, ink, 6, 0, 2);
    if (i == 0) {
      const float x = std::min(target.right() + kEdge, box.right() - 8);
      list->AddLine({x, box.bottom()}, {x, target.midY()}, ink, 1.5f);
      list->AddLine({x, target.midY()}, {target.right(), target.midY()}, ink, 1.5f);
      return list->AddCircleFilled({target.right(), target.midY()}, 3.5f, ink);
    }
    const float x = target.midX(), y = target.bottom() + 2;
    const bool isAbove = x > box.x + 8 && x < box.right() - 8;
    const float turn = isAbove ? box.y : box.y + 23, side = x < box.x ? box.x : box.right();
    list->AddLine({x, y}, {x, turn}, ink, 1.5f);
    if (!isAbove) list->AddLine({x, turn}, {side, turn}, ink, 1.5f);
    list->AddCircleFilled({x, y}, 3.5f, ink);
  }

  // A window of its own, so that a press on it is not also a press on the board below.
  static void begin(const Box& box) {
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.width, box.height});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::Begin("##coach", nullptr, kFixedWindow | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar();
    sharp(ImGui::GetWindowDrawList());
  }

  Context& c_;
  CoachView& v_;
};

}  // namespace

void coach(Context& c) {
  if (!c.view.coach || c.onPage() || c.state.present || c.view.help || c.view.form || c.view.menu.shown || c.view.guideOpen) return;
  CoachView& v = *c.view.coach;
  if (!v.offersGuide) {
    noteDone(c.state, v);
    if (std::all_of(std::begin(v.done), std::end(v.done), [](bool done) { return done; })) v.offersGuide = true;
  }
  if (!c.view.text && ImGui::IsKeyPressed(ImGuiKey_Escape)) return endCoach(c);
  if (v.offersGuide) Coach(c).offer();
  else if (c.view.drag.kind == Drag::Kind::none && !c.view.drawer) Coach(c).draw();
}

}  // namespace views
