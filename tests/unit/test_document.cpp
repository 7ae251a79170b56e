// Edits, their inverses, and history.
#include <cmath>
#include <utility>

#include "attention/steps/forward.h"
#include "document/resize.h"
#include "document_support.h"

using namespace document;
using test::refusal;
using test::set;
using test::setCell;

namespace {

Document opened() { return Document(test::start()); }

double numberOf(const Document& d, OptionId id) {
  return *std::get_if<double>(&*std::make_unique<Value>(get(d.state(), id)));
}

void sameNumbers(const attention::Tensor& a, const attention::Tensor& b) {
  REQUIRE(a.sameShape(b));
  for (std::size_t i = 0; i < a.size(); ++i)
    CHECK(std::abs(a.data()[i] - b.data()[i]) <= 1e-5f * (1.0f + std::abs(b.data()[i])));
}

}  // namespace

TEST_CASE("document: a cell is set, taken back and set again") {
  Document d = opened();
  const State start = d.state();
  CHECK(!d.canUndo());
  CHECK(refusal(d.apply(setCell(TensorId::q, 1, 2, 0, 7.5f))) == "accepted");
  CHECK(d.state().q.at(1, 2, 0) == 7.5f);
  CHECK(d.revision() == 2);
  const State changed = d.state();
  CHECK(d.undo());
  CHECK(sameBits(d.state(), start));
  CHECK(d.redo());
  CHECK(sameBits(d.state(), changed));
  CHECK(!d.redo());
  CHECK(d.revision() == 4);
}

TEST_CASE("document: an edit that changes nothing leaves no step and no revision") {
  Document d = opened();
  d.takeChanges();
  const Edit edits[] = {setCell(TensorId::q, 0, 0, 0, 0.9f),
                        set(OptionId::causal, true),
                        set(OptionId::tokens, 4.0),
                        set(OptionId::heads, 2.0),
                        set(OptionId::d_k, 3.0),
                        set(OptionId::labels, std::string("I saw a saw")),
                        set(OptionId::temperature, 1.0),
                        SetLabels{1, {"saw"}},
                        PaintCells{0, 0, 1, 2, {0, 0}},
                        Load{std::make_shared<State>(d.state())}};
  for (const Edit& edit : edits) CHECK(refusal(d.apply(edit)) == "accepted");
  CHECK(!d.canUndo());
  CHECK(d.revision() == 1);
  CHECK(d.takeChanges().empty());
  // A change of the sign of zero counts: the state text shows it.
  CHECK(refusal(d.apply(setCell(TensorId::v, 0, 0, 2, -0.0f))) == "accepted");
  CHECK(d.canUndo());
  d.undo();
  CHECK(!std::signbit(d.state().v.at(0, 0, 2)));
}

TEST_CASE("document: a refused edit changes nothing") {
  Document d = opened();
  const State start = d.state();
  const auto refused = [&](const Edit& edit) {
    const std::string why = refusal(d.apply(edit));
    CHECK(sameBits(d.state(), start));
    return why;
  };
  CHECK(refused(setCell(TensorId::q, 0, 4, 0, 1)) ==
        "q: a block of 1 × 1 at row 4, column 0 is not inside; there are 4 rows and 3 columns, counted from "
        "0.");
  CHECK(refused(setCell(TensorId::q, 2, 0, 0, 1)) == "q: there is no head 2; use 0 to 1.");
  CHECK(refused(setCell(TensorId::q, 0, 1, 2, NAN)) ==
        "q[0][1][2]: NaN cannot be used; give a finite number.");
  CHECK(refused(setCell(TensorId::q, 0, 1, 2, INFINITY)) ==
        "q[0][1][2]: infinity cannot be used; give a finite number.");
  CHECK(refused(setCell(TensorId::x, 0, 0, 0, 1)) ==
        "x: it is not in use here; set mode to \"x\" to change it.");
  CHECK(refused(setCell(TensorId::weights, 0, 0, 0, 1)) ==
        "weights: it is computed and cannot be set; change its inputs.");
  CHECK(refused(SetCells{TensorId::q, 0, 0, 0, 2, 2, {1, 2, 3}}) ==
        "q: 3 values were given for 2 × 2 cells; give one a cell.");
  CHECK(refused(SetCells{TensorId::q, 0, 1, 1, 2147483647, 2147483647, {1}}).starts_with("q: a block of"));
  CHECK(refused(SetCells{TensorId::q, 0, -1, 0, 1, 1, {1}}).starts_with("q: a block of"));
  CHECK(refused(PaintCells{0, 4, 1, 1, {1}}).starts_with("mask: a block of"));
  CHECK(refused(SetLabels{3, {"a", "b"}}) ==
        "labels: 2 labels from token 3 on do not fit; there are 4 tokens, counted from 0.");
  CHECK(refused(SetLabels{0, {std::string("a\nb")}}) ==
        "labels[0]: \"a\\x0ab\" holds a control character; leave it out.");
  CHECK(refused(SetLabels{0, {std::string("\xff")}}) ==
        "labels[0]: \"\\xff\" is not valid UTF-8; type it again.");
  CHECK(refused(InsertTokens{5, 1}) ==
        "tokens: cannot put 1 before token 5; use a count from 1 and a place from 0 to 4.");
  CHECK(refused(InsertTokens{0, 2147483647}) == "tokens: 2147483651 is too large; use 1 to 131072.");
  CHECK(refused(RemoveTokens{0, 4}) ==
        "tokens: cannot remove 4 from token 0 on; there are 4, counted from 0, and one must stay.");
  CHECK(refused(Randomize{1, TensorId::w_q}) ==
        "w_q: it is not in use here; set mode to \"x\" to change it.");
  CHECK(refused(Load{nullptr}) == "state: there is none to load; give one.");
  State broken = start;
  broken.k = Tensor(2, 4, 2);
  CHECK(refused(Load{std::make_shared<State>(broken)}) == "k: the shape is [2, 4, 2]; it must be [2, 4, 3].");
  broken = start;
  broken.k.at(1, 0, 0) = NAN;
  CHECK(refused(Load{std::make_shared<State>(broken)}) ==
        "k.data[12]: NaN cannot be used; give a finite number.");
  CHECK(!d.canUndo());
  CHECK(d.revision() == 1);
}

