// Boards with their undo history as bytes: restored bit for bit after any edits, and no other bytes are
// accepted.
#include <map>

#include "document_support.h"
#include "files/layout/session_store.h"

using namespace document;
using files::SessionStore;
using test::refusal;
using test::set;
using test::setCell;

namespace {

constexpr std::size_t kMuch = std::size_t{64} << 20;

/// All states that undo and redo reach, oldest first, the start that each of them has, and the index of the
/// present one.
struct History {
  std::vector<State> states, starts;
  std::size_t at = 0;
};

State content(State state) {
  copyView(state, Settings{});
  return state;
}

History historyOf(Document d) {
  History all;
  std::size_t forth = 0;
  while (d.redo()) ++forth;
  for (;;) {
    all.states.insert(all.states.begin(), content(d.state())),
        all.starts.insert(all.starts.begin(), content(d.start()));
    if (!d.undo()) break;
  }
  all.at = all.states.size() - 1 - forth;
  return all;
}

void checkSame(const Document& a, const Document& b) {
  CHECK(sameBits(a.state(), b.state()));
  const History one = historyOf(a), other = historyOf(b);
  REQUIRE(one.states.size() == other.states.size());
  CHECK(one.at == other.at);
  for (std::size_t i = 0; i < one.states.size(); ++i) {
    CAPTURE(i);
    CHECK(sameBits(one.states[i], other.states[i]));
    CHECK(sameBits(one.starts[i], other.starts[i]));
  }
}

Document restored(const std::string& bytes) {
  Document d(*preset("look-up"));
  CHECK(refusal(files::restore(bytes, d)) == "accepted");
  return d;
}

}  // namespace

TEST_CASE("session store: a board comes back with its history, from a program that never saw it") {
  Document d(test::start());
  SessionStore store;
  checkSame(d, restored(store.write(d, kMuch)));
  CHECK(refusal(d.apply(setCell(TensorId::q, 1, 2, 0, 7.5f))) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::theme, std::string("dark")))) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::tokens, 6.0))) == "accepted");
  CHECK(refusal(d.open(*preset("pronoun"), true)) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::heads, 1.0))) == "accepted");
  d.undo();
  Document back = restored(store.write(d, kMuch));
  checkSame(d, back);
  CHECK(back.canRedo());
  back.reset();
  CHECK(back.state().preset == "pronoun");
  while (back.undo()) {}
  CHECK(sameBits(content(back.state()), content(test::start())));
}

TEST_CASE("session store: written after every edit as if it were written once") {
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u}) {
    CAPTURE(seed);
    test::RandomEdits edits(seed, true);
    Document d(test::start());
    SessionStore store;
    for (int i = 0; i < 120; ++i) {
      const int what = edits.below(12);
      if (what == 0) d.undo();
      else if (what == 1) d.redo();
      else if (what == 2 && edits.below(3) == 0) d.reset();
      else if (what == 3 && edits.below(6) == 0) (void)d.open(*preset("pronoun"), edits.below(2) != 0);
      else (void)d.apply(edits.next(d.state()), static_cast<std::uint64_t>(edits.below(3)));
      if (edits.below(3) != 0) continue;
      const std::string bytes = store.write(d, kMuch);
      CHECK(bytes == SessionStore().write(d, kMuch));
      if (i % 10 == 0) checkSame(d, restored(bytes));
    }
  }
}

TEST_CASE(
    "session store: where there is little room the oldest steps are left out, and the present board never "
    "is") {
  Document d(test::start());
  SessionStore store;
  std::string bytes;
  const std::size_t least = store.write(d, kMuch).size() + 400;
  for (int i = 0; i < 100; ++i) {
    CHECK(refusal(d.apply(setCell(TensorId::q, i % 2, i % 4, 0, static_cast<float>(i)))) == "accepted");
    bytes = store.write(d, least);
    CHECK(bytes.size() <= least + 400);
  }
  Document back = restored(bytes);
  CHECK(sameBits(back.state(), d.state()));
  int steps = 0;
  while (back.undo() && d.undo()) {
    ++steps;
    CHECK(sameBits(back.state(), d.state()));
  }
  CHECK((steps > 3 && steps < 60));
  CHECK(sameBits(content(back.start()), content(test::start())));
  // At the oldest state, a shorter history drops the steps before it and keeps those that can be redone.
  while (d.undo()) {}
  const Document oldest = restored(store.write(d, 1));
  CHECK(sameBits(oldest.state(), d.state()));
}

