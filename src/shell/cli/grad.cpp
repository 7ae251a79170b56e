// `attn grad`: computes gradients of the attention layer in a file.
#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/layer_files.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "files/run/attention_gradient.h"

namespace cli {
namespace {

struct GradArguments {
  LayerFiles files;
  std::string by, target;
};

/// The value; throws an error as wrong use of the command line.
template <class T>
T required(base::Result<T> result) {
  if (!result) throw Failure{kWrongUse, result.error().message()};
  return std::move(*result);
}

files::GradientRequest requestOf(const GradArguments& arguments) {
  files::GradientRequest request;
  request.settings = settingsOf(arguments.files);
  if (!arguments.by.empty()) request.by = required(files::gradientInputsFrom(arguments.by));
  if (!arguments.target.empty()) request.target = required(files::gradientTargetFrom(arguments.target));
  request.freeMemory = freeMemory;
  return request;
}

void grad(GradArguments& arguments) {
  takeFiles(arguments.files);
  arguments.files.ofModel =
      "gradients are those of one layer. Write its q, k and v for some tokens, as by attn run MODEL --set "
      "tokens=3,1,4 --outputs layers.0.q,layers.0.k,layers.0.v --out layer.npz, and name it by --prefix "
      "layers.0.";
  files::GradientRequest request = requestOf(arguments);
  formatToWrite("--out", arguments.files.out);  // a wrong name is reported before the work
  LayerInput input = layerIn(arguments.files);
  Output output(arguments.files.out);
  std::optional<Progress> progress;
  request.progress = showing(progress);
  auto answer = input.json ? files::gradient(std::move(*input.json), request)
                           : files::gradient(std::move(input.file), request);
  progress.reset();
  if (!answer) throw failureOf(arguments.files.in.front(), answer.error());
  writeResults(arguments.files, answer->gradients, output);
  if (!answer->note.empty()) std::fprintf(stderr, "attn: %s\n", answer->note.c_str());
}

constexpr const char* kGradHelp =
    R"(IN is a file, or several, as attn run takes them. The gradients are those of a scalar L, for which the file gives
  d_output      the gradient of L by the output, in the shape that attn run writes
  d_weights     the gradient of L by the weights, alone or besides d_output
or of one cell of any step, named by --target weights[0,3,2]: head, row and column, from 0; of a batch its entry
comes first. Inputs of a layer are q, k, v, or x, x_kv, w_q, w_k, w_v, w_o, b_q …; and w_a, u_a, v_a, sink
and bias, the mask of numbers. Results are named d_q, d_k, d_x ... and have the shapes of the inputs. Where
there is no derivative they are PyTorch's: ReLU has 0 at 0, a hard maximum has 0; masked cells have 0.
Options, in the file or by --set, are those of attn run.
Exit status: 0 done, 1 bad data, 2 wrong use.)";

}  // namespace

void addGrad(CLI::App& attn) {
  const auto arguments = std::make_shared<GradArguments>();
  CLI::App& command = *attn.add_subcommand("grad", "Compute gradients of an attention layer");
  addLayerFiles(command, arguments->files);
  command
      .add_option("--wrt", arguments->by,
                  "The inputs to differentiate by (default: q,k,v, or x and its weights)")
      ->type_name("a,b,...");
  command.add_option("--target", arguments->target, "The cell to differentiate, such as weights[0,3,2]")
      ->type_name("CELL");
  command.footer(kGradHelp);
  command.callback([arguments] { grad(*arguments); });
}

}  // namespace cli
