// The row operations of the kernels, and exp over its whole range.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "attention/kernels/kernels.h"
#include "layer.h"

using namespace attention::kernels;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kLengths[] = {0, 1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130};

/// Numbers in an allocation of its exact size, the first one `shift` floats from an aligned address.
struct Numbers {
  Numbers(int length, test::Random& random, int shift = 1)
      : count(length),
        memory(std::make_unique<float[]>(static_cast<std::size_t>(length + shift))),
        data(memory.get() + shift) {
    for (int i = 0; i < length; ++i) data[i] = random.normal();
  }
  int count;
  std::unique_ptr<float[]> memory;
  float* data;
};

/// The error in units in the last place of the exact result, which must be a normal float.
double ulps(float got, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::abs(static_cast<double>(got) - exact) / std::ldexp(1.0, exponent - 24);
}

}  // namespace

TEST_CASE("kernels: exp within its bound over its whole range") {
  for (Kernel kernel : available()) {
    double worst = 0.0;
    float worstAt = 0.0f;
    std::vector<float> x, y;
    const auto check = [&] {
      y.resize(x.size());
      exp(kernel, x.data(), 0.0f, static_cast<int>(x.size()), y.data());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double error = ulps(y[i], std::exp(static_cast<double>(x[i])));
        if (error > worst) worst = error, worstAt = x[i];
      }
      x.clear();
    };
    // Every 997th float from the smallest magnitude up, of either sign, and both ends of the range.
    for (std::uint32_t bits = 0; std::bit_cast<float>(bits) <= kExpHighest; bits += 997)
      x.push_back(std::bit_cast<float>(bits));
    check();
    for (std::uint32_t bits = 0x80000000u; std::bit_cast<float>(bits) >= kExpLowest; bits += 997)
      x.push_back(std::bit_cast<float>(bits));
    check();
    x = {kExpLowest,  std::nextafter(kExpLowest, 0.0f),
         kExpHighest, std::nextafter(kExpHighest, 0.0f),
         0.0f,        -0.0f,
         1.0f,        -1.0f};
    check();
    MESSAGE(name(kernel), ": exp is off by at most ", worst, " ulp, at ", worstAt);
    CHECK(worst <= kExpUlp);

    float special[] = {0.0f,   -kInfinity, std::nextafter(kExpLowest, -kInfinity),
                       -1e30f, -FLT_MAX,   std::nextafter(kExpHighest, kInfinity),
                       1e30f,  FLT_MAX,    kInfinity};
    float result[9];
    exp(kernel, special, 0.0f, 9, result);
    CHECK(result[0] == 1.0f);
    for (int i = 1; i < 5; ++i) CHECK(result[i] == 0.0f);
    for (int i = 5; i < 9; ++i) CHECK(result[i] == kInfinity);
  }
}

TEST_CASE("kernels: exp of a span, in place, its sum, and a shift of -inf") {
  test::Random random(50);
  for (Kernel kernel : available()) {
    for (int length : kLengths) {
      Numbers in(length, random), out(length, random);
      const float sum = exp(kernel, in.data, 0.5f, length, out.data);
      double wanted = 0.0;
      for (int i = 0; i < length; ++i) {
        const double e = std::exp(static_cast<double>(in.data[i] - 0.5f));
        CHECK(ulps(out.data[i], e) <= kExpUlp);
        wanted += e;
      }
      CHECK(std::abs(static_cast<double>(sum) - wanted) <= 1e-6 * (1.0 + wanted));
      CHECK(exp(kernel, in.data, 0.5f, length, in.data) == sum);
      for (int i = 0; i < length; ++i) CHECK(in.data[i] == out.data[i]);
      for (int i = 0; i < length; ++i) in.data[i] = -kInfinity;
      CHECK(exp(kernel, in.data, -kInfinity, length, out.data) == 0.0f);
    }
  }
}

