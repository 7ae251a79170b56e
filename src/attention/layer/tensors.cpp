#include "attention/layer/tensors.h"

#include <algorithm>
#include <iterator>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

using Id = TensorId;

// --- conditions

bool always(const Spec&, const Inputs&) { return true; }
bool never(const Spec&, const Inputs&) { return false; }
bool isProjected(const Spec&, const Inputs& in) { return in.projected(); }
bool hasOutputWeights(const Spec&, const Inputs& in) { return in.wO != nullptr; }
bool hasNoOutputWeights(const Spec&, const Inputs& in) { return in.wO == nullptr; }
template <Id kId>
bool isTaken(const Spec& spec, const Inputs&) {
  return takes(spec.score, kId);
}
bool isSinusoidal(const Spec& spec, const Inputs&) { return spec.position == Position::sinusoidal; }
bool isCrossSinusoidal(const Spec& spec, const Inputs& in) { return isSinusoidal(spec, in) && in.xKv; }
bool isRotated(const Spec& spec, const Inputs&) { return isRotary(spec); }
bool hasPositions(const Spec& spec, const Inputs& in) { return isRotary(spec) || isSinusoidal(spec, in); }
bool isCapped(const Spec& spec, const Inputs&) { return isSoftcapped(spec); }
bool hasSoftmax(const Spec& spec, const Inputs&) { return isSoftmax(spec); }
bool hasSinkOfRow(const Spec& spec, const Inputs&) { return hasSink(spec); }
/// For normalisers other than softmax: does a weight depend only on its own score, and not on the whole row?
bool isByCell(const Spec& spec, const Inputs&) { return normalizerOf(spec).isByCell; }
bool isByRow(const Spec& spec, const Inputs&) { return !isSoftmax(spec) && !normalizerOf(spec).isByCell; }

// --- sources

constexpr Source cell(Id from, Condition when = nullptr) {
  return {from, Via::head, Via::row, Via::column, when};
}
constexpr Source row(Id from, Condition when = nullptr) {
  return {from, Via::head, Via::row, Via::all, when};
}
constexpr Source otherwise(Source source) { return source.otherwise = true, source; }
/// The row of x (or of what replaces it), and the column of the projection.
constexpr Source rowOfAll(Id from) { return {from, Via::all, Via::row, Via::all}; }
constexpr Source projection(Id from) { return {from, Via::all, Via::all, Via::packedColumn, isProjected}; }
constexpr Source matrix(Id from) { return {from, Via::head, Via::all, Via::all}; }

constexpr Source kPositioned[] = {{Id::x, Via::all, Via::row, Via::column},
                                  {Id::positions, Via::all, Via::position, Via::column}};
constexpr Source kKvPositioned[] = {{Id::x_kv, Via::all, Via::row, Via::column},
                                    {Id::positions, Via::all, Via::row, Via::column}};
constexpr Source kQueries[] = {rowOfAll(Id::x_positioned), otherwise(rowOfAll(Id::x)), projection(Id::w_q),
                               projection(Id::b_q)};
constexpr Source kKeys[] = {
    rowOfAll(Id::x_kv_positioned), otherwise(rowOfAll(Id::x_kv)), otherwise(rowOfAll(Id::x_positioned)),
    otherwise(rowOfAll(Id::x)),    projection(Id::w_k),           projection(Id::b_k)};
constexpr Source kValues[] = {rowOfAll(Id::x_v),
                              otherwise(rowOfAll(Id::x_kv_positioned)),
                              otherwise(rowOfAll(Id::x_kv)),
                              otherwise(rowOfAll(Id::x_positioned)),
                              otherwise(rowOfAll(Id::x)),
                              projection(Id::w_v),
                              projection(Id::b_v)};
constexpr Source kRotatedQueries[] = {{Id::q, Via::head, Via::row, Via::pair},
                                      {Id::positions, Via::all, Via::position, Via::pairIndex}};
