#include "views/marked.h"

namespace views {

void markedText(Context& c, const Pen& pen, ImVec2 at, float width, std::string_view words,
                const document::Search& search) {
  const auto& [list, font, color] = pen;
  const AsIs translated;
  const std::vector<document::Search::Range> ranges = search.marks(words);
  // Semibold letters are wider, by less than a tenth.
  const std::string shown = elide(font, words, ranges.empty() ? width : width * 0.96f);
  const std::size_t whole = shown.size() < words.size() || shown != words
                                ? shown.size() - std::min(shown.size(), std::string_view("…").size())
                                : shown.size();
  ImFont* strong = font == c.fonts.text ? c.fonts.strong : font;
  const auto put = [&](ImFont* face, std::size_t from, std::size_t to) {
    if (from >= to) return;
    const std::string_view part = std::string_view(shown).substr(from, to - from);
    const float wide = textWidth(face, part), half = face->FontSize * ImGui::GetIO().FontGlobalScale / 2 + 1;
    const bool isHit = to <= whole && std::find(ranges.begin(), ranges.end(),
                                                document::Search::Range{from, to}) != ranges.end();
    if (isHit)
      list->AddRectFilled({at.x - 1.5f, at.y - half}, {at.x + wide + 1.5f, at.y + half},
                          withAlpha(c.palette.query, c.palette.dark ? 0.34f : 0.15f), 3);
    textMiddle(list, face, at.x, at.y, color, part);
    at.x += wide;
  };
  std::size_t drawn = 0;
  for (const auto& [from, to] : ranges) {
    if (to > whole) break;
    put(font, drawn, from), put(strong, from, to), drawn = to;
  }
  put(font, drawn, shown.size());
}

void magnifier(ImDrawList* list, ImVec2 center, ImU32 color) {
  list->AddCircle({center.x - 1.5f, center.y - 1.5f}, 4.5f, color, 20, 1.5f);
  list->AddLine({center.x + 2, center.y + 2}, {center.x + 5.5f, center.y + 5.5f}, color, 1.5f);
}

}  // namespace views
