#include <libdeflate.h>

#include <memory>

#include "files/formats/inflate.h"

namespace files {

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  return bytes.empty() ? before
                       : libdeflate_crc32(before, bytes.data(),
                                          bytes.size());  // libdeflate returns 0 for a null pointer
}

bool inflate(std::string_view stream, char* out, std::size_t size) {
  struct Free {
    void operator()(libdeflate_decompressor* decompressor) const {
      libdeflate_free_decompressor(decompressor);
    }
  };
  const std::unique_ptr<libdeflate_decompressor, Free> decompressor(libdeflate_alloc_decompressor());
  std::size_t written = 0;
  return decompressor &&
         libdeflate_deflate_decompress(decompressor.get(), stream.data(), stream.size(), out, size,
                                       &written) == LIBDEFLATE_SUCCESS &&
         written == size;
}

}  // namespace files
