// The table of tensors compared with the tensors of real layers, which the reference makes without using the
// table.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "attention/layer/explain.h"
#include "attention/reference/reference.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

/// Checks that each tensor of the layer has the shape given in the table, and that there are no others.
void checkTable(const Layer& layer) {
  const Inputs inputs = layer.inputs();
  REQUIRE(validate(layer.spec, inputs));
  const ReferenceTrace trace = reference(layer.spec, inputs);
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorRow& row = tensorRow(kLayerTensors[i]);
    CAPTURE(row.name);
    const auto size = [&](Size axis) { return sizeOf(axis, layer.spec, inputs); };
    const auto check = [&](int heads, int rows, int columns) {
      CHECK(heads == size(row.heads));
      CHECK(rows == size(row.rows));
      CHECK(columns == size(row.columns));
    };
    const ReferenceTensor* made = intermediate(trace, row.id);
    const Tensor* given = row.given ? inputs.*row.given : nullptr;
    if (intermediateOf<ReferenceTensor>(row.id))
      CHECK(exists(row.id, layer.spec, inputs) == (made != nullptr));
    else if (exists(row.id, layer.spec, inputs)) CHECK(given);
    if (made) check(made->heads, made->rows, made->cols);
    if (given) check(given->heads(), given->rows(), given->cols());
  }
}

}  // namespace

TEST_CASE("table: names are there once, and lead back to their tensors") {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(TensorId::present_v); ++i) {
    const auto id = static_cast<TensorId>(i);
    CHECK(names.insert(name(id)).second);
    CHECK(tensorNamed(name(id), {TensorId::x, TensorId::present_v}) == id);
    CHECK(tensorNamed(name(id)).has_value() == kLayerTensors.contains(id));
  }
  CHECK(!tensorNamed(""));
}

TEST_CASE("table: every layer has the tensors that it says, in those shapes") {
  Random random(11);
  for (const Score score : {Score::dot, Score::scaled, Score::general, Score::additive, Score::cosine}) {
    for (const Position position : {Position::none, Position::rotary, Position::alibi}) {
      if (score == Score::additive && position == Position::rotary)
        continue;  // a combination that no layer has
      Layer layer = test::withScore(test::direct(test::shape(4, 2, 3, 5, 4, 3), random), score, random);
      layer.spec.position = position, layer.spec.causal = true, layer.spec.causalOffset = 4;
      checkTable(layer);
      layer.spec.softcap = 2.0f, layer.spec.normalizer = Normalizer::sparsemax;
      checkTable(layer);
    }
  }
  for (const bool isWithOutput : {false, true}) {
    Layer self = test::projected(test::shape(2, 1, 4, 4, 2, 3), 3, 5, random);
    Layer cross = test::projected(test::shape(2, 1, 3, 4, 2, 3), 3, 5, random);
    self.withOutputWeights = cross.withOutputWeights = isWithOutput;
    checkTable(self), checkTable(cross);
    self.spec.position = cross.spec.position = Position::sinusoidal, cross.spec.causalOffset = 2;
    checkTable(self), checkTable(cross);
  }
}

TEST_CASE("table: a step reads the nearest one above that the layer has, and makes the layer no plain one") {
  Random random(12);
  Layer layer = test::direct(test::shape(1, 1, 2, 2, 2, 2), random);
  const auto before = [&](TensorId id) { return stepBefore(id, layer.spec, layer.inputs()); };
  CHECK(before(TensorId::masked) == TensorId::scores);
  CHECK(before(TensorId::raw) == TensorId::q);
  CHECK(isPlain(layer.spec));
  layer.spec.softcap = 2.0f;
  CHECK(before(TensorId::masked) == TensorId::softcapped);
  CHECK(before(TensorId::biased) == TensorId::softcapped);
  CHECK(before(TensorId::softcapped) == TensorId::scores);
  CHECK(!isPlain(layer.spec));
  layer.spec.position = Position::alibi;
  CHECK(before(TensorId::masked) == TensorId::biased);
  CHECK(before(TensorId::biased) == TensorId::softcapped);
  layer.spec.position = Position::rotary;
  CHECK(before(TensorId::raw) == TensorId::q_rotated);
}
