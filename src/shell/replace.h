// What replacing a file by its new content takes, on the desktop and on the command line.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace shell {

/// The file that writing to `path` is meant for: links are followed, so that they remain, also one whose file
/// does not exist yet. ELOOP in `error` if they lead nowhere.
inline std::filesystem::path targetOf(std::filesystem::path path, std::error_code& error) {
  constexpr int most = 40;  // as in the kernel
  error.clear();
  std::error_code none;
  for (int links = 0; std::filesystem::is_symlink(std::filesystem::symlink_status(path, none)); ++links) {
    if (links == most) return error = std::make_error_code(std::errc::too_many_symbolic_link_levels), path;
    const std::filesystem::path next = std::filesystem::read_symlink(path, error);
    if (error) return path;
    path = path.parent_path() / next;  // an absolute one stands for itself
  }
  return path;
}

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
