// Tensors of any type and rank in JSON.
#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/number.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/json_events.h"
#include "files/formats/format.h"
#include "files/formats/printed.h"
#include "files/formats/table.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

constexpr std::size_t kFew = 64;  ///< values of a small tensor
constexpr std::int64_t kMostSize = std::numeric_limits<int>::max();

/// The double that becomes the float nearest to a decimal number with these digits; `value` is the nearest
/// double. Rounded twice the number would be another one only if that is exactly between two floats, or below
/// their normal range.
double forFloat(double value, const std::string& digits) {
  const bool isBetween = (std::bit_cast<std::uint64_t>(value) & 0x1fffffff) == 0x10000000;
  const bool isSmall = value != 0 && std::abs(value) < 2 * double{FLT_MIN};
  return isBetween || isSmall ? double{base::parseFloat(digits).value_or(static_cast<float>(value))} : value;
}

/// Numbers are stored in the type of their tensor, so that they take no
/// more memory than it has to; where data stand before their dtype, as 64 bits each until the tensor ends.
class JsonCollector final : public document::JsonEvents {
 public:
  /// Every number takes at least two characters of the text, of which one separates it from the next.
  JsonCollector(std::string_view text, std::string_view name)
      : JsonEvents(text),
        mostValues_(
            std::min(text.size() / 2, static_cast<std::size_t>(std::count(text.begin(), text.end(), ','))) +
            1),
        name_(name) {}

  StoredFile file;

  bool null() override {
    if (isOptions_) return note("null");
    return isAlone() ? take(0, Item::none) : failItem("null");
  }
  bool boolean(bool value) override {
    return isOptions_ ? note(value ? "true" : "false") : take(value ? 1 : 0, Item::truth);
  }
  bool number_integer(std::int64_t value) override {
    return isOptions_ ? note(std::to_string(value)) : take(std::bit_cast<std::uint64_t>(value), Item::whole);
  }
  bool number_unsigned(std::uint64_t value) override {
    return isOptions_ ? note(std::to_string(value))
                      : take(value, value > std::uint64_t{INT64_MAX} ? Item::natural : Item::whole);
  }
  bool number_float(double value, const std::string& digits) override {
    if (isOptions_) return note(digits);
    if (isTypeKnown() && typeOf(Item::real) == Type::float32) value = forFloat(value, digits);
    return take(std::bit_cast<std::uint64_t>(value), Item::real);
  }
  bool string(std::string& text) override;
  bool key(std::string& text) override;
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;

 private:
  enum class Item : std::uint8_t { none, truth, whole, natural, real, text };

  std::string path() const override { return isInItems() ? itemField() : std::string(); }
  /// Of the tensor, or of a part of it such as ".shape".
  bool fail(ErrorKind kind, const base::Message& sentence, const std::string& part = {}) {
    return refuse(kind, fieldOf(name_) + part, sentence);
  }
  /// Of the next value of the tensor.
  bool failItem(std::string_view given) {
    return refuse(ErrorKind::type, itemField(), base::message({given, " is not a number; give a number."}));
  }
  bool failSize(const std::string& given) {
    return fail(ErrorKind::range,
                base::message({given, " is not a size; give a whole number from 0 to ", kMostSize, "."}),
                ".shape[" + std::to_string(shape_.size()) + "]");
  }
  /// Is the text a single value?
  bool isAlone() const { return depth_ == 0 && counts_.empty(); }
  bool isInItems() const { return !isOptions_ && !counts_.empty() && !(isTensor_ && part_ == "shape"); }
  std::string itemField() const { return isTensor_ ? itemField(count_) : listAt(counts_.size()); }
  std::string itemField(std::size_t index) const {
    return fieldOf(name_) + ".data[" + std::to_string(index) + "]";
  }
  std::string listAt(std::size_t depth) const;
  bool note(const std::string& text, bool isItem = true) {
    if (isItem && !counts_.empty() && counts_.back()++ > 0) options_ += ", ";
    options_ += text;
    return true;
  }
  void begin() {
    bytes_ = {}, values_ = {}, texts_ = {}, shape_.clear(), counts_.clear(), type_.reset();
    kind_ = Item::none, count_ = leaf_ = 0, hasShape_ = hasData_ = hasType_ = false;
  }
  bool take(std::uint64_t bits, Item kind);
  bool takeSize(std::uint64_t value, Item kind);
  /// Lists have no dtype, and of objects it may follow.
  bool isTypeKnown() const { return type_ || !isTensor_; }
  Type typeOf(Item kind) const { return type_.value_or(kind == Item::truth ? Type::boolean : Type::float32); }
  template <class T>
  void reserve(std::vector<T>& values, std::size_t each);
  bool store(std::uint64_t bits, Item kind);
  bool defer(std::uint64_t bits, Item kind);
  bool encode(std::uint64_t bits, Item kind, Type type, std::size_t index, char* to);
  bool finish();
  template <class T>
  void keep(Stored tensor, std::vector<T> values, std::size_t size);

