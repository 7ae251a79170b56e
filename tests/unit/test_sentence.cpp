// Sentences in any script: what counts as a character and as a token, and vectors derived from words.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "document_support.h"

namespace {

using document::OptionId;
using document::Tensor;
using document::TensorId;
using Tokens = std::vector<std::string>;

std::vector<std::string> clusters(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t length = base::clusterLength(text);
    REQUIRE(length > 0);
    out.emplace_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return out;
}

std::vector<float> rowOf(const Tensor& t, int row) {
  std::vector<float> out;
  for (int h = 0; h < t.heads(); ++h) out.insert(out.end(), t.row(h, row), t.row(h, row) + t.cols());
  return out;
}

document::Document withSentence(std::string_view sentence, bool sameWord = true) {
  document::Document d(test::start());
  REQUIRE(d.apply(test::set(OptionId::labels, std::string(sentence))));
  if (sameWord) REQUIRE(d.apply(test::set(OptionId::same_word, true)));
  return d;
}

constexpr TensorId kRows[] = {TensorId::x, TensorId::q, TensorId::k, TensorId::v};

}  // namespace

TEST_CASE("a character is what a reader takes for one") {
  CHECK(clusters("abc") == Tokens{"a", "b", "c"});
  CHECK(clusters("e\u0301a\u0308\u0323x") == Tokens{"e\u0301", "a\u0308\u0323", "x"});
  CHECK(clusters("👩‍🚀👍🏽🇩🇪🇫🇷1️⃣") ==
        Tokens{"👩‍🚀", "👍🏽", "🇩🇪", "🇫🇷", "1️⃣"});
  CHECK(clusters("क्षेत्र") == Tokens{"क्षे", "त्र"});
  CHECK(clusters("กำลัง") == Tokens{"กำ", "ลั", "ง"});
  CHECK(clusters("مَرْ") == Tokens{"مَ", "رْ"});
  CHECK(clusters("かか\u3099") == Tokens{"か", "か\u3099"});
  CHECK(clusters("\xff\xfe!") == Tokens{"\xff", "\xfe", "!"});
  CHECK(base::clustersWithin("a👩‍🚀b", 11) == 1);
  CHECK(base::clustersWithin("a👩‍🚀b", 12) == 12);
}

TEST_CASE("sentences in any script are split where their writers part them") {
  using document::splitTokens;
  CHECK(splitTokens("我 看见 一把 锯子") == Tokens{"我", "看见", "一把", "锯子"});
  CHECK(splitTokens("我　看见　一把　锯子。") == Tokens{"我", "看见", "一把", "锯子", "。"});
  CHECK(splitTokens("我看见一把锯子。") == Tokens{"我", "看", "见", "一", "把", "锯", "子", "。"});
  CHECK(splitTokens("「我，看见！？」、好") ==
        Tokens{"「", "我", "，", "看", "见", "！", "？", "」", "、", "好"});
  CHECK(splitTokens("رأيت منشارا، أليس كذلك؟ نعم؛") ==
        Tokens{"رأيت", "منشارا", "،", "أليس", "كذلك", "؟", "نعم", "؛"});
  CHECK(splitTokens("я\u00a0увидел\u202fпилу…") == Tokens{"я", "увидел", "пилу", "…"});
  CHECK(splitTokens("मैंने आरी देखी।") == Tokens{"मैंने", "आरी", "देखी", "।"});
  CHECK(splitTokens("cafe\u0301 e\u0301te\u0301") == Tokens{"cafe\u0301", "e\u0301te\u0301"});
  CHECK(splitTokens("か\u3099き") == Tokens{"か\u3099", "き"});
  CHECK(splitTokens("hi👩‍🚀👍🏽 🇩🇪🇫🇷#️⃣ok") ==
        Tokens{"hi", "👩‍🚀", "👍🏽", "🇩🇪", "🇫🇷", "#️⃣", "ok"});
  CHECK(splitTokens("\u200b\u3000\u00a0").empty());
}

TEST_CASE("a label that is too long is refused by whole characters") {
  std::string families;
  for (int i = 0; i < 4; ++i) families += "👨‍👩‍👧";  // 18 bytes each
  const std::string said = test::refusal(document::checkLabel("labels[0]", families));
  CHECK(said ==
        "labels[0]: \"👨‍👩‍👧👨‍👩‍👧…\" is 72 bytes long; use at most 64, which its "
        "first "
        "3 "
        "characters fill.");
  CHECK(test::refusal(document::checkLabel("labels[0]", std::string(65, 'a')))
            .ends_with(" is 65 bytes long; use at most 64."));
  CHECK(test::refusal(document::checkLabel("labels[0]", families.substr(0, 54))) == "accepted");
}

