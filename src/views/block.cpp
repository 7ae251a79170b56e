// The block around the layer, a page of the experiments: its stages as a chain, each of which opens.
#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/forward.h"
#include "views/lab_page.h"
#include "views/panels.h"

namespace views {
namespace {

using attention::BlockStage;
using attention::NormPlace;
using attention::Tensor;

constexpr std::uint32_t kSlot = 5100;
constexpr int kWidestExpansion = 8;

/// Q's heads side by side.
Tensor joined(const Tensor& q) {
  Tensor out(1, q.rows(), q.heads() * q.cols());
  for (int h = 0; h < q.heads(); ++h) {
    for (int r = 0; r < q.rows(); ++r) std::copy_n(q.row(h, r), q.cols(), out.row(0, r) + h * q.cols());
  }
  return out;
}

/// The layer's output where it reads `x` instead of its own x, positions and all.
Tensor outputOf(const Context& c, const Tensor& x) {
  attention::Spec spec = c.spec;
  attention::Inputs inputs = c.inputs;
  if (const Tensor* positioned = c.tensor(TensorId::x_kv_positioned)) inputs.xKv = positioned;
  if (spec.position == attention::Position::sinusoidal) spec.position = attention::Position::none;
  inputs.x = &x;
  attention::Trace trace;
  attention::forward(spec, inputs, trace);
  return std::move(trace.output);
}

BlockRun run(const Context& c, const BlockPage& page) {
  BlockRun out;
  out.spec = page.spec;
  out.attended = c.trace.output;
  out.spec.rows = out.attended.rows(), out.spec.width = out.attended.cols();
  out.spec.hidden = std::min(out.spec.width * page.expansion, attention::BlockLimits::hidden);
  const Tensor* positioned = c.tensor(TensorId::x_positioned);
  const Tensor* x = positioned ? positioned : c.tensor(TensorId::x);
  out.given = x == nullptr;
  out.x = x ? *x : joined(c.trace.q);
  const bool fits = out.x.sameShape(out.attended);
  if (!fits) out.spec.residual = false;
  if (!fits && out.spec.norm == NormPlace::pre) out.spec.norm = NormPlace::none;
  // Of variance 1 / rows, so that what goes through keeps its size.
  const auto weights = [&](int rows, int cols, std::uint64_t matrix) {
    return seeded(rows, cols, 1 / std::sqrt(static_cast<double>(rows)), std::uint64_t{page.spec.seed} << 4 | matrix);
  };
  out.w1 = weights(out.spec.width, out.spec.hidden, 0);
  out.w2 = weights(out.spec.hidden, out.spec.width, 1);
  if (out.spec.norm == NormPlace::pre && !out.given) {
    Tensor normed;
    attention::Moments moments;
    attention::layerNorm(*x, nullptr, nullptr, out.spec.epsilon, moments, normed);
    out.attended = outputOf(c, normed);
  }
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  return out;
}

class BlockView {
 public:
  BlockView(Context& c, const Box& area)
      : c_(c), page_(c.view.lab.block), area_(area), list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    const bool beside = area_.width >= 560;
    LabColumn left(c_, area_.x, area_.y, beside ? 232.0f : area_.width);
    controls(left);
    run_ = &page_.result.get({c_.revision, key()}, [&] { return run(c_, page_); });
    chain_ = attention::chain(run_->spec);
    const bool there = std::any_of(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == page_.stage; });
    if (!there) page_.stage = chain_.back().stage;
    note(left);
    const float from = beside ? area_.x + 232 + 28 : area_.x;
    LabColumn right(c_, from, beside ? area_.y : left.y() + 10, area_.right() - from);
    chips(right);
    stage(right);
    return std::max(left.y(), right.y());
  }

 private:
  /// What the result depends on besides the layer: the hidden width, too.
  attention::BlockSpec key() const {
    attention::BlockSpec key = page_.spec;
    key.hidden = page_.expansion;
    return key;
  }

