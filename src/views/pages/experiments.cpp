// Two of the experiments: the spread of scores, and fixed against following weights.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "views/pages/chart.h"
#include "views/pages/column.h"
#include "views/pages/experiment_page.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using attention::Distribution;
using attention::Spread;
using document::OptionId;

// --- Why divide by √d_k?

constexpr std::size_t kPowers = 11;  // powers of two, from 1 to 1024
constexpr double kDimTicks[] = {1, 4, 16, 64, 256, 1024};

class SpreadView {
 public:
  static constexpr std::string_view kTitle = "Why are scores divided by √d_k?";

  static bool isThere(const Context& c) { return c.derived.experiments.lastSpreads() != nullptr; }
  static const document::Experiments::Spreads& numbers(const Context& c) {
    static const document::Experiments::Spreads none;
    return isThere(c) ? *c.derived.experiments.lastSpreads() : none;
  }
  explicit SpreadView(Context& c)
      : c_(c),
        now_(c.state.experiments),
        at_(numbers(c).at),
        curve_(numbers(c).curve) {}

  void controls(PageColumn& column) {
    const int dim = now_.spread.dim;
    float at = std::log2(static_cast<float>(dim)) / 10;
    if (column.slider("slider:d_k", "d_k", std::to_string(dim), at, 0.1f,
                      &document::option(OptionId::spread_dim))) {
      set(c_, OptionId::spread_dim, std::round(std::exp2(static_cast<double>(at) * 10)), kSliderGesture);
    }
    column.number(OptionId::spread_mean, "slider:mean", now_.spread.same ? "Mean μ" : "μ of q",
                  {-2, 2, 20, 2});
    column.number(OptionId::spread_deviation, "slider:deviation", now_.spread.same ? "Deviation σ" : "σ of q",
                  {0, 3, 20, 2});
    if (column.toggle("lab:apart", "Keys have μ and σ of their own", !now_.spread.same))
      set(c_, OptionId::spread_same, !now_.spread.same);
    if (!now_.spread.same) {
      column.number(OptionId::spread_key_mean, "slider:key-mean", "μ of k", {-2, 2, 20, 2});
      column.number(OptionId::spread_key_deviation, "slider:key-deviation", "σ of k", {0, 3, 20, 2});
    }
    column.number(OptionId::spread_draws, "slider:draws", "Queries",
                  {1, attention::SpreadDraws::mostQueries, 1, 0});
    if (column.toggle("lab:scaled", "÷ √d_k", now_.spreadScaled))
      set(c_, OptionId::spread_scaled, !now_.spreadScaled);
    if (column.button("lab:draw", "Draw again")) setNextSeed(c_, OptionId::spread_seed, now_.spreadSeed);
  }

  void words(PageColumn& column) {
    column.gap(6);
    table(column);
    column.gap(10);
    answer(column);
  }

  void pictures(PageColumn& column) {
    column.openCard();
    const float width = column.width();
    histogram(column.take(std::clamp(width * 0.4f, 220.0f, 340.0f)));
    column.gap(14);
    pair(column, [&](const Box& box) { deviations(box); }, [&](const Box& box) { weights(box); });
    column.closeCard();
    column.openCard("How much of a gradient comes through");
    column.sentence(
        base::message({"A saturated softmax passes almost nothing back: without the scale, half of all rows "
                       "have a Jacobian below ",
                       small(curve_.back().raw.jacobian), " at d_k = 1024; with it, below ",
                       small(curve_.back().scaled.jacobian), "."}));
    pair(
        column,
        [&](const Box& box) {
          sizes(box, "Size of the Jacobian of softmax", &Distribution::jacobian, &Distribution::meanJacobian);
        },
        [&](const Box& box) {
          sizes(box, "Size of the gradient of a row of weights by its query", &Distribution::gradient,
                &Distribution::meanGradient);
        });
    column.closeCard();
  }

 private:
  const Distribution& chosen() const { return now_.spreadScaled ? at_.scaled : at_.raw; }
  ImU32 color(bool scaled) const { return scaled ? c_.palette.query : c_.palette.key; }

