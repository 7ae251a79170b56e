// Checks actions of a reader against what the host page locked.
#pragma once

#include <string>
#include <string_view>

#include "document/edit.h"

namespace app {

/// An error ("This page has locked heads.") if going from one state to the other changes something that
/// `lock` names. `action` is what would do it ("undo", "reset", "open", "preset"), which may be locked by its
/// own name.
base::Result<void> keepsLocks(std::string_view lock, std::string_view action, const document::State& from,
                              const document::State& to);
/// The same for a single edit.
base::Result<void> keepsLocks(std::string_view lock, const document::Edit& edit);

}  // namespace app
