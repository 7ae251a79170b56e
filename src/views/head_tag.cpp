#include "views/head_tag.h"

#include "views/widgets.h"

namespace views {

using attention::HeadPattern;

namespace {

/// The first letter of what its tooltip is called.
constexpr std::string_view kControls[attention::kHeadPatterns] = {
    "tag:none", "tag:previous", "tag:induction", "tag:first", "tag:same", "tag:broad"};

}  // namespace

void headTag(Context& c, const attention::HeadTag& tag, float x, float y) {
  const auto at = static_cast<std::size_t>(tag.pattern);
  const ImU32 color = c.palette.patterns[at];
  const Box box{x, y, kTagWidth, kTagHeight};
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(color, 0.15f), 3);
  const std::string_view name = kControls[at];
  const char letter = static_cast<char>(name[4] - 'a' + 'A');
  if (tag.pattern == HeadPattern::none) {
    textCentered(list, c.fonts.monoSmall, box.midX(), box.midY(), color, "–");
  } else {  // apart, so that the number is written as in the reader's language
    textMiddle(list, c.fonts.monoSmall, box.x + 2, box.midY(), color, std::string(1, letter));
    textRight(list, c.fonts.monoSmall, box.right() - 2, box.midY(), color,
              formatNumber(static_cast<double>(tag.measure), 2));
  }
  pointAt(c, name, box, true);
}

void headMeasures(Context& c, const attention::HeadMeasures& m, Box line) {
  const struct {
    std::string_view name;
    float value;
  } lines[kHeadMeasures] = {{"entropy", m.entropy},
                            {"back", m.distance},
                            {"first", m[HeadPattern::first]},
                            {"previous", m[HeadPattern::previous]},
                            {"itself", m.itself}};
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const auto& one : lines) {
    const std::string number = formatNumber(double{one.value}, one.value < 9.995f  ? 2
                                                               : one.value < 99.5f ? 1
                                                                                   : 0);
    const float wide = textWidth(c.fonts.monoSmall, number);
    textRight(list, c.fonts.monoSmall, line.right(), line.midY(), c.palette.text, number);
    textMiddle(list, c.fonts.small, line.x, line.midY(), c.palette.muted,
               elide(c.fonts.small, one.name, line.width - wide - 4));
    line.y += line.height;
  }
}

base::Message tagSentence(const attention::HeadTag& tag) {
  const std::string share = formatNumber(static_cast<double>(tag.measure), 2);
  switch (tag.pattern) {
    case HeadPattern::previous:
      return base::message({"It is a previous-token head: a row gives ", share,
                            " of its weight to the word before, on average."});
    case HeadPattern::induction:
      return base::message({"It is an induction head: a row gives ", share,
                            " of its weight to what followed the same word before, on average."});
    case HeadPattern::first:
      return base::message(
          {"It rests on a sink: a row gives ", share, " of its weight to the first word, on average."});
    case HeadPattern::same:
      return base::message({"It looks for the same word: a row gives ", share,
                            " of its weight to earlier words that are equal, on average."});
    case HeadPattern::broad:
      return base::message({"It looks at nearly all words alike: the entropy of its rows is ", share,
                            " of the largest possible one."});
    case HeadPattern::none: break;
  }
  return "It has none of the common patterns: previous token, induction, first token, same word.";
}

}  // namespace views
