#include "views/pages/column.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sentence.h"
#include "document/text.h"
#include "views/mirror.h"

namespace views {
namespace {

constexpr float kRow = 28, kPitch = 34;
constexpr float kDigitsFrom = 26;  // cells of at least this size have numbers
constexpr float kFullCell = 46, kHead = 24, kHighest = 640;
constexpr float kMostLabels = 140, kLabelsFrom = 13;  // cells of at least this size have labels
constexpr float kBesideCells = 8;                     // from a label, or an operator, to the cells

/// What a matrix is called on a page, in the symbols of the formulas there, where its name is one for
/// scripts.
base::MessageView called(const PageMatrix& m) {
  if (!m.title.empty()) return m.title;
  static constexpr std::pair<std::string_view, std::string_view> kSymbols[] = {
      {"attention", "attention, a"},
      {"dropout_1", "a after dropout"},
      {"residual_1", "x + a"},
      {"norm_1", "normalised"},
      {"hidden_raw", "h"},
      {"hidden", "h, activated"},
      {"feed_forward", "f"},
      {"dropout_2", "f after dropout"},
      {"residual_2", "sum with f"},
      {"norm_2", "normalised"},
      {"gamma_1", "γ"},
      {"delta_1", "δ"},
      {"gamma_2", "γ"},
      {"delta_2", "δ"},
      {"w_1", "W₁"},
      {"b_1", "b₁"},
      {"w_2", "W₂"},
      {"b_2", "b₂"},
      {"token_w", "W"},
      {"token_b", "b"},
      {"token_query", "query"},
      {"segment_w", "W"},
      {"segment_b", "b"},
      {"segment_query", "query"},
      {"class_w", "W_c"},
      {"class_b", "b_c"},
      {"memory_w", "W"},
      {"memory_u", "U"},
      {"memory_b", "b"},
      {"memory_w_a", "W_a"},
      {"memory_u_a", "U_a"},
      {"memory_v_a", "v_a"},
      {"decoder_u", "U_s"},
      {"decoder_c", "C"}};
  const auto at = std::find_if(std::begin(kSymbols), std::end(kSymbols),
                               [&](const auto& one) { return one.first == m.name; });
  return at == std::end(kSymbols) ? base::MessageView(m.name) : at->second;
}

/// "4 tokens × 3", "64 of 4,096 tokens × 3", or "3 × 6" where rows are no tokens.
base::Message shapeOf(const PageMatrix& m) {
  const int rows = m.rowsDrawn().size(), cols = m.colsDrawn().size(),
            ofRows = m.ofTokens > 0 ? m.ofTokens : m.tensor->rows(), ofCols = m.tensor->cols();
  const bool hasTokens = m.rowsAreTokens && m.rows.empty();
  if (rows < ofRows)
    return base::message({counted(rows), " of ", counted(ofRows), hasTokens ? " tokens × " : " × ", cols});
  if (cols < ofCols) return base::message({rows, " × ", counted(cols), " of ", counted(ofCols)});
  return base::message({rows, !hasTokens ? " × " : rows == 1 ? " token × " : " tokens × ", cols});
}

/// How the numbers of a matrix are drawn.
struct Digits {
  int decimals = -1;  ///< −1: not drawn
  float scale = 1;    ///< of the font
};

/// At most two decimals; in cells smaller than kDigitsFrom only at full font size.
Digits digitsFor(ImFont* font, double widest, float cell) {
  const bool squeezes = cell >= kDigitsFrom;
  const float room = cell - 2;
  for (int decimals = 2; decimals >= (squeezes ? 0 : 1); --decimals) {
    const float scale = std::min(1.0f, room / textWidth(font, formatNumber(widest, decimals)));
    if (scale >= (squeezes ? 0.85f : 1.0f)) return {decimals, scale};
  }
  return {};
}

std::span<const std::string> labelsOf(const Context& c, const PageMatrix& m) {
  return m.rows.empty() ? std::span<const std::string>(c.state.labels) : m.rows;
}
/// What stands at the left of a row; "" if it has no label.
std::string_view labelOf(const Context& c, const PageMatrix& m, int row) {
  const std::span<const std::string> all = labelsOf(c, m);
  const auto at = static_cast<std::size_t>(m.rows.empty() ? m.firstToken + row : row);
  return at < all.size() ? std::string_view(all[at]) : "";
}
float widestLabel(const Context& c, const PageMatrix& m) {
  const AsIs asIs;
  float widest = 0;
  for (int r = m.rowsDrawn().begin; r < m.rowsDrawn().end; ++r)
    widest = std::max(widest, textWidth(c.fonts.small, labelOf(c, m, r)));
  return widest;
}
/// How far from the start of a line a matrix begins: its labels, and what is written before it, are there.
float indentOf(const Context& c, const PageMatrix& m, float labels) {
  const float before = m.before.empty() ? 2 : textWidth(c.fonts.title, m.before) + kBesideCells;
  return std::max(m.rowsAreTokens ? labels : 2, before);
}

/// What assistive technology is told of a matrix that has a name for scripts.
void mirrorMatrix(const Context& c, const PageMatrix& m, bool editable) {
  const std::string_view name = m.isParameter ? std::string_view(m.name) : m.place;
  if (!c.fonts.mirror || !document::derivedNamed(name)) return;
  const attention::Span rows = m.rowsDrawn(), cols = m.colsDrawn();
  Mirror::line(c.fonts.mirror->notes,
               {"D", name, editable ? 1 : 0,
                reinterpret_cast<std::uintptr_t>(m.tensor->row(m.head, rows.begin) + cols.begin),
                m.tensor->cols(), m.firstToken + rows.begin, std::min(rows.size(), Mirror::kMostInTable),
                cols.begin, std::min(cols.size(), Mirror::kMostInTable),
                m.ofTokens > 0 ? m.ofTokens : m.tensor->rows(), m.tensor->cols()});
}

}  // namespace

PageColumn::PageColumn(Context& context, float x, float y, float width)
    : PageColumn(context, &context.view.experiments.focusRing, x, y, width) {}

PageColumn::PageColumn(Context& context, FocusRing* ring, float x, float y, float width)
    : c_(context),
      w_(context, ring),
      list_(ImGui::GetWindowDrawList()),
      x_(x),
      y_(y),
      width_(width) {}

Box PageColumn::take(float height) {
  const Box box{x_, y_, width_, height};
  y_ += height;
  return box;
}

void PageColumn::openCard(base::MessageView words) {
  cardTop_ = y_;
  padding_ = width_ < 340 ? 14.0f : 18.0f;
  list_->ChannelsSplit(2);  // the card is drawn last, behind its content, once its height is known
  list_->ChannelsSetCurrent(1);
  x_ += padding_, width_ -= 2 * padding_, y_ += words.empty() ? padding_ - 4 : 12;
  if (words.empty()) return;
  y_ += std::max(30.0f, paragraph({list_, c_.fonts.strong, c_.palette.text}, x_, y_ + 2, width_, words) + 12);
}

void PageColumn::closeCard() {
  x_ -= padding_, width_ += 2 * padding_, y_ += padding_ - 8;
  list_->ChannelsSetCurrent(0);
  list_->AddRectFilled({x_, cardTop_}, {x_ + width_, y_}, c_.palette.panel, 8);
  list_->AddRect({x_, cardTop_}, {x_ + width_, y_}, c_.palette.border, 8);
  list_->ChannelsMerge();
  y_ += kColumnGap;
}

void PageColumn::title(base::MessageView words) {
  y_ += paragraph({list_, c_.fonts.title, c_.palette.text}, x_, y_, width_, words) + 4;
}

void PageColumn::question(base::MessageView words) {
  y_ += paragraph({list_, c_.fonts.strong, c_.palette.text}, x_, y_, width_, words) + 8;
}

void PageColumn::sentence(base::MessageView words) {
  y_ += paragraph({list_, c_.fonts.text, c_.palette.muted}, x_, y_, width_, words) + 8;
}

void PageColumn::label(const Box& box, base::MessageView words) {
  textMiddle(list_, c_.fonts.text, box.x, box.midY(), c_.palette.text, words);
}

Box PageColumn::control() {
  Box box = take(pitch(kPitch));
  box.height = kRow;
  return box;
}

bool PageColumn::slider(std::string_view name, base::MessageView words, base::MessageView value,
                        float& position, float step, const document::Option* option) {
  const Box row = control();
  const bool locked = option && c_.locked(option->name);
  const FocusRing::Key key = locked ? FocusRing::Key{} : keys(name, row);
  label(row, words);
  w_.points(name, row);
  textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.muted, value);
  if (option) typed(*option, {row.right() - 48, row.y, 48, row.height}, key.press);
  const float left = std::min(92.0f, width_ * 0.36f), before = position;
  const bool moves = w_.slider(name, {row.x + left, row.y + 2, width_ - left - 52, row.height - 4}, position,
                               step * static_cast<float>(key.step));
  if (locked) position = before;
  return moves && !locked;
}

