// Reads back from the vertices of Dear ImGui what a frame shows: text with its position, and where a colour
// is painted.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace test {

/// A run of letters of one font, size and colour on one line, including its spaces.
struct Words {
  std::string text;
  float left, right, top, bottom;
  ImU32 color;
  int order = 0;                        ///< the number of primitives painted before it
  bool isCut = false;                   ///< clipped at its left or right end
  float shownTop = 0, shownBottom = 0;  ///< without what a scrolled area cuts off
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
  explicit Painted(const ImDrawData& data = *ImGui::GetDrawData()) {
    collect(data);
    for (; order_ < static_cast<int>(shapes_.size()); ++order_) {
      if (const Shape& s = shapes_[static_cast<std::size_t>(order_)]; s.glyph != nullptr) letter(s);
    }
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
    const auto at = std::find_if(words_.begin(), words_.end(),
                                 [part](const Words& w) { return w.text.find(part) != std::string::npos; });
    return at == words_.end() ? nullptr : &*at;
  }

  /// The background of the text, just left of its first letter or just right of its last: all that was
  /// painted there before it, blended.
  ImU32 ground(const Words& w, bool isRight = false) const {
    const float x = isRight ? w.right + 1.5f : w.left - 1.5f, y = w.midY();
    float under[3] = {0, 0, 0};
    for (int i = 0; i < std::min(w.order, static_cast<int>(shapes_.size())); ++i) {
      const Shape& s = shapes_[static_cast<std::size_t>(i)];
      if (s.glyph == nullptr && s.covers(x, y)) blend(under, s.v[0].col);
    }
    return IM_COL32(std::lround(under[0]), std::lround(under[1]), std::lround(under[2]), 255);
  }
  /// Does something that was painted later cover the middle of the text?
  bool isCovered(const Words& w) const {
    return std::any_of(
        shapes_.begin() + std::min<std::ptrdiff_t>(w.order + 1, std::ssize(shapes_)), shapes_.end(),
        [x = w.midX(), y = w.midY()](const Shape& s) {
          const bool isBroad = std::abs(s.v[2].pos.x - s.v[0].pos.x) > 6 &&
                               std::abs(s.v[2].pos.y - s.v[0].pos.y) > 6;  // neither a line nor a letter
          return isBroad && s.isQuad && s.glyph == nullptr && s.v[0].col >> 24 == 255 && s.covers(x, y);
        });
  }
  /// The colour of the text as it appears on this background.
  static ImU32 seen(ImU32 color, ImU32 ground) {
    float under[3] = {static_cast<float>(ground & 255), static_cast<float>(ground >> 8 & 255),
                      static_cast<float>(ground >> 16 & 255)};
    blend(under, color);
    return IM_COL32(std::lround(under[0]), std::lround(under[1]), std::lround(under[2]), 255);
  }

  /// The bounding rectangle of all that has exactly this colour in a part of the screen; empty (right < left)
  /// for none.
  Rectangle extent(ImU32 color, const Rectangle& within) const {
    Rectangle out{within.right, within.bottom, within.left - 1, within.top - 1};
    for (const Shape& s : shapes_) {
      const ImVec4& clip = s.clip;
      for (int i = 0; i < (s.isQuad ? 4 : 3); ++i) {
        const auto [x, y] = s.v[i].pos;
        if (s.v[i].col != color || x < std::max(within.left, clip.x) || x > std::min(within.right, clip.z))
          continue;
        if (y < std::max(within.top, clip.y) || y > std::min(within.bottom, clip.w)) continue;
        out = {std::min(out.left, x), std::min(out.top, y), std::max(out.right, x), std::max(out.bottom, y)};
      }
    }
    return out;
  }

 private:
  struct Uv {
    float u0, v0, u1, v1;
    bool operator==(const Uv&) const = default;
    std::size_t print() const {
      std::uint64_t sum = 0;
      for (const float f : {u0, v0, u1, v1})
        sum = (sum ^ std::bit_cast<std::uint32_t>(f)) * 0x9E3779B97F4A7C15u, sum ^= sum >> 29;
      return static_cast<std::size_t>(sum);
    }
  };
  struct UvPrint {
    std::size_t operator()(const Uv& uv) const { return uv.print(); }
  };
  struct Known {
    ImFont* font;
    const ImFontGlyph* glyph;
  };
  using Glyphs = std::unordered_map<Uv, Known, UvPrint>;

  /// A triangle, or a rectangle drawn as two triangles.
  struct Shape {
    ImDrawVert v[4];  ///< that of a triangle has its first corner twice
    ImVec4 clip;
    bool isQuad;
    const Known* glyph;  ///< the letter that it is; null for none
    bool covers(float x, float y) const {
      if (x < clip.x || x > clip.z || y < clip.y || y > clip.w) return false;
      return isIn(v[0].pos, v[1].pos, v[2].pos, x, y) || (isQuad && isIn(v[0].pos, v[2].pos, v[3].pos, x, y));
    }
  };

  /// The letters by their place in the atlas: many thousands, which are collected again only if one of them
  /// has changed.
  static const Glyphs& glyphsOf(const ImFontAtlas& atlas) {
    static Glyphs glyphs;
    static std::uint64_t known = 0;
    std::uint64_t print = 1;
    const auto add = [&print](std::uint64_t n) {
      print = (print ^ n) * 0x9E3779B97F4A7C15u, print ^= print >> 29;
    };
    for (const ImFont* font : atlas.Fonts) {
      add(reinterpret_cast<std::uintptr_t>(font)), add(reinterpret_cast<std::uintptr_t>(font->Glyphs.Data));
      for (const ImFontGlyph& g : font->Glyphs) add(Uv{g.U0, g.V0, g.U1, g.V1}.print());
    }
    if (print == known) return glyphs;
    known = print;
    glyphs.clear();
    for (ImFont* font : atlas.Fonts) {
      for (const ImFontGlyph& g : font->Glyphs) glyphs[{g.U0, g.V0, g.U1, g.V1}] = {font, &g};
    }
    return glyphs;
  }

