// The kernels' interface for JavaScript: web/core.js fills a Forward in WebAssembly memory, word by word, and
// passes its address. Only compiled into the core module. Shapes and lengths are checked in core.js, which
// knows the names that its caller used.
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "attention/kernels/core_word.h"
#include "attention/kernels/kernels.h"

using namespace attention::kernels;

namespace {

#define WORD(name, member) attention::CoreWord{name, offsetof(Backward, member) / 4}
#define OPTION(name) WORD(#name, forward.name)
constexpr attention::CoreWord kCall[] = {
    OPTION(heads),
    OPTION(kvHeads),
    OPTION(queryCount),
    OPTION(keyCount),
    OPTION(headDim),
    OPTION(valueDim),
    OPTION(q),
    OPTION(k),
    OPTION(v),
    OPTION(scale),
    OPTION(softcap),
    OPTION(temperature),
    OPTION(causal),
    OPTION(causalOffset),
    OPTION(windowLeft),
    OPTION(windowRight),
    OPTION(keyLength),
    OPTION(blocked),
    WORD("blockedHead", forward.blockedHeadStride),
    WORD("blockedRow", forward.blockedRowStride),
    OPTION(bias),
    WORD("out", forward.output),
    OPTION(weights),
    WORD("dOutput", dOutput),
    WORD("dWeights", dWeights),
    WORD("dQ", dQ),
    WORD("dK", dK),
    WORD("dV", dV),
    {},
};
#undef OPTION
#undef WORD

}  // namespace

extern "C" {

/// One workspace per loaded module. Null if there is not enough memory.
__attribute__((export_name("workspace"))) Workspace* coreWorkspace() {
  return new (std::nothrow) Workspace(1);
}
/// The arguments of a call; those that core.js does not know keep these defaults.
__attribute__((export_name("call"))) Backward* coreCall() { return new (std::nothrow) Backward; }
__attribute__((export_name("callBytes"))) std::size_t coreCallBytes() { return sizeof(Backward); }
/// Where core.js finds each of them; the last name is null.
__attribute__((export_name("callWords"))) const attention::CoreWord* coreCallWords() { return kCall; }

__attribute__((export_name("alloc"))) void* coreAlloc(std::size_t bytes) {
  return std::aligned_alloc(16, (bytes + 15) / 16 * 16);
}
__attribute__((export_name("free"))) void coreFree(void* memory) { std::free(memory); }

/// The index of the first number that is not finite, or -1.
__attribute__((export_name("notFinite"))) std::ptrdiff_t coreNotFinite(const float* numbers,
                                                                       std::size_t count) {
  return notFinite(best(), numbers, count);
}

/// Returns 0 on success and 1 if there is not enough memory. Returns 2, without computing anything, if Q, K
/// or V contain numbers that are not finite, or so large that this has to be checked; core.js then checks,
/// and calls again with `areFinite`.
__attribute__((export_name("forward"))) int coreForward(Workspace* workspace, const Backward* call,
                                                        bool areFinite) {
  const Forward* f = &call->forward;
  if (areFinite) return forward(best(), *f, *workspace) ? 0 : 1;
  const float query = largestSquare(best(), f->q, f->heads, f->queryCount, f->headDim);
  const float key = largestSquare(best(), f->k, f->kvHeads, f->keyCount, f->headDim);
  const float value = largestSquare(best(), f->v, f->kvHeads, f->keyCount, f->valueDim);
  if (!std::isfinite(query + key + value)) return 2;
  const Magnitudes known{static_cast<double>(query), static_cast<double>(key), std::sqrt(value)};
  return forward(best(), *f, *workspace, &known) ? 0 : 1;
}

/// The same for the backward pass, whose words follow those of the forward pass.
__attribute__((export_name("backward"))) int coreBackward(Workspace* workspace, const Backward* call,
                                                          bool areFinite) {
  const Forward& f = call->forward;
  float squares = 0.0f;
  if (!areFinite) {
    squares += largestSquare(best(), f.q, f.heads, f.queryCount, f.headDim) +
               largestSquare(best(), f.k, f.kvHeads, f.keyCount, f.headDim) +
               largestSquare(best(), f.v, f.kvHeads, f.keyCount, f.valueDim);
    if (call->dOutput) squares += largestSquare(best(), call->dOutput, f.heads, f.queryCount, f.valueDim);
    if (call->dWeights) squares += largestSquare(best(), call->dWeights, f.heads, f.queryCount, f.keyCount);
  }
  if (!std::isfinite(squares)) return 2;
  return backward(best(), *call, *workspace) ? 0 : 1;
}
}
