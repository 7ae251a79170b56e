// What replacing a file by its new content takes, on the desktop and on the command line, where there is
// POSIX.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

namespace shell {

/// Gives a complete and synced file its name, and waits until the folder has it on the disk: after a power
/// failure there is the old or the new content. Returns errno, or 0.
inline int renameDurably(const std::string& part, const std::filesystem::path& target) {
  if (::rename(part.c_str(), target.c_str()) != 0) return errno;
  const int folder = ::open(target.has_parent_path() ? target.parent_path().c_str() : ".",
                            O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return 0;  // the file is there, and some folders may be written but not read
  (void)::fsync(folder);     // not every file system can
  ::close(folder);
  return 0;
}

}  // namespace shell
