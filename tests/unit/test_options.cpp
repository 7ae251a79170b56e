// The table of options: names, ranges, and the errors of each.
#include <cmath>
#include <set>

#include "attention/steps/forward.h"
#include "document/derived.h"
#include "document_support.h"
#include "files/layout/packed.h"

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
    CHECK(d.apply(SetOption{id, static_cast<double>(value)}));
  // Two heads of one column: first one head, then widened to all heads, then split.
  CHECK(d.apply(SetOption{OptionId::heads, 1.0}));
  CHECK(d.apply(SetOption{OptionId::d_k, static_cast<double>(heads * headDim)}));
  CHECK(d.apply(SetOption{OptionId::heads, static_cast<double>(heads)}));
  return d.state();
}

}  // namespace

TEST_CASE("sentences: the names that may have been meant") {
  const std::vector<std::string> names{"heads", "kv_heads", "causal", "scale", "score"};
  CHECK(base::nearest("head", names, 1) == std::vector<std::string>{"heads"});
  CHECK(base::nearest("scores", names, 2) == std::vector<std::string>{"score", "scale"});
  CHECK(base::nearest("", names, 9).size() == names.size());
}

TEST_CASE("options: the table is in the order of the ids, and names are found") {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < options().size(); ++i) {
    const Option& o = options()[i];
    CHECK(static_cast<std::size_t>(o.id) == i);
    CHECK(&option(o.id) == &o);
    CHECK(optionNamed(o.name) == &o);
    CHECK(!helpOn(o.id).empty());
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
    if (o.type != OptionType::heads && o.type != OptionType::ids)
      CHECK(*again == get(s, o.id));  // [] may be a list of texts or of numbers
    CHECK(refusal(check(s, o.id, *again)) == "accepted");
  }
}

