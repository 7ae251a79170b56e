#include "views/formula.h"

#include <algorithm>
#include <cmath>

#include "attention/layer/explain.h"
#include "base/sentence.h"
#include "views/widgets.h"

namespace views {
namespace {

using Part = Formula::Part;
using Shape = Part::Shape;
using Tone = Formula::Tone;

constexpr float kRule = 1.2f, kOuterPad = 8, kInnerPad = 3, kTierGap = 3, kOverRoot = 4, kLowered = 4,
                kRaised = 5, kScriptGap = 1;
constexpr std::string_view kRoot = "√", kSum = "Σ", kDivide = "÷", kTransposed = "^T";
constexpr std::string_view kOperators[] = {"+", "−", "·", "×", "÷", "/", "=", ",",
                                           "≤", "≥", ">", "<", "→", ":", "…"};
constexpr std::string_view kOfProducts[] = {"·", "×", "÷", "/"};

float lineOf(const ImFont* font) { return font->FontSize * ImGui::GetIO().FontGlobalScale; }
/// The width of the sign of a root, left of what it covers.
float rootSign(const ImFont* font) { return std::round(lineOf(font) * 0.5f); }

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isPlainLetter(std::string_view words, std::size_t at) {
  return at < words.size() && (isLetter(words[at]) || isDigit(words[at]));
}
bool isMark(char c) { return static_cast<unsigned char>(c) < ' '; }

std::string_view character(std::string_view words) {
  return words.substr(0, static_cast<std::size_t>(std::max(base::utf8Length(words), 1)));
}

template <std::size_t N>
bool isOneOf(std::string_view what, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), what) != std::end(list);
}

/// Where the bracket that closes the first character is; npos if it is not closed.
std::size_t closing(std::string_view words) {
  int depth = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    depth += words[i] == '(' || words[i] == '[';
    depth -= words[i] == ')' || words[i] == ']';
    if (depth == 0) return i;
  }
  return std::string_view::npos;
}

/// The length of the sign and of what a root covers: "√16", "√d_k", "√(σ² + ε)"; 0 if nothing is there to be
/// covered.
std::size_t rootAt(std::string_view words) {
  if (!words.starts_with(kRoot)) return 0;
  const std::size_t from = kRoot.size();
  if (words.substr(from).starts_with('(')) {
    const std::size_t end = closing(words.substr(from));
    return end == std::string_view::npos ? 0 : from + end + 1;
  }
  std::size_t to = from;
  while (isPlainLetter(words, to) ||
         (to > from && (words.substr(to, 1) == "_" || words.substr(to, 1) == ".") &&
          isPlainLetter(words, to + 1)))
    ++to;
  return to == from ? 0 : to;
}

/// The length of a lowered or raised piece of a line of text, with its sign; 0 if it is none. Names of the
/// board have one: W_Q, d_k, K^T.
std::size_t scriptAt(std::string_view words, std::size_t at) {
  if (at == 0 || at + 1 >= words.size()) return 0;
  if (words[at] == '_') {
    const bool isName = std::string_view("WUvbXdh").find(words[at - 1]) != std::string_view::npos &&
                        (at < 2 || !isPlainLetter(words, at - 2)) && (at < 2 || words[at - 2] != '_');
    return isName && isLetter(words[at + 1]) && !isPlainLetter(words, at + 2) &&
                   words.substr(at + 2, 1) != "_"
               ? 2
               : 0;
  }
  if (words[at] != '^') return 0;
  if (words.substr(at).starts_with(kTransposed))
    return isLetter(words[at - 1]) || isLetter(words[at - 2 < at ? at - 2 : 0]) ? 2 : 0;
  const std::size_t end = words[at + 1] == '(' ? closing(words.substr(at + 1)) : std::string_view::npos;
  return end == std::string_view::npos ? 0 : end + 2;
}

/// Puts the parts of a formula beside and above each other, while it reads the text.
class Typesetter {
 public:
  Typesetter(const FormulaLook& look, std::vector<Part>& parts, std::string_view text)
      : look_(look),
        parts_(parts),
        rest_(text) {}

  /// What is set so far of a piece: its parts, from `from` on, begin at x = 0.
  struct Extent {
    std::size_t from = 0;
    float width = 0, above = 0, below = 0;
    float over = 0, under = 0, bar = 0;  ///< as in Formula
  };

