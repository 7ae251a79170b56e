#include "files/export/figure.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "base/cividis.h"
#include "base/number.h"
#include "base/sentence.h"
#include "files/export/figure_weights.h"

namespace files {
namespace {

using base::joined;
using ErrorKind = Error::Kind;
using Anchor = Drawing::Item::Anchor;
using Colors = FigureOptions::Colors;
using Style = FigureOptions::Style;
using What = FigureOptions::What;

constexpr double kLetter = 6.6;      ///< the average width of a character at 13 px
constexpr int kMostShapes = 40'000;  ///< more cells than these are drawn as one image
constexpr double kPage = 860;        ///< no figure for a column is higher: 9 inches
constexpr double kLeastCell = 4;     ///< smaller ones are put together, if the options say how

std::string fixed(double value, int decimals = 2) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", decimals, std::abs(value));
  return (value < 0 && std::strtod(text, nullptr) != 0 ? "\u2212" : "") +
         std::string(text);  // no minus before a number that is rounded to 0
}

/// Sizes of text and margins, in pixels.
struct Sizes {
  double margin = 24, title = 15, label = 13, axis = 12, caption = 12, tick = 11, number = 10, gap = 30;
};
/// For a column of a page, which has margins of its own: 6 to 9 points.
constexpr Sizes kInColumn{2, 12, 10.7, 10, 10.7, 9.4, 9.4, 18};

struct Look {
  Rgb ground, ink, muted, low, high;  ///< low and high: the colours at the ends of the range
  double power;                       ///< exponent applied to a weight before mixing
  Colors colors;
  std::function<std::string(std::string_view)> translated;
  Sizes sizes{};
  double from = 0, to = 1;  ///< the weights at the ends of the colours
  document::WeightScale scale = document::WeightScale::linear;

  /// Where a weight stands between the ends of the colours, 0 … 1; `largest` is that of its row. As on the
  /// screen (shaders/heatmap.frag).
  double fraction(double weight, double largest) const {
    if (scale == document::WeightScale::row) return std::clamp(weight / std::max(largest, 1e-30), 0.0, 1.0);
    const double t = std::clamp((weight - from) / (to - from), 0.0, 1.0);
    return scale == document::WeightScale::root         ? std::sqrt(t)
           : scale == document::WeightScale::fourthRoot ? std::sqrt(std::sqrt(t))
                                                        : t;
  }

  /// A text in the language of the figure.
  std::string said(base::MessageView english) const {
    return translated ? translated(english.bytes()) : english.english();
  }
  std::string number(double value) const { return said(fixed(value)); }
};

Look lookOf(const FigureOptions& options, document::WeightScale scale) {
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
  look.translated = options.translated, look.scale = scale;
  if (options.range) look.from = (*options.range)[0], look.to = (*options.range)[1];
  if (options.width > 0) look.sizes = kInColumn;
  if (options.colors == Colors::grey) look.high = look.ink;
  if (options.colors == Colors::cividis)
    look.low = {{0, 32, 81}},
    look.high = options.style == Style::dark ? Rgb{{253, 234, 69}} : Rgb{{0, 32, 81}};
  return look;
}

/// The colour at a place between the ends, 0 … 1.
Rgb colorOf(const Look& look, double fraction) {
  Rgb out{};
  if (look.colors == Colors::cividis) {
    const double at = fraction * 8;
    const auto from = std::min<std::size_t>(7, static_cast<std::size_t>(at));
    for (std::size_t i = 0; i < 3; ++i)
      out[i] = base::kCividis[from][i] +
               (base::kCividis[from + 1][i] - base::kCividis[from][i]) * (at - static_cast<double>(from));
    return out;
  }
  const double t = std::pow(fraction, look.power);
  for (std::size_t i = 0; i < 3; ++i) out[i] = look.low[i] + (look.high[i] - look.low[i]) * t;
  return out;
}

double widthOf(std::string_view words, double size) {
  double letters = 0;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t length = base::clusterLength(rest);
    const bool isBroad = std::string_view("MWmw").find(rest[0]) != std::string_view::npos;
    letters += length > 2 ? 1.8 : isBroad ? 1.5 : 1;  // characters of other scripts are wider
    rest.remove_prefix(length);
  }
  return letters * kLetter * size / 13;
}

