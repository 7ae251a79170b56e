#include "draw/heatmap.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "base/hash.h"
#include "draw/gl.h"
#include "draw/reduced.h"
#include "draw/texture.h"
#include "shaders.h"

namespace draw {
namespace {

constexpr float kNoGapBelow = 6.0f;           // framebuffer pixels per cell
constexpr std::uint64_t kFramesUnused = 60;   // until trim() frees a texture
constexpr std::int64_t kKeptWhole = 1 << 17;  // cells; of larger matrices only what is seen is kept

/// The uniform locations of the shader program.
struct Uniforms {
  GLint place, extent, shape, transposed, metrics, range, stops, masked, maskedFill, opacity, scale;
};

struct Program {
  GLuint name = 0;
  Uniforms at{};
};

struct Picture {
  Values values;
  Heatmap heatmap;
  bool isReduced = false;  ///< one cell per pixel
};

/// One call of draw() in this frame.
struct Job {
  Heatmaps* owner = nullptr;
  std::uint32_t slot = 0;
  Picture wanted;  ///< the arguments of the call
  Picture shown;   ///< what the shader draws: the same, its part that is seen, or one cell per pixel
};

using Stretch = Reduced::Stretch;

struct Slot {
  Texture texture, peaks;
  Stretch down, across;  ///< the part that is kept of a large matrix, in cells or pixels
  Reduced reduced;
  std::uint64_t lastUsed = 0;
};

/// Those of `count` cells or pixels from `origin` on that lie between two places, or closer than a pixel,
/// because a matrix is drawn from a whole pixel on.
Stretch seenOf(float origin, float cell, int count, float from, float to) {
  const float all = static_cast<float>(count);
  const float first = std::clamp(std::floor((from - 1 - origin) / cell), 0.0f, all - 1),
              end = std::clamp(std::ceil((to + 1 - origin) / cell), first + 1, all);
  return {static_cast<int>(first), static_cast<int>(end)};
}

/// The stretch that is kept, unless more is seen, or little of it, so that few of the frames that move or
/// enlarge a matrix upload it. There is more on either side once it is moved, not while it is enlarged.
[[gnu::noinline]] Stretch keptOf(const Stretch& kept, const Stretch& seen, int count) {
  const int more = seen.size() / 4 + 1;
  const bool isInside = kept.first <= seen.first && seen.end <= kept.end && kept.end <= count;
  const bool isLarge = kept.size() > 3 * seen.size() + 2;
  if (isInside && !isLarge) return kept;
  if (isLarge || kept.first >= seen.end || seen.first >= kept.end) return seen;
  return {std::max(seen.first - more, 0), std::min(seen.end + more, count)};
}

/// What is to be kept of a large matrix, of which a part is seen through the clip rectangle of the list, in
/// cells of that size. Not inline: no board of a first frame is as large.
[[gnu::noinline]] void keepSeen(Slot& slot, const ImDrawList& list, const Heatmap& map, int down,
                                int across) {
  const ImVec2 from = list.GetClipRectMin(), to = list.GetClipRectMax();
  slot.across = keptOf(slot.across, seenOf(map.x, map.cell, across, from.x, to.x), across);
  slot.down = keptOf(slot.down, seenOf(map.y, map.cell, down, from.y, to.y), down);
}

/// Moves a picture to where the part that is kept begins.
void moveTo(const Slot& slot, Heatmap& map) {
  map.x += static_cast<float>(slot.across.first) * map.cell;
  map.y += static_cast<float>(slot.down.first) * map.cell;
}

/// That part of a matrix.
[[gnu::noinline]] Picture partOf(Picture picture, const ImDrawList& list, Slot& slot) {
  auto& [values, map, isReduced] = picture;
  keepSeen(slot, list, map, map.transposed ? values.cols : values.rows,
           map.transposed ? values.rows : values.cols);
  moveTo(slot, map);
  const Stretch &rows = map.transposed ? slot.across : slot.down,
                &cols = map.transposed ? slot.down : slot.across;
  values.data += std::ptrdiff_t{rows.first} * values.stride + cols.first;
  values.made.firstRow += rows.first, values.made.firstCol += cols.first;
  values.rows = rows.size(), values.cols = cols.size();
  if (values.written.rows) values.written.rows += rows.first;
  if (values.written.cols) values.written.cols += cols.first;
  if (values.rowPeaks) values.rowPeaks += rows.first;
  return picture;
}

/// A matrix whose cells are smaller than a pixel with one cell per pixel; of a large one those that are kept.
Picture reduce(const Picture& picture, const ImDrawList& list, Slot& slot, float scale, bool isLarge) {
  const float pitch = picture.heatmap.cell * scale;
  const auto pixels = [pitch](int count) {
    return static_cast<int>(std::ceil(pitch * static_cast<float>(count)));
  };
  Picture shown{{}, picture.heatmap, true};
  Heatmap& map = shown.heatmap;
  map.cell = 1 / scale;
  Reduced::Window window{{0, pixels(picture.values.rows)}, {0, pixels(picture.values.cols)}};
  if (isLarge) {
    const int rows = window.rows.end, cols = window.cols.end;
    keepSeen(slot, list, map, map.transposed ? cols : rows, map.transposed ? rows : cols);
    moveTo(slot, map);
    window =
        map.transposed ? Reduced::Window{slot.across, slot.down} : Reduced::Window{slot.down, slot.across};
  }
  shown.values = slot.reduced.update(picture.values, picture.heatmap, pitch, window);
  if (map.scale == Scale::row) map.scale = Scale::linear;
  return shown;
}

constexpr const char* kOnePixel = "#define ONE_PIXEL\n";

/// The driver's log of a shader or program; "" if it was compiled or linked.
template <class Get, class Log>
std::string complaint(GLuint name, GLenum what, Get get, Log log) {
  GLint good = 0;
  get(name, what, &good);
  if (good != 0) return "";
  char text[1024] = "";
  log(name, sizeof text, nullptr, text);
  return text[0] != 0 ? text : "the shader was refused without a reason";
}

GLuint compile(GLenum kind, const std::string& text) {
  const GLuint shader = glCreateShader(kind);
  const char* lines = text.c_str();
  glShaderSource(shader, 1, &lines, nullptr);
  glCompileShader(shader);
  return shader;
}

/// Compiles the program with these lines before the texts of its shaders; returns "", or the driver's error.
std::string make(const std::string& lines, Program& made) {
  const GLuint vertex = compile(GL_VERTEX_SHADER, lines + shaders::heatmap_vert);
  const GLuint fragment = compile(GL_FRAGMENT_SHADER, lines + shaders::heatmap_frag);
  const GLuint program = glCreateProgram();
  glAttachShader(program, vertex);
  glAttachShader(program, fragment);
  glLinkProgram(program);
  std::string wrong = complaint(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog);
  // Each question waits for the driver; a shader that was refused cannot be linked.
  for (const GLuint shader : {fragment, vertex}) {
    if (wrong.empty()) break;
    const std::string own = complaint(shader, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog);
    if (!own.empty()) wrong = own;
  }
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  if (!wrong.empty()) {
    glDeleteProgram(program);
    return wrong;
  }
  const auto find = [program](const char* name) { return glGetUniformLocation(program, name); };
  made = {program,
          {find("place"), find("extent"), find("shape"), find("transposed"), find("metrics"), find("range"),
           find("stops"), find("masked"), find("masked_fill"), find("opacity"), find("scale")}};
  glUseProgram(program);
  glUniform1i(find("cells"), 0);
  glUniform1i(find("peaks"), 1);
  return "";
}

void setColor(GLint where, const Color& color) { glUniform4f(where, color.r, color.g, color.b, color.a); }

/// Adds everything except the numbers and their addresses to a hash.
void addLook(const Job& job, base::Hash& hash) {
  const Values& v = job.wanted.values;
  const Heatmap& m = job.wanted.heatmap;
  const bool looks[] = {m.transposed, m.mean};
  const int sizes[] = {static_cast<int>(job.slot), v.rows, v.cols, static_cast<int>(m.scale)};
  const float lengths[] = {m.x, m.y, m.cell, m.gap, m.radius, m.low, m.high, m.opacity};
  hash.add(looks, sizeof looks), hash.add(sizes, sizeof sizes), hash.add(lengths, sizeof lengths);
  hash.add(&m.map, sizeof m.map), hash.add(&m.masked, sizeof m.masked),
      hash.add(&m.masked_fill, sizeof m.masked_fill);
}

}  // namespace

[[gnu::noinline]] const float* Values::madeRow(int r) const {
  return made.of(made.matrix, made.head, made.firstRow + r, made.firstCol, cols);
}

struct Heatmaps::Parts {
  std::string version;
  Program any, onePixel;  ///< for cells of any size; for reduced matrices, compiled when there is one
  bool hasTried = false;  ///< to compile that
  GLuint vertexArray = 0;
  float width = 0, height = 0, scale = 1;  // size of the framebuffer, and its pixels per logical pixel
  std::uint64_t frame = 0, uploaded = 0;
  std::map<std::uint32_t, Slot> slots;
  std::deque<Job> jobs;  // a deque, because draw commands hold pointers to its elements

