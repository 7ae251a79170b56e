#include "shell/desktop/window_parts.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

namespace shell {

void WindowParts::begin() {
  if (glfwExtensionSupported("GLX_MESA_copy_sub_buffer") == 0) return;
  display_ = reinterpret_cast<Display*>(glfwGetProcAddress("glXGetCurrentDisplay"));
  drawable_ = reinterpret_cast<Drawable*>(glfwGetProcAddress("glXGetCurrentDrawable"));
  if (display_ != nullptr && drawable_ != nullptr)
    copy_ = reinterpret_cast<Copy*>(glfwGetProcAddress("glXCopySubBufferMESA"));
}

void WindowParts::show(std::span<const DamageTracker::Box> boxes, int height) const {
  void* const display = display_();
  const unsigned long drawable = drawable_();
  for (const DamageTracker::Box& box : boxes)
    copy_(display, drawable, box.left, height - box.bottom, box.right - box.left, box.bottom - box.top);
}

}  // namespace shell
