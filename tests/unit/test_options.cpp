// The table of options: names, ranges, and what each refuses.
#include <cmath>
#include <set>

#include "document_support.h"

using namespace document;
using test::refusal;

namespace {

std::string tried(OptionId id, const Value& value) { return refusal(check(test::start(), id, value)); }
std::string tried(const State& state, OptionId id, double value) { return refusal(check(state, id, value)); }

State sized(int tokens, int heads, int headDim, int modelDim) {
  State s = test::start();
  Document d(s);
  for (const auto& [id, value] :
       {std::pair{OptionId::tokens, tokens}, {OptionId::model_dim, modelDim}, {OptionId::d_k, 1}})
    CHECK(!d.apply(SetOption{id, static_cast<double>(value)}));
  // Two heads of one column: one head, then as wide as all heads, then split.
  CHECK(!d.apply(SetOption{OptionId::heads, 1.0}));
  CHECK(!d.apply(SetOption{OptionId::d_k, static_cast<double>(heads * headDim)}));
  CHECK(!d.apply(SetOption{OptionId::heads, static_cast<double>(heads)}));
  return d.state();
}

}  // namespace

TEST_CASE("options: the table is in the order of the ids, and names are found") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < options().size(); ++i) {
    const Option& o = options()[i];
    CHECK(static_cast<std::size_t>(o.id) == i);
    CHECK(&option(o.id) == &o);
    CHECK(optionNamed(o.name) == &o);
    CHECK(!o.help.empty());
    CHECK(names.insert(o.name).second);
  }
  CHECK(optionNamed("nonsense") == nullptr);
  CHECK(optionNamed("") == nullptr);
}

TEST_CASE("options: what get gives, set takes, and nothing changes") {
  for (const Option& o : options()) {
    State s = test::start();
    CHECK(refusal(check(s, o.id, get(s, o.id))) == "accepted");
    CHECK(!document::apply(s, SetOption{o.id, get(s, o.id)}).changed);
    const auto again = valueFromJson(toJson(get(s, o.id)), o.name);
    REQUIRE(again);
    CHECK(*again == get(s, o.id));
  }
}

TEST_CASE("options: refusals") {
  CHECK(tried(OptionId::temperature, 0.0) == "temperature: 0 is too small; use 0.01 to 100.");
  CHECK(tried(OptionId::temperature, 1e300) == "temperature: 1e+300 is too large; use 0.01 to 100.");
  CHECK(tried(OptionId::temperature, NAN) == "temperature: NaN is not a number; use 0.01 to 100.");
  CHECK(tried(OptionId::temperature, std::string("warm")) ==
        "temperature: \"warm\" is not a number; use 0.01 to 100.");
  CHECK(tried(OptionId::temperature, 0.01) == "accepted");
  CHECK(tried(OptionId::temperature, 100.0) == "accepted");
  CHECK(tried(OptionId::tokens, 0.0) == "tokens: 0 is too small; use 1 to 1024.");
  CHECK(tried(OptionId::tokens, 2.5) == "tokens: 2.5 is not a whole number; use 1 to 1024.");
  CHECK(tried(OptionId::tokens, 1e18) == "tokens: 1e+18 is too large; use 1 to 1024.");
  CHECK(tried(OptionId::tokens, true) == "tokens: true is not a whole number; use 1 to 1024.");
  CHECK(tried(OptionId::heads, 4.0) ==
        "heads: 4 does not divide the model width 6 (heads × d_k); use 1, 2, 3 or 6.");
  CHECK(tried(OptionId::heads, 65.0) == "heads: 65 is too large; use 1 to 64.");
  CHECK(tried(OptionId::causal, 1.0) == "causal: 1 is not true or false; use one of these.");
  CHECK(tried(OptionId::theme, std::string("blue")) ==
        "theme: \"blue\" is unknown; use \"auto\", \"light\" or \"dark\".");
  CHECK(tried(OptionId::theme, 3.0) == "theme: 3 is not a text; use \"auto\", \"light\" or \"dark\".");
  CHECK(tried(OptionId::mode, std::string("cross")) == "mode: \"cross\" is unknown; use \"qkv\" or \"x\".");
  CHECK(tried(OptionId::focus_head, 2.0) == "focus_head: 2 is too large; use 0 to 1.");
  CHECK(tried(OptionId::decimals, 7.0) == "decimals: 7 is too large; use 0 to 6.");
  CHECK(tried(OptionId::seed, 4294967295.0) == "accepted");
  CHECK(tried(OptionId::seed, 4294967296.0) == "seed: 4294967296 is too large; use 0 to 4294967295.");
  CHECK(tried(OptionId::seed, -1.0) == "seed: -1 is too small; use 0 to 4294967295.");
  CHECK(tried(OptionId::labels, std::string(" \t ")) == "labels: there is no word; give at least one.");
  CHECK(tried(OptionId::labels, std::vector<std::string>{}) ==
        "labels: there is no word; give at least one.");
  CHECK(tried(OptionId::labels, 3.0) == "labels: 3 is not a sentence or a list of texts; give one of these.");
  CHECK(tried(OptionId::labels, std::string(65, 'x')).starts_with("labels[0]: \"xxx"));
  CHECK(tried(OptionId::labels, std::string(64, 'x')) == "accepted");
  std::string many;
  for (int i = 0; i < 1025; ++i) many += "a ";
  CHECK(tried(OptionId::labels, many) == "labels: there are 1025 tokens; use at most 1024.");
}

