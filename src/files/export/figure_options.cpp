#include "files/export/figure_options.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/option.h"

namespace files {
namespace {

using base::inQuotes;
using ErrorKind = Error::Kind;
using What = FigureOptions::What;
using List = std::initializer_list<std::string_view>;

int indexIn(std::string_view word, List words) {
  const auto at = std::find(words.begin(), words.end(), word);
  return at == words.end() ? -1 : static_cast<int>(at - words.begin());
}

Result<void> refuse(std::string_view field, std::string_view value, std::string_view why) {
  return base::refuse(ErrorKind::range, field, {inQuotes(value), why});
}

/// Sets an enumeration to the place of a word in a list; an empty word changes nothing.
template <class E>
Result<void> takeChoice(std::string_view field, std::string_view word, List words, std::string_view why,
                        E& out) {
  if (word.empty()) return {};
  const int at = indexIn(word, words);
  if (at < 0) return refuse(field, word, why);
  out = static_cast<E>(at);
  return {};
}

std::optional<int> wholeNumber(std::string_view word) {
  const auto number = base::parseFloat(word);
  if (!number || *number != std::floor(*number) || std::abs(*number) > 1e6f) return std::nullopt;
  return static_cast<int>(*number);
}

/// "a,b": the parts before and after the sign.
std::pair<std::string_view, std::optional<std::string_view>> divided(std::string_view words, char sign) {
  const std::size_t at = words.find(sign);
  if (at == std::string_view::npos) return {words, std::nullopt};
  return {words.substr(0, at), words.substr(at + 1)};
}

Result<void> takeParts(std::string_view list, FigureOptions& out) {
  if (list.empty()) return {};
  bool* const parts[] = {&out.labels, &out.numbers, &out.bar, &out.caption, &out.sums, &out.clear};
  for (bool* part : parts) *part = false;
  if (list == "none") return {};
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const int at = indexIn(list.substr(0, end), {"labels", "numbers", "bar", "caption", "sums", "clear"});
    if (at < 0)
      return refuse("with", list.substr(0, end),
                    " is no part of a figure; use labels, numbers, bar, caption, sums and clear.");
    *parts[at] = true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return {};
}

Result<void> takeScale(std::string_view word, FigureOptions& out) {
  if (word.empty()) return {};
  const auto number = base::parseFloat(word);
  if (!number || !(*number >= 0.1f && *number <= 20.0f))
    return refuse("scale", word, " is no scale; use 0.1 to 20.");
  out.scale = *number;
  return {};
}

Result<void> takeBaseAndHead(const FigureWords& words, FigureOptions& out) {
  if (!words.base.empty()) {
    const int base = indexIn(words.base, {"0", "1"});
    if (base < 0) return refuse("base", words.base, " is no number to count from; use 0 or 1.");
    out.base = out.typed = base;
  }
  if (words.head.empty()) return {};
  const auto number = wholeNumber(words.head);
  if (!number || *number < out.typed)
    return refuse("head", words.head,
                  out.typed == 0 ? " is no head; count from 0." : " is no head; count from 1.");
  out.head = *number - out.typed, out.hasHead = true;
  return {};
}

Result<void> takeWidth(std::string_view words, FigureOptions& out) {
  if (words.empty()) return {};
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"in", 96}, {"cm", 96 / 2.54}, {"mm", 96 / 25.4}, {"pt", 96.0 / 72}, {"px", 1}};
  for (const auto& [unit, pixels] : kUnits) {
    if (!words.ends_with(unit)) continue;
    const auto number = base::parseFloat(words.substr(0, words.size() - unit.size()));
    if (!number) break;
    out.width = base::readable(*number) * pixels;
    if (out.width >= 96 && out.width <= 9600) return {};
    return refuse("width", words, " is no width for a figure; use 1in to 100in.");
  }
  return refuse("width", words,
                " is no width; give a number and its unit: in, cm, mm, pt or px, as in 3.25in.");
}

