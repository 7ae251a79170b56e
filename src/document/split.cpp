#include <string>
#include <string_view>
#include <vector>

#include "document/option.h"
#include "document/sentence.h"

namespace document {
namespace {

enum class Sort { space, punctuation, ideograph, word };

bool isIn(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool isSpace(char32_t c) {
  return c <= 0x20 || c == 0x7f || isIn(c, 0x80, 0xa0) || isIn(c, 0x2000, 0x200b) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

bool isPunctuation(char32_t c) {
  if (c < 0x80) return !(isIn(c, '0', '9') || isIn(c, 'a', 'z') || isIn(c, 'A', 'Z') || c == '_');
  return c == 0xa1 || c == 0xa7 || c == 0xab || c == 0xb6 || c == 0xb7 || c == 0xbb || c == 0xbf ||
         isIn(c, 0x2010, 0x2027) || isIn(c, 0x2030, 0x205e) || isIn(c, 0x3001, 0x3003) ||
         isIn(c, 0x3008, 0x3011) || isIn(c, 0xff01, 0xff0f) || isIn(c, 0xff1a, 0xff20);
}

// Scripts that are written without spaces: one character is one token.
bool isIdeograph(char32_t c) {
  return isIn(c, 0x3040, 0x30ff) || isIn(c, 0x3400, 0x4dbf) || isIn(c, 0x4e00, 0x9fff) ||
         isIn(c, 0xf900, 0xfaff) || isIn(c, 0x20000, 0x2ffff);
}

struct Character {
  std::string_view bytes;
  char32_t code = 0;
  Sort sort = Sort::word;
};

// A byte that is no UTF-8 counts as part of a word; the check of the labels names it.
Character firstOf(std::string_view text) {
  const int length = utf8Length(text);
  if (length == 0) return {text.substr(0, 1), 0xfffd, Sort::word};
  const char32_t c = utf8Decode(text);
  const Sort sort = isSpace(c)         ? Sort::space
                    : isPunctuation(c) ? Sort::punctuation
                    : isIdeograph(c)   ? Sort::ideograph
                                       : Sort::word;
  return {text.substr(0, static_cast<std::size_t>(length)), c, sort};
}

bool isDigit(char32_t c) { return isIn(c, '0', '9'); }

// "didn't", "well-known", "3.5": a mark between two letters, or between two digits, belongs to the word.
bool joins(char32_t before, char32_t mark, const Character& after) {
  if (after.sort != Sort::word) return false;
  if (mark == '\'' || mark == 0x2019 || mark == '-' || mark == 0x2010 || mark == 0x2011) return true;
  return (mark == '.' || mark == ',') && isDigit(before) && isDigit(after.code);
}

}  // namespace

std::vector<std::string> splitTokens(std::string_view sentence) {
  std::vector<std::string> out;
  Character last{{}, 0, Sort::space};
  while (!sentence.empty()) {
    Character now = firstOf(sentence);
    sentence.remove_prefix(now.bytes.size());
    const bool inWord = last.sort == Sort::word;
    if (inWord && now.sort == Sort::punctuation && !sentence.empty() &&
        joins(last.code, now.code, firstOf(sentence)))
      now.sort = Sort::word;
    const bool goesOn =
        now.sort == Sort::word ? inWord : now.sort == Sort::punctuation && last.code == now.code;
    if (now.sort != Sort::space) {
      if (goesOn)
        out.back() += now.bytes;
      else
        out.emplace_back(now.bytes);
    }
    last = now;
  }
  return out;
}

}  // namespace document
