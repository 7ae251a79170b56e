// A choice that conflicts with another option gives the reason, and the remedy that it offers works.
#include "document/remedy.h"

#include <chrono>

#include "document_support.h"

namespace {

using document::OptionId;
using document::Remedy;
using document::State;
using document::Value;
using test::set;

State with(std::initializer_list<document::SetOption> edits) {
  document::Document d(test::start());
  for (const auto& e : edits) REQUIRE(test::refusal(d.apply(e)) == "accepted");
  return d.state();
}

std::string offered(const State& s, OptionId id, const Value& value) {
  const auto found = document::remedy(s, id, value);
  return found ? found->reason.english() + " · " + found->action.english() : "none";
}

/// Values of an option that are worth trying, valid or not in this state.
std::vector<Value> valuesOf(const document::Option& o) {
  std::vector<Value> out;
  switch (o.type) {
    case document::OptionType::boolean: return {true, false};
    case document::OptionType::choice:
      for (const auto choice : o.choices) out.push_back(std::string(choice));
      return out;
    case document::OptionType::scale: return {true, false, 0.5};
    case document::OptionType::labels: return {std::string("a b c"), std::string("a b c d e f")};
    case document::OptionType::text: return {std::string()};
    case document::OptionType::heads: return {std::vector<int>{}, std::vector<int>{0, 5}};
    default:
      for (const double n : {-1.0, 0.0,  1.0,  2.0,  3.0,   4.0,   5.0,    6.0,    7.0,    8.0,    9.0,
                             12.0, 16.0, 63.0, 64.0, 255.0, 256.0, 1020.0, 1024.0, 4095.0, 4096.0, 5000.0})
        if (n >= o.min) out.push_back(n);
      return out;
  }
}

std::vector<State> widgetRects() {
  const auto text = [](const char* t) { return std::string(t); };
  return {with({}),
          with({set(OptionId::mode, text("x")), set(OptionId::position, text("sinusoidal"))}),
          with({set(OptionId::mode, text("x")), set(OptionId::cross, true),
                set(OptionId::position, text("sinusoidal")), set(OptionId::causal_offset, 4092.0)}),
          with({set(OptionId::d_k, 4.0), set(OptionId::position, text("rotary"))}),
          with({set(OptionId::d_k, 4.0), set(OptionId::position, text("rotary")),
                set(OptionId::causal_offset, 4092.0)}),
          with({set(OptionId::score, text("additive")), set(OptionId::causal_offset, 4096.0)}),
          with({set(OptionId::score, text("general")), set(OptionId::d_q, 5.0)}),
          with({set(OptionId::mask_after_softmax, true)}),
          with({set(OptionId::normalizer, text("relu"))}),
          with({set(OptionId::heads, 6.0), set(OptionId::kv_heads, 2.0)}),
          with({set(OptionId::kv_heads, 1.0), set(OptionId::d_v, 5.0)}),
          with({set(OptionId::heads, 1.0), set(OptionId::d_k, 255.0)}),
          with({set(OptionId::d_k, 255.0), set(OptionId::d_v, 256.0)})};
}

}  // namespace

TEST_CASE("remedy: what is offered makes the choice pass, for every option and value") {
  int refused = 0, helped = 0;
  for (const State& start : widgetRects()) {
    for (const document::Option& o : document::options()) {
      for (const Value& value : valuesOf(o)) {
        const bool fits(document::check(start, o.id, value));
        const auto found = document::remedy(start, o.id, value);
        CAPTURE(o.name);
        CHECK(document::reason(start, o.id, value).empty() == fits);
        refused += !fits;
        if (fits) CHECK_FALSE(found);
        if (!found) continue;
        ++helped;
        CAPTURE(found->reason);
        CHECK_FALSE(found->reason.empty());
        CHECK_FALSE(found->action.empty());
        document::Document d(start);
        for (const document::SetOption& e : found->edits) {
          CHECK(e.option != o.id);
          CHECK(test::refusal(d.apply(e, 7)) == "accepted");
        }
        CHECK(test::refusal(d.apply(set(o.id, found->value), 7)) == "accepted");
        CHECK(test::refusal(document::check(d.state())) == "accepted");
        CHECK(d.undo());
        State back = d.state();
        document::copyView(back, start);
        CHECK(document::sameBits(back, start));  // undone in a single step
        CHECK_FALSE(d.canUndo());
      }
    }
  }
  CHECK(refused > 300);
  CHECK(helped > 100);
}

