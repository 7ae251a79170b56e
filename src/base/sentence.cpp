#include "base/sentence.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/sort.h"

namespace base {
namespace {

bool isControl(char32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

std::string escapedByte(char c) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
}

}  // namespace

std::string joined(std::initializer_list<Piece> pieces) {
  std::string out;
  for (const Piece& piece : pieces) piece.appendTo(out);
  return out;
}

Result<void> refuse(Error::Kind kind, std::string_view field, std::initializer_list<Piece> pieces) {
  return Error{kind, std::string(field), Message(pieces)};
}

Result<void> refuseAt(Error::Kind kind, const Message& place, std::initializer_list<Piece> pieces) {
  return Error{kind, place.english(), Message(pieces), false, Error::Fault::other, place};
}

std::string Error::message() const { return said().english(); }

Message Error::said() const {
  if (field.empty()) return sentence;
  if (!place.empty()) return {place, ": ", sentence};
  if (!isSubject) return {field, ": ", sentence};
  Message out{field, " "};
  return out += sentence;
}

std::string printable(std::string_view text) {
  const auto turns = [](char32_t c) {  // U+2028 and U+2029 are the line and paragraph separators
    return c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
  };
  std::string out;
  while (!text.empty()) {
    const int length = utf8Length(text);
    const char32_t c = length == 0 ? 0 : utf8Decode(text);
    const auto bytes = static_cast<std::size_t>(std::max(length, 1));
    const bool isEscaped = isControl(c) || turns(c);
    for (const char byte : text.substr(0, bytes)) out += isEscaped ? escapedByte(byte) : std::string(1, byte);
    text.remove_prefix(bytes);
  }
  return out;
}

std::string inQuotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string out = "\"";
  const std::size_t whole = clustersWithin(text, longest),
                    end = whole > 0 ? whole : std::min(longest, text.size());
  std::size_t at = 0;
  while (at < end) {
    const int length = utf8Length(text.substr(at));
    if (length == 0 || isControl(utf8Decode(text.substr(at)))) {
      out += escapedByte(text[at++]);
    } else {
      out += text.substr(at, static_cast<std::size_t>(length));
      at += static_cast<std::size_t>(length);
    }
  }
  return out + (at < text.size() ? "…\"" : "\"");
}

std::string lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  return out;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string orList(const std::vector<std::string>& items) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += i + 1 == items.size() ? " or " : ", ";
    out += items[i];
  }
  return out;
}

Message either(const std::vector<std::string>& items) {
  const std::size_t most = std::max<std::size_t>(items.size(), 1) - 1;
  std::string first;
  for (std::size_t i = 0; i < most; ++i) first.append(i > 0 ? ", " : "").append(items[i]);
  const std::string_view last = items.empty() ? std::string_view() : items.back();
  if (most == 0) return {first, last};  // names, which are no texts to be translated
  return {first, " or ", last};
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
  std::string out = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

namespace {

std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t before = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = before + (a[i] == b[j] ? 0 : 1);
      before = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, before + 1});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names,
                                 std::size_t count) {
  const std::string_view start = word.substr(0, 64);
  std::vector<std::pair<int, std::size_t>> order;  // of names at the same distance the one listed first
  for (std::size_t i = 0; i < names.size(); ++i)
    order.emplace_back(static_cast<int>(edits(start, names[i])), i);
  sort(order, std::less<>());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(count, names.size()); ++i) out.push_back(names[order[i].second]);
  return out;
}

int utf8Length(std::string_view text) {
  if (text.empty()) return 0;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const int length = first < 0x80   ? 1
                     : first < 0xc2 ? 0
                     : first < 0xe0 ? 2
                     : first < 0xf0 ? 3
                     : first < 0xf5 ? 4
                                    : 0;
  if (length == 0 || text.size() < static_cast<std::size_t>(length)) return 0;
  for (int i = 1; i < length; ++i)
    if ((byte(static_cast<std::size_t>(i)) & 0xc0) != 0x80) return 0;
  // Overlong encodings, surrogates and code points beyond U+10FFFF: all can be told by the second byte.
  const unsigned second = length > 1 ? byte(1) : 0;
  const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return bad ? 0 : length;
}

char32_t utf8Decode(std::string_view text) {
  const int length = utf8Length(text);
  const auto first = static_cast<unsigned char>(text[0]);
  char32_t c = length == 1 ? first : first & (0x7fu >> length);
  for (int i = 1; i < length; ++i)
    c = (c << 6) | (static_cast<unsigned char>(text[static_cast<std::size_t>(i)]) & 0x3fu);
  return c;
}

}  // namespace base
