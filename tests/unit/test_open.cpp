// Files whose names or shapes do not determine what they contain: the form, and the result of each choice.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "attention/steps/forward.h"
#include "document/document.h"
#include "document/form.h"
#include "document/not_finite.h"
#include "document/option.h"
#include "document/preset.h"
#include "document/remedy.h"
#include "document/resize.h"
#include "document/text.h"
#include "files/export/code.h"
#include "files/formats/language.h"
#include "files/formats/npy.h"
#include "files/formats/printed.h"
#include "files/formats/zip.h"
#include "files/layout/labels.h"
#include "files/layout/mapping.h"
#include "files/layout/match.h"
#include "files/layout/opener.h"
#include "files/layout/packed.h"
#include "files/layout/read.h"
#include "files/layout/state_tensors.h"

namespace {

using document::Choices;
using document::Form;
using document::State;
using files::Opened;
using files::Shape;

/// Numbers that identify their positions: 0, 1, 2 … after `first`.
struct Numbers {
  std::vector<std::vector<float>> kept;
  files::StoredFile file;

  Numbers() { kept.reserve(64); }
  void add(const std::string& name, const Shape& shape, float first = 0) {
    std::vector<float>& values = kept.emplace_back();
    for (std::int64_t i = 0; i < files::checkedCount(shape).value_or(0); ++i)
      values.push_back(first + static_cast<float>(i) / 100);
    file.tensors.push_back(files::storedOf(name, shape, values));
  }
  void addTexts(const std::string& name, std::vector<std::string> texts) {
    files::Stored tensor;
    tensor.name = name, tensor.type = files::Type::text,
    tensor.shape = {static_cast<std::int64_t>(texts.size())}, tensor.texts = std::move(texts);
    file.tensors.push_back(std::move(tensor));
  }
};

const document::Field* field(const Form& form, std::string_view name) {
  for (const document::Field& one : form.fields)
    if (one.name == name) return &one;
  return nullptr;
}

std::vector<std::string> english(const std::vector<base::Message>& words) {
  std::vector<std::string> out;
  for (const base::Message& one : words) out.push_back(one.english());
  return out;
}

Choices choices(const Form& form, std::string_view name, int chosen) {
  Choices all;
  for (const document::Field& one : form.fields)
    all.emplace_back(one.name, one.name == name ? chosen : one.chosen);
  return all;
}

Form formOf(const Numbers& numbers) { return files::Mapping(numbers.file, "a.npz").form({}); }
State stateOf(const Numbers& numbers, const Choices& chosen = {}) {
  auto state = files::Mapping(numbers.file, "a.npz").state(chosen);
  REQUIRE_MESSAGE(state, (state ? "" : state.error().message()));
  return *state;
}

TEST_CASE("a form is the same after its lines were read") {
  const Form form{
      "a.npz",
      "3 tokens.",
      true,
      {{"q", "Q", 1, {"one  [3, 4]", "two"}}, {"axes", "Axes", 0, {"[heads, tokens, columns]", "x"}}}};
  const Form back = document::formFrom(document::toLines(form));
  CHECK(back.title == form.title);
  CHECK(back.says == form.says);
  CHECK(back.isReady);
  REQUIRE(back.fields.size() == 2);
  CHECK(back.fields[0].choices == form.fields[0].choices);
  CHECK(back.fields[0].chosen == 1);
  bool isFinal = false;
  CHECK(document::choicesFrom(document::toLines(Choices{{"q", 3}, {"as", 0}}, true), isFinal) ==
        Choices{{"q", 3}, {"as", 0}});
  CHECK(isFinal);
  CHECK(document::formFrom("").fields.empty());
  CHECK(document::formFrom("t\n1\nq\tQ\t7\tonly\n").fields.empty());
}

TEST_CASE("layers of a recorded model: the question is which, in their order") {
  Numbers numbers;
  for (const char* layer : {"layers.10.", "layers.9.", "layers.0."})
    for (const char* name : {"q", "k", "v"})
      numbers.add(std::string(layer) + name, {2, 3, 4}, layer[7] == '9' ? 9.0f : 1.0f);
  const Form form = formOf(numbers);
  REQUIRE(field(form, "layer"));
  CHECK(english(field(form, "layer")->choices) ==
        std::vector<std::string>{"layers.0", "layers.9", "layers.10", "All 3 layers"});
  CHECK(form.isReady);
  CHECK(form.says == "3 tokens, 2 heads of 4 columns, 3 layers.");
  const State state = stateOf(numbers, {{"layer", 1}});
  CHECK(state.q.at(0, 0, 0) == 9.0f);
}

TEST_CASE("all layers of a recorded model are one board, with what differs between them") {
  Numbers n;
  for (const int layer : {10, 9, 0}) {
    const std::string prefix = "layers." + std::to_string(layer) + ".";
    for (const char* name : {"k", "q", "v"})
      n.add(prefix + name, {2, 3, 4},
            static_cast<float>(layer) + (*name == 'q'   ? 100.0f
                                         : *name == 'k' ? 200.0f
                                                        : 300.0f));
    if (layer != 9) continue;
    n.add(prefix + "mask", {3, 3});
    n.kept.back()[1] = -std::numeric_limits<float>::infinity();
  }
  n.addTexts("tokens", {"a", "b", "c"});
  const Form form = formOf(n);
  REQUIRE(form.isReady);
  CHECK(form.fields.front().chosen == 3);
  State state = stateOf(n, choices(form, "layer", 3));
  CHECK(document::hasLayers(state));
  REQUIRE(state.batch == 3);
  for (const auto& [item, layer] : {std::pair{0, 0}, {1, 9}, {2, 10}}) {
    document::showItem(state, item);
    CHECK(state.q.at(0, 0, 0) == static_cast<float>(100 + layer));
    CHECK(state.k.at(0, 0, 0) == static_cast<float>(200 + layer));
    CHECK(state.v.at(0, 0, 0) == static_cast<float>(300 + layer));
    CHECK(state.labels == std::vector<std::string>{"a", "b", "c"});
    CHECK(std::isinf(state.bias.at(0, 0, 1)) == (layer == 9));
  }
  document::showItem(state, 0);
  CHECK(document::check(state));
  const auto back = document::fromText(document::toText(state), State{});
  REQUIRE(back);
  CHECK(*back == state);
  CHECK(document::get(state, document::OptionId::batch_of) == document::Value(std::string("layers")));
  // Layers that are not alike: one of them has to be chosen, and the form says why all together are not
  // possible.
  n.add("layers.9.scale", {}, 0.25f);
  const Form unlike = formOf(n);
  CHECK(unlike.isReady);
  CHECK(unlike.fields.front().chosen == 0);
  const Form refused = files::Mapping(n.file, "a.npz").form({{"layer", 3}});
  CHECK_FALSE(refused.isReady);
  CHECK(refused.says == "scale: it is 0.25 in layers.9 and true in the first layer; choose one layer.");
  n.add("layers.9.w", {2, 2});
  n.file.tensors[0].shape = {3, 2, 4};  // of another shape: the layers cannot share one board
  CHECK(field(formOf(n), "layer")->choices.size() == 3);
}

TEST_CASE("layers that a board has no room for together are read in parts, and the form says why") {
  const int columns = 400, tokens = static_cast<int>(document::kMaxNumbers * 2 / 5 / 3 / columns);
  REQUIRE(tokens <= 2 * attention::Limits::tokens);
  const Shape shape{2, tokens / 2, columns};
  const std::vector<float> numbers(static_cast<std::size_t>(2 * (tokens / 2) * columns), 0.5f);
  Numbers n;
  for (int layer = 0; layer < 5; ++layer)
    for (const char* name : {"q", "k", "v"})
      n.file.tensors.push_back(
          files::storedOf("layers." + std::to_string(layer) + "." + name, shape, numbers));
  const Form form = formOf(n);
  REQUIRE(form.isReady);
  CHECK(english(form.fields.front().choices) ==
        std::vector<std::string>{"layers.0", "layers.1", "layers.2", "layers.3", "layers.4",
                                 "Layers 1 to 2 of 5", "Layers 3 to 4 of 5"});
  CHECK(form.fields.front().chosen == 5);
  CHECK(form.says.english().ends_with("2 layers. All 5 layers have " + std::to_string(15 * numbers.size()) +
                                      " numbers together; a board has room for 64 layers and " +
                                      std::to_string(document::kMaxNumbers) + " numbers."));
  CHECK(stateOf(n, choices(form, "layer", 6)).batch == 2);
  CHECK(stateOf(n, choices(form, "layer", 0)).batch == 1);
  // Masks count: now there is room for one layer alone.
  const Shape ofMask{tokens / 2, tokens / 2};
  const std::vector<float> mask(static_cast<std::size_t>(ofMask[0] * ofMask[1]));
  n.file.tensors.push_back(files::storedOf("layers.3.mask", ofMask, mask));
  CHECK(field(formOf(n), "layer")->choices.size() == 5);
}

TEST_CASE("a layer that a board has no room for is read some heads at a time") {
  Numbers n;
  for (const std::string layer : {"h.0.", "h.1."})
    for (const char* name : {"q", "k", "v"}) n.add(layer + name, {8, 4096, 128}, *name == 'v' ? 1.0f : 0.0f);
  const Form form = formOf(n);
  REQUIRE(form.isReady);
  REQUIRE(field(form, "part"));
  CHECK(english(field(form, "part")->choices) ==
        std::vector<std::string>{"Heads 1 to 4 of 8", "Heads 5 to 8 of 8"});
  CHECK(
      form.says ==
      "4096 tokens, 4 heads of 128 columns. All 8 heads have 12582912 numbers together; a board has room for "
      "9600000.");
  const State state = stateOf(n, choices(form, "part", 1));
  CHECK(state.heads == 4);
  CHECK(state.q.at(0, 0, 0) == n.kept[0][std::size_t{4} * 4096 * 128]);
  CHECK(state.v.at(3, 4095, 127) == n.kept[2].back());
  n.addTexts("h.0.position", {"alibi"});  // its slopes follow from the number of heads
  CHECK_FALSE(files::Mapping(n.file, "a.npz").form({{"layer", 0}}).isReady);
}

TEST_CASE("a file of q, k and v that a board has no room for asks which heads to read") {
  const std::vector<float> numbers(std::size_t{4} * 4096 * 256);
  files::StoredFile file;
  for (const char* name : {"q", "k", "v"})
    file.tensors.push_back(files::storedOf(name, {4, 4096, 256}, numbers));
  std::string bytes;
  REQUIRE(files::writeFile(file, files::Format::safetensors,
                           [&](std::string_view piece) { return bytes.append(piece), true; }));
  files::Opener opener;
  const auto asked = opener.open(bytes, "layer.safetensors");
  REQUIRE_MESSAGE(asked, asked.error().message());
  REQUIRE(asked->kind == Opened::Kind::form);
  REQUIRE(field(asked->form, "part"));
  CHECK(english(field(asked->form, "part")->choices) ==
        std::vector<std::string>{"Heads 1 to 2 of 4", "Heads 3 to 4 of 4"});
  const auto chosen = opener.choose(document::toLines(Choices{{"part", 1}}, true));
  REQUIRE(chosen);
  CHECK(chosen->state.heads == 2);
  // One head that is too large: there is nothing to ask.
  file.tensors.clear();
  for (const char* name : {"q", "k", "v"})
    file.tensors.push_back(files::storedOf(name, {1, 16384, 256}, numbers));
  bytes.clear();
  REQUIRE(files::writeFile(file, files::Format::safetensors,
                           [&](std::string_view piece) { return bytes.append(piece), true; }));
  const auto refused = opener.open(bytes, "layer.safetensors");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().ends_with("for at most 9600000."));
}