/// Of every so many labels.
double widest(const std::vector<std::string>& labels, double size, int step) {
  double width = 0;
  for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(step))
    width = std::max(width, widthOf(labels[i], size));
  return width;
}

/// The words in lines of at most that width.
std::vector<std::string> linesOf(std::string_view words, double size, double width) {
  std::vector<std::string> lines;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (lines.empty() || 1.12 * (widthOf(lines.back(), size) + widthOf(word, size)) + kLetter > width)
      lines.emplace_back(word);
    else lines.back() += joined({" ", word});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

/// "softmax(Q·Kᵀ ÷ √3)", or nothing if other steps than those of the formula were taken.
std::string formulaOf(const FigureWeights& w, const StateTensors& tensors) {
  bool isPlain = w.columns > 0;
  for (const StateTensor& one : tensors.tensors) isPlain = isPlain && one.name != "biased";
  for (const std::string_view other : {"\"score\"", "\"normalizer\"", "\"scale\"", "\"softcap\"",
                                       "\"temperature\"", "\"mask_after_softmax\""})
    isPlain = isPlain && tensors.options.find(other) == std::string::npos;
  return isPlain ? joined({"softmax(Q·Kᵀ ÷ √", w.columns, ")"}) : std::string();
}

/// "Rows are queries and sum to 1; the row “it” puts 0.96 on “animal”."
std::string largestOf(const Look& look, const FigureWeights& w, int head) {
  int row = 0, col = 0;
  float largest = -1;
  bool isOne = true;
  for (int i = 0; i < w.rows; ++i) {
    for (int j = 0; j < w.cols; ++j)
      if (w.at(head, i, j) > largest &&
          (w.cols == 1 || w.keys[static_cast<std::size_t>(j)] != w.queries[static_cast<std::size_t>(i)]))
        row = i, col = j, largest = w.at(head, i, j);
    const double sum = w.rowSum(head, i);
    isOne = isOne && (std::abs(sum - 1) < 1e-3 || sum == 0);
  }
  return look.said(base::message(
      {isOne ? "Rows are queries and sum to 1; the row “" : "Rows are queries; the row “",
       w.queries[static_cast<std::size_t>(row)], "” puts ", fixed(static_cast<double>(w.at(head, row, col))),
       " on “", w.keys[static_cast<std::size_t>(col)], "”."}));
}

/// What else a reader has to know of the colours and cells.
std::string scaleNote(const Look& look, const FigureWeights& drawn, FigureOptions::Pool pool) {
  std::string words;
  if (look.scale == document::WeightScale::root)
    words += " " + look.said("Colours follow the square root of the weight.");
  if (look.scale == document::WeightScale::fourthRoot)
    words += " " + look.said("Colours follow the fourth root of the weight.");
  if (look.scale == document::WeightScale::row)
    words += " " + look.said("Colours are relative to the largest weight of each row.");
  if (drawn.block > 1)
    words += " " + look.said(base::message({pool == FigureOptions::Pool::max ? "A cell is the largest of "
                                                                             : "A cell is the mean of ",
                                            drawn.block, " × ", drawn.block, " weights."}));
  return words;
}

/// `w` has one cell for each weight, `drawn` those of the figure.
std::string captionOf(const Look& look, const FigureWeights& w, const FigureWeights& drawn,
                      const StateTensors& tensors, const FigureOptions& options) {
  std::string words;
  const std::size_t most = tensors.isNumbered ? 1 : 24;
  for (std::size_t i = 0; i < w.queries.size() && i < most; ++i) words += (i > 0 ? " " : "") + w.queries[i];
  if (w.queries.size() > most) words += tensors.isNumbered ? " … " + w.queries.back() : " …";
  const std::string formula = formulaOf(w, tensors);
  const base::Message of = formula.empty() ? base::message({"Weights of “", words, "”."})
                                           : base::message({"Weights ", formula, " of “", words, "”."});
  return joined({look.said(of), " ", largestOf(look, w, options.head), scaleNote(look, drawn, options.pool)});
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
  const FigureWeights& w;
  int head;
  double x, y, cell;
};

bool hasRoomForNumbers(const Look& look, double cell) { return cell >= look.sizes.number * 2.4; }

/// Draws the cells of a matrix, with their numbers if these fit.
void cells(Drawing& out, const Look& look, const Matrix& matrix, bool hasNumbers) {
  const auto& [w, head, x, y, cell] = matrix;
  const bool isImage = static_cast<std::int64_t>(w.rows) * w.cols > kMostShapes;
  std::vector<std::uint32_t> pixels;
  for (int i = 0; i < w.rows; ++i) {
    const double largest = look.scale == document::WeightScale::row ? w.rowMaximum(head, i) : 0;
    for (int j = 0; j < w.cols; ++j) {
      const auto weight = static_cast<double>(w.at(head, i, j));
      const bool isHidden = w.isHidden(head, i, j);
      const Rgb color = isHidden ? look.ground : colorOf(look, look.fraction(weight, largest));
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
      const double size = look.sizes.number;
      out.text(x + (j + 0.5) * cell, y + (i + 0.5) * cell + size * 0.36, look.number(weight), size,
               isFaint ? look.muted : onColor(color), Anchor::middle)
          .isMono = true;
    }
  }
  if (isImage) {
    Drawing::Item& item = out.add(Drawing::Item::Kind::image);
    item.x = x, item.y = y, item.width = w.cols * cell, item.height = w.rows * cell, item.columns = w.cols,
    item.pixels = std::move(pixels);
  }
  out.frame(x, y, w.cols * cell, w.rows * cell, look.ink);
}

/// Draws the label of every so many keys above a matrix, at 45°, and of queries to its left.
void keyLabels(Drawing& out, const Look& look, const Matrix& matrix, double size, int step) {
  for (int j = 0; j < matrix.w.cols; j += step)
    out.text(matrix.x + (j + 0.5) * matrix.cell + size * 0.31, matrix.y - size * 0.46,
             matrix.w.keys[static_cast<std::size_t>(j)], size, look.ink)
        .angle = -45;
}
void queryLabels(Drawing& out, const Look& look, const Matrix& matrix, double size, int step) {
  for (int i = 0; i < matrix.w.rows; i += step)
    out.text(matrix.x - size * 0.62, matrix.y + (i + 0.5) * matrix.cell + size * 0.35,
             matrix.w.queries[static_cast<std::size_t>(i)], size, look.ink, Anchor::end);
}

Drawing drawingOf(base::MessageView title, const Look& look, const FigureOptions& options) {
  Drawing out;
  out.title = options.title ? *options.title : look.said(title);
  out.ground = {look.ground, options.clear ? 0.0 : 1.0};
  return out;
}

/// A title that ends in "head 2", or, if there are several layers, in "layer 3, head 2".
base::Message headTitle(const StateTensors& tensors, const FigureOptions& options, const char* ofHead,
                        const char* ofLayer) {
  const int head = options.head + options.base;
  if (!tensors.isOfLayers) return {ofHead, head};
  return {ofLayer, tensors.shown + options.base, ", head ", head};
}

/// What stands at the five ticks of the colour bar, from its low end.
std::vector<std::string> ticksOf(const Look& look) {
  std::vector<std::string> ticks;
  for (int i = 0; i <= 4; ++i) {
    const double at = i / 4.0;
    const auto weight = [&](double share) { return look.from + share * (look.to - look.from); };
    switch (look.scale) {
      case document::WeightScale::row: ticks.push_back(joined({25 * i, " %"})); break;
      case document::WeightScale::root: ticks.push_back(look.number(weight(at * at))); break;
      case document::WeightScale::fourthRoot:  // of which the first would be 0.00
        ticks.push_back(look.said(base::shortest(std::round(weight(at * at * at * at) * 1000) / 1000)));
        break;
      default: ticks.push_back(look.number(weight(at)));
    }
  }
  return ticks;
}

double barWidth(const Look& look) { return look.sizes.tick * 14 / 11; }
/// The width of the colour bar with its numbers.
double barAndTicks(const Look& look) {
  std::size_t letters = 5;
  for (const std::string& tick : ticksOf(look)) letters = std::max(letters, tick.size());
  return barWidth(look) + look.sizes.tick * (0.75 + 0.62 * static_cast<double>(letters));
}

/// Draws the colour bar, as high as the matrix.
void colorBar(Drawing& out, const Look& look, double x, double y, double height) {
  constexpr int kSteps = 64;
  const double width = barWidth(look), size = look.sizes.tick;
  for (int i = 0; i < kSteps; ++i) {
    out.rect(x, y + height * i / kSteps, width, height / kSteps + 0.5, colorOf(look, 1 - (i + 0.5) / kSteps));
    out.items.back().isCrisp = true;
  }
  out.frame(x, y, width, height, look.ink);
  const std::vector<std::string> ticks = ticksOf(look);
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const double at = y + height * static_cast<double>(4 - i) / 4;
    out.line(x + width, at, x + width + 4, at, look.ink);
    out.text(x + width + 8, at + size * 0.35, ticks[i], size, look.ink).isMono = true;
  }
}

