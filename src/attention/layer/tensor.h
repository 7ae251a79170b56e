// The project's one container for numbers: float32, row-major, [heads, rows, cols].
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"

namespace attention {

using base::Error;
using base::Result;

/// Makes rows of tensors that are not stored, when they are read.
class RowSource {
 public:
  /// The numbers of one row of the tensor with that key; valid until a row of another place is asked for.
  virtual const float* row(int key, int head, int row) = 0;
  /// So many of its numbers from a column on, valid until the next are asked for: where they are made more
  /// easily than the row, with the accuracy of what is seen and not to the bit.
  virtual const float* part(int key, int head, int row, int col, [[maybe_unused]] int count) {
    return this->row(key, head, row) + col;
  }
  /// These rows will be read one after the other: they may be made together.
  virtual void expect(int key, int head, int row, int count) = 0;

 protected:
  ~RowSource() = default;
};

/// A block of numbers in memory that shared() copies have in common until one of them is written to. Others
/// are copied at once, so that a pointer for writing stays that of its own numbers.
class SharedNumbers {
 public:
  SharedNumbers() = default;
  SharedNumbers(const SharedNumbers& other) { assign(other.data(), other.size_); }
  SharedNumbers(SharedNumbers&& other) noexcept { swap(other); }
  SharedNumbers& operator=(const SharedNumbers& other) {
    if (this != &other) assign(other.data(), other.size_);
    return *this;
  }
  SharedNumbers& operator=(SharedNumbers&& other) noexcept {
    SharedNumbers(std::move(other)).swap(*this);
    return *this;
  }
  ~SharedNumbers() = default;

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  const float* data() const { return block_.get(); }
  float* data() {
    if (block_.use_count() > 1) makeOwn();
    return block_.get();
  }
  SharedNumbers shared() const {
    SharedNumbers same;
    same.block_ = block_, same.size_ = size_, same.capacity_ = capacity_;
    return same;
  }
  /// Those that are added are not written.
  void resize(std::size_t size);
  void assign(const float* numbers, std::size_t count);
  void swap(SharedNumbers& other) noexcept {
    block_.swap(other.block_);
    std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }
  bool operator==(const SharedNumbers& other) const {
    return size_ == other.size_ && std::equal(data(), data() + size_, other.data());
  }

 private:
  void makeOwn();

  std::shared_ptr<float[]> block_;
  std::size_t size_ = 0, capacity_ = 0;
};

/// Owns a block of numbers [heads, rows, cols], row-major. A matrix has one head. Sizes must not be negative;
/// callers check limits (spec.h) before they create one.
///
/// Of a tensor of pairs that would be too large, only some rows of one head are stored at a time. Those who
/// read it notice nothing as long as they read it through row() and at(), and use a row before they ask for
/// the next: the rows are made again by its source. Writing, data() and values() reach only the rows that are
/// held. A copy refers to the same source.
class Tensor {
 public:
  Tensor() = default;
  Tensor(int heads, int rows, int cols, float fill = 0.0f) {
    reshape(heads, rows, cols);
    if (fill != 0) std::fill_n(values_.data(), values_.size(), fill);
  }

  int heads() const { return heads_; }
  int rows() const { return rows_; }
  int cols() const { return cols_; }
  /// How many numbers are stored.
  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.size() == 0; }
  bool isStored() const { return source_ == nullptr; }

  float& at(int head, int row, int col) {
    assert(contains(head, row, col));
    return values_.data()[index(head, row, col) - held_];
  }
  float at(int head, int row, int col) const {
    assert(contains(head, row, col));
    return this->row(head, row)[col];
  }
  /// The cols() numbers of one row.
  float* row(int head, int row) { return values_.data() + (start(head, row) - held_); }
  const float* row(int head, int row) const;
  /// All rows of a head that is stored.
  float* head(int head) { return row(head, 0); }
  const float* head(int head) const { return row(head, 0); }
  float* data() { return values_.data(); }
  const float* data() const { return values_.data(); }
  std::span<float> values() { return {values_.data(), values_.size()}; }
  std::span<const float> values() const { return {values_.data(), values_.size()}; }
  /// A copy of a stored tensor that takes memory of its own when it, or this one, is written to.
  Tensor shared() const {
    assert(isStored());
    Tensor same;
    same.shape(heads_, rows_, cols_);
    same.values_ = values_.shared();
    return same;
  }
  /// See RowSource::part().
  const float* part(int head, int row, int col, int count) const {
    return source_ ? source_->part(key_, head, row, col, count) : this->row(head, row) + col;
  }
  /// See RowSource::expect().
  void expect(int head, int row, int count) const {
    if (source_) source_->expect(key_, head, row, count);
  }

