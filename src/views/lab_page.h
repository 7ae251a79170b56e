// One column of a page of experiments: controls that the keys reach too, sentences and numbers, one below the other.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "views/widgets.h"

namespace views {

inline constexpr float kColumnGap = 28;

class LabColumn {
 public:
  LabColumn(Context& context, float x, float y, float width);

  float y() const { return y_; }
  float width() const { return width_; }
  void gap(float height) { y_ += height; }
  /// A box over the whole width, below what is there.
  Box take(float height);

  void heading(std::string_view words);
  void question(std::string_view words);
  void sentence(std::string_view words);

  // Controls. Names are places too ("lab:scaled", "slider:d_k"). All tell whether the user did it.
  /// `position` between 0 and 1; a key moves it by `step`.
  bool slider(std::string_view name, std::string_view label, std::string_view value, float& position, float step);
  bool toggle(std::string_view name, std::string_view label, bool on);
  /// −1, 0 or +1.
  int stepper(std::string_view name, std::string_view label, std::string_view value, bool less, bool more);
  /// One of several; the new one, or −1.
  int choice(std::string_view name, std::string_view label, std::span<const std::string_view> words, int chosen);
  bool button(std::string_view name, std::string_view label);

  /// Makes what was drawn in `box` the next control of the keys: what they ask of it.
  Walk::Key keys(std::string_view name, const Box& box) { return w_.keys(name, box); }

  /// A line of arithmetic: what it is, and the numbers.
  void term(std::string_view label, std::string_view text);
  /// A line of a table: a label and one or two numbers at the right.
  void numbers(std::string_view label, std::string_view first, std::string_view second = {});

 private:
  Box control();  ///< the box of a control's line, below what is there
  void label(const Box& box, std::string_view words);

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  float x_, y_, width_;
};

/// The columns of a page: `width` of the first; the second stands beside it or, on a narrow page, below what it has.
LabColumn firstColumn(Context& context, const Box& area, float width = 264);
LabColumn secondColumn(Context& context, const Box& area, const LabColumn& first);

/// What a control of a page does to an option, unless the host page locked it.
void set(Context& context, document::OptionId id, document::Value value, std::uint64_t gesture = 0);
/// The same with what LabColumn::choice() gave: the number of one of the option's choices, or −1 for no change.
void setChoice(Context& context, document::OptionId id, int chosen);
/// The same with the seed after this one; the first follows the last.
void setNextSeed(Context& context, document::OptionId id, std::uint32_t seed);

/// The largest size of a number in a head of it.
float largest(const attention::Tensor& tensor, int head);

/// A matrix as a heatmap no larger than `room`, with numbers where they fit and token labels at the left of one whose
/// rows are tokens. Values are signed and at most `most` in size, or weights from 0 to 1. Returns the box of its cells
/// and their pitch.
struct LabMatrix {
  Box box;
  float cell = 0;
  /// The cell under a point, or false.
  bool hit(float x, float y, int& row, int& col) const;
};
LabMatrix drawMatrix(Context& context, std::uint32_t slot, const attention::Tensor& tensor, int head,
                     std::uint64_t version, const Box& room, bool weights, float most, std::string_view title,
                     bool rowsAreTokens = true);
/// A parameter around the layer, at most so high; its cells are changed by dragging up and down.
void drawParameter(Context& context, LabColumn& column, document::ParameterId id, float height);

}  // namespace views
