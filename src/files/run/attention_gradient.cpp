#include "files/run/attention_gradient.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <span>
#include <utility>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/document.h"
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
using attention::TensorId;
using ErrorKind = Error::Kind;

constexpr double kPasses =
    3;  ///< what forward and backward pass cost together, where the forward pass costs 1
constexpr const char* kHardNote = "The normaliser is a hard maximum, a step: the gradient through it is 0.";

std::string nameOf(TensorId id) { return std::string(attention::name(id)); }

/// An error of the core, with the field named as on the command line.
Error inArguments(const Error& error) {
  return {error.kind, error.field == "wrt" ? "--wrt" : "--target", error.sentence};
}

/// One layer whose gradients are computed.
struct Case {
  attention::Spec spec;
  attention::Inputs inputs;
  attention::Trace trace;
};

/// Computes the gradients of one layer. `target` is a cell of it, or null if the upstream gradients of a file
/// are used.
Result<void> differentiate(const Case& c, const attention::TargetCell* target,
                           std::vector<attention::Upstream> upstream, std::span<const TensorId> by,
                           attention::Gradients& gradients, attention::BackwardScratch& scratch) {
  attention::InputSet wanted = 0;
  for (TensorId id : by) {
    const attention::TargetCell any{TensorId::weights, 0, 0, 0};
    if (auto ok = attention::checkGradient(c.inputs, c.trace, target ? *target : any, id); !ok)
      return inArguments(ok.error());
    wanted |= attention::inputSet(id);
  }
  Tensor one;
  if (target) {
    const Tensor& of = *attention::find(c.inputs, c.trace, target->tensor);
    one = Tensor(of.heads(), of.rows(), of.cols());
    one.at(target->head, target->row, target->col) = 1.0f;
    upstream = {{target->tensor, &one}};
  }
  attention::backward({c.spec, c.inputs, c.trace}, upstream, wanted, gradients, scratch);
  return {};
}

Result<void> checkUpstream(const char* field, const std::optional<Array>& given, const Shape& shape) {
  if (!given || given->shape == shape) return {};
  return base::refuse(ErrorKind::range, std::string(field) + ".shape",
                      {base::shapeText(given->shape), " does not fit; it must be ",
                       base::shapeText(shape) + ", as attn run writes it", "."});
}

/// An error unless the gradients to start from are given exactly once, by the file or by the command line.
Result<void> checkStart(const TensorsFile& file, const GradientRequest& request) {
  const bool isGiven = file.dOutput || file.dWeights;
  if (isGiven && request.target)
    return base::refuse(
        ErrorKind::range, "--target",
        {"the file has ", file.dOutput ? "d_output" : "d_weights", " already; leave one of the two out."});
  if (!isGiven && !request.target)
    return base::refuse(
        ErrorKind::type, "d_output",
        {"it is missing; give d_output, d_weights or both, or name a cell with --target weights[0,3,2]."});
  return {};
}

// ---- q, k and v of a file

/// The shape in which `attn run` writes a tensor of the board: the output, and inputs without heads, have no
/// axis of heads.
Shape boardShape(TensorId id, const Tensor& tensor) {
  Shape shape{tensor.heads(), tensor.rows(), tensor.cols()};
  const bool isOne = id == TensorId::output || id == TensorId::x_kv || id == TensorId::x_v ||
                     id <= TensorId::w_o || document::isProjectionBias(id);
  if (isOne) shape.erase(shape.begin());
  if (document::isProjectionBias(id)) shape.erase(shape.begin());
  if (id == TensorId::sink) shape.resize(1);
  return shape;
}

/// Is it a layer of more scores than are held at once, whose gradients the kernels can compute?
bool isLong(const TensorsFile& file, const Problem& problem, const GradientRequest& request) {
  const auto isPlain = [](TensorId id) {
    return id == TensorId::q || id == TensorId::k || id == TensorId::v;
  };
  return countOf({problem.q.heads, problem.q.rows, problem.keys()}) > attention::Limits::stored &&
         !isTraced(problem.options, {}) && file.dOutput && !file.dWeights && !file.pastK &&
         std::all_of(request.by.begin(), request.by.end(), isPlain);
}

class Differentiation {
 public:
  Differentiation(TensorsFile file, const Problem& problem, const GradientRequest& request)
      : file_(std::move(file)),
        problem_(problem),
        request_(request) {
    by_ = request.by.empty() ? std::vector<TensorId>{TensorId::q, TensorId::k, TensorId::v} : request.by;
  }

