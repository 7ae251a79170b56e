// A field for typing over the board, drawn with Dear ImGui: for a place that has none of its own. The browser has, and
// is spared the 5 KB.
#pragma once

#include <array>
#include <optional>
#include <string>

#include <imgui.h>

#include "app/host.h"
#include "shell/desktop/pango_text.h"
#include "views/theme.h"

namespace shell {

class TextBox {
 public:
  /// What was typed, and how it ended.
  struct Typed {
    app::Entry how = app::Entry::commit;
    std::string words;
  };

  void begin(const app::TextField& field);
  void drop() { field_.reset(); }
  /// Has it yet to take hold of the keys? That takes Dear ImGui a frame or two, in which keys would be lost.
  bool isWaiting() const { return field_ && !hasKeys_; }
  /// Draws the field, if there is one, into the frame that is being built. Enter, Tab and a click elsewhere end it, Escape
  /// cancels; the field is gone then. What the faces have no glyphs for, `pango` shapes.
  std::optional<Typed> draw(const views::Fonts& fonts, PangoText& pango);

 private:
  void takeEarly();
  int moveCaret(ImGuiInputTextCallbackData& data);
  void keepBetweenCharacters(ImGuiInputTextCallbackData& data);
  void drawShaped(ImFont* font);

  std::optional<app::TextField> field_;
  std::array<char, 4096> buffer_{};
  int count_ = 0;          ///< of fields so far: each is a new one to Dear ImGui, which else would go on with the old text
  bool hasKeys_ = false;
  bool toEnd_ = false;     ///< the caret has yet to go there

  // Of text that is shaped: Dear ImGui edits it, and cannot draw it.
  bool isShaped_ = false;
  std::vector<PangoText::Place> carets_;
  int caret_ = 0, selectionStart_ = 0, selectionEnd_ = 0;  ///< in bytes
  float left_ = 0;                                         ///< where the line begins, on the screen
};

}  // namespace shell