TEST_CASE("the same word draws the same numbers") {
  document::Document d = withSentence("the dog saw the Dog");
  const document::State& s = d.state();
  for (const TensorId id : kRows) {
    const Tensor& t = *document::input(s, id);
    CAPTURE(attention::name(id));
    CHECK(rowOf(t, 0) == rowOf(t, 3));
    CHECK(rowOf(t, 1) != rowOf(t, 4));  // "dog" and "Dog" are different words
    CHECK(rowOf(t, 0) != rowOf(t, 2));
  }
  // The numbers depend neither on the position of the word nor on its neighbours.
  const document::Document other = withSentence("a dog and the cat");
  CHECK(rowOf(s.q, 0) == rowOf(other.state().q, 3));
  CHECK(rowOf(s.x, 1) == rowOf(other.state().x, 1));
}

TEST_CASE("words keep their numbers through every change of the sentence and of the sizes") {
  document::Document d = withSentence("the dog saw the cat");
  const auto equal = [&](int a, int b) {
    return std::all_of(std::begin(kRows), std::end(kRows), [&](TensorId id) {
      const Tensor& t = *document::input(d.state(), id);
      return rowOf(t, a) == rowOf(t, b);
    });
  };
  const std::vector<float> dog = rowOf(d.state().q, 1);
  REQUIRE(d.apply(document::SetLabels{4, {"dog"}}));
  CHECK(equal(1, 4));
  CHECK(rowOf(d.state().q, 1) == dog);
  REQUIRE(d.apply(test::setCell(TensorId::q, 0, 1, 0, 9)));  // edits by the user are kept
  REQUIRE(d.apply(document::SetLabels{0, {"a"}}));
  CHECK(d.state().q.at(0, 1, 0) == 9);
  CHECK(rowOf(d.state().q, 4) == dog);
  for (const auto& [id, value] : {std::pair{OptionId::d_k, 5.0},
                                  {OptionId::model_dim, 7.0},
                                  {OptionId::d_v, 4.0},
                                  {OptionId::batch, 2.0},
                                  {OptionId::tokens, 7.0},
                                  {OptionId::batch_item, 1.0}}) {
    CAPTURE(document::option(id).name);
    REQUIRE(d.apply(document::SetOption{OptionId::labels, std::string("b x dog c dog")}));
    REQUIRE(d.apply(test::set(id, value)));
    REQUIRE(d.apply(document::SetOption{OptionId::labels, std::string("a dog b c dog dog")}));
    CHECK(equal(4, 5));
    if (id == OptionId::d_k || id == OptionId::d_v || id == OptionId::model_dim) CHECK(equal(1, 4));
  }
  REQUIRE(d.apply(document::Randomize{77, std::nullopt}));
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v})
    CHECK(rowOf(*document::input(d.state(), id), 1) == rowOf(*document::input(d.state(), id), 4));
}

TEST_CASE("in cross-attention a word has one row of X in both sequences") {
  document::Document d = withSentence("the dog saw");
  REQUIRE(d.apply(test::set(OptionId::cross, true)));
  REQUIRE(d.apply(test::set(OptionId::key_labels, std::string("a dog and the dog"))));
  CHECK(rowOf(d.state().xKv, 1) == rowOf(d.state().x, 1));
  CHECK(rowOf(d.state().xKv, 4) == rowOf(d.state().x, 1));
  CHECK(rowOf(d.state().k, 1) == rowOf(d.state().k, 4));
  CHECK(d.state().k.rows() == 5);
}

TEST_CASE("same_word is an option like others: undone, stored, checked, off where nobody said anything") {
  document::Document d = withSentence("the dog saw the cat", false);
  const document::State before = d.state();
  CHECK(document::toText(before).find("same_word") == std::string::npos);
  REQUIRE(d.apply(test::set(OptionId::same_word, true)));
  const document::State on = d.state();
  CHECK(document::get(on, OptionId::same_word) == document::Value(true));
  const auto read = document::fromText(document::toText(on), {});
  REQUIRE(read);
  CHECK(*read == on);
  REQUIRE(d.apply(test::set(OptionId::same_word, false)));
  CHECK(rowOf(d.state().q, 0) != rowOf(d.state().q, 3));
  REQUIRE(d.undo());
  CHECK(d.state() == on);
  REQUIRE(d.undo());
  CHECK(d.state() == before);
  REQUIRE(d.redo());
  CHECK(d.state() == on);
  REQUIRE(d.apply(document::SetLabels{1, {"the"}}));
  REQUIRE(d.undo());
  CHECK(d.state() == on);
  CHECK(test::refusal(d.apply(test::set(OptionId::same_word, 1.0))) ==
        "same_word: 1 is not true or false; use one of these.");
}

TEST_CASE("an example's numbers are touched by nothing but the switch") {
  document::Document d(test::start());
  const Tensor q = d.state().q;
  REQUIRE(d.apply(test::set(OptionId::labels, std::string("we heard a dog"))));
  CHECK(d.state().q == q);  // only the labels change: the switch is off
  for (const document::Preset& p : document::presets()) CHECK_FALSE(document::preset(p.name)->sameWord);
}
