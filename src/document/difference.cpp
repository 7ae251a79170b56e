#include "document/difference.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "document/resize.h"

namespace document {
namespace {

/// Runs separated by fewer equal values than this are stored as one run, which takes less memory.
constexpr std::size_t kGap = 3;
/// States with more bytes together are compared later.
constexpr std::size_t kLarge = std::size_t{8} << 20;

/// All tensors of a state, always in the same order. AnyState: State or const State.
template <class AnyState>
auto tensorsOf(AnyState& state) {
  std::vector<decltype(&state.q)> all;
  for (const TensorId id : inputIds()) all.push_back(input(state, id));
  for (int i = 0; i < kParameterCount; ++i) all.push_back(&state.parameters[static_cast<ParameterId>(i)]);
  for (auto& other : state.items)
    for (const TensorId id : itemInputIds()) all.push_back(input(other, id));
  return all;
}

template <class AnyState>
auto allLabelsOf(AnyState& state) {
  std::vector<decltype(&state.labels)> all{&state.labels, &state.keyLabels};
  for (auto& other : state.items) all.insert(all.end(), {&other.labels, &other.keyLabels});
  return all;
}

/// The input of an item of the batch that is at this place of tensorsOf(), if it is one of an input.
struct Place {
  TensorId id;
  int item;
};
std::optional<Place> placeOf(const State& state, std::size_t which) {
  const auto all = inputIds();
  const auto ofItem = itemInputIds();
  if (which < all.size()) return Place{all[which], state.batchItem};
  if (which < all.size() + kParameterCount) return {};
  which -= all.size() + kParameterCount;
  return Place{ofItem[which % ofItem.size()], static_cast<int>(which / ofItem.size())};
}

template <class Inputs>
bool sameInputs(const Inputs& a, const Inputs& b, std::span<const TensorId> ids) {
  return std::all_of(ids.begin(), ids.end(),
                     [&](TensorId id) { return sameBits(*input(a, id), *input(b, id)); });
}

bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }  // distinguishes 0 and -0
template <class T>
bool same(const T& a, const T& b) {
  return a == b;
}

/// No `from` stands for nothing but zeros.
template <class T>
std::vector<PatchRun> runsOf(const T* from, const T* to, std::size_t count) {
  const T none{};
  std::vector<PatchRun> runs;
  std::size_t end = 0;  // end of the last run
  for (std::size_t i = 0; i < count; ++i) {
    if (same(from ? from[i] : none, to[i])) continue;
    if (runs.empty() || i - end >= kGap) runs.push_back({static_cast<std::uint32_t>(i), 0});
    end = i + 1;
    runs.back().count = static_cast<std::uint32_t>(end) - runs.back().at;
  }
  runs.shrink_to_fit();
  return runs;
}

std::size_t countOf(const std::vector<PatchRun>& runs) {
  std::size_t count = 0;
  for (const PatchRun& run : runs) count += run.count;
  return count;
}

// The memory for values is taken at once: a list that grew would leave gaps in that of the page.
template <class T>
Patch<T> patchOf(const T* from, const T* to, std::size_t count) {
  Patch<T> patch{runsOf(from, to, count), {}};
  patch.values.reserve(countOf(patch.runs));
  for (const PatchRun& run : patch.runs)
    patch.values.insert(patch.values.end(), to + run.at, to + run.at + run.count);
  return patch;
}

template <class T>
void write(const Patch<T>& patch, T* cells) {
  auto value = patch.values.begin();
  for (const PatchRun& run : patch.runs) {
    std::copy_n(value, run.count, cells + run.at);
    value += static_cast<std::ptrdiff_t>(run.count);
  }
}

bool hasShape(const Tensor& tensor, const std::array<int, 3>& shape) {
  return std::array<int, 3>{tensor.heads(), tensor.rows(), tensor.cols()} == shape;
}

/// The numbers of a tensor with another shape are of no use here.
void giveShape(Tensor& tensor, const std::array<int, 3>& shape) {
  if (!hasShape(tensor, shape)) tensor = Tensor(shape[0], shape[1], shape[2]);
}

const float* lastRow(const Tensor& tensor) { return tensor.row(tensor.heads() - 1, tensor.rows() - 1); }
bool endsWith(const Tensor& tensor, const float* row) {
  return std::memcmp(lastRow(tensor), row, static_cast<std::size_t>(tensor.cols()) * sizeof(float)) == 0;
}

/// Are most of the numbers likely to be the initial ones? The first rows are edited most, and the last one is
/// not among those that another number of tokens has too.
bool looksFresh(const State& state, Place place, const Tensor& tensor) {
  const Axes shape = axes(state, place.id);
  return !tensor.empty() && hasShape(tensor, {shape.heads, shape.rows.count(), shape.cols.count()}) &&
         endsWith(tensor, lastRow(freshRows(state, place.id, place.item, tensor.rows() - 1)));
}

/// Empties an input that gets another number of rows: it is stored as a whole, or drawn anyway.
void leaveOut(Tensor& input, int rows) {
  if (input.rows() != rows) input = Tensor();
}

/// Is most of what this change of shape leads to drawn from the seed?
bool drawsMost(const Reshape& way, const Settings& to) {
  const int tokens = to.cross && way.side == Side::keys ? to.keyTokens : to.tokens;
  return way.kind == Reshape::Kind::insertTokens && way.count > tokens / 2;
}

void giveShape(PaintedMask& mask, int rows, int cols) {
  if (mask.rows == rows && mask.cols == cols) return;
  mask = {rows, cols,
          std::vector<std::uint8_t>(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols))};
}

