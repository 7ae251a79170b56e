#include "training/model.h"

#include <algorithm>
#include <cmath>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "base/random.h"

namespace training {
namespace {

using attention::Tensor;
using attention::TensorId;
using attention::kernels::Product;
using std::size_t;

constexpr float kEpsilon = 1e-5f;  // of layer normalisation
constexpr int kSums = 8;           // sums computed at once, so that compilers can vectorise

std::size_t area(int rows, int columns) { return static_cast<size_t>(rows) * static_cast<size_t>(columns); }

float sumOfParts(const float (&parts)[kSums]) {
  return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7]));
}
float sumOf(const float* a, int count) {
  float parts[kSums] = {};
  int i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int l = 0; l < kSums; ++l) parts[l] += a[i + l];
  for (; i < count; ++i) parts[0] += a[i];
  return sumOfParts(parts);
}
float dot(const float* a, const float* b, int count) {
  float parts[kSums] = {};
  int i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int l = 0; l < kSums; ++l) parts[l] += a[i + l] * b[i + l];
  for (; i < count; ++i) parts[0] += a[i] * b[i];
  return sumOfParts(parts);
}

/// Transposes [rows, columns], whose rows are `stride` apart, to [columns, rows].
void transpose(const float* from, std::ptrdiff_t stride, int rows, int columns, float factor, float* to) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) to[std::ptrdiff_t{c} * rows + r] = factor * from[r * stride + c];
}

/// Where Stage::p has a parameter of the score.
int placeOf(TensorId id) { return 4 + static_cast<int>(id) - static_cast<int>(TensorId::w_a); }

/// Splits columns into heads; fromHeads() joins them.
void toHeads(const float* from, int rows, int heads, int dim, Tensor& to) {
  to.reshape(heads, rows, dim);
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < rows; ++r)
      std::copy_n(from + (std::ptrdiff_t{r} * heads + h) * dim, dim, to.row(h, r));
}
void fromHeads(const Tensor& from, float* to) {
  for (int h = 0; h < from.heads(); ++h)
    for (int r = 0; r < from.rows(); ++r)
      std::copy_n(from.row(h, r), from.cols(), to + (std::ptrdiff_t{r} * from.heads() + h) * from.cols());
}

}  // namespace

void Batch::clear() {
  for (auto* list : {&tokens, &targets, &looks, &source}) list->clear();
  begins.assign(1, 0), sourceBegins.assign(1, 0);
}

void Batch::add(const Sequence& s) {
  tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
  targets.insert(targets.end(), s.targets.begin(), s.targets.end());
  looks.insert(looks.end(), s.looks.begin(), s.looks.end());
  source.insert(source.end(), s.source.begin(), s.source.end());
  begins.push_back(static_cast<int>(tokens.size()));
  sourceBegins.push_back(static_cast<int>(source.size()));
}

Model::Model(const Setup& setup, const Examples& examples, int sequences, attention::kernels::Kernel kernel)
    : setup_(setup),
      kernel_(kernel),
      d_(setup.modelDim),
      heads_(setup.heads),
      headDim_(d_ / heads_),
      hiddenDim_(4 * d_),
      classes_(static_cast<int>(examples.classes.size())),
      longest_(examples.longest),
      longestSource_(examples.longestSource),
      isPlain_(setup.normalizer == attention::Normalizer::softmax &&
               attention::mechanismOf(setup.score).isProduct) {
  build(examples);
  if (sequences > 0) reserve(sequences);
}

std::size_t Model::count(const Setup& setup, const Examples& examples) {
  return Model(setup, examples, 0, attention::kernels::Kernel::scalar).size();
}

int Model::parameter(std::string name, int rows, int columns) {
  parameters_.push_back({std::move(name), rows, columns, size_});
  size_ += area(rows, columns);
  return static_cast<int>(parameters_.size()) - 1;
}

