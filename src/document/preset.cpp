#include "document/preset.h"

#include <array>
#include <iterator>
#include <vector>

#include "document/resize.h"
#include "document/sentence.h"
#include "document/text.h"

namespace document {
namespace {

/// How the inputs of the other mode come about, so that both modes show the same weights.
enum class Other {
  given,      ///< they stand in the text
  oneHot,     ///< Q, K and V stand in the text: X is one-hot and each W holds the rows that it picks
  projected,  ///< X and the weights stand in the text: Q, K and V are their products
};

struct Example {
  Preset preset;
  Other other;
  std::string_view text;  ///< without "version" and the opening brace
};

// The lecture example: X is one-hot over the words I, saw, a, and the second saw looks at what it saw.
constexpr std::string_view kSaw = R"("labels": ["I", "saw", "a", "saw"],
"x": {"shape": [4, 3], "data": [1,0,0, 0,1,0, 0,0,1, 0,1,0]},
"w_q": {"shape": [3, 6], "data": [
  2,0,0, 2,0,0,
  0.2,0,4, 0,2,0,
  0,1,0.5, 0,0,2]},
"w_k": {"shape": [3, 6], "data": [
  1,0,0, 1.5,0,0,
  0,1,0, 0,1.5,0,
  0,0,1, 0,0,1.5]},
"w_v": {"shape": [3, 6], "data": [
  1,0,0, 1,0,0,
  0,1,0, 0,1,0,
  0,0,1, 0,0,1]},
"w_o": {"shape": [6, 3], "data": [
  1,0,0,
  0,1,0,
  0,0,1,
  0.5,0,0,
  0,0.5,0,
  0,0,0.5]},
"q": {"shape": [2, 4, 3], "data": [
  0.9,-0.4,0.3, 1.2,0.6,-0.5, -0.3,1.1,0.8, 0.2,-0.7,1.6,
  1.4,0.2,-0.5, -0.5,1.4,0.1, -0.4,-0.6,1.4, -0.6,-0.7,-1.3]},
"k": {"shape": [2, 4, 3], "data": [
  1.1,0.2,-0.6, -0.2,1.3,0.4, 0.3,-0.5,1.4, 0.8,0.9,-0.2,
  1.4,0.2,-0.5, -0.5,1.4,0.1, -0.4,-0.6,1.4, -0.6,-0.7,-1.3]},
"v": {"shape": [2, 4, 3], "data": [
  0.7,0.3,0, -0.4,0.9,0.2, 0.1,-0.2,1, 0.5,0.5,-0.8,
  0.9,0,0.1, 0,0.8,-0.2, 0.2,0.1,0.7, -0.3,0.6,0.4]}})";

// Columns of X: a living being, a place, an event, a quality, points at something, links words. Head 1 asks
// who or what is meant, head 2 what is said in this part of the sentence.
constexpr std::string_view kPronoun = R"("mode": "x", "heads": 2, "causal": false,
"labels": ["The", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "tired"],
"x": {"shape": [10, 6], "data": [
  0.5,0,0,0,1,0,
  1,0,0,0,0,0,
  0,0,0.5,0,0,0.5,
  0,0,1,0,0,0,
  0,0.5,0,0,1,0,
  0,1,0,0,0,0,
  0,0,0,0,0,1,
  0.5,0,0,0.5,1,0,
  0,0,0,0.5,0,0.5,
  0.5,0,0,1,0,0]},
"w_q": {"shape": [6, 8], "data": [
  3,0,0,0, 0,0,4,0,
  0,3,0,0, 0,0,4,0,
  2,2,1,-1, 0,0,4,0,
  2,0,-1,1, 0,0,-4,6,
  1,1,0,0, 0,0,0,0,
  -2,-2,3,3, 0,0,2,2]},
"w_k": {"shape": [6, 8], "data": [
  3,0,0,0, 0,0,0,0,
  0,3,0,0, 0,0,0,0,
  0,0,3,0, 0,0,3,0,
  -2,0,0,3, 0,0,0,3,
  -2,-2,0,-2, 0,0,-1,-2,
  0,0,-2,-2, 0,0,-2,-2]},
"w_v": {"shape": [6, 8], "data": [
  1,0,0,0, 1,0,0,0,
  0,1,0,0, 0,1,0,0,
  0,0,1,0, 0,0,1,0,
  0,0,0,1, 0,0,0,1,
  0,0,0,0, 0,0,0,0,
  0,0,0,0, 0,0,0,0]},
