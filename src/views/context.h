// What every panel is given: the document and trace to read, the place to put what the user wants done, and the
// little state of the view itself (what is selected, hovered, open) that is no part of the document.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "attention/engine/summary.h"
#include "document/derived.h"
#include "document/document.h"
#include "document/pin.h"
#include "views/finger.h"
#include "views/guide/guide_view.h"
#include "views/pages/experiments_view.h"
#include "views/pages/train_view.h"
#include "views/panels/changes_view.h"
#include "views/panels/plane_view.h"
#include "views/board/layout.h"
#include "views/theme.h"
#include "views/focus_ring.h"

namespace document {
struct Form;
}

namespace views {

using attention::CellRef;
using attention::formatNumber;
using attention::TensorId;

/// A rectangle of cells of one tensor, from where it was begun to where it was drawn.
struct Selection {
  bool active = false;
  TensorId tensor = TensorId::weights;
  int anchorRow = 0, anchorCol = 0, row = 0, col = 0;

  int top() const { return anchorRow < row ? anchorRow : row; }
  int left() const { return anchorCol < col ? anchorCol : col; }
  int rows() const { return (anchorRow < row ? row - anchorRow : anchorRow - row) + 1; }
  int cols() const { return (anchorCol < col ? col - anchorCol : anchorCol - col) + 1; }
  bool contains(int r, int c) const {
    return r >= top() && r < top() + rows() && c >= left() && c < left() + cols();
  }
};

/// What a pointer that is down is doing to the board.
struct Drag {
  enum class Kind { none, pending, value, weight, select, paint, scroll };
  Kind kind = Kind::none;
  std::uint64_t gesture = 0;
  CellRef cell;               ///< where it began
  double travelled = 0;       ///< of a value drag, in units of the value
  std::vector<float> before;  ///< the selected cells as they were
  float lastX = 0, lastY = 0;
  std::uint8_t paint = 0;     ///< what a paint stroke writes
  bool isWeight = false;        ///< it is a weight that can be dragged: its query or its key changes
  TensorId by = TensorId::q;  ///< which of them
  std::vector<float> row;     ///< that one as it was
  std::string why;            ///< it cannot become what the pointer asks for
  bool isFixed = false;       ///< it would have changed a number that cannot be changed
  std::optional<Selection> was;  ///< what was selected before a finger went down, which may be about to scroll
};

/// What is being typed, and into what.
struct TextTarget {
  enum class Kind { cell, parameter, label, column, sentence, option, search };
  Kind kind = Kind::cell;
  CellRef cell;  ///< for a label, the row is the token; for a heading of Q and K, the column; for a parameter, row and column count
  document::ParameterId parameter = document::ParameterId::gamma_1;
  bool ofKeys = false;  ///< a label or sentence of the other sequence of cross-attention
  document::OptionId option = document::OptionId::temperature;
  std::string name, text;
  Box box;
  bool centered = false, selectAll = true;
  std::string wrong;  ///< why `text` was refused
};

/// What a new number of heads leaves each of them, as a sentence.
std::string sharedWidth(int heads, int headDim);

/// What the line at the bottom says, with names in it that can be clicked.
struct Notice {
  struct Piece {
    std::string words;
    std::optional<CellRef> cell;  ///< where a click goes
  };
  std::vector<Piece> pieces;
  bool isError = false;
  bool empty() const { return pieces.empty(); }
  std::string text() const {
    std::string all;
    for (const Piece& p : pieces) all += p.words;
    return all;
  }
};

/// A choice that was refused: its control says why, and offers what would help.
struct Blocked {
  document::OptionId option = document::OptionId::heads;
  document::Value value;
  std::uint64_t revision = 0;  ///< of the document that refused it
};

/// The words of a preset, kept so that it is not read again in every frame.
struct PresetWords {
  std::string preset;
  std::vector<std::string> labels, keyLabels;
};

struct StepperView;    // board/stepper.h
struct Arithmetic;  // panels/arithmetic.h

struct ViewState {
  Selection selection{true, TensorId::weights, 0, 0, 0, 0};
  CellRef explained;  ///< the last computed cell that was selected: it stays explained while its inputs are changed
  std::optional<CellRef> hover;
  std::optional<CellRef> peek;  ///< where a finger rested: shown as if it hovered, until the next touch
  std::optional<ImVec2> rest;  ///< where a drag left the pointer: nothing is hovered until it has moved away from there
  Drag drag;
  std::uint64_t nextGesture = 1;
  std::optional<TextTarget> text;
  bool painting = false;    ///< clicks on scores and weights paint the mask
  bool drawer = false, help = false;
  float frameMs = 0;        ///< median CPU time of the last frames, for the list of keys
  PresetWords presetWords;
  bool moreSizesOpen = false, windowOpen = false, moreMasksOpen = false, rotaryOpen = false;  ///< groups of the side panel that are folded otherwise
  bool shares = false;      ///< can the platform make links and code of the board?
  std::string keptIn;       ///< where the board is kept, for Help; empty: nowhere
  float scroll = 0, fling = 0;
  Scroller side, helpPage;              ///< the side panel; the list of keys
  Finger finger;
  Menu menu;
  std::optional<Blocked> blocked;
  bool busy = false;                    ///< a panel glides, or a button is held: more frames, please
  FocusRing options;                         ///< keys in it
  Notice notice;            ///< until the next input
  double typingUntil = 0;   ///< letters until then are text that found no field, and no commands
  ExperimentsView experiments;                  ///< the pages
  bool guideTab = false;                ///< is the tab Guide of the left column open?
  bool guideOpen = false;               ///< is a lesson open, which smaller windows show at the bottom?
  std::shared_ptr<GuideView> guide;     ///< null until there is one
  TrainView train;                              ///< the page of training
  std::shared_ptr<document::Form> form;         ///< a question over the board; null: none
  std::shared_ptr<StepperView> stepper;  ///< the row that is stepped through; null until one is
  std::shared_ptr<Arithmetic> arithmetic;  ///< the numbers of the inspector that can be touched; null until the pointer comes there
  std::optional<CellRef> lit;           ///< the cell of the one under the pointer
  int unreached = -1;                   ///< the query row whose weights are not reached yet in the steps
  bool still = false;                   ///< what would move is there at once
  ChangesView changes;                          ///< what differs from the pin
  bool before = false;                          ///< is the pinned board shown, for as long as a key or a button is held?
  PlaneView plane;                              ///< the arrows, or the points, in the card below the matrices
};

/// The views of the card below the matrices, by the names that pages hide and show them by.
inline constexpr int kCardCount = 5;
inline constexpr std::string_view kCardNames[kCardCount] = {"arcs", "plane", "values", "changes", "loops"};

/// What a panel wants done besides edits.
enum class Command { undo, redo, reset, pickFile, saveState, copyState, copyWeights, copyCells, clearMask, fullscreen, share, saveAs, saveNpz, saveSafetensors, saveTable };

/// A drag of any slider: there is one at a time. Those of cells count up from 1.
inline constexpr std::uint64_t kSliderGesture = ~std::uint64_t{0};

/// Collected from all that takes input, and carried out before the rest of the frame is drawn, so that all of it shows
/// the same document.
struct Requests {
  struct Wanted {
    document::Edit edit;
    std::uint64_t gesture = 0;
  };
  std::vector<Wanted> edits;
  std::vector<Command> commands;
  std::vector<GuideAct> guide;
  std::optional<std::string> preset;
  std::optional<TextTarget> text;
  std::optional<Notice> said;
  std::optional<document::State> opened;  ///< a document in the place of this one
  int trainSteps = 0;       ///< so many more, whether the run is going on or not
  bool trainAnew = false;
  std::optional<std::string> chosen;  ///< in ViewState::form, as document::toLines(Choices); empty: it was closed
  bool endGesture = false;
  bool moved = false;  ///< the selection changed
  std::uint64_t held = 0;  ///< the gesture of a control that is held down: what it sets is one step of undo