TEST_CASE("document: a gesture is one step, and what it holds does not grow with its length") {
  Document d = opened();
  const State start = d.state();
  for (int i = 1; i <= 1000; ++i) d.apply(setCell(TensorId::k, 0, 1, 1, static_cast<float>(i)), 5);
  d.apply(setCell(TensorId::k, 0, 1, 2, 3.0f), 6);
  CHECK(d.state().k.at(0, 1, 1) == 1000.0f);
  const State end = d.state();
  CHECK(d.undo());
  CHECK(d.state().k.at(0, 1, 1) == 1000.0f);
  CHECK(d.undo());
  CHECK(sameBits(d.state(), start));
  CHECK(!d.canUndo());
  d.redo();
  d.redo();
  CHECK(sameBits(d.state(), end));

  d.endGesture();
  d.apply(setCell(TensorId::k, 0, 1, 2, 4.0f), 6);
  d.endGesture();
  d.apply(setCell(TensorId::k, 0, 1, 2, 5.0f), 6);
  d.undo();
  CHECK(d.state().k.at(0, 1, 2) == 4.0f);
  // A step that was redone is closed: later edits of the same gesture are not merged into it.
  d.redo();
  d.apply(setCell(TensorId::k, 0, 1, 2, 6.0f), 6);
  d.undo();
  CHECK(d.state().k.at(0, 1, 2) == 5.0f);
}

TEST_CASE("document: a drag that ends where it began leaves no step") {
  Document d = opened();
  d.apply(setCell(TensorId::q, 0, 0, 0, 1.0f), 9);
  CHECK(d.canUndo());
  d.apply(setCell(TensorId::q, 0, 0, 0, 0.9f), 9);
  CHECK(!d.canUndo());
  d.apply(setCell(TensorId::q, 0, 0, 0, 2.0f), 9);
  CHECK(d.canUndo());
  d.apply(set(OptionId::temperature, 2.0), 10);
  d.apply(set(OptionId::temperature, 1.0), 10);
  d.undo();
  CHECK(!d.canUndo());
}

TEST_CASE("document: gestures that mix edits come back whole") {
  Document d = opened();
  const State start = d.state();
  d.apply(setCell(TensorId::q, 1, 3, 2, 1.0f), 1);
  d.apply(set(OptionId::heads, 1.0), 1);
  d.apply(setCell(TensorId::q, 0, 3, 2, 2.0f), 1);
  d.apply(InsertTokens{0, 1}, 1);
  d.apply(setCell(TensorId::q, 0, 3, 2, 3.0f), 1);
  d.apply(set(OptionId::mode, std::string("x")), 1);
  d.apply(setCell(TensorId::x, 0, 0, 0, 3.0f), 1);
  d.apply(set(OptionId::mode, std::string("qkv")), 1);
  const State end = d.state();
  CHECK(d.undo());
  CHECK(!d.canUndo());
  CHECK(sameBits(d.state(), start));
  d.redo();
  CHECK(sameBits(d.state(), end));

  Document tokens = opened();
  tokens.apply(setCell(TensorId::q, 0, 0, 0, 5.0f), 2);
  tokens.apply(InsertTokens{0, 1}, 2);
  tokens.apply(setCell(TensorId::q, 0, 0, 0, 6.0f), 2);
  tokens.undo();
  CHECK(sameBits(tokens.state(), test::start()));
}

