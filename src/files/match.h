// Which tensors of a file are q, k, v and the rest.
#pragma once

#include <string>
#include <string_view>

#include "files/stored.h"

namespace files {

/// The tensors file that a stored one is: every tensor has its place by its name. Beside the names of JSON (tensors_json.h), in
/// any case, it knows those of others: query, key, value, attn_mask, is_causal, past_key, past_value, nonpad_kv_seqlen, wq …; qkv is
/// the three stacked on a first axis of 3, or side by side in the columns; arr_0, arr_1, arr_2 (and arr_3) are q, k, v (and mask), as numpy.savez
/// calls what has no name. Single values are options (causal, scale …), and so are the notes of safetensors; "options" is a text of
/// JSON; labels, tokens and key_labels are texts. Where no tensor is called q but exactly one prefix has q, k and v ("layers.0.q"), or
/// `prefix` names one, those are meant and no others.
/// Refused, with a sentence: what arrayOf() and checkFields() refuse, names that mean the same, and several such prefixes.
Result<TensorsFile> tensorsOf(StoredFile file, std::string_view prefix = {});

/// The tensors file of one tensor without a name: q, k and v stacked on a first axis of 3, or all three of them, so that its rows attend to
/// each other without any weights.
Result<TensorsFile> tensorsOfOne(StoredFile file);

/// Could a tensor of this name be part of a layer?
bool isLayerName(std::string_view name);

}  // namespace files