TEST_CASE("the layer on the board is an option, which undo brings back") {
  Numbers n;
  n.add("attentions", {3, 2, 4, 4}, 0.25f);
  for (float& w : n.kept.back()) w = 0.25f;
  document::Document d(stateOf(n));
  REQUIRE(document::hasLayers(d.state()));
  const auto set = [&](double layer) {
    return d.apply(document::SetOption{document::OptionId::layer, layer});
  };
  CHECK(set(2));
  CHECK(d.state().batchItem == 2);
  CHECK(document::get(d.state(), document::OptionId::layer) == document::Value(2.0));
  CHECK(set(3).error().message() == "layer: 3 is too large; use 0 to 2.");
  CHECK(d.undo());
  CHECK(d.state().batchItem == 0);
  CHECK(d.redo());
  CHECK(d.state().batchItem == 2);
  d.apply(document::SetOption{document::OptionId::batch_of, std::string("sequences")});
  CHECK(set(1).error().message() == "layer: there is one layer here; open a file of several layers first.");
}

TEST_CASE("each layer of a recorded model has its own tokens, options and notes") {
  Numbers n;
  for (const std::string layer : {"encoder.0.attn.", "decoder.0.cross."}) {
    const bool isFirst = layer.front() == 'e';
    n.add(layer + "q", {2, isFirst ? 3 : 2, 4});
    for (const char* name : {"k", "v"}) n.add(layer + name, {2, 3, 4});
    n.add(layer + "scale", {}, isFirst ? 0.75f : 0.25f);
    n.addTexts(layer + "tokens",
               isFirst ? std::vector<std::string>{"I", "saw", "it"} : std::vector<std::string>{"je", "vis"});
  }
  n.addTexts("decoder.0.cross.key_labels", {"I", "saw", "it"});
  const Form form = formOf(n);
  REQUIRE(form.isReady);
  const State cross = stateOf(n, {{"layer", 0}}), self = stateOf(n, {{"layer", 1}});
  CHECK(self.labels == std::vector<std::string>{"I", "saw", "it"});
  CHECK(self.scaleBy == 0.75f);
  CHECK(cross.labels == std::vector<std::string>{"je", "vis"});
  CHECK(cross.keyLabels == std::vector<std::string>{"I", "saw", "it"});
  CHECK(cross.scaleBy == 0.25f);
  // Metadata of safetensors: that of the layer takes precedence over that of the file.
  Numbers m;
  for (const std::string layer : {"a.", "b."})
    for (const char* name : {"q", "k", "v"}) m.add(layer + name, {3, 4});
  m.file.notes = {
      {"tokens", "[\"1\", \"2\", \"3\"]"}, {"b.tokens", "[\"x\", \"y\", \"z\"]"}, {"b.causal", "true"}};
  CHECK(stateOf(m, {{"layer", 0}}).labels == std::vector<std::string>{"1", "2", "3"});
  const State b = stateOf(m, {{"layer", 1}});
  CHECK(b.labels == std::vector<std::string>{"x", "y", "z"});
  CHECK(b.causal);
  const auto chosen = files::tensorsOf(m.file, "b.");
  REQUIRE(chosen);
  CHECK(document::labelsOf(*chosen->labels) == b.labels);
}

