#include "views/board/motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/sort.h"

namespace views {
namespace {

using attention::RowStep;
using attention::TensorId;
using PieceKind = Piece::Kind;

constexpr float kSlide = 420, kMultiply = 360, kAdd = 420, kDivide = 300, kSoftmax = 660, kPour = 720;
constexpr float kOther = 300;  // a step in which nothing moves
constexpr float kProductsApart = 60, kSumsApart = 80, kPouredApart = 90;
constexpr float kStream = 9;  // the width of a stream for a weight of 1

float easeInOut(float t) {
  return t < 0.5f ? 4 * t * t * t : 1 - 4 * (1 - t) * (1 - t) * (1 - t);
}  // ease in-out cubic
float easeOut(float t) { return 1 - (1 - t) * (1 - t) * (1 - t); }  // ease out cubic
float between(float a, float b, float t) { return t >= 1 ? b : a + (b - a) * t; }
float within(float from, float to, float t) { return std::clamp((t - from) / (to - from), 0.0f, 1.0f); }

/// The parts of softmax share its time in these proportions.
float shareOf(RowStep step) {
  switch (step) {
    case RowStep::masked:
    case RowStep::temperatureScaled:
    case RowStep::maximum:
    case RowStep::sum: return 1;
    case RowStep::threshold: return 2;
    case RowStep::exponentials:
    case RowStep::weights: return 4;
    default: return 0;
  }
}

/// The time of the `at`-th of `count` things that start at most `apart` milliseconds after each other, within
/// a motion of `all`.
float turnOf(int at, int count, float apart, float all, float time) {
  const float gap = count > 1 ? std::min(apart, all * 0.6f / static_cast<float>(count - 1)) : 0;
  const float own = all - gap * static_cast<float>(count - 1);
  return std::clamp((time * all - gap * static_cast<float>(at)) / own, 0.0f, 1.0f);
}

class Pieces {
 public:
  explicit Pieces(const Stage& stage) : s_(stage) { besideKey(); }

  std::vector<Piece> at(Motion motion, float t) {
    const bool hasPair = !s_.query.empty() && !s_.key.empty();
    switch (motion) {
      case Motion::slide:
        if (hasPair) slide(t);
        break;
      case Motion::multiply:
        if (hasPair) multiply(t);
        break;
      case Motion::add:
        hasPair && !s_.score.empty() ? add(t) : appear(s_.score, s_.raw, TensorId::scores, t);
        break;
      case Motion::divide: divide(t); break;
      case Motion::grow: grow(easeInOut(t)); break;
      case Motion::stand: grow(1); break;
      case Motion::share:
        if (!s_.exponentials.empty()) share(t);
        break;
      case Motion::move: move(t); break;
      case Motion::pour: pour(t); break;
      case Motion::none: break;
    }
    return std::move(out_);
  }

 private:
  static Piece cell(TensorId of, const Box& box, float value, float opacity = 1) {
    return {PieceKind::cell, of,    box.midX(), box.midY(), box.width, box.height, 0, 0, 0, 0,
            opacity,         value, 0};
  }
  /// A number that another one takes the place of: the digits of the first go before those of the second
  /// come.
  void turns(TensorId from, TensorId to, const Box& box, float before, float after, float t) {
    out_.push_back(cell(from, box, before, from == to ? 1 : 1 - t));
    out_.back().ink = 1 - within(0, 0.5f, t);
    out_.push_back(cell(to, box, after, t));
    out_.back().ink = within(0.5f, 1, t);
  }
  Box moved(const Box& b, float by) const {
    return {b.x + acrossX_ * by, b.y + acrossY_ * by, b.width, b.height};
  }

  /// The side of the key from which the query comes.
  void besideKey() {
    if (s_.key.empty() || s_.query.empty()) return;
    const Box &first = s_.key.front(), &last = s_.key.back(), &from = s_.query.front();
    isKeyDown_ = s_.key.size() < 2 || std::fabs(last.y - first.y) > std::fabs(last.x - first.x);
    if (isKeyDown_) acrossX_ = from.x < first.x ? -first.width : first.width;
    else acrossY_ = from.y < first.y ? -first.height : first.height;
  }

