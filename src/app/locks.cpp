#include "app/locks.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/parameter.h"
#include "views/context.h"

namespace app {
namespace {

using base::Result;
using document::State;
using document::Tensor;

base::Error refused(std::string_view name) {
  if (name == "all") return {base::Error::Kind::range, "", "This page has locked all that would change it."};
  return {base::Error::Kind::range, std::string(name), "is locked by this page.", true};
}

bool alike(const Tensor* a, const Tensor* b) {
  if (!a || !b) return !a == !b;
  const bool sameShape = a->heads() == b->heads() && a->rows() == b->rows() && a->cols() == b->cols();
  return sameShape && std::equal(a->data(), a->data() + a->size(), b->data());
}

bool sameMask(const State& a, const State& b) {
  if (a.tokens != b.tokens || a.keyTokens != b.keyTokens) return false;
  for (int i = 0; i < a.tokens; ++i) {
    for (int j = 0; j < a.keyTokens; ++j) {
      if (a.painted.isBlocked(i, j) != b.painted.isBlocked(i, j)) return false;
    }
  }
  return true;
}

bool changes(std::string_view name, const State& from, const State& to) {
  if (name == "mask") return !sameMask(from, to);
  if (const document::Option* option = document::optionNamed(name))
    return document::get(from, option->id) != document::get(to, option->id);
  if (const auto id = attention::tensorNamed(name))
    return !alike(document::input(from, *id), document::input(to, *id));
  if (const auto id = document::parameterNamed(name)) {
    const Tensor a = document::parameter(from, *id), b = document::parameter(to, *id);
    return !alike(&a, &b);
  }
  return false;
}

struct NameOf {
  std::string_view operator()(const document::SetCells& e) const { return attention::name(e.tensor); }
  std::string_view operator()(const document::SetParameter& e) const { return document::name(e.parameter); }
  std::string_view operator()(const document::PaintCells&) const { return "mask"; }
  std::string_view operator()(const document::SetOption& e) const { return document::option(e.option).name; }
  std::string_view operator()(const document::SetLabels& e) const {
    return e.side == document::Side::keys ? "key_labels" : "labels";
  }
  template <class Other>
  std::string_view operator()(const Other&) const {
    return "all";
  }
};

}  // namespace

Result<void> keepsLocks(std::string_view lock, std::string_view action, const State& from, const State& to) {
  if (lock.empty()) return {};
  if (views::isLocked(lock, action)) return refused(views::listed(lock, "all") ? "all" : action);
  while (!lock.empty()) {
    const std::size_t comma = std::min(lock.find(','), lock.size());
    std::string_view name = lock.substr(0, comma);
    while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    if (changes(name, from, to)) return refused(name);
    lock.remove_prefix(std::min(comma + 1, lock.size()));
  }
  return {};
}

Result<void> keepsLocks(std::string_view lock, const document::Edit& edit) {
  const std::string_view name = std::visit(NameOf{}, edit);
  if (views::isLocked(lock, name)) return refused(name);
  return {};
}

}  // namespace app
