// The chain of a block's stages, and the arithmetic behind one cell of one of them.
#include <cmath>
#include <utility>

#include "attention/block.h"
#include "attention/phrase.h"

namespace attention {
namespace {

using Stage = BlockStage;

const char* activationFormula(Activation activation) {
  switch (activation) {
    case Activation::relu: return "max(0, h)";
    case Activation::gelu: return "h · (1 + erf(h ÷ √2)) ÷ 2";
    case Activation::tanh: return "tanh(h)";
  }
  return "";
}

const char* activationName(Activation activation) {
  switch (activation) {
    case Activation::relu: return "ReLU";
    case Activation::gelu: return "GELU";
    case Activation::tanh: return "tanh";
  }
  return "";
}

BlockLink link(const BlockSpec& spec, Stage stage) {
  const bool pre = spec.norm == NormPlace::pre;
  switch (stage) {
    case Stage::attention:
      return {stage, "Attention", pre ? "the layer's output, of norm_1" : "the layer's output, of x"};
    case Stage::dropout_1:
    case Stage::dropout_2: return {stage, "Dropout", "kept ? a ÷ (1 − p) : 0"};
    case Stage::residual_1: return {stage, "Add x", "x + a"};
    case Stage::norm_1:
    case Stage::norm_2: return {stage, "Normalise", "γ · (z − mean) ÷ √(variance + ε) + δ"};
    case Stage::hidden_raw: return {stage, "Expand", "z · W₁ + b₁"};
    case Stage::hidden: return {stage, activationName(spec.activation), activationFormula(spec.activation)};
    case Stage::feed_forward: return {stage, "Contract", "h · W₂ + b₂"};
    case Stage::residual_2:
      return {stage, "Add", spec.norm == NormPlace::post ? "norm_1 + f" : "residual_1 + f"};
  }
  return {};
}

class BlockExplainer {
 public:
  BlockExplainer(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace, int row, int col,
                 const std::vector<std::string>& labels, int decimals)
      : spec_(spec), in_(inputs), trace_(trace), row_(row), col_(col), labels_(labels), decimals_(decimals) {}

  Explanation explain(Stage stage) {
    out_.title =
        std::string(name(stage)) + "[" + token() + ", " + std::to_string(col_ + 1) + "] = " + number(at(stage));
    lines(stage);
    return std::move(out_);
  }

 private:
  std::string number(double value) const { return formatNumber(value, decimals_); }
  std::string token() const {
    const auto i = static_cast<std::size_t>(row_);
    const bool named = i < labels_.size() && !labels_[i].empty();
    return named ? labels_[i] + phrase::subscript(row_ + 1) : std::to_string(row_ + 1);
  }
  double at(const Tensor& tensor) const { return double{tensor.at(0, row_, col_)}; }
  double at(Stage stage) const { return at(trace_[stage]); }
  static double at(const Tensor* vector, int col, double otherwise) {
    return vector ? double{vector->at(0, 0, col)} : otherwise;
  }
  void add(std::string label, std::string text, double value, std::vector<CellRef> cells = {}) {
    out_.terms.push_back({std::move(label), std::move(text), value, std::move(cells)});
  }

  void lines(Stage stage) {
    const bool pre = spec_.norm == NormPlace::pre, post = spec_.norm == NormPlace::post;
    const CellRef ofX{TensorId::x, 0, row_, col_}, ofLayer{TensorId::output, 0, row_, col_};
    switch (stage) {
      case Stage::attention: return add("attention", "the layer's output = " + number(at(stage)), at(stage), {ofLayer});
      case Stage::dropout_1: return addDropout(stage, Stage::attention, 1);
      case Stage::dropout_2: return addDropout(stage, Stage::feed_forward, 2);
      case Stage::residual_1: return addSum(stage, "x", in_.x, Stage::dropout_1, {ofX});
      case Stage::residual_2: {
        const Stage stream = post ? Stage::norm_1 : Stage::residual_1;
        return addSum(stage, name(stream), &trace_[stream], Stage::dropout_2, {});
      }
      case Stage::norm_1:
        return addNorm(stage, pre ? *in_.x : trace_[Stage::residual_1], trace_.moments1, in_.gamma1, in_.delta1);
      case Stage::norm_2:
        return addNorm(stage, trace_[pre ? Stage::residual_1 : Stage::residual_2], trace_.moments2, in_.gamma2,
                       in_.delta2);
      case Stage::hidden_raw:
        return addProducts(stage, trace_[pre ? Stage::norm_2 : post ? Stage::norm_1 : Stage::residual_1], "W₁",
                           *in_.w1, "b₁", in_.b1);
      case Stage::hidden: return addActivation();
      case Stage::feed_forward: return addProducts(stage, trace_[Stage::hidden], "W₂", *in_.w2, "b₂", in_.b2);
    }
  }

