// Measures the processor time of a frame: the whole App with Dear ImGui, drawn into lists that nobody
// renders. A cell of Q is dragged, including the edit itself; the pointer moves over cells of Q, K, V and W.
// Prints one JSON object per line. With `--long`, a board of 4,096 tokens and 8 heads of 64 columns instead:
// (with `--longest` one of 131,072 and one head of 15 columns) also its first frames, drags of K and V,
// unless they are too narrow, magnifying and panning, the slowest frames, and memory.
#include <imgui.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../unit/screen.h"
#include "app/app.h"
#include "draw/heatmap.h"

namespace {

double milliseconds() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double quantile(std::vector<double> times, double share) {
  std::sort(times.begin(), times.end());
  return times[std::min(times.size() - 1,
                        static_cast<std::size_t>(share * static_cast<double>(times.size())))];
}
double median(const std::vector<double>& times) { return quantile(times, 0.5); }

/// A line of /proc/self/status, in MB.
double memory(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name)) return std::stod(line.substr(line.find_first_of("0123456789"))) / 1024;
  return 0;
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
    fonts_ = {font, font, font, font, font, font, font, font, font, font};
    io.UserData = &fonts_;
  }

  void run(int tokens, int heads, bool causal) {
    set("heads", 1), set("d_k", 8 * heads), set("heads", heads), set("tokens", tokens);
    (void)app_.set("causal", causal ? "true" : "false");
    for (int i = 0; i < 4; ++i) frame();
    report("drag Q", tokens, heads, causal, drag("q", tokens));
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

  void runLong(int tokens, int heads, int columns) {
    column_ = columns / 2 + 4;  // in the middle, of which one pixel has several
    set("heads", 1), set("d_k", columns), set("heads", heads), set("d_k", columns);
    app_.useAllProcessors();
    times_.clear();
    set("tokens", tokens);
    std::vector<double> first;
    while (first.size() < 4 || app_.wantsFrame()) first.push_back(frame());
    report("first frame", {first.front()});
    report("until whole", first);
    const auto cell = app_.locate("q", 0, 0, 0);
    const bool isHair = cell && cell->width * static_cast<float>(columns) < 1;  // too narrow to be dragged
    for (const char* name : {"q", "k", "v"}) {
      if (isHair) break;
      (void)drag(name, tokens);
      report(std::string("drag ") + name, times_);
      rest();
    }
    for (const char* name : {"q", "k", "v", "weights"}) {
      (void)hover(name, tokens);
      report(std::string("hover ") + name, times_);
    }
    magnify(tokens);
    std::printf("{\"what\": \"memory\", \"now\": %.0f, \"most\": %.0f}\n", memory("VmRSS"), memory("VmHWM"));
  }

 private:
  /// Until everything that follows from edits has been computed.
  void rest() {
    for (int i = 0; i < 4 || app_.wantsFrame(); ++i) frame();
  }

  void report(const std::string& what, const std::vector<double>& times) {
    double all = 0;
    for (const double time : times) all += time;
    std::printf("{\"what\": \"%s\", \"frames\": %zu, \"ms\": %.2f, \"p99\": %.2f, \"all\": %.0f}\n",
                what.c_str(), times.size(), median(times), quantile(times, 0.99), all);
    std::fflush(stdout);
  }

  /// Over the middle of the weights: magnifies them until their cells can be read, and pans.
  void magnify(int tokens) {
    const auto cell = app_.locate("weights", 0, tokens / 2, tokens / 2);
    if (!cell) return;
    moveTo(cell->x, cell->y), frame();
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) app_.pinch(cell->x, cell->y, 1.1f, 0, 0), times.push_back(frame());
    report("magnify", times);
    times.clear();
    for (int i = 0; i < 120; ++i) {
      app_.pinch(cell->x, cell->y, 1, i % 2 ? 0.0f : -30.0f, i % 2 ? -30.0f : 0.0f);
      times.push_back(frame());
    }
    report("pan", times);
  }

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

  double drag(const char* name, int tokens) {
    const auto cell =
        app_.locate(name, 0, tokens / 2,
                    column_);  // the pointer is at whole pixels, and one pixel may hold many cells
    if (!cell) return -1;
    const float x = cell->x + cell->width / 2, y = cell->y + cell->height / 2;
    moveTo(x, y), frame(), frame();
    const attention::Tensor before = **app_.tensor(name);
    ImGui::GetIO().AddMouseButtonEvent(0, true);
    frame(), frame();
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      moveTo(x + static_cast<float>(3 + i % 40), y);
      times.push_back(frame());
    }
    ImGui::GetIO().AddMouseButtonEvent(0, false);
    if (**app_.tensor(name) == before) std::exit(1);  // the drag had no effect
    frame(), frame();
    times_ = times;
    return median(times);
  }

  double hover(const char* name, int tokens) {
    std::vector<double> times;
    for (int i = 0; i < 60; ++i) {
      const int row = i * 7 % tokens;
      const auto cell =
          app_.locate(name, 0, row, std::string_view(name) == "weights" ? row / 2 : column_ + i % 4 - 2);
      if (!cell) return -1;
      moveTo(cell->x + cell->width / 2, cell->y + cell->height / 2);
      frame();
      times.push_back(frame());
    }
    times_ = times;
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
  int column_ = 6;             ///< that is dragged
  std::vector<double> times_;  ///< of the last drag or hover
};

}  // namespace

int main(int count, char** words) {
  ImGui::CreateContext();
  {
    Bench bench;
    if (count > 1 && std::string_view(words[1]) == "--long") bench.runLong(4096, 8, 64);
    else if (count > 1 && std::string_view(words[1]) == "--longest") bench.runLong(131072, 1, 15);
    else
      for (const bool causal : {true, false}) bench.run(64, 4, causal), bench.run(1024, 8, causal);
  }
  ImGui::DestroyContext();
}
