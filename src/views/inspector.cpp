// The arithmetic behind the cell in focus, with every number in it, and the row of weights that it stands in.
#include <algorithm>
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Explanation;
using attention::Term;

// Query row whose weights the bars show, or -1 where the focus belongs to no one query.
int queryRow(CellRef focus, int tokens) {
  return attention::rowsOf(focus.tensor) == attention::Rows::queries && focus.row < tokens ? focus.row : -1;
}

bool isPair(TensorId id) {
  return id == TensorId::weights || id == TensorId::scores || id == TensorId::masked || id == TensorId::raw;
}

// The mean that the board shows in place of one head's weight.
Explanation explainMean(const Context& c, CellRef focus) {
  const int decimals = c.state.decimals;
  Explanation e;
  const bool isOutput = focus.tensor == TensorId::head_output;
  const attention::Tensor &all = *c.tensor(focus.tensor), &mean = c.mean(focus.tensor);
  e.title = std::string("mean ") + (isOutput ? "O[" : "W[") + std::to_string(focus.row + 1) + ", " + std::to_string(focus.col + 1) + "] = " +
            formatNumber(static_cast<double>(mean.at(0, focus.row, focus.col)), decimals);
  for (int h = 0; h < c.state.heads; ++h) {
    const bool isHidden = (c.state.hiddenHeads >> h & 1) != 0;
    const double w = static_cast<double>(all.at(h, focus.row, focus.col));
    e.terms.push_back({"head " + std::to_string(h + 1), formatNumber(w, decimals) + (isHidden ? " (hidden: does not count)" : ""), w,
                       {{focus.tensor, h, focus.row, focus.col}}});
  }
  return e;
}

Explanation explainFocus(const Context& c, CellRef focus) {
  if (showsMean(c.state) && (focus.tensor == TensorId::weights || focus.tensor == TensorId::head_output)) return explainMean(c, focus);
  // The scores on the board have the mask in them.
  if (focus.tensor == TensorId::scores) focus.tensor = TensorId::masked;
  return attention::explain(c.spec, c.inputs, c.trace, focus, c.state.labels, document::keyLabels(c.state), c.state.decimals);
}

class Inspector {
 public:
  explicit Inspector(Context& c) : c_(c), list_(ImGui::GetWindowDrawList()) {}

  void whole(const Box& box, const Explanation& e) {
    const int row = queryRow(c_.focus(), c_.rowsSoFar());
    const float barsHeight = row >= 0 && box.height > 250 ? 108.0f : 0.0f;
    const bool sumAbove = row >= 0 && barsHeight == 0;
    const float top = card(c_, box, sumAbove ? elide(c_.fonts.strong, e.title, box.width - 96) : e.title);
    if (sumAbove) sum(box.right() - 18, box.y + 22, row);
    const bool narrow = box.width < 460;
    const float x = box.x + 18, numbers = x + (narrow ? 94.0f : 132.0f);
    digits_ = narrow ? c_.fonts.monoSmall : c_.fonts.mono;
    const float limit = box.bottom() - barsHeight - 8;
    float y = top + 16;
    const float pitch = std::min(26.0f, std::max(19.0f, (limit - y) / static_cast<float>(lines(e, box.right() - 14 - numbers))));
    for (const Term& term : e.terms) {
      if (y > limit) break;
      textMiddle(list_, c_.fonts.small, x, y, c_.palette.muted, elide(c_.fonts.small, term.label, numbers - x - 8));
      y = wrapped(term.text, numbers, y, box.right() - 14 - numbers, pitch, limit) + pitch;
    }
    if (barsHeight > 0) bars(box, row);
  }

  // Beside the matrices of a small embed: the last step in three lines, then the row as bars in line with the matrix.
  void brief(const Box& box, const Explanation& e) {
    const std::size_t equals = e.title.find(" = ");
    textMiddle(list_, c_.fonts.strong, box.x, box.y + 14, c_.palette.text, elide(c_.fonts.strong, e.title.substr(0, equals), box.width - 60));
    if (const int row = queryRow(c_.focus(), c_.rowsSoFar()); row >= 0) sum(box.x + std::min(box.width, 260.0f), box.y + 14, row);
    float y = box.y + 36;
    for (const std::string& line : briefLines(e)) {
      textMiddle(list_, c_.fonts.mono, box.x, y, c_.palette.text, elide(c_.fonts.mono, line, box.width));
      y += 20;
    }
    rowBars(box);
  }

