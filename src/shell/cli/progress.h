// How far long work is: a bar on a terminal; elsewhere one line that says how long it takes.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/bar.h"

namespace cli {

class Progress {
 public:
  /// To be called as work goes on, from its beginning, with the multiply-adds that are done and all of them.
  /// Says nothing of what takes less than half a second, or a minute where nobody watches.
  void show(double done, double all);

 private:
  using Clock = std::chrono::steady_clock;
  Bar bar_;
  const Clock::time_point began_ = Clock::now();
  double shown_ = 0;  ///< when, in seconds since then
  bool isSaid_ = false;
};

/// Shows the progress of work in a bar that begins with it.
inline auto showing(std::optional<Progress>& progress) {
  return [&progress](double done, double all) {
    if (!progress) progress.emplace();
    progress->show(done, all);
  };
}

/// "1 second", "40 seconds", "3 minutes", "2 hours", "5 days": rounded to the nearest.
std::string durationText(double seconds);

}  // namespace cli
