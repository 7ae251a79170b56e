// Plain tensors files, as people save them from NumPy and PyTorch.
#include "attention/steps/forward.h"
#include "document_support.h"
#include "files/layout/read.h"

using namespace document;
using test::refusal;

namespace {

std::string tried(std::string_view text) { return refusal(files::readState(text, {})); }

State read(std::string_view text) {
  auto state = files::readState(text, {});
  REQUIRE(refusal(state) == "accepted");
  return *state;
}

std::string numbers(int count) {
  std::string out = "[";
  for (int i = 0; i < count; ++i) out += (i > 0 ? "," : "") + std::to_string(i);
  return out + "]";
}

/// q, k and v of one shape with the numbers 0, 1, 2 …; `more` appends further fields.
std::string qkv(std::string_view shape, int count, const std::string& more = "") {
  const std::string tensor = "{\"shape\": " + std::string(shape) + ", \"data\": " + numbers(count) + "}";
  return "{\"q\": " + tensor + ", \"k\": " + tensor + ", \"v\": " + tensor + more + "}";
}

std::string options(std::string_view list) { return ", \"options\": {" + std::string(list) + "}"; }

}  // namespace

TEST_CASE("tensors: shapes") {
  for (const std::string_view shape : {"[4, 6]", "[1, 4, 6]", "[1, 1, 4, 6]"}) {
    const State s = read(qkv(shape, 24));
    CHECK(s.heads == 1);
    CHECK(s.tokens == 4);
    CHECK(s.headDim == 6);
    CHECK(s.q.at(0, 1, 0) == 6.0f);
  }
  for (const std::string_view shape : {"[2, 4, 3]", "[1, 2, 4, 3]"}) {
    const State s = read(qkv(shape, 24));
    CHECK(s.heads == 2);
    CHECK(s.tokens == 4);
    CHECK(s.headDim == 3);
    CHECK(s.k.at(1, 0, 0) == 12.0f);
  }
  for (const std::string_view shape : {"[4, 6]", "[1, 4, 6]"}) {
    const State s = read(qkv(shape, 24, options(R"("layout": "packed", "heads": 2)")));
    CHECK(s.heads == 2);
    CHECK(s.headDim == 3);
    CHECK(s.v.at(1, 0, 0) == 3.0f);
    CHECK(s.v.at(0, 1, 0) == 6.0f);
    CHECK(s.v.at(1, 3, 2) == 23.0f);
  }
  const State s = read(qkv("[4, 6]", 24));
  CHECK(!s.causal);
  CHECK(s.score == attention::Score::scaled);
  CHECK(s.mode == Mode::qkv);
  CHECK(s.labels == std::vector<std::string>{"t1", "t2", "t3", "t4"});
  CHECK(s.preset.empty());
}

TEST_CASE("tensors: nested lists") {
  const State s = read(
      R"({"q": [[1, 2, 3], [4, 5, 6]], "k": [[[1, 2, 3], [4, 5, 6]]], "v": [[[[1, 2, 3], [4, 5, 6]]]]})");
  CHECK(s.tokens == 2);
  CHECK(s.headDim == 3);
  CHECK(s.v.at(0, 1, 1) == 5.0f);
  const auto ragged = [](std::string_view q) {
    return tried("{\"q\": " + std::string(q) + ", \"k\": [[1]], \"v\": [[1]]}");
  };
  CHECK(ragged("[[1,2,3,4],[1,2,3,4],[1,2,3]]") ==
        "q: row 2 (from 0) has 3 values, those before it 4; give every row the same length.");
  CHECK(ragged("[[[1,2],[3,4]],[[1,2]]]") ==
        "q: row 1 (from 0) has 1 row, those before it 2; give every row the same length.");
  CHECK(ragged("[[[1,2],[3,4]],[[1,2],[3]]]") ==
        "q[1]: row 1 (from 0) has 1 value, those before it 2; give every row the same length.");
  CHECK(ragged("[[1,2],[[3],[4]]]") ==
        "q[1][0]: it is not as deep as those before; give every row the same depth.");
  CHECK(ragged("[[[1],[2]],[3,4]]") ==
        "q[1][0]: it is not as deep as those before; give every row the same depth.");
  CHECK(ragged("[[1,2],3]").starts_with("q[1]: "));
  CHECK(ragged("[1,[2]]") == "q[1]: it is not as deep as those before; give every row the same depth.");
  CHECK(ragged("[[1,\"x\"]]") == "q[0][1]: \"x\" is not a number; give a number.");
  CHECK(ragged("[[1,null]]") == "q[0][1]: null is not a number; give a number.");
  CHECK(ragged("[[1,1e39]]") == "q[0][1]: the number is too large for 32 bits; use -3.4e38 to 3.4e38.");
  CHECK(ragged("[[]]") == "q.shape: [1, 0] has a size of 0; only the count of tokens may be 0.");
  CHECK(ragged("[]").starts_with("q.shape: [0] has 1 size; use [tokens, columns], "));
  CHECK(ragged("[[[[[1]]]]]").starts_with("q.shape: [1, 1, 1, 1, 1] has 5 sizes; use [tokens, columns], "));
  CHECK(ragged("3") == "q.shape: [] is a single value; give a list or a matrix.");
  CHECK(ragged("[1,2]") ==
        "q.shape: [2] has 1 size; use [tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, "
        "columns].");
}

