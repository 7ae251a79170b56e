// `attn kernels`: lists the kernels that can run on this machine.
#include "attention/kernels/kernels.h"

#include "cli/command.h"
#include "cli/files.h"

namespace cli {
namespace {

namespace kernels = attention::kernels;

void listKernels() {
  Output output({});
  bool isWritten = true;
  for (const kernels::Kernel kernel : kernels::available())
    isWritten = isWritten && output.put(std::string(kernels::name(kernel)) +
                                        (kernel == kernels::best() ? " (default)\n" : "\n"));
  output.finish(isWritten);
}

}  // namespace

std::string kernelList() {
  std::string out;
  for (const kernels::Kernel kernel : kernels::available())
    out += (out.empty() ? "" : ", ") + std::string(kernels::name(kernel));
  return out;
}

void addKernels(CLI::App& attn) {
  attn.add_subcommand("kernels", "List the kernels that can run here, slowest first")->callback(listKernels);
}

}  // namespace cli
