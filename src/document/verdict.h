// Checks a lesson's goals against a board: which of them hold, how far the others are, and whether the
// lesson's own statements are true.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/lesson.h"

namespace document {

/// What goals are checked against: a state, and its tensors by their names in scripts.
class LessonBoard {
 public:
  virtual ~LessonBoard() = default;
  virtual const State& state() const = 0;
  /// The pointer is valid until the next call.
  virtual Result<const Tensor*> tensor(std::string_view name) = 0;
};

/// The result of checking a goal.
struct Verdict {
  bool holds = false;
  /// Of the cell furthest from the goal; for an option its number; for edits how many.
  double value = 0;
  double aim = 0;         ///< what the value should reach
  double away = 0;        ///< |value - aim|; 0 once the goal holds
  bool isNumber = false;  ///< can it be shown as a bar?
  /// The actual and the wanted value as text: "0.41" and "≥ 0.50"; "saw₂" and "I"; "off" and "on".
  std::string shown, want;
  std::string of;  ///< "W[saw₄, I₁]", the label of the goal, or the name of the option
};

/// `start` is the state at the beginning of the step, for counting edits; `before` is the board before the
/// prediction's `after` moves, or null. Returns an error if a goal refers to cells that do not exist.
Result<Verdict> judge(const Goal& goal, LessonBoard& board, const State& start,
                      LessonBoard* before = nullptr);

/// The numbers of the given cells; an error if they do not exist.
Result<std::vector<float>> numbersOf(LessonBoard& board, const Cells& cells, std::string_view field);
/// The value of a number that a text computes.
Result<double> valueOf(const Run& run, LessonBoard& board, LessonBoard* before, std::string_view field);
/// A number as texts show it: with that many decimals, and U+2212 as its minus sign.
std::string shownNumber(double value, int decimals);
/// How texts name cells: "q₄", "W[saw₄, I₁]", "K".
std::string nameOf(const Cells& cells, const State& state);

/// The edits that a move makes on this state; an error if they are not possible.
Result<std::vector<Edit>> editsOf(const State& state, const Move& move);
/// Applies moves to a state.
Result<void> play(const std::vector<Move>& moves, State& state);
/// The number of edits that lead from one state to the other: cells, painted cells and options that differ.
int editsBetween(const State& a, const State& b);

/// The state at the beginning of a step: the preset, with the moves and solutions of the steps before
/// applied.
Result<State> startOf(const Lesson& lesson, int step);
/// The state at the beginning of its exercise: startOf() with the moves of the prediction applied.
Result<State> tryOf(const Lesson& lesson, int step);

/// A board without a screen.
std::unique_ptr<LessonBoard> paperBoard(State state);

/// The problems of a lesson, by field; and a short record of what was computed in each step.
struct Rehearsal {
  std::vector<Error> refused;      ///< the lesson cannot be shown
  std::vector<Error> untrue;       ///< it can be shown, but makes a false statement
  std::vector<std::string> steps;  ///< "try: W[saw₄, I₁] 0.14, then 0.52 (≥ 0.50)"
};
/// Runs through the lesson as a reader would. `onlyShown`: looks only for what would prevent it from being
/// shown, for files of unknown origin.
Rehearsal rehearse(const Lesson& lesson, bool onlyShown = false);

}  // namespace document
