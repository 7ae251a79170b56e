// How the page of training is looked at: which step, sentence and head, and what was computed for them.
#pragma once

#include "training/trainer.h"

namespace views {

struct TrainView {
  int shown = -1;             ///< the step that the bar went back to; −1: the newest
  int attention = 0, head = 0;
  std::uint64_t hidden = 0;   ///< heads that are switched off to see what they were for: bit attention·heads + head

  // What was computed last, and of what.
  struct Key {
    int run = -1, step = -1, sentence = -1;
    std::uint64_t hidden = 0;
    bool operator==(const Key&) const = default;
  };
  Key answered, measured;
  training::Answer answer;
  training::Measure without;  ///< with the heads in `hidden` off
};

}  // namespace views
