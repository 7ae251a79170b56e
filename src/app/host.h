// What the application asks of the platform that it runs on. The shells implement it: a browser tab, a desktop window.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "draw/lines.h"

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
  enum class Type { input, change, select, error, step, answer, passed, train };
  Type type = Type::change;
  std::string detail;  ///< JSON object text: {"name": "q", "head": 0, …}; for errors {"type": "state", "message": …}
};

/// As a rasteriser it draws the lines of text that the built-in faces have no glyphs for.
class Host : public draw::Rasteriser {
 public:
  /// Draw another frame soon; without it nothing is drawn.
  virtual void requestFrame() = 0;
  /// Shows a text field; it ends in App::endText(). What is refused there comes back as a new field, with the text as it
  /// was typed and the reason.
  virtual void beginText(const TextField& field) = 0;
  /// The frame is being built: a platform without text fields of its own draws this one into the frame.
  virtual void drawText() {}
  /// Takes the field away without an answer (the board was scrolled or reset).
  virtual void dropText() = 0;
  /// Lets the user pick a file to open; it arrives by App::openText(). False: there is no such dialog here.
  virtual bool pickFile() = 0;
  /// Hands the user a file; returns the sentence to show ("Saved to …"), or what went wrong. A state in JSON has its `text`; what
  /// other names end in says how App::tensors() are to be written, of a table the one that it is called after. `asks`: where to.
  virtual base::Result<std::string> saveFile(std::string_view name, std::string_view text, bool asks) = 0;
  /// What was chosen in a form, as document::toLines(Choices), or "" where it was closed: it came with a file.
  virtual void choose(std::string_view) {}
  /// Fills the screen, or goes back; from a key or click of the user.
  virtual void toggleFullscreen() = 0;
  /// Opens a dialog with links to the board and code that embeds it; can it?
  virtual bool canShare() const { return false; }
  virtual void share() {}
  virtual void copyToClipboard(std::string_view text) = 0;
  virtual bool prefersDark() const = 0;
  virtual bool prints() const { return false; }  ///< the picture is for paper, which is light
  virtual bool isTouch() const = 0;  ///< the last pointer was a finger: larger targets, no hover
  virtual bool prefersStillness() const { return false; }  ///< what would glide is there at once
  /// Brings a lesson by its id; it arrives by App::openLesson(). And the list of lessons, by App::setLessons().
  virtual void wantLesson(std::string_view, int) {}
  virtual void wantLessons() {}
  /// Keeps a short text from one visit to the next; false: that cannot be done here.
  virtual bool remember(std::string_view) { return true; }
  virtual std::string remembered() const { return {}; }
  virtual void emit(const Event& event) = 0;
};

}  // namespace app
