#include "views/widgets.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/text.h"
#include "views/formula.h"
#include "views/guide/guide_page.h"
#include "views/marked.h"
#include "views/words.h"

namespace views {
namespace {

constexpr float kPi = 3.14159265f;
constexpr unsigned kMinus = 0x2212;
constexpr float kEdgeGap = 8;  // from floating boxes to the edge of the screen

const char* end(std::string_view words) { return words.data() + words.size(); }

ImVec2 at(const Box& b) { return {b.x, b.y}; }
ImVec2 to(const Box& b) { return {b.right(), b.bottom()}; }

// The centre line of a font: the digits and lower-case letters of Inter and JetBrains Mono are slightly above
// the middle.
float lineTop(ImFont* font, float midY) {
  const float scale = ImGui::GetIO().FontGlobalScale;
  return std::round((midY - font->FontSize * scale / 2) * 2) / 2;
}

float sizeOf(ImFont* font) { return font->FontSize * ImGui::GetIO().FontGlobalScale; }

const Fonts& fonts() { return *static_cast<const Fonts*>(ImGui::GetIO().UserData); }

bool hasGlyphs(const ImFont* font, std::string_view words) {
  while (!words.empty()) {
    const int length = std::max(base::utf8Length(words), 1);
    const char32_t c = length > 1 ? base::utf8Decode(words) : 0;
    if (c > 0xffff || (c != 0 && !font->FindGlyphNoFallback(static_cast<ImWchar>(c)))) return false;
    words.remove_prefix(static_cast<std::size_t>(length));
  }
  return true;
}

/// The length in bytes of the longest prefix, in whole characters, that fits the width with "…" after it.
std::size_t fitting(draw::Lines& lines, ImFont* font, std::string_view words, float width) {
  std::size_t& cut = lines.cut(words, faceOf(font), width);
  if (cut != std::string_view::npos) return cut;
  std::vector<std::size_t> ends{0};
  constexpr std::size_t kLongest = 512;  // no line of text has more characters
  while (ends.back() < words.size() && ends.size() < kLongest) {
    ends.push_back(ends.back() + base::clusterLength(words.substr(ends.back())));
  }
  const auto fits = [&](std::size_t end) {
    return lines.measure(std::string(words.substr(0, end)) + "…", faceOf(font)) <= width;
  };
  return cut = *std::prev(std::partition_point(ends.begin() + 1, ends.end(), fits));
}

// Most of a circle, counterclockwise.
void arcArrow(ImDrawList* list, ImVec2 center, ImU32 color) {
  constexpr float sign = -1, radius = 5.5f, from = 3.3f, sweep = 5.1f;
  for (int i = 0; i <= 16; ++i) {
    const float a = from + sign * sweep * static_cast<float>(i) / 16;
    list->PathLineTo({center.x + radius * std::cos(a), center.y + radius * std::sin(a)});
  }
  list->PathStroke(color, 0, 1.5f);
  constexpr float a = from + sign * sweep;
  const ImVec2 tip{center.x + radius * std::cos(a), center.y + radius * std::sin(a)};
  const ImVec2 along{-sign * std::sin(a), sign * std::cos(a)}, out{std::cos(a), std::sin(a)};
  auto wing = [&](float side) {
    return ImVec2{tip.x - 4.4f * along.x + side * 3.6f * out.x, tip.y - 4.4f * along.y + side * 3.6f * out.y};
  };
  const ImVec2 points[] = {wing(1), tip, wing(-1)};
  list->AddPolyline(points, 3, color, 0, 1.5f);
}

void hookArrow(ImDrawList* list, ImVec2 c, float side, ImU32 color) {
  // A bent arrow to the left (side −1) or right (+1), as editors have for undo and redo.
  const float w = 5.0f * side;
  list->PathLineTo({c.x + w, c.y - 2});
  list->PathLineTo({c.x - w * 0.3f, c.y - 2});
  list->PathBezierCubicCurveTo({c.x - w * 1.3f, c.y - 2}, {c.x - w * 1.3f, c.y + 5},
                               {c.x - w * 0.3f, c.y + 5});
  list->PathLineTo({c.x + w * 0.1f, c.y + 5});
  list->PathStroke(color, 0, 1.5f);
  const ImVec2 head[] = {{c.x + w * 0.4f, c.y - 5}, {c.x + w, c.y - 2}, {c.x + w * 0.4f, c.y + 1}};
  list->AddPolyline(head, 3, color, 0, 1.5f);
}

// Those of the keypad, which the first frame does not need.
[[gnu::noinline]] void drawKeyIcon(ImDrawList* list, Widgets::Icon icon, ImVec2 c, ImU32 color) {
  using Icon = Widgets::Icon;
  if (icon == Icon::keys) {
    for (int i = 0; i < 9; ++i) {
      const ImVec2 dot{c.x - 7.5f + 5.5f * static_cast<float>(i % 3),
                       c.y - 7.5f + 5.5f * static_cast<float>(i / 3)};
      list->AddRectFilled(dot, {dot.x + 4, dot.y + 4}, color, 1);
    }
  } else if (icon == Icon::done) {
    const ImVec2 tick[] = {{c.x - 7, c.y}, {c.x - 2, c.y + 5}, {c.x + 7, c.y - 5}};
    list->AddPolyline(tick, 3, color, 0, 1.8f);
  } else if (icon == Icon::erase) {
    const ImVec2 outline[] = {
        {c.x - 11, c.y}, {c.x - 5, c.y - 7}, {c.x + 9, c.y - 7}, {c.x + 9, c.y + 7}, {c.x - 5, c.y + 7}};
    list->AddPolyline(outline, 5, color, ImDrawFlags_Closed, 1.5f);
    for (const float s : {-1.0f, 1.0f})
      list->AddLine({c.x - 1, c.y - 3 * s}, {c.x + 5, c.y + 3 * s}, color, 1.5f);
  } else {
    const float s = icon == Icon::next ? 1.0f : -1.0f;
    const ImVec2 angle[] = {{c.x - 3 * s, c.y - 6}, {c.x + 3 * s, c.y}, {c.x - 3 * s, c.y + 6}};
    list->AddPolyline(angle, 3, color, 0, 1.8f);
  }
}

void drawIcon(ImDrawList* list, Widgets::Icon icon, ImVec2 c, ImU32 color) {
  using Icon = Widgets::Icon;
  switch (icon) {
    case Icon::undo: hookArrow(list, c, -1, color); break;
    case Icon::redo: hookArrow(list, c, 1, color); break;
    case Icon::reset: arcArrow(list, c, color); break;
    case Icon::theme:
      list->AddCircle(c, 5.5f, color, 24, 1.5f);
      list->PathArcTo(c, 5.5f, -kPi / 2, kPi / 2, 16);
      list->PathFillConvex(color);
      break;
    case Icon::menu:
      for (float dy : {-4.0f, 0.0f, 4.0f})
        list->AddLine({c.x - 6, c.y + dy}, {c.x + 6, c.y + dy}, color, 1.5f);
      break;
    case Icon::more:
      for (float dx : {-4.5f, 0.0f, 4.5f}) list->AddCircleFilled({c.x + dx, c.y}, 1.4f, color);
      break;
    case Icon::expand:
      for (float s : {-1.0f, 1.0f}) {
        const ImVec2 tip{c.x + 5 * s, c.y - 5 * s};
        list->AddLine({c.x + 1.2f * s, c.y - 1.2f * s}, tip, color, 1.5f);
        list->AddLine({tip.x - 3.8f * s, tip.y}, tip, color, 1.5f);
        list->AddLine({tip.x, tip.y + 3.8f * s}, tip, color, 1.5f);
      }
      break;
    case Icon::help: break;  // the caller draws a letter
    case Icon::close:
      list->AddLine({c.x - 4, c.y - 4}, {c.x + 4, c.y + 4}, color, 1.5f);
      list->AddLine({c.x - 4, c.y + 4}, {c.x + 4, c.y - 4}, color, 1.5f);
      break;
    case Icon::dice:
      list->AddRect({c.x - 5.5f, c.y - 5.5f}, {c.x + 5.5f, c.y + 5.5f}, color, 2.5f, 0, 1.4f);
      for (float d : {-2.5f, 0.0f, 2.5f}) list->AddCircleFilled({c.x + d, c.y + d}, 1.1f, color);
      break;
    case Icon::pencil:
      list->PathLineTo({c.x - 5, c.y + 5});
      list->PathLineTo({c.x - 4, c.y + 1.6f});
      list->PathLineTo({c.x + 3, c.y - 5});
      list->PathLineTo({c.x + 5, c.y - 3});
      list->PathLineTo({c.x - 1.6f, c.y + 4});
      list->PathStroke(color, ImDrawFlags_Closed, 1.3f);
      break;
    case Icon::sliders:
      for (const auto& [dy, knob] : {std::pair{-5.0f, 3.0f}, {0.0f, -3.0f}, {5.0f, 2.0f}}) {
        list->AddLine({c.x - 8, c.y + dy}, {c.x + 8, c.y + dy}, color, 1.5f);
        list->AddCircleFilled({c.x + knob, c.y + dy}, 2.4f, color, 12);
      }
      break;
    case Icon::search: magnifier(list, c, color); break;
    case Icon::book:
      for (const float s : {-1.0f, 1.0f}) {
        const ImVec2 page[] = {{c.x, c.y - 4.5f},      {c.x + 3 * s, c.y - 6}, {c.x + 8 * s, c.y - 6},
                               {c.x + 8 * s, c.y + 5}, {c.x + 3 * s, c.y + 5}, {c.x, c.y + 6.5f}};
        list->AddPolyline(page, 6, color, 0, 1.5f);
      }
      list->AddLine({c.x, c.y - 4.5f}, {c.x, c.y + 6.5f}, color, 1.5f);
      break;
    default: drawKeyIcon(list, icon, c, color);
  }
}

// Records text for assistive technology.
void note(ImFont* font, float x, float y, std::string_view words) {
  const Fonts& f = fonts();
  std::string said(words);
  for (std::size_t at; (at = said.find("^T")) != std::string::npos;) said.replace(at, 2, "ᵀ");
  f.mirror->words(said, {x, y, textWidth(font, words), sizeOf(font)},
                  font == f.title         ? 2
                  : font == f.smallStrong ? 1
                                          : 0);
}

void caret(ImDrawList* list, ImVec2 c, ImU32 color) {
  list->AddTriangleFilled({c.x - 3.5f, c.y - 2}, {c.x + 3.5f, c.y - 2}, {c.x, c.y + 2.5f}, color);
}

}  // namespace

namespace {

/// A text as it is drawn: translated, and with its numbers in the notation of the language. `own` holds it
/// where nothing else does.
std::string_view shown(base::MessageView english, std::string& own) {
  Words* words = fonts().words;
  if (english.hasArguments()) return words ? words->of(english) : own = english.english();
  return inNumbers(words ? words->of(english) : english.bytes(), own);
}

/// Marks text as translated, so that drawing does not look it up again.
std::string said(std::string words) {
  if (Words* own = fonts().words) own->keep(words);
  return words;
}

}  // namespace

std::string inWords(base::MessageView english) {
  std::string own;
  return std::string(shown(english, own));
}

std::string lessonInWords(std::string_view english) {
  const Words* words = fonts().words;
  return words ? words->asWritten(english) : std::string(english);
}

std::uint64_t languageId() { return fonts().words ? fonts().words->id() : 0; }

std::string sentence(base::MessageView english) {
  std::string words = inWords(english);
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z')
    words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return said(std::move(words));
}

std::string_view inNumbers(std::string_view digits, std::string& own) {
  const Words* words = fonts().words;
  return words ? words->number(digits, own) : digits;
}

std::string_view lineOf(ImFont* font, std::string_view words, float width) {
  draw::Lines* lines = linesFor(font, words);
  return lines ? words.substr(0, std::max(fitting(*lines, font, words, width), base::clusterLength(words)))
               : words;
}

ImDrawList* sharp(ImDrawList* list) {
  // Fonts are created at the pixel ratio and scaled back, so this is one physical pixel.
  list->_FringeScale = ImGui::GetIO().FontGlobalScale;
  return list;
}

draw::Lines* linesFor(ImFont* font, std::string_view words) {
  const Fonts& f = fonts();
  if (f.ownFace && font != f.mono && font != f.monoSmall && font != f.monoTiny) return f.lines;
  const bool isPlain =
      std::all_of(words.begin(), words.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return isPlain || hasGlyphs(font, words) ? nullptr : f.lines;
}

namespace {

bool isStrong(const ImFont* font) {
  const Fonts& f = fonts();
  return font == f.strong || font == f.smallStrong || font == f.title || font == f.tinyStrong;
}

Formula formulaIn(ImFont* font, std::string_view words) {
  const Fonts& f = fonts();
  return {{font, font == f.title ? f.smallStrong : isStrong(font) ? f.tinyStrong : f.tiny}, words};
}

}  // namespace

draw::Face faceOf(const ImFont* font) {
  // A font contains its line height; the em size is that divided by the font's ratio.
  constexpr float kInterLine = 1.21f, kMonoLine = 1.32f;
  const Fonts& f = fonts();
  const bool isMono = font == f.mono || font == f.monoSmall || font == f.monoTiny;
  return {font->FontSize * ImGui::GetIO().FontGlobalScale / (isMono ? kMonoLine : kInterLine),
          isStrong(font) ? 600 : 400};
}

float plainText(ImDrawList* list, ImFont* font, float x, float y, ImU32 color, std::string_view words) {
  if (words.empty()) return 0;
  if (draw::Lines* lines = linesFor(font, words)) {
    lines->draw(list, words, faceOf(font), x, y + font->Ascent * ImGui::GetIO().FontGlobalScale, color);
    return lines->width(words, faceOf(font));
  }
  list->AddText(font, sizeOf(font), {x, y}, color, words.data(), end(words));
  return plainWidth(font, words);
}

void dots(ImDrawList* list, float left, float right, float y, ImU32 color) {
  for (float dot = left; dot < right - 1; dot += 4) list->AddLine({dot, y}, {dot + 2, y}, color);
}

void noteFormula(std::string_view formula, const Box& box) {
  Mirror* mirror = fonts().mirror;
  if (!mirror) return;
  std::string said, own;
  for (std::size_t at = 0; at < formula.size();) {  // letters such as "exp" are no words, so numbers are put
                                                    // into the notation one by one
    const std::size_t from = std::min(formula.find_first_of("0123456789", at), formula.size());
    const std::size_t to = std::min(formula.find_first_not_of("0123456789.", from), formula.size());
    said.append(formula.substr(at, from - at)).append(inNumbers(formula.substr(from, to - from), own));
    at = to;
  }
  mirror->words(said, box, 0);
}

void plainMiddle(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, std::string_view words) {
  plainText(list, font, x, lineTop(font, midY), color, words);
}

float plainWidth(ImFont* font, std::string_view words) {
  if (draw::Lines* lines = linesFor(font, words)) return lines->width(words, faceOf(font));
  return words.empty() ? 0 : font->CalcTextSizeA(sizeOf(font), FLT_MAX, 0, words.data(), end(words)).x;
}

float text(ImDrawList* list, ImFont* font, float x, float y, ImU32 color, base::MessageView english) {
  if (english.empty()) return 0;
  std::string own;
  const std::string_view words = shown(english, own);
  if (fonts().mirror) note(font, x, y, words);
  if (!hasFormula(words)) return plainText(list, font, x, y, color, words);
  const Formula formula = formulaIn(font, words);
  formula.draw(list, x, y + sizeOf(font) / 2, nullptr, color);
  return formula.width();
}

float textWidth(ImFont* font, base::MessageView english) {
  std::string own;
  const std::string_view words = shown(english, own);
  return hasFormula(words) ? formulaIn(font, words).width() : plainWidth(font, words);
}

void textMiddle(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, base::MessageView words) {
  text(list, font, x, lineTop(font, midY), color, words);
}

void textRight(ImDrawList* list, ImFont* font, float right, float midY, ImU32 color,
               base::MessageView words) {
  textMiddle(list, font, right - textWidth(font, words), midY, color, words);
}

void textCentered(ImDrawList* list, ImFont* font, float x, float midY, ImU32 color, base::MessageView words) {
  textMiddle(list, font, x - textWidth(font, words) / 2, midY, color, words);
}

void digitsCentered(const Pen& pen, float scale, float x, float midY, std::string_view digits) {
  const auto& [list, font, color] = pen;
  std::string own;
  digits = inNumbers(digits, own);
  const float size = sizeOf(font) * scale;
  const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0, digits.data(), end(digits));
  list->AddText(font, size, {x - extent.x / 2, midY - extent.y / 2}, color, digits.data(), end(digits));
}

namespace {

/// Where the character before a byte begins.
std::size_t before(std::string_view words, std::size_t at) {
  do --at;
  while (at > 0 && (words[at] & 0xC0) == 0x80);
  return at;
}

/// The last place before a byte at which a line may end: at a space, or beside a Chinese or Japanese
/// character, but not before punctuation that closes, or after one that opens; 0 if there is none (Unicode
/// Standard Annex 14, the rules for ideographs).
std::size_t lastBreak(std::string_view words, std::size_t end) {
  constexpr std::string_view kOpen = "（「《“‘([", kClose = "，。、；：！？）」》”’…%),.:;!?]";
  const auto isWide = [](char first) {
    return (first >= '\xE3' && first <= '\xE9') || first == '\xEF';
  };  // U+3000 to U+9FFF, full-width forms
  for (std::size_t at = before(words, end); at > 0; at = before(words, at)) {
    if (words[at] == ' ') return at;
    const std::size_t last = before(words, at);
    if (!isWide(words[last]) && !isWide(words[at])) continue;
    const std::string_view next = words.substr(at, base::clusterLength(words.substr(at)));
    if (kOpen.find(words.substr(last, at - last)) == std::string_view::npos &&
        kClose.find(next) == std::string_view::npos)
      return at;
  }
  return 0;
}

}  // namespace

float paragraph(const Pen& pen, float x, float y, float width, base::MessageView english) {
  const auto& [list, font, color] = pen;
  std::string own;
  std::string_view words = shown(english, own);
  const AsIs asIs;  // the lines of a message are not messages themselves
  // Dear ImGui's own wrapping also breaks after a decimal point.
  const float top = y, pitch = sizeOf(font);
  for (; !words.empty(); y += pitch) {
    std::size_t cut = words.size();
    if (draw::Lines* lines = linesFor(font, words); lines && textWidth(font, words) > width) {
      cut = lineOf(font, words, width + lines->measure("…", faceOf(font))).size();
      if (const std::size_t shorter = lastBreak(words, cut + 1); shorter > 0) cut = shorter;
    }
    while (textWidth(font, words.substr(0, cut)) > width) {
      const std::size_t shorter = lastBreak(words, cut);
      if (shorter == 0) break;  // a single long word may extend beyond the width
      cut = shorter;
    }
    if (list) text(list, font, x, y, color, words.substr(0, cut));
    words.remove_prefix(cut);
    if (words.starts_with(' ')) words.remove_prefix(1);
  }
  return y - top;
}

std::string elide(ImFont* font, base::MessageView english, float width) {
  std::string own;
  const std::string_view words = shown(english, own);
  if (textWidth(font, words) <= width) return std::string(words);
  if (draw::Lines* lines = linesFor(font, words))
    return said(std::string(words.substr(0, fitting(*lines, font, words, width))) + "…");
  const float room = width - textWidth(font, "…");
  const char* cut = words.data();
  font->CalcTextSizeA(sizeOf(font), std::max(room, 0.0f), 0, words.data(), end(words), &cut);
  return said(std::string(words.data(), cut) + "…");
}

AsIs::AsIs() : words_(fonts().words) {
  if (words_) ++words_->paused;
}
AsIs::~AsIs() {
  if (words_) --words_->paused;
}

double perPixel() {
  const ImGuiIO& io = ImGui::GetIO();
  return io.KeyShift ? 0.001 : io.KeyAlt ? 0.1 : 0.01;
}

double perKey() {
  const ImGuiIO& io = ImGui::GetIO();
  return io.KeyShift ? 0.01 : io.KeyAlt ? 1.0 : 0.1;
}

float moved(float value, double by) {
  const double sum = static_cast<double>(value) + by;
  return by == 0 ? value : static_cast<float>(std::fabs(sum) < 1e4 ? std::round(sum * 1e4) / 1e4 : sum);
}

bool beginsNumber(unsigned character) {
  return (character >= '0' && character <= '9') || character == '-' || character == kMinus ||
         character == '.' || character == ',';
}

bool isNumberKey(ImGuiKey key) {
  return (key >= ImGuiKey_0 && key <= ImGuiKey_9) || (key >= ImGuiKey_Keypad0 && key <= ImGuiKey_Keypad9) ||
         key == ImGuiKey_Minus || key == ImGuiKey_Period || key == ImGuiKey_Comma ||
         key == ImGuiKey_KeypadDecimal || key == ImGuiKey_KeypadSubtract;
}

std::string typedNumber() {
  std::string typed;
  for (const ImWchar ch : ImGui::GetIO().InputQueueCharacters) {
    if ((!typed.empty() || beginsNumber(ch)) && (ch < 0x80 || ch == kMinus))
      typed += ch == kMinus ? '-' : static_cast<char>(ch);
  }
  return typed;
}

std::string shortestNumber(float value) {
  std::string out = base::shortest(value);
  for (std::size_t at = 0; (at = out.find('-', at)) != std::string::npos;) out.replace(at, 1, "\u2212");
  return out;
}

TextTarget numberField(std::string_view matrix, int row, int col, const Box& cell, float value,
                       std::string_view first) {
  const float width = std::max(cell.width, 64.0f), height = std::max(cell.height, 26.0f);
  TextTarget t;
  t.cell.row = row, t.cell.col = col;
  t.name = base::message({matrix, ", row ", row + 1, ", column ", col + 1});
  t.selectAll = first.empty();
  t.text = first.empty() ? base::shortest(value) : std::string(first);
  t.box = {cell.midX() - width / 2, cell.midY() - height / 2, width, height};
  t.centered = true;
  return t;
}

NarrowScrollbar::NarrowScrollbar(const Palette& palette, ImU32 background) {
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, 8);
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarRounding, 4);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarBg, background);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrab, withAlpha(palette.faint, 0.35f));
}

