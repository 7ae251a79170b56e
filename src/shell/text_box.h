// A field for typing over the board, drawn with Dear ImGui: for a place that has none of its own. The browser has, and
// is spared the 5 KB.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "app/host.h"
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
  /// Draws the field, if there is one, into the frame that is being built. Enter and a click elsewhere commit, Escape
  /// cancels; the field is gone then.
  std::optional<Typed> draw(const views::Fonts& fonts);

 private:
  std::optional<app::TextField> field_;
  std::array<char, 4096> buffer_{};
  bool isNew_ = false;
};

}  // namespace shell
