// The options of `attn run`, from a tensors file and from --set on the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "files/layout/tensors_file.h"

namespace files {

/// The options of tensors files, one per line: name and meaning.
std::string optionsHelp();

}  // namespace files

/// The declarations below describe the layer of `attn run`, and are for use inside src/files only.
namespace files::layer {

constexpr std::int64_t kLongest =
    std::int64_t{1} << 24;  ///< the longest axis; beyond it, float cannot represent lengths exactly

/// The options of a tensors file, parsed.
struct Options {
  bool causal = false, isPacked = false;
  std::optional<float> scale;
  float softcap = 0, temperature = 1;
  int windowLeft = -1, windowRight = -1;
  int heads = 0, kvHeads = 0;  ///< 0: not given
  std::string scaleField = "options.scale", headsField = "options.heads", kvHeadsField = "options.kv_heads";
  document::Settings shared;            ///< score and other options of the board (Option::isOfTensors)
  std::vector<Setting> sharedSettings;  ///< the settings that they came from, the latest last
};

/// Is this the name of an option of tensors files?
bool isOption(std::string_view name);
/// Sets one option of a tensors file. An error for unknown names and unsuitable values.
Result<void> setOption(const Setting& setting, Options& options);
/// The options of tensors files that produce the layer of these settings, as JSON; options with their default
/// are omitted. "mode" says which inputs are given and which are computed from them.
std::string optionsText(const document::Settings& settings);
/// Sets one option of a state. Errors are those of the board, with field "--set name".
Result<void> applySetting(const Setting& setting, document::State& state);

bool isScaled(const Options& options);                        ///< is the score the scaled dot product?
bool isGiven(const Options& options, std::string_view name);  ///< was this option, one of the board's, given?
/// The field where an option of the board was given; "options.name" if it was not.
std::string fieldOf(const Options& options, std::string_view name);
/// An error of the board, attributed to `field`.
Error inField(const Error& error, std::string_view field);
/// Sets the sizes of a pattern that was given by its name, which depend on the number of keys, known only
/// now.
void sizePattern(Options& options, std::int64_t keys);

}  // namespace files::layer
