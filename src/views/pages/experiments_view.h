// State of the pages that replace the board: what they show, and the keys there. Which page is open, and the
// values of its controls, are options of the document.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "document/state.h"
#include "views/focus_ring.h"
#include "views/scroller.h"

namespace attention {
class Timing;
}

namespace views {

/// The cell of a parameter that the pointer is dragging or, while `on`, that keys change.
struct ParameterCell {
  struct Keys {
    int down = 0, right = 0, up = 0;  ///< moves to another cell; steps of the number
    bool type = false;
    std::string first;  ///< what was typed to open a text field
  };

  bool on = false;
  document::ParameterId parameter = document::ParameterId::gamma_1;
  int row = 0, col = 0;
  float before = 0;      ///< value before the drag
  double travelled = 0;  ///< in units of the number
  Keys keys;             ///< in this frame

  /// Reads the keys of this frame for the cell. Returns true if there was one.
  bool readKeys();
};

struct ExperimentsView {
  document::View last = document::View::layer;  ///< the page that was open in the previous frame
  /// The experiment that was open last, to which the tab returns.
  document::View recent = document::View::spread;
  Scroller page;
  int firstToken = 0;  ///< of those that a page shows, where it does not show all
  /// The rows and columns that were drawn last of a matrix with a place.
  struct Drawn {
    attention::Span rows, cols;
  };
  std::map<std::string, Drawn, std::less<>> drawn;
  FocusRing focusRing;  ///< keyboard focus on the page

  attention::BlockStage stage = attention::BlockStage::norm_2;  ///< the stage that is expanded
  int row = 0, col = 0;                                         ///< the cell of that stage that is explained
  ParameterCell cell;
  int word = 0, token = 0;  ///< the weight of the recurrent decoder that is explained

  std::shared_ptr<attention::Timing> timing;  ///< of the page Cost, in progress or done; null: none
};

}  // namespace views
