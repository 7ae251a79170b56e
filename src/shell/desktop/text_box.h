// A text field in front of the board, drawn with Dear ImGui, for platforms without native ones. The web page
// has them, and does not contain these 5 KB.
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
  /// The text, and how editing ended.
  struct Typed {
    app::TextEnd how = app::TextEnd::commit;
    std::string words;
  };

  void begin(const app::TextField& field);
  void drop() { field_.reset(); }
  /// Is it still waiting for the keyboard? Dear ImGui takes a frame or two to give it the focus, during which
  /// keys would be lost.
  bool isWaiting() const { return field_ && !hasKeys_; }
  /// Draws the field, if there is one, into the frame being built. Enter, Tab and a click elsewhere commit,
  /// Escape cancels; both remove the field. Text that the fonts cannot show is shaped by `pango`.
  std::optional<Typed> draw(const views::Fonts& fonts, PangoText& pango);

 private:
  void takeEarly();
  int moveCaret(ImGuiInputTextCallbackData& data);
  void keepBetweenCharacters(ImGuiInputTextCallbackData& data);
  void drawShaped(ImFont* font);

  std::optional<app::TextField> field_;
  std::array<char, 4096> buffer_{};
  std::string passedOn_;  ///< of a search: what was typed so far
  /// Number of fields so far; each has a new id, or Dear ImGui would continue with the old text.
  int count_ = 0;
  bool hasKeys_ = false;
  bool toEnd_ = false;  ///< the caret must be moved to the end

  // For text that must be shaped, which Dear ImGui can edit but not draw.
  bool isShaped_ = false;
  std::vector<PangoText::Place> carets_;
  int caret_ = 0, selectionStart_ = 0, selectionEnd_ = 0;  ///< in bytes
  float left_ = 0;                                         ///< where the line starts on the screen
};

}  // namespace shell
