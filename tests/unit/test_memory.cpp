// The recurrent network that reads the sentence: against loops over its definition, and its gradients against
// differences.
#include <doctest/doctest.h>

#include <cmath>

#include "attention/experiments/experiment.h"
#include "attention/experiments/memory.h"
#include "derived.h"
#include "document/derived.h"
#include "document_support.h"
#include "layer.h"

using namespace attention;
using test::Random;

namespace {

struct Network {
  CellKind cell;
  Tensor x, w, u, b, wA, uA, vA;

  Network(CellKind kind, int tokens, int width, int units, Random& random) : cell(kind) {
    const int columns = partsOf(kind) * units;
    for (auto& [tensor, rows, cols] : {std::tuple(&x, tokens, width),
                                       {&w, width, columns},
                                       {&u, units, columns},
                                       {&b, 1, columns},
                                       {&wA, units, units},
                                       {&uA, units, units},
                                       {&vA, 1, units}}) {
      test::fill(*tensor = Tensor(1, rows, cols), random, 0.7f);
    }
  }
  MemoryTrace run() const {
    MemoryInputs in;
    in.cell.cell = cell, in.cell.x = &x, in.cell.w = &w, in.cell.u = &u, in.cell.b = &b;
    in.decoder.wA = &wA, in.decoder.uA = &uA, in.decoder.vA = &vA;
    REQUIRE(validate(in.cell));
    MemoryTrace trace;
    runMemory(in, trace);
    return trace;
  }
};

/// Both contexts in double, by their equations.
std::vector<std::vector<double>> contexts(const Network& net, int changedRow = -1, int changedCol = 0,
                                          double by = 0) {
  const int units = net.u.rows(), columns = net.w.cols();
  const auto n = static_cast<std::size_t>(units);
  std::vector<double> h(n), c(n);
  std::vector<std::vector<double>> states;
  for (int t = 0; t < net.x.rows(); ++t) {
    std::vector<double> z(static_cast<std::size_t>(columns));
    for (int j = 0; j < columns; ++j) {
      double sum = double{net.b.at(0, 0, j)};
      for (int i = 0; i < net.x.cols(); ++i) {
        const double x = double{net.x.at(0, t, i)} + (t == changedRow && i == changedCol ? by : 0.0);
        sum += x * double{net.w.at(0, i, j)};
      }
      for (int i = 0; i < units; ++i) sum += h[static_cast<std::size_t>(i)] * double{net.u.at(0, i, j)};
      z[static_cast<std::size_t>(j)] = sum;
    }
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (std::size_t i = 0; i < n; ++i) {
      if (net.cell == CellKind::tanh) {
        h[i] = std::tanh(z[i]);
      } else {
        c[i] = sigmoid(z[n + i]) * c[i] + sigmoid(z[i]) * std::tanh(z[2 * n + i]);
        h[i] = sigmoid(z[3 * n + i]) * std::tanh(c[i]);
      }
    }
    states.push_back(h);
  }
  std::vector<double> a;
  double sum = 0;
  for (const auto& state : states) {
    double score = 0;
    for (int m = 0; m < units; ++m) {
      double bent = 0;
      for (int i = 0; i < units; ++i) {
        bent += states.back()[static_cast<std::size_t>(i)] * double{net.wA.at(0, i, m)} +
                state[static_cast<std::size_t>(i)] * double{net.uA.at(0, i, m)};
      }
      score += double{net.vA.at(0, 0, m)} * std::tanh(bent);
    }
    a.push_back(std::exp(score)), sum += a.back();
  }
  std::vector<double> attended(n);
  for (std::size_t t = 0; t < states.size(); ++t) {
    for (std::size_t i = 0; i < n; ++i) attended[i] += a[t] / sum * states[t][i];
  }
  return {states.back(), attended};
}

}  // namespace

