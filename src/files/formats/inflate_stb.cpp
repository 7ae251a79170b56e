// For the page, which does not have libdeflate: the decoder of stb_image.
#include <array>
#include <limits>

#include "files/formats/inflate.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_HDR
#define STBI_NO_FAILURE_STRINGS
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Weverything"
#include <stb_image.h>
#pragma clang diagnostic pop

namespace files {

std::uint32_t crc32(std::string_view bytes, std::uint32_t before) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit)
        c = (c & 1) != 0 ? 0xedb88320u ^ c >> 1 : c >> 1;  // the polynomial of CRC-32, bit-reversed
      made[i] = c;
    }
    return made;
  }();
  std::uint32_t c = ~before;
  for (const char byte : bytes) c = table[(c ^ static_cast<unsigned char>(byte)) & 255] ^ c >> 8;
  return ~c;
}

bool inflate(std::string_view stream, char* out, std::size_t size) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  if (stream.size() > kMost || size > kMost) return false;
  return stbi_zlib_decode_noheader_buffer(out, static_cast<int>(size), stream.data(),
                                          static_cast<int>(stream.size())) == static_cast<int>(size);
}

}  // namespace files
