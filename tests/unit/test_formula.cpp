// The typesetter: where the boxes of a formula are, and what is typeset in a line of text.
#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>

#include "app_fixture.h"
#include "document/glossary.h"
#include "lessons.h"
#include "painted.h"
#include "views/formula.h"
#include "views/widgets.h"

namespace {

using views::Formula;
using Part = Formula::Part;
using Shape = Part::Shape;

const views::Fonts& faces() { return *static_cast<const views::Fonts*>(ImGui::GetIO().UserData); }

Formula high(std::string_view text, float least = 0) {
  return Formula({faces().strong, faces().smallStrong, faces().mono, faces().strong, faces().smallStrong,
                  views::FormulaLook::Shape::high, least},
                 text);
}
Formula line(std::string_view text) { return Formula({faces().text, faces().tiny}, text); }

const Part& find(const Formula& f, std::string_view words) {
  const auto at = std::find_if(f.parts().begin(), f.parts().end(),
                               [&](const Part& p) { return p.shape == Shape::words && p.words == words; });
  REQUIRE_MESSAGE(at != f.parts().end(), std::string(words));
  return *at;
}
const Part& find(const Formula& f, Shape shape) {
  const auto at =
      std::find_if(f.parts().begin(), f.parts().end(), [&](const Part& p) { return p.shape == shape; });
  REQUIRE(at != f.parts().end());
  return *at;
}
int count(const Formula& f, Shape shape) {
  return static_cast<int>(
      std::count_if(f.parts().begin(), f.parts().end(), [&](const Part& p) { return p.shape == shape; }));
}
std::string_view glossaryText() {
  for (const auto& file : lessons::files)
    if (file.name == "glossary.en.json") return file.text;
  return {};
}
std::string lettersOf(const Formula& f) {
  std::string all;
  for (const Part& p : f.parts()) all += p.words;
  return all;
}

}  // namespace

TEST_CASE("formula: an index is as bold as its letter") {
  const Fixture f;
  const views::Fonts& all = faces();
  const Formula both(
      {all.text, all.tiny, all.mono, all.strong, all.smallStrong, views::FormulaLook::Shape::high},
      "q_j · d_m");
  CHECK(find(both, "j").font == all.smallStrong);
  CHECK(find(both, "m").font == all.tiny);
}

TEST_CASE("formula: a fraction has its bar on the middle line, as long as its wider tier and the padding") {
  const Fixture f;
  const Formula one = high("a ÷ bbbb");
  const Part &above = find(one, "a"), &below = find(one, "bbbb"), &bar = find(one, Shape::line);
  CHECK(bar.y == 0);
  CHECK(bar.width == doctest::Approx(below.width + 16));
  CHECK(above.y < -6);
  CHECK(below.y > 6);
  CHECK(above.x + above.width / 2 == doctest::Approx(bar.x + bar.width / 2));
  CHECK(below.x + below.width / 2 == doctest::Approx(bar.x + bar.width / 2));
  CHECK(one.above() >= above.height - above.y - above.height / 2);
  CHECK(one.bar == bar.width);
  CHECK(one.over == above.y);
  CHECK(one.under == below.y);
  CHECK(high("a ÷ b", 120).bar == 120);
}

TEST_CASE(
    "formula: what stands before and after a sign is not drawn into the fraction, and its brackets go") {
  const Fixture f;
  const Formula one = high("x = y + (a + b) · c ÷ (d − e) + z");
  const Part& bar = find(one, Shape::line);
  for (const char* inside : {"a", "b", "c", "d", "e"}) {
    CHECK(find(one, inside).x > bar.x);
    CHECK(find(one, inside).x < bar.x + bar.width);
    CHECK(find(one, inside).y != 0);
  }
  for (const char* outside : {"x", "y", "z"}) CHECK(find(one, outside).y == 0);
  CHECK(find(one, "y").x < bar.x);
  CHECK(find(one, "z").x > bar.x + bar.width);
  CHECK(lettersOf(high("(a + b) ÷ (c + d)")) == "a+bc+d");
  CHECK(lettersOf(one).find("(") != std::string::npos);  // that of a product
}

