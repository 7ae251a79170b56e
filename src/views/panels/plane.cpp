#include "views/panels/plane.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "attention/layer/explanation_format.h"
#include "attention/steps/position.h"
#include "views/board/board.h"
#include "views/panels/changes.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Plane;
using attention::PlanePoint;
using attention::Tensor;
using Tip = PlaneView::Tip;

constexpr float kSide = 178, kValuesSide = 202;  // height of the numbers beside the plane
constexpr float kRoomForSide = 430;              // in cards of at least this width
constexpr float kFoot = 46;                      // height of the numbers below it otherwise
constexpr int kArrows = 40;         // with more rows, only the selected ones are arrows, the others dots
constexpr float kNamedLength = 20;  // pixels; shorter arrows are not named
constexpr int kNamed = 14;  // with more queries, only the selected one is named, and the keys that it sees
constexpr float kSlop = 3;
constexpr double kMargin =
    1.02;  // how far beyond the visible range a tip may be left before the range is recomputed

float distance(const Tip& tip, float x, float y) { return std::hypot(tip.x - x, tip.y - y); }
float reachOf(bool touch) { return touch ? 22.0f : 11.0f; }

const Tip* nearest(const PlaneView& view, float x, float y, float reach) {
  const Tip* best = nullptr;
  for (const Tip& tip : view.tips) {
    if (distance(tip, x, y) <= reach && (!best || distance(tip, x, y) < distance(*best, x, y))) best = &tip;
  }
  return best;
}

/// The visible rows of the head on the board, as the score reads them: after rotation, where positions are
/// rotary.
struct Vectors {
  Vectors(const Context& c, bool values) {
    if (values) {
      first = {TensorId::v, &c.trace.v, sliceOf(c.state, TensorId::v).head, c.state.keyTokens};
      return;
    }
    first = {TensorId::q, &attention::queriesOf(c.trace), c.state.focusHead, c.rowsSoFar()};
    second = {TensorId::k, &attention::keysOf(c.trace), sliceOf(c.state, TensorId::k).head,
              c.state.keyTokens};
  }

  struct Part {
    TensorId id = TensorId::q;
    const Tensor* tensor = nullptr;
    int head = 0, rows = 0;
    const float* row(int i) const { return tensor->row(head, i); }
  };
  std::vector<const float*> all() const {
    std::vector<const float*> rows;
    for (const Part& part : {first, second})
      for (int i = 0; i < part.rows; ++i) rows.push_back(part.row(i));
    return rows;
  }
  int columns() const { return first.tensor->cols(); }

  Part first, second;
};

bool isValues(const Context& c) { return c.layout.card == document::Card::values; }

/// Determines the range to show; for queries and keys it includes 0, where their arrows start.
void measure(PlaneShown& shown, const std::vector<const float*>& rows, bool fromZero) {
  shown.left = shown.low = fromZero ? 0 : 1e300, shown.right = shown.high = fromZero ? 0 : -1e300;
  for (const float* row : rows) {
    const PlanePoint at = shown.plane.at(row);
    shown.left = std::min(shown.left, at.x), shown.right = std::max(shown.right, at.x);
    shown.low = std::min(shown.low, at.y), shown.high = std::max(shown.high, at.y);
  }
}

bool isInside(const PlaneShown& shown, const std::vector<const float*>& rows) {
  const double more = (kMargin - 1) * std::max(shown.right - shown.left, shown.high - shown.low);
  return std::all_of(rows.begin(), rows.end(), [&](const float* row) {
    const PlanePoint at = shown.plane.at(row);
    return at.x >= shown.left - more && at.x <= shown.right + more && at.y >= shown.low - more &&
           at.y <= shown.high + more;
  });
}

/// The plane. It is kept while a tip is dragged, and afterwards until something else changes: an arrow must
/// not move away from the pointer because its change rotated the axes.
const PlaneShown& shownPlane(const Context& c, const Vectors& vectors) {
  PlaneView& view = c.view.plane;
  const bool values = isValues(c);
  const PlaneView::Key key{c.revision, c.state.focusHead, values, view.held.has_value()};
  if (view.key == key) return view.shown;
  const std::vector<const float*> rows = vectors.all();
  const bool stays = view.key && view.key->head == key.head && view.key->values == values &&
                     view.shown.plane.columns() == vectors.columns() &&
                     (key.held || view.settling > 0 || view.key->revision == key.revision);
  if (!stays) view.shown.plane = attention::principalPlane(rows, vectors.columns(), values);
  view.shown.shares = attention::sharesOf(view.shown.plane, rows);
  if (!stays || (!key.held && !isInside(view.shown, rows))) measure(view.shown, rows, !values);
  view.key = key;
  return view.shown;
}

/// Only for dot products can scores be read off the plane.
bool isProduct(const Context& c) { return document::isDotProduct(c.state.score); }
double scaleOf(const Context& c) {
  if (c.state.score == attention::Score::dot) return 1;
  return c.state.scaleBy != 0.0f ? double{c.state.scaleBy}
                                 : 1 / std::sqrt(static_cast<double>(c.state.headDim));
}

