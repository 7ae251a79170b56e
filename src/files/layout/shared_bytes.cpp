#include "files/layout/shared_bytes.h"

#include <algorithm>
#include <utility>

namespace files {

bool SharedBytes::isHere() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const Run& run) { return run.part->number == 0; });
}

void SharedBytes::append(std::string bytes) {
  const std::size_t size = bytes.size();
  append(Run{std::make_shared<Part>(Part{std::move(bytes), size, 0}), 0, size});
}

void SharedBytes::append(const SharedBytes& other) {
  for (const Run& run : other.runs_) append(run);
}

void SharedBytes::append(Run run) {
  if (run.count == 0) return;
  size_ += run.count;
  Run* const last = runs_.empty() ? nullptr : &runs_.back();
  if (last && last->part == run.part && last->from + last->count == run.from) last->count += run.count;
  else runs_.push_back(std::move(run));
}

SharedBytes SharedBytes::slice(std::size_t from, std::size_t count) const {
  SharedBytes out;
  for (const Run& run : runs_) {
    if (count == 0) break;
    const std::size_t skipped = std::min(from, run.count), taken = std::min(run.count - skipped, count);
    from -= skipped, count -= taken;
    out.append(Run{run.part, run.from + skipped, taken});
  }
  return out;
}

SharedBytes SharedBytes::compact() const {
  SharedBytes out;
  for (const Run& run : runs_) {
    if (run.part->number == 0 && run.count < run.part->size / 2) out.append(std::string(run.bytes()));
    else out.append(run);
  }
  return out;
}

std::string SharedBytes::flat() const {
  std::string out;
  out.reserve(size_);
  for (const Run& run : runs_) out += run.bytes();
  return out;
}

std::size_t SharedBytes::sharedAtFront(const SharedBytes& other) const {
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(runs_.size(), other.runs_.size()); ++i) {
    const Run &a = runs_[i], &b = other.runs_[i];
    if (a.part != b.part || a.from != b.from) break;
    same += std::min(a.count, b.count);
    if (a.count != b.count) break;
  }
  return same;
}

std::size_t SharedBytes::sharedAtBack(const SharedBytes& other) const {
  std::size_t same = 0;
  for (std::size_t i = 1; i <= std::min(runs_.size(), other.runs_.size()); ++i) {
    const Run &a = runs_[runs_.size() - i], &b = other.runs_[other.runs_.size() - i];
    if (a.part != b.part || a.from + a.count != b.from + b.count) break;
    same += std::min(a.count, b.count);
    if (a.count != b.count) break;
  }
  return same;
}

}  // namespace files
