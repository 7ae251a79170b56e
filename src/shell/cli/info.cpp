// `attn info`: lists the tensors of a file, or the kernels of this machine.
#include <memory>

#include "attention/kernels/kernels.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "files/layout/read_layer.h"

namespace cli {
namespace {

void info(const std::string& path) {
  std::string text;
  if (path.empty()) {
    text = "attn " AP_VERSION "\nkernels: " + kernelList() + " (" +
           std::string(attention::kernels::name(attention::kernels::best())) + " is used)\n";
  } else {
    const Input input("FILE", path);
    const files::StoredFile file = tensorsIn(input);
    text = files::listing(file);
  }
  Output output({});
  output.finish(output.put(text));
}

}  // namespace

void addInfo(CLI::App& attn) {
  const auto path = std::make_shared<std::string>();
  CLI::App& command = *attn.add_subcommand("info", "List the tensors of a file: names, types, shapes");
  command
      .add_option("FILE", *path,
                  "The file to read, or - for standard input: " + files::formatList() +
                      "; without it, print the version and the kernels that can run here")
      ->type_name("");
  command.footer(
      R"(Examples:
  attn info model.safetensors
  attn info board.json          every tensor of a state, inputs and results
Exit status: 0 done, 1 bad data, 2 wrong use.)");
  command.callback([path] { info(*path); });
}

}  // namespace cli
