#include "document/block.h"

#include <algorithm>
#include <cmath>

#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;
using Kind = Json::Kind;

std::string_view nameOf(Kind kind) { return kind == Kind::numbers ? "a number" : "true or false"; }

std::string indexed(std::string_view field, std::size_t i) {
  return std::string(field) + "[" + std::to_string(i) + "]";
}

// Which item of a list is not of the kind, for the sentence.
Error wrongItem(const Json& list, std::string_view field, Kind kind) {
  const Kind single = kind == Kind::numbers ? Kind::number : Kind::boolean;
  const std::string want = std::string(nameOf(kind)) + "; give a list of nothing else.";
  for (std::size_t i = 0; i < list.items.size(); ++i)
    if (list.items[i].kind != single)
      return refusal(ErrorKind::type, indexed(field, i),
                     std::string(list.items[i].kindName()) + " is not " + want);
  if (list.kind == Kind::numbers || list.kind == Kind::booleans)
    return refusal(
        ErrorKind::type, indexed(field, 0),
        std::string(list.kind == Kind::numbers ? "a number" : "true or false") + " is not " + want);
  return refusal(ErrorKind::type, field,
                 std::string(list.kindName()) + " is not a list; give a list of values.");
}

Check checkFinite(const std::vector<float>& values, std::string_view field) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return {};
  return refusal(ErrorKind::range, indexed(field, static_cast<std::size_t>(bad - values.begin())),
                 "the number is too large for 32 bits; use -3.4e38 to 3.4e38.");
}

Check checkFields(const Json& json, std::string_view field) {
  for (const std::string& key : json.keys)
    if (key != "shape" && key != "data" && key != "dtype")
      return refusal(ErrorKind::type, field,
                     "the field " + inQuotes(key) + " is unknown; a tensor has shape, data and dtype.");
  for (const std::string_view key : {"shape", "data"})
    if (json.find(key) == nullptr)
      return refusal(ErrorKind::type, std::string(field) + "." + std::string(key),
                     "it is missing; give {\"shape\": [rows, columns], \"data\": [numbers]}.");
  return {};
}

Check checkDtype(const Json& json, std::string_view field, Kind kind) {
  const Json* dtype = json.find("dtype");
  if (dtype == nullptr) return {};
  const bool isBool = dtype->text == "bool", isFloat = dtype->text.starts_with("float");
  if (dtype->kind == Kind::text && (kind == Kind::booleans ? isBool : isFloat)) return {};
  return refusal(ErrorKind::type, std::string(field) + ".dtype",
                 (dtype->kind == Kind::text ? inQuotes(dtype->text) : std::string(dtype->kindName())) +
                     " does not fit; use " + (kind == Kind::booleans ? "\"bool\"." : "\"float32\"."));
}