/// `part`: 0 is attention, 1 cross-attention, 2 feed-forward, 3 the final layer normalisation.
void Model::buildPart(const std::string& name, bool inSource, bool isCross, int layer, int part) {
  Stage s;
  s.inSource = inSource, s.isCross = isCross, s.number = stages_.size();
  s.isCausal = !inSource && !isCross && (setup_.causal || isTranslation(setup_));
  s.kind = part == 3 ? Stage::Kind::finish : part == 2 ? Stage::Kind::feed : Stage::Kind::attend;
  if (setup_.layerNorm) {
    s.norm.gamma = parameter(name + (part == 2 ? "gamma_2" : part == 3 ? "gamma" : "gamma_1"), 1, d_);
    s.norm.delta = parameter(name + (part == 2 ? "delta_2" : part == 3 ? "delta" : "delta_1"), 1, d_);
  }
  if (s.kind == Stage::Kind::attend) {
    static constexpr const char* kNames[] = {"w_q", "w_k", "w_v", "w_o"};
    for (int i = 0; i < 4; ++i) s.p[i] = parameter(name + kNames[i], d_, d_);
    for (const TensorId id : attention::mechanismOf(setup_.score).parameters)
      s.p[placeOf(id)] =
          parameter(name + std::string(attention::name(id)), id == TensorId::v_a ? heads_ : d_, headDim_);
    places_.push_back({inSource  ? AttentionPlace::Kind::encoder
                       : isCross ? AttentionPlace::Kind::cross
                                 : AttentionPlace::Kind::own,
                       layer});
    attends_.push_back(static_cast<int>(stages_.size()));
  } else if (s.kind == Stage::Kind::feed) {
    s.p[0] = parameter(name + "w_1", d_, hiddenDim_), s.p[1] = parameter(name + "b_1", 1, hiddenDim_);
    s.p[2] = parameter(name + "w_2", hiddenDim_, d_), s.p[3] = parameter(name + "b_2", 1, d_);
  }
  stages_.push_back(std::move(s));
}

