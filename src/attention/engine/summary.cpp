#include "attention/engine/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "attention/steps/mask.h"

namespace attention {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();
constexpr int kLanes = 16;  // loops of this length are vectorised

float finite(float value) { return value >= -kMost && value <= kMost ? value : 0.0f; }

/// The first index of `value`, which must be present.
int find(const float* numbers, int count, float value) {
  int first = 0;
  for (; first + kLanes <= count; first += kLanes) {
    int hits = 0;
    for (int k = 0; k < kLanes; ++k) hits |= numbers[first + k] == value;
    if (hits) break;
  }
  while (numbers[first] != value) ++first;
  return first;
}

int countLinks(const float* weights, int count) {
  int links[kLanes] = {};
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    for (int k = 0; k < kLanes; ++k) links[k] += weights[c + k] >= kLink;
  }
  for (; c < count; ++c) links[0] += weights[c] >= kLink;
  return std::accumulate(links, links + kLanes, 0);
}

/// Of twice as many lanes. Written so that this, too, is vectorised: rows of inputs are short, and there are
/// many.
template <int half>
void fold(float* low, float* high) {
  for (int k = 0; k < half; ++k) low[k] = low[k + half] < low[k] ? low[k + half] : low[k];
  for (int k = 0; k < half; ++k) high[k] = high[k + half] > high[k] ? high[k + half] : high[k];
}

/// Not inline: its loops are long where they are vectorised. Infinities are rare but in masked scores; that
/// there was one shows at the end, without a question for each number. A comparison leaves out what is not a
/// number.
template <bool mayBeInfinite>
[[gnu::noinline]] Range rangeOf(const float* numbers, int count) {
  static_assert(kLanes == 16);
  float low[kLanes] = {}, high[kLanes] = {};
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      const float value = mayBeInfinite ? finite(numbers[c + k]) : numbers[c + k];
      low[k] = value < low[k] ? value : low[k];
      high[k] = value > high[k] ? value : high[k];
    }
  }
  for (; c < count; ++c) {
    const float value = mayBeInfinite ? finite(numbers[c]) : numbers[c];
    low[0] = value < low[0] ? value : low[0];
    high[0] = value > high[0] ? value : high[0];
  }
  fold<8>(low, high), fold<4>(low, high), fold<2>(low, high), fold<1>(low, high);
  return {low[0], high[0]};
}

/// `isOfPairs`: where the two are is asked for again and again. Rows of inputs are so short that one that is
/// edited is scanned anew.
RowSummary scan(const float* numbers, int count, bool isOfPairs, bool isWeights) {
  RowSummary row;
  row.range = rangeOf<false>(numbers, count);
  if (row.range.low < -kMost || row.range.high > kMost) row.range = rangeOf<true>(numbers, count);
  if (isOfPairs && row.range.low < 0) row.lowAt = find(numbers, count, row.range.low);
  if (isOfPairs && row.range.high > 0) row.highAt = find(numbers, count, row.range.high);
  if (isWeights) row.links = countLinks(numbers, count);
  return row;
}

/// Updates the summary of a row for one changed number. False if that needs a scan of the whole row.
bool replace(RowSummary& row, int col, float number) {
  const float value = finite(number);
  if ((col == row.lowAt && value > row.range.low) || (col == row.highAt && value < row.range.high) ||
      (row.lowAt < 0 && row.range.low < 0) || (row.highAt < 0 && row.range.high > 0))
    return false;
  if (value < row.range.low) row.range.low = value, row.lowAt = col;
  if (value > row.range.high) row.range.high = value, row.highAt = col;
  return true;
}

/// Sums one row over `heads` without the head `without`; returns `sums`.
double* sumOf(const Tensor& all, const std::vector<int>& heads, int without, int row, double* sums) {
  std::fill(sums, sums + all.cols(), 0.0);
  for (const int h : heads) {
    if (h == without) continue;
    const float* numbers = all.row(h, row);
    for (int j = 0; j < all.cols(); ++j) sums[j] += static_cast<double>(numbers[j]);
  }
  return sums;
}

