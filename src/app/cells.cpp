#include "app/cells.h"

#include <utility>

#include "base/sentence.h"
#include "document/text.h"
#include "views/board/board.h"

namespace app {
namespace {

using attention::CellRef;
using attention::Tensor;
using attention::TensorId;
using base::Error;
using base::joined;
using base::Result;

document::CellBlock turnedOver(const document::CellBlock& block) {
  document::CellBlock to{block.cols, block.rows, {}};
  for (int i = 0; i < to.rows; ++i) {
    for (int j = 0; j < to.cols; ++j)
      to.values.push_back(block.values[static_cast<std::size_t>(j * block.cols + i)]);
  }
  return to;
}

// Converts a pasted block to the rows and columns of the tensor: the board shows Kᵀ, so its rows and columns
// are exchanged. A block that fits only in the orientation of K is pasted that way, and `said` is set to tell
// the user.
Result<document::CellBlock> asSeen(const Screen& screen, document::CellBlock block, base::Message& said) {
  const views::Selection& s = screen.view.selection;
  const Tensor& t = *document::input(screen.session.state(), s.tensor);
  const std::string name = attention::symbol(s.tensor, screen.session.spec().score);
  const std::string extent = joined({block.rows, " × ", block.cols});
  const auto fits = [&](const document::CellBlock& b) {
    return b.rows <= t.rows() - s.top() && b.cols <= t.cols() - s.left();
  };
  document::CellBlock other = turnedOver(block);
  const bool transposed = screen.isTransposed(s.tensor);
  if (transposed) std::swap(block, other);
  if (fits(block)) return block;
  if (transposed && fits(other)) {
    said = base::message({"The ", extent, " numbers fit only as rows of ", name,
                          ": each row has become a column of ", name + "ᵀ."});
    return other;
  }
  const int down = t.rows() - s.top(), across = t.cols() - s.left();
  return base::refuse(
      Error::Kind::range, "paste",
      {extent, " numbers do not fit into ", name + (transposed ? "ᵀ" : ""), ", which has room for ",
       joined({transposed ? across : down, " × ", transposed ? down : across}), " from the selected cell on",
       fits(other) ? "; turned over (rows as columns) they would."
                   : "; select another cell or paste fewer."});
}

views::Notice whyFixed(Screen& screen, CellRef cell) {
  const views::Layout layout = screen.makeLayout();
  const views::Fonts fonts;
  views::Requests asked;
  return views::whyFixed(screen.context(layout, screen.palette(), fonts, asked), cell);
}

}  // namespace

std::string copyCells(const Screen& screen) {
  const views::Selection& s = screen.view.selection;
  TensorId id = s.tensor == TensorId::scores ? TensorId::masked : s.tensor;
  const Tensor* t = screen.session.find(id);
  if (!s.active || !t || screen.onPage()) return {};
  const int head = views::sliceOf(screen.session.state(), id).head;
  return document::toTsv(*t, {head, s.top(), s.left(), s.rows(), s.cols()}, screen.isTransposed(s.tensor));
}

Result<void> pasteCells(Screen& screen, std::string_view text) {
  const views::Selection& s = screen.view.selection;
  auto refuse = [&](Error error) -> Result<void> {
    screen.refuse(error);
    return error;
  };
  if (views::isLocked(screen.embed.lock, "paste"))
    return refuse({Error::Kind::range, "paste", "is locked by this page.", true});
  if (!s.active || screen.onPage())
    return refuse({Error::Kind::range, "paste", "select a cell of an editable matrix first."});
  const int head = views::sliceOf(screen.session.state(), s.tensor).head;
  if (!screen.isChangeable(s.tensor)) {
    const views::Notice why = whyFixed(screen, {s.tensor, head, s.row, s.col});
    refuse({Error::Kind::range, "paste", why.text()});
    screen.say(why);
    return Error{Error::Kind::range, "paste", why.text()};
  }
  const auto number = document::numberFrom(text, "paste");
  // A single number fills the whole selection, as in spreadsheets.
  auto block =
      number ? document::CellBlock{s.rows(), s.cols(),
                                   std::vector<float>(static_cast<std::size_t>(s.rows() * s.cols()), *number)}
             : document::fromTsv(text);
  if (!block) return refuse(block.error());
  base::Message rotated;
  if (!number) {
    auto fitted = asSeen(screen, std::move(*block), rotated);
    if (!fitted) return refuse(fitted.error());
    block = std::move(fitted);
  }
  const int rows = block->rows, cols = block->cols;
  if (auto ok = screen.session.apply(
          document::SetCells{s.tensor, head, s.top(), s.left(), rows, cols, block->values}, 0, Source::user);
      !ok) {
    return refuse(ok.error());
  }
  screen.view.selection = {true, s.tensor, s.top(), s.left(), s.top() + rows - 1, s.left() + cols - 1};
  if (!rotated.empty()) screen.say(rotated, false);
  return {};
}

}  // namespace app