TEST_CASE("document: how things are shown is not part of history") {
  Document d = opened();
  d.apply(setCell(TensorId::q, 0, 0, 0, 1.0f));
  d.undo();
  CHECK(refusal(d.apply(set(OptionId::theme, std::string("dark")))) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::decimals, 4.0))) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::focus_head, 1.0))) == "accepted");
  CHECK(!d.canUndo());
  CHECK(d.canRedo());
  CHECK(d.revision() == 6);
  d.redo();
  CHECK(d.state().theme == Theme::dark);
  d.apply(Load{std::make_shared<State>(*preset("uniform"))});
  CHECK(d.state().theme == Theme::automatic);
  d.apply(set(OptionId::theme, std::string("light")));
  d.apply(set(OptionId::decimals, 0.0));
  d.undo();
  CHECK(d.state().theme == Theme::light);
  CHECK(d.state().decimals == 0);
  CHECK(d.state().preset == "i-saw-a-saw");
  // Loading a state that differs only in its view is not a step.
  State look = d.state();
  look.decimals = 5;
  d.redo();
  d.undo();
  const std::uint64_t before = d.revision();
  d.apply(Load{std::make_shared<State>(look)});
  CHECK(d.state().decimals == 5);
  CHECK(d.revision() == before + 1);
  CHECK(d.canRedo());
}

TEST_CASE("document: the head in focus stays a head") {
  Document d = opened();
  d.apply(set(OptionId::focus_head, 1.0));
  d.apply(set(OptionId::heads, 1.0));
  CHECK(d.state().focusHead == 0);
  d.undo();
  CHECK(d.state().heads == 2);
  CHECK(d.state().focusHead == 0);
}

TEST_CASE("document: reset returns to the very start, and can be taken back") {
  Document d = opened();
  const State start = d.state();
  test::RandomEdits edits(3);
  for (int i = 0; i < 50; ++i) d.apply(edits.next(d.state()));
  const State end = d.state();
  d.reset();
  CHECK(sameBits(d.state(), start));
  d.undo();
  CHECK(sameBits(d.state(), end));
  d.redo();
  CHECK(sameBits(d.state(), start));
  const std::uint64_t before = d.revision();
  d.reset();
  CHECK(d.revision() == before);
}

TEST_CASE("document: opening moves the beginning, undo moves it back") {
  Document d = opened();
  d.apply(setCell(TensorId::q, 0, 0, 0, 1.0f));
  CHECK(refusal(d.open(*preset("uniform"), true)) == "accepted");
  d.apply(set(OptionId::causal, true));
  d.reset();
  CHECK(sameBits(d.state(), *preset("uniform")));
  d.undo();
  d.undo();
  d.undo();
  CHECK(d.state().preset == "i-saw-a-saw");
  CHECK(d.state().q.at(0, 0, 0) == 1.0f);
  d.reset();
  CHECK(sameBits(d.state(), test::start()));
  d.undo();
  d.redo();
  d.undo();
  d.undo();
  CHECK(sameBits(d.state(), test::start()));

  CHECK(refusal(d.open(*preset("look-up"), false)) == "accepted");
  CHECK(!d.canUndo());
  CHECK(!d.canRedo());
  d.apply(set(OptionId::causal, true));
  d.reset();
  CHECK(sameBits(d.state(), *preset("look-up")));
  State broken = d.state();
  broken.labels.pop_back();
  CHECK(refusal(d.open(broken, true)) == "labels: there are 5 for 6 tokens; give one label a token.");
  CHECK(sameBits(d.state(), *preset("look-up")));
}

TEST_CASE("document: the numbers of an opened board are in memory once, until they are edited") {
  Document d = opened();
  State given = *preset("uniform");
  const float *q = std::as_const(given.q).data(), *k = std::as_const(given.k).data();
  REQUIRE(d.open(std::move(given), true));
  CHECK(d.state().q.data() == q);
  CHECK(d.start().q.data() == q);
  const Document copy = d;
  CHECK(copy.state().q.data() == q);
  d.apply(setCell(TensorId::q, 0, 0, 0, 5.0f));
  CHECK(d.state().q.data() != q);
  CHECK(d.start().q.data() == q);
  CHECK(copy.state().q.data() == q);
  CHECK(sameBits(copy.state(), *preset("uniform")));
  CHECK(sameBits(d.start(), *preset("uniform")));
  CHECK(d.state().k.data() == k);  // the others still are
  d.undo();
  CHECK(sameBits(d.state(), *preset("uniform")));
}

TEST_CASE("document: what makes room for another board is called for another one only") {
  Document d = opened();
  int calls = 0;
  const auto replaces = [&] {
    ++calls;
    CHECK(sameBits(d.state(), test::start()));  // before anything is replaced
  };
  State broken = *preset("uniform");
  broken.labels.pop_back();
  CHECK_FALSE(d.open(broken, true, replaces));
  CHECK(d.open(test::start(), true, replaces));
  CHECK(calls == 0);
  CHECK(d.open(*preset("uniform"), true, replaces));
  CHECK(calls == 1);
}

TEST_CASE("document: a shared tensor is copied by whoever writes first, and one that is copied at once") {
  attention::Tensor one(1, 2, 2, 3.0f), other = one.shared();
  const float* const block = std::as_const(one).data();
  CHECK(std::as_const(other).data() == block);
  const attention::Tensor copy = one;
  CHECK(copy.data() != block);
  other.reshape(1, 3, 2);
  CHECK(one == attention::Tensor(1, 2, 2, 3.0f));
  CHECK(std::as_const(other).at(0, 1, 1) == 3.0f);
  CHECK(std::as_const(other).at(0, 2, 1) == 0.0f);
  other = one.shared();
  one.at(0, 1, 1) = 4.0f;
  CHECK(std::as_const(one).data() != block);
  CHECK(std::as_const(other).data() == block);
  CHECK(other == attention::Tensor(1, 2, 2, 3.0f));
  CHECK(one.data() == std::as_const(one).data());  // it has its own from now on
}

