// State text: what is written reads back bit for bit, and invalid text is refused.
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "base/number.h"
#include "document/json.h"
#include "document_support.h"
#include "files/layout/read.h"

using namespace document;
using test::refusal;

namespace {

std::string tried(std::string_view text) { return refusal(files::readState(text, {})); }

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The text of the default state with one substring replaced.
std::string with(std::string_view from, std::string_view to) {
  return tried(replaced(toText(test::start()), from, to));
}

/// Any text gives either an error or a valid state.
void survives(std::string_view text) {
  const auto state = fromText(text, {});
  if (!state) test::checkSentence(state.error());
  else CHECK(refusal(check(*state)) == "accepted");
}

}  // namespace

TEST_CASE("text: any state reads back to the same bits") {
  test::RandomEdits edits(5, true);
  Document d(test::start());
  for (int i = 0; i < 300; ++i) {
    d.apply(edits.next(d.state()));
    const std::string text = toText(d.state());
    const auto again = fromText(text, {});
    REQUIRE(refusal(again) == "accepted");
    REQUIRE(sameBits(*again, d.state()));
    CHECK(toText(*again) == text);
  }
}

// The value that the C library reads from the text, and the text that printf writes for a number.
float back(const std::string& text, float) { return std::strtof(text.c_str(), nullptr); }
double back(const std::string& text, double) { return std::strtod(text.c_str(), nullptr); }
std::string printed(const char* format, int digits, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, digits, value);
  return text;
}

template <class T>
void checkShortest(T value, int surely) {
  int digits = surely;
  while (back(printed("%.*g", digits, static_cast<double>(value)), value) != value) ++digits;
  REQUIRE(base::shortest(value) == printed("%.*g", digits, static_cast<double>(value)));
}

TEST_CASE("text: the fewest digits are those that printf finds by trying") {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const double power = std::pow(10.0, static_cast<int>(random() % 7)),
                 n = static_cast<double>(random() % 3'000'000) + 1;
    const double sign = i % 2 ? 1 : -1;
    checkShortest(static_cast<float>(sign * n / power), FLT_DIG);
    checkShortest(sign * n / power, DBL_DIG);
    checkShortest(std::nextafter(static_cast<float>(n / power), 0.0f), FLT_DIG);
    checkShortest(std::nextafter(n / power, 1e9), DBL_DIG);
  }
}

TEST_CASE("text: decimals are rounded as printf rounds them, ties and all") {
  std::mt19937_64 random(8);
  for (int i = 0; i < 300'000; ++i) {
    const int decimals = i % 10;
    const double any =
        std::ldexp(static_cast<double>(random() >> 11), -static_cast<int>(random() % 60) - 30);  // below 2^23
    const double near =
        (static_cast<double>(random() % 2'000'000) + 0.5) / std::pow(10.0, decimals);  // close to a tie
    const double tie = static_cast<double>(random() % 4096) / 64;
    for (const double value : {any, near, tie, std::nextafter(near, 0.0), std::nextafter(near, 1e9)}) {
      if (value >= 1e7) continue;
      REQUIRE(base::fixed(value, decimals) == printed("%.*f", decimals, value));
    }
  }
  for (const double value :
       {0.0, 0.5, 1.5, 2.5, 0.125, 9'999'999.5, 9999999.999999998, 1e-300, 5e-324, 0.9999999999999999}) {
    for (int decimals = 0; decimals <= 9; ++decimals)
      CHECK(base::fixed(value, decimals) == printed("%.*f", decimals, value));
  }
}

TEST_CASE("text: numbers keep every bit with the fewest digits") {
  CHECK(base::shortest(0.1f) == "0.1");
  CHECK(base::shortest(-0.0f) == "-0.0");
  CHECK(base::shortest(0.0f) == "0");
  CHECK(base::shortest(1.0f) == "1");
  CHECK(base::shortest(16777216.0f) == "16777216");
  CHECK(base::shortest(FLT_MAX) == "3.4028235e+38");
  CHECK(base::shortest(1e-45f) == "1e-45");
  CHECK(base::shortest(FLT_MIN) == "1.1754944e-38");
  CHECK(base::shortest(0.1) == "0.1");
  CHECK(base::readable(0.1f) == 0.1);
  State s = test::start();
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    for (float& value : s.q.values()) {
      do {
        const std::uint32_t bits = static_cast<std::uint32_t>(random());
        std::memcpy(&value, &bits, sizeof value);
      } while (!std::isfinite(value));
    }
    const auto again = fromText(toText(s), {});
    REQUIRE(again);
    REQUIRE(sameBits(again->q, s.q));
  }
  s = test::start();
  for (const float edge : {-0.0f, FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45f, -1e-45f, 0.30000001192f}) {
    s.v.at(0, 0, 0) = edge;
    REQUIRE(sameBits(fromText(toText(s), {})->v, s.v));
  }
  s.temperature = 0.30000001192f;
  CHECK(fromText(toText(s), {})->temperature == s.temperature);
}

