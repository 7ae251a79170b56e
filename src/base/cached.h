// A computed value that is kept for as long as it is valid.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/slices.h"

namespace base {

/// A one-entry cache: the value is recomputed only when the key that it was computed for changes.
template <class Key, class Value>
class Cached {
 public:
  /// The value for `key`. Calls `make` to compute it unless the cached value was computed for an equal key.
  template <class Make>
  const Value& get(const Key& key, Make make) {
    if (!has(key)) {
      value_ = make();
      key_ = key;
      ++version_;
    }
    return value_;
  }
  bool has(const Key& key) const { return key_ && *key_ == key; }
  /// The value that was computed last, for whichever key; null if there is none.
  const Value* last() const { return key_ ? &value_ : nullptr; }
  /// Increases whenever the value is recomputed, so that a copy of it elsewhere (a texture) knows when it is
  /// stale.
  std::uint64_t version() const { return version_; }

 private:
  std::optional<Key> key_;
  Value value_{};
  std::uint64_t version_ = 0;
};

/// The same, of a value that may be computed in slices. Until it is whole, the one before it is kept.
template <class Key, class Value>
class CachedSlices {
 public:
  /// Does the next part of the value for `key`; returns whether there are more. `make(Value&)` returns the
  /// work that fills in a value, which stays at its place.
  template <class Make>
  bool next(const Key& key, Make make) {
    if (has(key)) return false;
    if (!wanted_ || !(*wanted_ == key)) {
      work_ = Slices();  // it refers to the value
      next_ = std::make_unique<Value>();
      work_ = make(*next_);
      wanted_ = key;
    }
    if (work_.next()) return true;
    work_ = Slices();
    value_ = std::move(next_), key_ = std::move(wanted_);
    wanted_.reset();
    return false;
  }
  bool has(const Key& key) const { return key_ && *key_ == key; }
  /// The value that was computed last, for whichever key; null if there is none.
  const Value* last() const { return value_.get(); }
  Slices::Progress progress() const { return work_.progress(); }

 private:
  std::optional<Key> key_, wanted_;
  std::unique_ptr<Value> value_, next_;
  Slices work_;
};

}  // namespace base
