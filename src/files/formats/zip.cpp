#include "files/formats/zip.h"

#include <algorithm>
#include <cstring>

#include "base/sentence.h"
#include "base/sort.h"
#include "files/formats/inflate.h"
#include "files/formats/stored.h"

namespace files {
namespace {

using base::inQuotes;
using ErrorKind = Error::Kind;

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                        kLocator = 0x07064b50;
constexpr std::uint32_t kFull =
    0xffffffff;  ///< marks a 32-bit field whose value is in the 64-bit extra field
constexpr std::uint64_t kFreely = 64u
                                  << 20;  ///< bytes that any archive may decompress to, however small it is

/// Little-endian numbers at given offsets; 0 beyond the end.
class Fields {
 public:
  Fields(std::string_view bytes, std::uint64_t begin, std::uint64_t length)
      : bytes_(begin <= bytes.size() && length <= bytes.size() - begin ? bytes.substr(begin, length)
                                                                       : std::string_view()) {}
  bool empty() const { return bytes_.empty(); }
  std::uint64_t at(std::size_t begin, std::size_t length) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length && begin + i < bytes_.size(); ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[begin + i])) << 8 * i;
    return value;
  }
  std::uint16_t two(std::size_t begin) const { return static_cast<std::uint16_t>(at(begin, 2)); }
  std::uint32_t four(std::size_t begin) const { return static_cast<std::uint32_t>(at(begin, 4)); }
  std::uint64_t eight(std::size_t begin) const { return at(begin, 8); }

 private:
  std::string_view bytes_;
};

/// Position, size and number of entries of the directory.
struct Directory {
  std::uint64_t begin = 0, size = 0, count = 0;
};

/// What the directory says about one file.
struct Claim {
  std::string name;
  std::uint32_t check = 0, method = 0, flags = 0;
  std::uint64_t packed = 0, size = 0, begin = 0;
};

Result<void> damaged(const base::Message& what) {
  return base::refuse(ErrorKind::syntax, "file", {what, "; it is cut off or damaged, save it again."});
}

Result<Directory> findDirectory(std::string_view bytes) {
  constexpr std::size_t least = 22, longestComment = 65535;
  const std::size_t stop = bytes.size() > least + longestComment ? bytes.size() - least - longestComment : 0;
  for (std::size_t at = bytes.size() >= least ? bytes.size() - least + 1 : 0; at-- > stop;) {
    const Fields end(bytes, at, least);
    if (end.four(0) != kEnd || at + least + end.two(20) != bytes.size()) continue;
    Directory directory{end.four(16), end.four(12), end.two(10)};
    std::uint64_t before = at;
    const Fields locator(bytes, at >= 20 ? at - 20 : bytes.size(), 20);
    if (locator.four(0) == kLocator) {
      before = locator.eight(8);
      const Fields end64(bytes, before, 56);
      if (end64.four(0) != kEnd64) return damaged("its 64-bit directory is not where it should be");
      directory = {end64.eight(48), end64.eight(40), end64.eight(32)};
    } else if (end.two(4) != 0 || end.two(6) != 0) {
      return base::refuse(ErrorKind::type, "file", {"it is one part of several; expected a whole archive."});
    }
    if (directory.begin > before || directory.size > before - directory.begin)
      return damaged("its directory would lie beyond its end");
    return directory;
  }
  return damaged("the directory at its end is missing");
}

Result<std::vector<Claim>> readDirectory(std::string_view bytes, const Directory& directory) {
  std::vector<Claim> claims;
  constexpr std::size_t least = 46;
  if (directory.count > directory.size / least)
    return damaged(
        base::message({"its directory of ", directory.size, " bytes claims ", directory.count, " entries"}));
  if (directory.count > kMostTensors)
    return base::refuse(ErrorKind::memory, "file",
                        {"the archive has ", directory.count, " entries; give at most ", kMostTensors, "."});
  const std::string_view all = bytes.substr(directory.begin, directory.size);
  std::uint64_t at = 0;
  for (std::uint64_t i = 0; i < directory.count; ++i) {
    const Fields fields(all, at, least);
    const std::uint64_t name = fields.two(28), extra = fields.two(30), comment = fields.two(32);
    if (fields.four(0) != kCentral || name + extra + comment > all.size() - at - least)
      return damaged(base::message({"entry ", i, " of its directory is not one"}));
    Claim claim;
    claim.name = all.substr(at + least, name);
    claim.flags = fields.two(8), claim.method = fields.two(10), claim.check = fields.four(16);
    claim.packed = fields.four(20), claim.size = fields.four(24), claim.begin = fields.four(42);
    // The 64-bit extra field contains, in this order, the values that do not fit their 32-bit fields.
    const std::string_view extras = all.substr(at + least + name, extra);
    for (std::size_t e = 0; e + 4 <= extras.size();) {
      const Fields head(extras, e, 4);
      const std::size_t length = head.two(2);
      if (head.two(0) == 1) {
        std::size_t next = e + 4;
        for (std::uint64_t* value : {&claim.size, &claim.packed, &claim.begin}) {
          if (*value != kFull) continue;
          *value = Fields(extras, next, 8).eight(0);
          next += 8;
        }
      }
      e += 4 + length;
    }
    at += least + name + extra + comment;
    claims.push_back(std::move(claim));
  }
  return claims;
}