TEST_CASE("tensors: shapes that the board does not take") {
  CHECK(tried(qkv("[70, 1, 1, 1]", 70)) ==
        "q.shape: a batch of 70 is too large for the board; give at most 64 entries.");
  CHECK(tried(qkv("[24]", 24)) ==
        "q.shape: [24] has 1 size; use [tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, "
        "columns].");
  CHECK(tried(qkv("[4, 6]", 24, options("\"heads\": 2"))) ==
        "options.heads: 2 does not fit q.shape [4, 6], which has 1 head; make them agree, or set layout to "
        "\"packed\" to split columns.");
  CHECK(tried(qkv("[4, 6]", 24, options("\"layout\": \"packed\""))) ==
        "options.heads: it is missing; the packed layout needs the count of heads.");
  CHECK(tried(qkv("[4, 6]", 24, options("\"layout\": \"packed\", \"heads\": 4"))) ==
        "options.heads: 4 does not divide the 6 columns of q.shape [4, 6]; give one that does.");
  const auto mixed = [](std::string_view q, std::string_view k, std::string_view v) {
    return tried("{\"q\": " + std::string(q) + ", \"k\": " + std::string(k) + ", \"v\": " + std::string(v) +
                 "}");
  };
  CHECK(mixed("[[1,2]]", "[[1,2],[3,4]]", "[[1,2]]") ==
        "v.shape: a token count of 1 does not fit the 2 of k; give as many.");
  CHECK(mixed("[[1,2]]", "[[1,2,3]]", "[[1,2]]") ==
        "k.shape: a column count of 3 does not fit the 2 of q; give as many, or set score to \"general\" or "
        "\"additive\", which compare different widths.");
  CHECK(mixed("[[[1]],[[2]]]", "[[[1]],[[2]],[[3]]]", "[[[1]],[[2]],[[3]]]") ==
        "k.shape: 3 key heads do not divide the 2 heads of q; give a divisor of 2.");
  CHECK(mixed("[[[1]],[[2]]]", "[[[1]]]", "[[[1]],[[2]]]") ==
        "v.shape: a head count of 2 does not fit the 1 of k; give as many.");
  CHECK(
      tried(R"({"q": [[1]], "k": [[1]]})") ==
      "v: it is missing; the file has 2 tensors: \"q\", \"k\". Expected q, k and v, or x, w_q, w_k and w_v.");
  std::string tall = "{\"q\": [[0]";
  for (int i = 0; i < 131'072; ++i) tall += ",[0]";
  CHECK(tried(tall + "], \"k\": [[1]], \"v\": [[1]]}") == "tokens: 131073 is too large; use 1 to 131072.");
}

TEST_CASE("tensors: options") {
  const auto with = [](std::string_view list) { return read(qkv("[2, 4, 3]", 24, options(list))); };
  const auto bad = [](std::string_view list) { return tried(qkv("[2, 4, 3]", 24, options(list))); };
  CHECK(with("\"causal\": true").causal);
  CHECK(with("\"temperature\": 0.5").temperature == 0.5f);
  CHECK(with("\"scale\": false").score == attention::Score::dot);
  CHECK(with("\"scale\": 1.0").score == attention::Score::dot);
  CHECK(with("\"scale\": 0.57735026").score == attention::Score::scaled);
  CHECK(with("\"score\": \"dot\"").score == attention::Score::dot);
  CHECK(with("\"score\": \"scaled\"").score == attention::Score::scaled);
  CHECK(with("\"heads\": 2, \"kv_heads\": 2, \"normalizer\": \"softmax\", \"softcap\": 0, \"window_left\": "
             "-1, \"window_right\": -1, \"layout\": \"split\"")
            .heads == 2);
  CHECK(with("\"scale\": 0.1").scaleBy == 0.1f);
  CHECK(with("\"scale\": 0.57735026").scaleBy == 0.0f);
  CHECK(with("\"softcap\": 30").softcap == 30.0f);
  CHECK(with("\"window_left\": 2").windowLeft == 2);
  CHECK(with("\"score\": \"cosine\", \"scale\": false").score == attention::Score::cosine);
  CHECK(with("\"normalizer\": \"relu\"").normalizer == attention::Normalizer::relu);
  CHECK(with("\"pattern_local\": 2, \"pattern_global\": 1").pattern.global == 1);
  CHECK(bad("\"scale\": 0") == "options.scale: 0 is too small; use 0.0001 to 10000.");
  CHECK(bad("\"scale\": \"on\"") ==
        "options.scale: \"on\" cannot be used; give a number such as 0.125, true for 1/√d or false for 1.");
  CHECK(bad("\"score\": \"cosine\", \"scale\": 0.5") ==
        "options.scale: only the score \"scaled\" has one, and not \"cosine\"; leave it out, or use that "
        "score.");
  CHECK(bad("\"kv_heads\": 1") ==
        "options.kv_heads: 1 does not fit k.shape [2, 4, 3], which has 2 heads; make them agree, or set "
        "layout to "
        "\"packed\" to split columns.");
  CHECK(bad("\"score\": \"additive\", \"position\": \"rotary\"")
            .starts_with("position: rotary positions turn"));
  CHECK(bad("\"normalizer\": \"soft\"")
            .starts_with("options.normalizer: \"soft\" is unknown; use \"softmax\", "));
  CHECK(bad("\"window_left\": -2") ==
        "options.window_left: -2 cannot be used; give a whole number from -1 (no bound) to 16777216.");
  CHECK(bad("\"layout\": 1") == "options.layout: 1 cannot be used; give \"split\" or \"packed\".");
  CHECK(bad("\"temperature\": 0") ==
        "options.temperature: 0 cannot be used; give a number from 1e-06 to 1000000.");
  CHECK(bad("\"casual\": true").starts_with("options.casual: the option is unknown; perhaps causal, "));
  CHECK(tried(qkv("[4, 6]", 24, ", \"options\": []")) ==
        "options: a list is not an object; give {\"causal\": true} or the like.");
}

TEST_CASE("tensors: masks, labels and other fields") {
  State s = read(qkv("[2, 2]", 4, R"(, "mask": [[true, false], [true, true]], "labels": ["a", "b"])"));
  CHECK(s.painted.isBlocked(0, 1));
  CHECK(!s.painted.isBlocked(1, 0));
  CHECK(s.labels == std::vector<std::string>{"a", "b"});
  s = read(qkv(
      "[2, 2]", 4,
      R"(, "mask": {"shape": [1, 1, 2, 2], "dtype": "bool", "data": [true, true, true, true]}, "labels": "so what")"));
  CHECK(s.painted.empty());
  CHECK(s.labels[1] == "what");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "mask": [[1, true], [1, 1]])")) ==
        "mask[0][1]: true or false follows a number; give one kind only.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "mask": [[true], [false], [true]])")) ==
        "mask.shape: [3, 1] cannot be broadcast to [1, 1, 2, 2], [batch, heads, queries, keys]; from the "
        "right, each "
        "size must be that or 1, and that of keys may be smaller.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "mask": [[true, true], [true]])")) ==
        "mask: row 1 (from 0) has 1 value, those before it 2; give every row the same length.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "labels": ["a"])")) ==
        "labels: there are 1 for 2 tokens; give one label a token.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "past_k": [[1]])")) ==
        "past_v: it is missing; past_k is given, and one needs the other.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "lables": [])")).starts_with("\"lables\": the field is unknown;"));
  CHECK(tried(qkv("[2, 2]", 4, R"(, "x": [[1]])")) ==
        "x: q is given too; give either q, k and v, or x and its weights.");
  CHECK(tried(qkv("[2, 2]", 4, R"(, "output": [[1]], "weights": 3)")) == "accepted");
}