  std::size_t mostValues_, mostTexts_ = kMostTexts;  ///< that may still come

  std::string name_, part_, options_;
  int depth_ = 0;  ///< nesting of objects
  bool isOptions_ = false, isTensor_ = false, hasShape_ = false, hasData_ = false, hasType_ = false;
  std::optional<Type> type_;
  Item kind_ = Item::none;             ///< of the items so far
  std::size_t count_ = 0;              ///< of the items so far
  std::vector<char> bytes_;            ///< the items in the type of the tensor, once it is known
  std::vector<std::uint64_t> values_;  ///< the items before it is known
  std::vector<std::string> texts_;
  Shape shape_;
  std::vector<std::int64_t> counts_;  ///< number of items so far, for each open list
  std::size_t leaf_ = 0;              ///< nesting depth of the items; 0: unknown
};

/// The position in the first `depth` open lists: "q[1][0]".
std::string JsonCollector::listAt(std::size_t depth) const {
  std::string out = fieldOf(name_);
  for (std::size_t i = 0; i < depth; ++i)
    out += "[" + std::to_string(counts_[i] - (i + 1 < counts_.size() ? 1 : 0)) + "]";
  return out;
}

bool JsonCollector::takeSize(std::uint64_t value, Item kind) {
  const auto size = std::bit_cast<std::int64_t>(value);
  if (kind != Item::whole || size < 0 || size > kMostSize)
    return failSize(kind == Item::real      ? base::shortest(std::bit_cast<double>(value))
                    : kind == Item::natural ? std::to_string(value)
                    : kind == Item::whole   ? std::to_string(size)
                                            : std::string("true or false"));
  if (shape_.size() == kMaxRank)
    return fail(ErrorKind::range, "it has more than 32 sizes; give fewer.", ".shape");
  shape_.push_back(size);
  return true;
}

bool JsonCollector::take(std::uint64_t bits, Item kind) {
  if (isTensor_ && part_ == "shape" && !counts_.empty()) return takeSize(bits, kind);
  if (isTensor_ && counts_.empty())
    return part_ == "dtype"
               ? fail(ErrorKind::type, "a number is not a text; use \"float32\" or the like.", ".dtype")
               : fail(ErrorKind::type, "a single value is not a list; give a list of numbers.", "." + part_);
  if (isAlone()) return fail(ErrorKind::type, "a single value is not a tensor; give a list or an object.");
  if (!counts_.empty()) {
    if (leaf_ == 0) leaf_ = counts_.size();
    if (leaf_ != counts_.size())
      return refuse(ErrorKind::type, itemField(),
                    "it is not as deep as those before; give every row the same depth.");
  }
  if (kind_ == Item::none) kind_ = kind;
  if ((kind == Item::text) != (kind_ == Item::text))
    return refuse(ErrorKind::type, itemField(), "texts and numbers are mixed; give one kind only.");
  if ((kind == Item::truth) != (kind_ == Item::truth))
    return refuse(ErrorKind::type, itemField(),
                  kind == Item::truth ? "true or false follows a number; give one kind only."
                                      : "a number follows true or false; give one kind only.");
  if (kind != Item::text && !(isTypeKnown() ? store(bits, kind) : defer(bits, kind))) return false;
  ++count_;
  if (!counts_.empty()) ++counts_.back();
  return counts_.empty() && !isTensor_ ? finish() : true;
}

