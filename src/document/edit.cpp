#include "document/edit.h"
#include "document/pin.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/sentence.h"
#include "document/resize.h"

namespace document {
namespace {

using attention::Change;
using What = Change::What;
using ErrorKind = Error::Kind;

// ---- checks

struct Block {
  int row, col, rows, cols;
};
/// Checks a block of `count` values of a matrix with allRows x allCols cells.
Result<void> checkBlock(std::string_view field, const Block& block, int allRows, int allCols,
                        std::size_t count) {
  const auto& [row, col, rows, cols] = block;
  const bool fits = row >= 0 && col >= 0 && rows >= 1 && cols >= 1 && row < allRows && col < allCols &&
                    rows <= allRows - row && cols <= allCols - col;
  if (!fits)
    return base::refuse(
        ErrorKind::range, field,
        {"a block of ", rows, " × ", cols, " at row ", row, ", column ", col, " is not inside; there are ",
         allRows, " rows and ", allCols, " columns, counted from 0."});
  if (count == static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) return {};
  return base::refuse(ErrorKind::range, field,
                      {count, " values were given for ", rows, " × ", cols, " cells; give one a cell."});
}

/// Checks the values of a block with `cols` columns at [row, col] of the matrix `field`.
Result<void> checkFinite(std::string_view field, int row, int col, int cols, const std::vector<float>& values,
                         TensorId id = TensorId::q) {
  const auto at = static_cast<int>(firstWrong(id, values));
  if (at < 0) return {};
  return refuseNumber(base::joined({field, "[", row + at / cols, "][", col + at % cols, "]"}),
                      values[static_cast<std::size_t>(at)]);
}

/// The option to set so that an input which is not in use becomes used.
std::string_view switchFor(const State& state, TensorId id) {
  switch (id) {
    case TensorId::w_a: return "score to \"general\" or \"additive\"";
    case TensorId::u_a:
    case TensorId::v_a: return "score to \"additive\"";
    case TensorId::sink: return state.softmaxSink ? "normalizer to \"softmax\"" : "softmax_sink to true";
    case TensorId::x_kv: return state.cross ? "mode to \"x\"" : "cross to true, and mode to \"x\",";
    case TensorId::b_q:
    case TensorId::b_k:
    case TensorId::b_v:
    case TensorId::b_o:
      if (id == TensorId::b_o && state.projectionBias && state.mode == Mode::x)
        return "output_projection to true";
      return state.projectionBias ? "mode to \"x\"" : "projection_bias to true, and mode to \"x\",";
    case TensorId::x_v:
      return state.separateValues ? "mode to \"x\"" : "separate_values to true, and mode to \"x\",";
    case TensorId::w_o:
      return state.outputProjection ? "mode to \"x\"" : "output_projection to true, and mode to \"x\",";
    default: return "mode to \"x\"";
  }
}

/// A sequence of tokens, as needed for checks and their sentences.
struct Sequence {
  std::string_view field, labelField;
  int tokens = 0;
};

Sequence sequence(const State& state, Side side) {
  if (state.cross && side == Side::keys) return {"key_tokens", "key_labels", state.keyTokens};
  return {"tokens", "labels", state.tokens};
}

Result<void> checkEdit(const State& state, const SetCells& edit) {
  if (auto ok = checkEditable(state, edit.tensor); !ok) return ok;
  const Tensor& tensor = *input(state, edit.tensor);
  const std::string_view name = attention::name(edit.tensor);
  if (edit.head < 0 || edit.head >= tensor.heads())
    return base::refuse(ErrorKind::range, name,
                        {"there is no head ", edit.head, "; use 0 to ", tensor.heads() - 1, "."});
  if (auto ok = checkBlock(name, {edit.row, edit.col, edit.rows, edit.cols}, tensor.rows(), tensor.cols(),
                           edit.values.size());
      !ok)
    return ok;
  return checkFinite(base::joined({name, "[", edit.head, "]"}), edit.row, edit.col, edit.cols, edit.values,
                     edit.tensor);
}

Result<void> checkEdit(const State& state, const SetParameter& edit) {
  const std::string_view field = name(edit.parameter);
  const ParameterShape shape = shapeOf(state, edit.parameter);
  if (auto ok = checkParameterSize(state, edit.parameter); !ok) return ok;
  if (auto ok = checkBlock(field, {edit.row, edit.col, edit.rows, edit.cols}, shape.rows, shape.cols,
                           edit.values.size());
      !ok)
    return ok;
  return checkFinite(field, edit.row, edit.col, edit.cols, edit.values);
}

/// A painted mask has a byte for each pair.
Result<void> checkPainted(std::string_view field, const Settings& s) {
  if (std::int64_t{s.tokens} * s.keyTokens <= attention::Limits::painted) return {};
  return base::refuse(
      ErrorKind::memory, field,
      {s.tokens, " × ", s.keyTokens, " cells are too many to be painted one by one; at most ",
       attention::Limits::painted, " fit, so use fewer tokens, or causal, a window or a pattern."});
}

Result<void> checkEdit(const State& state, const PaintCells& edit) {
  if (auto ok = checkPainted("mask", state); !ok) return ok;
  return checkBlock("mask", {edit.row, edit.col, edit.rows, edit.cols}, state.tokens, state.keyTokens,
                    edit.blocked.size());
}

Result<void> checkEdit(const State& state, const SetOption& edit) {
  if (edit.option == OptionId::pin && edit.value == Value(true)) {
    if (const auto text = pinOf(state); !text) return text.error();
  }
  if (auto ok = check(state, edit.option, edit.value); !ok || state.painted.empty()) return ok;
  return checkPainted(option(edit.option).name, settingsAfter(state, edit.option, edit.value));
}

Result<void> checkEdit(const State& state, const SetLabels& edit) {
  const Sequence here = sequence(state, edit.side);
  const auto room = static_cast<std::size_t>(std::max(0, here.tokens - std::max(0, edit.first)));
  if (edit.first < 0 || edit.labels.empty() || edit.labels.size() > room)
    return base::refuse(ErrorKind::range, here.labelField,
                        {edit.labels.size(), " labels from token ", edit.first, " on do not fit; there are ",
                         here.tokens, " tokens, counted from 0."});
  return checkLabels(here.labelField, edit.labels, edit.first);
}

Result<void> checkEdit(const State& state, const InsertTokens& edit) {
  const Sequence here = sequence(state, edit.side);
  if (edit.at < 0 || edit.at > here.tokens || edit.count < 1)
    return base::refuse(ErrorKind::range, here.field,
                        {"cannot put ", edit.count, " before token ", edit.at,
                         "; use a count from 1 and a place from 0 to ", here.tokens, "."});
  return check(state, optionNamed(here.field)->id, static_cast<double>(here.tokens) + edit.count);
}

Result<void> checkEdit(const State& state, const RemoveTokens& edit) {
  const Sequence here = sequence(state, edit.side);
  if (edit.at >= 0 && edit.count >= 1 && edit.at < here.tokens && edit.count <= here.tokens - edit.at &&
      edit.count < here.tokens)
    return {};
  return base::refuse(ErrorKind::range, here.field,
                      {"cannot remove ", edit.count, " from token ", edit.at, " on; there are ", here.tokens,
                       ", counted from 0, and one must stay."});
}

Result<void> checkEdit(const State& state, const Randomize& edit) {
  return edit.tensor ? checkEditable(state, *edit.tensor) : Result<void>{};
}

Result<void> checkEdit(const State&, const Restore& edit) {
  if (edit.difference != nullptr) return {};
  return base::refuse(ErrorKind::type, "state", {"there is none to restore; give one."});
}

Result<void> checkEdit(const State&, const Load& edit) {
  if (edit.state == nullptr)
    return base::refuse(ErrorKind::type, "state", {"there is none to load; give one."});
  return check(*edit.state);
}

// ---- what they do

Effect nothing() { return {Load{}, std::nullopt, false}; }

Change changeOf(What what) {
  Change change;
  change.what = what;
  return change;
}

/// The inverse edit from `from` to `to`, where `way` is the change of shape that led from `to` to `from`.
Restore restore(const State& from, const State& to, const Reshape& way) {
  return {std::make_shared<Difference>(from, to, way.reversed())};
}

/// Applies a change of shape or of many numbers. The inverse stores what it removes.
template <class Act>
Effect replace(State& state, const Change& change, const Reshape& way, Act act) {
  const State before = shared(state);
  act(state);
  if (sameBits(before, state)) return nothing();
  return {restore(state, before, way), change};
}

/// The change of shape made by an edit with this inverse.
Reshape wayOf(const Edit& inverse) {
  if (const Restore* r = std::get_if<Restore>(&inverse)) return r->difference->way().reversed();
  if (const RemoveTokens* r = std::get_if<RemoveTokens>(&inverse))
    return {Reshape::Kind::insertTokens, r->side, r->at, r->count};
  return {};
}

/// Writes the values of an edit into a head of a tensor, and the previous ones into its inverse. Returns
/// whether any bit changed.
template <class Cells>
bool swapCells(Tensor& tensor, int head, const Cells& edit, Cells& inverse) {
  const auto cols = static_cast<std::size_t>(edit.cols);
  bool changed = false;
  for (int r = 0; r < edit.rows; ++r) {
    float* cells = tensor.row(head, edit.row + r) + edit.col;
    const std::size_t at = static_cast<std::size_t>(r) * cols;
    changed = changed || std::memcmp(cells, edit.values.data() + at, cols * sizeof(float)) != 0;
    std::copy_n(cells, cols, inverse.values.data() + at);
    std::copy_n(edit.values.data() + at, cols, cells);
  }
  return changed;
}

Effect applyEdit(State& state, const SetParameter& edit) {
  Tensor numbers = parameter(state, edit.parameter);
  SetParameter inverse = edit;
  if (!swapCells(numbers, 0, edit, inverse)) return nothing();
  setParameter(state, edit.parameter, std::move(numbers));
  return {std::move(inverse), std::nullopt};
}

Effect applyEdit(State& state, const SetCells& edit) {
  SetCells inverse = edit;
  if (!swapCells(*input(state, edit.tensor), edit.head, edit, inverse)) return nothing();
  return {std::move(inverse),
          Change{What::cells, edit.tensor, edit.head, edit.row, edit.col, edit.rows, edit.cols}};
}

Effect applyEdit(State& state, const PaintCells& edit) {
  PaintedMask& mask = state.painted;
  if (mask.empty()) {
    const auto cells = static_cast<std::size_t>(state.tokens) * static_cast<std::size_t>(state.keyTokens);
    mask = {state.tokens, state.keyTokens, std::vector<std::uint8_t>(cells)};
  }
  PaintCells inverse = edit;
  bool changed = false;
  for (std::size_t i = 0; i < edit.blocked.size(); ++i) {
    const std::size_t row = static_cast<std::size_t>(edit.row) + i / static_cast<std::size_t>(edit.cols);
    const std::size_t col = static_cast<std::size_t>(edit.col) + i % static_cast<std::size_t>(edit.cols);
    std::uint8_t& cell = mask.blocked[row * static_cast<std::size_t>(mask.cols) + col];
    inverse.blocked[i] = cell;
    cell = edit.blocked[i] != 0 ? 1 : 0;
    changed = changed || cell != inverse.blocked[i];
  }
  tidyMask(mask);
  if (!changed) return nothing();
  Change change{What::painted, TensorId::q, 0, edit.row, edit.col, edit.rows, edit.cols};
  return {std::move(inverse), change};
}

/// For a state whose rows are drawn from their words: new labels come with new rows.
Effect setWords(State& state, const SetLabels& edit) {
  const std::vector<std::string> before = sideLabels(state, edit.side);
  return replace(state, changeOf(What::everything), {}, [&](State& s) {
    std::copy(edit.labels.begin(), edit.labels.end(), sideLabels(s, edit.side).begin() + edit.first);
    drawChangedRows(s, edit.side, before);
  });
}

Effect applyEdit(State& state, const SetLabels& edit) {
  if (state.sameWord) return setWords(state, edit);
  SetLabels inverse = edit;
  for (std::size_t i = 0; i < edit.labels.size(); ++i) {
    std::string& label = sideLabels(state, edit.side)[static_cast<std::size_t>(edit.first) + i];
    inverse.labels[i] = label;
    label = edit.labels[i];
  }
  if (inverse.labels == edit.labels) return nothing();
  return {std::move(inverse), std::nullopt};
}

Effect applyEdit(State& state, const InsertTokens& edit) {
  insertTokens(state, edit.side, edit.at, edit.count);
  return {RemoveTokens{edit.at, edit.count, edit.side}, changeOf(What::everything)};
}

Effect applyEdit(State& state, const RemoveTokens& edit) {
  return replace(state, changeOf(What::everything),
                 {Reshape::Kind::removeTokens, edit.side, edit.at, edit.count},
                 [&](State& s) { removeTokens(s, edit.side, edit.at, edit.count); });
}

Effect applyEdit(State& state, const Randomize& edit) {
  return replace(state, changeOf(What::everything), {}, [&](State& s) {
    s.seed = edit.seed;
    for (const TensorId id : inputIds())
      if (edit.tensor ? id == *edit.tensor : isEditable(s, id) && id != TensorId::bias) fillSeeded(s, id);
  });
}

/// Without a copy of the state before, which may be large.
Effect applyEdit(State& state, const Load& edit) {
  const State before = std::exchange(state, shared(*edit.state));
  tidyMask(state.painted);
  if (sameBits(before, state)) return nothing();
  return {restore(state, before, {}), changeOf(What::everything)};
}

Effect applyEdit(State& state, const Restore& edit) {
  return replace(state, changeOf(What::everything), edit.difference->way(),
                 [&](State& s) { edit.difference->apply(s); });
}

/// Adds or removes tokens at the end.
Effect setTokens(State& state, Side side, int tokens) {
  const int before = sequence(state, side).tokens, more = tokens - before;
  if (more == 0) return nothing();
  return more > 0 ? applyEdit(state, InsertTokens{before, more, side})
                  : applyEdit(state, RemoveTokens{tokens, -more, side});
}

Effect setAllLabels(State& state, Side side, std::vector<std::string> labels) {
  const int tokens = static_cast<int>(labels.size());
  if (tokens == sequence(state, side).tokens) return applyEdit(state, SetLabels{0, std::move(labels), side});
  const State before = shared(state);
  const std::vector<std::string> had = sideLabels(state, side);
  Effect effect = setTokens(state, side, tokens);
  sideLabels(state, side) = std::move(labels);
  if (state.sameWord) drawChangedRows(state, side, had), effect.change = changeOf(What::everything);
  effect.inverse = restore(state, before, wayOf(effect.inverse));
  return effect;
}

/// What the engine must update; `wasDotProduct` is the state before the option was set.
std::optional<Change> changeOfOption(const State& state, OptionId id, bool wasDotProduct) {
  switch (option(id).invalidates) {
    case Invalidates::layer: return changeOf(What::everything);
    case Invalidates::mask: return changeOf(What::causal);
    case Invalidates::score:
      return changeOf(wasDotProduct && isDotProduct(state.score) ? What::scale : What::everything);
    case Invalidates::temperature: return changeOf(What::temperature);
    case Invalidates::surroundings:
    case Invalidates::experiment:
    case Invalidates::training:
    case Invalidates::nothing: return std::nullopt;  // not part of the layer
  }
  return std::nullopt;
}

/// The edit that restores the present value of the option.
SetOption wayBack(const State& state, OptionId id) {
  // Score and scale are stored as one: for a scaled score, its scale implies the score.
  if (id == OptionId::score || id == OptionId::scale)
    id = state.score == attention::Score::scaled ? OptionId::scale : OptionId::score;
  return {id, get(state, id)};
}

Effect setPlain(State& state, const SetOption& edit) {
  const Value before = get(state, edit.option);
  const bool wasDotProduct = isDotProduct(state.score);
  SetOption inverse = wayBack(state, edit.option);
  assign(state, edit.option, edit.value);
  if (get(state, edit.option) == before) return nothing();
  return {std::move(inverse), changeOfOption(state, edit.option, wasDotProduct)};
}

Effect turnPage(State& state, int item) {
  const int before = state.batchItem;
  if (item == before) return nothing();
  showItem(state, item);
  return {SetOption{OptionId::batch_item, static_cast<double>(before)}, changeOf(What::everything)};
}

Effect applyEdit(State& state, const SetOption& edit) {
  const auto number = [&] { return static_cast<int>(*std::get_if<double>(&edit.value)); };
  const auto replaced = [&](Reshape::Kind kind) {
    const Settings after = settingsAfter(state, edit.option, edit.value);
    const auto act = kind == Reshape::Kind::regroup ? regroup : resize;
    return replace(state, changeOf(What::everything), {.kind = kind}, [&](State& s) { act(s, after); });
  };
  switch (edit.option) {
    case OptionId::pin:
      if (!std::holds_alternative<bool>(edit.value)) return setPlain(state, edit);
      return setPlain(state, {OptionId::pin, edit.value == Value(true) ? *pinOf(state) : std::string()});
    case OptionId::tokens: return setTokens(state, Side::queries, number());
    case OptionId::key_tokens: return setTokens(state, Side::keys, number());
    case OptionId::labels: return setAllLabels(state, Side::queries, labelsOf(edit.value));
    case OptionId::key_labels: return setAllLabels(state, Side::keys, labelsOf(edit.value));
    case OptionId::heads: return replaced(Reshape::Kind::regroup);
    case OptionId::batch:
      return replace(state, changeOf(What::everything), {.kind = Reshape::Kind::batch},
                     [&](State& s) { resizeBatch(s, number()); });
    case OptionId::layer:
      if (!hasLayers(state)) return nothing();
      [[fallthrough]];
    case OptionId::batch_item: return turnPage(state, number());
    case OptionId::same_word:
      if (get(state, edit.option) == edit.value) return nothing();
      return replace(state, changeOf(What::everything), {}, [&](State& s) {
        assign(s, edit.option, edit.value);
        drawRows(s);
      });
    case OptionId::d_k:
    case OptionId::model_dim:
    case OptionId::kv_heads:
    case OptionId::d_v:
    case OptionId::cross:
    case OptionId::projection_bias:
    case OptionId::d_out:
    case OptionId::separate_values:
    case OptionId::softmax_sink:
    case OptionId::additive_dim:
    case OptionId::d_q:
    case OptionId::train_task:
    case OptionId::pattern: return replaced(Reshape::Kind::resize);
    case OptionId::score:
      if (const Settings after = settingsAfter(state, edit.option, edit.value);
          after.scoreWeights != state.scoreWeights || scoreUnits(after) != scoreUnits(state) ||
          !sameWidths(state))
        return replaced(Reshape::Kind::resize);
      [[fallthrough]];
    default: return setPlain(state, edit);
  }
}

/// The edited parameters that a change of an option discards, because their seed or shape changes.
std::vector<ParameterId> lostBy(const State& state, const Edit& edit) {
  std::vector<ParameterId> lost;
  const SetOption* set = std::get_if<SetOption>(&edit);
  if (set == nullptr || state.parameters == Parameters()) return lost;
  const Settings after = settingsAfter(state, set->option, set->value);
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    if (!state.parameters[id].empty() && !outlives(id, state, after)) lost.push_back(id);
  }
  return lost;
}

}  // namespace