  void edit(document::Edit e, std::uint64_t gesture = 0) { edits.push_back({std::move(e), gesture}); }
  void set(document::OptionId id, document::Value value, std::uint64_t gesture = 0) {
    edit(document::SetOption{id, std::move(value)}, gesture != 0 ? gesture : held);
  }
  void ask(Command c) { commands.push_back(c); }
  void say(std::string words) { said = Notice{{{std::move(words), {}}}, false}; }
};

/// Boxes of controls by name ("causal", "heads+"), for tours, tests and overlap checks.
using WidgetRects = std::map<std::string, Box, std::less<>>;

/// A count as it is written in English: "6,400".
std::string counted(std::int64_t n);
/// Is `name` one of the comma-separated words of `list`?
bool listed(std::string_view list, std::string_view name);
/// Did a page that locked these names lock the option, tensor or action, or the one that a place is of ("slider:block_dropout",
/// "mode:x")? "all" is all that changes the document.
bool isLocked(std::string_view lock, std::string_view name);

/// What is open: the layer where the host page hid all pages (by the name "experiments").
document::View openView(const document::Settings& settings, std::string_view hide);

/// What a texture has to know of `stamps`, from a row and a column on.
draw::Written writtenOf(const attention::Stamps& stamps, int firstRow = 0, int firstCol = 0);

struct Context {
  const document::State& state;
  const attention::Spec& spec;
  const attention::Inputs& inputs;
  const attention::Trace& trace;
  attention::Summaries& summaries;  ///< of that trace
  std::uint64_t revision;
  document::DerivedTensors& derived;  ///< of this state and trace
  const Layout& layout;
  const Palette& palette;
  const Fonts& fonts;
  draw::Heatmaps& heatmaps;
  ViewState& view;
  Requests& requests;
  WidgetRects& widgetRects;            ///< filled while drawing
  const WidgetRects& lastWidgetRects;  ///< as the frame before left them: what the pointer sees
  bool touch;
  bool canUndo, canRedo;
  std::string_view kernel;  ///< the instruction set in use
  const std::string& lock;  ///< names that the page locked, comma-separated
  const std::string& hide;  ///< names of parts that it hid
  float zoom;               ///< how much larger than usual everything is drawn
  document::Pinned* pin;    ///< the board that is pinned; null without one

