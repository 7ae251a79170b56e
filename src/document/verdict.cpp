#include "document/verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention/layer/explain.h"
#include "attention/layer/explanation_format.h"
#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/derived.h"
#include "document/preset.h"

namespace document {
namespace {

using attention::formatNumber;
using attention::explanation_format::subscript;
using attention::explanation_format::token;
using base::joined;
using base::shapeText;
using ErrorKind = Error::Kind;
using Pieces = std::initializer_list<base::Piece>;

/// Limit on the scores of a lesson's board, over all heads: a lesson of unknown origin is computed while the
/// page waits.
constexpr std::int64_t kMaxPairs = 1 << 18;

Error wrong(std::string_view field, Pieces pieces, ErrorKind kind = ErrorKind::range) {
  return {kind, std::string(field), joined(pieces)};
}

class PaperBoard final : public LessonBoard {
 public:
  explicit PaperBoard(State state)
      : state_(std::move(state)),
        inputs_(inputs(state_)),
        derived_(state_, trace_) {
    attention::forward(spec(state_), inputs_, trace_);
  }
  const State& state() const override { return state_; }
  Result<const Tensor*> tensor(std::string_view name) override {
    if (const auto around = derivedNamed(name)) return derived_.tensor(*around);
    const auto id = attention::tensorNamed(name);
    const Tensor* t = id ? attention::find(inputs_, trace_, *id) : nullptr;
    if (!t && id) t = input(state_, *id);
    if (t && !t->empty()) return t;
    return wrong("tensor", {"this board has no ", base::inQuotes(name),
                            "; switch on the option that makes it, or name another."});
  }

