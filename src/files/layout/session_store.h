// A board with its undo history as bytes: saved by windows and browser tabs, so that nothing is lost when
// they close.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "document/document.h"
#include "files/layout/shared_bytes.h"

namespace files {

using base::Result;

/// Saves one document repeatedly. What each step of the history changed is computed only once. Of a large
/// board it keeps the changes, and no further copy; where others keep the bytes, not even those.
class SessionStore {
 public:
  SessionStore();
  ~SessionStore();

  /// The document in at most `most` bytes. To fit, the oldest steps are omitted; also if their states would
  /// take more than 128 MiB in total. The present state is always included. Takes as long as copying the
  /// board, plus as much again for each new step. `head`: what the bytes begin with, which restore() is not
  /// given. Not after keep() has handed over any part.
  std::string write(const document::Document& document, std::size_t most, std::string_view head = {});

  /// What is handed over: a part, to be kept by its number from then on, if it has `bytes` and a number;
  /// after all parts the board, as what follows each other: `bytes` without a number, or of a part `count`
  /// bytes.
  struct Piece {
    std::string_view bytes;
    std::uint64_t part = 0;
    std::size_t from = 0, count = 0;
  };
  using Keeper = std::function<void(const Piece&)>;
  /// The most bytes that keep() reads or hands over in a call, except that it copies a document in one go.
  static constexpr std::size_t kSlice = std::size_t{4} << 20;
  /// The longest piece.
  static constexpr std::size_t kPart = std::size_t{1} << 20;
  /// The same as write(), some of it in each call; true in the one that hands over the board. A part is
  /// handed over once, and is not in memory afterwards. If the document has changed since the last call,
  /// begins again.
  bool keep(const document::Document& document, std::size_t most, const Keeper& keeper,
            std::size_t slice = kSlice);

 private:
  /// What makes one text another: all of it but its first `head` and its last `tail` bytes is replaced.
  struct Change {
    std::size_t head = 0, tail = 0;
    SharedBytes between;

    std::string heading() const;  ///< the line that is written before `between`
    std::size_t size() const { return heading().size() + between.size(); }
    SharedBytes appliedTo(const SharedBytes& text) const;
  };
  struct Outline;
  class Reading;
  struct Job;
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

  static Change changeBetween(const SharedBytes& from, const SharedBytes& to);
  /// Brings the steps up to date, by so many bytes at most, which it takes off; true once they are.
  bool follow(const document::Document& document, std::size_t& slice);
  void begin(const document::Document& document);
  void addStep(const document::Document& document, std::size_t& slice);
  void goBack(std::size_t& slice);
  /// Leaves out those of the steps for which `most` bytes are not enough.
  Fitting fit(std::size_t most);
  template <class Own, class Shared>
  void give(const document::Document& document, std::size_t at, const Own& own, const Shared& shared) const;
  bool handOverParts(const Keeper& keeper, std::size_t slice);
  void forgetFirst();

  SharedBytes base_;  ///< the state before the first of the steps
  Change start_;      ///< from it to the initial state for reset()
  std::deque<Step> steps_;
  /// The states before and after the last step; none if they have to be read again.
  std::unique_ptr<Outline> before_, last_;
  std::unique_ptr<Job> job_;
  std::uint64_t least_ = 0;     ///< steps with lower numbers are omitted
  std::uint64_t lastPart_ = 0;  ///< the number of the last part
};

/// Gives `document` the state and history written by write(). An error for any other bytes; the document is
/// not changed then.
Result<void> restore(std::string_view bytes, document::Document& document);

}  // namespace files
