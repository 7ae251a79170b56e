// The arithmetic behind the focused cell, with its numbers, and the row of weights that it belongs to.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/saliency.h"
#include "views/board/stepper.h"
#include "views/panels/arithmetic.h"
#include "views/panels/changes.h"
#include "views/panels/equation.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Explanation;
using attention::Term;

// The query row whose weights the bars show, or -1 if the focus does not belong to a single query.
int queryRow(CellRef focus, int tokens) {
  return attention::rowsOf(focus.tensor) == attention::Rows::queries && focus.row < tokens ? focus.row : -1;
}

// Explains the mean that the board shows in place of one head's value.
Explanation explainMean(const Context& c, CellRef focus) {
  const int decimals = c.state.decimals;
  Explanation e;
  const bool isOutput = focus.tensor == TensorId::head_output;
  const attention::Tensor &all = *c.tensor(focus.tensor), &mean = c.mean(focus.tensor);
  e.name = base::message({"mean ", std::string_view(isOutput ? "O" : "W"), "[",
                          base::joined({focus.row + 1, ", ", focus.col + 1}), "]"});
  e.value = formatNumber(static_cast<double>(mean.at(0, focus.row, focus.col)), decimals);
  for (int h = 0; h < c.state.heads; ++h) {
    const bool isHidden = (c.state.hiddenHeads >> h & 1) != 0;
    const double w = static_cast<double>(all.at(h, focus.row, focus.col));
    e.terms.push_back(
        {base::message({"head ", h + 1}),
         base::message({formatNumber(w, decimals), isHidden ? " (hidden: does not count)" : ""}),
         w,
         {{focus.tensor, h, focus.row, focus.col}}});
  }
  return e;
}

Explanation explained(const Context& c, CellRef focus, bool marked) {
  return attention::explain({c.spec, c.inputs, c.trace}, focus, c.tokenLabels(), c.state.decimals, marked);
}

[[gnu::noinline]] Explanation keptExplanation(const Context& c, CellRef focus, bool marked) {
  std::optional<Kept::Said>& said = keptOf(c).said[marked];
  if (!said || !(said->cell == focus)) {
    Explanation words = explained(c, focus, marked);
    said = {focus, std::move(words)};
  }
  return said->words;
}

Explanation explainFocus(const Context& c, CellRef focus, bool marked = false) {
  if (stepperOf(c)) return stepsExplanation(c, true);
  if (showsMean(c.state) && (focus.tensor == TensorId::weights || focus.tensor == TensorId::head_output))
    return explainMean(c, focus);
  // The scores on the board include the mask.
  if (focus.tensor == TensorId::scores) focus.tensor = TensorId::masked;
  return keepsWhatIsSaid(c) ? keptExplanation(c, focus, marked) : explained(c, focus, marked);
}

bool isRaising(const Context& c) { return c.state.gradient && !stepperOf(c); }

// Where the bars of the row are: in a column of their own, below each other, of a long row the longest ones;
// else below the terms, or beside them.
enum class Bars { none, column, below, beside };
constexpr float kBars = 108, kLowBars = 78;
constexpr float kColumn = 228, kColumnGap = 36, kColumnFoot = 62, kThinBar = 18, kColumnCard = 620;
constexpr int kColumnKeys = 64;    ///< of longer rows a profile says more than some bars
constexpr float kTableCard = 330;  ///< the height of a card from which products stand as a table
Bars barsOf(const Context& c, const Box& box, int row) {
  if (row < 0) return Bars::none;
  if (box.width >= kColumnCard && c.state.keyTokens <= kColumnKeys) return Bars::column;
  const float least = isRaising(c) ? 300 : 250;  // the list of what would raise a value has five lines
  return box.height > least ? Bars::below : box.width > 800 ? Bars::beside : Bars::none;
}
// Of a card, the part with the terms or the list, whose width the bars leave.
float termsRight(const Box& box, Bars bars) {
  return bars == Bars::column   ? box.right() - 18 - kColumn - kColumnGap
         : bars == Bars::beside ? box.midX()
                                : box.right() - 14;
}
/// The room for "Σ 1.00" or "sink 0.29", and a gap.
float sumRoom(const Context& c) { return attention::hasSink(c.spec) ? 72 : 50; }
bool hasSumAbove(const Context& c, const Box& box, int row) {
  return row >= 0 && barsOf(c, box, row) == Bars::none;
}

// The switch in the title that shows the gradient: its text, longer if there is room, and its position.
struct Switch {
  std::string_view words;
  Box box;
};
Switch switchOf(const Context& c, const Box& card, int row, base::MessageView title) {
  const bool isWeight = c.chosen().tensor == TensorId::weights;
  const std::string_view words[] = {
      isWeight ? "What would raise this weight?" : "What would raise this value?", "What would raise it?",
      "Raise it?"};
  const float room = card.width - 36 - 20 - textWidth(c.fonts.strong, title) -
                     (hasSumAbove(c, card, row) ? sumRoom(c) : 0) - (isRaising(c) ? 14 : 0) - 36;
  for (const std::string_view w : words) {
    const float width = textWidth(c.fonts.small, w) + 44;
    if (width <= room || w == words[2]) return {w, {card.right() - 18 - width, card.y + 8, width, 28}};
  }
  return {};
}

