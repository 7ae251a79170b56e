#include "document/not_finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "base/sentence.h"
#include "document/resize.h"

namespace document {
namespace {

constexpr std::string_view kMark = "NaN ", kEverywhere = ", all heads";

/// Not by the values: code compiled for size calls a function for each.
bool isFinite(const float* row, int cols) {
  bool isFine = true;
  for (int c = 0; c < cols; ++c)
    isFine &= (std::bit_cast<std::uint32_t>(row[c]) & 0x7f800000u) != 0x7f800000u;
  return isFine;
}

/// Which queries and keys of the heads of one item of the batch are hidden.
struct HiddenRows {
  std::vector<std::uint8_t> queries, keys;  ///< [heads, tokens] and [heads, keyTokens]
  bool operator==(const HiddenRows&) const = default;
};

/// The same for all of its heads?
bool isOfAllHeads(const std::vector<std::uint8_t>& rows, int heads) {
  const std::size_t each = rows.size() / static_cast<std::size_t>(heads);
  for (std::size_t i = each; i < rows.size(); ++i)
    if (rows[i] != rows[i - each]) return false;
  return true;
}

void mark(std::string& label) {
  label.insert(0, kMark);
  label.resize(base::clustersWithin(label, kLabelBytes));
}

class Hiding {
 public:
  explicit Hiding(State& state) : s_(state) {}

  Result<void> hide() {
    hidden_.resize(static_cast<std::size_t>(s_.batch));
    for (int item = 0; item < s_.batch; ++item)
      for (const TensorId id : itemInputIds())
        if (id != TensorId::bias)
          if (auto ok = clear(id, inputOf(item, id), item); !ok) return ok;
    if (count_ == 0) return {};
    if (auto ok = mask(); !ok) return ok;
    for (int item = 0; item < s_.batch; ++item) markLabels(item);
    s_.notFinite = base::joined({place_, ": ", word(), ", ", count_, isWidened_ ? kEverywhere : ""});
    return {};
  }

 private:
  bool isOnBoard(int item) const { return s_.items.empty() || item == s_.batchItem; }
  Tensor& inputOf(int item, TensorId id) {
    return isOnBoard(item) ? *input(s_, id) : *input(s_.items[static_cast<std::size_t>(item)], id);
  }
  std::string_view word() const { return std::isnan(first_) ? "NaN" : first_ < 0 ? "-inf" : "inf"; }
  Result<void> refused(const char* why) const {
    return Error{Error::Kind::range, place_,
                 base::message({word(), " cannot be used", why, "; give a finite number."}), false,
                 Error::Fault::number};
  }

  /// Writes zeros into such rows of a tensor, and notes whom they belong to.
  Result<void> clear(TensorId id, Tensor& tensor, int item) {
    int cleared = 0;
    for (int h = 0; h < tensor.heads(); ++h)
      for (int r = 0; r < tensor.rows(); ++r) {
        float* const row = tensor.row(h, r);
        if (isFinite(row, tensor.cols())) continue;
        for (int c = 0; c < tensor.cols(); ++c)
          if (!isFinite(row + c, 1) && count_++ == 0) {
            first_ = row[c];
            place_ = base::joined({attention::name(id), "[",
                                   s_.batch > 1 ? base::joined({item, ", "}) : std::string(), h, ", ", r,
                                   ", ", c, "]"});
          }
        std::fill_n(row, tensor.cols(), 0.0f);
        note(id, item, h, r, tensor.heads());
        cleared += 1;
      }
    return cleared > 0 && cleared == tensor.heads() * tensor.rows() ? refused("") : Result<void>();
  }

  void note(TensorId id, int item, int head, int row, int heads) {
    HiddenRows& rows = hidden_[static_cast<std::size_t>(item)];
    const bool ofQueries = id == TensorId::q || id == TensorId::x,
               ofKeys = id != TensorId::q && (id != TensorId::x || !s_.cross);
    const auto hide = [&](std::vector<std::uint8_t>& to, int tokens) {
      to.resize(static_cast<std::size_t>(s_.heads) * static_cast<std::size_t>(tokens));
      const int group = s_.heads / heads;  // of query heads with the same keys
      for (int h = head * group; h < (head + 1) * group; ++h)
        to[static_cast<std::size_t>(h) * static_cast<std::size_t>(tokens) + static_cast<std::size_t>(row)] =
            1;
    };
    if (ofQueries) hide(rows.queries, s_.tokens);
    if (ofKeys) hide(rows.keys, s_.keyTokens);
  }

  bool isHidden(int item, int head, int query, int key) const {
    const HiddenRows& rows = hidden_[static_cast<std::size_t>(item)];
    const auto at = [head](const std::vector<std::uint8_t>& of, int tokens, int token) {
      return !of.empty() && of[static_cast<std::size_t>(head) * static_cast<std::size_t>(tokens) +
                               static_cast<std::size_t>(token)] != 0;
    };
    return at(rows.queries, s_.tokens, query) || at(rows.keys, s_.keyTokens, key);
  }

