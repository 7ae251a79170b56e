// The pages that replace the board: what they share, and the keys on them.
#include <algorithm>
#include <utility>

#include "views/pages/column.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using document::View;

/// The pages by digit keys, from 1 on.
constexpr View kByDigit[] = {View::spread, View::dense,    View::memory,
                             View::block,  View::segments, View::cost};
constexpr int kPages = std::size(kByDigit);

float draw(Context& c, const Box& area) {
  switch (c.open()) {
    case View::layer: break;
    case View::block: return blockPage(c, area);
    case View::segments: return segmentsPage(c, area);
    case View::spread:
    case View::dense:
    case View::memory:
    case View::cost: return experimentPage(c, area);
    case View::train: return trainPage(c, area);
    case View::model: return modelPage(c, area);
  }
  return area.y;
}

bool mayGo(const Context& c) { return !listed(c.hide, "views") && !listed(c.hide, "experiments"); }

}  // namespace

bool isExperiment(View view) {
  return view == View::spread || view == View::dense || view == View::memory || view == View::cost;
}

void showView(Context& c, View view) {
  if (c.locked("experiment")) return;
  c.requests.endGesture = true;  // a slider that disappears with its page does not see the button released
  setChoice(c, document::OptionId::view, static_cast<int>(view));
}

void page(Context& c) {
  ExperimentsView& state = c.view.experiments;
  const View open = c.open();
  if (open != std::exchange(state.last, open)) {
    state.focusRing = {}, state.cell.on = false;
    state.page.wanted = 0, state.page.fling = 0;
  }
  if (isExperiment(open)) state.recent = open;
  Box area = c.layout.board;
  if (open == View::train) {
    area.height -= kTrainBar;
    trainBar(c, {area.x, area.bottom(), area.width, kTrainBar});
  }
  ImGui::SetCursorScreenPos({area.x, area.y});
  const NarrowScrollbar scrollbar(c.palette, c.palette.background);
  state.page.begin();
  ImGui::BeginChild("##page", {area.width, area.height}, 0, ImGuiWindowFlags_NoNav);
  sharp(ImGui::GetWindowDrawList());
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  state.focusRing.on = true;
  state.focusRing.begin();
  if (std::exchange(state.focusRing.released, false)) c.requests.endGesture = true;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state.cell.on = false;
  const float margin = area.width < 480 ? 14.0f : 24.0f, wide = std::min(area.width - 8, 1640.0f);
  const Box inside{std::floor(origin.x + (area.width - 8 - wide) / 2 + margin), origin.y + 16,
                   wide - 2 * margin + 8, 0};
  const float bottom = draw(c, inside);
  ImGui::SetCursorScreenPos({origin.x, bottom + 8});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, state.page);
  state.page.update(area);
  state.focusRing.end();
  ImGui::EndChild();
}

bool pageKeys(Context& c) {
  ExperimentsView& state = c.view.experiments;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl || io.KeySuper) {
    if (pressed(ImGuiKey_Z)) return c.requests.ask(io.KeyShift ? Command::redo : Command::undo), true;
    if (pressed(ImGuiKey_Y)) return c.requests.ask(Command::redo), true;
    if (pressed(ImGuiKey_S)) return c.requests.ask(io.KeyShift ? Command::saveAs : Command::saveState), true;
    if (pressed(ImGuiKey_O)) return c.requests.ask(Command::pickFile), true;
  }
  if (pressed(ImGuiKey_Escape) && (c.view.help.open || c.view.drawer))
    return c.view.help.open = c.view.drawer = false, true;
  if (state.cell.on && state.cell.readKeys()) return true;
  if (state.focusRing.readKeys()) return state.cell.on = false, true;
  for (const ImWchar ch : io.InputQueueCharacters) {
    if (ch == '?') return c.view.help.open = !c.view.help.open, true;
    if (!mayGo(c)) continue;
    if (ch >= '1' && ch < '1' + kPages) return showView(c, kByDigit[ch - '1']), true;
    if (ch == 'p' && c.open() == View::train)
      return set(c, document::OptionId::train_running, !c.state.trainRunning), true;
    const View there = ch == 'b'                                      ? View::block
                       : ch == 'g'                                    ? View::segments
                       : ch == 't'                                    ? View::train
                       : ch == 'a' && document::hasManyHeads(c.state) ? View::model
                                                                      : View::layer;
    if (there != View::layer || ch == 'e') return showView(c, there == c.open() ? View::layer : there), true;
  }
  if (!pressed(ImGuiKey_Escape)) return false;
  if (c.state.present) return c.requests.set(document::OptionId::present, false), true;
  return mayGo(c) && (showView(c, View::layer), true);
}

bool pageUsesKey(const Context& c, ImGuiKey key, bool command, bool alt) {
  const bool cell = c.view.experiments.cell.on,
             arrow = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow;
  if (cell && arrow) return true;
  if (command) return key == ImGuiKey_Z || key == ImGuiKey_Y || key == ImGuiKey_S || key == ImGuiKey_O;
  if (alt) return false;
  if (FocusRing::uses(key) || (cell && isNumberKey(key)) || key == ImGuiKey_Slash) return true;
  const bool away = key == ImGuiKey_B || key == ImGuiKey_E || key == ImGuiKey_G || key == ImGuiKey_T ||
                    (key == ImGuiKey_A && document::hasManyHeads(c.state)) ||
                    (key == ImGuiKey_P && c.open() == View::train) ||
                    (key >= ImGuiKey_1 && key < ImGuiKey_1 + kPages);
  return mayGo(c) ? away || key == ImGuiKey_Escape
                  : key == ImGuiKey_Escape && (cell || c.state.present || c.view.help.open || c.view.drawer);
}

}  // namespace views
