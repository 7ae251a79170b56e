// The directory of a zip archive: what .npz is. PKWARE's APPNOTE 6.3.10, with the 64-bit sizes that NumPy writes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "files/tensors_json.h"

namespace files {

inline constexpr std::string_view kZipMagic = "PK\3\4", kEmptyZipMagic = "PK\5\6";

/// A file in an archive, whole and with the right check-sum. `bytes` points into the archive, or into `owned`.
struct ZipEntry {
  std::string name;
  std::string_view bytes;
  std::shared_ptr<const char[]> owned;
};

/// All files whose names end in `suffix`, in the archive's order. Refused, with a sentence that names the entry: archives that are
/// cut off, encrypted, of several parts, with directories that lie, entries that overlap or share a name, check-sums that
/// do not fit, and compressed entries that would take more than four times the archive and more than 64 MB in all; that is known before
/// anything is inflated.
Result<std::vector<ZipEntry>> readZip(std::string_view bytes, std::string_view suffix);

/// One file of an archive to be written: its pieces one after the other.
struct ZipSource {
  std::string name;
  std::vector<std::string_view> pieces;
};

/// Writes an archive, nothing compressed, piece by piece, without times or places of any machine. Stops when `put` returns false, and returns it.
bool writeZip(const std::vector<ZipSource>& sources, const std::function<bool(std::string_view)>& put);

}  // namespace files