TEST_CASE("document: the redone beginning is the opened one") {
  Document d = opened();
  d.open(*preset("uniform"), true);
  d.undo();
  d.redo();
  d.apply(set(OptionId::causal, true));
  d.reset();
  CHECK(sameBits(d.state(), *preset("uniform")));
}

TEST_CASE("document: what the engine is told") {
  using What = attention::Change::What;
  Document d = opened();
  const auto told = [&](const Edit& edit) {
    d.apply(edit);
    std::vector<What> out;
    for (const auto& change : d.takeChanges()) out.push_back(change.what);
    return out;
  };
  CHECK(d.takeChanges().size() == 1);  // the change reported at the start
  CHECK(d.takeChanges().empty());
  CHECK(told(set(OptionId::decimals, 3.0)).empty());
  CHECK(told(set(OptionId::theme, std::string("dark"))).empty());
  CHECK(told(set(OptionId::focus_head, 1.0)).empty());
  CHECK(told(set(OptionId::seed, 3.0)).empty());
  CHECK(told(SetLabels{0, {"You"}}).empty());
  CHECK(told(set(OptionId::labels, std::string("We saw a saw"))).empty());
  CHECK(told(set(OptionId::causal, false)) == std::vector{What::causal});
  CHECK(told(set(OptionId::scale, false)) == std::vector{What::scale});
  CHECK(told(set(OptionId::temperature, 2.0)) == std::vector{What::temperature});
  CHECK(told(PaintCells{0, 1, 1, 2, {1, 1}}) == std::vector{What::painted});
  CHECK(told(set(OptionId::tokens, 6.0)) == std::vector{What::everything});
  CHECK(told(RemoveTokens{1, 2}) == std::vector{What::everything});
  CHECK(told(set(OptionId::heads, 3.0)) == std::vector{What::everything});
  CHECK(told(set(OptionId::mode, std::string("x"))) == std::vector{What::everything});
  d.apply(SetCells{TensorId::w_k, 0, 1, 2, 2, 1, {1, 2}});
  const auto changes = d.takeChanges();
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].what == What::cells);
  CHECK(changes[0].tensor == TensorId::w_k);
  CHECK(changes[0].row == 1);
  CHECK(changes[0].col == 2);
  CHECK(changes[0].rows == 2);
  CHECK(changes[0].cols == 1);
  d.apply(setCell(TensorId::x, 0, 0, 0, 3.0f));
  d.apply(setCell(TensorId::x, 0, 0, 1, 3.0f));
  CHECK(d.takeChanges().size() == 2);
  d.apply(setCell(TensorId::x, 0, 0, 1, 2.0f));
  CHECK(told(InsertTokens{0, 1}) ==
        std::vector{What::everything});  // the rows of pending cell edits are no longer valid
  for (int i = 0; i < 100'000; ++i) d.apply(setCell(TensorId::x, 0, 0, 1, static_cast<float>(i)), 1);
  CHECK(d.takeChanges().size() <= 256);
}

TEST_CASE("document: the engine follows every edit") {
  Document d = opened();
  attention::Engine engine;
  test::RandomEdits edits(11);
  for (int i = 0; i < 400; ++i) {
    for (int burst = edits.below(3); burst >= 0; --burst) {
      const int kind = edits.below(6);
      if (kind == 0) d.undo();
      else if (kind == 1) d.redo();
      else d.apply(edits.next(d.state()));
    }
    const auto changes = d.takeChanges();
    const attention::Spec s = spec(d.state());
    engine.apply(s, inputs(d.state()), changes);
    REQUIRE(attention::validate(s, inputs(d.state())));
    attention::Trace trace;
    attention::forward(s, inputs(d.state()), trace);
    sameNumbers(engine.trace().weights, trace.weights);
    sameNumbers(engine.trace().output, trace.output);
  }
}

TEST_CASE("document: 20,000 random edits, all undone, all redone, bit for bit") {
  for (std::uint32_t seed = 1; seed <= 4; ++seed) {
    Document d = opened();
    const State start = d.state();
    test::RandomEdits edits(seed);
    int accepted = 0;
    for (int i = 0; i < 5000; ++i) {
      const Edit edit = edits.next(d.state());
      // Three in four edits belong to gestures of a few edits each.
      const std::uint64_t gesture = edits.below(4) == 0 ? 0 : static_cast<std::uint64_t>(1 + i / 7);
      if (d.apply(edit, gesture)) ++accepted;
    }
    CHECK(accepted > 3000);
    CHECK(refusal(check(d.state())) == "accepted");
    const State end = d.state();
    int steps = 0;
    while (d.undo()) ++steps;
    CHECK(steps > 500);
    CHECK(sameBits(d.state(), start));
    while (d.redo()) --steps;
    CHECK(steps == 0);
    CHECK(sameBits(d.state(), end));
    while (d.undo()) ++steps;
    CHECK(sameBits(d.state(), start));
  }
}

