// The counterpart of posix/interrupt.h: here an interrupted run leaves its incomplete file, and the next one
// says so (cli/files.h).
#pragma once

#include <cstdio>
#include <string>

namespace shell {

struct RemovedOnSignal {
  static std::FILE* create(const std::string& name) { return std::fopen(name.c_str(), "wbx"); }
};

}  // namespace shell
