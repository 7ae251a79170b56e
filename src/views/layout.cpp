#include "views/layout.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace views {
namespace {

using attention::TensorId;
using document::Mode;

constexpr float kHeader = 44, kSide = 232;
constexpr float kTitle = 24;        // above a matrix
constexpr float kBetween = 20;      // from a matrix to the one below it: column labels stand there
constexpr float kHeadTitle = 24;    // of the weights, above their labels
constexpr float kSlant = 0.7072f;   // of 45°
constexpr float kLongestSlant = 84; // of a label at 45°
constexpr float kScreen = 560;      // from this height of the board on, its matrices are seen without scrolling
constexpr float kCaption = 30;      // under the lowest matrices
constexpr float kGap = 30;          // from a matrix to the one beside it
constexpr float kSums = 38;         // for the row sums of the weights
constexpr float kExtraCell = 36;
constexpr float kArrow = 92;        // from scores to weights
constexpr float kCardHeight = 306;
constexpr float kHeadsPanel = 206;
constexpr float kMaxCell = 48, kReadableCell = 36;
constexpr float kNumberCell = 28;
constexpr int kLong = 12;  // tokens
constexpr float kContentWidth = 1640;

float clampCell(float wanted, float limit) {
  // Whole pixels while numbers can be read, so that columns of digits line up; finer when there is no room for that.
  const float cell = std::min(wanted, limit);
  return cell >= 8 ? std::floor(cell) : std::max(cell, 0.02f);
}

/// Has the tensor nothing to do with one head more than with another?
bool isOfAllHeads(TensorId id) {
  switch (id) {
    case TensorId::x:
    case TensorId::x_kv:
    case TensorId::positions:
    case TensorId::x_positioned:
    case TensorId::x_kv_positioned:
    case TensorId::concat:
    case TensorId::output: return true;
    default: return false;
  }
}

bool isProjection(TensorId id) {
  return id == TensorId::w_q || id == TensorId::w_k || id == TensorId::w_v || id == TensorId::w_o;
}

class Builder {
 public:
  explicit Builder(const LayoutInput& input) : in_(input) {}

  Layout build() {
    frame();
    if (out_.board.width < 860) {
      compact();
      return std::move(out_);
    }
    const bool whole = projected() && in_.wholeProjections;
    if (!whole) wide();
    // Where all of it side by side makes numbers small that are larger one below the other.
    if (whole || (out_.matrices.front().cell < kNumberCell && std::max(in_.tokens, in_.keyTokens) <= 16)) {
      const Layout beside = std::exchange(out_, {});
      packed();
      if (!whole && fits(beside) && smallestCell(beside) >= smallestCell(out_)) return beside;
    }
    return std::move(out_);
  }

 private:
  bool hasArcs() const { return in_.arcs && !in_.present; }
  bool hasHeads() const { return in_.headsPanel && !in_.present; }
  bool projected() const { return in_.mode == Mode::x; }
  // How many heads of a projection are shown.
  int queryHeads() const { return in_.wholeProjections ? in_.heads : 1; }
  int keyHeads() const { return in_.wholeProjections ? in_.kvHeads : 1; }

  // Does every matrix lie on the screen before anything is scrolled?
  static bool fits(const Layout& l) {
    return l.board.height < kScreen || std::all_of(l.matrices.begin(), l.matrices.end(), [&](const MatrixPlace& m) {
      return m.box.bottom() <= l.board.height && m.box.right() <= l.board.width;
    });
  }
  static float smallestCell(const Layout& l) {
    float cell = kMaxCell;
    for (const MatrixPlace& m : l.matrices) cell = std::min(cell, m.cell);
    return cell;
  }

  // Q, Kᵀ and weights, and the other matrices below them: as large as all are on the screen.
  void packed() {
    for (float most = 44;; most = most > 8 ? std::floor(most) - 1 : most * 0.8f) {
      out_ = Layout{};
      frame();
      compact(most);
      if (fits(out_) || most < 0.02f) return;
    }
  }

  // Column labels that are wider than the columns are slanted. Their room is `between`.
  bool slanted(float cell) const { return in_.labelWidth * 0.9f > cell - 2; }
  float between(float cell, float plain = kBetween) const {
    return slanted(cell) ? std::max(plain, std::ceil(std::min(in_.labelWidth * 0.9f, kLongestSlant) * kSlant) + 16) : plain;
  }

