#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/sentence.h"

namespace cli {

std::string durationText(double seconds) {
  const auto text = [](double count, const char* unit) {
    const auto whole = static_cast<std::int64_t>(std::llround(count));
    return base::joined({whole, " ", unit, whole == 1 ? "" : "s"});
  };
  constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
  if (seconds < 1.5 * minute) return text(seconds, "second");
  if (seconds < 1.5 * hour) return text(seconds / minute, "minute");
  return seconds < 1.5 * day ? text(seconds / hour, "hour") : text(seconds / day, "day");
}

void Progress::show(double done, double all) {
  constexpr double quick = 0.5, often = 0.1, isLong = 60;
  constexpr std::int64_t parts = 1'000'000;
  const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
  if (seconds < often || !(done > 0)) return;
  const double share = std::min(done / all, 1.0), left = seconds * (1 - share) / share;
  if (shown_ == 0 && seconds + left < quick)
    return;  // a bar that is there fills, also where the work is quicker than it seemed
  if (Bar::isSeen()) {
    if (share < 1 && seconds - shown_ < often) return;
    shown_ = seconds;
    std::string words = base::joined(
        {static_cast<int>(100 * share), " %", share < 1 ? ", " + durationText(left) + " left" : ""});
    words.resize(std::max<std::size_t>(words.size(), 24), ' ');  // covers the words before
    bar_.show(static_cast<std::int64_t>(share * parts), parts, words);
  } else if (!isSaid_ && left > isLong) {
    isSaid_ = true;
    std::fprintf(stderr,
                 "attn: This takes about %s: %.1e multiply-adds. Ctrl-C stops it; nothing is written before "
                 "it is done.\n",
                 durationText(left).c_str(), all);
  }
}

}  // namespace cli
