// The pixels that the heatmap shader draws, read back from a real OpenGL context without a visible window,
// and the number of cells that an edit uploads. Needs a display, which the desktop suite starts.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
// After draw/gl.h, which declares OpenGL: GLFW then includes no OpenGL headers of its own.
#include "draw/gl.h"
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

#include "draw/heatmap.h"

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

draw::ColorMap diverging() {
  draw::ColorMap map;
  for (int i = 0; i < draw::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / 8.0f;
    map.stops[static_cast<std::size_t>(i)] = {0.9f - 0.6f * t, 0.5f + 0.4f * std::sin(3.0f * t),
                                              0.2f + 0.7f * t, 1.0f};
  }
  return map;
}

struct Pixel {
  int r, g, b, a;
};

/// An offscreen framebuffer, so that the results do not depend on the size of a window.
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        height_(height),
        pixels_(static_cast<std::size_t>(width * height) * 4) {
    glGenTextures(1, &texture_);
    glBindTexture(GL_TEXTURE_2D, texture_);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
    glGenFramebuffers(1, &framebuffer_);
    glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
    REQUIRE(glCheckFramebufferStatus(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE);
  }
  ~Canvas() {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    glDeleteFramebuffers(1, &framebuffer_);
    glDeleteTextures(1, &texture_);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void read() {
    glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels_.data());
    REQUIRE(glGetError() == GL_NO_ERROR);
  }
  /// y points down, unlike in OpenGL.
  Pixel at(int x, int y) const {
    const std::uint8_t* p = pixels_.data() + static_cast<std::size_t>((height_ - 1 - y) * width_ + x) * 4;
    return {p[0], p[1], p[2], p[3]};
  }

 private:
  int width_, height_;
  GLuint texture_ = 0, framebuffer_ = 0;
  std::vector<std::uint8_t> pixels_;
};

/// Draws one frame: a heatmap on white, then a black square of Dear ImGui at the bottom right.
void drawFrame(draw::Heatmaps& heatmaps, int width, int height, float scale, const draw::Values& values,
               const draw::Heatmap& heatmap, const ImVec4* clip = nullptr) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width) / scale, static_cast<float>(height) / scale};
  io.DisplayFramebufferScale = {scale, scale};
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
  heatmaps.newFrame(io.DisplaySize.x, io.DisplaySize.y, scale);
  ImDrawList* list = ImGui::GetBackgroundDrawList();
  if (clip != nullptr) list->PushClipRect({clip->x, clip->y}, {clip->z, clip->w});
  heatmaps.draw(list, 1, values, heatmap);
  if (clip != nullptr) list->PopClipRect();
  const ImVec2 end = io.DisplaySize;
  list->AddRectFilled({end.x - 10, end.y - 10}, end, IM_COL32_BLACK);
  ImGui::Render();
  glViewport(0, 0, width, height);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(1, 1, 1, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
}

bool near(Pixel p, draw::Color c, int tolerance = 2) {
  const auto off = [](int have, float want) { return std::abs(static_cast<float>(have) - want * 255.0f); };
  return std::max({off(p.r, c.r), off(p.g, c.g), off(p.b, c.b)}) <= static_cast<float>(tolerance);
}

draw::Heatmap plain(float x, float y, float cell) {
  draw::Heatmap map;
  map.x = x, map.y = y, map.cell = cell;
  map.map = diverging();
  map.masked = {0.5f, 0.5f, 0.5f, 1};
  map.masked_fill = {1, 1, 0.9f, 1};
  return map;
}

struct Fixture {
  draw::Heatmaps heatmaps;
  std::vector<float> numbers;
  draw::Values values;

  Fixture(int rows, int cols) : numbers(static_cast<std::size_t>(rows * cols)) {
    REQUIRE(heatmaps.start("#version 330 core") == "");
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<float>(i) * 0.7f);
    values = {numbers.data(), rows, cols, cols, 1};
  }
  float& at(int row, int col) { return numbers[static_cast<std::size_t>(row * values.cols + col)]; }
};

/// Draws the fixture again with a new revision and returns the number of cells that were uploaded.
std::uint64_t upload(Fixture& f) {
  const std::uint64_t before = f.heatmaps.uploadedCells();
  ++f.values.revision;
  drawFrame(f.heatmaps, 200, 200, 1, f.values, plain(0, 0, 4));
  return f.heatmaps.uploadedCells() - before;
}

}  // namespace

