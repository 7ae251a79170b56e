// How far back a recurrent network remembers: on the sentence of the board, and over longer distances.
#include <algorithm>
#include <cmath>
#include <span>

#include "attention/layer/explanation_format.h"
#include "views/guide/guide_page.h"
#include "views/pages/chart.h"
#include "views/pages/experiment_page.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using attention::Reach;
using attention::Tensor;
using attention::explanation_format::subscript;
using document::OptionId;
using document::ParameterId;

class MemoryView {
 public:
  static constexpr std::string_view kTitle =
      "How far back does a recurrent network remember, and attention reach?";

  static bool isThere(Context& c) { return c.derived.memorySoon() != nullptr; }
  static const document::MemoryRun& numbers(Context& c) {
    static const document::MemoryRun none;
    return isThere(c) ? *c.derived.memorySoon() : none;
  }
  explicit MemoryView(Context& c)
      : c_(c),
        now_(c.state.experiments.reach),
        own_(c.state.experiments.memory),
        run_(numbers(c)),
        shown_(tokensShown(c)),
        reach_(c.derived.experiments.reach()) {}

  void controls(PageColumn& column) {
    static constexpr std::string_view kCells[] = {"tanh", "LSTM"};
    column.question("Reading this sentence");
    setChoice(c_, OptionId::memory_cell,
              column.choice("memory_cell", "", kCells, static_cast<int>(own_.cell)));
    const int more = column.stepper("memory_units", "Numbers in h", std::to_string(own_.units),
                                    own_.units > 1, own_.units < document::kMaxMemoryUnits);
    if (more != 0) set(c_, OptionId::memory_units, static_cast<double>(own_.units + more));
    if (column.button("memory_seed", "Draw other weights")) setNextSeed(c_, OptionId::memory_seed, own_.seed);
    const int words = column.stepper("memory_words", "Words written", std::to_string(own_.words),
                                     own_.words > 1, own_.words < document::kMaxMemoryWords);
    if (words != 0) set(c_, OptionId::memory_words, static_cast<double>(own_.words + words));
    chooseTokens(c_, column, shown_);
    column.gap(10);
    column.question("Reading a longer one");
    column.number(OptionId::reach_tokens, "slider:steps", "Tokens", {8, attention::ReachSpec::longest, 1, 0});
    column.number(OptionId::reach_recurrent, "slider:recurrent", "Recurrent", {0.5, 1.5, 100, 2});
    column.number(OptionId::reach_input, "slider:input", "Input", {0, 2, 20, 2});
    column.number(OptionId::reach_lead, "slider:lead", "Lead", {0, 10, 10, 1});
    column.number(OptionId::reach_forget, "slider:forget", "Forget gate", {-2, 6, 80, 1});
    if (column.button("lab:draw", "Draw again")) setNextSeed(c_, OptionId::reach_seed, now_.seed);
  }

  void words(PageColumn& column) {
    column.gap(6);
    const Reach& last = reach_.back();
    column.numbers("tokens between", std::to_string(last.distance));
    column.numbers("recurrent", small(last.recurrent));
    column.numbers("LSTM, its memory", small(last.lstm));
    column.numbers("attention, score leads", small(last.attentionGradient));
    column.numbers("attention, scores equal", small(last.evenGradient));
    column.gap(10);
    column.sentence(
        base::message({"Both are gradients: how much of a change of the first state is left in the "
                       "last one, and in the sum that attention "
                       "makes of all states. Every step of the network multiplies by its Jacobian, "
                       "so that the one vanishes or explodes. "
                       "Attention has one step to any state: what it leaves falls with the number of "
                       "tokens only, and a score that leads by ",
                       fixed(now_.lead, 1), " outweighs ", fixed(std::exp(now_.lead), 0), " others."}));
    column.gap(6);
    column.sentence(
        base::message({"Of the LSTM it is the memory c, the first in the last. A step keeps the share of it "
                       "that the forget gate lets through, and adds what comes back through h. From the bias "
                       "alone, that share is ",
                       fixed(1 / (1 + std::exp(-now_.forget))), "."}));
  }

  void pictures(PageColumn& column) {
    const bool isAsked =
        isOfStep(c_, "reach:curve");  // then a beginner need not pass what is not asked about
    if (isAsked) farther(column);
    reading(column);
    handedOn(column);
    writing(column);
    overWords(column);
    if (!isAsked) farther(column);
  }

 private:
  struct Curve {
    std::string_view name;
    ImU32 color;
    std::vector<Point> points;
  };

