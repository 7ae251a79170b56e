// What the screen shows, as text for assistive technology: recorded while a frame is built that is not drawn.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/sentence.h"

namespace views {

struct Box;

struct Mirror {
  /// The kind of a control: the letters are those used in web/mirror.js.
  enum class Role : char {
    button = 'b',
    toggle = 's',
    choice = 'o',
    menu = 'm',
    entry = 'i',
    fold = 'd',
    slider = 'r',
    field = 'f'
  };

  static constexpr int kMostInTable = 32;  ///< rows and columns

  /// The record of the frame: one line for each control and for each line of text, in drawing order.
  std::string notes;
  std::string press;  ///< the name of the control that this frame should press; cleared once that is done
  int step = 0;       ///< −1 or +1: an arrow key instead of a press

  /// Records a control. Returns true if it is the one to press. `value` is its state or position in percent,
  /// `about` the sentence about it, in English.
  bool control(std::string_view name, const Box& box, Role role, int value, bool enabled,
               base::MessageView about);
  /// The arrow-key step for a control; 0 if it is for another one or none.
  int steps(std::string_view name);
  /// Records text; `kind` is 2 for a title, 1 for a small heading, otherwise 0.
  void words(std::string_view words, const Box& box, int kind);
  /// Appends a line to notes, its fields separated by U+001F.
  static void line(std::string& notes, std::initializer_list<base::Piece> fields);
};

}  // namespace views
