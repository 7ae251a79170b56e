#include "cli/paper.h"

#include <cairo-ft.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <pango/pangocairo.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "files/formats/png.h"
#include "fonts.h"
#include "shell/desktop/pango_text.h"

namespace cli {
namespace {

using files::Drawing;
using Item = Drawing::Item;
constexpr double kMostPixels = 3e8;

/// The program's fonts, for Cairo.
class Faces {
 public:
  Faces() { FT_Init_FreeType(&library_); }
  ~Faces() {
    for (cairo_font_face_t* face : cairo_)
      if (face) cairo_font_face_destroy(face);
    for (FT_Face face : free_)
      if (face) FT_Done_Face(face);
    FT_Done_FreeType(library_);
  }
  Faces(const Faces&) = delete;
  Faces& operator=(const Faces&) = delete;

  cairo_font_face_t* of(const Item& item) {
    const std::size_t at = item.isMono ? 2 : item.isBold ? 1 : 0;
    const std::span<const unsigned char> bytes[] = {fonts::inter_regular, fonts::inter_semibold,
                                                    fonts::jetbrainsmono_regular};
    if (!cairo_[at] && FT_New_Memory_Face(library_, bytes[at].data(), static_cast<FT_Long>(bytes[at].size()),
                                          0, &free_[at]) == 0)
      cairo_[at] = cairo_ft_font_face_create_for_ft_face(free_[at], 0);
    return cairo_[at];
  }
  /// Has the font for this item the character?
  bool has(const Item& item, gunichar character) {
    const FT_Face face = of(item) ? free_[item.isMono ? 2 : item.isBold ? 1 : 0] : nullptr;
    return face && FT_Get_Char_Index(face, character) != 0;
  }

 private:
  FT_Library library_ = nullptr;
  FT_Face free_[3] = {};
  cairo_font_face_t* cairo_[3] = {};
};

class Painter {
 public:
  explicit Painter(cairo_t* cairo, bool asOutlines = false) : cairo_(cairo), asOutlines_(asOutlines) {}

  void paint(const Drawing& drawing) {
    if (drawing.ground.opacity > 0) color(drawing.ground), cairo_paint(cairo_);
    for (const Item& item : drawing.items) {
      cairo_save(cairo_);
      if (item.isClipped)
        cairo_rectangle(cairo_, item.clip.x, item.clip.y, item.clip.width, item.clip.height),
            cairo_clip(cairo_);
      put(item);
      cairo_restore(cairo_);
    }
  }

 private:
  void color(const Drawing::Paint& p) {
    cairo_set_source_rgba(cairo_, p.color[0] / 255, p.color[1] / 255, p.color[2] / 255, p.opacity);
  }

  void put(const Item& item) {
    switch (item.kind) {
      case Item::Kind::rect: box(item); break;
      case Item::Kind::path:
        for (std::size_t i = 0; i + 1 < item.points.size(); i += 2) {
          if (i == 0 || (item.isHatch && i % 4 == 0))
            cairo_move_to(cairo_, item.points[i], item.points[i + 1]);
          else cairo_line_to(cairo_, item.points[i], item.points[i + 1]);
        }
        if (item.isClosed) cairo_close_path(cairo_);
        cairo_set_line_join(cairo_, CAIRO_LINE_JOIN_ROUND);
        break;
      case Item::Kind::curve: {
        const auto& p = item.points;
        cairo_move_to(cairo_, p[0], p[1]);
        cairo_curve_to(cairo_, p[2], p[3], p[4], p[5], p[6], p[7]);
        break;
      }
      case Item::Kind::text: words(item); return;
      case Item::Kind::image: image(item); return;
    }
    if (item.isCrisp) cairo_set_antialias(cairo_, CAIRO_ANTIALIAS_NONE);
    if (item.fill.opacity > 0) color(item.fill), cairo_fill_preserve(cairo_);
    const double dash = 2.5;
    if (item.isDashed) cairo_set_dash(cairo_, &dash, 1, 0);
    if (item.line.opacity > 0)
      color(item.line), cairo_set_line_width(cairo_, item.stroke), cairo_stroke_preserve(cairo_);
    cairo_new_path(cairo_);
  }

