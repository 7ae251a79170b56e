// A file that a command reads.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "files/format.h"

namespace cli {

/// Its bytes: a regular file is mapped into memory, so that only what is used of it is read; anything else is read to its end.
/// "-" is standard input, whose format is known by its first bytes; others by the end of the name, in any case.
class Input {
 public:
  /// `argument` is what the command line calls it, for sentences: "IN".
  Input(const std::string& argument, const std::string& path);
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  const std::string& path() const { return path_; }
  files::Format format() const { return format_; }
  std::string_view bytes() const { return bytes_; }
  /// The name without folder and ending: of the tensor of a format that has no names. Of standard input, "tensor".
  std::string stem() const;
  /// The bytes as a text of its own.
  std::string takeText();

 private:
  std::string path_, text_;
  std::string_view bytes_;
  files::Format format_ = files::Format::json;
  void* map_ = nullptr;
};

/// The format of a path that is written: JSON for standard output and devices. Throws a Failure where the name says none.
files::Format formatToWrite(const std::string& argument, const std::string& path);

/// Throws the Failure that a refusal is.
template <class T>
T valueOf(const std::string& path, files::Result<T> result) {
  if (!result) throw failureOf(path, result.error());
  return std::move(*result);
}

}  // namespace cli
