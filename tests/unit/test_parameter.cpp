// Learned parameters around the layer: drawn from seeds, and kept where they were edited.
#include <cmath>

#include "attention/steps/forward.h"
#include "document/derived.h"
#include "document_support.h"

using namespace document;
using test::refusal;

namespace {

using Id = ParameterId;

SetParameter cell(Id id, int row, int col, float value) { return {id, row, col, 1, 1, {value}}; }

std::vector<Id> all() {
  std::vector<Id> ids;
  for (int i = 0; i < kParameterCount; ++i) ids.push_back(static_cast<Id>(i));
  return ids;
}

BlockRun block(const State& state) {
  attention::Trace trace;
  attention::forward(spec(state), inputs(state), trace);
  return DerivedTensors(state, trace).block();
}

SegmentsRun segments(const State& state) {
  attention::Trace trace;
  attention::forward(spec(state), inputs(state), trace);
  return DerivedTensors(state, trace).segments();
}

}  // namespace

TEST_CASE("parameters: names are found, and each has the shape that the options ask for") {
  const State s = test::start();
  for (const Id id : all()) {
    CAPTURE(name(id));
    CHECK(parameterNamed(name(id)) == id);
    CHECK(s.parameters[id].empty());
    const Tensor numbers = parameter(s, id);
    CHECK(ParameterShape{numbers.rows(), numbers.cols()} == shapeOf(s, id));
  }
  CHECK(!parameterNamed("w_3"));
  const int width = s.heads * s.valueDim;
  CHECK(shapeOf(s, Id::w_1) == ParameterShape{width, 2 * width});
  CHECK(parameter(s, Id::gamma_2).at(0, 0, 0) == 1.0f);
  CHECK(parameter(s, Id::b_1).at(0, 0, 0) == 0.0f);
}

TEST_CASE("parameters: an edit is kept, said in the text and taken back bit for bit") {
  Document d(test::start());
  const State start = d.state();
  const std::string text = toText(start);
  d.takeChanges();
  for (const Id id : all()) {
    CAPTURE(name(id));
    CHECK(text.find(name(id)) == std::string::npos);
    CHECK(refusal(d.apply(cell(id, 0, 1, 0.25f))) == "accepted");
    CHECK(parameter(d.state(), id).at(0, 0, 1) == 0.25f);
    CHECK(parameter(d.state(), id).at(0, 0, 0) == seeded(start, id).at(0, 0, 0));
    CHECK(d.takeChanges().empty());
    const auto again = fromText(toText(d.state()), {});
    REQUIRE(refusal(again) == "accepted");
    CHECK(sameBits(*again, d.state()));
  }
  const State changed = d.state();
  for (int i = 0; i < kParameterCount; ++i) CHECK(d.undo());
  CHECK(sameBits(d.state(), start));
  CHECK(toText(d.state()) == text);
  while (d.redo()) {}
  CHECK(sameBits(d.state(), changed));
}

TEST_CASE("parameters: a drag is one step, and the numbers of the seed are not kept") {
  Document d(test::start());
  const State start = d.state();
  const float seedling = seeded(start, Id::w_1).at(0, 1, 0);
  for (const float value : {0.5f, 0.75f, 1.0f}) d.apply(cell(Id::w_1, 1, 0, value), 7);
  d.endGesture();
  CHECK(d.undo());
  CHECK(!d.canUndo());
  CHECK(sameBits(d.state(), start));
  d.apply(cell(Id::w_1, 1, 0, 3.0f));
  d.apply(cell(Id::w_1, 1, 0, seedling));
  CHECK(d.state().parameters[Id::w_1].empty());
  CHECK(d.undo());
  CHECK(parameter(d.state(), Id::w_1).at(0, 1, 0) == 3.0f);
}

