// The fused backward pass: choice of the kernel, distribution of the work over threads, and rows that
// overflow floats.
#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <limits>

#include "attention/kernels/kernels_table.h"

namespace attention::kernels {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kThreadsPay = 2e6;  // as in kernels.cpp, for the products of a backward pass

const BackwardTable& backwardOf(Kernel kernel) {
  switch (kernel) {
#if defined(__wasm_simd128__)
    default: return wasm::backward();
#else
#if defined(__x86_64__)
    case Kernel::sse4: return sse4::backward();
    case Kernel::avx2: return avx2::backward();
    case Kernel::avx512: return avx512::backward();
#endif
    default: return scalar::backward();
#endif
  }
}

double clamped(double x) { return std::clamp(x, -double{FLT_MAX}, double{FLT_MAX}); }
const float* rowOf(const In& in, int head, int row) {
  return in.data + head * in.headStride + row * in.rowStride;
}
float* rowOf(const Out& out, int head, int row) {
  return out.data + head * out.headStride + row * out.rowStride;
}
void add(float& to, double more) { to = static_cast<float>(clamped(double{to} + more)); }

/// One row in double precision: from its scores to its contributions to dQ, dK and dV.
class CarefulRow {
 public:
  CarefulRow(const BackwardPlan& plan, int head, int row, double* memory)
      : call_(plan.call),
        f_(plan.call.forward),
        head_(head),
        row_(row),
        kvHead_(head / (f_.heads / f_.kvHeads)),
        keys_(visibleKeys(plan.plan, row)),
        p_(memory),
        d_(memory + f_.keyCount),
        slope_(memory + 2 * std::ptrdiff_t{f_.keyCount}),
        factor_(double{f_.scale} / double{f_.temperature}) {}

  void run() {
    makeWeights();
    makeGradients();
    for (int j = keys_.begin; j < keys_.end; ++j) {
      if (p_[j] == 0.0 && d_[j] == 0.0) continue;
      const double d = clamped(clamped(d_[j] * slope_[j]) * factor_);
      addScaled(d, rowOf(f_.k, kvHead_, j), f_.headDim, call_.dQ, head_, row_);
      addScaled(d, rowOf(f_.q, head_, row_), f_.headDim, call_.dK, kvHead_, j);
      if (call_.dOutput)
        addScaled(p_[j], rowOf(call_.dOutput, head_, row_), f_.valueDim, call_.dV, kvHead_, j);
    }
  }

 private:
  static double dot(const float* a, const float* b, int count) {
    double sum = 0.0;
    for (int c = 0; c < count; ++c) sum += double{a[c]} * double{b[c]};
    return sum;
  }
  static void addScaled(double by, const float* from, int count, const Out& out, int head, int row) {
    for (int c = 0; out && c < count; ++c) add(rowOf(out, head, row)[c], by * double{from[c]});
  }

  void makeWeights() {
    double most = -kInfinity, sum = 0.0;
    for (int j = keys_.begin; j < keys_.end; ++j) {
      double s = clamped(clamped(dot(rowOf(f_.q, head_, row_), rowOf(f_.k, kvHead_, j), f_.headDim)) *
                         double{f_.scale});
      slope_[j] = 1.0;
      if (f_.softcap > 0.0f) {
        const double tanh = std::tanh(s / double{f_.softcap});
        s = double{f_.softcap} * tanh, slope_[j] = (1.0 - tanh) * (1.0 + tanh);
      }
      if (f_.bias) {
        const double bias = double{rowOf(f_.bias, head_, row_)[j]};
        s = bias == -kInfinity ? bias : clamped(s + bias);
      }
      if (f_.blocked && f_.blocked[head_ * f_.blockedHeadStride + row_ * f_.blockedRowStride + j])
        s = -kInfinity;
      p_[j] = s == -kInfinity ? s : clamped(s / double{f_.temperature});
      most = std::max(most, p_[j]);
    }
    for (int j = keys_.begin; j < keys_.end; ++j)
      sum += p_[j] = p_[j] == -kInfinity ? 0.0 : std::exp(p_[j] - most);
    for (int j = keys_.begin; j < keys_.end; ++j) p_[j] = sum > 0.0 ? p_[j] / sum : 0.0;
  }

  void makeGradients() {
    double mean = 0.0;
    for (int j = keys_.begin; j < keys_.end; ++j) {
      d_[j] = call_.dWeights ? double{rowOf(call_.dWeights, head_, row_)[j]} : 0.0;
      if (call_.dOutput)
        d_[j] += dot(rowOf(call_.dOutput, head_, row_), rowOf(f_.v, kvHead_, j), f_.valueDim);
      mean += p_[j] * d_[j];
    }
    for (int j = keys_.begin; j < keys_.end; ++j) d_[j] = p_[j] * (d_[j] - mean);
  }

  const Backward& call_;
  const Forward& f_;
  int head_, row_, kvHead_;
  Keys keys_;
  double *p_, *d_, *slope_;
  double factor_;
};

void zero(const Out& out, int head, int rows, int columns) {
  for (int r = 0; out && r < rows; ++r) std::fill_n(rowOf(out, head, r), columns, 0.0f);
}

struct Work {
  const BackwardPlan& plan;
  const BackwardTable& table;
  float* const* memory;
  std::atomic<int> next{0};

  static void serve(void* context, int thread) {
    Work& work = *static_cast<Work*>(context);
    for (int i; (i = work.next.fetch_add(1, std::memory_order_relaxed)) < work.plan.call.forward.kvHeads;) {
      work.table.unit(work.plan, i, work.memory[thread]);
    }
  }
};

}  // namespace

void backwardCarefully(const BackwardPlan& plan, int kvHead, double* rows) {
  const Forward& f = plan.call.forward;
  const int group = f.heads / f.kvHeads;
  zero(plan.call.dK, kvHead, f.keyCount, f.headDim);
  zero(plan.call.dV, kvHead, f.keyCount, f.valueDim);
  for (int head = kvHead * group; head < (kvHead + 1) * group; ++head) {
    zero(plan.call.dQ, head, f.queryCount, f.headDim);
    for (int row = 0; row < f.queryCount; ++row) CarefulRow(plan, head, row, rows).run();
  }
}

bool backward(Kernel kernel, const Backward& given, Workspace& workspace) {
  Backward call = given;
  Forward& f = call.forward;
  for (Out* out : {&f.output, &f.weights, &f.raw, &f.scores, &f.softcapped, &f.masked, &f.exponentials,
                   &f.rowMax, &f.rowSum})
    *out = {};
  const BackwardTable& table = backwardOf(kernel);
  const double factor = double{f.scale} / double{f.temperature};
  const BackwardPlan plan{call, planOf(f, tableOf(kernel).blocking), static_cast<float>(clamped(factor))};
  float* const* memory = reserve(workspace, table.floats(plan));
  if (!memory) return false;
  const double products = static_cast<double>(f.heads) * f.queryCount * f.keyCount * (f.headDim + f.valueDim);
  const int threads = products < kThreadsPay ? 1 : std::min(workspace.threads(), f.kvHeads);
  Work work{plan, table, memory};
  run(workspace, threads, &Work::serve, &work);
  return true;
}

}  // namespace attention::kernels
