// The block around the layer: its stages as a chain, each of which expands to a matrix equation.
#include <algorithm>
#include <cmath>

#include "attention/steps/rows.h"
#include "base/number.h"
#include "base/sentence.h"
#include "views/pages/column.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using attention::BlockStage;
using attention::Tensor;
using document::OptionId;
using document::ParameterId;

constexpr std::uint32_t kBlockSlot = 5100, kHeadSlot = 5300;

class BlockView {
 public:
  BlockView(Context& c, const Box& area)
      : c_(c),
        view_(c.view.experiments),
        area_(area),
        list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    shown_ = tokensShown(c_, mostTokens());
    run_ = c_.derived.blockSoon(shown_);
    PageColumn top(c_, area_.x, area_.y, area_.width);
    top.title("What stands around attention in a Transformer?");
    top.gap(8);
    const Box below = top.below(area_);
    PageColumn left = firstColumn(c_, below);
    left.openCard();
    controls(left);
    if (run_) note(left);
    left.closeCard();
    PageColumn right = secondColumn(c_, below, left);
    if (!run_) return std::max(left.y(), stillComputes(right));
    chain_ = attention::chain(run_->spec);
    const bool there =
        std::any_of(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == view_.stage; });
    if (!there) view_.stage = chain_.back().stage;
    right.openCard();
    chips(right);
    right.closeCard();
    right.openCard();
    stage(right);
    right.closeCard();
    return std::max(left.y(), right.y());
  }

 private:
  /// What takes hardly longer than a frame: the feed-forward network multiplies by two matrices.
  int mostTokens() const {
    const std::int64_t width = document::outputWidth(c_.state), hidden = width * c_.state.block.hidden;
    return std::clamp(2 * attention::briefRows(2 * width * hidden), 16, kMostTokens);
  }

  void controls(PageColumn& column) {
    static constexpr std::string_view kNorms[] = {"none", "post", "pre"};
    static constexpr std::string_view kActivations[] = {"ReLU", "GELU", "tanh"};
    const document::BlockOptions& now = c_.state.block;
    if (column.toggle("block_residual", "Residual", now.residual))
      set(c_, OptionId::block_residual, !now.residual);
    const int norm = column.choice("block_norm", "Layer normalisation", kNorms, static_cast<int>(now.norm));
    setChoice(c_, OptionId::block_norm, norm);
    const int activation =
        column.choice("block_activation", "Activation", kActivations, static_cast<int>(now.activation));
    setChoice(c_, OptionId::block_activation, activation);
    const int more = column.stepper("block_hidden", "Hidden width ×", std::to_string(now.hidden),
                                    now.hidden > 1, now.hidden < document::kMaxBlockHidden);
    if (more != 0) set(c_, OptionId::block_hidden, static_cast<double>(now.hidden + more));
    column.number(OptionId::block_dropout, "slider:block_dropout", "Dropout p",
                  {0, document::kMaxBlockDropout, 20, 2});
    if (now.dropout > 0) drops(column);
    epsilon(column);
    const bool both = now.dropout > 0 && now.dropoutSeed < 0;
    if (column.button("block_seed", both ? "Draw weights and dropout again" : "Draw weights again")) {
      setNextSeed(c_, OptionId::block_seed, now.seed);
    }
    chooseTokens(c_, column, shown_);
  }

  void drops(PageColumn& column) {
    static constexpr std::string_view kKinds[] = {"inverted", "plain"};
    const document::BlockOptions& now = c_.state.block;
    setChoice(c_, OptionId::block_dropout_kind,
              column.choice("block_dropout_kind", "", kKinds, static_cast<int>(now.kind)));
    if (column.button("block_dropout_seed", "Draw dropout again"))
      setNextSeed(c_, OptionId::block_dropout_seed, now.dropsBy());
  }

  /// In steps of powers of ten.
  void epsilon(PageColumn& column) {
    const document::BlockOptions& now = c_.state.block;
    if (now.norm == attention::NormPlace::none) return;
    const double power = std::round(std::log10(static_cast<double>(now.epsilon)));
    std::string shown = shortestNumber(now.epsilon);
    constexpr std::string_view kZero = "e\u22120";
    if (const auto at = shown.find(kZero); at != std::string::npos)
      shown.erase(at + kZero.size() - 1, 1);  // shortens "1e−05" to "1e−5"
    const int more = column.stepper("block_epsilon", "Epsilon ε", shown, power > -12, power < 0);
    if (more != 0) set(c_, OptionId::block_epsilon, std::pow(10.0, std::clamp(power + more, -12.0, 0.0)));
  }

  void note(PageColumn& column) {
    const document::BlockOptions& now = c_.state.block;
    column.gap(4);
    if (now.residual && !run_->spec.residual) {
      column.sentence("There is no residual here: what attention gives is not as wide as what goes in.");
    } else if (run_->given) {
      column.sentence(now.norm == attention::NormPlace::pre
                          ? "Q, K and V are typed here, not made of x: the block adds Q where x would be, "
                            "and attention does not read what was normalised. With X · W it does."
                          : "Q, K and V are typed here, not made of x: the block adds Q where x would be.");
    }
  }

  // For the keys the chain is a single control: left and right move along it.
  void chips(PageColumn& column) {
    Widgets w(c_);
    const Box whole = column.take(0);
    float x = whole.x;
    Box line = column.take(column.pitch(36));
    for (std::size_t i = 0; i < chain_.size(); ++i) {
      const attention::BlockLink& link = chain_[i];
      const float width = textWidth(c_.fonts.strong, link.title) + 18;
      if (x > whole.x && x + width > line.right()) x = whole.x, line = column.take(column.pitch(36));
      const std::string name = "stage:" + std::string(attention::name(link.stage));
      if (w.button(name, {x, line.y, width, 28}, link.title, link.stage == view_.stage))
        view_.stage = link.stage;
      x += width;
      if (i + 1 < chain_.size())
        textCentered(list_, c_.fonts.text, x + 9, line.y + 14, c_.palette.muted, "→");
      x += 18;
    }
    column.gap(-8);
    const int step = column.keys("stage", {whole.x, whole.y, whole.width, column.y() - whole.y}).step;
    const auto at =
        std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == view_.stage; });
    const auto last = static_cast<std::ptrdiff_t>(chain_.size()) - 1;
    const auto index = std::clamp<std::ptrdiff_t>(at - chain_.begin() + step, 0, last);
    view_.stage = chain_[static_cast<std::size_t>(index)].stage;
  }

  // --- the expanded stage

  PageMatrix of(BlockStage stage, std::string_view before = {}) const {
    PageMatrix m;
    m.slot = kBlockSlot + static_cast<std::uint32_t>(stage), m.tensor = &run_->trace[stage];
    m.name = attention::name(stage), m.before = before;
    m.firstToken = shown_.begin, m.ofTokens = c_.state.tokens;
    return m;
  }

  PageMatrix own(std::uint32_t slot, const Tensor& tensor, std::string name,
                 std::string_view before = {}) const {
    PageMatrix m;
    m.slot = kBlockSlot + slot, m.tensor = &tensor, m.name = std::move(name), m.before = before;
    m.firstToken = shown_.begin, m.ofTokens = c_.state.tokens;
    return m;
  }

  PageMatrix input(std::string_view before = {}) const {
    return own(20, run_->x, run_->given ? "Q as x" : "x", before);
  }

  /// The stage that the feed-forward network reads.
  BlockStage read() const {
    switch (run_->spec.norm) {
      case attention::NormPlace::pre: return BlockStage::norm_2;
      case attention::NormPlace::post: return BlockStage::norm_1;
      default: return BlockStage::residual_1;
    }
  }

  /// All sources of the stage, with the result last.
  std::vector<PageMatrix> equation() {
    const bool pre = run_->spec.norm == attention::NormPlace::pre,
               post = run_->spec.norm == attention::NormPlace::post;
    switch (view_.stage) {
      case BlockStage::attention: return heads();
      case BlockStage::dropout_1: return dropped(BlockStage::attention, 0);
      case BlockStage::dropout_2: return dropped(BlockStage::feed_forward, 1);
      case BlockStage::residual_1:
        return {input(), of(BlockStage::dropout_1, "+"), of(BlockStage::residual_1, "=")};
      case BlockStage::residual_2:
        return {of(post ? BlockStage::norm_1 : BlockStage::residual_1), of(BlockStage::dropout_2, "+"),
                of(BlockStage::residual_2, "=")};
      case BlockStage::norm_1:
        return normed(pre ? input() : of(BlockStage::residual_1), ParameterId::gamma_1, ParameterId::delta_1);
      case BlockStage::norm_2:
        return normed(of(pre ? BlockStage::residual_1 : BlockStage::residual_2), ParameterId::gamma_2,
                      ParameterId::delta_2);
      case BlockStage::hidden_raw: return connected(read(), ParameterId::w_1, ParameterId::b_1);
      case BlockStage::hidden: return {of(BlockStage::hidden_raw), of(BlockStage::hidden, "→")};
      case BlockStage::feed_forward: return connected(BlockStage::hidden, ParameterId::w_2, ParameterId::b_2);
    }
    return {};
  }

  std::vector<PageMatrix> heads() {
    std::vector<PageMatrix> all;
    for (int h = 0; h < run_->heads.heads(); ++h) {
      all.push_back(
          own(kHeadSlot - kBlockSlot + static_cast<std::uint32_t>(h), run_->heads, "", h > 0 ? "|" : ""));
      all.back().head = h, all.back().title = base::message({"head ", h + 1});
    }
    const bool projected = c_.state.mode == document::Mode::x;
    if (projected) {
      all.push_back(own(21, run_->concat, "concat", "="));
      all.back().groups = run_->heads.heads();
    }
    const bool hasWeights = projected && c_.state.outputProjection;
    if (hasWeights) {
      all.push_back(own(22, *c_.tensor(TensorId::w_o), "W_O", "·"));
      all.back().rowsAreTokens = false, all.back().ofTokens = 0;
    }
    all.push_back(of(BlockStage::attention, "="));
    if (!projected)
      all.back().groups = run_->heads.heads(), all.back().name = "attention, the heads side by side";
    return all;
  }

  std::vector<PageMatrix> dropped(BlockStage before, int site) {
    PageMatrix z =
        own(23 + static_cast<std::uint32_t>(site), run_->dropMasks[static_cast<std::size_t>(site)], "Z", "×");
    z.cells = Cells::mask, z.place = site == 0 ? "block:drop_mask_1" : "block:drop_mask_2";
    scaled_ = base::joined({"÷ ", formatNumber(1 - base::readable(run_->spec.dropRate), 2), " ="});
    return {of(before), z,
            of(view_.stage, run_->spec.dropout == attention::Dropout::plain ? std::string_view("=")
                                                                            : std::string_view(scaled_))};
  }

  std::vector<PageMatrix> normed(PageMatrix from, ParameterId gamma, ParameterId delta) {
    return {std::move(from), parameterMatrix(c_, gamma, "γ"), parameterMatrix(c_, delta, "δ"),
            of(view_.stage, "→")};
  }

  std::vector<PageMatrix> connected(BlockStage from, ParameterId w, ParameterId b) {
    return {of(from), parameterMatrix(c_, w, "·"), parameterMatrix(c_, b, "+"), of(view_.stage, "=")};
  }

  void stage(PageColumn& column) {
    const auto link =
        std::find_if(chain_.begin(), chain_.end(), [&](const auto& l) { return l.stage == view_.stage; });
    column.question(base::message({base::Message(link->title), ": ", base::Message(link->formula)}));
    std::vector<PageMatrix> matrices = equation();
    const std::string place(attention::name(attention::tensorOf(view_.stage)));
    matrices.back().place = place;
    drawEquation(c_, column, c_.revision, matrices);
    pick(matrices.back());
    if (view_.stage == BlockStage::dropout_1 || view_.stage == BlockStage::dropout_2) kinds(column);
    explanation(column);
  }

  void kinds(PageColumn& column) {
    const std::string left = formatNumber(1 - base::readable(run_->spec.dropRate), 2);
    column.sentence(
        run_->spec.dropout == attention::Dropout::plain
            ? base::message({"Plain dropout leaves what is kept as it is. At inference nothing is "
                             "dropped, and every number is "
                             "multiplied by 1 − p = ",
                             left, ", so that it is as large as it was on average."})
            : base::message({"Inverted dropout divides what is kept by 1 − p = ", left,
                             ", so that its mean stays what it was. "
                             "At inference nothing is dropped, and nothing has to be done."}));
  }

  void pick(const PageMatrix& m) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    view_.row = std::clamp(view_.row, 0, m.tensor->rows() - 1),
    view_.col = std::clamp(view_.col, 0, m.tensor->cols() - 1);
    int row = 0, col = 0;
    if (ImGui::IsWindowHovered() && m.hit(mouse.x, mouse.y, row, col)) view_.row = row, view_.col = col;
    frameCell(c_, m, view_.row, view_.col);
  }

  void explanation(PageColumn& column) {
    const attention::Explanation e =
        attention::explain(run_->spec, run_->inputs(), run_->trace, {view_.stage, view_.row, view_.col},
                           c_.state.labels, c_.state.decimals);
    column.gap(4);
    column.question(e.title());
    for (const attention::Term& term : e.terms) column.term(term.label, term.text);
  }

  Context& c_;
  ExperimentsView& view_;
  Box area_;
  ImDrawList* list_;
  const document::BlockRun* run_ = nullptr;
  attention::Span shown_;
  std::vector<attention::BlockLink> chain_;
  std::string scaled_;
};

}  // namespace

float blockPage(Context& c, const Box& area) { return BlockView(c, area).draw(); }

}  // namespace views