TEST_CASE("kernels: dots, in rows and in columns") {
  test::Random random(51);
  for (Kernel kernel : available()) {
    for (int dim : kLengths) {
      const int count = 7, stride = dim + 2, outStride = 3;
      Numbers a(dim, random), rows(6 * stride + dim, random), out(6 * outStride + 1, random);
      dots(kernel, a.data, rows.data, stride, count, dim, out.data, outStride);
      for (int i = 0; i < count; ++i) {
        double exact = 0.0;
        for (int c = 0; c < dim; ++c)
          exact += static_cast<double>(a.data[c]) * static_cast<double>(rows.data[i * stride + c]);
        CHECK(std::abs(static_cast<double>(out.data[i * outStride]) - exact) <=
              scoreBound(dim, std::abs(exact)));
      }
    }
    const float huge[] = {3e38f, 3e38f, 1.0f},
                other[] = {3e38f, -3e38f, 2.0f, 3e38f, 3e38f, 0.0f, -3e38f, -3e38f, 0.0f};
    float out[3];
    dots(kernel, huge, other, 3, 3, 3, out, 1);
    CHECK(out[0] == 2.0f);
    CHECK(out[1] == FLT_MAX);
    CHECK(out[2] == -FLT_MAX);
    // What stands behind the columns of a row does not count, whatever it is.
    const float ones[] = {1, 1, 1}, marked[] = {1, 2, 3, std::nanf(""), 4, 5, 6, kInfinity, 7, 8, 9};
    dots(kernel, ones, marked, 4, 3, 3, out, 1);
    CHECK((out[0] == 6.0f && out[1] == 15.0f && out[2] == 24.0f));
  }
}

TEST_CASE("kernels: tanhs of sums from products of exponentials") {
  test::Random random(57);
  for (Kernel kernel : available()) {
    for (int dim : kLengths) {
      if (dim == 0) continue;
      for (float size : {1e-3f, 1.0f, 40.0f}) {
        const int count = 7;
        Numbers x(dim, random), y(count * dim, random), v(dim, random), out(count, random);
        Numbers a(dim, random), rows(count * dim, random);
        for (Numbers* each : {&x, &y}) {
          for (int i = 0; i < each->count; ++i)
            each->data[i] = std::clamp(each->data[i] * size, -40.0f, 40.0f);
        }
        for (int c = 0; c < dim; ++c) a.data[c] = static_cast<float>(std::exp(2.0 * double{x.data[c]}));
        for (int i = 0; i < count * dim; ++i)
          rows.data[i] = static_cast<float>(std::exp(2.0 * double{y.data[i]}));
        tanhs(kernel, a.data, rows.data, v.data, count, dim, out.data);
        for (int i = 0; i < count; ++i) {
          double exact = 0.0, all = 0.0;
          for (int c = 0; c < dim; ++c) {
            exact += double{v.data[c]} * std::tanh(double{x.data[c]} + double{y.data[i * dim + c]});
            all += std::abs(double{v.data[c]});
          }
          CHECK(std::abs(double{out.data[i]} - exact) <= std::ldexp(all, -20));
        }
      }
    }
    const float infinite[] = {kInfinity}, none[] = {0.0f}, one[] = {1.0f};
    float out = 0.0f;
    tanhs(kernel, infinite, none, one, 1, 1, &out);
    CHECK_FALSE(std::isfinite(out));
  }
}

TEST_CASE("kernels: softmax of a row") {
  test::Random random(52);
  for (Kernel kernel : available()) {
    for (int length : kLengths) {
      for (float temperature : {1.0f, 0.3f}) {
        Numbers in(length, random), e(length, random), w(length, random);
        if (length > 4) in.data[3] = -kInfinity;
        const SoftmaxRow found = softmax(kernel, in.data, temperature, length, e.data, w.data);
        double max = -std::numeric_limits<double>::infinity(), sum = 0.0, together = 0.0;
        for (int i = 0; i < length; ++i)
          max = std::max(max, static_cast<double>(in.data[i]) / static_cast<double>(temperature));
        for (int i = 0; i < length; ++i)
          sum += std::exp(static_cast<double>(in.data[i]) / static_cast<double>(temperature) - max);
        if (length > 0) CHECK(std::abs(static_cast<double>(found.max) - max) <= 1e-6 * (1.0 + std::abs(max)));
        CHECK(std::abs(static_cast<double>(found.sum) - sum) <= 2e-6 * sum);
        for (int i = 0; i < length; ++i) {
          const double exact =
              std::exp(static_cast<double>(in.data[i]) / static_cast<double>(temperature) - max);
          CHECK(std::abs(static_cast<double>(e.data[i]) - exact) <= 2e-6);
          CHECK(std::abs(static_cast<double>(w.data[i]) - exact / sum) <= kWeightBound * 2.0);
          together += static_cast<double>(w.data[i]);
        }
        if (length > 0) CHECK(std::abs(together - 1.0) <= kRowSumBound);
        const SoftmaxRow again = softmax(kernel, in.data, temperature, length, nullptr, in.data);
        CHECK(again.sum == found.sum);
        for (int i = 0; i < length; ++i) CHECK(in.data[i] == w.data[i]);
      }
    }
    float none[] = {-kInfinity, -kInfinity, -kInfinity}, e[3], w[3];
    const SoftmaxRow masked = softmax(kernel, none, 1.0f, 3, e, w);
    CHECK(masked.max == -kInfinity);
    CHECK(masked.sum == 0.0f);
    CHECK(w[1] == 0.0f);
    float far[] = {FLT_MAX, -FLT_MAX, FLT_MAX};
    softmax(kernel, far, 0.01f, 3, e, w);
    CHECK(w[0] == 0.5f);
    CHECK(w[1] == 0.0f);
  }
}

