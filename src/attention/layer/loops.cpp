#include "attention/layer/loops.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "base/number.h"
#include "base/sentence.h"

namespace attention {
namespace {

using base::joined;

std::string text(double value) {
  return joined({value < 0 ? "−" : "", base::shortest(std::fabs(base::readable(static_cast<float>(value))))});
}

/// "i", "i + 2" or "i − 2".
std::string plus(std::string_view index, std::int64_t by) {
  if (by == 0) return std::string(index);
  return joined({index, by < 0 ? " − " : " + ", std::abs(by)});
}

class Writer {
 public:
  Writer(const Spec& spec, const Inputs& in, const Trace& trace, int head)
      : spec_(spec),
        in_(in),
        trace_(trace),
        head_(head) {}

  std::vector<LoopLine> made(TensorId id) {
    switch (id) {
      case TensorId::q:
        projected("Q", in_.bQ, "X", spec_.queryCount, queryWidth(spec_), in_.wQ->rows());
        break;
      case TensorId::k:
        projected("K", in_.bK, in_.xKv ? "X_KV" : "X", spec_.keyCount, spec_.headDim, in_.wK->rows());
        break;
      case TensorId::v:
        projected("V", in_.bV,
                  in_.xV    ? "X_V"
                  : in_.xKv ? "X_KV"
                            : "X",
                  spec_.keyCount, spec_.valueDim, in_.wV->rows());
        break;
      case TensorId::scores: scores(); break;
      case TensorId::weights: weights(); break;
      case TensorId::head_output: headOutput(); break;
      case TensorId::concat: concat("concat"); break;
      case TensorId::output: output(); break;
      default: break;
    }
    return std::move(lines_);
  }

 private:
  [[gnu::noinline]] void line(int depth, std::string words, bool makes = false) {
    LoopLine& line = lines_.emplace_back();
    line.depth = depth, line.text = std::move(words), line.makes = makes;
  }
  /// A loop over 1 … `count`; `body` goes on the same line, if there is one.
  void loop(int depth, std::string_view index, int count, std::string_view body = {}, bool opens = true) {
    line(depth, joined({"for ", index, " in 1 … ", count, body.empty() ? ":" : ": ", body}));
    if (opens) lines_.back().opens = index[0];
  }

  /// A line of a mechanism, with its own indentation.
  void indented(int depth, std::string_view words,
                std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
    while (takePrefix(words, "  ")) ++depth;
    line(depth, filled(words, values));
  }

  void projected(std::string_view name, const Tensor* bias, std::string_view from, int rows, int cols,
                 int width) {
    const char letter = static_cast<char>(name[0] + ('a' - 'A'));
    const std::string sum(1, letter);
    const bool isPositioned = spec_.position == Position::sinusoidal && from != "X_V";
    const std::string_view index = name == "Q" ? "i" : "j";
    loop(0, index, rows);
    loop(1, "c", cols);
    line(2, bias ? joined({sum, " = b_", name, "[c]"}) : joined({sum, " = 0"}));
    loop(2, "m", width,
         joined({sum, " = ", sum, " + ", isPositioned ? joined({"(", from, " + P)"}) : std::string(from), "[",
                 index, ",m] × W_", name, "[m,c]"}),
         false);
    line(2, joined({name, "[", index, ",c] = ", sum}), true);
  }

  /// The condition under which a key is hidden from a query; painted cells and patterns are looked up in a
  /// table.
  std::string hidden() const {
    std::vector<std::string> all;
    const std::int64_t offset = spec_.causalOffset;
    if (spec_.causal)
      all.push_back(joined({"j > ", plus("i", offset),
                            spec_.prefix > 0 ? " and j > " + std::to_string(spec_.prefix) : std::string()}));
    if (spec_.windowLeft >= 0) all.push_back("j < " + plus("i", offset - spec_.windowLeft));
    if (spec_.windowRight >= 0) all.push_back("j > " + plus("i", offset + spec_.windowRight));
    if (spec_.keyLength >= 0) all.push_back("j > " + std::to_string(spec_.keyLength));
    if (spec_.pattern.any() || (in_.painted && !in_.painted->empty())) all.push_back("masked[i,j]");
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : " or ") + one;
    return out;
  }

  void scores() {
    const bool isRotated = spec_.position == Position::rotary;
    const std::string q = isRotated ? "Q_r" : "Q", k = isRotated ? "K_r" : "K";
    loop(0, "i", spec_.queryCount);
    loop(1, "j", spec_.keyCount);
    line(2, "s = 0");
    eachLine(textOf(spec_.score).loops, [&](std::string_view words) {
      indented(2, words,
               {{"q", q},
                {"k", k},
                {"d", std::to_string(spec_.headDim)},
                {"e", std::to_string(queryWidth(spec_))},
                {"u", std::to_string(sizeOf(Size::scoreUnits, spec_, in_))}});
    });
    if (mechanismOf(spec_.score).isScaled)
      line(2, spec_.scale == 0.0f ? joined({"s = s ÷ √", spec_.headDim})
                                  : "s = s × " + text(double{spec_.scale}));
    const std::string cap = text(double{spec_.softcap});
    if (spec_.softcap > 0) line(2, joined({"s = ", cap, " × tanh(s ÷ ", cap, ")"}));
    if (spec_.position == Position::alibi)
      line(2, joined({"s = s − ", text(double{slopeOf(spec_, head_)}), " × |", plus("i", spec_.causalOffset),
                      " − j|"}));
    if (in_.bias) line(2, "s = s + bias[i,j]");
    const std::string when = spec_.maskAfterSoftmax ? std::string() : hidden();
    if (!when.empty()) line(2, joined({"if ", when, ": s = −∞"}));
    line(2, "S[i,j] = s", true);
  }

