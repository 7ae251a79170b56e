// The step of the layer that computes the focused cell, as nested loops, with the cell's indices highlighted.
#include "attention/layer/loops.h"

#include <algorithm>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/stepper.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::LoopLine;
using base::joined;

class LoopsView {
 public:
  LoopsView(Context& c, const Box& area)
      : c_(c),
        list_(ImGui::GetWindowDrawList()),
        left_(area.x + 18),
        right_(area.right() - 18),
        bottom_(area.bottom() - 10) {}

  void draw(float y) {
    const std::vector<LoopLine> lines = find();
    if (lines.empty()) {
      paragraph({list_, c_.fonts.small, c_.palette.muted}, left_, y, right_ - left_,
                "It is an input, and not computed. Choose a cell of S, W or O.");
      return;
    }
    textMiddle(list_, c_.fonts.strong, left_, y + 8, hue(c_.palette, at_.tensor), formula());
    y += 26;
    const float pitch = std::min(19.0f, (bottom_ - y) / static_cast<float>(lines.size()));
    for (std::size_t i = 0; i < lines.size(); ++i, y += pitch)
      line(lines[i], {left_ - 6, y, right_ - left_ + 12, pitch}, i);
  }

 private:
  // The loops of the cell that the inspector explains; if that is an input under the pointer, those of the
  // selected one.
  std::vector<LoopLine> find() {
    at_ = c_.focus();
    if (const StepperView* stepper = stepperOf(c_))
      at_ = {TensorId::weights, stepper->at.head, stepper->at.row, stepper->at.key};
    for (const CellRef& cell : {at_, c_.chosen(), c_.view.explained}) {
      at_ = cell, at_.tensor = attention::madeByLoops(cell.tensor);
      const attention::Tensor* t = c_.tensor(at_.tensor);
      if (!t || !t->contains(at_.head, at_.row, at_.col)) continue;
      const int head = headShowing(c_.state, at_.tensor, at_.head, at_.row, at_.col);
      auto lines = attention::loopsOf(at_.tensor, c_.spec, c_.inputs, c_.trace, head, c_.state.columnLayout);
      if (!lines.empty()) return lines;
    }
    return {};
  }

  base::Message formula() const {
    document::Settings one = c_.state;
    one.averageHeads = false;
    if (at_.tensor == TensorId::scores) return scoreFormula(c_.state);
    if (at_.tensor == TensorId::weights) return weightFormula(one);
    if (at_.tensor == TensorId::head_output) return outputFormula(one);
    const MatrixPlace* m = c_.layout.find(at_.tensor);
    if (at_.tensor == TensorId::output)
      return m && c_.layout.find(TensorId::w_o) ? base::message({"Y = ", base::Message(m->caption)}) : "Y";
    const bool isOfX = at_.tensor == TensorId::q || at_.tensor == TensorId::k || at_.tensor == TensorId::v;
    return m && isOfX && !m->caption.empty() ? m->caption : attention::symbol(at_.tensor, c_.spec.score);
  }

  // The value of the index for the cell, from 0; −1 if it has no single value.
  int index(char letter) const {
    const bool ofKeys = attention::rowsOf(at_.tensor) == attention::Rows::keys;
    if (letter == 'i') return ofKeys ? -1 : at_.row;
    if (letter == 'j') return ofKeys ? at_.row : attention::isOfPairs(at_.tensor) ? at_.col : -1;
    return letter == 'c' && !attention::isOfPairs(at_.tensor) ? at_.col : -1;
  }
  ImU32 color(char letter) const {
    return letter == 'i' ? c_.palette.query : letter == 'j' ? c_.palette.key : c_.palette.value;
  }

  void line(const LoopLine& l, const Box& row, std::size_t number) {
    ImFont* font = c_.fonts.monoSmall;
    const float y = row.midY(), x = left_ + 18 * static_cast<float>(l.depth), space = textWidth(font, "0");
    const int at = l.opens ? index(l.opens) : -1;
    if (at >= 0 || l.makes)
      list_->AddRectFilled({row.x, row.y}, {row.right(), row.bottom()}, c_.palette.hover, 4);
    textMiddle(list_, font, x, y, c_.palette.text, elide(font, l.text, right_ - x));
    c_.widgetRects["loops:" + std::to_string(number)] = row;
    lit(l, x, y, space);
    if (at >= 0) {
      const bool isToken = l.opens != 'c', ofKeys = l.opens == 'j';
      std::string words = joined({std::string(1, l.opens), " = ", at + 1});
      if (isToken)
        words +=
            "  " + (ofKeys ? document::keyLabels(c_.state) : c_.state.labels)[static_cast<std::size_t>(at)];
      else if (const std::string_view name = document::columnName(c_.state, c_.state.focusHead, at);
               !name.empty() && (at_.tensor == TensorId::q || at_.tensor == TensorId::k))
        words += joined({"  ", name});
      textRight(list_, c_.fonts.small, right_, y, color(l.opens), elide(c_.fonts.small, words, 120));
    } else if (l.makes) {
      const double value = double{c_.tensor(shownTensor(at_.tensor))->at(at_.head, at_.row, at_.col)};
      textRight(list_, c_.fonts.monoSmall, right_, y, c_.palette.text,
                "= " + formatNumber(value, c_.state.decimals));
    }
  }

  // Highlights the letters of the cell's indices: inside brackets, and where their loops begin.
  void lit(const LoopLine& l, float x, float y, float space) {
    ImFont* font = c_.fonts.monoSmall;
    bool isInside = l.opens != 0;
    float place = x;
    for (std::size_t i = 0; i < l.text.size(); ++i) {
      const char letter = l.text[i];
      if ((static_cast<unsigned char>(letter) & 0xc0) == 0x80) continue;  // a UTF-8 continuation byte
      if (letter == '[') isInside = true;
      const auto isLetter = [&](std::size_t k) {
        return k < l.text.size() && ((l.text[k] | 0x20) >= 'a' && (l.text[k] | 0x20) <= 'z');
      };
      const bool isAlone = !isLetter(i + 1) && (i == 0 || !isLetter(i - 1));
      if (isInside && isAlone && (letter == 'i' || letter == 'j' || letter == 'c') && index(letter) >= 0) {
        list_->AddRectFilled({place - 1, y - 7}, {place + space + 1, y + 8}, c_.palette.panel, 2);
        list_->AddRectFilled({place - 1, y - 7}, {place + space + 1, y + 8}, withAlpha(color(letter), 0.16f),
                             2);
        const float size = font->FontSize * ImGui::GetIO().FontGlobalScale;
        list_->AddText(font, size, {place, std::round((y - size / 2) * 2) / 2}, color(letter), &l.text[i],
                       &l.text[i] + 1);
      }
      if (letter == ']' || letter == ':') isInside = false;
      place += space;
    }
  }

  Context& c_;
  ImDrawList* list_;
  float left_, right_, bottom_;
  CellRef at_;
};

}  // namespace

void loops(Context& c, const Box& area) { LoopsView(c, area).draw(area.y + 52); }

}  // namespace views
