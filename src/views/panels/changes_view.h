// What differs from the pinned board, as it was found last: it is still listed while that board is looked at.
#pragma once

#include <cstdint>

#include "document/pin.h"

namespace views {

struct ChangesView {
  std::uint64_t revision = 0;  ///< of the document that was compared
  bool isButtonHeld = false;
  document::Differences found;
};

}  // namespace views
