#include "views/board/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace views {
namespace {

using attention::Size;
using attention::TensorId;
using document::Mode;

constexpr float kHeader = 44, kSide = 232, kGuide = 320, kOptions = 48;
constexpr float kSheet = 140, kGoal = 56,
                kGoalBlock =
                    152;  // height of the sheet of a lesson at the bottom, and of its goal at the controls
constexpr float kToolbar = 56, kPhone = 560;      // its height, and the least one of a window that has it
constexpr float kEditing = 64, kUncovered = 344;  // kUncovered: from the top of the window
constexpr float kTitle = 24;                      // height of a matrix's title
constexpr float kBetween = 24;                    // between matrices below each other, for column labels
constexpr float kTitles =
    40;  // between two rows of matrices: for titles, or for the weights' labels with their title above
constexpr float kWords = 20;         // for labels above a matrix that are not slanted
constexpr float kSlant = 0.7072f;    // cos 45°
constexpr float kLongestSlant = 84;  // the longest label at 45°
constexpr float kScreen =
    560;  // from this height of the board on, all matrices must be visible without scrolling
constexpr float kLabels = 20;  // above a matrix, in place of kBetween
constexpr float kBesideWeights =
    60;                          // extra width, because the formula of the weights is wider than they are
constexpr float kLower = 60;     // from the weights to the output below them: for sums, captions and titles
constexpr float kCaption = 30;   // below the lowest matrices
constexpr float kGap = 30;       // between matrices side by side
constexpr float kQueryGap = 40;  // between Q and S, for the end of the title of Q
constexpr float kSums = 48;      // for the row sums of the weights, and the end of their title
constexpr float kExtraCell = 36;
constexpr float kArrow = 92;  // width of the arrow from scores to weights
constexpr float kCardHeight = 306;
constexpr float kTabletCard = 324;  // with bars below the formula
constexpr float kHeadsPanel = 206, kHeadsColumn = 108;
constexpr float kMaxCell = 48, kReadableCell = 36;
constexpr float kLargeCell = 64;  // on a board larger than that in a window of 1440 by 900
constexpr float kUsualWidth = 1208, kUsualHeight = 856;  // of that board
constexpr float kAsideWidth = 354, kAsideHeight = 204;  // the least size of the arithmetic among the matrices
constexpr float kCornerWidth = 420;
constexpr float kPresentCard = 1080;
constexpr float kLowCard = 216;                      // with bars beside the terms
constexpr float kHighCard = 400, kSteadyCard = 268;  // kSteadyCard: in a window of 1440 by 900
constexpr float kFormulaCard = 240;                  // as high as the formula of a weight with its numbers
constexpr float kPhoneCard = 236;
constexpr float kFormulaWidth = 680, kLeastWidth = 620,
                kLeastArcs = 356;  // of the arithmetic with bars beside it, at least, and of the other card
constexpr float kUnderCards = 24;
constexpr float kLegibleCell = 28;
constexpr float kLeastCell = 0.0005f;  // of 131,072 tokens in 65 pixels
constexpr int kLong = 12;              // tokens
constexpr float kContentWidth = 1640;
constexpr float kEndless = 16384;  // enough height for anything

float clampCell(float wanted, float limit) {
  // Whole pixels while numbers can be read, so that columns of digits align; fractions when cells are too
  // small for that.
  const float cell = std::min(wanted, limit);
  return cell >= 8 ? std::floor(cell) : std::max(cell, kLeastCell);
}

// Rotated Q and K have no column names, because each of their columns is a mixture of two named ones.
bool hasNamedColumns(TensorId id) {
  return id == TensorId::q || id == TensorId::k || id == TensorId::w_q || id == TensorId::w_k ||
         id == TensorId::b_q || id == TensorId::b_k;
}

bool isProjection(TensorId id) {
  return id == TensorId::w_q || id == TensorId::w_k || id == TensorId::w_v || id == TensorId::w_o;
}

class Builder {
 public:
  explicit Builder(const LayoutInput& input, float steps = 0) : in_(input), steps_(steps) {}

  Layout build() {
    frame();
    const bool isOfLesson = !in_.asked.empty() && !in_.isPart && !in_.present;
    if (isOfLesson && out_.board.width >= 860) {
      LayoutInput usual = in_;
      usual.asked.clear();
      if (Layout all = Builder(usual, steps_).build(); showsAsked(all)) return all;
    }
    if (isOfLesson) {
      ofLesson();
      return std::move(out_);
    }
    placeCards();
    arrange();
    return std::move(out_);
  }

 private:
  void arrange() {
    if (in_.columns) return columns();
    if (in_.isPart) return parts();
    if (out_.board.width < 860) return compact();
    const bool whole = projected() && in_.wholeProjections;
    if (!whole) wide();
    // If a single row of matrices makes numbers too small to read, and several rows would not.
    const bool mayPack = !isAside() && (!isSteady() || isLow_) && std::max(in_.tokens, in_.keyTokens) <= 16;
    if (!whole && (!mayPack || out_.matrices.front().cell >= kLegibleCell)) return;
    Layout beside = std::exchange(out_, {});
    packed();
    if (!whole && fits(beside) && smallestCell(beside) >= smallestCell(out_)) out_ = std::move(beside);
  }

  bool hasArcs() const { return in_.arcs && !in_.present; }
  bool hasHeads() const { return in_.headsPanel && !in_.present; }
  // The arithmetic is placed in the free space above the weights, so that the matrices have the full height.
  bool isAside() const { return in_.present && in_.inspector && !projected(); }
  // In a presentation or a natural layout cells do not grow with the board; the zoom enlarges them, with
  // their numbers.
  float largestCell() const {
    if (in_.present || in_.natural) return kMaxCell;
    return std::clamp(kMaxCell * std::min(out_.board.width / kUsualWidth, out_.board.height / kUsualHeight),
                      kMaxCell, kLargeCell);
  }
  bool projected() const { return in_.mode == Mode::x; }
  // Column names are placed beside Kᵀ, and need extra room next to W_Q.
  float nameRoom() const {
    return projected() && in_.nameWidth > 0 ? std::max(0.0f, in_.nameWidth + 15 - kQueryGap) : 0;
  }
  // The number of heads of a projection that are shown.
  int queryHeads() const { return in_.wholeProjections ? in_.heads : 1; }
  int keyHeads() const { return in_.wholeProjections ? in_.kvHeads : 1; }

  // Are all matrices visible without scrolling?
  static bool fits(const Layout& l) { return l.board.height < kScreen || isInView(l); }
  static bool isInView(const Layout& l) {
    return std::all_of(l.matrices.begin(), l.matrices.end(), [&](const MatrixPlace& m) {
      return m.box.bottom() <= l.board.height && m.box.right() <= l.board.width;
    });
  }
  // Are all matrices that the lesson asks about in view, with numbers that can be read?
  bool showsAsked(const Layout& l) const {
    return std::all_of(in_.asked.begin(), in_.asked.end(), [&](TensorId id) {
      const MatrixPlace* m = l.find(id);
      return m && m->cell >= kLegibleCell && m->box.bottom() <= l.board.height &&
             m->box.right() <= l.board.width;
    });
  }
  static float smallestCell(const Layout& l) {
    float cell = kLargeCell;
    for (const MatrixPlace& m : l.matrices) cell = std::min(cell, m.cell);
    return cell;
  }

  static float smaller(float cell) { return cell > 8 ? std::floor(cell) - 1 : cell * 0.8f; }

  // Q, Kᵀ and weights, and the other matrices below them, with the largest cells with which all are visible.
  void packed() {
    for (float most = isFew_ ? kLegibleCell : 44;; most = smaller(most)) {
      out_ = Layout{};
      frame();
      compact(most);
      if ((fits(out_) && (!isSteady() || cardsTop(out_) <= cards_)) || most < kLeastCell) return;
    }
  }

  // Column labels wider than the columns are slanted. The room for them is between().
  bool slanted(float cell) const { return in_.labelWidth * 0.9f > cell - 2; }
  float between(float cell, float plain = kBetween) const {
    return slanted(cell)
               ? std::max(plain, std::ceil(std::min(in_.labelWidth * 0.9f, kLongestSlant) * kSlant) + 16)
               : plain;
  }

  void frame() {
    out_.cards = in_.cards, out_.card = in_.card;
    out_.width = in_.width >= 1100 ? Width::full : in_.width >= 600 ? Width::medium : Width::narrow;
    const float top = in_.header ? kHeader : 0;
    out_.header = {0, 0, in_.width, top};
    out_.sidePanelIsDrawer = out_.width != Width::full;
    const bool isColumn = out_.width == Width::full, isClosed = isColumn && in_.sideClosed;
    const bool side = (in_.side || in_.guideColumn) && !in_.present && !isClosed;
    const float room = in_.guideColumn && out_.width != Width::narrow ? kGuide : kSide;
    out_.side = {0, top, side ? std::min(room, in_.width) : 0, in_.height - top};
    // Beside a lesson a drawer covers nothing: the board gives way to it, as to a column.
    out_.isDocked = side && out_.width == Width::medium && in_.drawer && in_.guideBar;
    const float left = side && (!out_.sidePanelIsDrawer || out_.isDocked) ? room : 0;
    const bool isPhone =
        out_.width == Width::narrow && in_.header && !in_.present && !in_.natural && in_.height >= kPhone;
    const float toolbar = isPhone ? kToolbar : 0, bottom = in_.height - toolbar;
    if (isPhone) out_.toolbar = {0, bottom, in_.width, toolbar};
    out_.sheet = {0, isPhone ? std::ceil(in_.height / 2) : top + 8, in_.width, 0};
    out_.sheet.height = bottom - out_.sheet.y;
    if (isPhone && side) out_.side = out_.sheet;
    const bool isCovered = isPhone && side && in_.drawer;
    const bool bar =
        in_.guideBar && !in_.present && out_.sidePanelIsDrawer && !(out_.isDocked && in_.guideColumn);
    const float low =
        out_.width == Width::medium ? in_.stripHeight : std::min(kSheet, std::floor(in_.height * 0.4f));
    // Over the controls of a phone the goal stays in view, in a line.
    const float sheet = isCovered                           ? bar && in_.goal ? kGoal : 0
                        : isPhone && bar && in_.guidePulled ? out_.sheet.height
                        : bar                               ? low
                                                            : 0;
    const float lowest = isCovered ? out_.sheet.y : bottom, below = in_.height - lowest + sheet;
    if (bar) out_.guide = {0, lowest - sheet, in_.width, sheet};
    if (bar && out_.isDocked) out_.side.height -= sheet;
    if (isColumn && side && in_.goal && !in_.guideColumn) {
      out_.side.height -= kGoalBlock;
      out_.guide = {0, out_.side.bottom(), out_.side.width, kGoalBlock};
    }
    const bool hasBar =
        isColumn && in_.hasBar && in_.header && in_.side && !in_.present && (isClosed || in_.guideColumn);
    const float under = top + (hasBar ? kOptions : 0);
    if (hasBar) out_.bar = {left, top, in_.width - left, kOptions};
    out_.board = {left, under, in_.width - left, in_.height - under - below - steps_};
  }

