// What every panel receives: document and trace to read, requests to add to, and the state of the view
// (selection, hover, open menus) that is not part of the document.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attention/engine/summary.h"
#include "attention/layer/explain.h"
#include "base/cached.h"
#include "document/derived.h"
#include "document/document.h"
#include "document/pin.h"
#include "views/board/layout.h"
#include "views/finger.h"
#include "views/focus_ring.h"
#include "views/guide/guide_view.h"
#include "views/pages/experiments_view.h"
#include "views/pages/model_view.h"
#include "views/pages/train_view.h"
#include "views/panels/changes_view.h"
#include "views/panels/coach_view.h"
#include "views/panels/plane_view.h"
#include "views/theme.h"
#include "views/tooltip.h"

namespace document {
struct Form;
}

namespace views {

using attention::CellRef;
using attention::formatFactor;
using attention::formatNumber;
using attention::TensorId;

/// A rectangle of cells of one tensor, from the anchor, where it was begun, to the present cell.
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

/// What a pressed pointer is doing on the board.
struct Drag {
  enum class Kind { none, pending, value, weight, select, paint, scroll };
  Kind kind = Kind::none;
  std::uint64_t gesture = 0;
  CellRef cell;               ///< the cell where it began
  double travelled = 0;       ///< for a drag of a value, in units of the value
  std::vector<float> before;  ///< the selected cells before the drag
  float lastX = 0, lastY = 0;
  std::uint8_t paint = 0;     ///< the value that painting writes
  bool isWeight = false;      ///< the weight can be dragged, which changes its query or key
  TensorId by = TensorId::q;  ///< which of the two
  std::vector<float> row;     ///< its row before the drag
  std::string why;            ///< why the weight cannot get the value that the pointer asks for
  bool isFixed = false;       ///< the drag was of a number that cannot be edited
  bool isHeld = false;        ///< a finger has rested on the cell, and drags it in any direction
  bool isDouble = false;      ///< the press was the second of a double tap, which acts when it is released
};

/// The number that a finger has selected, and its value at that time.
struct Edited {
  CellRef cell;
  float before = 0;
  /// The height of the board on which it has been scrolled into view above the strip, once the finger was
  /// lifted.
  float seenOn = 0;
  /// What was typed on the keypad; the next digit begins anew while it `isWhole`.
  std::string typed = {};
  bool isWhole = true;
  std::uint64_t gesture = 0;  ///< of what was typed, which is one step of undo
  /// The matrices as they were at that time, of which the cells that have followed are marked.
  std::vector<std::pair<TensorId, attention::Tensor>> matrices = {};
};

/// The text being edited, and what it belongs to.
struct TextTarget {
  enum class Kind { cell, parameter, label, column, sentence, option, search, palette };
  Kind kind = Kind::cell;
  /// For a label, row is the token; for a column heading of Q and K, col is the column; for a parameter, row
  /// and col are used.
  CellRef cell;
  document::ParameterId parameter = document::ParameterId::gamma_1;
  bool ofKeys = false;  ///< a label or sentence of the key sequence in cross-attention
  document::OptionId option = document::OptionId::temperature;
  base::Message name;
  std::string text;
  Box box;
  bool centered = false, selectAll = true;
  float searches = 0;   ///< as app::TextField::searches
  base::Message wrong;  ///< why `text` was refused
};

/// The width that a new number of heads leaves to each head, as a sentence.
base::Message sharedWidth(int heads, int headDim);

/// The message at the bottom, with clickable names.
struct Notice {
  struct Piece {
    base::Message words;
    std::optional<CellRef> cell;  ///< the cell to go to on a click
  };
  std::vector<Piece> pieces;
  bool isError = false;
  bool empty() const { return pieces.empty(); }
  base::Message text() const {
    base::Message all;
    for (const Piece& p : pieces) all += p.words;
    return all;
  }
};

/// A choice that was refused: its control shows why, and offers a remedy.
struct Blocked {
  document::OptionId option = document::OptionId::heads;
  document::Value value;
  std::uint64_t revision = 0;  ///< the revision of the document that refused it
};

/// The labels of a preset, cached so that it is not parsed in every frame; and whether those of a state are
/// others, so that thousands are compared once for each of its revisions.
struct PresetWords {
  std::string preset;
  std::vector<std::string> labels, keyLabels;
  std::uint64_t revision = 0;
  bool isOwn = false;
};

/// The numbers of heads that the model's width allows.
struct AllowedHeads {
  std::uint64_t revision = 0;
  std::vector<int> heads;
};

/// What is said of weights that are not stored, kept from frame to frame while they are the same: it takes
/// rows of up to a hundred thousand numbers.
struct Kept {
  struct Of {
    std::uint64_t revision = 0;
    TensorId id = TensorId::weights;
    int head = -1;
    std::uint32_t stamp = 0;
    bool operator==(const Of&) const = default;
  } of;
  struct Row {
    attention::RowTotals totals;
    std::optional<double> bits;  ///< its entropy, if that was asked for
  };
  std::map<int, Row> rows;  ///< that were asked for
  int query = -1;
  std::vector<float> weights;  ///< of that one
  struct Said {
    CellRef cell;
    attention::Explanation words;
  };
  std::optional<Said> said[2];  ///< plain and marked
  std::optional<Said> chosen;   ///< of the selected cell, whatever the pointer is on
  struct Trail {
    CellRef cell;
    std::uint64_t tensors = 0;
    std::vector<attention::Region> regions;
  };
  std::optional<Trail> trail;
};

/// The list of keys, and what else Help says.
struct HelpView {
  bool open = false;
  float frameMs = 0;   ///< median CPU time of recent frames
  std::string keptIn;  ///< where the board is saved; empty: nowhere
  /// What others made in the program; empty: the platform shows their notices.
  std::string_view parts;
  Scroller page;  ///< of Help, or of a question in its place
};

/// Which sections of the side panel the user has expanded.
struct SectionsView {
  std::string_view open;  ///< the section of a phone's sheet that is open; empty: none
  bool moreSizes = false, window = false, moreMasks = false, rotary = false;
};

struct StepperView;   // board/stepper.h
struct Arithmetic;    // panels/arithmetic.h
struct GlossaryView;  // guide/glossary.h
struct PaletteView;   // palette.h
struct WorkView;      // work.h

struct ViewState {
  base::Cached<std::uint64_t, document::Settings> unlabelled;  ///< see Context::unlabelled()
  Selection selection{true, TensorId::weights, 0, 0, 0, 0};
  /// The last computed cell that was selected; it remains explained while its inputs are edited.
  CellRef explained;
  std::optional<CellRef> hover;
  /// The link of a token in the arcs on which a finger rested, shown like a hovered one until the next touch.
  std::optional<CellRef> peek;
  /// The head whose picture the pointer is on, which the board shows meanwhile; as many as there are heads:
  /// their mean; −1: none.
  int peekHead = -1;
  /// Where a drag left the pointer; nothing is hovered until it has moved away from there.
  std::optional<ImVec2> rest;
  Drag drag;
  std::uint64_t nextGesture = 1;
  std::optional<TextTarget> text;
  float linkFrom = attention::kLink;  ///< links of a long board are drawn from this weight on
  bool painting = false;              ///< clicks on scores and weights edit the mask
  bool drawer = false;
  HelpView help;
  PresetWords presetWords;
  AllowedHeads allowedHeads;
  std::shared_ptr<Kept> kept;  ///< made when it is first asked for
  SectionsView sections;
  bool shares = false;  ///< can the platform create links and code for the board?
  float scroll = 0, fling = 0;
  /// The magnification of the matrices by two fingers, and how far they are moved to the left.
  float magnify = 1, pan = 0;
  std::optional<Edited> edited;
  bool keys = false;  ///< is the keypad for such numbers open?
  Scroller side;      ///< the side panel
  Finger finger;
  /// The last press was that of a finger; `roomy` once that is lifted, so that what is pressed does not move
  /// away.
  bool touched = false, roomy = false;
  /// Controls of this frame that are in view, and those that have been scrolled away, under something else;
  /// comma-separated.
  std::string inView, buried;
  Box board;  ///< Layout::board of the last frame
  Menu menu;
  std::optional<Blocked> blocked;
  Tooltip tip;
  /// The terms, and the one that is open; null until they are first asked for.
  std::shared_ptr<GlossaryView> glossary;
  std::shared_ptr<PaletteView> palette;  ///< what is found of what is typed; null until it is first opened
  /// The name of a control that this frame operates as a press does, and of one that gets the keyboard focus;
  /// each empties it.
  std::string run, seek;
  std::shared_ptr<WorkView> work;  ///< what takes long; null: nothing does
  bool busy = false;               ///< something is moving or held, so further frames are needed
  bool isHandled = false;          ///< the reader is doing something: what no input needs waits
  double sliceLeft = 0;  ///< milliseconds that a page may compute in this frame, however often built
  FocusRing options;     ///< keyboard focus in it
  Notice notice;         ///< shown until the next input
  /// Until this time, in seconds, letters are text that found no field, not commands.
  double typingUntil = 0;
  ExperimentsView experiments;  ///< state of the pages
  bool sideClosed = false;      ///< is the left column of a large window closed?
  bool guideTab = false;        ///< is the tab Guide of the left column open?
  /// Is a lesson open, for which smaller windows have a bar at the bottom?
  bool guideOpen = false;
  std::shared_ptr<GuideView> guide;      ///< null until it is needed
  std::shared_ptr<CoachView> coach;      ///< the first steps on a first visit; null: none
  ModelView model;                       ///< state of the page of all heads
  TrainView train;                       ///< state of the training page
  std::shared_ptr<document::Form> form;  ///< a question in front of the board; null: none
  std::shared_ptr<StepperView> stepper;  ///< the steps of a row; null until they are first used
  /// Numbers of the inspector that respond to the pointer; null until it comes near them.
  std::shared_ptr<Arithmetic> arithmetic;
  std::optional<CellRef> lit;  ///< the cell of the number under the pointer
  /// The query row whose weights have not been computed yet in the steps shown.
  int unreached = -1;
  float stepSpeed = 1;  ///< of the steps of a row
  bool still = false;   ///< animations are skipped
  ChangesView changes;  ///< differences from the pinned board
  /// Is the pinned board shown, while a key or a button is held?
  bool before = false;
  PlaneView plane;  ///< the plane in the card below the matrices
};

inline constexpr float kNumberCell = 26;  ///< smaller cells of the board have no numbers

/// The views of the card below the matrices, by the names with which host pages hide and show them.
inline constexpr int kCardCount = 5;
inline constexpr std::string_view kCardNames[kCardCount] = {"arcs", "plane", "values", "changes", "loops"};

/// Requests other than edits.
enum class Command {
  undo,
  redo,
  reset,
  pickFile,
  saveState,
  copyState,
  copyWeights,
  copyCells,
  clearMask,
  fullscreen,
  share,
  notices,
  report,
  saveAs,
  saveNpz,
  saveSafetensors,
  saveTable
};

/// The gesture of any slider drag; only one can be in progress. Those of cells count up from 1.
inline constexpr std::uint64_t kSliderGesture = ~std::uint64_t{0};

/// The matrices are to be so many times as large, about a place on the board.
struct Magnification {
  float by = 1, x = 0, y = 0;
};

/// Collected from all input, and carried out before the rest of the frame is drawn, so that the whole frame
/// shows the same document.
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
  std::optional<document::State> opened;  ///< a document to open in place of this one
  int trainSteps = 0;  ///< train this many more steps, whether or not training is in progress
  bool trainAnew = false;
  /// The choices made in ViewState::form, as document::toLines(Choices); empty: it was closed.
  std::optional<std::string> chosen;
  bool endGesture = false;
  bool moved = false;      ///< the selection changed
  bool dropsText = false;  ///< the text field is to be removed
  std::optional<Magnification> magnify;
  /// The gesture of a control that is held down, which makes everything that it sets a single undo step.
  std::uint64_t held = 0;

