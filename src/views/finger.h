// What a pressed finger does: it taps, takes hold of a number, drags a control sideways, or scrolls what is
// under it.
#pragma once

#include <imgui.h>

#include <map>
#include <string>
#include <string_view>

#include "views/scroller.h"

namespace views {

struct Context;

/// A finger, or the mouse button. A finger's movements are judged when they happen and not when a frame sees
/// them, because a frame may be late, and because the browser wants to know at once whose a movement is.
/// Times are in seconds, of any clock.
class Finger {
 public:
  enum class Does {
    nothing,
    waits,   ///< pressed, neither long nor far enough to decide: if it is released now, it has tapped
    holds,   ///< has rested on something that can be held, and drags it in any direction
    drags,   ///< drags what it was pressed on sideways; a mouse does from the start, in any direction
    scrolls  ///< scrolls what is under it; what it was pressed on is released without effect
  };
  static constexpr float kSlop = 8;     ///< pixels by which a tap may move
  static constexpr double kHold = 0.3;  ///< seconds after which a finger that rests holds what is under it

  void press(float x, float y, double now);
  void move(float x, float y, double now);
  /// What it was pressed on can be held.
  void grip() { grips_ = true; }
  /// It may come to hold that, once time has passed.
  bool mayHold() const { return grips_ && does == Does::waits; }
  /// Time passes, and the finger rests.
  void rest(double now);

  Does does = Does::nothing;
  bool onBoard = false;   ///< it was pressed on the board
  bool hasLetGo = false;  ///< it scrolls, and what it was pressed on has been released
  float speed = 0;        ///< pixels moved in the last frame with a movement
  double movedAt = 0;     ///< the time of that movement, in seconds of Dear ImGui
  /// From where it was pressed to the small control that it meant, in pixels; see aim().
  float aimX = 0, aimY = 0;

 private:
  float x_ = 0, y_ = 0;  ///< where it was pressed
  double pressedAt_ = 0;
  bool grips_ = false;
};

/// From a point to the nearest control that is smaller than a finger and would contain it if it had 44 by 44
/// pixels; 0 if the point is on a control or a number already, or none is near (WCAG 2.2, success
/// criterion 2.5.5).
struct Aimed {
  std::string_view inView{}, buried{};  ///< controls, see ViewState
  Box board{0, 0, 1e6f, 1e6f};          ///< what is scrolled there reaches under what is beside it
};
ImVec2 aim(const std::map<std::string, Box, std::less<>>& rects, float x, float y, const Aimed& among = {});

/// By how much a finger, or the mouse, that was pressed on a sheet's handle and is lifted in this frame has
/// swiped down, or up if below 0; 0 if it has not swiped.
float swiped(const Box& handle);

/// The open menu.
struct Menu {
  std::string name;
  Box anchor;  ///< the button that opened it
  float width = 0, height = 0;
  Scroller page;
  bool shown = false;
  /// By the keys: the choice among those that can be pressed (−1: none yet), their number, and is it pressed?
  int at = -1, count = 0;
  bool pressed = false;
};

/// Carries out what the finger does, at the beginning of a frame, in the window of the board: scrolls the
/// board, and keeps what it was pressed on from reacting to a finger that scrolls.
void readFinger(Context& context);
/// At the end of a window that scrolls: lets a finger scroll it, with momentum. Likewise a mouse that does
/// not hold a control.
void scrollWithFinger(Context& context, Scroller& scroller);

}  // namespace views
