// Stepping through the computation of one row on the board: from q·k to the output, one step at a time.
#pragma once

#include "attention/layer/row_steps.h"
#include "views/board/motion.h"
#include "views/panels/panels.h"

namespace views {

struct StepperView {
  std::vector<attention::RowStep> steps;  ///< the steps of this layer
  attention::StepPlace at;
  std::vector<Beat> beats;  ///< of the present step
  Motion moves = Motion::none;
  int shown = 0;       ///< the number of steps shown in the previous frame
  float part = 1;      ///< the time within the last of them, 0 to 1
  int frame = -1;      ///< the last frame that went on
  int told = 0;        ///< the document's number of steps in the previous frame
  bool runs = false;   ///< the present step goes on to its end
  bool plays = false;  ///< and so do those after it
  bool stays = false;  ///< a lesson plays them: the board stays at what it asks about
  bool drags = false;  ///< the time is being dragged

  attention::RowStep now() const { return steps[static_cast<std::size_t>(shown - 1)]; }
};

/// The state of the steps being shown; null if none are, or if the board shows the mean of the heads.
[[gnu::noinline]] const StepperView* stepperOf(const Context& context);
/// Updates it from the document and the time. Also handles the pointer on the bar with its buttons and dots.
[[gnu::noinline]] void readStepper(Context& context);
/// Starts at the first step of the selected row, or stops stepping.
[[gnu::noinline]] void toggleStepper(Context& context);
/// Moves by `by` steps, and stops the animation.
[[gnu::noinline]] void stepBy(Context& context, int by);
[[gnu::noinline]] void playStepper(Context& context);

/// The size in which a number fits a cell, and the number with as many decimals as fit too; none if it does
/// not.
std::pair<ImFont*, std::string> fittedNumber(const Context& context, double value, float cell);
/// Draws the numbers of the present step on their way.
[[gnu::noinline]] void drawMotion(Context& context);
/// Draws the numbers that the row has so far, in place of its cells in a matrix.
[[gnu::noinline]] void drawSteps(Context& context, const MatrixPlace& place, const Box& box,
                                 const draw::Heatmap& look);
/// Dims everything in a matrix that the step neither reads nor computes, and outlines the rest.
[[gnu::noinline]] void drawStepLight(Context& context, const MatrixPlace& place, const Box& box);
/// Draws what is over the board: the numbers on their way, and above the bar the arithmetic, if the layout
/// has it there.
[[gnu::noinline]] void drawStepperBar(Context& context);

/// The arithmetic of the present step, or of `all` steps so far.
[[gnu::noinline]] attention::Explanation stepsExplanation(const Context& context, bool all);

}  // namespace views
