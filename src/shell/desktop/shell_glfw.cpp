// The desktop shell: a window by GLFW, drawn with OpenGL 3.3, idle until something happens. The same program
// creates screenshots for figures and tests without a visible window.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>
#include <imgui_impl_glfw.h>
#include <imgui_impl_opengl3.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <pthread.h>
#include <unistd.h>

#include "app/app.h"
#include "base/sentence.h"
#include "document/lesson_list.h"
#include "document/text.h"
#include "draw/gl.h"
#include "files/formats/format.h"
#include "files/formats/printed.h"
#include "files/layout/opener.h"
#include "lessons.h"
#include "shell/desktop/chooser.h"
#include "shell/desktop/damage_tracker.h"
#include "shell/desktop/file.h"
#include "shell/desktop/kept_session.h"
#include "shell/desktop/options.h"
#include "shell/desktop/pango_text.h"
#include "shell/desktop/picture.h"
#include "shell/desktop/report.h"
#include "shell/desktop/shell_place.h"
#include "shell/desktop/text_box.h"
#include "shell/desktop/window_parts.h"
#include "shell/language.h"
#include "shell/shell.h"

namespace shell {
namespace {

constexpr const char* kGlsl = "#version 330 core";
constexpr int kFailure = 1;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "attention-playground: %s\n", base::printable(sentence).c_str());
  return kFailure;
}

/// Prints to standard output; an incomplete write (a full disk) is an error.
int print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
  return fail("Standard output cannot be written: " + std::string(std::strerror(errno)) + ".");
}

/// Signals that ask the program to terminate: logout, Ctrl+C in its terminal, closing the terminal. A thread
/// waits for them, because a signal handler may do almost nothing.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) {
      struct sigaction now{};
      if (sigaction(one, nullptr, &now) != 0 || now.sa_handler != SIG_IGN)
        sigaddset(&signals_, one);  // unless ignored, as by nohup
    }
    pthread_sigmask(SIG_BLOCK, &signals_,
                    nullptr);  // inherited by the driver's threads, which are created later
  }
  /// From now on, `wake` is called in a separate thread when a signal arrives.
  void listen(void (*wake)()) {
    std::thread([signals = signals_, wake] {
      int signal = 0;
      if (sigwait(&signals, &signal) != 0) return;
      came() = signal;
      wake();
      if (sigwait(&signals, &signal) == 0) _exit(128 + signal);  // a second signal terminates immediately
    }).detach();
  }
  /// The signal that arrived, or 0.
  static int which() { return came(); }
  /// Terminates the program by that signal, as its sender expects.
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

/// GLFW's description of its last error.
std::string glfwReason() {
  const char* reason = nullptr;
  glfwGetError(&reason);
  std::string words = reason == nullptr ? "" : reason;
  while (!words.empty() && words.back() == ' ') words.pop_back();
  return words.empty() ? "no reason given" : words;
}

