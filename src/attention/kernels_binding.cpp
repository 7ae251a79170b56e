// The kernels as seen from JavaScript: web/core.js fills a Call in WebAssembly memory, word by word, and passes its address.
// Only part of the core module. Shapes and lengths are checked in core.js, which knows the names that its caller used.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "attention/kernels.h"

using namespace attention::kernels;

namespace {

/// The order is that of CALL in web/core.js. Strides in floats (of blocked: bytes); addresses may be 0.
struct Call {
  std::int32_t heads, kvHeads, queryCount, keyCount, headDim, valueDim;
  std::int32_t causal, causalOffset, windowLeft, windowRight, keyLength;
  float scale, softcap, temperature;
  const float* q;
  std::int32_t qHead, qRow;
  const float* k;
  std::int32_t kHead, kRow;
  const float* v;
  std::int32_t vHead, vRow;
  float* output;
  std::int32_t outputHead, outputRow;
  float* weights;
  const std::uint8_t* blocked;
  const float* bias;
  std::int32_t maskHead, maskRow;
};
static_assert(sizeof(void*) != 4 || sizeof(Call) == 31 * 4);

}  // namespace

extern "C" {

/// One per loaded module. Null when there is no memory.
__attribute__((export_name("workspace"))) Workspace* coreWorkspace() { return new (std::nothrow) Workspace(1); }

__attribute__((export_name("alloc"))) void* coreAlloc(std::size_t bytes) { return std::aligned_alloc(16, (bytes + 15) / 16 * 16); }
__attribute__((export_name("free"))) void coreFree(void* memory) { std::free(memory); }
__attribute__((export_name("callBytes"))) std::size_t coreCallBytes() { return sizeof(Call); }

/// The index of the first number that is not finite, or -1.
__attribute__((export_name("notFinite"))) std::ptrdiff_t coreNotFinite(const float* numbers, std::size_t count) {
  return notFinite(best(), numbers, count);
}

/// 1, or 0 when there is no memory for it.
__attribute__((export_name("forward"))) int coreForward(Workspace* workspace, const Call* c) {
  Forward f;
  f.heads = c->heads, f.kvHeads = c->kvHeads;
  f.queryCount = c->queryCount, f.keyCount = c->keyCount;
  f.headDim = c->headDim, f.valueDim = c->valueDim;
  f.causal = c->causal != 0, f.causalOffset = c->causalOffset;
  f.windowLeft = c->windowLeft, f.windowRight = c->windowRight, f.keyLength = c->keyLength;
  f.scale = c->scale, f.softcap = c->softcap, f.temperature = c->temperature;
  f.q = {c->q, c->qHead, c->qRow};
  f.k = {c->k, c->kHead, c->kRow};
  f.v = {c->v, c->vHead, c->vRow};
  f.output = {c->output, c->outputHead, c->outputRow};
  if (c->weights) f.weights = {c->weights, static_cast<std::ptrdiff_t>(c->queryCount) * c->keyCount, c->keyCount};
  f.blocked = c->blocked, f.blockedHeadStride = c->maskHead, f.blockedRowStride = c->maskRow;
  if (c->bias) f.bias = {c->bias, c->maskHead, c->maskRow};
  return forward(best(), f, *workspace) ? 1 : 0;
}
}
