// Checks that page scripts watch: those of lessons, judged as lessons are (document/check.h).
#pragma once

#include <string>
#include <string_view>

#include "app/session.h"

namespace app {

/// How they stand on the board: [{"value": 0.69, "holds": true}, …]. The value is the number of a cell, the numbers of several, the
/// column of the largest (argmax), the value of an option, or the edits. `checks` is {"check": one or a list of up to 16}, with -1 in
/// `at` for any; `start` the state, as text, that edits and changes are counted from, "" where none are. An error names the field, such
/// as "check[1].min", or "check[1]" where the board has no such cells.
base::Result<std::string> judged(Session& session, std::string_view checks, std::string_view start);

}  // namespace app
