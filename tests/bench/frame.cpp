// Measures the processor time of a frame: the whole App with Dear ImGui, drawn into lists that nobody
// renders. A cell of Q is dragged, including the edit itself; the pointer moves over cells of Q, K, V and W.
// Prints one JSON object per line.
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../unit/screen.h"
#include "app/app.h"
#include "draw/heatmap.h"

namespace {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

class Bench {
 public:
  Bench() : app_(host_, heatmaps_) {
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {1440, 900};
    ImFont* font = test::addFace(*io.Fonts, fonts::inter_regular, 13);
    io.Fonts->Build();
    io.Fonts->SetTexID(nullptr);
    fonts_ = {font, font, font, font, font, font, font, font};
    io.UserData = &fonts_;
  }

  void run(int tokens, int heads, bool causal) {
    set("heads", 1), set("d_k", 8 * heads), set("heads", heads), set("tokens", tokens);
    (void)app_.set("causal", causal ? "true" : "false");
    for (int i = 0; i < 4; ++i) frame();
    report("drag Q", tokens, heads, causal, drag(tokens));
    for (const char* name : {"q", "k", "v", "weights"})
      report(std::string("hover ") + name, tokens, heads, causal, hover(name, tokens));
    report("step", tokens, heads, causal, step());
    // With a painted cell the mask has a hole.
    if (app_.locate("weights", 0, tokens / 2, tokens / 3)) {
      paint(tokens / 2, tokens / 3);
      report("hover k, painted", tokens, heads, causal, hover("k", tokens));
      (void)app_.undo();
    }
  }

 private:
  void set(const char* option, int value) { (void)app_.set(option, std::to_string(value)); }

  void report(const std::string& what, int tokens, int heads, bool causal, double time) {
    std::printf(
        "{\"what\": \"%s\", \"tokens\": %d, \"heads\": %d, \"causal\": %s, \"ms\": %.3f, \"vertices\": %d}\n",
        what.c_str(), tokens, heads, causal ? "true" : "false", time, ImGui::GetDrawData()->TotalVtxCount);
  }

  double frame() {
    const double began = milliseconds();
    test::build(app_);
    app_.carryOut();
    return milliseconds() - began;
  }

  void moveTo(float x, float y) {
    app_.wake();
    ImGui::GetIO().AddMousePosEvent(x, y);
  }

  double drag(int tokens) {
    const auto cell = app_.locate("q", 0, tokens / 2,
                                  6);  // the pointer is at whole pixels, and one pixel may hold many cells
    if (!cell) return -1;
    const float x = cell->x + cell->width / 2, y = cell->y + cell->height / 2;
    moveTo(x, y), frame(), frame();
    const attention::Tensor before = **app_.tensor("q");
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frame(), frame();
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      moveTo(x + static_cast<float>(3 + i % 40), y);
      times.push_back(frame());
    }
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    if (**app_.tensor("q") == before) std::exit(1);  // the drag had no effect
    frame(), frame();
    return median(times);
  }

  double hover(const char* name, int tokens) {
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) {
      const int row = i * 7 % tokens;
      const auto cell = app_.locate(name, 0, row, std::string_view(name) == "weights" ? row / 2 : i % 4);
      if (!cell) return -1;
      moveTo(cell->x + cell->width / 2, cell->y + cell->height / 2);
      frame();
      times.push_back(frame());
    }
    return median(times);
  }

  /// Playing through the steps of the selected row: all frames, those in which numbers move and those between
  /// two steps.
  double step() {
    (void)app_.set("stepper", "1");
    ImGuiIO& io = ImGui::GetIO();
    std::vector<double> times;
    for (int i = 0; i < 8; ++i) {
      for (const bool down : {true, false})
        io.AddKeyEvent(ImGuiKey_RightArrow, down), times.push_back(frame());
      for (int rest = 0; rest < 10; ++rest) app_.wake(), times.push_back(frame());
    }
    if (*app_.get("stepper") == "1") std::exit(1);  // no step was taken
    (void)app_.set("stepper", "0");
    return median(times);
  }

  void paint(int row, int col) {
    const auto cell = app_.locate("weights", 0, row, col);
    ImGuiIO& io = ImGui::GetIO();
    moveTo(cell->x + cell->width / 2, cell->y + cell->height / 2), frame();
    for (const bool down : {true, false}) io.AddMouseButtonEvent(0, down), frame(), frame();
    const attention::Tensor before = **app_.tensor("masked");
    io.AddInputCharacter('p'), frame(), frame();
    for (const bool down : {true, false}) io.AddMouseButtonEvent(0, down), frame(), frame();
    io.AddInputCharacter('p'), frame(), frame();
    if (**app_.tensor("masked") == before) std::exit(1);  // nothing was painted
  }

  test::QuietHost host_;
  draw::Heatmaps heatmaps_;
  views::Fonts fonts_;
  app::App app_;
};

}  // namespace

int main() {
  ImGui::CreateContext();
  {
    Bench bench;
    for (const bool causal : {true, false}) bench.run(64, 4, causal), bench.run(1024, 8, causal);
  }
  ImGui::DestroyContext();
}
