#include "files/tensors_json.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "attention/layer/trace.h"
#include "base/number.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/option.h"
#include "files/printed.h"
#include "files/stored.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::int64_t kMaxSize = std::numeric_limits<int>::max();
constexpr std::int64_t kMaxCount = std::int64_t{1} << 60;  ///< products of sizes are limited to this
constexpr float kLargestHalf = 65504.0f;
constexpr std::size_t kMaxAxes = 4;
constexpr std::size_t kMaxLabels = 100'000;
constexpr std::size_t kMaxFields = 1000;  ///< in one object, so that a linear search is fast
constexpr std::string_view kFields =
    "a tensors file has q, k and v, or x, w_q, w_k, w_v and w_o (maybe with b_q, b_k, b_v and b_o), and "
    "maybe mask, past_k, past_v, key_lengths, w_a, u_a, v_a, sink, "
    "what stands around the layer (gamma_1, token_query …), labels and options";

/// The float nearest to a decimal number with these digits; `value` is the nearest double.
float nearestFloat(double value, const std::string& digits) {
  // Rounding through double gives a different result only if the double is exactly between two floats, or
  // below the normal range.
  const bool isBetween = (std::bit_cast<std::uint64_t>(value) & 0x1fffffff) == 0x10000000;
  const bool isSmall = value != 0 && std::abs(value) < 2 * double{FLT_MIN};
  if (isBetween || isSmall) return base::parseFloat(digits).value_or(0.0f);
  if (std::abs(value) > 2 * double{FLT_MAX}) return value < 0 ? -kInfinity : kInfinity;
  return static_cast<float>(value);
}

/// The float16 nearest to a number, ties to even (IEEE 754-2019, binary16: 11 bits of precision, exponents
/// from -14).
float nearestHalf(float value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const int exponent = std::max(std::ilogb(value), -14);
  const float unit = std::ldexp(1.0f, exponent - 10);
  const float rounded = std::nearbyint(value / unit) * unit;
  return std::abs(rounded) > kLargestHalf ? std::copysign(kInfinity, value) : rounded;
}

/// A value that is neither a list nor an object.
struct Scalar {
  enum class Kind : std::uint8_t { null, boolean, number, text };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  float single = 0;
  std::string text;

  std::string described() const {
    switch (kind) {
      case Kind::null: return "null";
      case Kind::boolean: return boolean ? "true" : "false";
      case Kind::number: return base::shortest(number);
      case Kind::text: return base::inQuotes(text);
    }
    return {};
  }
};

