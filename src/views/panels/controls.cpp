// The options: a fixed column at the left, or a drawer.
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "attention/engine/decode.h"
#include "attention/mechanisms/mechanism.h"
#include "base/number.h"
#include "base/sentence.h"
#include "document/remedy.h"
#include "document/text.h"
#include "views/control_action.h"
#include "views/guide/guide_page.h"
#include "views/pages/page.h"
#include "views/panels/changes.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::OptionId;

constexpr std::uint32_t kMaskSlot = 900;  // texture slot
constexpr float kMaskSize = 48;
constexpr float kBeside = 6;  // between a label and its control
constexpr float kTouchRow = 44, kTouchGap = 2;

/// A choice as shown in the menu.
struct Entry {
  std::string_view value, title, about;
};

constexpr Entry kPositions[] = {{"none", "None", "order plays no part"},
                                {"sinusoidal", "Sinusoidal", "added to X"},
                                {"rotary", "Rotary", "Q and K turned by position"},
                                {"alibi", "ALiBi", "distance lowers the score"}};
constexpr Entry kPatterns[] = {{"none", "None", "every pair"},
                               {"local", "Local", "the nearest tokens"},
                               {"dilated", "Dilated", "the nearest, in steps"},
                               {"strided", "Strided", "every so many tokens"},
                               {"block", "Block", "within a block of tokens"},
                               {"global", "Global", "the first tokens see and are seen"},
                               {"random", "Random", "some keys per query"},
                               {"longformer", "Longformer", "local and global"},
                               {"bigbird", "BigBird", "local, global and random"}};

constexpr Entry kWeightScales[] = {{"auto", "Automatic", "√ from 64 keys on, ⁴√ beyond 1,024"},
                                   {"linear", "Linear", "in proportion to the weight"},
                                   {"sqrt", "√", "small weights stand out"},
                                   {"row", "Per row", "share of the row's largest"}};

constexpr Entry kWeightBy[] = {{"query", "Query", "its smallest change"},
                               {"key", "Key", "its smallest change"}};

class SidePanel {
 public:
  SidePanel(Context& c, float x, float y, float width)
      : c_(c),
        w_(c, &c.view.options),
        list_(ImGui::GetWindowDrawList()),
        x_(x),
        y_(y),
        width_(width) {}

  /// Draws all sections; returns the height.
  float draw() {
    const float top = y_;
    if (isSheet()) return sheet() - top;
    tabs();
    if (c_.open() == document::View::train) return trainControls(c_, {x_, y_ + 4, width_, 0}) - top;
    inputs();
    mask();
    score();
    numbers();
    if (c_.view.options.on) guideKeys();
    return y_ - top;
  }

 private:
  // --- rows

  void heading(base::MessageView words) {
    if (isSheet()) return;  // it is the row that opens the section
    y_ += 6;
    textMiddle(list_, c_.fonts.smallStrong, x_, y_ + 10, c_.palette.muted, words);
    y_ += 27;
  }

  // For fingers a row with a control is as high as one.
  Box row(float height, float gap) {
    if (c_.roomy() && height >= 20) height = kTouchRow, gap = kTouchGap;
    const Box box{x_, y_, width_, height};
    y_ += height + gap;
    return box;
  }

  void label(const Box& row, base::MessageView words) {
    textMiddle(list_, c_.fonts.text, row.x, row.midY(), c_.palette.text, words);
  }
  /// Before a control that begins at `end`: smaller if it has too little room.
  void label(const Box& row, base::MessageView words, float end) {
    const float room = end - kBeside - row.x;
    ImFont* const font = textWidth(c_.fonts.text, words) <= room ? c_.fonts.text : c_.fonts.small;
    textMiddle(list_, font, row.x, row.midY(), c_.palette.text, elide(font, words, room));
  }

  void remark(base::MessageView words) {
    const Box box = row(18, 6);
    textMiddle(list_, c_.fonts.small, box.x, box.midY(), c_.palette.muted,
               elide(c_.fonts.small, words, box.width));
  }

  int stepRow(std::string_view name, base::MessageView words, base::MessageView value, bool less, bool more,
              std::string_view typed = {}) {
    const Box box = row(26, 7);
    const float wide = c_.roomy() ? 132 : 88;
    label(box, words, box.right() - wide);
    w_.points(name, box);
    return w_.stepper(name, {box.right() - wide, box.y, wide, box.height}, value, less, more, typed);
  }

  bool fits(OptionId id, const document::Value& value) const {
    return bool(document::check(c_.unlabelled(), id, value));
  }

  double number(OptionId id) const {
    const document::Value value = document::get(c_.state, id);
    return *std::get_if<double>(&value);
  }

  // The next possible value in that direction; `value` itself if there is none. Sizes may have to be even.
  double next(OptionId id, double value, int by) const {
    for (const int far : {by, 2 * by}) {
      if (fits(id, value + far)) return value + far;
    }
    return value;
  }

