// What the commands of `attn` share: how one is added, and how it fails.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"

namespace cli {

constexpr int kBadData = 1, kWrongUse = 2;  ///< exit statuses

/// What ends the program: one line on stderr and an exit status.
struct Failure {
  int status;
  std::string sentence;
};

/// What the readers and the core refuse, said of the file `in`; a field that begins with "--" is one of the command line.
Failure failureOf(const std::string& in, const base::Error& error);

/// The kernels that can run here, slowest first: "scalar, sse4, avx2".
std::string kernelList();

/// Each adds one command, with its arguments and its help. It runs as its callback, once all arguments are known, and
/// throws a Failure where it cannot do its work.
void addRun(CLI::App& attn);
void addGrad(CLI::App& attn);
void addCode(CLI::App& attn);
void addConvert(CLI::App& attn);
void addInfo(CLI::App& attn);
void addRender(CLI::App& attn);
void addTrain(CLI::App& attn);
void addBench(CLI::App& attn);
void addKernels(CLI::App& attn);
void addLesson(CLI::App& attn);

}  // namespace cli
