// Training of the task `induction` as in the product, for training.bench.mjs. The native program answers
// lines: "run STEPS" trains for so many steps and answers with the seconds by the clock and of processor
// time, and the loss; "steps" answers with what another framework needs to repeat the training, as JSON: the
// model's initial parameters, some batches, and the loss of each step that learns from them. In the page the
// same is available as exported functions.
#include <cstdio>
#include <cstring>
#include <string>

#include "training/optimizer.h"
#include "training/trainer.h"

namespace {

using namespace training;

constexpr int kBatches = 32;

struct Bench {
  Setup setup = recommended(Task::induction);
  std::unique_ptr<Trainer> trainer = std::move(*Trainer::of(setup));
  std::vector<int> tokens[kBatches], targets[kBatches];

  Bench() {
    Sequence s;
    for (int b = 0; b < kBatches; ++b) {
      for (int i = 0; i < setup.batch; ++i) {
        trainer->examples().draw(static_cast<std::uint64_t>(b * setup.batch + i), s);
        tokens[b].insert(tokens[b].end(), s.tokens.begin(), s.tokens.end());
        targets[b].insert(targets[b].end(), s.targets.begin(), s.targets.end());
      }
    }
  }
  float run(int steps) {
    trainer->run(trainer->steps() + steps);
    return trainer->last().loss;
  }
};

Bench& bench() {
  static Bench all;
  return all;
}

}  // namespace

#ifdef __EMSCRIPTEN__
#define EXPORTED(name) extern "C" __attribute__((export_name(#name)))
EXPORTED(run) float exportedRun(int steps) { return bench().run(steps); }
EXPORTED(parameters) int exportedParameters() {
  return static_cast<int>(bench().trainer->model().parameters().size());
}
EXPORTED(rows) int exportedRows(int i) {
  return bench().trainer->model().parameters()[static_cast<std::size_t>(i)].rows;
}
EXPORTED(columns) int exportedColumns(int i) {
  return bench().trainer->model().parameters()[static_cast<std::size_t>(i)].columns;
}
EXPORTED(name) const char* exportedName(int i) {
  return bench().trainer->model().parameters()[static_cast<std::size_t>(i)].name.c_str();
}
EXPORTED(numbers) const float* exportedNumbers(int i) {
  return bench().trainer->numbers().data() +
         bench().trainer->model().parameters()[static_cast<std::size_t>(i)].offset;
}
EXPORTED(batches) int exportedBatches() { return kBatches; }
EXPORTED(tokens) const int* exportedTokens(int batch) { return bench().tokens[batch].data(); }
EXPORTED(targets) const int* exportedTargets(int batch) { return bench().targets[batch].data(); }
#else
#include <chrono>
#include <ctime>
#include <iostream>

namespace {

void write(const char* name, const std::vector<int>& list, const char* after) {
  std::printf("\"%s\":[", name);
  for (std::size_t i = 0; i < list.size(); ++i) std::printf("%s%d", i > 0 ? "," : "", list[i]);
  std::printf("]%s", after);
}

void describe() {
  const Trainer& t = *bench().trainer;
  std::printf("{\"batch\":%d,\"heads\":%d,\"d_model\":%d,\"layers\":%d,\"rate\":%g,\"parameters\":{",
              t.setup().batch, t.setup().heads, t.setup().modelDim, t.setup().layers, t.setup().rate);
  bool isFirst = true;
  for (const Parameter& p : t.model().parameters()) {
    std::printf("%s\"%s\":{\"shape\":[%d,%d],\"data\":[", isFirst ? "" : ",", p.name.c_str(), p.rows,
                p.columns);
    isFirst = false;
    for (std::size_t i = 0; i < p.size(); ++i)
      std::printf("%s%.9g", i > 0 ? "," : "", double{t.numbers()[p.offset + i]});
    std::printf("]}");
  }
  std::printf("},\"batches\":[");
  for (int b = 0; b < kBatches; ++b) {
    std::printf("%s{", b > 0 ? "," : "");
    write("tokens", bench().tokens[b], ","), write("targets", bench().targets[b], "}");
  }
  std::printf("]}\n");
}

}  // namespace

int main() {
  std::string line;
  while (std::getline(std::cin, line)) {
    int steps = 0;
    if (line == "describe") {
      describe();
    } else if (std::sscanf(line.c_str(), "run %d", &steps) == 1) {
      const auto began = std::chrono::steady_clock::now();
      const std::clock_t cpu = std::clock();
      const float loss = bench().run(steps);
      std::printf("%.9f %.9f %.9g\n",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count(),
                  static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC, double{loss});
    }
    std::fflush(stdout);
  }
}
#endif
