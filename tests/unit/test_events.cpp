// Any user input at any window size: random events for a real App, drawn into lists that nobody renders.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "app/app.h"
#include "attention/steps/forward.h"
#include "document/preset.h"
#include "document/text.h"
#include "draw/heatmap.h"
#include "layer.h"
#include "screen.h"
#include "thorough.h"

namespace {

using attention::Tensor;
using attention::TensorId;

/// Accepts everything, and may be a phone.
class Host final : public test::QuietHost {
 public:
  void beginText(const app::TextField&) override { typing = true; }
  void dropText() override { typing = false; }
  bool prefersDark() const override { return dark; }
  bool isTouch() const override { return touch; }

  bool typing = false, dark = false, touch = false;
};

/// An App that receives random input.
class RandomInput {
 public:
  explicit RandomInput(std::uint64_t seed)
      : random_(seed),
        app_(std::make_unique<app::App>(host_, heatmaps_)) {}

  app::App& app() { return *app_; }
  ImGuiIO& io() { return ImGui::GetIO(); }

  /// Builds frames until none is requested; each of them must be fit to be drawn.
  void settle(int most = 30) {
    app_->wake();
    for (int i = 0; i < most && app_->wantsFrame(); ++i) {
      test::build(*app_, random_.chance(0.05) ? 3.0f : 1.0f / 60);
      look(*ImGui::GetDrawData());
      app_->carryOut();
    }
  }

  void resize(int width, int height) {
    io().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
  }

  void event() {
    switch (random_.below(14)) {
      case 0:
      case 1: return io().AddMousePosEvent(anywhere(io().DisplaySize.x), anywhere(io().DisplaySize.y));
      case 2: return pointAtCell();
      case 3:
      case 4: return io().AddMouseButtonEvent(random_.below(8) == 0 ? 1 : 0, down_ = !down_);
      case 5:
        return io().AddMouseWheelEvent(static_cast<float>(random_.below(5) - 2),
                                       static_cast<float>(random_.below(21) - 10));
      case 6:
      case 7: return key();
      case 8: return type();
      case 9: return changeWindow();
      case 10: return setOption();
      case 11: return random_.below(3) == 0 ? openPreset() : history();
      case 12: return paste();
      default: return embed();
    }
  }

  /// Are the numbers those of the definition, within the precision of float32?
  void checkNumbers() {
    const document::State& state = app_->document().state();
    REQUIRE(document::check(state));
    const attention::Spec spec = document::spec(state);
    const attention::Inputs inputs = document::inputs(state);
    const attention::ReferenceTrace exact = attention::reference(spec, inputs);
    for (const TensorId id : {TensorId::masked, TensorId::weights, TensorId::output}) {
      const auto found = app_->tensor(attention::name(id));
      REQUIRE(found);
      const auto& wanted = *attention::intermediate(exact, id);
      const double bound = attention::errorBound(spec, inputs, exact, id);
      REQUIRE((*found)->size() == wanted.values.size());
      double worst = 0;
      for (std::size_t i = 0; i < wanted.values.size(); ++i) {
        const auto is = static_cast<double>((*found)->data()[i]);
        if (is != wanted.values[i]) worst = std::max(worst, std::abs(is - wanted.values[i]));
        REQUIRE(!std::isnan(is));
      }
      CAPTURE(std::string(attention::name(id)));
      CHECK(worst <= bound);
    }
  }

 private:
  /// Mostly inside the window, sometimes far outside.
  float anywhere(float extent) {
    return random_.chance(0.03) ? static_cast<float>(random_.below(200001) - 100000)
                                : static_cast<float>(random_.uniform()) * extent;
  }

  void pointAtCell() {
    static constexpr std::array names{"q", "k", "v", "x", "w_q", "w_o", "scores", "weights", "output"};
    const int head = random_.below(app_->document().state().heads);
    const auto rect = app_->locate(names[static_cast<std::size_t>(random_.below(names.size()))], head,
                                   random_.below(6), random_.below(6));
    if (rect) io().AddMousePosEvent(rect->x + rect->width / 2, rect->y + rect->height / 2);
  }

