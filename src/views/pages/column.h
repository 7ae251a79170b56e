// One column of a page: cards with controls that the keys reach too, sentences, numbers and matrices, one below the other.
#pragma once

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
  /// The same, with controls that the keys reach by another ring.
  PageColumn(Context& context, FocusRing* ring, float x, float y, float width);

  float y() const { return y_; }
  /// The page from here on down.
  Box below(Box page) const { return page.y = y_, page; }
  float width() const { return width_; }
  void gap(float height) { y_ += height; }
  /// A box over the whole width, below what is there.
  Box take(float height);

  /// What follows stands in a card with this title, until closeCard().
  void openCard(std::string_view title = {});
  void closeCard();

  void title(std::string_view words);
  void question(std::string_view words);
  void sentence(std::string_view words);

  // Controls. Names are those of widget rectangles too ("lab:scaled", "slider:d_k"). All tell whether the user did it.
  /// `position` between 0 and 1; a key moves it by `step`.
  bool slider(std::string_view name, std::string_view label, std::string_view value, float& position, float step,
              const document::Option* typed = nullptr);
  /// One for an option that is a number: on the track from `low` to `high` in multiples of 1 / `parts`; any other that
  /// the option takes is typed where its value stands.
  void number(document::OptionId id, std::string_view name, std::string_view label, double low, double high, int parts, int decimals);
  bool toggle(std::string_view name, std::string_view label, bool on);
  /// −1, 0 or +1.
  int stepper(std::string_view name, std::string_view label, std::string_view value, bool less, bool more);
  /// One of several; the new one, or −1.
  int choice(std::string_view name, std::string_view label, std::span<const std::string_view> words, int chosen);
  bool button(std::string_view name, std::string_view label);

  /// Makes what was drawn in `box` the next control of the keys: what they ask of it.
  FocusRing::Key keys(std::string_view name, const Box& box) { return w_.keys(name, box); }

  /// A line of arithmetic: what it is, and the numbers.
  void term(std::string_view label, std::string_view text);
  /// A line of a table: a label and one or two numbers at the right.
  void numbers(std::string_view label, std::string_view first, std::string_view second = {});

 private:
  void typed(const document::Option& option, const Box& box, bool asked);
  Box control();  ///< the box of a control's line, below what is there
  void label(const Box& box, std::string_view words);

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  float x_, y_, width_;
  float cardTop_ = 0, padding_ = 0;  ///< of the card that is open
};

/// The columns of a page: `width` of the first; the second stands beside it or, on a narrow page, below what it has.
PageColumn firstColumn(Context& context, const Box& area, float width = 264);
PageColumn secondColumn(Context& context, const Box& area, const PageColumn& first);

/// What a control of a page does to an option, unless the host page locked it.
void set(Context& context, document::OptionId id, document::Value value, std::uint64_t gesture = 0);
/// The same with what PageColumn::choice() gave: the number of one of the option's choices, or −1 for no change.
void setChoice(Context& context, document::OptionId id, int chosen);
/// The same with the seed after this one; the first follows the last.
void setNextSeed(Context& context, document::OptionId id, std::uint32_t seed);

/// The largest size of a number in a head of it.
float largest(const attention::Tensor& tensor, int head);

/// The numbers of a matrix on a page: signed and at most `most` in size, weights from 0 to 1, or 0 and 1 of a mask.
enum class Cells { numbers, weights, mask };

/// One matrix of a row of them, with its name and shape above.
struct PageMatrix {
  std::uint32_t slot = 0;  ///< of its texture
  const attention::Tensor* tensor = nullptr;
  std::string name;
  std::string_view before{};  ///< the sign or word that stands between it and the one before
  Cells cells = Cells::numbers;
  int head = 0;
  bool rowsAreTokens = true;
  std::string_view place{};                          ///< its name in Context::widgetRects
  document::ParameterId parameter{};
  bool isParameter = false;  ///< its cells are changed by dragging up and down, and by keys
  int groups = 1;            ///< of columns, that lines part: heads side by side
  // As it was drawn last.
  Box box{};  ///< of the cells
  float cell = 0;

  /// The cell under a point, or false.
  bool hit(float x, float y, int& row, int& col) const;
};

/// The pitch of cells with which the widest of these fits in a width, and the highest in a height: of the board at most.
float cellFor(std::span<const PageMatrix> matrices, float width, float height);
/// Draws one at a place, cells of that pitch from `y` + 24 on; `labels`: the tokens stand at the left.
void drawMatrix(Context& context, PageMatrix& matrix, std::uint64_t version, float x, float y, float cell, float most, bool labels);
/// From left to right, on further lines where one is full; one pitch and one scale of colours for all.
void drawEquation(Context& context, PageColumn& column, std::uint64_t version, std::span<PageMatrix> matrices);
PageMatrix parameterMatrix(Context& context, document::ParameterId id, std::string_view before = {});
/// What the pointer and the keys do to a parameter that was drawn.
void editParameter(Context& context, PageColumn& column, const PageMatrix& matrix);

}  // namespace views