NarrowScrollbar::~NarrowScrollbar() {
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(2);
}

Box beginDialog(Context& c, const char* name, float width, bool takesFocus) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  Scroller& page = c.view.help.page;
  width = std::min(width, size.x - 24);
  const float height = std::clamp(page.content, 120.0f, std::max(120.0f, size.y - 24));
  const Box box{std::floor((size.x - width) / 2), std::floor((size.y - height) / 2), width, height};
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  if (takesFocus) ImGui::SetNextWindowFocus();
  const NarrowScrollbar scrollbar(c.palette, c.palette.panel);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 10);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, c.palette.border);
  page.begin();
  ImGui::Begin(name, nullptr, kFixedWindow);
  ImGui::PopStyleColor(2);
  ImGui::PopStyleVar(2);
  return box;
}

HeadSteps::HeadSteps(const Context& c) {
  const document::State& s = c.state;
  const bool isOwn = s.preset.empty() || c.ownSentence();
  const auto isThere = [&](int heads) { return !document::headsWithColumns(s, heads).empty(); };
  keepsColumns = isOwn && !c.locked("d_k") && !hasLayers(s) && isThere(s.heads);
  if (keepsColumns) {
    less = s.heads - 1, more = isThere(s.heads + 1) ? s.heads + 1 : 0;
    return;
  }
  // Kept, because looking for them copies the settings with all labels.
  AllowedHeads& allowed = c.view.allowedHeads;
  if (std::exchange(allowed.revision, c.revision) != c.revision) allowed.heads = document::allowedHeads(s);
  for (const int n : allowed.heads) {
    if (n < s.heads) less = n;
    if (n > s.heads && more == 0) more = n;
  }
}