void Model::build(const Examples& examples) {
  embedding_ = parameter("embedding", static_cast<int>(examples.words.size()), d_);
  const bool learned = setup_.position == Positions::learned, translates = isTranslation(setup_);
  if (learned) positions_ = parameter("positions", longest_, d_);
  if (translates)
    sourceEmbedding_ = parameter("encoder.embedding", static_cast<int>(examples.sourceWords.size()), d_);
  if (translates && learned) sourcePositions_ = parameter("encoder.positions", longestSource_, d_);
  const auto layers = [&](const std::string& stack, bool inSource) {
    for (int l = 0; l < setup_.layers; ++l) {
      const std::string name = stack + "layers." + std::to_string(l) + ".";
      buildPart(name, inSource, false, l, 0);
      if (translates && !inSource) buildPart(name + "cross.", false, true, l, 1);
      if (setup_.feedForward) buildPart(name, inSource, false, l, 2);
    }
    buildPart(stack, inSource, false, 0, 3);
  };
  if (translates) layers("encoder.", true);
  layers("", false);
  unembedding_ = parameter("unembedding", d_, classes_);
  unembeddingBias_ = parameter("unembedding_bias", 1, classes_);

  const int most = std::max(longest_, longestSource_);
  if (setup_.position == Positions::sinusoidal) {
    sinusoids_.resize(area(most, d_));
    for (int i = 0; i < most; ++i) {
      for (int c = 0; c < d_; ++c) {
        const double angle = i * std::pow(10000.0, -2.0 * (c / 2) / d_);
        sinusoids_[area(i, d_) + static_cast<size_t>(c)] =
            static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
    }
  }
  if (setup_.position == Positions::rotary) {
    for (int i = 0; i < most; ++i) {
      for (int p = 0; p < headDim_ / 2; ++p) {
        const double angle = i * std::pow(10000.0, -2.0 * p / headDim_);
        cosines_.push_back(static_cast<float>(std::cos(angle))),
            sines_.push_back(static_cast<float>(std::sin(angle)));
      }
    }
  }
}

double Model::work() const {
  double sum = 0;
  for (const Stage& s : stages_) {
    const double rows = s.inSource ? longestSource_ : longest_,
                 keys = s.inSource || s.isCross ? longestSource_ : longest_;
    if (s.kind == Stage::Kind::attend)
      sum += 2 * d_ * d_ * (rows + keys) + 2 * rows * keys * d_ * (isPlain_ ? 1 : 8);
    if (s.kind == Stage::Kind::feed) sum += 2 * rows * d_ * hiddenDim_;
  }
  return sum + static_cast<double>(longest_) * d_ * classes_;
}

void Model::reserve(int sequences) {
  const int rows = sequences * longest_, sourceRows = sequences * longestSource_,
            most = std::max(rows, sourceRows);
  for (auto* stream : {&stream_, &dStream_}) stream->resize(area(rows, d_));
  for (auto* stream : {&sourceStream_, &dSourceStream_, &dMemory_}) stream->resize(area(sourceRows, d_));
  probabilities_.resize(area(rows, classes_)), dLogits_ = probabilities_;
  for (auto* one : {&branch_, &dH_, &dQ_, &dK_, &dV_, &dConcat_}) one->resize(area(most, d_));
  if (setup_.feedForward) dHidden_.resize(area(most, hiddenDim_));
  const int length = std::max(longest_, longestSource_);
  head_.resize(area(length, headDim_)), dScores_.resize(area(length, length));
  transposes_.resize(size_);
  for (Stage& s : stages_) {
    const int own = s.inSource ? sourceRows : rows, keys = s.isCross ? sourceRows : own;
    s.h.resize(area(own, d_));
    if (s.norm.gamma >= 0)
      s.norm.unit.resize(area(own, d_)), s.norm.deviation.resize(static_cast<size_t>(own));
    if (setup_.dropout > 0 && s.kind != Stage::Kind::finish) s.dropped.resize(area(own, d_));
    if (s.kind == Stage::Kind::feed) s.hidden.resize(area(own, hiddenDim_));
    if (s.kind != Stage::Kind::attend) continue;
    s.q.resize(area(own, d_)), s.concat.resize(area(own, d_));
    s.k.resize(area(keys, d_)), s.v.resize(area(keys, d_));
    s.weights.resize(area(own, s.inSource || s.isCross ? longestSource_ : longest_) *
                     static_cast<size_t>(heads_));
    if (!isPlain_) s.traces.resize(static_cast<size_t>(sequences));
  }
  if (isPlain_) return;
  backwardScratch_ = std::make_unique<attention::BackwardScratch>();
  scratch_ = std::make_unique<attention::Scratch>();
}

std::size_t Model::bytes() const {
  std::size_t floats = 0;
  for (const auto* n : {&transposes_,
                        &stream_,
                        &sourceStream_,
                        &dStream_,
                        &dSourceStream_,
                        &dMemory_,
                        &probabilities_,
                        &dLogits_,
                        &branch_,
                        &dH_,
                        &dQ_,
                        &dK_,
                        &dV_,
                        &dConcat_,
                        &dHidden_,
                        &head_,
                        &dScores_,
                        &sinusoids_,
                        &cosines_,
                        &sines_}) {
    floats += n->capacity();
  }
  for (const Stage& s : stages_) {
    for (const auto* n : {&s.norm.unit, &s.norm.deviation, &s.h, &s.q, &s.k, &s.v, &s.weights, &s.concat,
                          &s.hidden, &s.dropped})
      floats += n->capacity();
  }
  return floats * sizeof(float);
}

void Model::initialise(float* numbers) const {
  base::NormalRandom random(setup_.seed);
  for (const Parameter& p : parameters_) {
    float* to = numbers + p.offset;
    const std::string_view name = std::string_view(p.name).substr(p.name.rfind('.') + 1);
    const bool isScore = name == "w_a" || name == "u_a" || name == "v_a";
    const double deviation = name == "embedding"   ? 1.0
                             : name == "positions" ? 0.5
                                                   : 1.0 / std::sqrt(isScore ? headDim_ : p.rows);
    const bool isOne = name.starts_with("gamma"),
               isZero = name.starts_with("delta") || name.starts_with("b_") || name == "unembedding_bias";
    for (std::size_t i = 0; i < p.size(); ++i)
      to[i] = isOne ? 1.0f : isZero ? 0.0f : static_cast<float>(deviation * random.next());
  }
}

// --- Layout

int Model::rows(bool inSource) const { return inSource ? batch_->sourceRows() : batch_->rows(); }
int Model::firstRow(bool inSource, int sequence) const {
  return (inSource ? batch_->sourceBegins : batch_->begins)[static_cast<size_t>(sequence)];
}
int Model::rowsOf(bool inSource, int sequence) const {
  return firstRow(inSource, sequence + 1) - firstRow(inSource, sequence);
}

std::size_t Model::weightsAt(const Stage& s, int sequence) const {
  std::size_t at = 0;
  for (int i = 0; i < sequence; ++i) at += area(rowsOf(s.inSource, i), rowsOf(s.inSource || s.isCross, i));
  return at * static_cast<size_t>(heads_);
}

int Model::queries(int attention, int sequence) const {
  return rowsOf(stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])].inSource, sequence);
}
int Model::keys(int attention, int sequence) const {
  const Stage& s = stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])];
  return rowsOf(s.inSource || s.isCross, sequence);
}
const float* Model::weights(int attention, int sequence, int head) const {
  const Stage& s = stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])];
  return s.weights.data() + weightsAt(s, sequence) +
         area(queries(attention, sequence), keys(attention, sequence)) * static_cast<size_t>(head);
}
const float* Model::input(int attention, int sequence) const {
  const Stage& s = stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])];
  return s.h.data() + area(firstRow(s.inSource, sequence), d_);
}
const float* Model::memory(int attention, int sequence) const {
  const Stage& s = stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])];
  return s.isCross ? memory_->data() + area(firstRow(true, sequence), d_) : input(attention, sequence);
}
std::span<const int> Model::weightsOf(int attention) const {
  return stages_[static_cast<size_t>(attends_[static_cast<size_t>(attention)])].p;
}

// --- Parts

