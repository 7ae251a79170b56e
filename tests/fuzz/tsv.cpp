// Pasted cells: either refused with a sentence, or a block that is bit for bit the same after copying and
// pasting.
#include <cmath>
#include <cstring>

#include "attention/layer/tensor.h"
#include "document/text.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace document;
  const auto block = fromTsv(fuzz::text(data, size));
  if (!block) {
    fuzz::checkSentence(block.error());
    return 0;
  }
  HOLDS(block->rows >= 1 && block->cols >= 1);
  HOLDS(block->values.size() ==
        static_cast<std::size_t>(block->rows) * static_cast<std::size_t>(block->cols));
  for (const float value : block->values) HOLDS(std::isfinite(value));
  Tensor tensor(1, block->rows, block->cols);
  std::memcpy(tensor.data(), block->values.data(), block->values.size() * sizeof(float));
  const auto again = fromTsv(toTsv(tensor, {0, 0, 0, block->rows, block->cols}));
  HOLDS(again && again->rows == block->rows && again->cols == block->cols);
  HOLDS(std::memcmp(again->values.data(), block->values.data(), block->values.size() * sizeof(float)) == 0);
  return 0;
}
