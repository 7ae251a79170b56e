#include "files/formats/stored.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>

#include "base/number.h"
#include "base/sentence.h"
#include "base/sort.h"

namespace files {
namespace {

static_assert(std::endian::native == std::endian::little, "files are written as they lie in memory");

struct TypeEntry {
  std::string_view name;
  int bytes;
};
constexpr std::array<TypeEntry, 14> kTypes{{{"float64", 8},
                                            {"float32", 4},
                                            {"float16", 2},
                                            {"bfloat16", 2},
                                            {"int8", 1},
                                            {"int16", 2},
                                            {"int32", 4},
                                            {"int64", 8},
                                            {"uint8", 1},
                                            {"uint16", 2},
                                            {"uint32", 4},
                                            {"uint64", 8},
                                            {"bool", 1},
                                            {"text", 0}}};

template <class T>
T at(const char* bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes + index * sizeof(T), sizeof(T));
  return value;
}

Result<void> noMemory(std::string_view field) {
  return base::refuse(Error::Kind::memory, field,
                      {"there is not enough memory for it; give smaller tensors."});
}

/// Converts column-major order to row-major; items have `size` bytes.
void transpose(const char* from, char* to, const Shape& shape, std::size_t size) {
  const std::size_t rank = shape.size();
  std::vector<std::size_t> strides(rank), index(rank, 0);
  std::size_t stride = size;
  for (std::size_t axis = 0; axis < rank; ++axis)
    strides[axis] = stride, stride *= static_cast<std::size_t>(shape[axis]);
  const std::size_t last = rank - 1;
  for (const char* row = from;;) {
    for (std::int64_t i = 0; i < shape[last]; ++i, to += size)
      std::memcpy(to, row + static_cast<std::size_t>(i) * strides[last], size);
    std::size_t axis = last;
    for (;;) {
      if (axis-- == 0) return;
      row += strides[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      row -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

template <class From, class Convert>
void convert(const char* bytes, std::vector<float>& values, Convert one) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = one(at<From>(bytes, i));
}

void toFloats(const Stored& tensor, std::size_t count, std::vector<float>& values) {
  const char* bytes = tensor.bytes.data();
  if (tensor.type == Type::float32) {  // a single pass over the memory, which is not zeroed first
    values.reserve(count);
    const auto* first = reinterpret_cast<const float*>(bytes);
    if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(float) == 0)
      return values.assign(first, first + count);
    std::array<float, 1024> some;
    for (std::size_t at = 0; at < count; at += some.size()) {
      const std::size_t more = std::min(some.size(), count - at);
      std::memcpy(some.data(), bytes + at * sizeof(float), more * sizeof(float));
      values.insert(values.end(), some.data(), some.data() + more);
    }
    return;
  }
  values.resize(count);
  const auto plainly = [](auto value) { return static_cast<float>(value); };
  switch (tensor.type) {
    case Type::float64: return convert<double>(bytes, values, plainly);
    case Type::float32: return;
    case Type::float16: return convert<std::uint16_t>(bytes, values, floatOfHalf);
    case Type::bfloat16: return convert<std::uint16_t>(bytes, values, floatOfBrain);
    case Type::int8: return convert<std::int8_t>(bytes, values, plainly);
    case Type::int16: return convert<std::int16_t>(bytes, values, plainly);
    case Type::int32: return convert<std::int32_t>(bytes, values, plainly);
    case Type::int64: return convert<std::int64_t>(bytes, values, plainly);
    case Type::uint8: return convert<std::uint8_t>(bytes, values, plainly);
    case Type::uint16: return convert<std::uint16_t>(bytes, values, plainly);
    case Type::uint32: return convert<std::uint32_t>(bytes, values, plainly);
    case Type::uint64: return convert<std::uint64_t>(bytes, values, plainly);
    case Type::boolean:
      return convert<std::uint8_t>(bytes, values,
                                   [](std::uint8_t value) { return value == 0 ? 0.0f : 1.0f; });
    case Type::text: return;
  }
}

Result<void> checkFinite(const Stored& tensor, Holds holds, Array& array) {
  if (tensor.type > Type::bfloat16) return {};
  const std::vector<float>& values = array.values;
  // Infinities and NaN have exponents of all ones; a sum of the values could not say which of them is at
  // fault.
  bool isFine = true;
  const float* all = values.data();  // a plain pointer: in code compiled for size, iterators would be
                                     // function calls for each number
  for (std::size_t i = 0, count = values.size(); i < count; ++i)
    isFine &= (std::bit_cast<std::uint32_t>(all[i]) & 0x7f800000u) != 0x7f800000u;
  array.isFinite = isFine;
  if (isFine) return {};
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    const std::string field = tensor.name + placeOf(tensor.shape, i);
    const double given = valueAt(tensor, i).real;
    if (holds == Holds::any && !std::isfinite(given)) continue;
    if (std::isnan(values[i])) return document::refuseNumber(field, values[i]);
    if (std::isfinite(given))
      return base::refuse(Error::Kind::range, field,
                          {base::shortest(given), " is too large for 32 bits; use -3.4e38 to 3.4e38."});
    if (holds == Holds::finite)
      return base::refuse(
          Error::Kind::range, field,
          {std::string_view(given < 0 ? "-inf" : "inf"), " is only for a mask; give a finite number."});
  }
  return {};
}

}  // namespace

std::string_view name(Type type) { return kTypes[static_cast<std::size_t>(type)].name; }
int bytesOf(Type type) { return kTypes[static_cast<std::size_t>(type)].bytes; }

std::optional<Type> typeNamed(std::string_view name) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].name == name) return static_cast<Type>(i);
  return std::nullopt;
}

