// The one table of all tensors: of the layer, of the block around it, of hierarchical attention and of the experiments.
// It says what each is called, what shape it has, what it is made from, how it is explained and shown. Names in scripts
// and files, lineage, shapes, colours and the board follow from it: a new step between the scale and the bias is a row
// here, its numbers in trace.h, and a file of its own in steps/.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "attention/layer/spec.h"

namespace attention {

/// Every tensor that a person can ask for, in the order of the table.
enum class TensorId : std::uint8_t {
  x, w_q, w_k, w_v, w_o,     // inputs of a projected layer
  q, k, v,                   // inputs, or projections of x
  x_kv,                      // input: the other sequence of cross-attention
  w_a, u_a, v_a,             // inputs of general and additive scores
  bias,                      // input: what is added to the scores; -inf masks
  b_q, b_k, b_v, b_o,        // inputs: what is added to Q, K, V and the output of a projected layer
  x_v,                       // input: what values are made of, where that is not what keys are
  positions,                 // sinusoids, or angles of rotary positions
  x_positioned, x_kv_positioned,  // x + positions, sinusoidal only
  q_rotated, k_rotated,      // rotary only
  raw,                       // q·k, or what the score makes of the pair
  scores,                    // after the scale
  softcapped,                // after the soft cap
  biased,                    // after the bias
  masked,                    // after the mask: masked cells are -inf
  exponentials,              // exp(masked / temperature - row_max)
  row_max, row_sum,          // of masked / temperature, of exponentials
  weights,
  head_output,               // weights · V
  concat,                    // heads side by side
  output,                    // concat · W_O, or concat where there is no W_O

  // The stages of the block of the Transformer.
  block_attention, block_dropout_1, block_residual_1, block_norm_1, block_hidden_raw,
  block_hidden, block_feed_forward, block_dropout_2, block_residual_2, block_norm_2,
  // The parameters of the block, and of the two levels of hierarchical attention.
  gamma_1, delta_1, w_1, b_1, w_2, b_2, gamma_2, delta_2,
  token_w, token_b, token_query, segment_w, segment_b, segment_query,
  memory_w, memory_u, memory_b, memory_w_a, memory_u_a, memory_v_a,  // of the recurrent network, and of attention over it
  token_weights, segment_weights,  // of hierarchical attention
  // Experiments. The table of the spread has two heads, of q·k and of q·k ÷ √d_k. A row has d_k, μ, σ, the mean of the
  // scores, d·μ², their deviation, the predicted one, the largest of 16 weights and the entropy in bits.
  spread_table,
  spread_curve,              // the same, a row for every power of two up to 1024
  spread_counts,             // the histogram, [2, bins, 2]: the middle of a bin, and how many scores
  weights_fixed, weights_following, weights_connected, weights_attended,  // of attention::Comparison
  reach_curve,               // [1, tokens, 4]: the members of attention::Reach
  drop_mask_1, drop_mask_2,  // Z of dropout_1 and dropout_2 of the block: 1 where a number is kept
  // Two heads as above, a row at spread_dim and one for every power of two: d_k, μ and σ of the keys, and of ‖∂w/∂s‖ and of
  // ‖∂w/∂q‖ the median and the mean over the queries.
  spread_saturation,
  // Of the recurrent network that reads the sentence: h_t; i, f, g and o side by side, and c_t, of the LSTM; the weights of
  // attention over h; the fixed context and that of attention; and attention::MemoryTrace::gradients.
  memory_states, memory_gates, memory_cells, memory_weights, memory_contexts, memory_gradients,
  // [1, 2, 8], this layer and the one beside it: tokens, parameters, multiply-adds, tanh, bytes of weights, of the cache and of
  // the scores, sequential steps; and [2, 7, 8], the same at powers of ten up to a million.
  cost_table, cost_curve,
  reach_gradients,  // [1, tokens, 4]: tokens between, and of the recurrent network, of attention and of equal weights ∂/∂h_1

