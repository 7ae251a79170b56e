// `attn`, the command line: the core without a screen.
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

#include "document/sentence.h"
#include "files/attention_file.h"
#include "files/attention_options.h"
#include "interrupt.h"

namespace {

namespace fs = std::filesystem;
namespace kernels = attention::kernels;

constexpr int kBadData = 1, kWrongUse = 2;

/// What ends the program: one line on stderr and an exit status.
struct Failure {
  int status;
  std::string sentence;
};

// -------------------------------------------------------------------------------------------------------- memory

/// A number that stands behind `key` in a file, or alone in it; 0 where there is none.
std::int64_t numberIn(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::int64_t value = 0;
  for (std::string word; file >> word;) {
    if (!key.empty() && word != key) continue;
    if (key.empty()) return std::atoll(word.c_str());
    return file >> value ? value : 0;
  }
  return 0;
}

/// Bytes that may be taken without pushing out others, less a tenth; 0 where the system does not say.
std::int64_t freeMemory() {
  std::int64_t least = numberIn("/proc/meminfo", "MemAvailable:") * 1024;
  const auto limitTo = [&](std::int64_t bytes) {
    bytes = std::max<std::int64_t>(bytes, 1);
    least = least == 0 ? bytes : std::min(least, bytes);
  };
  if (const std::int64_t group = numberIn("/sys/fs/cgroup/memory.max", {}); group > 0)
    limitTo(group - numberIn("/sys/fs/cgroup/memory.current", {}) + numberIn("/sys/fs/cgroup/memory.stat", "inactive_file"));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const std::int64_t pages = numberIn("/proc/self/statm", {});
    limitTo(static_cast<std::int64_t>(space.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
  }
  return least - least / 10;
}

// --------------------------------------------------------------------------------------------------------- files

std::string problem(const std::string& path, const char* what, int error) {
  return path + ": it cannot be " + what + ": " + std::strerror(error) + ".";
}

/// The whole file. What it says takes about as much again once it is read, so a third of the memory may be text.
std::string readText(const std::string& path) {
  std::error_code none;
  if (fs::is_directory(path, none)) throw Failure{kBadData, path + ": it is a folder; name a file in it."};
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file) throw Failure{kBadData, problem(path, "read", errno)};
  const std::int64_t free = freeMemory();
  const auto most = static_cast<std::uintmax_t>(free > 0 ? free / 3 : INT64_MAX);
  const bool isRegular = fs::is_regular_file(path, none);
  const std::uintmax_t size = isRegular ? fs::file_size(path, none) : 0;
  std::string text;
  const Failure tooLarge{kBadData, path + ": it is too large for the memory that is free; give smaller tensors."};
  if (size > most) throw tooLarge;
  text.reserve(size + 1);
  char piece[1 << 16];
  for (std::size_t count; (count = std::fread(piece, 1, sizeof piece, file.get())) > 0;) {
    text.append(piece, count);
    if (text.size() > most) throw tooLarge;
    // A device may have no end. What does not begin as JSON does needs no more of it to be refused.
    const std::size_t first = isRegular ? std::string::npos : text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{') break;
  }
  if (std::ferror(file.get())) throw Failure{kBadData, problem(path, "read", errno)};
  return text;
}

/// Where results go: a file that appears under its name when it is whole, or something that is no file.
class Output {
 public:
  explicit Output(const std::string& path) : path_(path) {
    if (path.empty()) {
      file_ = stdout;
      return;
    }
    std::error_code none;
    if (fs::is_directory(path, none)) throw Failure{kBadData, path + ": it is a folder; name a file in it."};
    const bool isThere = fs::exists(path, none);
    const bool isFile = !isThere || fs::is_regular_file(path, none);
    // A link stays one: what it leads to is replaced. That of a pipe leads to no name.
    target_ = isFile && fs::is_symlink(path, none) ? fs::weakly_canonical(path, none) : fs::path(path);
    if (isFile) part_ = target_.string() + ".part" + std::to_string(getpid());
    if (isFile && isThere && access(target_.c_str(), W_OK) != 0) throw Failure{kBadData, problem(path, "written", errno)};
    file_ = isFile ? interrupt_.create(part_) : std::fopen(target_.c_str(), "wb");
    if (!file_) {
      part_.clear();
      throw Failure{kBadData, problem(path, "written", errno)};
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_ && file_ != stdout) std::fclose(file_);
    std::error_code none;
    if (!part_.empty()) fs::remove(part_, none);
  }

  bool put(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file_) == text.size(); }

  /// Makes all of it appear; throws if any of it was not written.
  void finish(bool isWritten) {
    isWritten = isWritten && std::fflush(file_) == 0;
    int error = errno;
    if (file_ != stdout && std::fclose(std::exchange(file_, nullptr)) != 0 && isWritten) isWritten = false, error = errno;
    if (!isWritten) throw Failure{kBadData, problem(path_.empty() ? "standard output" : path_, "written", error)};
    if (part_.empty()) return;
    std::error_code failed, none;
    if (fs::exists(target_, none)) fs::permissions(part_, fs::status(target_).permissions(), none);
    fs::rename(part_, target_, failed);
    if (failed) throw Failure{kBadData, problem(path_, "written", failed.value())};
    part_.clear();
  }

 private:
  std::string path_;
  fs::path target_;
  std::string part_;  ///< the name until it is whole
  shell::RemovedOnSignal interrupt_;
  std::FILE* file_ = nullptr;
};

// ------------------------------------------------------------------------------------------------------- commands

struct RunArguments {
  std::string in, out, outputs, kernel;
  std::vector<std::string> settings;
};

void checkExtension(const std::string& what, const std::string& path) {
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".json") return;
  for (const std::string_view later : {".npz", ".npy", ".safetensors"})
    if (extension == later) throw Failure{kWrongUse, what + " " + path + ": " + extension + " is not available yet; use .json."};
  throw Failure{kWrongUse, what + " " + path + ": the name does not end in .json; other formats come later."};
}

