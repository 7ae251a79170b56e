// Where the window was, remembered from one run to the next, and where such things are kept.
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

/// This platform's folder for what a program keeps from one run to the next, or an empty path where there is none.
std::filesystem::path stateFolder();
/// The file in this platform's folder for settings, or an empty path where there is none.
std::filesystem::path windowPlaceFile();
/// What was passed in lessons, in the same folder; empty where there is none.
std::filesystem::path progressFile();
/// Nothing if the text is not one that windowPlaceText() wrote: a damaged file is as good as none.
std::optional<WindowPlace> parseWindowPlace(std::string_view text);
std::string windowPlaceText(const WindowPlace& place);

}  // namespace shell
