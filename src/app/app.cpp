#include "app/app.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attention/kernels.h"
#include "document/number.h"
#include "document/preset.h"
#include "document/remedy.h"
#include "document/sentence.h"
#include "document/text.h"
#include "files/read.h"
#include "views/board/board.h"
#include "views/panels.h"
#include "views/widgets.h"

namespace app {
namespace {

using attention::CellRef;
using attention::Check;
using attention::Error;
using attention::Result;
using attention::Tensor;
using attention::TensorId;
using document::AroundId;
using document::joined;
using views::Box;
using views::Command;

/// Steps that only some layers have, in the order in which the board shows them.
constexpr TensorId kExtras[] = {TensorId::w_a,       TensorId::u_a,       TensorId::v_a,       TensorId::x_kv,
                                TensorId::positions, TensorId::x_positioned, TensorId::x_kv_positioned, TensorId::q_rotated,
                                TensorId::k_rotated, TensorId::softcapped, TensorId::bias, TensorId::biased};

constexpr int kSettle = 3;  // frames after the last event: Dear ImGui needs a second one to take in a new layout

using Names = std::vector<std::string>;

Error unknown(std::string_view field, std::string_view value, const std::string& right) {
  return *document::refuse(Error::Kind::range, field, {"there is no ", document::inQuotes(value), "; use ", right, "."});
}

/// There are too many names to list: those that may have been meant are said.
Error unknown(std::string_view field, std::string_view value, const Names& names) {
  return unknown(field, value, joined({"one of ", names.size(), " others, perhaps ",
                                       document::orList(document::nearest(value, names, 3))}));
}

/// Those of the layer and those around it.
Names tensorNames(bool onlyExplained) {
  Names all;
  for (int i = 0; i < attention::kTensorCount; ++i) all.emplace_back(attention::name(static_cast<TensorId>(i)));
  for (int i = 0; i < document::kAroundCount; ++i) {
    const auto id = static_cast<AroundId>(i);
    if (!onlyExplained || document::Around::isExplained(id)) all.push_back(document::name(id));
  }
  return all;
}

std::string listOfInputs() {
  std::string all;
  for (const TensorId id : document::inputIds()) all += (all.empty() ? "" : ", ") + std::string(attention::name(id));
  return all;
}

Names optionNames() {
  Names all;
  for (const document::Option& o : document::options()) all.emplace_back(o.name);
  return all;
}

std::string quoted(std::string_view words) { return document::toJson(document::Value(std::string(words))); }

std::string cellJson(CellRef cell) {
  return joined({"{\"name\":", quoted(attention::name(cell.tensor)), ",\"head\":", cell.head, ",\"row\":", cell.row,
                 ",\"col\":", cell.col, "}"});
}

}  // namespace

struct App::Parts {
  Parts(Host& theHost, gfx::Heatmaps& theHeatmaps)
      : host(theHost), heatmaps(theHeatmaps), document(*document::preset(document::presets().front().name)) {
    refresh();
  }

  // --- derived from the document, rebuilt when it changed

  void refresh() {
    spec = document::spec(document.state());
    inputs = document::inputs(document.state());
    const auto changes = document.takeChanges();
    if (!computed) engine.apply(spec, inputs, attention::Change{});
    else if (!changes.empty()) engine.apply(spec, inputs, changes);
    computed = true;
    around.changed();
    clampSelection();
    explainSelection();
  }

  /// What is explained follows the selection, except to cells that can be changed: those are changed to see what follows.
  void explainSelection() {
    const views::Selection& s = view.selection;
    if (!isChangeable(s.tensor)) view.explained = {s.tensor, 0, s.row, s.col};
    const Tensor* t = attention::find(inputs, engine.trace(), view.explained.tensor);
    if (!t) t = &engine.trace().weights, view.explained.tensor = TensorId::weights;
    view.explained.row = std::clamp(view.explained.row, 0, std::max(t->rows() - 1, 0));
    view.explained.col = std::clamp(view.explained.col, 0, std::max(t->cols() - 1, 0));
  }

  bool isChangeable(TensorId id) const {
    return document::isEditable(document.state(), id) && !views::listed(embed.lock, attention::name(id));
  }

  void clampSelection() {
    const Tensor* t = attention::find(inputs, engine.trace(), view.selection.tensor);
    if (startPending && computed) {
      const document::State& s = document.state();
      const int count = s.step > 0 ? s.step : s.tokens;
      // A mask that comes too late is wrong where it hides keys: causal hides none from the last token.
      const int begin = s.maskAfterSoftmax ? count / 2 : count - 1;
      const float* row = engine.trace().weights.row(s.focusHead, begin);
      const int best = static_cast<int>(std::max_element(row, row + s.keyTokens) - row);
      view.selection = {true, TensorId::weights, begin, best, begin, best};
      startPending = false;
      return;
    }
    if (!t) {
      view.selection = {false, TensorId::weights, 0, 0, 0, 0};
      return;
    }
    views::Selection& s = view.selection;
    followStep();
    for (int* row : {&s.row, &s.anchorRow}) *row = std::clamp(*row, 0, std::max(t->rows() - 1, 0));
    for (int* col : {&s.col, &s.anchorCol}) *col = std::clamp(*col, 0, std::max(t->cols() - 1, 0));
  }

