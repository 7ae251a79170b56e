// A bar that fills on a terminal, drawn over itself; elsewhere nothing.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>

namespace cli {

class Bar {
 public:
  ~Bar() {
    if (isDrawn_) std::fprintf(stderr, "\n");
  }
  /// Would anybody see it?
  static bool isSeen() { return isatty(STDERR_FILENO) != 0; }
  void show(std::int64_t done, std::int64_t all, const std::string& words) {
    constexpr int kWide = 30;
    if (!isSeen()) return;
    const int marks = static_cast<int>(kWide * done / std::max<std::int64_t>(all, 1));
    std::fprintf(stderr, "\r[%.*s%.*s] %s ", marks, "##############################", kWide - marks,
                 "..............................", words.c_str());
    std::fflush(stderr);
    isDrawn_ = true;
  }

 private:
  bool isDrawn_ = false;
};

}  // namespace cli