void Model::product(const float* x, int rows, int parameter, float* out, bool adds) const {
  const Parameter& w = parameters_[static_cast<size_t>(parameter)];
  attention::kernels::product(
      kernel_, {rows, w.columns, w.rows, x, w.rows, 1, now_ + w.offset, w.columns, out, w.columns, adds});
}

void Model::productBackward(const float* x, const float* dY, int rows, int parameter, float* dX,
                            bool adds) const {
  const Parameter& w = parameters_[static_cast<size_t>(parameter)];
  attention::kernels::product(kernel_, {rows, w.rows, w.columns, dY, w.columns, 1,
                                        transposes_.data() + w.offset, w.rows, dX, w.rows, adds});
  attention::kernels::product(
      kernel_, {w.rows, w.columns, rows, x, 1, w.rows, dY, w.columns, gradient_ + w.offset, w.columns, true});
}

void Model::embed(bool inSource) {
  const auto& tokens = inSource ? batch_->source : batch_->tokens;
  const float* table = at(inSource ? sourceEmbedding_ : embedding_);
  const int learned = inSource ? sourcePositions_ : positions_;
  const float* places = learned >= 0 ? at(learned) : sinusoids_.empty() ? nullptr : sinusoids_.data();
  float* to = stream(inSource).data();
  for (int s = 0; s < batch_->count(); ++s) {
    const int first = firstRow(inSource, s), count = rowsOf(inSource, s);
    for (int i = 0; i < count; ++i, to += d_) {
      const float* from = table + area(tokens[static_cast<size_t>(first + i)], d_);
      if (places)
        for (int c = 0; c < d_; ++c) to[c] = from[c] + places[area(i, d_) + static_cast<size_t>(c)];
      else std::copy_n(from, d_, to);
    }
  }
}

void Model::embedBackward(bool inSource) {
  const auto& tokens = inSource ? batch_->source : batch_->tokens;
  float* table = gradientAt(inSource ? sourceEmbedding_ : embedding_);
  const int learned = inSource ? sourcePositions_ : positions_;
  const float* from = dStream(inSource).data();
  for (int s = 0; s < batch_->count(); ++s) {
    const int first = firstRow(inSource, s), count = rowsOf(inSource, s);
    for (int i = 0; i < count; ++i, from += d_) {
      float* to = table + area(tokens[static_cast<size_t>(first + i)], d_);
      for (int c = 0; c < d_; ++c) to[c] += from[c];
      if (learned < 0) continue;
      float* place = gradientAt(learned) + area(i, d_);
      for (int c = 0; c < d_; ++c) place[c] += from[c];
    }
  }
}

void Model::normalise(Stage& s) {
  const int count = rows(s.inSource);
  const Numbers& x = stream(s.inSource);
  if (s.norm.gamma < 0) return void(std::copy_n(x.data(), area(count, d_), s.h.data()));
  const float *gamma = at(s.norm.gamma), *delta = at(s.norm.delta);
  const float share = 1.0f / static_cast<float>(d_);
  for (int r = 0; r < count; ++r) {
    const float* from = x.data() + area(r, d_);
    float *unit = s.norm.unit.data() + area(r, d_), *to = s.h.data() + area(r, d_);
    const float mean = sumOf(from, d_) * share;
    for (int c = 0; c < d_; ++c) unit[c] = from[c] - mean;
    const float by = 1.0f / std::sqrt(dot(unit, unit, d_) * share + kEpsilon);
    for (int c = 0; c < d_; ++c) unit[c] *= by, to[c] = gamma[c] * unit[c] + delta[c];
    s.norm.deviation[static_cast<size_t>(r)] = by;
  }
}

/// Backward pass of normalise(): adds to the gradient of the residual stream.
void Model::normaliseBackward(Stage& s, const Numbers& dH) {
  const int count = rows(s.inSource);
  float* to = dStream(s.inSource).data();
  if (s.norm.gamma < 0) {
    for (std::size_t i = 0; i < area(count, d_); ++i) to[i] += dH[i];
    return;
  }
  const float* gamma = at(s.norm.gamma);
  float *dGamma = gradientAt(s.norm.gamma), *dDelta = gradientAt(s.norm.delta);
  const float share = 1.0f / static_cast<float>(d_);
  float g[Limits::modelDim];
  for (int r = 0; r < count; ++r, to += d_) {
    const float *from = dH.data() + area(r, d_), *unit = s.norm.unit.data() + area(r, d_);
    for (int c = 0; c < d_; ++c)
      dGamma[c] += from[c] * unit[c], dDelta[c] += from[c], g[c] = gamma[c] * from[c];
    const float mean = sumOf(g, d_) * share, along = dot(g, unit, d_) * share,
                by = s.norm.deviation[static_cast<size_t>(r)];
    for (int c = 0; c < d_; ++c) to[c] += by * (g[c] - mean - unit[c] * along);
  }
}