// The cell that the inspector explains. With the gradient shown it is the selected one, wherever the pointer
// is; likewise if the hovered cell appears in the selected one's arithmetic, where it then lights up its
// numbers.
CellRef spokenOf(const Context& c) {
  if (const StepperView* stepper = stepperOf(c))
    return {TensorId::weights, stepper->at.head, stepper->at.row, stepper->at.key};
  return c.state.gradient || (c.view.hover && takesPart(c, *c.view.hover)) ? c.chosen() : c.focus();
}

base::Message titleOf(const Context& c, const Explanation& e) { return isRaising(c) ? e.name : e.title(); }

/// Draws a title that is in the reader's language; one that names words read from right to left in pieces,
/// because in a single line bidirectional layout would put the words, and what follows them, in reverse
/// order.
void drawTitle(const Context& c, ImDrawList* list, float x, float midY, std::string_view title) {
  const AsIs asIs;
  const auto piece = [&](std::size_t end) {
    const std::string_view words = title.substr(0, end);
    textMiddle(list, c.fonts.strong, x, midY, c.palette.text, words);
    x += textWidth(c.fonts.strong, words), title.remove_prefix(words.size());
  };
  // The first bytes of letters from Hebrew to N'Ko.
  if (std::any_of(title.begin(), title.end(), [](char b) { return b >= '\xd6' && b <= '\xdf'; })) {
    if (const std::size_t comma = title.find(", "); comma != std::string::npos) piece(comma + 2);
    if (const std::size_t bracket = title.rfind(']'); bracket != std::string::npos) piece(bracket);
  }
  piece(title.size());
}

/// Draws a title that is too long: shortens its name, but keeps the bracket and the number.
[[gnu::noinline]] void drawLongTitle(const Context& c, ImDrawList* list, float x, float midY,
                                     const Explanation& e, float width) {
  ImFont* font = c.fonts.strong;
  const std::string whole = inWords(e.name), title = inWords(titleOf(c, e));
  const AsIs asIs;
  const std::size_t end = whole.size() - (whole.ends_with(']') ? 1 : 0);
  const std::string rest = title.substr(std::min(end, title.size())),
                    name = elide(font, whole.substr(0, end), width - textWidth(font, rest));
  drawTitle(c, list, x, midY, name);
  textMiddle(list, font, x + textWidth(font, name), midY, c.palette.text, rest);
}

// The button for stepping, left of the switch.
Box stepsOf(const Context& c, const Switch& raises) {
  const float width = c.locked("stepper") || listed(c.hide, "stepper") ? 0 : 28;
  return {raises.box.x - 8 - width, raises.box.y + 1, width, 26};
}

// The position of the list of what would raise the value, below the title of a card.
Box listIn(const Context& c, const Box& card, int row) {
  const Bars bars = barsOf(c, card, row);
  const float margin = card.width < 460 ? 14.0f : 18.0f, y = card.y + 46;
  const float right =
      bars == Bars::column || bars == Bars::beside ? termsRight(card, bars) : card.right() - margin;
  return {card.x + margin, y, right - card.x - margin,
          card.bottom() - (bars == Bars::below ? kBars - 6 : 8) - y};
}

// The row shown by the bars. While a row is stepped through, only once its weights are reached, and if there
// is room for the steps too.
int barsRow(const Context& c, CellRef focus, const Box& box, const Explanation& e) {
  const int row = queryRow(focus, c.rowsSoFar());
  if (!stepperOf(c)) return row;
  return c.view.unreached >= 0 || box.height < 60 + kBars + 20 * static_cast<float>(e.terms.size()) ? -1
                                                                                                    : row;
}

class Inspector {
 public:
  explicit Inspector(Context& c) : c_(c), list_(ImGui::GetWindowDrawList()), focus_(spokenOf(c)) {}

