// Controls in the look of the design, on top of Dear ImGui's input handling.
#pragma once

#include <string_view>

#include "views/context.h"
#include "views/mirror.h"

namespace views {

/// The draw list of the window that was just begun, with edges as fine as the screen's own pixels.
ImDrawList* sharp(ImDrawList* list);
/// The platform's lines where the words hold a character that the face has no glyph for; then the whole line is theirs.
/// Null where the face has all of them, which costs a look at each byte.
draw::Lines* linesFor(ImFont* font, std::string_view words);
/// How the platform draws what stands beside letters of this face.
draw::Face faceOf(const ImFont* font);
/// Words of the interface in the reader's language; what draws and measures words does so by itself.
std::string_view inWords(std::string_view english);
/// The beginning of words without spaces that fits the width, in scripts that may be broken anywhere; at least a character. All of them in others.
std::string_view lineOf(ImFont* font, std::string_view words, float width);
/// Text in a face of the theme, and in any script. Returns the width.
float text(ImDrawList* list, ImFont* font, float x, float y, ImU32 color, std::string_view words);
/// The same, ending at `right`, or centred on `x`; `y` is the middle of the line.
void textRight(ImDrawList* list, ImFont* font, float right, float midY, ImU32 color, std::string_view words);
void textCentered(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, std::string_view words);
void textMiddle(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, std::string_view words);
float textWidth(ImFont* font, std::string_view words);
/// A number centred on a point, in a face at `scale` of its size.
void digitsCentered(ImDrawList* list, ImFont* font, float scale, float x, float midY, ImU32 color, std::string_view digits);
/// Words with raised and lowered letters: "K^T" raises the T, "W_Q" lowers the Q. One letter after the sign; other
/// underscores ("d_k") stay as they are. Returns the width; draws nothing where `list` is null.
float richText(ImDrawList* list, ImFont* font, ImFont* small, float x, float midY, ImU32 color, std::string_view words);
/// Words in lines of at most `width`, broken at spaces, and elsewhere in scripts that the faces do not have, from the
/// top `y` on. Returns their height.
float paragraph(ImDrawList* list, ImFont* font, float x, float y, float width, ImU32 color, std::string_view words);
/// `words`, cut to `width` with "…" where they are longer. Cuts between what a reader takes for characters.
std::string elide(ImFont* font, std::string_view words, float width);

/// While it lives, words are drawn and measured as they are: tokens and sentences of the reader's own. All others are those of the
/// interface, and shown in the reader's language.
class AsIs {
 public:
  AsIs();
  AsIs(const AsIs&) = delete;
  AsIs& operator=(const AsIs&) = delete;
  ~AsIs();

 private:
  Words* words_;
};

/// How much a pixel of a drag changes a number, and a press of an arrow key: finer with Shift, coarser with Alt.
double perPixel();
double perKey();
/// `value` moved by that much, to four decimals; as it is, to the last digit, where that is 0.
float moved(float value, double by);
/// May a number that is typed begin with it?
bool beginsNumber(unsigned character);
bool isNumberKey(ImGuiKey key);
/// What the frame's characters make from the first on that may begin a number; empty without one.
std::string typedNumber();
/// A field over the cell of a matrix, to type its number; `first` is what was typed already.
TextTarget numberField(std::string_view matrix, int row, int col, const Box& cell, float value, std::string_view first);

/// The counts of heads that the steps lead to; 0: none.
struct HeadSteps {
  explicit HeadSteps(const document::Settings& settings);
  int less = 0, more = 0;
};

/// While it lives, windows that scroll have a narrow bar on that background.
class NarrowScrollbar {
 public:
  NarrowScrollbar(const Palette& palette, ImU32 background);
  NarrowScrollbar(const NarrowScrollbar&) = delete;
  NarrowScrollbar& operator=(const NarrowScrollbar&) = delete;
  ~NarrowScrollbar();
};

/// A window of its own in the middle of the board, at most `width` wide and as high as its content was in the frame before,
/// on whose page (ViewState::helpPage) a finger scrolls. Begun even where it cannot be seen: ImGui::End() has to follow.
Box beginDialog(Context& context, const char* name, float width, bool takesFocus);
/// Of windows that neither move nor take part in Dear ImGui's own keys.
inline constexpr ImGuiWindowFlags kFixedWindow = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                                 ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoCollapse;

/// Draws the controls of one panel. Boxes are in window coordinates; each is entered in Context::widgetRects by its name.
class Widgets {
 public:
  /// `focusRing`: what the keys do in this panel; null where they do nothing.
  explicit Widgets(Context& context, FocusRing* focusRing = nullptr);

