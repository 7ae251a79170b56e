// The layers of a model on one board: their pictures, moving between them, and the colours of cells.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app_fixture.h"
#include "attention/steps/forward.h"
#include "document/layers.h"
#include "document/preset.h"
#include "document/resize.h"
#include "document/text.h"
#include "document/training.h"
#include "files/export/figure.h"
#include "files/formats/format.h"
#include "files/layout/match.h"
#include "files/layout/opener.h"
#include "files/layout/packed.h"
#include "files/layout/state_tensors.h"
#include "files/layout/trained_model.h"
#include "painted.h"
#include "training/divergence.h"

namespace {

document::State layers(int count) {
  document::State s = *document::preset("i-saw-a-saw");
  s.batchOf = document::BatchOf::layers;
  document::resizeBatch(s, count);
  return s;
}

/// What a layer of the board computes.
attention::Trace traceOf(document::State s, int layer) {
  document::showItem(s, layer);
  attention::Trace trace;
  attention::forward(document::spec(s), document::inputs(s), trace);
  return trace;
}

}  // namespace

TEST_CASE("layers: the pictures are the weights of each layer, computed a piece at a time") {
  const document::State s = layers(4);
  document::LayerPictures pictures;
  const auto& all = pictures.of(s, 7, 0);
  CHECK((all.size() == 4 && all[0].version == 0));
  int calls = 0;
  for (; !pictures.isWhole() && calls < 100; ++calls) pictures.of(s, 7, 1e-9);
  CHECK(calls == 4 * (1 + s.heads));  // each layer is begun, and each of its heads added
  for (int layer = 0; layer < 4; ++layer) {
    const attention::Trace trace = traceOf(s, layer);
    const attention::Tensor& picture = all[static_cast<std::size_t>(layer)].weights;
    CHECK(picture.values().size() == trace.weights.values().size());
    CHECK(std::equal(picture.values().begin(), picture.values().end(), trace.weights.values().begin()));
  }
  pictures.of(s, 8, 0);  // another revision of the state
  CHECK(all[1].version == 0);
}