TEST_CASE("text: a decimal is rounded once") {
  // Halfway between two floats except for a digit that double cannot represent.
  std::string text = replaced(toText(test::start()), "[0.9,", "[1.00000005960464477540,");
  CHECK(fromText(text, {})->q.at(0, 0, 0) == 1.00000012f);
  text = replaced(toText(test::start()), "[0.9,", "[1.00000005960464477538,");
  CHECK(fromText(text, {})->q.at(0, 0, 0) == 1.0f);
}

TEST_CASE("text: the mask and the labels survive") {
  Document d(test::start());
  d.apply(PaintCells{1, 0, 2, 1, {1, 1}});
  d.apply(SetLabels{0, {"\"\\/ é 🙂"}});
  const auto again = fromText(toText(d.state()), {});
  REQUIRE(again);
  CHECK(sameBits(*again, d.state()));
  CHECK(toText(d.state()).find("\"dtype\": \"bool\"") != std::string::npos);
}

TEST_CASE("text: unknown fields are kept as they came") {
  const std::string extra =
      R"("future": {"a": [1, 2.50, 1e400000, {"b": null}], "c": "\u00e9\n"}, "big": 123456789012345678901234567890, "e": [], "f": [true, "x", -0.0])";
  const std::string kept =
      R"("future":{"a":[1,2.50,1e40,{"b":null}],"c":"é\u000a"},"big":123456789012345678901234567890,"e":[],"f":[true,"x",-0.0])";
  const auto state = fromText(
      replaced(toText(test::start()), "\"preset\"", replaced(extra, "1e400000", "1e40") + ", \"preset\""),
      {});
  REQUIRE(refusal(state) == "accepted");
  CHECK(state->unknownFields == "{" + kept + "}");
  CHECK(toText(*state).find(kept) != std::string::npos);
  const auto again = fromText(toText(*state), {});
  REQUIRE(again);
  CHECK(sameBits(*again, *state));
  // Unknown fields survive edits.
  State changed = *state;
  document::apply(changed, SetOption{OptionId::causal, false});
  CHECK(changed.unknownFields == state->unknownFields);
  const std::string huge = "\"future\": \"" + std::string(kMaxUnknownBytes + 1, 'x') + "\", \"preset\"";
  CHECK(with("\"preset\"", huge) ==
        "text: fields that this version does not know take more than 1048576 bytes; remove them.");
}

TEST_CASE("text: what may be left out has a default") {
  const auto s = fromText(
      R"({"version": 1, "q": {"shape": [1,2,2], "data": [1,2,3,4]}, "k": {"shape": [1,2,2], "data": [1,2,3,4]},
    "v": {"shape": [1,2,2], "data": [1,2,3,4]}})",
      *preset("uniform"));
  REQUIRE(refusal(s) == "accepted");
  CHECK(s->labels == std::vector<std::string>{"t1", "t2"});
  CHECK(s->causal);
  CHECK(s->score == attention::Score::scaled);
  CHECK(s->temperature == 1.0f);
  CHECK(s->modelDim == 2);
  CHECK(s->x.rows() == 2);
  CHECK(s->q.at(0, 1, 0) == 3.0f);
  CHECK(s->weightScale == WeightScale::linear);
  const auto x =
      fromText(R"({"version": 1, "mode": "x", "heads": 2, "x": [[1,2,3],[4,5,6]], "w_q": [[1,2],[3,4],[5,6]],
    "w_k": [[1,2],[3,4],[5,6]], "w_v": [[1,2],[3,4],[5,6]], "w_o": [[1,2,3],[4,5,6]]})",
               {});
  REQUIRE(refusal(x) == "accepted");
  CHECK(x->headDim == 1);
  CHECK(x->q.heads() == 2);
  State dark;
  dark.theme = Theme::dark, dark.decimals = 4;
  CHECK(fromText(R"({"version": 1, "q": [[[1]]], "k": [[[1]]], "v": [[[1]]]})", dark)->theme == Theme::dark);
  CHECK(fromText(R"({"version": 1, "decimals": 3, "q": [[[1]]], "k": [[[1]]], "v": [[[1]]]})", dark)
            ->decimals == 3);
}