constexpr Source kRotatedKeys[] = {{Id::k, Via::head, Via::row, Via::pair},
                                   {Id::positions, Via::all, Via::row, Via::pairIndex}};
constexpr Source kRaw[] = {row(Id::q_rotated),
                           otherwise(row(Id::q)),
                           {Id::k_rotated, Via::keyHead, Via::column, Via::all},
                           otherwise({Id::k, Via::keyHead, Via::column, Via::all}),
                           matrix(Id::w_a),
                           matrix(Id::u_a),
                           matrix(Id::v_a)};
constexpr Source kStep[] = {cell(kStepBefore)};
constexpr Source kBiased[] = {cell(kStepBefore), {Id::bias, Via::sharedHead, Via::row, Via::column}};
constexpr Source kRowMax[] = {row(Id::masked), matrix(Id::sink)};
constexpr Source kExponentials[] = {cell(Id::masked), row(Id::row_max)};
constexpr Source kRowSum[] = {row(Id::exponentials), matrix(Id::sink), row(Id::row_max, hasSinkOfRow)};
constexpr Source kWeights[] = {cell(Id::exponentials), row(Id::row_sum), cell(Id::masked, isByCell),
                               row(Id::masked, isByRow)};
constexpr Source kHeadOutput[] = {row(Id::weights), {Id::v, Via::keyHead, Via::keysSeen, Via::column}};
constexpr Source kConcat[] = {{Id::head_output, Via::headOfColumn, Via::row, Via::columnOfHead}};
constexpr Source kOutput[] = {row(Id::concat, hasOutputWeights),
                              cell(Id::concat, hasNoOutputWeights),
                              {Id::w_o, Via::all, Via::all, Via::column},
                              {Id::b_o, Via::all, Via::all, Via::column}};

// --- the table

/// A tensor that is not part of the layer: it is computed elsewhere, and not shown on the board.
constexpr TensorRow around(Id id, std::string_view name, const char* symbol = nullptr,
                           Size rows = Size::other, Size columns = Size::other) {
  return {id, name, symbol, Size::one, rows, columns, nullptr, never, {}};
}

constexpr std::span<const Source> kInput;  ///< an input is computed from nothing