/// Writes (sums + more) · share.
void writeMean(const double* sums, const float* more, double share, int count, float* out) {
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    float means[kLanes];  // `out` might overlap `more`, for all that the compiler knows, which would keep it
                          // from vectorising
    for (int k = 0; k < kLanes; ++k)
      means[k] = static_cast<float>((sums[c + k] + static_cast<double>(more[c + k])) * share);
    std::copy_n(means, kLanes, out + c);
  }
  for (; c < count; ++c) out[c] = static_cast<float>((sums[c] + static_cast<double>(more[c])) * share);
}

/// Of that many numbers, one in so many is looked at. Odd, so that they are not all from one column.
std::uint64_t paceOf(std::uint64_t count) {
  constexpr std::uint64_t kSampled = 4096;
  return std::max<std::uint64_t>(1, count / kSampled | 1);
}

std::uint64_t numbersOf(const Tensor& tensor) {
  return std::uint64_t{1} * static_cast<unsigned>(tensor.heads()) * static_cast<unsigned>(tensor.rows()) *
         static_cast<unsigned>(tensor.cols());
}

/// Of each block of lines the newest stamp.
void takeNewest(const std::vector<std::uint32_t>& lines, int side, std::vector<std::uint32_t>& blocks) {
  const auto each = static_cast<std::size_t>(side);
  blocks.assign((lines.size() + each - 1) / each, 0);
  for (std::size_t b = 0; b < blocks.size(); ++b)  // without a division for each line
    for (std::size_t i = b * each; i < std::min((b + 1) * each, lines.size()); ++i)
      blocks[b] = std::max(blocks[b], lines[i]);
}

void widen(Range& range, const Range& by) {
  range = {std::min(range.low, by.low), std::max(range.high, by.high)};
}

}  // namespace

// ---- stamps

void Summaries::begin(bool isWhole) {
  ++now_;
  if (isWhole) first_.forget(), soon_ = -1;
  for (std::size_t i = 0; isWhole && i < stamps_.size(); ++i) stamps_[i].clear();
}

void Summaries::shape(TensorId id, const Tensor& tensor) {
  shapes_[at(id)] = {tensor.rows(), tensor.cols()};
  heads(id).assign(static_cast<std::size_t>(tensor.heads()), Stamps{now_, now_, {}, {}});
}

void Summaries::touchAll(const Spec& spec, const Inputs& inputs, const Trace& trace) {
  if (trace.raw.isStored()) overviews_.clear(), outputs_.clear(), detail_.forget();
  queryDim_ = queryWidth(spec), headDim_ = spec.headDim, valueDim_ = spec.valueDim;
  for (int i = 0; i < kTensorCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    const Tensor* tensor = attention::find(inputs, trace, id);
    tensor ? shape(id, *tensor) : heads(id).clear();
  }
}

void Summaries::stamp(Stamps& stamps, std::vector<std::uint32_t>& lines, Span which, int count) {
  if (stamps.whole == now_) return;
  stamps.latest = now_;
  lines.resize(static_cast<std::size_t>(count));
  std::fill(lines.begin() + which.begin, lines.begin() + which.end, now_);
}

void Summaries::touchRows(TensorId id, int head, Span rows) {
  if (heads(id).empty()) return;
  Stamps& stamps = heads(id)[static_cast<std::size_t>(head)];
  stamp(stamps, stamps.rows, rows, shapes_[at(id)].rows);
}

void Summaries::touchCols(TensorId id, int head, Span cols) {
  if (heads(id).empty()) return;
  Stamps& stamps = heads(id)[static_cast<std::size_t>(head)];
  stamp(stamps, stamps.cols, cols, shapes_[at(id)].cols);
}

void Summaries::touchHead(TensorId id, int head) {
  if (!heads(id).empty()) heads(id)[static_cast<std::size_t>(head)] = {now_, now_, {}, {}};
}

void Summaries::withhold(TensorId id, int head) {
  if (!heads(id).empty()) heads(id)[static_cast<std::size_t>(head)] = {};
}

void Summaries::touchMask(Span queries, int count) { stamp(mask_, mask_.rows, queries, count); }

const Stamps& Summaries::stamps(TensorId id, int head) const {
  return stamps_[at(id)][static_cast<std::size_t>(head)];
}

