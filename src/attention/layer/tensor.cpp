#include "attention/layer/tensor.h"

namespace attention {

void SharedNumbers::resize(std::size_t size) {
  if (size > capacity_) {
    const std::shared_ptr<float[]> before = std::exchange(block_, std::shared_ptr<float[]>(new float[size]));
    if (size_ > 0) std::memcpy(block_.get(), before.get(), size_ * sizeof(float));
    capacity_ = size;
  }
  size_ = size;
}

void SharedNumbers::assign(const float* numbers, std::size_t count) {
  if (count > capacity_ || block_.use_count() > 1) *this = {}, resize(count);
  size_ = count;
  if (count > 0) std::memcpy(block_.get(), numbers, count * sizeof(float));
}

void SharedNumbers::makeOwn() { *this = SharedNumbers(std::as_const(*this)); }

// Not inline: it is called from everywhere, and would be longer than the call.
const float* Tensor::row(int head, int row) const {
  return source_ ? source_->row(key_, head, row) : values_.data() + start(head, row);
}

void Tensor::reshapeUnstored(RowSource& source, int key, int heads, int rows, int cols) {
  shape(heads, rows, cols);
  source_ = &source, key_ = key;
  values_ = {};  // may have been a stored tensor, which is much larger
  values_.resize(static_cast<std::size_t>(cols));
}

bool Tensor::hold(int head, int row, int count) {
  const std::size_t before = held_, end = held_ + values_.size(), numbers = Tensor::count(1, count, cols_);
  held_ = index(head, row, 0);
  const std::size_t first = std::max(before, held_), last = std::min(end, held_ + numbers);
  const bool isRoom = numbers <= values_.capacity();
  if (!isRoom) values_ = {};
  if (numbers > values_.size()) values_.resize(numbers);
  if (isRoom && first < last)
    std::memmove(values_.data() + (first - held_), values_.data() + (first - before),
                 (last - first) * sizeof(float));
  values_.resize(numbers);
  return isRoom;
}

}  // namespace attention
