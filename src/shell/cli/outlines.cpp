#include "cli/outlines.h"

#include <imgui.h>
#include <imstb_truetype.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/sentence.h"
#include "cli/command.h"
#include "fonts.h"

namespace cli {
namespace {

using files::Drawing;
using Item = Drawing::Item;

struct Point {
  double x = 0, y = 0;
};
using Line = std::vector<Point>;

constexpr int kPieces = 24;  ///< of a curve, or of a circle, as lines

Point bezier(const double* p, double t) {
  const double u = 1 - t, a = u * u * u, b = 3 * u * u * t, c = 3 * u * t * t, d = t * t * t;
  return {a * p[0] + b * p[2] + c * p[4] + d * p[6], a * p[1] + b * p[3] + c * p[5] + d * p[7]};
}

/// A rectangle with rounded corners, clockwise.
Line box(const Item& item) {
  const double left = item.x, top = item.y, right = item.x + item.width, bottom = item.y + item.height;
  const double r = std::clamp(item.radius, 0.0, std::min(item.width, item.height) / 2);
  if (r == 0) return {{left, top}, {right, top}, {right, bottom}, {left, bottom}};
  Line line;
  const Point centers[] = {
      {right - r, top + r}, {right - r, bottom - r}, {left + r, bottom - r}, {left + r, top + r}};
  for (int corner = 0; corner < 4; ++corner)
    for (int i = 0; i <= kPieces / 4; ++i) {
      const double angle = (corner - 1 + 4.0 * i / kPieces) * std::numbers::pi / 2;
      line.push_back({centers[corner].x + r * std::cos(angle), centers[corner].y + r * std::sin(angle)});
    }
  return line;
}

/// The lines of an item, curves in pieces.
std::vector<Line> linesOf(const Item& item) {
  std::vector<Line> lines;
  if (item.kind == Item::Kind::rect) return {box(item)};
  if (item.kind == Item::Kind::curve) {
    for (int i = 0; i <= kPieces; ++i) {
      if (i == 0) lines.emplace_back();
      lines.back().push_back(bezier(item.points.data(), static_cast<double>(i) / kPieces));
    }
    return lines;
  }
  for (std::size_t i = 0; i + 1 < item.points.size(); i += 2) {
    if (i == 0 || (item.isHatch && i % 4 == 0)) lines.emplace_back();
    lines.back().push_back({item.points[i], item.points[i + 1]});
  }
  return lines;
}

void add(Shape& shape, const Line& line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    i == 0 ? shape.move(line[i].x, line[i].y) : shape.line(line[i].x, line[i].y);
}

/// Cuts a line into dashes that are as long as their gaps.
std::vector<Line> dashes(const Line& line, double length) {
  std::vector<Line> parts{{line.front()}};
  double left = length;
  bool isDrawn = true;
  for (std::size_t i = 1; i < line.size(); ++i) {
    Point at = line[i - 1];
    for (;;) {
      const double way = std::hypot(line[i].x - at.x, line[i].y - at.y);
      if (way <= left) {
        left -= way;
        if (isDrawn) parts.back().push_back(line[i]);
        break;
      }
      at = {at.x + (line[i].x - at.x) * left / way, at.y + (line[i].y - at.y) * left / way};
      if (isDrawn) parts.back().push_back(at);
      else parts.push_back({at});
      isDrawn = !isDrawn, left = length;
    }
  }
  return parts;
}

/// A line of some width: a rectangle for each piece, and a disc at each corner, all in one direction.
void addStroke(Shape& shape, const Line& line, double width) {
  const double half = width / 2;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point a = line[i], b = line[i + 1];
    const double way = std::hypot(b.x - a.x, b.y - a.y);
    if (way == 0) continue;
    const Point off{-(b.y - a.y) / way * half, (b.x - a.x) / way * half};
    add(shape, {{a.x - off.x, a.y - off.y},
                {b.x - off.x, b.y - off.y},
                {b.x + off.x, b.y + off.y},
                {a.x + off.x, a.y + off.y}});
    if (i == 0) continue;
    Line disc;
    for (int k = 0; k < kPieces; ++k) {
      const double angle = 2 * std::numbers::pi * k / kPieces;
      disc.push_back({a.x + half * std::cos(angle), a.y + half * std::sin(angle)});
    }
    add(shape, disc);
  }
}

/// A frame with sharp corners: the inner rectangle runs the other way.
Shape frameOf(const Item& item) {
  Shape shape;
  for (const double side : {1.0, -1.0}) {
    Item moved = item;
    const double by = side * item.stroke / 2;
    moved.x -= by, moved.y -= by, moved.width = std::max(0.0, moved.width + 2 * by),
                                  moved.height = std::max(0.0, moved.height + 2 * by);
    Line corners = box(moved);
    if (side < 0) std::reverse(corners.begin(), corners.end());
    add(shape, corners);
  }
  return shape;
}

}  // namespace

Shape insideOf(const Item& item) {
  Shape shape;
  for (const Line& line : linesOf(item)) add(shape, line);
  return shape;
}

Shape strokeOf(const Item& item) {
  if (item.kind == Item::Kind::rect && item.radius <= 0 && !item.isDashed) return frameOf(item);
  Shape shape;
  for (Line& line : linesOf(item)) {
    const bool isClosed = item.kind == Item::Kind::rect || item.isClosed;
    if (isClosed && !line.empty()) line.push_back(line.front()), line.push_back(line[1]);
    if (line.empty()) continue;
    if (!item.isDashed) addStroke(shape, line, item.stroke);
    else
      for (const Line& dash : dashes(line, 2.5)) addStroke(shape, dash, item.stroke);
  }
  return shape;
}