TEST_CASE("the middle of every cell has the colour of draw::at, at any pixel ratio, also transposed") {
  for (const float scale : {1.0f, 1.5f, 2.0f, 3.0f}) {
    for (const bool transposed : {false, true}) {
      CAPTURE(scale);
      CAPTURE(transposed);
      Fixture f(3, 5);
      Canvas canvas(static_cast<int>(300 * scale), static_cast<int>(300 * scale));
      draw::Heatmap map = plain(11, 7, 46);
      map.transposed = transposed;
      drawFrame(f.heatmaps, static_cast<int>(300 * scale), static_cast<int>(300 * scale), scale, f.values,
                map);
      canvas.read();
      for (int row = 0; row < 3; ++row) {
        for (int col = 0; col < 5; ++col) {
          const float across = static_cast<float>(transposed ? row : col),
                      down = static_cast<float>(transposed ? col : row);
          const Pixel p = canvas.at(static_cast<int>((11 + (across + 0.5f) * 46) * scale),
                                    static_cast<int>((7 + (down + 0.5f) * 46) * scale));
          CHECK(near(p, draw::at(map.map, (f.at(row, col) + 1) / 2)));
        }
      }
      CHECK(near(canvas.at(static_cast<int>(295 * scale), static_cast<int>(295 * scale)), {0, 0, 0, 1}));
    }
  }
}

namespace {

/// A matrix of 3,000 × 3,000 that makes its rows and counts their cells, and its blocks.
struct Made {
  static constexpr int kSide = 3000, kBlock = 4;
  std::vector<float> blocks, part;
  std::uint32_t rows[kSide] = {};
  float shift = 0;
  int cells = 0;  ///< made so far

  Made() {
    for (int i = 0; i < kSide; i += kBlock)
      for (int j = 0; j < kSide; j += kBlock) blocks.push_back(value(i, j));
  }
  float value(int row, int col) const { return std::sin(static_cast<float>(row * 7 + col) * 0.31f + shift); }
  static const float* make(const void* matrix, int, int row, int col, int count) {
    Made& made = *static_cast<Made*>(const_cast<void*>(matrix));
    made.cells += count;
    made.part.clear();
    for (int j = 0; j < count; ++j) made.part.push_back(made.value(row, col + j));
    return made.part.data();
  }
  draw::Values values(std::uint32_t revision) {
    draw::Values out{blocks.data(), kSide, kSide, kSide, revision, {true, 1, rows, nullptr}};
    out.made = {make, this, 0, 0, 0, blocks.data(), kBlock, kSide / kBlock};
    return out;
  }
};

}  // namespace

