// What keys do on the board.
#include <algorithm>
#include <cmath>

#include "document/sentence.h"
#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Tensor;
using document::OptionId;
using document::SetCells;
using document::joined;

constexpr double kBurst = 0.5;  // seconds between the letters of one word, at most

class Keys {
 public:
  explicit Keys(Context& context)
      : c_(context), io_(ImGui::GetIO()), s_(context.view.selection), panel_(context.view.options) {}

  bool handle() {
    const bool command = io_.KeyCtrl || io_.KeySuper;
    if (command && commands()) return true;
    if (pressed(ImGuiKey_Escape)) return escape();
    if (panel_.on ? panel_.readKeys() : arrows(command)) return true;
    if (command || io_.KeyAlt) return false;
    if (!panel_.on && typing()) return true;
    return letters();
  }

 private:
  static bool pressed(ImGuiKey key) { return ImGui::IsKeyPressed(key); }

  bool commands() {
    if (pressed(ImGuiKey_Z)) return c_.wishes.ask(io_.KeyShift ? Command::redo : Command::undo), true;
    if (pressed(ImGuiKey_Y)) return c_.wishes.ask(Command::redo), true;
    if (pressed(ImGuiKey_S)) return c_.wishes.ask(Command::saveState), true;
    if (pressed(ImGuiKey_O)) return c_.wishes.ask(Command::pickFile), true;
    if (pressed(ImGuiKey_A) && s_.active) {
      const MatrixPlace* m = c_.layout.find(s_.tensor);
      if (!m) return false;
      const Slice s = sliceOf(c_.state, s_.tensor);
      const int rows = m->transposed ? m->cols : m->rows, cols = m->transposed ? m->rows : m->cols;
      s_ = {true, s_.tensor, s.firstRow, s.firstCol, s.firstRow + rows - 1, s.firstCol + cols - 1};
      c_.wishes.moved = true;
      return true;
    }
    return false;
  }

  bool escape() {
    if (c_.view.help || c_.view.drawer || c_.view.painting || panel_.on) {
      c_.view.help = c_.view.drawer = c_.view.painting = panel_.on = false;
      c_.wishes.endGesture = true;  // a slider that goes with the drawer does not see the button let go
      return true;
    }
    if (c_.state.present) return option(OptionId::present, "present", false, "Presentation off. Press f to present again.");
    if (!s_.active) return false;
    s_.active = false;
    c_.wishes.moved = true;
    return true;
  }

  // Up and down change a cell that can be changed; with Ctrl, and elsewhere, arrows move.
  bool arrows(bool command) {
    const int dx = pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
    const int dy = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
    if (dx == 0 && dy == 0) return false;
    if (!s_.active) return false;
    if (dy != 0 && !command && c_.editable(s_.tensor)) return nudge(-dy);
    const MatrixPlace* m = c_.layout.find(s_.tensor);
    if (!m) return false;
    moveBy(*m, dx, dy, command && io_.KeyShift);
    return true;
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
    c_.wishes.edit(SetCells{s_.tensor, head, s_.top(), s_.left(), s_.rows(), s_.cols(), std::move(values)});
    c_.view.rest = io_.MousePos;
    return true;
  }

