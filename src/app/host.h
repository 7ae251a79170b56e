// What the application asks of the place that it runs in. The shells implement it: a browser tab, a desktop window.
#pragma once

#include <string>
#include <string_view>

#include "attention/error.h"
#include "gfx/lines.h"

namespace app {

/// In logical pixels (CSS pixels), from the top left of the canvas.
struct Rect {
  float x = 0, y = 0, width = 0, height = 0;
};

/// A field laid over a cell, a label or the sentence while it is typed into.
struct TextField {
  Rect rect;
  float zoom = 1;        ///< how much larger the rectangle is outside of the application
  std::string text;      ///< what it starts with, all selected
  std::string name;      ///< for assistive technology: "Q, row saw 2, column 3"
  bool numeric = false;  ///< asks a phone for its number keys
  bool centered = false;
  bool selectAll = true; ///< false: the caret goes to the end (typing began with a digit)
  bool isCell = false;   ///< one of a matrix: Tab enters it and goes to the next
  std::string wrong;     ///< why the text was refused, which is there again
  bool dark = false;     ///< the theme in use
};

/// How a text field ended: entered, given up, left for something else, or entered to go on with the cell after or before.
enum class Entry { commit, cancel, leave, next, previous };

/// What happened, for page scripts and for the title bar.
struct Event {
  enum class Type { input, change, select, error };
  Type type = Type::change;
  std::string detail;  ///< JSON object text: {"name": "q", "head": 0, …}; for errors {"type": "state", "message": …}
};

/// As a rasteriser it draws the lines of text that the built-in faces have no glyphs for.
class Host : public gfx::Rasteriser {
 public:
  /// Draw another frame soon; without it nothing is drawn.
  virtual void requestFrame() = 0;
  /// Shows a text field; it ends in App::endText(). What is refused there comes back as a new field, with the text as it
  /// was typed and the reason.
  virtual void beginText(const TextField& field) = 0;
  /// The frame is being built: a place that has no text fields of its own draws that one into it.
  virtual void drawText() {}
  /// Takes the field away without an answer (the board was scrolled or reset).
  virtual void dropText() = 0;
  /// Lets the user pick a file to open; it arrives by App::openText(). False: there is no such dialog here.
  virtual bool pickFile() = 0;
  /// Hands the user a text file; returns the sentence to show ("Saved to …"), or what went wrong.
  virtual attention::Result<std::string> saveFile(std::string_view name, std::string_view text) = 0;
  /// Fills the screen, or goes back; from a key or click of the user.
  virtual void toggleFullscreen() = 0;
  virtual void copyToClipboard(std::string_view text) = 0;
  virtual bool prefersDark() const = 0;
  virtual bool isTouch() const = 0;  ///< the last pointer was a finger: larger targets, no hover
  virtual void emit(const Event& event) = 0;
};

}  // namespace app
