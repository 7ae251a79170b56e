// The document: a state, its history, and the initial state that reset() returns to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "document/edit.h"

namespace document {

/// The memory limit of a document's history, undo and redo together.
inline constexpr std::size_t kHistoryBytes = std::size_t{64} << 20;

/// Holds the State of a playground, and its history. Undo and redo do not change view options (options that
/// are not undoable). A step stores only what is needed to reverse it, for example the cells that a change of
/// shape removes, not the whole state. Steps are kept as long as they fit into kHistoryBytes; beyond that the
/// oldest are dropped.
class Document {
 public:
  /// `start` must pass check().
  explicit Document(State start);

  const State& state() const { return state_; }
  /// The state that reset() returns to.
  const State& start() const { return *start_; }
  /// Increases with every change, including undo and redo.
  std::uint64_t revision() const { return revision_; }

  /// Which head the board shows, or that it shows their mean.
  struct Look {
    int head = 0;
    bool isMean = false;
  };
  /// Exchanges it for a moment, without a change of the document: whoever looks at another head puts back
  /// what this returns.
  Look look(Look at) {
    return {std::exchange(state_.focusHead, at.head), std::exchange(state_.averageHeads, at.isMean)};
  }

  /// Checks and applies an edit. Consecutive edits with the same non-zero `gesture` form one undo step (a
  /// drag, typing). An edit that is refused changes nothing; one that has no effect creates neither a step
  /// nor a revision.
  Result<void> apply(const Edit& edit, std::uint64_t gesture = 0);
  /// Ends a gesture: the next edit is a step of its own, even if it has the same number.
  void endGesture();

  bool canUndo() const { return !past_.empty(); }
  bool canRedo() const { return !future_.empty(); }
  bool undo();
  bool redo();
  /// Undoes a step for good: nothing is kept to redo it.
  bool goBack();
  /// The memory that the history uses.
  std::size_t historyBytes() const { return historyBytes_; }
  /// Makes the history compact, in parts that take no longer than a frame or two; returns whether there is
  /// more to do. The last change of a large state is recorded as a whole at first, so that it does not have
  /// to wait for what undo needs.
  bool settleSome();
  bool isSettled() const { return late_ == nullptr; }
  /// The number of steps dropped so far because of the memory limit.
  std::uint64_t forgottenSteps() const { return forgotten_; }
  /// Returns to the initial state, bit for bit, as one undoable step.
  void reset();
  /// Makes `start` the current and the initial state (a preset or a file was opened). If `undoable`, undo
  /// restores both previous states; otherwise the history is cleared. `replaces` is called if it is another
  /// one, before memory is taken for that.
  Result<void> open(State start, bool undoable, const std::function<void()>& replaces = nullptr);

  /// A number for each step of the history, from the oldest to the last that redo would restore, in
  /// increasing order. A step whose content changes gets a new number.
  std::vector<std::uint64_t> stepNumbers() const;
  /// The number of steps that undo can reverse.
  std::size_t stepsBack() const { return past_.size(); }
  /// Did the last of them set a new initial state?
  bool lastBegan() const { return !past_.empty() && past_.back().start != nullptr; }
  /// An entry for restore(): the state after a step, and whether it is a new initial state.
  struct Moment {
    State state;
    bool begins = false;
  };
  /// Replaces the whole document: its initial state, and the history, in which moment `at` is the present;
  /// `shown` are the view options to use. All states must have passed check(); there must be at least one
  /// moment.
  void restore(State start, std::vector<Moment> moments, std::size_t at, const Settings& shown);

  /// The changes since the last call, for Engine::apply(). Empty if there were none.
  std::vector<attention::Change> takeChanges();

 private:
  /// One step of the history. It stores only the direction that can be taken next: undoing a step produces
  /// the edits for redo, and vice versa.
  struct Step {
    /// In the order in which they were made; to be applied last to first.
    std::vector<Edit> edits;
    std::shared_ptr<const State> start;  ///< the initial state to restore, if the step changed it
    std::uint64_t gesture = 0;
    std::size_t bytes = 0;  ///< its part of historyBytes_
    std::uint64_t number = 0;
  };
  Step takeBack(const Step& step);
  void record(Edit inverse, std::uint64_t gesture);
  /// Would the edit have no effect? A drag that ends where it began leaves no step.
  bool leadsHere(const Edit& edit);
  /// Updates the memory count of the last step of a list, and drops old steps if the limit is exceeded.
  void count(std::deque<Step>& steps);
  void count(Step& step);
  void settleLater(const std::shared_ptr<Difference>& late);
  void settleAll() {
    while (settleSome()) continue;
  }
  void clear(std::deque<Step>& steps);
  void dropLast(std::deque<Step>& steps);
  void note(const std::optional<attention::Change>& change);

  /// Copies of a document, too, have its numbers in common until one of them is edited.
  struct Shared : State {
    explicit Shared(State state) : State(std::move(state)) {}
    Shared(const Shared& other) : State(document::shared(other)) {}
    Shared(Shared&&) = default;
    Shared& operator=(const Shared& other) {
      static_cast<State&>(*this) = document::shared(other);
      return *this;
    }
    Shared& operator=(Shared&&) = default;
    ~Shared() = default;
  };
  Shared state_;
  std::shared_ptr<const State> start_;
  std::deque<Step> past_, future_;
  std::shared_ptr<Difference> late_;  ///< of the history, where one is not settled
  std::size_t historyBytes_ = 0;
  std::uint64_t forgotten_ = 0;
  std::uint64_t revision_ = 1;
  std::uint64_t lastNumber_ = 0;  ///< the number of the last step
  std::vector<attention::Change> changes_;
};

}  // namespace document