  struct Extent {
    int rows = 0, cols = 0;
  };
  // Of a tensor on the board: of the heads that are shown.
  Extent extentOf(TensorId id) const {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim, m = in_.modelDim;
    switch (id) {
      case TensorId::x: return {n, m};
      case TensorId::w_q: return {m, in_.queryWidth() * queryHeads()};
      case TensorId::w_k: return {m, d * keyHeads()};
      case TensorId::w_v: return {m, e * keyHeads()};
      case TensorId::w_o: return {e * queryHeads(), in_.outputDim};
      case TensorId::q: return {n, in_.queryWidth()};
      case TensorId::k: return {keys, d};
      case TensorId::v: return {keys, e};
      case TensorId::scores:
      case TensorId::weights: return {n, keys};
      case TensorId::head_output: return {n, e};
      case TensorId::output: return {n, in_.outputDim};
      default: break;
    }
    for (const Extra& extra : in_.extras)
      if (extra.tensor == id) return {extra.rows, extra.cols};
    return {};
  }

  bool isTransposed(TensorId id) const { return (id == TensorId::k) != in_.columns; }

  MatrixPlace& place(TensorId id, float x, float y, float cell, std::string_view title,
                     std::string_view caption = {}) {
    MatrixPlace m;
    m.tensor = id;
    m.transposed = isTransposed(id);
    const Extent extent = extentOf(id);
    m.rows = m.transposed ? extent.cols : extent.rows, m.cols = m.transposed ? extent.rows : extent.cols;
    m.box = {x, y, static_cast<float>(m.cols) * cell, static_cast<float>(m.rows) * cell};
    m.cell = cell;
    m.title = title, m.caption = caption;
    out_.matrices.push_back(m);
    return out_.matrices.back();
  }

  // Labels above Kᵀ and the weights; slanted ones take room from the cells, and lift W_V.
  struct LabelRoom {
    float above, lift, aside;
  };
  LabelRoom labelRoom(bool slant) const {
    const float room = slant ? between(0) : kWords;
    return {room, projected() ? std::max(8.0f, room + kTitle - kTitles) : 0,
            isAside() ? kAsideHeight + room - 8 : 0};
  }

  // The measures of wide().
  struct Wide {
    float area, margin;  // the width used, and what remains beside it
    float labels;        // at the left of the lower row
    // V is above the output, so that their columns align; beside the output, to save height, if it is long or
    // the cards below would not be in view.
    bool valueBeside;
    int first, third;         // width of X, with W_K above it, and of the weights, with W_V above them
    int cells, above, lower;  // across, up and down
    float gaps, beside;       // between the cells; at least above the arrow and the weights
    float names;              // height of the column names above W_Q and W_K
    float heads = 0;          // width of the thumbnails
    bool headsAbove = false;  // or are they above the weights?
    bool slant = false;       // of the labels
    LabelRoom room{};
    float cell = 0, arrow = 0;
    float base = 0, top = 0;  // bottom of the upper row, top of the lower one
    float size(int count) const { return static_cast<float>(count) * cell; }
    float aboveY(int rows) const { return base - size(rows); }
    float bottom() const { return top + size(lower); }
  };

  // All matrices side by side: X, Q, S, W, O (and the output) in the lower row; projections, Kᵀ and V in the
  // upper row.
  void wide() {
    Wide w = wideMeasures(in_.keyTokens > kLong);
    const bool isOpen = !w.valueBeside && !in_.present && (isSteady() || !projected());
    if (isOpen && cellWithCards(w, w.room) < kReadableCell) {
      const Wide beside = wideMeasures(true);
      if ((isSteady() || beside.cell >= kLegibleCell) &&
          cellWithCards(beside, beside.room) > cellWithCards(w, w.room))
        w = beside;
    }
    wideRows(w);
    const float used = w.size(w.cells) + (w.gaps + w.heads) + w.arrow - kArrow;
    float x = std::max(24.0f, (out_.board.width - used + (w.heads > 0 ? 0 : 24)) / 2) + w.labels;
    x = placeQueries(w, x);
    const float arrow = x + w.size(in_.keyTokens), weights = arrow + w.arrow;
    placePairs(w, x, arrow);
    x = placeOutputs(w, weights + (w.size(w.third) + kSums));
    if (w.headsAbove) {
      out_.heads = {weights, 12, w.size(in_.keyTokens), w.base - w.room.above};
    } else if (hasHeads()) {
      const float left = std::min(std::max(x + 16, 0.0f), out_.board.width - w.heads - 16);
      out_.heads = {left, 28, w.heads, w.bottom() - 28};
    }
    wideBelow(w, arrow);
  }

  Wide wideMeasures(bool valueBeside) const {
    Wide w = wideColumns(valueBeside);
    chooseHeads(w);
    // Slanted labels make cells smaller; a label that was slanted before stays slanted.
    w.slant = slanted(wideCell(w, labelRoom(false)));
    w.room = labelRoom(w.slant), w.cell = wideCell(w, w.room);
    return w;
  }

  Wide wideColumns(bool valueBeside) const {
    const int keys = in_.keyTokens, d = in_.headDim, f = in_.queryWidth(), e = in_.valueDim, m = in_.modelDim;
    Wide w{};
    w.area = std::min(out_.board.width, kContentWidth);
    w.margin = std::max(24.0f, (out_.board.width - w.area) / 2);
    w.labels = std::max(36.0f, in_.labelWidth + 14);
    w.first = projected() ? std::max(m, d) : 0;
    w.third = projected() ? std::max(keys, e) : keys;
    w.valueBeside = valueBeside;
    w.cells = w.first + f + keys + w.third + e + (projected() ? in_.outputDim : 0) + (w.valueBeside ? e : 0);
    w.gaps = w.labels + (projected() ? kGap : 0) + kQueryGap + nameRoom() + kArrow + kSums + w.labels +
             (projected() ? 8.0f : 0) + 24 + (w.valueBeside ? kGap : 0);
    w.above = std::max({d, w.valueBeside ? 0 : keys, projected() ? std::max(m, e) : 0});
    w.lower = w.valueBeside ? std::max(in_.tokens, keys) : in_.tokens;
    w.names = projected() && in_.nameWidth > 0 ? kLabels : 0;
    // The arrow is widened by what is placed above it and the weights.
    w.beside = isAside() ? kAsideWidth + 2 * 16 - kSums : 0;
    return w;
  }

  float cellByWidth(const Wide& w, float heads) const {
    const float room = w.area - 2 * 24 - w.gaps - heads, whole = room / static_cast<float>(w.cells);
    return isAside()
               ? std::min(whole, (room + kArrow - w.beside) / static_cast<float>(w.cells - in_.keyTokens))
               : whole;
  }

  // Thumbnails are at the right. If that made cells too small, up to three go into a narrow column, and more
  // into the free space above the weights.
  void chooseHeads(Wide& w) const {
    const bool isTight = hasHeads() && cellByWidth(w, kHeadsPanel) < kReadableCell;
    w.headsAbove = isTight && !projected() && !w.valueBeside && in_.keyTokens >= 6;
    w.heads = !hasHeads() || w.headsAbove ? 0 : isTight && in_.thumbnails <= 3 ? kHeadsColumn : kHeadsPanel;
  }

  float cellByHeight(const Wide& w, const LabelRoom& labels, float more) const {
    const float fixed = 8 + kTitle + w.names + labels.lift + kTitles + kCaption + 4 + more;
    const float room = out_.board.height - fixed, lower = static_cast<float>(w.lower);
    return std::min({room / (static_cast<float>(w.above) + lower),
                     (room - labels.above) / (static_cast<float>(in_.headDim) + lower),
                     (room + kTitle - labels.aside) / lower});
  }

  // The cards start at the same height of the board whatever the number of tokens, and the matrices have what
  // is left above them, with cells of colour alone where that is too little for numbers.
  bool isSteady() const { return cards_ > 0; }

