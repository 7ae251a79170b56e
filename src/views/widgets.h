// Controls in the design's look, using Dear ImGui's input handling.
#pragma once

#include <string_view>

#include "views/context.h"
#include "views/mirror.h"

namespace views {

/// What a text is drawn with. Without a list it is only measured, where a function says so.
struct Pen {
  ImDrawList* list = nullptr;
  ImFont* font = nullptr;
  ImU32 color = 0;
};

/// The draw list of a window that was just begun, set to antialias edges at the width of a physical pixel.
ImDrawList* sharp(ImDrawList* list);
/// The platform's Lines if the text contains a character that the font does not have; then it draws the whole
/// line. Null if the font has them all; checks only the bytes in that case.
draw::Lines* linesFor(ImFont* font, std::string_view words);
/// The parameters with which the platform draws text that matches this font.
draw::Face faceOf(const ImFont* font);
/// A text as it is drawn: translated, and with its numbers in the notation of the language. Functions that
/// draw or measure text do this themselves: what they get from here has to be drawn AsIs.
std::string inWords(base::MessageView english);
/// The translation of a text of a lesson: Words::asWritten().
std::string lessonInWords(std::string_view english);
/// Differs when another table of words is used; 0: English.
std::uint64_t languageId();
/// inWords(), beginning with a capital letter.
std::string sentence(base::MessageView english);
/// A text without words in the notation of the reader's language: views::Words::number().
std::string_view inNumbers(std::string_view digits, std::string& own);
/// How much of a text without spaces fits the width, in scripts that allow a line break anywhere; at least
/// one character. In other scripts all of it.
std::string_view lineOf(ImFont* font, std::string_view words, float width);
/// Draws text in a font of the theme, in any script, with roots and raised and lowered letters as in formulas
/// (hasFormula()). Returns its width.
float text(ImDrawList* list, ImFont* font, float x, float y, ImU32 color, base::MessageView english);
/// The same, ending at `right`, centred on `x`, or starting at `x`; `y` and `midY` are the middle of the
/// line.
void textRight(ImDrawList* list, ImFont* font, float right, float midY, ImU32 color, base::MessageView words);
void textCentered(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, base::MessageView words);
void textMiddle(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, base::MessageView words);
float textWidth(ImFont* font, base::MessageView english);
/// The same of pieces of such a text: neither translated, nor typeset, nor noted for assistive technology.
float plainText(ImDrawList* list, ImFont* font, float x, float y, ImU32 color, std::string_view words);
void plainMiddle(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, std::string_view words);
float plainWidth(ImFont* font, std::string_view words);
/// A dotted line, below what can be pressed.
void dots(ImDrawList* list, float left, float right, float y, ImU32 color);
/// Notes a formula (views/formula.h), which is read aloud as a whole.
void noteFormula(std::string_view formula, const Box& box);
/// A number centred on a point, with the font scaled by `scale`.
void digitsCentered(const Pen& pen, float scale, float x, float midY, std::string_view digits);
/// A paragraph with lines of at most `width`, from the top `y` on, or only its measure. Lines are broken at
/// spaces, and elsewhere in scripts that allow it. Returns its height.
float paragraph(const Pen& pen, float x, float y, float width, base::MessageView english);
/// The translation, shortened to `width` with "…" if they are longer. Cuts only between grapheme clusters.
std::string elide(ImFont* font, base::MessageView english, float width);

/// During the lifetime of this object, text is not translated: for tokens and sentences of the reader. Any
/// other text belongs to the interface, and is translated.
class AsIs {
 public:
  AsIs();
  AsIs(const AsIs&) = delete;
  AsIs& operator=(const AsIs&) = delete;
  ~AsIs();

 private:
  Words* words_;
};

/// How much a number changes for each pixel of a drag, and for each press of an arrow key: finer with Shift,
/// coarser with Alt.
double perPixel();
double perKey();
/// `value` changed by that much, rounded to four decimals; exactly `value` if the change is 0.
float moved(float value, double by);
/// May a typed number start with this character?
bool beginsNumber(unsigned character);
bool isNumberKey(ImGuiKey key);
/// What was typed in this frame, from the first character on that can start a number; empty if there is none.
std::string typedNumber();
/// base::shortest() for reading: with minus signs, also in the exponent.
std::string shortestNumber(float value);
/// A text field over a cell of a matrix, to type its number; `first` is what was typed to open it.
TextTarget numberField(std::string_view matrix, int row, int col, const Box& cell, float value,
                       std::string_view first);

/// The numbers of heads that the buttons − and + lead to; 0: none. On an example, heads share the width that
/// is there; on a board of the reader's own, one head more or less leaves the others with their columns, and
/// the width follows.
struct HeadSteps {
  explicit HeadSteps(const Context& context);
  /// Requests the step −1 or +1, and a message about it; nothing for 0.
  void ask(Context& context, int step) const;
  bool keepsColumns = false;
  int less = 0, more = 0;
};

/// During the lifetime of this object, windows that scroll have a narrow scroll bar on this background.
class NarrowScrollbar {
 public:
  NarrowScrollbar(const Palette& palette, ImU32 background);
  NarrowScrollbar(const NarrowScrollbar&) = delete;
  NarrowScrollbar& operator=(const NarrowScrollbar&) = delete;
  ~NarrowScrollbar();
};

/// Begins a window in the middle of the board, at most `width` wide and as high as its content in the
/// previous frame; a finger scrolls its page (HelpView::page). ImGui::End() must be called even if the
/// window is not visible.
Box beginDialog(Context& context, const char* name, float width, bool takesFocus);
/// Flags of windows that cannot be moved, and ignore Dear ImGui's own keys.
inline constexpr ImGuiWindowFlags kFixedWindow = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize |
                                                 ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                                 ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoCollapse;

/// Draws the controls of a panel. Boxes are in window coordinates; each is stored in Context::widgetRects
/// under its name.
class Widgets {
 public:
  /// `focusRing` handles the keys in this panel; null: there are none.
  explicit Widgets(Context& context, FocusRing* focusRing = nullptr);

