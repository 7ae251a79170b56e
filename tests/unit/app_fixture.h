// An App without a screen: real Dear ImGui input, drawn into lists that nobody renders.
#pragma once

#include <doctest/doctest.h>
#include <imgui.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/app.h"
#include "draw/heatmap.h"
#include "screen.h"

namespace {

using attention::Tensor;

class FakeHost : public test::QuietHost {
 public:
  void requestFrame() override { ++requests; }
  void beginText(const app::TextField& field) override { texts.push_back(field); }
  void drawText() override {
    if (duringFrame) std::exchange(duringFrame, nullptr)();
  }
  void dropText() override { ++drops; }
  base::Result<base::Message> saveFile(std::string_view, std::string_view text, bool) override {
    saved = text;
    return base::Message("Saved.");
  }
  void copyToClipboard(std::string_view text) override { clipboard = text; }
  bool isTouch() const override { return touch; }
  double now() const override { return ImGui::GetTime(); }  // however long a frame takes here
  void emit(const app::Event& event) override { events.push_back(event); }
  void wantLesson(std::string_view id, int) override { lesson = id; }

  int count(app::Event::Type type) const {
    int n = 0;
    for (const app::Event& e : events) n += e.type == type;
    return n;
  }

  bool touch = false;
  int requests = 0, drops = 0;
  std::vector<app::TextField> texts;
  std::vector<app::Event> events;
  std::string saved, clipboard, lesson;  ///< `lesson`: the last one that was requested
  /// Called once, while a frame is drawn: the events of a text field in it.
  std::function<void()> duringFrame;
};

// An App in a window of its own.
class Fixture {
 public:
  explicit Fixture(float width = 1440, float height = 900, bool isFirst = false)
      : screen_(width, height),
        app_(std::make_unique<app::App>(host, heatmaps_, isFirst)) {
    settle();
  }

  app::App& app() { return *app_; }
  static ImGuiIO& io() { return ImGui::GetIO(); }

  void frame(float seconds = 1.0f / 60) {
    test::build(*app_, seconds);
    app_->carryOut();
  }
  int settle() {
    app_->wake();
    return rest();
  }
  /// Builds the frames that are requested, at least as many as the App needs after an event.
  int rest() {
    int frames = 0;
    while (app_->wantsFrame() && frames < (isHeld() ? 3 : 100)) frame(), ++frames;
    return frames;
  }
  /// Is a mouse button or an arrow key held down? While one is, the App keeps requesting frames.
  static bool isHeld() {
    bool held = ImGui::IsMouseDown(0);
    for (const ImGuiKey key : {ImGuiKey_LeftArrow, ImGuiKey_RightArrow, ImGuiKey_UpArrow, ImGuiKey_DownArrow})
      held |= ImGui::IsKeyDown(key);
    return held;
  }

