// What the layer costs, and what its alternative would cost: for the present tokens, and for up to a million.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <memory>

#include "attention/experiments/timing.h"
#include "base/sentence.h"
#include "views/pages/chart.h"
#include "views/pages/experiment_page.h"
#include "views/panels/panels.h"
#include "views/work.h"

namespace views {
namespace {

using attention::Cost;
using document::CostOf;
using document::OptionId;

constexpr double kMillion = 1e6;

/// "950", "12.3 k", "1.05 M", "20 G"; for bytes with a B.
std::string amount(double value, std::string_view unit = "") {
  static constexpr std::string_view kPowers[] = {"", " k", " M", " G", " T", " P"};
  std::size_t power = 0;
  for (double most = 9999.5; value >= most && power + 1 < std::size(kPowers); ++power, most = 999.5)
    value /= 1000;
  const int decimals = power == 0 ? 0 : value >= 99.95 ? 1 : 2;
  const std::string sign = power > 0 ? std::string(kPowers[power]) : unit.empty() ? "" : " ";
  std::string digits = formatNumber(value, power == 0 && value != std::floor(value) ? 1 : decimals);
  while (digits.find('.') != std::string::npos && (digits.back() == '0' || digits.back() == '.'))
    digits.pop_back();
  return digits + sign + std::string(unit);
}

class CostView {
 public:
  static constexpr std::string_view kTitle = "What does this layer cost, and what would another?";

  explicit CostView(Context& c)
      : c_(c),
        now_(c.state.experiments),
        tokens_(c.derived.experiments.costTokens()),
        here_(cost(tokens_, false)),
        other_(cost(tokens_, true)) {}

  void controls(PageColumn& column) {
    static constexpr std::string_view kCompared[] = {"score", "heads", "window", "RNN"};
    setChoice(c_, OptionId::cost_compare,
              column.choice("cost_compare", "Compare by", kCompared, static_cast<int>(now_.costOf)));
    auto at = static_cast<float>(std::log10(tokens_) / 6);
    if (column.slider("slider:n", "Tokens n", amount(tokens_), at, 1.0f / 60,
                      &document::option(OptionId::cost_tokens))) {
      set(c_, OptionId::cost_tokens, rounded(std::pow(10.0, double{at} * 6)), kSliderGesture);
    }
    if (now_.costTokens > 0 && column.button("cost:own", "As many as the layer has"))
      set(c_, OptionId::cost_tokens, 0.0);
    if (now_.costOf == CostOf::window) {
      auto window = static_cast<float>(std::log10(double(now_.costWindow)) / 6);
      if (column.slider("slider:window", "Window", amount(now_.costWindow), window, 1.0f / 60,
                        &document::option(OptionId::cost_window))) {
        set(c_, OptionId::cost_window, rounded(std::pow(10.0, double{window} * 6)), kSliderGesture);
      }
    }
    if (now_.costOf == CostOf::recurrent) {
      static constexpr std::string_view kCells[] = {"tanh", "LSTM"};
      setChoice(c_, OptionId::memory_cell,
                column.choice("memory_cell", "", kCells, static_cast<int>(now_.memory.cell)));
    }
  }

  void words(PageColumn& column) {
    column.gap(6);
    const auto [first, second] = names();
    column.numbers("", first, second);
    const auto line = [&](std::string_view what, auto get, std::string_view unit = "") {
      column.numbers(what, amount(get(here_), unit), amount(get(other_), unit));
    };
    line("parameters", [](const Cost& c) { return c.parameters; });
    line("multiply-adds", [](const Cost& c) { return c.multiplyAdds(); });
    line("  projections", [](const Cost& c) { return c.projections; });
    line("  scores", [](const Cost& c) { return c.scores; });
    line("  weights · V", [](const Cost& c) { return c.sums; });
    line("tanh", [](const Cost& c) { return c.tanhs; });
    line("weights", [](const Cost& c) { return c.weightBytes(); }, "B");
    line("cache", [](const Cost& c) { return c.cacheBytes(); }, "B");
    line("all scores", [](const Cost& c) { return c.scoreBytes(); }, "B");
    line("steps in sequence", [](const Cost& c) { return c.steps; });
    column.gap(10);
    column.sentence(answer());
    if (c_.state.mode != document::Mode::x)
      column.sentence(
          "Q, K and V are given here: there are no projections to count. With the "
          "input X · W there are.");
    column.sentence(
        "One sequence, 4 bytes per number. The causal mask and the window are "
        "counted; patterns and painted cells are not.");
    measured(column);
  }