// ---- ranges

int Summaries::groupWidth(TensorId id, const Tensor& tensor) const {
  switch (id) {
    case TensorId::w_q: return queryDim_;
    case TensorId::w_k: return headDim_;
    case TensorId::w_v: return valueDim_;
    default: return tensor.cols();
  }
}

/// The sizes of the statistics; what they hold remains.
void Summaries::layOut(TensorId id, const Tensor& tensor, Lines& all) const {
  const std::size_t rows = static_cast<std::size_t>(tensor.heads()) * static_cast<std::size_t>(tensor.rows());
  all.width = groupWidth(id, tensor), all.count = tensor.cols() / all.width;
  const auto count = static_cast<std::size_t>(all.count);
  all.rows.resize(rows * count);
  all.groups.resize(static_cast<std::size_t>(tensor.heads()) * count);
  if (isWeights(id)) all.peaks.resize(rows);
}

/// Brings the statistics of the rows up to date.
Summaries::Lines& Summaries::lines(TensorId id, const Tensor& tensor) {
  Lines& all = lines_[at(id)];
  if (all.seen == now_) return all;
  layOut(id, tensor, all);
  const auto count = static_cast<std::size_t>(all.count);
  bool isNew = false;
  for (int h = 0; h < tensor.heads(); ++h) {
    if (!isComputed(id, h))
      std::fill_n(all.groups.data() + static_cast<std::size_t>(h) * count, count, Group{});
    else if (!stamps(id, h).isNewer(all.seen)) continue;
    else if (tensor.isStored()) refreshHead(id, tensor, h, all);
    else gather(tensor, h, all);
    isNew = true;
  }
  all.seen = now_;
  if (!isNew) return all;
  all.changed = now_;
  all.all = {};
  for (const Group& group : all.groups) widen(all.all, group.range);
  return all;
}

void Summaries::refreshHead(TensorId id, const Tensor& tensor, int head, Lines& all) {
  const Stamps& stamps = this->stamps(id, head);
  std::vector<int> cols;
  for (int c = 0; c < static_cast<int>(stamps.cols.size()); ++c) {
    if (stamps.cols[static_cast<std::size_t>(c)] > all.seen) cols.push_back(c);
  }
  const auto count = static_cast<std::size_t>(all.count);
  const std::size_t first = static_cast<std::size_t>(head) * static_cast<std::size_t>(tensor.rows());
  for (int r = 0; r < tensor.rows(); ++r) {
    const float* numbers = tensor.row(head, r);
    const std::size_t at = first + static_cast<std::size_t>(r);
    RowSummary* rows = all.rows.data() + at * count;
    const bool isNew = stamps.rowIsNewer(r, all.seen);
    for (int g = 0; g < all.count; ++g) {
      const float* part = numbers + g * all.width;
      bool isKnown = !isNew && (cols.empty() || !isWeights(id));
      for (std::size_t i = 0; isKnown && i < cols.size(); ++i) {
        const int col = cols[i] - g * all.width;
        if (col >= 0 && col < all.width) isKnown = replace(rows[g], col, part[col]);
      }
      if (!isKnown) rows[g] = scan(part, all.width, hasPlaces(id), isWeights(id));
    }
    if (isWeights(id)) all.peaks[at] = rows->range.size();
  }
  gather(tensor, head, all);
}

/// The statistics of a head from those of its rows: where not all are computed, from those that are.
void Summaries::gather(const Tensor& tensor, int head, Lines& all) const {
  const bool isSampled = !tensor.isStored() && sampledEach() > 1;
  const auto step = static_cast<std::size_t>(isSampled ? sampledEach() : 1),
             rows = static_cast<std::size_t>(tensor.rows());
  const auto count = static_cast<std::size_t>(all.count);
  const std::size_t first = static_cast<std::size_t>(head) * static_cast<std::size_t>(tensor.rows());
  for (std::size_t g = 0; g < count; ++g) {
    Group& group = all.groups[static_cast<std::size_t>(head) * count + g];
    group = {};
    for (std::size_t r = 0; r < rows; r += step) {
      const std::size_t at = isSampled ? static_cast<std::size_t>(sampleOf(static_cast<int>(r))) : r;
      const RowSummary& row = all.rows[(first + at) * count + g];
      widen(group.range, row.range);
      group.links += row.links;
    }
  }
}

