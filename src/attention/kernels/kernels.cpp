// Choice of the kernel, distribution of the work over threads, and rows that overflow floats.
#include "attention/kernels/kernels.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "attention/kernels/aligned.h"
#include "attention/kernels/kernels_table.h"
#include "attention/kernels/processor.h"

#ifndef __EMSCRIPTEN__
#include <condition_variable>
#include <mutex>
#include <thread>
#endif

namespace attention::kernels {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::array<std::string_view, 6> kNames{"scalar", "sse4",         "avx2",
                                                 "avx512", "wasm-simd128", "wasm-relaxed"};

/// Scratch for packed K and V: large enough that packing is rare, small enough for the second-level cache.
constexpr std::int64_t kPackedFloats = 1 << 18;
/// So few rows of Q and K, where each is long, would take many times their memory if they were packed, and
/// save no time.
constexpr int kFewRows = 16;
/// With fewer multiplications than this, waking threads costs more than they save (measured: about 20 µs per
/// call).
constexpr double kThreadsPay = 4e6;

struct Found {
  std::array<Kernel, 6> kernels{};
  std::size_t count = 0;
  void add(Kernel kernel) { kernels[count++] = kernel; }
};

Found find() {
  Found found;
#if defined(__wasm_relaxed_simd__)
  found.add(Kernel::wasmRelaxed);
#elif defined(__wasm_simd128__)
  found.add(Kernel::wasmSimd128);
#else
  found.add(Kernel::scalar);
#endif
#if defined(__x86_64__)
  const Processor processor;
  if (processor.hasSse4()) found.add(Kernel::sse4);
  if (processor.hasAvx2()) found.add(Kernel::avx2);
  if (processor.hasAvx512()) found.add(Kernel::avx512);
#endif
  return found;
}

}  // namespace

const Table& tableOf(Kernel kernel) {
  switch (kernel) {
#if defined(__wasm_simd128__)
    default: return wasm::table();
#else
#if defined(__x86_64__)
    case Kernel::sse4: return sse4::table();
    case Kernel::avx2: return avx2::table();
    case Kernel::avx512: return avx512::table();
#endif
    default: return scalar::table();
#endif
  }
}

namespace {

float clamped(double x) {
  return static_cast<float>(std::clamp(x, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)));
}

std::int64_t roundedUp(std::int64_t count, std::int64_t to) { return (count + to - 1) / to * to; }

}  // namespace

std::string_view name(Kernel kernel) { return kNames[static_cast<std::size_t>(kernel)]; }

std::optional<Kernel> kernelNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Kernel>(i);
  return std::nullopt;
}

std::span<const Kernel> available() {
  static const Found found = find();
  return {found.kernels.data(), found.count};
}

Kernel best() { return available().back(); }

// ---- memory and threads

struct Workspace::Parts {
  explicit Parts(int threads);
  ~Parts();
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  /// Makes sure that each of the first `count` threads has room for `floats` numbers; false if there is not
  /// enough memory.
  bool reserve(std::size_t floats, int count);
  /// Calls work(context, thread) on `threads` threads at once; the calling thread is number 0.
  void run(int threads, void (*work)(void*, int), void* context);

  int threadCount = 1;
  std::vector<float*> memory;      // one block per thread
  std::vector<std::size_t> sizes;  // of these blocks, in floats
  std::vector<Scratch> scratch;
#ifndef __EMSCRIPTEN__
  void serve(int thread);
  std::vector<std::thread> threads;
  std::mutex mutex;
  std::condition_variable wake, done;
  void (*job)(void*, int) = nullptr;
  void* jobContext = nullptr;
  int jobThreads = 0, unfinished = 0;
  std::uint64_t generation = 0;
  bool quit = false;
#endif
};

Workspace::Parts::Parts(int wanted) {
#ifndef __EMSCRIPTEN__
  threadCount = std::max(1, wanted > 0 ? wanted : static_cast<int>(std::thread::hardware_concurrency()));
#else
  (void)wanted;
#endif
  memory.resize(static_cast<std::size_t>(threadCount), nullptr);
  sizes.resize(static_cast<std::size_t>(threadCount), 0);
  scratch.resize(static_cast<std::size_t>(threadCount));
}

