// The arithmetic behind one cell of a stage of the block.
#include <utility>

#include "attention/layer/explanation_format.h"
#include "attention/models/stages.h"

namespace attention {
namespace {

using Stage = BlockStage;
using explanation_format::operand;

class BlockExplainer {
 public:
  BlockExplainer(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace,
                 const StageCell& cell, const std::vector<std::string>& labels, int decimals)
      : spec_(spec),
        in_(inputs),
        trace_(trace),
        row_(cell.row),
        col_(cell.col),
        labels_(labels),
        decimals_(decimals) {}

  Explanation explain(Stage stage) {
    out_.name = base::message({"Row ", token(), ", column ", col_ + 1}), out_.value = number(at(stage));
    lines(stage);
    return std::move(out_);
  }

 private:
  std::string number(double value) const { return formatNumber(value, decimals_); }
  base::Message off(double value) const {
    return base::message({base::Message("off"), ", so ", number(value)});
  }
  int tokenAt() const { return spec_.first + row_; }
  std::string token() const { return explanation_format::token(labels_, tokenAt()); }
  double at(const Tensor& tensor) const { return double{tensor.at(0, row_, col_)}; }
  double at(Stage stage) const { return at(trace_[stage]); }
  static double at(const Tensor* vector, int col, double otherwise) {
    return vector ? double{vector->at(0, 0, col)} : otherwise;
  }
  void add(base::Message label, base::Message text, double value, std::vector<CellRef> cells = {}) {
    out_.terms.push_back({std::move(label), std::move(text), value, std::move(cells)});
  }

  void lines(Stage stage) {
    const std::vector<StageSource> sources = sourcesOf(spec_, stage);
    const auto source = [&](std::size_t i) {
      return i < sources.size() ? find(in_, trace_, sources[i].id) : nullptr;
    };
    switch (stage) {
      case Stage::attention:
        return add("attention", base::message({"the layer's output = ", number(at(stage))}), at(stage),
                   {{TensorId::output, 0, tokenAt(), col_}});
      case Stage::dropout_1: return addDropout(stage, *source(0), 1);
      case Stage::dropout_2: return addDropout(stage, *source(0), 2);
      case Stage::residual_1:
      case Stage::residual_2:
        if (!spec_.residual) return add("residual", off(at(stage)), at(stage));
        return addSum(stage, sources[1].id, *source(1), sources[0].id, *source(0));
      case Stage::norm_1: return addNorm(stage, *source(0), trace_.moments1, source(1), source(2));
      case Stage::norm_2: return addNorm(stage, *source(0), trace_.moments2, source(1), source(2));
      case Stage::hidden_raw: return addProducts(stage, *source(0), "W₁", *source(1), "b₁", source(2));
      case Stage::hidden: return addActivation(stage, *source(0));
      case Stage::feed_forward: return addProducts(stage, *source(0), "W₂", *source(1), "b₂", source(2));
    }
  }

  void addDropout(Stage stage, const Tensor& before, int site) {
    const double value = at(stage);
    const double rate = double{spec_.dropRate};
    const bool plain = spec_.dropout == Dropout::plain;
    if (plain && !spec_.training)
      return add("inference, × (1 − p)",
                 operand(number(at(before))) + " × " + number(1.0 - rate) + " = " + number(value), value);
    if (!spec_.drops()) return add("dropout", off(value), value);
    if (!isKept(spec_, site, row_, col_))
      return add("dropped", base::message({base::message({"with probability ", number(rate)}), ", so ", 0}),
                 value);
    if (plain) return add("kept", number(at(before)), value);
    add("kept, ÷ (1 − p)", number(at(before)) + " ÷ " + number(1.0 - rate) + " = " + number(value), value);
  }

  void addSum(Stage stage, TensorId stream, const Tensor& streamed, TensorId before, const Tensor& changed) {
    const auto called = [](TensorId id) -> std::string {
      switch (id) {
        case TensorId::x: return "x";
        case TensorId::block_residual_1: return "(x + a)";
        case TensorId::block_norm_1: return "normalised";
        case TensorId::block_attention:
        case TensorId::block_dropout_1: return "a";
        default: return "f";
      }
    };
    std::vector<CellRef> cells;
    if (stream == TensorId::x) cells.push_back({stream, 0, tokenAt(), col_});
    add(called(stream) + " + " + called(before),
        number(at(streamed)) + " + " + operand(number(at(changed))) + " = " + number(at(stage)), at(stage),
        std::move(cells));
  }

  void addNorm(Stage stage, const Tensor& z, const Moments& moments, const Tensor* gamma,
               const Tensor* delta) {
    const double mean = double{moments.mean.at(0, row_, 0)},
                 deviation = double{moments.deviation.at(0, row_, 0)};
    std::string sum;
    std::vector<CellRef> cells;
    const auto piece = [&](int c) {
      const std::string summand = number(double{z.at(0, row_, c)});
      return explanation_format::Piece(c == 0 ? summand : operand(summand), {});
    };
    explanation_format::join(piece, z.cols(), " + ", sum, cells);
    add("mean", "(" + sum + ") ÷ " + std::to_string(z.cols()) + " = " + number(mean), mean);
    add("√(variance + ε)", number(deviation), deviation);
    const double normed = (at(z) - mean) / deviation;
    add("(z − mean) ÷ √",
        "(" + number(at(z)) + " − " + operand(number(mean)) + ") ÷ " + number(deviation) + " = " +
            number(normed),
        normed);
    add("γ, δ",
        operand(number(at(gamma, col_, 1.0))) + " × " + operand(number(normed)) + " + " +
            operand(number(at(delta, col_, 0.0))) + " = " + number(at(stage)),
        at(stage));
  }

  void addProducts(Stage stage, const Tensor& z, const char* weights, const Tensor& w, const char* bias,
                   const Tensor* b) {
    std::string text;
    std::vector<CellRef> cells;
    double sum = 0.0;
    for (int i = 0; i < w.rows(); ++i) sum += double{z.at(0, row_, i)} * double{w.at(0, i, col_)};
    const auto piece = [&](int i) {
      return explanation_format::Piece(
          operand(number(double{z.at(0, row_, i)})) + "×" + operand(number(double{w.at(0, i, col_)})), {});
    };
    explanation_format::join(piece, w.rows(), " + ", text, cells);
    add("z" + explanation_format::subscript(tokenAt() + 1) + " · " + weights + "[:, " +
            std::to_string(col_ + 1) + "]",
        text + " = " + number(sum), sum);
    if (!b) return;
    add(std::string("+ ") + bias,
        number(sum) + " + " + operand(number(at(b, col_, 0.0))) + " = " + number(at(stage)), at(stage));
  }

  void addActivation(Stage stage, const Tensor& before) {
    const std::string which = wordsOf(spec_, stage).title;
    add(which, which + "(" + number(at(before)) + ") = " + number(at(stage)), at(stage));
  }

  const BlockSpec& spec_;
  const BlockInputs& in_;
  const BlockTrace& trace_;
  int row_, col_;
  const std::vector<std::string>& labels_;
  int decimals_;
  Explanation out_;
};

}  // namespace

Explanation explain(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace,
                    const StageCell& cell, const std::vector<std::string>& labels, int decimals) {
  return BlockExplainer(spec, inputs, trace, cell, labels, decimals).explain(cell.stage);
}

}  // namespace attention
