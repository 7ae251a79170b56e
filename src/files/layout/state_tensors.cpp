#include "files/layout/state_tensors.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/document.h"
#include "files/layout/attention_options.h"

namespace files {
namespace {

using attention::Tensor;
using attention::TensorId;

/// Is it a single matrix, rather than one per head?
bool isMatrix(TensorId id) {
  return attention::kLayerTensors.contains(id) && attention::tensorRow(id).heads == attention::Size::one;
}

bool isShared(TensorId id) {  // by all items of a batch
  const auto inputs = document::inputIds(), items = document::itemInputIds();
  return std::find(inputs.begin(), inputs.end(), id) != inputs.end() &&
         std::find(items.begin(), items.end(), id) == items.end();
}

class StateCollector {
 public:
  explicit StateCollector(const document::State& state) : state_(state) {}

  Result<StateTensors> collect() {
    const int batch = state_.batch;
    found_.labels = state_.labels, found_.shown = state_.batchItem, found_.isOfLayers = hasLayers(state_);
    found_.weightScale = document::shownScale(state_);
    if (state_.cross) found_.keyLabels = state_.keyLabels;
    for (int item = 0; item < batch; ++item) {
      if (batch > 1)
        document::apply(state_,
                        document::SetOption{document::OptionId::batch_item, static_cast<double>(item)});
      const attention::Spec spec = document::spec(state_);
      const attention::Inputs inputs = document::inputs(state_);
      if (auto ok = attention::validate(spec, inputs); !ok) return ok;
      if (std::int64_t{spec.heads} * spec.queryCount * spec.keyCount > attention::Limits::stored)
        return base::refuse(
            base::Error::Kind::memory, "tensors",
            {spec.heads, " heads of ", spec.queryCount, " × ", spec.keyCount,
             " scores do not fit into a file of all tensors, which has room for ", attention::Limits::stored,
             "; save the state instead, and take a part of its weights with attn run."});
      attention::forward(spec, inputs, trace_);
      for (int i = 0; i < attention::kTensorCount; ++i) {
        const auto id = static_cast<TensorId>(i);
        if (id == TensorId::bias) continue;
        const Tensor* tensor = attention::find(inputs, trace_, id);
        if (tensor && (item == 0 || !isShared(id)))
          put(attention::name(id), *tensor, isMatrix(id), isShared(id) ? 1 : batch,
              document::isProjectionBias(id));
      }
      if (inputs.bias) put("mask", whole(*inputs.bias), false, batch);
    }
    if (!state_.painted.empty() && state_.bias.empty()) putPainted();
    for (int i = 0; i < document::kParameterCount; ++i) {
      const auto id = static_cast<document::ParameterId>(i);
      if (!state_.parameters[id].empty()) put(document::name(id), state_.parameters[id], true, 1);
    }
    found_.options = layer::optionsText(state_);
    return std::move(found_);
  }

 private:
  /// The bias of a projection is written with one axis, as in PyTorch's files.
  void put(std::string_view name, const Tensor& tensor, bool isOne, int batch, bool isList = false) {
    StateTensor* found = nullptr;
    for (StateTensor& other : found_.tensors)
      if (other.name == name) found = &other;
    const auto values = tensor.values();
    const std::size_t bytes = values.size() * sizeof(float);
    if (!found) {
      found = &found_.tensors.emplace_back();
      found->name = name, found->shape = {tensor.heads(), tensor.rows(), tensor.cols()};
      if (isOne) found->shape.erase(found->shape.begin());
      if (isList) found->shape.erase(found->shape.begin());
      if (batch > 1) found->shape.insert(found->shape.begin(), batch);
      found->bytes.reserve(bytes * static_cast<std::size_t>(batch));
    }
    found->bytes.append(reinterpret_cast<const char*>(values.data()), bytes);  // the items follow each other
  }

  /// A bias in which painted cells are masked.
  Tensor whole(Tensor bias) const {
    for (int h = 0; h < bias.heads(); ++h)
      for (int i = 0; i < bias.rows(); ++i)
        for (int j = 0; j < bias.cols(); ++j)
          if (state_.painted.isBlocked(i, j)) bias.at(h, i, j) = -std::numeric_limits<float>::infinity();
    return bias;
  }

  void putPainted() {
    const attention::PaintedMask& painted = state_.painted;
    StateTensor& mask = found_.tensors.emplace_back();
    mask.name = "mask", mask.isBoolean = true, mask.shape = {painted.rows, painted.cols};
    for (const std::uint8_t blocked : painted.blocked) mask.bytes += static_cast<char>(blocked == 0 ? 1 : 0);
  }

  document::State state_;
  attention::Trace trace_;
  StateTensors found_;
};

}  // namespace

Result<StateTensors> collectTensors(const document::State& state) { return StateCollector(state).collect(); }

StoredFile storedOf(StateTensors found) {
  StoredFile file;
  for (StateTensor& one : found.tensors) {
    Stored& tensor = file.tensors.emplace_back();
    const auto bytes = std::make_shared<std::string>(std::move(one.bytes));
    tensor.name = std::move(one.name), tensor.type = one.isBoolean ? Type::boolean : Type::float32,
    tensor.shape = std::move(one.shape);
    tensor.bytes = *bytes, tensor.owned = std::shared_ptr<const char[]>(bytes, bytes->data());
  }
  const auto put = [&file](std::string_view name, std::vector<std::string>& labels) {
    if (labels.empty()) return;
    Stored& tensor = file.tensors.emplace_back();
    tensor.name = name, tensor.type = Type::text, tensor.shape = {static_cast<std::int64_t>(labels.size())},
    tensor.texts = std::move(labels);
  };
  put("labels", found.labels);
  put("key_labels", found.keyLabels);
  file.notes.emplace_back("options", std::move(found.options));
  return file;
}

Result<StoredFile> tensorsOfState(const document::State& state) {
  auto found = collectTensors(state);
  if (!found) return found.error();
  return storedOf(std::move(*found));
}

}  // namespace files