bool Workspace::Parts::reserve(std::size_t floats, int count) {
  for (std::size_t t = 0; t < static_cast<std::size_t>(count); ++t) {
    if (floats <= sizes[t]) continue;
    scratch[t].content = 0;
    float*& block = memory[t];
    freeLines(block);
    sizes[t] = 0;
    block = static_cast<float*>(allocateLines(floats * sizeof(float)));
    if (!block) return false;
    std::fill(block, block + floats,
              0.0f);  // tile rows beyond the last query are read too, and must not hold subnormal numbers
    sizes[t] = floats;
  }
  return true;
}

#ifndef __EMSCRIPTEN__
Workspace::Parts::~Parts() {
  {
    const std::lock_guard lock(mutex);
    quit = true;
  }
  wake.notify_all();
  for (std::thread& thread : threads) thread.join();
  for (float* block : memory) freeLines(block);
}

void Workspace::Parts::serve(int thread) {
  std::uint64_t seen = 0;
  for (std::unique_lock lock(mutex);;) {
    wake.wait(lock, [&] { return quit || generation != seen; });
    if (quit) return;
    seen = generation;
    if (thread >= jobThreads) continue;
    lock.unlock();
    job(jobContext, thread);
    lock.lock();
    if (--unfinished == 0) done.notify_one();
  }
}

void Workspace::Parts::run(int count, void (*work)(void*, int), void* context) {
  if (count > 1) {
    while (static_cast<int>(threads.size()) < count - 1) {
      const int thread = static_cast<int>(threads.size()) + 1;
      threads.emplace_back([this, thread] { serve(thread); });
    }
    {
      const std::lock_guard lock(mutex);
      job = work, jobContext = context, jobThreads = count, unfinished = count - 1;
      ++generation;
    }
    wake.notify_all();
  }
  work(context, 0);
  if (count > 1) {
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return unfinished == 0; });
  }
}
#else
Workspace::Parts::~Parts() {
  for (float* block : memory) freeLines(block);
}
void Workspace::Parts::run(int, void (*work)(void*, int), void* context) { work(context, 0); }
#endif

Workspace::Workspace(int threads) : parts_(std::make_unique<Parts>(threads)) {}
Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;
Workspace& Workspace::operator=(Workspace&&) noexcept = default;
int Workspace::threads() const { return parts_->threadCount; }
std::size_t Workspace::bytes() const {
  return sizeof(float) * std::accumulate(parts_->sizes.begin(), parts_->sizes.end(), std::size_t{0});
}

// ---- forward

Keys visibleKeys(const Plan& plan, int row) {
  const Forward& f = plan.call;
  const int length = f.keyLength < 0 ? f.keyCount : std::min(f.keyLength, f.keyCount);
  const std::int64_t position = std::int64_t{row} + f.causalOffset;
  std::int64_t begin = 0, end = length;
  if (f.causal) end = std::min(end, position + 1);
  if (f.windowRight >= 0) end = std::min(end, position + f.windowRight + 1);
  if (f.windowLeft >= 0) begin = std::max(begin, position - f.windowLeft);
  return {static_cast<int>(std::clamp<std::int64_t>(begin, 0, length)),
          static_cast<int>(std::clamp<std::int64_t>(end, 0, length))};
}

bool fits(const Plan& plan, const Magnitudes& most) {
  return std::sqrt(most.querySquare * most.keySquare) * plan.margin < 1e37 &&
         std::sqrt(most.querySquare) * plan.margin < 1e37 &&
         static_cast<double>(most.value) * plan.keyEnd < 1e37;
}

bool isBounded(const Plan& plan, const Magnitudes& most) {
  constexpr double kMostScore =
      60.0;  // unit-normal Q and K of 64 dimensions give up to 20, or 45 by the bounds in Magnitudes
  const Forward& f = plan.call;
  if (!plan.plain || f.exponentials || f.rowSum) return false;
  const double score =
      std::sqrt(most.querySquare * most.keySquare) * std::abs(static_cast<double>(plan.queryFactor));
  // The limits on the inputs: with larger squares some products might have underflowed; values much larger,
  // times 2^60, or much smaller, times 2^-60, would leave the range of a float.
  return score < kMostScore && most.querySquare < 1e30 && most.keySquare < 1e30 &&
         (most.value == 0.0f ||
          (most.value > 1e-15f && static_cast<double>(most.value) * plan.keyEnd < 1e18));
}

