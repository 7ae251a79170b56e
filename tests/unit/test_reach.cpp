// Everything that a finger can touch has 44 by 44 pixels (WCAG 2.2, success criterion 2.5.5), on a phone and
// on a tablet: the walk opens one view, sheet, menu and dialog after the other and measures what is on the
// screen.
#include <imgui_internal.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "app_fixture.h"
#include "base/sentence.h"
#include "lessons.h"
#include "views/mirror.h"

namespace {

struct Control {
  std::string name, window;
  app::Rect box;
};

struct Screenful {
  float width, height;
};
constexpr Screenful kHeld[] = {{390, 844}, {820, 1180}};

/// The window that a press at this place reaches.
std::string windowAt(float x, float y) {
  const ImGuiContext& g = *ImGui::GetCurrentContext();
  for (int i = g.Windows.Size - 1; i >= 0; --i) {
    const ImGuiWindow* w = g.Windows[i];
    if (w->WasActive && !w->Hidden && (w->Flags & ImGuiWindowFlags_NoMouseInputs) == 0 &&
        w->OuterRectClipped.Contains({x, y}))
      return w->Name;
  }
  return {};
}

class Walk : public Fixture {
 public:
  explicit Walk(Screenful size, bool isFirst = false)
      : Fixture(size.width, size.height, isFirst),
        size_(size) {
    host.touch = true;
    tap(app::Rect{1, 0.6f * size.height, 1, 1});  // beside everything
    settle();
  }

  /// Notes what is too small of all that can be pressed now.
  void look(const std::string& where) {
    read();
    for (const Control& one : controls_) {
      if (isExcepted(one.name) || !isSeen(one)) continue;
      const auto [wide, high] = reach(one);
      if (std::min(wide, high) < kLeast)
        small.insert(base::joined(
            {where, ": ", one.name, " ", static_cast<int>(wide), " × ", static_cast<int>(high)}));
    }
  }
  /// The same for all of a page, or of the board, from top to bottom.
  void lookThrough(const std::string& where) {
    for (int page = 0; page < 8; ++page) {
      look(where);
      const std::string before = app().items();
      press(size_.width / 2, size_.height * 0.7f);
      swipe(0, -0.45f * size_.height);
      for (int i = 0; i < 30; ++i) frame();  // comes to rest
      lift();
      if (app().items() == before) return;
    }
  }
  bool has(std::string_view name) {
    read();
    return std::any_of(controls_.begin(), controls_.end(), [&](const Control& c) { return c.name == name; });
  }
  /// Taps it, if it is on the screen.
  bool tapOn(std::string_view name) {
    read();
    for (const Control& one : controls_)
      if (one.name == name && isSeen(one)) return tap(one.box), settle(), true;
    return false;
  }
  void escape() {
    for (const bool isDown : {true, false}) io().AddKeyEvent(ImGuiKey_Escape, isDown), settle();
  }

  std::set<std::string> small;

 private:
  static constexpr float kLeast = 43;  // 44, of which neighbours share the pixel between them

  /// Words in a sentence, a title or a formula, which the criterion excepts; what they lead to is reached by
  /// a control as well. And stretches of the one slider that the steps of a row are.
  static bool isExcepted(const std::string& name) {
    for (const char* words :
         {"title:", "number:", "notice:", "guide:text:", "guide:question:", "guide:because:", "guide:task:",
          "guide:hint:", "guide:sentence:", "help-", "term:", "stepper:", "stepper-track"})
      if (name.starts_with(words) && name != "help-close") return true;
    return false;
  }

  void read() {
    views::Mirror mirror;
    test::Faces::shared().all.mirror = &mirror;
    app().wake();
    frame();
    test::Faces::shared().all.mirror = nullptr;
    settle();
    controls_.clear();
    std::istringstream lines(mirror.notes);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("C\x1f")) continue;
      std::vector<std::string> part;
      std::istringstream parts(line);
      for (std::string one; std::getline(parts, one, '\x1f');) part.push_back(one);
      if (part.at(3) != "1") continue;
      controls_.push_back(
          {part.at(4),
           part.at(5),
           {std::stof(part.at(6)), std::stof(part.at(7)), std::stof(part.at(8)), std::stof(part.at(9))}});
    }
  }

  /// Is all of it in view, and nothing over it?
  bool isSeen(const Control& one) const {
    const ImGuiWindow* window = ImGui::FindWindowByName(one.window.c_str());
    const app::Rect& r = one.box;
    const bool crosses = (r.y < 44 && r.y + r.height > 44),
               isUnder = ImGui::GetCurrentContext()->OpenPopupStack.Size > 0 && window &&
                         (window->Flags & ImGuiWindowFlags_Popup) == 0;  // a press there closes the menu
    return window && !isUnder && r.width > 0 && r.height > 0 && !crosses &&
           window->InnerClipRect.Contains(ImRect(r.x + 1, r.y + 1, r.x + r.width - 1, r.y + r.height - 1)) &&
           windowAt(r.x + r.width / 2, r.y + r.height / 2) == one.window;
  }

  bool means(const Control& one, float x, float y) {
    if (x < 0 || y < 0 || x >= size_.width || y >= size_.height) return false;
    app().finger(true, x, y);
    const auto [ax, ay] = app().aimed(x, y);
    const app::Rect& r = one.box;
    return ax >= r.x && ax <= r.x + r.width && ay >= r.y && ay <= r.y + r.height &&
           windowAt(ax, ay) == one.window;
  }

  /// How far across and along from its middle a press means the control.
  std::pair<float, float> reach(const Control& one) {
    constexpr float kStep = 0.5f, kEnough = 44;
    const float x = one.box.x + one.box.width / 2, y = one.box.y + one.box.height / 2;
    // Most have it all, which four places tell.
    constexpr float kEdge = kEnough / 2 - kStep;
    bool isWhole = true;
    for (const auto& [dx, dy] : {std::pair{kEdge, 0.0f}, {-kEdge, 0.0f}, {0.0f, kEdge}, {0.0f, -kEdge}})
      isWhole = isWhole && means(one, x + dx, y + dy);
    if (isWhole) return {kEnough, kEnough};
    const auto along = [&](float dx, float dy) {
      float all = 0;
      for (const float way : {-1.0f, 1.0f})
        for (float by = kStep; by <= kEnough && all < kEnough; by += kStep, all += kStep)
          if (!means(one, x + way * dx * by, y + way * dy * by)) break;
      return all;
    };
    return {along(1, 0), along(0, 1)};
  }

  Screenful size_;
  std::vector<Control> controls_;
};