  void ghosts(float opacity) {
    for (const Box& b : s_.query)
      out_.push_back(
          {PieceKind::ghost, TensorId::q, b.midX(), b.midY(), b.width, b.height, 0, 0, 0, 0, opacity, 0, 0});
  }

  // The row turns about its first cell, which goes straight to its place.
  void slide(float time) {
    const float t = easeInOut(time);
    ghosts(1);
    const Box &from = s_.query.front(), to = moved(s_.key.front(), 1);
    for (const Box& k : s_.key) {
      const Box b = moved(k, 1);
      out_.push_back({PieceKind::ghost, TensorId::q, b.midX(), b.midY(), b.width, b.height, 0, 0, 0, 0,
                      0.6f * (1 - within(0.7f, 1, t)), 0, 0});
    }
    const bool isQueryDown = s_.query.size() < 2
                                 ? isKeyDown_
                                 : std::fabs(s_.query[1].y - from.y) > std::fabs(s_.query[1].x - from.x);
    constexpr float kQuarter = std::numbers::pi_v<float> / 2;
    const float whole = isQueryDown == isKeyDown_ ? 0 : isKeyDown_ ? kQuarter : -kQuarter, turn = whole * t;
    const float pitch = between(from.width, to.width, t), x = between(from.midX(), to.midX(), t),
                y = between(from.midY(), to.midY(), t);
    const float along = turn + (isQueryDown ? kQuarter : 0);
    for (std::size_t i = 0; i < s_.query.size(); ++i) {
      Piece p = cell(TensorId::q, {}, s_.queries[i]);
      const float far = pitch * static_cast<float>(i);
      p.x = x + std::cos(along) * far, p.y = y + std::sin(along) * far, p.width = p.height = pitch;
      p.turn = turn, p.tilt = t < 0.5f ? turn : whole - turn;  // digits end upright
      out_.push_back(p);
    }
  }

  void pair(float opacity) {
    ghosts(opacity);
    for (std::size_t i = 0; i < s_.key.size(); ++i)
      out_.push_back(cell(TensorId::q, moved(s_.key[i], 1), s_.queries[i], opacity));
  }

  float product(std::size_t i) const { return s_.queries[i] * s_.keys[i]; }

  // Each product comes out of its pair, on the other side of the key.
  void multiply(float time) {
    pair(1);
    const int count = static_cast<int>(s_.key.size());
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float t = easeOut(turnOf(i, count, kProductsApart, kMultiply, time));
      const Box& k = s_.key[at];
      if (t > 0)
        out_.push_back(cell(TensorId::scores, moved(k, -t), product(at), t)),
            out_.push_back(cell(TensorId::k, k, s_.keys[at]));
      out_.push_back({PieceKind::times, TensorId::q, k.midX() + acrossX_ / 2, k.midY() + acrossY_ / 2,
                      k.width, k.height, 0, 0, 0, 0, t, 0, 0});
    }
  }

  // The products go to the score's cell, which shows the sum of those that have arrived. The other scores of
  // the row, made alike, appear last.
  void add(float time) {
    const float leaves = within(0.75f, 1, time);
    pair(1 - leaves);
    const int count = static_cast<int>(s_.key.size());
    const auto example = static_cast<std::size_t>(s_.example);
    for (std::size_t j = 0; leaves > 0 && j < s_.score.size(); ++j)
      if (j != example) out_.push_back(cell(TensorId::scores, s_.score[j], s_.raw[j], leaves));
    const Box& to = s_.score[example];
    double sum = 0;
    int arrived = 0;
    std::vector<Piece> ways;
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const float t = easeInOut(turnOf(i, count, kSumsApart, kAdd, time));
      if (t > 0.9999f) {
        sum += double{product(at)}, ++arrived;
        continue;
      }
      const Box from = moved(s_.key[at], -1);
      ways.push_back(cell(TensorId::scores,
                          {between(from.x, to.x, t), between(from.y, to.y, t),
                           between(from.width, to.width, t), between(from.height, to.height, t)},
                          product(at)));
    }
    if (arrived > 0)
      out_.push_back(
          cell(TensorId::scores, to, arrived == count ? s_.raw[example] : static_cast<float>(sum)));
    out_.insert(out_.end(), ways.begin(), ways.end());
  }