bool isUndoable(const Edit& edit) {
  const SetOption* set = std::get_if<SetOption>(&edit);
  return set == nullptr || option(set->option).undoable;
}

std::size_t bytesOf(const Edit& edit) {
  std::size_t more = 0;
  if (const auto* cells = std::get_if<SetCells>(&edit)) more = cells->values.capacity() * sizeof(float);
  if (const auto* numbers = std::get_if<SetParameter>(&edit))
    more = numbers->values.capacity() * sizeof(float);
  if (const auto* paint = std::get_if<PaintCells>(&edit)) more = paint->blocked.capacity();
  if (const auto* names = std::get_if<SetLabels>(&edit)) more = bytesOf(names->labels);
  if (const auto* set = std::get_if<SetOption>(&edit)) {
    if (const auto* text = std::get_if<std::string>(&set->value)) more = text->capacity();
    if (const auto* words = std::get_if<std::vector<std::string>>(&set->value)) more = bytesOf(*words);
    if (const auto* numbers = std::get_if<std::vector<int>>(&set->value))
      more = numbers->capacity() * sizeof(int);
  }
  if (const auto* restore = std::get_if<Restore>(&edit)) more = restore->difference->bytes();
  if (const auto* load = std::get_if<Load>(&edit)) more = bytesOf(*load->state);
  return sizeof edit + more;
}

