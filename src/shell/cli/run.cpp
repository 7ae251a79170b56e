// `attn run`: computes the tensors of the attention layer in a file.
#include <algorithm>
#include <memory>
#include <optional>

#include "base/sentence.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "cli/files.h"
#include "cli/input.h"
#include "cli/layer_files.h"
#include "cli/memory.h"
#include "cli/progress.h"
#include "files/layout/attention_options.h"
#include "files/layout/read_layer.h"
#include "files/layout/trained_model.h"
#include "files/run/attention_file.h"

namespace cli {
namespace {

namespace kernels = attention::kernels;

struct RunArguments {
  LayerFiles files;
  std::string outputs, kernel, text;
  int top = 0;
};

/// What --outputs names: an output, and which part of it.
struct Named {
  std::string name;
  files::Excerpt excerpt;
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

/// One of what stands between commas, such as "weights" or "weights[3, :]".
Named namedBy(std::string_view word) {
  const std::size_t bracket = word.find('[');
  Named one{std::string(word.substr(0, bracket)), {}};
  if (bracket == std::string_view::npos) return one;
  if (!word.ends_with(']') || word.find(']') + 1 != word.size())
    throw Failure{kWrongUse, "--outputs: \"" + std::string(word) +
                                 "\" has no closing bracket at its end; use, for example, "
                                 "weights[3, 1000:1100, :]."};
  const auto excerpt =
      files::excerptFrom(word.substr(bracket + 1, word.size() - bracket - 2), "--outputs " + one.name);
  if (!excerpt) throw Failure{kWrongUse, excerpt.error().message()};
  one.excerpt = *excerpt;
  return one;
}

/// The outputs of a list, each once.
std::vector<Named> namedIn(std::string_view list) {
  std::vector<Named> all;
  int depth = 0;
  for (std::size_t at = 0, begin = 0; at <= list.size(); ++at) {
    const char c = at < list.size() ? list[at] : ',';
    depth += (c == '[') - (c == ']');
    if (c != ',' || (depth > 0 && at < list.size())) continue;
    Named one = namedBy(list.substr(begin, at - begin));
    begin = at + 1;
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Named& o) { return o.name == one.name; });
    if (same == all.end()) all.push_back(std::move(one));
    else if (!same->excerpt.axes.empty() || !one.excerpt.axes.empty())
      throw Failure{kWrongUse,
                    "--outputs: \"" + one.name +
                        "\" is named twice; a result has one part of it, so run attn once for each."};
  }
  return all;
}

files::RunRequest requestOf(const RunArguments& arguments) {
  files::RunRequest request;
  request.settings = settingsOf(arguments.files);
  if (!arguments.outputs.empty()) {
    request.outputs.clear();
    for (const Named& one : namedIn(arguments.outputs))
      request.outputs.push_back(outputNamed(one.name)), request.excerpts.push_back(one.excerpt);
  }
  request.top = arguments.top;
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

/// What --set may give to a model.
constexpr std::string_view kOfModels[] = {"tokens=", "source=", "targets=", "off="};

/// Tokens for a model as attn train writes it; nothing if none are given.
std::optional<files::TrainedModel::Input> tokensIn(const RunArguments& arguments) {
  files::TrainedModel::Input input;
  input.text = arguments.text;
  for (const std::string& word : arguments.files.settings)
    for (auto& [name, to] : {std::pair{kOfModels[0], &input.tokens},
                             {kOfModels[1], &input.source},
                             {kOfModels[2], &input.targets},
                             {kOfModels[3], &input.off}})
      if (word.starts_with(name)) *to = word.substr(name.size());
  if (input.text.empty() && input.tokens.empty() && input.source.empty()) return std::nullopt;
  return input;
}

/// Is it an output that models alone have? Then a file without one is of another architecture.
bool isOfModels(const Named& output) {
  constexpr std::string_view kAlone[] = {"logits", "probabilities", "loss", "effect"};
  return std::ranges::find(kAlone, output.name) != std::end(kAlone);
}

/// What a model says of tokens; nothing if they are not for one, as a state has an option of that name.
std::optional<std::vector<files::NamedArray>> ranModel(const RunArguments& arguments) {
  const auto tokens = tokensIn(arguments);
  const std::vector<Named> named = namedIn(arguments.outputs.empty() ? "logits" : arguments.outputs);
  const auto alone = std::ranges::find_if(named, isOfModels);
  const bool isForModel = alone != named.end() && !arguments.outputs.empty();
  if (!tokens && isForModel)
    throw Failure{kWrongUse, "--outputs " + alone->name +
                                 ": only a trained model has it; give it tokens, as in --set tokens=3,1,4, "
                                 "or words, as in --text \"I saw a saw\"."};
  if (!tokens || arguments.files.in.size() != 1 || arguments.files.in.front() == "-") return std::nullopt;
  const Input input("IN", arguments.files.in.front());
  const auto file = files::readEverything(input.bytes(), input.format(), input.stem());
  if (arguments.text.empty() && (!file || !(isForModel || files::TrainedModel::isIn(*file))))
    return std::nullopt;
  if (!file) throw failureOf(input.path(), file.error());
  for (const std::string& word : arguments.files.settings)
    if (std::ranges::none_of(kOfModels, [&](std::string_view name) { return word.starts_with(name); }))
      throw Failure{kWrongUse, "--set " + word +
                                   ": a trained model has its own options; only tokens, source, targets and "
                                   "off can be set."};
  files::TrainedModel model = valueOf(input.path(), files::TrainedModel::of(*file));
  if (arguments.top > 0)
    throw Failure{kWrongUse, "--top: of a trained model the weights are written whole; leave it out."};
  std::vector<std::string> names;
  for (const Named& one : named) names.push_back(one.name);
  std::optional<Bar> bar;
  const auto tried = [&bar](int done, int all) {
    if (!bar) bar.emplace();
    bar->show(done, all, base::joined({done, " of ", all, " heads"}));
  };
  auto ran = model.run(*tokens, names, tried);
  bar.reset();
  std::vector<files::NamedArray> results = valueOf(input.path(), std::move(ran));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto excerpt = files::settled(named[i].excerpt, results[i].shape, "--outputs " + named[i].name);
    if (!excerpt) throw failureOf(input.path(), excerpt.error());
    results[i] = files::cut(std::move(results[i]), *excerpt);
  }
  return results;
}

std::vector<files::NamedArray> ranLayer(const RunArguments& arguments) {
  files::RunRequest request = requestOf(arguments);
  LayerInput input = layerIn(arguments.files);
  std::optional<Progress> progress;
  request.progress = showing(progress);
  auto results =
      input.json ? files::run(std::move(*input.json), request) : files::run(std::move(input.file), request);
  progress.reset();
  if (!results) throw failureOf(arguments.files.in.front(), results.error());
  return std::move(*results);
}

void run(RunArguments& arguments) {
  takeFiles(arguments.files);
  const std::string& out = arguments.files.out;
  const std::size_t count = namedIn(arguments.outputs).size();
  const bool isOne = !arguments.outputs.empty() && files::holdsOne(formatToWrite("--out", out));
  if (isOne && (count > 1 || arguments.top > 0))
    throw Failure{kWrongUse,
                  "--out " + out + ": it holds one tensor, and " +
                      (count > 1 ? "--outputs names " + std::to_string(count) + "; give one, or use .npz."
                                 : "--top writes two; use .npz.")};
  formatToWrite("--out", out);  // a wrong name is reported before the work
  Output output(out);
  auto model = ranModel(arguments);
  writeResults(arguments.files, model ? *model : ranLayer(arguments), output);
}

constexpr const char* kRunHelp =
    R"(Examples:
  attn run layer.npz --out result.npz --outputs output,weights
  attn run q.npy k.npy v.npy --set causal=true --out output.npy
  attn run long.npz --outputs "weights[3, 1000:1100, :]" --out part.npz    a part, indexed as in NumPy
  attn run long.npz --outputs weights --top 32 --out strongest.npz    the 32 largest weights of each query
  attn run model.safetensors --prefix layers.3 --out result.safetensors
  numpy.savez("layer.npz", q=q, k=k, v=v, mask=mask, causal=True, tokens=["I", "saw"])  writes such a file
  attn run model.safetensors --set tokens=3,1,4 --outputs logits,layers.0.weights    of what attn train wrote
IN is a state of the playground, or tensors by their names; a .npy file or a table holds one, named as its file. One file alone
holds q, k and v, stacked on a first axis of 3, or rows that attend to each other. As JSON:
  {"q": {"shape": [2, 3, 4], "data": [...]}, "k": ..., "v": ..., "options": {"causal": true}}
Shapes are [tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, columns]; packed,
[batch, tokens, heads * columns]. A "dtype" of "float16" rounds the numbers to 16 bits first.
Besides q, k and v there may be
  mask          boolean (true: takes part) or numbers to be added, with "-inf" to mask; broadcast from the
                right to [batch, heads, queries, keys]; keys beyond its last column are masked
  past_k past_v put before k and v; positions then count from their length
  key_lengths   one per batch entry: keys beyond are padding; without past_k the last query is at the last key
  w_a u_a v_a   of the scores general and additive: [heads, columns, columns] and, for v_a, [heads, columns]
  sink          one number per head: a score that takes part in the sum of each row of softmax alone
and, each [rows, columns], drawn from block_seed and segment_seed if not given,
  gamma_1 delta_1 w_1 b_1 w_2 b_2 gamma_2 delta_2           of the block of the Transformer
  token_w token_b token_query segment_w segment_b segment_query  of hierarchical attention
  class_w class_b                                                of the classes of the document
Options, in the file or by --set:
)";
constexpr const char* kOutputsHelp =
    R"(Outputs, as the operator Attention of ONNX (opsets 23 to 25) numbers its scores:
  output        weights times values (the default)
  scores        after the scale (qk_matmul_output_mode 0)
  softcapped    after the soft cap (1)
  masked        after the mask (2)
  weights       after the softmax (3)
  present_k present_v  past and new keys or values together
