#include "shell/shell.h"

#include <imgui.h>
#include <imgui_impl_opengl3.h>
#include <imgui_internal.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <utility>

#include "app/app.h"
#include "base/hash.h"
#include "draw/gl.h"
#include "fonts.h"

namespace shell {
namespace {

constexpr float kNoTime = 1e-4f;  // Dear ImGui requires that some time passes between two frames

// For the smallest numbers.
constexpr ImWchar kDigits[] = {0x2B, 0x39, 0x65, 0x65, 0x2212, 0x2212, 0x221E, 0x221E, 0};
// Everything that the fonts have; the fonts for numbers have fewer. What a font lacks is drawn by the
// platform.
constexpr ImWchar kAllGlyphs[] = {0x20,   0x7E,   0xA0,   0xFF,   0x391,  0x3C9,  0x1D40,
                                  0x1D40, 0x2013, 0x2026, 0x2070, 0x2089, 0x2190, 0x21BA,
                                  0x2202, 0x2265, 0x2713, 0x2715, 0x27F6, 0x27F6, 0};

/// Reads big-endian numbers from an OpenType file; 0 outside of it.
class OpenType {
 public:
  explicit OpenType(std::span<const unsigned char> bytes) : bytes_(bytes) {}

  /// Line height (ascent minus descent) in units of the em size.
  float linePerEm() const {
    const std::size_t hhea = table("hhea");
    return static_cast<float>(number(hhea + 4) - number(hhea + 6)) / em();
  }
  /// The advance width of a monospaced font, in ems.
  float advancePerEm() const { return static_cast<float>(number(table("hmtx"))) / em(); }

 private:
  float em() const { return std::max(1.0f, static_cast<float>(number(table("head") + 18))); }
  int number(std::size_t at) const {
    if (at + 2 > bytes_.size()) return 0;
    return static_cast<std::int16_t>((bytes_[at] << 8) | bytes_[at + 1]);
  }
  std::size_t table(std::string_view tag) const {
    const int count = number(4);
    for (int i = 0; i < count; ++i) {
      const std::size_t entry = 12 + 16 * static_cast<std::size_t>(i);
      if (entry + 16 > bytes_.size()) break;
      if (std::equal(tag.begin(), tag.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(entry)))
        return (static_cast<std::size_t>(static_cast<std::uint16_t>(number(entry + 8))) << 16) |
               static_cast<std::uint16_t>(number(entry + 10));
    }
    return bytes_.size();
  }

  std::span<const unsigned char> bytes_;
};

/// Adds fonts to an atlas; sizes are ems in logical pixels.
struct FaceSet {
  ImFontAtlas& atlas;
  float scale;
  const ImWchar* glyphs = kAllGlyphs;

  /// Glyphs are placed at fractional pixels, so they are rasterised at twice the horizontal resolution.
  ImFont* words(std::span<const unsigned char> bytes, float size) const {
    ImFontConfig config;
    config.OversampleH = 2;
    return add(bytes, size, config);
  }
  /// With an advance of whole pixels, the same at every pixel ratio, so that digits are equally sharp
  /// everywhere.
  ImFont* numbers(std::span<const unsigned char> bytes, float size) const {
    ImFontConfig config;
    config.OversampleH = 1;
    config.PixelSnapH = true;
    config.GlyphMinAdvanceX = config.GlyphMaxAdvanceX =
        std::round(size * OpenType(bytes).advancePerEm()) * scale;
    return add(bytes, size, config);
  }

