#include "document/document.h"

#include <utility>

namespace document {
namespace {

using attention::Change;

/// Beyond this many changes nobody is told apart from the rest: the engine looks at everything.
constexpr std::size_t kMostChanges = 256;

bool movesTokens(const Change& change) {
  return change.what == Change::What::tokensInserted || change.what == Change::What::tokensRemoved;
}

// Do both edits write the same place, whatever they write there? Only for edits that leave every place where
// it is.
struct SamePlace {
  bool operator()(const SetCells& a, const SetCells& b) const {
    return a.tensor == b.tensor && a.head == b.head && a.row == b.row && a.col == b.col && a.rows == b.rows &&
           a.cols == b.cols;
  }
  bool operator()(const PaintCells& a, const PaintCells& b) const {
    return a.row == b.row && a.col == b.col && a.rows == b.rows && a.cols == b.cols;
  }
  bool operator()(const SetParameter& a, const SetParameter& b) const {
    return a.parameter == b.parameter && a.row == b.row && a.col == b.col && a.rows == b.rows && a.cols == b.cols;
  }
  bool operator()(const SetOption& a, const SetOption& b) const { return a.option == b.option; }
  bool operator()(const SetLabels& a, const SetLabels& b) const {
    return a.first == b.first && a.labels.size() == b.labels.size() && a.side == b.side;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

bool isInPlace(const Edit& edit) {
  const SetOption* set = std::get_if<SetOption>(&edit);
  if (set != nullptr && set->option == OptionId::batch_item) return false;
  return std::holds_alternative<SetCells>(edit) || std::holds_alternative<PaintCells>(edit) ||
         set != nullptr || std::holds_alternative<SetLabels>(edit) || std::holds_alternative<SetParameter>(edit);
}

// Does a step that already holds these ways back need no other for this place? After a Load everything is put
// back; and what an earlier edit of the same place puts back overrides a later one, so a drag keeps one
// entry.
bool isCovered(const std::vector<Edit>& edits, const Edit& inverse) {
  for (auto earlier = edits.rbegin(); earlier != edits.rend(); ++earlier) {
    if (std::holds_alternative<Load>(*earlier)) return true;
    if (!isInPlace(*earlier) || !isInPlace(inverse)) return false;
    if (std::visit(SamePlace{}, *earlier, inverse)) return true;
  }
  return false;
}

bool sameContent(const State& a, State b) {
  copyView(b, a);
  return sameBits(a, b);
}

bool isShownOnly(const Effect& effect, const State& after) {
  const Load* load = std::get_if<Load>(&effect.inverse);
  return load != nullptr && sameContent(after, *load->state);
}

}  // namespace

Document::Document(State start) : state_(std::move(start)), start_(std::make_shared<const State>(state_)) {
  note(Change{});
}

Check Document::apply(const Edit& edit, std::uint64_t gesture) {
  if (Check bad = check(state_, edit)) return bad;
  Effect effect = document::apply(state_, edit);
  if (!effect.changed) return {};
  ++revision_;
  note(effect.change);
  if (isUndoable(edit) && !isShownOnly(effect, state_)) record(std::move(effect.inverse), gesture);
  return {};
}

void Document::record(Edit inverse, std::uint64_t gesture) {
  future_.clear();
  if (gesture == 0 || past_.empty() || past_.back().gesture != gesture)
    past_.push_back({{}, nullptr, gesture});
  std::vector<Edit>& edits = past_.back().edits;
  if (!isCovered(edits, inverse))
    edits.push_back(std::move(inverse));
  else if (edits.size() == 1 && isInPlace(edits[0]) && leadsHere(edits[0]))
    past_.pop_back();
}

bool Document::leadsHere(const Edit& edit) {
  const Effect effect = document::apply(state_, edit);
  if (effect.changed) document::apply(state_, effect.inverse);
  return !effect.changed;
}

void Document::endGesture() {
  if (!past_.empty()) past_.back().gesture = 0;
}

Document::Step Document::takeBack(const Step& step) {
  Settings shown;
  copyView(shown, state_);
  Step forth;
  for (auto edit = step.edits.rbegin(); edit != step.edits.rend(); ++edit) {
    Effect effect = document::apply(state_, *edit);
    if (!effect.changed) continue;
    note(effect.change);
    forth.edits.push_back(std::move(effect.inverse));
  }
  keepView(state_, shown);
  if (step.start != nullptr) forth.start = std::exchange(start_, step.start);
  ++revision_;
  return forth;
}

bool Document::undo() {
  if (past_.empty()) return false;
  future_.push_back(takeBack(past_.back()));
  past_.pop_back();
  endGesture();
  return true;
}

bool Document::redo() {
  if (future_.empty()) return false;
  past_.push_back(takeBack(future_.back()));
  future_.pop_back();
  return true;
}

void Document::reset() {
  endGesture();
  apply(Load{start_});
}

Check Document::open(State start, bool undoable) {
  if (Check bad = check(start)) return bad;
  if (sameBits(start, state_) && sameBits(start, *start_)) return {};
  auto beginning = std::make_shared<const State>(std::move(start));
  Step step{{Load{std::make_shared<const State>(state_)}}, start_, 0};
  document::apply(state_, Load{beginning});
  start_ = std::make_shared<const State>(state_);
  future_.clear();
  if (undoable)
    past_.push_back(std::move(step));
  else
    past_.clear();
  ++revision_;
  note(Change{});
  return {};
}

std::vector<Change> Document::takeChanges() { return std::exchange(changes_, {}); }

void Document::note(const std::optional<Change>& change) {
  if (!change) return;
  const bool isFirst = changes_.empty();
  if (!isFirst && changes_.front().what == Change::What::everything) return;
  // Beside a change of shape, the places that other changes name are no longer sure.
  const bool unsure = !isFirst && (movesTokens(*change) || movesTokens(changes_.front()));
  if (unsure || change->what == Change::What::everything || changes_.size() >= kMostChanges) {
    changes_.assign(1, Change{});
  } else {
    changes_.push_back(*change);
  }
}

}  // namespace document
