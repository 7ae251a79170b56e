// Assigns the tensors of a file to q, k, v and the other inputs, by name.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/formats/format.h"
#include "files/layout/tensors_file.h"

namespace files {

/// Converts a stored file to a tensors file. In addition to the names used in JSON (tensors_file.h), in any
/// case, it knows common alternatives: query, key, value, attn_mask, is_causal, past_key, past_value,
/// nonpad_kv_seqlen, wq …. qkv contains all three, stacked on a first axis of 3 or side by side in the
/// columns. arr_0, arr_1, arr_2 (and arr_3), which numpy.savez assigns to unnamed arrays, are q, k, v (and
/// mask). Scalars are options (causal, scale …), as is the metadata of safetensors; "options" is a JSON text;
/// labels, tokens and key_labels are texts. If no tensor is called q, but exactly one prefix has q, k and v
/// ("layers.0.q"), or if `prefix` names one, only the tensors with that prefix are used. An error, with a
/// sentence, for what arrayOf() and checkFields() refuse, two names with the same meaning, and several such
/// prefixes.
Result<TensorsFile> tensorsOf(StoredFile file, std::string_view prefix = {},
                              NotFinite notFinite = NotFinite::refused);

/// The tensors file for one unnamed tensor: q, k and v stacked on a first axis of 3; or else the tensor is
/// used as q, k and v alike, so that its rows attend to each other without projections.
Result<TensorsFile> tensorsOfOne(StoredFile file, NotFinite notFinite = NotFinite::refused);

/// Writes a file by writeStored(). JSON and npz have no metadata, so labels become texts there, and the
/// settings of a layer one text, "options"; other metadata, such as PyTorch's "format", is dropped. In JSON
/// scalars that are settings become part of "options" too.
bool writeFile(StoredFile file, Format format, const std::function<bool(std::string_view)>& put);

/// The notes of one layer, without its prefix: its own, and of the others those that it does not have itself.
std::vector<std::pair<std::string_view, std::string_view>> notesOf(const StoredFile& file,
                                                                   std::string_view prefix);

/// Are the tensors called arr_0, arr_1 …, which numpy.savez assigns to unnamed arrays?
bool isNameless(const StoredFile& file);

/// Could a tensor with this name be an input of a layer?
bool isLayerName(std::string_view name);

}  // namespace files
