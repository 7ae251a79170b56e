// The differences from the pinned board as last computed; still listed while the pinned board itself is
// shown.
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