void PageColumn::typed(const document::Option& option, const Box& box, bool asked) {
  if ((!w_.area(std::string(option.name) + "-value", box) && !asked) || c_.locked(option.name)) return;
  if (ImGui::IsItemHovered() && !c_.touch) ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
  TextTarget t;
  t.kind = TextTarget::Kind::option;
  t.option = option.id, t.name = std::string(option.name);
  t.text = document::toJson(document::get(c_.state, option.id));
  t.box = {box.right() - 72, box.y + 1, 72, 26};
  c_.requests.text = t;
}

void PageColumn::number(document::OptionId id, std::string_view name, base::MessageView words,
                        const Scale& scale) {
  const auto& [low, high, parts, decimals] = scale;
  const document::Value now = document::get(c_.state, id);
  const double value = *std::get_if<double>(&now);
  auto at = static_cast<float>(std::clamp((value - low) / (high - low), 0.0, 1.0));
  const auto step = static_cast<float>(1 / (parts * (high - low)));
  if (!slider(name, words, formatNumber(value, decimals), at, step, &document::option(id))) return;
  set(c_, id, std::round((low + static_cast<double>(at) * (high - low)) * parts) / parts, kSliderGesture);
}

bool PageColumn::toggle(std::string_view name, base::MessageView words, bool on) {
  return w_.toggle(name, control(), words, on);
}