double dot(const float* a, const float* b, int columns) {
  double sum = 0;
  for (int i = 0; i < columns; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

std::string nth(const char* letter, int row) {
  return letter + attention::explanation_format::subscript(row + 1);
}
/// What a share adds to those `before` it, so that what is shown adds up: 46 % and 27 % are 73 %.
std::string hundredths(double share, double before = 0) {
  return formatNumber(std::round((before + share) * 100) - std::round(before * 100), 0);
}
std::string percent(double share, double before = 0) { return hundredths(share, before) + " %"; }

/// 1, 2, 2.5 or 5 times a power of ten, at least `least`.
double niceStep(double least) {
  if (!(least > 0)) return 1;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double by : {1.0, 2.0, 2.5, 5.0}) {
    if (by * power >= least) return by * power;
  }
  return 10 * power;
}

class PlaneCard {
 public:
  PlaneCard(Context& c, const Box& card)
      : c_(c),
        list_(ImGui::GetWindowDrawList()),
        p_(c.palette),
        values_(isValues(c)),
        vectors_(c, values_),
        shown_(shownPlane(c, vectors_)),
        pair_(chosenPair(c)),
        columns_(vectors_.columns()),
        top_(card.y + 40) {
    const bool beside = card.width >= kRoomForSide;
    const float side = values_ ? kValuesSide : kSide;  // the table of values has an additional column
    area_ = {card.x + 1, top_, card.width - 2 - (beside ? side : 0),
             card.bottom() - 1 - top_ - (beside ? 0 : kFoot)};
    side_ = beside ? Box{area_.right(), top_, side, area_.height}
                   : Box{card.x + 1, area_.bottom(), area_.width, kFoot};
    isBeside_ = beside;
    place();
  }

  void draw() {
    c_.widgetRects[values_ ? "values" : "plane"] = area_;
    list_->PushClipRect({area_.x, area_.y}, {area_.right(), area_.bottom()}, true);
    axes();
    if (!values_ && isProduct(c_)) equalScores();
    nameAxes();
    if (values_) points();
    else arrows();
    list_->PopClipRect();
    if (isBeside_) {
      list_->AddLine({side_.x + 0.5f, side_.y}, {side_.x + 0.5f, side_.bottom()}, p_.border);
      numbersBeside();
    } else {
      list_->AddLine({side_.x, side_.y + 0.5f}, {side_.right(), side_.y + 0.5f}, p_.border);
      numbersBelow();
    }
  }

 private:
  // --- coordinates

  void place() {
    PlaneView& view = c_.view.plane;
    const float across = area_.width < 300 ? 34.0f : 52.0f, up = area_.height < 200 ? 20.0f : 26.0f;
    const double wide = shown_.right - shown_.left, high = shown_.high - shown_.low;
    double unit = 1e9;
    if (wide > 0) unit = std::min(unit, static_cast<double>(area_.width - 2 * across) / wide);
    if (high > 0) unit = std::min(unit, static_cast<double>(area_.height - 2 * up) / high);
    if (unit > 1e8) unit = static_cast<double>(area_.height) / 4;  // all vectors are 0
    view.unit = unit_ = static_cast<float>(unit);
    view.originX = area_.midX() - static_cast<float>((shown_.left + shown_.right) / 2 * unit);
    view.originY = area_.midY() + static_cast<float>((shown_.low + shown_.high) / 2 * unit);
  }
  ImVec2 pixel(PlanePoint at) const {
    return {c_.view.plane.originX + static_cast<float>(at.x) * unit_,
            c_.view.plane.originY - static_cast<float>(at.y) * unit_};
  }
  PlanePoint zero() const {
    const std::vector<float> none(static_cast<std::size_t>(columns_));
    return shown_.plane.at(none.data());
  }

  // --- common to both views

  base::Message columnName(int which) const {
    return base::message({columns_ > 2 ? "axis " : c_.state.columnLayout ? "row " : "column ", which});
  }

  const char* bothColumns() const {
    return c_.state.columnLayout ? "both rows, as they are" : "both columns, as they are";
  }

  void axes() {
    const ImVec2 at = pixel(zero());
    list_->AddLine({area_.x, at.y}, {area_.right(), at.y}, p_.border);
    list_->AddLine({at.x, area_.y}, {at.x, area_.bottom()}, p_.border);
    const base::Message one = columnName(1), two = columnName(2);
    const float oneWidth = textWidth(c_.fonts.small, one), twoWidth = textWidth(c_.fonts.small, two);
    const float y = std::clamp(at.y + 10, area_.y + 12, area_.bottom() - 26),
                x = std::clamp(at.x + 6, area_.x + 6, area_.right() - twoWidth - oneWidth - 20);
    axisNames_[0] = {area_.right() - oneWidth - 6, y - 8, oneWidth, 16};
    axisNames_[1] = {x, area_.bottom() - 18, twoWidth, 16};
    taken_.push_back(axisNames_[0]);
    if (columns_ > 1) taken_.push_back(axisNames_[1]);
  }
  /// Their places are taken before the lines of equal score look for some, and no line crosses them.
  void nameAxes() {
    for (int which = 0; which < std::min(columns_, 2); ++which) {
      const Box& box = axisNames_[which];
      behind(box);
      textMiddle(list_, c_.fonts.small, box.x, box.midY(), p_.muted, columnName(which + 1));
    }
  }

  void name(const Box& box, base::MessageView words, ImFont* font, ImU32 color) {
    textMiddle(list_, font, box.x, box.midY(), color, words);
    taken_.push_back(box);
  }
  bool isFree(const Box& box, bool ofPoints) const {
    if (box.x < area_.x + 2 || box.right() > area_.right() - 2 || box.y < area_.y + 1 ||
        box.bottom() > area_.bottom() - 1)
      return false;
    const auto meets = [&](const Box& t) {
      return box.x < t.right() + 2 && box.right() > t.x - 2 && box.y < t.bottom() && box.bottom() > t.y;
    };
    return std::none_of(taken_.begin(), taken_.end(), meets) &&
           (!ofPoints || std::none_of(points_.begin(), points_.end(), meets));
  }
  struct PointName {
    std::string_view words;
    ImU32 color;
    bool strong, must;  ///< must: if nothing is free, over points or anything else
    float radius = 3;   ///< of the point
  };
  /// Places a label beside a point, preferably on the side away from `from`, where nothing has been placed
  /// yet.
  void label(ImVec2 at, ImVec2 from, const PointName& named) {
    const auto& [words, color, strong, must, radius] = named;
    ImFont* font = strong ? c_.fonts.strong : c_.fonts.small;
    const std::string fitting = elide(font, words, 120);
    const float width = textWidth(font, fitting), high = 16;
    const float dx = at.x - from.x, dy = at.y - from.y;
    const float by = radius + 4, right = at.x + by, left = at.x - by - width, middle = at.x - width / 2,
                over = at.y - by - 1 - high, under = at.y + by + 1;
    const bool flat = std::fabs(dx) > std::fabs(dy);
    const Box onRight{right, at.y - high / 2, width, high}, onLeft{left, at.y - high / 2, width, high},
        above{middle, over, width, high}, below{middle, under, width, high};
    const Box away = flat     ? (dx > 0 ? onRight : onLeft)
                     : dy > 0 ? below
                              : above,
              aslant{dx > 0 ? right : left, dy > 0 ? under - 4 : over + 4, width, high};
    const Box places[] = {away,
                          aslant,
                          flat ? above : onRight,
                          flat ? below : onLeft,
                          flat ? onRight : above,
                          flat ? onLeft : below};
    const ImVec2 behindTip{at.x - dx * 0.3f,
                           at.y - dy * 0.3f};  // a label over its own arrow would be hard to assign
    for (const bool ofPoints : {true, false}) {
      for (const Box& box : places) {
        if (!isFree(box, ofPoints) || (!must && box.contains(behindTip.x, behindTip.y))) continue;
        behind(box);
        return name(box, fitting, font, color);
      }
      if (!must) return;
    }
    const Box box{std::clamp(away.x, area_.x + 4, std::max(area_.x + 4, area_.right() - width - 4)),
                  std::clamp(away.y, area_.y + 2, area_.bottom() - high - 2), width, high};
    behind(box);
    name(box, fitting, font, color);
  }
  /// Fades what lies under a label: lines and arrows.
  void behind(const Box& box) {
    list_->AddRectFilled({box.x - 2, box.y + 1}, {box.right() + 2, box.bottom() - 1},
                         withAlpha(p_.panel, 0.9f), 3);
  }
  std::string tokenName(const char* letter, bool ofKeys, int row) const {
    return nth(letter, row) + " " +
           (ofKeys ? document::keyLabels(c_.state) : c_.state.labels)[static_cast<std::size_t>(row)];
  }
  void tip(TensorId id, int row, ImVec2 at) {
    c_.view.plane.tips.push_back({id, row, at.x, at.y});
    c_.widgetRects["tip:" + std::string(attention::name(id)) + ":" + std::to_string(row)] = {
        at.x - 8, at.y - 8, 16, 16};
    points_.push_back({at.x - 3, at.y - 3, 6, 6});
  }
  bool isMasked(int key) const {
    return std::isinf(c_.trace.masked.at(c_.state.focusHead, pair_.query, key));
  }

  // --- queries and keys

  void arrow(ImVec2 from, ImVec2 to, ImU32 color, float thick, float head) {
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 1.5f) return list_->AddCircleFilled(to, thick + 1.5f, color, 12);
    const float ux = (to.x - from.x) / length, uy = (to.y - from.y) / length,
                tipLength = std::min(head, length);
    const ImVec2 neck{to.x - ux * tipLength, to.y - uy * tipLength};
    list_->AddLine(from, neck, color, thick);
    const float half = tipLength * 0.42f;
    list_->AddTriangleFilled(to, {neck.x - uy * half, neck.y + ux * half},
                             {neck.x + uy * half, neck.y - ux * half}, color);
  }

  void arrows() {
    const ImVec2 origin = pixel({});
    const bool dots = vectors_.first.rows > kArrows || vectors_.second.rows > kArrows;
    for (const bool chosen : {false, true}) {  // the selected pair on top
      for (int i = 0; i < vectors_.first.rows; ++i) {
        if ((i == pair_.query) != chosen) continue;
        const ImVec2 at = pixel(shown_.plane.at(vectors_.first.row(i)));
        if (chosen) arrow(origin, at, p_.query, 2.8f, 12);
        else if (dots) list_->AddCircleFilled(at, 2.2f, withAlpha(p_.query, 0.6f), 8);
        else arrow(origin, at, withAlpha(p_.query, 0.5f), 1.3f, 8);
        tip(TensorId::q, i, at);
      }
      for (int j = 0; j < vectors_.second.rows; ++j) {
        if ((j == pair_.key) != chosen) continue;
        const ImVec2 at = pixel(shown_.plane.at(vectors_.second.row(j)));
        const ImU32 color = isMasked(j) ? withAlpha(p_.key, 0.4f) : p_.key;
        if (chosen) arrow(origin, at, color, 2.8f, 12);
        else if (dots) list_->AddCircleFilled(at, 2.2f, color, 8);
        else arrow(origin, at, color, 1.6f, 8);
        tip(TensorId::k, j, at);
      }
    }
    if (hasPinnedCells(c_)) {
      fromPinned(attention::queriesOf(c_.pin->trace()).row(c_.state.focusHead, pair_.query),
                 vectors_.first.row(pair_.query), p_.query);
      fromPinned(attention::keysOf(c_.pin->trace()).row(vectors_.second.head, pair_.key),
                 vectors_.second.row(pair_.key), p_.key);
    }
    list_->AddCircleFilled(origin, 3, p_.text, 12);
    c_.widgetRects["plane:origin"] = {origin.x - 1, origin.y - 1, 2, 2};
    const auto queryName = [&](int i, bool chosen) {
      label(pixel(shown_.plane.at(vectors_.first.row(i))), origin,
            {chosen ? tokenName("q", false, i) : nth("q", i), p_.query, chosen, chosen});
    };
    const auto keyName = [&](int j, bool chosen) {
      label(pixel(shown_.plane.at(vectors_.second.row(j))), origin,
            {tokenName("k", true, j), p_.key, chosen, chosen});
    };
    // Arrows hardly longer than their tips are not named: the name would cover other arrows.
    const auto isLong = [&](const PlanePoint& to) {
      return std::hypot(pixel(to).x - origin.x, pixel(to).y - origin.y) >= kNamedLength;
    };
    queryName(pair_.query, true), keyName(pair_.key, true);
    for (const ImVec2& at : pinnedAt_) label(at, origin, {"pinned", p_.muted, false, false});
    const bool few = vectors_.first.rows + vectors_.second.rows <= 2 * kNamed;
    for (int j = 0; j < std::min(vectors_.second.rows, kArrows); ++j) {
      if (j != pair_.key && (few || !isMasked(j)) && isLong(shown_.plane.at(vectors_.second.row(j))))
        keyName(j, false);
    }
    for (int i = 0; few && i < vectors_.first.rows; ++i) {
      if (i != pair_.query && isLong(shown_.plane.at(vectors_.first.row(i)))) queryName(i, false);
    }
  }

  // An arrow from the pinned position of a vector to its present one.
  void fromPinned(const float* was, const float* is, ImU32 color) {
    if (!std::equal(was, was + columns_, is, [](float a, float b) { return !attention::differs(a, b); })) {
      const ImVec2 a = pixel(shown_.plane.at(was)), b = pixel(shown_.plane.at(is));
      const float length = std::hypot(b.x - a.x, b.y - a.y);
      for (float at = 6; at < length; at += 7) {
        const float from = at / length, to = std::min(1.0f, (at + 4) / length);
        list_->AddLine({a.x + (b.x - a.x) * from, a.y + (b.y - a.y) * from},
                       {a.x + (b.x - a.x) * to, a.y + (b.y - a.y) * to}, color, 1.4f);
      }
      list_->AddCircle(a, 4.5f, color, 20, 1.6f);
      pinnedAt_.push_back(a);
    }
  }

  // Lines of equal score for the selected query: perpendicular to its arrow, at equal steps.
  void equalScores() {
    const PlanePoint q = shown_.plane.at(vectors_.first.row(pair_.query));
    const double length = std::hypot(q.x, q.y), scale = scaleOf(c_);
    if (length * static_cast<double>(unit_) < 4) return;
    const double reach = std::hypot(static_cast<double>(area_.width), static_cast<double>(area_.height)) /
                         static_cast<double>(unit_);
    const double step = niceStep(scale * length * 46 / static_cast<double>(unit_));
    const int most = static_cast<int>(std::min(40.0, scale * length * reach / step));
    const float ux = static_cast<float>(q.x / length),
                uy = static_cast<float>(-q.y / length);  // direction of the query, in pixels
    const ImVec2 origin = pixel({});
    const int decimals =
        std::clamp(static_cast<int>(std::ceil(-std::log10(step) - 1e-9)) +
                       (std::fmod(step / std::pow(10.0, std::floor(std::log10(step))), 1.0) > 0.1 ? 1 : 0),
                   0, 4);
    for (int n = -most; n <= most; ++n) {
      const auto away = static_cast<float>(n * step / (scale * length)) * unit_;
      const ImVec2 foot{origin.x + ux * away, origin.y + uy * away};
      float from = -1e9f, to = 1e9f;  // the range of the line within the area
      const auto cut = [&](float at, float along, float low, float high) {
        if (std::fabs(along) < 1e-6f) return at >= low && at <= high;
        const float a = (low - at) / along, b = (high - at) / along;
        from = std::max(from, std::min(a, b)), to = std::min(to, std::max(a, b));
        return true;
      };
      if (!cut(foot.x, -uy, area_.x, area_.right()) || !cut(foot.y, ux, area_.y, area_.bottom()) ||
          from >= to)
        continue;
      const ImVec2 a{foot.x - uy * from, foot.y + ux * from}, b{foot.x - uy * to, foot.y + ux * to};
      list_->AddLine(a, b, withAlpha(p_.query, n == 0 ? 0.55f : 0.22f), n == 0 ? 1.3f : 1.0f);
      const ImVec2 end = a.y < b.y ? a : b;
      const std::string number = formatNumber(n * step, decimals);
      const std::string words = n == 0 ? "score 0" : n > 0 ? "+" + number : number;
      const float width = textWidth(c_.fonts.small, words);
      const Box box{std::clamp(end.x - width / 2, area_.x + 4, area_.right() - width - 4),
                    std::clamp(end.y + 4, area_.y + 4, area_.bottom() - 20), width, 16};
      if (!isFree(box, true)) continue;
      list_->AddRectFilled({box.x - 2, box.y}, {box.right() + 2, box.bottom()}, p_.panel, 3);
      name(box, words, c_.fonts.small, p_.query);
    }
  }

  // --- values and the output among them

  void points() {
    const PlanePoint middle = shown_.plane.at(c_.trace.headOutput.row(c_.state.focusHead, pair_.query));
    const ImVec2 output = pixel(middle);
    std::vector<PlanePoint> seen;
    for (int j = 0; j < vectors_.first.rows; ++j) {
      if (weight(j) != 0.0f) seen.push_back(shown_.plane.at(vectors_.first.row(j)));
    }
    std::vector<ImVec2> corners;
    for (const PlanePoint& corner : attention::hullOf(seen)) corners.push_back(pixel(corner));
    std::reverse(corners.begin(),
                 corners.end());  // clockwise on the screen, as required by Dear ImGui's antialiasing
    const auto count = static_cast<int>(corners.size());
    if (count > 2)
      list_->AddConvexPolyFilled(corners.data(), count, withAlpha(p_.value, p_.dark ? 0.16f : 0.1f));
    if (count > 1)
      list_->AddPolyline(corners.data(), count, withAlpha(p_.value, 0.55f),
                         count > 2 ? ImDrawFlags_Closed : 0, 1.2f);
    for (int j = 0; j < vectors_.first.rows; ++j) {
      const float w = std::fabs(weight(j));
      const ImVec2 at = pixel(shown_.plane.at(vectors_.first.row(j)));
      if (w >= attention::kLink)
        list_->AddLine(output, at, withAlpha(p_.weight, j == pair_.key ? 0.85f : 0.4f),
                       1 + 6 * std::min(w, 1.0f));
    }
    for (int j = 0; j < vectors_.first.rows; ++j) {
      const ImVec2 at = pixel(shown_.plane.at(vectors_.first.row(j)));
      const float radius = vectors_.first.rows > kArrows && j != pair_.key ? 2.5f : 4.5f;
      if (isMasked(j)) list_->AddCircle(at, radius, withAlpha(p_.value, 0.6f), 16, 1.3f);
      else list_->AddCircleFilled(at, radius, p_.value, 16);
      if (j == pair_.key) list_->AddCircle(at, radius + 3.5f, p_.value, 24, 1.5f);
      tip(TensorId::v, j, at);
    }
    list_->AddCircleFilled(output, 6.5f, p_.panel, 24);
    list_->AddCircle(output, 6.5f, p_.text, 24, 2);
    list_->AddCircleFilled(output, 2.5f, p_.text, 12);
    c_.widgetRects["values:output"] = {output.x - 7, output.y - 7, 14, 14};
    taken_.push_back({output.x - 8, output.y - 8, 16, 16});
    const ImVec2 away = pixel({(shown_.left + shown_.right) / 2, (shown_.low + shown_.high) / 2});
    label(output, {output.x, output.y + 1}, {nth("o", pair_.query), p_.text, true, true, 6.5f});
    for (const bool chosen : {true, false}) {
      for (int j = 0; j < std::min(vectors_.first.rows, kArrows); ++j) {
        if ((j == pair_.key) == chosen)
          label(pixel(shown_.plane.at(vectors_.first.row(j))), away,
                {tokenName("v", true, j), p_.value, chosen, chosen, chosen ? 8.5f : 4.5f});
      }
    }
  }
  float weight(int key) const { return c_.trace.weights.at(c_.state.focusHead, pair_.query, key); }

  // --- as numbers

  double length(const Vectors::Part& part, int row) const {
    return std::sqrt(dot(part.row(row), part.row(row), columns_));
  }

  std::string angleWords() const {
    const double q = length(vectors_.first, pair_.query), k = length(vectors_.second, pair_.key);
    if (q == 0 || k == 0) return "–";
    const double cosine =
        dot(vectors_.first.row(pair_.query), vectors_.second.row(pair_.key), columns_) / (q * k);
    return formatNumber(std::acos(std::clamp(cosine, -1.0, 1.0)) * 180 / std::numbers::pi, 0) + "°";
  }
  std::string product() const {
    return formatNumber(dot(vectors_.first.row(pair_.query), vectors_.second.row(pair_.key), columns_), 2);
  }
  std::string queryName() const { return nth("q", pair_.query); }
  std::string keyName() const { return nth("k", pair_.key); }

  float line(float y, base::MessageView words, std::string_view number, ImU32 color, bool strong = false) {
    textMiddle(list_, strong ? c_.fonts.smallStrong : c_.fonts.small, side_.x + 15, y, color,
               elide(c_.fonts.small, words, side_.width - 30 - textWidth(c_.fonts.monoSmall, number) - 6));
    textRight(list_, c_.fonts.monoSmall, side_.right() - 15, y, p_.text, number);
    return y + 18;
  }
  float rule(float y) {
    list_->AddLine({side_.x + 15, y - 3}, {side_.right() - 15, y - 3}, p_.border);
    return y + 11;
  }

  void numbersBeside() {
    const char* const all = values_ ? "All values" : "All q and k";
    float y = side_.y + 18;
    textMiddle(
        list_, c_.fonts.smallStrong, side_.x + 15, y, p_.text,
        c_.state.heads > 1 ? base::message({all, " of head ", c_.state.focusHead + 1}) : base::Message(all));
    y += 18;
    if (columns_ <= 2) {
      textMiddle(list_, c_.fonts.small, side_.x + 15, y, p_.muted,
                 columns_ == 2           ? bothColumns()
                 : c_.state.columnLayout ? "the one row there is"
                                         : "the one column there is");
      y += 18;
    } else {
      const auto [first, second] = shown_.shares;
      y = line(y, columnName(1), percent(first), p_.muted);
      y = line(y, columnName(2), percent(second, first), p_.muted);
      y = line(y, "variance shown", percent(first + second), p_.muted);
    }
    y = rule(y);
    if (values_)
      y = line(y, base::message({"length of ", nth("o", pair_.query)}), formatNumber(outputLength(), 2),
               p_.text);
    if (values_) return valueTable(rule(y));
    y = line(y, base::message({"length of ", queryName()}),
             formatNumber(length(vectors_.first, pair_.query), 2), p_.query);
    y = line(y, base::message({"length of ", keyName()}), formatNumber(length(vectors_.second, pair_.key), 2),
             p_.key);
    y = line(y, "angle", angleWords(), p_.text);
    y = line(y, queryName() + " · " + keyName(), product(), p_.text, true);
    scoreTable(rule(y));
  }

  double outputLength() const {
    const float* o = c_.trace.headOutput.row(c_.state.focusHead, pair_.query);
    return std::sqrt(dot(o, o, columns_));
  }

  /// The first of the table rows that fit below `y`, chosen such that the selected key is among them; `count`
  /// is set to their number.
  int firstRow(float y, int& count) const {
    count = std::min(c_.state.keyTokens, std::max(0, static_cast<int>((side_.bottom() - 6 - y) / 17)));
    return std::clamp(pair_.key - count / 2, 0, std::max(0, c_.state.keyTokens - count));
  }

  // Each score as read off the plane, and its actual value.
  void scoreTable(float y) {
    const bool product = isProduct(c_);
    const float right = side_.right() - 15, middle = right - 48;
    textMiddle(list_, c_.fonts.smallStrong, side_.x + 15, y, p_.text, "score");
    if (product) textRight(list_, c_.fonts.small, middle, y, p_.muted, "plane");
    textRight(list_, c_.fonts.small, right, y, p_.muted, "full");
    const PlanePoint q = shown_.plane.at(vectors_.first.row(pair_.query));
    int count = 0;
    const int first = firstRow(y + 10, count);
    for (int j = first; j < first + count; ++j) {
      y += 17;
      const bool chosen = j == pair_.key;
      ImFont* font = chosen ? c_.fonts.smallStrong : c_.fonts.small;
      const PlanePoint k = shown_.plane.at(vectors_.second.row(j));
      textMiddle(list_, font, side_.x + 15, y, p_.key,
                 elide(font, tokenName("k", true, j), middle - side_.x - 15 - 40));
      if (product)
        textRight(list_, c_.fonts.monoSmall, middle, y, p_.muted,
                  formatNumber(scaleOf(c_) * (q.x * k.x + q.y * k.y), 2));
      textRight(list_, c_.fonts.monoSmall, right, y, p_.text,
                formatNumber(double{c_.trace.scores.at(c_.state.focusHead, pair_.query, j)}, 2));
    }
  }

  // The weight, the norm of the value, and the norm of the weighted value (which Kobayashi et al. 2020 use as
  // the weight).
  void valueTable(float y) {
    const float right = side_.right() - 15, pitch = 42;
    textRight(list_, c_.fonts.small, right - 2 * pitch, y, p_.muted, "w");
    textRight(list_, c_.fonts.small, right - pitch, y, p_.muted, "length");
    textRight(list_, c_.fonts.small, right, y, p_.muted, "w·len");
    int count = 0;
    const int first = firstRow(y + 10, count);
    for (int j = first; j < first + count; ++j) {
      y += 17;
      ImFont* font = j == pair_.key ? c_.fonts.smallStrong : c_.fonts.small;
      textMiddle(list_, font, side_.x + 15, y, p_.value,
                 elide(font, tokenName("v", true, j), right - 2 * pitch - 34 - side_.x - 15));
      const double w = double{weight(j)}, v = length(vectors_.first, j);
      textRight(list_, c_.fonts.monoSmall, right - 2 * pitch, y, isMasked(j) ? p_.muted : p_.text,
                isMasked(j) ? "–" : formatNumber(w, 2));
      textRight(list_, c_.fonts.monoSmall, right - pitch, y, p_.text, formatNumber(v, 2));
      textRight(list_, c_.fonts.monoSmall, right, y, p_.text, formatNumber(std::fabs(w) * v, 2));
    }
  }

  // Two lines, if there is no room beside the plane.
  void numbersBelow() {
    const base::Message share = columns_ <= 2
                                    ? base::Message(bothColumns())
                                    : base::message({hundredths(shown_.shares.first + shown_.shares.second),
                                                     " % of the variance is in this plane"});
    base::Message words;
    if (values_) {
      const double w = double{weight(pair_.key)}, v = length(vectors_.first, pair_.key);
      words = base::message({"w ", formatNumber(w, 2), "   length of ", nth("v", pair_.key), " ",
                             formatNumber(v, 2), "   product ", formatNumber(std::fabs(w) * v, 2)});
    } else {
      words = base::message({"lengths ", formatNumber(length(vectors_.first, pair_.query), 2), " and ",
                             formatNumber(length(vectors_.second, pair_.key), 2), ",  angle ", angleWords(),
                             ",  ", queryName() + " · " + keyName() + " = " + product()});
    }
    textMiddle(list_, c_.fonts.small, side_.x + 14, side_.y + 15, p_.text,
               elide(c_.fonts.small, words, side_.width - 28));
    textMiddle(list_, c_.fonts.small, side_.x + 14, side_.y + 33, p_.muted,
               elide(c_.fonts.small, share, side_.width - 28));
  }

  Context& c_;
  ImDrawList* list_;
  const Palette& p_;
  bool values_;
  Vectors vectors_;
  const PlaneShown& shown_;
  ChosenPair pair_;
  int columns_;
  float top_, unit_ = 1;
  Box area_, side_, axisNames_[2];
  bool isBeside_ = true;
  std::vector<Box> taken_, points_;  // occupied by labels, and by tips and points
  std::vector<ImVec2> pinnedAt_;     ///< rings that still need a label
};

