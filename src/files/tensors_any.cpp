#include "files/tensors_any.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/sentence.h"
#include "document/json.h"
#include "files/printed.h"
#include "files/table.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

constexpr std::size_t kFew = 64;  ///< values of a small tensor

/// Receives the events of the parser. Numbers are stored in the type of their tensor, so that they take no
/// more memory than it has to; where data stand before their dtype, as 64 bits each until the tensor ends.
class AnyCollector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// Every number takes at least two characters of the text, of which one separates it from the next.
  AnyCollector(std::string_view text, std::string_view name)
      : mostValues_(
            std::min(text.size() / 2, static_cast<std::size_t>(std::count(text.begin(), text.end(), ','))) +
            1),
        name_(name) {}

  Result<void> ok;
  bool isNoJson = false;
  StoredFile file;

  bool null() override { return fail(ErrorKind::type, "null is no number; give a number."); }
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
    return isOptions_ ? note(digits) : take(std::bit_cast<std::uint64_t>(value), Item::real);
  }
  bool string(std::string& text) override;
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool key(std::string& text) override;
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    isNoJson = true;
    if (ok)
      ok = base::refuse(ErrorKind::syntax, "file",
                        {"it is no JSON at byte " + std::to_string(at) +
                         ", or ends too early; check that the file is complete."});
    return false;
  }

 private:
  enum class Item : std::uint8_t { none, truth, whole, natural, real, text };

  bool fail(ErrorKind kind, const std::string& sentence) {
    if (ok) ok = base::refuse(kind, fieldOf(name_), {sentence});
    return false;
  }
  bool note(const std::string& text, bool isItem = true) {
    if (isItem && !counts_.empty() && counts_.back()++ > 0) options_ += ", ";
    options_ += text;
    return true;
  }
  void begin() {
    bytes_ = {}, values_ = {}, texts_ = {}, shape_.clear(), counts_.clear(), type_.reset();
    kind_ = Item::none, count_ = leaf_ = 0, hasShape_ = hasData_ = false;
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
  std::string place(std::size_t index) const;
  bool encode(std::uint64_t bits, Item kind, Type type, std::size_t index, char* to);
  bool finish();
  template <class T>
  void keep(Stored tensor, std::vector<T> values, std::size_t size);

  std::size_t mostValues_, mostTexts_ = kMostTexts;  ///< that may still come

  std::string name_, part_, options_;
  int depth_ = 0;  ///< nesting of objects
  bool isOptions_ = false, isTensor_ = false, hasShape_ = false, hasData_ = false;
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

bool AnyCollector::takeSize(std::uint64_t value, Item kind) {
  if (kind != Item::whole || std::bit_cast<std::int64_t>(value) < 0 || shape_.size() == kMaxRank)
    return fail(ErrorKind::range, "its shape is none; give at most 32 whole numbers.");
  shape_.push_back(std::bit_cast<std::int64_t>(value));
  return true;
}

bool AnyCollector::take(std::uint64_t bits, Item kind) {
  if (isTensor_ && part_ == "shape" && !counts_.empty()) return takeSize(bits, kind);
  if (isTensor_ && counts_.empty())
    return fail(ErrorKind::type, "its " + part_ + " is a single value; give a list.");
  if (depth_ == 0 && counts_.empty())
    return fail(ErrorKind::type, "a single value is not a tensor; give a list or an object.");
  if (!counts_.empty()) {
    if (leaf_ == 0) leaf_ = counts_.size();
    if (leaf_ != counts_.size())
      return fail(ErrorKind::type, "its lists are not equally deep; give every row the same depth.");
    ++counts_.back();
  }
  if (kind_ == Item::none) kind_ = kind;
  if ((kind == Item::truth) != (kind_ == Item::truth) || (kind == Item::text) != (kind_ == Item::text))
    return fail(ErrorKind::type, "it mixes numbers, texts, true and false; give one kind only.");
  if (kind != Item::text && !(isTypeKnown() ? store(bits, kind) : defer(bits, kind))) return false;
  ++count_;
  return counts_.empty() && !isTensor_ ? finish() : true;
}

/// Makes room for the values of a tensor at its first one, and if it is not a small one, for as many as may
/// come. Its shape may claim any size.
template <class T>
void AnyCollector::reserve(std::vector<T>& values, std::size_t each) {
  if (count_ != 0 && count_ != kFew) return;
  std::size_t most = count_ == 0 ? std::min(mostValues_, kFew) : mostValues_;
  if (hasShape_) most = std::min(most, static_cast<std::size_t>(checkedCount(shape_).value_or(0)));
  values.reserve(most * each);
}

bool AnyCollector::store(std::uint64_t bits, Item kind) {
  const Type type = typeOf(kind);
  char item[sizeof bits];
  if (!encode(bits, kind, type, count_, item)) return false;
  const auto size = static_cast<std::size_t>(bytesOf(type));
  reserve(bytes_, size);
  bytes_.insert(bytes_.end(), item, item + size);
  return true;
}

bool AnyCollector::defer(std::uint64_t bits, Item kind) {
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

/// Where a value is in its tensor: by the shape, or by the lists that are open.
std::string AnyCollector::place(std::size_t index) const {
  if (!isTensor_) {
    std::vector<std::int64_t> indices;
    for (const std::int64_t count : counts_) indices.push_back(count - 1);
    return shapeText(indices);
  }
  const bool isInShape = hasShape_ && static_cast<std::size_t>(checkedCount(shape_).value_or(0)) > index;
  return isInShape ? placeOf(shape_, index) : shapeText({static_cast<std::int64_t>(index)});
}

/// Writes a value in a type; an error if it is none of that type.
bool AnyCollector::encode(std::uint64_t bits, Item kind, Type type, std::size_t index, char* to) {
  if (kind == Item::truth && type != Type::boolean)
    return fail(ErrorKind::type, "its data are true and false; use \"bool\" or give numbers.");
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
    case Type::boolean: fits = isWhole && bits <= 1; break;
    case Type::uint64: fits = isWhole && real >= 0; break;
    case Type::int64: fits = isWhole && kind != Item::natural; break;
    default: {
      const bool isSigned = type < Type::uint8;
      const double most = std::ldexp(1.0, static_cast<int>(8 * size) - (isSigned ? 1 : 0));
      fits = isWhole && real < most && real >= (isSigned ? -most : 0);
    }
  }
  std::memcpy(to, &out, size);
  return fits ||
         fail(ErrorKind::range, "its value " + std::to_string(real) + " at " + place(index) + " is no " +
                                    std::string(files::name(type)) + "; give numbers that fit.");
}

bool AnyCollector::string(std::string& text) {
  if (isOptions_) return note(document::jsonQuoted(text));
  if (isTensor_ && counts_.empty() && part_ == "dtype") {
    if (type_) return fail(ErrorKind::syntax, "it has two dtypes; give one.");
    type_ = typeNamed(text);
    return type_ && *type_ != Type::text
               ? true
               : fail(ErrorKind::type,
                      "its dtype " + inQuotes(text) +
                          " is unknown; use \"float32\", \"float64\", \"int64\", \"bool\" or the like.");
  }
  const bool isNumber = text == "inf" || text == "-inf" || text == "nan";
  if (isNumber && kind_ != Item::text)
    return take(std::bit_cast<std::uint64_t>(text == "nan"   ? std::numeric_limits<double>::quiet_NaN()
                                             : text == "inf" ? HUGE_VAL
                                                             : -HUGE_VAL),
                Item::real);
  if (isTensor_) return fail(ErrorKind::type, inQuotes(text) + " is no number; give a number.");
  if (mostTexts_-- == 0)
    return fail(ErrorKind::memory,
                "the file has more than " + std::to_string(kMostTexts) + " texts; give fewer.");
  texts_.push_back(std::move(text));
  return take(0, Item::text);
}

bool AnyCollector::key(std::string& text) {
  if (isOptions_) {
    if (!options_.ends_with('{')) options_ += ", ";
    options_ += document::jsonQuoted(text) + ": ";
    return true;
  }
  if (depth_ == 1) {
    name_ = std::move(text);
    begin();
    isTensor_ = false;
    return true;
  }
  part_ = std::move(text);
  if (part_ == "shape" || part_ == "data" || part_ == "dtype") return true;
  return fail(ErrorKind::syntax,
              "its field " + inQuotes(part_) + " is unknown; expected shape, data and dtype.");
}

bool AnyCollector::start_object(std::size_t) {
  if (isOptions_ || !counts_.empty() || depth_ == 2)
    return fail(ErrorKind::type, "an object stands where a number should; give a number.");
  if (++depth_ == 1) return true;
  if (name_ == "options") return isOptions_ = true, note("{", false);
  return isTensor_ = true;
}

bool AnyCollector::end_object() {
  --depth_;
  if (isOptions_) {
    isOptions_ = false;
    file.notes.emplace_back("options", std::exchange(options_, {}) + "}");
    return true;
  }
  if (!std::exchange(isTensor_, false)) return true;
  if (!hasShape_ || !hasData_)
    return fail(ErrorKind::type,
                "its shape or its data are missing; give {\"shape\": [sizes], \"data\": [numbers]}.");
  return finish();
}

bool AnyCollector::start_array(std::size_t) {
  if (isOptions_)
    return counts_.empty() ? (counts_.push_back(0), note("[", false))
                           : fail(ErrorKind::type, "an option has lists in lists; give one.");
  if (isTensor_) {
    if (!counts_.empty() || part_ == "dtype" || std::exchange(part_ == "shape" ? hasShape_ : hasData_, true))
      return fail(ErrorKind::type, "its " + part_ + " is not one list; give one.");
    counts_.push_back(0);
    if (part_ == "shape") shape_.clear();
    return true;
  }
  if (depth_ == 0 && counts_.empty()) begin();
  if (counts_.size() == kMaxRank)
    return fail(ErrorKind::range, "its lists are more than 32 deep; use fewer.");
  if (leaf_ != 0 && counts_.size() >= leaf_)
    return fail(ErrorKind::type, "its lists are not equally deep; give every row the same depth.");
  if (!counts_.empty()) ++counts_.back();
  counts_.push_back(0);
  return true;
}

bool AnyCollector::end_array() {
  const std::int64_t count = counts_.back();
  counts_.pop_back();
  if (isOptions_) return note("]", false);
  if (isTensor_) {
    leaf_ = 0;
    return true;
  }
  const std::size_t level = counts_.size();
  if (shape_.size() <= level) shape_.resize(level + 1, -1);
  if (shape_[level] >= 0 && shape_[level] != count)
    return fail(ErrorKind::range, "a row has " + std::to_string(count) + " values, those before it " +
                                      std::to_string(shape_[level]) + "; give every row the same length.");
  shape_[level] = count;
  if (count == 0 && leaf_ == 0) leaf_ = level + 1;
  return level == 0 ? finish() : true;
}

bool AnyCollector::finish() {
  Stored tensor;
  tensor.name = base::printable(name_), tensor.shape = shape_;
  const std::optional<std::int64_t> count = checkedCount(shape_);
  if (!count || static_cast<std::size_t>(*count) != count_)
    return fail(ErrorKind::range, "there are " + std::to_string(count_) + " values, but the shape " +
                                      shapeText(shape_) + " asks for " +
                                      (count ? std::to_string(*count) : "more than any memory holds") +
                                      "; make them fit.");
  if (file.tensors.size() == kMostTensors)
    return fail(ErrorKind::memory,
                "there are more than " + std::to_string(kMostTensors) + " tensors; give fewer.");
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
void AnyCollector::keep(Stored tensor, std::vector<T> values, std::size_t size) {
  values.resize((size + sizeof(T) - 1) / sizeof(T));
  if (values.capacity() / 2 > values.size()) values.shrink_to_fit();
  const auto kept = std::make_shared<std::vector<T>>(std::move(values));
  const char* const bytes = reinterpret_cast<const char*>(kept->data());
  tensor.bytes = {bytes, size};
  tensor.owned = std::shared_ptr<const char[]>(kept, bytes);
  file.tensors.push_back(std::move(tensor));
}

Result<StoredFile> collected(std::string_view text, std::string_view name, bool mayBePython) {
  AnyCollector collector(text, name);
  const bool isWhole = nlohmann::json::sax_parse(text.begin(), text.end(),
                                                 static_cast<nlohmann::json::json_sax_t*>(&collector));
  // Python writes infinities and NaN as words that are not JSON.
  if (collector.isNoJson && mayBePython &&
      (text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos))
    if (const Result<std::string> json = jsonOfPrinted(text)) return collected(*json, name, false);
  if (!collector.ok) return collector.ok.error();
  if (!isWhole) return base::refuse(ErrorKind::syntax, "file", {"it is no JSON; check the file."});
  if (const std::string* const twice = repeatedName(collector.file))
    return base::refuse(ErrorKind::syntax, fieldOf(*twice), {"the file has it twice; give it once."});
  return std::move(collector.file);
}

}  // namespace

Result<StoredFile> readAnyJson(std::string_view text, std::string_view name) {
  return collected(text, name, true);
}

bool writeAnyJson(const StoredFile& file, const std::function<bool(std::string_view)>& put) {
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