/// Draws the sum of each row of weights beside it.
void rowSums(Drawing& out, const Look& look, const Matrix& matrix) {
  const auto& [w, head, x, y, cell] = matrix;
  const double middle = x + w.cols * cell + 24, size = look.sizes.number;
  out.text(middle, y - 8, "Σ", look.sizes.axis, look.muted, Anchor::middle);
  for (int i = 0; i < w.rows; ++i)
    out.text(middle, y + (i + 0.5) * cell + size * 0.36, look.number(w.rowSum(head, i)), size, look.muted,
             Anchor::middle)
        .isMono = true;
}

/// A picture of it has no row or column that it fills in part.
Drawing wholeSized(Drawing drawing, const FigureOptions& options) {
  drawing.width = options.width > 0 ? options.width : std::ceil(drawing.width);
  drawing.height = std::ceil(drawing.height);
  return drawing;
}

/// The largest size of a cell, up to `most`, with which a figure is at most that wide. Smaller cells do not
/// always make it narrower: another label may be drawn then.
template <class WidthOf>
double fitted(double width, double most, const WidthOf& widthWith) {
  constexpr double kStep = 0.98, kLeast = 0.01;
  double low = most, high = most;
  if (widthWith(most) <= width) return most;
  while (low > kLeast && widthWith(low) > width) high = low, low *= kStep;
  if (low <= kLeast) low = 0;
  for (int i = 0; i < 20; ++i) {
    const double middle = (low + high) / 2;
    (widthWith(middle) <= width ? low : high) = middle;
  }
  return low;
}