  Extent all() {
    if (look_.shape == FormulaLook::Shape::text) return line(rest_);
    Extent out = row(0);
    while (!rest_.empty()) {  // a bracket that nothing opened
      beside(out, put(look_.symbols, Tone::plain, rest_.substr(0, 1)));
      rest_.remove_prefix(1);
      beside(out, row(0));
    }
    return out;
  }

 private:
  // --- lines of text

  Extent line(std::string_view words) {
    Extent out = begin();
    std::size_t from = 0;
    const auto plain = [&](std::size_t to) {
      if (to > from) beside(out, put(look_.symbols, Tone::plain, words.substr(from, to - from)));
    };
    for (std::size_t i = 0; i < words.size();) {
      const std::size_t root = rootAt(words.substr(i)), script = root > 0 ? 0 : scriptAt(words, i);
      if (root + script == 0) {
        ++i;
        continue;
      }
      plain(i);
      const std::string_view what = words.substr(i, root + script);
      if (root > 0) beside(out, covered([&] { return line(unbracketed(what.substr(kRoot.size()))); }));
      else
        this->script(out, what.front() == '_', put(look_.scripts, Tone::plain, unbracketed(what.substr(1))));
      from = i += root + script;
    }
    plain(words.size());
    return out;
  }

  static std::string_view unbracketed(std::string_view words) {
    return words.starts_with('(') ? words.substr(1, words.size() - 2) : words;
  }

  // --- formulas

  /// Up to a closing bracket, or the end.
  Extent row(int depth) {
    Extent out = begin();
    std::size_t product = parts_.size();  // what a fraction bar that follows is drawn below
    float space = 0, productX = 0;
    Extent above = begin();
    const auto boundary = [&] { product = parts_.size(), productX = out.width + space, above = begin(); };
    while (!rest_.empty() && rest_.front() != ')' && rest_.front() != ']') {
      if (rest_.front() == ' ') {
        space += plainWidth(look_.symbols, " ");
        rest_.remove_prefix(1);
        continue;
      }
      const std::string_view sign = character(rest_);
      if (isHigh() && sign == kDivide && parts_.size() > product) {
        rest_.remove_prefix(sign.size());
        skipSpaces();
        for (std::size_t i = product; i < parts_.size(); ++i) parts_[i].x -= productX;
        above.from = product;
        out.width = productX, space = 0;
        const Extent whole = fraction(above, depth);
        beside(out, whole);
        above = whole;
        if (depth == 0) out.over = whole.over, out.under = whole.under, out.bar = whole.bar;
        continue;
      }
      const bool isSign = isOneOf(sign, kOperators);
      if (isSign && !isOneOf(sign, kOfProducts)) boundary();
      out.width += space, above.width += parts_.size() > product ? space : 0;
      if (parts_.size() == product) productX = out.width;
      space = 0;
      if (isSign) {
        const Extent one = put(look_.symbols, Tone::plain, sign);
        rest_.remove_prefix(sign.size());
        beside(out, one);
        if (isOneOf(sign, kOfProducts)) grow(above, one);
        else boundary();
        continue;
      }
      const std::size_t from = parts_.size();
      Extent one = isNumerator() ? bare(depth + 1) : factor(depth);
      one.from = from;
      beside(out, one);
      grow(above, one);
    }
    out.width += space;
    return out;
  }

  /// Is a bracket the whole numerator of a fraction? Then it is not drawn.
  bool isNumerator() const {
    if (!isHigh() || !rest_.starts_with('(')) return false;
    const std::size_t end = closing(rest_);
    if (end == std::string_view::npos) return false;
    const std::size_t next = rest_.find_first_not_of(' ', end + 1);
    return next != std::string_view::npos && rest_.substr(next).starts_with(kDivide);
  }

  /// What is inside of a bracket, without it.
  Extent bare(int depth) {
    rest_.remove_prefix(1);
    const Extent inside = row(depth);
    if (!rest_.empty()) rest_.remove_prefix(1);
    return inside;
  }

  /// Up to a space or an operator: "exp(s_j)", "|q_i|", "(1 + x)²".
  Extent factor(int depth) {
    Extent out = begin();
    while (!rest_.empty() && std::string_view(" )]").find(rest_.front()) == std::string_view::npos) {
      const std::string_view sign = character(rest_);
      if (isOneOf(sign, kOperators)) break;
      if (sign == "(" || sign == "[") beside(out, bracketed(depth));
      else if (sign == kRoot) beside(out, root(depth));
      else if (isHigh() && sign == kSum) beside(out, sum(depth));
      else if ((sign == "_" || sign == "^") && rest_.size() > 1 && out.width > 0) scripted(out);
      else if (isMark(sign.front())) beside(out, number());
      else beside(out, symbol());
    }
    return out;
  }

