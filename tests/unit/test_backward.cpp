// The backward pass of the layer: the double reference against central differences, and the float version
// against the reference.
#include <doctest/doctest.h>

#include <chrono>

#include "attention/experiments/saliency.h"
#include "attention/steps/backward.h"
#include "layer.h"
#include "reference/backward.h"
#include "thorough.h"

using namespace attention;
using test::kNormalizers;
using test::kPositions;
using test::kScores;
using test::Layer;
using test::Random;

namespace {

/// Half of the distance between the two points of a central difference. All numbers are multiples of it and
/// less than 16, so both points are exact as floats. The reference computes in double; the error of its
/// differences is about 1e-9.
constexpr double kStep = 0x1p-16;

void roundTo(double step, Tensor& tensor) {
  for (float& v : tensor.values()) {
    if (std::isfinite(v)) v = static_cast<float>(std::round(double{v} / step) * step);
  }
}

std::vector<TensorId> inputsOf(const Layer& layer) {
  std::vector<TensorId> ids;
  const Inputs in = layer.inputs();
  for (int i = 0; i < kInputCount; ++i) {
    if (in.*tensorRow(static_cast<TensorId>(i)).given) ids.push_back(static_cast<TensorId>(i));
  }
  return ids;
}

Tensor& inputOf(Layer& layer, TensorId id) { return id == TensorId::bias ? layer.bias : layer.input(id); }

/// A layer with any combination of features, with numbers suitable for differences.
Layer anyLayer(Random& random) {
  for (;;) {
    const int kvHeads = 1 + random.below(2), heads = kvHeads * (1 + random.below(2)),
              dim = 2 * (1 + random.below(3));
    const int queries = 1 + random.below(5), keys = random.chance(0.5) ? queries : 1 + random.below(6);
    const Spec spec = test::shape(heads, kvHeads, queries, keys, dim, 1 + random.below(4));
    Layer layer = random.chance(0.5) ? test::projected(spec, 2 + random.below(4), random.below(5), random)
                                     : test::direct(spec, random);
    layer = test::withScore(layer, kScores[random.below(5)], random);
    if (layer.spec.score == Score::additive && random.chance(0.5)) {
      const int units = 1 + random.below(7);
      test::fill(layer.wA = {heads, units, dim}, random), test::fill(layer.uA = {heads, units, dim}, random),
          test::fill(layer.vA = {heads, 1, units}, random);
    }
    Spec& s = layer.spec;
    s.normalizer = kNormalizers[static_cast<std::size_t>(random.below(kNormalizerCount))],
    s.position = kPositions[random.below(4)];
    if (isSoftmax(s) && random.chance(0.5)) layer = test::withSink(layer, random);
    if (layer.projected && random.chance(0.5)) layer = test::withBiases(layer, random);
    if (layer.projected && random.chance(0.3)) test::fill(layer.xV = {1, s.keyCount, layer.x.cols()}, random);
    if (random.chance(0.5)) {
      s.rotary = {random.chance(0.5) ? RotaryPairs::half : RotaryPairs::adjacent, 20.0f, 2 * random.below(3),
                  static_cast<RotaryScaling>(random.below(3)), 2.5f};
      s.positionIds = {random.below(9), random.below(9)};
    }
    if (random.chance(0.3)) s.scale = random.normal();
    if (random.chance(0.3)) s.softcap = 0.5f + static_cast<float>(random.below(4));
    if (random.chance(0.3)) s.temperature = 0.5f + static_cast<float>(random.below(3));
    s.causal = random.chance(0.4), s.causalOffset = random.below(3);
    if (random.chance(0.2)) s.windowLeft = random.below(4);
    if (random.chance(0.2)) s.windowRight = random.below(3);
    if (random.chance(0.2)) s.prefix = random.below(keys + 1);
    if (random.chance(0.2)) s.keyLength = random.below(keys + 1);
    if (random.chance(0.2))
      s.pattern.local = 1 + random.below(3), s.pattern.random = random.below(3),
      s.pattern.global = random.below(2);
    s.maskAfterSoftmax = random.chance(0.2);
    if (random.chance(0.2)) s.hiddenHeads = 1;
    test::maybeMask(layer, 0.3, random);
    for (TensorId id : inputsOf(layer)) roundTo(kStep, inputOf(layer, id));
    if (validate(layer.spec, layer.inputs())) return layer;
  }
}

/// Random upstream gradients: of the output and of some other steps.
ReferenceGradients anyUpstream(const ReferenceTrace& trace, Random& random) {
  ReferenceGradients upstream;
  for (int i = 0; i < kTensorCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    const ReferenceTensor* of = intermediate(trace, id);
    if (!of || !(id == TensorId::output || random.chance(0.15))) continue;
    upstream[id] = *of;
    for (double& v : upstream[id].values) v = double{random.normal()};
  }
  return upstream;
}

/// The scalar whose gradients are computed: Σ gradient·tensor over all upstream gradients.
double total(const ReferenceGradients& upstream, const ReferenceTrace& trace) {
  double sum = 0.0;
  for (int i = 0; i < kTensorCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    const ReferenceTensor* of = intermediate(trace, id);
    for (std::size_t n = 0; n < upstream[id].values.size(); ++n) {
      if (std::isfinite(of->values[n])) sum += upstream[id].values[n] * of->values[n];
    }
  }
  return sum;
}

struct Differences {
  double worst = 0.0;  ///< relative to the larger of 1 and the largest gradient
  int cells = 0, kinks = 0;
};

/// Compares the reference with central differences, for every cell of every input; under the sanitizers for
/// one of seven, since the reference goes through the same memory for each. Where the one-sided differences
/// are far apart, the function has a kink between them and no derivative.
void compare(Layer layer, const ReferenceGradients& upstream, Differences& seen) {
  const ReferenceTrace trace = reference(layer.spec, layer.inputs());
  const ReferenceGradients gradients = referenceBackward(layer.spec, layer.inputs(), trace, upstream);
  const double here = total(upstream, trace);
  for (TensorId id : inputsOf(layer)) {
    Tensor& input = inputOf(layer, id);
    double most = 1.0;
    for (double g : gradients[id].values) most = std::max(most, std::abs(g));
    for (std::size_t n = 0; n < input.size(); n += test::kSanitized ? 7 : 1) {
      float& cell = input.data()[n];
      if (!std::isfinite(cell)) continue;
      const float before = cell;
      cell = before + static_cast<float>(kStep);
      const double above = total(upstream, reference(layer.spec, layer.inputs()));
      cell = before - static_cast<float>(kStep);
      const double below = total(upstream, reference(layer.spec, layer.inputs()));
      cell = before;
      ++seen.cells;
      if (std::abs(above - here - (here - below)) / kStep > 0.01 * most) {
        ++seen.kinks;
        continue;
      }
      const double off = std::abs((above - below) / (2.0 * kStep) - gradients[id].values[n]) / most;
      seen.worst = std::max(seen.worst, off);
      CHECK_MESSAGE(off <= 1e-6, name(id), " number ", n, " is ", gradients[id].values[n], ", and ",
                    (above - below) / (2.0 * kStep));
    }
  }
}

Tensor inFloat(const ReferenceTensor& from) {
  Tensor out(from.heads, from.rows, from.cols);
  std::copy(from.values.begin(), from.values.end(), out.data());
  return out;
}

/// The largest error of backward() as a share of its bound; 2 where the error exceeds the bound or the bound
/// is not usable.
double shareOfBound(const Layer& layer, Random& random, int& unbounded) {
  const Inputs in = layer.inputs();
  const ReferenceTrace exact = reference(layer.spec, in);
  Trace trace;
  forward(layer.spec, in, trace);
  ReferenceGradients upstream = anyUpstream(exact, random);
  std::vector<Tensor> tensors;
  std::vector<Upstream> given;
  tensors.reserve(kTensorCount);
  for (int i = 0; i < kTensorCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    if (upstream[id].empty()) continue;
    tensors.push_back(inFloat(upstream[id]));
    given.push_back({id, &tensors.back()});
  }
  BackwardScratch scratch;
  Gradients gradients;
  backward({layer.spec, in, trace}, given, kAllInputs, gradients, scratch);
  const ReferenceGradients wanted = referenceBackward(layer.spec, in, exact, upstream);
  double worst = 0.0;
  for (int i = 0; i < kInputCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    REQUIRE(gradients[id].size() == wanted[id].values.size());
    if (gradients[id].empty()) continue;
    const double bound = backwardBound(layer.spec, in, exact, upstream, id);
    if (!std::isfinite(bound)) {
      ++unbounded;
      continue;
    }
    for (std::size_t n = 0; n < gradients[id].size(); ++n) {
      const double off = std::abs(double{gradients[id].data()[n]} - wanted[id].values[n]);
      if (off > bound || std::isnan(off)) {
        CHECK_MESSAGE(false, name(id), " number ", n, " is ", gradients[id].data()[n], ", not ",
                      wanted[id].values[n], "; bound ", bound);
        return 2.0;
      }
      if (off > 0.0) worst = std::max(worst, off / bound);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("backward: the reference is the central difference of the reference, for every mechanism") {
  Random random(1);
  Differences seen;
  for (Score score : kScores) {
    for (Position position : kPositions) {
      for (Normalizer normalizer : kNormalizers) {
        for (const bool isProjected : {false, true}) {
          const Spec spec = test::shape(4, 2, 3, 3, 4, 2);
          Layer layer = isProjected ? test::projected(spec, 3, 3, random) : test::direct(spec, random);
          layer = test::withScore(layer, score, random);
          layer.spec.position = position, layer.spec.normalizer = normalizer, layer.spec.softcap = 2.0f;
          for (TensorId id : inputsOf(layer)) roundTo(kStep, inputOf(layer, id));
          if (!validate(layer.spec, layer.inputs())) continue;
          CAPTURE(static_cast<int>(score));
          CAPTURE(static_cast<int>(position));
          CAPTURE(static_cast<int>(normalizer));
          compare(layer, anyUpstream(reference(layer.spec, layer.inputs()), random), seen);
        }
      }
    }
  }
  CHECK(seen.cells > (test::kSanitized ? 1000 : 10'000));
  CHECK(seen.kinks * 100 < seen.cells);
  MESSAGE("worst ", seen.worst, " of ", seen.cells, " cells, ", seen.kinks, " at kinks");
}

TEST_CASE("backward: the same for random layers with all options") {
  Random random(2);
  Differences seen;
  for (int i = 0; i < test::rounds(400); ++i) {
    CAPTURE(i);
    const Layer layer = anyLayer(random);
    compare(layer, anyUpstream(reference(layer.spec, layer.inputs()), random), seen);
  }
  CHECK(seen.kinks * 100 < seen.cells);
  MESSAGE("worst ", seen.worst, " of ", seen.cells, " cells, ", seen.kinks, " at kinks");
}

TEST_CASE("backward: float against the reference, 10,000 random layers with all options") {
  Random random(3);
  double worst = 0.0;
  int unbounded = 0;
  for (int i = 0; i < test::rounds(10000); ++i) {
    CAPTURE(i);
    worst = std::max(worst, shareOfBound(anyLayer(random), random, unbounded));
    if (worst > 1.0) break;
  }
  CHECK(worst <= 1.0);
  CHECK(unbounded < 2000);
  MESSAGE("worst ", worst, " of the bound; ", unbounded, " tensors beside a kink");
}

TEST_CASE(
    "backward: float against the reference where products are large enough for the kernels, and sums of the "
    "additive score large") {
  Random random(4);
  int unbounded = 0;
  for (const auto& [queries, dim] : {std::pair(33, 17), std::pair(65, 64), std::pair(100, 48)}) {
    Layer direct = test::direct(test::shape(4, 2, queries, queries + 5, dim, dim + 3), random);
    direct.spec.causal = true, direct.spec.causalOffset = 5;
    CHECK(shareOfBound(direct, random, unbounded) <= 1.0);
    CHECK(shareOfBound(test::projected(test::shape(4, 2, queries, queries, 16, 16), 64, 64, random), random,
                       unbounded) <= 1.0);
  }
  for (const float size : {10.0f, 40.0f, 200.0f})
    CHECK(shareOfBound(test::withOppositeSums(size, random), random, unbounded) <= 1.0);
  CHECK(unbounded == 0);
}

TEST_CASE("backward: conventions where there is no derivative") {
  Random random(5);
  Layer layer = test::direct(test::shape(1, 1, 3, 3, 2, 2), random);
  const auto gradients = [&](TensorId by) {
    Trace trace;
    forward(layer.spec, layer.inputs(), trace);
    Tensor ones(1, 3, 2, 1.0f);
    const Upstream upstream{TensorId::output, &ones};
    Gradients out;
    BackwardScratch scratch;
    backward({layer.spec, layer.inputs(), trace}, {&upstream, 1}, kAllInputs, out, scratch);
    return out[by];
  };
  SUBCASE("hard maxima have none") {
    layer.spec.normalizer = Normalizer::hardmax;
    CHECK(gradients(TensorId::q) == Tensor(1, 3, 2));
    CHECK(gradients(TensorId::v) != Tensor(1, 3, 2));
  }
  SUBCASE("ReLU has 0 at 0") {
    layer.spec.normalizer = Normalizer::relu;
    layer.k = Tensor(1, 3, 2);
    CHECK(gradients(TensorId::k) == Tensor(1, 3, 2));
  }
  SUBCASE("a row with every key masked gives zeros, and so do keys that nobody sees") {
    for (Normalizer normalizer : kNormalizers) {
      layer.spec.normalizer = normalizer;
      layer.paintNothing();
      for (int j = 0; j < 3; ++j) layer.paint(1, j) = layer.paint(j, 2) = 1;
      for (int c = 0; c < 2; ++c) {
        CHECK(gradients(TensorId::q).at(0, 1, c) == 0.0f);
        CHECK(gradients(TensorId::k).at(0, 2, c) == 0.0f);
        CHECK(gradients(TensorId::v).at(0, 2, c) == 0.0f);
      }
    }
  }
  SUBCASE("a cosine with a vector of zeros") {
    layer.spec.score = Score::cosine;
    layer.q.at(0, 1, 0) = layer.q.at(0, 1, 1) = 0.0f;
    for (int c = 0; c < 2; ++c) CHECK(gradients(TensorId::q).at(0, 1, c) == 0.0f);
  }
  SUBCASE("numbers as large as floats are give no NaN") {
    for (float size : {1e19f, 3e38f}) {
      for (Score score : {Score::scaled, Score::cosine}) {
        for (Normalizer normalizer : kNormalizers) {
          layer.spec.score = score, layer.spec.normalizer = normalizer, layer.spec.temperature = 1e-3f;
          for (Tensor* t : {&layer.q, &layer.k, &layer.v}) {
            for (float& v : t->values()) v = random.chance(0.5) ? size : -size;
          }
          for (TensorId id : {TensorId::q, TensorId::k, TensorId::v}) {
            const Tensor g = gradients(id);
            for (float v : g.values()) CHECK(std::isfinite(v));
          }
        }
      }
    }
  }
}

TEST_CASE("backward: the gradient of one cell, and what has none") {
  Random random(6);
  Layer layer = test::projected(test::shape(4, 2, 16, 16, 8, 8), 32, 32, random);
  Trace trace;
  const Inputs in = layer.inputs();
  forward(layer.spec, in, trace);
  const ReferenceTrace exact = reference(layer.spec, in);
  BackwardScratch scratch;
  const TargetCell cell{TensorId::weights, 2, 3, 5};
  ReferenceGradients upstream;
  upstream[TensorId::weights] = ReferenceTensor(4, 16, 16);
  upstream[TensorId::weights].at(2, 3, 5) = 1.0;
  const ReferenceGradients wanted = referenceBackward(layer.spec, in, exact, upstream);
  for (TensorId by : {TensorId::x, TensorId::w_q, TensorId::q, TensorId::k, TensorId::w_k, TensorId::v}) {
    const Result<Tensor> gradient = gradientOf(layer.spec, in, trace, cell, by, scratch);
    REQUIRE(gradient);
    REQUIRE(gradient->size() == wanted[by].values.size());
    for (std::size_t i = 0; i < gradient->size(); ++i)
      CHECK(gradient->data()[i] == doctest::Approx(wanted[by].values[i]).epsilon(1e-4));
  }
  const auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) REQUIRE(gradientOf(layer.spec, in, trace, cell, TensorId::x, scratch));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - started;
  MESSAGE("x, 16 tokens, 4 heads: ", taken.count() / 100, " ms");
  WARN(taken.count() / 100 < 1.0);

  const auto refused = [&](TargetCell target, TensorId by) {
    return gradientOf(layer.spec, in, trace, target, by, scratch).error().message();
  };
  CHECK(refused({TensorId::softcapped, 0, 0, 0}, TensorId::q) ==
        "tensor: softcapped is not part of this layer; name a tensor that it has.");
  CHECK(refused({TensorId::weights, 4, 0, 0}, TensorId::q) == "head: 4 is not in weights; use 0 to 3.");
  CHECK(refused({TensorId::weights, 0, -1, 0}, TensorId::q) == "row: -1 is not in weights; use 0 to 15.");
  CHECK(refused(cell, TensorId::w_a) == "wrt: w_a is not part of this layer; name an input that it has.");
  CHECK(refused(cell, TensorId::scores) ==
        "wrt: scores is computed, and a gradient is taken by an input; use q, k, v, x, w_q or another input "
        "of the layer.");
}

TEST_CASE("raise: the row of one query gives the gradients, and the steps do what the whole layer says") {
  Random random(11);
  SaliencySolver raiser;
  BackwardScratch scratch;
  int reached = 0, steps = 0;
  for (int n = 0; n < 400; ++n) {
    Layer layer = anyLayer(random);
    Trace trace;
    forward(layer.spec, layer.inputs(), trace);
    std::vector<TensorId> targets;
    for (int i = static_cast<int>(TensorId::q); i < kTensorCount; ++i) {
      const auto id = static_cast<TensorId>(i);
      if (intermediate(trace, id) && id != TensorId::positions) targets.push_back(id);
    }
    const TensorId id = targets[static_cast<std::size_t>(random.below(static_cast<int>(targets.size())))];
    const Tensor& of = *find(layer.inputs(), trace, id);
    const CellRef cell{id, random.below(of.heads()), random.below(of.rows()), random.below(of.cols())};
    const double value = double{of.at(cell.head, cell.row, cell.col)};
    INFO(n, " ", name(id), " ", cell.head, " ", cell.row, " ", cell.col);
    InputSet wanted = 0;
    for (TensorId by : inputsOf(layer)) wanted |= inputSet(by);
    const Saliency found = raiser.of(layer.spec, layer.inputs(), trace, cell, wanted);
    if (!std::isfinite(value)) {
      CHECK(found.reached == 0);
      continue;
    }
    CHECK(found.value == doctest::Approx(value).epsilon(1e-4));
    const auto valueNow = [&] {
      Trace after;
      forward(layer.spec, layer.inputs(), after);
      return double{find(layer.inputs(), after, id)->at(cell.head, cell.row, cell.col)};
    };
    double squares = 0;
    for (TensorId by : inputsOf(layer)) {
      const Result<Tensor> exact =
          gradientOf(layer.spec, layer.inputs(), trace, {id, cell.head, cell.row, cell.col}, by, scratch);
      REQUIRE(exact);
      REQUIRE(found.gradients[by].sameShape(*exact));
      for (std::size_t i = 0; i < exact->size(); ++i) {
        const double g = double{exact->data()[i]};
        CHECK(std::abs(double{found.gradients[by].data()[i]} - g) <= 1e-5 * std::max(1.0, found.largest));
        squares += g * g;
      }
    }
    CHECK(found.norm == doctest::Approx(std::sqrt(squares)).epsilon(1e-4));
    reached += found.reached > 0;
    CHECK(found.strongest.size() == static_cast<std::size_t>(std::min(found.reached, Saliency::kStrongest)));
    for (const Nudge& nudge : found.strongest) {
      float& input = inputOf(layer, nudge.cell.tensor).at(nudge.cell.head, nudge.cell.row, nudge.cell.col);
      const float before = input;
      CHECK(nudge.by == (nudge.gradient > 0 ? 0.1 : -0.1));
      CHECK(double{nudge.to} - double{before} == doctest::Approx(nudge.by).epsilon(1e-3));
      input = nudge.to;
      CHECK(std::abs(valueNow() - value - nudge.change) <= 1e-4 * std::max(1.0, std::abs(value)));
      input = before;
      ++steps;
    }
    if (found.reached == 0) continue;
    for (TensorId by : inputsOf(layer)) {
      Tensor& input = inputOf(layer, by);
      for (std::size_t i = 0; i < input.size(); ++i)
        input.data()[i] = nudged(input.data()[i], found.gradients[by].data()[i], found.norm);
    }
    CHECK(std::abs(valueNow() - found.together) <= 1e-4 * std::max(1.0, std::abs(value)));
  }
  CHECK(reached > 200);
  CHECK(steps > 800);
}

TEST_CASE("raise: equal ones in a fixed order, the mean of heads, and the time it takes") {
  Random random(12);
  Layer layer = test::projected(test::shape(4, 2, 16, 16, 8, 8), 32, 32, random);
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  InputSet all = 0;
  for (TensorId id : inputsOf(layer)) all |= inputSet(id);
  SaliencySolver raiser;
  layer.spec.hiddenHeads = 2;
  const Saliency mean =
      raiser.of(layer.spec, layer.inputs(), trace, {TensorId::weights, kMeanHead, 9, 3}, all);
  Tensor sum(1, 32, 32);
  double value = 0;
  for (int h : {0, 2, 3}) {
    const Saliency one =
        raiser.of(layer.spec, layer.inputs(), trace, {TensorId::weights, h, 9, 3}, inputSet(TensorId::w_q));
    value += one.value / 3;
    for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] += one.gradients[TensorId::w_q].data()[i] / 3;
  }
  CHECK(mean.value == doctest::Approx(value));
  for (std::size_t i = 0; i < sum.size(); ++i)
    CHECK(double{mean.gradients[TensorId::w_q].data()[i]} ==
          doctest::Approx(double{sum.data()[i]}).epsilon(1e-4));
  for (std::size_t i = 1; i < mean.strongest.size(); ++i) {
    CHECK(std::abs(mean.strongest[i - 1].gradient) >= std::abs(mean.strongest[i].gradient) * (1 - 2e-6));
  }

  Layer same = test::direct(test::shape(1, 1, 2, 4, 2, 2), random);
  for (Tensor* t : {&same.q, &same.k}) std::fill(t->values().begin(), t->values().end(), 0.5f);
  Trace flat;
  forward(same.spec, same.inputs(), flat);
  const Saliency tied = raiser.of(same.spec, same.inputs(), flat, {TensorId::scores, 0, 1, 2},
                                  all | inputSet(TensorId::q) | inputSet(TensorId::k));
  REQUIRE(tied.strongest.size() == 4);
  CHECK(tied.strongest[0].cell == CellRef{TensorId::q, 0, 1, 0});
  CHECK(tied.strongest[1].cell == CellRef{TensorId::q, 0, 1, 1});
  CHECK(tied.strongest[2].cell == CellRef{TensorId::k, 0, 2, 0});
  CHECK(tied.strongest[3].cell == CellRef{TensorId::k, 0, 2, 1});

  double fastest = 1e9;  // the minimum of many, because other programs may use the processor too
  for (int i = 0; i < 200; ++i) {
    const auto started = std::chrono::steady_clock::now();
    REQUIRE(raiser.of(layer.spec, layer.inputs(), trace, {TensorId::weights, 2, 9, 3}, all).reached > 0);
    fastest = std::min(
        fastest,
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count());
  }
  MESSAGE("all inputs and six steps, 16 tokens, 4 heads: ", fastest, " ms");
  WARN(fastest < 1.0);
}

TEST_CASE("raise: why nothing reaches a value") {
  Random random(13);
  Layer layer = test::direct(test::shape(1, 1, 4, 4, 2, 2), random);
  const auto why = [&](CellRef cell) {
    Trace trace;
    forward(layer.spec, layer.inputs(), trace);
    InputSet all = 0;
    for (TensorId id : inputsOf(layer)) all |= inputSet(id);
    return whyUnreached(layer.spec, trace, cell,
                        SaliencySolver().of(layer.spec, layer.inputs(), trace, cell, all));
  };
  CHECK(why({TensorId::weights, 0, 3, 1}) == "");
  layer.spec.causal = true;
  CHECK(why({TensorId::weights, 0, 1, 3}) == "This weight is masked: it is 0 whatever the scores are.");
  CHECK(why({TensorId::masked, 0, 1, 3}) == "This score is masked: no input reaches it.");
  CHECK(why({TensorId::weights, 0, 0, 0}) ==
        "Only one key is seen in this row: its weight is 1 whatever its score is.");
  CHECK(why({TensorId::head_output, 0, 0, 0}) == "");
  layer.spec.maskAfterSoftmax = true;
  CHECK(why({TensorId::weights, 0, 1, 3}) == "This weight is masked: it is 0 whatever the scores are.");
  layer.spec.maskAfterSoftmax = false;
  layer.spec.normalizer = Normalizer::hardmax;
  CHECK(why({TensorId::weights, 0, 3, 1}) ==
        "The hard maximum is a step: a small change of a score leaves every weight as it is, so the gradient "
        "is 0.");
  CHECK(why({TensorId::head_output, 0, 3, 1}) ==
        "The hard maximum is a step: its gradient is 0, and nothing reaches this value through the scores.");
  CHECK(why({TensorId::scores, 0, 3, 1}) == "");
  layer.spec.normalizer = Normalizer::sparsemax;
  layer.k.at(0, 0, 0) = layer.q.at(0, 3, 0) = 9.0f;
  CHECK(why({TensorId::weights, 0, 3, 2}) ==
        "The normaliser cuts this weight off: it stays 0 for small changes of the scores.");
  layer.spec.normalizer = Normalizer::softmax;
  layer.k.at(0, 0, 0) = layer.q.at(0, 3, 0) = 99.0f;
  CHECK(why({TensorId::weights, 0, 3, 0}) ==
        "The row is saturated: its scores are so far apart that the gradient is too small for a number.");
  layer.spec.position = Position::rotary;
  CHECK(why({TensorId::positions, 0, 1, 0}) == "Positions are given by a formula: no input reaches them.");
  layer.spec.position = Position::none, layer.spec.hiddenHeads = 1;
  CHECK(why({TensorId::output, 0, 3, 0}) == "All heads are left out: no input reaches the output.");
}
