#include "files/layout/packed.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "base/sentence.h"
#include "document/json.h"
#include "document/option.h"
#include "document/resize.h"
#include "document/text.h"

namespace files {
namespace {

using attention::Tensor;
using attention::TensorId;
using document::BatchItem;
using document::State;

constexpr std::string_view kPackedMagic = "\1ap\n";

/// Between texts of a list that is long, which so are read in a fraction of the time that JSON takes.
constexpr char kEnd = '\x1f';
constexpr std::size_t kManyTexts = 64;

/// The value of an option as a line of packed(), with what precedes it.
std::string lineOf(const document::Value& value) {
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  if (!texts || texts->size() < kManyTexts) return ' ' + document::toJson(value);
  std::string line;
  for (const std::string& text : *texts) {
    if (text.find_first_of("\n\x1f") != std::string::npos) return ' ' + document::toJson(value);
    line += kEnd, line += text;
  }
  return line;
}

std::vector<std::string> textsOf(std::string_view line) {
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(std::count(line.begin(), line.end(), kEnd)));
  while (!line.empty()) {
    line.remove_prefix(1);
    const std::size_t end = std::min(line.find(kEnd), line.size());
    texts.emplace_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return texts;
}

std::string labelsText(const std::vector<std::string>& labels) {
  return document::toJson(document::Value(labels));
}

/// The bytes that remain to be read.
class Rest {
 public:
  explicit Rest(std::string_view bytes) : rest_(bytes) {}

  std::string_view line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  bool take(Tensor& tensor, int heads, int rows, int cols) {
    const std::size_t count =
        static_cast<std::size_t>(heads) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
    if (rest_.size() / sizeof(float) < count) return false;
    tensor.reshapeUnwritten(heads, rows, cols);
    if (count > 0) std::memcpy(tensor.data(), rest_.data(), count * sizeof(float));
    rest_.remove_prefix(count * sizeof(float));
    return true;
  }
  template <class Bytes>
  bool take(Bytes& bytes, std::size_t count) {
    if (rest_.size() < count) return false;
    bytes.assign(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count));
    rest_.remove_prefix(count);
    return true;
  }

 private:
  std::string_view rest_;
};

bool takeInput(Rest& rest, State& state, TensorId id, Tensor& tensor) {
  const document::Axes want = axes(state, id);
  return rest.take(tensor, want.heads, want.rows.count(), want.cols.count());
}

std::shared_ptr<const training::Learned> learnedOf(const training::Setup& setup, std::string_view bytes) {
  training::Learned out{std::vector<float>(bytes.size() / sizeof(float)), training::modelKey(setup)};
  std::memcpy(out.numbers.data(), bytes.data(), bytes.size());
  return std::make_shared<const training::Learned>(std::move(out));
}

}  // namespace

std::string packed(const State& state) { return packed(state, state); }

std::string packed(const State& state, const document::Settings& shown) {
  return Packing(state, shown).whole();
}

std::string Packing::whole() const {
  std::string out;
  out.reserve(size_);
  out += head_;
  for (const std::string_view numbers : numbers_) out += numbers;
  return out;
}

Packing::Packing(const State& state, const document::Settings& shown) {
  head_ =
      base::joined({kPackedMagic, document::jsonQuoted(state.preset), "\n", static_cast<int>(state.biasKind),
                    state.scoreWeights ? "1" : "0", state.painted.empty() ? "0" : "1", "\n"});
  for (int i = 0; i < document::kParameterCount; ++i) {
    const Tensor& own = state.parameters[static_cast<document::ParameterId>(i)];
    if (!own.empty()) head_ += base::joined({"*", i, " ", own.rows(), " ", own.cols(), "\n"});
  }
  const std::vector<float>* const learned = training::learnedNumbers(state.training);
  if (learned) head_ += base::joined({"+", learned->size(), "\n"});
  for (const document::Option& option : document::options())
    if (option.stored != document::Stored::never)
      head_ += base::joined({option.name, lineOf(get(shown, option.id)), "\n"});
  head_ += '\n';
  for (const BatchItem& other : state.items)
    head_ += base::joined({labelsText(other.labels), "\n", labelsText(other.keyLabels), "\n"});
  size_ = head_.size();
  for (const TensorId id : document::inputIds())
    if (hasInput(state, id)) add(input(state, id)->values());
  for (std::size_t item = 0; item < state.items.size(); ++item)
    if (static_cast<int>(item) != state.batchItem)
      for (const TensorId id : document::itemInputIds())
        if (hasInput(state, id)) add(input(state.items[item], id)->values());
  for (int i = 0; i < document::kParameterCount; ++i)
    add(state.parameters[static_cast<document::ParameterId>(i)].values());
  add(std::span(state.painted.blocked));
  if (learned) add(std::span(*learned));
}

