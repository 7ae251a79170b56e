// Copying and pasting blocks of cells, in the rows and columns shown on the screen.
#pragma once

#include <string>
#include <string_view>

#include "app/screen.h"

namespace app {

/// The selected cells as tab-separated text; empty if none are selected.
std::string copyCells(const Screen& screen);
/// Pastes tab-separated text starting at the selected cell; a single number fills the whole selection. Errors
/// are also shown to the user.
base::Result<void> pasteCells(Screen& screen, std::string_view text);

}  // namespace app
