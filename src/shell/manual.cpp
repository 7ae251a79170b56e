#include "shell/manual.h"

#include "notices.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace shell {
namespace {

using Words = std::vector<std::string>;

/// Possible values of options whose checks do not list them.
constexpr std::pair<std::string_view, std::string_view> kValues[] = {
    {"--as", "numpy torch jax latex"},
    {"--colors", "own cividis grey"},
    {"--completion", "bash zsh fish"},
    {"--style", "print light dark"},
    {"--task", "tags previous induction reverse most_frequent sort translate"},
    {"--what", "weights heads arcs board"},
};
/// Options whose value is a file.
constexpr std::string_view kFiles[] = {"--out", "--screenshot", "--state", "--lesson"};

Words split(std::string_view text, char at) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string joined(const Words& words, std::string_view between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : std::string(between)) + word;
  return all;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// One option or positional argument of a command, as needed for printing.
struct Option {
  Words names;  ///< "-o", "--out"; empty for a positional argument such as FILE
  std::string place, value, about;
  Words choices;
  bool isFile = false, isRequired = false, isMany = false;
};

Words choicesOf(const CLI::Option& option, const std::string& name) {
  const std::string type = option.get_type_name();  // NAME:{light,dark,auto}
  if (const std::size_t open = type.find('{'), close = type.find('}');
      open < close && close != std::string::npos)
    return split(std::string_view(type).substr(open + 1, close - open - 1), ',');
  for (const auto& [known, values] : kValues)
    if (name == known) return split(values, ' ');
  return {};
}

std::vector<Option> optionsOf(const CLI::App& command) {
  std::vector<Option> all;
  for (const CLI::Option* given : command.get_options()) {
    Option one;
    for (const std::string& name : given->get_snames()) one.names.push_back("-" + name);
    for (const std::string& name : given->get_lnames()) one.names.push_back("--" + name);
    const std::string last = one.names.empty() ? "" : one.names.back();
    const bool takesValue = given->get_items_expected_max() > 0;
    std::string type = given->get_type_name();
    type = type.substr(0, type.find_first_of(":"));
    const bool isGiven = type.find_first_not_of(' ') != std::string::npos;
    one.value = !takesValue ? "" : isGiven ? type : "VALUE";
    if (given->get_positional()) one.place = given->get_name(true);
    one.about = given->get_description();
    one.choices = choicesOf(*given, last);
    one.isFile = std::find(std::begin(kFiles), std::end(kFiles), last) != std::end(kFiles);
    one.isRequired = given->get_required(), one.isMany = given->get_items_expected_max() > 1;
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<const CLI::App*> commandsOf(const CLI::App& program) {
  return program.get_subcommands([](const CLI::App*) { return true; });
}

// ---- the manual page

/// Escapes text for roff: a line starting with a dot or an apostrophe must not be a command, and hyphens must
/// be typed ones.
std::string roff(const std::string& text) {
  std::string out;
  for (const std::string& line :
       split(replaced(replaced(replaced(text, "\\", "\\e"), "-", "\\-"), "\n", " \n"), '\n')) {
    std::string words = line;
    if (!words.empty() && words.back() == ' ') words.pop_back();
    if (words.starts_with('.') || words.starts_with('\'')) words.insert(0, "\\&");
    out += words + "\n";
  }
  return out;
}

std::string manOptions(const CLI::App& command) {
  std::string out;
  for (const Option& one : optionsOf(command)) {
    const std::string name = one.names.empty()
                                 ? "\\fI" + one.place + "\\fR"
                                 : "\\fB" + replaced(joined(one.names, "\\fR, \\fB"), "-", "\\-") + "\\fR";
    out +=
        ".TP\n" + name +
        (one.names.empty() || one.value.empty() ? "" : " \\fI" + replaced(one.value, "-", "\\-") + "\\fR") +
        "\n" + roff(one.about);
  }
  return out;
}

std::string synopsis(const CLI::App& command, const std::string& name) {
  std::string out = ".B " + replaced(name, "-", "\\-") + "\n[\\fIoptions\\fR]";
  for (const Option& one : optionsOf(command))
    if (!one.place.empty())
      out += (one.isRequired ? " \\fI" : " [\\fI") + one.place + (one.isRequired ? "\\fR" : "\\fR]") +
             (one.isMany ? " ..." : "");
  return out + "\n";
}

std::string capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
    return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
  });
  return text;
}

