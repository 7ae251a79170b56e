// The browser shell: converts the events from web/canvas.js to input for Dear ImGui, and calls from page
// scripts to calls of the App. A module instance is one playground, so `self` below is its only object.
//
// Functions named playground_… are called from JavaScript. Those that can fail return 1, or 0 for an error,
// and leave their result, or the error as JSON, in playground_reply(). Strings are UTF-8, and freed by the
// caller.
#include <emscripten/em_js.h>
#include <emscripten/emscripten.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <GLES3/gl3.h>

#include <algorithm>
#include <cfloat>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>

#include "app/app.h"
#include "app/board_figure.h"
#include "app/names.h"
#include "attention/kernels/kernels.h"
#include "document/json.h"
#include "document/text.h"
#include "files/formats/format.h"
#include "shell/shell.h"
#include "views/mirror.h"

// ---- imports from web/canvas.js

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#pragma clang diagnostic ignored "-Wmissing-prototypes"
// clang-format off
// later(): delays method calls until no C++ is on the stack, because they trigger event listeners of the page for focus, clicks and copies.
EM_JS(void, host_request_frame, (), { Module["host"].requestFrame(); })
EM_JS(void, host_begin_text, (float x, float y, float width, float height, float zoom, const char* text, const char* name,
                              int numeric, int centered, int selectAll, int dark, int isCell, const char* wrong, float searches), {
  Module["host"].later("beginText", {x, y, width, height, zoom, numeric, centered, selectAll, dark, isCell, searches,
                            text: UTF8ToString(text), name: UTF8ToString(name), wrong: UTF8ToString(wrong)});
})
EM_JS(void, host_drop_text, (), { Module["host"].later("dropText"); })
EM_JS(void, host_later, (const char* method), { Module["host"].later(UTF8ToString(method)); })
EM_JS(void, host_save_file, (const char* name, const char* text, int length, int asks), {
  Module["host"].later("saveFile", UTF8ToString(name), HEAPU8.slice(text, text + length), asks);
})
EM_JS(void, host_choose, (const char* text), { Module["host"].later("choose", UTF8ToString(text)); })
EM_JS(void, host_copy, (const char* text, int length), { Module["host"].later("copy", UTF8ToString(text, length)); })
EM_JS(int, host_prefers_dark, (), { return Module["host"].prefersDark(); })
EM_JS(void, host_emit, (const char* type, const char* detail), {
  Module["host"].emit(UTF8ToString(type), UTF8ToString(detail));
})
EM_JS(double, host_measure, (const char* text, int length, double size, int weight), {
  return Module["host"].widthOf(UTF8ToString(text, length), size, weight);
})
EM_JS(void*, host_rasterise, (const char* text, int length, double size, int weight, int color, int* box), {
  const picture = Module["host"].rasterise(UTF8ToString(text, length), size, weight, color);
  const pixels = _malloc(picture.data.length);
  if (!pixels) return 0;
  HEAPU8.set(picture.data, pixels);
  HEAP32.set(picture.box, box / 4);
  return pixels;
})
EM_JS(void, host_want_lesson, (const char* id, int length, int step), { Module["host"].later("wantLesson", UTF8ToString(id, length), step); })
EM_JS(void, host_want_glossary, (), { Module["host"].later("wantGlossary"); })
EM_JS(void, host_want_lesson_texts, (), { Module["host"].later("wantLessonTexts"); })
EM_JS(void, host_want_lessons, (), { Module["host"].later("wantLessons"); })
EM_JS(int, host_remember, (const char* text, int length), { return Module["host"].remember(UTF8ToString(text, length)); })
EM_JS(char*, host_remembered, (), { return Module["host"].remembered(); })
EM_JS(int, host_is_coarse, (), { return Module["host"].isCoarse(); })
EM_JS(int, host_prefers_stillness, (), { return Module["host"].prefersStillness(); })
EM_JS(void, host_keep, (const char* bytes, int part, int from, int count), {
  Module["host"].pieces.push([bytes && HEAPU8.slice(bytes, bytes + count), part, from, count]);
})
EM_JS(void, host_cursor, (int cursor), { Module["host"].setCursor(cursor); })
// clang-format on
#pragma clang diagnostic pop

