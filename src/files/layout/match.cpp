#include "files/layout/match.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/number.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/option.h"
#include "document/text.h"
#include "files/formats/table.h"
#include "files/layout/attention_options.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

/// Names used elsewhere for the same: in PyTorch's scaled_dot_product_attention, in ONNX's Attention, and
/// common spellings.
constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kOtherNames{
    {{"query", "q"},
     {"queries", "q"},
     {"key", "k"},
     {"keys", "k"},
     {"value", "v"},
     {"values", "v"},
     {"attn_mask", "mask"},
     {"past_key", "past_k"},
     {"past_value", "past_v"},
     {"nonpad_kv_seqlen", "key_lengths"},
     {"wq", "w_q"},
     {"wk", "w_k"},
     {"wv", "w_v"},
     {"wo", "w_o"},
     {"is_causal", "causal"},
     {"q_num_heads", "heads"},
     {"kv_num_heads", "kv_heads"},
     {"tokens", "labels"}}};

std::string knownName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  for (const auto& [other, ours] : kOtherNames)
    if (lower == other) return std::string(ours);
  return lower;
}

bool isListOption(std::string_view name) {
  const document::Option* option = document::optionNamed(name);
  return option && option->type == document::OptionType::ids;
}

std::string listText(const std::vector<float>& numbers) {
  std::string text = "[";
  for (const float number : numbers) text += (text.size() > 1 ? ", " : "") + base::shortest(number);
  return text + "]";
}

/// The part of a name after a prefix; nothing if it does not begin with the prefix.
std::optional<std::string_view> without(std::string_view prefix, std::string_view name) {
  if (!name.starts_with(prefix)) return std::nullopt;
  return name.substr(prefix.size());
}

class Matcher {
 public:
  Matcher(StoredFile file, std::string_view prefix, NotFinite notFinite)
      : stored_(std::move(file)),
        prefix_(prefix),
        hides_(notFinite == NotFinite::hidden) {}

  Result<TensorsFile> match() {
    if (auto ok = choosePrefix(); !ok) return ok;
    const base::Message found = some();  // computed before the tensors are moved out
    if (auto ok = readNotes(); !ok) return ok;
    nameTheNameless();
    if (auto ok = splitFused(); !ok) return ok;
    for (Stored& tensor : stored_.tensors) {
      const auto rest = without(prefix_, tensor.name);
      if (!rest) continue;
      const std::string name = knownName(*rest);
      if (auto ok = take(name, std::move(tensor)); !ok) return ok;
    }
    settleMode(file_);
    const bool hasAny =
        file_.q || file_.k || file_.v ||
        file_.x;  // otherwise an error about what is missing is more useful than one about what is unknown
    if (auto ok = checkFields(file_, hasAny ? unknown_ : ""); !ok)
      return explained(std::move(ok.error()), found);
    return std::move(file_);
  }

 private:
  bool has(std::string_view name) const {
    return std::any_of(stored_.tensors.begin(), stored_.tensors.end(),
                       [&](const Stored& tensor) { return knownName(tensor.name) == name; });
  }

  /// The layers of a recorded model have prefixes.
  Result<void> choosePrefix() {
    if (!prefix_.empty()) {
      for (const char mark : {'.', '/'})
        if (prefix_.back() != mark &&
            std::any_of(stored_.tensors.begin(), stored_.tensors.end(),
                        [&](const Stored& tensor) { return tensor.name.starts_with(prefix_ + mark); }))
          prefix_ += mark;
      if (std::none_of(stored_.tensors.begin(), stored_.tensors.end(),
                       [&](const Stored& tensor) { return tensor.name.starts_with(prefix_); }))
        return base::refuse(
            ErrorKind::range, "--prefix",
            {"no tensor's name begins with ", inQuotes(prefix_), "; ", some().english(), "."});
      return {};
    }
    if (has("q") || has("x") || has("qkv")) return {};
    std::set<std::string> found[3];
    for (const Stored& tensor : stored_.tensors) {
      const std::size_t end = tensor.name.find_last_of("./");
      if (end == std::string::npos) continue;
      const std::string last = knownName(std::string_view(tensor.name).substr(end + 1));
      for (const auto& [name, i] : {std::pair("q", 0), std::pair("k", 1), std::pair("v", 2)})
        if (last == name || last == "qkv") found[i].insert(tensor.name.substr(0, end + 1));
    }
    std::vector<std::string> prefixes;
    for (const std::string& prefix : found[0])
      if (found[1].count(prefix) != 0 && found[2].count(prefix) != 0) prefixes.push_back(prefix);
    if (prefixes.size() == 1) prefix_ = prefixes.front();
    if (prefixes.size() < 2) return {};
    const std::size_t count = prefixes.size();
    prefixes.resize(std::min<std::size_t>(count, 4));
    for (std::string& prefix : prefixes) prefix = inQuotes(prefix);
    return base::refuse(
        ErrorKind::range, "--prefix",
        {count, " layers have q, k and v; choose one, such as ", base::either(prefixes), "."});
  }

