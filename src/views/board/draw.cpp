// The matrices on the board: how they are drawn.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "attention/engine/decode.h"
#include "attention/steps/position.h"
#include "base/number.h"
#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/saliency.h"
#include "views/board/stepper.h"
#include "views/guide/glossary.h"
#include "views/not_finite.h"
#include "views/panels/changes.h"
#include "views/panels/picture.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Region;
using attention::Tensor;

constexpr float kAnywhere = 1e6f;           // pixels: beyond any clip rectangle
constexpr std::uint32_t kDetailSlot = 900;  // below that of the map of all weights
constexpr std::size_t kManyRegions = 64;    // more outlines than this in a matrix are merged into one
constexpr int kContourSteps = 128;
constexpr float kMasking = 1e3f;  ///< values added to mask a key are larger
constexpr float kFar = 1e4f;      ///< numbers from here on may be abbreviated to their order of magnitude
constexpr float kShort = 4;       // characters of an abbreviated number
constexpr float kSmallestDigits = 0.8f;  // scale of the small font: 9 px can just be read

/// "−1e30", "2e-4", of a number that is neither 0 nor infinite. printf takes four times as long in the page,
/// and of thousands of tokens it is most cells of W.
[[gnu::noinline]] std::string shortFar(float value) {
  double size = std::fabs(static_cast<double>(value));
  int power = 0;
  for (; size >= 9.5; ++power) size /= 10;
  for (; size < 0.95; --power) size *= 10;
  return base::joined({value < 0 ? "−" : "", static_cast<int>(std::nearbyint(size)), "e", power});
}

/// What stands in a cell whose number is only a bound (attention::cutOffFrom): "≥1e38", "≤−1e38", or the sign
/// alone in a small cell.
[[gnu::noinline]] std::string shortBound(float value, float room) {
  const std::string sign = value < 0 ? "≤" : "≥";
  return room < 36
             ? sign
             : sign +
                   shortFar(std::copysign(std::pow(10.0f, std::floor(std::log10(std::fabs(value)))), value));
}

class BoardView {
 public:
  explicit BoardView(Context& context) : c_(context), list_(ImGui::GetWindowDrawList()) {}

  void draw() {
    const Box& b = c_.layout.board;
    list_->PushClipRect({b.x, b.y}, {b.right(), b.bottom()}, true);
    const CellRef focus = c_.focus();
    const bool isStepped = stepperOf(c_);
    if (c_.tensor(focus.tensor) && !isStepped) trail(focus);
    for (const MatrixPlace& m : c_.layout.matrices) matrix(m);
    arrow();
    raiseLegend(c_);
    for (const MatrixPlace& m : c_.layout.matrices) {
      if (isStepped) drawStepLight(c_, m, onScreen(c_.layout, c_.view, m.box));
      else outlines(m, focus);
    }
    for (const MatrixPlace& m : c_.layout.matrices)
      if (c_.view.magnify > 1) edgeLabels(m, onScreen(c_.layout, c_.view, m.box));  // over lines of rows
    list_->PopClipRect();
    if (c_.view.drag.kind == Drag::Kind::value || c_.view.drag.kind == Drag::Kind::weight) bubble();
  }

  std::optional<draw::Color> colorOf(CellRef cell) const {
    const MatrixPlace* m = c_.layout.find(cell.tensor);
    const bool mean = m && isMean(cell.tensor);
    const Tensor* tensor = mean ? &c_.mean(cell.tensor) : c_.tensor(shownTensor(cell.tensor));
    if (!m || !tensor || !tensor->contains(mean ? 0 : cell.head, cell.row, cell.col)) return {};
    const float value = tensor->at(mean ? 0 : cell.head, cell.row, cell.col);
    if (!std::isfinite(value)) return {};
    const draw::Heatmap look = style(*m, {});
    const float peak = look.scale == draw::Scale::row
                           ? c_.summaries.rowPeaks(c_.weightsId(), *tensor, mean ? 0 : cell.head)[cell.row]
                           : 0;
    return draw::at(look.map, draw::fraction(look, value, peak));
  }

  // Is the cell masked in every head that is shown?
  bool isMasked(int query, int key) const {
    const Tensor& masked = c_.trace.masked;
    const int first = c_.showsMean() ? 0 : c_.state.focusHead,
              last = c_.showsMean() ? masked.heads() - 1 : first;
    for (int h = first; h <= last; ++h) {
      const bool isThere = masked.isStored() && c_.summaries.isComputed(TensorId::masked, h),
                 isHidden = isThere ? std::isinf(masked.at(h, query, key)) : c_.isMasked(h, query, key);
      if (!isHidden) return c_.state.maskAfterSoftmax && c_.weight(query, key) == 0.0f;
    }
    return true;
  }

  draw::Color colorIn(TensorId id, float value) const {
    const MatrixPlace* m = c_.layout.find(id);
    if (!m) return toColor(c_.palette.panel);
    const draw::Heatmap look = style(*m, {});
    const auto& [head, row, key, column] = stepperOf(c_)->at;
    const float peak = look.scale == draw::Scale::row
                           ? c_.summaries.rowPeaks(TensorId::weights, c_.trace.weights, head)[row]
                           : 0;
    return draw::at(look.map, draw::fraction(look, value, peak));
  }

 private:
  // --- colours and numbers

  draw::Heatmap style(const MatrixPlace& m, const Box& box) const {
    draw::Heatmap h;
    h.gap = m.cell >= 20 ? 3.0f : m.cell >= 8 ? 1.0f : 0.0f;
    h.x = box.x, h.y = box.y, h.cell = m.cell;
    h.radius = m.cell >= 20 ? 3.0f : m.cell >= 8 ? 1.0f : 0.0f;
    h.transposed = m.transposed;
    if (m.tensor == TensorId::weights && !isSigned(c_.state)) {
      h.low = 0, h.high = niceBound(reach(TensorId::weights)), h.map = c_.palette.weightMap;
      h.scale = static_cast<draw::Scale>(document::shownScale(c_.state));
    } else {
      h.high = bound(m.tensor), h.low = -h.high, h.map = c_.palette.signedMap;
    }
    h.masked =
        toColor(c_.palette.dark ? withAlpha(c_.palette.faint, 0.45f) : withAlpha(c_.palette.faint, 0.5f));
    h.masked_fill = toColor(c_.palette.panel);
    return h;
  }

  // One scale for matrices that are compared with each other: Q with K, V with O.
  float bound(TensorId id) const {
    switch (id) {
      case TensorId::q:
      case TensorId::q_rotated:
      case TensorId::k_rotated:
      case TensorId::k: return niceBound(std::max(reach(TensorId::q), reach(TensorId::k)));
      case TensorId::v:
      case TensorId::head_output:
        return niceBound(std::max(reach(TensorId::v), reach(TensorId::head_output)));
      case TensorId::scores: {  // as shown: including a bias that does not mask
        const float biased = c_.state.biasKind == document::Bias::none ? 0.0f : reach(TensorId::biased);
        return niceBound(std::max(reach(TensorId::scores), biased < kMasking ? biased : 0.0f));
      }
      default: return niceBound(reach(id));
    }
  }

  float largest(TensorId id) const {
    const Tensor* tensor = c_.tensor(id);
    return tensor ? c_.summaries.range(id, *tensor).size() : 0.0f;
  }

  /// Ignores outliers, which would leave all other cells in one colour.
  float reach(TensorId id) const {
    const Tensor* tensor = c_.tensor(id);
    return tensor ? c_.summaries.reach(id, *tensor) : 0.0f;
  }

  bool isClipped(const MatrixPlace& m) const { return ends_.tensor == m.tensor && ends_.at > 0; }

  /// Adds to a title or caption that some numbers exceed the colour scale, if so.
  base::Message clipped(const MatrixPlace& m, const base::Message& words) const {
    if (!isClipped(m)) return words;
    c_.widgetRects["clipped:" + std::string(attention::name(m.tensor))] = onScreen(c_.layout, c_.view, m.box);
    return base::message(
        {words, " · colours end at ", (ends_.isSigned ? "±" : "") + base::shortest(ends_.at)});
  }

