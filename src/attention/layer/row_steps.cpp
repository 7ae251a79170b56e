#include "attention/layer/row_steps.h"

#include <algorithm>
#include <utility>

#include "attention/engine/decode.h"
#include "attention/mechanisms/mechanism.h"
#include "base/sentence.h"

namespace attention {
namespace {

using base::joined;
using base::message;
using base::Message;
using explanation_format::subscript;
using Step = RowStep;

constexpr int kWholeSum = 8;  // a line shows up to this many products in full

bool hasMask(const Spec& spec, const Inputs& in) {
  return spec.causal || spec.windowLeft >= 0 || spec.windowRight >= 0 || spec.keyLength >= 0 ||
         spec.pattern.any() || in.painted;
}
bool masksAfter(const Spec& spec, const Inputs& in) {
  return spec.maskAfterSoftmax && isSoftmax(spec) && hasMask(spec, in);
}

}  // namespace

std::vector<RowStep> stepsOf(const Spec& spec, const Inputs& in, bool cached) {
  std::vector<RowStep> steps;
  const auto add = [&](Step step, bool when = true) {
    if (when) steps.push_back(step);
  };
  add(Step::cache, cached);
  add(Step::turned_query, isRotary(spec));
  add(Step::turned_key, isRotary(spec));
  for (const ScorePart& part : textOf(spec.score).parts) add(part.step, part.step != Step::none);
  add(Step::scaled, mechanismOf(spec.score).isScaled);
  add(Step::capped, isSoftcapped(spec));
  add(Step::biased, exists(TensorId::biased, spec, in));
  add(Step::masked, hasMask(spec, in) && !spec.maskAfterSoftmax);
  add(Step::temperatureScaled, spec.temperature != 1.0f);
  add(normalizerOf(spec).before, normalizerOf(spec).before != Step::none);
  add(Step::exponentials, isSoftmax(spec));
  add(Step::sum, isSoftmax(spec));
  add(Step::weights);
  add(Step::masked_after, masksAfter(spec, in));
  add(Step::values);
  add(Step::concat, in.wO && spec.heads > 1);
  add(Step::output);
  return steps;
}

std::string nameOf(RowStep step, const Spec& spec, const Inputs& in) {
  for (const ScorePart& part : textOf(spec.score).parts)
    if (part.step == step) return std::string(part.name);
  switch (step) {
    case Step::cache: return "cache";
    case Step::turned_query: return "turn q";
    case Step::turned_key: return "turn k";
    case Step::scaled: return spec.scale == 0.0f ? "÷ √d_k" : "× scale";
    case Step::capped: return "soft cap";
    case Step::biased: return in.bias ? "bias" : "ALiBi";
    case Step::masked:
    case Step::masked_after: return "mask";
    case Step::temperatureScaled: return "÷ T";
    case Step::maximum: return "max";
    case Step::threshold: return "threshold";
    case Step::exponentials: return "exp";
    case Step::sum: return "Σ";
    case Step::weights: return "weights";
    case Step::values: return "× V";
    case Step::concat: return "concat";
    case Step::output: return "output";
    default: break;
  }
  return {};
}

DisplayState displayState(TensorId id, RowStep step, const Spec& spec, const Inputs& in) {
  const auto from = [&](Step first) { return DisplayState{step >= first, id}; };
  switch (id) {
    case TensorId::scores:
    case TensorId::masked:
      if (step < Step::raw) return {false, id};
      return {true, step == Step::raw      ? TensorId::raw
                    : step == Step::scaled ? TensorId::scores
                    : step == Step::capped ? TensorId::softcapped
                    : step == Step::biased ? TensorId::biased
                                           : TensorId::masked};
    case TensorId::weights:
      if (step < (isSoftmax(spec) ? Step::exponentials : Step::weights)) return {false, id};
      if (step < Step::weights) return {true, TensorId::exponentials};
      return {true, id, step == Step::weights && masksAfter(spec, in)};
    case TensorId::softcapped: return from(Step::capped);
    case TensorId::biased: return from(Step::biased);
    case TensorId::q_rotated: return from(Step::turned_query);
    case TensorId::k_rotated: return from(Step::turned_key);
    case TensorId::head_output: return from(Step::values);
    case TensorId::output: return from(Step::output);
    default: return {true, id};
  }
}

StepCells cellsOf(RowStep step, const Spec& spec, const Inputs& in, const Trace& trace, StepPlace at) {
  StepCells cells;
  const int keyHead = at.head / (spec.heads / spec.kvHeads);
  const TensorId q = isRotary(spec) ? TensorId::q_rotated : TensorId::q,
                 k = isRotary(spec) ? TensorId::k_rotated : TensorId::k;
  const auto row = [&](TensorId id) {
    const Tensor* tensor = find(in, trace, id);
    return Region{id, tensor && tensor->heads() > 1 ? at.head : 0, at.row, 0, 1, tensor ? tensor->cols() : 0};
  };
  const auto whole = [&](TensorId id, int head) {
    const Tensor* tensor = find(in, trace, id);
    return Region{id, head, 0, 0, tensor ? tensor->rows() : 0, tensor ? tensor->cols() : 0};
  };
  const auto keyRow = [&](TensorId id) { return Region{id, keyHead, at.key, 0, 1, spec.headDim}; };
  const auto reads = [&](Region region) { cells.from.push_back(region); };
  const auto makes = [&](Region region) { cells.made.push_back(region); };
  for (const ScorePart& part : textOf(spec.score).parts) {
    if (part.step != step) continue;
    for (const TensorId id : part.reads)
      if (id == TensorId::q) reads(row(q));
      else if (id == TensorId::k) reads(keyRow(k));
      else if (id != TensorId::x) reads(whole(id, at.head));
  }
  switch (step) {
    case Step::cache: {
      const int own = std::min(at.row + spec.causalOffset, spec.keyCount - 1),
                first = std::min(cacheStep(spec, at.row).reused.begin, own);
      for (const TensorId id : {TensorId::k, TensorId::v}) {
        const int columns = id == TensorId::k ? spec.headDim : spec.valueDim;
        reads({id, keyHead, first, 0, own + 1 - first, columns});
        makes({id, keyHead, own, 0, 1, columns});
      }
      break;
    }
    case Step::turned_query: reads(row(TensorId::q)), makes(row(q)); break;
    case Step::turned_key: reads(keyRow(TensorId::k)), makes(keyRow(k)); break;
    case Step::raw: makes(row(TensorId::scores)); break;
    case Step::biased:
      if (in.bias) reads(row(TensorId::bias));
      [[fallthrough]];
    case Step::scaled:
    case Step::capped:
    case Step::masked: reads(row(TensorId::scores)), makes(row(TensorId::scores)); break;
    case Step::maximum:
      if (hasSink(spec)) reads(whole(TensorId::sink, at.head));
      [[fallthrough]];
    case Step::temperatureScaled:
    case Step::threshold: reads(row(TensorId::scores)); break;
    case Step::exponentials: reads(row(TensorId::scores)), makes(row(TensorId::weights)); break;
    case Step::sum:
      if (hasSink(spec)) reads(whole(TensorId::sink, at.head));
      reads(row(TensorId::weights));
      break;
    case Step::weights:
      reads(row(isSoftmax(spec) ? TensorId::weights : TensorId::scores)), makes(row(TensorId::weights));
      break;
    case Step::masked_after: reads(row(TensorId::weights)), makes(row(TensorId::weights)); break;
    case Step::values:
      reads(row(TensorId::weights)), reads(whole(TensorId::v, keyHead)), makes(row(TensorId::head_output));
      break;
    case Step::concat: reads(row(TensorId::head_output)); break;
    case Step::output:
      if (in.wO) reads(whole(TensorId::w_o, 0));
      if (in.bO) reads(whole(TensorId::b_o, 0));
      reads(row(TensorId::head_output)), makes(row(TensorId::output));
      break;
    default: break;
  }
  return cells;
}

namespace {

/// Writes the lines of one step.
class Lines {
 public:
  Lines(RowStep step, const ComputedLayer& layer, StepPlace at, const TokenLabels& labels, int decimals,
        int most)
      : step_(step),
        spec_(layer.spec),
        in_(layer.inputs),
        trace_(layer.trace),
        at_(at),
        labels_(labels),
        decimals_(decimals),
        most_(most) {}

