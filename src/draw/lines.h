// Text with characters that the built-in fonts do not have: whole lines are shaped and rasterised by the
// platform, and cached in textures.
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

/// Font parameters for the platform: the em size in framebuffer pixels, and the CSS weight (400, 600).
struct Face {
  float size = 16;
  int weight = 400;
};

/// A rasterised line. With the pen at its left end on the baseline at (0, 0), the picture's top left pixel is
/// at (`left`, `top`).
struct LinePicture {
  int left = 0, top = 0, width = 0, height = 0;
  std::vector<std::uint32_t> pixels;  ///< width · height, straight alpha, bytes in the order R, G, B, A
};

/// Implemented by the platform: shapes and rasterises a line of text in any script and direction (UTF-8),
/// with its own fonts. All functions are defined in the class, so that derived classes may be compiled with
/// or without RTTI.
class Rasteriser {
 public:
  virtual ~Rasteriser() = default;
  /// The advance width in framebuffer pixels. This default, for platforms without text, assumes half an em
  /// per character.
  virtual float measure(std::string_view text, Face face) {
    float characters = 0;
    for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    return face.size / 2 * characters;
  }
  /// Rasterises the line in a colour (0xRRGGBB); characters with colours of their own, such as emoji, keep
  /// them.
  virtual LinePicture rasterise(std::string_view /*text*/, Face /*face*/, std::uint32_t /*color*/) {
    return {};
  }
};

/// Measures lines, and draws them into ImGui draw lists as textured rectangles. Measurements and pictures are
/// cached, pictures in atlas pages; the least recently used pages are reused. One object per graphics
/// context.
class Lines {
 public:
  explicit Lines(Rasteriser& rasteriser) : rasteriser_(rasteriser) {}
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// To be called when there is a new graphics context: uploads the existing pages to it.
  void start();
  void contextLost();
  /// To be called when the platform's fonts have changed: clears the cache.
  void forget();
  /// Begins a frame with `scale` framebuffer pixels per logical pixel. What is drawn in it stays in the cache
  /// until the next frame.
  void newFrame(float scale);
  /// Uploads new pictures to the graphics context. To be called between the last draw() of a frame and its
  /// rendering. False if there was nothing to upload.
  bool upload();

  /// The width in logical pixels; from here on sizes of faces are in logical pixels too.
  float width(std::string_view text, Face face);
  /// Draws a line with the pen at (x, baseline), rounded to whole pixels.
  void draw(ImDrawList* list, std::string_view text, Face face, float x, float baseline, ImU32 color);
  /// The same as width(), but not cached.
  float measure(std::string_view text, Face face) const {
    return rasteriser_.measure(text, {face.size * scale_, face.weight}) / scale_;
  }
  /// A cached number for the caller: how many bytes of the line fit the width; npos until it is set.
  std::size_t& cut(std::string_view text, Face face, float width);

  /// A line that was drawn while recording.
  struct Drawn {
    std::string text;
    Face face;
  };
  /// From now on draw() creates no pictures. Its rectangles have the texture kRecorded, extend from the pen
  /// to the end of the line and one em above the baseline, and have the index of the line in `to` as their u.
  void record(std::vector<Drawn>& to) { recorded_ = &to; }
  static inline const ImTextureID kRecorded = reinterpret_cast<ImTextureID>(~std::uintptr_t{0});

  std::size_t bytes() const { return pages_.size() * kPageBytes; }

  static constexpr int kWidth = 2048, kHeight = 512;  ///< of a page; longer lines are cut off
  static constexpr std::size_t kPageBytes = std::size_t{kWidth} * kHeight * 4;
  static constexpr std::size_t kMostPages = 4;  ///< exceeded only if a single frame needs more

 private:
  struct Page {
    std::vector<std::uint32_t> pixels;
    GLuint name = 0;
    bool isNew = true;                        ///< its texture has not been allocated yet
    int x = 0, shelf = 0, shelfHeight = 0;    ///< position of the next line, in a shelf-packing layout
    int dirtyTop = kHeight, dirtyBottom = 0;  ///< rows to be uploaded
    std::uint64_t used = 0;                   ///< the last frame that used it
  };
  struct Entry {
    float advance = -1;
    std::size_t cut = std::string::npos;
    Page* page = nullptr;  ///< the page that contains its picture; null if there is none
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