  app::Rect at(std::string_view name, int head = 0, int row = 0, int col = 0) {
    auto rect = app_->locate(name, head, row, col);
    REQUIRE_MESSAGE(rect, std::string(name));
    rest();
    return *app_->locate(name, head, row, col);
  }
  void moveTo(float x, float y) {
    io().AddMousePosEvent(x, y);
    settle();
  }
  void moveTo(const app::Rect& r) { moveTo(r.x + r.width / 2, r.y + r.height / 2); }
  void button(bool down) {
    io().AddMouseButtonEvent(0, down);
    settle();
  }
  void click(const app::Rect& r) {
    moveTo(r);
    button(true);
    button(false);
  }
  void drag(const app::Rect& r, float dx, float dy) {
    moveTo(r);
    button(true);
    const ImVec2 from = io().MousePos;
    for (int i = 1; i <= 4; ++i)
      moveTo(from.x + dx * static_cast<float>(i) / 4, from.y + dy * static_cast<float>(i) / 4);
    button(false);
    moveTo(-1000, -1000);
  }
  /// A finger that was pressed `age` seconds ago, that moves, and that leaves.
  void press(float x, float y, double age = 0) {
    host.touch = true;
    app_->finger(true, x, y, age);
    std::tie(x, y) = app_->aimed(x, y);
    io().AddMouseSourceEvent(
        ImGuiMouseSource_TouchScreen);  // which Dear ImGui presses in the frame after it came
    io().AddMousePosEvent(x, y);
    button(true);
  }
  void press(const app::Rect& r, double age = 0) { press(r.x + r.width / 2, r.y + r.height / 2, age); }
  void swipe(float dx, float dy) {
    const ImVec2 from = io().MousePos;
    for (int i = 1; i <= 8; ++i) {
      const float x = from.x + dx * static_cast<float>(i) / 8, y = from.y + dy * static_cast<float>(i) / 8;
      app_->finger(false, x, y);
      moveTo(x, y);  // `from` is where it aims
    }
  }
  void lift() {
    button(false);
    moveTo(-1000, -1000);
    io().AddMouseSourceEvent(ImGuiMouseSource_Mouse);
  }
  void tap(const app::Rect& r) {
    press(r);
    lift();
  }
  void key(ImGuiKey key, std::initializer_list<ImGuiKey> mods = {}) {
    for (const ImGuiKey m : mods) io().AddKeyEvent(m, true);
    io().AddKeyEvent(key, true);
    settle();
    io().AddKeyEvent(key, false);
    for (const ImGuiKey m : mods) io().AddKeyEvent(m, false);
    settle();
  }
  /// Clicks on a control and checks the option that it sets.
  void press(std::string_view place, std::string_view name, std::string_view value) {
    click(at(place));
    CHECK_MESSAGE(option(name) == value, name);
  }
  void type(char c) {
    io().AddInputCharacter(static_cast<unsigned>(c));
    settle();
  }

  /// The name of the control that has the keyboard focus; "" for none.
  std::string focus() const {
    constexpr std::string_view kFocus = "\"focus:";
    const std::string items = app_->items();
    const std::size_t at = items.find(kFocus);
    if (at == std::string::npos) return "";
    const std::size_t from = at + kFocus.size();
    return items.substr(from, items.find('"', from) - from);
  }
  /// Moves the focus down until the control of this name has it, at most 60 steps. Returns whether it has.
  bool focusOn(std::string_view name) {
    for (int i = 0; i < 60 && focus() != name; ++i) key(ImGuiKey_DownArrow);
    return focus() == name;
  }

  float q(int row, int col, int head = 0) { return (*app_->tensor("q"))->at(head, row, col); }
  std::string option(std::string_view name) { return *app_->get(name); }

  // Compares the weights of head 0 with the definition.
  void checkWeights() {
    const Tensor &keys = **app_->tensor("k"), &queries = **app_->tensor("q"), &w = **app_->tensor("weights");
    const bool causal = option("causal") == "true";
    const double scale = option("scale") == "true" ? 1.0 / std::sqrt(queries.cols()) : 1.0;
    for (int i = 0; i < w.rows(); ++i) {
      std::vector<double> e(static_cast<std::size_t>(w.cols()));
      double sum = 0;
      for (int j = 0; j < w.cols(); ++j) {
        double s = 0;
        for (int c = 0; c < queries.cols(); ++c)
          s += static_cast<double>(queries.at(0, i, c)) * static_cast<double>(keys.at(0, j, c));
        e[static_cast<std::size_t>(j)] = causal && j > i ? 0 : std::exp(s * scale);
        sum += e[static_cast<std::size_t>(j)];
      }
      for (int j = 0; j < w.cols(); ++j) {
        CHECK(static_cast<double>(w.at(0, i, j)) ==
              doctest::Approx(e[static_cast<std::size_t>(j)] / sum).epsilon(1e-5));
      }
    }
  }

  FakeHost host;

 private:
  test::Screen screen_;
  draw::Heatmaps heatmaps_;
  std::unique_ptr<app::App> app_;
};

}  // namespace
