// Real files from a folder: the board computes the same as attn, and files of older versions can be opened.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

#include "app/app.h"
#include "attention/layer/explain.h"
#include "attention/steps/forward.h"
#include "document_support.h"
#include "draw/heatmap.h"
#include "files/layout/read.h"
#include "files/run/attention_file.h"
#include "screen.h"
#include "thorough.h"

using namespace document;
namespace fs = std::filesystem;

namespace {

/// A complete board that is never drawn.
struct Board {
  const Tensor& tensor(std::string_view name) const {
    const auto found = app->tensor(name);
    REQUIRE_MESSAGE(found, (found ? "" : found.error().message()));
    return **found;
  }

  test::Screen screen;
  test::QuietHost host;
  draw::Heatmaps heatmaps;
  std::unique_ptr<app::App> app = std::make_unique<app::App>(host, heatmaps);
};

std::vector<fs::path> filesIn(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(AP_TESTS) / folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string textOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares one entry of a batch computed by attn with the board.
void compare(const files::NamedArray& attn, int item, int batch, const Tensor& board) {
  const std::size_t each = attn.values.size() / static_cast<std::size_t>(batch);
  REQUIRE(each == board.size());
  for (std::size_t i = 0; i < each; ++i) {
    const float wanted = attn.values[static_cast<std::size_t>(item) * each + i], got = board.values()[i];
    CAPTURE(attn.name);
    CAPTURE(i);
    if (wanted == got) continue;
    REQUIRE(std::abs(wanted - got) <= 2e-6f * std::max(1.0f, std::abs(wanted)));
  }
}

State read(std::string_view text) {
  auto state = files::readState(text, {});
  REQUIRE_MESSAGE(state, (state ? "" : state.error().message()));
  return *state;
}

std::string tried(std::string_view text) { return test::refusal(files::readState(text, {})); }

/// A layer with three queries and keys and two heads of one column; `more` appends further fields.
std::string layer(const std::string& more) {
  const std::string tensor = R"({"shape": [2, 3, 1], "data": [1, -2, 0.5, 3, 0.25, -1]})";
  return "{\"q\": " + tensor + ", \"k\": " + tensor + ", \"v\": " + tensor + ", " + more + "}";
}

const std::string kBias =
    R"("mask": {"shape": [2, 3, 3], "data": [0, 1, "-inf", -2, 0, 0.5, 0, 0, 0, 1, 1, 1, "-inf", 0, 0, 0, 3, 4]})";

}  // namespace

TEST_CASE("files: the board and attn give the same numbers for the same file") {
  Board board;
  int refused = 0;
  const auto all = filesIn("golden/layers");
  REQUIRE(all.size() >= 80);
  for (const fs::path& path : all) {
    CAPTURE(path.filename().string());
    const std::string text = textOf(path);
    const auto ok = board.app->openText(text, "file");
    const bool mustRefuse = path.stem().string().ends_with("_is_refused");
    REQUIRE_MESSAGE(bool(ok) != mustRefuse, (ok ? "it was opened" : ok.error().message()));
    if (mustRefuse) {
      test::checkSentence(files::readState(text, {}).error());
      ++refused;
      continue;
    }
    const State& state = board.app->document().state();
    const bool isProjected = state.mode == Mode::x;
    files::RunRequest request;
    request.outputs = {files::OutputId::weights, files::OutputId::masked, files::OutputId::output};
    const auto results = files::run(text, request);
    REQUIRE_MESSAGE(results, (results ? "" : results.error().message()));
    const bool isPacked = text.find("\"packed\"") != std::string::npos;
    for (int item = 0; item < state.batch; ++item) {
      CAPTURE(item);
      REQUIRE(board.app->set("batch_item", std::to_string(item)));
      compare((*results)[0], item, state.batch, board.tensor("weights"));
      compare((*results)[1], item, state.batch, board.tensor("masked"));
      compare((*results)[2], item, state.batch,
              board.tensor(isProjected ? "output"
                           : isPacked  ? "concat"
                                       : "head_output"));
    }
    // The state text keeps every bit of what was opened.
    const std::string saved = board.app->state();
    REQUIRE(board.app->setState(saved, true));
    REQUIRE(board.app->state() == saved);
  }
  CHECK(refused == 6);
}

TEST_CASE("files: float16 is rounded for the board too") {
  const State s =
      read(R"({"q": {"shape": [1, 1], "dtype": "float16", "data": [1.0007]}, "k": [[1]], "v": [[1]]})");
  CHECK(s.q.at(0, 0, 0) == 1.0009765625f);
}

TEST_CASE("files: state texts of the first format open and are written as they were") {
  const auto all = filesIn("golden/states");
  REQUIRE(all.size() >= 10);
  Board board;
  for (const fs::path& path : all) {
    CAPTURE(path.filename().string());
    const std::string text = textOf(path);
    const auto state = fromText(text, {});
    REQUIRE_MESSAGE(state, (state ? "" : state.error().message()));
    CHECK(toText(*state) == text);
    REQUIRE(board.app->setState(text, true));
    CHECK(board.app->state() == text);
  }
}

TEST_CASE("files: a mask of numbers is a bias that is edited, undone, saved and grows with the tokens") {
  Document d(read(layer(kBias)));
  const State& s = d.state();
  REQUIRE(s.biasKind == Bias::perHead);
  CHECK(s.bias.heads() == 2);
  CHECK(std::isinf(s.bias.at(0, 0, 2)));
  CHECK(s.painted.empty());
  CHECK(isEditable(s, TensorId::bias));
  const auto again = fromText(toText(s), {});
  REQUIRE(again);
  CHECK(sameBits(*again, s));

  const State before = s;
  const auto undone = [&](const Edit& edit) {
    REQUIRE(check(s, edit));
    d.apply(edit);
    CHECK(check(s));
    const auto saved = fromText(toText(s), {});
    REQUIRE_MESSAGE(saved, (saved ? "" : saved.error().message()));
    CHECK(sameBits(*saved, s));
    return [&] {
      REQUIRE(d.undo());
      CHECK(sameBits(s, before));
    };
  };
  std::function<void()> back =
      undone(test::setCell(TensorId::bias, 1, 2, 0, -std::numeric_limits<float>::infinity()));
  CHECK(std::isinf(s.bias.at(1, 2, 0)));
  back();
  back = undone(InsertTokens{1, 2, Side::queries});
  CHECK(s.bias.rows() == 5);
  CHECK(s.bias.cols() == 5);
  CHECK(s.bias.at(0, 1, 1) == 0.0f);
  CHECK(std::isinf(s.bias.at(0, 0, 4)));
  CHECK(s.bias.at(1, 4, 3) == 3.0f);
  back();
  back = undone(RemoveTokens{0, 1, Side::queries});
  CHECK(s.bias.cols() == 2);
  CHECK(s.bias.at(1, 1, 1) == 4.0f);
  back();
  back = undone(test::set(OptionId::heads, 1.0));
  CHECK(s.biasKind == Bias::shared);
  CHECK(s.bias.heads() == 1);
  back();
  back = undone(test::set(OptionId::cross, true));
  back();
  back = undone(test::set(OptionId::batch, 2.0));
  CHECK(s.items[1].bias.rows() == 3);
  back();
  back = undone(Randomize{7, {}});
  CHECK(sameBits(s.bias, before.bias));
  back();

  CHECK(test::refusal(
            check(s, test::setCell(TensorId::bias, 0, 0, 0, std::numeric_limits<float>::infinity()))) ==
        "bias[0][0][0]: infinity cannot be used; give a finite number.");
  CHECK(test::refusal(check(test::start(), test::setCell(TensorId::bias, 0, 0, 0, 1))) ==
        "bias: there is none here; open a file whose mask is of numbers.");
}

TEST_CASE("files: a bias explains itself and is among the sources") {
  const State s = read(layer(kBias));
  attention::Trace trace;
  attention::forward(spec(s), inputs(s), trace);
  const auto said = attention::explain({spec(s), inputs(s), trace}, {TensorId::biased, 0, 1, 0}, s.labels, 2)
                        .text()
                        .english();
  CHECK(said.find("bias") != std::string::npos);
  CHECK(said.find("−2") != std::string::npos);
  const auto hidden =
      attention::explain({spec(s), inputs(s), trace}, {TensorId::masked, 0, 0, 2}, s.labels, 2)
          .text()
          .english();
  CHECK(hidden.find("bias of −∞") != std::string::npos);
  const auto found = [](const std::vector<attention::Region>& regions, TensorId id, int head) {
    return std::any_of(regions.begin(), regions.end(),
                       [&](const auto& r) { return r.tensor == id && r.head == head; });
  };
  CHECK(found(attention::sources(spec(s), inputs(s), {TensorId::weights, 1, 1, 1}), TensorId::bias, 1));
  CHECK_FALSE(found(attention::sources(spec(s), inputs(s), {TensorId::weights, 1, 1, 1}), TensorId::bias, 0));
  CHECK(found(attention::feeds(spec(s), inputs(s), {TensorId::bias, 1, 1, 1}), TensorId::weights, 1));
  CHECK_FALSE(found(attention::feeds(spec(s), inputs(s), {TensorId::bias, 1, 1, 1}), TensorId::weights, 0));
}

TEST_CASE("files: a bias in a state text is read strictly") {
  const std::string text = toText(read(layer(kBias)));
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string changed = text;
    const std::size_t at = changed.find(from, changed.find("\"bias\""));
    REQUIRE(at != std::string::npos);
    return tried(changed.replace(at, from.size(), to));
  };
  CHECK(with("\"-inf\"", "\"-inf\"") == "accepted");
  CHECK(with("\"-inf\"", "\"inf\"") ==
        "bias.data[2]: infinity cannot be added; use numbers, or \"-inf\" to mask.");
  CHECK(with("\"-inf\"", "-1e39").starts_with("bias.data[2]: the number is too large for 32 bits"));
  CHECK(with("\"-inf\"", "\"none\"").starts_with("bias.data"));
  CHECK(with("[2, 3, 3]", "[3, 3, 2]").starts_with("bias.shape: [3, 3, 2] does not fit"));
  // In other places "-inf" and "inf" are ordinary text.
  CHECK(
      tried(
          R"({"version": 1, "labels": ["-inf", "inf"], "q": [[[1],[2]]], "k": [[[1],[2]]], "v": [[[1],[2]]]})") ==
      "accepted");
  CHECK(tried(R"({"version": 1, "q": [[["-inf"]]], "k": [[[1]]], "v": [[[1]]]})").starts_with("q["));
}

