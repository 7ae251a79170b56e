// Shared by tests and benchmarks of the whole App: an invisible window with the fonts of the shells, and a
// host that accepts everything and does nothing.
#pragma once

#include <imgui.h>

#include <cmath>
#include <span>
#include <string>

#include "app/host.h"
#include "fonts.h"
#include "views/theme.h"

namespace test {

class QuietHost : public app::Host {
 public:
  void requestFrame() override {}
  void beginText(const app::TextField&) override {}
  void drawText() override {}
  void dropText() override {}
  bool pickFile() override { return false; }
  base::Result<base::Message> saveFile(std::string_view, std::string_view, bool) override {
    return base::Message("Saved.");
  }
  void toggleFullscreen() override {}
  void copyToClipboard(std::string_view) override {}
  bool prefersDark() const override { return false; }
  bool isTouch() const override { return false; }
  void emit(const app::Event&) override {}
};

/// Adds a font with the given line height in pixels. `advance` is the same advance for all of its characters;
/// 0 keeps those of the font. The page's build of Dear ImGui has no font of its own.
inline ImFont* addFace(ImFontAtlas& atlas, std::span<const unsigned char> bytes, float height,
                       float advance = 0) {
  static constexpr ImWchar kGlyphs[] = {0x20, 0x27ff, 0};
  ImFontConfig config;
  config.FontDataOwnedByAtlas = false;
  config.GlyphRanges = kGlyphs;
  config.OversampleH = config.OversampleV = 1;
  if (advance > 0) config.GlyphMinAdvanceX = config.GlyphMaxAdvanceX = advance;
  return atlas.AddFontFromMemoryTTF(const_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()),
                                    height, &config);
}

/// The fonts in the sizes that the shells use at a pixel ratio of 1. Made once for all windows of a process.
struct Faces {
  Faces() {
    const auto words = [this](std::span<const unsigned char> face, float em) {
      return addFace(atlas, face, std::round(em * 1.21f));
    };
    const auto numbers = [this](float em) {
      return addFace(atlas, fonts::jetbrainsmono_regular, std::round(em * 1.32f), std::round(em * 0.6f));
    };
    all.text = words(fonts::inter_regular, 13.5f), all.small = words(fonts::inter_regular, 12);
    all.strong = words(fonts::inter_semibold, 13.5f), all.smallStrong = words(fonts::inter_semibold, 11);
    all.title = words(fonts::inter_semibold, 16), all.tiny = words(fonts::inter_regular, 10);
    all.tinyStrong = words(fonts::inter_semibold, 9.5f);
    all.mono = numbers(13), all.monoSmall = numbers(11), all.monoTiny = numbers(10);
    atlas.Build();
    atlas.SetTexID(nullptr);
  }
  static Faces& shared() {
    static Faces faces;
    return faces;
  }

  ImFontAtlas atlas;
  views::Fonts all;
};

/// A Dear ImGui context with the size of a window, and no window.
class Screen {
 public:
  explicit Screen(float width = 1440, float height = 900, Faces& faces = Faces::shared())
      : context_(ImGui::CreateContext(&faces.atlas)) {
    ImGui::SetCurrentContext(context_);
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    io.DisplaySize = {width, height};
    io.UserData = &faces.all;
  }
  ~Screen() { ImGui::DestroyContext(context_); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

 private:
  ImGuiContext* context_;
};

/// Builds one frame as the shells do (a second time if input changed what was built) and renders it into draw
/// lists.
template <class App>
void build(App& app, float seconds = 1.0f / 60) {
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = seconds;
  for (ImGui::NewFrame(); !app.frame(); ImGui::NewFrame()) {
    ImGui::EndFrame();
    io.DeltaTime = 1e-4f;
  }
  ImGui::Render();
}

}  // namespace test
