// What heads look at: patterns made by hand, and where they have no name.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/experiments/head_pattern.h"
#include "attention/experiments/rollout.h"
#include "document/head_tags.h"
#include "document_support.h"

using attention::HeadPattern;
using attention::HeadTag;
using attention::tagOf;

namespace {

/// Rows that give `share` to one key each, and the rest to all that they see alike.
std::vector<float> looking(int n, bool causal, float share, int (*at)(int query)) {
  std::vector<float> w(static_cast<std::size_t>(n * n));
  for (int i = 0; i < n; ++i) {
    const int seen = causal ? i + 1 : n;
    for (int j = 0; j < seen; ++j)
      w[static_cast<std::size_t>(i * n + j)] = (1 - share) / static_cast<float>(seen);
    w[static_cast<std::size_t>(i * n + std::clamp(at(i), 0, seen - 1))] += share;
  }
  return w;
}

constexpr int kCount = 10;
const std::vector<int> kDistinct{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, kTwice{0, 1, 2, 3, 4, 0, 1, 2, 3, 4};

HeadTag tag(const std::vector<float>& weights, const std::vector<int>& tokens, bool causal) {
  return tagOf(weights.data(), tokens, causal);
}

}  // namespace

TEST_CASE("head patterns: each by its own weights, with and without a causal mask") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const auto before = [](int i) { return i - 1; };
    const auto first = [](int) { return 0; };
    const auto same = [](int i) { return i - 5; };
    const auto after = [](int i) { return i - 4; };
    const HeadTag previous = tag(looking(kCount, causal, 0.8f, before), kDistinct, causal);
    CHECK(previous.pattern == HeadPattern::previous);
    double want = 0;
    for (int i = 2; i < kCount; ++i) want += 0.8 + 0.2 / (causal ? i + 1 : kCount);
    CHECK(previous.measure == doctest::Approx(want / (kCount - 2)));
    CHECK(tag(looking(kCount, causal, 0.8f, first), kDistinct, causal).pattern == HeadPattern::first);
    CHECK(tag(looking(kCount, causal, 0.8f, same), kTwice, causal).pattern == HeadPattern::same);
    CHECK(tag(looking(kCount, causal, 0.8f, after), kTwice, causal).pattern == HeadPattern::induction);
    CHECK(tag(looking(kCount, causal, 0.8f, after), kDistinct, causal).pattern ==
          HeadPattern::none);  // nothing occurs twice
    CHECK(tag(looking(kCount, causal, 0, first), kDistinct, causal) == HeadTag{HeadPattern::broad, 1});
  }
}

TEST_CASE("head patterns: of keys that the mask hides, none is expected to have weight") {
  const int real = 6;  // the others are padding
  std::vector<float> weights(kCount * kCount), masked(kCount * kCount, -INFINITY);
  for (int i = 0; i < kCount; ++i)
    for (int j = 0; j < real; ++j)
      weights[static_cast<std::size_t>(i * kCount + j)] = 1.0f / real,
                                                    masked[static_cast<std::size_t>(i * kCount + j)] = 0;
  const HeadTag made =
      tagOf(weights.data(), kDistinct, {false, attention::rowsOfHead(masked.data(), kDistinct.size())});
  CHECK(made.pattern == HeadPattern::broad);
  CHECK(made.measure == doctest::Approx(1));
  CHECK(tag(weights, kDistinct, false) == HeadTag{});
  std::fill(masked.begin(), masked.end(), -INFINITY);
  CHECK(attention::measuresOf(
            weights.data(), kDistinct,
            {false, attention::rowsOfHead(masked.data(), kDistinct.size())})[HeadPattern::broad] == 0);
}

TEST_CASE("head patterns: none below the threshold, in short texts, and in rows without weights") {
  const auto before = [](int i) { return i - 1; };
  for (const float share : {0.1f, 0.25f, 0.3f, 0.4f, 0.6f}) {
    const HeadTag made = tag(looking(kCount, false, share, before), kDistinct, false);
    CHECK((made.pattern == HeadPattern::previous) == (share + (1 - share) / kCount >= attention::kTagFrom));
  }
  CHECK(tagOf(looking(3, true, 1, before).data(), std::vector<int>{0, 1, 2}, true) == HeadTag{});
  CHECK(tagOf(nullptr, {}, false) == HeadTag{});
  CHECK(tag(std::vector<float>(kCount * kCount), kDistinct, false) == HeadTag{});
  std::vector<float> holes = looking(kCount, true, 1, before);
  holes[5 * kCount + 4] = std::nanf("");
  CHECK(tag(holes, kDistinct, true).pattern == HeadPattern::none);
}

TEST_CASE("head patterns: a long text is judged by some of its rows") {
  constexpr int n = 1000;
  std::vector<int> tokens(n);
  for (int i = 0; i < n; ++i) tokens[static_cast<std::size_t>(i)] = i;
  const HeadTag made = tagOf(looking(n, true, 0.5f, [](int i) { return i - 1; }).data(), tokens, true);
  CHECK(made.pattern == HeadPattern::previous);
  CHECK(made.measure == doctest::Approx(0.5).epsilon(0.03));
}

