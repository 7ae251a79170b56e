// Reads back from the vertices of Dear ImGui what a frame shows: text with its position, and where a colour is painted.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test {

/// A run of letters of one font, size and colour on one line, including its spaces.
struct Words {
  std::string text;
  float left, right, top, bottom;
  ImU32 color;
  int order = 0;       ///< the number of primitives painted before it
  bool isCut = false;  ///< clipped at its left or right end
  float midX() const { return (left + right) / 2; }
  float midY() const { return (top + bottom) / 2; }
};

struct Rectangle {
  float left, top, right, bottom;
  float width() const { return right - left; }
  float height() const { return bottom - top; }
};

/// Everything that the last frame shows, without what lies outside its clip rectangle.
class Painted {
 public:
  explicit Painted(const ImDrawData& data = *ImGui::GetDrawData()) : data_(data) {
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    for (ImFont* font : atlas.Fonts) {
      for (const ImFontGlyph& g : font->Glyphs) glyphs_[{g.U0, g.V0, g.U1, g.V1}] = {font, &g};
    }
    each([this](const ImDrawVert* v, bool isQuad, const ImVec4& clip) {
      if (isQuad) quad(v, clip);
      ++order_;
    });
    finish();
  }

  const std::vector<Words>& words() const { return words_; }
  /// Text at an angle of 45°, in the order of drawing; `left` and `bottom` are where it begins.
  const std::vector<Words>& slanted() const { return slanted_; }

  /// The text inside a rectangle, from left to right and from top to bottom, with a space between runs.
  std::string in(float left, float top, float right, float bottom) const {
    std::list<Words> found;
    std::copy_if(words_.begin(), words_.end(), std::back_inserter(found), [&](const Words& w) {
      return w.left >= left - 1 && w.right <= right + 1 && w.midY() >= top && w.midY() <= bottom;
    });
    found.sort([](const Words& a, const Words& b) {
      const bool sameLine = std::abs(a.midY() - b.midY()) < 6;  // superscripts belong to their line
      return sameLine ? a.left < b.left : a.midY() < b.midY();
    });
    std::string all;
    for (const Words& w : found) all += (all.empty() ? "" : " ") + w.text;
    return all;
  }
  template <class Box>
  std::string in(const Box& b) const {
    return in(b.x, b.y, b.x + b.width, b.y + b.height);
  }

  /// The first run that contains `part`, or null.
  const Words* find(std::string_view part) const {
    const auto at = std::find_if(words_.begin(), words_.end(), [part](const Words& w) { return w.text.find(part) != std::string::npos; });
    return at == words_.end() ? nullptr : &*at;
  }

  /// The background of the text, just left of its first letter or just right of its last: all that was painted there before it, blended.
  ImU32 ground(const Words& w, bool isRight = false) const {
    const float x = isRight ? w.right + 1.5f : w.left - 1.5f, y = w.midY();
    float under[3] = {0, 0, 0};
    int order = 0;
    each([&](const ImDrawVert* v, bool isQuad, const ImVec4& clip) {
      if (order++ >= w.order || x < clip.x || x > clip.z || y < clip.y || y > clip.w) return;
      if (isQuad && glyphs_.contains({v[0].uv.x, v[0].uv.y, v[2].uv.x, v[2].uv.y})) return;
      if (!(isIn(v[0].pos, v[1].pos, v[2].pos, x, y) || (isQuad && isIn(v[0].pos, v[2].pos, v[3].pos, x, y)))) return;
      blend(under, v[0].col);
    });
    return IM_COL32(std::lround(under[0]), std::lround(under[1]), std::lround(under[2]), 255);
  }
  /// Does something that was painted later cover the middle of the text?
  bool isCovered(const Words& w) const {
    const float x = w.midX(), y = w.midY();
    int order = 0;
    bool is = false;
    each([&](const ImDrawVert* v, bool isQuad, const ImVec4& clip) {
      if (order++ <= w.order || is || v[0].col >> 24 < 255 || x < clip.x || x > clip.z || y < clip.y || y > clip.w) return;
      const bool isBroad = std::abs(v[2].pos.x - v[0].pos.x) > 6 && std::abs(v[2].pos.y - v[0].pos.y) > 6;  // neither a line nor a letter
      is = isBroad && isQuad && !glyphs_.contains({v[0].uv.x, v[0].uv.y, v[2].uv.x, v[2].uv.y}) && (isIn(v[0].pos, v[1].pos, v[2].pos, x, y) || isIn(v[0].pos, v[2].pos, v[3].pos, x, y));
    });
    return is;
  }
  /// The colour of the text as it appears on this background.
  static ImU32 seen(ImU32 color, ImU32 ground) {
    float under[3] = {static_cast<float>(ground & 255), static_cast<float>(ground >> 8 & 255), static_cast<float>(ground >> 16 & 255)};
    blend(under, color);
    return IM_COL32(std::lround(under[0]), std::lround(under[1]), std::lround(under[2]), 255);
  }

  /// The bounding rectangle of all that has exactly this colour in a part of the screen; empty (right < left) for none.
  Rectangle extent(ImU32 color, const Rectangle& within) const {
    Rectangle out{within.right, within.bottom, within.left - 1, within.top - 1};
    each([&](const ImDrawVert* v, bool isQuad, const ImVec4& clip) {
      for (int i = 0; i < (isQuad ? 4 : 3); ++i) {
        const auto [x, y] = v[i].pos;
        if (v[i].col != color || x < std::max(within.left, clip.x) || x > std::min(within.right, clip.z)) continue;
        if (y < std::max(within.top, clip.y) || y > std::min(within.bottom, clip.w)) continue;
        out = {std::min(out.left, x), std::min(out.top, y), std::max(out.right, x), std::max(out.bottom, y)};
      }
    });
    return out;
  }

