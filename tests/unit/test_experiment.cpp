// The experiments: against NumPy with draws of its own (tests/golden/around.py), and what they are there to show.
#include <doctest/doctest.h>

#include "around.h"
#include "attention/draws.h"
#include "attention/experiment.h"
#include "layer.h"

using namespace attention;
using nlohmann::json;
using test::Random;

namespace {

double relative(double got, const json& wanted) {
  return std::abs(got - wanted.get<double>()) / std::max(1.0, std::abs(wanted.get<double>()));
}

void compareDistribution(const json& wanted, const Distribution& got) {
  CHECK(relative(got.mean, wanted.at("mean")) < 1e-11);
  CHECK(relative(got.deviation, wanted.at("deviation")) < 1e-11);
  CHECK(relative(got.largestWeight, wanted.at("largestWeight")) < 1e-11);
  CHECK(relative(got.entropy, wanted.at("entropy")) < 1e-11);
}

Spec square(int heads, int tokens, int dim, int valueDim) {
  return test::shape(heads, heads, tokens, tokens, dim, valueDim);
}

}  // namespace

TEST_CASE("draws: the same whole numbers as everywhere") {
  const json golden = test::around();
  const std::uint64_t inputs[] = {0, 1, ~std::uint64_t{0}};
  for (std::size_t i = 0; i < 3; ++i) CHECK(std::to_string(mix(inputs[i])) == golden.at("mix")[i].get<std::string>());
  for (std::uint64_t i = 0; i < 8; ++i) CHECK(normalSum(mix(i)) == golden.at("normalSums")[i].get<std::int64_t>());
  NormalDraws draws(1);
  for (const json& wanted : golden.at("draws")) CHECK(draws.next() == wanted.get<double>());
}

TEST_CASE("draws: mean 0, deviation 1, and as many far out as a normal number has") {
  NormalDraws draws(42);
  constexpr int kCount = 200'000;
  double sum = 0.0, squares = 0.0;
  int beyondOne = 0, beyondTwo = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = draws.next();
    sum += x, squares += x * x;
    beyondOne += std::abs(x) > 1.0, beyondTwo += std::abs(x) > 2.0;
  }
  CHECK(std::abs(sum / kCount) < 0.01);
  CHECK(std::abs(squares / kCount - 1.0) < 0.01);
  CHECK(std::abs(beyondOne / double{kCount} - 0.3173) < 0.01);
  CHECK(std::abs(beyondTwo / double{kCount} - 0.0455) < 0.005);
}

TEST_CASE("spread: every stored case, from NumPy") {
  const json golden = test::around();
  for (const json& stored : golden.at("spreads")) {
    const SpreadDraws draws(stored.at("seed").get<std::uint32_t>());
    for (const json& wanted : stored.at("expected")) {
      const SpreadSpec spec{stored.at("mean"), stored.at("deviation"), wanted.at("dim")};
      REQUIRE(!validate(spec));
      const Spread got = draws.at(spec);
      CAPTURE(spec.dim);
      CHECK(got.dim == spec.dim);
      compareDistribution(wanted.at("raw"), got.raw);
      compareDistribution(wanted.at("scaled"), got.scaled);
    }
  }
}

TEST_CASE("spread: measured as predicted for every d, and 1/√d brings it back") {
  const SpreadDraws draws(3);
  for (const auto& [mean, deviation] : {std::pair{0.0, 1.0}, {0.0, 0.5}, {1.0, 1.0}, {-2.0, 0.3}}) {
    for (const int dim : {1, 2, 3, 8, 31, 32, 33, 100, 256, 1000, 1024}) {
      CAPTURE(dim);
      const Spread s = draws.at({mean, deviation, dim});
      const double variance = dim * (std::pow(deviation * deviation + mean * mean, 2) - std::pow(mean, 4));
      CHECK(s.raw.predictedMean == doctest::Approx(dim * mean * mean));
      CHECK(s.raw.predictedDeviation == doctest::Approx(std::sqrt(variance)));
      CHECK(s.raw.deviation == doctest::Approx(s.raw.predictedDeviation).epsilon(0.1));
      CHECK(std::abs(s.raw.mean - s.raw.predictedMean) < 0.2 * s.raw.predictedDeviation);
      CHECK(s.scaled.deviation == doctest::Approx(s.raw.deviation / std::sqrt(dim)));
      for (const Distribution* d : {&s.raw, &s.scaled}) {
        int counted = 0;
        for (const int n : d->counts) counted += n;
        CHECK(counted == SpreadDraws::queries * SpreadDraws::keys);
        CHECK(d->low <= d->mean - 2 * d->deviation);
        CHECK(d->high >= d->mean + 2 * d->deviation);
      }
    }
  }
}

TEST_CASE("spread: softmax saturates without the scale, and not with it") {
  const SpreadDraws draws(1);
  const Spread one = draws.at({0.0, 1.0, 1}), many = draws.at({0.0, 1.0, 1024});
  CHECK(one.raw.largestWeight == doctest::Approx(one.scaled.largestWeight));
  CHECK(many.raw.largestWeight > 0.93);
  CHECK(many.raw.entropy < 0.2);
  CHECK(many.scaled.largestWeight < 0.4);
  CHECK(many.scaled.entropy > 2.5);
}