Range Summaries::range(TensorId id, const Tensor& tensor) { return lines(id, tensor).all; }

Range Summaries::range(TensorId id, const Tensor& tensor, int head, Span rows, Span cols) {
  const Lines& all = lines(id, tensor);
  Range range;
  const bool isHead = rows.begin == 0 && rows.end == tensor.rows();
  for (int g = cols.begin / all.width; g * all.width < cols.end; ++g) {
    if (isHead) widen(range, all.groups[static_cast<std::size_t>(head * all.count + g)].range);
    for (int r = rows.begin; !isHead && r < rows.end; ++r) {
      widen(range, all.rows[static_cast<std::size_t>((head * tensor.rows() + r) * all.count + g)].range);
    }
  }
  return range;
}

float Summaries::reach(TensorId id, const Tensor& tensor) {
  Lines& all = lines(id, tensor);
  if (all.reachSeen >= all.changed) return all.reach;
  const std::uint32_t before = std::exchange(all.reachSeen, now_);
  all.reach = all.all.size();
  const std::uint64_t count = numbersOf(tensor), pace = paceOf(count),
                      head = count / static_cast<unsigned>(std::max(tensor.heads(), 1));
  all.sampled.resize(static_cast<std::size_t>((count + pace - 1) / pace));
  sample_.clear();
  std::size_t n = 0;
  for (std::uint64_t i = 0; i < count; i += pace, ++n) {
    const Stamps& stamps = this->stamps(id, static_cast<int>(i / head));
    if (stamps.latest == 0) continue;
    // The numbers are far apart, so each that is read takes a line of the cache: those of heads that have not
    // changed are kept.
    if (stamps.isNewer(before) && tensor.isStored())
      all.sampled[n] = std::fabs(tensor.data()[static_cast<std::size_t>(i)]);
    const float size = all.sampled[n];
    if (size > 0 && size <= all.reach) sample_.push_back(size);  // leaves out infinities and NaN
  }
  if (sample_.empty()) return all.reach;
  const auto at = sample_.begin() + static_cast<std::ptrdiff_t>(sample_.size() * 3 / 4);
  std::nth_element(sample_.begin(), sample_.size() < 4 ? sample_.begin() : at, sample_.end());
  const float most = kOutlier * (sample_.size() < 4 ? sample_.front() : *at);
  if (all.reach <= most) return all.reach;
  float reach = 0;
  for (const float size : sample_)
    if (size <= most) reach = std::max(reach, size);
  return all.reach = reach;
}

const RowSummary& Summaries::row(TensorId id, const Tensor& tensor, int head, int row) {
  return lines(id, tensor).rows[static_cast<std::size_t>(head * tensor.rows() + row)];
}

int Summaries::links(TensorId id, const Tensor& tensor, int head) {
  return lines(id, tensor).groups[static_cast<std::size_t>(head)].links;
}

const float* Summaries::rowPeaks(TensorId id, const Tensor& tensor, int head) {
  return lines(id, tensor).peaks.data() + static_cast<std::ptrdiff_t>(head) * tensor.rows();
}

// ---- pairs that are not stored

namespace {

/// Calls use(id, tensor) for each tensor of the trace that is not stored.
template <class Use>
void forMade(const Trace& trace, Use use) {
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorId id = kLayerTensors[i];
    const Tensor* tensor = intermediate(trace, id);
    if (tensor && !tensor->isStored()) use(id, *tensor);
  }
}

}  // namespace

void Summaries::beginRowsOf(TensorId id, const Tensor& tensor) {
  Lines& all = lines_[at(id)];
  all = {};
  layOut(id, tensor, all);
  const std::uint64_t count = numbersOf(tensor), pace = paceOf(count);
  all.sampled.resize(static_cast<std::size_t>((count + pace - 1) / pace));
  if (!isPictured(id)) return;
  overviews_.push_back({id, {}, std::vector<Stamps>(static_cast<std::size_t>(tensor.heads()))});
  overviews_.back().overview.reset(tensor.heads(), tensor.rows(), tensor.cols());
}