void Packing::read(std::size_t from, std::size_t count, char* to) const {
  const auto take = [&](std::string_view part) {
    const std::size_t skipped = std::min(from, part.size()), taken = std::min(part.size() - skipped, count);
    if (taken > 0) std::memcpy(to, part.data() + skipped, taken);
    from -= skipped, count -= taken, to += taken;
  };
  take(head_);
  for (const std::string_view numbers : numbers_) take(numbers);
}

bool isPacked(std::string_view bytes) { return bytes.starts_with(kPackedMagic); }

bool readOption(std::string_view line, document::Settings& settings) {
  const std::size_t end = line.find_first_of(" \x1f");
  if (end == std::string_view::npos) return false;
  const document::Option* option = document::optionNamed(line.substr(0, end));
  if (!option) return false;
  const auto value = line[end] == kEnd ? base::Result<document::Value>(textsOf(line.substr(end)))
                                       : document::valueFromJson(line.substr(end + 1), option->name);
  if (!value || !checkAlone(*option, *value)) return false;
  assign(settings, option->id, *value);
  return true;
}

/// Everything before the numbers.
struct Unpacker::Head {
  std::string text;
  State state;  ///< without the numbers
  std::vector<std::array<int, 3>> parameters;
  bool isPainted = false;
  std::size_t learned = 0;  ///< numbers of a trained model

  bool read(Rest rest);
};

bool Unpacker::Head::read(Rest rest) {
  const auto preset = document::valueFromJson(rest.line(), "preset");
  const std::string_view kinds = rest.line();
  if (!preset || kinds.size() != 3) return false;
  if (const auto* name = std::get_if<std::string>(&*preset)) state.preset = *name;
  for (std::string_view line = rest.line(); !line.empty(); line = rest.line()) {
    if (line[0] == '+') {
      learned = std::strtoul(line.data() + 1, nullptr, 10);
      continue;
    }
    if (line[0] != '*') {
      if (!readOption(line, state)) return false;
      continue;
    }
    std::array<int, 3> sizes{};
    char* at = const_cast<char*>(line.data()) + 1;
    for (int& size : sizes) size = static_cast<int>(std::strtol(at, &at, 10));
    if (sizes[0] < 0 || sizes[0] >= document::kParameterCount || sizes[1] < 1 || sizes[2] < 1) return false;
    parameters.push_back(sizes);
  }
  state.biasKind = static_cast<document::Bias>(kinds[0] - '0'), state.scoreWeights = kinds[1] == '1',
  isPainted = kinds[2] == '1';
  return true;
}

Unpacker::Unpacker() = default;
Unpacker::~Unpacker() = default;

