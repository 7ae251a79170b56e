#include "document/preset.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/sentence.h"
#include "document/resize.h"
#include "document/text.h"

namespace document {
namespace {

/// How the inputs of the other mode are obtained, so that both modes show the same weights.
enum class Other {
  given,      ///< the text contains them
  oneHot,     ///< the text contains Q, K and V; X is one-hot, and each W consists of the rows that it selects
  projected,  ///< the text contains X and the weights; Q, K and V are their products
};

/// Q, K and V without meaning: drawn from the seed, or queries of zeros. heads = 0: the text contains them.
struct Drawn {
  int heads = 0, kvHeads = 0, tokens = 0, headDim = 0;
  bool zeroQueries = false;
};

constexpr std::string_view kDefault = "i-saw-a-saw";

struct Example {
  Preset preset;
  /// Without "version" and the opening brace; with `drawn`, without the closing one too.
  std::string_view text;
  Drawn drawn = {};
  Other other = Other::oneHot;
};

// The example of the lecture: X is one-hot over the words I, saw, a, and the second "saw" attends to what was
// seen. Every page starts with this preset, so it is stored in binary: the first frame does not need the
// parser.
struct Numbers {
  TensorId id;
  int heads, rows, cols;
  float values[24];
};
constexpr Numbers kSaw[] = {
    {TensorId::x, 1, 4, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0}},
    {TensorId::w_q, 1, 3, 6, {2, 0, 0, 2, 0, 0, 0.2f, 0, 4, 0, 2, 0, 0, 1, 0.5f, 0, 0, 2}},
    {TensorId::w_k, 1, 3, 6, {1, 0, 0, 1.5f, 0, 0, 0, 1, 0, 0, 1.5f, 0, 0, 0, 1, 0, 0, 1.5f}},
    {TensorId::w_v, 1, 3, 6, {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1}},
    {TensorId::w_o, 1, 6, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5f, 0, 0, 0, 0.5f, 0, 0, 0, 0.5f}},
    {TensorId::q, 2, 4, 3, {0.9f, -0.4f, 0.3f,  1.2f,  0.6f, -0.5f, -0.3f, 1.1f,  0.8f, 0.2f,  -0.7f, 1.6f,
                            1.4f, 0.2f,  -0.5f, -0.5f, 1.4f, 0.1f,  -0.4f, -0.6f, 1.4f, -0.6f, -0.7f, -1.3f}},
    {TensorId::k, 2, 4, 3, {1.1f, 0.2f, -0.6f, -0.2f, 1.3f, 0.4f, 0.3f,  -0.5f, 1.4f, 0.8f,  0.9f,  -0.2f,
                            1.4f, 0.2f, -0.5f, -0.5f, 1.4f, 0.1f, -0.4f, -0.6f, 1.4f, -0.6f, -0.7f, -1.3f}},
    {TensorId::v, 2, 4, 3, {0.7f, 0.3f, 0,    -0.4f, 0.9f, 0.2f,  0.1f, -0.2f, 1,    0.5f,  0.5f, -0.8f,
                            0.9f, 0,    0.1f, 0,     0.8f, -0.2f, 0.2f, 0.1f,  0.7f, -0.3f, 0.6f, 0.4f}},
};

State saw(std::string_view name, int heads) {
  State state;
  state.preset = name;
  state.labels = {"I", "saw", "a", "saw"};
  state.tokens = state.keyTokens = 4;
  state.heads = state.kvHeads = heads;
  state.headDim = state.valueDim = state.modelDim = 3;
  for (const Numbers& n : kSaw) {
    const auto ofHeads = [&](int size) { return size == 6 ? 3 * heads : size; };  // both heads side by side
    Tensor& tensor = *input(state, n.id) = Tensor(std::min(n.heads, heads), ofHeads(n.rows), ofHeads(n.cols));
    for (int h = 0; h < tensor.heads(); ++h)
      for (int r = 0; r < tensor.rows(); ++r)
        std::copy_n(n.values + (h * n.rows + r) * n.cols, tensor.cols(), tensor.row(h, r));
  }
  return state;
}

// Columns of X: a living being, a place, an event, a quality, a word that points at something, a word that
// links. Head 1 asks who or what is meant, head 2 what is said in this part of the sentence.
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

