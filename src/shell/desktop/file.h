// Files on the desktop: read with a size limit, and written completely or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shell {

/// The content of a file, at most `limit` bytes; otherwise an error that names the file. Pipes and devices
/// are refused, because they may never end.
base::Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit);

/// A file mapped into memory, so that only the parts that are used are read.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  /// Replaces the file opened before. Returns the errors of readFile(), except for the size.
  base::Result<void> open(const std::filesystem::path& path);
  std::string_view bytes() const { return {static_cast<const char*>(map_), size_}; }

 private:
  void* map_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes a new file beside `path` and renames it, so that readers see the old or the new content, never a
/// part, even after a power failure. Keeps permissions, and the owner if allowed. Refuses a read-only file.
/// Writes directly into a device or a pipe.
base::Result<void> writeFile(const std::filesystem::path& path, std::string_view content);

/// `path` if it does not exist, otherwise the first of name-1.ext, name-2.ext … that does not.
std::filesystem::path freeName(const std::filesystem::path& path);

}  // namespace shell
