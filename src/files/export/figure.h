// Figures for papers and slides: the weights of a layer, with labels.
#pragma once

#include <string>

#include "files/export/drawing.h"
#include "files/export/figure_options.h"
#include "files/layout/state_tensors.h"

namespace files {

/// Draws a figure from a state's tensors: column labels at 45°, numbers where they fit, a colour bar, and a
/// caption computed from the weights. Keys that a query does not see are hatched. The print style goes from
/// white to rgb(58, 28, 104) by t^0.85, so that the order is preserved in greyscale; cividis is that of
/// Nuñez, Anderton and Renslow 2018. An error for a head that does not exist, and for the board, which app/
/// draws.
Result<Drawing> figure(const StateTensors& tensors, const FigureOptions& options);
Result<std::string> figureSvg(const StateTensors& tensors, const FigureOptions& options);

}  // namespace files