int PageColumn::stepper(std::string_view name, base::MessageView words, base::MessageView value, bool less,
                        bool more) {
  const Box row = control();
  label(row, words);
  w_.points(name, row);
  const float wide = c_.roomy() ? 132 : 100;
  return w_.stepper(name, {row.right() - wide, row.y + 1, wide, 26}, value, less, more);
}

int PageColumn::choice(std::string_view name, base::MessageView words,
                       std::span<const std::string_view> names, int chosen) {
  if (!words.empty()) label(take(22), words);
  const Box row = control();
  const FocusRing::Key key = keys(name, row);
  w_.points(name, row);
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

bool PageColumn::button(std::string_view name, base::MessageView words) {
  return w_.button(name, control(), words);
}

void PageColumn::names(document::OptionId id, base::MessageView words, std::string title) {
  const Box row = control();
  const float left = std::min(92.0f, width_ * 0.36f);
  label(row, words);
  w_.names(id, {row.x + left, row.y, row.width - left, row.height}, std::move(title));
}

void PageColumn::term(base::MessageView words, base::MessageView numbers) {
  const float left = std::min(150.0f, width_ * 0.34f);
  textMiddle(list_, c_.fonts.small, x_, y_ + 7, c_.palette.muted, elide(c_.fonts.small, words, left - 8));
  y_ += paragraph({list_, c_.fonts.monoSmall, c_.palette.text}, x_ + left, y_, width_ - left, numbers) + 9;
}

void PageColumn::numbers(base::MessageView words, base::MessageView first, base::MessageView second) {
  const Box row = take(22);
  textMiddle(list_, c_.fonts.small, row.x, row.midY(), c_.palette.muted, words);
  const float right = second.empty() ? row.right() : row.right() - 62;
  textRight(list_, c_.fonts.monoSmall, right, row.midY(), c_.palette.text, first);
  if (!second.empty()) textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.text, second);
}

