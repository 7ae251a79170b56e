#include "views/panels/arithmetic.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/stepper.h"
#include "views/formula.h"
#include "views/tooltip.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Explanation;
using attention::RowStep;
using attention::Term;
using Number = Arithmetic::Number;

constexpr int kDeepest = 4;  // nesting of expanded sums

/// Where the board shows the number of a cell; while a row is stepped through, also intermediate results.
Number placed(const Context& c, CellRef cell) {
  const StepperView* stepper = stepperOf(c);
  if (cell.tensor == TensorId::masked || (stepper && cell.tensor == TensorId::raw))
    cell.tensor = TensorId::scores;
  if (stepper && cell.tensor == TensorId::exponentials) cell.tensor = TensorId::weights;
  if (cell.tensor == TensorId::concat)
    cell = {TensorId::head_output, cell.col / c.state.valueDim, cell.row, cell.col % c.state.valueDim};
  Number n;
  n.cell = cell;
  const MatrixPlace* m = c.layout.find(cell.tensor);
  if (!m) return n;
  const Slice s = sliceOf(c.state, cell.tensor);
  const int rows = m->transposed ? m->cols : m->rows, cols = m->transposed ? m->rows : m->cols;
  n.onBoard = true;
  n.here = s.head == cell.head && cell.row >= s.firstRow && cell.row < s.firstRow + rows &&
           cell.col >= s.firstCol && cell.col < s.firstCol + cols;
  return n;
}

/// The line of an explanation that computes a cell of this tensor.
RowStep stepOf(TensorId id) {
  switch (id) {
    case TensorId::raw: return RowStep::raw;
    case TensorId::exponentials: return RowStep::exponentials;
    case TensorId::row_max: return RowStep::maximum;
    case TensorId::row_sum: return RowStep::sum;
    default: return RowStep::none;
  }
}

bool isPartOfNumber(std::string_view text, std::size_t& at) {
  for (const std::string_view sign : {std::string_view("−"), std::string_view("∞")})
    if (text.substr(at, sign.size()) == sign) return at += sign.size(), true;
  const char ch = text[at];
  if ((ch < '0' || ch > '9') && ch != '.' && ch != 'e') return false;
  return ++at, true;
}

class Reader {
 public:
  Reader(Context& c, CellRef focus) : c_(c), focus_(focus), view_(arithmeticOf(c.view)) {
    if (view_.of != focus) view_.of = focus, view_.opened.clear();
  }

  std::vector<TouchedLine> read(std::vector<Term> terms) {
    for (const Term& t : terms) made_.push_back(t.step);
    for (Term& t : terms) add(std::move(t), 0);
    return std::move(lines_);
  }