TEST_CASE("layers: thousands of tokens are taken some rows at a time, with the measures of whole heads") {
  document::State s = *document::preset("i-saw-a-saw");
  document::resize(s, document::settingsAfter(s, document::OptionId::tokens, 700.0));
  s.batchOf = document::BatchOf::layers;
  document::resizeBatch(s, 2);
  document::LayerPictures pictures;
  const auto& all = pictures.of(s, 7, 0);
  int calls = 0;
  for (; !pictures.isWhole() && calls < 10'000; ++calls) pictures.of(s, 7, 1e-9);
  const int rows = static_cast<int>(document::LayerPictures::kPiece /
                                    (s.keyTokens * (s.headDim + document::LayerPictures::kPerScore)));
  REQUIRE((rows > 0 && rows < s.tokens / 2));
  CHECK(calls == s.batch * (1 + s.heads * ((s.tokens + rows - 1) / rows)));
  for (int layer = 0; layer < s.batch; ++layer) {
    const attention::Trace trace = traceOf(s, layer);
    const document::LayerPicture whole =
        document::pictureOf(trace.weights, trace.masked, document::headsAsked(s));
    const document::LayerPicture& made = all[static_cast<std::size_t>(layer)];
    CHECK(std::ranges::equal(made.weights.values(), whole.weights.values()));
    CHECK(std::ranges::equal(made.received.values(), whole.received.values()));
    CHECK(made.peaks == whole.peaks);
    CHECK(made.tags == whole.tags);
    for (int h = 0; h < s.heads; ++h) {
      const auto at = static_cast<std::size_t>(h);
      const attention::HeadMeasures once =
          attention::measuresOf(attention::rowsOfHead(trace.weights, h), document::headsAsked(s).tokens,
                                {s.causal, attention::rowsOfHead(trace.masked, h)});
      CHECK(made.measures[at].patterns == once.patterns);
      CHECK(made.measures[at].distance == once.distance);
    }
  }
}

TEST_CASE("layers: of many weights all layers first get a picture of some rows, then the same as without") {
  document::State s = *document::preset("i-saw-a-saw");
  document::resize(s, document::settingsAfter(s, document::OptionId::tokens, 700.0));
  s.batchOf = document::BatchOf::layers;
  document::resizeBatch(s, 5);
  REQUIRE(std::int64_t{s.batch} * s.heads * s.tokens * s.tokens >= document::LayerPictures::kMany);
  document::LayerPictures pictures;
  const auto& all = pictures.of(s, 7, 0);
  const auto next = [&] { pictures.of(s, 7, 1e-9); };
  const int heads = s.batch * s.heads;
  for (int calls = 0; pictures.pictured(s) < heads && calls < 10'000; ++calls) {
    CHECK(pictures.heads(s) == 0);
    next();
  }
  for (int layer = 0; layer < s.batch; ++layer) {
    const document::LayerPicture& some = all[static_cast<std::size_t>(layer)];
    CHECK(some.each == 32);
    CHECK((some.tags.empty() && some.measures.empty() && some.received.empty() && some.mean.empty()));
    const attention::Trace trace = traceOf(s, layer);
    const float* const row = trace.weights.row(1, 32 + 16);
    CHECK(some.weights.at(1, 1, 0) == doctest::Approx(*std::max_element(row, row + 32)));
    CHECK(some.peaks[static_cast<std::size_t>(some.weights.rows() + 1)] ==
          doctest::Approx(*std::max_element(row, row + s.tokens)));
  }
  for (int calls = 0; !pictures.isWhole() && calls < 10'000; ++calls) {
    CHECK(pictures.pictured(s) == heads);
    next();
  }
  REQUIRE(pictures.isWhole());
  for (int layer = 0; layer < s.batch; ++layer) {
    const attention::Trace trace = traceOf(s, layer);
    const document::LayerPicture whole =
        document::pictureOf(trace.weights, trace.masked, document::headsAsked(s));
    const document::LayerPicture& made = all[static_cast<std::size_t>(layer)];
    CHECK(made.each == 1);
    CHECK(std::ranges::equal(made.weights.values(), whole.weights.values()));
    CHECK(made.peaks == whole.peaks);
    CHECK(made.tags == whole.tags);
  }
}

TEST_CASE(
    "layers: of a layer with X each head is projected when it is its turn, with keys that heads share too") {
  for (const auto& [tokens, kvHeads] : {std::pair{12.0, 2.0}, {12.0, 1.0}, {300.0, 1.0}}) {
    CAPTURE(tokens);
    document::State s = *document::preset("pronoun");
    document::resize(s, document::settingsAfter(s, document::OptionId::kv_heads, kvHeads));
    document::resize(s, document::settingsAfter(s, document::OptionId::tokens, tokens));
    s.batchOf = document::BatchOf::layers;
    document::resizeBatch(s, 2);
    document::LayerPictures pictures;
    const auto& all = pictures.of(s, 7, 1e9);
    REQUIRE(pictures.isWhole());
    for (int layer = 0; layer < s.batch; ++layer) {
      const attention::Trace trace = traceOf(s, layer);
      const document::LayerPicture whole =
          document::pictureOf(trace.weights, trace.masked, document::headsAsked(s));
      CHECK(
          std::ranges::equal(all[static_cast<std::size_t>(layer)].weights.values(), whole.weights.values()));
    }
  }
}

TEST_CASE("layers: a picture has its heads' mean, what each key gets, and how much a head looks at a word") {
  attention::Tensor weights(2, 3, 3);
  const float numbers[] = {1, 0, 0, 0.5f, 0.5f, 0, 0.25f, 0.25f, 0.5f,  //
                           1, 0, 0, 1,    0,    0, 0,     0.75f, 0.25f};
  std::copy(std::begin(numbers), std::end(numbers), weights.data());
  document::HeadsAsked asked{{}, true, true};
  const document::LayerPicture picture = document::pictureOf(weights, attention::Tensor(2, 3, 3), asked);
  CHECK(picture.mean.at(0, 1, 0) == 0.75f);
  CHECK(picture.mean.at(0, 2, 1) == 0.5f);
  CHECK(picture.received.at(0, 0, 0) == 0.75f);  // not from itself
  CHECK(picture.received.at(0, 1, 1) == 0.75f);
  CHECK(picture.received.at(0, 0, 2) == 0.0f);
  const int first[] = {0}, second[] = {1}, last[] = {2}, both[] = {0, 1};
  CHECK(document::lookAt(picture, 0, first, asked) == 0.375f);  // by two queries
  CHECK(document::lookAt(picture, 1, second, asked) == 0.75f);  // by the last one
  CHECK(document::lookAt(picture, 1, last, asked) == 0.0f);     // nobody can see it
  CHECK(document::lookAt(picture, 0, both, asked) == 0.5f);
  asked.causal = false;
  CHECK(document::lookAt(picture, 0, first, asked) == 0.375f);
  CHECK(document::lookAt(picture, 0, both, asked) == doctest::Approx(1.0f / 3));
  CHECK(document::lookAt(picture, 0, {}, asked) == 0.0f);
}

TEST_CASE("layers: of weights alone, keys whose weight is 0 are not among those that a query may look at") {
  attention::Tensor weights(1, 8, 8), masked(1, 8, 8);
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) {
      weights.at(0, i, j) = j <= i ? 1 / static_cast<float>(i + 1) : 0.0f;
      masked.at(0, i, j) = std::log(weights.at(0, i, j));
    }
  std::vector<int> tokens(8);
  std::iota(tokens.begin(), tokens.end(), 0);
  const document::HeadsAsked asked{tokens, false, true};
  const document::LayerPicture alone = document::pictureOf(weights, masked, asked);
  const document::HeadsAsked causal{tokens, true, true};
  const document::LayerPicture known = document::pictureOf(weights, attention::Tensor(1, 8, 8), causal);
  CHECK(alone.isCausal);
  CHECK(alone.tags == known.tags);
  CHECK(alone.tags[0] == attention::HeadTag{attention::HeadPattern::broad, 1});
  const int third[] = {2};
  CHECK(document::lookAt(alone, 0, third, asked) == document::lookAt(known, 0, third, causal));
  CHECK_FALSE(document::pictureOf(weights, attention::Tensor(1, 8, 8), asked).isCausal);
}