  /// The row of a decoder's step is what there is to explain; rows after it do not exist yet.
  void followStep() {
    const document::State& state = document.state();
    const int step = state.causal && !state.cross ? state.step : 0;
    const bool moved = step != std::exchange(seenStep, step);
    views::Selection& s = view.selection;
    if (step == 0 || attention::rowsOf(s.tensor) != attention::Rows::queries || !attention::find(inputs, engine.trace(), s.tensor)) return;
    if (!moved && s.row < step && s.anchorRow < step) return;
    s.row = s.anchorRow = step - 1;
    if (s.tensor != TensorId::weights && s.tensor != TensorId::scores) return;
    const float* row = engine.trace().weights.row(state.focusHead, s.row);
    s.col = s.anchorCol = static_cast<int>(std::max_element(row, row + state.keyTokens) - row);
  }

  bool dark() const {
    const document::Theme theme = document.state().theme;
    return theme == document::Theme::automatic ? host.prefersDark() : theme == document::Theme::dark;
  }

  views::Layout makeLayout() const { return layoutAt(size.x, size.y); }

  views::Layout layoutAt(float width, float height) const {
    const document::State& s = document.state();
    views::LayoutInput in;
    in.width = width, in.height = height;
    in.present = s.present;
    in.mode = s.mode, in.tokens = s.tokens, in.keyTokens = s.keyTokens, in.heads = s.heads, in.headDim = s.headDim;
    in.kvHeads = s.kvHeads, in.valueDim = s.valueDim, in.modelDim = s.modelDim, in.wholeProjections = s.wholeProjections;
    in.thumbnails = s.heads > 1 ? s.heads + 1 : 1;
    for (const TensorId id : kExtras) {
      if (const Tensor* t = attention::find(inputs, engine.trace(), id)) in.extras.push_back({id, t->rows(), t->cols()});
    }
    in.decimals = s.decimals;
    in.labelWidth = labelWidth;
    in.header = !views::listed(embed.hide, "header");
    in.side = !views::listed(embed.hide, "panel");
    in.headsPanel = !views::listed(embed.hide, "heads");
    in.arcs = !views::listed(embed.hide, "arcs");
    in.inspector = !views::listed(embed.hide, "inspector");
    return views::layout(in);
  }

  /// How much larger than usual everything is drawn in a window of that size.
  float zoomFor(float width, float height) const {
    const document::State& s = document.state();
    const float most = std::max(1.0f, std::min(width, height) / 320);  // the smallest size that the layout is made for
    if (s.zoom > 0) return std::min(s.zoom, most);
    constexpr float kLargest = 2.5f, kStep = 0.25f;
    if (!s.present) return std::clamp(std::floor(std::min(width / 1440, height / 900) / kStep) * kStep, 1.0f, kLargest);
    float best = 1, largest = 0;
    for (float by = 1; by <= std::min(kLargest, most); by += kStep / 2) {
      const views::Layout layout = layoutAt(width / by, height / by);
      const float cell = layout.matrices.front().cell * by;
      if (layout.contentHeight <= layout.board.height + 1 && cell >= largest) largest = cell, best = by;
    }
    return best;
  }

  /// Only when they, or the fonts, are others than last time: there may be two thousand of them.
  void measureLabels(const views::Fonts& fonts) {
    const document::State& s = document.state();
    const float scale = ImGui::GetIO().FontGlobalScale;
    const int glyphs = fonts.text->Glyphs.Size;  // of a face that may be made anew with more
    if (scale == measured.scale && glyphs == measured.glyphs && s.labels == measured.labels && s.keyLabels == measured.keyLabels) return;
    measured = {scale, glyphs, s.labels, s.keyLabels};
    labelWidth = 0;
    for (const std::vector<std::string>* labels : {&s.labels, &s.keyLabels}) {
      for (const std::string& label : *labels) {
        labelWidth = std::max(labelWidth, std::min(views::textWidth(fonts.text, label), 84.0f));
      }
    }
  }

  // --- doing

  Check apply(const document::Edit& edit, std::uint64_t gesture) {
    const std::uint64_t before = document.revision();
    if (Check wrong = document.apply(edit, gesture)) return wrong;
    if (document.revision() == before) return std::nullopt;
    refresh();
    if (gesture != 0) pendingChange = true;
    host.emit({gesture != 0 ? Event::Type::input : Event::Type::change, detail(edit)});
    wake();
    return std::nullopt;
  }

  void finishGesture() {
    document.endGesture();
    if (!pendingChange) return;
    pendingChange = false;
    host.emit({Event::Type::change, "{\"source\":\"user\"}"});
  }

  static std::string detail(const document::Edit& edit) {
    if (const auto* cells = std::get_if<document::SetCells>(&edit)) {
      return cellJson({cells->tensor, cells->head, cells->row, cells->col});
    }
    if (const auto* cells = std::get_if<document::SetParameter>(&edit)) {
      return joined({"{\"name\":", quoted(document::name(cells->parameter)), ",\"row\":", cells->row, ",\"col\":", cells->col, "}"});
    }
    if (const auto* set = std::get_if<document::SetOption>(&edit)) {
      return joined({"{\"name\":", quoted(document::option(set->option).name), "}"});
    }
    return "{}";
  }

  void changed() {
    refresh();
    dropText();
    pendingChange = false;
    host.emit({Event::Type::change, "{}"});
    wake();
  }

  void wake() {
    wanted = kSettle;
    host.requestFrame();
  }

  void say(std::string_view sentence, bool isError) { say({{{std::string(sentence), {}}}, isError}); }

  void say(views::Notice notice) {
    view.notice = std::move(notice);
    noticeAge = 0;
    wake();
  }

  void refuse(const Error& error) {
    say(error.message, true);
    host.emit({Event::Type::error, "{\"type\":\"state\",\"message\":" + quoted(error.message) + "}"});
  }