 private:
  void add(Term term, int depth) {
    const std::size_t at = lines_.size();
    lines_.push_back(line(std::move(term)));
    lines_.back().inner = depth > 0;
    if (depth == kDeepest) return;
    const auto numbers = lines_.back().numbers;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!numbers[i].isOpen) continue;
      if (auto sum = sumOf(numbers[i].what, at)) add(std::move(*sum), depth + 1);
      else lines_[at].numbers[i].isOpen = false;
    }
  }

  std::optional<Term> sumOf(const Number& n, std::size_t line) const {
    if (n.ordinal >= 0)
      return attention::sumBehind(lines_[line].term, n.ordinal, {c_.spec, c_.inputs, c_.trace}, n.sum,
                                  c_.state.decimals);
    auto terms =
        attention::explain({c_.spec, c_.inputs, c_.trace}, n.sum, c_.tokenLabels(), c_.state.decimals, true)
            .terms;
    if (terms.empty()) return {};
    return std::move(terms.back());
  }

  TouchedLine line(Term term) const {
    TouchedLine line;
    const std::string text = inWords(term.text);
    std::size_t cell = 0;
    int ordinal = 0;
    const bool isCut = text.find("…") != std::string::npos;
    for (std::size_t i = 0; i < text.size();) {
      const char mark = text[i];
      if (static_cast<unsigned char>(mark) >= ' ') {
        line.text += text[i++];
        continue;
      }
      std::size_t end = ++i;
      while (end < text.size() && isPartOfNumber(text, end)) {}
      TouchedLine::Number n{line.text.size(), line.text.size() + end - i, {}, false};
      n.what = about(mark, cell < term.cells.size() ? term.cells[cell] : focus_, term, isCut ? -1 : ordinal);
      cell += mark != attention::mark::kSum;
      ordinal += mark == attention::mark::kSum;
      n.isOpen = n.what.opens && std::any_of(view_.opened.begin(), view_.opened.end(),
                                             [&](const Number& o) { return o.same(n.what); });
      line.numbers.push_back(n);
      line.text += text.substr(i, end - i);
      i = end;
    }
    line.term = std::move(term);
    return line;
  }

  Number about(char mark, CellRef cell, const Term& term, int ordinal) const {
    Number n;
    if (mark == attention::mark::kSum) {
      n.sum = {TensorId::weights, focus_.head, focus_.row, focus_.col};
      n.ordinal = ordinal;
      n.opens = ordinal >= 0 && attention::isOfPairs(focus_.tensor) &&
                attention::sumBehind(term, ordinal, {c_.spec, c_.inputs, c_.trace}, n.sum, 0);
    } else {
      n = placed(c_, cell);
      n.sum = cell;
      const RowStep step = stepOf(cell.tensor);
      const bool isOwn =
          cell.row == focus_.row &&
          (step >= RowStep::maximum && step != RowStep::exponentials ? true : cell.col == focus_.col);
      const bool isShown = isOwn && std::find(made_.begin(), made_.end(), step) != made_.end();
      n.opens = mark == attention::mark::kCell && step != RowStep::none && !n.onBoard && !isShown;
    }
    n.step = term.step, n.isMade = mark == attention::mark::kMade;
    return n;
  }

  Context& c_;
  CellRef focus_;
  Arithmetic& view_;
  std::vector<RowStep> made_;
  std::vector<TouchedLine> lines_;
};

/// How visible a number of the latest step is: they appear one after another, while the step moves on the
/// board.
float visible(const Context& c, const TouchedLine& line, std::size_t index, float x, float midY) {
  const StepperView* stepper = stepperOf(c);
  const bool isPlace = c.layout.stepLine.empty() || c.layout.stepLine.contains(x, midY);
  if (!stepper || stepper->part >= 1 || line.term.step != stepper->now() || line.inner || !isPlace) return 1;
  const float delay =
      0.35f * static_cast<float>(index) / static_cast<float>(std::max<std::size_t>(line.numbers.size(), 1));
  return std::clamp((stepper->part / 0.8f - delay) / 0.65f, 0.0f, 1.0f);
}

/// "number:q:3:2", "number:sum:0"
std::string nameOf(const Number& n) {
  return n.ordinal >= 0
             ? base::joined({"number:sum:", n.ordinal})
             : base::joined({"number:", attention::name(n.sum.tensor), ":", n.sum.row, ":", n.sum.col});
}

bool isHovered(const Context& c, const Number& n) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (c.view.hover) return n.here && n.cell == *c.view.hover;
  return !c.touch && c.view.drag.kind == Drag::Kind::none && n.box.contains(mouse.x, mouse.y) &&
         (n.onBoard || n.opens) && c.view.lit.has_value() == n.onBoard;
}

// The colour of a number's cell where it is pointed at, or its number is; 0: that of no cell.
ImU32 litColor(Context& c, const Number& n) {
  const bool isLit = isHovered(c, n) || (c.view.lit && n.here && *c.view.lit == n.cell);
  if (!isLit) return 0;
  const auto color = n.here ? cellColor(c, n.cell) : std::nullopt;
  return color ? toU32(*color) : c.palette.hover;
}

