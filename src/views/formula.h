// Formulas as they are printed: fractions with a bar, roots with a line over what they cover, raised and
// lowered letters, parentheses as high as what they hold. Their source is plain text, such as "w_j = exp(s_j)
// ÷ Σ_m exp(s_m)", which is also what is read aloud.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "views/theme.h"

namespace views {

struct FormulaLook {
  ImFont* symbols = nullptr;
  ImFont* scripts = nullptr;        ///< raised and lowered
  ImFont* digits = nullptr;         ///< numbers; null: as symbols
  ImFont* strong = nullptr;         ///< q, k, v and w, in their colours; null: as other symbols
  ImFont* strongScripts = nullptr;  ///< raised and lowered beside these
  /// A line of text; a formula on one line, whose numbers may have marks; or one in which "÷" makes a
  /// fraction, and Σ stands over its index.
  enum class Shape : std::uint8_t { text, line, high } shape = Shape::text;
  float least = 0;  ///< the least width of the bar of an outer fraction
};

/// Lengths in logical pixels. A formula has its middle line, where fraction bars and minus signs are, at y =
/// 0.
class Formula {
 public:
  /// The role of a symbol, which decides on its colour.
  enum class Tone : std::uint8_t { plain, query, key, value, weight };
  struct Part {
    enum class Shape : std::uint8_t { words, line, root, open, close, sum } shape = Shape::words;
    Tone tone = Tone::plain;
    ImFont* font = nullptr;
    /// Of words and lines the left end of the middle, otherwise the top left corner.
    float x = 0, y = 0;
    float width = 0, height = 0;
    std::string words;
    /// The index of a number among those that a mark (attention::mark) precedes; −1: it has none.
    int number = -1;
  };

  Formula() = default;
  Formula(const FormulaLook& look, std::string_view text);

  const std::vector<Part>& parts() const { return parts_; }
  float width() const { return width_; }
  float above() const { return above_; }
  float below() const { return below_; }
  float height() const { return above_ + below_; }
  /// If it is a fraction: the middle lines of its two tiers, and the width of its bar. Otherwise the width is
  /// 0.
  float over = 0, under = 0, bar = 0;

  /// `palette` may be null if the look has no `strong`.
  void draw(ImDrawList* list, float x, float midY, const Palette* palette, ImU32 color) const;
  /// Draws one of the parts.
  static void draw(ImDrawList* list, const Part& part, float x, float midY, const Palette* palette,
                   ImU32 color);

 private:
  std::vector<Part> parts_;
  float width_ = 0, above_ = 0, below_ = 0;
};

/// Does a line of text contain a root or a raised or lowered letter? Of other words only names of the board
/// do, so "my_file" does not.
bool hasFormula(std::string_view words);

}  // namespace views