  // Within the sentence of the board.
  void overWords(PageColumn& column) {
    const auto& g = run_.trace.gradients;
    Curve curves[] = {{"fixed context", c_.palette.key, {}}, {"attention", c_.palette.query, {}}};
    constexpr int kMostPoints = 256;  // more are not to be told apart
    const int step = (g.rows() + kMostPoints - 1) / kMostPoints;
    for (int t = g.rows() - 1; t >= 0; t -= step) {
      for (const int way : {0, 1})
        curves[way].points.push_back({double{g.at(0, t, 0)}, double{g.at(0, t, way + 1)}});
    }
    column.openCard();
    gradients(column, "What a change of a word does to the context", "tokens after it", curves, step == 1);
    column.closeCard();
  }

  // Over longer distances.
  void farther(PageColumn& column) {
    Curve far[] = {{"recurrent", c_.palette.key, {}},
                   {"LSTM", c_.palette.value, {}},
                   {"attention", c_.palette.query, {}},
                   {"equal scores", c_.palette.faint, {}}};
    for (const Reach& r : reach_) {
      const double values[] = {r.recurrent, r.lstm, r.attentionGradient, r.evenGradient};
      for (std::size_t i = 0; i < std::size(far); ++i)
        far[i].points.push_back({double(r.distance), values[i]});
    }
    column.openCard();
    const float top = column.y();
    gradients(column, "What is left of a change of the first state", "tokens between them", far, false);
    c_.widgetRects["reach:curve"] = {column.take(0).x, top, column.width(), column.y() - top};
    column.closeCard();
  }

  static constexpr std::uint32_t kSlot = 6000;

  PageMatrix matrix(const Tensor& tensor, std::string_view name, std::string_view before,
                    bool tokens = true) {
    PageMatrix m;
    m.slot = kSlot + slot_++, m.tensor = &tensor, m.name = name, m.before = before, m.rowsAreTokens = tokens;
    if (tokens) m.onlyRows = shown_;
    return m;
  }

  void reading(PageColumn& column) {
    const attention::RecurrentTrace& t = run_.trace.cell;
    const bool isLstm = !t.gates.empty();  // the options may be others already
    column.openCard("The network reads one word after the other");
    column.sentence(isLstm ? "z = x·W + h·U + b with the h of the word before; i, f, o = sigmoid(z) and g = "
                             "tanh(z) of their parts; "
                             "c = f × the c before + i × g; h = o × tanh(c)."
                           : "h = tanh(x·W + h·U + b), with the h of the word before.");
    if (run_.given)
      column.sentence(
          "The words are the rows of Q, all heads side by side; with the input X · W they are those of X.");
    std::vector<PageMatrix> line{
        matrix(run_.x, run_.given ? "q" : "x", ""), parameterMatrix(c_, ParameterId::memory_w, "·"),
        parameterMatrix(c_, ParameterId::memory_u, "+ h ·"), parameterMatrix(c_, ParameterId::memory_b, "+")};
    if (isLstm) {
      line[1].groups = line[2].groups = line[3].groups = 4;
      line.push_back(matrix(t.gates, "i, f, g, o", "→"));
      line.back().groups = 4, line.back().place = "memory:gates";
      line.push_back(matrix(t.memory, "c", "→"));
      line.back().place = "memory:cells";
    }
    line.push_back(matrix(t.states, "h", isLstm ? "→" : "tanh →"));
    line.back().place = "memory:states";
    drawEquation(c_, column, c_.revision, line);
    column.closeCard();
  }

  void handedOn(PageColumn& column) {
    const attention::MemoryTrace& t = run_.trace;
    const int tokens = t.cell.states.rows();
    column.openCard("What is handed on: one fixed vector, or all states");
    column.sentence(
        "A decoder without attention has only the last state of the encoder for the "
        "whole sentence (Sutskever et al. 2014). "
        "Attention looks at all states with weights a = softmax(tanh(h_T·W_a + "
        "h·U_a)·v_a), where h_T, the last one, asks once.");
    PageMatrix one[] = {matrix(run_.fixed, "fixed context, the last h", "", false)};
    one[0].place = "memory:contexts";
    drawEquation(c_, column, c_.revision, one);
    PageMatrix all[] = {matrix(t.cell.states, "h", ""),
                        parameterMatrix(c_, ParameterId::memory_u_a, "·"),
                        parameterMatrix(c_, ParameterId::memory_w_a, "+ h_T ·"),
                        parameterMatrix(c_, ParameterId::memory_v_a, "tanh ·"),
                        matrix(t.weights, "a", "softmax"),
                        matrix(run_.attended, "context", "Σ a·h =", false)};
    all[4].cells = Cells::weights, all[4].place = "memory:weights";
    drawEquation(c_, column, c_.revision, all);
    const float* w = t.weights.data();
    const int most = static_cast<int>(std::max_element(w, w + tokens) - w);
    column.sentence(
        base::message({"Here the weights go from ", fixed(double{*std::min_element(w, w + tokens)}), " to ",
                       fixed(double{w[most]}), ", for ", c_.state.labels[static_cast<std::size_t>(most)],
                       "; the fixed vector has all of its weight on the last word."}));
    column.closeCard();
  }