/// The compressed bytes of a file, which follow its local header.
Result<std::string_view> locate(std::string_view bytes, const Claim& claim, std::uint64_t end) {
  constexpr std::size_t least = 30;
  const Fields local(bytes, claim.begin, least);
  const std::uint64_t begin = claim.begin + least + local.two(26) + local.two(28);
  if (local.four(0) != kLocal || begin > end || claim.packed > end - begin)
    return base::refuse(
        ErrorKind::syntax, fieldOf(claim.name),
        {"its ", claim.packed, " bytes would lie beyond the end of the archive; it is cut off or damaged."});
  if (bytes.substr(claim.begin + least, local.two(26)) != claim.name)
    return base::refuse(ErrorKind::syntax, fieldOf(claim.name),
                        {"the archive has ", inQuotes(bytes.substr(claim.begin + least, local.two(26))),
                         " in its place; it is damaged."});
  return bytes.substr(begin, claim.packed);
}

Result<void> checkClaim(const Claim& claim) {
  if ((claim.flags & 1) != 0)
    return base::refuse(ErrorKind::type, fieldOf(claim.name),
                        {"it is encrypted; save it without a password."});
  if (claim.method != 0 && claim.method != 8)
    return base::refuse(ErrorKind::type, fieldOf(claim.name),
                        {"its compression has the number ", claim.method,
                         "; expected 0 (none) or 8 (deflate), as NumPy writes."});
  if (claim.method == 0 && claim.packed != claim.size)
    return base::refuse(ErrorKind::syntax, fieldOf(claim.name),
                        {"it is not compressed, and yet has ", claim.packed, " bytes for ", claim.size,
                         "; the directory is corrupt."});
  return {};
}

/// No two files may share bytes; otherwise a small archive could expand to a large amount of data.
Result<void> checkApart(std::vector<std::pair<const Claim*, std::string_view>> found) {
  base::sort(found, [](const auto& a, const auto& b) { return a.first->begin < b.first->begin; });
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i - 1].second.data() + found[i - 1].second.size() > found[i].second.data() ||
        found[i - 1].first->begin == found[i].first->begin)
      return base::refuse(
          ErrorKind::syntax, fieldOf(found[i].first->name),
          {"its bytes overlap those of ", inQuotes(found[i - 1].first->name), "; the directory is corrupt."});
  base::sort(found, [](const auto& a, const auto& b) { return a.first->name < b.first->name; });
  for (std::size_t i = 1; i < found.size(); ++i)
    if (found[i - 1].first->name == found[i].first->name)
      return base::refuse(ErrorKind::syntax, fieldOf(found[i].first->name),
                          {"the archive has it twice; give it once."});
  return {};
}

