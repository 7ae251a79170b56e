#include "files/export/model_code.h"

#include <algorithm>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "base/sentence.h"
#include "document/json.h"
#include "files/formats/digits.h"
#include "training/trainer.h"

namespace files {
namespace {

using base::joined;

class ModelProgram {
 public:
  ModelProgram(const training::Trainer& trainer, Language language, const std::string& path)
      : setup_(trainer.setup()),
        examples_(trainer.examples()),
        language_(language),
        isTorch_(language == Language::torch),
        np_(libraryOf(language)),
        path_(path),
        translates_(training::isTranslation(setup_)) {
    spec_.heads = spec_.kvHeads = setup_.heads;
    spec_.headDim = spec_.valueDim = setup_.modelDim / setup_.heads;
    spec_.score = setup_.score, spec_.normalizer = setup_.normalizer;
  }

  std::string text() {
    head();
    if (setup_.layerNorm) norm();
    embedded();
    if (setup_.position == training::Positions::rotary) turned();
    attention();
    stack();
    end();
    return out_;
  }

 private:
  void line(const std::string& text) { out_ += text + "\n"; }
  /// Lines of a function; a comment stands above what it is about.
  void inner(const std::string& text) {
    attention::eachLine(text, [&](std::string_view one) {
      const std::size_t comment = std::min(one.find("  # "), one.size());
      if (comment < one.size()) line("    " + std::string(one.substr(comment + 2)));
      line("    " + std::string(one.substr(0, comment)));
    });
  }
  std::string np(const std::string& name) const { return np_ + "." + name; }
  std::string array() const { return isTorch_ ? "torch.tensor" : np("array"); }
  std::string swapped() const { return isTorch_ ? ".transpose(0, 1)" : ".swapaxes(0, 1)"; }
  /// The first of them, as many as stand in a line.
  std::string ids(const std::vector<int>& list) const {
    std::string out = array() + "([";
    for (std::size_t i = 0; i < std::min<std::size_t>(list.size(), 12); ++i)
      out += joined({i > 0 ? ", " : "", list[i]});
    return out + "])";
  }

  void head() {
    const bool isNpz = path_.ends_with(".npz");
    line(joined({"# A model that attn train wrote: ", setup_.layers,
                 setup_.layers == 1 ? " layer" : " layers", ", ", setup_.heads,
                 setup_.heads == 1 ? " head" : " heads", " of ", spec_.headDim, " columns."}));
    if (isNpz || language_ == Language::numpy) line("import numpy as np");
    if (language_ != Language::numpy) line(isTorch_ ? "import torch" : "import jax.numpy as jnp");
    if (!isNpz) line("from safetensors.numpy import load_file");
    const training::Sequence& sequence = examples_.heldOut.front();
    const std::string file = document::jsonQuoted(path_);
    line("");
    line("stored = " + (isNpz ? "np.load(" + file + ")" : "load_file(" + file + ")"));
    const std::string numbers = language_ == Language::numpy ? "a" : array() + "(a)";
    line("p = {name: " + numbers + " for name, a in stored.items()");
    line("     if a.dtype.kind == \"f\"}");
    if (translates_)
      line("# Numbers of the source vocabulary, and of the vocabulary:\nsource = " + ids(sequence.source));
    else line("# Numbers of the vocabulary:");
    line("tokens = " + ids(sequence.tokens));
    line("# The tensors of all layers, by the names that attn run has for them:");
    line("found = {}");
  }

  void norm() {
    line("\n\ndef norm(x, name, number=\"\"):");
    line("    x = x - x.mean(-1)[..., None]");
    line("    x = x / ((x ** 2).mean(-1)[..., None] + 1e-5) ** 0.5");
    line("    return x * p[name + \"gamma\" + number] + p[name + \"delta\" + number]");
  }
  std::string normed(const std::string& x, const std::string& name, const std::string& number) const {
    if (!setup_.layerNorm) return x;
    return "norm(" + x + ", " + name + (number.empty() ? ")" : ", \"" + number + "\")");
  }

  void embedded() {
    line("\n\ndef embedded(ids, name):");
    line("    x = p[name + \"embedding\"][ids]");
    if (setup_.position == training::Positions::learned)
      line("    x = x + p[name + \"positions\"][:len(ids)]");
    if (setup_.position == training::Positions::sinusoidal) {
      const std::string columns = std::to_string(setup_.modelDim);
      line("    column = " + np("arange(") + columns + ")");
      line("    angle = " + np("arange(len(ids))[:, None]"));
      line("    angle = angle / 10000.0 ** ((column // 2 * 2) / " + columns + ")");
      line("    x = x + " + np("where(column % 2 == 0, ") + np("sin(angle), ") + np("cos(angle))"));
    }
    line("    return x");
  }

