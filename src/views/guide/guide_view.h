// The content of the Guide, prepared by app/lesson_player.h, and the actions of the user.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "document/verdict.h"
#include "views/scroller.h"

namespace views {

/// An entry in the list of lessons.
struct GuideEntry {
  document::LessonKind kind = document::LessonKind::lesson;
  std::string id, title, about;
  int steps = 1, par = 0, passed = 0;
  int best = 0;  ///< the fewest edits with which the reader has solved a puzzle; 0: not yet
  std::vector<std::string> puzzles;  ///< of a lesson: those about the same subject
};

/// What the reader has done in a step: a checked number (or word), before and after.
struct GuideFinding {
  base::Message of, before, after;
};

/// One step of the lesson, with the numbers in its texts computed.
struct GuideStep {
  document::Markup text, question, task, hint;
  std::vector<document::Markup> choices, because;
};

struct GuideView {
  const document::Lesson* lesson = nullptr;  ///< null: the list is shown
  std::vector<std::string> labels;           ///< the sentence of the present step
  int step = 0, number = 0;                  ///< number: as in "LESSON 2"
  GuideStep words;
  std::vector<document::Cells> asked;  ///< what the step is about now: it is in view
  /// Those of the board that this concerns, and those that the rest of the step concerns.
  std::vector<attention::TensorId> matrices, later;
  std::optional<int> answer;
  bool hint = false, showing = false;  ///< showing: the solution is being shown
  std::vector<document::Verdict> verdicts;
  double low = 0, high = 1;  ///< the range of the bar
  bool holds = false;
  std::vector<bool> passed;           ///< for each step of the lesson
  std::map<int, GuideFinding> found;  ///< by step, since the lesson was opened
  bool list = false;
  std::string search;
  bool isSearched = false;  ///< the texts have been asked for
  std::string expanded;     ///< the kind of which all that was found is shown, and the search
  document::LessonKind tab = document::LessonKind::lesson;  ///< of the list
  std::string last;  ///< the lesson opened last, and its step, for the next visit too
  int lastStep = 0;
  std::vector<GuideEntry> entries;
  /// Of lessons, by id: their words, document::folded(), for the search.
  std::map<std::string, std::string, std::less<>> texts;
  std::string waiting;  ///< shown while something is loading
  int seek = 0;         ///< scroll the choices, or the reason, into view for this many more frames
  float stripHeight = kStripHeight;    ///< of the bar, as its sentence needed it in the last frame
  bool pulled = false;                 ///< on a phone, the sheet shows the whole lesson
  std::optional<document::Cells> lit;  ///< cells of the reference under the pointer

  const document::Step* now() const {
    return lesson ? &lesson->steps[static_cast<std::size_t>(step)] : nullptr;
  }
  bool isLast() const { return !lesson || step + 1 == static_cast<int>(lesson->steps.size()); }
  /// Is there a prediction that has not been answered?
  bool asks() const { return now() && now()->predict && !answer; }
  bool isRight() const { return answer && now() && now()->predict && *answer == now()->predict->answer; }
  int passedGoals() const;
  /// May the reader continue?
  bool mayGoOn() const {
    return !now() || passed[static_cast<std::size_t>(step)] || (!asks() && (!now()->attempt || holds));
  }
};

/// An action of the user in the Guide.
struct GuideAct {
  enum class What {
    tab,
    controls,
    close,
    list,
    back,
    next,
    step,
    answer,
    hint,
    show,
    search,
    open,
    place,
    option,
    pull,
    coached,
    terms,
    index,
    texts
  };
  What what = What::tab;
  int number = 0;
  std::string name;
  document::Cells cells;
};

}  // namespace views
