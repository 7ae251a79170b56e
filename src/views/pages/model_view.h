// View state of the page of all heads: which are shown, in which order, and which one is looked at.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/experiments/head_order.h"
#include "training/trainer.h"

namespace views {

/// The heads of a trained model that are changed, and what it predicts then.
struct ModelSwitches {
  using HeadChange = training::Model::HeadChange;
  std::vector<HeadChange> changes;  ///< of head attention·heads + head; empty if none is changed
  int way = 0;                      ///< what a press makes of a head: its place among the ways of the page
  // The results, and what they are of.
  std::shared_ptr<const training::Learned> model;
  training::Sequence asked;
  std::vector<HeadChange> answered;
  training::Answer whole, without;
  std::vector<float> logits, logitsWithout;  ///< [tokens, classes]
  std::vector<std::vector<float>> alone;  ///< of each head switched off alone, the divergence at each token
};

/// A head by its layer and its number in it.
struct HeadPlace {
  int layer = 0, head = 0;
  bool operator==(const HeadPlace&) const = default;
};

/// Two heads that are shown side by side.
struct ModelCompare {
  bool isOn = false;
  bool chooses = false;  ///< the next press on a head chooses it as the second
  HeadPlace first, second;
  // Their difference, and what it is of.
  attention::Tensor difference;
  float most = 0;              ///< its largest magnitude
  std::vector<int> strongest;  ///< where it is largest, at most kStrongest cells
  static constexpr int kStrongest = 4;
  std::array<std::uint64_t, 6> of{};
  std::uint64_t version = 0;
};

struct ModelView {
  /// What heads are ordered by: their places, a pattern, another measure, or how much they look at a word.
  enum class By : std::uint8_t {
    layer,
    previous,
    induction,
    first,
    same,
    broad,
    entropy,
    distance,
    word,
    itself,
    likeness
  };
  By by = By::layer;
  std::string word;          ///< that the page has seen: another one, whoever sets it, orders the heads
  std::uint8_t faded = 0;    ///< bit of a HeadPattern: heads with that tag are faded
  int layer = -1, head = 0;  ///< the head under the pointer, or the last one that was; −1: that of the board
  int token = -1;            ///< whose rollout and prediction are shown; −1: the last one
  /// Are the measures below each picture? Nothing: where there are few heads.
  std::optional<bool> numbers;
  attention::LikenessOrder likeness;
  std::uint64_t likenessOf = 0;  ///< the revision of the document that it is of, + 1
  ModelCompare compare;
  ModelSwitches switches;
};

}  // namespace views
