// The text field in front of a cell, a label, a sentence or an option.
#pragma once

#include "app/focus.h"
#include "app/places.h"

namespace app {

class Typing {
 public:
  Typing(Screen& screen, Focus& focus, Places& places)
      : screen_(screen),
        session_(screen.session),
        focus_(focus),
        places_(places) {}

  void begin(const views::TextTarget& target);
  /// Ends the field. False: the text was refused, and is shown in a field again.
  bool end(TextEnd how, std::string_view words);

 private:
  void typeNext(const views::TextTarget& from, int by);
  void typeNextParameter(views::TextTarget from, int by);
  void search(const views::TextTarget& target, TextEnd how, std::string_view words);
  base::Result<void> enter(const views::TextTarget& target, std::string_view words);
  base::Result<void> read(document::OptionId option, std::string_view words);
  base::Result<void> enterOption(const views::TextTarget& target, std::string_view words);
  base::Result<void> apply(const document::Edit& edit);

  Screen& screen_;
  Session& session_;
  Focus& focus_;
  Places& places_;
};

}  // namespace app