  void addDropout(Stage stage, Stage before, int site) {
    const double value = at(stage);
    if (!spec_.drops()) return add("dropout", "off : " + number(value), value);
    const double rate = double{spec_.dropRate};
    if (!isKept(spec_, site, row_, col_)) return add("dropped", "with chance " + number(rate) + " : 0", value);
    add("kept, ÷ (1 − p)", number(at(before)) + " ÷ " + number(1.0 - rate) + " = " + number(value), value);
  }

  void addSum(Stage stage, std::string_view stream, const Tensor* streamed, Stage before, std::vector<CellRef> cells) {
    const double value = at(stage);
    if (!spec_.residual) return add("residual", "off : " + number(value), value);
    add(std::string(stream) + " + " + std::string(name(before)),
        number(at(*streamed)) + " + " + number(at(before)) + " = " + number(value), value, std::move(cells));
  }

  void addNorm(Stage stage, const Tensor& z, const Moments& moments, const Tensor* gamma, const Tensor* delta) {
    const double mean = double{moments.mean.at(0, row_, 0)}, deviation = double{moments.deviation.at(0, row_, 0)};
    std::string sum;
    std::vector<CellRef> cells;
    const auto piece = [&](int c) { return phrase::Piece(number(double{z.at(0, row_, c)}), {}); };
    phrase::join(piece, z.cols(), " + ", sum, cells);
    add("mean", "(" + sum + ") ÷ " + std::to_string(z.cols()) + " = " + number(mean), mean);
    add("√(variance + ε)", number(deviation), deviation);
    const double normed = (at(z) - mean) / deviation;
    add("(z − mean) ÷ √",
        "(" + number(at(z)) + " − " + number(mean) + ") ÷ " + number(deviation) + " = " + number(normed), normed);
    add("γ, δ",
        number(at(gamma, col_, 1.0)) + " × " + number(normed) + " + " + number(at(delta, col_, 0.0)) + " = " +
            number(at(stage)),
        at(stage));
  }

  void addProducts(Stage stage, const Tensor& z, const char* weights, const Tensor& w, const char* bias,
                   const Tensor* b) {
    std::string text;
    std::vector<CellRef> cells;
    double sum = 0.0;
    for (int i = 0; i < w.rows(); ++i) sum += double{z.at(0, row_, i)} * double{w.at(0, i, col_)};
    const auto piece = [&](int i) {
      return phrase::Piece(number(double{z.at(0, row_, i)}) + "×" + number(double{w.at(0, i, col_)}), {});
    };
    phrase::join(piece, w.rows(), " + ", text, cells);
    add("z" + phrase::subscript(row_ + 1) + " · " + weights + "[:, " + std::to_string(col_ + 1) + "]",
        text + " = " + number(sum), sum);
    if (!b) return;
    add(std::string("+ ") + bias, number(sum) + " + " + number(at(b, col_, 0.0)) + " = " + number(at(stage)), at(stage));
  }

  void addActivation() {
    const double value = at(Stage::hidden);
    const std::string which = activationName(spec_.activation);
    add(which, which + "(" + number(at(Stage::hidden_raw)) + ") = " + number(value), value);
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

std::vector<BlockLink> chain(const BlockSpec& spec) {
  const bool pre = spec.norm == NormPlace::pre, post = spec.norm == NormPlace::post, drops = spec.drops();
  std::vector<BlockLink> links;
  const auto put = [&](bool does, Stage stage) {
    if (does) links.push_back(link(spec, stage));
  };
  put(pre, Stage::norm_1);
  put(true, Stage::attention);
  put(drops, Stage::dropout_1);
  put(spec.residual, Stage::residual_1);
  put(post, Stage::norm_1);
  put(pre, Stage::norm_2);
  put(true, Stage::hidden_raw);
  put(true, Stage::hidden);
  put(true, Stage::feed_forward);
  put(drops, Stage::dropout_2);
  put(spec.residual, Stage::residual_2);
  put(post, Stage::norm_2);
  return links;
}

Explanation explain(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace, BlockStage stage,
                    int row, int col, const std::vector<std::string>& labels, int decimals) {
  return BlockExplainer(spec, inputs, trace, row, col, labels, decimals).explain(stage);
}

}  // namespace attention
