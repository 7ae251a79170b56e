#include "document/state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "attention/mechanisms/mechanism.h"
#include "base/sentence.h"
#include "document/option.h"
#include "document/pin.h"
#include "document/resize.h"
#include "document/training.h"

namespace document {
namespace {

using attention::Limits;
using ErrorKind = Error::Kind;

constexpr TensorId kInputs[] = {TensorId::x,   TensorId::w_q, TensorId::w_k,  TensorId::w_v,  TensorId::w_o,
                                TensorId::q,   TensorId::k,   TensorId::v,    TensorId::x_kv, TensorId::w_a,
                                TensorId::u_a, TensorId::v_a, TensorId::bias, TensorId::b_q,  TensorId::b_k,
                                TensorId::b_v, TensorId::b_o, TensorId::x_v,  TensorId::sink};

constexpr TensorId kItemInputs[] = {TensorId::x,    TensorId::q,    TensorId::k,  TensorId::v,
                                    TensorId::x_kv, TensorId::bias, TensorId::x_v};

Result<void> within(std::string_view field, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return {};
  return base::refuse(ErrorKind::range, field,
                      {value, " is too ", (value < 1 ? "small" : "large"), "; use 1 to ", most, "."});
}

std::vector<std::string> divisors(int number) {
  std::vector<std::string> out;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) out.push_back(std::to_string(d));
  return out;
}

Result<void> checkFinite(std::string_view name, const Tensor& tensor, TensorId id = TensorId::q) {
  const auto values = tensor.values();
  const std::ptrdiff_t bad = firstWrong(id, values);
  if (bad < 0) return {};
  return refuseNumber(base::joined({name, ".data[", bad, "]"}), values[static_cast<std::size_t>(bad)]);
}

Result<void> checkTensor(const Settings& settings, TensorId id, const Tensor& tensor, std::string_view name) {
  const Axes want = axes(settings, id);
  if (!hasInput(settings, id)) {
    if (tensor == Tensor()) return {};
    return base::refuse(ErrorKind::range, name, {"it is unused in this layer; remove it."});
  }
  if (tensor.heads() != want.heads || tensor.rows() != want.rows.count() ||
      tensor.cols() != want.cols.count()) {
    return base::refuse(
        ErrorKind::range, name,
        {"the shape is ", base::shapeText({tensor.heads(), tensor.rows(), tensor.cols()}), "; it must be ",
         base::shapeText({want.heads, want.rows.count(), want.cols.count()}), "."});
  }
  return checkFinite(name, tensor, id);
}

Result<void> checkParameter(const State& state, ParameterId id) {
  const Tensor& tensor = state.parameters[id];
  if (tensor.empty()) return {};
  const ParameterShape want = shapeOf(state, id);
  if (tensor.heads() != 1 || tensor.rows() != want.rows || tensor.cols() != want.cols)
    return base::refuse(ErrorKind::range, name(id),
                        {"the shape is ", base::shapeText({tensor.rows(), tensor.cols()}), "; it must be ",
                         base::shapeText({want.rows, want.cols}), "."});
  if (auto ok = checkFinite(name(id), tensor); !ok) return ok;
  return checkParameterSize(state, id);
}

Result<void> checkMask(const State& state) {
  const PaintedMask& mask = state.painted;
  if (mask.empty() && mask.rows == 0 && mask.cols == 0) return {};
  const auto count = static_cast<std::size_t>(state.tokens) * static_cast<std::size_t>(state.keyTokens);
  if (mask.rows == state.tokens && mask.cols == state.keyTokens && mask.blocked.size() == count) return {};
  return base::refuse(ErrorKind::range, "mask",
                      {"the shape is ", base::shapeText({mask.rows, mask.cols}), "; it must be ",
                       base::shapeText({state.tokens, state.keyTokens}), "."});
}

Result<void> checkAllLabels(std::string_view field, const std::vector<std::string>& labels, int tokens) {
  if (labels.size() != static_cast<std::size_t>(tokens))
    return base::refuse(ErrorKind::range, field,
                        {"there are ", labels.size(), " for ", tokens, " tokens; give one label a token."});
  return checkLabels(field, labels, 0);
}

Result<void> checkItem(const State& state, std::size_t item) {
  const std::string field = base::joined({"pages[", item, "]."});
  const BatchItem& other = state.items[item];
  if (static_cast<int>(item) == state.batchItem)
    return other == BatchItem()
               ? Result<void>()
               : base::refuse(ErrorKind::range, field, {"it is on the board; leave it empty."});
  for (const TensorId id : kItemInputs)
    if (auto ok = checkTensor(state, id, *input(other, id), base::joined({field, attention::name(id)})); !ok)
      return ok;
  if (auto ok = checkAllLabels(field + "labels", other.labels, state.tokens); !ok) return ok;
  return checkAllLabels(field + "key_labels", other.keyLabels, state.cross ? state.keyTokens : 0);
}

Result<void> checkItems(const State& state) {
  const int count = state.batch > 1 ? state.batch : 0;
  if (static_cast<int>(state.items.size()) != count)
    return base::refuse(ErrorKind::range, "pages",
                        {"there are ", state.items.size(), "; it must be ", count, "."});
  if (state.batchItem >= state.batch)
    return base::refuse(ErrorKind::range, "batch_item",
                        {state.batchItem, " is no item of the batch; use 0 to ", state.batch - 1, "."});
  for (std::size_t i = 0; i < state.items.size(); ++i)
    if (auto ok = checkItem(state, i); !ok) return ok;
  return {};
}

Result<void> checkView(const Settings& settings) {
  if (settings.focusHead < 0 || settings.focusHead >= settings.heads)
    return base::refuse(ErrorKind::range, "focus_head",
                        {settings.focusHead, " is no head here; use 0 to ", settings.heads - 1, "."});
  if (settings.step > settings.tokens)
    return base::refuse(ErrorKind::range, "step",
                        {settings.step, " is more than there are tokens; use 0 to ", settings.tokens, "."});
  return {};
}

/// Checks every option against its own range.
Result<void> checkRanges(const Settings& settings) {
  for (const Option& o : options()) {
    if (o.type == OptionType::labels) continue;  // checked with the tokens
    if (auto ok = checkAlone(o, get(settings, o.id)); !ok) return ok;
  }
  return {};
}

std::int64_t countNumbers(const Settings& s) {
  const std::int64_t tokens = s.tokens, keys = s.keyTokens, model = s.modelDim;
  const std::int64_t queryWidth = std::int64_t{s.heads} * document::queryWidth(s),
                     keyWidth = std::int64_t{s.kvHeads} * s.headDim,
                     valueWidth = std::int64_t{s.kvHeads} * s.valueDim,
                     outputWidth = std::int64_t{s.heads} * s.valueDim;
  const std::int64_t words =
      tokens * model + (s.cross ? keys * model : 0) + (s.separateValues ? keys * model : 0);
  const std::int64_t projected = tokens * queryWidth + keys * (keyWidth + valueWidth);
  const std::int64_t weights = model * (queryWidth + keyWidth + valueWidth) + outputColumns(s) * outputWidth;
  const std::int64_t biases =
      s.biasKind == Bias::none ? 0 : tokens * keys * (s.biasKind == Bias::shared ? 1 : s.heads);
  const std::int64_t scoring =
      s.scoreWeights ? s.heads * scoreUnits(s) * (std::int64_t{document::queryWidth(s)} + s.headDim + 1) : 0;
  const std::int64_t added = s.projectionBias ? queryWidth + keyWidth + valueWidth + outputColumns(s) : 0;
  return s.batch * (words + projected + biases) + weights + scoring + added + (s.softmaxSink ? s.heads : 0);
}

bool isBeyondPositions(const Settings& s) {
  const bool isCounted =
      s.position == attention::Position::rotary || (s.position == attention::Position::sinusoidal && s.cross);
  return isCounted && s.causalOffset > Limits::tokens - s.tokens;
}

/// Combinations of options that make no sense, with a sentence for each side that says what to do.
struct Clash {
  OptionId blamed;  ///< the option named if none is being set
  bool (*exists)(const Settings&);
  std::string_view sentence;
};

constexpr Clash kClashes[] = {
    {OptionId::position,
     [](const Settings& s) { return s.position == attention::Position::sinusoidal && s.mode != Mode::x; },
     "sinusoidal positions are added to X; set mode to \"x\", or position to \"none\", \"rotary\" or "
     "\"alibi\"."},
    {OptionId::position,
     [](const Settings& s) {
       return s.position == attention::Position::rotary && rotatedColumns(s) % 2 != 0;
     },
     "rotary positions turn columns in pairs; use an even d_k, or set position to \"none\" or \"alibi\"."},
    {OptionId::position,
     [](const Settings& s) {
       return s.position == attention::Position::rotary && !attention::mechanismOf(s.score).isDot();
     },
     "rotary positions turn dot products, and an additive score has none; set score to \"scaled\", or "
     "position to "
     "\"none\" or \"alibi\"."},
    {OptionId::d_q, [](const Settings& s) { return !sameWidths(s) && !takesScoreWeights(s.score); },
     "a dot product needs queries as wide as keys; set score to \"general\" or \"additive\", or d_q to 0."},
    {OptionId::position,
     [](const Settings& s) { return !sameWidths(s) && s.position == attention::Position::rotary; },
     "rotary positions turn queries and keys of one width; set d_q to 0, or position to \"none\" or "
     "\"alibi\"."},
    {OptionId::causal_offset, isBeyondPositions,
     "the last query would stand beyond position 131072; use a smaller causal_offset, or set position to "
     "\"alibi\"."},
    {OptionId::mask_after_softmax,
     [](const Settings& s) { return s.maskAfterSoftmax && s.normalizer != attention::Normalizer::softmax; },
     "the mask cannot come after a softmax that is not there; set normalizer to \"softmax\", or "
     "mask_after_softmax to "
     "false."},
    {OptionId::hidden_heads, [](const Settings& s) { return s.heads < 64 && s.hiddenHeads >> s.heads != 0; },
     "it names a head that does not exist; use 0 to heads - 1."},
    {OptionId::view,
     [](const Settings& s) {
       return std::max(s.tokens, s.keyTokens) > Limits::modelTokens && s.view != View::layer &&
              s.view != View::train;
     },
     "this page takes up to 4096 tokens; use fewer, or set view to \"layer\"."},
};

}  // namespace