  void dropText() {
    if (!view.text) return;
    view.text.reset();
    host.dropText();
  }

  /// Says what else a new number of heads changed: they share the same columns.
  void sayWidth(int before) {
    const document::State& s = document.state();
    if (s.headDim != before) say(views::sharedWidth(s.heads, s.headDim), false);
  }

  void carryOut() {
    views::Wishes asked = std::exchange(wishes, {});
    if (const auto ended = std::exchange(typed, {}); ended && !endText(ended->how, ended->words)) {
      // The press that left the field is taken back, or the words would be lost with it.
      asked.moved = asked.endGesture = false;
      asked.text.reset();
    }
    if (asked.said) say(std::move(*asked.said));
    for (const auto& wanted_ : asked.edits) {
      const int columns = document.state().headDim;
      if (Check wrong = apply(wanted_.edit, wanted_.gesture)) refuse(*wrong);
      const auto* set = std::get_if<document::SetOption>(&wanted_.edit);
      if (set && set->option == document::OptionId::heads && !asked.said) sayWidth(columns);
    }
    if (asked.endGesture) finishGesture();
    for (const Command c : asked.commands) command(c);
    if (asked.preset) {
      if (Check wrong = openPreset(*asked.preset, true)) refuse(*wrong);
    }
    if (asked.text) beginText(*asked.text);
    if (asked.moved) {
      if (!asked.text) dropText();
      explainSelection();
      emitSelection();
    }
  }

  void emitSelection() {
    const views::Selection& s = view.selection;
    host.emit({Event::Type::select, s.active ? cellJson({s.tensor, views::sliceOf(document.state(), s.tensor).head, s.row, s.col}) : "null"});
  }

  bool experiments() const {
    return views::openExperiment(document.state(), embed.hide) != document::Experiment::none;
  }

  /// The panel that has the pointer there; null for the board and the header. Menus, help and experiments have it
  /// everywhere.
  const views::Scroller* panelAt(float x, float y) const {
    if (view.menu.shown) return &view.menu.page;
    if (view.help) return &view.helpPage;
    if (experiments()) return &view.lab.page;
    const views::Layout layout = makeLayout();
    const bool side = layout.side.contains(x, y) && (!layout.sidePanelIsDrawer || view.drawer);
    return side ? &view.side : nullptr;
  }

  /// Opens a preset with the head, the decoder's step and the page of the experiments that it is about. Other things of
  /// how it is shown are as the reader has them.
  Check openPreset(std::string_view name, bool undoable) {
    auto start = document::preset(name);
    if (!start) return start.error();
    const int head = start->focusHead, step = start->step;
    const document::Experiment experiment = start->experiment;
    document::keepView(*start, document.state());
    start->focusHead = head, start->step = step, start->experiment = experiment;
    if (start->kvHeads != start->heads) view.moreSizesOpen = true;  // what it is about: the heads of keys and their cache
    return open(std::move(*start), undoable);
  }

  Check open(document::State start, bool undoable) {
    if (Check wrong = document.open(std::move(start), undoable)) return wrong;
    startPending = true;
    view.scroll = 0;
    changed();
    return std::nullopt;
  }

  void command(Command c) {
    switch (c) {
      case Command::undo:
        if (document.undo()) changed();
        return;
      case Command::redo:
        if (document.redo()) changed();
        return;
      case Command::reset:
        document.reset();
        return changed();
      case Command::pickFile:
        if (!host.pickFile()) say("Drop a JSON file on the window to open it.", false);
        return;
      case Command::saveState: return save();
      case Command::copyState:
        host.copyToClipboard(document::toText(document.state()));
        return say("The state is on the clipboard.", false);
      case Command::copyWeights: return copyWeights();
      case Command::copyCells: return;
      case Command::clearMask: {
        const int rows = document.state().tokens, cols = document.state().keyTokens;
        const auto count = static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
        apply(document::PaintCells{0, 0, rows, cols, std::vector<std::uint8_t>(count)}, 0);
        return;
      }
      case Command::fullscreen: return host.toggleFullscreen();
    }
  }

  void save() {
    const auto saved = host.saveFile("attention.json", document::toText(document.state()));
    if (saved) say(*saved, false);
    else refuse(saved.error());
  }

  void copyWeights() {
    const Tensor& w = engine.trace().weights;
    host.copyToClipboard(document::toTsv(w, document.state().focusHead, 0, 0, w.rows(), w.cols()));
    say("The weights are on the clipboard, a row a line.", false);
  }

  // --- typing

  void beginText(const views::TextTarget& target) {
    view.text = target;
    TextField field;
    field.rect = {target.box.x, target.box.y, target.box.width, target.box.height};
    field.zoom = zoom;
    field.text = target.text;
    field.name = target.name;
    field.numeric = target.kind == views::TextTarget::Kind::cell || target.kind == views::TextTarget::Kind::parameter;
    field.centered = target.centered;
    field.selectAll = target.selectAll;
    field.isCell = field.numeric;
    field.wrong = target.wrong;
    field.dark = dark();
    host.beginText(field);
    wake();
  }

  /// False: the words were refused, and are in a field again.
  bool endText(Entry how, std::string_view words) {
    if (!view.text) return true;
    views::TextTarget target = *view.text;
    view.text.reset();
    wake();
    if (how == Entry::cancel) return true;
    if (Check wrong = enter(target, words)) {
      refuse(*wrong);
      // Who has seen the reason and leaves nevertheless gives the words up.
      if (how == Entry::leave && !target.wrong.empty() && target.text == words) return true;
      target.text = words, target.wrong = wrong->message, target.selectAll = false;
      if (target.kind == views::TextTarget::Kind::cell) {
        const CellRef& c = target.cell;
        view.selection = {true, c.tensor, c.row, c.col, c.row, c.col};
        view.drag = {};
      }
      beginText(target);
      return false;
    }
    if (how == Entry::next || how == Entry::previous) typeNext(target, how == Entry::next ? 1 : -1);
    return true;
  }