  void turned() {
    const std::string half = std::to_string(spec_.headDim / 2), axis = isTorch_ ? "-1)" : "axis=-1)";
    line("\n\ndef turned(x):");
    line("    angle = " + np("arange(x.shape[1])[:, None]"));
    line("    angle = angle / 10000.0 ** (" + np("arange(") + half + ") / " + half + ")");
    line("    a, b = x[..., 0::2], x[..., 1::2]");
    line("    c, s = " + np("cos(angle), ") + np("sin(angle)"));
    line("    pairs = " + np("stack([a * c - b * s, a * s + b * c], ") + axis);
    line("    return pairs.reshape(*x.shape[:2], -1)");
  }

  void attention() {
    const std::string heads = std::to_string(setup_.heads), width = std::to_string(spec_.headDim);
    line("\n\ndef attention(x, keys, name, causal):");
    line("    q, k, v = [(one @ p[name + w]).reshape(len(one), " + heads + ", " + width + ")" + swapped());
    line("               for one, w in ((x, \"w_q\"), (keys, \"w_k\"), (keys, \"w_v\"))]");
    for (const attention::TensorId id : attention::mechanismOf(setup_.score).parameters) {
      const std::string name(attention::name(id));
      line("    " + name + " = p[name + \"" + name + "\"].reshape(" + heads + ", -1, " + width + ")");
    }
    line("    found.update({name + \"q\": q, name + \"k\": k, name + \"v\": v})");
    if (setup_.position == training::Positions::rotary) line("    q, k = turned(q), turned(k)");
    inner(scoresProgram(spec_, language_));
    line("    found[name + \"scores\"] = scores");
    line("    i, j = " + np("arange(len(x))[:, None]") + ", " + np("arange(len(keys))"));
    if (setup_.position == training::Positions::alibi) {
      std::string slopes;
      for (int h = 0; h < setup_.heads; ++h)
        slopes += (h > 0 ? ", " : "") + digitsOf(attention::slopeOf(spec_, h));
      line("    if keys is x:");
      line("        slopes = " + array() + "([" + slopes + "])");
      line("        scores = scores - slopes[:, None, None] * " + np("abs(i - j)"));
    }
    line("    if causal:");
    line("        scores = " + np("where(j <= i, scores, ") +
         (isTorch_ ? "-float(\"inf\"))" : "-" + np("inf)")));
    inner(weightsProgram(spec_, language_, true, 0));
    line("    output = (weights @ v)" + swapped() + ".reshape(len(x), -1)");
    line("    output = output @ p[name + \"w_o\"]");
    line("    found.update({name + \"x\": x, name + \"weights\": weights})");
    line("    found[name + \"output\"] = output");
    line("    return output");
  }

  void stack() {
    const std::string adds = setup_.residual ? "x = x + " : "x = ";
    line("\n\ndef stack(x, name, causal, memory=None):");
    line("    for layer in range(" + std::to_string(setup_.layers) + "):");
    line("        at = f\"{name}layers.{layer}.\"");
    line("        h = " + normed("x", "at", "_1"));
    line("        " + adds + "attention(h, h, at, causal)");
    if (translates_) {
      line("        if memory is not None:");
      line("            h = " + normed("x", "at + \"cross.\"", "_1"));
      line("            " + adds + "attention(h, memory, at + \"cross.\", False)");
    }
    if (setup_.feedForward) {
      const std::string hidden = "h @ p[at + \"w_1\"] + p[at + \"b_1\"]";
      line("        h = " + normed("x", "at", "_2"));
      line("        h = " + (isTorch_ ? "torch.relu(" + hidden : np("maximum(0, ") + hidden) + ")");
      line("        " + adds + "h @ p[at + \"w_2\"] + p[at + \"b_2\"]");
    }
    line("    return " + normed("x", "name", ""));
  }

  void end() {
    const std::string causal = setup_.causal || translates_ ? "True" : "False";
    line("\n");
    if (translates_) line("memory = stack(embedded(source, \"encoder.\"), \"encoder.\", False)");
    line("x = stack(embedded(tokens, \"\"), \"\", " + causal + (translates_ ? ", memory)" : ")"));
    line("logits = x @ p[\"unembedding\"] + p[\"unembedding_bias\"]");
  }

  const training::Setup& setup_;
  const training::Examples& examples_;
  Language language_;
  bool isTorch_;
  std::string np_, path_, out_;
  bool translates_;
  attention::Spec spec_;
};

}  // namespace

base::Result<std::string> toCode(const TrainedModel& model, Language language, const std::string& path) {
  if (language == Language::latex)
    return base::refuse(base::Error::Kind::range, "--as",
                        {"a whole model is written for numpy, torch or jax; for latex give a layer of it, as "
                         "attn run --outputs layers.0.q,layers.0.k,layers.0.v writes it."})
        .error();
  if (!path.ends_with(".npz") && !path.ends_with(".safetensors"))
    return base::refuse(base::Error::Kind::range, "STATE",
                        {"the program of a model reads it from a file; convert it to .npz or .safetensors."})
        .error();
  return ModelProgram(model.trainer(), language, path).text();
}

}  // namespace files
