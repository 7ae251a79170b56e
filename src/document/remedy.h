// A choice that another option stands in the way of: why, in a few words, and what would clear the way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/edit.h"

namespace document {

struct Remedy {
  std::string reason;            ///< "Rotary needs an even d_k"
  std::string action;            ///< "set 4": what a button beside it says
  std::vector<SetOption> edits;  ///< of other options, in this order
  Value value;                   ///< then the option itself takes this: what was asked for, or the nearest that fits
};

/// For a value that check() refuses because of the other options; none where nothing helps. Of heads that do not share the
/// columns evenly, wider heads are the way; of two options that clash, the other one gives way; of heads of keys that do
/// not divide the heads, and of sizes that do not fit into memory, the nearest that does is taken, and where that is the
/// size that there is, another one gives way.
std::optional<Remedy> remedy(const Settings& settings, OptionId id, const Value& value);
/// Why the value is refused: the remedy's reason, else the sentence of check() without its field; "" for one that fits.
std::string reason(const Settings& settings, OptionId id, const Value& value);
/// An error of check() that names the remedy too, where there is one.
Error withRemedy(const Settings& settings, OptionId id, const Value& value, Error error);

}  // namespace document