Result<void> checkEditable(const State& state, TensorId id) {
  const std::string_view name = attention::name(id);
  if (input(state, id) == nullptr)
    return base::refuse(ErrorKind::range, name, {"it is computed and cannot be set; change its inputs."});
  if (isEditable(state, id)) return {};
  if (id == TensorId::bias)
    return base::refuse(ErrorKind::range, name,
                        {"there is none here; open a file whose mask is of numbers."});
  if (id == TensorId::q || id == TensorId::k || id == TensorId::v)
    return base::refuse(ErrorKind::range, name,
                        {"it is computed from x here; set mode to \"qkv\" to change it."});
  return base::refuse(ErrorKind::range, name,
                      {"it is not in use here; set ", switchFor(state, id), " to change it."});
}

Result<void> check(const State& state, const Edit& edit) {
  return std::visit([&](const auto& e) { return checkEdit(state, e); }, edit);
}

Effect apply(State& state, const Edit& edit) {
  const std::vector<ParameterId> lost = lostBy(state, edit);
  const std::optional<State> before = lost.empty() ? std::nullopt : std::optional(shared(state));
  Effect effect = std::visit([&](const auto& e) { return applyEdit(state, e); }, edit);
  for (const ParameterId id : lost) state.parameters[id] = {};
  if (before) effect.inverse = restore(state, *before, wayOf(effect.inverse));
  return effect;
}

