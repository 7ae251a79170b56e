// The files of a command: read whole, and written whole or not at all.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "interrupt.h"

namespace cli {

/// The whole file, or standard input for "-". What it says takes about as much again once it is read, so a third of the memory may be
/// text. Of a device or a pipe that should be JSON and does not begin so (isAnything false) only the beginning is read.
std::string readText(const std::string& path, bool isAnything = false);

/// Where results go: a file that appears under its name when it is whole, or something that is no file.
class Output {
 public:
  explicit Output(const std::string& path);  ///< an empty path, or "-", is standard output
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output();

  bool put(std::string_view text) { return std::fwrite(text.data(), 1, text.size(), file_) == text.size(); }

  /// Makes all of it appear; throws if any of it was not written.
  void finish(bool isWritten);

 private:
  std::string path_;
  std::filesystem::path target_;
  std::string part_;  ///< the name until it is whole
  shell::RemovedOnSignal interrupt_;
  std::FILE* file_ = nullptr;
};

}  // namespace cli
