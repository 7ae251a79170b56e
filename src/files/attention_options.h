// The options of `attn run`: those of a tensors file, and --set of the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/document.h"
#include "files/tensors_json.h"

namespace files {

/// The options of a tensors file, one line each: name and meaning.
std::string optionsHelp();

}  // namespace files

/// The layer that `attn run` computes; of use to src/files only.
namespace files::layer {

constexpr std::int64_t kLongest = std::int64_t{1} << 24;  ///< of one axis: beyond it, lengths are no exact floats

/// What the options of a tensors file say.
struct Options {
  bool causal = false, isPacked = false;
  std::optional<float> scale;
  float softcap = 0, temperature = 1;
  int windowLeft = -1, windowRight = -1;
  int heads = 0, kvHeads = 0;  ///< 0: not given
  std::string scaleField = "options.scale", headsField = "options.heads", kvHeadsField = "options.kv_heads";
  document::Settings shared;  ///< score and the others of kSharedOptions
  std::vector<Setting> sharedSettings;  ///< that gave them, the latest last
};

/// Is it the name of an option of tensors files?
bool isOption(std::string_view name);
/// Sets one option of a tensors file. Refused: names that are unknown, and values that do not fit.
Result<void> setOption(const Setting& setting, Options& options);
/// The options of tensors files that make the layer of these settings, as JSON; those that are as they start are left out. "mode" says which inputs
/// are given, and which are made of them.
std::string optionsText(const document::Settings& settings);
/// Sets one option of a state, in the field "--set name". Refused: what the board refuses.
Result<void> applySetting(const Setting& setting, document::State& state);

bool isScaled(const Options& options);  ///< is the score the scaled dot product?
bool isGiven(const Options& options, std::string_view name);  ///< one of the board's options
/// Where an option of the board was given; "options.name" if it was not.
std::string fieldOf(const Options& options, std::string_view name);
/// What the board says is wrong, said of `field`.
Error inField(const Error& error, std::string_view field);
/// A pattern that was given by its name has sizes that go with the count of keys, which was not known then.
void sizePattern(Options& options, std::int64_t keys);

}  // namespace files::layer
