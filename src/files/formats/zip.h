// Zip archives, the container of .npz. PKWARE's APPNOTE 6.3.10, with the 64-bit sizes that NumPy writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/formats/array.h"

namespace files {

inline constexpr std::string_view kZipMagic = "PK\3\4", kEmptyZipMagic = "PK\5\6";

/// A file in an archive, decompressed and with a verified checksum. `bytes` points into the archive, or into
/// `owned`.
struct ZipEntry {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const char[]> owned;
};

/// All files whose names end in `suffix`, in the order of the archive. An error, with a sentence that names
/// the entry, for archives that are truncated, encrypted or split, invalid directories, entries that overlap
/// or have the same name, wrong checksums, and archives that would decompress to more than four times their
/// size and more than 64 MB in total; this is checked before anything is decompressed.
Result<std::vector<ZipEntry>> readZip(std::string_view bytes, std::string_view suffix);

/// A file to write to an archive: its content in consecutive pieces.
struct ZipSource {
  std::string name;
  std::vector<std::string_view> pieces;
};

/// Writes an archive without compression, piece by piece, and without times or paths of the machine. Stops
/// when `put` returns false, and returns its result.
bool writeZip(const std::vector<ZipSource>& sources, const std::function<bool(std::string_view)>& put);

}  // namespace files