  // In the directions that are seen; left and right go on in the next line.
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
    c_.wishes.moved = true;
  }

  CellRef cell() const { return {s_.tensor, sliceOf(c_.state, s_.tensor).head, s_.row, s_.col}; }

  bool typing() {
    if (!s_.active) return false;
    if (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter) || pressed(ImGuiKey_F2)) {
      typeCell(c_, cell(), {});
      return true;
    }
    if (pressed(ImGuiKey_Delete) || pressed(ImGuiKey_Backspace)) return clear();
    if (pressed(ImGuiKey_Space) && isPair(s_.tensor)) return paint();
    const std::string typed = typedNumber();
    if (typed.empty()) return false;
    typeCell(c_, cell(), typed);
    return true;
  }

  bool clear() {
    if (!c_.editable(s_.tensor)) return c_.wishes.said = whyFixed(c_, cell()), true;
    const auto count = static_cast<std::size_t>(s_.rows() * s_.cols());
    c_.wishes.edit(SetCells{s_.tensor, cell().head, s_.top(), s_.left(), s_.rows(), s_.cols(), std::vector<float>(count)});
    c_.view.rest = io_.MousePos;
    return true;
  }

  bool paint() {
    if (c_.locked("mask")) return false;
    const std::uint8_t to = c_.state.painted.isBlocked(s_.row, s_.col) ? 0 : 1;
    const auto count = static_cast<std::size_t>(s_.rows() * s_.cols());
    c_.wishes.edit(document::PaintCells{s_.top(), s_.left(), s_.rows(), s_.cols(), std::vector<std::uint8_t>(count, to)});
    return true;
  }

  /// A letter alone is a command. Several at once, or one close after a letter that means nothing here, are text.
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
    using document::OptionId;
    const document::State& s = c_.state;
    switch (ch) {
      case '?': c_.view.help = !c_.view.help; return true;
      case 'c': return flip(OptionId::causal, !s.causal, s.causal, "Causal mask", "c");
      case 'd': return flip(OptionId::scale, s.score == attention::Score::dot, s.score != attention::Score::dot, "Division by √d_k", "d");
      case 'm': {
        const bool isX = s.mode == document::Mode::x;
        return option(OptionId::mode, "mode", std::string(isX ? "qkv" : "x"),
                      isX ? "The input is Q, K and V. Press m again for X and its projections."
                          : "The input is X with its projections. Press m again for Q, K and V.");
      }
      case 'p': return painting();
      case 'e': return experiments();
      case 'r': return c_.wishes.ask(Command::reset), say("Back at the start. Ctrl+Z undoes this.");
      case 't': return tokens(+1);
      case 'T': return tokens(-1);
      case 'h': return heads(+1);
      case 'H': return heads(-1);
      case 'n': return focusHead(+1);
      case 'N': return focusHead(-1);
      case '[': return temperature(1 / 1.25, "]");
      case ']': return temperature(1.25, "[");
      case 'q': return select(TensorId::q);
      case 'k': return select(TensorId::k);
      case 'v': return select(TensorId::v);
      case 's': return select(TensorId::scores);
      case 'w': return select(TensorId::weights);
      case 'o': return select(TensorId::head_output);
      case 'O': return options();
      case 'x': return select(TensorId::x);
      case 'f':
        return flip(OptionId::present, !s.present, s.present, "Presentation", "f");
      case 'z':
      case '+': return zoom(+1);
      case 'Z':
      case '-': return zoom(-1);
      case '0': return option(OptionId::zoom, "zoom", 0.0, "The board is as large as its window allows.");
      default: return false;
    }
  }

  bool say(std::string words) { return c_.wishes.say(std::move(words)), true; }

  static double round2(double v) { return std::round(v * 100) / 100; }

  bool option(document::OptionId id, std::string_view name, document::Value value, std::string words) {
    if (c_.locked(name)) return say(joined({"This page has locked ", name, "."}));
    c_.wishes.set(id, std::move(value));
    return say(std::move(words));
  }

  bool flip(document::OptionId id, bool to, bool isOn, std::string_view what, std::string_view key) {
    return option(id, document::option(id).name, to,
                  joined({what, isOn ? " off" : " on", ". Press ", key, " again to switch it ", isOn ? "on." : "off."}));
  }

  bool painting() {
    c_.view.painting = !c_.view.painting;
    return say(c_.view.painting ? "Painting: a click or drag on S or W hides cells. Press p again to stop." : "Painting ended.");
  }

  bool experiments() {
    if (listed(c_.hide, "experiments")) return false;
    showPage(c_, c_.view.lab.last);
    return say("These are the experiments. Press e or Esc to go back to the board.");
  }

  bool tokens(int step) {
    const int count = c_.state.tokens + step;
    return option(document::OptionId::tokens, "tokens", static_cast<double>(count),
                  joined({count, count == 1 ? " token. Press " : " tokens. Press ", step > 0 ? "T" : "t", " to go back."}));
  }

  bool heads(int step) {
    const std::vector<int> allowed = document::allowedHeads(c_.state);
    const auto here = std::find(allowed.begin(), allowed.end(), c_.state.heads) - allowed.begin() + step;
    if (here < 0 || here >= static_cast<std::ptrdiff_t>(allowed.size())) {
      return say(step > 0 ? "There cannot be more heads in this layer." : "There cannot be fewer heads in this layer.");
    }
    const int count = allowed[static_cast<std::size_t>(here)];
    return option(document::OptionId::heads, "heads", static_cast<double>(count),
                  joined({sharedWidth(count, c_.state.heads * c_.state.headDim / count), " Press ", step > 0 ? "H" : "h", " to go back."}));
  }

  // By quarters; "−" and "0" get here where they do not begin a number.
  bool zoom(int step) {
    const double to = std::clamp(std::round(static_cast<double>(c_.zoom) * 4 + step) / 4, 1.0, 2.5);
    return option(OptionId::zoom, "zoom", to, joined({"Zoom ", static_cast<int>(to * 100), " %. Press 0 to fit the window again."}));
  }

  bool focusHead(int step) {
    const int count = c_.state.heads, to = (c_.state.focusHead + step + count) % count;
    return option(document::OptionId::focus_head, "focus_head", static_cast<double>(to),
                  joined({"Head ", to + 1, " of ", count, "."}));
  }

  bool temperature(double by, std::string_view back) {
    const double to = round2(c_.state.temperature * by);
    return option(document::OptionId::temperature, "temperature", to,
                  joined({"Temperature ", formatNumber(to, 2), ". Press ", back, " to go back."}));
  }

  // From the board to the side panel, and back.
  bool options() {
    if (c_.layout.side.empty()) return false;
    panel_.on = panel_.moved = !panel_.on;
    c_.view.drawer = panel_.on && c_.layout.sidePanelIsDrawer;
    return say(panel_.on ? "The arrow keys choose and change options. Press Esc to go back to the board." : "The keys act on the board.");
  }

  bool select(TensorId id) {
    if (!c_.layout.find(id)) return say(joined({"This layer shows no ", attention::symbol(id, c_.spec.score), "."}));
    panel_.on = false;
    const Slice s = sliceOf(c_.state, id);
    s_ = {true, id, s.firstRow, s.firstCol, s.firstRow, s.firstCol};
    c_.wishes.moved = true;
    return say(joined({attention::symbol(id, c_.spec.score), ": row 1, column 1 is selected."}));
  }

  Context& c_;
  ImGuiIO& io_;
  Selection& s_;
  Walk& panel_;
};

}  // namespace