/// Receives the events of the parser. Returning false stops the parser; then `ok` holds the error, or
/// `file.isState` is set.
class TensorsCollector final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TensorsCollector(std::string_view text) : text_(text) {}

  Result<void> ok;
  TensorsFile file;
  bool hasInfinity = false;  ///< a mask has one as Python writes it, a word that JSON has not

  bool null() override { return take({}); }
  bool boolean(bool value) override {
    Scalar scalar;
    scalar.kind = Scalar::Kind::boolean;
    scalar.boolean = value;
    if (place_ == Place::data || place_ == Place::lists) return takeBoolean(value);
    return take(scalar);
  }
  bool number_integer(std::int64_t value) override {
    return takeNumber(static_cast<double>(value), static_cast<float>(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    return takeNumber(static_cast<double>(value), static_cast<float>(value));
  }
  bool number_float(double value, const std::string& digits) override {
    return takeNumber(value, nearestFloat(value, digits));
  }
  bool string(std::string& value) override {
    Scalar scalar;
    scalar.kind = Scalar::Kind::text;
    scalar.text = std::move(value);
    return take(scalar);
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool key(std::string& name) override;
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception& why) override;

  /// To be called after the whole text has been parsed.
  bool finish();

 private:
  /// What the parser is currently inside of.
  enum class Place : std::uint8_t {
    start,
    root,
    tensor,
    shape,
    data,
    lists,
    labels,
    options,
    optionList,
    skipped
  };

  using Field = TensorField;

  bool fail(Error::Kind kind, std::string_view field, std::string_view sentence) {
    if (ok) ok = base::refuse(kind, field, {sentence});
    return false;
  }
  bool take(const Scalar& scalar);
  bool takeNumber(double value, float single);
  bool takeBoolean(bool value);
  bool takeItem(float value, bool isBoolean);
  bool takeInfinity(const Scalar& scalar);
  bool takeSize(const Scalar& scalar);
  bool takeType(const Scalar& scalar);
  bool takeOption(const Scalar& scalar);
  bool takeListed(const Scalar& scalar);
  bool takeLabel(const Scalar& scalar);
  bool failLabel(std::string_view what);
  bool openList();
  bool closeList();
  bool beginTensor();
  bool finishTensor();
  bool checkItems();
  std::string named(std::string_view part) const { return std::string(field_->name) + std::string(part); }
  /// The position in the first `depth` open lists: "q[1][0]".
  std::string path(std::size_t depth) const {
    std::string out(field_->name);
    for (std::size_t i = 0; i < depth; ++i)
      out += "[" + std::to_string(counts_[i] - (i + 1 < counts_.size() ? 1 : 0)) + "]";
    return out;
  }
  std::string itemField() const {
    return place_ == Place::lists ? path(counts_.size())
                                  : named(".data[") + std::to_string(array_.values.size()) + "]";
  }
  std::string position(std::size_t at) const;

  std::string_view text_;
  Place place_ = Place::start;
  std::vector<std::string> rootKeys_;
  std::string unknown_;    ///< the first unknown field
  std::size_t depth_ = 0;  ///< nesting of lists and objects in a skipped field

  std::vector<Field> fields_ = tensorFields(file);
  Field* field_ = nullptr;                            ///< of the root's next value, or of the one being read
  bool isOptions_ = false;                            ///< the root's next value is options
  std::optional<document::Value>* labels_ = nullptr;  ///< where the value is stored, if it is labels

  Array array_;
  std::string part_;  ///< the key within the tensor
  bool hasShape_ = false, hasData_ = false, hasType_ = false, isBrain_ = false;
  std::size_t booleans_ = 0, infinities_ = 0;
  std::size_t firstInfinity_ = 0;

  std::size_t level_ = 0;             ///< nesting depth of lists
  std::vector<std::int64_t> counts_;  ///< number of items so far, for each open list
  std::size_t leafLevel_ = 0;         ///< the depth whose items are numbers; 0: unknown

  std::string option_;
};

// ---- values

bool TensorsCollector::takeNumber(double value, float single) {
  if (place_ == Place::data || place_ == Place::lists) return takeItem(single, false);
  Scalar scalar;
  scalar.kind = Scalar::Kind::number;
  scalar.number = value;
  scalar.single = single;
  return take(scalar);
}

bool TensorsCollector::takeBoolean(bool value) {
  if (!field_->isMask)
    return fail(Error::Kind::type, itemField(),
                std::string(value ? "true" : "false") + " is not a number; give a number.");
  ++booleans_;
  return takeItem(value ? 1.0f : 0.0f, true);
}

bool TensorsCollector::takeItem(float value, bool isBoolean) {
  if (!std::isfinite(value))
    return fail(Error::Kind::range, itemField(),
                "the number is too large for 32 bits; use -3.4e38 to 3.4e38.");
  if (!isBoolean && booleans_ > 0)
    return fail(Error::Kind::type, itemField(), "a number follows true or false; give one kind only.");
  if (isBoolean && booleans_ != array_.values.size() + 1)
    return fail(Error::Kind::type, itemField(), "true or false follows a number; give one kind only.");
  if (place_ == Place::lists) {
    if (leafLevel_ == 0) leafLevel_ = level_;
    if (leafLevel_ != level_)
      return fail(Error::Kind::type, itemField(),
                  "it is not as deep as those before; give every row the same depth.");
    ++counts_.back();
  }
  array_.values.push_back(value);
  return true;
}

bool TensorsCollector::takeInfinity(const Scalar& scalar) {
  const bool isInfinity =
      scalar.kind == Scalar::Kind::text && (scalar.text == "-inf" || scalar.text == "inf");
  if (!isInfinity)
    return fail(Error::Kind::type, itemField(),
                scalar.described() + (field_->isMask ? " is not a number; give a number, \"-inf\" or \"inf\"."
                                                     : " is not a number; give a finite number."));
  if (!field_->isMask)
    return fail(Error::Kind::range, itemField(),
                scalar.described() + " is only for a mask; give a finite number.");
  if (infinities_++ == 0) firstInfinity_ = array_.values.size();
  // Passes a number through the checks of takeItem(), then replaces it.
  if (!takeItem(0.0f, false)) return false;
  array_.values.back() = scalar.text == "inf" ? kInfinity : -kInfinity;
  return true;
}

bool TensorsCollector::takeSize(const Scalar& scalar) {
  const std::string field = named(".shape[") + std::to_string(array_.shape.size()) + "]";
  const bool isWhole = scalar.kind == Scalar::Kind::number && scalar.number == std::floor(scalar.number);
  if (!isWhole || scalar.number < 0 || scalar.number > static_cast<double>(kMaxSize))
    return fail(scalar.kind == Scalar::Kind::number ? Error::Kind::range : Error::Kind::type, field,
                scalar.described() + " is not a size; give a whole number from 0 to " +
                    std::to_string(kMaxSize) + ".");
  if (array_.shape.size() == kMaxAxes)
    return fail(Error::Kind::range, named(".shape"), "it has more than 4 sizes; use at most 4.");
  array_.shape.push_back(static_cast<std::int64_t>(scalar.number));
  return true;
}

bool TensorsCollector::takeType(const Scalar& scalar) {
  const bool isLengths = field_->name == "key_lengths";
  const std::string_view text =
      scalar.kind == Scalar::Kind::text ? std::string_view(scalar.text) : std::string_view();
  hasType_ = true;
  if (isLengths && (text == "int64" || text == "int32")) return true;
  // Computation is in 32 bits: float64 is rounded, and integers are converted.
  if (!isLengths && (text == "float32" || text == "float64")) return true;
  const bool isWhole = text.starts_with("int") || text.starts_with("uint");
  if (!isLengths && !field_->isMask && isWhole) return true;
  if (!isLengths && text == "bfloat16") return isBrain_ = true;
  if (!isLengths && text == "float16") return array_.type = Array::Type::float16, true;
  if (field_->isMask && text == "bool") return array_.type = Array::Type::boolean, true;
  return fail(Error::Kind::type, named(".dtype"),
              scalar.described() + " cannot be read; use " +
                  (isLengths        ? "\"int64\" or \"int32\"."
                   : field_->isMask ? "\"bool\", \"float32\", \"float64\" or \"float16\"."
                                    : "\"float32\", \"float64\" or \"float16\"."));
}

bool TensorsCollector::takeOption(const Scalar& scalar) {
  Setting setting;
  setting.name = option_;
  setting.field = "options." + option_;
  switch (scalar.kind) {
    case Scalar::Kind::null:
      return fail(Error::Kind::type, setting.field, "null is not a value; leave the option out.");
    case Scalar::Kind::boolean: setting.kind = Setting::Kind::boolean; break;
    case Scalar::Kind::number: setting.kind = Setting::Kind::number; break;
    case Scalar::Kind::text: setting.kind = Setting::Kind::text; break;
  }
  setting.boolean = scalar.boolean;
  setting.number = scalar.number;
  setting.text = scalar.text;
  file.options.push_back(std::move(setting));
  return true;
}

/// Appends a number to an option that is a list; its setting is the text of that list.
bool TensorsCollector::takeListed(const Scalar& scalar) {
  std::string& text = file.options.back().text;
  if (scalar.kind != Scalar::Kind::number)
    return fail(Error::Kind::type, "options." + option_,
                scalar.described() + " is no whole number; give a list of these.");
  if (text.size() > kMaxFields * 16)
    return fail(Error::Kind::range, "options." + option_, "there are too many; give fewer.");
  text.insert(text.size() - 1, (text.size() > 2 ? "," : "") + base::shortest(scalar.number));
  return true;
}

bool TensorsCollector::take(const Scalar& scalar) {
  switch (place_) {
    case Place::start:
      return fail(Error::Kind::type, "file",
                  scalar.described() + " is not an object; " + std::string(kFields) + ".");
    case Place::root:
      if (field_)
        return fail(Error::Kind::type, field_->name,
                    scalar.described() + " is not a tensor; give {\"shape\": [sizes], \"data\": [numbers]}.");
      if (isOptions_)
        return fail(Error::Kind::type, "options",
                    scalar.described() + " is not an object; give {\"causal\": true} or the like.");
      if (labels_ && scalar.kind != Scalar::Kind::text)
        return fail(Error::Kind::type, rootKeys_.back(),
                    scalar.described() + " is not a sentence or a list of texts; give one of these.");
      if (labels_) *labels_ = scalar.text;
      return true;
    case Place::tensor:
      if (part_ == "dtype") return takeType(scalar);
      return fail(Error::Kind::type, named(".") + part_,
                  scalar.described() + " is not a list; give a list of numbers.");
    case Place::shape: return takeSize(scalar);
    case Place::data:
    case Place::lists: return takeInfinity(scalar);
    case Place::labels: return takeLabel(scalar);
    case Place::options: return takeOption(scalar);
    case Place::optionList: return takeListed(scalar);
    case Place::skipped: return true;
  }
  return true;
}

bool TensorsCollector::takeLabel(const Scalar& scalar) {
  if (scalar.kind != Scalar::Kind::text) return failLabel(scalar.described());
  auto& labels = *std::get_if<std::vector<std::string>>(&**labels_);
  if (labels.size() == kMaxLabels)
    return fail(Error::Kind::memory, rootKeys_.back(),
                "there are more than " + std::to_string(kMaxLabels) + "; give fewer.");
  labels.push_back(scalar.text);
  return true;
}

bool TensorsCollector::failLabel(std::string_view what) {
  const std::size_t index = std::get_if<std::vector<std::string>>(&**labels_)->size();
  return fail(Error::Kind::type, rootKeys_.back() + "[" + std::to_string(index) + "]",
              std::string(what) + " is not a text; give a list of texts.");
}

// ---- structure

bool TensorsCollector::key(std::string& name) {
  if (place_ == Place::skipped) return true;
  if (place_ == Place::tensor) {
    bool* const given = name == "shape"   ? &hasShape_
                        : name == "data"  ? &hasData_
                        : name == "dtype" ? &hasType_
                                          : nullptr;
    if (!given)
      return fail(Error::Kind::type, field_->name,
                  "the field " + base::inQuotes(name) + " is unknown; a tensor has shape, data and dtype.");
    if (*given)
      return fail(Error::Kind::syntax, field_->name, base::inQuotes(name) + " is given twice; give it once.");
    part_ = std::move(name);
    return true;
  }
  if (place_ == Place::options) {
    if (file.options.size() >= kMaxFields)
      return fail(Error::Kind::memory, "options",
                  "there are more than " + std::to_string(kMaxFields) + "; give fewer.");
    for (const Setting& setting : file.options)
      if (setting.name == name)
        return fail(Error::Kind::syntax, "options", base::inQuotes(name) + " is given twice; give it once.");
    option_ = std::move(name);
    return true;
  }
  if (name == "version") {
    file.isState = true;
    return false;
  }
  if (rootKeys_.size() >= kMaxFields)
    return fail(Error::Kind::memory, "file",
                "there are more than " + std::to_string(kMaxFields) + " fields; give fewer.");
  if (std::find(rootKeys_.begin(), rootKeys_.end(), name) != rootKeys_.end())
    return fail(Error::Kind::syntax, "file", base::inQuotes(name) + " is given twice; give it once.");
  rootKeys_.push_back(name);
  field_ = nullptr;
  isOptions_ = name == "options";
  labels_ = name == "labels" || name == "tokens" ? &file.labels
            : name == "key_labels"               ? &file.keyLabels
                                                 : nullptr;
  for (Field& field : fields_)
    if (field.name == name) field_ = &field;
  if (field_ || isOptions_ || labels_) return true;
  if (!isResultName(name) && unknown_.empty()) unknown_ = name;
  return true;
}

bool TensorsCollector::start_object(std::size_t) {
  switch (place_) {
    case Place::start: place_ = Place::root; return true;
    case Place::root:
      if (field_) return place_ = Place::tensor, beginTensor();
      place_ = isOptions_ ? Place::options : Place::skipped;
      depth_ = 1;
      return true;
    case Place::tensor:
      return fail(Error::Kind::type, named(".") + part_, "an object is not a list; give a list of numbers.");
    case Place::shape:
      return fail(Error::Kind::type, named(".shape"), "an object is not a size; give whole numbers.");
    case Place::data:
    case Place::lists:
      return fail(Error::Kind::type, itemField(), "an object is not a number; give a number.");
    case Place::labels: return failLabel("an object");
    case Place::options:
    case Place::optionList:
      return fail(Error::Kind::type, "options." + option_,
                  "an object is no value of an option; give a number, a text, true or false.");
    case Place::skipped: ++depth_; return true;
  }
  return true;
}

bool TensorsCollector::end_object() {
  if (place_ == Place::tensor) {
    place_ = Place::root;
    return finishTensor();
  }
  if (place_ == Place::skipped && --depth_ > 0) return true;
  if (place_ == Place::options || place_ == Place::skipped) place_ = Place::root;
  return true;
}

bool TensorsCollector::start_array(std::size_t) {
  switch (place_) {
    case Place::start:
      return fail(Error::Kind::type, "file", "a list is not an object; " + std::string(kFields) + ".");
    case Place::root:
      if (field_) return place_ = Place::lists, beginTensor() && openList();
      if (isOptions_)
        return fail(Error::Kind::type, "options",
                    "a list is not an object; give {\"causal\": true} or the like.");
      if (labels_) return *labels_ = std::vector<std::string>(), place_ = Place::labels, true;
      place_ = Place::skipped;
      depth_ = 1;
      return true;
    case Place::tensor: {
      if (part_ == "dtype")
        return fail(Error::Kind::type, named(".dtype"), "a list is not a text; use \"float32\" or the like.");
      const bool isShape = part_ == "shape";
      (isShape ? hasShape_ : hasData_) = true;
      place_ = isShape ? Place::shape : Place::data;
      if (isShape || !hasShape_) return true;
      // The shape may claim any size, but each value takes at least two bytes of text.
      std::int64_t count = 1;
      for (const std::int64_t size : array_.shape)
        count = size > 0 && count > kMaxCount / size ? kMaxCount : count * size;
      array_.values.reserve(std::min(static_cast<std::size_t>(count), text_.size() / 2));
      return true;
    }
    case Place::shape:
      return fail(Error::Kind::type, named(".shape"), "a list is not a size; give whole numbers.");
    case Place::data:
      return fail(Error::Kind::type, itemField(),
                  "a list is not a number; give the numbers row after row, in one list.");
    case Place::lists: return openList();
    case Place::labels: return failLabel("a list");
    case Place::options: {
      const document::Option* option = document::optionNamed(option_);
      if (!option || option->type != document::OptionType::ids)
        return fail(Error::Kind::type, "options." + option_,
                    "a list is no value of an option; give a number, a text, true or false.");
      Setting setting;
      setting.kind = Setting::Kind::text, setting.name = option_, setting.field = "options." + option_,
      setting.text = "[]";
      file.options.push_back(std::move(setting));
      return place_ = Place::optionList, true;
    }
    case Place::optionList:
      return fail(Error::Kind::type, "options." + option_,
                  "a list is no whole number; give a list of these.");
    case Place::skipped: ++depth_; return true;
  }
  return true;
}

bool TensorsCollector::end_array() {
  switch (place_) {
    case Place::shape:
    case Place::data: place_ = Place::tensor; return true;
    case Place::lists: return closeList();
    case Place::labels: place_ = Place::root; return true;
    case Place::optionList: place_ = Place::options; return true;
    case Place::skipped:
      if (--depth_ == 0) place_ = Place::root;
      return true;
    default: return true;
  }
}

bool TensorsCollector::openList() {
  if (level_ == kMaxAxes)
    return fail(Error::Kind::range, field_->name, "lists are more than 4 deep; use at most 4.");
  if (leafLevel_ != 0 && level_ >= leafLevel_)
    return fail(Error::Kind::type, itemField(),
                "it is not as deep as those before; give every row the same depth.");
  if (level_ > 0) ++counts_.back();
  ++level_;
  counts_.push_back(0);
  return true;
}

bool TensorsCollector::closeList() {
  const std::int64_t count = counts_.back();
  if (array_.shape.size() < level_) array_.shape.resize(level_, -1);
  std::int64_t& size = array_.shape[level_ - 1];
  if (size >= 0 && size != count)
    return fail(Error::Kind::range, path(level_ - 2),
                "row " + std::to_string(counts_[level_ - 2] - 1) + " (from 0) has " + std::to_string(count) +
                    (level_ == leafLevel_ ? " values" : " rows") + ", those before it " +
                    std::to_string(size) + "; give every row the same length.");
  size = count;
  // An empty list does not determine the depth of the items; other lists on its level must be empty too.
  if (count == 0 && leafLevel_ == 0) leafLevel_ = level_;
  counts_.pop_back();
  if (--level_ > 0) return true;
  place_ = Place::root;
  return checkItems();
}

bool TensorsCollector::beginTensor() {
  array_ = Array{};
  part_.clear();
  hasShape_ = hasData_ = hasType_ = isBrain_ = false;
  booleans_ = infinities_ = 0;
  level_ = leafLevel_ = 0;
  counts_.clear();
  return true;
}

bool TensorsCollector::finishTensor() {
  for (const auto& [given, part] : {std::pair(hasShape_, ".shape"), std::pair(hasData_, ".data")})
    if (!given)
      return fail(Error::Kind::type, named(part),
                  "it is missing; give {\"shape\": [sizes], \"data\": [numbers]}.");
  std::int64_t count = 1;
  for (const std::int64_t size : array_.shape)
    count = size > 0 && count > kMaxCount / size ? kMaxCount : count * size;
  if (count != static_cast<std::int64_t>(array_.values.size()))
    return fail(Error::Kind::range, named(".data"),
                "there are " + std::to_string(array_.values.size()) + " values, but the shape " +
                    base::shapeText(array_.shape) + " asks for " +
                    (count == kMaxCount ? "more than any memory holds" : std::to_string(count)) +
                    "; make them fit.");
  return checkItems();
}

bool TensorsCollector::checkItems() {
  const bool isBool = array_.type == Array::Type::boolean;
  if (booleans_ > 0 && hasType_ && !isBool)
    return fail(Error::Kind::type, named(".dtype"),
                "the data are true and false; use \"bool\" or give numbers.");
  if (booleans_ > 0) array_.type = Array::Type::boolean;
  if (isBool && infinities_ > 0)
    return fail(Error::Kind::type, named(".data[") + std::to_string(firstInfinity_) + "]",
                "an infinity is not true or false; give true or false, or a mask of dtype \"float32\".");
  for (std::size_t i = 0; i < array_.values.size() && (isBool || array_.type == Array::Type::float16); ++i) {
    float& value = array_.values[i];
    const std::string at = "[" + std::to_string(i) + "]";
    if (isBool && value != 0.0f && value != 1.0f)
      return fail(Error::Kind::type, named(".data") + at,
                  base::shortest(value) + " is not true or false; give true, false, 1 or 0.");
    if (isBool) continue;
    const float half = nearestHalf(value);
    if (std::isinf(half) && !std::isinf(value))
      return fail(
          Error::Kind::range, named(".data") + at,
          base::shortest(value) + " is too large for float16; use -65504 to 65504, or dtype \"float32\".");
    value = half;
  }
  for (float& value : array_.values)
    if (isBrain_) value = floatOfBrain(brainOf(value));
  *field_->target = std::move(array_);
  return true;
}

// ---- the ends

std::string TensorsCollector::position(std::size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return "line " + std::to_string(lines + 1) + ", column " + std::to_string(at - start + 1);
}

bool isPartOfWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '+';
}