TEST_CASE("layers whose keys are patches bring their picture, and without one patches are blank") {
  for (const bool hasPicture : {true, false}) {
    Numbers n;
    for (const std::string layer : {"layers.0.", "layers.1."}) {
      for (const char* name : {"q", "k", "v"}) n.add(layer + name, {2, 5, 4});
      n.add(layer + "patch_columns", {}, 2);
      if (hasPicture) n.add(layer + "picture", {5, 12}, layer[7] == '0' ? 0.1f : 0.2f);
    }
    const Form form = formOf(n);
    REQUIRE(form.isReady);
    State all = stateOf(n, choices(form, "layer", 2));
    REQUIRE(all.batch == 2);
    CHECK(all.patchColumns == 2);
    for (const int item : {0, 1}) {
      document::showItem(all, item);
      CHECK(all.x.rows() == 5);
      if (hasPicture) CHECK(all.x.cols() == 12);
      CHECK(all.x.at(0, 0, 0) == (!hasPicture ? 0.0f : item == 0 ? 0.1f : 0.2f));
      CHECK(all.x.at(0, 4, all.x.cols() - 1) == (hasPicture ? n.kept[item == 0 ? 4 : 9].back() : 0.0f));
    }
    const State one = stateOf(n, {{"layer", 1}});
    CHECK(one.x.at(0, 0, 0) == (hasPicture ? 0.2f : 0.0f));
    const auto back = document::fromText(document::toText(one), State{});
    REQUIRE(back);
    CHECK(*back == one);
  }
  Numbers wrong;
  for (const char* name : {"q", "k", "v"}) wrong.add(name, {2, 5, 4});
  wrong.add("picture", {4, 12});
  auto tensors = files::tensorsOf(wrong.file, "");
  REQUIRE(tensors);
  const auto refused = files::stateOf(std::move(*tensors), State{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message() ==
        "picture.shape: [1, 4, 12] does not fit 5 tokens; it must be [1, 5, 12].");
}

TEST_CASE("heads after the tokens, or side by side") {
  Numbers numbers;
  for (const char* name : {"query_states", "key_states", "value_states"}) numbers.add(name, {3, 2, 4});
  const Form form = formOf(numbers);
  REQUIRE(field(form, "axes"));
  const State swapped = stateOf(numbers, choices(form, "axes", 1));
  CHECK(swapped.heads == 2);
  CHECK(swapped.tokens == 3);
  CHECK(swapped.q.at(1, 2, 3) == numbers.kept[0][(2 * 2 + 1) * 4 + 3]);

  Numbers packed;
  for (const char* name : {"a", "b", "c"}) packed.add(name, {3, 8});
  Form question = formOf(packed);
  question = files::Mapping(packed.file, "")
                 .form(choices(question, "heads", 2));  // the heads offered are 1, 2, 4, 8
  CHECK(question.says == "3 tokens, 4 heads of 2 columns.");
  const State side = stateOf(packed, choices(question, "heads", 2));
  CHECK(side.q.at(3, 2, 1) == packed.kept[0][2 * 8 + 7]);
}

TEST_CASE("names that say nothing are taken in their order") {
  Numbers numbers;
  for (const char* name : {"alpha", "beta", "gamma"})
    numbers.add(name, {2, 3, 4}, numbers.kept.empty() ? 0.0f : static_cast<float>(numbers.kept.size()));
  const State state = stateOf(numbers);
  CHECK(state.k.at(0, 0, 0) == 1.0f);
  CHECK(state.v.at(0, 0, 0) == 2.0f);
}

TEST_CASE("labels say which axis is that of the tokens") {
  Numbers numbers;
  for (const char* name : {"q", "k", "v"}) numbers.add(name, {3, 2, 4});
  numbers.addTexts("tokens", {"a", "b", "c"});
  const Form form = formOf(numbers);
  REQUIRE(field(form, "axes"));
  CHECK(field(form, "axes")->chosen == 1);
  CHECK(form.says == "3 tokens, 2 heads of 4 columns.");
  CHECK(stateOf(numbers).labels == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("q, k and v in one tensor, stacked or side by side") {
  Numbers numbers;
  numbers.add("blob", {3, 2, 5, 4});
  const Form form = formOf(numbers);
  REQUIRE(field(form, "together"));
  CHECK(field(form, "together")->choices[static_cast<std::size_t>(field(form, "together")->chosen)] ==
        "Three, stacked on the first axis");
  const State state = stateOf(numbers);
  CHECK(state.v.at(1, 4, 3) == numbers.kept[0].back());

  Numbers flat;
  flat.add("h.0.qkv", {5, 12});
  const State side = stateOf(flat);
  CHECK(side.tokens == 5);
  CHECK(side.k.at(0, 1, 0) == flat.kept[0][12 + 4]);
}

TEST_CASE("one entry of a batch, or all") {
  Numbers numbers;
  for (const char* name : {"q", "k", "v"}) numbers.add(name, {3, 2, 5, 4});
  const Form form = formOf(numbers);
  REQUIRE(field(form, "batch"));
  CHECK(stateOf(numbers).batch == 3);
  const State one = stateOf(numbers, choices(form, "batch", 3));
  CHECK(one.batch == 1);
  CHECK(one.q.at(0, 0, 0) == numbers.kept[0][2 * 2 * 5 * 4]);
}

TEST_CASE("Linear weights are turned, Conv1D's are not") {
  Numbers llama;
  llama.add("hidden_states", {5, 8});
  for (const char* name : {"q", "o"})
    llama.add("model.layers.0.self_attn." + std::string(name) + "_proj.weight", {8, 8});
  for (const char* name : {"k", "v"})
    llama.add("model.layers.0.self_attn." + std::string(name) + "_proj.weight", {4, 8});
  Form form = formOf(llama);
  REQUIRE(field(form, "turned"));
  CHECK(field(form, "turned")->chosen == 1);
  CHECK(form.says ==
        "5 tokens, 2 heads (1 for keys and values) of 4 columns.");  // the widest heads that are possible
  form = files::Mapping(llama.file, "").form(choices(form, "heads", 2));
  CHECK(form.says == "5 tokens, 4 heads (2 for keys and values) of 2 columns.");
  const State state = stateOf(llama, choices(form, "heads", 2));
  CHECK(state.wQ.at(0, 1, 2) == llama.kept[1][2 * 8 + 1]);
  CHECK(state.wK.at(0, 7, 3) == llama.kept[3].back());

  Numbers gpt;
  gpt.add("transformer.h.0.attn.c_attn.weight", {4, 12});
  gpt.add("transformer.h.0.attn.c_proj.weight", {4, 4});
  const Form other = formOf(gpt);
  CHECK(field(other, "turned")->chosen == 0);
  CHECK(other.says == "6 tokens, 1 head of 4 columns. The file has no X: it is random numbers.");
  CHECK(stateOf(gpt).wV.at(0, 3, 3) == gpt.kept[0].back());
}

TEST_CASE("biases of the projections come with their weights") {
  Numbers numbers;
  numbers.add("x", {2, 4});
  numbers.add("in_proj_weight", {12, 4});
  numbers.add("in_proj_bias", {12}, 1);
  numbers.add("out_proj.weight", {4, 4});
  const Form form = formOf(numbers);
  CHECK(form.says == "2 tokens, 1 head of 4 columns.");
  const State state = stateOf(numbers);
  CHECK(state.mode == document::Mode::x);
  CHECK(state.projectionBias);
  CHECK(state.bK.at(0, 0, 2) == numbers.kept[2][4 + 2]);
  CHECK(state.bO == attention::Tensor(1, 1, 4));  // the file has no b_O
  attention::Trace trace;
  attention::forward(document::spec(state), document::inputs(state), trace);
  double expected = numbers.kept[2][4 + 2];
  for (int i = 0; i < 4; ++i)
    expected += static_cast<double>(numbers.kept[0][static_cast<std::size_t>(4 + i)]) *
                static_cast<double>(numbers.kept[1][static_cast<std::size_t>((4 + 2) * 4 + i)]);
  CHECK(static_cast<double>(trace.k.at(0, 1, 2)) == doctest::Approx(expected));
}

TEST_CASE("weights without q and k are a batch of layers, and the softmax gives them back") {
  Numbers numbers;
  numbers.add("attentions", {3, 2, 4, 4});
  for (std::size_t row = 0; row < 24; ++row) {  // causal rows with different weights
    const std::size_t last = row % 4;
    float sum = 0;
    for (std::size_t j = 0; j < 4; ++j)
      numbers.kept[0][row * 4 + j] = j > last ? 0.0f : static_cast<float>(1 + (row * 7 + j * 3) % 5),
                                sum += numbers.kept[0][row * 4 + j];
    for (std::size_t j = 0; j < 4; ++j) numbers.kept[0][row * 4 + j] /= sum;
  }
  numbers.addTexts("tokens", {"a", "\u0120b", "c", "d"});
  const Form form = formOf(numbers);
  CHECK(form.isReady);
  CHECK(form.says.english().starts_with("4 tokens, 2 heads of 1 column, 3 layers. Weights alone: "));
  State state = stateOf(numbers);
  CHECK(state.batch == 3);
  CHECK(state.labels[1] == "\u2423b");
  for (int layer = 0; layer < 3; ++layer) {
    document::showItem(state, layer);
    attention::Trace trace;
    attention::forward(document::spec(state), document::inputs(state), trace);
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          CHECK(std::abs(trace.weights.at(h, i, j) -
                         numbers.kept[0][static_cast<std::size_t>(((layer * 2 + h) * 4 + i) * 4 + j)]) <
                1e-6f);
  }
  CHECK(stateOf(numbers, choices(form, "batch", 2)).batch == 1);
  numbers.kept[0][0] = 0.5f;
  CHECK(formOf(numbers).says.english().find("attentions[0, 0, 0, 0] the weights of this row") ==
        std::string::npos);
  CHECK(formOf(numbers).says.english().find("have the sum 500 ÷ 1000; expected 1") != std::string::npos);
  numbers.kept[0][0] = -1;
  CHECK(formOf(numbers).says.english().find("never negative") != std::string::npos);
}

TEST_CASE("weights without q and k whose keys are another sequence have its labels") {
  for (const bool isNote : {false, true}) {
    Numbers n;
    n.add("weights", {2, 2, 3});
    for (float& weight : n.kept[0]) weight = 1.0f / 3;
    n.addTexts("tokens", {"je", "vis"});
    if (isNote) n.file.notes = {{"key_labels", "[\"I\", \"saw\", \"it\"]"}};
    else n.addTexts("key_labels", {"I", "saw", "it"});
    const State state = stateOf(n);
    CHECK(state.cross);
    CHECK(state.labels == std::vector<std::string>{"je", "vis"});
    CHECK(state.keyLabels == std::vector<std::string>{"I", "saw", "it"});
  }
}

TEST_CASE("a list of weights, a tensor for each layer, is one board of all layers in their order") {
  for (const bool isNamed : {true, false}) {
    Numbers n;
    for (const int layer : {10, 0, 2, 1}) {
      n.add((isNamed ? "attentions." : "arr_") + std::to_string(layer), {1, 2, 3, 3});
      for (std::size_t i = 0; i < 18; ++i)
        n.kept.back()[i] =
            i % 3 == 0 ? 1.0f - 0.02f * static_cast<float>(layer) : 0.01f * static_cast<float>(layer);
    }
    const Form form = formOf(n);
    REQUIRE(form.isReady);
    REQUIRE(field(form, "list"));
    CHECK(form.says.english().starts_with("3 tokens, 2 heads of 1 column, 4 layers."));
    const State all = stateOf(n);
    CHECK(all.batch == 4);
    CHECK(all.bias.at(0, 0, 0) == 0.0f);  // layer 0
    CHECK(all.items[3].bias.at(1, 2, 1) == doctest::Approx(std::log(0.1)));
    CHECK(stateOf(n, choices(form, "list", 1)).batch == 1);
    CHECK(stateOf(n, choices(form, "batch", 2)).bias.at(0, 0, 1) ==
          doctest::Approx(std::log(0.01)));  // a single layer
  }
}

TEST_CASE("a thousand tensors are gone through, and what does not fit is said") {
  Numbers numbers;
  numbers.kept.reserve(2000);
  for (int i = 0; i < 1000; ++i) numbers.add("t" + std::to_string(i), {2 + i / 3 % 3, 4});
  const Form form = formOf(numbers);
  CHECK(field(form, "q")->choices.size() <= 60);
  CHECK(form.isReady);
  CHECK_FALSE(files::Mapping(numbers.file, "").form({{"q", 0}, {"k", 1}, {"v", 4}}).isReady);
  Numbers vectors;
  vectors.add("a", {4});
  CHECK_FALSE(files::Mapping(vectors.file, "").isPossible());
}

// ---- pasted

std::string json(std::string_view text) {
  const auto made = files::jsonOfPrinted(text);
  return made ? *made : made.error().message();
}

TEST_CASE("what NumPy, PyTorch and Python print becomes JSON") {
  CHECK(json("[[1. 2.]\n [3.5 -4e-2]]") == "[[1.0,2.0],[3.5,-4e-2]]");
  CHECK(json("tensor([[1., 2.],\n        [3., nan]], device='cuda:0', grad_fn=<SoftmaxBackward0>)") ==
        "[[1.0,2.0],[3.0,\"nan\"]]");
  CHECK(json("array([[ 0.1,  0.2],\n       [-inf,  inf]], dtype=float32)") ==
        "[[0.1,0.2],[\"-inf\",\"inf\"]]");
  CHECK(json("[[True False]]") == "[[true,false]]");
  CHECK(json("(1, 2, (3,))") == "[1,2,[3]]");
  CHECK(json("{'q': [[1, 2]], 'tokens': ['it\\'s']}") == "{\"q\":[[1,2]],\"tokens\":[\"it's\"]}");
  CHECK(json("q = tensor([[1.]])\nk: [[2]]; v = np.array([[3.]])") ==
        "{\"q\": [[1.0]], \"k\": [[2]], \"v\": [[3.0]]}");
  CHECK(json("[np.float32(1.5), np.float32(2)]") == "[1.5,2]");
  CHECK(json("[[007 .5 5.]]") == "[[7,0.5,5.0]]");
  CHECK(json(R"(["\u0120the", '\x0a', "\ud83d\ude00", 'say "no"', "a\/\\b\t"])") ==
        R"(["\u0120the","\u000a","\ud83d\ude00","say \"no\"","a\/\\b\t"])");
  CHECK(json("[[0, -Infinity], [NaN, Infinity]]") == R"([[0,"-inf"],["nan","inf"]])");
}

TEST_CASE("what was printed with a gap, or is cut off, is refused with the place") {
  CHECK(json("[[1. 2. ... 3.]]").find("left out with \"...\"") != std::string::npos);
  CHECK(json("[[1, 2]") == "text: it ends before its brackets are closed; copy all of it.");
  CHECK(json("[[1, 2],\n [3, x]]").find("\"x]]\" in line 2 is no number") != std::string::npos);
  CHECK(json("[1 - 2]").find("in line 1 is no number") != std::string::npos);
  CHECK(json(std::string(1000, '[')).find("is no number") != std::string::npos);
}

TEST_CASE("cells are told from printed tensors") {
  for (const char* text :
       {"[[1. 2.]]", "  tensor([1])", "array([[1]])", "{'q': 1}", "q = [[1]]", "(1, 2)", "torch.tensor([1])"})
    CHECK_MESSAGE(files::isPrinted(text), text);
  for (const char* text : {"1\t2\n3\t4", "0.5", "-1 2", "", "  ", "a\tb"})
    CHECK_MESSAGE(!files::isPrinted(text), text);
}

TEST_CASE("a pasted matrix is cells, and one with three axes or names is a layer") {
  files::Opener opener;
  auto cells = opener.paste("[[1. 2.]\n [3. 4.]]");
  REQUIRE(cells);
  CHECK(cells->kind == Opened::Kind::cells);
  CHECK(cells->text == "1\t2\n3\t4\n");
  auto layer = opener.paste("q = [[1, 2], [3, 4]]\nk = [[1, 2], [3, 4]]\nv = [[1., 0.], [0., 1.]]");
  REQUIRE(layer);
  CHECK(layer->kind == Opened::Kind::state);
  CHECK(layer->state.v.at(0, 1, 1) == 1.0f);
  auto stacked = opener.paste("[[[1, 2]], [[3, 4]], [[5, 6]]]");
  REQUIRE(stacked);
  CHECK(stacked->kind == Opened::Kind::state);
  CHECK(stacked->state.v.at(0, 0, 1) == 6.0f);
  auto form = opener.paste("{'a': [[1, 2], [3, 4]], 'b': [[1, 2], [3, 4]]}");
  REQUIRE(form);
  CHECK(form->kind == Opened::Kind::form);
  auto chosen = opener.choose(document::toLines(Choices{{"q", 0}, {"k", 1}, {"v", 1}}, true));
  REQUIRE(chosen);
  CHECK(chosen->kind == Opened::Kind::state);
  CHECK_FALSE(opener.choose("!\n"));
}

TEST_CASE("labels of tokenizers are shown for what they are") {
  using Labels = std::vector<std::string>;
  CHECK(files::readableLabels({"I", "\u0120saw", "a", "\u010a"}) == Labels{"I", "\u2423saw", "a", "\\n"});
  CHECK(files::readableLabels({"\u0120na", "\u00c3\u00af", "ve"}) == Labels{"\u2423na", "\u00ef", "ve"});
  CHECK(files::readableLabels({"\u0120", "\u00c3"}) ==
        Labels{"\u2423", "\\xc3"});  // half of a UTF-8 character
  CHECK(files::readableLabels({"<|\u4e2d|>", "\u0120a"}) ==
        Labels{"<|\u4e2d|>", "\u2423a"});  // not byte-level tokens
  CHECK(files::readableLabels({"\u2581hello", "na\u00efve", "<0x0A>"}) ==
        Labels{"\u2581hello", "na\u00efve", "<0x0A>"});
  CHECK(files::readableLabels({"\n", "\t", "\r", "\x07", "a b", " c "}) ==
        Labels{"\\n", "\\t", "\\r", "\\x07", "a b", "\u2423c\u2423"});
  CHECK(files::readableLabels({"\xff", "\u0085"}) == Labels{"\\xff", "\\xc2\\x85"});
  const auto layer = files::Opener().paste(
      "{'q': [[1], [2]], 'k': [[1], [2]], 'v': [[1], [2]], 'tokens': ['\\n', '\u0120the']}");
  REQUIRE(layer);
  CHECK(layer->state.labels == Labels{"\\n", "\u2423the"});
}

TEST_CASE("weights that have no name are asked about as weights, and other tensors are not") {
  files::Opener opener;
  const std::string rows = "[[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.25, 0.25]]",
                    heads = "[" + rows + ", " + rows + "]";
  for (const std::string& text :
       {heads, "[" + heads + ", " + heads + ", " + heads + "]", "[[" + heads + "], [" + heads + "]]"}) {
    auto weights = opener.paste(text);
    REQUIRE(weights);
    REQUIRE(weights->kind == Opened::Kind::form);
    CHECK(weights->form.says.english().find("Weights alone") != std::string::npos);
    CHECK(field(weights->form, "as")->chosen == 2);
  }
  // Rows of other sums, or no squares: queries that attend to each other, or q, k and v stacked.
  for (const char* text :
       {"[[[1, 0], [0.25, 0.5]], [[1, 0], [0.5, 0.5]]]", "[[[1, 0, 0], [0.25, 0.75, 0]]]",
        "[[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 1], [2, 3]]]", "[[[2, -1], [0.5, 0.5]]]"}) {
    auto layer = opener.paste(text);
    REQUIRE(layer);
    CHECK(layer->kind == Opened::Kind::state);
  }
}

TEST_CASE("weights of several texts, stacked or a tensor for each layer: one of the texts, in all layers") {
  for (const bool isList : {false, true}) {
    Numbers n;
    const auto weight = [](int layer, int text) { return 0.125f * static_cast<float>(layer + 2 * text); };
    for (int layer = 0; layer < (isList ? 2 : 1); ++layer) {
      n.add(isList ? "arr_" + std::to_string(layer) : "attentions",
            isList ? Shape{3, 1, 2, 2} : Shape{2, 3, 1, 2, 2});
      std::vector<float>& values = n.kept.back();
      for (std::size_t i = 0; i < values.size(); i += 2) {
        const float w = weight(isList ? layer : static_cast<int>(i / 12), static_cast<int>(i / 4 % 3));
        values[i] = w, values[i + 1] = 1 - w;
      }
    }
    const Form form = formOf(n);
    REQUIRE(form.isReady);
    REQUIRE(field(form, "entry"));
    CHECK(field(form, "entry")->choices.size() == 3);
    const State second = stateOf(n, choices(form, "entry", 1));
    REQUIRE(second.batch == 2);
    CHECK(second.bias.at(0, 1, 0) == doctest::Approx(std::log(weight(0, 1))));
    CHECK(second.items[1].bias.at(0, 1, 0) == doctest::Approx(std::log(weight(1, 1))));
  }
}

// ---- packed

TEST_CASE("a state is the same in every bit after it was handed over") {
  for (const document::Preset& preset : document::presets()) {
    auto state = document::preset(preset.name);
    REQUIRE(state);
    const auto back = files::unpacked(files::packed(*state), *state);
    REQUIRE_MESSAGE(back, preset.name);
    CHECK_MESSAGE(sameBits(*back, *state), preset.name);
  }
}

TEST_CASE("the pieces of a state are its bytes, and none before the end is empty") {
  for (const document::Preset& preset : document::presets()) {
    const State state = *document::preset(preset.name);
    const files::Packing packing(state, state);
    std::string joined;
    std::size_t count = 0;
    for (; !packing.piece(count).empty(); ++count) joined += packing.piece(count);
    CHECK(joined == files::packed(state));
    CHECK(joined.size() == packing.size());
    CHECK(packing.piece(count + 1).empty());
  }
}

TEST_CASE("the labels of many tokens are the same after they were handed over, whatever is in them") {
  State state = *document::preset("i-saw-a-saw");
  document::apply(state, document::SetOption{document::OptionId::tokens, 100.0});
  state.labels[0] = "", state.labels[1] = "\"a b\"", state.labels[99] = "ü[,\\";
  const std::string bytes = files::packed(state);
  CHECK(bytes.find("labels [") == std::string::npos);
  const auto back = files::unpacked(bytes, state);
  REQUIRE(back);
  CHECK(back->labels == state.labels);
  CHECK(sameBits(*back, state));
  state.labels[2] = "one\nline",
  state.labels[3] = "\x1f";  // no labels of a board; the bytes are read nevertheless
  const auto odd = files::unpacked(files::packed(state), state);
  CHECK_FALSE(odd);
}

TEST_CASE("numbers that do not begin at a multiple of four bytes are read as they are") {
  std::vector<float> numbers(3000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) / 8;
  const std::string_view bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(float));
  for (std::size_t skipped = 0; skipped < sizeof(float); ++skipped) {
    files::Stored tensor;
    tensor.type = files::Type::float32, tensor.shape = {static_cast<std::int64_t>(numbers.size())};
    const std::string padded = std::string(skipped, 'x').append(bytes);
    tensor.bytes = std::string_view(padded).substr(skipped);
    const auto read = files::arrayOf(tensor);
    REQUIRE(read);
    CHECK(read->values == numbers);
  }
}

TEST_CASE("what was cut off on the way is refused") {
  const State state = *document::preset("i-saw-a-saw");
  const std::string bytes = files::packed(state);
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    CHECK_FALSE(files::unpacked(std::string_view(bytes).substr(0, size), state));
  CHECK_FALSE(files::isPacked("{\"version\": 1}"));
}

// ---- files

std::string npz(const Numbers& numbers) {
  std::string bytes;
  std::vector<std::string> headers;
  headers.reserve(99);
  std::vector<files::ZipSource> sources;
  for (const files::Stored& tensor : numbers.file.tensors) {
    headers.push_back(files::npyHeader(files::npyDescr(tensor.type), tensor.shape));
    sources.push_back({tensor.name + ".npy", {headers.back(), tensor.bytes}});
  }
  files::writeZip(sources, [&](std::string_view piece) { return bytes.append(piece), true; });
  return bytes;
}

TEST_CASE(
    "of 2,048 tokens a file that is cut off, and a tensor of NaN, are refused with the place; what is too "
    "long, with what fits") {
  files::Opener opener;
  Numbers layer;
  for (const char* name : {"q", "k", "v"}) layer.add(name, {2, 2048, 8});
  const std::string bytes = npz(layer);
  const auto opened = opener.open(bytes, "layer.npz");
  REQUIRE(opened);
  CHECK(opened->state.tokens == 2048);
  const auto refusalOf = [&](std::string_view part) {
    const auto refused = opener.open(part, "layer.npz");
    return refused ? std::string("opened") : refused.error().message();
  };
  for (const double share : {0.1, 0.5, 0.999})
    CHECK(refusalOf(std::string_view(bytes).substr(
                        0, static_cast<std::size_t>(share * static_cast<double>(bytes.size()))))
              .find("cut off") != std::string::npos);
  for (float& number : layer.kept[1]) number = NAN;
  CHECK(refusalOf(npz(layer)) == "k[0, 0, 0]: NaN cannot be used; give a finite number.");
  const auto longer = document::check(opened->state, document::OptionId::tokens, 16384.0);
  REQUIRE_FALSE(longer);
  CHECK(document::withRemedy(opened->state, document::OptionId::tokens, 16384.0, longer.error())
            .message()
            .ends_with(" The nearest that fits is 11585."));
}

/// The board of a file with those tensors.
State openedOf(const Numbers& numbers) {
  files::Opener opener;
  const std::string bytes = npz(numbers);
  const auto opened = opener.open(bytes, "layer.npz");
  REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message()));
  REQUIRE(opened->kind == Opened::Kind::state);
  return opened->state;
}

