#include "attention/layer/tensor.h"

namespace attention {

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

void Tensor::hold(int head, int row, int count) {
  held_ = index(head, row, 0);
  const std::size_t numbers = Tensor::count(1, count, cols_);
  if (numbers > values_.capacity()) values_ = {};
  values_.resize(numbers);
}

}  // namespace attention
