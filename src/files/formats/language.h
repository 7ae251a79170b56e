// The interface in another language, as stored in web/languages: {"language": "Deutsch", "messages": {"the
// header": {"Open": "Öffnen", …}, …}}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace files {

/// All messages of such a file, in the format of views::Words. An error, by field, unless they are groups of
/// texts without line ends.
base::Result<std::string> wordsOf(std::string_view json);

}  // namespace files