attention::Trace traceOf(const State& s) {
  attention::Trace trace;
  attention::forward(document::spec(s), document::inputs(s), trace);
  return trace;
}

TEST_CASE("NaN in a row of a file: marked, and the rest is as if the row was not there") {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  Numbers n;
  for (const char* name : {"q", "k", "v"}) n.add(name, {1, 4, 2});
  SUBCASE("a key") {
    n.kept[1][2 * 2 + 1] = NAN;
    const State s = openedOf(n);
    CHECK(s.notFinite == "k[0, 2, 1]: NaN, 1");
    CHECK(document::notFiniteSentence(s) ==
          "k[0, 2, 1] of the file (head, token, column, from 0) is NaN. Such rows are 0 here, and hidden.");
    CHECK(s.labels == std::vector<std::string>{"t1", "t2", "NaN t3", "t4"});
    CHECK(document::isNotFinite(s, s.labels[2]));
    CHECK_FALSE(document::isNotFinite(s, s.labels[1]));
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) CHECK(s.painted.isBlocked(i, j) == (j == 2));
    // The other weights are those of a file without this key.
    Numbers rest;
    for (const std::size_t one : {0u, 1u, 2u}) {
      rest.add(std::string(1, "qkv"[one]), {1, one == 0 ? 4 : 3, 2});
      std::vector<float> kept = n.kept[one];
      if (one > 0) kept.erase(kept.begin() + 4, kept.begin() + 6);
      std::copy(kept.begin(), kept.end(), rest.kept[one].begin());
    }
    const attention::Trace with = traceOf(s), without = traceOf(openedOf(rest));
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j)
        CHECK(with.weights.at(0, i, j) ==
              doctest::Approx(j == 2 ? 0.0f : without.weights.at(0, i, j < 2 ? j : j - 1)));
      for (int d = 0; d < 2; ++d)
        CHECK(with.headOutput.at(0, i, d) == doctest::Approx(without.headOutput.at(0, i, d)));
    }
  }
  SUBCASE("a query and a value, with infinities") {
    n.kept[0][1] = kInfinite, n.kept[2][6] = -kInfinite, n.kept[2][7] = NAN;
    const State s = openedOf(n);
    CHECK(s.notFinite == "q[0, 0, 1]: inf, 3");
    CHECK(s.labels == std::vector<std::string>{"NaN t1", "t2", "t3", "NaN t4"});
    const attention::Trace trace = traceOf(s);
    for (int j = 0; j < 4; ++j) CHECK(trace.weights.at(0, 0, j) == 0.0f);
    for (int i = 1; i < 4; ++i) CHECK(trace.weights.at(0, i, 3) == 0.0f);
    CHECK(trace.weights.at(0, 1, 0) > 0);
    // Mask, mark and sentence stay in the state text, in files of all tensors, and in programs.
    const auto text = document::fromText(document::toText(s), State{});
    REQUIRE(text);
    CHECK(sameBits(*text, s));
    const auto unpacked = files::unpacked(files::packed(s), State{});
    REQUIRE(unpacked);
    CHECK(sameBits(*unpacked, s));
    auto file = files::tensorsOfState(s);
    REQUIRE(file);
    auto tensors = files::tensorsOf(std::move(*file));
    REQUIRE(tensors);
    const auto back = files::stateOf(std::move(*tensors), State{});
    REQUIRE(back);
    CHECK(back->notFinite == s.notFinite);
    CHECK(back->labels == s.labels);
    CHECK(back->painted == s.painted);
    CHECK(files::toCode(s, files::Language::numpy)->starts_with("# q[0, 0, 1] of the file (head, "));
  }
  SUBCASE("a mask of the file stays") {
    n.add("mask", {4, 4});
    n.kept[3][1] = -kInfinite, n.kept[1][7] = NAN;
    const State s = openedOf(n);
    CHECK(s.bias.at(0, 0, 1) == -kInfinite);
    CHECK(s.bias.at(0, 2, 1) == n.kept[3][9]);
    CHECK(traceOf(s).weights.at(0, 2, 3) == 0.0f);
  }
}

