#include "files/figure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/cividis.h"
#include "base/number.h"
#include "base/sentence.h"

namespace files {
namespace {

using base::joined;
using ErrorKind = Error::Kind;
using Anchor = Drawing::Item::Anchor;
using Colors = FigureOptions::Colors;
using Style = FigureOptions::Style;
using What = FigureOptions::What;

constexpr double kMargin = 24, kCaptionLine = 17,
                 kLetter = 6.6;      ///< the average width of a character at 13 px
constexpr int kMostShapes = 40'000;  ///< more cells than these are drawn as one image

std::string fixed(double value, int decimals = 2) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, std::abs(value));
  return (value < 0 && std::strtod(text, nullptr) != 0 ? "\u2212" : "") +
         std::string(text);  // no minus before a number that is rounded to 0
}

struct Look {
  Rgb ground, ink, muted, low, high;  ///< low and high: the colours of weights 0 and 1
  double power;                       ///< exponent applied to a weight before mixing
  Colors colors;
  std::function<std::string(std::string_view)> translated;

  /// A text in the language of the figure.
  std::string said(std::string_view english) const {
    return translated ? translated(english) : std::string(english);
  }
  std::string number(double value) const { return said(fixed(value)); }
};

Look lookOf(const FigureOptions& options) {
  // The colours of light and dark are those of the screen (views/theme.cpp).
  Look look{{{255, 255, 255}}, {{0, 0, 0}}, {{64, 64, 64}}, {{255, 255, 255}},
            {{58, 28, 104}},   0.85,        options.colors, {}};
  if (options.style == Style::dark)
    look = {{{29, 32, 38}},    {{233, 234, 236}},
            {{154, 160, 170}}, {{29, 32, 38}},
            {{167, 127, 211}}, 0.8,
            options.colors,    {}};
  if (options.style == Style::light)
    look = {{{255, 255, 255}}, {{29, 31, 35}},
            {{99, 103, 111}},  {{255, 255, 255}},
            {{136, 96, 177}},  0.8,
            options.colors,    {}};
  look.translated = options.translated;
  if (options.colors == Colors::grey) look.high = look.ink;
  if (options.colors == Colors::cividis)
    look.low = {{0, 32, 81}},
    look.high = options.style == Style::dark ? Rgb{{253, 234, 69}} : Rgb{{0, 32, 81}};
  return look;
}

Rgb colorOf(const Look& look, double weight) {
  Rgb out{};
  if (look.colors == Colors::cividis) {
    const double at = std::clamp(weight, 0.0, 1.0) * 8;
    const auto from = std::min<std::size_t>(7, static_cast<std::size_t>(at));
    for (std::size_t i = 0; i < 3; ++i)
      out[i] = base::kCividis[from][i] +
               (base::kCividis[from + 1][i] - base::kCividis[from][i]) * (at - static_cast<double>(from));
    return out;
  }
  const double t = std::pow(std::clamp(weight, 0.0, 1.0), look.power);
  for (std::size_t i = 0; i < 3; ++i) out[i] = look.low[i] + (look.high[i] - look.low[i]) * t;
  return out;
}

double widthOf(std::string_view words, double size) {
  double letters = 0;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t length = base::clusterLength(rest);
    letters += length > 2 ? 1.8 : 1;  // characters of other scripts are wider
    rest.remove_prefix(length);
  }
  return letters * kLetter * size / 13;
}

/// The data of a figure: the weights of all heads, with labels.
struct Weights {
  int heads = 0, rows = 0, cols = 0;
  std::vector<float> values;
  std::vector<std::string> queries, keys;
  int columns = 0;           ///< d_k
  std::vector<char> hidden;  ///< keys that a query does not see; empty: it sees all
  std::size_t place(int head, int row, int col) const {
    return (static_cast<std::size_t>(head) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(row)) *
               static_cast<std::size_t>(cols) +
           static_cast<std::size_t>(col);
  }
  bool isHidden(int head, int row, int col) const { return !hidden.empty() && hidden[place(head, row, col)]; }
  float at(int head, int row, int col) const { return values[place(head, row, col)]; }
};