  void box(const Item& item) {
    const double r = std::min({item.radius, item.width / 2, item.height / 2}), right = item.x + item.width,
                 bottom = item.y + item.height;
    if (r <= 0) return cairo_rectangle(cairo_, item.x, item.y, item.width, item.height);
    cairo_arc(cairo_, right - r, item.y + r, r, -G_PI / 2, 0);
    cairo_arc(cairo_, right - r, bottom - r, r, 0, G_PI / 2);
    cairo_arc(cairo_, item.x + r, bottom - r, r, G_PI / 2, G_PI);
    cairo_arc(cairo_, item.x + r, item.y + r, r, G_PI, 1.5 * G_PI);
    cairo_close_path(cairo_);
  }

  /// A part of a line that is drawn with the program's font, or with one of the system's.
  struct Run {
    std::string words;
    bool isOwn = false;
    double width = 0;
  };

  /// One run for each change of font. Scripts that are not written letter by letter from left to right stay
  /// whole: a line with one of them is one run.
  std::vector<Run> runsOf(const Item& item) {
    std::vector<Run> runs;
    for (const char* at = item.words.c_str(); *at;) {
      const gunichar character = g_utf8_get_char(at);
      const char* const next = g_utf8_next_char(at);
      const bool isOwn = faces_.has(item, character), isSymbol = character >= 0x1d00 && character < 0x2e80;
      if (!isOwn && !isSymbol) return {{item.words, false}};
      if (runs.empty() || runs.back().isOwn != isOwn) runs.push_back({"", isOwn});
      runs.back().words.append(at, next);
      at = next;
    }
    return runs;
  }

  PangoLayout* layoutOf(const Item& item, const std::string& words) {
    PangoLayout* const layout = pango_cairo_create_layout(cairo_);
    PangoFontDescription* const font = pango_font_description_from_string("sans-serif");
    pango_font_description_set_absolute_size(font, item.size * PANGO_SCALE);
    if (item.isBold) pango_font_description_set_weight(font, PANGO_WEIGHT_SEMIBOLD);
    pango_layout_set_font_description(layout, font);
    pango_layout_set_single_paragraph_mode(layout, TRUE);
    pango_layout_set_text(layout, words.c_str(), -1);
    pango_font_description_free(font);
    return layout;
  }

  double widthOf(const Item& item, const Run& run) {
    if (run.isOwn) {
      cairo_text_extents_t extents;
      cairo_text_extents(cairo_, run.words.c_str(), &extents);
      return extents.x_advance;
    }
    PangoLayout* const layout = layoutOf(item, run.words);
    PangoRectangle extent;
    pango_layout_get_extents(layout, nullptr, &extent);
    g_object_unref(layout);
    return static_cast<double>(extent.width) / PANGO_SCALE;
  }

  /// Draws a run with the start of its baseline at x.
  void show(const Item& item, const Run& run, double x) {
    cairo_move_to(cairo_, x, 0);
    if (run.isOwn) {
      if (!asOutlines_) return cairo_show_text(cairo_, run.words.c_str());
      cairo_text_path(cairo_, run.words.c_str());
      return cairo_fill(cairo_);
    }
    PangoLayout* const layout = layoutOf(item, run.words);
    PangoLayoutLine* const line = pango_layout_get_line_readonly(layout, 0);
    if (asOutlines_) pango_cairo_layout_line_path(cairo_, line), cairo_fill(cairo_);
    else pango_cairo_show_layout_line(cairo_, line);
    g_object_unref(layout);
  }

  void words(const Item& item) {
    color(item.fill);
    cairo_translate(cairo_, item.x, item.y);
    cairo_rotate(cairo_, item.angle * G_PI / 180);
    cairo_set_font_face(cairo_, faces_.of(item));
    cairo_set_font_size(cairo_, item.size);
    std::vector<Run> runs = runsOf(item);
    double width = 0;
    for (Run& run : runs) width += run.width = widthOf(item, run);
    double x = startOf(item, width);
    for (const Run& run : runs) show(item, run, x), x += run.width;
  }

  /// Where a line of that width starts, which is stretched or compressed if the item has a width.
  double startOf(const Item& item, double width) {
    if (item.width > 0 && width > 0) cairo_scale(cairo_, item.width / width, 1);
    const double shares[] = {0, 0.5, 1};
    return -width * shares[static_cast<std::size_t>(item.anchor)];
  }

