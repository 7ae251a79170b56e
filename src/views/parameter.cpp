// A parameter around the layer on a page of the experiments, to look at and to change.
#include <algorithm>
#include <cmath>
#include <utility>

#include "document/sentence.h"
#include "views/lab_page.h"

namespace views {
namespace {

constexpr std::uint32_t kSlot = 5200;

class ParameterView {
 public:
  ParameterView(Context& c, document::ParameterId id, const attention::Tensor& numbers, const LabMatrix& matrix)
      : c_(c), cell_(c.view.lab.cell), id_(id), numbers_(numbers), matrix_(matrix) {}

  /// The item is the button over the cells.
  void pointer(std::string_view place) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
    if (ImGui::IsItemActivated() && matrix_.hit(mouse.x, mouse.y, cell_.row, cell_.col)) {
      choose();
      c_.view.lab.walk.focus = ImGui::GetID(place.data(), place.data() + place.size());
      cell_.travelled = 0, cell_.before = value();
    } else if (ImGui::IsItemActive() && isChosen() && numbers_.contains(0, cell_.row, cell_.col)) {
      drag();
    }
    if (ImGui::IsItemDeactivated()) c_.wishes.endGesture = true;
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
    ImGui::GetWindowDrawList()->AddRect({box.x - 1, box.y - 1}, {box.right() + 1, box.bottom() + 1}, c_.palette.query,
                                        matrix_.cell >= 20 ? 6.0f : 1.0f, 0, 2);
  }

 private:
  bool isChosen() const { return cell_.on && cell_.parameter == id_; }
  float value() const { return numbers_.at(0, cell_.row, cell_.col); }
  Box cellBox() const {
    const float size = matrix_.cell;
    return {matrix_.box.x + size * static_cast<float>(cell_.col), matrix_.box.y + size * static_cast<float>(cell_.row), size, size};
  }

  void set(float to, std::uint64_t gesture) {
    c_.wishes.edit(document::SetParameter{id_, cell_.row, cell_.col, 1, 1, {to}}, gesture);
  }

  /// Upwards is more; under a finger, which scrolls the page that way, to the right.
  void drag() {
    if (c_.view.finger.does != Finger::Does::drags) return;
    const double step = perPixel();
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    cell_.travelled += static_cast<double>(c_.touch ? by.x : -by.y) * step;
    set(moved(cell_.before, std::round(cell_.travelled / step) * step), kSliderGesture);
  }

  void type(std::string_view first) {
    TextTarget t = numberField(document::name(id_), cell_.row, cell_.col, cellBox(), value(), first);
    t.kind = TextTarget::Kind::parameter, t.parameter = id_;
    c_.wishes.text = t;
  }

  Context& c_;
  ParameterCell& cell_;
  document::ParameterId id_;
  const attention::Tensor& numbers_;
  const LabMatrix& matrix_;
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

void drawParameter(Context& c, LabColumn& column, document::ParameterId id, float height) {
  const std::string_view name = document::name(id);
  const attention::Tensor& numbers = c.around.parameter(id);
  const Box room = column.take(0);
  const std::string title = document::joined({name, "  ", document::shapeText({numbers.rows(), numbers.cols()})});
  const LabMatrix m = drawMatrix(c, kSlot + static_cast<std::uint32_t>(id), numbers, 0, c.revision,
                                 {room.x, room.y, room.width, height}, false, largest(numbers, 0), title, false);
  column.gap(m.box.bottom() - room.y + 12);
  const std::string place = "slider:" + std::string(name);
  c.places[place] = m.box;
  if (c.locked(name) || document::checkParameterSize(c.state, id)) return;
  ParameterView view(c, id, numbers, m);
  if (column.keys(place, m.box).press) view.choose();
  ImGui::SetCursorScreenPos({m.box.x, m.box.y});
  ImGui::InvisibleButton(place.c_str(), {std::max(m.box.width, 1.0f), std::max(m.box.height, 1.0f)});
  view.pointer(place);
  view.keys();
}

}  // namespace views