 private:
  // The sum of the row, ending at `right`: in view whatever the size of the board, and in red where it should be 1.
  void sum(float right, float midY, int row) {
    const double value = rowSum(c_, row);
    const bool wrong = sumsToOne(c_.state) && value != 0.0 && std::fabs(value - 1) > 1e-3;
    textRight(list_, c_.fonts.monoSmall, right, midY, wrong ? c_.palette.error : c_.palette.muted, "Σ " + formatNumber(value, 2));
  }

  std::vector<std::string> briefLines(const Explanation& e) const {
    const CellRef f = c_.focus();
    const int decimals = c_.state.decimals;
    if (f.tensor == TensorId::weights) {
      const float w = c_.weight(f.row, f.col);
      if (showsMean(c_.state)) return {headName(c_.state), "= " + formatNumber(static_cast<double>(w), decimals)};
      if (std::isinf(c_.trace.masked.at(f.head, f.row, f.col))) return {"masked", "= " + formatNumber(static_cast<double>(w), decimals)};
      std::string inside = formatNumber(static_cast<double>(c_.trace.raw.at(f.head, f.row, f.col)), decimals);
      if (c_.state.score == attention::Score::scaled) inside += c_.state.scaleBy == 0.0f ? " ÷ √" + std::to_string(c_.state.headDim)
                                                                 : " × " + formatNumber(static_cast<double>(c_.state.scaleBy), 2);
      if (c_.state.temperature != 1.0f) inside += " ÷ " + formatNumber(static_cast<double>(c_.state.temperature), 2);
      return {"= " + normalizerName(c_.state) + "(" + inside + ")", "= " + formatNumber(static_cast<double>(w), decimals)};
    }
    std::vector<std::string> lines;
    const std::size_t equals = e.title.find(" = ");
    if (equals != std::string::npos) lines.push_back(e.title.substr(equals + 1));
    return lines;
  }

  void rowBars(const Box& box) {
    const MatrixPlace* m = c_.layout.find(TensorId::weights);
    int row = queryRow(c_.focus(), c_.rowsSoFar());
    if (!m || m->cell < 12) return;
    if (row < 0) row = c_.rowsSoFar() - 1;
    const Span span = spanOf(row);
    const float longest = (box.width - 92) / (span.high - span.low), zero = box.x - span.low * longest;
    // In line with the rows of the weights, closer where there are more keys than rows.
    const Box rows = onScreen(c_.layout, c_.view, m->box);
    const int keys = c_.state.keyTokens;
    const float pitch = std::min(m->cell, rows.height / static_cast<float>(keys));
    if (pitch < 12) return;
    for (int j = 0; j < keys; ++j) {
      const Box cell{rows.x, rows.y + static_cast<float>(j) * pitch, rows.width, pitch};
      const float w = c_.weight(row, j);
      const float high = std::min(22.0f, pitch - 6), width = std::max(2.0f, longest * std::fabs(w)), left = w < 0 ? zero - width : zero;
      const bool chosen = isPair(c_.focus().tensor) && c_.focus().col == j;
      list_->AddRectFilled({left, cell.midY() - high / 2}, {left + width, cell.midY() + high / 2},
                           withAlpha(c_.palette.weight, chosen ? 1.0f : 0.35f), 2);
      const std::string word = elide(c_.fonts.monoSmall, label(j), 56);
      textMiddle(list_, c_.fonts.monoSmall, std::max(zero, left + width) + 7, cell.midY(), c_.palette.text,
                 word + " " + formatNumber(static_cast<double>(w), c_.state.decimals));
    }
  }

  std::string_view label(int key) const { return document::keyLabels(c_.state)[static_cast<std::size_t>(key)]; }

  int lines(const Explanation& e, float width) const {
    float count = 0;
    for (const Term& t : e.terms) count += std::max(1.0f, std::ceil(textWidth(digits_, t.text) / width));
    return static_cast<int>(std::max(count, 1.0f));
  }

  // Breaks between terms; returns the y of the last line.
  float wrapped(std::string_view words, float x, float y, float width, float pitch, float limit) {
    while (textWidth(digits_, words) > width && y + pitch <= limit) {
      std::size_t cut = words.size();
      while (cut != std::string_view::npos && cut > 0 && textWidth(digits_, words.substr(0, cut)) > width) {
        cut = words.rfind(' ', cut - 1);
      }
      if (cut == std::string_view::npos || cut == 0) break;
      textMiddle(list_, digits_, x, y, c_.palette.text, words.substr(0, cut));
      words.remove_prefix(cut + 1);
      y += std::min(pitch, 21.0f);
    }
    textMiddle(list_, digits_, x, y, c_.palette.text, elide(digits_, words, width));
    return y;
  }

