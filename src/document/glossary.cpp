#include "document/glossary.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/json.h"

namespace document {
namespace {

using base::Error;
using base::Result;

constexpr std::size_t kMostBytes = 1u << 18, kMostTerms = 500;

Result<void> wrongTerm(std::string_view id, std::string_view field, std::initializer_list<base::Piece> why) {
  return base::refuse(Error::Kind::type, base::joined({"glossary: ", id, id.empty() ? "" : ".", field}), why);
}

/// Reads a text of a term; `isNeeded`: it must be there.
Result<void> readField(const Json& term, std::string_view id, std::string_view field, bool isNeeded,
                       std::string& out) {
  const Json* text = term.find(field);
  if (!text && !isNeeded) return {};
  if (!text || text->kind != Json::Kind::text || text->text.empty())
    return wrongTerm(id, field, {"it is missing or no text; give it one."});
  out = text->text;
  return {};
}

Result<GlossaryTerm> termFrom(const Json& json, bool isEnglish) {
  GlossaryTerm term;
  if (auto ok = readField(json, {}, "id", true, term.id); !ok) return ok.error();
  constexpr std::string_view kFields[] = {"id", "term", "words", "formula", "lesson", "forms"};
  for (const std::string& key : json.keys)
    if (std::find(std::begin(kFields), std::begin(kFields) + (isEnglish ? 6 : 3), key) ==
        std::begin(kFields) + (isEnglish ? 6 : 3))
      return wrongTerm(term.id, key, {"there is no such field; leave it out."}).error();
  if (auto ok = readField(json, term.id, "term", true, term.name); !ok) return ok.error();
  if (auto ok = readField(json, term.id, "words", true, term.words); !ok) return ok.error();
  if (auto ok = readField(json, term.id, "formula", false, term.formula); !ok) return ok.error();
  if (auto ok = readField(json, term.id, "lesson", isEnglish, term.lesson); !ok) return ok.error();
  if (const Json* forms = json.find("forms"))
    for (const Json& form : forms->items) term.forms.push_back(form.text);
  return term;
}

Result<std::vector<GlossaryTerm>> termsFrom(std::string_view text, bool isEnglish) {
  if (text.size() > kMostBytes) return wrongTerm({}, "terms", {"the file is too long."}).error();
  JsonText parsed;
  constexpr std::string_view kKnown[] = {"language", "terms"};
  if (auto ok = parseJson(text, kKnown, parsed); !ok) return ok.error();
  const Json* list = parsed.root.find("terms");
  if (!list || list->kind != Json::Kind::list || list->items.size() > kMostTerms)
    return wrongTerm({}, "terms", {"it is missing or no list of terms; give one."}).error();
  std::vector<GlossaryTerm> terms;
  for (const Json& item : list->items) {
    auto term = termFrom(item, isEnglish);
    if (!term) return term.error();
    const auto isSame = [&](const GlossaryTerm& other) { return other.id == term->id; };
    if (std::any_of(terms.begin(), terms.end(), isSame))
      return wrongTerm(term->id, "id", {"it occurs twice; keep one of them."}).error();
    terms.push_back(std::move(*term));
  }
  return terms;
}

}  // namespace

Result<std::vector<GlossaryTerm>> readGlossary(std::string_view english, std::string_view own) {
  auto terms = termsFrom(english, true);
  if (!terms || own.empty()) return terms;
  auto others = termsFrom(own, false);
  if (!others) return others;
  for (GlossaryTerm& term : *terms) {
    const auto other = std::find_if(others->begin(), others->end(),
                                    [&](const GlossaryTerm& one) { return one.id == term.id; });
    if (other == others->end())
      return wrongTerm(term.id, "term", {"the file of this language lacks it; add it."}).error();
    term.name = std::move(other->name), term.words = std::move(other->words);
  }
  if (others->size() != terms->size())
    return wrongTerm({}, "terms",
                     {"the file of this language has a term that the English one lacks; leave it out."})
        .error();
  return terms;
}

}  // namespace document