  present_k, present_v,      // in files: past keys (values) and new ones together
};

/// Tensors that follow each other in the table.
struct TensorRange {
  TensorId first, last;
  constexpr bool contains(TensorId id) const { return id >= first && id <= last; }
  constexpr int size() const { return static_cast<int>(last) - static_cast<int>(first) + 1; }
  constexpr TensorId operator[](int i) const { return static_cast<TensorId>(static_cast<int>(first) + i); }
};
inline constexpr TensorRange kLayerTensors{TensorId::x, TensorId::output};
inline constexpr TensorRange kBlockTensors{TensorId::block_attention, TensorId::block_norm_2};
inline constexpr TensorRange kParameterTensors{TensorId::gamma_1, TensorId::memory_v_a};
inline constexpr TensorRange kDerivedTensors{TensorId::block_attention, TensorId::reach_gradients};  ///< around and beside a layer
/// Those of the layer, the first in the table.
inline constexpr int kTensorCount = kLayerTensors.size();

/// How many heads, rows or columns there are.
enum class Size : std::uint8_t {
  one,
  heads, keyHeads, biasHeads,
  queries, keys, positions,
  headDim, scoreUnits, valueDim, model, waves,  ///< scoreUnits: rows of W_a; waves: columns of positions
  queryColumns, keyColumns, valueColumns,  ///< of all heads side by side, in W_Q, W_K, W_V
  concatColumns, outputColumns,
  width, hidden, units, segments,  ///< around the layer: of a token, of hidden units, of a level of hierarchical attention
  inputWidth, cellUnits, cellColumns,  ///< beside the layer: of what a recurrent network reads, of its state, of all its gates
  other,                           ///< known when it is computed
};
/// Of a size that the layer knows, 0 for those around it.
int sizeOf(Size size, const Spec& spec, const Inputs& inputs);

/// Which heads, rows or columns of a source a cell is made from, by the head, row and column of the cell.
enum class Via : std::uint8_t {
  all,
  head, row, column,  ///< those of the cell
  keyHead,            ///< the key head that the cell's query head reads
  sharedHead,         ///< the cell's head, or the one that all share
  keysSeen,           ///< the keys that the cell's row sees
  position,           ///< the position of the cell's query
  pair, pairIndex,    ///< the two columns that are rotated together; their angle, where they are
  packedColumn,       ///< the cell's column among those of all heads side by side
  headOfColumn, columnOfHead,  ///< and back: the head that a column of concat comes from, and its column there
};

/// Is something part of the layer?
using Condition = bool (*)(const Spec&, const Inputs&);

/// A tensor that another is made from directly.
struct Source {
  TensorId from;
  Via head, row, column;
  Condition when = nullptr;  ///< null: wherever both are part of the layer
  bool otherwise = false;    ///< only where those listed before it, back to the last one without this, are not
};
/// As Source::from: the nearest tensor above in the table that the layer has.
inline constexpr TensorId kStepBefore = static_cast<TensorId>(0xff);

/// Which cells of [queries, keys] a tensor has numbers in, and the others 0 or -inf.
enum class Pairs : std::uint8_t {
  all,
  scored,  ///< those that the mask lets through, or all where it comes after the normaliser
  seen,    ///< those that the mask lets through
};

/// The colour of a title and an outline.
enum class Hue : std::uint8_t { neutral, query, key, value, weight };

/// Where the board shows a tensor: not at all, in a place of its own, or below where the layer has it.
enum class Place : std::uint8_t { none, own, below };

struct Span;
template <class Numbers>
struct TraceOf;

/// What an optional step does with each score between the scale and the bias.
struct ScoreStep {
  /// Computes whole rows from those of the step before.
  void (*make)(const Spec&, const Inputs&, int head, Span queries, TraceOf<Tensor>&) = nullptr;
  /// The derivative by the score before, where it is `made`; null: 1.
  double (*slope)(const Spec&, double made) = nullptr;
  /// In explanations: a label, and the arithmetic, with {s} for the score before and {p} for the parameter. Null
  /// where there is more to say.
  const char *label = nullptr, *formula = nullptr;
  float Spec::*parameter = nullptr;
};

/// One row of the table.
struct TensorRow {
  TensorId id;
  std::string_view name;    ///< in the state text, JavaScript and files
  const char* symbol;       ///< in explanations; null where there are none
  Size heads, rows, columns;
  const Tensor* Inputs::*given;  ///< null for intermediates
  Condition exists;              ///< null: where it is given
  std::span<const Source> sources;
  Pairs pairs = Pairs::all;
  Hue hue = Hue::neutral;
  Place place = Place::none;
  std::string_view title = {}, caption = {};  ///< of those shown below
  ScoreStep step = {};
};

const TensorRow& tensorRow(TensorId id);
/// Is it part of the layer, as an input that is read or a step that is made?
bool exists(TensorId id, const Spec& spec, const Inputs& inputs);
/// Calls `use(source, from)` for each direct source of a tensor that the layer has.
template <class Use>
void forSources(TensorId id, const Spec& spec, const Inputs& inputs, Use use) {
  bool isTaken = false;
  for (const Source& source : tensorRow(id).sources) {
    if (source.otherwise && isTaken) continue;
    TensorId from = source.from;
    if (from == kStepBefore) {
      for (from = id; from == id || !exists(from, spec, inputs);) from = static_cast<TensorId>(static_cast<int>(from) - 1);
    }
    isTaken = exists(from, spec, inputs) && (!source.when || source.when(spec, inputs));
    if (isTaken) use(source, from);
  }
}
/// The first of them: what a step of the scores reads of the step before it.
TensorId stepBefore(TensorId id, const Spec& spec, const Inputs& inputs);

/// "w_q" for TensorId::w_q, and so on.
std::string_view name(TensorId id);
/// The tensor of that name, if there is one among these.
std::optional<TensorId> tensorNamed(std::string_view name, TensorRange among = kLayerTensors);
/// What explanations call a tensor: "W_Q". A score that is no dot product has another name for what comes before it.
const char* symbol(TensorId id, Score score);
/// What the rows of a tensor are: query tokens, key tokens, or something else (columns of X, a single vector …).
enum class Rows : std::uint8_t { queries, keys, other };
Rows rowsOf(TensorId id);
/// Is it a step from the score of a query and a key to their weight?
bool isOfPairs(TensorId id);

}  // namespace attention
