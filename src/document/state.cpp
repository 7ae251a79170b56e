#include "document/state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "document/option.h"
#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::Limits;
using Kind = Error::Kind;

constexpr TensorId kInputs[] = {TensorId::x,    TensorId::w_q, TensorId::w_k, TensorId::w_v,
                                TensorId::w_o,  TensorId::q,   TensorId::k,   TensorId::v,
                                TensorId::x_kv, TensorId::w_a, TensorId::u_a, TensorId::v_a,
                                TensorId::bias};

constexpr TensorId kItemInputs[] = {TensorId::x, TensorId::q, TensorId::k, TensorId::v, TensorId::x_kv,
                                    TensorId::bias};

Check within(std::string_view field, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return {};
  return refuse(Kind::range, field,
                {value, " is too ", (value < 1 ? "small" : "large"), "; use 1 to ", most, "."});
}

std::vector<std::string> divisors(int number) {
  std::vector<std::string> out;
  for (int d = 1; d <= number; ++d)
    if (number % d == 0) out.push_back(std::to_string(d));
  return out;
}

Check checkFinite(std::string_view name, const Tensor& tensor, TensorId id = TensorId::q) {
  const auto values = tensor.values();
  const std::ptrdiff_t bad = firstWrong(id, values);
  if (bad < 0) return {};
  const std::string field = joined({name, ".data[", bad, "]"});
  return refuse(Kind::range, field,
                {std::isnan(values[static_cast<std::size_t>(bad)]) ? "NaN" : "infinity",
                 " cannot be used; give a finite number."});
}

Check checkTensor(const Settings& settings, TensorId id, const Tensor& tensor, std::string_view name) {
  const Axes want = axes(settings, id);
  if (!hasInput(settings, id)) {
    if (tensor == Tensor()) return {};
    return refuse(Kind::range, name, {"it is there, but nothing here makes use of it; leave it out."});
  }
  if (tensor.heads() != want.heads || tensor.rows() != want.rows.count() ||
      tensor.cols() != want.cols.count()) {
    return refuse(Kind::range, name,
                  {"the shape is ", shapeText({tensor.heads(), tensor.rows(), tensor.cols()}),
                   "; it must be ", shapeText({want.heads, want.rows.count(), want.cols.count()}), "."});
  }
  return checkFinite(name, tensor, id);
}

Check checkParameter(const State& state, ParameterId id) {
  const Tensor& tensor = state.parameters[id];
  if (tensor.empty()) return {};
  const ParameterShape want = shapeOf(state, id);
  if (tensor.heads() != 1 || tensor.rows() != want.rows || tensor.cols() != want.cols)
    return refuse(Kind::range, name(id),
                  {"the shape is ", shapeText({tensor.rows(), tensor.cols()}), "; it must be ",
                   shapeText({want.rows, want.cols}), "."});
  if (Check bad = checkFinite(name(id), tensor)) return bad;
  return checkParameterSize(state, id);
}

Check checkMask(const State& state) {
  const PaintedMask& mask = state.painted;
  if (mask.empty() && mask.rows == 0 && mask.cols == 0) return {};
  const auto count = static_cast<std::size_t>(state.tokens) * static_cast<std::size_t>(state.keyTokens);
  if (mask.rows == state.tokens && mask.cols == state.keyTokens && mask.blocked.size() == count) return {};
  return refuse(Kind::range, "mask",
                {"the shape is ", shapeText({mask.rows, mask.cols}), "; it must be ",
                 shapeText({state.tokens, state.keyTokens}), "."});
}

Check checkAllLabels(std::string_view field, const std::vector<std::string>& labels, int tokens) {
  if (labels.size() != static_cast<std::size_t>(tokens))
    return refuse(Kind::range, field,
                  {"there are ", labels.size(), " for ", tokens, " tokens; give one label a token."});
  return checkLabels(field, labels, 0);
}

