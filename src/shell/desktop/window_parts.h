// Showing parts of the back buffer in the window, while the rest of the window stays as it is.
#pragma once

#include <span>

#include "shell/desktop/damage_tracker.h"

namespace shell {

/// GLX_MESA_copy_sub_buffer, which software rendering has on X11. Exchanging the buffers would copy all
/// pixels of the window, for which the whole back buffer would have to be filled first.
class WindowParts {
 public:
  /// Looks for the extension in the current OpenGL context.
  void begin();
  bool canShow() const { return copy_ != nullptr; }
  /// Copies these boxes of the back buffer of the current context to its window, which is `height` pixels
  /// high.
  void show(std::span<const DamageTracker::Box> boxes, int height) const;

 private:
  using Copy = void(void* display, unsigned long drawable, int x, int y, int width, int height);
  using Display = void*();
  using Drawable = unsigned long();
  Copy* copy_ = nullptr;
  Display* display_ = nullptr;
  Drawable* drawable_ = nullptr;
};

}  // namespace shell
