#include "draw/recorded.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace draw {
namespace {

constexpr float kNear = 0.05f;

bool isNear(ImVec2 a, ImVec2 b, float most = kNear) {
  return std::abs(a.x - b.x) < most && std::abs(a.y - b.y) < most;
}
ImVec2 middle(ImVec2 a, ImVec2 b) { return {(a.x + b.x) / 2, (a.y + b.y) / 2}; }
float length(ImVec2 from, ImVec2 to) { return std::hypot(to.x - from.x, to.y - from.y); }

void append(std::string& to, unsigned c) {
  if (c < 0x80) to += static_cast<char>(c);
  else if (c < 0x800) to += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
  else
    to += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
           static_cast<char>(0x80 | (c & 0x3F))};
}

class Reader {
 public:
  Reader(const ImDrawData& data, const ImFontAtlas& atlas, const std::vector<Lines::Drawn>& drawn,
         Recorder& recorder)
      : data_(data),
        drawn_(drawn),
        to_(recorder) {
    for (const ImFont* font : atlas.Fonts)
      for (const ImFontGlyph& g : font->Glyphs)
        if (g.Visible) glyphs_[{g.U0, g.V0, g.U1, g.V1}] = {font, &g};
  }

  void read() {
    for (const ImDrawList* list : data_.CmdLists) {
      for (const ImDrawCmd& command : list->CmdBuffer) {
        clip_ = command.ClipRect;
        if (command.UserCallback != nullptr) {
          finish();
          Values values;
          Heatmap heatmap;
          if (Heatmaps::queued(command, values, heatmap)) to_.heatmap(values, heatmap, clip_);
          continue;
        }
        isLines_ = command.GetTexID() == Lines::kRecorded;
        shapes(*list, command);
        finish();
      }
    }
  }

 private:
  struct Uv {
    float u0, v0, u1, v1;
    auto operator<=>(const Uv&) const = default;
  };

  void shapes(const ImDrawList& list, const ImDrawCmd& command) {
    const ImDrawIdx* at = list.IdxBuffer.Data + command.IdxOffset;
    const auto vertex = [&](unsigned i) -> const ImDrawVert& {
      return list.VtxBuffer[static_cast<int>(command.VtxOffset + at[i])];
    };
    for (unsigned i = 0; i + 2 < command.ElemCount;) {
      // A fan: every triangle starts at the first vertex, and continues at the last one of the triangle
      // before.
      unsigned end = i + 3;
      while (end + 2 < command.ElemCount && at[end] == at[i] && at[end + 1] == at[end - 1] &&
             at[end + 2] == at[end + 1] + 1)
        end += 3;
      std::vector<ImDrawVert> corners{vertex(i), vertex(i + 1)};
      for (unsigned t = i; t < end; t += 3) corners.push_back(vertex(t + 2));
      if (corners.size() == 4) quad(corners);
      else polygon(corners);
      i = end;
    }
  }

  void polygon(const std::vector<ImDrawVert>& corners) {
    finish();
    std::vector<ImVec2> points;
    for (const ImDrawVert& v : corners) points.push_back(v.pos);
    if ((corners[0].col & IM_COL32_A_MASK) != 0) to_.polygon(points, corners[0].col, clip_);
  }

  void quad(const std::vector<ImDrawVert>& v) {
    if (isLines_) return line(v);
    const auto known = glyphs_.find({v[0].uv.x, v[0].uv.y, v[2].uv.x, v[2].uv.y});
    if (known != glyphs_.end()) return letter(v, *known->second.first, *known->second.second);
    endWords();
    if ((v[0].col & IM_COL32_A_MASK) == 0) return;
    const ImVec2 a = middle(v[0].pos, v[3].pos), b = middle(v[1].pos, v[2].pos);
    const float wide = length(v[0].pos, v[3].pos);
    const ImVec2 across{v[0].pos.x - v[3].pos.x, v[0].pos.y - v[3].pos.y}, along{b.x - a.x, b.y - a.y};
    const bool isLine =
        isNear({v[0].pos.x + along.x, v[0].pos.y + along.y}, v[1].pos) &&
        std::abs(across.x * along.x + across.y * along.y) <= kNear * std::max(1.0f, wide * length(a, b));
    if (!isLine) return polygon(v);
    const bool goesOn = !stroke_.empty() && v[0].col == color_ && std::abs(wide - width_) < kNear &&
                        isNear(a, stroke_.back(), 0.02f);
    if (!goesOn) {
      endStroke();
      stroke_ = {a}, color_ = v[0].col, width_ = wide;
      first_ = {v[0].pos, v[2].pos};
    }
    stroke_.push_back(b);
  }

