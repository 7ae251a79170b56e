#include "attention/experiments/timing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"

namespace attention {
namespace {

Tensor drawn(int rows, int cols, base::NormalRandom& random, float size) {
  Tensor out(1, rows, cols);
  for (float& number : out.values()) number = size * static_cast<float>(random.next());
  return out;
}

/// softmax(Q·Kᵀ·scale)·V as it is written down. Not inlined, so that no call is left out for its result.
[[gnu::noinline]] void byLoops(const Tensor& q, const Tensor& k, const Tensor& v, float scale,
                               std::vector<float>& row, Tensor& out) {
  const int columns = q.cols();
  row.resize(static_cast<std::size_t>(k.rows()));
  for (int i = 0; i < q.rows(); ++i) {
    float most = -std::numeric_limits<float>::infinity(), sum = 0;
    for (int j = 0; j < k.rows(); ++j) {
      float score = 0;
      for (int c = 0; c < columns; ++c) score += q.at(0, i, c) * k.at(0, j, c);
      row[static_cast<std::size_t>(j)] = score * scale;
      most = std::max(most, score * scale);
    }
    for (float& score : row) sum += score = std::exp(score - most);
    for (int c = 0; c < v.cols(); ++c) {
      float mean = 0;
      for (int j = 0; j < k.rows(); ++j) mean += row[static_cast<std::size_t>(j)] / sum * v.at(0, j, c);
      out.at(0, i, c) = mean;
    }
  }
}

kernels::In reading(const Tensor& tensor) { return {tensor.data(), 0, tensor.cols()}; }

}  // namespace

Timing::Timing(int tokens, int columns)
    : tokens_(std::clamp(tokens, 1, kMostTokens)),
      columns_(std::clamp(columns, 1, kMostColumns)) {
  base::NormalRandom random(1);
  const float size = 1.0f / std::sqrt(static_cast<float>(columns_));
  for (Tensor* t : {&x_, &q_, &k_, &v_}) *t = drawn(tokens_, columns_, random, 1);
  for (Tensor* t : {&wQ_, &wK_, &wV_, &wA_, &uA_, &recurrentW_, &recurrentU_})
    *t = drawn(columns_, columns_, random, size);
  vA_ = drawn(1, columns_, random, 1);
  spec_.queryCount = spec_.keyCount = tokens_, spec_.headDim = spec_.valueDim = columns_;
  byLoops_ = byKernels_ = Tensor(1, tokens_, columns_);
  calls_.fill(1);
}

void Timing::call(Way way) {
  Spec spec = spec_;
  switch (way) {
    case Way::loops: return byLoops(q_, k_, v_, scaleFactor(spec), row_, byLoops_);
    case Way::kernels: {
      kernels::Forward call;
      call.queryCount = call.keyCount = tokens_, call.headDim = call.valueDim = columns_;
      call.q = reading(q_), call.k = reading(k_), call.v = reading(v_), call.scale = scaleFactor(spec);
      call.output = {byKernels_.data(), 0, columns_};
      (void)kernels::forward(kernels::best(), call, workspace_);
      return;
    }
    case Way::recurrent: {
      RecurrentInputs in;
      in.x = &x_, in.w = &recurrentW_, in.u = &recurrentU_;
      return forwardRecurrent(in, states_, products_);
    }
    case Way::additive:
    case Way::dot:
    case Way::attention: break;
  }
  Inputs in;
  if (way == Way::attention) in.x = &x_, in.wQ = &wQ_, in.wK = &wK_, in.wV = &wV_;
  else in.q = &q_, in.k = &k_, in.v = &v_;
  if (way == Way::additive) spec.score = Score::additive, in.wA = &wA_, in.uA = &uA_, in.vA = &vA_;
  forward(spec, in, trace_, scratch_);
}

bool Timing::go(const std::function<double()>& now) {
  if (isWhole()) return false;
  const auto at = static_cast<std::size_t>(next_);
  const double began = now();
  for (int i = 0; i < calls_[at]; ++i) call(static_cast<Way>(next_));
  const double took = now() - began;
  constexpr int kMostCalls = 1 << 16;              // should the clock stand still
  if (took < kLeast && calls_[at] < kMostCalls) {  // too short to be measured; it warms up
    calls_[at] *= 2;
    return true;
  }
  times_[at].push_back(took / calls_[at]);
  next_ = (next_ + 1) % kWays;
  return !isWhole();
}

int Timing::runs() const {
  std::size_t runs = 0;
  for (const std::vector<double>& times : times_) runs += times.size();
  return static_cast<int>(runs);
}

double Timing::median(Way way) const {
  if (!isWhole()) return 0;
  std::vector<double> times = times_[static_cast<std::size_t>(way)];
  std::nth_element(times.begin(), times.begin() + kRuns / 2, times.end());
  return times[kRuns / 2];
}

float Timing::difference() const {
  float most = 0;
  for (std::size_t i = 0; i < byLoops_.size() && !times_[1].empty(); ++i)
    most = std::max(most, std::fabs(byLoops_.data()[i] - byKernels_.data()[i]));
  return most;
}

}  // namespace attention