std::string megabytes(std::uint64_t bytes) { return std::to_string((bytes + 999'999) / 1'000'000) + " MB"; }

void put(std::string& out, std::uint64_t value, std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) out += static_cast<char>(value >> 8 * i & 255);
}

}  // namespace

Result<std::vector<ZipEntry>> readZip(std::string_view bytes, std::string_view suffix) {
  const Result<Directory> directory = findDirectory(bytes);
  if (!directory) return directory.error();
  Result<std::vector<Claim>> claims = readDirectory(bytes, *directory);
  if (!claims) return claims.error();
  std::vector<std::pair<const Claim*, std::string_view>> found;
  std::uint64_t inflated = 0;
  const std::uint64_t most = std::max<std::uint64_t>(kFreely, 4 * static_cast<std::uint64_t>(bytes.size()));
  for (const Claim& claim : *claims) {
    if (!claim.name.ends_with(suffix)) continue;
    if (auto ok = checkClaim(claim); !ok) return ok;
    const Result<std::string_view> packed = locate(bytes, claim, directory->begin);
    if (!packed) return packed.error();
    if (claim.method == 8) inflated = claim.size > most ? most + 1 : inflated + claim.size;
    if (inflated > most)
      return base::refuse(
          ErrorKind::memory, fieldOf(claim.name),
          {"the archive of ", megabytes(bytes.size()), " would inflate to more than ", megabytes(most),
           " (this entry alone to ", megabytes(claim.size), "); save it uncompressed, with numpy.savez."});
    found.emplace_back(&claim, *packed);
  }
  if (auto ok = checkApart(found); !ok) return ok;
  std::vector<ZipEntry> entries;
  for (const auto& [claim, packed] : found) {
    ZipEntry entry{claim->name, packed, nullptr};
    if (claim->method == 8) {
      const std::shared_ptr<char[]> memory = memoryFor(claim->size);
      if (!memory)
        return base::refuse(
            ErrorKind::memory, fieldOf(claim->name),
            {"there is not enough memory for its ", megabytes(claim->size), "; give smaller tensors."});
      if (!inflate(packed, memory.get(), claim->size))
        return base::refuse(
            ErrorKind::syntax, fieldOf(claim->name),
            {"it does not inflate to the ", claim->size, " bytes that the directory says; it is damaged."});
      entry.bytes = {memory.get(), static_cast<std::size_t>(claim->size)};
      entry.owned = memory;
    }
    if (crc32(entry.bytes) != claim->check)
      return base::refuse(ErrorKind::syntax, fieldOf(claim->name),
                          {"its checksum does not match; it is damaged."});
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool writeZip(const std::vector<ZipSource>& sources, const std::function<bool(std::string_view)>& write) {
  constexpr std::uint32_t firstDay =
      0x00210000;  // 1980-01-01 without a time, so that the same numbers give the same archive
  std::string central;
  std::uint64_t at = 0;
  const auto emit = [&](std::string_view bytes) { return at += bytes.size(), write(bytes); };
  for (const ZipSource& source : sources) {
    std::uint64_t size = 0;
    std::uint32_t check = 0;
    for (const std::string_view piece : source.pieces) size += piece.size(), check = crc32(piece, check);
    const std::uint64_t begin = at;
    const bool isLarge = size >= kFull, isFar = begin >= kFull;
    std::string local;
    put(local, kLocal, 4), put(local, isLarge ? 45 : 20, 2), put(local, 0x800, 2), put(local, 0, 2),
        put(local, firstDay, 4), put(local, check, 4);
    put(local, isLarge ? kFull : size, 4), put(local, isLarge ? kFull : size, 4);
    put(local, source.name.size(), 2), put(local, isLarge ? 20 : 0, 2);
    local += source.name;
    if (isLarge) put(local, 1, 2), put(local, 16, 2), put(local, size, 8), put(local, size, 8);
    if (!emit(local)) return false;
    for (const std::string_view piece : source.pieces)
      if (!emit(piece)) return false;
    put(central, kCentral, 4), put(central, 0x300 | (isLarge || isFar ? 45 : 20), 2),
        put(central, isLarge || isFar ? 45 : 20, 2), put(central, 0x800, 2), put(central, 0, 2);
    put(central, firstDay, 4), put(central, check, 4), put(central, isLarge ? kFull : size, 4),
        put(central, isLarge ? kFull : size, 4);
    put(central, source.name.size(), 2),
        put(central, isLarge || isFar ? 4 + (isLarge ? 16 : 0) + (isFar ? 8 : 0) : 0, 2), put(central, 0, 2),
        put(central, 0, 2), put(central, 0, 2);
    put(central, std::uint64_t{0644} << 16, 4), put(central, isFar ? kFull : begin, 4);
    central += source.name;
    if (isLarge || isFar) put(central, 1, 2), put(central, (isLarge ? 16 : 0) + (isFar ? 8 : 0), 2);
    if (isLarge) put(central, size, 8), put(central, size, 8);
    if (isFar) put(central, begin, 8);
  }
  const std::uint64_t begin = at, size = central.size(), count = sources.size();
  if (!emit(central)) return false;
  std::string end;
  const bool isLarge = begin >= kFull || size >= kFull || count >= 0xffff;
  if (isLarge) {
    const std::uint64_t here = at;
    put(end, kEnd64, 4), put(end, 44, 8), put(end, 0x32d, 2), put(end, 45, 2), put(end, 0, 4), put(end, 0, 4);
    put(end, count, 8), put(end, count, 8), put(end, size, 8), put(end, begin, 8);
    put(end, kLocator, 4), put(end, 0, 4), put(end, here, 8), put(end, 1, 4);
  }
  put(end, kEnd, 4), put(end, 0, 2), put(end, 0, 2), put(end, std::min<std::uint64_t>(count, 0xffff), 2),
      put(end, std::min<std::uint64_t>(count, 0xffff), 2);
  put(end, std::min<std::uint64_t>(size, kFull), 4), put(end, std::min<std::uint64_t>(begin, kFull), 4),
      put(end, 0, 2);
  return emit(end);
}

}  // namespace files
