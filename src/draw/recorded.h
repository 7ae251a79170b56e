// What a frame drew, read back from the lists of Dear ImGui as shapes and words: so that a figure comes from the same calls as the screen.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <imgui.h>

#include "draw/heatmap.h"
#include "draw/lines.h"

namespace draw {

/// Hears of all that a frame drew, in its order. Frames are recorded with edges that are not smoothed (ImGuiStyle::AntiAliasedLines and AntiAliasedFill
/// off), so that a line is a rectangle and a shape a fan of triangles. Clip rectangles are as in ImDrawCmd.
class Recorder {
 public:
  virtual ~Recorder() = default;
  struct Words {
    std::string text;
    const ImFont* font = nullptr;  ///< null: letters that the faces do not have, of this face
    Face face;
    float x = 0, baseline = 0, width = 0, size = 0;  ///< size: the height of the face's lines, as it is drawn
    float angle = 0;               ///< degrees, to the right
    ImU32 color = 0;
  };
  virtual void words(const Words& words, const ImVec4& clip) = 0;
  virtual void stroke(const std::vector<ImVec2>& points, bool isClosed, float width, ImU32 color, const ImVec4& clip) = 0;
  virtual void rect(ImVec2 from, ImVec2 to, ImU32 color, const ImVec4& clip) = 0;
  virtual void polygon(const std::vector<ImVec2>& points, ImU32 color, const ImVec4& clip) = 0;
  virtual void heatmap(const Values& values, const Heatmap& heatmap, const ImVec4& clip) = 0;
};

/// Tells `recorder` of a frame that ImGui::Render() made, with the faces of `atlas`; of `drawn` the lines of text that a Lines recorded.
void readBack(const ImDrawData& data, const ImFontAtlas& atlas, const std::vector<Lines::Drawn>& drawn, Recorder& recorder);

}  // namespace draw