  Result<void> mask() {
    const bool ofAll = std::ranges::all_of(hidden_, [this](const HiddenRows& rows) {
      return isOfAllHeads(rows.queries, s_.heads) && isOfAllHeads(rows.keys, s_.heads);
    });
    const bool isShared = ofAll && std::ranges::all_of(hidden_, [this](const HiddenRows& rows) {
                            return rows == hidden_.front();
                          });
    // After the softmax, what is hidden would still be in its sum.
    const bool mayPaint = !s_.maskAfterSoftmax;
    if (isShared && mayPaint) return paint();
    Settings wide = s_;
    wide.biasKind = std::max(wide.biasKind, ofAll ? Bias::shared : Bias::perHead);
    if (checkSizes("mask", wide)) return addToBias(wide), Result<void>();
    isWidened_ = true;
    return mayPaint ? paint() : refused(" with mask_after_softmax on a board of this size");
  }

  void addToBias(const Settings& wide) {
    s_.biasKind = wide.biasKind;
    for (int item = 0; item < s_.batch; ++item) {
      Tensor& bias = inputOf(item, TensorId::bias);
      widenBias(s_, bias);
      for (int h = 0; h < bias.heads(); ++h)
        for (int i = 0; i < bias.rows(); ++i)
          for (int j = 0; j < bias.cols(); ++j)
            if (isHidden(item, h, i, j)) bias.at(h, i, j) = -std::numeric_limits<float>::infinity();
    }
  }

  Result<void> paint() {
    if (std::int64_t{s_.tokens} * s_.keyTokens > attention::Limits::painted)
      return refused(", since a board of this size has no mask that could hide it");
    PaintedMask& painted = s_.painted;
    painted.rows = s_.tokens, painted.cols = s_.keyTokens;
    painted.blocked.resize(static_cast<std::size_t>(s_.tokens) * static_cast<std::size_t>(s_.keyTokens));
    std::vector<std::uint8_t> keys(static_cast<std::size_t>(s_.keyTokens)),
        queries(static_cast<std::size_t>(s_.tokens));
    for (const HiddenRows& rows : hidden_) {
      for (std::size_t i = 0; i < rows.queries.size(); ++i) queries[i % queries.size()] |= rows.queries[i];
      for (std::size_t i = 0; i < rows.keys.size(); ++i) keys[i % keys.size()] |= rows.keys[i];
    }
    for (std::size_t i = 0, at = 0; i < queries.size(); ++i)
      for (std::size_t j = 0; j < keys.size(); ++j, ++at) painted.blocked[at] |= queries[i] | keys[j];
    return {};
  }

  void markLabels(int item) {
    const HiddenRows& rows = hidden_[static_cast<std::size_t>(item)];
    BatchItem* const other = isOnBoard(item) ? nullptr : &s_.items[static_cast<std::size_t>(item)];
    std::vector<std::string>& labels = other ? other->labels : s_.labels;
    std::vector<std::string>& keyLabels = !s_.cross ? labels : other ? other->keyLabels : s_.keyLabels;
    std::vector<std::uint8_t> marked[2];
    const auto add = [&](std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from,
                         std::size_t tokens) {
      to.resize(tokens);
      for (std::size_t i = 0; i < from.size(); ++i) to[i % tokens] |= from[i];
    };
    add(marked[0], rows.queries, labels.size());
    add(marked[s_.cross ? 1 : 0], rows.keys, keyLabels.size());
    for (std::size_t i = 0; i < marked[0].size(); ++i)
      if (marked[0][i] != 0) mark(labels[i]);
    for (std::size_t i = 0; i < marked[1].size(); ++i)
      if (marked[1][i] != 0) mark(keyLabels[i]);
  }

  State& s_;
  std::vector<HiddenRows> hidden_;  ///< of each item
  std::int64_t count_ = 0;          ///< numbers that are not finite
  std::string place_;               ///< of the first of them
  float first_ = 0;
  bool isWidened_ = false;  ///< what is hidden in one head or item is hidden in all
};

}  // namespace

Result<void> hideNotFinite(State& state) { return Hiding(state).hide(); }

base::Message notFiniteSentence(const Settings& settings) {
  // "k[1, 5, 0]: NaN, 3", and where that is so ", all heads"
  const std::string_view all = settings.notFinite;
  const std::size_t colon = all.find(": "), comma = all.find(", ", colon);
  if (comma == std::string_view::npos) return {};
  const std::string_view place = all.substr(0, colon);
  const int count = std::atoi(settings.notFinite.c_str() + comma + 2);
  const bool isOfBatch = std::ranges::count(place, ',') > 2;
  base::Message found{place,
                      isOfBatch ? " of the file (entry, head, token, column, from 0) is "
                                : " of the file (head, token, column, from 0) is ",
                      all.substr(colon + 2, comma - colon - 2)};
  if (count > 1) found += {", the first of ", count, " numbers that are not finite"};
  return {found += {"."}, " ",
          base::Message(all.ends_with(kEverywhere) ? "Such rows are 0 here, and hidden in all heads."
                                                   : "Such rows are 0 here, and hidden.")};
}

bool isNotFinite(const Settings& settings, std::string_view label) {
  return !settings.notFinite.empty() && label.starts_with(kMark);
}

}  // namespace document
