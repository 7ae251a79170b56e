// The file formats of tensors, and how to recognise them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "files/formats/stored.h"

namespace files {

enum class Format : std::uint8_t {
#define FORMAT(name, ...) name,
#include "files/formats/formats.def"
};

using Put = std::function<bool(std::string_view)>;

// What each has in its own file: whether bytes begin as its files do, its reader, and its writer, which stops
// when `put` returns false, and returns its result.
#define FORMAT(name, Name, ...)                                                   \
  bool is##Name(std::string_view bytes);                                          \
  Result<StoredFile> read##Name(std::string_view bytes, std::string_view tensor); \
  bool write##Name(const StoredFile& file, const Put& put);
#include "files/formats/formats.def"

std::string_view name(Format format);  ///< ".npz"
/// The format by the extension of a path, ignoring case; nothing for an unknown one.
std::optional<Format> formatOf(std::string_view path);
/// The format by the first bytes, for input without a name; a table (tsv or csv) if it is none of the others.
Format formatOfBytes(std::string_view bytes);
/// Does it hold a single tensor, without its name?
bool holdsOne(Format format);
/// Does it hold texts beside tensors, and not as notes?
bool holdsTexts(Format format);
/// ".json, .npy, .npz, .safetensors, .csv or .tsv"; if `ofOne`, those that hold one: ".npy, .csv or .tsv"
std::string formatList(bool ofOne = false);
std::vector<std::string> formatEndings(bool ofOne = false);
std::string formatPatterns();  ///< "*.json *.npy …", for dialogs
/// For the page's scripts, a line for each: its name, its MIME type, and what it holds.
std::string_view formatFacts();

/// The most memory that reading takes beside the file's own bytes, at any time, from here to the layer or the
/// state that the tensors become (match.h, read_layer.h, opener.h; tests/unit/test_reading.cpp measures it):
///   4 × the file's size + 4 bytes for each value of the layer + kBytesOfEntry for each tensor and text + kBytesOfReader.
/// Values are computed with as 32-bit floats, so the second term is the least that a file of smaller types
/// can take; one tensor that is q, k and v alike has its values three times, and four times where the board
/// has to ask about it. A compressed archive may inflate to 4 times its size or 64 MB (zip.h), and that is
/// its size here. A single text of more than a million characters takes up to 5 times its length while it is
/// parsed.
inline constexpr std::size_t kBytesOfEntry = 512, kBytesOfReader = 100'000;

/// Reads everything in a file, with its types. Tensors point into `bytes`. In formats without names (npy,
/// csv, tsv), and for JSON that is a single list, the tensor is called `name`. An error for what the reader
/// of the format refuses, and for a file of another format.
Result<StoredFile> readStored(std::string_view bytes, Format format, std::string_view name);

/// An error if the format cannot hold the file; its sentence says which formats can.
Result<void> checkWritable(const StoredFile& file, Format format);

/// Writes all tensors; they must be plain(), and pass checkWritable(). npy, csv and tsv hold only one.
/// Numbers keep their bits, except that npy and npz do not have bfloat16, which becomes float32. Texts are
/// written to npz and JSON, and to safetensors as metadata; metadata becomes texts in npz and JSON. Stops
/// when `put` returns false, and returns its result.
bool writeStored(const StoredFile& file, Format format, const Put& put);

/// The output of `attn info`: a line per tensor with name, type, shape and order, separated by tabs.
std::string listing(const StoredFile& file);

}  // namespace files
