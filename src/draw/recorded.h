// Converts the draw lists of a Dear ImGui frame back to shapes and text, so that figures are produced by the
// same calls as the screen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <imgui.h>

#include "draw/heatmap.h"
#include "draw/lines.h"

namespace draw {

/// Receives everything that a frame drew, in order. Frames must be recorded without antialiasing
/// (ImGuiStyle::AntiAliasedLines and AntiAliasedFill off), so that a line is a rectangle and a shape a
/// triangle fan. Clip rectangles are as in ImDrawCmd.
class Recorder {
 public:
  virtual ~Recorder() = default;
  struct Words {
    std::string text;
    const ImFont* font = nullptr;  ///< null for a line of Lines, in `face`
    Face face;
    float x = 0, baseline = 0, width = 0, size = 0;  ///< size: the line height of the font, as drawn
    float angle = 0;                                 ///< degrees, clockwise
    ImU32 color = 0;
  };
  virtual void words(const Words& words, const ImVec4& clip) = 0;
  virtual void stroke(const std::vector<ImVec2>& points, bool isClosed, float width, ImU32 color,
                      const ImVec4& clip) = 0;
  virtual void rect(ImVec2 from, ImVec2 to, ImU32 color, const ImVec4& clip) = 0;
  virtual void polygon(const std::vector<ImVec2>& points, ImU32 color, const ImVec4& clip) = 0;
  virtual void heatmap(const Values& values, const Heatmap& heatmap, const ImVec4& clip) = 0;
};

/// Passes everything in a frame made by ImGui::Render() to `recorder`. `atlas` contains its fonts; `drawn`
/// are the lines recorded by Lines::record().
void readBack(const ImDrawData& data, const ImFontAtlas& atlas, const std::vector<Lines::Drawn>& drawn,
              Recorder& recorder);

}  // namespace draw
