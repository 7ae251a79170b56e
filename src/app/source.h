// Who made a change, and what is said of it to page scripts.
#pragma once

#include <string>

#include "document/edit.h"

namespace app {

/// Who made a change: a hand, a page script, a lesson that shows its solution, or the training.
enum class Source { user, script, lesson, training };

/// What an edit writes, in JSON: "name":"q","head":0,"row":1,"col":2 and, of one cell, one label or one option, the value
/// before and after it. Empty parts are not known.
struct EditWords {
  std::string place, before, after;
};

/// Where an edit writes, and what stands there before it is applied.
EditWords wordsBefore(const document::State& state, const document::Edit& edit);
/// What stands there now, in JSON; "" where it is more than one value.
std::string valueAt(const document::State& state, const document::Edit& edit);
/// The detail of an event: {"source":"user","name":"q","head":0,"row":1,"col":2,"before":0.5,"after":0.7}.
std::string detail(Source source, const EditWords& words);
/// That of a change that is no edit: {"source":"script","action":"undo"}.
std::string detail(Source source, std::string_view action);

}  // namespace app