void applyForGood(State& state, const Edit& edit) {
  if (const auto* load = std::get_if<Load>(&edit)) state = shared(*load->state), tidyMask(state.painted);
  else if (const auto* restore = std::get_if<Restore>(&edit)) restore->difference->apply(state);
  else if (const auto* gone = std::get_if<RemoveTokens>(&edit))
    removeTokens(state, gone->side, gone->at, gone->count);
  else (void)apply(state, edit);
}

std::vector<SetOption> headsWithColumns(const Settings& settings, int heads) {
  const Settings& s = settings;
  const bool isPlain = s.mode == Mode::qkv && s.kvHeads == s.heads && s.valueDim == s.headDim &&
                       !s.scoreWeights && s.queryDim == 0 && !s.softmaxSink && s.biasKind != Bias::perHead &&
                       s.columnNames.empty();
  const int columns = heads * s.headDim;
  if (!isPlain || heads < 1 || heads > attention::Limits::heads || columns > attention::Limits::headDim)
    return {};
  Settings after = s;
  after.heads = after.kvHeads = heads;
  if (!checkSizes("heads", after) || !checkTogether("heads", after)) return {};
  return {{OptionId::heads, 1.0},
          {OptionId::d_k, static_cast<double>(columns)},
          {OptionId::heads, static_cast<double>(heads)}};
}

}  // namespace document
