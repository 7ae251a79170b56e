#include "draw/lines.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace draw {
namespace {

constexpr std::uint32_t kBlack = 0, kOpaque = 0xff000000u;
constexpr std::size_t kMostKeyBytes = 1u << 20;

/// Does a picture drawn in black contain colours?
bool hasColors(const LinePicture& picture) {
  return std::any_of(picture.pixels.begin(), picture.pixels.end(),
                     [](std::uint32_t p) { return (p & ~kOpaque) != 0; });
}

std::uint32_t rgb(ImU32 color) {
  return (color >> IM_COL32_R_SHIFT & 255u) << 16 | (color >> IM_COL32_G_SHIFT & 255u) << 8 |
         (color >> IM_COL32_B_SHIFT & 255u);
}

}  // namespace

Lines::~Lines() {
  if (!started_) return;
  for (const Page& page : pages_) glDeleteTextures(1, &page.name);
}

void Lines::start() {
  started_ = true;
  for (Page& page : pages_) {
    if (page.name == 0) glGenTextures(1, &page.name);
  }
}

void Lines::contextLost() {
  started_ = false;
  for (Page& page : pages_) page.name = 0, page.isNew = true;
}

void Lines::newFrame(float scale) {
  scale_ = scale;
  ++frame_;
  if (keyBytes_ > kMostKeyBytes) forget();
}

void Lines::forget() {
  for (Page& page : pages_) clear(page);
  entries_.clear();
  keyBytes_ = 0;
}

bool Lines::upload() {
  bool isNew = false;
  for (Page& page : pages_) {
    if (page.isNew) page.dirtyTop = 0, page.dirtyBottom = kHeight;
    if (page.dirtyTop >= page.dirtyBottom) continue;
    glBindTexture(GL_TEXTURE_2D, page.name);
    if (page.isNew) {
      glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA, kWidth, kHeight, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
      // Linear filtering for rotated labels. Upright ones are at whole pixels, and stay sharp.
      for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(GL_TEXTURE_2D, filter, GL_LINEAR);
    }
    const std::uint32_t* from = page.pixels.data() + static_cast<std::size_t>(page.dirtyTop) * kWidth;
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, page.dirtyTop, kWidth, page.dirtyBottom - page.dirtyTop, GL_RGBA,
                    GL_UNSIGNED_BYTE, from);
    page.isNew = false;
    page.dirtyTop = kHeight, page.dirtyBottom = 0;
    isNew = true;
  }
  return isNew;
}

float Lines::width(std::string_view text, Face face) {
  Entry& entry = find(text, face, kBlack);
  if (entry.advance < 0) entry.advance = measure(text, face);
  return entry.advance;
}

std::size_t& Lines::cut(std::string_view text, Face face, float width) {
  return find(text, {face.size, -face.weight}, std::bit_cast<std::uint32_t>(width))
      .cut;  // a negative weight, which no drawn line has, keeps these entries apart
}

void Lines::draw(ImDrawList* list, std::string_view text, Face face, float x, float baseline, ImU32 color) {
  if (recorded_) {
    const auto number = static_cast<float>(recorded_->size());
    recorded_->push_back({std::string(text), face});
    return list->AddImage(kRecorded, {x, baseline - face.size}, {x + width(text, face), baseline},
                          {number, 0}, {number, 1}, color);
  }
  Entry* entry = &find(text, face, kBlack);
  if (!entry->drawn) rasterise(*entry, text, face, kBlack);
  // If a line has colours of its own, it is rasterised again for each colour of its other characters.
  if (entry->coloured && rgb(color) != kBlack) {
    entry = &find(text, face, rgb(color));
    if (!entry->drawn) rasterise(*entry, text, face, rgb(color));
  }
  if (entry->page == nullptr) return;
  Page& page = *entry->page;
  page.used = frame_;
  const auto number = [](int n) { return static_cast<float>(n); };
  const float left = (std::round(x * scale_) - number(entry->left)) / scale_,
              top = (std::round(baseline * scale_) - number(entry->top)) / scale_;
  const ImVec2 from{number(entry->x) / kWidth, number(entry->y) / kHeight};
  const ImVec2 to{number(entry->x + entry->width) / kWidth, number(entry->y + entry->height) / kHeight};
  const ImU32 tint = entry->coloured ? color | ~IM_COL32_A_MASK : color;
  list->AddImage(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(page.name)), {left, top},
                 {left + number(entry->width) / scale_, top + number(entry->height) / scale_}, from, to,
                 tint);
}

