#include "app/board_figure.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/app.h"
#include "draw/recorded.h"

namespace app {
namespace {

using files::Drawing;
using files::Rgb;
using Item = Drawing::Item;

constexpr float kWidth = 1180, kLeastWidth = 390, kLeastHeight = 640, kMostHeight = 20'000;
constexpr double kMargin = 20;
constexpr int kMostFrames = 12, kMostShapes = 40'000;
constexpr std::string_view kHidden = "header,panel,guide,stepper,arcs,plane,values,changes,inspector";

/// A host without a platform, on which nothing has an effect.
class HeadlessHost final : public Host {
 public:
  explicit HeadlessHost(draw::Rasteriser& rasteriser) : rasteriser_(rasteriser) {}
  void requestFrame() override {}
  void beginText(const TextField&) override {}
  void dropText() override {}
  bool pickFile() override { return false; }
  base::Result<base::Message> saveFile(std::string_view, std::string_view, bool) override {
    return base::Message();
  }
  void toggleFullscreen() override {}
  void copyToClipboard(std::string_view) override {}
  bool prefersDark() const override { return false; }
  bool prefersStillness() const override { return true; }
  bool isTouch() const override { return false; }
  void emit(const Event&) override {}
  float measure(std::string_view text, draw::Face face) override { return rasteriser_.measure(text, face); }

 private:
  draw::Rasteriser& rasteriser_;
};

Rgb colorOf(ImU32 c) {
  const auto part = [c](int shift) { return static_cast<double>(c >> shift & 255u); };
  return {{part(IM_COL32_R_SHIFT), part(IM_COL32_G_SHIFT), part(IM_COL32_B_SHIFT)}};
}
Rgb colorOf(const draw::Color& c) {
  return {{static_cast<double>(c.r) * 255, static_cast<double>(c.g) * 255, static_cast<double>(c.b) * 255}};
}
Drawing::Paint paintOf(ImU32 c) {
  return {colorOf(c), static_cast<double>(c >> IM_COL32_A_SHIFT & 255u) / 255};
}
double wide(float value) { return static_cast<double>(value); }

/// Converts everything that a frame drew to a drawing.
class Sheet final : public draw::Recorder {
 public:
  Sheet(Drawing& out, const Faces& faces, ImVec2 size) : out_(out), faces_(faces), size_(size) {}

  void words(const Words& w, const ImVec4& clip) override {
    if (w.x > clip.z || w.x + w.width < clip.x || w.baseline - w.size > clip.w || w.baseline < clip.y) return;
    Item& item = out_.text(wide(w.x), wide(w.baseline), w.text, wide(emOf(w)), colorOf(w.color));
    item.fill = paintOf(w.color), item.angle = wide(w.angle), item.width = wide(w.width);
    item.isMono = w.font && isMono(w.font), item.isBold = w.font ? isBold(w.font) : w.face.weight > 500;
    const double right = item.x + item.width, up = w.angle == 0 ? item.size : item.width;
    clipped(item, clip, item.x, item.y - up, right, item.y + item.size / 3);
  }

  void stroke(const std::vector<ImVec2>& points, bool isClosed, float width, ImU32 color,
              const ImVec4& clip) override {
    Item& item = out_.add(Item::Kind::path);
    item.points = numbers(points), item.isClosed = isClosed, item.line = paintOf(color),
    item.stroke = wide(width);
    keep(points, width, clip);
  }

  void rect(ImVec2 from, ImVec2 to, ImU32 color, const ImVec4& clip) override {
    if (from.x <= 0 && from.y <= 0 && to.x >= size_.x && to.y >= size_.y) return;  // the background
    Item& item = out_.add(Item::Kind::rect);
    item.x = wide(from.x), item.y = wide(from.y), item.width = wide(to.x - from.x),
    item.height = wide(to.y - from.y), item.fill = paintOf(color);
    keep({from, to}, 0, clip);
  }

  void polygon(const std::vector<ImVec2>& points, ImU32 color, const ImVec4& clip) override {
    Item& item = out_.add(Item::Kind::path);
    item.points = numbers(points), item.isClosed = true, item.fill = paintOf(color);
    keep(points, 0, clip);
  }

  void heatmap(const draw::Values& values, const draw::Heatmap& map, const ImVec4& clip) override {
    const int rows = map.transposed ? values.cols : values.rows,
              cols = map.transposed ? values.rows : values.cols;
    if (map.cell < 3 || static_cast<std::int64_t>(rows) * cols > kMostShapes)
      return image(values, map, rows, cols, clip);
    const float gap = map.cell < 6 ? 0 : map.gap;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        const ImVec2 from{map.x + static_cast<float>(j) * map.cell + gap / 2,
                          map.y + static_cast<float>(i) * map.cell + gap / 2},
            to{from.x + map.cell - gap, from.y + map.cell - gap};
        if (from.x > clip.z || to.x < clip.x || from.y > clip.w || to.y < clip.y) continue;
        cell(at(values, map, i, j), peak(values, map, i, j), map, from, to, clip);
      }
  }

