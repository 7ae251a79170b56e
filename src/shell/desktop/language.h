// The language of the desktop program: what is asked for, of the tables that are built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shell {

/// The table of that language ("de", "de_AT.UTF-8", "zh-CN"), as views::Words takes it; empty: English, or none is built in.
std::string wordsFor(std::string_view language);
/// "en", and all that are built in.
std::vector<std::string> languageTags();
/// What the system asks for: LC_ALL, LC_MESSAGES or LANG, the first that says something.
std::string_view systemLanguage();

}  // namespace shell