"w_o": {"shape": [8, 6], "data": [
  1,0,0,0,0,0,
  0,1,0,0,0,0,
  0,0,1,0,0,0,
  0,0,0,1,0,0,
  0.5,0,0,0,0,0,
  0,0.5,0,0,0,0,
  0,0,0.5,0,0,0,
  0,0,0,0.5,0,0]}})";

// Column c of K says "I am token c", row i of Q asks for token i - 1. The first has none before it and takes
// itself.
constexpr std::string_view kPrevious = R"("labels": ["to", "be", "or", "not", "to", "be"],
"q": {"shape": [1, 6, 6], "data": [
  4,0,0,0,0,0,
  4,0,0,0,0,0,
  0,4,0,0,0,0,
  0,0,4,0,0,0,
  0,0,0,4,0,0,
  0,0,0,0,4,0]},
"k": {"shape": [1, 6, 6], "data": [
  4,0,0,0,0,0,
  0,4,0,0,0,0,
  0,0,4,0,0,0,
  0,0,0,4,0,0,
  0,0,0,0,4,0,
  0,0,0,0,0,4]},
"v": {"shape": [1, 6, 6], "data": [
  1,0,0,0,0,0,
  0,1,0,0,0,0,
  0,0,1,0,0,0,
  0,0,0,1,0,0,
  0,0,0,0,1,0,
  0,0,0,0,0,1]}})";

// Keys at right angles to each other; a query equals the key that it asks for.
constexpr std::string_view kLookUp = R"("causal": false,
"labels": ["France", "Italy", "Norway", "Spain", "Norway?", "Italy?"],
"q": {"shape": [1, 6, 4], "data": [
  2,2,2,2,
  2,-2,2,-2,
  2,2,-2,-2,
  2,-2,-2,2,
  2,2,-2,-2,
  2,-2,2,-2]},
"k": {"shape": [1, 6, 4], "data": [
  2,2,2,2,
  2,-2,2,-2,
  2,2,-2,-2,
  2,-2,-2,2,
  0,0,0,0,
  0,0,0,0]},
"v": {"shape": [1, 6, 4], "data": [
  0.9,0.1,-0.3,0.4,
  -0.5,0.8,0.2,0.6,
  0.3,-0.7,0.9,-0.1,
  0.6,0.5,-0.8,0.2,
  0,0,0,0,
  0,0,0,0]}})";

constexpr std::string_view kUniform = R"("causal": false,
"labels": ["each", "word", "gets", "the", "same"],
"q": {"shape": [1, 5, 4], "data": [0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,0, 0,0,0,0]},
"k": {"shape": [1, 5, 4], "data": [
  0.8,-0.3,1.1,0.2,
  -1.2,0.5,0.4,0.9,
  0.3,1.4,-0.7,-0.6,
  1,-0.9,0.1,0.7,
  -0.4,0.6,-1.3,1.2]},
"v": {"shape": [1, 5, 4], "data": [
  1,0,0.5,-1,
  0,1,0.5,-0.5,
  -1,1,0.5,0,
  0,-1,0.5,0.5,
  1,0,0.5,1]}})";

// Draws like those of N(0, 1), so that dot products of 16 numbers spread by about 4. V is one-hot: O repeats
// the weights.
constexpr std::string_view kSaturated = R"("causal": false, "scale": false,
"labels": ["one", "key", "takes", "it", "all", "!"],
"q": {"shape": [1, 6, 16], "data": [
  -0.8,-1.3,0,0.2,0.6,1.2,-0.6,-0.3,-1.2,1.6,0.3,-1.2,-1.3,1.6,-0.5,-1.7,
  -0.1,-1.2,-0.6,-1.5,-0.7,0.6,-0.1,1.1,0.5,0.8,-1.6,-0.3,-1,-0.2,-1.3,-2.2,
  -0.2,-0.3,-1,1.2,1.9,-1.7,0.5,-1.1,1.2,0.7,-2,0.4,-1.1,1,0,-2,
  -0.2,0,-1.3,-1.2,0.6,-1.1,0.3,-0.8,1.4,0.6,2.4,0.6,0.8,0.8,1.4,-0.1,
  1.4,0,-0.3,0,0.6,0.8,-1,0.2,-0.5,-0.2,0.9,-0.5,-1.2,-1.3,1.4,-0.4,
  -0.6,-1.1,0.4,-1.1,-1.3,0.6,-0.3,0,0,-0.4,-0.1,1.3,0.5,-0.8,-1.8,-0.2]},