// Found by fuzzing: undo stopped a training that was started after the edit that is undone.
TEST_CASE("document: undo and redo leave every option alone that is not undoable") {
  const auto other = [](const State& s, const Option& o) -> Value {
    const Value is = get(s, o.id);
    if (const bool* on = std::get_if<bool>(&is)) return !*on;
    if (const double* number = std::get_if<double>(&is)) return *number < o.max ? *number + 1 : *number - 1;
    for (const std::string_view choice : o.choices)
      if (choice != std::get<std::string>(is)) return std::string(choice);
    return is;
  };
  // Their inverses are a difference between states and a whole state, both with all settings.
  const std::array<Edit, 2> edits{SetOption{OptionId::tokens, 3.0},
                                  Load{std::make_shared<State>(*preset("pronoun"))}};
  int tried = 0;
  for (const Option& o : options()) {
    if (o.undoable) continue;
    for (const Edit& edit : edits) {
      CAPTURE(o.name);
      Document d = opened();
      REQUIRE(d.apply(edit));
      const Value before = get(d.state(), o.id), wanted = other(d.state(), o);
      if (wanted == before || !d.apply(SetOption{o.id, wanted})) continue;  // not on this board
      ++tried;
      const Value after = get(d.state(), o.id);
      REQUIRE(d.undo());
      CHECK(get(d.state(), o.id) == after);
      REQUIRE(d.apply(SetOption{o.id, before}));
      REQUIRE(d.redo());
      CHECK(get(d.state(), o.id) == before);
    }
  }
  CHECK(tried > 30);
}

TEST_CASE("document: every step leads exactly to the state before and after it") {
  Document d = opened();
  test::RandomEdits edits(7, true);
  std::vector<State> states{d.state()};
  std::size_t at = 0;
  const auto sameAs = [&](State want) {
    keepView(want, d.state());
    return sameBits(want, d.state());
  };
  for (int i = 0; i < 10'000; ++i) {
    const int kind = edits.below(5);
    if (kind == 0) {
      CHECK(d.canUndo() == (at > 0));
      if (d.undo()) --at;
    } else if (kind == 1) {
      CHECK(d.canRedo() == (at + 1 < states.size()));
      if (d.redo()) ++at;
    } else {
      const Edit edit = edits.next(d.state());
      if (!d.apply(edit)) continue;
      if (isUndoable(edit) && !sameAs(states[at])) {
        states.resize(++at);
        states.push_back(d.state());
      }
    }
    REQUIRE(sameAs(states[at]));
    REQUIRE(check(d.state()));
  }
  CHECK(states.size() > 1);
}

TEST_CASE("document: inverses on their own, bit for bit") {
  test::RandomEdits edits(23);
  State s = test::start();
  for (int i = 0; i < 10'000; ++i) {
    const Edit edit = edits.next(s);
    if (!check(s, edit)) continue;
    State after = s;
    Effect there = document::apply(after, edit);
    CHECK(there.changed == !sameBits(after, s));
    if (!there.changed) continue;
    State back = after;
    document::apply(back, there.inverse);
    REQUIRE(sameBits(back, s));
    s = std::move(after);
  }
}

TEST_CASE("resize: heads regroup the same columns") {
  Document d = opened();
  const State start = d.state();
  CHECK(refusal(d.apply(set(OptionId::heads, 4.0))) ==
        "heads: 4 does not divide the model width 6 (heads × d_k); use 1, 2, 3 or 6.");
  for (const double heads : {1.0, 3.0, 6.0, 2.0}) {
    CHECK(refusal(d.apply(set(OptionId::heads, heads))) == "accepted");
    const State& s = d.state();
    for (int t = 0; t < 4; ++t)
      for (int c = 0; c < 6; ++c)
        CHECK(s.q.at(c / s.headDim, t, c % s.headDim) == start.q.at(c / 3, t, c % 3));
    CHECK(sameBits(s.wQ, start.wQ));
  }
  CHECK(sameBits(d.state(), start));
  CHECK(allowedHeads(start) == std::vector{1, 2, 3, 6});
}

TEST_CASE("resize: new columns and tokens are seeded, and the same when they come again") {
  Document d = opened();
  const State start = d.state();
  d.apply(set(OptionId::d_k, 5.0));
  const State wide = d.state();
  CHECK(wide.q.cols() == 5);
  CHECK(wide.wQ.cols() == 10);
  CHECK(wide.wO.rows() == 10);
  CHECK(wide.q.at(1, 3, 2) == start.q.at(1, 3, 2));
  CHECK(wide.wQ.at(0, 2, 5) == start.wQ.at(0, 2, 3));
  CHECK(wide.wO.at(0, 6, 1) == start.wO.at(0, 4, 1));
  d.apply(set(OptionId::d_k, 3.0));
  CHECK(sameBits(d.state(), start));
  d.apply(set(OptionId::d_k, 4.0));
  d.apply(set(OptionId::d_k, 5.0));
  CHECK(sameBits(d.state(), wide));
  d.apply(set(OptionId::model_dim, 7.0));
  CHECK(d.state().x.cols() == 7);
  CHECK(d.state().wO.cols() == 7);
  d.apply(set(OptionId::model_dim, 3.0));
  CHECK(sameBits(d.state(), wide));

  d.apply(set(OptionId::tokens, 6.0));
  CHECK(d.state().labels == std::vector<std::string>{"I", "saw", "a", "saw", "t5", "t6"});
  const State long1 = d.state();
  d.apply(set(OptionId::tokens, 4.0));
  d.apply(set(OptionId::tokens, 5.0));
  d.apply(set(OptionId::tokens, 6.0));
  CHECK(sameBits(d.state(), long1));
}

