// The experiments: against NumPy with its own random draws (tests/golden/derived.py), and the effects that
// they are meant to show.
#include <doctest/doctest.h>

#include "attention/experiments/experiment.h"
#include "base/random.h"
#include "derived.h"
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
  const json golden = test::derived();
  const std::uint64_t inputs[] = {0, 1, ~std::uint64_t{0}};
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(std::to_string(base::mix(inputs[i])) == golden.at("mix")[i].get<std::string>());
  for (std::uint64_t i = 0; i < 8; ++i)
    CHECK(base::normalSum(base::mix(i)) == golden.at("normalSums")[i].get<std::int64_t>());
  base::NormalRandom draws(1);
  for (const json& wanted : golden.at("draws")) CHECK(draws.next() == wanted.get<double>());
}

TEST_CASE("draws: mean 0, deviation 1, and as many far out as a normal number has") {
  base::NormalRandom draws(42);
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
  const json golden = test::derived();
  for (const json& stored : golden.at("spreads")) {
    const SpreadDraws draws(stored.at("seed").get<std::uint32_t>());
    for (const json& wanted : stored.at("expected")) {
      const SpreadSpec spec{stored.at("mean"), stored.at("deviation"), wanted.at("dim")};
      REQUIRE(validate(spec));
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

TEST_CASE("spread: queries and keys apart, and as many as are asked for") {
  const SpreadDraws draws(4, 123);
  for (const int dim : {1, 7, 63, 64, 65, 456, 1024}) {
    CAPTURE(dim);
    const Spread s = draws.at({0.5, 2.0, dim, false, -1.0, 0.3});
    const double variance = dim * ((4.0 + 0.25) * (0.09 + 1.0) - 0.25 * 1.0);
    CHECK(s.raw.predictedMean == doctest::Approx(-0.5 * dim));
    CHECK(s.raw.predictedDeviation == doctest::Approx(std::sqrt(variance)));
    CHECK(s.raw.deviation == doctest::Approx(s.raw.predictedDeviation).epsilon(0.25));
    int counted = 0;
    for (const int n : s.raw.counts) counted += n;
    CHECK(counted == 123 * 16);
  }
  const Spread same = draws.at({0.5, 2.0, 456}), apart = draws.at({0.5, 2.0, 456, false, 0.5, 2.0});
  CHECK(same.raw.deviation == apart.raw.deviation);
  CHECK(same.raw.jacobian == apart.raw.jacobian);
  CHECK(validate(SpreadSpec{0.0, 1.0, 64, false, 11.0, 1.0}).error().message() ==
        "keyMean: 11 is out of range; use -10 to 10.");
}

TEST_CASE(
    "spread: Jacobian and gradient are those of the same draws by the definition, and vanish without the "
    "scale") {
  constexpr int kDim = 5, kQueries = 9, kKeys = SpreadDraws::keys;
  const SpreadSpec spec{0.4, 1.5, kDim, false, -0.2, 2.0};
  const Spread got = SpreadDraws(6, kQueries).at(spec);
  // The order of the random stream: component by component; for each query its own number, then those of its
  // keys.
  base::NormalRandom random(6);
  std::vector<std::vector<double>> q(kQueries, std::vector<double>(kDim));
  std::vector<std::vector<std::vector<double>>> k(
      kQueries, std::vector<std::vector<double>>(kKeys, std::vector<double>(kDim)));
  for (std::size_t c = 0; c < kDim; ++c) {
    for (std::size_t i = 0; i < kQueries; ++i) {
      q[i][c] = spec.mean + spec.deviation * random.next();
      for (std::size_t j = 0; j < kKeys; ++j) k[i][j][c] = spec.keyMean + spec.keyDeviation * random.next();
    }
  }
  for (const bool scaled : {false, true}) {
    const double factor = scaled ? 1 / std::sqrt(double{kDim}) : 1.0;
    std::vector<double> jacobians, gradients;
    for (std::size_t i = 0; i < kQueries; ++i) {
      std::vector<double> w(kKeys);
      double sum = 0;
      for (std::size_t j = 0; j < kKeys; ++j) {
        double s = 0;
        for (std::size_t c = 0; c < kDim; ++c) s += q[i][c] * k[i][j][c];
        sum += w[j] = std::exp(s * factor);
      }
      for (double& v : w) v /= sum;
      double jacobian = 0, gradient = 0;
      for (std::size_t a = 0; a < kKeys; ++a) {
        for (std::size_t b = 0; b < kKeys; ++b) jacobian += std::pow((a == b ? w[a] : 0.0) - w[a] * w[b], 2);
        for (std::size_t c = 0; c < kDim; ++c) {
          double d = 0;
          for (std::size_t b = 0; b < kKeys; ++b)
            d += ((a == b ? w[a] : 0.0) - w[a] * w[b]) * k[i][b][c] * factor;
          gradient += d * d;
        }
      }
      jacobians.push_back(std::sqrt(jacobian)), gradients.push_back(std::sqrt(gradient));
    }
    const Distribution& d = scaled ? got.scaled : got.raw;
    double meanJacobian = 0, meanGradient = 0;
    for (const double v : jacobians) meanJacobian += v / kQueries;
    for (const double v : gradients) meanGradient += v / kQueries;
    std::sort(jacobians.begin(), jacobians.end()), std::sort(gradients.begin(), gradients.end());
    CHECK(d.jacobian == doctest::Approx(jacobians[kQueries / 2]).epsilon(1e-6));
    CHECK(d.gradient == doctest::Approx(gradients[kQueries / 2]).epsilon(1e-6));
    CHECK(d.meanJacobian == doctest::Approx(meanJacobian).epsilon(1e-6));
    CHECK(d.meanGradient == doctest::Approx(meanGradient).epsilon(1e-6));
  }
  const SpreadDraws draws(1);
  const Spread one = draws.at({0.0, 1.0, 1}), many = draws.at({0.0, 1.0, 1024});
  CHECK(one.raw.jacobian == doctest::Approx(one.scaled.jacobian));
  CHECK(many.raw.jacobian < 0.01 * many.scaled.jacobian);
  CHECK(many.raw.gradient < 0.05 * many.scaled.gradient);
  CHECK(many.scaled.jacobian > 0.1);
}

TEST_CASE("spread: refusals") {
  CHECK(validate(SpreadSpec{}));
  CHECK(validate(SpreadSpec{99.0, 1.0, 1}).error().message() == "mean: 99 is out of range; use -10 to 10.");
  CHECK(validate(SpreadSpec{0.0, NAN, 1}).error().message() ==
        "deviation: NaN is out of range; use 0 to 10.");
  CHECK(validate(SpreadSpec{0.0, 1.0, 2048}).error().message() ==
        "dim: 2048 is out of range; use 1 to 1024.");
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
  base::NormalRandom draws(how.seed);
  for (Tensor* t : {&moved.q, &moved.k, &moved.v}) {
    for (int c = 0; c < t->cols(); ++c) {
      t->at(0, 1, c) = static_cast<float>(double{t->at(0, 1, c)} + 0.7 * draws.next());
    }
  }
  const ReferenceTrace before = reference(layer.spec, layer.inputs()),
                       after = reference(moved.spec, moved.inputs());
  for (int i = 0; i < 4; ++i) {
    for (int c = 0; c < 2; ++c) {
      double connected = 0.0;
      for (int j = 0; j < 4; ++j) connected += before.weights.at(0, i, j) * double{moved.v.at(0, j, c)};
      CHECK(std::abs(connected - double{got.connected.at(0, i, c)}) < 1e-6);
      CHECK(std::abs(after.headOutput.at(0, i, c) - double{got.attended.at(0, i, c)}) < 1e-6);
    }
  }
}

TEST_CASE("comparison: some pairs of one head are those of all") {
  Random random(24);
  Spec spec = square(4, 40, 5, 3);
  spec.kvHeads = 2, spec.causal = true;
  const test::Layer layer = test::direct(spec, random);
  const Span queries{3, 30}, keys{7, 33};
  for (const Moved moved : {Moved::values, Moved::queriesAndKeys, Moved::all}) {
    const ComparisonSpec how{12, 1.0, moved, 3};
    const Comparison all = compare(layer.spec, layer.inputs(), how);
    for (int head = 0; head < spec.heads; ++head) {
      CAPTURE(head);
      const Comparison some = compare(layer.spec, layer.inputs(), how, {head, queries, keys});
      const auto differs = [&](const Tensor& part, const Tensor& whole, int firstCol) {
        double most = 0;
        for (int r = 0; r < part.rows(); ++r)
          for (int c = 0; c < part.cols(); ++c)
            most = std::max(most, std::abs(double{part.at(0, r, c)} -
                                           double{whole.at(head, queries.begin + r, firstCol + c)}));
        return most;
      };
      REQUIRE(some.fixed.rows() == queries.size());
      REQUIRE(some.fixed.cols() == keys.size());
      CHECK(differs(some.fixed, all.fixed, keys.begin) < 1e-6);
      CHECK(differs(some.following, all.following, keys.begin) < 1e-6);
      CHECK(differs(some.connected, all.connected, 0) < 1e-6);
      CHECK(differs(some.attended, all.attended, 0) < 1e-6);
      CHECK(some.difference <= all.difference + 1e-6);
      CHECK(some.attentionWeights == all.attentionWeights);
    }
  }
}

TEST_CASE("comparison: for d_v = 1 the fully connected layer has just the weights of attention") {
  Random random(23);
  const test::Layer one = test::direct(square(1, 4, 3, 1), random),
                    five = test::direct(square(1, 4, 3, 5), random);
  const Comparison same = compare(one.spec, one.inputs(), {}), more = compare(five.spec, five.inputs(), {});
  CHECK(same.attentionWeights == 16);
  CHECK(same.connectedWeights == 16);
  CHECK(more.attentionWeights == 16);
  CHECK(more.connectedWeights == 20 * 20);
}

TEST_CASE("reach: every stored case, from NumPy") {
  const json golden = test::derived();
  for (const json& stored : golden.at("reaches")) {
    const ReachSpec spec{stored.at("steps"), stored.at("recurrent"), stored.at("input"), stored.at("lead"),
                         stored.at("seed")};
    REQUIRE(validate(spec));
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

TEST_CASE("reach: an LSTM keeps of its memory what its forget gate lets through") {
  const auto open = [](double bias) { return 1 / (1 + std::exp(-bias)); };
  for (const double bias : {-2.0, 0.0, 3.0}) {
    // Without input and recurrence every gate is open as far as its bias says.
    for (const Reach& r : reach({40, 0.0, 0.0, 4.0, 2, bias}))
      CHECK(r.lstm == doctest::Approx(std::pow(open(bias), r.distance)).epsilon(1e-9));
    // With recurrence but without input, c and h stay 0: the memory also returns through g, which sees half
    // of h.
    const std::vector<Reach> r = reach({3, 0.8, 0.0, 4.0, 2, bias});
    CHECK(r[1].lstm > open(bias) - 0.8 / 4);
    CHECK(r[1].lstm < open(bias) + 0.8 / 4);
    CHECK(r[1].lstm != open(bias));
  }
  const std::vector<Reach> usual = reach({}), closed = reach({32, 0.9, 0.5, 4.0, 1, 0.0});
  CHECK(usual.back().lstm > 10 * usual.back().recurrent);
  CHECK(closed.back().lstm < 0.01);
  CHECK(std::isfinite(reach({256, 4.0, 10.0, 4.0, 1, 10.0}).back().lstm));
}

TEST_CASE("reach: refusals") {
  CHECK(validate(ReachSpec{}));
  CHECK(validate(ReachSpec{1}).error().message() == "steps: 1 is out of range; use 2 to 256.");
  CHECK(validate(ReachSpec{300}).error().message() == "steps: 300 is out of range; use 2 to 256.");
  CHECK(validate(ReachSpec{32, 5.0}).error().message() == "recurrent: 5 is out of range; use 0 to 4.");
  CHECK(validate(ReachSpec{32, 1.0, 1.0, 99.0}).error().message() ==
        "lead: 99 is out of range; use -30 to 30.");
  CHECK(validate(ReachSpec{32, 1.0, 1.0, 4.0, 1, 11.0}).error().message() ==
        "forget: 11 is out of range; use -10 to 10.");
}