"k": {"shape": [1, 6, 16], "data": [
  -1.3,0.3,-0.5,-0.4,-0.7,-0.6,0.6,0.8,0,2.1,1.1,0,1.6,0.9,-0.9,0.8,
  0,-0.6,-0.1,-1,0,1.1,-0.3,0.4,1.9,0,0.3,-0.3,-1.1,-1,0,0.4,
  -1,0.1,1.1,0.3,-0.5,0.7,0.6,1.8,1.4,-0.1,0.4,-0.9,-0.3,0.5,0.5,0.5,
  -0.2,-1.5,1.9,1.3,-1.1,1.4,0,-1.8,-0.4,-0.7,1.5,0.5,1.6,-0.3,-0.4,-0.9,
  0,1.1,0.8,-0.2,-1.3,-0.1,-0.7,-0.4,-1.7,2,0.9,-1,0.9,1.3,0,-0.5,
  -1,0.5,-0.3,-0.1,-0.2,1.8,2.1,-0.8,-1,2.7,-0.9,2.2,0.1,0.1,1.1,0.4]},
"v": {"shape": [1, 6, 16], "data": [
  1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
  0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,
  0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,
  0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,
  0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,
  0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0]}})";

constexpr Example kExamples[] = {
    {{"i-saw-a-saw", "I saw a saw",
      "The second saw looks at a, the word before it: its query and that key point the same way."},
     Other::given,
     kSaw},
    {{"pronoun", "A pronoun",
      "In head 1 the pronoun looks at the animal; head 2 looks at what is said of it."},
     Other::projected,
     kPronoun},
    {{"previous-token", "The token before",
      "Every query holds the position before its own, and so each token looks one step back."},
     Other::oneHot,
     kPrevious},
    {{"look-up", "Look-up by key",
      "A query equal to one key takes nearly all of its value, as a dictionary would."},
     Other::oneHot,
     kLookUp},
    {{"uniform", "All the same",
      "Queries of zeros score every key alike: each output is the mean of all values."},
     Other::oneHot,
     kUniform},
    {{"saturated", "Why divide by √d_k",
      "Dot products of 16 numbers are so far apart that one key takes all; switch ÷ √d_k on."},
     Other::oneHot,
     kSaturated},
};

void setIdentity(Tensor& tensor) {
  for (int r = 0; r < tensor.rows(); ++r)
    for (int c = 0; c < tensor.cols(); ++c) tensor.at(0, r, c) = r == c ? 1.0f : 0.0f;
}

// Row t of a W becomes row t of all heads side by side.
Tensor weightsPicking(const Tensor& tensor) {
  Tensor out(1, tensor.rows(), tensor.heads() * tensor.cols());
  for (int h = 0; h < tensor.heads(); ++h)
    for (int t = 0; t < tensor.rows(); ++t)
      for (int c = 0; c < tensor.cols(); ++c) out.at(0, t, h * tensor.cols() + c) = tensor.at(h, t, c);
  return out;
}

void makeOneHot(State& state) {
  Settings sizes = state;
  sizes.modelDim = state.tokens;
  resize(state, sizes);
  setIdentity(state.x);
  setIdentity(state.wO);
  state.wQ = weightsPicking(state.q), state.wK = weightsPicking(state.k), state.wV = weightsPicking(state.v);
}

void project(const Tensor& x, const Tensor& w, Tensor& out) {
  for (int h = 0; h < out.heads(); ++h)
    for (int t = 0; t < out.rows(); ++t)
      for (int c = 0; c < out.cols(); ++c) {
        float sum = 0;
        for (int m = 0; m < x.cols(); ++m) sum += x.at(0, t, m) * w.at(0, m, h * out.cols() + c);
        out.at(h, t, c) = sum + 0.0f;  // no -0
      }
}

void makeProjected(State& state) {
  project(state.x, state.wQ, state.q);
  project(state.x, state.wK, state.k);
  project(state.x, state.wV, state.v);
  state.mode = Mode::qkv;
}

}  // namespace

std::span<const Preset> presets() {
  static constexpr auto list = [] {
    std::array<Preset, std::size(kExamples)> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = kExamples[i].preset;
    return out;
  }();
  return list;
}

Result<State> preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Example& example : kExamples) {
    names.push_back(inQuotes(example.preset.name));
    if (example.preset.name != name) continue;
    auto state = fromText(joined({"{\"version\": 1, \"preset\": \"", name, "\",", example.text}), {});
    if (!state) return state.error();
    if (example.other == Other::oneHot) makeOneHot(*state);
    if (example.other == Other::projected) makeProjected(*state);
    return state;
  }
  return *refuse(Error::Kind::range, "preset", {inQuotes(name), " is unknown; use ", orList(names), "."});
}

}  // namespace document
