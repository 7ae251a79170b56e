// 1 for the largest score, the first of equal ones; 0 for the rest. A row of n scores takes n comparisons.
#include <algorithm>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"

namespace attention::normalizers {
namespace {

base::Message reasonOf(ExplainedCell& row) {
  const std::vector<int> seen = row.seen();
  const auto isLess = [&](int a, int b) { return row.score(a) < row.score(b); };
  const int winner = *std::max_element(seen.begin(), seen.end(), isLess);
  return base::message({"key ", winner + 1, " has the largest score, ", row.number(row.score(winner))});
}

}  // namespace

constinit const NormalizerMechanism hardmax{
    .title = "Hard maximum",
    .about = "all for the largest",
    .sumsToOne = true,
    .before = RowStep::maximum,
    .weigh =
        [](const float* scores, int count, float* weights) {
          const std::ptrdiff_t winner = std::max_element(scores, scores + count) - scores;
          const bool seesAny = count > 0 && scores[winner] != kHiddenScore;
          std::fill_n(weights, count, 0.0f);
          if (seesAny) weights[winner] = 1.0f;
        },
};

constinit const NormalizerText hardmaxText{
    .latex = "\\operatorname{hardmax}",
    .label = "hard maximum",
    .reason = reasonOf,
    .loops = R"(b = 1
for j in 1 … {n}: if S[i,j] > S[i,b]: b = j
w = 0
if j = b and S[i,j] > −∞: w = 1)",
    .program = R"(weights = 1.0 * ({np}.arange({n}) == scores.argmax({keep}))
?weights = weights * (scores > {inf}))",
};

}  // namespace attention::normalizers
