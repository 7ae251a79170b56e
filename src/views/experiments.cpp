// The experiments: a panel over the board with a page for every question.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "views/chart.h"
#include "views/lab_page.h"
#include "views/panels.h"

namespace views {
namespace {

using attention::Distribution;
using attention::Spread;
using Page = Lab::Page;

std::string fixed(double value, int decimals = 2) { return formatNumber(value, decimals); }

// --- Why divide by √d_k?

constexpr std::size_t kPowers = 11;  // of two, from 1 to 1024
constexpr double kDimTicks[] = {1, 4, 16, 64, 256, 1024};

class SpreadView {
 public:
  explicit SpreadView(Context& c) : c_(c), lab_(c.view.lab), experiments_(c.around.experiments) {}

  void controls(LabColumn& column) {
    attention::SpreadSpec& s = experiments_.spreadSpec;
    column.question("Why are scores divided by √d_k?");
    float at = std::log2(static_cast<float>(s.dim)) / 10;
    if (column.slider("slider:d_k", "d_k", std::to_string(s.dim), at, 0.1f)) {
      s.dim = static_cast<int>(std::lround(std::exp2(at * 10)));
    }
    float mean = static_cast<float>(s.mean + 2) / 4;
    if (column.slider("slider:mean", "Mean μ", fixed(s.mean), mean, 0.0125f)) {
      s.mean = std::round((static_cast<double>(mean) * 4 - 2) * 20) / 20;
    }
    float deviation = static_cast<float>(s.deviation) / 3;
    if (column.slider("slider:deviation", "Deviation σ", fixed(s.deviation), deviation, 1.0f / 60)) {
      s.deviation = std::round(static_cast<double>(deviation) * 3 * 20) / 20;
    }
    if (column.toggle("lab:scaled", "÷ √d_k", lab_.scaled)) lab_.scaled = !lab_.scaled;
    if (column.button("lab:draw", "Draw again")) ++experiments_.spreadSeed;
    at_ = &experiments_.spread();
    curve_ = &experiments_.curve();
  }

  void words(LabColumn& column) {
    column.gap(6);
    table(column);
    column.gap(10);
    answer(column);
  }

  void pictures(LabColumn& column) {
    histogram(column);
    column.gap(14);
    const bool beside = column.width() >= 520;
    const float each = beside ? (column.width() - kColumnGap) / 2 : column.width();
    const Box first = column.take(220);
    deviations({first.x, first.y, each, first.height});
    if (!beside) column.gap(14);
    const Box second = beside ? Box{first.x + each + kColumnGap, first.y, each, first.height} : column.take(220);
    weights(second);
  }

 private:
  const Distribution& chosen() const { return lab_.scaled ? at_->scaled : at_->raw; }
  ImU32 color(bool scaled) const { return scaled ? c_.palette.query : c_.palette.key; }

  void table(LabColumn& column) {
    const Distribution &a = at_->raw, &b = at_->scaled;
    column.numbers("", "q·k", "÷ √d_k");
    column.numbers("mean", fixed(a.mean), fixed(b.mean));
    column.numbers("predicted d·μ²", fixed(a.predictedMean), fixed(b.predictedMean));
    column.numbers("deviation", fixed(a.deviation), fixed(b.deviation));
    column.numbers("predicted", fixed(a.predictedDeviation), fixed(b.predictedDeviation));
    column.numbers("largest weight", fixed(a.largestWeight), fixed(b.largestWeight));
    column.numbers("entropy, bit", fixed(a.entropy), fixed(b.entropy));
  }

  void answer(LabColumn& column) {
    const Distribution &a = at_->raw, &b = at_->scaled;
    column.sentence("The deviation of q·k is √(d·((σ² + μ²)² − μ⁴)): it grows with √d_k, here to " +
                    fixed(a.deviation) + ". Softmax then gives " + fixed(100 * a.largestWeight, 0) +
                    " % to one of 16 keys; after ÷ √d_k, " + fixed(100 * b.largestWeight, 0) + " %.");
  }

