// Marks of tokens whose numbers in the file were not finite: document/not_finite.h.
#pragma once

#include "attention/layer/tensors.h"
#include "views/context.h"

namespace views {

/// Cells along one side of a matrix that stand for tokens, as drawn.
struct TokenSide {
  attention::Rows tokens = attention::Rows::queries;
  bool isDown = true;
  int first = 0, count = 0;
  float from = 0, cell = 0;  ///< where the first cell begins
};

/// Does the board have such a token at that index?
bool isNotFinite(const Context& context, bool ofKeys, int token);
/// A line beside each of these cells whose token is one; its other coordinate ends at `edge`. Returns where
/// the first line is; empty if there is none.
Box markNotFinite(const Context& context, ImDrawList* list, const TokenSide& side, float edge);

}  // namespace views
