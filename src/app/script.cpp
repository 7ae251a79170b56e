#include "app/script.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "app/names.h"
#include "attention/layer/loops.h"
#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/remedy.h"
#include "document/text.h"
#include "files/layout/read.h"
#include "views/widgets.h"

namespace app {
namespace {

using attention::Tensor;
using base::Error;
using base::joined;
using base::Result;

std::string listOfInputs() {
  std::string all;
  for (const attention::TensorId id : document::inputIds())
    all += (all.empty() ? "" : ", ") + std::string(attention::name(id));
  return all;
}

/// Checks a shape; leading axes of length 1 may be omitted.
Result<void> checkShape(std::string_view name, const Tensor& t, std::size_t count,
                        std::span<const int> shape) {
  const std::array<int, 3> own{t.heads(), t.rows(), t.cols()};
  const std::size_t rank = shape.size();
  bool fits = rank >= 1 && rank <= 3 && count == t.size();
  for (std::size_t i = 0; fits && i < 3; ++i) fits = (i < rank ? shape[rank - 1 - i] : 1) == own[2 - i];
  if (fits) return {};
  return base::refuse(Error::Kind::range, name,
                      {"shape ", base::shapeText({shape.begin(), shape.end()}), " with ", count,
                       " numbers does not fit; use ", base::shapeText({own.begin(), own.end()}),
                       ", or change tokens, heads or d_k first."});
}

}  // namespace

std::string Script::state() const { return document::toText(session_.state()); }

Result<void> Script::setState(std::string_view text, bool undoable) {
  auto state = files::readState(text, session_.state());
  if (!state) return state.error();
  return session_.open(std::move(*state), undoable, Source::script);
}

Result<std::string> Script::get(std::string_view option) const {
  const document::Option* o = document::optionNamed(option);
  if (!o) return unknownOption(option);
  return document::toJson(document::get(session_.state(), o->id));
}

Result<void> Script::set(std::string_view option, std::string_view json) {
  const document::Option* o = document::optionNamed(option);
  if (!o) return unknownOption(option);
  auto value = document::valueFromJson(json, option);
  if (!value) return value.error();
  if (auto ok = session_.apply(document::SetOption{o->id, *value}, 0, Source::script); !ok) {
    return document::withRemedy(session_.state(), o->id, *value, std::move(ok.error()));
  }
  return {};
}

Result<void> Script::setTensor(std::string_view name, std::span<const float> data,
                               std::span<const int> shape) {
  const auto id = attention::tensorNamed(name);
  if (!id && !document::derivedNamed(name)) return unknownTensor(name);
  const auto parameter = document::parameterNamed(name);
  const Tensor* t = parameter ? &session_.derived().parameter(*parameter)
                    : id      ? document::input(session_.state(), *id)
                              : nullptr;
  if (!t) return base::refuse(Error::Kind::range, name, {"it is computed; set one of ", listOfInputs(), "."});
  if (t->empty()) return document::checkEditable(session_.state(), *id);
  if (auto ok = checkShape(name, *t, data.size(), shape); !ok) return ok;
  // Heads are stored one after the other, and a block edit is limited to one of them; all edits share a
  // gesture.
  const std::uint64_t gesture = t->heads() > 1 ? screen_.view.nextGesture++ : 0;
  const std::size_t each = t->size() / static_cast<std::size_t>(std::max(t->heads(), 1));
  const int rows = t->rows(), cols = t->cols();
  std::vector<document::Edit> edits;
  for (int h = 0; h < t->heads(); ++h) {
    const auto from = data.begin() + static_cast<std::ptrdiff_t>(each * static_cast<std::size_t>(h));
    std::vector<float> values(from, from + static_cast<std::ptrdiff_t>(each));
    if (parameter) edits.push_back(document::SetParameter{*parameter, 0, 0, rows, cols, std::move(values)});
    else edits.push_back(document::SetCells{*id, h, 0, 0, rows, cols, std::move(values)});
  }
  return session_.applyAll(edits, gesture, Source::script, name);
}

Rect Script::outside(const views::Box& box) const {
  const float by = screen_.zoom;
  return {box.x * by, box.y * by, box.width * by, box.height * by};
}

Result<Rect> Script::locate(std::string_view name, int head, int row, int col) {
  const auto rect = places_.locate(name, head, row, col);
  if (!rect) return rect;
  return outside({rect->x, rect->y, rect->width, rect->height});
}

float Script::value(std::string_view name, int head, int row, int col) const {
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  const auto id = attention::tensorNamed(name);
  if (!id && !document::derivedNamed(name)) return kNone;
  const auto found = tensorWithCell(session_, name, head, row, col);
  if (!found) return kNone;
  const Tensor* t = id ? attention::find(session_.inputs(), session_.traceOf(*id, head), *id) : *found;
  return t->at(head, row, col);
}

Result<std::string> Script::explain(std::string_view name, int head, int row, int col,
                                    bool isTranslated) const {
  const auto id = attention::tensorNamed(name);
  const auto derived = document::derivedNamed(name);
  if (!id && !(derived && document::DerivedTensors::isExplained(*derived))) return unknownTensor(name, true);
  if (const auto tensor = tensorWithCell(session_, name, head, row, col); !tensor) return tensor.error();
  const document::State& s = session_.state();
  const attention::Trace& trace = id ? session_.traceOf(*id, head) : session_.shapes();
  const attention::Explanation e =
      derived ? session_.derived().explain(*derived, row, col)
              : attention::explain({session_.spec(), session_.inputs(), trace}, {*id, head, row, col},
                                   {s.labels, document::keyLabels(s)}, s.decimals);
  const auto said = [isTranslated](base::MessageView words) {
    return document::jsonQuoted(isTranslated ? views::inWords(words) : words.english());
  };
  std::string terms;
  for (const attention::Term& term : e.terms) {
    terms += joined(
        {terms.empty() ? "" : ",", "{\"label\":", said(term.label), ",\"text\":", said(term.text),
         ",\"value\":", std::isfinite(term.value) ? document::toJson(document::Value(term.value)) : "null",
         "}"});
  }
  std::string json = joined({"{\"text\":", said(e.text()), ",\"terms\":[", terms});
  json += "]";
  if (id) {
    const auto lines = attention::loopsOf(*id, session_.spec(), session_.inputs(), trace,
                                          views::headShowing(s, *id, head, row, col));
    for (const attention::LoopLine& line : lines)
      json += joined({&line == lines.data() ? ",\"loops\":[" : ",",
                      document::jsonQuoted(
                          joined({std::string(static_cast<std::size_t>(2 * line.depth), ' '), line.text}))});
    if (!lines.empty()) json += "]";
  }
  return json + "}";
}

Result<const Tensor*> Script::gradient(std::string_view name, int head, int row, int col,
                                       std::string_view by) {
  const auto of = attention::tensorNamed(name), wrt = attention::tensorNamed(by);
  if (!of) return unknownTensor(name);
  if (!wrt) return unknownTensor(by);
  if (!scratch_) scratch_ = std::make_unique<attention::BackwardScratch>();
  const attention::Spec& spec = session_.spec();
  attention::Trace whole;  // where pairs are not stored, the gradient has its own
  if (!session_.isStored()) {
    if (std::int64_t{spec.heads} * spec.queryCount * spec.keyCount > attention::Limits::stored)
      return base::refuse(Error::Kind::memory, name,
                          {"gradients need all scores, of which at most ", attention::Limits::stored,
                           " fit into memory here; use fewer heads or tokens, or attn grad."});
    attention::forward(spec, session_.inputs(), whole);
  }
  Result<Tensor> made =
      attention::gradientOf(spec, session_.inputs(), session_.isStored() ? session_.trace() : whole,
                            {*of, head, row, col}, *wrt, *scratch_);
  if (!made) return made.error();
  gradient_ = std::move(*made);
  return &gradient_;
}

std::string Script::items() const {
  std::string json = "[";
  const auto number = [](float length) {
    return document::toJson(document::Value(static_cast<double>(length)));
  };
  for (const auto& [name, box] : screen_.widgetRects) {
    const Rect r = outside(box);
    json += joined({json.size() > 1 ? "," : "", "{\"name\":", document::jsonQuoted(name),
                    ",\"x\":", number(r.x), ",\"y\":", number(r.y), ",\"width\":", number(r.width),
                    ",\"height\":", number(r.height), "}"});
  }
  return json + "]";
}

}  // namespace app