ImU32 ringOf(const Context& c, const Number& n) {
  const ImU32 color = n.onBoard ? hue(c.palette, n.cell.tensor) : c.palette.weight;
  return color == c.palette.neutral ? c.palette.text : color;
}

/// Records where a number is drawn, for the pointer.
Number placedAt(Context& c, const TouchedLine::Number& n, const Box& box) {
  Number drawn = n.what;
  drawn.box = box;
  arithmeticOf(c.view).drawn.push_back(drawn);
  const std::string name = nameOf(drawn);
  c.widgetRects.emplace(name, drawn.box);
  if (!c.fonts.mirror || !(drawn.onBoard || drawn.opens)) return drawn;
  if (c.fonts.mirror->control(name, drawn.box, Mirror::Role::button, 0, true, about(name).words))
    pressNumber(c, drawn);
  return drawn;
}

}  // namespace

Arithmetic& arithmeticOf(ViewState& view) {
  if (!view.arithmetic) view.arithmetic = std::make_shared<Arithmetic>();
  return *view.arithmetic;
}

ImU32 markNumber(Context& c, ImDrawList* list, ImVec2 at, float width, const TouchedLine::Number& n,
                 ImU32 color) {
  const float left = at.x, midY = at.y;
  const Number drawn = placedAt(c, n, {left - 1, midY - 10, width + 2, 20});
  const ImU32 fill = litColor(c, drawn);
  if (fill != 0) {
    const ImVec2 from{left - 4, midY - 10}, to{left + width + 4, midY + 10};
    list->AddRectFilled(from, to, fill, 4);
    list->AddRect(from, to, ringOf(c, drawn), 4, 0, 2);
  }
  if (fill != 0) return textOn(toColor(fill));
  const float y = std::round(midY + 9);
  if (n.isOpen) list->AddLine({left, y}, {left + width, y}, c.palette.weight, 1.5f);
  else if (drawn.onBoard || drawn.opens) dots(list, left, left + width, y, withAlpha(color, 0.45f));
  return color;
}

void drawCell(Context& c, ImDrawList* list, const Box& box, const TouchedLine::Number& n,
              std::string_view digits) {
  const Number drawn = placedAt(c, n, box);
  const auto own = n.what.here ? cellColor(c, n.what.cell) : std::nullopt;
  const ImU32 fill = own ? toU32(*own) : c.palette.background;
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, fill, 3);
  if (litColor(c, drawn) != 0) {
    list->AddRect({box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1}, ringOf(c, drawn), 5, 0, 3);
  }
  textCentered(list, c.fonts.mono, box.midX(), box.midY(), textOn(toColor(fill)), digits);
}

bool isTouched(const Context& c, const Box& card) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return c.touch || c.view.hover || (c.view.arithmetic && !c.view.arithmetic->opened.empty()) ||
         card.contains(mouse.x, mouse.y);
}

std::vector<std::size_t> brokenAt(ImFont* font, std::string_view text, float width) {
  const AsIs asIs;
  std::vector<std::size_t> ends;
  for (std::size_t begin = 0, fits = 0, at = 0; at != std::string_view::npos; fits = at) {
    at = std::min(text.find(" + ", at + 1), text.find(" = ", at + 1));
    if (textWidth(font, text.substr(begin, at - begin)) <= width) continue;
    if (fits <= begin || textWidth(font, text.substr(fits + 1, at - fits - 1)) > width) return {};
    ends.push_back(fits), begin = fits + 1;
  }
  ends.push_back(text.size());
  return ends;
}

