// The desktop's shell: a window by GLFW, drawn by OpenGL 3.3, that sleeps until something happens. The same program draws
// pictures for figures and tests without a window on the screen.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "app/app.h"
#include "document/sentence.h"
#include "document/text.h"
#include "gfx/gl.h"
#include "shell/file.h"
#include "shell/options.h"
#include "shell/pango_text.h"
#include "shell/picture.h"
#include "shell/recovery.h"
#include "shell/shell.h"
#include "shell/text_box.h"
#include "shell/shell_place.h"

namespace shell {
namespace {

constexpr const char* kGlsl = "#version 330 core";
constexpr int kFailure = 1;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "attention-playground: %s\n", document::printable(sentence).c_str());
  return kFailure;
}

/// Prints to standard output; what was not taken (a full disk) is a failure.
int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
  return fail("Standard output cannot be written: " + std::string(std::strerror(errno)) + ".");
}

/// Signals that ask the program to end: a logout, Ctrl+C in its terminal, a terminal that is closed. A thread waits for
/// them, since a handler may do next to nothing.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now {};
      if (sigaction(one, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) sigaddset(&signals_, one);  // nohup means it
    }
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);  // for the threads of the driver too: this comes before them
  }
  /// From now on `wake` is called when one came, in a thread of its own.
  void listen(void (*wake)()) {
    std::thread([signals = signals_, wake] {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) return;
      came() = signal;
      wake();
      if (sigwait(&signals, &signal) == 0) _exit(128 + signal);  // asked twice: now
    }).detach();
  }
  /// The one that came, or 0.
  static int which() { return came(); }
  /// Ends the program by the signal that came, as whoever sent it expects.
  void pass() const {
    if (which() == 0) return;
    std::signal(which(), SIG_DFL);
    std::raise(which());
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
  }

 private:
  static std::atomic<int>& came() {
    static std::atomic<int> signal{0};
    return signal;
  }
  sigset_t signals_;
};

/// What GLFW has to say about the last thing that failed.
std::string glfwReason() {
  const char* reason = nullptr;
  glfwGetError(&reason);
  std::string words = reason == nullptr ? "" : reason;
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words.empty() ? "no reason given" : words;
}

/// Does the desktop ask for dark programs? There is no one way to know; this is the one that needs no library.
bool desktopIsDark() {
  const char* theme = std::getenv("GTK_THEME");
  return theme != nullptr && std::string_view(theme).find("dark") != std::string_view::npos;
}

/// GLFW and one window with an OpenGL context.
class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    if (window_ != nullptr) glfwDestroyWindow(window_);
    if (started_) glfwTerminate();
  }

  /// A window that is not shown yet, its context current; or a sentence.
  std::string open() {
    started_ = glfwInit() != 0;
    if (!started_)
      return "There is no display (" + glfwReason() + "). Start it on a desktop, or with xvfb-run to draw pictures.";
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
    glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
    glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "attention-playground");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "attention-playground");
    window_ = glfwCreateWindow(640, 480, "Attention Playground", nullptr, nullptr);
    if (window_ == nullptr) return "OpenGL 3.3 is needed, and this display has none (" + glfwReason() + ").";
    glfwMakeContextCurrent(window_);
    return "";
  }
  GLFWwindow* get() const { return window_; }

 private:
  GLFWwindow* window_ = nullptr;
  bool started_ = false;
};

class Desktop final : public app::Host {
 public:
  Desktop(const Options& options, EndSignals* signals) : options_(options), signals_(signals) {}
  Desktop(const Desktop&) = delete;
  Desktop& operator=(const Desktop&) = delete;
  ~Desktop() override {
    stage_.io();
    if (listening_) ImGui_ImplGlfw_Shutdown();
  }

  int run();

