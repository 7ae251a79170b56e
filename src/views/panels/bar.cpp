// The bar over the board of a large window: what the playground is about, in reach while the controls are
// not.
#include <algorithm>
#include <cmath>

#include "views/board/stepper.h"
#include "views/guide/guide_page.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::OptionId;

class Bar {
 public:
  explicit Bar(Context& c)
      : c_(c),
        w_(c),
        list_(ImGui::GetWindowDrawList()),
        box_(c.layout.bar),
        x_(box_.x + kPad) {}

  void draw() {
    list_->AddRectFilled({box_.x, box_.y}, {box_.right(), box_.bottom()}, c_.palette.panel);
    list_->AddLine({box_.x, box_.bottom() - 0.5f}, {box_.right(), box_.bottom() - 0.5f}, c_.palette.border);
    if (c_.layout.side.empty()) panels();
    sentence();
    causal();
    heads();
    steps();
  }

 private:
  static constexpr float kPad = 14, kGap = 8, kBetween = 32, kSentence = 240;

  Box next(float width, float gap) {
    const Box box{x_, box_.midY() - 14, width, 28};
    x_ += width + gap;
    return box;
  }
  float room(std::string_view words, float least) const {
    return std::max(least, std::ceil(textWidth(c_.fonts.text, words)) + 20);
  }
  void label(std::string_view words) {
    textMiddle(list_, c_.fonts.text, x_, box_.midY(), c_.palette.text, words);
    x_ += textWidth(c_.fonts.text, words) + 10;
  }

  // The buttons that open the left column.
  void panels() {
    if (w_.button("panel:controls", next(room("Controls", 104), kGap), "Controls"))
      c_.requests.guide.push_back({GuideAct::What::controls, 0, "", {}});
    if (!listed(c_.hide, "guide") && w_.button("panel:guide", next(room("Guide", 84), kGap), "Guide"))
      openGuide(c_);
    x_ += kBetween - kGap;
  }

  void sentence() {
    label("Sentence");
    const float most = box_.right() - x_ - (2 * kBetween + 380);
    sentenceField(c_, w_, "labels", next(std::clamp(most, 96.0f, kSentence), kBetween), false);
  }

  void causal() {
    const float width = textWidth(c_.fonts.strong, "Causal") + 44;
    if (w_.toggle("causal", next(width, kBetween), "Causal", c_.state.causal, true))
      c_.requests.set(OptionId::causal, !c_.state.causal);
  }

  void heads() {
    label("Heads");
    const HeadSteps steps(c_);
    steps.ask(c_, w_.stepper("heads", next(96, kBetween), std::to_string(c_.state.heads), steps.less > 0,
                             steps.more > 0));
  }

  void steps() {
    const float width = room("Step through", 112);
    if (c_.locked("stepper") || listed(c_.hide, "stepper") || x_ > box_.right() - kPad - width) return;
    if (w_.button("step-through", {box_.right() - kPad - width, box_.midY() - 14, width, 28}, "Step through"))
      toggleStepper(c_);
  }

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  Box box_;
  float x_;
};

}  // namespace

void bar(Context& c) {
  if (!c.layout.bar.empty()) Bar(c).draw();
}

void sentenceField(Context& c, Widgets& widgets, std::string_view name, const Box& box, bool ofKeys) {
  const std::vector<std::string>& labels = ofKeys ? c.state.keyLabels : c.state.labels;
  const auto joined = [&labels](std::size_t count) {
    std::string words;
    for (std::size_t i = 0; i < std::min(count, labels.size()); ++i) {
      if (i > 0) words += ' ';
      words += labels[i];
    }
    return words;
  };
  constexpr std::size_t kShown = 256;  // more do not fit into the field
  const AsIs asIs;
  if (!widgets.field(name, box, joined(kShown))) return;
  const std::string words = joined(labels.size());
  TextTarget t;
  t.kind = TextTarget::Kind::sentence;
  t.ofKeys = ofKeys;
  t.name = ofKeys ? "Sentence of the keys" : "Sentence";
  t.text = words;
  t.box = box;
  if (box.width < 200) t.box.width = std::min(300.0f, c.layout.header.width - box.x - 10);  // room to type
  c.requests.text = t;
}

}  // namespace views
