// What a page locked, held against what a reader does.
#pragma once

#include <string>
#include <string_view>

#include "document/edit.h"

namespace app {

/// "This page has locked heads.", if going from one state to the other changes what these names lock. `action` is what would do
/// it ("undo", "reset", "open", "preset"): it may be locked by its own name.
base::Result<void> keepsLocks(std::string_view lock, std::string_view action, const document::State& from, const document::State& to);
/// The same of one edit.
base::Result<void> keepsLocks(std::string_view lock, const document::Edit& edit);

}  // namespace app