namespace {

// ---- the host

const char* typeName(app::Event::Type type) {
  switch (type) {
    case app::Event::Type::input: return "input";
    case app::Event::Type::change: return "change";
    case app::Event::Type::select: return "select";
    case app::Event::Type::error: return "error";
    case app::Event::Type::step: return "step";
    case app::Event::Type::answer: return "answer";
    case app::Event::Type::passed: return "passed";
    case app::Event::Type::train: return "train";
  }
  return "error";
}

class Browser final : public app::Host {
 public:
  void requestFrame() override { host_request_frame(); }
  void beginText(const app::TextField& f) override {
    host_begin_text(f.rect.x * f.zoom, f.rect.y * f.zoom, f.rect.width * f.zoom, f.rect.height * f.zoom,
                    f.zoom, f.text.c_str(), f.name.c_str(), f.numeric, f.centered, f.selectAll, f.dark,
                    f.isCell, f.wrong.c_str(), f.searches);
  }
  void dropText() override { host_drop_text(); }
  bool pickFile() override {
    host_later("pickFile");
    return true;
  }
  base::Result<base::Message> saveFile(std::string_view name, std::string_view text, bool asks) override {
    host_save_file(std::string(name).c_str(), text.data(), static_cast<int>(text.size()), asks);
    return base::Message();  // web/input-handlers.js reports where it was saved
  }
  void choose(std::string_view choices) override { host_choose(std::string(choices).c_str()); }
  void toggleFullscreen() override { host_later("toggleFullscreen"); }
  void copyToClipboard(std::string_view text) override {
    host_copy(text.data(), static_cast<int>(text.size()));
  }
  bool canShare() const override { return true; }
  void share() override { host_later("share"); }
  void showNotices() override { host_later("showNotices"); }
  void copyReport() override { host_later("copyReport"); }
  bool prefersDark() const override { return host_prefers_dark() > 0; }
  bool prints() const override { return host_prefers_dark() < 0; }
  bool isTouch() const override { return touch; }
  bool prefersStillness() const override { return host_prefers_stillness() != 0; }
  void wantLesson(std::string_view id, int step) override {
    host_want_lesson(id.data(), static_cast<int>(id.size()), step);
  }
  void wantLessons() override { host_want_lessons(); }
  void wantLessonTexts() override { host_want_lesson_texts(); }
  void wantGlossary() override { host_want_glossary(); }
  bool remember(std::string_view text) override {
    return host_remember(text.data(), static_cast<int>(text.size())) != 0;
  }
  std::string remembered() const override {
    char* text = host_remembered();
    std::string out = text == nullptr ? "" : text;
    std::free(text);
    return out;
  }
  float measure(std::string_view text, draw::Face face) override {
    return static_cast<float>(host_measure(text.data(), static_cast<int>(text.size()),
                                           static_cast<double>(face.size), face.weight));
  }
  draw::LinePicture rasterise(std::string_view text, draw::Face face, std::uint32_t color) override {
    draw::LinePicture picture;
    int box[4] = {};
    auto* pixels = static_cast<std::uint32_t*>(host_rasterise(text.data(), static_cast<int>(text.size()),
                                                              static_cast<double>(face.size), face.weight,
                                                              static_cast<int>(color), box));
    if (pixels == nullptr) return picture;
    picture.left = box[0], picture.top = box[1], picture.width = box[2], picture.height = box[3];
    picture.pixels.assign(pixels, pixels + static_cast<std::ptrdiff_t>(box[2]) * box[3]);
    std::free(pixels);
    return picture;
  }
  void emit(const app::Event& event) override { host_emit(typeName(event.type), event.detail.c_str()); }

  bool touch = host_is_coarse() != 0;  ///< until a pointer is used, as the device has it
};

// ---- the playground

/// Members are created in this order and destroyed in reverse: the app refers to the other two.
struct Playground {
  explicit Playground(bool isFirst) : app(host, stage.heatmaps(), isFirst) {}