TEST_CASE("NaN in one head hides there alone, while the board has room to say so") {
  Numbers n;
  n.add("q", {4, 3, 2}), n.add("k", {2, 3, 2}), n.add("v", {2, 3, 2});
  n.kept[1][(3 + 1) * 2] = NAN;  // of the heads 2 and 3
  State s = openedOf(n);
  CHECK(s.biasKind == document::Bias::perHead);
  const attention::Trace trace = traceOf(s);
  for (int h = 0; h < 4; ++h) CHECK((trace.weights.at(h, 2, 1) == 0.0f) == (h >= 2));
  Numbers large;
  for (const char* name : {"q", "k", "v"}) large.add(name, {4, 2048, 2});
  large.kept[1][(2048 + 1500) * 2] = NAN;
  s = openedOf(large);
  CHECK(s.notFinite == "k[1, 1500, 0]: NaN, 1, all heads");
  CHECK(s.painted.isBlocked(7, 1500));
  CHECK(document::notFiniteSentence(s).english().ends_with("and hidden in all heads."));
}

TEST_CASE("NaN in X hides its token as a query and as a key; in an entry of a batch, there alone") {
  Numbers x;
  x.add("x", {3, 2});
  for (const char* name : {"w_q", "w_k", "w_v"}) x.add(name, {2, 2});
  x.kept[0][2] = NAN;
  State s = openedOf(x);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) CHECK(s.painted.isBlocked(i, j) == (i == 1 || j == 1));
  x.kept[1][0] = NAN;  // weights are no rows of tokens
  CHECK_FALSE(files::Opener().open(npz(x), "layer.npz"));
  Numbers batch;
  for (const char* name : {"q", "k", "v"}) batch.add(name, {2, 1, 3, 2});
  batch.kept[1][6 + 2] = NAN;
  s = openedOf(batch);
  CHECK(s.notFinite == "k[1, 0, 1, 0]: NaN, 1");
  CHECK(s.labels[1] == "t2");
  document::showItem(s, 1);
  CHECK(s.labels[1] == "NaN t2");
  CHECK(traceOf(s).weights.at(0, 2, 1) == 0.0f);
  document::showItem(s, 0);
  CHECK(traceOf(s).weights.at(0, 2, 1) > 0.0f);
}