  // What the bars of a row lie between: 0 and 1 for shares, and as far as they go, both ways, for other weights.
  struct Span {
    float low = 0, high = 1;
  };
  Span spanOf(int row) const {
    Span span;
    for (int j = 0; j < c_.state.keyTokens; ++j) {
      span.low = std::min(span.low, c_.weight(row, j));
      span.high = std::max(span.high, c_.weight(row, j));
    }
    return span;
  }

  // The row in words, beside its bars.
  void rowWords(const Box& box, float base, int row, bool narrow) {
    const auto line = [&](float y, const std::string& words) { textMiddle(list_, c_.fonts.small, box.x + 18, y, c_.palette.muted, words); };
    const bool mean = showsMean(c_.state);
    const std::string sum = "Σ " + formatNumber(rowSum(c_, row), 2), number = "row " + std::to_string(row + 1);
    const auto bits = rowEntropy(c_, row);
    if (mean) line(base - 31, narrow ? "mean of heads" : headName(c_.state));
    line(base - 13, number + ", " + sum);
    if (bits) line(base + 5, (narrow ? "" : mean ? "its entropy " : "entropy ") + formatNumber(*bits, 2) + " bit");
    else line(base + 5, narrow ? "no entropy" : "entropy not defined");
  }

  void bars(const Box& box, int row) {
    const int n = c_.state.keyTokens;
    const float x0 = box.x + (box.width < 460 ? 96.0f : 150.0f), width = box.right() - 18 - x0;
    const float foot = box.bottom() - 30, pitch = std::min(90.0f, width / static_cast<float>(n));
    const float barWidth = std::max(1.0f, std::min(54.0f, pitch * 0.62f)), high = 56;
    const Span span = spanOf(row);
    const float unit = (span.low < 0 ? high - 14 : high) / (span.high - span.low), base = foot + (span.low < 0 ? span.low * unit - 14 : 0);
    rowWords(box, foot, row, box.width < 460);
    if (span.low < 0) list_->AddLine({x0, base}, {x0 + pitch * static_cast<float>(n), base}, c_.palette.faint);
    const int each = std::max(1, static_cast<int>(std::ceil(2 / pitch)));  // a bar of two pixels shows the key that is farthest from 0
    for (int j = 0; j < n; j += each) {
      float w = c_.weight(row, j);
      for (int k = j + 1; k < std::min(j + each, n); ++k) {
        if (const float other = c_.weight(row, k); std::fabs(other) > std::fabs(w)) w = other;
      }
      const float x = x0 + pitch * (static_cast<float>(j) + 0.5f), tall = std::max(2.0f, unit * std::fabs(w));
      const float top = w < 0 ? base : base - tall, bottom = w < 0 ? base + tall : base;
      const bool chosen = isPair(c_.focus().tensor) && c_.focus().col >= j && c_.focus().col < j + each;
      list_->AddRectFilled({x - barWidth / 2, top}, {x + barWidth / 2, bottom}, withAlpha(c_.palette.weight, chosen ? 1.0f : 0.35f),
                           std::min(2.0f, barWidth / 3));
      if (pitch < 32) continue;
      textCentered(list_, c_.fonts.monoSmall, x, w < 0 ? bottom + 8 : top - 9, c_.palette.text, formatNumber(static_cast<double>(w), std::min(c_.state.decimals, 3)));
      textCentered(list_, c_.fonts.small, x, foot + 11, chosen ? c_.palette.text : c_.palette.muted, elide(c_.fonts.small, label(j), pitch - 4));
    }
  }

  Context& c_;
  ImDrawList* list_;
  ImFont* digits_ = nullptr;
};

}  // namespace

void inspector(Context& c) {
  const CellRef focus = c.focus();
  if (c.layout.inspector.empty() || !c.tensor(focus.tensor)) return;
  const Box& board = c.layout.board;
  const Explanation e = explainFocus(c, focus);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  Inspector view(c);
  const Box first = onScreen(c.layout, c.view, c.layout.inspector);
  if (c.layout.inspectorIsBrief) {
    c.places["brief"] = first;
    view.brief(first, e);
    c.places["inspector"] = onScreen(c.layout, c.view, c.layout.inspectorBelow);
    view.whole(c.places["inspector"], e);
  } else {
    c.places["inspector"] = first;
    view.whole(first, e);
  }
  list->PopClipRect();
}

}  // namespace views
