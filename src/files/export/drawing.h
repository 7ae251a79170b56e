// A picture made of shapes and text, and its conversion to SVG. Other output formats are produced from the
// same list of items.
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
    double opacity = 0;  ///< 0: not painted
  };
  struct Clip {
    double x = 0, y = 0, width = 0, height = 0;
    bool operator==(const Clip&) const = default;
  };
  /// Lengths are in pixels, coordinates from the top left corner.
  struct Item {
    enum class Kind : std::uint8_t {
      rect,   ///< rectangle with top left corner x, y, with rounded corners if radius > 0
      path,   ///< polyline through the points (x, y pairs); closed if it is filled
      curve,  ///< cubic Bézier curve with four control points
      /// One line of text on the baseline y, with x at its start, middle or end, rotated around that point.
      text,
      image,  ///< one pixel per cell, not smoothed
    };
    enum class Anchor : std::uint8_t { start, middle, end };
    Kind kind = Kind::rect;
    Anchor anchor = Anchor::start;
    bool isBold = false, isMono = false, isClosed = false, isCrisp = false;
    bool isHatch = false;  ///< a path of separate lines: points are their ends, in pairs
    bool isClipped = false, isDashed = false;
    /// For text a width other than 0 is the one to stretch or compress it to.
    double x = 0, y = 0, width = 0, height = 0;
    double radius = 0, size = 0, angle = 0;  ///< degrees, clockwise
    double stroke = 0;                       ///< line width
    Paint fill, line;
    Clip clip;
    std::vector<double> points;
    std::string words;
    std::vector<std::uint32_t> pixels;  ///< for images: bytes in the order R, G, B, A, `columns` per row
    int columns = 0;
  };

  double width = 0, height = 0;
  std::string title;
  Paint ground;  ///< background; opacity 0: transparent
  std::vector<Item> items;

  Item& add(Item::Kind kind) {
    items.emplace_back().kind = kind;
    return items.back();
  }
  void rect(double x, double y, double width, double height, const Rgb& fill);
  void frame(double x, double y, double width, double height, const Rgb& line);
  void line(double x, double y, double toX, double toY, const Rgb& color, double width = 1);
  Item& text(double x, double y, std::string_view words, double size, const Rgb& color,
             Item::Anchor anchor = Item::Anchor::start);
};

/// As SVG 1.1, enlarged by `scale`. Text stays text, in Inter or JetBrains Mono if the viewer has them.
std::string toSvg(const Drawing& drawing, double scale);

/// Black or white, whichever has the higher contrast to the colour (WCAG 2.2, relative luminance).
Rgb onColor(const Rgb& color);

}  // namespace files
