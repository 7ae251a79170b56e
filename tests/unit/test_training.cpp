// Training: the gradients of whole models against a version in double, every task learned in a given number
// of steps, runs that are reproducible bit for bit, and errors.
#include <doctest/doctest.h>

#include <array>
#include <set>

#include "base/random.h"
#include "reference/tape.h"
#include "thorough.h"
#include "training/trainer.h"

using namespace training;
using attention::Normalizer;
using attention::Score;
using attention::kernels::Kernel;
namespace tape = attention::tape;

namespace {

/// The largest error of the float gradients of a whole model, relative to the largest of them.
constexpr double kWithin = 2e-5;

Setup small(Task task) {
  Setup s = recommended(task);
  s.layers = 2, s.heads = 2, s.modelDim = 8, s.batch = 3, s.seed = 5;
  return s;
}

std::unique_ptr<Trainer> trainerOf(const Setup& setup, Kernel kernel = attention::kernels::best()) {
  auto made = Trainer::of(setup, kernel);
  REQUIRE_MESSAGE(bool(made), (made ? "" : made.error().message()));
  return std::move(*made);
}

/// A simple version of the model: one sentence at a time, and the sum of its −log p. N is double, or a number
/// on a tape.
template <class N>
class Plain {
 public:
  using Row = std::vector<N>;
  using Rows = std::vector<Row>;

  Plain(const Setup& setup, const Model& model, const std::vector<N>& numbers)
      : s_(setup),
        model_(model),
        numbers_(numbers) {}

  N loss(const Sequence& sequence) {
    Rows source;
    if (!sequence.source.empty()) {
      source = stack(embed("encoder.", sequence.source), "encoder.", {}, false);
    }
    const Rows x = stack(embed("", sequence.tokens), "", source, s_.causal || !sequence.source.empty());
    const Rows logits = tape::connected<N>(x, get("unembedding"), get("unembedding_bias"));
    N sum = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (sequence.targets[i] < 0) continue;
      N total = 0.0;
      for (const N& logit : logits[i]) total = total + exp(logit);
      sum = sum - logarithm(exp(logits[i][static_cast<std::size_t>(sequence.targets[i])]) / total);
    }
    return sum;
  }

 private:
  static double logarithm(double a) { return std::log(a); }
  static tape::Real logarithm(const tape::Real& a) { return tape::made(std::log(a.value), a, 1.0 / a.value); }
  static double value(double a) { return a; }
  static double value(const tape::Real& a) { return a.value; }
  static double exp(double a) { return std::exp(a); }
  static tape::Real exp(const tape::Real& a) { return tape::exp(a); }
  static double root(double a) { return std::sqrt(a); }
  static tape::Real root(const tape::Real& a) { return tape::sqrt(a); }
  static double bend(double a) { return std::tanh(a); }
  static tape::Real bend(const tape::Real& a) { return tape::tanh(a); }

  Rows get(const std::string& name) const {
    for (const Parameter& p : model_.parameters()) {
      if (p.name != name) continue;
      Rows rows;
      for (int r = 0; r < p.rows; ++r) {
        const auto from =
            numbers_.begin() + static_cast<std::ptrdiff_t>(p.offset) + std::ptrdiff_t{r} * p.columns;
        rows.emplace_back(from, from + p.columns);
      }
      return rows;
    }
    return {};
  }

  Rows embed(const std::string& stack, const std::vector<int>& tokens) const {
    const Rows table = get(stack + "embedding"), places = get(stack + "positions");
    Rows x;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      x.push_back(table[static_cast<std::size_t>(tokens[i])]);
      for (std::size_t c = 0; c < x[i].size(); ++c) {
        const double angle =
            static_cast<double>(i) * std::pow(10000.0, -2.0 * static_cast<double>(c / 2) / s_.modelDim);
        if (s_.position == Positions::sinusoidal)
          x[i][c] = x[i][c] + N(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
        if (s_.position == Positions::learned) x[i][c] = x[i][c] + places[i][c];
      }
    }
    return x;
  }