/// Does the desktop prefer dark programs? There is no standard way to know; this one needs no library.
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

  /// Creates a window that is not visible yet, and makes its context current. Returns "" or an error.
  std::string open() {
    started_ = glfwInit() != 0;
    if (!started_)
      return "There is no display (" + glfwReason() +
             "). Start it on a desktop, or with xvfb-run to draw pictures.";
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
  void requestFrame() override {}  // the main loop checks App::wantsFrame() before it waits
  void beginText(const app::TextField& field) override { textBox_.begin(field); }
  void drawText() override {
    if (const auto typed = textBox_.draw(stage_.fonts(), pango_)) app_.endText(typed->how, typed->words);
  }
  void dropText() override { textBox_.drop(); }
  bool pickFile() override;
  void choose(std::string_view choices) override;
  base::Result<base::Message> saveFile(std::string_view name, std::string_view text, bool asks) override;
  void toggleFullscreen() override;
  void copyToClipboard(std::string_view text) override {
    glfwSetClipboardString(window_.get(), std::string(text).c_str());
  }
  bool prefersDark() const override { return desktopIsDark(); }
  bool isTouch() const override { return false; }
  void copyReport() override;
  void emit(const app::Event& event) override { report_.note(event); }
  void wantLesson(std::string_view id, int step) override;
  void wantLessons() override;
  void wantLessonTexts() override;
  void wantGlossary() override;
  bool remember(std::string_view text) override;
  std::string remembered() const override;
  float measure(std::string_view text, draw::Face face) override { return pango_.measure(text, face); }
  draw::LinePicture rasterise(std::string_view text, draw::Face face, std::uint32_t color) override {
    return pango_.rasterise(text, face, color);
  }

 private:
  std::string load();
  base::Result<void> openLesson();
  bool isFirst() const;
  int printPlaces();
  int drawPicture();
  std::string settle();

  int showWindow();
  void place();
  void moveTo(int x, int y);
  void notePlace();
  void rememberPlace();
  bool isSaved() const { return savedRevision_ == app_.document().revision(); }
  void comeBack();
  void keep();
  void wait();
  bool mayClose();
  void endSession();
  void listen();
  void drawFrame();
  bool drawChanged(int width, int height);
  float secondsSinceLastFrame();
  void takeInput();
  void showTitle();
  void pressed(int key, int mods);
  void paste(std::string_view cells);
  void dropped(const char* path);
  base::Result<void> open(const std::filesystem::path& path, bool isFirst);
  base::Result<void> take(base::Result<files::Opened> opened, const std::string& name, std::string_view text,
                          bool isFirst);
  base::Result<base::Message> saveTo(const std::filesystem::path& path, std::string_view text);
  void takeChosenFile();

  bool zooms(double x, double y);
  float scale() const;
  float windowUnits() const;
  template <class Call>
  static void handle(GLFWwindow* window, Call call);

  Options options_;
  EndSignals* signals_;  ///< null if there is no window whose edits could be lost
  Window window_;
  PangoText pango_;
  Stage stage_{*this};
  app::App app_{*this, stage_.heatmaps(), isFirst()};
  TextBox textBox_;
  Report report_;
  MappedFile mapped_;  ///< the file that opener_ reads
  files::Opener opener_;
  std::string opening_;  ///< the name of that file
  Chooser chooser_;
  WindowPlace place_;           ///< when the window is neither maximised nor full screen
  std::filesystem::path file_;  ///< the file for Ctrl+S; empty until there is one
  KeptSession kept_;
  std::uint64_t keptRevision_ = 0;
  std::uint64_t waitingRevision_ = 0;  ///< of the last edit that is to be stored
  double keepAt_ = 0;                  ///< when edits are to be stored; 0: there are none
  double keepBy_ = 0;                  ///< when at the latest
  bool isSlow_ = false;                ///< is rendering done in software?
  std::unique_ptr<Picture> picture_;   ///< the content of the window, with software rendering
  DamageTracker damage_;
  WindowParts parts_;
  /// What of the picture is to be shown; empty: the buffers are exchanged.
  std::vector<DamageTracker::Box> drawn_;
  ImU32 background_ = 0;                    ///< of that picture
  bool isShown_ = false;                    ///< does the window still show the last frame drawn?
  bool closes_ = false, discards_ = false;  ///< the answer to the question about unsaved changes
  std::uint64_t savedRevision_ = 0;
  std::string title_;
  double lastFrame_ = 0;
  bool listening_ = false;
};

// ---- what it shows

// ---- lessons, which are built in

std::string_view lessonFile(std::string_view name) {
  for (const auto& file : lessons::files)
    if (file.name == name) return file.text;
  return {};
}

void Desktop::wantLesson(std::string_view id, int step) {
  for (const auto& file : lessons::files) {
    const auto read = document::readLessons(file.text);
    const auto has = [&](const document::Lesson& lesson) { return lesson.id == id; };
    if (!read || std::none_of(read->begin(), read->end(), has)) continue;
    if (const auto ok = app_.openLesson(file.text, {}, id, step); !ok) app_.failLesson(ok.error().said());
    return;
  }
  app_.failLesson(
      base::message({"There is no lesson ", base::inQuotes(id), "; give one of the list in the Guide."}));
}

void Desktop::copyReport() {
  copyToClipboard(report_.text(app_.state()));
  app_.notify("The report is on the clipboard; nothing was sent.", false);
}

void Desktop::wantLessons() {
  if (const auto ok = app_.setLessons(document::lessonListOf(lessons::files)); !ok) app_.failLesson("");
}

void Desktop::wantLessonTexts() {
  for (const auto& file : lessons::files) (void)app_.addLessonTexts(file.text);  // some are no lessons
}