  /// Two charts side by side, or below each other if the column is narrow.
  template <class First, class Second>
  void pair(PageColumn& column, First drawFirst, Second drawSecond) {
    const bool beside = column.width() >= 520;
    const float each = beside ? (column.width() - 28) / 2 : column.width();
    const Box first = column.take(240);
    drawFirst(Box{first.x, first.y, each, first.height});
    if (!beside) column.gap(14);
    drawSecond(beside ? Box{first.x + each + 28, first.y, each, first.height} : column.take(240));
    column.gap(8);
  }

  void table(PageColumn& column) {
    const Distribution &a = at_.raw, &b = at_.scaled;
    const Box top = column.take(0);
    column.numbers("", "q·k", "÷ √d_k");
    column.numbers("mean", fixed(a.mean), fixed(b.mean));
    column.numbers(now_.spread.same ? "predicted d·μ²" : "predicted d·μ·μ", fixed(a.predictedMean),
                   fixed(b.predictedMean));
    column.numbers("deviation", fixed(a.deviation), fixed(b.deviation));
    column.numbers("predicted", fixed(a.predictedDeviation), fixed(b.predictedDeviation));
    column.numbers("largest weight", fixed(a.largestWeight), fixed(b.largestWeight));
    column.numbers("entropy, bit", fixed(a.entropy), fixed(b.entropy));
    const float last = column.y();
    column.numbers("Jacobian, median", small(a.jacobian), small(b.jacobian));
    column.numbers("by q, median", small(a.gradient), small(b.gradient));
    c_.widgetRects["spread:table"] = {top.x, top.y, top.width, column.y() - top.y};
    c_.widgetRects["spread:saturation"] = {top.x, last, top.width, column.y() - last};
  }

  void answer(PageColumn& column) {
    const Distribution &a = at_.raw, &b = at_.scaled;
    column.sentence(
        base::message({"The deviation of q·k is ",
                       now_.spread.same ? "√(d·((σ² + μ²)² − μ⁴))" : "√(d·(σ²σ² + σ²μ² + μ²σ²)) of q and k",
                       ": it grows with √d_k, here to ", fixed(a.deviation), ". Softmax then gives ",
                       fixed(100 * a.largestWeight, 0), " % to one of 16 keys; after ÷ √d_k, ",
                       fixed(100 * b.largestWeight, 0), " %."}));
  }

  void histogram(const Box& box) {
    const Distribution& d = chosen();
    const Distribution& other = now_.spreadScaled ? at_.raw : at_.scaled;
    const double reach = std::max(1e-6, d.high - d.low);
    const double step = static_cast<double>(niceBound(static_cast<float>(reach))) / 5;
    std::vector<double> ticks;
    for (double at = std::ceil(d.low / step) * step; at <= d.low + reach; at += step) ticks.push_back(at);
    Chart chart(c_, box,
                base::message({now_.spreadDraws * attention::SpreadDraws::keys,
                               " scores; each colour is scaled to the full height"}),
                {d.low, d.low + reach, false, ticks, "score"}, {0, 1, false, {}, ""});
    chart.bars(other.counts, other.low, other.high, withAlpha(color(!now_.spreadScaled), 0.3f));
    chart.bars(d.counts, d.low, d.high, withAlpha(color(now_.spreadScaled), 0.8f));
    for (const double sign : {-1.0, 1.0})
      chart.mark(d.predictedMean + sign * d.predictedDeviation, c_.palette.text);
    chart.legend("÷ √d_k", color(true));
    chart.legend("q·k", color(false));
  }

  template <class Get>
  std::array<Point, kPowers> points(Get get) const {
    std::array<Point, kPowers> out{};
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = {static_cast<double>(curve_[i].dim), get(curve_[i])};
    return out;
  }