  const Program& programFor(const Job& job);
  void setUniforms(const Job& job, const Uniforms& at) const;
  void render(const Job& job, const ImVec4& clip);
};

const Program& Heatmaps::Parts::programFor(const Job& job) {
  if (!job.shown.isReduced) return any;
  if (!std::exchange(hasTried, true)) (void)make(version + kOnePixel, onePixel);
  return onePixel.name != 0 ? onePixel : any;
}

void Heatmaps::Parts::setUniforms(const Job& job, const Uniforms& at) const {
  const Heatmap& map = job.shown.heatmap;
  const int cols = map.transposed ? job.shown.values.rows : job.shown.values.cols;
  const int rows = map.transposed ? job.shown.values.cols : job.shown.values.rows;
  const float pitch = map.cell * scale;
  const bool tiny = pitch < kNoGapBelow;
  const float gap = tiny || map.gap <= 0 ? 0.0f : std::clamp(std::round(map.gap * scale), 1.0f, pitch / 2);
  glUniform4f(at.place, std::round(map.x * scale), std::round(map.y * scale), width, height);
  glUniform2f(at.extent, std::ceil(pitch * static_cast<float>(cols)),
              std::ceil(pitch * static_cast<float>(rows)));
  glUniform2i(at.shape, cols, rows);
  glUniform1i(at.transposed, map.transposed ? 1 : 0);
  glUniform4f(at.metrics, pitch, gap, tiny ? 0.0f : map.radius * scale, scale);
  glUniform2f(at.range, map.low, map.high > map.low ? 1.0f / (map.high - map.low) : 0.0f);
  glUniform4fv(at.stops, ColorMap::kStops, &map.map.stops[0].r);
  setColor(at.masked, map.masked);
  setColor(at.maskedFill, map.masked_fill);
  glUniform1f(at.opacity, map.opacity);
  glUniform1i(at.scale, static_cast<GLint>(map.scale));
}

// A callback in Dear ImGui's draw list; blending is enabled, as Dear ImGui leaves it.
void Heatmaps::Parts::render(const Job& job, const ImVec4& clip) {
  const int left = std::max(0, static_cast<int>(std::floor(clip.x * scale)));
  const int right = std::min(static_cast<int>(width), static_cast<int>(std::ceil(clip.z * scale)));
  const int top = std::max(0, static_cast<int>(std::floor(clip.y * scale)));
  const int bottom = std::min(static_cast<int>(height), static_cast<int>(std::ceil(clip.w * scale)));
  if (any.name == 0 || right <= left || bottom <= top) return;
  Slot& slot = slots[job.slot];
  glActiveTexture(GL_TEXTURE0);
  const Values& values = job.shown.values;
  if (job.shown.heatmap.scale == Scale::row) {
    uploaded += slot.peaks.update({values.rowPeaks, values.rows, 1, 1, values.revision, {}, nullptr});
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, slot.peaks.name());
    glActiveTexture(GL_TEXTURE0);
  }
  uploaded += slot.texture.update(values);
  glScissor(left, static_cast<int>(height) - bottom, right - left, bottom - top);
  const Program& program = programFor(job);
  glUseProgram(program.name);
  glBindVertexArray(vertexArray);
  glBindTexture(GL_TEXTURE_2D, slot.texture.name());
  setUniforms(job, program.at);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glBindVertexArray(0);
}

