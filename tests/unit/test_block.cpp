// The block around the layer: against NumPy and PyTorch (tests/golden/derived.py), against a simple version
// in double, and its properties and errors.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "attention/models/stages.h"
#include "derived.h"
#include "layer.h"

using namespace attention;
using nlohmann::json;
using test::Random;
using Stage = BlockStage;

namespace {

struct Block {
  BlockSpec spec;
  Tensor x, attention, gamma1, delta1, w1, b1, w2, b2, gamma2, delta2;

  BlockInputs inputs() const {
    return {&x, &attention, &gamma1, &delta1, &w1, &b1, &w2, &b2, &gamma2, &delta2};
  }
  BlockTrace run() const {
    const auto ok = validate(spec, inputs());
    REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
    BlockTrace trace;
    forwardBlock(spec, inputs(), trace);
    return trace;
  }
};

Block made(int rows, int width, int hidden, Random& random) {
  Block b;
  b.spec.rows = rows, b.spec.width = width, b.spec.hidden = hidden;
  const float size = 1.0f / std::sqrt(static_cast<float>(width));
  test::fill(b.x = {1, rows, width}, random), test::fill(b.attention = {1, rows, width}, random);
  test::fill(b.gamma1 = {1, 1, width}, random), test::fill(b.gamma2 = {1, 1, width}, random);
  test::fill(b.delta1 = {1, 1, width}, random), test::fill(b.delta2 = {1, 1, width}, random);
  test::fill(b.w1 = {1, width, hidden}, random, size), test::fill(b.b1 = {1, 1, hidden}, random);
  test::fill(b.w2 = {1, hidden, width}, random, size), test::fill(b.b2 = {1, 1, width}, random);
  return b;
}

// --- The block in double: rows of numbers, and one function per operation.

using Row = std::vector<double>;
using Rows = std::vector<Row>;

Rows rowsOf(const Tensor& t) {
  Rows rows;
  for (int r = 0; r < t.rows(); ++r) rows.emplace_back(t.row(0, r), t.row(0, r) + t.cols());
  return rows;
}

Rows normalised(const Rows& x, const Row& gamma, const Row& delta, double epsilon) {
  Rows out = x;
  for (Row& row : out) {
    double mean = 0.0, variance = 0.0;
    for (const double v : row) mean += v / static_cast<double>(row.size());
    for (const double v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
    const double deviation = std::sqrt(variance + epsilon);
    for (std::size_t c = 0; c < row.size(); ++c) row[c] = gamma[c] * (row[c] - mean) / deviation + delta[c];
  }
  return out;
}

Rows times(const Rows& x, const Rows& w, const Row& bias) {
  Rows out;
  for (const Row& row : x) {
    Row sums = bias;
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += row[i] * w[i][c];
    }
    out.push_back(sums);
  }
  return out;
}

Rows plus(Rows a, const Rows& b) {
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) a[r][c] += b[r][c];
  }
  return a;
}

Rows through(Activation activation, Rows rows) {
  for (Row& row : rows) {
    for (double& h : row) {
      if (activation == Activation::relu) h = h > 0.0 ? h : 0.0;
      if (activation == Activation::gelu) h = h * std::erfc(-h / std::sqrt(2.0)) / 2.0;
      if (activation == Activation::tanh) h = 1.0 - 2.0 / (std::exp(2.0 * h) + 1.0);
    }
  }
  return rows;
}

/// The output of the block at inference.
Rows reference(const Block& b) {
  const double epsilon = double{b.spec.epsilon};
  const Row gamma1 = rowsOf(b.gamma1)[0], delta1 = rowsOf(b.delta1)[0];
  const Row gamma2 = rowsOf(b.gamma2)[0], delta2 = rowsOf(b.delta2)[0];
  const auto feedForward = [&](const Rows& z) {
    const Rows hidden = through(b.spec.activation, times(z, rowsOf(b.w1), rowsOf(b.b1)[0]));
    return times(hidden, rowsOf(b.w2), rowsOf(b.b2)[0]);
  };
  const Rows x = rowsOf(b.x), a = rowsOf(b.attention);
  const Rows added = b.spec.residual ? plus(x, a) : a;
  const auto joined = [&](const Rows& z, const Rows& f) { return b.spec.residual ? plus(z, f) : f; };
  switch (b.spec.norm) {
    case NormPlace::none: return joined(added, feedForward(added));
    case NormPlace::post: {
      const Rows z = normalised(added, gamma1, delta1, epsilon);
      return normalised(joined(z, feedForward(z)), gamma2, delta2, epsilon);
    }
    case NormPlace::pre: return joined(added, feedForward(normalised(added, gamma2, delta2, epsilon)));
  }
  return {};
}