TEST_CASE("layers: a picture of many tokens keeps what is farthest from 0 in each block") {
  attention::Tensor weights(2, 300, 257);
  std::fill(weights.values().begin(), weights.values().end(), 0.0f);
  weights.at(1, 299, 256) = -0.5f, weights.at(1, 298, 255) = 0.25f;
  const document::LayerPicture picture = document::pictureOf(weights, attention::Tensor(2, 300, 257));
  CHECK(picture.weights.rows() == 100);
  CHECK(picture.weights.cols() == 86);
  CHECK(picture.weights.at(1, 99, 85) == -0.5f);
  CHECK(picture.weights.at(1, 99, 84) == 0.0f);
  CHECK(picture.peaks[199] == 0.5f);
  CHECK(picture.peaks[99] == 0.0f);
}

TEST_CASE("colours: one outlier does not make the scale of all others") {
  attention::Summaries summaries;
  document::State s = *document::preset("i-saw-a-saw");
  const auto reach = [&] {
    attention::Trace trace;
    const attention::Inputs inputs = document::inputs(s);
    attention::forward(document::spec(s), inputs, trace);
    summaries.begin(true);
    summaries.touchAll(document::spec(s), inputs, trace);
    return summaries.reach(attention::TensorId::q, s.q);
  };
  const float usual = reach();
  float largest = 0;
  for (const float x : s.q.values()) largest = std::max(largest, std::fabs(x));
  CHECK(usual == largest);
  s.q.at(0, 0, 0) = -1e30f;
  const float without = reach();
  CHECK(without > 0.0f);
  CHECK(without <= usual);
  s.q.at(0, 0, 0) = 3 * usual;  // large, but not an outlier
  CHECK(reach() == 3 * usual);
  std::fill(s.q.values().begin(), s.q.values().end(), 0.0f);
  CHECK(reach() == 0.0f);
  s.q.at(0, 1, 1) = 40;
  CHECK(reach() == 40.0f);  // a single number among zeros is not an outlier
}

