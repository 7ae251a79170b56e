// What is found of what is typed in the palette: commands, options, lessons, puzzles, questions, examples,
// terms and tokens, in the reader's language and in English. Their titles and texts are those of the tables
// that the rest of the interface uses; tokens are those of the board, found by their words and numbers.
#pragma once

#include <string>
#include <vector>

#include "document/search.h"
#include "views/context.h"

namespace views {

struct Finding {
  enum class Kind : std::uint8_t { command, option, lesson, puzzle, question, example, term, token };
  Kind kind = Kind::command;
  std::string id;     ///< the name of the control, preset or term, the id of the lesson, or "query:12"
  std::string title;  ///< in the reader's language
  std::string aside;  ///< a key, or where it was found; in the reader's language
  bool isKey = false;
  document::Search::Found found = document::Search::Found::no;
};

struct Findings {
  /// The best three of each kind, and eight tokens; the kind of the best one comes first. Of an empty search,
  /// two that can be used, and no tokens.
  std::vector<Finding> shown;
  int count = 0;  ///< with those that are not shown
};

Findings find(Context& context, const document::Search& search);
/// Why it cannot be used now, in English; empty if it can.
base::Message obstacleTo(const Context& context, const Finding& finding);
/// The cell that stands for a token that was found: its row of W, its column, or both where it has both.
attention::CellRef cellOf(const Context& context, const Finding& token);
/// The heading of its kind: "COMMANDS".
std::string_view headingOf(Finding::Kind kind);

}  // namespace views