  Rows norm(const Rows& x, const std::string& gamma, const std::string& delta) const {
    return s_.layerNorm ? tape::normalised<N>(x, get(gamma), get(delta), double{1e-5f}) : x;
  }

  Rows joined(const Rows& x, const Rows& branch) const {
    return s_.residual ? tape::sum<N>(x, branch) : branch;
  }

  Rows stack(Rows x, const std::string& name, const Rows& memory, bool isCausal) const {
    for (int l = 0; l < s_.layers; ++l) {
      const std::string layer = name + "layers." + std::to_string(l) + ".";
      const Rows h = norm(x, layer + "gamma_1", layer + "delta_1");
      x = joined(x, attended(h, h, layer, isCausal, true));
      if (!memory.empty()) {
        x = joined(x, attended(norm(x, layer + "cross.gamma_1", layer + "cross.delta_1"), memory,
                               layer + "cross.", false, false));
      }
      if (!s_.feedForward) continue;
      Rows hidden = tape::connected<N>(norm(x, layer + "gamma_2", layer + "delta_2"), get(layer + "w_1"),
                                       get(layer + "b_1"));
      for (Row& row : hidden)
        for (N& n : row) n = value(n) > 0 ? n : N(0.0);
      x = joined(x, tape::connected<N>(hidden, get(layer + "w_2"), get(layer + "b_2")));
    }
    return norm(x, name + "gamma", name + "delta");
  }

  void turn(Rows& x) const {
    if (s_.position != Positions::rotary) return;
    const int dim = s_.modelDim / s_.heads;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (int c = 0; c < s_.modelDim; c += 2) {
        const double angle = static_cast<double>(i) * std::pow(10000.0, -static_cast<double>(c % dim) / dim);
        const auto at = static_cast<std::size_t>(c);
        const N a = x[i][at], b = x[i][at + 1];
        x[i][at] = a * N(std::cos(angle)) - b * N(std::sin(angle)),
        x[i][at + 1] = a * N(std::sin(angle)) + b * N(std::cos(angle));
      }
    }
  }

  /// The product w·v with the matrix of one head.
  Row times(const Rows& w, int head, const Row& v) const {
    Row out(v.size(), N(0.0));
    for (std::size_t r = 0; r < v.size(); ++r) {
      for (std::size_t c = 0; c < v.size(); ++c)
        out[r] = out[r] + w[static_cast<std::size_t>(head) * v.size() + r][c] * v[c];
    }
    return out;
  }
  N dot(const Row& a, const Row& b) const {
    N sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i];
    return sum;
  }

  N score(const std::string& name, int head, const Row& q, const Row& k) const {
    switch (s_.score) {
      case Score::dot: return dot(q, k);
      case Score::scaled: return dot(q, k) / N(std::sqrt(static_cast<double>(q.size())));
      case Score::general: return dot(q, times(get(name + "w_a"), head, k));
      case Score::additive: {
        Row a = times(get(name + "w_a"), head, q);
        const Row b = times(get(name + "u_a"), head, k);
        for (std::size_t i = 0; i < a.size(); ++i) a[i] = bend(a[i] + b[i]);
        return dot(get(name + "v_a")[static_cast<std::size_t>(head)], a);
      }
      case Score::cosine: return dot(q, k) / (root(dot(q, q)) * root(dot(k, k)));
    }
    return 0.0;
  }

  Rows attended(const Rows& from, const Rows& to, const std::string& name, bool isCausal,
                bool isBiased) const {
    Rows q = tape::connected<N>(from, get(name + "w_q"), {}),
         k = tape::connected<N>(to, get(name + "w_k"), {});
    const Rows v = tape::connected<N>(to, get(name + "w_v"), {});
    turn(q), turn(k);
    const auto dim = static_cast<std::size_t>(s_.modelDim / s_.heads);
    Rows concat(q.size(), Row(q[0].size(), N(0.0)));
    for (int h = 0; h < s_.heads; ++h) {
      const std::size_t first = static_cast<std::size_t>(h) * dim;
      const auto part = [&](const Row& row) {
        return Row(row.begin() + static_cast<std::ptrdiff_t>(first),
                   row.begin() + static_cast<std::ptrdiff_t>(first + dim));
      };
      for (std::size_t i = 0; i < q.size(); ++i) {
        Row weights;
        N total = 0.0;
        for (std::size_t j = 0; j < k.size() && (!isCausal || j <= i); ++j) {
          N s = score(name, h, part(q[i]), part(k[j]));
          const double distance = std::abs(static_cast<double>(i) - static_cast<double>(j));
          if (isBiased && s_.position == Positions::alibi)
            s = s - N(std::exp2(-8.0 * (h + 1) / s_.heads) * distance);
          weights.push_back(s_.normalizer == Normalizer::sigmoid ? N(1.0) / (N(1.0) + exp(N(0.0) - s))
                                                                 : exp(s));
          total = total + weights.back();
        }
        for (std::size_t j = 0; j < weights.size(); ++j) {
          const N w = s_.normalizer == Normalizer::sigmoid ? weights[j] : weights[j] / total;
          for (std::size_t c = 0; c < dim; ++c)
            concat[i][first + c] = concat[i][first + c] + w * v[j][first + c];
        }
      }
    }
    return tape::connected<N>(concat, get(name + "w_o"), {});
  }

  const Setup& s_;
  const Model& model_;
  const std::vector<N>& numbers_;
};

