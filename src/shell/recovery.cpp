#include "shell/recovery.h"

#include <cstdlib>
#include <string>
#include <system_error>

#include "shell/file.h"

namespace shell {
namespace {

namespace fs = std::filesystem;

constexpr const char *kStem = "recovered", *kExtension = ".json";

fs::path folderOf(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  const fs::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path / below : fs::path();  // relative ones are to be ignored (XDG)
}

}  // namespace

fs::path stateFolder() {
#if defined(__APPLE__)
  const fs::path base = folderOf("HOME", "Library/Application Support");
#else
  const fs::path chosen = folderOf("XDG_STATE_HOME", ""), base = chosen.empty() ? folderOf("HOME", ".local/state") : chosen;
#endif
  return base.empty() ? base : base / "attention-playground";
}

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