 private:
  State state_;
  attention::Inputs inputs_;
  attention::Trace trace_;
  DerivedTensors derived_;
};

/// Ranges of heads, rows and columns.
struct Block3 {
  int first[3], last[3];  ///< last is exclusive
};

Result<Block3> blockOf(const Tensor& t, const Cells& cells, const State& state, std::string_view field) {
  const int sizes[] = {t.heads(), t.rows(), t.cols()};
  Block3 out{};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    int index = axis < cells.at.size() ? cells.at[axis] : Cells::kAny;
    // The shown head is a query head. Tensors of keys may have fewer heads, a matrix has one.
    if (index == Cells::kShownHead)
      index =
          t.heads() >= state.heads ? state.focusHead : state.focusHead * t.heads() / std::max(1, state.heads);
    if (index >= sizes[axis])
      return wrong(field, {"there is no ",
                           axis == 0   ? "head "
                           : axis == 1 ? "row "
                                       : "column ",
                           index, " in ", cells.tensor, "; its shape is ",
                           shapeText({sizes[0], sizes[1], sizes[2]}), ", counted from 0."});
    out.first[axis] = index < 0 ? 0 : index;
    out.last[axis] = index < 0 ? sizes[axis] : index + 1;
  }
  return out;
}

Result<const Tensor*> find(LessonBoard& board, const Cells& cells, std::string_view field) {
  Result<const Tensor*> t = board.tensor(cells.tensor);
  if (t) return t;
  return wrong(field, {t.error().sentence}, t.error().kind);
}

double entropy(const std::vector<float>& values) {
  double bits = 0;
  for (const float v : values)
    if (v > 0) bits -= double{v} * std::log2(double{v});
  return bits;
}

double madeOf(const std::vector<float>& values, Goal::Of of) {
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  switch (of) {
    case Goal::Of::mean: return sum / static_cast<double>(std::max<std::size_t>(1, values.size()));
    case Goal::Of::norm: {
      double squares = 0;
      for (const float v : values) squares += double{v} * double{v};
      return std::sqrt(squares);
    }
    case Goal::Of::entropy: return entropy(values);
    default: return sum;
  }
}

std::string_view signOf(const Goal& goal) { return goal.min ? "≥ " : goal.max ? "≤ " : "≈ "; }

/// By how much the value of cell `i` misses the goal, 0 or less if it does not; `aim` is set to the value it
/// should have.
double missed(const Goal& goal, double value, std::size_t i, const std::vector<float>& like, double& aim) {
  double most = -std::numeric_limits<double>::infinity();
  const auto take = [&](double by, double to) {
    if (by > most) most = by, aim = to;
  };
  if (goal.min) take(*goal.min - value, *goal.min);
  if (goal.max) take(value - *goal.max, *goal.max);
  if (!goal.near.empty())
    take(std::abs(value - goal.near[goal.near.size() == 1 ? 0 : i]) - goal.within,
         goal.near[goal.near.size() == 1 ? 0 : i]);
  if (goal.like) take(std::abs(value - double{like[i]}) - goal.within, double{like[i]});
  if (goal.change == Goal::Turn::up) take(goal.within - value, goal.within);
  if (goal.change == Goal::Turn::down) take(value + goal.within, -goal.within);
  if (goal.change == Goal::Turn::same) take(std::abs(value) - goal.within, 0);
  return most;
}

std::string tokenAt(const State& state, const std::vector<std::string>& labels, int i) {
  const bool isThere =
      i >= 0 && i < static_cast<int>(labels.size()) && i < std::max(state.tokens, state.keyTokens);
  return isThere ? token(labels, i) : std::to_string(i + 1);
}

Result<Verdict> judgeArgmax(const Goal& goal, const std::vector<float>& row, const State& state) {
  Verdict out;
  if (goal.argmax >= static_cast<int>(row.size()))
    return wrong(goal.field, {"there is no column ", goal.argmax, " in ", goal.cells.tensor, "; it has ",
                              row.size(), ", counted from 0."});
  const auto largest = std::max_element(row.begin(), row.end());
  const auto at = static_cast<int>(largest - row.begin());
  const bool isAlone =
      std::count_if(row.begin(), row.end(), [&](float v) { return v >= *largest - 1e-6f; }) == 1;
  const auto id = attention::tensorNamed(goal.cells.tensor);
  const auto named = [&](int i) {
    return id && attention::isOfPairs(*id) ? tokenAt(state, keyLabels(state), i) : joined({"column ", i + 1});
  };
  out.holds = at == goal.argmax && isAlone;
  out.value = row[static_cast<std::size_t>(goal.argmax)], out.aim = *largest;
  out.shown = isAlone ? named(at) : "several alike", out.want = named(goal.argmax);
  return out;
}

Result<Verdict> judgeCells(const Goal& goal, LessonBoard& board, LessonBoard* before) {
  Result<std::vector<float>> read = numbersOf(board, goal.cells, goal.field);
  if (!read) return read.error();
  std::vector<float> values = std::move(*read), like;
  if (goal.of == Goal::Of::change || goal.change != Goal::Turn::none) {
    Result<std::vector<float>> old = numbersOf(before ? *before : board, goal.cells, goal.field);
    if (!old) return old.error();
    if (old->size() != values.size())
      return wrong(goal.field, {"the shape of ", goal.cells.tensor, " changed; ask for something else."});
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= (*old)[i];
  }
  const State& state = board.state();
  if (goal.what == Goal::What::argmax) return judgeArgmax(goal, values, state);
  if (goal.of != Goal::Of::each && goal.of != Goal::Of::change)
    values = {static_cast<float>(madeOf(values, goal.of))};
  if (goal.like) {
    Result<std::vector<float>> other = numbersOf(board, *goal.like, goal.field + ".like");
    if (!other) return other.error();
    like = std::move(*other);
  }
  const std::size_t wanted = goal.like              ? like.size()
                             : goal.near.size() > 1 ? goal.near.size()
                                                    : values.size();
  if (wanted != values.size())
    return wrong(goal.field, {wanted, " numbers are asked of ", values.size(), " cells; give one a cell."});
  Verdict out;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values.size(); ++i) {
    double aim = 0;
    const double by = missed(goal, double{values[i]}, i, like, aim);
    if (by <= most) continue;
    most = by;
    out.value = double{values[i]}, out.aim = aim;
  }
  out.holds = most <= 1e-6;
  out.away = std::max(0.0, most);
  out.isNumber = std::isfinite(out.value);
  out.shown = formatNumber(out.value, std::max(2, state.decimals));
  out.want = joined({goal.min && out.aim == *goal.min   ? "≥ "
                     : goal.max && out.aim == *goal.max ? "≤ "
                                                        : signOf(goal),
                     formatNumber(out.aim, std::max(2, state.decimals))});
  return out;
}

