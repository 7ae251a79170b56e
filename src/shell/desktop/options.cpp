#include "shell/desktop/options.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <iostream>
#include <optional>

#include "attention/kernels/kernels.h"
#include "base/sentence.h"
#include "files/formats/format.h"
#include "shell/language.h"
#include "shell/manual.h"

namespace shell {
namespace {

constexpr const char* kProgram = "attention-playground";
constexpr int kUsageError = 2;
constexpr int kLeast = 200, kMost = 8192;  // logical pixels

/// Parses "1440x900"; returns what is wrong with it, if anything.
std::string parseSize(const std::string& text, Options& options) {
  int end = 0;
  const bool good = std::sscanf(text.c_str(), "%5dx%5d%n", &options.width, &options.height, &end) == 2 &&
                    static_cast<std::size_t>(end) == text.size();
  const auto fits = [](int n) { return n >= kLeast && n <= kMost; };
  if (good && fits(options.width) && fits(options.height)) return "";
  return "--size " + text + " is no size: give width and height from " + std::to_string(kLeast) + " to " +
         std::to_string(kMost) + ", like 1440x900.";
}

/// Parses "q,0,3,2" or "causal".
std::string parsePlace(const std::string& text, Options& options) {
  Located place;
  const std::size_t comma = text.find(',');
  place.name = text.substr(0, comma);
  int end = 0;
  const std::string rest = comma == std::string::npos ? "" : text.substr(comma);
  const bool good = rest.empty() || (std::sscanf(rest.c_str(), ",%6d,%6d,%6d%n", &place.head, &place.row,
                                                 &place.col, &end) == 3 &&
                                     static_cast<std::size_t>(end) == rest.size());
  if (!good || place.name.empty())
    return "--locate " + text +
           " names no place: give NAME,HEAD,ROW,COL like q,0,3,2, or the name of a control like causal.";
  options.locate = place;
  return "";
}

std::string versionLine() {
  return "Attention Playground " AP_VERSION ", kernel " +
         std::string(attention::kernels::name(attention::kernels::best()));
}

int refuse(const std::string& sentence) {
  std::fprintf(stderr, "%s: %s Try --help.\n", kProgram, base::printable(sentence).c_str());
  return kUsageError;
}

/// Messages of CLI11 have no full stop at the end, and may contain line breaks.
std::string asSentence(std::string words) {
  words = words.substr(0, words.find('\n'));
  if (!words.empty() && words.back() != '.') words += '.';
  return words;
}

}  // namespace

Parsed parseOptions(int argc, char** argv) {
  Options options;
  std::string size, place;
  CLI::App cli{"Change a number in Q, K or V and watch attention follow.", kProgram};
  cli.get_formatter()->column_width(34);
  cli.get_formatter()->label("Excludes", "not with");
  cli.footer("Exit status: 0 done, 1 bad data or no display, 2 wrong use.");
  cli.set_version_flag("--version", versionLine);
  CLI::Option* state =
      cli.add_option("--state,FILE", options.state,
                     "Open a state or tensors: " + files::formatList() + "; Ctrl+S saves a state there")
          ->type_name("FILE");
  cli.add_option("--preset", options.preset, "Start with an example: i-saw-a-saw, pronoun, …")
      ->type_name("NAME")
      ->excludes(state);
  CLI::Option* lesson = cli.add_option("--lesson", options.lesson,
                                       "Open a lesson of the Guide by its id (query), or a lesson file")
                            ->type_name("ID|FILE");
  cli.add_option("--step", options.step, "The step of that lesson, counted from 0")
      ->type_name("N")
      ->check(CLI::Range(0, 1000))
      ->needs(lesson);
  cli.add_option("--theme", options.theme, "light, dark or auto")
      ->type_name("NAME")
      ->check(CLI::IsMember({"light", "dark", "auto"}));
  cli.add_option("--lang", options.lang,
                 "The language of the interface: " + base::orList(languageTags()) +
                     "; else LC_ALL, LC_MESSAGES or LANG")
      ->type_name("TAG")
      ->check(CLI::IsMember(languageTags()));
  cli.add_option("--size", size, "Size of the window or picture in logical pixels, 1440x900")
      ->type_name("WxH");
  cli.add_option("--scale", options.scale, "Pixels per logical pixel, 0.5 to 4, instead of the display's")
      ->type_name("S")
      ->check(CLI::Range(0.5, 4.0));
  CLI::Option* shot = cli.add_option("--screenshot", options.screenshot, "Draw once into a PNG file and exit")
                          ->type_name("FILE");
  cli.add_option("--type", options.type, "Type these characters first: e opens the experiments")
      ->type_name("KEYS");
  CLI::Option* locate = cli.add_option("--locate", place,
                                       "Print x, y, width and height of a cell (q,0,3,2) or control "
                                       "(causal), in logical pixels, and exit")
                            ->type_name("NAME,HEAD,ROW,COL")
                            ->excludes(shot);
  cli.add_flag("--items", options.items, "Print every named place as JSON and exit")
      ->excludes(shot)
      ->excludes(locate);
  addManual(cli);
  try {
    cli.parse(argc, argv);
    if (const std::string text = manual(cli, AP_VERSION); !text.empty()) {
      std::cout << text;
      throw CLI::Success();
    }
  } catch (const CLI::Success& success) {
    const int status = cli.exit(success);  // --help, --version
    if (std::cout.flush()) return {std::nullopt, status};
    std::fprintf(stderr, "%s: Standard output cannot be written.\n", kProgram);
    return {std::nullopt, 1};
  } catch (const CLI::ParseError& error) { return {std::nullopt, refuse(asSentence(error.what()))}; }
  if (!size.empty())
    if (const std::string wrong = parseSize(size, options); !wrong.empty())
      return {std::nullopt, refuse(wrong)};
  if (!place.empty())
    if (const std::string wrong = parsePlace(place, options); !wrong.empty())
      return {std::nullopt, refuse(wrong)};
  return {options, 0};
}

}  // namespace shell