/// Adds a branch, after dropout, to the residual stream.
void Model::leave(Stage& s, Numbers& branch) {
  const std::size_t count = area(rows(s.inSource), d_);
  float* to = stream(s.inSource).data();
  if (pass_.drops && setup_.dropout > 0) {
    const std::uint64_t key = base::mix(base::mix(setup_.seed + 0xd309u) ^ (pass_.number * 64 + s.number));
    const auto dropped = static_cast<std::uint64_t>(setup_.dropout * 0x1p32);
    const float kept = static_cast<float>(1.0 / (1.0 - setup_.dropout));
    for (std::size_t i = 0; i < count; ++i) {
      s.dropped[i] = base::mix(key + i) >> 32 < dropped ? 0.0f : kept;
      branch[i] *= s.dropped[i];
    }
  }
  if (setup_.residual)
    for (std::size_t i = 0; i < count; ++i) to[i] += branch[i];
  else std::copy_n(branch.data(), count, to);
}

void Model::leaveBackward(Stage& s, Numbers& branch) {
  const std::size_t count = area(rows(s.inSource), d_);
  Numbers& d = dStream(s.inSource);
  std::copy_n(d.data(), count, branch.data());
  if (pass_.drops && setup_.dropout > 0)
    for (std::size_t i = 0; i < count; ++i) branch[i] *= s.dropped[i];
  if (!setup_.residual) std::fill_n(d.data(), count, 0.0f);
}

/// Rotates pairs of adjacent columns by the angles of their position (Su et al. 2021, equation 34); back with
/// sign −1.
void Model::rotate(Numbers& x, bool inSource, float sign) const {
  if (cosines_.empty()) return;
  const int pairs = headDim_ / 2;
  float* to = x.data();
  for (int s = 0; s < batch_->count(); ++s) {
    for (int i = 0; i < rowsOf(inSource, s); ++i) {
      const float *cosine = &cosines_[area(i, pairs)], *sine = &sines_[area(i, pairs)];
      for (int h = 0; h < heads_; ++h, to += headDim_) {
        for (int p = 0; p < pairs; ++p) {
          const float a = to[2 * p], b = to[2 * p + 1], t = sign * sine[p];
          to[2 * p] = a * cosine[p] - b * t, to[2 * p + 1] = a * t + b * cosine[p];
        }
      }
    }
  }
}

// --- Attention

attention::Spec Model::specOf(const Stage& s, int sequence) const {
  attention::Spec spec;
  spec.heads = spec.kvHeads = heads_, spec.headDim = spec.valueDim = headDim_;
  spec.queryCount = rowsOf(s.inSource, sequence), spec.keyCount = rowsOf(s.inSource || s.isCross, sequence);
  spec.score = setup_.score, spec.normalizer = setup_.normalizer, spec.causal = s.isCausal;
  if (setup_.position == Positions::alibi && !s.isCross) spec.position = attention::Position::alibi;
  return spec;
}

void Model::attend(Stage& s) {
  const bool keysInSource = s.inSource || s.isCross;
  const Numbers& from = s.isCross ? *memory_ : s.h;
  const int own = rows(s.inSource), keys = rows(keysInSource);
  product(s.h.data(), own, s.p[0], s.q.data());
  product(from.data(), keys, s.p[1], s.k.data());
  product(from.data(), keys, s.p[2], s.v.data());
  rotate(s.q, s.inSource, 1), rotate(s.k, keysInSource, 1);
  for (int i = 0; i < batch_->count(); ++i) isPlain_ ? attendOne(s, i) : attendOther(s, i);
  const auto first = static_cast<std::size_t>(
      (std::find(attends_.begin(), attends_.end(), static_cast<int>(s.number)) - attends_.begin()) * heads_);
  for (int h = 0; h < heads_; ++h) {
    const std::size_t number = first + static_cast<std::size_t>(h);
    if (number < 64 && (pass_.hidden >> number & 1) != 0) changeHead(s, h, {HeadChange::Kind::scale, 0, {}});
    if (number < pass_.changes.size()) changeHead(s, h, pass_.changes[number]);
  }
  product(s.concat.data(), own, s.p[3], branch_.data());
  leave(s, branch_);
}