Check checkPage(const State& state, std::size_t item) {
  const std::string field = joined({"pages[", item, "]."});
  const Page& page = state.pages[item];
  if (static_cast<int>(item) == state.batchItem)
    return page == Page() ? Check() : refuse(Kind::range, field, {"it is on the board; leave it empty."});
  for (const TensorId id : kItemInputs)
    if (Check bad = checkTensor(state, id, *input(page, id), joined({field, attention::name(id)})))
      return bad;
  if (Check bad = checkAllLabels(field + "labels", page.labels, state.tokens)) return bad;
  return checkAllLabels(field + "key_labels", page.keyLabels, state.cross ? state.keyTokens : 0);
}

Check checkPages(const State& state) {
  const int count = state.batch > 1 ? state.batch : 0;
  if (static_cast<int>(state.pages.size()) != count)
    return refuse(Kind::range, "pages", {"there are ", state.pages.size(), "; it must be ", count, "."});
  if (state.batchItem >= state.batch)
    return refuse(Kind::range, "batch_item",
                  {state.batchItem, " is no item of the batch; use 0 to ", state.batch - 1, "."});
  for (std::size_t i = 0; i < state.pages.size(); ++i)
    if (Check bad = checkPage(state, i)) return bad;
  return {};
}

Check checkView(const Settings& settings) {
  if (settings.focusHead < 0 || settings.focusHead >= settings.heads)
    return refuse(Kind::range, "focus_head",
                  {settings.focusHead, " is no head here; use 0 to ", settings.heads - 1, "."});
  if (settings.step > settings.tokens)
    return refuse(Kind::range, "step",
                  {settings.step, " is more than there are tokens; use 0 to ", settings.tokens, "."});
  return {};
}

/// Every option within its own range, as set() would have it.
Check checkRanges(const Settings& settings) {
  for (const Option& o : options()) {
    if (o.type == OptionType::labels) continue;  // counted and read with the tokens
    if (Check bad = checkAlone(o, get(settings, o.id))) return bad;
  }
  return {};
}

std::int64_t countNumbers(const Settings& s) {
  const std::int64_t tokens = s.tokens, keys = s.keyTokens, model = s.modelDim;
  const std::int64_t queryWidth = std::int64_t{s.heads} * s.headDim,
                     keyWidth = std::int64_t{s.kvHeads} * s.headDim,
                     valueWidth = std::int64_t{s.kvHeads} * s.valueDim,
                     outputWidth = std::int64_t{s.heads} * s.valueDim;
  const std::int64_t words = tokens * model + (s.cross ? keys * model : 0);
  const std::int64_t projected = tokens * queryWidth + keys * (keyWidth + valueWidth);
  const std::int64_t weights = model * (queryWidth + keyWidth + valueWidth + outputWidth);
  const std::int64_t biases = s.biasKind == Bias::none ? 0 : tokens * keys * (s.biasKind == Bias::shared ? 1 : s.heads);
  const std::int64_t scoring = s.scoreWeights ? queryWidth * (2 * std::int64_t{s.headDim} + 1) : 0;
  return s.batch * (words + projected + biases) + weights + scoring;
}

bool isBeyondPositions(const Settings& s) {
  const bool isCounted =
      s.position == attention::Position::rotary || (s.position == attention::Position::sinusoidal && s.cross);
  return isCounted && s.causalOffset > Limits::tokens - s.tokens;
}

/// Options that mean nothing together. The sentence says what to do from either side.
struct Clash {
  OptionId blamed;  ///< where no option is being set
  bool (*exists)(const Settings&);
  std::string_view sentence;
};