  void edit(document::Edit e, std::uint64_t gesture = 0) { edits.push_back({std::move(e), gesture}); }
  void set(document::OptionId id, document::Value value, std::uint64_t gesture = 0) {
    edit(document::SetOption{id, std::move(value)}, gesture != 0 ? gesture : held);
  }
  void ask(Command c) { commands.push_back(c); }
  void say(base::Message words) { said = Notice{{{std::move(words), {}}}, false}; }
};

/// The boxes of controls by name ("causal", "heads+"), for tours, tests and checks for overlaps.
using WidgetRects = std::map<std::string, Box, std::less<>>;

/// What the pointer finds on the board beside the cells. No name of a box is read for that.
struct BoardPlaces {
  struct Label {
    bool ofKeys;
    int token;
    Box box;  ///< of slanted labels those of neighbours overlap
  };
  struct Bar {
    int query, key;  ///< a bar of a row of weights
    Box box;
  };
  std::vector<Label> labels;
  std::vector<Bar> bars;
};

/// An integer with English digit grouping: "6,400".
std::string counted(std::int64_t n);
/// Does the comma-separated list contain `name`?
bool listed(std::string_view list, std::string_view name);
/// Does the host page's list of locked names apply to this option, tensor or action, or to the one that a
/// widget rectangle belongs to
/// ("slider:block_dropout", "mode:x")? "all" locks everything that changes the document.
bool isLocked(std::string_view lock, std::string_view name);

