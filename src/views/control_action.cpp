#include "views/control_action.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "views/board/stepper.h"
#include "views/pages/page.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::Option;
using document::OptionId;
using document::View;

constexpr int kUnfolds = 3, kMostFrames = 8;  // frames: a column needs one or two to open

/// Buttons of the header, which are in its menu where it has no room for them; each with the name of the part
/// that hides it.
constexpr std::pair<std::string_view, std::string_view> kOfHeader[] = {
    {"undo", ""},         {"redo", ""},       {"reset", ""},        {"help", ""},
    {"theme", ""},        {"present", ""},    {"fullscreen", ""},   {"pin", "changes"},
    {"import", "import"}, {"share", "share"}, {"export:", "export"}};
constexpr std::string_view kOfPanel[] = {"randomize", "paint", "window", "more-sizes", "more-masks"};
/// What only means something in its place, or opens a menu.
constexpr std::string_view kPlaces[] = {"guide-",      "stepper",   "help-",  "mode:", "views",
                                        "views:more",  "preset",    "export", "more",  "panel",
                                        "panel:close", "lab-close", "search", "train:"};

bool isOf(std::string_view name, std::string_view group) {
  return group.ends_with(':') || group.ends_with('-') || group.ends_with('_') ? name.starts_with(group)
                                                                              : name == group;
}

bool isOnScreen(const Context& c, std::string_view name) {
  return c.lastWidgetRects.find(name) != c.lastWidgetRects.end();
}

const std::pair<std::string_view, std::string_view>* ofHeader(std::string_view name) {
  const auto at = std::find_if(std::begin(kOfHeader), std::end(kOfHeader),
                               [&](const auto& one) { return isOf(name, one.first); });
  return at == std::end(kOfHeader) ? nullptr : at;
}

bool isInMenu(const Context& c, std::string_view name, std::string_view part) {
  if (c.layout.header.empty() || c.state.present || listed(c.hide, part)) return false;
  if (name == "share") return c.view.shares;
  return name != "fullscreen" || c.layout.width != Width::full;
}

void openControls(Context& c) {
  c.requests.guide.push_back({GuideAct::What::controls, 0, "", {}});
  c.view.sideClosed = false;
  c.view.drawer = c.layout.sidePanelIsDrawer;
}

void operate(Context& c, ControlAction& action, const Option& option, bool isOnPage) {
  const document::Value now = document::get(c.state, option.id);
  if (const bool* on = std::get_if<bool>(&now)) return c.requests.set(option.id, !*on);
  if (isOnPage) return;
  openControls(c);
  action.seeks = option.name;
}

void unfold(ViewState& v) { v.sections = {v.sections.open, true, true, true, true}; }

}  // namespace

const Option* optionOf(std::string_view name) {
  return ofHeader(name) ? nullptr : document::optionNamed(name);
}

std::optional<View> pageOf(const Context& c, std::string_view name) {
  return name == "experiments" ? c.view.experiments.recent : pageNamed(name);
}

bool isReachable(const Context& c, std::string_view name) {
  if (name.ends_with('*') || std::any_of(std::begin(kPlaces), std::end(kPlaces),
                                         [&](std::string_view place) { return isOf(name, place); }))
    return false;
  if (const auto page = pageOf(c, name)) return hasPage(c, *page);
  if (name == "step-through") return !listed(c.hide, "stepper");
  if (name == "panel:guide") return !listed(c.hide, "guide");
  if (const auto* header = ofHeader(name); header && isInMenu(c, name, header->second)) return true;
  const bool isOfPanel = optionOf(name) || name == "panel:controls" ||
                         std::find(std::begin(kOfPanel), std::end(kOfPanel), name) != std::end(kOfPanel);
  return isOnScreen(c, name) || (isOfPanel && !listed(c.hide, "panel"));
}

void begin(Context& c, ControlAction& action, std::string_view name) {
  action = {};
  c.view.run.clear(), c.view.seek.clear();
  const auto page = pageOf(c, name);
  const Option* option = optionOf(name);
  const auto* header = ofHeader(name);
  const bool isOfBoard =
      !page && !header && name != "panel:controls" && name != "panel:guide" && !isOnScreen(c, name);
  if (page) showView(c, *page);
  else if (isOfBoard && c.onPage()) showView(c, View::layer);
  if (option) return operate(c, action, *option, page.has_value());
  if (page) return;
  if (name == "step-through") return toggleStepper(c);
  if (name == "panel:controls") return openControls(c);
  action.presses = {std::string(name)};
  if (isOnScreen(c, name)) return;
  if (header)
    action.presses.insert(action.presses.begin(),
                          header->second == "export" && isOnScreen(c, "export") ? "export" : "more");
  else if (name == "panel:guide")
    action.presses.clear(), c.requests.guide.push_back({GuideAct::What::tab, 0, "", {}});
  else openControls(c);
}

void advance(Context& c, ControlAction& action) {
  const bool waits = !c.view.run.empty() || !c.view.seek.empty();
  if (!waits) {
    action.frames = 0;
    if (!action.presses.empty()) {
      c.view.run = action.presses.front();
      action.presses.erase(action.presses.begin());
    } else if (!action.seeks.empty()) {
      c.view.seek = std::exchange(action.seeks, {});
      c.view.options.on = true;
    } else {
      return;
    }
  }
  c.view.busy = true;
  if (!c.view.seek.empty()) c.view.options.on = true;
  if (++action.frames == kUnfolds) unfold(c.view);
  if (action.frames < kMostFrames) return;
  c.view.run.clear(), c.view.seek.clear();
  action = {};
  c.requests.say("This board has no such control now.");
}

}  // namespace views
