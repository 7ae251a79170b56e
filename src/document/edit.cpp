#include "document/edit.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::Change;
using What = Change::What;
using Kind = Error::Kind;

// ---- checks
// -------------------------------------------------------------------------------------------------------

/// A block of `count` values at [row, col] of a matrix of rows x cols.
Check checkBlock(std::string_view field, int row, int col, int rows, int cols, int allRows, int allCols,
                 std::size_t count) {
  const bool fits = row >= 0 && col >= 0 && rows >= 1 && cols >= 1 && row < allRows && col < allCols &&
                    rows <= allRows - row && cols <= allCols - col;
  if (!fits)
    return refuse(
        Kind::range, field,
        {"a block of ", rows, " × ", cols, " at row ", row, ", column ", col, " is not inside; there are ",
         allRows, " rows and ", allCols, " columns, counted from 0."});
  if (count == static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) return {};
  return refuse(Kind::range, field,
                {count, " values were given for ", rows, " × ", cols, " cells; give one a cell."});
}

Check checkEditable(const State& state, TensorId id) {
  const std::string_view name = attention::name(id);
  if (input(state, id) == nullptr)
    return refuse(Kind::range, name, {"it is computed and cannot be set; change its inputs."});
  if (isEditable(state, id)) return {};
  if (state.mode == Mode::x)
    return refuse(Kind::range, name, {"it is computed from x here; set mode to \"qkv\" to change it."});
  return refuse(Kind::range, name, {"it is not in use here; set mode to \"x\" to change it."});
}

Check checkEdit(const State& state, const SetCells& edit) {
  if (Check bad = checkEditable(state, edit.tensor)) return bad;
  const Tensor& tensor = *input(state, edit.tensor);
  const std::string_view name = attention::name(edit.tensor);
  if (edit.head < 0 || edit.head >= tensor.heads())
    return refuse(Kind::range, name,
                  {"there is no head ", edit.head, "; use 0 to ", tensor.heads() - 1, "."});
  if (Check bad = checkBlock(name, edit.row, edit.col, edit.rows, edit.cols, tensor.rows(), tensor.cols(),
                             edit.values.size()))
    return bad;
  for (std::size_t i = 0; i < edit.values.size(); ++i) {
    const float value = edit.values[i];
    if (std::isfinite(value)) continue;
    const auto cols = static_cast<std::size_t>(edit.cols);
    const std::size_t row = static_cast<std::size_t>(edit.row) + i / cols,
                      col = static_cast<std::size_t>(edit.col) + i % cols;
    const std::string field = joined({name, "[", edit.head, "][", row, "][", col, "]"});
    return refuse(Kind::range, field,
                  {std::isnan(value) ? "NaN" : "infinity", " cannot be used; give a finite number."});
  }
  return {};
}

Check checkEdit(const State& state, const PaintCells& edit) {
  return checkBlock("mask", edit.row, edit.col, edit.rows, edit.cols, state.tokens, state.tokens,
                    edit.blocked.size());
}

Check checkEdit(const State& state, const SetOption& edit) { return check(state, edit.option, edit.value); }

Check checkEdit(const State& state, const SetLabels& edit) {
  const auto room = static_cast<std::size_t>(std::max(0, state.tokens - std::max(0, edit.first)));
  if (edit.first < 0 || edit.labels.empty() || edit.labels.size() > room)
    return refuse(Kind::range, "labels",
                  {edit.labels.size(), " labels from token ", edit.first, " on do not fit; there are ",
                   state.tokens, " tokens, counted from 0."});
  return checkLabels(edit.labels, edit.first);
}

Check checkEdit(const State& state, const InsertTokens& edit) {
  if (edit.at < 0 || edit.at > state.tokens || edit.count < 1)
    return refuse(Kind::range, "tokens",
                  {"cannot put ", edit.count, " before token ", edit.at,
                   "; use a count from 1 and a place from 0 to ", state.tokens, "."});
  return checkSizes("tokens", std::int64_t{state.tokens} + edit.count, state.heads, state.headDim,
                    state.modelDim);
}

Check checkEdit(const State& state, const RemoveTokens& edit) {
  if (edit.at >= 0 && edit.count >= 1 && edit.at < state.tokens && edit.count <= state.tokens - edit.at &&
      edit.count < state.tokens)
    return {};
  return refuse(Kind::range, "tokens",
                {"cannot remove ", edit.count, " from token ", edit.at, " on; there are ", state.tokens,
                 ", counted from 0, and one must stay."});
}

Check checkEdit(const State& state, const Randomize& edit) {
  return edit.tensor ? checkEditable(state, *edit.tensor) : Check{};
}

Check checkEdit(const State&, const Load& edit) {
  if (edit.state == nullptr) return refuse(Kind::type, "state", {"there is none to load; give one."});
  return check(*edit.state);
}

// ---- what they do
// -------------------------------------------------------------------------------------------------

Effect nothing() { return {Load{}, std::nullopt, false}; }

Change changeOf(What what) {
  Change change;
  change.what = what;
  return change;
}

Change changeOfTokens(What what, int at, int count) {
  Change change = changeOf(what);
  change.row = at, change.rows = count;
  return change;
}

/// Carries out a change of shape, or one of many numbers. Its way back is the state as it was.
template <class Act>
Effect replace(State& state, const Change& change, Act act) {
  auto before = std::make_shared<State>(state);
  act(state);
  if (sameBits(*before, state)) return nothing();
  return {Load{std::move(before)}, change};
}

