// The tooltip of a control: its name, key and purpose, or why it does nothing now.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "views/board/layout.h"

namespace views {

struct Context;

/// What is said about a control. The texts are English; the sentence has no stop at its end, like other short
/// texts of the interface.
struct About {
  std::string title;    ///< "Causal mask"
  std::string key;      ///< "C"; empty if none
  base::Message words;  ///< one sentence
};
/// The control that a part of it belongs to: "heads" for its buttons "heads+" and "heads-" and its number
/// "heads-value"; else the name itself.
std::string_view controlOf(std::string_view name);
/// The text for the control of that name, as in Context::widgetRects; of an option the sentence is
/// document::helpOn(). Without a title for what explains itself, such as an entry of a menu or a choice of a
/// lesson.
About about(std::string_view name);

/// The section of the controls that holds that one, by its name on a phone's sheet; empty: none.
std::string_view sectionOf(std::string_view name);

/// The names that it has a title for, in the order of the screen. One that ends with "*" stands for all that
/// begin so.
std::vector<std::string_view> controlNames();
/// Why the control does nothing now, in English: it is locked, or what it does is not possible; empty if
/// nothing is known against it.
base::Message whyNot(const Context& context, std::string_view name);

/// Which control is pointed at, and since when.
struct Tooltip {
  struct Place {
    std::string name;  ///< empty: none
    Box box;
    bool isOn = true;  ///< could it be operated?
  };
  Place over, focus;    ///< in this frame: under the pointer, and with the keyboard focus
  Place of;             ///< what the tooltip is about, or waits for
  Box box;              ///< where it was drawn last
  std::string focused;  ///< the name of `focus` in the previous frame
  std::string named;    ///< what has the keyboard focus in the tables for assistive technology
  double since = 0;     ///< when the pointer came to rest on it, in seconds
  double left = -1;     ///< when an open tooltip was left
  bool byKeys = false;  ///< the focus moved later than the pointer
  bool isOpen = false;
  bool isShut = false;  ///< closed by a press, the wheel or Esc, until another control is pointed at
  /// Milliseconds until it opens, or a message goes; 0: nothing waits for that.
  int wait = 0;

  /// To be called before the controls of a frame are drawn.
  void begin() { over.name.clear(), focus.name.clear(), wait = 0; }
  void forget() { of.name.clear(), isOpen = false; }
  bool isNeeded() const {
    return !over.name.empty() || !focus.name.empty() || !of.name.empty() || !focused.empty() ||
           !named.empty();
  }
};

/// Notes that the pointer is inside the box of this control; does nothing if something else covers it there.
/// Of several, the smallest counts.
void pointAt(Context& context, std::string_view name, const Box& box, bool isOn);
/// What belongs to that control has so much room below its box, where the tooltip does not cover it.
void pointBelow(Context& context, std::string_view name, float room);
/// Opens, draws and closes the tooltip; to be called after all controls.
void tooltip(Context& context);
/// Where a box of this size stands beside a thing: below it, or above, with `isAbove` first above, else right
/// or left of it, and always in the window.
Box placedBeside(const Box& thing, ImVec2 size, bool isAbove);
/// Does Esc close the tooltip in this frame? It then has no other effect.
bool escapesTooltip(Context& context);

}  // namespace views