TEST_CASE("NaN in a layer of a recorded model, and in a row of 4,096 tokens") {
  Numbers n;
  for (const char* name : {"0.q", "0.k", "0.v", "1.q", "1.k", "1.v"}) n.add(name, {2, 3, 4});
  n.kept[4][5] = NAN;
  const Form form = formOf(n);
  REQUIRE(form.isReady);
  State s = stateOf(n, choices(form, "layer", 2));
  CHECK(s.notFinite == "k[1, 0, 1, 1]: NaN, 1");
  CHECK(s.labels[1] == "t2");
  document::showItem(s, 1);
  CHECK(s.labels[1] == "NaN t2");
  Numbers large;
  for (const char* name : {"q", "k", "v"}) large.add(name, {1, 4096, 1});
  large.kept[0][4000] = NAN;
  s = openedOf(large);
  CHECK(s.painted.isBlocked(4000, 0));
  CHECK_FALSE(s.painted.isBlocked(3999, 4000));
}

TEST_CASE("a clear file opens at once, an unclear one asks, a wrong one is refused") {
  files::Opener opener;
  Numbers clear;
  for (const char* name : {"query", "key", "value"}) clear.add(name, {2, 3, 4});
  const std::string first = npz(clear);
  auto opened = opener.open(first, "layer.NPZ");
  REQUIRE(opened);
  CHECK(opened->kind == Opened::Kind::state);
  CHECK(opened->state.heads == 2);
  // Recognised by the first bytes, whatever the name.
  CHECK(opener.open(first, "layer"));
  Numbers unclear;
  for (const char* name : {"one", "two", "three"}) unclear.add(name, {2, 3, 4});
  const std::string second = npz(unclear);
  auto asked = opener.open(second, "layer.npz");
  REQUIRE(asked);
  CHECK(asked->kind == Opened::Kind::form);
  CHECK(asked->form.title == "What is in layer.npz?");
  auto refused = opener.open(std::string_view(second).substr(0, 100), "layer.npz");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("cut off") != std::string::npos);
  auto pickled = opener.open("\x80\x04\x95", "model.pt");
  REQUIRE_FALSE(pickled);
  CHECK(pickled.error().message().find("it is pickled, as torch.save and pickle.dump write it") !=
        std::string::npos);
  auto text = opener.open("{\"version\": 1}", "a.json");
  REQUIRE(text);
  CHECK(text->kind == Opened::Kind::text);
  auto unknown = opener.open("{\"alpha\": [[1, 2]], \"beta\": [[3, 4]]}", "a.json");
  REQUIRE(unknown);
  CHECK(unknown->kind == Opened::Kind::form);
}

