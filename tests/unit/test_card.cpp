// The explanation card below the matrices, used with the pointer.
#include "app_fixture.h"

namespace {

app::Rect placeOf(Fixture& f, const char* name) { return *f.app().locate(name, 0, 0, 0); }

}  // namespace

TEST_CASE("card: a tip that is dragged within a frame or over many leaves the plane as it is") {
  for (const bool atOnce : {false, true}) {
    Fixture f;
    REQUIRE(f.app().set("card", "\"plane\""));
    f.settle();
    const app::Rect origin = placeOf(f, "plane:origin"), tip = placeOf(f, "tip:q:3");
    const float x = tip.x + tip.width / 2, y = tip.y + tip.height / 2;
    f.io().AddMousePosEvent(x, y);
    f.io().AddMouseButtonEvent(0, true);
    for (int i = 1; i <= 6; ++i) {
      if (!atOnce) f.frame();
      f.io().AddMousePosEvent(x - 8 * static_cast<float>(i), y - 5 * static_cast<float>(i));
    }
    f.io().AddMouseButtonEvent(0, false);
    f.settle();
    const app::Rect now = placeOf(f, "plane:origin"), to = placeOf(f, "tip:q:3");
    CAPTURE(atOnce);
    CHECK(std::fabs(now.x - origin.x) < 0.01f);
    CHECK(std::fabs(now.y - origin.y) < 0.01f);
    CHECK(std::fabs(to.x - tip.x + 48) < 0.5f);
    CHECK(std::fabs(to.y - tip.y + 30) < 0.5f);
    CHECK(f.app().undo());
    CHECK_FALSE(f.app().document().canUndo());
  }
}
