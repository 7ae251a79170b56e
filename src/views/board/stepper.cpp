#include "views/board/stepper.h"

#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "base/sort.h"
#include "views/board/board.h"
#include "views/panels/arithmetic.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Region;
using attention::RowStep;
using attention::Tensor;
using document::OptionId;

constexpr float kFades = 120;  // milliseconds in which a step appears with reduced motion
constexpr float kSpeeds[] = {1, 2, 0.5f};
// The opacity with which unrelated cells are dimmed.
constexpr float kVeil = 0.66f;

/// The last step whose result is shown on the board. What moves stands for its step until it has arrived.
RowStep madeOf(const StepperView& w) {
  const bool moves =
      std::any_of(w.beats.begin(), w.beats.end(), [](const Beat& b) { return b.motion != Motion::none; });
  if (w.part >= (moves ? 1.0f : 0.5f)) return w.now();
  return w.shown > 1 ? w.steps[static_cast<std::size_t>(w.shown - 2)] : RowStep::none;
}

float lengthOf(const std::vector<Beat>& beats) {
  float ms = 0;
  for (const Beat& b : beats) ms += b.ms;
  return ms;
}

std::vector<Beat> beatsAt(const Context& c, const StepperView& w, int step) {
  return beatsOf(w.steps[static_cast<std::size_t>(step)], w.steps, c.spec);
}

/// Goes to a time within the `shown`-th step.
void goToTime(Context& c, StepperView& w, int shown, float part) {
  w.shown = shown, w.part = part;
  w.beats = beatsAt(c, w, shown - 1);
  if (shown != c.state.stepper) c.requests.set(OptionId::stepper, static_cast<double>(shown));
}

/// Follows the document where a reader, a script or a lesson has changed it. The next step comes by its
/// motion, any other is there at once.
void follow(Context& c, StepperView& w) {
  const int to = std::clamp(c.state.stepper, 1, static_cast<int>(w.steps.size())), before = w.shown;
  if (c.state.stepper == w.told) return;
  w.told = c.state.stepper, w.frame = ImGui::GetFrameCount();
  if (to == before) return;
  w.runs = to == before + 1;
  w.shown = to, w.beats = beatsAt(c, w, to - 1);
  w.part =
      w.runs ? c.view.still ? std::max(0.0f, 1 - kFades / std::max(lengthOf(w.beats), 1.0f)) : 0.0f : 1.0f;
  if (before == 0 && to == 1 && c.view.guideOpen) w.plays = w.stays = true;  // a lesson shows the whole way
}

/// Goes on by the time of a frame.
void advance(Context& c, StepperView& w) {
  float ms = std::min(ImGui::GetIO().DeltaTime, 0.1f) * 1000 * c.view.stepSpeed;
  while (w.runs || w.plays) {
    const float length = lengthOf(w.beats), left = length * (1 - w.part);
    if (ms < left) {
      w.part += ms / length;
      return;
    }
    ms -= left, w.part = 1, w.runs = false;
    if (w.shown == static_cast<int>(w.steps.size())) w.plays = false;
    if (w.plays) goToTime(c, w, w.shown + 1, 0);
  }
}

/// The selected row, the key that serves as its example, and the column of the output.
attention::StepPlace placeOf(const Context& c) {
  const CellRef cell = c.chosen();
  const attention::Rows rows = attention::rowsOf(cell.tensor);
  attention::StepPlace at;
  at.head = c.state.focusHead;
  at.row = std::clamp(rows == attention::Rows::queries ? cell.row : c.rowsSoFar() - 1, 0, c.rowsSoFar() - 1);
  const float* w = c.trace.weights.row(at.head, at.row);
  at.key = attention::isOfPairs(cell.tensor) ? cell.col
           : rows == attention::Rows::keys   ? cell.row
                                           : static_cast<int>(std::max_element(w, w + c.state.keyTokens) - w);
  at.key = std::clamp(at.key, 0, c.state.keyTokens - 1);
  if (cell.tensor == TensorId::head_output || cell.tensor == TensorId::output) at.column = cell.col;
  return at;
}

// ---- the bar

enum class Sign { first, back, play, pause, next, last, close };