void Summaries::beginRows(const Trace& trace, const Tensor& meanWeights) {
  overviews_.clear(), outputs_.clear(), detail_.forget();
  forMade(trace, [this](TensorId id, const Tensor& tensor) { beginRowsOf(id, tensor); });
  meanPairs_ = &meanWeights;
  beginRowsOf(kMeanWeights, meanWeights);
  shape(kMeanWeights, meanWeights);
  withhold(kMeanWeights, 0);
  const int each = overviews_.front().overview.side();
  for (const Tensor* out : {&trace.headOutput, &trace.output})
    if (!out->isStored()) outputs_.push_back({each, Tensor(1, out->rows(), out->cols(), kHiddenScore)});
}

int Summaries::sampleOf(int row) const { return overviews_.front().overview.sampleOf(row); }

const Summaries::Outputs* Summaries::outputs(TensorId id) const {
  if (outputs_.empty() || id < TensorId::head_output || id > TensorId::output) return nullptr;
  return &outputs_[id == TensorId::output ? 1 : 0];
}

bool Summaries::Outputs::has(int query) const { return *row(query) != kHiddenScore; }

const float* Summaries::Outputs::rowOrSample(int query) const {
  if (has(query)) return row(query);
  const int first = query / each * each;
  return row(first + std::min(each, known.rows() - first) / 2);
}

void Summaries::takeOutputs(const Trace& trace, Span rows) {
  for (int i = rows.begin; i < rows.end; ++i)
    for (const TensorId id : {TensorId::head_output, TensorId::output}) {
      const Tensor& from = *intermediate(trace, id);
      std::copy_n(from.row(0, i), from.cols(), outputs_[id == TensorId::output ? 1 : 0].known.row(0, i));
    }
}

void Summaries::forgetOutputs(Span rows) {
  for (Outputs& outputs : outputs_)
    std::fill_n(outputs.known.row(0, rows.begin), std::ptrdiff_t{rows.size()} * outputs.known.cols(),
                kHiddenScore);
}

void Summaries::forgetUnseen() {
  const Span seen = detail_.area().side == 1 ? detail_.area().rows : Span{};
  const Outputs& outputs = outputs_.front();
  for (int i = 0; i < outputs.known.rows(); ++i)
    if (outputs.has(i) && i != sampleOf(i) && (i < seen.begin || i >= seen.end)) forgetOutputs({i, i + 1});
}

void Summaries::takeRowsOf(TensorId id, const Tensor& tensor, int head, Span rows) {
  Lines& all = lines_[at(id)];
  const auto cols = static_cast<std::size_t>(tensor.cols());
  const std::uint64_t pace = paceOf(numbersOf(tensor));
  for (int r = rows.begin; r < rows.end; ++r) {
    const float* numbers = tensor.row(head, r);
    const auto place = static_cast<std::size_t>(head) * static_cast<std::size_t>(tensor.rows()) +
                       static_cast<std::size_t>(r);
    all.rows[place] = scan(numbers, tensor.cols(), hasPlaces(id), isWeights(id));
    if (isWeights(id)) all.peaks[place] = all.rows[place].range.size();
    const std::uint64_t first = std::uint64_t{place} * cols;
    for (std::uint64_t n = (first + pace - 1) / pace; n * pace < first + cols; ++n)
      all.sampled[static_cast<std::size_t>(n)] = std::fabs(numbers[n * pace - first]);
  }
  for (Small& small : overviews_)
    if (small.id == id) small.overview.take(tensor, head, rows);
}

void Summaries::takeRows(const Trace& trace, int head, Span rows) {
  forMade(trace, [&](TensorId id, const Tensor& tensor) { takeRowsOf(id, tensor, head, rows); });
  if (!outputs_.empty()) takeOutputs(trace, rows);
}