class Maker {
 public:
  Maker(const FigureWeights& w, const StateTensors& tensors, const FigureOptions& options)
      : w_(w),
        drawn_(w),
        tensors_(tensors),
        options_(options),
        look_(lookOf(options, w.scale)) {}

  Drawing weights() {
    constexpr double kLargest = 48;
    chooseCells([&] {
      const int most = std::max(drawn_.rows, drawn_.cols);
      if (options_.width > 0)
        return fitted(options_.width, kLargest, [&](double cell) { return placesOf(cell).width; });
      return most <= 24 ? 40 : std::max(options_.pool == FigureOptions::Pool::none ? 2.0 : 0.0, 900.0 / most);
    });
    begin(headTitle(tensors_, options_, "Attention weights, head ", "Attention weights, layer "));
    Places places = placesOf(cell_);
    if (options_.width > places.width) places.left += (options_.width - places.width) / 2;
    const double indent = options_.width > 0 ? sizes().margin : places.left;
    const Matrix matrix{drawn_, options_.head, places.left, title(indent) + slant(), cell_};
    drawMatrix(matrix);
    const double end = sidesOf(matrix, places), width = drawn_.cols * cell_, height = drawn_.rows * cell_;
    out_.width = options_.width > 0
                     ? options_.width
                     : std::max({end + sizes().margin, places.left + width + overhang() + sizes().margin,
                                 places.left + widthOf(out_.title, 16) + sizes().margin, 360.0});
    out_.height = caption(indent, matrix.y + height + sizes().axis + 10);
    return std::move(out_);
  }

