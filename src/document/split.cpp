#include <string>
#include <string_view>
#include <vector>

#include "base/sentence.h"
#include "document/option.h"

namespace document {
namespace {

enum class Sort { space, punctuation, ideograph, picture, word };

bool isIn(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool isSpace(char32_t c) {
  return c <= 0x20 || c == 0x7f || isIn(c, 0x80, 0xa0) || isIn(c, 0x2000, 0x200b) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000 || c == 0xfeff;
}

bool isPunctuation(char32_t c) {
  if (c < 0x80) return !(isIn(c, '0', '9') || isIn(c, 'a', 'z') || isIn(c, 'A', 'Z') || c == '_');
  return c == 0xa1 || c == 0xa7 || c == 0xab || c == 0xb6 || c == 0xb7 || c == 0xbb || c == 0xbf ||
         isIn(c, 0x2010, 0x2027) || isIn(c, 0x2030, 0x205e) || isIn(c, 0x2e00, 0x2e5d) ||
         isIn(c, 0x3001, 0x3003) || isIn(c, 0x3008, 0x3011) || isIn(c, 0x3014, 0x301f) || c == 0x30fb ||
         isIn(c, 0xff01, 0xff0f) || isIn(c, 0xff1a, 0xff20) || isIn(c, 0xff3b, 0xff3d) ||
         isIn(c, 0xff5b, 0xff65) ||
         // Arabic, Hebrew, Armenian, Devanagari and Ethiopic marks
         c == 0x60c || c == 0x61b || c == 0x61f || c == 0x6d4 || c == 0x5be || c == 0x5c0 || c == 0x5c3 ||
         isIn(c, 0x55a, 0x55f) || c == 0x589 || c == 0x964 || c == 0x965 || isIn(c, 0x1361, 0x1368);
}

// Scripts written without spaces: each character is a token, unless the text contains spaces between words.
bool isIdeograph(char32_t c) {
  return isIn(c, 0x3040, 0x30ff) || isIn(c, 0x3400, 0x4dbf) || isIn(c, 0x4e00, 0x9fff) ||
         isIn(c, 0xf900, 0xfaff) || isIn(c, 0x20000, 0x2ffff);
}

bool isPicture(char32_t c) {
  return isIn(c, 0x231a, 0x23ff) || isIn(c, 0x2600, 0x27bf) || isIn(c, 0x2b05, 0x2b55) ||
         isIn(c, 0x1f000, 0x1faff);
}

/// A grapheme cluster; `code` is its first code point.
struct Character {
  std::string_view bytes;
  char32_t code = 0;
  Sort sort = Sort::word;
};

// A byte that is not valid UTF-8 counts as part of a word; the check of labels will report it.
Character firstOf(std::string_view text) {
  const int length = base::utf8Length(text);
  if (length == 0) return {text.substr(0, 1), 0xfffd, Sort::word};
  const std::string_view bytes = text.substr(0, base::clusterLength(text));
  const char32_t c = base::utf8Decode(text);
  // "#", a variation selector and an enclosing keycap form one symbol, like an emoji.
  const bool isKey = bytes.ends_with("\xef\xb8\x8f") || bytes.ends_with("\xe2\x83\xa3");
  const Sort sort = isKey || isPicture(c) ? Sort::picture
                    : isSpace(c)          ? Sort::space
                    : isPunctuation(c)    ? Sort::punctuation
                    : isIdeograph(c)      ? Sort::ideograph
                                          : Sort::word;
  return {bytes, c, sort};
}

/// Is there white space between two ideographs? Then the text is already divided into words: "我 看见 一把
/// 锯子".
bool partsIdeographs(std::string_view text) {
  bool wasIdeograph = false, parted = false;
  while (!text.empty()) {
    const Character now = firstOf(text);
    text.remove_prefix(now.bytes.size());
    if (now.sort == Sort::ideograph && parted) return true;
    parted = now.sort == Sort::space && (wasIdeograph || parted);
    wasIdeograph = now.sort == Sort::ideograph;
  }
  return false;
}

bool isDigit(char32_t c) { return isIn(c, '0', '9'); }

// "didn't", "well-known", "3.5": a mark between two letters, or between two digits, belongs to the word.
bool joins(char32_t before, char32_t mark, const Character& after) {
  if (after.sort != Sort::word) return false;
  if (mark == '\'' || mark == 0x2019 || mark == '-' || mark == 0x2010 || mark == 0x2011) return true;
  return (mark == '.' || mark == ',') && isDigit(before) && isDigit(after.code);
}

}  // namespace

bool isIdeographic(std::string_view text) { return firstOf(text).sort == Sort::ideograph; }

std::vector<std::string> splitTokens(std::string_view sentence) {
  std::vector<std::string> out;
  const bool isParted = partsIdeographs(sentence);
  Character last{{}, 0, Sort::space};
  while (!sentence.empty()) {
    Character now = firstOf(sentence);
    if (isParted && now.sort == Sort::ideograph) now.sort = Sort::word;
    sentence.remove_prefix(now.bytes.size());
    const bool inWord = last.sort == Sort::word;
    if (inWord && now.sort == Sort::punctuation && !sentence.empty() &&
        joins(last.code, now.code, firstOf(sentence)))
      now.sort = Sort::word;
    const bool goesOn =
        now.sort == Sort::word ? inWord : now.sort == Sort::punctuation && last.code == now.code;
    if (now.sort != Sort::space) {
      if (goesOn) out.back() += now.bytes;
      else out.emplace_back(now.bytes);
    }
    last = now;
  }
  return out;
}

}  // namespace document
