#include "views/guide/flow.h"

#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/guide/glossary.h"

namespace views {
namespace {

using document::Markup;
using document::Run;

/// Text with one style; `place` is where a click goes.
struct Piece {
  ImFont* font;
  ImU32 color;
  std::string words;
  const Run* place;
  const document::GlossaryTerm* term = nullptr;  ///< that the word names, for the first time in this text
};

/// A unit within which lines are not broken.
struct Atom {
  std::vector<Piece> pieces;
  bool ends = false;  ///< ends a paragraph
  float width = 0;
};

bool isPlace(const Run& run) {
  return run.kind == Run::Kind::cells || run.kind == Run::Kind::option || run.kind == Run::Kind::view ||
         run.kind == Run::Kind::lesson;
}

class Flow {
 public:
  Flow(Context& c, const Markup& text, const FlowLook& look) : c_(c), look_(look) {
    for (const Run& run : text) add(run);
    close();
  }

  float draw(float x, float y, float width, std::string_view name) {
    ImDrawList* list = name.empty() ? nullptr : ImGui::GetWindowDrawList();
    const float space = textWidth(look_.font, " "), top = y;
    float at = x;
    int line = 1;
    for (std::size_t i = 0; i < atoms_.size(); ++i) {
      const Atom& atom = atoms_[i];
      if (atom.ends) {
        at = x, y += look_.line + 7, ++line;
        continue;
      }
      if (at > x && at + atom.width > x + width) at = x, y += look_.line, ++line;
      const bool isLastLine = look_.most > 0 && line >= look_.most && i + 1 < atoms_.size();
      const float dots = isLastLine ? textWidth(look_.font, "…") : 0;
      if (look_.most > 0 && line > look_.most) break;
      if (isLastLine &&
          (atoms_[i + 1].ends || at + atom.width + space + atoms_[i + 1].width + dots > x + width)) {
        at = pieces(list, atom, at, y, name);
        drawOpen(list);
        if (list) text(list, look_.font, at, y, look_.color, "…");
        break;
      }
      at = pieces(list, atom, at, y, name) + space;
    }
    drawOpen(list);
    return y + look_.line - top;
  }

 private:
  ImU32 colorOf(const Run& run) const {
    const Palette& p = c_.palette;
    if (run.kind == Run::Kind::cells) {
      const auto id = attention::tensorNamed(run.cells.tensor);
      const ImU32 color = id ? hue(p, *id) : p.text;
      return color == p.neutral ? p.text : color;
    }
    return isPlace(run) ? p.query : run.kind == Run::Kind::strong ? p.text : look_.color;
  }

  void add(const Run& run) {
    if (run.kind == Run::Kind::paragraph) {
      close();
      atoms_.push_back({{}, true, 0});
      return;
    }
    const bool isNumber = run.kind == Run::Kind::number || run.kind == Run::Kind::computed;
    ImFont* font = isNumber ? (look_.font == c_.fonts.text ? c_.fonts.mono : c_.fonts.monoSmall)
                   : run.kind == Run::Kind::plain ? look_.font
                   : look_.font == c_.fonts.text  ? c_.fonts.strong
                                                  : c_.fonts.smallStrong;
    if (isNumber && (font->FindGlyphNoFallback(0x2212) == nullptr)) font = look_.font;
    std::string_view words = run.words;
    while (!words.empty()) {
      if (words.front() == ' ') {
        close();
        words.remove_prefix(1);
        continue;
      }
      const std::string_view word = words.substr(0, words.find(' '));
      open_.pieces.push_back({font, colorOf(run), std::string(word), isPlace(run) ? &run : nullptr,
                              run.kind == Run::Kind::plain ? newTerm(word) : nullptr});
      open_.width += textWidth(font, word);
      words.remove_prefix(word.size());
    }
  }
  /// The term that a word names, if this text has not named it before.
  const document::GlossaryTerm* newTerm(std::string_view word) {
    const document::GlossaryTerm* term = look_.hasTerms ? termNamed(c_, word) : nullptr;
    if (!term || std::find(named_.begin(), named_.end(), term) != named_.end()) return nullptr;
    named_.push_back(term);
    return term;
  }
  void close() {
    if (!open_.pieces.empty()) atoms_.push_back(std::move(open_));
    open_ = {};
  }