bool button(Context& c, std::string_view name, Sign sign, const Box& box, bool enabled) {
  const bool pressed = Widgets(c).area(name, box) && enabled;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool over = enabled && ImGui::IsItemHovered();
  if (sign != Sign::close) {
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, over ? c.palette.hover : c.palette.panel,
                        6);
    list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 6);
  }
  const ImU32 color = enabled ? c.palette.text : c.palette.faint;
  const float x = std::round(box.midX()), y = std::round(box.midY()), s = 4;
  const auto chevron = [&](float at, float way) {
    const ImVec2 points[] = {{at - way * s / 2, y - s}, {at + way * s / 2, y}, {at - way * s / 2, y + s}};
    list->AddPolyline(points, 3, color, 0, 1.6f);
  };
  switch (sign) {
    case Sign::first: chevron(x + 2, -1), list->AddLine({x - 4, y - s}, {x - 4, y + s}, color, 1.6f); break;
    case Sign::back: chevron(x, -1); break;
    case Sign::play: list->AddTriangleFilled({x - 3, y - 5}, {x + 6, y}, {x - 3, y + 5}, color); break;
    case Sign::pause:
      list->AddRectFilled({x - 4, y - 5}, {x - 1, y + 5}, color);
      list->AddRectFilled({x + 2, y - 5}, {x + 5, y + 5}, color);
      break;
    case Sign::next: chevron(x, 1); break;
    case Sign::last: chevron(x - 2, 1), list->AddLine({x + 4, y - s}, {x + 4, y + s}, color, 1.6f); break;
    case Sign::close:
      list->AddLine({x - 4, y - 4}, {x + 4, y + 4}, over ? c.palette.text : c.palette.muted, 1.5f);
      list->AddLine({x - 4, y + 4}, {x + 4, y - 4}, over ? c.palette.text : c.palette.muted, 1.5f);
      break;
  }
  return pressed;
}

/// The word for a part of a step on the track.
std::string wordOf(const Context& c, RowStep step, Motion motion) {
  switch (motion) {
    case Motion::slide: return "slide";
    case Motion::multiply: return "multiply";
    case Motion::add: return "add";
    default: return attention::nameOf(step, c.spec, c.inputs);
  }
}

/// The time of all steps from left to right. Each has some room, so that it can be pressed, and the rest of
/// the room is shared by time.
class Track {
 public:
  Track(Context& c, StepperView& w, const Box& box)
      : c_(c),
        w_(w),
        box_(box),
        list_(ImGui::GetWindowDrawList()) {
    const float even = 0.45f * box.width / static_cast<float>(w.steps.size());
    float all = 0, x = box.x;
    for (int i = 0; i < count(); ++i) beats_.push_back(beatsAt(c, w, i)), all += lengthOf(beats_.back());
    for (const auto& beats : beats_)
      at_.push_back(x), x += even + 0.55f * box.width * lengthOf(beats) / std::max(all, 1.0f);
    at_.push_back(box.right());
  }

  void draw() {
    if (!ImGui::IsMouseDown(ImGuiMouseButton_Left) && !ImGui::IsMouseReleased(ImGuiMouseButton_Left))
      w_.drags = false;
    for (int i = 0; i < count(); ++i) press(i);
    if (c_.fonts.mirror) return note(*c_.fonts.mirror);
    for (int i = 0; i < count(); ++i) segments(i);
    words();
    const float x = now();
    const ImU32 rim = w_.drags ? c_.palette.weight : c_.palette.ink;
    list_->AddCircleFilled({x, y()}, 7, c_.palette.panel, 24);
    list_->AddCircle({x, y()}, 6, rim, 24, 2);
    list_->AddCircleFilled({x, y()}, 2, rim, 12);
  }

 private:
  struct Word {
    std::string text;
    float x, left, width;
    bool isNow;
  };