TEST_CASE("options: sizes stay within the limits together") {
  const State big = sized(512, 64, 1, 1);
  CHECK(
      tried(big, OptionId::tokens, 513) ==
      "tokens: 64 heads of 513 × 513 scores make 16842816; use fewer heads or tokens, for at most 16777216.");
  CHECK(tried(big, OptionId::d_k, 256) ==
        "d_k: tokens 512, heads 64, d_k 256 and model_dim 1 make inputs of 25231872 numbers; use smaller "
        "ones, for at most 3500000.");
  CHECK(tried(sized(1024, 16, 1, 1), OptionId::heads, 16) == "accepted");
  CHECK(allowedHeads(sized(1024, 16, 2, 1)) == std::vector{1, 2, 4, 8, 16});
  CHECK(tried(sized(1024, 16, 2, 1), OptionId::heads, 32) ==
        "heads: 32 heads of the model width 32 (heads × d_k) are too many to show; use 1, 2, 4, 8 or 16.");
}

TEST_CASE("options: a sentence as labels makes its tokens") {
  Document d(test::start());
  const State start = d.state();
  CHECK(refusal(d.apply(SetOption{OptionId::labels, std::string("You saw a saw, too.")})) == "accepted");
  const State& s = d.state();
  CHECK(s.labels == std::vector<std::string>{"You", "saw", "a", "saw", ",", "too", "."});
  CHECK(s.tokens == 7);
  CHECK(s.q.rows() == 7);
  CHECK(s.x.rows() == 7);
  CHECK(s.q.at(1, 3, 2) == start.q.at(1, 3, 2));
  CHECK(s.x.at(0, 3, 1) == start.x.at(0, 3, 1));
  CHECK(refusal(d.apply(SetOption{OptionId::labels, std::vector<std::string>{"one", "two words"}})) ==
        "accepted");
  CHECK(s.labels == std::vector<std::string>{"one", "two words"});
  d.undo();
  d.undo();
  CHECK(sameBits(s, start));
}

TEST_CASE("options: sentences split into words and marks") {
  using Tokens = std::vector<std::string>;
  CHECK(splitTokens("I saw a saw") == Tokens{"I", "saw", "a", "saw"});
  CHECK(splitTokens("  The animal didn't   cross.\n") == Tokens{"The", "animal", "didn't", "cross", "."});
  CHECK(splitTokens("It’s 3.5, not 1,000!") == Tokens{"It’s", "3.5", ",", "not", "1,000", "!"});
  CHECK(splitTokens("\"well-known\" (so-called)") == Tokens{"\"", "well-known", "\"", "(", "so-called", ")"});
  CHECK(splitTokens("Wait... what?!") == Tokens{"Wait", "...", "what", "?", "!"});
  CHECK(splitTokens("rock 'n' roll") == Tokens{"rock", "'", "n", "'", "roll"});
  CHECK(splitTokens("snake_case x+y") == Tokens{"snake_case", "x", "+", "y"});
  CHECK(splitTokens("Größe, naïve – „Zitat“") == Tokens{"Größe", ",", "naïve", "–", "„", "Zitat", "“"});
  CHECK(splitTokens("\u00a0a\u3000b\u2009c") == Tokens{"a", "b", "c"});
  CHECK(splitTokens("我看见。") == Tokens{"我", "看", "见", "。"});
  CHECK(splitTokens("end.") == Tokens{"end", "."});
  CHECK(splitTokens("-5 e-3") == Tokens{"-", "5", "e-3"});
  CHECK(splitTokens("").empty());
  CHECK(splitTokens("\t\n ").empty());
  CHECK(splitTokens("a\xff"
                    "b") == Tokens{"a\xff"
                                   "b"});
  CHECK(splitTokens("🙂 ok") == Tokens{"🙂", "ok"});
}