  // In view, unless that takes the numbers of four tokens away that would fit without it: then below those,
  // if at least half of it is seen there.
  void placeCards() {
    const bool hasCards = !in_.present && !in_.natural && !in_.isPart && (hasArcs() || in_.inspector);
    if (isFew_ || !hasCards || in_.wholeProjections || !in_.extras.empty() || out_.board.width < 860 ||
        out_.board.height < kScreen)
      return;
    cards_ = out_.board.height - kUnderCards - steadyCard();
    const int others = projected() ? std::max(in_.modelDim, in_.valueDim) : 0;
    if (hasLines() || cellOfFour(std::max(in_.headDim, others), steadyCard()) < kLegibleCell)
      placeBelowFour();
  }
  [[gnu::noinline]] void placeBelowFour() {
    LayoutInput four = in_;
    four.tokens = four.keyTokens = 4, four.labelWidth = LayoutInput().labelWidth;
    Builder few(four, steps_);
    few.isFew_ = true, few.frame(), few.arrange();
    const float top = cardsTop(few.out_);
    const bool isSeen = in_.columns || top + kFormulaCard / 2 <= out_.board.height;
    if (!hasLines() && (smallestCell(few.out_) < kLegibleCell || !isSeen)) return;
    isLow_ = true, cards_ = std::max(cards_, top);
  }
  // Are there projections below the other matrices?
  bool hasLines() const { return in_.columns && projected(); }
  static float cardsTop(const Layout& l) { return l.arcs.empty() ? l.inspector.y : l.arcs.y; }

  // How large cells of four tokens would be with a card of that height below them.
  float cellOfFour(int above, float card) const {
    if (in_.columns)
      return (out_.board.height - columnsFixed(kBetween) - card - kUnderCards) /
             static_cast<float>(in_.queryWidth() + 4 + in_.valueDim);
    Wide four{};
    four.above = above, four.lower = 4;
    return cellByHeight(four, labelRoom(false), card + kUnderCards);
  }
  // The same with the bar over the board as without it.
  float steadyCard() const {
    const bool hasRoom = !projected() && cellOfFour(std::max(in_.headDim, 4), kFormulaCard) >= kReadableCell;
    return std::clamp(std::floor((out_.board.height + out_.bar.height - kUsualHeight) / 2) + kSteadyCard,
                      hasRoom ? kFormulaCard : kLowCard, kHighCard);
  }
  float belowCards() const { return std::max(out_.board.height - cards_, 0.0f); }

  // With the cards below in view, low ones if numbers can only be read above those.
  float cellWithCards(const Wide& w, const LabelRoom& labels) const {
    if (isSteady()) return std::min(cellByWidth(w, w.heads), cellByHeight(w, labels, belowCards()));
    const float cards = isAside() ? 0 : cardRoom(), cell = cellByHeight(w, labels, cards);
    if (cards == 0 || in_.present || cell >= kReadableCell) return std::min(cellByWidth(w, w.heads), cell);
    const float low = std::min(cellByHeight(w, labels, kLowCard + 40), kReadableCell);
    return std::min(cellByWidth(w, w.heads), low >= kLegibleCell ? low : cell);
  }

  // Unless they have one place, prefers scrolling to the cards over numbers too small to read, but keeps
  // every matrix visible.
  float wideCell(const Wide& w, const LabelRoom& labels) const {
    const float seen = cellWithCards(w, labels), whole = cellByHeight(w, labels, 0);
    if (isSteady() || (seen >= kLegibleCell && !in_.present)) return clampCell(seen, largestCell());
    const float least = isAside() ? 0
                        : out_.board.height < kScreen
                            ? kReadableCell
                            : std::min(isFew_ ? kLegibleCell : kReadableCell, whole);
    return clampCell(std::min(cellByWidth(w, w.heads), std::max(seen, least)), largestCell());
  }

  // The height of the cards below the matrices.
  float cardRoom() const {
    if (in_.present && in_.inspector) return kLowCard + 32;
    return hasArcs() || in_.inspector ? kCardHeight + 40 : 0;
  }

  void wideRows(Wide& w) const {
    w.arrow = std::max(kArrow, w.beside - w.size(in_.keyTokens));
    const float upper =
        std::max({w.room.aside - kTitle, w.size(in_.headDim) + w.room.above,
                  w.size(std::max(w.valueBeside ? 0 : in_.keyTokens, projected() ? in_.valueDim : 0)),
                  projected() ? w.size(in_.modelDim) + w.room.lift + w.names : 0});
    w.base = 8 + kTitle + upper, w.top = w.base + kTitles;
  }

  // X, Q, and the projections above them; returns the x of Kᵀ.
  float placeQueries(const Wide& w, float x) {
    if (projected()) {
      const float y = w.aboveY(in_.modelDim) - w.room.lift;
      place(TensorId::x, x, w.top, w.cell, "X").labelsLeft = true;
      place(TensorId::w_k, x, y, w.cell, "W_K");
      x += w.size(w.first) + kGap;
      place(TensorId::w_q, x, y, w.cell, "W_Q");
    }
    place(TensorId::q, x, w.top, w.cell, "Q",
          projected() ? made(TensorId::q) : "drag a cell, or double-click to type")
        .labelsLeft = !projected();
    return x + (w.size(in_.queryWidth()) + kQueryGap + nameRoom());
  }

  // Kᵀ, the scores below it, and the weights, with the arrow between them.
  void placePairs(const Wide& w, float x, float arrow) {
    auto& k = place(TensorId::k, x, w.aboveY(in_.headDim), w.cell, "K^T");
    k.labelsAbove = true, k.slanted = w.slant, k.labelRoom = w.room.above;
    place(TensorId::scores, x, w.top, w.cell, "S", "S");
    out_.arrow = {arrow, w.top, w.arrow, w.size(in_.tokens)};
    const float weights = arrow + w.arrow;
    auto& m = place(TensorId::weights, weights, w.top, w.cell, "W", "W");
    m.labelsAbove = true, m.sums = true, m.slanted = w.slant, m.labelRoom = w.room.above;
    if (projected()) place(TensorId::w_v, weights, w.aboveY(in_.modelDim) - w.room.lift, w.cell, "W_V");
  }

  // V, the output of the head, and of the layer; returns the x after them.
  float placeOutputs(const Wide& w, float x) {
    if (w.valueBeside) {
      place(TensorId::head_output, x, w.top, w.cell, "O", "O = W·V");
      x += w.size(in_.valueDim) + kGap;
      place(TensorId::v, x, w.top, w.cell, "V").labelsRight = true;
    } else {
      place(TensorId::v, x, w.aboveY(in_.keyTokens), w.cell, "V").labelsRight = true;
      place(TensorId::head_output, x, w.top, w.cell, "O", "O = W·V");
    }
    x += w.size(in_.valueDim) + w.labels;
    if (!projected()) return x;
    x += 8;
    if (in_.outputProjection) place(TensorId::w_o, x, w.aboveY(in_.valueDim), w.cell, "W_O");
    place(TensorId::output, x, w.top, w.cell, "Output",
          in_.outputProjection ? "output of all heads" : "heads side by side");
    return x + (w.size(in_.outputDim) + 24);
  }

  // The other matrices and the cards. The arithmetic is in the free space from `free` on, to the right of Kᵀ,
  // or above Q and Kᵀ if the cards are not visible.
  void wideBelow(const Wide& w, float arrow) {
    const float free = arrow + (w.slant ? w.room.above : 16.0f);
    if (isAside()) {
      const MatrixPlace& v = *out_.find(TensorId::v);
      const float end = w.valueBeside ? v.box.right() : v.box.x - 16;
      out_.inspector = {free, 12, end - free, w.base - w.room.above};
    }
    const float y = othersBelow(w.bottom() + kCaption + 4, w.margin, w.labels, std::max(w.cell, kExtraCell));
    const float left = w.margin + 8, keysTop = w.aboveY(in_.headDim) - w.room.above;
    const Box corner{left, 12, free - 16 - w.margin - 8, keysTop - kTitle - 20};
    if (in_.inspector && !in_.present && !isSteady() && !isFew_ && !projected() &&
        y + kCardHeight / 2 > out_.board.height && corner.width >= kCornerWidth &&
        corner.height >= kAsideHeight) {
      out_.inspector = corner;
    }
    if (isSteady()) return steadyCards(w.margin, y, !w.headsAbove);
    cardsBelow(w.margin, y);
  }

  // The cards at their one place, and the matrices in the middle of what is left above it; thumbnails beside
  // them have all of that.
  void steadyCards(float margin, float y, bool headsBeside) {
    moveDown(std::max(std::floor((std::min(cards_, out_.board.height) - y) / 2), 0.0f));
    if (headsBeside && !out_.heads.empty()) out_.heads.y = 28, out_.heads.height = cards_ - 28 - 16;
    cardsBelow(margin, cards_);
  }

  // The matrices that have no place yet, in lines; returns the y below.
  float othersBelow(float y, float margin, float labels, float cell) {
    const std::vector<Item> rest = itemsLeft();
    if (rest.empty()) return y;
    return lines(rest, margin + 8 + labels, y, out_.board.width - margin - 8, labels, cell) + 8;
  }

  // Centres the content of a presentation vertically.
  void centreDown() {
    const float by = std::floor((out_.board.height - out_.contentHeight) / 2);
    if (by <= 0) return;
    moveDown(by);
    out_.contentHeight += by;
  }
  void moveDown(float by) {
    for (MatrixPlace& m : out_.matrices) m.box.y += by;
    for (Box* box : {&out_.arrow, &out_.inspector, &out_.heads}) box->y += by;
  }