TEST_CASE("resize: painted cells move with their tokens") {
  Document d = opened();
  d.apply(PaintCells{2, 1, 1, 1, {1}});
  CHECK(d.state().painted.isBlocked(2, 1));
  d.apply(InsertTokens{2, 1});
  CHECK(d.state().painted.isBlocked(3, 1));
  CHECK(d.state().labels[2] == "t5");
  CHECK(d.state().painted.blocked.size() == 25);
  d.apply(RemoveTokens{3, 1});
  CHECK(d.state().painted.empty());
  d.undo();
  CHECK(d.state().painted.isBlocked(3, 1));
  d.apply(PaintCells{3, 1, 1, 1, {0}});
  CHECK(d.state().painted.empty());
}

TEST_CASE("resize: two tokens put at the same place are not alike") {
  Document d = opened();
  d.apply(InsertTokens{0, 1});
  d.apply(InsertTokens{0, 1});
  CHECK(d.state().q.at(0, 0, 0) != d.state().q.at(0, 1, 0));
}

TEST_CASE("resize: seeded numbers are the same on every platform") {
  const SeededCells cells(1, TensorId::q);
  CHECK(cells.at(0, 0, 0) == 0.38f);
  CHECK(cells.at(0, 0, 1) == -0.35f);
  CHECK(cells.at(0, 1, 0) == 1.45f);
  CHECK(cells.at(1, 0, 0) == -1.59f);
  CHECK(cells.at(3, 9, 7) == -0.79f);
  CHECK(cells.at(63, 1023, 255) == 0.0f);
}

TEST_CASE("resize: a row of seeded numbers has those of its cells") {
  const std::vector<std::string> words = {"the", "cat"};
  const Axis cols{3, 5};
  for (const SeededCells& cells : {SeededCells(1, TensorId::q), SeededCells(1, TensorId::x, words)}) {
    std::vector<float> row(15);
    cells.take(2, 1, cols, row.data());
    for (int c = 0; c < cols.count(); ++c)
      CHECK(row[static_cast<std::size_t>(c)] == cells.at(2, 1, cols.place(c)));
  }
}

TEST_CASE("resize: seeded numbers are normal, with two decimals") {
  const SeededCells cells(42, TensorId::w_o);
  double sum = 0, squares = 0;
  int beyondTwo = 0;
  constexpr int n = 100;
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t c = 0; c < n; ++c) {
      const double v = static_cast<double>(cells.at(0, r, c));
      CHECK(std::abs(v * 100.0 - std::round(v * 100.0)) < 1e-4);
      sum += v, squares += v * v;
      beyondTwo += std::abs(v) > 2.0 ? 1 : 0;
    }
  const double mean = sum / (n * n);
  CHECK(std::abs(mean) < 0.04);
  CHECK(std::abs(squares / (n * n) - 1.0) < 0.06);
  CHECK(std::abs(beyondTwo / double{n * n} - 0.0455) < 0.01);
}

TEST_CASE("document: a random fill is decided by its seed") {
  Document a = opened(), b = opened();
  a.apply(Randomize{9, {}});
  b.apply(Randomize{8, {}});
  b.apply(Randomize{9, {}});
  CHECK(sameBits(a.state(), b.state()));
  CHECK(numberOf(a, OptionId::seed) == 9.0);
  CHECK(!sameBits(a.state().q, a.state().k));
  CHECK(sameBits(a.state().x, test::start().x));
  a.apply(Randomize{10, TensorId::v});
  CHECK(sameBits(a.state().q, b.state().q));
  CHECK(!sameBits(a.state().v, b.state().v));
}

TEST_CASE("document: every option comes back by undo, bit for bit") {
  const std::pair<OptionId, Value> all[] = {{OptionId::score, std::string("general")},
                                            {OptionId::score, std::string("additive")},
                                            {OptionId::normalizer, std::string("none")},
                                            {OptionId::position, std::string("alibi")},
                                            {OptionId::softcap, 2.5},
                                            {OptionId::scale, 0.5},
                                            {OptionId::causal_offset, 2.0},
                                            {OptionId::window_left, 1.0},
                                            {OptionId::prefix, 2.0},
                                            {OptionId::key_length, 2.0},
                                            {OptionId::pattern, std::string("strided")},
                                            {OptionId::pattern_random, 2.0},
                                            {OptionId::mask_after_softmax, true},
                                            {OptionId::kv_heads, 1.0},
                                            {OptionId::d_v, 2.0},
                                            {OptionId::cross, true},
                                            {OptionId::hidden_heads, std::vector<int>{1}}};
  for (const auto& [id, value] : all) {
    CAPTURE(option(id).name);
    Document d = opened();
    CHECK(refusal(d.apply(set(id, value))) == "accepted");
    CHECK(get(d.state(), id) == value);
    const State after = d.state();
    CHECK(attention::validate(spec(after), inputs(after)));
    CHECK(d.undo());
    CHECK(sameBits(d.state(), test::start()));
    CHECK(d.redo());
    CHECK(sameBits(d.state(), after));
  }
}