std::string kernelList() {
  std::string out;
  for (const kernels::Kernel kernel : kernels::available()) out += (out.empty() ? "" : ", ") + std::string(kernels::name(kernel));
  return out;
}

files::OutputId outputNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const files::OutputId id : files::outputIds()) {
    if (files::name(id) == name) return id;
    names.push_back(files::name(id));
  }
  throw Failure{kWrongUse, "--outputs: \"" + name + "\" is not an output; perhaps " +
                               document::orList(document::nearest(name, names, 3)) + " was meant; attn run --help lists all."};
}

files::RunRequest requestOf(RunArguments& arguments) {
  files::RunRequest request;
  // --set takes every word that follows it, so IN may be among them.
  std::vector<std::string>& words = arguments.settings;
  const auto isName = [](const std::string& word) { return word.find('=') == std::string::npos; };
  if (arguments.in.empty()) {
    const auto found = std::find_if(words.rbegin(), words.rend(), isName);
    if (found != words.rend()) arguments.in = *found, words.erase(std::next(found).base());
  }
  if (arguments.in.empty()) throw Failure{kWrongUse, "IN: it is missing; name a .json file."};
  checkExtension("IN", arguments.in);
  if (!arguments.out.empty() && fs::path(arguments.out).parent_path() != "/dev") checkExtension("--out", arguments.out);
  for (const std::string& word : words) {
    auto setting = files::settingFrom(word);
    if (!setting) throw Failure{kWrongUse, "--set " + word + ": it is not of the form key=value; use causal=true or the like."};
    request.settings.push_back(std::move(*setting));
  }
  if (!arguments.outputs.empty()) {
    request.outputs.clear();
    std::istringstream names(arguments.outputs + ",");
    for (std::string name; std::getline(names, name, ',');) {
      const files::OutputId id = outputNamed(name);
      if (std::find(request.outputs.begin(), request.outputs.end(), id) == request.outputs.end()) request.outputs.push_back(id);
    }
  }
  if (!arguments.kernel.empty()) {
    request.kernel = kernels::kernelNamed(arguments.kernel);
    const auto all = kernels::available();
    if (!request.kernel || std::find(all.begin(), all.end(), *request.kernel) == all.end())
      throw Failure{kWrongUse, "--kernel: \"" + arguments.kernel + "\" cannot run here; use one of " + kernelList() + "."};
  }
  request.freeMemory = freeMemory;
  return request;
}

Failure failureOf(const std::string& in, const attention::Error& error) {
  if (error.field.starts_with("--")) return {kWrongUse, error.message};
  const bool isWhole = error.field == "file" || error.field == "text";  // nothing that the name of the file does not say
  return {kBadData, in + ": " + error.message.substr(isWhole ? error.field.size() + 2 : 0)};
}

