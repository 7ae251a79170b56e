// The colour arithmetic on the processor. tests/desktop compares what the shader draws with it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "draw/heatmap.h"
#include "draw/reduced.h"
#include "draw/texture.h"

namespace {

draw::ColorMap ramp() {
  draw::ColorMap map;
  for (int i = 0; i < draw::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / 8.0f;
    map.stops[static_cast<std::size_t>(i)] = {t, t * t, 1.0f - t, 1.0f};
  }
  return map;
}

/// A matrix of random numbers, some of them masked, and when its rows and columns were written.
struct Matrix {
  int rows, cols;
  std::vector<float> numbers, peaks;
  std::vector<std::uint32_t> rowStamps, colStamps;
  std::uint32_t now = 1;
  std::mt19937 random{7};

  Matrix(int r, int c)
      : rows(r),
        cols(c),
        numbers(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)),
        peaks(static_cast<std::size_t>(r)),
        rowStamps(static_cast<std::size_t>(r), 1),
        colStamps(static_cast<std::size_t>(c), 1) {
    for (int i = 0; i < rows; ++i) writeRow(i);
  }
  float& at(int row, int col) {
    return numbers[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                   static_cast<std::size_t>(col)];
  }
  float any() {
    if (random() % 4 == 0) return -std::numeric_limits<float>::infinity();
    return static_cast<float>(random() % 2001) / 1000.0f - 1.0f;
  }
  void writeRow(int row) {
    for (int c = 0; c < cols; ++c) at(row, c) = any();
    rowStamps[static_cast<std::size_t>(row)] = now;
  }
  void writeCol(int col) {
    for (int r = 0; r < rows; ++r) at(r, col) = any();
    colStamps[static_cast<std::size_t>(col)] = now;
  }
  draw::Values values() {
    for (int r = 0; r < rows; ++r) {
      float& peak = peaks[static_cast<std::size_t>(r)] = 0;
      for (int c = 0; c < cols; ++c)
        peak = std::isfinite(at(r, c)) ? std::max(peak, std::fabs(at(r, c))) : peak;
    }
    return {numbers.data(), rows, cols, cols, now, {true, 1, rowStamps.data(), colStamps.data()},
            peaks.data()};
  }
};

/// Is a cell one of those that a pixel stands for? Its middle lies in it; where no middle does, it is the one
/// that the pixel's own lies in.
bool isOf(int cell, int pixel, float pitch, int count) {
  const auto middle = [pitch](int c) { return (static_cast<float>(c) + 0.5f) * pitch; };
  const auto lies = [&](int c) {
    return middle(c) >= static_cast<float>(pixel) && middle(c) < static_cast<float>(pixel + 1);
  };
  if (lies(cell)) return true;
  for (int c = 0; c < count; ++c)
    if (lies(c)) return false;
  return cell == std::min(static_cast<int>(static_cast<float>(pixel) / pitch + 0.5f), count - 1);
}

/// What a pixel shows, by looking at every cell of the matrix.
float lookedUp(Matrix& m, const draw::Heatmap& look, float pitch, int y, int x) {
  float farthest = 0, most = -1, sum = 0, count = 0;
  for (int r = 0; r < m.rows; ++r) {
    if (!isOf(r, y, pitch, m.rows)) continue;
    for (int c = 0; c < m.cols; ++c) {
      if (!isOf(c, x, pitch, m.cols) || m.at(r, c) < draw::kMasked) continue;
      const float factor = look.scale == draw::Scale::row
                               ? look.high / std::max(m.peaks[static_cast<std::size_t>(r)], 1e-30f)
                               : 1.0f;
      const float value = m.at(r, c) * factor;
      sum += value, ++count;
      most = std::max(most, std::fabs(value));
      if (std::fabs(value) == most) farthest = value;
    }
  }
  if (count == 0) return draw::kMinusInfinity;
  return look.mean ? sum / count : farthest;
}

/// The first pixel that is not as it should be, or "".
std::string wrongPixel(Matrix& m, const draw::Heatmap& look, float pitch, const draw::Values& pixels,
                       const draw::Reduced::Window& window = {}) {
  for (int y = 0; y < pixels.rows; ++y) {
    for (int x = 0; x < pixels.cols; ++x) {
      const float have = pixels.data[y * pixels.stride + x],
                  want = lookedUp(m, look, pitch, y + window.rows.first, x + window.cols.first);
      // Of two that are as far from 0 either may be shown.
      const bool isSame = look.mean ? std::fabs(have - want) < 1e-5f : std::fabs(have) == std::fabs(want);
      if (!isSame && have != want)
        return std::to_string(y) + ", " + std::to_string(x) + ": " + std::to_string(have) + " for " +
               std::to_string(want);
    }
  }
  return "";
}

draw::Reduced::Window allOf(const Matrix& m, float pitch) {
  const auto pixels = [pitch](int count) {
    return static_cast<int>(std::ceil(static_cast<float>(count) * pitch));
  };
  return {{0, pixels(m.rows)}, {0, pixels(m.cols)}};
}

draw::Values reduceAll(draw::Reduced& reduced, Matrix& m, const draw::Heatmap& look, float pitch) {
  return reduced.update(m.values(), look, pitch, allOf(m, pitch));
}

}  // namespace