TEST_CASE("head tags: kept until the weights, the words or the mask change") {
  using namespace document;
  State s = test::start();
  CHECK_FALSE(hasHeadTags(s));  // four tokens
  s.labels.clear();
  for (const int number : kTwice) s.labels.push_back("w" + std::to_string(number));
  s.tokens = s.keyTokens = kCount, s.causal = false;
  CHECK(hasHeadTags(s));
  CHECK(tokenNumbers(s.labels) == kTwice);
  const std::vector<float> after = looking(kCount, false, 0.8f, [](int i) { return i - 4; }),
                           first = looking(kCount, false, 0.8f, [](int) { return 0; });
  const std::vector<float> seen(kCount * kCount);
  HeadTags tags;
  const auto of = [](const std::vector<float>& weights) {
    const int side = static_cast<int>(std::sqrt(static_cast<double>(weights.size())));
    attention::Tensor both(2, side, side);
    std::copy(weights.begin(), weights.end(), both.head(1));
    return both;
  };
  const attention::Tensor scores = of(seen);
  CHECK(tags.of(s, 1, of(after), scores, 1).pattern == HeadPattern::induction);
  CHECK(tags.of(s, 1, of(first), scores, 1).pattern == HeadPattern::induction);  // the same stamp
  CHECK(tags.of(s, 1, of(first), scores, 2).pattern == HeadPattern::first);
  s.labels[0] = "other", tags.changed();
  CHECK(tags.of(s, 1, of(after), scores, 2).pattern == HeadPattern::induction);
  s.cross = true;
  CHECK_FALSE(hasHeadTags(s));
  s.cross = false, s.normalizer = attention::Normalizer::sigmoid;
  CHECK_FALSE(hasHeadTags(s));
}

namespace {

/// Makes rows when they are read, and counts them.
class Rows : public attention::RowSource {
 public:
  explicit Rows(std::vector<float> numbers) : numbers_(std::move(numbers)) {}
  const float* row(int, int, int row) override { return ++made, numbers_.data() + row * side(); }
  void expect(int, int, int, int) override {}
  int side() const { return static_cast<int>(std::sqrt(static_cast<double>(numbers_.size()))); }
  int made = 0;

 private:
  std::vector<float> numbers_;
};

}  // namespace

TEST_CASE("head tags: where rows are made when they are read, some in each frame, one head after the other") {
  using namespace document;
  constexpr int n = 300, kMost = 16;
  State s = test::start();
  s.labels.clear();
  for (int i = 0; i < n; ++i) s.labels.push_back("w" + std::to_string(i));
  s.tokens = s.keyTokens = n, s.causal = true;
  const std::vector<float> numbers = looking(n, true, 0.5f, [](int i) { return i - 1; });
  Rows source(numbers);
  attention::Tensor weights;
  weights.reshapeUnstored(source, 0, 3, n, n);
  const HeadTag whole = tag(numbers, tokenNumbers(s.labels), true);
  HeadTags tags;
  int known = 0;
  for (int frame = 0; known < 3 && frame < 500; ++frame) {
    source.made = 0, known = 0;
    for (int h = 0; h < 3; ++h) known += tags.of(s, h, weights, weights, 1) == whole;
    CHECK(source.made <= 2 * kMost);  // one head may end and another begin
  }
  CHECK(known == 3);
  // While it waits no row is made, and it is known that something is missing.
  for (int frame = 0; frame < 5; ++frame) {
    source.made = 0;
    for (int h = 0; h < 3; ++h) CHECK(tags.of(s, h, weights, weights, 5, true) == whole);
    CHECK(source.made == 0);
    CHECK(tags.isMeasuring(1));
  }
  // A head that is no longer asked for does not keep the others waiting.
  for (int frame = 0; frame < 3; ++frame) (void)tags.of(s, 0, weights, weights, 2);
  CHECK(tags.isMeasuring(0));
  for (int frame = 0; frame < 4; ++frame)
    for (const int h : {1, 2}) (void)tags.of(s, h, weights, weights, 2);
  CHECK(tags.isMeasuring(1));
}

TEST_CASE("measures of a head: each pattern, the entropy in bit, the distance in tokens") {
  constexpr int n = 10;
  std::vector<int> tokens(n);
  for (int i = 0; i < n; ++i) tokens[static_cast<std::size_t>(i)] = i % 5;
  std::vector<float> weights(n * n, 0.0f);
  for (int i = 0; i < n; ++i)  // ¾ on the first, ¼ on the token before
    weights[static_cast<std::size_t>(i * n)] += 0.75f,
        weights[static_cast<std::size_t>(i * n + std::max(i - 1, 0))] += 0.25f;
  const attention::HeadMeasures m = attention::measuresOf(weights.data(), tokens, true);
  using attention::HeadPattern;
  CHECK(m[HeadPattern::first] == 0.75f);
  CHECK(m[HeadPattern::previous] == 0.25f);
  CHECK(m[HeadPattern::none] == 0.0f);
  CHECK(m[HeadPattern::same] == doctest::Approx(0.75f / 5));  // one of five looks back at the first
  CHECK(m.entropy == doctest::Approx(0.811278f));             // −¾·log₂ ¾ − ¼·log₂ ¼
  CHECK(m.distance == doctest::Approx(0.75f * 5.5f + 0.25f));
  CHECK(tagOf(m) == tagOf(weights.data(), tokens, true));
  CHECK(attention::measuresOf(weights.data(), std::vector<int>{0, 1, 2}, true).entropy == 0.0f);
}