const StateTensor* find(const StateTensors& tensors, std::string_view name) {
  for (const StateTensor& one : tensors.tensors)
    if (one.name == name) return &one;
  return nullptr;
}

Result<Weights> weightsOf(const StateTensors& tensors) {
  const StateTensor* found = find(tensors, "weights");
  if (!found || found->shape.size() < 3)
    return base::refuse(ErrorKind::range, "weights", {"there are none to draw."});
  Weights w;
  const std::size_t rank = found->shape.size();
  w.heads = static_cast<int>(found->shape[rank - 3]), w.rows = static_cast<int>(found->shape[rank - 2]),
  w.cols = static_cast<int>(found->shape[rank - 1]);
  w.values.resize(static_cast<std::size_t>(w.heads) * static_cast<std::size_t>(w.rows) *
                  static_cast<std::size_t>(w.cols));
  const std::size_t size = w.values.size() * sizeof(float),
                    from = rank > 3 && tensors.shown > 0 ? static_cast<std::size_t>(tensors.shown) * size : 0;
  if (found->bytes.size() < from + size)
    return base::refuse(ErrorKind::range, "weights", {"they are not whole."});
  std::memcpy(w.values.data(), found->bytes.data() + from, size);
  if (const StateTensor* masked = find(tensors, "masked"); masked && masked->bytes.size() >= from + size) {
    w.hidden.resize(w.values.size());
    for (std::size_t i = 0; i < w.values.size(); ++i) {
      float score = 0;
      std::memcpy(&score, masked->bytes.data() + from + i * sizeof score, sizeof score);
      w.hidden[i] = std::isinf(score) && score < 0 && w.values[i] == 0;
    }
  }
  w.queries = tensors.labels, w.keys = tensors.keyLabels.empty() ? tensors.labels : tensors.keyLabels;
  w.queries.resize(static_cast<std::size_t>(w.rows)), w.keys.resize(static_cast<std::size_t>(w.cols));
  if (const StateTensor* q = find(tensors, "q"); q && !q->shape.empty())
    w.columns = static_cast<int>(q->shape.back());
  return w;
}

double widest(const std::vector<std::string>& labels, double size) {
  double width = 0;
  for (const std::string& label : labels) width = std::max(width, widthOf(label, size));
  return width;
}

/// "Rows are queries and sum to 1; the row “it” puts 0.96 on “animal”."
std::vector<std::string> captionOf(const Look& look, const Weights& w, int head, const StateTensors& tensors,
                                   double width) {
  std::string words = "Weights ";
  bool isPlain = find(tensors, "biased") == nullptr;  // no other step than those of the formula
  for (const std::string_view other : {"\"score\"", "\"normalizer\"", "\"scale\"", "\"softcap\"",
                                       "\"temperature\"", "\"mask_after_softmax\""})
    isPlain = isPlain && tensors.options.find(other) == std::string::npos;
  if (isPlain && w.columns > 0) words += joined({"softmax(Q·Kᵀ ÷ √", w.columns, ") "});
  words += "of “";
  for (std::size_t i = 0; i < w.queries.size() && i < 24; ++i) words += (i > 0 ? " " : "") + w.queries[i];
  words = look.said(words + (w.queries.size() > 24 ? " …”." : "”."));
  int row = 0, col = 0;
  float largest = -1;
  bool isOne = true;
  for (int i = 0; i < w.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < w.cols; ++j) {
      sum += static_cast<double>(w.at(head, i, j));
      if (w.at(head, i, j) > largest &&
          (w.cols == 1 || w.keys[static_cast<std::size_t>(j)] != w.queries[static_cast<std::size_t>(i)]))
        row = i, col = j, largest = w.at(head, i, j);
    }
    isOne = isOne && (std::abs(sum - 1) < 1e-3 || sum == 0);
  }
  words +=
      " " +
      look.said(joined({isOne ? "Rows are queries and sum to 1; the row “" : "Rows are queries; the row “",
                        w.queries[static_cast<std::size_t>(row)], "” puts ",
                        fixed(static_cast<double>(w.at(head, row, col))), " on “",
                        w.keys[static_cast<std::size_t>(col)], "”."}));
  std::vector<std::string> lines(1);
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (!lines.back().empty() && widthOf(lines.back(), 12) + widthOf(word, 12) + kLetter > width)
      lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

