// `attn grad`: computes gradients of the attention layer in a file.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "files/attention_gradient.h"
#include "files/attention_options.h"

namespace cli {
namespace {

struct GradArguments {
  std::string in, out, by, target;
  std::vector<std::string> settings;
};

/// The value; throws an error as wrong use of the command line.
template <class T>
T required(base::Result<T> result) {
  if (!result) throw Failure{kWrongUse, result.error().message()};
  return std::move(*result);
}

void checkExtension(const std::string& what, const std::string& path) {
  if (std::filesystem::path(path).extension() == ".json") return;
  throw Failure{kWrongUse, what + " " + path + ": the name does not end in .json; use a .json file."};
}

files::GradientRequest requestOf(GradArguments& arguments) {
  files::GradientRequest request;
  // --set takes all words that follow it, so IN may be among them.
  std::vector<std::string>& words = arguments.settings;
  const auto isName = [](const std::string& word) { return word.find('=') == std::string::npos; };
  if (arguments.in.empty()) {
    const auto found = std::find_if(words.rbegin(), words.rend(), isName);
    if (found != words.rend()) arguments.in = *found, words.erase(std::next(found).base());
  }
  if (arguments.in.empty()) throw Failure{kWrongUse, "IN: it is missing; name a .json file."};
  checkExtension("IN", arguments.in);
  if (!arguments.out.empty() && std::filesystem::path(arguments.out).parent_path() != "/dev")
    checkExtension("--out", arguments.out);
  for (const std::string& word : words) {
    auto setting = files::settingFrom(word);
    if (!setting)
      throw Failure{kWrongUse,
                    "--set " + word + ": it is not of the form key=value; use, for example, causal=true."};
    request.settings.push_back(std::move(*setting));
  }
  if (!arguments.by.empty()) request.by = required(files::gradientInputsFrom(arguments.by));
  if (!arguments.target.empty()) request.target = required(files::gradientTargetFrom(arguments.target));
  request.freeMemory = freeMemory;
  return request;
}

void grad(GradArguments& arguments) {
  files::GradientRequest request = requestOf(arguments);
  std::string text = readText(arguments.in);
  Output output(arguments.out);
  std::optional<Progress> progress;
  request.progress = showing(progress);
  auto answer = files::gradient(std::move(text), request);
  progress.reset();
  if (!answer) throw failureOf(arguments.in, answer.error());
  output.finish(
      files::writeTensors(answer->gradients, [&](std::string_view piece) { return output.put(piece); }));
  if (!answer->note.empty()) std::fprintf(stderr, "attn: %s\n", answer->note.c_str());
}

constexpr const char* kGradHelp =
    "IN is a file as attn run takes it. The gradients are those of a scalar L, for which the file gives\n"
    "  d_output      the gradient of L by the output, in the shape that attn run writes\n"
    "  d_weights     the gradient of L by the weights, alone or besides d_output\n"
    "or of one cell of any step, named by --target weights[0,3,2]: head, row and column, from 0; of a batch "
    "its entry\n"
    "comes first. Inputs of a layer are q, k, v, or x, x_kv, w_q, w_k, w_v, w_o, b_q …; and w_a, u_a, v_a, "
    "sink\n"
    "and bias, the mask of numbers. Results are named d_q, d_k, d_x ... and have the shapes of the inputs. "
    "Where\n"
    "there is no derivative they are PyTorch's: ReLU has 0 at 0, a hard maximum has 0; masked cells have 0.\n"
    "Options, in the file or by --set, are those of attn run.\n"
    "Exit status: 0 done, 1 bad data, 2 wrong use.";

}  // namespace

void addGrad(CLI::App& attn) {
  const auto arguments = std::make_shared<GradArguments>();
  CLI::App& command = *attn.add_subcommand("grad", "Compute gradients of an attention layer");
  command.add_option("IN", arguments->in, "The file to read, .json")->type_name("");
  command.add_option("--out", arguments->out, "The file to write, .json (default: standard output)")
      ->type_name("OUT");
  command
      .add_option("--wrt", arguments->by,
                  "The inputs to differentiate by (default: q,k,v, or x and its weights)")
      ->type_name("a,b,...");
  command.add_option("--target", arguments->target, "The cell to differentiate, such as weights[0,3,2]")
      ->type_name("CELL");
  command.add_option("--set", arguments->settings, "Options that replace those of the file")
      ->type_name("key=value ...")
      ->expected(1, -1);
  command.footer(kGradHelp);
  command.callback([arguments] { grad(*arguments); });
}

}  // namespace cli
