// For systems without Pango and Cairo: everything becomes filled shapes, text too. In the board's figure,
// lines with characters that the program's fonts lack are measured by the number of their characters.
#include <imgui.h>
#include <imstb_truetype.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/sentence.h"
#include "cli/command.h"
#include "cli/outlines.h"
#include "cli/paper.h"
#include "files/formats/png.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION  // for its zlib
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#include <stb_image_write.h>

namespace cli {
namespace {

using files::Drawing;
using Item = Drawing::Item;
using Kind = Shape::Step::Kind;
constexpr double kMostPixels = 3e8;

std::string number(double x) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", x);
  std::string out = text;
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out == "-0" ? "0" : out;
}

/// What can be drawn on: filled shapes and pictures, of an item that may be clipped.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual void fill(const Shape& shape, const Drawing::Paint& paint, const Item& item) = 0;
  virtual void image(const Item& item) = 0;
};

void draw(const Drawing& drawing, Canvas& canvas) {
  const Letters letters;
  if (drawing.ground.opacity > 0) {
    Item whole;
    whole.width = drawing.width, whole.height = drawing.height;
    canvas.fill(insideOf(whole), drawing.ground, whole);
  }
  for (const Item& item : drawing.items) {
    if (item.kind == Item::Kind::image) canvas.image(item);
    else if (item.kind == Item::Kind::text) canvas.fill(letters.of(item), item.fill, item);
    else {
      if (item.fill.opacity > 0) canvas.fill(insideOf(item), item.fill, item);
      if (item.line.opacity > 0) canvas.fill(strokeOf(item), item.line, item);
    }
  }
}

// ---- pixels

class Pixels final : public Canvas {
 public:
  Pixels(int width, int height, double scale)
      : all(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)),
        width_(width),
        height_(height),
        scale_(scale) {}

  void fill(const Shape& shape, const Drawing::Paint& paint, const Item& item) override {
    const Area area = clipped(boundsOf(shape), item);
    if (area.right <= area.left || area.bottom <= area.top) return;
    const int columns = area.right - area.left, rows = area.bottom - area.top;
    std::vector<unsigned char> covered(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows));
    rasterise(shape, area, covered);
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < columns; ++x) {
        double share = covered[static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) +
                               static_cast<std::size_t>(x)] /
                       255.0;
        if (item.isCrisp) share = share >= 0.5 ? 1 : 0;
        if (share > 0) blend(area.left + x, area.top + y, paint.color, share * paint.opacity);
      }
  }

  void image(const Item& item) override {
    const int rows = static_cast<int>(item.pixels.size()) / std::max(1, item.columns);
    const Area area = clipped({item.x, item.y, item.x + item.width, item.y + item.height}, item);
    const auto cell = [&](int at, double from, double size, int count) {
      return std::clamp(static_cast<int>(((at + 0.5) / scale_ - from) / size * count), 0, count - 1);
    };
    for (int y = area.top; y < area.bottom && rows > 0; ++y)
      for (int x = area.left; x < area.right; ++x) {
        const bool isInside = (x + 0.5) / scale_ >= item.x && (x + 0.5) / scale_ < item.x + item.width &&
                              (y + 0.5) / scale_ >= item.y && (y + 0.5) / scale_ < item.y + item.height;
        if (!isInside) continue;
        const std::uint32_t p =
            item.pixels[static_cast<std::size_t>(cell(y, item.y, item.height, rows)) *
                            static_cast<std::size_t>(item.columns) +
                        static_cast<std::size_t>(cell(x, item.x, item.width, item.columns))];
        const auto part = [&](int shift) { return static_cast<double>(p >> shift & 255u); };
        blend(x, y, {part(0), part(8), part(16)}, part(24) / 255);
      }
  }

  std::vector<std::uint32_t> all;  ///< R, G, B, A, with straight alpha

 private:
  struct Bounds {
    double left = 1e9, top = 1e9, right = -1e9, bottom = -1e9;
  };
  struct Area {
    int left, top, right, bottom;
  };

  static Bounds boundsOf(const Shape& shape) {
    Bounds b;
    for (const Shape::Step& step : shape.steps)
      for (std::size_t i = 0; i < (step.kind == Kind::curve ? 6u : 2u); i += 2) {
        b.left = std::min(b.left, step.at[i]), b.right = std::max(b.right, step.at[i]);
        b.top = std::min(b.top, step.at[i + 1]), b.bottom = std::max(b.bottom, step.at[i + 1]);
      }
    return b;
  }

  /// The pixels that may be touched.
  Area clipped(Bounds b, const Item& item) const {
    if (item.isClipped) {
      b.left = std::max(b.left, item.clip.x), b.right = std::min(b.right, item.clip.x + item.clip.width);
      b.top = std::max(b.top, item.clip.y), b.bottom = std::min(b.bottom, item.clip.y + item.clip.height);
    }
    const auto pixel = [&](double at, int most) {
      return static_cast<int>(std::clamp(at, 0.0, static_cast<double>(most)));
    };
    return {pixel(std::floor(b.left * scale_), width_), pixel(std::floor(b.top * scale_), height_),
            pixel(std::ceil(b.right * scale_), width_), pixel(std::ceil(b.bottom * scale_), height_)};
  }

  /// How much of each pixel of the area is inside, of 255. The rasteriser takes coordinates of 16 bits.
  void rasterise(const Shape& shape, const Area& area, std::vector<unsigned char>& covered) const {
    const Bounds b = boundsOf(shape);
    const double finest = std::clamp(
        30'000 / std::max({1.0, (b.right - b.left) * scale_, (b.bottom - b.top) * scale_}), 0.1, 64.0);
    const auto x = [&](double at) {
      return static_cast<short>(std::lround((at - b.left) * scale_ * finest));
    };
    const auto y = [&](double at) { return static_cast<short>(std::lround((at - b.top) * scale_ * finest)); };
    std::vector<stbtt_vertex> vertices;
    for (const Shape::Step& step : shape.steps) {
      stbtt_vertex v{};
      const std::size_t end = step.kind == Kind::curve ? 4 : 0;
      v.x = x(step.at[end]), v.y = y(step.at[end + 1]);
      if (step.kind == Kind::curve)
        v.cx = x(step.at[0]), v.cy = y(step.at[1]), v.cx1 = x(step.at[2]), v.cy1 = y(step.at[3]);
      v.type = step.kind == Kind::move ? STBTT_vmove : step.kind == Kind::line ? STBTT_vline : STBTT_vcubic;
      vertices.push_back(v);
    }
    const int columns = area.right - area.left, rows = area.bottom - area.top;
    stbtt__bitmap bitmap{columns, rows, columns, covered.data()};
    const auto scale = static_cast<float>(1 / finest);
    stbtt_Rasterize(&bitmap, 0.2f, vertices.data(), static_cast<int>(vertices.size()), scale, scale,
                    static_cast<float>(b.left * scale_ - area.left),
                    static_cast<float>(b.top * scale_ - area.top), 0, 0, 0, nullptr);
  }

  void blend(int x, int y, const files::Rgb& color, double opacity) {
    std::uint32_t& p =
        all[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x)];
    const double under = (p >> 24) / 255.0 * (1 - opacity), sum = opacity + under;
    if (sum <= 0) return;
    std::uint32_t next = static_cast<std::uint32_t>(std::lround(sum * 255)) << 24;
    for (int i = 0; i < 3; ++i)
      next |= static_cast<std::uint32_t>(std::clamp(
                  std::lround((color[static_cast<std::size_t>(i)] * opacity + (p >> (8 * i) & 255u) * under) /
                              sum),
                  0l, 255l))
              << (8 * i);
    p = next;
  }

  int width_, height_;
  double scale_;
};

