#include "files/formats/format.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/sentence.h"
#include "document/json.h"
#include "files/formats/npy.h"
#include "files/formats/safetensors.h"
#include "files/formats/table.h"
#include "files/formats/tensors_json.h"
#include "files/formats/zip.h"

namespace files {
namespace {

using base::inQuotes;
using ErrorKind = Error::Kind;

constexpr std::array<std::string_view, 6> kEndings{".json", ".npy", ".npz", ".safetensors", ".csv", ".tsv"};

/// An error if a file's content is of another format than its name says.
Result<void> checkBegin(std::string_view bytes, Format format) {
  const auto refused = [&](std::string_view what, std::string_view other) {
    return base::refuse(ErrorKind::type, "file",
                        {"its name ends in " + std::string(name(format)) + ", and it begins as " +
                         std::string(what) + " does; rename it to " + std::string(other) + "."});
  };
  if (format != Format::npz && bytes.starts_with(kZipMagic))
    return refused("an archive", ".npz, if numpy.savez wrote it");
  if (format != Format::npy && bytes.starts_with(kNpyMagic)) return refused("an .npy file", ".npy");
  if (format != Format::safetensors && format != Format::npz && isSafetensors(bytes))
    return refused("a .safetensors file", ".safetensors");
  if (format == Format::npz && !bytes.starts_with("PK"))
    return base::refuse(
        ErrorKind::syntax, "file",
        {bytes.empty() ? "it is empty; expected an archive as numpy.savez writes it."
                       : "it is not a zip archive, which begins with \"PK\"; save it with numpy.savez."});
  if (bytes.empty()) return base::refuse(ErrorKind::syntax, "file", {"it is empty; give tensors."});
  // A Python pickle begins with its protocol number; reading one would execute the program that it contains.
  if (bytes.size() > 1 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5 && !isSafetensors(bytes))
    return base::refuse(ErrorKind::type, "file",
                        {"it is pickled, as torch.save and pickle.dump write it, and such files are never "
                         "read; save it with safetensors or numpy.savez."});
  return {};
}

Result<StoredFile> one(Result<Stored> tensor) {
  if (!tensor) return tensor.error();
  StoredFile file;
  file.tensors.push_back(std::move(*tensor));
  return file;
}

Result<StoredFile> readNpz(std::string_view bytes) {
  Result<std::vector<ZipEntry>> entries = readZip(bytes, ".npy");
  if (!entries) return entries.error();
  StoredFile file;
  std::size_t texts = 0;
  for (ZipEntry& entry : *entries) {
    Result<Stored> tensor = readNpy(entry.bytes, fieldOf(entry.name.substr(0, entry.name.size() - 4)));
    if (!tensor) return tensor.error();
    texts += tensor->texts.size();
    if (texts > kMostTexts)
      return base::refuse(ErrorKind::memory, tensor->name,
                          {"the archive has more than ", kMostTexts, " texts with it; give fewer."});
    tensor->owned = std::move(entry.owned);
    file.tensors.push_back(std::move(*tensor));
  }
  if (file.tensors.empty())
    return base::refuse(ErrorKind::type, "file",
                        {bytes.find("data.pkl") != std::string_view::npos
                             ? "it is an archive of PyTorch, which is pickled and never read; save it with "
                               "safetensors or numpy.savez."
                             : "the archive has no .npy in it; save it with numpy.savez."});
  return file;
}

/// Converts bfloat16, which NumPy does not have, to float32.
Stored withoutBrain(const Stored& tensor) {
  Stored out = tensor;
  if (tensor.type != Type::bfloat16) return out;
  const std::size_t count = tensor.bytes.size() / 2;
  const std::shared_ptr<char[]> memory = memoryFor(count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(memory.get() + 4 * i + 2, tensor.bytes.data() + 2 * i, 2);
    std::memset(memory.get() + 4 * i, 0, 2);
  }
  out.type = Type::float32, out.bytes = {memory.get(), count * 4}, out.owned = memory;
  return out;
}

/// Texts in NumPy's type U: UCS-4, as wide as the longest.
std::pair<std::string, std::string> npyOfTexts(const Stored& tensor) {
  std::vector<std::u32string> texts;
  std::size_t width = 1;
  for (std::string_view text : tensor.texts) {
    std::u32string points;
    while (!text.empty()) {
      const int length = base::utf8Length(text);
      points += length > 0 ? base::utf8Decode(text) : U'�';
      text.remove_prefix(static_cast<std::size_t>(std::max(length, 1)));
    }
    width = std::max(width, points.size());
    texts.push_back(std::move(points));
  }
  std::string data;
  for (const std::u32string& points : texts)
    for (std::size_t i = 0; i < width; ++i)
      for (int b = 0; b < 4; ++b) data += static_cast<char>(i < points.size() ? points[i] >> 8 * b & 255 : 0);
  return {npyHeader("<U" + std::to_string(width), tensor.shape), std::move(data)};
}

bool writeNpz(const StoredFile& file, const std::function<bool(std::string_view)>& put) {
  std::vector<std::pair<std::string, std::string>> kept;  // owns headers, and the data of texts
  std::vector<Stored> tensors;
  std::vector<Stored> all = file.tensors;
  for (const auto& [key, text] : file.notes) {
    Stored note;
    note.name = key, note.type = Type::text, note.texts = {text};
    all.push_back(std::move(note));
  }
  kept.reserve(all.size()), tensors.reserve(all.size());
  std::vector<ZipSource> sources;
  for (const Stored& given : all) {
    const Stored& tensor = tensors.emplace_back(withoutBrain(given));
    if (tensor.type == Type::text) kept.push_back(npyOfTexts(tensor));
    else kept.emplace_back(npyHeader(npyDescr(tensor.type), tensor.shape), std::string());
    sources.push_back({tensor.name + ".npy",
                       {kept.back().first,
                        tensor.type == Type::text ? std::string_view(kept.back().second) : tensor.bytes}});
  }
  return writeZip(sources, put);
}

}  // namespace

std::string_view name(Format format) { return kEndings[static_cast<std::size_t>(format)]; }

std::optional<Format> formatOf(std::string_view path) {
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    const std::string_view ending = kEndings[i];
    if (path.size() <= ending.size() || path[path.size() - ending.size() - 1] == '/') continue;
    const std::string_view end = path.substr(path.size() - ending.size());
    if (std::equal(end.begin(), end.end(), ending.begin(),
                   [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; }))
      return static_cast<Format>(i);
  }
  return std::nullopt;
}