  Drawing heads() {
    const int across = headsAcross(), down = (w_.heads + across - 1) / across;
    chooseCells([&] { return headsCell(across); });
    begin(tensors_.isOfLayers
              ? base::message({"Attention weights of all heads of layer ", tensors_.shown + options_.base})
              : base::Message("Attention weights of all heads"));
    const double top = title(sizes().margin) + sizes().axis + 12 + slant(), width = drawn_.cols * cell_,
                 height = drawn_.rows * cell_, pitch = headsPitch(), left = headsLeft(cell_);
    for (int h = 0; h < drawn_.heads; ++h) {
      const Matrix matrix{drawn_, h, left + h % across * (width + gap()), top + h / across * pitch, cell_};
      out_.text(matrix.x, matrix.y - 8 - slant(), look_.said(base::message({"head ", h + options_.base})),
                sizes().axis, look_.muted);
      cells(out_, look_, matrix, false);
      if (!hasLabels()) continue;
      keyLabels(out_, look_, matrix, labelSize(), slantedStep());
      if (h % across == 0) queryLabels(out_, look_, matrix, labelSize(), labelStep());
    }
    const double right = left + across * (width + gap()) - gap();
    if (options_.bar) colorBar(out_, look_, right + gap(), top, height);
    out_.width = std::max(right + headsBar() + sizes().margin, 2 * sizes().margin + widthOf(out_.title, 16));
    out_.height = top + down * pitch - pitch + height + std::max(sizes().margin, sizes().tick * 0.5);
    return std::move(out_);
  }

  /// Draws a curve from each query to each key whose width is proportional to the weight, as in Vig 2019
  /// (bertviz).
  Drawing arcs() {
    begin(headTitle(tensors_, options_, "Who attends to whom, head ", "Who attends to whom, layer "));
    const int most = std::max(w_.rows, w_.cols);
    cell_ = options_.width > 0 ? std::min(20.0, (kPage - 60) / most) : std::min(30.0, 1400.0 / most);
    const double gap = 12, left = sizes().margin + sideOf(w_.queries, "query") + gap,
                 other = sideOf(w_.keys, "key") + sizes().margin,
                 span = options_.width > 0 ? std::max(40.0, options_.width - left - gap - other) : 280,
                 top = title(sizes().margin) + 18, first = top + std::max(cell_, 16.0),
                 right = left + span + gap;
    out_.text(left - gap, top, look_.said("query"), sizes().axis, look_.muted, Anchor::end);
    out_.text(right, top, look_.said("key"), sizes().axis, look_.muted);
    for (int i = 0; i < w_.rows; ++i)
      for (int j = 0; j < w_.cols; ++j)
        arc(left, left + span, first + i * cell_, first + j * cell_, w_.at(options_.head, i, j));
    if (options_.labels) {
      arcLabels(w_.queries, left - gap, first, Anchor::end);
      arcLabels(w_.keys, right, first, Anchor::start);
    }
    out_.width = std::max(right + other, 2 * sizes().margin + widthOf(out_.title, 16));
    out_.height = first + most * cell_ + sizes().margin / 2;
    return std::move(out_);
  }

 private:
  static constexpr double kLevel = 1.2, kSlanted = 1.45;  ///< from one label to the next, of their size

  /// Where the parts of the weights of one head stand, from left to right.
  struct Places {
    double left = 0, bar = 0, width = 0;  ///< of the matrix, of the colour bar; of the whole figure
  };

  const Sizes& sizes() const { return look_.sizes; }
  double gap() const { return sizes().gap * 0.8; }
  void begin(base::MessageView made) { out_ = drawingOf(made, look_, options_); }

  /// Sets the size of a cell; where it is too small, puts cells together as the options say.
  template <class Choose>
  void chooseCells(const Choose& choose) {
    cell_ = choose();
    if (options_.pool == FigureOptions::Pool::none || cell_ >= kLeastCell) return;
    drawn_ = pooled(w_, static_cast<int>(std::ceil(kLeastCell / std::max(cell_, 0.01))), options_.pool);
    cell_ = choose();  // which looks at drawn_
  }

