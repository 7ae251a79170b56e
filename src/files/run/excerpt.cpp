#include "files/run/excerpt.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>

#include "base/sentence.h"

namespace files {
namespace {

using base::trimmed;
using Axis = Excerpt::Axis;
using ErrorKind = Error::Kind;

constexpr std::int64_t kLargestIndex = std::int64_t{1}
                                       << 60;  ///< of an index, so that sums with sizes stay in range

std::optional<std::int64_t> indexFrom(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool isWhole = error == std::errc() && end == text.data() + text.size();
  if (!isWhole || number <= -kLargestIndex || number >= kLargestIndex) return std::nullopt;
  return number;
}

/// "7", "2:5", "2:", ":5", ":"; nothing for anything else.
std::optional<Axis> axisFrom(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    const auto index = indexFrom(text);
    if (!index) return std::nullopt;
    return Axis{*index, *index, true};
  }
  Axis axis;
  const std::string_view begin = trimmed(text.substr(0, colon)), end = trimmed(text.substr(colon + 1));
  for (const auto& [part, to] : {std::pair(begin, &axis.begin), std::pair(end, &axis.end)}) {
    if (part.empty()) continue;
    const auto number = indexFrom(part);
    if (!number) return std::nullopt;
    *to = *number;
  }
  return axis;
}

/// Counts from the end what is negative.
std::int64_t fromStart(std::int64_t at, std::int64_t size) { return at < 0 ? at + size : at; }

std::int64_t countOf(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

/// Copies the cells of a settled excerpt from its axis `at` on; returns where to continue.
float* copy(const Excerpt& excerpt, const Shape& shape, std::size_t at, const float* from, float* to) {
  if (at == shape.size()) return *to = *from, to + 1;
  std::int64_t size = 1;
  for (std::size_t i = at + 1; i < shape.size(); ++i) size *= shape[i];
  const auto& [begin, end, isIndex] = excerpt.axes[at];
  if (at + 1 == shape.size()) return std::copy(from + begin, from + end, to);
  for (std::int64_t i = begin; i < end; ++i) to = copy(excerpt, shape, at + 1, from + i * size, to);
  return to;
}

/// An error for cells that a tensor of that shape does not have.
Result<void> missing(const Axis& given, const Shape& shape, std::size_t axis, std::string_view field) {
  const std::string what = given.isIndex                ? std::to_string(given.begin)
                           : given.end == Excerpt::kEnd ? base::joined({given.begin, ":"})
                                                        : base::joined({given.begin, ":", given.end});
  return base::refuse(ErrorKind::range, field,
                      {what, given.isIndex ? " is not one" : " is no part", " of the ", shape[axis],
                       " along axis ", axis, " of the shape ", base::shapeText(shape), "; use 0 to ",
                       std::max<std::int64_t>(shape[axis] - (given.isIndex ? 1 : 0), 0), "."});
}

}  // namespace

Result<Excerpt> excerptFrom(std::string_view text, std::string_view field) {
  Excerpt excerpt;
  for (std::string_view rest = text;;) {
    const std::string_view one = trimmed(rest.substr(0, rest.find(',')));
    const bool isRest = one == "..." && excerpt.rest > excerpt.axes.size();
    const auto axis = axisFrom(one);
    if (isRest) excerpt.rest = excerpt.axes.size();
    else if (axis) excerpt.axes.push_back(*axis);
    else
      return base::refuse(
                 ErrorKind::syntax, field,
                 {base::inQuotes(one), " is neither an index nor a range such as 10:20; use, for example, ",
                  "weights[3, 1000:1100, :]."})
          .error();
    if (rest.find(',') == std::string_view::npos) return excerpt;
    rest.remove_prefix(rest.find(',') + 1);
  }
}

Result<Excerpt> settled(const Excerpt& excerpt, const Shape& shape, std::string_view field) {
  if (excerpt.axes.size() > shape.size())
    return base::refuse(ErrorKind::range, field,
                        {excerpt.axes.size(), " indices are given, and the shape ", base::shapeText(shape),
                         " has ", shape.size(), "; leave some out."})
        .error();
  Excerpt out;
  const std::size_t unnamed = shape.size() - excerpt.axes.size(),
                    rest = std::min(excerpt.rest, excerpt.axes.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t size = shape[i];
    const bool isNamed = i < rest || i >= rest + unnamed;
    const Axis given = isNamed ? excerpt.axes[i < rest ? i : i - unnamed] : Axis{0, size};
    Axis axis = given;
    axis.begin = fromStart(axis.begin, size);
    axis.end = axis.isIndex ? axis.begin + 1 : axis.end == Excerpt::kEnd ? size : fromStart(axis.end, size);
    if (axis.begin < 0 || axis.end > size || (isNamed && axis.begin >= axis.end))
      return missing(given, shape, i, field).error();
    out.axes.push_back(axis);
  }
  return out;
}

Shape shapeOf(const Excerpt& excerpt) {
  Shape shape;
  for (const auto& [begin, end, isIndex] : excerpt.axes)
    if (!isIndex) shape.push_back(end - begin);
  return shape;
}

NamedArray cut(NamedArray array, const Excerpt& excerpt) {
  const Shape shape = shapeOf(excerpt);
  if (shape == array.shape) return array;
  std::vector<float> values(static_cast<std::size_t>(countOf(shape)));
  copy(excerpt, array.shape, 0, array.values.data(), values.data());
  return {std::move(array.name), shape, std::move(values)};
}

void largestOf(std::span<const float> row, int count, float* values, float* keys) {
  const auto isBefore = [row](int a, int b) {
    const float one = row[static_cast<std::size_t>(a)], other = row[static_cast<std::size_t>(b)];
    return one != other ? one > other : a < b;
  };
  std::vector<int> best;  // a heap whose front is the last of them, with which all others are compared
  for (int i = 0; i < static_cast<int>(row.size()); ++i) {
    const bool isFull = static_cast<int>(best.size()) == count;
    if (isFull && !isBefore(i, best.front())) continue;
    if (isFull) std::pop_heap(best.begin(), best.end(), isBefore), best.back() = i;
    else best.push_back(i);
    std::push_heap(best.begin(), best.end(), isBefore);
  }
  std::sort_heap(best.begin(), best.end(), isBefore);
  for (const int key : best)
    *values++ = row[static_cast<std::size_t>(key)], *keys++ = static_cast<float>(key);
}

std::vector<NamedArray> largestOf(NamedArray array, int count) {
  const auto columns = static_cast<std::size_t>(array.shape.back());
  Shape shape = array.shape;
  shape.back() = count;
  std::vector<float> values(static_cast<std::size_t>(countOf(shape))), keys(values.size());
  for (std::size_t from = 0, to = 0; to < values.size();
       from += columns, to += static_cast<std::size_t>(count))
    largestOf({array.values.data() + from, columns}, count, values.data() + to, keys.data() + to);
  const std::string ofKeys = array.name + "_keys";
  return {{std::move(array.name), shape, std::move(values)}, {ofKeys, shape, std::move(keys), true}};
}

}  // namespace files
