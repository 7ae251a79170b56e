// One playground: document, engine and panels. The shells pass it input, and draw the frames that it builds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/embed.h"
#include "app/host.h"
#include "attention/layer/explain.h"
#include "document/document.h"
#include "document/form.h"
#include "files/layout/session_store.h"

namespace draw {
class Heatmaps;
}
namespace views {
struct Palette;
struct SystemColors;
}  // namespace views

namespace app {

class App {
 public:
  /// Both must outlive the app. The objects of `heatmaps` may be recreated after a lost graphics context.
  /// `isFirst`: for a first visit, with document::firstBoard() and the left column of a large window closed;
  /// else with the first preset.
  App(Host& host, draw::Heatmaps& heatmaps, bool isFirst = false);
  ~App();

  /// Builds one frame with Dear ImGui, between ImGui::NewFrame() and ImGui::Render(). The shell must have set
  /// size, input and time in ImGuiIO. Input is handled before the board is drawn. Returns false if handling
  /// it changed parts of the frame that had already been built: the shell must then call ImGui::EndFrame(),
  /// begin a new frame and call this again.
  bool frame();
  /// To be asked before a frame: has it computed something that takes as long as one? Then the frame comes
  /// next.
  bool prepares();
  /// To be called after a frame was drawn (until then the heatmaps refer to its numbers), or was built but
  /// will not be drawn: does what had to wait, such as dialogs.
  void carryOut();
  /// To be called by the shell for every event that it passed to ImGuiIO.
  void wake();
  /// Is another frame needed? If not, the shell must not draw.
  bool wantsFrame() const;

  /// The milliseconds after which wake() should be called without any input, if there is none before: a
  /// tooltip then opens. 0: never.
  int wakesIn() const;

  /// Would this ImGuiKey have an effect now? Only such keys are taken from the page. `command` is Ctrl or
  /// Cmd.
  bool usesKey(int key, bool command, bool shift, bool alt) const;
  /// A finger was pressed, or has moved, `age` seconds ago; to be called before the event is passed to
  /// ImGuiIO.
  void finger(bool pressed, float x, float y, double age = 0);
  /// The place that a finger at (x, y) means: on a small control that it was pressed close beside. Until the
  /// next press.
  std::pair<float, float> aimed(float x, float y) const;
  /// Did the finger hold a number `age` seconds ago? Then all its movements are the board's, and nothing
  /// scrolls.
  bool fingerHolds(double age = 0);
  /// Two fingers, whose middle has moved by (dx, dy) to (x, y), are `by` times as far apart as before:
  /// magnifies the matrices, and moves them with the fingers. Returns false if there is no board there, so
  /// that the page may be enlarged.
  bool pinch(float x, float y, float by, float dx, float dy);
  /// The magnification of the interface in a window of that size, which the next frame must use. Lengths
  /// inside the app are those of the window divided by it.
  float zoomFor(float width, float height);
  float zoom() const;
  /// Would the wheel or a finger scroll something at this point? `dy` > 0 is towards the end.
  bool scrollsAt(float x, float y, float dy) const;
  /// The rectangles of all named parts of the screen as JSON text [{"name", "x", "y", "width", "height"}, …],
  /// in logical pixels.
  std::string items() const;

  // Files, clipboard and text fields; called by the shells.
  /// Opens state text or a tensors file (dropped, chosen in a dialog, or from the command line).
  base::Result<void> openText(std::string_view text, std::string_view fileName);
  /// Opens a layer that was read from a file elsewhere. `heading`: the row of a table that was left out as
  /// one, from 1; 0 if there was none. `isFirst`: the program was started with this file.
  base::Result<void> openState(document::State state, std::string_view fileName, std::size_t heading = 0,
                               bool isFirst = false);
  /// Asks a question about a file; Host::choose() is called with each choice.
  void ask(document::Form form);
  /// Opens what another program read from a file: files::packed(), or document::toLines(Form).
  base::Result<void> take(std::string_view bytes, std::string_view fileName, std::size_t heading);
  /// All tensors of the layer, by name, as files::packed(StateTensors), for files::convert().
  base::Result<std::string> tensors() const;
  /// Hands over some of the board with its undo history, of which about `most` bytes are kept; the oldest
  /// steps are omitted to fit. True in the call that hands over the last: see files::SessionStore::keep().
  bool keep(std::size_t most, const files::SessionStore::Keeper& keeper);
  /// What was handed over is lost: everything will be again.
  void loseKept();
  /// Where the board is saved, as shown in Help: "the storage of this browser".
  void setKeptIn(std::string_view where);
  /// What others made in the program, as listed in Help: "Eigen 3.4.0 · CLI11 2.4.1". Without it Help leads
  /// to Host::showNotices(). The text must outlive the playground.
  void setParts(std::string_view parts);
  /// Replaces everything by what keep() handed over.
  base::Result<void> restore(std::string_view bytes);
  /// Shows a message to the user, in the page or window.
  void notify(base::Message sentence, bool isError);
  /// Of a file that is being read, so many megabytes have been; to be told about each frame. False once the
  /// user has cancelled that.
  bool reading(int megabytes, int all);
  /// The selected cells as tab-separated text; empty if none are selected.
  std::string copyCells() const;
  base::Result<void> pasteCells(std::string_view text);
  void endText(TextEnd how, std::string_view text);
  /// The cell that the inspector explains.
  attention::CellRef explained() const;
  /// The message at the bottom; empty if there is none.
  std::string notice() const;
  void setEmbed(const Embed& embed);