bool usesKey(const Context& c, ImGuiKey key, bool command, bool shift, bool alt) {
  if (c.experiment() != document::Experiment::none) return experimentsUseKey(c, key, command, alt);
  const Selection& s = c.view.selection;
  const bool panel = c.view.options.on;
  if (command) {
    const bool arrow = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow;
    if (arrow || key == ImGuiKey_A) return s.active && !panel;
    return key == ImGuiKey_Z || (!shift && (key == ImGuiKey_Y || key == ImGuiKey_S || key == ImGuiKey_O));
  }
  if (panel && Walk::uses(key)) return true;
  const bool typing = !panel && s.active;  // where it cannot be changed, the board says why
  switch (key) {
    case ImGuiKey_LeftArrow:
    case ImGuiKey_RightArrow:
    case ImGuiKey_UpArrow:
    case ImGuiKey_DownArrow: return s.active;
    case ImGuiKey_Escape: return s.active || c.state.present || panel || c.view.help || c.view.drawer || c.view.painting || !c.view.notice.empty();
    case ImGuiKey_Enter:
    case ImGuiKey_KeypadEnter:
    case ImGuiKey_F2:
    case ImGuiKey_Delete:
    case ImGuiKey_Backspace: return typing;
    case ImGuiKey_Space: return s.active && isPair(s.tensor);
    case ImGuiKey_LeftBracket:
    case ImGuiKey_RightBracket: return !alt;
    case ImGuiKey_Slash: return shift;
    default: break;
  }
  if (key == ImGuiKey_Equal || key == ImGuiKey_KeypadAdd) return (shift || key == ImGuiKey_KeypadAdd) && !panel && !alt;
  // Where they do not begin a number, 0 and minus change the zoom.
  if (isNumberKey(key)) return !alt && (typing || (!panel && (key == ImGuiKey_0 || key == ImGuiKey_Minus)));
  if (key < ImGuiKey_A || key > ImGuiKey_Z || alt) return false;
  static constexpr std::string_view letters = "cdemprthnqkvswoxfz";
  return letters.find(static_cast<char>('a' + (key - ImGuiKey_A))) != std::string_view::npos;
}

bool boardKeys(Context& c) {
  return c.experiment() != document::Experiment::none ? experimentsKeys(c) : Keys(c).handle();
}

}  // namespace views
