#include "shell/desktop/pango_text.h"

#include <pango/pangocairo.h>

#include <algorithm>

namespace shell {
namespace {

struct Freed {
  void operator()(PangoLayout* layout) const { g_object_unref(layout); }
  void operator()(PangoContext* context) const { g_object_unref(context); }
  void operator()(PangoFontMap* map) const { g_object_unref(map); }
  void operator()(PangoFontDescription* font) const { pango_font_description_free(font); }
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* cairo) const { cairo_destroy(cairo); }
};
template <class T>
using Owned = std::unique_ptr<T, Freed>;

float pixels(int units) { return static_cast<float>(units) / PANGO_SCALE; }

/// From Cairo's premultiplied 0xAARRGGBB to straight alpha with bytes in the order R, G, B, A.
std::uint32_t straight(std::uint32_t p) {
  const std::uint32_t a = p >> 24;
  if (a == 0) return 0;
  const auto part = [&](int shift) { return std::min(255u, ((p >> shift & 255u) * 255u + a / 2) / a); };
  return part(16) | part(8) << 8 | part(0) << 16 | a << 24;
}

}  // namespace

struct PangoText::Parts {
  Owned<PangoFontMap> faces{pango_cairo_font_map_new()};
  Owned<PangoContext> context{pango_font_map_create_context(faces.get())};

  /// The layout of a text as a single line, whatever it contains.
  Owned<PangoLayout> line(std::string_view text, draw::Face face) const {
    Owned<PangoLayout> layout(pango_layout_new(context.get()));
    const Owned<PangoFontDescription> font(pango_font_description_from_string("sans-serif"));
    pango_font_description_set_absolute_size(font.get(), static_cast<double>(face.size) * PANGO_SCALE);
    pango_font_description_set_weight(font.get(), static_cast<PangoWeight>(face.weight));
    pango_layout_set_font_description(layout.get(), font.get());
    pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
    pango_layout_set_text(layout.get(), text.data(), static_cast<int>(text.size()));
    return layout;
  }
};

PangoText::PangoText() : parts_(std::make_unique<Parts>()) {}
PangoText::~PangoText() = default;

float PangoText::measure(std::string_view text, draw::Face face) {
  PangoRectangle extent;
  pango_layout_get_extents(parts_->line(text, face).get(), nullptr, &extent);
  return pixels(extent.width);
}

draw::LinePicture PangoText::rasterise(std::string_view text, draw::Face face, std::uint32_t color) {
  constexpr int kWidest = 4096, kHighest = 1024;
  draw::LinePicture picture;
  const auto layout = parts_->line(text, face);
  PangoLayoutLine* line = pango_layout_get_line_readonly(layout.get(), 0);
  PangoRectangle ink;
  pango_layout_line_get_pixel_extents(line, &ink, nullptr);
  constexpr int kEdge = 1;  // for antialiased edges
  picture.left = kEdge - ink.x, picture.top = kEdge - ink.y;
  picture.width = std::clamp(ink.width + 2 * kEdge, 1, kWidest),
  picture.height = std::clamp(ink.height + 2 * kEdge, 1, kHighest);
  const Owned<cairo_surface_t> surface(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, picture.width, picture.height));
  {
    const Owned<cairo_t> cairo(cairo_create(surface.get()));
    const auto part = [&](int shift) { return static_cast<double>(color >> shift & 255u) / 255; };
    cairo_set_source_rgb(cairo.get(), part(16), part(8), part(0));
    cairo_move_to(cairo.get(), picture.left, picture.top);
    pango_cairo_show_layout_line(cairo.get(), line);
  }
  cairo_surface_flush(surface.get());
  const unsigned char* rows = cairo_image_surface_get_data(surface.get());
  if (rows == nullptr) return {};
  const auto stride = cairo_image_surface_get_stride(surface.get());
  for (int y = 0; y < picture.height; ++y) {
    const auto* row = reinterpret_cast<const std::uint32_t*>(rows + static_cast<std::ptrdiff_t>(y) * stride);
    std::transform(row, row + picture.width, std::back_inserter(picture.pixels), straight);
  }
  return picture;
}

std::vector<PangoText::Place> PangoText::carets(std::string_view text, draw::Face face) {
  const auto layout = parts_->line(text, face);
  std::vector<Place> widgetRects;
  int count = 0;
  const PangoLogAttr* attributes = pango_layout_get_log_attrs_readonly(layout.get(), &count);
  const char *shown = pango_layout_get_text(layout.get()), *at = shown;
  for (int i = 0; i < count; ++i, at = g_utf8_next_char(at)) {
    if (attributes[i].is_cursor_position == 0) continue;
    PangoRectangle strong;
    const auto byte = at - shown;
    pango_layout_get_cursor_pos(layout.get(), static_cast<int>(byte), &strong, nullptr);
    widgetRects.push_back({static_cast<std::size_t>(byte), pixels(strong.x)});
  }
  return widgetRects;
}

}  // namespace shell