  Extent bracketed(int depth) {
    const bool isRound = rest_.front() == '(';
    const std::size_t from = parts_.size();
    Extent inside = bare(depth + 1);
    const float half = std::max(inside.above, inside.below), least = textHalf(look_.symbols);
    Extent out{from};
    if (half <= least + kLowered) {
      for (std::size_t i = from; i < parts_.size(); ++i)
        parts_[i].x += plainWidth(look_.symbols, isRound ? "(" : "[");
      Extent left = put(look_.symbols, Tone::plain, isRound ? "(" : "[");
      out.width = left.width + inside.width, out.above = std::max(inside.above, least),
      out.below = std::max(inside.below, least);
      beside(out, put(look_.symbols, Tone::plain, isRound ? ")" : "]"));
      out.from = from;
      return out;
    }
    // As high as what they hold, and about the middle line.
    const float wide = std::min(7.0f, 3 + half / 8), high = 2 * half;
    constexpr float kAir = 2;
    for (std::size_t i = from; i < parts_.size(); ++i) parts_[i].x += kAir + wide + 1;
    out.width = 2 * (kAir + wide + 1) + inside.width, out.above = out.below = half;
    for (const bool opens : {true, false}) {
      Part p;
      p.shape = opens ? Shape::open : Shape::close, p.x = opens ? kAir : out.width - kAir - wide, p.y = -half,
      p.width = wide, p.height = high;
      parts_.push_back(p);
    }
    return out;
  }

  template <class Content>
  Extent covered(Content content) {
    const std::size_t from = parts_.size();
    const Extent inside = content();
    const float em = lineOf(look_.symbols), sign = rootSign(look_.symbols);
    for (std::size_t i = from; i < parts_.size(); ++i) parts_[i].x += sign + 1;
    const float above = inside.above + (isHigh() ? kOverRoot - 2 : 0.5f),
                below = std::max(inside.below - 2, em * 0.36f);
    Part p;
    p.shape = Shape::root, p.font = look_.symbols, p.y = -above, p.width = sign + inside.width + 3,
    p.height = above + below;
    parts_.push_back(p);
    return {from, sign + inside.width + 4, above + 1, std::max(inside.below, below)};
  }

  Extent root(int depth) {
    if (rootAt(rest_) == 0) return symbol();
    rest_.remove_prefix(kRoot.size());
    return covered([&] { return rest_.front() == '(' ? bare(depth + 1) : factor(depth + 1); });
  }

  // Σ with its index below it, and what it adds up.
  Extent sum(int depth) {
    rest_.remove_prefix(kSum.size());
    Part p;
    constexpr float kWide = 12, kHigh = 16;
    p.shape = Shape::sum, p.y = -kHigh / 2, p.width = kWide, p.height = kHigh;
    Extent out = begin();
    parts_.push_back(p);
    out.width = kWide, out.above = out.below = kHigh / 2 + 1;
    if (rest_.starts_with('_')) {
      rest_.remove_prefix(1);
      const Extent index = put(look_.scripts, Tone::plain, scriptWords());
      const float by = kHigh / 2 + textHalf(look_.scripts);
      const float wide = std::max(index.width, kWide);
      parts_[out.from].x = (wide - kWide) / 2;
      shift(index, (wide - index.width) / 2, by);
      out.width = wide, out.below = by + index.below;
    }
    out.width += 6;
    skipSpaces();
    if (rest_.empty() || isOneOf(character(rest_), kOperators)) return out;
    beside(out, factor(depth));
    return out;
  }