  void typeNext(const views::TextTarget& from, int by) {
    if (from.kind == views::TextTarget::Kind::parameter) return typeNextParameter(from, by);
    const views::Layout layout = makeLayout();
    const views::MatrixPlace* m = layout.find(from.cell.tensor);
    if (from.kind != views::TextTarget::Kind::cell || !m) return;
    const views::Slice slice = views::sliceOf(document.state(), from.cell.tensor);
    const auto next = views::neighbour(*m, slice, from.cell, by);
    if (!next) return;
    reveal(layout, m->cellBox(next->row - slice.firstRow, next->col - slice.firstCol));
    const views::Fonts fonts;
    views::Wishes asked;
    views::Context c = context(layout, views::palette(dark()), fonts, asked);
    views::typeCell(c, *next, {});
    if (!asked.text) return;
    beginText(*asked.text);
    emitSelection();
  }

  void typeNextParameter(views::TextTarget from, int by) {
    const Tensor& t = around.parameter(from.parameter);
    const int at = from.cell.row * t.cols() + from.cell.col + by, row = at / std::max(t.cols(), 1), col = at % std::max(t.cols(), 1);
    const auto id = document::aroundNamed(document::name(from.parameter));
    if (!t.contains(0, row, col) || at < 0 || !id) return;
    const auto rect = aroundRect(*id, 0, row, col);
    if (!rect) return;
    view.lab.cell.row = row, view.lab.cell.col = col;
    from.wrong.clear();
    const Box box{rect->x, rect->y, rect->width, rect->height};
    views::TextTarget to = views::numberField(document::name(from.parameter), row, col, box, t.at(0, row, col), {});
    to.kind = from.kind, to.parameter = from.parameter;
    beginText(to);
  }

  /// What is typed is what the control shows: "off" for the least value of some, the first item of the batch as 1.
  Check enterOption(const views::TextTarget& target, std::string_view words) {
    const bool isItem = target.option == document::OptionId::batch_item;
    auto value = document::valueFromJson(words, target.name);
    if (words == "off" || words == "auto") value = words == "off" ? document::Value(document::option(target.option).min) : document::Value(true);
    if (const auto number = document::numberFrom(words, target.name); !value && number) value = document::Value(document::readable(*number));
    if (!value) return value.error();
    if (double* number = std::get_if<double>(&*value); number && isItem) *number -= 1;
    Check wrong = apply(document::SetOption{target.option, *value}, 0);
    if (!wrong) return wrong;
    if (isItem) return document::refuse(Error::Kind::range, target.name, {document::inQuotes(words), " is no item of the batch; use 1 to ", document.state().batch, "."});
    view.blocked = views::Blocked{target.option, *value, document.revision()};
    return document::withRemedy(document.state(), target.option, *value, std::move(*wrong));
  }

  Check enter(const views::TextTarget& target, std::string_view words) {
    using Kind = views::TextTarget::Kind;
    if (target.kind == Kind::sentence) {
      const auto option = target.ofKeys ? document::OptionId::key_labels : document::OptionId::labels;
      return apply(document::SetOption{option, std::string(words)}, 0);
    }
    if (target.kind == Kind::label) {
      return apply(document::SetLabels{target.cell.row, {std::string(words)}, target.ofKeys ? document::Side::keys : document::Side::queries}, 0);
    }
    if (target.kind == Kind::option) return enterOption(target, words);
    const CellRef& c = target.cell;
    const bool isParameter = target.kind == Kind::parameter;
    const auto number = document::numberFrom(words, isParameter ? document::name(target.parameter) : attention::name(c.tensor));
    if (!number) return number.error();
    if (isParameter) return apply(document::SetParameter{target.parameter, c.row, c.col, 1, 1, {*number}}, 0);
    return apply(document::SetCells{c.tensor, c.head, c.row, c.col, 1, 1, {*number}}, 0);
  }

  views::Context context(const views::Layout& layout, const views::Palette& palette, const views::Fonts& fonts,
                         views::Wishes& asked) {
    return {document.state(), spec,            inputs, engine.trace(), engine.summaries(), document.revision(), around,
            layout,           palette,         fonts,              heatmaps,       view,                asked,
            places,           lastPlaces,      host.isTouch(),     document.canUndo(), document.canRedo(),
            attention::kernels::name(attention::kernels::best()), embed.lock, embed.hide, zoom};
  }

  // --- blocks of cells, as they are seen

  bool isTransposed(TensorId id) const {
    const views::Layout layout = makeLayout();
    const views::MatrixPlace* m = layout.find(id);
    return m && m->transposed;
  }

  views::Notice whyFixed(CellRef cell) {
    const views::Layout layout = makeLayout();
    const views::Fonts fonts;
    return views::whyFixed(context(layout, views::palette(dark()), fonts, wishes), cell);
  }

  static document::CellBlock turnedOver(const document::CellBlock& block) {
    document::CellBlock to{block.cols, block.rows, {}};
    for (int i = 0; i < to.rows; ++i) {
      for (int j = 0; j < to.cols; ++j) to.values.push_back(block.values[static_cast<std::size_t>(j * block.cols + i)]);
    }
    return to;
  }

