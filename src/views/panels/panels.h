// The panels. Each reads a Context, draws itself and puts what the user did into Context::requests.
#pragma once

#include "views/context.h"

namespace views {

/// Keys that belong to the board: moving, changing, typing, copying, shortcuts. Returns true if one was used.
bool boardKeys(Context& context);
/// Would that key do something now? Only such keys are taken from the page. `command` is Ctrl or Cmd.
bool usesKey(const Context& context, ImGuiKey key, bool command, bool shift, bool alt);
/// Is there something at this place that a touch should take hold of (an editable cell), rather than scroll? `rects`: where things were drawn.
enum class HitKind { nothing, edit, scroll, control };
HitKind hitKind(const document::State& state, const Layout& layout, const ViewState& view, const WidgetRects& rects, float x, float y);

/// Where several layers are, the one on the board, to be changed in `box`.
void layerStepper(Context& context, std::string_view name, const Box& box);
/// Small pictures of the weights of every head, and what a press on them does: it puts one in focus.
void heads(Context& context);
void headButtons(Context& context);
/// The card below the matrices, with a tab for each of its views, and what a press on it does.
void lowerCard(Context& context);
void lowerCardButtons(Context& context);
/// How wide the button in its title is that makes the arcs as thick as what a value adds.
inline float normsWidth(float card) { return card < 420 ? 62 : 92; }
/// While a key or the button for it is held, the pinned board is shown in the place of the one that is there.
void lookBefore(Context& context);
/// What stands in it, below its title: "who attends to whom", a curve from each query to each key, as thick as the weight.
void arcs(Context& context, const Box& area, float titleEnd);
/// The view Loops of the card: the formula of the cell in focus as nested loops.
void loops(Context& context, const Box& area);
/// The arithmetic behind the cell in focus, and its row as bars; or what would raise it. The buttons take the input.
void inspector(Context& context);
void inspectorButtons(Context& context);
/// The options, docked or as a drawer.
void sidePanel(Context& context);
/// The line at the top.
void header(Context& context);
/// The list of keys and what this build is; over everything.
void help(Context& context);
/// The question that ViewState::form asks; over everything. There must be one.
void form(Context& context);
/// The page that is open, in the place of the board: block, segments or one of the experiments.
void page(Context& context);
/// Opens a page, or the board of the layer, unless the host page locked that. A request, like any option.
void showView(Context& context, document::View view);
/// Its keys. Returns true if one was used.
bool pageKeys(Context& context);
bool pageUsesKey(const Context& context, ImGuiKey key, bool command, bool alt);
/// Is it one of the experiments, which share a tab?
bool isExperiment(document::View view);
/// The pages: each draws below the top of `area` and returns the y below what it drew.
float blockPage(Context& context, const Box& area);
float segmentsPage(Context& context, const Box& area);
float experimentPage(Context& context, const Box& area);
float trainPage(Context& context, const Box& area);
float modelPage(Context& context, const Box& area);
/// The line below that page, which plays and goes back through the run, so high.
inline constexpr float kTrainBar = 44;
void trainBar(Context& context, const Box& bar);
/// What stands in the side panel beside it: task, model, optimiser. Returns the y below.
float trainControls(Context& context, const Box& area);
/// The sentence at the bottom.
void notice(Context& context);

/// What the formulas under the scores and the weights say, and the word above the arrow between them.
std::string scoreFormula(const document::Settings& settings);
std::string weightFormula(const document::Settings& settings);
std::string normalizerName(const document::Settings& settings);
/// What stands above the weights and under the outputs: they say which head they are of.
std::string weightTitle(const document::Settings& settings);
std::string outputFormula(const document::Settings& settings);
/// Are weights and outputs on the board the mean of the heads? And its name: "head 2", "mean of the 3 heads".
bool showsMean(const document::Settings& settings);
std::string headName(const document::Settings& settings);
/// The entropy of a row of weights as they are on the board, in bits; nothing where it is no distribution.
std::optional<double> rowEntropy(const Context& context, int query);
/// What the step of a decoder does to its cache.
std::string cacheWords(const Context& context);
/// The sum of a row of weights as they are on the board; should it be 1 with this normaliser?
double rowSum(const Context& context, int query);
bool sumsToOne(const document::Settings& settings);

/// How the colours of the weights are to be read, near them: where there are many tokens, or the scale is not linear.
void weightLegend(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look);

/// Content to window coordinates of the scrolled board.
Box onScreen(const Layout& layout, const ViewState& view, Box content);
/// The largest scroll that makes sense.
float maxScroll(const Layout& layout);
/// A card with a title; returns the y below the title.
float card(Context& context, const Box& box, std::string_view title);
/// A tab: words with a line of ink below them while it is open, 2 high at the bottom of `box`. Returns true when it is
/// clicked.
bool tab(Context& context, std::string_view name, const Box& box, std::string_view words, bool open);
void drawTab(Context& context, const Box& box, std::string_view words, bool open);

}  // namespace views
