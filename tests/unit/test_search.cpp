// What is found of what is typed: words, case, scripts, anything.
#include <doctest/doctest.h>

#include <string>

#include "document/lesson.h"
#include "document/search.h"
#include "lessons.h"

using document::folded;
using document::Search;
using Found = Search::Found;

namespace {

Found found(std::string_view typed, std::string_view title, std::string_view text = {}) {
  return Search(typed).in(title, folded(text));
}

/// The title with its marked parts in brackets.
std::string marked(std::string_view typed, std::string_view title) {
  std::string out(title);
  auto ranges = Search(typed).marks(title);
  for (auto range = ranges.rbegin(); range != ranges.rend(); ++range)
    out.insert(range->second, "]"), out.insert(range->first, "[");
  return out;
}

}  // namespace

TEST_CASE("search: all words must be there, and a title counts for more than a text") {
  CHECK(found("mask", "Masks, before softmax and after") == Found::start);
  CHECK(found("soft mask", "Masks, before softmax and after") == Found::words);
  CHECK(found("max", "Masks, before softmax and after") == Found::title);
  CHECK(found("masks", "Gradients", "softmax, saturation, Masks") == Found::text);
  CHECK(found("gradients mask", "Gradients", "softmax, saturation, masks") == Found::text);
  CHECK(found("gradients head", "Gradients", "softmax, saturation, masks") == Found::no);
  CHECK(found("", "Gradients") == Found::start);
  CHECK(found(" \t ", "Gradients") == Found::start);
}

TEST_CASE("search: one or two letters begin a word") {
  CHECK(found("k", "Mask") == Found::no);
  CHECK(found("k", "Keys") == Found::start);
  CHECK(found("d_", "Width of a head, d_k") == Found::words);
}

TEST_CASE("search: in any script, whatever its case") {
  CHECK(found("ÜBER", "Alles über Köpfe") == Found::words);
  CHECK(found("köp", "KÖPFE") == Found::start);
  CHECK(found("МАСКА", "Причинная маска") == Found::words);
  CHECK(found("σκορ", "ΣΚΟΡ") == Found::all);
  CHECK(found("ŁĘŻ", "łęż") == Found::all);
  CHECK(found("掩码", "因果掩码") == Found::title);
  CHECK(found("因果　掩码", "因果掩码") == Found::title);  // with an ideographic space between them
  CHECK(folded("×÷ßÿŸ") == "×÷ßÿŸ");
}

TEST_CASE("search: what is marked is what was typed") {
  CHECK(marked("causal", "Paint cells of the Causal mask") == "Paint cells of the [Causal] mask");
  CHECK(marked("mask cau", "Causal mask") == "[Cau]sal [mask]");
  CHECK(marked("ma mas", "A mask, masked") == "A [mas]k, [mas]ked");
  CHECK(marked("掩码", "因果掩码") == "因果[掩码]");
  CHECK(marked("causal", "Kausalmaske") == "Kausalmaske");
  CHECK(marked("", "Causal mask") == "Causal mask");
}

TEST_CASE("search: anything may be typed") {
  for (const std::string& typed :
       {std::string("\xff\xfe\x80"), std::string("\xc3"), std::string(5000, 'a'), std::string("a\0b", 3),
        std::string("'\"<b>&%s\\"), std::string("🧑‍🤝‍🧑 🇩🇪"), std::string("٣ שלום"),
        std::string(300, ' ')}) {
    const Search search(typed);
    static_cast<void>(search.in("Causal mask \xc3", folded("\xe4\xff")));
    for (const auto& [from, to] : search.marks("Causal mask \xc3")) CHECK((from < to && to <= 13));
  }
  CHECK(found(std::string("mask\0", 5), "mask") == Found::no);
  CHECK(found("a b c d e f g h unheard", "a b c d e f g h") == Found::start);  // the ninth word
}

TEST_CASE("search: the words of every lesson, and of its questions and hints") {
  int cards = 0;
  for (const auto& file : lessons::files) {
    if (file.name.starts_with("glossary.")) continue;
    const auto read = document::readLessons(file.text);
    REQUIRE(read);
    for (const document::Lesson& lesson : *read) {
      const std::string words = document::wordsOf(lesson);
      CHECK_MESSAGE(words.size() > 20, lesson.id);
      CHECK_MESSAGE(words.find("{") == std::string::npos, lesson.id);
      ++cards;
    }
  }
  CHECK(cards > 60);
}