bool holdsOne(Format format) {
  return format == Format::npy || format == Format::csv || format == Format::tsv;
}

std::string formatList(bool ofOne) {
  std::vector<std::string> endings;
  for (std::size_t i = 0; i < kEndings.size(); ++i)
    if (!ofOne || holdsOne(static_cast<Format>(i))) endings.emplace_back(kEndings[i]);
  return base::orList(endings);
}

std::string formatPatterns() {
  std::string patterns;
  for (const std::string_view ending : kEndings)
    patterns += (patterns.empty() ? "*" : " *") + std::string(ending);
  return patterns;
}

Format formatOfBytes(std::string_view bytes) {
  if (bytes.starts_with(kNpyMagic)) return Format::npy;
  if (bytes.starts_with(kZipMagic) || bytes.starts_with(kEmptyZipMagic)) return Format::npz;
  if (isSafetensors(bytes)) return Format::safetensors;
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || bytes[first] == '{' || bytes[first] == '[') return Format::json;
  return bytes.substr(0, bytes.find('\n')).find('\t') != std::string_view::npos ? Format::tsv : Format::csv;
}

Result<StoredFile> readStored(std::string_view bytes, Format format, std::string_view tensorName) {
  if (auto ok = checkBegin(bytes, format); !ok) return ok;
  switch (format) {
    case Format::json: return readJson(bytes, tensorName);
    case Format::npy: return one(readNpy(bytes, tensorName));
    case Format::npz: return readNpz(bytes);
    case Format::safetensors: return readSafetensors(bytes);
    case Format::csv: return readTable(bytes, ',', tensorName);
    case Format::tsv: break;
  }
  return readTable(bytes, '\t', tensorName);
}

Result<void> checkWritable(const StoredFile& file, Format format) {
  if (!holdsOne(format)) return {};
  std::vector<std::string> names;
  for (const Stored& tensor : file.tensors)
    if (tensor.type != Type::text) names.push_back(tensor.name);
  if (names.size() != 1)
    return base::refuse(
        ErrorKind::range, "file",
        {std::to_string(names.size()) + " tensors do not fit one " + std::string(name(format)) +
         "; choose one" +
         (names.empty() ? "."
                        : " of " +
                              base::orList({names.begin(),
                                            names.begin() + static_cast<std::ptrdiff_t>(
                                                                std::min<std::size_t>(names.size(), 8))}) +
                              ".")});
  for (const Stored& tensor : file.tensors)
    if (format != Format::npy && tensor.type != Type::text) return checkTable(tensor);
  return {};
}

bool writeStored(const StoredFile& file, Format format, const std::function<bool(std::string_view)>& put) {
  switch (format) {
    case Format::json: return writeJson(file, put);
    case Format::npz: return writeNpz(file, put);
    case Format::safetensors: return writeSafetensors(withNotes(file), put);
    default: break;
  }
  const auto found = std::find_if(file.tensors.begin(), file.tensors.end(),
                                  [](const Stored& tensor) { return tensor.type != Type::text; });
  if (format == Format::csv || format == Format::tsv)
    return writeTable(*found, format == Format::csv ? ',' : '\t', put);
  const Stored tensor = withoutBrain(*found);
  return put(npyHeader(npyDescr(tensor.type), tensor.shape)) && put(tensor.bytes);
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