  void matrix(const MatrixPlace& m) {
    const bool mean = isMean(m.tensor);
    const TensorId id = !mean                           ? shownTensor(m.tensor)
                        : m.tensor == TensorId::weights ? attention::kMeanWeights
                                                        : attention::kMeanOutput;
    const Tensor* tensor = mean ? &c_.mean(m.tensor) : c_.tensor(id);
    if (!tensor || tensor->empty()) return;
    const Box box = onScreen(c_.layout, c_.view, m.box);
    const Box& board = c_.layout.board;
    if (box.bottom() < board.y - 60 || box.y > board.bottom() + 60) return;
    c_.widgetRects["matrix:" + std::string(attention::name(m.tensor))] = box;

    const Slice s = mean ? Slice{} : sliceOf(c_.state, m.tensor);
    const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    const draw::Heatmap look = style(m, box);
    const attention::Range range = c_.summaries.range(id, *tensor);
    ends_ = {m.tensor, range.size() > look.high ? look.high : 0.0f, look.low < 0};
    const ImU32 border =
        c_.editable(m.tensor) && !isQuiet(c_, m.tensor) ? hue(c_.palette, m.tensor) : c_.palette.border;
    const float pad = m.cell >= 20 ? 2.0f : 1.0f;
    list_->AddRectFilled({box.x - pad, box.y - pad}, {box.right() + pad, box.bottom() + pad},
                         c_.palette.panel, 4);
    draw::Heatmap drawn = look;
    const bool isToCome = c_.lacks(m.tensor);
    const draw::Values values =
        isToCome ? valuesToCome(m, drawn)
                 : valuesOf(c_, {id, *tensor, s.head, s.firstRow, s.firstCol, rows, cols}, drawn);
    const float* const peaks =
        m.tensor == TensorId::weights && !isToCome ? c_.summaries.rowPeaks(id, *tensor, s.head) : nullptr;
    const auto slot = static_cast<std::uint32_t>(m.tensor);
    c_.heatmaps.draw(list_, slot, values, drawn);
    if (values.made.blocks) c_.view.busy |= c_.heatmaps.isMaking(slot);
    list_->AddRect({box.x - pad, box.y - pad}, {box.right() + pad, box.bottom() + pad}, border, 5, 0,
                   c_.editable(m.tensor) ? 1.5f : 1.0f);
    if (isQuiet(c_, m.tensor))
      list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(c_.palette.panel, 0.5f));
    if (isToCome) return titles(m, box), labels(m, box);
    const ShownMatrix shown{m, box, look, *tensor, id, s};
    if (!c_.trace.output.isStored()) detail(shown, slot);
    if (m.cell >= kNumberCell) numbers(shown, peaks);
    else hatchMasked(m, box, s);
    drawTriangles(c_, m, box, look, peaks);
    if (stepperOf(c_)) drawSteps(c_, m, box, look);
    if (c_.pin || c_.view.edited) markChanges(c_, shown, mean);
    if (m.sums && m.cell >= 16 && !isQuiet(c_, TensorId::scores)) rowSums(m, box);
    if (c_.decodes()) decoding(m, box);
    titles(m, box);
    labels(m, box);
    if (!c_.state.notFinite.empty()) notFinite(shown);
    columnNames(m, box);
    if (m.tensor == TensorId::weights) weightLegend(c_, m, box, look);
    if (m.tensor == TensorId::weights && isLong(c_) && m.sums && !m.transposed && !mean)
      weightProfiles(c_, m, box, look);
  }

  // Of what is not there yet: a picture of some rows, if any, and no numbers.
  [[gnu::noinline]] draw::Values valuesToCome(const MatrixPlace& m, draw::Heatmap& look) const {
    return m.tensor == TensorId::weights ? firstValues(c_, c_.showsMean(), c_.state.focusHead, look)
                                         : draw::Values{};
  }

  // Tokens whose numbers in the file were not finite: a line beside their cells, and no numbers where zeros
  // stand for those of the file.
  [[gnu::noinline]] void notFinite(const ShownMatrix& shown) {
    const auto& [m, box, look, tensor, id, s] = shown;
    using attention::Rows;
    const Rows own = attention::rowsOf(m.tensor),
               others = attention::isOfPairs(m.tensor) ? Rows::keys : Rows::other;
    const TokenSide rows{
        own, !m.transposed, s.firstRow, m.transposed ? m.cols : m.rows, m.transposed ? box.x : box.y, m.cell},
        cols{others, m.transposed, s.firstCol, m.transposed ? m.rows : m.cols, m.transposed ? box.y : box.x,
             m.cell};
    for (const TokenSide& side : {rows, cols}) {
      const Box line = markNotFinite(c_, list_, side, (side.isDown ? box.x : box.y) - 3);
      if (!line.empty())
        c_.widgetRects[base::joined(
            {"not-finite:", attention::name(m.tensor), side.isDown ? "" : ":above"})] = line;
    }
    if (m.labelsLeft && m.cell < 14) fewLabels(m, box, m.transposed ? others : own);
    const bool isInput = m.tensor == TensorId::x || m.tensor == TensorId::x_kv || m.tensor == TensorId::x_v ||
                         m.tensor == TensorId::q || m.tensor == TensorId::k || m.tensor == TensorId::v;
    if (!isInput || m.cell < 10) return;
    const auto [downs, acrosses] = cellsInView(m, box);
    const attention::Span seen = m.transposed ? acrosses : downs, along = m.transposed ? downs : acrosses;
    for (int i = seen.begin; i < seen.end; ++i) {
      const float* const numbers = tensor.row(s.head, s.firstRow + i);
      if (!isNotFinite(c_, own == Rows::keys, s.firstRow + i) ||
          std::any_of(numbers, numbers + tensor.cols(), [](float number) { return number != 0; }))
        continue;
      for (int j = along.begin; j < along.end; ++j) {
        const float down = static_cast<float>(m.transposed ? j : i) * m.cell,
                    across = static_cast<float>(m.transposed ? i : j) * m.cell;
        const Box cell{box.x + across, box.y + down, m.cell, m.cell};
        m.cell >= kNumberCell ? hatch(cell) : hatchSmall(cell);
      }
    }
  }

  // Of a long board not every token has a label: those that are marked have, as far as there is room.
  void fewLabels(const MatrixPlace& m, const Box& box, attention::Rows rows) {
    if (rows == attention::Rows::other) return;
    const AsIs asIs;
    const bool ofKeys = rows == attention::Rows::keys;
    constexpr float kHigh = 14;
    const float x = box.x - 12;
    for (float t = 0, lowest = -kHigh; t < static_cast<float>(m.rows); ++t) {
      const float y = box.y + (t + 0.5f) * m.cell;
      if (y < lowest + kHigh || !isNotFinite(c_, ofKeys, static_cast<int>(t))) continue;
      lowest = y;
      const TokenLabel label{ofKeys, static_cast<int>(t), false, ofKeys ? "keys" : "left"};
      const float wide = std::min(textWidth(c_.fonts.small, wordsOf(label)), 84.0f);
      list_->AddRectFilled({x - wide - 4, y - kHigh / 2}, {x + 1, y + kHigh / 2}, c_.palette.background);
      tokenLabel(label, x, y, 1, kHigh);
    }
  }

  bool isSeen(const MatrixPlace& m) const {
    const auto [downs, acrosses] = cellsInView(m, onScreen(c_.layout, c_.view, m.box));
    return !downs.empty() && !acrosses.empty();
  }

  // Rows of outputs alone are made with those of weights.
  void outputsInView(const MatrixPlace& m, attention::Span rows) const {
    const auto isInView = [this](const MatrixPlace& other) {
      return attention::isOfPairs(other.tensor) && isSeen(other);
    };
    if (m.cell < 1 || m.transposed || std::ranges::any_of(c_.layout.matrices, isInView)) return;
    const int queries = c_.trace.weights.rows(), keys = c_.trace.weights.cols();
    c_.summaries.detail().ask({c_.state.focusHead, rows, {0, 1}, 1, queries, keys});
  }

  // Of a board that is too long for all of its rows: what is seen of it, over the picture of all.
  [[gnu::noinline]] void detail(const ShownMatrix& shown, std::uint32_t slot) {
    const auto& [m, box, look, tensor, id, s] = shown;
    attention::Detail& detail = c_.summaries.detail();
    const auto [downs, acrosses] = cellsInView(m, box);
    if (downs.empty() || acrosses.empty()) return;
    const attention::Overview* const all = c_.summaries.overview(id);
    if (!all) return c_.summaries.outputs(id) ? outputsInView(m, downs) : void();
    // Enlarged, scores and weights are seldom in view at once; then the weights have it.
    const MatrixPlace* const weights = c_.layout.find(TensorId::weights);
    if (m.tensor == TensorId::weights || !weights || !isSeen(*weights)) {
      attention::Detail::Area area{s.head, downs, acrosses, 1, tensor.rows(), tensor.cols()};
      if (m.transposed) std::swap(area.rows, area.cols);
      while (area.side < all->side() && static_cast<float>(area.side) * m.cell < 1) area.side *= 2;
      if (area.side >= all->side()) return detail.forget();
      detail.ask(area);
    }
    const attention::Detail::Area& made = detail.area();
    if (!detail.made().empty() && made.head == s.head && made.side < all->side())
      drawDetail(shown, slot, detail);
  }

  void drawDetail(const ShownMatrix& shown, std::uint32_t slot, const attention::Detail& detail) {
    const auto& [m, box, look, tensor, id, s] = shown;
    const attention::Detail::Area& made = detail.area();
    const attention::Span rows = detail.made();
    const attention::Tensor& blocks = detail.blocks(id);
    draw::Heatmap drawn = look;
    const float left = static_cast<float>(made.cols.begin) * m.cell,
                top = static_cast<float>(made.rows.begin) * m.cell;
    drawn.x += m.transposed ? top : left, drawn.y += m.transposed ? left : top;
    drawn.cell *= static_cast<float>(made.side);
    // All of it is one texture. What has still to be made is clipped, to whole pixels of rows that are there.
    const float origin = m.transposed ? drawn.x : drawn.y;
    const auto edge = [&](int row) { return origin + static_cast<float>(row) * drawn.cell; };
    const float from = rows.begin > 0 ? std::ceil(edge(rows.begin)) : -kAnywhere,
                to = rows.end < blocks.rows() ? std::floor(edge(rows.end)) : kAnywhere;
    if (m.transposed) list_->PushClipRect({from, -kAnywhere}, {to, kAnywhere}, true);
    else list_->PushClipRect({-kAnywhere, from}, {kAnywhere, to}, true);
    // No blocks show in the gaps between cells.
    const auto length = [&](int count) { return static_cast<float>(count) * drawn.cell; };
    const float right = drawn.x + length(m.transposed ? blocks.rows() : blocks.cols()),
                bottom = drawn.y + length(m.transposed ? blocks.cols() : blocks.rows());
    list_->AddRectFilled({drawn.x, drawn.y}, {std::min(right, box.right()), std::min(bottom, box.bottom())},
                         c_.palette.panel);
    c_.heatmaps.draw(list_, kDetailSlot + slot,
                     {blocks.row(0, 0),
                      blocks.rows(),
                      blocks.cols(),
                      blocks.cols(),
                      detail.version(),
                      {true, detail.begunAt(), detail.rowsAt(), nullptr},
                      detail.peaks()},
                     drawn);
    list_->PopClipRect();
  }

  /// A number; on a board that is too long for all of its rows, which take a millisecond each, only if it has
  /// been made.
  std::optional<float> numberOf(const ShownMatrix& shown, int row, int col) const {
    const auto& [m, box, look, tensor, id, s] = shown;
    if (c_.trace.output.isStored()) return tensor.at(s.head, row, col);
    if (const attention::Summaries::Outputs* const outputs = c_.summaries.outputs(id))
      return outputs->has(row) ? std::optional(outputs->row(row)[col]) : std::nullopt;
    if (!attention::isOfPairs(m.tensor)) return tensor.at(s.head, row, col);
    const attention::Detail& detail = c_.summaries.detail();
    const int block = detail.find(s.head, row), across = col - detail.area().cols.begin;
    const attention::Tensor& blocks = detail.blocks(id);
    if (block < 0 || across < 0 || across >= blocks.cols()) return std::nullopt;
    return blocks.at(0, block, across);
  }

  /// Is any part of a text line of that height, centred at that y, visible on the board?
  bool isInView(float midY, float height) const {
    const Box& board = c_.layout.board;
    return midY + height > board.y && midY - height < board.bottom();
  }

  /// The rows and columns of cells, as shown, that lie on the board.
  std::pair<attention::Span, attention::Span> cellsInView(const MatrixPlace& m, const Box& box) const {
    const Box& board = c_.layout.board;
    const auto axis = [&m](float origin, int count, float from, float to) {
      const float all = static_cast<float>(count);
      return attention::Span{static_cast<int>(std::clamp(std::floor((from - origin) / m.cell), 0.0f, all)),
                             static_cast<int>(std::clamp(std::ceil((to - origin) / m.cell), 0.0f, all))};
    };
    return {axis(box.y, m.rows, board.y, board.bottom()), axis(box.x, m.cols, board.x, board.right())};
  }

  bool isMean(TensorId id) const {
    return (id == TensorId::weights || id == TensorId::head_output) && c_.showsMean();
  }

  struct Digits {
    ImFont* font;
    float scale;
  };

  static float roomIn(float cell) { return cell - 3; }

  // For numbers of so many characters. Includes room for a sign in any case, so that cells of one size have
  // the same font; and of the largest font for an outline, which its digits would touch.
  Digits digitsFor(float length, int decimals, float cell) const {
    constexpr float kOutline = 3;
    constexpr float kMagnified = 64, kLargest = 2;  // from that cell on two fingers have magnified it, and
                                                    // its number grows with it
    const auto fits = [](ImFont* font, float characters, float room) {
      return characters * textWidth(font, "0") <= room;
    };
    const float room = roomIn(cell);
    ImFont* font = c_.fonts.mono;
    if (!fits(font, std::max(length, 3.0f + static_cast<float>(decimals)), room - kOutline))
      font = fits(c_.fonts.monoSmall, length, room) ? c_.fonts.monoSmall : c_.fonts.monoTiny;
    return {font,
            std::min(std::clamp(cell / kMagnified, 1.0f, kLargest), room / (length * textWidth(font, "0")))};
  }

  void numbers(const ShownMatrix& shown, const float* peaks) {
    const auto& [m, box, look, tensor, id, s] = shown;
    // Prefers a smaller font to fewer decimals, and keeps at least one decimal: 3.5 must not be shown as 4.
    // Of weights it keeps two: most of a row would be 0.0. Leaves space between neighbours, whose digits
    // would otherwise read as one number.
    const float room = roomIn(m.cell);
    const int fewest = std::min(c_.state.decimals, id == TensorId::weights ? 2 : 1);
    int decimals = c_.state.decimals;
    const float limit = attention::cutOffFrom(c_.spec, c_.inputs, id);
    float length = longest(tensor, id, s, m, decimals);
    while (decimals > fewest && length * textWidth(c_.fonts.monoTiny, "0") > room)
      length = longest(tensor, id, s, m, --decimals);
    Digits digits = digitsFor(length, decimals, m.cell);
    if (digits.scale < kSmallestDigits &&
        isFar(tensor, id, s, m)) {  // "−1e9" still fits where "−1000000000.0" does not
      length = kShort;
      digits = {c_.fonts.monoTiny, std::min(1.0f, room / (length * textWidth(c_.fonts.monoTiny, "0")))};
    }
    if (digits.scale < kSmallestDigits) return hatchMasked(m, box, s);

    const auto [downs, acrosses] = cellsInView(m, box);
    const bool quiet = isQuiet(c_, m.tensor);
    const int loud = m.tensor == TensorId::v ? c_.focus().col
                                             : c_.focus().row;  // of a quiet matrix only this row has numbers
    const attention::Span seen = m.transposed ? acrosses : downs;
    // Of so many keys that the mean of their weights would be 0.00, small ones are shown as 2e-4.
    const float half = 0.5f * std::pow(10.0f, static_cast<float>(-decimals)),
                small =
                    m.tensor == TensorId::weights && half * static_cast<float>(tensor.cols()) > 1 ? half : 0;
    if (!seen.empty() && c_.trace.output.isStored())
      tensor.expect(s.head, s.firstRow + seen.begin, seen.size());
    for (int down = downs.begin; down < downs.end; ++down) {
      const float y = box.y + static_cast<float>(down) * m.cell;
      for (int across = acrosses.begin; across < acrosses.end; ++across) {
        const int row = s.firstRow + (m.transposed ? across : down),
                  col = s.firstCol + (m.transposed ? down : across);
        const std::optional<float> known = numberOf(shown, row, col);
        if (!known) continue;
        const float value = *known;
        const float x = box.x + (static_cast<float>(across) + 0.5f) * m.cell;
        if (typedInto(m.tensor, row, col) || (quiet && row != loud)) continue;
        if (m.tensor == TensorId::weights && value == 0.0f && isMasked(row, col)) {
          hatch({x - m.cell / 2, y, m.cell, m.cell});
          continue;
        }
        if (std::isinf(value)) {
          textCentered(list_, c_.fonts.monoSmall, x, y + m.cell / 2, c_.palette.muted, "−∞");
          continue;
        }
        const draw::Color under = draw::at(look.map, draw::fraction(look, value, peaks ? peaks[row] : 0));
        std::string words = formatNumber(static_cast<double>(value), decimals);
        // Only the order of magnitude, −1e30, if the number does not fit.
        if (std::fabs(value) >= limit) {
          textCentered(list_, c_.fonts.monoTiny, x, y + m.cell / 2, textOn(under), shortBound(value, room));
          continue;
        }
        if (std::fabs(value) >= kFar && static_cast<float>(words.size()) > length) words = shortFar(value);
        if (std::fabs(value) < small && value != 0.0f) {
          const std::string magnitude = shortFar(value);
          if (static_cast<float>(magnitude.size()) <= length) words = magnitude;
        }
        digitsCentered({list_, digits.font, textOn(under)}, digits.scale, x, y + m.cell / 2, words);
      }
    }
  }

  // For weights too small for numbers: distinguishes masked from 0, as long as there is room for a line.
  [[gnu::noinline]] void hatchMasked(const MatrixPlace& m, const Box& box, const Slice& s) {
    if (m.tensor != TensorId::weights || m.cell < 10) return;
    const auto [downs, acrosses] = cellsInView(m, box);
    const auto isHatched = [&](int down, int across) {
      const int row = s.firstRow + (m.transposed ? across : down),
                col = s.firstCol + (m.transposed ? down : across);
      // Those that are not stored are 0 where the mask says so, and reading them would make their rows.
      return isMasked(row, col) && (!c_.trace.weights.isStored() || c_.weight(row, col) == 0.0f);
    };
    for (int down = downs.begin; down < downs.end; ++down) {
      for (int first = acrosses.begin, end = first; first < acrosses.end; first = ++end) {
        while (end < acrosses.end && isHatched(down, end)) ++end;
        hatchSmall({box.x + static_cast<float>(first) * m.cell, box.y + static_cast<float>(down) * m.cell,
                    static_cast<float>(end - first) * m.cell, m.cell});
      }
    }
  }
  // Lines that continue from cell to cell, as in the scores.
  void hatchSmall(const Box& cells) {
    const float right = cells.right(), bottom = cells.bottom();
    for (float at = std::ceil((cells.x + cells.y) / 5) * 5; at < right + bottom && cells.width > 0; at += 5) {
      const float from = std::max(cells.x, at - bottom), to = std::min(right, at - cells.y);
      list_->AddLine({from, at - from}, {to, at - to}, c_.palette.border, 1);
    }
  }

  // A masked weight has no number.
  void hatch(const Box& cell) {
    hatched(list_, c_.palette, {cell.x + 2, cell.y + 2, cell.width - 4, cell.height - 4});
  }

  // Are numbers so far from 0 that they may be abbreviated?
  bool isFar(const Tensor& tensor, TensorId id, const Slice& s, const MatrixPlace& m) const {
    const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    return c_.summaries
               .range(id, tensor, s.head, {s.firstRow, s.firstRow + rows}, {s.firstCol, s.firstCol + cols})
               .size() >= kFar;
  }

  // The number of characters of the widest number shown, with its sign.
  float longest(const Tensor& tensor, TensorId id, const Slice& s, const MatrixPlace& m, int decimals) const {
    const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    const attention::Range range = c_.summaries.range(id, tensor, s.head, {s.firstRow, s.firstRow + rows},
                                                      {s.firstCol, s.firstCol + cols});
    const float half =
        0.5f * std::pow(10.0f, -static_cast<float>(decimals));  // 9.996 is shown as 10.00, and −0.001 as 0.00
    const auto digits = [&](float size) {
      return size + half < 10 ? 1.0f : size >= 1e7f ? 4 : std::floor(std::log10(size + half)) + 1;
    };
    // A number far beyond the others is abbreviated.
    if (const float most = c_.summaries.reach(id, tensor); range.size() > most && range.size() >= kFar)
      return digits(most) + (range.low < 0 ? 1.0f : 0.0f) +
             (decimals > 0 ? static_cast<float>(decimals) + 1 : 0);
    return std::max(digits(range.high), -range.low >= half ? digits(-range.low) + 1 : 1.0f) +
           (decimals > 0 ? static_cast<float>(decimals) + 1 : 0);
  }

  bool typedInto(TensorId id, int row, int col) const {
    const auto& t = c_.view.text;
    return t && t->kind == TextTarget::Kind::cell && t->cell.tensor == id && t->cell.row == row &&
           t->cell.col == col;
  }

  // Right of the weights, or below them. A sum that should be 1 but is not is highlighted.
  void rowSums(const MatrixPlace& m, const Box& box) {
    const auto [downs, acrosses] = cellsInView(m, box);
    const attention::Span seen = m.transposed ? acrosses : downs;
    // Side by side they must not read as one number.
    if (seen.empty() || (m.transposed && m.cell < textWidth(c_.fonts.monoSmall, "0.00") + 4)) return;
    expectTotals(c_, seen);
    std::string_view words;
    for (int i = seen.begin; i < seen.end; ++i) {
      const float along = (static_cast<float>(i) + 0.5f) * m.cell;
      if (i == c_.view.unreached) continue;
      const std::optional<RowEnd> end = rowEndInView(c_, i);
      if (!end) continue;
      words = end->words;
      const ImU32 color = end->isWrong ? c_.palette.error : c_.palette.muted;
      const std::string digits = formatNumber(end->value, end->value < 9.995 ? 2 : 1);
      if (m.transposed)
        textCentered(list_, c_.fonts.monoSmall, box.x + along, box.bottom() + 11, color, digits);
      else textMiddle(list_, c_.fonts.monoSmall, box.right() + 6, box.y + along, color, digits);
    }
    if (m.transposed)
      textMiddle(list_, c_.fonts.small, box.right() + 8, box.bottom() + 11, c_.palette.muted, words);
    else if (!m.slanted)
      textCentered(list_, c_.fonts.small, box.right() + 19, box.y - 11, c_.palette.muted, words);
  }

  // For a decoder that has generated `step` tokens: dims what it has not seen yet, and frames the key of this
  // step.
  void decoding(const MatrixPlace& m, const Box& box) {
    const int here = c_.state.step - 1;
    const attention::CacheStep step = attention::cacheStep(c_.spec, here);
    const ImU32 veil = withAlpha(c_.palette.background, 0.82f);
    const auto cover = [&](int top, int left, int rows, int cols) {
      if (rows <= 0 || cols <= 0) return;
      if (m.transposed) std::swap(top, left), std::swap(rows, cols);
      const ImVec2 a{box.x + static_cast<float>(left) * m.cell - 2,
                     box.y + static_cast<float>(top) * m.cell - 2};
      const float sums = m.sums ? m.transposed ? 18.0f : 36.0f : 0.0f;  // which are beside the rows
      const ImVec2 b{a.x + static_cast<float>(cols) * m.cell + 4 + (m.transposed ? 0 : sums),
                     a.y + static_cast<float>(rows) * m.cell + 4 + (m.transposed ? sums : 0)};
      list_->AddRectFilled(a, b, veil, 4);
    };
    const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    if (m.tensor == TensorId::k || m.tensor == TensorId::v) {
      const int kept = step.reused.begin < step.reused.end ? step.reused.begin : step.added.begin;
      const int added = step.added.end - step.added.begin;
      cover(0, 0, kept, cols);
      for (int key = 0; key < kept && m.cell >= 4;
           ++key) {  // struck through, unlike keys still to come: it was visible before
        const float at = (static_cast<float>(key) + 0.5f) * m.cell;
        if (m.transposed)
          list_->AddLine({box.x + at, box.y}, {box.x + at, box.bottom()}, c_.palette.muted, 1.5f);
        else list_->AddLine({box.x, box.y + at}, {box.right(), box.y + at}, c_.palette.muted, 1.5f);
      }
      cover(step.added.end, 0, rows - step.added.end, cols);
      outline(m, box, {m.tensor, sliceOf(c_.state, m.tensor).head, step.added.begin, 0, added, cols},
              hue(c_.palette, m.tensor), 2.5f);
    } else if (m.tensor == TensorId::q || m.tensor == TensorId::scores || m.tensor == TensorId::weights ||
               m.tensor == TensorId::head_output || m.tensor == TensorId::output) {
      cover(0, 0, here, cols);
      cover(here + 1, 0, rows - here - 1, cols);
    }
  }

  // --- text around a matrix

  void titles(const MatrixPlace& m, const Box& box) {
    // Titles are moved to where they have room: that of a matrix beside an enlarged board would be moved onto
    // those of others.
    if (box.right() <= c_.layout.board.x || box.x >= c_.layout.board.right()) return;
    const bool isBelow = m.title.empty() && m.tensor == TensorId::weights &&
                         c_.layout.arrow.empty();  // where labels of the keys are above
    if (isBelow && !m.caption.empty()) {
      captionY_ = box.bottom() + (m.sums ? 33.0f : 17.0f);
      title(m, box, captionY_, true);
      captionEnd_ = c_.widgetRects["title:weights"].right();
      return;
    }
    if (!m.title.empty() &&
        title(m, box, box.y - (m.labelsAbove ? m.labelRoom + 10 : 14 + namesAbove(m)), false))
      return;
    if (m.caption.empty() || isQuiet(c_, TensorId::scores)) return;
    const bool isGiven = m.tensor == TensorId::q && c_.state.mode == document::Mode::qkv;
    if (m.tensor == TensorId::q && c_.decodes()) caption(m, box, cacheWords(c_));
    else if (isGiven && isOfBias()) hint(m, box, "zeros: the bias makes the weights");
    else if (m.tensor == TensorId::scores) caption(m, box, clipped(m, scoreFormula(c_.state)));
    else if (m.tensor == TensorId::weights) caption(m, box, weightFormula(c_.state));
    else if (m.tensor == TensorId::head_output) caption(m, box, clipped(m, outputFormula(c_.state)));
    else if (!isGiven) caption(m, box, m.caption);
    else if (c_.editable(m.tensor)) hint(m, box, m.caption);  // it asks for a drag
  }

  // The name of a matrix, then what it is in plain words if there is room for them, else as a tooltip.
  // Returns whether it has said the caption. `hasRoom`: what is below it is free for the words.
  bool title(const MatrixPlace& m, const Box& box, float y, bool hasRoom) {
    const bool isCaptioned = m.tensor == TensorId::scores || m.tensor == TensorId::head_output;
    const base::Message name = m.tensor == TensorId::weights ? weightTitle(c_.state)
                               : isCaptioned                 ? base::Message(m.title)
                                                             : clipped(m, m.title);
    const std::string_view own = meaningOf(c_.state, m.tensor), words = own.empty() ? m.caption : own;
    constexpr float kDot = 12;  // between name and words
    const float wide = textWidth(c_.fonts.strong, name), wordsWide = textWidth(c_.fonts.small, words),
                all = wide + kDot + wordsWide, end = titleEnd(m, box.x, y);
    const bool says = !words.empty() && !isClipped(m), fits = box.x + all <= end;
    const float left = c_.layout.board.x + 8,
                under = std::max(left, std::min(box.x, end - std::max(wide, wordsWide)));
    const bool isUnder = says && !fits && hasRoom && under + wordsWide <= titleEnd(m, -FLT_MAX, y + 17);
    const bool hasWords = says && (fits || isUnder);
    const float x = isUnder ? under : std::max(left, std::min(box.x, end - wide));
    const ImVec2 from = isUnder ? ImVec2{x, y + 17} : ImVec2{x + wide + kDot, y};
    textMiddle(list_, c_.fonts.strong, x, y, hue(c_.palette, m.tensor), name);
    Box place{x, y - 8, hasWords && fits ? all : wide, 16};
    if (!termOf(m.tensor).empty())
      opensTerm(m.tensor, hasWords ? Box{from.x, from.y - 8, wordsWide, 16} : place);
    if (!isQuiet(c_, TensorId::scores)) place.width += shape(m, place.right(), y, end);
    c_.widgetRects["title:" + std::string(attention::name(m.tensor))] = place;
    if (!hasWords) return false;
    if (fits) list_->AddCircleFilled({from.x - kDot / 2, y + 1}, 1.2f, c_.palette.faint);
    textMiddle(list_, c_.fonts.small, from.x, from.y,
               isQuiet(c_, m.tensor) ? c_.palette.muted : c_.palette.text, words);
    return own.empty() || attention::tensorRow(m.tensor).place == attention::BoardPlace::below;
  }

  // "4 × 3" after a title, if there is room; its tooltip says what they are. Returns its width.
  [[gnu::noinline]] float shape(const MatrixPlace& m, float x, float y, float end) {
    constexpr float kDot = 12;
    const std::string words = base::joined({m.rows, " × ", m.cols});
    const float wide = kDot + textWidth(c_.fonts.small, words);
    constexpr float kLarge = 860;  // smaller boards, with labels beside titles, leave it to the tooltip
    if (c_.layout.board.width < kLarge || x + wide > end || isClipped(m)) return 0;
    list_->AddCircleFilled({x + kDot / 2, y + 1}, 1.2f, c_.palette.faint);
    textMiddle(list_, c_.fonts.small, x + kDot, y, c_.palette.muted, words);
    return wide;
  }

  // The words of a title open a term; a dotted line says so while the pointer is on them.
  [[gnu::noinline]] void opensTerm(TensorId id, const Box& words) {
    const std::string name = titleName(id);
    c_.widgetRects[name] = words;
    if (c_.fonts.mirror &&
        c_.fonts.mirror->control(name, words, Mirror::Role::button, 0, true, about(name).words))
      openTerm(c_, termOf(id), words);
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const bool isOpen = c_.view.glossary && c_.view.glossary->open == termOf(id);
    if (isOpen || (!c_.touch && ImGui::IsWindowHovered() && words.contains(mouse.x, mouse.y)))
      dots(list_, words.x, words.right(), words.bottom(), c_.palette.text);
  }

  // Where a title has to end: before what stands beside it, and begins after x.
  float titleEnd(const MatrixPlace& m, float x, float y) const {
    float end = c_.layout.board.right() - 8;
    const auto before = [&](const Box& content, float top, float bottom) {
      const Box other = onScreen(c_.layout, c_.view, content);
      if (!content.empty() && other.x > x && y + 7 > other.y - top && y - 7 < other.bottom() + bottom)
        end = std::min(end, other.x - 8);
    };
    for (const MatrixPlace& other : c_.layout.matrices) {
      if (other.tensor != m.tensor)
        before(other.box,
               (other.title.empty() ? 2 : 22) + (other.labelsAbove ? other.labelRoom : namesAbove(other)),
               other.labelsBelow ? other.labelRoom : 2);
    }
    const Layout& l = c_.layout;
    for (const Box& card : {l.heads, l.arcs, l.inspector, l.inspectorBelow}) before(card, 0, 0);
    return end;
  }

  // Q and K are zero and the scores come from the bias, as for a file that has weights alone.
  bool isOfBias() const {
    return c_.state.biasKind != document::Bias::none && largest(TensorId::q) == 0 &&
           largest(TensorId::k) == 0;
  }

  // The room taken by column names above Q and the matrices it is computed from, or above Kᵀ where tokens are
  // columns.
  float namesAbove(const MatrixPlace& m) const {
    const bool has = !m.transposed && !c_.state.columnNames.empty() && namedColumn(c_.state, m.tensor, 0);
    return has ? 17.0f : 0.0f;
  }

  // The column names of Q and K, also above the matrices that they are computed from.
  void columnNames(const MatrixPlace& m, const Box& box) {
    if (c_.state.columnNames.empty() || !namedColumn(c_.state, m.tensor, 0)) return;
    const int count = m.transposed ? m.rows : m.cols;
    float most =
        std::min(84.0f, box.x - 10 - c_.layout.board.x);  // up to the title of the matrix to the left
    for (const MatrixPlace& other : c_.layout.matrices) {
      if (other.box.right() > m.box.x) continue;
      const bool isBeside = other.box.y < m.box.bottom() && other.box.bottom() > m.box.y,
                 isPair = other.tensor == TensorId::q || other.tensor == TensorId::k;
      if (isBeside) most = std::min(most, m.box.x - 14 - other.box.right());
      else if (isPair) most = std::min(most, m.box.x - 10 - (other.box.midX() + 12));
    }
    for (int i = 0; i < count; ++i) {
      const float at = (static_cast<float>(i) + 0.5f) * m.cell, y = m.transposed ? box.y + at : box.y - 12;
      const NamedColumn named = *namedColumn(c_.state, m.tensor, i);
      const std::string_view name = document::columnName(c_.state, named.head, named.col);
      const float room = m.transposed ? most : m.cell - 1;
      if (!isInView(y, m.cell) || m.cell < 12 || room < 12) continue;
      ImFont* font = m.transposed || textWidth(c_.fonts.small, name) <= room ? c_.fonts.small : c_.fonts.tiny;
      const std::string words = elide(font, name, room);
      const float width = textWidth(font, words), wide = m.transposed ? std::max(width + 8, 24.0f) : m.cell;
      const float x = m.transposed ? box.x - 10 - width : box.x + at - width / 2;
      textMiddle(list_, font, x, y, c_.palette.text, words);
      const Box place =
          m.transposed ? Box{box.x - 6 - wide, y - 9, wide, 18} : Box{box.x + at - wide / 2, y - 9, wide, 18};
      if (name.empty()) continue;
      c_.widgetRects[base::joined({kColumnPrefix, attention::name(m.tensor), ":", i})] = place;
      if (words != name && Widgets(c_).asks(place)) Widgets(c_).tip(place, name);
    }
  }

  // A hint must not overlap the formula beside it: it is shortened to end before that, or omitted.
  void hint(const MatrixPlace& m, const Box& box, std::string_view first) {
    const Box scores = onScreen(c_.layout, c_.view, c_.layout.find(TensorId::scores)->box);
    const float y = box.bottom() + 17, left = c_.layout.board.x + 8;
    const auto width = [&](base::MessageView words) { return textWidth(c_.fonts.small, words); };
    const bool sameLine = std::fabs(scores.bottom() - box.bottom()) < 1;
    const float end =
        sameLine ? scores.midX() - width(scoreFormula(c_.state)) / 2 - 12 : c_.layout.board.right() - 8;
    for (const std::string_view words : {first, std::string_view("drag or double-click")}) {
      const float half = width(words) / 2, x = std::min(box.midX(), end - half);
      if (x - half < left || (words != first && !c_.editable(m.tensor))) continue;
      centered(m, words, x, y);
      captionY_ = y, captionEnd_ = x + half;
      return;
    }
  }

  // Captions on one line must not overlap, nor the heads beside them: one that would is moved, or omitted.
  void caption(const MatrixPlace& m, const Box& box, base::MessageView words) {
    const float y = box.bottom() + (m.sums && m.transposed ? 33.0f : 17.0f),
                half = textWidth(c_.fonts.small, words) / 2;
    if (y != captionY_) captionY_ = y, captionEnd_ = c_.layout.board.x;
    const Box heads = onScreen(c_.layout, c_.view, c_.layout.heads);
    const bool isBesideHeads =
        !c_.layout.heads.empty() && heads.x > box.x && heads.y < y + 8 && heads.bottom() > y - 8;
    const float end = isBesideHeads ? heads.x : c_.layout.board.right();
    float x = std::max(box.midX(), captionEnd_ + 12 + half);
    const bool isFormula =
        m.tensor == TensorId::scores || m.tensor == TensorId::weights || m.tensor == TensorId::head_output;
    if (isFormula) x = std::min(x, std::max(end - 8 - half, captionEnd_ + 12 + half));
    if ((isFormula ? x - half > box.right() : x > box.midX() + 24) || x + half > end) return;
    centered(m, words, x, y);
    captionEnd_ = x + half;
  }

  // A hint or caption.
  void centered(const MatrixPlace& m, base::MessageView words, float x, float midY) {
    ImFont* font = c_.fonts.small;
    const float width = textWidth(font, words), half = width / 2;
    x = std::clamp(x, c_.layout.board.x + half + 8,
                   std::max(c_.layout.board.right() - half - 8, c_.layout.board.x + half + 8));
    textMiddle(list_, font, x - half, midY, c_.palette.muted, words);
    c_.widgetRects["caption:" + std::string(attention::name(m.tensor))] = {x - half, midY - 8, width, 16};
  }

  const std::vector<std::string>& labelsOf(bool ofKeys) const {
    return ofKeys ? document::keyLabels(c_.state) : c_.state.labels;
  }

  void labels(const MatrixPlace& m, const Box& box) {
    const AsIs asIs;
    const CellRef focus = c_.focus();
    const bool pair = attention::isOfPairs(focus.tensor);
    const bool isOfQuery = pair || focus.tensor == TensorId::q || focus.tensor == TensorId::head_output;
    const int key = pair                                                       ? focus.col
                    : attention::rowsOf(focus.tensor) == attention::Rows::keys ? focus.row
                                                                               : -1;
    const int query = isOfQuery ? focus.row : -1;
    // What the rows and columns stand for, as drawn.
    const attention::Rows own = attention::rowsOf(m.tensor), others = attention::isOfPairs(m.tensor)
                                                                          ? attention::Rows::keys
                                                                          : attention::Rows::other;
    const attention::Rows rows = m.transposed ? others : own,
                          across = m.transposed ? own : attention::Rows::keys;
    const bool keyRows = rows == attention::Rows::keys, keysAcross = across == attention::Rows::keys;
    const std::string_view above = m.tensor == TensorId::k ? "keys"
                                   : keysAcross            ? "above"
                                                           : "queries-above",
                           below = keysAcross ? "below" : "queries-below";
    const auto focusOf = [&](bool ofKeys, int count) {
      const int at = ofKeys ? key : query;
      return at < count ? at : -1;
    };
    if (m.labelsLeft || m.labelsRight) {
      const int focused = focusOf(keyRows, m.rows);
      const Box& board = c_.layout.board;
      for (int t = firstPlaced(board.y - board.height - box.y, m.cell, 14); t < m.rows;
           t = nextPlaced(t, focused, m.cell, 14)) {
        if (!placed(t, focused, m.cell, 14)) continue;
        const float y = box.y + (static_cast<float>(t) + 0.5f) * m.cell;
        if (y > board.bottom() + board.height) break;
        if (rows == attention::Rows::other) {
          positionNumber(attention::positionId(c_.spec, t), box.x - 12, y);
          continue;
        }
        const bool strong = t == focused;
        if (m.labelsLeft)
          tokenLabel({keyRows, t, strong, keyRows ? "keys" : "left"}, box.x - 12, y, 1,
                     std::max(m.cell, 14.0f));
        if (m.labelsRight)
          tokenLabel({keyRows, t, strong, "right"}, box.right() + 10, y, -1, std::max(m.cell, 14.0f));
      }
    }
    if (!m.labelsBelow && !m.labelsAbove) return;
    const int focused = focusOf(keysAcross, m.cols);
    const float end = m.sums ? box.right() + 8
                             : c_.layout.board.right() - 10;  // a long name may extend to Σ or to the edge
    // The brief inspector is beside the matrices of a small embed.
    const float rightEnd = c_.layout.inspectorIsBrief ? onScreen(c_.layout, c_.view, c_.layout.inspector).x
                                                      : c_.layout.board.right();
    const float room = m.slanted ? 20.0f : 0.0f;
    for (int t = firstPlaced(c_.layout.board.x - box.x, m.cell, room); t < m.cols;
         t = nextPlaced(t, focused, m.cell, room)) {
      const float x = box.x + (static_cast<float>(t) + 0.5f) * m.cell;
      if (x > c_.layout.board.right()) break;  // of a magnified board
      if (x < c_.layout.board.x) continue;
      if (across == attention::Rows::other) {
        positionNumber(t, x + 4, box.y - 11);
        continue;
      }
      const bool strong = t == focused;
      if (m.slanted) {
        if (placed(t, focused, m.cell, 20))
          slantedLabel({keysAcross, t, strong, m.labelsAbove ? above : below}, x,
                       m.labelsAbove ? box.y - 4 : box.bottom() + m.labelRoom - 4,
                       m.sums ? box.right() + 34 : rightEnd - 8, !strong && labelEach(m.cell, room) > 1);
        continue;
      }
      if (m.labelsBelow) tokenLabel({keysAcross, t, strong, below}, x, box.bottom() + 11, 0, 18, end);
      if (m.labelsAbove) tokenLabel({keysAcross, t, strong, above}, x, box.y - 13, 0, 18, end);
    }
  }

  // Along the edges of the board, the names of the rows and columns of a magnified matrix whose own edges,
  // where labels stand, are out of view.
  [[gnu::noinline]] void edgeLabels(const MatrixPlace& m, const Box& box) {
    constexpr float kWide = 92, kHigh = 22, kLine = 16, kColumn = 64;
    const Box& board = c_.layout.board;
    const bool isLeft = box.x < board.x && box.right() > board.x + 2 * kWide,
               isTop = box.y < board.y && box.bottom() > board.y + 2 * kHigh;
    if (!attention::isOfPairs(m.tensor) || !(isLeft || isTop)) return;
    const AsIs asIs;
    const CellRef focus = c_.focus();
    const auto [rows, cols] = cellsInView(m, box);
    const ImU32 ground = c_.palette.panel, line = c_.palette.border;
    const std::string_view rowsAre = m.transposed ? "keys" : "left",
                           columnsAre = m.transposed ? "queries-above" : "above";
    const auto each = [&](attention::Span tokens, bool ofKeys, float room, const auto& write) {
      const int focused = ofKeys ? focus.col : focus.row;
      for (int t = tokens.begin; t < tokens.end; ++t) {
        if (!placed(t, focused, m.cell, room)) continue;
        write(TokenLabel{ofKeys, t, t == focused, ofKeys == m.transposed ? rowsAre : columnsAre},
              (static_cast<float>(t) + 0.5f) * m.cell);
      }
    };
    const float left = std::max(box.x, board.x), top = std::max(box.y, board.y),
                right = std::min(box.right(), board.right()), bottom = std::min(box.bottom(), board.bottom());
    if (isLeft) {
      list_->AddRectFilled({left, top}, {left + kWide, bottom}, ground);
      list_->AddLine({left + kWide, top}, {left + kWide, bottom}, line);
      each(rows, m.transposed, kLine, [&](const TokenLabel& label, float at) {
        tokenLabel(label, left + kWide - 8, box.y + at, 1, kLine);
      });
    }
    if (!isTop) return;
    list_->AddRectFilled({left, top}, {right, top + kHigh}, ground);
    list_->AddLine({left, top + kHigh}, {right, top + kHigh}, line);
    each(cols, !m.transposed, kColumn, [&](const TokenLabel& label, float at) {
      if (!isLeft || box.x + at > left + kWide + kColumn / 2)
        tokenLabel(label, box.x + at, top + kHigh / 2, 0, kLine, right);
    });
  }

  // Is the label of this token drawn? Labels are `pitch` apart and need `room`: every n-th is drawn, and that
  // of the focused token.
  static bool placed(int token, int focused, float pitch, float room) {
    if (token == focused) return true;
    if (focused >= 0 && std::fabs(static_cast<float>(token - focused)) * pitch < room) return false;
    return token % labelEach(pitch, room) == 0;
  }
  static int labelEach(float pitch, float room) {
    return std::max(1, static_cast<int>(std::ceil(room / pitch)));
  }
  // The first token from there on that may be placed(), and the next after one: of a hundred thousand, few
  // are.
  static int firstPlaced(float from, float pitch, float room) {
    const int each = labelEach(pitch, room);
    return static_cast<int>(std::max(from / pitch, 0.0f)) / each * each;
  }
  static int nextPlaced(int token, int focused, float pitch, float room) {
    const int each = labelEach(pitch, room), next = (token / each + 1) * each;
    return token < focused && focused < next ? focused : next;
  }

  struct TokenLabel {
    bool ofKeys;
    int token;
    bool strong;             // of the focused row or column
    std::string_view where;  // in the name of its widget rectangle
  };

  std::string_view wordsOf(const TokenLabel& label) const {
    return labelsOf(label.ofKeys)[static_cast<std::size_t>(label.token)];
  }
  ImU32 inkOf(const TokenLabel& label) const {
    return !c_.state.notFinite.empty() && isNotFinite(c_, label.ofKeys, label.token) ? c_.palette.error
                                                                                     : c_.palette.text;
  }
  void note(const TokenLabel& label, const Box& box) {
    c_.widgetRects[base::joined({"label:", label.where, ":", label.token})] = box;
    c_.places.labels.push_back({label.ofKeys, label.token, box});
  }

  // A label rising at 45° from the bottom of its column, in the strip between two matrices.
  /// `isOneOfMany`: names beside it are left out, too.
  void slantedLabel(const TokenLabel& label, float x, float foot, float end, bool isOneOfMany) {
    constexpr float kTurn = 0.70710678f;
    ImFont* font = label.strong ? c_.fonts.smallStrong : c_.fonts.small;
    const float room = (end - x) / kTurn - 3;
    const std::string words = elide(font, wordsOf(label), std::min(84.0f, room));
    // At the edge, where not a letter has room, or not all of one of many names.
    if (words != wordsOf(label) && (words == "…" || (isOneOfMany && room < 84))) return;
    const int first = list_->VtxBuffer.Size;
    const float reach = textWidth(font, words) * kTurn;
    const bool isPicture = words.starts_with("\xf0\x9f") && reach < 20;  // a single emoji stays upright
    textMiddle(list_, font, isPicture ? x - 2 : x, isPicture ? foot - 8 : foot - 6, inkOf(label), words);
    const ImVec2 pivot{x, foot - 3};
    for (int i = first; i < list_->VtxBuffer.Size && !isPicture; ++i) {
      ImVec2& p = list_->VtxBuffer[i].pos;
      const float dx = p.x - pivot.x, dy = p.y - pivot.y;
      p = {pivot.x + (dx + dy) * kTurn, pivot.y + (dy - dx) * kTurn};
    }
    note(label, {x - 4, foot - reach - 8, reach + 8, reach + 10});
  }

  // A row of the table of positions, which also has rows for cached keys, so more than there are queries.
  void positionNumber(int position, float right, float midY) {
    const std::string words = std::to_string(position);
    textMiddle(list_, c_.fonts.text, right - textWidth(c_.fonts.text, words), midY, c_.palette.text, words);
  }

  // `side` 1: the text ends at x; −1: it starts at x; 0: it is centred, but does not extend beyond `end`.
  void tokenLabel(const TokenLabel& label, float x, float midY, int side, float pitch, float end = 0) {
    ImFont* const plain = side == 0 || pitch < 18 ? c_.fonts.small : c_.fonts.text;
    ImFont* font = !label.strong ? plain : pitch < 18 ? c_.fonts.smallStrong : c_.fonts.strong;
    const auto shown = [&] { return elide(font, wordsOf(label), side == 0 ? 120.0f : 84.0f); };
    std::string words = shown();
    // Bold letters are wider than those that the layout has made room for, in some scripts much.
    if (side > 0 && textWidth(font, words) > x - c_.layout.board.x) font = plain, words = shown();
    const float high = std::min(pitch, 18.0f);
    if (hasPicture(c_) && pitch >= 10) {  // smaller ones show nothing
      const float size = std::min(pitch - 2, 16.0f);
      const Box patch{side > 0 ? x - size : side < 0 ? x : x - size / 2, midY - size / 2, size, size};
      if (patchLabel(c_, label.ofKeys, label.token, patch)) return note(label, patch);
    }
    const float width = textWidth(font, words);
    const float left = side > 0 ? x - width : side < 0 ? x : std::min(x - width / 2, end - width);
    textMiddle(list_, font, left, midY, inkOf(label), words);
    note(label, {left - 4, midY - high / 2, width + 8, high});
  }

  void arrow() {
    if (c_.layout.arrow.empty()) return;
    const Box a = onScreen(c_.layout, c_.view, c_.layout.arrow);
    const MatrixPlace* w = c_.layout.find(TensorId::weights);
    const CellRef focus = c_.focus();
    const bool isOfRow =
        w && !w->transposed &&
        (attention::isOfPairs(focus.tensor) || attention::rowsOf(focus.tensor) == attention::Rows::queries);
    const Box row = isOfRow ? onScreen(c_.layout, c_.view, w->cellBox(focus.row, 0)) : a;
    const float y = std::round(row.midY()), x0 = a.x + 16, x1 = a.right() - 16;
    textCentered(list_, c_.fonts.small, a.midX(), y - 13, c_.palette.muted, normalizerName(c_.state));
    drawArrow(x0, x1, y);
    const MatrixPlace* out = c_.layout.find(TensorId::head_output);
    if (!isOfRow || !out || !isQuiet(c_, TensorId::scores)) return;  // the sums of rows stand there later
    const float from = onScreen(c_.layout, c_.view, w->box).right() + 10,
                to = onScreen(c_.layout, c_.view, out->box).x - 10;
    textCentered(list_, c_.fonts.small, (from + to) / 2, y - 13, c_.palette.muted, "× V");
    drawArrow(from, to, y);
  }

  void drawArrow(float from, float to, float y) {
    list_->AddLine({from, y}, {to, y}, c_.palette.faint, 1.2f);
    const ImVec2 head[] = {{to - 6, y - 5}, {to, y}, {to - 6, y + 5}};
    list_->AddPolyline(head, 3, c_.palette.faint, 0, 1.2f);
  }

  // --- what is related to the focused cell

  // Outlines the sources of a value and what it affects. The strong outlines are those of its own pair: its
  // query, its key.
  void trail(CellRef focus) {
    strong_.clear(), weak_.clear();
    CellRef asked = focus;
    asked.tensor = shownTensor(focus.tensor);
    if (isMean(focus.tensor)) {  // computed from every head
      strong_.push_back({focus.tensor, focus.head, focus.row, focus.col, 1, 1});
      return;
    }
    attention::Wanted wanted{0, c_.state.focusHead};
    for (const MatrixPlace& m : c_.layout.matrices)
      wanted.tensors |= std::uint64_t{1} << static_cast<int>(shownTensor(m.tensor));
    const auto related = [&] {
      weak_ = attention::sources(c_.spec, c_.inputs, asked, wanted);
      const auto fed = attention::feeds(c_.spec, c_.inputs, asked, wanted);
      weak_.insert(weak_.end(), fed.begin(), fed.end());
    };
    if (!keepsWhatIsSaid(c_)) related();
    else keepTrail(asked, wanted.tensors, related);
    strong_.push_back({focus.tensor, focus.head, focus.row, focus.col, 1, 1});
    if (attention::isOfPairs(focus.tensor)) {
      strong_.push_back({TensorId::q, focus.head, focus.row, 0, 1, document::queryWidth(c_.state)});
      strong_.push_back(
          {TensorId::k, sliceOf(c_.state, TensorId::k).head, focus.col, 0, 1, c_.state.headDim});
      strong_.push_back({TensorId::scores, focus.head, focus.row, focus.col, 1, 1});
      strong_.push_back({TensorId::weights, focus.head, focus.row, focus.col, 1, 1});
      weak_.push_back({TensorId::weights, focus.head, focus.row, 0, 1, c_.state.keyTokens});
      weak_.push_back({TensorId::v, sliceOf(c_.state, TensorId::v).head, focus.col, 0, 1, c_.state.valueDim});
    } else if (focus.tensor == TensorId::head_output) {
      strong_.push_back({TensorId::weights, focus.head, focus.row, 0, 1, c_.state.keyTokens});
      strong_.push_back(
          {TensorId::v, sliceOf(c_.state, TensorId::v).head, 0, focus.col, c_.state.keyTokens, 1});
    }
  }

  // It takes all queries that see a key, or all keys.
  template <class Relate>
  [[gnu::noinline]] void keepTrail(CellRef cell, std::uint64_t tensors, const Relate& relate) {
    std::optional<Kept::Trail>& trail = keptOf(c_).trail;
    if (trail && trail->cell == cell && trail->tensors == tensors) return void(weak_ = trail->regions);
    relate();
    trail = {cell, tensors, weak_};
  }

  void outlines(const MatrixPlace& m, CellRef focus) {
    const Box box = onScreen(c_.layout, c_.view, m.box);
    const ImU32 color = m.tensor == TensorId::scores ? c_.palette.text : hue(c_.palette, m.tensor);
    std::vector<Region> weak;
    std::copy_if(weak_.begin(), weak_.end(), std::back_inserter(weak),
                 [&](const Region& r) { return shows(m, r); });
    if (weak.size() > kManyRegions) {
      contour(m, box, weak, withAlpha(color, 0.5f));
    } else {
      for (const Region& r : weak) outline(m, box, r, withAlpha(color, 0.5f), 1.5f);
    }
    for (const Region& r : strong_) {
      if (shows(m, r)) outline(m, box, r, color, m.cell >= 20 ? 2.5f : 1.5f);
    }
    const Selection& s = c_.view.selection;
    if (s.active && s.tensor == m.tensor && (s.rows() > 1 || s.cols() > 1)) {
      const Region r{s.tensor, focus.head, s.top(), s.left(), s.rows(), s.cols()};
      outline(m, box, r, color, 2.5f, 0.14f);
    } else if (s.active && s.tensor == m.tensor && c_.view.drag.kind == Drag::Kind::value && m.cell >= 20) {
      const Box cell = cellOnScreen(m, s.row, s.col);
      list_->AddRect({cell.x + 1.5f, cell.y + 1.5f}, {cell.right() - 1.5f, cell.bottom() - 1.5f},
                     c_.palette.panel, 4, 0, 2);
      list_->AddRect({cell.x - 1, cell.y - 1}, {cell.right() + 1, cell.bottom() + 1}, color, 6, 0, 3);
    } else if (s.active && s.tensor == m.tensor) {
      outline(m, box, {s.tensor, 0, s.row, s.col, 1, 1}, color, m.cell >= 20 ? 2.5f : 1.5f);
    }
  }

  // Draws one outline around regions below each other that are too many to distinguish, following them in
  // steps of some rows.
  void contour(const MatrixPlace& m, const Box& box, const std::vector<Region>& regions, ImU32 color) {
    const Slice s = sliceOf(c_.state, m.tensor);
    const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
    const int step = std::max(1, rows / kContourSteps);
    struct Band {
      int top, bottom, left, right;
    };
    std::vector<Band> bands;
    for (const Region& r : regions) {
      const int left = std::max(r.col - s.firstCol, 0), right = std::min(r.col - s.firstCol + r.cols, cols);
      const int end = std::min(r.row - s.firstRow + r.rows, rows);
      for (int top = std::max(r.row - s.firstRow, 0); top < end; top = (top / step + 1) * step) {
        const int bottom = std::min(end, (top / step + 1) * step);
        if (bands.empty() || top >= bands.back().top / step * step + step)
          bands.push_back({top, bottom, left, right});
        Band& band = bands.back();
        band = {std::min(band.top, top), std::max(band.bottom, bottom), std::min(band.left, left),
                std::max(band.right, right)};
      }
    }
    const auto point = [&](int col, int row) {
      if (m.transposed) std::swap(col, row);
      list_->PathLineTo({box.x + static_cast<float>(col) * m.cell, box.y + static_cast<float>(row) * m.cell});
    };
    for (const Band& b : bands) point(b.right, b.top), point(b.right, b.bottom);
    for (auto b = bands.rbegin(); b != bands.rend(); ++b) point(b->left, b->bottom), point(b->left, b->top);
    list_->PathStroke(color, ImDrawFlags_Closed, 1.5f);
  }

  Box cellOnScreen(const MatrixPlace& m, int row, int col) const {
    const Slice s = sliceOf(c_.state, m.tensor);
    return onScreen(c_.layout, c_.view, m.cellBox(row - s.firstRow, col - s.firstCol));
  }

  // Shows the result of a drag, "1.60 → −0.80", below the matrix, or above it for a finger; next to the cell
  // if the matrix extends beyond the board.
  void bubble() {
    const Drag& drag = c_.view.drag;
    const Selection& s = c_.view.selection;
    const MatrixPlace* m = c_.layout.find(drag.cell.tensor);
    const Tensor* tensor = c_.tensor(drag.cell.tensor);
    const auto index =
        static_cast<std::size_t>((drag.cell.row - s.top()) * s.cols() + drag.cell.col - s.left());
    if (!m || !tensor || index >= drag.before.size()) return;
    const int decimals = std::max(c_.state.decimals, ImGui::GetIO().KeyShift ? 3 : 2);
    const std::string words =
        formatNumber(static_cast<double>(drag.before[index]), decimals) + " → " +
        formatNumber(static_cast<double>(tensor->at(drag.cell.head, drag.cell.row, drag.cell.col)), decimals);
    const Box matrix = onScreen(c_.layout, c_.view, m->box),
              cell = cellOnScreen(*m, drag.cell.row, drag.cell.col);
    const Box& board = c_.layout.board;
    constexpr float kHigh = 24, kAway = 9, kAll = kHigh + kAway;
    const float under = matrix.bottom() + kAll <= board.bottom() ? matrix.bottom() : cell.bottom();
    const float over = matrix.y - kAll >= board.y ? matrix.y : cell.y;
    const bool above = (c_.touch && over - kAll >= board.y) || under + kAll > board.bottom();
    const float width = textWidth(c_.fonts.mono, words) + 26, y = above ? over - kAll : under + kAway;
    const float x =
        std::clamp(cell.midX() - width / 2, board.x + 4, std::max(board.x + 4, board.right() - width - 4));
    ImDrawList* list = sharp(ImGui::GetForegroundDrawList());
    list->AddRectFilled({x, y}, {x + width, y + kHigh}, c_.palette.ink, 5);
    const float tip = above ? y + kHigh + 6 : y - 6, foot = above ? y + kHigh : y;
    const float middle = std::clamp(cell.midX(), x + 10, x + width - 10);
    if (above) list->AddTriangleFilled({middle - 6, foot}, {middle, tip}, {middle + 6, foot}, c_.palette.ink);
    else list->AddTriangleFilled({middle - 6, foot}, {middle + 6, foot}, {middle, tip}, c_.palette.ink);
    textCentered(list, c_.fonts.mono, x + width / 2, y + kHigh / 2, c_.palette.inkText, words);
    c_.widgetRects["bubble"] = {x, y, width, kHigh};
  }

  bool shows(const MatrixPlace& m, const Region& r) const {
    if (r.tensor != m.tensor && r.tensor != shownTensor(m.tensor)) return false;
    return r.head == sliceOf(c_.state, m.tensor).head;
  }

  void outline(const MatrixPlace& m, const Box& box, const Region& r, ImU32 color, float thick,
               float fill = 0) {
    const Slice s = sliceOf(c_.state, m.tensor);
    int top = r.row - s.firstRow, left = r.col - s.firstCol, rows = r.rows, cols = r.cols;
    if (m.transposed) std::swap(top, left), std::swap(rows, cols);
    const int bottom = std::min(top + rows, m.rows), right = std::min(left + cols, m.cols);
    top = std::max(top, 0), left = std::max(left, 0);
    if (top >= bottom || left >= right) return;
    const float grow = m.cell >= 20 ? 1.0f : 0.0f;
    const ImVec2 a{box.x + static_cast<float>(left) * m.cell - grow,
                   box.y + static_cast<float>(top) * m.cell - grow};
    const ImVec2 b{box.x + static_cast<float>(right) * m.cell + grow,
                   box.y + static_cast<float>(bottom) * m.cell + grow};
    if (fill > 0) list_->AddRectFilled(a, b, withAlpha(color, fill), 5);
    list_->AddRect(a, b, color, m.cell >= 20 ? 6.0f : 1.0f, 0, thick);
  }

  Context& c_;
  ImDrawList* list_;
  std::vector<Region> strong_, weak_;
  struct {
    TensorId tensor = TensorId::q;
    float at = 0;  ///< 0: no number exceeds the scale
    bool isSigned = false;
  } ends_;  ///< the ends of the colour scale of the matrix being drawn
  float captionY_ = -1, captionEnd_ = 0;
};

}  // namespace

std::string titleName(TensorId id) { return base::joined({"title:", attention::name(id), ":words"}); }

std::string_view termOf(TensorId id) {
  switch (id) {
    case TensorId::q: return "query";
    case TensorId::k: return "key";
    case TensorId::v: return "value";
    case TensorId::scores: return "score";
    case TensorId::weights: return "weight";
    case TensorId::head_output: return "output";
    case TensorId::x:
    case TensorId::x_kv: return "embedding";
    case TensorId::w_q:
    case TensorId::w_k:
    case TensorId::w_v: return "projection";
    case TensorId::w_o:
    case TensorId::output: return "multi-head";
    case TensorId::positions: return "position";
    default: return {};
  }
}

TensorId shownTensor(TensorId id) { return id == TensorId::scores ? TensorId::masked : id; }

void drawMatrices(Context& c) { BoardView(c).draw(); }

draw::Color stepColor(Context& c, TensorId id, float value) { return BoardView(c).colorIn(id, value); }

std::optional<draw::Color> cellColor(Context& c, CellRef cell) { return BoardView(c).colorOf(cell); }

bool isMaskedWeight(Context& c, int query, int key) { return BoardView(c).isMasked(query, key); }

}  // namespace views
