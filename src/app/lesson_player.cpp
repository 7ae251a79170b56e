#include "app/lesson_player.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/names.h"
#include "app/session_board.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/search.h"
#include "document/text.h"
#include "views/board/board.h"
#include "views/guide/glossary.h"
#include "views/guide/guide_page.h"

namespace app {

using attention::Tensor;
using attention::TensorId;
using base::Error;
using base::joined;
using base::Result;
using document::Cells;
using document::Goal;
using document::Json;
using document::LessonBoard;
using document::Markup;
using document::Run;
using views::GuideAct;
using What = GuideAct::What;

/// A list of moves shown one after another, as a single undo step.
struct LessonPlayer::Moving {
  std::vector<document::Move> moves;
  std::size_t at = 0;
  float part = 0;           ///< progress of the present move, 0 to 1
  float seconds = 0.6f;     ///< duration of a move
  std::vector<float> from;  ///< the cells before the move
  std::uint64_t gesture = 0;
};

LessonPlayer::LessonPlayer(Screen& screen, Focus& focus)
    : screen_(screen),
      session_(screen.session),
      focus_(focus),
      view_(*(screen.view.guide = std::make_shared<views::GuideView>())) {
  recall();
}

LessonPlayer::~LessonPlayer() = default;

// ---- what is open

void LessonPlayer::show(bool open, bool isSaid) {
  screen_.view.guideTab = screen_.view.guideOpen = open;
  isWanted_ = open;
  if (open && !view_.lesson) view_.list = true;
  if (open) screen_.view.sideClosed = false, wantList(), wantTerms();
  if (!open) {
    finishMoves();
    screen_.view.drawer = false, view_.pulled = false;
    view_.search.clear();
    view_.lesson = nullptr, lessons_.clear();
    setLocks();
  }
  if (isSaid) remember();
  screen_.wake();
}

Result<void> LessonPlayer::open(std::string_view text, std::string_view name, std::string_view id, int step,
                                bool keepsBoard) {
  const auto refused = [&](Error error) {
    if (!name.empty()) error.field = joined({name, error.field.empty() ? "" : ": ", error.field});
    view_.waiting.clear();
    return error;
  };
  auto lessons = document::readLessons(text, views::lessonInWords);
  if (!lessons) return refused(lessons.error());
  const auto wanted = std::find_if(lessons->begin(), lessons->end(),
                                   [&](const document::Lesson& l) { return id.empty() || l.id == id; });
  if (wanted == lessons->end())
    return refused(unknown("lesson", id, "the id of a lesson of this file").error());
  const auto steps = static_cast<int>(wanted->steps.size());
  if (step < 0 || step >= steps)
    return refused(
        base::refuse(Error::Kind::range, "step",
                     {step, " is no step of ", base::inQuotes(wanted->id), "; use 0 to ", steps - 1, "."})
            .error());
  const document::Rehearsal said = document::rehearse(*wanted, true);
  if (!said.refused.empty()) return refused(said.refused.front());
  finishMoves();
  const auto at = wanted - lessons->begin();
  lessons_ = std::move(*lessons);
  source_ = text;
  view_.lesson = &lessons_[static_cast<std::size_t>(at)];
  view_.number = 0, view_.found.clear();
  view_.passed.assign(static_cast<std::size_t>(steps), false);
  for (const int passed : passed_[view_.lesson->id])
    if (passed < steps) view_.passed[static_cast<std::size_t>(passed)] = true;
  fillEntries();
  screen_.view.guideTab = screen_.view.guideOpen = isWanted_ = true;
  wantList();
  wantTerms();
  openStep(step, keepsBoard);
  return {};
}

// Reads everything again, in the language that has come.
void LessonPlayer::translate() {
  if (const std::string list = listSource_; !list.empty()) (void)setList(list);
  if (!view_.lesson) return;
  const auto at = static_cast<std::size_t>(view_.lesson - lessons_.data());
  lessons_ = *document::readLessons(source_, views::lessonInWords);
  view_.lesson = &lessons_[at];
  compute(true);
  screen_.wake();
}

void LessonPlayer::wantList() {
  if (view_.entries.empty() && !std::exchange(isLoadingList_, true)) screen_.host.wantLessons();
}

void LessonPlayer::wantTerms() {
  if (screen_.view.glossary && !screen_.view.glossary->terms.empty())
    return wantList();  // it names the lesson of a term
  if (!std::exchange(isLoadingTerms_, true)) screen_.host.wantGlossary();
}

Result<void> LessonPlayer::setTerms(std::string_view english, std::string_view own) {
  isLoadingTerms_ = false;
  if (english.empty()) return {};  // it could not be loaded
  auto terms = document::readGlossary(english, own);
  if (!terms) return terms.error();
  if (!screen_.view.glossary) screen_.view.glossary = std::make_shared<views::GlossaryView>();
  screen_.view.glossary->terms = std::move(*terms);
  if (!screen_.view.glossary->open.empty()) wantList();
  screen_.wake();
  return {};
}

Result<void> LessonPlayer::addTexts(std::string_view text) {
  const auto lessons = document::readLessons(text, views::lessonInWords);
  if (!lessons) return lessons.error();
  for (const document::Lesson& lesson : *lessons)
    view_.texts[lesson.id] = document::folded(document::wordsOf(lesson));
  screen_.wake();
  return {};
}

// A Guide without a list is not left open: it is asked for again when the reader opens it.
void LessonPlayer::fail(base::Message sentence) {
  view_.waiting.clear();
  isLoadingList_ = isLoadingTerms_ = false;
  if (view_.entries.empty() && !view_.lesson) show(false, false);
  if (view_.entries.empty()) view_.list = false;
  if (!sentence.empty()) screen_.refuse({Error::Kind::range, "", std::move(sentence)});
  screen_.wake();
}

Result<void> LessonPlayer::setList(std::string_view text) {
  document::JsonText parsed;
  static constexpr std::string_view kFields[] = {"lessons"};
  if (Result<void> ok = document::parseJson(text, kFields, parsed); !ok) return ok.error();
  const Json* list = parsed.root.find("lessons");
  if (!list || list->kind != Json::Kind::list)
    return base::refuse(Error::Kind::type, "lessons", {"the list of lessons is missing; reload the page."});
  listSource_ = text;
  view_.entries.clear();
  for (const Json& item : list->items) {
    views::GuideEntry entry;
    const auto words = [&](std::string_view key) {
      const Json* found = item.find(key);
      return found ? found->text : std::string();
    };
    const auto number = [&](std::string_view key, int otherwise) {
      const Json* found = item.find(key);
      return found ? static_cast<int>(std::clamp(found->number, 0.0, 1000.0)) : otherwise;
    };
    entry.id = words("id"), entry.title = views::lessonInWords(words("title")),
    entry.about = views::lessonInWords(words("about"));
    for (const auto kind :
         {document::LessonKind::puzzle, document::LessonKind::question, document::LessonKind::example})
      if (words("kind") == document::name(kind)) entry.kind = kind;
    entry.steps = number("steps", 1), entry.par = number("par", 0);
    if (const Json* puzzles = item.find("puzzles"))
      for (const Json& id : puzzles->items) entry.puzzles.push_back(id.text);
    view_.entries.push_back(std::move(entry));
  }
  fillEntries();
  screen_.wake();
  return {};
}

void LessonPlayer::fillEntries() {
  int number = 0;
  for (views::GuideEntry& e : view_.entries) {
    const auto found = passed_.find(e.id);
    e.passed = found == passed_.end() ? 0 : std::min(e.steps, static_cast<int>(found->second.size()));
    const auto edits = edits_.find(e.id);
    e.best = edits == edits_.end() ? 0 : edits->second;
    if (e.kind == document::LessonKind::lesson) ++number;
    if (view_.lesson && view_.lesson->id == e.id && e.kind == document::LessonKind::lesson)
      view_.number = number;
  }
}

void LessonPlayer::openExample(std::string_view preset) {
  if (!screen_.view.guideOpen) return;
  const auto card = std::find_if(view_.entries.begin(), view_.entries.end(), [&](const views::GuideEntry& e) {
    return e.kind == document::LessonKind::example && e.id == preset;
  });
  if (card != view_.entries.end()) return ask(card->id, 0);
  view_.lesson = nullptr, view_.list = true;
  setLocks();
}

void LessonPlayer::ask(std::string_view id, int step) {
  for (document::Lesson& lesson : lessons_) {  // another card of the same file
    if (lesson.id != id) continue;
    view_.lesson = &lesson, view_.number = 0;
    view_.passed.assign(lesson.steps.size(), false);
    for (const int passed : passed_[lesson.id])
      if (passed < static_cast<int>(lesson.steps.size()))
        view_.passed[static_cast<std::size_t>(passed)] = true;
    fillEntries();
    return openStep(step);
  }
  screen_.host.wantLesson(id, step);
}

// ---- a step

// Always starts from the step's own initial state, for which its text is true, whatever the reader has done
// before. But after the page was reloaded, the reader's own changes in the step are kept.
void LessonPlayer::openStep(int step, bool keepsBoard) {
  const document::Lesson& lesson = *view_.lesson;
  finishMoves();
  auto start = document::startOf(lesson, step);
  auto attempt = document::tryOf(lesson, step);
  if (!start || !attempt) return screen_.refuse(!start ? start.error() : attempt.error());
  start_ = *start, try_ = std::move(*attempt);
  view_.step = step, view_.list = false, view_.waiting.clear();
  view_.answer.reset(), view_.hint = isShown_ = false;
  const int decimals = start->decimals,
            stepper = start->stepper;  // the board shows as many as the text, and the way that it speaks of
  document::keepAppearance(*start, session_.state());
  start->decimals = decimals, start->stepper = stepper;
  if (!keepsBoard && !document::sameBits(*start, session_.state()))
    if (Result<void> ok = session_.open(std::move(*start), true, Source::lesson); !ok)
      return screen_.refuse(ok.error());
  view_.labels = session_.state().labels;
  setLocks();
  if (view_.now()->select) select(*view_.now()->select);
  compute(true);
  lookFor();
  screen_.view.side.wanted = 0;
  screen_.view.magnify = 1, screen_.view.pan = 0;
  view_.last = lesson.id, view_.lastStep = step;
  seen_ = 0;
  emit(Event::Type::step,
       joined({",\"steps\":", lesson.steps.size(), ",\"title\":", document::jsonQuoted(lesson.title)}));
  judge();
  // A card without a question is passed by reading it.
  if (!view_.now()->predict && !view_.now()->attempt) pass();
  remember();
  screen_.wake();
}

void LessonPlayer::putMarkup(Markup& text, LessonBoard& board, LessonBoard* before) const {
  const document::State& state = board.state();
  for (Run& run : text) {
    if (run.kind == Run::Kind::computed) {
      const auto value = document::valueOf(run, board, before, "text");
      std::string own;
      if (value) run.words = document::shownNumber(*value, state.decimals);
      if (view_.lesson->isTranslated) run.words = views::inNumbers(run.words, own);
    }
    if (!run.words.empty()) continue;
    if (run.kind == Run::Kind::cells) run.words = document::nameOf(run.cells, state);
    if (run.kind == Run::Kind::option || run.kind == Run::Kind::view || run.kind == Run::Kind::lesson) {
      run.words = run.name;
      std::replace(run.words.begin(), run.words.end(), run.kind == Run::Kind::lesson ? '-' : '_', ' ');
    }
  }
}

// Computes the numbers in the texts: those in the question at the beginning of the step, those in the
// explanations and the exercise after the answer.
void LessonPlayer::compute(bool beforeAnswer) {
  const document::Step& now = *view_.now();
  const auto start = document::paperBoard(start_);
  views::GuideStep& words = view_.words;
  if (beforeAnswer) {
    words = {};
    words.text = now.text;
    putMarkup(words.text, *start, nullptr);
    if (now.predict) {
      words.question = now.predict->question, words.choices = now.predict->choices;
      putMarkup(words.question, *start, nullptr);
      for (Markup& choice : words.choices) putMarkup(choice, *start, nullptr);
    }
  }
  const auto after = document::paperBoard(try_);
  if (now.predict) {
    words.because = now.predict->because;
    for (Markup& because : words.because) putMarkup(because, *after, start.get());
  }
  if (now.attempt) {
    words.task = now.attempt->task, words.hint = now.attempt->hint;
    putMarkup(words.task, *after, start.get());
    putMarkup(words.hint, *after, start.get());
  }
}

void LessonPlayer::select(const Cells& cells) {
  const auto named = attention::tensorNamed(cells.tensor);
  if (cells.at.size() == 3 && document::derivedNamed(cells.tensor) == TensorId::decoder_weights)
    screen_.view.experiments.word = cells.at[1], screen_.view.experiments.token = cells.at[2];
  if (!named || cells.at.size() != 3) return;
  attention::CellRef cell{*named, cells.at[0], cells.at[1], cells.at[2]};
  if (cell.tensor == TensorId::output)
    cell = views::shownAs(session_.state(), cell);  // of raw scores the inspector explains the product alone
  const auto [id, at, row, col] = cell;
  const Tensor* t = session_.find(id);
  if (!t || !t->contains(at, row, col)) return;  // the reader has removed it
  const int head = views::headShowing(session_.state(), id, at, row, col);
  if (head >= 0 && head < session_.state().heads && head != session_.state().focusHead)
    (void)session_.apply(document::SetOption{document::OptionId::focus_head, static_cast<double>(head)}, 0,
                         Source::lesson);
  screen_.view.selection = {true, id, row, col, row, col};
  focus_.explainSelection();
  focus_.emitSelection();
}

// A click on a reference in the text selects its first cell.
void LessonPlayer::place(const Cells& cells) {
  const document::View view = session_.state().view;
  if (attention::tensorNamed(cells.tensor) && view != document::View::layer)
    (void)session_.apply(document::SetOption{document::OptionId::view, std::string("layer")}, 0,
                         Source::user);
  Cells one = cells;
  one.at.resize(3, 0);
  const auto id = attention::tensorNamed(cells.tensor);
  if (one.at[0] < 0 && id) one.at[0] = views::sliceOf(session_.state(), *id).head;
  for (int& index : one.at) index = std::max(index, 0);
  select(one);
  screen_.wake();
}

// If an exercise restricts what may be changed, everything else is locked until it is done.
void LessonPlayer::setLocks() {
  std::string lock = screen_.embed.lock;
  const document::Step* now = screen_.view.guideOpen ? view_.now() : nullptr;
  if (now && now->attempt && !now->attempt->allow.empty()) {
    const auto& allow = now->attempt->allow;
    const auto add = [&](std::string_view name) {
      if (std::find(allow.begin(), allow.end(), name) == allow.end())
        lock += joined({lock.empty() ? "" : ",", name});
    };
    for (const document::Option& o : document::options())
      if (o.undoable) add(o.name);
    for (const attention::TensorId id : document::inputIds()) add(attention::name(id));
    for (int i = 0; i < document::kParameterCount; ++i)
      add(document::name(static_cast<document::ParameterId>(i)));
    add("mask");
  }
  screen_.lock = std::move(lock);
}

// ---- answers and checks

void LessonPlayer::answer(int choice) {
  if (!view_.asks()) return;
  const document::Prediction& predict = *view_.now()->predict;
  view_.answer = choice, view_.seek = 3;
  emit(Event::Type::answer,
       joined({",\"choice\":", choice, ",\"right\":", choice == predict.answer ? "true" : "false"}));
  begin(predict.after);
  lookFor();
  seen_ = 0;
  judge();
  if (!view_.now()->attempt) pass();
}

void LessonPlayer::judge() {
  view_.verdicts.clear();
  view_.holds = false;
  const document::Step* now = view_.now();
  if (!now || !now->attempt) return;
  SessionBoard board(session_);
  view_.holds = true;
  for (const document::Goal& goal : now->attempt->check) {
    auto verdict = document::judge(goal, board, try_);
    if (!verdict) {  // the reader has removed the cells
      verdict = document::Verdict{};
      verdict->shown = "not there", verdict->of = goal.label.empty() ? goal.cells.tensor : goal.label;
    }
    view_.holds = view_.holds && verdict->holds;
    view_.verdicts.push_back(std::move(*verdict));
  }
  const document::Verdict& first = view_.verdicts.front();
  if (seen_ == 0) {  // the range of the bar is determined at the beginning
    const auto paper = document::paperBoard(try_);
    const auto began = document::judge(now->attempt->check.front(), *paper, try_);
    began_ = began ? base::Message(began->shown) : base::Message();
    const double from = began && std::isfinite(began->value) ? began->value : 0, aim = first.aim;
    const bool isShare = std::min(from, aim) >= 0 && std::max(from, aim) <= 1 &&
                         now->attempt->check.front().what == document::Goal::What::cells;
    const double low = std::min({from, aim, 0.0}), high = std::max({from, aim, 0.0}),
                 reach = std::max(0.5, std::ceil(std::max(-low, high) * 1.3));
    view_.low = isShare ? 0 : low < 0 ? -reach : 0, view_.high = isShare ? 1 : high > 0 ? reach : 0;
    if (!(view_.high > view_.low)) view_.high = view_.low + 1;
  }
  seen_ = session_.document().revision();
  if (view_.holds && !view_.asks()) pass();
}

void LessonPlayer::pass() {
  const int step = view_.step;
  noteEdits();
  if (!view_.verdicts.empty() && began_ != view_.verdicts.front().shown)
    view_.found[step] = {view_.verdicts.front().of, began_, view_.verdicts.front().shown};
  if (view_.passed[static_cast<std::size_t>(step)]) return;
  view_.passed[static_cast<std::size_t>(step)] = true;
  passed_[view_.lesson->id].insert(step);
  fillEntries();
  const bool all = std::all_of(view_.passed.begin(), view_.passed.end(), [](bool p) { return p; });
  std::string more = joined({",\"all\":", all ? "true" : "false"});
  if (view_.lesson->par > 0)
    more += joined(
        {",\"par\":", view_.lesson->par, ",\"edits\":", document::editsBetween(try_, session_.state())});
  emit(Event::Type::passed, more);
  remember();
  screen_.wake();
}

// The fewest edits count, also those of a later attempt.
void LessonPlayer::noteEdits() {
  const int edits = view_.lesson->par > 0 && !isShown_ ? document::editsBetween(try_, session_.state()) : 0;
  const auto best = edits_.find(view_.lesson->id);
  if (edits == 0 || (best != edits_.end() && best->second <= edits)) return;
  edits_[view_.lesson->id] = edits;
  fillEntries();
  remember();
}

void LessonPlayer::next() {
  if (!view_.mayGoOn()) return;
  if (!view_.isLast()) return openStep(view_.step + 1);
  view_.list = true;
  screen_.view.side.wanted = 0;
  screen_.view.drawer =
      screen_.makeLayout().width == views::Width::medium;  // on a phone the sheet has the list
  view_.pulled = true;
}

// ---- moves

void LessonPlayer::begin(const std::vector<document::Move>& moves) {
  finishMoves();
  if (moves.empty()) return;
  moving_ = std::make_unique<Moving>();
  moving_->moves = moves;
  moving_->gesture = screen_.view.nextGesture++;
  moving_->seconds = std::min(0.6f, 3.0f / static_cast<float>(moves.size()));
  view_.showing = true;
  if (screen_.host.prefersStillness()) finishMoves();
  screen_.wake();
}

void LessonPlayer::advance(float seconds) {
  Moving& m = *moving_;
  SessionBoard board(session_);
  document::Move move = m.moves[m.at];
  if (m.part == 0) {
    m.from.clear();
    if (move.what == document::Move::What::cells)
      if (auto numbers = document::numbersOf(board, move.cells, move.field)) m.from = std::move(*numbers);
    if (move.values.size() == 1)
      move.values.resize(std::max<std::size_t>(1, m.from.size()), move.values.front());
  }
  m.part = std::min(1.0f, m.part + seconds / m.seconds);
  const bool glides = move.what == document::Move::What::cells && !m.from.empty() && m.part < 1;
  if (glides) {
    const float eased = m.part * m.part * (3 - 2 * m.part);
    move.values.resize(m.from.size(), move.values.front());
    for (std::size_t i = 0; i < m.from.size(); ++i)
      move.values[i] = std::round((m.from[i] + (move.values[i] - m.from[i]) * eased) * 100) / 100;
  }
  if (glides || m.part >= 1) {
    const auto edits = document::editsOf(session_.state(), move);
    if (edits)
      for (const document::Edit& edit : *edits) (void)session_.apply(edit, m.gesture, Source::lesson);
  }
  if (m.part < 1) return;
  m.part = 0;
  if (++m.at < m.moves.size()) return;
  moving_.reset();
  lookFor();
  view_.showing = false;
  session_.endGesture(Source::lesson);
}

void LessonPlayer::finishMoves() {
  while (moving_) advance(10);
}

void LessonPlayer::update() {
  if (moving_) {
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) finishMoves();  // the reader takes over
    else advance(std::min(ImGui::GetIO().DeltaTime, 0.1f));
    screen_.wanted = std::max(screen_.wanted, 2);
    screen_.host.requestFrame();
  }
  if (std::exchange(language_, views::languageId()) != views::languageId()) translate();
  if (!view_.lesson) return;
  if (seen_ != session_.document().revision()) judge();
  look();
}