bool TensorsCollector::parse_error(std::size_t position_, const std::string& token,
                                   const nlohmann::detail::exception& why) {
  constexpr int tooLarge = 406;  // the parser's error number for a number beyond the range of double
  const std::size_t at = position_ > 0 ? position_ - 1 : 0;
  const bool isItem = field_ && (place_ == Place::data || place_ == Place::lists);
  const std::string field = isItem ? itemField() : "file";
  if (why.id == tooLarge)
    return fail(Error::Kind::range, field,
                base::inQuotes(token) + " is too large for 32 bits; use -3.4e38 to 3.4e38.");
  std::size_t begin = std::min(at, text_.size()), end = begin;
  while (begin > 0 && isPartOfWord(text_[begin - 1])) --begin;
  while (end < text_.size() && isPartOfWord(text_[end])) ++end;
  const std::string_view word = text_.substr(begin, std::max<std::size_t>(end - begin, 1));
  hasInfinity = isItem && field_->isMask && word.ends_with("Infinity");
  for (const std::string_view notFinite : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"})
    if (word == notFinite)
      return fail(Error::Kind::range, field,
                  std::string(word) + " cannot be used; give a finite number" +
                      (isItem && field_->isMask ? ", or the text \"-inf\" to mask." : "."));
  if (at >= text_.size())
    return fail(
        Error::Kind::syntax, "file",
        "the text ends too early, at " + position(text_.size()) + "; check that the file is complete.");
  return fail(Error::Kind::syntax, "file",
              "at " + position(at) + " " + base::inQuotes(word) +
                  " does not belong there; give valid JSON in UTF-8.");
}

bool TensorsCollector::finish() {
  settleMode(file);
  ok = checkFields(file, unknown_);
  return bool(ok);
}

void append(std::string& out, float value) {
  if (std::isinf(value)) {
    out += value < 0 ? "\"-inf\"" : "\"inf\"";
    return;
  }
  if (value == 0) {  // "-0" would be read as an integer and lose its sign
    out += std::signbit(value) ? "-0.0" : "0";
    return;
  }
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value);
  out.append(text, end.ptr);
}