void forwardCarefully(const Plan& plan, int head, int rowBegin, int rowEnd, double* row) {
  const Forward& f = plan.call;
  const auto put = [&](const Out& out, int i, int column, double value) {
    if (out) out.data[head * out.headStride + i * out.rowStride + column] = static_cast<float>(value);
  };
  const int kvHead = head / (f.heads / f.kvHeads);
  for (int i = rowBegin; i < rowEnd; ++i) {
    const Keys keys = visibleKeys(plan, i);
    const float* q = f.q.data + head * f.q.headStride + i * f.q.rowStride;
    double max = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < f.keyCount; ++j) {
      const float* k = f.k.data + kvHead * f.k.headStride + j * f.k.rowStride;
      double dot = 0.0;
      for (int c = 0; c < f.headDim; ++c) dot += static_cast<double>(q[c]) * static_cast<double>(k[c]);
      double s = clamped(dot);
      put(f.raw, i, j, s);
      s = clamped(s * static_cast<double>(f.scale));
      put(f.scores, i, j, s);
      if (f.softcap > 0.0f)
        s = static_cast<double>(f.softcap) * std::tanh(s / static_cast<double>(f.softcap));
      put(f.softcapped, i, j, s);
      if (f.bias) {
        const float bias = f.bias.data[head * f.bias.headStride + i * f.bias.rowStride + j];
        s = bias == -kInfinity ? static_cast<double>(bias)
                               : static_cast<double>(clamped(s + static_cast<double>(bias)));
      }
      const bool blocked = f.blocked && f.blocked[head * f.blockedHeadStride + i * f.blockedRowStride + j];
      if (j < keys.begin || j >= keys.end || blocked) s = -std::numeric_limits<double>::infinity();
      put(f.masked, i, j, s);
      if (std::isfinite(s)) s = clamped(s / static_cast<double>(f.temperature));
      row[j] = s;
      max = std::max(max, s);
    }
    double sum = 0.0;
    for (int j = 0; j < f.keyCount; ++j) sum += row[j] = std::isinf(row[j]) ? 0.0 : std::exp(row[j] - max);
    put(f.rowMax, i, 0, max);
    put(f.rowSum, i, 0, sum);
    for (int j = 0; j < f.keyCount; ++j) {
      double& s = row[j];
      put(f.exponentials, i, j, s);
      s = sum > 0.0 ? s / sum : 0.0;
      put(f.weights, i, j, s);
    }
    for (int c = 0; f.output && c < f.valueDim; ++c) {
      double out = 0.0;
      for (int j = keys.begin; j < keys.end; ++j)
        out += row[j] * static_cast<double>(f.v.data[kvHead * f.v.headStride + j * f.v.rowStride + c]);
      put(f.output, i, c, clamped(out));
    }
  }
}