TEST_CASE("memory: both contexts are those of the equations, and the gradients what differences say") {
  Random random(31);
  for (const CellKind kind : {CellKind::tanh, CellKind::lstm}) {
    for (const auto& [tokens, width, units] : {std::tuple(1, 2, 1), {4, 3, 4}, {7, 6, 3}}) {
      CAPTURE(tokens);
      const Network net(kind, tokens, width, units, random);
      const MemoryTrace trace = net.run();
      const auto want = contexts(net);
      double sum = 0;
      for (const float w : trace.weights.values()) sum += double{w};
      CHECK(sum == doctest::Approx(1.0).epsilon(1e-6));
      CHECK(trace.cell.gates.empty() == (kind == CellKind::tanh));
      for (int way = 0; way < 2; ++way) {
        for (int n = 0; n < units; ++n)
          CHECK(std::abs(double{trace.contexts.at(0, way, n)} -
                         want[static_cast<std::size_t>(way)][static_cast<std::size_t>(n)]) < 1e-5);
      }
      for (int t = 0; t < tokens; ++t) {
        CHECK(trace.gradients.at(0, t, 0) == static_cast<float>(tokens - 1 - t));
        double squares[2] = {0, 0};
        for (int i = 0; i < width; ++i) {
          const auto above = contexts(net, t, i, 1e-5), below = contexts(net, t, i, -1e-5);
          for (std::size_t way = 0; way < 2; ++way) {
            for (std::size_t n = 0; n < static_cast<std::size_t>(units); ++n)
              squares[way] += std::pow((above[way][n] - below[way][n]) / 2e-5, 2);
          }
        }
        for (int way = 0; way < 2; ++way) {
          CHECK(double{trace.gradients.at(0, t, way + 1)} ==
                doctest::Approx(std::sqrt(squares[way])).epsilon(1e-3));
        }
      }
    }
  }
}

TEST_CASE(
    "memory: with nothing in the way attention's gradient is its weight, and the recurrent one vanishes or "
    "explodes") {
  for (const double scale : {0.5, 0.9, 1.0, 1.4}) {
    ReachSpec spec;
    spec.steps = 256, spec.recurrent = scale, spec.input = 0, spec.lead = 3;
    const std::vector<Reach> all = reach(spec);
    for (const Reach& r : all) {
      // Without input h is 0 and every Jacobian is U, so a change of h_1 becomes U^t times that change, with
      // norm scale^t. The powers of an orthogonal matrix have arbitrary directions, so the norm of their
      // weighted sum is at most the sum of their norms.
      CHECK(r.recurrent == doctest::Approx(std::pow(scale, r.distance)));
      double most = std::exp(3.0);
      for (int t = 1; t <= r.distance; ++t) most += std::pow(scale, t);
      CHECK(r.attentionGradient <= most / (std::exp(3.0) + r.distance) * (1 + 1e-9));
      CHECK(r.attention == doctest::Approx(std::exp(3.0) / (std::exp(3.0) + r.distance)));
    }
    CHECK(all[0].attentionGradient == doctest::Approx(1.0));
    CHECK(all[0].evenGradient == doctest::Approx(1.0));
    if (scale == 0.5) {
      CHECK(all.back().recurrent < 1e-70);
      CHECK(all.back().attentionGradient > 0.5 * all.back().attention);
    }
  }
}

TEST_CASE("memory: options and parameters are of the document, with undo, in the text") {
  using namespace document;
  State s = test::start();
  Document d(s);
  CHECK(toText(d.state()).find("memory_") == std::string::npos);
  CHECK(d.apply(SetOption{OptionId::memory_cell, std::string("lstm")}));
  CHECK(d.apply(SetOption{OptionId::memory_units, 3.0}));
  const Tensor bias = parameter(d.state(), ParameterId::memory_b);
  REQUIRE(bias.cols() == 12);
  for (int c = 0; c < 12; ++c)
    CHECK(bias.at(0, 0, c) == (c >= 3 && c < 6 ? 1.0f : 0.0f));  // the forget gates begin open: bias 1
  CHECK(d.apply(SetParameter{ParameterId::memory_u, 1, 2, 1, 1, {5.0f}}));
  const auto again = fromText(toText(d.state()), State{});
  REQUIRE(again);
  CHECK(sameBits(*again, d.state()));
  CHECK(parameter(*again, ParameterId::memory_u).at(0, 1, 2) == 5.0f);
  CHECK(d.apply(SetOption{OptionId::memory_units, 4.0}));  // another shape: drawn again
  CHECK(parameter(d.state(), ParameterId::memory_u).rows() == 4);
  CHECK(d.undo());
  CHECK(parameter(d.state(), ParameterId::memory_u).at(0, 1, 2) == 5.0f);
  CHECK(test::refusal(d.apply(SetOption{OptionId::memory_units, 17.0})) ==
        "memory_units: 17 is too large; use 1 to 16.");
  for (int i = 0; i < 3; ++i) CHECK(d.undo());
  CHECK(sameBits(d.state(), s));
}

