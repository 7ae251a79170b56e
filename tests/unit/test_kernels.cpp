// Every kernel of this build against double precision: the forward pass with all options, shapes and layouts.
#include <doctest/doctest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "attention/kernels/kernels.h"
#include "layer.h"

using namespace attention::kernels;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A matrix [heads, rows, cols] in an allocation of its exact size, so that the sanitizer detects any read
/// beyond it; rows are `padding` floats apart, and the first number is `shift` floats from an aligned
/// address.
class Block {
 public:
  Block(int heads, int rows, int cols, int padding = 0, int shift = 0, bool packed = false)
      : cols_(cols),
        shift_(shift),
        rowStride_((packed ? heads * cols : cols) + padding),
        headStride_(packed ? cols : static_cast<std::ptrdiff_t>(rows) * rowStride_) {
    const std::ptrdiff_t last = (heads - 1) * headStride_ + std::max(rows - 1, 0) * rowStride_ + cols;
    size_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(last, 0) + shift);
    numbers_ = std::make_unique<float[]>(size_);
    std::fill(numbers_.get(), numbers_.get() + size_, kUntouched);
  }
  float& at(int head, int row, int col) { return numbers_[place(head, row, col)]; }
  float at(int head, int row, int col) const { return numbers_[place(head, row, col)]; }
  In in() const { return {numbers_.get() + shift_, headStride_, rowStride_}; }
  Out out() { return {numbers_.get() + shift_, headStride_, rowStride_}; }
  int cols() const { return cols_; }
  static constexpr float kUntouched = 77.5f;

 private:
  std::size_t place(int head, int row, int col) const {
    return static_cast<std::size_t>(shift_ + head * headStride_ + row * rowStride_ + col);
  }
  int cols_, shift_;
  std::ptrdiff_t rowStride_, headStride_;
  std::size_t size_ = 0;
  std::unique_ptr<float[]> numbers_;
};

/// One forward call with its input memory and the expected result.
struct Case {
  Forward f;
  Block q, k, v;
  std::vector<std::uint8_t> blocked;
  std::unique_ptr<Block> bias;

  Case(const Forward& call, test::Random& random, int padding = 0, int shift = 0, bool packed = false,
       float size = 1.0f)
      : f(call),
        q(f.heads, f.queryCount, f.headDim, padding, shift, packed),
        k(f.kvHeads, f.keyCount, f.headDim, padding, shift, packed),
        v(f.kvHeads, f.keyCount, f.valueDim, padding, shift, packed) {
    fill(q, f.heads, f.queryCount, random, size);
    fill(k, f.kvHeads, f.keyCount, random, size);
    fill(v, f.kvHeads, f.keyCount, random, 1.0f);
    f.q = q.in(), f.k = k.in(), f.v = v.in();
  }
  static void fill(Block& block, int heads, int rows, test::Random& random, float size) {
    for (int h = 0; h < heads; ++h)
      for (int r = 0; r < rows; ++r)
        for (int c = 0; c < block.cols(); ++c) block.at(h, r, c) = random.normal() * size;
  }
  /// Sets blocked[head][query][key] by a rule.
  template <class Rule>
  void block(Rule rule) {
    blocked.resize(static_cast<std::size_t>(f.heads) * static_cast<std::size_t>(f.queryCount) *
                   static_cast<std::size_t>(f.keyCount));
    f.blocked = blocked.data();
    f.blockedRowStride = f.keyCount;
    f.blockedHeadStride = static_cast<std::ptrdiff_t>(f.queryCount) * f.keyCount;
    std::size_t at = 0;
    for (int h = 0; h < f.heads; ++h)
      for (int i = 0; i < f.queryCount; ++i)
        for (int j = 0; j < f.keyCount; ++j) blocked[at++] = rule(h, i, j) ? 1 : 0;
  }
  bool visible(int head, int i, int j) const {
    const int position = i + f.causalOffset;
    if (f.keyLength >= 0 && j >= f.keyLength) return false;
    if (f.causal && j > position) return false;
    if (f.windowLeft >= 0 && j < position - f.windowLeft) return false;
    if (f.windowRight >= 0 && j > position + f.windowRight) return false;
    if (f.blocked && f.blocked[head * f.blockedHeadStride + i * f.blockedRowStride + j]) return false;
    return !(f.bias && bias->at(head, i, j) == -std::numeric_limits<float>::infinity());
  }
};

