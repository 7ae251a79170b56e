#include "document/difference.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "document/resize.h"

namespace document {
namespace {

/// Runs separated by fewer equal values than this are stored as one run, which takes less memory.
constexpr std::size_t kGap = 3;

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

float hundredth(std::int16_t count) { return static_cast<float>(count) / 100.0f; }

std::int16_t hundredthsIn(float value) {
  constexpr float most = 327;
  return static_cast<std::int16_t>(std::lround(std::clamp(value, -most, most) * 100.0f));
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
    : way_(way),
      settings_(to),
      items_(to.items.size()),
      maskRows_(to.painted.rows),
      maskCols_(to.painted.cols) {
  settings_.labels = {}, settings_.keyLabels = {};
  State state = shared(from);
  reshape(state);
  const auto tensors = tensorsOf(state);
  const auto wanted = tensorsOf(to);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (sameBits(*tensors[i], *wanted[i])) continue;
    const std::array<int, 3> shape{wanted[i]->heads(), wanted[i]->rows(), wanted[i]->cols()};
    const float* const had = hasShape(*tensors[i], shape) ? std::as_const(*tensors[i]).data() : nullptr;
    tensors_.push_back({i, shape, {runsOf(had, wanted[i]->data(), wanted[i]->size()), {}}, {}});
    takeValues(wanted[i]->data(), tensors_.back());
    *tensors[i] = Tensor();  // of a large state they are not needed together
  }
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

void Difference::takeValues(const float* from, TensorPatch& patch) {
  const std::vector<PatchRun>& runs = patch.cells.runs;
  const auto isHundredth = [](float value) { return same(hundredth(hundredthsIn(value)), value); };
  const bool arePacked = std::all_of(runs.begin(), runs.end(), [&](const PatchRun& run) {
    return std::all_of(from + run.at, from + run.at + run.count, isHundredth);
  });
  const std::size_t count = countOf(runs);
  arePacked ? patch.hundredths.reserve(count) : patch.cells.values.reserve(count);
  for (const PatchRun& run : runs)
    for (std::uint32_t i = run.at; i < run.at + run.count; ++i)
      arePacked ? patch.hundredths.push_back(hundredthsIn(from[i])) : patch.cells.values.push_back(from[i]);
}

void Difference::writeValues(const TensorPatch& patch, float* cells) {
  if (patch.hundredths.empty()) return write(patch.cells, cells);
  auto value = patch.hundredths.begin();
  for (const PatchRun& run : patch.cells.runs)
    for (std::uint32_t i = run.at; i < run.at + run.count; ++i) cells[i] = hundredth(*value++);
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
  reshape(state);
  const auto tensors = tensorsOf(state);
  for (const TensorPatch& patch : tensors_) {
    giveShape(*tensors[patch.which], patch.shape);
    writeValues(patch, tensors[patch.which]->data());
  }
  const auto labels = allLabelsOf(state);
  for (const LabelPatch& patch : labels_) {
    labels[patch.which]->resize(patch.count);
    write(patch.labels, labels[patch.which]->data());
  }
  giveShape(state.painted, maskRows_, maskCols_);
  write(mask_, state.painted.blocked.data());
  if (preset_) state.preset = *preset_;
  if (unknownFields_) state.unknownFields = *unknownFields_;
}

bool Difference::isShownOnly(const State& from) const {
  Settings before = from, after = settings_;
  before.labels = {}, before.keyLabels = {};
  copyView(after, before);
  return way_.kind == Reshape::Kind::none && before == after && items_ == from.items.size() &&
         tensors_.empty() && labels_.empty() && maskRows_ == from.painted.rows &&
         maskCols_ == from.painted.cols && mask_.runs.empty() && !preset_ && !unknownFields_;
}

std::size_t Difference::bytes() const {
  std::size_t bytes = sizeof *this + heldBy(tensors_) + heldBy(labels_) + heldBy(mask_);
  for (const TensorPatch& patch : tensors_) bytes += heldBy(patch.cells) + heldBy(patch.hundredths);
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
