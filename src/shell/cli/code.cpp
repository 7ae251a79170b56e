// `attn code`: the layer of a state, or a trained model, as a program.
#include "files/export/model_code.h"

#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "files/layout/read_layer.h"

namespace cli {
namespace {

struct CodeArguments {
  std::string in, out, language = "numpy";
  Which which;
};

/// A layer, or the whole of a model that attn train wrote, unless one of its layers is asked for.
std::string programOf(const Input& input, const CodeArguments& arguments, files::Language language) {
  if (input.path() != "-" && !arguments.which.layer && arguments.which.prefix.empty()) {
    const auto file = files::readEverything(input.bytes(), input.format(), input.stem());
    if (file && files::TrainedModel::isIn(*file))
      return valueOf(input.path(), files::toCode(valueOf(input.path(), files::TrainedModel::of(*file)),
                                                 language, input.path()));
  }
  return valueOf(input.path(), files::toCode(layerOf(input, arguments.which), language));
}

void code(const CodeArguments& arguments) {
  const auto language = files::languageNamed(arguments.language);
  if (!language)
    throw Failure{kWrongUse,
                  "--as: \"" + arguments.language + "\" is not a language; use numpy, torch, jax or latex."};
  const Input input("STATE", arguments.in);
  const std::string text = programOf(input, arguments, *language);
  Output output(arguments.out);
  output.finish(output.put(text));
}

}  // namespace

void addCode(CLI::App& attn) {
  const auto arguments = std::make_shared<CodeArguments>();
  CLI::App& command =
      *attn.add_subcommand("code", "Write a layer, or a trained model, as a program in Python, or as LaTeX");
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
      R"(Examples:
  attn code board.json --as torch --out layer.py
  attn code layer.npz | python3 -i -
  attn code model.safetensors --as torch  # what attn train wrote
The program leaves its result in the variable output: [heads, tokens, columns], or the product with W_O; that of a model
reads its numbers from the file, and leaves logits, and the tensors of all layers in found.
Exit status: 0 done, 1 bad data, 2 wrong use.)");
  command.callback([arguments] { code(*arguments); });
}

}  // namespace cli
