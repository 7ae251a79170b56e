#include "draw/glyphs.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <imstb_rectpack.h>
#include <imstb_truetype.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

namespace draw {
namespace {

constexpr int kWidth = 512,
              kFirstHeight = 32;  // of the texture at a scale of 1; its height is doubled when it is full
constexpr int kLargest = 4096;    // for both: every driver supports this

/// The characters of a font file that are wanted, and their glyphs.
struct FontFile {
  const void* bytes;
  const ImWchar* ranges;
  stbtt_fontinfo info{};
  std::vector<std::pair<int, int>> glyphs;

  explicit FontFile(const ImFontConfig& config) : bytes(config.FontData), ranges(config.GlyphRanges) {
    const auto* begin = static_cast<const unsigned char*>(bytes);
    if (stbtt_InitFont(&info, begin, stbtt_GetFontOffsetForIndex(begin, config.FontNo)) == 0) return;
    for (const ImWchar* range = ranges; range[0] != 0; range += 2) {
      for (int code = static_cast<int>(range[0]); code <= static_cast<int>(range[1]); ++code) {
        if (const int glyph = stbtt_FindGlyphIndex(&info, code); glyph != 0) glyphs.emplace_back(code, glyph);
      }
    }
  }
  bool isOf(const ImFontConfig& config) const {
    return bytes == config.FontData && ranges == config.GlyphRanges;
  }
};

bool isBlank(int code) { return code == 0x20 || code == 0xA0; }

// A glyph without a picture has texture coordinates that name it: −1 − the number of its font, and −1 − its
// index.
float marked(int index) { return static_cast<float>(-1 - index); }
int indexOf(float mark) { return -1 - static_cast<int>(mark); }
bool isMarked(float u) { return u < 0; }

/// Replaces a glyph of a font. ImFont::AddGlyph() applies the font's configuration, but can only append.
void replace(ImFont& font, int index, const stbtt_aligned_quad& box, float advance) {
  const auto code = static_cast<ImWchar>(font.Glyphs[index].Codepoint);
  font.AddGlyph(font.ConfigData, code, box.x0, box.y0, box.x1, box.y1, box.s0, box.t0, box.s1, box.t1,
                advance);
  font.Glyphs[index] = font.Glyphs.back();
  font.Glyphs.pop_back();
  font.DirtyLookupTables = false;
}

}  // namespace

struct Glyphs::Parts {
  ImFontAtlas* atlas = nullptr;
  std::vector<FontFile> files;
  std::vector<std::size_t> fileOf;  ///< of each font
  stbtt_pack_context room{};        ///< the free parts of the texture
  bool isNew = true;                ///< the texture has been emptied for the present frame

  ~Parts() { leave(); }
  const FontFile& file(int number) const { return files[fileOf[static_cast<std::size_t>(number)]]; }
  void leave();
  void empty();
  void addFont(int number);
  void mark(int number);
  void startOver();
  bool grow(int least);
  bool make(int number, int index);
};

void Glyphs::Parts::leave() {
  if (room.pack_info != nullptr) stbtt_PackEnd(&room);
  room = {};
}

/// Leaves only the white pixels in the texture.
void Glyphs::Parts::empty() {
  leave();
  atlas->ClearTexData();
  atlas->TexHeight = kFirstHeight;
  atlas->TexUvScale = {1 / static_cast<float>(atlas->TexWidth), 1 / static_cast<float>(atlas->TexHeight)};
  const auto size = static_cast<std::size_t>(atlas->TexWidth) * static_cast<std::size_t>(atlas->TexHeight);
  atlas->TexPixelsAlpha8 = static_cast<unsigned char*>(std::memset(IM_ALLOC(size), 0, size));
  stbtt_PackBegin(&room, nullptr, atlas->TexWidth, kLargest, 0, atlas->TexGlyphPadding, nullptr);
  room.pixels = atlas->TexPixelsAlpha8;
  ImFontAtlasBuildPackCustomRects(atlas, room.pack_info);
}

void Glyphs::Parts::addFont(int number) {
  ImFont& font = *atlas->Fonts[number];
  ImFontConfig& config = atlas->ConfigData[number];
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const FontFile& file) { return file.isOf(config); });
  fileOf.push_back(static_cast<std::size_t>(found - files.begin()));
  const FontFile& of = found == files.end() ? files.emplace_back(config) : *found;
  int ascent = 0, descent = 0, gap = 0;
  stbtt_GetFontVMetrics(&of.info, &ascent, &descent, &gap);
  const float scale = stbtt_ScaleForPixelHeight(&of.info, config.SizePixels);
  // Rounded as by ImFontAtlas::Build().
  ImFontAtlasBuildSetupFont(atlas, &font, &config, std::trunc(static_cast<float>(ascent) * scale + 1),
                            std::trunc(static_cast<float>(descent) * scale - 1));
  font.Glyphs.reserve(static_cast<int>(of.glyphs.size()) +
                      2);  // a tab, and the one in replace(): the font points to one of its glyphs
  for (const auto& [code, glyph] : of.glyphs) {
    int advance = 0, bearing = 0;
    stbtt_GetGlyphHMetrics(&of.info, glyph, &advance, &bearing);
    font.AddGlyph(&config, static_cast<ImWchar>(code), 0, 0, 0, 0, 0, 0, 0, 0,
                  scale * static_cast<float>(advance));
  }
  mark(number);
}

