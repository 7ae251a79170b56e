#include "app/names.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/sentence.h"

namespace app {
namespace {

using attention::Tensor;
using attention::TensorId;
using base::Error;
using base::Result;

using Names = std::vector<std::string>;

/// The error for an unknown name, which suggests similar ones because there are too many to list.
Result<void> unknown(std::string_view field, std::string_view value, const Names& names) {
  return base::refuse(Error::Kind::range, field,
                      {"there is no ", base::inQuotes(value), "; use one of ", names.size(),
                       " others, perhaps ", base::either(base::nearest(value, names, 3)), "."});
}

/// The names of the tensors of the layer and around it.
Names tensorNames(bool onlyExplained) {
  Names all;
  for (const attention::TensorRange range : {attention::kLayerTensors, attention::kDerivedTensors})
    for (int i = 0; i < range.size(); ++i)
      if (!onlyExplained || attention::tensorRow(range[i]).symbol)
        all.emplace_back(attention::name(range[i]));
  return all;
}

/// The error that explains why this layer does not have a tensor that others have.
Result<void> missing(const Session& session, std::string_view name) {
  const TensorId id = *attention::tensorNamed(name);
  if (document::input(session.state(), id))
    if (auto ok = document::checkEditable(session.state(), id); !ok) return ok;
  return base::refuse(Error::Kind::range, name, {"this layer has none; switch on the option that makes it."});
}

}  // namespace

std::span<const std::string_view> shownParts() {
  static constexpr std::string_view kParts[] = {"header", "panel",   "heads", "arcs",     "plane",
                                                "values", "changes", "loops", "inspector"};
  return kParts;
}

std::vector<std::string> misspelt(std::string_view attribute, std::string_view list) {
  Names known;
  if (attribute != "lock") {
    known.assign(shownParts().begin(), shownParts().end());
    const char* const hidden[] = {"views",  "guide",       "stepper", "share", "import",
                                  "export", "experiments", "preset",  "undo"};
    if (attribute == "hide") known.insert(known.end(), std::begin(hidden), std::end(hidden));
  } else {
    known = {"all",    "undo",    "reset",   "import", "drop",      "paste",
             "preset", "presets", "lessons", "mask",   "randomize", "experiment"};
    for (const document::Option& o : document::options()) known.emplace_back(o.name);
  }
  if (attribute != "hide") {
    const Names tensors = tensorNames(false);
    known.insert(known.end(), tensors.begin(), tensors.end());
  }
  Names sentences;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view word = list.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (word.empty() || std::find(known.begin(), known.end(), word) != known.end()) continue;
    sentences.push_back(base::joined({attribute, ": there is no ", base::inQuotes(word), "; did you mean ",
                                      base::orList(base::nearest(word, known, 1)), "?"}));
  }
  return sentences;
}

Result<void> unknown(std::string_view field, std::string_view value, std::string_view right) {
  return base::refuse(Error::Kind::range, field,
                      {"there is no ", base::inQuotes(value), "; use ", right, "."});
}

Result<void> unknownTensor(std::string_view name, bool onlyExplained) {
  return unknown("tensor", name, tensorNames(onlyExplained));
}

Result<void> unknownOption(std::string_view name) {
  Names all;
  for (const document::Option& o : document::options()) all.emplace_back(o.name);
  return unknown("option", name, all);
}

Result<const Tensor*> tensorNamed(Session& session, std::string_view name) {
  return tensorNamed(session, name, -1);
}

Result<const Tensor*> tensorNamed(Session& session, std::string_view name, int head) {
  if (name.starts_with("train:")) return session.derived().training.tensor(name);
  if (const auto derived = document::derivedNamed(name)) return session.derived().tensor(*derived);
  const auto id = attention::tensorNamed(name);
  if (!id) return unknownTensor(name);
  const Tensor* t = session.find(*id, head);
  if (!t) t = document::input(session.state(), *id);
  if (t && !t->empty()) return t;
  return missing(session, name);
}

Result<const Tensor*> storedOf(Session& session, std::string_view name, Result<const Tensor*> found) {
  return found && !(*found)->isStored() ? session.copyOf(name, **found) : found;
}

Result<const Tensor*> tensorWithCell(Session& session, std::string_view name, int head, int row, int col) {
  const auto id = attention::tensorNamed(name);
  const Result<const Tensor*> found =
      id ? session.shapeOf(*id) : session.derived().tensor(*document::derivedNamed(name));
  if (!found) return found;
  const Tensor* t = *found;
  if (!t) return missing(session, name);
  if (t->contains(head, row, col)) return t;
  return base::refuse(Error::Kind::range, name,
                      {"there is no cell ", base::shapeText({head, row, col}), "; the shape is ",
                       base::shapeText({t->heads(), t->rows(), t->cols()}), "."});
}

}  // namespace app