State::State() = default;

attention::Spec spec(const Settings& settings) {
  attention::Spec out;
  out.heads = settings.heads, out.kvHeads = settings.kvHeads;
  out.queryCount = settings.tokens, out.keyCount = settings.keyTokens;
  out.headDim = settings.headDim, out.valueDim = settings.valueDim, out.queryDim = settings.queryDim;
  out.score = settings.score, out.scale = settings.scaleBy;
  out.softcap = settings.softcap, out.temperature = settings.temperature;
  out.normalizer = settings.normalizer, out.sink = settings.softmaxSink;
  out.position = settings.position;
  out.rotary = settings.rotary, out.positionIds = settings.positionIds;
  out.causal = settings.causal, out.causalOffset = settings.causalOffset;
  out.windowLeft = settings.windowLeft, out.windowRight = settings.windowRight;
  // They may have been set when there were more keys.
  out.prefix = std::min(settings.prefix, settings.keyTokens);
  out.keyLength = std::min(settings.keyLength, settings.keyTokens);
  out.pattern = settings.pattern;
  out.maskAfterSoftmax = settings.maskAfterSoftmax;
  out.hiddenHeads = settings.hiddenHeads;
  return out;
}

attention::Inputs inputs(const State& state) {
  attention::Inputs out;
  for (const TensorId id : kInputs)
    if (isEditable(state, id)) out.*attention::tensorRow(id).given = input(state, id);
  if (state.bias.empty()) out.bias = nullptr;
  out.painted = &state.painted;
  return out;
}