  // First the fraction, then the numbers. None is shown on its way to another: those between would be no
  // numbers of this layer.
  void divide(float time) {
    const float t = easeOut(within(0.4f, 1, time));
    for (std::size_t j = 0; j < s_.score.size(); ++j)
      turns(TensorId::scores, TensorId::scores, s_.score[j], s_.raw[j], s_.scaled[j], t);
    if (s_.score.empty()) return;
    const auto example = static_cast<std::size_t>(s_.example);
    const Box& b = s_.score[example];
    out_.push_back({PieceKind::fraction, TensorId::scores, b.midX(), b.midY(), b.width, b.height, 0, 0, 0, 0,
                    std::min(within(0, 0.3f, time), 1 - within(0.85f, 1, time)), s_.scaled[example],
                    s_.raw[example]});
  }

  bool isRowDown() const { return s_.weight.size() > 1 && s_.weight[1].y > s_.weight[0].y; }
  /// The bar of an exponential. It stands on its cell, or lies beside it where the row goes down.
  Box barOf(std::size_t j, float t) const {
    const Box& b = s_.weight[j];
    const float most = std::min(74.0f, 1.7f * b.height),
                size = std::max(1.0f, most * t * std::clamp(s_.exponentials[j], 0.0f, 1.0f));
    if (isRowDown()) return {b.x + 2, b.y + b.height * 0.15f, size, b.height * 0.7f};
    return {b.x + b.width * 0.15f, b.bottom() - 2 - size, b.width * 0.7f, size};
  }
  void bar(const Box& b, float value, float opacity) {
    out_.push_back({PieceKind::bar, TensorId::weights, b.midX(), b.midY(), b.width, b.height, 0, 0, 0, 0,
                    opacity, value, 0});
  }

  void ground() {
    for (const Box& b : s_.weight)
      out_.push_back(
          {PieceKind::ghost, TensorId::weights, b.midX(), b.midY(), b.width, b.height, 0, 0, 0, 0, 1, 0, 0});
  }

  void grow(float t) {
    if (s_.exponentials.empty()) return;
    ground();
    for (std::size_t j = 0; j < s_.weight.size(); ++j) bar(barOf(j, t), s_.exponentials[j], t);
  }

  // The bars become parts of one row as long as all cells, whose lengths are their shares of the sum; then
  // each share goes to its cell.
  void share(float time) {
    ground();
    if (s_.weight.empty()) return;
    const float lies = easeInOut(within(0, 0.5f, time)), goes = easeInOut(within(0.6f, 1, time));
    const bool isDown = isRowDown();
    const Box &first = s_.weight.front(), &last = s_.weight.back();
    const float length = isDown ? last.bottom() - first.y : last.right() - first.x;
    float at = isDown ? first.y : first.x;
    for (std::size_t j = 0; j < s_.weight.size(); ++j) {
      const float size = length * std::max(s_.weights[j], 0.0f);
      const Box stands = barOf(j, 1), part = isDown ? Box{first.x + 2, at, first.width - 4, size}
                                                    : Box{at, first.y + 2, size, first.height - 4};
      at += size;
      const Box& home = s_.weight[j];
      const auto way = [&](float Box::* side, float inset) {
        return between(between(stands.*side, part.*side, lies), home.*side + inset, goes);
      };
      const Box b{way(&Box::x, 2), way(&Box::y, 2), way(&Box::width, -4), way(&Box::height, -4)};
      if (size > 0) bar(b, lies < 1 ? s_.exponentials[j] : s_.weights[j], 1 - goes);
      if (goes > 0) out_.push_back(cell(TensorId::weights, home, s_.weights[j], goes));
    }
  }

  /// Numbers whose origin is not in view.
  void appear(const std::vector<Box>& places, const std::vector<float>& numbers, TensorId of, float time) {
    for (std::size_t i = 0; time > 0 && i < places.size(); ++i)
      out_.push_back(cell(of, places[i], numbers[i], easeInOut(time)));
  }