  std::vector<Term> write() {
    switch (step_) {
      case Step::cache: cache(); break;
      case Step::turned_query: columns(TensorId::q_rotated, at_.head, at_.row, spec_.headDim, "q"); break;
      case Step::turned_key:
        columns(TensorId::k_rotated, at_.head / (spec_.heads / spec_.kvHeads), at_.key, spec_.headDim, "k");
        break;
      case Step::maximum: take(explained(TensorId::row_max, at_.head, at_.row, 0)); break;
      case Step::sum: take(explained(TensorId::row_sum, at_.head, at_.row, 0)); break;
      case Step::threshold: take(explained(TensorId::weights, at_.head, at_.row, largest())); break;
      case Step::values: columns(TensorId::head_output, at_.head, at_.row, spec_.valueDim, nullptr); break;
      case Step::concat: heads(); break;
      case Step::output:
        if (in_.wO) columns(TensorId::output, 0, at_.row, in_.wO->cols(), nullptr);
        else heads();
        break;
      default: take(explained(TensorId::weights, at_.head, at_.row, at_.key));
    }
    if (lines_.empty()) nothing();
    for (Term& line : lines_) line.step = step_;
    return std::move(lines_);
  }

 private:
  std::vector<Term> explained(TensorId id, int head, int row, int col) const {
    return explain({spec_, in_, trace_}, {id, head, row, col}, labels_, decimals_, true).terms;
  }

  void take(std::vector<Term> terms) {
    for (Term& t : terms)
      if (t.step == step_) lines_.push_back(std::move(t));
  }