Result<TensorsFile> collected(std::string_view text, bool mayBePython) {
  TensorsCollector collector(text);
  // Through the base class, so that all readers share one instantiation of the parser.
  const bool isWhole = nlohmann::json::sax_parse(text.begin(), text.end(),
                                                 static_cast<nlohmann::json::json_sax_t*>(&collector));
  if (collector.hasInfinity && mayBePython)
    if (const Result<std::string> json = jsonOfPrinted(text)) return collected(*json, false);
  if (!collector.ok) return collector.ok.error();
  if (isWhole && !collector.finish()) return collector.ok.error();
  if (!isWhole && !collector.file.isState)
    return base::refuse(Error::Kind::syntax, "file", {"it is not JSON; check the file."});
  if (collector.file.isState) {
    TensorsFile file;
    file.isState = true;
    return file;
  }
  return std::move(collector.file);
}

}  // namespace

Result<TensorsFile> readTensorsFile(std::string_view text) {
  if (text.substr(0, 3) == "\xef\xbb\xbf" || text.substr(0, 2) == "\xff\xfe" ||
      text.substr(0, 2) == "\xfe\xff")
    return base::refuse(Error::Kind::syntax, "file",
                        {"it begins with a byte order mark; save it as UTF-8 without one."});
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return base::refuse(Error::Kind::syntax, "file", {"it is empty; give a state or tensors in JSON."});
  return collected(text, true);
}