  /// Makes what stands in `box` the next control of the keys, with a ring around it while it has them: what they ask of
  /// it in this frame, and the place "focus:" with its name. Those below do so themselves, but for menus and segments,
  /// where several make one control.
  FocusRing::Key keys(std::string_view name, const Box& box, bool enabled = true);

  /// All return true when the user did it.
  bool toggle(std::string_view name, Box row, std::string_view label, bool on, bool strong = false, bool enabled = true);
  /// −1, 0 or +1, again and again while a button is held; what it sets is one step of undo then. `value` stands between
  /// the buttons; that of an option is typed where it is clicked, beginning with `typed`, or with the option's number.
  int stepper(std::string_view name, Box box, std::string_view value, bool canLess, bool canMore,
              std::string_view typed = {});
  bool segment(std::string_view name, Box box, std::string_view label, bool chosen);
  bool button(std::string_view name, Box box, std::string_view label, bool filled = false);
  enum class Icon { undo, redo, reset, theme, menu, more, expand, help, close, dice, pencil };
  bool icon(std::string_view name, Box box, Icon icon, bool enabled = true, bool active = false);
  /// A button that opens a menu; `menu` in beginMenu() is the same name.
  void menuButton(std::string_view name, Box box, std::string_view label);
  bool beginMenu(std::string_view name, float width = 150);
  bool menuItem(std::string_view name, std::string_view label, bool chosen = false, std::string_view about = {}, bool enabled = true);
  /// An entry that cannot be chosen, with the reason below it, and a link beside it to what would help; true when that is
  /// clicked. No link where `action` is empty.
  bool menuReason(std::string_view name, std::string_view label, std::string_view reason, std::string_view action);
  /// Opens a menu without its button, in the same window.
  void openMenu(std::string_view name, const Box& anchor);
  /// Two lines under the entries of a menu.
  void menuText(std::string_view words);
  void endMenu();
  /// A value on a track between 0 and 1; true while it is moved. `by` is what keys add to it. It ends its gesture.
  bool slider(std::string_view name, Box box, float& position, float by);
  /// A row that shows or hides those below it; `value` and a caret stand at its right.
  bool disclosure(std::string_view name, Box row, std::string_view value, bool open);
  /// Words that do something, underlined.
  bool link(std::string_view name, Box box, std::string_view words);
  /// Does the pointer rest on this place, or a finger for a while? Then tip() says why it does nothing.
  bool asks(const Box& box);
  void tip(const Box& near, std::string_view words);
  /// A place that can be clicked; draws nothing.
  bool area(std::string_view name, Box box, Mirror::Role role = Mirror::Role::button, int value = 0) { return hit(name, box, true, role, value); }
  /// Text that opens a field when clicked.
  bool field(std::string_view name, Box box, std::string_view content);

 private:
  bool hit(std::string_view name, Box box, bool enabled = true, Mirror::Role role = Mirror::Role::button, int value = 0);
  /// The same, and again and again while it is held.
  bool held(std::string_view name, Box box, bool enabled);
  /// Seconds.
  float repeatsAfter() const;
  /// The place of the next entry of a menu, so high.
  Box entry(float width, float height);
  /// The same, by keys too.
  bool press(std::string_view name, Box box, bool enabled = true, Mirror::Role role = Mirror::Role::button, int value = 0);
  /// The same for what is on or off; right is on, left is off.
  bool flip(std::string_view name, Box box, bool on, bool enabled = true, Mirror::Role role = Mirror::Role::toggle);
  Context& c_;
  FocusRing* focusRing_;
  ImDrawList* list_;
  float menuWidth_ = 0;
};

}  // namespace views
