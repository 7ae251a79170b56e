#include "files/read_layer.h"

#include <utility>

#include "document/text.h"
#include "files/match.h"
#include "files/read.h"
#include "files/state_tensors.h"

namespace files {

Result<document::State> readLayer(std::string_view bytes, Format format, std::string_view name, std::string_view prefix) {
  if (format == Format::json) return readState(bytes, document::State{});
  Result<StoredFile> file = readStored(bytes, format, name);
  if (!file) return file.error();
  const bool isOne = (format == Format::npy || format == Format::csv || format == Format::tsv) && !isLayerName(name);
  Result<TensorsFile> tensors = isOne ? tensorsOfOne(std::move(*file)) : tensorsOf(std::move(*file), prefix);
  if (!tensors) return tensors.error();
  return stateOf(std::move(*tensors), document::State{});
}

Result<StoredFile> readEverything(std::string_view bytes, Format format, std::string_view name) {
  constexpr std::size_t beginning = 4096;  // the version of a state is near its beginning
  if (format == Format::json && bytes.substr(0, beginning).find("\"version\"") != std::string_view::npos) {
    const Result<TensorsFile> file = readTensorsFile(bytes);
    if (file && file->isState) {
      const Result<document::State> state = document::fromText(bytes, document::State{});
      if (!state) return state.error();
      return tensorsOfState(*state);
    }
  }
  return readStored(bytes, format, name);
}

}  // namespace files
