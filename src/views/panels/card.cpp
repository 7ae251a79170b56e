// The card below the matrices: its tabs, and the view that is open.
#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/panels/changes.h"
#include "views/panels/panels.h"
#include "views/panels/picture.h"
#include "views/panels/plane.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr std::string_view kTitles[kCardCount] = {"Arcs", "Plane", "Values", "Changes", "Loops"};

/// Patches take the place of the arcs.
std::string_view titleOf(const Context& c, int card) {
  return card == 0 && hasPicture(c) ? "Picture" : kTitles[card];
}

/// From where a tab begins to where the next one does: a finger's width at least.
float pitchOf(const Context& c, float width, float gap) {
  return std::max(width + gap, c.roomy() ? 44.0f : 0.0f);
}

/// Words of another language may be so long that the tabs take all of a narrow card: they are smaller then.
bool areSmall(const Context& c, const Box& area, float gap) {
  float width = 18 + 6 + normsWidth(area.width) + 18 - gap;
  for (int i = 0; i < kCardCount; ++i)
    if ((c.layout.cards >> i & 1) != 0) width += pitchOf(c, textWidth(c.fonts.strong, titleOf(c, i)), gap);
  return area.width < 420 && width > area.width;
}

/// Draws the tabs, or handles presses on them; returns where they end.
float tabs(Context& c, const Box& area, bool press) {
  float x = area.x + 18;
  const float gap = area.width < 420 ? 9.0f : 20.0f;
  const bool small = areSmall(c, area, gap);
  for (int i = 0; i < kCardCount; ++i) {
    if ((c.layout.cards >> i & 1) == 0) continue;
    const auto card = static_cast<document::Card>(i);
    const float width = small ? std::max(textWidth(c.fonts.small, titleOf(c, i)),
                                         textWidth(c.fonts.smallStrong, titleOf(c, i)))
                              : textWidth(c.fonts.strong, titleOf(c, i));
    const Box box{x, area.y, width, 40};
    const float wide = pitchOf(c, width, gap);
    x += wide;
    const std::string name = "card:" + std::string(kCardNames[i]);
    if (!press) drawTab(c, box, titleOf(c, i), c.layout.card == card, small);
    else if (Widgets(c).area(name, {box.x - gap / 2, box.y, wide, c.roomy() ? 44 : box.height}))
      c.requests.set(document::OptionId::card, std::string(kCardNames[i]));
  }
  return x - gap;
}

/// The button for value_norms, right of the tabs, if there is room.
void norms(Context& c, const Box& area, float tabsEnd, bool press) {
  const float width = normsWidth(area.width);
  const Box box{area.right() - 18 - width, area.y + 10, width, 24};
  if (box.x < tabsEnd + 6 || hasPicture(c) || c.summaries.sampledEach() > 1) return;
  if (press) {
    const float more = c.roomy() ? 10 : 0;
    if (Widgets(c).area("value_norms", {box.x, box.y - more, box.width, box.height + 2 * more}))
      c.requests.set(document::OptionId::value_norms, !c.state.valueNorms);
    return;
  }
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = c.palette;
  if (c.state.valueNorms) list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, p.ink, 5);
  else list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, p.border, 5);
  textCentered(list, c.fonts.small, box.midX(), box.midY(), c.state.valueNorms ? p.inkText : p.muted,
               area.width < 420 ? "Effect" : "Contribution");
}

constexpr float kThreshold = 76, kThresholdNumber = 46;

