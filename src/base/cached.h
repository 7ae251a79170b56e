// A computed value that is kept for as long as it is valid.
#pragma once

#include <cstdint>
#include <optional>

namespace base {

/// A one-entry cache: the value is recomputed only when the key that it was computed for changes.
template <class Key, class Value>
class Cached {
 public:
  /// The value for `key`. Calls `make` to compute it unless the cached value was computed for an equal key.
  template <class Make>
  const Value& get(const Key& key, Make make) {
    if (!key_ || !(*key_ == key)) {
      value_ = make();
      key_ = key;
      ++version_;
    }
    return value_;
  }
  /// Increases whenever the value is recomputed, so that a copy of it elsewhere (a texture) knows when it is
  /// stale.
  std::uint64_t version() const { return version_; }

 private:
  std::optional<Key> key_;
  Value value_{};
  std::uint64_t version_ = 0;
};

}  // namespace base
