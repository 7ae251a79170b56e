// A board with its undo history as bytes: saved by windows and browser tabs, so that nothing is lost when
// they close.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "document/document.h"

namespace files {

using base::Result;

/// Saves one document repeatedly. What each step of the history changed is computed only once.
class SessionStore {
 public:
  /// The document in at most `most` bytes. To fit, the oldest steps are omitted; also if their states would
  /// take more than 128 MiB in total. The present state is always included. Takes as long as copying the
  /// board, plus as much again for each new step. `head`: what the bytes begin with, which restore() is not
  /// given.
  std::string write(const document::Document& document, std::size_t most, std::string_view head = {});

 private:
  struct Step {
    std::uint64_t number = 0;
    bool begins = false;
    std::string change;    ///< the change from the state before the step to the state after it
    std::size_t size = 0;  ///< of the state after it
  };
  void forgetFirst();

  std::string start_, base_;  ///< the initial state for reset(), and the state before the first of the steps
  std::deque<Step> steps_;
  std::string last_;         ///< the state after the last step; empty if it has to be computed again
  std::uint64_t least_ = 0;  ///< steps with lower numbers are omitted
};

/// Gives `document` the state and history written by write(). An error for any other bytes; the document is
/// not changed then.
Result<void> restore(std::string_view bytes, document::Document& document);

}  // namespace files