  // For assistive technology all of it is one slider from step to step, in which the step's name stands.
  void note(Mirror& mirror) {
    const bool isLocked = c_.locked("stepper");
    if (const int by = isLocked ? 0 : mirror.steps("stepper-track"); by != 0) {
      w_.plays = w_.runs = w_.stays = false;
      goToTime(c_, w_, std::clamp(w_.shown + by, 1, count()), 1);
    }
    const float at = (static_cast<float>(w_.shown - 1) + w_.part) / static_cast<float>(count());
    mirror.control("stepper-track", box_, Mirror::Role::slider, static_cast<int>(std::lround(100 * at)),
                   !isLocked, about("stepper-track").words);
    float part = w_.part;
    const Motion motion = beatAt(w_.beats, part);
    mirror.words(inWords(wordOf(c_, w_.now(), w_.part < 1 ? motion : Motion::none)),
                 {now(), box_.y + 20, 1, 16}, 0);
  }

  int count() const { return static_cast<int>(w_.steps.size()); }
  float y() const { return box_.y + 13; }
  Box boxOf(int step) const { return {left(step), box_.y - 4, left(step + 1) - left(step), 44}; }
  float left(int step) const { return at_[static_cast<std::size_t>(step)]; }
  float now() const { return left(w_.shown - 1) + (left(w_.shown) - left(w_.shown - 1)) * w_.part; }

  // A press goes to the end of a step, a drag anywhere.
  void press(int i) {
    const std::string name = "stepper:" + std::to_string(i + 1);
    const bool pressed = Widgets(c_).area(name, boxOf(i));
    if (c_.locked(name)) return;
    if (ImGui::IsItemActive() && (w_.drags || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3))) {
      w_.drags = true, w_.plays = w_.runs = w_.stays = false;
      const float x = std::clamp(ImGui::GetIO().MousePos.x, box_.x, box_.right());
      int to = 0;
      while (to + 1 < count() && x >= left(to + 1)) ++to;
      goToTime(c_, w_, to + 1, std::clamp((x - left(to)) / (left(to + 1) - left(to)), 0.0f, 1.0f));
    } else if (pressed && !w_.drags) {
      stepBy(c_, i + 1 - w_.shown);
    }
  }

  template <class Visit>
  void parts(int i, Visit visit) const {
    const auto& beats = beats_[static_cast<std::size_t>(i)];
    const float all = lengthOf(beats), width = left(i + 1) - left(i);
    float x = left(i);
    for (const Beat& b : beats) {
      const float to = all > 0 ? x + width * b.ms / all : left(i + 1);
      visit(b, x, to);
      x = to;
    }
  }

  void segments(int i) {
    parts(i, [&](const Beat&, float x, float to) {
      const float done = std::clamp(now(), x, to - 2);
      list_->AddRectFilled({x, y() - 3}, {to - 2, y() + 3}, c_.palette.track, 3);
      if (done > x) list_->AddRectFilled({x, y() - 3}, {done, y() + 3}, c_.palette.ink, 3);
    });
  }

  // The present word first, then others where they do not overlap it or each other.
  void words() {
    std::vector<Word> all;
    for (int i = 0; i < count(); ++i)
      parts(i, [&](const Beat& b, float x, float to) {
        const std::string text = wordOf(c_, w_.steps[static_cast<std::size_t>(i)], b.motion);
        const float width = textWidth(c_.fonts.small, text), at = now();
        const bool isNow = i + 1 == w_.shown && at > x - 0.5f && at <= to + 0.5f;
        all.push_back({text, (x + to) / 2,
                       std::clamp((x + to - width) / 2, box_.x - 24, box_.right() + 24 - width), width,
                       isNow});
      });
    const Word* present = nullptr;
    for (const Word& one : all)
      if (one.isNow) present = &one;
    float end = 0;
    for (const Word& one : all) {
      const bool isPresent = &one == present;
      const bool isFree = !present || one.left + one.width + 6 <= present->left ||
                          one.left >= present->left + present->width + 6;
      if (!isPresent && (one.left < end || !isFree)) continue;
      textMiddle(list_, c_.fonts.small, one.left, box_.y + 28, isPresent ? c_.palette.text : c_.palette.muted,
                 one.text);
      if (isPresent)
        textMiddle(list_, c_.fonts.small, one.left + 0.5f, box_.y + 28, c_.palette.text,
                   one.text);  // there is no bold font of that size
      end = one.left + one.width + 6;
    }
  }

  Context& c_;
  StepperView& w_;
  Box box_;
  ImDrawList* list_;
  std::vector<std::vector<Beat>> beats_;
  std::vector<float> at_;  ///< where each step begins, and the end
};

