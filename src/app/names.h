// Tensors and options by their names in scripts, and the errors for names that do not exist.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"

namespace app {

/// The tensor of that name, of the layer or around it, as it is now. Valid until the next call or change.
base::Result<const attention::Tensor*> tensorNamed(Session& session, std::string_view name);
/// The same, if it has that cell. `name` is one that there is.
base::Result<const attention::Tensor*> tensorWithCell(Session& session, std::string_view name, int head, int row, int col);

/// There is no such tensor, perhaps one of others; `onlyExplained`: of those that explain() can speak of.
base::Result<void> unknownTensor(std::string_view name, bool onlyExplained = false);
base::Result<void> unknownOption(std::string_view name);
/// What the page's author may have misspelt in a comma-separated list, in a sentence for each: `attribute` is hide, lock or show.
std::vector<std::string> misspelt(std::string_view attribute, std::string_view list);
/// There is none of that name; use what is `right`.
base::Result<void> unknown(std::string_view field, std::string_view value, std::string_view right);

}  // namespace app