void Summaries::foreseeKey(int head, const ForeseenKey& foreseen) {
  for (Small& small : overviews_) {
    if (small.id == TensorId::weights) small.overview.grow(head, foreseen.grown);
    if (small.id != kMeanWeights)
      small.overview.takeKeys(head, foreseen.keys,
                              small.id == TensorId::masked ? foreseen.masked : foreseen.weights);
  }
  // The largest of a row may now be another, which is found when the row is taken.
  Lines &scores = lines_[at(TensorId::masked)], &weights = lines_[at(TensorId::weights)];
  const int queries = shapes_[at(TensorId::weights)].rows;
  const std::ptrdiff_t first = std::ptrdiff_t{head} * queries,
                       column = std::ptrdiff_t{foreseen.key - foreseen.keys.begin} * queries;
  for (int i = 0; i < queries; ++i) {
    const auto place = static_cast<std::size_t>(first + i);
    (void)replace(scores.rows[place], foreseen.key, foreseen.masked[column + i]);
    RowSummary& row = weights.rows[place];
    const float weight = foreseen.weights[column + i];
    row.range.high = std::min(row.range.high * std::exp(foreseen.grown[i]), 1.0f);
    if (row.highAt == foreseen.key || weight > row.range.high)
      row.range.high = weight, row.highAt = foreseen.key;
    weights.peaks[place] = row.range.high;
  }
}

void Summaries::takeMeanRows(Span rows) { takeRowsOf(kMeanWeights, *meanPairs_, 0, rows); }

const Overview* Summaries::overview(TensorId id) const {
  for (const Small& small : overviews_)
    if (small.id == id) return &small.overview;
  return nullptr;
}

const Stamps& Summaries::blockStamps(TensorId id, int head) {
  const Stamps& all = stamps(id, head);
  const auto small =
      std::find_if(overviews_.begin(), overviews_.end(), [id](const Small& one) { return one.id == id; });
  Stamps& blocks = small->stamps[static_cast<std::size_t>(head)];
  if (blocks.latest == all.latest) return blocks;
  blocks.latest = all.latest, blocks.whole = all.whole;
  takeNewest(all.rows, small->overview.side(), blocks.rows);
  takeNewest(all.cols, small->overview.side(), blocks.cols);
  return blocks;
}

// ---- whole heads

const Tensor& Summaries::mean(TensorId of, const Spec& spec, const Trace& trace) {
  const bool isOutput = of == TensorId::head_output;
  const Tensor& all = isOutput ? trace.headOutput : trace.weights;
  const TensorId id = isOutput ? kMeanOutput : kMeanWeights;
  Mean& made = isOutput ? meanOutput_ : meanWeights_;
  if (!all.isStored()) return *meanPairs_;
  if (made.seen == now_) return made.numbers;
  if (made.numbers.rows() != all.rows() || made.numbers.cols() != all.cols() || heads(id).empty()) {
    made.numbers.reshape(1, all.rows(), all.cols());
    shape(id, made.numbers);
    made.seen = 0, made.head = -1;
  }
  std::vector<int> parts;
  for (int h = 0; h < all.heads(); ++h) {
    if (!isHidden(spec, h)) parts.push_back(h);
  }
  if (!std::all_of(parts.begin(), parts.end(), [&](int h) { return isComputed(of, h); }))
    return makeMeanSoon(id, all, parts, made), made.numbers;
  if (std::exchange(made.isPart, false)) made.seen = 0, made.head = -1;
  const bool isShort = made.seen != 0 && findOthers(of, parts, made);
  // A number that was written as part of a column makes its whole row stale; this happens only in outputs.
  const bool byColumn = std::any_of(parts.begin(), parts.end(), [&](int h) {
    const auto& cols = stamps(of, h).cols;
    return std::any_of(cols.begin(), cols.end(), [&](std::uint32_t written) { return written > made.seen; });
  });
  sums_.resize(static_cast<std::size_t>(all.cols()));
  for (int i = 0; i < all.rows(); ++i) {
    const bool isNew = byColumn || made.seen == 0 || std::any_of(parts.begin(), parts.end(), [&](int h) {
                         return stamps(of, h).rowIsNewer(i, made.seen);
                       });
    if (!isNew) continue;
    const double* sums = isShort ? sumOfOthers(all, parts, made, i) : sumOf(all, parts, -1, i, sums_.data());
    const float* more = isShort ? all.row(made.head, i) : nullptr;
    float* out = made.numbers.row(0, i);
    const double share = 1.0 / static_cast<double>(std::max<std::size_t>(parts.size(), 1));
    if (more) writeMean(sums, more, share, all.cols(), out);
    else
      std::transform(sums, sums + all.cols(), out,
                     [share](double sum) { return static_cast<float>(sum * share); });
    Stamps& own = heads(id).front();
    stamp(own, own.rows, {i, i + 1}, all.rows());
  }
  made.seen = now_;
  return made.numbers;
}

