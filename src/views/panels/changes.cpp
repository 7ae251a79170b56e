#include "views/panels/changes.h"

#include <algorithm>
#include <cmath>

#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::CellChange;
using attention::Contrast;
using attention::Tensor;

constexpr std::size_t kMostOfKind = 8;  // rows of each kind
constexpr float kLeastMarked = 18;      // pixels of a cell

const Tensor* pinnedTensor(const Context& c, TensorId id, bool isMean) {
  if (isMean) return &c.pin->summaries().mean(id, c.pin->spec(), c.pin->trace());
  return attention::find(c.pin->inputs(), c.pin->trace(), id);
}

const document::Differences& found(const Context& c) {
  ChangesView& view = c.view.changes;
  if (!c.view.before && (view.revision != c.revision)) {
    view.found = c.pin->differences(c.state, c.trace, kMostOfKind);
    view.revision = c.revision;
  }
  return view.found;
}

/// What stands before the brackets of a name. Masked scores have the name of the place that shows them.
std::string_view symbolOf(const Context& c, TensorId id) {
  return id == TensorId::masked ? "S" : attention::symbol(id, c.spec.score);
}

/// "Q[saw₄, 3]", with the head if it is not the one on the board.
base::Message nameOf(const Context& c, const CellRef& cell) {
  std::string name = attention::explain({c.spec, c.inputs, c.trace}, cell, c.tokenLabels(), 0).name.english();
  if (const std::string_view own = attention::symbol(cell.tensor, c.spec.score); name.starts_with(own))
    name.replace(0, own.size(), symbolOf(c, cell.tensor));
  if (c.tensor(cell.tensor)->heads() > 1 && sliceOf(c.state, cell.tensor).head != cell.head)
    return base::message({name, " of head ", cell.head + 1});
  return name;
}

class Changes {
 public:
  Changes(Context& c, const Box& area, bool press)
      : c_(c),
        w_(c),
        list_(ImGui::GetWindowDrawList()),
        press_(press),
        area_(area) {
    margin_ = area.width < 460 ? 14.0f : 18.0f;
    left_ = area.x + margin_, right_ = area.right() - margin_;
  }

  void show() {
    if (!press_) c_.widgetRects["changes"] = area_;
    const float y = area_.y + 52;
    if (!c_.pin) return empty(y);
    const document::Differences& d = found(c_);
    buttons(y, d);
    const bool same =
        d.options.empty() && d.inputs.count + d.weights.count + d.scores.count + d.outputs.count == 0;
    const bool isNarrow = area_.width < 460;
    const base::Message said = c_.view.before ? "This is the pinned board."
                               : same         ? "Nothing differs from the pin."
                                              : counts(d);
    const float below = isNarrow ? 30.0f : 0.0f;  // the sentence has a line of its own below the buttons
    if (!press_)
      textMiddle(list_, c_.fonts.text, left_, y + 13 + below, c_.palette.text,
                 elide(c_.fonts.text, said, (isNarrow ? right_ : buttonsLeft_ - 10) - left_));
    rows(y + 40 + below, d);
  }

 private:
  void empty(float y) {
    const std::string words =
        "Pin the board as it is, then change something: what differs from the pin is marked in the cells, "
        "and what changed most is listed here.";
    const float high = paragraph({press_ ? nullptr : list_, c_.fonts.text, c_.palette.text}, left_, y,
                                 std::min(right_ - left_, 420.0f), words);
    if (button("changes:pin", {left_, y + high + 14, textWidth(c_.fonts.text, "Pin this board") + 24, 28},
               "Pin this board"))
      togglePin(c_);
  }

  void buttons(float y, const document::Differences& d) {
    const std::string unpin = "Unpin", look = "Hold to see before";
    float x = right_ - textWidth(c_.fonts.text, unpin) - 22;
    if (button("changes:unpin", {x, y, right_ - x, 26}, unpin)) togglePin(c_);
    const float width = textWidth(c_.fonts.text, look) + 22;
    x -= width + 8;
    buttonsLeft_ = x;
    if (!d.isComparable && !c_.view.before) return void(buttonsLeft_ = x + width + 8);
    (void)button("changes:before", {x, y, width, 26}, look);
    if (press_) c_.view.changes.isButtonHeld = ImGui::IsItemActive();
  }