PageColumn firstColumn(Context& c, const Box& area, float width) {
  return {c, area.x, area.y, area.width >= 560 ? width : area.width};
}

PageColumn secondColumn(Context& c, const Box& area, const PageColumn& first) {
  if (first.width() == area.width) return {c, area.x, first.y(), area.width};
  const float from = first.width() + kColumnGap;
  return {c, area.x + from, area.y, area.width - from};
}

float stillComputes(PageColumn& column) {
  column.sentence("The numbers of this page are being computed.");
  return column.y();
}

void set(Context& c, document::OptionId id, document::Value value, std::uint64_t gesture) {
  if (!c.locked(document::option(id).name)) c.requests.set(id, std::move(value), gesture);
}

void setChoice(Context& c, document::OptionId id, int chosen) {
  if (chosen >= 0) set(c, id, std::string(document::option(id).choices[static_cast<std::size_t>(chosen)]));
}

void setNextSeed(Context& c, document::OptionId id, std::uint32_t seed) {
  set(c, id, static_cast<double>(static_cast<std::uint32_t>(seed + 1)));
}

bool PageMatrix::hit(float x, float y, int& row, int& col) const {
  if (cell <= 0 || !box.contains(x, y)) return false;
  row = rowsDrawn().begin + static_cast<int>((y - box.y) / cell),
  col = colsDrawn().begin + static_cast<int>((x - box.x) / cell);
  return true;
}

float largest(const PageMatrix& m) {
  const attention::Span rows = m.rowsDrawn(), cols = m.colsDrawn();
  float most = 0;
  for (int r = rows.begin; r < rows.end; ++r) {
    const float* const row = m.tensor->row(m.head, r);
    for (int c = cols.begin; c < cols.end; ++c) most = std::max(most, std::fabs(row[c]));
  }
  return most;
}

void frameCell(Context& c, const PageMatrix& m, int row, int col) {
  const float x = m.box.x + m.cell * static_cast<float>(col - m.colsDrawn().begin),
              y = m.box.y + m.cell * static_cast<float>(row - m.rowsDrawn().begin);
  ImGui::GetWindowDrawList()->AddRect({x - 1, y - 1}, {x + m.cell + 1, y + m.cell + 1}, c.palette.text,
                                      m.cell >= 20 ? 6.0f : 1.0f, 0, 2);
}

attention::Span tokensShown(const Context& c, int most) {
  const int size = std::min(c.state.tokens, most),
            first = std::clamp(c.view.experiments.firstToken, 0, c.state.tokens - size);
  return {first, first + size};
}

int tokenSlider(PageColumn& column, std::string_view name, base::MessageView words,
                const TokenChoice& choice) {
  const auto& [token, last, step] = choice;
  float at = static_cast<float>(token) / static_cast<float>(last);
  const bool moves =
      column.slider(name, words, counted(token + 1), at, static_cast<float>(step) / static_cast<float>(last));
  return moves ? static_cast<int>(std::lround(at * static_cast<float>(last))) : token;
}

void chooseTokens(Context& c, PageColumn& column, attention::Span shown) {
  const int last = c.state.tokens - shown.size();
  if (last > 0)
    c.view.experiments.firstToken =
        tokenSlider(column, "slider:tokens", "From token", {shown.begin, last, shown.size()});
}

