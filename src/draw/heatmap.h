// Matrices as coloured cells: a texture with one float per cell, and the colour map in the fragment shader.
// Drawn in sequence with the other commands of an ImGui draw list.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ImDrawList;
struct ImDrawCmd;

namespace draw {

/// Non-premultiplied sRGB, components 0 … 1.
struct Color {
  float r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Color&) const = default;
};

/// A colour map: evenly spaced stops, interpolated linearly in sRGB. Diverging maps have 0 in the middle.
struct ColorMap {
  static constexpr int kStops = 9;
  std::array<Color, kStops> stops;
};

/// The colour at t, clamped to 0 … 1 (NaN gives the first colour). Must match the shader, because the
/// contrast of text depends on it.
Color at(const ColorMap& map, float t);
/// The relative luminance of an opaque colour by WCAG 2.2, from 0, black, to 1, white.
float luminance(Color color);
/// The contrast ratio of two opaque colours by WCAG 2.2, 1 … 21.
float contrast(Color a, Color b);

/// Which rows and columns of a matrix were written since a given revision: those whose number is larger. If
/// this is not known, if `whole` is larger, or if the texture held another matrix, all cells are compared.
struct Written {
  bool isTold = false;
  std::uint32_t whole = 0;
  /// One number each, or null: none written since `whole`.
  const std::uint32_t *rows = nullptr, *cols = nullptr;
};

/// A matrix that is not in memory, and makes its rows when they are read.
struct MadeRows {
  /// So many numbers of a row from a column on, valid until others are asked for; null for a matrix in
  /// memory.
  const float* (*of)(const void* matrix, int head, int row, int col, int count) = nullptr;
  const void* matrix = nullptr;
  int head = 0, firstRow = 0, firstCol = 0;
  /// The whole matrix in blocks of `side` cells a side, rows of them `stride` apart. What moves into view is
  /// shown by its blocks, until it has been made, some rows in each frame. Null: all is made at once.
  const float* blocks = nullptr;
  int side = 1, stride = 0;
};

/// The numbers of one matrix in memory: row-major, rows `stride` floats apart. With `made` they are read from
/// there, and `data` only tells them from others.
struct Values {
  const float* data = nullptr;
  int rows = 0, cols = 0, stride = 0;
  std::uint64_t revision = 0;  ///< the texture is updated when this or `data` differs from last time
  Written written{};
  const float* rowPeaks = nullptr;  ///< the largest magnitude in each row, for Scale::row
  MadeRows made{};

  const float* row(int r) const {
    return made.of ? madeRow(r) : data + static_cast<std::ptrdiff_t>(r) * stride;
  }
  const float* madeRow(int r) const;
};

/// How values map to colours: linearly, by the square or fourth root of their magnitude, or relative to the
/// largest magnitude in their row.
enum class Scale { linear, root, row, fourthRoot = 4 };

/// Where and how to draw a matrix. Lengths are in logical pixels.
struct Heatmap {
  /// Top left corner of the first cell, including half its gap; rounded to whole framebuffer pixels.
  float x = 0, y = 0;
  /// Distance from cell to cell; if it is less than a framebuffer pixel, each pixel shows the value farthest
  /// from 0.
  float cell = 48;
  float gap = 2;  ///< space between cells; none if the pitch is less than 6 framebuffer pixels
  float radius = 3;
  bool transposed = false;   ///< rows of the matrix are shown as columns
  float low = -1, high = 1;  ///< values at the two ends of the colour map
  ColorMap map;
  Scale scale = Scale::linear;
  bool mean = false;  ///< show the mean instead, where cells are smaller than a pixel
  /// Border of cells with -inf: dashed if there is room, otherwise the cell is hatched.
  Color masked;
  Color masked_fill;
  float opacity = 1;
};

/// The position of a value on the colour map, 0 … 1. `peak` is the largest magnitude in its row. Must match
/// the shader.
float fraction(const Heatmap& heatmap, float value, float peak);

/// Draws heatmaps. One object per graphics context; frees all OpenGL objects that it creates.
class Heatmaps {
 public:
  Heatmaps();
  ~Heatmaps();
  Heatmaps(const Heatmaps&) = delete;
  Heatmaps& operator=(const Heatmaps&) = delete;

  /// A hash of everything drawn in this frame: positions, looks and values.
  std::uint64_t fingerprint() const;

  /// Compiles the shaders in the current context. `version` is their first line ("#version 300 es", "#version
  /// 330 core"). Returns "", or the driver's message if it fails.
  std::string start(const char* version);
  /// To be called when the context was lost: drops its objects without freeing them. start() creates new
  /// ones.
  void contextLost();

  /// Begins a frame with `scale` framebuffer pixels per logical pixel.
  void newFrame(float displayWidth, float displayHeight, float scale);
  /// Adds a matrix to `list`, with its present clip rectangle. `slot` identifies the texture: use the same
  /// number for the same matrix in every frame. `values` must stay valid until the frame is rendered.
  void draw(ImDrawList* list, std::uint32_t slot, const Values& values, const Heatmap& heatmap);
  /// If the command was added by draw(), returns true and its arguments.
  static bool queued(const ImDrawCmd& command, Values& values, Heatmap& heatmap);
  /// A rectangle in framebuffer pixels; y goes down; right and bottom are exclusive.
  struct Part {
    int left = 0, top = 0, right = 0, bottom = 0;
  };
  /// What a matrix would show. `look` is a hash of everything except its numbers, 0 for commands of other
  /// kinds; `changed` are the areas whose numbers differ from when it was last drawn.
  struct Seen {
    Part place;
    std::uint64_t look = 0;
    std::vector<Part> changed;
  };
  /// What the command would show if it were drawn now.
  Seen look(const ImDrawCmd& command) const;
  /// Does the matrix in that slot show blocks in place of rows that have still to be made?
  bool isMaking(std::uint32_t slot) const;
  /// Frees textures that have not been drawn for a while (of heads that no longer exist).
  void trim();

  /// The number of cells uploaded to the GPU since the start, to measure what an edit uploads.
  std::uint64_t uploadedCells() const;

 private:
  struct Parts;
  static void callBack(const ImDrawList*, const ImDrawCmd* command);
  std::unique_ptr<Parts> parts_;
};

}  // namespace draw
