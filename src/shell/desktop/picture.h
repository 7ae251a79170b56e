// A framebuffer that is not on the screen, and its content as PNG.
#pragma once

#include <string>

namespace shell {

/// Draws of the current OpenGL context go into it from begin() until it is destroyed.
class Picture {
 public:
  Picture(int width, int height) : width_(width), height_(height) {}
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  /// "" or a sentence that says why the graphics driver cannot have one of this size.
  std::string begin();
  bool isOfSize(int width, int height) const { return width == width_ && height == height_; }
  /// Draws go into it again, after show().
  void resume() const;
  /// Copies it to the window, whose size it must have.
  void show() const;
  /// What was drawn, as the bytes of a PNG file; empty if it cannot be encoded.
  std::string png() const;

 private:
  int width_, height_;
  unsigned int framebuffer_ = 0, pixels_ = 0;
};

}  // namespace shell