  void cardsBelow(float margin, float y) {
    const float width =
        std::min(out_.board.width - 2 * margin - 16, in_.present ? kPresentCard : kContentWidth);
    const float x = (out_.board.width - width) / 2;
    const float room = out_.board.height - y - kUnderCards;
    const float least = isLow_ ? kFormulaCard : in_.present || room >= kLowCard ? kLowCard : kCardHeight;
    const float height = std::max(least, std::min(room, in_.present ? least : kHighCard));
    const int count = (hasArcs() ? 1 : 0) + (in_.inspector && out_.inspector.empty() ? 1 : 0);
    constexpr float kApart = 28;
    float left = count == 2 ? (width - kApart) / 2 : width, right = left;
    // The formula with the bars of its row beside it is wider than the other card needs to be.
    const float wider = std::min(kFormulaWidth, width - kApart - kLeastArcs);
    if (count == 2 && wider > right && wider >= kLeastWidth) right = wider, left = width - kApart - wider;
    if (hasArcs()) out_.arcs = {x, y, left, height};
    if (in_.inspector && out_.inspector.empty())
      out_.inspector = {count == 2 ? x + left + kApart : x, y, right, height};
    out_.contentHeight = count == 0 ? y : y + height + kUnderCards;
    if (in_.present) centreDown();
  }

  // Cards stand side by side if there is room for two, otherwise below each other.
  bool hasPair() const { return in_.inspector && hasArcs() && out_.board.width >= 808; }
  float cardHeight() const { return in_.width < 600 ? kPhoneCard : hasPair() ? kTabletCard : kCardHeight; }
  // The height of the board without the bars that come and go.
  float screen() const { return in_.height - out_.header.height - out_.toolbar.height; }

  // A window that is not much higher than wide has no room below the matrices.
  bool isLowScreen() const {
    const float width = out_.board.width;
    return in_.inspector && width >= 560 && screen() < (in_.width < 600 ? kScreen : width + 200);
  }

  // There the arithmetic has the same place beside the matrices at every length, as high as they are at most,
  // or the board.
  float lowPanel() const { return std::max(224.0f, std::floor(out_.board.width * 0.35f)); }
  Box lowInspector() const {
    const bool isPhone = in_.width < 600;
    const float width = out_.board.width, top = isPhone ? 36 : 30, right = isPhone ? 18 : 12;
    const float x = width - right - lowPanel() + 26, highest = width - lowPanel() - (isPhone ? 20 : 29);
    return {x, top, width - x - 16, std::max(std::min(out_.board.height - top - 8, highest), 200.0f)};
  }

  // Where the arithmetic begins below the matrices whatever the number of tokens: at the end of the first
  // screen, or of one that is not much longer than it is wide. On a low phone the screen ends within it or
  // before it, so that the numbers above it are as large as the width allows.
  float steadyPlace() const {
    constexpr float kNumbers = 35;
    const float whole = screen() - cardHeight() - 8, width = out_.board.width;
    return std::min(width + 123, std::max(whole, in_.width < 600 ? width + kNumbers : 0));
  }

  // For a small embed or a phone: Q, Kᵀ and the weights first; everything else below.
  void compact(float most = 44) {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, f = in_.queryWidth();
    const float width = out_.board.width;
    const bool isPhone =
        in_.width < 600;  // where four words of three columns have cells as large as a finger
    const bool isSmall = width < 860 && !in_.natural;
    const bool isLow = isSmall && isLowScreen();
    const bool beside = isLow || (in_.inspector && width >= 560 && !isSmall && !isSteady() && !isFew_);
    const float labels = std::min(std::max(28.0f, in_.labelWidth + (isPhone ? 11 : 16)), 102.0f);
    const float gap = isPhone ? 16 : 23, plain = isPhone ? 29 : 30;
    const float panel = isLow ? lowPanel() : beside ? 224 : 0;
    const float left = isPhone ? 6 : 14, right = isPhone ? 18 : 12;  // with room for the scroll bar
    const float byWidth = (width - left - labels - gap - panel - right) / static_cast<float>(keys + f);
    float yk = isPhone ? 40.0f : 34.0f;
    out_.legend = isPhone && std::max(n, keys) > kManyKeys;
    const float under = out_.legend ? 34 + 48 : 34;
    const float card = isSmall && !beside && in_.inspector ? steadyPlace() : 0;
    const bool isTablet = card > 0 && !isPhone;
    const auto cell = [&](float strip) {
      const auto down = static_cast<float>(n + d);
      const float byHeight = (out_.board.height - 34 - strip - 22) / down;
      // On a phone fewer words are as high as four, which have cells as large as a finger.
      const float fewer = std::clamp(44 * static_cast<float>(4 + d) / down, 44.0f, kLargeCell);
      const float limit = isTablet ? kLargeCell : card > 0 ? fewer : std::min(most, 44.0f);
      if (beside) return clampCell(std::min(byWidth, std::max(byHeight, kReadableCell - 2)), limit);
      // They give way to the card, which has its place below them, unless they would be half as large.
      const float above = (card - yk - strip - under) / down;
      return clampCell(above > byWidth / 2 ? std::min(byWidth, above) : byWidth, limit);
    };
    const bool slant = slanted(cell(plain));
    const float strip = slant ? between(0, plain) : plain, c = cell(strip);
    // A few words stand in the middle above it.
    if (isTablet)
      yk += std::max(0.0f, std::floor((card - yk - strip - under - static_cast<float>(n + d) * c) / 2));

    const float used = labels + gap + static_cast<float>(keys + f) * c + panel;
    const float farthest = isPhone || !isSmall ? 64 : width;
    const float x0 = std::max(left, std::min({(width - used) / 2, width - right - used, farthest})) + labels;
    const float xk = x0 + static_cast<float>(f) * c + gap;
    const float y0 = yk + static_cast<float>(d) * c + strip;
    place(TensorId::q, x0, y0, c, "Q").labelsLeft = true;
    auto& k = place(TensorId::k, xk, yk, c, "K^T");
    k.labelsBelow = true, k.slanted = slant, k.labelRoom = strip;
    // The weights are named below them, because the keys are above.
    place(TensorId::weights, xk, y0, c, "", "W");
    float y = y0 + static_cast<float>(n) * c + under;
    if (y < card + 0.01f) y = card;  // whatever fractions of pixels add up to
    if (beside) {
      const float x = xk + static_cast<float>(keys) * c + 26;
      out_.inspectorIsBrief = true;
      out_.inspector = isLow ? lowInspector() : Box{x, yk - 4, width - x - 16, y - yk};
      if (isLow) y = std::max(y, out_.inspector.bottom() + 20);
    }
    if (out_.board.width < 860) return restBelow(y, beside, labels);
    if (hasHeads() &&
        in_.heads > 1) {  // in the free corner over Q, where they fit large enough to be recognised
      out_.heads = {x0, 12, xk - gap - x0, y0 - kTitle - 24};
      if (!thumbnails(out_.heads, in_.thumbnails).names) out_.heads = {};
    }
    const float x = 24 + labels;
    flow(x, y, out_.board.width - 24, labels, std::min(c, most));
    if (!isSteady() && !isFew_) return restBelow(out_.contentHeight, beside, labels);
    cardsBelow(std::max(24.0f, (width - kContentWidth) / 2), std::max(out_.contentHeight, cards_));
    if (hasHeads() && in_.heads > 1 && out_.heads.empty())
      out_.contentHeight = headsBelow(24, out_.contentHeight, width - 48) + 16;
  }

  // For the step of a lesson: the matrices that it is about as large as all of them fit, with the usual ones
  // for which there is room, and everything else below.
  void ofLesson() {
    LayoutInput part = in_;
    part.isPart = true, part.only = in_.asked;
    part.inspector = part.arcs = part.headsPanel = false;
    Layout first = Builder(part, steps_).build();
    if (!isInView(first)) beside(part, first);
    std::vector<TensorId> others = in_.askedLater;
    others.insert(others.end(),
                  {TensorId::weights, TensorId::q, TensorId::k, TensorId::v, TensorId::head_output});
    for (const TensorId more : others) {
      if (std::find(part.only.begin(), part.only.end(), more) != part.only.end()) continue;
      part.only.push_back(more);
      Layout larger = Builder(part, steps_).build();
      if (isInView(larger) && smallestCell(larger) >= std::min(kReadableCell - 2, smallestCell(first)))
        first = std::move(larger);
      else part.only.pop_back();
    }
    out_.matrices = std::move(first.matrices), out_.arrow = first.arrow;
    headsBeside();
    restBelow(first.contentHeight + 12, false, std::min(std::max(28.0f, in_.labelWidth + 16), 102.0f));
  }

  // Matrices whose rows and columns need not align fit a low board more often: beside each other, as large as
  // all of them are in view, if that is legible.
  void beside(const LayoutInput& part, Layout& to) const {
    for (float most = 44; most >= kLegibleCell; most -= 2) {
      Builder one(part, steps_);
      one.inLines_ = most;
      if (Layout lines = one.build(); isInView(lines)) return void(to = std::move(lines));
    }
  }

  // Right of all matrices, which make room for them, if they fit large enough to be recognised.
  void headsBeside() {
    if (!hasHeads() || in_.heads == 1 || out_.board.width < 860) return;
    constexpr float kApart = 32;
    float left = out_.board.width, right = 0;
    for (const MatrixPlace& m : out_.matrices) {
      left = std::min(left, m.box.x - (m.labelsLeft ? in_.labelWidth + 12 : 0));
      right = std::max(right, m.box.right() + (m.labelsRight ? in_.labelWidth + 12 : m.slanted ? kApart : 0));
    }
    const float by = std::max(0.0f, left - 24), room = out_.board.width - (right - by) - kApart - 24;
    const Box heads{right - by + kApart, 12, std::min(room, kHeadsPanel + 120), out_.board.height - 36};
    if (room < kHeadsColumn || !thumbnails(heads, in_.thumbnails).names) return;
    for (MatrixPlace& m : out_.matrices) m.box.x -= by;
    out_.arrow.x -= by, out_.heads = heads;
  }

  // As high as all thumbnails need; returns the y below.
  float headsBelow(float x, float y, float width) {
    out_.heads = {x, y, width, 0};
    const ThumbnailGrid grid = thumbnails(out_.heads, in_.thumbnails);
    out_.heads.height =
        28 + grid.pitchY * std::ceil(static_cast<float>(in_.thumbnails) / static_cast<float>(grid.columns));
    return out_.heads.bottom();
  }

