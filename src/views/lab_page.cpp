#include "views/lab_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace views {
namespace {

constexpr float kRow = 28, kPitch = 34;
constexpr float kDigitsFrom = 26;  // cells of this size have numbers, if small ones

/// How the numbers of a matrix are written.
struct Digits {
  int decimals = -1;  ///< −1: not at all
  float scale = 1;    ///< of the face
};

void scaledCentered(ImDrawList* list, ImFont* font, float scale, float x, float midY, ImU32 color,
                    std::string_view words) {
  const float size = font->FontSize * ImGui::GetIO().FontGlobalScale * scale;
  const char* end = words.data() + words.size();
  const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0, words.data(), end);
  list->AddText(font, size, {x - extent.x / 2, midY - extent.y / 2}, color, words.data(), end);
}

/// At most two digits after the point, and letters of full size in cells below kDigitsFrom.
Digits digitsFor(ImFont* font, double widest, float cell) {
  const bool squeezes = cell >= kDigitsFrom;
  const float room = cell - 2;
  for (int decimals = 2; decimals >= (squeezes ? 0 : 1); --decimals) {
    const float scale = std::min(1.0f, room / textWidth(font, formatNumber(widest, decimals)));
    if (scale >= (squeezes ? 0.85f : 1.0f)) return {decimals, scale};
  }
  return {};
}

}  // namespace

LabColumn::LabColumn(Context& context, float x, float y, float width)
    : c_(context), w_(context, &context.view.lab.walk), list_(ImGui::GetWindowDrawList()), x_(x), y_(y), width_(width) {}

Box LabColumn::take(float height) {
  const Box box{x_, y_, width_, height};
  y_ += height;
  return box;
}

void LabColumn::heading(std::string_view words) {
  textMiddle(list_, c_.fonts.smallStrong, x_, take(26).midY(), c_.palette.muted, words);
}

void LabColumn::question(std::string_view words) {
  y_ += paragraph(list_, c_.fonts.strong, x_, y_, width_, c_.palette.text, words) + 8;
}

void LabColumn::sentence(std::string_view words) {
  y_ += paragraph(list_, c_.fonts.text, x_, y_, width_, c_.palette.muted, words) + 8;
}

void LabColumn::label(const Box& box, std::string_view words) {
  textMiddle(list_, c_.fonts.text, box.x, box.midY(), c_.palette.text, words);
}

Box LabColumn::control() {
  Box box = take(kPitch);
  box.height = kRow;
  return box;
}

bool LabColumn::slider(std::string_view name, std::string_view words, std::string_view value, float& position,
                       float step) {
  const Box row = control();
  const int key = keys(name, row).step;
  label(row, words);
  textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.muted, value);
  const float left = std::min(92.0f, width_ * 0.36f);
  return w_.slider(name, {row.x + left, row.y + 2, width_ - left - 52, row.height - 4}, position,
                   step * static_cast<float>(key));
}

bool LabColumn::toggle(std::string_view name, std::string_view words, bool on) {
  return w_.toggle(name, control(), words, on);
}

int LabColumn::stepper(std::string_view name, std::string_view words, std::string_view value, bool less, bool more) {
  const Box row = control();
  label(row, words);
  return w_.stepper(name, {row.right() - 100, row.y + 1, 100, 26}, value, less, more);
}

int LabColumn::choice(std::string_view name, std::string_view words, std::span<const std::string_view> names,
                      int chosen) {
  if (!words.empty()) label(take(22), words);
  const Box row = control();
  const Walk::Key key = keys(name, row);
  list_->AddRect({row.x, row.y}, {row.right(), row.bottom()}, c_.palette.border, 5);
  const int count = static_cast<int>(names.size());
  const float each = row.width / static_cast<float>(count);
  int now = -1;
  for (int i = 0; i < count; ++i) {
    const Box part{row.x + each * static_cast<float>(i), row.y, each, row.height};
    const std::string place = std::string(name) + ":" + std::to_string(i);
    if (w_.segment(place, part, names[static_cast<std::size_t>(i)], i == chosen)) now = i;
  }
  if (now < 0 && (key.step != 0 || key.press)) now = (chosen + (key.step < 0 ? count - 1 : 1)) % count;
  return now;
}

bool LabColumn::button(std::string_view name, std::string_view words) {
  return w_.button(name, control(), words);
}

void LabColumn::term(std::string_view words, std::string_view numbers) {
  const float left = std::min(150.0f, width_ * 0.34f);
  textMiddle(list_, c_.fonts.small, x_, y_ + 7, c_.palette.muted, elide(c_.fonts.small, words, left - 8));
  y_ += paragraph(list_, c_.fonts.monoSmall, x_ + left, y_, width_ - left, c_.palette.text, numbers) + 9;
}