/// One row in double precision, with numbers clamped to the range of float, in the order of steps of
/// kernels.h.
struct Row {
  std::vector<double> raw, scores, softcapped, masked, exponentials, weights, output;
  double max = -kInfinity, sum = 0.0, largestScore = 0.0;
};

double cut(double x) { return std::clamp(x, -static_cast<double>(FLT_MAX), static_cast<double>(FLT_MAX)); }

Row exactRow(const Case& c, int head, int i) {
  const Forward& f = c.f;
  const int kvHead = head / (f.heads / f.kvHeads);
  Row row;
  std::vector<double> scaled;
  for (int j = 0; j < f.keyCount; ++j) {
    double s = 0.0;
    for (int d = 0; d < f.headDim; ++d)
      s += static_cast<double>(c.q.at(head, i, d)) * static_cast<double>(c.k.at(kvHead, j, d));
    row.raw.push_back(s = cut(s));
    row.scores.push_back(s = cut(s * static_cast<double>(f.scale)));
    if (f.softcap > 0.0f) s = static_cast<double>(f.softcap) * std::tanh(s / static_cast<double>(f.softcap));
    row.softcapped.push_back(s);
    if (f.bias) s = cut(s + static_cast<double>(c.bias->at(head, i, j)));
    if (!c.visible(head, i, j)) s = -kInfinity;
    row.masked.push_back(s);
    if (s != -kInfinity) row.largestScore = std::max(row.largestScore, std::abs(s));
    s = s == -kInfinity ? s : cut(s / static_cast<double>(f.temperature));
    scaled.push_back(s);
    row.max = std::max(row.max, s);
  }
  for (double s : scaled) {
    row.exponentials.push_back(s == -kInfinity ? 0.0 : std::exp(s - row.max));
    row.sum += row.exponentials.back();
  }
  for (double e : row.exponentials) row.weights.push_back(row.sum > 0.0 ? e / row.sum : 0.0);
  for (int d = 0; d < f.valueDim; ++d) {
    double o = 0.0;
    for (int j = 0; j < f.keyCount; ++j)
      o += row.weights[static_cast<std::size_t>(j)] * static_cast<double>(c.v.at(kvHead, j, d));
    row.output.push_back(o);
  }
  return row;
}

enum class Ask { output, weights, everything };

/// All rows of all heads.
std::vector<Row> exactRows(const Case& c) {
  std::vector<Row> rows;
  for (int h = 0; h < c.f.heads; ++h)
    for (int i = 0; i < c.f.queryCount; ++i) rows.push_back(exactRow(c, h, i));
  return rows;
}