Result<State> Unpacker::read(std::string_view bytes, const State& current) {
  const auto refused = [] {
    return base::refuse(Error::Kind::syntax, "file", {"it was not handed over whole."});
  };
  if (!isPacked(bytes)) return refused();
  const std::size_t end = std::min(bytes.find("\n\n"), bytes.size() - 1) + 1;
  if (!head_ || head_->text != bytes.substr(0, end)) {
    auto head = std::make_unique<Head>();
    if (!head->read(Rest(bytes.substr(kPackedMagic.size())))) return refused();
    head->text = bytes.substr(0, end);
    head_ = std::move(head);
  }
  Rest rest(bytes.substr(std::min(end + 1, bytes.size())));
  State state = head_->state;
  state.theme = current.theme, state.decimals = current.decimals;
  if (auto ok = checkSizes("tokens", state); !ok) return ok;
  if (state.batch > 1) state.items.resize(static_cast<std::size_t>(state.batch));
  for (BatchItem& other : state.items) {
    const auto labels = document::valueFromJson(rest.line(), "labels"),
               keyLabels = document::valueFromJson(rest.line(), "key_labels");
    if (!labels || !keyLabels) return refused();
    other.labels = document::labelsOf(*labels), other.keyLabels = document::labelsOf(*keyLabels);
  }
  bool isWhole = true;
  for (const TensorId id : document::inputIds())
    if (hasInput(state, id)) isWhole = isWhole && takeInput(rest, state, id, *input(state, id));
  for (std::size_t item = 0; item < state.items.size(); ++item)
    if (static_cast<int>(item) != state.batchItem)
      for (const TensorId id : document::itemInputIds())
        if (hasInput(state, id))
          isWhole = isWhole && takeInput(rest, state, id, *input(state.items[item], id));
  for (const auto& [id, rows, cols] : head_->parameters)
    isWhole = isWhole && rest.take(state.parameters[static_cast<document::ParameterId>(id)], 1, rows, cols);
  if (head_->isPainted) {
    state.painted.rows = state.tokens, state.painted.cols = state.keyTokens;
    isWhole = isWhole && rest.take(state.painted.blocked, static_cast<std::size_t>(state.tokens) *
                                                              static_cast<std::size_t>(state.keyTokens));
  }
  if (head_->learned > 0) {
    std::string numbers;
    isWhole = isWhole && head_->learned <= training::Limits::parameters &&
              rest.take(numbers, head_->learned * sizeof(float));
    if (isWhole) state.training.learned = learnedOf(state.training, numbers);
  }
  if (!isWhole) return refused();
  return state;
}

Result<State> unpacked(std::string_view bytes, const State& current) {
  return Unpacker().read(bytes, current);
}

std::string packed(const StateTensors& tensors) {
  std::string head = base::joined({labelsText(tensors.labels), "\n", labelsText(tensors.keyLabels), "\n",
                                   tensors.options, "\n", tensors.shown, " ", int{tensors.isOfLayers}, " ",
                                   static_cast<int>(tensors.weightScale), "\n"}),
              body;
  for (const StateTensor& one : tensors.tensors) {
    head += base::joined({one.name, one.isBoolean ? " b" : " f"});
    for (const std::int64_t size : one.shape) head += base::joined({" ", size});
    head += '\n';
    body += one.bytes;
  }
  return head + '\n' + body;
}

Result<StateTensors> unpackedTensors(std::string_view bytes) {
  const auto refused = [] {
    return base::refuse(Error::Kind::syntax, "file", {"it was not handed over whole."});
  };
  Rest rest(bytes);
  StateTensors out;
  const auto labels = document::valueFromJson(rest.line(), "labels"),
             keyLabels = document::valueFromJson(rest.line(), "key_labels");
  if (!labels || !keyLabels) return refused();
  out.labels = document::labelsOf(*labels), out.keyLabels = document::labelsOf(*keyLabels);
  out.options = rest.line();
  const std::string shown(rest.line());
  char* next = nullptr;
  out.shown = static_cast<int>(std::strtol(shown.c_str(), &next, 10));
  out.isOfLayers = std::strtol(next, &next, 10) != 0;
  out.weightScale = static_cast<document::WeightScale>(std::strtol(next, nullptr, 10) & 7);
  for (std::string_view line = rest.line(); !line.empty(); line = rest.line()) {
    StateTensor& one = out.tensors.emplace_back();
    const std::size_t end = line.find(' ');
    if (end == std::string_view::npos || end + 1 >= line.size()) return refused();
    one.name = line.substr(0, end), one.isBoolean = line[end + 1] == 'b';
    const std::string sizes(line.substr(end + 2));
    for (const char* at = sizes.c_str(); *at != '\0';) {
      char* after = nullptr;
      one.shape.push_back(std::strtol(at, &after, 10));
      if (after == at) return refused();  // not a number
      at = after;
    }
  }
  for (StateTensor& one : out.tensors) {
    const auto count = checkedCount(one.shape);
    if (!count ||
        !rest.take(one.bytes, static_cast<std::size_t>(*count) * (one.isBoolean ? 1 : sizeof(float))))
      return refused();
  }
  return out;
}

}  // namespace files
