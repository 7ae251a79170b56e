// Encodes pixels as PNG.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace files {

/// The bytes of a PNG file. Pixels have bytes R, G, B, A (straight alpha), row by row, `columns` per row.
/// Empty if there are no pixels.
std::string toPng(std::span<const std::uint32_t> pixels, int columns);

}  // namespace files