  /// Handles presses in one pass, and is drawn in the other.
  bool button(std::string_view name, const Box& box, std::string_view words) {
    if (press_) return w_.area(name, box);
    const bool over =
        ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({box.x, box.y}, {box.right(), box.bottom()});
    const bool held = name == "changes:before" && c_.view.before;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         held   ? c_.palette.ink
                         : over ? c_.palette.hover
                                : c_.palette.panel,
                         5);
    if (!held) list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 5);
    textCentered(list_, c_.fonts.text, box.midX(), box.midY(), held ? c_.palette.inkText : c_.palette.text,
                 words);
    return false;
  }

  static base::Message counts(const document::Differences& d) {
    if (!d.isComparable) return "The shapes differ: cells are not compared.";
    const int edited = d.inputs.count, weights = d.weights.count;
    const base::Message cells = base::message({edited, edited == 1 ? " cell" : " cells"});
    const char* const differ = weights == 1 ? " weight differs" : " weights differ";
    if (d.options.empty()) return base::message({cells, " edited; ", weights, differ});
    return base::message({cells, " edited, ", d.options.size(),
                          d.options.size() == 1 ? " option; " : " options; ", weights, differ});
  }

  // Options first, then inputs and weights in turn, which say most; scores and outputs have what they leave.
  void rows(float y, const document::Differences& d) {
    const Contrast* kinds[] = {&d.inputs, &d.weights, &d.scores, &d.outputs};
    constexpr float kPitch = 22;
    int room = static_cast<int>((area_.bottom() - 8 - y) / kPitch);
    std::size_t take[] = {0, 0, 0, 0};
    const auto options = static_cast<int>(std::min<std::size_t>(d.options.size(), d.isComparable ? 2 : 8));
    room -= options;
    for (const std::size_t from : {0, 2}) {
      for (bool more = true; room > 0 && more;) {
        more = false;
        for (std::size_t k = from; k < from + 2 && room > 0; ++k) {
          if (take[k] < kinds[k]->largest.size()) ++take[k], --room, more = true;
        }
      }
    }
    for (int i = 0; i < options; ++i, y += kPitch)
      option(y + kPitch / 2, d.options[static_cast<std::size_t>(i)]);
    for (std::size_t k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < take[k]; ++i, y += kPitch) {
        const CellChange& change = kinds[k]->largest[i];
        cell({left_ - 6, y, right_ - left_ + 12, kPitch}, change, std::fabs(kinds[k]->largest.front().by()),
             "changes:" + std::to_string(k) + ":" + std::to_string(i));
      }
    }
  }

  void option(float y, const document::OptionChange& change) {
    if (press_) return;
    const std::string words = change.before + " → " + change.after;
    textMiddle(list_, c_.fonts.text, left_, y, c_.palette.text, elide(c_.fonts.text, change.name, 130));
    textMiddle(list_, c_.fonts.monoSmall, left_ + 140, y, c_.palette.text,
               elide(c_.fonts.monoSmall, words, right_ - left_ - 140));
  }

  void cell(const Box& row, const CellChange& change, double most, const std::string& place) {
    CellRef at = change.cell;
    if (press_) {
      if (!w_.area(place, row) || c_.view.before) return;
      if (at.tensor == TensorId::masked) at.tensor = TensorId::scores;
      if (sliceOf(c_.state, at.tensor).head != at.head)
        c_.requests.set(document::OptionId::focus_head,
                        static_cast<double>(headShowing(c_.state, at.tensor, at.head, at.row, at.col)));
      return goTo(c_, at);
    }
    if (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({row.x, row.y}, {row.right(), row.bottom()}))
      list_->AddRectFilled({row.x, row.y}, {row.right(), row.bottom()}, c_.palette.hover, 4);
    const float y = row.midY();
    const int decimals = std::clamp(c_.state.decimals, 2, 4);
    const std::string by = (change.by() > 0 ? "+" : "") + formatNumber(change.by(), decimals);
    const std::string numbers =
        formatNumber(double{change.before}, decimals) + " → " + formatNumber(double{change.after}, decimals);
    const float widest =
        textWidth(c_.fonts.monoSmall, "-0.00 → -0.00") + 6.6f * 2 * static_cast<float>(decimals - 2);
    const float room = right_ - left_, nameWidth = std::clamp(room * 0.34f, 96.0f, 190.0f), byWidth = 56;
    const std::string words = elide(c_.fonts.strong, nameOf(c_, at), nameWidth - 6);
    const std::string_view symbol = symbolOf(c_, at.tensor),
                           tensor = words.starts_with(symbol) ? symbol : std::string_view();
    {
      const AsIs translated;
      textMiddle(list_, c_.fonts.strong, left_, y, hue(c_.palette, at.tensor), tensor);
      textMiddle(list_, c_.fonts.text, left_ + textWidth(c_.fonts.strong, tensor), y, c_.palette.text,
                 std::string_view(words).substr(tensor.size()));
    }
    textMiddle(list_, c_.fonts.monoSmall, left_ + nameWidth, y, c_.palette.text, numbers);
    const float bar = left_ + nameWidth + widest + byWidth + 14, longest = std::min(150.0f, right_ - bar);
    textRight(list_, c_.fonts.monoSmall, left_ + nameWidth + widest + byWidth, y, c_.palette.muted, by);
    if (longest < 20 || most <= 0) return;
    const float width = std::max(2.0f, longest * static_cast<float>(std::fabs(change.by()) / most));
    list_->AddRectFilled({bar, y - 4}, {bar + width, y + 4},
                         withAlpha(hue(c_.palette, at.tensor), change.by() > 0 ? 0.8f : 0.4f), 2);
  }

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  bool press_;
  Box area_;
  float margin_ = 0, left_ = 0, right_ = 0, buttonsLeft_ = 0;
};

}  // namespace