TEST_CASE("options: refusals") {
  CHECK(tried(OptionId::temperature, 0.0) == "temperature: 0 is too small; use 1e-06 to 1000000.");
  CHECK(tried(OptionId::temperature, 1e300) == "temperature: 1e+300 is too large; use 1e-06 to 1000000.");
  CHECK(tried(OptionId::temperature, NAN) == "temperature: NaN is not a number; use 1e-06 to 1000000.");
  CHECK(tried(OptionId::temperature, std::string("warm")) ==
        "temperature: \"warm\" is not a number; use 1e-06 to 1000000.");
  CHECK(tried(OptionId::temperature, 1e-7) == "temperature: 1e-07 is too small; use 1e-06 to 1000000.");
  CHECK(tried(OptionId::temperature, 1e-6) == "accepted");
  CHECK(tried(OptionId::temperature, 1e6) == "accepted");
  CHECK(tried(OptionId::tokens, 0.0) == "tokens: 0 is too small; use 1 to 131072.");
  CHECK(tried(OptionId::tokens, 2.5) == "tokens: 2.5 is not a whole number; use 1 to 131072.");
  CHECK(tried(OptionId::tokens, 1e18) == "tokens: 1e+18 is too large; use 1 to 131072.");
  CHECK(tried(OptionId::tokens, true) == "tokens: true is not a whole number; use 1 to 131072.");
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
  for (int i = 0; i < 131'073; ++i) many += "a ";
  CHECK(tried(OptionId::labels, many) == "labels: there are 131073 tokens; use at most 131072.");
}

TEST_CASE("options: sizes stay within the limits together") {
  const State big = sized(512, 64, 1, 1);
  CHECK(tried(sized(4096, 64, 1, 1), OptionId::tokens, 4097) ==
        "tokens: 64 heads of 4097 × 4097 scores make 1074266176; use at most 4096 tokens, or 63 heads.");
  CHECK(tried(sized(11585, 2, 1, 1), OptionId::tokens, 11586) ==
        "tokens: 2 heads of 11586 × 11586 scores make 268470792; use at most 11585 tokens, or 1 head.");
  CHECK(tried(sized(1024, 12, 32, 1), OptionId::tokens, 4096) == "accepted");
  CHECK(tried(big, OptionId::d_k, 256) ==
        "d_k: tokens 512, heads 64, d_k 256 and model_dim 1 make inputs of 25231872 numbers; use smaller "
        "ones, for at most 9600000.");
  CHECK(tried(sized(1024, 16, 1, 1), OptionId::heads, 16) == "accepted");
  CHECK(allowedHeads(sized(11000, 8, 2, 1)) == std::vector{1, 2, 4, 8});
  CHECK(tried(sized(11000, 8, 2, 1), OptionId::heads, 16) ==
        "heads: 16 heads of the model width 16 (heads × d_k) are too many to show; use 1, 2, 4 or 8.");
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

TEST_CASE("options: score and scale say one thing between them") {
  Document d(test::start());
  const State start = d.state();
  const auto has = [&](std::string_view score, const Value& scale) {
    return get(d.state(), OptionId::score) == Value(std::string(score)) &&
           get(d.state(), OptionId::scale) == scale;
  };
  const auto set = [&](OptionId id, const Value& value) { return refusal(d.apply(test::set(id, value))); };
  CHECK(has("scaled", true));
  CHECK(set(OptionId::scale, false) == "accepted");
  CHECK(has("dot", false));
  CHECK(set(OptionId::scale, 0.25) == "accepted");
  CHECK(has("scaled", 0.25));
  CHECK(set(OptionId::score, std::string("scaled")) == "accepted");
  CHECK(has("scaled", 0.25));
  CHECK(set(OptionId::score, std::string("cosine")) == "accepted");
  CHECK(has("cosine", false));
  CHECK(set(OptionId::scale, false) == "accepted");
  CHECK(has("cosine", false));
  CHECK(set(OptionId::scale, true) == "scale: only dot products are scaled; set score to \"scaled\".");
  CHECK(set(OptionId::scale, 2.0) == "scale: only dot products are scaled; set score to \"scaled\".");
  CHECK(set(OptionId::score, std::string("dot")) == "accepted");
  CHECK(set(OptionId::scale, true) == "accepted");
  CHECK(has("scaled", true));
  CHECK(set(OptionId::scale, 0.0) == "scale: 0 is too small; use 0.0001 to 10000.");
  CHECK(set(OptionId::scale, std::string("on")) ==
        "scale: \"on\" is not true, false or a number; use one of these.");
  d.undo();
  CHECK(has("dot", false));
  d.undo();
  CHECK(has("cosine", false));
  d.undo();
  CHECK(has("scaled", 0.25));
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: what stands around the layer is undone, and the layer hears nothing of it") {
  Document d(test::start());
  const State start = d.state();
  const attention::Spec layer = spec(start);
  d.takeChanges();
  const std::pair<OptionId, Value> all[] = {{OptionId::block_residual, false},
                                            {OptionId::block_norm, std::string("none")},
                                            {OptionId::block_activation, std::string("gelu")},
                                            {OptionId::block_hidden, 4.0},
                                            {OptionId::block_dropout, 0.5},
                                            {OptionId::block_epsilon, 0.01},
                                            {OptionId::block_seed, 7.0},
                                            {OptionId::segment_by, std::string("punctuation")},
                                            {OptionId::segment_tokens, 3.0},
                                            {OptionId::segment_seed, 9.0}};
  for (const auto& one : all) {
    const OptionId id = one.first;
    const Value& value = one.second;
    CAPTURE(option(id).name);
    CHECK(isDefault(d.state(), id));
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    CHECK(get(d.state(), id) == value);
    CHECK(d.takeChanges().empty());
  }
  CHECK(spec(d.state()) == layer);
  for (std::size_t i = 0; i < std::size(all); ++i) CHECK(d.undo());
  CHECK(!d.canUndo());
  CHECK(sameBits(d.state(), start));
  CHECK(tried(OptionId::block_hidden, 9.0) == "block_hidden: 9 is too large; use 1 to 8.");
  CHECK(tried(OptionId::block_dropout, 0.95) == "block_dropout: 0.95 is too large; use 0 to 0.9.");
  CHECK(tried(OptionId::block_norm, std::string("both")) ==
        "block_norm: \"both\" is unknown; use \"none\", \"post\" or \"pre\".");
  CHECK(tried(OptionId::segment_tokens, 0.0) == "segment_tokens: 0 is too small; use 1 to 4096.");
}

TEST_CASE(
    "options: the page of the experiments is how things are shown, and named in the text where one is open") {
  Document d(test::start());
  const std::string closed = toText(d.state());
  CHECK(closed.find("experiment") == std::string::npos);
  for (const std::string_view page : option(OptionId::experiment).choices) {
    CHECK(refusal(d.apply(test::set(OptionId::experiment, std::string(page)))) == "accepted");
    CHECK(get(d.state(), OptionId::experiment) == Value(std::string(page)));
    const auto again = fromText(toText(d.state()), {});
    REQUIRE(again);
    CHECK(sameBits(*again, d.state()));
  }
  CHECK(!d.canUndo());
  d.apply(test::set(OptionId::experiment, std::string("none")));
  CHECK(toText(d.state()) == closed);
  CHECK(tried(OptionId::experiment, std::string("lab")) ==
        "experiment: \"lab\" is unknown; use \"none\", \"spread\", \"weights\", \"reach\", \"block\" or "
        "\"segments\".");
}

TEST_CASE(
    "options: colours of weights go by the square root from 64 keys on, and the fourth root beyond 1,024, "
    "unless it was said how; older texts meant linear") {
  Document d(test::start());
  CHECK(get(d.state(), OptionId::weight_scale) == Value(std::string("auto")));
  CHECK(shownScale(d.state()) == WeightScale::linear);
  for (const auto& [tokens, scale] : {std::pair{63.0, WeightScale::linear},
                                      {64.0, WeightScale::root},
                                      {1024.0, WeightScale::root},
                                      {1025.0, WeightScale::fourthRoot}}) {
    REQUIRE(d.apply(test::set(OptionId::tokens, tokens)));
    CHECK(shownScale(d.state()) == scale);
  }
  const auto again = fromText(toText(d.state()), {});
  REQUIRE(again);
  CHECK(again->weightScale == WeightScale::automatic);
  REQUIRE(d.apply(test::set(OptionId::weight_scale, std::string("linear"))));
  CHECK(shownScale(d.state()) == WeightScale::linear);
  const std::string older = toText(d.state());
  CHECK(older.find("weight_scale") == std::string::npos);
  CHECK(shownScale(*fromText(older, {})) == WeightScale::linear);
}

TEST_CASE("options: experiment is the older name of view, and either is read") {
  const std::pair<const char*, const char*> names[] = {{"none", "layer"},    {"spread", "spread"},
                                                       {"weights", "dense"}, {"reach", "memory"},
                                                       {"block", "block"},   {"segments", "segments"}};
  const std::string start = toText(test::start());
  const auto reading = [&](std::string_view fields) {
    std::string text = start;
    text.insert(text.find("\"seed\""), fields);
    const auto state = fromText(text, {});
    REQUIRE(state);
    return *state;
  };
  for (const auto& [older, name] : names) {
    Document d(test::start());
    CHECK(refusal(d.apply(test::set(OptionId::experiment, std::string(older)))) == "accepted");
    CHECK(get(d.state(), OptionId::view) == Value(std::string(name)));
    CHECK(refusal(d.apply(test::set(OptionId::view, std::string("layer")))) == "accepted");
    CHECK(refusal(d.apply(test::set(OptionId::view, std::string(name)))) == "accepted");
    CHECK(get(d.state(), OptionId::experiment) == Value(std::string(older)));
    CHECK(!d.canUndo());
    for (const auto& [field, value] : {std::pair{"experiment", older}, {"view", name}}) {
      const State read = reading(std::string("\"") + field + "\": \"" + value + "\",\n");
      CHECK(get(read, OptionId::view) == Value(std::string(name)));
    }
  }
  CHECK(reading("\"experiment\": \"reach\",\n\"view\": \"block\",\n").view == View::block);
  CHECK(tried(OptionId::view, std::string("trains")) ==
        "view: \"trains\" is unknown; use \"layer\", \"block\", \"segments\", \"spread\", \"dense\", "
        "\"memory\", \"cost\", \"train\" or \"model\".");
}

TEST_CASE(
    "options: those of the experiments are undone, and stand in the text only where they were changed") {
  Document d(test::start());
  const State start = d.state();
  const std::string before = toText(start);
  for (const std::string_view prefix : {"spread_", "dense_", "reach_", "block_dropout_"})
    CHECK(before.find(prefix) == std::string::npos);
  const std::pair<OptionId, Value> all[] = {{OptionId::spread_dim, 37.0},
                                            {OptionId::spread_mean, 0.35},
                                            {OptionId::spread_scaled, false},
                                            {OptionId::dense_token, 1.0},
                                            {OptionId::dense_moved, std::string("values")},
                                            {OptionId::reach_recurrent, 1.2},
                                            {OptionId::block_dropout_seed, 0.0}};
  for (const auto& [id, value] : all) {
    CAPTURE(option(id).name);
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    CHECK(get(d.state(), id) == value);
    CHECK(toText(d.state()).find("\"" + std::string(option(id).name) + "\": " + toJson(value)) !=
          std::string::npos);
  }
  for (std::size_t i = 0; i < std::size(all); ++i) CHECK(d.undo());
  CHECK(sameBits(d.state(), start));
  CHECK(toText(d.state()) == before);
  CHECK(tried(OptionId::spread_dim, 1025.0) == "spread_dim: 1025 is too large; use 1 to 1024.");
  CHECK(tried(OptionId::spread_dim, 0.0) == "spread_dim: 0 is too small; use 1 to 1024.");
  CHECK(tried(OptionId::spread_deviation, -1.0) == "spread_deviation: -1 is too small; use 0 to 10.");
  CHECK(tried(OptionId::dense_token, 4.0) == "dense_token: 4 is too large; use 0 to 3.");
  CHECK(tried(OptionId::dense_moved, std::string("keys")) ==
        "dense_moved: \"keys\" is unknown; use \"values\", \"queries_keys\" or \"all\".");
  CHECK(tried(OptionId::reach_tokens, 1.0) == "reach_tokens: 1 is too small; use 2 to 256.");
}

TEST_CASE("options: a pattern by name writes its parts, and the parts make a name") {
  Document d(test::start());
  const State start = d.state();
  for (const std::string_view name : option(OptionId::pattern).choices) {
    if (name == "custom") continue;
    CAPTURE(name);
    CHECK(refusal(d.apply(test::set(OptionId::pattern, std::string(name)))) == "accepted");
    CHECK(get(d.state(), OptionId::pattern) == Value(std::string(name)));
    CHECK(attention::visibleCount(spec(d.state())) > 0);
    if (name != "none") {
      CHECK(d.undo());
      CHECK(sameBits(d.state(), start));
    }
  }
  CHECK(tried(OptionId::pattern, std::string("custom")) ==
        "pattern: \"custom\" is what its parts make; set pattern_local, pattern_block or another of them.");
  CHECK(tried(OptionId::pattern, std::string("sparse"))
            .starts_with("pattern: \"sparse\" is unknown; use \"none\","));
  d.apply(test::set(OptionId::pattern, std::string("longformer")));
  d.apply(test::set(OptionId::pattern_local, 3.0));
  d.apply(test::set(OptionId::pattern, std::string("bigbird")));
  CHECK(d.state().pattern.local == 3);  // a pattern that is on keeps its size
  CHECK(d.state().pattern.random == 1);
  d.apply(test::set(OptionId::pattern_block, 2.0));
  CHECK(get(d.state(), OptionId::pattern) == Value(std::string("custom")));
  CHECK(refusal(d.apply(test::set(OptionId::pattern, std::string("custom")))) == "accepted");
  CHECK(d.state().pattern.block == 2);
  d.apply(test::set(OptionId::pattern, std::string("dilated")));
  CHECK(d.state().pattern == attention::Pattern{.local = 3, .dilation = 2});
  d.apply(test::set(OptionId::pattern, std::string("none")));
  CHECK(!d.state().pattern.any());
  d.apply(test::set(OptionId::tokens, 100.0));
  d.apply(test::set(OptionId::pattern, std::string("block")));
  CHECK(d.state().pattern.block == 10);
}

TEST_CASE(
    "options: biases of the projections begin with zeros, are edited, drawn and undone, and come back from "
    "the text") {
  Document d(test::start());
  const State start = d.state();
  CHECK(refusal(d.apply(SetCells{TensorId::b_q, 0, 0, 1, 1, 1, {2.0f}})) ==
        "b_q: it is not in use here; set projection_bias to true, and mode to \"x\", to change it.");
  CHECK(refusal(d.apply(test::set(OptionId::projection_bias, true))) == "accepted");
  CHECK(refusal(d.apply(SetCells{TensorId::b_q, 0, 0, 1, 1, 1, {2.0f}})) ==
        "b_q: it is not in use here; set mode to \"x\" to change it.");
  CHECK(refusal(d.apply(test::set(OptionId::mode, std::string("x")))) == "accepted");
  CHECK(d.state().bQ == Tensor(1, 1, d.state().heads * d.state().headDim));
  CHECK(d.state().bO == Tensor(1, 1, d.state().modelDim));
  d.takeChanges();
  CHECK(refusal(d.apply(SetCells{TensorId::b_q, 0, 0, 1, 1, 1, {2.0f}})) == "accepted");
  CHECK(d.takeChanges().size() == 1);
  CHECK(refusal(d.apply(test::set(OptionId::d_k, d.state().headDim + 1.0))) == "accepted");
  CHECK(d.state().bQ.cols() == d.state().heads * d.state().headDim);
  CHECK(d.state().bQ.at(0, 0, 1) == 2.0f);
  CHECK(refusal(d.apply(Randomize{7, std::nullopt})) == "accepted");
  CHECK(d.state().bK != Tensor(1, 1, d.state().bK.cols()));
  const auto again = fromText(toText(d.state()), {});
  REQUIRE(refusal(again) == "accepted");
  CHECK(sameBits(*again, d.state()));
  const auto packed = files::unpacked(files::packed(d.state()), {});
  REQUIRE(packed);
  CHECK(sameBits(*packed, d.state()));
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: hidden units of the additive score, in every order of the score, the heads and d_k") {
  Document d(test::start());
  const State start = d.state();
  const auto set = [&](OptionId id, const Value& value) {
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    CHECK(refusal(check(d.state())) == "accepted");
    CHECK(attention::validate(spec(d.state()), inputs(d.state())));
    CHECK(sameBits(*fromText(toText(d.state()), {}), d.state()));
  };
  const std::string general = "general", additive = "additive", dot = "dot";
  set(OptionId::score, additive);
  set(OptionId::additive_dim, 5.0);
  CHECK(d.state().wA.rows() == 5);
  CHECK(d.state().vA.cols() == 5);
  d.apply(SetCells{TensorId::v_a, 0, 0, 4, 1, 1, {3.0f}});
  set(OptionId::heads, 1.0);
  CHECK(d.state().vA.at(0, 0, 4) == 3.0f);
  set(OptionId::heads, 3.0);
  set(OptionId::score, general);
  CHECK(d.state().wA.rows() == d.state().headDim);
  set(OptionId::additive_dim, 2.0);
  set(OptionId::score, dot);
  set(OptionId::d_k, 4.0);
  set(OptionId::score, general);
  set(OptionId::heads, 1.0);
  set(OptionId::score, additive);
  CHECK(d.state().uA.rows() == 2);
  set(OptionId::additive_dim, 0.0);
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: queries of another width than keys, in every order of the score, the heads and d_k") {
  for (const bool projected : {false, true}) {
    Document d(test::start());
    const State start = d.state();
    if (projected) d.apply(test::set(OptionId::mode, std::string("x")));
    d.apply(test::set(OptionId::d_k, 4.0));
    const auto set = [&](OptionId id, const Value& value) {
      CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
      CHECK(refusal(check(d.state())) == "accepted");
      CHECK(attention::validate(spec(d.state()), inputs(d.state())));
      CHECK(sameBits(*fromText(toText(d.state()), {}), d.state()));
    };
    const auto shape = [](const Tensor& t) { return std::array{t.heads(), t.rows(), t.cols()}; };
    const std::string general = "general", additive = "additive", dot = "dot";
    const int heads = d.state().heads, keys = d.state().headDim, query = 6;
    CHECK(refusal(d.apply(test::set(OptionId::d_q, 1.0 + keys))) ==
          "d_q: a dot product needs queries as wide as keys; set score to \"general\" or \"additive\", or "
          "d_q to "
          "0.");
    set(OptionId::score, general);
    set(OptionId::d_q, static_cast<double>(query));
    CHECK(shape(d.state().q)[2] == query);
    CHECK(shape(d.state().wQ)[2] == heads * query);
    CHECK(shape(d.state().k)[2] == keys);
    CHECK(shape(d.state().wA) == std::array{heads, query, keys});
    d.apply(SetCells{TensorId::w_a, heads - 1, query - 1, 0, 1, 1, {3.0f}});
    set(OptionId::heads, 1.0);
    CHECK(shape(d.state().wA) == std::array{1, heads * query, heads * keys});
    CHECK(d.state().wA.at(0, heads * query - 1, (heads - 1) * keys) == 3.0f);  // blocks of a large matrix
    set(OptionId::heads, static_cast<double>(heads));
    CHECK(d.state().wA.at(heads - 1, query - 1, 0) == 3.0f);
    CHECK(refusal(d.apply(test::set(OptionId::score, dot))).starts_with("score: a dot product needs"));
    CHECK(refusal(d.apply(test::set(OptionId::position, std::string("rotary"))))
              .starts_with("position: rotary positions turn queries and keys of one width"));
    CHECK(refusal(d.apply(test::set(OptionId::heads, 7.0))) != "accepted");
    set(OptionId::score, additive);
    CHECK(shape(d.state().wA) == std::array{heads, keys, query});
    CHECK(shape(d.state().uA) == std::array{heads, keys, keys});
    set(OptionId::additive_dim, 5.0);
    CHECK(shape(d.state().wA) == std::array{heads, 5, query});
    CHECK(shape(d.state().uA) == std::array{heads, 5, keys});
    set(OptionId::d_k, 1.0 + keys);
    set(OptionId::d_q, 0.0);
    set(OptionId::score, dot);
    while (d.undo()) continue;
    CHECK(sameBits(d.state(), start));
  }
}

TEST_CASE("options: a state whose q and k differ in width says d_q by their shapes") {
  Document d(test::start());
  d.apply(test::set(OptionId::score, std::string("additive")));
  d.apply(test::set(OptionId::d_q, 6.0));
  std::string text = toText(d.state());
  const std::size_t at = text.find("\"d_q\": 6");
  REQUIRE(at != std::string::npos);
  text.erase(at, text.find('"', at + 5) - at);
  const auto read = fromText(text, {});
  REQUIRE(refusal(read) == "accepted");
  CHECK(sameBits(*read, d.state()));
}

TEST_CASE(
    "options: an X of the values begins as that of the keys, and goes with their tokens, in every item of a "
    "batch") {
  for (const bool cross : {false, true}) {
    Document d(test::start());
    const State start = d.state();
    const auto set = [&](OptionId id, const Value& value) {
      CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
      CHECK(refusal(check(d.state())) == "accepted");
      CHECK(sameBits(*fromText(toText(d.state()), {}), d.state()));
      CHECK(sameBits(*files::unpacked(files::packed(d.state()), {}), d.state()));
    };
    set(OptionId::cross, cross);
    set(OptionId::batch, 2.0);
    set(OptionId::separate_values, true);
    set(OptionId::mode, std::string("x"));
    CHECK(d.state().xV == (cross ? d.state().xKv : d.state().x));
    CHECK(d.state().items[1].xV.rows() == d.state().keyTokens);
    attention::Trace before, after;
    attention::forward(spec(d.state()), inputs(d.state()), before);
    CHECK(refusal(d.apply(SetCells{TensorId::x_v, 0, 0, 1, 1, 1, {9.0f}})) == "accepted");
    attention::forward(spec(d.state()), inputs(d.state()), after);
    CHECK(after.k == before.k);
    CHECK(after.v != before.v);
    CHECK(refusal(d.apply(InsertTokens{1, 2, Side::keys})) == "accepted");
    CHECK(d.state().xV.rows() == d.state().keyTokens);
    CHECK(refusal(d.apply(RemoveTokens{0, 1, Side::keys})) == "accepted");
    set(OptionId::batch_item, 1.0);
    set(OptionId::same_word, true);
    set(OptionId::model_dim, 5.0);
    CHECK(d.state().xV.cols() == 5);
    set(OptionId::separate_values, false);
    CHECK(d.state().xV.empty());
    while (d.undo()) continue;
    CHECK(sameBits(d.state(), start));
  }
}

TEST_CASE("options: a sink for each head, which softmax alone has a use for") {
  Document d(test::start());
  const State start = d.state();
  const auto set = [&](OptionId id, const Value& value) {
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    CHECK(refusal(check(d.state())) == "accepted");
    CHECK(sameBits(*fromText(toText(d.state()), {}), d.state()));
    CHECK(sameBits(*files::unpacked(files::packed(d.state()), {}), d.state()));
  };
  const SetCells edit{TensorId::sink, 0, 0, 0, 1, 1, {1.5f}};
  CHECK(refusal(d.apply(edit)) == "sink: it is not in use here; set softmax_sink to true to change it.");
  set(OptionId::softmax_sink, true);
  CHECK(d.state().sink == attention::Tensor(d.state().heads, 1, 1));
  CHECK(refusal(d.apply(edit)) == "accepted");
  CHECK(spec(d.state()).sink);
  set(OptionId::heads, 2.0);
  REQUIRE(d.state().sink.heads() == 2);
  CHECK(d.state().sink.at(0, 0, 0) == 1.5f);
  set(OptionId::normalizer, std::string("sparsemax"));
  CHECK(inputs(d.state()).sink == nullptr);
  CHECK(refusal(d.apply(edit)) == "sink: it is not in use here; set normalizer to \"softmax\" to change it.");
  set(OptionId::normalizer, std::string("softmax"));
  CHECK(inputs(d.state()).sink == &d.state().sink);
  set(OptionId::softmax_sink, false);
  CHECK(d.state().sink.empty());
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: W_O of another width, and none") {
  Document d(test::start());
  const State start = d.state();
  const auto output = [&] {
    attention::Trace trace;
    attention::forward(spec(d.state()), inputs(d.state()), trace);
    return trace.output;
  };
  d.apply(test::set(OptionId::mode, std::string("x")));
  const attention::Tensor usual = output();
  CHECK(refusal(d.apply(test::set(OptionId::d_out, 9.0))) == "accepted");
  CHECK(output().cols() == 9);
  for (int c = 0; c < std::min(9, usual.cols()); ++c)
    CHECK(output().at(0, 1, c) == usual.at(0, 1, c));  // columns that remain keep their numbers
  CHECK(refusal(d.apply(test::set(OptionId::projection_bias, true))) == "accepted");
  CHECK(d.state().bO.cols() == 9);
  CHECK(refusal(d.apply(test::set(OptionId::output_projection, false))) == "accepted");
  CHECK(output().cols() == d.state().heads * d.state().valueDim);
  CHECK(refusal(d.apply(SetCells{TensorId::w_o, 0, 0, 0, 1, 1, {2.0f}})) ==
        "w_o: it is not in use here; set output_projection to true, and mode to \"x\", to change it.");
  CHECK(refusal(d.apply(SetCells{TensorId::b_o, 0, 0, 0, 1, 1, {2.0f}})) ==
        "b_o: it is not in use here; set output_projection to true to change it.");
  for (const char* norm : {"post", "pre", "none"}) {  // the parameters of the block are as wide as the output
    d.apply(test::set(OptionId::block_norm, std::string(norm)));
    attention::Trace trace;
    attention::forward(spec(d.state()), inputs(d.state()), trace);
    const BlockRun run = DerivedTensors(d.state(), trace).block();
    CHECK(run.trace[attention::BlockStage::residual_2].cols() == trace.output.cols());
  }
  CHECK(sameBits(*fromText(toText(d.state()), {}), d.state()));
  CHECK(refusal(d.apply(test::set(OptionId::output_projection, true))) == "accepted");
  CHECK(refusal(d.apply(test::set(OptionId::d_out, 0.0))) == "accepted");
  CHECK(sameBits(output(), usual));
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: how rotary positions turn") {
  CHECK(tried(OptionId::rotary_dims, 3.0) ==
        "rotary_dims: 3 columns do not form pairs; use an even number, or 0 for all.");
  CHECK(tried(OptionId::rotary_base, 1.0) == "rotary_base: 1 is too small; use 1.001 to 1000000000.");
  CHECK(tried(OptionId::rotary_factor, 0.0) == "rotary_factor: 0 is too small; use 0.01 to 1000.");
  CHECK(tried(OptionId::rotary_pairs, std::string("llama")) ==
        "rotary_pairs: \"llama\" is unknown; use \"adjacent\" or \"half\".");
  CHECK(tried(OptionId::position_ids, 100.0) ==
        "position_ids: 100 is not a list of whole numbers; use [] for 0, 1, 2 …, or [100] for 100, 101 ….");
  CHECK(tried(OptionId::position_ids, std::vector<int>{5, -1}) ==
        "position_ids: -1 is too small; use 0 to 1000000.");
  CHECK(tried(OptionId::position_ids, std::vector<int>(131'073)) ==
        "position_ids: there are 131073; use at most 131072, after which they count on.");
  Document d(test::start());
  const State start = d.state();
  const std::pair<OptionId, Value> all[] = {{OptionId::d_k, 4.0},
                                            {OptionId::position, std::string("rotary")},
                                            {OptionId::rotary_pairs, std::string("half")},
                                            {OptionId::rotary_base, 100.0},
                                            {OptionId::rotary_dims, 2.0},
                                            {OptionId::rotary_scaling, std::string("linear")},
                                            {OptionId::rotary_factor, 4.0},
                                            {OptionId::position_ids, std::vector<int>{2, 9, 4}}};
  for (const auto& [id, value] : all) {
    CAPTURE(option(id).name);
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    CHECK(get(d.state(), id) == value);
  }
  const attention::Spec made = spec(d.state());
  CHECK(made.rotary ==
        attention::Rotary{attention::RotaryPairs::half, 100.0f, 2, attention::RotaryScaling::linear, 4.0f});
  CHECK(made.positionIds == std::vector<int>{2, 9, 4});
  CHECK(refusal(d.apply(test::set(OptionId::d_k, 3.0))) ==
        "accepted");  // rotary positions turn two of the three
  CHECK(refusal(d.apply(test::set(OptionId::rotary_dims, 0.0)))
            .starts_with("rotary_dims: rotary positions turn columns in pairs; use an even d_k"));
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), start));
}

TEST_CASE("options: what means nothing together is refused from either side") {
  State s = test::start();
  const auto now = [&](OptionId id, const Value& value) { return refusal(check(s, id, value)); };
  const auto set = [&](OptionId id, const Value& value) {
    REQUIRE(now(id, value) == "accepted");
    document::apply(s, test::set(id, value));
  };
  const Value sinusoidal = std::string("sinusoidal"), rotary = std::string("rotary"),
              additive = std::string("additive");
  constexpr std::string_view addedToX =
      "sinusoidal positions are added to X; set mode to \"x\", or position to \"none\", \"rotary\" or "
      "\"alibi\".";
  CHECK(now(OptionId::position, sinusoidal) == "position: " + std::string(addedToX));
  set(OptionId::mode, std::string("x"));
  set(OptionId::position, sinusoidal);
  CHECK(now(OptionId::mode, std::string("qkv")) == "mode: " + std::string(addedToX));
  CHECK(now(OptionId::position, rotary) ==
        "position: rotary positions turn columns in pairs; use an even d_k, or set position to \"none\" or "
        "\"alibi\".");
  set(OptionId::d_k, 4.0);
  set(OptionId::position, rotary);
  set(OptionId::mode, std::string("qkv"));
  CHECK(now(OptionId::d_k, 5.0) ==
        "d_k: rotary positions turn columns in pairs; use an even d_k, or set position to \"none\" or "
        "\"alibi\".");
  CHECK(now(OptionId::heads, 8.0) ==
        "heads: 8 heads of 1 columns cannot be turned in pairs by rotary positions; use 1, 2 or 4.");
  CHECK(now(OptionId::score, additive) ==
        "score: rotary positions turn dot products, and an additive score has none; set score to \"scaled\", "
        "or position "
        "to \"none\" or \"alibi\".");
  CHECK(
      now(OptionId::causal_offset, 131069.0) ==
      "causal_offset: the last query would stand beyond position 131072; use a smaller causal_offset, or set "
      "position to "
      "\"alibi\".");
  set(OptionId::causal_offset, 131068.0);
  CHECK(refusal(check(s, InsertTokens{0, 1}))
            .starts_with("tokens: the last query would stand beyond position 131072"));
  set(OptionId::position, std::string("alibi"));
  set(OptionId::score, additive);
  CHECK(now(OptionId::position, rotary).starts_with("position: rotary positions turn dot products"));
  set(OptionId::mask_after_softmax, true);
  CHECK(
      now(OptionId::normalizer, std::string("relu")) ==
      "normalizer: the mask cannot come after a softmax that is not there; set normalizer to \"softmax\", or "
      "mask_after_softmax to false.");
}

TEST_CASE("options: heads that share keys and values") {
  State s = test::start();
  const auto now = [&](OptionId id, const Value& value) { return refusal(check(s, id, value)); };
  const auto set = [&](OptionId id, const Value& value) {
    REQUIRE(now(id, value) == "accepted");
    document::apply(s, test::set(id, value));
  };
  CHECK(now(OptionId::kv_heads, 3.0) == "kv_heads: 3 does not divide the 2 heads; use 1 or 2.");
  CHECK(now(OptionId::kv_heads, 0.0) == "kv_heads: 0 is too small; use 1 to 64.");
  set(OptionId::kv_heads, 1.0);
  CHECK(allowedHeads(s) == std::vector{2, 6});
  CHECK(now(OptionId::heads, 3.0) ==
        "heads: 3 is no multiple of the 2 heads that share keys (heads / kv_heads); use 2 or 6.");
  set(OptionId::heads, 6.0);
  CHECK(s.kvHeads == 3);
  CHECK(s.headDim == 1);
  set(OptionId::heads, 2.0);
  set(OptionId::kv_heads, 2.0);
  set(OptionId::d_v, 5.0);
  CHECK(allowedHeads(s) == std::vector{1, 2});
  CHECK(now(OptionId::heads, 3.0) ==
        "heads: 3 does not divide the 10 columns of all values (heads × d_v); use 1 or 2.");
  set(OptionId::d_k, 4.0);
  CHECK(s.valueDim == 5);
  CHECK(now(OptionId::hidden_heads, std::vector<int>{0, 2}) ==
        "hidden_heads: there is no head 2; use 0 to 1.");
  CHECK(now(OptionId::hidden_heads, std::vector<int>{64}) == "hidden_heads: 64 is too large; use 0 to 63.");
  CHECK(now(OptionId::hidden_heads, 1.0) ==
        "hidden_heads: 1 is not a list of head numbers; use [] for none.");
  CHECK(now(OptionId::step, 5.0) == "step: 5 is too large; use 0 to 4.");
  CHECK(now(OptionId::key_tokens, 5.0) ==
        "key_tokens: the keys are the tokens here; set cross to true first.");
  CHECK(now(OptionId::key_tokens, 4.0) == "accepted");
  CHECK(now(OptionId::key_labels, std::string("a b")) ==
        "key_labels: the keys are the tokens here; set cross to true first.");
  set(OptionId::cross, true);
  CHECK(now(OptionId::key_labels, std::string("a b")) == "accepted");
  CHECK(now(OptionId::key_tokens, 131073.0) == "key_tokens: 131073 is too large; use 1 to 131072.");
}