const Stored& onlyOf(const StoredFile& file) {
  return *std::find_if(file.tensors.begin(), file.tensors.end(),
                       [](const Stored& tensor) { return tensor.type != Type::text; });
}

const std::string* repeatedName(const StoredFile& file) {
  std::vector<const std::string*> names;
  names.reserve(file.tensors.size());
  for (const Stored& tensor : file.tensors) names.push_back(&tensor.name);
  base::sort(names, [](const std::string* a, const std::string* b) { return *a < *b; });
  const auto found = std::adjacent_find(names.begin(), names.end(),
                                        [](const std::string* a, const std::string* b) { return *a == *b; });
  return found == names.end() ? nullptr : *found;
}

std::optional<std::int64_t> checkedCount(const Shape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 60;
  std::int64_t count = 1;
  bool isEmpty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) isEmpty = true;
    else if (count > most / size) return std::nullopt;
    else count *= size;
  }
  return isEmpty ? 0 : count;
}

std::shared_ptr<char[]> memoryFor(std::size_t bytes) {
  return std::shared_ptr<char[]>(new (std::nothrow) char[std::max<std::size_t>(bytes, 1)]);
}

Result<Stored> plain(Stored tensor) {
  const auto size = static_cast<std::size_t>(bytesOf(tensor.type));
  const bool isTransposed = tensor.isColumnMajor && tensor.shape.size() > 1 && !tensor.bytes.empty();
  const bool isSwapped = tensor.isBigEndian && size > 1;
  tensor.isColumnMajor = tensor.isBigEndian = false;
  if (!isTransposed && !isSwapped) return tensor;
  const std::shared_ptr<char[]> copy = memoryFor(tensor.bytes.size());
  if (!copy) return noMemory(tensor.name);
  if (isTransposed) transpose(tensor.bytes.data(), copy.get(), tensor.shape, size);
  else std::memcpy(copy.get(), tensor.bytes.data(), tensor.bytes.size());
  for (std::size_t i = 0; isSwapped && i < tensor.bytes.size(); i += size)
    std::reverse(copy.get() + i, copy.get() + i + size);
  tensor.bytes = {copy.get(), tensor.bytes.size()};
  tensor.owned = copy;
  return tensor;
}

