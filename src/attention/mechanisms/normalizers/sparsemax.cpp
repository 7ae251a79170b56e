// The projection of the scores onto the probability simplex: max(s − t, 0) with the threshold t that makes
// the weights sum to 1, (Σ s − 1) ÷ k over the k scores above it (Martins and Astudillo 2016, algorithm 1). A
// row of n scores takes n additions and comparisons in each round: a few rounds, at most n.
#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/mechanisms/normalizers/gradient.h"
#include "attention/steps/mask.h"

namespace attention::normalizers {
namespace {

constexpr auto sparseWeight = [](auto s, auto t) { return arithmetic::positive(s - t); };

/// The threshold relative to the largest score, so that it is accurate whatever their magnitude. Repeatedly
/// discards the scores that the threshold of the remaining ones sets to 0, until there are none (Michelot
/// 1986): takes a few rounds and no memory.
double sparseThreshold(const float* scores, float largest, int count) {
  double threshold = -1.0;  // if the largest score alone had all the weight
  for (int kept = 0, before = -1; kept != before;) {
    double sum = 0.0;
    before = kept, kept = 0;
    for (int i = 0; i < count; ++i) {
      const double below = double{scores[i]} - double{largest};
      if (below > threshold) sum += below, ++kept;
    }
    threshold = (sum - 1.0) / kept;
  }
  return threshold;
}

std::string explainSparse(ExplainedCell& row) {
  const std::vector<int> support = row.support();
  double sum = 0.0;
  for (const int key : support) sum += row.score(key);
  const double count = static_cast<double>(support.size()), threshold = (sum - 1.0) / count;
  row.addSum(
      "threshold t", "(", support, [&](int key) { return row.scoreText(key); },
      " − 1) ÷ " + std::to_string(support.size()), threshold);
  return sparseWeight(arithmetic::Expression(row.scoreText(row.col)),
                      arithmetic::Expression(row.number(threshold)))
      .text;
}

}  // namespace

constinit const NormalizerMechanism sparsemax{
    .title = "Sparsemax",
    .about = "nearest point that sums to 1: exact zeros",
    .sumsToOne = true,
    .before = RowStep::threshold,
    .weigh =
        [](const float* scores, int count, float* weights) {
          const float largest = kernels::largest(kernels::best(), scores, count);
          const double threshold = largest == kHiddenScore ? 0.0 : sparseThreshold(scores, largest, count);
          // Masked scores give 0, also where there is no other: positive(NaN) is 0.
          for (int i = 0; i < count; ++i)
            weights[i] = static_cast<float>(sparseWeight(double{scores[i]} - double{largest}, threshold));
        },
    .gradient = [](const float*, const float* weights, const float* dWeights, int count,
                   float* dScores) { throughRow(weights, dWeights, count, dScores, isKept); },
};

constinit const NormalizerText sparsemaxText{
    .latex = "\\operatorname{sparsemax}",
    .weight = sparseWeight,
    .explain = explainSparse,
    .loops = R"(z = {row}, largest first
t = 0
sum = 0
for r in 1 … {n}:
  if 1 + r × z[r] > sum + z[r]:
    sum = sum + z[r]
    t = (sum − 1) ÷ r
w = {w})",
    .program = R"(largest = {max}
?largest = {np}.where(largest > {inf}, largest, 0.0)  # a query that sees no key gets zeros
?z = {np}.where(scores > {inf}, scores - largest, -1e9)
!z = scores - largest
torch:ordered = z.sort(-1, descending=True).values
numpy:ordered = -{np}.sort(-z, axis=-1)
n = {np}.arange(1, {n+1})
sums = ordered.cumsum(-1)
size = (1 + n * ordered > sums).sum({keep})
total = {np}.where(n <= size, ordered, 0.0).sum({keep})
threshold = (total - 1) / size
weights = {w}
?weights = {np}.where(scores > {inf}, weights, 0.0))",
};

}  // namespace attention::normalizers
