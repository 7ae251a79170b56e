// The experiments: how the controls of their pages stand, and what was computed for that. None of it is part of the
// document, which has the page that is open and the options of the block and of the segments.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "attention/experiment.h"
#include "document/around.h"
#include "views/layout.h"

namespace views {

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

struct SpreadPage {
  attention::SpreadSpec spec;
  std::uint32_t seed = 1;
  bool scaled = true;

  struct Key {
    attention::SpreadSpec spec;
    std::uint32_t seed;
    bool operator==(const Key&) const = default;
  };
  Cached<std::uint32_t, attention::SpreadDraws> draws;
  Cached<Key, attention::Spread> at;
  Cached<Key, std::vector<attention::Spread>> curve;  ///< at the powers of two
};

/// Of what is computed from the layer on the board.
template <class Options>
struct OfLayer {
  std::uint64_t revision;
  Options options;
  bool operator==(const OfLayer&) const = default;
};

struct WeightsPage {
  attention::ComparisonSpec spec;
  Cached<OfLayer<attention::ComparisonSpec>, attention::Comparison> result;
};

struct ReachPage {
  attention::ReachSpec spec;
  Cached<attention::ReachSpec, std::vector<attention::Reach>> result;
};

struct BlockPage {
  attention::BlockStage stage = attention::BlockStage::norm_2;
  int row = 0, col = 0;
  Cached<std::uint64_t, document::BlockRun> result;  ///< of a revision of the document
};

struct SegmentsPage {
  Cached<std::uint64_t, document::SegmentsRun> result;  ///< of a revision of the document
};

/// The cell of a parameter that is being dragged.
struct ParameterDrag {
  int row = 0, col = 0;
  float before = 0;
  double travelled = 0;  ///< in units of the number
};

struct Lab {
  using Page = document::Experiment;
  static constexpr int kPages = static_cast<int>(Page::segments);
  Page last = Page::spread;           ///< the page that is open, or that was: the one to open next
  Box box;                            ///< of the panel, while it is open
  float scroll = 0, scrollLimit = 0;  ///< of the page

  // Keys: which control they change, and what was pressed for it in this frame.
  int focus = -1, controls = 0;
  int step = 0;
  bool press = false, focusMoved = false;

  SpreadPage spread;
  WeightsPage weights;
  ReachPage reach;
  BlockPage block;
  SegmentsPage segments;
  std::array<Cached<std::uint64_t, attention::Tensor>, document::kParameterCount> parameters;  ///< of a revision
  ParameterDrag drag;
};

}  // namespace views
