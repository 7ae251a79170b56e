// Tensors of any rank in JSON: what `attn run` reads and writes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/option.h"
#include "document/parameter.h"

namespace files {

using base::Error;
using base::Result;


/// Numbers with a shape; as many values as the sizes multiply to.
struct Array {
  enum class Type : std::uint8_t { float32, float16, boolean };
  Type type = Type::float32;         ///< float16: each value is one that 16 bits can hold
  std::vector<std::int64_t> shape;   ///< sizes of 0 and more
  std::vector<float> values;         ///< 0 and 1 of a boolean array
};

/// The value of an option, as a file or a command line gives it.
struct Setting {
  enum class Kind : std::uint8_t { boolean, number, text };
  std::string name;
  Kind kind = Kind::boolean;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::string field;  ///< where it was given, for sentences: "options.scale" or "--set scale"
};

/// A tensors file: {"q": {"shape", "data", "dtype"}, …, "options": {…}}. Only the JSON has been looked at.
struct TensorsFile {
  bool isState = false;  ///< it has "version": document::fromText() reads it. Nothing else is filled then
  std::optional<Array> q, k, v, mask, pastK, pastV, keyLengths, wA, uA, vA;
  std::optional<Array> x, xKv, wQ, wK, wV, wO, bQ, bK, bV, bO, xV;  ///< in place of q, k and v
  std::optional<Array> dOutput, dWeights;       ///< gradients by the output and the weights, for `attn grad`
  std::optional<document::Value> labels, keyLabels;  ///< a sentence, or a list of texts
  std::array<std::optional<Array>, document::kParameterCount> parameters;  ///< by document::ParameterId
  std::vector<Setting> options;
};

/// A tensor of a file by the name that it has there.
struct TensorField {
  std::string_view name;
  std::optional<Array>* target = nullptr;
  bool isMask = false;
};
std::vector<TensorField> tensorFields(TensorsFile& file);
/// Is it what `attn run` writes? Results that were saved along are computed anew.
bool isResultName(std::string_view name);
/// A file that has every tensor of a layer says with the option "mode" ("x" or "qkv") which of them are given; the others go, and the option.
void settleMode(TensorsFile& file);
/// Are q, k and v there, or x and its weights, and not both? `unknown` is the first name that nobody knows, or "".
Result<void> checkFields(const TensorsFile& file, std::string_view unknown);

/// Reads one, in a single pass with little more memory than its numbers take. A tensor may also be nested lists. It has q,
/// k and v, or x and its weights, or it is a state.
/// Refused, with a sentence that says where: what is not JSON, keys given twice, unknown fields, ragged rows, fewer or
/// more values than the shape asks for, NaN, numbers beyond the type, and infinities but for the texts "-inf" and "inf"
/// in a float mask.
Result<TensorsFile> readTensorsFile(std::string_view text);

/// "scale=0.5" as a setting; a value that is not JSON is a text. None if there is no "=" or no name.
std::optional<Setting> settingFrom(std::string_view text);

/// A tensor with the name it has in files.
struct NamedArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

/// Writes {"name": {"shape": […], "data": […]}, …}, a line each, piece by piece. Floats have the fewest digits that read
/// back to the same bits; infinities are the texts "inf" and "-inf". Stops when `put` returns false, and returns it.
bool writeTensors(const std::vector<NamedArray>& tensors, const std::function<bool(std::string_view)>& put);

}  // namespace files
