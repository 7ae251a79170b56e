// Checks of lessons held against a board: what holds, how far it is, and whether a lesson says the truth.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/lesson.h"

namespace document {

/// What a lesson is held against: a state, and tensors by the names that scripts know.
class LessonBoard {
 public:
  virtual ~LessonBoard() = default;
  virtual const State& state() const = 0;
  /// Valid until the next call.
  virtual Result<const Tensor*> tensor(std::string_view name) = 0;
};

/// How a goal stands.
struct Verdict {
  bool holds = false;
  double value = 0;         ///< of the cell that is furthest from the goal; the number of an option; the edits
  double aim = 0;           ///< what it should reach
  double away = 0;          ///< |value - aim| until it holds
  bool isNumber = false;    ///< is there a bar to be drawn?
  std::string shown, want;  ///< "0.41" and "≥ 0.50"; "saw₂" and "I"; "off" and "on"
  std::string of;           ///< "W[saw₄, I₁]", the label of the goal, or the name of the option
};

/// `start` is the state that the step began with, for edits; `before` the board before the prediction's `after`, or null. A goal
/// that asks for cells that are not there is an error.
Result<Verdict> judge(const Goal& goal, LessonBoard& board, const State& start, LessonBoard* before = nullptr);
/// Does each hold?
Result<bool> holdAll(const std::vector<Goal>& goals, LessonBoard& board, const State& start, LessonBoard* before = nullptr);

/// The numbers of cells that are there.
Result<std::vector<float>> numbersOf(LessonBoard& board, const Cells& cells, std::string_view field);
/// The value of a text's computed number.
Result<double> valueOf(const Run& run, LessonBoard& board, LessonBoard* before, std::string_view field);
/// As it is written in a text: with the decimals of the state and a real minus.
std::string shownNumber(double value, int decimals);
/// What cells are called: "q₄", "W[saw₄, I₁]", "K".
std::string nameOf(const Cells& cells, const State& state);

/// The edits of a move on this state, checked.
Result<std::vector<Edit>> editsOf(const State& state, const Move& move);
/// Makes moves on a state.
Result<void> play(const std::vector<Move>& moves, State& state);
/// In how many cells, painted cells and options two states differ: the edits that lead from one to the other.
int editsBetween(const State& a, const State& b);

/// The state that a step begins with: the preset, the moves and the solutions of the steps before it.
Result<State> startOf(const Lesson& lesson, int step);
/// The state that its try begins with: startOf() and the moves of the prediction.
Result<State> tryOf(const Lesson& lesson, int step);

/// A board that nobody sees.
std::unique_ptr<LessonBoard> paperBoard(State state);

/// What is wrong with a lesson, by field; and for each step what was computed, in a few words.
struct Rehearsal {
  std::vector<Error> refused;      ///< it cannot be shown
  std::vector<Error> untrue;       ///< it can be, but says something that is not so
  std::vector<std::string> steps;  ///< "try: W[saw₄, I₁] 0.14, then 0.52 (≥ 0.50)"
};
/// Goes through the lesson as a reader would. `onlyShown`: only what could not be shown, for files of strangers.
Rehearsal rehearse(const Lesson& lesson, bool onlyShown = false);

}  // namespace document