// ---- what is asked is in view

namespace {

void add(std::vector<Cells>& to, const Goal& goal) {
  if (goal.what == Goal::What::cells || goal.what == Goal::What::argmax) to.push_back(goal.cells);
  if (goal.like) to.push_back(*goal.like);
}
void add(std::vector<Cells>& to, const Markup& text) {
  for (const Run& run : text)
    if (run.kind == Run::Kind::cells && run.cells.at.size() > 1) to.push_back(run.cells);
}
void add(std::vector<Cells>& to, const std::vector<document::Move>& moves) {
  for (const document::Move& move : moves)
    if (move.what == document::Move::What::cells && move.visible) to.push_back(move.cells);
}

void addAsked(std::vector<Cells>& to, const document::Prediction& predict) {
  add(to, predict.question);
  for (const auto& claim : predict.claim)
    for (const Goal& goal : claim) add(to, goal);
  add(to, predict.after);
}
void addAsked(std::vector<Cells>& to, const document::Attempt& attempt) {
  add(to, attempt.task);
  for (const Goal& goal : attempt.check) add(to, goal);
  add(to, attempt.solution);
}

/// The name with which pages register where a tensor is drawn; `inEquation`: weights beside the query that
/// makes them, not as bars.
std::string placeOf(const Cells& cells, bool inEquation) {
  const auto id = document::derivedNamed(cells.tensor);
  const int row = cells.at.size() > 1 ? std::max(cells.at[1], 0) : 0;
  if (inEquation) return id && document::parameterOf(*id) ? "slider:" + cells.tensor : cells.tensor;
  if (cells.tensor == "token_weights") return joined({"token:", row});
  if (cells.tensor == "segment_weights") return joined({"segment:", row});
  return id && document::parameterOf(*id) ? "slider:" + cells.tensor : cells.tensor;
}

}  // namespace