TEST_CASE("document: the weights of a score begin as a dot product, and stay") {
  Document d = opened();
  CHECK(refusal(d.apply(setCell(TensorId::w_a, 0, 0, 0, 2))) ==
        "w_a: it is not in use here; set score to \"general\" or \"additive\" to change it.");
  CHECK(refusal(d.apply(setCell(TensorId::x_kv, 0, 0, 0, 2))) ==
        "x_kv: it is not in use here; set cross to true, and mode to \"x\", to change it.");
  attention::Trace dot, general;
  d.apply(set(OptionId::scale, false));
  attention::forward(spec(d.state()), inputs(d.state()), dot);
  d.apply(set(OptionId::score, std::string("general")));
  attention::forward(spec(d.state()), inputs(d.state()), general);
  sameNumbers(general.weights, dot.weights);
  CHECK(refusal(d.apply(setCell(TensorId::u_a, 0, 0, 0, 2))) ==
        "u_a: it is not in use here; set score to \"additive\" to change it.");
  CHECK(refusal(d.apply(setCell(TensorId::w_a, 1, 0, 2, 7))) == "accepted");
  d.apply(set(OptionId::score, std::string("cosine")));
  CHECK(d.state().wA.at(1, 0, 2) == 7.0f);
  d.apply(set(OptionId::d_k, 4.0));
  CHECK(d.state().wA.at(1, 0, 2) == 7.0f);
  CHECK(d.state().wA.at(1, 3, 3) == 1.0f);
  CHECK(d.state().vA.at(0, 0, 3) == 1.0f);
  d.apply(set(OptionId::heads, 1.0));
  CHECK(d.state().wA.at(0, 4, 6) == 7.0f);
  CHECK(d.state().wA.at(0, 0, 4) == 0.0f);
  d.apply(set(OptionId::heads, 2.0));
  CHECK(d.state().wA.at(1, 0, 2) == 7.0f);
  while (d.undo()) continue;
  CHECK(sameBits(d.state(), test::start()));
  CHECK(d.state().wA.empty());
}

TEST_CASE("document: cross-attention has tokens of its own") {
  Document d = opened();
  const State start = d.state();
  CHECK(refusal(d.apply(set(OptionId::cross, true))) == "accepted");
  const State& s = d.state();
  CHECK(s.keyLabels == s.labels);
  CHECK(sameBits(s.xKv, s.x));
  CHECK(sameBits(s.k, start.k));
  CHECK(refusal(d.apply(set(OptionId::key_labels, std::string("je vis une scie ronde")))) == "accepted");
  CHECK(s.keyTokens == 5);
  CHECK(s.tokens == 4);
  CHECK(s.k.rows() == 5);
  CHECK(s.v.rows() == 5);
  CHECK(s.xKv.rows() == 5);
  CHECK(s.q.rows() == 4);
  CHECK(s.x.rows() == 4);
  CHECK(s.k.at(1, 3, 2) == start.k.at(1, 3, 2));
  d.apply(PaintCells{3, 4, 1, 1, {1}});
  CHECK(refusal(d.apply(PaintCells{4, 4, 1, 1, {1}})).starts_with("mask: a block of 1 × 1 at row 4"));
  d.apply(InsertTokens{0, 2, Side::keys});
  CHECK(s.painted.isBlocked(3, 6));
  CHECK(s.keyLabels[0] == "t6");
  CHECK(s.labels[0] == "I");
  d.apply(RemoveTokens{0, 1, Side::queries});
  CHECK(s.painted.isBlocked(2, 6));
  CHECK(s.labels[0] == "saw");
  CHECK(refusal(d.apply(SetLabels{6, {"a", "b"}, Side::keys})) ==
        "key_labels: 2 labels from token 6 on do not fit; there are 7 tokens, counted from 0.");
  CHECK(refusal(d.apply(RemoveTokens{0, 7, Side::keys})) ==
        "key_tokens: cannot remove 7 from token 0 on; there are 7, counted from 0, and one must stay.");
  d.apply(SetLabels{6, {"carrée"}, Side::keys});
  CHECK(s.keyLabels[6] == "carrée");
  const State before = s;
  CHECK(refusal(d.apply(set(OptionId::cross, false))) == "accepted");
  CHECK(s.keyTokens == 3);
  CHECK(s.k.rows() == 3);
  CHECK(s.xKv.empty());
  CHECK(s.keyLabels.empty());
  CHECK(refusal(check(s)) == "accepted");
  d.undo();
  CHECK(sameBits(s, before));
  d.apply(set(OptionId::key_tokens, 1.0));
  d.apply(set(OptionId::cross, false));
  CHECK(s.k.rows() == 3);
  while (d.undo()) continue;
  CHECK(sameBits(s, start));
}