const Tensor* input(const State& state, TensorId id) {
  switch (id) {
    case TensorId::x: return &state.x;
    case TensorId::w_q: return &state.wQ;
    case TensorId::w_k: return &state.wK;
    case TensorId::w_v: return &state.wV;
    case TensorId::w_o: return &state.wO;
    case TensorId::q: return &state.q;
    case TensorId::k: return &state.k;
    case TensorId::v: return &state.v;
    case TensorId::x_kv: return &state.xKv;
    case TensorId::w_a: return &state.wA;
    case TensorId::u_a: return &state.uA;
    case TensorId::v_a: return &state.vA;
    case TensorId::bias: return &state.bias;
    case TensorId::b_q: return &state.bQ;
    case TensorId::b_k: return &state.bK;
    case TensorId::b_v: return &state.bV;
    case TensorId::b_o: return &state.bO;
    case TensorId::x_v: return &state.xV;
    case TensorId::sink: return &state.sink;
    default: return nullptr;
  }
}

const Tensor* input(const BatchItem& item, TensorId id) {
  switch (id) {
    case TensorId::x: return &item.x;
    case TensorId::q: return &item.q;
    case TensorId::k: return &item.k;
    case TensorId::v: return &item.v;
    case TensorId::x_kv: return &item.xKv;
    case TensorId::bias: return &item.bias;
    case TensorId::x_v: return &item.xV;
    default: return nullptr;
  }
}