/// A footer, with its line breaks.
std::string plain(const CLI::App& command) {
  const std::string text = command.get_footer();
  return text.empty() ? "" : ".PP\n.nf\n" + roff(text) + ".fi\n";
}

std::string manPage(const CLI::App& program, std::string_view version) {
  const std::string name = program.get_name();
  std::string about = program.get_description();
  about.pop_back();  // removes the full stop
  std::string out = ".\\\" Printed by " + name + " --man.\n.TH " + replaced(capitals(name), "-", "\\-") +
                    " 1 \"\" \"Attention Playground " + std::string(version) + "\" \"User Commands\"\n";
  out += ".SH NAME\n" + replaced(name, "-", "\\-") + " \\- " + roff(about);
  out += ".SH SYNOPSIS\n";
  const auto commands = commandsOf(program);
  if (commands.empty()) out += synopsis(program, name);
  for (const CLI::App* command : commands)
    out +=
        (command == commands.front() ? "" : ".br\n") + synopsis(*command, name + " " + command->get_name());
  out += ".SH OPTIONS\n" + manOptions(program);
  if (!commands.empty()) out += ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    out += ".SS " + name + " " + command->get_name() + "\n" + roff(command->get_description() + ".") +
           manOptions(*command) + plain(*command);
  out += ".SH EXIT STATUS\n" + roff(program.get_footer());
  return out + ".SH SEE ALSO\n.BR " + (name == "attn" ? "attention\\-playground" : "attn") + " (1)\n";
}

// ---- completions

std::string functionOf(const CLI::App& program) { return "_" + replaced(program.get_name(), "-", "_"); }

Words namesOf(const CLI::App& command) {
  Words all;
  for (const Option& one : optionsOf(command))
    std::copy_if(one.names.begin(), one.names.end(), std::back_inserter(all),
                 [](const std::string& name) { return name.starts_with("--"); });
  return all;
}

/// The possible values after an option.
std::string bashValues(const CLI::App& command, const std::string& name) {
  std::string out;
  for (const Option& one : optionsOf(command)) {
    if (one.names.empty() || one.value.empty()) continue;
    Words patterns;
    for (const std::string& spelt : one.names) patterns.push_back("'" + name + " " + spelt + "'");
    out += "    " + joined(patterns, " | ") + ") " +
           (one.isFile ? "_files"
            : one.choices.empty()
                ? ":"
                : "COMPREPLY=($(compgen -W '" + joined(one.choices, " ") + "' -- \"$word\"))") +
           "; return ;;\n";
  }
  return out;
}

std::string bash(const CLI::App& program) {
  const std::string function = functionOf(program);
  const auto commands = commandsOf(program);
  Words names, first = namesOf(program);
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  std::string values = bashValues(program, ""), words;
  for (const CLI::App* command : commands) {
    values += bashValues(*command, command->get_name());
    words += "    " + command->get_name() + ") words='" + joined(namesOf(*command), " ") + "' ;;\n";
  }
  first.insert(first.begin(), names.begin(), names.end());
  const std::string files = function + "_files";
  return "# Completion of " + program.get_name() + " for bash, printed by " + program.get_name() +
         " --completion bash.\n" + files +
         "() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$word\"); }\n" +
         function +
         "() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words i\n"
         "  COMPREPLY=()\n" +
         (names.empty() ? ""
                        : "  for ((i = 1; i < COMP_CWORD; i++)); do\n    case ${COMP_WORDS[i]} in " +
                              joined(names, "|") + ") command=${COMP_WORDS[i]}; break ;; esac\n  done\n") +
         "  case \"$command $before\" in\n" + replaced(values, ") _files;", ") " + files + ";") +
         "  esac\n  case $command in\n    '') words='" + joined(first, " ") + "' ;;\n" + words +
         "  esac\n  if [[ $word == -* " + (names.empty() ? "" : "|| -z $command ") +
         "]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$word\")); else " + files +
         "; fi\n}\ncomplete -F " + function + " " + program.get_name() + "\n";
}

