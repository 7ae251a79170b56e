// Lessons, puzzles, questions and example cards, as authors write them: JSON (web/lessons/schema.json),
// parsed strictly.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/edit.h"

namespace document {

/// Cells of a tensor, named as in scripts. With 0 to 3 indices, counted from 0: all cells, those of a head,
/// of a row, or one.
struct Cells {
  std::string tensor;
  std::vector<int> at;  ///< head, row, column; kAny stands for all indices

  static constexpr int kAny = -1, kShownHead = -2;  ///< kShownHead: the head shown on the board, in texts
};

/// One operand of a number that a text computes: "{q:3,2 * k:0,2}". Operators are applied from left to right.
struct Term {
  char sign = '+';      ///< the operator before it: + - * /
  bool before = false;  ///< use the value before the prediction's `after` moves
  std::optional<double> number;
  Cells cell;
};

/// A run of text that is drawn in one style.
struct Run {
  enum class Kind : std::uint8_t { plain, strong, number, cells, option, view, lesson, computed, paragraph };
  Kind kind = Kind::plain;
  std::string words;  ///< the text shown; "" for cells, options and views: their own name
  std::string name;   ///< of the option, view or lesson
  Cells cells;
  std::vector<Term> terms;  ///< for Kind::computed
};
using Markup = std::vector<Run>;

/// One change of the board: cells, an option, or a cell of the mask.
struct Move {
  enum class What : std::uint8_t { cells, option, mask };
  What what = What::cells;
  Cells cells;                ///< for the mask: row and column
  std::vector<float> values;  ///< one per cell
  OptionId option = OptionId::causal;
  Value value;
  bool visible = true;
  std::string field;  ///< its field in the file, for errors
};

/// A condition. If it names several cells, each must satisfy it.
struct Goal {
  enum class What : std::uint8_t { cells, argmax, option, edits };
  /// What is computed from the cells before comparing.
  enum class Of : std::uint8_t { each, sum, mean, norm, entropy, change };
  enum class Turn : std::uint8_t { none, up, down, same };
  What what = What::cells;
  Cells cells;
  Of of = Of::each;
  std::optional<double> min, max;
  std::vector<double> near;   ///< one number for all cells, or one for each
  std::optional<Cells> like;  ///< cells of another tensor that the values must be near to
  double within = 0.005;      ///< tolerance of near, like and Turn::same
  int argmax = 0;             ///< the column of the row's largest value
  Turn change = Turn::none;   ///< compared with the board before the prediction's `after` moves
  OptionId option = OptionId::causal;
  std::optional<Value> is;
  std::string label;  ///< the text beside its value, or ""
  std::string field;
};

struct Prediction {
  Markup question;
  /// Of the same length; `because` may also be empty, or one for all choices.
  std::vector<Markup> choices, because;
  int answer = 0;
  std::vector<Move> after;  ///< moves made after the reader has answered
  /// Empty, or one list per choice: after the moves, the goals of the right answer hold, and of no other
  /// choice all hold.
  std::vector<std::vector<Goal>> claim;
};

struct Attempt {
  Markup task, hint;
  std::vector<std::string> allow;  ///< tensors and options that may be changed; empty: all
  std::vector<Goal> check;
  std::vector<Move> solution;
};

struct Step {
  std::string preset;  ///< "" continues from the step before
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
  int par = 0;    ///< for a puzzle: the fewest edits that solve it
  int place = 0;  ///< of its file in the list of lessons
  bool isTranslated = false;
  std::vector<std::string> next;
  std::vector<Step> steps;
};

inline constexpr std::size_t kMaxLessonBytes = 1u << 20;  ///< of one file
inline constexpr int kMaxLessonSteps = 24, kMaxLessonCards = 200, kMostPlaces = 1'000'000;
inline constexpr std::size_t kMaxLessonText = 2000;  ///< bytes of one text

/// Parses a file: one lesson, or {"lesson": 1, "cards": [lesson, …]}. Strict: unknown fields and names, HTML
/// in a text, too many steps and so on are errors, whose field includes card and step: "step 3,
/// try.check[0].at". Whether cells exist depends on the board, and is checked by rehearse() (verdict.h).
/// `translation` gives a text in another language, or as it is; what it knows of titles, and all of
/// lessons that it says what they are about, where its markup is right.
using Translation = std::function<std::string(std::string_view)>;
Result<std::vector<Lesson>> readLessons(std::string_view text, Translation translation = {});
/// Parses {"check": a check, or a list of up to 16}, as scripts pass them: -1 in `at` stands for all heads,
/// rows or columns.
Result<std::vector<Goal>> readChecks(std::string_view text);
/// Does the text look like a lesson file, rather than a state or tensors?
bool isLessonText(std::string_view text);

/// Parses the markup of a text: **bold**, `0.50`, [q:3], [weights:3,0|label], [causal], [view:block],
/// [lesson:id|label], {q:3,2 * k:0,2}.
Result<Markup> readMarkup(std::string_view text, std::string_view field);

std::string_view name(LessonKind kind);

}  // namespace document
