#include "draw/texture.h"

#include <algorithm>
#include <utility>

namespace draw {
namespace {

// In loops over all cells, which the page would make a call for each otherwise.
[[gnu::always_inline]] inline float stored(float value) { return value < kMasked ? kMinusInfinity : value; }

void store(const float* from, int count, float* to) {
  for (int c = 0; c < count; ++c) to[c] = stored(from[c]);
}

}  // namespace

Texture::Texture(Texture&& other) noexcept
    : name_(std::exchange(other.name_, 0)),
      rows_(other.rows_),
      cols_(other.cols_),
      fresh_(other.fresh_),
      revision_(other.revision_),
      data_(other.data_),
      copy_(std::move(other.copy_)),
      made_(other.made_),
      rough_(std::move(other.rough_)),
      left_(other.left_) {}

Texture::~Texture() {
  if (name_ != 0) glDeleteTextures(1, &name_);
}

void Texture::forget() {
  name_ = 0;
  fresh_ = true;
}

void Texture::allocate(int rows, int cols) {
  if (name_ == 0) glGenTextures(1, &name_);
  rows_ = rows, cols_ = cols;
  copy_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(rows) *
                                                  static_cast<std::size_t>(cols));
  glBindTexture(GL_TEXTURE_2D, name_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, cols, rows, 0, GL_RED, GL_FLOAT, nullptr);
  for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
    glTexParameteri(GL_TEXTURE_2D, filter, GL_NEAREST);
}

// Copies the differing cells of columns begin … end of a row, and extends `block` to them. Returns whether
// there were any.
bool Texture::copyRow(const Values& values, int row, int begin, int end, Block& block) {
  const float* from = values.row(row);
  float* to = copy_.get() + static_cast<std::size_t>(row) * static_cast<std::size_t>(cols_);
  int first = begin, last = end - 1;
  if (!fresh_) {
    // Counted without branches, so that it can be vectorised: most rows have no differences.
    int differences = 0;
    for (int c = begin; c < end; ++c) differences += stored(from[c]) != to[c];
    if (differences == 0) return false;
    while (stored(from[first]) == to[first]) ++first;
    while (stored(from[last]) == to[last]) --last;
  }
  store(from + first, last + 1 - first, to + first);
  block.first = std::min(block.first, first);
  block.last = std::max(block.last, last);
  return true;
}

/// The columns, first … last, in which any row may have changed.
Texture::Block Texture::newer(const Written& written) const {
  Block block{0, 0, cols_, -1};
  for (int c = 0; written.cols && c < cols_; ++c) {
    if (written.cols[c] > revision_) block.first = std::min(block.first, c), block.last = c;
  }
  return block;
}

std::uint64_t Texture::send(const Block& block) const {
  if (block.rows == 0) return 0;
  const int cols = block.last - block.first + 1;
  const float* from =
      copy_.get() + static_cast<std::size_t>(block.row) * static_cast<std::size_t>(cols_) + block.first;
  glPixelStorei(GL_UNPACK_ROW_LENGTH, cols_);
  glTexSubImage2D(GL_TEXTURE_2D, 0, block.first, block.row, cols, block.rows, GL_RED, GL_FLOAT, from);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  return static_cast<std::uint64_t>(cols) * static_cast<std::uint64_t>(block.rows);
}

std::uint64_t Texture::update(const Values& values) {
  if (values.made.blocks) return updateMade(values);
  const bool sameShape = values.rows == rows_ && values.cols == cols_ && name_ != 0;
  const bool same = sameShape && !fresh_ && values.data == data_;
  if (same && values.revision == revision_) return 0;
  if (!sameShape) allocate(values.rows, values.cols), fresh_ = true;
  glBindTexture(GL_TEXTURE_2D, name_);
  const Written& written = values.written;
  const bool isTold = same && written.isTold && written.whole <= revision_;
  const Block cols = isTold ? newer(written) : Block{0, 0, 0, cols_ - 1};
  std::uint64_t sent = 0;
  const Block none{0, 0, cols_, -1};
  Block block = none;
  for (int row = 0; row < rows_; ++row) {
    const bool whole = isTold && written.rows && written.rows[row] > revision_;
    const int begin = whole ? 0 : cols.first, end = whole ? cols_ : cols.last + 1;
    if (begin < end && copyRow(values, row, begin, end, block)) {
      if (block.rows++ == 0) block.row = row;
    } else if (block.rows > 0) {
      sent += send(std::exchange(block, none));
    }
  }
  sent += send(block);
  fresh_ = false;
  revision_ = values.revision, data_ = values.data, made_.blocks = nullptr, left_ = 0;
  return sent;
}

