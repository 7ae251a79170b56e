// `attn code`: the layer of a state as a program.
#include "files/export/code.h"

#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"

namespace cli {
namespace {

struct CodeArguments {
  std::string in, out, language = "numpy";
  Which which;
};

void code(const CodeArguments& arguments) {
  const auto language = files::languageNamed(arguments.language);
  if (!language)
    throw Failure{kWrongUse,
                  "--as: \"" + arguments.language + "\" is not a language; use numpy, torch, jax or latex."};
  const Input input("STATE", arguments.in);
  const document::State state = layerOf(input, arguments.which);
  const std::string text = valueOf(input.path(), files::toCode(state, *language));
  Output output(arguments.out);
  output.finish(output.put(text));
}

}  // namespace

void addCode(CLI::App& attn) {
  const auto arguments = std::make_shared<CodeArguments>();
  CLI::App& command = *attn.add_subcommand("code", "Write the layer as a program in Python, or as LaTeX");
  command
      .add_option("STATE", arguments->in,
                  "A state or tensors, or - for standard input: " + files::formatList())
      ->type_name("")
      ->required();
  command.add_option("--as", arguments->language, "The language: numpy (default), torch, jax or latex")
      ->type_name("LANGUAGE");
  command.add_option("--out", arguments->out, "The file to write (default: standard output)")
      ->type_name("OUT");
  addWhich(command, arguments->which);
  command.footer(
      "Examples:\n  attn code board.json --as torch --out layer.py\n  attn code layer.npz | python3 -i "
      "-\nThe program leaves its result in the variable output: [heads, tokens, columns], or the product "
      "with W_O.\nExit status: 0 "
      "done, 1 bad data, 2 wrong use.");
  command.callback([arguments] { code(*arguments); });
}

}  // namespace cli
