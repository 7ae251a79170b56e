#include "files/formats/language.h"

#include "base/sentence.h"
#include "document/json.h"

namespace files {

using document::Json;

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
  for (std::size_t g = 0; g < messages->items.size(); ++g) {
    const Json& group = messages->items[g];
    if (group.kind != Json::Kind::object) return refuse(messages->keys[g]);
    for (std::size_t i = 0; i < group.items.size(); ++i) {
      const Json& words = group.items[i];
      if (words.kind != Json::Kind::text || words.text.find('\n') != std::string::npos)
        return refuse(base::joined({messages->keys[g], ".", group.keys[i]}));
      out += base::joined({group.keys[i], "\x1f", words.text, "\n"});
    }
  }
  return out;
}

}  // namespace files