  Browser host;
  shell::Stage stage{host};
  app::App app;
  std::string reply;
  double lastFrame = 0;  ///< in milliseconds
  int cursor = ImGuiMouseCursor_Arrow;
  bool contextIsLost = false;
};

Playground* self = nullptr;

constexpr float kShortestFrame = 1e-4f;  // Dear ImGui requires that time passes between two frames

float secondsSinceLastFrame() {
  const double now = emscripten_get_now();
  const double passed = (now - self->lastFrame) / 1000;
  self->lastFrame = now;
  return std::max(kShortestFrame, static_cast<float>(passed));
}

bool inputIsWaiting() { return self->stage.io().Ctx->InputEventsQueue.Size > 0; }

/// Builds frames without drawing them until all input so far has had its effect, so that event handlers (a
/// phone opens its keyboard only inside one) and scripts that query immediately afterwards see the result.
void settle() {
  constexpr int kMostFrames = 16;  // a sequence of down, up, down, up takes a frame each
  for (int i = 0; !self->contextIsLost && i < kMostFrames && inputIsWaiting(); ++i) {
    self->stage.build(self->app, secondsSinceLastFrame());
  }
}

void requestFrameIfWanted() {
  if (self->app.wantsFrame()) self->host.requestFrame();
}

void inputCame() {
  self->app.wake();
  requestFrameIfWanted();
}

void setModifiers(ImGuiIO& io, int modifiers) {
  io.AddKeyEvent(ImGuiMod_Shift, (modifiers & 1) != 0);
  io.AddKeyEvent(ImGuiMod_Ctrl, (modifiers & 2) != 0);
  io.AddKeyEvent(ImGuiMod_Alt, (modifiers & 4) != 0);
}

// ---- answers

const char* kindName(base::Error::Kind kind) {
  switch (kind) {
    case base::Error::Kind::type: return "type";
    case base::Error::Kind::range: return "range";
    case base::Error::Kind::syntax: return "syntax";
    case base::Error::Kind::version: return "version";
    case base::Error::Kind::memory: return "memory";
  }
  return "range";
}

std::string errorJson(const base::Error& error) {
  return "{\"kind\":\"" + std::string(kindName(error.kind)) +
         "\",\"field\":" + document::jsonQuoted(error.field) +
         ",\"said\":" + document::jsonQuoted(error.said().bytes()) + "}";
}

int answer(std::string text) {
  self->reply = std::move(text);
  requestFrameIfWanted();
  return 1;
}

int answer(const base::Result<void>& done) {
  self->reply = done ? "" : errorJson(done.error());
  requestFrameIfWanted();
  return done ? 1 : 0;
}

int answer(const base::Result<std::string>& result) {
  return result ? answer(*result) : answer(base::Result<void>(result.error()));
}

/// Sets the reply to [address, heads, rows, columns].
int answer(const base::Result<const attention::Tensor*>& found) {
  if (!found) return answer(base::Result<void>(found.error()));
  const attention::Tensor& t = **found;
  return answer("[" + std::to_string(reinterpret_cast<std::uintptr_t>(t.data())) + "," +
                std::to_string(t.heads()) + "," + std::to_string(t.rows()) + "," + std::to_string(t.cols()) +
                "]");
}

std::string rectJson(const app::Rect& r) {
  return "[" + std::to_string(r.x) + "," + std::to_string(r.y) + "," + std::to_string(r.width) + "," +
         std::to_string(r.height) + "]";
}

// ---- keys

struct NamedKey {
  std::string_view name;
  ImGuiKey key;
};

/// Values of KeyboardEvent.key other than single letters and digits.
constexpr NamedKey kKeys[] = {
    {"ArrowLeft", ImGuiKey_LeftArrow},
    {"ArrowRight", ImGuiKey_RightArrow},
    {"ArrowUp", ImGuiKey_UpArrow},
    {"ArrowDown", ImGuiKey_DownArrow},
    {"PageUp", ImGuiKey_PageUp},
    {"PageDown", ImGuiKey_PageDown},
    {"Home", ImGuiKey_Home},
    {"End", ImGuiKey_End},
    {"Insert", ImGuiKey_Insert},
    {"Delete", ImGuiKey_Delete},
    {"Backspace", ImGuiKey_Backspace},
    {"Enter", ImGuiKey_Enter},
    {"Escape", ImGuiKey_Escape},
    {" ", ImGuiKey_Space},
    {"F2", ImGuiKey_F2},
    {"-", ImGuiKey_Minus},
    {"+", ImGuiKey_KeypadAdd},
    {".", ImGuiKey_Period},
    {",", ImGuiKey_Comma},
    {"?", ImGuiKey_Slash},
    {"/", ImGuiKey_Slash},
    {"[", ImGuiKey_LeftBracket},
    {"]", ImGuiKey_RightBracket},
    {"=", ImGuiKey_Equal},
};

ImGuiKey keyNamed(std::string_view name) {
  if (name.size() == 1) {
    const char c = name[0];
    if (c >= '0' && c <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (c - '0'));
    if (c >= 'a' && c <= 'z') return static_cast<ImGuiKey>(ImGuiKey_A + (c - 'a'));
    if (c >= 'A' && c <= 'Z') return static_cast<ImGuiKey>(ImGuiKey_A + (c - 'A'));
  }
  for (const NamedKey& k : kKeys) {
    if (k.name == name) return k.key;
  }
  return ImGuiKey_None;
}

/// Would the app or an open menu use this key? All others are left to the page.
bool isUsed(ImGuiKey key, int modifiers) {
  self->stage.io();
  const bool menuIsOpen = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  if (menuIsOpen && (key == ImGuiKey_Escape || key == ImGuiKey_Enter || key == ImGuiKey_Space ||
                     (key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow))) {
    return true;
  }
  return self->app.usesKey(key, (modifiers & 2) != 0, (modifiers & 1) != 0, (modifiers & 4) != 0);
}

void press(ImGuiKey key, bool down) { self->stage.io().AddKeyEvent(key, down); }

}  // namespace