void HeadSteps::ask(Context& c, int step) const {
  const int to = step < 0 ? less : more, columns = c.state.headDim;
  if (step == 0 || to == 0) return;
  if (!keepsColumns) return c.requests.set(document::OptionId::heads, static_cast<double>(to));
  const bool isHeld = c.requests.held != 0;
  const std::uint64_t gesture = isHeld ? c.requests.held : c.view.nextGesture++;
  for (document::SetOption& edit : document::headsWithColumns(c.state, to))
    c.requests.edit(std::move(edit), gesture);
  c.requests.endGesture = c.requests.endGesture || !isHeld;
  c.requests.say(
      base::message({to, to == 1 ? " head with d_k " : " heads with d_k ", columns, ", as before."}));
}

Widgets::Widgets(Context& context, FocusRing* focusRing)
    : c_(context),
      focusRing_(focusRing),
      list_(ImGui::GetWindowDrawList()) {}

bool Widgets::cross(std::string_view name, Box box) {
  const bool pressed = press(name, box);
  const ImU32 color = ImGui::IsItemHovered() ? c_.palette.text : c_.palette.muted;
  for (const float dy : {-4.0f, 4.0f})
    list_->AddLine({box.midX() - 4, box.midY() - dy}, {box.midX() + 4, box.midY() + dy}, color, 1.5f);
  return pressed;
}

