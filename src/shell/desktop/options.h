// What the desktop program was asked for on its command line.
#pragma once

#include <optional>
#include <string>

namespace shell {

/// A cell or control whose place is to be printed: "q,0,3,2" or "causal".
struct Located {
  std::string name;
  int head = 0, row = 0, col = 0;
};

struct Options {
  std::string state, preset, theme;    ///< empty: not given. The state is any file that opens
  std::string lesson;                  ///< id of a lesson, or a file; empty: not given
  int step = 0;                        ///< of that lesson, from 0
  std::string lang;                    ///< of the interface: "de", "zh"; empty: as the system says
  std::string screenshot;              ///< file to write instead of showing a window
  std::string type;                    ///< characters typed before that: "e2"
  std::optional<Located> locate;
  bool items = false;                  ///< print every named place instead of showing a window
  int width = 0, height = 0;           ///< logical pixels; 0: not given
  float scale = 0;                     ///< framebuffer pixels per logical pixel; 0: that of the display

  /// Draw or measure once and exit, without a window on the screen.
  bool isOneShot() const { return !screenshot.empty() || locate || items; }
};

/// Reads the command line. Anything but options: `exitCode` is what main() returns, all having been said
/// (0 for --help and --version, 2 and one sentence on stderr for what it does not understand).
struct Parsed {
  std::optional<Options> options;
  int exitCode = 0;
};
Parsed parseOptions(int argc, char** argv);

}  // namespace shell