void LessonPlayer::lookFor() {
  const document::Step& now = *view_.now();
  view_.asked.clear(), view_.matrices.clear(), view_.later.clear();
  std::vector<Cells> later;
  if (now.select) view_.asked.push_back(*now.select);
  if (now.attempt) addAsked(view_.asks() ? later : view_.asked, *now.attempt);
  if (now.predict) addAsked(view_.asked, *now.predict);
  const auto has = [](const std::vector<TensorId>& list, TensorId id) {
    return std::find(list.begin(), list.end(), id) != list.end();
  };
  const auto collect = [&](const std::vector<Cells>& from, std::vector<TensorId>& to) {
    for (const Cells& cells : from) {
      const auto id = attention::tensorNamed(cells.tensor);
      const TensorId shown = id ? views::shownAs(session_.state(), {*id, 0, 0, 0}).tensor : TensorId::weights;
      if (id && session_.shapeOf(shown) && !has(view_.matrices, shown) && !has(to, shown))
        to.push_back(shown);
    }
  };
  collect(view_.asked, view_.matrices);
  collect(later, view_.later);
  seenBoard_ = {};
}

// Again whenever the board gets another size: the window, a drawer or a sheet.
void LessonPlayer::look() {
  const views::Layout layout = screen_.makeLayout();
  const views::Box& board = layout.board;
  if (board.width != seenBoard_.width || board.height != seenBoard_.height) looks_ = 4, seenBoard_ = board;
  if (looks_ == 0) return;
  --looks_;
  screen_.wake(false);
  if (screen_.onPage()) return lookOnPage();
  looks_ = 0;
  constexpr float kAir = 40,
                  kEdge =
                      8;  // above, where words and title are, and what is left of it where there is no room
  float top = 0, bottom = -1;
  for (const Cells& cells : view_.asked) {
    const auto box = views::boxOf(layout, session_.state(), cells);
    if (!box) continue;
    const float high = bottom < 0 ? box->y : std::min(top, box->y), low = std::max(bottom, box->bottom());
    if (bottom < 0 || low - high + 2 * kEdge <= board.height)
      top = high, bottom = low;  // what comes first counts most
  }
  if (bottom < 0) return;
  float& scroll = screen_.view.scroll;
  if (top >= scroll && bottom <= scroll + board.height) return;
  scroll = bottom + kAir <= board.height
               ? 0
               : std::max(std::min(top - kAir, std::max(0.0f, top)), bottom + kEdge - board.height);
  scroll = std::clamp(scroll, 0.0f, views::maxScroll(layout));
  screen_.view.fling = 0;
}

