// The formats of tensors, and how one is known.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "files/stored.h"

namespace files {

enum class Format : std::uint8_t { json, npy, npz, safetensors, csv, tsv };

std::string_view name(Format format);                      ///< ".npz"
/// By the end of a path, in any case; none where it is none of ours.
std::optional<Format> formatOf(std::string_view path);
/// By the first bytes: for what has no name. A table where it is nothing else.
Format formatOfBytes(std::string_view bytes);
/// ".json, .npy, .npz, .safetensors, .csv or .tsv"
std::string formatList();

/// Everything that a file holds, with its types. Tensors point into `bytes`. The tensor of a format that has no names (npy, csv, tsv)
/// is called `name`. A JSON of one list too. Refused: what the reader of the format refuses, and what is of another format.
Result<StoredFile> readStored(std::string_view bytes, Format format, std::string_view name);

/// Can the format hold it all? A sentence that says what cannot be, and what could.
Result<void> checkWritable(const StoredFile& file, Format format);

/// Writes it, every tensor by its name; the tensors must be plain(), and pass checkWritable(). npy, csv and tsv have one. Numbers keep
/// their bits; npy and npz know no bfloat16, which becomes float32. Texts are kept by npz and JSON, and as notes by safetensors. Stops
/// when `put` returns false, and returns it.
bool writeStored(const StoredFile& file, Format format, const std::function<bool(std::string_view)>& put);

/// What `attn info` says: one line a tensor, name, type, shape and order, for people and for scripts to split at tabs.
std::string listing(const StoredFile& file);

}  // namespace files