/// Runs the call and compares all that it writes with the rows; true if everything is within the bounds of
/// kernels.h.
bool agrees(Kernel kernel, const Case& c, const std::vector<Row>& rows, Ask ask, int padding = 0,
            int shift = 0, bool isKnown = false) {
  Forward f = c.f;
  const int n = f.queryCount, m = f.keyCount;
  Block output(f.heads, n, f.valueDim, padding, shift), weights(f.heads, n, m, padding, shift);
  Block raw(f.heads, n, m, padding), scores(f.heads, n, m, padding), softcapped(f.heads, n, m, padding);
  Block masked(f.heads, n, m, padding), exponentials(f.heads, n, m, padding), rowMax(f.heads, n, 1),
      rowSum(f.heads, n, 1);
  f.output = output.out();
  if (ask != Ask::output) f.weights = weights.out();
  if (ask == Ask::everything) {
    f.raw = raw.out(), f.scores = scores.out(), f.softcapped = softcapped.out(), f.masked = masked.out();
    f.exponentials = exponentials.out(), f.rowMax = rowMax.out(), f.rowSum = rowSum.out();
  }
  Workspace workspace;
  const Magnitudes known{static_cast<double>(largestSquare(kernel, f.q, f.heads, n, f.headDim)),
                         static_cast<double>(largestSquare(kernel, f.k, f.kvHeads, m, f.headDim)),
                         std::sqrt(largestSquare(kernel, f.v, f.kvHeads, m, f.valueDim))};
  if (!forward(kernel, f, workspace, isKnown ? &known : nullptr)) return false;

  const auto near = [&](const char* what, int h, int i, int j, float got, double wanted, double bound) {
    const bool both = std::isinf(wanted) && static_cast<double>(got) == wanted;
    const bool fine = both || std::abs(static_cast<double>(got) - wanted) <= bound;
    if (!fine)
      MESSAGE(name(kernel), ": ", what, "[", h, ",", i, ",", j, "] is ", got, ", exactly ", wanted,
              ", bound ", bound);
    return fine;
  };
  for (int h = 0; h < f.heads; ++h) {
    double valueLargest = 0.0;
    for (int j = 0; j < m; ++j)
      for (int d = 0; d < f.valueDim; ++d)
        valueLargest =
            std::max(valueLargest, std::abs(static_cast<double>(c.v.at(h / (f.heads / f.kvHeads), j, d))));
    for (int i = 0; i < n; ++i) {
      const Row& exact = rows[static_cast<std::size_t>(h * n + i)];
      double rawLargest = 0.0, together = 0.0;
      for (double s : exact.raw) rawLargest = std::max(rawLargest, std::abs(s));
      const double score = scoreBound(f.headDim, exact.largestScore);
      const double exponent = score / static_cast<double>(f.temperature);
      const double weight = kWeightBound + exponent / 2.0;
      for (int j = 0; j < m; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (ask != Ask::output) {
          if (!near("weights", h, i, j, weights.at(h, i, j), exact.weights[at], weight)) return false;
          if (exact.masked[at] == -kInfinity && weights.at(h, i, j) != 0.0f) return false;
          together += static_cast<double>(weights.at(h, i, j));
        }
        if (ask != Ask::everything) continue;
        if (!near("raw", h, i, j, raw.at(h, i, j), exact.raw[at], scoreBound(f.headDim, rawLargest)))
          return false;
        const double unmasked = scoreBound(f.headDim, rawLargest * std::abs(static_cast<double>(f.scale)));
        if (!near("scores", h, i, j, scores.at(h, i, j), exact.scores[at], unmasked)) return false;
        if (!near("softcapped", h, i, j, softcapped.at(h, i, j), exact.softcapped[at], unmasked))
          return false;
        if (!near("masked", h, i, j, masked.at(h, i, j), exact.masked[at], score + unmasked)) return false;
        const double e = exact.exponentials[at];
        if (!near("exponentials", h, i, j, exponentials.at(h, i, j), e, e * 2.1 * exponent + 1e-6))
          return false;
      }
      if (ask != Ask::output && !near("sum of weights", h, i, 0, static_cast<float>(together),
                                      exact.sum > 0 ? 1.0 : 0.0, kRowSumBound))
        return false;
      if (ask == Ask::everything) {
        if (!near("rowMax", h, i, 0, rowMax.at(h, i, 0), exact.max, exponent + exponent)) return false;
        if (!near("rowSum", h, i, 0, rowSum.at(h, i, 0), exact.sum, exact.sum * (2.1 * exponent + 1e-6)))
          return false;
      }
      for (int d = 0; d < f.valueDim; ++d)
        if (!near("output", h, i, d, output.at(h, i, d), exact.output[static_cast<std::size_t>(d)],
                  (4.0 * weight + 2e-6) * std::max(valueLargest, 1e-30)))
          return false;
    }
  }
  return true;
}

bool agrees(Kernel kernel, const Case& c, Ask ask) { return agrees(kernel, c, exactRows(c), ask); }

/// The same, whatever is asked for: each takes another way through the kernel.
void checkAll(Kernel kernel, const Case& c, int padding = 0, int shift = 0, bool isKnown = false) {
  const std::vector<Row> rows = exactRows(c);
  for (Ask ask : {Ask::output, Ask::weights, Ask::everything}) {
    CAPTURE(static_cast<int>(ask));
    CHECK(agrees(kernel, c, rows, ask, padding, shift, isKnown));
  }
}