  void controls(LabColumn& column) {
    static constexpr std::string_view kNorms[] = {"none", "post", "pre"};
    static constexpr std::string_view kActivations[] = {"ReLU", "GELU", "tanh"};
    attention::BlockSpec& s = page_.spec;
    column.question("What stands around attention in a Transformer?");
    if (column.toggle("lab:residual", "Residual", s.residual)) s.residual = !s.residual;
    const int norm = column.choice("lab:norm", "Layer normalisation", kNorms, static_cast<int>(s.norm));
    if (norm >= 0) s.norm = static_cast<NormPlace>(norm);
    const int activation = column.choice("lab:activation", "Activation", kActivations, static_cast<int>(s.activation));
    if (activation >= 0) s.activation = static_cast<attention::Activation>(activation);
    page_.expansion += column.stepper("lab:expansion", "Hidden width ×", std::to_string(page_.expansion),
                                      page_.expansion > 1, page_.expansion < kWidestExpansion);
    float rate = s.dropRate / 0.9f;
    if (column.slider("slider:dropout", "Dropout", formatNumber(static_cast<double>(s.dropRate), 2), rate, 1.0f / 18)) {
      s.dropRate = std::round(rate * 18) / 20;
      s.training = s.dropRate > 0;
    }
    if (column.button("lab:draw", "Draw weights and drops again")) ++s.seed;
  }

  void note(LabColumn& column) {
    const bool pre = page_.spec.norm == NormPlace::pre;
    if (page_.spec.residual && !run_->spec.residual) {
      column.sentence("There is no residual here: what attention gives is not as wide as what goes in.");
    } else if (run_->given) {
      column.sentence(
          pre ? "Q, K and V are given: Q stands for x, and attention is as it is. In X · W mode it reads norm_1."
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
      if (w.button(name, {x, line.y, width, 28}, link.title, link.stage == page_.stage)) page_.stage = link.stage;
      x += width;
      if (i + 1 < chain_.size()) textCentered(list_, c_.fonts.text, x + 9, line.y + 14, c_.palette.muted, "→");
      x += 18;
    }
    // The chain is one more control for the keys: left and right walk along it.
    const int step = column.walk({left, top, column.width(), column.y() - top - 8});
    const auto at = std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == page_.stage; });
    const auto last = static_cast<std::ptrdiff_t>(chain_.size()) - 1;
    const auto index = std::clamp<std::ptrdiff_t>(at - chain_.begin() + step, 0, last);
    page_.stage = chain_[static_cast<std::size_t>(index)].stage;
  }

  void stage(LabColumn& column) {
    const auto link = std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == page_.stage; });
    const Tensor& tensor = run_->trace[page_.stage];
    const std::string title = std::string(attention::name(page_.stage)) + "  [" + std::to_string(tensor.rows()) + ", " +
                              std::to_string(tensor.cols()) + "]";
    column.question(link->formula);
    const Box room = column.take(0);
    const LabMatrix m = drawMatrix(c_, kSlot + static_cast<std::uint32_t>(page_.stage), tensor, 0,
                                   page_.result.version(), {room.x, room.y, room.width, 300}, false, title);
    c_.places["stage"] = m.box;
    column.gap(m.box.bottom() - room.y + 12);
    pick(m, tensor);
    explanation(column);
  }

  void pick(const LabMatrix& m, const Tensor& tensor) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    page_.row = std::clamp(page_.row, 0, tensor.rows() - 1), page_.col = std::clamp(page_.col, 0, tensor.cols() - 1);
    int row = 0, col = 0;
    if (ImGui::IsWindowHovered() && m.hit(mouse.x, mouse.y, row, col)) page_.row = row, page_.col = col;
    const float x = m.box.x + m.cell * static_cast<float>(page_.col);
    const float y = m.box.y + m.cell * static_cast<float>(page_.row);
    list_->AddRect({x - 1, y - 1}, {x + m.cell + 1, y + m.cell + 1}, c_.palette.text, m.cell >= 20 ? 6.0f : 1.0f, 0, 2);
  }

  void explanation(LabColumn& column) {
    const attention::Explanation e = attention::explain(run_->spec, run_->inputs(), run_->trace, page_.stage, page_.row,
                                                        page_.col, c_.state.labels, c_.state.decimals);
    column.gap(4);
    column.question(e.title);
    for (const attention::Term& term : e.terms) column.term(term.label, term.text);
  }

  Context& c_;
  BlockPage& page_;
  Box area_;
  ImDrawList* list_;
  const BlockRun* run_ = nullptr;
  std::vector<attention::BlockLink> chain_;
};

}  // namespace

float blockPage(Context& c, const Box& area) { return BlockView(c, area).draw(); }

}  // namespace views
