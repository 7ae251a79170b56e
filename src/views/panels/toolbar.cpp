// The bar at the bottom of a phone, in reach of a thumb: Undo, Redo, and the two sheets, of which one at a
// time is open; while a number is edited, its keypad and the way out in their place.
#include "views/guide/guide_page.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using Icon = Widgets::Icon;

class Toolbar {
 public:
  explicit Toolbar(Context& c)
      : c_(c),
        w_(c),
        box_(c.layout.toolbar),
        hasPanel_(!c.layout.side.empty()),
        hasGuide_(!listed(c.hide, "guide")) {}

  void draw() {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({box_.x, box_.y}, {box_.right(), box_.bottom()}, c_.palette.panel);
    list->AddLine({box_.x, box_.y + 0.5f}, {box_.right(), box_.y + 0.5f}, c_.palette.border);
    c_.widgetRects["toolbar"] = box_;
    if (w_.slot("undo", next(), Icon::undo, "Undo", c_.canUndo)) c_.requests.ask(Command::undo);
    if (w_.slot("redo", next(), Icon::redo, "Redo", c_.canRedo)) c_.requests.ask(Command::redo);
    if (!c_.layout.editing.empty()) return editingSlots();
    bool& controls = c_.view.drawer;
    if (hasPanel_ && w_.slot("panel", next(), Icon::sliders, "Controls", true, controls))
      controls = !controls;
    if (hasGuide_) guide(list, next());
  }

 private:
  Box next() {
    const float width =
        box_.width / static_cast<float>(c_.layout.editing.empty() ? 2 + hasPanel_ + hasGuide_ : 4);
    return {box_.x + width * static_cast<float>(at_++), box_.y, width, box_.height};
  }

  [[gnu::noinline]] void editingSlots() {
    bool& keys = c_.view.keys;
    if (w_.slot("keys", next(), Icon::keys, "Keys", true, keys)) keys = !keys;
    if (w_.slot("done", next(), Icon::done, "Done")) endEditing(c_);
  }

  // A lesson that the controls cover waits for them to close.
  void guide(ImDrawList* list, const Box& box) {
    const bool waits = c_.view.guideOpen && c_.view.drawer;
    const bool pressed = w_.slot("panel:guide", box, Icon::book, "Guide", true, c_.view.guideOpen && !waits);
    if (waits) list->AddCircleFilled({box.midX() + 14, box.y + 12}, 4, c_.palette.on, 16);
    if (!pressed) return;
    if (waits) c_.view.drawer = false;
    else if (c_.view.guideOpen) c_.requests.guide.push_back({GuideAct::What::close, 0, "", {}});
    else openGuide(c_);
  }

  Context& c_;
  Widgets w_;
  Box box_;
  bool hasPanel_, hasGuide_;
  int at_ = 0;
};

}  // namespace

void toolbar(Context& c) {
  if (!c.layout.toolbar.empty()) Toolbar(c).draw();
}

}  // namespace views
