// The glossary on the board: a term, opened beside the word or title that it explains.
#pragma once

#include "document/glossary.h"
#include "views/context.h"

namespace views {

struct GlossaryView {
  std::vector<document::GlossaryTerm> terms;  ///< empty until they have been loaded
  std::string open;                           ///< the id of the term that is shown; empty: none
  Box near;                                   ///< what it explains
  /// The term that the present press has closed: its word does not open it again.
  std::string left;
  /// It was opened in this frame, by the press that would otherwise close it.
  bool isNew = false;
};

/// The term that a word of an English text names, as "Queries" names query; null if there is none, or the
/// terms have not been loaded.
const document::GlossaryTerm* termNamed(const Context& context, std::string_view word);
/// Shows a term beside `near`, or closes it if it is open there; loads the terms if that has not been done.
/// An unknown id is ignored.
void openTerm(Context& context, std::string_view id, const Box& near);
/// Does Esc close it in this frame?
bool escapesTerm(Context& context);
/// Draws and closes it; to be called in a frame with ViewState::glossary, after the panels.
void glossary(Context& context);

}  // namespace views