MatrixFit fitOf(const Context& c, std::span<const PageMatrix> matrices, float width, float height) {
  float widest = 0;
  for (const PageMatrix& m : matrices)
    if (m.rowsAreTokens) widest = std::max(widest, widestLabel(c, m) + kBesideCells);
  const auto cellBeside = [&](float beside) {
    float cell = kFullCell;
    for (const PageMatrix& m : matrices) {
      cell = std::min({cell, (width - indentOf(c, m, beside) - 4) / static_cast<float>(m.colsDrawn().size()),
                       height / static_cast<float>(m.rowsDrawn().size())});
    }
    return cell >= 8 ? std::floor(cell) : cell;
  };
  const float labels = std::min({widest, kMostLabels, width * 0.2f}), cell = cellBeside(labels);
  return cell >= kLabelsFrom ? MatrixFit{cell, labels}
                             : MatrixFit{std::min(cellBeside(0), kLabelsFrom - 1), 0};
}

void drawMatrix(Context& c, PageMatrix& m, ImVec2 at, const MatrixLook& drawn) {
  const auto& [version, cell, most, labels, head] = drawn;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const attention::Tensor& tensor = *m.tensor;
  const base::Message shape = shapeOf(m);
  const float named = textWidth(c.fonts.strong, called(m));
  textMiddle(list, c.fonts.strong, at.x, at.y + 9, c.palette.text, called(m));
  textMiddle(list, c.fonts.small, at.x + named + 8, at.y + 9, c.palette.muted, shape);
  m.cell = cell;
  const attention::Span rows = m.rowsDrawn(), cols = m.colsDrawn();
  m.box = {at.x, at.y + head, cell * static_cast<float>(cols.size()), cell * static_cast<float>(rows.size())};
  if (!m.place.empty()) {
    c.widgetRects[std::string(m.place)] = m.box;
    c.view.experiments.drawn[std::string(m.place)] = {{m.firstToken + rows.begin, m.firstToken + rows.end},
                                                      cols};
  }

  draw::Heatmap look;
  look.x = m.box.x, look.y = m.box.y, look.cell = cell;
  look.gap = cell >= 20 ? 3.0f : cell >= 8 ? 1.0f : 0.0f;
  look.radius = look.gap;
  look.map = m.cells == Cells::numbers ? c.palette.signedMap : c.palette.weightMap;
  look.high = m.cells == Cells::numbers ? niceBound(most) : 1.0f,
  look.low = m.cells == Cells::numbers ? -look.high : 0.0f;
  c.heatmaps.draw(
      list, m.slot,
      {tensor.row(m.head, rows.begin) + cols.begin, rows.size(), cols.size(), tensor.cols(), version}, look);
  const bool editable = m.isParameter && !c.locked(m.name);
  mirrorMatrix(c, m, editable);
  list->AddRect({m.box.x - 2, m.box.y - 2}, {m.box.right() + 2, m.box.bottom() + 2},
                editable ? c.palette.query : c.palette.border, 5, 0, editable ? 1.5f : 1.0f);
  for (int g = 1; g < m.groups; ++g) {
    const float x = m.box.x + m.box.width * static_cast<float>(g) / static_cast<float>(m.groups);
    list->AddLine({x, m.box.y - 5}, {x, m.box.bottom() + 5}, c.palette.muted, 1.5f);
  }

  Digits digits =
      digitsFor(c.fonts.monoSmall, m.cells == Cells::numbers ? -static_cast<double>(most) : 0.0, cell);
  if (m.cells == Cells::mask && digits.decimals > 0) digits.decimals = 0;
  const auto centre = [pitch = cell](int i) { return pitch * (static_cast<float>(i) + 0.5f); };
  for (int col = cols.begin; cell >= 20 && col < std::min(cols.end, static_cast<int>(m.columns.size()));
       ++col) {
    const AsIs asIs;
    textCentered(list, c.fonts.small, m.box.x + centre(col - cols.begin), m.box.y - 11, c.palette.text,
                 elide(c.fonts.small, m.columns[static_cast<std::size_t>(col)], cell - 2));
  }
  for (int r = rows.begin; r < rows.end; ++r) {
    const float middle = m.box.y + centre(r - rows.begin);
    if (!ImGui::IsRectVisible({m.box.x - labels, middle - cell}, {m.box.right(), middle + cell})) continue;
    if (labels > 0) {
      const AsIs asIs;
      textRight(list, c.fonts.small, m.box.x - kBesideCells, middle, c.palette.text,
                elide(c.fonts.small, labelOf(c, m, r), labels - kBesideCells));
    }
    for (int col = cols.begin; digits.decimals >= 0 && col < cols.end; ++col) {
      if (m.isMasked && m.isMasked(r, col)) {
        hatched(
            list, c.palette,
            {m.box.x + centre(col - cols.begin) - cell / 2 + 2, middle - cell / 2 + 2, cell - 4, cell - 4});
        continue;
      }
      const float v = tensor.at(m.head, r, col);
      const draw::Color under = draw::at(look.map, (v - look.low) / (look.high - look.low));
      digitsCentered({list, c.fonts.monoSmall, textOn(under)}, digits.scale,
                     m.box.x + centre(col - cols.begin), middle,
                     formatNumber(static_cast<double>(v), digits.decimals));
    }
  }
}

