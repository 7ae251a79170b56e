#include "files/attention_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/derived.h"
#include "document/document.h"
#include "document/text.h"
#include "files/attention_options.h"
#include "files/attention_problem.h"
#include "files/attention_rows.h"
#include "files/read.h"

namespace files {
namespace layer {
namespace {

namespace kernels = attention::kernels;
using attention::Tensor;
using base::inQuotes;
using ErrorKind = Error::Kind;

Result<void> outOfMemory() {
  return base::refuse(ErrorKind::memory, "memory",
                      {"there is not enough to compute this; give fewer tokens, or ask for fewer outputs."});
}

/// Past and new keys (or values) of each head, one after the other: [B, H, P + L, d].
std::vector<float> joinedPast(const std::optional<Array>& past, const Array& next, const View& view,
                              std::int64_t pastRows) {
  const std::int64_t rows = pastRows + view.rows, width = view.columns;
  std::vector<float> out(static_cast<std::size_t>(view.batch * view.heads * rows * width));
  float* to = out.data();
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t h = 0; h < view.heads; ++h) {
      if (past)
        to = std::copy_n(past->values.data() + (b * view.heads + h) * pastRows * width, pastRows * width, to);
      const float* from = next.values.data() + b * view.batchStride + h * view.headStride;
      for (std::int64_t r = 0; r < view.rows; ++r) to = std::copy_n(from + r * view.rowStride, width, to);
    }
  }
  return out;
}

kernels::In inOf(const std::vector<float>& values, const View& view, std::int64_t batch) {
  return {values.data() + batch * view.batchStride, view.headStride, view.rowStride};
}

class Computation {
 public:
  Computation(TensorsFile file, const Problem& problem, std::span<const Wanted> wanted,
              const RunRequest& request)
      : file_(std::move(file)),
        problem_(problem),
        wanted_(wanted),
        request_(request) {}

  Result<std::vector<NamedArray>> run() {
    join();
    if (file_.mask) mask_ = maskOf(std::move(*std::exchange(file_.mask, std::nullopt)), problem_);
    std::vector<NamedArray> results;
    for (const Wanted& one : wanted_) {
      NamedArray result{std::string(attention::name(one.id)), one.shape, {}};
      if (one.id != OutputId::present_k && one.id != OutputId::present_v && !one.isByRows)
        result.values.resize(static_cast<std::size_t>(countOf(one.shape)));
      results.push_back(std::move(result));
    }
    if (isTraced(problem_.options, request_)) {
      if (auto ok = trace(results); !ok) return ok;
    } else if (!compute(results)) {
      return outOfMemory();
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (request_.outputs[i] == OutputId::present_k) results[i].values = std::move(k_);
      if (request_.outputs[i] == OutputId::present_v) results[i].values = std::move(v_);
    }
    return parts(std::move(results));
  }

 private:
  bool isAsked(OutputId id) const {
    return std::find(request_.outputs.begin(), request_.outputs.end(), id) != request_.outputs.end();
  }

  /// Concatenates past and new keys and values, with an axis of heads, where that is asked for or needed.
  void join() {
    kView_ = problem_.k, vView_ = problem_.v;
    joinOne(file_.pastK, *file_.k, isAsked(OutputId::present_k), k_, kView_);
    joinOne(file_.pastV, *file_.v, isAsked(OutputId::present_v), v_, vView_);
  }

  void joinOne(std::optional<Array>& past, Array& next, bool isPresent, std::vector<float>& out, View& view) {
    const bool isApart = view.headStride != view.rows * view.columns || view.rowStride != view.columns;
    if (!past && !(isPresent && isApart)) {
      out = std::move(next.values);
      return;
    }
    out = joinedPast(past, next, view, problem_.past);
    view = splitView(view.batch, view.heads, problem_.keys(), view.columns);
    past.reset();
    next.values = {};
  }

  /// What is wanted of the results, and beside it what was computed by rows.
  std::vector<NamedArray> parts(std::vector<NamedArray> results) {
    std::vector<NamedArray> out;
    for (std::size_t i = 0; i < results.size(); ++i) {
      std::vector<NamedArray> all =
          wanted_[i].isByRows ? std::move(byRows_[i]) : partOf(std::move(results[i]), wanted_[i]);
      std::move(all.begin(), all.end(), std::back_inserter(out));
    }
    return out;
  }