Forward shaped(int heads, int kvHeads, int queries, int keys, int dim, int valueDim) {
  Forward f;
  f.heads = heads, f.kvHeads = kvHeads, f.queryCount = queries, f.keyCount = keys, f.headDim = dim,
  f.valueDim = valueDim;
  f.scale = 1.0f / std::sqrt(static_cast<float>(dim));
  return f;
}

constexpr int kLengths[] = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65};

}  // namespace

TEST_CASE("kernels: named, listed, and the best one last") {
  REQUIRE(!available().empty());
  CHECK((available().front() == Kernel::scalar ||
         available().size() == 1));  // a WebAssembly build contains a single kernel
  CHECK(best() == available().back());
  for (const char* known : {"scalar", "sse4", "avx2", "avx512", "wasm-simd128", "wasm-relaxed"}) {
    REQUIRE(kernelNamed(known));
    CHECK(name(*kernelNamed(known)) == known);
  }
  CHECK(!kernelNamed("mmx"));
  std::string names;
  for (Kernel kernel : available()) names += " " + std::string(name(kernel));
  MESSAGE("kernels that run here:", names);
}

TEST_CASE("kernels: lengths around the lanes, odd strides, misaligned, packed, grouped") {
  test::Random random(31);
  for (Kernel kernel : available()) {
    for (int length : kLengths) {
      for (int variant = 0; variant < 4; ++variant) {
        const int heads = variant == 3 ? 4 : 2, kvHeads = variant == 1 ? 1 : 2;
        const int keys = variant == 2 ? kLengths[random.below(14)] : length;
        const int dim = kLengths[random.below(14)],
                  valueDim = variant == 0 ? dim : kLengths[random.below(14)];
        Case c(shaped(heads, kvHeads, length, keys, dim, valueDim), random, variant == 1 ? 3 : 0,
               variant == 2 ? 1 : 0, variant == 3);
        c.f.causal = variant % 2 == 1;
        INFO(name(kernel), " ", heads, "/", kvHeads, " heads, ", length, "x", keys, ", dims ", dim, " and ",
             valueDim);
        checkAll(kernel, c, variant == 1 ? 5 : 0, variant == 2 ? 3 : 0);
      }
    }
  }
}

TEST_CASE("kernels: more than one block of queries, keys and columns") {
  test::Random random(32);
  for (Kernel kernel : available()) {
    for (auto [queries, keys, dim, valueDim] :
         {std::array{70, 530, 64, 64}, {25, 257, 300, 5}, {1, 600, 16, 33}, {130, 12, 270, 270}}) {
      Case c(shaped(2, 1, queries, keys, dim, valueDim), random);
      INFO(name(kernel), " ", queries, "x", keys, ", dims ", dim, " and ", valueDim);
      checkAll(kernel, c);
    }
  }
}

TEST_CASE("kernels: small calls whose sums go straight to the output, of numbers known and not known") {
  test::Random random(36);
  for (Kernel kernel : available()) {
    for (int queries : {1, 2, 3, 4, 5, 6, 12, 16, 26, 30}) {
      for (auto [keys, valueDim] : {std::array{1, 32}, {5, 8}, {16, 16}, {32, 64}, {33, 32}, {256, 32}}) {
        Case c(shaped(4, 2, queries, keys, 16, valueDim), random, 3, 1, false, queries == 5 ? 30.0f : 1.0f);
        const std::vector<Row> rows = exactRows(c);
        for (bool isKnown : {false, true}) {
          INFO(name(kernel), " ", queries, "x", keys, ", dim ", valueDim, isKnown ? ", known" : "");
          for (Ask ask : {Ask::output, Ask::weights, Ask::everything})
            CHECK(agrees(kernel, c, rows, ask, 2, 1, isKnown));
        }
      }
    }
  }
}