TEST_CASE("every tensor is written by its name, in any format, and reads back") {
  const State state = *document::preset("pronoun");
  const auto tensors = files::collectTensors(state);
  REQUIRE(tensors);
  const std::string bytes = files::packed(*tensors);
  for (const char* name : {"a.npz", "a.safetensors", "a.json"}) {
    std::string out;
    REQUIRE(files::convert(bytes, name, "", [&](std::string_view piece) { return out.append(piece), true; }));
    files::Opener opener;
    auto back = opener.open(out, name);
    REQUIRE(back);
    CHECK(back->kind == Opened::Kind::state);
    CHECK(back->state.labels == state.labels);
    CHECK(document::sameBits(back->state.v, state.v));
    CHECK(back->state.causal == state.causal);
  }
  std::string table;
  REQUIRE(files::convert(bytes, "weights.csv", "weights",
                         [&](std::string_view piece) { return table.append(piece), true; }));
  CHECK(std::count(table.begin(), table.end(), '\n') == state.heads * (state.tokens + 1) - 1);
  const auto none = files::convert(bytes, "a.csv", "wights", [](std::string_view) { return true; });
  REQUIRE_FALSE(none);
  CHECK(none.error().message().find("\"wights\" is not one of this layer") != std::string::npos);
  CHECK_FALSE(files::convert(bytes, "a.pt", "", [](std::string_view) { return true; }));
}

}  // namespace

TEST_CASE("packed: a size that is no number is refused") {
  const auto read = [](const std::string& sizes) {
    return files::unpackedTensors("[]\n[]\n\n0\nq b " + sizes + "\n\nab");
  };
  CHECK(read("1 2 1"));
  for (const char* sizes : {"1 2 x", "x", "1 2 1\x14", "1 2 -"}) {
    CAPTURE(sizes);
    CHECK(!read(sizes));
  }
}

TEST_CASE("opening: the row of a table that is taken as a heading is named") {
  files::Opener opener;
  const auto read = opener.open("noun,verb\n1,2\n3,4\n", "scores.csv");
  REQUIRE(read);
  REQUIRE(read->kind == files::Opened::Kind::state);
  CHECK(read->state.tokens == 2);
  CHECK(read->heading == 1);
  const auto plain = opener.open("1,2\n3,4\n", "scores.csv");
  REQUIRE(plain);
  CHECK(plain->heading == 0);
}
