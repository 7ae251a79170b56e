#include "app/watched.h"

#include <algorithm>

#include "app/session_board.h"
#include "base/sentence.h"
#include "document/text.h"

namespace app {
namespace {

using base::joined;
using base::Result;
using document::Goal;
using document::Value;
using document::Verdict;

std::string numberText(double number) { return document::toJson(Value(number)); }

/// The present value of what the check is about.
std::string valueOf(const Goal& goal, const Verdict& verdict, SessionBoard& board) {
  if (goal.what == Goal::What::option) return document::toJson(document::get(board.state(), goal.option));
  if (goal.what == Goal::What::edits) return numberText(verdict.value);
  const auto numbers = document::numbersOf(board, goal.cells, goal.field);
  if (goal.what == Goal::What::argmax)
    return std::to_string(std::max_element(numbers->begin(), numbers->end()) - numbers->begin());
  if (goal.of != Goal::Of::each || goal.change != Goal::Turn::none || numbers->size() == 1)
    return numberText(verdict.value);
  std::string list;
  for (const float number : *numbers) list += joined({list.empty() ? "[" : ",", numberText(double{number})});
  return list + "]";
}

}  // namespace

Result<std::string> judged(Session& session, std::string_view checks, std::string_view start) {
  const auto goals = document::readChecks(checks);
  if (!goals) return goals.error();
  document::State from;
  if (!start.empty()) {
    const auto read = document::fromText(start, document::State{});
    if (!read) return read.error();
    from = *read;
  }
  const auto before = start.empty() ? nullptr : document::paperBoard(from);
  SessionBoard board(session);
  std::string verdicts;
  for (const Goal& goal : *goals) {
    const auto verdict = document::judge(goal, board, from, before.get());
    if (!verdict) return verdict.error();
    verdicts += joined({verdicts.empty() ? "[" : ",", "{\"value\":", valueOf(goal, *verdict, board),
                        ",\"holds\":", verdict->holds ? "true" : "false", "}"});
  }
  return verdicts + "]";
}

}  // namespace app