std::string wordsOf(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "on" : "off";
  if (const double* n = std::get_if<double>(&value)) return formatNumber(*n, *n == std::floor(*n) ? 0 : 2);
  if (const std::string* s = std::get_if<std::string>(&value)) return *s;
  std::string out;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value))
    for (const std::string& s : *list) out += (out.empty() ? "" : " ") + s;
  if (const auto* list = std::get_if<std::vector<int>>(&value))
    for (const int i : *list) out += (out.empty() ? "" : ", ") + std::to_string(i);
  return out.empty() ? "none" : out;
}

Verdict judgeOption(const Goal& goal, const State& state) {
  Verdict out;
  const Value value = get(state, goal.option);
  out.shown = wordsOf(value);
  if (goal.is) {
    out.holds = value == *goal.is;
    out.want = wordsOf(*goal.is);
    return out;
  }
  const double* number = std::get_if<double>(&value);
  out.isNumber = number != nullptr;
  if (!number) return out;
  out.value = *number;
  const double by = missed(goal, *number, 0, {}, out.aim);
  out.holds = by <= 0, out.away = std::max(0.0, by);
  out.want = joined({goal.min && out.aim == *goal.min ? "≥ " : "≤ ",
                     formatNumber(out.aim, out.aim == std::floor(out.aim) ? 0 : 2)});
  return out;
}

int differing(const Tensor& a, const Tensor& b) {
  if (!a.sameShape(b)) return 1;
  int count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a.values()[i] != b.values()[i];
  return count;
}

/// Does the option differ only because another one does? Then it is not counted as an edit of its own.
bool follows(const State& a, const State& b, OptionId id) {
  const bool heads = a.heads != b.heads, tokens = a.tokens != b.tokens;
  // A pattern is named by its parts; those of one without a name are edits of their own.
  const auto isCustom = [](const State& s) {
    return get(s, OptionId::pattern) == Value(std::string("custom"));
  };
  const bool named = !isCustom(a) && !isCustom(b) && get(a, OptionId::pattern) != get(b, OptionId::pattern);
  switch (id) {
    case OptionId::d_k:
    case OptionId::d_q: return heads;
    case OptionId::d_v: return heads || a.headDim != b.headDim;
    case OptionId::kv_heads: return heads;
    case OptionId::labels:
    case OptionId::key_tokens:
    case OptionId::key_labels: return tokens || a.keyTokens != b.keyTokens;
    case OptionId::pattern: return !named;
    case OptionId::pattern_local:
    case OptionId::pattern_dilation:
    case OptionId::pattern_stride:
    case OptionId::pattern_block:
    case OptionId::pattern_global:
    case OptionId::pattern_random: return named;
    case OptionId::scale: return a.score != b.score;
    case OptionId::seed: return true;
    default: return false;
  }
}

std::vector<Edit> cellEdits(const Tensor& t, const Block3& block, TensorId id,
                            const std::vector<float>& values) {
  std::vector<Edit> out;
  const int rows = block.last[1] - block.first[1], cols = block.last[2] - block.first[2];
  const auto each = static_cast<std::ptrdiff_t>(rows) * cols;
  for (int h = block.first[0]; h < block.last[0]; ++h) {
    const auto from = values.size() == 1 ? values.begin() : values.begin() + (h - block.first[0]) * each;
    std::vector<float> own(static_cast<std::size_t>(each), values.front());
    if (values.size() > 1) own.assign(from, from + each);
    (void)t;
    out.push_back(SetCells{id, h, block.first[1], block.first[2], rows, cols, std::move(own)});
  }
  return out;
}

