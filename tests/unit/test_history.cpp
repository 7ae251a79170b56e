// The memory that the history of a document takes, and its behaviour when the limit is reached.
#include <algorithm>
#include <cstring>
#include <memory>
#include <random>

#include "document/difference.h"
#include "document_support.h"
#include "thorough.h"

using namespace document;
using test::set;

namespace {

Document large(int tokens, int heads, int headDim) {
  State s = test::start();
  for (const Edit& edit :
       {Edit(set(OptionId::tokens, static_cast<double>(tokens))), Edit(set(OptionId::heads, 1.0)),
        Edit(set(OptionId::model_dim, static_cast<double>(heads * headDim))),
        Edit(set(OptionId::d_k, static_cast<double>(heads * headDim))),
        Edit(set(OptionId::d_v, static_cast<double>(heads * headDim))),
        Edit(set(OptionId::heads, static_cast<double>(heads)))}) {
    REQUIRE(test::refusal(document::check(s, edit)) == "accepted");
    document::apply(s, edit);
  }
  return Document(s);
}

/// A hash of all bits of the state except its view (like FNV-1a, of 8 bytes at once).
std::uint64_t print(const State& s) {
  std::uint64_t sum = 14695981039346656037u;
  const auto add = [&](const void* data, std::size_t bytes) {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::uint64_t eight = 0; bytes > 0;
         at += std::min(bytes, sizeof eight), bytes -= std::min(bytes, sizeof eight)) {
      eight = 0;
      std::memcpy(&eight, at, std::min(bytes, sizeof eight));
      sum = (sum ^ eight) * 1099511628211u, sum ^= sum >> 32;
    }
  };
  const auto number = [&](int n) { add(&n, sizeof n); };
  const auto words = [&](const std::vector<std::string>& all) {
    for (const std::string& word : all) add(word.data(), word.size() + 1);
  };
  const auto tensor = [&](const Tensor& t) {
    number(t.heads()), number(t.rows()), number(t.cols());
    add(t.data(), t.size() * sizeof(float));
  };
  for (const TensorId id : inputIds()) tensor(*input(s, id));
  for (int i = 0; i < kParameterCount; ++i) tensor(s.parameters[static_cast<ParameterId>(i)]);
  words(s.labels), words(s.keyLabels);
  add(s.painted.blocked.data(), s.painted.blocked.size());
  for (const int n : {s.tokens, s.keyTokens, s.heads, s.kvHeads, s.headDim, s.valueDim, s.batch, s.batchItem})
    number(n);
  return sum;
}

/// Loads the same state with other queries, keys and values, which no seed gives.
Edit otherNumbers(std::uint32_t seed, const State& state) {
  auto other = std::make_shared<State>(state);
  std::mt19937 random(seed);
  for (Tensor* tensor : {&other->q, &other->k, &other->v})
    std::generate_n(tensor->data(), tensor->size(),
                    [&] { return static_cast<float>(random() % 1024) / 256; });
  return Load{std::move(other)};
}

/// Edits that change the shape or most of the numbers, in turn.
Edit structural(int i, const State& s) {
  switch (i % 7) {
    case 0: return set(OptionId::heads, s.heads == 4 ? 2.0 : 4.0);
    case 1: return RemoveTokens{(i * 37) % s.tokens, 3};
    case 2: return InsertTokens{(i * 91) % s.tokens, 3};
    case 3: return set(OptionId::d_k, s.headDim % 2 == 0 ? s.headDim + 1.0 : s.headDim - 1.0);
    case 4: return set(OptionId::kv_heads, s.kvHeads == s.heads ? 1.0 : static_cast<double>(s.heads));
    case 5: return set(OptionId::cross, !s.cross);
    default: return set(OptionId::batch, s.batch == 1 ? 2.0 : 1.0);
  }
}

}  // namespace

TEST_CASE("history: 500 changes of shape at 1,024 tokens stay within the budget, and come back bit for bit") {
  Document d = large(1024, 4, 4);
  std::vector<std::uint64_t> prints{print(d.state())};
  std::size_t whole = 0;
  for (int i = 0; static_cast<int>(prints.size()) <= test::rounds(500); ++i) {
    REQUIRE(i < 2000);
    const std::uint64_t before = d.revision();
    if (!d.apply(structural(i, d.state())) || d.revision() == before) continue;
    prints.push_back(print(d.state()));
    whole += bytesOf(d.state());
    REQUIRE(d.historyBytes() <= kHistoryBytes);
  }
  CAPTURE(whole);
  CAPTURE(d.historyBytes());
  CHECK(d.forgottenSteps() == 0);
  CHECK(d.historyBytes() < whole / 5);
  for (std::size_t i = prints.size() - 1; i-- > 0;) {
    REQUIRE(d.undo());
    REQUIRE(print(d.state()) == prints[i]);
    REQUIRE(d.historyBytes() <= kHistoryBytes);
  }
  CHECK(!d.canUndo());
  for (std::size_t i = 1; i < prints.size(); ++i) {
    REQUIRE(d.redo());
    REQUIRE(print(d.state()) == prints[i]);
  }
  CHECK(!d.canRedo());
}

