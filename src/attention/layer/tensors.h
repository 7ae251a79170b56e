// The one table of all tensors: of the layer, the block around it, hierarchical attention and the
// experiments. It says for each tensor what it is called, its shape, what it is computed from, and how it is
// explained and shown. Names in scripts and files, lineage, shapes, colours and the layout of the board are
// derived from it: to add a step between the scale and the bias takes a row here, a member in trace.h, and a
// file in steps/.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attention/layer/spec.h"

namespace attention {

/// Every tensor that a person can refer to, in the order of the table.
enum class TensorId : std::uint8_t {
  x,
  w_q,
  w_k,
  w_v,
  w_o,  // inputs of a projected layer
  q,
  k,
  v,     // inputs, or projections of x
  x_kv,  // input: the other sequence of cross-attention
  w_a,
  u_a,
  v_a,   // inputs of general and additive scores
  bias,  // input: what is added to the scores; -inf masks
  b_q,
  b_k,
  b_v,
  b_o,        // inputs: what is added to Q, K, V and the output of a projected layer
  x_v,        // input: what values are projected from, where that differs from keys
  sink,       // input: a score of each head that takes part in the sum of every row alone
  positions,  // sinusoids, or the angles of rotary positions
  x_positioned,
  x_kv_positioned,  // x + positions, sinusoidal only
  q_rotated,
  k_rotated,     // rotary only
  raw,           // q·k, or what another kind of score computes for the pair
  scores,        // after the scale
  softcapped,    // after the soft cap
  biased,        // after the bias
  masked,        // masked cells are -inf
  exponentials,  // exp(masked / temperature - row_max)
  row_max,
  row_sum,  // of masked / temperature, of exponentials
  weights,
  head_output,  // weights · V
  concat,       // heads side by side
  output,       // concat · W_O, or concat where there is no W_O

  // The stages of a Transformer block.
  block_attention,
  block_dropout_1,
  block_residual_1,
  block_norm_1,
  block_hidden_raw,
  block_hidden,
  block_feed_forward,
  block_dropout_2,
  block_residual_2,
  block_norm_2,
  // The parameters of the block, and of the two levels of hierarchical attention.
  gamma_1,
  delta_1,
  w_1,
  b_1,
  w_2,
  b_2,
  gamma_2,
  delta_2,
  token_w,
  token_b,
  token_query,
  segment_w,
  segment_b,
  segment_query,
  class_w,
  class_b,  // of the classes of the whole document
  memory_w,
  memory_u,
  memory_b,
  memory_w_a,
  memory_u_a,
  memory_v_a,  // of the recurrent network, and of attention over its states
  decoder_u,
  decoder_c,  // of the recurrent decoder
  token_weights,
  segment_weights,
  class_scores,
  class_probabilities,  // of hierarchical attention
  // Experiments. The table of the spread of scores has two heads, for q·k and for q·k ÷ √d_k. Columns: d_k,
  // μ, σ, the mean of the scores, d·μ², their standard deviation, the predicted one, the mean of the largest
  // of 16 weights, and the entropy in bits.
  spread_table,
  spread_curve,   // the same columns, a row for every power of two up to 1024
  spread_counts,  // the histogram, [2, bins, 2]: the centre of a bin, and the number of scores in it
  weights_fixed,
  weights_following,
  weights_connected,
  weights_attended,  // the members of attention::Comparison
  reach_curve,       // [1, tokens, 4]: the members of attention::Reach
  drop_mask_1,
  drop_mask_2,  // Z of dropout_1 and dropout_2 of the block: 1 where a number is kept, else 0
  // Two heads as above; a row at spread_dim and one for every power of two. Columns: d_k, μ and σ of the
  // keys, median and mean over the queries of ‖∂w/∂s‖, and of ‖∂w/∂q‖.
  spread_saturation,
  // The recurrent network that reads the sentence: h_t; for an LSTM i, f, g and o side by side, and c_t; the
  // weights of attention over the states; the fixed vector and the context of attention;
  // attention::MemoryTrace::gradients.
  memory_states,
  memory_gates,
  memory_cells,
  memory_weights,
  memory_contexts,
  memory_gradients,
  // The decoder that attends anew for each word: a, c and s of attention::DecoderTrace.
  decoder_weights,
  decoder_contexts,
  decoder_states,
  // Cost of this layer and of the one compared with it. cost_table [1, 2, 8], columns: tokens, parameters,
  // multiply-adds, tanh, bytes of weights, of the cache and of the scores, sequential steps. cost_curve [2,
  // 7, 8]: the same at powers of ten up to a million tokens.
  cost_table,
  cost_curve,
  reach_gradients,  // [1, tokens, 4]: distance, and ∂/∂h_1 for the recurrent network, attention, and equal
                    // weights