TEST_CASE("kernels: keys packed in several goes") {
  test::Random random(33);
  for (Kernel kernel : available()) {
    Case c(shaped(2, 1, 30, 5000, 40, 24), random);  // 5000 keys of 64 numbers: more than a megabyte
    CHECK(agrees(kernel, c, Ask::output));
    c.f.causal = true, c.f.causalOffset = 2500;
    CHECK(agrees(kernel, c, Ask::output));
    c.f.windowLeft = 100;
    CHECK(agrees(kernel, c, Ask::output));
  }
}

TEST_CASE("kernels: every step between product and softmax") {
  test::Random random(34);
  for (Kernel kernel : available()) {
    for (int step = 0; step < 5; ++step) {
      Case c(shaped(2, 2, 37, 45, 24, 20), random, 0, 0, false, 2.0f);
      if (step == 0) c.f.softcap = 1.5f;
      if (step == 1) c.f.temperature = 0.25f;
      if (step == 2) c.f.temperature = 7.0f, c.f.scale = -0.3f;
      if (step >= 3) {
        c.bias = std::make_unique<Block>(2, 37, 45);
        Case::fill(*c.bias, 2, 37, random, 1.0f);
        for (int i = 0; i < 37; ++i)
          for (int j = 0; j < 45; ++j)
            if ((i + 2 * j) % 5 == 0) c.bias->at(i % 2, i, j) = -std::numeric_limits<float>::infinity();
        c.f.bias = c.bias->in();
        if (step == 4) c.f.softcap = 20.0f, c.f.causal = true, c.f.temperature = 1.7f;
      }
      INFO(name(kernel), " step ", step);
      checkAll(kernel, c);
    }
  }
}

TEST_CASE("kernels: every mask, and the tiles that it spares") {
  test::Random random(35);
  for (Kernel kernel : available()) {
    for (int mask = 0; mask < 10; ++mask) {
      Case c(shaped(2, 1, 150, 300, 8, 8), random);
      Forward& f = c.f;
      if (mask == 1) f.causal = true;
      if (mask == 2) f.causal = true, f.causalOffset = 150;
      if (mask == 3) f.causal = true, f.causalOffset = -40;
      if (mask == 4) f.windowLeft = 20, f.windowRight = 9;
      if (mask == 5) f.causal = true, f.windowLeft = 33;
      if (mask == 6) f.keyLength = 70;
      if (mask == 7) c.block([](int, int i, int j) { return i / 64 != j / 64; });  // block-local
      if (mask == 8)
        c.block([](int h, int i, int j) { return (i + j) % 7 != h && j > 3; });  // strided, with global keys
      if (mask == 9) c.block([](int, int, int) { return true; }), f.causal = true;  // nothing is visible
      INFO(name(kernel), " mask ", mask);
      checkAll(kernel, c);

      Block output(2, 150, 8);
      f.output = output.out();
      Workspace workspace;
      const std::optional<Tiles> tiles = forward(kernel, f, workspace);
      REQUIRE(tiles);
      std::int64_t wanted = 0, total = 0;
      for (int h = 0; h < 2; ++h) {
        for (int i = 0; i < 150; i += tiles->rows) {
          for (int j = 0; j < 300; j += tiles->keys) {
            bool any = false;
            for (int r = i; r < std::min(i + tiles->rows, 150); ++r)
              for (int k = j; k < std::min(j + tiles->keys, 300); ++k) any = any || c.visible(h, r, k);
            wanted += any, ++total;
          }
        }
      }
      CHECK(tiles->total == total);
      CHECK(tiles->computed == wanted);
      if (mask == 1) CHECK(tiles->computed < total / 2);
      if (mask == 9) CHECK(tiles->computed == 0);
    }
  }
}

