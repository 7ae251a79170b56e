#include "document/pin.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/text.h"

namespace document {
namespace {

using attention::CellChange;
using attention::Contrast;

constexpr std::size_t kLongestValue = 28;

std::string shortened(const Value& value) {
  std::string text = toJson(value);
  if (text.size() > kLongestValue) text = text.substr(0, base::clustersWithin(text, kLongestValue - 3)) + "…";
  return text;
}

/// Merges two lists, keeping the largest changes.
void join(Contrast& all, Contrast more, std::size_t most) {
  all.count += more.count;
  for (CellChange& change : more.largest) {
    const auto size = [](const CellChange& c) { return std::abs(c.by()); };
    all.largest.insert(std::find_if(all.largest.begin(), all.largest.end(),
                                    [&](const CellChange& c) { return size(c) < size(change); }),
                       change);
  }
  if (all.largest.size() > most) all.largest.resize(most);
}

}  // namespace

Result<std::string> pinOf(const State& state) {
  State plain = state;
  plain.pin = {};
  plain.unknownFields.clear();
  std::string text = toText(plain);
  std::erase(text, '\n');
  if (text.size() <= kMaxPinBytes) return text;
  return base::refuse(Error::Kind::memory, "pin",
                      {"this board takes ", text.size(),
                       " bytes; pin one with fewer tokens or columns, of at most ", kMaxPinBytes, "."});
}

Result<void> checkPin(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > kMaxPinBytes)
    return base::refuse(Error::Kind::memory, "pin",
                        {"it has ", text.size(), " bytes; use at most ", kMaxPinBytes, "."});
  const Result<State> read = fromText(text, State());
  if (!read) return base::refuse(read.error().kind, "pin", {"it is no state text: ", read.error().message()});
  if (read->pin.text)
    return base::refuse(Error::Kind::range, "pin", {"a pinned board has no pin of its own; leave it out."});
  return {};
}

Pinned::Pinned(const std::string& text)
    : state_(*fromText(text, State())),
      spec_(document::spec(state_)),
      inputs_(document::inputs(state_)) {
  engine_.apply(spec_, inputs_, attention::Change{});
}

void Pinned::showAs(const Settings& now) { keepView(state_, now); }

bool Pinned::isLike(const State& now) const {
  const auto shape = [](const Settings& s) {
    return std::array<int, 11>{static_cast<int>(s.mode),
                               s.tokens,
                               s.keyTokens,
                               s.heads,
                               s.kvHeads,
                               s.headDim,
                               queryWidth(s),
                               s.valueDim,
                               s.modelDim,
                               s.cross ? 1 : 0,
                               outputWidth(s)};
  };
  return shape(now) == shape(state_);
}

Differences Pinned::differences(const State& now, const attention::Trace& trace, std::size_t most) {
  Differences out;
  out.isComparable = isLike(now);
  for (const Option& o : options()) {
    if (!o.undoable || o.id == OptionId::pin || o.stored == Stored::never) continue;
    const Value before = get(state_, o.id), after = get(now, o.id);
    if (before != after) out.options.push_back({o.name, shortened(before), shortened(after)});
  }
  if (!out.isComparable) return out;
  for (const TensorId id : inputIds()) {
    if (isEditable(now, id) && isEditable(state_, id))
      join(out.inputs, attention::contrastOf(id, *input(state_, id), *input(now, id), most), most);
  }
  const attention::Trace& was = engine_.trace();
  out.scores = attention::contrastOf(TensorId::masked, was.masked, trace.masked, most);
  out.weights = attention::contrastOf(TensorId::weights, was.weights, trace.weights, most);
  out.outputs = attention::contrastOf(TensorId::head_output, was.headOutput, trace.headOutput, most);
  return out;
}

}  // namespace document