  void histogram(LabColumn& column) {
    const Distribution& d = chosen();
    const Distribution& other = lab_.scaled ? at_->raw : at_->scaled;
    const double reach = std::max(1e-6, d.high - d.low);
    const double step = static_cast<double>(niceBound(static_cast<float>(reach))) / 5;
    std::vector<double> ticks;
    for (double at = std::ceil(d.low / step) * step; at <= d.low + reach; at += step) ticks.push_back(at);
    Chart chart(c_, column.take(230), "2048 scores, each kind as high as the chart",
                {d.low, d.low + reach, false, ticks, "score"}, {0, 1, false, {}, ""});
    chart.bars(other.counts, other.low, other.high, withAlpha(color(!lab_.scaled), 0.3f));
    chart.bars(d.counts, d.low, d.high, withAlpha(color(lab_.scaled), 0.8f));
    for (const double sign : {-1.0, 1.0}) chart.mark(d.predictedMean + sign * d.predictedDeviation, c_.palette.text);
    chart.legend("÷ √d_k", color(true));
    chart.legend("q·k", color(false));
  }

  template <class Get>
  std::array<Point, kPowers> points(Get get) const {
    std::array<Point, kPowers> out{};
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = {static_cast<double>((*curve_)[i].dim), get((*curve_)[i])};
    return out;
  }

  void deviations(const Box& box) {
    static constexpr double ticks[] = {0.01, 0.1, 1, 10, 100, 1000};
    const double low = std::max(1e-3, std::min(0.5, 0.5 * curve_->front().scaled.predictedDeviation));
    const double high = std::max(2.0, 2 * curve_->back().raw.predictedDeviation);
    const auto first = std::lower_bound(std::begin(ticks), std::end(ticks), low);
    const auto last = std::upper_bound(std::begin(ticks), std::end(ticks), high);
    Chart chart(c_, box, "Deviation", {1, 1024, true, kDimTicks, "d_k"},
                {low, high, true, {first, last}, ""});
    chart.mark(experiments_.spreadSpec.dim, c_.palette.faint);
    for (const bool scaled : {false, true}) {
      const auto of = [scaled](const Spread& s) -> const Distribution& { return scaled ? s.scaled : s.raw; };
      chart.line(points([&](const Spread& s) { return of(s).predictedDeviation; }), withAlpha(color(scaled), 0.6f),
                 1.4f);
      chart.dots(points([&](const Spread& s) { return of(s).deviation; }), color(scaled));
    }
    chart.legend("line: predicted", c_.palette.faint);
  }

  void weights(const Box& box) {
    static constexpr double ticks[] = {0, 0.25, 0.5, 0.75, 1};
    Chart chart(c_, box, "Largest of 16 weights", {1, 1024, true, kDimTicks, "d_k"}, {0, 1, false, ticks, ""});
    chart.mark(experiments_.spreadSpec.dim, c_.palette.faint);
    for (const bool scaled : {false, true}) {
      const auto line = points([&](const Spread& s) { return (scaled ? s.scaled : s.raw).largestWeight; });
      chart.line(line, withAlpha(color(scaled), 0.6f), 1.4f);
      chart.dots(line, color(scaled));
    }
  }

  Context& c_;
  Lab& lab_;
  document::Experiments& experiments_;
  const Spread* at_ = nullptr;
  const std::vector<Spread>* curve_ = nullptr;
};

// --- Attention beside a fully connected layer

class WeightsView {
 public:
  explicit WeightsView(Context& c) : c_(c), spec_(c.around.experiments.comparisonSpec) {}

  void controls(LabColumn& column) {
    static constexpr std::string_view kMoved[] = {"V", "Q and K", "all"};
    attention::ComparisonSpec& s = spec_;
    const int rows = std::min(c_.trace.q.rows(), c_.trace.k.rows());
    c_.around.comparison();  // brings the token to those that there are
    column.question("What sets attention apart from a fully connected layer?");
    s.token +=
        column.stepper("lab:token", "Token that moves", std::to_string(s.token + 1), s.token > 0, s.token + 1 < rows);
    float amount = static_cast<float>(s.amount) / 3;
    if (column.slider("slider:amount", "By", fixed(s.amount), amount, 1.0f / 30)) {
      s.amount = std::round(static_cast<double>(amount) * 30) / 10;
    }
    const int moved = column.choice("lab:moved", "What of it moves", kMoved, static_cast<int>(s.moved));
    if (moved >= 0) s.moved = static_cast<attention::Moved>(moved);
    if (column.button("lab:draw", "Draw again")) ++s.seed;
    result_ = &c_.around.comparison();
  }