  void frame() {
    out_.width = in_.width >= 1100 ? Width::full : in_.width >= 600 ? Width::medium : Width::narrow;
    const float top = in_.header ? kHeader : 0;
    out_.header = {0, 0, in_.width, top};
    out_.sidePanelIsDrawer = out_.width != Width::full;
    const bool docked = in_.side && !in_.present && !out_.sidePanelIsDrawer;
    out_.side = {0, top, in_.side && !in_.present ? std::min(kSide, in_.width) : 0, in_.height - top};
    const float left = docked ? kSide : 0;
    out_.board = {left, top, in_.width - left, in_.height - top};
  }

  MatrixPlace& place(TensorId id, float x, float y, int rows, int cols, float cell, std::string_view title,
                     std::string_view caption = {}) {
    MatrixPlace m;
    m.tensor = id;
    m.transposed = id == TensorId::k;
    m.rows = rows, m.cols = cols;
    m.box = {x, y, static_cast<float>(cols) * cell, static_cast<float>(rows) * cell};
    m.cell = cell;
    m.title = title, m.caption = caption;
    out_.matrices.push_back(m);
    return out_.matrices.back();
  }

  // All matrices side by side: X, Q, S, W, O (and the output) below; the weights, Kᵀ and V above.
  void wide() {
    const float area = std::min(out_.board.width, kContentWidth);
    const float margin = std::max(24.0f, (out_.board.width - area) / 2);
    const float labels = std::max(36.0f, in_.labelWidth + 14);
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim, m = in_.modelDim;

    const int first = projected() ? std::max(m, d) : 0;         // X, with W_K above it
    const int third = projected() ? std::max(keys, e) : keys;   // weights, with W_V above them
    // V stands above the output, where its columns go down into it; a long one beside it, to save the height.
    const bool valueBeside = keys > kLong;
    const int cells = first + d + keys + third + e + (projected() ? m : 0) + (valueBeside ? e : 0);
    const float gaps = labels + (projected() ? kGap : 0) + kGap + kArrow + kSums + labels + (projected() ? 8.0f : 0) + 24 +
                       (valueBeside ? kGap : 0);
    // W_Q, W_K and W_V stand above something with a title or labels of its own.
    const float headTitle = in_.heads > 1 ? kHeadTitle : 0;
    const float lift = projected() ? std::max(kBetween, headTitle + 2) : 0;
    const int above = std::max({d, valueBeside ? 0 : keys, projected() ? std::max(m, e) : 0});
    const float cards = hasArcs() || in_.inspector ? kCardHeight + 40 : 0;
    const float fixedHeight = 8 + kTitle + lift + kBetween + kCaption + 16;
    auto byWidth = [&](float heads) { return (area - 2 * 24 - gaps - heads) / static_cast<float>(cells); };
    // Thumbnails stand at the right; where that would make the cells small, in the free place above the weights.
    const bool headsAbove = hasHeads() && !projected() && !valueBeside && byWidth(kHeadsPanel) < kReadableCell && keys >= 6 && in_.thumbnails <= 8;
    const float heads = hasHeads() && !headsAbove ? kHeadsPanel : 0;
    const float fixedWidth = gaps + heads;
    const auto byHeight = [&](float fixed) { return (out_.board.height - fixed) / static_cast<float>(above + (valueBeside ? std::max(n, keys) : n)); };
    // Rather scroll down to the cards than make numbers too small to read; but a matrix does not leave the screen.
    const auto cell = [&](float room) {
      const float whole = byHeight(fixedHeight + room);
      const float least = out_.board.height < kScreen ? kReadableCell : std::min(kReadableCell, whole);
      return clampCell(std::min(byWidth(heads), std::max(byHeight(fixedHeight + room + cards), least)), kMaxCell);
    };
    // Slanted labels take room, which the cells give: one that is slanted once stays so.
    const bool slant = slanted(cell(0));
    const float strip = slant ? between(0) : kBetween;
    const float c = cell(strip - kBetween);

    const float used = static_cast<float>(cells) * c + fixedWidth;
    const float spare = std::max(0.0f, (area - 48 - used) / 2);
    float x = margin + std::min(spare, 56.0f) + labels;
    const float upper = std::max(static_cast<float>(std::max({d, valueBeside ? 0 : keys, projected() ? e : 0})) * c, projected() ? static_cast<float>(m) * c + lift : 0);
    const float y0 = 8 + std::max(kTitle + upper, headTitle) + strip;  // top of the lower row
    const float base = y0 - strip;                                       // bottom of the upper row
    auto aboveY = [&](int rows) { return base - static_cast<float>(rows) * c; };

    if (projected()) {
      place(TensorId::x, x, y0, n, m, c, "X", "one row a token").labelsLeft = true;
      place(TensorId::w_k, x, aboveY(m) - lift, m, d, c, "W_K");
      x += static_cast<float>(first) * c + kGap;
      place(TensorId::w_q, x, aboveY(m) - lift, m, d, c, "W_Q");
    }
    auto& q = place(TensorId::q, x, y0, n, d, c, "Q", projected() ? "Q = X·W_Q" : "drag a cell, or double-click to type");
    q.labelsLeft = !projected();
    x += static_cast<float>(d) * c + kGap;
    auto& k = place(TensorId::k, x, aboveY(d), d, keys, c, "K^T");
    k.labelsBelow = true, k.slanted = slant, k.labelRoom = strip;
    place(TensorId::scores, x, y0, n, keys, c, "", "S");
    x += static_cast<float>(keys) * c;
    out_.arrow = {x, y0, kArrow, static_cast<float>(n) * c};
    x += kArrow;
    auto& w = place(TensorId::weights, x, y0, n, keys, c, in_.heads > 1 ? "W" : "", "W");
    w.labelsAbove = true, w.sums = true, w.slanted = slant, w.labelRoom = strip;
    if (projected()) place(TensorId::w_v, x, aboveY(m) - lift, m, e, c, "W_V");
    const float weightsX = x;
    x += static_cast<float>(third) * c + kSums;
    if (valueBeside) {
      place(TensorId::head_output, x, y0, n, e, c, "O", "O = W·V");
      x += static_cast<float>(e) * c + kGap;
      place(TensorId::v, x, y0, keys, e, c, "V").labelsRight = true;
    } else {
      place(TensorId::v, x, aboveY(keys), keys, e, c, "V").labelsRight = true;
      place(TensorId::head_output, x, y0, n, e, c, "", "O = W·V");
    }
    const float lower = y0 + static_cast<float>(valueBeside ? std::max(n, keys) : n) * c;
    x += static_cast<float>(e) * c + labels;
    if (projected()) {
      x += 8;
      place(TensorId::w_o, x, aboveY(e), e, m, c, "W_O");
      place(TensorId::output, x, y0, n, m, c, "", "output of all heads");
      x += static_cast<float>(m) * c + 24;
    }
    if (headsAbove) {
      out_.heads = {weightsX, 12, static_cast<float>(keys) * c, base - 16 - headTitle};
    } else if (hasHeads()) {
      const float left = std::min(std::max(x + 16, 0.0f), out_.board.width - heads - 16);
      out_.heads = {left, 28, heads, lower - 28};
    }
    float y = lower + kCaption + 16;
    if (!in_.extras.empty()) y = lines(extraItems(), margin + 8 + labels, y, out_.board.width - margin - 8, labels, std::max(c, kExtraCell)) + 8;
    cardsBelow(margin + 8, out_.board.width - 2 * margin - 16, y);
  }