TEST_CASE("formula: a root covers its number, letter or bracket, and a lowered letter is smaller and lower") {
  const Fixture f;
  const Formula one = high("√d_k + 1");
  const Part &root = find(one, Shape::root), &d = find(one, "d"), &k = find(one, "k"), &plus = find(one, "+");
  CHECK(root.y < d.y - 6);
  CHECK(root.x + root.width >= k.x + k.width);
  CHECK(root.x + root.width < plus.x);
  CHECK(root.x < d.x);
  CHECK(k.y == doctest::Approx(d.y + 4));
  CHECK(k.font == faces().smallStrong);
  const Formula sum = high("√(a + b) · c");
  CHECK(lettersOf(sum) == "a+b·c");
  CHECK(find(sum, Shape::root).x + find(sum, Shape::root).width < find(sum, "c").x);
}

TEST_CASE("formula: brackets are as high as what they hold, and Σ stands over its index") {
  const Fixture f;
  const Formula one = high("w_i = exp(q_i · k_j ÷ √d_k) ÷ Σ_m exp(q_i · k_m ÷ √d_k)");
  CHECK(count(one, Shape::line) == 3);
  CHECK(count(one, Shape::root) == 2);
  CHECK(count(one, Shape::open) == 2);
  CHECK(count(one, Shape::close) == 2);
  const Part &open = find(one, Shape::open), &q = find(one, "q");
  CHECK(open.y < q.y - 6);
  const Part &sum = find(one, Shape::sum), &m = find(one, "m");
  CHECK(m.y > sum.y + sum.height);
  CHECK(m.x + m.width / 2 == doctest::Approx(sum.x + sum.width / 2));
  CHECK(find(one, "w").tone == Formula::Tone::weight);
  CHECK(q.tone == Formula::Tone::query);
  CHECK(count(high("exp(−s)"), Shape::open) == 0);
  for (const Part& p : one.parts()) {
    CHECK(p.x >= -0.01f);
    CHECK(p.x + p.width <= one.width() + 0.01f);
  }
}

TEST_CASE("formula: numbers with a mark are counted, and have the digits of the look") {
  const Fixture f;
  const Formula one = high("\1−0.70 · (\1−1.25e−8) ÷ √3");
  int numbers = 0;
  for (const Part& p : one.parts()) {
    if (p.number < 0) continue;
    CHECK(p.number == numbers++);
    CHECK(p.font == faces().mono);
  }
  CHECK(numbers == 2);
  CHECK(find(one, "−1.25e−8").number == 1);
  CHECK(find(one, "3").number == -1);
}

TEST_CASE("formula: any text is set without harm") {
  const Fixture f;
  for (const char* text : {"",         "÷",   "a ÷",
                           "÷ b",      "√",   "√(",
                           "((",       "))",  "_",
                           "a_",       "^",   "x^(",
                           "Σ",        "Σ_",  "\1",
                           "\1x",      "|",   "a ÷ b ÷ c ÷ d",
                           "()",       "a)b", "[O_1, …, O_h] · W_O",
                           "\xff\xfe√"}) {
    CAPTURE(text);
    CHECK(high(text).width() >= 0);
    CHECK(line(text).width() >= 0);
  }
  CHECK(lettersOf(high("a)b")) == "a)b");
}

TEST_CASE("formula: a line of text has roots and lowered letters for names of the board alone") {
  const Fixture f;
  for (const char* text : {"÷ √d_k", "Why divide by √d_k?", "d_k per head", "S = Q·K^T / √16 + mask", "W_Q",
                           "x · W_O + b_O", "tanh(h_T·W_a)", "10000^(2/3)"})
    CHECK_MESSAGE(views::hasFormula(text), text);
  for (const char* text : {"my_file.npz", "memory_w", "w_q", "head_output", "√", "weight, √ scale", "^_^",
                           "a ^ b", "snake_d_k_case", "d_kv"})
    CHECK_MESSAGE(!views::hasFormula(text), text);
  const Formula one = line("÷ √d_k and more");
  CHECK(lettersOf(one) == "÷ dk and more");
  CHECK(find(one, Shape::root).x + find(one, Shape::root).width < find(one, " and more").x + 3);
  CHECK(views::textWidth(faces().text, "÷ √d_k and more") == one.width());
}

TEST_CASE("formula: the glossary's formulas leave no sign of the notation") {
  const Fixture f;
  const auto terms = document::readGlossary(glossaryText());
  REQUIRE(terms);
  for (const document::GlossaryTerm& term : *terms) {
    const std::string letters = lettersOf(high(term.formula));
    for (const char* sign : {"√", "_", "^", "÷"})
      CHECK_MESSAGE(letters.find(sign) == std::string::npos, term.formula);
  }
}

