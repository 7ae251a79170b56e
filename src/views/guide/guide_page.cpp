#include "views/guide/guide_page.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/sentence.h"
#include "views/guide/flow.h"
#include "views/guide/list.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using document::LessonKind;
using document::Verdict;
using What = GuideAct::What;

constexpr float kTabs = 40, kFoot = 56, kPad = 16, kInside = 14, kDot = 14;

void begin(const Context& c, const char* name, const Box& box, bool scrolls = false) {
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  ImGui::Begin(name, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | (scrolls ? 0 : ImGuiWindowFlags_NoScrollWithMouse));
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  sharp(ImGui::GetWindowDrawList());
}

void tick(ImDrawList* list, float x, float midY, ImU32 color) {
  const ImVec2 points[] = {{x, midY}, {x + 3.5f, midY + 3.5f}, {x + 9.5f, midY - 4}};
  list->AddPolyline(points, 3, color, 0, 1.8f);
}

void cross(ImDrawList* list, float x, float midY, ImU32 color) {
  list->AddLine({x, midY - 4}, {x + 8, midY + 4}, color, 1.8f);
  list->AddLine({x, midY + 4}, {x + 8, midY - 4}, color, 1.8f);
}

const char* kindWords(LessonKind kind) {
  switch (kind) {
    case LessonKind::lesson: return "LESSON";
    case LessonKind::puzzle: return "PUZZLE";
    case LessonKind::question: return "QUESTION";
    case LessonKind::example: break;
  }
  return "EXAMPLE";
}

/// Why the reader's answer is right or wrong.
document::Markup reasonOf(const GuideView& g) {
  document::Markup reason{
      {document::Run::Kind::strong, std::string(inWords(g.isRight() ? "Right." : "No.")), {}, {}, {}},
      {document::Run::Kind::plain, " ", {}, {}, {}}};
  if (g.words.because.empty()) return reason;
  const auto& because = g.words.because[g.words.because.size() > 1 ? static_cast<std::size_t>(*g.answer) : 0];
  reason.insert(reason.end(), because.begin(), because.end());
  return reason;
}

/// The lesson after the one that is open; null after the last, and after anything else.
const GuideEntry* lessonAfter(const GuideView& g) {
  const auto isLesson = [](const GuideEntry& e) { return e.kind == LessonKind::lesson; };
  auto at = std::find_if(g.entries.begin(), g.entries.end(), [&](const GuideEntry& e) {
    return isLesson(e) && g.lesson && e.id == g.lesson->id;
  });
  if (at != g.entries.end()) at = std::find_if(at + 1, g.entries.end(), isLesson);
  return at == g.entries.end() ? nullptr : &*at;
}

class GuidePage {
 public:
  GuidePage(Context& c, float x, float y, float width, FocusRing* keys)
      : c_(c),
        g_(*c.view.guide),
        keys_(keys),
        w_(c, keys),
        list_(ImGui::GetWindowDrawList()),
        x_(x),
        y_(y),
        width_(width) {}

  float y() const { return y_; }
  void page() {
    if (!g_.waiting.empty()) return said(g_.waiting);
    if (g_.list || !g_.lesson) return list();
    head();
    step();
  }

  // --- parts that bar and sheet also show

  void dots(float x, float midY) {
    const Palette& p = c_.palette;
    for (std::size_t i = 0; i < g_.passed.size(); ++i) {
      const bool now = static_cast<int>(i) == g_.step;
      const Box box{x, midY - 7, now ? 18.0f : kDot, 14};
      // Too close to each other for fingers, which have Back and Next.
      if (!c_.roomy() && w_.area(base::joined({"guide:step:", i}), box))
        ask({What::step, static_cast<int>(i), "", {}});
      if (now) list_->AddRectFilled({x, midY - 4}, {x + 16, midY + 4}, p.ink, 4);
      else if (g_.passed[i]) list_->AddCircleFilled({x + 4, midY}, 4, p.on, 16);
      else list_->AddCircle({x + 4, midY}, 3.4f, p.faint, 16, 1.3f);
      x += now ? 22 : kDot;
    }
  }
  /// "LESSON 2", and the step at the right; returns the y below.
  float kind(float x, float y, float width) {
    textMiddle(list_, c_.fonts.smallStrong, x, y + 8, c_.palette.muted, kindAndNumber());
    if (g_.passed.size() > 1) textRight(list_, c_.fonts.small, x + width, y + 8, c_.palette.muted, stepOf());
    return y + 16;
  }
  float dotsWidth() const { return static_cast<float>(g_.passed.size()) * kDot + 8; }

