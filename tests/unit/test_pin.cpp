// The pinned board: its text, its limits, and the differences from it.
#include <doctest/doctest.h>

#include "document/document.h"
#include "document/pin.h"
#include "document/preset.h"
#include "document/text.h"

using namespace document;

namespace {

State opened() { return *preset(presets().front().name); }

Document pinnedDocument() {
  Document doc(opened());
  REQUIRE(doc.apply(SetOption{OptionId::pin, true}));
  return doc;
}

}  // namespace

TEST_CASE("pin: true pins the board as it is, and the text reads back to it, bit for bit") {
  Document doc = pinnedDocument();
  REQUIRE(doc.state().pin.text);
  const Result<State> read = fromText(*doc.state().pin.text, State());
  REQUIRE(read);
  State same = doc.state();
  same.pin = {};
  CHECK(sameBits(*read, same));
  const Result<State> whole = fromText(toText(doc.state()), State());
  REQUIRE(whole);
  CHECK(sameBits(*whole, doc.state()));
  CHECK(doc.undo());
  CHECK_FALSE(doc.state().pin.text);
  CHECK(doc.redo());
  CHECK(doc.state().pin.text);
  REQUIRE(doc.apply(SetOption{OptionId::pin, true}));  // the pinned board has no pin of its own
  CHECK_FALSE(fromText(*doc.state().pin.text, State())->pin.text);
  REQUIRE(doc.apply(SetOption{OptionId::pin, false}));
  CHECK(get(doc.state(), OptionId::pin) == Value(std::string()));
  CHECK(toText(doc.state()).find("\"pin\"") == std::string::npos);
}

TEST_CASE("pin: what cannot be pinned is refused, and says what would be right") {
  Document doc = pinnedDocument();
  const std::string nested = toText(doc.state());
  CHECK(doc.apply(SetOption{OptionId::pin, std::string("{}")}).error().message().find("no state text") !=
        std::string::npos);
  CHECK(doc.apply(SetOption{OptionId::pin, nested}).error().message().find("no pin of its own") !=
        std::string::npos);
  CHECK(doc.apply(SetOption{OptionId::pin, std::string(kMaxPinBytes + 1, ' ')})
            .error()
            .message()
            .find("use at most") != std::string::npos);
  CHECK(doc.apply(SetOption{OptionId::pin, 3.0}).error().field == "pin");
  REQUIRE(doc.apply(SetOption{OptionId::tokens, 1000.0}));
  REQUIRE(doc.apply(SetOption{OptionId::d_k, 48.0}));
  const auto refused = doc.apply(SetOption{OptionId::pin, true});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("fewer tokens or columns") != std::string::npos);
  CHECK(fromText("{\"version\": 1, \"q\": [[[1]]], \"k\": [[[1]]], \"v\": [[[1]]], \"pin\": \"x\"}", State())
            .error()
            .field == "pin");
}

TEST_CASE("pin: one edited cell, the weights of its row, and the options that are others") {
  Document doc = pinnedDocument();
  REQUIRE(doc.apply(SetCells{TensorId::q, 0, 3, 2, 1, 1, {0.8f}}));
  Pinned pinned(*doc.state().pin.text);
  attention::Engine engine;
  attention::Spec layer = spec(doc.state());
  engine.apply(layer, inputs(doc.state()), attention::Change{});
  Differences found = pinned.differences(doc.state(), engine.trace(), 3);
  CHECK(found.isComparable);
  CHECK(found.options.empty());
  CHECK(found.inputs.count == 1);
  REQUIRE(found.inputs.largest.size() == 1);
  CHECK(found.inputs.largest[0].before == 1.6f);
  CHECK(found.inputs.largest[0].after == 0.8f);
  CHECK(found.weights.count == 4);
  REQUIRE(found.weights.largest.size() == 3);
  CHECK(found.weights.largest[0].cell.col == 2);
  REQUIRE(doc.apply(SetOption{OptionId::temperature, 2.0}));
  REQUIRE(doc.apply(SetOption{OptionId::tokens, 5.0}));
  layer = spec(doc.state());
  engine.apply(layer, inputs(doc.state()), attention::Change{});
  found = pinned.differences(doc.state(), engine.trace(), 3);
  CHECK_FALSE(found.isComparable);
  CHECK(found.inputs.count == 0);
  REQUIRE(found.options.size() >= 2);
  CHECK(found.options[0].name == "tokens");
  CHECK(found.options[0].before == "4");
  CHECK(found.options[0].after == "5");
}