  kernels::Forward call(std::int64_t batch) const {
    const Options& options = problem_.options;
    kernels::Forward f;
    f.heads = static_cast<int>(problem_.q.heads), f.kvHeads = static_cast<int>(problem_.k.heads);
    f.queryCount = static_cast<int>(problem_.q.rows), f.keyCount = static_cast<int>(problem_.keys());
    f.headDim = static_cast<int>(problem_.q.columns), f.valueDim = static_cast<int>(problem_.v.columns);
    f.q = inOf(file_.q->values, problem_.q, batch);
    f.k = inOf(k_, kView_, batch), f.v = inOf(v_, vView_, batch);
    f.scale = options.scale.value_or(
        isScaled(options) ? static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem_.q.columns)))
                          : 1.0f);
    f.softcap = options.softcap, f.temperature = options.temperature;
    f.causal = options.causal, f.windowLeft = options.windowLeft, f.windowRight = options.windowRight;
    f.keyLength = keyLength(file_, problem_, batch), f.causalOffset = firstPosition(file_, problem_, batch);
    if (!mask_.blocked.empty()) {
      f.blocked = mask_.blocked.data() + batch * mask_.batchStride;
      f.blockedHeadStride = mask_.headStride, f.blockedRowStride = mask_.rowStride;
    }
    if (!mask_.bias.empty())
      f.bias = {mask_.bias.data() + batch * mask_.batchStride, mask_.headStride, mask_.rowStride};
    return f;
  }

  bool compute(std::vector<NamedArray>& results) {
    const bool isEmpty =
        problem_.q.rows == 0 || problem_.keys() == 0;  // no key to see: the results are zeros
    kernels::Workspace workspace(request_.threads);
    const kernels::Kernel kernel = request_.kernel.value_or(kernels::best());
    const auto callOf = [this](std::int64_t batch) { return call(batch); };
    const bool isWhole =
        std::any_of(wanted_.begin(), wanted_.end(), [](const Wanted& one) { return !one.isByRows; });
    double all = 0;
    for (std::int64_t b = 0; b < problem_.q.batch && isWhole && !isEmpty; ++b) all += multiplyAdds(call(b));
    for (const Wanted& one : wanted_)
      if (one.isByRows && !isEmpty) all += multiplyAdds(one, callOf);
    Work work(request_.progress, all);
    for (const Wanted& one : wanted_) {
      RowResult rows(one);
      if (one.isByRows && !isEmpty && !rows.compute(callOf, kernel, workspace, work)) return false;
      byRows_.push_back(rows.take());
    }
    for (std::int64_t b = 0; b < problem_.q.batch && isWhole && !isEmpty; ++b) {
      kernels::Forward f = call(b);
      for (std::size_t i = 0; i < results.size(); ++i) point(f, request_.outputs[i], results[i], b);
      const bool isDone = forParts(f, workspace.threads(), [&](const kernels::Forward& part) {
        if (!kernels::forward(kernel, part, workspace)) return false;
        return work.add(multiplyAdds(part)), true;
      });
      if (!isDone) return false;
    }
    return true;
  }

  void point(kernels::Forward& f, OutputId id, NamedArray& result, std::int64_t batch) const {
    if (result.values.empty()) return;  // present_k and present_v, which are moved in at the end
    const View& q = problem_.q;
    const View scores = splitView(q.batch, q.heads, q.rows, problem_.keys());
    const View packed = packedView(q.batch, q.heads, q.rows, problem_.v.columns);
    const View split = splitView(q.batch, q.heads, q.rows, problem_.v.columns);
    const View& view = id != OutputId::output ? scores : problem_.options.isPacked ? packed : split;
    if (result.values.empty())
      return;  // computed elsewhere: past keys and values, and what surrounds the layer
    const kernels::Out out{result.values.data() + batch * view.batchStride, view.headStride, view.rowStride};
    switch (id) {
      case OutputId::output: f.output = out; break;
      case OutputId::weights: f.weights = out; break;
      case OutputId::scores: f.scores = out; break;
      case OutputId::softcapped: f.softcapped = out; break;
      case OutputId::masked: f.masked = out; break;
      case OutputId::present_k:
      case OutputId::present_v:
      default: break;
    }
  }

  /// Computes a layer by the board's engine: every layer for which isTraced() is true.
  Result<void> trace(std::vector<NamedArray>& results) const {
    if (problem_.q.rows == 0 || problem_.keys() == 0) return {};  // as in compute()
    const auto traced = std::make_unique<attention::Trace>();
    attention::Scratch scratch;
    // Everything about the layer except its inputs: the settings, and the parameters inside and around it.
    document::State state;
    static_cast<document::Settings&>(state) = settingsOf(problem_);
    if (auto ok = readWeights(file_, state); !ok) return ok;
    document::DerivedTensors derived(state, *traced);
    const bool isAfter = problem_.options.shared.maskAfterSoftmax;
    double all = 0;
    for (std::int64_t b = 0; b < problem_.q.batch; ++b)
      all += multiplyAdds(specOf(file_, problem_, state, b));
    Work work(request_.progress, all);
    for (std::int64_t b = 0; b < problem_.q.batch; ++b) {
      const attention::Spec spec = specOf(file_, problem_, state, b);
      if (auto ok = checkPosition(file_, problem_, spec, b); !ok) return ok;
      const Tensor q = headsOf(file_.q->values, problem_.q, b), k = headsOf(k_, kView_, b),
                   v = headsOf(v_, vView_, b);
      const bool isPaintedAfter = isAfter && !mask_.blocked.empty();
      const Tensor bias = isPaintedAfter ? Tensor() : biasOf(mask_, problem_, b);
      attention::Inputs inputs;
      inputs.q = &q, inputs.k = &k, inputs.v = &v;
      if (state.scoreWeights) inputs.wA = &state.wA, inputs.uA = &state.uA, inputs.vA = &state.vA;
      if (state.softmaxSink) inputs.sink = &state.sink;
      inputs.bias = bias.empty() ? nullptr : &bias;
      const attention::PaintedMask painted =
          isPaintedAfter ? paintedOf(mask_, problem_, b) : attention::PaintedMask();
      inputs.painted = painted.empty() ? nullptr : &painted;
      if (auto ok = attention::validate(spec, inputs, attention::Room::memory); !ok) return ok;
      work.forward(spec, inputs, *traced, scratch, multiplyAdds(spec));
      derived.changed();
      for (std::size_t i = 0; i < results.size(); ++i)
        if (auto ok = copyOut(*traced, derived, request_.outputs[i], results[i], b); !ok) return ok;
    }
    return {};
  }

  Result<void> copyOut(const attention::Trace& traced, document::DerivedTensors& derived, OutputId id,
                       NamedArray& result, std::int64_t batch) const {
    const Tensor* tensor = nullptr;
    if (isDerived(id)) {
      const auto found = derived.tensor(id);
      if (!found) return found.error();
      tensor = *found;
      if (document::parameterOf(id)) batch = 0;  // shared by all items
    }
    switch (id) {
      case OutputId::output: tensor = problem_.options.isPacked ? &traced.concat : &traced.headOutput; break;
      case OutputId::weights: tensor = &traced.weights; break;
      case OutputId::scores: tensor = &traced.scores; break;
      case OutputId::softcapped: tensor = &attention::cappedOf(traced); break;
      case OutputId::masked: tensor = &traced.masked; break;
      case OutputId::present_k:
      case OutputId::present_v: return {};  // taken from the keys and values themselves
      default: break;
    }
    const auto values = tensor->values();
    std::copy(values.begin(), values.end(),
              result.values.begin() + batch * static_cast<std::ptrdiff_t>(values.size()));
    return {};
  }

  TensorsFile file_;
  const Problem& problem_;
  const std::span<const Wanted> wanted_;
  const RunRequest& request_;
  std::vector<std::vector<NamedArray>> byRows_;  ///< of each output; empty where it is computed whole
  Mask mask_;
  std::vector<float> k_, v_;
  View kView_, vView_;
};