  /// A block that is pasted at the selection in rows and columns of the tensor, of which Kᵀ shows one as the other. One
  /// that fits into it only as it would into K is put there so, which `said` tells.
  Result<document::CellBlock> asSeen(const views::Selection& s, document::CellBlock block, std::string& said) const {
    const Tensor& t = *document::input(document.state(), s.tensor);
    const std::string name = attention::symbol(s.tensor, spec.score);
    const std::string extent = joined({block.rows, " × ", block.cols});
    const auto fits = [&](const document::CellBlock& b) { return b.rows <= t.rows() - s.top() && b.cols <= t.cols() - s.left(); };
    document::CellBlock other = turnedOver(block);
    const bool transposed = isTransposed(s.tensor);
    if (transposed) std::swap(block, other);
    if (fits(block)) return block;
    if (transposed && fits(other)) {
      said = joined({"The ", extent, " numbers fit only as rows of ", name, ": each row has become a column of ", name, "ᵀ."});
      return other;
    }
    const int down = t.rows() - s.top(), across = t.cols() - s.left();
    return *document::refuse(Error::Kind::range, "paste",
                             {extent, " numbers do not fit into ", name, transposed ? "ᵀ" : "", ", which has room for ",
                              transposed ? across : down, " × ", transposed ? down : across, " from the selected cell on",
                              fits(other) ? "; turned over (rows as columns) they would." : "; select another cell or paste fewer."});
  }

  // --- where things are

  /// Why this layer does not have a tensor of a name that there is.
  Error missing(std::string_view name) {
    const TensorId id = *attention::tensorNamed(name);
    if (document::input(document.state(), id))
      if (Check unused = document::checkEditable(document.state(), id)) return *unused;
    return *document::refuse(Error::Kind::range, name, {"this layer has none; switch on the option that makes it."});
  }

  /// The tensor of a name that there is, if this layer has it and it has that cell.
  Result<const Tensor*> tensorWithCell(std::string_view name, int head, int row, int col) {
    const auto id = attention::tensorNamed(name);
    const Result<const Tensor*> found = id ? attention::find(inputs, engine.trace(), *id) : around.tensor(*document::aroundNamed(name));
    if (!found) return found;
    const Tensor* t = *found;
    if (!t) return missing(name);
    if (t->contains(head, row, col)) return t;
    return *document::refuse(Error::Kind::range, name,
                             {"there is no cell ", document::shapeText({head, row, col}), "; the shape is ",
                              document::shapeText({t->heads(), t->rows(), t->cols()}), "."});
  }

  /// The place of a cell on the board, brought into view.
  Result<Rect> cellRect(TensorId id, int head, int row, int col) {
    const std::string_view field = attention::name(id);
    const auto tensor = tensorWithCell(field, head, row, col);
    if (!tensor) return tensor.error();
    TensorId shown = id == TensorId::masked || id == TensorId::raw ? TensorId::scores : id;
    focusOn(views::headShowing(document.state(), id, head, row, col));
    const views::Layout layout = makeLayout();
    const views::MatrixPlace* m = layout.find(shown);
    if (!m) return *document::refuse(Error::Kind::range, field, {"it is not shown on the board."});
    const views::Slice slice = views::sliceOf(document.state(), id);
    const Box cell = m->cellBox(row - slice.firstRow, col - slice.firstCol);
    reveal(layout, cell);
    const Box box = views::onScreen(layout, view, cell);
    return Rect{box.x, box.y, box.width, box.height};
  }

  /// The place of a cell around the layer, on the page of the experiments that is open, brought into view.
  Result<Rect> aroundRect(AroundId id, int head, int row, int col) {
    const std::string field = document::name(id);
    const auto tensor = tensorWithCell(field, head, row, col);
    if (!tensor) return tensor.error();
    const bool isToken = id == AroundId::token_weights, isBar = isToken || id == AroundId::segment_weights;
    std::string place = document::parameterOf(id) ? "slider:" + field : field;
    if (isBar) place = joined({isToken ? "token:" : "segment:", row}), row = 0;
    const auto at = places.find(place);
    if (at == places.end()) {
      return *document::refuse(Error::Kind::range, field, {"it is not on the screen; open it in the experiments first."});
    }
    const Box& box = at->second;
    const float width = box.width / static_cast<float>((*tensor)->cols());
    const float height = box.height / static_cast<float>(isBar ? 1 : (*tensor)->rows());
    return revealed(view.lab.page,
                    {box.x + width * static_cast<float>(col), box.y + height * static_cast<float>(row), width, height});
  }

  /// The place of a control, brought into view where the side panel or a menu has it further down or up.
  Rect controlRect(const Box& box) {
    const views::Layout layout = makeLayout();
    const Box &side = layout.side, &menu = view.menu.page.box;
    if (view.menu.shown && box.x >= menu.x && box.right() <= menu.right() && !layout.header.contains(box.x, box.y)) {
      return revealed(view.menu.page, box);
    }
    const bool inPanel = !experiments() && box.x >= side.x && box.right() <= side.right() && (!layout.sidePanelIsDrawer || view.drawer);
    return inPanel ? revealed(view.side, box) : Rect{box.x, box.y, box.width, box.height};
  }

  Rect revealed(views::Scroller& panel, const Box& box) {
    const float by = panel.reveal(box);
    if (by != 0) wake();
    return {box.x, box.y - by, box.width, box.height};
  }

  void focusOn(int head) {
    if (head == document.state().focusHead) return;
    apply(document::SetOption{document::OptionId::focus_head, static_cast<double>(head)}, 0);
  }