std::vector<TensorField> tensorFields(TensorsFile& file) {
  std::vector<TensorField> fields{{"q", &file.q},
                                  {"k", &file.k},
                                  {"v", &file.v},
                                  {"mask", &file.mask, true},
                                  {"past_k", &file.pastK},
                                  {"past_v", &file.pastV},
                                  {"key_lengths", &file.keyLengths},
                                  {"w_a", &file.wA},
                                  {"u_a", &file.uA},
                                  {"v_a", &file.vA},
                                  {"sink", &file.sink},
                                  {"d_output", &file.dOutput},
                                  {"d_weights", &file.dWeights},
                                  {"x", &file.x},
                                  {"x_kv", &file.xKv},
                                  {"w_q", &file.wQ},
                                  {"w_k", &file.wK},
                                  {"w_v", &file.wV},
                                  {"w_o", &file.wO},
                                  {"b_q", &file.bQ},
                                  {"b_k", &file.bK},
                                  {"b_v", &file.bV},
                                  {"b_o", &file.bO},
                                  {"x_v", &file.xV}};
  for (std::size_t i = 0; i < file.parameters.size(); ++i)
    fields.push_back({document::name(static_cast<document::ParameterId>(i)), &file.parameters[i]});
  return fields;
}

bool isResultName(std::string_view name) {
  return (attention::tensorNamed(name) && name != "bias") || name == "softcapped" || name == "present_k" ||
         name == "present_v";
}

