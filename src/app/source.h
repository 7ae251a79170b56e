// Who made a change, and its description for page scripts.
#pragma once

#include <string>

#include "document/edit.h"

namespace app {

/// Who made a change: the user, a page script, a lesson showing its solution, or training.
enum class Source { user, script, lesson, training };

/// What an edit writes, as JSON: "name":"q","head":0,"row":1,"col":2, and for a single cell, label or option
/// the values before and after. Empty strings are unknown.
struct EditWords {
  std::string place, before, after;
};

/// Where an edit writes, and the present value there; to be called before it is applied.
EditWords wordsBefore(const document::State& state, const document::Edit& edit);
/// The present value there, as JSON; "" if there are several.
std::string valueAt(const document::State& state, const document::Edit& edit);
/// The detail of an event: {"source":"user","name":"q","head":0,"row":1,"col":2,"before":0.5,"after":0.7}.
std::string detail(Source source, const EditWords& words);
/// The same for a change that is not an edit: {"source":"script","action":"undo"}.
std::string detail(Source source, std::string_view action);

}  // namespace app