  void count(OptionId id, base::MessageView words, std::string shown = {}) {
    const double value = number(id), less = next(id, value, -1), more = next(id, value, +1);
    if (shown.empty()) shown = std::to_string(static_cast<int>(value));
    const int step = stepRow(document::option(id).name, words, shown, less != value, more != value);
    if (step != 0) c_.requests.set(id, step < 0 ? less : more);
    ends(id, value, less != value, more != value);
  }

  // An option that is off at its smallest value.
  void part(OptionId id, base::MessageView words) {
    count(id, words, number(id) == document::option(id).min ? "off" : "");
  }

  // Below the row, the remedy for its end; that for a typed value that was refused has priority.
  void ends(OptionId id, double value, bool less, bool more) {
    const bool isEnd = id == OptionId::step;  // the decoder has finished, which is not an obstacle
    if (id == OptionId::heads || wayForward(id) || isEnd) return;
    if (!more) wayOut(id, value + 1);
    else if (!less) wayOut(id, value - 1);
  }

  // The remedy for a value that was just refused.
  bool wayForward(OptionId id) {
    const std::optional<Blocked>& b = c_.view.blocked;
    return b && b->option == id && b->revision == c_.revision && wayOut(id, b->value);
  }

  // Shows why a value is not possible, and a remedy, in one or two lines below its control. False if there is
  // no remedy.
  bool wayOut(OptionId id, const document::Value& value) {
    const auto found = document::remedy(c_.unlabelled(), id, value);
    if (!found) return false;
    ImFont* font = c_.fonts.small;
    const base::Message first = base::message({found->reason, " · "});
    const float words = textWidth(font, first), action = textWidth(font, found->action);
    y_ -= 5;
    Box line = row(20, 6);
    const bool fits = words + action <= width_;
    textMiddle(list_, font, line.x, line.midY(), c_.palette.muted,
               fits ? inWords(first) : elide(font, found->reason, width_));
    if (!isOpen(*found)) return true;
    if (!fits) y_ -= 6, line = row(20, 6);
    const float left = line.x + (fits ? words : 0);
    if (w_.link(std::string(document::option(id).name) + ":fix",
                {left, line.y, std::min(action, line.right() - left), line.height}, found->action))
      apply(*found, id);
    return true;
  }

  // A switch; disabled, with an explanation, if it cannot be switched.
  void flip(OptionId id, base::MessageView words, bool on) {
    const bool can = fits(id, !on);
    if (w_.toggle(document::option(id).name, row(22, 7), words, on, false, can)) c_.requests.set(id, !on);
    if (!can) wayOut(id, !on);
  }

  // Below a switch: why it cannot be switched, and a remedy.
  void blockedLine(OptionId id, const document::Value& value) {
    if (!fits(id, value)) wayOut(id, value);
  }

  // Is none of the options that the remedy changes locked by the host page?
  bool isOpen(const document::Remedy& way) const {
    return std::none_of(way.edits.begin(), way.edits.end(), [&](const document::SetOption& e) {
      return c_.locked(document::option(e.option).name);
    });
  }

  // Applies the remedy, then the choice: a single undo step.
  void apply(const document::Remedy& way, OptionId id) {
    const std::uint64_t gesture = c_.view.nextGesture++;
    for (const document::SetOption& e : way.edits) c_.requests.edit(e, gesture);
    c_.requests.set(id, way.value, gesture);
    c_.requests.endGesture = true;
  }

  // A limit where −1 means off; it is treated as the value after the largest useful one.
  void limit(OptionId id, base::MessageView words) {
    const double value = number(id), most = c_.state.keyTokens - 1, here = value < 0 ? most + 1 : value;
    const std::string shown = value < 0 ? "off" : std::to_string(static_cast<int>(value));
    const int step = stepRow(document::option(id).name, words, shown, here > 0, value >= 0, shown);
    if (step != 0) c_.requests.set(id, here + step > most ? -1.0 : here + step);
  }

  // A menu of all values; those that are not possible here give the reason.
  void choice(OptionId id, base::MessageView words, std::span<const Entry> entries) {
    const std::string name(document::option(id).name);
    const Box box = row(28, 7);
    label(box, words);
    const document::Value value = document::get(c_.state, id);
    const std::string& chosen = *std::get_if<std::string>(&value);
    std::size_t here = 0;
    while (here < entries.size() && entries[here].value != chosen) ++here;
    const float left = std::max(76.0f, textWidth(c_.fonts.text, words) + 10);
    const Box button{box.x + left, box.y, box.width - left, box.height};
    w_.points(name, box);
    const FocusRing::Key key = w_.keys(name, button);
    if (key.step != 0) c_.requests.held = kSliderGesture;  // until the key is released
    if (key.step != 0 || key.press) next(id, entries, here, key.step < 0 ? entries.size() - 1 : 1);
    w_.menuButton(name, button, here == entries.size() ? "Custom" : entries[here].title);
    if (!w_.beginMenu(name)) return;
    for (const Entry& e : entries) {
      const document::Value to{std::string(e.value)};
      const std::string place = name + ":" + std::string(e.value);
      if (e.value == chosen || fits(id, to)) {
        if (w_.menuItem(place, e.title, e.value == chosen, e.about)) c_.requests.set(id, to);
        continue;
      }
      const auto way = document::remedy(c_.unlabelled(), id, to);
      const bool open = way && isOpen(*way);
      if (w_.menuReason(place, e.title, sentence(document::reason(c_.unlabelled(), id, to)),
                        open ? base::MessageView(way->action) : base::MessageView()))
        apply(*way, id);
    }
    w_.endMenu();
  }