  present_k,
  present_v,  // in files: past and new keys (values) together
};

/// Consecutive tensors of the table.
struct TensorRange {
  TensorId first, last;
  constexpr bool contains(TensorId id) const { return id >= first && id <= last; }
  constexpr int size() const { return static_cast<int>(last) - static_cast<int>(first) + 1; }
  constexpr TensorId operator[](int i) const { return static_cast<TensorId>(static_cast<int>(first) + i); }
};
inline constexpr TensorRange kLayerTensors{TensorId::x, TensorId::output};
inline constexpr TensorRange kBlockTensors{TensorId::block_attention, TensorId::block_norm_2};
inline constexpr TensorRange kParameterTensors{TensorId::gamma_1, TensorId::decoder_c};
inline constexpr TensorRange kDerivedTensors{
    TensorId::block_attention, TensorId::reach_gradients};  ///< of the block and the experiments
/// The number of tensors of the layer, which come first in the table.
inline constexpr int kTensorCount = kLayerTensors.size();

/// The size of an axis: a number of heads, rows or columns.
enum class Size : std::uint8_t {
  one,
  heads,
  keyHeads,
  biasHeads,
  queries,
  keys,
  positions,
  headDim,
  queryDim,
  scoreUnits,
  scoreColumns,
  valueDim,
  model,
  waves,  ///< scoreUnits, scoreColumns: rows and columns of W_a; waves: columns of positions
  queryColumns,
  keyColumns,
  valueColumns,  ///< of all heads side by side, in W_Q, W_K, W_V
  concatColumns,
  outputColumns,
  /// Of a token of the block, its hidden units, a level of hierarchical attention.
  width,
  hidden,
  units,
  segments,
  /// Of a recurrent network: its input, its state, all its gates side by side.
  inputWidth,
  cellUnits,
  cellColumns,
  classes,  ///< of a document
  written,  ///< words that a recurrent decoder writes
  other,    ///< known only when the tensor is computed
};
/// The size for this layer; 0 for sizes outside the layer.
int sizeOf(Size size, const Spec& spec, const Inputs& inputs);

/// Which heads, rows or columns of a source a cell is computed from, in terms of the cell's own head, row and
/// column.
enum class Via : std::uint8_t {
  all,
  head,
  row,
  column,      ///< the cell's own
  keyHead,     ///< the key head that the cell's query head reads
  sharedHead,  ///< the cell's head, or the single one that all heads share
  keysSeen,    ///< the keys that the cell's row can see
  position,    ///< the position of the cell's query
  pair,
  pairIndex,     ///< the two columns that are rotated together; the column of their angle in positions
  packedColumn,  ///< the cell's column in the matrix with all heads side by side
  /// The reverse: the head that a column of concat comes from, and its column there.
  headOfColumn,
  columnOfHead,
};

/// Does the layer have a certain step or input?
using Condition = bool (*)(const Spec&, const Inputs&);

/// A tensor that another is computed from directly.
struct Source {
  TensorId from;
  Via head, row, column;
  Condition when = nullptr;  ///< null: wherever the layer has both
  /// An alternative: applies only if the layer has none of the sources before it, back to the last that is
  /// not an alternative.
  bool otherwise = false;
};
/// As Source::from: the nearest preceding tensor of the table that the layer has.
inline constexpr TensorId kStepBefore = static_cast<TensorId>(0xff);

/// Which cells of [queries, keys] of a tensor hold computed numbers; the others hold 0 or -inf.
enum class Pairs : std::uint8_t {
  all,
  scored,  ///< those that the mask leaves visible, or all where the mask is applied after the normaliser
  seen,    ///< those that the mask leaves visible
};

/// The colour of a tensor's title and outline.
enum class Hue : std::uint8_t { neutral, query, key, value, weight };

/// Where the board shows a tensor: not at all, in a place of its own, or below the others in layers that have
/// it.
enum class BoardPlace : std::uint8_t { none, own, below };

struct Span;
template <class Numbers>
struct TraceOf;

/// What an optional step between the scale and the bias does with each score.
struct ScoreStep {
  /// Computes whole rows from those of the previous step.
  void (*make)(const Spec&, const Inputs&, int head, Span queries, TraceOf<Tensor>&) = nullptr;
  /// The derivative of the step with respect to its input, given its result `made`; null means 1.
  double (*slope)(const Spec&, double made) = nullptr;
  /// For explanations: a label, and the arithmetic, with {s} for the input and {p} for the parameter. Null
  /// where the step has an explanation of its own.
  const char *label = nullptr, *formula = nullptr;
  float Spec::* parameter = nullptr;
};

/// One row of the table.
struct TensorRow {
  TensorId id;
  std::string_view name;  ///< in the state text, JavaScript and files
  const char* symbol;     ///< the symbol in explanations; null where it has none
  Size heads, rows, columns;
  const Tensor* Inputs::* given;  ///< the member of Inputs; null for intermediates
  Condition exists;               ///< null: exists if it is given
  std::span<const Source> sources;
  Pairs pairs = Pairs::all;
  Hue hue = Hue::neutral;
  BoardPlace place = BoardPlace::none;
  std::string_view title = {}, caption = {};  ///< as the board names it, and what it is, in plain words
  ScoreStep step = {};
};

const TensorRow& tensorRow(TensorId id);
/// Does the layer have this tensor, as an input that it reads or a step that it computes?
bool exists(TensorId id, const Spec& spec, const Inputs& inputs);
/// Calls `use(source, from)` for each direct source of a tensor that this layer has; `from` is the source's
/// id with kStepBefore resolved.
template <class Use>
void forSources(TensorId id, const Spec& spec, const Inputs& inputs, Use use) {
  bool isTaken = false;
  for (const Source& source : tensorRow(id).sources) {
    if (source.otherwise && isTaken) continue;
    TensorId from = source.from;
    if (from == kStepBefore) {
      for (from = id; from == id || !exists(from, spec, inputs);)
        from = static_cast<TensorId>(static_cast<int>(from) - 1);
    }
    isTaken = exists(from, spec, inputs) && (!source.when || source.when(spec, inputs));
    if (isTaken) use(source, from);
  }
}
/// The first of these sources: for a step of the scores, the step before it.
TensorId stepBefore(TensorId id, const Spec& spec, const Inputs& inputs);

/// "w_q" for TensorId::w_q, and so on.
std::string_view name(TensorId id);
/// The tensor of that name in the range `among`; nothing if there is none.
std::optional<TensorId> tensorNamed(std::string_view name, TensorRange among = kLayerTensors);
/// The symbol of a tensor in explanations: "W_Q". For scores other than dot products the raw score has
/// another symbol.
const char* symbol(TensorId id, Score score);
/// What the rows of a tensor stand for: query tokens, key tokens, or something else (columns of X, a single
/// vector …).
enum class Rows : std::uint8_t { queries, keys, other };
Rows rowsOf(TensorId id);
/// Is it a step between the score of a query and key and their weight, [queries, keys]?
bool isOfPairs(TensorId id);

}  // namespace attention