and around the layer (if q, k and v are given, the concatenated heads of q serve as tokens)
  block:STAGE   of the block of the Transformer; STAGE is attention, dropout_1, residual_1, norm_1, hidden_raw,
                hidden, feed_forward, dropout_2, residual_2 or norm_2
  token_weights segment_weights  of hierarchical attention over the output
  class_scores class_probabilities  of the classes of the document: before and after softmax
  gamma_1 w_1 token_query ...    what these were computed with
A query that sees no key has weights and output 0. Of a part, or with --top, nothing else is held in memory, so that the
length of a layer is not limited by its matrices of scores (with the scores dot and scaled, softmax, and masks).
Of a model that attn train wrote, run on --set tokens=3,1,4 (source=… for translate) or on --text,
with heads off by --set off=0.1,1.0 (layer.head, from 0):
  logits        [tokens, classes] (the default)
  tokens probabilities weights    the ids; the softmax of the logits; [layers, heads, tokens, tokens]
  loss          with --set targets=…, classes by name, else by number: one for the last token, or one for each, - for none
  effect        [layers, heads]: how much the answer depends on each head: KL at the last token in bit without it,
                or with targets by how much the loss grows; Ctrl-C stops it
  layers.0.q layers.0.scores ...  every tensor of a layer (layers.0.cross and encoder.layers.0 for translate)
)";

}  // namespace

void addRun(CLI::App& attn) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App& command = *attn.add_subcommand("run", "Compute the tensors of an attention layer");
  addLayerFiles(command, arguments->files);
  command.add_option("--outputs", arguments->outputs, "What to write, such as output,weights")
      ->type_name("a,b,...");
  command.add_option("--text", arguments->text, "The words that a model of attn train reads")
      ->type_name("TEXT");
  command
      .add_option("--top", arguments->top,
                  "The largest weights of each query, so many, and weights_keys with the indices of their "
                  "keys")
      ->type_name("N")
      ->check(CLI::Range(1, attention::Limits::longest));
  command.add_option("--kernel", arguments->kernel, "The kernel to compute with: " + kernelList())
      ->type_name("NAME");
  command.footer(kRunHelp + files::optionsHelp() + kOutputsHelp +
                 "Exit status: 0 done, 1 bad data, 2 wrong use.");
  command.callback([arguments] { run(*arguments); });
}

}  // namespace cli
