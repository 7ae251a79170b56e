// The files of a command that computes a layer: what it reads, and where its results go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "files/run/attention_file.h"

namespace cli {

struct LayerFiles {
  std::vector<std::string> in;        ///< one file, or several with one tensor each
  std::vector<std::string> settings;  ///< "causal=true"
  std::string out, prefix;
  /// What to do with a trained model, which is no layer.
  std::string_view ofModel =
      "give it tokens, as in --set tokens=3,1,4, or words, as in --text \"I saw a saw\".";
};
void addLayerFiles(CLI::App& command, LayerFiles& files);

/// Moves the names of files from the settings to the input, because --set takes all words that follow it. A
/// failure if there is none.
void takeFiles(LayerFiles& files);
/// The settings; a failure for one that is not of the form key=value.
std::vector<files::Setting> settingsOf(const LayerFiles& files);

/// What the files hold: JSON as it is, which may be a state of the playground, or tensors.
struct LayerInput {
  std::optional<std::string> json;
  files::TensorsFile file;
};
LayerInput layerIn(const LayerFiles& files);

/// Writes results in the format of the output's name.
void writeResults(const LayerFiles& files, const std::vector<files::NamedArray>& results, Output& output);

}  // namespace cli