Result<std::vector<Edit>> editCells(const State& state, const Move& move) {
  const auto id = attention::tensorNamed(move.cells.tensor);
  const auto own = parameterNamed(move.cells.tensor);
  if (!own && (!id || !input(state, *id)))
    return wrong(move.field, {move.cells.tensor, " is computed; change an input such as q."});
  if (id)
    if (Result<void> ok = checkEditable(state, *id); !ok) return ok.error();
  const Tensor made = own ? parameter(state, *own) : Tensor{};
  const Tensor& t = own ? made : *input(state, *id);
  const Result<Block3> block = blockOf(t, move.cells, state, move.field);
  if (!block) return block.error();
  std::size_t count = 1;
  for (int axis = 0; axis < 3; ++axis)
    count *= static_cast<std::size_t>(block->last[axis] - block->first[axis]);
  if (move.values.size() != 1 && move.values.size() != count)
    return wrong(move.field, {move.values.size(), " numbers are given for ", count, " cells of ",
                              move.cells.tensor, "; give one a cell."});
  if (!own) return cellEdits(t, *block, *id, move.values);
  std::vector<float> values = move.values;
  values.resize(count, move.values.front());
  return std::vector<Edit>{SetParameter{*own, block->first[1], block->first[2],
                                        block->last[1] - block->first[1], block->last[2] - block->first[2],
                                        std::move(values)}};
}

/// The error of the board, with the field of the lesson file as its field.
Error at(const Move& move, const Error& error) {
  return error.field == move.field ? error : wrong(move.field, {error.message()}, error.kind);
}

}  // namespace

std::unique_ptr<LessonBoard> paperBoard(State state) {
  return std::make_unique<PaperBoard>(std::move(state));
}

Result<std::vector<float>> numbersOf(LessonBoard& board, const Cells& cells, std::string_view field) {
  const Result<const Tensor*> found = find(board, cells, field);
  if (!found) return found.error();
  const Tensor& t = **found;
  const Result<Block3> block = blockOf(t, cells, board.state(), field);
  if (!block) return block.error();
  std::vector<float> out;
  for (int h = block->first[0]; h < block->last[0]; ++h)
    for (int r = block->first[1]; r < block->last[1]; ++r)
      for (int c = block->first[2]; c < block->last[2]; ++c) out.push_back(t.at(h, r, c));
  return out;
}

Result<Verdict> judge(const Goal& goal, LessonBoard& board, const State& start, LessonBoard* before) {
  const State& state = board.state();
  Verdict out;
  if (goal.what == Goal::What::edits) {
    out.value = editsBetween(start, state);
    out.away = std::max(0.0, missed(goal, out.value, 0, {}, out.aim));
    out.holds = out.away == 0, out.isNumber = true;
    out.shown = formatNumber(out.value, 0),
    out.want = joined({goal.max && out.aim == *goal.max ? "≤ " : "≥ ", formatNumber(out.aim, 0)});
    out.of = "edits";
  } else if (goal.what == Goal::What::option) {
    out = judgeOption(goal, state);
    out.of = option(goal.option).name;
  } else {
    Result<Verdict> cells = judgeCells(goal, board, before);
    if (!cells) return cells;
    out = std::move(*cells);
    out.of = nameOf(goal.cells, state);
    static constexpr std::string_view kMade[] = {"",           "sum of ",     "mean of ",
                                                 "length of ", "entropy of ", "change of "};
    out.of = joined({kMade[static_cast<std::size_t>(goal.of)], out.of});
    if (goal.what == Goal::What::argmax)
      out.of = joined({"largest ", goal.of == Goal::Of::change ? "" : "of ", out.of});
  }
  if (!goal.label.empty()) out.of = goal.label;
  return out;
}

Result<double> valueOf(const Run& run, LessonBoard& board, LessonBoard* before, std::string_view field) {
  double out = 0;
  for (const Term& term : run.terms) {
    double value = term.number.value_or(0);
    if (!term.number) {
      const Result<std::vector<float>> numbers =
          numbersOf(term.before && before ? *before : board, term.cell, field);
      if (!numbers) return numbers.error();
      if (numbers->size() != 1)
        return wrong(
            field, {"a computed number needs one cell of ", term.cell.tensor, "; give its row and column."});
      value = double{numbers->front()};
    }
    if (term.sign == '+') out += value;
    if (term.sign == '-') out -= value;
    if (term.sign == '*') out *= value;
    if (term.sign == '/') out /= value;
  }
  if (std::isnan(out) || (std::isinf(out) && run.terms.size() > 1))
    return wrong(field, {"the computed number is none; divide by something else."});
  return out;
}

std::string shownNumber(double value, int decimals) { return formatNumber(value, decimals); }

