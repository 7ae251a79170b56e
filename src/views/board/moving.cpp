// Draws the numbers of a step on their way over the board (views/board/motion.h).
#include <algorithm>
#include <cmath>

#include "attention/layer/explanation_format.h"
#include "views/board/board.h"
#include "views/board/stepper.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::RowStep;

constexpr float kFade = 120;     // milliseconds in which a motion appears where motion is reduced
constexpr float kDashes = 12;    // cells from this size on have dashes and signs
constexpr float kReadable = 26;  // and from this size on numbers

std::string wordsOfMask(const Context& c, const StepperView& w) {
  const float* scores = c.trace.masked.row(w.at.head, w.at.row);
  if (std::any_of(scores, scores + c.state.keyTokens, [](float s) { return std::isinf(s); }))
    return "what may not be seen is left out";
  const bool hasMask = !c.state.painted.empty() || !attention::seesAll(c.spec);
  return hasMask ? "the mask hides no key from this query" : "no mask: every key is seen";
}

/// What the step does, in words.
std::string wordsOf(const Context& c, const StepperView& w, Motion motion) {
  const RowStep step = w.now();
  switch (motion) {
    case Motion::slide: return "the query slides onto its key";
    case Motion::multiply: return "pairs multiply";
    case Motion::add: return "products add up";
    case Motion::divide: return c.spec.scale == 0 ? "divide by √d_k" : "multiply by the scale";
    case Motion::grow: return "exp makes every score positive";
    case Motion::stand: return "their sum is Σ";
    case Motion::share: return "softmax shares out 1";
    case Motion::pour: return "weights pour the values";
    default: break;
  }
  switch (step) {
    case RowStep::turned_query:
    case RowStep::turned_key: return "turned by its position";
    case RowStep::query_side: return "the query goes through its matrix";
    case RowStep::key_side: return "the key goes through its matrix";
    case RowStep::lengths: return "how long query and key are";
    case RowStep::raw:
      return c.spec.score == attention::Score::cosine ? "divide by both lengths" : "both sides make a score";
    case RowStep::capped: return "no score beyond the cap";
    case RowStep::biased: return "the bias is added";
    case RowStep::masked: return wordsOfMask(c, w);
    case RowStep::temperatureScaled: return "divide by the temperature";
    case RowStep::maximum: return "the largest score of the row";
    case RowStep::threshold: return "what every score loses";
    case RowStep::weights: return "scores become weights";
    case RowStep::masked_after: return "weights are left out, and the rest no longer sums to 1";
    default: return {};
  }
}

class Moving {
 public:
  explicit Moving(Context& c) : c_(c), w_(*stepperOf(c)), list_(ImGui::GetWindowDrawList()) {}

  void draw() {
    float time = w_.part;
    const Motion motion = beatAt(w_.beats, time);
    const float fade = c_.view.still ? fadeOf(motion, time) : 1;
    const std::string words = wordsOf(c_, w_, motion);
    Stage s = stage();
    const bool hasStrip = bring(s, motion, words);
    if (hasStrip) strip(s, fade * (motion == Motion::add ? std::clamp(4 - 4 * time, 0.0f, 1.0f) : 1), words);
    for (Piece p : piecesAt(s, motion, c_.view.still ? 1 : time)) {
      p.opacity *= fade;
      if (p.opacity > 0) piece(p);
    }
    if (!hasStrip) caption(words, below(s, motion));
  }

 private:
  /// With reduced motion everything stands at the end of its motion, and fades in there.
  float fadeOf(Motion motion, float time) const {
    float ms = 0;
    for (const Beat& b : w_.beats)
      if (b.motion == motion) ms = b.ms;
    return std::clamp(w_.runs ? 1 - (1 - time) * ms / kFade : time * ms / kFade, 0.0f, 1.0f);
  }

  // --- where everything is