// Where a page shows what is asked: its matrix, or with `byRow` the row of it alone.
std::optional<views::Box> LessonPlayer::onPage(const Cells& cells, bool inEquation, bool byRow) const {
  const std::string place = placeOf(cells, inEquation);
  const auto at = screen_.widgetRects.find(place);
  if (at == screen_.widgetRects.end()) return std::nullopt;
  views::Box box = at->second;
  const auto id = document::derivedNamed(cells.tensor);
  if (!byRow || !id || place != cells.tensor || cells.at.size() < 2 || cells.at[1] < 0) return box;
  const auto tensor = session_.derived().tensor(*id);
  if (!tensor || !*tensor || cells.at[1] >= (*tensor)->rows()) return box;
  box.height /= static_cast<float>((*tensor)->rows());
  box.y += box.height * static_cast<float>(cells.at[1]);
  return box;
}

// Everything on it that is asked, or as much as fits; rows alone where their matrices do not. A page must
// have been drawn twice until it is known how far it scrolls.
void LessonPlayer::lookOnPage() {
  views::Scroller& page = screen_.view.experiments.page;
  for (int i = 0; i < attention::kBlockStages; ++i) {
    const auto stage = static_cast<attention::BlockStage>(i);
    if (!view_.asked.empty() && attention::name(attention::tensorOf(stage)) == view_.asked.front().tensor)
      screen_.view.experiments.stage = stage;
  }
  const bool isOfQuery = views::isOfStep(view_, "token_query") || views::isOfStep(view_, "segment_query");
  std::optional<views::Box> all;
  for (const bool byRow : {false, true}) {
    all.reset();
    bool fits = true;
    for (const Cells& cells : view_.asked) {
      const auto box = onPage(cells, isOfQuery, byRow);
      if (!box) continue;
      const float top = all ? std::min(all->y, box->y) : box->y,
                  bottom = all ? std::max(all->bottom(), box->bottom()) : box->bottom();
      if (!all || bottom - top <= page.box.height) all = views::Box{box->x, top, box->width, bottom - top};
      else fits = false;
    }
    if (fits) break;
  }
  if (!all) return;
  all->height = std::min(all->height, page.box.height);
  page.reveal(*all);
}