template <class N>
N lossOf(const Setup& setup, const Model& model, const std::vector<N>& numbers,
         const std::vector<Sequence>& sequences) {
  N sum = 0.0;
  for (const Sequence& s : sequences) sum = sum + Plain<N>(setup, model, numbers).loss(s);
  return sum;
}

/// The largest error of the gradient of the sum of −log p, compared with that on a tape, relative to its
/// largest number. With `differences` the tape itself is compared with central differences.
double worstGradient(const Setup& setup, Kernel kernel = attention::kernels::best(),
                     bool differences = false) {
  auto examples = Examples::of(setup);
  REQUIRE(bool(examples));
  Model model(setup, *examples, 4, kernel);
  std::vector<float> numbers(model.size()), gradient(model.size());
  model.initialise(numbers.data());
  base::NormalRandom noise(9);  // so that norms and biases do not have their initial values
  for (float& n : numbers) n += 0.1f * static_cast<float>(noise.next());
  std::vector<Sequence> sequences{examples->heldOut[0], examples->heldOut[1]};
  Batch batch;
  for (const Sequence& s : sequences) batch.add(s);
  const Scores found = model.forward(numbers.data(), batch, {});
  model.backward(numbers.data(), batch, 1.0f, gradient.data());

  tape::Tape onTape;
  std::vector<tape::Real> reals;
  for (const float n : numbers) reals.push_back(onTape.input(double{n}));
  const tape::Real loss = lossOf(setup, model, reals, sequences);
  CHECK(found.loss == doctest::Approx(loss.value).epsilon(1e-5));
  const std::vector<double> exact = onTape.gradients(loss);
  double most = 0, worst = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) most = std::max(most, std::abs(exact[i]));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    worst = std::max(worst, std::abs(exact[i] - double{gradient[i]}));
  if (differences) {
    std::vector<double> doubles(numbers.begin(), numbers.end());
    for (std::size_t i = 0; i < numbers.size(); i += 23) {
      constexpr double kStep = 1e-5;
      doubles[i] += kStep;
      const double above = lossOf(setup, model, doubles, sequences);
      doubles[i] -= 2 * kStep;
      const double below = lossOf(setup, model, doubles, sequences);
      doubles[i] += kStep;
      CHECK(std::abs((above - below) / (2 * kStep) - exact[i]) <= 1e-6 * most);
    }
  }
  return worst / most;
}

}  // namespace