TEST_CASE("text: versions") {
  CHECK(with("\"version\": 1", "\"version\": 2") ==
        "version: 2 is newer than this playground, which reads version 1; reload the page or update the "
        "program.");
  CHECK(with("\"version\": 1", "\"version\": 1.5").starts_with("version: 1.5 is newer"));
  CHECK(with("\"version\": 1", "\"version\": 0") ==
        "version: 0 does not exist; this playground reads version 1.");
  CHECK(with("\"version\": 1", "\"version\": \"1\"") ==
        "version: a text is not a version number; this playground reads version 1.");
  CHECK(fromText(replaced(toText(test::start()), "\"version\": 1", "\"version\": 2"), {}).error().kind ==
        Error::Kind::version);
  CHECK(tried("{}") == "version: it is missing; a state has \"version\": 1, a tensors file q, k and v.");
}

TEST_CASE("text: refusals name the field, the value and the fix") {
  CHECK(with("\"temperature\": 1", "\"temperature\": 0") ==
        "temperature: 0 is too small; use 1e-06 to 1000000.");
  CHECK(with("\"heads\": 2", "\"heads\": 4") ==
        "w_q.shape: [3, 6] does not fit tokens 4, heads 4, d_k 3 and model_dim 3; it must be [3, 12].");
  CHECK(with("\"heads\": 2", "\"heads\": 1e9") == "heads: 1000000000 is too large; use 1 to 64.");
  CHECK(with("\"tokens\": 4", "\"tokens\": \"4\"") ==
        "tokens: \"4\" is not a whole number; use 1 to 131072.");
  CHECK(with("\"tokens\": 4", "\"tokens\": null").starts_with("tokens: null cannot be used;"));
  CHECK(with("\"tokens\": 4", "\"tokens\": [4]") ==
        "tokens: a list of numbers is not a whole number; use 1 to 131072.");
  CHECK(with("\"causal\": true", "\"causal\": 1") == "causal: 1 is not true or false; use one of these.");
  CHECK(with("\"focus_head\": 0", "\"focus_head\": 2") == "focus_head: 2 is no head here; use 0 to 1.");
  CHECK(with("\"theme\": \"auto\"", "\"theme\": \"\\u0007\"") ==
        "theme: \"\\x07\" is unknown; use \"auto\", \"light\" or \"dark\".");
  CHECK(with("[\"I\", \"saw\", \"a\", \"saw\"]", "[\"I\", \"saw\", \"a\"]") ==
        "labels: there are 3 for 4 tokens; give one label a token.");
  CHECK(with("[\"I\", \"saw\", \"a\", \"saw\"]", "[\"I\", 3, \"a\", \"b\"]") ==
        "labels[1]: a number is not a text; give true or false, a number, a text or a list of texts.");
  CHECK(with("\"preset\": \"i-saw-a-saw\"", "\"preset\": 1") ==
        "preset: a number is not a text; give a name or \"\".");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [2, 4, 2]") ==
        "q.data: there are 24 values, but the shape [2, 4, 2] asks for 16; make them fit.");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [4, 2, 3]")
            .starts_with("q.shape: [4, 2, 3] does not fit tokens 4, heads 2"));
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [8, 3]") ==
        "q.shape: [8, 3] does not have 3 sizes; use [heads, tokens, d_k].");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [2, 4, 1000000000]") ==
        "q.data: there are 24 values, but the shape [2, 4, 1000000000] asks for a billion or more; make them "
        "fit.");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [1e9, 1e9, 1e9, 1e9]")
            .starts_with("q.data: there are 24 values"));
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [2, -4, 3]")
            .starts_with("q.shape[1]: the size must be"));
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [2, 4.5, 3]")
            .starts_with("q.shape[1]: the size must be"));
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [0, 4, 3]")
            .starts_with("q.shape[0]: the size must be"));
  CHECK(with("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": \"big\"") ==
        "q.shape: a text is not a list; give a list of values.");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3],", "\"q\": {\"form\": 1, \"shape\": [2, 4, 3],") ==
        "q: the field \"form\" is unknown; a tensor has shape, data and dtype.");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3],", "\"q\": {") ==
        "q.shape: it is missing; give {\"shape\": [rows, columns], \"data\": [numbers]}.");
  CHECK(with("\"q\": {\"shape\": [2, 4, 3],", "\"q\": {\"dtype\": \"bool\", \"shape\": [2, 4, 3],") ==
        "q.dtype: \"bool\" does not fit; use \"float32\".");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,\"-0.4\",0.3,") ==
        "q.data[1]: a text is not a number; give a list of nothing else.");
  CHECK(with("[0.9,-0.4,0.3,", "[true,-0.4,0.3,") ==
        "q.data[0]: true or false is not a number; give a list of nothing else.");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,[-0.4],0.3,").starts_with("q.data[1]: a list is not a number"));
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,1e39,0.3,") ==
        "q.data[1]: the number is too large for 32 bits; use -3.4e38 to 3.4e38.");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,1e999,0.3,") ==
        "q.data[1]: \"1e999\" is too large for 32 bits; use -3.4e38 to 3.4e38.");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,NaN,0.3,") == "q.data[1]: NaN cannot be used; give a finite number.");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,-Infinity,0.3,") ==
        "q.data[1]: -Infinity cannot be used; give a finite number.");
  CHECK(with("[0.9,-0.4,0.3,", "[0.9,Infinity,0.3,") ==
        "q.data[1]: Infinity cannot be used; give a finite number.");
  CHECK(with("\"k\": {", "\"K\": {") == "k: it is missing; a state of mode \"qkv\" has q, k and v.");
  CHECK(with("\"mode\": \"qkv\"", "\"mode\": \"x\"") == "accepted");
  CHECK(with("\"seed\": 1", "\"seed\": 1, \"seed\": 1") ==
        "text: the key \"seed\" is given twice; give it once.");
  CHECK(with("\"seed\": 1",
             "\"seed\": 1, \"mask\": {\"shape\": [2, 2], \"dtype\": \"bool\", \"data\": "
             "[true,true,true,false]}") == "mask.shape: [2, 2] does not fit 4 tokens; it must be [4, 4].");
  CHECK(with("\"seed\": 1", "\"seed\": 1, \"mask\": {\"shape\": [2, 2], \"data\": [0,1,1,0]}") ==
        "mask.data[0]: a number is not true or false; give a list of nothing else.");
}