 private:
  struct Uv {
    float u0, v0, u1, v1;
    auto operator<=>(const Uv&) const = default;
  };
  struct Known {
    ImFont* font;
    const ImFontGlyph* glyph;
  };

  static bool isIn(ImVec2 a, ImVec2 b, ImVec2 c, float x, float y) {
    const auto side = [x, y](ImVec2 p, ImVec2 q) { return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x); };
    const float ab = side(a, b), bc = side(b, c), ca = side(c, a);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
  }

  static void blend(float (&under)[3], ImU32 color) {
    const float alpha = static_cast<float>(color >> 24) / 255;
    for (int i = 0; i < 3; ++i) under[i] += (static_cast<float>(color >> (8 * i) & 255) - under[i]) * alpha;
  }

  /// Calls `visit` with the corners of each triangle, or of each rectangle drawn as two triangles.
  template <class Visit>
  void each(Visit visit) const {
    for (const ImDrawList* list : data_.CmdLists) {
      for (const ImDrawCmd& command : list->CmdBuffer) {
        if (command.UserCallback != nullptr) continue;
        const ImDrawIdx* at = list->IdxBuffer.Data + command.IdxOffset;
        const auto vertex = [&](ImDrawIdx i) { return list->VtxBuffer[static_cast<int>(command.VtxOffset + i)]; };
        for (unsigned i = 0; i + 2 < command.ElemCount;) {
          const ImDrawIdx a = at[i];
          const bool isQuad = i + 5 < command.ElemCount && at[i + 1] == a + 1 && at[i + 2] == a + 2 && at[i + 3] == a && at[i + 4] == a + 2 && at[i + 5] == a + 3;
          const ImDrawVert corners[] = {vertex(a), vertex(at[i + 1]), vertex(at[i + 2]), vertex(isQuad ? at[i + 5] : a)};
          visit(corners, isQuad, command.ClipRect);
          i += isQuad ? 6 : 3;
        }
      }
    }
  }

  void quad(const ImDrawVert* v, const ImVec4& clip) {
    const auto known = glyphs_.find({v[0].uv.x, v[0].uv.y, v[2].uv.x, v[2].uv.y});
    if (known == glyphs_.end()) return;  // not a letter
    if (v[2].pos.x <= clip.x || v[0].pos.x >= clip.z || v[2].pos.y <= clip.y || v[0].pos.y >= clip.w) return;
    const auto [font, g] = known->second;
    if (v[0].pos.y != v[1].pos.y) return rotated(v, font, g->Codepoint);
    const float scale = (v[2].pos.y - v[0].pos.y) / (g->Y1 - g->Y0), pen = v[0].pos.x - g->X0 * scale, top = v[0].pos.y - g->Y0 * scale;
    const float space = font->FindGlyph(' ')->AdvanceX * scale, gap = std::round((pen - pen_) / space);
    const bool goesOn = font == font_ && v[0].col == line_.color && std::abs(top - line_.top) < 0.1f && gap >= 0 && gap <= 1 &&
                        std::abs(pen - pen_ - gap * space) < 0.3f;
    if (!goesOn) {
      finish();
      line_ = {"", v[0].pos.x, v[2].pos.x, top, top + font->FontSize * scale, v[0].col, order_, false};
      font_ = font;
    } else {
      line_.text.append(static_cast<std::size_t>(gap), ' ');
    }
    append(line_.text, g->Codepoint);
    line_.isCut |= v[0].pos.x < clip.x - 0.5f || v[2].pos.x > clip.z + 0.5f;
    line_.right = v[2].pos.x;
    pen_ = pen + g->AdvanceX * scale;
  }

  void rotated(const ImDrawVert* v, ImFont* font, unsigned codepoint) {
    finish();
    const auto &from = v[3].pos, &to = v[1].pos;  // lower left, upper right corner
    const bool goesOn = !slanted_.empty() && font == turnedFont_ && from.x > slanted_.back().left && from.y < slanted_.back().bottom &&
                        std::abs((from.x - slanted_.back().left) - (slanted_.back().bottom - from.y)) < 3;
    if (!goesOn) slanted_.push_back({"", from.x, to.x, to.y, from.y, v[0].col});
    append(slanted_.back().text, codepoint);
    slanted_.back().right = std::max(slanted_.back().right, to.x), slanted_.back().top = std::min(slanted_.back().top, to.y);
    turnedFont_ = font;
  }

  void finish() {
    if (!line_.text.empty()) words_.push_back(std::exchange(line_, {}));
    font_ = nullptr;
  }

  static void append(std::string& to, unsigned c) {
    if (c < 0x80) {
      to += static_cast<char>(c);
    } else if (c < 0x800) {
      to += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    } else {
      to += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)), static_cast<char>(0x80 | (c & 0x3F))};
    }
  }

  const ImDrawData& data_;
  std::map<Uv, Known> glyphs_;
  std::vector<Words> words_, slanted_;
  Words line_{};
  ImFont *font_ = nullptr, *turnedFont_ = nullptr;
  float pen_ = 0;
  int order_ = 0;
};

}  // namespace test
