// A parameter around the layer on a page: shown, and edited.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sentence.h"
#include "views/pages/column.h"

namespace views {
namespace {

constexpr std::uint32_t kParameterSlot = 5200;

class ParameterView {
 public:
  ParameterView(Context& c, document::ParameterId id, const attention::Tensor& numbers,
                const PageMatrix& matrix)
      : c_(c),
        cell_(c.view.experiments.cell),
        id_(id),
        numbers_(numbers),
        matrix_(matrix) {}

  /// The current item must be the button over the cells.
  void pointer(std::string_view place) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsItemActivated() && matrix_.hit(mouse.x, mouse.y, cell_.row, cell_.col)) {
      choose();
      if (c_.touch) c_.view.finger.grip();
      c_.view.experiments.focusRing.focus = ImGui::GetID(place.data(), place.data() + place.size());
      cell_.travelled = 0, cell_.before = value();
    } else if (ImGui::IsItemActive() && isChosen() && numbers_.contains(0, cell_.row, cell_.col)) {
      drag();
    }
    if (ImGui::IsItemDeactivated()) c_.requests.endGesture = true;
    if (ImGui::IsItemHovered() && isChosen() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) type({});
  }

  void choose() { cell_.on = true, cell_.parameter = id_; }

  void keys() {
    if (!isChosen()) return;
    const ParameterCell::Keys keys = std::exchange(cell_.keys, {});
    cell_.row = std::clamp(cell_.row + keys.down, 0, numbers_.rows() - 1);
    cell_.col = std::clamp(cell_.col + keys.right, 0, numbers_.cols() - 1);
    if (keys.up != 0) set(moved(value(), perKey() * keys.up), 0);
    if (keys.type) type(keys.first);
    const Box box = cellBox();
    ImGui::GetWindowDrawList()->AddRect({box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1},
                                        c_.palette.query, matrix_.cell >= 20 ? 6.0f : 1.0f, 0, 2);
  }

 private:
  bool isChosen() const { return cell_.on && cell_.parameter == id_; }
  float value() const { return numbers_.at(0, cell_.row, cell_.col); }
  Box cellBox() const {
    const float size = matrix_.cell;
    return {matrix_.box.x + size * static_cast<float>(cell_.col),
            matrix_.box.y + size * static_cast<float>(cell_.row), size, size};
  }

  void set(float to, std::uint64_t gesture) {
    c_.requests.edit(document::SetParameter{id_, cell_.row, cell_.col, 1, 1, {to}}, gesture);
  }

  /// Dragging upwards increases the number; with a finger, which must hold it, also dragging to the right.
  void drag() {
    if (c_.view.finger.does != (c_.touch ? Finger::Does::holds : Finger::Does::drags)) return;
    const double step = perPixel();
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    cell_.travelled += static_cast<double>(c_.touch ? by.x - by.y : -by.y) * step;
    set(moved(cell_.before, std::round(cell_.travelled / step) * step), kSliderGesture);
  }

  void type(std::string_view first) {
    TextTarget t = numberField(document::name(id_), cell_.row, cell_.col, cellBox(), value(), first);
    t.kind = TextTarget::Kind::parameter, t.parameter = id_;
    c_.requests.text = t;
  }

  Context& c_;
  ParameterCell& cell_;
  document::ParameterId id_;
  const attention::Tensor& numbers_;
  const PageMatrix& matrix_;
};

}  // namespace

bool ParameterCell::readKeys() {
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const ImGuiIO& io = ImGui::GetIO();
  const int down = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
  keys.right = pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
  (io.KeyCtrl || io.KeySuper ? keys.down : keys.up) = io.KeyCtrl || io.KeySuper ? down : -down;
  keys.first = typedNumber();
  keys.type = pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || !keys.first.empty();
  const bool leaves = pressed(ImGuiKey_Escape);
  on = !leaves;
  return leaves || down != 0 || keys.right != 0 || keys.type;
}

PageMatrix parameterMatrix(Context& c, document::ParameterId id, std::string_view before) {
  PageMatrix m;
  m.slot = kParameterSlot + static_cast<std::uint32_t>(id), m.tensor = &c.derived.parameter(id);
  m.name = document::name(id), m.before = before;
  m.rowsAreTokens = false, m.isParameter = true, m.parameter = id;
  return m;
}

void editParameter(Context& c, PageColumn& column, const PageMatrix& m) {
  const std::string place = "slider:" + m.name;
  c.widgetRects[place] = m.box;
  if (c.locked(m.name) || !document::checkParameterSize(c.state, m.parameter)) return;
  ParameterView view(c, m.parameter, *m.tensor, m);
  if (column.keys(place, m.box).press) view.choose();
  ImGui::SetCursorScreenPos({m.box.x, m.box.y});
  ImGui::InvisibleButton(place.c_str(), {std::max(m.box.width, 1.0f), std::max(m.box.height, 1.0f)});
  view.pointer(place);
  view.keys();
}

}  // namespace views
