// What was not saved when the desktop ended the program (a logout, Ctrl+C in its terminal): kept until it is.
#pragma once

#include <filesystem>
#include <string_view>

#include "attention/error.h"

namespace shell {

/// This platform's folder for what a program keeps from one run to the next, or an empty path where there is none.
std::filesystem::path stateFolder();
/// The newest of what is kept there, or an empty path.
std::filesystem::path newestRecovery();
/// Writes it to `path`, or to a new file where that is empty, and returns where it is.
attention::Result<std::filesystem::path> keepRecovery(const std::filesystem::path& path, std::string_view text);

}  // namespace shell
