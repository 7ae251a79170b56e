#include "app/app.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "app/cells.h"
#include "app/frame.h"
#include "app/mirror.h"
#include "app/names.h"
#include "app/script.h"
#include "app/watched.h"
#include "base/sentence.h"
#include "document/not_finite.h"
#include "document/preset.h"
#include "files/layout/packed.h"
#include "files/layout/read.h"
#include "files/layout/session_store.h"
#include "views/board/board.h"
#include "views/panels/panels.h"
#include "views/work.h"

namespace app {

using base::Error;
using base::Result;

struct App::Parts {
  Parts(Host& host, draw::Heatmaps& heatmaps, bool isFirst)
      : session(host, isFirst ? document::firstBoard() : *document::preset(document::presets().front().name)),
        screen(session, host, heatmaps) {
    screen.view.sideClosed = isFirst;
    session.setFollower(focus);
    screen.view.shares = host.canShare();
  }

  /// Evaluates a question between two frames with a Context for the present state.
  template <class Ask>
  auto ask(Ask question) {
    const views::Layout layout = screen.makeLayout();
    const views::Fonts fonts;
    views::Requests requests;
    return question(screen.context(layout, screen.palette(), fonts, requests));
  }

  Session session;
  Screen screen;
  Focus focus{screen};
  Places places{screen};
  Typing typing{screen, focus, places};
  Frame frame{screen, focus, typing};
  Script script{screen, places};
  std::unique_ptr<files::SessionStore> store;  ///< created when the board is first saved
};

App::App(Host& host, draw::Heatmaps& heatmaps, bool isFirst)
    : parts_(std::make_unique<Parts>(host, heatmaps, isFirst)) {}
App::~App() = default;

// --- frames

bool App::prepares() { return parts_->frame.prepares(); }
bool App::frame() { return parts_->frame.build(); }
void App::carryOut() { parts_->frame.finish(); }
void App::wake() { parts_->frame.wake(); }
bool App::wantsFrame() const { return parts_->screen.wanted > 0; }
void App::pointAt(std::string_view name) {
  parts_->screen.view.tip.named = name;
  parts_->screen.wake();
}
int App::wakesIn() const { return parts_->screen.view.tip.wait; }
bool App::isDark() const { return parts_->screen.dark(); }
float App::zoomFor(float width, float height) {
  return parts_->screen.zoom = parts_->screen.zoomFor(width, height);
}
float App::zoom() const { return parts_->screen.zoom; }
std::uint64_t App::frames() const { return parts_->frame.count(); }
void App::useAllProcessors() { parts_->session.setThreads(0); }
float App::frameMs() const { return parts_->frame.milliseconds(); }
void App::noteFrameTime(float milliseconds) { parts_->frame.note(milliseconds); }

// --- what input would have an effect

bool App::usesKey(int key, bool command, bool shift, bool alt) const {
  if (parts_->screen.view.text || parts_->screen.view.form) return true;
  return parts_->ask([&](const views::Context& c) {
    return views::usesKey(c, static_cast<ImGuiKey>(key), command, shift, alt);
  });
}

void App::finger(bool pressed, float x, float y, double age) {
  const Screen& s = parts_->screen;
  views::Finger& finger = parts_->screen.view.finger;
  const double at = s.host.now() - age;
  if (!pressed) return finger.move(x / s.zoom, y / s.zoom, at);
  finger.press(x / s.zoom, y / s.zoom, at);
  const ImVec2 by = s.isCovered(x / s.zoom, y / s.zoom)
                        ? ImVec2{0, 0}
                        : views::aim(s.lastWidgetRects, x / s.zoom, y / s.zoom,
                                     {s.view.inView, s.view.buried, s.view.board});
  finger.aimX = by.x, finger.aimY = by.y;
}

std::pair<float, float> App::aimed(float x, float y) const {
  const Screen& s = parts_->screen;
  return {x + s.view.finger.aimX * s.zoom, y + s.view.finger.aimY * s.zoom};
}

bool App::fingerHolds(double age) {
  const Screen& s = parts_->screen;
  views::Finger& finger = parts_->screen.view.finger;
  finger.rest(s.host.now() - age);
  return finger.does == views::Finger::Does::holds;
}

bool App::pinch(float x, float y, float by, float dx, float dy) {
  Screen& s = parts_->screen;
  x /= s.zoom, y /= s.zoom, dx /= s.zoom, dy /= s.zoom;
  if (s.onPage() || s.session.state().present || s.panelAt(x, y)) return false;
  return s.magnify({by, x, y}, dx, dy);
}

bool App::scrollsAt(float x, float y, float dy) const {
  const Screen& s = parts_->screen;
  x /= s.zoom, y /= s.zoom;
  if (const views::Scroller* panel = s.panelAt(x, y)) return panel->box.contains(x, y) && panel->goesOn(dy);
  const views::Layout layout = s.makeLayout();
  views::Scroller board;
  board.at = s.view.scroll, board.limit = views::maxScroll(layout);
  return layout.board.contains(x, y) && board.goesOn(dy);
}

attention::CellRef App::explained() const {
  return parts_->ask([](const views::Context& c) { return c.focus(); });
}

// --- files, clipboard, text fields

namespace {

Result<void> mayOpen(Screen& screen) {
  if (!views::isLocked(screen.embed.lock, "drop")) return {};
  const Error error{Error::Kind::range, "", "This page has locked files that are opened or dropped."};
  screen.refuse(error);
  return error;
}

}  // namespace

Result<void> App::openText(std::string_view text, std::string_view fileName) {
  if (auto ok = mayOpen(parts_->screen); !ok) return ok;
  if (document::isLessonText(text)) {
    Result<void> ok = openLesson(text, fileName, "", 0);
    if (!ok) parts_->screen.refuse(ok.error());
    return ok;
  }
  auto state = files::readState(text, parts_->session.state());
  if (!state) {
    Error& error = state.error();
    error.field = error.isOfWhole() ? std::string(fileName) : base::joined({fileName, ": ", error.field});
    parts_->screen.refuse(error);
    return error;
  }
  return openState(std::move(*state), fileName);
}

Result<void> App::openState(document::State state, std::string_view fileName, std::size_t heading,
                            bool isFirst) {
  if (auto ok = mayOpen(parts_->screen); !ok) return ok;
  if (auto ok = parts_->session.open(std::move(state), !isFirst, Source::user); !ok) {
    if (!isFirst) parts_->screen.refuse(ok.error());
    return ok;
  }
  parts_->screen.view.form.reset();  // a question about another file
  base::Message said{"Opened ", fileName, "."};
  const base::Message gap = document::notFiniteSentence(parts_->session.state());
  if (heading > 0)
    said = base::message({said, " ", base::message({"Row ", heading, " is taken as a heading."})});
  if (!gap.empty()) said = base::message({said, " ", gap});
  if (!isFirst || heading > 0 || !gap.empty()) parts_->screen.say(said, false);
  return {};
}

void App::ask(document::Form form) {
  if (!mayOpen(parts_->screen)) return;
  parts_->screen.dropText();
  parts_->screen.view.form.reset(new document::Form(std::move(form)));
  parts_->screen.wake();
}

Result<void> App::take(std::string_view bytes, std::string_view fileName, std::size_t heading) {
  auto state = files::unpacked(bytes, parts_->session.state());
  if (state) return openState(std::move(*state), fileName, heading);
  if (files::isPacked(bytes)) {
    parts_->screen.refuse(state.error());
    return state.error();
  }
  ask(document::formFrom(bytes));
  return {};
}

Result<std::string> App::tensors() const {
  const auto found = files::collectTensors(parts_->session.state());
  if (!found) return found.error();
  return files::packed(*found);
}

bool App::keep(std::size_t most, const files::SessionStore::Keeper& keeper) {
  if (!parts_->store) parts_->store = std::make_unique<files::SessionStore>();
  return parts_->store->keep(document(), most, keeper);
}

void App::loseKept() { parts_->store = nullptr; }

void App::setKeptIn(std::string_view where) { parts_->screen.view.help.keptIn = where; }

void App::setParts(std::string_view parts) { parts_->screen.view.help.parts = parts; }

Result<void> App::restore(std::string_view bytes) {
  if (auto ok = parts_->session.restore(bytes); !ok) return ok;
  parts_->screen.wake();
  return {};
}

void App::notify(base::Message sentence, bool isError) { parts_->screen.say(std::move(sentence), isError); }

bool App::reading(int megabytes, int all) {
  parts_->screen.wake();
  return views::goesOn(parts_->screen.view, "Megabytes read", megabytes, all);
}

std::string App::notice() const { return parts_->screen.view.notice.text().english(); }
std::string App::copyCells() const { return app::copyCells(parts_->screen); }
Result<void> App::pasteCells(std::string_view text) { return app::pasteCells(parts_->screen, text); }
void App::endText(TextEnd how, std::string_view text) { parts_->frame.endText(how, text); }

void App::setEmbed(const Embed& embed) {
  parts_->screen.embed = embed;
  parts_->screen.lock = embed.lock;
  parts_->session.setLock(embed.lock);
  parts_->screen.wake();
}

void App::reserveGuide(bool open) {
  if (parts_->screen.view.guide) return parts_->frame.guide().show(open, false);
  parts_->screen.view.guideTab = parts_->screen.view.guideOpen = open;
  parts_->screen.wake();
}

void App::beginCoach() {
  Parts& p = *parts_;
  p.screen.view.coach = std::make_shared<views::CoachView>(
      views::CoachView{document::firstBoard(), p.session.interruptions(), {}});
  p.screen.wake();
}

Result<void> App::openLesson(std::string_view text, std::string_view fileName, std::string_view id, int step,
                             bool keepsBoard) {
  return parts_->frame.guide().open(text, fileName, id, step, keepsBoard);
}

Result<void> App::setGlossary(std::string_view english, std::string_view own) {
  return parts_->frame.guide().setTerms(english, own);
}
Result<void> App::setLessons(std::string_view text) { return parts_->frame.guide().setList(text); }
Result<void> App::addLessonTexts(std::string_view text) { return parts_->frame.guide().addTexts(text); }
void App::failLesson(base::Message sentence) { parts_->frame.guide().fail(std::move(sentence)); }

// --- for assistive technology

void App::setColors(std::optional<views::SystemColors> colors) {
  parts_->screen.forced = colors ? std::make_unique<views::Palette>(views::forcedPalette(*colors)) : nullptr;
  parts_->screen.wake();
}

void App::setLooks(float textScale, std::optional<unsigned> accent) {
  Screen& s = parts_->screen;
  s.textScale = textScale;
  s.accented = accent ? std::make_unique<std::array<views::Palette, 2>>(std::array{
                            views::accentedPalette(false, *accent), views::accentedPalette(true, *accent)})
                      : nullptr;
  s.forgetLabels();
  s.wake();
}

float App::heightFor(float width) const { return parts_->screen.heightFor(width); }

const views::Palette& App::palette() const { return parts_->screen.palette(); }

std::string App::mirror(const std::string& notes) { return app::mirror(parts_->screen, notes); }
unsigned App::whose() { return static_cast<unsigned>(parts_->screen.namesHash()); }

Result<void> App::select(std::string_view tensor, int head, int row, int col) {
  return app::select(parts_->places, parts_->focus, parts_->screen, {tensor, head, row, col});
}

// --- the public interface

std::string App::state() const { return parts_->script.state(); }
Result<void> App::setState(std::string_view text, bool undoable) {
  return parts_->script.setState(text, undoable);
}
Result<void> App::openPreset(std::string_view name, bool undoable) {
  return parts_->screen.openPreset(name, undoable, Source::script);
}
void App::reset() { parts_->session.reset(Source::script); }
bool App::undo() { return parts_->session.undo(Source::script); }
bool App::redo() { return parts_->session.redo(Source::script); }
Result<std::string> App::get(std::string_view option) const { return parts_->script.get(option); }
Result<void> App::set(std::string_view option, std::string_view json) {
  return parts_->script.set(option, json);
}
Result<const attention::Tensor*> App::tensor(std::string_view name) const {
  return storedOf(parts_->session, name, tensorNamed(parts_->session, name));
}
Result<const attention::Tensor*> App::tensor(std::string_view name, int head) const {
  return storedOf(parts_->session, name, tensorNamed(parts_->session, name, head));
}

Result<void> App::setTensor(std::string_view name, std::span<const float> data, std::span<const int> shape) {
  return parts_->script.setTensor(name, data, shape);
}

Result<Rect> App::locate(std::string_view name, int head, int row, int col) {
  return parts_->script.locate(name, head, row, col);
}

float App::value(std::string_view name, int head, int row, int col) const {
  return parts_->script.value(name, head, row, col);
}

Result<std::string> App::explain(std::string_view name, int head, int row, int col, bool isTranslated) const {
  return parts_->script.explain(name, head, row, col, isTranslated);
}

Result<std::string> App::judged(std::string_view checks, std::string_view start) const {
  return app::judged(parts_->session, checks, start);
}

Result<const attention::Tensor*> App::gradient(std::string_view name, int head, int row, int col,
                                               std::string_view by) {
  return parts_->script.gradient(name, head, row, col, by);
}

Result<int> App::train(int steps) { return parts_->frame.train(steps); }
void App::resetTraining() { parts_->frame.trainAnew(); }
bool App::trains() const { return parts_->frame.trains(); }
int App::heads(bool isWhole) { return parts_->frame.heads(isWhole); }
bool App::computes() const { return parts_->frame.computes(); }
bool App::workOn() { return parts_->frame.workOn(); }
std::string App::items() const { return parts_->script.items(); }
const document::Document& App::document() const { return parts_->session.document(); }

}  // namespace app