// Column c of K means "I am token c"; row i of Q asks for token i - 1. The first token has none before it and
// attends to itself.
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

// Keys are orthogonal; a query equals the key that it asks for.
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

// Numbers like draws from N(0, 1), so that dot products of 16 numbers have a standard deviation of about 4. V
// is one-hot, so O repeats the weights.
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

// Two tanh units form a bump: tanh(2Δ + 1) - tanh(2Δ - 1) is largest at Δ = 0, where Δ is the distance
// between the wanted position and that of the key. The order of the words is that of the translation in
// Bahdanau et al. 2015, figure 3.
constexpr std::string_view kAdditive =
    R"("score": "additive", "scale": false, "causal": false, "cross": true, "d_v": 4,
"labels": ["la", "zone", "économique", "européenne"], "key_labels": ["the", "European", "Economic", "Area"],
"q": [[[0,1],[3,1],[2,1],[1,1]]],
"k": [[[0,0],[1,0],[2,0],[3,0]]],
"v": [[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],
"w_a": [[[2,1],[2,-1]]],
"u_a": [[[-2,0],[-2,0]]],
"v_a": [[[3,-3]]]})";

// W_a exchanges the first feature with the second, and the third with the fourth.
constexpr std::string_view kGeneral = R"("score": "general", "scale": false, "causal": false,
"labels": ["hot", "cold", "big", "small"],
"q": [[[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]]],
"k": [[[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]]],
"v": [[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],
"w_a": [[[0,1,0,0],[1,0,0,0],[0,0,0,1],[0,0,1,0]]]})";

// Words in capitals have the same direction and four times the length.
constexpr std::string_view kCosine =
    R"("score": "cosine", "scale": false, "causal": false, "temperature": 0.1,
"labels": ["east", "EAST", "north", "NORTH", "north-east"],
"q": [[[1,0],[4,0],[0,1],[0,4],[1,1]]],
"k": [[[1,0],[4,0],[0,1],[0,4],[1,1]]],
"v": [[[1,0],[4,0],[0,1],[0,4],[1,1]]]})";

// Columns: an article, an animal, sitting. The auxiliary expresses less of sitting than the participle.
constexpr std::string_view kAlignment = R"("causal": false, "cross": true,
"labels": ["le", "chat", "était", "assis"], "key_labels": ["the", "cat", "sat"],
"q": [[[3,0,0],[0,3,0],[0,0.5,2.5],[0,0,3]]],
"k": [[[3,0,0],[0,3,0],[0,0,3]]],
"v": [[[1,0,0],[0,1,0],[0,0,1]]]})";

// Values are the temperatures of one week.
constexpr std::string_view kWindow = R"("window_left": 2,
"labels": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
"q": [[[0],[0],[0],[0],[0],[0],[0]]],
"k": [[[1],[-1],[0.5],[0],[-0.5],[1],[-1]]],
"v": [[[12],[15],[9],[18],[21],[18],[15]]]})";

constexpr std::string_view kLongformer = R"("pattern_local": 2, "pattern_global": 1, "causal": false,
"labels": ["[CLS]", "the", "cat", "that", "I", "saw", "on", "the", "roof", "was", "fast", "asleep"])";

constexpr std::string_view kBigbird =
    R"("pattern_local": 2, "pattern_global": 1, "pattern_random": 1, "causal": false,
"labels": ["[CLS]", "the", "cat", "that", "I", "saw", "on", "the", "roof", "was", "fast", "asleep"])";

constexpr std::string_view kBlocks = R"("pattern_block": 4, "causal": false,
"labels": ["cats", "sleep", "a", "lot", "dogs", "run", "in", "parks", "birds", "sing", "at", "dawn"])";

// Hues on a circle: scores decrease with the angle between them.
constexpr std::string_view kSparsemax = R"("normalizer": "sparsemax", "causal": false,
"labels": ["red", "orange", "yellow", "green", "blue"],
"q": [[[2,0],[1.73,1],[1,1.73],[-1,1.73],[-1,-1.73]]],
"k": [[[1,0],[0.87,0.5],[0.5,0.87],[-0.5,0.87],[-0.5,-0.87]]],
"v": [[[1,0],[0.87,0.5],[0.5,0.87],[-0.5,0.87],[-0.5,-0.87]]]})";

