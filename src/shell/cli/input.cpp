#include "cli/input.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include "base/sentence.h"
#include "cli/files.h"
#include "cli/system.h"
#include "document/not_finite.h"
#include "document/resize.h"
#include "files/layout/mapping.h"
#include "files/layout/read.h"
#include "files/layout/read_layer.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

files::Format formatNamed(const std::string& argument, const std::string& path) {
  const std::optional<files::Format> format = files::formatOf(path);
  if (!format)
    throw Failure{kWrongUse, argument + " " + path + ": the name does not end in " + files::formatList() +
                                 "; use one of these."};
  return *format;
}

}  // namespace

Input::Input(const std::string& argument, const std::string& path) : path_(path) {
  const bool isStandard = path == "-";
  if (!isStandard) format_ = formatNamed(argument, path);
  // JSON is read once from beginning to end, so mapping would gain nothing.
  if (!isStandard && format_ != files::Format::json) bytes_ = map_ = mapped(path);
  if (map_.empty()) text_ = readText(path, isStandard || format_ != files::Format::json), bytes_ = text_;
  if (isStandard) path_ = "standard input", format_ = files::formatOfBytes(bytes_);
}

Input::~Input() {
  if (!map_.empty()) unmap(map_);
}

std::string Input::stem() const {
  return path_ == "standard input" ? "tensor" : fs::path(path_).stem().string();
}

std::string Input::takeText() {
  std::string text = map_.empty() ? std::move(text_) : std::string(bytes_);
  if (map_.empty()) bytes_ = {};
  return text;
}

files::Format formatToWrite(const std::string& argument, const std::string& path) {
  if (path.empty() || path == "-") return files::Format::json;
  if (fs::path(path).parent_path() == "/dev" && !files::formatOf(path)) return files::Format::json;
  return formatNamed(argument, path);
}

void addWhich(CLI::App& command, Which& which) {
  command
      .add_option("--prefix", which.prefix, "The prefix of the tensor names, if a file has several layers")
      ->type_name("NAME");
  command
      .add_option("--layer", which.layer,
                  "Which layer, or entry of a batch, counted from 0 (default: the one that the state shows)")
      ->type_name("N");
}

void Input::sayHeading(std::size_t row) const {
  if (row > 0)
    std::fprintf(stderr, "attn: %s: row %zu is taken as a heading and left out.\n",
                 base::printable(path_).c_str(), row);
}

void Input::sayNotFinite(const document::Settings& settings) const {
  if (const std::string gap = document::notFiniteSentence(settings).english(); !gap.empty())
    std::fprintf(stderr, "attn: %s: %s\n", base::printable(path_).c_str(), base::printable(gap).c_str());
}

files::StoredFile tensorsIn(const Input& input) {
  files::StoredFile file =
      valueOf(input.path(), files::readEverything(input.bytes(), input.format(), input.stem()));
  input.sayHeading(file.heading);
  return file;
}

document::State stateIn(const Input& input, const std::string& prefix) {
  std::size_t heading = 0;
  document::State state =
      valueOf(input.path(), files::readLayer(input.bytes(), input.format(), input.stem(), prefix, heading));
  input.sayHeading(heading);
  input.sayNotFinite(state);
  return state;
}

namespace {

/// The number of a layer from 0.
int numberOf(const Input& input, const Which& which, int count, const char* what) {
  const int layer = *which.layer - which.base;
  if (layer >= 0 && layer < count) return layer;
  throw Failure{kBadData, base::joined({input.path(), ": layer: ", *which.layer, " is not one of ", count,
                                        what, ", which are counted from ", which.base, "."})};
}

}  // namespace

Which byPrefix(const Input& input, Which which) {
  if (!which.layer || !which.prefix.empty() || input.format() == files::Format::json) return which;
  auto file = files::readStored(input.bytes(), input.format(), input.stem());
  if (!file) return which;  // said by who reads the layer
  const files::Mapping mapping(std::move(*file), "");
  const std::vector<std::string>& all = mapping.prefixes();
  if (all.size() < 2) return which;
  which.prefix =
      all[static_cast<std::size_t>(numberOf(input, which, static_cast<int>(all.size()), " layers"))];
  if (which.prefix.ends_with('.')) which.prefix.pop_back();  // as it is typed
  which.layer.reset();
  return which;
}

document::State layerOf(const Input& input, const Which& asked) {
  const Which which = byPrefix(input, asked);
  document::State state = stateIn(input, which.prefix);
  if (!which.layer) return state;
  const char* const what = document::hasLayers(state) ? " layers" : state.batch == 1 ? " layer" : " entries";
  document::showItem(state, numberOf(input, which, state.batch, what));
  return state;
}

}  // namespace cli