 private:
  static float at(const draw::Values& values, const draw::Heatmap& map, int i, int j) {
    return values.row(map.transposed ? j : i)[map.transposed ? i : j];
  }
  static float peak(const draw::Values& values, const draw::Heatmap& map, int i, int j) {
    return values.rowPeaks ? values.rowPeaks[map.transposed ? j : i] : 1;
  }
  static bool isMasked(float value) { return value < -std::numeric_limits<float>::max(); }

  void cell(float value, float peak, const draw::Heatmap& map, ImVec2 from, ImVec2 to, const ImVec4& clip) {
    Item& item = out_.add(Item::Kind::rect);
    item.x = wide(from.x), item.y = wide(from.y), item.width = wide(to.x - from.x),
    item.height = wide(to.y - from.y), item.radius = map.cell < 6 ? 0 : wide(map.radius);
    const draw::Color color =
        isMasked(value) ? map.masked_fill : draw::at(map.map, draw::fraction(map, value, peak));
    item.fill = {colorOf(color), wide(color.a * map.opacity)};
    const Item box = item;
    keep({from, to}, 0, clip);
    if (!isMasked(value) || map.cell < 6) return;
    Item& border = out_.add(Item::Kind::rect);
    border = box, border.fill = {}, border.line = {colorOf(map.masked), wide(map.masked.a * map.opacity)},
    border.stroke = 1, border.isDashed = true;
    border.x += 0.5, border.y += 0.5, border.width -= 1, border.height -= 1;
    keep({from, to}, 0, clip);
  }

  void image(const draw::Values& values, const draw::Heatmap& map, int rows, int cols, const ImVec4& clip) {
    Item& item = out_.add(Item::Kind::image);
    item.columns = cols;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        const float value = at(values, map, i, j);
        const draw::Color color =
            isMasked(value) ? map.masked_fill
                            : draw::at(map.map, draw::fraction(map, value, peak(values, map, i, j)));
        item.pixels.push_back(IM_COL32(color.r * 255 + 0.5f, color.g * 255 + 0.5f, color.b * 255 + 0.5f,
                                       color.a * map.opacity * 255 + 0.5f));
      }
    item.x = wide(map.x), item.y = wide(map.y), item.width = wide(map.cell) * cols,
    item.height = wide(map.cell) * rows;
    keep({{map.x, map.y},
          {map.x + map.cell * static_cast<float>(cols), map.y + map.cell * static_cast<float>(rows)}},
         0, clip);
  }

  static std::vector<double> numbers(const std::vector<ImVec2>& points) {
    std::vector<double> out;
    for (const ImVec2& p : points) out.push_back(wide(p.x)), out.push_back(wide(p.y));
    return out;
  }

  void keep(const std::vector<ImVec2>& points, float grow, const ImVec4& clip) {
    ImVec2 least = points[0], most = points[0];
    for (const ImVec2& p : points)
      least = {std::min(least.x, p.x), std::min(least.y, p.y)},
      most = {std::max(most.x, p.x), std::max(most.y, p.y)};
    const double g = wide(grow) / 2;
    clipped(out_.items.back(), clip, wide(least.x) - g, wide(least.y) - g, wide(most.x) + g,
            wide(most.y) + g);
  }

  /// Removes an item that is outside its clip rectangle, and clips one that crosses it.
  void clipped(Item& item, const ImVec4& clip, double left, double top, double right, double bottom) {
    if (right <= wide(clip.x) || left >= wide(clip.z) || bottom <= wide(clip.y) || top >= wide(clip.w)) {
      out_.items.pop_back();
      return;
    }
    constexpr double kNear = 0.6;
    item.isClipped = left < wide(clip.x) - kNear || right > wide(clip.z) + kNear ||
                     top < wide(clip.y) - kNear || bottom > wide(clip.w) + kNear;
    if (item.isClipped)
      item.clip = {wide(clip.x), wide(clip.y), wide(clip.z - clip.x), wide(clip.w - clip.y)};
    left_ = std::min(left_, std::max(left, wide(clip.x))), top_ = std::min(top_, std::max(top, wide(clip.y)));
    right_ = std::max(right_, std::min(right, wide(clip.z))),
    bottom_ = std::max(bottom_, std::min(bottom, wide(clip.w)));
  }

  float emOf(const Words& w) const {
    if (!w.font) return w.face.size;
    const views::Fonts& f = faces_.fonts;
    const std::pair<const ImFont*, float> ems[] = {
        {f.text, 13.5f},      {f.small, 12.0f},   {f.strong, 13.5f},    {f.smallStrong, 11.0f},
        {f.title, 16.0f},     {f.tiny, 10.0f},    {f.tinyStrong, 9.5f}, {f.mono, 13.0f},
        {f.monoSmall, 11.0f}, {f.monoTiny, 10.0f}};
    for (const auto& [font, em] : ems)
      if (font == w.font) return em * w.size * faces_.scale / font->FontSize;
    return w.size / 1.21f;
  }
  bool isMono(const ImFont* font) const {
    return font == faces_.fonts.mono || font == faces_.fonts.monoSmall || font == faces_.fonts.monoTiny;
  }
  bool isBold(const ImFont* font) const {
    return font == faces_.fonts.strong || font == faces_.fonts.smallStrong || font == faces_.fonts.title ||
           font == faces_.fonts.tinyStrong;
  }