void settleMode(TensorsFile& file) {
  const auto mode = std::find_if(file.options.begin(), file.options.end(),
                                 [](const Setting& setting) { return setting.name == "mode"; });
  if (mode == file.options.end()) return;
  if (mode->text == "x") file.q.reset(), file.k.reset(), file.v.reset();
  if (mode->text == "qkv")
    for (std::optional<Array>* one : {&file.x, &file.xKv, &file.wQ, &file.wK, &file.wV, &file.wO, &file.bQ,
                                      &file.bK, &file.bV, &file.bO, &file.xV})
      one->reset();
  file.options.erase(mode);
}

Result<void> checkFields(const TensorsFile& file, std::string_view unknown) {
  if (!unknown.empty())
    return base::refuse(Error::Kind::type, inQuotes(unknown),
                        {"the field is unknown; " + std::string(kFields) + "."});
  const auto missing = [](std::string_view name) {
    return Error{Error::Kind::type, std::string(name), base::joined({"it is missing; ", kFields, "."}), false,
                 Error::Fault::missing};
  };
  const std::pair<std::string_view, bool> direct[] = {
      {"q", file.q.has_value()}, {"k", file.k.has_value()}, {"v", file.v.has_value()}};
  const std::pair<std::string_view, bool> projected[] = {
      {"x", file.x.has_value()},    {"x_kv", file.xKv.has_value()}, {"w_q", file.wQ.has_value()},
      {"w_k", file.wK.has_value()}, {"w_v", file.wV.has_value()},   {"w_o", file.wO.has_value()},
      {"b_q", file.bQ.has_value()}, {"b_k", file.bK.has_value()},   {"b_v", file.bV.has_value()},
      {"b_o", file.bO.has_value()}, {"x_v", file.xV.has_value()}};
  if (file.q || !file.x) {
    for (const auto& [name, isGiven] : direct)
      if (!isGiven) return missing(name);
    for (const auto& [name, isGiven] : projected)
      if (isGiven)
        return base::refuse(Error::Kind::range, name,
                            {"q is given too; give either q, k and v, or x and its weights."});
    return {};
  }
  for (const auto& [name, isGiven] : projected)
    if (!isGiven && name != "x_kv" && name != "x_v" && name != "w_o" && !name.starts_with("b_"))
      return missing(name);
  for (const auto& [name, isGiven] :
       {std::pair("past_k", file.pastK.has_value()), std::pair("past_v", file.pastV.has_value())})
    if (isGiven)
      return base::refuse(Error::Kind::range, name,
                          {"it goes with q, k and v, and there is no q; leave it out."});
  return {};
}

