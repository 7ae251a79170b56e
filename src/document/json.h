// JSON text as a small tree, and the few pieces that writing it takes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace document {

/// A value. Lists of nothing but numbers, or of nothing but true and false, are kept as plain arrays.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object, numbers, booleans };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  float single = 0;  ///< the number, rounded once from its digits; infinite beyond the range
  std::string text;
  std::vector<std::string> keys;  ///< of an object, as many as items, each once
  std::vector<Json> items;        ///< of a list or an object
  std::vector<float> numbers;     ///< of Kind::numbers; 0 and 1 of Kind::booleans. The texts "-inf" and "inf" of a bias too

  /// The item of that key, or null.
  const Json* find(std::string_view key) const;
  /// "a number", "a text", … for sentences.
  std::string_view kindName() const;
};

/// The value itself where it is short, else what it is.
std::string described(const Json& json);

struct JsonText {
  Json root;
  /// The fields of the root object whose keys are not `known`, as they came: "\"a\":1,\"b\":[]".
  std::string unknown;
  bool unknownTooLong = false;  ///< beyond kMaxUnknownBytes; `unknown` is empty then
};

inline constexpr std::size_t kMaxUnknownBytes = 1u << 20;
inline constexpr std::size_t kMaxKeys = 1000;      ///< fields of one object, so that looking for one is fast
inline constexpr int kMaxDepth = 64;               ///< lists and objects in each other
inline constexpr std::size_t kMaxNodes = 300'000;  ///< values that are not in a plain array
inline constexpr std::size_t kMaxArrayItems = 8'000'000;  ///< values in plain arrays, all together

/// Reads JSON (RFC 8259). Refuses, with a sentence that says where: text that ends too early or goes on after
/// the end, a byte order mark, keys given twice, NaN and infinities, and more than the limits above.
base::Result<void> parseJson(std::string_view text, std::span<const std::string_view> known, JsonText& out);

/// The text in quotes, escaped. Valid UTF-8 is kept as it is.
std::string jsonQuoted(std::string_view text);

}  // namespace document