  /// The progress bar of a single numeric goal, 8 high, and its value at the right in digits of `size`.
  void bar(const Box& box, float size) {
    const Verdict& v = g_.verdicts.front();
    const Palette& p = c_.palette;
    ImFont* font = c_.fonts.mono;
    const std::string& shown = v.shown;
    const float wide = textWidth(font, shown) * size / 13;
    const float room = std::max(size * 3.2f, wide + 16);
    const Box track{box.x, box.midY() - 4, box.width - room, 8};
    const auto at = [&](double value) {
      return track.x +
             track.width * static_cast<float>(std::clamp((value - g_.low) / (g_.high - g_.low), 0.0, 1.0));
    };
    const ImU32 color = v.holds ? p.on : p.weight;
    list_->AddRectFilled({track.x, track.y}, {track.right(), track.bottom()}, p.track, 4);
    if (at(v.value) > track.x + 1)
      list_->AddRectFilled({track.x, track.y}, {at(v.value), track.bottom()}, color, 4);
    list_->AddRectFilled({at(v.aim) - 1, track.midY() - 8}, {at(v.aim) + 1, track.midY() + 8}, p.text);
    digitsCentered({list_, font, v.holds ? p.value : p.weight}, size / 13, box.right() - wide / 2, box.midY(),
                   shown);
    c_.widgetRects["guide:bar"] = track;
    bar_ = track, aim_ = at(v.aim);
  }

  bool hasBar() const {
    return g_.verdicts.size() == 1 && g_.verdicts.front().isNumber && std::isfinite(g_.verdicts.front().aim);
  }

  /// The state of the goals: "0.09 to go", "Passed"; for several goals, how many hold.
  void standing(float x, float midY) {
    const Palette& p = c_.palette;
    if (g_.holds) {
      tick(list_, x + 1, midY, p.value);
      textMiddle(list_, c_.fonts.strong, x + 16, midY, p.value, "Passed");
      c_.widgetRects["guide:passed"] = {x, midY - 8, 70, 16};
      return;
    }
    textMiddle(list_, c_.fonts.small, x, midY, p.muted, away());
  }