Row flat(const Rows& rows) {
  Row out;
  for (const Row& row : rows) out.insert(out.end(), row.begin(), row.end());
  return out;
}

double largest(const Row& row) {
  double most = 1.0;
  for (const double v : row) most = std::max(most, std::abs(v));
  return most;
}

Block blockOf(const json& stored) {
  const json &o = stored.at("options"), &in = stored.at("inputs");
  Block b;
  b.x = test::tensorOf(in.at("x")), b.attention = test::tensorOf(in.at("attention"));
  b.gamma1 = test::tensorOf(in.at("gamma1")), b.delta1 = test::tensorOf(in.at("delta1"));
  b.gamma2 = test::tensorOf(in.at("gamma2")), b.delta2 = test::tensorOf(in.at("delta2"));
  b.w1 = test::tensorOf(in.at("w1")), b.b1 = test::tensorOf(in.at("b1"));
  b.w2 = test::tensorOf(in.at("w2")), b.b2 = test::tensorOf(in.at("b2"));
  b.spec.rows = b.x.rows(), b.spec.width = b.x.cols(), b.spec.hidden = b.w1.cols();
  b.spec.residual = o.at("residual"), b.spec.epsilon = o.at("epsilon"), b.spec.dropRate = o.at("dropRate");
  b.spec.seed = o.at("seed"), b.spec.training = o.at("training");
  const std::string norm = o.at("norm"), activation = o.at("activation");
  b.spec.norm = norm == "pre" ? NormPlace::pre : norm == "post" ? NormPlace::post : NormPlace::none;
  b.spec.activation = activation == "relu"   ? Activation::relu
                      : activation == "gelu" ? Activation::gelu
                                             : Activation::tanh;
  return b;
}

std::string refusal(const Block& block) {
  const auto ok = validate(block.spec, block.inputs());
  return ok ? "accepted" : ok.error().message();
}

}  // namespace

TEST_CASE("block: every stored stage, from NumPy and PyTorch") {
  const json golden = test::derived();
  int compared = 0;
  for (const json& stored : golden.at("blocks")) {
    const std::string caseName = stored.at("name");
    CAPTURE(caseName);
    const Block b = blockOf(stored);
    const BlockTrace trace = b.run();
    for (int s = 0; s < kBlockStages; ++s) {
      const Stage stage = static_cast<Stage>(s);
      const std::string key(name(stage));
      CAPTURE(key);
      if (!stored.at("expected").contains(key)) {
        CHECK(trace[stage].empty());
        continue;
      }
      test::compare(stored.at("expected").at(key), trace[stage], 4e-6);
      ++compared;
    }
  }
  CHECK(compared == 58);
}

TEST_CASE("block: agrees with the readable version at every size and in every order") {
  Random random(3);
  for (const auto& [rows, width, hidden] :
       {std::array{1, 1, 1}, {2, 3, 5}, {5, 8, 32}, {9, 17, 33}, {3, 64, 256}}) {
    for (const NormPlace norm : {NormPlace::none, NormPlace::post, NormPlace::pre}) {
      for (const Activation activation : {Activation::relu, Activation::gelu, Activation::tanh}) {
        for (const bool residual : {false, true}) {
          Block b = made(rows, width, hidden, random);
          b.spec.norm = norm, b.spec.activation = activation, b.spec.residual = residual;
          // A single number is its own mean: what remains of it is rounding error divided by √ε.
          if (width == 1) b.spec.epsilon = 0.1f;
          const Row exact = flat(reference(b));
          const BlockTrace trace = b.run();
          CAPTURE(width);
          const Stage last = chain(b.spec).back().stage;
          test::compare(exact, trace[last], 2e-6 * std::sqrt(hidden) * largest(exact));
        }
      }
    }
  }
}

TEST_CASE("block: layer normalisation gives rows of mean 0 and variance 1, whatever they were scaled by") {
  Random random(5);
  Tensor x(1, 4, 32), out, again;
  test::fill(x, random, 3.0f);
  Moments moments;
  layerNorm(x, nullptr, nullptr, 1e-12f, moments, out);
  for (int r = 0; r < 4; ++r) {
    double mean = 0.0, squares = 0.0;
    for (int c = 0; c < 32; ++c) {
      const double v = double{out.at(0, r, c)};
      mean += v / 32, squares += v * v / 32;
    }
    CHECK(std::abs(mean) < 1e-6);
    CHECK(std::abs(squares - 1.0) < 1e-5);
  }
  for (float& v : x.values()) v = 4.0f * v + 7.0f;
  layerNorm(x, nullptr, nullptr, 1e-12f, moments, again);
  for (std::size_t i = 0; i < out.size(); ++i)
    CHECK(std::abs(double{out.data()[i]} - double{again.data()[i]}) < 1e-5);
  Tensor flatRow(1, 1, 8, 3.0f);
  layerNorm(flatRow, nullptr, nullptr, 1e-5f, moments, out);
  for (const float v : out.values()) CHECK(v == 0.0f);
}

