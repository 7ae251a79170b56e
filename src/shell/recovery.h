// What was not saved when the desktop ended the program (a logout, Ctrl+C in its terminal): kept until it is.
#pragma once

#include <filesystem>
#include <string_view>

#include "attention/error.h"

namespace shell {

/// The newest of what is kept in this platform's folder for that, or an empty path.
std::filesystem::path newestRecovery();
/// Writes it to `path`, or to a new file where that is empty, and returns where it is.
attention::Result<std::filesystem::path> keepRecovery(const std::filesystem::path& path, std::string_view text);

}  // namespace shell