extern "C" {

// ---- graphics

// Dear ImGui's renderer queries the OpenGL state before it draws, to restore it afterwards. In a browser each
// query waits until the graphics process has drawn everything before it (with a software GPU, most of the
// time of a frame). Nothing else draws on this canvas, so in place of glGetIntegerv() this function returns
// the state of a new context.
void shell_gl_get(GLenum name, GLint* value) {
  switch (name) {
    case GL_MAJOR_VERSION: *value = 3; return;
    case GL_ACTIVE_TEXTURE: *value = GL_TEXTURE0; return;
    case GL_BLEND_EQUATION_RGB:
    case GL_BLEND_EQUATION_ALPHA: *value = GL_FUNC_ADD; return;
    case GL_BLEND_SRC_RGB:
    case GL_BLEND_SRC_ALPHA: *value = GL_ONE; return;
    case GL_VIEWPORT:
    case GL_SCISSOR_BOX: std::fill_n(value, 4, 0); return;
    default: *value = 0;  // no program, texture, buffer or vertex array is bound
  }
}

GLboolean shell_gl_is_program(GLuint) { return GL_TRUE; }

// The linker replaces sscanf() by this. The renderer parses "#version 300 es" with it, and nothing else on
// the page uses it; the library's sscanf() would add 5 KB to the first frame's module.
int __wrap_sscanf(const char* text, const char* format, ...) {
  va_list to;
  va_start(to, format);
  *va_arg(to, int*) = std::atoi(text + std::strlen("#version "));
  va_end(to);
  return 1;
}

// ---- life

/// Creates the playground in the current WebGL2 context, with the usual board or (1) that of a first visit.
/// Returns 0 if that fails, with the driver's message as the reply.
EMSCRIPTEN_KEEPALIVE int playground_start(int isFirst) {
  self = new Playground(isFirst != 0);
  self->lastFrame = emscripten_get_now();
  const std::string trouble = self->stage.start("#version 300 es");
  self->reply = trouble;
  return trouble.empty();
}

EMSCRIPTEN_KEEPALIVE const char* playground_reply() { return self->reply.c_str(); }

EMSCRIPTEN_KEEPALIVE void playground_context_lost() {
  self->contextIsLost = true;
  self->stage.contextLost();
}

EMSCRIPTEN_KEEPALIVE int playground_context_restored() {
  self->reply = self->stage.start("#version 300 es");
  self->contextIsLost = !self->reply.empty();
  self->app.wake();
  return self->reply.empty();
}

// ---- frames

EMSCRIPTEN_KEEPALIVE void playground_resize(int framebufferWidth, int framebufferHeight, float scale) {
  self->stage.resize(framebufferWidth, framebufferHeight, scale);
  self->app.wake();
}

/// Draws one frame. Returns the sum of 1: another frame is needed; 2: it was drawn, because it differs from
/// the last one; 4: training is in progress; 8: heads are missing; and 16 times the milliseconds after which
/// a call of wake is due, 0 for never.
EMSCRIPTEN_KEEPALIVE int playground_frame() {
  if (self->app.prepares()) return 1;
  const double began = emscripten_get_now();
  const bool isDrawn = self->stage.draw(self->app, secondsSinceLastFrame(), true);
  self->app.noteFrameTime(static_cast<float>(emscripten_get_now() - began));
  if (const int cursor = ImGui::GetMouseCursor(); cursor != self->cursor) {
    self->cursor = cursor;
    host_cursor(cursor);
  }
  const bool isWanted = self->app.wantsFrame();
  return (isWanted ? 1 : 0) + (isDrawn ? 2 : 0) + (isWanted && self->app.trains() ? 4 : 0) +
         (isWanted && self->app.computes() ? 8 : 0) + 16 * self->app.wakesIn();
}

EMSCRIPTEN_KEEPALIVE int playground_work_on() { return self->app.workOn(); }
EMSCRIPTEN_KEEPALIVE int playground_wants_frame() { return self->app.wantsFrame(); }
EMSCRIPTEN_KEEPALIVE void playground_wake() { inputCame(); }
EMSCRIPTEN_KEEPALIVE int playground_is_dark() { return self->app.isDark(); }
EMSCRIPTEN_KEEPALIVE unsigned playground_whose() { return self->app.whose(); }

// ---- input

/// `what` is 0 for moved, 1 for pressed, 2 for released, 3 for left or cancelled. Modifiers: 1 Shift, 2 Ctrl
/// or Cmd, 4 Alt. `clicks` is the browser's count of successive presses, since users can set the speed of a
/// double-click. `age`: milliseconds since the event.
EMSCRIPTEN_KEEPALIVE void playground_pointer(int what, float x, float y, int isTouch, int modifiers,
                                             int clicks, double age) {
  if (isTouch && what <= 1) self->app.finger(what == 1, x, y, age / 1000);
  if (isTouch && what != 3) std::tie(x, y) = self->app.aimed(x, y);
  ImGuiIO& io = self->stage.io();
  if (what == 1) io.MouseDoubleClickTime = clicks % 2 == 0 ? FLT_MAX : 0.0f;
  io.MouseDoubleClickMaxDist = FLT_MAX;
  self->host.touch = isTouch != 0;
  io.AddMouseSourceEvent(isTouch ? ImGuiMouseSource_TouchScreen : ImGuiMouseSource_Mouse);
  setModifiers(io, modifiers);
  if (what == 3) ImGui::ClearActiveID();  // the page has taken over the finger, so it was not a tap
  if (what != 3) io.AddMousePosEvent(x / self->stage.zoom(), y / self->stage.zoom());
  if (what == 1) io.AddMouseButtonEvent(ImGuiMouseButton_Left, true);
  if (what >= 2) io.AddMouseButtonEvent(ImGuiMouseButton_Left, false);
  if (what == 3 || (what == 2 && isTouch)) io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);
  self->app.wake();
  if (what != 0) settle();
  requestFrameIfWanted();
}

