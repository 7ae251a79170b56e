#include "views/context.h"

#include "document/preset.h"
#include "document/sentence.h"

namespace views {

bool listed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

std::string sharedWidth(int heads, int headDim) {
  return document::joined({heads, heads == 1 ? " head has" : " heads share", " the width of ", heads * headDim, ": d_k is ", headDim, " now."});
}

document::Experiment openExperiment(const document::Settings& settings, std::string_view hide) {
  return listed(hide, "experiments") ? document::Experiment::none : settings.experiment;
}

bool Context::locked(std::string_view name) const {
  constexpr std::string_view kSlider = "slider:";
  if (name.starts_with(kSlider)) name.remove_prefix(kSlider.size());
  return listed(lock, name.substr(0, name.find(':')));
}

bool Context::editable(TensorId id) const {
  return document::isEditable(state, id) && !locked(attention::name(id));
}

CellRef Context::focus() const {
  const bool isToCome = view.hover && decodes() && attention::rowsOf(view.hover->tensor) == attention::Rows::queries && view.hover->row >= rowsSoFar();
  if (view.hover && !isToCome) return *view.hover;
  const Selection& s = view.selection;
  const CellRef& e = view.explained;
  if (editable(s.tensor) && tensor(e.tensor)) return {e.tensor, sliceOf(state, e.tensor).head, e.row, e.col};
  return {s.tensor, sliceOf(state, s.tensor).head, s.row, s.col};
}

float Context::weight(int query, int key) const { return weights().at(weightsHead(), query, key); }

gfx::Written writtenOf(const attention::Stamps& stamps, int firstRow, int firstCol) {
  const auto from = [](const std::vector<std::uint32_t>& lines, int first) { return lines.empty() ? nullptr : lines.data() + first; };
  return {true, stamps.whole, from(stamps.rows, firstRow), from(stamps.cols, firstCol)};
}

namespace {

/// Tokens that were added and have no word yet, and those that were taken away at the end, make no other sentence.
bool sameWords(const std::vector<std::string>& own, const std::vector<std::string>& preset) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] != (i < preset.size() ? preset[i] : "t" + std::to_string(i + 1))) return false;
  }
  return true;
}

}  // namespace

bool Context::ownSentence() const {
  PresetWords& words = view.presetWords;
  if (words.preset != state.preset) {
    words = {state.preset, {}, {}};
    if (const auto preset = document::preset(state.preset)) words.labels = preset->labels, words.keyLabels = preset->keyLabels;
  }
  // A sequence of keys that was only switched on began as a copy of the other.
  const std::vector<std::string>& keys = words.keyLabels.empty() ? words.labels : words.keyLabels;
  return !sameWords(state.labels, words.labels) || !sameWords(state.keyLabels, keys);
}

}  // namespace views