void giveSettings(State& state, Settings settings) {
  settings.labels = std::move(state.labels), settings.keyLabels = std::move(state.keyLabels);
  static_cast<Settings&>(state) = std::move(settings);
}

template <class T>
std::size_t heldBy(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

/// The heap memory of a string; short ones are stored in the string object itself.
std::size_t heldBy(const std::string& text) {
  return text.capacity() > std::string().capacity() ? text.capacity() + 1 : 0;
}

template <class T>
std::size_t heldBy(const Patch<T>& patch) {
  return heldBy(patch.runs) + heldBy(patch.values);
}

}  // namespace

Reshape Reshape::reversed() const {
  Reshape back = *this;
  if (kind == Kind::insertTokens) back.kind = Kind::removeTokens;
  if (kind == Kind::removeTokens) back.kind = Kind::insertTokens;
  return back;
}

Difference::Difference(const State& from, const State& to, Reshape way)
    : late_(std::make_unique<Late>(Late{shared(from), shared(to)})),
      isShownOnly_(way.kind == Reshape::Kind::none && sameContent(from, to)),
      way_(way),
      settings_(to),
      items_(to.items.size()),
      maskRows_(to.painted.rows),
      maskCols_(to.painted.cols) {
  settings_.labels = {}, settings_.keyLabels = {};
  if (bytesOf(from) + bytesOf(to) > kLarge) return;
  while (!isSettled()) settleSome();
}

void Difference::settleSome() {
  if (!std::exchange(late_->isReshaped, true)) return settleShape();
  while (late_->next < tensorsOf(late_->to).size())
    if (settleTensor()) return;
  late_.reset();
}

void Difference::settleShape() {
  State& state = late_->from;
  const State& to = late_->to;
  if (drawsMost(way_, to))
    for (std::size_t i = 0; i < tensorsOf(to).size(); ++i)
      if (placeOf(to, i)) leaveOut(*tensorsOf(state)[i], tensorsOf(to)[i]->rows());
  reshape(state);
  const auto labels = allLabelsOf(state);
  const auto wantedLabels = allLabelsOf(to);
  for (std::size_t i = 0; i < wantedLabels.size(); ++i) {
    if (*labels[i] == *wantedLabels[i]) continue;
    labels[i]->resize(wantedLabels[i]->size());
    labels_.push_back(
        {i, labels[i]->size(),
         patchOf(std::as_const(*labels[i]).data(), wantedLabels[i]->data(), labels[i]->size())});
  }
  giveShape(state.painted, maskRows_, maskCols_);
  mask_ = patchOf(std::as_const(state.painted.blocked).data(), to.painted.blocked.data(),
                  to.painted.blocked.size());
  if (state.preset != to.preset) preset_ = to.preset;
  if (state.unknownFields != to.unknownFields) unknownFields_ = to.unknownFields;
}

/// Returns whether there was something to do.
bool Difference::settleTensor() {
  const std::size_t which = late_->next++;
  Tensor& had = *tensorsOf(late_->from)[which];
  if (sameBits(had, *tensorsOf(late_->to)[which])) return false;
  tensors_.push_back(tensorPatch(late_->to, which, had));
  had = Tensor();  // of a large state they are not needed together
  return true;
}

Difference::TensorPatch Difference::tensorPatch(const State& to, std::size_t which, const Tensor& had) {
  const Tensor& wanted = *tensorsOf(to)[which];
  TensorPatch patch{which, {wanted.heads(), wanted.rows(), wanted.cols()}, false, {}};
  const bool hadShape = hasShape(had, patch.shape);
  const std::optional<Place> place = placeOf(to, which);
  patch.isInitial = place && !(hadShape && endsWith(wanted, lastRow(had))) && looksFresh(to, *place, wanted);
  const Tensor from = patch.isInitial ? freshRows(to, place->id, place->item, 0)
                      : hadShape      ? had.shared()
                                      : Tensor();
  patch.cells = patchOf(from.empty() ? nullptr : from.data(), wanted.data(), wanted.size());
  return patch;
}

