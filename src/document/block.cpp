#include "document/block.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/resize.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;
using Kind = Json::Kind;

const char* nameOf(Kind kind) { return kind == Kind::numbers ? "a number" : "true or false"; }

std::string indexed(std::string_view field, std::size_t i) { return base::joined({field, "[", i, "]"}); }

// Finds the item of a list that has the wrong type, for the sentence.
Result<void> wrongItem(const Json& list, std::string_view field, Kind kind) {
  const Kind single = kind == Kind::numbers ? Kind::number : Kind::boolean;
  for (std::size_t i = 0; i < list.items.size(); ++i)
    if (list.items[i].kind != single)
      return base::refuse(
          ErrorKind::type, indexed(field, i),
          {list.items[i].kindName(), " is not ", nameOf(kind), "; give a list of nothing else."});
  if (list.kind == Kind::numbers || list.kind == Kind::booleans)
    return base::refuse(ErrorKind::type, indexed(field, 0),
                        {list.kind == Kind::numbers ? "a number" : "true or false", " is not ", nameOf(kind),
                         "; give a list of nothing else."});
  return base::refuse(ErrorKind::type, field, {list.kindName(), " is not a list; give a list of values."});
}

Result<void> checkFinite(const std::vector<float>& values, std::string_view field) {
  // A bias may mask with -infinity; the parser accepts infinities only there (json.h).
  const bool isBias = field.find("bias") != std::string_view::npos;
  const std::ptrdiff_t bad = firstWrong(isBias ? TensorId::bias : TensorId::q, values);
  if (bad < 0) return {};
  return base::refuse(ErrorKind::range, indexed(field, static_cast<std::size_t>(bad)),
                      {isBias ? "infinity cannot be added; use numbers, or \"-inf\" to mask."
                              : "the number is too large for 32 bits; use -3.4e38 to 3.4e38."});
}

Result<void> checkFields(const Json& json, std::string_view field) {
  for (const std::string& key : json.keys)
    if (key != "shape" && key != "data" && key != "dtype")
      return base::refuse(
          ErrorKind::type, field,
          {"the field ", base::inQuotes(key), " is unknown; a tensor has shape, data and dtype."});
  for (const std::string_view key : {"shape", "data"})
    if (json.find(key) == nullptr)
      return base::refuse(ErrorKind::type, base::joined({field, ".", key}),
                          {"it is missing; give {\"shape\": [rows, columns], \"data\": [numbers]}."});
  return {};
}

Result<void> checkDtype(const Json& json, std::string_view field, Kind kind) {
  const Json* dtype = json.find("dtype");
  if (dtype == nullptr) return {};
  const bool isBool = dtype->text == "bool", isFloat = dtype->text.starts_with("float");
  if (dtype->kind == Kind::text && (kind == Kind::booleans ? isBool : isFloat)) return {};
  return base::refuse(
      ErrorKind::type, base::joined({field, ".dtype"}),
      {(dtype->kind == Kind::text ? base::inQuotes(dtype->text) : std::string(dtype->kindName())),
       " does not fit; use ", std::string_view(kind == Kind::booleans ? "\"bool\"" : "\"float32\""), "."});
}

Result<void> readShape(const Json& json, std::string_view field, std::vector<std::int64_t>& shape) {
  if (json.kind != Kind::numbers) return wrongItem(json, field, Kind::numbers);
  if (json.numbers.size() > 4)
    return base::refuse(ErrorKind::range, field,
                        {json.numbers.size(), " sizes are too many; use at most 4."});
  for (std::size_t i = 0; i < json.numbers.size(); ++i) {
    const float size = json.numbers[i];
    if (!(size >= 1 && size <= 1e9f) || size != std::floor(size))
      return base::refuse(ErrorKind::range, indexed(field, i),
                          {"the size must be a whole number from 1 to 1000000000; give the true one."});
    shape.push_back(static_cast<std::int64_t>(size));
  }
  return {};
}

constexpr std::int64_t kManyValues = 1'000'000'000;

// Stops multiplying at a product that no text could have values for, so that nothing overflows.
std::int64_t countOf(const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = std::min(count * size, kManyValues);
  return count;
}

std::string countText(std::int64_t count) {
  return count < kManyValues ? base::joined({count}) : std::string("a billion or more");
}

Result<void> readShaped(const Json& json, std::string_view field, Kind kind, Block& out) {
  if (auto ok = checkFields(json, field); !ok) return ok;
  if (auto ok = checkDtype(json, field, kind); !ok) return ok;
  if (auto ok = readShape(*json.find("shape"), base::joined({field, ".shape"}), out.shape); !ok) return ok;
  const std::string dataField = base::joined({field, ".data"});
  const Json& data = *json.find("data");
  if (data.kind != kind && !(data.kind == Kind::list && data.items.empty()))
    return wrongItem(data, dataField, kind);
  const std::int64_t count = countOf(out.shape);
  if (count != static_cast<std::int64_t>(data.numbers.size()))
    return base::refuse(ErrorKind::range, dataField,
                        {"there are ", data.numbers.size(), " values, but the shape ",
                         base::shapeText(out.shape), " asks for ", countText(count), "; make them fit."});
  out.values = data.numbers;
  return checkFinite(data.numbers, dataField);
}

bool isList(const Json& json) {
  return json.kind == Kind::list || json.kind == Kind::numbers || json.kind == Kind::booleans;
}

