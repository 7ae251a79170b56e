#include "shell/desktop/shell_place.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace shell {
namespace {

std::filesystem::path folder(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  const std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path / below
                            : std::filesystem::path();  // the XDG specification says to ignore relative ones
}

std::filesystem::path settingsFolder() {
#if defined(_WIN32)
  return folder("APPDATA", "");
#elif defined(__APPLE__)
  return folder("HOME", "Library/Application Support");
#else
  const std::filesystem::path chosen = folder("XDG_CONFIG_HOME", "");
  return chosen.empty() ? folder("HOME", ".config") : chosen;
#endif
}

constexpr const char* kFormat = "window 1\nsize %d %d\nposition %d %d %d\nmaximized %d\n";

}  // namespace

std::filesystem::path stateFolder() {
#if defined(__APPLE__)
  const std::filesystem::path base = folder("HOME", "Library/Application Support");
#else
  const std::filesystem::path chosen = folder("XDG_STATE_HOME", ""),
                              base = chosen.empty() ? folder("HOME", ".local/state") : chosen;
#endif
  return base.empty() ? base : base / "attention-playground";
}

std::filesystem::path windowPlaceFile() {
  const std::filesystem::path folder = settingsFolder();
  return folder.empty() ? folder : folder / "attention-playground" / "window";
}

std::filesystem::path progressFile() {
  const std::filesystem::path folder = settingsFolder();
  return folder.empty() ? folder : folder / "attention-playground" / "lessons.json";
}

std::string windowPlaceText(const WindowPlace& place) {
  char text[160];
  std::snprintf(text, sizeof text, kFormat, place.width, place.height, place.hasPosition ? 1 : 0, place.x,
                place.y, place.maximized ? 1 : 0);
  return text;
}

std::optional<WindowPlace> parseWindowPlace(std::string_view text) {
  WindowPlace place;
  int hasPosition = 0, maximized = 0;
  const int read = std::sscanf(std::string(text.substr(0, 200)).c_str(), kFormat, &place.width, &place.height,
                               &hasPosition, &place.x, &place.y, &maximized);
  place.hasPosition = hasPosition != 0;
  place.maximized = maximized != 0;
  const auto between = [](int n, int least, int most) { return n >= least && n <= most; };
  const bool sane = between(place.width, 200, 16384) && between(place.height, 200, 16384) &&
                    between(place.x, -100000, 100000) && between(place.y, -100000, 100000);
  if (read != 6 || !sane || windowPlaceText(place) != text) return std::nullopt;
  return place;
}

}  // namespace shell