/// Hatches, at 45°, the cells of keys that a query does not see.
void hatch(Drawing& out, double x, double y, double cell, const Rgb& color) {
  if (cell < 6) return;
  Drawing::Item& item = out.add(Drawing::Item::Kind::path);
  const double step = std::max(6.0, cell / 5), edge = cell - 1;
  item.line = {color, 0.35}, item.stroke = 0.75;
  item.isHatch = true;
  for (double at = step; at < 2 * edge; at += step)
    for (const double p : {x + std::min(at, edge), y + std::max(1.0, at - edge), x + std::max(1.0, at - edge),
                           y + std::min(at, edge)})
      item.points.push_back(p);
}

std::uint32_t pixelOf(const Rgb& color) {
  const auto part = [&](std::size_t i) { return static_cast<std::uint32_t>(std::lround(color[i])) & 255u; };
  return part(0) | part(1) << 8 | part(2) << 16 | 0xff000000u;
}

/// The weights of one head as a matrix whose top left corner is at x and y; `cell` is the size of a weight.
struct Matrix {
  const Weights& w;
  int head;
  double x, y, cell;
};

/// Draws the cells of a matrix, with their numbers if these fit.
void cells(Drawing& out, const Look& look, const Matrix& matrix, bool hasNumbers) {
  const auto& [w, head, x, y, cell] = matrix;
  const bool isImage = static_cast<std::int64_t>(w.rows) * w.cols > kMostShapes;
  std::vector<std::uint32_t> pixels;
  for (int i = 0; i < w.rows; ++i)
    for (int j = 0; j < w.cols; ++j) {
      const auto weight = static_cast<double>(w.at(head, i, j));
      const bool isHidden = w.isHidden(head, i, j);
      const Rgb color = isHidden ? look.ground : colorOf(look, weight);
      if (isImage) {
        pixels.push_back(pixelOf(color));
        continue;
      }
      if (isHidden) hatch(out, x + j * cell, y + i * cell, cell, look.muted);
      if (!isHidden && color != look.ground) {
        out.rect(x + j * cell, y + i * cell, cell, cell, color);
        if (cell >= 12) out.items.back().line = {look.ground, 1}, out.items.back().stroke = 0.5;
      }
      if (!hasNumbers || isHidden) continue;
      const bool isFaint = weight < 0.005 && look.colors != Colors::cividis;
      out.text(x + (j + 0.5) * cell, y + (i + 0.5) * cell + 3.6, look.number(weight), 10,
               isFaint ? look.muted : onColor(color), Anchor::middle)
          .isMono = true;
    }
  if (isImage) {
    Drawing::Item& item = out.add(Drawing::Item::Kind::image);
    item.x = x, item.y = y, item.width = w.cols * cell, item.height = w.rows * cell, item.columns = w.cols,
    item.pixels = std::move(pixels);
  }
  out.frame(x, y, w.cols * cell, w.rows * cell, look.ink);
}

Drawing drawingOf(std::string_view title, const Look& look, const FigureOptions& options) {
  Drawing out;
  out.title = look.said(title);
  out.ground = {look.ground, options.clear ? 0.0 : 1.0};
  return out;
}

/// "layer 3, head 2", or "head 2" where there is one layer.
std::string layerAndHead(const StateTensors& tensors, int head) {
  const std::string words = joined({"head ", head + 1});
  return tensors.isOfLayers ? joined({"layer ", tensors.shown + 1, ", ", words}) : words;
}