TEST_CASE("training: products of small matrices by every kernel, of any shape, against double") {
  base::NormalRandom random(3);
  for (const Kernel kernel : attention::kernels::available()) {
    for (const auto& [rows, columns, depth] :
         {std::array{1, 1, 1}, {4, 16, 3}, {5, 33, 7}, {3, 28, 300}, {17, 7, 64}, {8, 64, 1}, {2, 5, 0}}) {
      for (const bool isTransposed : {false, true}) {
        const auto size = [](int a, int b) {
          return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
        };
        std::vector<float> a(size(rows, depth)), b(size(depth, columns)), c(size(rows, columns)), before;
        for (auto* m : {&a, &b, &c})
          for (float& n : *m) n = static_cast<float>(random.next());
        before = c;
        attention::kernels::product(
            kernel, {rows, columns, depth, a.data(), isTransposed ? 1 : depth, isTransposed ? rows : 1,
                     b.data(), columns, c.data(), columns, true});
        for (int i = 0; i < rows; ++i) {
          for (int j = 0; j < columns; ++j) {
            double exact = double{before[size(i, columns) + static_cast<std::size_t>(j)]};
            for (int k = 0; k < depth; ++k) {
              exact += double{a[isTransposed ? size(k, rows) + static_cast<std::size_t>(i)
                                             : size(i, depth) + static_cast<std::size_t>(k)]} *
                       double{b[size(k, columns) + static_cast<std::size_t>(j)]};
            }
            CHECK(std::abs(double{c[size(i, columns) + static_cast<std::size_t>(j)]} - exact) <=
                  (depth + 1) * 0x1p-23 * 16 * 5);
          }
        }
      }
    }
  }
}

TEST_CASE(
    "training: gradients of a whole model of two layers, against a tape in double and central differences") {
  for (const Task task : {Task::tags, Task::translate})
    CHECK(worstGradient(small(task), attention::kernels::best(), true) <= kWithin);
}

TEST_CASE("training: gradients with every kernel, position, score and normaliser, and without each part") {
  for (const Kernel kernel : attention::kernels::available())
    CHECK(worstGradient(small(Task::tags), kernel) <= kWithin);
  for (int i = 0; i < 5; ++i) {
    for (const Task task : {Task::tags, Task::translate}) {
      Setup s = small(task);
      s.position = static_cast<Positions>(i);
      CAPTURE(i);
      CHECK(worstGradient(s) <= kWithin);
    }
    Setup s = small(Task::tags);
    s.score = static_cast<Score>(i), s.causal = i % 2 == 0;
    CHECK(worstGradient(s) <= kWithin);
  }
  Setup s = small(Task::tags);
  s.normalizer = Normalizer::sigmoid;
  CHECK(worstGradient(s) <= kWithin);
  for (bool Setup::* part : {&Setup::feedForward, &Setup::layerNorm, &Setup::residual}) {
    Setup without = small(Task::tags);
    without.*part = false;
    CHECK(worstGradient(without) <= kWithin);
  }
}

TEST_CASE("training: each task is learned, in so many steps") {
  struct Learned {
    Task task;
    int steps;
    float accuracy, watched;
  };
  // The limits leave room for the different rounding of kernels, which makes their runs diverge.
  for (const Learned& l : {Learned{Task::tags, 300, 0.99f, 0.99f},
                           {Task::previous, 400, 0.96f, 0.25f},
                           {Task::induction, 700, 0.87f, 0.35f},
                           {Task::reverse, 500, 0.95f, 0.7f},
                           {Task::most_frequent, 500, 0.93f, -2},
                           {Task::sort, 800, 0.91f, -2},
                           {Task::translate, 200, 0.96f, 0.4f}}) {
    const int steps = test::kSanitized ? 20 : l.steps;  // each step goes through memory like the one before
    const auto trainer = trainerOf(recommended(l.task));
    const Measure before = trainer->measure();
    trainer->run(steps);
    CAPTURE(kTaskNames[static_cast<int>(l.task)]);
    CHECK(trainer->steps() == steps);
    const Measure& after = trainer->measure();
    CHECK(before.accuracy < 0.5f);
    CHECK(after.loss < before.loss);
    if (test::kSanitized) continue;
    CHECK(after.accuracy >= l.accuracy);
    CHECK(after.watched >= l.watched);
    CHECK(after.loss < 0.3f * before.loss);
  }
}

