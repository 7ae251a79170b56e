// Text that the built-in faces have no glyphs for: whole lines, shaped and drawn by the platform, kept in textures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <imgui.h>

#include "draw/gl.h"

namespace draw {

/// How the platform draws a line: the em in framebuffer pixels, and the weight as in CSS (400, 600).
struct Face {
  float size = 16;
  int weight = 400;
};

/// A line as the platform drew it, where a pen at its left end on the baseline stands at column `left` and row `top`.
struct LinePicture {
  int left = 0, top = 0, width = 0, height = 0;
  std::vector<std::uint32_t> pixels;  ///< width · height, straight alpha, bytes in the order R, G, B, A
};

/// What a platform does with a line of text in any script (UTF-8): it shapes it, in both directions, with its own faces.
/// Without a function outside of the class, so that what derives from it may be compiled with or without type information.
class Rasteriser {
 public:
  virtual ~Rasteriser() = default;
  /// How far the pen moves, in framebuffer pixels. A place without text of its own gives half an em a character.
  virtual float measure(std::string_view text, Face face) {
    float characters = 0;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return face.size / 2 * characters;
  }
  /// Draws it in a colour (0xRRGGBB); signs that have colours of their own, such as emoji, keep them.
  virtual LinePicture rasterise(std::string_view /*text*/, Face /*face*/, std::uint32_t /*color*/) { return {}; }
};

/// Measures lines, and draws them into ImGui draw lists as textured rectangles. What was measured and drawn is kept,
/// in pages of pixels; those that have not been used for longest are reused. One object per graphics context.
class Lines {
 public:
  explicit Lines(Rasteriser& rasteriser) : rasteriser_(rasteriser) {}
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// A graphics context is there: pages that were filled before are sent to it again.
  void start();
  void contextLost();
  /// The platform draws with other faces from now on.
  void forget();
  /// Begins a frame: `scale` framebuffer pixels per logical pixel. Nothing that is drawn in it is taken away before the
  /// next one.
  void newFrame(float scale);
  /// Sends what is new to the graphics context. Between the last draw() of a frame and its rendering. False: nothing was.
  bool upload();

  /// In logical pixels; `size` of the face is in logical pixels too, here and below.
  float width(std::string_view text, Face face);
  /// Draws with the pen at (x, baseline), moved to the nearest pixels.
  void draw(ImDrawList* list, std::string_view text, Face face, float x, float baseline, ImU32 color);
  /// The same, not kept.
  float measure(std::string_view text, Face face) const { return rasteriser_.measure(text, {face.size * scale_, face.weight}) / scale_; }
  /// A place to keep how many bytes of a line fit that width; npos until someone has found out.
  std::size_t& cut(std::string_view text, Face face, float width);

  /// One that was drawn while they are recorded.
  struct Drawn {
    std::string text;
    Face face;
  };
  /// From now on draw() makes no pictures: its rectangles have the texture kRecorded, from the pen to the end of the line and an em high, stand on the
  /// baseline, and u is the number of the line in `to`.
  void record(std::vector<Drawn>& to) { recorded_ = &to; }
  static inline const ImTextureID kRecorded = reinterpret_cast<ImTextureID>(~std::uintptr_t{0});

  std::size_t bytes() const { return pages_.size() * kPageBytes; }

  static constexpr int kWidth = 2048, kHeight = 512;  ///< of a page; a line is cut off at its width
  static constexpr std::size_t kPageBytes = std::size_t{kWidth} * kHeight * 4;
  static constexpr std::size_t kMostPages = 4;  ///< more only where a single frame needs them

 private:
  struct Page {
    std::vector<std::uint32_t> pixels;
    GLuint name = 0;
    bool isNew = true;                       ///< has no texture of its size yet
    int x = 0, shelf = 0, shelfHeight = 0;   ///< where the next line goes
    int dirtyTop = kHeight, dirtyBottom = 0; ///< rows that were not sent yet
    std::uint64_t used = 0;                  ///< the frame
  };
  struct Entry {
    float advance = -1;
    std::size_t cut = std::string::npos;
    Page* page = nullptr;  ///< where its picture is, if it has one
    int left = 0, top = 0, x = 0, y = 0, width = 0, height = 0;
    bool drawn = false, coloured = false;
  };

  Entry& find(std::string_view text, Face face, std::uint32_t color);
  void rasterise(Entry& entry, std::string_view text, Face face, std::uint32_t color);
  void place(Entry& entry, const LinePicture& picture);
  Page& pageWithRoom(int width, int height);
  void clear(Page& page);

  Rasteriser& rasteriser_;
  std::unordered_map<std::string, Entry> entries_;
  std::deque<Page> pages_;
  std::size_t keyBytes_ = 0;
  std::string key_;
  std::uint64_t frame_ = 1;
  float scale_ = 1;
  std::vector<Drawn>* recorded_ = nullptr;
  bool started_ = false;
};

}  // namespace draw
