// With software rendering, pixels dominate the cost of a frame, so only the parts of a frame that changed are
// drawn, over a picture of the previous frame.
#pragma once

#include <cstdint>
#include <vector>

struct ImDrawData;
struct ImDrawList;

namespace draw {
class Heatmaps;
}

namespace shell {

/// Finds the differences between the draw lists of successive frames, per tile of the framebuffer.
class DamageTracker {
 public:
  /// In framebuffer pixels; y goes down; right and bottom are exclusive.
  struct Box {
    int left = 0, top = 0, right = 0, bottom = 0;
    bool isEmpty() const { return left >= right || top >= bottom; }
    bool operator==(const Box&) const = default;
  };

  /// Reduces `data` to what touches the returned boxes, clipped to them: drawn over the last frame, after
  /// clearing each box, it gives the same pixels as all of `data` would. No boxes: nothing changed. `isAnew`:
  /// treat everything as changed, because of a new size or new glyphs.
  std::vector<Box> reduce(ImDrawData& data, const draw::Heatmaps& heatmaps, bool isAnew);

 private:
  /// A rectangle or a few triangles of a command, or its heatmap. A command without any has an empty piece.
  struct Piece {
    Box box, clip;  ///< the pixels that it may touch, and the clip rectangle of its command
    int command;
    unsigned from;  ///< position in the list's indices
    int triangles;
  };
  void begin(const ImDrawData& data, bool isAnew);
  void add(Box box, std::uint64_t number);
  void notePieces(const ImDrawData& data, const draw::Heatmaps& heatmaps);
  std::vector<Box> changed() const;
  void cut(ImDrawList& list, const ImDrawData& data, const std::vector<Box>& boxes, std::size_t& piece) const;

  Box frame_;
  int across_ = 0, down_ = 0;                ///< number of tiles
  std::vector<std::uint64_t> now_, before_;  ///< a hash of everything that touches each tile
  std::vector<Piece> pieces_;                ///< of this frame
  /// A counter that makes self-changing content differ from any earlier content.
  std::uint64_t unlike_ = 0;
};

}  // namespace shell