void Desktop::wantGlossary() {
  const std::string_view language = options_.lang.empty() ? systemLanguage() : options_.lang;
  const std::string own =
      "glossary." + std::string(language.substr(0, language.find_first_of("_-.@"))) + ".json";
  const bool isEnglish = own == "glossary.en.json";
  if (const auto ok =
          app_.setGlossary(lessonFile("glossary.en.json"), isEnglish ? std::string_view() : lessonFile(own));
      !ok)
    app_.failLesson(ok.error().said());
}

bool Desktop::remember(std::string_view text) {
  if (options_.isOneShot()) return true;
  const std::filesystem::path path = progressFile();
  std::error_code none;
  if (!path.empty()) std::filesystem::create_directories(path.parent_path(), none);
  return !path.empty() && writeFile(path, text);
}

std::string Desktop::remembered() const {
  const std::filesystem::path path = options_.isOneShot() ? std::filesystem::path() : progressFile();
  const auto text =
      path.empty() ? base::Result<std::string>(std::string()) : readFile(path, document::kMaxLessonBytes);
  return text ? *text : "";
}

/// A first visit has a board of its own, as on the page: where nothing else is asked for, for as long as the
/// column beside it stays closed.
bool Desktop::isFirst() const {
  const Options& o = options_;
  const std::string kept = remembered();
  return !o.isOneShot() && o.state.empty() && o.preset.empty() && o.lesson.empty() &&
         (kept.empty() || kept.find("\"closed\":true") != std::string::npos);
}

/// Applies the options that say what to show; returns "" or an error.
std::string Desktop::load() {
  base::Result<void> ok;
  app_.useAllProcessors();
  stage_.setWords(wordsFor(options_.lang.empty() ? systemLanguage() : options_.lang));
  if (!options_.preset.empty()) ok = app_.openPreset(options_.preset, false);
  if (!options_.state.empty()) {
    if (auto opened = open(options_.state, true); !opened) return opened.error().message();
  }
  if (ok && !options_.lesson.empty()) ok = openLesson();
  if (ok && !options_.theme.empty()) ok = app_.set("theme", "\"" + options_.theme + "\"");
  savedRevision_ = app_.document().revision();
  return ok ? "" : ok.error().message();
}

base::Result<void> Desktop::openLesson() {
  const std::string& asked = options_.lesson;
  if (asked.find_first_of("./") == std::string::npos) {
    wantLesson(asked, options_.step);
    return {};
  }
  const auto text = readFile(asked, document::kMaxLessonBytes);
  return text ? app_.openLesson(*text, asked, {}, options_.step) : text.error();
}

int Desktop::run() {
  app_.setParts(AP_PARTS);
  if (const std::string wrong = load(); !wrong.empty()) return fail(wrong);
  if (const std::string wrong = window_.open(); !wrong.empty()) return fail(wrong);
  if (const std::string wrong = stage_.start(kGlsl); !wrong.empty())
    return fail("The graphics driver refused the shaders: " + wrong);
  if (options_.locate || options_.items) return printPlaces();
  if (!options_.screenshot.empty()) return drawPicture();
  return showWindow();
}

// ---- pictures and places, without a window

/// Builds frames until no more are needed.
std::string Desktop::settle() {
  constexpr int kMostFrames = 4000;  // heads of thousands of tokens are computed some rows a frame
  constexpr float kFrame = 1.0f / 60;
  const Options& o = options_;
  const float scale = o.scale > 0 ? o.scale : 1;
  const float width = static_cast<float>(o.width > 0 ? o.width : place_.width);
  const float height = static_cast<float>(o.height > 0 ? o.height : place_.height);
  stage_.resize(static_cast<int>(std::round(width * scale)), static_cast<int>(std::round(height * scale)),
                scale);
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
  if (const auto wrong = app_.locate(at.name, at.head, at.row, at.col); !wrong)
    return fail(wrong.error().message());
  if (const std::string wrong = settle(); !wrong.empty())
    return fail(wrong);  // locate() may have focused another head
  const auto rect = app_.locate(at.name, at.head, at.row, at.col);
  if (!rect) return fail(rect.error().message());
  char line[128];
  std::snprintf(line, sizeof line, "%g %g %g %g\n", static_cast<double>(rect->x),
                static_cast<double>(rect->y), static_cast<double>(rect->width),
                static_cast<double>(rect->height));
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
  if (auto ok = writeFile(options_.screenshot, png); !ok) return fail(ok.error().message());
  return 0;
}