// ---- rows that are made some at a time

bool Texture::isPlaceOf(const MadeRows& made) const {
  return made.firstRow == made_.firstRow && made.firstCol == made_.firstCol;
}

/// Is the content of that matrix, but for rows and columns that are said to be newer?
bool Texture::makes(const Values& values) const {
  const Written& written = values.written;
  return !fresh_ && name_ != 0 && made_.blocks && made_.matrix == values.made.matrix &&
         made_.head == values.made.head && written.isTold && written.whole <= revision_;
}

/// Another part of the matrix: what it shares with the one before is kept, the rest shows blocks.
[[gnu::noinline]] void Texture::move(const Values& values, bool isKept) {
  const std::unique_ptr<float[]> before = std::exchange(copy_, {});
  const std::vector<std::uint8_t> rough = std::exchange(rough_, {});
  const int rowsBefore = rows_, colsBefore = cols_;
  const MadeRows& to = values.made;
  const int down = to.firstRow - made_.firstRow, across = to.firstCol - made_.firstCol,
            first = isKept ? std::max(0, -across) : 0,
            end = isKept ? std::min(values.cols, colsBefore - across) : 0;
  allocate(values.rows, values.cols);
  rough_.assign(static_cast<std::size_t>(rows_), 1), left_ = rows_;
  bool isAboveOfBlocks = false;
  for (int r = 0; r < rows_; ++r) {
    float* const out = copy_.get() + static_cast<std::size_t>(r) * static_cast<std::size_t>(cols_);
    const int was = r + down;
    const bool isThere = first < end && was >= 0 && was < rowsBefore,
               isMade = isThere && !rough[static_cast<std::size_t>(was)];
    const bool isWhole = isMade && first == 0 && end == cols_,
               isLikeAbove = std::exchange(isAboveOfBlocks, !isMade) && (to.firstRow + r) % to.side != 0;
    if (isLikeAbove && !isWhole) std::copy_n(out - cols_, cols_, out);
    const float* const blocks = to.blocks + std::ptrdiff_t{(to.firstRow + r) / to.side} * to.stride;
    for (int c = 0; c < cols_ && !isWhole && !isLikeAbove;) {
      const int next = std::min(((to.firstCol + c) / to.side + 1) * to.side - to.firstCol, cols_);
      std::fill(out + c, out + next, stored(blocks[(to.firstCol + c) / to.side])), c = next;
    }
    if (!isMade) continue;
    const float* const from =
        before.get() + static_cast<std::size_t>(was) * static_cast<std::size_t>(colsBefore);
    std::copy(from + first + across, from + end + across, out + first);
    if (isWhole) rough_[static_cast<std::size_t>(r)] = 0, --left_;
  }
}

void Texture::makeRow(const Values& values, int row, const Block& cols) {
  const MadeRows& made = values.made;
  const int count = cols.last - cols.first + 1;
  const float* const from =
      made.of(made.matrix, made.head, made.firstRow + row, made.firstCol + cols.first, count);
  store(from, count,
        copy_.get() + static_cast<std::size_t>(row) * static_cast<std::size_t>(cols_) + cols.first);
}

/// What was written since the last update is made at once.
[[gnu::noinline]] void Texture::makeNewer(const Values& values, std::vector<std::uint8_t>& changed) {
  const Block cols = newer(values.written), all{0, 0, 0, cols_ - 1};
  for (int r = 0; r < rows_; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const bool isNew = values.written.rows && values.written.rows[r] > revision_;
    if (isNew) makeRow(values, r, all), left_ -= std::exchange(rough_[at], std::uint8_t{0});
    else if (cols.last >= cols.first && !rough_[at]) makeRow(values, r, cols);
    else continue;
    changed[at] = 1;
  }
}

