// The tensors of a layer, by their meaning: the input of `attn run` and of the board.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/option.h"
#include "document/parameter.h"
#include "files/formats/array.h"

namespace files {

/// The value of an option, from a file or a command line.
struct Setting {
  enum class Kind : std::uint8_t { boolean, number, text };
  std::string name;
  Kind kind = Kind::boolean;
  bool boolean = false;
  double number = 0;
  std::string text;
  std::string field;  ///< where it was given, for errors: "options.scale" or "--set scale"
};

/// A tensors file: {"q": {"shape", "data", "dtype"}, …, "options": {…}}. Parsed, but shapes and options not
/// yet checked against each other.
struct TensorsFile {
  /// It has "version", and must be read by document::fromText(). The other members are empty then.
  bool isState = false;
  std::optional<Array> q, k, v, mask, pastK, pastV, keyLengths, wA, uA, vA, sink;
  std::optional<Array> x, xKv, wQ, wK, wV, wO, bQ, bK, bV, bO, xV;  ///< instead of q, k and v
  std::optional<Array> picture;  ///< beside q, k and v: the pixels of keys that are patches, for the board
  std::optional<Array> dOutput, dWeights;  ///< gradients of the output and the weights, for `attn grad`
  std::optional<document::Value> labels, keyLabels;                        ///< a sentence, or a list of texts
  std::array<std::optional<Array>, document::kParameterCount> parameters;  ///< by document::ParameterId
  std::vector<Setting> options;
  bool isFinite = true;  ///< false if rows of tokens have NaN or infinities: see NotFinite
};

/// What is done with NaN and infinities in rows of tokens, those of q, k, v and x: they are refused, as by
/// `attn run` and `attn grad`, whose results go on to other programs; or stateOf() hides their rows.
enum class NotFinite : std::uint8_t { refused, hidden };

/// A tensor and its name in files.
struct TensorField {
  std::string_view name;
  std::optional<Array>* target = nullptr;
  bool isMask = false;
  bool isOfTokens = false;  ///< its rows are those of tokens
};
std::vector<TensorField> tensorFields(TensorsFile& file);
/// Is it a result that `attn run` writes? Results saved in a file are ignored, and computed again.
bool isResultName(std::string_view name);
/// A file with all tensors of a layer says by the option "mode" ("x" or "qkv") which are inputs. Removes the
/// others, and the option.
void settleMode(TensorsFile& file);
/// An error unless the file has either q, k and v, or x and its weights. `unknown` is the first field with an
/// unknown name, or "".
Result<void> checkFields(const TensorsFile& file, std::string_view unknown);

/// Reads a tensors file in JSON: readJson() and tensorsOf(). A state is recognised by its "version" alone.
Result<TensorsFile> readTensorsFile(std::string_view text);

/// Parses "scale=0.5" as a setting; a value that is not JSON is a text. Nothing if "=" or the name is
/// missing.
std::optional<Setting> settingFrom(std::string_view text);

}  // namespace files
