// Glyphs that are rasterised when they are drawn: the same pictures and measures as those of Dear ImGui,
// which rasterises all of them at once.
#include <doctest/doctest.h>
#include <imgui.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "draw/glyphs.h"
#include "fonts.h"

namespace {

constexpr ImWchar kRanges[] = {0x20, 0x7E, 0xA0, 0xFF, 0x2190, 0x2193, 0};

void addFont(ImFontAtlas& atlas, std::span<const unsigned char> bytes, float height, int oversample,
             float advance = 0) {
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.GlyphRanges = kRanges;
  config.OversampleH = oversample, config.OversampleV = 1;
  if (advance > 0) config.PixelSnapH = true, config.GlyphMinAdvanceX = config.GlyphMaxAdvanceX = advance;
  atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()), height,
                             &config);
}

void addFonts(ImFontAtlas& atlas) {
  addFont(atlas, fonts::inter_regular, 16, 2);
  addFont(atlas, fonts::inter_semibold, 33, 2);
  addFont(atlas, fonts::jetbrainsmono_regular, 17, 1, 8);
}

/// A screen that draws text with an atlas of Glyphs.
class Screen {
 public:
  template <class Add>
  explicit Screen(Add add) : context_(ImGui::CreateContext()) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {20000, 10000};
    add(*io.Fonts);
    glyphs_.begin(*io.Fonts, 1);
    io.Fonts->SetTexID(nullptr);
  }
  ~Screen() { ImGui::DestroyContext(context_); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  ImFontAtlas& atlas() { return *ImGui::GetIO().Fonts; }
  /// Draws a frame with a text in a font; true if it has to be built again.
  bool frame(int font, const std::string& text) {
    ImGui::NewFrame();
    const ImFont* face = atlas().Fonts[font];
    ImGui::GetForegroundDrawList()->AddText(face, face->FontSize, {10, 10}, IM_COL32_WHITE, text.c_str());
    ImGui::Render();
    return glyphs_.make(*ImGui::GetDrawData());
  }
  /// The same until every glyph has its picture; returns the number of frames.
  int draw(int font, const std::string& text) {
    constexpr int kMost = 10;
    int frames = 1;
    while (frame(font, text) && frames < kMost) ++frames;
    return frames;
  }

 private:
  ImGuiContext* context_;
  draw::Glyphs glyphs_;
};

std::string allOf(const ImFont& font) {
  std::string text;
  for (const ImFontGlyph& glyph : font.Glyphs) {
    const unsigned c = glyph.Codepoint;
    if (c == '\t') continue;
    if (c < 0x80) text += static_cast<char>(c);
    else if (c < 0x800) text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    else
      text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
               static_cast<char>(0x80 | (c & 0x3F))};
  }
  return text;
}

/// The pixels of a glyph, line by line.
std::vector<int> picture(const ImFontAtlas& atlas, const ImFontGlyph& glyph) {
  const auto at = [](float uv, int size) {
    return static_cast<int>(std::lround(uv * static_cast<float>(size)));
  };
  std::vector<int> pixels;
  for (int y = at(glyph.V0, atlas.TexHeight); y < at(glyph.V1, atlas.TexHeight); ++y) {
    for (int x = at(glyph.U0, atlas.TexWidth); x < at(glyph.U1, atlas.TexWidth); ++x)
      pixels.push_back(atlas.TexPixelsAlpha8[y * atlas.TexWidth + x]);
  }
  return pixels;
}

/// Do the characters of a text look as in an atlas that Dear ImGui has built?
void compare(Screen& screen, const ImFontAtlas& whole, int font, const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    unsigned c = static_cast<unsigned char>(text[i]);
    const int length = c < 0x80 ? 1 : c < 0xE0 ? 2 : 3;
    if (length > 1) c &= length == 2 ? 0x1Fu : 0x0Fu;
    for (int k = 1; k < length; ++k)
      c = c << 6 | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 0x3Fu);
    i += static_cast<std::size_t>(length);
    const ImFontGlyph* made = screen.atlas().Fonts[font]->FindGlyphNoFallback(static_cast<ImWchar>(c));
    const ImFontGlyph* wanted = whole.Fonts[font]->FindGlyphNoFallback(static_cast<ImWchar>(c));
    REQUIRE(made != nullptr);
    REQUIRE(wanted != nullptr);
    CAPTURE(c);
    CHECK(made->Visible == wanted->Visible);
    CHECK(made->AdvanceX == wanted->AdvanceX);
    if (wanted->Visible == 0) continue;
    CHECK(std::vector{made->X0, made->Y0, made->X1, made->Y1} ==
          std::vector{wanted->X0, wanted->Y0, wanted->X1, wanted->Y1});
    CHECK(picture(screen.atlas(), *made) == picture(whole, *wanted));
  }
}

}  // namespace

