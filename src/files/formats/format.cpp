#include "files/formats/format.h"

#include <algorithm>
#include <iterator>

#include "base/sentence.h"
#include "files/formats/table.h"

namespace files {
namespace {

using base::inQuotes;
using ErrorKind = Error::Kind;

/// What its files hold.
enum class Content : std::uint8_t { texts, tensors, one, table };

struct Row {
  std::string_view ending, sign, condition;
  Content holds;
  bool (*begins)(std::string_view bytes);
  Result<StoredFile> (*read)(std::string_view bytes, std::string_view tensor);
  bool (*write)(const StoredFile& file, const Put& put);
};
constexpr Row kRows[] = {
#define FORMAT(name, Name, holds, type, sign, condition) \
  {"." #name, sign, condition, Content::holds, is##Name, read##Name, write##Name},
#include "files/formats/formats.def"
};

const Row& rowOf(Format format) { return kRows[static_cast<std::size_t>(format)]; }

/// An error if a file's content is of another format than its name says.
Result<void> checkBegin(std::string_view bytes, Format format) {
  for (const Row& other : kRows)
    if (&other != &rowOf(format) && !other.sign.empty() && other.begins(bytes))
      return base::refuse(
          ErrorKind::type, "file",
          {"its name ends in ", name(format), ", and it begins as ", other.sign, " does; rename it to ",
           std::string(other.ending) + std::string(other.condition), "."});
  if (bytes.empty()) return base::refuse(ErrorKind::syntax, "file", {"it is empty; give tensors."});
  // A Python pickle begins with its protocol number; reading one would execute the program that it contains.
  if (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && !isSafetensors(bytes))
    return base::refuse(ErrorKind::type, "file",
                        {"it is pickled, as torch.save and pickle.dump write it, and such files are never "
                         "read; save it with safetensors or numpy.savez."});
  return {};
}

}  // namespace

std::string_view name(Format format) { return rowOf(format).ending; }

std::optional<Format> formatOf(std::string_view path) {
  for (const Row& row : kRows) {
    const std::string_view ending = row.ending;
    if (path.size() <= ending.size() || path[path.size() - ending.size() - 1] == '/') continue;
    const std::string_view end = path.substr(path.size() - ending.size());
    if (std::equal(end.begin(), end.end(), ending.begin(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; }))
      return static_cast<Format>(&row - kRows);
  }
  return std::nullopt;
}

bool holdsOne(Format format) { return rowOf(format).holds >= Content::one; }
bool holdsTexts(Format format) { return rowOf(format).holds == Content::texts; }

std::vector<std::string> formatEndings(bool ofOne) {
  std::vector<std::string> endings;
  for (const Row& row : kRows)
    if (!ofOne || row.holds >= Content::one) endings.emplace_back(row.ending);
  return endings;
}
std::string formatList(bool ofOne) { return base::orList(formatEndings(ofOne)); }

std::string formatPatterns() {
  std::string patterns;
  for (const Row& row : kRows) patterns += (patterns.empty() ? "*" : " *") + std::string(row.ending);
  return patterns;
}

std::string_view formatFacts() {
#define FORMAT(name, Name, holds, type, ...) #name " " type " " #holds "\n"
  return
#include "files/formats/formats.def"
      ;
}

Format formatOfBytes(std::string_view bytes) {
  const auto* const row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& one) { return one.begins(bytes); });
  return static_cast<Format>(row - kRows);  // each text begins as one of the tables does
}

Result<StoredFile> readStored(std::string_view bytes, Format format, std::string_view tensorName) {
  if (auto ok = checkBegin(bytes, format); !ok) return ok;
  return rowOf(format).read(bytes, tensorName);
}

Result<void> checkWritable(const StoredFile& file, Format format) {
  if (!holdsOne(format)) return {};
  std::vector<std::string> names;
  for (const Stored& tensor : file.tensors)
    if (tensor.type != Type::text) names.push_back(tensor.name);
  if (names.size() != 1) {
    base::Message why{names.size(), " tensors do not fit one ", name(format), "; choose one"};
    names.resize(std::min<std::size_t>(names.size(), 8));
    if (!names.empty()) why += {" of ", base::either(names)};
    return base::Error{ErrorKind::range, "file", why += {"."}};
  }
  for (const Stored& tensor : file.tensors)
    if (rowOf(format).holds == Content::table && tensor.type != Type::text) return checkTable(tensor);
  return {};
}

bool writeStored(const StoredFile& file, Format format, const Put& put) {
  return rowOf(format).write(file, put);
}

std::string listing(const StoredFile& file) {
  std::size_t widest = 0, widestType = 0;
  for (const Stored& tensor : file.tensors)
    widest = std::max(widest, tensor.name.size()),
    widestType = std::max(widestType, name(tensor.type).size());
  std::string out;
  for (const Stored& tensor : file.tensors) {
    std::string type(name(tensor.type));
    out += tensor.name + std::string(widest - tensor.name.size() + 2, ' ') + type +
           std::string(widestType - type.size() + 2, ' ') + base::shapeText(tensor.shape);
    if (tensor.isColumnMajor && tensor.shape.size() > 1) out += "  Fortran order";
    if (tensor.isBigEndian && bytesOf(tensor.type) > 1) out += "  big-endian";
    out += '\n';
  }
  return out;
}

}  // namespace files