/// A word in single quotes, for any of the shells.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }
std::string firstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string zshArguments(const CLI::App& command) {
  std::string out = "_arguments";
  bool hasPlace = false;
  for (const Option& one : optionsOf(command)) {
    std::string about = replaced(replaced(replaced(firstLine(one.about), "[", "("), "]", ")"), ":", ";");
    const std::string action = one.isFile            ? ":_files"
                               : one.choices.empty() ? ": "
                                                     : ":(" + joined(one.choices, " ") + ")";
    for (const std::string& name : one.names)
      out += " \\\n      " + quoted(name + "[" + about + "]" +
                                    (one.value.empty() ? "" : ":" + replaced(one.value, ":", ";") + action));
    hasPlace = hasPlace || !one.place.empty();
  }
  return out + (hasPlace ? " \\\n      '*:file:_files'" : "");
}

/// zsh reads the file as the body of the function where it lies in a folder of fpath, and as it stands where
/// it is sourced.
std::string zsh(const CLI::App& program) {
  const std::string function = functionOf(program), name = program.get_name();
  const std::string end = "}\nif [[ $zsh_eval_context == *func ]]; then " + function +
                          " \"$@\"; else compdef " + function + " " + name + "; fi\n";
  const auto commands = commandsOf(program);
  std::string out = "#compdef " + name + "\n# Completion of " + name + " for zsh, printed by " + name +
                    " --completion zsh.\n" + function + "() {\n";
  if (commands.empty()) return out + "  " + zshArguments(program) + "\n" + end;
  out += "  local line state\n  local -a commands\n  " +
         replaced(zshArguments(program), "_arguments", "_arguments -C") +
         " \\\n      '1: :->command' '*:: :->rest'\n  case $state in\n  command)\n    commands=(";
  for (const CLI::App* command : commands)
    out += "\n      " + quoted(command->get_name() + ":" + replaced(command->get_description(), ":", ";"));
  out += ")\n    _describe command commands ;;\n  rest)\n    case $line[1] in\n";
  for (const CLI::App* command : commands)
    out += "    " + command->get_name() + ") " + zshArguments(*command) + " ;;\n";
  return out + "    esac ;;\n  esac\n" + end;
}

std::string fish(const CLI::App& program) {
  const std::string name = program.get_name();
  const auto commands = commandsOf(program);
  std::string out = "# Completion of " + name + " for fish, printed by " + name + " --completion fish.\n";
  const auto options = [&](const CLI::App& command, const std::string& when) {
    for (const Option& one : optionsOf(command)) {
      if (one.names.empty()) continue;
      out += "complete -c " + name + when;
      for (const std::string& spelt : one.names)
        out += spelt.starts_with("--") ? " -l " + spelt.substr(2) : " -s " + spelt.substr(1);
      if (!one.value.empty())
        out += one.isFile ? " -rF" : one.choices.empty() ? " -x" : " -xa " + quoted(joined(one.choices, " "));
      out += " -d " + replaced(quoted(firstLine(one.about)), "'\\''", "\\'") + "\n";
    }
  };
  options(program, commands.empty() ? "" : " -n __fish_use_subcommand");
  for (const CLI::App* command : commands) {
    out += "complete -c " + name + " -n __fish_use_subcommand -fa " + command->get_name() + " -d " +
           quoted(command->get_description()) + "\n";
    options(*command, " -n '__fish_seen_subcommand_from " + command->get_name() + "'");
  }
  return out;
}

}  // namespace

void addManual(CLI::App& program) {
  program.add_flag("--man", "Print the manual page, for man -l -");
  program.add_option("--completion", "Print the completion script for bash, zsh or fish")->type_name("SHELL");
  program.add_flag("--licenses", "Print the licences of the software by others in this program");
}

std::string manual(const CLI::App& program, std::string_view version) {
  if (program.count("--man") > 0) return manPage(program, version);
  if (program.count("--licenses") > 0) return std::string(notices::files[0].text);
  if (program.count("--completion") == 0) return "";
  const std::string asked = program["--completion"]->as<std::string>();
  if (asked == "bash") return bash(program);
  if (asked == "zsh") return zsh(program);
  if (asked == "fish") return fish(program);
  throw CLI::ValidationError("--completion", asked + " is not known; use bash, zsh or fish");
}

}  // namespace shell