  // app::Host
  void requestFrame() override {}  // the loop asks App::wantsFrame() before it sleeps
  void beginText(const app::TextField& field) override { textBox_.begin(field); }
  void drawText() override {
    if (const auto typed = textBox_.draw(stage_.fonts(), pango_)) app_.endText(typed->how, typed->words);
  }
  void dropText() override { textBox_.drop(); }
  bool pickFile() override { return false; }
  attention::Result<std::string> saveFile(std::string_view name, std::string_view text) override;
  void toggleFullscreen() override;
  void copyToClipboard(std::string_view text) override { glfwSetClipboardString(window_.get(), std::string(text).c_str()); }
  bool prefersDark() const override { return desktopIsDark(); }
  bool isTouch() const override { return false; }
  void emit(const app::Event&) override {}
  float measure(std::string_view text, gfx::Face face) override { return pango_.measure(text, face); }
  gfx::LinePicture rasterise(std::string_view text, gfx::Face face, std::uint32_t color) override {
    return pango_.rasterise(text, face, color);
  }

 private:
  std::string load();
  int printPlaces();
  int drawPicture();
  std::string settle();

  int showWindow();
  void place();
  void moveTo(int x, int y);
  void notePlace();
  void rememberPlace();
  bool isSaved() const { return savedRevision_ == app_.document().revision(); }
  void recover();
  void keepUnsaved();
  void forgetRecovery();
  void listen();
  void drawFrame();
  float secondsSinceLastFrame();
  void takeInput();
  void showTitle();
  void pressed(int key, int mods);
  void paste(std::string_view cells);
  void dropped(const char* path);

  float scale() const;
  float windowUnits() const;
  template <class Call>
  static void handle(GLFWwindow* window, Call call);

  Options options_;
  EndSignals* signals_;  ///< null where there is no window to lose edits of
  Window window_;
  PangoText pango_;
  Stage stage_{*this};
  app::App app_{*this, stage_.heatmaps()};
  TextBox textBox_;
  WindowPlace place_;            ///< as it is when neither maximised nor filling the screen
  std::filesystem::path file_;   ///< where Ctrl+S saves; empty until it has
  std::filesystem::path recovery_;  ///< what was not saved last time, until it is
  std::uint64_t savedRevision_ = 0;
  std::string title_;
  double lastFrame_ = 0;
  bool listening_ = false;
};

// ---------------------------------------------------------------- what it shows

/// A state text says its version; a tensors file does not, and must not be replaced by a state on Ctrl+S.
bool looksLikeState(std::string_view text) { return text.find("\"version\"") != std::string_view::npos; }

/// Carries out the options that say what to show; returns a sentence if one cannot be.
std::string Desktop::load() {
  attention::Check wrong;
  if (!options_.preset.empty()) wrong = app_.openPreset(options_.preset, false);
  if (!options_.state.empty()) {
    const auto text = readFile(options_.state, document::kMaxTextBytes);
    if (!text) return text.error().message;
    wrong = app_.setState(*text, false);
    if (wrong) return options_.state + ": " + wrong->message;
    std::error_code none;
    if (looksLikeState(*text)) file_ = std::filesystem::absolute(options_.state, none);
    if (none) file_ = options_.state;  // the folder is gone: saving says so
  }
  if (!wrong && !options_.theme.empty()) wrong = app_.set("theme", "\"" + options_.theme + "\"");
  savedRevision_ = app_.document().revision();
  return wrong ? wrong->message : "";
}

int Desktop::run() {
  if (const std::string wrong = load(); !wrong.empty()) return fail(wrong);
  if (const std::string wrong = window_.open(); !wrong.empty()) return fail(wrong);
  if (const std::string wrong = stage_.start(kGlsl); !wrong.empty())
    return fail("The graphics driver refused the shaders: " + wrong);
  if (options_.locate || options_.items) return printPlaces();
  if (!options_.screenshot.empty()) return drawPicture();
  return showWindow();
}

// ---------------------------------------------------------------- pictures and places, without a window

/// Builds frames until no more is wanted.
std::string Desktop::settle() {
  constexpr int kMostFrames = 240;
  constexpr float kFrame = 1.0f / 60;
  const Options& o = options_;
  const float scale = o.scale > 0 ? o.scale : 1;
  const float width = static_cast<float>(o.width > 0 ? o.width : place_.width);
  const float height = static_cast<float>(o.height > 0 ? o.height : place_.height);
  stage_.resize(static_cast<int>(std::round(width * scale)), static_cast<int>(std::round(height * scale)), scale);
  app_.wake();
  for (int i = 0; i < kMostFrames; ++i) {
    stage_.build(app_, kFrame);
    if (!app_.wantsFrame()) return "";
  }
  return "The picture does not come to rest.";
}

