// Blocks of cells on the clipboard, in rows and columns as they are seen.
#pragma once

#include <string>
#include <string_view>

#include "app/screen.h"

namespace app {

/// The selected cells as tab-separated text; empty if none are selected.
std::string copyCells(const Screen& screen);
/// Writes such text from the selected cell on; one number fills the whole selection. What is refused is said too.
base::Result<void> pasteCells(Screen& screen, std::string_view text);

}  // namespace app