Result<std::vector<std::int64_t>> readShape(const Json& json, std::string_view field) {
  if (json.kind != Kind::numbers) return wrongItem(json, field, Kind::numbers);
  if (json.numbers.size() > 4)
    return refusal(ErrorKind::range, field,
                   std::to_string(json.numbers.size()) + " sizes are too many; use at most 4.");
  std::vector<std::int64_t> shape;
  for (std::size_t i = 0; i < json.numbers.size(); ++i) {
    const float size = json.numbers[i];
    if (!(size >= 1 && size <= 1e9f) || size != std::floor(size))
      return refusal(ErrorKind::range, indexed(field, i),
                     "the size must be a whole number from 1 to 1000000000; give the true one.");
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return shape;
}

// Stops multiplying where no text could hold as many, so that nothing overflows.
std::int64_t countOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = std::min(count * size, std::int64_t{1'000'000'000});
  return count;
}

Result<Block> readShaped(const Json& json, std::string_view field, Kind kind) {
  if (Check bad = checkFields(json, field)) return *bad;
  if (Check bad = checkDtype(json, field, kind)) return *bad;
  auto shape = readShape(*json.find("shape"), std::string(field) + ".shape");
  if (!shape) return shape.error();
  const std::string dataField = std::string(field) + ".data";
  const Json& data = *json.find("data");
  if (data.kind != kind && !(data.kind == Kind::list && data.items.empty()))
    return wrongItem(data, dataField, kind);
  if (countOf(*shape) != static_cast<std::int64_t>(data.numbers.size()))
    return refusal(
        ErrorKind::range, dataField,
        "there are " + std::to_string(data.numbers.size()) + " values, but the shape " + shapeText(*shape) +
            " asks for " +
            (countOf(*shape) == 1'000'000'000 ? "a billion or more" : std::to_string(countOf(*shape))) +
            "; make them fit.");
  if (Check bad = checkFinite(data.numbers, dataField)) return *bad;
  return Block{std::move(*shape), data.numbers};
}

bool isList(const Json& json) {
  return json.kind == Kind::list || json.kind == Kind::numbers || json.kind == Kind::booleans;
}

/// Appends the values of nested lists; `shape` is that of the list, set by the first path down and held by
/// the others.
Check flatten(const Json& json, const std::string& field, Kind kind, std::size_t level, Block& out) {
  if (level >= 4) return refusal(ErrorKind::range, field, "lists are more than 4 deep; use at most 4.");
  const bool isRow = json.kind == kind;
  const bool isFirst = out.shape.size() == level;
  if (json.kind == Kind::list && json.items.empty())
    return refusal(ErrorKind::range, field, "the list is empty; give at least one value.");
  if (!isRow && (json.kind != Kind::list || !isList(json.items[0]))) return wrongItem(json, field, kind);
  const std::size_t count = isRow ? json.numbers.size() : json.items.size();
  if (isFirst) out.shape.push_back(static_cast<std::int64_t>(count));
  if (isRow) {
    if (Check bad = checkFinite(json.numbers, field)) return bad;
    out.values.insert(out.values.end(), json.numbers.begin(), json.numbers.end());
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Json& item = json.items[i];
    const bool known = out.shape.size() > level + 1;
    const bool itemIsRow = item.kind == Kind::numbers || item.kind == Kind::booleans;
    if (known && itemIsRow != (out.shape.size() == level + 2))
      return refusal(ErrorKind::type, indexed(field, i),
                     "it is not as deep as those before; give every row the same depth.");
    const std::size_t length = itemIsRow ? item.numbers.size() : item.items.size();
    if (known && (itemIsRow || item.kind == Kind::list) &&
        static_cast<std::int64_t>(length) != out.shape[level + 1])
      return refusal(ErrorKind::range, field,
                     "row " + std::to_string(i) + " (from 0) has " + std::to_string(length) +
                         (itemIsRow ? " values" : " rows") + ", those before it " +
                         std::to_string(out.shape[level + 1]) + "; give every row the same length.");
    if (Check bad = flatten(item, indexed(field, i), kind, level + 1, out)) return bad;
  }
  return {};
}

}  // namespace

Result<Block> readBlock(const Json& json, std::string_view field, Kind kind) {
  if (json.kind == Kind::object) return readShaped(json, field, kind);
  if (json.kind != Kind::list && json.kind != Kind::numbers && json.kind != Kind::booleans)
    return refusal(
        ErrorKind::type, field,
        std::string(json.kindName()) + " is not a tensor; give {\"shape\", \"data\"} or lists of numbers.");
  Block block;
  if (Check bad = flatten(json, std::string(field), kind, 0, block)) return *bad;
  return block;
}

Tensor tensorOf(const Block& block, int heads, int rows, int cols) {
  Tensor out(heads, rows, cols);
  std::copy_n(block.values.begin(), std::min(block.values.size(), out.size()), out.data());
  return out;
}

Result<PaintedMask> readMask(const Json& json, int tokens) {
  auto block = readBlock(json, "mask", Kind::booleans);
  if (!block) return block.error();
  const std::vector<std::int64_t>& shape = block->shape;
  const bool square = shape.size() >= 2 && shape.back() == tokens && shape[shape.size() - 2] == tokens;
  if (!square || block->values.size() != static_cast<std::size_t>(tokens) * static_cast<std::size_t>(tokens))
    return refusal(ErrorKind::range, "mask.shape",
                   shapeText(shape) + " does not fit " + std::to_string(tokens) + " tokens; it must be " +
                       shapeText({tokens, tokens}) + ".");
  PaintedMask mask{tokens, tokens, {}};
  for (const float visible : block->values) mask.blocked.push_back(visible == 0 ? 1 : 0);
  tidyMask(mask);
  return mask;
}

namespace {

Result<Value> readTexts(const Json& json, std::string_view field) {
  const std::string want = "; give true or false, a number, a text or a list of texts.";
  if (json.kind != Kind::list) {
    if (isList(json)) return refusal(ErrorKind::type, indexed(field, 0), "it is not a text" + want);
    return refusal(ErrorKind::type, field, std::string(json.kindName()) + " cannot be used" + want);
  }
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    const Json& item = json.items[i];
    if (item.kind != Kind::text)
      return refusal(ErrorKind::type, indexed(field, i),
                     std::string(item.kindName()) + " is not a text" + want);
    texts.push_back(item.text);
  }
  return Value(std::move(texts));
}

}  // namespace

Result<Value> readValue(const Json& json, std::string_view field) {
  Value value;
  if (json.kind == Kind::boolean)
    value = json.boolean;
  else if (json.kind == Kind::number)
    value = json.number;
  else if (json.kind == Kind::text)
    value = json.text;
  else
    return readTexts(json, field);
  return value;
}

int defaultModelDim(const State& state) {
  int dim = std::min(8, state.heads * state.headDim);
  while (dim > 1 && checkSizes("model_dim", state.tokens, state.heads, state.headDim, dim)) --dim;
  return dim;
}

}  // namespace document
