// `attn run`: computes the tensors of the attention layer in a file.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>

#include "base/sentence.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "files/attention_file.h"
#include "files/attention_options.h"
#include "files/match.h"
#include "files/read_layer.h"
#include "files/trained_model.h"

namespace cli {
namespace {

namespace kernels = attention::kernels;

struct RunArguments {
  std::vector<std::string> in, settings;
  std::string out, outputs, kernel, prefix, text;
};

files::OutputId outputNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const files::OutputId id : files::outputIds()) {
    if (attention::name(id) == name) return id;
    names.emplace_back(attention::name(id));
  }
  throw Failure{kWrongUse, "--outputs: \"" + name + "\" is not an output; perhaps " +
                               base::orList(base::nearest(name, names, 3)) +
                               " was meant; attn run --help lists all."};
}

/// --set takes all words that follow it, so IN may be among them.
void takeFiles(RunArguments& arguments) {
  std::vector<std::string>& words = arguments.settings;
  const auto isFile = [](const std::string& word) {
    return word.find('=') == std::string::npos && (word == "-" || files::formatOf(word));
  };
  std::copy_if(words.begin(), words.end(), std::back_inserter(arguments.in), isFile);
  std::erase_if(words, isFile);
  if (arguments.in.empty())
    throw Failure{kWrongUse, "IN: it is missing; name a file that ends in " + files::formatList() +
                                 ", or - for standard input."};
}

