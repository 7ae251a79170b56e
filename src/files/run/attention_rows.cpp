#include "files/run/attention_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/sentence.h"

namespace files::layer {
namespace {

namespace kernels = attention::kernels;
using attention::Span;
using Axis = Excerpt::Axis;
using ErrorKind = Error::Kind;

constexpr std::int64_t kHeld = std::int64_t{1} << 24;  ///< numbers of a block of rows

/// The axes [batch, heads, queries, columns] of an output; those that the file does not have are single.
std::array<Axis, 4> axesOf(const Excerpt& excerpt) {
  std::array<Axis, 4> axes;
  axes.fill({0, 1, true});
  std::copy_backward(excerpt.axes.begin(), excerpt.axes.end(), axes.end());
  return axes;
}

/// Rows that are computed at once. Those that are not wanted are only there for the others to be, bit for
/// bit, as in the whole.
struct Block {
  std::int64_t batch = 0;
  int head = 0;
  Span computed, wanted;
  std::size_t place = 0;  ///< of the first wanted row in the result
};

/// Passes each block to `each`, until that returns false; returns whether it never did. Later queries first,
/// as in forParts().
bool forBlocks(const Wanted& wanted, const std::function<bool(const Block&)>& each) {
  constexpr std::int64_t whole = kernels::kWholeRows;
  const auto [batch, heads, queries, columns] = axesOf(wanted.excerpt);
  const std::int64_t all = wanted.shape.end()[-2],
                     rows = std::max(kHeld / wanted.shape.back() / whole, std::int64_t{1}) * whole;
  const std::int64_t last = std::min((queries.end + whole - 1) / whole * whole, all);
  const auto span = [](std::int64_t begin, std::int64_t end) {
    return Span{static_cast<int>(begin), static_cast<int>(end)};
  };
  std::int64_t place = 0;
  for (std::int64_t b = batch.begin; b < batch.end; ++b)
    for (std::int64_t h = heads.begin; h < heads.end; ++h, place += queries.end - queries.begin)
      for (std::int64_t end = last; end > queries.begin;) {
        const std::int64_t begin =
            std::max((end - 1) / whole * whole + whole - rows, queries.begin / whole * whole);
        const std::int64_t first = std::max(begin, queries.begin);
        if (!each({b, static_cast<int>(h), span(begin, end), span(first, std::min(end, queries.end)),
                   static_cast<std::size_t>(place + first - queries.begin)}))
          return false;
        end = begin;
      }
  return true;
}

/// How many numbers the result has.
std::size_t countOf(const Wanted& wanted) {
  Shape shape = shapeOf(wanted.excerpt);
  if (wanted.top > 0) shape.back() = wanted.top;
  return static_cast<std::size_t>(layer::countOf(shape));
}

kernels::Out& resultOf(kernels::Forward& call, OutputId id) {
  switch (id) {
    case OutputId::scores: return call.scores;
    case OutputId::softcapped: return call.softcapped;
    case OutputId::masked: return call.masked;
    case OutputId::weights: return call.weights;
    default: return call.output;
  }
}

/// Has the output a row of numbers, one for each key, for every query?
bool isOfScores(OutputId id) {
  return id == OutputId::weights || id == OutputId::scores || id == OutputId::softcapped ||
         id == OutputId::masked;
}

}  // namespace

Result<void> checkTop(const RunRequest& request) {
  const auto& all = request.outputs;
  if (request.top == 0 || std::find(all.begin(), all.end(), OutputId::weights) != all.end()) return {};
  return base::refuse(ErrorKind::range, "--top",
                      {"it is of weights, and --outputs does not ask for them; add weights there."});
}

Result<Wanted> wantedOf(Shape shape, const RunRequest& request, std::size_t output) {
  Wanted one{request.outputs[output], std::move(shape), {}, 0, false};
  auto excerpt = settled(output < request.excerpts.size() ? request.excerpts[output] : Excerpt(), one.shape,
                         base::joined({"--outputs ", attention::name(one.id)}));
  if (!excerpt) return excerpt.error();
  one.excerpt = std::move(*excerpt);
  if (one.id == OutputId::weights) one.top = request.top;
  const Excerpt::Axis& keys = one.excerpt.axes.back();
  if (one.top > one.shape.back())
    return base::refuse(ErrorKind::range, "--top",
                        {one.top, " is more than the ", one.shape.back(), " keys; use at most as many."})
        .error();
  if (one.top > 0 && (keys.isIndex || keys.end - keys.begin != one.shape.back()))
    return base::refuse(ErrorKind::range, "--top",
                        {"it takes the largest of all keys, and --outputs names some of them; leave one of "
                         "the two out."})
        .error();
  return one;
}

Result<std::vector<Wanted>> wantedOf(const Problem& problem, const RunRequest& request) {
  if (auto ok = checkTop(request); !ok) return ok;
  std::vector<Wanted> all;
  for (std::size_t i = 0; i < request.outputs.size(); ++i) {
    auto one = wantedOf(outputShape(request.outputs[i], problem), request, i);
    if (!one) return one.error();
    const bool isPart = one->top > 0 || shapeOf(one->excerpt) != one->shape;
    const bool isOfRows = one->id == OutputId::output ? !problem.options.isPacked : isOfScores(one->id);
    one->isByRows = isPart && isOfRows && !isTraced(problem.options, request);
    all.push_back(std::move(*one));
  }
  return all;
}

std::vector<NamedArray> partOf(NamedArray whole, const Wanted& wanted) {
  NamedArray part = cut(std::move(whole), wanted.excerpt);
  if (wanted.top > 0) return largestOf(std::move(part), wanted.top);
  std::vector<NamedArray> out;
  out.push_back(std::move(part));
  return out;
}

double multiplyAdds(const Wanted& wanted, const CallOf& callOf) {
  double all = 0;
  forBlocks(wanted, [&](const Block& block) {
    all += multiplyAdds(headOf(callOf(block.batch), block.head, block.computed));
    return true;
  });
  return all;
}

RowResult::RowResult(const Wanted& wanted) : wanted_(wanted) {
  if (!wanted.isByRows) return;
  values_.resize(countOf(wanted));
  if (wanted.top > 0) keys_.resize(countOf(wanted));
}

void RowResult::keep(std::span<const float> row, std::size_t place) {
  const auto [begin, end, isIndex] = wanted_.excerpt.axes.back();
  const auto width = static_cast<std::size_t>(wanted_.top > 0 ? wanted_.top : end - begin);
  float* const to = values_.data() + place * width;
  if (wanted_.top > 0) largestOf(row, wanted_.top, to, keys_.data() + place * width);
  else std::copy(row.begin() + begin, row.begin() + end, to);
}

bool RowResult::compute(const CallOf& callOf, kernels::Kernel kernel, kernels::Workspace& workspace,
                        Work& work) {
  const auto columns = static_cast<std::size_t>(wanted_.shape.back());
  std::vector<float> numbers;
  return forBlocks(wanted_, [&](const Block& block) {
    kernels::Forward call = headOf(callOf(block.batch), block.head, block.computed);
    numbers.resize(static_cast<std::size_t>(block.computed.size()) * columns);
    resultOf(call, wanted_.id) = {numbers.data(), 0, static_cast<std::ptrdiff_t>(columns)};
    if (!kernels::forward(kernel, call, workspace)) return false;
    for (int row = block.wanted.begin; row < block.wanted.end; ++row)
      keep({numbers.data() + static_cast<std::size_t>(row - block.computed.begin) * columns, columns},
           block.place + static_cast<std::size_t>(row - block.wanted.begin));
    work.add(multiplyAdds(call));
    return true;
  });
}

std::vector<NamedArray> RowResult::take() {
  if (!wanted_.isByRows) return {};
  const std::string name(attention::name(wanted_.id));
  Shape shape = shapeOf(wanted_.excerpt);
  if (wanted_.top == 0) return {{name, shape, std::move(values_)}};
  shape.back() = wanted_.top;
  return {{name, shape, std::move(values_)}, {name + "_keys", shape, std::move(keys_), true}};
}

}  // namespace files::layer