  Result<GradientAnswer> run() {
    document::State state;
    static_cast<document::Settings&>(state) = settingsOf(problem_);
    if (auto ok = check(state); !ok) return ok;
    if (isLong(file_, problem_, request_)) return runLong();
    isPainted_ = file_.mask && isPainted(*file_.mask);
    if (file_.mask) maskShape_ = file_.mask->shape, mask_ = maskOf(std::move(*file_.mask), problem_);
    for (TensorId id : by_) answer_.gradients.push_back({"d_" + nameOf(id), {}, {}});
    double all = 0;
    for (std::int64_t b = 0; b < problem_.q.batch; ++b)
      all += kPasses * multiplyAdds(specOf(file_, problem_, state, b));
    Work work(request_.progress, all);
    for (std::int64_t b = 0; b < problem_.q.batch; ++b)
      if (auto ok = addItem(state, b, work); !ok) return ok;
    if (attention::mechanismOf(state.normalizer).isStep()) answer_.note = kHardNote;
    return std::move(answer_);
  }

 private:
  Result<void> check(document::State& state) {
    if (auto ok = checkStart(file_, request_); !ok) return ok;
    if (auto ok = checkUpstream("d_output", file_.dOutput, outputShape(OutputId::output, problem_)); !ok)
      return ok;
    if (auto ok = checkUpstream("d_weights", file_.dWeights, outputShape(OutputId::weights, problem_)); !ok)
      return ok;
    for (const auto& [field, tokens] :
         {std::pair("q.shape", problem_.q.rows), std::pair("k.shape", problem_.keys())})
      if (tokens == 0)
        return base::refuse(ErrorKind::range, field,
                            {"there are no tokens, and no gradient; give at least one."});
    if (request_.target && request_.target->batch >= problem_.q.batch)
      return base::refuse(ErrorKind::range, "--target",
                          {"the batch has ", problem_.q.batch, " entries; use 0 to ", problem_.q.batch - 1,
                           " for the first number."});
    if (std::find(by_.begin(), by_.end(), TensorId::bias) != by_.end() &&
        (!file_.mask || isPainted(*file_.mask)))
      return base::refuse(ErrorKind::range, "--wrt",
                          {"bias is the mask of numbers, and the file has none; name another input."});
    return readWeights(file_, state);
  }

  /// By the kernels, which hold no matrix of scores. Each head of K and V is a part of the work.
  Result<GradientAnswer> runLong() {
    KernelInputs in(file_, problem_, false, false);
    const std::int64_t group = problem_.q.heads / problem_.k.heads;
    for (const TensorId id : by_) {
      const Array& like = id == TensorId::q ? *file_.q : id == TensorId::k ? *file_.k : *file_.v;
      answer_.gradients.push_back({"d_" + nameOf(id), like.shape, {}});
      answer_.gradients.back().values.resize(static_cast<std::size_t>(countOf(like.shape)));
    }
    double all = 0;
    for (std::int64_t b = 0; b < problem_.q.batch; ++b) all += kPasses * multiplyAdds(in.call(b));
    Work work(request_.progress, all);
    kernels::Workspace workspace(0);
    for (std::int64_t b = 0; b < problem_.q.batch; ++b)
      for (std::int64_t head = 0; head < problem_.k.heads; ++head) {
        const auto at = [&](const View& view, std::int64_t first) {
          return b * view.batchStride + first * view.headStride;
        };
        kernels::Backward call;
        call.forward = partOf(in.call(b), {static_cast<int>(head), static_cast<int>(head) + 1},
                              {0, static_cast<int>(problem_.q.rows)});
        const View output = outputView();
        call.dOutput = {file_.dOutput->values.data() + at(output, head * group), output.headStride,
                        output.rowStride};
        for (std::size_t i = 0; i < by_.size(); ++i) {
          const bool isQuery = by_[i] == TensorId::q, isKey = by_[i] == TensorId::k;
          const View& view = isQuery ? problem_.q : isKey ? problem_.k : problem_.v;
          (isQuery ? call.dQ
           : isKey ? call.dK
                   : call.dV) = {answer_.gradients[i].values.data() + at(view, isQuery ? head * group : head),
                                 view.headStride, view.rowStride};
        }
        if (!kernels::backward(kernels::best(), call, workspace)) return outOfMemory().error();
        work.add(kPasses * multiplyAdds(call.forward));
      }
    return std::move(answer_);
  }