  bool hasLabels() const { return options_.labels && !w_.queries.empty(); }
  double labelSize() const { return labelSizeOf(cell_); }
  double labelSizeOf(double cell) const { return std::clamp(cell * 0.8, 8.0, sizes().label); }
  /// Labels are drawn of every so many tokens, so that they do not touch; slanted ones need more room.
  int stepOf(double cell, double room) const {
    return std::max(1, static_cast<int>(std::ceil(labelSizeOf(cell) * room / cell - 1e-9)));
  }
  int labelStep() const { return stepOf(cell_, kLevel); }
  int slantedStep() const { return stepOf(cell_, kSlanted); }
  double slant() const {
    return hasLabels() ? widest(drawn_.keys, labelSize(), slantedStep()) * 0.71 + labelSize() : 0;
  }
  /// How far the labels of keys stand out to the right.
  double overhang() const { return overhangOf(cell_); }
  double overhangOf(double cell) const {
    double most = 0;
    const int step = stepOf(cell, kSlanted);
    for (int j = 0; hasLabels() && j < drawn_.cols; j += step)
      most = std::max(most, widthOf(drawn_.keys[static_cast<std::size_t>(j)], labelSizeOf(cell)) * 0.71 -
                                (drawn_.cols - j - 0.5) * cell + 10);
    return most;
  }
  /// The width of labels beside a matrix, with the space between: letters may be wider than the average.
  static double besideOf(const std::vector<std::string>& labels, double size, int step) {
    return 1.15 * widest(labels, size, step) + (size < 13 ? 6 : 0);
  }
  double besideOf(double cell) const {
    return hasLabels() ? besideOf(drawn_.queries, labelSizeOf(cell), stepOf(cell, kLevel)) : 0;
  }
  bool hasSums() const { return options_.sums && drawn_.block == 1; }

  Places placesOf(double cell) const {
    Places p;
    p.left = sizes().margin + sizes().gap + besideOf(cell);
    const double end = p.left + drawn_.cols * cell;
    double right = end + (hasSums() ? 42 : 0);
    if (options_.bar) {
      p.bar = right + (hasSums() ? 12 : gap());  // labels that stand out pass above it
      right = p.bar + barAndTicks(look_);
    }
    p.width = std::max(right, end + overhangOf(cell)) + sizes().margin;
    return p;
  }

  /// Draws the title; the result is where what follows begins.
  double title(double x) {
    double y = sizes().margin;
    const double most = options_.width > 0 ? options_.width - x - sizes().margin : 1e9;
    for (const std::string& line : linesOf(out_.title, sizes().title, most)) {
      out_.text(x, y + sizes().title * 0.93, line, sizes().title, look_.ink).isBold = true;
      y += sizes().title * 1.2;
    }
    return y + (hasLabels() || !out_.title.empty() ? 8 : 0);
  }

  void drawMatrix(const Matrix& matrix) {
    if (hasLabels()) {
      keyLabels(out_, look_, matrix, labelSize(), slantedStep());
      queryLabels(out_, look_, matrix, labelSize(), labelStep());
    }
    cells(out_, look_, matrix, options_.numbers && hasRoomForNumbers(look_, cell_));
    const double size = sizes().axis;
    out_.text(matrix.x + drawn_.cols * cell_ / 2, matrix.y + drawn_.rows * cell_ + size + 8,
              look_.said("key"), size, look_.muted, Anchor::middle);
    out_.text(matrix.x - placesOf(cell_).left + sizes().margin + size * 0.8,
              matrix.y + drawn_.rows * cell_ / 2, look_.said("query"), size, look_.muted, Anchor::middle)
        .angle = -90;
  }

  /// Draws what stands beside the matrix; the result is where that ends.
  double sidesOf(const Matrix& matrix, const Places& places) {
    const double end = matrix.x + drawn_.cols * cell_, shift = places.left - placesOf(cell_).left;
    if (hasSums() && cell_ >= 12) rowSums(out_, look_, matrix);
    if (!options_.bar) return end + (hasSums() ? 42 : 0);
    colorBar(out_, look_, places.bar + shift, matrix.y, drawn_.rows * cell_);
    return places.bar + shift + barAndTicks(look_);
  }