  void choice(std::size_t i, const Box& box) {
    const Palette& p = c_.palette;
    const auto answer = static_cast<std::size_t>(g_.now()->predict->answer);
    const bool isDone = g_.answer.has_value(), isRight = isDone && i == answer;
    const bool isWrong = isDone && static_cast<int>(i) == *g_.answer && !isRight;
    const std::string name = base::joined({"guide:choice:", i});
    const bool pressed = (w_.keys(name, box, !isDone).press || w_.area(name, box)) && !isDone;
    const bool over = ImGui::IsItemHovered() && !isDone;
    if (over) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    const ImU32 line = isRight ? p.value : isWrong ? p.error : p.border;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         isRight   ? withAlpha(p.on, 0.12f)
                         : isWrong ? withAlpha(p.error, 0.1f)
                         : over    ? p.hover
                                   : p.panel,
                         5);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, line, 5, 0, isRight || isWrong ? 1.5f : 1.0f);
    const float mark = isRight || isWrong ? 18.0f : 0.0f;
    const ImU32 color = isDone && !isRight && !isWrong
                            ? p.muted
                            : p.text;  // the tint's own hue would have too little contrast on it
    document::Markup words = g_.words.choices[i];
    std::string plain;
    for (const document::Run& run : words) plain += run.words;
    const AsIs asIs;
    const ImVec2 size{std::min(textWidth(c_.fonts.text, plain), box.width - 12 - mark), 0};
    const float x = box.midX() - (size.x + mark) / 2;
    if (isRight) tick(list_, x, box.midY(), p.value);
    if (isWrong) cross(list_, x + 1, box.midY(), p.error);
    textMiddle(list_, isRight || isWrong ? c_.fonts.strong : c_.fonts.text, x + mark, box.midY(), color,
               elide(c_.fonts.text, plain, box.width - 12 - mark));
    if (pressed) ask({What::answer, static_cast<int>(i), "", {}});
  }

  /// The number of choices side by side.
  std::size_t columns(float width) const {
    float widest = 0;
    for (const document::Markup& choice : g_.words.choices) {
      std::string plain;
      for (const document::Run& run : choice) plain += run.words;
      widest = std::max(widest, textWidth(c_.fonts.text, plain) + 34);
    }
    return static_cast<std::size_t>(
        std::clamp((width + 8) / (widest + 8), 1.0f, static_cast<float>(g_.words.choices.size())));
  }

  /// In one row, or behind a button if there is no room.
  void choicesInRow(const Box& row) {
    const std::size_t count = g_.words.choices.size();
    if (columns(row.width) == count) choices(row.x, row.y, row.width, row.height);
    else if (w_.button("guide-answer", {row.x, row.y, std::min(row.width, 140.0f), row.height}, "Answer …"))
      ask({What::pull, 3, "", {}});
  }

  /// The choices in rows of `height`; returns the y below them.
  float choices(float x, float y, float width, float height) {
    const std::size_t count = g_.words.choices.size(), columns = this->columns(width);
    const float each = (width - 8 * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    for (std::size_t i = 0; i < count; ++i) {
      const float row = static_cast<float>(i / columns) * (height + 8);
      choice(i, {x + static_cast<float>(i % columns) * (each + 8), y + row, each, height});
    }
    return y + static_cast<float>((count + columns - 1) / columns) * (height + 8) - 8;
  }

  void back(const Box& box, std::string_view words) {
    if (off("guide-back", box, words, g_.step > 0, false)) ask({What::back, 0, "", {}});
  }
  void next(const Box& box, std::string_view words) {
    const bool may = g_.mayGoOn();
    if (off("guide-next", box, words, may, true)) ask({What::next, 0, "", {}});
  }

  /// Fills what is left of the footer, with the title of the lesson.
  void nextLesson(const Box& box, const GuideEntry& lesson) {
    const Palette& p = c_.palette;
    if (w_.keys("guide-next-lesson", box).press || w_.area("guide-next-lesson", box))
      ask({What::open, 0, lesson.id, {}});
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, p.ink, 5);
    const float words = textWidth(c_.fonts.strong, "Next lesson"), room = box.width - words - 52;
    textMiddle(list_, c_.fonts.strong, box.x + 12, box.midY(), p.inkText, "Next lesson");
    const AsIs own;
    if (room > 30)
      textMiddle(list_, c_.fonts.small, box.x + 22 + words, box.midY(), p.inkText,
                 elide(c_.fonts.small, lesson.title, room));
    const ImVec2 points[] = {{box.right() - 18, box.midY() - 4},
                             {box.right() - 14, box.midY()},
                             {box.right() - 18, box.midY() + 4}};
    list_->AddPolyline(points, 3, p.inkText, 0, 1.6f);
  }

  bool hintButton(const Box& box) {
    return !g_.words.hint.empty() && !g_.asks() && w_.button("guide-hint", box, "Hint", g_.hint);
  }

 private:
  base::Message kindAndNumber() const {
    const char* const kind = kindWords(g_.lesson->kind);
    return g_.number > 0 ? base::message({kind, " ", g_.number}) : base::Message(kind);
  }
  base::Message stepOf() const { return {"Step ", g_.step + 1, " of ", g_.passed.size()}; }
  /// How far the goals are.
  base::Message away() const {
    if (g_.verdicts.size() != 1) return {g_.passedGoals(), " of ", g_.verdicts.size(), " hold"};
    const Verdict& v = g_.verdicts.front();
    if (!v.isNumber) return {v.shown, " now"};
    if (v.away < 0.005) return "almost there";
    return {formatNumber(v.away, v.away == std::floor(v.away) ? 0 : 2), " to go"};
  }

  void ask(GuideAct act) { c_.requests.guide.push_back(std::move(act)); }

  /// Of what is pressed: for fingers, as nothing beside it is free for one, as high as one.
  float high(float usual) const { return c_.roomy() ? 44 : usual; }

  /// A button that may be disabled; it is filled if it is the next step.
  bool off(std::string_view name, const Box& box, std::string_view words, bool on, bool filled) {
    const Palette& p = c_.palette;
    const bool pressed = (w_.keys(name, box, on).press || w_.area(name, box)) && on;
    const bool over = on && ImGui::IsItemHovered();
    const bool ink = filled && on;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         ink    ? p.ink
                         : over ? p.hover
                         : on   ? p.panel
                                : p.background,
                         5);
    if (!ink) list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, p.border, 5);
    const ImU32 color = ink ? p.inkText : on ? p.text : p.muted;
    if (words == "<" || words == ">") {
      const float s = words == "<" ? -1.0f : 1.0f;
      const ImVec2 points[] = {{box.midX() - 2.5f * s, box.midY() - 5},
                               {box.midX() + 2.5f * s, box.midY()},
                               {box.midX() - 2.5f * s, box.midY() + 5}};
      list_->AddPolyline(points, 3, on ? color : withAlpha(p.faint, 0.55f), 0, 1.6f);
    } else {
      textCentered(list_, ink ? c_.fonts.strong : c_.fonts.text, box.midX(), box.midY(), color, words);
    }
    return pressed;
  }

  void list() { y_ = guideList(c_, keys_, {x_, y_, width_, 0}); }

  void said(std::string_view words) {
    y_ += paragraph({list_, c_.fonts.text, c_.palette.muted}, x_, y_ + 12, width_, words) + 24;
  }

  FlowLook body(bool hasTerms = false) const { return {c_.fonts.text, c_.palette.text, 21, 0, hasTerms}; }

  void head() {
    const Palette& p = c_.palette;
    textMiddle(list_, c_.fonts.smallStrong, x_, y_ + 8, p.muted, kindAndNumber());
    const float all = textWidth(c_.fonts.small, "All lessons") + 14;
    const float tall = high(20);
    const Box link{x_ + width_ - all, y_ + 8 - tall / 2, all, tall};
    if (w_.keys("guide-list", link).press || w_.area("guide-list", link)) ask({What::list, 0, "", {}});
    const ImU32 color = ImGui::IsItemHovered() ? p.text : p.muted;
    textMiddle(list_, c_.fonts.small, link.x, link.midY(), color, "All lessons");
    list_->AddTriangleFilled({link.right() - 8, link.midY() - 2}, {link.right(), link.midY() - 2},
                             {link.right() - 4, link.midY() + 2.5f}, color);
    y_ += 23;
    y_ += paragraph({list_, c_.fonts.title, p.text}, x_, y_, width_, g_.lesson->title) + 4;
    if (g_.passed.size() > 1) {
      dots(x_, y_ + 8);
      textRight(list_, c_.fonts.small, x_ + width_, y_ + 8, p.muted, stepOf());
      y_ += 24;
    } else if (g_.lesson->par > 0) {
      textMiddle(
          list_, c_.fonts.small, x_, y_ + 8, p.muted,
          base::message({"Can be solved with ", g_.lesson->par, g_.lesson->par == 1 ? " edit" : " edits"}));
      y_ += 24;
    }
  }

  void step() {
    y_ += flow(c_, g_.words.text, {x_, y_}, width_, body(true), "guide:text");
    if (!g_.words.text.empty()) y_ += 14;
    if (g_.now()->predict) block([&] { predict(); });
    if (g_.now()->attempt && !g_.asks()) block([&] { attempt(); });
    after();
  }

  /// Where to go after the last step of a card.
  void after() {
    if (!g_.isLast()) return;
    if (g_.lesson->kind == LessonKind::lesson &&
        std::find(g_.passed.begin(), g_.passed.end(), false) == g_.passed.end())
      done();
    const GuideEntry* following = lessonAfter(g_);  // in the list, which knows better than the lesson
    for (const std::string& named : g_.lesson->next) {
      const std::string& id = following ? following->id : named;
      following = nullptr;
      const auto entry =
          std::find_if(g_.entries.begin(), g_.entries.end(), [&](const GuideEntry& e) { return e.id == id; });
      const std::string title = entry == g_.entries.end() ? id : entry->title;
      const bool isPuzzle = entry != g_.entries.end() && entry->kind == LessonKind::puzzle;
      const Box row{x_, y_, width_, high(22)};
      if (w_.link("guide-go:" + id, row,
                  elide(c_.fonts.small, base::message({isPuzzle ? "Puzzle: " : "Next: ", title}), width_)))
        ask({What::open, 0, id, {}});
      y_ += row.height + 4;
    }
  }

  /// What the reader has found, a line for each exercise.
  std::vector<base::Message> findings() const {
    std::vector<base::Message> lines;
    for (const auto& [step, one] : g_.found)
      lines.push_back(base::message({one.of, " went from ", one.before, " to ", one.after, "."}));
    return lines;
  }

  /// All steps are passed.
  void done() {
    const Palette& p = c_.palette;
    const std::vector<base::Message> lines = findings();
    const float inside = width_ - 32;
    float height = 44;
    for (const base::Message& line : lines)
      height += paragraph({nullptr, c_.fonts.text, 0}, 0, 0, inside, line);
    const Box box{x_, y_, width_, height + (lines.empty() ? 0.0f : 8.0f)};
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(p.on, 0.12f), 6);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(p.on, 0.5f), 6);
    list_->AddCircleFilled({box.x + 21, box.y + 22}, 9, p.on, 24);
    tick(list_, box.x + 16.5f, box.y + 22, p.panel);
    textMiddle(list_, c_.fonts.strong, box.x + 40, box.y + 22, p.text, "Lesson done");
    float y = box.y + 40;
    for (const base::Message& line : lines)
      y += paragraph({list_, c_.fonts.text, p.text}, box.x + 16, y, inside, line);
    c_.widgetRects["guide:done"] = box;
    y_ += box.height + 16;
  }

  template <class Draw>
  void block(Draw draw) {
    const float top = y_, left = x_, wide = width_;
    list_->ChannelsSplit(2);  // the background is drawn last, behind the content, once its height is known
    list_->ChannelsSetCurrent(1);
    x_ += kInside, width_ -= 2 * kInside, y_ += 12;
    draw();
    x_ = left, width_ = wide, y_ += 12;
    list_->ChannelsSetCurrent(0);
    list_->AddRectFilled({x_, top}, {x_ + width_, y_}, c_.palette.background, 6);
    list_->AddRect({x_, top}, {x_ + width_, y_}, c_.palette.border, 6);
    list_->ChannelsMerge();
    y_ += 16;
  }

  void caption(std::string_view words) {
    textMiddle(list_, c_.fonts.smallStrong, x_, y_ + 7, c_.palette.muted, words);
    y_ += 22;
  }

  void predict() {
    caption("PREDICT");
    y_ += flow(c_, g_.words.question, {x_, y_}, width_, body(), "guide:question") + 8;
    y_ = choices(x_, y_, width_, high(28));
    if (!g_.answer) return sought(y_ + 24);
    const bool right = g_.isRight();
    const document::Markup reason = reasonOf(g_);
    y_ += 8;
    const float first = textWidth(c_.fonts.strong, right ? "Right." : "No.");
    const float at = y_;
    y_ += flow(c_, reason, {x_, y_}, width_, {c_.fonts.text, c_.palette.text, 20, 0}, "guide:because");
    // The first word is drawn again in the colour of the verdict.
    list_->AddRectFilled({x_, at}, {x_ + first, at + 20}, c_.palette.background);
    textMiddle(list_, c_.fonts.strong, x_, at + 10, right ? c_.palette.value : c_.palette.error,
               right ? "Right." : "No.");
    constexpr float kBelow = 20;
    if (y_ + kBelow > ImGui::GetWindowPos().y + ImGui::GetWindowHeight()) sought(y_ + kBelow);
  }

  /// Scrolls what ends at `y` into view, if it is sought.
  void sought(float y) {
    if (g_.seek <= 0) return;
    --g_.seek;
    ImGui::SetScrollFromPosY(y - ImGui::GetWindowPos().y, 1);
    c_.view.busy = true;  // it is visible in the next frame
  }

  void attempt() {
    caption("TRY");
    y_ += flow(c_, g_.words.task, {x_, y_}, width_, body(), "guide:task") + 6;
    if (hasBar()) barWithEnds();
    else
      for (const Verdict& v : g_.verdicts) goal(v);
    if (g_.hint && !g_.words.hint.empty()) {
      const float top = y_ + 4;
      y_ = top + flow(c_, g_.words.hint, {x_ + 12, top}, width_ - 12, {c_.fonts.text, c_.palette.text, 20, 0},
                      "guide:hint");
      list_->AddRectFilled({x_, top}, {x_ + 2, y_}, c_.palette.query, 1);
      y_ += 6;
    }
    links();
  }

  void barWithEnds() {
    bar({x_, y_, width_, 24}, 16);
    y_ += 26;
    const Palette& p = c_.palette;
    const auto number = [](double value) { return formatNumber(value, value == std::round(value) ? 0 : 2); };
    const std::string low = number(g_.low), high = number(g_.high),
                      aim = formatNumber(g_.verdicts.front().aim, 2);
    const float half = textWidth(c_.fonts.smallStrong, aim) / 2;
    textMiddle(list_, c_.fonts.small, bar_.x, y_ + 7, p.muted, aim_ - half < bar_.x + 12 ? "" : low);
    textRight(list_, c_.fonts.small, bar_.right(), y_ + 7, p.muted,
              aim_ + half > bar_.right() - 12 ? "" : high);
    textCentered(list_, c_.fonts.smallStrong, std::clamp(aim_, bar_.x + half, bar_.right() - half), y_ + 7,
                 p.text, aim);
    y_ += 22;
  }

  /// One of several goals, or one that is not numeric: a tick, its name, its present and its wanted value.
  void goal(const Verdict& v) {
    const Palette& p = c_.palette;
    const float mid = y_ + 11;
    if (v.holds) tick(list_, x_, mid, p.value);
    else list_->AddCircle({x_ + 5, mid}, 4.5f, p.faint, 16, 1.3f);
    const base::MessageView now = v.shown, want = v.holds ? base::MessageView() : v.want;
    const float right = want.empty() ? 0 : textWidth(c_.fonts.small, "  ") + textWidth(c_.fonts.small, want),
                value = textWidth(c_.fonts.monoSmall, now);
    textRight(list_, c_.fonts.small, x_ + width_, mid, p.muted, want);
    const bool isPlain = linesFor(c_.fonts.monoSmall, inWords(now)) == nullptr;
    textRight(list_, isPlain ? c_.fonts.monoSmall : c_.fonts.small, x_ + width_ - right, mid,
              v.holds ? p.value : p.weight, now);
    textMiddle(list_, c_.fonts.small, x_ + 18, mid, p.text,
               elide(c_.fonts.small, v.of, width_ - 24 - right - value));
    y_ += 22;
  }

  void links() {
    y_ += 8;
    const float tall = high(20);
    standing(x_, y_ + tall / 2);
    float right = x_ + width_;
    const auto one = [&](std::string_view name, std::string_view words) {
      const float width = textWidth(c_.fonts.small, words);
      const float wide = std::max(width, c_.roomy() ? 44.0f : 0.0f);
      const bool pressed = w_.link(name, {right - wide, y_, wide, tall}, words);
      right -= wide + 18;
      return pressed;
    };
    if (!g_.now()->attempt->solution.empty() && one("guide-show", "Show me")) ask({What::show, 0, "", {}});
    if (!g_.words.hint.empty() && !g_.holds && one("guide-hint", g_.hint ? "Hide hint" : "Hint"))
      ask({What::hint, 0, "", {}});
    y_ += tall;
  }

  Context& c_;
  GuideView& g_;
  FocusRing* keys_;
  Widgets w_;
  ImDrawList* list_;
  float x_, y_, width_;
  Box bar_;
  float aim_ = 0;
};