TEST_CASE("tensors: X and its weights") {
  const std::string file =
      R"({"x": [[1, 0], [0, 1], [1, 1]], "w_q": [[1, 2, 3, 4], [5, 6, 7, 8]], "w_k": [[1, 2, 3, 4], [5, 6, 7, 8]],
    "w_v": [[1, 2, 3, 4], [5, 6, 7, 8]])";
  State s = read(file + R"(, "w_o": [[1, 0], [0, 1], [1, 0], [0, 1]], "options": {"heads": 2}})");
  CHECK(s.mode == Mode::x);
  CHECK(s.heads == 2);
  CHECK(s.headDim == 2);
  CHECK(s.modelDim == 2);
  CHECK(s.tokens == 3);
  CHECK(s.wO.at(0, 2, 0) == 1.0f);
  const State apart = read(file + "}");  // without W_O the heads are concatenated
  CHECK(!apart.outputProjection);
  CHECK(document::outputWidth(apart) == 4);
  CHECK(document::outputWidth(
            read(file + R"(, "w_o": [[1, 0, 5], [0, 1, 6], [1, 0, 7], [0, 1, 8]], "b_o": [1, 2, 3]})")) == 3);
  CHECK(tried(file + R"(, "b_o": [1, 2]})") ==
        "b_o: it is given without w_o, whose products it is added to; give both, or neither.");
  CHECK(tried(file + R"(, "b_q": [1, 2]})") == "b_q.shape: [1, 2] does not fit; it must be [1, 4].");
  CHECK(tried(file + R"(, "w_o": [[1, 0]]})") == "w_o.shape: [1, 2] does not fit; it must be [4, 2].");
  CHECK(tried(file + R"(, "options": {"heads": 3}})") ==
        "w_q.shape: 3 heads do not divide 4 columns; give another options.heads.");
  CHECK(tried(R"({"x": [[1, 2]], "w_q": [[1], [2]], "w_k": [[1]], "w_v": [[1], [2]]})") ==
        "w_k.shape: [1, 1] does not fit; it must be [2, 1].");
  s = read(R"({"x": [[1, 2]], "w_q": [[1, 0], [0, 2]], "w_k": [[1, 0], [0, 2]], "w_v": [[1, 0], [0, 2]]})");
  attention::Trace trace;
  attention::forward(spec(s), inputs(s), trace);
  CHECK(trace.output == trace.concat);
}

