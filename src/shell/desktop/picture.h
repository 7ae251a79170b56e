// An offscreen framebuffer, and its content as PNG.
#pragma once

#include <span>
#include <string>

#include "shell/desktop/damage_tracker.h"

namespace shell {

/// From begin() until its destruction, drawing in the current OpenGL context goes into it.
class Picture {
 public:
  Picture(int width, int height) : width_(width), height_(height) {}
  ~Picture();
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  /// Returns "", or a sentence that says why the graphics driver cannot provide this size.
  std::string begin();
  bool isOfSize(int width, int height) const { return width == width_ && height == height_; }
  /// Continues drawing into it, after show().
  void resume() const;
  /// Copies these parts of it to the back buffer of the window, which must have the same size.
  void show(std::span<const DamageTracker::Box> boxes) const;
  /// The content as the bytes of a PNG file; empty if it cannot be encoded.
  std::string png() const;

 private:
  int width_, height_;
  unsigned int framebuffer_ = 0, pixels_ = 0;
};

}  // namespace shell
