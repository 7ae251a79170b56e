// What the zip directory needs of a library: DEFLATE (RFC 1951) and its check-sum. The platform's library is linked.
#pragma once

#include <cstdint>
#include <string_view>

namespace files {

/// CRC-32 as zip has it; `before` is that of the bytes before these.
std::uint32_t crc32(std::string_view bytes, std::uint32_t before = 0);

/// Inflates a whole stream into exactly `size` bytes. False where it is damaged, or is of another size; nothing beyond
/// `size` is written.
bool inflate(std::string_view stream, char* out, std::size_t size);

}  // namespace files