  // Any other normaliser: each score goes to its weight's cell, where the weight takes its place.
  void move(float time) {
    if (s_.score.size() != s_.weight.size()) return appear(s_.weight, s_.weights, TensorId::weights, time);
    const float t = easeInOut(time);
    for (std::size_t j = 0; j < s_.weight.size(); ++j) {
      const Box &from = s_.score[j], &to = s_.weight[j];
      const Box b{between(from.x, to.x, t), between(from.y, to.y, t), between(from.width, to.width, t),
                  between(from.height, to.height, t)};
      turns(TensorId::scores, TensorId::weights, b, s_.scaled[j], s_.weights[j], t);
    }
  }

  /// The keys that have a weight, the largest first.
  std::vector<int> order() const {
    std::vector<int> keys;
    for (int j = 0; j < static_cast<int>(s_.weights.size()); ++j)
      if (s_.weights[static_cast<std::size_t>(j)] != 0) keys.push_back(j);
    base::sort(keys, [this](int a, int b) {
      const float left = std::fabs(s_.weights[static_cast<std::size_t>(a)]),
                  right = std::fabs(s_.weights[static_cast<std::size_t>(b)]);
      return left != right ? left > right : a < b;
    });
    return keys;
  }

  struct Point {
    float x, y;
  };
  void stream(Point from, Point to, float head, float tail, float width) {
    if (head <= tail) return;
    out_.push_back({PieceKind::stream, TensorId::weights, between(from.x, to.x, tail),
                    between(from.y, to.y, tail), width, 0, between(from.x, to.x, head),
                    between(from.y, to.y, head), 0, 0, 1, 0, 0});
  }

  // The stream of each weight opens its row of V, whose numbers pour into the output. Streams stand side by
  // side, together as wide as 1.
  void pour(float time) {
    const std::vector<int> keys = order();
    const std::size_t columns = s_.output.size();
    if (s_.value.size() < columns) return appear(s_.output, s_.outputs, TensorId::head_output, time);
    if (columns == 0) return;
    std::vector<double> sums(columns, 0.0);
    std::vector<Piece> rings;
    int poured = 0;
    float beside = -kStream / 2;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto j = static_cast<std::size_t>(keys[i]);
      const float t = easeOut(
                      turnOf(static_cast<int>(i), static_cast<int>(keys.size()), kPouredApart, kPour, time)),
                  w = s_.weights[j];
      const float width = std::clamp(kStream * std::fabs(w), 0.75f, 3 * kStream),
                  head = within(0.25f, 0.7f, t), tail = within(0.7f, 1, t);
      for (std::size_t c = 0; c < columns; ++c) {
        const Box &from = s_.value[j * columns + c], &to = s_.output[c];
        const bool isDown = std::fabs(to.midY() - from.midY()) >= std::fabs(to.midX() - from.midX());
        const float aside = beside + width / 2;
        if (t > 0)
          stream({from.midX() + (isDown ? aside : 0), from.midY() + (isDown ? 0 : aside)},
                 {to.midX() + (isDown ? aside : 0), to.midY() + (isDown ? 0 : aside)}, head, tail, width);
        if (head >= 1) sums[c] += double{w} * double{s_.values[j * columns + c]};
      }
      beside += width;
      poured += head >= 1;
      if (t <= 0 || t >= 1) continue;
      const Box &first = s_.value[j * columns], &last = s_.value[j * columns + columns - 1];
      rings.push_back({PieceKind::ring, TensorId::v, (first.x + last.right()) / 2,
                       (first.y + last.bottom()) / 2, last.right() - first.x, last.bottom() - first.y, 0, 0,
                       0, 0, 1, 0, 0});
      if (!s_.weight.empty()) {
        const Box& from = s_.weight[j];
        const bool isDown = std::fabs(first.midY() - from.midY()) > std::fabs(first.midX() - from.midX());
        stream({from.midX(), from.midY()}, {isDown ? first.midX() : first.x, isDown ? first.y : first.midY()},
               within(0, 0.25f, t), tail, width);
      }
    }
    out_.insert(out_.end(), rings.begin(), rings.end());
    const bool isAll = poured == static_cast<int>(keys.size());
    for (std::size_t c = 0; poured > 0 && c < columns; ++c)
      out_.push_back(
          cell(TensorId::head_output, s_.output[c], isAll ? s_.outputs[c] : static_cast<float>(sums[c])));
  }

  const Stage& s_;
  std::vector<Piece> out_;
  bool isKeyDown_ = true;
  float acrossX_ = 0, acrossY_ = 0;  ///< from a key's cell to the place of the query's beside it
};