std::string nameOf(const Cells& cells, const State& state) {
  const auto id = attention::tensorNamed(cells.tensor);
  const char* symbol = id ? attention::symbol(*id, state.score) : nullptr;
  std::string out = symbol ? symbol : cells.tensor;
  const auto index = [&](std::size_t axis) { return axis < cells.at.size() ? cells.at[axis] : Cells::kAny; };
  const int row = index(1), col = index(2);
  if (row < 0 && col < 0) return out;
  const bool isVector =
      id && (*id == TensorId::q || *id == TensorId::k || *id == TensorId::v || *id == TensorId::x);
  if (isVector && row >= 0 && col < 0) {
    out[0] = static_cast<char>(out[0] - 'A' + 'a');
    return out + subscript(row + 1);
  }
  const attention::Rows rows = id ? attention::rowsOf(*id) : attention::Rows::other;
  std::string where =
      row < 0 ? ""
      : rows == attention::Rows::other
          ? std::to_string(row + 1)
          : tokenAt(state, rows == attention::Rows::keys ? keyLabels(state) : state.labels, row);
  if (col >= 0 && row < 0) where = joined({"column ", col + 1});
  else if (col >= 0)
    where += ", " + (id && attention::isOfPairs(*id) ? tokenAt(state, keyLabels(state), col)
                                                     : std::to_string(col + 1));
  return out + "[" + where + "]";
}

Result<std::vector<Edit>> editsOf(const State& state, const Move& move) {
  std::vector<Edit> edits;
  if (move.what == Move::What::option) edits.push_back(SetOption{move.option, move.value});
  if (move.what == Move::What::mask)
    edits.push_back(
        PaintCells{move.cells.at[0], move.cells.at[1], 1, 1, {static_cast<std::uint8_t>(!move.visible)}});
  if (move.what == Move::What::cells) {
    Result<std::vector<Edit>> cells = editCells(state, move);
    if (!cells) return at(move, cells.error());
    edits = std::move(*cells);
  }
  for (const Edit& edit : edits)
    if (Result<void> ok = check(state, edit); !ok) return at(move, ok.error());
  return edits;
}

Result<void> play(const std::vector<Move>& moves, State& state) {
  for (const Move& move : moves) {
    const Result<std::vector<Edit>> edits = editsOf(state, move);
    if (!edits) return edits.error();
    for (const Edit& edit : *edits) apply(state, edit);
    if (std::int64_t{state.heads} * state.tokens * state.keyTokens > kMaxPairs)
      return wrong(move.field, {state.heads, " heads of ", state.tokens, " × ", state.keyTokens,
                                " scores are too many for a lesson; use at most ", kMaxPairs, " in all."});
  }
  return {};
}

int editsBetween(const State& a, const State& b) {
  int count = 0;
  for (const Option& o : options()) {
    const bool isOwn = o.stored != Stored::never || o.id == OptionId::pattern;
    if (o.undoable && isOwn && get(a, o.id) != get(b, o.id) && !follows(a, b, o.id)) ++count;
  }
  for (const TensorId id : inputIds()) {
    const Tensor &mine = *input(a, id), &other = *input(b, id);
    const bool isSameShape = mine.sameShape(other);
    if (isEditable(a, id) && isEditable(b, id) && isSameShape) count += differing(mine, other);
  }
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    if (a.parameters[id] == b.parameters[id]) continue;
    count += differing(parameter(a, id), parameter(b, id));
  }
  if (a.painted == b.painted || a.tokens != b.tokens || a.keyTokens != b.keyTokens) return count;
  for (int r = 0; r < a.tokens; ++r)
    for (int c = 0; c < a.keyTokens; ++c) {
      const auto blocked = [&](const State& s) {
        return !s.painted.empty() &&
               s.painted.blocked[static_cast<std::size_t>(r) * static_cast<std::size_t>(s.keyTokens) +
                                 static_cast<std::size_t>(c)] != 0;
      };
      count += blocked(a) != blocked(b);
    }
  return count;
}

namespace {

/// Applies what a step does before it is shown.
Result<void> begin(const Step& step, State& state) {
  if (!step.preset.empty() || state.tokens == 0) {
    auto made = preset(step.preset.empty() ? presets().front().name : step.preset);
    if (!made) return made.error();
    state = std::move(*made);
  }
  return play(step.set, state);
}

Result<void> finish(const Step& step, State& state) {
  if (step.predict)
    if (Result<void> ok = play(step.predict->after, state); !ok) return ok.error();
  return step.attempt ? play(step.attempt->solution, state) : Result<void>{};
}

}  // namespace