TEST_CASE("kernels: no NaN from finite numbers, however large or small") {
  test::Random random(36);
  for (Kernel kernel : available()) {
    for (float size : {1e30f, 3e38f, 1e19f, 1e-30f, 1e-42f, 0.0f}) {
      Case c(shaped(1, 1, 13, 21, 6, 5), random);
      for (int i = 0; i < 13; ++i)
        for (int d = 0; d < 6; ++d) c.q.at(0, i, d) = random.chance(0.5) ? size : -size;
      for (int j = 0; j < 21; ++j) {
        for (int d = 0; d < 6; ++d) c.k.at(0, j, d) = random.chance(0.5) ? size : -size;
        for (int d = 0; d < 5; ++d) c.v.at(0, j, d) = random.chance(0.5) ? size : -size;
      }
      c.f.causal = size > 1.0f;
      INFO(name(kernel), " size ", size);
      checkAll(kernel, c);
    }
    Case equal(shaped(1, 1, 9, 40, 4, 3), random);
    for (int j = 0; j < 40; ++j)
      for (int d = 0; d < 4; ++d) equal.k.at(0, j, d) = 0.5f;
    CHECK(agrees(kernel, equal, Ask::everything));
    Case wide(shaped(1, 1, 9, 40, 4, 3), random, 0, 0, false,
              30.0f);  // scores far apart: most weights underflow
    CHECK(agrees(kernel, wide, Ask::everything));
    Case cold(shaped(1, 1, 9, 40, 4, 3), random);
    cold.f.temperature = 1e-38f;
    Block output(1, 9, 3);
    cold.f.output = output.out();
    Workspace workspace;
    REQUIRE(forward(kernel, cold.f, workspace));
    for (int i = 0; i < 9; ++i)
      for (int d = 0; d < 3; ++d) CHECK(std::isfinite(output.at(0, i, d)));
  }
}

TEST_CASE("kernels: small scores go without their maximum, larger ones do not, and both are right") {
  test::Random random(16);
  for (Kernel kernel : available()) {
    for (float score : {-60.0f, -42.0f, -41.0f, 41.0f, 42.0f, 60.0f}) {  // the change is at 60 · ln 2 = 41.6
      for (float value : {1.0f, 2e-15f, 5e-16f, 1e16f, 1e17f}) {
        Case c(shaped(1, 1, 13, 70, 8, 5), random, 0, 0, false, 0.01f);
        for (int j = 0; j < 70; ++j) {
          c.k.at(0, j, 0) += score > 0.0f ? 2.0f : -2.0f;
          for (int d = 0; d < 5; ++d) c.v.at(0, j, d) *= value;
        }
        for (int i = 0; i < 13; ++i) c.q.at(0, i, 0) += std::abs(score) / 2.0f / c.f.scale;
        c.f.causal = true, c.f.causalOffset = 30;
        INFO(name(kernel), " score ", score, " value ", value);
        checkAll(kernel, c);
      }
    }
    Case apart(shaped(1, 1, 7, 19, 4, 3), random);  // products of factors whose squares underflow
    for (int i = 0; i < 7; ++i)
      for (int d = 0; d < 4; ++d) apart.q.at(0, i, d) *= 1e-23f;
    for (int j = 0; j < 19; ++j)
      for (int d = 0; d < 4; ++d) apart.k.at(0, j, d) *= 1e25f;
    INFO(name(kernel));
    CHECK(agrees(kernel, apart, Ask::weights));
  }
}

TEST_CASE("kernels: no keys, no queries, padding everywhere") {
  test::Random random(37);
  for (Kernel kernel : available()) {
    Case c(shaped(1, 1, 4, 5, 3, 2), random);
    c.f.keyLength = 0;
    CHECK(agrees(kernel, c, Ask::everything));
    CHECK(agrees(kernel, c, Ask::output));
    Block output(1, 4, 2);
    Forward none = c.f;
    none.keyCount = 0;
    none.output = output.out();
    Workspace workspace;
    REQUIRE(forward(kernel, none, workspace));
    CHECK(output.at(0, 3, 1) == 0.0f);
    none.queryCount = 0;
    CHECK(forward(kernel, none, workspace));
  }
}