namespace {

/// A board whose inspector is large, with a weight selected.
class Board : public Fixture {
 public:
  Board() : Fixture(1900, 1060) {
    // A weight that is the largest of its row, which a hard maximum leaves.
    click(at("weights", 0, 3, 2));
    moveTo(at("inspector"));
  }
  void set(const char* option, const std::string& value) {
    REQUIRE_MESSAGE(app().set(option, value), option, value);
    settle();
    moveTo(at("inspector"));
  }
  std::string card() { return test::Painted().in(at("inspector")); }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("formula: the inspector sets that of every score and normaliser, with the numbers of the board") {
  Board f;
  CHECK(contains(f.card(), "all the matches"));
  CHECK(contains(f.card(), "0.60 + 0.84 + 4.62 + 0.63"));
  CHECK(contains(f.card(), "= 6.69"));
  for (const char* score : {"dot", "scaled", "cosine", "additive", "general"}) {
    CAPTURE(score);
    f.set("score", '"' + std::string(score) + '"');
    for (const char* normalizer :
         {"softmax", "sparsemax", "entmax15", "sigmoid", "relu", "hardmax", "none"}) {
      CAPTURE(normalizer);
      f.set("normalizer", '"' + std::string(normalizer) + '"');
      const std::string card = f.card();
      CAPTURE(card);
      CHECK(contains(card, "w 43"));
      for (const char* sign : {"√", "_", "^"}) CHECK(!contains(card, sign));
      CHECK(f.app().locate("number:weights:3:2", 0, 0, 0));
    }
    f.set("normalizer", "\"softmax\"");
  }
  f.set("score", "\"scaled\"");
  for (const auto& [option, value, without] : {std::tuple("softcap", "2", "0"),
                                               {"position", "\"alibi\"", "\"none\""},
                                               {"temperature", "0.5", "1"},
                                               {"scale", "0.25", "true"},
                                               {"position", "\"rotary\"", "\"none\""}}) {
    CAPTURE(option);
    if (std::string_view(value) == "\"rotary\"") f.set("d_k", "4");
    f.set(option, value);
    CHECK(contains(f.card(), "w 43"));
    f.set(option, without);
  }
}

TEST_CASE(
    "formula: a masked key has the exponential of −∞, a score that is hidden says so, and an output is a sum "
    "over keys") {
  Board f;
  f.click(f.at("weights", 0, 1, 2));
  f.moveTo(f.at("inspector"));
  CHECK(contains(f.card(), "0.00 ="));
  CHECK(contains(f.card(), "−∞"));
  CHECK(contains(f.card(), "w 23"));
  f.click(f.at("scores", 0, 1, 2));
  f.moveTo(f.at("inspector"));
  CHECK(contains(f.card(), "s 23"));
  f.click(f.at("head_output", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  CHECK(contains(f.card(), "o 43"));
  CHECK(f.app().locate("number:weights:3:2", 0, 0, 0));
  CHECK(f.app().locate("number:v:2:2", 0, 0, 0));
}

TEST_CASE("formula: what a weight and an output are made of is whole at the usual size") {
  Fixture f(1440, 900);
  const auto card = [&] { return test::Painted().in(f.at("inspector")); };
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  CHECK(contains(card(), "= 2.65"));
  f.click(f.at("panel:guide"));
  attention::Tensor q = **f.app().tensor("q");
  q.at(0, 3, 2) = -0.8f;
  const int shape[] = {q.heads(), q.rows(), q.cols()};
  REQUIRE(f.app().setTensor("q", std::span<const float>(q.data(), q.size()), shape));
  f.settle();
  f.moveTo(f.at("inspector"));
  for (const char* number : {"number:q:3:0", "number:q:3:1", "number:q:3:2", "number:k:2:2"})
    CHECK(f.app().locate(number, 0, 0, 0));
  f.click(f.at("head_output", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  CHECK(!contains(card(), "…"));
  for (const char* number : {"number:weights:3:0", "number:weights:3:3", "number:v:0:2", "number:v:3:2"})
    CHECK(f.app().locate(number, 0, 0, 0));
}

TEST_CASE("formula: scores far from 0 are reduced by the largest, so that no number is infinite") {
  Board f;
  for (const char* value : {"4000", "-4000", "100"}) {
    CAPTURE(value);
    attention::Tensor q = **f.app().tensor("q");
    q.at(0, 3, 2) = std::stof(value);
    const int shape[] = {q.heads(), q.rows(), q.cols()};
    REQUIRE(f.app().setTensor("q", std::span<const float>(q.data(), q.size()), shape));
    f.settle();
    f.moveTo(f.at("inspector"));
    const std::string card = f.card();
    CAPTURE(card);
    CHECK(contains(card, "m 4"));
    CHECK(!contains(card, "∞"));
    CHECK(!contains(card, "NaN"));
  }
}

TEST_CASE("formula: a number and its cell light each other, and the number has the colour of the cell") {
  Board f;
  const app::Rect number = f.at("number:q:3:0");
  const auto inkOf = [&] {
    const test::Painted painted;
    for (const test::Words& w : painted.words())
      if (w.midX() > number.x && w.midX() < number.x + number.width && w.midY() > number.y &&
          w.midY() < number.y + number.height)
        return painted.ground(w);
    return ImU32{0};
  };
  f.moveTo(f.at("number:masked:3:1"));
  const app::Rect score = f.at("number:masked:3:1");
  const auto ground = [&] {
    const test::Painted painted;
    for (const test::Words& w : painted.words())
      if (w.text == "0.84") return painted.ground(w);
    return ImU32{0};
  };
  const ImU32 lit = ground();
  f.moveTo(score.x - 60, score.y - 30);
  CHECK(lit != ground());
  f.moveTo(f.at("scores", 0, 3, 1));
  CHECK(ground() == lit);
  CHECK(inkOf() != 0);
}

TEST_CASE("formula: typesetting takes at most 0.2 ms a frame, also of a formula that has never been set") {
  const Fixture f;
  const std::string text = "w_43 = exp(q_4 · k_3 ÷ √d_k) ÷ Σ_j exp(q_4 · k_j ÷ √d_k)", numbers =
                                                                                           "\1"
                                                                                           "0.69 = exp(\1"
                                                                                           "2.65 ÷ √3) ÷ (\3"
                                                                                           "0.60 + \3"
                                                                                           "0.84 + \3"
                                                                                           "4.62 + \3"
                                                                                           "0.63)";
  double best = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto from = std::chrono::steady_clock::now();
    const Formula one = high(text), two = high(numbers, one.bar);
    best = std::min(
        best, std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count());
    CHECK(two.bar >= one.bar);
  }
  MESSAGE("both formulas of a weight: ", best, " ms");
  WARN(best < 0.2);
}

TEST_CASE(
    "titles: a click on the words of a title opens its term, a double click above a column still names "
    "that") {
  Fixture f;
  f.settle();
  const app::Rect words = f.at("title:q:words");
  f.click(words);
  CHECK(f.app().items().find("\"term\"") == std::string::npos);  // not before the terms are there
  REQUIRE(f.app().setGlossary(glossaryText(), {}));
  f.settle();
  CHECK(f.app().items().find("\"term\"") != std::string::npos);
  CHECK(contains(test::Painted().in(f.at("term")), "Query"));
  f.frame(1);  // it is not a double click
  f.click(words);
  CHECK(f.app().items().find("\"term\"") == std::string::npos);
  const std::size_t before = f.host.texts.size();
  f.frame(1);
  f.moveTo(words.x + 6, words.y + words.height / 2);
  for (int press = 0; press < 2; ++press) f.button(true), f.button(false);
  CHECK(f.host.texts.size() == before + 1);
  CHECK(f.app().items().find("\"term\"") == std::string::npos);
  const app::Rect weights = f.at("title:weights:words");
  f.click(weights);
  CHECK(contains(test::Painted().in(f.at("term")), "Attention weight"));
}

TEST_CASE("numbers: every minus sign that is drawn is U+2212, and no number touches the one before it") {
  Fixture f;
  int negative = 0;
  for (const char* preset : {"i-saw-a-saw", "pronoun", "saturated"}) {
    REQUIRE(f.app().openPreset(preset, false));
    for (const char* view : {"layer", "block", "segments", "train", "spread", "dense", "memory", "cost"}) {
      CAPTURE(view);
      REQUIRE(f.app().set("view", '"' + std::string(view) + '"'));
      f.settle();
      const test::Painted painted;
      for (const test::Words& w : painted.words()) {
        CAPTURE(w.text);
        for (std::size_t i = 0; i + 1 < w.text.size(); ++i) {
          const auto isDigit = [&](std::size_t at) {
            return at < w.text.size() && w.text[at] >= '0' && w.text[at] <= '9';
          };
          CHECK(!(w.text[i] == '-' && isDigit(i + 1) &&
                  (i == 0 || w.text[i - 1] == ' ' || w.text[i - 1] == '(')));
          if (w.text.compare(i, 3, "−") == 0 && isDigit(i + 3))
            ++negative, CHECK((i == 0 || !isDigit(i - 1)));
        }
      }
    }
  }
  CHECK(negative > 50);
}
