// A row on the board that is stepped through: from q·k to the output, one step at a time.
#pragma once

#include "attention/layer/row_steps.h"
#include "views/panels/panels.h"

namespace views {

struct StepperView {
  std::vector<attention::RowStep> steps;  ///< of the layer
  attention::StepPlace at;
  int shown = 0;      ///< how many were shown in the frame before
  float part = 1;     ///< of the way that the numbers of the last one have gone
  float rest = 0;     ///< seconds since they came there
  bool plays = false;

  attention::RowStep now() const { return steps[static_cast<std::size_t>(shown - 1)]; }
};

/// The steps that are shown, or null: none are, or the board shows the mean of the heads.
[[gnu::noinline]] const StepperView* stepperOf(const Context& context);
/// Takes in what the document says, and moves on in time. The pointer's part: the bar with its buttons and dots.
[[gnu::noinline]] void readStepper(Context& context);
/// Begins at the first step of the selected row, or ends.
[[gnu::noinline]] void toggleStepper(Context& context);
/// By so many steps; it stops playing.
[[gnu::noinline]] void stepBy(Context& context, int by);
[[gnu::noinline]] void playStepper(Context& context);

/// In place of what stands in the row: the numbers that are made so far, or none.
[[gnu::noinline]] void drawSteps(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look);
/// Over a matrix: all that the step does not read or make is dimmed, the rest is outlined.
[[gnu::noinline]] void drawStepLight(Context& context, const MatrixPlace& place, const Box& box);
/// The bar, and the arithmetic above it where that has its place there.
[[gnu::noinline]] void drawStepperBar(Context& context);

/// The arithmetic of the steps so far.
[[gnu::noinline]] attention::Explanation stepsExplanation(const Context& context, bool all);

}  // namespace views
