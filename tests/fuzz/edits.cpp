// Edits, undo and redo in any order: the engine agrees with the reference, and undo and redo restore every
// state bit for bit.
#include <cmath>
#include <vector>

#include "attention/engine/engine.h"
#include "document/document.h"
#include "document/preset.h"
#include "fuzz.h"
#include "reference/error_bound.h"

namespace {

using namespace document;

float numberFrom(fuzz::Bytes& bytes) {
  static constexpr float kSpecial[] = {0.0f, -0.0f, 1e-45f, 3.4e38f, -3.4e38f, 1e20f, 0.5f};
  const int choice = bytes.byte();
  return choice < 7 ? kSpecial[choice] : static_cast<float>(bytes.below(2001) - 1000) / 100.0f;
}

Edit cells(fuzz::Bytes& bytes, const State& s) {
  const auto ids = inputIds();
  SetCells edit;
  edit.tensor = ids[static_cast<std::size_t>(bytes.below(static_cast<int>(ids.size())))];
  const Tensor& tensor = *input(s, edit.tensor);
  edit.head = bytes.below(tensor.heads()), edit.row = bytes.below(tensor.rows()),
  edit.col = bytes.below(tensor.cols());
  edit.rows = 1 + bytes.below(3), edit.cols = 1 + bytes.below(3);
  for (int i = 0; i < edit.rows * edit.cols; ++i) edit.values.push_back(numberFrom(bytes));
  return edit;
}

Edit paint(fuzz::Bytes& bytes, const State& s) {
  PaintCells edit{bytes.below(s.tokens), bytes.below(s.keyTokens), 1, 1 + bytes.below(4), {}};
  for (int i = 0; i < edit.cols; ++i) edit.blocked.push_back(static_cast<std::uint8_t>(bytes.byte() & 1));
  return edit;
}

Edit parameter(fuzz::Bytes& bytes, const State& s) {
  SetParameter edit;
  edit.parameter = static_cast<ParameterId>(bytes.below(kParameterCount));
  const ParameterShape shape = shapeOf(s, edit.parameter);
  edit.row = bytes.below(shape.rows), edit.col = bytes.below(shape.cols);
  edit.values = {numberFrom(bytes)};
  return edit;
}

Edit anyOption(fuzz::Bytes& bytes) {
  const auto all = options();
  const Option& option = all[static_cast<std::size_t>(bytes.below(static_cast<int>(all.size())))];
  const int value = bytes.byte();
  if (!option.choices.empty())
    return SetOption{option.id,
                     std::string(option.choices[static_cast<std::size_t>(value) % option.choices.size()])};
  if (value < 2) return SetOption{option.id, value == 1};
  return SetOption{option.id, value % 16 == 15 ? 0.25 * value : static_cast<double>(value % 16 - 2)};
}

Edit structural(fuzz::Bytes& bytes, const State& s) {
  const Side side = (bytes.byte() & 1) != 0 ? Side::keys : Side::queries;
  switch (bytes.below(5)) {
    case 0: return InsertTokens{bytes.below(s.tokens + 1), 1 + bytes.below(3), side};
    case 1: return RemoveTokens{bytes.below(s.tokens), 1 + bytes.below(3), side};
    case 2: return Randomize{static_cast<std::uint32_t>(bytes.byte()), {}};
    case 3: return SetLabels{bytes.below(s.tokens), {"w" + std::to_string(bytes.byte())}, side};
    default: {
      const auto all = presets();
      return Load{std::make_shared<State>(
          *preset(all[static_cast<std::size_t>(bytes.below(static_cast<int>(all.size())))].name))};
    }
  }
}

Edit next(fuzz::Bytes& bytes, const State& s) {
  switch (bytes.below(6)) {
    case 0:
    case 1: return cells(bytes, s);
    case 2: return paint(bytes, s);
    case 3: return parameter(bytes, s);
    case 4: return anyOption(bytes);
    default: return structural(bytes, s);
  }
}

void checkNumbers(const State& state, attention::Engine& engine) {
  const attention::Spec layer = spec(state);
  const attention::Inputs given = inputs(state);
  HOLDS(attention::validate(layer, given));
  const attention::ReferenceTrace exact = attention::reference(layer, given);
  for (const TensorId id : {TensorId::masked, TensorId::weights, TensorId::output}) {
    const Tensor* found = attention::intermediate(engine.trace(), id);
    HOLDS(found != nullptr);
    const Tensor& is = *found;
    const auto& wanted = attention::intermediate(exact, id)->values;
    const double bound = attention::errorBound(layer, given, exact, id);
    HOLDS(is.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto value = static_cast<double>(is.data()[i]);
      HOLDS(!std::isnan(value));
      HOLDS(value == wanted[i] || std::abs(value - wanted[i]) <= bound);
    }
  }
}

bool same(State a, const State& b) {
  copyView(a, b);
  return sameBits(a, b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const State start = *preset("i-saw-a-saw");
  fuzz::Bytes bytes(data, size);
  Document document(start);
  attention::Engine engine;
  engine.apply(spec(document.state()), inputs(document.state()), document.takeChanges());
  std::vector<State> past{start};  // one state for each step of undo, and the present one
  std::size_t at = 0;
  for (int i = 0; i < 40 && !bytes.empty(); ++i) {
    const int what = bytes.byte();
    if (what < 24) {
      HOLDS(document.undo() == (at > 0));
      if (at > 0) --at;
    } else if (what < 40) {
      HOLDS(document.redo() == (at + 1 < past.size()));
      if (at + 1 < past.size()) ++at;
    } else {
      const Edit edit = next(bytes, document.state());
      const State before = document.state();
      if (const auto ok = document.apply(edit); !ok) {
        fuzz::checkSentence(ok.error());
        HOLDS(sameBits(document.state(), before));
        continue;
      }
      HOLDS(check(document.state()));
      if (isUndoable(edit) && !same(document.state(), before)) {
        past.resize(++at);
        past.push_back(document.state());
      }
    }
    HOLDS(same(document.state(), past[at]));
    HOLDS(document.historyBytes() <= kHistoryBytes);
    const auto changes = document.takeChanges();
    const State& s = document.state();
    if (s.tokens > 12 || s.keyTokens > 12) return 0;  // larger layers are slow and find no more errors
    engine.apply(spec(s), inputs(s), changes);
    if (i % 8 == 7) checkNumbers(s, engine);
  }
  checkNumbers(document.state(), engine);
  while (at > 0) {
    HOLDS(document.undo());
    HOLDS(same(document.state(), past[--at]));
  }
  HOLDS(!document.canUndo());
  return 0;
}
