#include "files/run/attention_limits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/sentence.h"

namespace files::layer {
namespace {

using std::to_string;
using ErrorKind = Error::Kind;

bool hasHeads(const Array& mask) { return mask.shape.size() >= 3 && mask.shape[mask.shape.size() - 3] != 1; }

constexpr std::int64_t kTraceMatrices = 8;  ///< the largest number of score matrices in a Trace

bool asksDerived(const RunRequest& request) {
  return std::any_of(request.outputs.begin(), request.outputs.end(), isDerived);
}

std::int64_t maskBytes(const Array& mask, const Problem& problem) {
  Shape shape = mask.shape;
  shape.back() = problem.keys();
  return times(countOf(shape), isPainted(mask) ? 1 : 4);
}

Result<void> checkMost(std::string_view field, std::int64_t have, const char* what, std::int64_t most) {
  if (have <= most) return {};
  return base::refuse(ErrorKind::range, field,
                      {to_string(have), " ", what,
                       " are too many for these options and outputs; give at most ", to_string(most), "."});
}

/// Checks that the block and hierarchical attention can be computed; the sizes are known to be within those
/// of the board.
Result<void> checkDerived(const TensorsFile& file, const Problem& problem) {
  const document::Settings settings = settingsOf(problem);
  const std::int64_t width = problem.q.heads * problem.v.columns;
  if (auto ok = checkMost("v.shape", width, "columns of all heads", attention::Limits::modelDim); !ok)
    return ok;
  for (const auto& [field, tokens] :
       {std::pair("q.shape", problem.q.rows), std::pair("k.shape", problem.keys())})
    if (tokens == 0)
      return base::refuse(
          ErrorKind::range, field,
          {"there are no tokens, and nothing around the layer to compute; give at least one."});
  if (settings.segments.by == document::SegmentBy::punctuation)
    return base::refuse(ErrorKind::range, fieldOf(problem.options, "segment_by"),
                        {"\"punctuation\" ends segments at labels, and q, k and v have none; use \"tokens\", "
                         "or give a state."});
  for (std::size_t i = 0; i < file.parameters.size(); ++i)
    if (const auto& array = file.parameters[i])
      if (auto ok = document::checkShape(settings, static_cast<document::ParameterId>(i), array->shape); !ok)
        return ok;
  return {};
}

Result<void> checkTraced(const TensorsFile& file, const Problem& problem, const RunRequest& request) {
  using attention::Limits;
  if (request.kernel)
    return base::refuse(ErrorKind::range, "--kernel",
                        {"a layer with these options or outputs is computed as the board does, by its "
                         "fastest kernel; leave it out."});
  // The layer alone is limited only by memory; what surrounds it has the limits of the board.
  const int tokens = asksDerived(request) ? Limits::modelTokens : Limits::longest,
            columns = asksDerived(request) ? Limits::headDim : Limits::longest;
  if (auto ok = checkMost("q.shape", problem.q.rows, "tokens", tokens); !ok) return ok;
  if (auto ok = checkMost("k.shape", problem.keys(), "tokens", tokens); !ok) return ok;
  if (auto ok = checkMost("q.shape", problem.q.heads, "heads", Limits::heads); !ok) return ok;
  if (auto ok = checkMost("q.shape", problem.q.columns, "columns", columns); !ok) return ok;
  if (auto ok = checkMost("v.shape", problem.v.columns, "columns", columns); !ok) return ok;
  const document::Settings& shared = problem.options.shared;
  if (shared.position == attention::Position::sinusoidal)
    return base::refuse(ErrorKind::range, fieldOf(problem.options, "position"),
                        {"sinusoidal positions are added to X, and there is q instead; use \"rotary\", "
                         "\"alibi\" or \"none\", or give x and its weights."});
  if (shared.maskAfterSoftmax && file.mask && isPainted(*file.mask) && hasHeads(*file.mask))
    return base::refuse(ErrorKind::range, "mask.shape",
                        {base::shapeText(file.mask->shape),
                         " has a mask for every head, and after the softmax one is for "
                         "all; give one, or numbers to be added."});
  document::Settings together = settingsOf(problem);
  if (!asksDerived(request))
    together.tokens = 1, together.causalOffset = 0;  // positions may exceed those of the board
  if (auto ok = document::checkTogether("", together); !ok)
    return inField(ok.error(), fieldOf(problem.options, ok.error().field));
  return asksDerived(request) ? checkDerived(file, problem) : Result<void>();
}

// ---- memory

std::string bytesText(std::int64_t bytes) {
  constexpr std::int64_t mega = 1'000'000, giga = 1000 * mega, tera = 1000 * giga;
  if (bytes >= 1000 * tera) return "more than 1000 TB";
  if (bytes >= tera) return to_string(bytes / tera) + " TB";
  return bytes >= 10 * giga ? to_string(bytes / giga) + " GB" : to_string((bytes + mega - 1) / mega) + " MB";
}

std::int64_t freeMemory(const RunRequest& request) { return request.freeMemory ? request.freeMemory() : 0; }

Result<void> checkMemory(const TensorsFile& file, const Problem& problem, std::span<const Wanted> wanted,
                         const RunRequest& request) {
  std::int64_t largest = 0, total = 0;
  std::string largestName;
  const auto add = [&](std::string_view what, std::int64_t bytes) {
    if (bytes > largest) largest = bytes, largestName = what;
    total = std::min(kMostCount, total + bytes);
  };
  for (const Wanted& one : wanted) {
    const std::int64_t rows = one.shape.back() > 0 ? countOf(shapeOf(one.excerpt)) / one.shape.back() : 0;
    add(name(one.id),
        times(one.top > 0 && one.isByRows ? times(rows, 2 * one.top)
                                          : countOf(one.isByRows ? shapeOf(one.excerpt) : one.shape),
              4));
  }
  if (isTraced(problem.options, request))
    add("scores", times(countOf({problem.q.heads, problem.q.rows, problem.keys()}), 4 * kTraceMatrices));
  if (file.mask) add("mask", maskBytes(*file.mask, problem));
  if (file.pastK) add("past_k and k", times(countOf(outputShape(OutputId::present_k, problem)), 4));
  if (file.pastV) add("past_v and v", times(countOf(outputShape(OutputId::present_v, problem)), 4));
  constexpr std::int64_t most = std::int64_t{1} << 46;  // no address space is larger
  const std::int64_t free = freeMemory(request);
  if (total <= (free > 0 ? free : most)) return {};
  return base::refuse(
      ErrorKind::memory, largestName,
      {to_string(problem.q.batch), " × ", to_string(problem.q.heads), " heads × ", to_string(problem.q.rows),
       " queries × ", to_string(problem.keys()), " keys take ", bytesText(total), ", and ",
       free > 0 ? base::message({bytesText(free), std::string_view()}) : base::Message(),
       free > 0 ? " are free" : "no machine has them", "; give fewer tokens, or ask for fewer outputs."});
}

}  // namespace

bool isDerived(OutputId id) { return attention::kDerivedTensors.contains(id); }

bool isTraced(const Options& options, const RunRequest& request) {
  if (asksDerived(request)) return true;
  document::Settings settings = options.shared;
  settings.keyTokens = settings.prefix;  // assume a prefix within the number of keys, which is not known here
  return !attention::isPlain(document::spec(settings));
}

Shape outputShape(OutputId id, const Problem& problem) {
  const View& q = problem.q;
  const bool isPacked = problem.options.isPacked;
  if (isDerived(id)) {
    const document::ParameterShape size = document::shapeOf(settingsOf(problem), id);
    const bool isBatch = problem.rank == (isPacked ? 3 : 4) && !document::parameterOf(id);
    return isBatch ? Shape{q.batch, size.rows, size.cols} : Shape{size.rows, size.cols};
  }
  Shape shape;
  if (id == OutputId::output && isPacked) {
    shape = {q.batch, q.rows, q.heads * problem.v.columns};
    return problem.rank == 3 ? shape : Shape(shape.begin() + 1, shape.end());
  }
  if (id == OutputId::output) shape = {q.batch, q.heads, q.rows, problem.v.columns};
  else if (id == OutputId::present_k) shape = {q.batch, problem.k.heads, problem.keys(), problem.k.columns};
  else if (id == OutputId::present_v) shape = {q.batch, problem.v.heads, problem.keys(), problem.v.columns};
  else shape = {q.batch, q.heads, q.rows, problem.keys()};
  const std::size_t rank = isPacked ? problem.rank + 1 : problem.rank;
  // A tensor without an axis of heads has one head.
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(4 - rank));
  return shape;
}

Result<void> checkRun(const TensorsFile& file, const Problem& problem, std::span<const Wanted> wanted,
                      const RunRequest& request) {
  if (isTraced(problem.options, request))
    if (auto ok = checkTraced(file, problem, request); !ok) return ok;
  return checkMemory(file, problem, wanted, request);
}

Result<void> checkMemory(const attention::Spec& spec, const RunRequest& request) {
  const std::int64_t scores = times(times(spec.heads, spec.queryCount), times(spec.keyCount, 4));
  const std::int64_t free = freeMemory(request);
  if (free > 0 && times(scores, kTraceMatrices) > free)
    return base::refuse(
        ErrorKind::memory, "tokens",
        {to_string(spec.queryCount), " with ", to_string(spec.heads), " heads take ",
         bytesText(times(scores, kTraceMatrices)), ", and ", bytesText(free), " are free; give fewer."});
  return {};
}

}  // namespace files::layer