/// The whole lesson, scrollable, with its footer. Keys move through it; the caller must end their focus ring.
void wholeLesson(Context& c, const Box& box) {
  GuideView& g = *c.view.guide;
  const bool hasFoot = !g.list && g.lesson && g.waiting.empty();
  const float foot = hasFoot ? kFoot : 0;
  const Box page{box.x, box.y, box.width, box.height - foot};
  FocusRing& keys = c.view.options;
  c.view.side.begin();
  begin(c, "##side", page, true);
  keys.begin();
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  GuidePage content(c, origin.x + kPad, origin.y + kPad, box.width - 2 * kPad - 1, &keys);
  content.page();
  ImGui::SetCursorScreenPos({origin.x, content.y() + 8});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, c.view.side);
  c.view.side.update(page);
  ImGui::GetWindowDrawList()->AddLine({page.right() - 0.5f, page.y}, {page.right() - 0.5f, page.bottom()},
                                      c.palette.border);
  ImGui::End();
  if (hasFoot) {
    const Box line{box.x, page.bottom(), box.width, foot};
    begin(c, "##guide-foot", line);
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine({line.x, line.y + 0.5f}, {line.right(), line.y + 0.5f}, c.palette.border);
    list->AddLine({line.right() - 0.5f, line.y}, {line.right() - 0.5f, line.bottom()}, c.palette.border);
    GuidePage end(c, line.x, line.y, line.width, &keys);
    const float high = c.roomy() ? 44 : 28, wide = c.roomy() ? 96 : 88, y = line.midY() - high / 2;
    end.back({line.x + kPad, y, wide, high}, "Back");
    const GuideEntry* after = g.isLast() && g.mayGoOn() ? lessonAfter(g) : nullptr;
    if (after) end.nextLesson({line.x + kPad + wide + 8, y, line.width - 2 * kPad - wide - 8, high}, *after);
    else end.next({line.right() - kPad - wide, y, wide, high}, g.isLast() ? "Done" : "Next");
    if (!g.mayGoOn())
      textCentered(list, c.fonts.small, line.midX(), line.midY(), c.palette.muted,
                   g.asks() ? "answer first" : "pass the check");
    ImGui::End();
  }
}