constexpr Clash kClashes[] = {
    {OptionId::position,
     [](const Settings& s) { return s.position == attention::Position::sinusoidal && s.mode != Mode::x; },
     "sinusoidal positions are added to X; set mode to \"x\", or position to \"none\", \"rotary\" or "
     "\"alibi\"."},
    {OptionId::position,
     [](const Settings& s) { return s.position == attention::Position::rotary && s.headDim % 2 != 0; },
     "rotary positions turn columns in pairs; use an even d_k, or set position to \"none\" or \"alibi\"."},
    {OptionId::position,
     [](const Settings& s) {
       return s.position == attention::Position::rotary && s.score == attention::Score::additive;
     },
     "rotary positions turn dot products, and an additive score has none; set score to \"scaled\", or "
     "position to "
     "\"none\" or \"alibi\"."},
    {OptionId::causal_offset, isBeyondPositions,
     "the last query would stand beyond position 1024; use a smaller causal_offset, or set position to "
     "\"alibi\"."},
    {OptionId::mask_after_softmax,
     [](const Settings& s) { return s.maskAfterSoftmax && s.normalizer != attention::Normalizer::softmax; },
     "the mask cannot come after a softmax that is not there; set normalizer to \"softmax\", or "
     "mask_after_softmax to "
     "false."},
    {OptionId::hidden_heads, [](const Settings& s) { return s.heads < 64 && s.hiddenHeads >> s.heads != 0; },
     "it names a head that is not there; use those from 0 to heads - 1."},
};

}  // namespace

attention::Spec spec(const Settings& settings) {
  attention::Spec out;
  out.heads = settings.heads, out.kvHeads = settings.kvHeads;
  out.queryCount = settings.tokens, out.keyCount = settings.keyTokens;
  out.headDim = settings.headDim, out.valueDim = settings.valueDim;
  out.score = settings.score, out.scale = settings.scaleBy;
  out.softcap = settings.softcap, out.temperature = settings.temperature;
  out.normalizer = settings.normalizer, out.position = settings.position;
  out.causal = settings.causal, out.causalOffset = settings.causalOffset;
  out.windowLeft = settings.windowLeft, out.windowRight = settings.windowRight;
  // They may outlive the keys that they were set for.
  out.prefix = std::min(settings.prefix, settings.keyTokens);
  out.keyLength = std::min(settings.keyLength, settings.keyTokens);
  out.pattern = settings.pattern;
  out.maskAfterSoftmax = settings.maskAfterSoftmax;
  out.hiddenHeads = settings.hiddenHeads;
  return out;
}

attention::Inputs inputs(const State& state) {
  attention::Inputs out;
  if (state.mode == Mode::x) {
    out.x = &state.x, out.wQ = &state.wQ, out.wK = &state.wK, out.wV = &state.wV, out.wO = &state.wO;
    if (state.cross) out.xKv = &state.xKv;
  } else {
    out.q = &state.q, out.k = &state.k, out.v = &state.v;
  }
  if (takesScoreWeights(state.score)) out.wA = &state.wA;
  if (state.score == attention::Score::additive) out.uA = &state.uA, out.vA = &state.vA;
  if (!state.bias.empty()) out.bias = &state.bias;
  out.painted = &state.painted;
  return out;
}

const Tensor* input(const State& state, TensorId id) {
  switch (id) {
    case TensorId::x:
      return &state.x;
    case TensorId::w_q:
      return &state.wQ;
    case TensorId::w_k:
      return &state.wK;
    case TensorId::w_v:
      return &state.wV;
    case TensorId::w_o:
      return &state.wO;
    case TensorId::q:
      return &state.q;
    case TensorId::k:
      return &state.k;
    case TensorId::v:
      return &state.v;
    case TensorId::x_kv:
      return &state.xKv;
    case TensorId::w_a:
      return &state.wA;
    case TensorId::u_a:
      return &state.uA;
    case TensorId::v_a:
      return &state.vA;
    case TensorId::bias:
      return &state.bias;
    default:
      return nullptr;
  }
}

const Tensor* input(const Page& page, TensorId id) {
  switch (id) {
    case TensorId::x:
      return &page.x;
    case TensorId::q:
      return &page.q;
    case TensorId::k:
      return &page.k;
    case TensorId::v:
      return &page.v;
    case TensorId::x_kv:
      return &page.xKv;
    case TensorId::bias:
      return &page.bias;
    default:
      return nullptr;
  }
}

Tensor* input(Page& page, TensorId id) {
  return const_cast<Tensor*>(input(static_cast<const Page&>(page), id));
}

Tensor* input(State& state, TensorId id) {
  return const_cast<Tensor*>(input(static_cast<const State&>(state), id));
}