 public:
  /// Crops the drawing to its content.
  void trim() {
    if (right_ < left_) return;
    const double dx = kMargin - left_, dy = kMargin - top_;
    for (Item& item : out_.items) {
      item.x += dx, item.y += dy, item.clip.x += dx, item.clip.y += dy;
      for (std::size_t i = 0; i < item.points.size(); ++i) item.points[i] += i % 2 == 0 ? dx : dy;
    }
    out_.width = std::ceil(right_ - left_ + 2 * kMargin),
    out_.height = std::ceil(bottom_ - top_ + 2 * kMargin);
  }

 private:
  Drawing& out_;
  const Faces& faces_;
  ImVec2 size_;
  double left_ = 1e9, top_ = 1e9, right_ = -1e9, bottom_ = -1e9;
};

/// A Dear ImGui context for one drawing; restores the previous one when it is destroyed.
class Context {
 public:
  Context(const Faces& faces, views::Fonts& fonts)
      : before_(ImGui::GetCurrentContext()),
        own_(ImGui::CreateContext(&faces.atlas)) {
    ImGui::SetCurrentContext(own_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = io.LogFilename = nullptr;
    io.UserData = &fonts, io.FontGlobalScale = 1 / faces.scale, io.DeltaTime = 1;
    ImGuiStyle& style = ImGui::GetStyle();
    style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
    style.CurveTessellationTol /= 4, style.CircleTessellationMaxError /= 4;
  }
  ~Context() {
    ImGui::DestroyContext(own_);
    ImGui::SetCurrentContext(before_);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

 private:
  ImGuiContext *before_, *own_;
};

/// How wide the window is: of a figure whose width is given, so that its smallest letters have 5 points in
/// it.
float windowFor(const files::FigureOptions& options) {
  constexpr double kSmallest = 9.5, kLegible = 5 / 0.75;  // in pixels
  if (!(options.width > 0)) return kWidth;
  return std::clamp(static_cast<float>(options.width * kSmallest / kLegible - 2 * kMargin), kLeastWidth,
                    kWidth);
}

/// Builds frames until the board has settled, in a window of the height that it needs.
void settle(App& app, draw::Heatmaps& heatmaps, draw::Lines& lines, std::vector<draw::Lines::Drawn>& drawn,
            float width) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {width, kLeastHeight};
  const auto begin = [&] {
    drawn.clear();
    app.zoomFor(io.DisplaySize.x, io.DisplaySize.y);
    ImGui::NewFrame();
    heatmaps.newFrame(io.DisplaySize.x, io.DisplaySize.y, 1);
    lines.newFrame(1);
  };
  for (int frame = 0; frame < kMostFrames; ++frame) {
    for (begin(); !app.frame(); begin()) ImGui::EndFrame();
    ImGui::Render();
    app.carryOut();
    if (app.scrollsAt(io.DisplaySize.x / 2, io.DisplaySize.y / 2, 1) && io.DisplaySize.y < kMostHeight) {
      io.DisplaySize.y = std::ceil(io.DisplaySize.y * 1.3f), frame = 0;
      app.wake();
    } else if (!app.wantsFrame()) {
      break;
    }
  }
}

}  // namespace

base::Result<Drawing> boardFigure(std::string_view stateText, const files::FigureOptions& options,
                                  const Faces& faces) {
  const bool isDark = options.style == files::FigureOptions::Style::dark;
  views::Fonts fonts = faces.fonts;
  HeadlessHost host(faces.rasteriser);
  draw::Heatmaps heatmaps;
  draw::Lines lines(host);
  std::vector<draw::Lines::Drawn> drawn;
  lines.record(drawn);
  fonts.lines = &lines, fonts.mirror = nullptr;
  const Context context(faces, fonts);
  App app(host, heatmaps);
  if (auto ok = app.setState(stateText, false); !ok) return ok;
  for (const auto& [name, value] : {std::pair{"theme", isDark ? "\"dark\"" : "\"light\""},
                                    {"view", "\"layer\""},
                                    {"zoom", "1"},
                                    {"present", "false"},
                                    {"stepper", "0"},
                                    {"gradient", "false"}})
    if (auto ok = app.set(name, value); !ok) return ok;
  app.setEmbed({std::string(kHidden), "all", ""});
  settle(app, heatmaps, lines, drawn, windowFor(options));
  Drawing out;
  out.title = "Attention, step by step";
  const Rgb ground = options.style == files::FigureOptions::Style::print ? Rgb{{255, 255, 255}}
                                                                         : colorOf(app.palette().background);
  out.ground = {ground, options.clear ? 0.0 : 1.0};
  Sheet sheet(out, faces, ImGui::GetIO().DisplaySize);
  draw::readBack(*ImGui::GetDrawData(), faces.atlas, drawn, sheet);
  sheet.trim();
  return out;
}

}  // namespace app