TEST_CASE("parameters: another seed or another size drops those it is for, undo brings them back") {
  const std::pair<OptionId, Value> changes[] = {{OptionId::block_seed, 7.0},
                                                {OptionId::block_hidden, 3.0},
                                                {OptionId::segment_seed, 7.0},
                                                {OptionId::d_v, 5.0},
                                                {OptionId::mode, std::string("x")}};
  const Id kept[] = {Id::token_w, Id::gamma_1, Id::w_1, Id::token_b, Id::token_query};
  const Id lost[] = {Id::gamma_1, Id::w_1, Id::token_b, Id::gamma_1, Id::w_1};
  for (std::size_t i = 0; i < std::size(changes); ++i) {
    CAPTURE(option(changes[i].first).name);
    Document d(test::start());
    CHECK(refusal(d.apply(SetOption{OptionId::model_dim, 9.0})) == "accepted");
    for (const Id id : all()) d.apply(cell(id, 0, 0, 0.5f));
    const State before = d.state();
    CHECK(refusal(d.apply(SetOption{changes[i].first, changes[i].second})) == "accepted");
    CHECK(!d.state().parameters[kept[i]].empty());
    CHECK(d.state().parameters[lost[i]].empty());
    CHECK(refusal(check(d.state())) == "accepted");
    const State after = d.state();
    CHECK(d.undo());
    CHECK(sameBits(d.state(), before));
    CHECK(d.redo());
    CHECK(sameBits(d.state(), after));
  }
}

TEST_CASE("parameters: they reach the block and the segments") {
  Document d(test::start());
  using Stage = attention::BlockStage;
  const BlockRun before = block(d.state());
  d.apply(cell(Id::gamma_2, 0, 1, 2.0f));
  d.apply(cell(Id::delta_2, 0, 1, 10.0f));
  const BlockRun after = block(d.state());
  for (int r = 0; r < after.spec.rows; ++r) {
    CHECK(static_cast<double>(after.trace[Stage::norm_2].at(0, r, 1)) ==
          doctest::Approx(2 * static_cast<double>(before.trace[Stage::norm_2].at(0, r, 1)) + 10));
    CHECK(after.trace[Stage::norm_2].at(0, r, 0) == before.trace[Stage::norm_2].at(0, r, 0));
  }
  d.apply(cell(Id::b_1, 0, 0, 100.0f));
  CHECK(block(d.state()).trace[Stage::hidden_raw].at(0, 0, 0) ==
        doctest::Approx(100 + static_cast<double>(before.trace[Stage::hidden_raw].at(0, 0, 0))));
  d.apply(SetOption{OptionId::block_epsilon, 1.0});
  CHECK(block(d.state()).spec.epsilon == 1.0f);
  const Tensor zeros = Tensor(1, 1, shapeOf(d.state(), Id::token_query).cols);
  d.apply(
      SetParameter{Id::token_query, 0, 0, 1, zeros.cols(), {zeros.values().begin(), zeros.values().end()}});
  CHECK(static_cast<double>(segments(d.state()).trace.tokens.weights.at(0, 0, 0)) == doctest::Approx(0.5));
}

TEST_CASE("parameters: refusals by name") {
  const State s = test::start();
  const auto tried = [&](const SetParameter& edit) { return refusal(check(s, edit)); };
  CHECK(tried(cell(Id::gamma_1, 1, 0, 1))
            .starts_with("gamma_1: a block of 1 × 1 at row 1, column 0 is not inside; "));
  CHECK(tried(cell(Id::b_2, 0, 1, NAN)) == "b_2[0][1]: NaN cannot be used; give a finite number.");
  CHECK(tried({Id::w_1, 0, 0, 1, 2, {1}}) == "w_1: 1 values were given for 1 × 2 cells; give one a cell.");
  CHECK(refusal(check(s, OptionId::block_epsilon, 0.0)) == "block_epsilon: 0 is too small; use 1e-12 to 1.");
  State wide = s;
  wide.mode = Mode::x, wide.modelDim = 128;
  CHECK(
      refusal(check(wide, cell(Id::w_1, 0, 0, 1))) ==
      "w_1: it has 32768 numbers, and at most 8192 can be changed; use a smaller block_hidden or model_dim.");
  const std::string text = toText(s), start = text.substr(0, text.find_last_of('}'));
  CHECK(refusal(fromText(start + ", \"gamma_1\": [[1, 2]]}", {}))
            .starts_with("gamma_1.shape: [1, 2] does not fit; it must be [1, "));
  CHECK(refusal(fromText(start + ", \"b_2\": 3}", {})).starts_with("b_2: "));
}
