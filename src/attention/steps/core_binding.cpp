// The interface of the whole layer for JavaScript, for scores, normalisers and positions that the kernels do
// not have. web/core.js fills in a Forward (kernels_binding.cpp) and the Words below, and calls these
// functions when one of the words is not the default. Only compiled into the core module. Shapes and lengths
// are checked in core.js, which knows the names that its caller used.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>

#include "attention/kernels/core_word.h"
#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/backward.h"
#include "attention/steps/forward.h"

namespace attention {
namespace {

/// The options of a layer, by 32-bit words.
struct Words {
  int score = 1, normalizer = 0, position = 0, pairs = 0, dims = 0, scaling = 0;
  float base = 10000.0f, factor = 1.0f;
  const float* ids = nullptr;  ///< integers
  int idCount = 0, prefix = 0, maskAfterSoftmax = 0;
  const float *wA = nullptr, *uA = nullptr, *vA = nullptr;
  int units = 0;  ///< rows of wA
  float *dWA = nullptr, *dUA = nullptr, *dVA = nullptr;
  const float* sink = nullptr;
  float* dSink = nullptr;
  int queryDim = 0;  ///< 0: headDim
};

#define WORD(name, member) CoreWord{name, offsetof(Words, member) / 4}
#define OPTION(name) WORD(#name, name)
constexpr CoreWord kWords[] = {
    OPTION(score),
    OPTION(normalizer),
    OPTION(position),
    WORD("rotaryPairs", pairs),
    WORD("rotaryDims", dims),
    WORD("rotaryScaling", scaling),
    WORD("rotaryBase", base),
    WORD("rotaryFactor", factor),
    WORD("positionIds", ids),
    OPTION(idCount),
    OPTION(prefix),
    OPTION(maskAfterSoftmax),
    OPTION(wA),
    OPTION(uA),
    OPTION(vA),
    OPTION(units),
    OPTION(dWA),
    OPTION(dUA),
    OPTION(dVA),
    OPTION(sink),
    OPTION(dSink),
    OPTION(queryDim),
    {},
};
#undef OPTION
#undef WORD

Tensor read(const kernels::In& from, int heads, int rows, int cols) {
  Tensor out(heads, rows, cols);
  for (int h = 0; h < heads; ++h)
    for (int i = 0; i < rows; ++i)
      std::copy_n(from.data + h * from.headStride + i * from.rowStride, cols, out.row(h, i));
  return out;
}
Tensor read(const float* from, int heads, int rows, int cols) {
  return read({from, std::ptrdiff_t{rows} * cols, cols}, heads, rows, cols);
}

void write(const Tensor& from, const kernels::Out& to) {
  for (int h = 0; to && h < from.heads(); ++h)
    for (int i = 0; i < from.rows(); ++i)
      std::copy_n(from.row(h, i), from.cols(), to.data + h * to.headStride + i * to.rowStride);
}
void write(const Tensor& from, float* to) {
  if (to) std::copy_n(from.data(), from.size(), to);
}

/// A call with its inputs, and the results.
struct Layer {
  Spec spec;
  Tensor q, k, v, wA, uA, vA, sink, bias;
  PaintedMask painted;
  Inputs inputs;
  Trace trace;

  Layer(const kernels::Forward& f, const Words& w) {
    spec.heads = f.heads, spec.kvHeads = f.kvHeads, spec.queryCount = f.queryCount,
    spec.keyCount = f.keyCount;
    spec.headDim = f.headDim, spec.valueDim = f.valueDim, spec.queryDim = w.queryDim;
    spec.score = static_cast<Score>(w.score), spec.normalizer = static_cast<Normalizer>(w.normalizer),
    spec.position = static_cast<Position>(w.position);
    spec.scale = f.scale != 0.0f ? f.scale
                                 : std::numeric_limits<float>::denorm_min();  // in a Spec, 0 means 1/√headDim
    spec.softcap = f.softcap, spec.temperature = f.temperature;
    spec.causal = f.causal, spec.causalOffset = f.causalOffset, spec.windowLeft = f.windowLeft,
    spec.windowRight = f.windowRight;
    spec.keyLength = f.keyLength, spec.prefix = w.prefix, spec.maskAfterSoftmax = w.maskAfterSoftmax != 0;
    spec.rotary = {static_cast<RotaryPairs>(w.pairs), w.base, w.dims, static_cast<RotaryScaling>(w.scaling),
                   w.factor};
    for (int i = 0; i < w.idCount; ++i) spec.positionIds.push_back(static_cast<int>(w.ids[i]));
    q = read(f.q, f.heads, f.queryCount, queryWidth(spec)), k = read(f.k, f.kvHeads, f.keyCount, f.headDim),
    v = read(f.v, f.kvHeads, f.keyCount, f.valueDim);
    inputs.q = &q, inputs.k = &k, inputs.v = &v;
    const int queryDim = queryWidth(spec);
    if (w.wA)
      wA = w.vA ? read(w.wA, f.heads, w.units, queryDim) : read(w.wA, f.heads, queryDim, f.headDim),
      inputs.wA = &wA;
    if (w.uA) uA = read(w.uA, f.heads, w.units, f.headDim), inputs.uA = &uA;
    if (w.vA) vA = read(w.vA, f.heads, 1, w.units), inputs.vA = &vA;
    if (w.sink) sink = read(w.sink, f.heads, 1, 1), inputs.sink = &sink, spec.sink = true;
    if (f.bias)
      bias = read(f.bias, f.bias.headStride != 0 ? f.heads : 1, f.queryCount, f.keyCount),
      inputs.bias = &bias;
    if (f.blocked) readBlocked(f);
  }