  /// Registers what is in `box` as the next control for the keys, and draws a ring around it while it has the
  /// focus, under the name "focus:" + its name. Returns what the keys ask of it in this frame. The functions
  /// below call this themselves, except for menus and segments, several of which make up one control.
  FocusRing::Key keys(std::string_view name, const Box& box, bool enabled = true);

  /// All return true when the user operated the control.
  bool toggle(std::string_view name, Box row, base::MessageView label, bool on, bool strong = false,
              bool enabled = true);
  /// Returns −1, 0 or +1, repeatedly while a button is held, which makes a single undo step. `value` is shown
  /// between the buttons; for an option it can be clicked to type a number, starting with `typed`, or with
  /// the option's value.
  int stepper(std::string_view name, Box box, base::MessageView value, bool canLess, bool canMore,
              std::string_view typed = {});
  bool segment(std::string_view name, Box box, base::MessageView label, bool chosen);
  bool button(std::string_view name, Box box, base::MessageView label, bool filled = false);
  enum class Icon {
    undo,
    redo,
    reset,
    theme,
    menu,
    more,
    expand,
    help,
    close,
    dice,
    pencil,
    sliders,
    book,
    search,
    keys,
    done,
    erase,
    previous,
    next
  };
  bool icon(std::string_view name, Box box, Icon icon, bool enabled = true, bool active = false);
  /// An icon above its name, without a frame; on a pill while it is `active`.
  bool slot(std::string_view name, Box box, Icon icon, base::MessageView label, bool enabled = true,
            bool active = false);
  /// From now on what is lower is pressed as if it were that high.
  void grow(float height) { least_ = height; }
  /// A cross without a frame, which closes a panel.
  bool cross(std::string_view name, Box box);
  /// A button that opens a menu; beginMenu() takes the same name. `chosen`: what is open is of this menu.
  void menuButton(std::string_view name, Box box, base::MessageView label, bool chosen = false);
  bool beginMenu(std::string_view name, float width = 150);
  bool menuItem(std::string_view name, base::MessageView label, bool chosen = false,
                base::MessageView about = {}, bool enabled = true);
  /// A disabled entry, with the reason below it, and a link beside it to a remedy; returns true when the link
  /// is clicked. No link if `action` is empty.
  bool menuReason(std::string_view name, base::MessageView label, base::MessageView reason,
                  base::MessageView action);
  /// Opens a menu without a button of its own, in the same window.
  void openMenu(std::string_view name, const Box& anchor);
  void menuHeading(base::MessageView words);
  /// What follows in the menu is in a column, then in the one to its right, then below them.
  void beginColumn();
  void nextColumn();
  void endColumn();
  /// Two lines of text below the entries of a menu.
  void menuText(base::MessageView words);
  void endMenu();
  /// A value on a track from 0 to 1; returns true while it is being changed. Keys change it by `by`. Ends its
  /// gesture itself.
  bool slider(std::string_view name, Box box, float& position, float by);
  /// A row that expands or collapses the rows below it; `value` and a caret are at its right.
  bool disclosure(std::string_view name, Box row, base::MessageView value, bool open);
  /// Underlined text that can be clicked.
  bool link(std::string_view name, Box box, base::MessageView words);
  /// What is at `box` belongs to the control of that name, whose tooltip speaks of it: the label beside it.
  void points(std::string_view name, const Box& box, bool enabled = true);
  /// Does the pointer rest on this place, or has a finger been held there? Then tip() can explain why nothing
  /// happens.
  bool asks(const Box& box);
  void tip(const Box& near, base::MessageView words);
  /// A clickable area that acts repeatedly while it is held, which makes a single undo step (Requests::held);
  /// draws nothing.
  bool held(std::string_view name, Box box, bool enabled);
  /// A clickable area; draws nothing.
  bool area(std::string_view name, Box box, Mirror::Role role = Mirror::Role::button, int value = 0) {
    return hit(name, box, true, role, value);
  }
  /// Text that opens a text field when clicked.
  bool field(std::string_view name, Box box, base::MessageView content);
  /// The same for an option that is a list of names, which are typed between commas; `title` says so where
  /// they are typed.
  void names(document::OptionId id, Box box, std::string title);

 private:
  /// As high as grow() wants it.
  Box grown(Box box) const;
  bool hit(std::string_view name, Box box, bool enabled = true, Mirror::Role role = Mirror::Role::button,
           int value = 0);
  void sayWhy(std::string_view name, const Box& box);
  /// The delay before repeating, in seconds.
  float repeatsAfter() const;
  /// The box for the next entry of a menu, with this height.
  Box entry(float width, float height);
  /// Like hit(), also by keys.
  bool press(std::string_view name, Box box, bool enabled = true, Mirror::Role role = Mirror::Role::button,
             int value = 0);
  /// Like press(), for something that is on or off; the right arrow key switches it on, the left one off.
  bool flip(std::string_view name, Box box, bool on, bool enabled = true,
            Mirror::Role role = Mirror::Role::toggle);
  Context& c_;
  FocusRing* focusRing_;
  ImDrawList* list_;
  float menuWidth_ = 0, least_ = 0;
  bool isColumn_ = false;
};

/// A cell or a bar of a key that a query does not see: in place of a colour, lines at 45 degrees.
void hatched(ImDrawList* list, const Palette& palette, const Box& box);

}  // namespace views