TEST_CASE("tensors: the theme and decimals of the board stay") {
  State current;
  current.theme = Theme::dark, current.decimals = 5, current.seed = 77;
  const auto s = files::readState(qkv("[2, 2]", 4), current);
  REQUIRE(s);
  CHECK(s->theme == Theme::dark);
  CHECK(s->decimals == 5);
  CHECK(s->seed == 77);
}

TEST_CASE("tensors: shared keys and values, their own columns, and another sequence") {
  State s = read(
      R"({"q": [[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]], "k": [[[1,2],[3,4]]], "v": [[[1],[2]]], "key_labels": "le chat"})");
  CHECK(s.heads == 2);
  CHECK(s.kvHeads == 1);
  CHECK(s.headDim == 2);
  CHECK(s.valueDim == 1);
  CHECK(s.tokens == 3);
  CHECK(s.keyTokens == 2);
  CHECK(s.cross);
  CHECK(s.keyLabels == std::vector<std::string>{"le", "chat"});
  CHECK(s.labels.size() == 3);
  CHECK(s.xKv.rows() == 2);
  CHECK(s.v.at(0, 1, 0) == 2.0f);
  CHECK(read(R"({"q": [[1,2]], "k": [[1,2]], "v": [[1,2,3]]})").valueDim == 3);
  s = read(
      R"({"q": [[1,2,3,4]], "k": [[1,2]], "v": [[1,2,3]], "options": {"layout": "packed", "heads": 2, "kv_heads": 1}})");
  CHECK(s.kvHeads == 1);
  CHECK(s.valueDim == 3);
  s = read(
      R"({"q": [[1,2]], "k": [[1,2]], "v": [[1,2]], "w_a": [[0,1],[1,0]], "options": {"score": "general"}})");
  CHECK(s.wA.at(0, 0, 1) == 1.0f);
  CHECK(s.uA.at(0, 0, 0) == 1.0f);
  CHECK(tried(R"({"q": [[1,2]], "k": [[1,2]], "v": [[1,2]], "w_a": [[0,1]]})") ==
        "w_a.shape: [1, 2] does not fit; it must be [1, 2, 2].");
  s = read(
      R"({"x": [[1,0]], "x_kv": [[1,2],[3,4],[5,6]], "w_q": [[1,2,3,4],[1,2,3,4]], "w_k": [[1,2],[3,4]], "w_v": [[1],[2]],
    "options": {"heads": 2}})");
  CHECK(s.cross);
  CHECK(s.keyTokens == 3);
  CHECK(s.kvHeads == 1);
  CHECK(s.valueDim == 1);
  CHECK(s.xKv.at(0, 2, 1) == 6.0f);
  CHECK(tried(R"({"q": [[1]], "k": [[1]], "v": [[1]], "x_kv": [[1]]})") ==
        "x_kv: q is given too; give either q, k and v, or x and its weights.");
}