  void cardsBelow(float x, float width, float y) {
    const float height = std::max(kCardHeight, std::min(out_.board.height - y - 24, 400.0f));
    const int count = (hasArcs() ? 1 : 0) + (in_.inspector ? 1 : 0);
    if (count == 0) {
      out_.contentHeight = y;
      return;
    }
    const float each = count == 2 ? (width - 28) / 2 : width;
    if (hasArcs()) out_.arcs = {x, y, each, height};
    if (in_.inspector) out_.inspector = {count == 2 ? x + each + 28 : x, y, each, height};
    out_.contentHeight = y + height + 24;
  }

  // A small embed or a phone: Q, Kᵀ and the weights first; everything else further down.
  void compact(float most = 44) {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim;
    const float width = out_.board.width;
    const bool beside = in_.inspector && width >= 560;
    const float labels = std::min(std::max(28.0f, in_.labelWidth + 16), 102.0f);
    const float gap = 23, plain = in_.width < 600 ? 29 : 30;
    const float panel = beside ? 224 : 0;
    const float left = in_.width < 600 ? 6 : 14;
    const float byWidth = (width - left - labels - gap - panel - 12) / static_cast<float>(keys + d);
    const auto cell = [&](float strip) {
      const float byHeight = (out_.board.height - 34 - strip - 22) / static_cast<float>(n + d);
      const float limit = std::min(most, in_.width < 600 ? 40.0f : 44.0f);
      return clampCell(beside ? std::min(byWidth, std::max(byHeight, kReadableCell - 2)) : byWidth, limit);
    };
    const bool slant = slanted(cell(plain));
    const float strip = slant ? between(0, plain) : plain, c = cell(strip);

    const float used = labels + gap + static_cast<float>(keys + d) * c + panel;
    const float x0 = std::max(left, std::min((width - used) / 2, 64.0f)) + labels;
    const float xk = x0 + static_cast<float>(d) * c + gap;
    const float yk = in_.width < 600 ? 40.0f : 34.0f;
    const float y0 = yk + static_cast<float>(d) * c + strip;
    place(TensorId::q, x0, y0, n, d, c, "Q").labelsLeft = true;
    auto& k = place(TensorId::k, xk, yk, d, keys, c, "K^T");
    k.labelsBelow = true, k.slanted = slant, k.labelRoom = strip;
    // Whose weights they are is said below them: above stand the keys.
    place(TensorId::weights, xk, y0, n, keys, c, "", in_.heads > 1 ? "W" : "");
    float y = y0 + static_cast<float>(n) * c + (in_.heads > 1 ? 34 : 24);
    if (beside) {
      const float x = xk + static_cast<float>(keys) * c + 26;
      out_.inspectorIsBrief = true;
      out_.inspector = {x, yk - 4, width - x - 16, y - yk};
    }
    if (out_.board.width < 860) return restBelow(y, beside, labels);
    const float x = 24 + labels;
    flow(x, y, out_.board.width - 24, labels, std::min(c, most));
    restBelow(out_.contentHeight, beside, labels);
  }

