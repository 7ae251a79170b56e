// Checks that page scripts watch: in the format of those in lessons, and evaluated like them
// (document/verdict.h).
#pragma once

#include <string>
#include <string_view>

#include "app/session.h"

namespace app {

/// The results for the present board: [{"value": 0.69, "holds": true}, …]. The value is the number of a cell,
/// the numbers of several cells, the column of the largest (argmax), the value of an option, or the number of
/// edits. `checks` is {"check": one or a list of up to 16}, with -1 in `at` for any index. `start` is the
/// state text from which edits and changes are counted; "" if there are none. An error names the field, such
/// as "check[1].min", or "check[1]" if the board does not have the cells.
base::Result<std::string> judged(Session& session, std::string_view checks, std::string_view start);

}  // namespace app