FocusRing::Key Widgets::keys(std::string_view name, const Box& box, bool enabled) {
  if (Mirror* m = c_.fonts.mirror; m && enabled && !c_.locked(name)) {
    if (const int step = m->steps(name)) return {step, false};
  }
  if (!focusRing_ || !focusRing_->on || !enabled || c_.locked(name)) return {};
  const ImGuiID id = ImGui::GetID(name.data(), end(name));
  if (!c_.view.seek.empty() && c_.view.seek == name)
    c_.view.seek.clear(), focusRing_->focus = id, focusRing_->moved = true;
  if (!focusRing_->enter(id)) return {};
  list_->AddRect({box.x - 4, box.y - 3}, {box.right() + 4, box.bottom() + 3}, c_.palette.query, 7, 0, 1.5f);
  c_.widgetRects["focus:" + std::string(name)] = box;
  c_.view.tip.focus = {std::string(name), box, true};
  constexpr float kHeading = 40;  // so that a heading above is visible too
  const float top = ImGui::GetWindowPos().y;
  const bool hidden = box.y < top + kHeading || box.bottom() > top + ImGui::GetWindowHeight() - kHeading;
  if (focusRing_->moved && hidden) ImGui::SetScrollFromPosY(box.midY() - top, 0.5f);
  return focusRing_->key;
}