/// The row after a step within the plane, in terms of the edited numbers: where queries and keys are rotated
/// by their positions before they are scored, it is rotated back.
std::vector<float> movedRow(const Context& c, const PlaneView& view, PlanePoint by) {
  const Tip& tip = *view.held;
  const Plane& plane = view.shown.plane;
  if (tip.tensor == TensorId::v || c.trace.qRotated.empty()) return plane.moved(view.before.data(), by);
  const bool isQuery = tip.tensor == TensorId::q;
  const int columns = plane.columns();
  Tensor shift(1, 1, columns), back(1, 1, columns);
  const std::vector<float> none(static_cast<std::size_t>(columns));
  Plane exact = plane;
  exact.isWhole = false;
  const std::vector<float> step = exact.moved(none.data(), by);
  std::copy(step.begin(), step.end(), shift.data());
  const int first = isQuery ? attention::firstQueryPosition(c.spec, c.inputs) : 0;
  attention::rotateBackward(c.spec, first + tip.row, shift, back);
  std::vector<float> out(view.before);
  for (int i = 0; i < columns; ++i) out[static_cast<std::size_t>(i)] += back.at(0, 0, i);
  return out;
}

int headOf(const Context& c, TensorId id) { return sliceOf(c.state, id).head; }

void choose(Context& c, const Tip& tip) {
  ChosenPair pair = chosenPair(c);
  (tip.tensor == TensorId::q ? pair.query : pair.key) = tip.row;
  c.view.selection = {true, TensorId::weights, pair.query, pair.key, pair.query, pair.key};
  c.requests.moved = true;
}

}  // namespace