/// Does the finger hold a number, so that it must not scroll the page?
EMSCRIPTEN_KEEPALIVE int playground_holds(double age) { return self->app.fingerHolds(age / 1000); }

/// Two fingers; see App::pinch().
EMSCRIPTEN_KEEPALIVE int playground_pinch(float x, float y, float by, float dx, float dy) {
  return self->app.pinch(x, y, by, dx, dy);
}

/// Would the wheel or a finger scroll something here by this much?
EMSCRIPTEN_KEEPALIVE int playground_scrolls(float x, float y, float dy) {
  return self->app.scrollsAt(x, y, dy);
}

/// In CSS pixels, positive towards the end. Returns 0 if it is not used, so that the page may scroll.
EMSCRIPTEN_KEEPALIVE int playground_wheel(float x, float y, float dy) {
  if (!self->app.scrollsAt(x, y, dy)) return 0;
  constexpr float kPixels = 100;  // for one step of the wheel
  ImGuiIO& io = self->stage.io();
  io.AddMousePosEvent(x / self->stage.zoom(), y / self->stage.zoom());
  io.AddMouseWheelEvent(0, -dy / kPixels);
  inputCame();
  return 1;
}

/// A key by KeyboardEvent.key. Returns 0 if it is not used, so that the page may handle it.
EMSCRIPTEN_KEEPALIVE int playground_key(int down, const char* name, int modifiers) {
  const ImGuiKey key = keyNamed(name);
  ImGuiIO& io = self->stage.io();
  setModifiers(io, modifiers);
  if (down == 0) {
    if (key != ImGuiKey_None) press(key, false);
    inputCame();
    return 0;
  }
  // A single character in UTF-8; names of other keys are longer, and ASCII.
  const bool printable = (name[1] == '\0' || (name[0] & 0x80) != 0) && (modifiers & 2) == 0;
  if (key == ImGuiKey_None || !isUsed(key, modifiers)) {
    // The board is informed of it nevertheless, to recognise letters that are part of a text, not commands.
    if (!printable || (modifiers & 4) != 0) return 0;
    io.AddInputCharactersUTF8(name);
    self->app.wake();
    settle();
    requestFrameIfWanted();
    return 0;
  }
  press(key, false);  // a held letter repeats; each repetition counts as a press
  press(key, true);
  if (printable) io.AddInputCharactersUTF8(name);
  self->app.wake();
  settle();
  requestFrameIfWanted();
  return 1;
}

