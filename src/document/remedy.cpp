#include "document/remedy.h"

#include "attention/mechanisms/mechanism.h"
#include "base/sentence.h"
#include "document/text.h"

namespace document {
namespace {

using attention::Limits;
using attention::Normalizer;
using attention::Position;
using attention::Score;
using Id = OptionId;

/// One change that resolves a conflict: of another option, or a possible value for the option itself.
struct Way {
  base::Message reason, action;
  SetOption edit;
};
using Found = std::optional<Way>;

Way way(base::Message reason, base::Message action, Id id, const char* choice) {
  return {std::move(reason), std::move(action), {id, std::string(choice)}};
}
Way way(base::Message reason, base::Message action, Id id, int number) {
  return {std::move(reason), std::move(action), {id, static_cast<double>(number)}};
}

/// The smallest size >= `size` at which the columns of `heads` heads can be shared by `wanted` heads; 0 if
/// there is none.
int sharedSize(int size, int heads, int wanted, bool even) {
  for (; size <= Limits::headDim; ++size) {
    const int all = size * heads;
    if (all % wanted == 0 && all / wanted <= Limits::headDim &&
        !(even && (size % 2 != 0 || all / wanted % 2 != 0)))
      return size;
  }
  return 0;
}

Found wayToHeads(const Settings& s, int wanted) {
  const int sharing = s.heads / s.kvHeads;
  if (wanted % sharing != 0) {
    return way(base::message({wanted, " heads cannot share keys ", sharing, " at a time"}),
               "give each its own", Id::kv_heads, s.heads);
  }
  const int columns =
      sharedSize(s.headDim, s.heads, wanted, s.position == Position::rotary && s.rotary.dims == 0);
  if (columns != s.headDim) {
    if (columns == 0) return {};
    return way(base::message({wanted, " heads need ", columns * s.heads, " columns"}),
               base::message({"widen to ", columns * s.heads}), Id::d_k, columns);
  }
  const int values = sharedSize(s.valueDim, s.heads, wanted, false);
  if (values == s.valueDim || values == 0) return {};
  return way(base::message({wanted, " heads need ", values * s.heads, " columns of values"}),
             base::message({"widen the values to ", values * s.heads}), Id::d_v, values);
}

/// Positions that conflict with something are switched off, unless they are what is being set.
Way withoutPositions(const char* reason) {
  return way(reason, "set positions to none", Id::position, "none");
}

Found wayToPositions(const Settings& after, Id id) {
  const bool wanted = id == Id::position, rotary = after.position == Position::rotary;
  if (after.position == Position::sinusoidal && after.mode != Mode::x) {
    if (!wanted) return withoutPositions("Sinusoidal positions need X");
    return way("Sinusoidal positions are added to X", "set X · W", Id::mode, "x");
  }
  if (rotary && !attention::mechanismOf(after.score).isDot()) {
    if (!wanted) return withoutPositions("Rotary needs a dot product");
    return way("Rotary needs a dot product", "set scaled dot", Id::score, "scaled");
  }
  if (rotary && rotatedColumns(after) % 2 != 0) {
    constexpr const char* kEven = "Rotary needs an even d_k";
    if (!wanted) return withoutPositions(kEven);
    const int even = after.headDim + 1;
    return way(kEven, base::message({"set ", even}), Id::d_k, even);
  }
  if (rotary && !sameWidths(after)) {
    constexpr const char* kWidths = "Rotary needs queries as wide as keys";
    return wanted ? way(kWidths, "set d_q to d_k", Id::d_q, 0) : withoutPositions(kWidths);
  }
  const int room = Limits::tokens - after.tokens;
  const bool counted = rotary || (after.position == Position::sinusoidal && after.cross);
  if (!counted || after.causalOffset <= room) return {};
  const base::Message reason = base::message({"Positions end at ", Limits::tokens});
  if (id == Id::causal_offset) return way(reason, "set ALiBi", Id::position, "alibi");
  return way(reason, base::message({"set keys before to ", room}), Id::causal_offset, room);
}

/// A number of key heads that divides the heads: the nearest one, of two the larger.
Found wayToKeyHeads(const Settings& s, int wanted) {
  if (wanted > s.heads)
    return way(base::message({wanted, " key heads need ", wanted, " heads"}),
               base::message({"set ", wanted, " heads"}), Id::heads, wanted);
  if (s.heads % wanted == 0) return {};
  int less = wanted, more = wanted;
  while (s.heads % less != 0) --less;
  while (s.heads % more != 0) ++more;
  const int nearest = wanted - less < more - wanted ? less : more;
  return way(base::message({wanted, " key heads do not divide ", s.heads, " heads"}),
             base::message({"set ", nearest}), Id::kv_heads, nearest);
}

Found wayToStep(const Settings& s, int wanted) {
  if (wanted <= s.tokens) return {};
  return way(base::message({"Step ", wanted, " needs ", wanted, " tokens"}),
             base::message({"set ", wanted, " tokens"}), Id::tokens, wanted);
}

/// Sizes to reduce when memory is short, the least valuable first, and the wording of the button.
constexpr struct {
  Id id;
  const char *before, *after;
} kSizes[] = {{Id::batch, "set a batch of ", ""},
              {Id::heads, "set ", " heads"},
              {Id::tokens, "set ", " tokens"},
              {Id::key_tokens, "set ", " key tokens"},
              {Id::d_k, "set d_k to ", ""},
              {Id::d_v, "set d_v to ", ""},
              {Id::model_dim, "set the width of X to ", ""}};

int sizeOf(const Settings& s, Id id) {
  const Value value = get(s, id);
  return static_cast<int>(*std::get_if<double>(&value));
}

/// From where to look down for a size that fits beside the value: `end` − 1, or of tokens, which may be
/// thousands, the most that memory has room for.
int mostOf(const Settings& s, Id size, int end, Id id, const Value& value) {
  if (size != Id::tokens && size != Id::key_tokens) return end - 1;
  int fits = 0;
  while (end - fits > 1) {
    const int middle = (fits + end) / 2;
    const Settings smaller = settingsAfter(s, size, static_cast<double>(middle));
    const auto ok = checkSizes("", size == id ? smaller : settingsAfter(smaller, id, value));
    (ok || ok.error().kind != Error::Kind::memory ? fits : end) = middle;
  }
  return fits;
}

/// The remedy for sizes that make more scores or numbers than fit into memory.
Found wayToRoom(const Settings& s, Id id, const Value& value, const Settings& after) {
  const bool areScores = !attention::scoresFit(after.heads, after.tokens, after.keyTokens),
             areOfEach = std::int64_t{after.tokens} * after.keyTokens > Limits::inFull;
  const char* const reason = !areScores  ? "At most 9.6 million numbers fit"
                             : areOfEach ? "At most 134 million scores fit for each of several heads"
                                         : "At most 1.07 billion scores fit";
  if (const double* wanted = std::get_if<double>(&value)) {
    for (int n = mostOf(s, id, static_cast<int>(*wanted), id, value); n > sizeOf(s, id); --n) {
      if (check(s, id, static_cast<double>(n))) return way(reason, base::message({"set ", n}), id, n);
    }
  }
  for (const auto& size : kSizes) {
    for (int n = size.id == id ? 0 : mostOf(s, size.id, sizeOf(s, size.id), id, value); n > 0; --n) {
      const Value smaller = static_cast<double>(n);
      if (!check(s, size.id, smaller) || !check(settingsAfter(s, size.id, smaller), id, value)) continue;
      return way(reason, base::message({size.before, n, size.after}), size.id, n);
    }
  }
  return {};
}

Found wayTo(const Settings& settings, Id id, const Value& value) {
  switch (id) {
    case Id::heads:
      if (Found found = wayToHeads(settings, static_cast<int>(*std::get_if<double>(&value)))) return found;
      break;
    case Id::kv_heads:
      if (Found found = wayToKeyHeads(settings, static_cast<int>(*std::get_if<double>(&value)))) return found;
      break;
    case Id::step: return wayToStep(settings, static_cast<int>(*std::get_if<double>(&value)));
    case Id::scale:
      if (!isDotProduct(settings.score))
        return way("Only dot products are scaled", "set scaled dot", Id::score, "scaled");
      break;
    case Id::key_tokens:
    case Id::key_labels:
      if (!settings.cross)
        return Way{
            "Without cross-attention the keys are the tokens", "set cross-attention", {Id::cross, true}};
      break;
    default: break;
  }
  const Settings after = settingsAfter(settings, id, value);
  if (const auto ok = checkSizes("", after); !ok && ok.error().kind == Error::Kind::memory)
    return wayToRoom(settings, id, value, after);
  if (!sameWidths(after) && !takesScoreWeights(after.score)) {
    constexpr const char* kWidths = "A dot product needs queries as wide as keys";
    if (id == Id::score) return way(kWidths, "set d_q to d_k", Id::d_q, 0);
    return way(kWidths, "set the general score", Id::score, "general");
  }
  if (after.maskAfterSoftmax && after.normalizer != Normalizer::softmax) {
    if (id != Id::mask_after_softmax)
      return Way{"The mask comes after softmax", "set before", {Id::mask_after_softmax, false}};
    return way("It needs softmax", "set softmax", Id::normalizer, "softmax");
  }
  return wayToPositions(after, id);
}

}  // namespace

std::optional<Remedy> remedy(const Settings& settings, OptionId id, const Value& value) {
  if (!checkAlone(option(id), value)) return {};
  constexpr int kMost = 4;  // more than the number of options that ever conflict at once
  Remedy out;
  out.value = value;
  Settings trial = settings;
  for (int i = 0; !check(trial, id, out.value); ++i) {
    Found found = i < kMost ? wayTo(trial, id, out.value) : std::nullopt;
    if (!found) return {};
    if (i == 0) out.reason = std::move(found->reason);
    out.action = i == 0 ? std::move(found->action) : base::message({out.action, ", ", found->action});
    if (found->edit.option == id) {
      out.value = std::move(found->edit.value);
      continue;
    }
    if (!check(trial, found->edit.option, found->edit.value)) return {};
    trial = settingsAfter(trial, found->edit.option, found->edit.value);
    out.edits.push_back(std::move(found->edit));
  }
  if (out.reason.empty() || (out.value != value && out.value == get(settings, id))) return {};
  return out;
}

base::Message reason(const Settings& settings, OptionId id, const Value& value) {
  const auto ok = check(settings, id, value);
  if (ok) return {};
  auto found = remedy(settings, id, value);
  return found ? std::move(found->reason) : ok.error().sentence;
}

Error withRemedy(const Settings& settings, OptionId id, const Value& value, Error error) {
  const auto found = remedy(settings, id, value);
  if (!found) return error;
  base::Message out{error.sentence, " It fits"};
  if (found->value != value) out = {error.sentence, " The nearest that fits is ", toJson(found->value)};
  const std::vector<SetOption>& steps = found->edits;
  if (steps.size() == 1) {
    out += {" after setting ", option(steps[0].option).name, " to ", toJson(steps[0].value)};
  } else if (!steps.empty()) {
    std::string all;
    for (const SetOption& e : steps)
      all += base::joined({all.empty() ? "" : ", then ", option(e.option).name, " to ", toJson(e.value)});
    out += {" after setting ", all};
  }
  error.sentence = out += {"."};
  return error;
}

}  // namespace document