/// Draws the colour bar for weights from 0 to 1, as high as the matrix.
void colorBar(Drawing& out, const Look& look, double x, double y, double height) {
  constexpr int kSteps = 64;
  for (int i = 0; i < kSteps; ++i) {
    out.rect(x, y + height * i / kSteps, 14, height / kSteps + 0.5, colorOf(look, 1 - (i + 0.5) / kSteps));
    out.items.back().isCrisp = true;
  }
  out.frame(x, y, 14, height, look.ink);
  for (int i = 0; i <= 4; ++i) {
    const double at = y + height * (4 - i) / 4;
    out.line(x + 14, at, x + 18, at, look.ink);
    out.text(x + 22, at + 3.8, look.number(i / 4.0), 11, look.ink).isMono = true;
  }
}

/// Draws the sum of each row of weights beside it.
void rowSums(Drawing& out, const Look& look, const Matrix& matrix) {
  const auto& [w, head, x, y, cell] = matrix;
  const double middle = x + w.cols * cell + 24;
  out.text(middle, y - 8, "Σ", 12, look.muted, Anchor::middle);
  for (int i = 0; i < w.rows; ++i) {
    double sum = 0;
    for (int j = 0; j < w.cols; ++j) sum += static_cast<double>(w.at(head, i, j));
    out.text(middle, y + (i + 0.5) * cell + 3.6, look.number(sum), 10, look.muted, Anchor::middle).isMono =
        true;
  }
}

void title(Drawing& out, double x, const Look& look) {
  out.text(x, kMargin + 14, out.title, 15, look.ink).isBold = true;
}

/// A picture of it has no row or column that it fills in part.
Drawing wholeSized(Drawing drawing) {
  drawing.width = std::ceil(drawing.width), drawing.height = std::ceil(drawing.height);
  return drawing;
}

Drawing weightsFigure(const Weights& w, const StateTensors& tensors, const FigureOptions& options) {
  const Look look = lookOf(options);
  Drawing out =
      drawingOf(joined({"Attention weights, ", layerAndHead(tensors, options.head)}), look, options);
  const int most = std::max(w.rows, w.cols);
  const double cell = most <= 24 ? 40 : std::max(2.0, 900.0 / most);
  const bool hasLabels = options.labels && cell >= 10, hasNumbers = options.numbers && cell >= 30,
             hasSums = options.sums && cell >= 12;
  const double size = std::min(13.0, cell * 0.8),
               left = kMargin + 30 + (hasLabels ? 1.15 * widest(w.queries, size) : 0),
               slant = hasLabels ? widest(w.keys, size) * 0.71 + 14 : 0;
  const double top = kMargin + 26 + slant, width = w.cols * cell, height = w.rows * cell;
  title(out, left, look);
  if (hasLabels) {
    for (int j = 0; j < w.cols; ++j)
      out.text(left + (j + 0.5) * cell + 4, top - 6, w.keys[static_cast<std::size_t>(j)], size, look.ink)
          .angle = -45;
    for (int i = 0; i < w.rows; ++i)
      out.text(left - 8, top + (i + 0.5) * cell + size * 0.35, w.queries[static_cast<std::size_t>(i)], size,
               look.ink, Anchor::end);
  }
  const Matrix matrix{w, options.head, left, top, cell};
  cells(out, look, matrix, hasNumbers);
  out.text(left + width / 2, top + height + 22, look.said("key"), 12, look.muted, Anchor::middle);
  out.text(kMargin + 8, top + height / 2, look.said("query"), 12, look.muted, Anchor::middle).angle = -90;
  double right = left + width;
  const double overhang = hasLabels ? widest({w.keys.back()}, size) * 0.71 - cell / 2 + 10 : 0.0;
  if (hasSums) rowSums(out, look, matrix), right += 42;
  if (options.bar) {
    const double bar = std::max(right + (hasSums ? 12 : 24), left + width + overhang);
    colorBar(out, look, bar, top, height);
    right = bar + 22 + 34;
  }
  out.width = std::max(
      {right + kMargin, left + width + overhang + kMargin, left + widthOf(out.title, 16) + kMargin, 360.0});
  double y = top + height + 46;
  if (options.caption)
    for (const std::string& line : captionOf(look, w, options.head, tensors, out.width - left - kMargin))
      out.text(left, y, line, 12, look.ink), y += kCaptionLine;
  out.height = options.caption ? y + 4 : top + height + 22 + kMargin;
  return out;
}

