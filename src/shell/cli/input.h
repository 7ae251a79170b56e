// An input file of a command.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "document/state.h"
#include "files/formats/format.h"

namespace cli {

/// The bytes of a file. A regular file is mapped into memory, so that only the parts that are used are read;
/// anything else is read to its end. "-" is standard input, whose format is determined by its first bytes;
/// that of other files by their extension, ignoring case.
class Input {
 public:
  /// `argument` is the name of the argument, for error messages: "IN".
  Input(const std::string& argument, const std::string& path);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  const std::string& path() const { return path_; }
  files::Format format() const { return format_; }
  std::string_view bytes() const { return bytes_; }
  /// The name without folder and extension, used as the tensor's name for formats without names. For standard
  /// input "tensor".
  std::string stem() const;
  /// Says on stderr which row of a table was taken as a heading and left out; nothing for row 0.
  void sayHeading(std::size_t row) const;
  /// Says there which number of the file was not finite, and what became of its row; nothing if all were.
  void sayNotFinite(const document::Settings& settings) const;
  /// Moves the bytes to a string.
  std::string takeText();

 private:
  std::string path_, text_;
  std::string_view bytes_, map_;  ///< all bytes, and those that are mapped
  files::Format format_ = files::Format::json;
};

/// The format for an output path: JSON for standard output and devices. Throws a Failure if the extension is
/// unknown.
files::Format formatToWrite(const std::string& argument, const std::string& path);

/// The value; throws the error as a Failure.
template <class T>
T valueOf(const std::string& path, files::Result<T> result) {
  if (!result) throw failureOf(path, result.error());
  return std::move(*result);
}

/// All tensors of a file, as files::readEverything(). Throws a Failure for what that refuses.
files::StoredFile tensorsIn(const Input& input);

/// What a layer is drawn or written down of, as options of a command.
struct Which {
  std::string prefix;        ///< of its tensors
  std::optional<int> layer;  ///< of several, or an entry of a batch; else the one that the state shows
  int base = 0;              ///< the number of the first layer
};
void addWhich(CLI::App& command, Which& which);

/// The state of a file, as files::readLayer(). Throws a Failure for what that refuses.
document::State stateIn(const Input& input, const std::string& prefix);
/// The same by the prefix of its tensors, where a file has several layers by their names, as a recording has.
/// Throws a Failure where there is not that one.
Which byPrefix(const Input& input, Which which);
/// The layer of a file. Throws a Failure where there is none, or not that one.
document::State layerOf(const Input& input, const Which& which);

}  // namespace cli
