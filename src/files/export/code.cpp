#include "files/export/code.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "attention/mechanisms/mechanism.h"
#include "attention/reference/reference.h"
#include "attention/steps/mask.h"
#include "attention/steps/position.h"
#include "document/document.h"
#include "document/not_finite.h"
#include "files/formats/digits.h"

namespace files {
namespace {

using attention::Tensor;
using attention::TensorId;

constexpr std::size_t kColumn = 78;  ///< characters of 5 points that fit 3.25 inches
constexpr std::array<std::string_view, 4> kNames{"numpy", "torch", "jax", "latex"};

std::string digits(float value) {
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  return digitsOf(value);
}

/// Is any key masked other than by the bias?
bool isMasked(const document::State& state, const attention::Spec& spec) {
  const bool isDrawn = spec.pattern.any() || spec.prefix > 0 || !state.painted.empty(),
             isBounded = spec.causal || spec.windowLeft >= 0 || spec.windowRight >= 0;
  return isDrawn || isBounded || (spec.keyLength >= 0 && spec.keyLength < spec.keyCount);
}

/// Writes the program for a layer that has passed validate().
class Program {
 public:
  Program(const document::State& state, Language language)
      : state_(state),
        spec_(document::spec(state)),
        inputs_(document::inputs(state)),
        language_(language),
        isTorch_(language == Language::torch),
        np_(libraryOf(language)) {}

  std::string text() {
    line("# Attention: " + count(spec_.heads, "head") + ", " + count(spec_.queryCount, "query", "queries") +
         ", " + count(spec_.keyCount, "key") + ".");
    if (state_.batch > 1)
      line("# The one on the board, number " + whole(state_.batchItem + 1) + " of a batch of " +
           whole(state_.batch) + ".");
    line(isTorch_ ? "import torch" : np_ == "jnp" ? "import jax.numpy as jnp" : "import numpy as np");
    if (spec_.pattern.any() || spec_.prefix > 0 || inputs_.bias || !state_.painted.empty())
      line("inf = float(\"inf\")");
    line("");
    inputs();
    positions();
    scores();
    bias();
    mask();
    weights();
    output();
    return out_;
  }

 private:
  static std::string count(int n, const std::string& one, const std::string& many = {}) {
    return std::to_string(n) + " " + (n == 1 ? one : many.empty() ? one + "s" : many);
  }
  /// A comment that makes a line wider than a column of a page stands above it.
  void line(const std::string& text) {
    const std::size_t comment = text.size() > kColumn ? text.find("  # ") : std::string::npos;
    if (comment == std::string::npos) out_ += text + "\n";
    else out_ += text.substr(comment + 2) + "\n" + text.substr(0, comment) + "\n";
  }
  std::string np(const std::string& name) const { return np_ + "." + name; }
  std::string array() const { return isTorch_ ? "torch.tensor" : np("array"); }
  /// What stands for a masked score.
  std::string masked() const { return isTorch_ ? "-float(\"inf\")" : "-" + np("inf"); }
  static std::string whole(int value) { return std::to_string(value); }

  /// A list of lists; a row begins a line, and goes on in the next where it would be wider than a column.
  void literal(const std::string& name, const Tensor& tensor, bool isMatrix) {
    std::string text = name + " = " + array() + "([";
    for (int h = 0; h < tensor.heads(); ++h) {
      if (!isMatrix) text += h > 0 ? ",\n    [" : "[";
      for (int r = 0; r < tensor.rows(); ++r) {
        text += r > 0 ? ",\n    [" : "[";
        for (int c = 0; c < tensor.cols(); ++c) {
          const std::string number = (c > 0 ? ", " : "") + digits(tensor.at(h, r, c));
          const bool fits = text.size() - text.rfind('\n') - 1 + number.size() + 4 <= kColumn;
          text += fits || c == 0 ? number : ",\n     " + number.substr(2);
        }
        text += "]";
      }
      if (!isMatrix) text += "]";
    }
    const std::string type = "dtype=" + (isTorch_ ? "torch.float32" : np("float32")) + ")";
    const bool fits = text.size() - text.rfind('\n') + type.size() + 2 <= kColumn;
    line(text + (fits ? "], " : "],\n    ") + type);
  }