/// "1×", "2×", "0.5×": a press leads to the next.
void speed(Context& c, const Box& box) {
  if (Widgets(c).area("stepper-speed", box)) {
    const auto* at = std::find(std::begin(kSpeeds), std::end(kSpeeds), c.view.stepSpeed);
    c.view.stepSpeed = at + 1 < std::end(kSpeeds) ? at[1] : kSpeeds[0];
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                      ImGui::IsItemHovered() ? c.palette.hover : c.palette.panel, 6);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 6);
  textCentered(list, c.fonts.small, box.midX(), box.midY(), c.palette.text,
               c.view.stepSpeed == 1   ? "1×"
               : c.view.stepSpeed == 2 ? "2×"
                                       : "0.5×");
}

void bar(Context& c, StepperView& w) {
  const Box& b = c.layout.stepper;
  if (b.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Box& line = c.layout.stepLine;
  list->AddRectFilled({b.x, line.empty() ? b.y : line.y}, {b.right(), b.bottom()}, c.palette.panel);
  list->AddLine({b.x, (line.empty() ? b.y : line.y) + 0.5f},
                {b.right(), (line.empty() ? b.y : line.y) + 0.5f}, c.palette.border);
  c.widgetRects["stepper-bar"] = b;
  const int count = static_cast<int>(w.steps.size());
  const bool narrow = b.width < 600;
  const float pitch = c.roomy() ? 44 : 32, top = b.y + (c.roomy() ? 4.0f : 6.0f);
  float x = b.x + (narrow ? 8.0f : 14.0f);
  const auto next = [&](std::string_view name, Sign sign, bool enabled) {
    const Box box{x, top, 28, 28};
    x += pitch;
    return button(c, name, sign, box, enabled);
  };
  if (!narrow && next("stepper-first", Sign::first, w.shown > 1)) stepBy(c, 1 - w.shown);
  if (next("stepper-back", Sign::back, w.shown > 1)) stepBy(c, -1);
  if (next("stepper-play", w.plays ? Sign::pause : Sign::play, true)) playStepper(c);
  if (next("stepper-next", Sign::next, w.shown < count)) stepBy(c, 1);
  if (!narrow && next("stepper-last", Sign::last, w.shown < count)) stepBy(c, count - w.shown);
  const float wide = c.roomy() ? 48.0f : narrow ? 32.0f : 40.0f;
  speed(c, {x, top, wide - 4, 28});
  x += wide;
  const Box close{b.right() - 36, top, 28, 28};
  if (button(c, "stepper-close", Sign::close, close, true)) c.requests.set(OptionId::stepper, 0.0);
  const float left = x + (narrow ? 22.0f : 36.0f);
  Track(c, w, {left, b.y, close.x - (narrow ? 30.0f : 34.0f) - left, b.height}).draw();
}

// ---- on the board

bool isOf(const Context& c, const MatrixPlace& m, const Region& r) {
  return (r.tensor == m.tensor || r.tensor == shownTensor(m.tensor)) &&
         r.head == sliceOf(c.state, m.tensor).head;
}

/// A block of cells in the columns and rows shown on the board.
struct Block {
  int left, top, right, bottom;
};

std::optional<Block> blockOf(const Context& c, const MatrixPlace& m, const Region& r) {
  if (!isOf(c, m, r)) return {};
  const Slice s = sliceOf(c.state, m.tensor);
  Block b{r.col - s.firstCol, r.row - s.firstRow, r.col - s.firstCol + r.cols, r.row - s.firstRow + r.rows};
  if (m.transposed) b = {b.top, b.left, b.bottom, b.right};
  b = {std::max(b.left, 0), std::max(b.top, 0), std::min(b.right, m.cols), std::min(b.bottom, m.rows)};
  if (b.left >= b.right || b.top >= b.bottom) return {};
  return b;
}

/// A height on the board, in the coordinates of its content.
struct Span {
  float top = 0, bottom = 0;
  bool empty() const { return bottom <= top; }
  Span with(const Span& other) const {
    if (empty() || other.empty()) return empty() ? other : *this;
    return {std::min(top, other.top), std::max(bottom, other.bottom)};
  }
};

Span spanOf(const Context& c, const Region& r) {
  for (const MatrixPlace& m : c.layout.matrices)
    if (const auto b = blockOf(c, m, r))
      return {m.box.y + static_cast<float>(b->top) * m.cell,
              m.box.y + static_cast<float>(b->bottom) * m.cell};
  return {};
}

/// Scrolls as far as is needed to show that height with this much above it; its end matters less than that.
void scrollTo(Context& c, const Span& span, float above) {
  constexpr float kBelow = 12;
  const float top = span.top - above, bottom = span.bottom + kBelow, height = c.layout.board.height;
  if (bottom > c.view.scroll + height) c.view.scroll = std::min(bottom - height, top);
  if (top < c.view.scroll) c.view.scroll = top;
  c.view.scroll = std::max(c.view.scroll, 0.0f);
}

/// Scrolls the board to what a step computes, or to what it reads. While a query meets its key, to both, or
/// to the row with room for a strip.
void reveal(Context& c, const StepperView& w) {
  constexpr float kWithTitle = 44;
  const attention::StepCells cells = attention::cellsOf(w.now(), c.spec, c.inputs, c.trace, w.at);
  const bool meets = w.part < 1 && (w.moves == Motion::slide || w.moves == Motion::multiply),
             adds = w.part < 1 && w.moves == Motion::add;
  Span both;
  for (const Region& r : cells.from) both = both.with(spanOf(c, r));
  if (adds)
    for (const Region& r : cells.made) both = both.with(spanOf(c, r));
  const bool fits = both.bottom - both.top + 24 <= c.layout.board.height;
  if ((meets || adds) && fits)
    return scrollTo(c, both, std::min(kWithTitle, c.layout.board.height - 12 - both.bottom + both.top));
  for (const auto* part : {meets ? &cells.from : &cells.made, meets ? &cells.made : &cells.from}) {
    for (const Region& r : *part) {
      const Span span = spanOf(c, r);
      if (span.empty()) continue;
      const float strip =
          meets || adds ? 12 + stripHeight(span.bottom - span.top, c.spec.headDim, c.layout.board.width) : 0;
      return scrollTo(c, span, std::max(strip, kWithTitle));
    }
  }
}

void number(Context& c, float x, float y, float cell, double value, ImU32 color) {
  const auto [font, digits] = fittedNumber(c, value, cell);
  if (font) textCentered(ImGui::GetWindowDrawList(), font, x, y, color, digits);
}

void ring(const Box& box, const MatrixPlace& m, const Block& b, ImU32 color, float thick) {
  const float grow = m.cell >= 20 ? 1.0f : 0.0f;
  ImGui::GetWindowDrawList()->AddRect(
      {box.x + static_cast<float>(b.left) * m.cell - grow, box.y + static_cast<float>(b.top) * m.cell - grow},
      {box.x + static_cast<float>(b.right) * m.cell + grow,
       box.y + static_cast<float>(b.bottom) * m.cell + grow},
      color, m.cell >= 20 ? 6.0f : 1.0f, 0, thick);
}

}  // namespace

