// The terms of the field, each with a sentence, a formula if it has one, and the lesson that shows it:
// web/lessons/glossary.en.json, and for other languages glossary.de.json …, which have the names and
// sentences alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace document {

struct GlossaryTerm {
  std::string id;     ///< "query"
  std::string name;   ///< "Query"
  std::string words;  ///< one or two sentences
  /// "q_i = x_i · W_Q", with "_" before a subscript and "^" before what is raised; empty if there is none.
  std::string formula;
  std::string lesson;              ///< the id of the lesson that shows it
  std::vector<std::string> forms;  ///< other words for it in English texts: "queries"
};

/// All terms of the English file, with the names and sentences of `own`, the file of another language, if it
/// is not empty. An error names the term and its field: one that is missing or unknown, an id that occurs
/// twice, a term that the other language lacks.
base::Result<std::vector<GlossaryTerm>> readGlossary(std::string_view english, std::string_view own = {});

}  // namespace document