void Widgets::points(std::string_view name, const Box& box, bool enabled) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (box.contains(mouse.x, mouse.y)) pointAt(c_, name, box, enabled);
}

Box Widgets::grown(Box box) const {
  return box.height < least_ ? Box{box.x, box.midY() - least_ / 2, box.width, least_} : box;
}

bool Widgets::hit(std::string_view name, Box box, bool enabled, Mirror::Role role, int value) {
  box = grown(box);
  c_.widgetRects[std::string(name)] = box;
  const ImVec2 middle{box.midX(), box.midY()};
  ((ImGui::IsRectVisible(middle, {middle.x + 1, middle.y + 1}) ? c_.view.inView : c_.view.buried) += ',') +=
      name;
  enabled = enabled && !c_.locked(name);
  points(name, box, enabled);
  const bool asked =
      c_.fonts.mirror && c_.fonts.mirror->control(name, box, role, value, enabled, about(name).words);
  if (!enabled) return sayWhy(name, box), false;
  const bool isRun = !c_.view.run.empty() && c_.view.run == name;
  if (isRun) c_.view.run.clear();
  ImGui::SetCursorScreenPos(at(box));
  ImGui::PushID(name.data(), end(name));
  const bool pressed =
      ImGui::InvisibleButton("##hit", {std::max(box.width, 1.0f), std::max(box.height, 1.0f)});
  ImGui::PopID();
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return pressed || asked || isRun;
}

// A press on something locked gives the reason.
void Widgets::sayWhy(std::string_view name, const Box& box) {
  const bool isPressed =
      c_.touch ? ImGui::IsMouseReleased(ImGuiMouseButton_Left) && c_.view.finger.does != Finger::Does::scrolls
               : ImGui::IsMouseClicked(ImGuiMouseButton_Left);
  const std::string_view of = controlOf(name);
  if (!isPressed || !c_.locked(of) || !ImGui::IsMouseHoveringRect(at(box), to(box)) ||
      !ImGui::IsWindowHovered())
    return;
  c_.requests.say(whyLocked(c_, of, of));
}

// A finger may rest for a moment before it swipes.
float Widgets::repeatsAfter() const { return c_.touch ? 0.5f : ImGui::GetIO().KeyRepeatDelay; }

bool Widgets::held(std::string_view name, Box box, bool enabled) {
  const bool pressed = hit(name, box, enabled);
  if (!enabled) return false;
  const ImGuiIO& io = ImGui::GetIO();
  if (!ImGui::IsItemActive()) return pressed && io.MouseDownDurationPrev[0] < repeatsAfter();
  const float now = io.MouseDownDuration[0], delay = repeatsAfter();
  c_.view.busy = true;
  if (!ImGui::IsItemHovered() || now < delay) return false;
  c_.requests.held = kSliderGesture;
  return ImGui::CalcTypematicRepeatAmount(now - io.DeltaTime, now, delay, io.KeyRepeatRate) > 0;
}

bool Widgets::asks(const Box& box) {
  if (!ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) ||
      !ImGui::IsMouseHoveringRect(at(box), to(box)))
    return false;
  if (!c_.touch)
    return !ImGui::IsMouseDown(ImGuiMouseButton_Left) || c_.view.finger.does == Finger::Does::drags;
  if (c_.view.finger.does != Finger::Does::waits) return false;
  c_.view.busy = true;
  return ImGui::GetIO().MouseDownDuration[0] >= ImGui::GetIO().KeyRepeatDelay;
}

void Widgets::tip(const Box& near, base::MessageView words) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float most = std::min(280.0f, screen.x - 2 * kEdgeGap - 24);
  ImDrawList* list = sharp(ImGui::GetForegroundDrawList());
  // Measures the height by drawing far outside the screen.
  const float height = paragraph({list, c_.fonts.small, 0}, 0, -10000, most, words) + 16;
  const float width = std::min(most, textWidth(c_.fonts.small, words)) + 24;
  const float x =
      std::clamp(near.midX() - width / 2, kEdgeGap, std::max(kEdgeGap, screen.x - kEdgeGap - width));
  // Above, where a finger does not cover it.
  const float y = near.y - height - 6 >= kEdgeGap ? near.y - height - 6 : near.bottom() + 6;
  list->AddRectFilled({x, y}, {x + width, y + height}, c_.palette.ink, 6);
  paragraph({list, c_.fonts.small, c_.palette.inkText}, x + 12, y + 8, most, words);
  c_.widgetRects["tip"] = {x, y, width, height};
}

bool Widgets::link(std::string_view name, Box box, base::MessageView words) {
  const bool pressed = press(name, box);
  const ImU32 color = c_.palette.query;
  const float y = std::round(box.midY() + 8);
  textMiddle(list_, c_.fonts.small, box.x, box.midY(), color, words);
  list_->AddLine({box.x, y}, {box.x + textWidth(c_.fonts.small, words), y},
                 withAlpha(color, ImGui::IsItemHovered() ? 1.0f : 0.5f));
  return pressed;
}

bool Widgets::press(std::string_view name, Box box, bool enabled, Mirror::Role role, int value) {
  const FocusRing::Key key = keys(name, box, enabled);
  return hit(name, box, enabled, role, value) || key.press;
}

bool Widgets::flip(std::string_view name, Box box, bool on, bool enabled, Mirror::Role role) {
  const FocusRing::Key key = keys(name, box, enabled);
  return hit(name, box, enabled, role, on) || key.press || key.step == (on ? -1 : 1);
}