document::Markup sentence(const GuideView& g) {
  if (!g.waiting.empty()) return {{document::Run::Kind::plain, g.waiting, {}, {}, {}}};
  if (g.asks()) return g.words.question;
  if (g.now() && g.now()->attempt) return g.words.task;
  if (g.answer) return reasonOf(g);
  return g.words.text;
}

/// What the bar and the sheet show of a step, below its text.
void standing(Context& c, GuidePage& page, const Box& box, float bar) {
  GuideView& g = *c.view.guide;
  if (!g.now() || g.verdicts.empty() || g.asks()) return;
  float x = box.x;
  if (page.hasBar()) {
    page.bar({x, box.y, bar, box.height}, 13);
    x += bar + 14;
  }
  page.standing(x, box.midY());
}

void hintBubble(Context& c, const Box& bar) {
  GuideView& g = *c.view.guide;
  if (!g.hint || g.words.hint.empty() || g.asks()) return;
  const float width = std::min(420.0f, bar.width - 24), inside = width - 28;
  const FlowLook look{c.fonts.text, c.palette.text, 20, 0};
  const float height = flow(c, g.words.hint, {0, 0}, inside, look, "") + 22;
  const Box box{bar.right() - 12 - width, bar.y - height - 8, width, height};
  begin(c, "##guide-hint", box);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRect({box.x + 0.5f, box.y + 0.5f}, {box.right() - 0.5f, box.bottom() - 0.5f}, c.palette.border, 6);
  list->AddRectFilled({box.x, box.y + 8}, {box.x + 3, box.bottom() - 8}, c.palette.query);
  flow(c, g.words.hint, {box.x + 14, box.y + 11}, inside, look, "guide:hint");
  c.widgetRects["guide-hint-text"] = box;
  ImGui::End();
}

