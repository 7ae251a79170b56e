#include "shell/desktop/picture.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "draw/gl.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace shell {

Picture::~Picture() {
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
  if (pixels_ != 0) glDeleteRenderbuffers(1, &pixels_);
}

std::string Picture::begin() {
  GLint most = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &most);
  const std::string size = std::to_string(width_) + " x " + std::to_string(height_) + " pixels";
  if (width_ > most || height_ > most)
    return "A picture of " + size + " is more than this graphics driver can do: " + std::to_string(most) +
           " each way.";
  glGenRenderbuffers(1, &pixels_);
  glBindRenderbuffer(GL_RENDERBUFFER, pixels_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width_, height_);
  glGenFramebuffers(1, &framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, pixels_);
  return glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE
             ? ""
             : "The graphics driver has no memory for a picture of " + size + ".";
}

void Picture::resume() const { glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_); }

void Picture::show(std::span<const DamageTracker::Box> boxes) const {
  glDisable(GL_SCISSOR_TEST);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  for (const DamageTracker::Box& box : boxes) {
    const int bottom = height_ - box.bottom, top = height_ - box.top;
    glBlitFramebuffer(box.left, bottom, box.right, top, box.left, bottom, box.right, top, GL_COLOR_BUFFER_BIT,
                      GL_NEAREST);
  }
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

std::string Picture::png() const {
  const std::size_t row = static_cast<std::size_t>(width_) * 3;
  std::vector<std::uint8_t> bottomUp(row * static_cast<std::size_t>(height_)), topDown(bottomUp.size());
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGB, GL_UNSIGNED_BYTE, bottomUp.data());
  if (glGetError() != GL_NO_ERROR) return "";
  for (std::size_t y = 0; y < static_cast<std::size_t>(height_); ++y)
    std::copy_n(bottomUp.data() + (static_cast<std::size_t>(height_) - 1 - y) * row, row,
                topDown.data() + y * row);
  std::string png;
  const auto append = [](void* to, void* bytes, int count) {
    static_cast<std::string*>(to)->append(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
  };
  const int good =
      stbi_write_png_to_func(append, &png, width_, height_, 3, topDown.data(), static_cast<int>(row));
  return good != 0 ? png : "";
}

}  // namespace shell