TEST_CASE("memory: a decoder that asks anew for each word, from NumPy") {
  const nlohmann::json golden = test::derived();
  for (const auto& stored : golden.at("decoders")) {
    const std::string caseName = stored.at("name");
    CAPTURE(caseName);
    const auto& in = stored.at("inputs");
    const auto of = [&](const char* name) { return test::tensorOf(in.at(name)); };
    const Tensor h = of("h"), wA = of("wA"), uA = of("uA"), vA = of("vA"), u = of("u"), c = of("c");
    const DecoderInputs inputs{&h, &wA, &uA, &vA, &u, &c, stored.at("words").get<int>()};
    DecoderTrace trace;
    forwardDecoder(inputs, trace);
    const auto& wanted = stored.at("expected");
    test::compare(wanted.at("scores"), trace.scores, 4e-6);
    test::compare(wanted.at("weights"), trace.weights, 2e-6);
    test::compare(wanted.at("contexts"), trace.contexts, 4e-6);
    test::compare(wanted.at("states"), trace.states, 4e-6);
    for (int word = 0; word < inputs.words; ++word) {
      const float* query = word == 0 ? h.row(0, h.rows() - 1) : trace.states.row(0, word - 1);
      for (int n = 0; n < h.cols(); ++n) CHECK(trace.queries.at(0, word, n) == query[n]);
      for (int token = 0; token < h.rows(); ++token) {
        const Explanation e = explain(inputs, trace, word, token, {"I"}, 2);
        REQUIRE(e.terms.size() == 6);
        CHECK(e.terms[3].value == doctest::Approx(trace.scores.at(0, word, token)));
        CHECK(e.terms[5].value == doctest::Approx(trace.weights.at(0, word, token)));
      }
    }
  }
}

TEST_CASE(
    "memory: the decoder's first look is the one of the last state, and its words are of the document") {
  document::Document d(test::start());
  const auto run = [&] {
    attention::Trace trace;
    attention::forward(spec(d.state()), inputs(d.state()), trace);
    return document::DerivedTensors(d.state(), trace).memory();
  };
  const document::MemoryRun four = run();
  CHECK(four.trace.decoder.weights.rows() == 4);
  for (int t = 0; t < d.state().tokens; ++t)
    CHECK(four.trace.decoder.weights.at(0, 0, t) == four.trace.weights.at(0, t, 0));
  REQUIRE(d.apply(document::SetOption{document::OptionId::memory_words, 2.0}));
  REQUIRE(d.apply(document::SetParameter{document::ParameterId::decoder_c, 0, 0, 1, 1, {5.0f}}));
  const document::MemoryRun two = run();
  REQUIRE(two.trace.decoder.weights.rows() == 2);
  CHECK(two.trace.decoder.weights.at(0, 0, 1) == four.trace.decoder.weights.at(0, 0, 1));
  CHECK(two.trace.decoder.weights.at(0, 1, 1) != four.trace.decoder.weights.at(0, 1, 1));
  const auto again = document::fromText(document::toText(d.state()), document::State{});
  REQUIRE(again);
  CHECK(again->experiments.memory == d.state().experiments.memory);
  CHECK(again->parameters == d.state().parameters);
}