const StepperView* stepperOf(const Context& c) {
  return c.state.stepper > 0 && !c.showsMean() && !c.onPage() && c.view.stepper && c.view.stepper->shown > 0
             ? c.view.stepper.get()
             : nullptr;
}

std::pair<ImFont*, std::string> fittedNumber(const Context& c, double value, float cell) {
  int decimals = c.state.decimals;
  ImFont* font = c.fonts.mono;
  std::string digits = formatNumber(value, decimals);
  if (textWidth(font, digits) > cell - 3) font = c.fonts.monoSmall;
  while (textWidth(font, digits) > cell - 3 && decimals > 1) digits = formatNumber(value, --decimals);
  if (textWidth(font, digits) > cell) return {};
  return {font, std::move(digits)};
}

void readStepper(Context& c) {
  if (!c.view.stepper) c.view.stepper = std::make_shared<StepperView>();
  StepperView& w = *c.view.stepper;
  c.view.unreached = -1;
  if (c.showsMean()) {
    w.shown = 0;
    return;
  }
  w.steps = attention::stepsOf(c.spec, c.inputs, c.decodes());
  const attention::StepPlace at = placeOf(c);
  if (const Drag::Kind drag = c.view.drag.kind; drag == Drag::Kind::value || drag == Drag::Kind::weight) {
    c.requests.set(OptionId::stepper, 0.0);  // the reader goes on to change the numbers
    w.plays = w.runs = false, w.part = 1;
  }
  const int before = w.shown;
  w.shown = std::min(w.shown, static_cast<int>(w.steps.size()));
  if (w.shown > 0) w.beats = beatsAt(c, w, w.shown - 1);
  follow(c, w);
  if (at != w.at && w.shown == before) w.runs = w.plays = false, w.part = 1;
  float time = w.part;
  const Motion moves = beatAt(w.beats, time);
  const bool isNew = w.shown != before || at != w.at || moves != w.moves;
  w.at = at, w.moves = moves;
  if (isNew && !w.stays) reveal(c, w);
  if (w.frame != ImGui::GetFrameCount()) advance(c, w);  // a frame may be built more than once
  w.frame = ImGui::GetFrameCount();
  c.view.busy |= w.runs || w.plays;
  const attention::DisplayState weights =
      attention::displayState(TensorId::weights, madeOf(w), c.spec, c.inputs);
  if (!weights.isThere || weights.tensor != TensorId::weights) c.view.unreached = w.at.row;
  bar(c, w);
}