// ---- the window

/// Framebuffer pixels per logical pixel.
float Desktop::scale() const {
  if (options_.scale > 0) return options_.scale;
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_.get(), &x, &y);
  return std::clamp(x, 0.5f, 4.0f);
}

/// Logical pixels per unit of GLFW's window sizes and pointer positions: framebuffer pixels on X11 and
/// Windows, points on macOS and Wayland.
float Desktop::windowUnits() const {
  int units = 0, pixels = 0, ignored = 0;
  glfwGetWindowSize(window_.get(), &units, &ignored);
  glfwGetFramebufferSize(window_.get(), &pixels, &ignored);
  return units > 0 && pixels > 0 ? static_cast<float>(pixels) / static_cast<float>(units) / scale()
                                 : 1 / scale();
}

/// Restores the window's size and position from the last run, as far as they fit the present screen.
void Desktop::place() {
  if (const auto path = windowPlaceFile(); !path.empty()) {
    const auto text = readFile(path, 4096);
    if (const auto before = text ? parseWindowPlace(*text) : std::nullopt) place_ = *before;
  }
  const bool sized = options_.width > 0;
  if (sized) place_.width = options_.width, place_.height = options_.height;
  float width = static_cast<float>(place_.width) / windowUnits(),
        height = static_cast<float>(place_.height) / windowUnits();
  if (GLFWmonitor* monitor = glfwGetPrimaryMonitor(); monitor != nullptr && !sized) {
    int x = 0, y = 0, most = 0, mostHeight = 0;
    glfwGetMonitorWorkarea(monitor, &x, &y, &most, &mostHeight);
    if (most > 0 && mostHeight > 0)
      width = std::min(width, static_cast<float>(most)),
      height = std::min(height, static_cast<float>(mostHeight));
  }
  glfwSetWindowSizeLimits(window_.get(), static_cast<int>(320 / windowUnits()),
                          static_cast<int>(320 / windowUnits()), GLFW_DONT_CARE, GLFW_DONT_CARE);
  glfwSetWindowSize(window_.get(), static_cast<int>(std::round(width)), static_cast<int>(std::round(height)));
  if (place_.hasPosition) moveTo(place_.x, place_.y);
  if (place_.maximized && !sized) glfwMaximizeWindow(window_.get());
}

/// Moves the window if enough of it to drag it by would be on a screen.
void Desktop::moveTo(int x, int y) {
  constexpr int kGrip = 64;
  int count = 0, width = 0, height = 0;
  glfwGetWindowSize(window_.get(), &width, &height);
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0, w = 0, h = 0;
    glfwGetMonitorWorkarea(monitors[i], &left, &top, &w, &h);
    const bool across = x + width >= left + kGrip && x <= left + w - kGrip,
               down = y >= top && y <= top + h - kGrip;
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
  place_.hasPosition = glfwGetError(nullptr) == GLFW_NO_ERROR;  // Wayland does not report positions
}

void Desktop::rememberPlace() {
  const std::filesystem::path path = windowPlaceFile();
  if (path.empty()) return;
  place_.maximized = glfwGetWindowAttrib(window_.get(), GLFW_MAXIMIZED) != 0;
  std::error_code none;
  std::filesystem::create_directories(path.parent_path(), none);
  writeFile(path, windowPlaceText(place_));  // failing to store the window's place is not reported
}

int Desktop::showWindow() {
  const auto* const renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  isSlow_ = renderer != nullptr &&
            (std::strstr(renderer, "llvmpipe") != nullptr || std::strstr(renderer, "softpipe") != nullptr);
  parts_.begin();
  place();
  listen();
  comeBack();
  glfwSwapInterval(1);
  glfwShowWindow(window_.get());
  app_.wake();
  if (signals_ != nullptr) signals_->listen(glfwPostEmptyEvent);
  while (EndSignals::which() == 0 && !mayClose()) {
    const bool visible = glfwGetWindowAttrib(window_.get(), GLFW_ICONIFIED) == 0;
    takeChosenFile();
    keep();
    if (!visible || !(app_.wantsFrame() || stage_.inputIsWaiting())) {
      wait();
      continue;
    }
    glfwPollEvents();
    drawFrame();
    constexpr int kSlices = 3;  // after which input is still answered in time
    for (int i = 0; i < kSlices && app_.computes() && app_.workOn(); ++i) continue;
  }
  rememberPlace();
  endSession();
  return 0;
}