  Result<void> addItem(const document::State& state, std::int64_t b, Work& work) {
    const auto c = std::make_unique<Case>();
    c->spec = specOf(file_, problem_, state, b);
    if (auto ok = checkPosition(file_, problem_, c->spec, b); !ok) return ok;
    const Tensor q = headsOf(file_.q->values, problem_.q, b);
    const Tensor k =
        headsOf(file_.k->values, problem_.k, b, file_.pastK ? &*file_.pastK : nullptr, problem_.past);
    const Tensor v =
        headsOf(file_.v->values, problem_.v, b, file_.pastV ? &*file_.pastV : nullptr, problem_.past);
    const bool isPaintedAfter = c->spec.maskAfterSoftmax && isPainted_;
    const Tensor bias = isPaintedAfter ? Tensor() : biasOf(mask_, problem_, b);
    const attention::PaintedMask painted =
        isPaintedAfter ? paintedOf(mask_, problem_, b) : attention::PaintedMask();
    c->inputs.q = &q, c->inputs.k = &k, c->inputs.v = &v;
    if (state.scoreWeights) c->inputs.wA = &state.wA, c->inputs.uA = &state.uA, c->inputs.vA = &state.vA;
    if (state.softmaxSink) c->inputs.sink = &state.sink;
    c->inputs.bias = bias.empty() ? nullptr : &bias;
    c->inputs.painted = painted.empty() ? nullptr : &painted;
    if (auto ok = attention::validate(c->spec, c->inputs, attention::Room::memory); !ok) return ok;
    RunRequest memory;
    memory.freeMemory = request_.freeMemory;
    if (auto ok = checkMemory(c->spec, memory); !ok) return ok;
    const double all = multiplyAdds(c->spec);
    attention::Scratch forward;
    work.forward(c->spec, c->inputs, c->trace, forward, all);

    Tensor dOutput, dWeights;
    std::vector<attention::Upstream> upstream;
    if (file_.dOutput) {
      dOutput = headsOf(file_.dOutput->values, outputView(), b);
      upstream.push_back({TensorId::head_output, &dOutput});
    }
    if (file_.dWeights) {
      const View view = splitView(problem_.q.batch, problem_.q.heads, problem_.q.rows, problem_.keys());
      dWeights = headsOf(file_.dWeights->values, view, b);
      upstream.push_back({TensorId::weights, &dWeights});
    }
    attention::TargetCell target;
    const bool isHere = request_.target && request_.target->batch == b;
    if (request_.target) target = cellOf(request_.target->cell);
    if (request_.target && !isHere) upstream.clear();
    attention::Gradients gradients;
    if (auto ok = differentiate(*c, isHere ? &target : nullptr, upstream, by_, gradients, scratch_); !ok)
      return ok;
    work.add((kPasses - 1) * all);
    for (std::size_t i = 0; i < by_.size(); ++i) put(by_[i], gradients[by_[i]], b, answer_.gradients[i]);
    return {};
  }

  View outputView() const {
    const View& q = problem_.q;
    return problem_.options.isPacked ? packedView(q.batch, q.heads, q.rows, problem_.v.columns)
                                     : splitView(q.batch, q.heads, q.rows, problem_.v.columns);
  }

  /// What `attn run` calls output is the step before the layer's own output, which has the heads side by
  /// side.
  attention::TargetCell cellOf(attention::TargetCell cell) const {
    if (cell.tensor == TensorId::output)
      cell.tensor = problem_.options.isPacked ? TensorId::concat : TensorId::head_output;
    return cell;
  }

  /// Adds the gradient of one item of the batch to the result.
  void put(TensorId id, const Tensor& gradient, std::int64_t b, NamedArray& to) const {
    if (id == TensorId::q) return putHeads(gradient, problem_.q, file_.q->shape, 0, b, to);
    if (id == TensorId::k) return putHeads(gradient, problem_.k, file_.k->shape, problem_.past, b, to);
    if (id == TensorId::v) return putHeads(gradient, problem_.v, file_.v->shape, problem_.past, b, to);
    if (id == TensorId::bias) return putBias(gradient, b, to);
    const std::optional<Array>& given = id == TensorId::w_a   ? file_.wA
                                        : id == TensorId::u_a ? file_.uA
                                        : id == TensorId::v_a ? file_.vA
                                                              : file_.sink;
    to.shape = given ? given->shape : boardShape(id, gradient);
    to.values.resize(gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i)
      to.values[i] = attention::saturatingSum(to.values[i], gradient.data()[i]);
  }

