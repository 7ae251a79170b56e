// One frame: input is taken, what it asks for is carried out, and what then stands is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/guide.h"
#include "app/typing.h"

namespace app {

class Frame {
 public:
  Frame(Screen& screen, Focus& focus, Typing& typing) : screen_(screen), session_(screen.session), focus_(focus), typing_(typing) {}

  /// Builds it with Dear ImGui. False: what the input did changed controls that were built before; build it once more, in
  /// the same frame of the screen.
  bool build();
  /// After it was drawn, as heatmaps read their numbers until then: dialogs and files, and what the next frame needs.
  void finish();
  /// The field was ended, perhaps by the frame that is being built.
  void endText(Entry how, std::string_view words);
  /// Input came.
  void wake();

  /// The lesson that is open; made when it is first asked for.
  Guide& guide();

  std::uint64_t count() const { return count_; }
  /// Median time that the last frames took.
  float milliseconds() const;
  /// The run takes so many more steps, in slices between the frames; the step that it will be at. Refused: no run, and one that
  /// had to stop.
  base::Result<int> train(int steps);
  void trainAnew();
  /// Does a run go on?
  bool trains();
  /// A slice of it outside of a frame; is there more to do? What came of it is said after the next frame.
  bool trainOn();
  void note(float milliseconds);

 private:
  struct Typed {
    Entry how;
    std::string words;
  };

  [[gnu::noinline]] bool lookedBack(bool before);
  void controls(views::Context& context);
  void steps(views::Context& context);
  void pictures(views::Context& context);
  bool carryOut();
  void goOn();
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
  std::unique_ptr<Guide> guide_;
  int builds_ = 0;             ///< of this frame that were thrown away
  bool isBuilding_ = false;    ///< a text field, into the frame
  std::optional<Typed> typed_;  ///< into that field
  std::vector<views::Command> later_;  ///< for finish()
  std::optional<std::string> chosen_;  ///< the same: in a form
  bool saidForgotten_ = false;  ///< that the history lost its oldest steps
  std::uint64_t count_ = 0;
  std::array<float, 31> times_{};
  std::size_t timesCount_ = 0;
};

}  // namespace app