  // Chooses the next possible value, in steps of `by`, wrapping around.
  void next(OptionId id, std::span<const Entry> entries, std::size_t from, std::size_t by) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      const document::Value to{std::string(entries[(from + i * by) % entries.size()].value)};
      if (fits(id, to)) return c_.requests.set(id, to);
    }
  }

  // A row that expands or collapses the rows below it.
  void fold(std::string_view name, base::MessageView words, base::MessageView value, bool& open) {
    const Box box = row(24, 6);
    label(box, words);
    if (w_.disclosure(name, box, value, open)) open = !open;
  }

  // A number that can also be typed; `asked`: a key asked for that.
  void typed(OptionId id, const Box& box, std::string_view shown, bool asked) {
    const document::Option& o = document::option(id);
    textRight(list_, c_.fonts.monoSmall, box.right(), box.midY(), c_.palette.muted, shown);
    if ((!w_.area(std::string(o.name) + "-value", box) && !asked) || c_.locked(o.name)) return;
    TextTarget t;
    t.kind = TextTarget::Kind::option;
    t.option = id;
    t.name = std::string(o.name);
    t.text = document::toJson(document::get(c_.state, id));
    t.box = {box.right() - 72, box.midY() - 13, 72, 26};
    c_.requests.text = t;
  }

  // --- a phone's sheet

  // A head, and sections with their values in words, of which one at a time is open. Returns the y below.
  [[gnu::noinline]] float sheet() {
    head();
    if (c_.open() == document::View::train) return trainControls(c_, {x_, y_ + 4, width_, 0});
    for (const std::string* name : {&c_.view.seek, &c_.view.run})
      if (!name->empty() && !sectionOf(*name).empty()) c_.view.sections.open = sectionOf(*name);
    if (hasPages(c_))
      section("section:view", "View", aboutPage(pageOf(c_.open()).name).title, &SidePanel::pageRows);
    const document::State& s = c_.state;
    section("section:inputs", "Inputs",
            base::message({s.mode == document::Mode::x ? "X · W, " : "Q K V, ", s.tokens,
                           s.tokens == 1 ? " token, d_k " : " tokens, d_k ", s.headDim}),
            &SidePanel::inputs);
    section("section:mask", "Mask", masksInWords(), &SidePanel::mask);
    section("section:score", "Score", attention::mechanismOf(s.score).title, &SidePanel::score);
    section("section:numbers", "Numbers",
            base::message({s.decimals, s.decimals == 1 ? " decimal" : " decimals"}), &SidePanel::numbers);
    files();
    if (c_.view.options.on) guideKeys();
    return y_;
  }

  void head() {
    const Box line{x_ - 14, y_ - 6, width_ + 29, 52};
    list_->AddRectFilled({line.midX() - 18, line.y + 5}, {line.midX() + 18, line.y + 9}, c_.palette.track, 2);
    if (swiped(line) > 0) close();
    textMiddle(list_, c_.fonts.title, x_, line.midY(), c_.palette.text, "Controls");
    cross_ = {line.right() - 48, line.y + 4, 44, 44};
    Widgets plain(c_);  // the keys begin with the sections
    if (plain.cross("panel:close", cross_)) close();
    const Box theme{cross_.x - 46, cross_.y, 44, 44}, reset{theme.x - 48, theme.y, 44, 44};
    if (plain.icon("theme", theme, Widgets::Icon::theme))
      c_.requests.set(OptionId::theme, std::string(c_.palette.dark ? "light" : "dark"));
    if (plain.icon("reset", reset, Widgets::Icon::reset)) c_.requests.ask(Command::reset);
    y_ = line.bottom();
    rule();
  }

  void rule() { list_->AddLine({x_ - 14, y_ - 0.5f}, {x_ + width_ + 15, y_ - 0.5f}, c_.palette.border); }

  void section(std::string_view name, base::MessageView title, base::MessageView values,
               void (SidePanel::*rows)()) {
    std::string_view& open = c_.view.sections.open;
    const Box box{x_, y_, width_, 49};
    const bool isOpen = open == name || c_.view.options.on;  // the keys go through all of them
    const float room = width_ - textWidth(c_.fonts.strong, title) - 40;
    textMiddle(list_, c_.fonts.strong, x_, box.midY(), c_.palette.text, title);
    if (Widgets(c_).disclosure(name, box, isOpen ? std::string() : elide(c_.fonts.small, values, room),
                               isOpen))
      open = isOpen ? std::string_view() : name;
    y_ = box.bottom();
    if (isOpen) (this->*rows)(), y_ += 8;
    rule();
  }

  void pageRows() {
    for (const Page& page : pages()) {
      if (!hasPage(c_, page.view)) continue;
      const Box box = row(24, 4);
      const bool isOpen = page.view == c_.open();
      if (w_.area(page.name, box)) showView(c_, page.view), c_.view.drawer = false;
      textMiddle(list_, isOpen ? c_.fonts.strong : c_.fonts.text, box.x, box.midY(), c_.palette.text,
                 aboutPage(page.name).title);
      if (isOpen) list_->AddCircleFilled({box.right() - 6, box.midY()}, 4, c_.palette.on, 16);
    }
  }

  // The kind of mask, or how many kinds there are.
  base::Message masksInWords() const {
    const document::State& s = c_.state;
    const std::pair<bool, const char*> kinds[] = {{s.causal, "causal"},
                                                  {s.windowLeft >= 0 || s.windowRight >= 0, "window"},
                                                  {s.pattern.any(), "pattern"},
                                                  {!s.painted.empty(), "painted"}};
    const auto isOn = [](const auto& kind) { return kind.first; };
    const auto count = std::ranges::count_if(kinds, isOn);
    if (count > 1) return base::message({count, " kinds"});
    return count == 1 ? std::ranges::find_if(kinds, isOn)->second : "none";
  }

  // What is seldom needed, at the foot.
  void files() {
    constexpr float kHigh = 44, kApart = 8;
    float x = x_;
    const float width = (width_ - 3 * kApart) / 4;
    y_ += 12;
    const auto button = [&](std::string_view name, base::MessageView words, bool isThere) {
      const Box box{x, y_, width, kHigh};
      x += isThere ? width + kApart : 0;
      return isThere && Widgets(c_).button(name, box, words);
    };
    if (button("pin", c_.pin ? "Unpin" : "Pin", !listed(c_.hide, "changes"))) togglePin(c_);
    if (button("share", "Share", c_.view.shares && !listed(c_.hide, "share")))
      c_.requests.ask(Command::share);
    if (button("import", "Open", !listed(c_.hide, "import"))) c_.requests.ask(Command::pickFile);
    if (button("export:save", "Save", !listed(c_.hide, "export"))) c_.requests.ask(Command::saveState);
    y_ += kHigh;
  }

  // --- sections

  void inputs() {
    heading("INPUTS");
    const bool projected = c_.state.mode == document::Mode::x;
    const Box both = row(28, 8);
    list_->AddRect({both.x, both.y}, {both.right(), both.bottom()}, c_.palette.border, 5);
    const FocusRing::Key key = w_.keys("mode", both);
    const bool left = key.step < 0 || (projected && key.press),
               right = key.step > 0 || (!projected && key.press);
    if (w_.segment("mode:qkv", {both.x, both.y, both.width / 2, both.height}, "Q K V", !projected) || left) {
      c_.requests.set(OptionId::mode, std::string("qkv"));
    }
    if (w_.segment("mode:x", {both.midX(), both.y, both.width / 2, both.height}, "X · W", projected) ||
        right) {
      c_.requests.set(OptionId::mode, std::string("x"));
    }
    blockedLine(OptionId::mode, std::string(projected ? "qkv" : "x"));
    if (hasLayers(c_.state)) layers();
    sentenceField(c_, w_, "labels", row(28, 8), false);
    count(OptionId::tokens, c_.state.cross ? "Query tokens" : "Tokens");
    flip(OptionId::cross, "Cross-attention", c_.state.cross);
    if (c_.state.cross) {
      sentenceField(c_, w_, "key_labels", row(28, 8), true);
      count(OptionId::key_tokens, "Key tokens");
    }
    if (c_.ownSentence() || c_.state.sameWord) ownNumbers();
    headCount();
    count(OptionId::d_k, "d_k per head");
    headWay();
    if (projected) count(OptionId::model_dim, "Width of X");
    if (projected && c_.state.heads > 1 &&
        w_.toggle("whole_projections", row(22, 7), "W of all heads", c_.state.wholeProjections)) {
      c_.requests.set(OptionId::whole_projections, !c_.state.wholeProjections);
    }
    moreSizes();
    if (projected && w_.toggle("projection_bias", row(22, 7), "Biases", c_.state.projectionBias))
      c_.requests.set(OptionId::projection_bias, !c_.state.projectionBias);
    choice(OptionId::position, "Positions", kPositions);
    if (c_.state.position == attention::Position::rotary) rotary();
    if (w_.button("randomize", row(28, 8), "Random numbers")) {
      c_.requests.edit(document::Randomize{c_.state.seed * 1664525u + 1013904223u, std::nullopt});
    }
  }

  // Which columns are rotated together, and how fast.
  void rotary() {
    const attention::Rotary& r = c_.state.rotary;
    const bool usual = r == attention::Rotary() && c_.state.positionIds.empty();
    fold("rotary", "Pairs, base …", usual ? "" : "on", c_.view.sections.rotary);
    if (!c_.view.sections.rotary) return;
    const std::string adjacent = "adjacent", half = "half", none = "none", linear = "linear", ntk = "ntk";
    const std::string neighbours = "Neighbours", halves = "Halves", two = "columns 1 and 2 (RoFormer)",
                      apart = "column i and i + r/2 (Llama)";
    const std::string off = "None", divided = "Linear", raised = "NTK-aware", byFactor = "positions ÷ factor",
                      byBase = "a larger base";
    const Entry pairs[] = {{adjacent, neighbours, two}, {half, halves, apart}},
                scalings[] = {{none, off, {}}, {linear, divided, byFactor}, {ntk, raised, byBase}};
    choice(OptionId::rotary_pairs, "  Pairs", pairs);
    number(OptionId::rotary_base, "  Base", base::shortest(r.base));
    count(OptionId::rotary_dims, "  Columns turned",
          document::rotatedColumns(c_.state) == c_.state.headDim ? "all" : std::string());
    choice(OptionId::rotary_scaling, "  Scaling", scalings);
    if (r.scaling != attention::RotaryScaling::none)
      number(OptionId::rotary_factor, "  Factor", base::shortest(r.factor));
    number(OptionId::position_ids, "  Position ids", document::toJson(c_.state.positionIds));
  }

  // A number, or a list of numbers, to be typed.
  void number(OptionId id, base::MessageView words, const std::string& shown) {
    const Box box = row(24, 6), value{box.right() - 96, box.y, 96, box.height};
    label(box, words);
    const std::string name(document::option(id).name);
    w_.points(name, box);
    typed(id, value, elide(c_.fonts.monoSmall, shown, value.width),
          w_.keys(name, value, !c_.locked(name)).press);
  }

  // Explains the numbers of the reader's own sentence, which have no meaning.
  void ownNumbers() {
    const Box box = row(22, 4);
    textMiddle(list_, c_.fonts.small, box.x, box.midY(), c_.palette.text, "Same word, same numbers");
    if (w_.toggle("same_word", box, "", c_.state.sameWord)) {
      c_.requests.set(OptionId::same_word, !c_.state.sameWord);
    }
    note("random-note", c_.state.sameWord ? "The numbers of a word are drawn at random, not learned."
                                          : "Numbers are random, or the example's; they are not learned.");
    if (splitsCharacters()) note("split-note", "A character is a token; put spaces to make words.");
  }

  void note(std::string_view name, base::MessageView words) {
    const float height = paragraph({list_, c_.fonts.small, c_.palette.muted}, x_, y_, width_, words);
    c_.widgetRects[std::string(name)] = {x_, y_, width_, height};
    y_ += height + 8;
  }

  // Has text written without spaces been split into characters?
  bool splitsCharacters() const {
    int single = 0;
    for (const std::vector<std::string>* labels : {&c_.state.labels, &c_.state.keyLabels}) {
      for (const std::string& label : *labels) {
        if (!document::isIdeographic(label)) continue;
        if (base::clusterLength(label) < label.size()) return false;
        ++single;
      }
    }
    return single > 1;
  }

  // Steps to the next number of heads that is possible; headWay() offers the remedy for the value in between.
  void headCount() {
    const HeadSteps steps(c_);
    const double value = c_.state.heads;
    steps.ask(c_, stepRow("heads", "Heads", std::to_string(c_.state.heads), steps.less > 0, steps.more > 0));
    ends(OptionId::heads, value, steps.less > 0, steps.more > 0);
  }

  // Below the row of d_k, so that this row does not move under the pointer.
  void headWay() {
    const double next = c_.state.heads + 1;
    if (!wayForward(OptionId::heads) && !HeadSteps(c_).keepsColumns && !fits(OptionId::heads, next))
      wayOut(OptionId::heads, next);
  }

  void moreSizes() {
    const document::Settings& s = c_.state;
    const bool usual = s.kvHeads == s.heads && s.valueDim == s.headDim && s.batch == 1 &&
                       s.outputProjection && s.outputDim == 0 && !s.separateValues;
    fold("more-sizes", "d_v, shared heads …", usual ? "" : "on", c_.view.sections.moreSizes);
    if (!c_.view.sections.moreSizes) return;
    count(OptionId::d_v, "  d_v per head");
    if (s.heads > 1) keyHeads();
    remark(cacheSize());
    batch();
    columnNames();
    if (w_.toggle("column_layout", row(22, 7), "  Tokens as columns", c_.state.columnLayout))
      c_.requests.set(OptionId::column_layout, !c_.state.columnLayout);
    if (c_.state.mode != document::Mode::x) return;
    if (w_.toggle("separate_values", row(22, 7), "  X of V apart", c_.state.separateValues))
      c_.requests.set(OptionId::separate_values, !c_.state.separateValues);
    if (w_.toggle("output_projection", row(22, 7), "  W_O", c_.state.outputProjection))
      c_.requests.set(OptionId::output_projection, !c_.state.outputProjection);
    if (c_.state.outputProjection)
      count(OptionId::d_out, "  Columns of W_O",
            c_.state.outputDim == 0 ? std::string("as X") : std::string());
  }

  void columnNames() {
    const Box box = row(24, 6), field{box.x + 104, box.y, box.width - 104, box.height};
    label(box, "  Column names");
    w_.names(OptionId::column_names, field, "Names of the columns of Q and K, between commas");
  }

  // Steps to the next divisor of the number of heads.
  void keyHeads() {
    const auto next = [&](int step) {
      for (int n = c_.state.kvHeads + step; n >= 1 && n <= c_.state.heads; n += step) {
        if (fits(OptionId::kv_heads, static_cast<double>(n))) return n;
      }
      return 0;
    };
    const int less = next(-1), more = next(+1);
    const int step =
        stepRow("kv_heads", "  Key-value heads", std::to_string(c_.state.kvHeads), less > 0, more > 0);
    if (step != 0) c_.requests.set(OptionId::kv_heads, static_cast<double>(step < 0 ? less : more));
    wayForward(OptionId::kv_heads);
  }

  // The memory of a decoder's cache for all tokens.
  base::Message cacheSize() const {
    const std::int64_t bytes = attention::cacheBytes(c_.spec, c_.state.keyTokens);
    const bool isSmall = bytes < 10240;
    return base::message({"  Key-value cache: ", isSmall ? bytes : bytes / 1024, isSmall ? " bytes" : " KB"});
  }

  // For a model: the layer on the board, and a button to show all.
  void layers() {
    const int here = c_.state.batchItem, all = c_.state.batch;
    const int step = stepRow("layer", base::message({"Layer, of ", all}), std::to_string(here + 1), here > 0,
                             here + 1 < all, std::to_string(here + 1));
    if (step != 0) c_.requests.set(OptionId::layer, static_cast<double>(here + step));
    if (hasPages(c_) && w_.button("all-heads", row(28, 8), "All heads of the model"))
      showView(c_, document::View::model);
  }

  // Several sequences through the same layer; the board shows one.
  void batch() {
    count(OptionId::batch, hasLayers(c_.state) ? "  Layers" : "  Batch");
    if (c_.state.batch == 1 || hasLayers(c_.state)) return;
    const int here = c_.state.batchItem, all = c_.state.batch;
    const base::Message shown = base::message({here + 1, " of ", all});
    const int step =
        stepRow("batch_item", "  On the board", shown, here > 0, here + 1 < all, std::to_string(here + 1));
    if (step != 0) c_.requests.set(OptionId::batch_item, static_cast<double>(here + step));
  }

  void mask() {
    heading("MASK");
    if (w_.toggle("causal", row(22, 6), "Causal", c_.state.causal, c_.state.causal)) {
      c_.requests.set(OptionId::causal, !c_.state.causal);
    }
    window();
    choice(OptionId::pattern, "Pattern", kPatterns);
    if (c_.state.pattern.any()) patternParts();
    moreMasks();
    const Box paint = row(26, 6);
    label(paint, "Paint cells");
    const float icon = c_.roomy() ? 44 : 34;
    if (w_.icon("paint", {paint.right() - icon, paint.y, icon, paint.height}, Widgets::Icon::pencil, true,
                c_.view.painting)) {
      c_.view.painting = !c_.view.painting;
    }
    if (!c_.state.painted.empty()) {
      const Box clear{paint.right() - icon - 8 - 54, paint.y, 54, paint.height};
      if (w_.button("clear-mask", clear, "Clear")) c_.requests.ask(Command::clearMask);
    }
    maskPicture();
  }

  void window() {
    const auto side = [](int n) { return n < 0 ? base::Message("all") : base::Message(std::to_string(n)); };
    const bool off = c_.state.windowLeft < 0 && c_.state.windowRight < 0;
    fold("window", "Window",
         off ? base::Message("off")
             : base::message({side(c_.state.windowLeft), " back, ", side(c_.state.windowRight), " ahead"}),
         c_.view.sections.window);
    if (!c_.view.sections.window) return;
    limit(OptionId::window_left, "  Keys back");
    limit(OptionId::window_right, "  Keys ahead");
  }

  void patternParts() {
    part(OptionId::pattern_local, "  Local");
    if (c_.state.pattern.local > 0) count(OptionId::pattern_dilation, "  Dilation");
    part(OptionId::pattern_stride, "  Stride");
    part(OptionId::pattern_block, "  Block");
    part(OptionId::pattern_global, "  Global tokens");
    part(OptionId::pattern_random, "  Random keys");
    if (c_.state.pattern.random > 0) count(OptionId::pattern_seed, "  Seed");
  }

  void moreMasks() {
    const attention::Spec& s = c_.spec;
    const bool any = s.causalOffset > 0 || s.prefix > 0 || s.keyLength >= 0 || s.maskAfterSoftmax;
    fold("more-masks", "Prefix, padding …", any ? "on" : "off", c_.view.sections.moreMasks);
    if (!c_.view.sections.moreMasks) return;
    part(OptionId::causal_offset, "  Keys before");
    part(OptionId::prefix, "  Prefix");
    limit(OptionId::key_length, "  Length");
    flip(OptionId::mask_after_softmax, "  Mask after softmax", c_.state.maskAfterSoftmax);
  }

  void maskPicture() {
    const attention::Tensor& cells = c_.summaries.visible(c_.spec, c_.inputs);
    const float longer = static_cast<float>(std::max(cells.rows(), cells.cols()));
    const Box box = row(kMaskSize, 8);
    draw::Heatmap look;
    look.cell = kMaskSize / std::max(longer, 1.0f);
    look.x = box.x, look.y = box.y;
    look.transposed = c_.state.columnLayout;
    look.gap = look.cell >= 6 ? 1.0f : 0.0f;
    look.low = -0.1f,
    look.high = 1.4f;  // so that masked cells differ from the panel, and visible ones from a weight of 1
    look.map = c_.palette.weightMap;
    look.mean = true;
    const attention::Stamps& stamps = c_.summaries.maskStamps();
    const bool isOfBlocks = cells.rows() < c_.state.tokens;  // the stamps are of queries
    c_.heatmaps.draw(list_, kMaskSlot,
                     {cells.data(), cells.rows(), cells.cols(), cells.cols(), stamps.latest,
                      isOfBlocks ? draw::Written{} : writtenOf(stamps)},
                     look);
    c_.widgetRects["mask-picture"] = {box.x, box.y, kMaskSize, kMaskSize};
    const float x = box.x + kMaskSize + 12;
    const bool isSampled = c_.summaries.sampledEach() > 1;
    const std::string seen = counted(c_.summaries.visibleCount(c_.spec, c_.inputs)),
                      all = counted(std::int64_t{c_.state.tokens} * c_.state.keyTokens);
    const base::Message count = isSampled ? base::message({c_.spec.pattern.any() ? "≈ " : "", seen})
                                          : base::message({seen, " of ", all});
    ImFont* const font = x + textWidth(c_.fonts.text, count) > box.right() ? c_.fonts.small : c_.fonts.text;
    textMiddle(list_, font, x, box.y + 15, c_.palette.text, count);
    textMiddle(list_, c_.fonts.small, x, box.y + 34, c_.palette.muted,
               isSampled ? base::message({"of ", all, " pairs"}) : base::Message("scores computed"));
  }

  void score() {
    heading("SCORE");
    mechanism<attention::Score>(OptionId::score, "Score", attention::kScoreNames);
    if (c_.state.score == attention::Score::additive)
      count(OptionId::additive_dim, "  Hidden units",
            c_.state.additiveDim == 0 ? std::string("d_k") : std::string());
    if (document::takesScoreWeights(c_.state.score))
      count(OptionId::d_q, "  Query width, d_q", c_.state.queryDim == 0 ? std::string("d_k") : std::string());
    scale(c_.state.score == attention::Score::scaled);
    slider(OptionId::softcap, "Soft cap",
           c_.state.softcap > 0 ? formatNumber(static_cast<double>(c_.state.softcap), 1) : "off",
           c_.state.softcap / 20, 0.025f,
           [](float p) { return std::round(static_cast<double>(p) * 200) / 10; });
    const float t = c_.state.temperature;
    slider(OptionId::temperature, "Temperature", formatFactor(t, t < 100 ? 2 : 0), (std::log10(t) + 1) / 2,
           0.03f, [](float p) {
             if (std::fabs(p - 0.5f) < 0.025f) p = 0.5f;  // 1 is easy to select again
             return std::round(std::pow(10.0, 2.0 * static_cast<double>(p) - 1) * 100) / 100;
           });
    mechanism<attention::Normalizer>(OptionId::normalizer, "Weights", attention::kNormalizerNames);
    if (c_.state.normalizer == attention::Normalizer::softmax &&
        w_.toggle("softmax_sink", row(22, 6), "  Attention sink", c_.state.softmaxSink))
      c_.requests.set(OptionId::softmax_sink, !c_.state.softmaxSink);
  }

  template <class Kind, std::size_t kCount>
  void mechanism(OptionId id, base::MessageView label, const std::string_view (&names)[kCount]) {
    Entry entries[kCount];
    for (std::size_t i = 0; i < kCount; ++i) {
      const auto& one = attention::mechanismOf(static_cast<Kind>(i));
      entries[i] = {names[i], one.title, one.about};
    }
    if (id == OptionId::score) std::swap(entries[0], entries[1]);  // the default first
    choice(id, label, entries);
  }

  void scale(bool on) {
    const Box box = row(22, 6);
    const bool given = on && c_.state.scaleBy != 0.0f;
    const Box value{box.right() - 34 - 8 - 44, box.y, 44, box.height};
    // The value is handled first: it lies inside the row of the switch, and the first one takes the click.
    if (on)
      typed(OptionId::scale, value, given ? formatFactor(c_.state.scaleBy, 3) : "auto",
            w_.keys("scale-value", value, !c_.locked("scale")).press);
    const bool can = document::isDotProduct(c_.state.score);
    if (w_.toggle("scale", box, given ? "× scale" : "÷ √d_k", on, false, can))
      c_.requests.set(OptionId::scale, !on);
    if (!can) wayOut(OptionId::scale, true);
  }

  // A key moves it by `step`, as a fraction of the track.
  void slider(OptionId id, base::MessageView words, std::string_view shown, float position, float step,
              double (*toValue)(float)) {
    const std::string_view name = document::option(id).name;
    const float width = std::max(c_.roomy() ? 44.0f : 34.0f, textWidth(c_.fonts.monoSmall, shown) + 6);
    const Box box = row(24, 6), track{box.right() - 112, box.y, 110 - width, box.height};
    label(box, words);
    w_.points(name, box);
    const FocusRing::Key key = w_.keys(name, track);
    typed(id, {box.right() - width, box.y, width, box.height}, shown, key.press);
    position = std::clamp(position, 0.0f, 1.0f);
    if (w_.slider(name, track, position, step * static_cast<float>(key.step))) {
      c_.requests.set(id, toValue(position), kSliderGesture);
    }
  }

  bool isSheet() const { return !c_.layout.toolbar.empty(); }
  void close() {
    if (isSheet()) c_.view.drawer = false;
    else c_.requests.guide.push_back({GuideAct::What::close, 0, "", {}});
  }

  // Last, so that the focus starts with the options.
  [[gnu::noinline]] void guideKeys() {
    if (!cross_.empty() && w_.keys("panel:close", cross_).press) close();
    if (!guideTab_.empty() && w_.keys("panel:guide", guideTab_).press) openGuide(c_);
  }

  // One tab for each page of the column.
  void tabs() {
    const Box line{x_ - 14, y_ - 6, width_ + 29, 40};
    list_->AddLine({line.x, line.bottom() - 0.5f}, {line.right(), line.bottom() - 0.5f}, c_.palette.border);
    tab(c_, "panel:controls", {x_, line.y, textWidth(c_.fonts.strong, "Controls"), line.height}, "Controls",
        true);
    if (!listed(c_.hide, "guide"))
      guideTab_ = {x_ + 86, line.y, textWidth(c_.fonts.text, "Guide"), line.height};
    if (!guideTab_.empty() && tab(c_, "panel:guide", guideTab_, "Guide", false)) openGuide(c_);
    if (!c_.layout.sidePanelIsDrawer && !c_.onPage())
      cross_ = {line.right() - 40, line.y + 4, 34, line.height - 8};
    if (!cross_.empty() && Widgets(c_).cross("panel:close", cross_)) close();
    y_ = line.bottom() + 6;
  }

  [[gnu::noinline]] void colors() {
    const std::string own = "own", cividis = "cividis", grey = "grey", theme = "Of the theme",
                      name = "Cividis", shades = "Grey";
    const std::string aboutOwn = "weights purple, signs in two hues",
                      aboutCividis = "weights from blue to yellow",
                      aboutGrey = "for printing; the lowest is dark";
    const Entry entries[] = {
        {own, theme, aboutOwn}, {cividis, name, aboutCividis}, {grey, shades, aboutGrey}};
    choice(OptionId::color_map, "Colours", entries);
  }

  void numbers() {
    heading("NUMBERS");
    count(OptionId::decimals, "Decimals");
    choice(OptionId::weight_scale, "Colour of W", kWeightScales);
    colors();
    choice(OptionId::weight_by, "Drag W by", kWeightBy);
    if (c_.state.causal && !c_.state.cross) part(OptionId::step, "Decoder step");
    if (c_.decodes()) remark(cacheWords(c_));
  }

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  /// What values are tried on, which copies it: without labels, of which there may be thousands.
  float x_, y_, width_;
  Box guideTab_, cross_;
};

