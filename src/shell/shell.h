// What desktop and browser share: Dear ImGui's context, the fonts for a pixel ratio, and drawing a frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "draw/glyphs.h"
#include "draw/heatmap.h"
#include "draw/lines.h"
#include "views/theme.h"
#include "views/words.h"

struct ImGuiContext;
struct ImDrawData;
struct ImGuiIO;

namespace app {
class App;
}

namespace shell {

/// Adds the fonts of `fonts` to io.Fonts, in place of those that it has, at logical size × `scale`, and sets
/// io.FontGlobalScale to 1/scale, so that layout uses logical pixels. draw::Glyphs must build the atlas
/// afterwards (Stage does).
void addFonts(ImGuiIO& io, views::Fonts& fonts, float scale);

/// Everything between input and pixels. One object per canvas or window; its OpenGL context must be current
/// in every call except the constructor. Several can exist in one process: each call selects its own ImGui
/// context.
class Stage {
 public:
  /// `rasteriser` draws text that the built-in fonts cannot show, and must outlive the stage.
  explicit Stage(draw::Rasteriser& rasteriser);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Creates shaders and textures. `glslVersion` is "#version 300 es" or "#version 330 core". Returns "", or
  /// the driver's message if it fails. Also to be called with a new context after contextLost().
  std::string start(const char* glslVersion);
  /// To be called when the context was lost: drops its objects without freeing them.
  void contextLost();

  /// Selects this stage's ImGui context and returns its IO object. io.UserData points to fonts(), where
  /// panels find them.
  ImGuiIO& io();
  draw::Heatmaps& heatmaps() { return heatmaps_; }
  const views::Fonts& fonts() const { return fonts_; }
  /// In the last frame that was drawn.
  int vertices() const { return vertices_; }
  /// The magnification that the application wants: its lengths are those of the window divided by this.
  float zoom() const { return zoom_; }

  /// Sets the framebuffer's size in physical pixels, and the number of these per logical pixel, for the next
  /// frames. A new scale rebuilds the fonts, so it should only be set once it has settled.
  void resize(int framebufferWidth, int framebufferHeight, float scale);

  /// Is there input that no frame has processed yet? Dear ImGui distributes a press and its release over two
  /// frames.
  bool inputIsWaiting();
  /// To be called when the platform's fonts have changed. `isOwn`: it draws all text except numbers, in place
  /// of the built-in fonts.
  void setFace(bool isOwn);

  /// Sets the translation of the interface from the next frame on: a table in the format of views::Words;
  /// empty for English.
  void setWords(std::string_view table);

  /// Lets `app` build a frame without drawing it, for input that must have its effect immediately.
  void build(app::App& app, float seconds);
  /// The same, and records what would be drawn in `mirror`.
  void note(app::App& app, views::Mirror& mirror);
  /// One frame: lets `app` build it, clears to the theme's background, and draws into the bound framebuffer.
  /// `seconds` is the time since the last frame. `isKept`: the last frame is still shown, so if this one
  /// would look the same, it is not drawn, and the result is false.
  bool draw(app::App& app, float seconds, bool isKept = false);
  /// The first half of draw(): returns what to draw, or null if nothing has changed. The caller must draw it,
  /// and then call app.carryOut().
  ImDrawData* prepare(app::App& app, float seconds, bool isKept);
  /// Must everything returned by prepare() be drawn, because glyphs or the size have changed?
  bool isAnew() const { return isAnew_; }

 private:
  void begin(app::App& app, float seconds);
  /// Builds a frame, repeatedly while its input changes what has been built.
  void compose(app::App& app, float seconds);
  void refreshFonts();
  void uploadFonts();
  /// A hash of everything that determines the pixels.
  std::uint64_t fingerprint(const ImDrawData& data, ImU32 background) const;

  ImGuiContext* context_ = nullptr;
  views::Fonts fonts_;
  draw::Glyphs glyphs_;
  draw::Heatmaps heatmaps_;
  draw::Lines lines_;
  std::unique_ptr<views::Words> words_;
  int width_ = 0, height_ = 0;  ///< of the framebuffer
  int vertices_ = 0;
  float scale_ = 1, zoom_ = 1, builtScale_ = 0;
  bool started_ = false, isAnew_ = true;
  std::uint64_t drawn_ = 0;  ///< the fingerprint of the shown frame; 0: none
};

}  // namespace shell
