// View state of the training page: which step, sentence and head are shown, and the results computed for
// them.
#pragma once

#include <string_view>

#include "training/trainer.h"

namespace views {

/// The controls of the bar below the page, which stays in its place when the page is scrolled.
inline constexpr std::string_view kTrainBarControls[] = {"train:first", "train:back", "train:run",
                                                         "train:next",  "train:last", "train:scrub"};

struct TrainView {
  int shown = -1;  ///< the step to which the bar was moved back; −1: the latest
  int attention = 0, head = 0;
  std::uint64_t hidden = 0;  ///< heads switched off to see what they contribute: bit attention·heads + head

  // The last results, and what they were computed for.
  struct Key {
    int run = -1, step = -1, sentence = -1;
    std::uint64_t hidden = 0;
    bool operator==(const Key&) const = default;
  };
  Key answered, measured;
  training::Answer answer;
  training::Measure without;  ///< measured with the heads in `hidden` switched off
};

}  // namespace views