Drawing headsFigure(const Weights& w, const StateTensors& tensors, const FigureOptions& options) {
  const Look look = lookOf(options);
  Drawing out =
      drawingOf(tensors.isOfLayers ? joined({"Attention weights of all heads of layer ", tensors.shown + 1})
                                   : "Attention weights of all heads",
                look, options);
  const int across = std::min(w.heads, 4), down = (w.heads + across - 1) / across;
  const double cell = std::clamp(160.0 / std::max(w.rows, w.cols), 0.25, 24.0), width = w.cols * cell,
               height = w.rows * cell;
  title(out, kMargin, look);
  for (int h = 0; h < w.heads; ++h) {
    const double x = kMargin + h % across * (width + 24), y = kMargin + 50 + h / across * (height + 40);
    out.text(x, y - 8, look.said(joined({"head ", h + 1})), 12, look.muted);
    cells(out, look, {w, h, x, y, cell}, false);
  }
  double right = kMargin + across * (width + 24) - 24;
  if (options.bar) colorBar(out, look, right + 24, kMargin + 50, height), right += 24 + 56;
  out.width = std::max(right + kMargin, 2 * kMargin + widthOf(out.title, 16));
  out.height = kMargin + 50 + down * (height + 40) - 40 + kMargin;
  return out;
}

/// Draws a curve from each query to each key whose width is proportional to the weight, as in Vig 2019
/// (bertviz).
Drawing arcsFigure(const Weights& w, const StateTensors& tensors, const FigureOptions& options) {
  const Look look = lookOf(options);
  Drawing out =
      drawingOf(joined({"Who attends to whom, ", layerAndHead(tensors, options.head)}), look, options);
  constexpr double size = 13, span = 280, row = 30;
  const double left =
                   kMargin +
                   std::max(options.labels ? widest(w.queries, size) : 0.0, widthOf(look.said("query"), 12)) +
                   12,
               top = kMargin + 44;
  title(out, kMargin, look);
  out.text(left - 12, top, look.said("query"), 12, look.muted, Anchor::end);
  out.text(left + span + 12, top, look.said("key"), 12, look.muted);
  for (int i = 0; i < w.rows; ++i)
    for (int j = 0; j < w.cols; ++j) {
      const auto weight = static_cast<double>(w.at(options.head, i, j));
      if (weight < 0.01) continue;
      const double y = top + (i + 1) * row, toY = top + (j + 1) * row;
      Drawing::Item& item = out.add(Drawing::Item::Kind::curve);
      item.points = {left, y, left + span / 2, y, left + span / 2, toY, left + span, toY};
      item.line = {look.high, 0.15 + 0.75 * weight}, item.stroke = 0.5 + 9 * weight;
    }
  double right = left + span + 12;
  if (options.labels) {
    for (int i = 0; i < w.rows; ++i)
      out.text(left - 12, top + (i + 1) * row + 4.5, w.queries[static_cast<std::size_t>(i)], size, look.ink,
               Anchor::end);
    for (int j = 0; j < w.cols; ++j)
      out.text(right, top + (j + 1) * row + 4.5, w.keys[static_cast<std::size_t>(j)], size, look.ink);
  }
  out.width = std::max(
      right + std::max(options.labels ? widest(w.keys, size) : 0.0, widthOf(look.said("key"), 12)) + kMargin,
      2 * kMargin + widthOf(out.title, 16));
  out.height = top + (std::max(w.rows, w.cols) + 1) * row + kMargin / 2;
  return out;
}

