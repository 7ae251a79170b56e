// What reading zip archives needs from a library: DEFLATE (RFC 1951) and CRC-32. Implemented by the library
// of the platform.
#pragma once

#include <cstdint>
#include <string_view>

namespace files {

/// CRC-32 as used by zip; `before` is that of the preceding bytes.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

/// Decompresses a whole stream into exactly `size` bytes. False if the stream is damaged or gives another
/// size; never writes beyond `size`.
bool inflate(std::string_view stream, char* out, std::size_t size);

}  // namespace files
