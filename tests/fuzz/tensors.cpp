// Tensors files as `attn` reads and computes them: either refused with a sentence, or computed into a file
// that reads back.
#include <cmath>

#include "files/formats/format.h"
#include "files/run/attention_file.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto file = files::readTensorsFile(fuzz::text(data, size));
  if (!file) fuzz::checkSentence(file.error());
  files::RunRequest request;
  request.outputs = {files::OutputId::output, files::OutputId::weights, files::OutputId::masked,
                     files::OutputId::present_k};
  request.threads = 1;
  request.freeMemory = [] { return std::int64_t{1} << 24; };
  auto results = files::run(std::string(fuzz::text(data, size)), request);
  if (!results) {
    fuzz::checkSentence(results.error());
    return 0;
  }
  HOLDS(file);
  files::StoredFile written;
  for (const files::NamedArray& array : *results) {
    written.tensors.push_back(files::storedOf(array.name, array.shape, array.values));
    std::int64_t count = 1;
    for (const std::int64_t length : array.shape) count *= length;
    HOLDS(static_cast<std::uint64_t>(count) == array.values.size());
    for (const float value : array.values) HOLDS(!std::isnan(value));
    HOLDS(array.name == "masked" || std::isfinite(array.values.empty() ? 0.0f : array.values.front()));
  }
  std::string text;
  HOLDS(files::writeJson(written, [&](std::string_view piece) { return text += piece, true; }));
  HOLDS(!text.empty() && text.front() == '{');
  return 0;
}