Result<void> takeWeightScale(std::string_view word, FigureOptions& out) {
  if (word.empty()) return {};
  const document::Option& option = document::option(document::OptionId::weight_scale);
  const auto at = std::find(option.choices.begin(), option.choices.end(), word);
  if (at == option.choices.end())
    return refuse("weight-scale", word, " is no scale of weights; use linear, sqrt, row or auto.");
  out.weightScale = static_cast<document::WeightScale>(at - option.choices.begin());
  return {};
}

Result<void> takeRange(std::string_view words, FigureOptions& out) {
  if (words.empty()) return {};
  const auto [low, high] = divided(words, ',');
  const auto from = base::parseFloat(low), to = base::parseFloat(high.value_or(""));
  if (!from || !to || !std::isfinite(*from) || !std::isfinite(*to) || !(*from < *to))
    return refuse("range", words,
                  " is no range of weights; give the smaller and the larger end, as in 0,0.5.");
  out.range = {base::readable(*from), base::readable(*to)};
  return {};
}

/// "40:80", "40:" or ":80", counted from `base`; the end is not included.
std::optional<FigureOptions::Tokens> tokensFrom(std::string_view words, int base) {
  const auto [first, end] = divided(words, ':');
  if (!end) return std::nullopt;
  const auto from = first.empty() ? base : wholeNumber(first),
             to = end->empty() ? base - 1 : wholeNumber(*end);
  if (!from || !to || *from < base || (!end->empty() && *to <= *from)) return std::nullopt;
  return FigureOptions::Tokens{*from - base, *to - base};
}

Result<void> takeTokens(const FigureWords& words, FigureOptions& out) {
  if (words.tokens.empty()) return {};
  const auto [queries, keys] = divided(words.tokens, ',');
  const auto first = tokensFrom(queries, out.typed), second = tokensFrom(keys.value_or(queries), out.typed);
  if (!first || !second)
    return refuse("tokens", words.tokens,
                  " is no range of tokens; give the first one and the one after the last, as in 40:80, or "
                  "those of queries and keys, as in 0:8,40:80.");
  out.queries = *first, out.keys = *second, out.hasOneRange = !keys;
  return {};
}

/// The board is a picture of what is on the screen.
Result<void> checkForBoard(const FigureWords& words, const FigureOptions& options) {
  if (options.what != What::board) return {};
  const std::pair<std::string_view, bool> given[] = {{"range", !words.range.empty()},
                                                     {"tokens", !words.tokens.empty()},
                                                     {"pool", !words.pool.empty()},
                                                     {"weight-scale", !words.weightScale.empty()},
                                                     {"title", words.title.has_value()}};
  for (const auto& [field, isGiven] : given)
    if (isGiven)
      return base::refuse(ErrorKind::range, field,
                          {"the board is drawn as it is on the screen; leave this out, or draw weights, "
                           "heads or arcs."});
  return {};
}

}  // namespace

Result<FigureOptions> figureOptions(const FigureWords& words) {
  FigureOptions out;
  if (words.title) out.title = std::string(*words.title);
  for (const auto& ok :
       {takeChoice("what", words.what, {"board", "weights", "heads", "arcs"},
                   " is no figure; use board, weights, heads or arcs.", out.what),
        takeChoice("style", words.style, {"light", "dark", "print"},
                   " is no style; use light, dark or print.", out.style),
        takeChoice("colors", words.colors, {"own", "cividis", "grey"},
                   " is no colour map; use own, cividis or grey.", out.colors),
        takeChoice("pool", words.pool, {"none", "max", "mean"},
                   " is no way to put tokens together; use max or mean.", out.pool),
        takeScale(words.scale, out), takeBaseAndHead(words, out), takeParts(words.with, out),
        takeWidth(words.width, out), takeRange(words.range, out), takeWeightScale(words.weightScale, out),
        takeTokens(words, out), checkForBoard(words, out)})
    if (!ok) return ok.error();
  return out;
}

}  // namespace files