  void image(const Item& item) {
    const int rows = static_cast<int>(item.pixels.size()) / std::max(1, item.columns);
    cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, item.columns, rows);
    unsigned char* to = cairo_image_surface_get_data(surface);
    if (!to) return cairo_surface_destroy(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < item.columns; ++x) {
        const std::uint32_t
            p = item.pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(item.columns) +
                            static_cast<std::size_t>(x)],
            a = p >> 24;
        const auto part = [&](int shift) { return ((p >> shift & 255u) * a + 127) / 255; };
        const std::uint32_t pixel = a << 24 | part(0) << 16 | part(8) << 8 | part(16);
        std::memcpy(to + static_cast<std::ptrdiff_t>(y) * stride + static_cast<std::ptrdiff_t>(x) * 4, &pixel,
                    sizeof pixel);
      }
    cairo_surface_mark_dirty(surface);
    cairo_translate(cairo_, item.x, item.y);
    cairo_scale(cairo_, item.width / item.columns, item.height / rows);
    cairo_set_source_surface(cairo_, surface, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cairo_), CAIRO_FILTER_NEAREST);
    cairo_paint(cairo_);
    cairo_surface_destroy(surface);
  }

  cairo_t* cairo_;
  bool asOutlines_;
  Faces faces_;
};

cairo_status_t append(void* to, const unsigned char* bytes, unsigned count) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
  return CAIRO_STATUS_SUCCESS;
}

/// Draws on a surface whose unit is 1/72 inch, and ends it.
void drawOn(cairo_surface_t* surface, const Drawing& drawing, double scale, bool asOutlines) {
  cairo_t* const cairo = cairo_create(surface);
  cairo_scale(cairo, scale, scale);
  Painter painter(cairo, asOutlines);  // its fonts are written when the surface ends
  painter.paint(drawing);
  cairo_destroy(cairo);
  cairo_surface_destroy(surface);
}

}  // namespace

std::string paint(const Drawing& drawing, double scale) {
  const int width = static_cast<int>(std::lround(drawing.width * scale)),
            height = static_cast<int>(std::lround(drawing.height * scale));
  if (width < 1 || height < 1 || static_cast<double>(width) * height > kMostPixels) return {};
  cairo_surface_t* surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
  std::vector<std::uint32_t> pixels;
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
    cairo_t* cairo = cairo_create(surface);
    cairo_scale(cairo, scale, scale);
    Painter(cairo).paint(drawing);
    cairo_destroy(cairo);
    cairo_surface_flush(surface);
    const unsigned char* from = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    pixels.reserve(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        std::uint32_t p = 0;
        std::memcpy(&p, from + static_cast<std::ptrdiff_t>(y) * stride + static_cast<std::ptrdiff_t>(x) * 4,
                    sizeof p);
        const std::uint32_t a = p >> 24;  // Cairo's colours are premultiplied
        const auto part = [&](int shift) {
          return a == 0 ? 0 : std::min(255u, ((p >> shift & 255u) * 255u + a / 2) / a);
        };
        pixels.push_back(part(16) | part(8) << 8 | part(0) << 16 | a << 24);
      }
  }
  cairo_surface_destroy(surface);
  return files::toPng(pixels, width);
}

std::string toPdf(const Drawing& drawing, double scale, bool asOutlines) {
  const double points = 0.75 * scale;
  std::string out;
  cairo_surface_t* const surface =
      cairo_pdf_surface_create_for_stream(append, &out, drawing.width * points, drawing.height * points);
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, drawing.title.c_str());
  cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE,
                                 "");  // the bytes do not depend on when
  drawOn(surface, drawing, points, asOutlines);
  return out;
}

std::string toOutlinedSvg(const Drawing& drawing, double scale) {
  std::string out;
  cairo_surface_t* const surface =
      cairo_svg_surface_create_for_stream(append, &out, drawing.width * scale, drawing.height * scale);
  cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
  drawOn(surface, drawing, scale, true);
  return out;
}

std::unique_ptr<draw::Rasteriser> systemText() { return std::make_unique<shell::PangoText>(); }

}  // namespace cli
