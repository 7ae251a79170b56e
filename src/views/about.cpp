// What each control of the interface is: its title, its key, and one sentence. Those of options stand in
// options.def, where their sentence is also for the documentation and the help of the command line, and those
// of pages in pages/page.cpp.
#include "document/option.h"
#include "views/pages/page.h"
#include "views/tooltip.h"

namespace views {
namespace {

/// `words` of an option is left out; `option` is its name where that of the control is another; `section` is
/// that of the side panel. A name that ends with "*" stands for all that begin so. An option without a title
/// is no control, or has another row.
struct Row {
  std::string_view name, title, key{}, words{}, option{}, section{};
};
/// As options.def has it.
struct Control {
  std::string_view section{}, title{}, key{};
};
constexpr Row ofOption(std::string_view name, Control control) {
  return {name, control.title, control.key, {}, {}, control.section};
}

constexpr Row kRows[] = {
    // the header, and the bar below it
    {"preset", "Examples", "", "Opens an example"},
    {"undo", "Undo", "Ctrl + Z", "Takes back the last change"},
    {"redo", "Redo", "Ctrl + Y", "Brings back what was undone"},
    {"reset", "Start again", "R", "Returns the board to the state in which it was opened"},
    {"views", "View", "", "Chooses what is open: the layer, what is around it, training, or an experiment"},
    {"views:more", "More", "", "Attention over segments, and experiments with what attention is made of"},
    {"experiments", "Experiments", "E",
     "Why scores are divided, what a fixed layer cannot do, what a recurrent network forgets, and what it "
     "all costs"},
    {"lab-close", "Back to the layer", "Esc", "Closes this page"},
    {"search", "Find", "Ctrl + K",
     "Finds commands, options, lessons, examples, terms and tokens by their words"},
    {"pin", "Pin this board", "Shift + P",
     "Keeps the board as it is now, and marks what differs from it later"},
    {"share", "Share", "", "A link to this board, lines that embed it in a page, figures and programs"},
    {"import", "Open", "Ctrl + O", "Opens a saved board, or tensors from NumPy, PyTorch and others"},
    {"export", "Save", "Ctrl + S", "Saves the board or its tensors, or copies them"},
    {"export:save", "Save as JSON", "Ctrl + S", "The whole board, which can be opened here again"},
    {"export:save-as", "Save as", "", "The whole board, under a name of your choice"},
    {"export:npz", "Save tensors as .npz", "", "All matrices of the layer in one file for NumPy"},
    {"export:safetensors", "Save tensors as .safetensors", "",
     "All matrices of the layer in one file for PyTorch and others"},
    {"export:csv", "Save weights as .csv", "", "The weights of this head, for a spreadsheet"},
    {"export:copy-state", "Copy state as JSON", "", "The whole board as text on the clipboard"},
    {"export:copy-weights", "Copy weights as table", "",
     "The weights of this head on the clipboard, a row per line"},
    {"fullscreen", "Full screen", "", "Fills the whole screen with the board"},
    {"help", "Keys and pointer", "?", "What keys and pointer do here, and what this program is made of"},
    {"help-close", "Close", "Esc", "Closes this list"},
    {"help-notices", "Third-party licences", "", "Software by others in this program, with its licences"},
    {"help-report", "Copy report", "",
     "Version, system, kernel, the last messages and the board, as text on the clipboard; nothing is sent"},
    {"theme", "Light or dark", "", "Switches between light and dark colours"},
    {"more", "More", "", "Everything that does not fit in this bar"},
    {"panel", "Controls", "", "Opens all options of the layer"},
    {"panel:controls", "Controls", "Shift + O", "All options of the layer"},
    {"panel:guide", "Guide", "", "Lessons, puzzles and questions, each of them about the board"},
    {"panel:close", "Close", "", "Closes this column; the buttons over the board open it again"},
    {"step-through", "Step through", "I", "Shows, step after step, how a query becomes a row of the output"},

    // the number that a finger has selected
    {"keys", "Keys", "", "Opens or closes the number keys"},
    {"done", "Done", "", "Leaves this number"},

    {"section:*", "Section", "", "Opens or closes it"},

// options, and what else is in the side panel
#define OPTION(name, row, control, help) ofOption(#name, Control control),
#include "document/options.def"
    {"mode:qkv", "Q, K and V", "M", "", "mode", "section:inputs"},
    {"mode:x", "X and its weights", "M", "", "mode", "section:inputs"},
    {"more-sizes", "More sizes", "",
     "Widths of values and output, heads that share keys, batches, and names of columns", "",
     "section:inputs"},
    {"all-heads", "All heads of the model", "A", "A small picture of the weights of every head", "",
     "section:inputs"},
    {"rotary", "Details of rotary positions", "",
     "Which columns are turned together, how fast, and for how long texts", "", "section:inputs"},
    {"randomize", "Random numbers", "", "Draws all inputs anew", "", "section:inputs"},
    {"window", "Window", "", "How many tokens back and ahead a query sees", "", "section:mask"},
    {"more-masks", "More masks", "",
     "Cached keys, a prefix that all see, padding, and a mask in the wrong place", "", "section:mask"},
    {"paint", "Paint the mask", "P", "While this is on, a press on a score or a weight hides or shows it", "",
     "section:mask"},
    {"clear-mask", "Clear", "", "Shows all painted cells again", "", "section:mask"},
    {"d_q", "Query width, d_q", "",
     "Columns of Q per head; keys keep d_k, and W_a has rows or columns for both", "", "section:score"},

    // the board, its cards, and the stepper
    {"minimap", "All weights", "+ − 0", "Drag to move the enlarged board; 0 shows all of it"},
    {"profile:rows", "Entropy of each row", "",
     "In bits: 0 where a query looks at one key, more where it looks at many; the number is that of the row "
     "that is looked at"},
    {"profile:columns", "What each key gets", "",
     "The weights of all queries on it together, in the colours of the weights; the number is that of the "
     "key "
     "that is looked at"},
    {"head:mean", "Mean of the heads", "N", "", "average_heads"},
    {"head:*", "Head", "N", "Puts this head on the board"},
    {"tag:previous", "P: previous token", "",
     "This head mostly looks at the token before; the number is the mean weight on it"},
    {"tag:induction", "I: induction", "",
     "This head mostly looks at what followed the same token before; the number is the mean weight on that"},
    {"tag:first", "F: first token", "",
     "This head mostly rests on the first token, a sink; the number is the mean weight on it"},
    {"tag:same", "S: same word", "",
     "This head mostly looks at earlier tokens equal to the query; the number is the mean weight on them"},
    {"tag:broad", "B: broad", "",
     "This head looks at nearly all tokens alike; the number is its entropy, 1 for equal weights"},
    {"tag:none", "No pattern", "",
     "Neither previous token, induction, first token nor same word holds 0.40 of the weight, and it is not "
     "broad"},
    {"hide-head:*", "Takes part", "", "Leaves this head out of the output, or puts it back"},
    {"layer:*", "Head", "", "Puts this head of this layer on the board"},
    {"model:by", "Order of the heads", "",
     "Orders heads by their layer, or by how much they have of a measure"},
    {"model:by:*", "Order of the heads"},
    {"model:numbers", "Measures below each head", "",
     "Entropy of a row in bits, how many tokens back it looks, and its weight on the first, the previous and "
     "its own token; means over rows"},
    {"model:compare", "Compare with another head", "", "Or press two heads with Shift held"},
    {"model:pair-close", "Close", "", "Closes the two heads"},
    {"work:cancel", "Cancel", "", "Cancels the computation, or resumes it"},
    {"model:show:previous", "P: previous token", "", "Shows the heads with this tag, or fades them"},
    {"model:show:induction", "I: induction", "", "Shows the heads with this tag, or fades them"},
    {"model:show:first", "F: first token", "", "Shows the heads with this tag, or fades them"},
    {"model:show:same", "S: same word", "", "Shows the heads with this tag, or fades them"},
    {"model:show:broad", "B: broad", "", "Shows the heads with this tag, or fades them"},
    {"model:show:none", "No pattern", "", "Shows the heads with this tag, or fades them"},
    {"model:token", "Token", "", "The token that is followed back through all layers"},
    {"model:labels", "Sentence", "", "The model reads it anew, and all pictures are made again"},
    {"model:key_labels", "Sentence of the keys", "",
     "The model reads it anew, and all pictures are made again"},
    {"model:way", "What pressing a head does"},
    {"model:way:*", "What pressing a head does"},
    {"model:off:*", "Head", "", "Changes the head, or undoes the change, and runs the model"},
    {"model:on", "Restore all heads"},
    {"card:arcs", "Arcs", "Y", "Who looks at whom: curves as thick as the weights"},
    {"card:plane", "Plane", "Y",
     "Queries and keys as arrows: the more one points along the other, the higher the score"},
    {"card:values", "Values", "Y", "Values as points, with the output among them"},
    {"card:changes", "Changes", "Y", "What differs from the pinned board"},
    {"card:loops", "Loops", "Y", "The formula of the chosen cell as nested loops, as a program has it"},
    {"link_threshold", "Smallest weight drawn", "", "Links with smaller weights are not drawn"},
    {"changes:before", "Before", "L", "Shows the pinned board while it is held"},
    {"changes:unpin", "Unpin", "Shift + P", "Forgets the pinned board"},
    {"nudge:all", "Nudge all", "Shift + U", "Moves every input a little, in proportion to its gradient"},
    {"nudge:*", "Nudge", "", "Moves this number a little, and shows what really changes"},
    {"stepper-first", "To the first step"},
    {"stepper-back", "Back", "←"},
    {"stepper-play", "Play or pause", "Space"},
    {"stepper-next", "Next step", "→"},
    {"stepper-last", "To the last step"},
    {"stepper-speed", "Speed", "", "Half, single or double"},
    {"stepper-close", "Close", "Esc", "Ends the steps and shows all numbers again"},
    {"stepper-track", "Steps of the row", "← →"},
    {"stepper:*", "To this step", "", "Drag to go back and forth"},

    // pages
    {"stage:*", "Stage of the block", "", "Shows how the numbers of this stage are made"},
    {"lab:draw", "Draw again", "", "Draws other random numbers"},
    {"lab:scaled", "Divided by √d_k", "", "", "spread_scaled"},
    {"lab:apart", "Keys drawn like queries", "", "", "spread_same"},
    {"lab:moved", "What moves", "", "", "dense_moved"},
    {"lab:token", "Token that moves", "", "", "dense_token"},
    {"decoder:weights", "Weights of the decoder", "← →", "Shows how the weight is made"},
    {"cost:measure", "Measure", "", "Times the layer on this machine, for about a second"},
    {"train:play", "Play or pause", "", "Goes on learning, step after step"},
    {"train:step", "Step", "", "Learns from one batch"},
    {"train:reset", "Reset", "", "Forgets what was learned, and begins again"},
    {"train:open", "Open this layer on the board", "", "What was learned becomes a board like any other"},
    {"train:first", "To the start of the run"},
    {"train:back", "Back", "", "Shows the run as it was earlier"},
    {"train:next", "Forward", "", "Shows the run as it was later"},
    {"train:last", "To the end of the run"},
    {"train:scrub", "The run so far", "", "Goes back to any step of the run"},
    {"train:sentence", "Sentence", "", "The sequence whose attention is drawn"},
    {"train:head:*", "Head", "", "Draws this head"},
    {"train:map:*", "Head", "", "Shows this head larger"},
    {"train:hardest:*", "One of the hardest", "",
     "Draws the attention of this sequence, which is still often wrong"},

    // the Guide
    {"guide-close", "Close", "", "Closes the Guide; the board stays as it is"},
    {"guide-goal", "Back to the lesson", "", "Opens its step again, as you left it"},
    {"guide-list", "All lessons", "", "Lessons, puzzles and questions"},
    {"guide-search", "Search", "", "Finds lessons, puzzles and questions by the words of their texts"},
    {"guide-search-clear", "Clear", "", "Shows the whole list again"},
    {"guide-back", "Back", "", "To the step before, with its board"},
    {"guide-next", "Next", "", "To the next step"},
    {"title:*", "What it is", "", "Explains the word, with its formula"},
    {"number:*", "Number", "", "Goes to its cell, or shows the sum that makes it"},
    {"guide-hint", "Hint", "", "Says how to begin"},
    {"guide-show", "Show me", "", "Makes the changes before your eyes; undo takes them back"},
    {"guide-answer", "Answer", "", "Shows the answers to choose from"},
    {"guide-whole", "The whole step", "", "Shows the text of this step"},
    {"guide-handle", "The whole step", "", "Pulls the lesson up, or down again"},
    {"guide-next-lesson", "Next lesson", "", "Opens it with its own board"},
    {"guide:tab:lesson", "Lessons", "", "One idea after the other, on the board"},
    {"guide:tab:puzzle", "Puzzles", "", "A goal, to be reached with few edits"},
    {"guide:tab:question", "Questions", "",
     "A question, its answer in a few sentences, and the board that shows it"},
    {"guide:more:*", "More", "", "Shows all results of this kind"},
    {"guide-term:*", "Term", "", "Opens its definition"},
    {"guide-go:*", "Next lesson", "", "Opens it with its own board"},
    {"guide:step:*", "To this step", "", "With its own board"},
};

/// Controls about which the same is said as about another.
struct Same {
  std::string_view name, as;
};
constexpr Same kSame[] = {{"slider:block_dropout", "block_dropout"},
                          {"slider:d_k", "spread_dim"},
                          {"slider:mean", "spread_mean"},
                          {"slider:deviation", "spread_deviation"},
                          {"slider:key-mean", "spread_key_mean"},
                          {"slider:key-deviation", "spread_key_deviation"},
                          {"slider:draws", "spread_draws"},
                          {"slider:amount", "dense_amount"},
                          {"slider:steps", "reach_tokens"},
                          {"slider:recurrent", "reach_recurrent"},
                          {"slider:input", "reach_input"},
                          {"slider:lead", "reach_lead"},
                          {"slider:forget", "reach_forget"},
                          {"slider:n", "cost_tokens"},
                          {"slider:window", "cost_window"},
                          {"changes:pin", "pin"},
                          {"stepper", "step-through"},
                          {"train:run", "train:play"}};

const Row* rowOf(std::string_view name) {
  for (const Row& row : kRows)
    if (!row.title.empty() &&
        (row.name == name ||
         (row.name.ends_with('*') && name.starts_with(row.name.substr(0, row.name.size() - 1)))))
      return &row;
  return nullptr;
}

/// controlOf(), also for one of several choices side by side, and for the remedy of a value that is not
/// possible. Choices in menus have names, and a line of their own.
std::string_view whole(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos &&
      (name.substr(colon) == ":fix" || (name[name.size() - 1] >= '0' && name[name.size() - 1] <= '9')))
    return name.substr(0, colon);
  return controlOf(name);
}

}  // namespace

std::string_view controlOf(std::string_view name) {
  for (const std::string_view end : {"-value", "+", "-"})
    if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  return name;
}

std::string_view sectionOf(std::string_view name) {
  const Row* own = rowOf(name);
  if (!own) own = rowOf(whole(name));
  if (!own) own = rowOf(name.substr(0, name.find(':')));
  return own ? own->section : std::string_view();
}

std::vector<std::string_view> controlNames() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) {
    if (!row.title.empty()) names.push_back(row.name);
    if (row.name == "views:more")
      for (const Page& page : pages()) names.push_back(page.name);
  }
  return names;
}

About about(std::string_view name) {
  for (const Same& same : kSame)
    if (same.name == name) return about(same.as);
  if (About page = aboutPage(name); !page.title.empty()) return page;
  const Row* own = rowOf(name);
  const Row* row = own ? own : rowOf(whole(name));
  if (!row) return {};
  const document::Option* option =
      row->words.empty() ? document::optionNamed(row->option.empty() ? row->name : row->option) : nullptr;
  const std::string_view key = name.ends_with('-') ? std::string_view() : row->key;  // it is the one for more
  return {std::string(row->title), std::string(key),
          std::string(option ? document::helpOn(option->id) : row->words)};
}

}  // namespace views
