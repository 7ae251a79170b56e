// What the desktop and the browser share: Dear ImGui's context, the fonts at a pixel ratio, and the drawing of a frame.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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

/// Puts the fonts of `fonts` into io.Fonts, rasterised at logical size × `scale`, and sets io.FontGlobalScale to
/// 1/scale so that layout stays in logical pixels. Whatever was in the atlas is dropped. The renderer's texture has to
/// be made anew afterwards (Stage does). `allGlyphs` false: ASCII and the signs that the panels use, in a third of the
/// time.
void buildFonts(ImGuiIO& io, views::Fonts& fonts, float scale, bool allGlyphs);

/// Everything between input and pixels. One object per canvas or window; its OpenGL context must be current in every
/// call but the constructor. Several can live in one process: each call selects its own ImGui context.
class Stage {
 public:
  /// `rasteriser` draws the text that the built-in faces have no glyphs for. It outlives the stage.
  explicit Stage(draw::Rasteriser& rasteriser);
  ~Stage();
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Makes shaders and textures. `glslVersion` is "#version 300 es" or "#version 330 core".
  /// Returns the driver's message when that fails, else "". Also called after contextLost(), with a new context.
  std::string start(const char* glslVersion);
  /// The context is gone: its names are forgotten, none is freed.
  void contextLost();

  /// Selects this stage's ImGui context and returns its input queue. io.UserData points at fonts(), which is where
  /// panels find them.
  ImGuiIO& io();
  draw::Heatmaps& heatmaps() { return heatmaps_; }
  const views::Fonts& fonts() const { return fonts_; }
  /// In the frame that was drawn last.
  int vertices() const { return vertices_; }
  /// How much larger than usual the application wants to be: lengths inside are those of the window divided by it.
  float zoom() const { return zoom_; }

  /// The framebuffer's size in its own pixels, and how many of them make a logical pixel, from the next frame on.
  /// A new scale makes the fonts anew, so call it only when it has settled.
  void resize(int framebufferWidth, int framebufferHeight, float scale);

  /// Is there input that no frame has seen yet? Dear ImGui takes a press and its release in two frames.
  bool inputIsWaiting();
  /// `text` (UTF-8) is going to be shown: from the next frame on the fonts hold what it needs, as far as the faces do; the
  /// rest is drawn by the platform. Token labels and typed characters are looked after already.
  void needGlyphs(std::string_view text);

  /// The platform draws words with other faces than before. `isOwn`: all words but numbers, in place of the built-in faces.
  void setFace(bool isOwn);

  /// The interface's words from the next frame on: a table as views::Words takes it; empty: English.
  void setWords(std::string_view table);

  /// Lets `app` build one frame and draws nothing: for input that has to have its effect at once.
  void build(app::App& app, float seconds);
  /// The same, and `mirror` takes notes of what would be drawn.
  void note(app::App& app, views::Mirror& mirror);
  /// One frame: lets `app` build it, clears to the theme's background, draws into the framebuffer that is bound.
  /// `seconds` have passed since the last one. `isKept`: what was drawn last is still shown; then a frame that looks the
  /// same is built, but not drawn, and false comes back.
  bool draw(app::App& app, float seconds, bool isKept = false);
  /// The first half of draw(): what there is to draw, for one who draws it and calls app.carryOut() then; or null.
  ImDrawData* prepare(app::App& app, float seconds, bool isKept);
  /// Must all of what prepare() gave be drawn? Glyphs or the size are others.
  bool isAnew() const { return isAnew_; }

 private:
  void begin(app::App& app, float seconds);
  /// Builds a frame, again where its input changed what was built.
  void compose(app::App& app, float seconds);
  void lookForGlyphs(const app::App& app);
  void refreshFonts();
  /// Stands for all that reaches the framebuffer.
  std::uint64_t fingerprint(const ImDrawData& data, ImU32 background) const;

  ImGuiContext* context_ = nullptr;
  views::Fonts fonts_;
  draw::Heatmaps heatmaps_;
  draw::Lines lines_;
  std::unique_ptr<views::Words> words_;
  int width_ = 0, height_ = 0;  ///< of the framebuffer
  int vertices_ = 0;
  float scale_ = 1, zoom_ = 1, builtScale_ = 0;
  bool started_ = false, allGlyphs_ = false, builtAll_ = false, isAnew_ = true;
  std::uint64_t seenRevision_ = 0, drawn_ = 0;  ///< drawn_: the fingerprint of what is shown; 0: of nothing
};

}  // namespace shell