/// Changes the output of a head for all sequences, before W_O mixes it with the others: its new rows are sums
/// of the old ones, or of rows of V.
void Model::changeHead(Stage& s, int head, const HeadChange& change) {
  using Kind = HeadChange::Kind;
  const bool isOfOutput = change.kind == Kind::scale || change.kind == Kind::mean;
  for (int i = 0; i < batch_->count(); ++i) {
    const attention::Spec spec = specOf(s, i);
    const int n = spec.queryCount, m = spec.keyCount, count = isOfOutput ? n : m;
    if (change.kind == Kind::none || (change.kind == Kind::replace && change.weights.size() != area(n, m)))
      continue;
    const auto weight = [&](int r, int j) {
      const int seen = s.isCausal ? r + 1 : m;
      switch (change.kind) {
        case Kind::scale: return r == j ? change.factor : 0.0f;
        case Kind::mean: return 1 / static_cast<float>(n);
        case Kind::uniform: return j < seen ? 1 / static_cast<float>(seen) : 0.0f;
        default: return change.weights[area(r, m) + static_cast<std::size_t>(j)];
      }
    };
    float* const out = s.concat.data() + area(firstRow(s.inSource, i), d_) + head * headDim_;
    const float* from = s.v.data() + area(firstRow(s.inSource || s.isCross, i), d_) + head * headDim_;
    Numbers rows;
    for (int j = 0; j < count; ++j) {
      const float* const row = (isOfOutput ? out : from) + area(j, d_);
      rows.insert(rows.end(), row, row + headDim_);
    }
    for (int r = 0; r < n; ++r) {
      float* const to = out + area(r, d_);
      std::fill_n(to, headDim_, 0.0f);
      for (int j = 0; j < count; ++j)
        for (int c = 0; c < headDim_; ++c)
          to[c] += weight(r, j) * rows[area(j, headDim_) + static_cast<std::size_t>(c)];
    }
  }
}

void Model::attendOne(Stage& s, int sequence) {
  const bool keysInSource = s.inSource || s.isCross;
  const attention::Spec spec = specOf(s, sequence);
  const int n = spec.queryCount, m = spec.keyCount;
  const float scale = attention::scaleFactor(spec);
  const float* q = s.q.data() + area(firstRow(s.inSource, sequence), d_);
  const std::size_t keysAt = area(firstRow(keysInSource, sequence), d_);
  float* out = s.concat.data() + (q - s.q.data());
  float* weights = s.weights.data() + weightsAt(s, sequence);
  for (int h = 0; h < heads_; ++h, weights += area(n, m)) {
    const int column = h * headDim_;
    transpose(s.k.data() + keysAt + column, d_, m, headDim_, scale, head_.data());
    attention::kernels::product(kernel_,
                                {n, m, headDim_, q + column, d_, 1, head_.data(), m, weights, m, false});
    const float slope = spec.position == attention::Position::alibi ? attention::slopeOf(spec, h) : 0.0f;
    for (int i = 0; i < n; ++i) {
      float* row = weights + area(i, m);
      const int seen = s.isCausal ? i + 1 : m;
      if (slope != 0)
        for (int j = 0; j < seen; ++j) row[j] -= slope * static_cast<float>(std::abs(i - j));
      attention::kernels::softmax(kernel_, row, 1.0f, seen, nullptr, row);
      std::fill(row + seen, row + m, 0.0f);
    }
    attention::kernels::product(
        kernel_, {n, headDim_, m, weights, m, 1, s.v.data() + keysAt + column, d_, out + column, d_, false});
  }
}

/// With P the weights: ∂P = ∂O·Vᵀ, ∂S = P∘(∂P − P·∂P), ∂V = Pᵀ·∂O, ∂Q = ∂S·K, ∂K = ∂Sᵀ·Q.
void Model::attendOneBackward(Stage& s, int sequence) {
  const bool keysInSource = s.inSource || s.isCross;
  const attention::Spec spec = specOf(s, sequence);
  const int n = spec.queryCount, m = spec.keyCount;
  const float scale = attention::scaleFactor(spec);
  const std::size_t queriesAt = area(firstRow(s.inSource, sequence), d_),
                    keysAt = area(firstRow(keysInSource, sequence), d_);
  const float* weights = s.weights.data() + weightsAt(s, sequence);
  float* d = dScores_.data();
  for (int h = 0; h < heads_; ++h, weights += area(n, m)) {
    const std::size_t q = queriesAt + static_cast<size_t>(h * headDim_),
                      k = keysAt + static_cast<size_t>(h * headDim_);
    transpose(s.v.data() + k, d_, m, headDim_, 1.0f, head_.data());
    attention::kernels::product(kernel_, {n, m, headDim_, &dConcat_[q], d_, 1, head_.data(), m, d, m, false});
    for (int i = 0; i < n; ++i) {
      const float* p = weights + area(i, m);
      float* row = d + area(i, m);
      const float mean = dot(p, row, m);
      for (int j = 0; j < m; ++j) row[j] = scale * p[j] * (row[j] - mean);
    }
    attention::kernels::product(kernel_,
                                {m, headDim_, n, weights, 1, m, &dConcat_[q], d_, &dV_[k], d_, false});
    attention::kernels::product(kernel_, {n, headDim_, m, d, m, 1, &s.k[k], d_, &dQ_[q], d_, false});
    attention::kernels::product(kernel_, {m, headDim_, n, d, 1, m, &s.q[q], d_, &dK_[k], d_, false});
  }
}