constexpr TensorRow kTable[] = {
    {Id::x, "x", "X", Size::one, Size::queries, Size::model, &Inputs::x, nullptr, kInput, Pairs::all,
     Hue::neutral, BoardPlace::own, "X", "the words as numbers"},
    {Id::w_q, "w_q", "W_Q", Size::one, Size::model, Size::queryColumns, &Inputs::wQ, nullptr, kInput,
     Pairs::all, Hue::query, BoardPlace::own, "W_Q", "makes the queries"},
    {Id::w_k, "w_k", "W_K", Size::one, Size::model, Size::keyColumns, &Inputs::wK, nullptr, kInput,
     Pairs::all, Hue::key, BoardPlace::own, "W_K", "makes the keys"},
    {Id::w_v, "w_v", "W_V", Size::one, Size::model, Size::valueColumns, &Inputs::wV, nullptr, kInput,
     Pairs::all, Hue::value, BoardPlace::own, "W_V", "makes the values"},
    {Id::w_o, "w_o", "W_O", Size::one, Size::concatColumns, Size::outputColumns, &Inputs::wO, nullptr, kInput,
     Pairs::all, Hue::neutral, BoardPlace::own, "W_O", "mixes the heads"},
    {Id::q, "q", "Q", Size::heads, Size::queries, Size::queryDim, &Inputs::q, always, kQueries, Pairs::all,
     Hue::query, BoardPlace::own, "Q", "what each word asks"},
    {Id::k, "k", "K", Size::keyHeads, Size::keys, Size::headDim, &Inputs::k, always, kKeys, Pairs::all,
     Hue::key, BoardPlace::own, "K", "what each word offers"},
    {Id::v, "v", "V", Size::keyHeads, Size::keys, Size::valueDim, &Inputs::v, always, kValues, Pairs::all,
     Hue::value, BoardPlace::own, "V", "what each word says"},
    {Id::x_kv, "x_kv", "X_KV", Size::one, Size::keys, Size::model, &Inputs::xKv, nullptr, kInput, Pairs::all,
     Hue::neutral, BoardPlace::below, "X of the keys", "K and V are made of it"},
    {Id::w_a, "w_a", "W_a", Size::heads, Size::scoreUnits, Size::scoreColumns, &Inputs::wA, isTaken<Id::w_a>,
     kInput, Pairs::all, Hue::query, BoardPlace::below, "W_a", "what turns the query"},
    {Id::u_a, "u_a", "U_a", Size::heads, Size::scoreUnits, Size::headDim, &Inputs::uA, isTaken<Id::u_a>,
     kInput, Pairs::all, Hue::key, BoardPlace::below, "U_a", "what turns the key"},
    {Id::v_a, "v_a", "v_a", Size::heads, Size::one, Size::scoreUnits, &Inputs::vA, isTaken<Id::v_a>, kInput,
     Pairs::all, Hue::neutral, BoardPlace::below, "v_a", "how much each column counts"},
    {Id::bias, "bias", "bias", Size::biasHeads, Size::queries, Size::keys, &Inputs::bias, nullptr, kInput,
     Pairs::all, Hue::neutral, BoardPlace::below, "Bias", "added to the scores; −∞ masks"},
    {Id::b_q, "b_q", "b_Q", Size::one, Size::one, Size::queryColumns, &Inputs::bQ, nullptr, kInput,
     Pairs::all, Hue::query, BoardPlace::below, "b_Q", "added to X·W_Q"},
    {Id::b_k, "b_k", "b_K", Size::one, Size::one, Size::keyColumns, &Inputs::bK, nullptr, kInput, Pairs::all,
     Hue::key, BoardPlace::below, "b_K", "added to X·W_K"},
    {Id::b_v, "b_v", "b_V", Size::one, Size::one, Size::valueColumns, &Inputs::bV, nullptr, kInput,
     Pairs::all, Hue::value, BoardPlace::below, "b_V", "added to X·W_V"},
    {Id::b_o, "b_o", "b_O", Size::one, Size::one, Size::outputColumns, &Inputs::bO, nullptr, kInput,
     Pairs::all, Hue::neutral, BoardPlace::below, "b_O", "added to the output"},
    {Id::x_v, "x_v", "X_V", Size::one, Size::keys, Size::model, &Inputs::xV, nullptr, kInput, Pairs::all,
     Hue::value, BoardPlace::below, "X of the values", "V is made of it"},
    {Id::sink, "sink", "sink", Size::heads, Size::one, Size::one, &Inputs::sink, hasSinkOfRow, kInput,
     Pairs::all, Hue::weight, BoardPlace::below, "Sink", "one more score in the sum of each row"},
    {Id::positions, "positions", "P", Size::one, Size::positions, Size::waves, nullptr, hasPositions, kInput,
     Pairs::all, Hue::neutral, BoardPlace::below, "Positions", "one row per position"},
    {Id::x_positioned, "x_positioned", "X + P", Size::one, Size::queries, Size::model, nullptr, isSinusoidal,
     kPositioned, Pairs::all, Hue::neutral, BoardPlace::below, "X + positions", ""},
    {Id::x_kv_positioned, "x_kv_positioned", "X_KV + P", Size::one, Size::keys, Size::model, nullptr,
     isCrossSinusoidal, kKvPositioned, Pairs::all, Hue::neutral, BoardPlace::below,
     "X of the keys + positions", ""},
    {Id::q_rotated, "q_rotated", "Q rotated", Size::heads, Size::queries, Size::headDim, nullptr, isRotated,
     kRotatedQueries, Pairs::all, Hue::query, BoardPlace::below, "Q, rotated",
     "pairs of columns, by position"},
    {Id::k_rotated, "k_rotated", "K rotated", Size::keyHeads, Size::keys, Size::headDim, nullptr, isRotated,
     kRotatedKeys, Pairs::all, Hue::key, BoardPlace::below, "K, rotated", "pairs of columns, by position"},
    {Id::raw, "raw", "q·k", Size::heads, Size::queries, Size::keys, nullptr, always, kRaw},
    {Id::scores, "scores", "S", Size::heads, Size::queries, Size::keys, nullptr, always, kStep, Pairs::all,
     Hue::neutral, BoardPlace::own, "S", "how well they match"},
    {Id::softcapped,
     "softcapped",
     "S capped",
     Size::heads,
     Size::queries,
     Size::keys,
     nullptr,
     isCapped,
     kStep,
     Pairs::all,
     Hue::neutral,
     BoardPlace::below,
     "Capped scores",
     "c·tanh(s / c)",
     {makeSoftcapped, slopeOfSoftcap, "soft cap", "{p} × tanh({s} ÷ {p})", &Spec::softcap}},
    {Id::biased,
     "biased",
     "S biased",
     Size::heads,
     Size::queries,
     Size::keys,
     nullptr,
     isBiased,
     kBiased,
     Pairs::all,
     Hue::neutral,
     BoardPlace::below,
     "Scores + bias",
     "what the mask gets",
     {makeBiased}},
    {Id::masked, "masked", "S masked", Size::heads, Size::queries, Size::keys, nullptr, always, kStep,
     Pairs::scored},
    {Id::exponentials, "exponentials", "E", Size::heads, Size::queries, Size::keys, nullptr, hasSoftmax,
     kExponentials, Pairs::scored},
    {Id::row_max, "row_max", "max", Size::heads, Size::queries, Size::one, nullptr, hasSoftmax, kRowMax},
    {Id::row_sum, "row_sum", "Σ", Size::heads, Size::queries, Size::one, nullptr, hasSoftmax, kRowSum},
    {Id::weights, "weights", "W", Size::heads, Size::queries, Size::keys, nullptr, always, kWeights,
     Pairs::seen, Hue::weight, BoardPlace::own, "W", "how much each word looks at each"},
    {Id::head_output, "head_output", "O", Size::heads, Size::queries, Size::valueDim, nullptr, always,
     kHeadOutput, Pairs::all, Hue::neutral, BoardPlace::own, "O", "what each word becomes"},
    {Id::concat, "concat", "concat", Size::one, Size::queries, Size::concatColumns, nullptr, always, kConcat},
    {Id::output, "output", "output", Size::one, Size::queries, Size::outputColumns, nullptr, always, kOutput,
     Pairs::all, Hue::neutral, BoardPlace::own},

    around(Id::block_attention, "block:attention", "attention", Size::queries, Size::width),
    around(Id::block_dropout_1, "block:dropout_1", "dropout_1", Size::queries, Size::width),
    around(Id::block_residual_1, "block:residual_1", "residual_1", Size::queries, Size::width),
    around(Id::block_norm_1, "block:norm_1", "norm_1", Size::queries, Size::width),
    around(Id::block_hidden_raw, "block:hidden_raw", "hidden_raw", Size::queries, Size::hidden),
    around(Id::block_hidden, "block:hidden", "hidden", Size::queries, Size::hidden),
    around(Id::block_feed_forward, "block:feed_forward", "feed_forward", Size::queries, Size::width),
    around(Id::block_dropout_2, "block:dropout_2", "dropout_2", Size::queries, Size::width),
    around(Id::block_residual_2, "block:residual_2", "residual_2", Size::queries, Size::width),
    around(Id::block_norm_2, "block:norm_2", "norm_2", Size::queries, Size::width),
    around(Id::gamma_1, "gamma_1", nullptr, Size::one, Size::width),
    around(Id::delta_1, "delta_1", nullptr, Size::one, Size::width),
    around(Id::w_1, "w_1", nullptr, Size::width, Size::hidden),
    around(Id::b_1, "b_1", nullptr, Size::one, Size::hidden),
    around(Id::w_2, "w_2", nullptr, Size::hidden, Size::width),
    around(Id::b_2, "b_2", nullptr, Size::one, Size::width),
    around(Id::gamma_2, "gamma_2", nullptr, Size::one, Size::width),
    around(Id::delta_2, "delta_2", nullptr, Size::one, Size::width),
    around(Id::token_w, "token_w", nullptr, Size::width, Size::units),
    around(Id::token_b, "token_b", nullptr, Size::one, Size::units),
    around(Id::token_query, "token_query", nullptr, Size::one, Size::units),
    around(Id::segment_w, "segment_w", nullptr, Size::width, Size::units),
    around(Id::segment_b, "segment_b", nullptr, Size::one, Size::units),
    around(Id::segment_query, "segment_query", nullptr, Size::one, Size::units),
    around(Id::class_w, "class_w", nullptr, Size::width, Size::classes),
    around(Id::class_b, "class_b", nullptr, Size::one, Size::classes),
    around(Id::memory_w, "memory_w", nullptr, Size::inputWidth, Size::cellColumns),
    around(Id::memory_u, "memory_u", nullptr, Size::cellUnits, Size::cellColumns),
    around(Id::memory_b, "memory_b", nullptr, Size::one, Size::cellColumns),
    around(Id::memory_w_a, "memory_w_a", nullptr, Size::cellUnits, Size::cellUnits),
    around(Id::memory_u_a, "memory_u_a", nullptr, Size::cellUnits, Size::cellUnits),
    around(Id::memory_v_a, "memory_v_a", nullptr, Size::one, Size::cellUnits),
    around(Id::decoder_u, "decoder_u", nullptr, Size::cellUnits, Size::cellUnits),
    around(Id::decoder_c, "decoder_c", nullptr, Size::cellUnits, Size::cellUnits),
    around(Id::token_weights, "token_weights", "a", Size::queries, Size::one),
    around(Id::segment_weights, "segment_weights", "a", Size::segments, Size::one),
    around(Id::class_scores, "class_scores", nullptr, Size::one, Size::classes),
    around(Id::class_probabilities, "class_probabilities", "p", Size::one, Size::classes),
    around(Id::spread_table, "spread:table"),
    around(Id::spread_curve, "spread:curve"),
    around(Id::spread_counts, "spread:counts"),
    around(Id::weights_fixed, "weights:fixed"),
    around(Id::weights_following, "weights:following"),
    around(Id::weights_connected, "weights:connected"),
    around(Id::weights_attended, "weights:attended"),
    around(Id::reach_curve, "reach:curve"),
    around(Id::drop_mask_1, "block:drop_mask_1", nullptr, Size::queries, Size::width),
    around(Id::drop_mask_2, "block:drop_mask_2", nullptr, Size::queries, Size::width),
    around(Id::spread_saturation, "spread:saturation"),
    around(Id::memory_states, "memory:states", nullptr, Size::queries, Size::cellUnits),
    around(Id::memory_gates, "memory:gates", nullptr, Size::queries, Size::cellColumns),
    around(Id::memory_cells, "memory:cells", nullptr, Size::queries, Size::cellUnits),
    around(Id::memory_weights, "memory:weights", nullptr, Size::queries, Size::one),
    around(Id::memory_contexts, "memory:contexts"),
    around(Id::memory_gradients, "memory:gradients"),
    around(Id::decoder_weights, "decoder:weights", "a", Size::written, Size::queries),
    around(Id::decoder_contexts, "decoder:contexts", nullptr, Size::written, Size::cellUnits),
    around(Id::decoder_states, "decoder:states", nullptr, Size::written, Size::cellUnits),
    around(Id::cost_table, "cost:table"),
    around(Id::cost_curve, "cost:curve"),
    around(Id::reach_gradients, "reach:gradients"),
    around(Id::present_k, "present_k", nullptr, Size::keys, Size::headDim),
    around(Id::present_v, "present_v", nullptr, Size::keys, Size::valueDim),
};

