// Names and formulas of what the layer does, for captions and menus.
#include <cmath>

#include "attention/engine/decode.h"
#include "attention/mechanisms/mechanism.h"
#include "base/number.h"
#include "views/panels/panels.h"

namespace views {
namespace {

std::string scoreOf(const document::Settings& s) {
  const attention::ScoreText& score = attention::textOf(s.score);
  const std::string formula(s.columnLayout && !score.columns.empty() ? score.columns : score.formula);
  if (!attention::mechanismOf(s.score).isScaled) return formula;
  return formula + (s.scaleBy == 0.0f ? " / √d_k" : " × " + formatFactor(s.scaleBy, 2));
}

[[gnu::noinline]] std::string_view ofPatches(TensorId id) {
  switch (id) {
    case TensorId::q: return "what each patch asks";
    case TensorId::k: return "what each patch offers";
    case TensorId::v: return "what each patch says";
    case TensorId::weights: return "how much each patch looks at each";
    case TensorId::head_output: return "what each patch becomes";
    default: return attention::tensorRow(id).caption;
  }
}

}  // namespace

namespace {

/// May a query be kept from seeing a key?
bool mayHide(const document::State& s) {
  return s.causal || s.windowLeft >= 0 || s.windowRight >= 0 || s.keyLength >= 0 || s.pattern.any() ||
         s.biasKind != document::Bias::none || !s.painted.empty();
}

}  // namespace

base::Message scoreFormula(const document::State& s) {
  const char* const bias = s.position == attention::Position::alibi ? " + bias" : "";
  const char* const mask = !s.maskAfterSoftmax && mayHide(s) ? " + mask" : "";
  if (s.softcap > 0)
    return base::message({"S = ", scoreOf(s), ", capped at ", base::shortest(s.softcap), bias, mask});
  return base::message({"S = ", scoreOf(s), bias, mask});
}

base::Message weightFormula(const document::Settings& s) {
  if (showsMean(s)) return "W = mean of the heads' weights";
  if (s.maskAfterSoftmax) return "softmax first, then the mask: a mistake";
  const std::string scores = s.temperature == 1.0f ? "S" : "S / T";
  using attention::arithmetic::Expression;
  if (!attention::mechanismOf(s.normalizer).isByCell)
    return base::message({"W = ", normalizerName(s) + "(" + scores + ")",
                          !sumsToOne(s)    ? " with a sink"
                          : s.columnLayout ? ", columns sum to 1"
                                           : ", rows sum to 1"});
  const Expression score(scores, attention::arithmetic::kFormula);
  return base::message({"W = ", attention::textOf(s.normalizer).weight(score, score).text,
                        isSigned(s) ? ", 0 where masked" : ""});
}

bool showsMean(const document::Settings& s) { return s.averageHeads && s.heads > 1; }

base::Message headName(const document::Settings& s) {
  if (s.heads == 1) return {};
  if (!showsMean(s)) return base::message({"head ", s.focusHead + 1});
  int count = 0;
  for (int h = 0; h < s.heads; ++h) count += (s.hiddenHeads >> h & 1) == 0;
  return count == 1 ? base::Message("the one head that takes part")
                    : base::message({"mean of the ", count, " heads"});
}

std::string_view meaningOf(const document::Settings& s, TensorId id) {
  const bool isOfKeys = id == TensorId::k || id == TensorId::v;  // only they are patches beside a sentence
  return s.patchColumns > 0 && (isOfKeys || !s.cross) ? ofPatches(id) : attention::tensorRow(id).caption;
}

base::Message weightTitle(const document::Settings& s) {
  if (hasLayers(s))
    return base::message({"W of layer ", s.batchItem + 1, s.heads > 1 ? ", " : "", headName(s)});
  return base::message({showsMean(s) ? "W: " : s.heads > 1 ? "W of " : "W", headName(s)});
}

base::Message outputFormula(const document::Settings& s) {
  if (showsMean(s)) return "mean of the heads' O";
  if (s.heads == 1) return s.columnLayout ? "O = V·W" : "O = W·V";
  return base::message({"O of ", headName(s), s.columnLayout ? " = V·W" : " = W·V"});
}

std::string normalizerName(const document::Settings& s) {
  return std::string(attention::kNormalizerNames[static_cast<std::size_t>(s.normalizer)]);
}

namespace {

attention::RowTotals totalled(const Context& c, int query) {
  const attention::Tensor& all = c.weights();
  return attention::totalsOf(all.row(c.weightsHead(), query), all.cols());
}

[[gnu::noinline]] Kept::Row& keptTotals(const Context& c, int query) {
  constexpr std::size_t kMostRows = 4096;
  Kept& kept = keptOf(c);
  if (kept.rows.size() > kMostRows) kept.rows.clear();
  const auto [at, isNew] = kept.rows.try_emplace(query);
  if (isNew) at->second.totals = totalled(c, query);
  return at->second;
}

attention::RowTotals totals(const Context& c, int query) {
  return keepsWhatIsSaid(c) ? keptTotals(c, query).totals : totalled(c, query);
}

double bitsOf(const float* weights, int count) {
  double bits = 0;
  for (int j = 0; j < count; ++j)
    if (const double w = static_cast<double>(weights[j]); w > 0) bits -= w * std::log2(w);
  return std::max(bits, 0.0);  // avoids −0
}

}  // namespace

bool keepsWhatIsSaid(const Context& c) { return !c.trace.weights.isStored(); }

Kept& keptOf(const Context& c) {
  const Kept::Of of{c.revision, c.weightsId(), c.weightsHead(),
                    c.summaries.stamps(c.weightsId(), c.weightsHead()).latest};
  if (!c.view.kept || !(c.view.kept->of == of)) {
    c.view.kept = std::make_shared<Kept>();
    c.view.kept->of = of;
  }
  return *c.view.kept;
}

const float* weightsOf(const Context& c, int query) {
  const attention::Tensor& all = c.weights();
  if (!keepsWhatIsSaid(c)) return all.row(c.weightsHead(), query);
  Kept& kept = keptOf(c);
  if (kept.query != query) {
    const float* const row = all.row(c.weightsHead(), query);
    kept.weights.assign(row, row + all.cols());
    kept.query = query;
  }
  return kept.weights.data();
}

std::pair<float, float> rowRange(const Context& c, int query) {
  const attention::RowTotals row = totals(c, query);
  return {row.low, std::max(row.high, 1.0f)};
}

void expectTotals(const Context& c, attention::Span queries) {
  if (!keepsWhatIsSaid(c) || !c.trace.output.isStored()) return;
  const auto& rows = keptOf(c).rows;
  while (!queries.empty() && rows.contains(queries.begin)) ++queries.begin;
  while (!queries.empty() && rows.contains(queries.end - 1)) --queries.end;
  if (!queries.empty()) c.weights().expect(c.weightsHead(), queries.begin, queries.size());
}

namespace {

RowEnd endOf(const Context& c, double sum) {
  // Weights that the mask takes away after softmax were no part of the sink's.
  if (attention::hasSink(c.spec) && !c.spec.maskAfterSoftmax) return {"sink", std::max(1 - sum, 0.0)};
  return {"Σ", sum, sumsToOne(c.state) && sum != 0.0 && std::fabs(sum - 1) > 1e-3};
}

}  // namespace

RowEnd rowEnd(const Context& c, int query) { return endOf(c, totals(c, query).sum); }

std::optional<RowEnd> rowEndInView(const Context& c, int query) {
  if (c.trace.output.isStored()) return rowEnd(c, query);
  const attention::Detail& detail = c.summaries.detail();
  const int block = detail.find(c.weightsHead(), query);
  return block < 0 ? std::nullopt : std::optional(endOf(c, detail.totals(block).sum));
}

bool isLong(const Context& c) {
  constexpr float kDistinct = 8;
  const MatrixPlace* const weights = c.layout.find(TensorId::weights);
  return weights && weights->cell < kDistinct * c.view.magnify &&
         std::max(weights->rows, weights->cols) > kLongFrom;
}

std::optional<double> rowEntropy(const Context& c, int query) {
  const attention::RowTotals row = totals(c, query);
  if (row.low < 0 || std::fabs(row.sum - 1) > 1e-3) return std::nullopt;
  const auto bits = [&] { return bitsOf(weightsOf(c, query), c.weights().cols()); };
  if (!keepsWhatIsSaid(c)) return bits();
  std::optional<double>& kept = keptTotals(c, query).bits;
  if (!kept) kept = bits();
  return kept;
}

bool sumsToOne(const document::Settings& s) { return attention::sumsToOne(document::spec(s)); }
bool isSigned(const document::Settings& s) { return attention::mechanismOf(s.normalizer).least < 0; }

base::Message cacheWords(const Context& c) {
  const attention::CacheStep step = attention::cacheStep(c.spec, c.state.step - 1);
  const auto size = [](attention::KeyRange keys) { return keys.end - keys.begin; };
  return base::message(
      {"Keys: ", size(step.added), " new, ", size(step.reused), " reused, ", size(step.evicted), " evicted"});
}

}  // namespace views