/// Q, K and V of one sequence, and the parameters of the score, as tensors with heads.
attention::Inputs Model::inputsOf(const Stage& s, const attention::Spec& spec, std::size_t queriesAt,
                                  std::size_t keysAt) {
  toHeads(s.q.data() + queriesAt, spec.queryCount, heads_, headDim_, q_);
  toHeads(s.k.data() + keysAt, spec.keyCount, heads_, headDim_, k_);
  toHeads(s.v.data() + keysAt, spec.keyCount, heads_, headDim_, v_);
  attention::Inputs in;
  in.q = &q_, in.k = &k_, in.v = &v_;
  Tensor* to = scoreWeights_;
  for (const TensorId id : attention::mechanismOf(spec.score).parameters) {
    to->reshape(heads_, id == TensorId::v_a ? 1 : headDim_, headDim_);
    std::copy_n(at(s.p[placeOf(id)]), to->size(), to->data());
    in.*attention::tensorRow(id).given = to++;
  }
  return in;
}

/// Attention with any score and normaliser, computed by the steps of the layer.
void Model::attendOther(Stage& s, int sequence) {
  const attention::Spec spec = specOf(s, sequence);
  attention::Trace& trace = s.traces[static_cast<size_t>(sequence)];
  const std::size_t queriesAt = area(firstRow(s.inSource, sequence), d_),
                    keysAt = area(firstRow(s.inSource || s.isCross, sequence), d_);
  attention::forward(spec, inputsOf(s, spec, queriesAt, keysAt), trace, *scratch_);
  fromHeads(trace.headOutput, s.concat.data() + queriesAt);
  std::copy_n(trace.weights.data(), trace.weights.size(), s.weights.data() + weightsAt(s, sequence));
}

void Model::attendOtherBackward(Stage& s, int sequence) {
  const attention::Spec spec = specOf(s, sequence);
  const std::size_t queriesAt = area(firstRow(s.inSource, sequence), d_),
                    keysAt = area(firstRow(s.inSource || s.isCross, sequence), d_);
  const attention::Inputs in = inputsOf(s, spec, queriesAt, keysAt);
  toHeads(dConcat_.data() + queriesAt, spec.queryCount, heads_, headDim_, dOut_);
  const std::span<const TensorId> parameters = attention::mechanismOf(spec.score).parameters;
  attention::InputSet wanted = inputSet(TensorId::q) | inputSet(TensorId::k) | inputSet(TensorId::v);
  for (const TensorId id : parameters) wanted |= inputSet(id);
  const attention::Upstream upstream[] = {{TensorId::head_output, &dOut_}};
  attention::backward({spec, in, s.traces[static_cast<size_t>(sequence)]}, upstream, wanted, gradients_,
                      *backwardScratch_);
  fromHeads(gradients_[TensorId::q], &dQ_[queriesAt]);
  fromHeads(gradients_[TensorId::k], &dK_[keysAt]);
  fromHeads(gradients_[TensorId::v], &dV_[keysAt]);
  for (const TensorId id : parameters) {
    const Tensor& g = gradients_[id];
    float* to = gradientAt(s.p[placeOf(id)]);
    for (std::size_t n = 0; n < g.size(); ++n) to[n] += g.data()[n];
  }
}

void Model::attendBackward(Stage& s) {
  const bool keysInSource = s.inSource || s.isCross;
  const int own = rows(s.inSource), keys = rows(keysInSource);
  leaveBackward(s, branch_);
  productBackward(s.concat.data(), branch_.data(), own, s.p[3], dConcat_.data(), false);
  for (int i = 0; i < batch_->count(); ++i) isPlain_ ? attendOneBackward(s, i) : attendOtherBackward(s, i);
  rotate(dQ_, s.inSource, -1), rotate(dK_, keysInSource, -1);
  productBackward(s.h.data(), dQ_.data(), own, s.p[0], dH_.data(), false);
  const Numbers& from = s.isCross ? *memory_ : s.h;
  Numbers& to = s.isCross ? dMemory_ : dH_;
  productBackward(from.data(), dK_.data(), keys, s.p[1], to.data(), true);
  productBackward(from.data(), dV_.data(), keys, s.p[2], to.data(), true);
  normaliseBackward(s, dH_);
}

// --- Feed-forward

