#include "cli/layer_files.h"

#include <algorithm>
#include <memory>

#include "base/sentence.h"
#include "files/layout/attention_options.h"
#include "files/layout/match.h"
#include "files/layout/read.h"
#include "files/layout/trained_model.h"

namespace cli {
namespace {

/// The tensors of one file, or of several with one tensor each, which is named after its file.
files::TensorsFile tensorsOf(const std::vector<std::unique_ptr<Input>>& inputs, const LayerFiles& layer) {
  files::StoredFile all;
  for (const auto& input : inputs) {
    files::StoredFile file =
        valueOf(input->path(), files::readStored(input->bytes(), input->format(), input->stem()));
    input->sayHeading(file.heading);
    if (layer.prefix.empty() && files::TrainedModel::isIn(file))
      throw Failure{kWrongUse, input->path() + ": it is a trained model; " + std::string(layer.ofModel)};
    const bool isNamed =
        !files::holdsOne(input->format()) || inputs.size() > 1 || files::isLayerName(input->stem());
    if (!isNamed) return valueOf(input->path(), files::tensorsOfOne(std::move(file)));
    for (files::Stored& tensor : file.tensors) {
      const bool isLabels = inputs.size() > 1 && tensor.name == "labels" && input->stem() != "labels";
      const std::string name =
          isLabels && files::isLayerName("key_labels") && (input->stem() == "k" || input->stem() == "v")
              ? "key_labels"
              : tensor.name;
      // The labels of the first file are those of the queries. Looked for only then: a file may have 100,000
      // tensors.
      const auto isThere = [&] {
        return std::any_of(all.tensors.begin(), all.tensors.end(),
                           [&](const files::Stored& other) { return other.name == name; });
      };
      if (isLabels && (name == "key_labels" || isThere())) continue;
      all.tensors.push_back(std::move(tensor));
    }
    all.notes = std::move(file.notes);
  }
  files::TensorsFile file = valueOf(inputs.front()->path(), files::tensorsOf(std::move(all), layer.prefix));
  document::Settings said;
  for (const files::Setting& setting : file.options)
    if (setting.name == "not_finite") said.notFinite = setting.text;
  inputs.front()->sayNotFinite(said);
  return file;
}

}  // namespace

void addLayerFiles(CLI::App& command, LayerFiles& layer) {
  command.add_option("IN", layer.in, "The file to read, or - for standard input: " + files::formatList())
      ->type_name("");
  command
      .add_option("--out", layer.out,
                  "The file to write, of one of these formats (default, or -: JSON to standard output)")
      ->type_name("OUT");
  command
      .add_option("--prefix", layer.prefix, "The prefix of the tensor names, if a file has several layers")
      ->type_name("NAME");
  command.add_option("--set", layer.settings, "Options that replace those of the file")
      ->type_name("key=value ...")
      ->expected(1, -1);
}

void takeFiles(LayerFiles& layer) {
  std::vector<std::string>& words = layer.settings;
  const auto isFile = [](const std::string& word) {
    return word.find('=') == std::string::npos && (word == "-" || files::formatOf(word));
  };
  std::copy_if(words.begin(), words.end(), std::back_inserter(layer.in), isFile);
  std::erase_if(words, isFile);
  if (layer.in.empty())
    throw Failure{kWrongUse, "IN: it is missing; name a file that ends in " + files::formatList() +
                                 ", or - for standard input."};
}

std::vector<files::Setting> settingsOf(const LayerFiles& layer) {
  std::vector<files::Setting> settings;
  for (const std::string& word : layer.settings) {
    auto setting = files::settingFrom(word);
    if (!setting)
      throw Failure{kWrongUse,
                    "--set " + word + ": it is not of the form key=value; use, for example, causal=true."};
    settings.push_back(std::move(*setting));
  }
  return settings;
}

LayerInput layerIn(const LayerFiles& layer) {
  for (const std::string& path : layer.in)
    if (layer.in.size() > 1 && !files::holdsOne(files::formatOf(path).value_or(files::Format::json)))
      throw Failure{kWrongUse, "IN " + path + ": of several files each is expected to hold one tensor, as " +
                                   files::formatList(true) + "; give one file."};
  std::vector<std::unique_ptr<Input>> inputs;
  for (const std::string& path : layer.in) inputs.push_back(std::make_unique<Input>("IN", path));
  if (inputs.size() == 1 && inputs.front()->format() == files::Format::json) {
    std::string text = inputs.front()->takeText();
    if (text.find("\"not_finite\"") != std::string::npos)  // seldom: it is read twice
      if (const auto state = files::readState(text, document::State{})) inputs.front()->sayNotFinite(*state);
    return {std::move(text), {}};
  }
  return {std::nullopt, tensorsOf(inputs, layer)};
}

void writeResults(const LayerFiles& layer, const std::vector<files::NamedArray>& results, Output& output) {
  const auto put = [&](std::string_view piece) { return output.put(piece); };
  const files::Format format = formatToWrite("--out", layer.out);
  files::StoredFile file;
  for (const files::NamedArray& array : results) file.tensors.push_back(files::storedOf(array));
  if (auto ok = files::checkWritable(file, format); !ok) throw failureOf(layer.out, ok.error());
  output.finish(files::writeFile(file, format, put));
}

}  // namespace cli
