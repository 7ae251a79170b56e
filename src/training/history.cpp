#include "training/history.h"

#include <algorithm>

namespace training {
namespace {

constexpr std::size_t kMeasures = 1024, kMostKept = 400;

/// Removes items until at most three quarters of `most` are left, the steps of successive items differing by
/// at least a factor `ratio`; the last item always stays.
template <class Item>
void thin(std::vector<Item>& items, std::size_t most) {
  if (items.size() < most) return;
  for (double ratio = 1.001; items.size() > most * 3 / 4 && items.size() > 2; ratio = 1 + (ratio - 1) * 1.5) {
    const int last = items.back().step;
    double next = 0;
    std::erase_if(items, [&](const Item& item) {
      if (item.step < next && item.step != last) return true;
      next = item.step * ratio;
      return false;
    });
  }
}

template <class Item>
void cut(std::vector<Item>& items, int step) {
  std::erase_if(items, [step](const Item& item) { return item.step > step; });
}

}  // namespace

History::History(std::size_t parameters)
    : mostKept_(std::clamp((kBytes - kPoints * sizeof(Point) - kMeasures * sizeof(Measure)) /
                               (std::max<std::size_t>(parameters, 1) * sizeof(float) + 64),
                           std::size_t{2}, kMostKept)) {
  measures_.reserve(kMeasures), kept_.reserve(mostKept_);
}

void History::add(const Point& point) {
  thin(points_, kPoints);
  points_.push_back(point);
}

void History::add(const Measure& measure) {
  if (!measures_.empty() && measures_.back().step == measure.step) measures_.pop_back();
  thin(measures_, kMeasures);
  measures_.push_back(measure);
}

void History::keep(int step, std::span<const float> numbers) {
  if (!kept_.empty() && kept_.back().step == step) return;
  thin(kept_, mostKept_);
  kept_.push_back({step, {numbers.begin(), numbers.end()}});
}

void History::backTo(int step) { cut(points_, step), cut(measures_, step), cut(kept_, step); }

const History::Kept* History::at(int step) const {
  const auto after =
      std::find_if(kept_.begin(), kept_.end(), [step](const Kept& k) { return k.step > step; });
  return after == kept_.begin() ? nullptr : &*std::prev(after);
}

std::size_t History::bytes() const {
  std::size_t sum = points_.capacity() * sizeof(Point) + measures_.capacity() * sizeof(Measure);
  for (const Kept& k : kept_) sum += k.numbers.capacity() * sizeof(float) + sizeof(Kept);
  return sum;
}

}  // namespace training