  void reveal(const views::Layout& layout, const Box& content) {
    const float top = content.y - 40, bottom = content.bottom() + 40;
    const float before = view.scroll;
    if (top < view.scroll) view.scroll = top;
    if (bottom > view.scroll + layout.board.height) view.scroll = bottom - layout.board.height;
    view.scroll = std::clamp(view.scroll, 0.0f, views::maxScroll(layout));
    if (view.scroll != before) wake();
  }

  Host& host;
  gfx::Heatmaps& heatmaps;
  document::Document document;
  attention::Engine engine;
  attention::Spec spec;
  attention::Inputs inputs;
  document::Around around{document.state(), engine.trace()};
  bool computed = false;
  int seenStep = 0;          ///< of the decoder, when the selection last followed it
  bool startPending = true;  ///< select a token, mostly the last, and what it looks at most: where an example begins

  views::ViewState view;
  views::Wishes wishes;  ///< of the frame that was built last
  struct Typed {
    Entry how;
    std::string words;
  };
  bool isBuilding = false;     ///< a text field, into a frame whose heatmaps have not read their numbers yet
  std::optional<Typed> typed;  ///< into that field; entered once the frame is drawn
  views::Places places, lastPlaces;
  Embed embed;
  ImVec2 size{1440, 900};
  float zoom = 1;  ///< of the frame that was built last
  float labelWidth = 30;
  struct {
    float scale = 0;
    int glyphs = 0;
    std::vector<std::string> labels, keyLabels;
  } measured;  ///< what labelWidth was measured from

  int wanted = kSettle;
  int noticeAge = 0;
  bool pendingChange = false;
  bool saidForgotten = false;  ///< that the history lost its oldest steps
  std::uint64_t frames = 0;
  std::array<float, 31> frameMs{};
  std::size_t frameCount = 0;
};

App::App(Host& host, gfx::Heatmaps& heatmaps) : parts_(std::make_unique<Parts>(host, heatmaps)) {}
App::~App() = default;

void App::frame() {
  Parts& p = *parts_;
  const ImGuiIO& io = ImGui::GetIO();
  const views::Fonts& fonts = *static_cast<const views::Fonts*>(io.UserData);
  const views::Palette& palette = views::palette(p.dark());
  p.size = io.DisplaySize;
  p.measureLabels(fonts);
  const views::Layout layout = p.makeLayout();
  p.lastPlaces.swap(p.places);
  p.places.clear();
  views::Context context = p.context(layout, palette, fonts, p.wishes);

  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(io.DisplaySize);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, palette.background);
  ImGui::Begin("##playground", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(3);
  views::sharp(ImGui::GetWindowDrawList());
  views::readFinger(context);
  const bool menuIsOpen = ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
  if (!p.view.text && !menuIsOpen && views::boardKeys(context)) p.wake();
  views::header(context);
  views::heads(context);
  views::board(context);
  views::arcs(context);
  views::inspector(context);
  ImGui::End();
  views::sidePanel(context);
  views::help(context);
  views::experiments(context);
  views::notice(context);
  p.isBuilding = true;
  p.host.drawText();
  p.isBuilding = false;
}

void App::carryOut() {
  Parts& p = *parts_;
  p.carryOut();
  const bool held = ImGui::IsKeyDown(ImGuiKey_LeftArrow) || ImGui::IsKeyDown(ImGuiKey_RightArrow) ||
                    ImGui::IsKeyDown(ImGuiKey_UpArrow) || ImGui::IsKeyDown(ImGuiKey_DownArrow);
  if (p.view.fling != 0 || p.view.busy || held) p.wanted = std::max(p.wanted, 2);
  if (!p.saidForgotten && p.document.forgottenSteps() > 0) {
    p.saidForgotten = true;
    p.say("Undo no longer reaches back to the start: the oldest steps were let go to save memory.", false);
  }
  ++p.frames;
  ++p.noticeAge;
  if (p.wanted > 0) --p.wanted;
}

void App::wake() {
  // A sentence stays until the next thing that the user does after having had a moment to see it.
  const auto at = parts_->places.find("notice");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool onIt = at != parts_->places.end() && at->second.contains(mouse.x, mouse.y);
  if (!parts_->view.notice.empty() && parts_->noticeAge > 4 && !onIt &&
      (ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::IsKeyDown(ImGuiKey_Escape))) {
    parts_->view.notice = {};
  }
  parts_->wake();
}

bool App::wantsFrame() const { return parts_->wanted > 0; }

bool App::usesKey(int key, bool command, bool shift, bool alt) const {
  Parts& p = *parts_;
  if (p.view.text) return true;
  const views::Layout layout = p.makeLayout();
  const views::Fonts fonts;
  views::Wishes wishes;
  return views::usesKey(p.context(layout, views::palette(p.dark()), fonts, wishes), static_cast<ImGuiKey>(key), command, shift, alt);
}

float App::zoomFor(float width, float height) {
  return parts_->zoom = parts_->zoomFor(width, height);
}

float App::zoom() const { return parts_->zoom; }

bool App::dragsAt(float x, float y) const {
  const Parts& p = *parts_;
  x /= p.zoom, y /= p.zoom;
  if (p.panelAt(x, y)) return false;
  return views::hold(p.document.state(), p.makeLayout(), p.view, x, y) == views::Hold::edit;
}

bool App::scrollsAt(float x, float y, float dy) const {
  const Parts& p = *parts_;
  x /= p.zoom, y /= p.zoom;
  if (const views::Scroller* panel = p.panelAt(x, y)) return panel->box.contains(x, y) && panel->goesOn(dy);
  const views::Layout layout = p.makeLayout();
  views::Scroller board;
  board.at = p.view.scroll, board.limit = views::maxScroll(layout);
  return layout.board.contains(x, y) && board.goesOn(dy);
}

bool App::wantsAllGlyphs() const { return parts_->experiments(); }

std::string App::items() const {
  std::string json = "[";
  for (const auto& [name, box] : parts_->places) {
    const auto outside = [&](float length) { return static_cast<double>(length * parts_->zoom); };
    const std::array<double, 4> numbers{outside(box.x), outside(box.y), outside(box.width), outside(box.height)};
    static constexpr std::array<std::string_view, 4> keys{"x", "y", "width", "height"};
    json += (json.size() > 1 ? ",{\"name\":" : "{\"name\":") + quoted(name);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      json += ",\"" + std::string(keys[i]) + "\":" + document::toJson(document::Value(numbers[i]));
    }
    json += "}";
  }
  return json + "]";
}

