// One frame: input is read, the resulting requests are carried out, and the result is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/lesson_player.h"
#include "app/typing.h"

namespace app {

class Frame {
 public:
  Frame(Screen& screen, Focus& focus, Typing& typing)
      : screen_(screen),
        session_(screen.session),
        focus_(focus),
        typing_(typing) {}

  /// Builds the frame with Dear ImGui. False: input changed controls that had already been built, so it must
  /// be built again in the same frame of the screen.
  bool build();
  /// Computes the head in view of a large layer that is new, if it is missing: that takes as long as a frame,
  /// so the frame comes after it. Returns whether it did.
  bool prepares();
  /// To be called after the frame was drawn, since heatmaps refer to its numbers until then: dialogs and
  /// files, and preparations for the next frame.
  void finish();
  /// To be called when a text field ended, possibly during the construction of a frame.
  void endText(TextEnd how, std::string_view words);
  /// To be called for every input.
  void wake();

  /// The open lesson; created when it is first asked for.
  LessonPlayer& guide();

  std::uint64_t count() const { return count_; }
  /// Median duration of recent frames.
  float milliseconds() const;
  /// Trains this many more steps, in time slices between frames; returns the step at which it will end. An
  /// error if there is no run, or if it had to stop.
  base::Result<int> train(int steps);
  void trainAnew();
  /// Is training in progress?
  bool trains();
  /// How many heads have been computed, or have a picture, of the layer or on the page Model of all.
  int heads(bool isWhole);
  /// Did the last frame leave heads to compute, or a history to make compact?
  bool computes() const { return computes_ != Computes::nothing; }
  /// Trains, or computes them, for a time slice outside a frame; returns whether there is more to do. Results
  /// are reported after the next frame. Where it is never called, frames compute as much themselves.
  bool workOn();
  void note(float milliseconds);

 private:
  struct Typed {
    TextEnd how;
    std::string words;
  };

  enum class Computes : std::uint8_t { nothing, heads, page, history };

  /// What is seen of the board, apart from its numbers.
  struct InView {
    document::View page;
    float magnify, pan, scroll;
    bool operator==(const InView&) const = default;
  };

  [[gnu::noinline]] bool lookedBack(bool before);
  void controls(views::Context& context);
  void steps(views::Context& context);
  void pictures(views::Context& context);
  void board(views::Context& context);
  [[gnu::noinline]] void peek(views::Context& context);
  bool carryOut();
  void computeOn();
  [[gnu::noinline]] bool goesOn();
  [[gnu::noinline]] bool waits(bool isEdited);
  void settleOn();
  [[gnu::noinline]] void ageNotice();
  bool isOnNotice() const;
  bool computeHeads();
  [[gnu::noinline]] bool computesPage();
  void advance();
  void tellTraining(training::Trainer& trainer, bool isDone);
  void edit(const views::Requests::Wanted& wanted, bool isSaid);
  void command(views::Command command);
  bool isAllowed(Session::Way way);
  void clearMask();
  void copyWeights();
  void save(views::Command command);

  Screen& screen_;
  Session& session_;
  Focus& focus_;
  Typing& typing_;
  std::unique_ptr<LessonPlayer> guide_;
  std::uint64_t revision_ = 0;             ///< of the document in the last frame
  Computes computes_ = Computes::nothing;  ///< what the last frame left to compute
  bool isPart_ = false;                    ///< did the last frame lack heads of a large layer?
  int rested_ = 0;                         ///< frames since an edit, while there is something to compute
  int quiet_ = 1000;                       ///< frames since the last input
  bool hasWorked_ = false;                 ///< were heads computed since the last frame?
  int builds_ = 0;                         ///< how often this frame has been built and discarded
  bool isBuilding_ = false;                ///< a text field is being drawn into the frame
  std::optional<Typed> typed_;             ///< the result of that field
  std::vector<views::Command> later_;      ///< to be carried out by finish()
  std::optional<std::string> chosen_;      ///< likewise, for choices in a form
  InView noticed_{};                       ///< when the message was said
  double noticedAt_ = 0;                   ///< when that was, in seconds
  bool saidForgotten_ = false;             ///< that the history has dropped its oldest steps
  std::uint64_t count_ = 0;
  std::array<float, 31> times_{};
  std::size_t timesCount_ = 0;
};

}  // namespace app
