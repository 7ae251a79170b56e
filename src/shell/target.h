// Which file writing to a path replaces.
#pragma once

#include <filesystem>
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

}  // namespace shell
