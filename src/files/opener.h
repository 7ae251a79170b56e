// Opening a file, whatever it is: at once where it is clear what it holds, else by asking.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "document/form.h"
#include "document/state.h"
#include "files/mapping.h"

namespace files {

/// What became of a file.
struct Opened {
  enum class Kind : std::uint8_t {
    state,  ///< it opens
    form,   ///< something is to be chosen first, by Opener::choose()
    text,   ///< it is a state or a lesson as JSON, for who reads these
    cells,  ///< it is a table that was pasted, row after row with tabs
  };
  Kind kind = Kind::state;
  document::State state;
  document::Form form;
  std::string text;
};

class Opener {
 public:
  /// Reads a file of any format by its name, or by its first bytes where that says nothing. `bytes` outlive this, or the next open().
  /// Refused, with a sentence that names entry, found and expected: what the readers refuse, and what the board cannot hold.
  Result<Opened> open(std::string_view bytes, std::string_view fileName);
  /// The same of what was pasted: a printed tensor, a list, a dictionary.
  Result<Opened> paste(std::string_view text);
  /// What was chosen in the form, as document::toLines(Choices): the form anew, or the state where that is final.
  Result<Opened> choose(std::string_view choices);
  /// Lets go of the file.
  void forget();

 private:
  Result<Opened> take(StoredFile file, bool hasNoName, std::string_view name);

  std::unique_ptr<Mapping> mapping_;
  std::string text_;  ///< what was pasted, as JSON
};

/// All tensors of a state, as packed(StateTensors), in the format that the name ends in; of .npy, .csv and .tsv the one called `only`.
/// Stops when `put` returns false, and then says so.
Result<void> convert(std::string_view tensors, std::string_view fileName, std::string_view only, const std::function<bool(std::string_view)>& put);

}  // namespace files