TEST_CASE("text: what is not JSON") {
  CHECK(tried("") == "text: it is empty; give a state or tensors in JSON.");
  CHECK(tried(" \n\t") == "text: it is empty; give a state or tensors in JSON.");
  CHECK(
      tried("[1, 2]") ==
      "text: a list is neither a state nor a tensors file; give an object with version, or with q, k and v.");
  CHECK(tried("3").starts_with("text: a number is neither"));
  CHECK(tried("{\"version\": 1") ==
        "text: the text ends too early, at line 1, column 14; check that the file is complete.");
  CHECK(tried("{\"version\": 1, \"q\": {\"data\": [1,\n 2")
            .starts_with("q.data[2]: the text ends too early, at line 2, column 3 (q.data[2])"));
  CHECK(tried("{\"version\": 1} x") == "text: at line 1, column 16 \"x\" comes after the end; remove it.");
  CHECK(tried("{\"version\": 1}{}").find("comes after the end") != std::string::npos);
  CHECK(tried("hello") ==
        "text: at line 1, column 1 \"hello\" does not belong there; give valid JSON in UTF-8.");
  CHECK(tried("{'version': 1}").starts_with("text: at line 1, column 2 \"'\" does not belong there"));
  CHECK(tried("{\"version\": 1,}").starts_with("text: at line 1, column 15 \"}\" does not belong there"));
  CHECK(tried("{\"version\": 01}").find("does not belong there") != std::string::npos);
  CHECK(tried("{\"version\": nan}") == "version: nan cannot be used; give a finite number.");
  CHECK(tried("{\"a\": \"\xff"
              "\"}")
            .find("\\xff") != std::string::npos);
  CHECK(tried("\xef\xbb\xbf{}") == "text: it begins with a byte order mark; save it as UTF-8 without one.");
  CHECK(tried(std::string_view("\xff\xfe{\0}\0", 6)) ==
        "text: it begins with a byte order mark; save it as UTF-8 without one.");
  CHECK(tried(std::string_view("{\"version\": 1\0}", 15)).find("does not belong there") != std::string::npos);
}