  bool contains(int head, int row, int col) const {
    return head >= 0 && head < heads_ && row >= 0 && row < rows_ && col >= 0 && col < cols_;
  }
  bool sameShape(const Tensor& other) const {
    return heads_ == other.heads_ && rows_ == other.rows_ && cols_ == other.cols_;
  }
  /// Changes the shape. The numbers keep their order in memory, as many as there is room for; additional ones
  /// are 0.
  void reshape(int heads, int rows, int cols) {
    shape(heads, rows, cols);
    const std::size_t before = values_.size(), now = count(heads, rows, cols);
    values_.resize(now);
    if (now > before) std::memset(values_.data() + before, 0, (now - before) * sizeof(float));
  }
  /// Changes the shape of a tensor whose numbers will all be written before they are read. Memory that is new
  /// is not touched until then.
  void reshapeUnwritten(int heads, int rows, int cols) {
    shape(heads, rows, cols);
    const std::size_t now = count(heads, rows, cols);
    if (now > values_.capacity()) values_ = {};  // there is nothing to be moved to the new memory
    values_.resize(now);
  }
  /// Changes the shape of a tensor that is not stored. `key` is what the source knows it by.
  void reshapeUnstored(RowSource& source, int key, int heads, int rows, int cols);
  /// Makes room for some rows of a tensor that is not stored, to be written. Of those that are held already
  /// the numbers remain; false if they do not, because there was no room for so many.
  bool hold(int head, int row, int count);
  /// Takes the rows that another tensor of the same shape holds, which gets those held here.
  void swapHeld(Tensor& other) {
    values_.swap(other.values_);
    std::swap(held_, other.held_);
  }
  /// Equal shapes and equal numbers (so 0 == -0), of tensors that are stored.
  bool operator==(const Tensor&) const = default;

 private:
  void shape(int heads, int rows, int cols) {
    heads_ = heads, rows_ = rows, cols_ = cols;
    source_ = nullptr, key_ = 0, held_ = 0;
  }
  static std::size_t count(int heads, int rows, int cols) {
    assert(heads >= 0 && rows >= 0 && cols >= 0);
    return static_cast<std::size_t>(heads) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  }
  /// Of a row, or of the end of the numbers.
  std::size_t start(int head, int row) const {
    assert(head >= 0 && row >= 0 && index(head, row, 0) - held_ <= values_.size());
    return index(head, row, 0);
  }
  std::size_t index(int head, int row, int col) const {
    return (static_cast<std::size_t>(head) * static_cast<std::size_t>(rows_) +
            static_cast<std::size_t>(row)) *
               static_cast<std::size_t>(cols_) +
           static_cast<std::size_t>(col);
  }

  int heads_ = 0, rows_ = 0, cols_ = 0;
  int key_ = 0;
  RowSource* source_ = nullptr;  ///< null: all numbers are stored
  std::size_t held_ = 0;         ///< of a tensor that is not stored: the index of the first number that is
  SharedNumbers values_;
};

/// Which pairs of query and key were masked by hand: [rows, cols], 1 = blocked. Shared by all heads. Empty (0
/// x 0) means that no cell is painted.
struct PaintedMask {
  int rows = 0, cols = 0;
  std::vector<std::uint8_t> blocked;

  bool empty() const { return blocked.empty(); }
  bool isBlocked(int row, int col) const {
    assert(blocked.empty() || (row >= 0 && row < rows && col >= 0 && col < cols));
    return !blocked.empty() && blocked[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                                       static_cast<std::size_t>(col)] != 0;
  }
  bool operator==(const PaintedMask&) const = default;
};

}  // namespace attention