std::string shortened(ImFont* font, std::string_view line, float width) {
  const AsIs asIs;
  const std::size_t result = line.rfind(" = ");
  if (result == std::string_view::npos || textWidth(font, line) <= width) return elide(font, line, width);
  for (std::size_t cut = line.rfind(" + ", result); cut != std::string_view::npos && cut > 0;
       cut = line.rfind(" + ", cut - 1)) {
    if (line.substr(0, cut).ends_with("…")) continue;
    std::string fits = base::joined({line.substr(0, cut), " + …", line.substr(result)});
    if (textWidth(font, fits) <= width) return fits;
  }
  return elide(font, base::joined({"…", line.substr(result)}), width);
}

std::vector<TouchedLine> touchedLines(Context& c, Explanation marked, CellRef focus) {
  return Reader(c, focus).read(std::move(marked.terms));
}

namespace {

// A part of a line that contains a root.
[[gnu::noinline]] void drawRoots(Context& c, const Pen& pen, ImVec2 place, const TouchedLine& line,
                                 std::size_t begin, std::size_t end) {
  const auto& [list, font, color] = pen;
  std::string marked;
  std::vector<const TouchedLine::Number*> numbers;
  std::size_t at = begin;
  for (const TouchedLine::Number& n : line.numbers) {
    if (n.begin < begin || n.end > end) continue;
    marked += line.text.substr(at, n.begin - at) + attention::mark::kCell;
    at = n.begin;
    numbers.push_back(&n);
  }
  marked += line.text.substr(at, end - at);
  const Formula formula({font, c.fonts.tiny, nullptr, nullptr, nullptr, FormulaLook::Shape::line}, marked);
  for (const Formula::Part& part : formula.parts()) {
    const bool isNumber = part.number >= 0 && part.number < static_cast<int>(numbers.size());
    const ImU32 own = isNumber ? markNumber(c, list, {place.x + part.x, place.y + part.y}, part.width,
                                            *numbers[static_cast<std::size_t>(part.number)], color)
                               : color;
    Formula::draw(list, part, place.x, place.y, &c.palette, own);
  }
}

}  // namespace

void drawTouched(Context& c, const Pen& pen, ImVec2 place, const TouchedLine& line, std::size_t begin,
                 std::size_t length) {
  const AsIs asIs;
  const std::string_view text(line.text);
  if (hasFormula(text.substr(begin, length))) return drawRoots(c, pen, place, line, begin, begin + length);
  const auto& [list, font, color] = pen;
  const float x = place.x, midY = place.y;
  const std::size_t end = begin + length, equals = text.rfind(" = ");
  const StepperView* stepper = stepperOf(c);
  const bool comes = stepper && stepper->part < 1 && line.term.step == stepper->now() && !line.inner;
  const float result = comes ? std::clamp((stepper->part - 0.75f) / 0.25f, 0.0f, 1.0f) : 1.0f;
  // The text between the numbers; what follows the last "=" appears once the numbers have arrived.
  const auto words = [&](std::size_t from, std::size_t to) {
    const auto part = [&](std::size_t a, std::size_t b, float alpha) {
      if (a >= b || alpha <= 0) return;
      textMiddle(list, font, x + textWidth(font, text.substr(begin, a - begin)), midY,
                 withAlpha(color, alpha), text.substr(a, b - a));
    };
    const std::size_t cut = equals == std::string_view::npos ? to : std::clamp(equals + 2, from, to);
    part(from, cut, 1);
    part(cut, to, result);
  };
  // First what is below the text, so that the text is in one piece.
  const auto isHere = [&](const TouchedLine::Number& n) { return n.begin >= begin && n.end <= end; };
  const auto placeOf = [&](const TouchedLine::Number& n) {
    return std::pair(x + textWidth(font, text.substr(begin, n.begin - begin)),
                     textWidth(font, text.substr(n.begin, n.end - n.begin)));
  };
  std::vector<ImU32> colors(line.numbers.size(), color);
  for (std::size_t i = 0; i < line.numbers.size(); ++i) {
    const auto [left, width] = placeOf(line.numbers[i]);
    if (isHere(line.numbers[i]) && visible(c, line, i, x, midY) >= 1)
      colors[i] = markNumber(c, list, {left, midY}, width, line.numbers[i], color);
  }
  std::size_t at = begin;
  for (std::size_t i = 0; i < line.numbers.size(); ++i) {
    const TouchedLine::Number& n = line.numbers[i];
    if (!isHere(n)) continue;
    words(at, n.begin);
    at = n.end;
    const std::string_view digits = text.substr(n.begin, n.end - n.begin);
    const auto [left, width] = placeOf(n);
    const float shown = visible(c, line, i, x, midY);
    if (shown < 1) placedAt(c, n, {left - 1, midY - 10, width + 2, 20});
    textMiddle(list, font, left, midY, shown < 1 ? withAlpha(color, shown) : colors[i], digits);
  }
  words(at, end);
}