  /// Adds the last line of the explanation of each column: as many as fit, including the selected one.
  void columns(TensorId id, int head, int row, int count, const char* letter) {
    const int first = std::clamp(at_.column - most_ + 1, 0, std::max(count - most_, 0));
    for (int c = first; c < std::min(first + most_, count); ++c) {
      lines_.push_back(std::move(explained(id, head, row, c).back()));
      if (letter) lines_.back().label = joined({letter, subscript(row + 1), "[", c + 1, "]"});
      if (lines_.back().cells.empty()) return;  // the row sees no key, in any column
    }
  }

  /// Adds what each head contributes to concat.
  void heads() {
    const int first = std::clamp(at_.head - most_ + 1, 0, std::max(spec_.heads - most_, 0));
    for (int h = first; h < std::min(first + most_, spec_.heads); ++h) {
      Term line;
      line.label = spec_.heads > 1 ? message({"head ", h + 1}) : Message("O" + subscript(at_.row + 1));
      if (isHidden(spec_, h)) {
        line.text = message({Message("hidden"), ", so ", 0});
      } else {
        const auto piece = [&](int c) {
          const CellRef cell{TensorId::head_output, h, at_.row, c};
          return explanation_format::Piece(
              mark::kCell + formatNumber(double{trace_.headOutput.at(h, at_.row, c)}, decimals_), {cell});
        };
        std::string text = "[";
        explanation_format::join(piece, spec_.valueDim, ", ", text, line.cells);
        line.text = text + "]";
      }
      lines_.push_back(std::move(line));
    }
  }

  void cache() {
    const int own = at_.row + spec_.causalOffset;
    Term line;
    line.label = "keys, values";
    line.text = own > 0 ? message({kept(cacheStep(spec_, at_.row).reused), ", so ",
                                   message({"only ", own + 1, " is computed"})})
                        : message({Message("the first token"), ", so ", Message("nothing is kept yet")});
    lines_.push_back(std::move(line));
  }

  /// Names the tokens whose keys and values are reused.
  static Message kept(KeyRange keys) {
    if (keys.begin >= keys.end) return "none is kept";
    if (keys.end - keys.begin == 1) return message({"that of ", keys.end, " is kept"});
    return message({"those of ", keys.begin + 1, " to ", keys.end, " are kept"});
  }

  int largest() const {
    const float* row = trace_.weights.row(at_.head, at_.row);
    return static_cast<int>(std::max_element(row, row + spec_.keyCount) - row);
  }

  /// Adds the line for a row that sees no key, or for a hidden key.
  void nothing() {
    for (Term& t : explained(TensorId::weights, at_.head, at_.row, at_.key))
      if (t.step == Step::none && t.cells.empty()) lines_.push_back(std::move(t));
    if (lines_.empty())
      lines_.push_back({nameOf(step_, spec_, in_),
                        message({Message("this key is hidden"), ", so ", Message("−∞")}),
                        0,
                        {}});
  }

  RowStep step_;
  const Spec& spec_;
  const Inputs& in_;
  const Trace& trace_;
  StepPlace at_;
  const TokenLabels& labels_;
  int decimals_, most_;
  std::vector<Term> lines_;
};

}  // namespace

std::vector<Term> linesOf(RowStep step, const ComputedLayer& layer, StepPlace at, const TokenLabels& labels,
                          int decimals, int most) {
  return Lines(step, layer, at, labels, decimals, most).write();
}

std::optional<Term> sumBehind(const Term& line, int ordinal, const ComputedLayer& layer, CellRef pair,
                              int decimals) {
  const Spec& spec = layer.spec;
  if (!takes(spec.score, TensorId::w_a) || std::max(queryWidth(spec), spec.headDim) > kWholeSum) return {};
  const bool additive = takes(spec.score, TensorId::u_a), both = additive && line.step == Step::raw;
  const bool ofKey = both ? ordinal % 2 == 1 : line.step == Step::key_side;
  const int column = both ? ordinal / 2 : ordinal;
  const Tensor& matrix = ofKey ? *layer.inputs.uA : *layer.inputs.wA;
  const int sums = additive ? matrix.rows() : matrix.cols(),
            products = additive ? matrix.cols() : matrix.rows();
  if (column >= sums) return {};
  ExplainedCell cell{spec, layer.inputs, layer.trace, pair, decimals, true};
  const auto weight = [&](int i) {
    return CellRef{ofKey ? TensorId::u_a : TensorId::w_a, pair.head, additive ? column : i,
                   additive ? i : column};
  };
  const auto factor = [&](int i) { return ofKey ? cell.keyCell(i) : cell.queryCell(i); };
  double sum = 0.0;
  for (int i = 0; i < products; ++i) sum += cell.at(weight(i)) * cell.at(factor(i));
  if (additive)
    cell.addProducts(Step::none,
                     joined({ofKey ? "U_a · k" : "W_a · q", subscript((ofKey ? pair.col : pair.row) + 1), "[",
                             column + 1, "]"}),
                     sum, {products, weight, factor});
  else
    cell.addProducts(Step::none, joined({"q", subscript(pair.row + 1), "ᵀ · W_a[", column + 1, "]"}), sum,
                     {products, factor, weight});
  return std::move(cell.lines.front());
}

}  // namespace attention
