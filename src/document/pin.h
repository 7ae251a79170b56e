// A board that was pinned, to compare what is there with: computed, and what differs from it.
#pragma once

#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/experiments/contrast.h"
#include "document/derived.h"

namespace document {

/// The text that pins a state: its state text, without a pin of its own. An error where it is longer than kMaxPinBytes.
Result<std::string> pinOf(const State& state);
/// Can it be pinned? It has to be a state text of at most kMaxPinBytes without a pin, or "".
Result<void> checkPin(std::string_view text);

/// An option that another value was pinned with.
struct OptionChange {
  std::string_view name;
  std::string before, after;  ///< as JSON, shortened where they are long
};

/// What differs from a pinned board. Cells are compared where both have the same tensors of the same shapes.
struct Differences {
  bool isComparable = false;
  std::vector<OptionChange> options;                ///< those that undo brings back, in the order of the table
  attention::Contrast inputs, weights, scores, outputs;  ///< inputs: of all that can be edited
};

/// A pinned board with all that follows from it.
class Pinned {
 public:
  /// `text` has passed checkPin() and is not empty.
  explicit Pinned(const std::string& text);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  /// How it is shown is as the board has it now.
  void showAs(const Settings& now);
  const State& state() const { return state_; }
  const attention::Spec& spec() const { return spec_; }
  const attention::Inputs& inputs() const { return inputs_; }
  const attention::Trace& trace() const { return engine_.trace(); }
  attention::Summaries& summaries() { return engine_.summaries(); }
  DerivedTensors& derived() { return derived_; }

  /// Have both the same tensors, of the same shapes?
  bool isLike(const State& now) const;
  /// Of the board that is there now. At most `most` cells of each kind.
  Differences differences(const State& now, const attention::Trace& trace, std::size_t most) const;

 private:
  State state_;
  attention::Engine engine_;
  attention::Spec spec_;
  attention::Inputs inputs_;
  DerivedTensors derived_{state_, engine_.trace()};
};

}  // namespace document
