// What a figure shows, and how.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "document/state.h"

namespace files {

using base::Error;
using base::Result;

struct FigureOptions {
  enum class What : std::uint8_t { board, weights, heads, arcs };
  enum class Style : std::uint8_t { light, dark, print };
  enum class Colors : std::uint8_t { own, cividis, grey };
  enum class Pool : std::uint8_t { none, max, mean };
  /// Tokens from `first` up to but not including `end`; end -1: all from there on.
  struct Tokens {
    int first = 0, end = -1;
    bool isAll() const { return first == 0 && end < 0; }
  };
  What what = What::weights;
  Style style = Style::print;
  Colors colors = Colors::own;
  int head = 0;          ///< for What::weights and What::arcs
  bool hasHead = false;  ///< was it given? Otherwise a board shows that of its state
  float scale = 1;       ///< factor for width and height, 0.1 … 20
  double width = 0;      ///< in pixels, 96 to the inch; 0: as wide as the cells need
  /// The weights at both ends of the colours; none: 0 and 1.
  std::optional<std::array<double, 2>> range;
  /// How weights map to colours; none: as on the board.
  std::optional<document::WeightScale> weightScale;
  Tokens queries, keys;
  bool hasOneRange = false;  ///< both were given as one, which is right only where keys are the queries
  /// Puts neighbouring tokens together where their cells would be smaller than 4 pixels.
  Pool pool = Pool::none;
  std::optional<std::string> title;  ///< in place of the one that is made; empty: none
  int base = 1;   ///< the number of the first head and of the first layer in the figure, 0 or 1
  int typed = 0;  ///< the same where they are given, for errors
  /// An English text, the bytes of a message, or a number in another language; none: English.
  std::function<std::string(std::string_view)> translated;
  bool labels = true, numbers = true, bar = true, caption = true, sums = false, clear = false;
};

/// Figure options as text; empty ones keep their default.
struct FigureWords {
  std::string_view what;   ///< "board", "weights", "heads" or "arcs"
  std::string_view style;  ///< "light", "dark" or "print"
  std::string_view scale;  ///< "2"
  std::string_view head;   ///< "0"; the first one has the number `base`, or 0 if that is empty
  /// Those of "labels,numbers,bar,caption,sums,clear" to include; "none": none of them.
  std::string_view with;
  std::string_view colors;       ///< "own", "cividis" or "grey"
  std::string_view width = {};   ///< "3.25in", "8.3cm", "83mm", "234pt" or "312px"
  std::string_view range = {};   ///< "0,0.5"
  std::string_view tokens = {};  ///< "40:80" of queries and keys, or "0:8,40:80" of each; from `base`
  std::string_view pool = {};    ///< "max" or "mean"
  std::optional<std::string_view> title = {};  ///< may be empty
  std::string_view weightScale = {};           ///< "linear", "sqrt", "row" or "auto"
  std::string_view base = {};                  ///< "0" or "1"; empty: typed from 0 and printed from 1
};
/// Parses them. An error, with the possible values, for an unknown one, and for what the board cannot have.
Result<FigureOptions> figureOptions(const FigureWords& words);

}  // namespace files
