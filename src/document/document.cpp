#include "document/document.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "document/difference.h"
#include "document/resize.h"

namespace document {
namespace {

using attention::Change;

/// Beyond this many changes they are no longer told apart: the engine recomputes everything.
constexpr std::size_t kMostChanges = 256;

// Do both edits write the same cells or the same option, whatever the values? Only for edits that do not move
// any cells.
struct SamePlace {
  bool operator()(const SetCells& a, const SetCells& b) const {
    return a.tensor == b.tensor && a.head == b.head && a.row == b.row && a.col == b.col && a.rows == b.rows &&
           a.cols == b.cols;
  }
  bool operator()(const PaintCells& a, const PaintCells& b) const {
    return a.row == b.row && a.col == b.col && a.rows == b.rows && a.cols == b.cols;
  }
  bool operator()(const SetParameter& a, const SetParameter& b) const {
    return a.parameter == b.parameter && a.row == b.row && a.col == b.col && a.rows == b.rows &&
           a.cols == b.cols;
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
  if (set != nullptr && (set->option == OptionId::batch_item || set->option == OptionId::layer)) return false;
  return std::holds_alternative<SetCells>(edit) || std::holds_alternative<PaintCells>(edit) ||
         set != nullptr || std::holds_alternative<SetLabels>(edit) ||
         std::holds_alternative<SetParameter>(edit);
}

// Does a step with these inverse edits need no further one for the same cells? The inverse of the earliest
// edit of the cells is applied last and decides, so a drag stores one entry. Not across a Restore, which
// requires the exact state that it was made for.
bool isCovered(const std::vector<Edit>& edits, const Edit& inverse) {
  for (auto earlier = edits.rbegin(); earlier != edits.rend(); ++earlier) {
    if (!isInPlace(*earlier) || !isInPlace(inverse)) return false;
    if (std::visit(SamePlace{}, *earlier, inverse)) return true;
  }
  return false;
}

bool isShownOnly(const Effect& effect) {
  const Restore* restore = std::get_if<Restore>(&effect.inverse);
  return restore != nullptr && restore->difference->isShownOnly();
}

}  // namespace

Document::Document(State start)
    : state_(std::move(start)),
      start_(std::make_shared<const State>(document::shared(state_))) {
  note(Change{});
}

Result<void> Document::apply(const Edit& edit, std::uint64_t gesture) {
  if (auto ok = check(state_, edit); !ok) return ok;
  Effect effect = document::apply(state_, edit);
  if (!effect.changed) return {};
  assert(check(state_));
  ++revision_;
  note(effect.change);
  if (isUndoable(edit) && !isShownOnly(effect)) record(std::move(effect.inverse), gesture);
  return {};
}

void Document::record(Edit inverse, std::uint64_t gesture) {
  clear(future_);
  if (gesture == 0 || past_.empty() || past_.back().gesture != gesture)
    past_.push_back({{}, nullptr, gesture});
  std::vector<Edit>& edits = past_.back().edits;
  if (!isCovered(edits, inverse)) edits.push_back(std::move(inverse));
  else if (edits.size() == 1 && isInPlace(edits[0]) && leadsHere(edits[0])) return dropLast(past_);
  past_.back().number = ++lastNumber_;
  count(past_);
}

void Document::count(std::deque<Step>& steps) {
  for (const Edit& edit : steps.back().edits)
    if (const Restore* restore = std::get_if<Restore>(&edit); restore && !restore->difference->isSettled())
      settleLater(restore->difference);
  count(steps.back());
  if (historyBytes_ > kHistoryBytes) settleAll();
  while (historyBytes_ > kHistoryBytes && !(past_.empty() && future_.empty())) {
    // If there is nothing to undo, the step that was undone first is dropped.
    std::deque<Step>& oldest = past_.empty() ? future_ : past_;
    historyBytes_ -= oldest.front().bytes;
    oldest.pop_front();
    ++forgotten_;
  }
}

void Document::count(Step& step) {
  historyBytes_ -= step.bytes;
  step.bytes = sizeof step + (step.edits.capacity() - step.edits.size()) * sizeof(Edit);
  const State* counted = nullptr;
  for (const Edit& edit : step.edits) {
    step.bytes += bytesOf(edit);
    if (const Load* load = std::get_if<Load>(&edit)) counted = load->state.get();
  }
  if (step.start != nullptr && step.start.get() != counted) step.bytes += bytesOf(*step.start);
  historyBytes_ += step.bytes;
}

// Two large states that are not settled would be too many in memory.
void Document::settleLater(const std::shared_ptr<Difference>& late) {
  if (late == late_) return;
  settleAll();
  late_ = late;
}

bool Document::settleSome() {
  if (late_ == nullptr) return false;
  const bool isDropped = late_.use_count() == 1;
  if (!isDropped && !late_->isSettled()) late_->settleSome();
  if (!isDropped && !late_->isSettled()) return true;
  late_.reset();
  for (std::deque<Step>* steps : {&past_, &future_})
    for (Step& step : *steps) count(step);
  return false;
}

void Document::clear(std::deque<Step>& steps) {
  while (!steps.empty()) dropLast(steps);
}

void Document::dropLast(std::deque<Step>& steps) {
  historyBytes_ -= steps.back().bytes;
  steps.pop_back();
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
  // An initial state that is stored anyway need not be stored as a difference too.
  const bool fromStart = step.start != nullptr && sameContent(state_, *start_);
  Step forth;
  forth.number = step.number;
  for (auto edit = step.edits.rbegin(); edit != step.edits.rend(); ++edit) {
    Effect effect = document::apply(state_, *edit);
    if (!effect.changed) continue;
    note(effect.change);
    forth.edits.push_back(std::move(effect.inverse));
  }
  keepView(state_, shown);
  if (step.start != nullptr) forth.start = std::exchange(start_, step.start);
  if (fromStart) forth.edits.assign(1, Load{forth.start});
  ++revision_;
  return forth;
}

bool Document::undo() {
  if (past_.empty()) return false;
  Step forth = takeBack(past_.back());
  dropLast(past_);
  future_.push_back(std::move(forth));
  count(future_);
  endGesture();
  return true;
}

bool Document::goBack() {
  if (past_.empty()) return false;
  Settings shown;
  copyView(shown, state_);
  const Step& step = past_.back();
  for (auto edit = step.edits.rbegin(); edit != step.edits.rend(); ++edit) applyForGood(state_, *edit);
  keepView(state_, shown);
  if (step.start != nullptr) start_ = step.start;
  dropLast(past_), clear(future_);
  ++revision_;
  note(Change{});
  return true;
}

bool Document::redo() {
  if (future_.empty()) return false;
  Step back = takeBack(future_.back());
  dropLast(future_);
  past_.push_back(std::move(back));
  count(past_);
  return true;
}

void Document::reset() {
  endGesture();
  apply(Load{start_});
}

Result<void> Document::open(State start, bool undoable, const std::function<void()>& replaces) {
  if (auto ok = check(start); !ok) return ok;
  if (sameBits(start, state_) && sameBits(start, *start_)) return {};
  if (replaces) replaces();
  tidyMask(start.painted);
  const bool fromStart = sameContent(state_, *start_);
  Step step{{}, start_};
  const State before = std::exchange(static_cast<State&>(state_), document::shared(start));
  start_ = std::make_shared<const State>(std::move(start));
  // An initial state that is stored anyway need not be stored as a difference too.
  if (fromStart) step.edits.push_back(Load{step.start});
  else if (undoable && !sameBits(before, state_))
    step.edits.push_back(Restore{std::make_shared<Difference>(state_, before, Reshape{})});
  clear(future_);
  step.number = ++lastNumber_;
  if (undoable) past_.push_back(std::move(step)), count(past_);
  else clear(past_);
  ++revision_;
  note(Change{});
  return {};
}

std::vector<std::uint64_t> Document::stepNumbers() const {
  std::vector<std::uint64_t> numbers;
  for (const Step& step : past_) numbers.push_back(step.number);
  for (auto step = future_.rbegin(); step != future_.rend(); ++step) numbers.push_back(step->number);
  return numbers;
}

void Document::restore(State start, std::vector<Moment> moments, std::size_t at, const Settings& shown) {
  clear(past_), clear(future_);
  start_ = std::make_shared<const State>(std::move(start));
  static_cast<State&>(state_) = std::move(moments.front().state);
  const std::uint64_t forgotten = forgotten_;
  std::size_t back = 0;  // steps before the present moment
  for (std::size_t i = 1; i < moments.size(); ++i) {
    const std::uint64_t before = forgotten_;
    if (moments[i].begins) (void)open(std::move(moments[i].state), true);
    else (void)apply(Load{std::make_shared<const State>(std::move(moments[i].state))});
    back -= std::min<std::size_t>(back, forgotten_ - before);
    if (i == at) back = past_.size();
  }
  while (past_.size() > back) undo();
  forgotten_ = forgotten;
  keepView(state_, shown);
  ++revision_;
  changes_.assign(1, Change{});
}

std::vector<Change> Document::takeChanges() { return std::exchange(changes_, {}); }

void Document::note(const std::optional<Change>& change) {
  if (!change) return;
  if (!changes_.empty() && changes_.front().what == Change::What::everything) return;
  if (change->what == Change::What::everything || changes_.size() >= kMostChanges) {
    changes_.assign(1, Change{});
  } else {
    changes_.push_back(*change);
  }
}

}  // namespace document