/// Makes room for the values of a tensor at its first one, and if it is not a small one, for as many as may
/// come. Its shape may claim any size.
template <class T>
void JsonCollector::reserve(std::vector<T>& values, std::size_t each) {
  if (count_ != 0 && count_ != kFew) return;
  std::size_t most = count_ == 0 ? std::min(mostValues_, kFew) : mostValues_;
  if (hasShape_) most = std::min(most, static_cast<std::size_t>(checkedCount(shape_).value_or(0)));
  values.reserve(most * each);
}

bool JsonCollector::store(std::uint64_t bits, Item kind) {
  const Type type = typeOf(kind);
  char item[sizeof bits];
  if (!encode(bits, kind, type, count_, item)) return false;
  const auto size = static_cast<std::size_t>(bytesOf(type));
  reserve(bytes_, size);
  bytes_.insert(bytes_.end(), item, item + size);
  return true;
}

bool JsonCollector::defer(std::uint64_t bits, Item kind) {
  reserve(values_, 1);
  if (kind != kind_) {  // converts the integers so far to real numbers, or the new value
    const auto real = [](std::uint64_t value, Item of) {
      return std::bit_cast<std::uint64_t>(of == Item::whole
                                              ? static_cast<double>(std::bit_cast<std::int64_t>(value))
                                              : static_cast<double>(value));
    };
    if (kind_ == Item::whole && kind == Item::natural &&
        std::all_of(values_.begin(), values_.end(),
                    [](std::uint64_t v) { return std::bit_cast<std::int64_t>(v) >= 0; })) {
      kind_ = Item::natural;
    } else if (!(kind_ == Item::natural && kind == Item::whole && std::bit_cast<std::int64_t>(bits) >= 0)) {
      if (kind_ != Item::real)
        for (std::uint64_t& value : values_) value = real(value, kind_);
      kind_ = Item::real;
      if (kind != Item::real) bits = real(bits, kind);
    }
  }
  values_.push_back(bits);
  return true;
}

/// Why a number is none of a type.
base::Message misfit(double number, Type type) {
  const std::string given = base::shortest(number);
  if (type == Type::float32) return "the number is too large for 32 bits; use -3.4e38 to 3.4e38.";
  if (type == Type::float16)
    return base::message({given, " is too large for float16; use -65504 to 65504, or dtype \"float32\"."});
  if (type == Type::boolean)
    return base::message({given, " is not true or false; give true, false, 1 or 0."});
  return base::message({given, " does not fit ", files::name(type), "; give numbers that do."});
}

