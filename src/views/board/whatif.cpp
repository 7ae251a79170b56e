#include "views/board/whatif.h"

#include <algorithm>
#include <cmath>

#include "attention/experiments/whatif.h"
#include "attention/layer/explanation_format.h"
#include "attention/mechanisms/mechanism.h"
#include "base/sentence.h"
#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

/// Q or K: the one that the reader chose, or the other one if that is locked.
std::optional<TensorId> changed(const Context& c) {
  const TensorId ids[] = {TensorId::q, TensorId::k};
  const bool key = c.state.weightBy == document::WeightBy::key;
  for (const TensorId id : {ids[key], ids[!key]}) {
    if (c.editable(id)) return id;
  }
  return {};
}

int rowOf(const Drag& drag) { return drag.by == TensorId::q ? drag.cell.row : drag.cell.col; }

}  // namespace

bool canDragWeight(const Context& c, const Selection& before, CellRef cell) {
  const bool alone =
      before.active && before.tensor == TensorId::weights && before.rows() == 1 && before.cols() == 1;
  return cell.tensor == TensorId::weights && alone && before.row == cell.row && before.col == cell.col &&
         !c.showsMean() && changed(c).has_value();
}

void beginWeight(Context& c, Drag& drag) {
  drag.kind = Drag::Kind::weight;
  drag.by = *changed(c);
  drag.before = {c.weight(drag.cell.row, drag.cell.col)};
  const float* row = c.tensor(drag.by)->row(sliceOf(c.state, drag.by).head, rowOf(drag));
  drag.row.assign(row, row + c.tensor(drag.by)->cols());
}

void dragWeight(Context& c, Drag& drag, float pixels) {
  // Half the speed of other numbers, because weights lie between 0 and 1.
  const double step = perPixel() / 2;
  drag.travelled += static_cast<double>(pixels) * step;
  const double start = double{drag.before.front()};
  double wanted = std::round((start + drag.travelled) / step) * step;
  if (attention::normalizerOf(c.spec).most == 1) wanted = std::clamp(wanted, 0.005, 0.995);
  const attention::WhatIf found =
      attention::WhatIfSolver().of(c.spec, c.inputs, c.trace, {drag.cell, wanted, drag.by, drag.row});
  drag.why = found.why;
  if (!found.why.empty()) return;
  c.requests.edit(document::SetCells{drag.by, sliceOf(c.state, drag.by).head, rowOf(drag), 0, 1,
                                     static_cast<int>(found.row.size()), found.row},
                  drag.gesture);
}

void nameWeight(Context& c, const Drag& drag) {
  if (!drag.why.empty()) return c.requests.say(drag.why);
  const float* now = c.tensor(drag.by)->row(sliceOf(c.state, drag.by).head, rowOf(drag));
  double squares = 0;
  std::string numbers;
  for (std::size_t i = 0; i < drag.row.size(); ++i) {
    const double step = double{now[i]} - double{drag.row[i]};
    squares += step * step;
    if (i < 6) numbers += (i > 0 ? ", " : "") + std::string(step > 0 ? "+" : "") + formatNumber(step, 2);
  }
  if (drag.row.size() > 6) numbers += ", …";
  if (squares == 0) return;
  const auto nth = [](const char* letter, int index) {
    return letter + attention::explanation_format::subscript(index + 1);
  };
  c.requests.say(base::message(
      {nth(drag.by == TensorId::q ? "q" : "k", rowOf(drag)), " moved by ",
       formatNumber(std::sqrt(squares), 2), ": (", numbers, "). No smaller change of it makes this weight ",
       formatNumber(static_cast<double>(c.weight(drag.cell.row, drag.cell.col)), 2), "."}));
}

}  // namespace views