  void writing(PageColumn& column) {
    const attention::DecoderTrace& t = run_.trace.decoder;
    column.openCard("A decoder that asks anew for each word");
    column.sentence(
        "Each row of a is one word that is written: y₁, y₂ … Its query is the decoder's state s "
        "before it, with the matrices of the score above: a = softmax(tanh(s·W_a + "
        "h·U_a)·v_a). The context c = a·h makes the next state, tanh(c·C + s·U_s), "
        "and that is the query of the next word (Bahdanau et al. 2015). The first "
        "query is the last state of the encoder. The decoder of the paper also has "
        "gates, and reads the word that it wrote last.");
    std::vector<std::string> words;
    for (int i = 0; i < t.weights.rows(); ++i) words.push_back("y" + subscript(i + 1));
    PageMatrix line[] = {matrix(t.weights, "a", ""), matrix(t.contexts, "c", "· h ="),
                         parameterMatrix(c_, ParameterId::decoder_c, "·"),
                         parameterMatrix(c_, ParameterId::decoder_u, "+ s ·"),
                         matrix(t.states, "s", "tanh →")};
    for (PageMatrix* m : {&line[0], &line[1], &line[4]}) m->rows = words, m->onlyRows = {};
    line[0].columns = c_.state.labels, line[0].onlyCols = shown_;
    line[0].cells = Cells::weights, line[0].place = "decoder:weights";
    line[1].place = "decoder:contexts", line[4].place = "decoder:states";
    drawEquation(c_, column, c_.revision, line);
    pick(column, line[0]);
    const attention::Explanation e =
        attention::explain(run_.decoder(), t, c_.view.experiments.word, c_.view.experiments.token,
                           c_.state.labels, c_.state.decimals);
    column.question(e.title());
    for (const attention::Term& term : e.terms) column.term(term.label, term.text);
    column.closeCard();
  }

  /// The weight that is explained: the one under the pointer, or by the keys the next in reading order.
  void pick(PageColumn& column, const PageMatrix& m) {
    int &row = c_.view.experiments.word, &col = c_.view.experiments.token;
    const int rows = m.tensor->rows(), cols = m.tensor->cols();
    row = std::clamp(row, 0, rows - 1), col = std::clamp(col, 0, cols - 1);
    const int at = std::clamp(row * cols + col + column.keys(m.place, m.box).step, 0, rows * cols - 1);
    row = at / cols, col = at % cols;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (ImGui::IsWindowHovered()) m.hit(mouse.x, mouse.y, row, col);
    if (shown_.begin <= col && col < shown_.end) frameCell(c_, m, row, col);
  }

  /// Magnitudes over distance, on a logarithmic axis that covers their range. Says if some are 0.
  void gradients(PageColumn& column, std::string_view title, std::string_view across,
                 std::span<const Curve> curves, bool dotted) {
    double low = 1, high = 1e-300;
    base::Message zeros;
    for (const auto& [name, color, points] : curves) {
      for (const Point& p : points) {
        if (p.y > 0) low = std::min(low, p.y), high = std::max(high, p.y);
      }
      const auto none = std::find_if(points.begin(), points.end(), [](const Point& p) { return !(p.y > 0); });
      if (none == points.end()) continue;
      base::Message one{"From distance ", fixed(none->x, 0), " on nothing is left (", base::Message(name),
                        ")."};
      zeros = zeros.empty() ? std::move(one) : base::message({zeros, " ", one});
    }
    const std::vector<double> ticks = powersOfTen(low, std::max(high, low));
    const double last = std::max(curves[0].points.back().x, 1.0);
    std::vector<double> distances{0};
    for (const double share : {0.25, 0.5, 0.75, 1.0}) {
      if (const double at = std::round(last * share); at > distances.back()) distances.push_back(at);
    }
    Chart chart(c_, column.take(std::clamp(column.width() * 0.45f, 240.0f, 420.0f)), title,
                {0, last, false, distances, across}, {ticks.front(), ticks.back(), true, ticks, ""});
    for (std::size_t i = curves.size(); i-- > 0;) {
      const auto& [name, color, points] = curves[i];
      std::vector<Point> seen;
      std::copy_if(points.begin(), points.end(), std::back_inserter(seen),
                   [](const Point& p) { return p.y > 0; });
      if (seen.size() > 1) chart.line(seen, color, 2.2f);
      if (dotted) chart.dots(seen, color);
      chart.legend(name, color);
    }
    column.gap(8);
    if (!zeros.empty()) column.sentence(zeros);
  }

  Context& c_;
  const attention::ReachSpec& now_;
  const document::MemoryOptions& own_;
  const document::MemoryRun& run_;
  const attention::Span shown_;
  const std::vector<Reach>& reach_;
  std::uint32_t slot_ = 0;
};

}  // namespace

float memoryPage(Context& c, const Box& area) { return drawExperiment<MemoryView>(c, area); }

}  // namespace views