  void nameTheNameless() {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> places{
        {{"arr_0", "q"}, {"arr_1", "k"}, {"arr_2", "v"}, {"arr_3", "mask"}}};
    if (stored_.tensors.size() < 3 || stored_.tensors.size() > 4 || !isNameless(stored_)) return;
    for (Stored& tensor : stored_.tensors)
      for (const auto& [place, name] : places)
        if (tensor.name == place) tensor.name = name;
  }

  /// Splits a tensor that contains q, k and v: stacked, or side by side.
  Result<void> splitFused() {
    std::vector<Stored> parts;
    for (Stored& tensor : stored_.tensors) {
      const auto rest = without(prefix_, tensor.name);
      if (!rest || knownName(*rest) != "qkv" || tensor.type == Type::text) {
        parts.push_back(std::move(tensor));
        continue;
      }
      Result<Stored> whole = plain(std::move(tensor));
      if (!whole) return whole.error();
      const Shape& shape = whole->shape;
      const std::size_t rank = shape.size();
      const bool isStacked = rank >= 3 && shape[0] == 3;
      if (!isStacked && (rank < 2 || shape[rank - 1] % 3 != 0))
        return base::refuse(ErrorKind::range, "qkv.shape",
                            {shapeText(shape),
                             " is neither three tensors stacked nor three side by side; "
                             "expected [3, …] or a multiple of 3 columns."});
      for (int i = 0; i < 3; ++i) parts.push_back(part(*whole, i, isStacked));
    }
    stored_.tensors = std::move(parts);
    return {};
  }

  Stored part(const Stored& whole, int index, bool isStacked) {
    Stored out;
    out.name = prefix_ + std::string(1, "qkv"[index]), out.type = whole.type, out.shape = whole.shape,
    out.owned = whole.owned;
    const std::size_t size = whole.bytes.size() / 3, at = size * static_cast<std::size_t>(index);
    if (isStacked) {
      out.shape.erase(out.shape.begin());
      out.bytes = whole.bytes.substr(at, size);
      return out;
    }
    out.shape.back() /= 3;
    const std::size_t row =
        static_cast<std::size_t>(out.shape.back()) * static_cast<std::size_t>(bytesOf(out.type));
    const std::shared_ptr<char[]> memory = memoryFor(size);
    for (std::size_t r = 0; row > 0 && r < size / row; ++r)
      std::copy_n(whole.bytes.data() + (3 * r + static_cast<std::size_t>(index)) * row, row,
                  memory.get() + r * row);
    out.bytes = {memory.get(), size}, out.owned = memory;
    return out;
  }

  Result<void> take(const std::string& name, Stored tensor) {
    const std::string given = fieldOf(tensor.name);
    if (!taken_.insert(name).second)
      return base::refuse(ErrorKind::syntax, given,
                          {"another tensor of the file means ", name, " too; give it once."});
    if (name == "labels" || name == "key_labels") return takeLabels(name, tensor);
    for (const TensorField& field : tensorFields(file_))
      if (field.name == name) {
        if (tensor.shape.empty() && tensor.type != Type::text)
          return base::refuse(ErrorKind::range, name + ".shape",
                              {"[] is a single value; give a list or a matrix."});
        tensor.name = name;
        const bool mayHide = field.isOfTokens && hides_;
        Result<Array> array = arrayOf(std::move(tensor), field.isMask ? Holds::mask
                                                         : mayHide    ? Holds::any
                                                                      : Holds::finite);
        if (!array) return array.error();
        if (mayHide) file_.isFinite = file_.isFinite && array->isFinite;
        *field.target = std::move(*array);
        return {};
      }
    const bool isOne = checkedCount(tensor.shape) == 1 && (tensor.shape.empty() || tensor.shape == Shape{1});
    if (isListOption(name) && tensor.type != Type::text) return takeList(name, std::move(tensor));
    if (name == "options" && tensor.type == Type::text && tensor.texts.size() == 1)
      return takeOptions(tensor.texts.front());
    if (name == "options")
      return base::refuse(
          ErrorKind::type, name,
          {std::string_view(tensor.shape.empty() ? "a number" : "a list"), " is not an object; give ",
           std::string_view("{\"causal\": true}"), " or the like."});
    if (isResultName(name)) return {};
    if (isOne) return takeSetting(name, std::move(tensor));
    if (unknown_.empty()) unknown_ = given;
    return {};
  }