  void restBelow(float y, bool brief, float labels) {
    const float x = in_.width < 600 ? 16.0f : 24.0f;
    const float width = out_.board.width - 2 * x;
    // Side by side where there is room for two, else the arithmetic first.
    const bool both = in_.inspector && hasArcs() && width >= 760;
    const float each = both ? (width - 16) / 2 : width;
    const float arcsHeight = both ? kCardHeight : std::clamp(48.0f + static_cast<float>(std::max(in_.tokens, in_.keyTokens)) * 34.0f, 140.0f, 420.0f);
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
    if (hasHeads() && in_.heads > 1) {
      out_.heads = {x, y, width, 0};
      const ThumbnailGrid grid = thumbnails(out_.heads, in_.thumbnails);
      out_.heads.height = 28 + grid.pitchY * std::ceil(static_cast<float>(in_.thumbnails) / static_cast<float>(grid.columns));
      y = out_.heads.bottom() + 16;
    }
    if (out_.board.width < 860) flow(x + labels, y, out_.board.width - x, labels, 44);
    else out_.contentHeight = y + 8;
  }

  struct Item {
    TensorId id;
    int rows, cols;
    std::string_view title, caption;
    bool labelled;
  };

  // The remaining matrices.
  void flow(float left, float y, float right, float labels, float most) {
    const int n = in_.tokens, keys = in_.keyTokens, d = in_.headDim, e = in_.valueDim, m = in_.modelDim;
    std::vector<Item> items;
    if (projected()) {
      items = {{TensorId::x, n, m, "X", "", true},
               {TensorId::w_q, m, d * queryHeads(), "W_Q", "Q = X·W_Q", false},
               {TensorId::w_k, m, d * keyHeads(), "W_K", "K = X·W_K", false},
               {TensorId::w_v, m, e * keyHeads(), "W_V", "V = X·W_V", false}};
    }
    items.push_back({TensorId::scores, n, keys, "S", "S", true});
    items.push_back({TensorId::v, keys, e, "V", projected() ? "V = X·W_V" : "", true});
    items.push_back({TensorId::head_output, n, e, "O", "O = W·V", true});
    if (projected()) {
      items.push_back({TensorId::w_o, e * queryHeads(), m, "W_O", "", false});
      items.push_back({TensorId::output, n, m, "Output", "all heads · W_O", true});
    }
    const std::vector<Item> more = extraItems();
    items.insert(items.end(), more.begin(), more.end());
    out_.contentHeight = lines(items, left, y, right, labels, most) + 16;
  }