void Heatmaps::callBack(const ImDrawList*, const ImDrawCmd* command) {
  const Job& job = *static_cast<const Job*>(command->UserCallbackData);
  job.owner->parts_->render(job, command->ClipRect);
}

bool Heatmaps::queued(const ImDrawCmd& command, Values& values, Heatmap& heatmap) {
  if (command.UserCallback != callBack) return false;
  const Job& job = *static_cast<const Job*>(command.UserCallbackData);
  values = job.wanted.values, heatmap = job.wanted.heatmap;
  return true;
}

Heatmaps::Heatmaps() : parts_(std::make_unique<Parts>()) {}

Heatmaps::~Heatmaps() {
  if (parts_->any.name == 0) return;
  for (const Program& program : {parts_->any, parts_->onePixel})
    glDeleteProgram(program.name);  // 0 is ignored
  glDeleteVertexArrays(1, &parts_->vertexArray);
}

std::string Heatmaps::start(const char* version) {
  parts_->version = std::string(version) + "\n";
  if (std::string wrong = make(parts_->version, parts_->any); !wrong.empty()) return wrong;
  glGenVertexArrays(1, &parts_->vertexArray);
  return "";
}

void Heatmaps::contextLost() {
  parts_->any = parts_->onePixel = {};
  parts_->vertexArray = 0, parts_->hasTried = false;
  for (auto& [number, slot] : parts_->slots) slot.texture.forget(), slot.peaks.forget();
}

