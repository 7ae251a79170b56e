// One playground: its document, its engine and its panels. The shells feed it input and draw what it builds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/host.h"
#include "attention/explain.h"
#include "document/document.h"

namespace gfx {
class Heatmaps;
}

namespace app {

/// What the host page may switch off, as attributes of the custom element.
struct Embed {
  std::string hide;  ///< comma-separated: "share,export,panel,header,inspector,arcs,heads"
  std::string lock;  ///< comma-separated option and tensor names that cannot be changed: "heads,q"
};

class App {
 public:
  /// `heatmaps` may be replaced after a lost graphics context; both outlive the app.
  App(Host& host, gfx::Heatmaps& heatmaps);
  ~App();

  /// Builds one frame with Dear ImGui, between ImGui::NewFrame() and ImGui::Render(). The shell has already given
  /// size, input and time to ImGuiIO. With carryOut() this is the whole of what happens in a frame.
  void frame();
  /// Does what the panels of that frame asked for. After it was drawn: heatmaps read their numbers until then.
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
  attention::Check openText(std::string_view text, std::string_view fileName);
  /// Says a sentence to the user, in the page or window itself.
  void notify(std::string_view sentence, bool isError);
  /// The selected cells as tab-separated text; empty if none are selected.
  std::string copyCells() const;
  attention::Check pasteCells(std::string_view text);
  void endText(Entry how, std::string_view text);
  /// The cell that the inspector speaks of.
  attention::CellRef explained() const;
  /// The sentence at the bottom; empty without one.
  std::string notice() const;
  void setEmbed(const Embed& embed);

  // The public interface (DESIGN section 9). Errors leave everything as it was.
  std::string state() const;
  attention::Check setState(std::string_view text, bool undoable);
  attention::Check openPreset(std::string_view name, bool undoable);
  void reset();
  bool undo();
  bool redo();
  attention::Result<std::string> get(std::string_view option) const;       ///< JSON text
  attention::Check set(std::string_view option, std::string_view json);
  /// A tensor of the layer, or one around it: those of document::AroundId, as they are on the pages of the experiments
  /// ("block:norm_2", "token_weights", "gamma_1", "spread:table" …). Valid until the next call.
  attention::Result<const attention::Tensor*> tensor(std::string_view name) const;
  attention::Check setTensor(std::string_view name, std::span<const float> data, std::span<const int> shape);
  /// Where a cell, or a control by its option name ("causal", "heads+", "heads-"), is on the canvas. The focus moves
  /// to `head` first where another one is shown. An error when it is not on the board in this mode, or not on the page
  /// of the experiments that is open.
  attention::Result<Rect> locate(std::string_view name, int head, int row, int col);
  /// JSON text {"text": …, "terms": [{"label", "text", "value"}, …]}: of a cell of the layer, of a stage of the block, or
  /// of token_weights and segment_weights.
  attention::Result<std::string> explain(std::string_view name, int head, int row, int col) const;
  std::uint64_t frames() const;  ///< drawn since the start
  float frameMs() const;         ///< median CPU time of the last frames, set by the shell through noteFrameTime()
  void noteFrameTime(float milliseconds);

  bool isDark() const;
  const document::Document& document() const;

 private:
  attention::Result<Rect> locateInside(std::string_view name, int head, int row, int col);
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace app