  float pieces(ImDrawList* list, const Atom& atom, float x, float y, std::string_view name) {
    for (const Piece& piece : atom.pieces) {
      if (piece.font == c_.fonts.mono || piece.font == c_.fonts.monoSmall)
        x = std::ceil(x);  // numbers start at whole pixels
      const float width = textWidth(piece.font, piece.words);
      if (list) {
        const bool isApart =
            piece.place || (piece.term && !c_.fonts.mirror);  // read aloud, a text is one sentence
        if (isApart || !joins(piece, x, y)) drawOpen(list);
        join(piece, x, y);
        if (isApart) drawOpen(list);
        if (piece.term) underline(list, piece, {x, y, width, look_.line}, name);
        if (piece.place) point(list, piece, {x, y, width, look_.line}, name);
      }
      x += width;
    }
    return x;
  }

  // Consecutive words of one style on a line are drawn as one text: texts start at whole pixels, so spaces
  // between separately drawn words would differ.
  std::string joined(const Piece& piece, float x) const {
    return shown_.words + (x > shown_.x + textWidth(shown_.font, shown_.words) + 0.5f ? " " : "") +
           piece.words;
  }
  bool joins(const Piece& piece, float x, float y) const {
    if (shown_.words.empty() || shown_.font != piece.font || shown_.color != piece.color || shown_.y != y)
      return false;
    return std::fabs(textWidth(piece.font, joined(piece, x)) -
                     (x - shown_.x + textWidth(piece.font, piece.words))) < 0.5f;
  }
  void join(const Piece& piece, float x, float y) {
    if (shown_.words.empty()) shown_ = {piece.font, piece.color, x, y, piece.words};
    else shown_.words = joined(piece, x);
  }
  void drawOpen(ImDrawList* list) {
    if (list && !shown_.words.empty())
      textMiddle(list, shown_.font, std::round(shown_.x), shown_.y + look_.line / 2, shown_.color,
                 shown_.words);
    shown_.words.clear();
  }

  void point(ImDrawList* list, const Piece& piece, const Box& box, std::string_view name) {
    const bool pressed = Widgets(c_).area(base::joined({name, ":", places_++}), box);
    const Run& run = *piece.place;
    if (!ImGui::IsItemHovered() && !pressed) return;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    list->AddLine({box.x, box.bottom() - 3}, {box.right(), box.bottom() - 3}, piece.color, 1.5f);
    if (run.kind == Run::Kind::cells && c_.view.guide) c_.view.guide->lit = run.cells;
    if (!pressed) return;
    using What = GuideAct::What;
    if (run.kind == Run::Kind::cells) c_.requests.guide.push_back({What::place, 0, "", run.cells});
    if (run.kind == Run::Kind::option) c_.requests.guide.push_back({What::option, 0, run.name, {}});
    if (run.kind == Run::Kind::view) c_.requests.set(document::OptionId::view, run.name);
    if (run.kind == Run::Kind::lesson) c_.requests.guide.push_back({What::open, 0, run.name, {}});
  }

  void underline(ImDrawList* list, const Piece& piece, const Box& box, std::string_view name) {
    const std::string place = base::joined({name, ":term:", terms_++});
    if (c_.fonts.mirror) return void(c_.widgetRects[place] = box);
    const bool pressed = Widgets(c_).area(place, box);
    const bool isOpen = c_.view.glossary->open == piece.term->id;
    const ImU32 color = isOpen || ImGui::IsItemHovered() ? c_.palette.text : c_.palette.faint;
    for (float x = box.x; x < box.right() - 1; x += 3)
      list->AddRectFilled({x, box.bottom() - 3.5f}, {x + 1.5f, box.bottom() - 2.0f}, color);
    if (pressed) openTerm(c_, piece.term->id, box);
  }

  Context& c_;
  const FlowLook& look_;
  std::vector<const document::GlossaryTerm*> named_;
  std::vector<Atom> atoms_;
  Atom open_;
  struct {
    ImFont* font;
    ImU32 color;
    float x, y;
    std::string words;
  } shown_ = {};  ///< text not drawn yet, because more may follow
  int places_ = 0, terms_ = 0;
};

}  // namespace

float flow(Context& c, const Markup& text, ImVec2 at, float width, const FlowLook& look,
           std::string_view name) {
  const AsIs asIs;  // a lesson was translated when it was read
  return text.empty() ? 0 : Flow(c, text, look).draw(at.x, at.y, width, name);
}

}  // namespace views
