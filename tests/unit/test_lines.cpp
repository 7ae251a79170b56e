// Lines of text drawn by the platform: measured and drawn once, kept within limits, and added to ImGui's draw
// lists.
#include <doctest/doctest.h>
#include <imgui.h>

#include <span>
#include <string>

#include "draw/lines.h"
#include "screen.h"
#include "views/widgets.h"

namespace {

/// Ten pixels per byte; a heart is drawn in its own colours.
class FakeText : public draw::Rasteriser {
 public:
  float measure(std::string_view text, draw::Face) override {
    ++measured;
    return 10.0f * static_cast<float>(text.size());
  }
  draw::LinePicture rasterise(std::string_view text, draw::Face face, std::uint32_t color) override {
    ++drawn;
    size = face.size, weight = face.weight;
    draw::LinePicture p;
    p.left = 1, p.top = 12, p.width = 10 * static_cast<int>(text.size()), p.height = 16;
    const bool isRed = text.find("❤") != std::string_view::npos;
    p.pixels.assign(static_cast<std::size_t>(p.width * p.height), isRed ? 0xff0000ffu : 0x80000000u | color);
    return p;
  }
  int measured = 0, drawn = 0, weight = 0;
  float size = 0;
};

class Screen {
 public:
  explicit Screen(float scale = 2, std::span<const unsigned char> face = fonts::jetbrainsmono_regular) {
    context_ = ImGui::CreateContext();
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {400, 300};
    font = test::addFace(*io.Fonts, face, 16 * scale);
    io.Fonts->Build();
    io.Fonts->SetTexID(nullptr);
    io.FontGlobalScale = 1 / scale;
    fonts_.text = font;
    fonts_.lines = &lines;
    io.UserData = &fonts_;
    frame(scale);
  }
  ~Screen() {
    ImGui::EndFrame();
    ImGui::DestroyContext(context_);
  }
  void frame(float scale = 2) {
    if (list != nullptr) ImGui::EndFrame();
    ImGui::NewFrame();
    lines.newFrame(scale);
    list = ImGui::GetForegroundDrawList();
  }
  FakeText platform;
  draw::Lines lines{platform};
  ImFont* font = nullptr;
  ImDrawList* list = nullptr;

 private:
  ImGuiContext* context_;
  views::Fonts fonts_;
};

}  // namespace

TEST_CASE("plain text costs the platform nothing") {
  Screen s;
  views::text(s.list, s.font, 0, 0, IM_COL32_WHITE, "W = softmax(S) 0.25 \u00e9");
  CHECK(views::elide(s.font, "a very long line of plain words", 40).ends_with("…"));
  CHECK(s.platform.measured + s.platform.drawn == 0);
  CHECK(s.lines.bytes() == 0);
}

TEST_CASE("the faces hold what the interface and its examples write; the platform draws what they lack") {
  {
    const Screen words(2, fonts::inter_regular);
    CHECK(views::linesFor(
              words.font,
              "÷ √d_k · q × k² − γ, δ, ε, μ, σ: ‖∂h‖ μ⁴ 0.5 ± 0.1 ≤ 1 ≥ 0 ≠ ∞ ← ↑ → ↓ ⟶ Σ Δ ₁₂₃ – — … • ✓") ==
          nullptr);
    CHECK(views::linesFor(words.font, "économique Größe") == nullptr);
    CHECK(views::linesFor(words.font, "Łódź") == &words.lines);
  }
  const Screen numbers(2);
  CHECK(views::linesFor(numbers.font, "√(1.5² + 0.2²) × 3 ÷ 4 · Σ −∞ ≤ 1 ≥ 0 → W₁ b₉ – … économique") ==
        nullptr);
  CHECK(views::linesFor(numbers.font, "Größe") == &numbers.lines);
}

TEST_CASE("a line in another script is measured and drawn once, at the pixel ratio, and takes any colour") {
  Screen s(2);
  for (int i = 0; i < 3; ++i) {
    CHECK(views::text(s.list, s.font, 10.3f, 20, IM_COL32(200, 0, 0, 255), "看见") == 30);
    views::text(s.list, s.font, 10, 50, IM_COL32(0, 200, 0, 255), "看见");
    s.frame();
  }
  CHECK(s.platform.measured == 1);
  CHECK(s.platform.drawn == 1);
  CHECK(s.platform.weight == 400);
  CHECK(s.platform.size > 20);
  CHECK(s.lines.bytes() == draw::Lines::kPageBytes);
}

