// One playground: its document, its engine and its panels. The shells feed it input and draw what it builds.
#pragma once

#include <cstdint>
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

namespace draw {
class Heatmaps;
}
namespace views {
struct Palette;
struct SystemColors;
}

namespace app {

class App {
 public:
  /// `heatmaps` may be replaced after a lost graphics context; both outlive the app.
  App(Host& host, draw::Heatmaps& heatmaps);
  ~App();

  /// Builds one frame with Dear ImGui, between ImGui::NewFrame() and ImGui::Render(). The shell has already given
  /// size, input and time to ImGuiIO. Input is taken and carried out before the board is drawn. False: what it did
  /// changed what was built already; the shell ends this frame with ImGui::EndFrame(), and begins and builds it again.
  bool frame();
  /// After a frame was drawn (heatmaps read their numbers until then), or was built and is not drawn: what has to wait
  /// until then, such as dialogs.
  void carryOut();
  /// Input came: the shell calls this with every event that it passed to ImGuiIO.
  void wake();
  /// Is another frame wanted? False means idle: the shell must not draw.
  bool wantsFrame() const;

  /// Would a press of this ImGuiKey do something now? Only such keys are taken from the page. `command` is Ctrl or Cmd.
  bool usesKey(int key, bool command, bool shift, bool alt) const;
  /// Does a press at this point begin a drag that changes something? A finger that goes down there edits.
  bool dragsAt(float x, float y) const;
  /// How much larger than usual everything is in a window of that size: lengths inside are those of the window, and of
  /// what asks here, divided by it. The next frame must have it.
  float zoomFor(float width, float height);
  float zoom() const;
  /// Would the wheel or a finger scroll something at this point? `dy` > 0 is towards the end.
  bool scrollsAt(float x, float y, float dy) const;
  /// Does it show letters that most frames do without, such as Greek ones?
  bool wantsAllGlyphs() const;
  /// Every named thing on the screen as JSON text [{"name", "x", "y", "width", "height"}, …], in logical pixels.
  std::string items() const;

  // Files, clipboard, text fields; the shells call these.
  /// Opens state text or a tensors file (dropped, picked, from the command line).
  base::Result<void> openText(std::string_view text, std::string_view fileName);
  /// Opens the layer of a file that was read elsewhere. `isFirst`: it is what the program began with.
  base::Result<void> openState(document::State state, std::string_view fileName, bool isFirst = false);
  /// Asks what is in a file; Host::choose() hears of each choice.
  void ask(document::Form form);
  /// What another program read: files::packed(), or document::toLines(Form).
  base::Result<void> take(std::string_view bytes, std::string_view fileName);
  /// All tensors of the layer by their names, as files::packed(StateTensors), for files::convert().
  base::Result<std::string> tensors() const;
  /// The board with its undo history, as bytes of which there are hardly more than `most`: the oldest steps are left out. Cheap where
  /// little changed since the last time.
  std::string kept(std::size_t most);
  /// Where it is kept, for Help: "the storage of this browser".
  void setKeptIn(std::string_view where);
  /// Back, in the place of all that is there.
  base::Result<void> restore(std::string_view bytes);
  /// Says a sentence to the user, in the page or window itself.
  void notify(std::string_view sentence, bool isError);
  /// The selected cells as tab-separated text; empty if none are selected.
  std::string copyCells() const;
  base::Result<void> pasteCells(std::string_view text);
  void endText(Entry how, std::string_view text);
  /// The cell that the inspector speaks of.
  attention::CellRef explained() const;
  /// The sentence at the bottom; empty without one.
  std::string notice() const;
  void setEmbed(const Embed& embed);

  // The Guide.
  /// Keeps its place free before it has come, so that nothing moves when it does; not for a hidden one.
  void reserveGuide(bool open);
  /// Opens a lesson of a file: the card of that id, or the first one. Refused by file, step and field. `keepsBoard`: it goes on, with
  /// the board as it is.
  base::Result<void> openLesson(std::string_view text, std::string_view fileName, std::string_view id, int step, bool keepsBoard = false);
  /// The list of lessons, index.json.
  base::Result<void> setLessons(std::string_view text);
  /// A lesson that was wanted does not come.
  void failLesson(std::string_view sentence);

  // For assistive technology.
  /// The colours that the reader's system gives all pages; nothing: those of the theme.
  void setColors(std::optional<views::SystemColors> colors);
  /// What the page's styles say: words larger by that much (0.8 to 2.5), a colour (0xRRGGBB) for what is on or chosen.
  void setLooks(float textScale, std::optional<unsigned> accent);
  /// The height that shows all of the board at that width, in the window's lengths; 0 where Embed::fit is off or another view is open.
  float heightFor(float width) const;
  const views::Palette& palette() const;
  /// What is on the screen, as app/mirror.h says; `notes` are those of a frame that was built just now.
  std::string mirror(const std::string& notes);
  /// Selects a cell as a press on it does.
  base::Result<void> select(std::string_view tensor, int head, int row, int col);

  // The public interface (DESIGN section 9). Errors leave everything as it was.
  std::string state() const;
  base::Result<void> setState(std::string_view text, bool undoable);
  base::Result<void> openPreset(std::string_view name, bool undoable);
  void reset();
  bool undo();
  bool redo();
  base::Result<std::string> get(std::string_view option) const;       ///< JSON text
  base::Result<void> set(std::string_view option, std::string_view json);
  /// A tensor of the layer, or one around it: those of attention::kDerivedTensors, as they are on their pages
  /// ("block:norm_2", "token_weights", "gamma_1", "spread:table" …). Valid until the next call.
  base::Result<const attention::Tensor*> tensor(std::string_view name) const;
  base::Result<void> setTensor(std::string_view name, std::span<const float> data, std::span<const int> shape);
  /// Where a cell, or a control by its option name ("causal", "heads+", "heads-"), is on the canvas. The focus moves
  /// to `head` first where another one is shown. An error when it is not on the board in this mode, or not on the page
  /// that is open.
  base::Result<Rect> locate(std::string_view name, int head, int row, int col);
  /// JSON text {"text": …, "terms": [{"label", "text", "value"}, …]}: of a cell of the layer, of a stage of the block, or
  /// of token_weights and segment_weights.
  base::Result<std::string> explain(std::string_view name, int head, int row, int col) const;
  /// How the checks of a page script stand: app/watched.h.
  base::Result<std::string> judged(std::string_view checks, std::string_view start) const;
  /// ∂(cell of the tensor `name`)/∂(cell of the input `by`) for every cell of `by`: q, k, v, x, w_q … Less than a
  /// millisecond for 16 tokens and 4 heads. Valid until the next call.
  base::Result<const attention::Tensor*> gradient(std::string_view name, int head, int row, int col, std::string_view by);
  /// The run of the options train_… takes so many more steps, in slices after frames, each of which sends Event::train; the last one
  /// says "isDone". Returns the step that it will be at.
  base::Result<int> train(int steps);
  void resetTraining();
  bool trains() const;  ///< does a run go on?
  /// A slice of it between frames, for shells whose frames come late. Is there more to do?
  bool trainOn();
  std::uint64_t frames() const;  ///< drawn since the start
  float frameMs() const;         ///< median CPU time of the last frames, set by the shell through noteFrameTime()
  void noteFrameTime(float milliseconds);

  bool isDark() const;
  const document::Document& document() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace app