TEST_CASE(
    "cells smaller than a pixel: the pixel shows the number farthest from 0, or the mean, also after edits") {
  for (const float pitch : {0.99f, 0.75f, 0.5f, 0.29f, 0.0625f, 0.01f}) {
    for (const draw::Scale scale : {draw::Scale::linear, draw::Scale::row}) {
      for (const bool mean : {false, true}) {
        if (mean && scale == draw::Scale::row) continue;
        CAPTURE(pitch);
        CAPTURE(static_cast<int>(scale));
        CAPTURE(mean);
        Matrix m(37, 53);
        draw::Heatmap look;
        look.scale = scale, look.mean = mean, look.high = 0.8f;
        draw::Reduced reduced;
        for (int edit = 0; edit < 6; ++edit) {
          const draw::Values pixels = reduceAll(reduced, m, look, pitch);
          REQUIRE(pixels.rows == static_cast<int>(std::ceil(37 * pitch)));
          REQUIRE(pixels.cols == static_cast<int>(std::ceil(53 * pitch)));
          REQUIRE(wrongPixel(m, look, pitch, pixels) == "");
          ++m.now;
          if (edit % 2 == 0) m.writeRow(5 + 6 * edit);
          if (edit % 3 == 0) m.writeCol(3 + 9 * edit);
        }
        look.high = 0.5f,
        look.mean = !mean && scale == draw::Scale::linear;  // another look of the same numbers
        const std::uint64_t before = reduceAll(reduced, m, look, pitch).revision;
        REQUIRE(wrongPixel(m, look, pitch, reduceAll(reduced, m, look, pitch)) == "");
        CHECK(reduceAll(reduced, m, look, pitch).revision == before);  // nothing new, nothing made
        // Of a part the same pixels, also after edits.
        draw::Reduced::Window part = allOf(m, pitch);
        part.rows.first = part.rows.end / 3, part.cols.end -= part.cols.end / 4;
        for (const int row : {2, 30}) {
          const draw::Values pixels = reduced.update(m.values(), look, pitch, part);
          REQUIRE(pixels.rows == part.rows.size());
          REQUIRE(pixels.cols == part.cols.size());
          REQUIRE(wrongPixel(m, look, pitch, pixels, part) == "");
          ++m.now, m.writeRow(row);
        }
      }
    }
  }
}

TEST_CASE(
    "cells smaller than a pixel: an edit of one row or column tells of the pixels that it is in, and of no "
    "others") {
  for (const draw::Scale scale : {draw::Scale::linear, draw::Scale::row}) {
    CAPTURE(static_cast<int>(scale));
    Matrix m(37, 53);
    draw::Heatmap look;
    look.scale = scale, look.high = 0.8f;
    draw::Reduced reduced;
    draw::Values pixels = reduceAll(reduced, m, look, 0.5f);
    for (int edit = 0; edit < 12; ++edit) {
      const std::vector<float> before(pixels.data, pixels.data + pixels.rows * pixels.cols);
      const std::uint64_t revision = pixels.revision;
      ++m.now;
      const bool isRow = edit % 2 == 0;
      isRow ? m.writeRow(3 * edit) : m.writeCol(4 * edit);
      pixels = reduceAll(reduced, m, look, 0.5f);
      REQUIRE(pixels.written.isTold);
      int told = 0, untold = 0;
      for (int y = 0; y < pixels.rows; ++y)
        for (int x = 0; x < pixels.cols; ++x) {
          const bool isTold = pixels.written.whole > revision || pixels.written.rows[y] > revision ||
                              pixels.written.cols[x] > revision;
          told += isTold;
          const auto at = static_cast<std::size_t>(y * pixels.cols + x);
          untold += !isTold && pixels.data[at] != before[at];
        }
      CHECK(untold == 0);
      // Relative to the largest of each row, a column may have changed all.
      const bool isAll = !isRow && scale == draw::Scale::row;
      CHECK(told == (isAll ? pixels.rows * pixels.cols : isRow ? pixels.cols : pixels.rows));
    }
  }
}

TEST_CASE("a colour map gives its stops at eighths and mixes between them") {
  const draw::ColorMap map = ramp();
  for (int i = 0; i < draw::ColorMap::kStops; ++i)
    CHECK(draw::at(map, static_cast<float>(i) / 8.0f) == map.stops[static_cast<std::size_t>(i)]);
  const draw::Color between = draw::at(map, 1.0f / 16.0f);
  CHECK(between.r == doctest::Approx(0.0625f));
  CHECK(between.g == doctest::Approx(0.5f / 64.0f));
  CHECK(between.b == doctest::Approx(0.9375f));
}

TEST_CASE("a colour map clamps, and NaN gives the first stop") {
  const draw::ColorMap map = ramp();
  CHECK(draw::at(map, -3.0f) == map.stops.front());
  CHECK(draw::at(map, 1e30f) == map.stops.back());
  CHECK(draw::at(map, std::numeric_limits<float>::infinity()) == map.stops.back());
  CHECK(draw::at(map, std::numeric_limits<float>::quiet_NaN()) == map.stops.front());
}

TEST_CASE("contrast is that of WCAG 2.2") {
  const draw::Color white{1, 1, 1, 1}, black{0, 0, 0, 1},
      grey{0x76 / 255.0f, 0x76 / 255.0f, 0x76 / 255.0f, 1};
  CHECK(draw::contrast(black, white) == doctest::Approx(21.0));
  CHECK(draw::contrast(white, black) == doctest::Approx(21.0));
  CHECK(draw::contrast(grey, grey) == doctest::Approx(1.0));
  CHECK(draw::contrast(grey, white) ==
        doctest::Approx(4.54).epsilon(0.01));  // #767676, a grey known to have 4.5 : 1 on white
}
