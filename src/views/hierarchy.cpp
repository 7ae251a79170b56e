// Hierarchical attention, a page of the experiments: the layer's outputs in segments, both levels of weights as bars.
#include <algorithm>

#include "views/lab_page.h"
#include "views/panels.h"

namespace views {
namespace {

using document::OptionId;
using document::SegmentBy;

class SegmentsView {
 public:
  SegmentsView(Context& c, const Box& area)
      : c_(c), area_(area), list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    LabColumn left = firstColumn(c_, area_);
    controls(left);
    run_ = &c_.around.segments();
    answer(left);
    parameters(left);
    LabColumn right = secondColumn(c_, area_, left);
    for (int s = 0; s < static_cast<int>(run_->starts.size()); ++s) segment(right, s);
    return std::max(left.y(), right.y());
  }

 private:
  void controls(LabColumn& column) {
    static constexpr std::string_view kSplits[] = {"every n tokens", "punctuation"};
    const document::SegmentOptions& now = c_.state.segments;
    column.question("How does attention sum up a whole text?");
    setChoice(c_, OptionId::segment_by, column.choice("segment_by", "Segments end", kSplits, static_cast<int>(now.by)));
    if (now.by == SegmentBy::tokens) {
      const int more = column.stepper("segment_tokens", "Tokens in each", std::to_string(now.tokens), now.tokens > 1,
                                      now.tokens < c_.state.tokens);
      if (more != 0) set(c_, OptionId::segment_tokens, static_cast<double>(now.tokens + more));
    }
    if (column.button("segment_seed", "Draw other queries")) setNextSeed(c_, OptionId::segment_seed, now.seed);
    column.gap(6);
  }

  std::string label(int token) const {
    const auto i = static_cast<std::size_t>(token);
    return i < c_.state.labels.size() ? c_.state.labels[i] : std::to_string(token + 1);
  }
  static std::string number(float value) { return formatNumber(static_cast<double>(value), 2); }

  void answer(LabColumn& column) {
    const auto& shares = run_->trace.shares.values();
    const int most = static_cast<int>(std::max_element(shares.begin(), shares.end()) - shares.begin());
    const int s = attention::segmentOf(run_->starts, most);
    column.sentence("A learned query weighs the tokens of each segment, another the segments; both are drawn or "
                    "set here, not learned.");
    column.sentence("u = tanh(W h + b), a = softmax(u · query), h the layer's output.");
    column.sentence("Most of the whole is " + label(most) + ": " + number(run_->trace.tokens.weights.at(0, most, 0)) +
                    " of segment " + std::to_string(s + 1) + ", which is " +
                    number(run_->trace.segments.weights.at(0, s, 0)) +
                    " of all: " + number(shares[static_cast<std::size_t>(most)]) + ".");
  }

  void parameters(LabColumn& column) {
    using Id = document::ParameterId;
    column.gap(8);
    column.sentence("What it would learn; drag a number or type it.");
    for (const Id id : {Id::token_query, Id::segment_query, Id::token_w, Id::token_b, Id::segment_w, Id::segment_b}) {
      drawParameter(c_, column, id, 200);
    }
  }

  void bar(const Box& row, ImFont* face, const std::string& words, float weight, ImU32 color) {
    const float left = row.x + std::min(120.0f, row.width * 0.32f), longest = row.right() - left - 48;
    const float wide = std::max(2.0f, longest * weight);
    textRight(list_, face, left - 10, row.midY(), c_.palette.text, elide(face, words, left - row.x - 12));
    list_->AddRectFilled({left, row.midY() - 8}, {left + wide, row.midY() + 8}, color, 2);
    textMiddle(list_, c_.fonts.monoSmall, left + wide + 8, row.midY(), c_.palette.text, number(weight));
  }

  void segment(LabColumn& column, int s) {
    const auto next = static_cast<std::size_t>(s) + 1;
    const int begin = run_->starts[next - 1];
    const int end = next < run_->starts.size() ? run_->starts[next] : run_->h.rows();
    const Box head = column.take(28);
    c_.places["segment:" + std::to_string(s)] = head;
    bar(head, c_.fonts.strong, "Segment " + std::to_string(s + 1), run_->trace.segments.weights.at(0, s, 0),
        c_.palette.weight);
    for (int t = begin; t < end; ++t) {
      const Box row = column.take(24);
      c_.places["token:" + std::to_string(t)] = row;
      if (!ImGui::IsRectVisible({row.x, row.y}, {row.right(), row.bottom()})) continue;
      bar(row, c_.fonts.text, label(t), run_->trace.tokens.weights.at(0, t, 0), withAlpha(c_.palette.weight, 0.4f));
    }
    column.gap(12);
  }

  Context& c_;
  Box area_;
  ImDrawList* list_;
  const document::SegmentsRun* run_ = nullptr;
};

}  // namespace

float segmentsPage(Context& c, const Box& area) { return SegmentsView(c, area).draw(); }

}  // namespace views
