// The value of a cell as a formula: its symbols, and its numbers in the same places. The notation is that of
// plain text, "q_4 · k_3 ÷ √d_k", in which a view sees the fraction, the root and the lowered letters.
#pragma once

#include "attention/layer/explain.h"

namespace attention {

struct CellFormula {
  /// "w_43 = exp(q_4 · k_3 ÷ √d_k) ÷ Σ_j exp(q_4 · k_j ÷ √d_k)"; empty: there is no formula.
  std::string symbols;
  Term numbers;              ///< the same with numbers, marked as explain() does; its text may be empty
  std::string above, below;  ///< what the tiers of its fraction come to; empty: no more than what is written
};

/// The formula of a cell. `lines` are the terms of its marked explanation, of which products are taken over.
CellFormula formulaOf(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                      const std::vector<Term>& lines, int decimals);
/// Does the formula of a cell contain what this line says? The other lines can be shown below it.
bool isInFormula(const CellFormula& formula, const Term& line);

}  // namespace attention
