#include "files/layout/labels.h"

#include <algorithm>
#include <string_view>

#include "base/sentence.h"

namespace files {
namespace {

constexpr char32_t kFirst = 0x100, kSpace = 0x120, kLineEnd = 0x10a;

/// The byte for a character of byte-level BPE: printable bytes stand for themselves, the other 68 are
/// numbered from U+0100 on. -1 if it is none.
int byteOf(char32_t letter) {
  const auto isItself = [](int byte) {
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xff && byte != 0xad);
  };
  if (letter < kFirst) return isItself(static_cast<int>(letter)) ? static_cast<int>(letter) : -1;
  int rest = static_cast<int>(letter - kFirst);
  for (int byte = 0; byte < 256; ++byte)
    if (!isItself(byte) && rest-- == 0) return byte;
  return -1;
}

bool has(std::string_view label, char32_t letter) {
  for (int length = 0; !label.empty(); label.remove_prefix(static_cast<std::size_t>(std::max(length, 1)))) {
    length = base::utf8Length(label);
    if (length > 0 && base::utf8Decode(label) == letter) return true;
  }
  return false;
}

/// Decodes a label; returns it unchanged if it contains other characters, such as those of a special token.
std::string bytesOf(const std::string& label) {
  std::string out;
  for (std::string_view rest = label; !rest.empty();) {
    const int length = base::utf8Length(rest), byte = length > 0 ? byteOf(base::utf8Decode(rest)) : -1;
    if (byte < 0) return label;
    out += static_cast<char>(byte);
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  return out;
}

void escape(std::string& out, unsigned char byte) {
  constexpr const char* digits = "0123456789abcdef";
  out += '\\';
  if (byte == '\n') out += 'n';
  else if (byte == '\t') out += 't';
  else if (byte == '\r') out += 'r';
  else out += 'x', out += digits[byte >> 4], out += digits[byte & 15];
}

std::string readable(std::string_view label) {
  std::string out;
  for (std::string_view rest = label; !rest.empty();) {
    const auto byte = static_cast<unsigned char>(rest[0]);
    const int length = base::utf8Length(rest);
    const bool isControl = byte < 32 || byte == 127 || (length == 2 && base::utf8Decode(rest) < 0xa0);
    if (length == 0 || isControl) {
      escape(out, byte);
      rest.remove_prefix(1);
      continue;
    }
    const bool isEnd = rest.size() == label.size() || rest.size() == 1;
    if (byte == ' ' && isEnd) out += "\xe2\x90\xa3";
    else out += rest.substr(0, static_cast<std::size_t>(length));
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  return out;
}

}  // namespace

std::vector<std::string> readableLabels(std::vector<std::string> tokens) {
  const bool isBytes = std::any_of(tokens.begin(), tokens.end(), [](const std::string& token) {
    return has(token, kSpace) || has(token, kLineEnd);
  });
  for (std::string& token : tokens) token = readable(isBytes ? bytesOf(token) : token);
  return tokens;
}

}  // namespace files