void Heatmaps::newFrame(float displayWidth, float displayHeight, float scale) {
  parts_->scale = scale;
  parts_->width = std::round(displayWidth * scale);
  parts_->height = std::round(displayHeight * scale);
  parts_->jobs.clear();
  ++parts_->frame;
}

void Heatmaps::draw(ImDrawList* list, std::uint32_t slot, const Values& values, const Heatmap& heatmap) {
  if (values.data == nullptr || values.rows <= 0 || values.cols <= 0 || heatmap.cell <= 0) return;
  Slot& used = parts_->slots[slot];
  used.lastUsed = parts_->frame;
  const Picture wanted{values, heatmap};
  const bool isLarge = std::int64_t{values.rows} * values.cols > kKeptWhole;
  const bool isReduced = Reduced::isFor(heatmap.cell * parts_->scale);
  parts_->jobs.push_back({this, slot, wanted,
                          isReduced ? reduce(wanted, *list, used, parts_->scale, isLarge)
                          : isLarge ? partOf(wanted, *list, used)
                                    : wanted});
  list->AddCallback(callBack, &parts_->jobs.back());
  list->AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

std::uint64_t Heatmaps::fingerprint() const {
  base::Hash hash;
  for (const Job& job : parts_->jobs) {
    const auto address = [](const float* values) {
      return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(values));
    };
    for (const std::uint64_t number :
         {address(job.wanted.values.data), address(job.wanted.values.rowPeaks), job.wanted.values.revision,
          std::uint64_t{job.wanted.values.made.blocks && isMaking(job.slot) ? parts_->frame : 0}})
      hash.add(number);
    addLook(job, hash);
  }
  return hash.value();
}

Heatmaps::Seen Heatmaps::look(const ImDrawCmd& command) const {
  if (command.UserCallback != callBack) return {};
  const Job& job = *static_cast<const Job*>(command.UserCallbackData);
  const Heatmap& map = job.shown.heatmap;
  const Slot& slot = parts_->slots.find(job.slot)->second;  // made by draw()
  std::vector<Texture::Block> blocks = slot.texture.differences(job.shown.values);
  if (map.scale == Scale::row) {
    for (const Texture::Block& rows : slot.peaks.differences({job.shown.values.rowPeaks,
                                                              job.shown.values.rows,
                                                              1,
                                                              1,
                                                              job.shown.values.revision,
                                                              {},
                                                              nullptr}))
      blocks.push_back({rows.row, rows.rows, 0, job.shown.values.cols - 1});
  }
  const float pitch = map.cell * parts_->scale;
  const auto part = [&](int row, int rows, int col, int cols) -> Part {
    if (map.transposed) std::swap(row, col), std::swap(rows, cols);
    const auto at = [pitch](float origin, int cell) {
      return std::round(origin) + pitch * static_cast<float>(cell);
    };
    const auto left = at(map.x * parts_->scale, col), top = at(map.y * parts_->scale, row);
    const auto right = at(map.x * parts_->scale, col + cols), bottom = at(map.y * parts_->scale, row + rows);
    return {static_cast<int>(std::floor(left)) - 1, static_cast<int>(std::floor(top)) - 1,
            static_cast<int>(std::ceil(right)) + 1, static_cast<int>(std::ceil(bottom)) + 1};
  };
  base::Hash hash;
  addLook(job, hash);
  Seen seen{part(0, job.shown.values.rows, 0, job.shown.values.cols), hash.value() | 1, {}};
  for (const Texture::Block& block : blocks)
    seen.changed.push_back(part(block.row, block.rows, block.first, block.last - block.first + 1));
  return seen;
}

[[gnu::noinline]] bool Heatmaps::isMaking(std::uint32_t slot) const {
  const auto at = parts_->slots.find(slot);
  return at != parts_->slots.end() && at->second.texture.left() > 0;
}

void Heatmaps::trim() {
  const std::uint64_t frame = parts_->frame;
  std::erase_if(parts_->slots,
                [frame](const auto& entry) { return frame - entry.second.lastUsed > kFramesUnused; });
}

std::uint64_t Heatmaps::uploadedCells() const { return parts_->uploaded; }

}  // namespace draw