  void endStroke() {
    if (stroke_.empty()) return;
    std::vector<ImVec2> points = std::exchange(stroke_, {});
    const auto [from, to] = first_;
    const bool isStraight = points.size() == 2 && (std::abs(points[0].x - points[1].x) < 0.01f ||
                                                   std::abs(points[0].y - points[1].y) < 0.01f);
    if (isStraight)
      return to_.rect({std::min(from.x, to.x), std::min(from.y, to.y)},
                      {std::max(from.x, to.x), std::max(from.y, to.y)}, color_, clip_);
    const bool isClosed = points.size() > 3 && isNear(points.front(), points.back());
    if (isClosed) points.pop_back();
    to_.stroke(points, isClosed, width_, color_, clip_);
  }

  /// Adds a glyph. It continues the text before it if it starts where that ended, or one space further on.
  void letter(const std::vector<ImDrawVert>& v, const ImFont& font, const ImFontGlyph& g) {
    endStroke();
    const ImVec2 right{v[1].pos.x - v[0].pos.x, v[1].pos.y - v[0].pos.y},
        down{v[3].pos.x - v[0].pos.x, v[3].pos.y - v[0].pos.y};
    const float sx = std::hypot(right.x, right.y) / (g.X1 - g.X0),
                scale = std::hypot(down.x, down.y) / (g.Y1 - g.Y0);
    const ImVec2 x{right.x / (g.X1 - g.X0) / sx, right.y / (g.X1 - g.X0) / sx},
        y{down.x / (g.Y1 - g.Y0) / scale, down.y / (g.Y1 - g.Y0) / scale};
    const float base = (font.Ascent - g.Y0) * scale, back = g.X0 * sx;
    const ImVec2 pen{v[0].pos.x - x.x * back + y.x * base, v[0].pos.y - x.y * back + y.y * base};
    const float angle = std::atan2(right.y, right.x) * 57.2957795f;
    const ImVec2 away{pen.x - pen_.x, pen.y - pen_.y};
    const float ahead = away.x * x.x + away.y * x.y, aside = away.x * y.x + away.y * y.y,
                space = blankOf(font) * sx, gap = std::round(ahead / space);
    const bool goesOn = words_.font == &font && words_.color == v[0].col &&
                        std::abs(angle - words_.angle) < 1 && std::abs(aside) < 0.3f && gap >= 0 &&
                        gap <= 1 && std::abs(ahead - gap * space) < std::max(0.3f, 0.12f * space) &&
                        std::abs(words_.size - font.FontSize * scale) < 0.2f;
    if (!goesOn) {
      endWords();
      words_ = {
          {},      &font, {}, pen.x, pen.y, 0, font.FontSize * scale, std::abs(angle) < 0.1f ? 0 : angle,
          v[0].col};
    } else if (gap > 0) {
      words_.text += ' ';
    }
    append(words_.text, g.Codepoint);
    pen_ = {pen.x + x.x * g.AdvanceX * sx, pen.y + x.y * g.AdvanceX * sx};
    words_.width = length({words_.x, words_.baseline}, pen_);
  }

  static float blankOf(const ImFont& font) {
    const ImFontGlyph* blank = font.FindGlyphNoFallback(' ');
    return blank != nullptr ? blank->AdvanceX : font.FontSize / 4;
  }

  /// A line recorded by Lines; its u coordinate is the index of the line.
  void line(const std::vector<ImDrawVert>& v) {
    finish();
    const auto number = static_cast<std::size_t>(std::lround(v[0].uv.x));
    if (number >= drawn_.size()) return;
    const Lines::Drawn& drawn = drawn_[number];
    const ImVec2 right{v[1].pos.x - v[0].pos.x, v[1].pos.y - v[0].pos.y};
    const float angle = std::atan2(right.y, right.x) * 57.2957795f;
    to_.words({drawn.text, nullptr, drawn.face, v[3].pos.x, v[3].pos.y, length({0, 0}, right),
               drawn.face.size, std::abs(angle) < 0.1f ? 0 : angle, v[0].col},
              clip_);
  }

  void endWords() {
    if (!words_.text.empty()) to_.words(words_, clip_);
    words_ = {};
  }
  void finish() { endStroke(), endWords(); }

  const ImDrawData& data_;
  const std::vector<Lines::Drawn>& drawn_;
  Recorder& to_;
  std::map<Uv, std::pair<const ImFont*, const ImFontGlyph*>> glyphs_;
  ImVec4 clip_{};
  bool isLines_ = false;
  Recorder::Words words_;
  ImVec2 pen_{};
  std::vector<ImVec2> stroke_;
  std::pair<ImVec2, ImVec2> first_;
  ImU32 color_ = 0;
  float width_ = 0;
};

}  // namespace

void readBack(const ImDrawData& data, const ImFontAtlas& atlas, const std::vector<Lines::Drawn>& drawn,
              Recorder& recorder) {
  Reader(data, atlas, drawn, recorder).read();
}

}  // namespace draw
