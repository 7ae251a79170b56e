#include "attention/engine/first_pictures.h"

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
  wanted_ = bitsOf({0, spec.heads}), row_ = 0;
}

void FirstPictures::drop(int head) {
  if (hasMore() && head == this->head()) row_ = 0;
  const std::uint64_t others = ~bitsOf({head, head + 1});
  wanted_ &= others, there_ &= others;
  if ((wanted_ | there_) == 0) overview_ = {};
}

void FirstPictures::renew(int head) {
  const int before = hasMore() ? this->head() : -1;
  wanted_ |= there_ & bitsOf({head, head + 1});
  if (head == before || (hasMore() && this->head() != before)) row_ = 0;
}

void FirstPictures::take(const Tensor& weights) {
  const int head = this->head(), query = this->query();
  overview_.take(weights, head, {query, query + 1});
  if (++row_ < overview_.blocks().rows()) return;
  const std::uint64_t made = bitsOf({head, head + 1});
  wanted_ &= ~made, there_ |= made, row_ = 0, ++version_;
}

}  // namespace attention
