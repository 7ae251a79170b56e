// Converts tokens as written by tokenizers to readable labels.
#pragma once

#include <string>
#include <vector>

namespace files {

/// Readable labels for tokens. If any token begins with the Ġ of byte-level BPE (Radford et al. 2019) or
/// contains its Ċ, all are decoded from that spelling, and a space at either end is shown as "␣". Line ends
/// and other control characters, and bytes that are not valid UTF-8, are written as "\n", "\t", "\x07". Plain
/// text, and the ▁ of SentencePiece, are not changed.
std::vector<std::string> readableLabels(std::vector<std::string> tokens);

}  // namespace files
