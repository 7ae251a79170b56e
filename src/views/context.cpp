#include "views/context.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <vector>

#include "base/sentence.h"
#include "document/preset.h"

namespace views {

std::string counted(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

bool listed(std::string_view list, std::string_view name) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    while (!word.empty() && word.front() == ' ') word.remove_prefix(1);
    while (!word.empty() && word.back() == ' ') word.remove_suffix(1);
    if (word == name) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
  return false;
}

base::Message sharedWidth(int heads, int headDim) {
  return base::message({heads, heads == 1 ? " head has" : " heads share", " the width of ", heads * headDim,
                        ": d_k is ", headDim, " now."});
}

document::View openView(const document::Settings& settings, std::string_view hide) {
  return listed(hide, "experiments") ? document::View::layer : settings.view;
}

bool isLocked(std::string_view lock, std::string_view name) {
  constexpr std::string_view kSlider = "slider:";
  // Controls that only change how the document is shown.
  constexpr std::string_view kFree =
      "theme,help,fullscreen,more,panel,view,views,head,hide-head,export,share,lab,lab-close,more-masks,more-"
      "sizes,query,title,label,arcs,"
      "inspector,brief,changes,caption,stage,segment,token,matrix,mask-picture,experiments,experiment";
  if (lock.empty()) return false;
  if (name.starts_with(kSlider)) name.remove_prefix(kSlider.size());
  name = name.substr(0, name.find(':'));
  if (listed(lock, name) || (name == "preset" && listed(lock, "presets")) ||
      (name == "redo" && listed(lock, "undo")))
    return true;
  if (!listed(lock, "all")) return false;
  const document::Option* option = document::optionNamed(name);
  const bool isFree = name.starts_with("guide") || name.ends_with("-close") || listed(kFree, name);
  return option ? option->undoable : !isFree;
}

bool Context::isOfLesson() const {
  return view.guideOpen && view.guide && view.guide->lesson && view.guide->labels == state.labels;
}

bool Context::locked(std::string_view name) const { return isLocked(lock, name); }

const document::Settings& Context::unlabelled() const {
  return view.unlabelled.get(revision, [&] {
    document::Settings out = state;
    out.labels = {}, out.keyLabels = {};
    return out;
  });
}

bool Context::editable(TensorId id) const {
  return document::isEditable(state, id) && !locked(attention::name(id));
}

CellRef Context::focus() const {
  const bool isToCome = view.hover && decodes() &&
                        attention::rowsOf(view.hover->tensor) == attention::Rows::queries &&
                        view.hover->row >= rowsSoFar();
  return view.hover && !isToCome ? *view.hover : chosen();
}

CellRef Context::chosen() const {
  const Selection& s = view.selection;
  const CellRef& e = view.explained;
  if (editable(s.tensor) && tensor(e.tensor)) return {e.tensor, sliceOf(state, e.tensor).head, e.row, e.col};
  return {s.tensor, sliceOf(state, s.tensor).head, s.row, s.col};
}

bool Context::isMasked(int head, int query, int key) const {
  if (spec.maskAfterSoftmax) return false;
  return (inputs.painted && inputs.painted->isBlocked(query, key)) ||
         !attention::isVisible(spec, query, key) || attention::isMaskedByBias(inputs, head, query, key);
}

bool Context::lacks(TensorId id) const {
  if (!trace.weights.isStored() || id < TensorId::raw || id > TensorId::output) return false;
  const bool isOfAll =
      id == TensorId::output || (showsMean() && (id == TensorId::weights || id == TensorId::head_output));
  return !(isOfAll ? summaries.isComputed(TensorId::output, 0)
                   : summaries.isComputed(TensorId::weights, state.focusHead));
}

float Context::weight(int query, int key) const { return weights().at(weightsHead(), query, key); }

draw::Written writtenOf(const attention::Stamps& stamps, int firstRow, int firstCol) {
  const auto from = [](const std::vector<std::uint32_t>& lines, int first) {
    return lines.empty() ? nullptr : lines.data() + first;
  };
  return {true, stamps.whole, from(stamps.rows, firstRow), from(stamps.cols, firstCol)};
}

namespace {

const float* madeRow(const void* tensor, int head, int row, int col, int count) {
  return static_cast<const attention::Tensor*>(tensor)->part(head, row, col, count);
}

using Outputs = attention::Summaries::Outputs;

/// Rows of outputs, where not all are computed.
const float* knownRow(const void* outputs, int, int row, int col, int) {
  return static_cast<const Outputs*>(outputs)->row(row) + col;
}
const float* sampledRow(const void* outputs, int, int row, int col, int) {
  return static_cast<const Outputs*>(outputs)->rowOrSample(row) + col;
}

/// valuesOf() where the numbers are not stored.
[[gnu::noinline]] void takeUnstored(const Context& c, const Part& p, draw::Heatmap& look, draw::Values& out) {
  const bool isSampled = !c.trace.output.isStored();
  const auto overview = look.cell < 1 || isSampled ? c.summaries.overview(p.id) : nullptr;
  if (!overview) {
    const auto place = (std::uintptr_t{0} + static_cast<std::uintptr_t>(p.head)) *
                           static_cast<std::uintptr_t>(p.tensor.rows()) +
                       static_cast<std::uintptr_t>(p.firstRow);
    out.data =
        reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(&p.tensor) +
                                       sizeof(float) * (place * static_cast<std::uintptr_t>(p.tensor.cols()) +
                                                        static_cast<std::uintptr_t>(p.firstCol)));
    out.made = {madeRow, &p.tensor, p.head, p.firstRow, p.firstCol};
    if (const attention::Overview* all = isSampled ? nullptr : c.summaries.overview(p.id))
      out.made.blocks = all->blocks().head(p.head), out.made.side = all->side(),
      out.made.stride = all->blocks().cols();
    if (const attention::Summaries::Outputs* const outputs = c.summaries.outputs(p.id))
      out.made.of = look.cell < 1 ? sampledRow : knownRow, out.made.matrix = outputs;
    return;
  }
  const attention::Tensor& blocks = overview->blocks();
  const int side = overview->side();
  out.data = blocks.head(p.head), out.stride = blocks.cols();
  out.rows = (p.rows + side - 1) / side, out.cols = (p.cols + side - 1) / side;
  out.written = writtenOf(c.summaries.blockStamps(p.id, p.head)), out.rowPeaks = overview->peaks(p.head);
  look.cell *= static_cast<float>(side);
}

}  // namespace

