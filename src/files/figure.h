// Figures for papers and slides: the weights of a layer, drawn with their labels.
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
  int head = 0;          ///< of weights and arcs
  float scale = 1;       ///< of width and height; 0.1 … 20
  bool labels = true, numbers = true, bar = true, caption = true, sums = false, clear = false;
};

/// The words in which a figure is asked for; what is empty stays as it is.
struct FigureWords {
  std::string_view what;    ///< "board", "weights", "heads" or "arcs"
  std::string_view style;   ///< "light", "dark" or "print"
  std::string_view scale;   ///< "2"
  std::string_view head;    ///< "0"
  std::string_view with;    ///< of "labels,numbers,bar,caption,sums,clear" those that it has; "none": none of them
  std::string_view colors;  ///< "own", "cividis" or "grey"
};
/// Refused: what there is not, by name.
Result<FigureOptions> figureOptions(const FigureWords& words);

/// The figure of a state's tensors: labels of columns at 45°, numbers where they fit, a bar of colours, and a caption that is computed. Keys
/// that a query does not see are hatched. The print style goes from white to rgb(58, 28, 104) by t^0.85, so that a grey printer keeps the
/// order; cividis is that of Nuñez, Anderton and Renslow 2018. Refused: a head that there is not, and the board, which app/ draws.
Result<Drawing> figure(const StateTensors& tensors, const FigureOptions& options);
Result<std::string> figureSvg(const StateTensors& tensors, const FigureOptions& options);

}  // namespace files