/// The steps of a shape with the letters of a format for move, line, curve and the end of a contour.
std::string steps(const Shape& shape, const char* letters, bool isBefore) {
  std::string out;
  for (std::size_t i = 0; i < shape.steps.size(); ++i) {
    const Shape::Step& step = shape.steps[i];
    if (step.kind == Kind::move && i > 0) out += letters[3], out += '\n';
    if (isBefore) out += letters[static_cast<int>(step.kind)];
    for (std::size_t k = 0; k < (step.kind == Kind::curve ? 6u : 2u); ++k) out += number(step.at[k]) + " ";
    if (!isBefore) out += letters[static_cast<int>(step.kind)], out += "\n";
  }
  return shape.steps.empty() ? out : out + letters[3];
}

// ---- PDF

std::string toZlib(std::string bytes) {
  int size = 0;
  unsigned char* const packed = stbi_zlib_compress(reinterpret_cast<unsigned char*>(bytes.data()),
                                                   static_cast<int>(bytes.size()), &size, 8);
  const std::string out(reinterpret_cast<const char*>(packed), packed ? static_cast<std::size_t>(size) : 0);
  STBIW_FREE(packed);
  return out;
}

class Pdf final : public Canvas {
 public:
  void fill(const Shape& shape, const Drawing::Paint& paint, const Item& item) override {
    content_ += "q\n" + clip(item);
    if (paint.opacity < 1) {
      const std::string share = number(paint.opacity);
      content_ += "/A" + share + " gs\n", shares_[share] = "/A" + share + "<</ca " + share + ">>";
    }
    for (const double part : paint.color) content_ += number(part / 255) + " ";
    content_ += "rg\n" + steps(shape, "mlch", false) + "\nf\nQ\n";
  }

  void image(const Item& item) override {
    std::string colors, alphas;
    for (const std::uint32_t p : item.pixels) {
      for (const int shift : {0, 8, 16}) colors += static_cast<char>(p >> shift & 255u);
      alphas += static_cast<char>(p >> 24);
    }
    const std::string size =
        "/Subtype/Image/Width " + std::to_string(item.columns) + "/Height " +
        std::to_string(item.pixels.size() / static_cast<std::size_t>(std::max(1, item.columns))) +
        "/BitsPerComponent 8";
    const int mask = add(size + "/ColorSpace/DeviceGray", alphas);
    const int image = add(size + "/ColorSpace/DeviceRGB/SMask " + std::to_string(mask) + " 0 R", colors);
    const std::string name = "/I" + std::to_string(image);
    images_ += name + " " + std::to_string(image) + " 0 R";
    content_ += "q\n" + clip(item) + number(item.width) + " 0 0 " + number(-item.height) + " " +
                number(item.x) + " " + number(item.y + item.height) + " cm\n" + name + " Do\nQ\n";
  }

