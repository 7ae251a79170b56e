#include "files/formats/language.h"

#include <optional>

#include "base/sentence.h"
#include "document/json.h"

namespace files {

using document::Json;

namespace {

bool isLine(const Json* json) {
  return json && json->kind == Json::Kind::text &&
         json->text.find_first_of("\n\x1e\x1f") == std::string::npos;
}

/// A translation, or its plural forms in the order of the rules, "other" last; nothing unless there are texts
/// for "other" and for no form without a rule.
std::optional<std::string> formsOf(const Json& words, const Json* rules) {
  if (isLine(&words)) return words.text;
  if (words.kind != Json::Kind::object || !isLine(words.find("other"))) return std::nullopt;
  std::string out;
  std::size_t used = 1;
  for (std::size_t i = 0; rules && i < rules->keys.size(); ++i) {
    const Json* form = words.find(rules->keys[i]);
    if (form && !isLine(form)) return std::nullopt;
    used += form ? 1 : 0;
    out += (form ? *form : *words.find("other")).text + "\x1e";
  }
  if (used != words.keys.size()) return std::nullopt;
  return out + words.find("other")->text;
}

}  // namespace

base::Result<std::string> wordsOf(std::string_view json) {
  document::JsonText text;
  if (auto ok = document::parseJson(json, {}, text); !ok) return std::move(ok).error();
  const Json* messages = text.root.find("messages");
  const auto refuse = [](std::string_view field) {
    return base::refuse(base::Error::Kind::type, field,
                        {"it is missing or no group of texts; give {\"English\": \"the same\"}."});
  };
  if (!messages || messages->kind != Json::Kind::object) return refuse("messages");
  std::string out;
  const Json* rules = text.root.find("plurals");
  for (std::size_t i = 0; rules && i < rules->items.size(); ++i) {
    if (rules->kind != Json::Kind::object || !isLine(&rules->items[i])) return refuse("plurals");
    out += base::joined({"\x1f", rules->items[i].text, "\n"});
  }
  for (std::size_t g = 0; g < messages->items.size(); ++g) {
    const Json& group = messages->items[g];
    if (group.kind != Json::Kind::object) return refuse(messages->keys[g]);
    for (std::size_t i = 0; i < group.items.size(); ++i) {
      const auto words = formsOf(group.items[i], rules);
      if (!words) return refuse(base::joined({messages->keys[g], ".", group.keys[i]}));
      out += base::joined({group.keys[i], "\x1f", *words, "\n"});
    }
  }
  return out;
}

}  // namespace files
