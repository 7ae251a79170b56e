// "I saw a saw" from one-hot words: what no matrices can achieve, what positions change, and four output rows
// that training does achieve.
#include <cmath>

#include "attention/steps/backward.h"
#include "base/random.h"
#include "document_support.h"
#include "training/optimizer.h"

using namespace document;
using attention::Position;

namespace {

constexpr float kTargets[4][4] = {{1, 0, 0, 0}, {0.5f, 0.5f, 0, 0}, {0, 0, 1, 0}, {0, 0.5f, 0.5f, 0}};
constexpr float kWeights[4][4] = {{1, 0, 0, 0}, {0.5f, 0.5f, 0, 0}, {0, 0, 1, 0}, {0, 0, 0.5f, 0.5f}};
constexpr TensorId kLearned[] = {TensorId::w_q, TensorId::w_k, TensorId::w_v};

State named(std::string_view name) {
  auto state = preset(name);
  REQUIRE(test::refusal(state) == "accepted");
  return *state;
}

attention::Trace traced(const State& s) {
  attention::Trace trace;
  attention::forward(spec(s), inputs(s), trace);
  return trace;
}

void drawNumbers(State& s, std::uint64_t seed) {
  base::NormalRandom random(seed);
  for (const TensorId id : kLearned)
    for (float& n : input(s, id)->values()) n = 0.5f * static_cast<float>(random.next());
}

/// The largest difference between a tensor and its target; `differences` gets all of them.
float farthest(const attention::Tensor& is, const float (&wanted)[4][4], attention::Tensor& differences) {
  differences = is;
  float most = 0;
  for (int r = 0; r < 4; ++r)
    for (int c = 0; c < is.cols(); ++c)
      most = std::max(most, std::abs(differences.at(0, r, c) -= wanted[r][c]));
  return most;
}

/// Gradient descent with Adam on half the squared error of the output, and with `withWeights` also of the
/// weights.
void learn(State& s, bool withWeights, int steps) {
  training::Updater updaters[3] = {{training::Optimizer::adam, 0.03, s.wQ.size()},
                                   {training::Optimizer::adam, 0.03, s.wK.size()},
                                   {training::Optimizer::adam, 0.03, s.wV.size()}};
  attention::Trace trace;
  attention::Scratch scratch;
  attention::BackwardScratch backwardScratch;
  attention::Gradients gradients;
  attention::Tensor dOutput, dWeights;
  attention::InputSet wanted = 0;
  for (const TensorId id : kLearned) wanted |= attention::inputSet(id);
  for (int step = 0; step < steps; ++step) {
    attention::forward(spec(s), inputs(s), trace, scratch);
    farthest(trace.output, kTargets, dOutput), farthest(trace.weights, kWeights, dWeights);
    const attention::Upstream upstream[] = {{TensorId::output, &dOutput}, {TensorId::weights, &dWeights}};
    attention::backward({spec(s), inputs(s), trace}, std::span(upstream).first(withWeights ? 2 : 1), wanted,
                        gradients, backwardScratch);
    for (int i = 0; i < 3; ++i)
      updaters[i].apply(input(s, kLearned[i])->values(), gradients[kLearned[i]].values());
  }
}

}  // namespace

TEST_CASE(
    "saw: from one-hot words the rows of both saw are equal whatever the matrices are, and positions or a "
    "mask break the tie") {
  for (const char* name : {"i-saw-a-saw", "target-outputs"}) {
    State s = named(name);
    s.mode = Mode::x, s.causal = false, s.position = Position::none;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      drawNumbers(s, seed);
      const attention::Trace trace = traced(s);
      for (int h = 0; h < trace.weights.heads(); ++h)
        for (int c = 0; c < 4; ++c) REQUIRE(trace.weights.at(h, 1, c) == trace.weights.at(h, 3, c));
      for (int c = 0; c < trace.output.cols(); ++c)
        REQUIRE(trace.output.at(0, 1, c) == trace.output.at(0, 3, c));
      State placed = s, masked = s;
      placed.position = Position::sinusoidal, masked.causal = true;
      for (const State* other : {&placed, &masked})
        CHECK(traced(*other).output.at(0, 1, 0) != traced(*other).output.at(0, 3, 0));
    }
  }
}

TEST_CASE(
    "saw: the example's matrices give the four rows that were asked for, and without positions the mean of "
    "two of them") {
  State s = named("target-outputs");
  CHECK(s.labels == std::vector<std::string>{"I", "saw", "a", "saw"});
  for (int c = 0; c < 4; ++c) CHECK(s.x.at(0, 1, c) == s.x.at(0, 3, c));
  attention::Tensor differences;
  const attention::Trace trace = traced(s);
  CHECK(farthest(trace.output, kTargets, differences) < 0.02f);
  CHECK(farthest(trace.weights, kWeights, differences) < 0.02f);
  s.position = Position::none;
  const attention::Trace tied = traced(s);
  for (int c = 0; c < 4; ++c) CHECK(tied.output.at(0, 1, c) == tied.output.at(0, 3, c));
}

TEST_CASE(
    "saw: training reaches the four rows with positions, and without them no more than the mean of both "
    "saw") {
  State s = named("target-outputs");
  attention::Tensor differences;
  drawNumbers(s, 1);
  CHECK(farthest(traced(s).output, kTargets, differences) > 0.3f);
  learn(s, true, 3000);
  CHECK(farthest(traced(s).output, kTargets, differences) < 0.01f);
  CHECK(farthest(traced(s).weights, kWeights, differences) < 0.01f);

  drawNumbers(s, 1);
  s.position = Position::none;
  learn(s, false, 3000);
  const attention::Trace trace = traced(s);
  constexpr float kMean[] = {0.25f, 0.5f, 0.25f, 0};
  for (const int row : {1, 3})
    for (int c = 0; c < 4; ++c) CHECK(std::abs(trace.output.at(0, row, c) - kMean[c]) < 0.01f);
}
