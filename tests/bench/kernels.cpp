// The native contenders of native.bench.mjs. Reads lines "what heads tokens dim causal weights threads",
// where `what` is the name of a kernel, optionally preceded by "backward:", or "eigen", or "peak". Answers
// each line with the seconds of one call, by the clock and as processor time of all threads; for "peak" with
// floating-point operations per second, by the clock and by processor time. `what` may also be "board": the
// seconds until a board of that shape is whole, from which the tensors of pairs are not stored. The line
// "kernels" lists the kernels.
#include <Eigen/Core>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/kernels/kernels.h"

using namespace attention::kernels;

namespace attention::kernels {
namespace avx2 {
double peak(int rounds, float seed, float* result);
}
namespace avx512 {
double peak(int rounds, float seed, float* result);
}
}  // namespace attention::kernels

namespace {

struct Clock {
  std::chrono::steady_clock::time_point wall = std::chrono::steady_clock::now();
  std::clock_t cpu = std::clock();
  double wallSeconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall).count();
  }
  double cpuSeconds() const { return static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC; }
};

void print(double wall, double cpu) {
  std::printf("%.9g %.9g\n", wall, cpu);
  std::fflush(stdout);
}

struct Shape {
  int heads, tokens, dim;
  auto operator<=>(const Shape&) const = default;
};

struct Numbers {
  std::vector<float> q, k, v, output, weights, dOutput, dQ, dK, dV;
  explicit Numbers(const Shape& s) {
    const std::size_t count = static_cast<std::size_t>(s.heads) * static_cast<std::size_t>(s.tokens) *
                              static_cast<std::size_t>(s.dim);
    std::uint32_t state = 1;
    const auto normal = [&] {
      float sum = 0.0f;
      for (int i = 0; i < 12; ++i)
        sum += static_cast<float>((state = state * 1664525u + 1013904223u) >> 8) * 0x1p-24f;
      return sum - 6.0f;
    };
    for (std::vector<float>* numbers : {&q, &k, &v}) {
      numbers->resize(count);
      for (float& x : *numbers) x = normal();
    }
    for (std::vector<float>* numbers : {&output, &dOutput, &dQ, &dK, &dV}) numbers->resize(count);
    for (float& x : dOutput) x = normal();
  }
};

void withEigen(const Shape& s, Numbers& n, bool causal) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const float scale = 1.0f / std::sqrt(static_cast<float>(s.dim));
  for (int h = 0; h < s.heads; ++h) {
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(h) * s.tokens * s.dim;
    const Eigen::Map<const Matrix> q(n.q.data() + at, s.tokens, s.dim), k(n.k.data() + at, s.tokens, s.dim),
        v(n.v.data() + at, s.tokens, s.dim);
    Matrix scores = q * k.transpose() * scale;
    if (causal)
      for (int i = 0; i < s.tokens; ++i) scores.row(i).tail(s.tokens - 1 - i).setConstant(-1e30f);
    scores.colwise() -= scores.rowwise().maxCoeff().eval();
    scores = scores.array().exp();
    const Eigen::VectorXf sums = scores.rowwise().sum();
    Eigen::Map<Matrix> output(n.output.data() + at, s.tokens, s.dim);
    output.noalias() = scores * v;
    output.array().colwise() /= sums.array();
  }
}

void computeBoard(const Shape& s, const Numbers& n, bool causal, int threads) {
  attention::Spec spec;
  spec.heads = spec.kvHeads = s.heads, spec.queryCount = spec.keyCount = s.tokens;
  spec.headDim = spec.valueDim = s.dim, spec.causal = causal;
  attention::Tensor q(s.heads, s.tokens, s.dim), k(q), v(q);
  std::copy(n.q.begin(), n.q.end(), q.data());
  std::copy(n.k.begin(), n.k.end(), k.data());
  std::copy(n.v.begin(), n.v.end(), v.data());
  attention::Inputs inputs;
  inputs.q = &q, inputs.k = &k, inputs.v = &v;
  attention::Engine engine;
  engine.setThreads(threads);
  const Clock clock;
  engine.apply(spec, inputs, attention::Change{});
  while (engine.hasMore()) engine.computeNext();
  print(clock.wallSeconds(), clock.cpuSeconds());
}

}  // namespace

int main() {
  std::map<Shape, std::unique_ptr<Numbers>> shapes;
  std::map<int, std::unique_ptr<Workspace>> workspaces;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string what;
    Shape shape{};
    int causal = 0, weights = 0, threads = 1;
    words >> what >> shape.heads >> shape.tokens >> shape.dim >> causal >> weights >> threads;
    if (what == "kernels") {
      for (Kernel kernel : available()) std::cout << name(kernel) << ' ';
      std::cout << std::endl;
      continue;
    }
    if (what == "peak") {
      float result = 0.0f;
      const Clock clock;
      const double operations = best() == Kernel::avx512 ? avx512::peak(4'000'000, 1.0f, &result)
                                : best() == Kernel::avx2 ? avx2::peak(4'000'000, 1.0f, &result)
                                                         : 0.0;
      print(operations / clock.wallSeconds(), operations / clock.cpuSeconds());
      continue;
    }
    std::unique_ptr<Numbers>& numbers = shapes[shape];
    if (!numbers) numbers = std::make_unique<Numbers>(shape);
    if (what == "board") {
      computeBoard(shape, *numbers, causal != 0, threads);
      continue;
    }
    std::unique_ptr<Workspace>& workspace = workspaces[threads];
    if (!workspace) workspace = std::make_unique<Workspace>(threads);
    Forward f;
    f.heads = f.kvHeads = shape.heads;
    f.queryCount = f.keyCount = shape.tokens;
    f.headDim = f.valueDim = shape.dim;
    f.scale = 1.0f / std::sqrt(static_cast<float>(shape.dim));
    f.causal = causal != 0;
    const std::ptrdiff_t head = static_cast<std::ptrdiff_t>(shape.tokens) * shape.dim;
    f.q = {numbers->q.data(), head, shape.dim}, f.k = {numbers->k.data(), head, shape.dim},
    f.v = {numbers->v.data(), head, shape.dim};
    f.output = {numbers->output.data(), head, shape.dim};
    if (weights) {
      const std::ptrdiff_t each = static_cast<std::ptrdiff_t>(shape.tokens) * shape.tokens;
      numbers->weights.resize(static_cast<std::size_t>(each * shape.heads));
      f.weights = {numbers->weights.data(), each, shape.tokens};
    }
    const bool isBackward = what.starts_with("backward:");
    const Backward b{f,
                     {numbers->dOutput.data(), head, shape.dim},
                     {},
                     {numbers->dQ.data(), head, shape.dim},
                     {numbers->dK.data(), head, shape.dim},
                     {numbers->dV.data(), head, shape.dim}};
    if (isBackward) what = what.substr(what.find(':') + 1);
    // A call that is too short for the resolution of the clock is repeated.
    const double work = 4.0 * shape.heads * shape.tokens * static_cast<double>(shape.tokens) * shape.dim;
    const int repeats = work < 2e8 ? static_cast<int>(2e8 / work) + 1 : 1;
    const Clock clock;
    for (int i = 0; i < repeats; ++i) {
      if (what == "eigen") withEigen(shape, *numbers, causal != 0);
      else if (const auto kernel = kernelNamed(what))
        isBackward ? void(backward(*kernel, b, *workspace)) : void(forward(*kernel, f, *workspace));
    }
    print(clock.wallSeconds() / repeats, clock.cpuSeconds() / repeats);
  }
}
