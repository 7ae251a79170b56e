// The appearance of the Guide for all lessons included, in four sizes of the window and both themes: no
// text is clipped or overlaps other text, and all of it has enough contrast (WCAG 2.2 AA, 4.5 : 1).
#include <nlohmann/json.hpp>
#include <string_view>

#include "app_fixture.h"
#include "document/lesson_list.h"
#include "draw/heatmap.h"
#include "lessons.h"
#include "painted.h"
#include "thorough.h"
#include "views/theme.h"

namespace {

using test::Painted;
using test::Words;

struct Card {
  std::string id, file;
  int steps = 0;
};

std::string_view textOf(std::string_view name) {
  for (const auto& file : lessons::files) {
    if (file.name == name) return file.text;
  }
  return {};
}

std::vector<Card> ours() {
  std::vector<Card> cards;
  const auto index = nlohmann::json::parse(document::lessonListOf(lessons::files));
  for (const auto& entry : index.at("lessons")) {
    if (const Card card{entry.at("id"), entry.at("file"), entry.at("steps")}; !textOf(card.file).empty())
      cards.push_back(card);
  }
  return cards;
}

class Reader : public Fixture {
 public:
  Reader(float width, float height, bool dark) : Fixture(width, height), width_(width), height_(height) {
    REQUIRE(app().set("theme", dark ? "\"dark\"" : "\"light\""));
    host.touch = width < 600;
    settle();
  }

  bool shows(const char* name) { return static_cast<bool>(app().locate(name, 0, 0, 0)); }
  void press(const char* name) {
    if (!shows(name)) return;
    click(at(name));
    moveTo(-1000, -1000);
  }

  void open(const Card& card, int step) {
    const auto done = app().openLesson(textOf(card.file), card.file, card.id, step);
    REQUIRE_MESSAGE(done, (done ? "" : done.error().message()));
    // The board behind it is not read: one query instead of 128 whose scores are drawn at random, which took
    // half of the time.
    if (option("view") == "\"spread\"") REQUIRE(app().set("spread_draws", "1"));
    settle();
  }

  /// Checks all states of the step: before it is answered, afterwards, and with its hint.
  void read() {
    check("as it opens");
    if (shows("guide-answer")) press("guide-answer"), check("with the whole lesson");
    if (shows("guide:choice:0")) press("guide:choice:0"), check("answered");
    if (shows("guide-hint")) press("guide-hint"), check("with the hint");
  }

  int checked = 0;

 private:
  app::Rect region() {
    const bool isWhole = shows("guide-close");
    if (isWhole && shows("toolbar"))
      return {0, at("guide-handle").y, width_, at("toolbar").y - at("guide-handle").y};
    if (isWhole) return {0, 44, width_ >= 600 ? 320 : width_, height_ - 44};
    return at(shows("guide-strip") ? "guide-strip" : "guide-sheet");
  }

  void check(const char* when) {
    CAPTURE(when);
    const app::Rect box = region(), hint = shows("guide-hint-text") ? at("guide-hint-text") : app::Rect{};
    const Painted painted;
    std::vector<const Words*> words;
    for (const Words& w : painted.words()) {
      if (w.midX() > box.x && w.midX() < box.x + box.width && w.top >= box.y &&
          w.bottom <= box.y + box.height && !painted.isCovered(w))
        words.push_back(&w);
    }
    REQUIRE(!words.empty());
    for (const Words* w : words) {
      CAPTURE(w->text);
      ++checked;
      CHECK(!w->isCut);
      const bool isInHint = w->midX() > hint.x && w->midX() < hint.x + hint.width && w->midY() > hint.y &&
                            w->midY() < hint.y + hint.height;
      const app::Rect& around = isInHint ? hint : box;
      CHECK(w->left >= around.x);
      CHECK(w->right <= around.x + around.width);
      const auto on = [&](ImU32 ground) {
        return draw::contrast(views::toColor(Painted::seen(w->color, ground)), views::toColor(ground));
      };
      Words above = *w;
      above.top -= 6;
      const float contrast =
          std::max({on(painted.ground(*w)), on(painted.ground(*w, true)),
                    on(painted.ground(above))});  // a line may cross it or be next to one end
      const bool isOff = w->text == "Next" || w->text == "Back" || w->text == "Finish";  // disabled buttons
      if (!isOff) CHECK(contrast >= 4.5f);
      for (const Words* other : words) {
        const float across = std::min(w->right, other->right) - std::max(w->left, other->left),
                    down =
                        std::min(w->shownBottom, other->shownBottom) - std::max(w->shownTop, other->shownTop);
        if (other <= w || !(across > 1.5f && down > 4)) continue;
        const bool isTwice = std::fabs(other->left - w->left) < 1 &&
                             (other->text.starts_with(w->text) ||
                              w->text.starts_with(other->text));  // drawn twice to look bold
        CHECK_MESSAGE(isTwice, "lies on " << other->text);
      }
    }
  }

  float width_, height_;
};

}  // namespace

TEST_CASE("guide looks: all that is written is whole, apart and legible at all sizes and in both themes") {
  const std::vector<Card> cards = ours();
  REQUIRE(cards.size() > 60);
  // All steps once, and every fifth elsewhere. With sanitizers and as WebAssembly, which take 5 minutes for
  // that, a sample.
  const int kEvery = test::kWhole ? 5 : 60, kLeast = test::kWhole ? 300 : 10;
  int turn = 0, checked = 0;
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f},
                                      {1024.0f, 768.0f},
                                      {640.0f, 440.0f},
                                      {390.0f, 844.0f},
                                      {320.0f, 568.0f}}) {
    for (const bool dark : {false, true}) {
      Reader f(width, height, dark);
      CAPTURE(width);
      CAPTURE(dark);
      for (const Card& card : cards) {
        CAPTURE(card.id);
        for (int step = 0; step < card.steps; ++step) {
          const bool isAll = test::kWhole && width == 1440.0f && !dark;
          if ((turn++) % kEvery != 0 && !isAll) continue;
          CAPTURE(step);
          f.open(card, step);
          f.read();
        }
      }
      checked += f.checked;
      CHECK(f.checked > kLeast);
    }
  }
  MESSAGE(checked << " pieces of text");
}