/// Restores the session of the last window, unless the user asked for something else; for a file, its unsaved
/// edits. Without one, the first visit has its first steps.
void Desktop::comeBack() {
  const bool isFresh =
      !options_.preset.empty() || !options_.lesson.empty() || (!options_.state.empty() && file_.empty());
  const auto found = kept_.open(!isFresh, file_);
  if (!kept_.path().empty()) app_.setKeptIn(kept_.path().string());
  keptRevision_ = app_.document().revision();
  if (!found) {
    if (isFirst() && remembered().find("\"coached\":true") == std::string::npos) app_.beginCoach();
    return;
  }
  if (auto ok = app_.restore(found->bytes); !ok) {
    std::error_code none;  // an unreadable session is set aside for a program that can read it
    const std::filesystem::path aside = freeName(kept_.path().string() + ".unreadable");
    std::filesystem::rename(kept_.path(), aside, none);
    return app_.notify(base::message({"The last session could not be opened; it is kept as ", aside.string(),
                                      ". ", ok.error().said()}),
                       true);
  }
  if (!options_.theme.empty()) (void)app_.set("theme", "\"" + options_.theme + "\"");
  keptRevision_ = app_.document().revision();
  std::error_code none;
  const bool isThere = !found->file.empty() && std::filesystem::exists(found->file, none);
  savedRevision_ = found->isSaved && isThere ? keptRevision_ : 0;
  app_.notify(file_.empty() ? base::Message("Your last session is back, with its undo history.")
                            : base::message({"The edits of ", file_.filename().string(),
                                             " that were not saved last time are back; Ctrl+S saves them."}),
              false);
  file_ = found->file;
}

/// Stores edits in a pause after them, but all within a second: storing a large board costs as much as an
/// edit.
void Desktop::keep() {
  constexpr double kAfter = 0.4, kLatest = 0.8;  // seconds after the last edit, and after the first
  const std::uint64_t revision = app_.document().revision();
  const double now = glfwGetTime();
  if (revision != keptRevision_ && (keepAt_ == 0 || revision != waitingRevision_)) {
    if (keepAt_ == 0) keepBy_ = now + kLatest;
    keepAt_ = std::min(now + kAfter, keepBy_);
    waitingRevision_ = revision;
  }
  if (keepAt_ > 0 && now >= keepAt_ && !kept_.isWriting()) {
    kept_.keep(app_.document(), file_, isSaved());
    keptRevision_ = revision, keepAt_ = 0;
  }
  if (const base::Message trouble = kept_.trouble(); !trouble.empty())
    app_.notify(base::message({"This session is not kept. ", trouble}), true);
}

void Desktop::wait() {
  constexpr double kLittle = 0.02;
  double most = kept_.isWriting() ? kLittle
                : keepAt_ > 0     ? std::max(keepAt_ - glfwGetTime(), 1e-3)
                                  : HUGE_VAL;
  if (const int due = app_.wakesIn(); due > 0) {
    const double rest = lastFrame_ + due / 1000.0 - glfwGetTime();
    if (rest <= 0) return app_.wake();
    most = std::min(most, rest);
  }
  if (most < HUGE_VAL) glfwWaitEventsTimeout(most);
  else glfwWaitEvents();
}

/// Asks about unsaved changes of an open file.
bool Desktop::mayClose() {
  GLFWwindow* const window = window_.get();
  if (glfwWindowShouldClose(window) == 0) return false;
  if (closes_ || file_.empty() || isSaved()) return true;
  glfwSetWindowShouldClose(window, GLFW_FALSE);
  if (glfwGetWindowAttrib(window, GLFW_ICONIFIED) != 0) glfwRestoreWindow(window);
  opener_.forget();
  document::Form form;
  form.title = base::message({"Save the changes of ", file_.filename().string(), "?"});
  form.says = "They are not in the file yet.";
  form.isReady = true;
  form.answers = {"Save", "Discard", "Cancel"};
  app_.ask(std::move(form));
  return false;
}