Tensor* input(BatchItem& item, TensorId id) {
  return const_cast<Tensor*>(input(static_cast<const BatchItem&>(item), id));
}

Tensor* input(State& state, TensorId id) {
  return const_cast<Tensor*>(input(static_cast<const State&>(state), id));
}

bool isEditable(const Settings& settings, TensorId id) {
  switch (id) {
    case TensorId::x:
    case TensorId::w_q:
    case TensorId::w_k:
    case TensorId::w_v: return settings.mode == Mode::x;
    case TensorId::w_o: return settings.mode == Mode::x && settings.outputProjection;
    case TensorId::b_o:
      return settings.mode == Mode::x && settings.outputProjection && settings.projectionBias;
    case TensorId::b_q:
    case TensorId::b_k:
    case TensorId::b_v: return settings.mode == Mode::x && settings.projectionBias;
    case TensorId::x_kv: return settings.mode == Mode::x && settings.cross;
    case TensorId::x_v: return settings.mode == Mode::x && settings.separateValues;
    case TensorId::q:
    case TensorId::k:
    case TensorId::v: return settings.mode == Mode::qkv;
    case TensorId::w_a:
    case TensorId::u_a:
    case TensorId::v_a: return attention::takes(settings.score, id);
    case TensorId::bias: return settings.biasKind != Bias::none;
    case TensorId::sink: return settings.softmaxSink && settings.normalizer == attention::Normalizer::softmax;
    default: return false;
  }
}

bool hasInput(const Settings& settings, TensorId id) {
  if (id == TensorId::x_kv) return settings.cross;
  if (id == TensorId::x_v) return settings.separateValues;
  if (id == TensorId::bias) return settings.biasKind != Bias::none;
  if (id == TensorId::sink) return settings.softmaxSink;
  if (isProjectionBias(id)) return settings.projectionBias;
  return settings.scoreWeights || (id != TensorId::w_a && id != TensorId::u_a && id != TensorId::v_a);
}

std::span<const TensorId> inputIds() { return kInputs; }
std::span<const TensorId> itemInputIds() { return kItemInputs; }

int rotatedColumns(const Settings& s) {
  return s.rotary.dims > 0 && s.rotary.dims < s.headDim ? s.rotary.dims : s.headDim;
}

const std::vector<std::string>& keyLabels(const Settings& settings) {
  return settings.cross ? settings.keyLabels : settings.labels;
}

bool isDotProduct(attention::Score score) { return attention::mechanismOf(score).isProduct; }
bool takesScoreWeights(attention::Score score) { return !attention::mechanismOf(score).parameters.empty(); }

Result<void> refuseNumber(std::string_view field, float number) {
  return base::Error{
      ErrorKind::range, std::string(field),
      base::joined({std::isnan(number) ? "NaN" : "infinity", " cannot be used; give a finite number."}),
      false, base::Error::Fault::number};
}

namespace {

/// So many tokens have room for their scores with these heads, and with these keys if they are others.
int tokensThatFit(const Settings& s) {
  const auto each = static_cast<double>(std::min(Limits::inFull, Limits::scores / s.heads));
  return static_cast<int>(s.cross ? each / s.keyTokens : std::sqrt(each));
}

}  // namespace

