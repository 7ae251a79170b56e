// The manual page and shell completions of a program, generated from the same option definitions as its help,
// and the licences of its parts.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace shell {

/// Adds --man, --completion and --licenses, which print and do nothing else.
void addManual(CLI::App& program);
/// The text requested by one of these options, once the command line is parsed; empty if neither was given.
/// Throws a CLI::ValidationError for an unknown shell.
std::string manual(const CLI::App& program, std::string_view version);

}  // namespace shell
