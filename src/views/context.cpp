#include "views/context.h"

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

bool Context::locked(std::string_view name) const { return listed(lock, name); }

bool Context::editable(TensorId id) const {
  return document::isEditable(state, id) && !locked(attention::name(id));
}

CellRef Context::focus() const {
  if (view.hover) return *view.hover;
  const Selection& s = view.selection;
  return {s.tensor, sliceOf(state, s.tensor).head, s.row, s.col};
}

float Context::weight(int query, int key) const {
  if (!state.averageHeads) return trace.weights.at(state.focusHead, query, key);
  double sum = 0;
  for (int h = 0; h < state.heads; ++h) sum += static_cast<double>(trace.weights.at(h, query, key));
  return static_cast<float>(sum / state.heads);
}

}  // namespace views