void Summaries::makeMeanSoon(TensorId id, const Tensor& all, const std::vector<int>& parts, Mean& made) {
  std::fill(made.numbers.values().begin(), made.numbers.values().end(), 0.0f);
  if (soon_ >= 0) {
    sums_.resize(static_cast<std::size_t>(all.cols()));
    const double* const sums = sumOf(all, parts, -1, soon_, sums_.data());
    const double share = 1.0 / static_cast<double>(parts.size());
    std::transform(sums, sums + all.cols(), made.numbers.row(0, soon_),
                   [share](double sum) { return static_cast<float>(sum * share); });
  }
  touchHead(id, 0);
  made.seen = now_, made.isPart = true;
}

/// If only one head has changed since the last mean, as while its K is edited, the sum of the others can be
/// kept, and one head is read instead of all. Returns false if more heads have changed, or if there are too
/// few for a gain.
bool Summaries::findOthers(TensorId of, const std::vector<int>& parts, Mean& made) const {
  constexpr std::size_t kFew = 3;  // with two, as much is read
  int head = -1, changed = 0;
  for (const int h : parts) {
    if (stamps(of, h).isNewer(made.seen)) head = h, ++changed;
  }
  if (changed == 0) return false;
  if (changed > 1 || parts.size() < kFew) return made.head = -1, false;
  if (made.head != head || made.parts != parts) {
    made.head = head, made.parts = parts;
    made.hasOthers.assign(static_cast<std::size_t>(made.numbers.rows()), 0);
    made.others.resize(made.numbers.size());
  }
  return true;
}

/// A row of the sum of all heads except made.head.
const double* Summaries::sumOfOthers(const Tensor& all, const std::vector<int>& parts, Mean& made, int row) {
  double* sums = made.others.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(all.cols());
  std::uint8_t& isThere = made.hasOthers[static_cast<std::size_t>(row)];
  if (!std::exchange(isThere, std::uint8_t{1})) sumOf(all, parts, made.head, row, sums);
  return sums;
}

// ---- mask

namespace {

bool everyHeadMasks(const Inputs& inputs, int query, int key) {
  for (int h = 0; inputs.bias && h < inputs.bias->heads(); ++h) {
    if (!isMaskedByBias(inputs, h, query, key)) return false;
  }
  return inputs.bias != nullptr;
}

}  // namespace

void Summaries::refreshVisible(const Spec& spec, const Inputs& inputs) {
  if (visibleSeen_ == now_) return;
  const int each = (std::max(spec.queryCount, spec.keyCount) - 1) / kVisibleAcross + 1;
  if (static_cast<int>(seenInRow_.size()) != spec.queryCount || visibleKeys_ != spec.keyCount) {
    visible_.reshape(1, (spec.queryCount - 1) / each + 1, (spec.keyCount - 1) / each + 1);
    visibleKeys_ = spec.keyCount;
    mask_ = {now_, now_, {}, {}};
    seenInRow_.assign(static_cast<std::size_t>(spec.queryCount), 0);
    visibleCount_ = 0;
  }
  if (std::int64_t{spec.queryCount} * spec.keyCount > Limits::inFull) {
    if (mask_.isNewer(visibleSeen_)) sampleVisible(spec, each);
    visibleSeen_ = now_;
    return;
  }
  for (int first = 0; mask_.isNewer(visibleSeen_) && first < spec.queryCount; first += each) {
    const int end = std::min(first + each, spec.queryCount);
    bool isNewer = false;
    for (int i = first; i < end; ++i) isNewer |= mask_.rowIsNewer(i, visibleSeen_);
    if (!isNewer) continue;
    float* row = visible_.row(0, first / each);
    std::fill(row, row + visible_.cols(), 0.0f);
    for (int i = first; i < end; ++i) addVisible(spec, inputs, i, each, row);
    for (int c = 0; each > 1 && c < visible_.cols(); ++c)
      row[c] /= static_cast<float>((end - first) * std::min(each, spec.keyCount - c * each));
  }
  visibleSeen_ = now_;
}