struct Letters::Parts {
  std::array<stbtt_fontinfo, 3> fonts{};
};

Letters::Letters() : parts_(std::make_unique<Parts>()) {
  const std::span<const unsigned char> bytes[] = {fonts::inter_regular, fonts::inter_semibold,
                                                  fonts::jetbrainsmono_regular};
  for (std::size_t i = 0; i < 3; ++i) stbtt_InitFont(&parts_->fonts[i], bytes[i].data(), 0);
}
Letters::~Letters() = default;

namespace {

/// From the units of a font to the drawing: turned, stretched and moved.
struct Place {
  Point origin;
  double cos = 1, sin = 0, scaleX = 1, scaleY = 1;
  Point operator()(double x, double y) const {
    const double right = x * scaleX, down = -y * scaleY;
    return {origin.x + right * cos - down * sin, origin.y + right * sin + down * cos};
  }
};

void addGlyph(Shape& shape, const stbtt_fontinfo& font, int glyph, const Place& place) {
  stbtt_vertex* vertices = nullptr;
  const int count = stbtt_GetGlyphShape(&font, glyph, &vertices);
  Point last;
  for (int i = 0; i < count; ++i) {
    const stbtt_vertex& v = vertices[i];
    const Point end = place(v.x, v.y), one = place(v.cx, v.cy), two = place(v.cx1, v.cy1);
    const auto between = [](const Point& from, const Point& to) {
      return Point{from.x + (to.x - from.x) * 2 / 3, from.y + (to.y - from.y) * 2 / 3};
    };
    switch (v.type) {
      case STBTT_vmove: shape.move(end.x, end.y); break;
      case STBTT_vline: shape.line(end.x, end.y); break;
      case STBTT_vcurve: {  // quadratic
        const Point a = between(last, one), b = between(end, one);
        shape.curve({a.x, a.y, b.x, b.y, end.x, end.y});
        break;
      }
      default: shape.curve({one.x, one.y, two.x, two.y, end.x, end.y});
    }
    last = end;
  }
  stbtt_FreeShape(&font, vertices);
}

/// A character as it is drawn: a glyph, perhaps smaller and raised, or the mark of a space.
struct Drawn {
  int glyph = 0, advance = 0;
  double size = 1, rise = 0;  ///< the rise in units of the font
  bool isSpaceMark = false;
};

/// Some that the fonts lack are made of others. An advance of 0 where there is no way.
Drawn drawn(const stbtt_fontinfo& font, char32_t character) {
  const auto glyphOf = [&](char32_t c) { return stbtt_FindGlyphIndex(&font, static_cast<int>(c)); };
  const double em = 1.0 / static_cast<double>(stbtt_ScaleForMappingEmToPixels(&font, 1));
  Drawn one;
  one.glyph = glyphOf(character);
  if (one.glyph == 0 && character == U'\u2423') return {0, static_cast<int>(0.6 * em), 1, 0, true};
  if (one.glyph == 0 && (character == U'\u1d40' || character == U'\u207b'))
    one = {glyphOf(character == U'\u1d40' ? U'T' : U'\u2212'), 0, 0.65, 0.3 * em};
  if (one.glyph == 0) return one;
  int side = 0;
  stbtt_GetGlyphHMetrics(&font, one.glyph, &one.advance, &side);
  one.advance = static_cast<int>(one.advance * one.size);
  return one;
}

void addSpaceMark(Shape& shape, const Place& place, double advance, double width) {
  const double left = 0.1 * advance, right = 0.9 * advance, low = -0.2 * advance, high = 0.15 * advance;
  addStroke(shape, {place(left, high), place(left, low), place(right, low), place(right, high)}, width);
}

}  // namespace

Shape Letters::of(const Item& item) const {
  const stbtt_fontinfo& font = parts_->fonts[item.isMono ? 2 : item.isBold ? 1 : 0];
  const double scale =
      static_cast<double>(stbtt_ScaleForMappingEmToPixels(&font, static_cast<float>(item.size)));
  std::vector<Drawn> line;
  double width = 0;
  for (std::string_view rest = item.words; !rest.empty();) {
    const int length = base::utf8Length(rest);
    const std::string_view word = rest.substr(0, static_cast<std::size_t>(std::max(length, 1)));
    line.push_back(drawn(font, length > 0 ? base::utf8Decode(rest) : U'\0'));
    if (line.back().advance == 0)
      throw Failure{kBadData, "--out: this build of attn has no font for " + base::inQuotes(word) +
                                  "; write SVG, which is drawn with the fonts of who looks at it."};
    width += line.back().advance * scale;
    rest.remove_prefix(word.size());
  }
  const double stretch = item.width > 0 && width > 0 ? item.width / width : 1,
               angle = item.angle * std::numbers::pi / 180;
  const double shares[] = {0, 0.5, 1};
  const Place place{{item.x, item.y}, std::cos(angle), std::sin(angle), scale * stretch, scale};
  double pen = -width / scale * shares[static_cast<std::size_t>(item.anchor)];
  Shape shape;
  for (const Drawn& one : line) {
    Place here = place;
    here.origin = place(pen, one.rise);
    here.scaleX *= one.size, here.scaleY *= one.size;
    if (one.isSpaceMark) addSpaceMark(shape, here, one.advance, item.size * 0.07);
    else addGlyph(shape, font, one.glyph, here);
    pen += one.advance;
  }
  return shape;
}

}  // namespace cli
