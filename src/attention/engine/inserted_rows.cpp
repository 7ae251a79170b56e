#include "attention/engine/inserted_rows.h"

#include <algorithm>

namespace attention {
namespace {

std::ptrdiff_t place(int rows, int cols, int head, int row) {
  return (std::ptrdiff_t{head} * rows + row) * cols;
}

}  // namespace

// From the last number to the first: numbers move to higher addresses, so none is overwritten before it has
// moved.
void insertRows(Tensor& tensor, Insertion rows, Insertion cols) {
  const int oldRows = tensor.rows(), oldCols = tensor.cols();
  tensor.reshape(tensor.heads(), oldRows + rows.count, oldCols + cols.count);
  const float* data = tensor.data();
  for (int h = tensor.heads() - 1; h >= 0; --h) {
    for (int r = tensor.rows() - 1; r >= 0; --r) {
      float* to = tensor.row(h, r);
      if (r >= rows.at && r < rows.at + rows.count) {
        std::fill_n(to, tensor.cols(), 0.0f);
        continue;
      }
      const float* from = data + place(oldRows, oldCols, h, r < rows.at ? r : r - rows.count);
      std::copy_backward(from + cols.at, from + oldCols, to + tensor.cols());
      std::copy_backward(from, from + cols.at, to + cols.at);
      std::fill_n(to + cols.at, cols.count, 0.0f);
    }
  }
}

// From the first number to the last: here numbers move to lower addresses.
void removeRows(Tensor& tensor, Insertion rows, Insertion cols) {
  const int newRows = tensor.rows() - rows.count, newCols = tensor.cols() - cols.count;
  float* data = tensor.data();
  for (int h = 0; h < tensor.heads(); ++h) {
    for (int r = 0; r < newRows; ++r) {
      const float* from = tensor.row(h, r < rows.at ? r : r + rows.count);
      float* to = data + place(newRows, newCols, h, r);
      std::copy(from, from + cols.at, to);
      std::copy(from + cols.at + cols.count, from + tensor.cols(), to + cols.at);
    }
  }
  tensor.reshape(tensor.heads(), newRows, newCols);
}

}  // namespace attention