TEST_CASE("remedy: what it says") {
  const std::string rotary = "rotary", additive = "additive";
  const State start = test::start();  // 2 heads with d_k = 3, given as Q, K and V
  CHECK(offered(start, OptionId::heads, 4.0) == "4 heads need 8 columns · widen to 8");
  CHECK(offered(start, OptionId::heads, 3.0) == "none");
  CHECK(offered(start, OptionId::heads, 65.0) == "none");
  CHECK(offered(start, OptionId::position, rotary) == "Rotary needs an even d_k · set 4");
  CHECK(offered(start, OptionId::position, std::string("sinusoidal")) ==
        "Sinusoidal positions are added to X · set X · W");
  CHECK(offered(start, OptionId::key_tokens, 7.0) ==
        "Without cross-attention the keys are the tokens · set cross-attention");
  CHECK(offered(start, OptionId::tokens, 5000.0) == "none");
  CHECK(document::reason(start, OptionId::tokens, 500000.0) == "500000 is too large; use 1 to 131072.");

  const State even = with({set(OptionId::d_k, 4.0), set(OptionId::position, rotary)});
  CHECK(offered(even, OptionId::d_k, 5.0) == "Rotary needs an even d_k · set positions to none");
  CHECK(offered(even, OptionId::score, additive) == "Rotary needs a dot product · set positions to none");
  CHECK(offered(even, OptionId::heads, 8.0) ==
        "8 heads need 16 columns · widen to 16");  // 8 heads of one column each cannot be turned in pairs
  CHECK(offered(even, OptionId::causal_offset, 131071.0) == "Positions end at 131072 · set ALiBi");

  const State far = with({set(OptionId::score, additive), set(OptionId::causal_offset, 131072.0)});
  CHECK(offered(far, OptionId::scale, true) == "Only dot products are scaled · set scaled dot");
  CHECK(offered(far, OptionId::position, rotary) ==
        "Rotary needs a dot product · set scaled dot, set 4, set keys before to 131068");

  CHECK(offered(with({set(OptionId::mask_after_softmax, true)}), OptionId::normalizer, std::string("relu")) ==
        "The mask comes after softmax · set before");
  CHECK(offered(with({set(OptionId::normalizer, std::string("relu"))}), OptionId::mask_after_softmax, true) ==
        "It needs softmax · set softmax");
  CHECK(offered(with({set(OptionId::heads, 6.0), set(OptionId::kv_heads, 2.0)}), OptionId::heads, 4.0) ==
        "4 heads cannot share keys 3 at a time · give each its own, widen to 12");
}

TEST_CASE("remedy: queries of another width than keys") {
  const State wide =
      with({set(OptionId::d_k, 4.0), set(OptionId::score, std::string("general")), set(OptionId::d_q, 6.0)});
  const std::string needs = "A dot product needs queries as wide as keys · ";
  CHECK(offered(wide, OptionId::score, std::string("scaled")) == needs + "set d_q to d_k");
  CHECK(offered(with({}), OptionId::d_q, 7.0) == needs + "set the general score");
  CHECK(offered(wide, OptionId::position, std::string("rotary")) ==
        "Rotary needs queries as wide as keys · set d_q to d_k");
  const State turned = with({set(OptionId::d_k, 4.0), set(OptionId::score, std::string("general")),
                             set(OptionId::position, std::string("rotary"))});
  CHECK(offered(turned, OptionId::d_q, 6.0) ==
        "Rotary needs queries as wide as keys · set positions to none");
}

TEST_CASE("remedy: heads of keys, and steps of a decoder") {
  const auto of = [](double heads, double keyHeads) {
    return with({set(OptionId::d_k, 24.0), set(OptionId::heads, heads), set(OptionId::kv_heads, keyHeads)});
  };
  CHECK(offered(of(8, 8), OptionId::kv_heads, 3.0) == "3 key heads do not divide 8 heads · set 4");
  CHECK(offered(of(8, 8), OptionId::kv_heads, 5.0) == "5 key heads do not divide 8 heads · set 4");
  CHECK(offered(of(8, 4), OptionId::kv_heads, 7.0) == "7 key heads do not divide 8 heads · set 8");
  CHECK(offered(of(12, 2), OptionId::kv_heads, 5.0) == "5 key heads do not divide 12 heads · set 6");
  CHECK(offered(of(8, 4), OptionId::kv_heads, 3.0) == "none");  // 4 is the present number
  CHECK(offered(of(8, 8), OptionId::kv_heads, 16.0) == "16 key heads need 16 heads · set 16 heads");
  CHECK(offered(of(8, 8), OptionId::kv_heads, 9.0) == "none");  // does not divide the width
  CHECK(offered(of(8, 8), OptionId::kv_heads, 2.0) == "none");  // is possible
  const State start = test::start();                            // 4 tokens
  CHECK(offered(start, OptionId::step, 4.0) == "none");
  CHECK(offered(start, OptionId::step, 6.0) == "Step 6 needs 6 tokens · set 6 tokens");
  const auto longer = document::remedy(start, OptionId::step, 6.0);
  REQUIRE(longer);
  CHECK(longer->edits.size() == 1);
  CHECK(longer->edits[0].option == OptionId::tokens);
  CHECK(longer->value == Value(6.0));
  const auto fewer = document::remedy(of(8, 8), OptionId::kv_heads, 3.0);
  REQUIRE(fewer);
  CHECK(fewer->edits.empty());
  CHECK(fewer->value == Value(4.0));
}