  void whole(const Box& box, const Explanation& e) {
    const StepperView* stepper = stepperOf(c_);
    const int row = barsRow(c_, focus_, box, e);
    const Bars place = barsOf(c_, box, row);
    float barsHeight = place == Bars::below ? kBars : 0.0f;
    const base::Message title = titleOf(c_, e);
    const Switch raises = switchOf(c_, box, row, title);
    const Box steps = stepsOf(c_, raises);
    // The name of a cell is worth more than a sum that is as it should be.
    const bool hasRoom = textWidth(c_.fonts.strong, title) <= steps.x - 12 - sumRoom(c_) - box.x - 18;
    const bool sumAbove =
        hasSumAbove(c_, box, row) && (hasRoom || attention::hasSink(c_.spec) || rowEnd(c_, row).isWrong);
    const float right = steps.x - 12 - (sumAbove ? sumRoom(c_) : 0.0f);
    const float top = card(c_, box, "");
    float left = box.x + 18;
    if (isRaising(
            c_)) {  // the text font lacks this symbol, so it is drawn separately, and the rest keeps its font
      textMiddle(list_, c_.fonts.strong, left, box.y + 22, c_.palette.text, "∂");
      left += textWidth(c_.fonts.strong, "∂") + 3;
    }
    if (textWidth(c_.fonts.strong, title) > right - left)
      drawLongTitle(c_, list_, left, box.y + 22, e, right - left);
    else drawTitle(c_, list_, left, box.y + 22, inWords(title));
    if (sumAbove) sum(steps.x - 12, box.y + 22, row);
    drawSwitch(raises);
    drawSteps(steps, stepper);
    const float end = termsRight(box, place);
    if (place == Bars::column)
      column({box.right() - 18 - kColumn, box.y + 46, kColumn, box.height - 46}, row);
    if (place == Bars::beside) bars({end + 16, box.y, box.right() - end - 16, box.height}, row);
    if (isRaising(c_)) {
      raiseList(c_, listIn(c_, box, row), false);
      if (barsHeight > 0) bars(box, row);
      return;
    }
    if (!stepper &&
        equation(box, {box.x + 18, top + 4, end - box.x - 18, box.bottom() - 10 - top - 4}, barsHeight)) {
      if (barsHeight > 0) bars(box, row, barsHeight);
      return;
    }
    const bool narrow = box.width < 460;
    float labels = narrow ? 94.0f : 132.0f;
    for (const Term& term : e.terms)
      labels = std::min(132.0f, std::max(labels, textWidth(c_.fonts.small, term.label) + 10));
    const float x = box.x + 18, numbers = x + labels;
    digits_ = narrow ? c_.fonts.monoSmall : c_.fonts.mono;
    float y = top + 16;
    // Reduces the height of the bars, and goes without them, before omitting a term.
    if (barsHeight > 0) {
      const float rest = box.bottom() - 8 - y - 19 * static_cast<float>(lines(e, end - numbers) - 1);
      barsHeight = rest < kLowBars ? 0 : std::min(rest, kBars);
    }
    const float limit = box.bottom() - barsHeight - 8;
    const bool touched = stepper || isTouched(c_, box);
    if (touched) touch(end - numbers, limit - y + 10);
    const Explanation& rows = touched ? touched_->shown : e;
    const float pitch =
        std::min(26.0f, std::max(19.0f, (limit - y) / static_cast<float>(lines(rows, end - numbers))));
    for (const Term& term : rows.terms) {
      if (y > limit) break;
      line_ = touched ? &touched_->lines[static_cast<std::size_t>(&term - rows.terms.data())] : nullptr;
      const bool isNow = stepper && term.step == stepper->now() && !line_->inner;
      const float indent = line_ && line_->inner ? 10.0f : 0.0f;
      color_ = stepper && !isNow ? c_.palette.muted : c_.palette.text;
      textMiddle(list_, c_.fonts.small, x + indent, y, isNow ? c_.palette.text : c_.palette.muted,
                 elide(c_.fonts.small, term.label, numbers - x - indent - 8));
      y = wrapped(line_ ? line_->text : inWords(term.text), numbers, y, end - numbers, pitch, limit) + pitch;
    }
    if (barsHeight > 0) bars(box, row, barsHeight);
  }

  // Beside the matrices of a small embed: the last step in three lines, then the row as bars aligned with the
  // matrix.
  void brief(const Box& box, const Explanation& e) {
    const std::string title = elide(c_.fonts.strong, e.name, box.width - 60);
    drawTitle(c_, list_, box.x, box.y + 14, title);
    if (c_.view.unreached >= 0) return;
    const float right =
        std::clamp(textWidth(c_.fonts.strong, title) + 60, std::min(box.width, 260.0f), box.width);
    if (const int row = queryRow(focus_, c_.rowsSoFar()); row >= 0) sum(box.x + right, box.y + 14, row);
    const float formula = symbols(box);
    float y = box.y + 36 + formula;
    for (const base::Message& line : briefLines(e, formula > 0)) {
      ImFont* font = textWidth(c_.fonts.mono, line) > box.width ? c_.fonts.monoSmall : c_.fonts.mono;
      textMiddle(list_, font, box.x, y, c_.palette.text, elide(font, line, box.width));
      y += 20;
    }
    rowBars(box);
  }

 private:
  // The formula without its numbers, above the bars of the brief version; returns its height and a gap, or 0
  // if it does not fit.
  [[gnu::noinline]] float symbols(const Box& box) {
    constexpr float kTitle = 26, kBelow = 24;
    const MatrixPlace* weights = c_.layout.find(TensorId::weights);
    // The whole version has it too.
    const bool isBelow = c_.layout.inspectorBelow.bottom() > c_.layout.board.height;
    if (!isBelow || !weights || stepperOf(c_) || showsMean(c_.state)) return 0;
    const float bars = onScreen(c_.layout, c_.view, weights->box).y;
    const float height = Equation(c_, focusOf(), explainFocus(c_, focus_, true))
                             .drawSymbols({box.x, box.y + kTitle, box.width, bars - box.y - kTitle - kBelow});
    return height > 0 ? height + 6 : 0;
  }

