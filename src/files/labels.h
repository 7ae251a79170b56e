// Tokens as tokenizers have them, as labels that can be read.
#pragma once

#include <string>
#include <vector>

namespace files {

/// Labels of tokens: where any begins with the Ġ of byte-level BPE (Radford et al. 2019) or holds its Ċ, all are bytes in that spelling, and become
/// the text they are; a space at either end becomes "␣". Line ends and other control characters become "\n", "\t", "\x07", and so
/// do bytes that are no UTF-8. What is plain text, and the ▁ of SentencePiece, stays as it is.
std::vector<std::string> readableLabels(std::vector<std::string> tokens);

}  // namespace files
