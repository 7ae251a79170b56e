// .npz files as attn reads them.
#include "stored.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::checkReader(data, size, files::Format::npz);
}