Result<void> checkSizes(std::string_view field, const Settings& s) {
  if (auto ok = within("tokens", s.tokens, Limits::tokens); !ok) return ok;
  if (auto ok = within("key_tokens", s.keyTokens, Limits::tokens); !ok) return ok;
  if (auto ok = within("heads", s.heads, Limits::heads); !ok) return ok;
  if (auto ok = within("kv_heads", s.kvHeads, Limits::heads); !ok) return ok;
  if (auto ok = within("d_k", s.headDim, Limits::headDim); !ok) return ok;
  if (auto ok = within("d_v", s.valueDim, Limits::headDim); !ok) return ok;
  if (auto ok = within("d_q", queryWidth(s), Limits::headDim); !ok) return ok;
  if (auto ok = within("model_dim", s.modelDim, Limits::modelDim); !ok) return ok;
  if (s.heads % s.kvHeads != 0)
    return base::refuse(
        ErrorKind::range, "kv_heads",
        {s.kvHeads, " does not divide the ", s.heads, " heads; use ", base::either(divisors(s.heads)), "."});
  const std::int64_t scores = std::int64_t{s.tokens} * s.keyTokens;
  if (!attention::scoresFit(s.heads, s.tokens, s.keyTokens)) {
    const std::int64_t heads = scores > Limits::inFull ? 1 : Limits::scores / scores;
    return base::refuse(
        ErrorKind::memory, field,
        {s.heads, " heads of ", s.tokens, " × ", s.keyTokens, " scores make ", s.heads * scores,
         "; use at most ", tokensThatFit(s), " tokens, or ", heads, heads == 1 ? " head." : " heads."});
  }
  const std::int64_t numbers = countNumbers(s);
  if (numbers > kMaxNumbers)
    return base::refuse(
        ErrorKind::memory, field,
        {"tokens ", s.tokens, ", heads ", s.heads, ", d_k ", s.headDim, " and model_dim ", s.modelDim,
         " make inputs of ", numbers, " numbers; use smaller ones, for at most ", kMaxNumbers, "."});
  return {};
}

Result<void> checkTogether(std::string_view field, const Settings& settings) {
  for (const Clash& clash : kClashes)
    if (clash.exists(settings))
      return base::refuse(ErrorKind::range, field.empty() ? option(clash.blamed).name : field,
                          {clash.sentence});
  return checkTraining(settings, field.empty() || field == option(OptionId::train_sentences).name);
}

