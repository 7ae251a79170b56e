#include "files/layout/trained_model.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "attention/steps/forward.h"
#include "base/number.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/option.h"
#include "document/text.h"
#include "document/training.h"
#include "files/layout/state_tensors.h"
#include "training/divergence.h"

namespace files {
namespace {

using document::Json;
using ErrorKind = Error::Kind;
using Words = std::vector<std::string>;

constexpr int kMostHeads = 64;  // bits of training::Model::Pass::hidden

constexpr std::string_view kOptions = kModelTexts[0], kVocabulary = kModelTexts[1], kClasses = kModelTexts[2],
                           kSourceVocabulary = kModelTexts[3];

bool isOfTraining(const document::Option& option) {
  return option.name.starts_with("train_") && option.stored != document::Stored::never;
}

/// {"train_task": "sort", "train_layers": 2, …}: all that differ from their defaults, and the task.
std::string optionsOf(const training::Setup& setup) {
  document::Settings settings;
  settings.training = setup;
  std::string out;
  for (const document::Option& option : document::options())
    if (isOfTraining(option) &&
        (option.id == document::OptionId::train_task || !document::isDefault(settings, option.id)))
      out += base::joined({out.empty() ? "{" : ", ", "\"", option.name,
                           "\": ", document::toJson(document::get(settings, option.id))});
  return out + "}";
}

Stored textsOf(std::string_view name, Words texts) {
  Stored out;
  out.name = name, out.type = Type::text;
  out.shape = {static_cast<std::int64_t>(texts.size())};
  out.texts = std::move(texts);
  return out;
}

/// A text of the file, which some formats hold as a tensor and others as a note; null if there is none.
const std::string* textIn(const StoredFile& file, std::string_view name) {
  for (const auto& [key, text] : file.notes)
    if (key == name) return &text;
  for (const Stored& tensor : file.tensors)
    if (tensor.name == name && tensor.texts.size() == 1) return &tensor.texts.front();
  return nullptr;
}

Result<document::Value> valueOf(const document::Option& option, const Json& json) {
  switch (json.kind) {
    case Json::Kind::boolean: return document::Value(json.boolean);
    case Json::Kind::number: return document::Value(json.number);
    case Json::Kind::text: return document::Value(json.text);
    default: break;
  }
  return base::refuse(ErrorKind::type, option.name, {document::described(json), " is no value of it."})
      .error();
}

Result<training::Setup> setupFrom(const std::string& text) {
  document::JsonText json;
  if (auto ok = document::parseJson(text, {}, json); !ok) return ok.error();
  document::Settings settings;
  for (std::size_t i = 0; i < json.root.keys.size(); ++i) {
    const std::string& name = json.root.keys[i];
    const document::Option* const option = document::optionNamed(name);
    if (!option || !isOfTraining(*option))
      return base::refuse(ErrorKind::range, kOptions,
                          {base::inQuotes(name), " is not an option of a training run."})
          .error();
    const Result<document::Value> value = valueOf(*option, json.root.items[i]);
    if (!value) return value.error();
    if (auto ok = document::checkAlone(*option, *value); !ok) return ok.error();
    document::assign(settings, option->id, *value);
  }
  return settings.training;
}

std::string shapeOf(const training::Parameter& p) {
  return base::shapeText(p.rows == 1 ? Shape{p.columns} : Shape{p.rows, p.columns});
}

/// Reads a parameter to where it belongs.
Result<void> take(const StoredFile& file, const training::Parameter& p, float* out) {
  const auto at = std::find_if(file.tensors.begin(), file.tensors.end(),
                               [&](const Stored& tensor) { return tensor.name == p.name; });
  if (at == file.tensors.end())
    return base::refuse(ErrorKind::range, p.name, {"it is missing; the model needs it, ", shapeOf(p), "."});
  const Result<Array> array = arrayOf(*at);
  if (!array) return array.error();
  if (base::shapeText(array->shape) != shapeOf(p))
    return base::refuse(
        ErrorKind::range, p.name,
        {"its shape is ", base::shapeText(array->shape), "; the model needs ", shapeOf(p), "."});
  std::copy(array->values.begin(), array->values.end(), out);
  return {};
}

/// "3,1,4".
Result<std::vector<int>> idsFrom(std::string_view field, const std::string& text, const Words& vocabulary,
                                 int longest) {
  std::vector<int> ids;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const auto number = base::parseFloat(rest.substr(0, end));
    const int id = number && *number >= 0 && *number < 1e6f ? static_cast<int>(*number) : -1;
    if (id < 0 || static_cast<float>(id) != *number || id >= static_cast<int>(vocabulary.size()))
      return base::refuse(ErrorKind::range, field,
                          {base::inQuotes(rest.substr(0, end)), " is no token; give ids from 0 to ",
                           vocabulary.size() - 1, ", as in ", field, "=3,1,4."})
          .error();
    ids.push_back(id);
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  if (auto ok = document::checkLength(field, ids.size(), longest); !ok) return ok.error();
  return ids;
}

/// "a,b c" as words.
Words wordsOf(std::string list) {
  std::ranges::replace(list, ',', ' ');
  return document::splitTokens(list);
}

NamedArray named(std::string name, Shape shape, std::vector<float> values) {
  NamedArray out;
  out.name = std::move(name), out.shape = std::move(shape), out.values = std::move(values);
  return out;
}

NamedArray idsAs(std::string name, const std::vector<int>& ids) {
  return named(std::move(name), {static_cast<std::int64_t>(ids.size())}, {ids.begin(), ids.end()});
}

/// "layers.0", of the parameter "layers.0.w_q".
std::string_view layerName(const training::Model& model, std::size_t attention) {
  const std::string_view first =
      model.parameters()[static_cast<std::size_t>(model.weightsOf(static_cast<int>(attention))[0])].name;
  return first.substr(0, first.rfind('.'));
}

Result<NamedArray> unknown(const std::string& name, const Words& all) {
  return base::refuse(ErrorKind::range, "--outputs",
                      {base::inQuotes(name), " is not an output of the model; perhaps ",
                       base::either(base::nearest(name, all, 3)), " was meant."})
      .error();
}

}  // namespace

StoredFile storedOf(const training::Trainer& trainer) {
  StoredFile file;
  for (const training::Parameter& p : trainer.model().parameters()) {
    const Shape shape = p.rows == 1 ? Shape{p.columns} : Shape{p.rows, p.columns};
    const float* const from = trainer.numbers().data() + p.offset;
    Stored& tensor = file.tensors.emplace_back();  // its numbers are those of the trainer, which outlives it
    tensor.name = p.name, tensor.shape = shape;
    tensor.bytes = {reinterpret_cast<const char*>(from), p.size() * sizeof(float)};
  }
  Stored options = textsOf(kOptions, {optionsOf(trainer.setup())});
  options.shape.clear();
  file.tensors.push_back(std::move(options));
  const training::Examples& examples = trainer.examples();
  file.tensors.push_back(textsOf(kVocabulary, examples.words));
  file.tensors.push_back(textsOf(kClasses, examples.classes));
  if (!examples.sourceWords.empty()) file.tensors.push_back(textsOf(kSourceVocabulary, examples.sourceWords));
  return file;
}

bool TrainedModel::isIn(const StoredFile& file) { return textIn(file, kOptions) != nullptr; }

Result<TrainedModel> TrainedModel::of(const StoredFile& file) {
  const std::string* const options = textIn(file, kOptions);
  if (!options)
    return base::refuse(
               ErrorKind::range, kOptions,
               {"the file has no model as attn train writes it; without its options the numbers "
                "cannot be run. A model of another architecture runs in PyTorch, and record() of the "
                "Python package shows its attention."})
        .error();
  const Result<training::Setup> setup = setupFrom(*options);
  if (!setup) return setup.error();
  auto made = training::Trainer::of(*setup);
  if (!made) return made.error();
  TrainedModel model;
  model.trainer_ = std::move(*made);
  model.numbers_.resize(model.trainer_->model().size());
  for (const training::Parameter& p : model.trainer_->model().parameters())
    if (auto ok = take(file, p, model.numbers_.data() + p.offset); !ok) return ok.error();
  return model;
}

Result<training::Sequence> TrainedModel::sequenceOf(const Input& input) const {
  const training::Examples& examples = trainer_->examples();
  const bool translates = training::isTranslation(trainer_->setup());
  training::Sequence sequence;
  const auto put = [](std::vector<int>& to, Result<std::vector<int>> ids) -> Result<void> {
    if (!ids) return ids.error();
    to = std::move(*ids);
    return {};
  };
  std::vector<int>& read = translates ? sequence.source : sequence.tokens;
  const Words& words = translates ? examples.sourceWords : examples.words;
  const std::string_view field = translates ? "source" : "tokens";
  const std::string& ids = translates ? input.source : input.tokens;
  if (ids.empty() == input.text.empty())
    return base::refuse(ErrorKind::range, field,
                        {ids.empty() ? "it is missing; give ids, as in --set "
                                     : "give either these or --text, not both: --set ",
                         field, "=3,1,4, or words, as in --text ", base::inQuotes(words.front()), "."})
        .error();
  const int longest = translates ? examples.longestSource : examples.longest;
  if (auto ok =
          put(read, ids.empty() ? document::idsOf("--text", document::splitTokens(input.text), words, longest)
                                : idsFrom(field, ids, words, longest));
      !ok)
    return ok.error();
  if (translates && input.tokens.empty()) sequence.tokens = {0};  // the sign of the beginning
  else if (translates)
    if (auto ok = put(sequence.tokens, idsFrom("tokens", input.tokens, examples.words, examples.longest));
        !ok)
      return ok.error();
  sequence.targets.assign(sequence.tokens.size(), -1);
  sequence.looks = sequence.targets;
  if (input.targets.empty()) return sequence;
  Result<std::vector<int>> aims = document::targetsOf("targets", wordsOf(input.targets), examples.classes,
                                                      sequence.tokens.size(), sequence.tokens.size() - 1);
  if (!aims) return aims.error();
  sequence.targets = std::move(*aims);
  return sequence;
}

/// "0.3,1.2" as bits layer · heads + head.
Result<std::uint64_t> TrainedModel::headsIn(const std::string& list) const {
  const int heads = trainer_->setup().heads, layers = static_cast<int>(trainer_->model().attentions().size());
  std::uint64_t bits = 0;
  for (const std::string& word : wordsOf(list)) {
    const std::size_t point = word.find('.');
    const auto layer = base::parseFloat(word.substr(0, point)),
               head = base::parseFloat(point == std::string::npos ? std::string() : word.substr(point + 1));
    const auto isOneOf = [](const auto& number, int count) {
      return number && *number >= 0 && *number < static_cast<float>(count) &&
             *number == static_cast<float>(static_cast<int>(*number));
    };
    const int bit = isOneOf(layer, layers) && isOneOf(head, heads)
                        ? static_cast<int>(*layer) * heads + static_cast<int>(*head)
                        : kMostHeads;
    if (bit >= kMostHeads)
      return base::refuse(ErrorKind::range, "off",
                          {base::inQuotes(word),
                           " is no head that can be switched off; give layer.head from "
                           "0.0 to ",
                           std::min(layers, kMostHeads / heads) - 1, ".", heads - 1, ", as in off=0.1,1.0."})
          .error();
    bits |= std::uint64_t{1} << bit;
  }
  return bits;
}

Result<void> TrainedModel::tryHeads(const training::Sequence& sequence, std::uint64_t off,
                                    const Tried& tried) {
  const int classes = trainer_->model().classes(),
            count = static_cast<int>(trainer_->model().attentions().size()) * trainer_->setup().heads;
  if (count > kMostHeads)
    return base::refuse(ErrorKind::range, "--outputs effect",
                        {"the model has ", count, " heads; at most ", kMostHeads, " can be tried."});
  const bool isAimed = std::ranges::any_of(sequence.targets, [](int t) { return t >= 0; });
  trainer_->answer(sequence, numbers_, off, answer_);
  const training::Answer whole = answer_;
  effect_.clear();
  for (int head = 0; head < count; ++head) {
    tried(head, count);
    trainer_->answer(whole.sequence, numbers_, off | std::uint64_t{1} << head, answer_);
    effect_.push_back(isAimed ? answer_.loss - whole.loss
                              : training::divergences(whole, answer_, classes).back());
  }
  tried(count, count);
  return {};
}

Result<std::vector<NamedArray>> TrainedModel::run(const Input& input, const std::vector<std::string>& outputs,
                                                  const Tried& tried) {
  const Result<training::Sequence> sequence = sequenceOf(input);
  if (!sequence) return sequence.error();
  const Result<std::uint64_t> off = headsIn(input.off);
  if (!off) return off.error();
  const auto isWanted = [&](const char* name) { return std::ranges::find(outputs, name) != outputs.end(); };
  if (isWanted("loss") && input.targets.empty())
    return base::refuse(ErrorKind::range, "targets",
                        {"--outputs loss needs them; give the class of the last token, or one for each "
                         "token, as in --set targets=",
                         trainer_->examples().classes.front(), "."})
        .error();
  if (isWanted("effect"))
    if (auto ok = tryHeads(*sequence, *off, tried); !ok) return ok.error();
  trainer_->answer(*sequence, numbers_, *off, answer_);
  std::vector<NamedArray> results;
  for (const std::string& name : outputs) {
    Result<NamedArray> found = output(name);
    if (!found) return found.error();
    results.push_back(std::move(*found));
  }
  return results;
}

Result<document::State> TrainedModel::recording() {
  const auto& held = trainer_->examples().heldOut;
  const auto length = [](const training::Sequence& s) { return s.tokens.size(); };
  trainer_->answer(*std::ranges::max_element(held, {}, length), numbers_, 0, answer_);
  document::State before;
  before.training = trainer_->setup();
  before.training.learned =
      std::make_shared<const training::Learned>(numbers_, training::modelKey(trainer_->setup()));
  return document::recordingOf(before, *trainer_, numbers_, answer_);
}

Result<NamedArray> TrainedModel::output(const std::string& name) const {
  const auto rows = static_cast<std::int64_t>(answer_.sequence.tokens.size());
  const Shape predictions{rows, trainer_->model().classes()};
  if (name == "tokens") return idsAs(name, answer_.sequence.tokens);
  if (name == "source" && !answer_.sequence.source.empty()) return idsAs(name, answer_.sequence.source);
  if (name == "logits") return named(name, predictions, trainer_->logits());
  if (name == "probabilities") return named(name, predictions, answer_.probabilities);
  if (name == "loss") return named(name, {1}, {answer_.loss});
  if (name == "effect")
    return named(name, {static_cast<std::int64_t>(answer_.maps.size()), trainer_->setup().heads}, effect_);
  if (name != "weights" || training::isTranslation(trainer_->setup())) return ofLayer(name);
  std::vector<float> all;
  for (const training::Answer::Map& map : answer_.maps)
    all.insert(all.end(), map.weights.begin(), map.weights.end());
  return named(name, {static_cast<std::int64_t>(answer_.maps.size()), trainer_->setup().heads, rows, rows},
               std::move(all));
}

Result<NamedArray> TrainedModel::ofLayer(const std::string& name) const {
  Words all{"tokens", "logits", "probabilities", "loss", "effect", "weights"};
  for (std::size_t a = 0; a < answer_.maps.size(); ++a) {
    const std::string layer(layerName(trainer_->model(), a));
    if (!name.starts_with(layer + ".") || name.find('.', layer.size() + 1) != std::string::npos) {
      for (const char* const common : {".q", ".scores", ".weights", ".output"}) all.push_back(layer + common);
      continue;
    }
    const Result<document::State> state =
        document::layerOf(document::State(), *trainer_, numbers_, answer_, static_cast<int>(a));
    if (!state) return state.error();
    const Result<StateTensors> tensors = collectTensors(*state);
    if (!tensors) return tensors.error();
    for (const StateTensor& one : tensors->tensors) {
      all.push_back(base::joined({layer, ".", one.name}));
      if (all.back() != name || one.isBoolean) continue;
      std::vector<float> values(one.bytes.size() / sizeof(float));
      std::memcpy(values.data(), one.bytes.data(), values.size() * sizeof(float));
      return named(name, one.shape, std::move(values));
    }
  }
  return unknown(name, all);
}

}  // namespace files