/// The bar: up to two lines of text, below them dots, progress and value, and at the right hint, back and
/// forward.
void strip(Context& c, const Box& box) {
  GuideView& g = *c.view.guide;
  begin(c, "##guide", box);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({box.x, box.y + 0.5f}, {box.right(), box.y + 0.5f}, c.palette.border);
  c.widgetRects["guide-strip"] = box;
  if (g.pulled) return ImGui::End();  // the whole lesson covers it
  GuidePage page(c, box.x, box.y, box.width, nullptr);
  float right = box.right() - 14;
  const float middle = box.midY() - 14;
  page.next({right - 34, middle, 34, 28}, ">");
  page.back({right - 76, middle, 34, 28}, "<");
  right -= 84;
  if (page.hintButton({right - 56, middle, 56, 28})) c.requests.guide.push_back({What::hint, 0, "", {}});
  if (!g.words.hint.empty() && !g.asks()) right -= 64;
  const float x = box.x + 14, width = right - x - 8;
  if (Widgets(c).area("guide-whole", {x, box.y + 4, width, box.height - 38}))
    c.requests.guide.push_back({What::pull, 0, "", {}});
  const float lines =
      flow(c, sentence(g), {x, box.y + 10}, width, {c.fonts.text, c.palette.text, 21, 2}, "guide:sentence");
  if (const float needed = kStripHeight + std::max(0.0f, lines - 21);
      std::exchange(g.stripHeight, needed) != needed)
    c.view.busy = true;
  page.dots(x, box.bottom() - 19);
  const float from = x + page.dotsWidth() + 16;
  if (g.asks())
    page.choicesInRow({from, box.bottom() - 31,
                       std::min(right - from, 160.0f * static_cast<float>(g.words.choices.size())), 24});
  else
    standing(c, page, {from, box.bottom() - 31, right - from, 24}, std::min(252.0f, (right - from) * 0.62f));
  ImGui::End();
  hintBubble(c, box);
}