Result<void> checkLabel(std::string_view field, std::string_view label) {
  if (label.size() > kLabelBytes) {
    std::string_view fitting = label.substr(0, base::clustersWithin(label, kLabelBytes));
    int characters = 0;
    for (; !fitting.empty(); ++characters) fitting.remove_prefix(base::clusterLength(fitting));
    base::Message why{base::inQuotes(label), " is ", label.size(), " bytes long; use at most ", kLabelBytes};
    if (characters < kLabelBytes) why += {", which its first ", characters, " characters fill"};
    return base::Error{ErrorKind::range, std::string(field), why += {"."}};
  }
  for (std::string_view rest = label; !rest.empty();) {
    const int length = base::utf8Length(rest);
    if (length == 0)
      return base::refuse(ErrorKind::range, field,
                          {base::inQuotes(label), " is not valid UTF-8; type it again."});
    const char32_t c = base::utf8Decode(rest);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
      return base::refuse(ErrorKind::range, field,
                          {base::inQuotes(label), " holds a control character; leave it out."});
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  return {};
}

std::string_view columnName(const Settings& settings, int head, int col) {
  const std::size_t at = static_cast<std::size_t>(head) * static_cast<std::size_t>(settings.headDim) +
                         static_cast<std::size_t>(col);
  return at < settings.columnNames.size() ? std::string_view(settings.columnNames[at]) : std::string_view();
}

int classCount(const Settings& settings) {
  return std::max(kMinClasses, static_cast<int>(settings.segments.classes.size()));
}

base::Message className(const Settings& settings, int index) {
  const std::vector<std::string>& names = settings.segments.classes;
  const auto at = static_cast<std::size_t>(index);
  return at < names.size() && !names[at].empty() ? base::message({names[at]})
                                                 : base::message({"Class ", index + 1});
}

std::vector<std::string> columnNamesWith(const Settings& settings, int head, int col, std::string name) {
  std::vector<std::string> names = settings.columnNames;
  const std::size_t at = static_cast<std::size_t>(head) * static_cast<std::size_t>(settings.headDim) +
                         static_cast<std::size_t>(col);
  if (names.size() <= at) names.resize(at + 1);
  names[at] = std::move(name);
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

Tensor parameter(const State& state, ParameterId id) {
  const Tensor& own = state.parameters[id];
  return own.empty() ? seeded(state, id) : own;
}

void setParameter(State& state, ParameterId id, Tensor numbers) {
  if (sameBits(numbers, seeded(state, id))) numbers = {};
  state.parameters[id] = std::move(numbers);
}

Result<void> checkParameterSize(const Settings& settings, ParameterId id) {
  const ParameterShape shape = shapeOf(settings, id);
  const std::int64_t numbers = std::int64_t{shape.rows} * shape.cols;
  if (numbers <= kMaxParameterNumbers) return {};
  return base::refuse(ErrorKind::memory, name(id),
                      {"it has ", numbers, " numbers, and at most ", kMaxParameterNumbers,
                       " can be changed; use a smaller block_hidden or model_dim."});
}

Result<void> check(const State& state) {
  if (auto ok = checkRanges(state); !ok) return ok;
  if (auto ok = checkSizes("tokens", state); !ok) return ok;
  for (const TensorId id : kInputs)
    if (auto ok = checkTensor(state, id, *input(state, id), attention::name(id)); !ok) return ok;
  for (int i = 0; i < kParameterCount; ++i)
    if (auto ok = checkParameter(state, static_cast<ParameterId>(i)); !ok) return ok;
  if (auto ok = checkAllLabels("labels", state.labels, state.tokens); !ok) return ok;
  if (auto ok = checkAllLabels("key_labels", keyLabels(state), state.keyTokens); !ok) return ok;
  if (auto ok = checkMask(state); !ok) return ok;
  if (auto ok = checkItems(state); !ok) return ok;
  if (auto ok = checkLabel("preset", state.preset); !ok) return ok;
  if (auto ok = checkView(state); !ok) return ok;
  if (state.pin.text)
    if (auto ok = checkPin(*state.pin.text); !ok) return ok;
  return checkTogether("", state);
}

Result<void> checkLabels(std::string_view field, std::span<const std::string> labels, int first) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (auto ok = checkLabel(base::joined({field, "[", static_cast<std::size_t>(first) + i, "]"}), labels[i]);
        !ok)
      return ok;
  return {};
}

State shared(const State& state) {
  State copy;
  static_cast<Settings&>(copy) = state;
  copy.preset = state.preset, copy.unknownFields = state.unknownFields, copy.painted = state.painted;
  for (const TensorId id : kInputs) *input(copy, id) = input(state, id)->shared();
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    copy.parameters[id] = state.parameters[id].shared();
  }
  for (const BatchItem& item : state.items) {
    BatchItem& other = copy.items.emplace_back();
    other.labels = item.labels, other.keyLabels = item.keyLabels;
    for (const TensorId id : kItemInputs) *input(other, id) = input(item, id)->shared();
  }
  return copy;
}

bool sameBits(const Tensor& a, const Tensor& b) {
  return a.sameShape(b) && (a.empty() || a.data() == b.data() ||
                            std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool sameBits(const State& a, const State& b) {
  const auto same = [](const auto& left, const auto& right, std::span<const TensorId> ids) {
    return std::all_of(ids.begin(), ids.end(),
                       [&](TensorId id) { return sameBits(*input(left, id), *input(right, id)); });
  };
  if (!(a == b && same(a, b, kInputs))) return false;
  for (int i = 0; i < kParameterCount; ++i)
    if (!sameBits(a.parameters[static_cast<ParameterId>(i)], b.parameters[static_cast<ParameterId>(i)]))
      return false;
  return std::equal(
      a.items.begin(), a.items.end(), b.items.begin(),
      [&](const BatchItem& left, const BatchItem& right) { return same(left, right, kItemInputs); });
}

void keepView(Settings& settings, const Settings& from) {
  copyView(settings, from);
  settings.focusHead = std::min(settings.focusHead, settings.heads - 1);
  settings.step = std::min(settings.step, settings.tokens);
}

void keepAppearance(Settings& settings, const Settings& from) {
  const int head = settings.focusHead, step = settings.step;
  const View view = settings.view;
  copyView(settings, from);
  settings.focusHead = head, settings.step = step, settings.view = view, settings.trainRunning = false;
}

}  // namespace document
