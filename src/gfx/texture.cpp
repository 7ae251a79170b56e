#include "gfx/texture.h"

#include <algorithm>
#include <utility>

namespace gfx {
namespace {

float stored(float value) { return value < kMasked ? kMinusInfinity : value; }

}  // namespace

Texture::Texture(Texture&& other) noexcept
    : name_(std::exchange(other.name_, 0)),
      rows_(other.rows_),
      cols_(other.cols_),
      fresh_(other.fresh_),
      revision_(other.revision_),
      copy_(std::move(other.copy_)) {}

Texture::~Texture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void Texture::forget() {
  name_ = 0;
  fresh_ = true;
}

void Texture::allocate(int rows, int cols) {
  if (name_ == 0) glGenTextures(1, &name_);
  rows_ = rows, cols_ = cols;
  copy_.resize(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols));
  glBindTexture(GL_TEXTURE_2D, name_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, cols, rows, 0, GL_RED, GL_FLOAT, nullptr);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
}

// Copies one row of numbers; widens `block` to the columns that differ from before. Was there any?
bool Texture::copyRow(const Values& values, int row, Block& block) {
  const float* from = values.data + static_cast<std::size_t>(row) * static_cast<std::size_t>(values.stride);
  float* to = copy_.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(cols_);
  int differences = 0;  // counted without a branch, so that the compiler can use vectors: most rows are as they were
  for (int c = 0; c < cols_; ++c) differences += stored(from[c]) != to[c];
  if (differences == 0 && !fresh_) return false;
  int first = 0, last = cols_ - 1;
  if (!fresh_) {
    while (stored(from[first]) == to[first]) ++first;
    while (stored(from[last]) == to[last]) --last;
  }
  std::transform(from + first, from + last + 1, to + first, stored);
  block.first = std::min(block.first, first);
  block.last = std::max(block.last, last);
  return true;
}

std::uint64_t Texture::send(const Block& block) const {
  if (block.rows == 0) return 0;
  const int cols = block.last - block.first + 1;
  const float* from = copy_.data() + static_cast<std::size_t>(block.row) * static_cast<std::size_t>(cols_) + block.first;
  glPixelStorei(GL_UNPACK_ROW_LENGTH, cols_);
  glTexSubImage2D(GL_TEXTURE_2D, 0, block.first, block.row, cols, block.rows, GL_RED, GL_FLOAT, from);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  return static_cast<std::uint64_t>(cols) * static_cast<std::uint64_t>(block.rows);
}

std::uint64_t Texture::update(const Values& values) {
  const bool sameShape = values.rows == rows_ && values.cols == cols_ && name_ != 0;
  if (sameShape && !fresh_ && values.revision == revision_) return 0;
  if (!sameShape) allocate(values.rows, values.cols), fresh_ = true;
  glBindTexture(GL_TEXTURE_2D, name_);
  std::uint64_t sent = 0;
  const Block none{0, 0, cols_, -1};
  Block block = none;
  for (int row = 0; row < rows_; ++row) {
    if (copyRow(values, row, block)) {
      if (block.rows++ == 0) block.row = row;
    } else {
      sent += send(std::exchange(block, none));
    }
  }
  sent += send(block);
  fresh_ = false;
  revision_ = values.revision;
  return sent;
}

}  // namespace gfx