TEST_CASE("history: a change of heads keeps no numbers, however many there are") {
  Document d = large(1024, 16, 8);
  for (int i = 0; i < 4; ++i) {
    const std::size_t before = d.historyBytes();
    REQUIRE(test::refusal(d.apply(set(OptionId::heads, i % 2 == 0 ? 8.0 : 16.0))) == "accepted");
    CHECK(d.historyBytes() - before < 4096);
  }
}

TEST_CASE(
    "history: where there is no room for all, the oldest steps go, and the others come back bit for bit") {
  Document d = large(1024, 8, 32);
  std::vector<std::uint64_t> prints{print(d.state())};
  for (std::uint32_t seed = 2; seed < 64; ++seed) {
    REQUIRE(d.apply(otherNumbers(seed, d.state())));
    prints.push_back(print(d.state()));
    REQUIRE(d.historyBytes() <= kHistoryBytes);
  }
  CHECK(d.forgottenSteps() > 0);
  std::size_t steps = 0;
  for (std::size_t i = prints.size() - 1; d.undo(); ++steps) {
    REQUIRE(print(d.state()) == prints[--i]);
    REQUIRE(d.historyBytes() <= kHistoryBytes);
  }
  CHECK(steps > 4);
  CHECK(steps + d.forgottenSteps() == prints.size() - 1);
  CHECK(d.historyBytes() > steps * 3 * 1024 * 256 * sizeof(float) * 9 / 10);
}

TEST_CASE("history: a gesture that grows beyond the budget goes whole, and the next one is kept") {
  Document d = large(1024, 8, 32);
  for (std::uint32_t seed = 2; seed < 64; ++seed) {
    REQUIRE(d.apply(otherNumbers(seed, d.state()), 7));
    REQUIRE(d.historyBytes() <= kHistoryBytes);
  }
  CHECK(d.forgottenSteps() > 0);
  d.endGesture();
  const std::uint64_t before = print(d.state());
  REQUIRE(d.apply(test::setCell(attention::TensorId::q, 0, 0, 0, 9.0f)));
  REQUIRE(d.undo());
  CHECK(print(d.state()) == before);
}

TEST_CASE("history: numbers that can be drawn again are not kept, edited ones are") {
  for (const bool readsWords : {false, true}) {
    CAPTURE(readsWords);
    Document d = large(4, 2, 8);
    REQUIRE(d.apply(set(OptionId::same_word, readsWords)));
    REQUIRE(d.apply(set(OptionId::tokens, 2048.0)));
    REQUIRE(d.apply(set(OptionId::batch, 2.0)));
    REQUIRE(d.apply(test::setCell(attention::TensorId::q, 0, 3, 5, 9.0f)));
    const std::uint64_t edited = print(d.state());
    const auto comesBack = [&](auto act, std::size_t most) {
      Document other(d.state());
      REQUIRE(act(other));
      CHECK(other.historyBytes() < most);
      const std::uint64_t after = print(other.state());
      REQUIRE(other.undo());
      CHECK(print(other.state()) == edited);
      REQUIRE(other.redo());
      CHECK(print(other.state()) == after);
    };
    const std::size_t whole = bytesOf(d.state());
    comesBack([](Document& other) { return other.apply(Randomize{8, {}}); }, 4000);
    comesBack([](Document& other) { return other.apply(Load{std::make_shared<State>(test::start())}); },
              whole / 4);  // words
  }
}