TEST_CASE("block: each token goes through by itself") {
  Random random(8);
  Block b = made(5, 6, 12, random);
  const BlockTrace before = b.run();
  for (int c = 0; c < 6; ++c) b.x.at(0, 2, c) += 1.0f;
  const BlockTrace after = b.run();
  for (int r = 0; r < 5; ++r) {
    const float* row = before[Stage::norm_2].row(0, r);
    const bool same = std::equal(row, row + 6, after[Stage::norm_2].row(0, r));
    CHECK(same == (r != 2));
  }
}

TEST_CASE("block: pre-norm keeps a straight way from x to the output") {
  Random random(9);
  Block b = made(3, 4, 8, random);
  b.spec.norm = NormPlace::pre;
  for (float& v : b.attention.values()) v = 0.0f;
  for (float& v : b.w2.values()) v = 0.0f;
  for (float& v : b.b2.values()) v = 0.0f;
  const BlockTrace trace = b.run();
  CHECK(trace[Stage::residual_2] == b.x);
}

TEST_CASE("block: dropout keeps 1 − p of the numbers, scales them up, and is off at inference") {
  Random random(4);
  Block b = made(64, 64, 4, random);
  for (float& v : b.attention.values()) v = 1.0f;
  b.spec.dropRate = 0.25f;
  CHECK(b.run()[Stage::dropout_1] == b.attention);
  b.spec.training = true;
  const BlockTrace trace = b.run();
  int kept = 0;
  double sum = 0.0;
  for (const float v : trace[Stage::dropout_1].values()) {
    CHECK((v == 0.0f || std::abs(v - 1.0f / 0.75f) < 1e-6f));
    kept += v != 0.0f;
    sum += double{v};
  }
  CHECK(std::abs(kept / 4096.0 - 0.75) < 0.03);
  CHECK(std::abs(sum / 4096.0 - 1.0) < 0.04);
  CHECK(b.run()[Stage::dropout_1] == trace[Stage::dropout_1]);
  CHECK_FALSE(trace[Stage::dropout_2] == trace[Stage::feed_forward]);

  BlockSpec more = b.spec, other = b.spec;
  more.dropRate = 0.5f, other.seed = 2;
  int differs = 0;
  for (int r = 0; r < 64; ++r) {
    for (int c = 0; c < 64; ++c) {
      if (!isKept(b.spec, 1, r, c)) CHECK_FALSE(isKept(more, 1, r, c));
      differs += isKept(b.spec, 1, r, c) != isKept(other, 1, r, c);
      differs += isKept(b.spec, 1, r, c) != isKept(b.spec, 2, r, c);
    }
  }
  CHECK(differs > 2000);
}

TEST_CASE("block: plain dropout keeps numbers as they are, and inference multiplies all by 1 − p") {
  Random random(4);
  Block b = made(64, 64, 4, random);
  for (float& v : b.attention.values()) v = 1.0f;
  b.spec.dropRate = 0.25f, b.spec.dropout = Dropout::plain;
  const Tensor inferred = b.run()[Stage::dropout_1];
  for (const float v : inferred.values()) CHECK(v == 0.75f);
  b.spec.training = true;
  const Tensor plain = b.run()[Stage::dropout_1];
  CHECK(plain == dropMask(b.spec, 1));
  double sum = 0.0;
  for (const float v : plain.values()) sum += double{v};
  CHECK(std::abs(sum / 4096.0 - 0.75) < 0.03);
  b.spec.dropout = Dropout::inverted;
  const Tensor inverted = b.run()[Stage::dropout_1];
  for (std::size_t i = 0; i < plain.size(); ++i)
    CHECK(inverted.data()[i] == doctest::Approx(plain.data()[i] / 0.75f));
}

