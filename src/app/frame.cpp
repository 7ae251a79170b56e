#include "app/frame.h"

#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/sentence.h"
#include "document/text.h"
#include "views/board/board.h"
#include "views/board/stepper.h"
#include "views/guide/glossary.h"
#include "views/guide/guide_page.h"
#include "views/mirror.h"
#include "views/pages/page.h"
#include "views/palette.h"
#include "views/panels/arithmetic.h"
#include "views/panels/panels.h"
#include "views/widgets.h"
#include "views/work.h"

namespace app {
namespace {

using base::Result;
using views::Command;

/// A press is handled within two builds of a frame; anything that would need more than this waits for the
/// next frame.
constexpr int kMostBuilds = 4;

/// The window of the board, which fills the screen. Beginning it again in the same frame continues drawing
/// into it. It has no background, because the shell clears the screen to that colour.
void beginBoard() {
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(ImGui::GetIO().DisplaySize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::Begin("##playground", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleVar(3);
  views::sharp(ImGui::GetWindowDrawList());
}

/// Fills the space reserved for the Guide.
void keepPlace(const views::Context& c) {
  const views::Box& box = c.layout.sidePanelIsDrawer ? c.layout.guide : c.layout.side;
  ImGui::GetWindowDrawList()->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel);
}

constexpr double kSlice = 6;  // milliseconds of training, or of computing heads, per slice: including delays
                              // on a busy machine, 99 of 100 slices end within 12

constexpr int kMoment = 12;  // frames after which the reader rests

/// These ask the platform for something that may take long, or that draws frames meanwhile.
bool isForLater(Command c) {
  return c == Command::pickFile || c == Command::saveState || c >= Command::fullscreen;
}

}  // namespace

LessonPlayer& Frame::guide() {
  if (!guide_) guide_ = std::make_unique<LessonPlayer>(screen_, focus_);
  return *guide_;
}

bool Frame::build() {
  const ImGuiIO& io = ImGui::GetIO();
  const views::Fonts& fonts = *static_cast<const views::Fonts*>(io.UserData);
  const views::Palette& palette = screen_.palette();
  screen_.size = io.DisplaySize;
  screen_.measureLabels(fonts);
  if (guide_) guide_->update();
  const views::Layout layout = screen_.makeLayout();
  // If a frame is built again, rectangles of widgets that it no longer draws must not remain.
  if (builds_ == 0) {
    screen_.view.isHandled = quiet_ <= kMoment || io.MouseDown[0];
    screen_.view.sliceLeft = kSlice;
    screen_.lastWidgetRects.swap(screen_.widgetRects);
    std::swap(screen_.lastPlaces, screen_.places);
  }
  screen_.widgetRects.clear();
  screen_.places.labels.clear(), screen_.places.bars.clear();
  if (fonts.mirror) fonts.mirror->notes.clear();
  views::Context context = screen_.context(layout, palette, fonts, screen_.requests);
  const bool before = screen_.view.before;
  controls(context);
  if ((before || screen_.view.before) && lookedBack(before)) return ++builds_, false;
  if (builds_ < kMostBuilds && carryOut()) return ++builds_, false;
  (void)screen_.traceFor(layout);  // what was carried out may have made it anew
  pictures(context);
  builds_ = 0;
  return true;
}

bool Frame::prepares() {
  const int head = session_.state().focusHead;
  if (session_.isWhole(head) || !session_.isStored() || session_.isNew(head) || screen_.onPage())
    return false;
  (void)session_.traceWith(head);
  return true;
}

// The pinned board cannot be edited. True if another board must be shown than the one with which the frame
// was begun.
bool Frame::lookedBack(bool before) {
  screen_.requests.edits.clear(), screen_.requests.commands.clear();
  if (before == screen_.view.before) return false;
  screen_.wake();
  return builds_ < kMostBuilds;
}

// Everything that takes input. Controls are drawn at the same time, so if their requests change anything, the
// frame is built again.
void Frame::controls(views::Context& context) {
  beginBoard();
  screen_.view.tip.begin();
  if (!guide_ && screen_.view.guideOpen) keepPlace(context);
  views::readFinger(context);
  const bool menuIsOpen = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  const bool isEscape = (screen_.view.tip.isOpen && views::escapesTooltip(context)) ||
                        (screen_.view.glossary && views::escapesTerm(context));
  const bool isCovered = screen_.view.form || (screen_.view.palette && screen_.view.palette->isOpen);
  if (!isEscape && !screen_.view.text && !menuIsOpen && !isCovered && views::boardKeys(context))
    screen_.wake();
  if (context.pin) views::lookBefore(context);
  views::header(context);
  views::bar(context);
  if (context.onPage()) {
    views::page(context);
  } else if (!isCovered) {
    steps(context);
    if (context.view.magnify > 1) views::moveMinimap(context);
    views::headButtons(context);
    views::inspectorButtons(context);
    views::lowerCardButtons(context);
    views::boardPointer(context);
  }
  views::editing(context);
  views::toolbar(context);
  ImGui::End();
  if (guide_) views::guideBar(context);
  views::sidePanel(context);
  if (screen_.view.help.open) {
    screen_.view.help.frameMs = milliseconds();
    views::help(context);
  }
  if (screen_.view.form) views::form(context);
  views::notice(context);
  if (screen_.view.work) views::workBar(context);
  if (screen_.view.coach && screen_.view.coach->interruptions != session_.interruptions())
    screen_.view.coach.reset();
  views::coach(context);
  if (screen_.view.glossary) views::glossary(context);
  if (screen_.view.palette) views::palette(context);
  if (screen_.view.tip.isNeeded()) views::tooltip(context);
  isBuilding_ = true;
  screen_.host.drawText();
  isBuilding_ = false;
}

// The steps of a row.
void Frame::steps(views::Context& context) {
  if (context.state.stepper > 0) {
    context.view.still = screen_.host.prefersStillness();
    views::readStepper(context);
  } else if (context.view.stepper) {
    context.view.stepper.reset();
    context.view.unreached = -1;
  }
}

// Everything that is only displayed.
void Frame::pictures(views::Context& context) {
  if (context.onPage()) {
    if (context.view.guide) context.view.guide->lit.reset();
    return;
  }
  beginBoard();
  views::heads(context);
  if (context.view.peekHead < 0) board(context);
  else peek(context);
  ImGui::End();
}

// The board with the head whose picture the pointer is on. Controls, events and what is kept know nothing of
// it.
void Frame::peek(views::Context& context) {
  const int head = std::exchange(context.view.peekHead, -1), heads = context.state.heads;
  const bool isMean = head == heads;
  const document::Document::Look own = session_.look({isMean ? context.state.focusHead : head, isMean});
  board(context);
  session_.look(own);
}

void Frame::board(views::Context& context) {
  views::drawMatrices(context);
  views::lowerCard(context);
  views::inspector(context);
  if (context.state.stepper > 0 && views::stepperOf(context)) views::drawStepperBar(context);
  if (context.view.magnify > 1) views::minimap(context);
  if (context.view.arithmetic) views::drawLit(context);
  if (guide_) views::guideMarks(context);
}

// Carries out what the controls asked for. True if they would look different now.
bool Frame::carryOut() {
  const std::uint64_t before = screen_.changes;
  views::Requests asked = std::exchange(screen_.requests, {});
  if (const auto ended = std::exchange(typed_, {}); ended && !typing_.end(ended->how, ended->words)) {
    // The press that ended the field has no other effect, because otherwise the typed text would be lost.
    asked.moved = asked.endGesture = false;
    asked.text.reset();
  }
  const bool isSaid = asked.said.has_value();
  if (isSaid) screen_.say(std::move(*asked.said));
  for (const auto& wanted : asked.edits) edit(wanted, isSaid);
  if (asked.endGesture) session_.endGesture(Source::user);
  for (const Command c : asked.commands) {
    if (isForLater(c)) later_.push_back(c);
    else command(c);
  }
  if (asked.preset) {
    if (auto ok = screen_.openPreset(*asked.preset, true, Source::user); !ok) screen_.refuse(ok.error());
    else if (guide_) guide_->openExample(*asked.preset);
  }
  for (const views::GuideAct& act : asked.guide) guide().carryOut(act);
  if (asked.opened) {
    if (auto ok = session_.open(std::move(*asked.opened), true, Source::user); !ok)
      screen_.refuse(ok.error());
    else screen_.wake();
  }
  if (asked.trainAnew) trainAnew();
  if (asked.trainSteps > 0) train(asked.trainSteps);
  if (asked.chosen) chosen_ = std::move(asked.chosen), screen_.wake();
  if (asked.magnify) screen_.magnify(*asked.magnify, 0, 0);
  if (asked.dropsText) screen_.dropText();
  if (asked.text) typing_.begin(*asked.text);
  if (asked.moved) {
    if (!asked.text) screen_.dropText();
    focus_.explainSelection();
    focus_.emitSelection();
  }
  return screen_.changes != before;
}

// Heads share the same columns: a message says which other sizes a new number of heads has changed.
void Frame::edit(const views::Requests::Wanted& wanted, bool isSaid) {
  const document::State& s = session_.state();
  const int columns = s.headDim;
  const auto* set = std::get_if<document::SetOption>(&wanted.edit);
  document::Training& training = session_.derived().training;
  const bool trains = set && document::option(set->option).invalidates == document::Invalidates::training &&
                      training.isMade();
  const int steps = trains ? training.run()->steps() : 0;
  if (auto ok = session_.apply(wanted.edit, wanted.gesture, Source::user); !ok)
    return screen_.refuse(ok.error());
  if (steps > 0) {
    const bool goesOn = training.run() && training.run()->steps() == steps;
    screen_.say(goesOn ? "The run goes on with the new learning rate."
                       : "The run began anew, because its model or its sentences changed.",
                false);
  }
  const bool isHeads = set && set->option == document::OptionId::heads;
  if (isHeads && !isSaid && s.headDim != columns) screen_.say(views::sharedWidth(s.heads, s.headDim), false);
}

void Frame::command(Command c) {
  switch (c) {
    case Command::undo:
      if (isAllowed(Session::Way::undo) && session_.undo(Source::user))
        screen_.view.notice = {};  // it was about what is undone
      return;
    case Command::redo:
      if (isAllowed(Session::Way::redo) && session_.redo(Source::user)) screen_.view.notice = {};
      return;
    case Command::reset:
      if (isAllowed(Session::Way::reset)) session_.reset(Source::user);
      return;
    case Command::pickFile:
      if (!screen_.host.pickFile()) screen_.say("Drop a file on the window to open it.", false);
      return;
    case Command::saveState:
    case Command::saveAs:
    case Command::saveNpz:
    case Command::saveSafetensors:
    case Command::saveTable: return save(c);
    case Command::copyState:
      screen_.host.copyToClipboard(document::toText(session_.state()));
      return screen_.say("The state is on the clipboard.", false);
    case Command::copyWeights: return copyWeights();
    case Command::copyCells: return;
    case Command::clearMask: return clearMask();
    case Command::fullscreen: return screen_.host.toggleFullscreen();
    case Command::share: return screen_.host.share();
    case Command::notices: return screen_.host.showNotices();
    case Command::report: return screen_.host.copyReport();
  }
}

bool Frame::isAllowed(Session::Way way) {
  const Result<void> ok = session_.mayGo(way);
  if (!ok) screen_.refuse(ok.error());
  return static_cast<bool>(ok);
}

void Frame::clearMask() {
  const int rows = session_.state().tokens, cols = session_.state().keyTokens;
  const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  const auto ok = session_.apply(document::PaintCells{0, 0, rows, cols, std::vector<std::uint8_t>(count)}, 0,
                                 Source::user);
  if (!ok) screen_.refuse(ok.error());
}

void Frame::save(Command c) {
  const bool isState = c == Command::saveState || c == Command::saveAs;
  const std::string name = c == Command::saveTable         ? "weights.csv"
                           : c == Command::saveNpz         ? "attention.npz"
                           : c == Command::saveSafetensors ? "attention.safetensors"
                                                           : "attention.json";
  const auto saved = screen_.host.saveFile(name, isState ? document::toText(session_.state()) : std::string(),
                                           c == Command::saveAs);
  if (saved && saved->empty()) return;
  if (saved) screen_.say(*saved, false);
  else screen_.refuse(saved.error());
}

void Frame::copyWeights() {
  const attention::Tensor& w = session_.trace().weights;
  screen_.host.copyToClipboard(document::toTsv(w, {session_.state().focusHead, 0, 0, w.rows(), w.cols()}));
  screen_.say("The weights are on the clipboard, one row per line.", false);
}

void Frame::finish() {
  for (const Command c : std::exchange(later_, {})) command(c);
  if (const auto chosen = std::exchange(chosen_, {})) screen_.host.choose(*chosen);
  const bool held = ImGui::IsKeyDown(ImGuiKey_LeftArrow) || ImGui::IsKeyDown(ImGuiKey_RightArrow) ||
                    ImGui::IsKeyDown(ImGuiKey_UpArrow) || ImGui::IsKeyDown(ImGuiKey_DownArrow);
  if (screen_.view.fling != 0 || screen_.view.busy || held) screen_.wanted = std::max(screen_.wanted, 2);
  if (!saidForgotten_ && session_.document().forgottenSteps() > 0) {
    saidForgotten_ = true;
    screen_.say("Undo limit reached: the oldest steps were dropped to save memory.", false);
  }
  computes_ = Computes::nothing;
  computeOn();
  if (screen_.view.work && computesPage()) computes_ = Computes::page;
  settleOn();
  advance();
  ++count_, ++quiet_;
  ageNotice();
  if (screen_.wanted > 0) --screen_.wanted;
}

// What looks right already waits while a number is dragged, until that rests for a moment: each edit would
// begin it anew.
bool Frame::waits(bool isEdited) {
  const views::Drag::Kind drag = screen_.view.drag.kind;
  const bool isDragged = drag == views::Drag::Kind::value || drag == views::Drag::Kind::weight;
  rested_ = isEdited ? 0 : rested_ + 1;
  return (isEdited || (isDragged && rested_ <= kMoment)) && session_.mayWait();
}

// Computes missing heads of a large layer after a frame was drawn, but not after the first that lacks them:
// what follows a frame delays its appearance on the screen.
void Frame::computeOn() {
  // The page of all heads needs nothing of the layer on the board, and all time.
  const bool isOfBoard = session_.state().view != document::View::model || !screen_.onPage(),
             isPart = isOfBoard && session_.hasMore(), wasPart = std::exchange(isPart_, isPart);
  const std::uint64_t revision = session_.document().revision();
  const bool isEdited = std::exchange(revision_, revision) != revision;
  if (isPart && isEdited) screen_.view.work.reset();
  if (isPart && !goesOn()) return;
  if (isPart || wasPart) screen_.wake(false);
  if (!isPart || !wasPart || waits(isEdited)) return;
  // What was computed between two frames has not to be in one.
  if (std::exchange(hasWorked_, false) || computeHeads()) computes_ = Computes::heads;
}

// What undo needs is made compact when there is nothing else to do.
void Frame::settleOn() {
  if (session_.document().isSettled()) return;
  screen_.wake(false);
  if (computes_ == Computes::nothing && !screen_.view.isHandled) computes_ = Computes::history;
}

/// Returns whether some are still missing.
bool Frame::computeHeads() {
  // Input comes first.
  if (screen_.view.isHandled) {
    session_.computeNext(true);
    return session_.hasMore();
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(kSlice);
  do session_.computeNext();
  while (session_.hasMore() && std::chrono::steady_clock::now() < end);
  return session_.hasMore();
}

/// Does the page lack something that it may compute, and has not the reader cancelled that?
bool Frame::computesPage() {
  document::DerivedTensors& derived = session_.derived();
  const document::View view = session_.state().view;
  return !screen_.view.work->isStopped && screen_.onPage() && derived.lacks(view) &&
         !derived.waitsForHeads(view);
}

// Unless the reader has cancelled it. What a page computes, it says itself.
bool Frame::goesOn() {
  if (screen_.onPage() && !session_.derived().waitsForHeads(session_.state().view)) return true;
  const auto [isOfRows, done, total] = session_.progress();
  return views::goesOn(screen_.view, isOfRows ? "Computing rows" : "Computing heads", done, total);
}

int Frame::heads(bool isWhole) {
  document::DerivedTensors& derived = session_.derived();
  if (session_.state().view == document::View::model)
    return isWhole ? derived.headsInLayers() : derived.headsPictured();
  int count = 0;
  for (int h = 0; h < session_.state().heads; ++h)
    count += session_.isWhole(h) || (!isWhole && session_.summaries().firstPictures().has(h));
  return count;
}

// Trains after the frame was drawn, so that input is handled in the next frame, however long this takes.
void Frame::advance() {
  document::Training& training = session_.derived().training;
  const bool plays = session_.state().trainRunning, waits = training.wanted > 0;
  const bool begins =
      screen_.view.train.answered.run == training.number() && training.isMade() && !training.run()->isWhole();
  if (!plays && !waits && !begins) return;
  const bool more = training.slice(waits   ? training.wanted
                                   : plays ? std::numeric_limits<int>::max()
                                           : 0,
                                   kSlice);
  training::Trainer* trainer = training.run();
  screen_.wake();
  if (!trainer) {
    screen_.refuse(*training.error());
  } else if (trainer->stopped()) {
    screen_.refuse(*trainer->stopped());
  } else if (plays || waits) {
    tellTraining(*trainer, waits && !more);
  }
  if (more) return;
  training.wanted = 0;
  const bool ends = !trainer || trainer->stopped();
  if (plays && ends)
    (void)session_.apply(document::SetOption{document::OptionId::train_running, false}, 0, Source::script);
}

void Frame::tellTraining(training::Trainer& trainer, bool isDone) {
  if (trainer.history().measures().empty()) return;
  const training::Measure& held = isDone ? trainer.measure() : trainer.history().measures().back();
  const training::Point last = trainer.last();
  // The held-out loss can overflow before that of the batch; JSON cannot express infinity.
  const auto number = [](float n) {
    return std::isfinite(n) ? document::toJson(document::Value(static_cast<double>(n))) : std::string("null");
  };
  screen_.host.emit(
      {Event::Type::train,
       base::joined({"{\"step\":", trainer.steps(), ",\"loss\":", number(last.loss), ",\"accuracy\":",
                     number(last.accuracy), ",\"heldOut\":{\"loss\":", number(held.loss), ",\"accuracy\":",
                     number(held.accuracy), "},\"gradientNorm\":", number(last.gradientNorm),
                     ",\"sliceMs\":", number(static_cast<float>(session_.derived().training.sliceMs())),
                     ",\"isDone\":", isDone ? "true" : "false", "}"})});
}

base::Result<int> Frame::train(int steps) {
  document::Training& training = session_.derived().training;
  training::Trainer* trainer = training.run();
  if (!trainer) return *training.error();
  if (trainer->stopped()) return *trainer->stopped();
  training.wanted = trainer->steps() + steps;
  screen_.wake();
  return training.wanted;
}

bool Frame::trains() { return session_.state().trainRunning || session_.derived().training.wanted > 0; }

bool Frame::workOn() {
  document::Training& training = session_.derived().training;
  if (trains())
    return training.slice(training.wanted > 0 ? training.wanted : std::numeric_limits<int>::max(), kSlice);
  hasWorked_ = computes_ == Computes::heads;
  bool hasMore = false;
  switch (computes_) {
    case Computes::nothing: break;
    case Computes::heads: hasMore = computeHeads(); break;
    case Computes::page: hasMore = session_.derived().compute(session_.state().view, kSlice); break;
    case Computes::history: hasMore = session_.settleSome(); break;
  }
  if (!hasMore) computes_ = Computes::nothing;
  return hasMore;
}

void Frame::trainAnew() {
  session_.derived().training.reset();
  screen_.wake();
}

void Frame::endText(TextEnd how, std::string_view words) {
  if (isBuilding_) typed_ = {how, std::string(words)};
  else (void)typing_.end(how, words);
}

bool Frame::isOnNotice() const {
  const auto at = screen_.widgetRects.find("notice");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return at != screen_.widgetRects.end() && at->second.contains(mouse.x, mouse.y);
}

// A message may be about what was in view, so it goes with that; otherwise when there was time to read it,
// and the pointer is not on it. An error stays until it is dismissed.
void Frame::ageNotice() {
  constexpr double kLeast = 8, kLettersRead = 15;  // seconds, and letters in one of them
  const double now = ImGui::GetTime();
  const InView inView{session_.state().view, screen_.view.magnify, screen_.view.pan, screen_.view.scroll};
  const int age = screen_.noticeAge++;
  if (age == 0) noticedAt_ = now;
  if (age < kSettle) noticed_ = inView;  // what was said may be of a change that takes these frames
  const views::Notice& notice = screen_.view.notice;
  if (notice.empty() || notice.isError) return;
  const auto letters = static_cast<double>(notice.text().english().size());
  const double left = noticedAt_ + std::max(kLeast, letters / kLettersRead) - now;
  if (inView == noticed_ && left > 0) {
    int& wait = screen_.view.tip.wait;  // the shells wake the board once, for whichever is first
    const int due = static_cast<int>(std::ceil(left * 1000));
    wait = wait > 0 ? std::min(wait, due) : due;
  } else if (inView != noticed_ || !isOnNotice()) {
    screen_.view.notice = {};
    screen_.wake();
  }
}

void Frame::wake() {
  // A message stays until the user's next action after a moment to read it.
  if (!screen_.view.notice.empty() && screen_.noticeAge > 4 && !isOnNotice() &&
      (ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsKeyDown(ImGuiKey_Escape))) {
    screen_.view.notice = {};
  }
  quiet_ = 0;
  screen_.wake();
}

float Frame::milliseconds() const {
  const std::size_t count = std::min(timesCount_, times_.size());
  if (count == 0) return 0;
  auto sorted = times_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(count / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return *middle;
}

void Frame::note(float milliseconds) { times_[timesCount_++ % times_.size()] = milliseconds; }

}  // namespace app
