// NumPy's archive of arrays, .npz.
#include <algorithm>
#include <utility>

#include "base/sentence.h"
#include "files/formats/format.h"
#include "files/formats/npy.h"
#include "files/formats/zip.h"

namespace files {
namespace {

using ErrorKind = Error::Kind;

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

}  // namespace

bool isNpz(std::string_view bytes) {
  return bytes.starts_with(kZipMagic) || bytes.starts_with(kEmptyZipMagic);
}

Result<StoredFile> readNpz(std::string_view bytes, std::string_view) {
  if (!bytes.starts_with("PK"))
    return base::refuse(ErrorKind::syntax, "file",
                        {"it is not a zip archive, which begins with \"PK\"; save it with numpy.savez."});
  Result<std::vector<ZipEntry>> entries = readZip(bytes, ".npy");
  if (!entries) return entries.error();
  StoredFile file;
  std::size_t texts = 0;
  for (ZipEntry& entry : *entries) {
    Result<Stored> tensor = readNpyArray(entry.bytes, fieldOf(entry.name.substr(0, entry.name.size() - 4)));
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

bool writeNpz(const StoredFile& file, const Put& put) {
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
    const Stored& tensor = tensors.emplace_back(npyNumbers(given));
    if (tensor.type == Type::text) kept.push_back(npyOfTexts(tensor));
    else kept.emplace_back(npyHeader(npyDescr(tensor.type), tensor.shape), std::string());
    sources.push_back({tensor.name + ".npy",
                       {kept.back().first,
                        tensor.type == Type::text ? std::string_view(kept.back().second) : tensor.bytes}});
  }
  return writeZip(sources, put);
}

}  // namespace files