void changes(Context& c, const Box& area, bool press) { Changes(c, area, press).show(); }

void togglePin(Context& c) {
  if (c.locked("pin")) return c.requests.say("This page has locked pin.");
  const bool pinned = c.pin != nullptr;
  c.requests.set(document::OptionId::pin, !pinned);
  c.requests.say(pinned
                     ? "The pin is gone. Ctrl+Z brings it back."
                     : "Pinned. What differs from now on is marked; hold l to see the board as it is now.");
}

bool hasPinnedCells(const Context& c) { return c.pin && !c.view.before && c.pin->isLike(c.state); }

void lookBefore(Context& c) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool key = !c.view.text && !io.KeyCtrl && !io.KeySuper && !io.KeyAlt && ImGui::IsKeyDown(ImGuiKey_L);
  const bool button = c.view.changes.isButtonHeld && ImGui::IsMouseDown(ImGuiMouseButton_Left);
  // If the shapes differ, the selection and layout of one board do not apply to the other.
  c.view.before = (key || button) && (c.view.before || c.pin->isLike(c.state));
}

std::vector<std::pair<TensorId, Tensor>> markable(const Context& c) {
  std::vector<std::pair<TensorId, Tensor>> all;
  for (const MatrixPlace& m : c.layout.matrices) {
    const bool isMean = c.showsMean() && (m.tensor == TensorId::weights || m.tensor == TensorId::head_output);
    const Tensor* t = m.cell < kLeastMarked ? nullptr
                      : isMean              ? &c.mean(m.tensor)
                                            : c.tensor(shownTensor(m.tensor));
    if (t) all.emplace_back(m.tensor, *t);
  }
  return all;
}

namespace {

/// What the cells of a matrix are compared with; null: nothing.
const Tensor* tensorBefore(const Context& c, TensorId place, bool isMean) {
  if (c.pin) return hasPinnedCells(c) ? pinnedTensor(c, shownTensor(place), isMean) : nullptr;
  if (!c.view.edited) return nullptr;
  for (const auto& [id, tensor] : c.view.edited->matrices)
    if (id == place) return &tensor;
  return nullptr;
}

}  // namespace

void markChanges(Context& c, const ShownMatrix& shown, bool isMean) {
  const auto& [m, box, look, now, id, s] = shown;
  const Tensor* was = m.cell < kLeastMarked ? nullptr : tensorBefore(c, m.tensor, isMean);
  if (!was || !was->sameShape(now)) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool edited = c.editable(m.tensor);
  const float arm = m.cell >= 32 ? 7.0f : 5.0f, inset = m.cell >= 32 ? 4.5f : 3.0f;
  for (int down = 0; down < m.rows; ++down) {
    const float y = box.y + static_cast<float>(down) * m.cell;
    if (y < c.layout.board.y - m.cell || y > c.layout.board.bottom()) continue;
    for (int across = 0; across < m.cols; ++across) {
      const int row = s.firstRow + (m.transposed ? across : down),
                col = s.firstCol + (m.transposed ? down : across);
      const float value = now.at(s.head, row, col);
      if (!attention::differs(was->at(s.head, row, col), value)) continue;
      const ImU32 under =
          std::isinf(value) ? c.palette.muted : textOn(draw::at(look.map, draw::fraction(look, value, 1)));
      const float x = box.x + static_cast<float>(across) * m.cell + inset, top = y + inset;
      const ImVec2 corner[] = {{x, top + arm}, {x, top}, {x + arm, top}};
      list->AddPolyline(corner, 3, edited ? hue(c.palette, m.tensor) : withAlpha(under, 0.7f), 0,
                        edited ? 2.2f : 1.5f);
      c.widgetRects["changed:" + std::string(attention::name(m.tensor)) + ":" + std::to_string(row) + ":" +
                    std::to_string(col)] = {x, top, arm, arm};
    }
  }
}

std::optional<float> weightBefore(const Context& c, int query, int key) {
  if (!hasPinnedCells(c)) return {};
  const Tensor* was = pinnedTensor(c, TensorId::weights, c.showsMean());
  const int head = c.showsMean() ? 0 : c.state.focusHead;
  if (!was || head >= was->heads() || query >= was->rows() || key >= was->cols()) return {};
  const float before = was->at(head, query, key), now = c.weight(query, key);
  const int decimals = std::min(c.state.decimals, 3);
  if (formatNumber(double{before}, decimals) == formatNumber(double{now}, decimals)) return {};
  return before;
}

std::string changedNumber(const Context& c, std::optional<float> before, float now) {
  const int decimals = std::min(c.state.decimals, 3);
  const std::string number = formatNumber(double{now}, decimals);
  return before ? formatNumber(double{*before}, decimals) + "→" + number : number;
}

}  // namespace views
