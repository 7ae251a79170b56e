// Where pixels are computed by the processor, they cost more than all else: of a frame only what looks otherwise than before
// is drawn, over a picture of the frame before.
#pragma once

#include <cstdint>
#include <vector>

struct ImDrawData;
struct ImDrawList;

namespace draw {
class Heatmaps;
}

namespace shell {

/// Finds what changed from one frame's list of triangles to the next, by tiles of the framebuffer.
class Retouch {
 public:
  /// Framebuffer pixels; y runs down; right and bottom are outside.
  struct Box {
    int left = 0, top = 0, right = 0, bottom = 0;
    bool isEmpty() const { return left >= right || top >= bottom; }
    bool operator==(const Box&) const = default;
  };

  /// Leaves in `data` what touches the boxes that come back, clipped to them: drawn over the last frame, each box cleared
  /// before, it gives the pixels that all of `data` would. None: nothing changed. `isAnew`: everything has, whatever the
  /// lists say: a new size, new glyphs.
  std::vector<Box> reduce(ImDrawData& data, const draw::Heatmaps& heatmaps, bool isAnew);

 private:
  /// A rectangle or a triangle of a command, or its heatmap; a command that has none has an empty one.
  struct Piece {
    Box box, clip;  ///< the pixels that it may touch, and those of its command
    int command;
    unsigned from;  ///< in the list's indices
    int triangles;
  };
  void begin(const ImDrawData& data, bool isAnew);
  void add(Box box, std::uint64_t number);
  void notePieces(const ImDrawData& data, const draw::Heatmaps& heatmaps);
  std::vector<Box> changed() const;
  void cut(ImDrawList& list, const ImDrawData& data, const std::vector<Box>& boxes, std::size_t& piece) const;

  Box frame_;
  int across_ = 0, down_ = 0;             ///< tiles
  std::vector<std::uint64_t> now_, before_;  ///< what stands for all that touches a tile
  std::vector<Piece> pieces_;             ///< of this frame
  std::uint64_t unlike_ = 0;              ///< counts, so that what changed by itself is like nothing before
};

}  // namespace shell
