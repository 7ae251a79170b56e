#include "shell/desktop/damage_tracker.h"

#include <imgui.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/hash.h"
#include "draw/heatmap.h"

namespace shell {
namespace {

using Box = DamageTracker::Box;

constexpr int kTile = 32;        // framebuffer pixels
constexpr unsigned kOfLine = 6;  // triangles of a segment of a line with smooth edges
constexpr std::size_t kMostBoxes =
    48;  // with more boxes, neighbours are joined, because each takes clipping of its own

Box common(const Box& a, const Box& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

/// The smallest box around both; an empty one does not count.
Box joined(const Box& a, const Box& b) {
  if (a.isEmpty() || b.isEmpty()) return a.isEmpty() ? b : a;
  return {std::min(a.left, b.left), std::min(a.top, b.top), std::max(a.right, b.right),
          std::max(a.bottom, b.bottom)};
}

/// Do they have pixels in common? Of empty boxes only Box{} is allowed.
bool touch(const Box& a, const Box& b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/// The pixels that a command may touch, computed like the renderer of Dear ImGui, or that of heatmaps, does.
Box clipOf(const ImDrawCmd& command, const ImDrawData& data, const Box& frame, bool isHeatmap) {
  const ImVec2 scale = data.FramebufferScale;
  const float left = command.ClipRect.x * scale.x, top = command.ClipRect.y * scale.y;
  const float right = command.ClipRect.z * scale.x, bottom = command.ClipRect.w * scale.y;
  if (isHeatmap) {
    return common(frame, {static_cast<int>(std::floor(left)), static_cast<int>(std::floor(top)),
                          static_cast<int>(std::ceil(right)), static_cast<int>(std::ceil(bottom))});
  }
  const int x = static_cast<int>(left),
            fromBelow = static_cast<int>(static_cast<float>(frame.bottom) - bottom);
  const int height = static_cast<int>(bottom - top), end = frame.bottom - fromBelow;
  return common(frame, {x, end - height, x + static_cast<int>(right - left), end});
}

/// A clip rectangle for which the renderers, which round differently, clip exactly at that box.
ImVec4 clipAt(const Box& box, const ImDrawData& data, bool isHeatmap) {
  const float q = 0.25f, left = static_cast<float>(box.left) + q,
              right = static_cast<float>(box.right) + (isHeatmap ? -q : 2 * q);
  const float top = static_cast<float>(box.top) + (isHeatmap ? q : -2 * q),
              bottom = static_cast<float>(box.bottom) - q;
  const ImVec2 scale = data.FramebufferScale;
  return {left / scale.x, top / scale.y, right / scale.x, bottom / scale.y};
}

/// The pixels whose centres may be covered by `count` triangles with three indices each.
Box around(const ImDrawList& list, const ImDrawCmd& command, unsigned from, int count, ImVec2 scale) {
  ImVec2 least{1e9f, 1e9f}, most{-1e9f, -1e9f};
  for (int i = 0; i < 3 * count; ++i) {
    const ImVec2& at =
        list.VtxBuffer[static_cast<int>(list.IdxBuffer[static_cast<int>(from) + i] + command.VtxOffset)].pos;
    least = {std::min(least.x, at.x), std::min(least.y, at.y)},
    most = {std::max(most.x, at.x), std::max(most.y, at.y)};
  }
  const auto whole = [](float length) { return static_cast<int>(std::clamp(length, -1e6f, 1e6f)); };
  return {whole(std::floor(least.x * scale.x)), whole(std::floor(least.y * scale.y)),
          whole(std::ceil(most.x * scale.x)), whole(std::ceil(most.y * scale.y))};
}

/// Are the next two triangles the halves of a rectangle? Most are: glyphs and filled shapes.
bool isPair(const ImDrawList& list, unsigned from, unsigned end) {
  if (from + 6 > end) return false;
  const ImDrawIdx* i = &list.IdxBuffer[static_cast<int>(from)];
  return i[3] == i[0] && i[4] == i[2] && i[5] == i[2] + 1;
}

/// How many of the next triangles are treated as one piece: the two of a rectangle, or as many as a segment
/// of a line has, which is what most others belong to.
unsigned inPiece(const ImDrawList& list, unsigned from, unsigned end) {
  if (isPair(list, from, end)) return 2;
  unsigned count = 1;
  while (count < kOfLine && from + 3 * count < end && !isPair(list, from + 3 * count, end)) ++count;
  return count;
}

/// Calls call(from, triangles) for each piece of a command.
template <class Call>
void each(const ImDrawList& list, const ImDrawCmd& command, Call call) {
  const unsigned end = command.IdxOffset + command.ElemCount;
  for (unsigned at = command.IdxOffset; at < end;) {
    const unsigned count = inPiece(list, at, end);
    call(at, static_cast<int>(count));
    at += 3 * count;
  }
}

std::uint64_t numberOf(const ImDrawList& list, const ImDrawCmd& command, unsigned from, int count,
                       const Box& clip) {
  base::Hash hash;
  hash.add(reinterpret_cast<std::uint64_t>(command.TextureId));
  hash.add(&clip, sizeof clip);
  for (int i = 0; i < 3 * count; ++i)
    hash.add(
        &list.VtxBuffer[static_cast<int>(list.IdxBuffer[static_cast<int>(from) + i] + command.VtxOffset)],
        sizeof(ImDrawVert));
  return hash.value();
}

Box boxOf(const draw::Heatmaps::Part& part) { return {part.left, part.top, part.right, part.bottom}; }

}  // namespace

void DamageTracker::begin(const ImDrawData& data, bool isAnew) {
  const ImVec2 size = data.DisplaySize, scale = data.FramebufferScale;
  const Box frame{0, 0, static_cast<int>(size.x * scale.x), static_cast<int>(size.y * scale.y)};
  const bool isSame = frame == frame_ && !isAnew;
  frame_ = frame, across_ = (frame.right + kTile - 1) / kTile, down_ = (frame.bottom + kTile - 1) / kTile;
  std::swap(before_, now_);
  now_.assign(static_cast<std::size_t>(across_) * static_cast<std::size_t>(down_), 1);
  if (!isSame) before_.assign(now_.size(), 0);
}

void DamageTracker::add(Box box, std::uint64_t number) {
  box = common(box, frame_);
  if (box.isEmpty()) return;
  for (int row = box.top / kTile; row <= (box.bottom - 1) / kTile; ++row) {
    for (int col = box.left / kTile; col <= (box.right - 1) / kTile; ++col) {
      std::uint64_t& tile = now_[static_cast<std::size_t>(row) * static_cast<std::size_t>(across_) +
                                 static_cast<std::size_t>(col)];
      tile = std::rotl((tile ^ number) * 0x9e3779b97f4a7c15, 29) | 1;  // never 0, which stands for nothing
    }
  }
}

void DamageTracker::notePieces(const ImDrawData& data, const draw::Heatmaps& heatmaps) {
  pieces_.clear();
  int number = 0;
  for (const ImDrawList* list : data.CmdLists) {
    for (const ImDrawCmd& command : list->CmdBuffer) {
      ++number;
      const auto seen = heatmaps.look(command);
      const bool isHeatmap = seen.look != 0;
      const Box clip = clipOf(command, data, frame_, isHeatmap);
      const auto note = [&](const Box& box, unsigned from, int triangles) {
        const Box inClip = common(clip, box);
        pieces_.push_back({inClip.isEmpty() ? Box{} : inClip, clip, number, from, triangles});
      };
      if (isHeatmap) {
        note(boxOf(seen.place), 0, 0);
        add(pieces_.back().box, seen.look);
        for (const draw::Heatmaps::Part& part : seen.changed) add(common(clip, boxOf(part)), ++unlike_);
      } else if (command.UserCallback == nullptr) {
        each(*list, command, [&](unsigned from, int triangles) {
          note(around(*list, command, from, triangles, data.FramebufferScale), from, triangles);
          add(pieces_.back().box, numberOf(*list, command, from, triangles, clip));
        });
      }
      if (pieces_.empty() || pieces_.back().command != number) note({}, 0, 0);
    }
  }
}

/// Runs of changed tiles in a row, joined with equal runs in the rows below.
std::vector<Box> DamageTracker::changed() const {
  std::vector<Box> boxes;
  for (int row = 0; row < down_; ++row) {
    for (int col = 0; col < across_; ++col) {
      const auto differs = [&](int at) {
        const std::size_t tile =
            static_cast<std::size_t>(row) * static_cast<std::size_t>(across_) + static_cast<std::size_t>(at);
        return now_[tile] != before_[tile];
      };
      if (!differs(col)) continue;
      const int first = col;
      while (col < across_ && differs(col)) ++col;
      const Box run = common(frame_, {first * kTile, row * kTile, col * kTile, (row + 1) * kTile});
      const auto above = std::find_if(boxes.begin(), boxes.end(), [&](const Box& box) {
        return box.bottom == run.top && box.left == run.left && box.right == run.right;
      });
      if (above != boxes.end()) above->bottom = run.bottom;
      else boxes.push_back(run);
    }
  }
  if (boxes.size() <= kMostBoxes) return boxes;
  Box all = boxes.front();
  for (const Box& box : boxes) all = joined(all, box);
  return {all};
}

/// Reduces a list to what touches a box; `piece` is the index of its first piece, and is advanced to that of
/// the next list.
void DamageTracker::cut(ImDrawList& list, const ImDrawData& data, const std::vector<Box>& boxes,
                        std::size_t& piece) const {
  ImVector<ImDrawCmd> commands;
  ImVector<ImDrawIdx> indices;
  for (ImDrawCmd command : list.CmdBuffer) {
    const std::size_t first = piece;
    Box all;
    for (; piece < pieces_.size() && pieces_[piece].command == pieces_[first].command; ++piece)
      all = joined(all, pieces_[piece].box);
    if (command.UserCallback == ImDrawCallback_ResetRenderState) commands.push_back(command);
    for (const Box& box : boxes) {
      if (!touch(all, box)) continue;
      const int begin = indices.Size;
      bool touches = false;
      for (std::size_t i = first; i < piece; ++i) {
        const Piece& p = pieces_[i];
        if (!touch(p.box, box)) continue;
        touches = true;
        for (int k = 0; k < 3 * p.triangles; ++k)
          indices.push_back(list.IdxBuffer[static_cast<int>(p.from) + k]);
      }
      if (!touches) continue;
      ImDrawCmd part = command;
      part.ClipRect = clipAt(common(box, pieces_[first].clip), data, command.UserCallback != nullptr);
      part.IdxOffset = static_cast<unsigned>(begin),
      part.ElemCount = static_cast<unsigned>(indices.Size - begin);
      commands.push_back(part);
    }
  }
  list.CmdBuffer.swap(commands), list.IdxBuffer.swap(indices);
}

std::vector<Box> DamageTracker::reduce(ImDrawData& data, const draw::Heatmaps& heatmaps, bool isAnew) {
  begin(data, isAnew);
  notePieces(data, heatmaps);
  const std::vector<Box> boxes = changed();
  std::size_t piece = 0;
  if (boxes != std::vector<Box>{frame_})
    for (ImDrawList* list : data.CmdLists) cut(*list, data, boxes, piece);
  return boxes;
}

}  // namespace shell
