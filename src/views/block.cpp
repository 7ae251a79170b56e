// The block around the layer, a page of the experiments: its stages as a chain, each of which opens.
#include <algorithm>
#include <cmath>

#include "document/number.h"
#include "document/sentence.h"
#include "views/lab_page.h"
#include "views/panels.h"

namespace views {
namespace {

using attention::BlockStage;
using attention::Tensor;
using document::OptionId;

constexpr std::uint32_t kSlot = 5100;

class BlockView {
 public:
  BlockView(Context& c, const Box& area)
      : c_(c), lab_(c.view.lab), area_(area), list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    LabColumn left = firstColumn(c_, area_, 232);
    controls(left);
    run_ = &c_.around.block();
    chain_ = attention::chain(run_->spec);
    const bool there = std::any_of(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == lab_.stage; });
    if (!there) lab_.stage = chain_.back().stage;
    note(left);
    LabColumn right = secondColumn(c_, area_, left);
    chips(right);
    stage(right);
    return std::max(left.y(), right.y());
  }

 private:
  void controls(LabColumn& column) {
    static constexpr std::string_view kNorms[] = {"none", "post", "pre"};
    static constexpr std::string_view kActivations[] = {"ReLU", "GELU", "tanh"};
    const document::BlockOptions& now = c_.state.block;
    column.question("What stands around attention in a Transformer?");
    if (column.toggle("block_residual", "Residual", now.residual)) set(c_, OptionId::block_residual, !now.residual);
    const int norm = column.choice("block_norm", "Layer normalisation", kNorms, static_cast<int>(now.norm));
    setChoice(c_, OptionId::block_norm, norm);
    const int activation =
        column.choice("block_activation", "Activation", kActivations, static_cast<int>(now.activation));
    setChoice(c_, OptionId::block_activation, activation);
    const int more = column.stepper("block_hidden", "Hidden width ×", std::to_string(now.hidden), now.hidden > 1,
                                    now.hidden < document::kMaxBlockHidden);
    if (more != 0) set(c_, OptionId::block_hidden, static_cast<double>(now.hidden + more));
    dropout(column);
    epsilon(column);
    if (column.button("block_seed", "Draw weights and drops again")) setNextSeed(c_, OptionId::block_seed, now.seed);
  }

  /// In steps of 0.05. A drag is one step of undo; so is each key.
  void dropout(LabColumn& column) {
    constexpr double kSteps = 20 * document::kMaxBlockDropout;
    const auto now = static_cast<double>(c_.state.block.dropout);
    auto rate = static_cast<float>(now / document::kMaxBlockDropout);
    const auto step = static_cast<float>(1 / kSteps);
    if (!column.slider("slider:block_dropout", "Dropout", formatNumber(now, 2), rate, step)) return;
    set(c_, OptionId::block_dropout, std::round(static_cast<double>(rate) * kSteps) / 20, kSliderGesture);
  }

  /// By powers of ten.
  void epsilon(LabColumn& column) {
    const document::BlockOptions& now = c_.state.block;
    if (now.norm == attention::NormPlace::none) return;
    const double power = std::round(std::log10(static_cast<double>(now.epsilon)));
    const int more =
        column.stepper("block_epsilon", "Epsilon ε", document::shortest(now.epsilon), power > -12, power < 0);
    if (more != 0) set(c_, OptionId::block_epsilon, std::pow(10.0, std::clamp(power + more, -12.0, 0.0)));
  }

  void note(LabColumn& column) {
    const document::BlockOptions& now = c_.state.block;
    if (now.residual && !run_->spec.residual) {
      column.sentence("There is no residual here: what attention gives is not as wide as what goes in.");
    } else if (run_->given) {
      column.sentence(
          now.norm == attention::NormPlace::pre
              ? "Q, K and V are given: Q stands for x, and attention is as it is. In X · W mode it reads norm_1."
              : "Q, K and V are given: Q stands for x.");
    }
  }

