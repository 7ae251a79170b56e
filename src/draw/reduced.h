// A matrix whose cells are smaller than a pixel, as one number a pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/heatmap.h"

namespace draw {

/// The numbers that the pixels of such a matrix show. A pixel stands for the cells whose middle lies in it, at least for one, and shows the
/// number that is farthest from 0, or the mean (Heatmap::mean); -infinity where all of its cells are masked. Kept from frame to frame: an
/// edit costs what it wrote.
///
/// The processor does this, and not the fragment shader: a matrix of 1,024 x 1,024 on 300 x 300 pixels is 12 cells a pixel, which cost a
/// computer without a graphics card 30 ms in the shader, and all of them had to be sent.
class Reduced {
 public:
  /// Is it to be drawn by this? `pitch` is that of a cell in framebuffer pixels.
  static bool isFor(float pitch) { return pitch < 1; }
  /// `values` at that pitch: as many rows and columns as there are pixels. For Scale::row they are shares of Heatmap::high, to be drawn in
  /// proportion. They live as long as this object, until the next call.
  Values update(const Values& values, const Heatmap& heatmap, float pitch);

 private:
  /// All that decides how cells become pixels.
  struct Look {
    int rows = 0, cols = 0;
    float pitch = 0, high = 0;  ///< high only where it matters
    bool isByRow = false, isMean = false;
    bool operator==(const Look&) const = default;
  };
  /// The cells first … last of a pixel, on one axis.
  struct Cells {
    int first = 0, last = 0;
  };

  Cells cellsOf(int pixel, int count) const;
  void layOut(const Look& look);
  Cells newerPixels(const Written& written) const;
  bool isNewer(const Written& written, int row) const;
  void reduceRow(const Values& values, int row, Cells pixels);

  Look look_;
  std::uint64_t revision_ = 0, version_ = 0;  ///< of the cells, and of the pixels
  const float* data_ = nullptr;
  std::vector<Cells> across_, down_;   ///< of each pixel
  std::vector<float> best_;            ///< of each column, over the rows of a pixel; for the mean their sum
  std::vector<std::int32_t> distances_;  ///< how far from 0 that is; for the mean how many they are
  std::vector<float> pixels_;          ///< row-major
};

}  // namespace draw