void Difference::reshape(State& state) const {
  using Way = Reshape::Kind;
  state.seed = settings_.seed;  // so that what is redrawn gets the same numbers
  switch (way_.kind) {
    case Way::none: break;
    case Way::insertTokens: insertTokens(state, way_.side, way_.at, way_.count); break;
    case Way::removeTokens: removeTokens(state, way_.side, way_.at, way_.count); break;
    case Way::batch: resizeBatch(state, settings_.batch); break;
    case Way::resize:
    case Way::regroup: {
      Settings after = settings_;
      after.labels = state.labels, after.keyLabels = state.keyLabels;
      if (way_.kind == Way::resize && after.cross && !state.cross) after.keyLabels = state.labels;
      if (!after.cross) after.keyLabels.clear();
      (way_.kind == Way::resize ? resize : regroup)(state, after);
    }
  }
  if (way_.kind == Way::batch && state.batch > 1 && state.batchItem != settings_.batchItem)
    showItem(state, settings_.batchItem);
  giveSettings(state, settings_);
  state.items.resize(items_);
}

void Difference::apply(State& state) const {
  if (!isSettled()) {
    state = shared(late_->to);
    return;
  }
  if (drawsMost(way_, settings_))
    for (const TensorPatch& patch : tensors_)
      if (placeOf(state, patch.which)) leaveOut(*tensorsOf(state)[patch.which], patch.shape[1]);
  reshape(state);
  const auto labels = allLabelsOf(state);
  for (const LabelPatch& patch : labels_) {
    labels[patch.which]->resize(patch.count);
    write(patch.labels, labels[patch.which]->data());
  }
  // After the words, from which initial numbers may be drawn.
  const auto tensors = tensorsOf(state);
  for (const TensorPatch& patch : tensors_) {
    Tensor& tensor = *tensors[patch.which];
    const std::optional<Place> place = patch.isInitial ? placeOf(state, patch.which) : std::nullopt;
    if (place) tensor = freshRows(state, place->id, place->item, 0);
    else giveShape(tensor, patch.shape);
    write(patch.cells, tensor.data());
  }
  giveShape(state.painted, maskRows_, maskCols_);
  write(mask_, state.painted.blocked.data());
  if (preset_) state.preset = *preset_;
  if (unknownFields_) state.unknownFields = *unknownFields_;
}

// Compares instead of a copy, which of a large board takes as much memory.
bool sameContent(const State& a, const State& b) {
  Settings shown = b;
  copyView(shown, a);
  if (static_cast<const Settings&>(a) != shown || a.preset != b.preset ||
      a.unknownFields != b.unknownFields || a.painted != b.painted || !sameInputs(a, b, inputIds()))
    return false;
  for (int i = 0; i < kParameterCount; ++i)
    if (!sameBits(a.parameters[static_cast<ParameterId>(i)], b.parameters[static_cast<ParameterId>(i)]))
      return false;
  return std::equal(a.items.begin(), a.items.end(), b.items.begin(), b.items.end(),
                    [](const BatchItem& left, const BatchItem& right) {
                      return left.labels == right.labels && left.keyLabels == right.keyLabels &&
                             sameInputs(left, right, itemInputIds());
                    });
}

std::size_t Difference::bytes() const {
  if (!isSettled()) return sizeof *this + bytesOf(late_->to);
  std::size_t bytes = sizeof *this + heldBy(tensors_) + heldBy(labels_) + heldBy(mask_);
  for (const TensorPatch& patch : tensors_) bytes += heldBy(patch.cells);
  for (const LabelPatch& patch : labels_) bytes += heldBy(patch.labels.runs) + bytesOf(patch.labels.values);
  if (preset_) bytes += heldBy(*preset_);
  if (unknownFields_) bytes += heldBy(*unknownFields_);
  return bytes;
}

std::size_t bytesOf(const std::vector<std::string>& words) {
  std::size_t bytes = words.capacity() * sizeof(std::string);
  for (const std::string& word : words) bytes += heldBy(word);
  return bytes;
}

std::size_t bytesOf(const State& state) {
  std::size_t bytes = sizeof state + heldBy(state.preset) + heldBy(state.unknownFields) +
                      heldBy(state.painted.blocked) + state.items.capacity() * sizeof(BatchItem);
  for (const Tensor* tensor : tensorsOf(state)) bytes += tensor->size() * sizeof(float);
  for (const std::vector<std::string>* labels : allLabelsOf(state)) bytes += bytesOf(*labels);
  return bytes;
}

}  // namespace document
