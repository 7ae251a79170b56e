// `attn mechanisms`: what the registry and the table of options have, for documents and types that are made
// from it.
#include "attention/mechanisms/mechanism.h"

#include "attention/experiments/cost.h"
#include "base/number.h"
#include "cli/command.h"
#include "cli/files.h"
#include "document/json.h"
#include "document/option.h"

namespace cli {
namespace {

using document::jsonQuoted;

std::string member(std::string_view name, std::string_view text) {
  return jsonQuoted(name) + ": " + jsonQuoted(text);
}
std::string member(std::string_view name, double value) {
  return jsonQuoted(name) + ": " + std::to_string(static_cast<long long>(value));
}
std::string member(std::string_view name, bool value) {
  return jsonQuoted(name) + ": " + (value ? "true" : "false");
}

/// What a pass over that many tokens costs, in one head of 64 columns.
std::string costAt(attention::Score score, int tokens) {
  attention::CostSpec of;
  of.layer.score = score;
  of.layer.headDim = of.layer.valueDim = 64;
  of.tokens = tokens;
  const attention::Cost cost = attention::costOf(of);
  return "{" + member("tokens", static_cast<double>(tokens)) + ", " + member("multiplyAdds", cost.scores) +
         ", " + member("tanhs", cost.tanhs) + ", " + member("parameters", cost.parameters) + ", " +
         member("bytes", cost.scoreBytes()) + "}";
}

std::string recordOf(attention::Score score) {
  const attention::ScoreMechanism& mechanism = attention::mechanismOf(score);
  const attention::ScoreText& text = attention::textOf(score);
  return "{" + member("name", attention::kScoreNames[static_cast<std::size_t>(score)]) + ", " +
         member("title", mechanism.title) + ", " + member("about", mechanism.about) + ", " +
         member("formula", text.formula) + ", " + member("latex", text.latex) + ", " +
         member("isScaled", mechanism.isScaled) + ", \"costs\": [" + costAt(score, 512) + ", " +
         costAt(score, 1024) + "]}";
}

std::string recordOf(attention::Normalizer normalizer) {
  const attention::NormalizerMechanism& mechanism = attention::mechanismOf(normalizer);
  return "{" + member("name", attention::kNormalizerNames[static_cast<std::size_t>(normalizer)]) + ", " +
         member("title", mechanism.title) + ", " + member("about", mechanism.about) + ", " +
         member("latex", attention::textOf(normalizer).latex) + ", " +
         member("sumsToOne", mechanism.sumsToOne) + ", " + member("isByCell", mechanism.isByCell) + ", " +
         member("hasGradient", !mechanism.isStep()) + "}";
}

std::string recordOf(document::OptionId id) {
  constexpr std::string_view kTypes[] = {"boolean", "integer", "real", "choice", "labels",
                                         "scale",   "heads",   "ids",  "text",   "names"};
  const document::Option& option = document::option(id);
  std::string choices;
  for (const std::string_view choice : option.choices)
    choices += (choices.empty() ? "" : ", ") + jsonQuoted(choice);
  return "{" + member("name", option.name) + ", " +
         member("type", kTypes[static_cast<std::size_t>(option.type)]) +
         ", \"min\": " + base::shortest(option.min) + ", \"max\": " + base::shortest(option.max) +
         ", \"choices\": [" + choices + "], " + member("help", document::helpOn(id)) + "}";
}

template <class Kind>
std::string recordsOf(std::string_view name, int count) {
  std::string out = jsonQuoted(name) + ": [";
  for (int i = 0; i < count; ++i) out += (i == 0 ? "\n  " : ",\n  ") + recordOf(static_cast<Kind>(i));
  return out + "\n]";
}

void listMechanisms() {
  Output output({});
  output.finish(output.put(
      "{" + recordsOf<attention::Score>("scores", attention::kScoreCount) + ",\n" +
      recordsOf<attention::Normalizer>("normalizers", attention::kNormalizerCount) + ",\n" +
      recordsOf<document::OptionId>("options", static_cast<int>(document::options().size())) + "}\n"));
}

}  // namespace

void addMechanisms(CLI::App& attn) {
  attn.add_subcommand(
          "mechanisms",
          "List the scores and the ways to make weights, with formulas and costs, and the options, as JSON")
      ->callback(listMechanisms);
}

}  // namespace cli