  Result<void> takeLabels(const std::string& name, const Stored& tensor) {
    if (tensor.type != Type::text)
      return base::refuse(ErrorKind::type, name,
                          {"it holds ", files::name(tensor.type), "; expected texts."});
    std::optional<document::Value>& to = name == "labels" ? file_.labels : file_.keyLabels;
    if (tensor.shape.empty() && tensor.texts.size() == 1) to = tensor.texts.front();
    else to = tensor.texts;
    return {};
  }

  /// Reads an option that is a list from an array of its numbers.
  Result<void> takeList(const std::string& name, Stored given) {
    const Result<Stored> tensor = plain(std::move(given));
    if (!tensor) return tensor.error();
    const std::int64_t count = checkedCount(tensor->shape).value_or(-1);
    if (count < 0 || count > attention::Limits::tokens)
      return base::refuse(
          ErrorKind::range, name,
          {shapeText(tensor->shape), " has too many numbers; give at most ", attention::Limits::tokens, "."});
    std::vector<float> numbers;
    for (std::int64_t i = 0; i < count; ++i)
      numbers.push_back(static_cast<float>(valueAt(*tensor, static_cast<std::size_t>(i)).real));
    Setting setting;
    setting.kind = Setting::Kind::text, setting.name = name, setting.field = "options." + name,
    setting.text = listText(numbers);
    file_.options.push_back(std::move(setting));
    return {};
  }

  Result<void> takeSetting(const std::string& name, Stored given) {
    Setting setting;
    setting.name = name, setting.field = "options." + name;
    if (given.type == Type::text) {
      setting.kind = Setting::Kind::text, setting.text = given.texts.front();
    } else {
      const Result<Stored> tensor = plain(std::move(given));
      if (!tensor) return tensor.error();
      const Number value = valueAt(*tensor, 0);
      setting.kind = value.kind == Number::Kind::boolean ? Setting::Kind::boolean : Setting::Kind::number;
      setting.boolean = value.whole != 0, setting.number = value.real;
    }
    file_.options.push_back(std::move(setting));
    return {};
  }

  /// Reads options from the text {"causal": true, …}.
  Result<void> takeOptions(const std::string& text) {
    if (!text.starts_with('{'))
      return base::refuse(ErrorKind::type, "options",
                          {inQuotes(text), " is not an object; give ", std::string_view("{\"causal\": true}"),
                           " or the like."});
    document::JsonText json;
    if (auto ok = document::parseJson(text, {}, json); !ok)
      return base::refuse(ErrorKind::syntax, "options", {"they are no JSON: ", ok.error().said()});
    using Json = document::Json;
    for (std::size_t i = 0; i < json.root.keys.size(); ++i) {
      const Json& item = json.root.items[i];
      Setting setting;
      setting.name = json.root.keys[i], setting.field = "options." + setting.name;
      setting.boolean = item.boolean, setting.number = item.number, setting.text = item.text;
      if (item.kind == Json::Kind::boolean) setting.kind = Setting::Kind::boolean;
      else if (item.kind == Json::Kind::number) setting.kind = Setting::Kind::number;
      else if (item.kind == Json::Kind::text) setting.kind = Setting::Kind::text;
      else if (item.kind == Json::Kind::numbers && isListOption(setting.name))
        setting.kind = Setting::Kind::text, setting.text = listText(item.numbers);
      else
        return base::refuse(
            ErrorKind::type, fieldOf(setting.field),
            {item.kindName(), " is no value of an option; give a number, a text, true or false."});
      file_.options.push_back(std::move(setting));
    }
    return {};
  }

  /// Reads the metadata of safetensors; anything but options and labels is ignored.
  Result<void> readNotes() {
    for (const auto& [key, text] : notesOf(stored_, prefix_)) {
      const std::string name = knownName(key);
      if (name == "options") {
        if (auto ok = takeOptions(std::string(text)); !ok) return ok;
      } else if (name == "labels" || name == "key_labels") {
        std::optional<document::Value>& to = name == "labels" ? file_.labels : file_.keyLabels;
        to = std::string(text);
        if (text.starts_with('['))
          if (auto list = document::valueFromJson(text, name)) to = *list;
      } else if (layer::isOption(name)) {
        auto setting = settingFrom(name + "=" + std::string(text));
        if (setting) setting->field = "options." + name, file_.options.push_back(std::move(*setting));
      }
    }
    return {};
  }

  base::Message some() const {
    std::vector<std::string> names;
    for (const Stored& tensor : stored_.tensors)
      if (names.size() < 4) names.push_back(inQuotes(tensor.name));
    const std::size_t count = stored_.tensors.size();
    base::Message out{"the file has ", count, count == 1 ? " tensor" : " tensors"};
    std::string list;
    for (const std::string& name : names) list.append(list.empty() ? "" : ", ").append(name);
    if (count > names.size()) list += " …";
    if (!list.empty()) out += {": ", list};
    return out;
  }

