#include "attention/engine/first_pictures.h"

#include <algorithm>
#include <utility>

#include "attention/mechanisms/mechanism.h"

namespace attention {
namespace {

std::uint64_t bitsOf(Span heads) {
  std::uint64_t bits = 0;
  for (int h = heads.begin; h < heads.end; ++h) bits |= std::uint64_t{1} << h;
  return bits;
}

}  // namespace

bool FirstPictures::areFor(const Spec& spec) {
  const ScoreMechanism& score = mechanismOf(spec.score);
  return spec.heads > 1 && !score.query.make && !score.key.make;
}

void FirstPictures::begin(const Spec& spec, int across) {
  forget();
  if (!areFor(spec)) return;
  overview_.reset(spec.heads, spec.queryCount, spec.keyCount, across);
  mean_.resetLike(overview_), meanOf_ = version_ - 1;
  wanted_ = bitsOf({0, spec.heads}), hidden_ = spec.hiddenHeads, row_ = 0;
}

void FirstPictures::drop(int head) {
  if (hasMore() && head == this->head()) row_ = 0;
  const std::uint64_t others = ~bitsOf({head, head + 1});
  wanted_ &= others, there_ &= others;
  if ((wanted_ | there_) == 0) overview_ = mean_ = {}, made_ = 0;
}

void FirstPictures::renew(int head) {
  const int before = hasMore() ? this->head() : -1;
  wanted_ |= there_ & bitsOf({head, head + 1});
  if (head == before || (hasMore() && this->head() != before)) row_ = 0;
}

void FirstPictures::prefer(int head) {
  if ((wanted_ >> head & 1) != 0 && head != this->head()) row_ = 0;
  preferred_ = head;
}

std::vector<int> FirstPictures::queries(int most) const {
  std::vector<int> out;
  for (int r = row_; r < std::min(row_ + most, overview_.blocks().rows()); ++r)
    out.push_back(overview_.sampleOf(r * overview_.side()));
  return out;
}

void FirstPictures::take(const float* weights, int count) {
  const int head = this->head(), keys = overview_.keys();
  for (const int end = row_ + count; row_ < end; ++row_, weights += keys)
    overview_.takeSample(head, row_, weights);
  if (row_ < overview_.blocks().rows()) return;
  const std::uint64_t made = bitsOf({head, head + 1});
  wanted_ &= ~made, there_ |= made, made_ |= made, row_ = 0, ++version_;
}

const Overview* FirstPictures::mean() {
  const std::uint64_t heads = made_ & ~hidden_;
  if (heads == 0) return nullptr;
  if (std::exchange(meanOf_, version_) == version_) return &mean_;
  const Tensor& blocks = overview_.blocks();
  std::vector<float> row(static_cast<std::size_t>(blocks.cols()));
  const float share = 1.0f / static_cast<float>(std::popcount(heads));
  for (int r = 0; r < blocks.rows(); ++r) {
    std::fill(row.begin(), row.end(), 0.0f);
    for (int h = 0; h < blocks.heads(); ++h)
      for (int b = 0; (heads >> h & 1) != 0 && b < blocks.cols(); ++b)
        row[static_cast<std::size_t>(b)] += blocks.at(h, r, b) * share;
    mean_.setRow(0, r, row.data());
  }
  return &mean_;
}

}  // namespace attention