/// The open view; always the layer if the host page hid all pages (by the name "experiments").
document::View openView(const document::Settings& settings, std::string_view hide);

/// The information about changes that a texture needs, from a given row and column on.
draw::Written writtenOf(const attention::Stamps& stamps, int firstRow = 0, int firstCol = 0);

struct Context;
/// What there is to see of a head, or of the mean, until it has been computed; `look` gets larger cells and
/// is pale. Without numbers where there is nothing yet.
draw::Values firstValues(const Context& context, bool mean, int head, draw::Heatmap& look);
/// How strongly pictures of heads are drawn that are made of some of their rows, until all are computed.
inline constexpr float kFirstOpacity = 0.6f;

/// The numbers of a head from a given row and column on, as Heatmaps::draw() takes them. Where they are not
/// stored and cells are smaller than a pixel, those of their overview, and `look` is changed to its larger
/// cells.
struct Part {
  TensorId id;
  const attention::Tensor& tensor;
  int head, firstRow, firstCol, rows, cols;
};
draw::Values valuesOf(const Context& context, const Part& part, draw::Heatmap& look);

struct Context {
  const document::State& state;
  const attention::Spec& spec;
  const attention::Inputs& inputs;
  const attention::Trace& trace;
  attention::Summaries& summaries;  ///< of `trace`
  std::uint64_t revision;
  document::DerivedTensors& derived;  ///< of `state` and `trace`
  const Layout& layout;
  const Palette& palette;
  const Fonts& fonts;
  draw::Heatmaps& heatmaps;
  ViewState& view;
  Requests& requests;
  WidgetRects& widgetRects;            ///< filled while drawing
  const WidgetRects& lastWidgetRects;  ///< of the previous frame: what the pointer interacts with
  BoardPlaces& places;                 ///< filled while drawing
  const BoardPlaces& lastPlaces;       ///< of the previous frame
  bool touch;
  double now;  ///< in seconds, of the clock by which fingers are judged
  bool canUndo, canRedo;
  std::string_view kernel;  ///< the instruction set in use
  const std::string& lock;  ///< names locked by the host page, comma-separated
  const std::string& hide;  ///< names of parts that it hid
  float zoom;               ///< magnification of the whole interface
  document::Pinned* pin;    ///< the pinned board; null if there is none

