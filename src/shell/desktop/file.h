// Files of the desktop: read with a limit, written whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shell {

/// The whole content, at most `limit` bytes of it being allowed; otherwise a sentence that names the file. Pipes and
/// devices, which may never end, are refused.
base::Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit);

/// A file that is read where it lies: mapped into memory, so that only what is looked at is brought.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  /// In the place of the one before. Refused: what readFile() refuses, but for its size.
  base::Result<void> open(const std::filesystem::path& path);
  std::string_view bytes() const { return {static_cast<const char*>(map_), size_}; }

 private:
  void* map_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes a new file beside `path` and renames it: whoever reads it finds the old content or the new, never a part, also
/// after a power cut. Permissions stay, and the owner where that may be. A read-only file is refused. A device or a pipe
/// is written into.
base::Result<void> writeFile(const std::filesystem::path& path, std::string_view content);

/// `path`, or if that exists the first of name-1.ext, name-2.ext … that does not.
std::filesystem::path freeName(const std::filesystem::path& path);

}  // namespace shell