  // The Guide.
  /// Reserves space for the Guide before it has been loaded, so that nothing moves when it appears; unless it
  /// is hidden.
  void reserveGuide(bool open);
  /// Shows the first steps over the board, until they are done or skipped, or something else changes the
  /// board.
  void beginCoach();
  /// Opens a lesson from a file: the card with that id, or the first one. Errors name file, step and field.
  /// `keepsBoard`: continues with the present board.
  base::Result<void> openLesson(std::string_view text, std::string_view fileName, std::string_view id,
                                int step, bool keepsBoard = false);
  /// Sets the list of lessons, from index.json.
  base::Result<void> setLessons(std::string_view text);
  /// Adds the words of the lessons of a file to what is searched.
  base::Result<void> addLessonTexts(std::string_view text);
  /// Sets the terms of the glossary: document::readGlossary().
  base::Result<void> setGlossary(std::string_view english, std::string_view own);
  /// Reports that a requested lesson could not be loaded.
  void failLesson(base::Message sentence);

  // For assistive technology.
  /// The system colours that the reader forces on all pages; nothing: the colours of the theme.
  void setColors(std::optional<views::SystemColors> colors);
  /// What the page's styles specify: the scale of text (0.8 to 2.5), and an accent colour (0xRRGGBB) for what
  /// is on or chosen.
  void setLooks(float textScale, std::optional<unsigned> accent);
  /// The height at which a window of that width shows the whole board, in the window's units; 0 if Embed::fit
  /// is off or another view is open.
  float heightFor(float width) const;
  const views::Palette& palette() const;
  /// The content of the screen, as described in app/mirror.h; `notes` must be those of a frame that was just
  /// built.
  std::string mirror(const std::string& notes);
  /// Screen::namesHash(), of which the mirror keeps the lower half.
  unsigned whose();
  /// The control that has the keyboard focus outside the canvas, by its name; its tooltip opens. "": none.
  void pointAt(std::string_view name);
  /// Selects a cell, like a press on it.
  base::Result<void> select(std::string_view tensor, int head, int row, int col);

  // The public interface, as web/element.d.ts describes it. An error leaves everything unchanged.
  std::string state() const;
  base::Result<void> setState(std::string_view text, bool undoable);
  base::Result<void> openPreset(std::string_view name, bool undoable);
  void reset();
  bool undo();
  bool redo();
  base::Result<std::string> get(std::string_view option) const;  ///< JSON text
  base::Result<void> set(std::string_view option, std::string_view json);
  /// A tensor of the layer, or of what surrounds it: those of attention::kDerivedTensors, by the names used
  /// on their pages ("block:norm_2", "token_weights", "gamma_1", "spread:table" …). Valid until the next
  /// call.
  base::Result<const attention::Tensor*> tensor(std::string_view name) const;
  /// The same where only the numbers of one head are needed: of a large layer that was just opened, others
  /// may not have been computed yet.
  base::Result<const attention::Tensor*> tensor(std::string_view name, int head) const;
  base::Result<void> setTensor(std::string_view name, std::span<const float> data,
                               std::span<const int> shape);
  /// The rectangle on the canvas of a cell, or of a control, by the name of its option ("causal", "heads+",
  /// "heads-"). Focuses `head` first if another head is shown. An error if it is not on the board in this
  /// mode, or not on the open page.
  base::Result<Rect> locate(std::string_view name, int head, int row, int col);
  /// JSON text {"text": …, "terms": [{"label", "text", "value"}, …]}, for a cell of the layer, of a stage of
  /// the block, or of token_weights or segment_weights; in English, or in the reader's language.
  base::Result<std::string> explain(std::string_view name, int head, int row, int col,
                                    bool isTranslated = false) const;
  /// A cell of a tensor; NaN if there is none.
  float value(std::string_view name, int head, int row, int col) const;
  /// The results of checks that a page script watches: see app/watched.h.
  base::Result<std::string> judged(std::string_view checks, std::string_view start) const;
  /// ∂(cell of the tensor `name`)/∂(cell of the input `by`) for every cell of `by`: q, k, v, x, w_q … Takes
  /// less than a millisecond for 16 tokens and 4 heads. Valid until the next call.
  base::Result<const attention::Tensor*> gradient(std::string_view name, int head, int row, int col,
                                                  std::string_view by);
  /// Trains this many more steps of the run described by the options train_…, in time slices between frames.
  /// Each slice sends Event::train; the last one contains "isDone". Returns the step at which it will end.
  base::Result<int> train(int steps);
  void resetTraining();
  bool trains() const;    ///< is training in progress?
  bool computes() const;  ///< are there heads that the last frame lacked?
  /// Trains or computes them for a time slice between frames. Returns whether there is more to do.
  bool workOn();
  /// How many heads of a large layer, or on the page Model of all layers, have been computed; or have a
  /// picture, of some of their rows at least.
  int heads(bool isWhole);
  std::uint64_t frames() const;  ///< frames drawn since the start
  /// Heads are computed on all processors, where the platform has threads.
  void useAllProcessors();
  /// Median CPU time of recent frames, reported by the shell through noteFrameTime().
  float frameMs() const;
  void noteFrameTime(float milliseconds);

  bool isDark() const;
  const document::Document& document() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace app