const Number* numberAt(const ViewState& view, float x, float y) {
  if (!view.arithmetic) return nullptr;
  for (const Number& n : view.arithmetic->numbers)
    if ((n.onBoard || n.opens) && n.box.contains(x, y)) return &n;
  return nullptr;
}

void pressNumber(Context& c, const Number& n) {
  if (n.opens) return openNumber(c.view, n);
  if (!n.here)
    c.requests.set(
        document::OptionId::focus_head,
        static_cast<double>(headShowing(c.state, n.cell.tensor, n.cell.head, n.cell.row, n.cell.col)));
  goTo(c, n.cell);
}

void openNumber(ViewState& view, const Number& number) {
  auto& opened = arithmeticOf(view).opened;
  const auto at = std::find_if(opened.begin(), opened.end(), [&](const Number& o) { return o.same(number); });
  if (at == opened.end()) opened.push_back(number);
  else opened.erase(at);
}

bool takesPart(const Context& c, CellRef cell) {
  const CellRef chosen = c.chosen();
  if (cell == chosen || !c.tensor(chosen.tensor)) return false;
  if (c.view.arithmetic && c.view.arithmetic->of.tensor == shownTensor(chosen.tensor)) {
    for (const Number& n : c.view.arithmetic->numbers)
      if (n.here && n.cell == cell) return true;
  }
  CellRef asked = chosen;
  asked.tensor = shownTensor(asked.tensor), cell.tensor = shownTensor(cell.tensor);
  std::optional<Kept::Said> now, &said = keepsWhatIsSaid(c) ? keptOf(c).chosen : now;
  if (!said || !(said->cell == asked))
    said = {asked, attention::explain({c.spec, c.inputs, c.trace}, asked, c.tokenLabels(), 0)};
  const std::vector<Term>& terms = said->words.terms;
  return std::any_of(terms.begin(), terms.end(), [&](const Term& t) {
    return std::find(t.cells.begin(), t.cells.end(), cell) != t.cells.end();
  });
}

void drawLit(Context& c) {
  Arithmetic& a = *c.view.arithmetic;
  a.numbers.swap(a.drawn);
  a.drawn.clear();
  const MatrixPlace* m = c.view.lit ? c.layout.find(c.view.lit->tensor) : nullptr;
  if (!m) return;
  const Slice s = sliceOf(c.state, c.view.lit->tensor);
  const Box cell =
      onScreen(c.layout, c.view, m->cellBox(c.view.lit->row - s.firstRow, c.view.lit->col - s.firstCol));
  const ImU32 color = m->tensor == TensorId::scores ? c.palette.text : hue(c.palette, m->tensor);
  const Box& board = c.layout.board;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  list->AddRect({cell.x + 1.5f, cell.y + 1.5f}, {cell.right() - 1.5f, cell.bottom() - 1.5f}, c.palette.panel,
                4, 0, 2);
  list->AddRect({cell.x - 1, cell.y - 1}, {cell.right() + 1, cell.bottom() + 1}, color, 6, 0, 3);
  list->PopClipRect();
}

}  // namespace views