namespace {

Plan planOf(const Forward& call, const Blocking& blocking, const Magnitudes* known) {
  Plan plan{call};
  const bool scores = call.raw || call.scores || call.softcapped;
  plan.allScores = scores;
  plan.plain = !(scores || call.masked || call.rowMax || call.softcap > 0.0f || call.bias);
  const int length = call.keyLength < 0 ? call.keyCount : std::min(call.keyLength, call.keyCount);
  plan.keyEnd = scores ? call.keyCount : length;
  plan.isMasked = call.causal || call.windowLeft >= 0 || call.windowRight >= 0 || call.blocked || call.bias ||
                  length < plan.keyEnd;
  plan.isDirect = call.output && !plan.isMasked && plan.keyEnd > 0 && plan.keyEnd <= blocking.keys &&
                  call.valueDim % blocking.panel == 0;

  const bool whole =
      call.weights ||
      call.exponentials;  // these are rescaled when a row is complete, so all keys must be done in one pass
  const std::int64_t each = std::int64_t{call.headDim} + roundedUp(call.valueDim, blocking.panel);
  const std::int64_t all = roundedUp(std::max(plan.keyEnd, 1), blocking.panel);
  const bool isSmall = all * each <= kPackedFloats;
  const std::int64_t some = std::max<std::int64_t>(kPackedFloats / each / blocking.keys, 1) * blocking.keys;
  plan.packedKeys = static_cast<int>(whole || isSmall ? all : std::min(all, some));
  plan.isCareful = !isSmall && call.queryCount + plan.keyEnd <= kFewRows;

  const double log2e = 1.44269504088896340736;
  plan.finalFactor = 1.0f / call.temperature;
  plan.queryFactor = plan.plain ? static_cast<float>(static_cast<double>(call.scale) /
                                                     static_cast<double>(call.temperature) * log2e)
                                : 1.0f;
  plan.margin = 2.0 * std::max(1.0, std::abs(static_cast<double>(call.scale))) *
                std::max(1.0, 1.0 / static_cast<double>(call.temperature));
  // A largest value of 0 may also mean that squares underflowed; then each block is checked by itself.
  plan.isBounded = known && known->value > 0.0f && fits(plan, *known) && isBounded(plan, *known);
  return plan;
}

/// Keeps what the call before has packed, if it is the same.
void keep(const Plan& plan, const Scratch& before, Scratch& now) {
  const Forward& f = plan.call;
  now.content = f.content, now.keyEnd = plan.keyEnd;
  const bool isSame = f.content != 0 && f.content == before.content && before.packedBegin == 0 &&
                      before.keyEnd == plan.keyEnd && plan.keyEnd <= plan.packedKeys &&
                      before.keys == now.keys;
  if (!isSame || (f.output && !(before.hasValues && before.packedValues == now.packedValues))) return;
  now.packedHead = before.packedHead, now.packedBegin = 0;
  now.keySquare = before.keySquare, now.valueMagnitude = f.output ? before.valueMagnitude : 0.0f;
  now.hasValues = f.output.data != nullptr;
  now.values = before.values, now.valueStride = before.valueStride, now.valuePanel = before.valuePanel;
}

/// Lays out one thread's scratch memory. Returns how much it needs; with `memory` null it only counts.
std::size_t place(const Plan& plan, const Blocking& blocking, int unitRows, float* memory, Scratch& scratch) {
  std::size_t used = 0;
  const auto take = [&](std::int64_t floats) {
    float* at = memory ? memory + used : nullptr;
    used += static_cast<std::size_t>(roundedUp(floats, 16));
    return at;
  };
  const Forward& f = plan.call;
  const std::int64_t rows = blocking.rows;
  const std::int64_t headDim = plan.isCareful ? 0 : f.headDim;
  const std::int64_t valueDim = f.output && !plan.isCareful ? roundedUp(f.valueDim, blocking.panel) : 0;
  const Scratch before = std::exchange(scratch, Scratch{});
  // What is kept for the next call is first, where it has the same place whatever else that call needs.
  scratch.keys = take(plan.packedKeys * headDim);
  scratch.packedValues = take(std::int64_t{plan.packedKeys} * valueDim);
  keep(plan, before, scratch);
  scratch.query = take(roundedUp(headDim, kBlockKeys) / kBlockKeys * rows * kRowStride);
  scratch.scores = take(rows * kRowStride);
  scratch.sums = take(std::min(rows, roundedUp(f.queryCount, blocking.tileRows)) * valueDim);
  scratch.rowMax = take(std::int64_t{unitRows} * (f.heads / f.kvHeads));
  scratch.rowSum = take(std::int64_t{unitRows} * (f.heads / f.kvHeads) + 16);  // read in whole vectors
  scratch.carefulRow = reinterpret_cast<double*>(take(std::int64_t{2} * f.keyCount));
  if (f.weights || f.exponentials)
    scratch.blockMax = take(roundedUp(std::max(plan.keyEnd, 1), blocking.keys) / blocking.keys * rows);
  return used;
}

struct Work {
  const Plan& plan;
  const Table& table;
  Workspace::Parts& parts;
  int unitRows, unitsPerHead, units;
  std::atomic<int> next{0};

  static void serve(void* context, int thread) {
    Work& work = *static_cast<Work*>(context);
    Scratch& scratch = work.parts.scratch[static_cast<std::size_t>(thread)];
    for (int i; (i = work.next.fetch_add(1, std::memory_order_relaxed)) < work.units;) {
      // Later rows first: with a causal mask they see the most keys, so the small units are left for the end.
      const int part = work.unitsPerHead - 1 - i % work.unitsPerHead;
      const int begin = part * work.unitRows;
      const Unit unit{i / work.unitsPerHead, begin,
                      std::min(begin + work.unitRows, work.plan.call.queryCount)};
      if (!work.plan.isCareful) {
        work.table.forward(work.plan, unit, scratch);
        continue;
      }
      const int group = work.plan.call.heads / work.plan.call.kvHeads;
      for (int head = unit.kvHead * group; head < (unit.kvHead + 1) * group; ++head)
        forwardCarefully(work.plan, head, unit.rowBegin, unit.rowEnd, scratch.carefulRow);
    }
  }
};

}  // namespace