void Desktop::endSession() {
  if (discards_) return kept_.forget();
  if (app_.document().revision() != keptRevision_) kept_.keep(app_.document(), file_, isSaved());
  kept_.finish();
  if (const base::Message trouble = kept_.trouble(); !trouble.empty())
    fail("The session could not be kept. " + trouble.english());
}

void Desktop::drawFrame() {
  int width = 0, height = 0;
  glfwGetFramebufferSize(window_.get(), &width, &height);
  if (width <= 0 || height <= 0) return glfwWaitEvents();
  stage_.resize(width, height, scale());
  stage_.io();
  ImGui_ImplGlfw_NewFrame();  // for the mouse cursor; size and time are set by the stage
  const double began = glfwGetTime();
  const bool fits = !isSlow_ || (picture_ && picture_->isOfSize(width, height));
  const bool isDrawn =
      isSlow_ ? drawChanged(width, height) : stage_.draw(app_, secondsSinceLastFrame(), isShown_);
  app_.noteFrameTime(static_cast<float>((glfwGetTime() - began) * 1000));
  showTitle();
  constexpr double kFrame = 1.0 / 120;
  if (!isDrawn)
    return glfwWaitEventsTimeout(
        kFrame);  // the frame looks the same: with software rendering, drawing it would be the largest cost
  if (drawn_.empty()) glfwSwapBuffers(window_.get());
  else parts_.show(drawn_, height);
  // Software rendering learns a new size when the buffers are exchanged, so what this frame showed may have
  // been cut off.
  isShown_ = fits;
  if (!fits) app_.wake();
}

/// Draws what has changed over the picture of the last frame; returns whether there was anything to draw.
bool Desktop::drawChanged(int width, int height) {
  drawn_.clear();
  const bool fits = picture_ && picture_->isOfSize(width, height);
  if (!fits) {
    picture_.reset();
    picture_ = std::make_unique<Picture>(width, height);
    isSlow_ = picture_->begin().empty();
    if (!isSlow_) picture_.reset();
    if (!isSlow_) return stage_.draw(app_, secondsSinceLastFrame(), false);
  }
  picture_->resume();
  ImDrawData* const data = stage_.prepare(app_, secondsSinceLastFrame(), fits && isShown_);
  if (data == nullptr) return false;
  const std::vector<DamageTracker::Box> boxes = damage_.reduce(
      *data, stage_.heatmaps(), !fits || stage_.isAnew() || background_ != app_.palette().background);
  background_ = app_.palette().background;
  const ImVec4 color = ImGui::ColorConvertU32ToFloat4(background_);
  glViewport(0, 0, width, height);
  glClearColor(color.x, color.y, color.z, 1);
  glEnable(GL_SCISSOR_TEST);
  for (const DamageTracker::Box& box : boxes) {
    glScissor(box.left, height - box.bottom, box.right - box.left, box.bottom - box.top);
    glClear(GL_COLOR_BUFFER_BIT);
  }
  ImGui_ImplOpenGL3_RenderDrawData(data);
  app_.carryOut();
  if (fits && isShown_ && parts_.canShow()) drawn_ = boxes;
  const std::vector<DamageTracker::Box> whole{{0, 0, width, height}};
  picture_->show(drawn_.empty() ? whole : drawn_);
  return true;
}

/// Never 0, which Dear ImGui does not accept. Includes time spent waiting, or two clicks a minute apart would
/// be a double click.
float Desktop::secondsSinceLastFrame() {
  const double now = glfwGetTime(), passed = now - lastFrame_;
  lastFrame_ = now;
  return std::max(static_cast<float>(passed), 1e-4f);
}

/// Builds frames without drawing them, until all input so far has had its effect. Otherwise Ctrl and S
/// pressed and released within one frame would reach the panels as S alone, and digits would not reach a
/// field that is about to open.
void Desktop::takeInput() {
  constexpr int kMostFrames = 16;
  for (int i = 0; i < kMostFrames && (stage_.inputIsWaiting() || textBox_.isWaiting()); ++i)
    stage_.build(app_, secondsSinceLastFrame());
}

/// The current directory; the home directory if that no longer exists.
std::filesystem::path folderToSaveIn() {
  std::error_code gone;
  const std::filesystem::path here = std::filesystem::current_path(gone);
  const char* home = std::getenv("HOME");
  return !gone || home == nullptr ? here : std::filesystem::path(home);
}