void toggleStepper(Context& c) {
  if (c.locked("stepper")) return;
  const bool begins = c.state.stepper == 0 || c.showsMean();
  if (begins && c.showsMean()) c.requests.set(OptionId::average_heads, false);
  if (begins && c.state.gradient) c.requests.set(OptionId::gradient, false);
  c.requests.set(OptionId::stepper, begins ? 1.0 : 0.0);
}

void stepBy(Context& c, int by) {
  StepperView& w = *c.view.stepper;
  w.plays = w.runs = w.stays = false;
  const int to = std::clamp(w.shown + by, 1, static_cast<int>(w.steps.size()));
  if (to != c.state.stepper) c.requests.set(OptionId::stepper, static_cast<double>(to));
  else w.part = 1;
}

void playStepper(Context& c) {
  StepperView& w = *c.view.stepper;
  w.plays = !(w.plays || w.runs), w.runs = w.stays = false;
  c.view.busy = true, w.frame = ImGui::GetFrameCount();
  if (w.plays && w.part >= 1 && w.shown == static_cast<int>(w.steps.size())) goToTime(c, w, 1, 0);
}

void drawSteps(Context& c, const MatrixPlace& m, const Box& box, const draw::Heatmap& look) {
  const StepperView& w = *stepperOf(c);
  const attention::DisplayState s = attention::displayState(m.tensor, madeOf(w), c.spec, c.inputs);
  const TensorId usual = shownTensor(m.tensor);
  if (s.isThere && s.tensor == usual && !s.isShare) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Slice slice = sliceOf(c.state, m.tensor);
  const bool ofKeys =
      attention::rowsOf(m.tensor) == attention::Rows::keys;  // rotated keys do not exist yet at this step
  const int first = ofKeys ? 0 : w.at.row - slice.firstRow, count = ofKeys ? m.rows : 1;
  const bool isColumn = m.transposed && !ofKeys;  // the row is drawn as a column
  const float y = isColumn ? box.y : box.y + static_cast<float>(first) * m.cell,
              edge = m.cell >= 20 ? 0.5f : 0;
  const float left = isColumn ? box.x + static_cast<float>(first) * m.cell : box.x;
  if (isColumn)
    list->AddRectFilled({left - edge, box.y - 1}, {left + m.cell + edge, box.bottom() + 1}, c.palette.panel);
  else
    list->AddRectFilled({box.x - 1, y - edge},
                        {box.right() + 1, y + static_cast<float>(count) * m.cell + edge}, c.palette.panel);
  const Tensor* tensor = s.isThere ? c.tensor(s.tensor) : nullptr;
  if (!tensor) return;
  const bool isWay =
      s.tensor ==
      TensorId::exponentials;  // exponentials, on the way to the weights, do not have the weights' colours
  const double sum = s.isShare ? double{c.trace.rowSum.at(w.at.head, w.at.row, 0)} : 1.0;
  for (int j = 0; j < (isColumn ? m.rows : m.cols); ++j) {
    const double value =
        double{(s.isShare ? c.trace.exponentials : *tensor).at(w.at.head, w.at.row, j)} / sum;
    const float along = static_cast<float>(j) * m.cell, gap = m.cell >= 20 ? 1.5f : 0.0f;
    const float x = isColumn ? left : left + along, top = isColumn ? y + along : y;
    const draw::Color fill = draw::at(look.map, draw::fraction(look, static_cast<float>(value), 0));
    if (!isWay)
      list->AddRectFilled({x + gap, top + gap}, {x + m.cell - gap, top + m.cell - gap}, toU32(fill),
                          look.radius);
    else if (m.cell >= 12)
      list->AddRect({x + 2, top + 2}, {x + m.cell - 2, top + m.cell - 2}, c.palette.border, 3);
    if (m.cell >= 26)
      number(c, x + m.cell / 2, top + m.cell / 2, m.cell, value, isWay ? c.palette.text : textOn(fill));
  }
  if (!isWay) return;
  if (m.cell >= 20 && !c.layout.arrow.empty())
    textRight(list, c.fonts.small, box.x - 8, (isColumn ? box.bottom() : y + m.cell) - m.cell / 2,
              c.palette.weight, "exp");
  if (m.sums && madeOf(w) == RowStep::sum && isColumn)
    textCentered(list, c.fonts.monoSmall, left + m.cell / 2, box.bottom() + 11, c.palette.text,
                 formatNumber(double{c.trace.rowSum.at(w.at.head, w.at.row, 0)}, 2));
  else if (m.sums && madeOf(w) == RowStep::sum)
    textMiddle(list, c.fonts.monoSmall, box.right() + 6, y + m.cell / 2, c.palette.text,
               formatNumber(double{c.trace.rowSum.at(w.at.head, w.at.row, 0)}, 2));
}