/// Those nearest to the middle first, and in order, because such rows can be made together.
[[gnu::noinline]] void Texture::makeSome(const Values& values, std::vector<std::uint8_t>& changed) {
  constexpr int kAtOnce = 64 * 1024;  // cells: a millisecond for 64 columns of Q and K
  const int most = std::max(kAtOnce / cols_, 1), middle = rows_ / 2;
  const auto isRough = [&](int r) { return r >= 0 && r < rows_ && rough_[static_cast<std::size_t>(r)] != 0; };
  int away = 0;
  while (away <= middle && !isRough(middle + away) && !isRough(middle - 1 - away)) ++away;
  const bool isBelow = isRough(middle + away);
  int first = isBelow ? middle + away : middle - 1 - away, end = first + 1;
  while (isBelow && isRough(end) && end - first < most) ++end;
  while (!isBelow && isRough(first - 1) && end - first < most) --first;
  for (int r = first; r < end && isRough(r); ++r) {
    makeRow(values, r, {0, 0, 0, cols_ - 1});
    rough_[static_cast<std::size_t>(r)] = 0, changed[static_cast<std::size_t>(r)] = 1;
    --left_;
  }
}

[[gnu::noinline]] std::uint64_t Texture::updateMade(const Values& values) {
  const bool isKept = makes(values),
             isStill = isKept && values.rows == rows_ && values.cols == cols_ && isPlaceOf(values.made);
  if (isStill && values.revision == revision_ && left_ == 0) return 0;
  if (!isStill) move(values, isKept);
  std::vector<std::uint8_t> changed(static_cast<std::size_t>(rows_), !isStill);
  if (isKept && values.revision != revision_) makeNewer(values, changed);
  if (isStill) makeSome(values, changed);  // else all is uploaded, which takes long enough
  glBindTexture(GL_TEXTURE_2D, name_);
  std::uint64_t sent = 0;
  for (int r = 0, first = 0; r < rows_; first = ++r) {
    while (r < rows_ && changed[static_cast<std::size_t>(r)]) ++r;
    if (r > first) sent += send({first, r - first, 0, cols_ - 1});
  }
  fresh_ = false;
  revision_ = values.revision, data_ = values.data, made_ = values.made;
  return sent;
}

std::vector<Texture::Block> Texture::differences(const Values& values) const {
  const bool isMoved = values.made.blocks && (left_ > 0 || !makes(values) || !isPlaceOf(values.made));
  if (isMoved || values.rows != rows_ || values.cols != cols_ || fresh_)
    return {{0, values.rows, 0, values.cols - 1}};
  std::vector<Block> blocks;
  if (values.data == data_ && values.revision == revision_) return blocks;
  const Written& written = values.written;
  const bool isTold = values.data == data_ && written.isTold && written.whole <= revision_,
             mayBeAny = !isTold || newer(written).last >= 0;
  for (int row = 0; row < rows_; ++row) {
    if (!mayBeAny && !(written.rows && written.rows[row] > revision_)) continue;
    const float* now = values.row(row);
    const float* held = copy_.get() + static_cast<std::size_t>(row) * static_cast<std::size_t>(cols_);
    int differences = 0;  // as in copyRow()
    for (int c = 0; c < cols_; ++c) differences += stored(now[c]) != held[c];
    if (differences == 0) continue;
    int first = 0, last = cols_ - 1;
    while (first < last && stored(now[first]) == held[first]) ++first;
    while (last > first && stored(now[last]) == held[last]) --last;
    if (blocks.empty() || blocks.back().row + blocks.back().rows != row)
      blocks.push_back({row, 0, first, last});
    Block& block = blocks.back();
    ++block.rows, block.first = std::min(block.first, first), block.last = std::max(block.last, last);
  }
  return blocks;
}

}  // namespace draw
