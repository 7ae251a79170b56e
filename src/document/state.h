// Everything that a user can change, as plain data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/trace.h"

namespace document {

using attention::Check;
using attention::Error;
using attention::PaintedMask;
using attention::Result;
using attention::Tensor;
using attention::TensorId;

/// Where Q, K and V come from.
enum class Mode : std::uint8_t {
  qkv,  ///< edited directly
  x,    ///< projected from X by W_Q, W_K, W_V; heads are joined by W_O
};

enum class Theme : std::uint8_t { automatic, light, dark };

/// One playground. The width of the model is heads · headDim: Q, K and V are [heads, tokens, headDim], so
/// that changing the number of heads regroups the same columns, as splitting a projection does. x [1, tokens,
/// modelDim]; w_q, w_k, w_v [1, modelDim, heads·headDim]; w_o [1, heads·headDim, modelDim]. Both sets of
/// inputs are always there; `mode` says which one is in use.
struct State {
  std::string preset;  ///< the preset it came from, or "" for the user's own
  Mode mode = Mode::qkv;
  int tokens = 0;
  int heads = 0;
  int headDim = 0;                  ///< d_k = d_v
  int modelDim = 0;                 ///< columns of X
  std::vector<std::string> labels;  ///< one a token, UTF-8, at most kLabelBytes each

  bool causal = true;
  bool scale = true;  ///< scores × 1/√d_k
  float temperature = 1.0f;
  PaintedMask painted;  ///< empty, or tokens x tokens

  Tensor x, wQ, wK, wV, wO, q, k, v;

  int focusHead = 0;  ///< the head on the board
  int decimals = 2;
  Theme theme = Theme::automatic;
  std::uint32_t seed = 1;  ///< of the last random fill, and of numbers for new tokens, heads and columns

  std::string
      unknownFields;  ///< JSON object text: fields of a newer minor version, kept as they came; "" if none

  bool operator==(const State&) const = default;
};

inline constexpr int kLabelBytes = 64;

/// The most numbers in x, w_*, q, k and v together. With it the text of any state stays below kMaxTextBytes
/// (text.h).
inline constexpr std::int64_t kMaxNumbers = 3'500'000;
inline constexpr int kMaxDecimals = 6;
inline constexpr double kMinTemperature = 0.01, kMaxTemperature = 100;

/// The attention layer that a state describes, and its inputs (pointing into the state).
attention::Spec spec(const State& state);
attention::Inputs inputs(const State& state);

/// The editable tensor of that name, or null for a computed one.
Tensor* input(State& state, TensorId id);
const Tensor* input(const State& state, TensorId id);
/// Is that tensor edited by hand in this mode (q in Mode::qkv, x in Mode::x)?
bool isEditable(const State& state, TensorId id);
/// The editable tensors in the order of the state text: x, w_q, w_k, w_v, w_o, q, k, v.
std::span<const TensorId> inputIds();

/// Do these sizes stay within attention::Limits and kMaxNumbers? `field` is the one that the sentence names.
Check checkSizes(std::string_view field, std::int64_t tokens, std::int64_t heads, std::int64_t headDim,
                 std::int64_t modelDim);
/// Valid UTF-8 of at most kLabelBytes without control characters?
Check checkLabel(std::string_view field, std::string_view label);
/// The same of many; `first` is the number of the first one.
Check checkLabels(std::span<const std::string> labels, int first);
/// Is the state whole: sizes, shapes, finite numbers, labels and ranges?
Check check(const State& state);

/// The same in every bit, the sign of zero included.
bool sameBits(const Tensor& a, const Tensor& b);
bool sameBits(const State& a, const State& b);
/// Gives `state` the theme, decimals and head in focus (clamped) of `from`: how things are shown belongs to
/// the reader.
void keepView(State& state, const State& from);

}  // namespace document
