// Grapheme clusters, following Unicode's text segmentation (UAX 29) as far as labels and sentences need it.
#include <algorithm>
#include <iterator>

#include "base/sentence.h"

namespace base {
namespace {

constexpr char32_t kJoiner = 0x200d;

/// With its last code point and not the count: pairs of a code point and a small number look like addresses
/// to the page's late-data.mjs, which then keeps in the first part what they seem to mean.
struct Range {
  constexpr Range(std::uint16_t from, int count)
      : first(from),
        last(static_cast<std::uint16_t>(from + count - 1)) {}
  std::uint16_t first, last;
};

/// Marks that belong to the character before them: combining marks (categories Mn, Mc and Me), joiners, and
/// vowels and final consonants of Hangul. Ranges may also cover unassigned code points between two marks.
constexpr Range kMarks[] = {
    {0x300, 112},  {0x483, 7},   {0x591, 45},  {0x5bf, 1},   {0x5c1, 2},   {0x5c4, 2},   {0x5c7, 1},
    {0x610, 11},   {0x64b, 21},  {0x670, 1},   {0x6d6, 7},   {0x6df, 6},   {0x6e7, 2},   {0x6ea, 4},
    {0x711, 1},    {0x730, 27},  {0x7a6, 11},  {0x7eb, 9},   {0x7fd, 1},   {0x816, 4},   {0x81b, 9},
    {0x825, 3},    {0x829, 5},   {0x859, 3},   {0x898, 8},   {0x8ca, 24},  {0x8e3, 33},  {0x93a, 3},
    {0x93e, 18},   {0x951, 7},   {0x962, 2},   {0x981, 3},   {0x9bc, 1},   {0x9be, 16},  {0x9d7, 1},
    {0x9e2, 2},    {0x9fe, 6},   {0xa3c, 22},  {0xa70, 2},   {0xa75, 1},   {0xa81, 3},   {0xabc, 1},
    {0xabe, 16},   {0xae2, 2},   {0xafa, 10},  {0xb3c, 1},   {0xb3e, 26},  {0xb62, 2},   {0xb82, 1},
    {0xbbe, 16},   {0xbd7, 1},   {0xc00, 5},   {0xc3c, 1},   {0xc3e, 25},  {0xc62, 2},   {0xc81, 3},
    {0xcbc, 1},    {0xcbe, 25},  {0xce2, 2},   {0xd00, 4},   {0xd3b, 2},   {0xd3e, 16},  {0xd57, 1},
    {0xd62, 2},    {0xd81, 3},   {0xdca, 22},  {0xdf2, 2},   {0xe31, 1},   {0xe33, 8},   {0xe47, 8},
    {0xeb1, 1},    {0xeb3, 10},  {0xec8, 6},   {0xf18, 2},   {0xf35, 1},   {0xf37, 1},   {0xf39, 1},
    {0xf3e, 2},    {0xf71, 20},  {0xf86, 2},   {0xf8d, 48},  {0xfc6, 1},   {0x102b, 20}, {0x1056, 4},
    {0x105e, 3},   {0x1062, 3},  {0x1067, 7},  {0x1071, 4},  {0x1082, 12}, {0x108f, 1},  {0x109a, 4},
    {0x1160, 160}, {0x135d, 3},  {0x1712, 4},  {0x1732, 3},  {0x1752, 2},  {0x1772, 2},  {0x17b4, 32},
    {0x17dd, 1},   {0x180b, 3},  {0x180f, 1},  {0x1885, 2},  {0x18a9, 1},  {0x1920, 28}, {0x1a17, 5},
    {0x1a55, 43},  {0x1ab0, 85}, {0x1b34, 17}, {0x1b6b, 9},  {0x1b80, 3},  {0x1ba1, 13}, {0x1be6, 14},
    {0x1c24, 20},  {0x1cd0, 3},  {0x1cd4, 21}, {0x1ced, 1},  {0x1cf4, 1},  {0x1cf7, 3},  {0x1dc0, 64},
    {0x200c, 2},   {0x20d0, 33}, {0x2cef, 3},  {0x2d7f, 1},  {0x2de0, 32}, {0x302a, 6},  {0x3099, 2},
    {0xa66f, 4},   {0xa674, 10}, {0xa69e, 2},  {0xa6f0, 2},  {0xa802, 1},  {0xa806, 1},  {0xa80b, 1},
    {0xa823, 5},   {0xa82c, 1},  {0xa880, 2},  {0xa8b4, 18}, {0xa8e0, 18}, {0xa8ff, 1},  {0xa926, 8},
    {0xa947, 13},  {0xa980, 4},  {0xa9b3, 14}, {0xa9e5, 1},  {0xaa29, 14}, {0xaa43, 1},  {0xaa4c, 2},
    {0xaa7b, 3},   {0xaab0, 1},  {0xaab2, 3},  {0xaab7, 2},  {0xaabe, 2},  {0xaac1, 1},  {0xaaeb, 5},
    {0xaaf5, 2},   {0xabe3, 8},  {0xabec, 2},  {0xfb1e, 1},  {0xfe00, 16}, {0xfe20, 16}, {0xff9e, 2},
};

bool isIn(char32_t c, char32_t first, char32_t last) { return c >= first && c <= last; }

bool isMark(char32_t c) {
  // Above the basic multilingual plane, musical signs left out: skin tones, tags of flags, variation
  // selectors.
  if (c > 0xffff) return isIn(c, 0x1f3fb, 0x1f3ff) || isIn(c, 0xe0020, 0xe007f) || isIn(c, 0xe0100, 0xe01ef);
  const auto after = std::upper_bound(std::begin(kMarks), std::end(kMarks), c,
                                      [](char32_t code, Range r) { return code < r.first; });
  if (after == std::begin(kMarks)) return false;
  return c <= std::prev(after)->last;
}

/// A regional indicator; two of them make a flag.
bool isRegional(char32_t c) { return isIn(c, 0x1f1e6, 0x1f1ff); }

/// A virama joins the consonant before it with a following one of the same script: Devanagari, Bengali,
/// Gujarati, Oriya, Telugu, Malayalam.
bool isVirama(char32_t c) {
  return c == 0x94d || c == 0x9cd || c == 0xacd || c == 0xb4d || c == 0xc4d || c == 0xd4d;
}

bool joins(char32_t last, char32_t next, bool halfFlag) {
  if (isMark(next)) return true;
  if (halfFlag && isRegional(next)) return true;
  if (isVirama(last)) return (last & ~0x7fu) == (next & ~0x7fu);
  return last == kJoiner && (isIn(next, 0x2190, 0x2bff) || isIn(next, 0x1f000, 0x1faff));
}

}  // namespace

std::size_t clusterLength(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t length = static_cast<std::size_t>(utf8Length(text));
  if (length == 0) return 1;
  char32_t last = utf8Decode(text);
  if (last < 0x20) return length;
  bool halfFlag = isRegional(last);
  while (const int next = utf8Length(text.substr(length))) {
    const char32_t code = utf8Decode(text.substr(length));
    if (!joins(last, code, halfFlag)) break;
    halfFlag = false;
    // A conjunct continues through joiners and other marks.
    if (!isVirama(last) || !isMark(code)) last = code;
    length += static_cast<std::size_t>(next);
  }
  return length;
}

std::size_t clustersWithin(std::string_view text, std::size_t bytes) {
  std::size_t kept = 0;
  while (kept < text.size()) {
    const std::size_t next = clusterLength(text.substr(kept));
    if (kept + next > bytes) break;
    kept += next;
  }
  return kept;
}

}  // namespace base
