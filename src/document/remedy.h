// What to do when other options make a choice impossible: the reason in a few words, and the changes that
// make it possible.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "document/edit.h"

namespace document {

struct Remedy {
  base::Message reason;          ///< "Rotary needs an even d_k"
  base::Message action;          ///< "set 4": the text of the button
  std::vector<SetOption> edits;  ///< of other options, to be applied in this order
  /// Then the option itself is set to this: the value asked for, or the nearest possible one.
  Value value;
};

/// The remedy for a value that check() refuses because of other options; nothing if there is none. Where the
/// heads cannot share the columns evenly, heads get wider. Where two options exclude each other, the other
/// one is changed. Where kv_heads does not divide heads, or sizes do not fit into memory, the nearest
/// possible value is used; if that is the present one, another option is changed.
std::optional<Remedy> remedy(const Settings& settings, OptionId id, const Value& value);
/// Why the value is refused: the remedy's reason, otherwise the sentence of check() without its field; "" for
/// a value that is allowed.
base::Message reason(const Settings& settings, OptionId id, const Value& value);
/// The error of check(), with the remedy added to its sentence if there is one.
Error withRemedy(const Settings& settings, OptionId id, const Value& value, Error error);

}  // namespace document