  void inputs() {
    if (!inputs_.projected()) {
      literal("q", *inputs_.q, false), literal("k", *inputs_.k, false), literal("v", *inputs_.v, false);
    } else {
      literal("x", *inputs_.x, true);
      if (inputs_.xKv) literal("x_kv", *inputs_.xKv, true);
      if (inputs_.xV) literal("x_v", *inputs_.xV, true);
      literal("w_q", *inputs_.wQ, true), literal("w_k", *inputs_.wK, true), literal("w_v", *inputs_.wV, true);
      if (inputs_.wO) literal("w_o", *inputs_.wO, true);
      for (const auto& [name, bias] :
           {std::pair("b_q", inputs_.bQ), {"b_k", inputs_.bK}, {"b_v", inputs_.bV}, {"b_o", inputs_.bO}})
        if (bias) literal(name, *bias, true);
    }
    for (const TensorId id : attention::mechanismOf(spec_.score).parameters)
      literal(std::string(attention::name(id)), *(inputs_.*attention::tensorRow(id).given), false);
    if (attention::hasSink(spec_)) literal("sink", *inputs_.sink, false);
    line("");
  }

  void sinusoids(const std::string& name, int first, int rows) {
    const std::string columns = whole(inputs_.x->cols());
    line("column = " + np("arange(") + columns + ")");
    line("angle = " + ids(first, rows) + "[:, None] / 10000.0 ** ((column // 2 * 2) / " + columns + ")");
    line(name + " = " + name + " + " + np("where(column % 2 == 0, ") + np("sin(angle), ") +
         np("cos(angle))"));
  }

  std::string heads(const std::string& from, const std::string& weight, const char* bias, int rows,
                    int count) const {
    const std::string split =
        "(" + from + " @ " + weight + bias + ").reshape(" + whole(rows) + ", " + whole(count) + ", -1)";
    return isTorch_ ? split + ".transpose(0, 1)" : split + ".swapaxes(0, 1)";
  }

  /// The positions of rows: given position ids, or a range.
  std::string ids(int first, int rows) const {
    if (spec_.positionIds.empty()) return np("arange(") + whole(first) + ", " + whole(first + rows) + ")";
    std::string list;
    for (int i = 0; i < rows; ++i)
      list += (i > 0 ? ", " : "") + whole(attention::positionId(spec_, first + i));
    return array() + "([" + list + "])";
  }