Check App::openText(std::string_view text, std::string_view fileName) {
  auto state = files::readState(text, parts_->document.state());
  if (!state) {
    Error error = state.error();
    error.message = std::string(fileName) + ": " + error.message;
    parts_->refuse(error);
    return error;
  }
  if (Check wrong = parts_->open(std::move(*state), true)) {
    parts_->refuse(*wrong);
    return wrong;
  }
  parts_->say("Opened " + std::string(fileName) + ".", false);
  return std::nullopt;
}

void App::notify(std::string_view sentence, bool isError) { parts_->say(sentence, isError); }


std::string App::copyCells() const {
  const Parts& p = *parts_;
  const views::Selection& s = p.view.selection;
  TensorId id = s.tensor == TensorId::scores ? TensorId::masked : s.tensor;
  const Tensor* t = attention::find(p.inputs, p.engine.trace(), id);
  if (!s.active || !t) return {};
  const int head = views::sliceOf(p.document.state(), id).head;
  return document::toTsv(*t, head, s.top(), s.left(), s.rows(), s.cols(), p.isTransposed(s.tensor));
}

Check App::pasteCells(std::string_view text) {
  Parts& p = *parts_;
  const views::Selection& s = p.view.selection;
  auto refuse = [&](Error error) -> Check {
    p.refuse(error);
    return error;
  };
  if (!s.active) return refuse({Error::Kind::range, "paste", "paste: select a cell of an editable matrix first."});
  const int head = views::sliceOf(p.document.state(), s.tensor).head;
  if (!p.isChangeable(s.tensor)) {
    const views::Notice why = p.whyFixed({s.tensor, head, s.row, s.col});
    refuse({Error::Kind::range, "paste", "paste: " + why.text()});
    p.say(why);
    return Error{Error::Kind::range, "paste", "paste: " + why.text()};
  }
  const auto number = document::numberFrom(text, "paste");
  // One number fills the whole selection, as in spreadsheets.
  auto block = number ? document::CellBlock{s.rows(), s.cols(), std::vector<float>(static_cast<std::size_t>(s.rows() * s.cols()), *number)}
                      : document::fromTsv(text);
  if (!block) return refuse(block.error());
  std::string turned;
  if (!number) {
    auto fitted = p.asSeen(s, std::move(*block), turned);
    if (!fitted) return refuse(fitted.error());
    block = std::move(fitted);
  }
  const int rows = block->rows, cols = block->cols;
  if (Check wrong = p.apply(document::SetCells{s.tensor, head, s.top(), s.left(), rows, cols, block->values}, 0)) {
    return refuse(*wrong);
  }
  p.view.selection = {true, s.tensor, s.top(), s.left(), s.top() + rows - 1, s.left() + cols - 1};
  if (!turned.empty()) p.say(turned, false);
  return std::nullopt;
}

void App::endText(Entry how, std::string_view text) {
  if (parts_->isBuilding) parts_->typed = {how, std::string(text)};
  else parts_->endText(how, text);
}

CellRef App::explained() const {
  const views::Layout layout = parts_->makeLayout();
  const views::Fonts fonts;
  views::Wishes wishes;
  return parts_->context(layout, views::palette(parts_->dark()), fonts, wishes).focus();
}

std::string App::notice() const { return parts_->view.notice.text(); }

void App::setEmbed(const Embed& embed) {
  parts_->embed = embed;
  parts_->wake();
}

std::string App::state() const { return document::toText(parts_->document.state()); }

Check App::setState(std::string_view text, bool undoable) {
  auto state = files::readState(text, parts_->document.state());
  if (!state) return state.error();
  return parts_->open(std::move(*state), undoable);
}

Check App::openPreset(std::string_view name, bool undoable) { return parts_->openPreset(name, undoable); }

void App::reset() {
  parts_->document.reset();
  parts_->changed();
}

bool App::undo() {
  if (!parts_->document.undo()) return false;
  parts_->changed();
  return true;
}

bool App::redo() {
  if (!parts_->document.redo()) return false;
  parts_->changed();
  return true;
}

Result<std::string> App::get(std::string_view option) const {
  const document::Option* o = document::optionNamed(option);
  if (!o) return unknown("option", option, optionNames());
  return document::toJson(document::get(parts_->document.state(), o->id));
}

Check App::set(std::string_view option, std::string_view json) {
  const document::Option* o = document::optionNamed(option);
  if (!o) return unknown("option", option, optionNames());
  auto value = document::valueFromJson(json, option);
  if (!value) return value.error();
  if (Check wrong = parts_->apply(document::SetOption{o->id, *value}, 0)) {
    return document::withRemedy(parts_->document.state(), o->id, *value, std::move(*wrong));
  }
  return std::nullopt;
}

