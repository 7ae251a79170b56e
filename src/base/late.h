// Texts that are loaded together with the code that uses them. The page's WebAssembly module is split by
// function, but all static data stays in the part that the first frame waits for. A long text that only the
// second part uses is therefore better encoded as instructions of a function, which moves to the second part.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace base {

template <std::size_t N>
struct Literal {
  char letters[N];
  consteval Literal(const char (&text)[N]) {
    for (std::size_t i = 0; i < N; ++i) letters[i] = text[i];
  }
};

/// late<"text">() returns that text as a string.
template <Literal kText>
[[gnu::noinline]] std::string late() {
  constexpr std::size_t kLength = sizeof kText.letters - 1;
  std::string out;
  out.resize(kLength + 8);  // the last word written may extend past the end
  const auto put = [&out](std::size_t at, std::uint64_t word) {
    asm volatile("" : "+r"(word));  // keeps the compiler from turning the words into static data again
    std::memcpy(out.data() + at, &word, sizeof word);
  };
  [&]<std::size_t... kWord>(std::index_sequence<kWord...>) {
    constexpr auto wordAt = [](std::size_t from) {
      std::uint64_t word = 0;
      for (std::size_t i = 0; i < 8 && from + i < kLength; ++i)
        word |= std::uint64_t{static_cast<unsigned char>(kText.letters[from + i])} << (8 * i);
      return word;
    };
    (put(kWord * 8, std::integral_constant<std::uint64_t, wordAt(kWord * 8)>::value), ...);
  }(std::make_index_sequence<(kLength + 7) / 8>());
  out.resize(kLength);
  return out;
}

}  // namespace base