  /// A mask that all heads share becomes painted cells; one that differs between heads becomes a bias of
  /// -inf.
  void readBlocked(const kernels::Forward& f) {
    const auto isBlocked = [&](int h, int i, int j) {
      return f.blocked[h * f.blockedHeadStride + i * f.blockedRowStride + j] != 0;
    };
    const bool isShared = f.blockedHeadStride == 0;
    if (isShared) painted.rows = f.queryCount, painted.cols = f.keyCount, inputs.painted = &painted;
    else bias = Tensor(f.heads, f.queryCount, f.keyCount), inputs.bias = &bias;
    for (int h = 0; h < (isShared ? 1 : f.heads); ++h)
      for (int i = 0; i < f.queryCount; ++i)
        for (int j = 0; j < f.keyCount; ++j) {
          if (isShared) painted.blocked.push_back(isBlocked(h, i, j));
          else if (isBlocked(h, i, j)) bias.at(h, i, j) = -std::numeric_limits<float>::infinity();
        }
  }
};

/// Can the memory for the intermediates of such a layer be allocated? It is not checked again later.
bool hasRoom(const kernels::Forward& f, const Words& w, bool backward) {
  const double scores = 1.0 * f.heads * f.queryCount * f.keyCount,
               rows = 1.0 * f.heads * (1.0 * f.queryCount + f.keyCount);
  const double numbers =
      scores * (backward ? 16 : 10) +
      rows * (2.0 * std::max(f.headDim, w.queryDim) + f.valueDim + 2.0 * w.units) * (backward ? 12 : 6) +
      4.0 * f.heads * w.units * std::max(f.headDim, w.queryDim) + 1e6;
  if (numbers * 4.0 > 3.9e9) return false;
  void* memory = std::malloc(static_cast<std::size_t>(numbers * 4.0));
  std::free(memory);
  return memory != nullptr;
}

}  // namespace
}  // namespace attention

extern "C" {

/// The options of a layer; those that core.js does not know keep these defaults.
__attribute__((export_name("layer"))) attention::Words* coreLayer() {
  return new (std::nothrow) attention::Words;
}
__attribute__((export_name("layerBytes"))) std::size_t coreLayerBytes() { return sizeof(attention::Words); }
/// Where core.js finds each of them; the last name is null.
__attribute__((export_name("layerWords"))) const attention::CoreWord* coreLayerWords() {
  return attention::kWords;
}

/// The names of all scores and all normalisers, each followed by a space.
#define ATTENTION_USE(name) #name " "
__attribute__((export_name("scores"))) const char* coreScores() { return ATTENTION_SCORES(ATTENTION_USE); }
__attribute__((export_name("normalizers"))) const char* coreNormalizers() {
  return ATTENTION_NORMALIZERS(ATTENTION_USE);
}
#undef ATTENTION_USE
/// How many of w_a, u_a and v_a a score takes.
__attribute__((export_name("scoreWeights"))) int coreScoreWeights(int score) {
  return static_cast<int>(attention::mechanismOf(static_cast<attention::Score>(score)).parameters.size());
}

/// Returns 0 on success and 1 if there is not enough memory. All numbers must be finite.
__attribute__((export_name("layerForward"))) int coreLayerForward(const attention::kernels::Backward* call,
                                                                  const attention::Words* words) {
  using namespace attention;
  const kernels::Forward& f = call->forward;
  if (!hasRoom(f, *words, false)) return 1;
  const auto layer = std::make_unique<Layer>(f, *words);
  forward(layer->spec, layer->inputs, layer->trace);
  write(layer->trace.headOutput, f.output), write(layer->trace.weights, f.weights);
  return 0;
}

/// The same for the backward pass, from gradients of the output, the weights, or both.
__attribute__((export_name("layerBackward"))) int coreLayerBackward(const attention::kernels::Backward* call,
                                                                    const attention::Words* words) {
  using namespace attention;
  const kernels::Forward& f = call->forward;
  if (!hasRoom(f, *words, true)) return 1;
  const auto layer = std::make_unique<Layer>(f, *words);
  forward(layer->spec, layer->inputs, layer->trace);
  Tensor dOutput, dWeights;
  std::vector<Upstream> upstream;
  if (call->dOutput)
    dOutput = read(call->dOutput, f.heads, f.queryCount, f.valueDim),
    upstream.push_back({TensorId::head_output, &dOutput});
  if (call->dWeights)
    dWeights = read(call->dWeights, f.heads, f.queryCount, f.keyCount),
    upstream.push_back({TensorId::weights, &dWeights});
  const InputSet wanted = inputSet(TensorId::q) | inputSet(TensorId::k) | inputSet(TensorId::v) |
                          inputSet(TensorId::w_a) | inputSet(TensorId::u_a) | inputSet(TensorId::v_a) |
                          inputSet(TensorId::sink);
  const auto gradients = std::make_unique<Gradients>();
  const auto scratch = std::make_unique<BackwardScratch>();
  backward({layer->spec, layer->inputs, layer->trace}, upstream, wanted, *gradients, *scratch);
  write((*gradients)[TensorId::q], call->dQ), write((*gradients)[TensorId::k], call->dK),
      write((*gradients)[TensorId::v], call->dV);
  write((*gradients)[TensorId::w_a], words->dWA), write((*gradients)[TensorId::u_a], words->dUA),
      write((*gradients)[TensorId::v_a], words->dVA), write((*gradients)[TensorId::sink], words->dSink);
  return 0;
}
}