int Desktop::printPlaces() {
  if (const std::string wrong = settle(); !wrong.empty()) return fail(wrong);
  if (options_.items) return print(app_.items() + "\n");
  const Located& at = *options_.locate;
  if (const auto wrong = app_.locate(at.name, at.head, at.row, at.col); !wrong) return fail(wrong.error().message);
  if (const std::string wrong = settle(); !wrong.empty()) return fail(wrong);  // another head may have moved into view
  const auto rect = app_.locate(at.name, at.head, at.row, at.col);
  if (!rect) return fail(rect.error().message);
  char line[128];
  std::snprintf(line, sizeof line, "%g %g %g %g\n", static_cast<double>(rect->x), static_cast<double>(rect->y),
                static_cast<double>(rect->width), static_cast<double>(rect->height));
  return print(line);
}

int Desktop::drawPicture() {
  if (const std::string wrong = settle(); !wrong.empty()) return fail(wrong);
  for (const char c : options_.type) {
    stage_.io().AddInputCharacter(static_cast<unsigned char>(c));
    if (const std::string wrong = settle(); !wrong.empty()) return fail(wrong);
  }
  const ImVec2 size = stage_.io().DisplaySize;
  const float scale = stage_.io().DisplayFramebufferScale.x;
  Picture picture(static_cast<int>(std::round(size.x * scale)), static_cast<int>(std::round(size.y * scale)));
  if (const std::string wrong = picture.begin(); !wrong.empty()) return fail(wrong);
  stage_.draw(app_, 1.0f / 60);
  const std::string png = picture.png();
  if (png.empty()) return fail("The picture could not be made: out of memory.");
  if (const attention::Check wrong = writeFile(options_.screenshot, png)) return fail(wrong->message);
  return 0;
}

// ---------------------------------------------------------------- the window

/// Framebuffer pixels per logical pixel.
float Desktop::scale() const {
  if (options_.scale > 0) return options_.scale;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_.get(), &x, &y);
  return std::clamp(x, 0.5f, 4.0f);
}

/// Logical pixels per unit that GLFW measures windows and pointers in: framebuffer pixels on X11 and Windows, points on
/// macOS and Wayland.
float Desktop::windowUnits() const {
  int units = 0, pixels = 0, ignored = 0;
  glfwGetWindowSize(window_.get(), &units, &ignored);
  glfwGetFramebufferSize(window_.get(), &pixels, &ignored);
  return units > 0 && pixels > 0 ? static_cast<float>(pixels) / static_cast<float>(units) / scale() : 1 / scale();
}

/// Gives the window the size and position that it had last time, as far as they still fit the screen.
void Desktop::place() {
  if (const auto path = windowPlaceFile(); !path.empty()) {
    const auto text = readFile(path, 4096);
    if (const auto before = text ? parseWindowPlace(*text) : std::nullopt) place_ = *before;
  }
  const bool sized = options_.width > 0;
  if (sized) place_.width = options_.width, place_.height = options_.height;
  float width = static_cast<float>(place_.width) / windowUnits(), height = static_cast<float>(place_.height) / windowUnits();
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr && !sized) {
    int x = 0, y = 0, most = 0, mostHeight = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &most, &mostHeight);
    if (most > 0 && mostHeight > 0)
      width = std::min(width, static_cast<float>(most)), height = std::min(height, static_cast<float>(mostHeight));
  }
  glfwSetWindowSizeLimits(window_.get(), static_cast<int>(320 / windowUnits()), static_cast<int>(320 / windowUnits()),
                          GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwSetWindowSize(window_.get(), static_cast<int>(std::round(width)), static_cast<int>(std::round(height)));
  if (place_.hasPosition) moveTo(place_.x, place_.y);
  if (place_.maximized && !sized) glfwMaximizeWindow(window_.get());
}