  static bool isIn(ImVec2 a, ImVec2 b, ImVec2 c, float x, float y) {
    const auto side = [x, y](ImVec2 p, ImVec2 q) {
      return (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
    };
    const float ab = side(a, b), bc = side(b, c), ca = side(c, a);
    return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
  }

  static void blend(float (&under)[3], ImU32 color) {
    const float alpha = static_cast<float>(color >> 24) / 255;
    for (int i = 0; i < 3; ++i) under[i] += (static_cast<float>(color >> (8 * i) & 255) - under[i]) * alpha;
  }

  void collect(const ImDrawData& data) {
    const Glyphs& glyphs = glyphsOf(*ImGui::GetIO().Fonts);
    for (const ImDrawList* list : data.CmdLists) {
      for (const ImDrawCmd& command : list->CmdBuffer) {
        if (command.UserCallback != nullptr) continue;
        const ImDrawIdx* at = list->IdxBuffer.Data + command.IdxOffset;
        const auto vertex = [&](ImDrawIdx i) {
          return list->VtxBuffer[static_cast<int>(command.VtxOffset + i)];
        };
        for (unsigned i = 0; i + 2 < command.ElemCount;) {
          const ImDrawIdx a = at[i];
          const bool isQuad = i + 5 < command.ElemCount && at[i + 1] == a + 1 && at[i + 2] == a + 2 &&
                              at[i + 3] == a && at[i + 4] == a + 2 && at[i + 5] == a + 3;
          Shape s{{vertex(a), vertex(at[i + 1]), vertex(at[i + 2]), vertex(isQuad ? at[i + 5] : a)},
                  command.ClipRect,
                  isQuad,
                  nullptr};
          if (isQuad) {
            const auto known = glyphs.find({s.v[0].uv.x, s.v[0].uv.y, s.v[2].uv.x, s.v[2].uv.y});
            if (known != glyphs.end()) s.glyph = &known->second;
          }
          shapes_.push_back(s);
          i += isQuad ? 6 : 3;
        }
      }
    }
  }

  void letter(const Shape& s) {
    const auto& [v, clip, isQuad, known] = s;
    if (v[2].pos.x <= clip.x || v[0].pos.x >= clip.z || v[2].pos.y <= clip.y || v[0].pos.y >= clip.w) return;
    const auto [font, g] = *known;
    if (v[0].pos.y != v[1].pos.y) return rotated(v, font, g->Codepoint);
    const float scale = (v[2].pos.y - v[0].pos.y) / (g->Y1 - g->Y0), pen = v[0].pos.x - g->X0 * scale,
                top = v[0].pos.y - g->Y0 * scale;
    const float space = font->FindGlyph(' ')->AdvanceX * scale, gap = std::round((pen - pen_) / space);
    const bool goesOn = font == font_ && v[0].col == line_.color && std::abs(top - line_.top) < 0.1f &&
                        gap >= 0 && gap <= 1 && std::abs(pen - pen_ - gap * space) < 0.3f &&
                        !(gap == 1 && isNextNumber(g->Codepoint));
    if (!goesOn) {
      finish();
      line_ = {"", v[0].pos.x, v[2].pos.x, top, top + font->FontSize * scale, v[0].col, order_, false};
      line_.shownTop = std::max(line_.top, clip.y), line_.shownBottom = std::min(line_.bottom, clip.w);
      font_ = font;
    } else {
      line_.text.append(static_cast<std::size_t>(gap), ' ');
    }
    append(line_.text, g->Codepoint);
    line_.isCut |= v[0].pos.x < clip.x - 0.5f || v[2].pos.x > clip.z + 0.5f;
    line_.right = v[2].pos.x;
    pen_ = pen + g->AdvanceX * scale;
  }

  // After a number, another one is of the next cell: where cells are a space wider than their numbers.
  bool isNextNumber(unsigned codepoint) const {
    const auto isDigit = [](unsigned c) { return c >= '0' && c <= '9'; };
    return isDigit(static_cast<unsigned char>(line_.text.back())) &&
           (isDigit(codepoint) || codepoint == '-' || codepoint == 0x2212);
  }

  void rotated(const ImDrawVert* v, ImFont* font, unsigned codepoint) {
    finish();
    const auto &from = v[3].pos, &to = v[1].pos;  // lower left, upper right corner
    const bool goesOn = !slanted_.empty() && font == turnedFont_ && from.x > slanted_.back().left &&
                        from.y < slanted_.back().bottom &&
                        std::abs((from.x - slanted_.back().left) - (slanted_.back().bottom - from.y)) < 3;
    if (!goesOn) slanted_.push_back({"", from.x, to.x, to.y, from.y, v[0].col});
    append(slanted_.back().text, codepoint);
    slanted_.back().right = std::max(slanted_.back().right, to.x),
    slanted_.back().top = std::min(slanted_.back().top, to.y);
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
      to += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
             static_cast<char>(0x80 | (c & 0x3F))};
    }
  }

  std::vector<Shape> shapes_;
  std::vector<Words> words_, slanted_;
  Words line_{};
  ImFont *font_ = nullptr, *turnedFont_ = nullptr;
  float pen_ = 0;
  int order_ = 0;
};

}  // namespace test
