#include "files/export/drawing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/sentence.h"
#include "files/formats/png.h"

namespace files {
namespace {

using base::joined;
using Item = Drawing::Item;
using Paint = Drawing::Paint;

/// A length without unnecessary digits.
std::string px(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.2f", value);
  std::string out = text;
  while (out.ends_with('0')) out.pop_back();
  if (out.ends_with('.')) out.pop_back();
  return out == "-0" ? "0" : out;
}

std::string hex(const Rgb& color) {
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(std::lround(color[0])) & 255u,
                static_cast<unsigned>(std::lround(color[1])) & 255u,
                static_cast<unsigned>(std::lround(color[2])) & 255u);
  return text;
}

/// Text with characters that XML reserves escaped, and those that it forbids replaced.
std::string escaped(std::string_view words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const char c = words[i];
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else if (words.substr(i, 3) == "\xef\xbf\xbe" || words.substr(i, 3) == "\xef\xbf\xbf")
      out += "\xef\xbf\xbd", i += 2;  // U+FFFE and U+FFFF, which XML forbids
    else out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string painted(std::string_view what, const Paint& paint) {
  if (paint.opacity <= 0) return what == "fill" ? " fill=\"none\"" : "";
  std::string out = joined({" ", what, "=\"", hex(paint.color), "\""});
  if (paint.opacity < 0.999) out += joined({" ", what, "-opacity=\"", px(paint.opacity), "\""});
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i + k])) : 0u;
    };
    const unsigned three = at(0) << 16 | at(1) << 8 | at(2);
    for (unsigned k = 0; k < 4; ++k)
      out += i + k <= bytes.size() ? letters[three >> (18 - 6 * k) & 63u] : '=';
  }
  return out;
}

class Writer {
 public:
  explicit Writer(const Drawing& drawing) : drawing_(drawing) {}

  std::string text(double scale) {
    for (const Item& item : drawing_.items) put(item);
    std::string out = joined(
        {"<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"",
         px(drawing_.width * scale), "\" height=\"", px(drawing_.height * scale), "\" viewBox=\"0 0 ",
         px(drawing_.width), " ", px(drawing_.height),
         "\" font-family=\"Inter, Helvetica, Arial, sans-serif\">\n<title>", escaped(drawing_.title),
         "</title>\n"});
    if (!clips_.empty()) out += joined({"<defs>\n", defs(), "</defs>\n"});
    if (drawing_.ground.opacity > 0)
      out += joined({"<rect width=\"100%\" height=\"100%\"", painted("fill", drawing_.ground), "/>\n"});
    return out + body_ + "</svg>\n";
  }

