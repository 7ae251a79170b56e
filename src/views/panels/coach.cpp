#include <algorithm>
#include <optional>

#include "views/board/board.h"
#include "views/guide/guide_page.h"
#include "views/panels/coach_view.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::TensorId;

struct CoachWords {
  std::string_view what, why;
};
constexpr CoachWords kCoachWords[CoachView::kSteps + 1] = {
    {"Drag this number:", "the weights follow."},
    {"Flip Causal:", "no word looks at what comes after it."},
    {"Add a head:", "a second way to look."},
    {"What next?", "The Guide has lessons, puzzles and questions."}};

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

std::uint64_t bitOf(TensorId id) { return std::uint64_t{1} << static_cast<int>(id); }

// A matrix that the reader goes to has its numbers for good; with the Guide or the steps, all have them.
void wake(const Context& c, CoachView& v) {
  if (c.view.guideOpen || c.state.stepper > 0) v.awake = ~std::uint64_t{0};
  if (c.view.hover) v.awake |= bitOf(c.view.hover->tensor);
  if (c.view.selection.active) v.awake |= bitOf(c.view.selection.tensor);
}

class Coach {
 public:
  explicit Coach(Context& c) : c_(c), v_(*c.view.coach) {}

  void draw() {
    bool isDone = true;
    for (int i = 0; i < CoachView::kSteps; ++i) {
      const std::optional<Box> target = v_.done[i] ? std::nullopt : targetOf(i);
      if (target && !target->empty()) return box(i, *target);
      isDone = isDone && !target;
    }
    if (isDone) box(kOffer, {});
  }

 private:
  static constexpr float kWidth = 284, kLeast = 200, kPad = 16, kEdge = 8;
  static constexpr int kOffer = CoachView::kSteps;
  static constexpr int kQuery = 3,
                       kColumn = 2;  // the number to drag: of the last word, whose weights are selected

  // What the step is about: nothing if it cannot be done here, an empty box if it is out of view.
  std::optional<Box> targetOf(int i) const {
    if (i > 0) {
      const std::string_view name = i == 1 ? "causal" : "heads";
      const auto at = c_.widgetRects.find(name);
      if (at == c_.widgetRects.end() || c_.locked(name)) return std::nullopt;
      const Box& b = at->second;  // higher than it looks where fingers press it
      const float high = std::min(b.height, 30.0f);
      return Box{b.x, b.midY() - high / 2, b.width, high};
    }
    const MatrixPlace* q = c_.layout.find(TensorId::q);
    if (!q || !c_.editable(TensorId::q) || q->rows <= kQuery || q->cols <= kColumn) return {};
    const Box cell = onScreen(c_.layout, c_.view, q->cellBox(kQuery, kColumn));
    return cell.bottom() < c_.layout.board.bottom() ? cell : Box();
  }

  // In a corner of the board that has no numbers: over Q, or between Kᵀ and V for what is in the bar over
  // them.
  Box place(const Box& target, float height) const {
    const Box& board = c_.layout.board;
    const MatrixPlace *k = c_.layout.find(TensorId::k), *v = c_.layout.find(TensorId::v);
    float left = board.x + kEdge, right = k ? board.x + k->box.x - kEdge : board.right() - kEdge;
    const float between = k && v ? v->box.x - k->box.right() - 2 * kEdge : 0;
    if (c_.layout.bar.contains(target.midX(), target.midY()) && between >= kLeast)
      left = board.x + k->box.right() + kEdge, right = left + between;
    const float width = std::min(kWidth, right - left);
    const bool isBelow = target.y < board.y && target.midX() > left;
    return {isBelow ? std::clamp(target.midX() - width / 2, left, right - width) : right - width,
            board.y + 20, width, height};
  }

