// One matrix in GPU memory, updated by uploading only what has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "draw/gl.h"
#include "draw/heatmap.h"

namespace draw {

/// Replaces -infinity in textures, because not every GPU supports infinities. The shader treats everything
/// below kMasked as -infinity.
inline constexpr float kMinusInfinity = -3.3e38f, kMasked = -3.0e38f;

/// An R32F texture, and a copy of its content.
class Texture {
 public:
  struct Block {
    int row = 0, rows = 0, first = 0, last = -1;  ///< columns first … last
  };

  Texture() = default;
  Texture(Texture&& other) noexcept;
  Texture& operator=(Texture&&) = delete;
  ~Texture();

  /// Updates the texture to `values`; returns the number of cells uploaded. Only cells that may have changed
  /// are compared. Adjacent changed rows are uploaded as one block, from the first to the last column that
  /// changed in any of them.
  std::uint64_t update(const Values& values);
  /// The blocks in which `values` differ from the content; adjacent rows are joined.
  std::vector<Block> differences(const Values& values) const;
  GLuint name() const { return name_; }
  /// How many rows show the blocks of MadeRows.
  int left() const { return left_; }
  /// To be called when the context was lost, and the texture with it.
  void forget();

 private:
  void allocate(int rows, int cols);
  Block newer(const Written& written) const;
  bool copyRow(const Values& values, int row, int begin, int end, Block& block);
  std::uint64_t send(const Block& block) const;
  bool isPlaceOf(const MadeRows& made) const;
  bool makes(const Values& values) const;
  std::uint64_t updateMade(const Values& values);
  void move(const Values& values, bool isKept);
  void makeRow(const Values& values, int row, const Block& cols);
  void makeNewer(const Values& values, std::vector<std::uint8_t>& changed);
  void makeSome(const Values& values, std::vector<std::uint8_t>& changed);

  GLuint name_ = 0;
  int rows_ = 0, cols_ = 0;
  bool fresh_ = true;  ///< has no content yet
  std::uint64_t revision_ = 0;
  const float* data_ = nullptr;  ///< the address of the data at that revision
  std::unique_ptr<float[]> copy_;
  MadeRows made_;                    ///< where the content is from, if its rows are made some at a time
  std::vector<std::uint8_t> rough_;  ///< then, one per row: does it show blocks?
  int left_ = 0;
};

}  // namespace draw
