// The panels. Each reads a Context, draws itself and puts what the user did into Context::wishes.
#pragma once

#include "views/context.h"

namespace views {

/// The matrices: drawing, hovering, selecting, dragging, painting. Board boxes come from the layout.
void board(Context& context);
/// Keys that belong to the board: moving, changing, typing, copying, shortcuts. Returns true if one was used.
bool boardKeys(Context& context);
/// Would that key do something now? Only such keys are taken from the page. `command` is Ctrl or Cmd.
bool usesKey(const Context& context, ImGuiKey key, bool command, bool shift, bool alt);
/// Is there something at this place that a touch should take hold of (an editable cell), rather than scroll?
enum class Hold { nothing, edit, scroll, control };
Hold hold(const document::State& state, const Layout& layout, const ViewState& view, float x, float y);

/// Small pictures of the weights of every head; a click puts one in focus.
void heads(Context& context);
/// "Who attends to whom": a curve from each query to each key, as thick as the weight.
void arcs(Context& context);
/// The arithmetic behind the cell in focus, and its row as bars.
void inspector(Context& context);
/// The options, docked or as a drawer.
void sidePanel(Context& context);
/// The line at the top.
void header(Context& context);
/// The list of keys and what this build is; over everything.
void help(Context& context);
/// The experiments; over everything.
void experiments(Context& context);
/// Opens a page of them; none closes them. A wish, like any option.
void showPage(Context& context, Lab::Page page);
/// Their keys, while they are open. Returns true if one was used.
bool experimentsKeys(Context& context);
bool experimentsUseKey(const Context& context, ImGuiKey key, bool command, bool alt);
/// Two of the pages: each draws below the top of `area` and returns the y below what it drew.
float blockPage(Context& context, const Box& area);
float segmentsPage(Context& context, const Box& area);
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
void weightLegend(Context& context, const MatrixPlace& place, const Box& box, const gfx::Heatmap& look);

/// Content to window coordinates of the scrolled board.
Box onScreen(const Layout& layout, const ViewState& view, Box content);
/// The largest scroll that makes sense.
float maxScroll(const Layout& layout);
/// A card with a title; returns the y below the title.
float card(Context& context, const Box& box, std::string_view title);

}  // namespace views
