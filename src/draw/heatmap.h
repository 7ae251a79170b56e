// Matrices as coloured cells: one float per cell in a texture, colour map in the fragment shader, drawn in the order
// of an ImGui draw list.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct ImDrawList;
struct ImDrawCmd;

namespace draw {

/// Straight sRGB, 0 … 1.
struct Color {
  float r = 0, g = 0, b = 0, a = 1;
  bool operator==(const Color&) const = default;
};

/// A colour map: evenly spaced stops, mixed linearly in sRGB. Diverging maps have 0 in the middle.
struct ColorMap {
  static constexpr int kStops = 9;
  std::array<Color, kStops> stops;
};

/// The colour at t in 0 … 1 (clamped; NaN gives the first). The shader computes the same; text contrast relies on it.
Color at(const ColorMap& map, float t);
/// WCAG 2.2 contrast ratio, 1 … 21, of two opaque colours.
float contrast(Color a, Color b);

/// Which rows and columns of a matrix are newer than an older revision: those whose number is larger. All are compared
/// where this is not told, where `whole` is newer, and where the texture held something else.
struct Written {
  bool isTold = false;
  std::uint32_t whole = 0;
  const std::uint32_t *rows = nullptr, *cols = nullptr;  ///< one each, or null: none since `whole`
};

/// The numbers of one matrix as they lie in memory, row-major with `stride` floats from row to row.
struct Values {
  const float* data = nullptr;
  int rows = 0, cols = 0, stride = 0;
  std::uint64_t revision = 0;  ///< the texture is brought up to date when this or `data` differs from last time
  Written written{};
  const float* rowPeaks = nullptr;  ///< the largest size in each row, for Scale::row
};

/// How a colour follows from a value: in proportion, by the square root of its size, or by its share of the largest in
/// its row.
enum class Scale { linear, root, row };

/// Where and how to draw it. Lengths are logical pixels.
struct Heatmap {
  float x = 0, y = 0;          ///< top left of the pitch of the first cell; moved to the next whole framebuffer pixel
  float cell = 48;             ///< pitch; below one framebuffer pixel, a pixel shows the number that is farthest from 0
  float gap = 2;               ///< between cells, half on each side of one; none below 6 framebuffer pixels of pitch
  float radius = 3;
  bool transposed = false;     ///< rows of the matrix run across
  float low = -1, high = 1;    ///< values at the two ends of the map
  ColorMap map;
  Scale scale = Scale::linear;
  bool mean = false;           ///< instead, such a pixel shows the mean of its cells
  Color masked;                ///< border of cells that hold -inf: dashed when there is room, else hatched
  Color masked_fill;
  float opacity = 1;
};

/// Where a value stands on the map, 0 … 1. `peak` is of its row. The shader computes the same.
float fraction(const Heatmap& heatmap, float value, float peak);

/// Draws heatmaps. One object per graphics context; every OpenGL name that it makes is freed with it.
class Heatmaps {
 public:
  Heatmaps();
  ~Heatmaps();
  Heatmaps(const Heatmaps&) = delete;
  Heatmaps& operator=(const Heatmaps&) = delete;

  /// Stands for all that was drawn in this frame: where, how, and which values.
  std::uint64_t fingerprint() const;

  /// Compiles the shaders in the current context. `version` is the first line ("#version 300 es", "#version 330 core").
  /// Returns the driver's message when that fails, else "".
  std::string start(const char* version);
  /// The context is gone: forget its names without freeing them; start() makes all anew.
  void contextLost();

  /// Begins a frame: `scale` framebuffer pixels per logical pixel.
  void newFrame(float displayWidth, float displayHeight, float scale);
  /// Queues a matrix behind what is in `list` so far, clipped as `list` is. `slot` names the texture: give the same
  /// number for the same matrix in every frame. `values` must live until the frame is rendered.
  void draw(ImDrawList* list, std::uint32_t slot, const Values& values, const Heatmap& heatmap);
  /// Is that command one of draw()? Then what it was given, with x, y and lengths as they were.
  static bool queued(const ImDrawCmd& command, Values& values, Heatmap& heatmap);
  /// Framebuffer pixels; y runs down; right and bottom are outside.
  struct Part {
    int left = 0, top = 0, right = 0, bottom = 0;
  };
  /// What a queued matrix shows, but for its numbers, stands in `look`, 0 for other commands; in `changed`, where its numbers
  /// are others than when it was drawn last.
  struct Seen {
    Part place;
    std::uint64_t look = 0;
    std::vector<Part> changed;
  };
  /// How that command would look if it were drawn now.
  Seen look(const ImDrawCmd& command) const;
  /// Frees textures that were not drawn for a while (heads that were removed).
  void trim();

  /// Cells sent to the GPU since the start: a measure of how much an edit uploads.
  std::uint64_t uploadedCells() const;

 private:
  struct Parts;
  static void callBack(const ImDrawList*, const ImDrawCmd* command);
  std::unique_ptr<Parts> parts_;
};

}  // namespace draw