  /// Are controls a finger apart: for fingers, and in every narrow window?
  bool roomy() const { return view.roomy || layout.width == Width::narrow; }
  /// isLocked() with the host page's list.
  bool locked(std::string_view name) const;
  /// The open view: the board, or a page.
  document::View open() const { return openView(state, hide); }
  bool onPage() const { return open() != document::View::layer; }
  /// The tensor with that id; null if the layer does not have it.
  const attention::Tensor* tensor(TensorId id) const { return attention::find(inputs, trace, id); }
  /// The tokens' labels for explanations, whose rows are columns where the board shows them so.
  attention::TokenLabels tokenLabels() const {
    return {state.labels, document::keyLabels(state), state.columnLayout};
  }
  /// The settings without labels, for checks of other options: of many labels a copy takes milliseconds.
  const document::Settings& unlabelled() const;
  /// Can the cells of this tensor be edited here?
  bool editable(TensorId id) const;
  /// The cell that the inspector explains: the hovered one, otherwise chosen().
  CellRef focus() const;
  /// The selected cell; if that is an editable one, the last computed cell that was selected.
  CellRef chosen() const;
  /// A weight as shown: of the head in focus, or the mean of all heads.
  float weight(int query, int key) const;
  /// Does this head not see the key? From the masks alone: reading scores that are not stored, of one head
  /// after another, would make a row for each cell.
  bool isMasked(int head, int query, int key) const;
  /// The number of query rows shown: a decoder has only those that it has generated.
  int rowsSoFar() const { return decodes() ? std::min(state.step, state.tokens) : state.tokens; }
  /// Is the layer shown as a decoder, generating one token at a time?
  bool decodes() const { return state.step > 0 && state.causal && !state.cross; }
  /// Does the board show the mean over the visible heads, in place of one head?
  bool showsMean() const { return state.averageHeads && state.heads > 1; }
  /// Is the head that is shown still to come, or what is made of all heads? Then there is one row of it:
  /// Engine::traceFirst(), Engine::traceOfAll().
  bool lacks(TensorId id) const;
  /// The mean of weights or head_output: [1, rows, cols].
  const attention::Tensor& mean(TensorId id) const { return summaries.mean(id, spec, trace); }
  /// Is the sentence the reader's own, rather than that of the preset?
  bool ownSentence() const;
  /// Is the sentence that of the open lesson?
  bool isOfLesson() const;
  /// The weights as shown, and their tensor id: of all heads, of which focusHead is visible, or their mean.
  TensorId weightsId() const { return showsMean() ? attention::kMeanWeights : TensorId::weights; }
  const attention::Tensor& weights() const { return showsMean() ? mean(TensorId::weights) : trace.weights; }
  int weightsHead() const { return showsMean() ? 0 : state.focusHead; }
};

}  // namespace views
