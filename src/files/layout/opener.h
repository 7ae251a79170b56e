// Opens a file of any kind: directly if its content is clear, otherwise by asking which tensor is which.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "document/form.h"
#include "document/state.h"
#include "files/layout/mapping.h"

namespace files {

/// The result of opening a file.
struct Opened {
  enum class Kind : std::uint8_t {
    state,  ///< a state to show
    form,   ///< a question must be answered first; see Opener::choose()
    text,   ///< a state or a lesson as JSON text, to be read by their readers
    cells,  ///< a pasted table, as rows of tab-separated cells
  };
  Kind kind = Kind::state;
  document::State state;
  document::Form form;
  std::string text;
  std::size_t heading = 0;  ///< of a state: StoredFile::heading
};

class Opener {
 public:
  /// Opens a file of any format, determined by its name, or else by its first bytes. `bytes` must outlive
  /// this object, or the next open(). An error, with a sentence that names the entry, what was found and what
  /// is expected, for what the readers refuse and what the board cannot hold.
  Result<Opened> open(std::string_view bytes, std::string_view fileName);
  /// The same for pasted text: a printed tensor, a list, a dictionary.
  Result<Opened> paste(std::string_view text);
  /// Answers the question, with choices in the format of document::toLines(Choices): returns the updated
  /// form, or the state if the choices are final.
  Result<Opened> choose(std::string_view choices);
  /// Releases the file.
  void forget();

 private:
  using Read = std::function<Result<StoredFile>()>;
  Result<Opened> take(StoredFile file, const Read& again, bool hasNoName, std::string_view name);

  std::unique_ptr<Mapping> mapping_;
  std::string text_;  ///< pasted text, converted to JSON
};

/// Writes all tensors of a state, given as packed(StateTensors), in the format of the extension of
/// `fileName`; for .npy, .csv and .tsv only the one called `only`. Stops when `put` returns false, and then
/// returns an error.
Result<void> convert(std::string_view tensors, std::string_view fileName, std::string_view only,
                     const std::function<bool(std::string_view)>& put);

}  // namespace files
