#include "views/mirror.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "views/board/layout.h"
#include "views/widgets.h"

namespace views {
namespace {

int whole(float length) { return static_cast<int>(std::lround(length)); }

/// The name of the window in which something is drawn.
const char* place() { return ImGui::GetCurrentWindow()->Name; }

}  // namespace

void Mirror::line(std::string& notes, std::initializer_list<base::Piece> fields) {
  for (const base::Piece& field : fields) {
    const std::size_t from = notes.size();
    field.appendTo(notes);
    std::replace_if(
        notes.begin() + static_cast<std::ptrdiff_t>(from), notes.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    notes += '\x1f';
  }
  notes.back() = '\n';
}

bool Mirror::control(std::string_view name, const Box& box, Role role, int value, bool enabled,
                     base::MessageView about) {
  line(notes, {"C", static_cast<int>(role), value, enabled ? 1 : 0, name, place(), whole(box.x), whole(box.y),
               whole(box.width), whole(box.height), inWords(about)});
  if (!enabled || step != 0 || press != name) return false;
  press.clear();
  return true;
}

int Mirror::steps(std::string_view name) {
  if (step == 0 || press != name) return 0;
  press.clear();
  return std::exchange(step, 0);
}

void Mirror::words(std::string_view words, const Box& box, int kind) {
  if (box.y > -5000)
    line(notes, {"T", kind, words, place(), whole(box.x), whole(box.y), whole(box.width),
                 whole(box.height)});  // skips text that is only measured
}

}  // namespace views
