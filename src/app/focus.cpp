#include "app/focus.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "base/sentence.h"
#include "document/not_finite.h"
#include "views/board/board.h"

namespace app {

using attention::Tensor;
using attention::TensorId;

Focus::Focus(Screen& screen) : screen_(screen), session_(screen.session), selection_(screen.view.selection) {
  selectStart();
  explainSelection();
}

void Focus::follow(ChangeKind how) {
  if (how == ChangeKind::opened) selectStart(), screen_.view.scroll = 0;
  else clampSelection();
  explainSelection();
  if (how == ChangeKind::restored || how == ChangeKind::opened) screen_.dropText();
  if (how == ChangeKind::opened && !session_.state().notFinite.empty())
    screen_.say(document::notFiniteSentence(session_.state()), false);
  screen_.wake(how != ChangeKind::recomputed || screen_.onPage());
}

void Focus::explainSelection() {
  keepInside();  // a press may end on a smaller board than it began on
  const views::Selection& s = selection_;
  attention::CellRef& explained = screen_.view.explained;
  if (!screen_.isChangeable(s.tensor)) explained = {s.tensor, 0, s.row, s.col};
  const Tensor* t = session_.shapeOf(explained.tensor);
  if (!t) t = session_.shapeOf(TensorId::weights), explained.tensor = TensorId::weights;
  explained.row = std::clamp(explained.row, 0, std::max(t->rows() - 1, 0));
  explained.col = std::clamp(explained.col, 0, std::max(t->cols() - 1, 0));
}

// Where an example starts: at a token, usually the last one, and the key that it attends to most.
void Focus::selectStart() {
  const document::State& s = session_.state();
  const int count = s.step > 0 ? s.step : s.tokens;
  // The mistake of masking after softmax only shows where keys are masked, which causal does not do for the
  // last token.
  const int begin = s.maskAfterSoftmax ? count / 2 : count - 1;
  const float* row = session_.weightsSoon(s.focusHead, begin);
  const int best = static_cast<int>(std::max_element(row, row + s.keyTokens) - row);
  selection_ = {true, TensorId::weights, begin, best, begin, best};
}

void Focus::clampSelection() {
  if (!session_.shapeOf(selection_.tensor)) {
    selection_ = {false, TensorId::weights, 0, 0, 0, 0};
    return;
  }
  followStep();
  keepInside();
}

void Focus::keepInside() {
  views::Selection& s = selection_;
  const Tensor* t = session_.shapeOf(s.tensor);
  if (!t) return;
  for (int* row : {&s.row, &s.anchorRow}) *row = std::clamp(*row, 0, std::max(t->rows() - 1, 0));
  for (int* col : {&s.col, &s.anchorCol}) *col = std::clamp(*col, 0, std::max(t->cols() - 1, 0));
}

// Follows the decoder: only the row of its present step is worth explaining, and later rows do not exist yet.
void Focus::followStep() {
  const document::State& state = session_.state();
  const int step = state.causal && !state.cross ? state.step : 0;
  const bool moved = step != std::exchange(seenStep_, step);
  views::Selection& s = selection_;
  if (step == 0 || attention::rowsOf(s.tensor) != attention::Rows::queries || !session_.shapeOf(s.tensor))
    return;
  if (!moved && s.row < step && s.anchorRow < step) return;
  s.row = s.anchorRow = step - 1;
  if (s.tensor != TensorId::weights && s.tensor != TensorId::scores) return;
  const float* row = session_.weightsSoon(state.focusHead, s.row);
  s.col = s.anchorCol = static_cast<int>(std::max_element(row, row + state.keyTokens) - row);
}

void Focus::emitSelection() {
  const views::Selection& s = selection_;
  const int head = views::sliceOf(session_.state(), s.tensor).head;
  std::string words = s.active ? cellJson({s.tensor, head, s.row, s.col}) : "null";
  // Both a press and its release call this.
  if (words == saidSelection_ && !ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  saidSelection_ = words;
  screen_.host.emit({Event::Type::select, std::move(words)});
}

std::string cellJson(attention::CellRef cell) {
  return base::joined({"{\"name\":\"", attention::name(cell.tensor), "\",\"head\":", cell.head,
                       ",\"row\":", cell.row, ",\"col\":", cell.col, "}"});
}

}  // namespace app
