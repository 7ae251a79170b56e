// A picture made of shapes and words, and what it becomes as SVG. What draws on paper or into pixels reads the same list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace files {

/// sRGB, 0 … 255.
using Rgb = std::array<double, 3>;

struct Drawing {
  struct Paint {
    Rgb color{};
    double opacity = 0;  ///< 0: nothing is painted
  };
  struct Clip {
    double x = 0, y = 0, width = 0, height = 0;
    bool operator==(const Clip&) const = default;
  };
  /// Lengths are pixels from the top left.
  struct Item {
    enum class Kind : std::uint8_t {
      rect,   ///< at x, y, so wide and high, with round corners
      path,   ///< through the points, each an x and a y; closed where it is filled
      curve,  ///< four points of a cubic Bézier
      text,   ///< one line of words on the baseline y, beginning, centred or ending at x, turned around that point
      image,  ///< one pixel a cell, without smoothing
    };
    enum class Anchor : std::uint8_t { start, middle, end };
    Kind kind = Kind::rect;
    Anchor anchor = Anchor::start;
    bool isBold = false, isMono = false, isClosed = false, isCrisp = false;
    bool isHatch = false;  ///< a path whose points are the ends of lines, two by two
    bool isClipped = false, isDashed = false;
    double x = 0, y = 0, width = 0, height = 0;  ///< of text a width that is not 0 is the one that it has to take
    double radius = 0, size = 0, angle = 0;      ///< degrees, to the right
    double stroke = 0;                           ///< the width of the line
    Paint fill, line;
    Clip clip;
    std::vector<double> points;
    std::string words;
    std::vector<std::uint32_t> pixels;  ///< of an image: bytes in the order R, G, B, A, `columns` in a row
    int columns = 0;
  };

  double width = 0, height = 0;
  std::string title;
  Paint ground;  ///< opacity 0: a clear background
  std::vector<Item> items;

  Item& add(Item::Kind kind) {
    items.emplace_back().kind = kind;
    return items.back();
  }
  void rect(double x, double y, double width, double height, const Rgb& fill);
  void frame(double x, double y, double width, double height, const Rgb& line);
  void line(double x, double y, double toX, double toY, const Rgb& color, double width = 1);
  Item& text(double x, double y, std::string_view words, double size, const Rgb& color, Item::Anchor anchor = Item::Anchor::start);
};

/// As SVG 1.1, so many times as large. Words are text, in Inter or JetBrains Mono where the reader has them.
std::string toSvg(const Drawing& drawing, double scale);

/// Black or white, whichever is easier to read on it (WCAG 2.2, relative luminance).
Rgb onColor(const Rgb& color);

}  // namespace files
