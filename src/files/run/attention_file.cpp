#include "files/run/attention_file.h"

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
#include "document/resize.h"
#include "document/text.h"
#include "files/layout/attention_options.h"
#include "files/layout/attention_problem.h"
#include "files/layout/read.h"
#include "files/run/attention_call.h"
#include "files/run/attention_limits.h"
#include "files/run/attention_rows.h"

namespace files {
namespace layer {
namespace {

namespace kernels = attention::kernels;
using attention::Tensor;
using base::inQuotes;
using ErrorKind = Error::Kind;

class Computation {
 public:
  Computation(TensorsFile file, const Problem& problem, std::span<const Wanted> wanted,
              const RunRequest& request)
      : file_(std::move(file)),
        problem_(problem),
        wanted_(wanted),
        request_(request),
        in_(file_, problem, isAsked(OutputId::present_k), isAsked(OutputId::present_v)) {}

  Result<std::vector<NamedArray>> run() {
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
      if (request_.outputs[i] == OutputId::present_k) results[i].values = std::move(in_.k);
      if (request_.outputs[i] == OutputId::present_v) results[i].values = std::move(in_.v);
    }
    return parts(std::move(results));
  }

 private:
  bool isAsked(OutputId id) const {
    return std::find(request_.outputs.begin(), request_.outputs.end(), id) != request_.outputs.end();
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

  bool compute(std::vector<NamedArray>& results) {
    const bool isEmpty =
        problem_.q.rows == 0 || problem_.keys() == 0;  // no key to see: the results are zeros
    kernels::Workspace workspace(request_.threads);
    const kernels::Kernel kernel = request_.kernel.value_or(kernels::best());
    const auto callOf = [this](std::int64_t batch) { return in_.call(batch); };
    const bool isWhole =
        std::any_of(wanted_.begin(), wanted_.end(), [](const Wanted& one) { return !one.isByRows; });
    double all = 0;
    for (std::int64_t b = 0; b < problem_.q.batch && isWhole && !isEmpty; ++b)
      all += multiplyAdds(in_.call(b));
    for (const Wanted& one : wanted_)
      if (one.isByRows && !isEmpty) all += multiplyAdds(one, callOf);
    Work work(request_.progress, all);
    for (const Wanted& one : wanted_) {
      RowResult rows(one);
      if (one.isByRows && !isEmpty && !rows.compute(callOf, kernel, workspace, work)) return false;
      byRows_.push_back(rows.take());
    }
    for (std::int64_t b = 0; b < problem_.q.batch && isWhole && !isEmpty; ++b) {
      kernels::Forward f = in_.call(b);
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
      const Tensor q = headsOf(file_.q->values, problem_.q, b), k = headsOf(in_.k, in_.kView, b),
                   v = headsOf(in_.v, in_.vView, b);
      const bool isPaintedAfter = isAfter && !in_.mask.blocked.empty();
      const Tensor bias = isPaintedAfter ? Tensor() : biasOf(in_.mask, problem_, b);
      attention::Inputs inputs;
      inputs.q = &q, inputs.k = &k, inputs.v = &v;
      if (state.scoreWeights) inputs.wA = &state.wA, inputs.uA = &state.uA, inputs.vA = &state.vA;
      if (state.softmaxSink) inputs.sink = &state.sink;
      inputs.bias = bias.empty() ? nullptr : &bias;
      const attention::PaintedMask painted =
          isPaintedAfter ? paintedOf(in_.mask, problem_, b) : attention::PaintedMask();
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
  KernelInputs in_;
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

/// The outputs of the sequence that is on the board.
Result<std::vector<NamedArray>> runOne(const document::State& state, const RunRequest& request) {
  const attention::Spec spec = document::spec(state);
  const attention::Inputs inputs = document::inputs(state);
  if (auto ok = attention::validate(spec, inputs); !ok) return ok;
  if (auto ok = checkMemory(spec, request); !ok) return ok;
  const auto trace = std::make_unique<attention::Trace>();
  attention::Scratch scratch;
  const double all = multiplyAdds(spec, inputs.projected() ? state.modelDim : 0);
  Work(request.progress, all).forward(spec, inputs, *trace, scratch, all);
  document::DerivedTensors derived(state, *trace);
  std::vector<NamedArray> results;
  if (auto ok = checkTop(request); !ok) return ok;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    const OutputId id = request.outputs[i];
    const auto found = isDerived(id) ? derived.tensor(id) : outputOf(inputs, *trace, id);
    if (!found) return found.error();
    const Tensor* tensor = *found;
    if (!tensor)
      return base::refuse(ErrorKind::range, "--outputs",
                          {base::inQuotes(attention::name(id)), " is not part of a state; ask for another."});
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

/// The outputs of all entries of a batch, which is their first axis; parameters are shared by all.
Result<std::vector<NamedArray>> runEach(document::State state, const RunRequest& request) {
  if (request.top > 0 || std::any_of(request.excerpts.begin(), request.excerpts.end(),
                                     [](const Excerpt& part) { return !part.axes.empty(); }))
    return base::refuse(ErrorKind::range, "--outputs",
                        {"of a batch of x whole outputs are written; leave the part and --top out."});
  std::vector<NamedArray> results;
  for (int b = 0; b < state.batch; ++b) {
    document::showItem(state, b);
    auto own = runOne(state, request);
    if (!own) return own;
    for (std::size_t i = 0; i < own->size(); ++i) {
      NamedArray& one = (*own)[i];
      const bool isShared = document::parameterOf(request.outputs[i]).has_value();
      if (!isShared && b == 0) one.shape.insert(one.shape.begin(), state.batch);
      if (b == 0) results.push_back(std::move(one));
      else if (!isShared)
        results[i].values.insert(results[i].values.end(), one.values.begin(), one.values.end());
    }
  }
  return results;
}

Result<std::vector<NamedArray>> runBoard(Result<document::State> state, const RunRequest& request,
                                         bool isBatch = false) {
  if (request.kernel)
    return base::refuse(
        ErrorKind::range, "--kernel",
        {"a state is computed as the board does, by its fastest kernel; leave it out, or give q, k and v."});
  if (!state) return state.error();
  for (const Setting& setting : request.settings)
    if (auto ok = applySetting(setting, *state); !ok) return ok;
  return isBatch ? runEach(std::move(*state), request) : runOne(*state, request);
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
  if (!file.x) return layer::runTensors(std::move(file), request);
  const bool isBatch = file.x->shape.size() == 3 && file.x->shape[0] > 1;
  return layer::runBoard(stateOf(std::move(file), document::State{}), request, isBatch);
}

}  // namespace files