TEST_CASE("session store: a large board is written at the cost of what changed, and read") {
  Document d(test::start());
  CHECK(refusal(d.apply(set(OptionId::tokens, 256.0))) == "accepted");
  SessionStore store;
  const std::size_t before = store.write(d, kMuch).size();
  for (int i = 0; i < 50; ++i) CHECK(refusal(d.apply(setCell(TensorId::q, 0, i, 1, 9.5f))) == "accepted");
  const std::string bytes = store.write(d, kMuch);
  CHECK(bytes.size() < before + 50 * 40);
  checkSame(d, restored(bytes));
}

TEST_CASE("session store: of a board of megabytes an edit is written with little more than what changed") {
  Document d(test::start());
  CHECK(refusal(d.apply(set(OptionId::tokens, 4000.0))) == "accepted");
  CHECK(refusal(d.apply(set(OptionId::d_k, 32.0))) == "accepted");
  SessionStore store;
  std::string bytes = store.write(d, kMuch);
  const std::size_t before = bytes.size();
  CHECK(before > (1 << 20));
  const auto follows = [&] {
    bytes = store.write(d, kMuch);
    checkSame(d, restored(bytes));
  };
  for (int i = 0; i < 4; ++i)
    CHECK(refusal(d.apply(setCell(TensorId::q, 0, 999 * i, 1, 9.5f))) == "accepted"), follows();
  CHECK(bytes.size() < before + 4 * 2200);
  d.undo();
  follows();
  CHECK(refusal(d.apply(set(OptionId::tokens, 4.0))) == "accepted"), follows();
  CHECK(refusal(d.apply(set(OptionId::tokens, 3000.0))) == "accepted"), follows();
  // What the first of the steps that are kept goes out from counts too.
  const std::size_t most = bytes.size() / 2;
  bytes = store.write(d, most);
  CHECK(bytes.size() <= most + 400);
  CHECK(sameBits(restored(bytes).state(), d.state()));
}

namespace {

/// Keeps parts by their numbers, as a page does.
struct Storage {
  std::map<std::uint64_t, std::string> parts;
  std::size_t longest = 0, mostInOneCall = 0, handedOver = 0, calls = 0;

  /// Some of the work; true with the last of it.
  bool goOn(SessionStore& store, const Document& d, std::string& all, std::size_t slice = 1 << 18) {
    ++calls;
    all.clear();
    std::size_t bytes = 0;
    const bool isWhole = store.keep(
        d, kMuch,
        [&](const SessionStore::Piece& piece) {
          longest = std::max(longest, piece.bytes.size()), bytes += piece.bytes.size();
          if (piece.part == 0) all += piece.bytes;
          else if (!piece.bytes.empty()) CHECK(parts.emplace(piece.part, piece.bytes).second);
          else all += parts.at(piece.part).substr(piece.from, piece.count);
        },
        slice);
    handedOver += bytes, mostInOneCall = std::max(mostInOneCall, bytes);
    return isWhole;
  }
  std::string keep(SessionStore& store, const Document& d) {
    std::string all;
    while (!goOn(store, d, all)) {}
    return all;
  }
};

Document large() {
  Document d(test::start());
  for (const auto& [id, number] :
       {std::pair(OptionId::heads, 1.0), std::pair(OptionId::d_k, 64.0), std::pair(OptionId::tokens, 3000.0)})
    CHECK(refusal(d.apply(set(id, number))) == "accepted");
  return d;
}

}  // namespace

TEST_CASE("session store: a large board is handed over in slices, each part once, and is that of one piece") {
  Document d = large();
  SessionStore store;
  Storage storage;
  const std::string first = storage.keep(store, d);
  CHECK(first == SessionStore().write(d, kMuch));
  CHECK(storage.longest <= SessionStore::kPart);
  CHECK(storage.mostInOneCall < 2 * SessionStore::kPart);
  CHECK(storage.calls > 4);
  for (int i = 0; i < 2; ++i) {
    const std::size_t before = storage.handedOver;
    CHECK(refusal(d.apply(setCell(TensorId::q, 0, 2000 * i, 1, 9.5f))) == "accepted");
    const std::string all = storage.keep(store, d);
    CHECK(all == SessionStore().write(d, kMuch));
    CHECK(storage.handedOver - before < SessionStore::kPart / 2);  // what changed, and no part
  }
  checkSame(d, restored(storage.keep(store, d)));
  d.undo();
  CHECK(refusal(d.open(*preset("pronoun"), true)) == "accepted");
  d.undo();
  checkSame(d, restored(storage.keep(store, d)));
}

