#include "attention/experiments/memory.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/steps/steps.h"

namespace attention {
namespace {

class Memory {
 public:
  Memory(const MemoryInputs& in, MemoryTrace& trace)
      : in_(in),
        t_(trace),
        tokens_(in.cell.x->rows()),
        units_(in.cell.u->rows()),
        columns_(partsOf(in.cell.cell) * units_) {}

  void read() {
    // x·W is computed only once: the network then reads x·W with an identity matrix in place of W, which also
    // narrows its backward pass.
    read_ = Tensor(1, tokens_, columns_), same_ = Tensor(1, columns_, columns_);
    products_.ab(matrixOf(*in_.cell.x), matrixOf(*in_.cell.w), read_.data(), columns_);
    for (int c = 0; c < columns_; ++c) same_.at(0, c, c) = 1.0f;
    cell_ = in_.cell;
    cell_.x = &read_, cell_.w = &same_;
    forwardRecurrent(cell_, t_.cell, products_);
  }

  /// Both contexts.
  void attend() {
    std::vector<float> scores(static_cast<std::size_t>(tokens_));
    t_.weights = Tensor(1, tokens_, 1), t_.contexts = Tensor(1, 2, units_);
    std::copy_n(state(tokens_ - 1), units_, t_.contexts.row(0, 0));
    look(decoder(), state(tokens_ - 1), bent_, scores.data(), t_.weights.data(), t_.contexts.row(0, 1));
  }

  DecoderInputs decoder() const {
    DecoderInputs out = in_.decoder;
    out.h = &t_.cell.states;
    return out;
  }

  void beginGradients() {
    t_.gradients = Tensor(1, tokens_, 3);
    for (int t = 0; t < tokens_; ++t) t_.gradients.at(0, t, 0) = static_cast<float>(tokens_ - 1 - t);
    // ‖dz·Wᵀ‖² = dz·(WᵀW)·dz, so the Gram matrix is computed once.
    gram_ = Tensor(1, columns_, columns_);
    products_.aTb(matrixOf(*in_.cell.w), matrixOf(*in_.cell.w), gram_.data(), columns_);
  }

  /// Adds unit n of the fixed vector (way 1) or of the context (2); with the last, the norms are there.
  void addGradient(int way, int n) {
    if (n == 0) squares_.assign(static_cast<std::size_t>(tokens_), 0);
    Tensor dStates(1, tokens_, units_);
    if (way == 1) dStates.at(0, tokens_ - 1, n) = 1.0f;
    else fromAttended(n, dStates);
    RecurrentGradients back;
    backwardRecurrent(cell_, t_.cell, dStates, back, products_);
    for (int t = 0; t < tokens_; ++t)
      squares_[static_cast<std::size_t>(t)] += sizeThrough(back.x.row(0, t), gram_);
    if (n + 1 < units_) return;
    for (int t = 0; t < tokens_; ++t)
      t_.gradients.at(0, t, way) = saturate(std::sqrt(squares_[static_cast<std::size_t>(t)]));
  }

  int units() const { return units_; }

 private:
  const float* state(int t) const { return t_.cell.states.row(0, t); }

  /// ∂(component n of the context)/∂h_t for each t: through the weighted sum, and through the scores.
  void fromAttended(int n, Tensor& dStates) const {
    for (int t = 0; t < tokens_; ++t) {
      const double a = double{t_.weights.at(0, t, 0)};
      dStates.at(0, t, n) = saturate(double{dStates.at(0, t, n)} + a);
      const double ofScore = a * (double{state(t)[n]} - double{t_.contexts.at(0, 1, n)});
      for (int m = 0; m < units_; ++m) {
        const double bent = double{bent_.at(0, t, m)},
                     d = ofScore * double{in_.decoder.vA->at(0, 0, m)} * (1 - bent) * (1 + bent);
        for (int k = 0; k < units_; ++k) {
          float &here = dStates.at(0, t, k), &last = dStates.at(0, tokens_ - 1, k);
          here = saturate(double{here} + d * double{in_.decoder.uA->at(0, k, m)});
          last = saturate(double{last} + d * double{in_.decoder.wA->at(0, k, m)});
        }
      }
    }
  }

  double sizeThrough(const float* d, const Tensor& gram) const {
    double sum = 0;
    for (int a = 0; a < columns_; ++a) {
      double row = 0;
      for (int b = 0; b < columns_; ++b) row += double{gram.at(0, a, b)} * double{d[b]};
      sum += row * double{d[a]};
    }
    return std::max(sum, 0.0);
  }

  const MemoryInputs& in_;
  MemoryTrace& t_;
  const int tokens_, units_, columns_;
  Products products_;
  Tensor read_, same_, bent_, gram_;
  std::vector<double> squares_;  ///< of the gradients, of each token
  RecurrentInputs cell_;
};

base::Slices passes(MemoryInputs in, MemoryTrace& trace) {
  Memory memory(in, trace);
  const int words = in.decoder.words, total = 2 + words + 2 * memory.units(), tokens = in.cell.x->rows();
  const auto after = [=](int passes) { return base::Slices::Progress{passes * tokens, total * tokens}; };
  memory.read();
  co_yield after(1);
  memory.attend();
  if (words > 0) {
    base::Slices decoder = decoderInSlices(memory.decoder(), trace.decoder);
    while (decoder.next()) co_yield after(1 + decoder.progress().done);
  }
  memory.beginGradients();
  for (const int way : {1, 2}) {
    for (int n = 0; n < memory.units(); ++n) {
      co_yield after(1 + words + (way - 1) * memory.units() + n);
      memory.addGradient(way, n);
    }
  }
}

}  // namespace

base::Slices memoryInSlices(MemoryInputs inputs, MemoryTrace& trace) { return passes(inputs, trace); }

void runMemory(const MemoryInputs& inputs, MemoryTrace& trace) { memoryInSlices(inputs, trace).finish(); }

}  // namespace attention