TEST_CASE("document: fewer heads of keys keep the first ones, and more bring back the same") {
  Document d = opened();
  const State start = d.state();
  d.apply(set(OptionId::kv_heads, 1.0));
  CHECK(d.state().k.heads() == 1);
  CHECK(d.state().wK.cols() == 3);
  CHECK(d.state().wQ.cols() == 6);
  CHECK(d.state().v.at(0, 3, 2) == start.v.at(0, 3, 2));
  const State one = d.state();
  d.apply(set(OptionId::kv_heads, 2.0));
  CHECK(d.state().k.at(0, 1, 1) == start.k.at(0, 1, 1));
  const State two = d.state();
  d.apply(set(OptionId::kv_heads, 1.0));
  CHECK(sameBits(d.state(), one));
  d.apply(set(OptionId::kv_heads, 2.0));
  CHECK(sameBits(d.state(), two));
  d.apply(set(OptionId::d_v, 5.0));
  CHECK(d.state().v.cols() == 5);
  CHECK(d.state().k.cols() == 3);
  CHECK(d.state().wO.rows() == 10);
  CHECK(d.state().wO.at(0, 5, 1) == two.wO.at(0, 3, 1));
}

TEST_CASE("document: the step of a decoder is how things are shown") {
  Document d = opened();
  CHECK(refusal(d.apply(set(OptionId::step, 4.0))) == "accepted");
  CHECK(!d.canUndo());
  d.apply(RemoveTokens{3, 1});
  CHECK(d.state().step == 3);
  d.undo();
  CHECK(d.state().step == 3);
  d.apply(set(OptionId::average_heads, true));
  d.redo();
  CHECK(d.state().averageHeads);
}

TEST_CASE("document: a batch is paged through, and every change of shape reaches all of it") {
  Document d = opened();
  const State start = d.state();
  const State& s = d.state();
  CHECK(refusal(d.apply(set(OptionId::batch, 3.0))) == "accepted");
  CHECK(s.items.size() == 3);
  CHECK(sameBits(s.q, start.q));
  CHECK(!sameBits(s.items[1].q, s.items[2].q));
  CHECK(refusal(d.apply(set(OptionId::batch_item, 3.0))) == "batch_item: 3 is too large; use 0 to 2.");
  CHECK(refusal(d.apply(set(OptionId::batch, 65.0))) == "batch: 65 is too large; use 1 to 64.");
  const State three = s;
  CHECK(refusal(d.apply(set(OptionId::batch_item, 2.0))) == "accepted");
  CHECK(sameBits(s.q, three.items[2].q));
  CHECK(sameBits(s.items[0].q, start.q));
  CHECK(s.items[2] == BatchItem());
  d.apply(setCell(TensorId::q, 0, 0, 0, 9));
  d.apply(SetLabels{0, {"You"}});
  CHECK(s.items[0].labels[0] == "I");
  d.apply(set(OptionId::batch_item, 0.0));
  CHECK(s.labels[0] == "I");
  CHECK(s.items[2].q.at(0, 0, 0) == 9.0f);

  d.apply(set(OptionId::heads, 3.0));
  d.apply(set(OptionId::d_k, 4.0));
  d.apply(set(OptionId::cross, true));
  d.apply(InsertTokens{1, 2, Side::keys});
  d.apply(RemoveTokens{0, 1, Side::queries});
  CHECK(refusal(check(s)) == "accepted");
  for (const int i : {1, 2}) {
    const BatchItem& other = s.items[static_cast<std::size_t>(i)];
    CHECK(other.q.sameShape(s.q));
    CHECK(other.v.sameShape(s.v));
    CHECK(other.xKv.sameShape(s.xKv));
    CHECK(other.keyLabels.size() == 6);
    CHECK(other.labels.size() == 3);
    CHECK(other.k.at(0, 1, 0) != s.k.at(0, 1, 0));  // each item gets different numbers for new tokens
  }
  d.apply(set(OptionId::batch_item, 2.0));
  d.apply(set(OptionId::batch, 2.0));
  CHECK(s.batchItem == 1);
  CHECK(s.items.size() == 2);
  d.apply(set(OptionId::batch, 1.0));
  CHECK(s.items.empty());
  CHECK(s.batchItem == 0);
  while (d.undo()) continue;
  CHECK(sameBits(s, start));
}

TEST_CASE("document: a gesture across pages comes back to each of them") {
  Document d = opened();
  d.apply(set(OptionId::batch, 2.0));
  const State start = d.state();
  d.apply(setCell(TensorId::q, 0, 0, 0, 5), 1);
  d.apply(set(OptionId::batch_item, 1.0), 1);
  d.apply(setCell(TensorId::q, 0, 0, 0, 6), 1);
  const State end = d.state();
  d.undo();
  CHECK(sameBits(d.state(), start));
  d.redo();
  CHECK(sameBits(d.state(), end));
}