  void restBelow(float y, bool brief, float labels) {
    const float x = in_.width < 600 ? 16.0f : 24.0f;
    const float width = out_.board.width - 2 * x;
    const bool both = hasPair();  // otherwise the arithmetic is first
    const float each = both ? (width - 16) / 2 : width;
    const float arcsHeight =
        both ? kTabletCard
             : std::clamp(48.0f + static_cast<float>(std::max(in_.tokens, in_.keyTokens)) * 34.0f,
                          in_.card == document::Card::arcs ? 140.0f : kCardHeight, 420.0f);
    if (hasArcs() && both) out_.arcs = {x, y, each, arcsHeight};
    if (in_.inspector) {
      Box& card = brief ? out_.inspectorBelow : out_.inspector;
      card = {both ? x + each + 16 : x, y, each, cardHeight()};
      y = card.bottom() + 16;
    }
    if (hasArcs() && !both) {
      out_.arcs = {x, y, width, arcsHeight};
      y = out_.arcs.bottom() + 16;
    }
    if (hasHeads() && in_.heads > 1 && out_.heads.empty()) y = headsBelow(x, y, width) + 16;
    if (out_.board.width < 860 || !in_.asked.empty()) flow(x + labels, y, out_.board.width - x, labels, 44);
    else out_.contentHeight = y + 8;
  }

  bool isWanted(TensorId id) const {
    return std::find(in_.only.begin(), in_.only.end(), id) != in_.only.end();
  }

  // Which of the matrices that are arranged so that rows and columns align are shown.
  struct Shown {
    bool q, k, s, w, v, o;
    bool pairs() const { return s || w; }
    bool any() const { return q || k || s || w || v || o; }
  };

  // The measures of parts().
  struct Parts {
    static constexpr float kMargin = 8, kBeside = 20, kBriefPanel = 224, kCardPanel = 330, kLowest = 22;
    Shown has;
    bool lower;            // is there a row below Kᵀ and V?
    bool isNamed;          // are the weights named, below them?
    bool brief, card;      // where the inspector is
    int pairs;             // columns of matrices as wide as there are keys
    int across, up, down;  // in cells
    float labels, sides, below;
    float cell = 0, strip = 0, base = 0, top = 0;  // the last two as in Wide
    bool slant = false;
    float size(int count) const { return static_cast<float>(count) * cell; }
  };

  // For a host page that asked for some parts only: matrices arranged so that rows and columns align, with
  // the largest cells that fit, followed by the other parts.
  void parts() {
    const Shown has{isWanted(TensorId::q),       isWanted(TensorId::k), isWanted(TensorId::scores),
                    isWanted(TensorId::weights), isWanted(TensorId::v), isWanted(TensorId::head_output)};
    if (!has.any() || inLines_ > 0) return partsBelow(Parts::kMargin);
    Parts p = partsColumns(has);
    partsCell(p);
    const float x = placeParts(p);
    partsBelow(std::max(inspectorOfParts(p, x), Parts::kMargin));
  }

  Parts partsColumns(const Shown& has) const {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim;
    const float width = out_.board.width;
    Parts p{};
    p.has = has, p.lower = has.q || has.pairs() || has.o;
    p.isNamed = in_.heads > 1 || !in_.asked.empty();
    p.pairs = has.s && has.w ? 2 : has.pairs() || has.k ? 1 : 0;
    const bool values = has.v || has.o;
    const int columns = (has.q ? 1 : 0) + p.pairs + (values ? 1 : 0);
    // The inspector's bars are beside the rows, and its text above them, beside Kᵀ; otherwise it is a card at
    // the right.
    p.brief = in_.inspector && has.k && has.w && width >= 440;
    p.card = in_.inspector && !p.brief && width >= 520;
    const float panel = p.brief ? Parts::kBriefPanel : p.card ? Parts::kCardPanel : 0;
    p.labels = std::clamp(in_.labelWidth + 12, 24.0f, 102.0f);
    p.sides = 2 * Parts::kMargin + (p.lower ? p.labels : 0) + (has.v ? p.labels : 0) +
              Parts::kBeside * static_cast<float>(columns - (panel > 0 ? 0 : 1)) + panel;
    p.across = (has.q ? in_.queryWidth() : 0) + p.pairs * keys + (values ? e : 0);
    p.up = std::max(has.k ? d : 0, has.v ? keys : 0), p.down = p.up + (p.lower ? n : 0);
    // For the captions below them.
    p.below = has.s || (has.w && p.isNamed) ? Parts::kLowest + 4 : p.lower ? 8 : 26;
    return p;
  }

  void partsCell(Parts& p) const {
    const Box& board = out_.board;
    const auto strip = [&](float cell) { return p.has.k || p.has.pairs() ? between(cell, 28) : kTitle; };
    const auto fixed = [&](float cell) {
      return Parts::kMargin + (p.up > 0 ? kTitle : 0) + (p.lower ? strip(cell) : 0) + p.below;
    };
    // Of a lesson a number that cannot be read is worse than one to scroll to.
    const float least = in_.asked.empty() ? 0 : kLegibleCell;
    const float most = in_.natural ? kMaxCell : in_.asked.empty() ? kLargeCell : 44;
    const auto cellFor = [&](float cell) {
      return clampCell(std::min((board.width - p.sides) / static_cast<float>(p.across),
                                std::max((board.height - fixed(cell)) / static_cast<float>(p.down), least)),
                       most);
    };
    p.cell = cellFor(cellFor(kMaxCell)), p.strip = strip(p.cell), p.slant = slanted(p.cell);
    p.base = Parts::kMargin + (p.up > 0 ? kTitle + p.size(p.up) : 0);
    p.top = p.base + (p.lower ? p.strip : 0);
  }

  // Returns the x after the matrices.
  float placeParts(const Parts& p) {
    const auto& [q, k, s, w, v, o] = p.has;
    const float c = p.cell, pair = p.size(in_.keyTokens) + Parts::kBeside;
    float x = Parts::kMargin + std::max(0.0f, (out_.board.width - p.sides - p.size(p.across)) / 2);
    bool first = true;  // of the lower row, whose row labels it has
    if (p.lower) x += p.labels;
    const auto put = [&](TensorId id, std::string_view title, std::string_view caption) -> MatrixPlace& {
      MatrixPlace& m = place(id, x, p.top, c, title, caption);
      m.labelsLeft = std::exchange(first, false);
      return m;
    };
    if (q) {
      put(TensorId::q, "Q", "");
      x += p.size(in_.queryWidth()) + Parts::kBeside;
    }
    if (k) {
      MatrixPlace& m = place(TensorId::k, x, p.base - p.size(in_.headDim), c, "K^T");
      m.labelsBelow = true, m.slanted = p.slant, m.labelRoom = p.lower ? p.strip : 26;
    }
    bool above = k;  // do its columns have labels already?
    const auto putPair = [&](TensorId id, std::string_view caption) {
      MatrixPlace& m = put(id, "", caption);
      m.labelsAbove = !std::exchange(above, false), m.slanted = p.slant, m.labelRoom = p.strip;
      x += pair;
    };
    if (s) putPair(TensorId::scores, "S");
    if (w) putPair(TensorId::weights, p.isNamed ? "W" : "");
    if (k && !s && !w) x += pair;
    if (v) place(TensorId::v, x, p.base - p.size(in_.keyTokens), c, "V").labelsRight = true;
    const bool usual = in_.asked.empty();
    if (o) put(TensorId::head_output, v && usual ? "" : "O", v && in_.heads > 1 && usual ? "O" : "");
    return x + (v || o ? p.size(in_.valueDim) + (v ? p.labels : 0) + Parts::kBeside : 0);
  }

  // Right of the matrices, at `x`; returns the y below everything.
  float inspectorOfParts(const Parts& p, float x) {
    const float margin = Parts::kMargin, rows = p.size(in_.tokens);
    const float y = std::max(p.top + (p.lower ? rows : 0) + p.below, margin);
    if (p.brief) {
      out_.inspectorIsBrief = true;
      out_.inspector = {x, margin + kTitle - 4, Parts::kBriefPanel - margin,
                        std::max(p.top + rows - margin - kTitle, 120.0f)};
    }
    if (!p.card) return y;
    const float height = in_.natural ? kCardHeight : std::max(out_.board.height - 2 * margin, 160.0f);
    const float width = std::max(Parts::kCardPanel, out_.board.right() - out_.board.x - x) - margin;
    out_.inspector = {x, margin, width, height};
    return std::max(y, out_.inspector.bottom() + margin);
  }

  // Matrices that are not aligned with others, then the cards; a card that is the only part fills the board.
  void partsBelow(float y) {
    constexpr float kMargin = 8, kLeastCard = 104;
    const bool alone = out_.matrices.empty();
    std::vector<Item> rest;
    for (const Item& item : moreItems())
      if (isWanted(item.id) && !out_.find(item.id)) rest.push_back(item);
    const float labels = std::min(std::max(28.0f, in_.labelWidth + 14), 102.0f),
                width = out_.board.width - 2 * kMargin;
    if (!rest.empty())
      y = lines(rest, kMargin + labels, y, out_.board.width - kMargin, labels,
                inLines_ > 0 ? inLines_ : kMaxCell);
    const bool inspector = in_.inspector && out_.inspector.empty(), heads = hasHeads();
    const int count = (hasArcs() ? 1 : 0) + (inspector ? 1 : 0);
    const float free = (out_.board.height - y - kMargin) / static_cast<float>(std::max(1, count)) -
                       (count > 1 ? kMargin : 0);
    const float height = alone && rest.empty() && !heads && !in_.natural
                             ? std::max(free, kLeastCard)
                             : std::max(std::min(free, kCardHeight), 200.0f);
    if (heads) y = headsBelow(kMargin, y, width) + kMargin;
    if (inspector) out_.inspector = {kMargin, y, width, height}, y = out_.inspector.bottom() + kMargin;
    if (hasArcs()) out_.arcs = {kMargin, y, width, height}, y = out_.arcs.bottom() + kMargin;
    out_.contentHeight = y;
  }

