// What the commands of `attn` share: how they are registered, and how they fail.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/result.h"

namespace cli {

constexpr int kBadData = 1, kWrongUse = 2;  ///< exit statuses

/// Thrown to end the program with one line on stderr and an exit status.
struct Failure {
  int status;
  base::Message sentence;
};

/// An error of the readers or the core about the file `in`; if its field begins with "--", it is about the
/// command line.
Failure failureOf(const std::string& in, const base::Error& error);

/// The kernels that can run on this machine, slowest first: "scalar, sse4, avx2".
std::string kernelList();

/// Each registers one command, with its arguments and help. The command runs as its callback once all
/// arguments are parsed, and throws a Failure if it cannot do its work.
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
void addMechanisms(CLI::App& attn);

}  // namespace cli
