#include "attention/models/decoder.h"

#include <algorithm>
#include <cmath>

#include "attention/layer/explanation_format.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

/// Component `col` of row·matrix.
double component(const float* row, const Tensor& matrix, int col) {
  double sum = 0;
  for (int n = 0; n < matrix.rows(); ++n) sum += double{row[n]} * double{matrix.at(0, n, col)};
  return sum;
}

}  // namespace

void look(const DecoderInputs& in, const float* query, Tensor& bent, float* scores, float* weights,
          float* context) {
  const int tokens = in.h->rows(), units = in.h->cols();
  bent.reshape(1, tokens, units);
  std::vector<double> asked(static_cast<std::size_t>(units)), e(static_cast<std::size_t>(tokens));
  for (int m = 0; m < units; ++m) asked[static_cast<std::size_t>(m)] = component(query, *in.wA, m);
  for (int t = 0; t < tokens; ++t) {
    double score = 0;
    for (int m = 0; m < units; ++m) {
      const double u = std::tanh(asked[static_cast<std::size_t>(m)] + component(in.h->row(0, t), *in.uA, m));
      bent.at(0, t, m) = static_cast<float>(u);
      score += double{in.vA->at(0, 0, m)} * u;
    }
    scores[t] = saturate(score), e[static_cast<std::size_t>(t)] = score;
  }
  const double most = *std::max_element(e.begin(), e.end());
  double total = 0;
  for (double& s : e) total += s = std::exp(s - most);
  for (int t = 0; t < tokens; ++t) weights[t] = static_cast<float>(e[static_cast<std::size_t>(t)] / total);
  for (int n = 0; n < units; ++n) {
    double sum = 0;
    for (int t = 0; t < tokens; ++t) sum += double{weights[t]} * double{in.h->at(0, t, n)};
    context[n] = saturate(sum);
  }
}

base::Slices decoderInSlices(DecoderInputs in, DecoderTrace& trace) {
  const int tokens = in.h->rows(), units = in.h->cols();
  for (Tensor* t : {&trace.queries, &trace.contexts, &trace.states}) t->reshape(1, in.words, units);
  for (Tensor* t : {&trace.scores, &trace.weights}) t->reshape(1, in.words, tokens);
  Tensor bent;
  const float* before = in.h->row(0, tokens - 1);
  for (int i = 0; i < in.words; ++i) {
    std::copy_n(before, units, trace.queries.row(0, i));
    look(in, before, bent, trace.scores.row(0, i), trace.weights.row(0, i), trace.contexts.row(0, i));
    for (int m = 0; m < units; ++m) {
      trace.states.at(0, i, m) = static_cast<float>(
          std::tanh(component(before, *in.u, m) + component(trace.contexts.row(0, i), *in.c, m)));
    }
    before = trace.states.row(0, i);
    co_yield {i + 1, in.words};
  }
}

void forwardDecoder(const DecoderInputs& in, DecoderTrace& trace) { decoderInSlices(in, trace).finish(); }

Explanation explain(const DecoderInputs& in, const DecoderTrace& trace, int word, int token,
                    const std::vector<std::string>& labels, int decimals) {
  using explanation_format::operand, explanation_format::subscript;
  const int units = in.h->cols();
  const auto number = [decimals](double value) { return formatNumber(value, decimals); };
  const std::string who = explanation_format::token(labels, token);
  const double weight = double{trace.weights.at(0, word, token)};
  Explanation out;
  out.name = base::message({"a[y" + subscript(word + 1) + ", " + who + "]"}), out.value = number(weight);

  std::vector<CellRef> none;
  const auto listed = [&](const std::string& label, const auto& value) {
    std::string text = "(";
    explanation_format::join([&](int m) { return explanation_format::Piece(number(value(m)), {}); }, units,
                             ", ", text, none);
    out.terms.push_back({label, text + ")", 0.0, {}});
  };
  const auto asked = [&](int m) { return component(trace.queries.row(0, word), *in.wA, m); };
  const auto offered = [&](int m) { return component(in.h->row(0, token), *in.uA, m); };
  const auto bent = [&](int m) { return std::tanh(asked(m) + offered(m)); };
  listed("s" + subscript(word) + "·W_a", asked);
  listed("h" + subscript(token + 1) + "·U_a", offered);
  listed("tanh of the sum", bent);

  const double score = double{trace.scores.at(0, word, token)};
  std::string text;
  const auto product = [&](int m) {
    return explanation_format::Piece(
        operand(number(double{in.vA->at(0, 0, m)})) + "×" + operand(number(bent(m))), {});
  };
  explanation_format::join(product, units, " + ", text, none);
  out.terms.push_back({"e = v_a · tanh", text + " = " + number(score), score, {}});
  explanation_format::addSoftmax({trace.scores.row(0, word), static_cast<std::size_t>(in.h->rows())}, score,
                                 weight, "÷ Σ words", decimals, out);
  return out;
}

}  // namespace attention