TEST_CASE("block: no NaN and no infinity from finite input, however large") {
  Random random(6);
  for (const NormPlace norm : {NormPlace::none, NormPlace::post, NormPlace::pre}) {
    for (const Activation activation : {Activation::relu, Activation::gelu, Activation::tanh}) {
      Block b = made(3, 4, 6, random);
      b.spec.norm = norm, b.spec.activation = activation, b.spec.training = true, b.spec.dropRate = 0.5f;
      for (Tensor* t : {&b.x, &b.attention, &b.gamma1, &b.w1, &b.w2, &b.b1, &b.b2, &b.delta2}) {
        for (float& v : t->values()) v = std::copysign(std::numeric_limits<float>::max(), v);
      }
      const BlockTrace trace = b.run();
      for (const Tensor& stage : trace.stages) {
        for (const float v : stage.values()) CHECK(std::isfinite(v));
      }
    }
  }
}

TEST_CASE("block: parameters that are left out are ones and zeros") {
  Random random(12);
  Block b = made(3, 4, 6, random);
  for (Tensor* t : {&b.gamma1, &b.gamma2}) *t = Tensor(1, 1, 4, 1.0f);
  for (Tensor* t : {&b.delta1, &b.delta2, &b.b2}) *t = Tensor(1, 1, 4);
  b.b1 = Tensor(1, 1, 6);
  const BlockTrace given = b.run();
  BlockInputs in = b.inputs();
  in.gamma1 = in.gamma2 = in.delta1 = in.delta2 = in.b1 = in.b2 = nullptr;
  REQUIRE(validate(b.spec, in));
  BlockTrace trace;
  forwardBlock(b.spec, in, trace);
  CHECK(trace[Stage::norm_2] == given[Stage::norm_2]);
}

TEST_CASE("block: the chain names what is done, in order") {
  BlockSpec spec;
  const auto words = [&] {
    std::string all;
    for (const BlockLink& l : chain(spec)) all += (all.empty() ? "" : " ") + std::string(name(l.stage));
    return all;
  };
  CHECK(words() == "attention residual_1 norm_1 hidden_raw hidden feed_forward residual_2 norm_2");
  spec.norm = NormPlace::pre, spec.training = true, spec.dropRate = 0.1f;
  CHECK(words() ==
        "norm_1 attention dropout_1 residual_1 norm_2 hidden_raw hidden feed_forward dropout_2 residual_2");
  spec.norm = NormPlace::none, spec.residual = false, spec.training = false;
  CHECK(words() == "attention hidden_raw hidden feed_forward");
}

TEST_CASE("block: explanations end in the value that they explain") {
  Random random(2);
  for (const NormPlace norm : {NormPlace::none, NormPlace::post, NormPlace::pre}) {
    Block b = made(3, 10, 12, random);
    b.spec.norm = norm, b.spec.training = true, b.spec.dropRate = 0.3f;
    const BlockTrace trace = b.run();
    for (const BlockLink& link : chain(b.spec)) {
      const Tensor& t = trace[link.stage];
      for (int r = 0; r < t.rows(); ++r) {
        for (int c = 0; c < t.cols(); ++c) {
          const Explanation e = explain(b.spec, b.inputs(), trace, {link.stage, r, c}, {"I", "saw"}, 3);
          REQUIRE(!e.terms.empty());
          CHECK(std::abs(e.terms.back().value - double{t.at(0, r, c)}) < 1e-5);
          CHECK(e.value == formatNumber(double{t.at(0, r, c)}, 3));
        }
      }
    }
  }
  Block b = made(2, 2, 2, random);
  b.x = Tensor(1, 2, 2), b.attention = Tensor(1, 2, 2);
  b.x.at(0, 0, 0) = 0.5f, b.attention.at(0, 0, 0) = -1.25f;
  const Explanation sum = explain(b.spec, b.inputs(), b.run(), {Stage::residual_1, 0, 0}, {"I"}, 2);
  CHECK(sum.text() == "Row I₁, column 1 = −0.75\nx + a: 0.50 + (−1.25) = −0.75");
}

namespace {

using Cells = std::set<std::tuple<TensorId, int, int>>;

/// Adds the cell and, recursively, all cells that it is computed from according to the table.
void addMadeFrom(const BlockSpec& spec, const BlockInputs& in, const BlockTrace& trace, TensorId id, int row,
                 int col, Cells& cells) {
  if (!cells.insert({id, row, col}).second || !kBlockTensors.contains(id)) return;
  const auto stage = static_cast<Stage>(static_cast<int>(id) - static_cast<int>(kBlockTensors.first));
  for (const StageSource& source : sourcesOf(spec, stage)) {
    const Tensor* from = find(in, trace, source.id);
    if (!from || (stage == Stage::attention && source.id == TensorId::block_norm_1))
      continue;  // dropout masks; what only the layer computes
    for (int r = 0; r < from->rows(); ++r) {
      for (int c = 0; c < from->cols(); ++c) {
        const bool isSource = source.cells == From::all || (source.cells == From::column && c == col) ||
                              (r == row && (source.cells == From::row || c == col));
        if (isSource) addMadeFrom(spec, in, trace, source.id, r, c, cells);
      }
    }
  }
}

}  // namespace

