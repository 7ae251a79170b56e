// Entmax with α = 1.5, between softmax (α = 1) and sparsemax (α = 2): max(s ÷ 2 − t, 0)² with the threshold t
// that makes the weights sum to 1 (Peters, Niculae and Martins 2019, equation 13). Over the k scores above
// it, with m the mean of s ÷ 2, t = m − √((1 − Σ(s ÷ 2 − m)²) ÷ k). A row of n scores takes n squares and
// additions in each round: a few rounds, at most n.
#include <algorithm>
#include <cmath>

#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/mechanisms/normalizers/gradient.h"
#include "attention/steps/mask.h"

namespace attention::normalizers {
namespace {

constexpr auto entmaxWeight = [](auto s, auto t) {
  return arithmetic::square(arithmetic::positive(s / 2 - t));
};

/// What the scores above a threshold come to; x is a score ÷ 2.
struct EntmaxSupport {
  double count = 0.0, mean = 0.0, squares = 0.0;  ///< squares: Σ(x − mean)²
  /// The threshold if these scores have all the weight; NaN if they cannot, because they are too far apart.
  double threshold() const { return mean - std::sqrt((1.0 - squares) / count); }
};

/// The threshold relative to the largest score ÷ 2. The sum of the weights falls with the threshold and is
/// convex, so Newton's method from below (−1: the largest score alone has weight 1) stays below, and drops
/// scores until those that are left are the support; then the threshold follows from them. It takes a few
/// rounds and, unlike sorting (algorithm 2), no memory.
double entmaxThreshold(const float* scores, float largest, int count) {
  constexpr int kMostRounds = 64;
  double threshold = -1.0;
  for (int round = 0; round < kMostRounds; ++round) {
    EntmaxSupport above;
    double weight = 0.0, slope = 0.0, least = 0.0;
    for (int i = 0; i < count; ++i) {
      const double x = (double{scores[i]} - double{largest}) / 2.0;
      if (!(x > threshold)) continue;
      const double off = x - above.mean;
      above.mean += off / ++above.count, above.squares += off * (x - above.mean);  // Welford 1962
      weight += (x - threshold) * (x - threshold), slope += 2.0 * (x - threshold), least = std::min(least, x);
    }
    const double exact = above.threshold();
    if (exact <= least) return exact;
    const double next = threshold + (weight - 1.0) / slope;
    if (!(next > threshold)) break;
    threshold = next;
  }
  return threshold;
}

std::string explainEntmax(ExplainedCell& row) {
  const std::vector<int> support = row.support();
  const double count = static_cast<double>(support.size());
  const std::string k = std::to_string(support.size());
  double mean = 0.0, squares = 0.0;
  for (const int key : support) mean += row.score(key) / 2.0 / count;
  for (const int key : support) squares += (row.score(key) / 2.0 - mean) * (row.score(key) / 2.0 - mean);
  const double threshold = mean - std::sqrt(std::max(1.0 - squares, 0.0) / count);
  const arithmetic::Expression m(row.number(mean));
  row.addSum("mean m", "(", support, [&](int key) { return row.scoreText(key); }, ") ÷ 2 ÷ " + k, mean);
  row.addSum(
      "Σ(s ÷ 2 − m)²", "", support,
      [&](int key) { return square(arithmetic::Expression(row.scoreText(key)) / 2 - m).text; }, "", squares);
  row.addBefore("threshold t", m.text + " − √((1 − " + row.number(squares) + ") ÷ " + k + ")", threshold);
  return entmaxWeight(arithmetic::Expression(row.scoreText(row.col)),
                      arithmetic::Expression(row.number(threshold)))
      .text;
}

}  // namespace

constinit const NormalizerMechanism entmax15{
    .title = "Entmax 1.5",
    .about = "between softmax and sparsemax: some exact zeros",
    .sumsToOne = true,
    .before = RowStep::threshold,
    .weigh =
        [](const float* scores, int count, float* weights) {
          const float largest = kernels::largest(kernels::best(), scores, count);
          const double threshold = largest == kHiddenScore ? 0.0 : entmaxThreshold(scores, largest, count);
          // Masked scores give 0, also where there is no other: positive(NaN) is 0.
          for (int i = 0; i < count; ++i)
            weights[i] = static_cast<float>(entmaxWeight(double{scores[i]} - double{largest}, threshold));
        },
    .gradient =
        [](const float*, const float* weights, const float* dWeights, int count, float* dScores) {
          throughRow(weights, dWeights, count, dScores, [](double w) { return std::sqrt(w); });
        },
};

constinit const NormalizerText entmax15Text{
    .latex = "\\operatorname{entmax}_{1.5}",
    .weight = entmaxWeight,
    .explain = explainEntmax,
    .loops = R"(z = {row}, largest first
t = 0
sum = 0
squares = 0
for r in 1 … {n}:
  sum = sum + z[r] ÷ 2
  squares = squares + (z[r] ÷ 2)²
  v = (1 − squares) ÷ r + (sum ÷ r)²
  if v > 0:
    u = sum ÷ r − √v
    if z[r] ÷ 2 > u: t = u
w = {w})",
    .program = R"(largest = {max}
?largest = {np}.where(largest > {inf}, largest, 0.0)  # a query that sees no key gets zeros
?z = {np}.where(scores > {inf}, scores - largest, -1e9)
!z = scores - largest
torch:ordered = (z / 2).sort(-1, descending=True).values
numpy:ordered = -{np}.sort(-z / 2, axis=-1)
n = {np}.arange(1, {n+1})
mean = ordered.cumsum(-1) / n
spread = (ordered ** 2).cumsum(-1) - n * mean ** 2
thresholds = mean - ((1 - spread) / n).clip(0) ** 0.5
size = (thresholds <= ordered).sum({keep})
threshold = {np}.where(n == size, thresholds, 0.0).sum({keep})
weights = {w}
?weights = {np}.where(scores > {inf}, weights, 0.0))",
};

}  // namespace attention::normalizers
