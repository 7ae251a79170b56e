// The files of a command: read completely, and written completely or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "interrupt.h"

namespace cli {

/// The content of a file, or of standard input for "-". Parsing takes about as much memory again, so at most
/// a third of the available memory may be text. If JSON is expected (isAnything is false) from a device or
/// pipe that does not begin like JSON, only the beginning is read.
std::string readText(const std::string& path, bool isAnything = false);

/// The destination of results: a file that gets its name only when it is complete, or something that is not a
/// regular file.
class Output {
 public:
  explicit Output(const std::string& path);  ///< an empty path or "-" is standard output
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  bool put(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file_) == text.size(); }

  /// Makes the complete file appear; throws if anything could not be written.
  void finish(bool isWritten);

 private:
  std::string path_;
  std::filesystem::path target_;
  std::string part_;  ///< the temporary name
  shell::RemovedOnSignal interrupt_;
  std::FILE* file_ = nullptr;
};

}  // namespace cli