TEST_CASE(
    "block: a cell of a stage changes with those inputs that the table makes it from, and with no others") {
  Random random(11);
  for (const NormPlace norm : {NormPlace::none, NormPlace::post, NormPlace::pre}) {
    for (const bool residual : {false, true}) {
      Block b = made(2, 3, 2, random);
      b.spec.norm = norm, b.spec.residual = residual, b.spec.activation = Activation::tanh;
      const BlockTrace before = b.run();
      std::map<std::tuple<TensorId, int, int>, Cells> madeFrom;
      for (const BlockLink& link : chain(b.spec)) {
        const TensorId id = tensorOf(link.stage);
        for (int r = 0; r < before[link.stage].rows(); ++r)
          for (int c = 0; c < before[link.stage].cols(); ++c)
            addMadeFrom(b.spec, b.inputs(), before, id, r, c, madeFrom[{id, r, c}]);
      }
      const std::pair<TensorId, Tensor*> inputs[] = {{TensorId::x, &b.x},
                                                     {TensorId::output, &b.attention},
                                                     {TensorId::gamma_1, &b.gamma1},
                                                     {TensorId::delta_1, &b.delta1},
                                                     {TensorId::w_1, &b.w1},
                                                     {TensorId::b_1, &b.b1},
                                                     {TensorId::w_2, &b.w2},
                                                     {TensorId::b_2, &b.b2},
                                                     {TensorId::gamma_2, &b.gamma2},
                                                     {TensorId::delta_2, &b.delta2}};
      for (const auto& [id, tensor] : inputs) {
        for (int r = 0; r < tensor->rows(); ++r) {
          for (int c = 0; c < tensor->cols(); ++c) {
            const float kept = std::exchange(tensor->at(0, r, c), tensor->at(0, r, c) + 0.375f);
            const BlockTrace after = b.run();
            tensor->at(0, r, c) = kept;
            for (const auto& [cell, from] : madeFrom) {
              const auto& [stageId, row, col] = cell;
              const float was = find(b.inputs(), before, stageId)->at(0, row, col),
                          is = find(b.inputs(), after, stageId)->at(0, row, col);
              CHECK_MESSAGE((was != is) == (from.count({id, r, c}) == 1), attention::name(stageId), " by ",
                            attention::name(id));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("block: refusals") {
  Random random(1);
  const Block good = made(3, 4, 6, random);
  const auto with = [&](const std::function<void(Block&)>& change) {
    Block b = good;
    change(b);
    return refusal(b);
  };
  CHECK(refusal(good) == "accepted");
  CHECK(with([](Block& b) { b.spec.rows = 0; }) == "rows: 0 is out of range; use 1 to 4096.");
  CHECK(with([](Block& b) { b.spec.hidden = 5000; }) == "hidden: 5000 is out of range; use 1 to 4096.");
  CHECK(with([](Block& b) { b.spec.dropRate = 1.0f; }) == "dropRate: 1 is out of range; use 0 to 0.99.");
  CHECK(with([](Block& b) { b.spec.epsilon = 0.0f; }) == "epsilon: 0 is out of range; use 1e-12 to 1.");
  CHECK(with([](Block& b) { b.spec.epsilon = std::numeric_limits<float>::quiet_NaN(); }) ==
        "epsilon: NaN is out of range; use 1e-12 to 1.");
  CHECK(with([](Block& b) { b.w2 = Tensor(1, 4, 6); }) ==
        "w2.shape: [1, 4, 6] does not fit the other sizes; use [1, 6, 4].");
  CHECK(with([](Block& b) { b.gamma2.at(0, 0, 1) = INFINITY; }) ==
        "gamma2[0,0,1] is infinity; every number must be finite.");
  CHECK(with([](Block& b) { b.x = Tensor(); }) ==
        "x.shape: [0, 0, 0] does not fit the other sizes; use [1, 3, 4].");
  BlockInputs in = good.inputs();
  in.w1 = nullptr;
  CHECK(validate(good.spec, in).error().message() == "w1: it is missing; give a tensor of shape [1, 4, 6].");
}