  void words(LabColumn& column) {
    column.gap(10);
    const bool onlyValues = spec_.moved == attention::Moved::values;
    column.sentence(
        onlyValues ? "Both are sums of values. As long as only values move, the weights stay and the outputs agree."
                   : "Both are sums of values. When queries and keys move, attention weighs anew, and the fully "
                     "connected layer keeps the weights that it learned.");
    column.numbers(result_->fixed.heads() > 1 ? "largest difference of all heads" : "largest difference",
                   fixed(result_->difference, 4));
    column.gap(8);
    const int rows = c_.trace.v.rows(), cols = c_.trace.v.cols();
    column.sentence("From " + std::to_string(rows) + " tokens of " + std::to_string(cols) +
                    (cols == 1 ? " number" : " numbers") + " a fully connected layer has " +
                    std::to_string(result_->connectedWeights) + " weights, all learned; attention computes " +
                    std::to_string(result_->attentionWeights) +
                    (cols == 1 ? ", as many, because d_v is 1."
                               : ", the same for all numbers of a value. With d_v = 1 both have as many."));
  }

  void pictures(LabColumn& column) {
    const int head = std::min(c_.state.focusHead, result_->fixed.heads() - 1);
    const bool beside = column.width() >= 420;
    const float each = beside ? (column.width() - kColumnGap) / 2 : column.width(), high = 300;
    const std::uint64_t version = c_.around.experiments.comparisonVersion() << 8 | static_cast<std::uint64_t>(head);
    float most = 0;
    const auto draw = [&](std::uint32_t slot, const attention::Tensor& t, const Box& room, bool weights,
                          const char* title) {
      const LabMatrix m = drawMatrix(c_, kSlot + slot, t, head, version, room, weights, most, title);
      return m.box.bottom() - room.y + 16;
    };
    const auto pair = [&](std::uint32_t slot, const attention::Tensor& a, const attention::Tensor& b, bool weights,
                          const char* left, const char* right) {
      const Box box = column.take(0);
      if (!weights) most = std::max(largest(a, head), largest(b, head));  // one scale, as they are compared
      float used = draw(slot, a, {box.x, box.y, each, high}, weights, left);
      if (!beside) column.gap(used), used = draw(slot + 1, b, {box.x, column.y(), each, high}, weights, right);
      else used = std::max(used, draw(slot + 1, b, {box.x + each + kColumnGap, box.y, each, high}, weights, right));
      column.gap(used);
    };
    pair(0, result_->fixed, result_->following, true, "Fully connected: fixed weights",
         "Attention: weights that follow");
    pair(2, result_->connected, result_->attended, false, "Its output", "Its output");
  }

 private:
  static constexpr std::uint32_t kSlot = 5000;
  Context& c_;
  attention::ComparisonSpec& spec_;
  const attention::Comparison* result_ = nullptr;
};

// --- What is left of an early token?

class ReachView {
 public:
  explicit ReachView(Context& c) : c_(c), experiments_(c.around.experiments) {}

  void controls(LabColumn& column) {
    attention::ReachSpec& s = experiments_.reachSpec;
    column.question("How far back does a recurrent network remember, and attention reach?");
    float steps = static_cast<float>(s.steps - 8) / 248;
    if (column.slider("slider:steps", "Tokens", std::to_string(s.steps), steps, 8.0f / 248)) {
      s.steps = 8 + static_cast<int>(std::lround(steps * 248));
    }
    tenths(column, "slider:recurrent", "Recurrent", s.recurrent, 0.5, 1.5, 100);
    tenths(column, "slider:input", "Input", s.input, 0, 2, 20);
    tenths(column, "slider:lead", "Lead", s.lead, 0, 10, 10);
    if (column.button("lab:draw", "Draw again")) ++s.seed;
    result_ = &experiments_.reach();
  }

  void words(LabColumn& column) {
    const attention::ReachSpec& s = experiments_.reachSpec;
    column.gap(6);
    const attention::Reach& last = result_->back();
    column.numbers("tokens between", std::to_string(last.distance));
    column.numbers("recurrent: ‖∂h_n/∂h_1‖", fixed(last.recurrent, 6));
    column.numbers("attention, score leads", fixed(last.attention, 4));
    column.numbers("attention, scores equal", fixed(last.even, 4));
    column.gap(10);
    column.sentence("Every step multiplies what is left of the first state by its Jacobian, so it vanishes or explodes "
                    "with distance. Attention has one step to any token: its weight falls with the number of tokens "
                    "only, and a score that leads by " +
                    fixed(s.lead, 1) + " outweighs " + fixed(std::exp(s.lead), 0) + " others.");
  }