std::optional<Setting> settingFrom(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  Setting setting;
  setting.name = text.substr(0, equals);
  setting.field = "--set " + setting.name;
  const std::string value(text.substr(equals + 1));
  document::JsonText json;
  const bool parsed(document::parseJson(value, {}, json));
  const document::Json& root = json.root;
  using JsonKind = document::Json::Kind;
  if (parsed && root.kind == JsonKind::boolean) {
    setting.boolean = root.boolean;
  } else if (parsed && root.kind == JsonKind::number) {
    setting.kind = Setting::Kind::number;
    setting.number = root.number;
  } else {
    setting.kind = Setting::Kind::text;
    setting.text = parsed && root.kind == JsonKind::text ? root.text : value;
  }
  return setting;
}

bool writeTensors(const std::vector<NamedArray>& tensors, const std::function<bool(std::string_view)>& put) {
  constexpr std::size_t piece = 1 << 16;
  std::string out = "{";
  out.reserve(piece + 64);
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const NamedArray& tensor = tensors[t];
    out += (t > 0 ? ",\n " : "") + document::jsonQuoted(tensor.name) +
           ": {\"shape\": " + base::shapeText(tensor.shape) + ", \"data\": [";
    for (std::size_t i = 0; i < tensor.values.size(); ++i) {
      if (i > 0) out += ", ";
      append(out, tensor.values[i]);
      if (out.size() < piece) continue;
      if (!put(out)) return false;
      out.clear();
    }
    out += "]}";
  }
  return put(out + "}\n");
}

}  // namespace files
