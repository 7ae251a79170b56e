#include "app/source.h"

#include "base/number.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/text.h"

namespace app {
namespace {

using base::joined;
using document::State;
using document::Value;

std::string number(float value) { return document::toJson(Value(base::readable(value))); }

std::string rowAndCol(int row, int col, int rows, int cols) {
  std::string at = joined({",\"row\":", row, ",\"col\":", col});
  return rows * cols == 1 ? at : at + joined({",\"rows\":", rows, ",\"cols\":", cols});
}

struct Place {
  std::string operator()(const document::SetCells& e) const {
    return joined({"\"name\":", document::jsonQuoted(attention::name(e.tensor)), ",\"head\":", e.head,
                   rowAndCol(e.row, e.col, e.rows, e.cols)});
  }
  std::string operator()(const document::SetParameter& e) const {
    return joined({"\"name\":", document::jsonQuoted(document::name(e.parameter)),
                   rowAndCol(e.row, e.col, e.rows, e.cols)});
  }
  std::string operator()(const document::PaintCells& e) const {
    return "\"name\":\"mask\"" + rowAndCol(e.row, e.col, e.rows, e.cols);
  }
  std::string operator()(const document::SetOption& e) const {
    const std::string name = document::jsonQuoted(document::option(e.option).name);
    return joined({"\"name\":", name, ",\"option\":", name});
  }
  std::string operator()(const document::SetLabels& e) const {
    return joined(
        {"\"name\":\"", e.side == document::Side::keys ? "key_labels" : "labels", "\",\"row\":", e.first});
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

struct Now {
  const State& state;

  std::string operator()(const document::SetCells& e) const {
    const document::Tensor* t = e.rows * e.cols == 1 ? document::input(state, e.tensor) : nullptr;
    return t && t->contains(e.head, e.row, e.col) ? number(t->at(e.head, e.row, e.col)) : "";
  }
  std::string operator()(const document::SetParameter& e) const {
    return e.rows * e.cols == 1 ? number(document::parameter(state, e.parameter).at(0, e.row, e.col)) : "";
  }
  std::string operator()(const document::PaintCells& e) const {
    if (e.rows * e.cols != 1) return {};
    return state.painted.isBlocked(e.row, e.col) ? "true" : "false";
  }
  std::string operator()(const document::SetOption& e) const {
    return document::toJson(document::get(state, e.option));
  }
  std::string operator()(const document::SetLabels& e) const {
    const auto& labels = e.side == document::Side::keys ? document::keyLabels(state) : state.labels;
    const auto at = static_cast<std::size_t>(e.first);
    return e.labels.size() == 1 && at < labels.size() ? document::jsonQuoted(labels[at]) : "";
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }
};

std::string sourceJson(Source source) {
  static constexpr const char* kNames[] = {"user", "script", "lesson", "training"};
  return joined({"{\"source\":\"", kNames[static_cast<int>(source)], "\""});
}

}  // namespace

EditWords wordsBefore(const State& state, const document::Edit& edit) {
  return {std::visit(Place{}, edit), valueAt(state, edit), {}};
}

std::string valueAt(const State& state, const document::Edit& edit) { return std::visit(Now{state}, edit); }

std::string detail(Source source, const EditWords& words) {
  std::string json = sourceJson(source);
  if (!words.place.empty()) json += "," + words.place;
  if (!words.before.empty() && !words.after.empty())
    json += joined({",\"before\":", words.before, ",\"after\":", words.after});
  return json + "}";
}

std::string detail(Source source, std::string_view action) {
  return joined({sourceJson(source), ",\"action\":\"", action, "\"}"});
}

}  // namespace app