std::optional<Tiles> forward(Kernel kernel, const Forward& call, Workspace& workspace,
                             const Magnitudes* known) {
  if (call.queryCount == 0) return Tiles{};
  const Table& table = tableOf(kernel);
  const Plan plan = planOf(call, table.blocking, known);
  Workspace::Parts& parts = workspace.parts();

  const double products = static_cast<double>(call.heads) * call.queryCount * std::max(plan.keyEnd, 1) *
                          (call.headDim + call.valueDim);
  const int threads = products < kThreadsPay ? 1 : parts.threadCount;
  const int blocks = (call.queryCount + table.blocking.rows - 1) / table.blocking.rows;
  // A few units per thread balance the load. The results do not depend on the division, since blocks begin at
  // the same rows.
  const int shares = threads == 1 ? 1 : std::min(blocks, (4 * threads + call.kvHeads - 1) / call.kvHeads);
  const int unitRows = (blocks + shares - 1) / shares * table.blocking.rows;
  const int unitsPerHead = (call.queryCount + unitRows - 1) / unitRows, units = unitsPerHead * call.kvHeads;
  const int used = std::min(threads, units);

  const auto placed = [&](std::size_t t) {
    return place(plan, table.blocking, unitRows, parts.memory[t], parts.scratch[t]);
  };
  const std::size_t needed = placed(0);
  const std::size_t unplaced = needed > parts.sizes[0] ? 0 : 1;
  if (!parts.reserve(needed, used)) return std::nullopt;
  for (std::size_t t = unplaced; t < static_cast<std::size_t>(used); ++t) placed(t);

  Work work{plan, table, parts, unitRows, unitsPerHead, units};
  parts.run(used, &Work::serve, &work);
  Tiles tiles{0, 0, table.blocking.tileRows, table.blocking.panel};
  tiles.total = roundedUp(call.queryCount, tiles.rows) / tiles.rows *
                (roundedUp(call.keyCount, tiles.keys) / tiles.keys) * call.heads;
  for (int t = 0; t < used; ++t) tiles.computed += parts.scratch[static_cast<std::size_t>(t)].computed;
  return tiles;
}

float* const* reserve(Workspace& workspace, std::size_t floats) {
  Workspace::Parts& parts = workspace.parts();
  for (Scratch& scratch : parts.scratch) scratch.content = 0;
  return parts.reserve(floats, parts.threadCount) ? parts.memory.data() : nullptr;
}

void run(Workspace& workspace, int threads, void (*work)(void*, int), void* context) {
  workspace.parts().run(threads, work, context);
}

Plan planOf(const Forward& call, const Blocking& blocking) { return planOf(call, blocking, nullptr); }

// ---- row operations

float exp(Kernel kernel, const float* in, float shift, int count, float* out) {
  return tableOf(kernel).exp(in, shift, count, out);
}
void dots(Kernel kernel, const float* a, const float* rows, std::ptrdiff_t rowStride, int count, int dim,
          float* out, std::ptrdiff_t outStride) {
  tableOf(kernel).dots(a, rows, rowStride, count, dim, out, outStride);
}
void tanhs(Kernel kernel, const float* a, const float* rows, const float* v, int count, int dim, float* out) {
  tableOf(kernel).tanhs(a, rows, v, count, dim, out);
}
SoftmaxRow softmax(Kernel kernel, const float* in, float temperature, int count, float* exponentials,
                   float* weights) {
  return tableOf(kernel).softmax(in, temperature, count, exponentials, weights);
}
void weightedSum(Kernel kernel, const float* weights, const float* rows, std::ptrdiff_t rowStride, int count,
                 int dim, float* out) {
  tableOf(kernel).weightedSum(weights, rows, rowStride, count, dim, out);
}
void axpy(Kernel kernel, float a, const float* x, std::ptrdiff_t xStride, int count, float* y,
          std::ptrdiff_t yStride) {
  tableOf(kernel).axpy(a, x, xStride, count, y, yStride);
}
void scale(Kernel kernel, float a, const float* in, int count, float* out) {
  tableOf(kernel).scale(a, in, count, out);
}
float largestSquare(Kernel kernel, const In& in, int heads, int rows, int columns) {
  return tableOf(kernel).largestSquare(in, heads, rows, columns);
}
float largest(Kernel kernel, const float* in, int count) { return tableOf(kernel).largest(in, count); }
std::ptrdiff_t notFinite(Kernel kernel, const float* in, std::size_t count) {
  return tableOf(kernel).notFinite(in, count);
}

}  // namespace attention::kernels