/// Beside the controls: what is to be done, and how far it is. In a line over those of a phone, else below
/// them. A press leads back.
void goal(Context& c, const Box& box) {
  GuideView& g = *c.view.guide;
  begin(c, "##guide", box);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({box.x, box.y + 0.5f}, {box.right(), box.y + 0.5f}, c.palette.border);
  const bool isColumn = c.layout.width == Width::full;
  if (isColumn)
    list->AddLine({box.right() - 0.5f, box.y}, {box.right() - 0.5f, box.bottom()}, c.palette.border);
  GuidePage page(c, box.x, box.y, box.width, nullptr);
  const float x = box.x + kInside, width = box.width - 2 * kInside - (isColumn ? 0 : 20);
  if (Widgets(c).area("guide-goal", box)) c.requests.guide.push_back({What::tab, 0, "", {}});
  const ImU32 ink = ImGui::IsItemHovered() ? c.palette.text : c.palette.muted;
  float y = box.y + 8;
  if (isColumn) y = page.kind(x, y + 4, width) + 6;
  flow(c, sentence(g), {x, y}, width, {c.fonts.text, c.palette.text, 21, isColumn ? 3 : 1}, "guide:sentence");
  const ImVec2 arrow[] = {{box.right() - 22, y + 8}, {box.right() - 18, y + 12}, {box.right() - 22, y + 16}};
  if (!isColumn) list->AddPolyline(arrow, 3, ink, 0, 1.6f);
  const Box line{x, isColumn ? box.bottom() - 52 : box.y + 29, width, 24};
  if (g.asks()) textMiddle(list, c.fonts.small, x, line.midY(), c.palette.muted, "answer first");
  else if (!isColumn) standing(c, page, line, width * 0.6f);
  else if (page.hasBar() && g.now()->attempt) page.bar(line, 13), page.standing(x, line.bottom() + 10);
  else if (!g.verdicts.empty()) page.standing(x, line.bottom() + 10);
  ImGui::End();
}

/// On a phone: a handle, the title and the question; pulled up, the whole lesson, half as high as the window.
void sheet(Context& c, const Box& low) {
  GuideView& g = *c.view.guide;
  if (c.view.drawer) return goal(c, low);
  const Box box = g.pulled ? c.layout.sheet : low;
  const Box head{box.x, box.y, box.width, g.pulled ? 44.0f : box.height};
  begin(c, "##guide", head);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({head.x, head.y}, {head.right(), head.bottom()}, c.palette.panel, 12,
                      ImDrawFlags_RoundCornersTop);
  list->AddLine({head.x, head.y + 0.5f}, {head.right(), head.y + 0.5f}, c.palette.border);
  list->AddRectFilled({head.midX() - 18, head.y + 7}, {head.midX() + 18, head.y + 11}, c.palette.track, 2);
  Widgets w(c);
  GuidePage page(c, box.x, box.y, box.width, nullptr);
  const float right = head.right() - 16;
  if (g.pulled) {
    // The cross and a swipe down leave of a lesson its bar, so that its exercise can still be passed, and of
    // the list nothing. The button below closes both.
    const bool isList = g.list || !g.lesson,
               isShut = w.cross("guide-close", {head.right() - 48, head.y, 44, 44}),
               isDown = swiped(head) > 0;
    if (isShut && (isList || !c.widgetRects.contains("panel:guide")))
      c.requests.guide.push_back({What::close, 0, "", {}});
    else if (w.area("guide-handle", {head.x, head.y, head.width - 60, 44}) || isDown || isShut)
      c.requests.guide.push_back({isDown && isList ? What::close : What::pull, 0, "", {}});
    textMiddle(list, c.fonts.strong, head.x + kPad, head.y + 26, c.palette.text, "Guide");
    ImGui::End();
    wholeLesson(c, {box.x, head.bottom(), box.width, box.height - 44});
    return c.view.options.end();
  }
  const float dots = page.dotsWidth();
  page.dots(right - dots + 6, head.y + 27);
  if (w.area("guide-handle", {head.x, head.y, head.width - dots - 24, 44}) || swiped(head) < 0)
    c.requests.guide.push_back({What::pull, 0, "", {}});
  textMiddle(list, c.fonts.strong, head.x + kPad, head.y + 27, c.palette.text,
             elide(c.fonts.strong, g.lesson ? g.lesson->title : "Guide", right - dots - head.x - 20));
  const float low_ = head.bottom() - 50;
  const int lines = static_cast<int>((low_ - head.y - 40) / 19);
  flow(c, sentence(g), {head.x + kPad, head.y + 42}, head.width - 2 * kPad,
       {c.fonts.text, c.palette.text, 19, std::max(1, lines)}, "guide:sentence");
  page.next({right - 44, low_, 44, 44}, ">");
  page.back({right - 96, low_, 44, 44}, "<");
  float end = right - 104;
  if (page.hintButton({end - 62, low_, 62, 44})) c.requests.guide.push_back({What::hint, 0, "", {}});
  if (!g.words.hint.empty() && !g.asks()) end -= 70;
  const float x = head.x + kPad, width = end - x;
  if (g.asks()) page.choicesInRow({x, low_, width, 44});
  else if (page.hasBar() && g.now()->attempt) {
    page.bar({x, low_ - 2, width, 24}, 13);
    page.standing(x, low_ + 28);
  } else if (!g.verdicts.empty()) {
    page.standing(x, low_ + 18);
  }
  c.widgetRects["guide-sheet"] = box;
  ImGui::End();
  hintBubble(c, box);
}

}  // namespace

int GuideView::passedGoals() const {
  return static_cast<int>(
      std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.holds; }));
}

void openGuide(Context& c) { c.requests.guide.push_back({What::tab, 0, "", {}}); }

namespace {

void tabs(Context& c, const Box& line) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddLine({line.x, line.bottom() - 0.5f}, {line.right(), line.bottom() - 0.5f}, c.palette.border);
  float x = line.x + 14;
  if (!listed(c.hide, "panel")) {
    const float width = textWidth(c.fonts.text, "Controls");
    if (tab(c, "panel:controls", {x, line.y, width, line.height}, "Controls", false))
      c.requests.guide.push_back({What::controls, 0, "", {}});
    x += 86;
  }
  tab(c, "panel:guide", {x, line.y, textWidth(c.fonts.strong, "Guide"), line.height}, "Guide", true);
  const float side = c.roomy() ? 44 : 34;
  if (Widgets(c).cross("guide-close", {line.right() - 6 - side, line.midY() - side / 2, side, side}))
    c.requests.guide.push_back({What::close, 0, "", {}});
}

