// Changes of shape: tokens, heads, columns. What stays keeps its numbers; what is new gets seeded ones.
#pragma once

#include "document/state.h"

namespace document {

/// Numbers of N(0, 1) with two decimals for the cells of one tensor. They depend on the seed, the tensor, the
/// item of the batch and the place, so that growing, shrinking and growing again brings back the same ones.
class SeededCells {
 public:
  SeededCells(std::uint32_t seed, TensorId tensor, int item = 0);
  /// Those of a sequence of words: a row depends on its word (byte for byte, so "Saw" is another than "saw") instead of
  /// the place and the item, and a word has the same row of X in both sequences. `words` live as long as this.
  SeededCells(std::uint32_t seed, TensorId tensor, const std::vector<std::string>& words);
  float at(std::uint32_t head, std::uint32_t row, std::uint32_t col) const;
  bool readsWords() const { return words_ != nullptr; }

 private:
  std::uint64_t state_;
  const std::vector<std::string>* words_ = nullptr;
};

/// How the rows or columns of a tensor are counted: `groups` (heads) of `size`. A place is the group and the
/// one within it, so that a change of d_k keeps the places of the columns that stay.
struct Axis {
  int groups = 1, size = 1;
  bool operator==(const Axis&) const = default;
  int count() const { return groups * size; }
  std::uint32_t place(int i) const {
    return static_cast<std::uint32_t>(i / size) << 16 | static_cast<std::uint32_t>(i % size);
  }
};
/// The axes of an input tensor of these settings, and how many heads it has.
struct Axes {
  int heads = 1;
  Axis rows, cols;
  bool operator==(const Axes&) const = default;
};
Axes axes(const Settings& settings, TensorId id);

/// Gives the input tensor the shape that the state's sizes say, and fills it from state.seed.
void fillSeeded(State& state, TensorId id);
/// The same with the numbers that a tensor starts from: the identity for w_a and u_a, with which general
/// scores are dot products; ones for v_a; zeros for biases; seeded ones for others.
void fillFresh(State& state, TensorId id);
/// Makes the settings of the state `after`, in all but the number of heads, and brings inputs and mask to its
/// sizes. What stays keeps its numbers, what is new gets fresh ones; the other sequence begins as a copy of
/// x.
void resize(State& state, const Settings& after);
/// The same for another number of heads: the same columns, grouped anew. Scores of columns that part are
/// forgotten.
void regroup(State& state, const Settings& after);
/// Draws all rows of tokens anew, in every item of the batch: from their words where state.sameWord, else each for
/// itself.
void drawRows(State& state);
/// The same from their words, of the item on the board, for tokens whose word is not the one in `before`.
void drawChangedRows(State& state, Side side, const std::vector<std::string>& before);
/// The labels of that side's tokens.
std::vector<std::string>& sideLabels(State& state, Side side);
/// Rows and labels for new tokens before `at`, seeded; painted cells move along.
void insertTokens(State& state, Side side, int at, int count);
/// "t5", "t6" … for tokens without a label of their own.
std::vector<std::string> numberedLabels(int first, int count);
void removeTokens(State& state, Side side, int at, int count);
/// More items of the batch, seeded, or fewer: the last ones go.
void resizeBatch(State& state, int batch);
/// Puts that item of the batch on the board, and the one that was there among the pages.
void showItem(State& state, int item);
/// An all-visible mask is kept as an empty one, so that equal states are equal in every bit.
void tidyMask(PaintedMask& mask);

}  // namespace document