  Extent fraction(const Extent& above, int depth) {
    const std::size_t from = above.from;
    const Extent below = rest_.starts_with('(') && isWholeFactor() ? bare(depth + 1) : factor(depth + 1);
    const float pad = depth == 0 ? kOuterPad : kInnerPad;
    Extent out{from, std::max(above.width, below.width) + 2 * pad};
    if (depth == 0) out.width = std::max(out.width, look_.least);
    out.over = -above.below - kTierGap, out.under = below.above + kTierGap, out.bar = out.width;
    for (std::size_t i = from; i < below.from; ++i)
      parts_[i].x += (out.width - above.width) / 2, parts_[i].y += out.over;
    for (std::size_t i = below.from; i < parts_.size(); ++i)
      parts_[i].x += (out.width - below.width) / 2, parts_[i].y += out.under;
    Part p;
    p.shape = Shape::line, p.width = out.width, p.height = kRule;
    parts_.push_back(p);
    out.above = above.above - out.over, out.below = below.below + out.under;
    out.width += 2;  // the air around the bar
    for (std::size_t i = from; i < parts_.size(); ++i) parts_[i].x += 1;
    return out;
  }

  bool isWholeFactor() const {
    const std::size_t end = closing(rest_);
    if (end == std::string_view::npos) return false;
    const std::string_view next = rest_.substr(end + 1);
    return next.empty() || std::string_view(" )],").find(next.front()) != std::string_view::npos;
  }

  // --- letters

  std::string_view scriptWords() {
    std::size_t length = 0;
    if (rest_.starts_with('(') || rest_.starts_with('[')) {
      const std::size_t end = std::min(closing(rest_), rest_.size() - 1);
      const std::string_view inside = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
      return inside;
    }
    while (isPlainLetter(rest_, length)) ++length;
    if (length == 0) length = character(rest_).size();
    const std::string_view words = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return words;
  }

  void scripted(Extent& out) {
    const bool isLow = rest_.front() == '_';
    rest_.remove_prefix(1);
    const Tone tone = parts_.back().tone;
    const bool isStrong = look_.strong && parts_.back().font == look_.strong;
    const std::string_view words = scriptWords();
    FormulaLook small = look_;
    small.symbols = small.scripts = isStrong ? look_.strongScripts : look_.scripts,
    small.shape = FormulaLook::Shape::text;
    const std::size_t from = parts_.size();
    Extent made = Typesetter(small, parts_, words).all();
    made.from = from;
    for (std::size_t i = from; i < parts_.size(); ++i) parts_[i].tone = tone;
    script(out, isLow, made);
  }

  void script(Extent& out, bool isLow, const Extent& words) {
    const float by = isLow ? kLowered : -kRaised;
    shift(words, out.width + (isHigh() ? kScriptGap : 0), by);
    out.width += words.width + (isHigh() ? kScriptGap : 0);
    out.above = std::max(out.above, words.above - by), out.below = std::max(out.below, words.below + by);
  }

  static Tone toneOf(std::string_view letter) {
    return letter == "q"   ? Tone::query
           : letter == "k" ? Tone::key
           : letter == "v" ? Tone::value
           : letter == "w" ? Tone::weight
                           : Tone::plain;
  }

  Extent symbol() {
    std::size_t length = 0;
    const bool isNumber = isDigit(rest_.front());
    while (length < rest_.size()) {
      const std::string_view next = character(rest_.substr(length));
      const bool isOfNumber = isDigit(next.front()) || (next == "." && isPlainLetter(rest_, length + 1));
      if (std::string_view(" ()[]_^").find(next.front()) != std::string_view::npos ||
          isOneOf(next, kOperators) || isMark(next.front()))
        break;
      if (next == kRoot || (isHigh() && next == kSum) || (isNumber && !isOfNumber) ||
          (length > 0 && (next == "|" || rest_[length - 1] == '|')))
        break;
      length += next.size();
    }
    length = std::max(length, character(rest_).size());
    const std::string_view words = rest_.substr(0, length);
    rest_.remove_prefix(length);
    const Tone tone = look_.strong ? toneOf(words) : Tone::plain;
    std::string own;
    return put(isNumber && look_.digits ? look_.digits
               : tone == Tone::plain    ? look_.symbols
                                        : look_.strong,
               tone, isNumber ? inNumbers(words, own) : words);
  }

  // A number with a mark.
  Extent number() {
    rest_.remove_prefix(1);
    std::size_t length = 0;
    for (std::string_view next; length < rest_.size(); length += next.size()) {
      next = character(rest_.substr(length));
      const bool isOf = isDigit(next.front()) || next == "." || next == "e" || next == "∞" ||
                        (next == "−" && (length == 0 || rest_[length - 1] == 'e'));
      if (!isOf) break;
    }
    std::string own;
    const Extent out = put(look_.digits ? look_.digits : look_.symbols, Tone::plain,
                           inNumbers(rest_.substr(0, length), own));
    if (length > 0) parts_.back().number = numbers_++;
    rest_.remove_prefix(length);
    return out;
  }

