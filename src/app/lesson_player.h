// The open lesson: its questions, the reader's answers, the state of its goals, and what has been passed so
// far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/focus.h"
#include "document/verdict.h"

namespace app {

class LessonPlayer {
 public:
  /// Created when the Guide is first opened; loads what the host remembers.
  LessonPlayer(Screen& screen, Focus& focus);
  ~LessonPlayer();
  LessonPlayer(const LessonPlayer&) = delete;
  LessonPlayer& operator=(const LessonPlayer&) = delete;

  /// Opens a lesson from the text of a file: the card with that id, or the first one for "". Errors name
  /// file, step and field, and leave everything unchanged.
  base::Result<void> open(std::string_view text, std::string_view name, std::string_view id, int step,
                          bool keepsBoard = false);
  /// Sets the list of lessons, index.json. An error for any other text.
  base::Result<void> setList(std::string_view text);
  /// Adds the words of the lessons of a file, for the search.
  base::Result<void> addTexts(std::string_view text);
  /// Sets the terms of the glossary.
  base::Result<void> setTerms(std::string_view english, std::string_view own);
  /// Reports that something requested could not be loaded.
  void fail(base::Message sentence);
  /// Opens the card of an example, if it has one.
  void openExample(std::string_view preset);

  /// To be called at the beginning of a frame: checks the goals against the present board, and continues
  /// animations.
  void update();
  void carryOut(const views::GuideAct& act);
  /// Opens or closes the Guide; `isSaid`: on the reader's request, which is remembered.
  void show(bool open, bool isSaid);

 private:
  struct Moving;

  void wantList();
  void wantTerms();
  void openStep(int step, bool keepsBoard = false);
  void compute(bool beforeAnswer);
  void answer(int choice);
  void next();
  void begin(const std::vector<document::Move>& moves);
  void advance(float seconds);
  void finishMoves();
  void judge();
  void pass();
  void lookFor();
  void look();
  void lookOnPage();
  std::optional<views::Box> onPage(const document::Cells& cells, bool inEquation, bool byRow) const;
  void noteEdits();
  void place(const document::Cells& cells);
  void select(const document::Cells& cells);
  void ask(std::string_view id, int step);
  void translate();
  void setLocks();
  void fillEntries();
  void remember();
  void recall();
  void emit(Event::Type type, std::string_view more);
  void putMarkup(document::Markup& text, document::LessonBoard& board, document::LessonBoard* before) const;

  Screen& screen_;
  Session& session_;
  Focus& focus_;
  views::GuideView& view_;
  std::vector<document::Lesson> lessons_;  ///< of the file opened last
  document::State start_, try_;            ///< the state at the beginning of the step, and of its exercise
  std::unique_ptr<Moving> moving_;
  std::map<std::string, std::set<int>, std::less<>> passed_;
  bool isWanted_ = true, isLoadingList_ = false, isLoadingTerms_ = false, isLoadingTexts_ = false,
       isForgetful_ = false, isCoached_ = false;
  std::map<std::string, int, std::less<>> edits_;  ///< with which puzzles were solved, at best
  std::string source_,
      listSource_;  ///< the files of the open lesson, and of the list: to be read in another language
  std::uint64_t language_ = 0;
  bool isShown_ = false;  ///< the solution of this step was shown, so that its edits are not the reader's
  base::Message began_;   ///< what the first check of the step said at its beginning
  std::uint64_t seen_ = 0;
  views::Box seenBoard_;  ///< the board in which what is asked was last brought into view
  int looks_ = 0;         ///< frames in which it is looked for on a page, which must be drawn first
};

}  // namespace app
