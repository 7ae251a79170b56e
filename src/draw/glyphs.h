// The glyphs of Dear ImGui's fonts, rasterised when a frame first draws them: most of the fonts' glyphs are
// never drawn, and the first frame waits for those that are made before it.
#pragma once

#include <memory>

struct ImDrawData;
struct ImFontAtlas;

namespace draw {

/// Builds a font atlas in place of ImFontAtlas::Build(). All fonts have their measures and advance widths
/// from the beginning, so text can be measured; the pictures of glyphs follow. One object per atlas, which
/// must outlive it.
class Glyphs {
 public:
  Glyphs();
  ~Glyphs();
  Glyphs(const Glyphs&) = delete;
  Glyphs& operator=(const Glyphs&) = delete;

  /// Builds the atlas from the fonts that were added to it, without pictures of glyphs, mouse cursors and
  /// baked lines. `scale` is the number of framebuffer pixels per logical pixel, and determines the width of
  /// the texture. The renderer's texture must be recreated afterwards.
  void begin(ImFontAtlas& atlas, float scale);

  /// Rasterises the glyphs that were drawn without a picture. Returns true if there were any: then the
  /// renderer's texture must be recreated, and the frame built again.
  bool make(const ImDrawData& data);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace draw