/// Moves the window there if enough of it would be on a screen to take hold of.
void Desktop::moveTo(int x, int y) {
  constexpr int kGrip = 64;
  int count = 0, width = 0, height = 0;
  glfwGetWindowSize(window_.get(), &width, &height);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0, w = 0, h = 0;
    glfwGetMonitorWorkarea(monitors[i], &left, &top, &w, &h);
    const bool across = x + width >= left + kGrip && x <= left + w - kGrip, down = y >= top && y <= top + h - kGrip;
    if (across && down) return glfwSetWindowPos(window_.get(), x, y);
  }
}

void Desktop::notePlace() {
  GLFWwindow* window = window_.get();
  if (glfwGetWindowMonitor(window) != nullptr || glfwGetWindowAttrib(window, GLFW_MAXIMIZED) != 0 ||
      glfwGetWindowAttrib(window, GLFW_ICONIFIED) != 0)
    return;
  int width = 0, height = 0;
  glfwGetWindowSize(window, &width, &height);
  place_.width = static_cast<int>(std::round(static_cast<float>(width) * windowUnits()));
  place_.height = static_cast<int>(std::round(static_cast<float>(height) * windowUnits()));
  glfwGetError(nullptr);
  glfwGetWindowPos(window, &place_.x, &place_.y);
  place_.hasPosition = glfwGetError(nullptr) == GLFW_NO_ERROR;  // Wayland tells no positions
}

void Desktop::rememberPlace() {
  const std::filesystem::path path = windowPlaceFile();
  if (path.empty()) return;
  place_.maximized = glfwGetWindowAttrib(window_.get(), GLFW_MAXIMIZED) != 0;
  std::error_code none;
  std::filesystem::create_directories(path.parent_path(), none);
  writeFile(path, windowPlaceText(place_));  // settings that cannot be written are no reason to complain at the end
}

int Desktop::showWindow() {
  place();
  listen();
  recover();
  glfwSwapInterval(1);
  glfwShowWindow(window_.get());
  app_.wake();
  if (signals_ != nullptr) signals_->listen(glfwPostEmptyEvent);
  while (glfwWindowShouldClose(window_.get()) == 0 && EndSignals::which() == 0) {
    const bool visible = glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == 0;
    if (!visible || !(app_.wantsFrame() || stage_.inputIsWaiting())) {
      glfwWaitEvents();
      continue;
    }
    glfwPollEvents();
    drawFrame();
  }
  rememberPlace();
  if (EndSignals::which() != 0) keepUnsaved();
  else forgetRecovery();  // the reader closed the window
  return 0;
}

/// Opens what was not saved last time, unless the reader asked for something else.
void Desktop::recover() {
  const std::filesystem::path path = newestRecovery();
  if (path.empty()) return;
  stage_.needGlyphs(path.string());
  const std::string where = path.string() + " holds edits that were not saved last time";
  if (!options_.state.empty() || !options_.preset.empty()) return app_.notify(where + "; start without a file to open them.", false);
  const auto text = readFile(path, document::kMaxTextBytes);
  if (!text) return app_.notify(text.error().message, true);
  if (const attention::Check wrong = app_.setState(*text, false)) return app_.notify(path.string() + ": " + wrong->message, true);
  recovery_ = path;
  savedRevision_ = 0;  // not by the reader
  app_.notify("Opened the edits that were not saved last time; Ctrl+S saves them.", false);
}

void Desktop::keepUnsaved() {
  if (isSaved()) return;
  const auto kept = keepRecovery(recovery_, app_.state());
  if (!kept) fail("The unsaved edits could not be kept. " + kept.error().message);
  else fail("The unsaved edits are kept in " + kept->string() + "; the next start opens them.");
}

/// What was kept has been saved, or was not wanted.
void Desktop::forgetRecovery() {
  std::error_code none;
  if (!recovery_.empty()) std::filesystem::remove(recovery_, none);
  recovery_.clear();
}