std::vector<std::string> namesIn(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream words(list + ",");
  for (std::string name; std::getline(words, name, ',');)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

files::RunRequest requestOf(const RunArguments& arguments) {
  files::RunRequest request;
  const std::vector<std::string>& words = arguments.settings;
  for (const std::string& word : words) {
    auto setting = files::settingFrom(word);
    if (!setting)
      throw Failure{kWrongUse,
                    "--set " + word + ": it is not of the form key=value; use, for example, causal=true."};
    request.settings.push_back(std::move(*setting));
  }
  if (!arguments.outputs.empty()) {
    request.outputs.clear();
    for (const std::string& name : namesIn(arguments.outputs)) request.outputs.push_back(outputNamed(name));
  }
  if (!arguments.kernel.empty()) {
    request.kernel = kernels::kernelNamed(arguments.kernel);
    const auto all = kernels::available();
    if (!request.kernel || std::find(all.begin(), all.end(), *request.kernel) == all.end())
      throw Failure{kWrongUse, "--kernel: \"" + arguments.kernel + "\" cannot run here; use one of " +
                                   kernelList() + "."};
  }
  request.freeMemory = freeMemory;
  return request;
}

bool hasNoNames(files::Format format) {
  return format == files::Format::npy || format == files::Format::csv || format == files::Format::tsv;
}

/// The tensors of one file, or of several with one tensor each, which is named after its file.
files::TensorsFile tensorsOf(const std::vector<std::unique_ptr<Input>>& inputs, const std::string& prefix) {
  files::StoredFile all;
  for (const auto& input : inputs) {
    files::StoredFile file =
        valueOf(input->path(), files::readStored(input->bytes(), input->format(), input->stem()));
    input->sayHeading(file.heading);
    if (prefix.empty() && files::TrainedModel::isIn(file))
      throw Failure{kWrongUse, input->path() +
                                   ": it is a trained model; give it tokens, as in --set tokens=3,1,4, "
                                   "or words, as in --text \"I saw a saw\"."};
    const bool isNamed =
        !hasNoNames(input->format()) || inputs.size() > 1 || files::isLayerName(input->stem());
    if (!isNamed) return valueOf(input->path(), files::tensorsOfOne(std::move(file)));
    for (files::Stored& tensor : file.tensors) {
      const bool isLabels = inputs.size() > 1 && tensor.name == "labels" && input->stem() != "labels";
      const std::string name =
          isLabels && files::isLayerName("key_labels") && (input->stem() == "k" || input->stem() == "v")
              ? "key_labels"
              : tensor.name;
      // The labels of the first file are those of the queries. Looked for only then: a file may have 100,000
      // tensors.
      const auto isThere = [&] {
        return std::any_of(all.tensors.begin(), all.tensors.end(),
                           [&](const files::Stored& other) { return other.name == name; });
      };
      if (isLabels && (name == "key_labels" || isThere())) continue;
      all.tensors.push_back(std::move(tensor));
    }
    all.notes = std::move(file.notes);
  }
  return valueOf(inputs.front()->path(), files::tensorsOf(std::move(all), prefix));
}

/// Tokens for a model as attn train writes it; nothing if none are given.
std::optional<files::TrainedModel::Input> tokensIn(const RunArguments& arguments) {
  files::TrainedModel::Input input{"", "", arguments.text};
  bool isGiven = !arguments.text.empty();
  for (const std::string& word : arguments.settings)
    for (auto& [name, to] : {std::pair{"tokens=", &input.tokens}, {"source=", &input.source}})
      if (word.starts_with(name)) *to = word.substr(std::strlen(name)), isGiven = true;
  if (!isGiven) return std::nullopt;
  return input;
}

/// What a model says of tokens; nothing if they are not for one, as a state has an option of that name.
std::optional<std::vector<files::NamedArray>> ranModel(const RunArguments& arguments) {
  const auto tokens = tokensIn(arguments);
  if (!tokens || arguments.in.size() != 1 || arguments.in.front() == "-") return std::nullopt;
  const Input input("IN", arguments.in.front());
  const auto file = files::readEverything(input.bytes(), input.format(), input.stem());
  if (arguments.text.empty() && (!file || !files::TrainedModel::isIn(*file))) return std::nullopt;
  if (!file) throw failureOf(input.path(), file.error());
  for (const std::string& word : arguments.settings)
    if (!word.starts_with("tokens=") && !word.starts_with("source="))
      throw Failure{kWrongUse, "--set " + word +
                                   ": a trained model has its own options; only tokens and source "
                                   "can be set."};
  files::TrainedModel model = valueOf(input.path(), files::TrainedModel::of(*file));
  return valueOf(input.path(),
                 model.run(*tokens, namesIn(arguments.outputs.empty() ? "logits" : arguments.outputs)));
}

std::vector<files::NamedArray> ranLayer(const RunArguments& arguments) {
  files::RunRequest request = requestOf(arguments);
  std::vector<std::unique_ptr<Input>> inputs;
  for (const std::string& path : arguments.in)
    if (arguments.in.size() > 1 && !hasNoNames(files::formatOf(path).value_or(files::Format::json)))
      throw Failure{kWrongUse, "IN " + path +
                                   ": of several files each is expected to hold one tensor, as .npy, .csv or "
                                   ".tsv; give one file."};
  for (const std::string& path : arguments.in) inputs.push_back(std::make_unique<Input>("IN", path));
  const std::string in = inputs.front()->path();
  std::optional<Progress> progress;
  request.progress = showing(progress);
  files::Result<std::vector<files::NamedArray>> results = [&] {
    if (inputs.size() == 1 && inputs.front()->format() == files::Format::json)
      return files::run(inputs.front()->takeText(), request);
    files::TensorsFile file = tensorsOf(inputs, arguments.prefix);
    inputs.clear();  // frees the memory
    return files::run(std::move(file), request);
  }();
  progress.reset();
  if (!results) throw failureOf(in, results.error());
  return std::move(*results);
}

void run(RunArguments& arguments) {
  takeFiles(arguments);
  const files::Format format = formatToWrite("--out", arguments.out);
  const std::size_t count = namesIn(arguments.outputs).size();
  if (!arguments.outputs.empty() && count > 1 && hasNoNames(format))
    throw Failure{kWrongUse, "--out " + arguments.out + ": it holds one tensor, and --outputs names " +
                                 std::to_string(count) + "; give one, or use .npz."};
  Output output(arguments.out);  // before the work, so that a wrong name is reported immediately
  auto model = ranModel(arguments);
  const std::vector<files::NamedArray> results = model ? std::move(*model) : ranLayer(arguments);
  const auto put = [&](std::string_view piece) { return output.put(piece); };
  if (format == files::Format::json) return output.finish(files::writeTensors(results, put));
  files::StoredFile file;
  for (const files::NamedArray& array : results)
    file.tensors.push_back(files::storedOf(array.name, array.shape, array.values));
  if (auto ok = files::checkWritable(file, format); !ok) throw failureOf(arguments.out, ok.error());
  output.finish(files::writeStored(file, format, put));
}

constexpr const char* kRunHelp =
    "Examples:\n"
    "  attn run layer.npz --out result.npz --outputs output,weights\n"
    "  attn run q.npy k.npy v.npy --set causal=true --out output.npy\n"
    "  attn run model.safetensors --prefix layers.3 --out result.safetensors\n"
    "  numpy.savez(\"layer.npz\", q=q, k=k, v=v, mask=mask, causal=True, tokens=[\"I\", \"saw\"])  writes "
    "such a file\n"
    "  attn run model.safetensors --set tokens=3,1,4 --outputs logits,layers.0.weights    of what attn train "
    "wrote\n"
    "IN is a state of the playground, or tensors by their names; .npy, .csv and .tsv hold one, named as its "
    "file. One file alone\n"
    "holds q, k and v, stacked on a first axis of 3, or rows that attend to each other. As JSON:\n"
    "  {\"q\": {\"shape\": [2, 3, 4], \"data\": [...]}, \"k\": ..., \"v\": ..., \"options\": {\"causal\": "
    "true}}\n"
    "Shapes are [tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, columns]; packed,\n"
    "[batch, tokens, heads * columns]. A \"dtype\" of \"float16\" rounds the numbers to 16 bits first.\n"
    "Besides q, k and v there may be\n"
    "  mask          boolean (true: takes part) or numbers to be added, with \"-inf\" to mask; broadcast "
    "from the\n"
    "                right to [batch, heads, queries, keys]; keys beyond its last column are masked\n"
    "  past_k past_v put before k and v; positions then count from their length\n"
    "  key_lengths   one per batch entry: keys beyond are padding; without past_k the last query is at the "
    "last key\n"
    "  w_a u_a v_a   of the scores general and additive: [heads, columns, columns] and, for v_a, [heads, "
    "columns]\n"
    "  sink          one number per head: a score that takes part in the sum of each row of softmax alone\n"
    "and, each [rows, columns], drawn from block_seed and segment_seed if not given,\n"
    "  gamma_1 delta_1 w_1 b_1 w_2 b_2 gamma_2 delta_2           of the block of the Transformer\n"
    "  token_w token_b token_query segment_w segment_b segment_query  of hierarchical attention\n"
    "Options, in the file or by --set:\n";
constexpr const char* kOutputsHelp =
    "Outputs, as the operator Attention of ONNX (opsets 23 to 25) numbers its scores:\n"
    "  output        weights times values (the default)\n"
    "  scores        after the scale (qk_matmul_output_mode 0)\n"
    "  softcapped    after the soft cap (1)\n"
    "  masked        after the mask (2)\n"
    "  weights       after the softmax (3)\n"
    "  present_k present_v  past and new keys or values together\n"
    "and around the layer (if q, k and v are given, the concatenated heads of q serve as tokens)\n"
    "  block:STAGE   of the block of the Transformer; STAGE is attention, dropout_1, residual_1, norm_1, "
    "hidden_raw,\n"
    "                hidden, feed_forward, dropout_2, residual_2 or norm_2\n"
    "  token_weights segment_weights  of hierarchical attention over the output\n"
    "  gamma_1 w_1 token_query ...    what these were computed with\n"
    "A query that sees no key has weights and output 0.\n"
    "Of a model that attn train wrote, run on --set tokens=3,1,4 (source=… for translate) or on --text:\n"
    "  logits        [tokens, classes] (the default)\n"
    "  tokens probabilities weights    the ids; the softmax of the logits; [layers, heads, tokens, tokens]\n"
    "  layers.0.q layers.0.scores ...  every tensor of a layer (layers.0.cross and encoder.layers.0 for "
    "translate)\n";

}  // namespace

void addRun(CLI::App& attn) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App& command = *attn.add_subcommand("run", "Compute the tensors of an attention layer");
  command
      .add_option("IN", arguments->in, "The file to read, or - for standard input: " + files::formatList())
      ->type_name("");
  command
      .add_option("--out", arguments->out,
                  "The file to write, of one of these formats (default, or -: JSON to standard output)")
      ->type_name("OUT");
  command
      .add_option("--prefix", arguments->prefix,
                  "The prefix of the tensor names, if a file has several layers")
      ->type_name("NAME");
  command.add_option("--set", arguments->settings, "Options that replace those of the file")
      ->type_name("key=value ...")
      ->expected(1, -1);
  command.add_option("--outputs", arguments->outputs, "What to write, such as output,weights")
      ->type_name("a,b,...");
  command.add_option("--text", arguments->text, "The words that a model of attn train reads")
      ->type_name("TEXT");
  command.add_option("--kernel", arguments->kernel, "The kernel to compute with: " + kernelList())
      ->type_name("NAME");
  command.footer(kRunHelp + files::optionsHelp() + kOutputsHelp +
                 "Exit status: 0 done, 1 bad data, 2 wrong use.");
  command.callback([arguments] { run(*arguments); });
}

}  // namespace cli