TEST_CASE("layers: the board goes through them by keys, by a selector and on the page of all heads") {
  Fixture f;
  f.app().setState(document::toText(layers(3)), false);
  f.frame();
  f.type('j');
  CHECK(f.option("layer") == "1");
  CHECK(f.app().notice() == "Layer 2 of 3.");
  f.type('J');
  f.type('J');
  CHECK(f.option("layer") == "2");
  CHECK(f.app().undo());
  CHECK(f.option("layer") == "0");
  f.click(f.at("layer+"));
  CHECK(f.option("layer") == "1");
  f.click(f.at("layer:heads+"));
  CHECK(f.option("layer") == "2");
  f.type('a');
  CHECK(f.option("view") == "\"model\"");
  for (int i = 0; i < 6; ++i) f.frame();
  for (int layer = 0; layer < 3; ++layer)
    for (int head = 0; head < 2; ++head)
      CHECK(f.at("layer:" + std::to_string(layer) + ":" + std::to_string(head)).width >= 32);
  f.click(f.at("layer:0:1"));
  CHECK(f.option("view") == "\"layer\"");
  CHECK(f.option("layer") == "0");
  CHECK(f.option("focus_head") == "1");
  CHECK(f.app().undo());  // a single step
  CHECK(f.option("layer") == "2");
  f.app().setEmbed({"", "layer"});
  f.type('j');
  CHECK(f.option("layer") == "2");
}