ChosenPair chosenPair(const Context& c) {
  const Selection& s = c.view.selection;
  CellRef at = c.focus();
  if (!c.view.hover && s.active &&
      (s.tensor == TensorId::q || s.tensor == TensorId::k || s.tensor == TensorId::v))
    at = {s.tensor, 0, s.row, s.col};
  const CellRef other = c.view.explained;
  const int queries = std::max(c.rowsSoFar(), 1);
  ChosenPair pair{queries - 1, -1};
  if (attention::rowsOf(other.tensor) == attention::Rows::queries) pair.query = other.row;
  if (attention::isOfPairs(other.tensor)) pair.key = other.col;
  if (attention::isOfPairs(at.tensor)) pair = {at.row, at.col};
  else if (attention::rowsOf(at.tensor) == attention::Rows::queries) pair.query = at.row;
  else if (attention::rowsOf(at.tensor) == attention::Rows::keys) pair.key = at.row;
  pair.query = std::clamp(pair.query, 0, queries - 1);
  const float* row = c.trace.weights.row(c.state.focusHead, pair.query);
  if (pair.key < 0) pair.key = static_cast<int>(std::max_element(row, row + c.state.keyTokens) - row);
  pair.key = std::clamp(pair.key, 0, c.state.keyTokens - 1);
  return pair;
}