constexpr std::string_view kFox = R"("labels": ["the", "quick", "brown", "fox", "jumps"])";

// W_Q turns sin p and cos p into 4 sin(p - 1) and 4 cos(p - 1), so each query equals the key of the token
// before.
constexpr std::string_view kSinusoidal = R"("mode": "x", "position": "sinusoidal",
"labels": ["la", "la", "la", "la", "la", "la"],
"x": [[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]],
"w_q": [[2.16,3.37],[-3.37,2.16],[0,0],[0,0]],
"w_k": [[4,0],[0,4],[0,0],[0,0]],
"w_v": [[1,0],[0,1],[0,0],[0,0]],
"w_o": [[1,0,0,0],[0,1,0,0]]})";

// Columns of X: I, saw, a, and a word that is not in the sentence. W_Q, W_K and W_V were trained with the
// gradients of this layer to give the outputs (1, 0, 0), (½, ½, 0), (0, 0, 1) and (0, ½, ½), each of them the
// weighted sum of one-hot values.
constexpr std::string_view kTargetOutputs = R"("mode": "x", "position": "sinusoidal", "causal": false,
"labels": ["I", "saw", "a", "saw"],
"x": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,1,0,0]],
"w_q": [[-5.09,1.78,-1.51],[-0.36,-3.4,2.84],[0.46,1.06,-1.82],[-3,2.98,0.58]],
"w_k": [[-3.35,-1.37,-1.09],[1.34,-4.19,4.01],[2.72,-0.75,-2.29],[-3.71,-3.42,2.35]],
"w_v": [[2.39,-2.43,0.04],[-1.13,1.13,-0.01],[-2.34,1.36,0.98],[-0.26,1.29,-0.03]],
"w_o": [[1,0,0,0],[0,1,0,0],[0,0,1,0]]})";

// A key is a query rotated by one radian, the angle of one position.
constexpr std::string_view kRotary = R"("position": "rotary",
"labels": ["la", "la", "la", "la", "la", "la"],
"q": [[[4,0],[4,0],[4,0],[4,0],[4,0],[4,0]]],
"k": [[[2.16,3.37],[2.16,3.37],[2.16,3.37],[2.16,3.37],[2.16,3.37],[2.16,3.37]]],
"v": [[[1,0],[2,0],[3,0],[4,0],[5,0],[6,0]]]})";

constexpr std::string_view kDistances =
    R"("position": "alibi", "labels": ["long", "ago", "is", "far", "from", "now"])";

// Columns of Q and K: a pronoun, a verb. Verbs ask for a pronoun, other words for a verb. V is one-hot, so O
// repeats the weights.
constexpr std::string_view kDecoder = R"("window_left": 2, "step": 5, "d_v": 6,
"labels": ["she", "sings", "and", "he", "listens", "gladly"],
"q": [[[1,2],[2,1],[0,2],[1,2],[2,1],[0,3]]],
"k": [[[2,0],[0,2],[1,0],[2,0],[0,2],[1,1]]],
"v": [[[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]]})";

// X is one-hot. The article, the adjective and the verb ask for the noun, and the noun for the adjective.
constexpr std::string_view kTransformerBlock = R"("mode": "x", "causal": false, "experiment": "block",
"labels": ["the", "black", "cat", "sleeps"],
"x": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],
"w_q": [[0,0,3,0],[0,0,3,0],[0,3,0,0],[0,0,3,0]],
"w_k": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]],
"w_v": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],
"w_o": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]})";

// Columns: a pronoun, a verb, a punctuation mark, how far the story has got. Words attend to their own kind;
// the query over tokens asks for a verb, that over clauses for the end of the story.
constexpr std::string_view kSegments =
    R"("causal": false, "experiment": "segments", "segment_by": "punctuation",
