// The readable version: what the layer means, step by step, in double precision. The programs run forward.cpp
// and engine.cpp; the tests compare those with this one.
#include "attention/reference/reference.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "base/random.h"
#include "base/sort.h"

namespace attention {
namespace {

/// Clamps to the range of a float, ±3.4e38.
double saturated(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::clamp(value, -kMost, kMost);
}

ReferenceTensor copied(const Tensor& tensor) {
  ReferenceTensor copy(tensor.heads(), tensor.rows(), tensor.cols());
  std::copy(tensor.values().begin(), tensor.values().end(), copy.values.begin());
  return copy;
}

// ---- positions

/// The position ids of 0, 1, 2 …: those of the list, counted on from its last one.
std::vector<double> idsOf(const Spec& spec, int count) {
  std::vector<double> ids;
  for (int p = 0; p < count; ++p) {
    const auto given = spec.positionIds.size(), at = static_cast<std::size_t>(p);
    ids.push_back(at < given ? spec.positionIds[at] : p == 0 ? 0.0 : ids.back() + 1.0);
  }
  return ids;
}

/// PE(p, 2i) = sin(p / 10000^(2i/width)), PE(p, 2i + 1) = cos of the same (Vaswani et al. 2017, section 3.5).
ReferenceTensor sinusoids(const Spec& spec, int count, int width) {
  ReferenceTensor table(1, count, width);
  const std::vector<double> ids = idsOf(spec, count);
  for (int p = 0; p < count; ++p) {
    for (int c = 0; c < width; ++c) {
      const double angle =
          ids[static_cast<std::size_t>(p)] / std::pow(10000.0, static_cast<double>(c - c % 2) / width);
      table.at(0, p, c) = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table;
}

/// The angles p·θ_i with θ_i = base^(-2i/r), for i from 0, where r columns are rotated (Su et al. 2021,
/// section 3.2.2). Linear scaling divides p by the factor f, NTK-aware scaling multiplies the base by f^(r/(r
/// − 2)).
ReferenceTensor rotaryAngles(const Spec& spec, int count, int turned) {
  ReferenceTensor angles(1, count, turned / 2);
  const std::vector<double> ids = idsOf(spec, count);
  const double factor = double{spec.rotary.factor};
  double base = double{spec.rotary.base};
  if (spec.rotary.scaling == RotaryScaling::ntk && turned > 2)
    base *= std::pow(factor, turned / (turned - 2.0));
  for (int p = 0; p < count; ++p) {
    const double position =
        ids[static_cast<std::size_t>(p)] / (spec.rotary.scaling == RotaryScaling::linear ? factor : 1.0);
    for (int i = 0; i < angles.cols; ++i) angles.at(0, p, i) = position / std::pow(base, 2.0 * i / turned);
  }
  return angles;
}

/// Every pair of columns times [cos −sin; sin cos] (Su et al. 2021, equation 34): adjacent columns, or i and
/// i + r/2.
ReferenceTensor rotated(const ReferenceTensor& q, const ReferenceTensor& angles, int first, bool byHalves) {
  ReferenceTensor out = q;
  for (int h = 0; h < q.heads; ++h) {
    for (int i = 0; i < q.rows; ++i) {
      for (int pair = 0; pair < angles.cols; ++pair) {
        const int a = byHalves ? pair : 2 * pair, b = byHalves ? pair + angles.cols : 2 * pair + 1;
        const double angle = angles.at(0, first + i, pair), x = q.at(h, i, a), y = q.at(h, i, b);
        out.at(h, i, a) = saturated(x * std::cos(angle) - y * std::sin(angle));
        out.at(h, i, b) = saturated(x * std::sin(angle) + y * std::cos(angle));
      }
    }
  }
  return out;
}

ReferenceTensor sum(const ReferenceTensor& x, const ReferenceTensor& table, int first) {
  ReferenceTensor out = x;
  for (int i = 0; i < x.rows; ++i) {
    for (int c = 0; c < x.cols; ++c) out.at(0, i, c) = saturated(x.at(0, i, c) + table.at(0, first + i, c));
  }
  return out;
}

/// Q = X W_Q + b_Q (likewise K and V), split into heads: [L, model] times [model, heads·dim] gives [heads, L,
/// dim].
ReferenceTensor projected(const ReferenceTensor& x, const Tensor& w, const Tensor* bias, int heads) {
  ReferenceTensor out(heads, x.rows, w.cols() / heads);
  for (int h = 0; h < out.heads; ++h) {
    for (int i = 0; i < out.rows; ++i) {
      for (int c = 0; c < out.cols; ++c) {
        double total = bias ? double{bias->at(0, 0, h * out.cols + c)} : 0.0;
        for (int m = 0; m < x.cols; ++m) total += x.at(0, i, m) * double{w.at(0, m, h * out.cols + c)};
        out.at(h, i, c) = saturated(total);
      }
    }
  }
  return out;
}

void makeInputs(const Spec& spec, const Inputs& in, ReferenceTrace& trace) {
  const bool isSinusoidal = spec.position == Position::sinusoidal;
  if (!in.x) {
    trace.q = copied(*in.q), trace.k = copied(*in.k), trace.v = copied(*in.v);
  } else {
    ReferenceTensor x = copied(*in.x), xKv = copied(in.xKv ? *in.xKv : *in.x);
    if (isSinusoidal) {
      const int first = in.xKv ? spec.causalOffset : 0;  // in self-attention a query's row is a key's row too
      trace.positions = sinusoids(spec, std::max(first + spec.queryCount, spec.keyCount), x.cols);
      x = trace.xPositioned = sum(x, trace.positions, first);
      xKv = sum(xKv, trace.positions, 0);
      if (in.xKv) trace.xKvPositioned = xKv;
    }
    trace.q = projected(x, *in.wQ, in.bQ, spec.heads);
    trace.k = projected(xKv, *in.wK, in.bK, spec.kvHeads);
    trace.v = projected(in.xV ? copied(*in.xV) : xKv, *in.wV, in.bV, spec.kvHeads);
  }
  if (spec.position != Position::rotary) return;
  const int turned = spec.rotary.dims == 0 ? spec.headDim : std::min(spec.rotary.dims, spec.headDim);
  const bool byHalves = spec.rotary.pairs == RotaryPairs::half;
  trace.positions = rotaryAngles(spec, std::max(spec.causalOffset + spec.queryCount, spec.keyCount), turned);
  trace.qRotated = rotated(trace.q, trace.positions, spec.causalOffset, byHalves);
  trace.kRotated = rotated(trace.k, trace.positions, 0, byHalves);
}

// ---- scores

using Row = std::vector<double>;

Row rowOf(const ReferenceTensor& tensor, int head, int row) {
  Row out;
  for (int c = 0; c < tensor.cols; ++c) out.push_back(tensor.at(head, row, c));
  return out;
}

double dot(const Row& a, const Row& b) {
  double total = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) total += a[c] * b[c];
  return total;
}

/// w[head] · a.
Row times(const Tensor& w, int head, const Row& a) {
  Row out;
  for (int r = 0; r < w.rows(); ++r) {
    double total = 0.0;
    for (int c = 0; c < w.cols(); ++c) total += double{w.at(head, r, c)} * a[static_cast<std::size_t>(c)];
    out.push_back(total);
  }
  return out;
}

/// v_aᵀ·tanh(W_a·q + U_a·k), the first two products given.
double additive(const Tensor& vA, int head, const Row& wq, const Row& uk) {
  double total = 0.0;
  for (std::size_t c = 0; c < wq.size(); ++c) {
    total += double{vA.at(head, 0, static_cast<int>(c))} * std::tanh(wq[c] + uk[c]);
  }
  return total;
}

/// q·k / (|q|·|k|), and 0 where one of them is 0.
double cosine(const Row& q, const Row& k) {
  const double lengths = std::sqrt(dot(q, q)) * std::sqrt(dot(k, k));
  return lengths > 0.0 ? dot(q, k) / lengths : 0.0;
}

/// raw[h,i,j] of query i and key j, where query head h reads its group's key head.
ReferenceTensor rawScores(const Spec& spec, const Inputs& in, const ReferenceTrace& trace) {
  const ReferenceTensor &q = queriesOf(trace), &k = keysOf(trace);
  ReferenceTensor raw(q.heads, q.rows, k.rows);
  for (int h = 0; h < q.heads; ++h) {
    for (int j = 0; j < k.rows; ++j) {
      Row key = rowOf(k, h / (q.heads / k.heads), j);
      if (spec.score == Score::general) key = times(*in.wA, h, key);
      if (spec.score == Score::additive) key = times(*in.uA, h, key);
      for (int i = 0; i < q.rows; ++i) {
        const Row query = rowOf(q, h, i);
        double score = 0.0;
        switch (spec.score) {
          case Score::dot:
          case Score::scaled:
          case Score::general: score = dot(query, key); break;
          case Score::additive: score = additive(*in.vA, h, times(*in.wA, h, query), key); break;
          case Score::cosine: score = cosine(query, key); break;
        }
        raw.at(h, i, j) = saturated(score);
      }
    }
  }
  return raw;
}

ReferenceTensor scaled(const Spec& spec, const ReferenceTensor& raw) {
  double factor = 1.0;
  if (spec.score == Score::scaled)
    factor = spec.scale != 0.0f ? double{spec.scale} : 1.0 / std::sqrt(spec.headDim);
  ReferenceTensor scores = raw;
  for (double& s : scores.values) s = saturated(s * factor);
  return scores;
}

/// c·tanh(s / c).
ReferenceTensor capped(const Spec& spec, const ReferenceTensor& scores) {
  ReferenceTensor out = scores;
  for (double& s : out.values) s = double{spec.softcap} * std::tanh(s / double{spec.softcap});
  return out;
}

/// ALiBi's slopes (Press et al. 2022, section 3): of a power of two of heads 2^(-8/n), 2^(-16/n) … 2^-8; of
/// others those of the largest power of two below, and then the first, the third … of twice as many heads.
std::vector<double> slopes(int heads) {
  std::vector<double> out;
  const int power = 1 << static_cast<int>(std::log2(heads));
  for (int i = 1; i <= power; ++i) out.push_back(std::pow(2.0, -8.0 * i / power));
  for (int i = 1; static_cast<int>(out.size()) < heads; i += 2)
    out.push_back(std::pow(2.0, -8.0 * i / (2.0 * power)));
  return out;
}

/// s − slope·|position − j| for ALiBi, + the bias of a file, where -inf masks.
ReferenceTensor withBias(const Spec& spec, const Tensor* bias, const ReferenceTensor& scores) {
  ReferenceTensor out = scores;
  const std::vector<double> all = slopes(spec.heads);
  for (int h = 0; h < out.heads; ++h) {
    const double slope = spec.position == Position::alibi ? all[static_cast<std::size_t>(h)] : 0.0;
    for (int i = 0; i < out.rows; ++i) {
      const double position = static_cast<double>(spec.causalOffset) + i;
      for (int j = 0; j < out.cols; ++j) {
        const double given = bias ? double{bias->at(bias->heads() == 1 ? 0 : h, i, j)} : 0.0;
        const double biased = out.at(h, i, j) - slope * std::abs(position - j) + given;
        out.at(h, i, j) = given == -kRealInfinity ? given : saturated(biased);
      }
    }
  }
  return out;
}

// ---- mask

/// The keys that the query at `position` draws: of those that causal and padding leave, the ones of smallest
/// hashes.
std::vector<int> drawnKeys(const Spec& spec, double position) {
  std::vector<std::pair<std::uint64_t, int>> draws;
  for (int j = 0; j < spec.keyCount; ++j) {
    if (spec.causal && j > position && j >= spec.prefix) continue;
    if (spec.keyLength >= 0 && j >= spec.keyLength) continue;
    const std::uint64_t row = base::mix(base::mix(spec.pattern.seed) + static_cast<std::uint64_t>(position));
    draws.push_back({base::mix(row + static_cast<std::uint64_t>(j)) >> 32, j});
  }
  base::sort(draws, std::less<>());
  std::vector<int> keys;
  for (const auto& [number, key] : draws) {
    if (static_cast<int>(keys.size()) < spec.pattern.random) keys.push_back(key);
  }
  return keys;
}

/// The union of the parts that are on.
bool isInPattern(const Pattern& pattern, double position, int key, const std::vector<int>& drawn) {
  const double distance = std::abs(position - key);
  const auto isMultiple = [&](int of) { return std::fmod(distance, of) == 0.0; };
  return (distance < static_cast<double>(pattern.local) * pattern.dilation && isMultiple(pattern.dilation)) ||
         (pattern.stride > 0 && isMultiple(pattern.stride)) ||
         (pattern.block > 0 && std::floor(position / pattern.block) == key / pattern.block) ||
         position < pattern.global || key < pattern.global ||
         std::find(drawn.begin(), drawn.end(), key) != drawn.end();
}

/// The keys that a query sees: causal, window, padding, pattern and painted cells, joined by and.
std::vector<char> seenKeys(const Spec& spec, const PaintedMask* painted, int query) {
  const double position =
      static_cast<double>(spec.causalOffset) + query;  // where the query stands among the keys
  const std::vector<int> drawn = drawnKeys(spec, position);
  std::vector<char> seen;
  for (int j = 0; j < spec.keyCount; ++j) {
    const bool isLater = spec.causal && j > position && j >= spec.prefix;
    const bool isTooEarly = spec.windowLeft >= 0 && j < position - spec.windowLeft;
    const bool isTooLate = spec.windowRight >= 0 && j > position + spec.windowRight;
    const bool isPadding = spec.keyLength >= 0 && j >= spec.keyLength;
    const bool isPainted = painted && painted->isBlocked(query, j);
    const bool isLeftOut = spec.pattern.any() && !isInPattern(spec.pattern, position, j, drawn);
    seen.push_back(!isLater && !isTooEarly && !isTooLate && !isPadding && !isPainted && !isLeftOut);
  }
  return seen;
}

/// Puts `hidden` wherever a key is not seen.
ReferenceTensor masked(const Spec& spec, const PaintedMask* painted, const ReferenceTensor& scores,
                       double hidden) {
  ReferenceTensor out = scores;
  for (int i = 0; i < out.rows; ++i) {
    const std::vector<char> seen = seenKeys(spec, painted, i);
    for (int j = 0; j < out.cols; ++j) {
      for (int h = 0; h < out.heads && !seen[static_cast<std::size_t>(j)]; ++h) out.at(h, i, j) = hidden;
    }
  }
  return out;
}

// ---- normaliser

/// softmax(s / T) of every row, with the largest s / T subtracted first: exp(s/T − max) / Σ exp(s/T − max).
/// The sink of the head is one more s in the maximum and in the sum.
void softmaxRows(double temperature, const Tensor* sink, ReferenceTrace& trace) {
  const ReferenceTensor& s = trace.masked;
  trace.rowMax = ReferenceTensor(s.heads, s.rows, 1);
  trace.rowSum = ReferenceTensor(s.heads, s.rows, 1);
  trace.exponentials = trace.weights = ReferenceTensor(s.heads, s.rows, s.cols);
  for (int h = 0; h < s.heads; ++h) {
    for (int i = 0; i < s.rows; ++i) {
      const double own = sink ? saturated(double{sink->at(h, 0, 0)} / temperature) : -kRealInfinity;
      double max = own;
      for (int j = 0; j < s.cols; ++j) max = std::max(max, s.at(h, i, j) / temperature);
      trace.rowMax.at(h, i, 0) = max == -kRealInfinity ? max : saturated(max);
      if (max == -kRealInfinity) continue;  // every key is masked: the sum and the weights stay 0
      double total = std::exp(own - max);
      for (int j = 0; j < s.cols; ++j) {
        total += trace.exponentials.at(h, i, j) = std::exp(s.at(h, i, j) / temperature - max);
      }
      trace.rowSum.at(h, i, 0) = total;
      for (int j = 0; j < s.cols; ++j) trace.weights.at(h, i, j) = trace.exponentials.at(h, i, j) / total;
    }
  }
}

/// τ with Σ max(z − τ, 0) = 1 (Martins and Astudillo 2016, algorithm 1).
double sparsemaxThreshold(Row z) {
  base::sort(z, std::greater<>());
  double sumSoFar = 0.0, threshold = 0.0;
  for (std::size_t k = 1; k <= z.size(); ++k) {
    sumSoFar += z[k - 1];
    if (1.0 + static_cast<double>(k) * z[k - 1] > sumSoFar)
      threshold = (sumSoFar - 1.0) / static_cast<double>(k);
  }
  return threshold;
}

/// τ with Σ max(z/2 − τ, 0)² = 1 (Peters, Niculae and Martins 2019, algorithm 2).
double entmax15Threshold(Row z) {
  base::sort(z, std::greater<>());
  double sum = 0.0, squares = 0.0, threshold = 0.0;
  for (std::size_t k = 1; k <= z.size(); ++k) {
    const double x = (z[k - 1] - z[0]) / 2.0, n = static_cast<double>(k);
    sum += x, squares += x * x;
    const double mean = sum / n, within = (1.0 - (squares - n * mean * mean)) / n;
    if (within >= 0.0 && mean - std::sqrt(within) <= x) threshold = mean - std::sqrt(within);
  }
  return z.empty() ? 0.0 : threshold + z[0] / 2.0;
}

/// The weights of the scores that are seen, each divided by the temperature.
Row normalised(Normalizer normalizer, Row z) {
  const double threshold = normalizer == Normalizer::sparsemax  ? sparsemaxThreshold(z)
                           : normalizer == Normalizer::entmax15 ? entmax15Threshold(z)
                                                                : 0.0;
  const auto winner = std::max_element(z.begin(), z.end());
  Row weights;
  for (auto s = z.begin(); s != z.end(); ++s) {
    switch (normalizer) {
      case Normalizer::softmax: break;  // softmaxRows(), which keeps its steps
      case Normalizer::sparsemax: weights.push_back(std::max(*s - threshold, 0.0)); break;
      case Normalizer::entmax15: weights.push_back(std::pow(std::max(*s / 2.0 - threshold, 0.0), 2.0)); break;
      case Normalizer::sigmoid: weights.push_back(1.0 / (1.0 + std::exp(-*s))); break;
      case Normalizer::relu: weights.push_back(std::max(*s, 0.0)); break;
      case Normalizer::hardmax: weights.push_back(s == winner ? 1.0 : 0.0); break;
      case Normalizer::none: weights.push_back(*s); break;
    }
  }
  return weights;
}

ReferenceTensor otherWeights(const Spec& spec, const ReferenceTensor& masked) {
  ReferenceTensor weights(masked.heads, masked.rows, masked.cols);
  for (int h = 0; h < masked.heads; ++h) {
    for (int i = 0; i < masked.rows; ++i) {
      Row seen;
      for (double s : rowOf(masked, h, i)) {
        if (s != -kRealInfinity) seen.push_back(saturated(s / double{spec.temperature}));
      }
      const Row made = normalised(spec.normalizer, seen);
      auto next = made.begin();
      for (int j = 0; j < masked.cols; ++j) {
        if (masked.at(h, i, j) != -kRealInfinity) weights.at(h, i, j) = *next++;
      }
    }
  }
  return weights;
}

// ---- output

/// head_output[h,i] = Σ_j weights[h,i,j] · v_j.
ReferenceTensor weightedValues(const ReferenceTensor& weights, const ReferenceTensor& v) {
  ReferenceTensor out(weights.heads, weights.rows, v.cols);
  for (int h = 0; h < out.heads; ++h) {
    const int g = h / (weights.heads / v.heads);
    for (int i = 0; i < out.rows; ++i) {
      for (int c = 0; c < out.cols; ++c) {
        double total = 0.0;
        for (int j = 0; j < v.rows; ++j) total += weights.at(h, i, j) * v.at(g, j, c);
        out.at(h, i, c) = saturated(total);
      }
    }
  }
  return out;
}

/// [heads, L, dim] to [1, L, heads·dim]: the heads side by side, zeros for those that are hidden.
ReferenceTensor concatenated(const ReferenceTensor& heads, std::uint64_t hidden) {
  ReferenceTensor out(1, heads.rows, heads.heads * heads.cols);
  for (int h = 0; h < heads.heads; ++h) {
    if (hidden >> h & 1) continue;
    for (int i = 0; i < heads.rows; ++i) {
      for (int c = 0; c < heads.cols; ++c) out.at(0, i, h * heads.cols + c) = heads.at(h, i, c);
    }
  }
  return out;
}

ReferenceTensor timesOutputWeights(const ReferenceTensor& concat, const Tensor* wO, const Tensor* bias) {
  if (!wO) return concat;
  ReferenceTensor out(1, concat.rows, wO->cols());
  for (int i = 0; i < out.rows; ++i) {
    for (int c = 0; c < out.cols; ++c) {
      double total = bias ? double{bias->at(0, 0, c)} : 0.0;
      for (int m = 0; m < concat.cols; ++m) total += concat.at(0, i, m) * double{wO->at(0, m, c)};
      out.at(0, i, c) = saturated(total);
    }
  }
  return out;
}

}  // namespace

double ReferenceTensor::largest() const {
  double most = 0.0;
  for (double v : values) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  return most;
}

std::vector<char> referenceSees(const Spec& spec, const PaintedMask* painted, int query) {
  return seenKeys(spec, painted, query);
}

ReferenceTrace reference(const Spec& spec, const Inputs& in) {
  ReferenceTrace trace;
  makeInputs(spec, in, trace);
  trace.raw = rawScores(spec, in, trace);
  trace.scores = scaled(spec, trace.raw);
  if (spec.softcap > 0.0f) trace.softcapped = capped(spec, trace.scores);
  if (isBiased(spec, in)) trace.biased = withBias(spec, in.bias, cappedOf(trace));
  const ReferenceTensor& biased = biasedOf(trace);
  trace.masked = spec.maskAfterSoftmax ? biased : masked(spec, in.painted, biased, -kRealInfinity);
  if (spec.normalizer == Normalizer::softmax) {
    softmaxRows(double{spec.temperature}, hasSink(spec) ? in.sink : nullptr, trace);
  } else {
    trace.weights = otherWeights(spec, trace.masked);
  }
  if (spec.maskAfterSoftmax) trace.weights = masked(spec, in.painted, trace.weights, 0.0);
  trace.headOutput = weightedValues(trace.weights, trace.v);
  trace.concat = concatenated(trace.headOutput, spec.hiddenHeads);
  trace.output = timesOutputWeights(trace.concat, in.wO, in.bO);
  return trace;
}

}  // namespace attention