 private:
  std::string defs() const {
    std::string out;
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      const Drawing::Clip& c = clips_[i];
      out += joined({"<clipPath id=\"clip", static_cast<int>(i), "\"><rect x=\"", px(c.x), "\" y=\"", px(c.y),
                     "\" width=\"", px(c.width), "\" height=\"", px(c.height), "\"/></clipPath>\n"});
    }
    return out;
  }

  /// Attributes that all kinds of items have.
  std::string common(const Item& item) {
    std::string out = painted("fill", item.fill);
    if (item.line.opacity > 0) out += painted("stroke", item.line);
    if (item.line.opacity > 0 && item.stroke != 1) out += joined({" stroke-width=\"", px(item.stroke), "\""});
    if (item.isDashed) out += " stroke-dasharray=\"2.5 2.5\"";
    if (item.isCrisp) out += " shape-rendering=\"crispEdges\"";
    if (!item.isClipped) return out;
    auto at = std::find(clips_.begin(), clips_.end(), item.clip);
    if (at == clips_.end()) at = clips_.insert(at, item.clip);
    return out + joined({" clip-path=\"url(#clip", static_cast<int>(at - clips_.begin()), ")\""});
  }

  static std::string box(const Item& item) {
    return joined({" x=\"", px(item.x), "\" y=\"", px(item.y), "\" width=\"", px(item.width), "\" height=\"",
                   px(item.height), "\""});
  }

  void put(const Item& item) {
    switch (item.kind) {
      case Item::Kind::rect:
        body_ += joined({"<rect", box(item),
                         item.radius > 0 ? joined({" rx=\"", px(item.radius), "\""}) : std::string(),
                         common(item), "/>\n"});
        break;
      case Item::Kind::path: path(item); break;
      case Item::Kind::curve: curve(item); break;
      case Item::Kind::text: words(item); break;
      case Item::Kind::image: image(item); break;
    }
  }

  void path(const Item& item) {
    std::string d;
    for (std::size_t i = 0; i + 1 < item.points.size(); i += 2)
      d += joined({i == 0 || (item.isHatch && i % 4 == 0) ? "M" : "L", px(item.points[i]), " ",
                   px(item.points[i + 1])});
    if (item.isClosed) d += "Z";
    body_ += joined(
        {"<path d=\"", d, "\"", common(item),
         item.points.size() > 4 && item.stroke > 0 && !item.isHatch ? " stroke-linejoin=\"round\"" : "",
         "/>\n"});
  }

  void curve(const Item& item) {
    const auto& p = item.points;
    body_ += joined({"<path d=\"M", px(p[0]), " ", px(p[1]), "C", px(p[2]), " ", px(p[3]), " ", px(p[4]), " ",
                     px(p[5]), " ", px(p[6]), " ", px(p[7]), "\"", common(item), "/>\n"});
  }

  void words(const Item& item) {
    constexpr std::string_view anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    std::string more(anchors[static_cast<std::size_t>(item.anchor)]);
    if (item.isMono) more += " font-family=\"'JetBrains Mono', Menlo, Consolas, monospace\"";
    if (item.isBold) more += " font-weight=\"600\"";
    if (item.width > 0)
      more += joined({" textLength=\"", px(item.width), "\" lengthAdjust=\"spacingAndGlyphs\""});
    if (item.angle != 0)
      more += joined({" transform=\"rotate(", px(item.angle), " ", px(item.x), " ", px(item.y), ")\""});
    body_ += joined({"<text x=\"", px(item.x), "\" y=\"", px(item.y), "\" font-size=\"", px(item.size), "\"",
                     common(item), more, ">", escaped(item.words), "</text>\n"});
  }

  void image(const Item& item) {
    const std::string png = toPng(item.pixels, item.columns);
    body_ += joined({"<image", box(item),
                     " preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                     "xlink:href=\"data:image/png;base64,",
                     base64(png), "\"", item.isClipped ? common(item) : std::string(), "/>\n"});
  }

  const Drawing& drawing_;
  std::vector<Drawing::Clip> clips_;
  std::string body_;
};

}  // namespace

void Drawing::rect(double x, double y, double w, double h, const Rgb& fill) {
  Item& item = add(Item::Kind::rect);
  item.x = x, item.y = y, item.width = w, item.height = h, item.fill = {fill, 1};
}

void Drawing::frame(double x, double y, double w, double h, const Rgb& color) {
  Item& item = add(Item::Kind::rect);
  item.x = x, item.y = y, item.width = w, item.height = h, item.line = {color, 1}, item.stroke = 1;
}

void Drawing::line(double x, double y, double toX, double toY, const Rgb& color, double thick) {
  Item& item = add(Item::Kind::path);
  item.points = {x, y, toX, toY}, item.line = {color, 1}, item.stroke = thick;
}

Item& Drawing::text(double x, double y, std::string_view words, double size, const Rgb& color,
                    Item::Anchor anchor) {
  Item& item = add(Item::Kind::text);
  item.x = x, item.y = y, item.words = words, item.size = size, item.fill = {color, 1}, item.anchor = anchor;
  return item;
}

std::string toSvg(const Drawing& drawing, double scale) { return Writer(drawing).text(scale); }

Rgb onColor(const Rgb& color) {
  double light = 0;
  const double shares[3] = {0.2126, 0.7152, 0.0722};
  for (std::size_t i = 0; i < 3; ++i) {
    const double c = color[i] / 255;
    light += shares[i] * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
  }
  return light > 0.179 ? Rgb{{0, 0, 0}} : Rgb{{255, 255, 255}};
}

}  // namespace files
