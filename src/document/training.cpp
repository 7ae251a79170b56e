#include "document/training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "attention/steps/forward.h"
#include "base/number.h"
#include "base/sentence.h"

namespace document {
namespace {

double millisecondsNow() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Makes Q, K and V of a layer its inputs, as in a recording; where its score has weights of its own, which
/// layers cannot share, its scores take their place.
void recordLayer(State& s) {
  attention::Trace trace;
  attention::forward(spec(s), inputs(s), trace);
  s.mode = Mode::qkv;
  s.q = std::move(trace.q), s.k = std::move(trace.k), s.v = std::move(trace.v);
  if (!takesScoreWeights(s.score)) return;
  s.score = attention::Score::dot, s.scoreWeights = false;
  for (Tensor* unused : {&s.wA, &s.uA, &s.vA}) *unused = {};
  for (Tensor* zero : {&s.q, &s.k}) std::ranges::fill(zero->values(), 0.0f);
  s.biasKind = Bias::perHead, s.bias = std::move(trace.scores);
}

/// Appends a layer to those before it, of the same shapes.
void addLayer(State& all, State layer) {
  BatchItem& item = all.items.emplace_back();
  item.labels = std::move(layer.labels), item.keyLabels = std::move(layer.keyLabels);
  for (const attention::TensorId id : itemInputIds())
    if (hasInput(all, id)) *input(item, id) = std::move(*input(layer, id));
  all.batch = static_cast<int>(all.items.size()), all.batchOf = BatchOf::layers;
}

}  // namespace

Result<void> checkTraining(const Settings& settings, bool sentencesToo) {
  if (auto ok = training::validate(settings.training); !ok) return ok;
  if (!sentencesToo || settings.training.sentences.empty()) return {};
  const auto examples = training::Examples::of(settings.training);
  if (!examples) return examples.error();
  return {};
}

Result<State> layerOf(const State& before, const training::Trainer& trainer, std::span<const float> numbers,
                      const training::Answer& answer, int attention) {
  const training::Answer::Map& map = answer.maps[static_cast<std::size_t>(attention)];
  const training::Setup& setup = trainer.setup();
  const training::Examples& examples = trainer.examples();
  using Place = training::AttentionPlace::Kind;
  State s;
  copyView(s, before);
  s.view = View::layer, s.mode = Mode::x, s.focusHead = 0, s.step = 0;
  s.training = before.training;
  s.tokens = map.queries, s.keyTokens = map.keys, s.cross = map.place.kind == Place::cross;
  s.heads = s.kvHeads = setup.heads, s.headDim = s.valueDim = setup.modelDim / setup.heads,
  s.modelDim = setup.modelDim;
  s.score = setup.score, s.normalizer = setup.normalizer;
  s.causal = map.place.kind == Place::own && (setup.causal || training::isTranslation(setup));
  if (setup.position == training::Positions::rotary) s.position = attention::Position::rotary;
  if (setup.position == training::Positions::alibi && !s.cross) s.position = attention::Position::alibi;
  const auto labels = [](const std::vector<int>& tokens, const std::vector<std::string>& words) {
    std::vector<std::string> out;
    for (const int t : tokens) out.push_back(words[static_cast<std::size_t>(t)]);
    return out;
  };
  const auto& sequence = answer.sequence;
  s.labels = map.place.kind == Place::encoder ? labels(sequence.source, examples.sourceWords)
                                              : labels(sequence.tokens, examples.words);
  if (s.cross) s.keyLabels = labels(sequence.source, examples.sourceWords);
  const auto tensor = [](int heads, int rows, int columns, const float* from) {
    Tensor t(heads, rows, columns);
    if (from) std::copy_n(from, t.size(), t.data());
    return t;
  };
  s.x = tensor(1, map.queries, s.modelDim, map.x.data());
  if (s.cross) s.xKv = tensor(1, map.keys, s.modelDim, map.memory.data());
  const auto places = trainer.model().weightsOf(attention);
  Tensor* const matrices[] = {&s.wQ, &s.wK, &s.wV, &s.wO, &s.wA, &s.uA, &s.vA};
  s.scoreWeights = takesScoreWeights(s.score);
  for (int i = 0; i < 7; ++i) {
    const int at = places[static_cast<std::size_t>(i)];
    const bool isProjection = i < 4;
    const float* from =
        at < 0 ? nullptr : numbers.data() + trainer.model().parameters()[static_cast<std::size_t>(at)].offset;
    if (isProjection) *matrices[i] = tensor(1, s.modelDim, s.modelDim, from);
    else if (s.scoreWeights) *matrices[i] = tensor(s.heads, i == 6 ? 1 : s.headDim, s.headDim, from);
  }
  s.q = tensor(s.heads, s.tokens, s.headDim, nullptr);
  s.k = s.v = tensor(s.heads, s.keyTokens, s.headDim, nullptr);
  if (auto ok = check(s); !ok) return ok.error();
  return s;
}

Result<void> checkLength(std::string_view field, std::size_t count, int longest) {
  if (count <= static_cast<std::size_t>(longest)) return {};
  return base::refuse(Error::Kind::range, field,
                      {count, " tokens are too many for the model; use at most ", longest, "."});
}

Result<std::vector<int>> idsOf(std::string_view field, std::span<const std::string> words,
                               const std::vector<std::string>& vocabulary, int longest) {
  std::vector<int> ids;
  for (const std::string& word : words) {
    const auto at = std::find(vocabulary.begin(), vocabulary.end(), word);
    if (at == vocabulary.end())
      return base::refuse(Error::Kind::range, field,
                          {base::inQuotes(word), " is not among the ", vocabulary.size(),
                           " words of the model; the nearest are ",
                           base::either(base::nearest(word, vocabulary, 3)), "."})
          .error();
    ids.push_back(static_cast<int>(at - vocabulary.begin()));
  }
  if (ids.empty()) return base::refuse(Error::Kind::range, field, {"it has no word."}).error();
  if (auto ok = checkLength(field, ids.size(), longest); !ok) return ok.error();
  return ids;
}

Result<std::vector<int>> targetsOf(std::string_view field, std::span<const std::string> words,
                                   const std::vector<std::string>& classes, std::size_t count,
                                   std::size_t at) {
  std::vector<int> targets;
  for (const std::string& word : words) {
    const auto named = std::find(classes.begin(), classes.end(), word);
    const auto number = base::parseFloat(word);
    const bool isNumber = number && *number >= 0 && *number < static_cast<float>(classes.size()) &&
                          *number == std::floor(*number);
    if (word != "-" && named == classes.end() && !isNumber)
      return base::refuse(Error::Kind::range, field,
                          {base::inQuotes(word), " is not among the ", classes.size(),
                           " classes of the model; the nearest are ",
                           base::either(base::nearest(word, classes, 3)), "."})
          .error();
    targets.push_back(word == "-"              ? -1
                      : named != classes.end() ? static_cast<int>(named - classes.begin())
                                               : static_cast<int>(*number));
  }
  if (targets.size() == count) return targets;
  if (targets.size() != 1)
    return base::refuse(Error::Kind::range, field,
                        {"there are ", targets.size(), "; give one, for one token alone, or ", count,
                         ", one for each token."})
        .error();
  std::vector<int> alone(count, -1);
  alone[at] = targets.front();
  return alone;
}

Result<training::Sequence> sequenceOf(const training::Trainer& trainer, const Settings& board) {
  const training::Examples& examples = trainer.examples();
  training::Sequence sequence;
  auto ids = idsOf("labels", board.labels, examples.words, examples.longest);
  if (!ids) return ids.error();
  sequence.tokens = std::move(*ids);
  if (training::isTranslation(trainer.setup())) {
    auto source = idsOf("key_labels", board.keyLabels, examples.sourceWords, examples.longestSource);
    if (!source) return source.error();
    sequence.source = std::move(*source);
  }
  for (const training::Sequence& held : examples.heldOut)
    if (held.tokens == sequence.tokens && held.source == sequence.source) return held;
  sequence.targets.assign(sequence.tokens.size(), -1);
  sequence.looks = sequence.targets;
  return sequence;
}

Result<State> recordingOf(const State& before, const training::Trainer& trainer,
                          std::span<const float> numbers, const training::Answer& answer) {
  using Place = training::AttentionPlace::Kind;
  const Place wanted = training::isTranslation(trainer.setup()) ? Place::cross : Place::own;
  State all;
  bool isFirst = true;
  for (std::size_t a = 0; a < answer.maps.size(); ++a) {
    if (answer.maps[a].place.kind != wanted) continue;
    Result<State> layer = layerOf(before, trainer, numbers, answer, static_cast<int>(a));
    if (!layer) return layer.error();
    recordLayer(*layer);
    if (std::exchange(isFirst, false)) {
      all = *layer;
      all.view = before.view;
      all.items.emplace_back();  // of the layer on the board
    } else {
      addLayer(all, std::move(*layer));
    }
  }
  if (all.items.size() == 1) all.items.clear();
  if (auto ok = check(all); !ok) return ok.error();
  return all;
}

training::Trainer* Training::ofLearned() {
  return training::learnedNumbers(state_.training) ? run() : nullptr;
}

training::Trainer* Training::run() {
  training::Setup asked = state_.training;
  asked.rate = made_.rate;
  if (tried_ && asked == made_) {
    if (trainer_ && state_.training.rate != made_.rate && !trainer_->stopped())
      trainer_->setRate(made_.rate = state_.training.rate);
    if (trainer_ && state_.training.rate == made_.rate) return trainer_.get();
  }
  reset();
  return trainer_.get();
}

void Training::reset() {
  made_ = state_.training, tried_ = true;
  auto made = training::Trainer::of(made_);
  trainer_ = made ? std::move(*made) : nullptr;
  error_ = made ? std::nullopt : std::optional<Error>(made.error());
  ++number_;
  wanted = 0;
  sentence = 0;
  if (!trainer_) return;
  const auto& own = trainer_->examples().own;
  if (!own.empty()) sentence = static_cast<int>(trainer_->examples().heldOut.size());
}

bool Training::slice(int steps, double milliseconds) {
  training::Trainer* trainer = run();
  if (!trainer || trainer->stopped()) return false;
  const double began = millisecondsNow();
  double now = began;
  while (now - began + pieceMs_ < milliseconds || now == began) {
    if (trainer->steps() >= steps && trainer->isWhole()) return false;
    trainer->advance();
    const double after = millisecondsNow();
    sliceMs_ = after - began;
    if (trainer->stopped()) return false;
    pieceMs_ +=
        0.2 * (after - now - pieceMs_);  // a moving average, so that a single delayed piece has little effect
    now = after;
  }
  return true;
}

const training::Sequence& Training::chosen(const training::Trainer& trainer) const {
  const auto& held = trainer.examples().heldOut;
  const auto& own = trainer.examples().own;
  const auto at = static_cast<std::size_t>(std::max(sentence, 0));
  return at < held.size() ? held[at] : at - held.size() < own.size() ? own[at - held.size()] : held[0];
}

Result<const Tensor*> Training::tensor(std::string_view name) {
  training::Trainer* trainer = run();
  if (!trainer) return *error_;
  if (name == "train:loss") {
    const auto points = trainer->history().points();
    const auto measures = trainer->history().measures();
    tensor_ = Tensor(1, static_cast<int>(points.size()), 3);
    std::size_t m = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      while (m + 1 < measures.size() && measures[m + 1].step <= points[i].step) ++m;
      float* row = tensor_.row(0, static_cast<int>(i));
      row[0] = static_cast<float>(points[i].step), row[1] = points[i].loss,
      row[2] = measures.empty() ? 0 : measures[m].loss;
    }
    return &tensor_;
  }
  constexpr std::string_view kWeights = "train:weights:";
  const int layers = static_cast<int>(trainer->model().attentions().size());
  const int layer = name.starts_with(kWeights) && name.size() == kWeights.size() + 1 ? name.back() - '0' : 0;
  if (layer < 1 || layer > layers) {
    return base::refuse(
               Error::Kind::range, "tensor",
               {"there is no ", base::inQuotes(name), "; use ",
                base::joined({"\"train:loss\", or \"train:weights:1\" to \"train:weights:", layers, "\""}),
                "."})
        .error();
  }
  training::Answer answer;
  trainer->answer(chosen(*trainer), trainer->numbers(), 0, answer);
  const training::Answer::Map& map = answer.maps[static_cast<std::size_t>(layer - 1)];
  tensor_ = Tensor(state_.training.heads, map.queries, map.keys);
  std::copy(map.weights.begin(), map.weights.end(), tensor_.data());
  return &tensor_;
}

}  // namespace document
