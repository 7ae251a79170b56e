// The layer for a single query: how one of its values responds to changed inputs, and the gradient of that
// value.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "attention/experiments/saliency.h"
#include "attention/steps/steps.h"

namespace attention {

/// The given row of every head.
inline Tensor rowOf(const Tensor& tensor, int row) {
  Tensor out(tensor.heads(), 1, tensor.cols());
  for (int h = 0; h < tensor.heads(); ++h) std::copy_n(tensor.row(h, row), tensor.cols(), out.row(h, 0));
  return out;
}

/// The layer with only the target's query, whose position is expressed by the causal offset. x already
/// includes positions that are added to it. Inputs are copied when they are first changed.
class OneRow {
 public:
  using Id = TensorId;

  OneRow(const Spec& spec, const Inputs& in, const Trace& trace, const CellRef& target, Trace& made,
         Scratch& scratch)
      : spec_(spec),
        in_(in),
        given_(in),
        target_(target),
        made_(made),
        scratch_(scratch) {
    query_ = rowsOf(target.tensor) == Rows::queries ? target.row : 0;
    spec_.queryCount = 1, spec_.causalOffset += query_;
    if (in.projected()) {
      const Tensor* keys = keyRows(in, trace);
      keep(Id::x, rowOf(*queryRows(in, trace), query_));
      in_.xKv = keys;
      if (spec_.position == Position::sinusoidal) spec_.position = Position::none;
    } else {
      keep(Id::q, rowOf(*in.q, query_));
    }
    if (in.bias) keep(Id::bias, rowOf(*in.bias, query_));
    if (in.painted && !in.painted->empty()) {
      const auto from = in.painted->blocked.begin() + std::ptrdiff_t{query_} * in.painted->cols;
      painted_ = {1, in.painted->cols, {from, from + in.painted->cols}};
      in_.painted = &painted_;
    }
    if (rowsOf(target.tensor) == Rows::queries) target_.row = 0;
    if (target.tensor == Id::x_positioned) target_.tensor = Id::x;
    if (target.tensor == Id::x_kv_positioned) target_.tensor = Id::x_kv;
  }

  double value() {
    forward(spec_, in_, made_, scratch_);
    const Tensor* of = find(in_, made_, target_.tensor);
    if (target_.head != kMeanHead) return double{of->at(target_.head, target_.row, target_.col)};
    double sum = 0;
    for (int h = 0; h < of->heads(); ++h)
      sum += isHidden(spec_, h) ? 0.0 : double{of->at(h, target_.row, target_.col)};
    return sum / std::max(partCount(), 1);
  }

  /// Gradients of the target, at the trace that value() computed last.
  void gradients(InputSet wanted, BackwardScratch& scratch, Gradients& row, Gradients& whole) {
    const Tensor* of = find(in_, made_, target_.tensor);
    Tensor one(of->heads(), of->rows(), of->cols());
    for (int h = 0; h < of->heads(); ++h) {
      if (target_.head == kMeanHead && !isHidden(spec_, h))
        one.at(h, target_.row, target_.col) = 1.0f / static_cast<float>(partCount());
      if (target_.head == h) one.at(h, target_.row, target_.col) = 1.0f;
    }
    const Upstream upstream{target_.tensor, &one};
    const bool ofX = (wanted & inputSet(Id::x)) != 0;
    backward({spec_, in_, made_}, {&upstream, 1}, wanted | (ofX && isSelf() ? inputSet(Id::x_kv) : 0), row,
             scratch);
    for (int i = 0; i < kInputCount; ++i) {
      const auto id = static_cast<Id>(i);
      whole[id] = Tensor();
      if ((wanted & inputSet(id)) != 0 && !row[id].empty() && given(id)) toWhole(id, row, whole[id]);
    }
  }

  /// Changes a cell of an input of the whole layer.
  void set(const CellRef& cell, float to) {
    const bool isRow = cell.row == query_;
    switch (cell.tensor) {
      case Id::q:
      case Id::bias:
        if (isRow) write(cell.tensor, cell.head, 0, cell.col, to);
        return;
      case Id::x:
      case Id::x_kv: {  // positions are already included
        const double by = double{to} - double{given(cell.tensor)->at(0, cell.row, cell.col)};
        if (cell.tensor == Id::x && isRow) shift(Id::x, 0, cell.col, by);
        if (cell.tensor == Id::x_kv || isSelf()) shift(Id::x_kv, cell.row, cell.col, by);
        return;
      }
      default: write(cell.tensor, cell.head, cell.row, cell.col, to);
    }
  }
  /// Undoes every set() since the last restore().
  void restore() {
    for (auto w = written_.rbegin(); w != written_.rend(); ++w) *w->place = w->before;
    written_.clear();
  }

  /// An input of the whole layer.
  const Tensor* given(Id id) const { return given_.*tensorRow(id).given; }

 private:
  struct Written {
    float* place;
    float before;
  };

  bool isSelf() const { return given_.projected() && !given_.xKv; }
  int partCount() const {
    int count = 0;
    for (int h = 0; h < spec_.heads; ++h) count += !isHidden(spec_, h);
    return count;
  }

  void keep(Id id, Tensor own) {
    own_[static_cast<std::size_t>(id)] = std::move(own);
    in_.*tensorRow(id).given = &own_[static_cast<std::size_t>(id)];
  }
  Tensor& own(Id id) {
    const Tensor*& now = in_.*tensorRow(id).given;
    Tensor& mine = own_[static_cast<std::size_t>(id)];
    if (now != &mine) mine = *now, now = &mine;
    return mine;
  }
  void write(Id id, int head, int row, int col, float to) {
    float& cell = own(id).at(head, row, col);
    written_.push_back({&cell, cell});
    cell = to;
  }
  void shift(Id id, int row, int col, double by) {
    write(id, 0, row, col, saturate(double{own(id).at(0, row, col)} + by));
  }

  void toWhole(Id id, Gradients& row, Tensor& whole) const {
    const bool isOfRow = id == Id::q || id == Id::x || id == Id::bias;
    if (!isOfRow) return whole = std::move(row[id]), void();
    const Tensor& like = *given(id);
    if (id == Id::x && isSelf()) whole = std::move(row[Id::x_kv]);
    else whole = Tensor(like.heads(), like.rows(), like.cols());
    for (int h = 0; h < like.heads(); ++h) {
      float* to = whole.row(h, query_);
      for (int c = 0; c < like.cols(); ++c) to[c] = saturate(double{to[c]} + double{row[id].at(h, 0, c)});
    }
  }

  Spec spec_;
  Inputs in_;
  const Inputs& given_;
  CellRef target_;
  Trace& made_;
  Scratch& scratch_;
  int query_ = 0;
  std::array<Tensor, kInputCount> own_;
  PaintedMask painted_;
  std::vector<Written> written_;
};

}  // namespace attention
