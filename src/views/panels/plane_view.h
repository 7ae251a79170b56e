// State of the plane in the card below the matrices: what is kept between frames, and its interaction.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/experiments/plane.h"
#include "attention/layer/tensors.h"

namespace views {

/// A plane and the view of it: its axes, the share of the vectors that it shows, and the visible range.
struct PlaneShown {
  attention::Plane plane;
  attention::PlaneShares shares;
  double left = 0, right = 0, low = 0, high = 0;
};

struct PlaneView {
  /// The end of an arrow, or a point, that can be dragged: its row, and its position on the screen.
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

  std::vector<Tip> tips;       ///< in the previous frame
  std::optional<Tip> held;     ///< the one that is pressed
  float grabX = 0, grabY = 0;  ///< offset from the pointer to it
  /// Its row has been selected: by the press, or once a finger holds it or has tapped.
  bool isChosen = false;
  bool moved = false;         ///< it is being dragged, not just pressed
  std::vector<float> before;  ///< the row before the drag
  std::uint64_t gesture = 0;
  /// Frames after a drag during which the document may still change; the plane is kept.
  int settling = 0;
  std::optional<Key> key;  ///< of `shown`
  PlaneShown shown;
  float originX = 0, originY = 0, unit = 1;  ///< the pixel position of 0, and the pixel length of 1
};

}  // namespace views