TEST_CASE("measures of a head: entropy and distance are those of double precision, whatever the weights") {
  for (const int n : {5, 8, 37, 130}) {
    CAPTURE(n);
    std::vector<int> tokens(static_cast<std::size_t>(n));
    std::iota(tokens.begin(), tokens.end(), 0);
    std::vector<float> weights(static_cast<std::size_t>(n * n));
    double entropy = 0, distance = 0;
    int rows = 0;
    for (int i = 0; i < n; ++i) {
      float* const row = &weights[static_cast<std::size_t>(i * n)];
      double sum = 0;
      for (int j = 0; j < n; ++j)  // from 1 to 1e-40, and some that are 0
        row[j] = (i + j) % 7 == 0 ? 0.0f : static_cast<float>(std::pow(10.0, -(i * 31 + j * 17) % 41)),
        sum += row[j];
      for (int j = 0; j < n; ++j) row[j] = static_cast<float>(row[j] / sum);
      const int step = (n + attention::kTagRows - 1) / attention::kTagRows;
      if (i < 2 || (i - 2) % step != 0) continue;
      ++rows;
      for (int j = 0; j < n; ++j) {
        if (row[j] > 0) entropy -= row[j] * std::log2(double{row[j]});
        distance += double{row[j]} * std::abs(i - j);
      }
    }
    const attention::HeadMeasures m = attention::measuresOf(weights.data(), tokens, false);
    CHECK(m.entropy == doctest::Approx(entropy / rows).epsilon(1e-6));
    CHECK(m.distance == doctest::Approx(distance / rows).epsilon(1e-6));
  }
}

TEST_CASE("rollout multiplies the layers, half of each being what stays where it is") {
  attention::Tensor first(1, 2, 2), second(1, 2, 2);
  first.at(0, 0, 0) = 1, first.at(0, 1, 0) = 0.5f, first.at(0, 1, 1) = 0.5f;
  second.at(0, 0, 0) = 1, second.at(0, 1, 0) = 1;
  const attention::Tensor* const means[] = {&first, &second};
  // A_2 = ½·I + ½·W̄_2 has the row (½, ½), A_1 the rows (1, 0) and (¼, ¾).
  CHECK(attention::rollout(means, 1) == std::vector<float>{0.625f, 0.375f});
  CHECK(attention::rollout(means, 0) == std::vector<float>{1.0f, 0.0f});
  CHECK(attention::rollout({}, 0).empty());
}

TEST_CASE(
    "head patterns: the weight on a token itself is measured over the same rows as that on the previous "
    "one") {
  const std::vector<float> weights = looking(kCount, true, 0.5f, [](int i) { return i; });
  double want = 0;
  for (int i = 2; i < kCount; ++i) want += 0.5 + 0.5 / (i + 1);
  CHECK(attention::measuresOf(weights.data(), kDistinct, true).itself ==
        doctest::Approx(want / (kCount - 2)));
}

TEST_CASE(
    "head patterns: all measures of few tokens are there at once, of many once the weights stay, some heads "
    "a frame") {
  for (const int n : {16, 160}) {
    CAPTURE(n);
    document::State state = test::start();
    state.labels.clear();
    for (int i = 0; i < n; ++i) state.labels.push_back("t" + std::to_string(i));
    attention::Tensor weights(2, n, n), masked(2, n, n);
    for (int h = 0; h < 2; ++h)
      for (int i = 0; i < n; ++i) weights.row(h, i)[i] = 1;
    document::HeadTags tags;
    const auto ask = [&](std::uint32_t written, int head, int& left) {
      (void)tags.of(state, head, weights, masked, written);
      return tags.measures(head, weights, masked, written, left);
    };
    const bool isSmall = n <= document::HeadTags::kAtOnce;
    for (const std::uint32_t written : {1u, 2u}) {
      int left = 1;
      CHECK((ask(written, 0, left) != nullptr) == isSmall);
      CHECK((ask(written, 1, left) != nullptr) == isSmall);
    }
    int left = 1;
    const attention::HeadMeasures* first = ask(2, 0, left);
    REQUIRE(first);
    CHECK(first->itself == 1);
    CHECK(first->entropy == 0);
    CHECK((ask(2, 1, left) != nullptr) == isSmall);
    left = 1;
    CHECK(ask(2, 1, left));
  }
}
