// The lesson that is open: what it asks, what was answered, how its checks stand, and what was passed so far.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/focus.h"
#include "document/check.h"

namespace app {

class Guide {
 public:
  /// Made when it is first opened; takes what the host remembers.
  Guide(Screen& screen, Focus& focus);
  ~Guide();
  Guide(const Guide&) = delete;
  Guide& operator=(const Guide&) = delete;

  /// Opens a lesson of a file that was read: the card of that id, the first one where it is "". Refused by file, step and field;
  /// nothing is opened then.
  base::Result<void> open(std::string_view text, std::string_view name, std::string_view id, int step, bool keepsBoard = false);
  /// index.json: the lessons that there are. A list that is none is refused.
  base::Result<void> setList(std::string_view text);
  /// What was asked for does not come.
  void fail(std::string_view sentence);
  /// The card of an example, where there is one.
  void openExample(std::string_view preset);

  /// At the beginning of a frame: checks against the board as it is now, and what moves by itself goes on.
  void update();
  void carryOut(const views::GuideAct& act);
  /// Shows it, or takes it away; `isSaid`: by the reader, which is remembered.
  void show(bool open, bool isSaid);

 private:
  struct Moving;

  void openStep(int step, bool keepsBoard = false);
  void compute(bool beforeAnswer);
  void answer(int choice);
  void next();
  void begin(const std::vector<document::Move>& moves);
  void goOn(float seconds);
  void finishMoves();
  void judge();
  void pass();
  void place(const document::Cells& cells);
  void select(const document::Cells& cells);
  void ask(std::string_view id, int step);
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
  std::vector<document::Lesson> lessons_;  ///< of the file that was opened last
  document::State start_, try_;            ///< of the step, and of its try
  std::unique_ptr<Moving> moving_;
  std::map<std::string, std::set<int>, std::less<>> passed_;
  bool isWanted_ = true, isLoadingList_ = false, isForgetful_ = false;
  std::string last_;  ///< the lesson that was open last, for the next visit
  int lastStep_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace app