/// The slider for the least weight of a link, left of that button; its ends are attention::kLink and 1.
[[gnu::noinline]] void threshold(Context& c, const Box& area, float tabsEnd, bool press) {
  const float right = area.right() - 18 - normsWidth(area.width) - 10;
  const Box track{right - kThresholdNumber - kThreshold, area.y + 10, kThreshold, 24};
  if (thresholdWidth(c, area.width) == 0 || track.x < tabsEnd + 6) return;
  constexpr float kDecades = 2;
  float position = 1 + std::log10(c.view.linkFrom) / kDecades;
  if (press) {
    const FocusRing::Key key = Widgets(c).keys("link_threshold", track);
    if (!Widgets(c).slider("link_threshold", track, position, 0.05f * static_cast<float>(key.step))) return;
    const float from = std::pow(10.0f, kDecades * (position - 1));
    c.view.linkFrom = std::max(std::round(from * 100) / 100, attention::kLink);
    c.view.busy = true;
    return;
  }
  ImDrawList* const list = ImGui::GetWindowDrawList();
  constexpr float kKnob = 7;
  const float x = track.x + kKnob + position * (track.width - 2 * kKnob), y = track.midY();
  list->AddRectFilled({track.x, y - 2}, {track.right(), y + 2}, c.palette.track, 2);
  list->AddCircleFilled({x, y}, kKnob, c.palette.ink, 24);
  textMiddle(list, c.fonts.monoSmall, track.right() + 6, y, c.palette.text,
             base::joined({"≥ ", shortestNumber(c.view.linkFrom)}));
}

bool isInView(const Context& c, const Box& area) {
  const Box& board = c.layout.board;
  return !c.layout.arcs.empty() && area.bottom() >= board.y && area.y <= board.bottom();
}

}  // namespace

float thresholdWidth(const Context& c, float card) {
  const bool isShown =
      std::max(c.state.tokens, c.state.keyTokens) > kLongFrom && card >= 520 && !hasPicture(c);
  return isShown ? kThreshold + kThresholdNumber + 10 : 0;
}

void lowerCardButtons(Context& c) {
  const Box area = onScreen(c.layout, c.view, c.layout.arcs);
  if (c.layout.arcs.empty() || c.view.drag.kind == Drag::Kind::value || c.view.drag.kind == Drag::Kind::paint)
    return;
  const Box& board = c.layout.board;
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  const float end = tabs(c, area, true);
  const document::Card card = c.layout.card;
  if (card == document::Card::arcs) norms(c, area, end, true), threshold(c, area, end, true);
  if (card == document::Card::plane || card == document::Card::values) planePointer(c);
  if (card == document::Card::changes) changes(c, area, true);
  ImGui::PopClipRect();
}

void lowerCard(Context& c) {
  const Box area = onScreen(c.layout, c.view, c.layout.arcs);
  c.view.plane.tips.clear();
  if (!isInView(c, area)) return;
  const Box& board = c.layout.board;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  card(c, area, "");
  list->AddLine({area.x + 1, area.y + 39.5f}, {area.right() - 1, area.y + 39.5f}, c.palette.border);
  const float end = tabs(c, area, false);
  switch (c.layout.card) {
    case document::Card::arcs:
      if (hasPicture(c)) {
        picture(c, area);
        break;
      }
      norms(c, area, end, false), threshold(c, area, end, false);
      arcs(c, area, end);
      break;
    case document::Card::plane:
    case document::Card::values: plane(c, area); break;
    case document::Card::changes: changes(c, area, false); break;
    case document::Card::loops: loops(c, area); break;
  }
  list->PopClipRect();
}

void drawTab(Context& c, const Box& box, base::MessageView words, bool open, bool small) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = small ? open ? c.fonts.smallStrong : c.fonts.small : open ? c.fonts.strong : c.fonts.text;
  textMiddle(list, font, box.x, box.midY() + 1, open ? c.palette.text : c.palette.muted, words);
  if (open) list->AddRectFilled({box.x, box.bottom() - 2}, {box.right(), box.bottom()}, c.palette.ink);
}

bool tab(Context& c, std::string_view name, const Box& box, base::MessageView words, bool open) {
  const float air = c.roomy() ? std::max(0.0f, 44 - box.width) : 0;
  const float high = c.roomy() ? 44 : box.height;
  const bool pressed = Widgets(c).area(name, {box.x - air / 2, box.midY() - high / 2, box.width + air, high});
  drawTab(c, box, words, open);
  return pressed;
}

float card(Context& c, const Box& box, base::MessageView title) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel, 8);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 8);
  textMiddle(list, c.fonts.strong, box.x + 18, box.y + 22, c.palette.text,
             elide(c.fonts.strong, title, box.width - 36));
  return box.y + 38;
}

}  // namespace views