Result<State> startOf(const Lesson& lesson, int step) {
  State state;
  int first = step;
  while (first > 0 && lesson.steps[static_cast<std::size_t>(first)].preset.empty()) --first;
  for (int i = first; i <= step; ++i) {
    if (Result<void> ok = begin(lesson.steps[static_cast<std::size_t>(i)], state); !ok) return ok.error();
    if (i == step) break;
    if (Result<void> ok = finish(lesson.steps[static_cast<std::size_t>(i)], state); !ok) return ok.error();
  }
  return state;
}

Result<State> tryOf(const Lesson& lesson, int step) {
  Result<State> state = startOf(lesson, step);
  const Step& of = lesson.steps[static_cast<std::size_t>(step)];
  if (state && of.predict)
    if (Result<void> ok = play(of.predict->after, *state); !ok) return ok.error();
  return state;
}

// ---- rehearsal

namespace {

bool isTraining(const Cells& cells) { return cells.tensor.starts_with("train:"); }

class Rehearsing {
 public:
  Rehearsing(const Lesson& lesson, bool onlyShown) : lesson_(lesson), onlyShown_(onlyShown) {}

  Rehearsal run() {
    State state;
    for (const Step& step : lesson_.steps) {
      ++number_;
      out_.steps.emplace_back();
      if (!begins(step, state) || !advance(step, state)) break;
    }
    return std::move(out_);
  }

 private:
  std::string field(std::string_view of) const { return joined({"step ", number_, ", ", of}); }
  bool refuse(const Error& error) {
    Error named = error;
    // Moves and goals know their field, including the card; texts and presets do not.
    out_.refused.push_back(std::move(named));
    return false;
  }
  void untrue(std::string_view of, Pieces pieces) {
    if (!onlyShown_) out_.untrue.push_back(wrong(field(of), pieces));
  }
  void say(Pieces pieces) {
    std::string& line = out_.steps.back();
    line += joined({line.empty() ? "" : "; ", joined(pieces)});
  }
  bool begins(const Step& step, State& state) {
    if (const Result<void> ok = begin(step, state); !ok) return refuse(ok.error());
    return true;
  }
  bool advance(const Step& step, State& state);
  bool shows(const Markup& text, std::string_view of, LessonBoard& board, LessonBoard* before);
  bool predicts(const Prediction& predict, LessonBoard& start, LessonBoard& after);
  bool tries(const Attempt& attempt, LessonBoard& start, LessonBoard& after);
  void allows(const Attempt& attempt);

