#include "shell/language.h"

#include <cstdlib>

#include "files/formats/language.h"
#include "languages.h"

namespace shell {

std::string wordsFor(std::string_view language) {
  const std::string_view tag = language.substr(0, language.find_first_of("_-.@"));
  for (const auto& file : languages::files) {
    if (file.name.substr(0, file.name.find('.')) != tag) continue;
    const auto words = files::wordsOf(file.text);
    return words ? *words : std::string();
  }
  return {};
}

std::vector<std::string> languageTags() {
  std::vector<std::string> tags{"en"};
  for (const auto& file : languages::files) tags.emplace_back(file.name.substr(0, file.name.find('.')));
  return tags;
}

std::string_view systemLanguage() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    if (const char* value = std::getenv(name); value != nullptr && *value != 0) return value;
  }
  return {};
}

}  // namespace shell