void LabColumn::numbers(std::string_view words, std::string_view first, std::string_view second) {
  const Box row = take(22);
  textMiddle(list_, c_.fonts.small, row.x, row.midY(), c_.palette.muted, words);
  const float right = second.empty() ? row.right() : row.right() - 62;
  textRight(list_, c_.fonts.monoSmall, right, row.midY(), c_.palette.text, first);
  if (!second.empty()) textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.text, second);
}

LabColumn firstColumn(Context& c, const Box& area, float width) {
  return {c, area.x, area.y, area.width >= 560 ? width : area.width};
}

LabColumn secondColumn(Context& c, const Box& area, const LabColumn& first) {
  if (first.width() == area.width) return {c, area.x, first.y() + 10, area.width};
  const float from = first.width() + kColumnGap;
  return {c, area.x + from, area.y, area.width - from};
}

void set(Context& c, document::OptionId id, document::Value value, std::uint64_t gesture) {
  if (!c.locked(document::option(id).name)) c.wishes.set(id, std::move(value), gesture);
}

void setChoice(Context& c, document::OptionId id, int chosen) {
  if (chosen >= 0) set(c, id, std::string(document::option(id).choices[static_cast<std::size_t>(chosen)]));
}

void setNextSeed(Context& c, document::OptionId id, std::uint32_t seed) {
  set(c, id, static_cast<double>(static_cast<std::uint32_t>(seed + 1)));
}

bool LabMatrix::hit(float x, float y, int& row, int& col) const {
  if (cell <= 0 || !box.contains(x, y)) return false;
  row = static_cast<int>((y - box.y) / cell), col = static_cast<int>((x - box.x) / cell);
  return true;
}

float largest(const attention::Tensor& tensor, int head) {
  float most = 0;
  const int count = tensor.rows() * tensor.cols();
  for (int i = 0; i < count; ++i) most = std::max(most, std::fabs(tensor.head(head)[i]));
  return most;
}

LabMatrix drawMatrix(Context& c, std::uint32_t slot, const attention::Tensor& tensor, int head, std::uint64_t version,
                     const Box& room, bool weights, float most, std::string_view title, bool rowsAreTokens) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  textMiddle(list, c.fonts.smallStrong, room.x, room.y + 9, c.palette.text,
             elide(c.fonts.smallStrong, title, room.width));
  const float labels = rowsAreTokens ? std::min(64.0f, room.width * 0.2f) : 2.0f;
  LabMatrix m;
  m.cell = std::min({46.0f, (room.width - labels) / static_cast<float>(tensor.cols()),
                     (room.height - 24) / static_cast<float>(tensor.rows())});
  m.box = {room.x + labels, room.y + 22, m.cell * static_cast<float>(tensor.cols()),
           m.cell * static_cast<float>(tensor.rows())};

  gfx::Heatmap look;
  look.x = m.box.x, look.y = m.box.y, look.cell = m.cell;
  look.gap = m.cell >= 20 ? 3.0f : m.cell >= 8 ? 1.0f : 0.0f;
  look.radius = m.cell >= 20 ? 3.0f : m.cell >= 8 ? 1.0f : 0.0f;
  look.map = weights ? c.palette.weightMap : c.palette.signedMap;
  look.high = weights ? 1.0f : niceBound(most), look.low = weights ? 0.0f : -look.high;
  c.heatmaps.draw(list, slot, {tensor.head(head), tensor.rows(), tensor.cols(), tensor.cols(), version}, look);
  list->AddRect({m.box.x - 2, m.box.y - 2}, {m.box.right() + 2, m.box.bottom() + 2}, c.palette.border, 5);

  const Digits digits = digitsFor(c.fonts.monoSmall, weights ? 0.0 : -static_cast<double>(most), m.cell);
  for (int r = 0; r < tensor.rows(); ++r) {
    const float y = m.box.y + m.cell * (static_cast<float>(r) + 0.5f);
    if (rowsAreTokens && m.cell >= 13 && static_cast<std::size_t>(r) < c.state.labels.size()) {
      textRight(list, c.fonts.small, m.box.x - 8, y, c.palette.text,
                elide(c.fonts.small, c.state.labels[static_cast<std::size_t>(r)], labels - 10));
    }
    for (int col = 0; digits.decimals >= 0 && col < tensor.cols(); ++col) {
      const float v = tensor.at(head, r, col);
      const gfx::Color under = gfx::at(look.map, (v - look.low) / (look.high - look.low));
      scaledCentered(list, c.fonts.monoSmall, digits.scale, m.box.x + m.cell * (static_cast<float>(col) + 0.5f), y,
                     textOn(under), formatNumber(static_cast<double>(v), digits.decimals));
    }
  }
  return m;
}

}  // namespace views
