// What keys do on the board.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/saliency.h"
#include "views/board/stepper.h"
#include "views/guide/glossary.h"
#include "views/guide/guide_page.h"
#include "views/pages/page.h"
#include "views/palette.h"
#include "views/panels/changes.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Tensor;
using base::joined;
using document::OptionId;
using document::PaintCells;
using document::SetCells;

constexpr double kBurst = 0.5;  // the longest pause between letters of a word, in seconds

class Keys {
 public:
  explicit Keys(Context& context)
      : c_(context),
        io_(ImGui::GetIO()),
        s_(context.view.selection),
        panel_(context.view.options) {}

  bool handle() {
    const bool command = io_.KeyCtrl || io_.KeySuper;
    if (command && commands()) return true;
    if (!command && !io_.KeyAlt && !panel_.on && !c_.view.help.open && !c_.view.drawer && !c_.view.painting &&
        stepperOf(c_) && stepping())
      return true;
    if (pressed(ImGuiKey_Escape)) return escape();
    if (panel_.on ? panel_.readKeys() : arrows(command)) return true;
    if (command || io_.KeyAlt) return false;
    if (!panel_.on && typing()) return true;
    return letters();
  }

  /// A key with Ctrl or ⌘, and its command.
  struct Shortcut {
    ImGuiKey key;
    bool withShift;  ///< is it also used with Shift?
    Command command;
    bool (Keys::*act)() = nullptr;
  };
  /// A character without modifiers, what it does, and its key, to know before it is typed whether it is used
  /// here.
  struct Letter {
    ImWchar character;
    bool (Keys::*act)(int);
    int by = 0;                    ///< a direction, or a tensor
    ImGuiKey key = ImGuiKey_None;  ///< for symbols; letters have the key of the letter
  };
  /// Is it a command only while the side panel does not have the keys?
  static bool isOfBoard(const Letter& letter) {
    return letter.act == &Keys::size && letter.key != ImGuiKey_None;
  }
  static bool isHere(const Letter& letter, const document::Settings& s) {
    return letter.act != &Keys::layer || hasLayers(s);
  }
  static const Shortcut kShortcuts[5];
  static const Letter kLetters[37];

