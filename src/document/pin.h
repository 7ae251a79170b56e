// A pinned board, for comparing the present board with it: its results, and the differences.
#pragma once

#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/experiments/contrast.h"
#include "document/derived.h"

namespace document {

/// The text that pins a state: its state text without its own pin. An error if it is longer than
/// kMaxPinBytes.
Result<std::string> pinOf(const State& state);
/// An error unless the text can be pinned: it must be "", or a state text of at most kMaxPinBytes without a
/// pin.
Result<void> checkPin(std::string_view text);

/// An option whose value differs from the pinned one.
struct OptionChange {
  std::string_view name;
  std::string before, after;  ///< as JSON, abbreviated if long
};

/// The differences from the pinned board. Cells are compared only where both boards have the same tensors
/// with the same shapes.
struct Differences {
  bool isComparable = false;
  std::vector<OptionChange> options;                     ///< undoable options only, in the order of the table
  attention::Contrast inputs, weights, scores, outputs;  ///< inputs: all editable tensors
};

/// A pinned board with everything computed from it.
class Pinned {
 public:
  /// `text` must have passed checkPin(), and must not be empty.
  explicit Pinned(const std::string& text);
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  /// Takes over the view options of the present board.
  void showAs(const Settings& now);
  const State& state() const { return state_; }
  const attention::Spec& spec() const { return spec_; }
  const attention::Inputs& inputs() const { return inputs_; }
  const attention::Trace& trace() { return engine_.trace(); }
  attention::Summaries& summaries() { return engine_.summaries(); }
  DerivedTensors& derived() { return derived_; }

  /// Do both boards have the same tensors with the same shapes?
  bool isLike(const State& now) const;
  /// The differences of the present board, with at most `most` cells of each kind.
  Differences differences(const State& now, const attention::Trace& trace, std::size_t most);

 private:
  State state_;
  attention::Engine engine_;
  attention::Spec spec_;
  attention::Inputs inputs_;
  DerivedTensors derived_{state_, engine_};
};

}  // namespace document