"labels": ["I", "came", ",", "I", "saw", ",", "I", "won", "."],
"q": [[[3,0,0,0],[0,3,0,-2],[0,0,3,0],[3,0,0,0],[0,3,0,0],[0,0,3,0],[3,0,0,0],[0,3,0,2],[0,0,3,0]]],
"k": [[[3,0,0,0],[0,3,0,-2],[0,0,3,0],[3,0,0,0],[0,3,0,0],[0,0,3,0],[3,0,0,0],[0,3,0,2],[0,0,3,0]]],
"v": [[[1,0,0,0],[0,1,0,0],[0,0,1,0],[1,0,0,0],[0,1,0,1],[0,0,1,0],[1,0,0,0],[0,1,0,2],[0,0,1,0]]],
"token_w": [[1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0],[0,0,1,0,0,0,0,0],[0,0,0,1,0,0,0,0]],
"token_query": [[1,3,0,0,0,0,0,0]],
"segment_w": [[1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0],[0,0,1,0,0,0,0,0],[0,0,0,1,0,0,0,0]],
"segment_query": [[0,0,0,2,0,0,0,0]],
"segment_classes": ["victory", "arrival"], "class_w": [[0,0],[0,2],[0,0],[2,0]]})";

// The encoder's states are nearly one-hot, and so are the decoder's: the word whose context it took last. W_a
// turns that into what comes next in the translation, where the adjective follows the noun: the, car, red,
// full stop. Scores count what does not match, so v_a is negative.
constexpr std::string_view kRecurrentDecoder = R"("causal": false, "experiment": "reach",
"labels": ["the", "red", "car", "."],
"q": [[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],
"k": [[[3,0,0,0],[0,3,0,0],[0,0,3,0],[0,0,0,3]]],
"v": [[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]],
"memory_w": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]],
"memory_u": [[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]],
"memory_w_a": [[0,0,2,0],[0,0,0,2],[0,2,0,0],[2,0,0,0]],
"memory_u_a": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]],
"memory_v_a": [[-4,-4,-4,-4]],
"decoder_c": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]],
"decoder_u": [[0,0,0,0],[0,0,0,0],[0,0,0,0],[0,0,0,0]]})";

// What else a token can be. An "H" in patches of 2 × 2 pixels, from −1 (dark) to 1 (light), row by row: a
// score counts the pixels that agree, less those that differ.
constexpr std::string_view kPatches = R"("mode": "x", "causal": false, "patch_columns": 3,
"labels": ["A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"],
"x": [[-1,1,-1,1],[-1,-1,-1,-1],[-1,1,-1,1],[-1,1,-1,1],[-1,-1,1,1],[-1,1,1,1],[-1,1,-1,1],[-1,-1,-1,-1],[-1,1,-1,1]],
"w_q": [[2,0,0,0],[0,2,0,0],[0,0,2,0],[0,0,0,2]],
"w_k": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],
"w_v": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]],
"w_o": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]})";

// Frames of the word "yes", between silences. Values are how loud the low and the high pitches are.
constexpr std::string_view kSpeech = R"("causal": false, "cross": true, "d_v": 2,
"labels": ["y", "e", "s"],
"key_labels": ["0.0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s", "0.5 s", "0.6 s", "0.7 s"],
"column_names": ["glide", "vowel", "hiss"],
"q": [[[3,-1,0],[0,3,-1],[0,-1,3]]],
"k": [[[-2,-2,-2],[3,1,0],[1.5,2,0],[0,3,0],[0,3,0],[0,1.5,2],[0,0,3],[0,0,3]]],
"v": [[[0,0],[0.5,0.1],[0.8,0.2],[1,0.3],[1,0.3],[0.5,0.7],[0.1,1],[0.1,0.9]]]})";

// Values are the mean colours of the regions: red, green, blue.
constexpr std::string_view kCaption = R"("causal": false, "cross": true, "d_v": 3,
"labels": ["a", "dog", "bites", "a", "ball"], "key_labels": ["sky", "grass", "dog", "mouth", "ball"],
"column_names": ["animal", "round", "grip", "scene"],
"q": [[[0,0,0,0],[3,0,0,0],[1,1,3,0],[0,0,0,0],[0,3,0,0]]],
"k": [[[0,0,0,3],[0,0,0,3],[3,0,0,0],[1,1,3,0],[0,3,0,0]]],
"v": [[[0.5,0.7,1],[0.2,0.6,0.2],[0.6,0.4,0.2],[0.8,0.3,0.3],[0.9,0.8,0.1]]]})";