TEST_CASE(
    "training: what attention adds to I saw a saw: a verb and a noun, and one answer for all where no head "
    "looks") {
  for (const std::uint32_t seed : {7u, 1u, 2u}) {
    if (test::kSanitized && seed != 7) continue;
    Setup s = recommended(Task::tags);
    s.seed = seed;
    CHECK(s == [&] {
      Setup begun;
      begun.seed = seed;
      return begun;
    }());  // the initial setup of the page
    const auto trainer = trainerOf(s);
    trainer->run(300);
    Answer answer;
    trainer->answer(trainer->examples().heldOut[0], trainer->numbers(), 0, answer);
    REQUIRE(trainer->examples().sentence(answer.sequence) == "I saw a saw");
    const auto noun = [&](int word) {
      return answer.probabilities[static_cast<std::size_t>(word) * trainer->examples().classes.size() +
                                  static_cast<std::size_t>(trainer->examples().noun)];
    };
    CHECK(answer.wrong == 0);
    CHECK(noun(1) < 0.05f);
    CHECK(noun(3) > 0.9f);
    CHECK(trainer->measure().watched >= 0.99f);
    const Measure without = trainer->measureOf(trainer->numbers(), 0b1111);
    CHECK(without.watched < 0.75f);
    CHECK((without.confusion[1][1] == 0 ||
           without.confusion[0][0] == 0));  // both meanings of "saw" get the same answer
  }
}

TEST_CASE("training: every saw is counted, whatever the model takes it for") {
  const auto trainer = trainerOf(recommended(Task::tags));
  const Examples& examples = trainer->examples();
  for (const int steps : {0, 100}) {
    trainer->run(steps);
    const Trainer::Said counts = trainer->saidOf(trainer->measure());
    Trainer::Said wanted{};
    Answer answer;
    for (const Sequence& s : examples.heldOut) {
      trainer->answer(s, trainer->numbers(), 0, answer);
      for (std::size_t i = 0; i < s.tokens.size(); ++i) {
        if (s.tokens[i] != examples.saw) continue;
        REQUIRE((s.targets[i] == examples.noun || s.targets[i] == examples.verb));
        const int said = answer.said[i];
        ++wanted[s.targets[i] == examples.verb][said == examples.noun ? 0 : said == examples.verb ? 1 : 2];
      }
    }
    CHECK(counts == wanted);
    if (steps == 0) CHECK(counts[0][2] + counts[1][2] > 0);
  }
}

TEST_CASE("training: every optimiser lowers the loss, with dropout too") {
  for (const auto& [optimizer, rate] :
       {std::pair(Optimizer::sgd, 0.3), {Optimizer::momentum, 0.03}, {Optimizer::adam, 0.003}}) {
    Setup s = recommended(Task::tags);
    s.optimizer = optimizer, s.rate = rate, s.dropout = 0.1;
    const auto trainer = trainerOf(s);
    const float before = trainer->measure().loss;
    trainer->run(150);
    CHECK(trainer->measure().loss < 0.5f * before);
  }
}