Result<std::vector<NamedArray>> runTensors(TensorsFile file, const RunRequest& request) {
  const Result<Problem> problem = problemOf(file, request.settings);
  if (!problem) return problem.error();
  const Result<std::vector<Wanted>> wanted = wantedOf(*problem, request);
  if (!wanted) return wanted.error();
  if (auto ok = checkRun(file, *problem, *wanted, request); !ok) return ok;
  return Computation(std::move(file), *problem, *wanted, request).run();
}

// ---- board

/// The tensor of the trace for an output; without a soft cap, softcapped is the scores.
const Tensor* outputOf(const attention::Inputs& inputs, const attention::Trace& trace, OutputId id) {
  if (id == OutputId::softcapped) return &attention::cappedOf(trace);
  return attention::find(inputs, trace,
                         id == OutputId::present_k   ? OutputId::k
                         : id == OutputId::present_v ? OutputId::v
                                                     : id);
}

Result<std::vector<NamedArray>> runBoard(Result<document::State> state, const RunRequest& request) {
  if (request.kernel)
    return base::refuse(
        ErrorKind::range, "--kernel",
        {"a state is computed as the board does, by its fastest kernel; leave it out, or give q, k and v."});
  if (!state) return state.error();
  for (const Setting& setting : request.settings)
    if (auto ok = applySetting(setting, *state); !ok) return ok;
  const attention::Spec spec = document::spec(*state);
  const attention::Inputs inputs = document::inputs(*state);
  if (auto ok = attention::validate(spec, inputs); !ok) return ok;
  if (auto ok = checkMemory(spec, request); !ok) return ok;
  const auto trace = std::make_unique<attention::Trace>();
  attention::Scratch scratch;
  const double all = multiplyAdds(spec, inputs.projected() ? state->modelDim : 0);
  Work(request.progress, all).forward(spec, inputs, *trace, scratch, all);
  document::DerivedTensors derived(*state, *trace);
  std::vector<NamedArray> results;
  if (auto ok = checkTop(request); !ok) return ok;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const OutputId id = request.outputs[i];
    const auto found = isDerived(id) ? derived.tensor(id) : outputOf(inputs, *trace, id);
    if (!found) return found.error();
    const Tensor* tensor = *found;
    if (!tensor)
      return base::refuse(
          ErrorKind::range, "--outputs",
          {base::inQuotes(attention::name(id)) + " is not part of a state; ask for another."});
    Shape shape{tensor->heads(), tensor->rows(), tensor->cols()};
    if (id == OutputId::output || isDerived(id)) shape.erase(shape.begin());
    const auto wanted = wantedOf(shape, request, i);
    if (!wanted) return wanted.error();
    NamedArray whole{std::string(attention::name(id)),
                     std::move(shape),
                     {tensor->values().begin(), tensor->values().end()}};
    for (NamedArray& part : partOf(std::move(whole), *wanted)) results.push_back(std::move(part));
  }
  return results;
}

}  // namespace
}  // namespace layer

std::vector<OutputId> outputIds() {
  std::vector<OutputId> ids{OutputId::output, OutputId::weights,   OutputId::scores,   OutputId::softcapped,
                            OutputId::masked, OutputId::present_k, OutputId::present_v};
  for (int i = 0; attention::kDerivedTensors[i] <= OutputId::class_probabilities; ++i)
    ids.push_back(attention::kDerivedTensors[i]);
  return ids;
}

Result<std::vector<NamedArray>> run(std::string text, const RunRequest& request) {
  Result<TensorsFile> file = readTensorsFile(text);
  if (!file) return file.error();
  if (file->isState) return layer::runBoard(document::fromText(text, document::State{}), request);
  text = {};
  return run(std::move(*file), request);
}

Result<std::vector<NamedArray>> run(TensorsFile file, const RunRequest& request) {
  if (file.x) return layer::runBoard(stateOf(std::move(file), document::State{}), request);
  return layer::runTensors(std::move(file), request);
}

}  // namespace files