  void key() {
    const auto key = random_.chance(0.5) ? kKeys[static_cast<std::size_t>(random_.below(kKeys.size()))]
                                         : static_cast<ImGuiKey>(ImGuiKey_A + random_.below(26));
    static constexpr std::array mods{ImGuiMod_Ctrl, ImGuiMod_Shift, ImGuiMod_Alt};
    const ImGuiKey mod = mods[static_cast<std::size_t>(random_.below(mods.size()))];
    const bool with = random_.chance(0.3);
    (void)app_->usesKey(key, with && mod == ImGuiMod_Ctrl, with && mod == ImGuiMod_Shift,
                        with && mod == ImGuiMod_Alt);
    if (with) io().AddKeyEvent(mod, true);
    io().AddKeyEvent(key, true);
    settle(3);
    io().AddKeyEvent(key, false);
    if (with) io().AddKeyEvent(mod, false);
  }

  void type() {
    static constexpr std::array words{"1.5",      "-0,8",          "",        "I saw a saw",
                                      "abc",      "1e99",          "nan",     "\xe6\x88\x91 \xe7\x9c\x8b",
                                      "\xff\xfe", "0.25\t3\n1\t2", "a, b. c", "99999999999999999999",
                                      "\x01"};
    const std::string_view text = words[static_cast<std::size_t>(random_.below(words.size()))];
    if (host_.typing && random_.chance(0.7)) {
      host_.typing = false;
      return app_->endText(random_.chance(0.8) ? app::TextEnd::commit : app::TextEnd::cancel, text);
    }
    for (const char c : text) io().AddInputCharacter(static_cast<unsigned char>(c));
  }

  void changeWindow() {
    if (random_.chance(0.3)) host_.touch = !host_.touch;
    if (random_.chance(0.1)) host_.dark = !host_.dark;
    if (random_.chance(0.2)) return io().AddFocusEvent(random_.chance(0.5));
    const auto side = [&](int most) {
      return random_.chance(0.3) ? 1 + random_.below(60) : 1 + random_.below(most);
    };
    resize(side(4000), side(3000));
  }

  void setOption() {
    const auto options = document::options();
    const document::Option& option =
        options[static_cast<std::size_t>(random_.below(static_cast<int>(options.size())))];
    std::string json;
    if (!option.choices.empty() && random_.chance(0.9)) {
      json = '"' +
             std::string(option.choices[static_cast<std::size_t>(
                 random_.below(static_cast<int>(option.choices.size())))]) +
             '"';
    } else {
      static constexpr std::array values{
          "0",   "1",    "2", "3", "4", "8", "12", "0.5", "-1", "true", "false", "1e-5", "\"I saw a saw\"",
          "[0]", "null", "17"};
      json = values[static_cast<std::size_t>(random_.below(values.size()))];
    }
    (void)app_->set(option.name, json);
  }

  void openPreset() {
    const auto presets = document::presets();
    (void)app_->openPreset(
        presets[static_cast<std::size_t>(random_.below(static_cast<int>(presets.size())))].name,
        random_.chance(0.7));
  }

  void history() {
    const int what = random_.below(12);
    if (what == 0) return app_->reset();
    (void)(what < 7 ? app_->undo() : app_->redo());
  }

  void paste() {
    static constexpr std::array texts{"1", "1\t2\n3\t4", "", "x", "1e39", "-1.5 2 3 4 5 6 7 8 9 10", "0;1"};
    const bool own = random_.chance(0.4);
    const std::string text =
        own ? app_->copyCells() : texts[static_cast<std::size_t>(random_.below(texts.size()))];
    (void)app_->pasteCells(text);
    if (random_.chance(0.1)) (void)app_->openText(random_.chance(0.5) ? app_->state() : text, "a file");
  }

  void embed() {
    static constexpr std::array parts{
        "", "header", "panel", "inspector", "arcs", "heads", "header,panel,arcs", "share,export"};
    static constexpr std::array locks{"", "q", "heads,tokens", "causal"};
    app_->setEmbed({parts[static_cast<std::size_t>(random_.below(parts.size()))],
                    locks[static_cast<std::size_t>(random_.below(locks.size()))]});
  }