  // The measures of columns().
  struct Columns {
    Shown has;
    bool isWide, isSmall;
    bool beside;     // is the inspector brief, beside the matrices?
    bool isLow;      // and at the same place at every length?
    float card = 0;  // where the arithmetic begins on a small board at every length; 0: below the matrices
    float margin, labels, panel;
    float most = kLargeCell;  // the largest cell
    float gapS, gapW, gapV;   // before the scores, the weights and the output
    int left, right, rows;    // in cells
    float cell = 0, strip = 0;
    bool slant = false;
    float xRight = 0, xS = 0, xK = 0, top = 0, yPairs = 0;
    bool lower() const { return has.v || has.o; }
    bool keys() const { return has.k || has.pairs(); }
    float size(int count) const { return static_cast<float>(count) * cell; }
  };

  // Tokens as columns. Q is above S with Kᵀ beside S, and the weights are above the output with V beside it,
  // so that rows and columns align here too. On a small board Q, Kᵀ and the weights come first, as in
  // compact().
  void columns() {
    for (float most = isFew_ ? kLegibleCell : kLargeCell;; most = smaller(most)) {
      Columns p = columnWidths();
      p.most = most;
      float y = 8;
      if (p.left + p.right + (p.has.v ? in_.keyTokens : 0) > 0) {
        columnCell(p);
        columnPlaces(p);
        placeColumnPairs(p);
        const float bottom = placeColumnValues(p);
        besideColumns(p, bottom);
        y = bottom + (p.isSmall ? underWeights() : kCaption + 16);
      }
      if (p.isWide) y = othersBelow(y, p.margin, p.labels, std::max(p.cell, std::min(kExtraCell, most)));
      if (!isSteady() || y <= cards_ || most < kLeastCell) return belowColumns(p, y);
      out_ = Layout{};
      frame();
    }
  }

  void belowColumns(const Columns& p, float y) {
    if (in_.isPart) return partsBelow(y);
    if (p.isWide) return isSteady() ? steadyCards(p.margin, y, !hasLines()) : cardsBelow(p.margin, y);
    if (p.isLow) y = std::max(y, out_.inspector.bottom() + 20);
    if (p.card > 0 && in_.width >= 600) moveDown(std::max(std::floor((p.card - y) / 2), 0.0f));
    restBelow(y < p.card + 0.01f ? p.card : y, p.beside, p.labels);
  }

  // For the scroll bar of a phone.
  float scrollRoom() const { return in_.width < 600 && !in_.isPart ? 12 : 0; }
  // Below the weights of a small board, which are named there if there are several.
  float underWeights() const { return in_.heads > 1 ? 34 : 24; }
  float columnsTop() const { return 8 + kTitle + (in_.nameWidth > 0 ? kLabels : 0); }
  // What is not cells, up to the cards.
  float columnsFixed(float strip) const {
    return columnsTop() + strip + std::max(strip - kBetween, 0.0f) + kLower + kCaption + 16;
  }

  Columns columnWidths() const {
    const float width = out_.board.width;
    Columns p{};
    p.isWide = width >= 860 && !in_.isPart, p.isSmall = !p.isWide && !in_.isPart;
    const auto has = [&](TensorId id) {
      return in_.isPart ? isWanted(id)
                        : p.isWide || id == TensorId::q || id == TensorId::k || id == TensorId::weights;
    };
    p.has = {has(TensorId::q),       has(TensorId::k), has(TensorId::scores),
             has(TensorId::weights), has(TensorId::v), has(TensorId::head_output)};
    const auto& [q, k, s, w, v, o] = p.has;
    p.margin = p.isWide          ? std::max(24.0f, (width - std::min(width, kContentWidth)) / 2)
               : in_.width < 600 ? 6.0f
                                 : 14.0f;
    p.labels = p.keys() ? std::clamp(in_.labelWidth + 14, 28.0f, 102.0f) : 0;
    p.isLow = p.isSmall && !in_.natural && isLowScreen();
    p.beside = p.isLow || (p.isSmall && in_.natural && in_.inspector && width >= 560);
    if (p.isSmall && !in_.natural && in_.inspector && !p.isLow) p.card = steadyPlace();
    const bool heads = p.isWide && hasHeads();
    p.panel = p.isLow    ? lowPanel()
              : p.beside ? 224 + 26
              : heads    ? (in_.thumbnails <= 3 ? kHeadsColumn : kHeadsPanel) + kBesideWeights
                         : 0;
    const bool isRight = w || o || (q && !s);
    p.gapS = !k || !(s || isRight) ? 0
             : in_.width < 600     ? 16
                                   : kGap,
    p.gapW = s && isRight ? w ? kArrow : kGap : 0, p.gapV = v && isRight ? kGap : 0;
    p.left = (k ? in_.headDim : 0) + (s ? in_.tokens : 0), p.right = isRight ? in_.tokens : 0;
    p.rows = (q ? in_.queryWidth() : 0) + (p.keys() ? in_.keyTokens : 0) + (p.lower() ? in_.valueDim : 0);
    return p;
  }

  void columnCell(Columns& p) const {
    const Box& board = out_.board;
    // V extends to the left as far as necessary.
    const float room =
        std::min(board.width, kContentWidth) - 2 * (p.isWide ? 24.0f : p.margin) - p.panel - scrollRoom();
    const float byWidth =
        std::min((room - p.labels - p.gapS - p.gapW) / static_cast<float>(std::max(p.left + p.right, 1)),
                 p.has.v ? (room - p.gapV - 8) / static_cast<float>(in_.keyTokens + p.right) : kLargeCell);
    p.top = columnsTop();
    const float cards = p.isWide ? cardRoom() : 0;
    const float usual = p.isWide ? largestCell() : p.isSmall ? 44.0f : in_.natural ? kMaxCell : kLargeCell;
    const float most = std::min(usual, p.most);
    const auto cell = [&](float strip) {
      const float rows = static_cast<float>(std::max(p.rows, 1));
      if (isSteady())
        return clampCell(std::min(byWidth, (board.height - columnsFixed(strip) - belowCards()) / rows), most);
      if (p.card > 0) {  // as in compact()
        const float above = (p.card - p.top - strip - underWeights()) / rows;
        return clampCell(above > byWidth / 2 ? std::min(byWidth, above) : byWidth,
                         in_.width < 600 ? most : kLargeCell);
      }
      const float fixed = p.top + strip + (p.lower() ? kLower : 0) + kCaption;
      const float whole = (board.height - fixed) / rows, seen = (board.height - fixed - cards) / rows;
      const float least = p.isSmall && !p.beside                  ? most
                          : isFew_                                ? std::min(kLegibleCell, whole)
                          : board.height < kScreen && !in_.isPart ? kReadableCell
                                                                  : std::min(kReadableCell, whole);
      return clampCell(std::min(byWidth, std::max(seen, least)), most);
    };
    p.strip = between(cell(kBetween)), p.cell = cell(p.strip), p.slant = slanted(p.cell);
  }

  void columnPlaces(Columns& p) const {
    const float before = p.labels + p.size(p.left) + p.gapS + p.gapW,
                toRight = std::max(before, p.has.v ? p.size(in_.keyTokens) + p.gapV + 8 : 0.0f);
    const float used = toRight + p.size(p.right) + p.panel;
    const float farthest = out_.board.width - p.margin - scrollRoom() - used;
    p.xRight = std::max(p.margin, std::min((out_.board.width - used) / 2, farthest)) + toRight;
    p.xS = p.xRight - p.gapW - p.size(p.has.s ? in_.tokens : 0);
    p.xK = p.xS - p.gapS - p.size(p.has.k ? in_.headDim : 0);
    p.yPairs = p.top + (p.has.q ? p.size(in_.queryWidth()) : 0) + (p.has.q || p.has.pairs() ? p.strip : 0);
  }

  // Q, and the line of keys: K, the scores and the weights.
  void placeColumnPairs(const Columns& p) {
    const auto& [q, k, s, w, v, o] = p.has;
    if (q) {
      MatrixPlace& m = place(TensorId::q, s ? p.xS : p.xRight, p.top, p.cell, "Q",
                             projected() && !s && !w ? made(TensorId::q) : std::string_view());
      m.labelsBelow = true, m.slanted = p.slant, m.labelRoom = p.strip;
    }
    bool isFirst = true;  // of the line of keys, whose labels it has
    if (k)
      place(TensorId::k, p.xK, p.yPairs, p.cell, "K^T", projected() ? made(TensorId::k) : std::string_view())
          .labelsLeft = std::exchange(isFirst, false);
    if (s) {
      MatrixPlace& m = place(TensorId::scores, p.xS, p.yPairs, p.cell, "", "S");
      m.labelsAbove = !q, m.labelsLeft = std::exchange(isFirst, false), m.slanted = p.slant,
      m.labelRoom = p.strip;
    }
    if (w) {
      MatrixPlace& m =
          place(TensorId::weights, p.xRight, p.yPairs, p.cell, s ? "W" : "", s || in_.heads > 1 ? "W" : "");
      m.labelsAbove = s || !q, m.labelsLeft = std::exchange(isFirst, false), m.slanted = p.slant,
      m.labelRoom = p.strip, m.sums = p.isWide;
      if (s) out_.arrow = {p.xRight - p.gapW, p.yPairs, p.gapW, p.size(in_.keyTokens)};
    }
  }

