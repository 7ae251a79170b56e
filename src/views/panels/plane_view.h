// The plane in the card below the matrices: what is kept of it from frame to frame, and what a hand does to it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/experiments/plane.h"
#include "attention/layer/tensors.h"

namespace views {

/// A plane with what is seen of it: its axes, how much of all vectors they show, and the part of it that they reach.
struct PlaneShown {
  attention::Plane plane;
  attention::PlaneShares shares;
  double left = 0, right = 0, low = 0, high = 0;
};

struct PlaneView {
  /// The end of an arrow, or a point, that can be dragged: where it is on the screen, and its row.
  struct Tip {
    attention::TensorId tensor = attention::TensorId::q;
    int row = 0;
    float x = 0, y = 0;
  };
  struct Key {
    std::uint64_t revision = 0;
    int head = 0;
    bool values = false, held = false;
    bool operator==(const Key&) const = default;
  };

  std::vector<Tip> tips;             ///< of the frame before
  std::optional<Tip> held;           ///< the one that is down
  float grabX = 0, grabY = 0;        ///< from the pointer to it
  bool moved = false;                ///< it is dragged, and not just pressed
  std::vector<float> before;         ///< its row as it was
  std::uint64_t gesture = 0;
  int settling = 0;                  ///< frames after a drag in which the revision may still follow: the plane stays
  std::optional<Key> key;            ///< of `shown`
  PlaneShown shown;
  float originX = 0, originY = 0, unit = 1;  ///< pixels: where 0 is, and how long 1 is
};

}  // namespace views