  /// Are all vertices within reasonable coordinates, and is their number reasonable?
  static void look(const ImDrawData& data) {
    int wrong = 0;
    for (const ImDrawList* list : data.CmdLists) {
      for (const ImDrawVert& v : list->VtxBuffer)
        wrong += !(std::abs(v.pos.x) < 1e7f && std::abs(v.pos.y) < 1e7f);
      for (const ImDrawCmd& command : list->CmdBuffer) {
        const ImVec4 clip = command.ClipRect;
        wrong += !(std::isfinite(clip.x) && std::isfinite(clip.y) && std::isfinite(clip.z) &&
                   std::isfinite(clip.w));
        wrong += command.UserCallback == nullptr &&
                 command.IdxOffset + command.ElemCount > static_cast<unsigned>(list->IdxBuffer.Size);
      }
    }
    REQUIRE(wrong == 0);
  }

  static constexpr std::array kKeys{
      ImGuiKey_Tab,     ImGuiKey_Enter,  ImGuiKey_Escape,    ImGuiKey_Space,     ImGuiKey_Home,
      ImGuiKey_End,     ImGuiKey_PageUp, ImGuiKey_PageDown,  ImGuiKey_LeftArrow, ImGuiKey_RightArrow,
      ImGuiKey_UpArrow, ImGuiKey_Delete, ImGuiKey_DownArrow, ImGuiKey_Backspace, ImGuiKey_F2,
      ImGuiKey_F11,     ImGuiKey_0,      ImGuiKey_9,         ImGuiKey_Minus,     ImGuiKey_Equal,
      ImGuiKey_Period,  ImGuiKey_Comma,  ImGuiKey_Slash};

  test::Random random_;
  test::Screen screen_;
  draw::Heatmaps heatmaps_;
  Host host_;
  std::unique_ptr<app::App> app_;
  bool down_ = false;
};

}  // namespace

TEST_CASE(
    "events: nothing that a hand does, at any size of the window, leads to a wrong number or a frame that is "
    "none") {
  for (int seed = 1; seed <= (test::kWhole ? 16 : 2); ++seed) {
    CAPTURE(seed);
    RandomInput hand(static_cast<std::uint64_t>(seed));
    for (int i = 0; i < 250; ++i) {
      CAPTURE(i);
      hand.event();
      hand.settle(4);
      if (i % 25 == 24) hand.checkNumbers();
    }
  }
}

TEST_CASE("events: every page is drawn in windows of any size") {
  for (const char* page : {"none", "spread", "weights", "reach", "block", "segments"}) {
    CAPTURE(page);
    RandomInput hand(99);
    REQUIRE(hand.app().set("experiment", '"' + std::string(page) + '"'));
    for (const auto& [width, height] :
         {std::pair{1, 1}, {20, 44}, {44, 20}, {4000, 1}, {1, 3000}, {100, 100}, {320, 320}, {4000, 3000}}) {
      CAPTURE(width);
      CAPTURE(height);
      hand.resize(width, height);
      hand.settle();
      const auto rect = hand.app().locate("weights", 0, 0, 0);
      if (rect) CHECK(rect->width > 0);
    }
  }
}

TEST_CASE("events: that old steps of undo were dropped is said once, in plain words") {
  RandomInput hand(7);
  app::App& app = hand.app();
  app.setEmbed({"arcs,heads", ""});
  for (const auto& [option, value] : {std::pair{"tokens", "128"}, {"d_k", "512"}, {"d_v", "64"}})
    REQUIRE(app.set(option, value));  // few scores, many numbers
  const auto fill = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::vector<float> values(2 * 128 * 512, static_cast<float>(i));
      REQUIRE(app.setTensor("q", values, std::vector<int>{2, 128, 512}));
    }
    hand.settle(1);
  };
  fill(0, 20);
  CHECK(app.notice() == "");
  fill(20, 160);
  CHECK(app.notice().find("oldest steps were dropped") != std::string::npos);
  app.notify("Something else.", false);
  fill(160, 165);
  CHECK(app.notice() == "Something else.");
}