  void deviations(const Box& box) {
    static constexpr double ticks[] = {0.01, 0.1, 1, 10, 100, 1000};
    const double low = std::max(1e-3, std::min(0.5, 0.5 * curve_.front().scaled.predictedDeviation));
    const double high = std::max(2.0, 2 * curve_.back().raw.predictedDeviation);
    const auto first = std::lower_bound(std::begin(ticks), std::end(ticks), low);
    const auto last = std::upper_bound(std::begin(ticks), std::end(ticks), high);
    Chart chart(c_, box, "Deviation", {1, 1024, true, kDimTicks, "d_k"},
                {low, high, true, {first, last}, ""});
    chart.mark(now_.spread.dim, c_.palette.faint);
    for (const bool scaled : {false, true}) {
      const auto of = [scaled](const Spread& s) -> const Distribution& { return scaled ? s.scaled : s.raw; };
      chart.line(points([&](const Spread& s) { return of(s).predictedDeviation; }),
                 withAlpha(color(scaled), 0.6f), 1.4f);
      chart.dots(points([&](const Spread& s) { return of(s).deviation; }), color(scaled));
    }
    chart.legend("line: predicted", c_.palette.faint);
  }

  void weights(const Box& box) {
    static constexpr double ticks[] = {0, 0.25, 0.5, 0.75, 1};
    Chart chart(c_, box, "Largest of 16 weights", {1, 1024, true, kDimTicks, "d_k"},
                {0, 1, false, ticks, ""});
    chart.mark(now_.spread.dim, c_.palette.faint);
    for (const bool scaled : {false, true}) {
      const auto line = points([&](const Spread& s) { return (scaled ? s.scaled : s.raw).largestWeight; });
      chart.line(line, withAlpha(color(scaled), 0.6f), 1.4f);
      chart.dots(line, color(scaled));
    }
  }

  /// Plots over d_k on two logarithmic axes, so that vanishing values can be seen: the median as a line, the
  /// mean as dots.
  void sizes(const Box& box, std::string_view title, double Distribution::* median,
             double Distribution::* mean) {
    double low = 1, high = 1e-3;
    for (const Spread& s : curve_) {
      for (const Distribution* d : {&s.raw, &s.scaled}) {
        if (d->*median > 0) low = std::min(low, d->*median);
        high = std::max({high, d->*median, d->*mean});
      }
    }
    const std::vector<double> ticks = powersOfTen(low, high, 6);
    Chart chart(c_, box, title, {1, 1024, true, kDimTicks, "d_k"},
                {ticks.front(), ticks.back(), true, ticks, ""});
    chart.mark(now_.spread.dim, c_.palette.faint);
    for (const bool scaled : {false, true}) {
      const auto of = [scaled](const Spread& s) -> const Distribution& { return scaled ? s.scaled : s.raw; };
      chart.line(points([&](const Spread& s) { return of(s).*median; }), color(scaled), 2.2f);
      chart.dots(points([&](const Spread& s) { return of(s).*mean; }), withAlpha(color(scaled), 0.6f));
    }
    chart.legend("line: median, dots: mean", c_.palette.faint);
  }

  Context& c_;
  const document::ExperimentOptions& now_;
  const Spread& at_;
  const std::vector<Spread>& curve_;
};

// --- Attention beside a fully connected layer

class DenseView {
 public:
  static constexpr std::string_view kTitle = "What sets attention apart from a fully connected layer?";

  explicit DenseView(Context& c)
      : c_(c),
        now_(c.state.experiments.dense),
        shown_(c.derived.experiments.tokensCompared()),
        result_(&c.derived.comparisonShown()) {}

  void controls(PageColumn& column) {
    static constexpr std::string_view kMoved[] = {"V", "Q and K", "all"};
    const int rows = std::min(c_.trace.q.rows(), c_.trace.k.rows()),
              token = c_.derived.experiments.denseToken();
    if (rows > kMostTokens) {
      const int chosen = tokenSlider(column, "lab:token", "Token", {token, rows - 1, 1});
      if (chosen != token) set(c_, OptionId::dense_token, static_cast<double>(chosen), kSliderGesture);
    } else if (const int step = column.stepper("lab:token", "Token that moves", std::to_string(token + 1),
                                               token > 0, token + 1 < rows);
               step != 0) {
      set(c_, OptionId::dense_token, static_cast<double>(token + step));
    }
    column.number(OptionId::dense_amount, "slider:amount", "By", {0, 3, 10, 2});
    setChoice(c_, OptionId::dense_moved,
              column.choice("lab:moved", "What of it moves", kMoved, static_cast<int>(now_.moved)));
    if (column.button("lab:draw", "Draw again")) setNextSeed(c_, OptionId::dense_seed, now_.seed);
  }