TEST_CASE("training: the same setup and kernel give the same run, bit for bit, and another seed another") {
  Setup s = recommended(Task::tags);
  s.dropout = 0.2;
  const auto first = trainerOf(s), second = trainerOf(s);
  first->run(40);
  while (second->steps() < 40) {  // in pieces, looking at the sentences in between
    second->advance();
    Answer answer;
    second->answer(second->examples().heldOut[0], second->numbers(), 1, answer);
    if (second->steps() == 20) (void)second->measureOf(second->numbers(), 0);
  }
  CHECK(std::equal(first->numbers().begin(), first->numbers().end(), second->numbers().begin()));
  CHECK(first->measure().loss == second->measure().loss);
  s.seed = 8;
  const auto other = trainerOf(s);
  other->run(40);
  CHECK_FALSE(std::equal(first->numbers().begin(), first->numbers().end(), other->numbers().begin()));
}

TEST_CASE("training: what is held out is never drawn") {
  for (int i = 0; i < 7; ++i) {
    auto examples = Examples::of(recommended(static_cast<Task>(i)));
    REQUIRE(bool(examples));
    const auto key = [](const Sequence& s) { return std::pair(s.source, s.tokens); };
    std::set<std::pair<std::vector<int>, std::vector<int>>> held;
    for (const Sequence& s : examples->heldOut) held.insert(key(s));
    if (i == 0) CHECK(examples->sentence(examples->heldOut[0]) == "I saw a saw");
    CHECK(held.size() >= 60);
    Sequence s;
    for (std::uint64_t n = 0; n < 3000; ++n) {
      examples->draw(n, s);
      REQUIRE(held.count(key(s)) == 0);
      REQUIRE(s.tokens.size() == s.targets.size());
      REQUIRE(s.tokens.size() <= static_cast<std::size_t>(examples->longest));
    }
  }
}