TEST_CASE("layers: a figure has the colours of the board, also when it is made elsewhere") {
  document::State s = layers(3);
  const auto redOf = [&](document::WeightScale scale) {  // of each cell, the less the darker
    s.weightScale = scale;
    const auto drawing = files::figure(*files::unpackedTensors(files::packed(*files::collectTensors(s))), {});
    std::vector<double> red;
    for (const auto& item : drawing->items)
      if (item.kind == files::Drawing::Item::Kind::rect && item.fill.opacity > 0 && !item.isCrisp)
        red.push_back(item.fill.color[0]);
    return red;
  };
  const auto linear = redOf(document::WeightScale::linear), root = redOf(document::WeightScale::root),
             row = redOf(document::WeightScale::row);
  REQUIRE(linear.size() == root.size());
  const auto sum = [](const std::vector<double>& all) {
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  CHECK(sum(root) < sum(linear));
  CHECK(std::count(linear.begin(), linear.end(), 58.0) < s.tokens);
  CHECK(std::count(row.begin(), row.end(), 58.0) == s.tokens);  // the largest of each row
}

TEST_CASE("layers: a figure names the layer that it is of") {
  using What = files::FigureOptions::What;
  document::State s = layers(3);
  document::showItem(s, 1);
  const auto title = [&](What what) {
    files::FigureOptions options;
    options.what = what, options.head = 1;
    return files::figure(*files::unpackedTensors(files::packed(*files::collectTensors(s))), options)
        ->title;  // as on the page
  };
  CHECK(title(What::weights) == "Attention weights, layer 2, head 2");
  CHECK(title(What::heads) == "Attention weights of all heads of layer 2");
  CHECK(title(What::arcs) == "Who attends to whom, layer 2, head 2");
  s.batchOf = document::BatchOf::sequences;
  CHECK(title(What::weights) == "Attention weights, head 2");
  CHECK(title(What::heads) == "Attention weights of all heads");
}

TEST_CASE("layers: what attn train writes opens as a recording, with the weights that the model has") {
  using training::Setup;
  const auto withScore = [](attention::Score score) {
    Setup setup = training::recommended(training::Task::induction);
    setup.score = score;
    return setup;
  };
  Setup rotary = training::recommended(training::Task::sort);
  rotary.position = training::Positions::rotary, rotary.causal = false;
  Setup slopes = training::recommended(training::Task::previous);
  slopes.position = training::Positions::alibi;
  for (const Setup& setup : {withScore(attention::Score::scaled), withScore(attention::Score::additive),
                             rotary, slopes, training::recommended(training::Task::translate)}) {
    auto trainer = training::Trainer::of(setup);
    REQUIRE(trainer);
    (*trainer)->run(3);
    std::string bytes;
    REQUIRE(files::writeFile(files::storedOf(**trainer), files::Format::safetensors,
                             [&](std::string_view piece) { return bytes.append(piece), true; }));
    files::Opener opener;
    auto opened = opener.open(bytes, "model.safetensors");
    REQUIRE_MESSAGE(opened, opened.error().message());
    REQUIRE(opened->kind == files::Opened::Kind::state);
    const document::State& s = opened->state;
    const bool translates = training::isTranslation(setup);
    CHECK(s.batch == setup.layers);
    CHECK(s.cross == translates);
    const auto& held = (*trainer)->examples().heldOut;
    training::Answer answer;
    (*trainer)->answer(*std::ranges::max_element(held, {}, [](const auto& one) { return one.tokens.size(); }),
                       (*trainer)->numbers(), 0, answer);
    for (int layer = 0; layer < s.batch; ++layer) {
      document::State shown = s;
      document::showItem(shown, layer);
      attention::Trace trace;
      attention::forward(document::spec(shown), document::inputs(shown), trace);
      const auto map = std::ranges::find_if(answer.maps, [&](const training::Answer::Map& one) {
        return one.place.layer == layer &&
               (one.place.kind == training::AttentionPlace::Kind::cross) == translates &&
               one.place.kind != training::AttentionPlace::Kind::encoder;
      });
      REQUIRE(map != answer.maps.end());
      REQUIRE(trace.weights.size() == map->weights.size());
      float worst = 0;
      for (std::size_t i = 0; i < map->weights.size(); ++i)
        worst = std::max(worst, std::fabs(trace.weights.data()[i] - map->weights[i]));
      CHECK(worst < 2e-6f);
    }
  }
}

namespace {

/// The bytes of a model of this task after a few steps.
std::string trainedFile(const training::Trainer& trainer) {
  std::string bytes;
  REQUIRE(files::writeFile(files::storedOf(trainer), files::Format::safetensors,
                           [&](std::string_view piece) { return bytes.append(piece), true; }));
  return bytes;
}

std::unique_ptr<training::Trainer> trained(const training::Setup& setup, int steps = 30) {
  auto trainer = training::Trainer::of(setup);
  REQUIRE(trainer);
  (*trainer)->run(steps);
  return std::move(*trainer);
}

document::State openedState(const std::string& bytes) {
  files::Opener opener;
  auto opened = opener.open(bytes, "model.safetensors");
  REQUIRE_MESSAGE(opened, opened.error().message());
  return std::move(opened->state);
}

}  // namespace

TEST_CASE("layers: a trained model that is opened can be run: what it says, and without a head") {
  const auto trainer = trained(training::recommended(training::Task::induction));
  const document::State read = openedState(trainedFile(*trainer));
  // As it comes from the worker of the page.
  const auto state = files::unpacked(files::packed(read), {});
  REQUIRE(state);
  const std::vector<float>* numbers = training::learnedNumbers(state->training);
  REQUIRE(numbers);
  CHECK(std::ranges::equal(*numbers, trainer->numbers()));
  document::Training run(*state);
  REQUIRE(run.ofLearned());
  CHECK(std::ranges::equal(run.ofLearned()->numbers(), trainer->numbers()));
  const auto sequence = document::sequenceOf(*run.ofLearned(), *state);
  REQUIRE(sequence);
  training::Answer whole, same, without, changed;
  trainer->answer(*sequence, trainer->numbers(), 0, whole);
  run.ofLearned()->answer(*sequence, *numbers, 0, same);
  CHECK(whole.probabilities == same.probabilities);
  CHECK(whole.loss == same.loss);
  // Without head 2 of layer 2 it is as with zeros in the rows of W_O that read this head.
  const int head = 1, attention = 1, heads = state->heads, width = state->headDim;
  run.ofLearned()->answer(*sequence, *numbers, std::uint64_t{1} << (attention * heads + head), without);
  std::vector<float> zeroed = *numbers;
  const auto& wO =
      trainer->model().parameters()[static_cast<std::size_t>(trainer->model().weightsOf(attention)[3])];
  std::fill_n(zeroed.begin() + static_cast<std::ptrdiff_t>(wO.offset) + head * width * wO.columns,
              width * wO.columns, 0.0f);
  trainer->answer(*sequence, zeroed, 0, changed);
  REQUIRE(without.probabilities.size() == changed.probabilities.size());
  const int classes = trainer->model().classes();
  const std::vector<float> divergences = training::divergences(whole, without, classes);
  CHECK(divergences.size() == sequence->tokens.size());
  for (std::size_t token = 0; token < divergences.size(); ++token) {
    double sum = 0;
    for (std::size_t i = token * static_cast<std::size_t>(classes);
         i < (token + 1) * static_cast<std::size_t>(classes); ++i) {
      CHECK(without.probabilities[i] == doctest::Approx(changed.probabilities[i]).epsilon(1e-4));
      sum += static_cast<double>(whole.probabilities[i]) *
             std::log2(static_cast<double>(whole.probabilities[i] / changed.probabilities[i]));
    }
    CHECK(divergences[token] == doctest::Approx(sum).epsilon(1e-3).scale(1e-3));
  }
  for (const float none : training::divergences(whole, same, classes)) CHECK(none == 0);
  // Another architecture begins anew, and the former one with what was learned.
  document::Settings changedTo = document::settingsAfter(*state, document::OptionId::train_layers, 3.0);
  CHECK_FALSE(training::learnedNumbers(changedTo.training));
  changedTo = document::settingsAfter(changedTo, document::OptionId::train_layers, 2.0);
  CHECK(training::learnedNumbers(changedTo.training) == numbers);
}

TEST_CASE(
    "layers: heads of a trained model are scaled, made even, averaged and replaced, as by other weights") {
  using Change = training::Model::HeadChange;
  for (const training::Task task : {training::Task::induction, training::Task::translate}) {
    const auto trainer = trained(training::recommended(task));
    const document::State state = openedState(trainedFile(*trainer));
    const auto sequence = document::sequenceOf(*trainer, state);
    REQUIRE(sequence);
    const bool translates = training::isTranslation(trainer->setup());
    const int head = 1, heads = state.heads, n = state.tokens, m = state.keyTokens;
    int attention = 0;
    while (translates && trainer->model().attentions()[static_cast<std::size_t>(attention)].kind !=
                             training::AttentionPlace::Kind::cross)
      ++attention;
    const auto number = static_cast<std::size_t>(attention * heads + head);
    const auto answered = [&](Change change) {
      std::vector<Change> changes(number + 1);
      changes[number] = std::move(change);
      training::Answer out;
      trainer->answer(*sequence, trainer->numbers(), changes, out);
      return out.probabilities;
    };
    const auto near = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                                [](float x, float y) { return std::fabs(x - y) < 1e-5f; });
    };
    training::Answer whole, off;
    trainer->answer(*sequence, trainer->numbers(), 0, whole);
    const float* const from = trainer->model().weights(attention, 0, head);
    const std::vector<float> own(from, from + n * m), none(own.size());
    std::vector<float> twice = own, mean(own.size()), even(own.size());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) {
        const auto at = static_cast<std::size_t>(i * m + j);
        twice[at] *= 2;
        for (int k = 0; k < n; ++k)
          mean[at] += own[static_cast<std::size_t>(k * m + j)] / static_cast<float>(n);
        even[at] = translates ? 1 / static_cast<float>(m) : j <= i ? 1 / static_cast<float>(i + 1) : 0.0f;
      }
    trainer->answer(*sequence, trainer->numbers(), std::uint64_t{1} << number, off);
    CHECK(near(answered({}), whole.probabilities));
    CHECK(near(answered({Change::Kind::replace, 0, own}), whole.probabilities));
    CHECK(near(answered({Change::Kind::replace, 0, std::vector<float>(own.size() + 1)}),
               whole.probabilities));  // of another size: as it was
    CHECK(near(answered({Change::Kind::scale, 0, {}}), off.probabilities));
    CHECK(near(answered({Change::Kind::replace, 0, none}), off.probabilities));
    CHECK_FALSE(near(off.probabilities, whole.probabilities));
    CHECK(near(answered({Change::Kind::scale, 2, {}}), answered({Change::Kind::replace, 0, twice})));
    CHECK(near(answered({Change::Kind::mean, 0, {}}), answered({Change::Kind::replace, 0, mean})));
    CHECK(near(answered({Change::Kind::uniform, 0, {}}), answered({Change::Kind::replace, 0, even})));
    const int layer = trainer->model().attentions()[static_cast<std::size_t>(attention)].layer;
    const attention::Tensor board = document::weightsOf(state, layer);
    REQUIRE(board.rows() * board.cols() == n * m);
    CHECK(near({board.row(head, 0), board.row(head, 0) + n * m}, own));
  }
}

