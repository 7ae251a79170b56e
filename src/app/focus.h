// What is selected and explained, which follows the document.
#pragma once

#include "app/screen.h"

namespace app {

class Focus final : public Session::Follower {
 public:
  /// Begins where the session's document does.
  explicit Focus(Screen& screen);

  void follow(Became how) override;
  /// What is explained follows the selection, except to cells that can be changed: those are changed to see what follows.
  void explainSelection();
  /// Tells the page script what is selected.
  void emitSelection();

 private:
  void clampSelection();
  void selectStart();
  void followStep();

  Screen& screen_;
  Session& session_;
  views::Selection& selection_;
  std::string saidSelection_;  ///< to the page script
  int seenStep_ = 0;  ///< of the decoder, when the selection last followed it
};

/// {"name":"q","head":0,"row":1,"col":2}
std::string cellJson(attention::CellRef cell);

}  // namespace app