  std::vector<Box> cells(TensorId id, int firstRow, int rows, int cols) const {
    std::vector<Box> out;
    const MatrixPlace* m = c_.layout.find(id);
    if (!m) return out;
    const Slice s = sliceOf(c_.state, id);
    for (int row = firstRow; row < firstRow + rows; ++row)
      for (int col = 0; col < cols; ++col)
        out.push_back(onScreen(c_.layout, c_.view, m->cellBox(row - s.firstRow, col)));
    const Box& board = c_.layout.board;
    const bool isInView = !out.empty() && out.front().bottom() > board.y && out.back().y < board.bottom() &&
                          out.front().right() > board.x && out.back().x < board.right();
    return isInView ? out : std::vector<Box>{};
  }
  static std::vector<float> numbers(const attention::Tensor* t, int head, int firstRow, int rows) {
    if (!t || t->empty()) return {};
    const float* from = t->row(head, firstRow);
    return {from, from + static_cast<std::ptrdiff_t>(rows) * t->cols()};
  }

  Stage stage() const {
    const auto& [head, row, key, column] = w_.at;
    const int keyHead = head / (c_.spec.heads / c_.spec.kvHeads), keys = c_.state.keyTokens,
              width = c_.spec.headDim, values = c_.spec.valueDim;
    const bool turned = attention::isRotary(c_.spec);
    const TensorId q = turned ? TensorId::q_rotated : TensorId::q,
                   k = turned ? TensorId::k_rotated : TensorId::k;
    const auto of = [&](TensorId id) { return c_.tensor(id); };
    Stage s;
    s.example = key;
    const bool meet = document::sameWidths(c_.state);  // else no number of q stands at one of k
    if (meet) s.query = cells(q, row, 1, width), s.key = cells(k, key, 1, width);
    s.score = cells(TensorId::scores, row, 1, keys), s.weight = cells(TensorId::weights, row, 1, keys);
    s.value = cells(TensorId::v, 0, keys, values), s.output = cells(TensorId::head_output, row, 1, values);
    if (meet) s.queries = numbers(of(q), head, row, 1), s.keys = numbers(of(k), keyHead, key, 1);
    s.raw = numbers(of(TensorId::raw), head, row, 1);
    s.scaled = numbers(of(w_.now() == RowStep::weights ? TensorId::masked : TensorId::scores), head, row, 1);
    s.weights = numbers(of(TensorId::weights), head, row, 1),
    s.values = numbers(of(TensorId::v), keyHead, 0, keys),
    s.outputs = numbers(of(TensorId::head_output), head, row, 1);
    if (!attention::isSoftmax(c_.spec)) return s;
    s.exponentials = numbers(of(TensorId::exponentials), head, row, 1),
    s.sum = c_.trace.rowSum.at(head, row, 0);
    if (attention::displayState(TensorId::weights, w_.now(), c_.spec, c_.inputs).isShare)
      for (std::size_t j = 0; j < s.weights.size(); ++j)
        s.weights[j] = s.sum > 0 ? s.exponentials[j] / s.sum : 0;
    return s;
  }

  static Box around(const std::vector<Box>& boxes) {
    Box all;
    for (const Box& b : boxes) {
      if (all.empty()) all = b;
      const float right = std::max(all.right(), b.right()), bottom = std::max(all.bottom(), b.bottom());
      all.x = std::min(all.x, b.x), all.y = std::min(all.y, b.y), all.width = right - all.x,
      all.height = bottom - all.y;
    }
    return all;
  }

  /// Gives a key that is not in view with the row, or too small to be read, a place beside the row; returns
  /// whether it has.
  bool bring(Stage& s, Motion motion, std::string_view words) {
    const bool adds = motion == Motion::add;
    const Box row = around(adds ? s.score : s.query);
    if ((!adds && motion != Motion::slide && motion != Motion::multiply) || row.empty() || s.keys.empty())
      return false;
    const Box &board = c_.layout.board, key = around(s.key);
    const bool isWhole = !key.empty() && key.x > board.x - 1 && key.right() < board.right() + 1 &&
                         key.y > board.y - 1 && key.bottom() < board.bottom() + 1;
    const bool isReadable = !s.key.empty() && s.key.front().width >= kReadable;
    const float pitch = (adds ? s.score : s.query).front().width, wide = textWidth(c_.fonts.small, words);
    strip_ = stripBeside(row, pitch, static_cast<int>(s.keys.size()), wide, board);
    const bool helps = strip_.key.front().width >= kReadable;
    if (isWhole && !s.query.empty() && (isReadable || !helps)) return false;
    s.key = strip_.key;
    if (s.query.empty() || adds) s.query = strip_.query;
    return true;
  }