/// Makes all glyphs of a font without pictures. Their boxes contain the pictures that they will have, so that
/// none is clipped away.
void Glyphs::Parts::mark(int number) {
  ImFont& font = *atlas->Fonts[number];
  const float margin = font.FontSize / 4;
  for (int i = 0; i < static_cast<int>(file(number).glyphs.size()); ++i) {
    ImFontGlyph& glyph = font.Glyphs[i];
    if (isBlank(static_cast<int>(glyph.Codepoint))) continue;
    glyph.Visible = true;
    glyph.X0 = -margin, glyph.X1 = glyph.AdvanceX + margin;
    glyph.Y0 = 0, glyph.Y1 = font.FontSize;
    glyph.U0 = glyph.U1 = marked(number), glyph.V0 = glyph.V1 = marked(i);
  }
}

/// Makes room for the glyphs that are still drawn: those no longer drawn lose their pictures too.
void Glyphs::Parts::startOver() {
  empty();
  for (int i = 0; i < atlas->Fonts.Size; ++i) mark(i);
  ImFontAtlasBuildFinish(atlas);
  isNew = true;
}

/// Makes the texture at least that high. False if it cannot be.
bool Glyphs::Parts::grow(int least) {
  if (least <= atlas->TexHeight) return true;
  if (least > kLargest) return false;
  const auto before = static_cast<std::size_t>(atlas->TexWidth) * static_cast<std::size_t>(atlas->TexHeight);
  const float ratio =
      static_cast<float>(atlas->TexHeight) / static_cast<float>(std::bit_ceil(static_cast<unsigned>(least)));
  atlas->TexHeight = static_cast<int>(std::bit_ceil(static_cast<unsigned>(least)));
  const auto size = static_cast<std::size_t>(atlas->TexWidth) * static_cast<std::size_t>(atlas->TexHeight);
  auto* pixels = static_cast<unsigned char*>(std::memset(IM_ALLOC(size), 0, size));
  std::memcpy(pixels, atlas->TexPixelsAlpha8, before);
  IM_FREE(std::exchange(atlas->TexPixelsAlpha8, pixels));
  room.pixels = pixels;
  atlas->TexUvScale.y *= ratio, atlas->TexUvWhitePixel.y *= ratio;
  for (ImFont* font : atlas->Fonts) {
    for (ImFontGlyph& glyph : font->Glyphs) {
      if (!isMarked(glyph.U0)) glyph.V0 *= ratio, glyph.V1 *= ratio;
    }
  }
  return true;
}

/// Rasterises a glyph. False if there is no room for it.
bool Glyphs::Parts::make(int number, int index) {
  ImFont& font = *atlas->Fonts[number];
  const ImFontConfig& config = *font.ConfigData;
  const stbtt_fontinfo& info = file(number).info;
  int code = static_cast<int>(font.Glyphs[index].Codepoint);
  stbtt_packedchar packed{};
  stbtt_pack_range range{config.SizePixels, 0, &code, 1, &packed, 0, 0};
  stbrp_rect place{};
  stbtt_PackSetOversampling(&room, static_cast<unsigned>(config.OversampleH),
                            static_cast<unsigned>(config.OversampleV));
  stbtt_PackFontRangesGatherRects(&room, &info, &range, 1, &place);
  stbtt_PackFontRangesPackRects(&room, &place, 1);
  if (place.was_packed == 0 || !grow(place.y + place.h + 1)) return false;
  stbtt_PackFontRangesRenderIntoRects(&room, &info, &range, 1, &place);
  stbtt_aligned_quad box{};
  float x = 0, y = std::round(font.Ascent);
  stbtt_GetPackedQuad(&packed, atlas->TexWidth, atlas->TexHeight, 0, &x, &y, &box, 0);
  replace(font, index, box, packed.xadvance);
  return true;
}

Glyphs::Glyphs() : parts_(std::make_unique<Parts>()) {}
Glyphs::~Glyphs() = default;

void Glyphs::begin(ImFontAtlas& atlas, float scale) {
  parts_ = std::make_unique<Parts>();
  parts_->atlas = &atlas;
  atlas.Flags |= ImFontAtlasFlags_NoMouseCursors | ImFontAtlasFlags_NoBakedLines;
  ImFontAtlasBuildInit(&atlas);
  atlas.TexWidth =
      std::min(kWidth * static_cast<int>(std::bit_ceil(static_cast<unsigned>(std::ceil(scale)))), kLargest);
  parts_->empty();
  for (int i = 0; i < atlas.Fonts.Size; ++i) parts_->addFont(i);
  ImFontAtlasBuildFinish(&atlas);
}

bool Glyphs::make(const ImDrawData& data) {
  ImFontAtlas& atlas = *parts_->atlas;
  bool isAny = false, isFull = false;
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawVert& vertex : list->VtxBuffer) {
      if (!isMarked(vertex.uv.x)) continue;
      const int number = indexOf(vertex.uv.x), index = indexOf(vertex.uv.y);
      ImFont& font = *atlas.Fonts[number];
      if (!isMarked(font.Glyphs[index].U0)) continue;  // made for another vertex
      isAny = true;
      if (parts_->make(number, index)) continue;
      if (parts_->isNew) replace(font, index, {}, font.Glyphs[index].AdvanceX);  // has no room at all
      else isFull = true;
    }
  }
  if (isFull) parts_->startOver();
  else parts_->isNew = false;
  if (isAny) IM_FREE(std::exchange(atlas.TexPixelsRGBA32, nullptr));
  return isAny;
}

}  // namespace draw