/// The same from one query of each row of visible_; of a pattern, from some of its keys.
void Summaries::sampleVisible(const Spec& spec, int each) {
  constexpr int kKeysOfCell = 16;
  double seen = 0;
  for (int r = 0; r < visible_.rows(); ++r) {
    const int first = r * each, rows = std::min(each, spec.queryCount - first), query = first + rows / 2;
    const KeyRange range = visibleKeys(spec, query);
    const MaskRow mask(spec, query);
    for (int c = 0; c < visible_.cols(); ++c) {
      const int begin = std::max(c * each, range.begin), end = std::min((c + 1) * each, range.end),
                pace = std::max((end - begin) / kKeysOfCell, 1);
      int looked = 0, hits = 0;
      for (int j = begin; spec.pattern.any() && j < end; j += pace) ++looked, hits += mask.sees(j);
      const double share = looked > 0 ? double{1} * hits / looked : 1,
                   keys = share * std::max(end - begin, 0);
      visible_.at(0, r, c) = static_cast<float>(keys / std::min(each, spec.keyCount - c * each));
      seen += keys * rows;
    }
  }
  visibleCount_ = spec.pattern.any() ? static_cast<std::int64_t>(seen) : attention::visibleCount(spec);
}

namespace {

/// Adds these keys to a row of visible_, in which a cell stands for `each` keys. Returns how many there are.
int addRange(const KeyRange& range, int each, float* row) {
  for (int c = range.begin / each; c * each < range.end; ++c)
    row[c] += static_cast<float>(std::min((c + 1) * each, range.end) - std::max(c * each, range.begin));
  return range.end - range.begin;
}

}  // namespace

/// The same of the keys of its range that a query sees. Not inline: the first frame does not need it.
[[gnu::noinline]] int Summaries::addSeen(const Spec& spec, const Inputs& inputs, int query, int each,
                                         float* row) {
  const KeyRange range = visibleKeys(spec, query);
  const bool isPainted = inputs.painted && !inputs.painted->empty();
  seenKeys_.resize(static_cast<std::size_t>(spec.keyCount));
  std::uint8_t* const seen = seenKeys_.data();
  MaskRow(spec, query).letThrough(spec.keyCount, seen);
  for (int j = range.begin; (isPainted || inputs.bias) && j < range.end; ++j)
    if ((isPainted && inputs.painted->isBlocked(query, j)) || everyHeadMasks(inputs, query, j)) seen[j] = 0;
  int count = 0;
  for (int c = range.begin / each; c * each < range.end; ++c) {
    const int first = std::max(c * each, range.begin), end = std::min((c + 1) * each, range.end),
              hits = std::accumulate(seen + first, seen + end, 0);
    row[c] += static_cast<float>(hits), count += hits;
  }
  return count;
}

void Summaries::addVisible(const Spec& spec, const Inputs& inputs, int query, int each, float* row) {
  const bool isPainted = inputs.painted && !inputs.painted->empty(),
             isAll = !spec.pattern.any() && !isPainted && !inputs.bias;  // does it see each of them?
  const int count =
      isAll ? addRange(visibleKeys(spec, query), each, row) : addSeen(spec, inputs, query, each, row);
  int& before = seenInRow_[static_cast<std::size_t>(query)];
  visibleCount_ += count - before;
  before = count;
}

const Tensor& Summaries::visible(const Spec& spec, const Inputs& inputs) {
  refreshVisible(spec, inputs);
  return visible_;
}

std::int64_t Summaries::visibleCount(const Spec& spec, const Inputs& inputs) {
  refreshVisible(spec, inputs);
  return visibleCount_;
}

}  // namespace attention
