#include "files/formats/png.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace files {

std::string toPng(std::span<const std::uint32_t> pixels, int columns) {
  std::string png;
  if (columns <= 0 || pixels.empty()) return png;
  const auto append = [](void* to, void* bytes, int count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  };
  const int rows = static_cast<int>(pixels.size()) / columns;
  if (stbi_write_png_to_func(append, &png, columns, rows, 4, pixels.data(), columns * 4) == 0) png.clear();
  return png;
}

}  // namespace files