  /// Is there a row that sees no key, and therefore has no weights? Where sums are made when they are read,
  /// to ask each would compute the layer: there may be one.
  bool hasEmptyRow() const {
    if (!isSoftmax(spec_)) return false;
    if (!trace_.rowSum.isStored()) return true;
    for (int i = 0; i < spec_.queryCount; ++i)
      if (trace_.rowSum.at(head_, i, 0) == 0.0f) return true;
    return false;
  }

  void weights() {
    using arithmetic::Expression;
    const std::string divided =
        spec_.temperature == 1.0f ? std::string() : " ÷ " + text(double{spec_.temperature});
    const Expression s("S[i,j]" + divided, arithmetic::kPlain,
                       divided.empty() ? Expression::Binding::atom : Expression::Binding::product);
    const NormalizerText& normalizer = textOf(spec_.normalizer);
    const std::string weight = normalizer.weight ? normalizer.weight(s, Expression("t")).text : std::string();
    const std::string after = spec_.maskAfterSoftmax ? hidden() : std::string();
    const bool isEmpty = hasEmptyRow();
    const std::string sink = "sink" + divided;
    loop(0, "i", spec_.queryCount);
    int depth = 1;
    eachLine(normalizer.loops, [&](std::string_view words) {
      if (takePrefix(words, "?") && !isEmpty) return;
      if (words.starts_with("w = ")) loop(depth++, "j", spec_.keyCount);
      indented(depth, words,
               {{"s", s.text},
                {"row", "S[i]" + divided},
                {"n", std::to_string(spec_.keyCount)},
                {"w", weight},
                {"first", hasSink(spec_) ? sink : "−∞"},
                {"sink", hasSink(spec_) ? "exp(" + sink + " − m)" : "0"}});
    });
    if (!after.empty()) line(2, joined({"if ", after, ": w = 0"}));
    line(2, "W[i,j] = w", true);
  }

  void headOutput() {
    loop(0, "i", spec_.queryCount);
    loop(1, "c", spec_.valueDim);
    line(2, "o = 0");
    loop(2, "j", spec_.keyCount, "o = o + W[i,j] × V[j,c]", false);
    line(2, "O[i,c] = o", true);
  }

  std::string shownHeads() const {
    std::string heads;
    for (int h = 0; h < spec_.heads; ++h)
      if (!isHidden(spec_, h)) heads += (heads.empty() ? "" : ", ") + std::to_string(h + 1);
    return heads;
  }

  /// The outputs of all heads side by side, in the matrix with this name.
  void concat(std::string_view name) {
    loop(0, "i", spec_.queryCount);
    loop(1, "h", spec_.heads, {}, false);
    loop(2, "e", spec_.valueDim, {}, false);
    line(3, joined({"c = (h − 1) × ", spec_.valueDim, " + e"}));
    line(3, joined({name, "[i,c] = O[h,i,e]"}), true);
    if (spec_.hiddenHeads != 0) line(3, joined({"if h is not ", shownHeads(), ": ", name, "[i,c] = 0"}));
  }

  void output() {
    if (!in_.wO) return concat("Y");
    const bool isAll = spec_.hiddenHeads == 0;
    loop(0, "i", spec_.queryCount);
    loop(1, "c", in_.wO->cols());
    line(2, in_.bO ? "y = b_O[c]" : "y = 0");
    if (isAll) loop(2, "h", spec_.heads, {}, false);
    else line(2, joined({"for h in ", shownHeads(), ":"}));
    loop(3, "e", spec_.valueDim, joined({"y = y + O[h,i,e] × W_O[(h − 1) × ", spec_.valueDim, " + e,c]"}),
         false);
    line(2, "Y[i,c] = y", true);
  }

  const Spec& spec_;
  const Inputs& in_;
  const Trace& trace_;
  int head_;
  std::vector<LoopLine> lines_;
};

/// Swaps the two indices everywhere: "S[i,j]" becomes "S[j,i]".
void turn(std::string& words) {
  for (std::size_t at = words.find('['); at != std::string::npos; at = words.find('[', at + 1)) {
    const std::size_t end = words.find(']', at), comma = words.find(',', at);
    if (end == std::string::npos || comma == std::string::npos || comma > end ||
        words.find(',', comma + 1) < end)
      continue;
    const std::string first = words.substr(at + 1, comma - at - 1),
                      second = words.substr(comma + 1, end - comma - 1);
    words.replace(at + 1, end - at - 1, joined({second, ",", first}));
  }
}

}  // namespace

TensorId madeByLoops(TensorId id) {
  if (id >= TensorId::raw && id <= TensorId::masked) return TensorId::scores;
  if (id == TensorId::exponentials || id == TensorId::row_max || id == TensorId::row_sum)
    return TensorId::weights;
  return id;
}

std::vector<LoopLine> loopsOf(TensorId id, const Spec& spec, const Inputs& in, const Trace& trace, int head,
                              bool tokensAreColumns) {
  id = madeByLoops(id);
  if ((id == TensorId::q || id == TensorId::k || id == TensorId::v) && !in.projected()) return {};
  std::vector<LoopLine> lines = Writer(spec, in, trace, head).made(id);
  for (LoopLine& line : lines)
    if (tokensAreColumns) turn(line.text);
  return lines;
}

}  // namespace attention