void drawEquation(Context& c, PageColumn& column, std::uint64_t version, std::span<PageMatrix> matrices) {
  const Box line = column.take(0);
  const auto [cell, labels] = fitOf(c, matrices, line.width, kHighest);
  ImDrawList* list = ImGui::GetWindowDrawList();
  float most = 0, x = line.x, y = line.y, high = 0;
  for (const PageMatrix& m : matrices) {
    if (m.cells == Cells::numbers) most = std::max(most, largest(m));
  }
  const bool named =
      std::any_of(matrices.begin(), matrices.end(), [](const PageMatrix& m) { return !m.columns.empty(); });
  const float head = named ? kHead + 18 : kHead;
  const PageMatrix* above = nullptr;
  for (PageMatrix& m : matrices) {
    const float titled = textWidth(c.fonts.strong, called(m)) + 8 + textWidth(c.fonts.small, shapeOf(m));
    const float cells = cell * static_cast<float>(m.colsDrawn().size()), wide = std::max(cells + 4, titled);
    const float sign = m.before.empty() ? 0 : textWidth(c.fonts.title, m.before);
    // A bias with one row is placed below the matrix that it belongs to.
    if (above && above->isParameter && m.isParameter && m.tensor->rows() == 1 &&
        above->tensor->cols() == m.tensor->cols()) {
      textRight(list, c.fonts.title, above->box.x - 8, above->box.bottom() + 12 + kHead + cell / 2,
                c.palette.muted, m.before);
      drawMatrix(c, m, {above->box.x, above->box.bottom() + 12}, {version, cell, most, 0});
    } else {
      if (x > line.x && x + sign + 22 + wide > line.right()) x = line.x, y += high + 18, high = 0;
      const bool first = x == line.x;
      const float middle = y + head + cell * static_cast<float>(m.rowsDrawn().size()) / 2;
      x += first ? indentOf(c, m, labels) : sign > 0 ? sign + 22 : 2;
      // At the start of a line token labels are where the operator would be, so it is placed before the name.
      const float before = x - sign / 2 - (first ? 8.0f : 12.0f);
      if (first && m.rowsAreTokens) textRight(list, c.fonts.title, x - 8, y + 9, c.palette.muted, m.before);
      else if (m.before == "·") list->AddCircleFilled({before, middle}, 2.2f, c.palette.muted, 12);
      else textCentered(list, c.fonts.title, before, middle, c.palette.muted, m.before);
      drawMatrix(c, m, {x, y}, {version, cell, most, first && m.rowsAreTokens ? labels : 0, head});
      x += wide + 8;
    }
    if (m.isParameter) editParameter(c, column, m);
    high = std::max(high, m.box.bottom() - y);
    above = &m;
  }
  column.gap(y + high - line.y + 14);
}

}  // namespace views