 private:
  static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key); }

  bool commands() {
    for (const Shortcut& s : kShortcuts)
      if (pressed(s.key))
        return s.act ? (this->*s.act)()
                     : (c_.requests.ask(!io_.KeyShift         ? s.command
                                        : s.key == ImGuiKey_Z ? Command::redo
                                        : s.key == ImGuiKey_S ? Command::saveAs
                                                              : s.command),
                        true);
    return false;
  }

  bool selectAll() {
    const MatrixPlace* m = s_.active ? c_.layout.find(s_.tensor) : nullptr;
    if (!m) return false;
    const Slice s = sliceOf(c_.state, s_.tensor);
    const int rows = m->transposed ? m->cols : m->rows, cols = m->transposed ? m->rows : m->cols;
    s_ = {true, s_.tensor, s.firstRow, s.firstCol, s.firstRow + rows - 1, s.firstCol + cols - 1};
    c_.requests.moved = true;
    return true;
  }

  bool escape() {
    if (c_.view.help.open || c_.view.drawer || c_.view.painting || panel_.on) {
      c_.view.help.open = c_.view.drawer = c_.view.painting = panel_.on = false;
      c_.requests.endGesture = true;  // a slider that closes with the drawer does not see the button released
      return true;
    }
    if (c_.state.present)
      return option(OptionId::present, "present", false, "Presentation off. Press f to present again.");
    if (!s_.active) return false;
    s_.active = false;
    c_.requests.moved = true;
    return true;
  }

  // Up and down change an editable cell; with Ctrl, and on other cells, arrow keys move.
  bool arrows(bool command) {
    const int dx = pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
    const int dy = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
    if (dx == 0 && dy == 0) return false;
    if (!s_.active) return c_.view.magnify > 1 && pan(dx, dy);
    if (dy != 0 && !command && c_.editable(s_.tensor)) return nudge(-dy);
    const MatrixPlace* m = c_.layout.find(s_.tensor);
    if (!m) return false;
    moveBy(*m, dx, dy, command && io_.KeyShift);
    return true;
  }

  // Keys while a row is stepped through.
  [[gnu::noinline]] bool stepping() {
    const int count = static_cast<int>(stepperOf(c_)->steps.size());
    if (pressed(ImGuiKey_RightArrow)) return stepBy(c_, 1), true;
    if (pressed(ImGuiKey_LeftArrow)) return stepBy(c_, -1), true;
    if (pressed(ImGuiKey_Home)) return stepBy(c_, -count), true;
    if (pressed(ImGuiKey_End)) return stepBy(c_, count), true;
    if (pressed(ImGuiKey_Space))
      return ImGui::IsKeyPressed(ImGuiKey_Space, false) ? playStepper(c_) : void(),
             true;  // ignores repeats while it is held
    if (pressed(ImGuiKey_Escape)) return toggleStepper(c_), true;
    return false;
  }
  bool stepper(int) {
    if (c_.locked("stepper")) return say(whyLocked(c_, "stepper", "stepper"));
    return toggleStepper(c_), true;
  }

  [[gnu::noinline]] bool pan(int dx, int dy) {
    constexpr float kStep = 100;
    c_.view.pan += kStep * static_cast<float>(dx), c_.view.scroll += kStep * static_cast<float>(dy);
    return true;
  }

  /// Cells of long boards are too small to be told apart, and keys enlarge them instead of the interface: +
  /// or −, about the selected cell; 0 shows all of them again.
  [[gnu::noinline]] bool magnifyBy(int step) {
    constexpr float kFactor = 2;
    if (step == 0) {
      c_.view.magnify = 1, c_.view.pan = c_.view.scroll = 0;
      return say("All weights are in view.");
    }
    const Box& board = c_.layout.board;
    const MatrixPlace* const selected = s_.active ? c_.layout.find(s_.tensor) : nullptr;
    const MatrixPlace& m = selected ? *selected : c_.layout.matrices.back();
    const Slice s = sliceOf(c_.state, m.tensor);
    const Box cell =
        onScreen(c_.layout, c_.view, selected ? m.cellBox(s_.row - s.firstRow, s_.col - s.firstCol) : m.box);
    const float by = step > 0 ? kFactor : 1 / kFactor;
    c_.requests.magnify = Magnification{by, std::clamp(cell.midX(), board.x, board.right() - 1),
                                        std::clamp(cell.midY(), board.y, board.bottom() - 1)};
    return say("Arrow keys move the enlarged board. Press 0 to see all of it again.");
  }

  bool nudge(int sign) {
    const Tensor& t = *c_.tensor(s_.tensor);
    const int head = sliceOf(c_.state, s_.tensor).head;
    std::vector<float> values;
    for (int r = 0; r < s_.rows(); ++r) {
      for (int col = 0; col < s_.cols(); ++col) {
        values.push_back(moved(t.at(head, s_.top() + r, s_.left() + col), perKey() * sign));
      }
    }
    c_.requests.edit(SetCells{s_.tensor, head, s_.top(), s_.left(), s_.rows(), s_.cols(), std::move(values)});
    c_.view.rest = io_.MousePos;
    return true;
  }

  // Moves in the directions on the screen; left and right wrap to the adjacent line.
  void moveBy(const MatrixPlace& m, int dx, int dy, bool extend) {
    const Slice s = sliceOf(c_.state, s_.tensor);
    int down = s_.row - s.firstRow, across = s_.col - s.firstCol;
    if (m.transposed) std::swap(down, across);
    across += dx, down += dy;
    if (!extend && across < 0 && down > 0) across = m.cols - 1, --down;
    if (!extend && across >= m.cols && down + 1 < m.rows) across = 0, ++down;
    across = std::clamp(across, 0, m.cols - 1), down = std::clamp(down, 0, m.rows - 1);
    if (m.transposed) std::swap(down, across);
    s_.row = down + s.firstRow, s_.col = across + s.firstCol;
    if (!extend) s_.anchorRow = s_.row, s_.anchorCol = s_.col;
    c_.requests.moved = true;
    if (c_.view.magnify > 1) bringIntoView(c_, m);
  }

  CellRef cell() const { return {s_.tensor, sliceOf(c_.state, s_.tensor).head, s_.row, s_.col}; }

  bool typing() {
    if (!s_.active) return false;
    if (isLong(c_) && !c_.editable(s_.tensor) && isOfSize()) return false;
    if (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || pressed(ImGuiKey_F2)) {
      typeCell(c_, cell(), {});
      return true;
    }
    if (pressed(ImGuiKey_Delete) || pressed(ImGuiKey_Backspace)) return clear();
    if (pressed(ImGuiKey_Space) && attention::isOfPairs(s_.tensor)) return paint();
    const std::string typed = typedNumber();
    if (typed.empty()) return false;
    typeCell(c_, cell(), typed);
    return true;
  }

  /// Does what was typed begin a number, and ask for smaller cells or for all of them?
  bool isOfSize() const {
    const auto& typed = io_.InputQueueCharacters;
    return typed.Size == 1 && (typed.back() == '-' || typed.back() == '0');
  }

  bool clear() {
    if (!c_.editable(s_.tensor)) return c_.requests.said = whyFixed(c_, cell()), true;
    const auto count = static_cast<std::size_t>(s_.rows() * s_.cols());
    c_.requests.edit(SetCells{s_.tensor, cell().head, s_.top(), s_.left(), s_.rows(), s_.cols(),
                              std::vector<float>(count)});
    c_.view.rest = io_.MousePos;
    return true;
  }

  // With Shift it masks the key: its whole column.
  bool paint() {
    if (c_.locked("mask")) return false;
    if (io_.KeyShift) {
      const int keys = s_.cols(), rows = c_.state.tokens;
      bool isHidden = true;
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < keys; ++j) isHidden = isHidden && c_.state.painted.isBlocked(i, s_.left() + j);
      const auto cells = static_cast<std::size_t>(rows) * static_cast<std::size_t>(keys);
      c_.requests.edit(
          PaintCells{0, s_.left(), rows, keys, std::vector<std::uint8_t>(cells, isHidden ? 0 : 1)});
      return true;
    }
    const std::uint8_t to = c_.state.painted.isBlocked(s_.row, s_.col) ? 0 : 1;
    const auto count = static_cast<std::size_t>(s_.rows() * s_.cols());
    c_.requests.edit(document::PaintCells{s_.top(), s_.left(), s_.rows(), s_.cols(),
                                          std::vector<std::uint8_t>(count, to)});
    return true;
  }

  /// A single letter is a command. Several at once, or a letter soon after one that is not a command, are
  /// text.
  bool letters() {
    const auto& typed = io_.InputQueueCharacters;
    if (typed.empty()) return false;
    const double now = ImGui::GetTime();
    const ImWchar last = typed.back();
    const bool isLetter = (last | 0x20) >= 'a' && ((last | 0x20) <= 'z' || last >= 0x80);
    if (typed.Size == 1 && now >= c_.view.typingUntil && (letter(last) || !isLetter)) return true;
    c_.view.typingUntil = std::max(c_.view.typingUntil, now + kBurst);
    return false;
  }

  bool letter(ImWchar ch) {
    const auto found = std::find_if(std::begin(kLetters), std::end(kLetters),
                                    [&](const Letter& l) { return l.character == ch; });
    return found == std::end(kLetters) ? showPageOfKey(c_, ch) : (this->*found->act)(found->by);
  }

  bool help(int) { return c_.view.help.open = !c_.view.help.open, true; }

  bool causal(int) { return flip(OptionId::causal, !c_.state.causal, c_.state.causal, "Causal mask", "c"); }

  bool scale(int) {
    const bool isPlain = c_.state.score == attention::Score::dot;
    return flip(OptionId::scale, isPlain, !isPlain, "Division by √d_k", "d");
  }

  bool present(int) {
    return flip(OptionId::present, !c_.state.present, c_.state.present, "Presentation", "f");
  }

  bool mode(int) {
    const bool isX = c_.state.mode == document::Mode::x;
    return option(OptionId::mode, "mode", std::string(isX ? "qkv" : "x"),
                  isX ? "The input is Q, K and V. Press m again for X and its projections."
                      : "The input is X with its projections. Press m again for Q, K and V.");
  }

  // Switches to the next view of the card.
  bool card(int) {
    if (c_.layout.arcs.empty()) return false;
    int next = static_cast<int>(c_.layout.card);
    do next = (next + 1) % kCardCount;
    while ((c_.layout.cards >> next & 1) == 0);
    c_.requests.set(OptionId::card, std::string(kCardNames[next]));
    return true;
  }
  bool pin(int) { return togglePin(c_), true; }
  bool before(int) { return c_.pin || say("Nothing is pinned. Press P to pin the board as it is."); }

  bool gradient(int) {
    return flip(OptionId::gradient, !c_.state.gradient, c_.state.gradient, "What would raise it", "u");
  }
  bool raise(int) {
    return nudgeAll(c_) || say("Press u first, to see what would raise the selected value.");
  }

  bool reset(int) { return c_.requests.ask(Command::reset), say("Back at the start. Ctrl+Z undoes this."); }

  bool say(base::Message words) { return c_.requests.say(std::move(words)), true; }

  bool option(document::OptionId id, std::string_view name, document::Value value, base::Message words) {
    if (c_.locked(name)) return say(whyLocked(c_, name, name));
    c_.requests.set(id, std::move(value));
    return say(std::move(words));
  }

  bool flip(document::OptionId id, bool to, bool isOn, std::string_view what, std::string_view key) {
    return option(id, document::option(id).name, to,
                  base::message({what, isOn ? " off" : " on", ". Press ", key, " again to switch it ",
                                 isOn ? "on." : "off."}));
  }

  static base::Message goesBack(base::Message done, std::string_view key) {
    return {done, " Press ", key, " to go back."};
  }

  bool painting(int) {
    c_.view.painting = !c_.view.painting;
    return say(c_.view.painting ? "Painting: a click or drag on S or W hides cells. Press p again to stop."
                                : "Painting ended.");
  }

  bool tokens(int step) {
    const int count = c_.state.tokens + step;
    return option(document::OptionId::tokens, "tokens", static_cast<double>(count),
                  goesBack({count, count == 1 ? " token." : " tokens."}, step > 0 ? "T" : "t"));
  }

  bool heads(int step) {
    const HeadSteps steps(c_);
    const int count = step > 0 ? steps.more : steps.less;
    if (count == 0)
      return say(step > 0 ? "There cannot be more heads in this layer."
                          : "There cannot be fewer heads in this layer.");
    if (steps.keepsColumns && !c_.locked("heads")) return steps.ask(c_, step), true;
    return option(
        document::OptionId::heads, "heads", static_cast<double>(count),
        goesBack(sharedWidth(count, c_.state.heads * c_.state.headDim / count), step > 0 ? "H" : "h"));
  }

  // In steps of a quarter; "−" and "0" come here only if they do not start a number.
  bool zoom(int step) { return interface(step); }
  bool size(int step) { return isLong(c_) ? magnifyBy(step) : interface(step); }
  bool interface(int step) {
    if (step == 0) return option(OptionId::zoom, "zoom", 0.0, "The board is as large as its window allows.");
    const double to = std::clamp(std::round(static_cast<double>(c_.zoom) * 4 + step) / 4, 1.0, 2.5);
    return option(
        OptionId::zoom, "zoom", to,
        base::message({"Zoom ", static_cast<int>(to * 100), " %. Press 0 to fit the window again."}));
  }

  bool focusHead(int step) {
    const int count = c_.state.heads, to = (c_.state.focusHead + step + count) % count;
    return option(document::OptionId::focus_head, "focus_head", static_cast<double>(to),
                  base::message({"Head ", to + 1, " of ", count, "."}));
  }

  // Of a model; wraps around at the ends, as heads do.
  [[gnu::noinline]] bool layer(int step) {
    const int count = c_.state.batch;
    if (!hasLayers(c_.state)) return false;  // not a command then
    const int to = (c_.state.batchItem + step + count) % count;
    return option(OptionId::layer, "layer", static_cast<double>(to),
                  base::message({"Layer ", to + 1, " of ", count, "."}));
  }

  bool temperature(int step) {
    const double made = c_.state.temperature * (step > 0 ? 1.25 : 1 / 1.25);
    const double power = std::pow(
        10.0,
        std::max(2.0, 1 - std::floor(std::log10(made))));  // two decimals, or two digits where it is smaller
    const double to =
        std::clamp(std::round(made * power) / power, document::kMinTemperature, document::kMaxTemperature);
    return option(
        document::OptionId::temperature, "temperature", to,
        goesBack({"Temperature ", formatFactor(static_cast<float>(to), 2), "."}, step > 0 ? "[" : "]"));
  }

  // Moves the focus from the board to the side panel, and back.
  bool options(int) {
    if (c_.layout.side.empty() && c_.layout.bar.empty()) return false;
    panel_.on = panel_.moved = !panel_.on;
    c_.view.drawer = panel_.on && c_.layout.sidePanelIsDrawer;
    if (panel_.on) c_.view.sideClosed = false;
    return say(panel_.on ? "The arrow keys choose and change options. Press Esc to go back to the board."
                         : "The keys act on the board.");
  }

  bool select(int tensor) {
    const auto id = static_cast<TensorId>(tensor);
    if (!c_.layout.find(id))
      return say(base::message({"This layer shows no ", attention::symbol(id, c_.spec.score), "."}));
    panel_.on = false;
    const Slice s = sliceOf(c_.state, id);
    s_ = {true, id, s.firstRow, s.firstCol, s.firstRow, s.firstCol};
    c_.requests.moved = true;
    return say(base::message({attention::symbol(id, c_.spec.score), ": row 1, column 1 is selected."}));
  }

  Context& c_;
  ImGuiIO& io_;
  Selection& s_;
  FocusRing& panel_;
};