/// "• numbers.json — Attention Playground", with the dot if there are unsaved changes.
void Desktop::showTitle() {
  std::string title = "Attention Playground";
  if (!file_.empty()) { title = (isSaved() ? "" : "• ") + file_.filename().string() + " — " + title; }
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(window_.get(), title.c_str());
}

base::Result<base::Message> Desktop::saveFile(std::string_view name, std::string_view text, bool asks) {
  const bool isState = !text.empty();
  if (asks && chooser_.show(Chooser::Purpose::save,
                            (file_.empty() ? folderToSaveIn() / name : file_).string(), glfwPostEmptyEvent))
    return base::Message();
  if (!isState) return saveTo(freeName(folderToSaveIn() / name), text);
  // A state replaces the file that was opened or saved before; anything else never replaces a file.
  return saveTo(file_.empty() || asks ? freeName(folderToSaveIn() / name) : file_, text);
}

bool Desktop::pickFile() {
  return chooser_.show(Chooser::Purpose::open, (folderToSaveIn() / "").string(), glfwPostEmptyEvent);
}

/// Saves in the format of the extension: a state, or all tensors; for a table the tensor named like the file,
/// or the weights.
base::Result<base::Message> Desktop::saveTo(const std::filesystem::path& path, std::string_view text) {
  const auto format = files::formatOf(path.string());
  if (format && *format != files::Format::json) {
    const auto tensors = app_.tensors();
    if (!tensors) return tensors.error();
    const std::string stem = path.stem().string();
    const std::string only = !files::holdsOne(*format) ? "" : app_.tensor(stem) ? stem : "weights";
    std::string content;
    if (auto ok = files::convert(*tensors, path.string(), only,
                                 [&content](std::string_view piece) { return content.append(piece), true; });
        !ok)
      return ok;
    if (auto ok = writeFile(path, content); !ok) return ok;
    return base::message({"Saved to ", path.string(), "."});
  }
  if (auto ok = writeFile(path, text); !ok) return ok;
  file_ = path;
  savedRevision_ = app_.document().revision();
  keptRevision_ = 0;  // stores the session again, to record that it is saved
  return base::message({"Saved to ", path.string(), "."});
}

