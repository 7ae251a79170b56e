#include "document/search.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/sentence.h"
#include "document/lesson.h"

namespace document {
namespace {

constexpr std::size_t kMostWords = 8, kMostTyped = 80,
                      kShortWord = 2;  // a word this short must begin a word: d is in too many

/// The lower case of a character of two bytes in UTF-8, if that has two as well.
unsigned lower(unsigned c) {
  const bool isLatin = c >= 0xC0 && c <= 0xDE && c != 0xD7, isGreek = c >= 0x391 && c <= 0x3A9,
             isCyrillic = c >= 0x410 && c <= 0x42F;
  if (isLatin || isGreek || isCyrillic) return c + 0x20;
  if (c >= 0x400 && c <= 0x40F) return c + 0x50;
  const bool isEven = (c >= 0x100 && c <= 0x12F) || (c >= 0x132 && c <= 0x137) || (c >= 0x14A && c <= 0x177),
             isOdd = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
  return (isEven && c % 2 == 0) || (isOdd && c % 2 == 1) ? c + 1 : c;
}

bool isLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
}

/// Does a word begin at that byte? Scripts without spaces have no such beginnings, nor do they need them.
bool beginsWord(std::string_view text, std::size_t at) {
  return at == 0 || !isLetter(text[at - 1]) || !isLetter(text[at]);
}

/// Where a word is next, at or after `from`; npos if nowhere. `isStart`: only at the beginning of a word.
std::size_t next(std::string_view text, std::string_view word, std::size_t from, bool isStart) {
  std::size_t at = text.find(word, from);
  while (at != std::string_view::npos && (isStart || word.size() <= kShortWord) && !beginsWord(text, at))
    at = text.find(word, at + 1);
  return at;
}

bool has(std::string_view text, std::string_view word, bool isStart = false) {
  return next(text, word, 0, isStart) != std::string_view::npos;
}

void add(std::string& out, const Markup& text) {
  for (const Run& run : text)
    if (run.kind != Run::Kind::computed) out += run.words;
  out += '\n';
}

}  // namespace

std::string folded(std::string_view text) {
  std::string out = base::lowered(text);
  for (std::size_t i = 0; i + 1 < out.size(); ++i) {
    if (base::utf8Length(std::string_view(out).substr(i)) != 2) continue;
    const unsigned c = lower(base::utf8Decode(std::string_view(out).substr(i)));
    out[i] = static_cast<char>(0xC0 | c >> 6), out[i + 1] = static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

std::string wordsOf(const Lesson& lesson) {
  std::string out;
  for (const Step& step : lesson.steps) {
    add(out, step.text);
    if (step.predict) {
      add(out, step.predict->question);
      for (const auto* list : {&step.predict->choices, &step.predict->because})
        for (const Markup& one : *list) add(out, one);
    }
    if (step.attempt) add(out, step.attempt->task), add(out, step.attempt->hint);
  }
  return out;
}

Search::Search(std::string_view typed) {
  std::string all = folded(typed.substr(0, base::clustersWithin(typed, kMostTyped)));
  for (const std::string_view space : {"\u3000", "\u00a0"})
    for (std::size_t at = 0; (at = all.find(space)) != std::string::npos;) all.replace(at, space.size(), " ");
  for (std::size_t at = 0; at < all.size() && words_.size() < kMostWords;) {
    const std::size_t from = std::min(all.find_first_not_of(" \t\r\n", at), all.size());
    at = std::min(all.find_first_of(" \t\r\n", from), all.size());
    if (at > from) words_.push_back(all.substr(from, at - from));
  }
}

Search::Found Search::in(std::string_view title, std::string_view text) const {
  const std::string own = folded(title);
  Found worst = Found::words;
  for (const std::string& word : words_) {
    const Found here = has(own, word, true) ? Found::words
                       : has(own, word)     ? Found::title
                       : has(text, word)    ? Found::text
                                            : Found::no;
    worst = std::min(worst, here);
  }
  if (words_.empty()) return Found::start;
  if (worst < Found::words || !own.starts_with(words_.front())) return worst;
  return own == words_.front() ? Found::all : Found::start;
}

int Search::number() const {
  int out = 0;
  if (words_.size() != 1) return out;
  const std::string& word = words_.front();
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  return error == std::errc() && end == word.data() + word.size() ? out : 0;
}

std::vector<Search::Range> Search::marks(std::string_view title) const {
  const std::string own = folded(title);
  std::vector<Range> all;
  for (const std::string& word : words_) {
    const bool isStart = has(own, word, true);  // where it begins words, it is not marked within others
    for (std::size_t at = 0; (at = next(own, word, at, isStart)) != std::string::npos; at += word.size())
      all.emplace_back(at, at + word.size());
  }
  std::sort(all.begin(), all.end());
  std::vector<Range> out;
  for (const Range& range : all) {
    if (!out.empty() && range.first <= out.back().second)
      out.back().second = std::max(out.back().second, range.second);
    else out.push_back(range);
  }
  return out;
}

}  // namespace document
