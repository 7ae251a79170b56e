// The panels. Each reads a Context, draws itself, and adds what the user asked for to Context::requests.
#pragma once

#include "views/context.h"

namespace views {

class Widgets;

/// Handles keys of the board: moving, changing, typing, copying, shortcuts. Returns true if one was used.
bool boardKeys(Context& context);
/// Would that key have an effect now? Only such keys are taken from the page. `command` is Ctrl or Cmd.
bool usesKey(const Context& context, ImGuiKey key, bool command, bool shift, bool alt);

/// If there are several layers, draws the control that chooses the one on the board.
void layerStepper(Context& context, std::string_view name, const Box& box);
/// Small pictures of the weights of every head; headButtons() handles presses, which focus a head.
void heads(Context& context);
void headButtons(Context& context);
/// Of an enlarged board whose weights are not all in view, a picture of them all with a frame around what is;
/// moveMinimap() handles drags of it.
void minimap(Context& context);
void moveMinimap(Context& context);
/// The card below the matrices, with a tab for each of its views; lowerCardButtons() handles presses.
void lowerCard(Context& context);
void lowerCardButtons(Context& context);
/// The width of the button in its title that switches the arcs to the lengths of the weighted values.
inline float normsWidth(float card) { return card < 420 ? 62 : 92; }
/// Of a long board, the width of the slider beside it with its number: the least weight of a link that is
/// drawn.
float thresholdWidth(const Context& context, float card);
/// Shows the pinned board in place of the present one, while a key or its button is held.
void lookBefore(Context& context);
/// The card's view Arcs, below its title: "who attends to whom", a curve from each query to each key, as
/// thick as the weight.
void arcs(Context& context, const Box& area, float titleEnd);
/// The card's view Loops: the formula of the focused cell as nested loops.
void loops(Context& context, const Box& area);
/// The arithmetic of the focused cell and its row as bars, or what would raise it; inspectorButtons() handles
/// presses.
void inspector(Context& context);
void inspectorButtons(Context& context);
/// The options, as a fixed column or a drawer.
void sidePanel(Context& context);
/// The bar at the top.
void header(Context& context);
/// The bar at the bottom of a phone (Layout::toolbar): Undo, Redo, Controls, Guide.
void toolbar(Context& context);
/// The strip that changes the number that a finger has selected (Layout::editing).
void editing(Context& context);
/// Nothing is selected any more, so that strip goes.
void endEditing(Context& context);
/// The bar over the board (Layout::bar): the sentence, Causal, Heads, and buttons that open the left column.
void bar(Context& context);
/// A text field for the words of the queries or of the keys.
void sentenceField(Context& context, Widgets& widgets, std::string_view name, const Box& box, bool ofKeys);
/// The first steps on a first visit (ViewState::coach), each beside what it is about; does nothing if there
/// are none.
void coach(Context& context);
/// Is this one of S, V and O on a first visit, where the reader has not been yet? Only its row of the focused
/// cell has numbers.
bool isQuiet(const Context& context, attention::TensorId id);
/// The list of keys and information about the build, which ViewState::help must say is open, in front of
/// everything.
void help(Context& context);
/// The question in ViewState::form, which must not be null, in front of everything.
void form(Context& context);
/// The pages: each draws from the top of `area`, and returns the y below what it drew.
float blockPage(Context& context, const Box& area);
float segmentsPage(Context& context, const Box& area);
float spreadPage(Context& context, const Box& area);
float densePage(Context& context, const Box& area);
float memoryPage(Context& context, const Box& area);
float costPage(Context& context, const Box& area);
float trainPage(Context& context, const Box& area);
float modelPage(Context& context, const Box& area);
/// The bar below the training page, with controls to play and to go back through the run, and its height.
inline constexpr float kTrainBar = 44;
void trainBar(Context& context, const Box& bar);
/// The content of the side panel beside that page: task, model, optimiser. Returns the y below it.
float trainControls(Context& context, const Box& area);
/// The message at the bottom.
void notice(Context& context);

/// The formulas under scores and weights, and the label of the arrow between them.
base::Message scoreFormula(const document::State& state);
base::Message weightFormula(const document::Settings& settings);
std::string normalizerName(const document::Settings& settings);
/// The title of the weights and the caption of the outputs, which name the head.
base::Message weightTitle(const document::Settings& settings);
/// What a matrix is in plain words: "what each word asks", or each patch where tokens are those of a picture.
std::string_view meaningOf(const document::Settings& settings, TensorId id);
base::Message outputFormula(const document::Settings& settings);
/// Do weights and outputs on the board show the mean over heads? headName(): "head 2", "mean of the 3 heads".
bool showsMean(const document::Settings& settings);
base::Message headName(const document::Settings& settings);
/// The entropy of a row of weights as shown, in bits; nothing if the row is not a distribution.
std::optional<double> rowEntropy(const Context& context, int query);
/// What the present decoding step does with the cache, as a sentence.
base::Message cacheWords(const Context& context);
/// What is kept of the weights as shown, which must not be stored.
bool keepsWhatIsSaid(const Context& context);
Kept& keptOf(const Context& context);
/// A row of weights as shown, valid until another is asked for.
const float* weightsOf(const Context& context, int query);
/// The smallest weight of a row or 0, and the largest or 1.
std::pair<float, float> rowRange(const Context& context, int query);
/// What stands beside a row of weights: what they add up to, or with a sink its share, which is the rest
/// of 1.
struct RowEnd {
  const char* words = "";  ///< "Σ" or "sink"
  double value = 0;
  bool isWrong = false;  ///< it should be 1, and is not
};
RowEnd rowEnd(const Context& context, int query);
/// The same of a row in view; nothing where it is made later, because rows take long.
std::optional<RowEnd> rowEndInView(const Context& context, int query);
/// The ends of these rows in view will be asked for: rows that are not stored are made together.
void expectTotals(const Context& context, attention::Span queries);
/// Must rows of weights add up to 1 with this normaliser?
bool sumsToOne(const document::Settings& settings);
/// Can weights of this normaliser be negative?
bool isSigned(const document::Settings& settings);

/// A legend for the colours of the weights, beside them: shown where there are many tokens, or the scale is
/// not linear.
void weightLegend(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look);

/// Of a board of more than kLongFrom tokens: are cells too small to be told apart until they are enlarged?
inline constexpr int kLongFrom = 128;
bool isLong(const Context& context);
/// What the rows and columns of the weights of a long board add up to, beside them.
void weightProfiles(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look);

/// Converts content coordinates to window coordinates of the scrolled board.
Box onScreen(const Layout& layout, const ViewState& view, Box content);
/// The largest useful scroll offset.
float maxScroll(const Layout& layout);
/// Draws a card with a title; returns the y below the title.
float card(Context& context, const Box& box, base::MessageView title);
/// A tab: text with a line below it while it is open, 2 pixels high at the bottom of `box`. Returns true when
/// it is clicked.
bool tab(Context& context, std::string_view name, const Box& box, base::MessageView words, bool open);
void drawTab(Context& context, const Box& box, base::MessageView words, bool open, bool small = false);

}  // namespace views
