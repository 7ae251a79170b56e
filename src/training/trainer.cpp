#include "training/trainer.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "attention/mechanisms/mechanism.h"
#include "base/number.h"
#include "base/sentence.h"

namespace training {
namespace {

/// Multiplications per piece of work: takes a quarter of a time slice in the slowest browser measured.
constexpr double kPiece = 3e6;

int chunkOf(const Setup& setup, const Examples& examples) {
  const double work = 3 * Model(setup, examples, 0, attention::kernels::Kernel::scalar).work();
  return std::clamp(static_cast<int>(kPiece / work), 1, std::max(setup.batch, 8));
}

}  // namespace

Trainer::Trainer(const Setup& setup, Examples examples, int chunk, attention::kernels::Kernel kernel)
    : setup_(setup),
      examples_(std::move(examples)),
      chunk_(chunk),
      model_(setup_, examples_, chunk, kernel),
      history_(model_.size()),
      updater_(setup.optimizer, setup.rate, model_.size()),
      numbers_(model_.size()),
      gradient_(model_.size()),
      drawn_(static_cast<std::size_t>(setup.batch)) {
  if (const std::vector<float>* learned = learnedNumbers(setup)) numbers_ = *learned;
  else model_.initialise(numbers_.data());
  before_ = numbers_;
  begin(measuring_, 0);
}

Result<std::unique_ptr<Trainer>> Trainer::of(const Setup& setup, attention::kernels::Kernel kernel) {
  if (auto ok = validate(setup); !ok) return ok.error();
  Result<Examples> examples = Examples::of(setup);
  if (!examples) return examples.error();
  if (const std::size_t count = Model::count(setup, *examples); count > Limits::parameters) {
    return base::refuse(Error::Kind::memory, "train_d_model",
                        {"the model would have ", count, " parameters, and may have ", Limits::parameters,
                         "; use a smaller d_model or fewer layers."})
        .error();
  }
  assert(!learnedNumbers(setup) || learnedNumbers(setup)->size() == Model::count(setup, *examples));
  const int chunk = chunkOf(setup, *examples);
  return std::unique_ptr<Trainer>(new Trainer(setup, std::move(*examples), chunk, kernel));
}

void Trainer::setRate(double rate) { updater_.setRate(setup_.rate = rate); }

void Trainer::beginStep() {
  asked_ = 0, found_ = {};
  for (int i = 0; i < setup_.batch; ++i) {
    Sequence& s = drawn_[static_cast<std::size_t>(i)];
    examples_.draw(static_cast<std::uint64_t>(steps_) * static_cast<std::uint64_t>(setup_.batch) +
                       static_cast<std::uint64_t>(i),
                   s);
    asked_ +=
        static_cast<int>(std::count_if(s.targets.begin(), s.targets.end(), [](int t) { return t >= 0; }));
  }
  std::fill(gradient_.begin(), gradient_.end(), 0.0f);
  model_.parametersChanged();
}

void Trainer::stop(const char* what) {
  const int bad = steps_ + 1;
  if (steps_ > 0) {
    std::copy(before_.begin(), before_.end(), numbers_.begin());
    --steps_;
    history_.backTo(steps_);
  }
  stopped_ =
      base::refuse(Error::Kind::range, "train_rate",
                   {"at step ", bad, " the ", what, " was not a finite number, so the run went back to step ",
                    steps_, "; use a lower rate than ", base::shortest(setup_.rate), " and begin anew."})
          .error();
  done_ = 0, measuring_.isOn = false;
}

bool Trainer::endStep() {
  done_ = 0;
  double square = 0;
  for (const float g : gradient_) square += double{g} * double{g};
  const double loss = found_.loss / asked_;
  if (!std::isfinite(loss) || !std::isfinite(square))
    return stop(std::isfinite(loss) ? "gradient" : "loss"), true;
  std::copy(numbers_.begin(), numbers_.end(), before_.begin());
  updater_.apply(numbers_, gradient_);
  ++steps_;
  history_.add(Point{steps_, static_cast<float>(loss),
                     static_cast<float>(found_.right) / static_cast<float>(asked_),
                     static_cast<float>(std::sqrt(square))});
  if (isDue()) begin(measuring_, 0);
  return !measuring_.isOn;
}

/// A measurement takes as long as one to four steps, so one is due after each of the first steps, then
/// whenever the step count has grown by a tenth.
bool Trainer::isDue() const {
  const auto measures = history_.measures();
  return measures.empty() || steps_ >= measures.back().step + std::max(1, measures.back().step / 10);
}

bool Trainer::advance() {
  if (stopped_) return true;
  if (measuring_.isOn) {
    if (!go(measuring_, numbers_)) return false;
    history_.add(measuring_.measure);
    losses_ = measuring_.losses;
    history_.keep(steps_, numbers_);
    return steps_ > 0;
  }
  if (done_ == 0) beginStep();
  batch_.clear();
  const int end = std::min(done_ + chunk_, setup_.batch);
  for (; done_ < end; ++done_) batch_.add(drawn_[static_cast<std::size_t>(done_)]);
  Model::Pass pass;
  pass.drops = true,
  pass.number = static_cast<std::uint64_t>(steps_) * Limits::batch + static_cast<std::uint64_t>(end);
  found_.add(model_.forward(numbers_.data(), batch_, pass));
  model_.backward(numbers_.data(), batch_, 1.0f / static_cast<float>(asked_), gradient_.data());
  return done_ == setup_.batch && endStep();
}

void Trainer::run(int steps) {
  while (!stopped_ && (steps_ < steps || measuring_.isOn)) advance();
}

// --- Measures

void Trainer::begin(Progress& p, std::uint64_t hidden) const {
  std::vector<double> looks = std::move(p.looks);
  std::vector<float> losses = std::move(p.losses);
  losses.clear();
  looks.assign(model_.attentions().size() * static_cast<std::size_t>(setup_.heads), 0.0);
  p = {};
  p.looks = std::move(looks), p.losses = std::move(losses);
  p.isOn = true, p.hidden = hidden, p.measure.step = steps_;
}

void Trainer::lookAtSaws(Progress& p) const {
  for (int r = 0; r < batch_.rows(); ++r) {
    const auto row = static_cast<std::size_t>(r);
    const int target = batch_.targets[row];
    if (batch_.tokens[row] != examples_.saw || (target != examples_.noun && target != examples_.verb))
      continue;
    const float* chances = model_.probabilities(r);
    const int said = static_cast<int>(std::max_element(chances, chances + model_.classes()) - chances),
              isVerb = target == examples_.verb;
    ++p.saws, p.sawRight += said == target;
    if (said == examples_.noun || said == examples_.verb)
      ++p.measure.confusion[isVerb][said == examples_.verb];
    (isVerb ? p.verbSum : p.nounSum) += double{chances[examples_.noun]}, ++(isVerb ? p.verbs : p.nouns);
  }
}

void Trainer::lookAtHeads(Progress& p) const {
  const auto attentions = model_.attentions();
  const auto heads = static_cast<std::size_t>(setup_.heads);
  for (int s = 0; s < batch_.count(); ++s) {
    const int first = batch_.begins[static_cast<std::size_t>(s)],
              count = batch_.begins[static_cast<std::size_t>(s) + 1] - first;
    for (int i = 0; i < count; ++i) {
      const int look = batch_.looks[static_cast<std::size_t>(first + i)];
      if (look < 0) continue;
      ++p.looked;
      for (std::size_t a = 0; a < attentions.size(); ++a) {
        if (batch_.sourceRows() > 0 && attentions[a].kind != AttentionPlace::Kind::cross) continue;
        const int attention = static_cast<int>(a);
        for (std::size_t h = 0; h < heads; ++h) {
          p.looks[a * heads + h] += double{model_.weights(
              attention, s, static_cast<int>(h))[std::ptrdiff_t{i} * model_.keys(attention, s) + look]};
        }
      }
    }
  }
}

/// Measures some more of the sequences; true once all are done.
bool Trainer::go(Progress& p, std::span<const float> numbers) {
  const auto& held = examples_.heldOut;
  batch_.clear();
  const std::size_t end = std::min(p.sequences + static_cast<std::size_t>(chunk_), held.size());
  for (; p.sequences < end; ++p.sequences) batch_.add(held[p.sequences]);
  Model::Pass pass;
  pass.hidden = p.hidden;
  p.scores.add(model_.forward(numbers.data(), batch_, pass));
  examples_.saw >= 0 ? lookAtSaws(p) : lookAtHeads(p);
  for (int b = 0; b < batch_.count(); ++b) {
    double sum = 0;
    int asked = 0;
    for (int r = batch_.begins[static_cast<std::size_t>(b)];
         r < batch_.begins[static_cast<std::size_t>(b) + 1]; ++r) {
      const int target = batch_.targets[static_cast<std::size_t>(r)];
      if (target >= 0) sum -= std::log(std::max(double{model_.probabilities(r)[target]}, 1e-30)), ++asked;
    }
    p.losses.push_back(static_cast<float>(sum / std::max(asked, 1)));
  }
  if (p.sequences < held.size()) return false;
  const auto share = [](double part, int of) { return static_cast<float>(part / of); };
  Measure& m = p.measure;
  m.loss = share(p.scores.loss, p.scores.asked), m.accuracy = share(p.scores.right, p.scores.asked);
  if (p.saws > 0) m.watched = share(p.sawRight, p.saws);
  if (p.nouns > 0) m.sawNoun = share(p.nounSum, p.nouns);
  if (p.verbs > 0) m.sawVerb = share(p.verbSum, p.verbs);
  if (p.looked > 0) m.watched = share(*std::max_element(p.looks.begin(), p.looks.end()), p.looked);
  p.isOn = false;
  return true;
}

const Measure& Trainer::measure() {
  const auto measures = history_.measures();
  if (measures.empty() || measures.back().step != steps_) {
    const Measure made = measureOf(numbers_, 0);
    history_.add(made);
    history_.keep(steps_, numbers_);
  }
  return history_.measures().back();
}

Measure Trainer::measureOf(std::span<const float> numbers, std::uint64_t hidden) {
  begin(looking_, hidden);
  while (!go(looking_, numbers)) {}
  return looking_.measure;
}

void Trainer::answer(const Sequence& sequence, std::span<const float> numbers, std::uint64_t hidden,
                     Answer& out) {
  Model::Pass pass;
  pass.hidden = hidden;
  answer(sequence, numbers, pass, out);
}

void Trainer::answer(const Sequence& sequence, std::span<const float> numbers,
                     std::span<const Model::HeadChange> changes, Answer& out) {
  Model::Pass pass;
  pass.changes = changes;
  answer(sequence, numbers, pass, out);
}

void Trainer::answer(const Sequence& sequence, std::span<const float> numbers, const Model::Pass& pass,
                     Answer& out) {
  out.sequence = sequence;
  const auto likeliest = [&](int row) {
    const float* p = model_.probabilities(row);
    return static_cast<int>(std::max_element(p, p + model_.classes()) - p);
  };
  // Where only a translation is asked for, appends the most likely word until the end token or the maximal
  // length.
  const bool isAsked = !sequence.source.empty() && sequence.targets.size() == 1 && sequence.targets[0] < 0;
  Scores found;
  for (;;) {
    batch_.clear(), batch_.add(out.sequence);
    found = model_.forward(numbers.data(), batch_, pass);
    const int next = likeliest(batch_.rows() - 1);
    if (!isAsked || examples_.words[static_cast<std::size_t>(next)] == "." ||
        batch_.rows() >= examples_.longest)
      break;
    out.sequence.tokens.push_back(next), out.sequence.targets.push_back(-1), out.sequence.looks.push_back(-1);
  }
  const int rows = batch_.rows();
  out.probabilities.assign(model_.probabilities(0),
                           model_.probabilities(0) + std::ptrdiff_t{rows} * model_.classes());
  out.said.clear();
  for (int r = 0; r < rows; ++r) out.said.push_back(likeliest(r));
  out.loss = found.asked > 0 ? static_cast<float>(found.loss / found.asked) : 0;
  out.wrong = found.asked - found.right;
  out.maps.resize(model_.attentions().size());
  const bool sumsToOne = attention::mechanismOf(setup_.normalizer).sumsToOne;
  for (std::size_t a = 0; a < out.maps.size(); ++a) {
    const int attention = static_cast<int>(a);
    Answer::Map& map = out.maps[a];
    map.place = model_.attentions()[a];
    map.queries = model_.queries(attention, 0), map.keys = model_.keys(attention, 0);
    const std::ptrdiff_t count = std::ptrdiff_t{setup_.heads} * map.queries * map.keys;
    map.weights.assign(model_.weights(attention, 0, 0), model_.weights(attention, 0, 0) + count);
    map.x.assign(model_.input(attention, 0),
                 model_.input(attention, 0) + std::ptrdiff_t{map.queries} * setup_.modelDim);
    map.memory.clear();
    map.tags.clear();
    if (map.place.kind == AttentionPlace::Kind::cross) {
      map.memory.assign(model_.memory(attention, 0),
                        model_.memory(attention, 0) + std::ptrdiff_t{map.keys} * setup_.modelDim);
      continue;
    }
    const bool isOwn = map.place.kind == AttentionPlace::Kind::own;
    const std::vector<int>& tokens = isOwn ? out.sequence.tokens : out.sequence.source;
    const bool causal = isOwn && (setup_.causal || isTranslation(setup_));
    const std::span<const int> asked(tokens.data(), static_cast<std::size_t>(map.queries));
    for (int h = 0; sumsToOne && h < setup_.heads; ++h)
      map.tags.push_back(
          attention::tagOf(map.weights.data() + std::ptrdiff_t{h} * map.queries * map.keys, asked, causal));
  }
}

Trainer::Said Trainer::saidOf(const Measure& measure) const {
  Said out{};
  for (const Sequence& s : examples_.heldOut) {
    for (std::size_t i = 0; i < s.tokens.size(); ++i) {
      if (s.tokens[i] != examples_.saw) continue;
      if (s.targets[i] == examples_.noun) ++out[0][2];
      if (s.targets[i] == examples_.verb) ++out[1][2];
    }
  }
  for (std::size_t is = 0; is < 2; ++is) {
    for (std::size_t said = 0; said < 2; ++said)
      out[is][said] = measure.confusion[is][said], out[is][2] -= out[is][said];
  }
  return out;
}

std::vector<float> Trainer::logits() const {
  std::vector<float> out(static_cast<std::size_t>(batch_.rows()) *
                         static_cast<std::size_t>(model_.classes()));
  model_.logits(out.data());
  return out;
}

std::size_t Trainer::bytes() const {
  return model_.bytes() + history_.bytes() +
         (numbers_.capacity() + gradient_.capacity() + before_.capacity()) * sizeof(float);
}

}  // namespace training
