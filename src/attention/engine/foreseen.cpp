// What an edit of one key or value makes of a layer whose pairs are not stored, before it is computed.
//
// Computing a head takes many frames, and while a number is dragged each edit would begin it anew. But all
// that is shown follows from the scores of that key before and after: sums, outputs, one column of pairs, and
// by how much the other weights of a row grow.
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/engine/engine.h"
#include "attention/steps/column.h"
#include "attention/steps/mask.h"

namespace attention {
namespace {

/// Weights of a row are written anew when they have grown or shrunk by more than exp of this: less than one
/// of 256 colours.
constexpr float kSeen = 1.0f / 512;

constexpr double kLargest = std::numeric_limits<float>::max();

/// The logarithm of the sum of a row of exponentials without its maximum taken off.
double logSum(float max, float sum) {
  return double{max} + std::log(double{std::max(sum, std::numeric_limits<float>::min())});
}

/// The sum of a row of exponentials after the score of one key has become another.
struct Mixed {
  double max, kept, gone, come;  ///< of the sum before, of the key's score before, and of that after

  explicit Mixed(double only) : max(only), kept(0), gone(0), come(1) {}
  Mixed(double before, double sum, double was, double is)
      : max(std::max(before, is)),
        kept(sum * std::exp(before - max)),
        gone(std::exp(was - max)),
        come(std::exp(is - max)) {}
  double sum() const { return std::max(kept - gone, 0.0) + come; }
  /// Is the result mostly what rounding has left of the sum?
  bool isLost() const { return 1e-4 * kept > sum(); }
};

}  // namespace

bool Engine::mayWait() const {
  for (std::size_t h = 0; h < missing_.size(); ++h)
    if (missing_[h] && (isStored() || !turns_[h].isForeseen)) return false;
  return isWhole() || !isStored();
}

void Engine::beginForeseen(int head, const ChangedKey& key) {
  Foreseen& from = foreseen_[static_cast<std::size_t>(head)];
  if (from.key == key.at) return;
  const auto queries = static_cast<std::ptrdiff_t>(spec_.queryCount);
  const float *max = trace_.rowMax.row(head, 0), *sum = trace_.rowSum.row(head, 0),
              *out = trace_.headOutput.row(head, 0);
  from = {key.at,
          {key.before, key.before + spec_.headDim},
          {key.valuesBefore, key.valuesBefore + spec_.valueDim},
          {max, max + queries},
          {sum, sum + queries},
          {out, out + queries * spec_.valueDim},
          {},
          {},
          {}};
}

/// Maxima, sums and outputs after a key has become another, from those before. False if they are not to be
/// relied on: of a row that this key had all the weight of, nothing is known of the other keys.
bool Engine::foresee(int head, const ChangedKey& key) {
  beginForeseen(head, key);
  Foreseen& from = foreseen_[static_cast<std::size_t>(head)];
  const auto queries = static_cast<std::size_t>(spec_.queryCount);
  const bool isOfKey = key.before != key.after;
  std::vector<float> is(queries), grown(queries);
  const ComputedLayer layer{spec_, inputs_, trace_};
  if (from.was.empty()) {
    from.was.resize(queries);
    scoresOfKey(layer, head, key.at, from.keys.data(), from.was.data());
  }
  scoresOfKey(layer, head, key.at, key.after, is.data());
  bool isSure = true;
  for (int i = 0; i < spec_.queryCount; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (is[at] == kHiddenScore || !(from.sum[at] > 0)) continue;
    Mixed mixed(double{from.max[at]}, double{from.sum[at]}, double{from.was[at]}, double{is[at]});
    if (isOfKey && mixed.isLost()) {
      const KeyRange visible = visibleKeys(spec_, i);
      isSure = isSure && visible.end - visible.begin == 1;
      mixed = Mixed(double{is[at]});
    }
    const double share = 1 / mixed.sum(), kept = mixed.kept * share, gone = mixed.gone * share,
                 come = mixed.come * share;
    const float *const before = from.outputs.data() + std::ptrdiff_t{i} * spec_.valueDim,
                       *const valuesBefore = from.values.data();
    float* const out = trace_.headOutput.row(head, i);
    for (int c = 0; c < spec_.valueDim; ++c)
      out[c] = static_cast<float>(std::clamp(
          double{before[c]} * kept - gone * double{valuesBefore[c]} + come * double{key.valuesAfter[c]},
          -kLargest, kLargest));
    if (!isOfKey) continue;
    float &max = trace_.rowMax.at(head, i, 0), &sum = trace_.rowSum.at(head, i, 0);
    const double logBefore = logSum(max, sum);
    max = static_cast<float>(mixed.max), sum = static_cast<float>(mixed.sum());
    grown[at] = static_cast<float>(logBefore - logSum(max, sum));
  }
  if (isOfKey) foreseePairs(head, is, grown);
  // Without W_O nobody reads the rows after these before all are computed.
  if (inputs_.wO) writeRows(head, {0, spec_.queryCount});
  else summaries_.touchRows(TensorId::head_output, head, {0, spec_.queryCount});
  return isSure;
}

/// What is said of masked scores and weights, after maxima and sums of rows are those of the new key, whose
/// `scores` these are. exp(`grown`) is how much the other weights of a row have grown.
void Engine::foreseePairs(int head, const std::vector<float>& scores, const std::vector<float>& grown) {
  Foreseen& from = foreseen_[static_cast<std::size_t>(head)];
  const int key = from.key, queries = spec_.queryCount;
  const Span keys = summaries_.overview(TensorId::weights)->whole({key, key + 1}, spec_.keyCount);
  const auto count = static_cast<std::size_t>(queries), all = count * static_cast<std::size_t>(keys.size());
  const auto of = [&](std::vector<float>& numbers, int j) {
    return numbers.data() + std::ptrdiff_t{j - keys.begin} * queries;
  };
  // The other keys of its block have theirs for as long as no query is edited.
  const bool isFirst = from.scores.empty();
  from.scores.resize(all);
  for (int j = keys.begin; isFirst && j < keys.end; ++j)
    scoresOfKey({spec_, inputs_, trace_}, head, j, keysOf(trace_).row(kvHeadOf(spec_, head), j),
                of(from.scores, j));
  std::copy(scores.begin(), scores.end(), of(from.scores, key));
  std::vector<float> weights(all), masked;
  for (int j = keys.begin; j < keys.end; ++j)
    weightsOfScores(trace_, head, of(from.scores, j), of(weights, j));
  if (spec_.temperature != 1.0f) {
    masked = from.scores;
    kernels::scale(kernels::best(), spec_.temperature, masked.data(), static_cast<int>(all), masked.data());
  }
  const float* const shown = masked.empty() ? from.scores.data() : masked.data();
  summaries_.foreseeKey(head, {key, keys, shown, weights.data(), grown.data()});
  touchPairsOf(head, {key, key + 1});
  summaries_.touchCols(TensorId::weights, head, {key, key + 1});
  for (const TensorId id : {TensorId::exponentials, TensorId::row_max, TensorId::row_sum})
    summaries_.touchRows(id, head, {0, queries});
  from.unseen.resize(count);
  for (int i = 0; i < queries; ++i) {
    float& since = from.unseen[static_cast<std::size_t>(i)];
    since += grown[static_cast<std::size_t>(i)];
    if (std::fabs(since) <= kSeen) continue;
    since = 0.0f;
    summaries_.touchRows(TensorId::weights, head, {i, i + 1});
  }
}

/// These heads are to be computed when there is time.
void Engine::makeForeseen(Span heads, bool isOfOutputs) {
  for (int h = heads.begin; h < heads.end; ++h) {
    const auto at = static_cast<std::size_t>(h);
    Turn& turn = turns_[at];
    turn.isForeseen = missing_[at] == 0 || turn.isForeseen;
    turn.isOfOutputs = isOfOutputs && (missing_[at] == 0 || turn.isOfOutputs);
    turn.left = spec_.queryCount;
    missingCount_ += missing_[at] == 0, missing_[at] = 1;
  }
  if (spec_.heads > 1 && !isOfOutputs) ofMean_.left = spec_.queryCount;
}

bool Engine::isProjected(Span heads) const {
  const auto first = scratch_.projectedQueries.begin();
  return std::find(first + heads.begin, first + heads.end, std::uint8_t{0}) == first + heads.end;
}

/// New rows of K or V, and what follows from them in the heads that read them.
void Engine::changeGiven(const Change& change) {
  const int group = spec_.heads / spec_.kvHeads, kvHead = change.head;
  const Span keys{change.row, change.row + change.rows}, cols{change.col, change.col + change.cols},
      heads{kvHead * group, (kvHead + 1) * group};
  const bool isOfKeys = change.tensor == TensorId::k;
  Tensor& changed = isOfKeys ? trace_.k : trace_.v;
  const float* const row = std::as_const(changed).row(kvHead, keys.begin);
  const std::vector<float> before(row, row + changed.cols());
  if (isOfKeys) makeKeys(inputs_, kvHead, keys, cols, trace_);
  else makeValues(inputs_, kvHead, keys, cols, trace_);
  if (!isProjected(heads) || keys.size() > 1 || isSampled() || !isPlain(spec_) || isBiased(spec_, inputs_))
    return makeStale(heads);
  const float *k = std::as_const(trace_.k).row(kvHead, keys.begin),
              *v = std::as_const(trace_.v).row(kvHead, keys.begin);
  bool isSure = true;
  for (int h = heads.begin; h < heads.end; ++h)
    isSure &= foresee(h, isOfKeys ? ChangedKey{keys.begin, before.data(), k, v, v}
                                  : ChangedKey{keys.begin, k, k, before.data(), v});
  isSure ? makeForeseen(heads, !isOfKeys) : makeStale(heads);
}

}  // namespace attention