bool Widgets::toggle(std::string_view name, Box row, base::MessageView label, bool on, bool strong,
                     bool enabled) {
  const bool pressed = flip(name, row, on, enabled);
  const Palette& p = c_.palette;
  const bool locked = !enabled || c_.locked(name);
  textMiddle(list_, strong ? c_.fonts.strong : c_.fonts.text, row.x, row.midY(), locked ? p.muted : p.text,
             label);
  const Box track{row.right() - 34, row.midY() - 9.5f, 34, 19};
  list_->AddRectFilled(at(track), to(track), on ? withAlpha(p.on, locked ? 0.5f : 1.0f) : p.track, 9.5f);
  list_->AddCircleFilled({on ? track.right() - 9.5f : track.x + 9.5f, track.midY()}, 7.5f, p.knob, 24);
  return pressed;
}

int Widgets::stepper(std::string_view name, Box box, base::MessageView value, bool canLess, bool canMore,
                     std::string_view typed) {
  const Palette& p = c_.palette;
  const std::string base(name);
  const bool open = !c_.locked(name);
  const float room = (box.width - textWidth(c_.fonts.text, value)) / 2 - 5;  // beside a number of six digits
  const float side = box.width >= 112 ? 44 : std::floor(std::min(box.width * 0.3f, std::max(room, 16.0f)));
  const Box less{box.x, box.y, side, box.height}, more{box.right() - side, box.y, side, box.height};
  c_.widgetRects[base] = grown(box);
  list_->AddRectFilled(at(box), to(box), p.panel, 5);
  const document::Option* option = document::optionNamed(name);
  const FocusRing::Key asked = keys(name, box, option || canLess || canMore);
  int step = (asked.step < 0 && canLess) || (asked.step > 0 && canMore) ? asked.step : 0;
  if (step != 0) c_.requests.held = kSliderGesture;  // until the key is released
  const Box number{less.right(), box.y, more.x - less.right(), box.height};
  if (option && (hit(base + "-value", number, open) || asked.press)) {
    TextTarget t;
    t.kind = TextTarget::Kind::option;
    t.option = option->id, t.name = base;
    t.text = typed.empty() ? document::toJson(document::get(c_.state, option->id)) : std::string(typed);
    t.box = {number.midX() - 32, box.y, 64, box.height};
    t.centered = true;
    c_.requests.text = t;
  }
  if (option && open && ImGui::IsItemHovered() && !c_.touch)
    ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
  if (held(base + "-", less, open && canLess)) step = -1;
  if (open && canLess && ImGui::IsItemHovered())
    list_->AddRectFilled(at(less), to(less), p.hover, 5, ImDrawFlags_RoundCornersLeft);
  if (held(base + "+", more, open && canMore)) step = 1;
  if (open && canMore && ImGui::IsItemHovered())
    list_->AddRectFilled(at(more), to(more), p.hover, 5, ImDrawFlags_RoundCornersRight);
  list_->AddRect(at(box), to(box), p.border, 5);
  for (const float x : {less.right(), more.x})
    list_->AddLine({x, box.y + 1}, {x, box.bottom() - 1}, p.border);
  const ImU32 off = withAlpha(p.faint, 0.55f);
  const ImU32 minus = open && canLess ? p.text : off, plus = open && canMore ? p.text : off;
  const float y = std::round(box.midY());
  list_->AddRectFilled({std::round(less.midX()) - 4, y - 0.75f}, {std::round(less.midX()) + 4, y + 0.75f},
                       minus);
  list_->AddRectFilled({std::round(more.midX()) - 4, y - 0.75f}, {std::round(more.midX()) + 4, y + 0.75f},
                       plus);
  list_->AddRectFilled({std::round(more.midX()) - 0.75f, y - 4}, {std::round(more.midX()) + 0.75f, y + 4},
                       plus);
  textCentered(list_, c_.fonts.text, box.midX(), box.midY(), open ? p.text : p.muted, value);
  return step;
}

bool Widgets::segment(std::string_view name, Box box, base::MessageView label, bool chosen) {
  const bool pressed = hit(name, box, true, Mirror::Role::choice, chosen);
  const Palette& p = c_.palette;
  const bool locked = c_.locked(name);
  if (chosen) list_->AddRectFilled(at(box), to(box), locked ? p.track : p.ink, 5);
  else if (!locked && ImGui::IsItemHovered()) list_->AddRectFilled(at(box), to(box), p.hover, 5);
  const ImU32 color = locked && !chosen ? p.muted : chosen && !locked ? p.inkText : p.text;
  textCentered(list_, c_.fonts.text, box.midX(), box.midY(), color, label);
  return pressed;
}

bool Widgets::button(std::string_view name, Box box, base::MessageView label, bool filled) {
  const bool pressed = press(name, box);
  const Palette& p = c_.palette;
  const bool over = ImGui::IsItemHovered() && !c_.locked(name);
  list_->AddRectFilled(at(box), to(box), filled ? p.ink : over ? p.hover : p.panel, 5);
  if (!filled) list_->AddRect(at(box), to(box), p.border, 5);
  textCentered(list_, filled ? c_.fonts.strong : c_.fonts.text, box.midX(), box.midY(),
               filled            ? p.inkText
               : c_.locked(name) ? p.muted
                                 : p.text,
               label);
  return pressed;
}

bool Widgets::slot(std::string_view name, Box box, Icon icon, base::MessageView label, bool enabled,
                   bool active) {
  const bool pressed = press(name, box, enabled, Mirror::Role::button, active);
  const Palette& p = c_.palette;
  const bool open = enabled && !c_.locked(name);
  const float half = std::min(42.0f, box.width / 2 - 4);
  if (active || (open && ImGui::IsItemHovered() && !c_.touch))
    list_->AddRectFilled({box.midX() - half, box.midY() - 23}, {box.midX() + half, box.midY() + 23}, p.hover,
                         6);
  drawIcon(list_, icon, {std::round(box.midX()), std::round(box.midY()) - 8}, open ? p.text : p.faint);
  textCentered(list_, active ? c_.fonts.smallStrong : c_.fonts.small, box.midX(), box.midY() + 13,
               open ? p.text : p.muted, label);
  return pressed;
}

bool Widgets::icon(std::string_view name, Box box, Icon icon, bool enabled, bool active) {
  const bool pressed = press(name, box, enabled, Mirror::Role::button, active);
  const Palette& p = c_.palette;
  const bool open = enabled && !c_.locked(name);
  const bool over = open && ImGui::IsItemHovered();
  list_->AddRectFilled(at(box), to(box), active ? p.ink : over ? p.hover : p.panel, 5);
  list_->AddRect(at(box), to(box), active ? p.ink : p.border, 5);
  const ImU32 color = active ? p.inkText : open ? p.text : withAlpha(p.faint, 0.55f);
  const ImVec2 middle{std::round(box.midX()), std::round(box.midY())};
  if (icon == Icon::help) textCentered(list_, c_.fonts.strong, box.midX(), box.midY(), color, "?");
  else drawIcon(list_, icon, middle, color);
  return pressed;
}