constexpr int number(TensorId id) { return static_cast<int>(id); }

const Keys::Shortcut Keys::kShortcuts[] = {{ImGuiKey_Z, true, Command::undo},
                                           {ImGuiKey_Y, false, Command::redo},
                                           {ImGuiKey_S, true, Command::saveState},
                                           {ImGuiKey_O, false, Command::pickFile},
                                           {ImGuiKey_A, true, Command::undo, &Keys::selectAll}};

const Keys::Letter Keys::kLetters[] = {
    {'?', &Keys::help, 0, ImGuiKey_Slash},
    {'c', &Keys::causal},
    {'d', &Keys::scale},
    {'m', &Keys::mode},
    {'p', &Keys::painting},
    {'r', &Keys::reset},
    {'t', &Keys::tokens, +1},
    {'T', &Keys::tokens, -1},
    {'h', &Keys::heads, +1},
    {'H', &Keys::heads, -1},
    {'n', &Keys::focusHead, +1},
    {'N', &Keys::focusHead, -1},
    {'[', &Keys::temperature, -1, ImGuiKey_LeftBracket},
    {']', &Keys::temperature, +1, ImGuiKey_RightBracket},
    {'j', &Keys::layer, +1},
    {'J', &Keys::layer, -1},
    {'y', &Keys::card},
    {'P', &Keys::pin},
    {'l', &Keys::before},
    {'u', &Keys::gradient},
    {'U', &Keys::raise},
    {'i', &Keys::stepper},
    {'q', &Keys::select, number(TensorId::q)},
    {'k', &Keys::select, number(TensorId::k)},
    {'v', &Keys::select, number(TensorId::v)},
    {'s', &Keys::select, number(TensorId::scores)},
    {'w', &Keys::select, number(TensorId::weights)},
    {'o', &Keys::select, number(TensorId::head_output)},
    {'O', &Keys::options},
    {'x', &Keys::select, number(TensorId::x)},
    {'f', &Keys::present},
    {'z', &Keys::zoom, +1},
    {'Z', &Keys::zoom, -1},
    {'+', &Keys::size, +1, ImGuiKey_Equal},
    {'+', &Keys::size, +1, ImGuiKey_KeypadAdd},
    {'-', &Keys::size, -1, ImGuiKey_Minus},
    {'0', &Keys::size, 0, ImGuiKey_0},
};

}  // namespace