TEST_CASE(
    "kernels: the largest square of a row is not below the exact one, nor finite where a number is not") {
  test::Random random(54);
  for (Kernel kernel : available()) {
    for (int rows : {1, 2, 3, 8}) {
      for (int dim : {1, 3, 4, 7, 8, 16, 17, 33, 64, 130}) {
        const int stride = dim + 3;
        Numbers x(2 * rows * stride, random);
        const In in{x.data, rows * stride, stride};
        double most = 0.0, each = 0.0;
        for (int r = 0; r < 2 * rows; ++r) {
          double square = 0.0;
          for (int c = 0; c < dim; ++c) square += std::pow(static_cast<double>(x.data[r * stride + c]), 2.0);
          most = std::max(most, square), each += square;
        }
        const double found = static_cast<double>(largestSquare(kernel, in, 2, rows, dim));
        CHECK(found >= most * (1.0 - 1e-6));
        CHECK(found <= each * (1.0 + 1e-6));
        for (float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                          -std::numeric_limits<float>::quiet_NaN(), 1e30f}) {
          for (int r = 0; r < 2 * rows; ++r) {
            float& number = x.data[r * stride + static_cast<int>(random.below(dim))];
            const float before = number;
            number = bad;
            CHECK(!std::isfinite(largestSquare(kernel, in, 2, rows, dim)));
            number = before;
          }
        }
      }
    }
    CHECK(largestSquare(kernel, {}, 2, 0, 4) == 0.0f);
  }
}

TEST_CASE("kernels: weighted sums, axpy, scale, largest, notFinite") {
  test::Random random(53);
  for (Kernel kernel : available()) {
    for (int length : kLengths) {
      for (int dim : {1, 5, 8, 64, 131}) {
        const int stride = dim + 1;
        Numbers weights(length, random), rows(length * stride, random), out(dim, random);
        weightedSum(kernel, weights.data, rows.data, stride, length, dim, out.data);
        for (int c = 0; c < dim; ++c) {
          double exact = 0.0, size = 1.0;
          for (int i = 0; i < length; ++i) {
            const double term =
                static_cast<double>(weights.data[i]) * static_cast<double>(rows.data[i * stride + c]);
            exact += term, size += std::abs(term);
          }
          CHECK(std::abs(static_cast<double>(out.data[c]) - exact) <= 1e-6 * size);
        }
      }
      Numbers x(3 * length + 1, random), y(2 * length + 1, random), z(2 * length + 1, random);
      for (int i = 0; i < 2 * length + 1; ++i) z.data[i] = y.data[i];
      axpy(kernel, 0.7f, x.data, 3, length, y.data, 2);
      for (int i = 0; i < length; ++i)
        CHECK(y.data[2 * i] == doctest::Approx(z.data[2 * i] + 0.7f * x.data[3 * i]).epsilon(1e-6));
      axpy(kernel, -2.0f, x.data, 1, length, z.data, 1);
      scale(kernel, 3.0f, x.data, length, y.data);
      float most = -kInfinity;
      for (int i = 0; i < length; ++i) {
        CHECK(y.data[i] == 3.0f * x.data[i]);
        most = std::max(most, x.data[i]);
      }
      CHECK(largest(kernel, x.data, length) == most);
      CHECK(notFinite(kernel, x.data, static_cast<std::size_t>(length)) == -1);
      for (float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
        for (int at = 0; at < length; ++at) {
          const float before = x.data[at];
          x.data[at] = bad;
          CHECK(notFinite(kernel, x.data, static_cast<std::size_t>(length)) == at);
          x.data[at] = before;
        }
      }
    }
    const float weights[] = {2.0f, 2.0f}, rows[] = {3e38f, 3e38f, 3e38f, -3e38f};
    float out[2];
    weightedSum(kernel, weights, rows, 2, 2, 2, out);
    CHECK(out[0] == FLT_MAX);
    CHECK(out[1] == 0.0f);
  }
}
