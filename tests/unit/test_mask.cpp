// The keys that a query sees: each part of a mask by its definition, and the combination of all.
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <set>

#include "attention/steps/mask.h"
#include "layer.h"

using namespace attention;

namespace {

Spec square(int tokens) { return test::shape(1, 1, tokens, tokens, 2, 2); }

/// The rows of a mask, with an x for each visible key.
std::string picture(const Spec& spec) {
  std::string out;
  for (int i = 0; i < spec.queryCount; ++i) {
    for (int j = 0; j < spec.keyCount; ++j) out += isVisible(spec, i, j) ? 'x' : '.';
    out += i + 1 < spec.queryCount ? "/" : "";
  }
  return out;
}

void checkRule(const Spec& spec, const std::function<bool(int, int)>& sees) {
  std::vector<std::uint8_t> through(static_cast<std::size_t>(spec.keyCount));
  for (int i = 0; i < spec.queryCount; ++i) {
    attention::MaskRow(spec, i).letThrough(spec.keyCount, through.data());
    const attention::KeyRange range = attention::visibleKeys(spec, i);
    for (int j = 0; j < spec.keyCount; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      CHECK(isVisible(spec, i, j) == sees(i, j));
      CHECK((through[static_cast<std::size_t>(j)] && j >= range.begin && j < range.end) == sees(i, j));
    }
  }
}

std::set<int> seenBy(const Spec& spec, int query) {
  std::set<int> keys;
  for (int j = 0; j < spec.keyCount; ++j) {
    if (isVisible(spec, query, j)) keys.insert(j);
  }
  return keys;
}

}  // namespace

TEST_CASE("mask: causal, window, prefix and padding") {
  Spec spec = square(5);
  CHECK(picture(spec) == "xxxxx/xxxxx/xxxxx/xxxxx/xxxxx");
  spec.causal = true;
  CHECK(picture(spec) == "x..../xx.../xxx../xxxx./xxxxx");
  spec.prefix = 3;
  CHECK(picture(spec) == "xxx../xxx../xxx../xxxx./xxxxx");
  spec.prefix = 0, spec.windowLeft = 1;
  CHECK(picture(spec) == "x..../xx.../.xx../..xx./...xx");
  spec.causal = false, spec.windowRight = 0;
  CHECK(picture(spec) == "x..../xx.../.xx../..xx./...xx");
  spec.windowLeft = spec.windowRight = -1, spec.keyLength = 2;
  CHECK(picture(spec) == "xx.../xx.../xx.../xx.../xx...");
  spec.keyLength = 0;
  CHECK(visibleCount(spec) == 0);
}

TEST_CASE("mask: the parts of a pattern") {
  Spec spec = square(6);
  spec.pattern.local = 2;
  CHECK(picture(spec) == "xx..../xxx.../.xxx../..xxx./...xxx/....xx");
  spec.pattern.dilation = 2;
  CHECK(picture(spec) == "x.x.../.x.x../x.x.x./.x.x.x/..x.x./...x.x");
  spec.pattern = {};
  spec.pattern.stride = 3;
  CHECK(picture(spec) == "x..x../.x..x./..x..x/x..x../.x..x./..x..x");
  spec.pattern = {};
  spec.pattern.block = 4;
  CHECK(picture(spec) == "xxxx../xxxx../xxxx../xxxx../....xx/....xx");
  spec.pattern = {};
  spec.pattern.global = 1;
  CHECK(picture(spec) == "xxxxxx/x...../x...../x...../x...../x.....");
  spec.pattern.local = 1;
  CHECK(picture(spec) == "xxxxxx/xx..../x.x.../x..x../x...x./x....x");
  CHECK(visibleCount(spec) == 16);
  spec.causal = true;
  CHECK(picture(spec) == "x...../xx..../x.x.../x..x../x...x./x....x");
}

