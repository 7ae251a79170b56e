// The manual page of a program and its completions, made of the same table of options as its help: they say what it does.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace shell {

/// Adds --man and --completion, which print instead of doing anything else.
void addManual(CLI::App& program);
/// What one of them asks for, once the command line is read; empty: neither. Throws a CLI::ValidationError of a shell that is none.
std::string manual(const CLI::App& program, std::string_view version);

}  // namespace shell