 private:
  ImFont* add(std::span<const unsigned char> bytes, float size, ImFontConfig config) const {
    config.FontDataOwnedByAtlas = false;
    config.OversampleV = 1;
    config.GlyphRanges = glyphs;
    // Dear ImGui takes a writable pointer, but writes only if it owns the data. It truncates fractional line
    // heights, hence the rounding.
    void* data = const_cast<unsigned char*>(bytes.data());
    const float lineHeight = std::round(size * scale * OpenType(bytes).linePerEm());
    return atlas.AddFontFromMemoryTTF(data, static_cast<int>(bytes.size()), lineHeight, &config);
  }
};

/// Moves glyphs vertically to whole pixels. Dear ImGui places text at whole logical pixels, which at a ratio
/// like 1.5 is between two framebuffer pixels on every other line.
void sharpenText(ImDrawData& data, float scale) {
  const float texHeight = static_cast<float>(ImGui::GetIO().Fonts->TexHeight);
  for (ImDrawList* list : data.CmdLists) {
    ImVector<ImDrawVert>& v = list->VtxBuffer;
    for (int i = 0; i + 3 < v.Size; ++i) {
      const float texels = (v[i + 2].uv.y - v[i].uv.y) * texHeight,
                  pixels = (v[i + 2].pos.y - v[i].pos.y) * scale;
      const bool glyph = texels > 0.5f && std::abs(texels - pixels) < 0.05f && v[i].pos.y == v[i + 1].pos.y &&
                         v[i + 2].pos.y == v[i + 3].pos.y && v[i].uv.y == v[i + 1].uv.y;
      if (!glyph) continue;
      const float top = v[i].pos.y * scale;
      const float shift =
          (std::floor(top + 0.501f) - top) / scale;  // rounds ties consistently, despite rounding errors
      for (int k = 0; k < 4; ++k) v[i + k].pos.y += shift;
      i += 3;
    }
  }
}

/// The least number ≥ `scale` for which the renderer, which truncates, computes the framebuffer's size from
/// `logical`.
float exactScale(float logical, int framebuffer, float scale) {
  while (static_cast<int>(logical * scale) < framebuffer) scale = std::nextafter(scale, 1e9f);
  return scale;
}

}  // namespace

void addFonts(ImGuiIO& io, views::Fonts& fonts, float scale) {
  ImFontAtlas& atlas = *io.Fonts;
  atlas.Clear();
  const FaceSet add{atlas, scale};
  fonts.text = add.words(fonts::inter_regular, 13.5f);
  fonts.small = add.words(fonts::inter_regular, 12);
  fonts.strong = add.words(fonts::inter_semibold, 13.5f);
  fonts.smallStrong = add.words(fonts::inter_semibold, 11);
  fonts.title = add.words(fonts::inter_semibold, 16);
  fonts.tiny = add.words(fonts::inter_regular, 10);
  fonts.tinyStrong = add.words(fonts::inter_semibold, 9.5f);
  fonts.mono = add.numbers(fonts::jetbrainsmono_regular, 13);
  fonts.monoSmall = add.numbers(fonts::jetbrainsmono_regular, 11);
  fonts.monoTiny = FaceSet{atlas, scale, kDigits}.numbers(fonts::jetbrainsmono_regular, 10);
  io.FontGlobalScale = 1 / scale;
}

Stage::Stage(draw::Rasteriser& rasteriser) : context_(ImGui::CreateContext()), lines_(rasteriser) {
  fonts_.lines = &lines_;
  ImGuiIO& io = this->io();
  io.IniFilename = io.LogFilename = nullptr;
  io.UserData = &fonts_;
  io.ConfigWindowsMoveFromTitleBarOnly = true;
  io.KeyRepeatDelay = 0.4f, io.KeyRepeatRate = 0.06f;  // also for buttons
}

Stage::~Stage() {
  ImGui::SetCurrentContext(context_);
  if (started_) ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext(context_);
}

ImGuiIO& Stage::io() {
  ImGui::SetCurrentContext(context_);
  return ImGui::GetIO();
}

std::string Stage::start(const char* glslVersion) {
  ImGui::SetCurrentContext(context_);
  if (!started_) started_ = ImGui_ImplOpenGL3_Init(glslVersion);
  lines_.start();
  return heatmaps_.start(glslVersion);
}

void Stage::contextLost() {
  ImGui::SetCurrentContext(context_);
  ImGui_ImplOpenGL3_DestroyDeviceObjects();  // a lost context ignores the deletions; the next frame creates
                                             // everything again
  heatmaps_.contextLost();
  lines_.contextLost();
  drawn_ = 0;
}

void Stage::resize(int framebufferWidth, int framebufferHeight, float scale) {
  const bool isSame = width_ == framebufferWidth && height_ == framebufferHeight && scale_ == scale;
  width_ = framebufferWidth, height_ = framebufferHeight, scale_ = scale;
  if (!isSame) drawn_ = 0;  // a new size clears the framebuffer
}

bool Stage::inputIsWaiting() { return io().Ctx->InputEventsQueue.Size > 0; }

void Stage::setFace(bool isOwn) {
  fonts_.ownFace = isOwn;
  lines_.forget();
}

void Stage::setWords(std::string_view table) {
  words_ = table.empty() ? nullptr : std::make_unique<views::Words>(table);
  fonts_.words = words_.get();
}

void Stage::refreshFonts() {
  const float scale = scale_ * zoom_;
  if (builtScale_ == scale) return;
  builtScale_ = scale;
  ImGuiIO& io = ImGui::GetIO();
  addFonts(io, fonts_, scale);
  glyphs_.begin(*io.Fonts, scale);
  uploadFonts();
  ImGuiStyle& style = ImGui::GetStyle();
  const ImGuiStyle standard;
  style.CurveTessellationTol = standard.CurveTessellationTol / scale;
  style.CircleTessellationMaxError = standard.CircleTessellationMaxError / scale;
}

void Stage::uploadFonts() {
  ImGui_ImplOpenGL3_DestroyFontsTexture();
  ImGui_ImplOpenGL3_CreateFontsTexture();
  drawn_ = 0;
}

void Stage::begin(app::App& app, float seconds) {
  ImGuiIO& io = this->io();
  zoom_ = app.zoomFor(static_cast<float>(width_) / scale_, static_cast<float>(height_) / scale_);
  const float scale =
      scale_ * zoom_;  // magnification by more pixels per length, so that everything stays sharp
  const float width = static_cast<float>(width_) / scale, height = static_cast<float>(height_) / scale;
  io.DisplaySize = {width, height};
  io.DisplayFramebufferScale = {scale, scale};
  io.DeltaTime = seconds;
  refreshFonts();
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  heatmaps_.newFrame(width, height, scale);
  lines_.newFrame(scale);
}

void Stage::compose(app::App& app, float seconds) {
  for (begin(app, seconds); !app.frame(); begin(app, kNoTime)) ImGui::EndFrame();
  ImGui::EndFrame();
}

void Stage::build(app::App& app, float seconds) {
  compose(app, seconds);
  app.carryOut();
}

// Takes no time, and is not counted as a frame.
void Stage::note(app::App& app, views::Mirror& mirror) {
  fonts_.mirror = &mirror;
  compose(app, kNoTime);
  fonts_.mirror = nullptr;
}

std::uint64_t Stage::fingerprint(const ImDrawData& data, ImU32 background) const {
  base::Hash hash;
  for (const std::uint64_t number : {heatmaps_.fingerprint(), std::uint64_t{background}}) hash.add(number);
  for (const float size : {data.DisplaySize.x, data.DisplaySize.y, scale_, zoom_})
    hash.add(std::bit_cast<std::uint32_t>(size));
  for (const ImDrawList* list : data.CmdLists) {
    hash.add(list->VtxBuffer.Data, list->VtxBuffer.size_in_bytes());
    hash.add(list->IdxBuffer.Data, list->IdxBuffer.size_in_bytes());
    for (const ImDrawCmd& command : list->CmdBuffer) {
      hash.add(&command.ClipRect, sizeof command.ClipRect);
      for (const std::uint64_t number : {std::uint64_t{command.ElemCount}, std::uint64_t{command.IdxOffset},
                                         reinterpret_cast<std::uint64_t>(command.TextureId),
                                         reinterpret_cast<std::uint64_t>(command.UserCallback)})
        hash.add(number);
    }
  }
  return std::max<std::uint64_t>(hash.value(), 1);
}

ImDrawData* Stage::prepare(app::App& app, float seconds, bool isKept) {
  compose(app, seconds);
  ImGui::Render();
  while (glyphs_.make(*ImGui::GetDrawData())) {
    uploadFonts();
    compose(app, kNoTime);
    ImGui::Render();
  }
  ImDrawData& data = *ImGui::GetDrawData();
  vertices_ = data.TotalVtxCount;
  const float scale = scale_ * zoom_;
  if (scale != std::round(scale)) sharpenText(data, scale);
  const bool isNew = lines_.upload();
  const std::uint64_t before = std::exchange(drawn_, fingerprint(data, app.palette().background));
  isAnew_ = isNew || before == 0;
  data.FramebufferScale = {exactScale(data.DisplaySize.x, width_, scale),
                           exactScale(data.DisplaySize.y, height_, scale)};
  if (!isKept || isNew || before != drawn_) return &data;
  app.carryOut();
  return nullptr;
}

bool Stage::draw(app::App& app, float seconds, bool isKept) {
  ImDrawData* const data = prepare(app, seconds, isKept);
  if (data == nullptr) return false;
  glViewport(0, 0, width_, height_);
  glDisable(GL_SCISSOR_TEST);
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(app.palette().background);
  glClearColor(color.x, color.y, color.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(data);
  app.carryOut();
  return true;
}

}  // namespace shell
