// Pixels as PNG.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace files {

/// The bytes of a file, of pixels whose bytes are R, G, B, A (straight), row after row; empty where there are none.
std::string toPng(std::span<const std::uint32_t> pixels, int columns);

}  // namespace files