  void pictures(PageColumn& column) {
    column.openCard();
    const bool beside = column.width() >= 520;
    const float each = beside ? (column.width() - 28) / 2 : column.width();
    const struct {
      std::string_view title;
      double (*get)(const Cost&);
    } charts[] = {{"Multiply-adds", [](const Cost& c) { return c.multiplyAdds(); }},
                  {"Bytes of all scores", [](const Cost& c) { return c.scoreBytes(); }},
                  {"Bytes of the cache", [](const Cost& c) { return c.cacheBytes(); }},
                  {"Steps that wait for the one before", [](const Cost& c) { return c.steps; }}};
    float left = 0;
    Box row;
    for (const auto& chart : charts) {
      if (left == 0) row = column.take(250);
      draw({row.x + left, row.y, each, row.height - 10}, chart.title, chart.get);
      left = beside && left == 0 ? each + 28 : 0;
      if (left == 0) column.gap(8);
    }
    column.closeCard();
  }

 private:
  Cost cost(double tokens, bool other) const { return c_.derived.experiments.cost(tokens, other); }
  /// Rounds to two digits, so that a slider stops at simple numbers.
  static double rounded(double value) {
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(value)) - 1));
    return std::clamp(std::round(value / unit) * unit, 1.0, kMillion);
  }

  std::pair<base::Message, base::Message> names() const {
    const document::State& s = c_.state;
    switch (now_.costOf) {
      case CostOf::score:
        if (document::isDotProduct(s.score)) return {"dot", "additive"};
        return {attention::kScoreNames[static_cast<std::size_t>(s.score)], "dot"};
      case CostOf::heads:
        return {base::message({s.heads, s.heads == 1 ? " head" : " heads"}), base::message({1, " head"})};
      case CostOf::window:
        if (s.windowLeft < 0 && s.windowRight < 0) return {"all keys", "window"};
        return {"window", "all keys"};
      case CostOf::recurrent: break;
    }
    return {"attention", now_.memory.cell == attention::CellKind::tanh ? "tanh RNN" : "LSTM"};
  }

  /// The button that measures, and what it found.
  void measured(PageColumn& column) {
    std::shared_ptr<attention::Timing>& timing = c_.view.experiments.timing;
    column.gap(10);
    if (column.button("cost:measure", "Measure on this machine")) {
      const double tokens = std::min(tokens_, double{attention::Timing::kMostTokens});
      timing = std::make_shared<attention::Timing>(static_cast<int>(tokens), c_.state.headDim);
    }
    if (timing && !timing->isWhole() &&
        goesOn(c_.view, "Measuring", timing->runs(), attention::Timing::kRuns * attention::Timing::kWays))
      measureOn(*timing);
    if (!timing) return;
    if (!timing->isWhole()) return column.sentence("Measuring …");
    const Box top = column.take(0);
    found(column, *timing);
    c_.widgetRects["cost:found"] = {top.x, top.y, top.width, column.y() - top.y};
  }

  /// For a few milliseconds, so that input is answered; the rest in the next frames.
  void measureOn(attention::Timing& timing) {
    const auto now = [] {
      const auto since = std::chrono::steady_clock::now().time_since_epoch();
      return std::chrono::duration<double, std::milli>(since).count();
    };
    constexpr double kSlice = 6;
    for (const double end = now() + kSlice; timing.go(now) && now() < end;) continue;
  }

  static void found(PageColumn& column, const attention::Timing& timing) {
    using attention::Way;
    const auto against = [&](const char* slow, Way way, const char* fast, Way other) {
      const double a = timing.median(way), b = timing.median(other);
      return base::message(
          {slow, small(b > 0 ? a / b : 0), fast, small(a), " ms against ", small(b), " ms."});
    };
    column.sentence(
        base::message({"Measured with ", timing.tokens(), " tokens of ", timing.columns(),
                       " columns, one head, on one core; medians of ", attention::Timing::kRuns, " runs."}));
    column.sentence(
        against("Plain loops take ", Way::loops, " times as long as the kernels: ", Way::kernels));
    column.sentence(
        against("Additive scores take ", Way::additive, " times as long as dot products: ", Way::dot));
    column.sentence(against("A recurrent network takes ", Way::recurrent,
                            " times as long as attention: ", Way::attention));
    column.sentence(
        "Loops and kernels make the same output; the two scores are the layer with all of its "
        "steps; the network is a tanh one as wide as the layer. One core works "
        "through all tokens one after the other in any case: where many could work at once, only "
        "recurrence has to wait.");
  }

  base::Message answer() const {
    switch (now_.costOf) {
      case CostOf::score:
        return "The additive score takes one tanh per hidden unit for each pair too, keeps those values, and "
               "is "
               "no product of matrices. Vaswani et al. (2017) "
               "use dot products because they are faster and smaller in practice, and scale them so that "
               "softmax does not saturate where d_k is large.";
      case CostOf::heads:
        return "One head as wide as all of them takes the same multiply-adds and parameters. Heads cost "
               "their "
               "scores: one matrix for each.";
      case CostOf::window:
        return {"With a window the scores grow with n and not with n². At ", amount(tokens_),
                " tokens it is ",
                amount(std::max(here_.scoreNumbers, other_.scoreNumbers) /
                       std::max(1.0, std::min(here_.scoreNumbers, other_.scoreNumbers))),
                " times fewer."};
      case CostOf::recurrent: break;
    }
    return "A recurrent network takes n steps, each waiting for the one before, and keeps one state. "
           "Attention "
           "has no step to wait for, but "
           "its scores grow with n² and what it keeps with n.";
  }

  void draw(const Box& box, std::string_view title, double (*get)(const Cost&)) {
    std::array<std::vector<Point>, 2> lines;
    double low = kMillion * kMillion, high = 1;
    constexpr int kPoints = 25;
    for (int i = 0; i < kPoints; ++i) {
      const double n = std::round(std::pow(kMillion, i / double(kPoints - 1)));
      for (const bool other : {false, true}) {
        const double value = get(cost(n, other));
        if (!(value > 0)) continue;
        low = std::min(low, value), high = std::max(high, value);
        lines[other].push_back({n, value});
      }
    }
    static constexpr double kCounts[] = {1, 10, 100, 1e3, 1e4, 1e5, 1e6};
    const std::vector<double> ticks = powersOfTen(std::min(low, high), high, 6);
    Chart chart(c_, box, title, {1, kMillion, true, kCounts, "tokens"},
                {ticks.front(), ticks.back(), true, ticks, ""});
    chart.mark(tokens_, c_.palette.faint);
    const auto [first, second] = names();
    const ImU32 colors[] = {c_.palette.query, c_.palette.key};
    for (const bool other : {true, false}) {
      if (lines[other].size() > 1) chart.line(lines[other], colors[other], other ? 2.2f : 3.2f);
      if (const double here = get(other ? other_ : here_); here > 0) {
        const Point at[] = {{tokens_, here}};
        chart.dots(at, colors[other]);
      }
    }
    chart.legend(lines[1].empty() ? base::message({second, ": none"}) : second, colors[1]);
    chart.legend(lines[0].empty() ? base::message({first, ": none"}) : first, colors[0]);
  }

  Context& c_;
  const document::ExperimentOptions& now_;
  double tokens_;
  Cost here_, other_;
};

}  // namespace

float costPage(Context& c, const Box& area) { return drawExperiment<CostView>(c, area); }

}  // namespace views