  static void putHeads(const Tensor& gradient, const View& view, const Shape& shape, std::int64_t past,
                       std::int64_t b, NamedArray& to) {
    to.shape = shape;
    to.values.resize(static_cast<std::size_t>(countOf(shape)));
    for (int h = 0; h < gradient.heads(); ++h)
      for (std::int64_t r = 0; r < view.rows; ++r)
        std::copy_n(gradient.row(h, static_cast<int>(past + r)), view.columns,
                    to.values.begin() + b * view.batchStride + h * view.headStride + r * view.rowStride);
  }

  /// The mask of the file may have been broadcast: sums the gradient over the broadcast axes.
  void putBias(const Tensor& gradient, std::int64_t b, NamedArray& to) const {
    Shape full = maskShape_;
    full.insert(full.begin(), 4 - full.size(), 1);
    to.shape = maskShape_;
    to.values.resize(static_cast<std::size_t>(countOf(full)));
    const auto place = [&](std::size_t axis, std::int64_t index) { return full[axis] == 1 ? 0 : index; };
    for (int h = 0; h < gradient.heads(); ++h) {
      for (int r = 0; r < gradient.rows(); ++r) {
        const std::int64_t row = ((place(0, b) * full[1] + place(1, h)) * full[2] + place(2, r)) * full[3];
        for (int c = 0; c < gradient.cols() && c < full[3]; ++c) {
          float& cell = to.values[static_cast<std::size_t>(row + c)];
          cell = attention::saturatingSum(cell, gradient.at(h, r, c));
        }
      }
    }
  }

  TensorsFile file_;
  const Problem& problem_;
  const GradientRequest& request_;
  std::vector<TensorId> by_;
  bool isPainted_ = false;
  Shape maskShape_;
  Mask mask_;
  attention::BackwardScratch scratch_;
  GradientAnswer answer_;
};

Result<GradientAnswer> ofTensors(TensorsFile file, const GradientRequest& request) {
  const Result<Problem> problem = problemOf(file, request.settings);
  if (!problem) return problem.error();
  RunRequest run;
  // What is held of a layer is no less than its weights, or than its output.
  run.outputs = {isLong(file, *problem, request) ? OutputId::output : OutputId::weights},
  run.freeMemory = request.freeMemory;
  const auto wanted = wantedOf(*problem, run);
  if (!wanted) return wanted.error();
  if (auto ok = checkRun(file, *problem, *wanted, run); !ok) return ok;
  return Differentiation(std::move(file), *problem, request).run();
}

// ---- board

Result<GradientAnswer> ofBoard(Result<document::State> state, const TensorsFile& file,
                               const GradientRequest& request) {
  if (!state) return state.error();
  for (const Setting& setting : request.settings)
    if (auto ok = applySetting(setting, *state); !ok) return ok;
  if (auto ok = checkStart(file, request); !ok) return ok;
  if (request.target && request.target->batch > 0)
    return base::refuse(ErrorKind::range, "--target",
                        {"there is no batch; give head, row and column alone."});
  const auto c = std::make_unique<Case>();
  c->spec = document::spec(*state), c->inputs = document::inputs(*state);
  if (auto ok = attention::validate(c->spec, c->inputs); !ok) return ok;
  RunRequest memory;
  memory.freeMemory = request.freeMemory;
  if (auto ok = checkMemory(c->spec, memory); !ok) return ok;
  const double all = multiplyAdds(c->spec, c->inputs.projected() ? state->modelDim : 0);
  attention::Scratch forward;
  Work work(request.progress, kPasses * all);
  work.forward(c->spec, c->inputs, c->trace, forward, all);
  std::vector<TensorId> by = request.by;
  if (by.empty() && c->inputs.projected()) {
    for (TensorId id :
         {TensorId::x, TensorId::x_kv, TensorId::w_q, TensorId::w_k, TensorId::w_v, TensorId::w_o,
          TensorId::b_q, TensorId::b_k, TensorId::b_v, TensorId::b_o, TensorId::x_v})
      if (attention::find(c->inputs, c->trace, id)) by.push_back(id);
  } else if (by.empty()) {
    by = {TensorId::q, TensorId::k, TensorId::v};
  }
  const std::pair<TensorId, const std::optional<Array>*> given[] = {{TensorId::output, &file.dOutput},
                                                                    {TensorId::weights, &file.dWeights}};
  std::vector<Tensor> tensors;
  std::vector<attention::Upstream> upstream;
  tensors.reserve(2);
  for (const auto& [id, array] : given) {
    const Tensor& of = *attention::find(c->inputs, c->trace, id);
    if (auto ok =
            checkUpstream(id == TensorId::output ? "d_output" : "d_weights", *array, boardShape(id, of));
        !ok)
      return ok;
    if (!*array) continue;
    tensors.push_back(of);
    std::copy((*array)->values.begin(), (*array)->values.end(), tensors.back().data());
    upstream.push_back({id, &tensors.back()});
  }
  attention::Gradients gradients;
  attention::BackwardScratch scratch;
  if (auto ok = differentiate(*c, request.target ? &request.target->cell : nullptr, upstream, by, gradients,
                              scratch);
      !ok)
    return ok;
  GradientAnswer answer;
  for (TensorId id : by) {
    const auto values = gradients[id].values();
    answer.gradients.push_back(
        {"d_" + nameOf(id), boardShape(id, gradients[id]), {values.begin(), values.end()}});
  }
  if (attention::normalizerOf(c->spec).isStep()) answer.note = kHardNote;
  return answer;
}