  // The panel with the key's numbers, on which the pieces move.
  void strip(const Stage& s, float opacity, std::string_view words) {
    const Box& b = strip_.box;
    c_.widgetRects["stepper-strip"] = b;
    c_.widgetRects["stepper-caption"] = strip_.words;
    list_->AddRectFilled({b.x, b.y}, {b.right(), b.bottom()}, withAlpha(c_.palette.panel, opacity), 8);
    list_->AddRect({b.x, b.y}, {b.right(), b.bottom()}, withAlpha(c_.palette.border, opacity), 8);
    textMiddle(list_, c_.fonts.small, strip_.words.x, strip_.words.midY(),
               withAlpha(c_.palette.text, opacity), words);
    const AsIs asIs;
    const auto name = [&](const char* letter, int index, TensorId of, const Box& first) {
      textMiddle(list_, c_.fonts.strong, b.x + 10, first.midY(), withAlpha(hue(c_.palette, of), opacity),
                 attention::explanation_format::nth(letter, index));
    };
    name("q", w_.at.row, TensorId::q, strip_.query.front());
    name("k", w_.at.key, TensorId::k, strip_.key.front());
    for (std::size_t i = 0; i < s.key.size(); ++i) {
      const Box& k = s.key[i];
      Piece p{Piece::Kind::cell, TensorId::k, k.midX(), k.midY(), k.width, k.height};
      p.value = s.keys[i], p.opacity = opacity;
      cell(p);
    }
  }

  /// The cells under which the words of a motion stand.
  static Box below(const Stage& s, Motion motion) {
    switch (motion) {
      case Motion::slide:
      case Motion::multiply: return around(s.key.empty() ? s.query : s.key);
      case Motion::grow:
      case Motion::stand:
      case Motion::share: return around(s.weight);
      case Motion::pour: return around(s.output);
      default: return around(s.score);
    }
  }

  // --- drawing

  /// How much of the board's titles and numbers a box would cover, in square pixels.
  float covered(const Box& box) const {
    float sum = 0;
    const auto add = [&](const Box& other) {
      const float wide = std::min(box.right(), other.right()) - std::max(box.x, other.x),
                  high = std::min(box.bottom(), other.bottom()) - std::max(box.y, other.y);
      sum += std::max(wide, 0.0f) * std::max(high, 0.0f);
    };
    for (const MatrixPlace& m : c_.layout.matrices) {
      const Box b = onScreen(c_.layout, c_.view, m.box);
      const float above = m.labelsAbove ? m.labelRoom : 0, below = m.labelsBelow ? m.labelRoom : 0;
      add({b.x, b.y - above, b.width, b.height + above + below});
      const auto title = c_.widgetRects.find("title:" + std::string(attention::name(m.tensor)));
      if (title != c_.widgetRects.end()) add(title->second);
    }
    for (const Box& card : {c_.layout.heads, c_.layout.arcs, c_.layout.inspector})
      if (!card.empty()) add(onScreen(c_.layout, c_.view, card));
    return sum;
  }

  /// Below the cells, above them, or beside their matrix: the first place that covers nothing, else the one
  /// that covers least.
  Box placeOf(float width, const Box& under) const {
    constexpr float kHeight = 22, kApart = 12;
    const Box& board = c_.layout.board;
    Box matrix = under;
    for (const MatrixPlace& m : c_.layout.matrices) {
      const Box b = onScreen(c_.layout, c_.view, m.box);
      if (b.contains(under.midX(), under.midY())) matrix = b;
    }
    const float x = under.midX() - width / 2, y = under.midY() - kHeight / 2,
                top = fraction_.empty() ? under.y : std::min(under.y, fraction_.y),
                bottom = std::max(under.bottom(), fraction_.bottom());
    const std::pair<float, float> corners[] = {{x, bottom + kApart},
                                               {x, top - kApart - kHeight},
                                               {matrix.right() + kApart, y},
                                               {matrix.x - kApart - width, y}};
    Box best;
    float least = 0;
    for (const auto& [left, upper] : corners) {
      const Box box{std::clamp(left, board.x + 4, std::max(board.x + 4, board.right() - width - 4)),
                    std::clamp(upper, board.y + 4, std::max(board.y + 4, board.bottom() - kHeight - 4)),
                    width, kHeight};
      const float covers = covered(box);
      if (best.empty() || covers < least) best = box, least = covers;
    }
    return best;
  }