TEST_CASE("session store: what changes while a board is handed over makes it begin again") {
  const Document start = large();
  for (int calls = 0; calls < 9; calls += 2) {
    CAPTURE(calls);
    Document d = start;
    SessionStore store;
    Storage storage;
    std::string all;
    const auto interrupted = [&] {
      for (int i = 0; i < calls; ++i) (void)storage.goOn(store, d, all);
    };
    interrupted();
    CHECK(refusal(d.apply(setCell(TensorId::v, 0, 5, 0, 0.25f))) == "accepted");
    interrupted();
    d.undo();
    interrupted();
    CHECK(refusal(d.apply(setCell(TensorId::v, 0, 9, 0, 0.25f))) == "accepted");
    CHECK(refusal(d.apply(setCell(TensorId::k, 0, 9, 0, 0.25f))) == "accepted");
    interrupted();
    CHECK(refusal(d.apply(setCell(TensorId::k, 0, 7, 0, 0.5f))) == "accepted");
    // The numbers of a large board may be in larger changes than they have to be.
    const Document back = restored(storage.keep(store, d));
    CHECK(sameBits(content(back.state()), content(d.state())));
    CHECK(back.stepNumbers().size() == d.stepNumbers().size());
    if (calls == 4) checkSame(d, back);
  }
}

TEST_CASE("session store: the steps that are left out take their parts along") {
  Document d = large();
  SessionStore store;
  Storage storage;
  std::string all;
  storage.keep(store, d);
  // Two boards are more than is kept.
  for (int i = 0; i < 2; ++i) {
    CHECK(refusal(d.open(*preset("pronoun"), true)) == "accepted");
    CHECK(refusal(d.open(content(large().state()), true)) == "accepted");
    const std::size_t most = std::size_t{3} << 20;
    bool isWhole = false;
    while (!isWhole)
      isWhole = store.keep(d, most, [&](const SessionStore::Piece& piece) {
        if (piece.part > 0 && !piece.bytes.empty()) storage.parts.emplace(piece.part, piece.bytes);
      });
    all = storage.keep(store, d);
    const Document back = restored(all);
    CHECK(sameBits(content(back.state()), content(d.state())));
    CHECK(sameBits(content(back.start()), content(d.start())));
  }
  CHECK(all.size() < (std::size_t{5} << 20));
}

TEST_CASE("session store: the initial state of a large board stays when the steps after it are left out") {
  Document large(test::start());
  CHECK(refusal(large.apply(set(OptionId::tokens, 4000.0))) == "accepted");
  CHECK(refusal(large.apply(set(OptionId::d_k, 32.0))) == "accepted");
  Document d(test::start());
  SessionStore store;
  std::size_t most = SessionStore().write(large, kMuch).size();
  store.write(d, kMuch);
  CHECK(refusal(d.open(content(large.state()), true)) == "accepted");
  for (int i = 0; i < 3; ++i) {
    CHECK(refusal(d.apply(setCell(TensorId::q, 0, 999 * i, 1, 9.5f))) == "accepted");
    const Document back = restored(store.write(d, most));
    CHECK(sameBits(content(back.state()), content(d.state())));
    CHECK(sameBits(content(back.start()), content(d.start())));
    most = 1;  // then without any step
  }
}

TEST_CASE("session store: what is damaged is refused, and the document stays") {
  Document d(test::start());
  for (int i = 0; i < 5; ++i) (void)d.apply(setCell(TensorId::q, 0, 0, 0, static_cast<float>(i)));
  (void)d.open(*preset("pronoun"), true);
  const std::string bytes = SessionStore().write(d, kMuch);
  const State kept = d.state();
  int refused = 0;
  for (std::size_t end = 0; end < bytes.size(); end += 1 + end / 40) {
    CHECK_FALSE(files::restore(std::string_view(bytes).substr(0, end), d));
    ++refused;
  }
  CHECK(refused > 50);
  CHECK_FALSE(files::restore(bytes + "x", d));
  CHECK_FALSE(files::restore("", d));
  CHECK(sameBits(d.state(), kept));
  // Changed bytes never lead to an invalid state.
  test::RandomEdits random(7);
  for (int i = 0; i < 400; ++i) {
    std::string wrong = bytes;
    for (int n = 1 + random.below(3); n > 0; --n)
      wrong[static_cast<std::size_t>(random.below(static_cast<int>(wrong.size())))] =
          static_cast<char>(random.below(256));
    Document other(test::start());
    if (files::restore(wrong, other)) CHECK(refusal(check(other.state())) == "accepted");
  }
}

TEST_CASE("session store: a part that was handed over takes no memory") {
  files::SharedBytes::Part part{std::string(SessionStore::kPart, 'x'), SessionStore::kPart, 0};
  part.leaveTo(7);
  CHECK(part.number == 7);
  CHECK(part.size == SessionStore::kPart);
  CHECK(part.bytes.capacity() == std::string().capacity());
}