[[gnu::noinline]] draw::Values firstValues(const Context& c, bool mean, int head, draw::Heatmap& look) {
  attention::FirstPictures& first = c.summaries.firstPictures();
  const attention::Overview* const overview = mean              ? first.mean()
                                              : first.has(head) ? &first.overview()
                                                                : nullptr;
  if (!overview) return {};
  const attention::Tensor& blocks = overview->blocks();
  const int at = mean ? 0 : head, side = overview->side(), rows = (c.rowsSoFar() + side - 1) / side;
  look.cell *= static_cast<float>(side), look.opacity = kFirstOpacity;
  return {blocks.head(at), rows, blocks.cols(), blocks.cols(), first.version(), {}, overview->peaks(at)};
}

draw::Values valuesOf(const Context& c, const Part& p, draw::Heatmap& look) {
  const attention::Stamps& stamps = c.summaries.stamps(p.id, p.head);
  draw::Values out{nullptr,         p.rows,        p.cols,
                   p.tensor.cols(), stamps.latest, writtenOf(stamps, p.firstRow, p.firstCol)};
  if (p.tensor.isStored()) out.data = p.tensor.row(p.head, p.firstRow) + p.firstCol;
  if (look.scale == draw::Scale::row) out.rowPeaks = c.summaries.rowPeaks(p.id, p.tensor, p.head);
  if (!p.tensor.isStored()) takeUnstored(c, p, look, out);
  return out;
}

namespace {

/// Is it the name of a token without a word? Makes no text: a hundred thousand are asked after an edit.
bool isNumbered(std::string_view label, std::size_t number) {
  char digits[20];
  const char* end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  return label.starts_with('t') && label.substr(1) == std::string_view(digits, end);
}

/// New tokens without a word yet, and removed tokens at the end, do not make it a different sentence.
bool sameWords(const std::vector<std::string>& own, const std::vector<std::string>& preset) {
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i < preset.size() ? own[i] != preset[i] : !isNumbered(own[i], i + 1)) return false;
  }
  return true;
}

}  // namespace

bool Context::ownSentence() const {
  if (state.preset.empty() || isOfLesson()) return false;  // from a file, or from a lesson
  PresetWords& words = view.presetWords;
  if (words.preset != state.preset) {
    words = {};
    words.preset = state.preset;
    if (const auto preset = document::preset(state.preset))
      words.labels = preset->labels, words.keyLabels = preset->keyLabels;
  }
  if (words.revision == revision) return words.isOwn;
  words.revision = revision;
  // If cross-attention was only switched on, the key sequence is a copy of the other.
  const std::vector<std::string>& keys = words.keyLabels.empty() ? words.labels : words.keyLabels;
  words.isOwn = !sameWords(state.labels, words.labels) || !sameWords(state.keyLabels, keys);
  return words.isOwn;
}

}  // namespace views
