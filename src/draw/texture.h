// One matrix on the GPU, brought up to date by sending what changed and no more.
#pragma once

#include <cstdint>
#include <vector>

#include "draw/gl.h"
#include "draw/heatmap.h"

namespace draw {

/// Stands for -infinity in a texture: not every GPU keeps infinities. The shader takes anything below kMasked for it.
inline constexpr float kMinusInfinity = -3.3e38f, kMasked = -3.0e38f;

/// An R32F texture and a copy of what it holds.
class Texture {
 public:
  struct Block {
    int row = 0, rows = 0, first = 0, last = -1;  ///< columns first … last
  };

  Texture() = default;
  Texture(Texture&& other) noexcept;
  Texture& operator=(Texture&&) = delete;
  ~Texture();

  /// Makes the texture hold `values`; returns how many cells were sent. What may have changed is compared; neighbouring
  /// rows that did go as one block from the first to the last column that changed in any of them.
  std::uint64_t update(const Values& values);
  /// Where `values` are others than what it holds: neighbouring rows together.
  std::vector<Block> differences(const Values& values) const;
  GLuint name() const { return name_; }
  /// The context is gone, and with it the texture.
  void forget();

 private:
  void allocate(int rows, int cols);
  Block newer(const Written& written) const;
  bool copyRow(const Values& values, int row, int begin, int end, Block& block);
  std::uint64_t send(const Block& block) const;

  GLuint name_ = 0;
  int rows_ = 0, cols_ = 0;
  bool fresh_ = true;  ///< nothing in it yet
  std::uint64_t revision_ = 0;
  const float* data_ = nullptr;  ///< where that was
  std::vector<float> copy_;
};

}  // namespace draw