  void pictures(LabColumn& column) {
    // As many powers of ten as the curve needs upwards: a network that explodes does not stop at a limit of the chart.
    double high = 1;
    for (const attention::Reach& r : *result_) {
      if (std::isfinite(r.recurrent)) high = std::max(high, r.recurrent);
    }
    std::vector<double> ticks;
    const int most = static_cast<int>(std::ceil(std::log10(high) - 1e-9)), step = std::max(1, (most + 6 + 8) / 9);
    for (int power = -6; power <= most + step - 1; power += step) ticks.push_back(std::pow(10.0, power));
    high = std::max(high, ticks.back());
    const double last = result_->back().distance;
    const double distances[] = {0, std::round(last / 4), std::round(last / 2), std::round(last * 3 / 4), last};
    Chart chart(c_, column.take(std::clamp(column.width() * 0.6f, 240.0f, 420.0f)),
                "What the last token has of the first", {0, last, false, distances, "tokens between them"},
                {1e-6, high, true, ticks, ""});
    const auto line = [&](double attention::Reach::*value, ImU32 color) {
      std::vector<Point> points;
      for (const attention::Reach& r : *result_) points.push_back({static_cast<double>(r.distance), r.*value});
      chart.line(points, color, 2.2f);
    };
    line(&attention::Reach::even, c_.palette.faint);
    line(&attention::Reach::recurrent, c_.palette.key);
    line(&attention::Reach::attention, c_.palette.query);
    chart.legend("equal", c_.palette.faint);
    chart.legend("attention", c_.palette.query);
    chart.legend("recurrent", c_.palette.key);
  }

 private:
  /// A slider from `low` to `high` whose values are multiples of 1 / `parts`.
  static void tenths(LabColumn& column, std::string_view name, std::string_view label, double& value, double low,
                     double high, int parts) {
    float at = static_cast<float>((value - low) / (high - low));
    const auto step = static_cast<float>(1 / (parts * (high - low)));
    if (!column.slider(name, label, fixed(value), at, step)) return;
    value = std::round((low + static_cast<double>(at) * (high - low)) * parts) / parts;
  }

  Context& c_;
  document::Experiments& experiments_;
  const std::vector<attention::Reach>* result_ = nullptr;
};

// --- The panel

/// A page: pictures beside controls and words, or between them.
template <class View>
float page(Context& c, const Box& area) {
  View view(c);
  LabColumn left = firstColumn(c, area);
  const bool beside = left.width() < area.width;
  view.controls(left);
  if (beside) view.words(left);
  LabColumn right = secondColumn(c, area, left);
  view.pictures(right);
  if (!beside) view.words(right);
  return std::max(left.y(), right.y());
}

float openPage(Context& c, const Box& area) {
  switch (c.experiment()) {
    case Page::none: break;
    case Page::spread: return page<SpreadView>(c, area);
    case Page::weights: return page<WeightsView>(c, area);
    case Page::reach: return page<ReachView>(c, area);
    case Page::block: return blockPage(c, area);
    case Page::segments: return segmentsPage(c, area);
  }
  return area.y;
}

void tabs(Context& c, const Box& row) {
  static constexpr std::string_view kLong[] = {"Spread of scores", "Fixed or following", "Reach", "Block", "Segments"};
  static constexpr std::string_view kShort[] = {"Spread", "Weights", "Reach", "Block", "Segments"};
  const auto& names = row.width >= 560 ? kLong : kShort;
  Widgets w(c);
  ImGui::GetWindowDrawList()->AddRect({row.x, row.y}, {row.right(), row.bottom()}, c.palette.border, 5);
  float words = 0, x = row.x;
  for (const std::string_view name : names) words += textWidth(c.fonts.text, name);
  const float pad = (row.width - words) / Lab::kPages;
  for (int i = 0; i < Lab::kPages; ++i) {
    const float width = textWidth(c.fonts.text, names[i]) + pad;
    if (w.segment("lab:" + std::to_string(i + 1), {x, row.y, width, row.height}, names[i],
                  static_cast<int>(c.experiment()) == i + 1)) {
      showPage(c, static_cast<Page>(i + 1));
    }
    x += width;
  }
}

void body(Context& c, const Box& area) {
  Lab& lab = c.view.lab;
  ImGui::SetCursorScreenPos({area.x, area.y});
  ImGui::BeginChild("##lab-page", {area.width, area.height}, 0, ImGuiWindowFlags_NoNav);
  sharp(ImGui::GetWindowDrawList());
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  lab.walk.begin();
  if (std::exchange(lab.walk.released, false)) c.wishes.endGesture = true;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) lab.cell.on = false;
  const float margin = area.width < 480 ? 16.0f : 22.0f;
  const float bottom = openPage(c, {origin.x + margin, origin.y + 10, area.width - 2 * margin, 0});
  ImGui::SetCursorScreenPos({origin.x, bottom + 14});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, lab.page);
  lab.page.update(area);
  lab.walk.end();
  ImGui::EndChild();
}

}  // namespace