  /// Draws the caption below y; the result is the height of the figure.
  double caption(double x, double y) {
    if (!options_.caption) return y + sizes().margin;
    y += sizes().caption + 10;
    for (const std::string& line : linesOf(captionOf(look_, w_, drawn_, tensors_, options_), sizes().caption,
                                           out_.width - x - sizes().margin)) {
      out_.text(x, y, line, sizes().caption, look_.ink);
      y += sizes().caption * 1.42;
    }
    return y + std::min(4.0, sizes().margin);
  }

  /// How many heads stand side by side: more of them where a column would be longer than a page.
  int headsAcross() {
    if (!(options_.width > 0)) return std::min(w_.heads, 4);
    int across = std::clamp(static_cast<int>(options_.width / 130), 1, w_.heads);
    for (const int most = std::max(across, static_cast<int>(options_.width / 60));
         across < std::min(most, w_.heads); ++across) {
      cell_ = headsCell(across);
      if ((w_.heads + across - 1) / across * headsPitch() + 60 <= kPage) break;
    }
    return across;
  }
  double headsCell(int across) const {
    if (!(options_.width > 0)) return std::clamp(160.0 / std::max(drawn_.rows, drawn_.cols), 0.25, 24.0);
    return fitted(options_.width, 24, [&](double cell) {
      return headsLeft(cell) + across * (drawn_.cols * cell + gap()) - gap() + headsBar() + sizes().margin;
    });
  }
  double headsPitch() const { return drawn_.rows * cell_ + 28 + slant() + sizes().axis; }
  double headsLeft(double cell) const { return sizes().margin + besideOf(cell); }
  double headsBar() const { return options_.bar ? gap() + barAndTicks(look_) : 0; }

  /// The width of the labels on one side of the arcs, with the word above them.
  double sideOf(const std::vector<std::string>& labels, std::string_view word) const {
    return std::max(options_.labels ? besideOf(labels, sizes().label, labelStep()) : 0.0,
                    widthOf(look_.said(word), sizes().axis));
  }
  void arc(double x, double toX, double y, double toY, float weight) {
    if (weight < 0.01f) return;
    const double t = look_.fraction(static_cast<double>(weight), 1), middle = (x + toX) / 2;
    Drawing::Item& item = out_.add(Drawing::Item::Kind::curve);
    item.points = {x, y, middle, y, middle, toY, toX, toY};
    item.line = {look_.high, 0.15 + 0.75 * t}, item.stroke = (0.5 + 9 * t) * std::min(1.0, cell_ / 15);
  }
  void arcLabels(const std::vector<std::string>& labels, double x, double first, Anchor anchor) {
    for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(labelStep()))
      out_.text(x, first + static_cast<double>(i) * cell_ + labelSize() * 0.35, labels[i], labelSize(),
                look_.ink, anchor);
  }

  const FigureWeights& w_;
  FigureWeights drawn_;  ///< the same, or with several weights in a cell
  const StateTensors& tensors_;
  const FigureOptions& options_;
  Look look_;
  Drawing out_;
  double cell_ = 0;
};

}  // namespace

Result<Drawing> figure(const StateTensors& tensors, const FigureOptions& options) {
  const Result<FigureWeights> w = figureWeights(tensors, options);
  if (!w) return w.error();
  if (auto ok = checkHead(options, w->firstHead + w->heads); !ok) return ok.error();
  if (options.range && w->scale == document::WeightScale::row)
    return base::refuse(
        ErrorKind::range, "range",
        {"each row has colours of its own by the option weight_scale; set it to linear or sqrt, "
         "or leave out the range."});
  Maker maker(*w, tensors, options);
  switch (options.what) {
    case What::board: break;
    case What::weights: return wholeSized(maker.weights(), options);
    case What::heads: return wholeSized(maker.heads(), options);
    case What::arcs: return wholeSized(maker.arcs(), options);
  }
  return base::refuse(ErrorKind::range, "what", {"the board is not drawn here; use weights, heads or arcs."});
}

Result<std::string> figureSvg(const StateTensors& tensors, const FigureOptions& options) {
  const Result<Drawing> drawing = figure(tensors, options);
  if (!drawing) return drawing.error();
  return toSvg(*drawing, static_cast<double>(options.scale));
}

}  // namespace files