constexpr bool isInOrder() {
  int i = 0;
  for (const TensorRow& row : kTable)
    if (static_cast<int>(row.id) != i++) return false;
  return i == static_cast<int>(Id::present_v) + 1;
}
static_assert(isInOrder(), "the rows are those of TensorId, in its order");

}  // namespace

const TensorRow& tensorRow(TensorId id) { return kTable[static_cast<std::size_t>(id)]; }

int sizeOf(Size size, const Spec& spec, const Inputs& in) {
  switch (size) {
    case Size::one: return 1;
    case Size::heads: return spec.heads;
    case Size::keyHeads: return spec.kvHeads;
    case Size::biasHeads: return in.bias ? in.bias->heads() : 0;
    case Size::queries: return spec.queryCount;
    case Size::keys: return spec.keyCount;
    case Size::positions: return std::max(spec.queryCount + firstQueryPosition(spec, in), spec.keyCount);
    case Size::headDim: return spec.headDim;
    case Size::queryDim: return queryWidth(spec);
    case Size::scoreColumns: return takes(spec.score, Id::u_a) ? queryWidth(spec) : spec.headDim;
    case Size::scoreUnits: return in.wA ? in.wA->rows() : spec.headDim;
    case Size::valueDim: return spec.valueDim;
    case Size::model: return in.x ? in.x->cols() : 0;
    case Size::waves: return isRotary(spec) ? rotatedColumns(spec) / 2 : sizeOf(Size::model, spec, in);
    case Size::queryColumns: return spec.heads * queryWidth(spec);
    case Size::keyColumns: return spec.kvHeads * spec.headDim;
    case Size::valueColumns: return spec.kvHeads * spec.valueDim;
    case Size::concatColumns: return spec.heads * spec.valueDim;
    case Size::outputColumns: return in.wO ? in.wO->cols() : spec.heads * spec.valueDim;
    case Size::width:
    case Size::hidden:
    case Size::units:
    case Size::segments:
    case Size::inputWidth:
    case Size::cellUnits:
    case Size::cellColumns:
    case Size::classes:
    case Size::written:
    case Size::other: break;
  }
  return 0;
}

