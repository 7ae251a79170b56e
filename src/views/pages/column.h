// One column of a page: cards with controls, which also respond to keys, text, numbers and matrices, stacked
// vertically.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "views/widgets.h"

namespace views {

inline constexpr float kColumnGap = 16;

class PageColumn {
 public:
  PageColumn(Context& context, float x, float y, float width);
  /// The same, with a focus ring of its own.
  PageColumn(Context& context, FocusRing* ring, float x, float y, float width);

  float y() const { return y_; }
  /// The part of the page below the column's content.
  Box below(Box page) const { return page.y = y_, page; }
  float width() const { return width_; }
  /// From one control to the next: as far as a finger is wide, if one may come.
  float pitch(float usual) const { return c_.roomy() ? 44 : usual; }
  void gap(float height) { y_ += height; }
  /// A box over the whole width, below the content so far.
  Box take(float height);

  /// Begins a card with this title, up to closeCard().
  void openCard(base::MessageView title = {});
  void closeCard();

  void title(base::MessageView words);
  void question(base::MessageView words);
  void sentence(base::MessageView words);

  // Controls. Their names are also those of the widget rectangles ("lab:scaled", "slider:d_k"). All return
  // whether the user operated them.
  /// `position` is 0 to 1; a key changes it by `step`.
  bool slider(std::string_view name, base::MessageView label, base::MessageView value, float& position,
              float step, const document::Option* typed = nullptr);
  /// From `low` to `high` in multiples of 1 / `parts`, shown with `decimals`.
  struct Scale {
    double low, high;
    int parts, decimals;
  };
  /// A slider for a numeric option; any number off its scale that the option allows can be typed where its
  /// value is shown.
  void number(document::OptionId id, std::string_view name, base::MessageView label, const Scale& scale);
  bool toggle(std::string_view name, base::MessageView label, bool on);
  /// Returns −1, 0 or +1.
  int stepper(std::string_view name, base::MessageView label, base::MessageView value, bool less, bool more);
  /// A choice of one of several; returns the new one, or −1.
  int choice(std::string_view name, base::MessageView label, std::span<const std::string_view> words,
             int chosen);
  bool button(std::string_view name, base::MessageView label);
  /// An option that is a list of names; `title` says where they are typed that commas divide them.
  void names(document::OptionId id, base::MessageView label, std::string title);

  /// Registers what was drawn in `box` as the next control for the keys; returns what they ask of it.
  FocusRing::Key keys(std::string_view name, const Box& box) { return w_.keys(name, box); }

  /// A line of arithmetic: its label, and the numbers.
  void term(base::MessageView label, base::MessageView text);
  /// A line of a table: a label, and one or two numbers at the right.
  void numbers(base::MessageView label, base::MessageView first, base::MessageView second = {});

 private:
  void typed(const document::Option& option, const Box& box, bool asked);
  Box control();  ///< the box for a control's line, below the content so far
  void label(const Box& box, base::MessageView words);

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  float x_, y_, width_;
  float cardTop_ = 0, padding_ = 0;  ///< of the open card
};

/// The columns of a page, the first one `width` wide. The second one is beside it, or on a narrow page below
/// it.
PageColumn firstColumn(Context& context, const Box& area, float width = 264);
PageColumn secondColumn(Context& context, const Box& area, const PageColumn& first);

/// What a page says while it has no numbers yet; returns where that ends.
float stillComputes(PageColumn& column);

/// Sets an option from a control of a page, unless the host page locked it.
void set(Context& context, document::OptionId id, document::Value value, std::uint64_t gesture = 0);
/// The same with the result of PageColumn::choice(): the index of one of the option's choices, or −1 for no
/// change.
void setChoice(Context& context, document::OptionId id, int chosen);
/// The same with the next seed; the largest one is followed by the smallest.
void setNextSeed(Context& context, document::OptionId id, std::uint32_t seed);

/// The kind of numbers in a matrix: signed with magnitudes up to `most`, weights from 0 to 1, or a mask of 0
/// and 1.
enum class Cells { numbers, weights, mask };

/// A matrix in a row of matrices, with its name and shape above it.
struct PageMatrix {
  std::uint32_t slot = 0;  ///< for its texture
  const attention::Tensor* tensor = nullptr;
  std::string name;
  base::Message title{};      ///< what is written, if it is not what the name stands for
  std::string_view before{};  ///< the operator or word between it and the previous matrix
  Cells cells = Cells::numbers;
  int head = 0;
  bool rowsAreTokens = true;
  std::span<const std::string> rows{};     ///< what stands at the left in place of the tokens
  std::span<const std::string> columns{};  ///< what stands above the columns
  std::string_view place{};                ///< its name in Context::widgetRects
  document::ParameterId parameter{};
  bool isParameter = false;                ///< its cells can be edited by dragging up and down, and by keys
  int groups = 1;                          ///< groups of columns separated by lines: the heads side by side
  attention::Span onlyRows{}, onlyCols{};  ///< only these are drawn; empty: all
  /// Cells without a number, hatched; null: none.
  std::function<bool(int row, int col)> isMasked{};
  int firstToken = 0, ofTokens = 0;  ///< the token of its first row, and of how many; 0: all are rows
  // As it was drawn last.
  Box box{};  ///< of the cells
  float cell = 0;

  attention::Span rowsDrawn() const {
    return onlyRows.empty() ? attention::Span{0, tensor->rows()} : onlyRows;
  }
  attention::Span colsDrawn() const {
    return onlyCols.empty() ? attention::Span{0, tensor->cols()} : onlyCols;
  }
  /// Finds the cell at a point; false if there is none.
  bool hit(float x, float y, int& row, int& col) const;
};

/// The largest magnitude that is drawn.
float largest(const PageMatrix& matrix);
/// A frame around one cell.
void frameCell(Context& context, const PageMatrix& matrix, int row, int col);

/// The tokens that a page shows, of many; all where they are at most `most`.
inline constexpr int kMostTokens = 128;
attention::Span tokensShown(const Context& context, int most = kMostTokens);
/// A slider for one of many tokens, up to `last`, which a key moves by `step`; returns the chosen one.
struct TokenChoice {
  int token, last, step;
};
int tokenSlider(PageColumn& column, std::string_view name, base::MessageView label,
                const TokenChoice& choice);
/// One for the first of the tokens shown, where there are more.
void chooseTokens(Context& context, PageColumn& column, attention::Span shown);

/// The cell pitch with which the widest of the matrices fits the width, and the highest the height, at most
/// that of the board; and how wide the labels of tokens are beside it, 0 where cells are too small for them.
struct MatrixFit {
  float cell = 0, labels = 0;
};
MatrixFit fitOf(const Context& context, std::span<const PageMatrix> matrices, float width, float height);
/// How a matrix is drawn: the version of its numbers, the cell pitch, the largest magnitude of its colour
/// scale, how wide the labels at its left are (0: none), and how far below its name the cells begin.
struct MatrixLook {
  std::uint64_t version;
  float cell, most, labels;
  float head = 24;
};
/// Draws a matrix from its top left corner on.
void drawMatrix(Context& context, PageMatrix& matrix, ImVec2 at, const MatrixLook& drawn);
/// Draws matrices from left to right, wrapping into further lines, with a single pitch and colour scale.
void drawEquation(Context& context, PageColumn& column, std::uint64_t version,
                  std::span<PageMatrix> matrices);
PageMatrix parameterMatrix(Context& context, document::ParameterId id, std::string_view before = {});
/// Handles pointer and keys on a parameter that was drawn.
void editParameter(Context& context, PageColumn& column, const PageMatrix& matrix);

}  // namespace views
