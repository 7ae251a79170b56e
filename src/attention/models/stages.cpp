#include "attention/models/stages.h"

#include <algorithm>

namespace attention {
namespace {

using Id = TensorId;

bool isPre(const BlockSpec& b) { return b.norm == NormPlace::pre; }
bool isPost(const BlockSpec& b) { return b.norm == NormPlace::post; }
bool hasNoNorm(const BlockSpec& b) { return b.norm == NormPlace::none; }
bool hasNorm(const BlockSpec& b) { return b.norm != NormPlace::none; }
bool hasResidual(const BlockSpec& b) { return b.residual; }
bool addsToNorm(const BlockSpec& b) { return b.residual && isPost(b); }
bool addsToSum(const BlockSpec& b) { return b.residual && !isPost(b); }
bool drops(const BlockSpec& b) { return b.drops(); }
bool isPlain(const BlockSpec& b) { return b.dropout == Dropout::plain; }
bool isGelu(const BlockSpec& b) { return b.activation == Activation::gelu; }
bool isTanh(const BlockSpec& b) { return b.activation == Activation::tanh; }

constexpr StageSource cell(Id from, BlockCondition when = nullptr) { return {from, From::cell, when}; }
constexpr StageSource row(Id from, BlockCondition when = nullptr) { return {from, From::row, when}; }
constexpr StageSource column(Id from) { return {from, From::column}; }
constexpr StageSource all(Id from) { return {from, From::all}; }

constexpr StageSource kAttention[] = {cell(Id::output), row(Id::block_norm_1, isPre)};
constexpr StageSource kDropout1[] = {cell(Id::block_attention), cell(Id::drop_mask_1, drops)};
constexpr StageSource kResidual1[] = {cell(Id::block_dropout_1), cell(Id::x, hasResidual)};
constexpr StageSource kNorm1[] = {row(Id::x, isPre), row(Id::block_residual_1, isPost), column(Id::gamma_1),
                                  column(Id::delta_1)};
constexpr StageSource kHiddenRaw[] = {row(Id::block_norm_2, isPre), row(Id::block_norm_1, isPost),
                                      row(Id::block_residual_1, hasNoNorm), column(Id::w_1), column(Id::b_1)};
constexpr StageSource kHidden[] = {cell(Id::block_hidden_raw)};
constexpr StageSource kFeedForward[] = {row(Id::block_hidden), column(Id::w_2), column(Id::b_2)};
constexpr StageSource kDropout2[] = {cell(Id::block_feed_forward), cell(Id::drop_mask_2, drops)};
constexpr StageSource kResidual2[] = {cell(Id::block_dropout_2), cell(Id::block_norm_1, addsToNorm),
                                      cell(Id::block_residual_1, addsToSum)};
constexpr StageSource kNorm2[] = {row(Id::block_residual_1, isPre), row(Id::block_residual_2, isPost),
                                  column(Id::gamma_2), column(Id::delta_2)};
constexpr StageSource kTokenWeights[] = {
    {Id::output, From::segment}, all(Id::token_w), all(Id::token_b), all(Id::token_query)};
constexpr StageSource kSegmentWeights[] = {all(Id::output), all(Id::token_weights), all(Id::segment_w),
                                           all(Id::segment_b), all(Id::segment_query)};

constexpr StageWords kAttentionWords[] = {{"Attention", "the layer's output, of the normalised x", isPre},
                                          {"Attention", "the layer's output, of x"}};
constexpr StageWords kDropoutWords[] = {{"Dropout", "Z × a", isPlain}, {"Dropout", "Z × a ÷ (1 − p)"}};
constexpr StageWords kResidual1Words[] = {{"Add x", "x + a"}};
constexpr StageWords kNormWords[] = {{"Normalise", "γ · (z − mean) ÷ √(variance + ε) + δ"}};
constexpr StageWords kHiddenRawWords[] = {{"Expand", "z · W₁ + b₁"}};
constexpr StageWords kHiddenWords[] = {
    {"GELU", "h · (1 + erf(h ÷ √2)) ÷ 2", isGelu}, {"tanh", "tanh(h)", isTanh}, {"ReLU", "max(0, h)"}};
constexpr StageWords kFeedForwardWords[] = {{"Contract", "h · W₂ + b₂"}};
constexpr StageWords kResidual2Words[] = {{"Add", "normalised + f", isPost}, {"Add", "(x + a) + f"}};
constexpr StageWords kTokenWords[] = {
    {"Level 1: tokens into segments", "u = tanh(h·W + b), a = softmax(u·query), s = Σ a·h"}};
constexpr StageWords kSegmentWords[] = {
    {"Level 2: segments into the whole", "u = tanh(h·W + b), a = softmax(u·query), s = Σ a·h"}};

constexpr StageRow kTable[] = {
    {Id::block_attention, nullptr, kAttention, kAttentionWords},
    {Id::block_dropout_1, drops, kDropout1, kDropoutWords},
    {Id::block_residual_1, hasResidual, kResidual1, kResidual1Words},
    {Id::block_norm_1, hasNorm, kNorm1, kNormWords},
    {Id::block_hidden_raw, nullptr, kHiddenRaw, kHiddenRawWords},
    {Id::block_hidden, nullptr, kHidden, kHiddenWords},
    {Id::block_feed_forward, nullptr, kFeedForward, kFeedForwardWords},
    {Id::block_dropout_2, drops, kDropout2, kDropoutWords},
    {Id::block_residual_2, hasResidual, kResidual2, kResidual2Words},
    {Id::block_norm_2, hasNorm, kNorm2, kNormWords},
    {Id::token_weights, nullptr, kTokenWeights, kTokenWords},
    {Id::segment_weights, nullptr, kSegmentWeights, kSegmentWords},
};

constexpr bool isInOrder() {
  for (int i = 0; i < kBlockStages; ++i)
    if (kTable[i].id != kBlockTensors[i]) return false;
  return true;
}
static_assert(isInOrder(), "the stages of the block come first, in the order of kBlockTensors");

bool holds(BlockCondition condition, const BlockSpec& spec) { return !condition || condition(spec); }

}  // namespace

const StageRow& stageRow(TensorId id) {
  return *std::find_if(std::begin(kTable), std::end(kTable) - 1,
                       [&](const StageRow& r) { return r.id == id; });
}

std::vector<StageSource> sourcesOf(const BlockSpec& spec, BlockStage stage) {
  std::vector<StageSource> out;
  for (const StageSource& source : stageRow(tensorOf(stage)).sources)
    if (holds(source.when, spec)) out.push_back(source);
  return out;
}

const StageWords& wordsOf(const BlockSpec& spec, BlockStage stage) {
  const auto words = stageRow(tensorOf(stage)).words;
  return *std::find_if(words.begin(), words.end() - 1,
                       [&](const StageWords& w) { return holds(w.when, spec); });
}

std::vector<BlockStage> stagesInOrder(const BlockSpec& spec) {
  std::vector<BlockStage> out;
  const auto isMade = [&](TensorId id) {
    return !kBlockTensors.contains(id) ||
           std::any_of(out.begin(), out.end(), [&](BlockStage s) { return tensorOf(s) == id; });
  };
  while (static_cast<int>(out.size()) < kBlockStages) {
    for (int i = 0; i < kBlockStages; ++i) {
      const auto stage = static_cast<BlockStage>(i);
      const auto sources = sourcesOf(spec, stage);
      if (isMade(tensorOf(stage)) ||
          !std::all_of(sources.begin(), sources.end(), [&](const StageSource& s) { return isMade(s.id); }))
        continue;
      out.push_back(stage);
      break;
    }
  }
  return out;
}

std::vector<BlockLink> chain(const BlockSpec& spec) {
  std::vector<BlockLink> links;
  for (const BlockStage stage : stagesInOrder(spec)) {
    const StageWords& words = wordsOf(spec, stage);
    if (holds(stageRow(tensorOf(stage)).does, spec)) links.push_back({stage, words.title, words.formula});
  }
  return links;
}

const Tensor* find(const BlockInputs& in, const BlockTrace& trace, TensorId id) {
  switch (id) {
    case Id::x: return in.x;
    case Id::output: return in.attention;
    case Id::gamma_1: return in.gamma1;
    case Id::delta_1: return in.delta1;
    case Id::w_1: return in.w1;
    case Id::b_1: return in.b1;
    case Id::w_2: return in.w2;
    case Id::b_2: return in.b2;
    case Id::gamma_2: return in.gamma2;
    case Id::delta_2: return in.delta2;
    default: break;
  }
  if (!kBlockTensors.contains(id)) return nullptr;
  return &trace
              .stages[static_cast<std::size_t>(static_cast<int>(id) - static_cast<int>(kBlockTensors.first))];
}

}  // namespace attention
