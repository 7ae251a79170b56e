#include "gfx/heatmap.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "gfx/gl.h"
#include "gfx/texture.h"
#include "shaders.h"

namespace gfx {
namespace {

constexpr float kNoGapBelow = 6.0f;         // framebuffer pixels a cell
constexpr std::uint64_t kFramesUnused = 60;  // until trim() takes a texture away

/// Where things are in the shader program.
struct Uniforms {
  GLint place, extent, shape, transposed, metrics, range, stops, masked, maskedFill, opacity, scale, mean;
};

/// One draw() of this frame. Lengths are framebuffer pixels.
struct Job {
  Heatmaps* owner = nullptr;
  std::uint32_t slot = 0;
  Values values;
  Heatmap heatmap;
};

struct Slot {
  Texture texture, peaks;
  std::uint64_t lastUsed = 0;
};

std::string withVersion(const char* version, const char* text) { return std::string(version) + "\n" + text; }

/// The driver's words about a shader or a program, or "" when it is good.
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

void setColor(GLint where, const Color& color) { glUniform4f(where, color.r, color.g, color.b, color.a); }

}  // namespace

struct Heatmaps::Parts {
  GLuint program = 0, vertexArray = 0;
  Uniforms at{};
  float width = 0, height = 0, scale = 1;  // of the framebuffer, and its pixels per logical pixel
  std::uint64_t frame = 0, uploaded = 0;
  std::unordered_map<std::uint32_t, Slot> slots;
  std::deque<Job> jobs;  // a deque: draw commands hold addresses of its elements

  void findUniforms();
  void setUniforms(const Job& job) const;
  void render(const Job& job, const ImVec4& clip);
};

void Heatmaps::Parts::findUniforms() {
  const auto find = [this](const char* name) { return glGetUniformLocation(program, name); };
  at = {find("place"), find("extent"), find("shape"),  find("transposed"),  find("metrics"),
        find("range"), find("stops"),  find("masked"), find("masked_fill"), find("opacity"),
        find("scale"), find("mean")};
}

void Heatmaps::Parts::setUniforms(const Job& job) const {
  const Heatmap& map = job.heatmap;
  const int cols = map.transposed ? job.values.rows : job.values.cols;
  const int rows = map.transposed ? job.values.cols : job.values.rows;
  const float pitch = map.cell * scale;
  const bool tiny = pitch < kNoGapBelow;
  const float gap = tiny || map.gap <= 0 ? 0.0f : std::clamp(std::round(map.gap * scale), 1.0f, pitch / 2);
  glUniform4f(at.place, std::round(map.x * scale), std::round(map.y * scale), width, height);
  glUniform2f(at.extent, std::ceil(pitch * static_cast<float>(cols)), std::ceil(pitch * static_cast<float>(rows)));
  glUniform2i(at.shape, cols, rows);
  glUniform1i(at.transposed, map.transposed ? 1 : 0);
  glUniform4f(at.metrics, pitch, gap, tiny ? 0.0f : map.radius * scale, scale);
  glUniform2f(at.range, map.low, map.high > map.low ? 1.0f / (map.high - map.low) : 0.0f);
  glUniform4fv(at.stops, ColorMap::kStops, &map.map.stops[0].r);
  setColor(at.masked, map.masked);
  setColor(at.maskedFill, map.masked_fill);
  glUniform1f(at.opacity, map.opacity);
  glUniform1i(at.scale, static_cast<GLint>(map.scale));
  glUniform1i(at.mean, map.mean ? 1 : 0);
}

// Called between Dear ImGui's own draw commands; blending is on as it left it.
void Heatmaps::Parts::render(const Job& job, const ImVec4& clip) {
  const int left = std::max(0, static_cast<int>(std::floor(clip.x * scale)));
  const int right = std::min(static_cast<int>(width), static_cast<int>(std::ceil(clip.z * scale)));
  const int top = std::max(0, static_cast<int>(std::floor(clip.y * scale)));
  const int bottom = std::min(static_cast<int>(height), static_cast<int>(std::ceil(clip.w * scale)));
  if (program == 0 || right <= left || bottom <= top) return;
  Slot& slot = slots[job.slot];
  glActiveTexture(GL_TEXTURE0);
  const Values& values = job.values;
  if (job.heatmap.scale == Scale::row) {
    uploaded += slot.peaks.update({values.rowPeaks, values.rows, 1, 1, values.revision, {}, nullptr});
    glActiveTexture(GL_TEXTURE1);
    glBindTexture(GL_TEXTURE_2D, slot.peaks.name());
    glActiveTexture(GL_TEXTURE0);
  }
  uploaded += slot.texture.update(values);
  glScissor(left, static_cast<int>(height) - bottom, right - left, bottom - top);
  glUseProgram(program);
  glBindVertexArray(vertexArray);
  glBindTexture(GL_TEXTURE_2D, slot.texture.name());
  setUniforms(job);
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glBindVertexArray(0);
}

Heatmaps::Heatmaps() : parts_(std::make_unique<Parts>()) {}

Heatmaps::~Heatmaps() {
  if (parts_->program == 0) return;
  glDeleteProgram(parts_->program);
  glDeleteVertexArrays(1, &parts_->vertexArray);
}

std::string Heatmaps::start(const char* version) {
  const GLuint vertex = compile(GL_VERTEX_SHADER, withVersion(version, shaders::heatmap_vert));
  const GLuint fragment = compile(GL_FRAGMENT_SHADER, withVersion(version, shaders::heatmap_frag));
  std::string wrong = complaint(vertex, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog);
  if (wrong.empty()) wrong = complaint(fragment, GL_COMPILE_STATUS, glGetShaderiv, glGetShaderInfoLog);
  const GLuint program = glCreateProgram();
  if (wrong.empty()) {
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    wrong = complaint(program, GL_LINK_STATUS, glGetProgramiv, glGetProgramInfoLog);
  }
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  if (!wrong.empty()) {
    glDeleteProgram(program);
    return wrong;
  }
  parts_->program = program;
  glGenVertexArrays(1, &parts_->vertexArray);
  parts_->findUniforms();
  glUseProgram(program);
  glUniform1i(glGetUniformLocation(program, "cells"), 0);
  glUniform1i(glGetUniformLocation(program, "peaks"), 1);
  return "";
}

void Heatmaps::contextLost() {
  parts_->program = parts_->vertexArray = 0;
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
  parts_->slots[slot].lastUsed = parts_->frame;
  parts_->jobs.push_back({this, slot, values, heatmap});
  const auto render = [](const ImDrawList*, const ImDrawCmd* command) {
    const Job& job = *static_cast<const Job*>(command->UserCallbackData);
    job.owner->parts_->render(job, command->ClipRect);
  };
  list->AddCallback(render, &parts_->jobs.back());
  list->AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void Heatmaps::trim() {
  const std::uint64_t frame = parts_->frame;
  std::erase_if(parts_->slots, [frame](const auto& entry) { return frame - entry.second.lastUsed > kFramesUnused; });
}

std::uint64_t Heatmaps::uploadedCells() const { return parts_->uploaded; }

}  // namespace gfx
