#include "shell/recovery.h"

#include <string>
#include <system_error>

#include "shell/file.h"
#include "shell/shell_place.h"

namespace shell {
namespace {

namespace fs = std::filesystem;

constexpr const char *kStem = "recovered", *kExtension = ".json";

}  // namespace

fs::path newestRecovery() {
  std::error_code wrong;
  fs::path newest;
  fs::file_time_type when{};
  for (fs::directory_iterator at(stateFolder(), wrong), end; !wrong && at != end; at.increment(wrong)) {
    const fs::path& path = at->path();
    std::error_code none;
    if (!path.filename().string().starts_with(kStem) || path.extension() != kExtension || !at->is_regular_file(none)) continue;
    const fs::file_time_type written = at->last_write_time(none);
    if (none || (!newest.empty() && written <= when)) continue;
    newest = path, when = written;
  }
  return newest;
}

attention::Result<fs::path> keepRecovery(const fs::path& path, std::string_view text) {
  using attention::Error;
  const fs::path folder = stateFolder();
  if (folder.empty()) return Error{Error::Kind::range, "file", "There is no home folder to keep unsaved edits in."};
  std::error_code none;
  fs::create_directories(folder, none);  // writing says it if that failed
  // Another window that ends at the same time keeps its own.
  const fs::path target = path.empty() ? freeName(folder / (std::string(kStem) + kExtension)) : path;
  if (attention::Check wrong = writeFile(target, text)) return *wrong;
  return target;
}

}  // namespace shell