TEST_CASE("spread: refusals") {
  CHECK(!validate(SpreadSpec{}));
  CHECK(validate(SpreadSpec{99.0, 1.0, 1})->message == "mean: 99 is out of range; use -10 to 10.");
  CHECK(validate(SpreadSpec{0.0, NAN, 1})->message == "deviation: NaN is out of range; use 0 to 10.");
  CHECK(validate(SpreadSpec{0.0, 1.0, 2048})->message == "dim: 2048 is out of range; use 1 to 1024.");
}

TEST_CASE("comparison: the same as long as only values move, and not when queries and keys do") {
  Random random(21);
  const test::Layer layer = test::direct(square(2, 5, 4, 3), random);
  const Comparison values = compare(layer.spec, layer.inputs(), {2, 1.0, Moved::values, 1});
  CHECK(values.fixed == values.following);
  CHECK(values.difference < 1e-6);
  for (const Moved moved : {Moved::queriesAndKeys, Moved::all}) {
    const Comparison all = compare(layer.spec, layer.inputs(), {2, 1.0, moved, 1});
    CHECK(all.fixed == values.fixed);
    CHECK_FALSE(all.following == all.fixed);
    CHECK(all.difference > 0.01);
  }
  const Comparison still = compare(layer.spec, layer.inputs(), {2, 0.0, Moved::all, 1});
  CHECK(still.difference < 1e-6);
}

TEST_CASE("comparison: both outputs are what their weights make of the values") {
  Random random(22);
  const test::Layer layer = test::direct(square(1, 4, 3, 2), random);
  const ComparisonSpec how{1, 0.7, Moved::all, 5};
  const Comparison got = compare(layer.spec, layer.inputs(), how);
  test::Layer moved = layer;
  NormalDraws draws(how.seed);
  for (Tensor* t : {&moved.q, &moved.k, &moved.v}) {
    for (int c = 0; c < t->cols(); ++c) {
      t->at(0, 1, c) = static_cast<float>(double{t->at(0, 1, c)} + 0.7 * draws.next());
    }
  }
  const ReferenceTrace before = reference(layer.spec, layer.inputs()), after = reference(moved.spec, moved.inputs());
  for (int i = 0; i < 4; ++i) {
    for (int c = 0; c < 2; ++c) {
      double connected = 0.0;
      for (int j = 0; j < 4; ++j) connected += before.weights.at(0, i, j) * double{moved.v.at(0, j, c)};
      CHECK(std::abs(connected - double{got.connected.at(0, i, c)}) < 1e-6);
      CHECK(std::abs(after.headOutput.at(0, i, c) - double{got.attended.at(0, i, c)}) < 1e-6);
    }
  }
}

TEST_CASE("comparison: for d_v = 1 the fully connected layer has just the weights of attention") {
  Random random(23);
  const test::Layer one = test::direct(square(1, 4, 3, 1), random), five = test::direct(square(1, 4, 3, 5), random);
  const Comparison same = compare(one.spec, one.inputs(), {}), more = compare(five.spec, five.inputs(), {});
  CHECK(same.attentionWeights == 16);
  CHECK(same.connectedWeights == 16);
  CHECK(more.attentionWeights == 16);
  CHECK(more.connectedWeights == 20 * 20);
}

TEST_CASE("reach: every stored case, from NumPy") {
  const json golden = test::around();
  for (const json& stored : golden.at("reaches")) {
    const ReachSpec spec{stored.at("steps"), stored.at("recurrent"), stored.at("input"), stored.at("lead"),
                         stored.at("seed")};
    REQUIRE(!validate(spec));
    const std::vector<Reach> got = reach(spec);
    REQUIRE(got.size() == static_cast<std::size_t>(spec.steps));
    const json& wanted = stored.at("expected");
    for (std::size_t i = 0; i < got.size(); ++i) {
      CAPTURE(i);
      CHECK(got[i].distance == static_cast<int>(i));
      CHECK(relative(got[i].recurrent, wanted.at("recurrent")[i]) < 1e-10);
      CHECK(relative(got[i].attention, wanted.at("attention")[i]) < 1e-10);
      CHECK(relative(got[i].even, wanted.at("even")[i]) < 1e-10);
    }
  }
}

TEST_CASE("reach: without input it is the scale to the power of the distance, and tanh only takes away") {
  for (const double scale : {0.5, 0.9, 1.0, 1.1}) {
    const std::vector<Reach> silent = reach({40, scale, 0.0, 4.0, 2}), loud = reach({40, scale, 0.8, 4.0, 2});
    for (std::size_t i = 0; i < silent.size(); ++i) {
      CHECK(silent[i].recurrent == doctest::Approx(std::pow(scale, static_cast<double>(i))).epsilon(1e-9));
      CHECK(loud[i].recurrent <= silent[i].recurrent * (1 + 1e-9));
    }
  }
  const std::vector<Reach> r = reach({});
  CHECK(r.back().recurrent < 0.01);
  CHECK(r.back().attention > 0.6);
}

TEST_CASE("reach: refusals") {
  CHECK(!validate(ReachSpec{}));
  CHECK(validate(ReachSpec{1})->message == "steps: 1 is out of range; use 2 to 256.");
  CHECK(validate(ReachSpec{300})->message == "steps: 300 is out of range; use 2 to 256.");
  CHECK(validate(ReachSpec{32, 5.0})->message == "recurrent: 5 is out of range; use 0 to 4.");
  CHECK(validate(ReachSpec{32, 1.0, 1.0, 99.0})->message == "lead: 99 is out of range; use -30 to 30.");
}
