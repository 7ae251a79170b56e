// The document: a state, its history, and the start that reset() returns to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "document/edit.h"

namespace document {

/// The memory that the history of a document may take, undo and redo together.
inline constexpr std::size_t kHistoryBytes = std::size_t{64} << 20;

/// Holds the one State of a playground and its history. Undo and redo leave alone how things are shown (options that
/// are not undoable). A step keeps what it needs to be taken back and no more: the cells that a change of shape loses,
/// not the whole state. There are as many steps as fit in kHistoryBytes; after that the oldest go first.
class Document {
 public:
  /// `start` must pass check().
  explicit Document(State start);

  const State& state() const { return state_; }
  /// What reset() goes back to.
  const State& start() const { return *start_; }
  /// Grows by at least one with every change, undo and redo included.
  std::uint64_t revision() const { return revision_; }

  /// Checks and applies. Edits with the same non-zero `gesture` as the last one become one undo step with it
  /// (a drag, typing). A refused edit changes nothing. An edit that changes nothing leaves no step and no
  /// revision.
  Result<void> apply(const Edit& edit, std::uint64_t gesture = 0);
  /// Ends a gesture: the next edit is a step of its own even with the same number.
  void endGesture();

  bool canUndo() const { return !past_.empty(); }
  bool canRedo() const { return !future_.empty(); }
  bool undo();
  bool redo();
  /// The memory that the history takes.
  std::size_t historyBytes() const { return historyBytes_; }
  /// How many steps were let go so far for want of room.
  std::uint64_t forgottenSteps() const { return forgotten_; }
  /// Back to the very start, bit for bit, as one undoable step.
  void reset();
  /// Makes `start` the new beginning (a preset or a file was opened). `undoable` false also forgets the
  /// history; else undo brings back the old state and the old beginning.
  Result<void> open(State start, bool undoable);

  /// The steps of the history from the oldest to the last that redo would bring back, by numbers that grow. A step whose content
  /// changed has another number.
  std::vector<std::uint64_t> stepNumbers() const;
  /// How many of them undo would take back.
  std::size_t stepsBack() const { return past_.size(); }
  /// Did the last of those bring another beginning?
  bool lastBegan() const { return !past_.empty() && past_.back().start != nullptr; }
  /// What a history is made of: the state that a step led to, and whether that is a new beginning.
  struct Moment {
    State state;
    bool begins = false;
  };
  /// Becomes a document with this beginning and history, of which moment `at` is the present one; `shown` says how it is shown. All
  /// states have passed check(); there is at least one moment.
  void restore(State start, std::vector<Moment> moments, std::size_t at, const Settings& shown);

  /// What changed since the last call, for Engine::apply. Empty if nothing did.
  std::vector<attention::Change> takeChanges();

 private:
  /// One step of history. Only the way back is kept: taking it gives the way forth.
  struct Step {
    std::vector<Edit> edits;             ///< to be applied last to first
    std::shared_ptr<const State> start;  ///< the beginning to return to, if the step changed it
    std::uint64_t gesture = 0;
    std::size_t bytes = 0;  ///< as counted in historyBytes_
    std::uint64_t number = 0;
  };
  Step takeBack(const Step& step);
  void record(Edit inverse, std::uint64_t gesture);
  /// Would the edit change nothing? A drag that ends where it began leaves no step.
  bool leadsHere(const Edit& edit);
  /// Counts the step at the end of a list, again if it grew, and lets old steps go if there is no room for all.
  void count(std::deque<Step>& steps);
  void clear(std::deque<Step>& steps);
  void dropLast(std::deque<Step>& steps);
  void note(const std::optional<attention::Change>& change);

  State state_;
  std::shared_ptr<const State> start_;
  std::deque<Step> past_, future_;
  std::size_t historyBytes_ = 0;
  std::uint64_t forgotten_ = 0;
  std::uint64_t revision_ = 1;
  std::uint64_t lastNumber_ = 0;  ///< of a step
  std::vector<attention::Change> changes_;
};

}  // namespace document
