#include "attention/steps/mask.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace attention {
namespace {

/// The end of the keys that causal and padding leave visible.
std::int64_t reach(const Spec& spec, std::int64_t position) {
  std::int64_t end = spec.keyCount;
  if (spec.causal) end = std::min(end, std::max(position + 1, std::int64_t{spec.prefix}));
  if (spec.keyLength >= 0) end = std::min(end, std::int64_t{spec.keyLength});
  return end;
}

}  // namespace

MaskRow::MaskRow(const Spec& spec, int query)
    : spec_(spec),
      position_(std::int64_t{query} + spec.causalOffset),
      seed_(base::mix(base::mix(spec.pattern.seed) + static_cast<std::uint64_t>(position_))) {
  if (spec.pattern.random > 0) drawKeys();
}

void MaskRow::drawKeys() {
  // Every key that may be drawn gets a hash; those with the smallest hashes are drawn. A key's rank among
  // earlier keys does not depend on how many keys follow, so a growing sequence keeps what was drawn for its
  // earlier queries.
  drawn_ = reach(spec_, position_);
  const auto count = static_cast<std::size_t>(std::min(drawn_, std::int64_t{spec_.pattern.random}));
  if (count == 0) return;
  lastDraw_ = std::numeric_limits<std::uint64_t>::max();
  const auto keepSmallest = [&] {
    std::nth_element(draws_.begin(), draws_.begin() + static_cast<std::ptrdiff_t>(count - 1), draws_.end());
    draws_.resize(count);
    lastDraw_ = draws_.back();
  };
  const std::size_t most = 2 * count + 64;  // of which half are dropped at once
  draws_.reserve(most);
  for (std::int64_t key = 0; key < drawn_; ++key) {
    const std::uint64_t next = draw(key);
    if (next <= lastDraw_) draws_.push_back(next);
    if (draws_.size() == most) keepSmallest();
  }
  keepSmallest();
}

/// A hash of seed, position and key; its lower half is replaced by the key, so that no two keys have the
/// same.
std::uint64_t MaskRow::draw(std::int64_t key) const {
  const auto at = static_cast<std::uint64_t>(key);
  return base::mix(seed_ + at) >> 32 << 32 | at;
}

// Divides 32 bits, which every key of a row needs; 64 take several times as long.
bool MaskRow::isInPattern(std::int64_t key) const {
  const Pattern& pattern = spec_.pattern;
  if (position_ < pattern.global || key < pattern.global) return true;
  const auto distance = static_cast<std::uint32_t>(position_ > key ? position_ - key : key - position_),
             dilation = static_cast<std::uint32_t>(pattern.dilation);
  if (distance < std::int64_t{pattern.local} * pattern.dilation && distance % dilation == 0) return true;
  if (pattern.stride > 0 && distance % static_cast<std::uint32_t>(pattern.stride) == 0) return true;
  if (pattern.block > 0 && position_ / pattern.block == key / pattern.block) return true;
  return pattern.random > 0 && key < drawn_ && draw(key) <= lastDraw_;
}

void MaskRow::letThrough(int count, std::uint8_t* seen) const {
  const Pattern& pattern = spec_.pattern;
  const bool isAll = !pattern.any() || position_ < pattern.global;
  std::fill_n(seen, count, static_cast<std::uint8_t>(isAll));
  if (isAll) return;
  const std::int64_t end = count;
  const auto mark = [&](std::int64_t from, std::int64_t to, std::int64_t step) {
    for (std::int64_t key = from; key < std::min(to, end); key += step) seen[key] = 1;
  };
  mark(0, pattern.global, 1);
  if (pattern.local > 0) {
    const std::int64_t far = std::int64_t{pattern.local - 1} * pattern.dilation,
                       before = std::min(far, position_) / pattern.dilation * pattern.dilation;
    mark(position_ - before, position_ + far + 1, pattern.dilation);
  }
  if (pattern.stride > 0) mark(position_ % pattern.stride, end, pattern.stride);
  if (pattern.block > 0) {
    const std::int64_t first = position_ / pattern.block * pattern.block;
    mark(first, first + pattern.block, 1);
  }
  for (const std::uint64_t draw : draws_) {
    const auto key = static_cast<std::int64_t>(draw & 0xffffffffu);
    mark(key, key + 1, 1);
  }
}

Hidden MaskRow::reason(int key) const {
  if (spec_.causal && key > position_ && key >= spec_.prefix) return Hidden::causal;
  if (spec_.windowLeft >= 0 && key < position_ - spec_.windowLeft) return Hidden::window;
  if (spec_.windowRight >= 0 && key > position_ + spec_.windowRight) return Hidden::window;
  if (spec_.keyLength >= 0 && key >= spec_.keyLength) return Hidden::padding;
  if (spec_.pattern.any() && !isInPattern(key)) return Hidden::pattern;
  return Hidden::no;
}

}  // namespace attention