/// Writes a value in a type; an error if it is none of that type.
bool JsonCollector::encode(std::uint64_t bits, Item kind, Type type, std::size_t index, char* to) {
  if (kind == Item::truth && type != Type::boolean)
    return fail(ErrorKind::type, "the data are true and false; use \"bool\" or give numbers.", ".dtype");
  const auto size = static_cast<std::size_t>(bytesOf(type));
  const double real = kind == Item::real      ? std::bit_cast<double>(bits)
                      : kind == Item::natural ? static_cast<double>(bits)
                                              : static_cast<double>(std::bit_cast<std::int64_t>(bits));
  const bool isWhole = kind != Item::real;
  std::uint64_t out = bits;
  bool fits = true;
  switch (type) {
    case Type::float64: out = std::bit_cast<std::uint64_t>(real); break;
    case Type::float32:
      out = std::bit_cast<std::uint32_t>(static_cast<float>(real));
      fits = !std::isinf(static_cast<float>(real)) || std::isinf(real);
      break;
    case Type::float16:
      out = halfOf(real);
      fits = std::abs(real) < 65520 || !std::isfinite(real);
      break;
    case Type::bfloat16:
      out = brainOf(real);
      fits = !std::isinf(floatOfBrain(brainOf(real))) || std::isinf(real);
      break;
    case Type::boolean:
      out = real != 0;
      fits = real == 0 || real == 1;
      break;
    case Type::uint64: fits = isWhole && real >= 0; break;
    case Type::int64: fits = isWhole && kind != Item::natural; break;
    default: {
      const bool isSigned = type < Type::uint8;
      const double most = std::ldexp(1.0, static_cast<int>(8 * size) - (isSigned ? 1 : 0));
      fits = isWhole && real < most && real >= (isSigned ? -most : 0);
    }
  }
  std::memcpy(to, &out, size);
  return fits || refuse(ErrorKind::range, isTensor_ ? itemField(index) : itemField(), misfit(real, type));
}

bool JsonCollector::string(std::string& text) {
  if (isOptions_) return note(document::jsonQuoted(text));
  if (isTensor_ && counts_.empty() && part_ == "dtype") {
    type_ = typeNamed(text);
    return type_ && *type_ != Type::text
               ? true
               : fail(
                     ErrorKind::type,
                     base::message(
                         {inQuotes(text),
                          " cannot be read; use \"float32\", \"float64\", \"int64\", \"bool\" or the like."}),
                     ".dtype");
  }
  const bool isNumber = text == "inf" || text == "-inf" || text == "nan";
  if (isNumber && kind_ != Item::text)
    return take(std::bit_cast<std::uint64_t>(text == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                                             : text == "inf" ? HUGE_VAL
                                                             : -HUGE_VAL),
                Item::real);
  if (isTensor_ && part_ == "shape") return failSize(inQuotes(text));
  if (isTensor_ || (!counts_.empty() && kind_ != Item::none && kind_ != Item::text))
    return failItem(inQuotes(text));
  if (mostTexts_-- == 0)
    return fail(ErrorKind::memory,
                base::message({"the file has more than ", kMostTexts, " texts; give fewer."}));
  texts_.push_back(std::move(text));
  return take(0, Item::text);
}

bool JsonCollector::key(std::string& text) {
  if (isOptions_) {
    if (!options_.ends_with('{')) options_ += ", ";
    options_ += document::jsonQuoted(text) + ": ";
    return true;
  }
  if (depth_ == 1) {
    name_ = std::move(text);
    begin();
    isTensor_ = false;
    file.isState = name_ == "version";
    return !file.isState;
  }
  part_ = std::move(text);
  bool* const given = part_ == "shape"   ? &hasShape_
                      : part_ == "data"  ? &hasData_
                      : part_ == "dtype" ? &hasType_
                                         : nullptr;
  if (!given)
    return fail(ErrorKind::syntax, base::message({"the field ", inQuotes(part_),
                                                  " is unknown; a tensor has shape, data and dtype."}));
  return !std::exchange(*given, true) ||
         fail(ErrorKind::syntax, base::message({inQuotes(part_), " is given twice; give it once."}));
}

bool JsonCollector::start_object(std::size_t) {
  if (isOptions_)
    return fail(ErrorKind::type, "an object is no value of an option; give a number, a text, true or false.");
  if (!counts_.empty() || depth_ == 2) return failItem("an object");
  if (++depth_ == 1) return true;
  if (name_ != "options") return isTensor_ = true;
  if (!file.notes.empty()) return fail(ErrorKind::syntax, "it is given twice; give it once.");
  return isOptions_ = true, note("{", false);
}