// ---- what the reader does

void LessonPlayer::carryOut(const GuideAct& act) {
  switch (act.what) {
    case What::tab:
      show(true, true);
      if (screen_.makeLayout().width == views::Width::narrow)
        view_.pulled = true, screen_.view.drawer = false;
      if (!view_.lesson && !view_.last.empty()) ask(view_.last, view_.lastStep);
      break;
    case What::controls:
      screen_.view.guideTab = screen_.view.sideClosed = isWanted_ = false;
      remember();
      break;
    case What::close: screen_.view.sideClosed = true, show(false, true); break;
    case What::coached:
      screen_.view.coach.reset(), isCoached_ = true, isWanted_ = screen_.view.guideOpen, remember();
      break;
    case What::list: view_.list = true, screen_.view.side.wanted = 0, wantList(), wantTerms(); break;
    case What::back: openStep(std::max(0, view_.step - 1)); break;
    case What::next: next(); break;
    case What::step: openStep(act.number); break;
    case What::answer: answer(act.number); break;
    case What::hint: view_.hint = !view_.hint; break;
    case What::show:
      if (const document::Step* now = view_.now(); now && now->attempt) {
        if (document::editsBetween(try_, session_.state()) != 0) {
          document::State from = try_;
          document::copyView(from, session_.state());
          (void)session_.open(std::move(from), true, Source::lesson);
          if (now->select) select(*now->select);
        }
        isShown_ = true;
        // Beside the open drawer the numbers of a low board are too small to watch; its bar says the goal.
        if (constexpr float kWatched = 400; !screen_.onPage() && screen_.makeLayout().board.width < kWatched)
          screen_.view.drawer = false;
        begin(now->attempt->solution);
      }
      break;
    case What::search: view_.search = act.name, screen_.view.side.wanted = 0; break;
    case What::open:
      if (views::isLocked(screen_.embed.lock, "lessons"))
        screen_.refuse({Error::Kind::range, "lessons", "are locked by this page.", true});
      else isWanted_ = true, screen_.view.sideClosed = false, ask(act.name, act.number);
      break;
    case What::place: place(act.cells); break;
    case What::option:
      screen_.view.guideTab = false;
      screen_.view.sections.open = views::sectionOf(act.name);
      break;
    case What::terms: wantTerms(); break;
    case What::index: wantList(), wantTerms(); break;
    case What::texts:
      if (!std::exchange(isLoadingTexts_, true)) screen_.host.wantLessonTexts();
      break;
    case What::pull:
      if (screen_.makeLayout().width == views::Width::narrow)
        view_.pulled = !view_.pulled, view_.seek = act.number;
      else screen_.view.drawer = screen_.view.guideTab = true, view_.seek = act.number;
      break;
  }
  screen_.wake();
}