void run(RunArguments& arguments) {
  const files::RunRequest request = requestOf(arguments);
  std::string text = readText(arguments.in);
  Output output(arguments.out);
  auto results = files::run(std::move(text), request);
  if (!results) throw failureOf(arguments.in, results.error());
  output.finish(files::writeTensors(*results, [&](std::string_view piece) { return output.put(piece); }));
}

void listKernels() {
  Output output({});
  bool isWritten = true;
  for (const kernels::Kernel kernel : kernels::available())
    isWritten = isWritten && output.put(std::string(kernels::name(kernel)) + (kernel == kernels::best() ? " (default)\n" : "\n"));
  output.finish(isWritten);
}

constexpr const char* kRunHelp =
    "IN is a state of the playground, or tensors:\n"
    "  {\"q\": {\"shape\": [2, 3, 4], \"data\": [...]}, \"k\": ..., \"v\": ..., \"options\": {\"causal\": true}}\n"
    "Shapes are [tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, columns]; packed,\n"
    "[batch, tokens, heads * columns]. A \"dtype\" of \"float16\" rounds the numbers to 16 bits first.\n"
    "Beside q, k and v there may be\n"
    "  mask          boolean (true: takes part) or numbers to be added, with \"-inf\" to mask; broadcast from the\n"
    "                right to [batch, heads, queries, keys]; keys beyond its last column are masked\n"
    "  past_k past_v put before k and v; positions then count from their length\n"
    "  key_lengths   one a batch: keys beyond are padding; without past_k the last query stands at the last key\n"
    "  w_a u_a v_a   of the scores general and additive: [heads, columns, columns] and, for v_a, [heads, columns]\n"
    "and, each [rows, columns], as block_seed and segment_seed make it where it is not given,\n"
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
    "  present_k present_v  past and new ones together\n"
    "and around the layer (where q, k and v are given, the heads of q side by side stand for the tokens)\n"
    "  block:STAGE   of the block of the Transformer; STAGE is attention, dropout_1, residual_1, norm_1, hidden_raw,\n"
    "                hidden, feed_forward, dropout_2, residual_2 or norm_2\n"
    "  token_weights segment_weights  of hierarchical attention over the output\n"
    "  gamma_1 w_1 token_query ...    what these were computed with\n"
    "A query that sees no key has weights and output 0.\n";

int start(int argc, char** argv) {
  CLI::App cli{"Attention, computed from files.", "attn"};
  cli.set_version_flag("--version", "attn " AP_VERSION);
  cli.footer("Exit status: 0 done, 1 bad data, 2 wrong use.");
  RunArguments arguments;
  CLI::App* const runCommand = cli.add_subcommand("run", "Compute the tensors of an attention layer");
  runCommand->add_option("IN", arguments.in, "The file to read, .json")->type_name("");
  runCommand->add_option("--out", arguments.out, "The file to write, .json; standard output where it is not given")->type_name("OUT");
  runCommand->add_option("--set", arguments.settings, "Options that replace those of the file")->type_name("key=value ...")->expected(1, -1);
  runCommand->add_option("--outputs", arguments.outputs, "What to write, such as output,weights")->type_name("a,b,...");
  runCommand->add_option("--kernel", arguments.kernel, "The kernel to compute with: " + kernelList())->type_name("NAME");
  runCommand->footer(kRunHelp + files::optionsHelp() + kOutputsHelp + "Exit status: 0 done, 1 bad data, 2 wrong use.");
  CLI::App* const kernelsCommand = cli.add_subcommand("kernels", "List the kernels that can run here, slowest first");
  try {
    cli.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return cli.exit(success);  // --help, --version
  } catch (const CLI::ParseError& error) {
    throw Failure{kWrongUse, std::string(error.what()) + "; attn --help tells more."};
  }
  if (runCommand->parsed()) run(arguments);
  else if (kernelsCommand->parsed()) listKernels();
  else throw Failure{kWrongUse, "No command was given; attn --help lists them."};
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Failure failure{};
  try {
    return start(argc, argv);
  } catch (const Failure& thrown) {
    failure = thrown;
  } catch (const std::bad_alloc&) {
    failure = {kBadData, "There is not enough memory; give smaller tensors, or ask for fewer outputs."};
  } catch (const std::exception& error) {
    failure = {kBadData, std::string("Something failed: ") + error.what() + "."};
  }
  std::fprintf(stderr, "attn: %s\n", document::printable(failure.sentence).c_str());
  return failure.status;
}