bool exists(TensorId id, const Spec& spec, const Inputs& inputs) {
  const TensorRow& row = tensorRow(id);
  return row.exists ? row.exists(spec, inputs) : inputs.*row.given != nullptr;
}

TensorId stepBefore(TensorId id, const Spec& spec, const Inputs& inputs) {
  std::optional<TensorId> before;
  forSources(id, spec, inputs, [&](const Source&, TensorId from) { before = before.value_or(from); });
  return before.value_or(id);
}

std::string_view name(TensorId id) { return tensorRow(id).name; }

std::optional<TensorId> tensorNamed(std::string_view wanted, TensorRange among) {
  for (int i = 0; i < among.size(); ++i)
    if (name(among[i]) == wanted) return among[i];
  return {};
}

const char* symbol(TensorId id, Score score) {
  if (id == TensorId::raw && !mechanismOf(score).isProduct) return "raw";
  return tensorRow(id).symbol;
}

Rows rowsOf(TensorId id) {
  const Size rows = tensorRow(id).rows;
  return rows == Size::queries ? Rows::queries : rows == Size::keys ? Rows::keys : Rows::other;
}

bool isOfPairs(TensorId id) {
  const TensorRow& row = tensorRow(id);
  return row.heads == Size::heads && row.rows == Size::queries && row.columns == Size::keys;
}

}  // namespace attention
