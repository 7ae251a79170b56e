#include "files/layout/opener.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/lesson.h"
#include "document/text.h"
#include "files/formats/format.h"
#include "files/formats/printed.h"
#include "files/formats/table.h"
#include "files/layout/match.h"
#include "files/layout/packed.h"
#include "files/layout/read.h"
#include "files/layout/trained_model.h"

namespace files {
namespace {

using document::State;
using ErrorKind = Error::Kind;

Result<Opened> opened(State state, std::size_t heading = 0) {
  Opened out;
  out.state = std::move(state), out.heading = heading;
  return out;
}

std::string stemOf(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  return std::string(path.substr(0, path.find_last_of('.')));
}

/// A matrix, a row or a single number as tab-separated cells.
std::string cellsOf(const Stored& tensor) {
  const std::int64_t cols = tensor.shape.empty() ? 1 : tensor.shape.back();
  const std::size_t count = static_cast<std::size_t>(checkedCount(tensor.shape).value_or(0));
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += textOf(tensor, i);
    out += static_cast<std::int64_t>(i + 1) % cols == 0 ? '\n' : '\t';
  }
  return out;
}

}  // namespace

void Opener::forget() { mapping_.reset(), text_ = {}; }

/// A file that turns out to need a question is read `again`: kept until then, it would take memory beside
/// what is made of it.
Result<Opened> Opener::take(StoredFile file, const Read& again, bool hasNoName, std::string_view name) {
  if (TrainedModel::isIn(file)) {
    Result<TrainedModel> model = TrainedModel::of(file);
    if (!model) return model.error();
    Result<State> state = model->recording();
    return state ? opened(std::move(*state)) : Result<Opened>(state.error());
  }
  const bool mayBeWeights = (hasNoName || isNameless(file)) && Mapping(file, {}).isWeightsAlone();
  const std::size_t heading = file.heading;
  StoredFile own = mayBeWeights ? file : std::exchange(file, {});
  Result<TensorsFile> tensors = hasNoName ? tensorsOfOne(std::move(own), NotFinite::hidden)
                                          : tensorsOf(std::move(own), {}, NotFinite::hidden);
  Error error;
  if (tensors && !mayBeWeights) {
    Result<State> state = stateOf(std::move(*tensors), State{});
    if (state) return opened(std::move(*state), heading);
    error = state.error();
  } else if (!tensors) {
    error = tensors.error();
  }
  // An invalid number cannot be resolved by asking which tensor is which.
  if (error.fault == Error::Fault::number) return error;
  tensors = error;  // gives its memory back
  if (!mayBeWeights) {
    Result<StoredFile> whole = again();
    if (!whole) return whole.error();
    file = std::move(*whole);
  }
  auto mapping = std::make_unique<Mapping>(std::move(file), base::printable(name));
  if (!mapping->isPossible()) return error;
  Opened out;
  out.kind = Opened::Kind::form;
  out.form = mapping->form({});
  // Of what is too large, a part may have room.
  if (error.kind == ErrorKind::memory && !out.form.isReady) return error;
  mapping_ = std::move(mapping);
  return out;
}

Result<Opened> Opener::open(std::string_view bytes, std::string_view fileName) {
  forget();
  const std::optional<Format> named = formatOf(fileName);
  const Format format = named.value_or(formatOfBytes(bytes));
  const std::string stem = stemOf(fileName);
  if (format == Format::json) {
    Opened out;
    out.kind = Opened::Kind::text;
    if (document::isLessonText(bytes)) return out;
    Result<StoredFile> any = readJson(bytes, stem);
    if (!any || any->isState) return out;
    const bool isList = any->tensors.size() == 1 && any->tensors.front().name == stem;
    return take(std::move(*any), [&] { return readJson(bytes, stem); }, isList, fileName);
  }
  Result<StoredFile> file = readStored(bytes, format, stem);
  if (!file) return file.error();
  const bool hasNoName = holdsOne(format) && !isLayerName(stem);
  return take(std::move(*file), [&] { return readStored(bytes, format, stem); }, hasNoName, fileName);
}

Result<Opened> Opener::paste(std::string_view text) {
  forget();
  Result<std::string> json = jsonOfPrinted(text);
  if (!json) return json.error();
  text_ = std::move(*json);
  Result<StoredFile> file = readJson(text_, "clipboard");
  if (!file) return file.error();
  if (file->isState) {
    Opened out;
    out.kind = Opened::Kind::text, out.text = text_;
    return out;
  }
  const bool isOne = file->tensors.size() == 1 && text_.starts_with('[');
  if (isOne && file->tensors.front().shape.size() <= 2 && file->tensors.front().type != Type::text) {
    Opened out;
    out.kind = Opened::Kind::cells, out.text = cellsOf(file->tensors.front());
    return out;
  }
  return take(std::move(*file), [this] { return readJson(text_, "clipboard"); }, isOne, "The clipboard");
}

Result<Opened> Opener::choose(std::string_view choices) {
  if (!mapping_) return base::refuse(ErrorKind::range, "file", {"it is no longer there; open it again."});
  bool isFinal = false;
  const document::Choices chosen = document::choicesFrom(choices, isFinal);
  if (isFinal) {
    Result<State> state = mapping_->state(chosen);
    if (!state) return state.error();
    forget();
    return opened(std::move(*state));
  }
  Opened out;
  out.kind = Opened::Kind::form, out.form = mapping_->form(chosen);
  return out;
}

Result<void> convert(std::string_view tensors, std::string_view fileName, std::string_view only,
                     const std::function<bool(std::string_view)>& put) {
  const std::optional<Format> format = formatOf(fileName);
  if (!format)
    return base::refuse(ErrorKind::range, fieldOf(fileName),
                        {"its name does not end in ", base::either(formatEndings()), "; use one of these."});
  Result<StateTensors> found = unpackedTensors(tensors);
  if (!found) return found.error();
  StoredFile whole = storedOf(std::move(*found)), *file = &whole;
  if (holdsOne(*format) || !only.empty()) {
    std::vector<std::string> names;
    for (const Stored& tensor : file->tensors) names.push_back(tensor.name);
    std::erase_if(file->tensors, [&](const Stored& tensor) { return tensor.name != only; });
    if (file->tensors.empty())
      return base::refuse(
          ErrorKind::range, "tensor",
          {base::inQuotes(only), " is not one of this layer; use ", base::either(names), "."});
    file->notes.clear();
  }
  if (auto ok = checkWritable(*file, *format); !ok) return ok;
  if (!writeFile(*file, *format, put))
    return base::refuse(ErrorKind::memory, "file", {"it could not be written whole."});
  return {};
}

}  // namespace files