void Desktop::drawFrame() {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  if (width <= 0 || height <= 0) return glfwWaitEvents();
  stage_.resize(width, height, scale());
  stage_.io();
  ImGui_ImplGlfw_NewFrame();  // the pointer's shape; size and time are the stage's
  const double began = glfwGetTime();
  stage_.draw(app_, secondsSinceLastFrame());
  app_.noteFrameTime(static_cast<float>((glfwGetTime() - began) * 1000));
  showTitle();
  glfwSwapBuffers(window_.get());
}

/// As Dear ImGui wants it: never nothing. Sleep counts, or two clicks a minute apart would be a double click.
float Desktop::secondsSinceLastFrame() {
  const double now = glfwGetTime(), passed = now - lastFrame_;
  lastFrame_ = now;
  return std::max(static_cast<float>(passed), 1e-4f);
}

/// Builds frames, without drawing them, until all input so far has had its effect. Without this Ctrl and S that are
/// pressed and let go within one frame would reach the panels as an S alone, and digits would be lost to a field that opens.
void Desktop::takeInput() {
  constexpr int kMostFrames = 16;
  for (int i = 0; i < kMostFrames && (stage_.inputIsWaiting() || textBox_.isWaiting()); ++i) stage_.build(app_, secondsSinceLastFrame());
}

/// Where the program was started; the home folder if that is gone.
std::filesystem::path folderToSaveIn() {
  std::error_code gone;
  const std::filesystem::path here = std::filesystem::current_path(gone);
  const char* home = std::getenv("HOME");
  return !gone || home == nullptr ? here : std::filesystem::path(home);
}

/// "• numbers.json — Attention Playground": the dot while there is something to save.
void Desktop::showTitle() {
  std::string title = "Attention Playground";
  if (!file_.empty()) {
    title = (isSaved() ? "" : "• ") + file_.filename().string() + " — " + title;
  }
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(window_.get(), title.c_str());
}

attention::Result<std::string> Desktop::saveFile(std::string_view name, std::string_view text) {
  // Over the file that was opened or saved before; else never over anything.
  const std::filesystem::path path = file_.empty() ? freeName(folderToSaveIn() / name) : file_;
  stage_.needGlyphs(path.string());
  if (attention::Check wrong = writeFile(path, text)) return *wrong;
  file_ = path;
  savedRevision_ = app_.document().revision();
  forgetRecovery();
  return "Saved to " + path.string() + ".";
}