Result<Array> arrayOf(Stored given, Holds holds) {
  const bool isMask = holds == Holds::mask;
  if (given.type == Type::text)
    return base::refuse(Error::Kind::type, given.name, {"it holds texts; give numbers."});
  if (isMask && given.type >= Type::int8 && given.type <= Type::uint64)
    return base::refuse(Error::Kind::type, given.name,
                        {"a mask of ", name(given.type),
                         " is neither true and false nor numbers to be added; save it as bool or float32."});
  if (!isMask && given.type == Type::boolean)
    return base::refuse(Error::Kind::type, given.name, {"it holds true and false; give numbers."});
  Result<Stored> tensor = plain(std::move(given));
  if (!tensor) return tensor.error();
  Array array;
  array.type = tensor->type == Type::boolean   ? Array::Type::boolean
               : tensor->type == Type::float16 ? Array::Type::float16
                                               : Array::Type::float32;
  array.shape = tensor->shape;
  toFloats(*tensor, static_cast<std::size_t>(checkedCount(array.shape).value_or(0)), array.values);
  if (auto ok = checkFinite(*tensor, holds, array); !ok) return ok;
  return array;
}

Stored storedOf(std::string name, Shape shape, const std::vector<float>& values) {
  Stored tensor;
  tensor.name = std::move(name), tensor.shape = std::move(shape);
  tensor.bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
  return tensor;
}

Stored storedOf(const NamedArray& array) {
  Stored tensor = storedOf(array.name, array.shape, array.values);
  if (!array.isWhole) return tensor;
  const auto whole = std::make_shared<std::vector<std::int64_t>>(array.values.begin(), array.values.end());
  tensor.type = Type::int64;
  tensor.owned = {whole, reinterpret_cast<const char*>(whole->data())};
  tensor.bytes = {tensor.owned.get(), whole->size() * sizeof(std::int64_t)};
  return tensor;
}

Number valueAt(const Stored& tensor, std::size_t i) {
  const char* bytes = tensor.bytes.data();
  const auto real = [](double value) { return Number{Number::Kind::real, value, 0, 0}; };
  const auto whole = [](std::int64_t value) {
    return Number{Number::Kind::whole, static_cast<double>(value), value, 0};
  };
  const auto natural = [](std::uint64_t value) {
    return Number{Number::Kind::natural, static_cast<double>(value), 0, value};
  };
  switch (tensor.type) {
    case Type::float64: return real(at<double>(bytes, i));
    case Type::float32: return real(double{at<float>(bytes, i)});
    case Type::float16: return real(double{floatOfHalf(at<std::uint16_t>(bytes, i))});
    case Type::bfloat16: return real(double{floatOfBrain(at<std::uint16_t>(bytes, i))});
    case Type::int8: return whole(at<std::int8_t>(bytes, i));
    case Type::int16: return whole(at<std::int16_t>(bytes, i));
    case Type::int32: return whole(at<std::int32_t>(bytes, i));
    case Type::int64: return whole(at<std::int64_t>(bytes, i));
    case Type::uint8: return natural(at<std::uint8_t>(bytes, i));
    case Type::uint16: return natural(at<std::uint16_t>(bytes, i));
    case Type::uint32: return natural(at<std::uint32_t>(bytes, i));
    case Type::uint64: return natural(at<std::uint64_t>(bytes, i));
    case Type::boolean:
      return {Number::Kind::boolean, bytes[i] != 0 ? 1.0 : 0.0, bytes[i] != 0, bytes[i] != 0};
    case Type::text: break;
  }
  return {};
}

std::string fieldOf(std::string_view name) {
  constexpr std::size_t most = 120;
  std::string field = base::printable(name.substr(0, std::min(name.size(), most)));
  if (name.size() > most) field += "…";
  return field.empty() ? "file" : field;
}

std::string placeOf(const Shape& shape, std::size_t index) {
  std::string out = "]";
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto size = static_cast<std::size_t>(shape[axis]);
    out.insert(0, (axis > 0 ? ", " : "") + std::to_string(index % size));
    index /= size;
  }
  return "[" + out;
}

float floatOfHalf(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16, exponent = bits >> 10 & 31u,
                      fraction = bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  const float small = static_cast<float>(fraction) * 0x1p-24f;
  return sign != 0 ? -small : small;
}

float floatOfBrain(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t halfOf(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (size >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);
  const int exponent = size < 0x1p-14 ? -14 : std::ilogb(size);
  // The number of steps of 2^(exponent - 10). Added rather than joined by or, so that a carry out of the ten
  // bits increments the exponent.
  const auto steps = static_cast<int>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign | (((exponent + 14) << 10) + steps));
}

std::uint16_t brainOf(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace files