TEST_CASE(
    "the rectangle lies on whole pixels, is as large as the picture, and is drawn in the ink's colour") {
  Screen s(1.5f);
  const ImU32 ink = IM_COL32(10, 20, 30, 255);
  const int before = s.list->VtxBuffer.Size;
  s.lines.draw(s.list, "看", {16, 600}, 10.4f, 30.2f, ink);
  REQUIRE(s.list->VtxBuffer.Size == before + 4);
  const ImDrawVert &a = s.list->VtxBuffer[before], &c = s.list->VtxBuffer[before + 2];
  CHECK(a.pos.x * 1.5f == doctest::Approx(16 - 2));  // 15.6 → 16; the pen is 1 + 1 pixels inside
  CHECK(a.pos.y * 1.5f == doctest::Approx(45 - 13));
  CHECK((c.pos.x - a.pos.x) * 1.5f == doctest::Approx(32));
  CHECK((c.uv.x - a.uv.x) * draw::Lines::kWidth == doctest::Approx(32));
  CHECK((c.uv.y - a.uv.y) * draw::Lines::kHeight == doctest::Approx(18));
  CHECK(a.col == ink);
}

TEST_CASE("what has colours of its own keeps them, and is drawn for each colour of the letters beside it") {
  Screen s;
  const int before = s.list->VtxBuffer.Size;
  s.lines.draw(s.list, "看❤", {16, 400}, 10, 30, IM_COL32(10, 20, 30, 128));
  REQUIRE(s.list->VtxBuffer.Size == before + 4);
  CHECK(s.list->VtxBuffer[before].col == IM_COL32(255, 255, 255, 128));
  CHECK(s.platform.drawn == 2);
  s.lines.draw(s.list, "看❤", {16, 400}, 10, 60, IM_COL32(10, 20, 30, 255));
  CHECK(s.platform.drawn == 2);
  s.lines.draw(s.list, "看❤", {16, 400}, 10, 60, IM_COL32(99, 20, 30, 255));
  CHECK(s.platform.drawn == 3);
}

TEST_CASE("a line is cut between characters, and what is cut fits") {
  Screen s;
  const std::string family = "👨‍👩‍👧";  // 18 bytes: 180 pixels of FakeText, 90 logical pixels
  const std::string words = family + family + family;
  CHECK(views::elide(s.font, words, 300) == words);
  CHECK(views::elide(s.font, words, 250) == family + family + "…");
  CHECK(views::elide(s.font, words, 190) == family + "…");
  CHECK(views::elide(s.font, words, 40) == "…");
  const int before = s.platform.measured;
  CHECK(views::elide(s.font, words, 190) == family + "…");
  CHECK(s.platform.measured == before);
  CHECK(views::paragraph({nullptr, s.font, 0}, 0, 0, 100, words) == doctest::Approx(3 * 16));
}

TEST_CASE(
    "lines end at spaces, and between Chinese characters, but not before a comma or after a bracket that "
    "opens") {
  Screen s;  // a character of three bytes is 15 pixels wide, one of plain text 5
  const auto lines = [&](std::string_view words, float width) {
    return static_cast<int>(views::paragraph({nullptr, s.font, 0}, 0, 0, width, words) / 16 + 0.5f);
  };
  CHECK(lines("按一个数值拖动它", 120) == 1);
  CHECK(lines("按一个数值拖动它", 119) == 2);
  CHECK(lines("按一个数值拖动它 Shift", 120) == 2);
  CHECK(lines("按一个数值拖动它Shift", 120) == 2);
  CHECK(lines("一二三四，五六七八", 60) == 3);  // 一二三 / 四，五六 / 七八
  CHECK(lines("一二三（四五六七）", 60) == 3);  // 一二三 / （四五六 / 七）
  CHECK(lines("一二三四 五六七八", 60) == 2);
  CHECK(lines("一二三四 五六七八", 75) == 2);
  CHECK(lines("看 supercalifragilistic", 60) == 2);  // one long word stays whole
}

TEST_CASE("what is kept is bounded: pages that no frame uses any more are taken again") {
  Screen s;
  for (int i = 0; i < 3000; ++i) {
    s.lines.draw(s.list, "看" + std::to_string(i), {16, 400}, 10, 30, IM_COL32_WHITE);
    if (i % 20 == 0) s.frame();
  }
  CHECK(s.lines.bytes() <= draw::Lines::kMostPages * draw::Lines::kPageBytes);
  const int before = s.platform.drawn;
  s.lines.draw(s.list, "看2999", {16, 400}, 10, 30, IM_COL32_WHITE);
  CHECK(s.platform.drawn == before);
  for (int i = 0; i < 30; ++i) {
    s.frame();
    s.lines.width(std::string(100000, 'a') + std::to_string(i), {16, 400});
  }
}

TEST_CASE("a lost context takes no picture along") {
  Screen s;
  s.lines.draw(s.list, "看", {16, 400}, 10, 30, IM_COL32_WHITE);
  s.lines.contextLost();
  s.frame();
  s.lines.draw(s.list, "看", {16, 400}, 10, 30, IM_COL32_WHITE);
  CHECK(s.platform.drawn == 1);
}
