#include "training/divergence.h"

#include <algorithm>
#include <cmath>

namespace training {

std::vector<float> divergences(const Answer& whole, const Answer& with, int classes) {
  constexpr double kLeast = 1e-12;
  const auto width = static_cast<std::size_t>(classes);
  std::vector<float> out(whole.probabilities.size() / width);
  for (std::size_t token = 0; token < out.size(); ++token) {
    double sum = 0;
    for (std::size_t i = token * width; i < (token + 1) * width; ++i) {
      const double p = std::max<double>(whole.probabilities[i], kLeast),
                   q = std::max<double>(with.probabilities[i], kLeast);
      sum += p * std::log2(p / q);
    }
    out[token] = static_cast<float>(std::max(sum, 0.0));
  }
  return out;
}

}  // namespace training