/// The tensor of that name among the first `count`; an error with field `field` that suggests similar names.
Result<TensorId> layerTensor(const std::string& field, const std::string& name, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    const auto id = static_cast<TensorId>(i);
    if (attention::name(id) == name) return id;
    names.push_back(nameOf(id));
  }
  return base::refuse(
      ErrorKind::range, field,
      {base::inQuotes(name), " is not ", count < attention::kTensorCount ? "an input" : "a tensor",
       " of a layer; perhaps ", base::orList(base::nearest(name, names, 3)), " was meant."});
}

}  // namespace
}  // namespace layer

Result<GradientTarget> gradientTargetFrom(const std::string& text) {
  const auto refused = [&] {
    return base::refuse(
        Error::Kind::range, "--target",
        {base::inQuotes(text), " is no cell; name one as weights[0,3,2]: head, row and column, from 0."});
  };
  const std::size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']') return refused();
  const Result<attention::TensorId> tensor =
      layer::layerTensor("--target", text.substr(0, open), attention::kTensorCount);
  if (!tensor) return tensor.error();
  std::vector<int> places;
  const char *at = text.data() + open + 1, *end = text.data() + text.size() - 1;
  for (;;) {
    int place = 0;
    const auto [next, error] = std::from_chars(at, end, place);
    if (error != std::errc() || place < 0) return refused();
    places.push_back(place);
    if (next == end) break;
    if (*next != ',') return refused();
    at = next + 1;
    while (at < end && *at == ' ') ++at;
  }
  if (places.size() < 3 || places.size() > 4) return refused();
  const std::size_t first = places.size() - 3;
  return GradientTarget{{*tensor, places[first], places[first + 1], places[first + 2]},
                        first ? places[0] : 0};
}

Result<std::vector<attention::TensorId>> gradientInputsFrom(const std::string& text) {
  std::vector<attention::TensorId> ids;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const Result<attention::TensorId> id =
        layer::layerTensor("--wrt", text.substr(begin, end - begin), attention::kInputCount);
    if (!id) return id.error();
    if (std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
    begin = end + 1;
  }
  return ids;
}

Result<GradientAnswer> gradient(std::string text, const GradientRequest& request) {
  Result<TensorsFile> file = readTensorsFile(text);
  if (!file) return file.error();
  if (file->isState) return layer::ofBoard(document::fromText(text, document::State{}), *file, request);
  text = {};
  return gradient(std::move(*file), request);
}

Result<GradientAnswer> gradient(TensorsFile file, const GradientRequest& request) {
  if (!file.x) return layer::ofTensors(std::move(file), request);
  TensorsFile given;
  given.dOutput = std::move(file.dOutput), given.dWeights = std::move(file.dWeights);
  if (file.x->shape.size() == 3 && file.x->shape[0] > 1)
    return base::refuse(base::Error::Kind::range, "x.shape",
                        {base::shapeText(file.x->shape), " is a batch; save one entry of it, such as ",
                         std::string_view("x[0]"), "."});
  return layer::ofBoard(stateOf(std::move(file), document::State{}), given, request);
}

}  // namespace files