// "shuts" is not a word of the text: it finds "close" by what it means.
constexpr std::string_view kSummary = R"("causal": false, "cross": true,
"labels": ["storm", "shuts", "airport"],
"key_labels": ["heavy", "storm", "forced", "the", "airport", "to", "close"],
"column_names": ["weather", "action", "place"],
"q": [[[3,0,0],[0,3,0],[0,0,3]]],
"k": [[[1,0,0],[3,0,0],[0,1.5,0],[0,0,0],[0,0,3],[0,0,0],[0,3,0]]],
"v": [[[1,0,0],[3,0,0],[0,1.5,0],[0,0,0],[0,0,3],[0,0,0],[0,3,0]]]})";

// Keys are the hour as a point on a circle, queries the point of the hour that comes next; values are
// temperatures.
constexpr std::string_view kTimeSeries = R"("d_v": 1,
"labels": ["Mon 0 h", "Mon 6 h", "Mon 12 h", "Mon 18 h", "Tue 0 h", "Tue 6 h", "Tue 12 h", "Tue 18 h"],
"q": [[[0,3],[-3,0],[0,-3],[3,0],[0,3],[-3,0],[0,-3],[3,0]]],
"k": [[[2,0],[0,2],[-2,0],[0,-2],[2,0],[0,2],[-2,0],[0,-2]]],
"v": [[[8],[12],[19],[13],[9],[14],[21],[15]]]})";

// Columns of V are votes for the next word: the, cat, sat, on, mat. A word votes for what may follow it, and
// against itself.
constexpr std::string_view kGeneration = R"("d_v": 5,
"labels": ["the", "cat", "sat", "on", "the"],
"column_names": ["article", "noun", "verb", "link"],
"q": [[[0,0,0,1],[0,3,0,0],[0,0,3,0],[0,0,0,3],[0,0,0,1]]],
"k": [[[0.5,0,0,0.5],[0,3,0,0],[0,0,3,0],[0,0,0,3],[0.5,0,0,0.5]]],
"v": [[[-2,1,0,0,0.8],[0,-1,1,0,0],[0,0,-1,1,0],[1.5,0,0,-1,1],[-2,1,0,0,0.8]]]})";

constexpr std::string_view kTooLate = R"("mask_after_softmax": true,
"labels": ["one", "from", "ones", "is", "lost"],
"q": [[[0.15],[8.09],[5.49],[-7.18],[3]]],
"k": [[[-0.1],[-0.05],[0],[0.05],[0.1]]],
"v": [[[1],[1],[1],[1],[1]]]})";