void drawStepLight(Context& c, const MatrixPlace& m, const Box& box) {
  const StepperView& w = *stepperOf(c);
  const attention::StepCells cells = attention::cellsOf(w.now(), c.spec, c.inputs, c.trace, w.at);
  std::vector<Block> from, made, lit;
  for (const Region& r : cells.from)
    if (const auto b = blockOf(c, m, r)) from.push_back(*b), lit.push_back(*b);
  for (const Region& r : cells.made)
    if (const auto b = blockOf(c, m, r)) made.push_back(*b), lit.push_back(*b);
  // Everything else is dimmed, in rectangles between the edges of the lit blocks.
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 veil = withAlpha(c.palette.background, kVeil);
  std::vector<int> edges{0, m.rows};
  for (const Block& b : lit) edges.push_back(b.top), edges.push_back(b.bottom);
  base::sort(edges, std::less<>());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const float sums = m.sums && !m.transposed ? 36.0f : 0.0f;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    std::vector<std::pair<int, int>> taken;
    for (const Block& b : lit)
      if (b.top <= edges[e] && b.bottom >= edges[e + 1]) taken.push_back({b.left, b.right});
    base::sort(taken, std::less<>());
    const float top = box.y + static_cast<float>(edges[e]) * m.cell - (edges[e] == 0 ? 2 : 0),
                bottom = box.y + static_cast<float>(edges[e + 1]) * m.cell + (edges[e + 1] == m.rows ? 2 : 0);
    int at = 0;
    const auto cover = [&](int to) {
      if (to > at)
        list->AddRectFilled({box.x + static_cast<float>(at) * m.cell - (at == 0 ? 2 : 0), top},
                            {box.x + static_cast<float>(to) * m.cell + (to == m.cols ? 2 : 0), bottom}, veil);
    };
    for (const auto& [left, right] : taken) cover(left), at = std::max(at, right);
    cover(m.cols);
    if (sums > 0 && taken.empty())
      list->AddRectFilled({box.right() + 3, top}, {box.right() + sums, bottom}, veil);
  }
  for (int i = 0; m.sums && m.transposed && i < m.cols; ++i) {  // the sums of columns are below them
    const bool isLit =
        std::any_of(lit.begin(), lit.end(), [&](const Block& b) { return b.left <= i && i < b.right; });
    const float left = box.x + static_cast<float>(i) * m.cell;
    if (!isLit) list->AddRectFilled({left, box.bottom() + 3}, {left + m.cell, box.bottom() + 22}, veil);
  }
  const float thick = m.cell >= 20 ? 2.5f : 1.5f;
  const ImU32 color = m.tensor == TensorId::scores ? c.palette.text : hue(c.palette, m.tensor);
  for (const Block& b : from) ring(box, m, b, color, thick);
  for (const Block& b : made) ring(box, m, b, color, thick);
  if (lit.empty() || !attention::isOfPairs(m.tensor)) return;
  const Slice slice = sliceOf(c.state, m.tensor);
  const int row = w.at.row - slice.firstRow;
  int key =
      w.now() == RowStep::threshold || w.now() == RowStep::sum || w.now() == RowStep::values ? -1 : w.at.key;
  if (w.now() == RowStep::maximum) {
    const float* masked = c.trace.masked.row(w.at.head, w.at.row);
    key = static_cast<int>(std::max_element(masked, masked + c.state.keyTokens) - masked);
  }
  if (key >= 0)
    ring(box, m, m.transposed ? Block{row, key, row + 1, key + 1} : Block{key, row, key + 1, row + 1}, color,
         thick);
}

