#include "attention/models/hierarchy.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "attention/kernels/kernels.h"
#include "attention/layer/checks.h"
#include "attention/layer/explanation_format.h"
#include "attention/steps/rows.h"
#include "base/sentence.h"

namespace attention {
namespace {

Result<void> checkStarts(std::span<const int> starts, int tokens) {
  using checks::text;
  if (starts.empty())
    return base::refuse(Error::Kind::range, "starts",
                        {"there is no segment; give the first token of each, from 0."});
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::string field = "starts[" + text(i) + "]";
    if (i == 0 && starts[0] != 0) {
      return base::refuse(Error::Kind::range, field,
                          {text(starts[0]), " leaves tokens before it; use 0 for the first segment."});
    }
    if (i > 0 && starts[i] <= starts[i - 1]) {
      return base::refuse(
          Error::Kind::range, field,
          {text(starts[i]), " does not come after ", text(starts[i - 1]), "; use increasing numbers."});
    }
    if (starts[i] >= tokens) {
      return base::refuse(
          Error::Kind::range, field,
          {text(starts[i]), " is beyond the last token; use at most ", text(tokens - 1), "."});
    }
  }
  return {};
}

Result<void> checkLevel(const char* w, const char* b, const char* query, const LevelInputs& level,
                        int width) {
  const int units = level.w ? level.w->cols() : 1;
  if (auto ok = checks::checkSize((std::string(w) + ".cols").c_str(), units, Limits::modelDim); !ok)
    return ok;
  if (auto ok = checks::checkTensors({{w, level.w, {1, width, units}}, {query, level.query, {1, 1, units}}});
      !ok) {
    return ok;
  }
  return level.b ? checks::checkTensors({{b, level.b, {1, 1, units}}}) : Result<void>{};
}

void shape(const Tensor& h, const LevelInputs& level, LevelTrace& trace) {
  trace.hidden.reshape(1, h.rows(), level.w->cols());
  trace.scores.reshape(1, h.rows(), 1);
  trace.weights.reshape(1, h.rows(), 1);
}

/// u = tanh(W h + b) and the scores u · u_w of some rows.
void score(const Tensor& h, Span rows, const LevelInputs& level, LevelTrace& trace) {
  const int units = level.w->cols();
  for (int r = rows.begin; r < rows.end; ++r) {
    float* u = trace.hidden.row(0, r);
    kernels::weightedSum(kernels::best(), h.row(0, r), level.w->data(), units, h.cols(), units, u);
    double sum = 0.0;
    for (int c = 0; c < units; ++c) {
      u[c] = static_cast<float>(std::tanh(double{u[c]} + (level.b ? double{level.b->at(0, 0, c)} : 0.0)));
      sum += double{u[c]} * double{level.query->at(0, 0, c)};
    }
    trace.scores.at(0, r, 0) = saturate(sum);
  }
}

/// Softmax over the rows [begin, end) of one group, and their weighted sum.
void attend(const Tensor& h, int begin, int end, LevelTrace& trace, float* sum) {
  const float* scores = trace.scores.data();
  float* weights = trace.weights.data();
  const double max = double{*std::max_element(scores + begin, scores + end)};
  double total = 0.0;
  for (int i = begin; i < end; ++i) total += std::exp(double{scores[i]} - max);
  for (int i = begin; i < end; ++i)
    weights[i] = static_cast<float>(std::exp(double{scores[i]} - max) / total);
  std::fill_n(sum, h.cols(), 0.0f);
  kernels::weightedSum(kernels::best(), weights + begin, h.row(0, begin), h.cols(), end - begin, h.cols(),
                       sum);
}

/// The scores v·W + b of the classes of the document's vector v, and their softmax.
void classify(const HierarchyInputs& in, HierarchyTrace& trace) {
  const float* v = trace.segments.sums.data();
  const int classes = in.classW->cols();
  trace.classScores.reshape(1, 1, classes), trace.classProbabilities.reshape(1, 1, classes);
  for (int c = 0; c < classes; ++c) {
    double sum = double{in.classB->at(0, 0, c)};
    for (int i = 0; i < in.classW->rows(); ++i) sum += double{v[i]} * double{in.classW->at(0, i, c)};
    trace.classScores.at(0, 0, c) = saturate(sum);
  }
  const float* scores = trace.classScores.data();
  const double max = double{*std::max_element(scores, scores + classes)};
  double total = 0.0;
  for (int c = 0; c < classes; ++c) total += std::exp(double{scores[c]} - max);
  for (int c = 0; c < classes; ++c)
    trace.classProbabilities.at(0, 0, c) = static_cast<float>(std::exp(double{scores[c]} - max) / total);
}

bool endsSegment(std::string_view label) {
  return !label.empty() && std::string_view(".!?;:,").find(label.back()) != std::string_view::npos;
}

int endOf(std::span<const int> starts, int segment, int tokens) {
  const auto next = static_cast<std::size_t>(segment) + 1;
  return next < starts.size() ? starts[next] : tokens;
}

}  // namespace

Result<void> validate(const HierarchyInputs& in) {
  const int rows = in.h ? in.h->rows() : 1, width = in.h ? in.h->cols() : 1;
  if (auto ok = checks::checkSize("tokens", rows, Limits::modelTokens); !ok) return ok;
  if (auto ok = checks::checkSize("width", width, Limits::modelDim); !ok) return ok;
  if (auto ok = checks::checkTensors({{"h", in.h, {1, rows, width}}}); !ok) return ok;
  if (auto ok = checkStarts(in.starts, rows); !ok) return ok;
  if (auto ok = checkLevel("tokens.w", "tokens.b", "tokens.query", in.tokens, width); !ok) return ok;
  if (auto ok = checkLevel("segments.w", "segments.b", "segments.query", in.segments, width); !ok) return ok;
  const int classes = in.classW ? in.classW->cols() : 0;
  if (classes == 0) return {};
  return checks::checkTensors(
      {{"class.w", in.classW, {1, width, classes}}, {"class.b", in.classB, {1, 1, classes}}});
}