  void caption(std::string_view english, const Box& under) const {
    if (english.empty() || under.empty()) return;
    const std::string words = inWords(english);
    const Box box = placeOf(textWidth(c_.fonts.small, words) + 16, under);
    c_.widgetRects["stepper-caption"] = box;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.panel, 6);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 6);
    const AsIs asIs;
    textMiddle(list_, c_.fonts.small, box.x + 8, box.midY(), c_.palette.text, words);
  }

  void piece(const Piece& p) {
    switch (p.kind) {
      case Piece::Kind::cell: return cell(p);
      case Piece::Kind::ghost: return ghost(p);
      case Piece::Kind::times: return times(p);
      case Piece::Kind::fraction: return fraction(p);
      case Piece::Kind::bar: return bar(p);
      case Piece::Kind::stream:
        return list_->AddLine({p.x, p.y}, {p.toX, p.toY}, withAlpha(c_.palette.weight, 0.6f * p.opacity),
                              p.width);
      case Piece::Kind::ring:
        return list_->AddRect({p.x - p.width / 2 - 1, p.y - p.height / 2 - 1},
                              {p.x + p.width / 2 + 1, p.y + p.height / 2 + 1}, hue(c_.palette, p.of),
                              p.height >= 20 ? 6.0f : 1.0f, 0, 2);
    }
  }

  void digits(const Piece& p, double value, ImU32 color) const {
    const auto [font, words] = fittedNumber(c_, value, p.width);
    if (!font) return;
    const int first = list_->VtxBuffer.Size;
    digitsCentered({list_, font, color}, 1, p.x, p.y, std::isinf(value) ? "−∞" : words);
    if (p.tilt == 0) return;
    const float sine = std::sin(p.tilt), cosine = std::cos(p.tilt);
    for (int i = first; i < list_->VtxBuffer.Size; ++i) {
      ImVec2& at = list_->VtxBuffer[i].pos;
      const float x = at.x - p.x, y = at.y - p.y;
      at = {p.x + cosine * x - sine * y, p.y + sine * x + cosine * y};
    }
  }

  void cell(const Piece& p) const {
    const float gap = p.width >= 20  ? 1.5f
                      : p.width >= 8 ? 0.5f
                                     : 0,
                half = p.width / 2 - gap, tall = p.height / 2 - gap;
    const draw::Color fill = std::isinf(p.value) ? toColor(c_.palette.panel) : stepColor(c_, p.of, p.value);
    const float sine = std::sin(p.turn), cosine = std::cos(p.turn);
    const auto corner = [&](float x, float y) {
      return ImVec2{p.x + cosine * x - sine * y, p.y + sine * x + cosine * y};
    };
    const ImVec2 corners[] = {corner(-half, -tall), corner(half, -tall), corner(half, tall),
                              corner(-half, tall)};
    if (p.turn == 0) {
      list_->AddRectFilled({p.x - p.width / 2, p.y - p.height / 2}, {p.x + p.width / 2, p.y + p.height / 2},
                           withAlpha(c_.palette.panel, p.opacity));
      list_->AddRectFilled(corners[0], corners[2], withAlpha(toU32(fill), p.opacity),
                           p.width >= 20 ? 3.0f : 0.0f);
    } else {
      list_->AddConvexPolyFilled(corners, 4, withAlpha(toU32(fill), p.opacity));
    }
    if (p.width >= kDashes && (p.of == TensorId::q || p.of == TensorId::k))
      list_->AddPolyline(corners, 4, withAlpha(hue(c_.palette, p.of), p.opacity), ImDrawFlags_Closed, 1.2f);
    if (p.width >= kReadable) digits(p, double{p.value}, withAlpha(textOn(fill), p.opacity * p.ink));
  }

  void ghost(const Piece& p) const {
    const float left = p.x - p.width / 2, top = p.y - p.height / 2, right = left + p.width,
                bottom = top + p.height;
    list_->AddRectFilled({left, top}, {right, bottom}, withAlpha(c_.palette.panel, p.opacity));
    if (p.width < kDashes) return;
    const ImU32 color = withAlpha(hue(c_.palette, p.of), 0.7f * p.opacity);
    for (float at = left + 2; at < right - 2; at += 6) {
      const float end = std::min(at + 3, right - 2);
      list_->AddLine({at, top + 2}, {end, top + 2}, color),
          list_->AddLine({at, bottom - 2}, {end, bottom - 2}, color);
    }
    for (float at = top + 2; at < bottom - 2; at += 6) {
      const float end = std::min(at + 3, bottom - 2);
      list_->AddLine({left + 2, at}, {left + 2, end}, color),
          list_->AddLine({right - 2, at}, {right - 2, end}, color);
    }
  }

  void times(const Piece& p) const {
    if (p.width < kReadable) return;
    list_->AddCircleFilled({p.x, p.y}, 6, withAlpha(c_.palette.panel, p.opacity), 16);
    digitsCentered({list_, c_.fonts.small, withAlpha(c_.palette.text, p.opacity)}, 1, p.x, p.y, "×");
  }

  // Below its cell: the score over the root of the width, or times the scale.
  void fraction(const Piece& p) {
    const std::string over = formatNumber(double{p.over}, c_.state.decimals),
                      result = formatNumber(double{p.value}, c_.state.decimals);
    const bool isRoot = c_.spec.scale == 0;
    const std::string under = isRoot ? "√" + std::to_string(c_.spec.headDim)
                                     : "× " + formatFactor(c_.spec.scale, c_.state.decimals);
    ImFont* font = c_.fonts.mono;
    const float tier = std::max(textWidth(font, over), textWidth(font, under)) + 12,
                end = textWidth(font, "= " + result), width = tier + end + 26;
    const Box& board = c_.layout.board;
    const float x = std::clamp(p.x - width / 2, board.x + 4,
                               std::max(board.x + 4, board.right() - width - 4)),
                below = p.y + p.height / 2 + 8,
                y = below + 48 < board.bottom() ? below : p.y - p.height / 2 - 56;
    fraction_ = {x, y, width, 48};
    const ImU32 color = withAlpha(c_.palette.text, p.opacity);
    const AsIs asIs;
    list_->AddRectFilled({x, y}, {x + width, y + 48}, withAlpha(c_.palette.panel, p.opacity), 6);
    list_->AddRect({x, y}, {x + width, y + 48}, withAlpha(c_.palette.border, p.opacity), 6);
    textCentered(list_, font, x + 8 + tier / 2, y + 13, color, over);
    if (isRoot) list_->AddLine({x + 8, y + 24}, {x + 8 + tier, y + 24}, color, 1.2f);
    textCentered(list_, font, x + 8 + tier / 2, y + 35, color, under);
    textMiddle(list_, font, x + tier + 16, y + 24, color, "= " + result);
  }

  void bar(const Piece& p) const {
    const float apart = p.width > 3 && p.height > 3 ? 0.5f : 0;  // between parts of one row
    const Box b{p.x - p.width / 2 + apart, p.y - p.height / 2, p.width - 2 * apart, p.height};
    list_->AddRectFilled({b.x, b.y}, {b.right(), b.bottom()}, withAlpha(c_.palette.weight, p.opacity),
                         std::min(2.0f, std::min(b.width, b.height) / 2));
    const MatrixPlace& m = *c_.layout.find(TensorId::weights);
    const float pitch = m.cell;
    const auto [font, words] = fittedNumber(c_, double{p.value}, pitch);
    if (!font || pitch < kReadable) return;
    const float wide = textWidth(font, words);
    if (wide + 4 <= b.width && b.height >= 16)
      return digitsCentered({list_, font, withAlpha(textOn(toColor(c_.palette.weight)), p.opacity)}, 1, p.x,
                            p.y, words);
    if (m.transposed || b.width < 0.6f * pitch || b.width > pitch)
      return;  // only a bar that stands has its number above it
    list_->AddRectFilled({p.x - wide / 2 - 2, b.y - 16}, {p.x + wide / 2 + 2, b.y - 2},
                         withAlpha(c_.palette.panel, 0.85f * p.opacity), 3);
    digitsCentered({list_, font, withAlpha(c_.palette.text, p.opacity)}, 1, p.x, b.y - 9, words);
  }

  Context& c_;
  const StepperView& w_;
  ImDrawList* list_;
  Box fraction_;
  Strip strip_;
};

}  // namespace

void drawMotion(Context& c) {
  const Box& b = c.layout.board;
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect({b.x, b.y}, {b.right(), b.bottom()}, true);
  Moving(c).draw();
  list->PopClipRect();
}

}  // namespace views
