// `attn`, the command line: the core without a screen. Each command has a file of its own.
#include <cstdio>
#include <new>
#include <sstream>
#include <string>

#include "base/sentence.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/system.h"
#include "shell/language.h"
#include "shell/manual.h"
#include "views/words.h"

namespace cli {

Failure failureOf(const std::string& in, const base::Error& error) {
  if (error.field.starts_with("--")) return {kWrongUse, error.said()};
  return {kBadData, {in, ": ", error.saidInFile()}};
}

namespace {

/// `language` becomes the one that is asked for.
int start(int argc, char** argv, std::string& language) {
  CLI::App attn{"Attention, computed from files.", "attn"};
  attn.allow_windows_style_options(false);  // what begins with a slash is a path there too
  attn.set_version_flag("--version", "attn " AP_VERSION);
  attn.add_option(
          "--lang", language,
          "The language in which data and options are refused: " + base::orList(shell::languageTags()))
      ->type_name("TAG")
      ->envname("ATTN_LANG")
      ->check(CLI::IsMember(shell::languageTags()));
  attn.footer("Exit status: 0 done, 1 bad data, 2 wrong use.");
  addRun(attn);
  addGrad(attn);
  addCode(attn);
  addConvert(attn);
  addInfo(attn);
  addRender(attn);
  addTrain(attn);
  addBench(attn);
  addKernels(attn);
  addMechanisms(attn);
  addLesson(attn);
  shell::addManual(attn);
  std::string manual;
  try {
    attn.parse(argc, argv);
    manual = shell::manual(attn, AP_VERSION);
  } catch (const CLI::Success& success) {
    std::ostringstream words;  // --help, --version
    attn.exit(success, words, words);
    Output output("-");
    output.finish(output.put(words.str()));
    return 0;
  } catch (const CLI::ParseError& error) {
    throw Failure{kWrongUse, std::string(error.what()) + "; see attn --help."};
  }
  if (!manual.empty()) {
    Output output("-");
    output.finish(output.put(manual));
  } else if (attn.get_subcommands().empty())
    throw Failure{kWrongUse, "No command was given; attn --help lists them."};
  return 0;
}

}  // namespace
}  // namespace cli

int main(int argc, char** argv) {
  cli::startStreams();
  cli::Failure failure{};
  std::string language;
  try {
    return cli::start(argc, argv, language);
  } catch (const cli::Failure& thrown) { failure = thrown; } catch (const std::bad_alloc&) {
    failure = {cli::kBadData, "Out of memory; give smaller tensors, or ask for fewer outputs."};
  } catch (const std::exception& error) {
    failure = {cli::kBadData, std::string("Something failed: ") + error.what() + "."};
  }
  views::Words words(shell::wordsFor(language));
  std::fprintf(stderr, "attn: %s\n", base::printable(words.of(failure.sentence)).c_str());
  return failure.status;
}