EMSCRIPTEN_KEEPALIVE void playground_focus(int focused) {
  self->stage.io().AddFocusEvent(focused != 0);
  inputCame();
}

/// The text field opened by host_begin_text() ended; `how` is an app::TextEnd.
EMSCRIPTEN_KEEPALIVE void playground_end_text(int how, const char* text) {
  settle();
  self->app.endText(static_cast<app::TextEnd>(how), text);
  inputCame();
}

/// Sets the reply to the selected cells. Returns 0 if none are selected, so that the page may copy something
/// else.
EMSCRIPTEN_KEEPALIVE int playground_copy() {
  settle();
  self->reply = self->app.copyCells();
  return !self->reply.empty();
}

/// Sets the selected cells to 0, after they were copied.
EMSCRIPTEN_KEEPALIVE void playground_clear_cells() {
  setModifiers(self->stage.io(), 0);  // Ctrl is still pressed when cutting
  press(ImGuiKey_Delete, true);
  press(ImGuiKey_Delete, false);
  self->app.wake();
  settle();
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_paste(const char* text) {
  settle();
  return answer(self->app.pasteCells(text));
}

// ---- for assistive technology

/// Presses the control of that name or, if `step` is −1 or 1, applies an arrow key to it; "" does nothing.
/// The reply is then the content of the screen, as described in app/mirror.h.
EMSCRIPTEN_KEEPALIVE int playground_mirror(const char* name, int step) {
  settle();
  views::Mirror mirror;
  if (name[0] != '\0') {
    mirror.press = name, mirror.step = step;
    self->app.wake();
    self->stage.note(self->app, mirror);
    self->app.carryOut();
    mirror = {};
  }
  self->stage.note(self->app, mirror);
  return answer(self->app.mirror(mirror.notes));
}

/// Sets the colours of forced-colors mode, 0xRRGGBB, or ends it.
EMSCRIPTEN_KEEPALIVE void playground_colors(int areForced, int canvas, int text, int highlight,
                                            int highlightText) {
  const auto color = [](int value) { return static_cast<unsigned>(value); };
  if (areForced != 0)
    self->app.setColors(
        views::SystemColors{color(canvas), color(text), color(highlight), color(highlightText)});
  else self->app.setColors({});
  requestFrameIfWanted();
}

/// What the page's styles specify: a font for text, the scale of text, and an accent colour 0xRRGGBB, or −1.
EMSCRIPTEN_KEEPALIVE void playground_looks(int ownFace, float textScale, int accent) {
  self->stage.setFace(ownFace != 0);
  self->app.setLooks(textScale, accent < 0 ? std::nullopt : std::optional(static_cast<unsigned>(accent)));
  requestFrameIfWanted();
}

/// Sets the translation of the interface: a table in the format of views::Words; "" for English.
EMSCRIPTEN_KEEPALIVE void playground_words(const char* table) {
  self->stage.setWords(table);
  self->app.wake();
  requestFrameIfWanted();
}

/// Sets the reply to the translation of a text of the interface, or of the bytes of a message.
EMSCRIPTEN_KEEPALIVE int playground_word(const char* english) {
  views::Words* words = self->stage.fonts().words;
  std::string own;
  return answer(words ? std::string(words->number(words->of(english), own))
                      : base::MessageView(english).english());
}

/// The height, in CSS pixels, that shows the whole board at that width; 0 if not requested by the page, or if
/// another view is open.
EMSCRIPTEN_KEEPALIVE float playground_fit(float width) { return self->app.heightFor(width); }

/// The keyboard focus is on the control of that name; "": on none.
EMSCRIPTEN_KEEPALIVE void playground_point(const char* name) {
  self->app.pointAt(name);
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_select(const char* tensor, int head, int row, int col) {
  settle();
  return answer(self->app.select(tensor, head, row, col));
}

// ---- files and sentences

EMSCRIPTEN_KEEPALIVE double playground_max_text() { return static_cast<double>(document::kMaxTextBytes); }

EMSCRIPTEN_KEEPALIVE int playground_open(const char* text, const char* name) {
  settle();
  return answer(self->app.openText(text, name));
}

/// Opens what web/reader.js read: a state or a form, in memory that is freed here; `heading` as in
/// App::openState().
EMSCRIPTEN_KEEPALIVE int playground_take(char* bytes, int size, const char* name, int heading) {
  settle();
  const auto done =
      self->app.take({bytes, static_cast<std::size_t>(size)}, name, static_cast<std::size_t>(heading));
  std::free(bytes);
  return answer(done);
}

/// Sets the reply to the tensors of the layer, and returns their number of bytes; 0 with an error as the
/// reply.
EMSCRIPTEN_KEEPALIVE int playground_tensors() {
  settle();
  auto bytes = self->app.tensors();
  if (!bytes) return answer(base::Result<void>(bytes.error()));
  self->reply = std::move(*bytes);
  return static_cast<int>(self->reply.size());
}

/// Hands over some of the board with its undo history; returns 1 with the last of it. `most` 0: what was
/// handed over is lost.
EMSCRIPTEN_KEEPALIVE int playground_keep(double most) {
  if (most == 0) return self->app.loseKept(), 0;
  settle();
  return self->app.keep(static_cast<std::size_t>(most), [](const files::SessionStore::Piece& piece) {
    host_keep(piece.bytes.data(), static_cast<int>(piece.part), static_cast<int>(piece.from),
              static_cast<int>(piece.count));
  });
}

/// Restores such bytes, in memory that is freed here; size 0 restores nothing. From now on the page saves its
/// board.
EMSCRIPTEN_KEEPALIVE int playground_restore(char* bytes, int size) {
  self->app.setKeptIn("the storage of this browser, for this tab");
  if (size == 0) return 1;
  settle();
  const auto done = self->app.restore({bytes, static_cast<std::size_t>(size)});
  std::free(bytes);
  return answer(done);
}

/// Sets the reply to the board as SVG; the arguments are those of files::FigureWords.
EMSCRIPTEN_KEEPALIVE int playground_figure(const char* what, const char* style, const char* scale,
                                           const char* head, const char* with, const char* colors) {
  settle();
  const auto options = files::figureOptions({what, style, scale, head, with, colors});
  if (!options) return answer(base::Result<void>(options.error()));
  const ImGuiIO& io = self->stage.io();
  const auto drawing = app::boardFigure(self->app.state(), *options,
                                        {*io.Fonts, self->stage.fonts(), 1 / io.FontGlobalScale, self->host});
  if (!drawing) return answer(base::Result<void>(drawing.error()));
  return answer(files::toSvg(*drawing, static_cast<double>(options->scale)));
}

EMSCRIPTEN_KEEPALIVE void playground_notify(const char* sentence, int isError) {
  self->app.notify(base::Message::ofBytes(sentence), isError != 0);
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_reading(int megabytes, int all) {
  const bool goesOn = self->app.reading(megabytes, all);
  requestFrameIfWanted();
  return goesOn ? 1 : 0;
}

EMSCRIPTEN_KEEPALIVE void playground_embed(const char* hide, const char* lock, const char* show, int fit) {
  self->app.setEmbed({hide, lock, show, fit != 0});
  requestFrameIfWanted();
}

// ---- lessons

/// Reserves space for the Guide (1), or removes it.
EMSCRIPTEN_KEEPALIVE void playground_guide(int open) {
  self->app.reserveGuide(open != 0);
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE void playground_begin_coach() {
  self->app.beginCoach();
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_open_lesson(const char* text, const char* name, const char* id, int step,
                                                int keepsBoard) {
  settle();
  return answer(self->app.openLesson(text, name, id, step, keepsBoard != 0));
}

EMSCRIPTEN_KEEPALIVE int playground_glossary(const char* english, const char* own) {
  return answer(self->app.setGlossary(english, own));
}
EMSCRIPTEN_KEEPALIVE int playground_lessons(const char* text) { return answer(self->app.setLessons(text)); }
EMSCRIPTEN_KEEPALIVE int playground_lesson_texts(const char* text) {
  return answer(self->app.addLessonTexts(text));
}

EMSCRIPTEN_KEEPALIVE void playground_fail_lesson(const char* sentence) {
  self->app.failLesson(base::Message::ofBytes(sentence));
  requestFrameIfWanted();
}

/// Sets the reply to a sentence per line about unknown names in an attribute.
EMSCRIPTEN_KEEPALIVE int playground_misspelt(const char* attribute, const char* list) {
  std::string sentences;
  for (const std::string& one : app::misspelt(attribute, list)) sentences += one + "\n";
  return answer(std::move(sentences));
}

// ---- the public interface

EMSCRIPTEN_KEEPALIVE int playground_state() {
  settle();
  return answer(self->app.state());
}

EMSCRIPTEN_KEEPALIVE int playground_set_state(const char* text, int undoable) {
  settle();
  return answer(self->app.setState(text, undoable != 0));
}

EMSCRIPTEN_KEEPALIVE int playground_open_preset(const char* name, int undoable) {
  settle();
  return answer(self->app.openPreset(name, undoable != 0));
}

EMSCRIPTEN_KEEPALIVE void playground_reset() {
  settle();
  self->app.reset();
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_undo() {
  settle();
  const bool done = self->app.undo();
  requestFrameIfWanted();
  return done;
}

EMSCRIPTEN_KEEPALIVE int playground_redo() {
  settle();
  const bool done = self->app.redo();
  requestFrameIfWanted();
  return done;
}

EMSCRIPTEN_KEEPALIVE int playground_get(const char* option) {
  settle();
  return answer(self->app.get(option));
}

EMSCRIPTEN_KEEPALIVE int playground_set(const char* option, const char* json) {
  settle();
  return answer(self->app.set(option, json));
}

/// `heads`: 0 if the numbers of all heads are needed; otherwise 1 + the head whose numbers are.
EMSCRIPTEN_KEEPALIVE int playground_tensor(const char* name, int heads) {
  settle();
  return answer(self->app.tensor(name, heads - 1));
}

EMSCRIPTEN_KEEPALIVE int playground_gradient(const char* name, int head, int row, int col, const char* by) {
  settle();
  return answer(self->app.gradient(name, head, row, col, by));
}

/// Sets the reply to the step at which training will end.
EMSCRIPTEN_KEEPALIVE int playground_train(int steps) {
  settle();
  const auto until = self->app.train(steps);
  requestFrameIfWanted();
  return until ? answer(std::to_string(*until)) : answer(base::Result<void>(until.error()));
}

EMSCRIPTEN_KEEPALIVE void playground_reset_training() {
  self->app.resetTraining();
  requestFrameIfWanted();
}

EMSCRIPTEN_KEEPALIVE int playground_set_tensor(const char* name, const float* data, int count,
                                               const int* shape, int dimensions) {
  settle();
  return answer(self->app.setTensor(name, {data, static_cast<std::size_t>(count)},
                                    {shape, static_cast<std::size_t>(dimensions)}));
}

/// Sets the reply to [x, y, width, height] in CSS pixels of the canvas.
EMSCRIPTEN_KEEPALIVE int playground_locate(const char* name, int head, int row, int col) {
  settle();
  const auto where = self->app.locate(name, head, row, col);
  return where ? answer(rectJson(*where)) : answer(base::Result<void>(where.error()));
}

EMSCRIPTEN_KEEPALIVE int playground_items() {
  settle();
  return answer(self->app.items());
}

/// NaN if there is no such cell.
EMSCRIPTEN_KEEPALIVE float playground_value(const char* name, int head, int row, int col) {
  settle();
  return self->app.value(name, head, row, col);
}

EMSCRIPTEN_KEEPALIVE int playground_explain(const char* name, int head, int row, int col, int isTranslated) {
  settle();
  return answer(self->app.explain(name, head, row, col, isTranslated != 0));
}

EMSCRIPTEN_KEEPALIVE int playground_judge(const char* checks, const char* start) {
  settle();
  return answer(self->app.judged(checks, start));
}

EMSCRIPTEN_KEEPALIVE double playground_frames() { return static_cast<double>(self->app.frames()); }
EMSCRIPTEN_KEEPALIVE double playground_uploads() {
  return static_cast<double>(self->stage.heatmaps().uploadedCells());
}
EMSCRIPTEN_KEEPALIVE int playground_heads(int whole) { return self->app.heads(whole != 0); }
EMSCRIPTEN_KEEPALIVE int playground_vertices() { return self->stage.vertices(); }
EMSCRIPTEN_KEEPALIVE float playground_frame_ms() { return self->app.frameMs(); }
EMSCRIPTEN_KEEPALIVE int playground_formats() { return answer(std::string(files::formatFacts())); }
EMSCRIPTEN_KEEPALIVE int playground_kernel() {
  return answer(std::string(attention::kernels::name(attention::kernels::best())));
}

}  // extern "C"