  /// Adds to the error about what is missing what the file contains instead.
  static Error explained(Error error, const base::Message& found) {
    if (error.fault != Error::Fault::missing) return error;
    error.sentence = {"it is missing; "};
    error.sentence += found;
    error.sentence += {". Expected q, k and v, or x, w_q, w_k and w_v."};
    return error;
  }

  StoredFile stored_;
  std::string prefix_;
  bool hides_;
  TensorsFile file_;
  std::set<std::string> taken_;
  std::string unknown_;
};

/// The metadata of a file as texts, for formats without metadata.
StoredFile withTexts(StoredFile file, bool isJson) {
  std::erase_if(file.tensors, [&](const Stored& tensor) {
    const bool isText = tensor.type == Type::text,
               isSetting =
                   tensor.name == "options" ? isText : isJson && layer::isOption(knownName(tensor.name));
    if (!isSetting || !tensor.shape.empty() || (isText && tensor.texts.size() != 1)) return false;
    file.notes.emplace_back(tensor.name == "options" ? tensor.name : knownName(tensor.name),
                            isText ? tensor.texts.front() : textOf(tensor, 0));
    return true;
  });
  std::set<std::string> names;
  for (const Stored& tensor : file.tensors) names.insert(tensor.name);
  std::string options;
  for (auto& [key, text] : std::exchange(file.notes, {})) {
    const std::size_t end = key.find_last_of("./");
    const bool isOfLayer = end != std::string::npos;  // of several
    const std::string name = knownName(std::string_view(key).substr(isOfLayer ? end + 1 : 0));
    if (names.contains(key)) continue;
    const auto value = document::valueFromJson(text, key);
    const bool isModelText = std::ranges::find(kModelTexts, key) != std::end(kModelTexts);
    if (name == "labels" || name == "key_labels" || isModelText) {
      Stored& labels = file.tensors.emplace_back();
      labels.name = *names.insert(key).first, labels.type = Type::text;
      labels.texts = value && text.starts_with('[') ? document::labelsOf(*value) : std::vector{text};
      if (text.starts_with('[')) labels.shape = {static_cast<std::int64_t>(labels.texts.size())};
    } else if (isOfLayer && (name == "options" || layer::isOption(name))) {
      file.notes.emplace_back(std::move(key), std::move(text));
    } else if (name == "options" && text.size() > 2 && text.ends_with('}')) {
      options += (options.empty() ? "" : ", ") + text.substr(1, text.size() - 2);
    } else if (layer::isOption(name)) {
      options += (options.empty() ? "" : ", ") + document::jsonQuoted(key) + ": " +
                 (value ? text : document::jsonQuoted(text));
    }
  }
  if (!options.empty()) file.notes.emplace_back("options", "{" + options + "}");
  return file;
}

}  // namespace

Result<TensorsFile> tensorsOf(StoredFile file, std::string_view prefix, NotFinite notFinite) {
  return Matcher(std::move(file), prefix, notFinite).match();
}

Result<TensorsFile> tensorsOfOne(StoredFile file, NotFinite notFinite) {
  for (Stored& tensor : file.tensors) {
    if (tensor.type == Type::text) continue;
    const bool isStacked = tensor.shape.size() >= 3 && tensor.shape[0] == 3;
    tensor.name = isStacked ? "qkv" : "q";
    if (isStacked) break;
    Stored k = tensor, v = tensor;
    k.name = "k", v.name = "v";
    file.tensors.push_back(std::move(k)), file.tensors.push_back(std::move(v));
    break;
  }
  return tensorsOf(std::move(file), {}, notFinite);
}

bool writeFile(StoredFile file, Format format, const std::function<bool(std::string_view)>& put) {
  return writeStored(
      holdsTexts(format) ? withTexts(std::move(file), format == Format::json) : std::move(file), format, put);
}

std::vector<std::pair<std::string_view, std::string_view>> notesOf(const StoredFile& file,
                                                                   std::string_view prefix) {
  std::set<std::string_view> own;
  for (const auto& [key, text] : file.notes)
    if (const auto rest = without(prefix, key)) own.insert(*rest);
  std::vector<std::pair<std::string_view, std::string_view>> notes;
  for (const auto& [key, text] : file.notes) {
    const auto rest = without(prefix, key);
    if (rest || !own.contains(key)) notes.emplace_back(rest.value_or(key), text);
  }
  return notes;
}

bool isNameless(const StoredFile& file) {
  return std::all_of(file.tensors.begin(), file.tensors.end(),
                     [](const Stored& tensor) { return tensor.name.starts_with("arr_"); });
}

bool isLayerName(std::string_view name) {
  const std::string known = knownName(name);
  TensorsFile file;
  const std::vector<TensorField> fields = tensorFields(file);
  return known == "qkv" || known == "labels" || known == "key_labels" ||
         std::any_of(fields.begin(), fields.end(),
                     [&](const TensorField& field) { return field.name == known; });
}

}  // namespace files
