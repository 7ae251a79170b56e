#include "files/layout/held_bytes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "document/difference.h"

namespace files {
namespace {

constexpr std::size_t kLeast = std::size_t{64} << 10;  // of fewer bytes there is nothing to gain
constexpr std::size_t kLeastNumbers = 256;             // in a row, wherever they begin
constexpr std::size_t kAtOnce = 4096;                  // numbers that are handed over as one piece

float numberAt(const char* bytes) {
  float number;
  std::memcpy(&number, bytes, sizeof number);
  return number;
}

/// How many numbers from there on are hundredths, bit for bit.
std::size_t hundredthsFrom(std::string_view bytes) {
  std::size_t count = 0;
  for (; (count + 1) * sizeof(float) <= bytes.size(); ++count)
    if (!document::isHundredth(numberAt(bytes.data() + count * sizeof(float)))) break;
  return count;
}

}  // namespace

HeldBytes::HeldBytes(std::string bytes) {
  std::vector<Run> runs;
  std::size_t all = 0, plain = 0;
  for (std::size_t at = 0; bytes.size() >= kLeast && at < bytes.size();) {
    const std::size_t numbers = hundredthsFrom(std::string_view(bytes).substr(at));
    if (numbers < kLeastNumbers) ++at, ++plain;
    else runs.push_back({std::exchange(plain, 0), numbers}), at += numbers * sizeof(float), all += numbers;
  }
  if (all * sizeof(float) < bytes.size() / 2) {
    const bool isTight = bytes.capacity() < 2 * bytes.size();
    plain_ = isTight ? std::move(bytes) : std::string(bytes);
    return;
  }
  numbers_.reserve(all), plain_.reserve(bytes.size() - all * sizeof(float));
  const char* from = bytes.data();
  for (const Run& run : runs) {
    plain_.append(from, run.plain), from += run.plain;
    for (std::size_t i = 0; i < run.numbers; ++i, from += sizeof(float))
      numbers_.push_back(document::hundredthsIn(numberAt(from)));
  }
  plain_.append(std::string_view(bytes).substr(static_cast<std::size_t>(from - bytes.data())));
  runs_ = std::move(runs);
}

void HeldBytes::put(const std::function<void(std::string_view)>& to) const {
  std::string_view plain = plain_;
  const std::int16_t* next = numbers_.data();
  std::vector<float> piece;
  for (const Run& run : runs_) {
    to(plain.substr(0, run.plain)), plain.remove_prefix(run.plain);
    for (const std::int16_t* const end = next + run.numbers; next < end;) {
      piece.resize(std::min<std::size_t>(kAtOnce, static_cast<std::size_t>(end - next)));
      for (float& number : piece) number = document::hundredth(*next++);
      to({reinterpret_cast<const char*>(piece.data()), piece.size() * sizeof(float)});
    }
  }
  to(plain);
}

std::string HeldBytes::text() const {
  std::string out;
  out.reserve(size());
  put([&out](std::string_view piece) { out += piece; });
  return out;
}

}  // namespace files