bool JsonCollector::end_object() {
  --depth_;
  if (isOptions_) {
    isOptions_ = false;
    file.notes.emplace_back("options", std::exchange(options_, {}) + "}");
    return true;
  }
  if (!isTensor_) return true;
  for (const auto& [given, part] : {std::pair(hasShape_, ".shape"), std::pair(hasData_, ".data")})
    if (!given)
      return fail(ErrorKind::type, "it is missing; give {\"shape\": [sizes], \"data\": [numbers]}.", part);
  const bool isFine = finish();
  isTensor_ = false;
  return isFine;
}

bool JsonCollector::start_array(std::size_t) {
  if (isOptions_)
    return counts_.empty() ? (counts_.push_back(0), note("[", false))
                           : fail(ErrorKind::type, "an option has lists in lists; give one.");
  if (isTensor_) {
    if (part_ == "dtype")
      return fail(ErrorKind::type, "a list is not a text; use \"float32\" or the like.", ".dtype");
    if (!counts_.empty()) return failItem("a list");
    counts_.push_back(0);
    return true;
  }
  if (depth_ == 0 && counts_.empty()) begin();
  if (counts_.size() == kMaxRank)
    return fail(ErrorKind::range, "its lists are more than 32 deep; use fewer.");
  if (leaf_ != 0 && counts_.size() >= leaf_)
    return refuse(ErrorKind::type, itemField(),
                  "it is not as deep as those before; give every row the same depth.");
  if (!counts_.empty()) ++counts_.back();
  counts_.push_back(0);
  return true;
}

bool JsonCollector::end_array() {
  const std::int64_t count = counts_.back();
  const std::size_t level = counts_.size() - 1;
  if (isOptions_ || isTensor_) {
    counts_.pop_back();
    if (isOptions_) return note("]", false);
    leaf_ = 0;
    return true;
  }
  if (shape_.size() <= level) shape_.resize(level + 1, -1);
  if (shape_[level] >= 0 && shape_[level] != count)
    return refuse(ErrorKind::range, listAt(level - 1),
                  base::message({"row ", counts_[level - 1] - 1, " (from 0) has ", count,
                                 level + 1 == leaf_ ? (count == 1 ? " value" : " values")
                                 : count == 1       ? " row"
                                                    : " rows",
                                 ", those before it ", shape_[level], "; give every row the same length."}));
  shape_[level] = count;
  if (count == 0 && leaf_ == 0) leaf_ = level + 1;
  counts_.pop_back();
  return level == 0 ? finish() : true;
}

bool JsonCollector::finish() {
  Stored tensor;
  tensor.name = base::printable(name_), tensor.shape = shape_;
  const std::optional<std::int64_t> count = checkedCount(shape_);
  if (!count || static_cast<std::size_t>(*count) != count_)
    return fail(
        ErrorKind::range,
        base::message({"there are ", count_, " values, but the shape ", shapeText(shape_), " asks for ",
                       count ? base::message({*count, std::string_view()})
                             : base::Message("more than any memory holds"),
                       "; make them fit."}),
        ".data");
  if (file.tensors.size() == kMostTensors)
    return fail(ErrorKind::memory,
                base::message({"there are more than ", kMostTensors, " tensors; give fewer."}));
  mostValues_ -= std::min(mostValues_, count_);
  if (kind_ == Item::text) {
    tensor.type = Type::text, tensor.texts = std::move(texts_);
    return file.tensors.push_back(std::move(tensor)), true;
  }
  tensor.type = typeOf(kind_);
  const auto size = static_cast<std::size_t>(bytesOf(tensor.type));
  if (values_.empty()) return keep(std::move(tensor), std::move(bytes_), count_ * size), true;
  char* const bytes = reinterpret_cast<char*>(values_.data());
  for (std::size_t i = 0; i < count_; ++i)  // overwrites only values already read
    if (!encode(values_[i], kind_, tensor.type, i, bytes + i * size)) return false;
  return keep(std::move(tensor), std::move(values_), count_ * size), true;
}

