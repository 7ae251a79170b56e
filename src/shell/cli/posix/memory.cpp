#include "cli/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace cli {
namespace {

/// The number after `key` in a file, or the only number in it; 0 if there is none.
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

}  // namespace

std::int64_t freeMemory() {
  std::int64_t least = numberIn("/proc/meminfo", "MemAvailable:") * 1024;
  const auto limitTo = [&](std::int64_t bytes) {
    bytes = std::max<std::int64_t>(bytes, 1);
    least = least == 0 ? bytes : std::min(least, bytes);
  };
  if (const std::int64_t group = numberIn("/sys/fs/cgroup/memory.max", {}); group > 0)
    limitTo(group - numberIn("/sys/fs/cgroup/memory.current", {}) +
            numberIn("/sys/fs/cgroup/memory.stat", "inactive_file"));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY) {
    const std::int64_t pages = numberIn("/proc/self/statm", {});
    limitTo(static_cast<std::int64_t>(space.rlim_cur) - pages * sysconf(_SC_PAGESIZE));
  }
  return least - least / 10;
}

}  // namespace cli