TEST_CASE("remedy: of sizes that memory does not hold, the largest that it does, or another one gives way") {
  const State many = with({set(OptionId::heads, 1.0), set(OptionId::d_k, 64.0), set(OptionId::heads, 8.0),
                           set(OptionId::tokens, 11585.0)});
  const std::string scores = "At most 1.07 billion scores fit · ",
                    numbers = "At most 9.6 million numbers fit · ";
  CHECK(offered(many, OptionId::heads, 64.0) ==
        scores + "set 4096 tokens");  // 8 is the present number, and no other below 64 fits
  const State half = with({set(OptionId::heads, 1.0), set(OptionId::d_k, 64.0), set(OptionId::heads, 64.0),
                           set(OptionId::tokens, 2896.0)});
  CHECK(offered(half, OptionId::tokens, 8192.0) ==
        scores + "set 4096");  // the largest n with n² × 64 scores that fit
  const State most = with({set(OptionId::heads, 1.0), set(OptionId::d_k, 64.0), set(OptionId::heads, 64.0),
                           set(OptionId::tokens, 4096.0)});
  CHECK(offered(most, OptionId::tokens, 4097.0) == scores + "set 32 heads");
  CHECK(offered(many, OptionId::batch, document::kMaxBatch * 1.0).starts_with(numbers + "set "));
  CHECK(offered(many, OptionId::d_k, 256.0).starts_with(numbers + "set "));
  int helped = 0;
  for (const State* start : {&many, &half, &most}) {
    for (const auto& [id, value] : {std::pair{OptionId::heads, 64.0},
                                    {OptionId::tokens, 8192.0},
                                    {OptionId::tokens, 4097.0},
                                    {OptionId::batch, document::kMaxBatch * 1.0},
                                    {OptionId::d_k, 256.0},
                                    {OptionId::d_v, 255.0},
                                    {OptionId::model_dim, 1024.0}}) {
      const auto found = document::remedy(*start, id, value);
      if (document::check(*start, id, value)) continue;
      CAPTURE(document::option(id).name);
      CAPTURE(value);
      REQUIRE(found);
      ++helped;
      document::Settings after = *start;
      for (const document::SetOption& e : found->edits) {
        CHECK(document::check(after, e.option, e.value));
        after = document::settingsAfter(after, e.option, e.value);
      }
      CHECK(document::check(after, id, found->value));
      CHECK(found->value != document::get(*start, id));
    }
  }
  CHECK(helped > 8);
  const auto done = document::check(half, OptionId::tokens, 8192.0);
  REQUIRE_FALSE(done);
  CHECK(document::withRemedy(half, OptionId::tokens, 8192.0, done.error())
            .message()
            .ends_with(" The nearest that fits is 4096."));
}

TEST_CASE("remedy: among thousands of tokens it is found in a few steps, as each frame looks for it") {
  const auto of = [](double heads, double tokens) {
    return with({set(OptionId::heads, 1.0), set(OptionId::d_k, 16.0), set(OptionId::heads, heads),
                 set(OptionId::tokens, tokens)});
  };
  const State most = of(8, 11585);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; ++i)
    CHECK(offered(most, OptionId::heads, 16.0) == "At most 1.07 billion scores fit · set 8192 tokens");
  WARN(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
  CHECK(offered(of(16, 6000), OptionId::tokens, 11585.0) == "At most 1.07 billion scores fit · set 8192");
  CHECK(offered(of(2, 2000), OptionId::tokens, 20000.0) ==
        "At most 134 million scores fit for each of several heads · set 11585");
}

TEST_CASE("remedy: an error names it") {
  const State start = test::start();
  const auto done = document::check(start, OptionId::heads, 4.0);
  REQUIRE_FALSE(done);
  CHECK(document::withRemedy(start, OptionId::heads, 4.0, done.error()).message() ==
        "heads: 4 does not divide the model width 6 (heads × d_k); use 1, 2, 3 or 6. It fits after setting "
        "d_k to 4.");
  const auto large = document::check(start, OptionId::tokens, 5000.0);
  CHECK(document::withRemedy(start, OptionId::tokens, 5000.0, large.error()).message() ==
        large.error().message());
}