attention::Explanation stepsExplanation(const Context& c, bool all) {
  const StepperView& w = *stepperOf(c);
  attention::Explanation e;
  for (int i = all ? 0 : w.shown - 1; i < w.shown; ++i) {
    auto lines = attention::linesOf(w.steps[static_cast<std::size_t>(i)], {c.spec, c.inputs, c.trace}, w.at,
                                    c.tokenLabels(), c.state.decimals, all ? 3 : 2);
    e.terms.insert(e.terms.end(), std::make_move_iterator(lines.begin()),
                   std::make_move_iterator(lines.end()));
  }
  attention::Explanation whole =
      attention::explain({c.spec, c.inputs, c.trace}, {TensorId::weights, w.at.head, w.at.row, w.at.key},
                         c.tokenLabels(), c.state.decimals);
  e.name = std::move(whole.name);
  if (c.view.unreached < 0) e.value = std::move(whole.value);
  return e;
}

void drawStepperBar(Context& c) {
  const StepperView& w = *stepperOf(c);
  if (w.part < 1) drawMotion(c);
  const Box& line = c.layout.stepLine;
  if (line.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool narrow = line.width < 600;
  ImFont* font = line.width < 900 ? c.fonts.monoSmall : c.fonts.mono;
  const CellRef pair{TensorId::weights, w.at.head, w.at.row, w.at.key};
  const std::vector<TouchedLine> lines = touchedLines(c, stepsExplanation(c, false), pair);
  const float left = line.x + (narrow ? 10.0f : 18.0f), x = left + (narrow ? 0.0f : 118.0f),
              width = line.right() - 14 - x;
  float y = line.y + (narrow ? 12.0f : 16.0f);
  if (narrow) {
    textMiddle(list, c.fonts.small, left, y, c.palette.muted,
               elide(c.fonts.small, lines.front().term.label, line.width - 20));
    y += 19;
  }
  c.widgetRects["stepper-line"] = line;
  list->PushClipRect({line.x, line.y}, {line.right(), line.bottom()}, true);
  for (const TouchedLine& l : lines) {
    if (!narrow)
      textMiddle(list, c.fonts.small, left + (l.inner ? 10 : 0), y, c.palette.muted,
                 elide(c.fonts.small, l.term.label, 100));
    const AsIs asIs;
    std::string_view rest = l.text;
    std::size_t begin = 0;
    while (!rest.empty()) {
      std::size_t cut = rest.size();
      while (cut != std::string_view::npos && cut > 0 && textWidth(font, rest.substr(0, cut)) > width)
        cut = rest.rfind(' ', cut - 1);
      if (cut == std::string_view::npos || cut == 0) cut = rest.size();
      drawTouched(c, {list, font, c.palette.text}, {x, y}, l, begin, cut);
      const std::size_t skip = std::min(cut + 1, rest.size());
      rest.remove_prefix(skip);
      begin += skip;
      y += narrow ? 17.0f : 20.0f;
    }
  }
  list->PopClipRect();
}

}  // namespace views