  // V, and the output below the weights; returns the y below all matrices.
  float placeColumnValues(const Columns& p) {
    float y = p.yPairs + (p.keys() ? p.size(in_.keyTokens) : 0);
    if (!p.lower()) return y;
    y += p.keys() ? kLower : kTitle;
    if (p.has.v) {
      MatrixPlace& m = place(TensorId::v, p.xRight - p.gapV - p.size(in_.keyTokens), y, p.cell, "V");
      m.labelsBelow = true, m.slanted = p.slant, m.labelRoom = p.strip;
    }
    if (p.has.o) {
      MatrixPlace& m = place(TensorId::head_output, p.xRight, y, p.cell, p.has.w ? "" : "O", "O = V·W");
      m.labelsAbove = !p.has.w, m.slanted = p.slant, m.labelRoom = p.has.w ? 0 : p.strip;
    }
    return y + (p.size(in_.valueDim) + (p.has.v ? std::max(p.strip - kBetween, 0.0f) : 0));
  }

  // The thumbnails, or the brief inspector, at the right of matrices that end at `bottom`.
  void besideColumns(const Columns& p, float bottom) {
    const float right = p.xRight + p.size(p.right), width = out_.board.width;
    if (p.isWide && hasHeads()) {
      const float heads = p.panel - kBesideWeights;
      out_.heads = {std::min(right + kBesideWeights, width - heads - 16), 28, heads, bottom - 28};
    }
    if (!p.beside) return;
    const float x = right + 26;
    out_.inspectorIsBrief = true;
    out_.inspector = p.isLow ? lowInspector() : Box{x, 30, width - x - 16, bottom - 24};
  }

  // The formula for Q, K or V where positions P are added to X.
  std::string_view madeOfSum(TensorId id) const {
    if (in_.columns) {
      if (id == TensorId::q) return in_.biases ? "Q = W_Q·(X + P) + b_Q" : "Q = W_Q·(X + P)";
      if (id == TensorId::k) return in_.biases ? "K = W_K·(X + P) + b_K" : "K = W_K·(X + P)";
      return in_.biases ? "V = W_V·(X + P) + b_V" : "V = W_V·(X + P)";
    }
    if (id == TensorId::q) return in_.biases ? "Q = (X + P)·W_Q + b_Q" : "Q = (X + P)·W_Q";
    if (id == TensorId::k) return in_.biases ? "K = (X + P)·W_K + b_K" : "K = (X + P)·W_K";
    return in_.biases ? "V = (X + P)·W_V + b_V" : "V = (X + P)·W_V";
  }

  // The formula for Q, K or V.
  std::string_view made(TensorId id) const {
    if (in_.addsPositions && !(id == TensorId::v && in_.separateValues)) return madeOfSum(id);
    if (in_.columns) {
      if (id == TensorId::q) return in_.biases ? "Q = W_Q·X + b_Q" : "Q = W_Q·X";
      if (id == TensorId::k) return in_.biases ? "K = W_K·X + b_K" : "K = W_K·X";
      if (in_.separateValues) return in_.biases ? "V = W_V·X_V + b_V" : "V = W_V·X_V";
      return in_.biases ? "V = W_V·X + b_V" : "V = W_V·X";
    }
    if (id == TensorId::q) return in_.biases ? "Q = X·W_Q + b_Q" : "Q = X·W_Q";
    if (id == TensorId::k) return in_.biases ? "K = X·W_K + b_K" : "K = X·W_K";
    if (in_.separateValues) return in_.biases ? "V = X_V·W_V + b_V" : "V = X_V·W_V";
    return in_.biases ? "V = X·W_V + b_V" : "V = X·W_V";
  }

  std::string_view outputWords() const {
    if (!in_.outputProjection) return in_.columns ? "heads one above the other" : "heads side by side";
    if (in_.columns) return in_.biases ? "W_O · all heads + b_O" : "W_O · all heads";
    return in_.biases ? "all heads · W_O + b_O" : "all heads · W_O";
  }

  struct Item {
    TensorId id;
    std::string_view title, caption;
    bool labelled;
  };

  // The remaining matrices, from left to right.
  void flow(float left, float y, float right, float labels, float most) {
    out_.contentHeight = lines(itemsLeft(), left, y, right, labels, most) + 16;
  }

  std::vector<Item> itemsLeft() const {
    std::vector<Item> items = moreItems();
    std::erase_if(items, [&](const Item& item) { return out_.find(item.id) != nullptr; });
    return items;
  }

  std::vector<Item> moreItems() const {
    std::vector<Item> items;
    if (projected()) {
      items = {{TensorId::x, "X", "", true},
               {TensorId::w_q, "W_Q", made(TensorId::q), false},
               {TensorId::w_k, "W_K", made(TensorId::k), false},
               {TensorId::w_v, "W_V", made(TensorId::v), false}};
    }
    if (!in_.asked.empty()) {
      items.push_back({TensorId::q, "Q", projected() ? made(TensorId::q) : "", true});
      items.push_back({TensorId::k, "K^T", projected() ? made(TensorId::k) : "", true});
      items.push_back({TensorId::weights, "W", "W", true});
    }
    items.push_back({TensorId::scores, "S", "S", true});
    items.push_back({TensorId::v, "V", projected() ? made(TensorId::v) : "", true});
    items.push_back({TensorId::head_output, "O", in_.columns ? "O = V·W" : "O = W·V", true});
    if (projected()) {
      if (in_.outputProjection) items.push_back({TensorId::w_o, "W_O", "", false});
      items.push_back({TensorId::output, "Output", outputWords(), true});
    }
    const std::vector<Item> more = extraItems();
    items.insert(items.end(), more.begin(), more.end());
    return items;
  }

  // Arranges matrices from left to right in lines; returns the y below. Matrices of a line are aligned at the
  // top, whatever is above them.
  float lines(const std::vector<Item>& items, float left, float y, float right, float labels, float most) {
    float x = left, lineHeight = 0, above = 0;
    std::size_t first = out_.matrices.size();  // of the line
    for (const Item& item : items) {
      const bool isTurned = isTransposed(item.id);
      const Extent extent = extentOf(item.id);
      const int cols = isTurned ? extent.rows : extent.cols;
      const float c = clampCell((right - left) / static_cast<float>(std::max(cols, 1)), most);
      const float w = std::max(static_cast<float>(cols) * c, 150.0f);
      const bool isNamed = in_.nameWidth > 0 && hasNamedColumns(item.id);
      if (isNamed && in_.columns) x += std::max(0.0f, in_.nameWidth + 14 - labels);  // beside its rows
      if (x > left && x + w > right)
        x = left, y += lineHeight, lineHeight = above = 0, first = out_.matrices.size();
      const bool isAbove = isTurned && item.labelled && !attention::isOfPairs(item.id);
      const float strip = isAbove ? between(c, kLabels) : isNamed && !in_.columns ? kLabels : 0;
      if (strip > above) {
        for (std::size_t i = first; i < out_.matrices.size(); ++i) out_.matrices[i].box.y += strip - above;
        lineHeight += strip - above, above = strip;
      }
      MatrixPlace& m = place(item.id, x, y + kTitle + above, c, item.title, item.caption);
      m.labelsLeft = item.labelled && !isAbove, m.labelsAbove = isAbove, m.labelRoom = strip,
      m.slanted = isAbove && slanted(c);
      lineHeight = std::max(lineHeight, kTitle + above + m.box.height + kCaption + 8);
      x += w + labels + 16;
    }
    return y + lineHeight;
  }

  // The caption of a matrix that is drawn transposed.
  [[gnu::noinline]] static std::string_view turnedCaption(TensorId id, std::string_view usual) {
    switch (id) {
      case TensorId::v_a: return "how much each row counts";
      case TensorId::b_q: return "added to W_Q·X";
      case TensorId::b_k: return "added to W_K·X";
      case TensorId::b_v: return "added to W_V·X";
      case TensorId::positions: return "one column per position";
      case TensorId::q_rotated:
      case TensorId::k_rotated: return "pairs of rows, by position";
      default: return usual;
    }
  }

  std::vector<Item> extraItems() const {
    std::vector<Item> items;
    for (const Extra& extra : in_.extras) {
      const attention::TensorRow& row = attention::tensorRow(extra.tensor);
      const bool isLabelled =
          attention::rowsOf(row.id) != attention::Rows::other || row.rows == attention::Size::positions;
      const bool isOfKeysAlone = in_.separateValues && row.id == TensorId::x_kv;
      const std::string_view caption = isOfKeysAlone ? std::string_view("K is made of it")
                                       : in_.columns ? turnedCaption(row.id, row.caption)
                                                     : row.caption;
      items.push_back({row.id, row.title, caption, isLabelled});
    }
    return items;
  }

  const LayoutInput& in_;
  float cards_ = 0;     // where the cards begin whatever the number of tokens; 0: below the matrices
  bool isLow_ = false;  // do they begin below the numbers of four tokens, perhaps out of view?
  bool isFew_ = false;  // is this the board of four tokens by which they are placed?
  float steps_;         // height that the stepping bar takes from the board
  float inLines_ = 0;   // the largest cell of parts that stand beside each other, not aligned; 0: aligned
  Layout out_;
};

// Adds the stepping bar below the board, and the arithmetic above that if the inspector is not visible or
// brief.
Layout withSteps(const LayoutInput& input) {
  constexpr float kBar = 40;
  const float line = input.width < 600 ? 66.0f : 54.0f;
  Layout out = Builder(input, kBar).build();
  const bool isSeen = out.board.width >= 860 && !out.inspector.empty() && !out.inspectorIsBrief &&
                      out.inspector.bottom() <= out.board.height;
  if (!isSeen) {
    out = Builder(input, kBar + line).build();
    out.stepLine = {out.board.x, out.board.bottom(), out.board.width, line};
  }
  out.stepper = {out.board.x, out.board.bottom() + out.stepLine.height, out.board.width, kBar};
  return out;
}

}  // namespace