/// Keyboard focus of the tabs comes after that of the lesson, which starts with the question.
[[gnu::noinline]] void tabKeys(Context& c, const Box& head) {
  begin(c, "##guide-tabs", head);
  Widgets w(c, &c.view.options);
  for (const auto& [name, what] :
       {std::pair{"panel:controls", What::controls}, {"guide-close", What::close}}) {
    const auto at = c.widgetRects.find(name);
    if (at != c.widgetRects.end() && w.keys(name, Box(at->second)).press)
      c.requests.guide.push_back({what, 0, "", {}});
  }
  ImGui::End();
}

}  // namespace

void guidePanel(Context& c) {
  const Box& b = c.layout.side;
  const Box head{b.x, b.y, b.width, c.roomy() ? 44 : kTabs};
  begin(c, "##guide-tabs", head);
  tabs(c, head);
  ImGui::GetWindowDrawList()->AddLine({b.right() - 0.5f, b.y}, {b.right() - 0.5f, b.bottom()},
                                      c.palette.border);
  ImGui::End();
  wholeLesson(c, {b.x, head.bottom(), b.width, b.height - head.height});
  if (c.view.options.on) tabKeys(c, head);
  c.view.options.end();
}

void guideBar(Context& c) {
  const Box& box = c.layout.guide;
  if (box.empty()) return;
  if (c.layout.width == Width::narrow) sheet(c, box);
  else if (c.layout.width == Width::medium) strip(c, box);
  else goal(c, box);
}

std::optional<base::Message> allowedInstead(const Context& c, std::string_view locked) {
  const document::Step* now = c.view.guideOpen && c.view.guide ? c.view.guide->now() : nullptr;
  if (!now || !now->attempt || now->attempt->allow.empty()) return {};
  base::Message names;
  for (const std::string& name : now->attempt->allow) {
    if (name == locked) return {};
    const auto id = attention::tensorNamed(name);
    const base::Message title = id ? base::Message(attention::symbol(*id, c.spec.score)) : about(name).title;
    const base::Message& one = title.empty() ? base::message({name}) : title;
    names = names.empty() ? one : base::message({names, ", ", one});
  }
  return names;
}

base::Message whyLocked(const Context& c, std::string_view name, std::string_view shown) {
  const auto instead = allowedInstead(c, name);
  return instead ? base::message({"In this exercise only this can be changed: ", *instead, "."})
                 : base::message({"This page has locked ", shown, "."});
}

bool isOfStep(const GuideView& g, std::string_view tensor) {
  return g.lesson && std::any_of(g.asked.begin(), g.asked.end(),
                                 [tensor](const document::Cells& cells) { return cells.tensor == tensor; });
}
bool isOfStep(const Context& c, std::string_view tensor) {
  return c.view.guideOpen && c.view.guide && isOfStep(*c.view.guide, tensor);
}

std::optional<Box> boxOf(const Layout& layout, const document::Settings& settings,
                         const document::Cells& cells) {
  const auto id = attention::tensorNamed(cells.tensor);
  if (!id) return {};
  const auto given = [&](std::size_t axis) {
    return axis < cells.at.size() ? cells.at[axis] : document::Cells::kAny;
  };
  const CellRef at =
      shownAs(settings, {*id, std::max(given(0), 0), std::max(given(1), 0), std::max(given(2), 0)});
  const MatrixPlace* m = layout.find(at.tensor);
  if (!m ||
      (given(0) >= 0 && headShowing(settings, at.tensor, at.head, at.row, at.col) != settings.focusHead))
    return {};
  const Slice slice = sliceOf(settings, at.tensor);
  const auto range = [](bool isOne, int index, int count) {
    return isOne ? std::pair{std::clamp(index, 0, count - 1), std::clamp(index, 0, count - 1)}
                 : std::pair{0, count - 1};
  };
  const auto [top, bottom] = range(given(1) >= 0, at.row - slice.firstRow, m->transposed ? m->cols : m->rows);
  const auto [left, right] = range(given(2) >= 0, at.col - slice.firstCol, m->transposed ? m->rows : m->cols);
  const Box a = m->cellBox(top, left), b = m->cellBox(bottom, right);
  return Box{a.x, a.y, b.right() - a.x, b.bottom() - a.y};
}

void guideMarks(Context& c) {
  if (!c.view.guide || !c.view.guide->lit) return;
  const document::Cells cells = *std::exchange(c.view.guide->lit, {});
  const std::optional<Box> found = boxOf(c.layout, c.state, cells);
  if (!found) return;
  const Box box = onScreen(c.layout, c.view, *found);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({c.layout.board.x, c.layout.board.y}, {c.layout.board.right(), c.layout.board.bottom()},
                     true);
  list->AddRect({box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1},
                hue(c.palette, *attention::tensorNamed(cells.tensor)), 5, 0, 3);
  list->PopClipRect();
}

}  // namespace views
