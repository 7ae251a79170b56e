// `attn bench`: how long a layer of any size takes on this machine, with each kernel.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <vector>

#include "attention/kernels/kernels.h"
#include "base/number.h"
#include "base/random.h"
#include "base/sentence.h"
#include "cli/bar.h"
#include "cli/command.h"
#include "cli/files.h"

namespace cli {
namespace {

namespace kernels = attention::kernels;

struct BenchArguments {
  int heads = 12, tokens = 1024, columns = 64, threads = 1;
  double seconds = 0.5;
  std::string kernel;
  bool causal = false, weights = false, json = false;
};

/// The median time of a call in seconds: of at least three calls, and more while there is time.
double secondsOf(kernels::Kernel kernel, const kernels::Forward& call, kernels::Workspace& workspace,
                 double most) {
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point began) {
    return std::chrono::duration<double>(Clock::now() - began).count();
  };
  forward(kernel, call, workspace);  // warms up memory and caches
  std::vector<double> all;
  for (const auto began = Clock::now(); all.size() < 3 || since(began) < most;) {
    const auto one = Clock::now();
    forward(kernel, call, workspace);
    all.push_back(since(one));
  }
  std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2), all.end());
  return all[all.size() / 2];
}

void bench(const BenchArguments& a) {
  const auto there = kernels::available();
  std::vector<kernels::Kernel> all(there.begin(), there.end());
  if (!a.kernel.empty()) {
    const auto named = kernels::kernelNamed(a.kernel);
    if (!named || std::find(all.begin(), all.end(), *named) == all.end())
      throw Failure{kWrongUse,
                    "--kernel: \"" + a.kernel + "\" cannot run here; use one of " + kernelList() + "."};
    all = {*named};
  }
  const auto rows = static_cast<std::size_t>(a.heads) * static_cast<std::size_t>(a.tokens),
             count = rows * static_cast<std::size_t>(a.columns);
  base::NormalRandom random(1);
  std::vector<float> q(count), k(count), v(count), output(count),
      weights(a.weights ? rows * static_cast<std::size_t>(a.tokens) : 0);
  for (std::vector<float>* numbers : {&q, &k, &v})
    for (float& x : *numbers) x = static_cast<float>(random.next());
  kernels::Forward call;
  call.heads = call.kvHeads = a.heads, call.queryCount = call.keyCount = a.tokens,
  call.headDim = call.valueDim = a.columns;
  call.scale = 1.0f / std::sqrt(static_cast<float>(a.columns)), call.causal = a.causal;
  const auto row = static_cast<std::ptrdiff_t>(a.columns), head = row * a.tokens;
  call.q = {q.data(), head, row}, call.k = {k.data(), head, row}, call.v = {v.data(), head, row},
  call.output = {output.data(), head, row};
  if (a.weights) call.weights = {weights.data(), std::ptrdiff_t{a.tokens} * a.tokens, a.tokens};
  kernels::Workspace workspace(a.threads);
  // Two products, queries · keys and weights · values, with a multiplication and an addition each.
  const double operations = 4.0 * static_cast<double>(rows) * a.tokens * a.columns * (a.causal ? 0.5 : 1.0);
  Output out({});
  bool isWritten = true;
  const bool shows = Bar::isSeen();
  for (const kernels::Kernel kernel : all) {
    if (shows) std::fprintf(stderr, "\r%s …", std::string(kernels::name(kernel)).c_str());
    const double seconds = secondsOf(kernel, call, workspace, a.seconds);
    if (shows) std::fprintf(stderr, "\r\033[K");
    char line[160];
    std::snprintf(
        line, sizeof line,
        a.json ? "{\"kernel\":\"%s\",\"ms\":%.4f,\"gflops\":%.3f}\n" : "%-8s %10.3f ms %10.2f GFLOP/s\n",
        std::string(kernels::name(kernel)).c_str(), seconds * 1e3, operations / seconds * 1e-9);
    isWritten = isWritten && out.put(line);
  }
  out.finish(isWritten);
}

}  // namespace

void addBench(CLI::App& attn) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App& command = *attn.add_subcommand("bench", "Measure how fast each kernel computes a layer here");
  command.add_option("--heads", arguments->heads, "Heads of queries, keys and values (default 12)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command.add_option("--tokens", arguments->tokens, "Queries, and as many keys (default 1024)")
      ->type_name("N")
      ->check(CLI::Range(1, 32768));
  command.add_option("--columns", arguments->columns, "Columns of each head (default 64)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command
      .add_option("--threads", arguments->threads, "Threads that share the work; 0: one per core (default 1)")
      ->type_name("N")
      ->check(CLI::Range(0, 256));
  command.add_option("--seconds", arguments->seconds, "Seconds for each kernel (default 0.5)")
      ->type_name("S")
      ->check(CLI::Range(0.0, 3600.0));
  command.add_option("--kernel", arguments->kernel, "Measure only this kernel: " + kernelList())
      ->type_name("NAME");
  command.add_flag("--causal", arguments->causal, "With the causal mask");
  command.add_flag("--weights", arguments->weights, "Store the weights too");
  command.add_flag("--json", arguments->json, "Print one JSON object per line");
  command.footer(
      R"(Each line has the median time of one call, and the GFLOP/s that it amounts to.
Examples:
  attn bench
  attn bench --heads 32 --tokens 4096 --columns 128 --causal --threads 0
Exit status: 0 done, 1 not enough memory, 2 wrong use.)");
  command.callback([arguments] { bench(*arguments); });
}

}  // namespace cli