TEST_CASE("mask: patterns by their definition, at any offset") {
  for (int offset : {0, 5, 1000, std::numeric_limits<int>::max()}) {
    Spec spec = test::shape(1, 1, 9, 11, 2, 2);
    spec.causalOffset = offset;
    spec.pattern = {3, 2, 5, 4, 2, 0, 1};
    checkRule(spec, [&](int i, int j) {
      const long long p = static_cast<long long>(offset) + i, distance = std::abs(p - j);
      return (distance < 6 && distance % 2 == 0) || distance % 5 == 0 || p / 4 == j / 4 || p < 2 || j < 2;
    });
  }
}

TEST_CASE(
    "mask: random keys are distinct, as many as asked for, before the causal end, and the same every time") {
  for (int tokens : {1, 2, 7, 64}) {
    for (int count : {1, 3, 100}) {
      for (bool causal : {false, true}) {
        Spec spec = square(tokens);
        spec.causal = causal, spec.pattern.random = count;
        for (int i = 0; i < tokens; ++i) {
          const int allowed = causal ? i + 1 : tokens;
          CHECK(static_cast<int>(seenBy(spec, i).size()) == std::min(allowed, count));
        }
        CHECK(picture(spec) == picture(spec));
      }
    }
  }
  Spec spec = square(64);
  spec.pattern.random = 4;
  const std::string first = picture(spec);
  spec.pattern.seed = 2;
  CHECK(picture(spec) != first);
  // Spread over the keys: at most a fifth of the queries choose any one of the 64 keys.
  for (int j = 0; j < 64; ++j) {
    int drawn = 0;
    for (int i = 0; i < 64; ++i) drawn += isVisible(spec, i, j);
    CHECK(drawn <= 13);
  }
}

TEST_CASE("mask: a wide window, a whole prefix and a wide local part are no mask") {
  const std::string open = picture(square(7));
  Spec spec = square(7);
  spec.windowLeft = 6, spec.windowRight = 7;
  CHECK(picture(spec) == open);
  spec = square(7);
  spec.causal = true, spec.prefix = 7;
  CHECK(picture(spec) == open);
  spec = square(7);
  spec.pattern.local = 7;
  CHECK(picture(spec) == open);
  spec.pattern.local = std::numeric_limits<int>::max(), spec.pattern.dilation = 1;
  CHECK(picture(spec) == open);
}

TEST_CASE("mask: reasons, the first that applies") {
  Spec spec = square(8);
  spec.causal = true, spec.windowLeft = 2, spec.keyLength = 6, spec.pattern.local = 2;
  CHECK(MaskRow(spec, 4).reason(5) == Hidden::causal);
  CHECK(MaskRow(spec, 4).reason(1) == Hidden::window);
  CHECK(MaskRow(spec, 7).reason(6) == Hidden::padding);
  CHECK(MaskRow(spec, 4).reason(2) == Hidden::pattern);
  CHECK(MaskRow(spec, 4).reason(3) == Hidden::no);
}

TEST_CASE("mask: prefixes, padding and patterns through the whole layer") {
  test::Random random(1);
  for (int n : {1, 4, 9, 17, 33, 65}) {
    CAPTURE(n);
    test::Layer layer = test::direct(test::shape(2, 1, n, n, 4, 3), random);
    layer.spec.causal = true;
    const auto check = [&] {
      Trace trace;
      REQUIRE(validate(layer.spec, layer.inputs()));
      forward(layer.spec, layer.inputs(), trace);
      CHECK(test::difference(layer, trace, reference(layer.spec, layer.inputs())) == "");
    };
    layer.spec.prefix = n / 2;
    check();
    layer.spec.keyLength = n - n / 3;
    check();
    layer.spec.prefix = 0;
    CHECK(isPlain(layer.spec));
    check();
    layer.spec.pattern.local = 2, layer.spec.pattern.dilation = 3;
    check();
    layer.spec.pattern.random = 3, layer.spec.pattern.global = 1, layer.spec.windowLeft = 7;
    check();
    layer.paintNothing();
    for (std::uint8_t& cell : layer.painted.blocked) cell = random.chance(0.3);
    check();
    layer.spec.maskAfterSoftmax = true;
    check();
  }
}
