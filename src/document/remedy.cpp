#include "document/remedy.h"

#include <algorithm>

#include "document/sentence.h"
#include "document/text.h"

namespace document {
namespace {

using attention::Limits;
using attention::Normalizer;
using attention::Position;
using attention::Score;
using Id = OptionId;

/// One option out of the way.
struct Way {
  std::string reason, action;
  SetOption edit;
};
using Found = std::optional<Way>;

Way way(std::string reason, std::string action, Id id, const char* choice) {
  return {std::move(reason), std::move(action), {id, std::string(choice)}};
}
Way way(std::string reason, std::string action, Id id, int number) {
  return {std::move(reason), std::move(action), {id, static_cast<double>(number)}};
}

/// The next size from `size` on of which `heads` heads hold columns that `wanted` heads can share; 0: there is none.
int sharedSize(int size, int heads, int wanted, bool even) {
  for (; size <= Limits::headDim; ++size) {
    const int all = size * heads;
    if (all % wanted == 0 && all / wanted <= Limits::headDim && !(even && (size % 2 != 0 || all / wanted % 2 != 0))) return size;
  }
  return 0;
}

Found wayToHeads(const Settings& s, int wanted) {
  const int sharing = s.heads / s.kvHeads;
  if (wanted % sharing != 0) {
    return way(joined({wanted, " heads cannot share keys ", sharing, " at a time"}),
               "give each its own", Id::kv_heads, s.heads);
  }
  const int columns = sharedSize(s.headDim, s.heads, wanted, s.position == Position::rotary);
  if (columns != s.headDim) {
    if (columns == 0) return {};
    return way(joined({wanted, " heads need width ", columns * s.heads}), "set", Id::d_k, columns);
  }
  const int values = sharedSize(s.valueDim, s.heads, wanted, false);
  if (values == s.valueDim || values == 0) return {};
  return way(joined({wanted, " heads need ", values * s.heads, " columns of values"}), "set", Id::d_v, values);
}

/// Positions that clash with something give way, unless they are what is wanted.
Way withoutPositions(const char* reason) { return way(reason, "set positions to none", Id::position, "none"); }

Found wayToPositions(const Settings& after, Id id) {
  const bool wanted = id == Id::position, rotary = after.position == Position::rotary;
  if (after.position == Position::sinusoidal && after.mode != Mode::x) {
    if (!wanted) return withoutPositions("Sinusoidal positions are added to X");
    return way("Sinusoidal positions are added to X", "set X · W", Id::mode, "x");
  }
  if (rotary && after.score == Score::additive) {
    if (!wanted) return withoutPositions("Rotary needs a dot product");
    return way("Rotary needs a dot product", "set scaled dot", Id::score, "scaled");
  }
  if (rotary && after.headDim % 2 != 0) {
    constexpr const char* kEven = "Rotary needs an even d_k";
    if (!wanted) return withoutPositions(kEven);
    const int even = after.headDim + 1;
    return way(kEven, joined({"set ", even}), Id::d_k, even);
  }
  const int room = Limits::tokens - after.tokens;
  const bool counted = rotary || (after.position == Position::sinusoidal && after.cross);
  if (!counted || after.causalOffset <= room) return {};
  const std::string reason = joined({"Positions end at ", Limits::tokens});
  if (id == Id::causal_offset) return way(reason, "set ALiBi", Id::position, "alibi");
  return way(reason, joined({"set keys before to ", room}), Id::causal_offset, room);
}

Found wayTo(const Settings& settings, Id id, const Value& value) {
  switch (id) {
    case Id::heads:
      if (Found found = wayToHeads(settings, static_cast<int>(*std::get_if<double>(&value)))) return found;
      break;
    case Id::scale:
      if (!isDotProduct(settings.score)) return way("Only dot products are scaled", "set scaled dot", Id::score, "scaled");
      break;
    case Id::key_tokens:
    case Id::key_labels:
      if (!settings.cross)
        return Way{"Without cross-attention the keys are the tokens", "set cross-attention", {Id::cross, true}};
      break;
    default:
      break;
  }
  const Settings after = settingsAfter(settings, id, value);
  if (after.maskAfterSoftmax && after.normalizer != Normalizer::softmax) {
    if (id != Id::mask_after_softmax) return Way{"The mask comes after softmax", "set before", {Id::mask_after_softmax, false}};
    return way("It needs softmax", "set softmax", Id::normalizer, "softmax");
  }
  return wayToPositions(after, id);
}

}  // namespace

std::optional<Remedy> remedy(const Settings& settings, OptionId id, const Value& value) {
  if (checkAlone(option(id), value)) return {};
  constexpr int kMost = 4;  // more options than ever stand in one way
  Remedy out;
  Settings trial = settings;
  for (int i = 0; check(trial, id, value); ++i) {
    Found found = i < kMost ? wayTo(trial, id, value) : std::nullopt;
    if (!found || check(trial, found->edit.option, found->edit.value)) return {};
    trial = settingsAfter(trial, found->edit.option, found->edit.value);
    if (out.edits.empty()) out.reason = std::move(found->reason);
    out.action += (out.edits.empty() ? "" : ", ") + found->action;
    out.edits.push_back(std::move(found->edit));
  }
  if (out.edits.empty()) return {};
  return out;
}

std::string reason(const Settings& settings, OptionId id, const Value& value) {
  const Check bad = check(settings, id, value);
  if (!bad) return {};
  if (auto found = remedy(settings, id, value)) return std::move(found->reason);
  const std::string field = bad->field + ": ";
  std::string words = bad->message.starts_with(field) ? bad->message.substr(field.size()) : bad->message;
  if (!words.empty() && words.front() >= 'a' && words.front() <= 'z') words.front() = static_cast<char>(words.front() - 'a' + 'A');
  return words;
}

Error withRemedy(const Settings& settings, OptionId id, const Value& value, Error error) {
  const auto found = remedy(settings, id, value);
  if (!found) return error;
  std::string steps;
  for (const SetOption& e : found->edits) {
    steps += joined({steps.empty() ? "" : ", then ", option(e.option).name, " to ", toJson(e.value)});
  }
  error.message += joined({" It fits after setting ", steps, "."});
  return error;
}

}  // namespace document