void Widgets::menuButton(std::string_view name, Box box, base::MessageView label, bool chosen) {
  const bool pressed =
      hit(name, box, true, Mirror::Role::menu, c_.view.menu.shown && c_.view.menu.name == name);
  const Palette& p = c_.palette;
  const bool locked = c_.locked(name);
  list_->AddRectFilled(at(box), to(box),
                       chosen                              ? p.ink
                       : !locked && ImGui::IsItemHovered() ? p.hover
                                                           : p.panel,
                       5);
  list_->AddRect(at(box), to(box), p.border, 5);
  const std::string fitted = elide(c_.fonts.text, label, box.width - 34);
  const ImU32 color = chosen ? p.inkText : locked ? p.muted : p.text;
  textMiddle(list_, c_.fonts.text, box.x + 11, box.midY(), color, fitted);
  caret(list_, {box.right() - 14, box.midY()}, color);
  if (pressed) openMenu(name, box);
  if (c_.view.menu.name == name) c_.view.menu.anchor = box;
}

void Widgets::openMenu(std::string_view name, const Box& anchor) {
  c_.view.menu = {};
  c_.view.menu.name = name, c_.view.menu.anchor = anchor;
  ImGui::OpenPopup(c_.view.menu.name.c_str());
}

namespace {

/// Arrows, Home and End lead through the choices, Enter and the space bar press one.
[[gnu::noinline]] void readMenuKeys(Menu& menu) {
  const auto pressed = [](ImGuiKey key, bool repeats = true) { return ImGui::IsKeyPressed(key, repeats); };
  const int down = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow), last = menu.count - 1;
  if (pressed(ImGuiKey_Home) || (down > 0 && menu.at == last)) menu.at = 0;
  else if (pressed(ImGuiKey_End) || (down < 0 && menu.at <= 0)) menu.at = last;
  else menu.at += down;
  menu.pressed = pressed(ImGuiKey_Enter, false) || pressed(ImGuiKey_KeypadEnter, false) ||
                 pressed(ImGuiKey_Space, false);
  menu.count = 0;
}

}  // namespace

bool Widgets::beginMenu(std::string_view name, float width) {
  Menu& menu = c_.view.menu;
  if (menu.name != name) return false;
  const Palette& p = c_.palette;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  menuWidth_ = std::min(width, screen.x - 2 * kEdgeGap - 52);
  // Below its button, otherwise above it, otherwise wherever it fits; if it is too high for the screen, it
  // scrolls.
  const float most = screen.y - 2 * kEdgeGap, height = std::min(menu.height, most);
  const float below = menu.anchor.bottom() + 4, above = menu.anchor.y - 4 - height;
  const float y = below + height <= screen.y - kEdgeGap ? below
                  : above >= kEdgeGap                   ? above
                                                        : screen.y - kEdgeGap - height;
  const float bar = menu.height > most ? 8.0f : 0.0f;
  const float x =
      std::clamp(menu.anchor.x, kEdgeGap, std::max(kEdgeGap, screen.x - kEdgeGap - menu.width - bar));
  ImGui::SetNextWindowSizeConstraints({0, 0}, {screen.x - 2 * kEdgeGap, most});
  ImGui::SetNextWindowPos({x, y});
  bool open = false;
  {
    const NarrowScrollbar scrollbar(p, p.panel);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {6, 6});
    ImGui::PushStyleVar(ImGuiStyleVar_PopupRounding, 8);
    ImGui::PushStyleColor(ImGuiCol_PopupBg, p.panel);
    ImGui::PushStyleColor(ImGuiCol_Border, p.border);
    menu.page.begin();
    open = ImGui::BeginPopup(std::string(name).c_str(), ImGuiWindowFlags_NoMove);
    ImGui::PopStyleColor(2);
    ImGui::PopStyleVar(2);
  }
  if (!open) return false;
  menu.shown = true;
  if (ImGui::IsKeyPressed(ImGuiKey_Escape)) ImGui::CloseCurrentPopup();
  readMenuKeys(menu);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  list_ = sharp(ImGui::GetWindowDrawList());
  return true;
}

Box Widgets::entry(float width, float height) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float most = ImGui::GetIO().DisplaySize.x - 2 * kEdgeGap - 20;
  const float wide =
      isColumn_ ? menuWidth_ + 40
                : std::min(std::max({width, menuWidth_ + 40, ImGui::GetContentRegionAvail().x}), most);
  c_.view.menu.width = std::max(c_.view.menu.width, from.x + wide + 6 - ImGui::GetWindowPos().x);
  return {from.x, from.y, wide, height + (c_.touch ? 14.0f : 0.0f)};
}

bool Widgets::menuItem(std::string_view name, base::MessageView label, bool chosen, base::MessageView about,
                       bool enabled) {
  const Palette& p = c_.palette;
  const Box box = entry(std::max(textWidth(c_.fonts.text, label), textWidth(c_.fonts.small, about)) + 40,
                        about.empty() ? 30.0f : 46.0f);
  Menu& menu = c_.view.menu;
  const bool off = !enabled || c_.locked(name), isAt = !off && menu.count++ == menu.at;
  const bool pressed = hit(name, box, enabled, Mirror::Role::entry, chosen) || (isAt && menu.pressed);
  if (off) ImGui::Dummy({box.width, box.height});
  else if (isAt || ImGui::IsItemHovered()) list_->AddRectFilled(at(box), to(box), p.hover, 5);
  const float y = about.empty() ? box.midY() : box.midY() - 8;
  textMiddle(list_, c_.fonts.text, box.x + 26, y, off ? p.muted : p.text, label);
  if (!about.empty()) {
    textMiddle(list_, c_.fonts.small, box.x + 26, box.midY() + 10, p.muted,
               elide(c_.fonts.small, about, box.width - 34));
  }
  if (chosen) {
    const ImVec2 tick[] = {{box.x + 9, y}, {box.x + 12.5f, y + 3.5f}, {box.x + 18.5f, y - 4}};
    list_->AddPolyline(tick, 3, p.text, 0, 1.6f);
  }
  if (pressed) ImGui::CloseCurrentPopup();
  return pressed;
}

