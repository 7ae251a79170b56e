// `attn convert`: writes the tensors of a file in another format.
#include <algorithm>
#include <memory>
#include <sstream>

#include "base/sentence.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "document/text.h"
#include "files/layout/match.h"
#include "files/layout/read_layer.h"

namespace cli {
namespace {

struct ConvertArguments {
  std::string in, out, only, prefix;
  bool isState = false;
};

/// Keeps the tensors that --only names, in its order.
void choose(const std::string& in, const std::string& only, files::StoredFile& file) {
  if (only.empty()) return;
  std::vector<files::Stored> chosen;
  std::istringstream names(only + ",");
  for (std::string name; std::getline(names, name, ',');) {
    const auto found = std::find_if(file.tensors.begin(), file.tensors.end(),
                                    [&](const files::Stored& tensor) { return tensor.name == name; });
    if (found == file.tensors.end()) {
      std::vector<std::string> all;
      for (const files::Stored& tensor : file.tensors) all.push_back(tensor.name);
      throw Failure{kBadData, in + ": " + base::inQuotes(name) + " is not in it; perhaps " +
                                  base::orList(base::nearest(name, all, 3)) +
                                  " was meant; attn info lists all."};
    }
    chosen.push_back(*found);
  }
  file.tensors = std::move(chosen);
  file.notes.clear();
}

/// Writes a state of the playground, which can be opened on the board.
void writeState(const ConvertArguments& arguments, const Input& input) {
  if (formatToWrite("OUT", arguments.out) != files::Format::json)
    throw Failure{kWrongUse, "OUT " + arguments.out + ": a state is JSON; let the name end in .json."};
  const document::State state = stateIn(input, arguments.prefix);
  Output output(arguments.out);
  const auto put = [&](std::string_view piece) { return output.put(piece); };
  output.finish(document::writeText(state, put) && put("\n"));
}

void convert(const ConvertArguments& arguments) {
  Input input("IN", arguments.in);
  if (arguments.isState) return writeState(arguments, input);
  const files::Format format = formatToWrite("OUT", arguments.out);
  files::StoredFile file = tensorsIn(input);
  choose(input.path(), arguments.only, file);
  if (auto ok = files::checkWritable(file, format); !ok) throw failureOf(input.path(), ok.error());
  for (files::Stored& tensor : file.tensors) tensor = valueOf(input.path(), files::plain(std::move(tensor)));
  Output output(arguments.out);
  output.finish(files::writeFile(file, format, [&](std::string_view piece) { return output.put(piece); }));
}

constexpr const char* kHelp =
    R"(Examples:
  attn convert layer.npz layer.safetensors
  attn convert board.json everything.npz          every tensor of a state, inputs and results
  attn convert results.npz weights.csv --only weights
  attn convert layer.npz board.json --state        to be opened on the board
Every tensor keeps its name, its type and the bits of its numbers; only bfloat16, which NumPy does not know, becomes
float32 in .npy and .npz. A table has one tensor of at most three axes, as blocks of rows between empty lines.
Exit status: 0 done, 1 bad data, 2 wrong use.)";

}  // namespace

void addConvert(CLI::App& attn) {
  const auto arguments = std::make_shared<ConvertArguments>();
  CLI::App& command = *attn.add_subcommand("convert", "Write the tensors of a file in another format");
  command
      .add_option("IN", arguments->in, "The file to read, or - for standard input: " + files::formatList())
      ->type_name("")
      ->required();
  command.add_option("OUT", arguments->out, "The file to write, or - for JSON to standard output")
      ->type_name("")
      ->required();
  command.add_option("--only", arguments->only, "The tensors to write, such as q,weights (default: all)")
      ->type_name("a,b,...");
  command.add_flag("--state", arguments->isState, "Write the layer as a state, to be opened on the board");
  command
      .add_option("--prefix", arguments->prefix,
                  "With --state: the prefix of the tensor names, if a file has several layers")
      ->type_name("NAME");
  command.footer(kHelp);
  command.callback([arguments] { convert(*arguments); });
}

}  // namespace cli