Lines::Entry& Lines::find(std::string_view text, Face face, std::uint32_t color) {
  const float size = face.size * scale_;
  char numbers[sizeof size + sizeof face.weight + sizeof color];
  std::memcpy(numbers, &size, sizeof size);
  std::memcpy(numbers + sizeof size, &face.weight, sizeof face.weight);
  std::memcpy(numbers + sizeof size + sizeof face.weight, &color, sizeof color);
  key_.assign(numbers, sizeof numbers);
  key_ += text;
  const auto [at, isNew] = entries_.try_emplace(key_);
  if (isNew) keyBytes_ += key_.size() + sizeof(Entry);
  return at->second;
}

void Lines::rasterise(Entry& entry, std::string_view text, Face face, std::uint32_t color) {
  LinePicture picture = rasteriser_.rasterise(text, {face.size * scale_, face.weight}, color);
  entry.drawn = true;
  entry.coloured = color != kBlack || hasColors(picture);
  // Lines without colours of their own are stored in white, and tinted when drawn.
  if (!entry.coloured)
    std::for_each(picture.pixels.begin(), picture.pixels.end(), [](std::uint32_t& p) { p |= ~kOpaque; });
  place(entry, picture);
}

void Lines::place(Entry& entry, const LinePicture& picture) {
  constexpr int kBorder = 1;  // transparent, so that neighbours do not show when a line is rotated
  const int width = std::min(picture.width, kWidth - 2 * kBorder),
            height = std::min(picture.height, kHeight - 2 * kBorder);
  if (width <= 0 || height <= 0) return;
  Page& page = pageWithRoom(width + 2 * kBorder, height + 2 * kBorder);
  entry.page = &page;
  entry.left = picture.left + kBorder, entry.top = picture.top + kBorder;
  entry.x = page.x, entry.y = page.shelf;
  entry.width = width + 2 * kBorder, entry.height = height + 2 * kBorder;
  for (int row = 0; row < height; ++row) {
    const auto to = static_cast<std::ptrdiff_t>(page.shelf + kBorder + row) * kWidth + page.x + kBorder;
    std::copy_n(picture.pixels.begin() + static_cast<std::ptrdiff_t>(row) * picture.width, width,
                page.pixels.begin() + to);
  }
  page.x += entry.width;
  page.dirtyTop = std::min(page.dirtyTop, entry.y);
  page.dirtyBottom = std::max(page.dirtyBottom, entry.y + entry.height);
}

Lines::Page& Lines::pageWithRoom(int width, int height) {
  for (Page& page : pages_) {
    const bool below = page.x + width > kWidth;  // starts a new shelf
    const int shelf = below ? page.shelf + page.shelfHeight : page.shelf;
    if (shelf + height > kHeight) continue;
    if (below) page.x = page.shelfHeight = 0, page.shelf = shelf;
    page.shelfHeight = std::max(page.shelfHeight, height);
    return page;
  }
  const auto oldest = std::min_element(pages_.begin(), pages_.end(),
                                       [](const Page& a, const Page& b) { return a.used < b.used; });
  if (pages_.size() >= kMostPages && oldest->used < frame_) {
    clear(*oldest);
    oldest->shelfHeight = height;
    return *oldest;
  }
  Page& page = pages_.emplace_back();
  page.pixels.resize(kPageBytes / 4);
  page.shelfHeight = height;
  if (started_) glGenTextures(1, &page.name);
  return page;
}

void Lines::clear(Page& page) {
  for (auto& [key, entry] : entries_) {
    if (entry.page == &page) entry.page = nullptr, entry.drawn = false;
  }
  std::fill(page.pixels.begin(), page.pixels.end(), 0);
  page.x = page.shelf = page.shelfHeight = 0;
  page.dirtyTop = 0, page.dirtyBottom = kHeight;
}

}  // namespace draw