constexpr float kStripName = 34, kStripPad = 8, kStripWords = 24;
constexpr float kStripCell = 36;  // numbers are readable

float stripPitch(float cell, int count, float width) {
  return std::min(std::max(cell, kStripCell),
                  (width - 8 - kStripName - 2 * kStripPad) / static_cast<float>(std::max(count, 1)));
}
}  // namespace

float stripHeight(float cell, int count, float width) {
  return kStripWords + 3 * stripPitch(cell, count, width) + 2 * kStripPad;
}

Strip stripBeside(const Box& row, float cell, int count, float words, const Box& board) {
  constexpr float kApart = 6;
  const float pitch = stripPitch(cell, count, board.width), height = stripHeight(cell, count, board.width),
              width =
                  std::min(std::max(pitch * static_cast<float>(count) + kStripName, words) + 2 * kStripPad,
                           board.width - 8),
              above = row.y - kApart - height, below = row.bottom() + kApart;
  const bool isAbove = above >= board.y + 4 || below + height > board.bottom();
  Strip strip;
  strip.box = {std::clamp(row.x - kStripName - kStripPad, board.x + 4,
                          std::max(board.x + 4, board.right() - width - 4)),
               isAbove ? std::max(above, board.y + 4) : below, width, height};
  const Box& b = strip.box;
  strip.words = {b.x + kStripPad, isAbove ? b.y + 4 : b.bottom() - 4 - kStripWords + 2,
                 b.width - 2 * kStripPad, kStripWords - 2};
  const float first = isAbove ? b.y + kStripWords + kStripPad : b.y + kStripPad;
  for (int i = 0; i < count; ++i) {
    const float x = b.x + kStripPad + kStripName + pitch * static_cast<float>(i);
    strip.key.push_back({x, first + pitch, pitch, pitch});
    strip.query.push_back({x, first + (isAbove ? 2 * pitch : 0), pitch, pitch});
  }
  return strip;
}

std::vector<Beat> beatsOf(RowStep step, const std::vector<RowStep>& steps, const attention::Spec& spec) {
  const bool isDot = spec.score == attention::Score::dot || spec.score == attention::Score::scaled;
  if ((isDot && step == RowStep::raw) || step == RowStep::dot)
    return {{Motion::slide, kSlide}, {Motion::multiply, kMultiply}, {Motion::add, kAdd}};
  if (step == RowStep::scaled) return {{Motion::divide, kDivide}};
  if (step == RowStep::values) return {{Motion::pour, kPour}};
  if (step >= RowStep::concat) return {{Motion::none, 0}};  // what is beyond the head only lights up
  if (shareOf(step) == 0) return {{Motion::none, kOther}};
  float all = 0;
  for (const RowStep one : steps) all += shareOf(one);
  const bool isSoftmax = attention::isSoftmax(spec);
  const Motion motion = step == RowStep::exponentials ? Motion::grow
                        : step == RowStep::sum        ? Motion::stand
                        : step != RowStep::weights    ? Motion::none
                        : isSoftmax                   ? Motion::share
                                                      : Motion::move;
  return {{motion, kSoftmax * shareOf(step) / all}};
}

Motion beatAt(const std::vector<Beat>& beats, float& part) {
  float all = 0;
  for (const Beat& b : beats) all += b.ms;
  float ms = part * all;
  for (const Beat& b : beats) {
    if (&b != &beats.back() && ms >= b.ms) {
      ms -= b.ms;
      continue;
    }
    part = b.ms > 0 ? std::clamp(ms / b.ms, 0.0f, 1.0f) : 1;
    return b.motion;
  }
  return Motion::none;
}

std::vector<Piece> piecesAt(const Stage& stage, Motion motion, float time) {
  return Pieces(stage).at(motion, time);
}

}  // namespace views
