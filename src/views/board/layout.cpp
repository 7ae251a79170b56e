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
constexpr float kToolbar = 56, kPhone = 560;  // its height, and the least one of a window that has it
constexpr float kEditing = 64;
constexpr float kTitle = 24;    // height of a matrix's title
constexpr float kBetween = 24;  // between matrices below each other, for column labels
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
constexpr float kHeadsPanel = 206, kHeadsColumn = 108;
constexpr float kMaxCell = 48, kReadableCell = 36;
constexpr float kLargeCell = 64;  // on a board larger than that in a window of 1440 by 900
constexpr float kUsualWidth = 1208, kUsualHeight = 856;  // of that board
constexpr float kAsideWidth = 354, kAsideHeight = 204;  // the least size of the arithmetic among the matrices
constexpr float kCornerWidth = 420;
constexpr float kPresentCard = 1080;
constexpr float kLowCard = 216;  // with bars beside the terms
constexpr float kLegibleCell = 28;
constexpr int kLong = 12;  // tokens
constexpr float kContentWidth = 1640;
constexpr float kEndless = 16384;  // enough height for anything

float clampCell(float wanted, float limit) {
  // Whole pixels while numbers can be read, so that columns of digits align; fractions when cells are too
  // small for that.
  const float cell = std::min(wanted, limit);
  return cell >= 8 ? std::floor(cell) : std::max(cell, 0.02f);
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
    if (in_.columns) {
      columns();
      return std::move(out_);
    }
    if (in_.isPart) {
      parts();
      return std::move(out_);
    }
    if (out_.board.width < 860) {
      compact();
      return std::move(out_);
    }
    const bool whole = projected() && in_.wholeProjections;
    if (!whole) wide();
    // If a single row of matrices makes numbers too small to read, and several rows would not.
    if (whole || (!isAside() && out_.matrices.front().cell < kLegibleCell &&
                  std::max(in_.tokens, in_.keyTokens) <= 16)) {
      const Layout beside = std::exchange(out_, {});
      packed();
      if (!whole && fits(beside) && smallestCell(beside) >= smallestCell(out_)) return beside;
    }
    return std::move(out_);
  }

 private:
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

  // Q, Kᵀ and weights, and the other matrices below them, with the largest cells with which all are visible.
  void packed() {
    for (float most = 44;; most = most > 8 ? std::floor(most) - 1 : most * 0.8f) {
      out_ = Layout{};
      frame();
      compact(most);
      if (fits(out_) || most < 0.02f) return;
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

  MatrixPlace& place(TensorId id, float x, float y, int rows, int cols, float cell, std::string_view title,
                     std::string_view caption = {}) {
    MatrixPlace m;
    m.tensor = id;
    m.transposed = (id == TensorId::k) != in_.columns;
    m.rows = rows, m.cols = cols;
    m.box = {x, y, static_cast<float>(cols) * cell, static_cast<float>(rows) * cell};
    m.cell = cell;
    m.title = title, m.caption = caption;
    out_.matrices.push_back(m);
    return out_.matrices.back();
  }

  // All matrices side by side: X, Q, S, W, O (and the output) in the lower row; projections, Kᵀ and V in the
  // upper row.
  void wide() {
    const float area = std::min(out_.board.width, kContentWidth);
    const float margin = std::max(24.0f, (out_.board.width - area) / 2);
    const float labels = std::max(36.0f, in_.labelWidth + 14);
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim, m = in_.modelDim;

    const int first = projected() ? std::max(m, d) : 0;        // width of X, with W_K above it
    const int third = projected() ? std::max(keys, e) : keys;  // width of the weights, with W_V above them
    // V is above the output, so that their columns align; if it is long, beside the output, to save height.
    const bool valueBeside = keys > kLong;
    const int cells =
        first + d + keys + third + e + (projected() ? in_.outputDim : 0) + (valueBeside ? e : 0);
    const float gaps = labels + (projected() ? kGap : 0) + kQueryGap + nameRoom() + kArrow + kSums + labels +
                       (projected() ? 8.0f : 0) + 24 + (valueBeside ? kGap : 0);
    const int above = std::max({d, valueBeside ? 0 : keys, projected() ? std::max(m, e) : 0});
    const float cards = isAside()                      ? 0
                        : in_.present && in_.inspector ? kLowCard + 32
                        : hasArcs() || in_.inspector   ? kCardHeight + 40
                                                       : 0;
    const float names = projected() && in_.nameWidth > 0 ? kLabels : 0;  // for column names above W_Q and W_K
    // Labels above Kᵀ and the weights; slanted ones take room from the cells, and lift W_V.
    struct Labels {
      float room, lift, aside;
    };
    const auto labelsFor = [&](bool slant) {
      const float room = slant ? between(0) : kWords;
      return Labels{room, projected() ? std::max(8.0f, room + kTitle - kTitles) : 0,
                    isAside() ? kAsideHeight + room - 8 : 0};
    };
    // The arrow is widened by what is placed above it and the weights.
    const float beside = isAside() ? kAsideWidth + 2 * 16 - kSums : 0;
    auto byWidth = [&](float heads) {
      const float room = area - 2 * 24 - gaps - heads, whole = room / static_cast<float>(cells);
      return isAside() ? std::min(whole, (room + kArrow - beside) / static_cast<float>(cells - keys)) : whole;
    };
    // Thumbnails are at the right. If that made cells too small, up to three go into a narrow column, and
    // more into the free space above the weights.
    const bool isTight = hasHeads() && byWidth(kHeadsPanel) < kReadableCell;
    const bool headsAbove = isTight && !projected() && !valueBeside && keys >= 6;
    const float heads = !hasHeads() || headsAbove        ? 0
                        : isTight && in_.thumbnails <= 3 ? kHeadsColumn
                                                         : kHeadsPanel;
    const float fixedWidth = gaps + heads;
    const auto byHeight = [&](const Labels& l, float more) {
      const float fixed = 8 + kTitle + names + l.lift + kTitles + kCaption + 4 + more;
      const float room = out_.board.height - fixed,
                  lower = static_cast<float>(valueBeside ? std::max(n, keys) : n);
      return std::min({room / (static_cast<float>(above) + lower),
                       (room - l.room) / (static_cast<float>(d) + lower), (room + kTitle - l.aside) / lower});
    };
    // Prefers scrolling to the cards over numbers too small to read, but keeps every matrix visible.
    const auto cell = [&](const Labels& l) {
      const float whole = byHeight(l, 0);
      const float least = isAside()                     ? 0
                          : out_.board.height < kScreen ? kReadableCell
                                                        : std::min(kReadableCell, whole);
      return clampCell(std::min(byWidth(heads), std::max(byHeight(l, cards), least)), largestCell());
    };
    // Slanted labels make cells smaller; a label that was slanted before stays slanted.
    const bool slant = slanted(cell(labelsFor(false)));
    const auto [labelRoom, lift, aside] = labelsFor(slant);
    const float c = cell({labelRoom, lift, aside});

    const float arrow = std::max(kArrow, beside - static_cast<float>(keys) * c);
    const float used = static_cast<float>(cells) * c + fixedWidth + arrow - kArrow;
    float x = std::max(24.0f, (out_.board.width - used + (heads > 0 ? 0 : 24)) / 2) + labels;
    const float upper =
        std::max({aside - kTitle, static_cast<float>(d) * c + labelRoom,
                  static_cast<float>(std::max(valueBeside ? 0 : keys, projected() ? e : 0)) * c,
                  projected() ? static_cast<float>(m) * c + lift + names : 0});
    const float base = 8 + kTitle + upper,
                y0 = base + kTitles;  // bottom of the upper row, top of the lower one
    auto aboveY = [&](int rows) { return base - static_cast<float>(rows) * c; };

    if (projected()) {
      place(TensorId::x, x, y0, n, m, c, "X").labelsLeft = true;
      place(TensorId::w_k, x, aboveY(m) - lift, m, d, c, "W_K");
      x += static_cast<float>(first) * c + kGap;
      place(TensorId::w_q, x, aboveY(m) - lift, m, d, c, "W_Q");
    }
    auto& q = place(TensorId::q, x, y0, n, d, c, "Q",
                    projected() ? made(TensorId::q) : "drag a cell, or double-click to type");
    q.labelsLeft = !projected();
    x += static_cast<float>(d) * c + kQueryGap + nameRoom();
    auto& k = place(TensorId::k, x, aboveY(d), d, keys, c, "K^T");
    k.labelsAbove = true, k.slanted = slant, k.labelRoom = labelRoom;
    const float keysTop = k.box.y - labelRoom;
    place(TensorId::scores, x, y0, n, keys, c, "S", "S");
    x += static_cast<float>(keys) * c;
    const float free = x + (slant ? labelRoom : 16.0f);  // the free space to the right of Kᵀ
    out_.arrow = {x, y0, arrow, static_cast<float>(n) * c};
    x += arrow;
    auto& w = place(TensorId::weights, x, y0, n, keys, c, "W", "W");
    w.labelsAbove = true, w.sums = true, w.slanted = slant, w.labelRoom = labelRoom;
    if (projected()) place(TensorId::w_v, x, aboveY(m) - lift, m, e, c, "W_V");
    const float weightsX = x;
    x += static_cast<float>(third) * c + kSums;
    if (valueBeside) {
      place(TensorId::head_output, x, y0, n, e, c, "O", "O = W·V");
      x += static_cast<float>(e) * c + kGap;
      place(TensorId::v, x, y0, keys, e, c, "V").labelsRight = true;
    } else {
      place(TensorId::v, x, aboveY(keys), keys, e, c, "V").labelsRight = true;
      place(TensorId::head_output, x, y0, n, e, c, "O", "O = W·V");
    }
    const float lower = y0 + static_cast<float>(valueBeside ? std::max(n, keys) : n) * c;
    if (isAside()) {
      const float end = valueBeside ? x + static_cast<float>(e) * c : x - 16;
      out_.inspector = {free, 12, end - free, base - labelRoom};
    }
    x += static_cast<float>(e) * c + labels;
    if (projected()) {
      x += 8;
      if (in_.outputProjection) place(TensorId::w_o, x, aboveY(e), e, in_.outputDim, c, "W_O");
      place(TensorId::output, x, y0, n, in_.outputDim, c, "Output",
            in_.outputProjection ? "output of all heads" : "heads side by side");
      x += static_cast<float>(in_.outputDim) * c + 24;
    }
    if (headsAbove) {
      out_.heads = {weightsX, 12, static_cast<float>(keys) * c, base - labelRoom};
    } else if (hasHeads()) {
      const float left = std::min(std::max(x + 16, 0.0f), out_.board.width - heads - 16);
      out_.heads = {left, 28, heads, lower - 28};
    }
    float y = lower + kCaption + 4;
    if (!in_.extras.empty())
      y = lines(extraItems(), margin + 8 + labels, y, out_.board.width - margin - 8, labels,
                std::max(c, kExtraCell)) +
          8;
    // If the cards are not visible, the inspector is placed in the free space above Q and Kᵀ.
    const Box corner{margin + 8, 12, free - 16 - margin - 8, keysTop - kTitle - 20};
    if (in_.inspector && !in_.present && !projected() && y + kCardHeight / 2 > out_.board.height &&
        corner.width >= kCornerWidth && corner.height >= kAsideHeight) {
      out_.inspector = corner;
    }
    const float width =
        std::min(out_.board.width - 2 * margin - 16, in_.present ? kPresentCard : kContentWidth);
    cardsBelow((out_.board.width - width) / 2, width, y);
    if (in_.present) centreDown();
  }

  // Centres the content of a presentation vertically.
  void centreDown() {
    const float by = std::floor((out_.board.height - out_.contentHeight) / 2);
    if (by <= 0) return;
    for (MatrixPlace& m : out_.matrices) m.box.y += by;
    for (Box* box : {&out_.arrow, &out_.inspector}) box->y += by;
    out_.contentHeight += by;
  }

  void cardsBelow(float x, float width, float y) {
    const float least = in_.present ? kLowCard : kCardHeight;
    const float height = std::max(least, std::min(out_.board.height - y - 24, in_.present ? least : 400.0f));
    const int count = (hasArcs() ? 1 : 0) + (in_.inspector && out_.inspector.empty() ? 1 : 0);
    if (count == 0) {
      out_.contentHeight = y;
      return;
    }
    const float each = count == 2 ? (width - 28) / 2 : width;
    if (hasArcs()) out_.arcs = {x, y, each, height};
    if (in_.inspector && out_.inspector.empty())
      out_.inspector = {count == 2 ? x + each + 28 : x, y, each, height};
    out_.contentHeight = y + height + 24;
  }

  // For a small embed or a phone: Q, Kᵀ and the weights first; everything else below.
  void compact(float most = 44) {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim;
    const float width = out_.board.width;
    const bool beside = in_.inspector && width >= 560;
    const float labels = std::min(std::max(28.0f, in_.labelWidth + 16), 102.0f);
    const float gap = 23, plain = in_.width < 600 ? 29 : 30;
    const float panel = beside ? 224 : 0;
    const float left = in_.width < 600 ? 6 : 14,
                right = in_.width < 600 ? 18 : 12;  // with room for the scroll bar
    const float byWidth = (width - left - labels - gap - panel - right) / static_cast<float>(keys + d);
    const auto cell = [&](float strip) {
      const float byHeight = (out_.board.height - 34 - strip - 22) / static_cast<float>(n + d);
      const float limit = std::min(most, in_.width < 600 ? 40.0f : 44.0f);
      return clampCell(beside ? std::min(byWidth, std::max(byHeight, kReadableCell - 2)) : byWidth, limit);
    };
    const bool slant = slanted(cell(plain));
    const float strip = slant ? between(0, plain) : plain, c = cell(strip);

    const float used = labels + gap + static_cast<float>(keys + d) * c + panel;
    const float x0 = std::max(left, std::min({(width - used) / 2, width - right - used, 64.0f})) + labels;
    const float xk = x0 + static_cast<float>(d) * c + gap;
    const float yk = in_.width < 600 ? 40.0f : 34.0f;
    const float y0 = yk + static_cast<float>(d) * c + strip;
    place(TensorId::q, x0, y0, n, d, c, "Q").labelsLeft = true;
    auto& k = place(TensorId::k, xk, yk, d, keys, c, "K^T");
    k.labelsBelow = true, k.slanted = slant, k.labelRoom = strip;
    // The weights are named below them, because the keys are above.
    place(TensorId::weights, xk, y0, n, keys, c, "", "W");
    float y = y0 + static_cast<float>(n) * c + 34;
    if (beside) {
      const float x = xk + static_cast<float>(keys) * c + 26;
      out_.inspectorIsBrief = true;
      out_.inspector = {x, yk - 4, width - x - 16, y - yk};
    }
    if (out_.board.width < 860) return restBelow(y, beside, labels);
    if (hasHeads() &&
        in_.heads > 1) {  // in the free corner over Q, where they fit large enough to be recognised
      out_.heads = {x0, 12, xk - gap - x0, y0 - kTitle - 24};
      if (!thumbnails(out_.heads, in_.thumbnails).names) out_.heads = {};
    }
    const float x = 24 + labels;
    flow(x, y, out_.board.width - 24, labels, std::min(c, most));
    restBelow(out_.contentHeight, beside, labels);
  }

  // For the step of a lesson: the matrices that it is about as large as all of them fit, with the usual ones
  // for which there is room, and everything else below.
  void ofLesson() {
    LayoutInput part = in_;
    part.isPart = true, part.only = in_.asked;
    part.inspector = part.arcs = part.headsPanel = false;
    Layout first = Builder(part, steps_).build();
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

  void restBelow(float y, bool brief, float labels) {
    const float x = in_.width < 600 ? 16.0f : 24.0f;
    const float width = out_.board.width - 2 * x;
    // Cards side by side if there is room for two, otherwise the arithmetic first.
    const bool both = in_.inspector && hasArcs() && width >= 760;
    const float each = both ? (width - 16) / 2 : width;
    const float arcsHeight =
        both ? kCardHeight
             : std::clamp(48.0f + static_cast<float>(std::max(in_.tokens, in_.keyTokens)) * 34.0f,
                          in_.card == document::Card::arcs ? 140.0f : kCardHeight, 420.0f);
    if (hasArcs() && both) out_.arcs = {x, y, each, arcsHeight};
    if (in_.inspector) {
      Box& card = brief ? out_.inspectorBelow : out_.inspector;
      card = {both ? x + each + 16 : x, y, each, in_.width < 600 ? 236.0f : kCardHeight};
      y = card.bottom() + 16;
    }
    if (hasArcs() && !both) {
      out_.arcs = {x, y, width, arcsHeight};
      y = out_.arcs.bottom() + 16;
    }
    if (hasHeads() && in_.heads > 1 && out_.heads.empty()) {
      out_.heads = {x, y, width, 0};
      const ThumbnailGrid grid = thumbnails(out_.heads, in_.thumbnails);
      out_.heads.height =
          28 + grid.pitchY * std::ceil(static_cast<float>(in_.thumbnails) / static_cast<float>(grid.columns));
      y = out_.heads.bottom() + 16;
    }
    if (out_.board.width < 860 || !in_.asked.empty()) flow(x + labels, y, out_.board.width - x, labels, 44);
    else out_.contentHeight = y + 8;
  }

  bool isWanted(TensorId id) const {
    return std::find(in_.only.begin(), in_.only.end(), id) != in_.only.end();
  }

  // For a host page that asked for some parts only: matrices arranged so that rows and columns align, with
  // the largest cells that fit, followed by the other parts.
  void parts() {
    constexpr float kMargin = 8, kBeside = 20, kBriefPanel = 224, kCardPanel = 330, kLowest = 22;
    const bool q = isWanted(TensorId::q), k = isWanted(TensorId::k), s = isWanted(TensorId::scores),
               w = isWanted(TensorId::weights);
    const bool v = isWanted(TensorId::v), o = isWanted(TensorId::head_output);
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim;
    const int pairs = s && w ? 2 : s || w || k ? 1 : 0, columns = (q ? 1 : 0) + pairs + (v || o ? 1 : 0);
    const Box& board = out_.board;
    float y = kMargin;
    if (columns > 0) {
      // The inspector's bars are beside the rows, and its text above them, beside Kᵀ; otherwise it is a card
      // at the right.
      const bool isNamed = in_.heads > 1 || !in_.asked.empty();  // are the weights named, below them?
      const bool brief = in_.inspector && k && w && board.width >= 440, lower = q || s || w || o;
      const bool card = in_.inspector && !brief && board.width >= 520;
      const float panel = brief ? kBriefPanel : card ? kCardPanel : 0;
      const float labels = std::clamp(in_.labelWidth + 12, 24.0f, 102.0f);
      const float sides = 2 * kMargin + (lower ? labels : 0) + (v ? labels : 0) +
                          kBeside * static_cast<float>(columns - (panel > 0 ? 0 : 1)) + panel;
      const int across = (q ? d : 0) + pairs * keys + (v || o ? e : 0),
                up = std::max(k ? d : 0, v ? keys : 0), down = up + (lower ? n : 0);
      const float below = s || (w && isNamed) ? kLowest + 4 : lower ? 8 : 26;  // for the captions below them
      const bool labelled = k || s || w;
      const auto strip = [&](float cell) { return labelled ? between(cell, 28) : kTitle; };
      const auto fixed = [&](float cell) {
        return y + (up > 0 ? kTitle : 0) + (lower ? strip(cell) : 0) + below;
      };
      // Of a lesson a number that cannot be read is worse than one to scroll to.
      const float least = in_.asked.empty() ? 0 : kLegibleCell, most = in_.natural         ? kMaxCell
                                                                       : in_.asked.empty() ? kLargeCell
                                                                                           : 44;
      const auto cellFor = [&](float cell) {
        return clampCell(std::min((board.width - sides) / static_cast<float>(across),
                                  std::max((board.height - fixed(cell)) / static_cast<float>(down), least)),
                         most);
      };
      const float c = cellFor(cellFor(kMaxCell)), between = strip(c);
      const bool slant = slanted(c);
      float x = kMargin + std::max(0.0f, (board.width - sides - static_cast<float>(across) * c) / 2);
      const float base = y + (up > 0 ? kTitle + static_cast<float>(up) * c : 0),
                  y0 = base + (lower ? between : 0);
      bool first = true;  // of the lower row, whose row labels it has
      if (lower) x += labels;
      const auto put = [&](TensorId id, int cols, std::string_view title,
                           std::string_view caption) -> MatrixPlace& {
        MatrixPlace& m = place(id, x, y0, n, cols, c, title, caption);
        m.labelsLeft = std::exchange(first, false);
        return m;
      };
      if (q) {
        put(TensorId::q, d, "Q", "");
        x += static_cast<float>(d) * c + kBeside;
      }
      if (k) {
        MatrixPlace& m = place(TensorId::k, x, base - static_cast<float>(d) * c, d, keys, c, "K^T");
        m.labelsBelow = true, m.slanted = slant, m.labelRoom = lower ? between : 26;
      }
      bool above = k;  // do its columns have labels already?
      for (const TensorId id : {TensorId::scores, TensorId::weights}) {
        if (!isWanted(id)) continue;
        MatrixPlace& m = put(id, keys, "",
                             id == TensorId::weights && isNamed ? "W"
                             : id == TensorId::scores           ? "S"
                                                                : "");
        m.labelsAbove = !std::exchange(above, false), m.slanted = slant, m.labelRoom = between;
        x += static_cast<float>(keys) * c + kBeside;
      }
      if (pairs == 1 && !s && !w) x += static_cast<float>(keys) * c + kBeside;
      if (v) place(TensorId::v, x, base - static_cast<float>(keys) * c, keys, e, c, "V").labelsRight = true;
      if (o)
        put(TensorId::head_output, e, v && in_.asked.empty() ? "" : "O",
            v && in_.heads > 1 && in_.asked.empty() ? "O" : "");
      x += v || o ? static_cast<float>(e) * c + (v ? labels : 0) + kBeside : 0;
      y = std::max(y0 + (lower ? static_cast<float>(n) * c : 0) + below, y);
      if (card) {
        const float height = in_.natural ? kCardHeight : std::max(board.height - 2 * kMargin, 160.0f);
        out_.inspector = {x, kMargin, std::max(kCardPanel, board.right() - board.x - x) - kMargin, height};
        y = std::max(y, out_.inspector.bottom() + kMargin);
      }
      if (brief) {
        out_.inspectorIsBrief = true;
        out_.inspector = {x, kMargin + kTitle - 4, kBriefPanel - kMargin,
                          std::max(y0 + static_cast<float>(n) * c - kMargin - kTitle, 120.0f)};
      }
    }
    partsBelow(y);
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
    if (!rest.empty()) y = lines(rest, kMargin + labels, y, out_.board.width - kMargin, labels, kMaxCell);
    const bool inspector = in_.inspector && out_.inspector.empty(), heads = hasHeads();
    const int count = (hasArcs() ? 1 : 0) + (inspector ? 1 : 0);
    const float free = (out_.board.height - y - kMargin) / static_cast<float>(std::max(1, count)) -
                       (count > 1 ? kMargin : 0);
    const float height = alone && rest.empty() && !heads && !in_.natural
                             ? std::max(free, kLeastCard)
                             : std::max(std::min(free, kCardHeight), 200.0f);
    if (heads) {
      out_.heads = {kMargin, y, width, 0};
      const ThumbnailGrid grid = thumbnails(out_.heads, in_.thumbnails);
      out_.heads.height =
          28 + grid.pitchY * std::ceil(static_cast<float>(in_.thumbnails) / static_cast<float>(grid.columns));
      y = out_.heads.bottom() + kMargin;
    }
    if (inspector) out_.inspector = {kMargin, y, width, height}, y = out_.inspector.bottom() + kMargin;
    if (hasArcs()) out_.arcs = {kMargin, y, width, height}, y = out_.arcs.bottom() + kMargin;
    out_.contentHeight = y;
  }

  // Tokens as columns. Q is above S with Kᵀ beside S, and the weights are above the output with V beside it,
  // so that rows and columns align here too. On a small board Q, Kᵀ and the weights come first, as in
  // compact().
  void columns() {
    const Box& board = out_.board;
    const bool isWide = board.width >= 860 && !in_.isPart, isSmall = !isWide && !in_.isPart;
    const auto has = [&](TensorId id) {
      return in_.isPart ? isWanted(id)
                        : isWide || id == TensorId::q || id == TensorId::k || id == TensorId::weights;
    };
    const bool q = has(TensorId::q), k = has(TensorId::k), s = has(TensorId::scores),
               w = has(TensorId::weights);
    const bool v = has(TensorId::v), o = has(TensorId::head_output), lower = v || o;
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim;
    const bool isRight = w || o || (q && !s);
    const float area = std::min(board.width, kContentWidth),
                margin = isWide            ? std::max(24.0f, (board.width - area) / 2)
                         : in_.width < 600 ? 6.0f
                                           : 14.0f;
    const float labels = !k && !s && !w ? 0 : std::clamp(in_.labelWidth + 14, 28.0f, 102.0f);
    const bool beside = isSmall && in_.inspector && board.width >= 560;
    const float panel = beside ? 224 + 26
                        : isWide && hasHeads()
                            ? (in_.thumbnails <= 3 ? kHeadsColumn : kHeadsPanel) + kBesideWeights
                            : 0;
    const float gapS = k && (s || isRight) ? kGap : 0, gapW = s && isRight ? w ? kArrow : kGap : 0,
                gapV = v && isRight ? kGap : 0;
    const int leftCells = (k ? d : 0) + (s ? n : 0), right = isRight ? n : 0;
    const int rows = (q ? d : 0) + (k || s || w ? keys : 0) + (lower ? e : 0);
    if (leftCells + right + (v ? keys : 0) > 0) {
      // V extends to the left as far as necessary.
      const float room = area - 2 * (isWide ? 24.0f : margin) - panel;
      const float byWidth =
          std::min((room - labels - gapS - gapW) / static_cast<float>(std::max(leftCells + right, 1)),
                   v ? (room - gapV - 8) / static_cast<float>(keys + right) : kLargeCell);
      const float names = in_.nameWidth > 0 ? kLabels : 0, headTitle = kTitle + names;
      const float cards = !isWide || !(hasArcs() || in_.inspector) ? 0
                          : in_.present                            ? kLowCard + 32
                                                                   : kCardHeight + 40;
      const float most = isWide        ? largestCell()
                         : isSmall     ? (in_.width < 600 ? 40.0f : 44.0f)
                         : in_.natural ? kMaxCell
                                       : kLargeCell;
      const auto cell = [&](float strip) {
        const float fixed = 8 + headTitle + strip + (lower ? kLower : 0) + kCaption;
        const float whole = (board.height - fixed) / static_cast<float>(std::max(rows, 1)),
                    seen = (board.height - fixed - cards) / static_cast<float>(std::max(rows, 1));
        const float least = isSmall && !beside                      ? most
                            : board.height < kScreen && !in_.isPart ? kReadableCell
                                                                    : std::min(kReadableCell, whole);
        return clampCell(std::min(byWidth, std::max(seen, least)), most);
      };
      const float strip = between(cell(kBetween)), c = cell(strip);
      const bool slant = slanted(c);
      const auto size = [&](int cells) { return static_cast<float>(cells) * c; };
      const float before = labels + size(leftCells) + gapS + gapW,
                  toRight = std::max(before, v ? size(keys) + gapV + 8 : 0.0f);
      const float used = toRight + size(right) + panel;
      const float xRight = std::max(margin, (board.width - used) / 2) + toRight,
                  xS = xRight - gapW - size(s ? n : 0), xK = xS - gapS - size(k ? d : 0);
      const float yPairs = 8 + headTitle + (q ? size(d) : 0) + (q || s || w ? strip : 0);
      if (q) {
        MatrixPlace& m = place(TensorId::q, s ? xS : xRight, 8 + headTitle, d, n, c, "Q",
                               projected() ? made(TensorId::q) : std::string_view());
        m.labelsBelow = true, m.slanted = slant, m.labelRoom = strip;
        if (s || w) m.caption = {};
      }
      bool isFirst = true;  // of the line of keys, whose labels it has
      if (k)
        place(TensorId::k, xK, yPairs, keys, d, c, "K^T",
              projected() ? made(TensorId::k) : std::string_view())
            .labelsLeft = std::exchange(isFirst, false);
      if (s) {
        MatrixPlace& m = place(TensorId::scores, xS, yPairs, keys, n, c, "", "S");
        m.labelsAbove = !q, m.labelsLeft = std::exchange(isFirst, false), m.slanted = slant,
        m.labelRoom = strip;
      }
      if (w) {
        MatrixPlace& m =
            place(TensorId::weights, xRight, yPairs, keys, n, c, s ? "W" : "", s || in_.heads > 1 ? "W" : "");
        m.labelsAbove = s || !q, m.labelsLeft = std::exchange(isFirst, false), m.slanted = slant,
        m.labelRoom = strip, m.sums = isWide;
        if (s) out_.arrow = {xRight - gapW, yPairs, gapW, size(keys)};
      }
      float y = yPairs + (k || s || w ? size(keys) : 0);
      if (lower) {
        y += k || s || w ? kLower : kTitle;
        if (v) {
          MatrixPlace& m = place(TensorId::v, xRight - gapV - size(keys), y, e, keys, c, "V",
                                 projected() ? made(TensorId::v) : std::string_view());
          m.labelsBelow = true, m.slanted = slant, m.labelRoom = strip;
          m.caption = {};
        }
        if (o) {
          MatrixPlace& m = place(TensorId::head_output, xRight, y, e, n, c, w ? "" : "O", "O = V·W");
          m.labelsAbove = !w, m.slanted = slant, m.labelRoom = w ? 0 : strip;
        }
        y += size(e) + (v ? std::max(strip - kBetween, 0.0f) : 0);
      }
      if (isWide && hasHeads())
        out_.heads = {
            std::min(xRight + size(right) + kBesideWeights, board.width - (panel - kBesideWeights) - 16), 28,
            panel - kBesideWeights, y - 28};
      if (beside) {
        const float x = xRight + size(right) + 26;
        out_.inspectorIsBrief = true;
        out_.inspector = {x, 30, board.width - x - 16, y - 24};
      }
      columnsBelow(y + (isSmall ? in_.heads > 1 ? 34.0f : 24.0f : kCaption + 16), margin, labels, c, isWide,
                   beside);
      return;
    }
    columnsBelow(8, margin, labels, kExtraCell, isWide, beside);
  }

  // The other matrices, and the cards, below.
  void columnsBelow(float y, float margin, float labels, float c, bool isWide, bool beside) {
    if (in_.isPart) return partsBelow(y);
    if (!isWide) return restBelow(y, beside, labels);
    std::vector<Item> rest;
    for (const Item& item : moreItems())
      if (!out_.find(item.id)) rest.push_back(item);
    if (!rest.empty())
      y = lines(rest, margin + 8 + labels, y, out_.board.width - margin - 8, labels,
                std::max(c, kExtraCell)) +
          8;
    const float width =
        std::min(out_.board.width - 2 * margin - 16, in_.present ? kPresentCard : kContentWidth);
    cardsBelow((out_.board.width - width) / 2, width, y);
    if (in_.present) centreDown();
  }

  // The formula for Q, K or V.
  std::string_view made(TensorId id) const {
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
    int rows, cols;
    std::string_view title, caption;
    bool labelled;
  };

  // The remaining matrices, from left to right.
  void flow(float left, float y, float right, float labels, float most) {
    std::vector<Item> items = moreItems();
    std::erase_if(items, [&](const Item& item) { return out_.find(item.id) != nullptr; });
    out_.contentHeight = lines(items, left, y, right, labels, most) + 16;
  }

  std::vector<Item> moreItems() const {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim, m = in_.modelDim;
    std::vector<Item> items;
    if (projected()) {
      items = {{TensorId::x, n, m, "X", "", true},
               {TensorId::w_q, m, d * queryHeads(), "W_Q", made(TensorId::q), false},
               {TensorId::w_k, m, d * keyHeads(), "W_K", made(TensorId::k), false},
               {TensorId::w_v, m, e * keyHeads(), "W_V", made(TensorId::v), false}};
    }
    if (!in_.asked.empty()) {
      items.push_back({TensorId::q, n, d, "Q", projected() ? made(TensorId::q) : "", true});
      items.push_back({TensorId::k, keys, d, "K^T", projected() ? made(TensorId::k) : "", true});
      items.push_back({TensorId::weights, n, keys, "W", "W", true});
    }
    items.push_back({TensorId::scores, n, keys, "S", "S", true});
    items.push_back({TensorId::v, keys, e, "V", projected() ? made(TensorId::v) : "", true});
    items.push_back({TensorId::head_output, n, e, "O", in_.columns ? "O = V·W" : "O = W·V", true});
    if (projected()) {
      if (in_.outputProjection)
        items.push_back({TensorId::w_o, e * queryHeads(), in_.outputDim, "W_O", "", false});
      items.push_back({TensorId::output, n, in_.outputDim, "Output", outputWords(), true});
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
      const bool isTransposed = (item.id == TensorId::k) != in_.columns;
      const int rows = isTransposed ? item.cols : item.rows, cols = isTransposed ? item.rows : item.cols;
      const float c = clampCell((right - left) / static_cast<float>(std::max(cols, 1)), most);
      const float w = std::max(static_cast<float>(cols) * c, 150.0f);
      const bool isNamed = in_.nameWidth > 0 && hasNamedColumns(item.id);
      if (isNamed && in_.columns) x += std::max(0.0f, in_.nameWidth + 14 - labels);  // beside its rows
      if (x > left && x + w > right)
        x = left, y += lineHeight, lineHeight = above = 0, first = out_.matrices.size();
      const bool isAbove = isTransposed && item.labelled && !attention::isOfPairs(item.id);
      const float strip = isAbove ? between(c, kLabels) : isNamed && !in_.columns ? kLabels : 0;
      if (strip > above) {
        for (std::size_t i = first; i < out_.matrices.size(); ++i) out_.matrices[i].box.y += strip - above;
        lineHeight += strip - above, above = strip;
      }
      MatrixPlace& m = place(item.id, x, y + kTitle + above, rows, cols, c, item.title, item.caption);
      m.labelsLeft = item.labelled && !isAbove, m.labelsAbove = isAbove, m.labelRoom = strip,
      m.slanted = isAbove && slanted(c);
      lineHeight = std::max(lineHeight, kTitle + above + static_cast<float>(rows) * c + kCaption + 8);
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
      items.push_back({row.id, extra.rows, extra.cols, row.title, caption, isLabelled});
    }
    return items;
  }

  const LayoutInput& in_;
  float steps_;  // height that the stepping bar takes from the board
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
    case TensorId::w_q: return {0, 0, head * s.headDim};
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
  if (!hasNamedColumns(id)) return {};
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
    case TensorId::w_q: return col / s.headDim;
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
// finger that selected a number.
void addEditing(Layout& out) {
  out.board.height -= kEditing;
  for (Box* box : {&out.stepLine, &out.stepper})
    if (!box->empty()) box->y -= kEditing;
  out.editing = {out.board.x, out.board.bottom() + out.stepLine.height + out.stepper.height, out.board.width,
                 kEditing};
}

}  // namespace

Layout layout(const LayoutInput& input) {
  const auto made = [](const LayoutInput& in) {
    Layout out = in.stepper ? withSteps(in) : Builder(in).build();
    if (in.magnify > 1) magnify(out, in.magnify, in.pan);
    if (in.editing) addEditing(out);
    return out;
  };
  if (!input.natural) return made(input);
  LayoutInput endless = input;
  endless.height = kEndless;
  Layout out = made(endless);
  const float less = kEndless - input.height;
  out.side.height -= less, out.board.height -= less;
  for (Box* below : {&out.guide, &out.stepper, &out.stepLine, &out.editing}) {
    if (!below->empty()) below->y -= less;
  }
  return out;
}

ThumbnailGrid thumbnails(const Box& heads, int count) {
  constexpr float kSizes[] = {84, 64, 44, 28, 20, 12, 8};
  ThumbnailGrid grid;
  for (const float size : kSizes) {
    if (size == 84 && count > 4) continue;
    grid.names = size >= 44;
    const float gap = size >= 44 ? 16.0f : 6.0f;
    grid.size = size;
    grid.pitchX = size + gap, grid.pitchY = size + (grid.names ? 28.0f : gap);
    grid.columns = std::max(1, static_cast<int>((heads.width + gap) / grid.pitchX));
    const int rows = (count + grid.columns - 1) / grid.columns;
    // Without a given height they become as high as necessary.
    if (heads.height <= 0 ? size <= 44 || count <= (size == 84 ? 4 : 8)
                          : 28 + static_cast<float>(rows) * grid.pitchY <= heads.height + 0.5f)
      break;
  }
  return grid;
}

}  // namespace views