  void chips(LabColumn& column) {
    Widgets w(c_);
    const float left = area_.right() - column.width(), top = column.y();
    float x = left;
    Box line = column.take(36);
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      const attention::BlockLink& link = chain_[i];
      const float width = textWidth(c_.fonts.strong, link.title) + 18;
      if (x > left && x + width > line.right()) x = left, line = column.take(36);
      const std::string name = "stage:" + std::string(attention::name(link.stage));
      if (w.button(name, {x, line.y, width, 28}, link.title, link.stage == lab_.stage)) lab_.stage = link.stage;
      x += width;
      if (i + 1 < chain_.size()) textCentered(list_, c_.fonts.text, x + 9, line.y + 14, c_.palette.muted, "→");
      x += 18;
    }
    // The chain is one more control for the keys: left and right walk along it.
    const int step = column.keys("stage", {left, top, column.width(), column.y() - top - 8}).step;
    const auto at = std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == lab_.stage; });
    const auto last = static_cast<std::ptrdiff_t>(chain_.size()) - 1;
    const auto index = std::clamp<std::ptrdiff_t>(at - chain_.begin() + step, 0, last);
    lab_.stage = chain_[static_cast<std::size_t>(index)].stage;
  }

  void stage(LabColumn& column) {
    const auto link = std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == lab_.stage; });
    const Tensor& tensor = run_->trace[lab_.stage];
    const std::string title = document::joined(
        {attention::name(lab_.stage), "  ", document::shapeText({tensor.rows(), tensor.cols()})});
    column.question(link->formula);
    const Box room = column.take(0);
    const LabMatrix m = drawMatrix(c_, kSlot + static_cast<std::uint32_t>(lab_.stage), tensor, 0,
                                   c_.revision, {room.x, room.y, room.width, 300}, false, largest(tensor, 0), title);
    c_.places[document::name(static_cast<document::AroundId>(lab_.stage))] = m.box;
    column.gap(m.box.bottom() - room.y + 12);
    pick(m, tensor);
    explanation(column);
    column.gap(8);
    for (const document::ParameterId id : parametersOf(lab_.stage)) drawParameter(c_, column, id, 220);
  }

  static std::vector<document::ParameterId> parametersOf(BlockStage stage) {
    using Id = document::ParameterId;
    switch (stage) {
      case BlockStage::norm_1: return {Id::gamma_1, Id::delta_1};
      case BlockStage::hidden_raw: return {Id::w_1, Id::b_1};
      case BlockStage::feed_forward: return {Id::w_2, Id::b_2};
      case BlockStage::norm_2: return {Id::gamma_2, Id::delta_2};
      default: return {};
    }
  }

  void pick(const LabMatrix& m, const Tensor& tensor) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    lab_.row = std::clamp(lab_.row, 0, tensor.rows() - 1), lab_.col = std::clamp(lab_.col, 0, tensor.cols() - 1);
    int row = 0, col = 0;
    if (ImGui::IsWindowHovered() && m.hit(mouse.x, mouse.y, row, col)) lab_.row = row, lab_.col = col;
    const float x = m.box.x + m.cell * static_cast<float>(lab_.col);
    const float y = m.box.y + m.cell * static_cast<float>(lab_.row);
    list_->AddRect({x - 1, y - 1}, {x + m.cell + 1, y + m.cell + 1}, c_.palette.text, m.cell >= 20 ? 6.0f : 1.0f, 0, 2);
  }

  void explanation(LabColumn& column) {
    const attention::Explanation e = attention::explain(run_->spec, run_->inputs(), run_->trace, lab_.stage, lab_.row,
                                                        lab_.col, c_.state.labels, c_.state.decimals);
    column.gap(4);
    column.question(e.title);
    for (const attention::Term& term : e.terms) column.term(term.label, term.text);
  }

  Context& c_;
  Lab& lab_;
  Box area_;
  ImDrawList* list_;
  const document::BlockRun* run_ = nullptr;
  std::vector<attention::BlockLink> chain_;
};

}  // namespace

float blockPage(Context& c, const Box& area) { return BlockView(c, area).draw(); }

}  // namespace views