TEST_CASE("layers: large cells of the page Model have numbers, and are hatched where a key is hidden") {
  Fixture f;
  REQUIRE(f.app().set("view", "\"model\""));
  f.settle();
  const test::Painted painted;
  const auto first = std::ranges::find_if(
      painted.words(), [](const test::Words& w) { return w.text == "1.00" && w.left > 700; });
  REQUIRE(first != painted.words().end());  // the first query sees only itself
  const float x = first->midX(), y = first->midY();
  const auto lines = [&](float left) {
    return painted.extent(views::palette(false).border, {left, y - 30, left + 44, y + 30}).width();
  };
  CHECK(lines(x - 22) <= 0);
  CHECK(lines(x + 36) > 30);
  const auto above = std::ranges::count_if(painted.words(), [&](const test::Words& w) {
    return w.text == "saw" && w.midY() < y - 20 && w.midY() > y - 50 && w.left > x;
  });
  CHECK(above == 2);  // the keys, of "I saw a saw"
}

TEST_CASE(
    "layers: a trained model reads another sentence, and its heads are switched off on the page Model") {
  const auto trainer = trained(training::recommended(training::Task::tags));
  Fixture f;
  REQUIRE(f.app().openState(openedState(trainedFile(*trainer)), "model.safetensors"));
  CHECK(f.app().set("view", "\"model\""));
  f.settle();
  f.click(f.at("model:off:0:1"));
  CHECK(f.app().locate("model:on", 0, 0, 0));
  f.click(f.at("model:on"));
  CHECK_FALSE(f.app().locate("model:on", 0, 0, 0));
  for (const char* way : {"model:way:1", "model:way:3", "model:way:4", "model:way:5"}) {
    f.click(f.at("model:way"));
    f.click(f.at(way));
    f.click(f.at("model:off:0:1"));
    CHECK(f.app().locate("model:on", 0, 0, 0));
  }
  f.click(f.at("model:off:0:1"));  // the same again takes it back
  CHECK_FALSE(f.app().locate("model:on", 0, 0, 0));
  const std::string before = f.option("labels");
  f.click(f.at("model:labels"));
  f.app().endText(app::TextEnd::commit, "I saw a saw");
  f.settle();
  CHECK(f.option("labels") == "[\"I\", \"saw\", \"a\", \"saw\"]");
  CHECK(f.option("batch") == "2");
  CHECK(f.app().undo());
  CHECK(f.option("labels") == before);
  f.click(f.at("model:labels"));
  f.app().endText(app::TextEnd::commit, "I sew a saw");  // not a word of the model
  CHECK(f.option("labels") == before);
}

TEST_CASE("layers: a file that lacks a parameter of a trained model is refused") {
  auto trainer = training::Trainer::of(training::recommended(training::Task::sort));
  files::StoredFile file = files::storedOf(**trainer);
  file.tensors.erase(file.tensors.begin());
  std::string bytes;
  REQUIRE(files::writeFile(file, files::Format::safetensors,
                           [&](std::string_view piece) { return bytes.append(piece), true; }));
  files::Opener opener;
  const auto refused = opener.open(bytes, "model.safetensors");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message().find("it is missing; the model needs it") != std::string::npos);
}
