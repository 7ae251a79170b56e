// The languages of the desktop program and of `attn`: translation tables that are built in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shell {

/// The table for a language ("de", "de_AT.UTF-8", "zh-CN"), in the format of views::Words; empty for English,
/// and if none is built in.
std::string wordsFor(std::string_view language);
/// "en", and all languages that are built in.
std::vector<std::string> languageTags();
/// The language set in the environment: the first of LC_ALL, LC_MESSAGES and LANG that is not empty.
std::string_view systemLanguage();

}  // namespace shell