void Desktop::toggleFullscreen() {
  GLFWwindow* window = window_.get();
  if (glfwGetWindowMonitor(window) != nullptr) {
    const float units = windowUnits();
    glfwSetWindowMonitor(window, nullptr, place_.x, place_.y, static_cast<int>(std::round(static_cast<float>(place_.width) / units)),
                         static_cast<int>(std::round(static_cast<float>(place_.height) / units)), GLFW_DONT_CARE);
    return;
  }
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  if (mode != nullptr) glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

// ---------------------------------------------------------------- input

/// Every event goes through here: it reaches Dear ImGui, and a frame is drawn.
template <class Call>
void Desktop::handle(GLFWwindow* window, Call call) {
  Desktop& self = *static_cast<Desktop*>(glfwGetWindowUserPointer(window));
  self.stage_.io();
  call(self);
  self.app_.wake();
}

void Desktop::listen() {
  GLFWwindow* w = window_.get();
  stage_.io();
  listening_ = ImGui_ImplGlfw_InitForOpenGL(w, false);
  glfwSetWindowUserPointer(w, this);
  glfwSetCursorPosCallback(w, [](GLFWwindow* window, double x, double y) {
    handle(window, [=](Desktop& self) {
      const auto units = static_cast<double>(self.windowUnits() / self.stage_.zoom());
      ImGui_ImplGlfw_CursorPosCallback(window, x * units, y * units);
    });
  });
  glfwSetCursorEnterCallback(w, [](GLFWwindow* window, int entered) {
    handle(window, [=](Desktop&) { ImGui_ImplGlfw_CursorEnterCallback(window, entered); });
  });
  glfwSetMouseButtonCallback(w, [](GLFWwindow* window, int button, int action, int mods) {
    handle(window, [=](Desktop& self) {
      self.takeInput();
      ImGui_ImplGlfw_MouseButtonCallback(window, button, action, mods);
    });
  });
  glfwSetScrollCallback(w, [](GLFWwindow* window, double x, double y) {
    handle(window, [=](Desktop&) { ImGui_ImplGlfw_ScrollCallback(window, x, y); });
  });
  glfwSetKeyCallback(w, [](GLFWwindow* window, int key, int code, int action, int mods) {
    handle(window, [=](Desktop& self) {
      self.takeInput();
      ImGui_ImplGlfw_KeyCallback(window, key, code, action, mods);
      if (action == GLFW_PRESS) self.pressed(key, mods);
    });
  });
  glfwSetCharCallback(w, [](GLFWwindow* window, unsigned int character) {
    handle(window, [=](Desktop&) { ImGui_ImplGlfw_CharCallback(window, character); });
  });
  glfwSetWindowFocusCallback(w, [](GLFWwindow* window, int focused) {
    handle(window, [=](Desktop&) { ImGui_ImplGlfw_WindowFocusCallback(window, focused); });
  });
  glfwSetDropCallback(w, [](GLFWwindow* window, int count, const char** paths) {
    handle(window, [=](Desktop& self) {
      if (count > 0) self.dropped(paths[0]);
    });
  });
  glfwSetWindowRefreshCallback(w, [](GLFWwindow* window) { handle(window, [](Desktop&) {}); });
  glfwSetWindowContentScaleCallback(w, [](GLFWwindow* window, float, float) { handle(window, [](Desktop&) {}); });
  const auto moved = [](GLFWwindow* window, int, int) { handle(window, [](Desktop& self) { self.notePlace(); }); };
  glfwSetWindowSizeCallback(w, moved);
  glfwSetWindowPosCallback(w, moved);
}

/// Tab-separated zeros, as many as there are cells.
std::string zerosLike(std::string_view cells) {
  std::string zeros;
  bool inside = false;
  for (const char c : cells) {
    const bool between = c == '\t' || c == '\n';
    if (between) zeros += c;
    else if (!inside) zeros += '0';
    inside = !between;
  }
  return zeros;
}

/// Copying, cutting and pasting of cells. Text fields have their own, by Dear ImGui.
void Desktop::pressed(int key, int mods) {
#if defined(__APPLE__)
  constexpr int kCommand = GLFW_MOD_SUPER;
#else
  constexpr int kCommand = GLFW_MOD_CONTROL;
#endif
  if ((mods & kCommand) == 0 || ImGui::GetIO().WantTextInput) return;
  const char* name = glfwGetKeyName(key, 0);  // the letter on the key, not its place on an American keyboard
  const char letter = name != nullptr && name[0] != 0 && name[1] == 0 ? name[0] : static_cast<char>(0);
  if (letter == 'c' || letter == 'x') {
    const std::string cells = app_.copyCells();
    if (!cells.empty()) copyToClipboard(cells);
    if (!cells.empty() && letter == 'x') paste(zerosLike(cells));
  }
  if (letter == 'v')
    if (const char* text = glfwGetClipboardString(window_.get()); text != nullptr) paste(text);
}

void Desktop::paste(std::string_view cells) {
  app_.pasteCells(cells);  // what it refuses it says in the window
}

void Desktop::dropped(const char* path) {
  const std::string name = std::filesystem::path(path).filename().string();
  stage_.needGlyphs(name);
  const auto text = readFile(path, document::kMaxTextBytes);
  if (!text) return app_.notify(text.error().message, true);
  if (!app_.openText(*text, name)) file_.clear();  // what was dropped is not written over
}

}  // namespace
}  // namespace shell

int main(int argc, char** argv) {
  const shell::Parsed parsed = shell::parseOptions(argc, argv);
  if (!parsed.options) return parsed.exitCode;
  if (parsed.options->isOneShot()) return shell::Desktop(*parsed.options, nullptr).run();
  shell::EndSignals signals;
  const int status = shell::Desktop(*parsed.options, &signals).run();
  signals.pass();
  return status;
}