  /// The file; `points` are those of a pixel.
  std::string whole(const Drawing& drawing, double points) {
    const std::string width = number(drawing.width * points), height = number(drawing.height * points);
    std::string shares, title;
    for (const auto& [share, entry] : shares_) shares += entry;
    for (std::string_view rest = drawing.title; !rest.empty();) {
      const int length = base::utf8Length(rest);
      const char32_t c = length > 0 ? base::utf8Decode(rest) : U'?';
      char digits[12];
      if (c < 0x10000) std::snprintf(digits, sizeof digits, "%04X", static_cast<unsigned>(c));
      else
        std::snprintf(digits, sizeof digits, "%04X%04X", static_cast<unsigned>(0xD7C0 + (c >> 10)),
                      static_cast<unsigned>(0xDC00 + (c & 0x3FF)));
      title += digits;
      rest.remove_prefix(static_cast<std::size_t>(std::max(length, 1)));
    }
    const int content =
        add("", number(points) + " 0 0 " + number(-points) + " 0 " + height + " cm\n" + content_);
    objects_[0] = "<</Type/Catalog/Pages 2 0 R>>", objects_[1] = "<</Type/Pages/Kids[3 0 R]/Count 1>>";
    objects_[2] = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 " + width + " " + height + "]/Contents " +
                  std::to_string(content) + " 0 R/Resources<</ExtGState<<" + shares + ">>/XObject<<" +
                  images_ + ">>>>>>";
    objects_[3] = "<</Title<FEFF" + title + ">/Producer(attn " AP_VERSION ")>>";
    std::string out = "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", table;
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      char entry[32];
      std::snprintf(entry, sizeof entry, "%010zu 00000 n \n", out.size());
      table += entry;
      out += std::to_string(i + 1) + " 0 obj\n" + objects_[i] + "\nendobj\n";
    }
    const std::string count = std::to_string(objects_.size() + 1), start = std::to_string(out.size());
    return out + "xref\n0 " + count + "\n0000000000 65535 f \n" + table + "trailer\n<</Size " + count +
           "/Root 1 0 R/Info 4 0 R>>\nstartxref\n" + start + "\n%%EOF\n";
  }

 private:
  static std::string clip(const Item& item) {
    if (!item.isClipped) return {};
    const auto& c = item.clip;
    return number(c.x) + " " + number(c.y) + " " + number(c.width) + " " + number(c.height) + " re W n\n";
  }
  /// Adds a stream, and gives its number.
  int add(const std::string& about, const std::string& bytes) {
    const std::string packed = toZlib(bytes);
    objects_.push_back("<<" + about + "/Filter/FlateDecode/Length " + std::to_string(packed.size()) +
                       ">>\nstream\n" + packed + "\nendstream");
    return static_cast<int>(objects_.size());
  }

  std::string content_, images_;
  std::map<std::string, std::string> shares_;
  std::vector<std::string> objects_{4};  ///< catalogue, pages, page and title are known last
};

}  // namespace

std::string paint(const Drawing& drawing, double scale) {
  const double width = std::round(drawing.width * scale), height = std::round(drawing.height * scale);
  if (width < 1 || height < 1 || width * height > kMostPixels) return {};
  Pixels pixels(static_cast<int>(width), static_cast<int>(height), scale);
  draw(drawing, pixels);
  return files::toPng(pixels.all, static_cast<int>(width));
}

// Text is always shapes.
std::string toPdf(const Drawing& drawing, double scale, bool) {
  Pdf pdf;
  draw(drawing, pdf);
  return pdf.whole(drawing, 0.75 * scale);
}

std::string toOutlinedSvg(const Drawing& drawing, double scale) {
  const Letters letters;
  std::string text = files::toSvg(drawing, scale);
  std::string out;
  std::size_t at = 0;
  for (const Item& item : drawing.items) {
    if (item.kind != Item::Kind::text) continue;
    const std::size_t begin = text.find("<text ", at), end = text.find("</text>\n", begin) + 8;
    const std::string_view attributes = std::string_view(text).substr(begin, end - begin);
    out += text.substr(at, begin - at) + "<path d=\"" + steps(letters.of(item), "MLCZ", true) + "\"";
    for (const std::string_view name : {" fill=\"", " fill-opacity=\"", " clip-path=\""})
      if (const std::size_t found = attributes.find(name); found != std::string_view::npos)
        out += attributes.substr(found, attributes.find('"', found + name.size()) + 1 - found);
    out += "/>\n", at = end;
  }
  return out + text.substr(at);
}

std::unique_ptr<draw::Rasteriser> systemText() { return std::make_unique<draw::Rasteriser>(); }

}  // namespace cli