TEST_CASE("text: nesting, and more values than fit") {
  const auto nested = [](std::string_view open, std::string_view close, int depth) {
    std::string text = "{\"version\": 1, \"future\": ";
    for (int i = 0; i < depth; ++i) text += open;
    for (int i = 0; i < depth; ++i) text += close;
    return tried(text + "}");
  };
  CHECK(nested("[", "]", 63).starts_with("q: it is missing"));
  CHECK(nested("[", "]", 64).find("lists and objects are more than 64 deep; use fewer levels.") !=
        std::string::npos);
  CHECK(nested("[", "", 100'000).find("more than 64 deep") != std::string::npos);
  CHECK(nested("{\"a\":", "", 100'000).find("more than 64 deep") != std::string::npos);
  CHECK(tried(std::string(100'000, '[')).find("more than 64 deep") != std::string::npos);

  std::string many = "{\"version\": 1, \"future\": [[]";
  for (std::size_t i = 0; i < kMaxNodes; ++i) many += ",[]";
  CHECK(tried(many).find("there are more than 300000 values;") != std::string::npos);
  many = "{\"version\": 1, \"q\": [0";
  for (std::size_t i = 0; i < kMaxArrayItems; ++i) many += ",0";
  CHECK(tried(many).find("there are more than 12000000 numbers; give smaller tensors.") != std::string::npos);
  many = "{\"version\": 1, \"q\": [0";
  for (std::size_t i = 0; i < kMaxNodes; ++i) many += ",0";
  CHECK(tried(many + ",\"x\"]}").find("a list of numbers goes on with something else") != std::string::npos);
  CHECK(tried(std::string(kMaxTextBytes + 1, ' ')) ==
        "text: 174063617 bytes are too many; use at most 174063616.");
}

TEST_CASE("text: cut at every byte") {
  Document d(test::start());
  d.apply(PaintCells{0, 0, 1, 1, {1}});
  std::string text = toText(d.state());
  while (text.back() != '}') text.pop_back();
  for (std::size_t length = 0; length < text.size(); ++length) {
    CAPTURE(length);
    CHECK(tried(std::string_view(text).substr(0, length)) != "accepted");
  }
}

TEST_CASE("text: 20,000 texts with bytes changed") {
  const std::string state = toText(test::start());
  const std::string tensors =
      R"({"q": [[1,2],[3,4]], "k": {"shape": [1,2,2], "data": [1,-2e3,3,0.5]}, "v": [[[[1,2],[3,4]]]],
    "mask": [[true,false],[true,true]], "labels": "a b", "options": {"causal": true, "scale": 1.0, "heads": 1, "layout": "split"}})";
  REQUIRE(tried(tensors) == "accepted");
  constexpr std::string_view alphabet =
      "{}[]\",:0123456789.-+eEtfnuN \n\\\x01\x7f\xff\xc3"
      "ax";
  std::mt19937 random(99);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random()) % n; };
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? state : tensors;
    for (std::size_t n = 1 + below(4); n > 0; --n) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0: text[at] = alphabet[below(alphabet.size())]; break;
        case 1: text.insert(at, 1, alphabet[below(alphabet.size())]); break;
        case 2: text.erase(at, 1 + below(8)); break;
        default: text.insert(at, text.substr(below(text.size()), below(40)));
      }
    }
    survives(text);
  }
}

TEST_CASE("text: values for the page") {
  CHECK(toJson(Value(true)) == "true");
  CHECK(toJson(Value(0.5)) == "0.5");
  CHECK(toJson(Value(std::string("au\"to\n"))) == "\"au\\\"to\\u000a\"");
  CHECK(toJson(Value(std::vector<std::string>{"I", "saw"})) == "[\"I\", \"saw\"]");
  CHECK(*valueFromJson("true", "f") == Value(true));
  CHECK(*valueFromJson("-2.5", "f") == Value(-2.5));
  CHECK(*valueFromJson("\"x\"", "f") == Value(std::string("x")));
  CHECK(*valueFromJson("[]", "f") == Value(std::vector<std::string>{}));
  CHECK(*valueFromJson("[\"a\",\"b\"]", "f") == Value(std::vector<std::string>{"a", "b"}));
  CHECK(refusal(valueFromJson("null", "theme")) ==
        "theme: null cannot be used; give true or false, a number, a text or a list of texts.");
  CHECK(refusal(valueFromJson("undefined", "theme")) ==
        "theme: at line 1, column 1 \"undefined\" does not belong there; give valid JSON in UTF-8.");
  CHECK(refusal(valueFromJson("", "theme")).starts_with("theme: it is empty"));
  CHECK(refusal(valueFromJson("[\"a\",1]", "labels")).starts_with("labels[1]: a number is not a text"));
}

TEST_CASE("text: cells as tab-separated text") {
  const State s = test::start();
  CHECK(toTsv(s.q, {0, 0, 0, 2, 3}) == "0.9\t-0.4\t0.3\n1.2\t0.6\t-0.5\n");
  CHECK(toTsv(s.q, {0, 3, 0, 2, 3}).empty());
  const auto block = fromTsv(toTsv(s.q, {1, 0, 0, 4, 3}));
  REQUIRE(block);
  CHECK(block->rows == 4);
  CHECK(block->cols == 3);
  CHECK(std::memcmp(block->values.data(), s.q.head(1), 12 * sizeof(float)) == 0);
  const auto read = [](std::string_view text) {
    const auto b = fromTsv(text);
    REQUIRE(refusal(b) == "accepted");
    return std::to_string(b->rows) + "x" + std::to_string(b->cols) + " " + base::shortest(b->values.back());
  };
  CHECK(read("1") == "1x1 1");
  CHECK(read("−0.5\t+2") == "1x2 2");
  CHECK(read("1\t−0.5") == "1x2 -0.5");
  CHECK(read("1, 2, 3\r\n4, 5, 6\r\n") == "2x3 6");
  CHECK(read("1;2;3") == "1x3 3");
  CHECK(read("0,5\t1,5\n2\t-2,5\n") == "2x2 -2.5");
  CHECK(read("0,5; 1,25") == "1x2 1.25");
  CHECK(read("1,5") == "1x2 5");  // separated by commas alone, as in files
  CHECK(read("  1.  .5   -3e-2  \n\n") == "1x3 -0.03");
  CHECK(read("-0.0") == "1x1 -0.0");
  const auto bad = [](std::string_view text) { return refusal(fromTsv(text)); };
  CHECK(bad("") == "cells: there is no number; give numbers separated by tabs.");
  CHECK(bad("\n \t \n") == "cells: there is no number; give numbers separated by tabs.");
  CHECK(bad("1\t2\n3") ==
        "cells: row 2 has 1 numbers, the rows before it 2; give every row the same length.");
  CHECK(bad("1\tx\n") == "cells: row 1, column 2: \"x\" is no number; give numbers such as -0.5.");
  CHECK(bad("1\t\t2") == "cells: row 1, column 2: \"\" is no number; give numbers such as -0.5.");
  CHECK(bad("nan").find("\"nan\" is no number") != std::string::npos);
  CHECK(bad("inf").find("\"inf\" is no number") != std::string::npos);
  CHECK(bad("0x10").find("is no number") != std::string::npos);
  CHECK(bad("1e99").find("\"1e99\" is too large") != std::string::npos);
  CHECK(bad("1-2").find("is no number") != std::string::npos);
  CHECK(bad("1\t\xff").find("\"\\xff\" is no number") != std::string::npos);
}

TEST_CASE("text: what came later is left out where it has its default") {
  const std::string text = toText(test::start());
  for (const Option& o : options()) {
    const bool isThere = text.find("\"" + std::string(o.name) + "\":") != std::string::npos;
    CAPTURE(o.name);
    // New boards store the colour scale of the weights, because a text without it is older than the automatic
    // choice.
    CHECK(isThere == (o.stored == Stored::always || o.id == OptionId::weight_scale));
  }
  CHECK(text.find("\"x_kv\"") == std::string::npos);
  CHECK(text.find("\"w_a\"") == std::string::npos);
}

TEST_CASE("text: every option that is set survives") {
  const std::vector<std::pair<OptionId, Value>> all = {
      {OptionId::scale, 0.3},
      {OptionId::score, std::string("general")},
      {OptionId::d_q, 5.0},
      {OptionId::softcap, 0.1},
      {OptionId::position, std::string("alibi")},
      {OptionId::causal_offset, 3.0},
      {OptionId::window_left, 0.0},
      {OptionId::window_right, 5.0},
      {OptionId::prefix, 2.0},
      {OptionId::key_length, 3.0},
      {OptionId::pattern, std::string("bigbird")},
      {OptionId::pattern_dilation, 3.0},
      {OptionId::pattern_stride, 3.0},
      {OptionId::pattern_block, 3.0},
      {OptionId::pattern_seed, 4294967295.0},
      {OptionId::mask_after_softmax, true},
      {OptionId::kv_heads, 1.0},
      {OptionId::d_v, 5.0},
      {OptionId::cross, true},
      {OptionId::key_labels, std::string("je vis une scie , oui")},
      {OptionId::hidden_heads, std::vector<int>{1}},
      {OptionId::average_heads, true},
      {OptionId::whole_projections, true},
      {OptionId::step, 2.0},
      {OptionId::d_q, 0.0},
      {OptionId::score, std::string("cosine")},
      {OptionId::mask_after_softmax, false},
      {OptionId::normalizer, std::string("sparsemax")},
      {OptionId::block_residual, false},
      {OptionId::block_norm, std::string("pre")},
      {OptionId::block_activation, std::string("tanh")},
      {OptionId::block_hidden, 8.0},
      {OptionId::block_dropout, 0.9},
      {OptionId::block_epsilon, 1e-12},
      {OptionId::block_seed, 4294967295.0},
      {OptionId::segment_by, std::string("punctuation")},
      {OptionId::segment_tokens, 1024.0},
      {OptionId::segment_seed, 0.0},
      {OptionId::experiment, std::string("reach")},
      {OptionId::view, std::string("block")},
      {OptionId::block_dropout_kind, std::string("plain")},
      {OptionId::block_dropout_seed, 4294967295.0},
      {OptionId::spread_dim, 1000.0},
      {OptionId::spread_mean, -0.35},
      {OptionId::spread_deviation, 2.1},
      {OptionId::spread_scaled, false},
      {OptionId::spread_seed, 4294967295.0},
      {OptionId::dense_token, 3.0},
      {OptionId::dense_amount, 0.7},
      {OptionId::dense_moved, std::string("queries_keys")},
      {OptionId::dense_seed, 0.0},
      {OptionId::reach_tokens, 256.0},
      {OptionId::reach_recurrent, 1.03},
      {OptionId::reach_input, 0.0},
      {OptionId::reach_lead, -30.0},
      {OptionId::reach_forget, -1.5},
      {OptionId::reach_seed, 9.0},
      {OptionId::softmax_sink, true},
      {OptionId::separate_values, true},
      {OptionId::additive_dim, 7.0},
      {OptionId::projection_bias, true},
      {OptionId::d_out, 9.0},
      {OptionId::output_projection, false},
      {OptionId::rotary_pairs, std::string("half")},
      {OptionId::rotary_base, 500000.0},
      {OptionId::rotary_dims, 4.0},
      {OptionId::rotary_scaling, std::string("ntk")},
      {OptionId::rotary_factor, 2.5},
      {OptionId::position_ids, std::vector<int>{0, 1, 0, 1000000}},
      {OptionId::column_names, std::vector<std::string>{"noun", "", "car"}},
      {OptionId::patch_columns, 3.0},
      {OptionId::column_layout, true},
  };
  Document d(test::start());
  for (const auto& [id, value] : all) {
    CAPTURE(option(id).name);
    CHECK(refusal(d.apply(test::set(id, value))) == "accepted");
    if (option(id).type != OptionType::labels) CHECK(get(d.state(), id) == value);
    const std::string text = toText(d.state());
    const auto again = fromText(text, {});
    REQUIRE(refusal(again) == "accepted");
    CHECK(sameBits(*again, d.state()));
    CHECK(toText(*again) == text);
  }
}

TEST_CASE("text: options that contradict each other, or what is there") {
  const auto more = [](const std::string& fields) { return with("\"seed\": 1", "\"seed\": 1, " + fields); };
  CHECK(more("\"score\": \"cosine\"") == "scale: only dot products are scaled; set score to \"scaled\".");
  CHECK(more("\"score\": \"scaled\"") == "accepted");
  CHECK(with("\"scale\": true", "\"scale\": false, \"score\": \"scaled\"") ==
        "scale: false does not go with the score \"scaled\"; set score to \"dot\".");
  CHECK(with("\"scale\": true", "\"score\": \"cosine\"") == "accepted");
  CHECK(with("\"scale\": true", "\"scale\": 0.25") == "accepted");
  CHECK(with("\"scale\": true", "\"scale\": -1") == "scale: -1 is too small; use 0.0001 to 10000.");
  CHECK(more("\"position\": \"sinusoidal\"") ==
        "position: sinusoidal positions are added to X; set mode to \"x\", or position to \"none\", "
        "\"rotary\" or "
        "\"alibi\".");
  CHECK(more("\"position\": \"rotary\"") ==
        "position: rotary positions turn columns in pairs; use an even d_k, or set position to \"none\" or "
        "\"alibi\".");
  CHECK(more("\"kv_heads\": 3") == "kv_heads: 3 does not divide the 2 heads; use 1 or 2.");
  CHECK(more("\"kv_heads\": 1").starts_with("w_k.shape: [3, 6] does not fit"));
  CHECK(more("\"mask_after_softmax\": true, \"normalizer\": \"relu\"") ==
        "mask_after_softmax: the mask cannot come after a softmax that is not there; set normalizer to "
        "\"softmax\", or "
        "mask_after_softmax to false.");
  CHECK(more("\"hidden_heads\": [2]") ==
        "hidden_heads: it names a head that does not exist; use 0 to heads - 1.");
  CHECK(more("\"hidden_heads\": [0.5]") ==
        "hidden_heads[0]: 0.5 is not a whole number that can be used; use small ones.");
  CHECK(more("\"hidden_heads\": []") == "accepted");
  CHECK(more("\"key_tokens\": 5") == "key_tokens: the keys are the tokens here; set cross to true first.");
  CHECK(more("\"key_labels\": \"a b c d\"") ==
        "key_labels: the keys are the tokens here; set cross to true first.");
  CHECK(more("\"x_kv\": [[1]]") == "x_kv: only cross-attention has it; set cross to true.");
  CHECK(more("\"cross\": true, \"key_tokens\": 5").starts_with("k.shape: [2, 4, 3] does not fit"));
  CHECK(more("\"step\": 5") == "step: 5 is more than there are tokens; use 0 to 4.");
  CHECK(more("\"window_left\": -2") == "window_left: -2 is too small; use -1 to 131072.");
  CHECK(more("\"w_a\": [[[1]]]").starts_with("w_a.shape: [1, 1, 1] does not fit"));
  const auto pattern = fromText(replaced(toText(test::start()), "\"seed\": 1",
                                         "\"seed\": 1, \"pattern\": \"longformer\", \"pattern_local\": 3"),
                                {});
  REQUIRE(refusal(pattern) == "accepted");
  CHECK(pattern->pattern.local == 3);
  CHECK(pattern->pattern.global == 1);
  CHECK(more("\"pattern\": \"custom\"") == "accepted");
}

TEST_CASE("text: the pages of a batch") {
  Document d(test::start());
  d.apply(test::set(OptionId::batch, 3.0));
  d.apply(test::set(OptionId::cross, true));
  d.apply(test::set(OptionId::batch_item, 1.0));
  d.apply(SetLabels{0, {"you"}});
  const std::string text = toText(d.state());
  const auto again = fromText(text, {});
  REQUIRE(refusal(again) == "accepted");
  CHECK(sameBits(*again, d.state()));
  CHECK(toText(*again) == text);
  const auto changed = [&](std::string_view from, std::string_view to) {
    return tried(replaced(text, from, to));
  };
  CHECK(changed("\"batch\": 3", "\"batch\": 4") ==
        "pages: a batch of 4 needs a list of the 3 items that are not on the board.");
  CHECK(changed("\"batch\": 3", "\"batch\": 1") == "batch_item: 1 is no item of the batch; use 0 to 0.");
  CHECK(changed("\"batch_item\": 1", "\"batch_item\": 3") ==
        "batch_item: 3 is no item of the batch; use 0 to 2.");
  CHECK(changed("\"pages\": [{", "\"pages\": [3, {").starts_with("pages: a batch of 3 needs a list"));
  CHECK(changed("\"pages\": [{\"labels\": [\"I\", ", "\"pages\": [{\"labels\": [") ==
        "pages[0].labels: it must be a list of 4 texts.");
  CHECK(changed("\"pages\": [{\"labels\": [\"I\"", "\"pages\": [{\"labels\": [\"I\\n\"") ==
        "pages[0].labels[0]: \"I\\x0a\" holds a control character; leave it out.");
  const std::size_t pages = text.find("\"pages\"");
  const auto inPages = [&](std::string_view from, std::string_view to) {
    return tried(text.substr(0, pages) + replaced(text.substr(pages), from, to));
  };
  CHECK(inPages("\"q\": {\"shape\": [2, 4, 3]", "\"q\": {\"shape\": [2, 3, 4]") ==
        "pages[0].q.shape: [2, 3, 4] does not fit; it must be [2, 4, 3].");
  CHECK(inPages("\"q\"", "\"Q\"") == "pages[0].q: it is missing; give one of the shape [2, 4, 3].");
  CHECK(with("\"seed\": 1", "\"seed\": 1, \"pages\": [{}]")
            .starts_with("pages: a batch of 1 needs a list of the 0"));
}