base::Slices hierarchyInSlices(HierarchyInputs in, HierarchyTrace& trace) {
  assert(validate(in));
  const int tokens = in.h->rows(), width = in.h->cols(), segments = static_cast<int>(in.starts.size());
  const int most = briefRows(in.tokens.w->cols() * (width + kWorkOfTanh)), total = tokens + segments;
  shape(*in.h, in.tokens, trace.tokens);
  trace.tokens.sums.reshape(1, segments, width);
  trace.segments.sums.reshape(1, 1, width);
  trace.shares.reshape(1, tokens, 1);
  for (int r = 0; r < tokens; r += most) {
    score(*in.h, {r, std::min(r + most, tokens)}, in.tokens, trace.tokens);
    co_yield {r, total};
  }
  for (int s = 0; s < segments; ++s) {
    const int begin = in.starts[static_cast<std::size_t>(s)];
    attend(*in.h, begin, endOf(in.starts, s, tokens), trace.tokens, trace.tokens.sums.row(0, s));
  }
  const Tensor& sums = trace.tokens.sums;
  shape(sums, in.segments, trace.segments);
  for (int r = 0; r < segments; r += most) {
    co_yield {tokens + r, total};
    score(sums, {r, std::min(r + most, segments)}, in.segments, trace.segments);
  }
  attend(sums, 0, segments, trace.segments, trace.segments.sums.data());
  if (in.classW) classify(in, trace);
  for (int i = 0; i < tokens; ++i) {
    trace.shares.at(0, i, 0) =
        trace.tokens.weights.at(0, i, 0) * trace.segments.weights.at(0, segmentOf(in.starts, i), 0);
  }
}

void forwardHierarchy(const HierarchyInputs& in, HierarchyTrace& trace) {
  hierarchyInSlices(in, trace).finish();
}

std::vector<int> splitEvery(int tokens, int size) {
  std::vector<int> starts;
  for (int i = 0; i < tokens; i += std::max(size, 1)) starts.push_back(i);
  return starts;
}

std::vector<int> splitAtPunctuation(std::span<const std::string> labels) {
  std::vector<int> starts;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (i == 0 || (endsSegment(labels[i - 1]) && !endsSegment(labels[i])))
      starts.push_back(static_cast<int>(i));
  }
  return starts;
}

int segmentOf(std::span<const int> starts, int token) {
  return static_cast<int>(std::upper_bound(starts.begin(), starts.end(), token) - starts.begin()) - 1;
}

Explanation explain(const HierarchyInputs& in, const HierarchyTrace& trace, Level level, int index,
                    const std::vector<std::string>& labels, int decimals) {
  const bool ofToken = level == Level::tokens;
  const LevelTrace& of = ofToken ? trace.tokens : trace.segments;
  const Tensor& query = *(ofToken ? in.tokens : in.segments).query;
  const int segment = ofToken ? segmentOf(in.starts, index) : 0;
  const int begin = ofToken ? in.starts[static_cast<std::size_t>(segment)] : 0;
  const int end = ofToken ? endOf(in.starts, segment, in.h->rows()) : of.scores.rows();
  const auto number = [decimals](double value) { return formatNumber(value, decimals); };
  const auto at = [](const Tensor& t, int row, int col) { return double{t.at(0, row, col)}; };
  const std::string token = explanation_format::token(labels, index);

  Explanation out;
  const double weight = at(of.weights, index, 0), score = at(of.scores, index, 0);
  out.name = ofToken ? base::message({"a[" + token + "]"}) : base::message({"a[segment ", index + 1, "]"}),
  out.value = number(weight);
  std::vector<CellRef> none;
  std::string text;
  const auto product = [&](int c) {
    return explanation_format::Piece(explanation_format::operand(number(at(of.hidden, index, c))) + "×" +
                                         explanation_format::operand(number(at(query, 0, c))),
                                     {});
  };
  explanation_format::join(product, query.cols(), " + ", text, none);
  out.terms.push_back(
      {"u" + explanation_format::subscript(index + 1) + " · query", text + " = " + number(score), score, {}});

  explanation_format::addSoftmax(
      {of.scores.data() + begin, static_cast<std::size_t>(end - begin)}, score, weight,
      ofToken ? base::message({"÷ Σ segment ", segment + 1}) : base::Message("÷ Σ segments"), decimals, out);
  return out;
}

Explanation explainClass(const HierarchyInputs& in, const HierarchyTrace& trace, int index,
                         const base::Message& name, int decimals) {
  using explanation_format::operand;
  const auto number = [decimals](double value) { return formatNumber(value, decimals); };
  const double score = double{trace.classScores.at(0, 0, index)};
  const double probability = double{trace.classProbabilities.at(0, 0, index)};
  Explanation out;
  out.name = base::message({"p[", name, "]"}), out.value = number(probability);
  std::vector<CellRef> none;
  std::string text;
  const auto product = [&](int i) {
    return explanation_format::Piece(operand(number(double{trace.segments.sums.at(0, 0, i)})) + "×" +
                                         operand(number(double{in.classW->at(0, i, index)})),
                                     {});
  };
  explanation_format::join(product, in.classW->rows(), " + ", text, none);
  out.terms.push_back(
      {"v·W + b",
       text + " + " + operand(number(double{in.classB->at(0, 0, index)})) + " = " + number(score),
       score,
       {}});
  explanation_format::addSoftmax(trace.classScores.values(), score, probability, "÷ Σ classes", decimals,
                                 out);
  return out;
}

}  // namespace attention
