// The pages in the place of the board: what they show and what the keys do there. Which one is open, and how its controls
// stand, are options of the document.
#pragma once

#include "document/state.h"
#include "views/scroller.h"
#include "views/focus_ring.h"

namespace views {

/// The cell of a parameter that the pointer drags and, while it is `on`, keys change.
struct ParameterCell {
  struct Keys {
    int down = 0, right = 0, up = 0;  ///< to another cell; steps of the number
    bool type = false;
    std::string first;  ///< what was typed already
  };

  bool on = false;
  document::ParameterId parameter = document::ParameterId::gamma_1;
  int row = 0, col = 0;
  float before = 0;      ///< the drag
  double travelled = 0;  ///< in units of the number
  Keys keys;             ///< of this frame

  /// Takes the keys of this frame for the cell. Returns true if there was one.
  bool readKeys();
};

struct ExperimentsView {
  document::View last = document::View::layer;     ///< the page that was open in the frame before
  document::View recent = document::View::spread;  ///< the experiment that was open last: the one to open next
  Scroller page;
  FocusRing focusRing;  ///< keys on the page

  attention::BlockStage stage = attention::BlockStage::norm_2;  ///< that is open
  int row = 0, col = 0;                                         ///< the cell of it that is explained
  ParameterCell cell;
};

}  // namespace views
