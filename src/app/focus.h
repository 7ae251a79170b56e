// The selected and the explained cell, which are adapted to changes of the document.
#pragma once

#include "app/screen.h"

namespace app {

class Focus final : public Session::Follower {
 public:
  /// Starts with the session's present document.
  explicit Focus(Screen& screen);

  void follow(ChangeKind how) override;
  /// Sets the explained cell to the selected one, unless that can be edited: inputs are edited to see the
  /// effect on another cell.
  void explainSelection();
  /// Reports the selection to page scripts.
  void emitSelection();

 private:
  void clampSelection();
  void keepInside();
  void selectStart();
  void followStep();

  Screen& screen_;
  Session& session_;
  views::Selection& selection_;
  std::string saidSelection_;  ///< as last reported to page scripts
  int seenStep_ = 0;           ///< the decoder's step when the selection last followed it
};

/// {"name":"q","head":0,"row":1,"col":2}
std::string cellJson(attention::CellRef cell);

}  // namespace app