/// Closes the drawer when something else is pressed.
void closeDrawer(Context& c) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool isSheet = !c.layout.toolbar.empty();  // beside which the board is used
  const bool away = c.layout.sidePanelIsDrawer && !isSheet && !c.layout.isDocked && !c.view.menu.shown &&
                    ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                    !c.layout.side.contains(mouse.x, mouse.y) && !c.layout.header.contains(mouse.x, mouse.y);
  if (away) c.view.drawer = false;
}

}  // namespace

void sidePanel(Context& c) {
  const bool shown = !c.layout.side.empty() && (!c.layout.sidePanelIsDrawer || c.view.drawer);
  FocusRing& focusRing = c.view.options;
  if (!shown || c.onPage()) focusRing.on = false;
  if (!shown) return;
  if (c.view.guideTab && c.layout.width != Width::narrow && !listed(c.hide, "guide")) {
    if (c.view.guide) guidePanel(c), closeDrawer(c);
    return;
  }
  const Box& b = c.layout.side;
  ImGui::SetNextWindowPos({b.x, b.y});
  ImGui::SetNextWindowSize({b.width, b.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  c.view.side.begin();
  ImGui::Begin("##side", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  sharp(ImGui::GetWindowDrawList());
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  focusRing.begin();
  if (std::exchange(focusRing.released, false)) c.requests.endGesture = true;
  const float height = SidePanel(c, origin.x + 14, origin.y + 6, b.width - 29).draw();
  focusRing.end();
  ImGui::SetCursorScreenPos({origin.x, origin.y + height + 16});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, c.view.side);
  c.view.side.update(b);
  ImGui::GetWindowDrawList()->AddLine({b.right() - 0.5f, b.y}, {b.right() - 0.5f, b.bottom()},
                                      c.palette.border);
  if (!c.layout.toolbar.empty())
    ImGui::GetWindowDrawList()->AddLine({b.x, b.y + 0.5f}, {b.right(), b.y + 0.5f}, c.palette.border);
  closeDrawer(c);
  ImGui::End();
}

}  // namespace views