Slice sliceOf(const document::Settings& s, TensorId id) {
  const int head = s.focusHead, kvHead = head / (s.heads / s.kvHeads);
  if (s.wholeProjections && isProjection(id)) return {};
  switch (id) {
    case TensorId::w_q: return {0, 0, head * document::queryWidth(s)};
    case TensorId::w_k: return {0, 0, kvHead * s.headDim};
    case TensorId::w_v: return {0, 0, kvHead * s.valueDim};
    case TensorId::w_o: return {0, head * s.valueDim, 0};
    default: break;
  }
  switch (attention::tensorRow(id).heads) {
    case Size::heads: return {head, 0, 0};
    case Size::keyHeads: return {kvHead, 0, 0};
    case Size::biasHeads: return {s.biasKind == document::Bias::perHead ? head : 0, 0, 0};
    default: return {};
  }
}

attention::CellRef shownAs(const document::Settings& s, attention::CellRef cell) {
  if (cell.tensor == TensorId::raw || cell.tensor == TensorId::masked) cell.tensor = TensorId::scores;
  if (cell.tensor == TensorId::output && s.mode == Mode::qkv)
    cell = {TensorId::head_output, cell.col / s.valueDim, cell.row, cell.col % s.valueDim};
  return cell;
}

std::optional<NamedColumn> namedColumn(const document::Settings& s, TensorId id, int shown) {
  if (!hasNamedColumns(id) || !document::sameWidths(s)) return {};
  const bool ofQueries = id == TensorId::w_q || id == TensorId::b_q,
             isBias = id == TensorId::b_q || id == TensorId::b_k;  // biases are shown for all heads
  if (!isBias && !(s.wholeProjections && isProjection(id))) return NamedColumn{s.focusHead, shown};
  // A key head is named by the focused query head, or by the first query head that it serves.
  const int head = shown / s.headDim, group = s.heads / s.kvHeads;
  const int named = ofQueries ? head : s.focusHead / group == head ? s.focusHead : head * group;
  return NamedColumn{named, shown % s.headDim};
}

int headShowing(const document::Settings& s, TensorId id, int head, int row, int col) {
  const int group = s.heads / s.kvHeads, here = s.focusHead;
  if (s.wholeProjections && isProjection(id)) return here;
  const auto queryHeadOf = [&](int kvHead) { return here / group == kvHead ? here : kvHead * group; };
  switch (id) {
    case TensorId::b_q:
    case TensorId::w_q: return col / document::queryWidth(s);
    case TensorId::b_k:
    case TensorId::w_k: return queryHeadOf(col / s.headDim);
    case TensorId::b_v:
    case TensorId::w_v: return queryHeadOf(col / s.valueDim);
    case TensorId::w_o: return row / s.valueDim;
    case TensorId::concat: return col / s.valueDim;
    default: break;
  }
  switch (attention::tensorRow(id).heads) {
    case Size::heads: return head;
    case Size::keyHeads: return queryHeadOf(head);
    case Size::biasHeads: return s.biasKind == document::Bias::perHead ? head : here;
    default: return here;
  }
}

Box MatrixPlace::cellBox(int row, int col) const {
  const int down = transposed ? col : row, across = transposed ? row : col;
  return {box.x + static_cast<float>(across) * cell, box.y + static_cast<float>(down) * cell, cell, cell};
}

const MatrixPlace* Layout::find(TensorId id) const {
  for (const MatrixPlace& m : matrices) {
    if (m.tensor == id) return &m;
  }
  return nullptr;
}

namespace {

// One axis of a magnified board: lengths grow within the matrices, and the gaps between them stay as they
// are.
class Stretch {
 public:
  Stretch(std::vector<std::pair<float, float>> spans, float by) : by_(by) {
    std::sort(spans.begin(), spans.end());
    for (const auto& [from, to] : spans) {
      if (spans_.empty() || from > spans_.back().second) spans_.emplace_back(from, to);
      else spans_.back().second = std::max(spans_.back().second, to);
    }
  }
  float operator()(float at) const {
    float covered = 0;
    for (const auto& [from, to] : spans_) covered += std::clamp(at, from, to) - from;
    return at + (by_ - 1) * covered;
  }
  bool covers(float from, float to) const {
    return std::any_of(spans_.begin(), spans_.end(),
                       [&](const auto& span) { return from < span.second && to > span.first; });
  }

 private:
  std::vector<std::pair<float, float>> spans_;
  float by_;
};

// Labels, captions and cards keep their sizes; cards below the matrices also their place from left to right.
void magnify(Layout& out, float by, float pan) {
  std::vector<std::pair<float, float>> columns, rows;
  for (const MatrixPlace& m : out.matrices)
    columns.emplace_back(m.box.x, m.box.right()), rows.emplace_back(m.box.y, m.box.bottom());
  const Stretch across(std::move(columns), by), down(std::move(rows), by);
  out.panLimit = across(out.board.width) - out.board.width;
  pan = std::clamp(pan, 0.0f, out.panLimit);
  for (MatrixPlace& m : out.matrices) {
    m.box = {across(m.box.x) - pan, down(m.box.y), m.box.width * by, m.box.height * by};
    m.cell *= by;
  }
  if (Box& a = out.arrow; !a.empty())
    a = {across(a.x) - pan, down(a.y), across(a.right()) - across(a.x), down(a.bottom()) - down(a.y)};
  for (Box* card : {&out.heads, &out.arcs, &out.inspector, &out.inspectorBelow}) {
    if (card->empty()) continue;
    if (down.covers(card->y, card->bottom())) card->x = across(card->x) - pan;
    card->y = down(card->y);
  }
  out.contentHeight = down(out.contentHeight);
}

// The strip covers the end of the board, and does not change its cells, so that nothing moves under the
// finger that selected a number. In a low window the keys are in as few rows as hold them.
[[gnu::noinline]] void addEditing(Layout& out, bool keys) {
  Box& pad = out.keypad = {out.board.x, 0, out.board.width, 0};
  for (int rows = 3; keys && rows > 0; --rows) {
    if (pad.height > 0 && out.board.height - kEditing - pad.height >= kUncovered - out.board.y) break;
    const auto columns = static_cast<float>((KeyGrid::kCount + rows - 1) / rows);
    if (pad.height > 0 && columns * (KeyGrid::kHigh + KeyGrid::kAcross) > pad.width) break;
    pad.height = static_cast<float>(rows) * (KeyGrid::kHigh + KeyGrid::kDown);
  }
  const float height = kEditing + pad.height;
  out.board.height -= height;
  for (Box* box : {&out.stepLine, &out.stepper})
    if (!box->empty()) box->y -= height;
  out.editing = {out.board.x, out.board.bottom() + out.stepLine.height + out.stepper.height, out.board.width,
                 height};
  pad.y = out.editing.bottom() - pad.height;
}

}  // namespace

Layout layout(const LayoutInput& input) {
  const auto made = [](const LayoutInput& in) {
    Layout out = in.stepper ? withSteps(in) : Builder(in).build();
    if (in.magnify > 1) magnify(out, in.magnify, in.pan);
    if (in.editing) addEditing(out, in.keys);
    return out;
  };
  if (!input.natural) return made(input);
  LayoutInput endless = input;
  endless.height = kEndless;
  Layout out = made(endless);
  const float less = kEndless - input.height;
  out.side.height -= less, out.board.height -= less;
  for (Box* below : {&out.guide, &out.stepper, &out.stepLine, &out.editing, &out.keypad}) {
    if (!below->empty()) below->y -= less;
  }
  return out;
}

KeyGrid keyGrid(const Box& keypad) {
  KeyGrid grid;
  grid.rows = static_cast<int>(std::lround(keypad.height / (KeyGrid::kHigh + KeyGrid::kDown)));
  grid.columns = (KeyGrid::kCount + grid.rows - 1) / std::max(grid.rows, 1);
  return grid;
}

Box KeyGrid::key(const Box& keypad, int index) const {
  constexpr float kMargin = 16, kMost = 66.8f;
  const auto count = static_cast<float>(columns);
  const float wide = std::min((keypad.width - 2 * kMargin + kAcross) / count - kAcross, kMost);
  const float left = keypad.midX() - (count * (wide + kAcross) - kAcross) / 2;
  return {left + static_cast<float>(index % columns) * (wide + kAcross),
          keypad.y + static_cast<float>(index / columns) * (kHigh + kDown), wide, kHigh};
}

ThumbnailGrid thumbnails(const Box& heads, int count) {
  constexpr float kSizes[] = {84, 64, 44, 28, 20, 12, 8};
  ThumbnailGrid grid;
  for (const float size : kSizes) {
    if (size == 84 && count > 4) continue;
    grid.names = size >= 44;
    const float gap = size >= 44 ? 16.0f : 6.0f;
    grid.size = size;
    // Below pictures as small as that, numbers of two digits need more room for the tags beside them.
    grid.pitchX = size + (size == 44 && count > 10 ? 22 : gap),
    grid.pitchY = size + (grid.names ? 28.0f : gap);
    grid.columns = std::max(1, static_cast<int>((heads.width + grid.pitchX - size) / grid.pitchX));
    const int rows = (count + grid.columns - 1) / grid.columns;
    // Without a given height they become as high as necessary.
    if (heads.height <= 0 ? size <= 44 || count <= (size == 84 ? 4 : 8)
                          : 28 + static_cast<float>(rows) * grid.pitchY <= heads.height + 0.5f)
      break;
  }
  return grid;
}

}  // namespace views