// ---- events and what is remembered

void LessonPlayer::emit(Event::Type type, std::string_view more) {
  screen_.host.emit({type, joined({"{\"lesson\":", document::jsonQuoted(view_.lesson->id),
                                   ",\"step\":", view_.step, more, "}"})});
}

void LessonPlayer::remember() {
  std::string text =
      joined({"{\"open\":", isWanted_ ? "true" : "false", ",\"lesson\":", document::jsonQuoted(view_.last),
              ",\"step\":", view_.lastStep, ",\"passed\":{"});
  const char* separator = "";
  for (const auto& [id, steps] : passed_) {
    if (steps.empty()) continue;
    text += joined({separator, document::jsonQuoted(id), ":["});
    for (const int step : steps) text += joined({step == *steps.begin() ? "" : ",", step});
    text += "]";
    separator = ",";
  }
  std::string edits;
  for (const auto& [id, fewest] : edits_)
    edits += joined({edits.empty() ? "" : ",", document::jsonQuoted(id), ":", fewest});
  text += "}";
  if (!edits.empty()) text += joined({",\"edits\":{", edits, "}"});
  text +=
      joined({screen_.view.sideClosed ? ",\"closed\":true" : "", isCoached_ ? ",\"coached\":true}" : "}"});
  if (screen_.host.remember(text) || std::exchange(isForgetful_, true)) return;
  screen_.say("What you pass is kept only until you leave: it cannot be stored here.", false);
}

void LessonPlayer::recall() {
  const std::string text = screen_.host.remembered();
  document::JsonText parsed;
  static constexpr std::string_view kFields[] = {"open",   "lesson",  "step", "passed",
                                                 "closed", "coached", "edits"};
  if (text.empty() || text.size() > document::kMaxLessonBytes || !document::parseJson(text, kFields, parsed))
    return;
  const Json &root = parsed.root, *lesson = root.find("lesson"), *step = root.find("step"),
             *passed = root.find("passed"), *edits = root.find("edits");
  isCoached_ = root.find("coached") != nullptr;
  if (lesson) view_.last = lesson->text;
  if (step) view_.lastStep = static_cast<int>(std::clamp(step->number, 0.0, 1000.0));
  for (std::size_t i = 0; passed && i < passed->keys.size(); ++i)
    for (const float n : passed->items[i].numbers)
      if (n >= 0 && n < document::kMaxLessonSteps) passed_[passed->keys[i]].insert(static_cast<int>(n));
  for (std::size_t i = 0; edits && i < edits->keys.size(); ++i)
    if (const double n = edits->items[i].number; n >= 1 && n < 1000)
      edits_[edits->keys[i]] = static_cast<int>(n);
}

}  // namespace app