  // The formula, and below it what there is room for; the bars are lower if it fits only then. Returns false
  // if it does not fit.
  [[gnu::noinline]] bool equation(const Box& card, Box room, float& bars) {
    if (showsMean(c_.state) && (focus_.tensor == TensorId::weights || focus_.tensor == TensorId::head_output))
      return false;
    Equation formula(c_, focusOf(), explainFocus(c_, focus_, true));
    const auto fits = [&](float below) { return formula.fits(room.width, room.height - below); };
    const float most = bars;
    if (!fits(most) && !fits(bars = std::min(most, kLowBars)) && !fits(bars = 0)) return false;
    // Bars go before the formula, and are lower before the first line below it goes.
    if (bars > 0)
      bars =
          std::clamp(room.height - formula.height() - Equation::kFirstLine, std::min(most, kLowBars), most);
    // They are of the weights, and go before what else is said of another number.
    if (focus_.tensor != TensorId::weights && formula.wholeHeight() > room.height - bars) bars = 0;
    room.height -= bars;
    formula.draw(room, card.height >= kTableCard);
    return true;
  }

  // The focused cell as the trace names it.
  CellRef focusOf() const {
    CellRef cell = focus_;
    if (cell.tensor == TensorId::scores) cell.tensor = TensorId::masked;
    return cell;
  }

  // Computes the lines and the positions of their numbers. If there are more steps than fit, keeps the last
  // ones.
  [[gnu::noinline]] void touch(float width, float room) {
    touched_ = std::make_shared<Touched>();
    Explanation& shown = touched_->shown;
    std::vector<TouchedLine>& touched = touched_->lines;
    touched = touchedLines(c_, explainFocus(c_, focus_, true), focusOf());
    for (const TouchedLine& t : touched) shown.terms.push_back(t.term), shown.terms.back().text = t.text;
    while (stepperOf(c_) && shown.terms.size() > 1 && static_cast<float>(lines(shown, width)) * 19 > room)
      shown.terms.erase(shown.terms.begin()), touched.erase(touched.begin());
  }