  void box(int i, const Box& target) {
    CoachWords words = kCoachWords[i];
    if (i == 0 && c_.touch) words.what = "Hold and drag:";
    const float text = place(target, 0).width - 2 * kPad, first = textWidth(c_.fonts.strong, words.what) + 5,
                rest = textWidth(c_.fonts.text, words.why);
    const bool isOneLine = first + rest <= text;
    const float lines = isOneLine ? 0 : 3 + paragraph({nullptr, c_.fonts.text}, 0, 0, text, words.why);
    const Box box = place(target, 70 + lines);
    if (covers(box)) return;
    begin(box);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->PushClipRectFullScreen();
    if (i != kOffer) point(list, i, target, box);
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.ink, 8);
    textMiddle(list, c_.fonts.strong, box.x + kPad, box.y + 23, c_.palette.inkText, words.what);
    if (isOneLine)
      textMiddle(list, c_.fonts.text, box.x + kPad + first, box.y + 23, c_.palette.inkText, words.why);
    else paragraph({list, c_.fonts.text, c_.palette.inkText}, box.x + kPad, box.y + 34, text, words.why);
    foot(list, i, box);
    list->PopClipRect();
    ImGui::End();
    c_.widgetRects["coach"] = box;
  }

  // Numbers, words or a title: a sentence of the reader's own may leave no corner free. Then it waits for a
  // shorter one.
  bool covers(const Box& box) const {
    constexpr float kTitle = 22, kSlant = 30;
    return std::any_of(c_.layout.matrices.begin(), c_.layout.matrices.end(), [&](const MatrixPlace& m) {
      const Box cells = onScreen(c_.layout, c_.view, m.box);
      const float above = m.labelsAbove ? m.labelRoom : 0, beside = m.labelsAbove && m.slanted ? kSlant : 0;
      return box.x < cells.right() + beside && box.right() > cells.x &&
             box.bottom() > cells.y - above - kTitle && box.y < cells.bottom();
    });
  }

  void foot(ImDrawList* list, int i, const Box& box) {
    const float left = box.x + kPad, right = box.right() - kPad;
    if (i != kOffer) {
      dots(list, i, {left, box.bottom() - 19});
      if (link(list, "coach:skip", right - textWidth(c_.fonts.small, "Skip"), box.bottom() - 28, "Skip"))
        endCoach(c_);
      return;
    }
    if (link(list, "coach:close", left, box.bottom() - 28, "Close")) endCoach(c_);
    if (link(list, "coach:guide", right - textWidth(c_.fonts.small, "Open the Guide"), box.bottom() - 28,
             "Open the Guide"))
      endCoach(c_), openGuide(c_);
  }

  // Underlined text, with room around it for a finger.
  bool link(ImDrawList* list, std::string_view name, float x, float y, std::string_view words) {
    const Box box{x, y, textWidth(c_.fonts.small, words), 18};
    textMiddle(list, c_.fonts.small, box.x, box.midY(), c_.palette.inkText, words);
    list->AddLine({box.x, box.bottom() - 1}, {box.right(), box.bottom() - 1}, c_.palette.inkText, 1);
    return Widgets(c_).area(name, {box.x - 12, box.y - 13, box.width + 24, 44});
  }

  void dots(ImDrawList* list, int now, ImVec2 at) const {
    const ImU32 done = c_.palette.dark ? IM_COL32(0x00, 0x7a, 0x55, 0xff) : IM_COL32(0x3c, 0xc7, 0x9a, 0xff);
    for (int i = 0; i < CoachView::kSteps; ++i) {
      if (i == now) {
        list->AddRectFilled({at.x, at.y - 4}, {at.x + 16, at.y + 4}, c_.palette.inkText, 4);
        at.x += 22;
        continue;
      }
      if (v_.done[i]) list->AddCircleFilled({at.x + 4, at.y}, 4, done);
      else list->AddCircle({at.x + 4, at.y}, 3.5f, c_.palette.inkText, 0, 1);
      at.x += 14;
    }
  }

  // Outlines what the box speaks of. A line leads down the gap beside Q to the number, and a tail up to a
  // control that the box is below.
  void point(ImDrawList* list, int i, const Box& target, const Box& box) const {
    const ImU32 ink = c_.palette.ink;
    const float air = i == 0 ? 2.0f : 5.0f;  // the word of a switch stands at the edge of its box
    list->AddRect({target.x - air, target.y - 2}, {target.right() + air, target.bottom() + 2}, ink, 6, 0, 2);
    if (i == 0) {
      const float x = box.right() - 8;  // past the title of Q
      list->AddLine({x, box.bottom()}, {x, target.midY()}, ink, 1.5f);
      list->AddLine({x, target.midY()}, {target.right(), target.midY()}, ink, 1.5f);
      list->AddCircleFilled({target.right(), target.midY()}, 3.5f, ink);
    } else if (const float x = target.midX(); x > box.x + 16 && x < box.right() - 16) {
      list->AddTriangleFilled({x - 8, box.y + 1}, {x, box.y - 9}, {x + 8, box.y + 1}, ink);
    }
  }

  // A window of its own, so that a press on it is not also a press on the board below.
  static void begin(const Box& box) {
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.width, box.height});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::Begin("##coach", nullptr,
                 kFixedWindow | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoFocusOnAppearing |
                     ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar();
    sharp(ImGui::GetWindowDrawList());
  }

  Context& c_;
  CoachView& v_;
};

}  // namespace

bool isQuiet(const Context& c, TensorId id) {
  return c.view.coach && (id == TensorId::scores || id == TensorId::v || id == TensorId::head_output) &&
         (c.view.coach->awake & bitOf(id)) == 0;
}

void coach(Context& c) {
  if (c.view.coach) wake(c, *c.view.coach);
  if (!c.view.coach || c.onPage() || c.state.present || c.view.help.open || c.view.form ||
      c.view.menu.shown || c.view.guideOpen)
    return;
  CoachView& v = *c.view.coach;
  noteDone(c.state, v);
  if (!c.view.text && ImGui::IsKeyPressed(ImGuiKey_Escape)) return endCoach(c);
  if (c.view.drag.kind == Drag::Kind::none && !c.view.drawer) Coach(c).draw();
}

}  // namespace views
