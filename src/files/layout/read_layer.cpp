#include "files/layout/read_layer.h"

#include <utility>

#include "document/text.h"
#include "files/formats/format.h"
#include "files/layout/mapping.h"
#include "files/layout/match.h"
#include "files/layout/read.h"
#include "files/layout/state_tensors.h"

namespace files {
namespace {

/// What the board offers first where a file has weights and nothing that they are made of.
std::optional<Result<document::State>> weightsAlone(StoredFile file) {
  Mapping mapping(std::move(file), "");
  if (!mapping.isPossible() || !mapping.isWeightsAlone()) return std::nullopt;
  return mapping.state({});
}

}  // namespace

Result<document::State> readLayer(std::string_view bytes, Format format, std::string_view name,
                                  std::string_view prefix, std::size_t& heading) {
  if (format == Format::json) {
    Result<document::State> state = readState(bytes, document::State{});
    if (state) return state;
    Result<StoredFile> file = readJson(bytes, name);
    if (!file) return state;
    return weightsAlone(std::move(*file)).value_or(std::move(state));
  }
  Result<StoredFile> file = readStored(bytes, format, name);
  if (!file) return file.error();
  heading = file->heading;
  const bool isOne = holdsOne(format) && !isLayerName(name);
  if (isOne || isNameless(*file))
    if (auto alone = weightsAlone(*file)) return std::move(*alone);
  Result<TensorsFile> tensors = isOne ? tensorsOfOne(std::move(*file), NotFinite::hidden)
                                      : tensorsOf(std::move(*file), prefix, NotFinite::hidden);
  if (tensors) return stateOf(std::move(*tensors), document::State{});
  file = readStored(bytes, format, name);  // again, so that it does not take memory beside what is made of it
  if (!file) return file.error();
  return weightsAlone(std::move(*file)).value_or(tensors.error());
}

Result<StoredFile> readEverything(std::string_view bytes, Format format, std::string_view name) {
  Result<StoredFile> file = readStored(bytes, format, name);
  if (!file || !file->isState) return file;
  const Result<document::State> state = document::fromText(bytes, document::State{});
  if (!state) return state.error();
  return tensorsOfState(*state);
}

}  // namespace files