constexpr Example kExamples[] = {
    {{"i-saw-a-saw", "I saw a saw",
      "The second saw looks at a, the word before it: its query and that key point the same way. In X · W, "
      "from one-hot words, both rows "
      "of saw are equal whatever W is, until a mask or positions tell them apart.",
      "To begin with"},
     {},
     {},
     Other::given},
    {{"pronoun", "A pronoun",
      "In head 1 the pronoun looks at the animal; head 2 looks at what is said of it.", "To begin with"},
     kPronoun,
     {},
     Other::projected},
    {{"previous-token", "The token before",
      "Every query holds the position before its own, and so each token looks one step back.",
      "To begin with"},
     kPrevious},
    {{"look-up", "Look-up by key",
      "A query equal to one key takes nearly all of its value, as a dictionary would.", "To begin with"},
     kLookUp},
    {{"uniform", "All the same",
      "Queries of zeros score every key alike: each output is the mean of all values.",
      "Softmax and its rivals"},
     kUniform},
    {{"saturated", "Why divide by √d_k",
      "Dot products of 16 numbers are so far apart that one key takes all; switch ÷ √d_k on.",
      "Softmax and its rivals"},
     kSaturated},
    {{"additive", "Additive (Bahdanau)",
      "Two tanh units make a bump where the wanted position meets that of the key: the translation reads "
      "backwards.",
      "Scores"},
     kAdditive},
    {{"general", "General (Luong)",
      "W_a swaps features, so each word looks at its opposite; with the score dot it would look at itself.",
      "Scores"},
     kGeneral},
    {{"cosine", "Cosine",
      "East and EAST weigh the same, for only the angle counts; with the score dot the longer one takes "
      "all.",
      "Scores"},
     kCosine},
    {{"alignment", "A translation",
      "Queries of one sentence, keys and values of another: était and assis both look at sat.",
      "Encoder, decoder, block"},
     kAlignment},
    {{"local-window", "A sliding window",
      "A query sees its own day and two before it; queries of zeros make each output the mean of three.",
      "Which words are seen"},
     kWindow},
    {{"longformer", "Longformer",
      "Each token sees its neighbours; the first one sees all and is seen by all.", "Which words are seen"},
     kLongformer,
     {1, 1, 12, 4}},
    {{"bigbird", "BigBird",
      "Neighbours, one global token and one random key per query: any token reaches any other in two steps.",
      "Which words are seen"},
     kBigbird,
     {1, 1, 12, 4}},
    {{"block", "Blocks", "Tokens see their own block of four only, so three sentences do not mix.",
      "Which words are seen"},
     kBlocks,
     {1, 1, 12, 4}},
    {{"sparsemax", "Sparsemax",
      "Colours far from that of the query get exactly 0, where softmax would leave a little for all.",
      "Softmax and its rivals"},
     kSparsemax},
    {{"grouped-query", "Grouped queries",
      "Four heads of queries share two heads of keys and values, which halves what a cache must keep.",
      "Heads that share keys"},
     kFox,
     {4, 2, 5, 3}},
    {{"multi-query", "One head of keys",
      "All four heads of queries share one head of keys and values: a quarter of the cache.",
      "Heads that share keys"},
     kFox,
     {4, 1, 5, 3}},
    {{"sinusoidal", "Sinusoidal positions",
      "X is all zeros: only sines and cosines tell tokens apart, and W_Q turns them one step back.",
      "Positions"},
     kSinusoidal,
     {},
     Other::given},
    {{"target-outputs", "Outputs that were asked for",
      "Training found W_Q, W_K and W_V for four outputs of I saw a saw. Without positions it can find only "
      "the mean of both saw.",
      "Positions"},
     kTargetOutputs,
     {},
     Other::given},
    {{"rotary", "Rotary positions",
      "All queries are alike, and so are all keys: turned by their positions, each query meets the key "
      "before it.",
      "Positions"},
     kRotary},
    {{"alibi", "ALiBi",
      "Queries of zeros leave the distance alone to decide, and each head forgets at its own rate.",
      "Positions"},
     kDistances,
     {4, 4, 6, 2, true}},
    {{"decoder", "A decoder, step by step",
      "The fifth word is produced: its key and value are new, two are reused from the cache, and the first "
      "two have "
      "left the window, one of them just now.",
      "Encoder, decoder, block"},
     kDecoder},
    {{"transformer-block", "A Transformer block",
      "Each word adds what it attends to, is normalised, and goes through a feed-forward network by itself.",
      "Encoder, decoder, block"},
     kTransformerBlock,
     {},
     Other::given},
    {{"image-patches", "Patches of an image",
      "A token is a patch of 2 × 2 pixels: the strokes of an H find each other, wherever they are.",
      "What it is used for"},
     kPatches,
     {},
     Other::given},
    {{"speech", "Frames of speech",
      "Each letter looks at the frames in which it is heard, and none at the silence before the word.",
      "What it is used for"},
     kSpeech},
    {{"caption", "A caption",
      "Each word looks at its region of the picture; a, which names nothing, looks everywhere.",
      "What it is used for"},
     kCaption},
    {{"summary", "A summary",
      "Three words take up seven: shuts, which the text does not have, looks at close.",
      "What it is used for"},
     kSummary},
    {{"time-series", "A time series",
      "Each hour looks at the hour that came next the day before, so its output is a forecast.",
      "What it is used for"},
     kTimeSeries},
    {{"generation", "The next word",
      "Each output is a vote for the next word: the first the, alone, wants cat; the last one has seen on, "
      "and wants mat.",
      "What it is used for"},
     kGeneration},
    {{"recurrent-decoder", "A decoder that asks anew",
      "A recurrent decoder asks once for each word that it writes: its state before the word is the query.",
      "Encoder, decoder, block"},
     kRecurrentDecoder},
    {{"segments", "Words, then clauses",
      "One query picks the verb of each of three clauses, another the last clause: both levels sum to 1.",
      "Encoder, decoder, block"},
     kSegments},
    {{"mask-after-softmax", "Masked too late",
      "The mask came after softmax: rows no longer sum to 1, and the mean of ones is less than 1.",
      "Softmax and its rivals"},
     kTooLate},
};
static_assert(kExamples[0].preset.name == kDefault);

