// Stepping through the computation of one row on the board: from q·k to the output, one step at a time.
#pragma once

#include "attention/layer/row_steps.h"
#include "views/panels/panels.h"

namespace views {

struct StepperView {
  std::vector<attention::RowStep> steps;  ///< the steps of this layer
  attention::StepPlace at;
  int shown = 0;      ///< the number of steps shown in the previous frame
  float part = 1;     ///< progress of the animation of the last step, 0 to 1
  float rest = 0;     ///< seconds since that animation ended
  bool plays = false;

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

/// Draws the numbers that the row has so far, in place of its cells in a matrix.
[[gnu::noinline]] void drawSteps(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look);
/// Dims everything in a matrix that the step neither reads nor computes, and outlines the rest.
[[gnu::noinline]] void drawStepLight(Context& context, const MatrixPlace& place, const Box& box);
/// Draws the bar at the bottom, and the arithmetic above it if the layout has it there.
[[gnu::noinline]] void drawStepperBar(Context& context);

/// The arithmetic of the present step, or of `all` steps so far.
[[gnu::noinline]] attention::Explanation stepsExplanation(const Context& context, bool all);

}  // namespace views