  // --- places

  bool isHigh() const { return look_.shape == FormulaLook::Shape::high; }
  Extent begin() const { return {parts_.size()}; }
  static float textHalf(ImFont* font) { return lineOf(font) * 0.45f; }

  Extent put(ImFont* font, Tone tone, std::string_view words) {
    Part p;
    p.tone = tone, p.font = font, p.words = words, p.width = plainWidth(font, words),
    p.height = 2 * textHalf(font);
    parts_.push_back(std::move(p));
    return {parts_.size() - 1, parts_.back().width, textHalf(font), textHalf(font)};
  }
  /// Moves the parts of what was set last.
  void shift(const Extent& what, float x, float y) {
    for (std::size_t i = what.from; i < parts_.size(); ++i) parts_[i].x += x, parts_[i].y += y;
  }
  void beside(Extent& out, const Extent& next) {
    shift(next, out.width, 0);
    grow(out, next);
  }
  static void grow(Extent& out, const Extent& next) {
    out.width += next.width, out.above = std::max(out.above, next.above),
                             out.below = std::max(out.below, next.below);
  }
  void skipSpaces() { rest_.remove_prefix(std::min(rest_.find_first_not_of(' '), rest_.size())); }

  const FormulaLook& look_;
  std::vector<Part>& parts_;
  std::string_view rest_;
  int numbers_ = 0;
};

ImU32 colorOf(const Palette& p, Tone tone) {
  return tone == Tone::query ? p.query : tone == Tone::key ? p.key : tone == Tone::value ? p.value : p.weight;
}

}  // namespace

Formula::Formula(const FormulaLook& look, std::string_view text) {
  const Typesetter::Extent whole = Typesetter(look, parts_, text).all();
  width_ = whole.width, above_ = whole.above, below_ = whole.below;
  over = whole.over, under = whole.under, bar = whole.bar;
}

void Formula::draw(ImDrawList* list, const Part& part, float x, float midY, const Palette* palette,
                   ImU32 color) {
  const float left = x + part.x, y = midY + part.y, right = left + part.width, bottom = y + part.height;
  switch (part.shape) {
    case Part::Shape::words:
      return plainMiddle(list, part.font, left, y,
                         part.tone == Tone::plain ? color : colorOf(*palette, part.tone), part.words);
    case Part::Shape::line: return list->AddLine({left, y}, {right, y}, color, part.height);
    case Part::Shape::root: {
      const float sign = rootSign(part.font);
      const ImVec2 points[] = {{left, bottom - part.height * 0.38f},
                               {left + sign * 0.22f, bottom - part.height * 0.44f},
                               {left + sign * 0.48f, bottom},
                               {left + sign * 0.9f, y},
                               {right, y}};
      return list->AddPolyline(points, 5, color, 0, kRule);
    }
    case Part::Shape::sum: {
      const ImVec2 points[] = {{right, y + 2.5f},
                               {right - 0.5f, y},
                               {left, y},
                               {left + part.width * 0.55f, y + part.height / 2},
                               {left, bottom},
                               {right - 0.5f, bottom},
                               {right, bottom - 2.5f}};
      return list->AddPolyline(points, 7, color, 0, 1.5f);
    }
    case Part::Shape::open:
    case Part::Shape::close: {
      const float end = part.shape == Part::Shape::open ? right : left,
                  bulge =
                      part.shape == Part::Shape::open ? left - part.width * 0.3f : right + part.width * 0.3f;
      list->PathLineTo({end, y});
      list->PathBezierCubicCurveTo({bulge, y + part.height * 0.3f}, {bulge, bottom - part.height * 0.3f},
                                   {end, bottom});
      return list->PathStroke(color, 0, kRule);
    }
  }
}

void Formula::draw(ImDrawList* list, float x, float midY, const Palette* palette, ImU32 color) const {
  for (const Part& part : parts_) draw(list, part, x, midY, palette, color);
}

bool hasFormula(std::string_view words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == '_' || words[i] == '^' ? scriptAt(words, i) > 0
                                           : words[i] == kRoot.front() && rootAt(words.substr(i)) > 0)
      return true;
  }
  return false;
}

}  // namespace views
