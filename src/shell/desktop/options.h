// The command-line options of the desktop program.
#pragma once

#include <optional>
#include <string>

namespace shell {

/// A cell or control whose rectangle is to be printed: "q,0,3,2" or "causal".
struct Located {
  std::string name;
  int head = 0, row = 0, col = 0;
};

struct Options {
  std::string state, preset, theme;  ///< empty if not given. `state` is any file that can be opened
  std::string lesson;                ///< id of a lesson, or a file; empty if not given
  int step = 0;                      ///< step of that lesson, from 0
  std::string lang;                  ///< language of the interface: "de", "zh"; empty: that of the system
  std::string screenshot;            ///< file to write, instead of showing a window
  std::string type;                  ///< characters to type before taking the screenshot: "e2"
  std::optional<Located> locate;
  /// Print the rectangles of all named parts, instead of showing a window.
  bool items = false;
  int width = 0, height = 0;  ///< logical pixels; 0 if not given
  float scale = 0;            ///< framebuffer pixels per logical pixel; 0: that of the display

  /// Draw or measure once and exit, without a visible window?
  bool isOneShot() const { return !screenshot.empty() || locate || items; }
};

/// The result of parsing the command line. Without options the program must exit with `exitCode`, all output
/// having been written (0 for
/// --help and --version; 2, with a sentence on stderr, for an error).
struct Parsed {
  std::optional<Options> options;
  int exitCode = 0;
};
Parsed parseOptions(int argc, char** argv);

}  // namespace shell