TEST_CASE("files: lengths are looked at before anything is made of them") {
  const auto refusedFast = [](const std::string& text, std::string_view part) {
    const std::string said = tried(text);
    CAPTURE(said.substr(0, 200));
    CHECK(said.size() < 400);
    CHECK(said.find(part) != std::string::npos);
  };
  for (const std::string size : {"4294967298", "9007199254740993", "1e300", "-1", "2147483648"})
    refusedFast(layer("\"mask\": {\"shape\": [" + size + ", 1], \"data\": [1]}"), "mask.shape[0]: ");
  refusedFast(layer(R"("mask": {"shape": [2147483647, 2147483647, 2147483647, 2147483647], "data": [1]})"),
              "mask.data: ");
  std::string axes = "\"mask\": {\"data\": [1], \"shape\": [1";
  for (int i = 0; i < 1'000'000; ++i) axes += ",1";
  refusedFast(layer(axes + "]}"), "more than 32 sizes");
  refusedFast("{\"version\": 1, \"k\": [[[1]]], \"v\": [[[1]]], \"q\": " + axes.substr(8) + "]}}",
              "use at most 4");
  refusedFast(
      R"({"version": 1, "q": {"shape": [4294967298, 1, 1], "data": [1]}, "k": [[[1]]], "v": [[[1]]]})",
      "q.shape[0]: ");
  std::string fields = "{\"q\": [[1]]";
  for (int i = 0; i < 200'000; ++i) fields += ",\"f" + std::to_string(i) + "\":1";
  refusedFast(fields + "}", "more than 100000 tensors");
  std::string options = "\"options\": {\"causal\": true";
  for (int i = 0; i < 200'000; ++i) options += ",\"o" + std::to_string(i) + "\":1";
  refusedFast(layer(options + "}"), "more than 1000");
  // Longer than the labels of the longest layer, also where they are as long as they may be.
  const std::size_t longest = std::size_t{attention::Limits::tokens} * (document::kLabelBytes + 1);
  refusedFast(layer("\"labels\": \"" + std::string(longest + 1, 'a') + "\""), "labels: the sentence has ");
  // Of the longest texts that are read at all, the sanitizers see a tenth.
  refusedFast(layer("\"labels\": \"" +
                    [] {
                      std::string words;
                      for (int i = 0; i < test::rounds(30'000'000); ++i) words += "a ";
                      return words;
                    }() +
                    "\""),
              "labels: ");
  refusedFast(std::string(300u << 20, 'a'), "bytes are too many");
  CHECK(test::refusal(fromTsv(std::string(300u << 20, '1'))).find("bytes are too many") != std::string::npos);
  std::string cells;
  for (int i = 0; i < 30'000'000; ++i) cells += "1\t";
  CHECK(test::refusal(fromTsv(cells)).find("numbers") != std::string::npos);
}
