// A computed value that is kept for as long as it is valid.
#pragma once

#include <cstdint>
#include <optional>

namespace base {

/// A value and what it was made for: made again only when that changes.
template <class Key, class Value>
class Cached {
 public:
  /// The value for `key`; `make` gives it where it is not the one at hand.
  template <class Make>
  const Value& get(const Key& key, Make make) {
    if (!key_ || !(*key_ == key)) {
      value_ = make();
      key_ = key;
      ++version_;
    }
    return value_;
  }
  /// Differs whenever the value does: for textures.
  std::uint64_t version() const { return version_; }

 private:
  std::optional<Key> key_;
  Value value_{};
  std::uint64_t version_ = 0;
};

}  // namespace base