  /// Did the page lock this option or tensor, or the one that a place is of ("slider:block_dropout", "mode:x")?
  bool locked(std::string_view name) const;
  /// Is the board in its place, or a page?
  document::View open() const { return openView(state, hide); }
  bool onPage() const { return open() != document::View::layer; }
  /// The tensor behind an id in this mode, or null.
  const attention::Tensor* tensor(TensorId id) const { return attention::find(inputs, trace, id); }
  /// May this tensor's cells be changed here?
  bool editable(TensorId id) const;
  /// The cell that the inspector speaks of: the hovered one, else the selected one; where that one is being changed, the
  /// last computed one that was.
  CellRef focus() const;
  /// The same without the pointer: what was selected, or the last computed cell that was where an input is being changed.
  CellRef chosen() const;
  /// The weights on the board: of the head in focus, or the mean of all heads.
  float weight(int query, int key) const;
  /// How many rows of queries there are: a decoder has only those that it has produced.
  int rowsSoFar() const { return decodes() ? std::min(state.step, state.tokens) : state.tokens; }
  /// Is the layer shown as a decoder does it, a token at a time?
  bool decodes() const { return state.step > 0 && state.causal && !state.cross; }
  /// Does the board show the mean of the heads that take part, in place of one head?
  bool showsMean() const { return state.averageHeads && state.heads > 1; }
  /// That mean, of weights or head_output: [1, rows, cols].
  const attention::Tensor& mean(TensorId id) const { return summaries.mean(id, spec, trace); }
  /// Are the words the reader's own, and not those of the preset that it began with?
  bool ownSentence() const;
  /// Is the sentence that of the lesson that is open?
  bool isOfLesson() const;
  /// The weights on the board, and what they are called: of all heads, of which focusHead is shown, or the mean.
  TensorId weightsId() const { return showsMean() ? attention::kMeanWeights : TensorId::weights; }
  const attention::Tensor& weights() const { return showsMean() ? mean(TensorId::weights) : trace.weights; }
  int weightsHead() const { return showsMean() ? 0 : state.focusHead; }
};

}  // namespace views
