// JSON text parsed into a small tree, and what is needed to write JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace document {

/// A value. Lists that contain only numbers, or only true and false, are stored as plain arrays.
struct Json {
  enum class Kind : std::uint8_t { null, boolean, number, text, list, object, numbers, booleans };
  Kind kind = Kind::null;
  bool boolean = false;
  double number = 0;
  /// The number rounded directly from its decimal digits to float; infinite beyond the range.
  float single = 0;
  std::string text;
  std::vector<std::string> keys;  ///< for an object: its keys, parallel to `items`, each once
  std::vector<Json> items;        ///< of a list, or the values of an object
  /// For Kind::numbers, where the texts "-inf" and "inf" are allowed too; for Kind::booleans 0 and 1.
  std::vector<float> numbers;

  /// The value for a key of an object; null if there is none.
  const Json* find(std::string_view key) const;
  /// "a number", "a text", …, for error sentences.
  std::string_view kindName() const;
};

/// For error sentences: the value itself if it is short, otherwise its kind.
std::string described(const Json& json);

struct JsonText {
  Json root;
  /// The fields of the root object whose keys are not in `known`, as they were written: "\"a\":1,\"b\":[]".
  std::string unknown;
  bool unknownTooLong = false;  ///< longer than kMaxUnknownBytes; `unknown` is empty then
};

inline constexpr std::size_t kMaxUnknownBytes = 1u << 20;
inline constexpr std::size_t kMaxKeys = 1000;      ///< fields of one object, so that a linear search is fast
inline constexpr int kMaxDepth = 64;               ///< nesting of lists and objects
inline constexpr std::size_t kMaxNodes = 300'000;  ///< values outside plain arrays
inline constexpr std::size_t kMaxArrayItems = 12'000'000;  ///< values in plain arrays, in total

/// Parses JSON (RFC 8259). Returns an error that names the position for text that is incomplete or continues
/// after the end, a byte order mark, duplicate keys, NaN and infinities, and anything beyond the limits
/// above.
base::Result<void> parseJson(std::string_view text, std::span<const std::string_view> known, JsonText& out);

/// The text in double quotes, with escapes. Valid UTF-8 is not escaped.
std::string jsonQuoted(std::string_view text);

}  // namespace document
