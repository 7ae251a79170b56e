// A board with its undo history as bytes: saved by windows and browser tabs, so that nothing is lost when
// they close.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "document/document.h"

namespace files {

using base::Result;

/// Saves one document repeatedly. What each step of the history changed is computed only once. Of a large
/// board it keeps the changes, and no further copy.
class SessionStore {
 public:
  /// Takes bytes piece by piece, so that they are not in memory all at once.
  using Sink = std::function<void(std::string_view)>;
  /// The document in at most `most` bytes. To fit, the oldest steps are omitted; also if their states would
  /// take more than 128 MiB in total. The present state is always included. Takes as long as copying the
  /// board, plus as much again for each new step.
  void write(const document::Document& document, std::size_t most, const Sink& put);
  /// The same in one piece. `head`: what the bytes begin with, which restore() is not given.
  std::string write(const document::Document& document, std::size_t most, std::string_view head = {});

 private:
  /// What makes one text another: all of it but its first `head` and its last `tail` bytes is replaced.
  struct Change {
    std::size_t head = 0, tail = 0;
    std::string between;

    std::string heading() const;  ///< the line that is written before `between`
    std::size_t size() const { return heading().size() + between.size(); }
    void applyTo(std::string& text) &&;
  };
  /// What has to be known of a text to find what changed since then: a short one itself; of others hashes of
  /// their blocks, counted from either end.
  class Outline {
   public:
    Outline() = default;
    explicit Outline(const std::string& text);
    bool empty() const { return size_ == 0; }
    /// The change to another text. Of long ones, up to a block at both ends more than what differs.
    Change changeTo(const Outline& other, std::string text) const;
    Change changeTo(std::string text) const;

   private:
    std::size_t size_ = 0;
    std::string text_;
    std::vector<std::uint64_t> front_, back_;
  };
  struct Step {
    std::uint64_t number = 0;
    bool begins = false;
    Change change;         ///< from the state before the step to the state after it
    std::size_t size = 0;  ///< of the state after it
  };
  /// How many of the steps precede the present, and how many bytes all take.
  struct Fitting {
    std::size_t at = 0, size = 0;
  };

  /// Brings the steps up to date; returns how many of them precede the present.
  std::size_t follow(const document::Document& document);
  /// The same, without those for which `most` bytes are not enough.
  Fitting fit(const document::Document& document, std::size_t most);
  void give(const document::Document& document, std::size_t at, const Sink& put) const;
  void forgetFirst();

  std::string base_;  ///< the state before the first of the steps
  Change start_;      ///< from it to the initial state for reset()
  std::deque<Step> steps_;
  Outline before_,
      last_;  ///< the states before and after the last step; empty if they have to be computed again
  std::uint64_t least_ = 0;  ///< steps with lower numbers are omitted
};

/// Gives `document` the state and history written by write(). An error for any other bytes; the document is
/// not changed then.
Result<void> restore(std::string_view bytes, document::Document& document);

}  // namespace files
