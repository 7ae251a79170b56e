// Hierarchical attention over the layer's outputs: both levels of weights as bars and as matrix equations.
#include <algorithm>
#include <optional>

#include "attention/models/stages.h"
#include "views/pages/experiment_page.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using document::OptionId;
using document::SegmentBy;

class SegmentsView {
 public:
  SegmentsView(Context& c, const Box& area) : c_(c), area_(area), list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    run_ = c_.derived.segmentsSoon();
    shown_ = tokensShown(c_);
    PageColumn top(c_, area_.x, area_.y, area_.width);
    top.title("How does attention sum up a whole text?");
    top.sentence(
        "A learned query weighs the tokens of each segment, another the segments: u = tanh(h·W + b), a = "
        "softmax(u·query), "
        "s = Σ a·h. Here both are drawn, or set by hand.");
    top.gap(4);
    const Box below = top.below(area_);
    PageColumn left = firstColumn(c_, below);
    left.openCard();
    controls(left);
    if (run_) answer(left);
    left.closeCard();
    PageColumn right = secondColumn(c_, below, left);
    if (!run_) return std::max(left.y(), stillComputes(right));
    right.openCard("Weights of segments and tokens");
    const attention::Span segments = segmentsShown();
    for (int s = segments.begin; s < segments.end; ++s) segment(right, s);
    right.closeCard();
    level(right, attention::Level::tokens);
    level(right, attention::Level::segments);
    classes(right);
    return std::max(left.y(), right.y());
  }

 private:
  static constexpr std::uint32_t kSlot = 5600;

  // h · W + b → u,  u · query → weights,  weights · h = sums
  void level(PageColumn& column, attention::Level level) {
    using Id = document::ParameterId;
    using attention::TensorId;
    const bool tokens = level == attention::Level::tokens;
    const attention::LevelTrace& trace = tokens ? run_->trace.tokens : run_->trace.segments;
    std::uint32_t slot = tokens ? 0 : 10;
    column.openCard(
        attention::stageRow(tokens ? TensorId::token_weights : TensorId::segment_weights).words[0].title);
    const auto matrix = [&](const attention::Tensor& tensor, std::string_view called,
                            std::string_view before) {
      PageMatrix m;
      m.slot = kSlot + slot++, m.tensor = &tensor, m.name = called, m.before = before,
      m.rowsAreTokens = tokens;
      return m;
    };
    PageMatrix equation[] = {
        tokens ? matrix(run_->h, "h", "") : matrix(run_->trace.tokens.sums, "segments", ""),
        parameterMatrix(c_, tokens ? Id::token_w : Id::segment_w, "·"),
        parameterMatrix(c_, tokens ? Id::token_b : Id::segment_b, "+"),
        matrix(trace.hidden, "u", "tanh →"),
        parameterMatrix(c_, tokens ? Id::token_query : Id::segment_query, "·"),
        matrix(trace.weights, "a", "softmax →"),
        matrix(trace.sums, tokens ? "segments" : "whole", "Σ a·h =")};
    equation[5].cells = Cells::weights, equation[5].place = tokens ? "token_weights" : "segment_weights";
    equation[6].rowsAreTokens = false;
    for (const int i : {0, 3, 5}) equation[i].onlyRows = tokens ? shown_ : segmentsShown();
    equation[6].onlyRows = tokens ? segmentsShown() : attention::Span{};
    drawEquation(c_, column, c_.revision, equation);
    column.closeCard();
  }

  // v · W_c + b_c → scores → probabilities
  void classes(PageColumn& column) {
    using Id = document::ParameterId;
    const attention::HierarchyTrace& trace = run_->trace;
    column.openCard("The class of the text");
    column.sentence(
        "The vector of the whole text is the input of a last layer with a column for each "
        "class, and softmax makes probabilities of its scores: p = softmax(v·W_c + "
        "b_c) (Yang et al. 2016, equation 11).");
    PageMatrix equation[] = {whole(20, trace.segments.sums, "v", ""), parameterMatrix(c_, Id::class_w, "·"),
                             parameterMatrix(c_, Id::class_b, "+"),
                             whole(21, trace.classScores, "scores", "="),
                             whole(22, trace.classProbabilities, "p", "softmax →")};
    std::vector<std::string> names;
    for (int i = 0; i < trace.classScores.cols(); ++i)
      names.push_back(hasName(i) ? document::className(c_.state, i).english() : std::to_string(i + 1));
    equation[1].columns = equation[3].columns = equation[4].columns = names;
    equation[3].place = "class_scores";
    equation[4].cells = Cells::weights, equation[4].place = "class_probabilities";
    drawEquation(c_, column, c_.revision, equation);
    column.closeCard();
  }

  static PageMatrix whole(std::uint32_t slot, const attention::Tensor& tensor, std::string_view called,
                          std::string_view before) {
    PageMatrix m;
    m.slot = kSlot + slot, m.tensor = &tensor, m.name = called, m.before = before, m.rowsAreTokens = false;
    return m;
  }

  bool hasName(int index) const {
    const auto at = static_cast<std::size_t>(index);
    return at < c_.state.segments.classes.size() && !c_.state.segments.classes[at].empty();
  }

  void controls(PageColumn& column) {
    static constexpr std::string_view kSplits[] = {"every n tokens", "punctuation"};
    const document::SegmentOptions& now = c_.state.segments;
    setChoice(c_, OptionId::segment_by,
              column.choice("segment_by", "Segments end", kSplits, static_cast<int>(now.by)));
    if (now.by == SegmentBy::tokens) {
      const int more = column.stepper("segment_tokens", "Tokens in each", std::to_string(now.tokens),
                                      now.tokens > 1, now.tokens < c_.state.tokens);
      if (more != 0) set(c_, OptionId::segment_tokens, static_cast<double>(now.tokens + more));
    }
    if (column.button("segment_seed", "Draw other queries"))
      setNextSeed(c_, OptionId::segment_seed, now.seed);
    chooseTokens(c_, column, shown_);
    column.names(OptionId::segment_classes, "Classes", "Names of the classes of the text, between commas");
    column.gap(6);
  }

  std::string label(int token) const {
    const auto i = static_cast<std::size_t>(token);
    return i < c_.state.labels.size() ? c_.state.labels[i] : std::to_string(token + 1);
  }
  /// Of many segments each has little.
  static std::string number(float value) {
    return value < 0.005f ? small(double{value}) : formatNumber(static_cast<double>(value), 2);
  }

  void answer(PageColumn& column) {
    const auto& shares = run_->trace.shares.values();
    const int most = static_cast<int>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    const int s = attention::segmentOf(run_->starts, most);
    column.sentence(
        base::message({"The token that counts most is ", label(most), ": its weight in segment ", s + 1,
                       " is ", number(run_->trace.tokens.weights.at(0, most, 0)),
                       ", and that of the segment is ", number(run_->trace.segments.weights.at(0, s, 0)),
                       "; together ", number(shares[static_cast<std::size_t>(most)]), "."}));
    column.question("The class of the text");
    const attention::Tensor& p = run_->trace.classProbabilities;
    for (int i = 0; i < p.cols(); ++i)
      bar(column.take(24), c_.fonts.text, document::className(c_.state, i), !hasName(i), p.at(0, 0, i),
          c_.palette.weight);
    column.gap(8);
  }

  /// `isOurs`: the words are of the interface, not the reader's.
  void bar(const Box& row, ImFont* face, base::MessageView words, bool isOurs, float weight, ImU32 color) {
    const float left = row.x + std::min(120.0f, row.width * 0.32f), longest = row.right() - left - 48;
    const float wide = std::max(2.0f, longest * weight);
    {
      std::optional<AsIs> asIs;
      if (!isOurs) asIs.emplace();
      textRight(list_, face, left - 10, row.midY(), c_.palette.text, elide(face, words, left - row.x - 12));
    }
    list_->AddRectFilled({left, row.midY() - 8}, {left + wide, row.midY() + 8}, color, 2);
    textMiddle(list_, c_.fonts.monoSmall, left + wide + 8, row.midY(), c_.palette.text, number(weight));
  }

  /// Those of which some tokens are shown.
  attention::Span segmentsShown() const {
    const auto at = [this](int token) { return attention::segmentOf(run_->starts, token); };
    return {at(shown_.begin), at(shown_.end - 1) + 1};
  }

  void segment(PageColumn& column, int s) {
    const auto next = static_cast<std::size_t>(s) + 1;
    const int begin = std::max(run_->starts[next - 1], shown_.begin);
    const int end = std::min(next < run_->starts.size() ? run_->starts[next] : run_->h.rows(), shown_.end);
    const Box head = column.take(28);
    c_.widgetRects["segment:" + std::to_string(s)] = head;
    bar(head, c_.fonts.strong, base::message({"Segment ", s + 1}), true,
        run_->trace.segments.weights.at(0, s, 0), c_.palette.weight);
    for (int t = begin; t < end; ++t) {
      const Box row = column.take(24);
      c_.widgetRects["token:" + std::to_string(t)] = row;
      if (!ImGui::IsRectVisible({row.x, row.y}, {row.right(), row.bottom()})) continue;
      bar(row, c_.fonts.text, label(t), false, run_->trace.tokens.weights.at(0, t, 0),
          withAlpha(c_.palette.weight, 0.4f));
    }
    column.gap(12);
  }

  Context& c_;
  Box area_;
  ImDrawList* list_;
  const document::SegmentsRun* run_ = nullptr;
  attention::Span shown_;
};

}  // namespace

float segmentsPage(Context& c, const Box& area) { return SegmentsView(c, area).draw(); }

}  // namespace views
