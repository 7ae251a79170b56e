// Reduces a matrix whose cells are smaller than a pixel to one value per pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/heatmap.h"

namespace draw {

/// The values that the pixels of such a matrix show. A pixel represents the cells whose centres lie in it,
/// and at least one cell. It shows the value farthest from 0, or the mean (Heatmap::mean); -infinity if all
/// of its cells are masked. The result is kept between frames, so that an edit costs only the rows and
/// columns that it wrote.
///
/// This runs on the processor rather than in the fragment shader: a 1,024 x 1,024 matrix on 300 x 300 pixels
/// has 12 cells per pixel, which took 30 ms in the shader on a computer without a graphics card, and every
/// cell had to be uploaded.
class Reduced {
 public:
  /// Whether a matrix is to be reduced. `pitch` is the distance from cell to cell in framebuffer pixels.
  static bool isFor(float pitch) { return pitch < 1; }
  /// From `first` to before `end`, along one axis.
  struct Stretch {
    int first = 0, end = 0;
    int size() const { return end - first; }
    bool operator==(const Stretch&) const = default;
  };
  /// Pixels, counted from where the matrix begins, along the axes of its rows and columns.
  struct Window {
    Stretch rows, cols;
    bool operator==(const Window&) const = default;
  };
  /// Returns those pixels of `values`, with one row and column each. For Scale::row they are relative to the
  /// largest in their row, times Heatmap::high, and are to be drawn linearly. The result is valid until the
  /// next call.
  Values update(const Values& values, const Heatmap& heatmap, float pitch, const Window& window);

 private:
  /// Everything that determines how cells become pixels.
  struct Look {
    int rows = 0, cols = 0;
    float pitch = 0, high = 0;  ///< high is 0 unless isByRow
    Window window;
    bool isByRow = false, isMean = false;
    bool operator==(const Look&) const = default;
  };
  /// The cells first … last that a pixel represents, along one axis.
  struct Cells {
    int first = 0, last = 0;
  };

  Cells cellsOf(int pixel, int count) const;
  void layOut(const Look& look);
  Cells newerPixels(const Written& written) const;
  bool isNewer(const Written& written, int row) const;
  void reduceRow(const Values& values, int row, Cells pixels);

  Look look_;
  std::uint64_t revision_ = 0;                  ///< of the source
  std::uint32_t version_ = 0, whole_ = 0;       ///< of the result, and when all of it was made last
  std::vector<std::uint32_t> rowsAt_, colsAt_;  ///< the version with which each was made last
  const float* data_ = nullptr;
  std::vector<Cells> across_, down_;     ///< for each pixel along an axis
  std::vector<float> best_;              ///< per column, over the rows of a pixel; for the mean, the sum
  std::vector<std::int32_t> distances_;  ///< the distance of that from 0; for the mean, the count
  std::vector<float> pixels_;            ///< row-major
};

}  // namespace draw