/// Appends the values of nested lists. `shape` is set by the first item on each level, and the others must
/// match it.
Result<void> flatten(const Json& json, const std::string& field, Kind kind, std::size_t level, Block& out) {
  if (level >= 4)
    return base::refuse(ErrorKind::range, field, {"lists are more than 4 deep; use at most 4."});
  const bool isRow = json.kind == kind;
  const bool isFirst = out.shape.size() == level;
  if (json.kind == Kind::list && json.items.empty())
    return base::refuse(ErrorKind::range, field, {"the list is empty; give at least one value."});
  if (!isRow && (json.kind != Kind::list || !isList(json.items[0]))) return wrongItem(json, field, kind);
  const std::size_t count = isRow ? json.numbers.size() : json.items.size();
  if (isFirst) out.shape.push_back(static_cast<std::int64_t>(count));
  if (isRow) {
    if (auto ok = checkFinite(json.numbers, field); !ok) return ok;
    out.values.insert(out.values.end(), json.numbers.begin(), json.numbers.end());
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Json& item = json.items[i];
    const bool known = out.shape.size() > level + 1;
    const bool itemIsRow = item.kind == Kind::numbers || item.kind == Kind::booleans;
    if (known && itemIsRow != (out.shape.size() == level + 2))
      return base::refuse(ErrorKind::type, indexed(field, i),
                          {"it is not as deep as those before; give every row the same depth."});
    const std::size_t length = itemIsRow ? item.numbers.size() : item.items.size();
    if (known && (itemIsRow || item.kind == Kind::list) &&
        static_cast<std::int64_t>(length) != out.shape[level + 1])
      return base::refuse(ErrorKind::range, field,
                          {"row ", i, " (from 0) has ", length,
                           (itemIsRow     ? (length == 1 ? " value" : " values")
                            : length == 1 ? " row"
                                          : " rows"),
                           ", those before it ", out.shape[level + 1], "; give every row the same length."});
    if (auto ok = flatten(item, indexed(field, i), kind, level + 1, out); !ok) return ok;
  }
  return {};
}

}  // namespace

Result<void> readBlock(const Json& json, std::string_view field, Kind kind, Block& out) {
  out = {};
  if (json.kind == Kind::object) return readShaped(json, field, kind, out);
  if (isList(json)) return flatten(json, std::string(field), kind, 0, out);
  return base::refuse(ErrorKind::type, field,
                      {json.kindName(), " is not a tensor; give {\"shape\", \"data\"} or lists of numbers."});
}

Tensor tensorOf(const Block& block, int heads, int rows, int cols) {
  Tensor out(heads, rows, cols);
  std::copy_n(block.values.begin(), std::min(block.values.size(), out.size()), out.data());
  return out;
}

Result<void> readMask(const Json& json, const Settings& sizes, PaintedMask& out) {
  Block block;
  if (auto ok = readBlock(json, "mask", Kind::booleans, block); !ok) return ok;
  const std::vector<std::int64_t>& shape = block.shape;
  const int rows = sizes.tokens, cols = sizes.keyTokens;
  const bool fits = shape.size() >= 2 && shape.back() == cols && shape[shape.size() - 2] == rows;
  if (!fits || block.values.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {
    base::Message why{base::shapeText(shape), " does not fit ", rows, " tokens"};
    if (sizes.cross) why += {" and ", cols, " keys"};
    return base::Error{ErrorKind::range, "mask.shape",
                       why += {"; it must be ", base::shapeText({rows, cols}), "."}};
  }
  out = {rows, cols, {}};
  for (const float visible : block.values) out.blocked.push_back(visible == 0 ? 1 : 0);
  tidyMask(out);
  return {};
}

Result<void> readParameters(const Json& root, State& state) {
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    const Json* json = root.find(name(id));
    if (json == nullptr) continue;
    Block read;
    if (auto ok = readBlock(*json, name(id), Kind::numbers, read); !ok) return ok;
    if (auto ok = checkShape(state, id, read.shape); !ok) return ok;
    if (auto ok = checkParameterSize(state, id); !ok) return ok;
    const ParameterShape shape = shapeOf(state, id);
    setParameter(state, id, tensorOf(read, 1, shape.rows, shape.cols));
  }
  return {};
}

namespace {

Result<void> readTexts(const Json& json, std::string_view field, std::vector<std::string>& out) {
  constexpr const char* want = "; give true or false, a number, a text or a list of texts.";
  if (!isList(json)) return base::refuse(ErrorKind::type, field, {json.kindName(), " cannot be used", want});
  if (json.kind != Kind::list)
    return base::refuse(ErrorKind::type, indexed(field, 0), {"it is not a text", want});
  for (const Json& item : json.items) {
    if (item.kind != Kind::text)
      return base::refuse(ErrorKind::type, indexed(field, out.size()),
                          {item.kindName(), " is not a text", want});
    out.push_back(item.text);
  }
  return {};
}

Result<void> readNumbers(const Json& json, std::string_view field, std::vector<int>& out) {
  for (const float number : json.numbers) {
    if (number != std::floor(number) || std::abs(number) > 1e6f)
      return base::refuse(
          ErrorKind::type, indexed(field, out.size()),
          {base::shortest(number), " is not a whole number that can be used; use small ones."});
    out.push_back(static_cast<int>(number));
  }
  return {};
}

}  // namespace

Result<void> readValue(const Json& json, std::string_view field, Value& out) {
  if (json.kind == Kind::boolean) out = json.boolean;
  else if (json.kind == Kind::number) out = json.number;
  else if (json.kind == Kind::text) out = json.text;
  else if (json.kind == Kind::numbers) return readNumbers(json, field, out.emplace<std::vector<int>>());
  else return readTexts(json, field, out.emplace<std::vector<std::string>>());
  return {};
}

int defaultModelDim(const Settings& settings) {
  Settings sizes = settings;
  sizes.modelDim = std::min(8, settings.heads * settings.headDim);
  while (sizes.modelDim > 1 && !checkSizes("model_dim", sizes)) --sizes.modelDim;
  return sizes.modelDim;
}

}  // namespace document
