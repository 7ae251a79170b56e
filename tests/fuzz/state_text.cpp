// State text and tensors files as the board reads them: either refused with a sentence, or valid and
// unchanged after a round trip.
#include "document/preset.h"
#include "document/text.h"
#include "files/layout/read.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace document;
  static const State current = *preset("i-saw-a-saw");
  const auto state = files::readState(fuzz::text(data, size), current);
  if (!state) {
    fuzz::checkSentence(state.error());
    return 0;
  }
  HOLDS(check(*state));
  const std::string once = toText(*state);
  HOLDS(once.size() <= kMaxTextBytes);
  const auto again = files::readState(once, current);
  HOLDS(again);
  HOLDS(sameBits(*again, *state));
  HOLDS(toText(*again) == once);
  return 0;
}