TEST_CASE("what moves into view shows blocks until its rows are made, some in each frame, and none twice") {
  Made made;
  draw::Heatmaps heatmaps;
  REQUIRE(heatmaps.start("#version 330 core") == "");
  Canvas canvas(300, 300);
  int x = -1000, y = -1200;  // of the matrix, whose cells are `cell` pixels large
  int cell = 1;
  std::uint32_t revision = 1;
  const auto frame = [&] {
    made.cells = 0;
    drawFrame(heatmaps, 300, 300, 1, made.values(revision),
              plain(static_cast<float>(x), static_cast<float>(y), static_cast<float>(cell)));
    canvas.read();
  };
  const auto wrong = [&](int right) {  // how many cells in some columns have another colour
    int count = 0;
    for (int down = 0; down < 280; down += cell)
      for (int across = 0; across < right; across += 7 * cell) {
        const float value = made.value((down - y) / cell, (across - x) / cell);
        count += !near(canvas.at(across, down), draw::at(diverging(), (value + 1) / 2));
      }
    return count;
  };
  const auto settle = [&] {
    int frames = 0;
    for (frame(); heatmaps.isMaking(1) && frames < 50; ++frames) {
      frame();
      CHECK(made.cells <= 100'000);
    }
    CHECK(frames < 50);
    CHECK(wrong(280) == 0);
  };
  frame();
  CHECK(made.cells == 0);  // a frame that uploads all of it has enough to do
  CHECK(heatmaps.isMaking(1));
  frame();
  CHECK(made.cells > 0);
  CHECK(made.cells <= 100'000);
  CHECK(heatmaps.isMaking(1));
  CHECK(wrong(280) > 0);  // above and below the middle
  settle();
  // Once it has been moved there is more on either side: a little further, and larger, all of it is there.
  x -= 20, y += 30, settle();
  x -= 20, y += 30, frame();
  CHECK(made.cells == 0);
  CHECK(wrong(280) == 0);
  for (const int larger : {2, 4}) {
    x = 150 - (150 - x) * larger / cell, y = 150 - (150 - y) * larger / cell, cell = larger;
    frame();
    CHECK(made.cells == 0);
    CHECK(wrong(280) == 0);
  }
  // Back, and by half of what is seen: most of it is known.
  x = -1000, y = -1200, cell = 1, settle();
  x -= 150, y -= 150, settle();
  // A row that is written is made at once; others stay as they are.
  made.shift = 1, ++revision;
  made.rows[1400] = revision;
  frame();
  CHECK(made.cells > 0);
  CHECK(made.cells < 1000);
  CHECK(near(canvas.at(70, 1400 + y), draw::at(diverging(), (made.value(1400, 70 - x) + 1) / 2)));
  frame();
  CHECK(made.cells == 0);
}

TEST_CASE("edges of cells are sharp: no pixel along a side is between the cell's colour and the background") {
  for (const float scale : {1.0f, 1.5f, 2.0f}) {
    CAPTURE(scale);
    Fixture f(2, 2);
    const int size = static_cast<int>(120 * scale);
    Canvas canvas(size, size);
    const draw::Heatmap map = plain(10.3f, 10.3f, 37.4f);
    drawFrame(f.heatmaps, size, size, scale, f.values, map);
    canvas.read();
    const int y = static_cast<int>((10 + 18) * scale);
    const draw::Color left = draw::at(map.map, (f.at(0, 0) + 1) / 2),
                      right = draw::at(map.map, (f.at(0, 1) + 1) / 2);
    int background = 0;
    for (int x = 0; x < static_cast<int>(80 * scale); ++x) {
      const Pixel p = canvas.at(x, y);
      const bool white = p.r == 255 && p.g == 255 && p.b == 255;
      background += white;
      CHECK((white || near(p, left) || near(p, right)));
    }
    const float gap =
        std::round(2 * scale);  // half a gap lies before the first cell, a whole one before the second
    CHECK(background == static_cast<int>(std::round(10.3f * scale) + std::floor(gap / 2) + gap));
  }
}

TEST_CASE("a masked cell has a dashed border on its fill") {
  Fixture f(1, 2);
  f.at(0, 1) = kMinusInfinity;
  Canvas canvas(120, 60);
  const draw::Heatmap map = plain(4, 4, 48);
  drawFrame(f.heatmaps, 120, 60, 1, f.values, map);
  canvas.read();
  CHECK(near(canvas.at(52 + 23, 4 + 23), map.masked_fill));
  int dark = 0, light = 0;
  for (int x = 52 + 4; x < 52 + 42; ++x) {
    const Pixel p = canvas.at(x, 4 + 1);  // half of the gap of 2 pixels lies above
    dark += p.r < 140;
    light += p.r > 240;
  }
  CHECK(dark >= 12);
  CHECK(light >= 8);
}

TEST_CASE(
    "small cells have no gap, and a pixel that covers many cells shows the one farthest from 0, or their "
    "mean") {
  Fixture f(64, 64);
  Canvas canvas(100, 100);
  draw::Heatmap map = plain(0, 0, 3);
  drawFrame(f.heatmaps, 100, 100, 1, f.values, map);
  canvas.read();
  for (int i = 0; i < 90; ++i) CHECK(near(canvas.at(i, 0), draw::at(map.map, (f.at(0, i / 3) + 1) / 2)));

  map.cell = 0.25f;
  f.at(9, 2) = -0.999f, f.at(9, 1) = kMinusInfinity;
  ++f.values.revision;
  drawFrame(f.heatmaps, 100, 100, 1, f.values, map);
  f.at(9, 1) = 0;
  canvas.read();
  for (int i = 0; i < 16; ++i) {
    float most = 0;
    for (int k = 0; k < 16; ++k) {
      const float value = f.at(8 + k / 4, i * 4 + k % 4);
      if (std::fabs(value) > std::fabs(most)) most = value;
    }
    CHECK(near(canvas.at(i, 2), draw::at(map.map, (most + 1) / 2)));
  }
  map.mean = true;
  ++f.values.revision;
  drawFrame(f.heatmaps, 100, 100, 1, f.values, map);
  canvas.read();
  for (int i = 0; i < 16; ++i) {
    float mean = 0;
    for (int k = 0; k < 16; ++k) mean += f.at(8 + k / 4, i * 4 + k % 4) / 16;
    CHECK(near(canvas.at(i, 2), draw::at(map.map, (mean + 1) / 2)));
  }
}

TEST_CASE("what is outside the clip rectangle stays as it was") {
  Fixture f(4, 4);
  Canvas canvas(120, 120);
  const ImVec4 clip{0, 0, 50, 30};
  drawFrame(f.heatmaps, 120, 120, 1, f.values, plain(0, 0, 20), &clip);
  canvas.read();
  CHECK(near(canvas.at(45, 28), draw::at(diverging(), (f.at(1, 2) + 1) / 2)));
  CHECK(near(canvas.at(51, 28), {1, 1, 1, 1}));
  CHECK(near(canvas.at(45, 31), {1, 1, 1, 1}));
}

TEST_CASE(
    "of a matrix of millions of cells only what is seen is uploaded, wherever it is moved, also transposed") {
  Fixture f(2048, 1024);
  Canvas canvas(200, 200);
  std::vector<float> peaks(2048, 1.0f);
  f.values.rowPeaks = peaks.data();
  for (const bool transposed : {false, true}) {
    for (const auto& [x, y] :
         {std::pair{5.0f, 9.0f}, {-4000.0f, -2000.0f}, {-4013.0f, -2031.0f}, {-8000.0f, -9900.0f}}) {
      CAPTURE(transposed);
      CAPTURE(x);
      draw::Heatmap map = plain(transposed ? y : x, transposed ? x : y, 10);
      map.transposed = transposed, map.scale = draw::Scale::row;
      const std::uint64_t before = f.heatmaps.uploadedCells();
      drawFrame(f.heatmaps, 200, 200, 1, f.values, map);
      CHECK(f.heatmaps.uploadedCells() - before <= 40 * 40 + 40);
      canvas.read();
      for (int down = 20; down < 180; down += 10) {
        for (int across = 20; across < 180; across += 10) {
          // The middles of cells: a place of the matrix is a multiple of 10 from there.
          const auto cell = [](float at, float origin) {
            return static_cast<int>(std::floor((at - origin) / 10));
          };
          const auto middle = [](int index, float origin) {
            return static_cast<int>(origin + (static_cast<float>(index) + 0.5f) * 10);
          };
          const int over = cell(static_cast<float>(across), map.x),
                    below = cell(static_cast<float>(down), map.y);
          const int row = transposed ? over : below, col = transposed ? below : over;
          CHECK(near(canvas.at(middle(over, map.x), middle(below, map.y)),
                     draw::at(map.map, (f.at(row, col) + 1) / 2)));
        }
      }
    }
  }
  draw::Heatmap tiny = plain(-300, -700, 0.5f);
  drawFrame(f.heatmaps, 200, 200, 1, f.values, tiny);
  canvas.read();
  for (int i = 20; i < 180; i += 7) {
    float most = 0;
    for (const int row : {(700 + i) * 2, (700 + i) * 2 + 1})
      for (const int col : {(300 + 50) * 2, (300 + 50) * 2 + 1})
        if (row < 2048 && std::fabs(f.at(row, col)) > std::fabs(most)) most = f.at(row, col);
    CHECK(near(canvas.at(50, i), draw::at(tiny.map, (most + 1) / 2)));
  }
}

TEST_CASE("only what changed is uploaded") {
  Fixture f(32, 24);
  Canvas canvas(200, 200);
  CHECK(upload(f) == 32 * 24);
  CHECK(upload(f) == 0);
  f.at(5, 7) += 1;
  CHECK(upload(f) == 1);
  for (int c = 0; c < 24; ++c) f.at(9, c) += 1;
  CHECK(upload(f) == 24);
  for (int r = 0; r < 32; ++r) f.at(r, 3) += 1;
  CHECK(upload(f) == 32);
  for (int r = 10; r < 14; ++r) f.at(r, r - 8) += 1;  // a block of 4 x 4 around a diagonal
  CHECK(upload(f) == 16);
  f.at(0, 0) += 1, f.at(20, 20) += 1;  // far apart: uploaded as two blocks
  CHECK(upload(f) == 2);
  f.at(0, 0) = kMinusInfinity;
  CHECK(upload(f) == 1);
  CHECK(upload(f) == 0);
  --f.values.revision;  // the same revision as last time: the numbers are not even compared
  f.at(1, 1) += 1;
  CHECK(upload(f) == 0);
}

TEST_CASE("where it is told which rows and columns were written, no others are looked at") {
  Fixture f(32, 24);
  Canvas canvas(200, 200);
  std::vector<std::uint32_t> rows(32, 1), cols(24, 1);
  f.values.written = {true, 1, rows.data(), cols.data()};
  CHECK(upload(f) == 32 * 24);
  f.at(5, 7) += 1, f.at(6, 7) += 1;
  rows[5] = 3;
  CHECK(upload(f) == 1);
  f.at(9, 3) += 1, f.at(20, 3) += 1, f.at(21, 3) += 1;
  cols[3] = 4;
  CHECK(upload(f) == 3);
  f.values.written.whole =
      5;  // the whole matrix counts as written: the change that was not reported is found
  CHECK(upload(f) == 1);
  f.at(0, 0) += 1;
  const std::vector<float> other = f.numbers;  // another matrix in the same texture
  f.values.data = other.data();
  CHECK(upload(f) == 1);
}

TEST_CASE("the scales of colour are those of draw::fraction") {
  for (const draw::Scale scale :
       {draw::Scale::linear, draw::Scale::root, draw::Scale::row, draw::Scale::fourthRoot}) {
    for (const bool isSigned : {false, true}) {
      CAPTURE(static_cast<int>(scale));
      CAPTURE(isSigned);
      Fixture f(3, 5);
      std::vector<float> peaks;
      for (int row = 0; row < 3; ++row) {
        float peak = 0;
        for (int col = 0; col < 5; ++col) {
          f.at(row, col) *= 0.2f * static_cast<float>(row + 1);
          if (!isSigned) f.at(row, col) = std::fabs(f.at(row, col));
          peak = std::max(peak, std::fabs(f.at(row, col)));
        }
        peaks.push_back(peak);
      }
      f.values.rowPeaks = peaks.data();
      Canvas canvas(200, 120);
      draw::Heatmap map = plain(0, 0, 40);
      map.scale = scale;
      if (!isSigned) map.low = 0;
      drawFrame(f.heatmaps, 200, 120, 1, f.values, map);
      canvas.read();
      for (int row = 0; row < 3; ++row) {
        for (int col = 0; col < 5; ++col) {
          const float t = draw::fraction(map, f.at(row, col), peaks[static_cast<std::size_t>(row)]);
          CHECK(near(canvas.at(col * 40 + 20, row * 40 + 20), draw::at(map.map, t)));
          if (scale == draw::Scale::row && std::fabs(f.at(row, col)) == peaks[static_cast<std::size_t>(row)])
            CHECK(std::fabs(t - 0.5f) == doctest::Approx(0.5));
        }
      }
    }
  }
}

TEST_CASE("rows may lie further apart than they are long") {
  Fixture f(4, 8);
  f.values.cols = 5;
  f.values.stride = 8;
  Canvas canvas(200, 200);
  drawFrame(f.heatmaps, 200, 200, 1, f.values, plain(0, 0, 20));
  canvas.read();
  CHECK(near(canvas.at(4 * 20 + 9, 3 * 20 + 9), draw::at(diverging(), (f.numbers[3 * 8 + 4] + 1) / 2)));
  CHECK(f.heatmaps.uploadedCells() == 20);
}

TEST_CASE("a lost context is made good from the numbers") {
  Fixture f(4, 4);
  Canvas canvas(120, 120);
  drawFrame(f.heatmaps, 120, 120, 1, f.values, plain(0, 0, 20));
  f.heatmaps.contextLost();
  REQUIRE(f.heatmaps.start("#version 330 core") == "");
  drawFrame(f.heatmaps, 120, 120, 1, f.values, plain(0, 0, 20));
  canvas.read();
  CHECK(near(canvas.at(29, 29), draw::at(diverging(), (f.at(1, 1) + 1) / 2)));
  CHECK(f.heatmaps.uploadedCells() == 32);
}

TEST_CASE("the largest matrix of the board") {
  Fixture f(1024, 1024);
  Canvas canvas(200, 200);
  draw::Heatmap map = plain(0, 0, 0.125f);
  drawFrame(f.heatmaps, 200, 200, 1, f.values, map);
  canvas.read();
  CHECK(f.heatmaps.uploadedCells() == 128 * 128);  // a number a pixel
  CHECK(near(canvas.at(129, 5), {1, 1, 1, 1}));
}

int main(int argc, char** argv) {
  if (glfwInit() == 0) return std::fprintf(stderr, "test_draw_pixels: there is no display\n"), 1;
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  GLFWwindow* window = glfwCreateWindow(64, 64, "test", nullptr, nullptr);
  if (window == nullptr) return std::fprintf(stderr, "test_draw_pixels: there is no OpenGL 3.3\n"), 1;
  glfwMakeContextCurrent(window);
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui_ImplOpenGL3_Init("#version 330 core");
  doctest::Context context(argc, argv);
  const int result = context.run();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  glfwDestroyWindow(window);
  glfwTerminate();
  return result;
}