Effect applyEdit(State& state, const SetCells& edit) {
  Tensor& tensor = *input(state, edit.tensor);
  const auto cols = static_cast<std::size_t>(edit.cols);
  SetCells inverse = edit;
  bool changed = false;
  for (int r = 0; r < edit.rows; ++r) {
    float* cells = tensor.row(edit.head, edit.row + r) + edit.col;
    const std::size_t at = static_cast<std::size_t>(r) * cols;
    changed = changed || std::memcmp(cells, edit.values.data() + at, cols * sizeof(float)) != 0;
    std::copy_n(cells, cols, inverse.values.data() + at);
    std::copy_n(edit.values.data() + at, cols, cells);
  }
  if (!changed) return nothing();
  return {std::move(inverse),
          Change{What::cells, edit.tensor, edit.head, edit.row, edit.col, edit.rows, edit.cols}};
}

Effect applyEdit(State& state, const PaintCells& edit) {
  PaintedMask& mask = state.painted;
  if (mask.empty()) {
    const auto tokens = static_cast<std::size_t>(state.tokens);
    mask = {state.tokens, state.tokens, std::vector<std::uint8_t>(tokens * tokens)};
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

Effect applyEdit(State& state, const SetLabels& edit) {
  SetLabels inverse = edit;
  for (std::size_t i = 0; i < edit.labels.size(); ++i) {
    std::string& label = state.labels[static_cast<std::size_t>(edit.first) + i];
    inverse.labels[i] = label;
    label = edit.labels[i];
  }
  if (inverse.labels == edit.labels) return nothing();
  return {std::move(inverse), std::nullopt};
}

Effect applyEdit(State& state, const InsertTokens& edit) {
  insertTokens(state, edit.at, edit.count);
  return {RemoveTokens{edit.at, edit.count}, changeOfTokens(What::tokensInserted, edit.at, edit.count)};
}

Effect applyEdit(State& state, const RemoveTokens& edit) {
  return replace(state, changeOfTokens(What::tokensRemoved, edit.at, edit.count),
                 [&](State& s) { removeTokens(s, edit.at, edit.count); });
}

Effect applyEdit(State& state, const Randomize& edit) {
  return replace(state, changeOf(What::everything), [&](State& s) {
    s.seed = edit.seed;
    for (const TensorId id : inputIds())
      if (edit.tensor ? id == *edit.tensor : isEditable(s, id)) fillSeeded(s, id);
  });
}

Effect applyEdit(State& state, const Load& edit) {
  return replace(state, changeOf(What::everything), [&](State& s) {
    s = *edit.state;
    tidyMask(s.painted);
  });
}

/// Tokens are added and removed at the end.
Effect setTokens(State& state, int tokens) {
  const int more = tokens - state.tokens;
  if (more == 0) return nothing();
  return more > 0 ? applyEdit(state, InsertTokens{state.tokens, more})
                  : applyEdit(state, RemoveTokens{tokens, -more});
}

Effect setAllLabels(State& state, std::vector<std::string> labels) {
  const int tokens = static_cast<int>(labels.size());
  if (tokens == state.tokens) return applyEdit(state, SetLabels{0, std::move(labels)});
  auto before = std::make_shared<State>(state);
  Effect effect = setTokens(state, tokens);
  state.labels = std::move(labels);
  effect.inverse = Load{std::move(before)};
  return effect;
}

std::optional<Change> changeOfOption(OptionId id) {
  switch (id) {
    case OptionId::causal:
      return changeOf(What::causal);
    case OptionId::scale:
      return changeOf(What::scale);
    case OptionId::temperature:
      return changeOf(What::temperature);
    case OptionId::mode:
      return changeOf(What::everything);
    default:
      return std::nullopt;
  }
}

Effect setPlain(State& state, const SetOption& edit) {
  SetOption inverse{edit.option, get(state, edit.option)};
  assign(state, edit.option, edit.value);
  if (get(state, edit.option) == inverse.value) return nothing();
  return {std::move(inverse), changeOfOption(edit.option)};
}

Effect applyEdit(State& state, const SetOption& edit) {
  const double* value = std::get_if<double>(&edit.value);
  const int number = edit.option != OptionId::seed && value != nullptr ? static_cast<int>(*value) : 0;
  const Change everything = changeOf(What::everything);
  switch (edit.option) {
    case OptionId::tokens:
      return setTokens(state, number);
    case OptionId::labels:
      return setAllLabels(state, labelsOf(edit.value));
    case OptionId::heads:
      return replace(state, everything, [&](State& s) { regroup(s, number); });
    case OptionId::d_k:
      return replace(state, everything, [&](State& s) { resize(s, number, s.modelDim); });
    case OptionId::model_dim:
      return replace(state, everything, [&](State& s) { resize(s, s.headDim, number); });
    default:
      return setPlain(state, edit);
  }
}

}  // namespace

bool isUndoable(const Edit& edit) {
  const SetOption* set = std::get_if<SetOption>(&edit);
  return set == nullptr || option(set->option).undoable;
}

Check check(const State& state, const Edit& edit) {
  return std::visit([&](const auto& e) { return checkEdit(state, e); }, edit);
}

Effect apply(State& state, const Edit& edit) {
  return std::visit([&](const auto& e) { return applyEdit(state, e); }, edit);
}

}  // namespace document