void plane(Context& c, const Box& area) {
  if (!isValues(c) && !document::sameWidths(c.state)) {
    c.view.plane.tips.clear();
    paragraph({ImGui::GetWindowDrawList(), c.fonts.small, c.palette.muted}, area.x + 18, area.y + 48,
              area.width - 36, "Queries and keys have different numbers of columns: no plane holds both.");
    return;
  }
  PlaneCard(c, area).draw();
  if (!c.view.plane.held && c.view.plane.settling > 0) --c.view.plane.settling;
}

void planePointer(Context& c) {
  PlaneView& view = c.view.plane;
  const ImGuiIO& io = ImGui::GetIO();
  const Tip* near = nearest(view, io.MousePos.x, io.MousePos.y, reachOf(c.touch));
  if (!view.held && !near) return;
  const Tip tip = view.held ? *view.held : *near;
  const float reach = reachOf(c.touch);
  ImGui::SetCursorScreenPos(view.held ? ImVec2{io.MousePos.x - reach, io.MousePos.y - reach}
                                      : ImVec2{tip.x - reach, tip.y - reach});
  ImGui::InvisibleButton("##tip", {2 * reach, 2 * reach});
  const bool editable = c.editable(tip.tensor);
  if (ImGui::IsItemHovered() || ImGui::IsItemActive())
    ImGui::SetMouseCursor(editable ? ImGuiMouseCursor_ResizeAll : ImGuiMouseCursor_Hand);
  if (ImGui::IsItemActivated()) {
    const Tensor& tensor = *c.tensor(tip.tensor);
    const float* row = tensor.row(headOf(c, tip.tensor), tip.row);
    view.held = tip, view.moved = false, view.gesture = c.view.nextGesture++;
    view.grabX = tip.x - io.MousePos.x, view.grabY = tip.y - io.MousePos.y;
    view.before.assign(row, row + tensor.cols());
    if (c.touch) c.view.finger.grip();
    view.isChosen = false;
  }
  if (!view.held) return;
  // A finger that only swipes across scrolls.
  const bool has = c.view.finger.does == (c.touch ? Finger::Does::holds : Finger::Does::drags);
  const bool taps = ImGui::IsItemDeactivated() && c.view.finger.does == Finger::Does::waits;
  if ((has || taps) && !std::exchange(view.isChosen, true)) choose(c, tip);
  view.moved = view.moved || (has && std::hypot(io.MousePos.x + view.grabX - tip.x,
                                                io.MousePos.y + view.grabY - tip.y) >= kSlop);
  if (view.moved && editable && ImGui::IsMousePosValid()) {
    const auto at = c.lastWidgetRects.find(isValues(c) ? "values" : "plane");
    const Box area = at != c.lastWidgetRects.end() ? at->second : c.layout.board;
    const float x = std::clamp(io.MousePos.x + view.grabX, area.x + 4, area.right() - 4),
                y = std::clamp(io.MousePos.y + view.grabY, area.y + 4, area.bottom() - 4);
    const auto unit = static_cast<double>(view.unit);
    std::vector<float> row =
        movedRow(c, view, {static_cast<double>(x - tip.x) / unit, static_cast<double>(tip.y - y) / unit});
    const int columns = static_cast<int>(row.size());
    c.requests.edit(
        document::SetCells{tip.tensor, headOf(c, tip.tensor), tip.row, 0, 1, columns, std::move(row)},
        view.gesture);
  }
  if (!ImGui::IsItemDeactivated()) return;
  if (view.moved && !editable) c.requests.said = whyFixed(c, {tip.tensor, headOf(c, tip.tensor), tip.row, 0});
  if (view.moved && editable) c.requests.endGesture = true;
  c.view.rest = io.MousePos;
  view.held.reset();
  view.settling = 2;
}

}  // namespace views