TEST_CASE("kernels: the same numbers whatever the thread count") {
  test::Random random(38);
  for (Kernel kernel : available()) {
    Case c(shaped(3, 3, 333, 250, 32, 32), random);
    c.f.causal = true;
    std::vector<std::unique_ptr<Block>> outputs, weights;
    for (int threads : {1, 2, 3, 5}) {
      outputs.push_back(std::make_unique<Block>(3, 333, 32));
      weights.push_back(std::make_unique<Block>(3, 333, 250));
      c.f.output = outputs.back()->out();
      c.f.weights = weights.back()->out();
      Workspace workspace(threads);
      for (int again = 0; again < 3; ++again) REQUIRE(forward(kernel, c.f, workspace));
    }
    for (std::size_t t = 1; t < outputs.size(); ++t) {
      bool same = true;
      for (int h = 0; h < 3; ++h) {
        for (int i = 0; i < 333; ++i) {
          for (int d = 0; d < 32; ++d) same = same && outputs[0]->at(h, i, d) == outputs[t]->at(h, i, d);
          for (int j = 0; j < 250; ++j) same = same && weights[0]->at(h, i, j) == weights[t]->at(h, i, j);
        }
      }
      CHECK(same);
    }
  }
}

TEST_CASE("kernels: memory is bounded when fused, and taken once") {
  test::Random random(39);
  for (Kernel kernel : available()) {
    Case c(shaped(1, 1, 8192, 8192, 64, 64), random);
    c.f.windowLeft = 0, c.f.windowRight = 0;  // the mask saves time and does not change the memory
    Block output(1, 8192, 64);
    c.f.output = output.out();
    Workspace workspace;
    REQUIRE(forward(kernel, c.f, workspace));
    CHECK(workspace.bytes() > 0);
    CHECK(workspace.bytes() <= 4'000'000);
    const std::size_t before = workspace.bytes();
    REQUIRE(forward(kernel, c.f, workspace));
    CHECK(workspace.bytes() == before);
  }
}

TEST_CASE(
    "kernels: rows of very many columns take a small multiple of their own memory, however few they are") {
  constexpr int kColumns = 70'000;
  test::Random random(43);
  for (Kernel kernel : available())
    for (const auto& [queries, keys] :
         {std::pair(1, 1), {3, 2}, {8, 8}, {1, 16}, {16, 1}, {9, 8}, {20, 1}, {20, 20}}) {
      CAPTURE(name(kernel));
      CAPTURE(queries);
      CAPTURE(keys);
      Case c(shaped(2, 1, queries, keys, kColumns, kColumns), random, 0, 0, false, 0.01f);
      c.f.causal = true, c.f.causalOffset = keys - 1;
      const std::vector<Row> rows = exactRows(c);
      CHECK(agrees(kernel, c, rows, Ask::output));
      CHECK(agrees(kernel, c, rows, Ask::everything));
      Block output(2, queries, kColumns);
      c.f.output = output.out();
      Workspace workspace(1), shared(3);
      REQUIRE(forward(kernel, c.f, workspace));
      REQUIRE(forward(kernel, c.f, shared));
      const std::size_t given = sizeof(float) * kColumns * static_cast<std::size_t>(2 * queries + 2 * keys);
      CHECK(workspace.bytes() <= 9 * given);
      CHECK(shared.bytes() == workspace.bytes());  // there is work for one thread
      if (queries + keys <= 16) CHECK(workspace.bytes() < given + 200'000);
    }
}

TEST_CASE("kernels: rows of 8,192 keys sum to 1; unit-normal weights within their bound") {
  test::Random random(40);
  for (Kernel kernel : available()) {
    Case c(shaped(1, 1, 7, 8192, 64, 4), random);
    CHECK(agrees(kernel, c, Ask::weights));
    Case unit(shaped(1, 1, 40, 40, 64, 4), random);
    Block weights(1, 40, 40);
    unit.f.weights = weights.out();
    Workspace workspace;
    REQUIRE(forward(kernel, unit.f, workspace));
    double worst = 0.0;
    for (int i = 0; i < 40; ++i) {
      const Row row = exactRow(unit, 0, i);
      for (int j = 0; j < 40; ++j)
        worst = std::max(worst, std::abs(row.weights[static_cast<std::size_t>(j)] -
                                         static_cast<double>(weights.at(0, i, j))));
    }
    CHECK(worst <= kWeightBound);
  }
}