TEST_CASE(
    "history: of a large board it is made compact later, in parts, and undo works before and meanwhile") {
  Document d = large(2048, 8, 64);
  REQUIRE(d.apply(Randomize{7, {}}));  // initial numbers
  REQUIRE(d.apply(test::setCell(attention::TensorId::q, 3, 2, 5, 9.0f)));
  REQUIRE(d.apply(test::setCell(attention::TensorId::v, 7, 2000, 5, 9.0f)));
  const std::uint64_t edited = print(d.state());
  const std::size_t whole = bytesOf(d.state());
  using Act = Result<void> (*)(Document&);
  const std::pair<std::string, Act> acts[] = {
      {"tokens", [](Document& on) { return on.apply(set(OptionId::tokens, 4.0)); }},
      {"d_k", [](Document& on) { return on.apply(set(OptionId::d_k, 63.0)); }},
      {"heads", [](Document& on) { return on.apply(set(OptionId::heads, 4.0)); }},
      {"seed", [](Document& on) { return on.apply(Randomize{8, {}}); }},
      {"load", [](Document& on) { return on.apply(Load{std::make_shared<State>(test::start())}); }},
      {"open", [](Document& on) { return on.open(test::start(), true); }},
  };
  for (const auto& [name, act] : acts) {
    CAPTURE(name);
    for (const int parts : {0, 1, 2, 100}) {
      CAPTURE(parts);
      Document other(test::start());
      REQUIRE(other.apply(Load{std::make_shared<State>(d.state())}));
      while (other.settleSome()) continue;
      REQUIRE(act(other));
      const std::uint64_t after = print(other.state());
      CHECK(!other.isSettled());
      CHECK(other.historyBytes() > whole);
      for (int i = 0; i < parts && other.settleSome(); ++i) continue;
      if (parts == 100) {
        CHECK(other.isSettled());
        CHECK(other.historyBytes() < whole / 2);
      }
      REQUIRE(other.undo());
      CHECK(print(other.state()) == edited);
      REQUIRE(other.redo());
      CHECK(print(other.state()) == after);
      REQUIRE(other.apply(test::setCell(attention::TensorId::k, 0, 0, 0, 9.0f)));
      REQUIRE(other.undo());
      REQUIRE(other.undo());
      CHECK(print(other.state()) == edited);
    }
  }
}

TEST_CASE("history: most tokens of a board whose numbers were divided among other heads come back") {
  Document d = large(2048, 8, 64);
  REQUIRE(d.apply(set(OptionId::heads, 4.0)));  // the numbers are not those that are drawn for four heads
  REQUIRE(d.apply(test::setCell(attention::TensorId::k, 1, 2, 5, 9.0f)));
  const std::uint64_t before = print(d.state());
  for (const double left : {4.0, 900.0}) {
    CAPTURE(left);
    REQUIRE(d.apply(set(OptionId::tokens, left)));
    const std::uint64_t after = print(d.state());
    for (int round = 0; round < 2; ++round) {
      while (d.settleSome()) continue;
      REQUIRE(d.undo());
      CHECK(print(d.state()) == before);
      while (d.settleSome()) continue;
      REQUIRE(d.redo());
      CHECK(print(d.state()) == after);
    }
    REQUIRE(d.undo());
  }
}

TEST_CASE("history: only the last change of a large board is kept as a whole") {
  Document d = large(2048, 8, 64);
  std::vector<std::uint64_t> prints{print(d.state())};
  for (const double headDim : {63.0, 62.0, 61.0}) {
    REQUIRE(d.apply(set(OptionId::d_k, headDim)));
    prints.push_back(print(d.state()));
    CHECK(d.historyBytes() < bytesOf(d.state()) * 11 / 10);
  }
  while (d.settleSome()) continue;
  CHECK(d.historyBytes() < bytesOf(d.state()) / 5);
  for (std::size_t i = prints.size() - 1; i-- > 0;) {
    REQUIRE(d.undo());
    CHECK(print(d.state()) == prints[i]);
  }
  REQUIRE(d.open(test::start(), false));
  CHECK(!d.settleSome());
  CHECK(d.historyBytes() == 0);
}

TEST_CASE("history: opening keeps the state that was there once") {
  Document d = large(1024, 8, 16);
  const State other = large(1000, 8, 16).state();
  const std::uint64_t first = print(d.state()), second = print(other);
  const std::size_t one = bytesOf(d.state());
  REQUIRE(d.open(other, true));
  CHECK(d.historyBytes() < one + one / 4);
  REQUIRE(d.undo());
  CHECK(d.historyBytes() < one + one / 4);
  CHECK(print(d.state()) == first);
  REQUIRE(d.redo());
  CHECK(print(d.state()) == second);
  d.reset();
  CHECK(print(d.state()) == second);
}

TEST_CASE("history: what it says that it holds is forgotten with it") {
  Document d = large(64, 2, 4);
  for (int i = 0; i < 100; ++i) (void)d.apply(structural(i, d.state()));
  CHECK(d.historyBytes() > 0);
  for (int i = 0; i < 30; ++i) d.undo();
  REQUIRE(d.open(test::start(), false));
  CHECK(d.historyBytes() == 0);
  CHECK(!d.canUndo());
}

TEST_CASE("history: a restore of nothing is refused") {
  CHECK(test::refusal(check(test::start(), Restore{})) == "state: there is none to restore; give one.");
}