  void drawSteps(const Box& box, bool on) {
    if (box.width <= 0) return;
    const bool over =
        ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({box.x, box.y}, {box.right(), box.bottom()});
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         on     ? c_.palette.ink
                         : over ? c_.palette.hover
                                : c_.palette.panel,
                         6);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 6);
    const float x = box.midX(), y = box.midY();
    const ImU32 color = on ? c_.palette.inkText : c_.palette.text;
    list_->AddTriangleFilled({x - 6, y - 5}, {x + 2, y}, {x - 6, y + 5}, color);
    list_->AddLine({x + 5.5f, y - 5}, {x + 5.5f, y + 5}, color, 1.6f);
  }

  void drawSwitch(const Switch& s) {
    const Palette& p = c_.palette;
    const bool on = isRaising(c_), locked = c_.locked("gradient");
    textMiddle(list_, c_.fonts.small, s.box.x, s.box.midY(), p.muted, s.words);
    const Box track{s.box.right() - 34, s.box.midY() - 9.5f, 34, 19};
    list_->AddRectFilled({track.x, track.y}, {track.right(), track.bottom()},
                         on ? withAlpha(p.on, locked ? 0.5f : 1.0f) : p.track, 9.5f);
    list_->AddCircleFilled({on ? track.right() - 9.5f : track.x + 9.5f, track.midY()}, 7.5f, p.knob, 24);
  }

  // The sum of the row, right-aligned: visible at any size of the board, and in red if it should be 1 but is
  // not.
  void sum(float right, float midY, int row) {
    const RowEnd end = rowEnd(c_, row);
    textRight(list_, c_.fonts.monoSmall, right, midY, end.isWrong ? c_.palette.error : c_.palette.muted,
              base::message({end.words, " ", formatNumber(end.value, 2)}));
  }

  // What is computed, and the number, in two lines or in one.
  std::vector<base::Message> briefLines(const Explanation& e, bool inOne) const {
    if (focus_.tensor != TensorId::weights)
      return e.value.empty() ? std::vector<base::Message>() : std::vector<base::Message>{"= " + e.value};
    const std::string number =
        formatNumber(static_cast<double>(c_.weight(focus_.row, focus_.col)), c_.state.decimals);
    const base::Message made = weightMade();
    if (inOne) return {base::message({made, " = ", number})};
    return {made, "= " + number};
  }

  // What the weight is made of: the head, or "= softmax(2.30 ÷ √3)".
  base::Message weightMade() const {
    const CellRef f = focus_;
    if (showsMean(c_.state)) return headName(c_.state);
    if (std::isinf(c_.trace.masked.at(f.head, f.row, f.col))) return "masked";
    // Where more than a scale lies between q·k and the softmax, what comes out of it.
    const bool isPlain = c_.state.softcap <= 0 && c_.state.biasKind == document::Bias::none &&
                         c_.state.position != attention::Position::alibi;
    std::string inside =
        formatNumber(static_cast<double>((isPlain ? c_.trace.raw : c_.trace.masked).at(f.head, f.row, f.col)),
                     c_.state.decimals);
    if (isPlain && c_.state.score == attention::Score::scaled)
      inside += c_.state.scaleBy == 0.0f ? " ÷ √" + std::to_string(c_.state.headDim)
                                         : " × " + formatFactor(c_.state.scaleBy, 2);
    if (c_.state.temperature != 1.0f) inside += " ÷ " + formatFactor(c_.state.temperature, 2);
    return base::message({"= ", normalizerName(c_.state), "(", inside, ")"});
  }

  // The range of the bars of a row: 0 to 1 for shares, otherwise up to their largest values in both
  // directions.
  struct Span {
    float low = 0, high = 1;
  };
  Span spanOf(int row) const {
    const auto [low, high] = rowRange(c_, row);
    return {low, high};
  }

  void rowBars(const Box& box) {
    const MatrixPlace* m = c_.layout.find(TensorId::weights);
    int row = queryRow(focus_, c_.rowsSoFar());
    if (!m) return;
    if (row < 0) row = c_.rowsSoFar() - 1;
    // Aligned with the rows of the weights, closer if there are more keys than rows.
    const Box rows = onScreen(c_.layout, c_.view, m->box);
    const int keys = c_.state.keyTokens;
    const float pitch = std::min(m->cell, rows.height / static_cast<float>(keys));
    if (pitch < 12) return strongest(box, rows, row);
    const Span span = spanOf(row);
    for (int j = 0; j < keys; ++j)
      rowBar(box, span, row, j, rows.y + (static_cast<float>(j) + 0.5f) * pitch, std::min(22.0f, pitch - 6));
  }

  // `which`: the end of its name, where two places have a bar of the key.
  void noteBar(int query, int key, const Box& box, std::string_view which = {}) {
    c_.widgetRects[base::joined({"bar:", query, ":", key, which})] = box;
    c_.places.bars.push_back({query, key, box});
  }

  // What stands beside a bar: a key that the query does not see has no weight.
  bool isHiddenKey(int row, int key, float w) const { return w == 0.0f && isMaskedWeight(c_, row, key); }
  std::string barNumber(int row, int key, float w, int decimals) const {
    return isHiddenKey(row, key, w) ? "hidden" : formatNumber(static_cast<double>(w), decimals);
  }

  void rowBar(const Box& box, const Span& span, int row, int j, float midY, float high) {
    const float longest = (box.width - 92) / (span.high - span.low), zero = box.x - span.low * longest;
    const float w = c_.weight(row, j), width = std::max(2.0f, longest * std::fabs(w)),
                left = w < 0 ? zero - width : zero;
    noteBar(row, j, {box.x, midY - high / 2 - 3, box.width, high + 6}, ":brief");
    const bool chosen = attention::isOfPairs(focus_.tensor) && focus_.col == j,
               isHidden = isHiddenKey(row, j, w);
    if (!isHidden)
      list_->AddRectFilled({left, midY - high / 2}, {left + width, midY + high / 2},
                           withAlpha(c_.palette.weight, chosen ? 1.0f : 0.35f), 2);
    // The number is drawn separately: next to a right-to-left word, bidirectional layout would swap the two.
    const float x = std::max(zero, left + width) + 7;
    float wide = 0;
    {
      const AsIs asIs;  // a token of the reader
      const std::string word = elide(c_.fonts.monoSmall, label(j), 56);
      textMiddle(list_, c_.fonts.monoSmall, x, midY, c_.palette.text, word);
      wide = textWidth(c_.fonts.monoSmall, word);
    }
    textMiddle(list_, isHidden ? c_.fonts.small : c_.fonts.monoSmall, x + wide + 7, midY,
               isHidden ? c_.palette.muted : c_.palette.text,
               c_.pin && !isHidden ? changedNumber(c_, weightBefore(c_, row, j), w)
                                   : barNumber(row, j, w, c_.state.decimals));
  }

  // The keys of the largest weights, at most so many of them, that of the largest first.
  std::vector<int> strongestKeys(int row, std::size_t most) const {
    const float* const weights = weightsOf(c_, row);
    std::vector<int> keys;
    for (int j = 0; most > 0 && j < c_.state.keyTokens; ++j) {
      const auto isLess = [&](int other) { return std::fabs(weights[other]) < std::fabs(weights[j]); };
      if (keys.size() == most && !isLess(keys.back())) continue;
      if (keys.size() == most) keys.pop_back();
      keys.insert(std::find_if(keys.begin(), keys.end(), isLess), j);
    }
    return keys;
  }

  void strongestTitle(float x, float midY) {
    textMiddle(list_, c_.fonts.small, x, midY, c_.palette.muted,
               base::message({"The strongest of ", c_.state.keyTokens, " keys"}));
  }

  // If the bars of all keys would be too thin: only those of the largest weights, the largest first.
  [[gnu::noinline]] void strongest(const Box& box, const Box& rows, int row) {
    constexpr float kPitch = 22, kMost = 12;
    const float top = std::max(rows.y, box.y + 74);
    const auto count = static_cast<std::size_t>(std::clamp((rows.bottom() - top) / kPitch - 1, 0.0f, kMost));
    const std::vector<int> keys = strongestKeys(row, count);
    if (count == 0 || keys.size() < count) return;
    strongestTitle(box.x, top + kPitch / 2);
    const Span span = spanOf(row);
    for (std::size_t i = 0; i < count && c_.weight(row, keys[i]) != 0.0f; ++i) {
      rowBar(box, span, row, keys[i], top + kPitch * (static_cast<float>(i) + 1.5f), 16);
      c_.widgetRects[base::joined({"strongest:", static_cast<int>(i)})] = {
          box.x, top + kPitch * static_cast<float>(i + 1), box.width, kPitch};
    }
  }

  // The row's weights below each other: word, bar on its track, number; then what they add up to. If there is
  // no room for all of them, the strongest that are seen.
  void column(Box box, int row) {
    constexpr float kWord = 62;
    std::vector<int> keys(static_cast<std::size_t>(c_.state.keyTokens));
    std::iota(keys.begin(), keys.end(), 0);
    std::size_t most = keys.size();
    if (box.height - kColumnFoot < kThinBar * static_cast<float>(most)) {
      keys = strongestKeys(row, most);
      std::erase_if(keys, [&](int j) { return isHiddenKey(row, j, c_.weight(row, j)); });
      if (keys.empty())
        textMiddle(list_, c_.fonts.small, box.x, box.y + kThinBar / 2, c_.palette.muted,
                   base::message({"All ", c_.state.keyTokens, " keys are hidden"}));
      else strongestTitle(box.x, box.y + kThinBar / 2);
      box.y += kThinBar + 2, box.height -= kThinBar + 2;
      most = static_cast<std::size_t>(std::max(1.0f, (box.height - kColumnFoot) / kThinBar));
      keys.resize(std::min(most, keys.size()));
    }
    // Where fewer are seen the rest of the room stays empty: from row to row bars and sums keep their places.
    const auto count = static_cast<float>(most);
    const float pitch = std::min(34.0f, (box.height - kColumnFoot) / count),
                high = std::min(18.0f, pitch - 6);
    const Span span = spanOf(row);
    const Box track{box.x + kWord, box.y, box.width - kWord - (c_.pin ? 88.0f : 48.0f), 0};
    const float unit = track.width / (span.high - span.low), zero = track.x - span.low * unit;
    list_->AddLine({box.x - 20, box.y + 6}, {box.x - 20, box.bottom() - 14}, c_.palette.border);
    float y = box.y - pitch / 2;
    for (const int j : keys) {
      const float w = c_.weight(row, j), width = std::max(2.0f, unit * std::fabs(w));
      y += pitch;
      const bool chosen = attention::isOfPairs(focus_.tensor) && focus_.col == j;
      const auto bar = [&](float from, float to, ImU32 color) {
        list_->AddRectFilled({from, y - high / 2}, {to, y + high / 2}, color, 3);
      };
      const bool isHidden = isHiddenKey(row, j, w);
      if (isHidden) {
        hatched(list_, c_.palette, {track.x, y - high / 2, track.width, high});
      } else {
        bar(track.x, track.right(), c_.palette.background);
        bar(w < 0 ? zero - width : zero, w < 0 ? zero : zero + width,
            withAlpha(c_.palette.weight, chosen ? 1.0f : 0.35f));
      }
      const std::optional<float> before = c_.pin ? weightBefore(c_, row, j) : std::nullopt;
      if (before)
        dashed({std::min(zero, zero + unit * *before), y - high / 2 - 2,
                std::max(2.0f, unit * std::fabs(*before)), high + 4},
               4);
      {
        const AsIs asIs;
        textRight(list_, chosen ? c_.fonts.smallStrong : c_.fonts.small, track.x - 10, y, c_.palette.text,
                  elide(c_.fonts.small, label(j), kWord - 10));
      }
      textRight(list_, isHidden ? c_.fonts.small : c_.fonts.monoSmall, box.right(), y,
                isHidden ? c_.palette.muted : c_.palette.text,
                before && !isHidden ? changedNumber(c_, before, w)
                                    : barNumber(row, j, w, std::min(c_.state.decimals, 3)));
      noteBar(row, j, {box.x, y - pitch / 2 + 1, box.width, pitch - 2});
    }
    rowWords({box.x - 18, box.y, box.width, box.height},
             std::min(box.bottom() - 26, box.y + pitch * count + (showsMean(c_.state) ? 44.0f : 26.0f)), row,
             false);
  }

  std::string_view label(int key) const {
    return document::keyLabels(c_.state)[static_cast<std::size_t>(key)];
  }

  int lines(const Explanation& e, float width) const {
    float count = 0;
    for (const Term& t : e.terms) count += std::max(1.0f, std::ceil(textWidth(digits_, t.text) / width));
    return static_cast<int>(std::max(count, 1.0f));
  }

  // Draws what is in the reader's language. Returns the y of the last line.
  float wrapped(const std::string& said, float x, float y, float width, float pitch, float limit) {
    const AsIs asIs;
    const std::string_view words = said;
    std::size_t begin = 0;
    const std::vector<std::size_t> ends = brokenAt(digits_, words, width);
    if (ends.empty() && words.find(" = ") == std::string_view::npos) {  // a sentence
      const float one = paragraph({nullptr, digits_, 0}, x, 0, 1e6f, words),
                  more = paragraph({nullptr, digits_, 0}, x, 0, width, words) - one;
      if (y + more <= limit)
        return paragraph({list_, digits_, color_}, x, y - one / 2, width, words), y + more;
    }
    for (const std::size_t end : ends) {
      if (end == words.size() || y + pitch > limit) break;
      piece(words.substr(begin, end - begin), words.data(), x, y);
      begin = end + 1;
      y += std::min(pitch, 21.0f);
    }
    const std::string_view last = words.substr(begin);
    if (textWidth(digits_, last) <= width) piece(last, words.data(), x, y);
    else textMiddle(list_, digits_, x, y, color_, shortened(digits_, last, width));
    return y;
  }
  void piece(std::string_view words, const char* base, float x, float y) {
    if (line_)
      drawTouched(c_, {list_, digits_, color_}, {x, y}, *line_, static_cast<std::size_t>(words.data() - base),
                  words.size());
    else textMiddle(list_, digits_, x, y, color_, words);
  }

  base::Message sumWords(int row) const {
    const RowEnd end = rowEnd(c_, row);
    return base::message({c_.state.columnLayout ? "column " : "row ", row + 1, ", ", end.words, " ",
                          formatNumber(end.value, 2)});
  }

  // The row as text, beside its bars.
  void rowWords(const Box& box, float base, int row, bool narrow) {
    const auto line = [&](float y, base::MessageView words) {
      textMiddle(list_, c_.fonts.small, box.x + 18, y, c_.palette.muted, words);
    };
    const bool mean = showsMean(c_.state);
    const auto bits = rowEntropy(c_, row);
    if (mean) line(base - 31, narrow ? base::Message("mean of heads") : headName(c_.state));
    line(base - 13, sumWords(row));
    const char* const whose = narrow ? "" : mean ? "its entropy " : "entropy ";
    if (bits) line(base + 5, base::message({whose, formatNumber(*bits, 2), " bit"}));
    else line(base + 5, narrow ? "no entropy" : "entropy not defined");
  }

  // Draws the pinned board's bar around that of a key. `bar` is the bar's area for a weight of 1.
  [[gnu::noinline]] void pinnedBar(int row, int key, const Box& bar, float pitch, std::string& number,
                                   float& labelY) {
    const std::optional<float> before = weightBefore(c_, row, key);
    if (!before) return;
    const float w = c_.weight(row, key), was = std::max(2.0f, bar.height * std::fabs(*before)),
                end = *before < 0 ? bar.y + was : bar.y - was;
    dashed({bar.x, std::min(bar.y, end), bar.width, was});
    if (w >= 0 && *before >= 0) labelY = std::min(labelY, end - 9);
    const std::string both = changedNumber(c_, before, w);
    if (textWidth(c_.fonts.monoSmall, both) <= pitch - 2) number = both;
  }

  void dashed(const Box& box, int sides = 3) {  // 3: open at the bottom
    const ImVec2 corners[] = {
        {box.x, box.bottom()}, {box.x, box.y}, {box.right(), box.y}, {box.right(), box.bottom()}};
    for (int side = 0; side < sides; ++side) {
      const ImVec2 a = corners[side], b = corners[(side + 1) % 4];
      const float length = std::fabs(b.x - a.x) + std::fabs(b.y - a.y);
      for (float at = 0; at < length; at += 6) {
        const float from = at / length, to = std::min(1.0f, (at + 3.5f) / length);
        list_->AddLine({a.x + (b.x - a.x) * from, a.y + (b.y - a.y) * from},
                       {a.x + (b.x - a.x) * to, a.y + (b.y - a.y) * to}, c_.palette.text, 1);
      }
    }
  }

  void bars(const Box& box, int row, float room = kBars) {
    const int n = c_.state.keyTokens;
    const float said = 18 + textWidth(c_.fonts.small, sumWords(row)) + 10;
    const float x0 = box.x + std::max(box.width < 460 ? 96.0f : 150.0f, said), width = box.right() - 18 - x0;
    const float foot = box.bottom() - 30, pitch = std::min(90.0f, width / static_cast<float>(n));
    const float barWidth = std::max(1.0f, std::min(54.0f, pitch * 0.62f)), high = 56 + room - kBars;
    const Span span = spanOf(row);
    const float unit = (span.low < 0 ? high - 14 : high) / (span.high - span.low),
                base = foot + (span.low < 0 ? span.low * unit - 14 : 0);
    rowWords(box, foot, row, box.width < 460);
    if (span.low < 0)
      list_->AddLine({x0, base}, {x0 + pitch * static_cast<float>(n), base}, c_.palette.faint);
    const int each = std::max(
        1, static_cast<int>(std::ceil(2 / pitch)));  // each bar is at least two pixels wide, and shows the
                                                     // weight farthest from 0 among its keys
    const float* const weights = weightsOf(c_, row);
    for (int j = 0; j < n; j += each) {
      float w = weights[j];
      for (int k = j + 1; k < std::min(j + each, n); ++k)
        if (std::fabs(weights[k]) > std::fabs(w)) w = weights[k];
      const float x = x0 + pitch * (static_cast<float>(j) + 0.5f), tall = std::max(2.0f, unit * std::fabs(w));
      const float top = w < 0 ? base : base - tall, bottom = w < 0 ? base + tall : base;
      const bool chosen = attention::isOfPairs(focus_.tensor) && focus_.col >= j && focus_.col < j + each;
      if (pitch >= 16) noteBar(row, j, {x - pitch / 2 + 1, foot - high - 18, pitch - 2, high + 18});
      const bool isHidden = isHiddenKey(row, j, w);
      if (!isHidden)
        list_->AddRectFilled({x - barWidth / 2, top}, {x + barWidth / 2, bottom},
                             withAlpha(c_.palette.weight, chosen ? 1.0f : 0.35f),
                             std::min(2.0f, barWidth / 3));
      // If there is no room for all names and numbers, only the selected key's bar has them.
      if (pitch < 32 && !(chosen && each == 1)) continue;
      std::string number = barNumber(row, j, w, std::min(c_.state.decimals, 3));
      if (isHidden && textWidth(c_.fonts.monoSmall, number) > pitch - 2) number = "–";
      float labelY = w < 0 ? bottom + 8 : top - 9;
      if (c_.pin)
        pinnedBar(row, j, {x - barWidth / 2 - 2.5f, base, barWidth + 5, unit}, pitch, number, labelY);
      const std::string word = elide(c_.fonts.small, label(j), pitch < 32 ? 96.0f : pitch - 4);
      const float half =
          pitch < 32 ? std::max(textWidth(c_.fonts.small, word), textWidth(c_.fonts.monoSmall, number)) / 2
                     : 0;
      const float left = x0 - 24 + half,
                  middle = std::clamp(x, left, std::max(left, box.right() - 14 - half));
      textCentered(list_, c_.fonts.monoSmall, middle, labelY, c_.palette.text, number);
      textCentered(list_, c_.fonts.small, middle, foot + 11, chosen ? c_.palette.text : c_.palette.muted,
                   word);
      if (half > 0) c_.widgetRects["bar:chosen"] = {middle - half, labelY - 7, 2 * half, foot + 18 - labelY};
    }
  }

  Context& c_;
  ImDrawList* list_;
  ImFont* digits_ = nullptr;
  CellRef focus_;
  struct Touched {
    Explanation shown;
    std::vector<TouchedLine> lines;
  };
  std::shared_ptr<Touched> touched_;
  const TouchedLine* line_ = nullptr;  // the line being drawn, if its numbers respond to the pointer
  ImU32 color_ = c_.palette.text;
};

}  // namespace

