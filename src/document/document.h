// The document: a state, its history, and the start that reset() returns to.
#pragma once

#include <cstdint>
#include <vector>

#include "document/edit.h"

namespace document {

/// Holds the one State of a playground and all of its history. Undo and redo are unlimited.
class Document {
 public:
  explicit Document(State start);

  const State& state() const { return state_; }
  /// Grows by at least one with every change, undo and redo included.
  std::uint64_t revision() const { return revision_; }

  /// Checks and applies. Edits with the same non-zero `gesture` as the last one become one undo step with it
  /// (a drag, typing). A refused edit changes nothing. An edit that changes nothing leaves no step and no revision.
  Check apply(const Edit& edit, std::uint64_t gesture = 0);
  /// Ends a gesture: the next edit is a step of its own even with the same number.
  void endGesture();

  bool canUndo() const;
  bool canRedo() const;
  bool undo();
  bool redo();
  /// Back to the very start, bit for bit, as one undoable step.
  void reset();
  /// Makes `start` the new beginning (a preset or a file was opened). `undoable` false also forgets the history.
  Check open(State start, bool undoable);

  /// What changed since the last call, for Engine::apply. Empty if nothing did.
  std::vector<attention::Change> takeChanges();

 private:
  struct Step {
    std::vector<Edit> undo;  ///< to be applied last to first
    std::vector<Edit> redo;  ///< first to last
  };
  void carryOut(const Edit& edit, Step* step);

  State state_;
  std::shared_ptr<const State> start_;
  std::vector<Step> past_, future_;
  std::uint64_t revision_ = 1, gesture_ = 0;
  std::vector<attention::Change> changes_;
};

}  // namespace document
