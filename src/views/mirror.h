// What the screen shows, in words: noted while a frame is built that is not drawn, for assistive technology.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/sentence.h"

namespace views {

struct Box;

struct Mirror {
  /// What a control is, for notes: the letters that web/mirror.js knows.
  enum class Role : char { button = 'b', toggle = 's', choice = 'o', menu = 'm', entry = 'i', fold = 'd', slider = 'r', field = 'f' };

  std::string notes;  ///< of the frame: a line each for a control and for a line of text, in the order of drawing
  std::string press;  ///< the name of the control that this frame presses as a pointer would; empty again once it was
  int step = 0;       ///< −1 or +1: what an arrow key would ask of it, in place of a press

  /// Notes a control; is it the one to be pressed? `value` is how far it is on, in percent.
  bool control(std::string_view name, const Box& box, Role role, int value, bool enabled);
  /// The step that is asked of a control; 0 for all others.
  int steps(std::string_view name);
  /// Notes words; `kind` is 2 for a title, 1 for a small heading, else 0.
  void words(std::string_view words, const Box& box, int kind);
  /// Adds a line to notes, of fields with U+001F between them.
  static void line(std::string& notes, std::initializer_list<base::Piece> fields);
};

}  // namespace views