/// Writes ones at [r, first + r], zeros elsewhere.
void setIdentity(Tensor& tensor, int first = 0) {
  for (int r = 0; r < tensor.rows(); ++r)
    for (int c = 0; c < tensor.cols(); ++c) tensor.at(0, r, c) = c == first + r ? 1.0f : 0.0f;
}

// A matrix W whose row first + t is row t of all heads side by side.
Tensor weightsPicking(const Tensor& tensor, int rows, int first) {
  Tensor out(1, rows, tensor.heads() * tensor.cols());
  for (int h = 0; h < tensor.heads(); ++h)
    for (int t = 0; t < tensor.rows(); ++t)
      for (int c = 0; c < tensor.cols(); ++c)
        out.at(0, first + t, h * tensor.cols() + c) = tensor.at(h, t, c);
  return out;
}

// X has one column per token; those of the other sequence follow those of the queries.
void makeOneHot(State& state) {
  Settings sizes = state;
  const int first = state.cross ? state.tokens : 0;
  sizes.modelDim = first + state.keyTokens;
  resize(state, sizes);
  setIdentity(state.x);
  if (state.cross) setIdentity(state.xKv, first);
  setIdentity(state.wO);
  state.wQ = weightsPicking(state.q, state.modelDim, 0);
  state.wK = weightsPicking(state.k, state.modelDim, first);
  state.wV = weightsPicking(state.v, state.modelDim, first);
}

std::string zerosText(std::string_view name, int heads, int rows, int cols) {
  std::string data = "0";
  for (int i = 1; i < heads * rows * cols; ++i) data += ",0";
  return base::joined(
      {", \"", name, "\": {\"shape\": ", base::shapeText({heads, rows, cols}), ", \"data\": [", data, "]}"});
}

std::string textOf(const Example& example) {
  std::string text =
      base::joined({"{\"version\": 1, \"preset\": \"", example.preset.name, "\",", example.text});
  const Drawn& d = example.drawn;
  if (d.heads == 0) return text;
  text += base::joined({", \"kv_heads\": ", d.kvHeads}) + zerosText("q", d.heads, d.tokens, d.headDim);
  return text + zerosText("k", d.kvHeads, d.tokens, d.headDim) +
         zerosText("v", d.kvHeads, d.tokens, d.headDim) + "}";
}

void draw(State& state, bool zeroQueries) {
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v})
    if (id != TensorId::q || !zeroQueries) fillSeeded(state, id);
}

void project(const Tensor& x, const Tensor& w, Tensor& out) {
  for (int h = 0; h < out.heads(); ++h)
    for (int t = 0; t < out.rows(); ++t)
      for (int c = 0; c < out.cols(); ++c) {
        float sum = 0;
        for (int m = 0; m < x.cols(); ++m) sum += x.at(0, t, m) * w.at(0, m, h * out.cols() + c);
        out.at(h, t, c) = sum + 0.0f;  // + 0.0f turns -0 into 0
      }
}

void makeProjected(State& state) {
  project(state.x, state.wQ, state.q);
  project(state.x, state.wK, state.k);
  project(state.x, state.wV, state.v);
  state.mode = Mode::qkv;
}

// Apart from the default board, so that the first frame waits neither for the examples nor for their reader.
[[gnu::noinline]] Result<State> readExample(std::string_view name) {
  std::vector<std::string> names;
  for (const Example& example : kExamples) {
    names.emplace_back(example.preset.name);
    if (example.preset.name != name) continue;
    auto state = fromText(textOf(example), {});
    if (!state) return state.error();
    state->weightScale = Settings().weightScale;
    if (example.drawn.heads > 0) draw(*state, example.drawn.zeroQueries);
    if (example.other == Other::oneHot) makeOneHot(*state);
    if (example.other == Other::projected) makeProjected(*state);
    return state;
  }
  return base::refuse(Error::Kind::range, "preset",
                      {"there is no ", base::inQuotes(name), "; use one of ", names.size(),
                       " others, perhaps ", base::either(base::nearest(name, names, 3)), "."});
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

State firstBoard() {
  State state = saw({}, 1);
  state.causal = false;
  return state;
}

Result<State> preset(std::string_view name) {
  if (name == kDefault) return saw(kDefault, 2);
  return readExample(name);
}

}  // namespace document