void showPage(Context& c, Lab::Page page) {
  c.wishes.endGesture = true;  // a slider that goes with its page does not see the button let go
  setChoice(c, document::OptionId::experiment, static_cast<int>(page));
}

void experiments(Context& c) {
  Lab& lab = c.view.lab;
  const Page page = c.experiment();
  if (page == Page::none) return;
  if (page != std::exchange(lab.last, page)) lab.walk = {}, lab.cell.on = false;
  lab.walk.on = true;
  const ImVec2 size = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const float width = std::min(1000.0f, size.x - 24);
  const float height = std::min(width < 560 ? size.y : 680.0f, size.y - 24);
  const Box& box = lab.box = {std::floor((size.x - width) / 2), std::floor((size.y - height) / 2), width, height};
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  if (!c.view.text && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup)) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 10);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, 8);
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarRounding, 4);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, c.palette.border);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarBg, c.palette.panel);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrab, withAlpha(c.palette.faint, 0.35f));
  ImGui::Begin("##experiments", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  const float margin = width < 480 ? 16.0f : 22.0f;
  textMiddle(sharp(ImGui::GetWindowDrawList()), c.fonts.title, box.x + margin, box.y + 28, c.palette.text,
             "Experiments");
  const Box close{box.right() - margin - 30, box.y + 14, 30, 28};
  if (Widgets(c).icon("lab-close", close, Widgets::Icon::close)) showPage(c, Page::none);
  tabs(c, {box.x + margin, box.y + 54, width - 2 * margin, 28});
  body(c, {box.x, box.y + 90, width - 2, height - 92});
  const bool away = ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box.contains(mouse.x, mouse.y) &&
                    !c.layout.header.contains(mouse.x, mouse.y);
  if (away) showPage(c, Page::none);
  ImGui::End();
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(4);
}

bool experimentsKeys(Context& c) {
  Lab& lab = c.view.lab;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl || io.KeySuper) {
    if (pressed(ImGuiKey_Z)) return c.wishes.ask(io.KeyShift ? Command::redo : Command::undo), true;
    if (pressed(ImGuiKey_Y)) return c.wishes.ask(Command::redo), true;
  }
  if (lab.cell.on && lab.cell.readKeys()) return true;
  if (lab.walk.readKeys()) return lab.cell.on = false, true;
  for (const ImWchar ch : ImGui::GetIO().InputQueueCharacters) {
    if (ch >= '1' && ch < '1' + Lab::kPages) return showPage(c, static_cast<Page>(ch - '0')), true;
    if (ch == 'e') return showPage(c, Page::none), true;
  }
  return pressed(ImGuiKey_Escape) && (showPage(c, Page::none), true);
}

bool experimentsUseKey(const Context& c, ImGuiKey key, bool command, bool alt) {
  const bool cell = c.view.lab.cell.on, arrow = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow;
  if (cell && arrow) return true;
  if (command) return key == ImGuiKey_Z || key == ImGuiKey_Y;
  if (alt) return false;
  if (cell && isNumberKey(key)) return true;
  const bool digit = key >= ImGuiKey_1 && key < ImGuiKey_1 + Lab::kPages;
  return digit || Walk::uses(key) || key == ImGuiKey_Escape || key == ImGuiKey_E;
}

}  // namespace views