  // From left to right, then on the next line; returns the y below.
  float lines(const std::vector<Item>& items, float left, float y, float right, float labels, float most) {
    float x = left, lineHeight = 0;
    for (const Item& item : items) {
      const float c = clampCell((right - left) / static_cast<float>(std::max(item.cols, 1)), most);
      const float w = std::max(static_cast<float>(item.cols) * c, 150.0f);
      if (x > left && x + w > right) x = left, y += lineHeight, lineHeight = 0;
      place(item.id, x, y + kTitle, item.rows, item.cols, c, item.title, item.caption).labelsLeft = item.labelled;
      lineHeight = std::max(lineHeight, kTitle + static_cast<float>(item.rows) * c + kCaption + 8);
      x += w + labels + 16;
    }
    return y + lineHeight;
  }

  std::vector<Item> extraItems() const {
    std::vector<Item> items;
    for (const Extra& extra : in_.extras) items.push_back(itemOf(extra));
    return items;
  }

  static Item itemOf(const Extra& extra) {
    const int r = extra.rows, c = extra.cols;
    switch (extra.tensor) {
      case TensorId::x_kv: return {extra.tensor, r, c, "X of the keys", "K and V are made of it", true};
      case TensorId::w_a: return {extra.tensor, r, c, "W_a", "what turns the query", false};
      case TensorId::u_a: return {extra.tensor, r, c, "U_a", "what turns the key", false};
      case TensorId::v_a: return {extra.tensor, r, c, "v_a", "how much each column counts", false};
      case TensorId::positions: return {extra.tensor, r, c, "Positions", "the same for every sentence", true};
      case TensorId::x_positioned: return {extra.tensor, r, c, "X + positions", "", true};
      case TensorId::x_kv_positioned: return {extra.tensor, r, c, "X of the keys + positions", "", true};
      case TensorId::q_rotated: return {extra.tensor, r, c, "Q, turned", "pairs of columns, by position", true};
      case TensorId::k_rotated: return {extra.tensor, r, c, "K, turned", "pairs of columns, by position", true};
      case TensorId::softcapped: return {extra.tensor, r, c, "Capped scores", "c·tanh(s / c)", true};
      case TensorId::bias: return {extra.tensor, r, c, "Bias", "added to the scores; −∞ masks", true};
      case TensorId::biased: return {extra.tensor, r, c, "Scores + bias", "what the mask gets", true};
      default: return {extra.tensor, r, c, attention::name(extra.tensor), "", true};
    }
  }

  const LayoutInput& in_;
  Layout out_;
};

}  // namespace

Slice sliceOf(const document::Settings& s, TensorId id) {
  const int head = s.focusHead, kvHead = head / (s.heads / s.kvHeads);
  if (s.wholeProjections && isProjection(id)) return {};
  switch (id) {
    case TensorId::w_q: return {0, 0, head * s.headDim};
    case TensorId::w_k: return {0, 0, kvHead * s.headDim};
    case TensorId::w_v: return {0, 0, kvHead * s.valueDim};
    case TensorId::w_o: return {0, head * s.valueDim, 0};
    case TensorId::k:
    case TensorId::v:
    case TensorId::k_rotated: return {kvHead, 0, 0};
    case TensorId::bias: return {s.biasKind == document::Bias::perHead ? head : 0, 0, 0};
    default: return {isOfAllHeads(id) ? 0 : head, 0, 0};
  }
}

int headShowing(const document::Settings& s, TensorId id, int head, int row, int col) {
  const int group = s.heads / s.kvHeads, here = s.focusHead;
  if (s.wholeProjections && isProjection(id)) return here;
  const auto queryHeadOf = [&](int kvHead) { return here / group == kvHead ? here : kvHead * group; };
  switch (id) {
    case TensorId::w_q: return col / s.headDim;
    case TensorId::w_k: return queryHeadOf(col / s.headDim);
    case TensorId::w_v: return queryHeadOf(col / s.valueDim);
    case TensorId::w_o: return row / s.valueDim;
    case TensorId::k:
    case TensorId::v:
    case TensorId::k_rotated: return queryHeadOf(head);
    case TensorId::concat: return col / s.valueDim;
    case TensorId::bias: return s.biasKind == document::Bias::perHead ? head : here;
    default: return isOfAllHeads(id) ? here : head;
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

Layout layout(const LayoutInput& input) { return Builder(input).build(); }

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
    // In a place without a height of its own they are as high as they have to be.
    if (heads.height <= 0 ? size <= 44 || count <= (size == 84 ? 4 : 8) : 28 + static_cast<float>(rows) * grid.pitchY <= heads.height + 0.5f) break;
  }
  return grid;
}

}  // namespace views
