// The experiments: what their pages show and what the keys do there. None of it is part of the document, which has the
// page that is open and the options of the block and of the segments; other controls stand in document::Experiments.
#pragma once

#include "document/state.h"
#include "views/scroller.h"
#include "views/walk.h"

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

struct Lab {
  using Page = document::Experiment;
  static constexpr int kPages = static_cast<int>(Page::segments);
  Page last = Page::spread;           ///< the page that is open, or that was: the one to open next
  Box box;                            ///< of the panel, while it is open
  Scroller page;

  Walk walk;                          ///< keys on the page

  bool scaled = true;  ///< the histogram of the spread is that of q·k ÷ √d_k
  attention::BlockStage stage = attention::BlockStage::norm_2;  ///< that is open
  int row = 0, col = 0;                                         ///< the cell of it that is explained
  ParameterCell cell;
};

}  // namespace views