TEST_CASE("tensors: past keys and values come before the others, and move a causal mask") {
  const std::string now = R"({"q": [[1,2]], "k": [[3,4]], "v": [[5]], "options": {"causal": true})";
  const State s = read(now + R"(, "past_k": [[1,0],[0,1]], "past_v": [[1],[2]]})");
  CHECK(s.cross);
  CHECK(s.keyTokens == 3);
  CHECK(s.causalOffset == 2);
  CHECK(s.k.at(0, 1, 1) == 1.0f);
  CHECK(s.k.at(0, 2, 0) == 3.0f);
  CHECK(s.v.at(0, 1, 0) == 2.0f);
  CHECK(s.v.at(0, 2, 0) == 5.0f);
  CHECK(attention::visibleCount(spec(s)) == 3);
  const State heads = read(
      R"({"q": [[[1]],[[2]]], "k": [[[3]],[[4]]], "v": [[[5]],[[6]]], "past_k": [[[7]],[[8]]], "past_v": [[[9]],[[10]]]})");
  CHECK(heads.k.at(0, 0, 0) == 7.0f);
  CHECK(heads.k.at(0, 1, 0) == 3.0f);
  CHECK(heads.k.at(1, 0, 0) == 8.0f);
  CHECK(heads.v.at(1, 1, 0) == 6.0f);
  CHECK(tried(now + R"(, "past_k": [[1]], "past_v": [[1]]})") ==
        "past_k.shape: [1, 1] does not fit k; it must be [past, 2].");
  CHECK(tried(now + R"(, "past_k": [[1,2]], "past_v": [[1],[2]]})") ==
        "past_v.shape: a token count of 2 does not fit the 1 of past_k; give as many.");
  CHECK(tried(R"({"x": [[1]], "w_q": [[1]], "w_k": [[1]], "w_v": [[1]], "past_k": [[1]]})") ==
        "past_k: it goes with q, k and v, and there is no q; leave it out.");
  CHECK(
      tried(
          R"({"q": [[1]], "k": [[1]], "v": [[1]], "past_k": [[1]], "past_v": [[1]], "options": {"causal_offset": 1}})") ==
      "options.causal_offset: past_k says it already; leave one of the two out.");
}

TEST_CASE("tensors: a key length is padding, and places the queries of a causal layer") {
  const std::string file =
      R"({"q": [[1],[2]], "k": [[1],[2],[3],[4]], "v": [[1],[2],[3],[4]], "key_lengths": )";
  CHECK(read(file + "[3]}").keyLength == 3);
  CHECK(read(file + "[3]}").causalOffset == 1);
  CHECK(read(file + R"([3], "options": {"causal": true}})").causalOffset == 1);
  CHECK(tried(file + "[5]}") == "key_lengths[0]: 5 is no length of 4 keys; give a whole number from 0 to 4.");
  CHECK(tried(file + R"([1], "options": {"causal": true}})") ==
        "key_lengths[0]: 1 is less than the 2 queries, whose last one stands at the last key; give at least "
        "as many with "
        "these options.");
  CHECK(tried(file + "[1.5]}") ==
        "key_lengths[0]: 1.5 is no length of 4 keys; give a whole number from 0 to 4.");
  CHECK(tried(file + "[1, 2]}") ==
        "key_lengths.shape: [2] does not fit the batch; give one length each, [1].");
  CHECK(read(file + R"({"shape": [1], "data": [2]}})").keyLength == 2);
}

TEST_CASE("tensors: the block and the segments, with their options and parameters") {
  const std::string vector =
      R"(, "gamma_1": [2, 2, 2, 2, 2, 2], "delta_1": {"shape": [1, 6], "data": [0, 0, 0, 0, 0, 1]})";
  const State s = read(qkv("[2, 4, 3]", 24, vector + options(R"("block_norm": "pre", "segment_tokens": 3)")));
  CHECK(s.block.norm == attention::NormPlace::pre);
  CHECK(s.segments.tokens == 3);
  CHECK(s.parameters[ParameterId::gamma_1].at(0, 0, 5) == 2.0f);
  CHECK(s.parameters[ParameterId::delta_1].at(0, 0, 5) == 1.0f);
  CHECK(s.parameters[ParameterId::gamma_2].empty());
  CHECK(tried(qkv("[2, 4, 3]", 24, R"(, "gamma_1": [2, 2])")) ==
        "gamma_1.shape: [2] does not fit; it must be [1, 6].");
}
