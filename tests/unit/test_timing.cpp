// Ways to compute attention are timed in turn, in pieces, by any clock. How long they take is nobody's test.
#include <cmath>

#include "app_fixture.h"
#include "attention/experiments/timing.h"
#include "painted.h"

using attention::Timing;
using attention::Way;
using test::Painted;

namespace {

/// A clock by which the n-th run of each way takes `times[n]` milliseconds a call.
class Clock {
 public:
  double operator()() { return asked_++ % 2 == 0 ? now_ : now_ += step; }
  double step = 8;

 private:
  int asked_ = 0;
  double now_ = 0;
};

}  // namespace

TEST_CASE("timing: all ways in turn, each as often, and the median of their runs") {
  Clock clock;
  Timing timing(5, 3);
  const auto now = [&] { return clock(); };
  int pieces = 0;
  for (int run = 0; run < Timing::kRuns; ++run) {
    for (int way = 0; way < Timing::kWays; ++way, ++pieces) {
      CHECK(timing.median(static_cast<Way>(way)) == 0);
      clock.step = 10 * (way + 1) + (run * 7) % Timing::kRuns;  // each of 0 to 14 once, in another order
      const bool isLast = run + 1 == Timing::kRuns && way + 1 == Timing::kWays;
      CHECK(timing.go(now) == !isLast);
    }
  }
  CHECK(pieces == 90);
  CHECK(timing.isWhole());
  CHECK(!timing.go(now));
  for (int way = 0; way < Timing::kWays; ++way)
    CHECK(timing.median(static_cast<Way>(way)) == 10 * (way + 1) + Timing::kRuns / 2);
}

TEST_CASE("timing: what is too short for the clock is called more often, and its time is that of one call") {
  Timing timing(2, 2);
  double now = 0;
  int asked = 0, calls = 1;
  // A call takes half a millisecond: runs of 1, 2 and 4 calls are too short.
  const auto clock = [&] { return asked++ % 2 == 0 ? now : now += 0.5 * calls; };
  for (; calls < 8; calls *= 2) {
    CHECK(timing.go(clock));
    CHECK(timing.difference() == 0);
  }
  for (int way = 0; way < Timing::kWays; ++way) {
    if (way > 0)
      for (calls = 1; calls < 8; calls *= 2) CHECK(timing.go(clock));
    CHECK(timing.go(clock));
  }
  while (timing.go(clock)) continue;
  for (int way = 0; way < Timing::kWays; ++way) CHECK(timing.median(static_cast<Way>(way)) == 0.5);
  Timing still(1, 1);
  int tried = 0;
  while (still.go([] { return 0.0; })) REQUIRE(++tried < 1000);  // a clock that stands still
}

TEST_CASE("timing: loops and kernels give the same output, of any size") {
  for (const auto& [tokens, columns] : {std::pair(1, 1), {4, 3}, {33, 17}, {128, 64}, {100000, 4096}}) {
    Timing timing(tokens, columns);
    CHECK(timing.tokens() == std::min(tokens, Timing::kMostTokens));
    CHECK(timing.columns() == std::min(columns, Timing::kMostColumns));
    Clock clock;
    const auto now = [&] { return clock(); };
    CHECK(timing.go(now));
    CHECK(timing.difference() == 0);
    CHECK(timing.go(now));
    CHECK(timing.difference() < 1e-5f);
    if (tokens > 1) CHECK(timing.difference() > 0);  // they add in another order
  }
}

TEST_CASE("timing: the page Cost measures when it is asked, says what, and stops when it is told to") {
  Fixture f(1440, 1600);  // with room for all that is said
  CHECK(f.app().set("view", "\"cost\""));
  f.settle();
  // In as few frames as it takes, each of which measures for some milliseconds.
  const auto click = [&](const char* name) {
    const auto place = f.app().locate(name, 0, 0, 0);
    REQUIRE(place);
    const app::Rect r = *place;
    Fixture::io().AddMousePosEvent(r.x + r.width / 2, r.y + r.height / 2);
    f.frame();
    for (const bool down : {true, false}) Fixture::io().AddMouseButtonEvent(0, down), f.frame();
    f.frame();
  };
  const auto has = [&](const char* name) { return static_cast<bool>(f.app().locate(name, 0, 0, 0)); };
  CHECK(!f.app().wantsFrame());
  CHECK(Painted().find("Plain loops take") == nullptr);
  click("cost:measure");
  CHECK(f.app().wantsFrame());
  for (int i = 0; !has("work:cancel") && i < 20; ++i) f.frame(0.5f);  // by a clock of its own
  CHECK(Painted().find("Measuring: "));
  click("work:cancel");
  f.rest();
  CHECK(!f.app().wantsFrame());
  f.settle();
  CHECK(Painted().find("Plain loops take") == nullptr);  // nothing is said that was not measured to its end

  click("cost:measure");
  for (int frame = 0; !has("cost:found"); ++frame) {
    REQUIRE(frame < 20000);
    f.frame(0.5f);
  }
  for (int frame = 0; f.app().wantsFrame() && frame < 100; ++frame) f.frame();
  CHECK(!f.app().wantsFrame());
  CHECK(!has("work:cancel"));
  f.settle();
  for (const char* words :
       {"Plain loops take ", "Additive scores take ", "A recurrent network takes ", "Measured with 4 tokens"})
    CHECK_MESSAGE(Painted().find(words) != nullptr, words);
}