bool isEditable(const Settings& settings, TensorId id) {
  switch (id) {
    case TensorId::x:
    case TensorId::w_q:
    case TensorId::w_k:
    case TensorId::w_v:
    case TensorId::w_o:
      return settings.mode == Mode::x;
    case TensorId::x_kv:
      return settings.mode == Mode::x && settings.cross;
    case TensorId::q:
    case TensorId::k:
    case TensorId::v:
      return settings.mode == Mode::qkv;
    case TensorId::w_a:
      return takesScoreWeights(settings.score);
    case TensorId::u_a:
    case TensorId::v_a:
      return settings.score == attention::Score::additive;
    case TensorId::bias:
      return settings.biasKind != Bias::none;
    default:
      return false;
  }
}

bool hasInput(const Settings& settings, TensorId id) {
  if (id == TensorId::x_kv) return settings.cross;
  if (id == TensorId::bias) return settings.biasKind != Bias::none;
  return settings.scoreWeights || (id != TensorId::w_a && id != TensorId::u_a && id != TensorId::v_a);
}

std::span<const TensorId> inputIds() { return kInputs; }
std::span<const TensorId> itemInputIds() { return kItemInputs; }

const std::vector<std::string>& keyLabels(const Settings& settings) {
  return settings.cross ? settings.keyLabels : settings.labels;
}

bool isDotProduct(attention::Score score) {
  return score == attention::Score::dot || score == attention::Score::scaled;
}

bool takesScoreWeights(attention::Score score) {
  return score == attention::Score::general || score == attention::Score::additive;
}

Check checkSizes(std::string_view field, const Settings& s) {
  if (Check bad = within("tokens", s.tokens, Limits::tokens)) return bad;
  if (Check bad = within("key_tokens", s.keyTokens, Limits::tokens)) return bad;
  if (Check bad = within("heads", s.heads, Limits::heads)) return bad;
  if (Check bad = within("kv_heads", s.kvHeads, Limits::heads)) return bad;
  if (Check bad = within("d_k", s.headDim, Limits::headDim)) return bad;
  if (Check bad = within("d_v", s.valueDim, Limits::headDim)) return bad;
  if (Check bad = within("model_dim", s.modelDim, Limits::modelDim)) return bad;
  if (s.heads % s.kvHeads != 0)
    return refuse(
        Kind::range, "kv_heads",
        {s.kvHeads, " does not divide the ", s.heads, " heads; use ", orList(divisors(s.heads)), "."});
  const std::int64_t scores = std::int64_t{s.heads} * s.tokens * s.keyTokens;
  if (scores > Limits::scores)
    return refuse(Kind::memory, field,
                  {s.heads, " heads of ", s.tokens, " × ", s.keyTokens, " scores make ", scores,
                   "; use fewer heads or tokens, for at most ", Limits::scores, "."});
  const std::int64_t numbers = countNumbers(s);
  if (numbers > kMaxNumbers)
    return refuse(
        Kind::memory, field,
        {"tokens ", s.tokens, ", heads ", s.heads, ", d_k ", s.headDim, " and model_dim ", s.modelDim,
         " make inputs of ", numbers, " numbers; use smaller ones, for at most ", kMaxNumbers, "."});
  return {};
}

Check checkTogether(std::string_view field, const Settings& settings) {
  for (const Clash& clash : kClashes)
    if (clash.exists(settings))
      return refuse(Kind::range, field.empty() ? option(clash.blamed).name : field, {clash.sentence});
  return {};
}

std::ptrdiff_t firstWrong(TensorId id, std::span<const float> values) {
  const bool mayMask = id == TensorId::bias;
  const auto isWrong = [&](float v) { return !std::isfinite(v) && !(mayMask && v < 0); };
  const auto bad = std::find_if(values.begin(), values.end(), isWrong);
  return bad == values.end() ? -1 : bad - values.begin();
}

