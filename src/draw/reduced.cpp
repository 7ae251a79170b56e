#include "draw/reduced.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "draw/texture.h"

namespace draw {
namespace {

constexpr std::int32_t kHidden = -1;  // the distance of a masked cell: less than that of 0

/// An integer that grows with the distance of a value from 0: its bits without the sign. GCC 12 vectorizes
/// the comparison and selection of integers, but not of floats.
std::int32_t distanceOf(float value) { return std::bit_cast<std::int32_t>(value) & 0x7fffffff; }
std::int32_t distanceOf(float value, float scaled) {
  constexpr std::uint32_t kFirstMasked = std::bit_cast<std::uint32_t>(
      kMasked);  // for negative numbers the bits, read as unsigned, grow with the magnitude
  return std::bit_cast<std::uint32_t>(value) > kFirstMasked ? kHidden : distanceOf(scaled);
}

/// Replaces each value in `best` by the cell's, scaled by `factor`, if that is farther from 0. `distances`
/// holds distanceOf() each best.
void takeFarthest(const float* cells, int count, float factor, float* best, std::int32_t* distances) {
  for (int c = 0; c < count; ++c) {
    const float scaled = cells[c] * factor;
    const std::int32_t distance = distanceOf(cells[c], scaled), most = distances[c];
    const auto before = std::bit_cast<std::int32_t>(best[c]), now = std::bit_cast<std::int32_t>(scaled);
    best[c] = std::bit_cast<float>(distance > most ? now : before);
    distances[c] = distance > most ? distance : most;
  }
}

/// Adds the cells that are not masked to `sums`, and counts them in `counts`.
void add(const float* cells, int count, float* sums, std::int32_t* counts) {
  for (int c = 0; c < count; ++c) {
    const bool isMasked = distanceOf(cells[c], cells[c]) == kHidden;
    sums[c] += isMasked ? 0.0f : cells[c];
    counts[c] += !isMasked;
  }
}

float farthest(const float* best, const std::int32_t* distances, int first, int last) {
  float found = best[first];
  std::int32_t most = distances[first];
  for (int c = first + 1; c <= last; ++c) {
    found = distances[c] > most ? best[c] : found;
    most = std::max(most, distances[c]);
  }
  return most == kHidden ? kMinusInfinity : found;
}

float mean(const float* sums, const std::int32_t* counts, int first, int last) {
  float sum = 0;
  std::int32_t count = 0;
  for (int c = first; c <= last; ++c) sum += sums[c], count += counts[c];
  return count > 0 ? sum / static_cast<float>(count) : kMinusInfinity;
}

}  // namespace

Reduced::Cells Reduced::cellsOf(int pixel, int count) const {
  const float from = static_cast<float>(pixel) / look_.pitch,
              to = static_cast<float>(pixel + 1) / look_.pitch;
  const int first = std::min(static_cast<int>(from + 0.5f), count - 1);
  return {first, std::clamp(static_cast<int>(std::ceil(to - 0.5f)) - 1, first, count - 1)};
}

void Reduced::layOut(const Look& look) {
  look_ = look;
  const auto axis = [this](int count, const Stretch& pixels, std::vector<Cells>& cells) {
    cells.clear();
    for (int pixel = pixels.first; pixel < pixels.end; ++pixel) cells.push_back(cellsOf(pixel, count));
  };
  axis(look.rows, look.window.rows, down_), axis(look.cols, look.window.cols, across_);
  best_.resize(static_cast<std::size_t>(look.cols)), distances_.resize(static_cast<std::size_t>(look.cols));
  pixels_.resize(down_.size() * across_.size());
}

/// The range of pixels in which any column may have changed.
Reduced::Cells Reduced::newerPixels(const Written& written) const {
  Cells pixels{static_cast<int>(across_.size()), -1};
  if (written.cols == nullptr) return pixels;
  for (int x = 0; x < static_cast<int>(across_.size()); ++x) {
    const auto [first, last] = across_[static_cast<std::size_t>(x)];
    const bool isNew = std::any_of(written.cols + first, written.cols + last + 1,
                                   [this](std::uint32_t at) { return at > revision_; });
    if (isNew) pixels = {std::min(pixels.first, x), x};
  }
  return pixels;
}

bool Reduced::isNewer(const Written& written, int row) const {
  const auto [first, last] = down_[static_cast<std::size_t>(row)];
  return written.rows && std::any_of(written.rows + first, written.rows + last + 1,
                                     [this](std::uint32_t at) { return at > revision_; });
}

void Reduced::reduceRow(const Values& values, int row, Cells pixels) {
  const auto [firstRow, lastRow] = down_[static_cast<std::size_t>(row)];
  const int begin = across_[static_cast<std::size_t>(pixels.first)].first,
            end = across_[static_cast<std::size_t>(pixels.last)].last + 1;
  std::fill(best_.begin() + begin, best_.begin() + end, 0.0f);
  std::fill(distances_.begin() + begin, distances_.begin() + end, look_.isMean ? 0 : kHidden);
  float* best = best_.data();
  std::int32_t* distances = distances_.data();
  for (int r = firstRow; r <= lastRow; ++r) {
    const float* cells = values.row(r) + begin;
    const float factor = look_.isByRow ? look_.high / std::max(values.rowPeaks[r], 1e-30f) : 1.0f;
    if (look_.isMean) add(cells, end - begin, best + begin, distances + begin);
    else takeFarthest(cells, end - begin, factor, best + begin, distances + begin);
  }
  float* out = pixels_.data() + static_cast<std::size_t>(row) * across_.size();
  for (int x = pixels.first; x <= pixels.last; ++x) {
    const auto [first, last] = across_[static_cast<std::size_t>(x)];
    out[x] = look_.isMean ? mean(best, distances, first, last) : farthest(best, distances, first, last);
  }
}

Values Reduced::update(const Values& values, const Heatmap& heatmap, float pitch, const Window& window) {
  const bool isByRow = heatmap.scale == Scale::row;
  const Look look{values.rows, values.cols, pitch,       isByRow ? heatmap.high : 0.0f,
                  window,      isByRow,     heatmap.mean};
  const bool isSame = look == look_ && values.data == data_;
  if (look != look_) layOut(look);
  const int height = static_cast<int>(down_.size()), width = static_cast<int>(across_.size());
  if (!isSame || values.revision != revision_) {
    const Written& written = values.written;
    const bool isTold = isSame && written.isTold && written.whole <= revision_;
    const Cells all{0, width - 1}, some = isTold ? newerPixels(written) : all;
    // A change in one column may have changed the largest value in its row.
    const bool isAll = !isTold || (isByRow && some.last >= 0);
    ++version_;
    if (isAll) whole_ = version_;
    rowsAt_.resize(down_.size()), colsAt_.resize(across_.size());
    for (int y = 0; y < height; ++y) {
      const bool isRow = isAll || isNewer(written, y);
      if (isRow) rowsAt_[static_cast<std::size_t>(y)] = version_;
      if (isRow || some.last >= 0) reduceRow(values, y, isRow ? all : some);
    }
    if (some.last >= 0) std::fill(colsAt_.begin() + some.first, colsAt_.begin() + some.last + 1, version_);
    revision_ = values.revision, data_ = values.data;
  }
  return {pixels_.data(), height, width, width, version_, {true, whole_, rowsAt_.data(), colsAt_.data()},
          nullptr};
}

}  // namespace draw
