// A board with its undo history as bytes: what a window and a tab keep, so that nothing is lost when they end.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/result.h"
#include "document/document.h"

namespace files {

using base::Result;

/// Writes one document again and again: of each step, what it changed, and that only once.
class Keeper {
 public:
  /// All of it in at most `most` bytes, for which the oldest steps are left out, and so they are where the boards that they led to
  /// would take more than 128 MiB; the board itself is always there. It takes the time of copying the board, and as much again for
  /// each step that is new.
  std::string write(const document::Document& document, std::size_t most);

 private:
  struct Step {
    std::uint64_t number = 0;
    bool begins = false;
    std::string change;    ///< from the state before it to the one after it
    std::size_t size = 0;  ///< of the one after it
  };
  void forgetFirst();

  std::string start_, base_;  ///< what reset() goes back to, and the state, before the first of these steps
  std::deque<Step> steps_;
  std::string last_;  ///< the state after the last of them, or empty where that is to be found again
  std::uint64_t least_ = 0;   ///< steps of lower numbers are left out
};

/// Gives `document` the board and the history that write() wrote. Refused: any other bytes; the document stays as it is.
Result<void> restore(std::string_view bytes, document::Document& document);

}  // namespace files