void Model::feed(Stage& s) {
  const int count = rows(s.inSource);
  product(s.h.data(), count, s.p[0], s.hidden.data());
  const float* bias = at(s.p[1]);
  for (int r = 0; r < count; ++r) {
    float* row = s.hidden.data() + area(r, hiddenDim_);
    for (int c = 0; c < hiddenDim_; ++c) row[c] = row[c] + bias[c] > 0.0f ? row[c] + bias[c] : 0.0f;
  }
  product(s.hidden.data(), count, s.p[2], branch_.data());
  const float* last = at(s.p[3]);
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < d_; ++c) branch_[area(r, d_) + static_cast<size_t>(c)] += last[c];
  leave(s, branch_);
}

void Model::feedBackward(Stage& s) {
  const int count = rows(s.inSource);
  leaveBackward(s, branch_);
  float *dFirst = gradientAt(s.p[1]), *dLast = gradientAt(s.p[3]);
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < d_; ++c) dLast[c] += branch_[area(r, d_) + static_cast<size_t>(c)];
  productBackward(s.hidden.data(), branch_.data(), count, s.p[2], dHidden_.data(), false);
  for (int r = 0; r < count; ++r) {
    float* row = dHidden_.data() + area(r, hiddenDim_);
    const float* hidden = s.hidden.data() + area(r, hiddenDim_);
    for (int c = 0; c < hiddenDim_; ++c) row[c] = hidden[c] > 0.0f ? row[c] : 0.0f, dFirst[c] += row[c];
  }
  productBackward(s.h.data(), dHidden_.data(), count, s.p[0], dH_.data(), false);
  normaliseBackward(s, dH_);
}

// --- The whole model

void Model::logits(float* out) const {
  const int count = batch_->rows();
  product(features_->data(), count, unembedding_, out);
  const float* bias = at(unembeddingBias_);
  for (int r = 0; r < count; ++r)
    for (int c = 0; c < classes_; ++c) out[area(r, classes_) + c] += bias[c];
}

Scores Model::ask() {
  const int count = batch_->rows();
  logits(probabilities_.data());
  Scores found;
  for (int r = 0; r < count; ++r) {
    float* row = probabilities_.data() + area(r, classes_);
    const int target = batch_->targets[static_cast<size_t>(r)];
    const float asked = target >= 0 ? row[target] : 0.0f;
    const attention::kernels::SoftmaxRow softmax =
        attention::kernels::softmax(kernel_, row, 1.0f, classes_, nullptr, row);
    if (target < 0) continue;
    found.loss += std::log(double{softmax.sum}) + double{softmax.max} - double{asked};
    ++found.asked;
    found.right += std::max_element(row, row + classes_) - row == target;
  }
  return found;
}

Scores Model::forward(const float* numbers, const Batch& batch, const Pass& pass) {
  now_ = numbers, batch_ = &batch, pass_ = pass;
  if (sourceEmbedding_ >= 0) embed(true);
  embed(false);
  for (Stage& s : stages_) {
    normalise(s);
    switch (s.kind) {
      case Stage::Kind::attend: attend(s); break;
      case Stage::Kind::feed: feed(s); break;
      case Stage::Kind::finish: (s.inSource ? memory_ : features_) = &s.h; break;
    }
  }
  return ask();
}

void Model::backward(const float* numbers, const Batch& batch, float scale, float* gradient) {
  now_ = numbers, batch_ = &batch, gradient_ = gradient;
  if (!transposed_) {
    for (const Parameter& p : parameters_)
      transpose(numbers + p.offset, p.columns, p.rows, p.columns, 1.0f, transposes_.data() + p.offset);
    transposed_ = true;
  }
  const int count = batch.rows();
  float* dBias = gradientAt(unembeddingBias_);
  for (int r = 0; r < count; ++r) {
    const int target = batch.targets[static_cast<size_t>(r)];
    const float* p = probabilities(r);
    float* row = dLogits_.data() + area(r, classes_);
    for (int c = 0; c < classes_; ++c) row[c] = target < 0 ? 0.0f : scale * p[c];
    if (target < 0) continue;
    row[target] -= scale;
    for (int c = 0; c < classes_; ++c) dBias[c] += row[c];
  }
  productBackward(features_->data(), dLogits_.data(), count, unembedding_, dH_.data(), false);
  std::fill_n(dStream_.data(), area(count, d_), 0.0f);
  std::fill_n(dSourceStream_.data(), area(batch.sourceRows(), d_), 0.0f);
  std::fill_n(dMemory_.data(), area(batch.sourceRows(), d_), 0.0f);
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Stage& s = stages_[i];
    switch (s.kind) {
      case Stage::Kind::attend: attendBackward(s); break;
      case Stage::Kind::feed: feedBackward(s); break;
      case Stage::Kind::finish: normaliseBackward(s, s.inSource ? dMemory_ : dH_); break;
    }
  }
  if (sourceEmbedding_ >= 0) embedBackward(true);
  embedBackward(false);
}

}  // namespace training
