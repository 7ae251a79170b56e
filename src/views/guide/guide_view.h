// What the Guide shows, made ready by app/guide.h, and what a hand asks of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/check.h"
#include "views/scroller.h"

namespace views {

/// A line of the list of lessons.
struct GuideEntry {
  document::LessonKind kind = document::LessonKind::lesson;
  std::string id, title, about;
  int steps = 1, par = 0, passed = 0;
};

/// A step of the lesson, with the numbers of its texts computed.
struct GuideStep {
  document::Markup text, question, task, hint;
  std::vector<document::Markup> choices, because;
};

struct GuideView {
  const document::Lesson* lesson = nullptr;  ///< null: the list is shown
  std::vector<std::string> labels;           ///< the sentence of the step that is open
  int step = 0, number = 0;                  ///< number: "LESSON 2"
  GuideStep words;
  std::optional<int> answer;
  bool hint = false, showing = false;  ///< showing: the solution moves
  std::vector<document::Verdict> verdicts;
  double low = 0, high = 1;  ///< of the bar
  bool holds = false;
  std::vector<bool> passed;  ///< the steps of the lesson
  bool list = false;
  std::string search;
  std::vector<GuideEntry> entries;
  std::string waiting;       ///< what is said while something comes
  int seek = 0;              ///< for so many frames more the choices are brought into view
  bool pulled = false;       ///< the sheet of a phone shows the whole lesson
  std::optional<document::Cells> lit;  ///< under the pointer, in the text

  const document::Step* now() const { return lesson ? &lesson->steps[static_cast<std::size_t>(step)] : nullptr; }
  bool isLast() const { return !lesson || step + 1 == static_cast<int>(lesson->steps.size()); }
  /// Is there a prediction that nobody has made?
  bool asks() const { return now() && now()->predict && !answer; }
  int passedGoals() const;
  /// May the reader go on?
  bool mayGoOn() const { return !now() || passed[static_cast<std::size_t>(step)] || (!asks() && (!now()->attempt || holds)); }
};

/// What is asked of the Guide.
struct GuideAct {
  enum class What { tab, controls, close, list, back, next, step, answer, hint, show, search, open, place, option, pull };
  What what = What::tab;
  int number = 0;
  std::string name;
  document::Cells cells;
};

}  // namespace views