void Desktop::toggleFullscreen() {
  GLFWwindow* window = window_.get();
  if (glfwGetWindowMonitor(window) != nullptr) {
    const float units = windowUnits();
    glfwSetWindowMonitor(window, nullptr, place_.x, place_.y,
                         static_cast<int>(std::round(static_cast<float>(place_.width) / units)),
                         static_cast<int>(std::round(static_cast<float>(place_.height) / units)),
                         GLFW_DONT_CARE);
    return;
  }
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* mode = monitor == nullptr ? nullptr : glfwGetVideoMode(monitor);
  if (mode != nullptr)
    glfwSetWindowMonitor(window, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
}

// ---- input

bool isModifier(int key) { return key >= GLFW_KEY_LEFT_SHIFT && key <= GLFW_KEY_RIGHT_SUPER; }

/// All events pass through this: they are given to Dear ImGui, and cause a frame.
template <class Call>
void Desktop::handle(GLFWwindow* window, Call call) {
  Desktop& self = *static_cast<Desktop*>(glfwGetWindowUserPointer(window));
  self.stage_.io();
  call(self);
  self.app_.wake();
}

/// With Ctrl the wheel enlarges the board, and turned sideways it moves the enlarged one. False: it scrolls.
bool Desktop::zooms(double x, double y) {
  constexpr float kNotch = 100;  // pixels
  const ImGuiIO& io = stage_.io();
  const ImVec2 at{io.MousePos.x * stage_.zoom(), io.MousePos.y * stage_.zoom()};
  if (io.KeyCtrl) return app_.pinch(at.x, at.y, std::exp(static_cast<float>(y) / 2), 0, 0);
  return std::fabs(x) > std::fabs(y) && app_.pinch(at.x, at.y, 1, static_cast<float>(x) * kNotch, 0);
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
    handle(window, [=](Desktop& self) {
      if (!self.zooms(x, y)) ImGui_ImplGlfw_ScrollCallback(window, x, y);
    });
  });
  glfwSetKeyCallback(w, [](GLFWwindow* window, int key, int code, int action, int mods) {
    handle(window, [=](Desktop& self) {
      // Dear ImGui leaves the release of a key to the frame after its press. So that frame is drawn, which a
      // key's effect waits for.
      if (action != GLFW_RELEASE || isModifier(key)) self.takeInput();
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
  glfwSetWindowRefreshCallback(
      w, [](GLFWwindow* window) { handle(window, [](Desktop& self) { self.isShown_ = false; }); });
  glfwSetWindowContentScaleCallback(
      w, [](GLFWwindow* window, float, float) { handle(window, [](Desktop&) {}); });
  const auto moved = [](GLFWwindow* window, int, int) {
    handle(window, [](Desktop& self) { self.isShown_ = false, self.notePlace(); });
  };
  glfwSetWindowSizeCallback(w, moved);
  glfwSetWindowPosCallback(w, moved);
}

/// Tab-separated zeros in the shape of `cells`.
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

/// Copying, cutting and pasting cells. Dear ImGui does this for text fields.
void Desktop::pressed(int key, int mods) {
#if defined(__APPLE__)
  constexpr int kCommand = GLFW_MOD_SUPER;
#else
  constexpr int kCommand = GLFW_MOD_CONTROL;
#endif
  if ((mods & kCommand) == 0 || ImGui::GetIO().WantTextInput) return;
  const char* name =
      glfwGetKeyName(key, 0);  // the letter of the key in the user's layout, rather than its position
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
  if (!files::isPrinted(cells)) return (void)app_.pasteCells(cells);  // shows its errors itself
  opening_ = "The clipboard";
  (void)take(opener_.paste(cells), opening_, cells, false);
}

/// Handles the result of opening a file; `text` is the content if it is a state or a lesson in JSON.
base::Result<void> Desktop::take(base::Result<files::Opened> opened, const std::string& name,
                                 std::string_view text, bool isFirst) {
  using Kind = files::Opened::Kind;
  if (!opened) {
    if (!isFirst) app_.notify(base::message({name, ": ", opened.error().saidInFile()}), true);
    return opened.error();
  }
  switch (opened->kind) {
    case Kind::state: return app_.openState(std::move(opened->state), name, opened->heading, isFirst);
    case Kind::form: return app_.ask(std::move(opened->form)), base::Result<void>();
    case Kind::text:
      return isFirst ? app_.setState(text, false)
                     : app_.openText(opened->text.empty() ? text : opened->text, name);
    case Kind::cells: break;
  }
  return app_.pasteCells(opened->text);
}

base::Result<void> Desktop::open(const std::filesystem::path& path, bool isFirst) {
  const std::string name = path.filename().string();
  opener_.forget();
  if (auto ok = mapped_.open(path); !ok) {
    if (!isFirst) app_.notify(ok.error().said(), true);
    return ok;
  }
  opening_ = name;
  auto opened = opener_.open(mapped_.bytes(), name);
  const bool isText = opened && opened->kind == files::Opened::Kind::text;
  auto ok = take(std::move(opened), name, mapped_.bytes(), isFirst);
  if (!ok)
    return isFirst ? base::Result<void>(
                         base::Error{ok.error().kind, "", path.string() + ": " + ok.error().message()})
                   : ok;
  std::error_code none;
  file_.clear();  // only a state is saved to the file that it came from
  if (isFirst && isText) file_ = std::filesystem::absolute(path, none);
  if (none) file_ = path;  // the directory no longer exists, which saving will report
  return {};
}

void Desktop::choose(std::string_view choices) {
  if (choices == "!save" || choices == "!discard") {
    discards_ = choices == "!discard";
    const auto saved = discards_ ? base::Result<base::Message>(base::Message()) : saveTo(file_, app_.state());
    if (!saved) return app_.notify(saved.error().said(), true);
    closes_ = true;
    return glfwSetWindowShouldClose(window_.get(), GLFW_TRUE);
  }
  if (choices.empty()) return opener_.forget();
  (void)take(opener_.choose(choices), opening_, {}, false);
}

/// Takes the result of a dialog that was closed in the meantime.
void Desktop::takeChosenFile() {
  const auto answer = chooser_.take();
  if (!answer || answer->path.empty()) return;
  app_.wake();
  if (answer->purpose == Chooser::Purpose::open) return (void)open(answer->path, false);
  const auto saved = saveTo(answer->path, app_.state());
  app_.notify(saved ? *saved : saved.error().said(), !saved);
}

void Desktop::dropped(const char* path) { (void)open(path, false); }

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