std::string listed(const std::set<std::string>& small) {
  std::string all;
  for (const std::string& one : small) all += "\n" + one;
  return all;
}

}  // namespace

TEST_CASE("reach: every view, from top to bottom") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    for (const char* view :
         {"layer", "block", "segments", "train", "spread", "dense", "memory", "cost", "model"}) {
      Walk walk(size);
      REQUIRE(walk.app().set("view", base::joined({"\"", view, "\""})));
      walk.settle();
      walk.lookThrough(view);
      CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
    }
  }
}

TEST_CASE("reach: menus, dialogs and the palette") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    for (const auto& [first, second] :
         std::initializer_list<std::pair<const char*, const char*>>{{"more", nullptr},
                                                                    {"more", "views:more"},
                                                                    {"more", "preset"},
                                                                    {"preset", nullptr},
                                                                    {"views", nullptr},
                                                                    {"more", "search"},
                                                                    {"more", "help"},
                                                                    {"more", "present"}}) {
      Walk walk(size);
      if (!walk.tapOn(first)) continue;
      if (second) walk.tapOn(second);
      walk.look(second ? second : first);
      CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
    }
  }
}

TEST_CASE("reach: the controls, with every section and menu") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    Walk walk(size);
    REQUIRE(walk.tapOn("panel"));
    for (const char* name :
         {"section:view", "section:inputs", "section:mask", "section:score", "section:numbers"}) {
      walk.tapOn(name);
      walk.lookThrough(name);
    }
    CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
  }
}

TEST_CASE("reach: the Guide, a lesson with its choices and its exercise, and its end") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    Walk walk(size);
    walk.tapOn("panel:guide") || (walk.tapOn("panel") && walk.tapOn("panel:guide"));
    walk.settle();
    for (const char* tab : {"guide:tab:lesson", "guide:tab:puzzle", "guide:tab:question"})
      walk.tapOn(tab), walk.look(tab);
    const auto query = std::find_if(std::begin(lessons::files), std::end(lessons::files),
                                    [](const auto& file) { return file.name == "query.json"; });
    REQUIRE(query != std::end(lessons::files));
    for (const int step : {0, 1, 5}) {
      REQUIRE(walk.app().openLesson(query->text, query->name, "query", step));
      walk.settle();
      const std::string where = "step " + std::to_string(step + 1);
      walk.look(where);
      walk.tapOn("guide-handle") || walk.tapOn("guide-whole");
      walk.look(where + ", whole");
      if (walk.tapOn("guide:choice:0")) walk.look(where + ", answered");
      if (walk.tapOn("guide-hint")) walk.look(where + ", with the hint");
    }
    CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
  }
}

TEST_CASE("reach: a number that is edited, the steps of a row, what would raise it, and each card") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    {
      Walk walk(size);
      walk.tap(walk.at("q", 0, 1, 1));
      walk.look("editing");
      walk.tapOn("keys") || walk.tapOn("editing-value");
      walk.look("keys");
      CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
    }
    for (const auto& [option, value] :
         std::initializer_list<std::pair<const char*, const char*>>{{"stepper", "2"},
                                                                    {"gradient", "true"},
                                                                    {"card", "\"plane\""},
                                                                    {"card", "\"values\""},
                                                                    {"card", "\"changes\""},
                                                                    {"card", "\"loops\""},
                                                                    {"heads", "3"},
                                                                    {"mode", "\"x\""}}) {
      Walk walk(size);
      REQUIRE(walk.app().set(option, value));
      walk.settle();
      walk.lookThrough(base::joined({option, " ", value}));
      CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
    }
  }
}

TEST_CASE("reach: what a file is asked, and what to do with changes") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    document::Form file, changes;
    file.title = "What is in layer.npz?", file.says = "Q, K and V are read.", file.isReady = true;
    file.fields = {{"layer", "Layer", 0, {"first", "second"}},
                   {"as", "Open as", 0, {"Q, K and V", "weights"}}};
    changes.title = "Save the changes of board.json?", changes.isReady = true;
    changes.answers = {"Save", "Discard", "Cancel"};
    for (const document::Form& form : {file, changes}) {
      Walk walk(size);
      walk.app().ask(form);
      walk.settle();
      REQUIRE((walk.has("form-open") || walk.has("form-save")));
      walk.look(form.title.english());
      CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
    }
  }
}

TEST_CASE("reach: the coach") {
  for (const Screenful size : kHeld) {
    CAPTURE(size.width);
    Walk walk(size, true);
    walk.app().beginCoach();
    walk.settle();
    REQUIRE(walk.has("coach:skip"));
    walk.look("coach");
    CHECK_MESSAGE(walk.small.empty(), listed(walk.small));
  }
}