  static std::string decimal(float value) {  // never an integer, because powers of integers are integers too
    const std::string text = digits(value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
  }

  void rotated(const std::string& name, int first, int rows) {
    const int turned = attention::rotatedColumns(spec_);
    const attention::Rotary& rotary = spec_.rotary;
    const std::string half = whole(turned / 2), axis = isTorch_ ? "-1)" : "axis=-1)",
                      join = isTorch_ ? np("cat([") : np("concatenate([");
    std::string base = decimal(rotary.base);
    if (rotary.scaling == attention::RotaryScaling::ntk && turned > 2)
      base = "(" + base + " * " + decimal(rotary.factor) + " ** (" + whole(turned) + " / " +
             whole(turned - 2) + "))";
    const std::string divided =
        rotary.scaling == attention::RotaryScaling::linear ? " / " + decimal(rotary.factor) : "";
    line("angle = " + ids(first, rows) + "[:, None]" + divided + " / " + base + " ** (" + np("arange(") +
         half + ") / " + half + ")");
    const bool isPartial = turned < spec_.headDim;
    const std::string rest = isPartial ? ", " + name + "[..., " + whole(turned) + ":]" : "";
    const std::string x = "a * " + np("cos(angle) - b * ") + np("sin(angle)"),
                      y = "a * " + np("sin(angle) + b * ") + np("cos(angle)");
    if (rotary.pairs == attention::RotaryPairs::half) {
      line("a, b = " + name + "[..., :" + half + "], " + name + "[..., " + half + ":" + whole(turned) + "]");
      line(name + " = " + join + x + ", " + y + rest + "], " + axis);
      return;
    }
    line("a, b = " + name + "[..., 0:" + whole(turned) + ":2], " + name + "[..., 1:" + whole(turned) + ":2]");
    const std::string pairs =
        np("stack([") + x + ", " + y + "], " + axis + ".reshape(" +
        (isPartial ? name + ".shape[:-1] + (" + whole(turned) + ",)" : name + ".shape") + ")";
    line(name + " = " + (isPartial ? join + pairs + rest + "], " + axis : pairs));
  }

  void positions() {
    if (inputs_.projected()) {
      const std::string keys = inputs_.xKv ? "x_kv" : "x";
      if (spec_.position == attention::Position::sinusoidal) {
        sinusoids("x", attention::firstPosition(spec_, inputs_), spec_.queryCount);
        if (inputs_.xKv) sinusoids("x_kv", 0, spec_.keyCount);
      }
      line("q = " + heads("x", "w_q", inputs_.bQ ? " + b_q" : "", spec_.queryCount, spec_.heads));
      line("k = " + heads(keys, "w_k", inputs_.bK ? " + b_k" : "", spec_.keyCount, spec_.kvHeads));
      line("v = " + heads(inputs_.xV ? "x_v" : keys, "w_v", inputs_.bV ? " + b_v" : "", spec_.keyCount,
                          spec_.kvHeads));
    }
    if (attention::isRotary(spec_))
      rotated("q", spec_.causalOffset, spec_.queryCount), rotated("k", 0, spec_.keyCount);
    if (spec_.kvHeads == spec_.heads) return;
    for (const std::string name : {"k", "v"})  // query heads share them
      line(name + " = " +
           (isTorch_ ? name + ".repeat_interleave(" + whole(spec_.heads / spec_.kvHeads) + ", 0)"
                     : np("repeat(") + name + ", " + whole(spec_.heads / spec_.kvHeads) + ", axis=0)"));
  }

  void lines(const std::string& text) {
    attention::eachLine(text, [&](std::string_view one) { line(std::string(one)); });
  }

  void scores() { lines(scoresProgram(spec_, language_)); }

  void bias() {
    if (inputs_.bias) literal("bias", *inputs_.bias, false), line("scores = scores + bias");
    if (spec_.position != attention::Position::alibi) return;
    std::string slopes;
    for (int h = 0; h < spec_.heads; ++h)
      slopes += (h > 0 ? ", " : "") + digits(attention::slopeOf(spec_, h));
    line("slopes = " + array() + "([" + slopes + "])[:, None, None]");
    line("distance = " + np("abs(") + position() + " - " + np("arange(") + whole(spec_.keyCount) + "))");
    line("scores = scores - slopes * distance");
  }

  std::string position() const {
    const int first = spec_.causalOffset;
    return np("arange(") + (first > 0 ? whole(first) + ", " : "") + whole(first + spec_.queryCount) +
           ")[:, None]";
  }

  void mask() {
    using attention::Hidden;
    const bool isDrawn = spec_.pattern.any() || spec_.prefix > 0 || !state_.painted.empty();
    const bool isBounded = spec_.causal || spec_.windowLeft >= 0 || spec_.windowRight >= 0;
    isMasked_ = isMasked(state_, spec_);
    if (!isMasked_) return;
    if (isDrawn) {
      std::string rows;
      for (int i = 0; i < spec_.queryCount; ++i) {
        const attention::MaskRow row(spec_, i);
        rows += i > 0 ? ",\n    [" : "[";
        for (int j = 0; j < spec_.keyCount; ++j)
          rows +=
              std::string(j > 0 ? ", " : "") + (row.sees(j) && !state_.painted.isBlocked(i, j) ? "1" : "0");
        rows += "]";
      }
      line("visible = " + array() + "([" + rows + "]) == 1");
    } else {
      if (isBounded) line("i = " + position());
      line("j = " + np("arange(") + whole(spec_.keyCount) + ")");
      std::string terms;
      const auto add = [&terms](const std::string& term) {
        terms += (terms.empty() ? "" : " & ") + ("(" + term + ")");
      };
      if (spec_.causal) add("j <= i");
      if (spec_.windowLeft >= 0) add("j >= i - " + whole(spec_.windowLeft));
      if (spec_.windowRight >= 0) add("j <= i + " + whole(spec_.windowRight));
      if (spec_.keyLength >= 0 && spec_.keyLength < spec_.keyCount) add("j < " + whole(spec_.keyLength));
      line("visible = " + terms);
    }
    if (!spec_.maskAfterSoftmax) line("scores = " + np("where(visible, scores, ") + masked() + ")");
  }

  void weights() {
    const bool canBeEmpty = (isMasked_ && !spec_.maskAfterSoftmax) || inputs_.bias;
    lines(weightsProgram(spec_, language_, canBeEmpty, spec_.keyCount));
    if (spec_.maskAfterSoftmax && isMasked_)
      line("weights = weights * visible  # after the softmax: a mistake, rows no longer sum to 1");
  }

  void output() {
    line("output = weights @ v");
    if (spec_.hiddenHeads != 0 && inputs_.projected()) {
      std::string shown;
      for (int h = 0; h < spec_.heads; ++h)
        shown += std::string(h > 0 ? ", " : "") + (attention::isHidden(spec_, h) ? "0.0" : "1.0");
      line("output = output * " + array() + "([" + shown + "])[:, None, None]");
    }
    if (inputs_.projected())
      line("output = output." + std::string(isTorch_ ? "transpose(0, 1)" : "swapaxes(0, 1)") + ".reshape(" +
           whole(spec_.queryCount) + ", -1)" + (inputs_.wO ? " @ w_o" : "") + (inputs_.bO ? " + b_o" : ""));
  }

  const document::State& state_;
  attention::Spec spec_;
  attention::Inputs inputs_;
  Language language_;
  bool isTorch_, isMasked_ = false;
  std::string np_, out_;
};

// ---- LaTeX

/// No wider than the column in which it stands.
constexpr std::string_view kFitted =
    "\\[\n\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}"
    "{$\\arraycolsep=3pt\\displaystyle\\begin{aligned}\n";

/// Of more than ten rows or columns the first six and the last three, with dots between.
std::string matrix(const attention::ReferenceTensor& tensor, int head, int decimals) {
  const auto next = [](int i, int count) { return count > 10 && i == 6 ? count - 3 : i + 1; };
  const auto isGap = [](int i, int count) { return count > 10 && i == 6; };
  std::string out = "\\begin{bmatrix}";
  for (int r = 0; r < tensor.rows; r = next(r, tensor.rows)) {
    out += r > 0 ? " \\\\ " : " ";
    for (int c = 0; c < tensor.cols; c = next(c, tensor.cols)) {
      if (isGap(r, tensor.rows) || isGap(c, tensor.cols)) {
        out += c > 0 ? " & " : "";
        out += !isGap(r, tensor.rows) ? "\\cdots" : isGap(c, tensor.cols) ? "\\ddots" : "\\vdots";
        continue;
      }
      char text[64];
      const double value = tensor.at(head, r, c);
      if (std::isinf(value)) std::snprintf(text, sizeof text, "%s", value < 0 ? "-\\infty" : "\\infty");
      else std::snprintf(text, sizeof text, "%.*f", decimals, value);
      out += (c > 0 ? " & " : "") + std::string(text);
    }
  }
  return out + " \\end{bmatrix}";
}

std::string fraction(const std::string& above, const std::string& below) {
  return "\\frac{" + above + "}{" + below + "}";
}

/// The formula of S, without and with the bias.
std::string scoreFormula(const attention::Spec& spec, const attention::Inputs& inputs) {
  std::string out(attention::textOf(spec.score).latex);
  if (attention::mechanismOf(spec.score).isScaled)
    out = spec.scale == 0 ? fraction(out, "\\sqrt{" + std::to_string(spec.headDim) + "}")
                          : digits(spec.scale) + " \\, " + out;
  if (spec.softcap > 0)
    out = digits(spec.softcap) + " \\tanh\\left(" + fraction(out, digits(spec.softcap)) + "\\right)";
  if (inputs.bias) out += " + B";
  if (spec.position == attention::Position::alibi) out += " - m \\, |i - j|";
  return out;
}

/// The formula of A, where `scores` is the symbol of the scores.
std::string weightsFormula(const attention::Spec& spec, const std::string& scores, bool isMaskedAfter) {
  const std::string inner = spec.temperature == 1 ? scores : fraction(scores, digits(spec.temperature));
  const std::string name(attention::textOf(spec.normalizer).latex);
  std::string out = name.empty() ? inner : name + "\\left(" + inner + "\\right)";
  if (attention::hasSink(spec)) {
    const std::string exp = "\\exp\\left(" + inner + "\\right)", sink = "\\text{sink}";
    out = fraction(exp, "\\sum_j " + exp + " + \\exp\\left(" +
                            (spec.temperature == 1 ? sink : fraction(sink, digits(spec.temperature))) +
                            "\\right)");
  }
  return isMaskedAfter ? out + " \\odot M" : out;
}

/// The formulas of Q, K and V, one per line; none where they are inputs.
std::string projectionFormulas(const attention::Spec& spec, const attention::Inputs& inputs, int head,
                               int kvHead) {
  const bool isRotary = attention::isRotary(spec);
  const auto turned = [&](const std::string& of) {
    return isRotary ? "\\operatorname{RoPE}\\left(" + of + "\\right)" : of;
  };
  if (!inputs.projected())
    return isRotary ? "  \\tilde Q &= " + turned("Q") + ", \\quad \\tilde K = " + turned("K") + " \\\\\n"
                    : std::string();
  const auto from = [&](const std::string& x) {
    return spec.position == attention::Position::sinusoidal ? "(" + x + " + P)" : x;
  };
  const std::string x = from("X"), keys = from(inputs.xKv ? "X_{kv}" : "X"),
                    of = "^{(" + std::to_string(head + 1) + ")}",
                    shared = "^{(" + std::to_string(kvHead + 1) + ")}";
  return "  Q &= " + turned(x + " W_Q" + of) + ", \\quad K = " + turned(keys + " W_K" + shared) +
         ", \\quad V = " + keys + " W_V" + shared + " \\\\\n";
}

std::string latex(const document::State& state, const attention::ReferenceTrace& trace) {
  const attention::Spec spec = document::spec(state);
  const attention::Inputs inputs = document::inputs(state);
  const bool hasMask = !trace.masked.empty() && isMasked(state, spec);
  const int head = std::min(state.focusHead, spec.heads - 1), kvHead = head / (spec.heads / spec.kvHeads);
  const bool isRotated = attention::isRotary(spec) && !inputs.projected();
  const std::string q = isRotated ? "\\tilde Q" : "Q", k = isRotated ? "\\tilde K" : "K";
  const auto show = [&](const std::string& name, const attention::ReferenceTensor& tensor, int at) {
    return "  " + name + " &= " + matrix(tensor, at, state.decimals);
  };
  std::string out = "% needs amsmath and graphicx; head " + std::to_string(head + 1) + " of " +
                    std::to_string(spec.heads) + "\n";
  if (state.batch > 1)
    out += "% number " + std::to_string(state.batchItem + 1) + " of a batch of " +
           std::to_string(state.batch) + "\n";
  out += std::string(kFitted) + projectionFormulas(spec, inputs, head, kvHead);
  std::string score = scoreFormula(spec, inputs);
  if (isRotated)
    for (std::size_t at = score.find("Q K^"); at != std::string::npos; at = score.find("Q K^", at + 14))
      score.replace(at, 3, "\\tilde Q \\tilde K");
  out +=
      "  S &= " + score + ", \\quad W = " +
      weightsFormula(spec, hasMask && !spec.maskAfterSoftmax ? "\\operatorname{mask}\\left(S\\right)" : "S",
                     hasMask && spec.maskAfterSoftmax) +
      ", \\quad O = W V \\\\\n";
  if (inputs.projected() && inputs.wO) {
    std::string heads;
    for (int h = 0; h < spec.heads; ++h)
      heads += (h > 0 ? ", " : "") +
               (attention::isHidden(spec, h) ? std::string("0") : "O^{(" + std::to_string(h + 1) + ")}");
    out += "  Y &= \\left[" + heads + "\\right] W_O \\\\\n";
  }
  out += show(q, attention::queriesOf(trace), head) + " \\\\\n" + show(k, attention::keysOf(trace), kvHead) +
         " \\\\\n" + show("V", trace.v, kvHead) + " \\\\\n";
  out += show("S", attention::biasedOf(trace), head) + " \\\\\n";
  if (hasMask && !spec.maskAfterSoftmax)
    out += show("\\operatorname{mask}(S)", trace.masked, head) + " \\\\\n";
  out += show("W", trace.weights, head) + " \\\\\n" + show("O", trace.headOutput, head);
  if (inputs.projected() && inputs.wO) out += " \\\\\n" + show("Y", trace.output, 0);
  return out + "\n\\end{aligned}$}\n\\]\n";
}

}  // namespace

std::string_view name(Language language) { return kNames[static_cast<std::size_t>(language)]; }

std::optional<Language> languageNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Language>(i);
  return std::nullopt;
}

std::string_view libraryOf(Language language) {
  return language == Language::torch ? "torch" : language == Language::jax ? "jnp" : "np";
}

std::string scoresProgram(const attention::Spec& spec, Language language) {
  const std::string np(libraryOf(language));
  std::string scale;
  if (attention::mechanismOf(spec.score).isScaled)
    scale = spec.scale == 0 ? " / " + std::to_string(spec.headDim) + " ** 0.5" : " * " + digits(spec.scale);
  std::string out =
      attention::filled(attention::textOf(spec.score).program,
                        {{"np", np},
                         {"T", language == Language::torch ? ".transpose(-1, -2)" : ".swapaxes(-1, -2)"},
                         {"scale", scale}});
  if (spec.softcap > 0) {
    const std::string cap = digits(spec.softcap);
    out += "\nscores = " + cap + " * " + np + ".tanh(scores / " + cap + ")";
  }
  return out;
}

std::string weightsProgram(const attention::Spec& spec, Language language, bool canBeEmpty, int keys) {
  using attention::arithmetic::Expression;
  const bool isTorch = language == Language::torch;
  const std::string np(libraryOf(language));
  std::string out;
  const auto line = [&](const std::string& text) { out += (out.empty() ? "" : "\n") + text; };
  if (spec.temperature != 1) line("scores = scores / " + digits(spec.temperature));
  const attention::NormalizerText& normalizer = attention::textOf(spec.normalizer);
  const std::string axis = isTorch ? "-1, keepdim=True" : "axis=-1, keepdims=True";
  const attention::arithmetic::Notation python = attention::arithmetic::python(np);
  const Expression score(attention::normalizerOf(spec).isByCell ? "scores" : "z", python);
  const std::string weight =
      normalizer.weight ? normalizer.weight(score, Expression("threshold", python)).text : std::string();
  const std::string sink = spec.temperature == 1 ? "sink" : "sink / " + digits(spec.temperature);
  attention::eachLine(normalizer.program, [&](std::string_view words) {
    if ((attention::takePrefix(words, "+") && !attention::hasSink(spec)) ||
        (attention::takePrefix(words, "-") && attention::hasSink(spec)))
      return;
    if ((attention::takePrefix(words, "?") && !canBeEmpty) ||
        (attention::takePrefix(words, "!") && canBeEmpty))
      return;
    if ((attention::takePrefix(words, "torch:") && !isTorch) ||
        (attention::takePrefix(words, "numpy:") && isTorch))
      return;
    line(attention::filled(words, {{"np", np},
                                   {"keep", axis},
                                   {"max", (isTorch ? "scores.amax(" : "scores.max(") + axis + ")"},
                                   {"inf", isTorch ? "-float(\"inf\")" : "-" + np + ".inf"},
                                   {"n", keys > 0 ? std::to_string(keys) : "len(keys)"},
                                   {"n+1", keys > 0 ? std::to_string(keys + 1) : "len(keys) + 1"},
                                   {"w", weight},
                                   {"sink", sink}}));
  });
  return out;
}

base::Result<std::string> toCode(const document::State& state, Language language) {
  if (auto ok = attention::validate(document::spec(state), document::inputs(state)); !ok) return ok;
  const std::string gap = document::notFiniteSentence(state).english(),
                    comment = gap.empty() ? gap
                                          : base::joined({language == Language::latex ? "% " : "# ",
                                                          base::printable(gap), "\n"});
  if (language != Language::latex) return comment + Program(state, language).text();
  // The reference computes the numbers, so that the page's module for files does not need the kernels.
  return comment + latex(state, attention::reference(document::spec(state), document::inputs(state)));
}

}  // namespace files
