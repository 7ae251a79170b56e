// The words and formulas that name what the layer does, for captions and menus.
#include <cmath>

#include "attention/decode.h"
#include "views/panels.h"

namespace views {
namespace {

using attention::Normalizer;
using attention::Score;

std::string scoreOf(const document::Settings& s) {
  switch (s.score) {
    case Score::dot: return "Q·K^T";
    case Score::scaled:
      if (s.scaleBy == 0.0f) return "Q·K^T / √d_k";
      return "Q·K^T × " + formatNumber(static_cast<double>(s.scaleBy), 2);
    case Score::general: return "Q·W_a·K^T";
    case Score::additive: return "v_a·tanh(W_a·q + U_a·k)";
    case Score::cosine: return "cos(q, k)";
  }
  return {};
}

}  // namespace

std::string scoreFormula(const document::Settings& s) {
  std::string words = "S = " + scoreOf(s);
  if (s.softcap > 0) words += ", capped at " + formatNumber(static_cast<double>(s.softcap), 0);
  if (s.position == attention::Position::alibi) words += " + bias";
  return words + (s.maskAfterSoftmax ? "" : " + mask");
}

std::string weightFormula(const document::Settings& s) {
  if (s.averageHeads) return "W: the mean of all heads";
  if (s.maskAfterSoftmax) return "softmax first, then the mask: a mistake";
  switch (s.normalizer) {
    case Normalizer::relu: return "W = max(S, 0)";
    case Normalizer::none: return "W = S, 0 where masked";
    case Normalizer::sigmoid: return "W = 1 / (1 + exp(−S))";
    default: return "W = " + normalizerName(s) + "(S), rows sum to 1";
  }
}

std::string normalizerName(const document::Settings& s) {
  const document::Value value = document::get(s, document::OptionId::normalizer);
  return *std::get_if<std::string>(&value);
}

double rowSum(const Context& c, int query) {
  double sum = 0;
  for (int j = 0; j < c.state.keyTokens; ++j) sum += static_cast<double>(c.weight(query, j));
  return sum;
}

bool sumsToOne(const document::Settings& s) {
  return s.normalizer == Normalizer::softmax || s.normalizer == Normalizer::sparsemax || s.normalizer == Normalizer::hardmax;
}

std::string cacheWords(const Context& c) {
  const attention::CacheStep step = attention::cacheStep(c.spec, c.state.step - 1);
  const auto size = [](attention::KeyRange keys) { return std::to_string(keys.end - keys.begin); };
  return "Keys: " + size(step.added) + " new, " + size(step.reused) + " reused, " + size(step.evicted) + " evicted";
}

}  // namespace views