TEST_CASE("training: memory and history stay within bounds over 100,000 steps") {
  Setup s = recommended(Task::tags);
  s.layers = s.heads = s.batch = 1, s.modelDim = 4, s.feedForward = s.layerNorm = false,
  s.optimizer = Optimizer::sgd, s.rate = 0.01;
  const auto trainer = trainerOf(s);
  trainer->run(2000);
  const std::size_t early = trainer->bytes();
  trainer->run(100'000);
  CHECK(trainer->steps() == 100'000);
  CHECK(trainer->bytes() <= early + History::kBytes);
  CHECK(trainer->history().bytes() <= History::kBytes);
  CHECK(trainer->history().points().front().step == 1);
  CHECK(trainer->history().points().back().step == 100'000);
  const std::size_t late = trainer->history().kept().size();
  CHECK(late >= 90);
  CHECK(trainer->history().at(0)->step == 0);
}

TEST_CASE("training: a history of large models is thinned to 16 MB") {
  History history(1'000'000);
  const std::vector<float> numbers(1'000'000);
  for (int step = 1; step <= 40; ++step) history.keep(step, numbers);
  CHECK(history.bytes() <= History::kBytes);
  CHECK(history.kept().back().step == 40);
  CHECK(history.at(39)->step <= 39);
}

TEST_CASE("training: a rate that blows up stops the run at the first number that is not finite") {
  Setup s = recommended(Task::tags);
  s.optimizer = Optimizer::sgd, s.rate = 1000, s.layerNorm = false;
  const auto trainer = trainerOf(s);
  trainer->run(100);
  REQUIRE(trainer->stopped());
  CHECK(trainer->stopped()->field == "train_rate");
  CHECK(trainer->stopped()->message().find("not a finite number") != std::string::npos);
  CHECK(trainer->stopped()->message().find("use a lower rate than 1000") != std::string::npos);
  CHECK(trainer->steps() < 100);
  for (const float n : trainer->numbers()) REQUIRE(std::isfinite(n));
  CHECK(std::isfinite(trainer->measure().loss));
  const int steps = trainer->steps();
  trainer->run(200);
  CHECK(trainer->steps() == steps);
}

TEST_CASE("training: heads that are switched off add nothing, and only then") {
  const auto trainer = trainerOf(recommended(Task::reverse));
  trainer->run(350);
  const float all = trainer->measure().accuracy;
  CHECK(trainer->measureOf(trainer->numbers(), 0b1111).accuracy < all - 0.3f);
  CHECK(trainer->measureOf(trainer->numbers(), 0).accuracy == all);
}

TEST_CASE(
    "training: own sentences are learned or looked at, and what cannot be read is refused by its line") {
  Setup s = recommended(Task::tags);
  s.sentences =
      "I saw a zebra\nthe/determiner zebra/noun saw/verb you/pronoun\nyou/pronoun like/verb the/determiner "
      "zebra/noun";
  const auto trainer = trainerOf(s);
  REQUIRE(trainer->examples().own.size() == 1);
  trainer->run(300);
  Answer answer;
  trainer->answer(trainer->examples().own[0], trainer->numbers(), 0, answer);
  REQUIRE(answer.said.size() == 4);
  CHECK(trainer->examples().classes[static_cast<std::size_t>(answer.said[3])] == "noun");
  CHECK(answer.maps.size() == 2);
  const auto refused = [](Task task, const char* sentences) {
    Setup wrong = recommended(task);
    wrong.sentences = sentences;
    const auto made = Trainer::of(wrong);
    REQUIRE_FALSE(bool(made));
    CHECK(made.error().field == "train_sentences");
    return made.error().message();
  };
  CHECK(refused(Task::tags, "I saw\nthe dog barks").find("line 2: \"dog\" is in no sentence to learn from") !=
        std::string::npos);
  CHECK(refused(Task::tags, "I/pronoun saw").find("line 1: \"saw\" has no part of speech") !=
        std::string::npos);
  CHECK(refused(Task::tags, "I/pronoun saw/verv")
            .find("\"verv\" is no part of speech; use one of pronoun, verb") != std::string::npos);
  CHECK(refused(Task::translate, "the bird sees it").find("\"bird\" is in no sentence to learn from") !=
        std::string::npos);
  CHECK(refused(Task::translate, "the bird =").find("one side of = is empty") != std::string::npos);
  CHECK(refused(Task::tags, "a a a a a a a a a a a a a a a a a").find("17 words; use at most 16") !=
        std::string::npos);
}

TEST_CASE("training: a sentence that is only asked for is translated, word after word") {
  Setup s = recommended(Task::translate);
  s.sentences = "the small black cat sees it\na white dog finds the small horse";
  const auto trainer = trainerOf(s);
  trainer->run(test::rounds(400));
  Answer answer;
  trainer->answer(trainer->examples().own[1], trainer->numbers(), 0, answer);
  CHECK(answer.maps.size() == 6);
  CHECK(!answer.said.empty());
  if (test::kSanitized) return;  // so few steps teach no French
  std::string french;
  for (const int word : answer.said)
    french += trainer->examples().classes[static_cast<std::size_t>(word)] + " ";
  CHECK(french == "un chien blanc trouve le petit cheval . ");
}

TEST_CASE("training: what does not fit is refused with a sentence") {
  const auto refused = [](auto change) {
    Setup s = recommended(Task::tags);
    change(s);
    const auto made = Trainer::of(s);
    REQUIRE_FALSE(bool(made));
    return made.error().message();
  };
  CHECK(refused([](Setup& s) { s.heads = 3; }) ==
        "train_heads: 3 heads do not divide d_model = 16; use a divisor of it.");
  CHECK(refused([](Setup& s) {
          s.modelDim = 6, s.position = Positions::rotary;
        }).find("turn pairs of columns") != std::string::npos);
  CHECK(refused([](Setup& s) { s.modelDim = 256, s.layers = 4; }).find("parameters") != std::string::npos);
  CHECK(refused([](Setup& s) { s.rate = 0; }).find("train_rate: 0 is not between") != std::string::npos);
}