// While a number is dragged nothing else can be pressed, so the gradient need not be computed a second time.
void inspectorButtons(Context& c) {
  const Drag::Kind drag = c.view.drag.kind;
  const CellRef focus = spokenOf(c);
  if (c.layout.inspector.empty() || drag == Drag::Kind::value || drag == Drag::Kind::paint ||
      !c.tensor(focus.tensor))
    return;
  const Box& board = c.layout.board;
  const Box& place = c.layout.inspectorIsBrief ? c.layout.inspectorBelow : c.layout.inspector;
  const Box box = onScreen(c.layout, c.view, place);
  if (place.empty() || box.bottom() < board.y || box.y > board.bottom()) return;
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  const Explanation e = explainFocus(c, focus);
  const int row = barsRow(c, focus, box, e);
  const Switch raising = switchOf(c, box, row, titleOf(c, e));
  // For fingers both are as high as the title, and the button as wide as that.
  const auto grown = [&](const Box& button, float across) {
    if (!c.roomy()) return button;
    const float along = (44 - button.height) / 2;
    return Box{button.x - across, button.y - along, button.width + 2 * across, 44};
  };
  if (Widgets(c).area("gradient", grown(raising.box, 0), Mirror::Role::toggle, c.state.gradient)) {
    if (stepperOf(c)) toggleStepper(c);
    c.requests.set(document::OptionId::gradient, stepperOf(c) || !c.state.gradient);
  }
  if (const Box steps = stepsOf(c, raising); steps.width > 0 && Widgets(c).area("stepper", grown(steps, 8)))
    toggleStepper(c);
  if (isRaising(c)) { raiseList(c, listIn(c, box, row), true); }
  ImGui::PopClipRect();
}

void inspector(Context& c) {
  const CellRef focus = spokenOf(c);
  if (c.layout.inspector.empty() || !c.tensor(focus.tensor)) return;
  const Box& board = c.layout.board;
  const Explanation e = explainFocus(c, focus);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  Inspector view(c);
  const Box first = onScreen(c.layout, c.view, c.layout.inspector);
  if (c.layout.inspectorIsBrief) {
    c.widgetRects["brief"] = first;
    view.brief(first, e);
    if (!c.layout.inspectorBelow.empty()) {
      c.widgetRects["inspector"] = onScreen(c.layout, c.view, c.layout.inspectorBelow);
      view.whole(c.widgetRects["inspector"], e);
    }
  } else {
    c.widgetRects["inspector"] = first;
    view.whole(first, e);
  }
  list->PopClipRect();
}

}  // namespace views
