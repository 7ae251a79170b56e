// What the application needs from its platform. Implemented by the shells: for a browser tab and a desktop
// window.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.h"
#include "draw/lines.h"

namespace app {

/// In logical pixels (CSS pixels), from the top left corner of the canvas.
struct Rect {
  float x = 0, y = 0, width = 0, height = 0;
};

/// A text field in front of a cell, a label or the sentence.
struct TextField {
  Rect rect;
  float zoom = 1;        ///< magnification of the application; `rect` is in its units
  std::string text;      ///< initial text
  std::string name;      ///< for assistive technology, translated: "Q, row saw 2, column 3"
  bool numeric = false;  ///< show a numeric keyboard on a phone
  bool centered = false;
  bool selectAll = true;  ///< false: the caret is placed at the end (typing started with a digit)
  bool isCell = false;    ///< a cell of a matrix, for which Tab commits and moves to the next one
  /// Greater than 0: a search without a frame, in letters of this size, which passes on what is typed as
  /// TextEnd::typing, and ↑ ↓ as keys.
  float searches = 0;
  std::string wrong;  ///< why `text` was refused, translated
  bool dark = false;  ///< use the dark theme
};

/// How a text field ended: committed, cancelled, left for something else, or committed to continue with the
/// next or previous cell; or, of a search, that it has not: this is what has been typed so far.
enum class TextEnd { commit, cancel, leave, next, previous, typing };

/// An event, for page scripts and the title bar.
struct Event {
  enum class Type { input, change, select, error, step, answer, passed, train };
  Type type = Type::change;
  /// JSON object text: {"name": "q", "head": 0, …}; for errors {"type": "state", "message": …}.
  std::string detail;
};

/// As a Rasteriser it draws lines of text with characters that the built-in fonts do not have.
class Host : public draw::Rasteriser {
 public:
  /// Asks for another frame soon; otherwise none is drawn.
  virtual void requestFrame() = 0;
  /// Shows a text field; its result is passed to App::endText(). If that refuses it, this is called again
  /// with the text as it was typed and the reason.
  virtual void beginText(const TextField& field) = 0;
  /// Called while a frame is being built: a platform without native text fields draws its own into the frame.
  virtual void drawText() {}
  /// Removes the text field without a result (the board was scrolled or reset).
  virtual void dropText() = 0;
  /// Shows a dialog to choose a file to open, which is passed to App::openText(). False: there is no such
  /// dialog here.
  virtual bool pickFile() = 0;
  /// Saves a file for the user; returns a message ("Saved to …"), or an error. For a state in JSON `text` is
  /// the content; for other names the extension determines the format for App::tensors(), and for a table the
  /// base name determines the tensor. `asks`: ask where to save it.
  virtual base::Result<base::Message> saveFile(std::string_view name, std::string_view text, bool asks) = 0;
  /// Called with the choices made in a form that came with a file, as document::toLines(Choices); "" if it
  /// was closed.
  virtual void choose(std::string_view) {}
  /// Enters or leaves full screen; called for a key or click of the user.
  virtual void toggleFullscreen() = 0;
  /// share() opens a dialog with links to the board and code to embed it; canShare() says if there is one.
  virtual bool canShare() const { return false; }
  virtual void share() {}
  /// Shows the notices of what others made in the program; only asked for if the shell has not set
  /// App::setParts().
  virtual void showNotices() {}
  /// Copies a report for those who repair the program: version, platform, kernel, the last messages and the
  /// state; sends nothing.
  virtual void copyReport() {}
  virtual void copyToClipboard(std::string_view text) = 0;
  virtual bool prefersDark() const = 0;
  virtual bool prints() const { return false; }  ///< the result is printed on paper, so the theme is light
  virtual bool isTouch() const = 0;  ///< the last pointer was a finger: use larger targets, and no hovering
  /// Seconds of a clock that also goes on between frames, by which it is judged how long a finger has rested.
  virtual double now() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  virtual bool prefersStillness() const { return false; }  ///< skip animations
  /// Requests a lesson by its id, to be passed to App::openLesson(), and the list of lessons, to be passed to
  /// App::setLessons().
  virtual void wantLesson(std::string_view, int) {}
  virtual void wantLessons() {}
  /// Requests the files of all lessons, puzzles and questions, to be passed to App::addLessonTexts() one
  /// after the other, to be searched.
  virtual void wantLessonTexts() {}
  /// Requests the glossary, to be passed to App::setGlossary().
  virtual void wantGlossary() {}
  /// Stores a short text until the next visit; false if that is not possible here.
  virtual bool remember(std::string_view) { return true; }
  virtual std::string remembered() const { return {}; }
  virtual void emit(const Event& event) = 0;
};

}  // namespace app
