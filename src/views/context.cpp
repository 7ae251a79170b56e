#include "views/context.h"

#include "attention/mask.h"

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
  if (view.hover) return *view.hover;
  const Selection& s = view.selection;
  return {s.tensor, sliceOf(state, s.tensor).head, s.row, s.col};
}

float Context::weight(int query, int key) const {
  return state.averageHeads ? view.derived.mean.at(0, query, key) : trace.weights.at(state.focusHead, query, key);
}

void Context::derive() {
  Derived& d = view.derived;
  if (d.revision == revision) return;
  d.revision = revision, d.visibleCount = 0;
  const attention::Tensor& w = trace.weights;
  d.mean.reshape(1, w.rows(), w.cols());
  d.visible.reshape(1, w.rows(), w.cols());
  for (int i = 0; i < w.rows(); ++i) {
    const attention::MaskRow row(spec, i);
    for (int j = 0; j < w.cols(); ++j) {
      double sum = 0;
      for (int h = 0; h < w.heads(); ++h) sum += static_cast<double>(w.at(h, i, j));
      d.mean.at(0, i, j) = static_cast<float>(sum / w.heads());
      const bool isVisible = row.sees(j) && !state.painted.isBlocked(i, j);
      d.visible.at(0, i, j) = isVisible ? 1.0f : 0.0f;
      d.visibleCount += isVisible;
    }
  }
}

}  // namespace views
