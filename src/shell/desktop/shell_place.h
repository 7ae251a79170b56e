// The window's size and position, stored between runs, and the folders for such files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace shell {

/// Size in logical pixels, position in those of the screen.
struct WindowPlace {
  int width = 1440, height = 900;
  int x = 0, y = 0;
  bool hasPosition = false, maximized = false;
};

/// The platform's folder for the state of programs; an empty path if there is none.
std::filesystem::path stateFolder();
/// The file for the window's place, in the platform's folder for settings; an empty path if there is none.
std::filesystem::path windowPlaceFile();
/// The file for progress in lessons, in the same folder; empty if there is none.
std::filesystem::path progressFile();
/// Nothing if the text was not written by windowPlaceText(): a damaged file is ignored.
std::optional<WindowPlace> parseWindowPlace(std::string_view text);
std::string windowPlaceText(const WindowPlace& place);

}  // namespace shell
