// Figures for papers and slides: the weights of a layer, with labels.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "files/drawing.h"
#include "files/state_tensors.h"

namespace files {

struct FigureOptions {
  enum class What : std::uint8_t { board, weights, heads, arcs };
  enum class Style : std::uint8_t { light, dark, print };
  enum class Colors : std::uint8_t { own, cividis, grey };
  What what = What::weights;
  Style style = Style::print;
  Colors colors = Colors::own;
  int head = 0;     ///< for What::weights and What::arcs
  float scale = 1;  ///< factor for width and height, 0.1 … 20
  /// An English text or number in another language; none: English.
  std::function<std::string(std::string_view)> translated;
  bool labels = true, numbers = true, bar = true, caption = true, sums = false, clear = false;
};

/// Figure options as text; empty ones keep their default.
struct FigureWords {
  std::string_view what;   ///< "board", "weights", "heads" or "arcs"
  std::string_view style;  ///< "light", "dark" or "print"
  std::string_view scale;  ///< "2"
  std::string_view head;   ///< "0"
  /// Those of "labels,numbers,bar,caption,sums,clear" to include; "none": none of them.
  std::string_view with;
  std::string_view colors;  ///< "own", "cividis" or "grey"
};
/// Parses them. An error, with the possible values, for an unknown one.
Result<FigureOptions> figureOptions(const FigureWords& words);

/// Draws a figure from a state's tensors: column labels at 45°, numbers where they fit, a colour bar, and a
/// caption computed from the weights. Keys that a query does not see are hatched. The print style goes from
/// white to rgb(58, 28, 104) by t^0.85, so that the order is preserved in greyscale; cividis is that of
/// Nuñez, Anderton and Renslow 2018. An error for a head that does not exist, and for the board, which app/
/// draws.
Result<Drawing> figure(const StateTensors& tensors, const FigureOptions& options);
Result<std::string> figureSvg(const StateTensors& tensors, const FigureOptions& options);

}  // namespace files
