// Lessons, puzzles, questions and cards of examples, as their authors write them: JSON (web/lessons/schema.json), read strictly.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/edit.h"

namespace document {

/// Cells of a tensor by the name that scripts know: all, those of a head, of a row, or one, by 0 to 3 indices from 0.
struct Cells {
  std::string tensor;
  std::vector<int> at;  ///< head, row, column; kAny stands for all of them

  static constexpr int kAny = -1, kShownHead = -2;  ///< the head on the board: in texts
};

/// A number that a text computes: "{q:3,2 * k:0,2}". From left to right.
struct Term {
  char sign = '+';      ///< + - * / before it
  bool before = false;  ///< as it was before the prediction's `after`
  std::optional<double> number;
  Cells cell;
};

/// A piece of a text that is drawn in one way.
struct Run {
  enum class Kind : std::uint8_t { plain, strong, number, cells, option, view, lesson, computed, paragraph };
  Kind kind = Kind::plain;
  std::string words;  ///< what is shown; "" of cells, options and views: their own name
  std::string name;   ///< of an option, a view, a lesson
  Cells cells;
  std::vector<Term> terms;  ///< of Kind::computed
};
using Markup = std::vector<Run>;

/// One thing to do to the board: cells, an option, or a cell of the mask.
struct Move {
  enum class What : std::uint8_t { cells, option, mask };
  What what = What::cells;
  Cells cells;                ///< of the mask: row and column
  std::vector<float> values;  ///< as many as cells
  OptionId option = OptionId::causal;
  Value value;
  bool visible = true;
  std::string field;  ///< where it stands in the file
};

/// One thing that has to hold. Of several cells, each has to.
struct Goal {
  enum class What : std::uint8_t { cells, argmax, option, edits };
  enum class Of : std::uint8_t { each, sum, mean, norm, entropy, change };  ///< what is made of the cells first
  enum class Turn : std::uint8_t { none, up, down, same };
  What what = What::cells;
  Cells cells;
  Of of = Of::each;
  std::optional<double> min, max;
  std::vector<double> near;   ///< one for all cells, or one for each
  std::optional<Cells> like;  ///< cells of another tensor, to be near to
  double within = 0.005;      ///< of near, like and Turn::same
  int argmax = 0;             ///< the column
  Turn change = Turn::none;   ///< against the board before the prediction's `after`
  OptionId option = OptionId::causal;
  std::optional<Value> is;
  std::string label;  ///< what stands beside its value, or ""
  std::string field;
};

struct Prediction {
  Markup question;
  std::vector<Markup> choices, because;  ///< as many of each; because may be one for all, or none
  int answer = 0;
  std::vector<Move> after;               ///< done once it is answered
  std::vector<std::vector<Goal>> claim;  ///< one list a choice, or none: after `after` those of the answer hold, and of no other choice all
};

struct Attempt {
  Markup task, hint;
  std::vector<std::string> allow;  ///< tensors and options that may be changed; none: any
  std::vector<Goal> check;
  std::vector<Move> solution;
};

struct Step {
  std::string preset;  ///< "" goes on from the step before
  std::vector<Move> set;
  std::optional<Cells> select;
  Markup text;
  std::optional<Prediction> predict;
  std::optional<Attempt> attempt;
};

enum class LessonKind : std::uint8_t { lesson, puzzle, question, example };

struct Lesson {
  std::string id, title, about;
  LessonKind kind = LessonKind::lesson;
  int par = 0;  ///< of a puzzle: the fewest edits
  std::vector<std::string> next;
  std::vector<Step> steps;
};

inline constexpr std::size_t kMaxLessonBytes = 1u << 20;  ///< of a file
inline constexpr int kMaxLessonSteps = 24, kMaxLessonCards = 200;
inline constexpr std::size_t kMaxLessonText = 2000;  ///< bytes of one text

/// Reads a file: one lesson, or {"lesson": 1, "cards": [lesson, …]}. Strict: a field that is not known, a name that there is none
/// of, a text with HTML in it, too many steps … are refused; the field begins with the card and the step: "step 3, try.check[0].at".
/// Whether cells are there is known on a board only: rehearse(), check.h.
Result<std::vector<Lesson>> readLessons(std::string_view text);
/// Reads {"check": a check, or a list of up to 16}, as scripts give them: -1 in `at` stands for all heads, rows or columns.
Result<std::vector<Goal>> readChecks(std::string_view text);
/// Does the text look like a lesson file and not like a state or tensors?
bool isLessonText(std::string_view text);

/// The markup of a text: **bold**, `0.50`, [q:3], [weights:3,0|label], [causal], [view:block], [lesson:id|label], {q:3,2 * k:0,2}.
Result<Markup> readMarkup(std::string_view text, std::string_view field);

std::string_view name(LessonKind kind);

}  // namespace document