Check checkLabel(std::string_view field, std::string_view label) {
  if (label.size() > kLabelBytes) {
    std::string_view fitting = label.substr(0, clustersWithin(label, kLabelBytes));
    int characters = 0;
    for (; !fitting.empty(); ++characters) fitting.remove_prefix(clusterLength(fitting));
    return refuse(Kind::range, field,
                  {inQuotes(label), " is ", label.size(), " bytes long; use at most ", kLabelBytes,
                   characters < kLabelBytes ? joined({", which its first ", characters, " characters fill."}) : "."});
  }
  for (std::string_view rest = label; !rest.empty();) {
    const int length = utf8Length(rest);
    if (length == 0)
      return refuse(Kind::range, field, {inQuotes(label), " is not valid UTF-8; type it again."});
    const char32_t c = utf8Decode(rest);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
      return refuse(Kind::range, field, {inQuotes(label), " holds a control character; leave it out."});
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  return {};
}

Tensor parameter(const State& state, ParameterId id) {
  const Tensor& own = state.parameters[id];
  return own.empty() ? seeded(state, id) : own;
}

void setParameter(State& state, ParameterId id, Tensor numbers) {
  if (sameBits(numbers, seeded(state, id))) numbers = {};
  state.parameters[id] = std::move(numbers);
}

Check checkParameterSize(const Settings& settings, ParameterId id) {
  const ParameterShape shape = shapeOf(settings, id);
  const std::int64_t numbers = std::int64_t{shape.rows} * shape.cols;
  if (numbers <= kMaxParameterNumbers) return {};
  return refuse(Kind::memory, name(id),
                {"it has ", numbers, " numbers, and at most ", kMaxParameterNumbers,
                 " can be changed; use a smaller block_hidden or model_dim."});
}

Check check(const State& state) {
  if (Check bad = checkRanges(state)) return bad;
  if (Check bad = checkSizes("tokens", state)) return bad;
  for (const TensorId id : kInputs)
    if (Check bad = checkTensor(state, id, *input(state, id), attention::name(id))) return bad;
  for (int i = 0; i < kParameterCount; ++i)
    if (Check bad = checkParameter(state, static_cast<ParameterId>(i))) return bad;
  if (Check bad = checkAllLabels("labels", state.labels, state.tokens)) return bad;
  if (Check bad = checkAllLabels("key_labels", keyLabels(state), state.keyTokens)) return bad;
  if (Check bad = checkMask(state)) return bad;
  if (Check bad = checkPages(state)) return bad;
  if (Check bad = checkLabel("preset", state.preset)) return bad;
  if (Check bad = checkView(state)) return bad;
  return checkTogether("", state);
}

Check checkLabels(std::string_view field, std::span<const std::string> labels, int first) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (Check bad = checkLabel(joined({field, "[", static_cast<std::size_t>(first) + i, "]"}), labels[i]))
      return bad;
  return {};
}

bool sameBits(const Tensor& a, const Tensor& b) {
  return a.sameShape(b) && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool sameBits(const State& a, const State& b) {
  const auto same = [](const auto& left, const auto& right, std::span<const TensorId> ids) {
    return std::all_of(ids.begin(), ids.end(),
                       [&](TensorId id) { return sameBits(*input(left, id), *input(right, id)); });
  };
  if (!(a == b && same(a, b, kInputs))) return false;
  for (int i = 0; i < kParameterCount; ++i)
    if (!sameBits(a.parameters[static_cast<ParameterId>(i)], b.parameters[static_cast<ParameterId>(i)])) return false;
  return std::equal(a.pages.begin(), a.pages.end(), b.pages.begin(),
                    [&](const Page& left, const Page& right) { return same(left, right, kItemInputs); });
}

void copyView(Settings& settings, const Settings& from) {
  settings.theme = from.theme, settings.decimals = from.decimals, settings.focusHead = from.focusHead;
  settings.zoom = from.zoom, settings.present = from.present;
  settings.averageHeads = from.averageHeads, settings.wholeProjections = from.wholeProjections;
  settings.step = from.step, settings.experiment = from.experiment, settings.weightScale = from.weightScale;
}

void keepView(Settings& settings, const Settings& from) {
  copyView(settings, from);
  settings.focusHead = std::min(settings.focusHead, settings.heads - 1);
  settings.step = std::min(settings.step, settings.tokens);
}

}  // namespace document