bool Widgets::menuReason(std::string_view name, base::MessageView label, base::MessageView reason,
                         base::MessageView action) {
  const Palette& p = c_.palette;
  const float title = textWidth(c_.fonts.text, label), words = textWidth(c_.fonts.small, action);
  const Box box = entry(std::max(title + words + 24, textWidth(c_.fonts.small, reason)) + 40, 46);
  ImGui::Dummy({box.width, box.height});
  const ImVec2 next = ImGui::GetCursorScreenPos();
  textMiddle(list_, c_.fonts.text, box.x + 26, box.midY() - 8, p.muted, label);
  textMiddle(list_, c_.fonts.small, box.x + 26, box.midY() + 10, p.muted,
             elide(c_.fonts.small, reason, box.width - 34));
  c_.widgetRects[std::string(name)] = box;
  if (action.empty()) return false;
  const Box way{box.right() - words - 10, box.y, words + 10, box.height};
  const bool pressed = hit(std::string(name) + ":fix", way);
  const float y = box.midY() - 8;
  textMiddle(list_, c_.fonts.small, way.x, y, p.query, action);
  list_->AddLine({way.x, y + 8}, {way.x + words, y + 8},
                 withAlpha(p.query, ImGui::IsItemHovered() ? 1.0f : 0.5f));
  ImGui::SetCursorScreenPos(next);
  if (pressed) ImGui::CloseCurrentPopup();
  return pressed;
}

void Widgets::menuHeading(base::MessageView words) {
  const Box box = entry(textWidth(c_.fonts.smallStrong, words) + 40, 28);
  ImGui::Dummy({box.width, box.height});
  textMiddle(list_, c_.fonts.smallStrong, box.x + 10, box.midY() + 3, c_.palette.muted, words);
}

void Widgets::beginColumn() { ImGui::BeginGroup(), isColumn_ = true; }
void Widgets::nextColumn() { ImGui::EndGroup(), ImGui::SameLine(0, 0), ImGui::BeginGroup(); }
void Widgets::endColumn() { ImGui::EndGroup(), isColumn_ = false; }

void Widgets::menuText(base::MessageView words) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  const float width = std::max(menuWidth_ + 40, ImGui::GetContentRegionAvail().x);
  list_->AddLine({from.x + 4, from.y + 5}, {from.x + width - 4, from.y + 5}, c_.palette.border);
  const float height =
      paragraph({list_, c_.fonts.small, c_.palette.muted}, from.x + 10, from.y + 11, width - 20, words);
  ImGui::Dummy({width, std::max(44.0f, height + 18)});
}

void Widgets::endMenu() {
  Menu& menu = c_.view.menu;
  menu.height = ImGui::GetCursorPosY() + 6;
  const ImVec2 from = ImGui::GetWindowPos(), size = ImGui::GetWindowSize();
  scrollWithFinger(c_, menu.page);
  menu.page.update({from.x, from.y, size.x, size.y});
  ImGui::PopStyleVar();
  ImGui::EndPopup();
  list_ = ImGui::GetWindowDrawList();
}

bool Widgets::disclosure(std::string_view name, Box row, base::MessageView value, bool open) {
  const bool pressed = flip(name, row, open, true, Mirror::Role::fold);
  const Palette& p = c_.palette;
  const ImU32 color = ImGui::IsItemHovered() ? p.text : p.muted;
  textRight(list_, c_.fonts.small, row.right() - 16, row.midY(), color, value);
  const ImVec2 c{row.right() - 6, row.midY()};
  if (open) list_->AddTriangleFilled({c.x - 3.5f, c.y + 2}, {c.x, c.y - 2.5f}, {c.x + 3.5f, c.y + 2}, color);
  else caret(list_, c, color);
  return pressed;
}

bool Widgets::slider(std::string_view name, Box box, float& position, float by) {
  // Moving a finger up or down scrolls: it operates the slider only when it moves sideways, or is released.
  const bool tapped =
      hit(name, box, true, Mirror::Role::slider, static_cast<int>(std::lround(position * 100)));
  const Palette& p = c_.palette;
  const bool locked = c_.locked(name);
  const bool dragged =
      !locked && (ImGui::IsItemActive() ? c_.view.finger.does == Finger::Does::drags : tapped && c_.touch);
  const float knob = 7;
  if (dragged) position = (ImGui::GetIO().MousePos.x - box.x - knob) / (box.width - 2 * knob);
  if (by != 0 || (!locked && ImGui::IsItemDeactivated())) c_.requests.endGesture = true;
  position = std::clamp(position + by, 0.0f, 1.0f);
  const float x = box.x + knob + position * (box.width - 2 * knob), y = box.midY();
  list_->AddRectFilled({box.x, y - 2}, {box.right(), y + 2}, p.track, 2);
  list_->AddCircleFilled({x, y}, knob, locked ? p.faint : p.ink, 24);
  return dragged || by != 0;
}

bool Widgets::field(std::string_view name, Box box, base::MessageView content) {
  const bool pressed = press(name, box, true, Mirror::Role::field);
  const Palette& p = c_.palette;
  const bool locked = c_.locked(name);
  if (!locked && ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
  list_->AddRectFilled(at(box), to(box), p.panel, 5);
  list_->AddRect(at(box), to(box), p.border, 5);
  const float pad = box.width < 100 ? 8 : 10;
  textMiddle(list_, c_.fonts.text, box.x + pad, box.midY(), locked ? p.muted : p.text,
             elide(c_.fonts.text, content, box.width - 2 * pad));
  return pressed;
}

void Widgets::names(document::OptionId id, Box box, std::string title) {
  const document::Value now = document::get(c_.state, id);
  std::string joined;
  for (const std::string& name : *std::get_if<std::vector<std::string>>(&now))
    joined += (joined.empty() ? "" : ", ") + name;
  const std::string_view option = document::option(id).name;
  const bool pressed = [&] {
    const AsIs asIs;
    return field(option, box, joined);
  }();
  if (!pressed || c_.locked(option)) return;
  TextTarget t;
  t.kind = TextTarget::Kind::option, t.option = id, t.name = title, t.text = joined, t.box = box;
  c_.requests.text = t;
}

void hatched(ImDrawList* list, const Palette& palette, const Box& box) {
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, palette.background, 3);
  const Box in{box.x + 1, box.y + 1, box.width - 2, box.height - 2};  // lines end before the border
  for (float at = 5; at < in.width + in.height; at += 6) {
    const float right = std::min(at, in.width), down = std::min(at, in.height);
    list->AddLine({in.x + at - down, in.y + down}, {in.x + right, in.y + at - right}, palette.border, 1);
  }
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, palette.border, 3);
}

}  // namespace views