Result<const Tensor*> App::tensor(std::string_view name) const {
  if (const auto around = document::aroundNamed(name)) return parts_->around.tensor(*around);
  const auto id = attention::tensorNamed(name);
  if (!id) return unknown("tensor", name, tensorNames(false));
  const Tensor* t = attention::find(parts_->inputs, parts_->engine.trace(), *id);
  if (!t) t = document::input(parts_->document.state(), *id);
  if (t && !t->empty()) return t;
  return parts_->missing(name);
}

Check App::setTensor(std::string_view name, std::span<const float> data, std::span<const int> shape) {
  Parts& p = *parts_;
  const auto id = attention::tensorNamed(name);
  if (!id && !document::aroundNamed(name)) return unknown("tensor", name, tensorNames(false));
  const auto parameter = document::parameterNamed(name);
  const Tensor* t = parameter ? &p.around.parameter(*parameter) : id ? document::input(p.document.state(), *id) : nullptr;
  if (!t) return *document::refuse(Error::Kind::range, name, {"it is computed; set one of ", listOfInputs(), "."});
  if (t->empty()) return document::checkEditable(p.document.state(), *id);
  const std::array<int, 3> own{t->heads(), t->rows(), t->cols()};
  const std::size_t rank = shape.size();
  bool fits = rank >= 1 && rank <= 3 && data.size() == t->size();
  for (std::size_t i = 0; fits && i < 3; ++i) {
    // Leading axes of length 1 may be left out.
    fits = (i < rank ? shape[rank - 1 - i] : 1) == own[2 - i];
  }
  if (!fits) {
    return document::refuse(Error::Kind::range, name,
                            {"shape ", document::shapeText({shape.begin(), shape.end()}), " with ", data.size(),
                             " numbers does not fit; use ", document::shapeText({own.begin(), own.end()}),
                             ", or change tokens, heads or d_k first."});
  }
  // Heads lie one after another; a block edit reaches one of them, so all of them share a gesture.
  const std::uint64_t gesture = own[0] > 1 ? p.view.nextGesture++ : 0;
  const std::size_t each = t->size() / static_cast<std::size_t>(std::max(own[0], 1));
  std::vector<document::Edit> edits;
  for (int h = 0; h < own[0]; ++h) {
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(each * static_cast<std::size_t>(h));
    std::vector<float> values(from, from + static_cast<std::ptrdiff_t>(each));
    if (parameter) edits.push_back(document::SetParameter{*parameter, 0, 0, own[1], own[2], std::move(values)});
    else edits.push_back(document::SetCells{*id, h, 0, 0, own[1], own[2], std::move(values)});
  }
  for (const document::Edit& e : edits) {
    if (Check wrong = document::check(p.document.state(), e)) return wrong;
  }
  for (const document::Edit& e : edits) (void)p.document.apply(e, gesture);
  p.document.endGesture();
  p.changed();
  return std::nullopt;
}

Result<Rect> App::locate(std::string_view name, int head, int row, int col) {
  auto rect = locateInside(name, head, row, col);
  if (rect) rect->x *= zoom(), rect->y *= zoom(), rect->width *= zoom(), rect->height *= zoom();
  return rect;
}

Result<Rect> App::locateInside(std::string_view name, int head, int row, int col) {
  if (const auto id = attention::tensorNamed(name)) return parts_->cellRect(*id, head, row, col);
  if (const auto id = document::aroundNamed(name)) return parts_->aroundRect(*id, head, row, col);
  const views::Places& places = parts_->places.empty() ? parts_->lastPlaces : parts_->places;
  const auto at = places.find(name);
  if (at == places.end()) return unknown("locate", name, std::string("a tensor, or a control that is on the screen"));
  return parts_->controlRect(at->second);
}

Result<std::string> App::explain(std::string_view name, int head, int row, int col) const {
  Parts& p = *parts_;
  const auto id = attention::tensorNamed(name);
  const auto around = document::aroundNamed(name);
  if (!id && !(around && document::Around::isExplained(*around))) return unknown("tensor", name, tensorNames(true));
  if (const auto tensor = p.tensorWithCell(name, head, row, col); !tensor) return tensor.error();
  const document::State& s = p.document.state();
  const attention::Explanation e =
      around ? p.around.explain(*around, row, col)
             : attention::explain(p.spec, p.inputs, p.engine.trace(), {*id, head, row, col}, s.labels, document::keyLabels(s), s.decimals);
  std::string json = joined({"{\"text\":", quoted(e.text()), ",\"terms\":["});
  for (const attention::Term& term : e.terms) {
    json += joined({&term == e.terms.data() ? "" : ",", "{\"label\":", quoted(term.label), ",\"text\":", quoted(term.text),
                    ",\"value\":", std::isfinite(term.value) ? document::toJson(document::Value(term.value)) : "null", "}"});
  }
  return json + "]}";
}

std::uint64_t App::frames() const { return parts_->frames; }

float App::frameMs() const {
  const std::size_t count = std::min(parts_->frameCount, parts_->frameMs.size());
  if (count == 0) return 0;
  auto sorted = parts_->frameMs;
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count / 2), sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return sorted[count / 2];
}

void App::noteFrameTime(float milliseconds) {
  parts_->frameMs[parts_->frameCount++ % parts_->frameMs.size()] = milliseconds;
}

bool App::isDark() const { return parts_->dark(); }
const document::Document& App::document() const { return parts_->document; }

}  // namespace app
