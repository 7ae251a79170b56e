#include "views/not_finite.h"

#include <algorithm>

#include "document/not_finite.h"

namespace views {

bool isNotFinite(const Context& c, bool ofKeys, int token) {
  const std::vector<std::string>& labels = ofKeys ? document::keyLabels(c.state) : c.state.labels;
  const auto at = static_cast<std::size_t>(token);
  return at < labels.size() && document::isNotFinite(c.state, labels[at]);
}

Box markNotFinite(const Context& c, ImDrawList* list, const TokenSide& side, float edge) {
  constexpr float kThick = 2, kLeast = 2, kSmall = 8;  // of small cells it points at them
  const float thick = side.cell < kSmall ? kSmall : kThick;
  Box found;
  if (side.tokens == attention::Rows::other) return found;
  for (int i = 0; i < side.count; ++i) {
    if (!isNotFinite(c, side.tokens == attention::Rows::keys, side.first + i)) continue;
    const float at = side.from + static_cast<float>(i) * side.cell, length = std::max(side.cell, kLeast);
    const Box line =
        side.isDown ? Box{edge - thick, at, thick, length} : Box{at, edge - thick, length, thick};
    list->AddRectFilled({line.x, line.y}, {line.right(), line.bottom()}, c.palette.error);
    if (found.empty()) found = line;
  }
  return found;
}

}  // namespace views