bool usesKey(const Context& c, ImGuiKey key, bool command, bool shift, bool alt) {
  if (key == ImGuiKey_Escape && (c.view.tip.isOpen || (c.view.glossary && !c.view.glossary->open.empty())))
    return true;
  if (!shift && !alt && paletteUsesKey(c, key, command)) return true;
  if (c.view.menu.shown && !command && !alt && FocusRing::uses(key)) return true;
  if (c.onPage()) return pageUsesKey(c, key, command, alt);
  const Selection& s = c.view.selection;
  const bool panel = c.view.options.on;
  if (command) {
    const bool arrow = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow;
    if (arrow || key == ImGuiKey_A) return s.active && !panel;
    return std::any_of(
        std::begin(Keys::kShortcuts), std::end(Keys::kShortcuts),
        [&](const Keys::Shortcut& ours) { return ours.key == key && (ours.withShift || !shift); });
  }
  if (panel && FocusRing::uses(key)) return true;
  const bool typing = !panel && s.active;  // if the cell cannot be edited, the board explains why
  if (stepperOf(c) && !panel &&
      (key == ImGuiKey_LeftArrow || key == ImGuiKey_RightArrow || key == ImGuiKey_Home ||
       key == ImGuiKey_End || key == ImGuiKey_Space || key == ImGuiKey_Escape))
    return true;
  switch (key) {
    case ImGuiKey_LeftArrow:
    case ImGuiKey_RightArrow:
    case ImGuiKey_UpArrow:
    case ImGuiKey_DownArrow: return s.active || c.view.magnify > 1;
    case ImGuiKey_Escape:
      return s.active || c.state.present || panel || c.view.help.open || c.view.drawer || c.view.painting ||
             c.view.coach || !c.view.notice.empty();
    case ImGuiKey_Enter:
    case ImGuiKey_KeypadEnter:
    case ImGuiKey_F2:
    case ImGuiKey_Delete:
    case ImGuiKey_Backspace: return typing;
    case ImGuiKey_Space: return s.active && attention::isOfPairs(s.tensor);
    default: break;
  }
  if (alt) return false;
  if (typing && isNumberKey(key)) return true;
  if ((key == ImGuiKey_Slash || key == ImGuiKey_Equal) && !shift) return false;
  return isPageKey(c, key) ||
         std::any_of(std::begin(Keys::kLetters), std::end(Keys::kLetters), [&](const Keys::Letter& l) {
           if (!Keys::isHere(l, c.state)) return false;
           if (l.key == ImGuiKey_None)
             return key == ImGuiKey_A + static_cast<int>((l.character | 0x20) - 'a');
           return l.key == key && !(panel && Keys::isOfBoard(l));
         });
}

bool boardKeys(Context& c) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool finds = (io.KeyCtrl || io.KeySuper) && ImGui::IsKeyPressed(ImGuiKey_K, false);
  if (finds) openPalette(c);
  const bool acts = finds || (c.onPage() ? pageKeys(c) : Keys(c).handle());
  // What a message says may no longer be true. A command is carried out later, and may have nothing to do.
  if (acts && c.requests.commands.empty() && !c.view.notice.isError) c.view.notice = {};
  return acts;
}

}  // namespace views
