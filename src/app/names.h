// Tensors and options by their names in scripts, and errors for unknown names.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/session.h"

namespace app {

/// The tensor of that name, of the layer or around it, with its present numbers. Valid until the next call or
/// change.
base::Result<const attention::Tensor*> tensorNamed(Session& session, std::string_view name);
/// The same, where only the numbers of one head are needed.
base::Result<const attention::Tensor*> tensorNamed(Session& session, std::string_view name, int head);
/// What was found, with all of its numbers in memory: see Session::copyOf().
base::Result<const attention::Tensor*> storedOf(Session& session, std::string_view name,
                                                base::Result<const attention::Tensor*> found);
/// The tensor with that name, of which only the shape may be read, or an error if it does not have that cell.
/// `name` must exist.
base::Result<const attention::Tensor*> tensorWithCell(Session& session, std::string_view name, int head,
                                                      int row, int col);

/// The error for an unknown tensor name, which suggests similar names; `onlyExplained`: only names that
/// explain() accepts.
base::Result<void> unknownTensor(std::string_view name, bool onlyExplained = false);
base::Result<void> unknownOption(std::string_view name);
/// The parts around the matrices that `show` can lay out by themselves.
std::span<const std::string_view> shownParts();
/// A sentence for each entry of a comma-separated list that is not a known name and may be misspelt.
/// `attribute` is hide, lock or show.
std::vector<std::string> misspelt(std::string_view attribute, std::string_view list);
/// The error for an unknown name; `right` describes the valid ones.
base::Result<void> unknown(std::string_view field, std::string_view value, std::string_view right);

}  // namespace app