TEST_CASE("glyphs that are made when they are drawn look as those that Dear ImGui makes all at once") {
  ImFontAtlas whole;
  addFonts(whole);
  whole.Build();
  Screen screen(addFonts);
  for (int font = 0; font < whole.Fonts.Size; ++font) {
    const ImFont &made = *screen.atlas().Fonts[font], &wanted = *whole.Fonts[font];
    const std::string all = allOf(wanted);
    CHECK(allOf(made) == all);
    CHECK(made.Ascent == wanted.Ascent);
    CHECK(made.Descent == wanted.Descent);
    CHECK(made.CalcTextSizeA(20, 1e6f, 0, all.c_str()).x ==
          wanted.CalcTextSizeA(20, 1e6f, 0, all.c_str()).x);  // before any picture
    CHECK(screen.draw(font, all) == 2);
    CHECK(screen.draw(font, all) == 1);
  }
  // The texture has grown since the first ones were made.
  for (int font = 0; font < whole.Fonts.Size; ++font) compare(screen, whole, font, allOf(*whole.Fonts[font]));
}

TEST_CASE("only what is drawn is rasterised, and once") {
  Screen screen(addFonts);
  const auto used = [&] {
    int count = 0;
    for (int i = 0; i < screen.atlas().TexWidth * screen.atlas().TexHeight; ++i)
      count += screen.atlas().TexPixelsAlpha8[i] != 0;
    return count;
  };
  const int white = used();
  CHECK(white == 4);
  CHECK(screen.draw(0, "  ") == 1);  // nothing to be seen
  CHECK(screen.draw(0, "abba") == 2);
  const int two = used();
  CHECK(two > white);
  CHECK(screen.draw(0, "ab") == 1);
  CHECK(used() == two);
  CHECK(screen.draw(1, "ab") == 2);  // the same letters in another font
  CHECK(used() > two);
  CHECK(screen.draw(2, "\xE2\x82\xAC") ==
        2);  // € is in none of the fonts, and is drawn as the font's substitute
  CHECK(screen.draw(2, "?") == 1);
}

TEST_CASE("a full texture starts again with what is drawn then") {
  const auto add = [](ImFontAtlas& atlas) { addFont(atlas, fonts::inter_regular, 600, 1); };
  ImFontAtlas whole;
  add(whole);
  whole.Build();
  Screen screen(add);
  const std::string first = "ABCDEFGH", second = "KLNOPQRS";
  CHECK(screen.draw(0, first) == 2);
  const int height = screen.atlas().TexHeight;
  CHECK(screen.draw(0, second) == 3);
  CHECK(screen.atlas().TexHeight <= height);
  compare(screen, whole, 0, second);
  const ImVec2 white = screen.atlas().TexUvWhitePixel;
  CHECK(screen.atlas()
            .TexPixelsAlpha8[static_cast<int>(white.y * static_cast<float>(screen.atlas().TexHeight)) *
                                 screen.atlas().TexWidth +
                             static_cast<int>(white.x * static_cast<float>(screen.atlas().TexWidth))] == 255);
  CHECK(screen.draw(0, first) == 3);
  compare(screen, whole, 0, first);
}

TEST_CASE("a glyph that is larger than the texture is left out") {
  Screen screen([](ImFontAtlas& atlas) {
    addFont(atlas, fonts::inter_regular, 5000, 1);
    addFont(atlas, fonts::inter_regular, 16, 1);
  });
  CHECK(screen.draw(0, "M") == 2);
  CHECK(screen.atlas().Fonts[0]->FindGlyphNoFallback('M')->Visible == 0);
  CHECK(screen.draw(1, "M") == 2);
  CHECK(screen.atlas().Fonts[1]->FindGlyphNoFallback('M')->Visible == 1);
}