int indexIn(std::string_view word, std::initializer_list<std::string_view> words) {
  const auto at = std::find(words.begin(), words.end(), word);
  return at == words.end() ? -1 : static_cast<int>(at - words.begin());
}

Result<void> takeParts(std::string_view list, FigureOptions& out) {
  bool* const parts[] = {&out.labels, &out.numbers, &out.bar, &out.caption, &out.sums, &out.clear};
  for (bool* part : parts) *part = false;
  if (list == "none") return {};
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const int at = indexIn(list.substr(0, end), {"labels", "numbers", "bar", "caption", "sums", "clear"});
    if (at < 0)
      return base::refuse(ErrorKind::range, "with",
                          {base::inQuotes(list.substr(0, end)),
                           " is no part of a figure; use labels, numbers, bar, caption, sums and clear."});
    *parts[at] = true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return {};
}

}  // namespace

Result<FigureOptions> figureOptions(const FigureWords& words) {
  FigureOptions out;
  const int what = words.what.empty() ? 1 : indexIn(words.what, {"board", "weights", "heads", "arcs"}),
            style = words.style.empty() ? 2 : indexIn(words.style, {"light", "dark", "print"});
  const int colors = words.colors.empty() ? 0 : indexIn(words.colors, {"own", "cividis", "grey"});
  if (what < 0)
    return base::refuse(ErrorKind::range, "what",
                        {base::inQuotes(words.what), " is no figure; use board, weights, heads or arcs."});
  if (style < 0)
    return base::refuse(ErrorKind::range, "style",
                        {base::inQuotes(words.style), " is no style; use light, dark or print."});
  if (colors < 0)
    return base::refuse(ErrorKind::range, "colors",
                        {base::inQuotes(words.colors), " is no colour map; use own, cividis or grey."});
  out.what = static_cast<What>(what), out.style = static_cast<Style>(style),
  out.colors = static_cast<Colors>(colors);
  if (!words.scale.empty()) {
    const auto number = base::parseFloat(words.scale);
    if (!number || !(*number >= 0.1f && *number <= 20.0f))
      return base::refuse(ErrorKind::range, "scale",
                          {base::inQuotes(words.scale), " is no scale; use 0.1 to 20."});
    out.scale = *number;
  }
  if (!words.head.empty()) {
    const auto number = base::parseFloat(words.head);
    if (!number || *number != std::floor(*number) || *number < 0 || *number > 1e6f)
      return base::refuse(ErrorKind::range, "head",
                          {base::inQuotes(words.head), " is no head; count from 0."});
    out.head = static_cast<int>(*number);
  }
  if (!words.with.empty())
    if (auto ok = takeParts(words.with, out); !ok) return ok;
  return out;
}

Result<Drawing> figure(const StateTensors& tensors, const FigureOptions& options) {
  Result<Weights> w = weightsOf(tensors);
  if (!w) return w.error();
  if (options.head >= w->heads)
    return base::refuse(ErrorKind::range, "head",
                        {options.head, " is not one of ", w->heads,
                         w->heads == 1 ? " head; use 0." : " heads, which are counted from 0."});
  switch (options.what) {
    case What::board: break;
    case What::weights: return wholeSized(weightsFigure(*w, tensors, options));
    case What::heads: return wholeSized(headsFigure(*w, tensors, options));
    case What::arcs: return wholeSized(arcsFigure(*w, tensors, options));
  }
  return base::refuse(ErrorKind::range, "what", {"the board is not drawn here; use weights, heads or arcs."});
}

Result<std::string> figureSvg(const StateTensors& tensors, const FigureOptions& options) {
  const Result<Drawing> drawing = figure(tensors, options);
  if (!drawing) return drawing.error();
  return toSvg(*drawing, static_cast<double>(options.scale));
}

}  // namespace files