  void words(PageColumn& column) {
    column.gap(10);
    const bool onlyValues = now_.moved == attention::Moved::values;
    column.sentence(
        onlyValues
            ? "Both are sums of values. As long as only values move, the weights stay and the outputs agree."
            : "Both are sums of values. When queries and keys move, attention weighs anew, and the fully "
              "connected layer keeps the weights that it learned.");
    const bool isPart = shown_.size() < std::max(c_.state.tokens, c_.state.keyTokens);
    column.numbers(isPart                       ? "largest difference in these rows"
                   : result_->fixed.heads() > 1 ? "largest difference of all heads"
                                                : "largest difference",
                   fixed(result_->difference, 4));
    column.gap(8);
    const int rows = c_.trace.v.rows(), cols = c_.trace.v.cols();
    column.sentence(base::message(
        {"From ", counted(rows), " tokens of ", cols, cols == 1 ? " number" : " numbers",
         " a fully connected layer has ", counted(result_->connectedWeights),
         " weights, all learned; attention has ", counted(result_->attentionWeights),
         cols == 1
             ? " that it computes, as many, because d_v is 1."
             : " that it computes, the same for all numbers of a value. With d_v = 1 both have as many."}));
  }

  void pictures(PageColumn& column) {
    const int head = std::min(c_.state.focusHead, result_->fixed.heads() - 1);
    const std::uint64_t version =
        c_.derived.experiments.comparisonVersion() << 8 | static_cast<std::uint64_t>(head);
    const auto matrix = [&](std::uint32_t slot, const attention::Tensor& tensor, std::string_view name,
                            Cells cells) {
      PageMatrix m;
      m.slot = kSlot + slot, m.tensor = &tensor, m.name = name, m.head = head, m.cells = cells;
      m.firstToken = shown_.begin, m.ofTokens = c_.state.tokens;
      if (cells == Cells::weights) {
        m.isMasked = [this](int row, int col) {
          return c_.isMasked(c_.state.focusHead, shown_.begin + row, shown_.begin + col);
        };
      }
      return m;
    };
    // The outputs share one scale, because they are compared.
    const PageMatrix outputs[] = {matrix(2, result_->connected, "output", Cells::numbers),
                                  matrix(3, result_->attended, "output", Cells::numbers)};
    const float most = std::max(largest(outputs[0]), largest(outputs[1]));
    const Box area = column.take(0);
    PageColumn left = firstColumn(c_, area, (area.width - kColumnGap) / 2);
    const auto card = [&](PageColumn& to, std::string_view title, PageMatrix weights, PageMatrix output) {
      to.openCard(title);
      for (PageMatrix* m : {&weights, &output}) {
        const Box box = to.take(0);
        const auto [cell, labels] = fitOf(c_, {m, 1}, box.width, 420);
        drawMatrix(c_, *m, {box.x + std::max(labels, 2.0f), box.y}, {version, cell, most, labels});
        to.gap(m->box.bottom() - box.y + 16);
      }
      to.closeCard();
    };
    card(left, "Fully connected: fixed weights", matrix(0, result_->fixed, "weights", Cells::weights),
         outputs[0]);
    PageColumn right = secondColumn(c_, area, left);
    card(right, "Attention: weights that follow", matrix(1, result_->following, "weights", Cells::weights),
         outputs[1]);
    column.gap(std::max(left.y(), right.y()) - column.y());
  }

 private:
  static constexpr std::uint32_t kSlot = 5000;
  Context& c_;
  const attention::ComparisonSpec& now_;
  const attention::Span shown_;  ///< the tokens that the matrices have
  const attention::Comparison* result_;
};

}  // namespace

float spreadPage(Context& c, const Box& area) { return drawExperiment<SpreadView>(c, area); }
float densePage(Context& c, const Box& area) { return drawExperiment<DenseView>(c, area); }

}  // namespace views