template <class T>
void JsonCollector::keep(Stored tensor, std::vector<T> values, std::size_t size) {
  values.resize((size + sizeof(T) - 1) / sizeof(T));
  if (values.capacity() / 2 > values.size()) values.shrink_to_fit();
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  const char* const bytes = reinterpret_cast<const char*>(kept->data());
  tensor.bytes = {bytes, size};
  tensor.owned = std::shared_ptr<const char[]>(kept, bytes);
  file.tensors.push_back(std::move(tensor));
}

Result<StoredFile> collected(std::string_view text, std::string_view name, bool mayBePython) {
  JsonCollector collector(text, name);
  const Result<void> ok = collector.parse("file");
  if (collector.isPython && mayBePython)
    if (const Result<std::string> json = jsonOfPrinted(text)) return collected(*json, name, false);
  if (collector.file.isState) collector.file.tensors.clear();  // and it was read no further
  else if (!ok) return ok.error();
  if (const std::string* const twice = repeatedName(collector.file))
    return base::refuse(ErrorKind::syntax, "file", {inQuotes(*twice), " is given twice; give it once."});
  return std::move(collector.file);
}

}  // namespace

bool isJson(std::string_view bytes) {
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ||
         ((bytes[first] == '{' || bytes[first] == '[') && !isSafetensors(bytes));
}

/// Reads {"name": {"shape", "data", "dtype"}, …}, where a nested list or a single value may replace an
/// object, or one nested list, which is called `name`. Lists of texts become tensors of texts, and "options"
/// a note. Numbers without a dtype are float32. "nan", "inf" and "-inf" are numbers. A text with "version" is
/// a state (StoredFile::isState), and read no further. An error, with the position, for invalid JSON, ragged
/// rows, duplicate names, and values that do not match type or shape.
Result<StoredFile> readJson(std::string_view text, std::string_view name) {
  return collected(text, name, true);
}

/// Writes plain() tensors in the format of readJson(), one per line. Floats have the fewest digits that read
/// back to the same bits.
bool writeJson(const StoredFile& file, const Put& put) {
  constexpr std::size_t piece = 1 << 16;
  std::string out = "{";
  bool isFirst = true;
  const auto begin = [&](const std::string& name) {
    out += (std::exchange(isFirst, false) ? "" : ",\n ") + document::jsonQuoted(name) + ": ";
  };
  for (const Stored& tensor : file.tensors) {
    begin(tensor.name);
    const bool isText = tensor.type == Type::text, isBool = tensor.type == Type::boolean;
    if (!isText) {
      out += "{\"shape\": " + shapeText(tensor.shape) + ", ";
      if (tensor.type != Type::float32) out += "\"dtype\": \"" + std::string(name(tensor.type)) + "\", ";
      out += "\"data\": ";
    }
    const bool isList = !isText || !tensor.shape.empty();
    if (isList) out += "[";
    const std::size_t count =
        isText ? tensor.texts.size() : tensor.bytes.size() / static_cast<std::size_t>(bytesOf(tensor.type));
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      if (isText) {
        out += document::jsonQuoted(tensor.texts[i]);
      } else {
        const std::string text = textOf(tensor, i);
        const bool isWord = !isBool && (text.ends_with("inf") || text == "nan");
        if (isWord) out += '"';
        out += text == "-0" ? "-0.0" : text;  // -0 would be read as an integer and lose its sign
        if (isWord) out += '"';
      }
      if (out.size() < piece) continue;
      if (!put(out)) return false;
      out.clear();
    }
    if (isList) out += "]";
    if (!isText) out += "}";
  }
  for (const auto& [key, text] : file.notes) {
    if (key != "options") continue;
    begin(key);
    out += text;
  }
  return put(out + "}\n");
}

}  // namespace files