  const Lesson& lesson_;
  bool onlyShown_;
  int number_ = 0;
  Rehearsal out_;
};

bool Rehearsing::shows(const Markup& text, std::string_view of, LessonBoard& board, LessonBoard* before) {
  for (const Run& run : text) {
    if (run.kind == Run::Kind::cells && !isTraining(run.cells)) {
      const Result<std::vector<float>> numbers = numbersOf(board, run.cells, field(of));
      if (!numbers) return refuse(numbers.error());
    }
    if (run.kind == Run::Kind::computed &&
        std::none_of(run.terms.begin(), run.terms.end(), [](const Term& t) { return isTraining(t.cell); })) {
      const Result<double> value = valueOf(run, board, before, field(of));
      if (!value) return refuse(value.error());
    }
  }
  return true;
}

bool Rehearsing::predicts(const Prediction& predict, LessonBoard& start, LessonBoard& after) {
  if (!shows(predict.question, "predict.question", start, nullptr)) return false;
  for (const Markup& choice : predict.choices)
    if (!shows(choice, "predict.choices", start, nullptr)) return false;
  for (const Markup& reason : predict.because)
    if (!shows(reason, "predict.because", after, &start)) return false;
  if (predict.claim.empty())
    untrue("predict.claim", {"it is missing; say what the board shows where the answer is right."});
  for (std::size_t i = 0; i < predict.claim.size(); ++i) {
    const bool isAnswer = static_cast<int>(i) == predict.answer;
    std::string seen;
    bool all = true, isChecked = true;
    for (const Goal& goal : predict.claim[i]) {
      if (isTraining(goal.cells)) {
        isChecked = false;
        continue;
      }
      const Result<Verdict> verdict = judge(goal, after, start.state(), &start);
      if (!verdict) return refuse(verdict.error());
      all = all && verdict->holds;
      seen += joined({seen.empty() ? "" : ", ", verdict->of, " is ", verdict->shown,
                      verdict->want.empty() ? "" : " (", verdict->want, verdict->want.empty() ? "" : ")"});
    }
    if (!isChecked) continue;
    if (isAnswer && !all) untrue("predict.answer", {"choice ", i, " is said to be right, but ", seen, "."});
    if (!isAnswer && all) untrue("predict.answer", {"choice ", i, " is said to be wrong, but ", seen, "."});
    if (isAnswer && all) say({"predict: ", seen});
  }
  return true;
}

void Rehearsing::allows(const Attempt& attempt) {
  if (attempt.allow.empty()) return;
  for (const Move& move : attempt.solution) {
    const std::string name = move.what == Move::What::option ? std::string(option(move.option).name)
                             : move.what == Move::What::mask ? "mask"
                                                             : move.cells.tensor;
    if (std::find(attempt.allow.begin(), attempt.allow.end(), name) == attempt.allow.end())
      untrue("try.allow", {"the solution changes ", name, ", which is not allowed; allow it."});
  }
}

bool Rehearsing::tries(const Attempt& attempt, LessonBoard& start, LessonBoard& after) {
  if (!shows(attempt.task, "try.task", after, &start) || !shows(attempt.hint, "try.hint", after, &start))
    return false;
  State solved = after.state();
  if (const Result<void> ok = play(attempt.solution, solved); !ok) return refuse(ok.error());
  if (attempt.solution.empty())
    untrue("try.solution", {"it is missing; give the edits that pass the check."});
  allows(attempt);
  if (std::any_of(attempt.check.begin(), attempt.check.end(),
                  [](const Goal& g) { return isTraining(g.cells); }))
    return true;
  const std::unique_ptr<LessonBoard> end = paperBoard(solved);
  bool before = true, atFirst = true;
  for (const Goal& goal : attempt.check) {
    const Result<Verdict> first = judge(goal, after, after.state()), last = judge(goal, *end, after.state()),
                          bare = judge(goal, start, start.state());
    for (const Result<Verdict>* verdict : {&first, &last, &bare})
      if (!*verdict) return refuse(verdict->error());
    before = before && first->holds, atFirst = atFirst && bare->holds;
    say({"try: ", first->of, " is ", first->shown, ", then ", last->shown, " (", last->want, ")"});
    if (!last->holds && !attempt.solution.empty())
      untrue("try.solution",
             {"after it ", last->of, " is ", last->shown, ", and should be ", last->want, "."});
  }
  if (before || atFirst) untrue("try.check", {"it holds at the start already; ask for more."});
  const int edits = editsBetween(after.state(), solved);
  if (lesson_.kind == LessonKind::puzzle && edits != lesson_.par)
    untrue("par", {"it is ", lesson_.par, ", but the solution takes ", edits,
                   " edits; write that, or a shorter solution."});
  if (lesson_.kind == LessonKind::puzzle) say({"par ", edits});
  return true;
}

bool Rehearsing::advance(const Step& step, State& state) {
  const std::unique_ptr<LessonBoard> start = paperBoard(state);
  if (step.select)
    if (const auto cell = numbersOf(*start, *step.select, field("select")); !cell)
      return refuse(cell.error());
  if (!shows(step.text, "text", *start, nullptr)) return false;
  if (step.predict)
    if (const Result<void> ok = play(step.predict->after, state); !ok) return refuse(ok.error());
  const std::unique_ptr<LessonBoard> after = paperBoard(state);
  if (step.predict && !predicts(*step.predict, *start, *after)) return false;
  if (step.attempt && !tries(*step.attempt, *start, *after)) return false;
  if (step.attempt)
    if (const Result<void> ok = play(step.attempt->solution, state); !ok) return refuse(ok.error());
  return true;
}

}  // namespace

Rehearsal rehearse(const Lesson& lesson, bool onlyShown) { return Rehearsing(lesson, onlyShown).run(); }

}  // namespace document
