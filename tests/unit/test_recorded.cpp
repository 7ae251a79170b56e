// Frames read back as shapes and text, from which figures of the board are made.
#include <doctest/doctest.h>

#include <set>

#include "app/board_figure.h"
#include "app_fixture.h"
#include "draw/recorded.h"
#include "painted.h"

namespace {

struct Notes final : draw::Recorder {
  void words(const Words& w, const ImVec4& clip) override {
    const bool isSeen =
        w.x < clip.z && w.x + w.width > clip.x && w.baseline - w.size < clip.w && w.baseline > clip.y;
    if (isSeen && w.angle == 0) texts.insert(w.text);
    turned += w.angle != 0;
  }
  void stroke(const std::vector<ImVec2>& points, bool isClosed, float, ImU32, const ImVec4&) override {
    CHECK(points.size() >= 2);
    closed += isClosed;
  }
  void rect(ImVec2 from, ImVec2 to, ImU32, const ImVec4&) override {
    rects += to.x > from.x && to.y > from.y;
  }
  void polygon(const std::vector<ImVec2>& points, ImU32, const ImVec4&) override {
    CHECK(points.size() >= 3);
  }
  void heatmap(const draw::Values& values, const draw::Heatmap& heatmap, const ImVec4&) override {
    cells += values.rows * values.cols;
    ++heatmaps, transposed += heatmap.transposed;
  }

  std::multiset<std::string> texts;
  int turned = 0, closed = 0, rects = 0, cells = 0, heatmaps = 0, transposed = 0;
};

class NoText final : public draw::Rasteriser {};

std::string lettersOf(const std::string& text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '.') out += c;
  return out;
}

files::Drawing figureOf(app::App& app, files::FigureOptions options = {}) {
  NoText none;
  test::Faces& faces = test::Faces::shared();
  auto drawing = app::boardFigure(app.state(), options, {faces.atlas, faces.all, 1, none});
  REQUIRE(drawing);
  return *drawing;
}

}  // namespace

TEST_CASE("a recorded frame has the words that are on the screen") {
  Fixture f;
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
  for (const char* preset : {"i-saw-a-saw", "pronoun"}) {
    REQUIRE(f.app().openPreset(preset, false));
    f.settle();
    Notes notes;
    draw::readBack(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, {}, notes);
    std::multiset<std::string> want;
    const test::Painted painted;
    for (const test::Words& w : painted.words()) want.insert(w.text);
    std::string all;  // runs may be longer here: adjacent letters of the same kind are joined
    for (const std::string& text : notes.texts) all += lettersOf(text) + "\n";
    for (const std::string& text : want) CHECK_MESSAGE(all.find(lettersOf(text)) != std::string::npos, text);
    CHECK((notes.turned > 0) == !painted.slanted().empty());
    CHECK(notes.rects > 10);
    CHECK(notes.cells > 40);
  }
}

TEST_CASE(
    "in column layout every matrix is transposed, the thumbnails of the heads and the picture of the mask "
    "too") {
  for (const char* columns : {"false", "true"}) {
    CAPTURE(columns);
    Fixture f(1440, 900);
    REQUIRE(f.app().set("column_layout", columns));
    f.settle();
    Notes notes;
    draw::readBack(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, {}, notes);
    // Q, K, V, S, W, O, two heads and their mean, and the mask. In the other layout K alone is transposed;
    // here it is not.
    CHECK(notes.heatmaps >= 10);
    CHECK(notes.transposed == (columns == std::string_view("true") ? notes.heatmaps - 1 : 1));
  }
}

TEST_CASE("outlines of a frame are closed lines, and no heaps of rectangles") {
  Fixture f;
  ImGuiStyle& style = ImGui::GetStyle();
  style.AntiAliasedLines = style.AntiAliasedLinesUseTex = style.AntiAliasedFill = false;
  f.settle();
  Notes notes;
  draw::readBack(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, {}, notes);
  CHECK(notes.closed > 5);
}

TEST_CASE("the figure of a board leaves the board, the frame and the context as they were") {
  Fixture f;
  ImGuiContext* const context = ImGui::GetCurrentContext();
  const std::string state = f.app().state();
  const files::Drawing drawing = figureOf(f.app());
  CHECK(ImGui::GetCurrentContext() == context);
  CHECK(f.app().state() == state);
  f.settle();
  CHECK(drawing.width > 300);
  CHECK(drawing.height > 200);
  for (const files::Drawing::Item& item : drawing.items) {
    CHECK(std::isfinite(item.x + item.y + item.width + item.height));
    CHECK_FALSE(item.words.starts_with("drag "));  // nothing on paper can be dragged
  }
}

TEST_CASE("the board of a figure is dark or light as asked, and clear where it has no background") {
  Fixture f;
  files::FigureOptions options;
  options.style = files::FigureOptions::Style::dark, options.clear = true;
  const files::Drawing dark = figureOf(f.app(), options), print = figureOf(f.app());
  CHECK(dark.ground.opacity == 0);
  CHECK(dark.ground.color[0] < 60);
  CHECK(print.ground.color == files::Rgb{{255, 255, 255}});
  CHECK(dark.items.size() == print.items.size());
}
