// Packed states, as the page's file reader passes them on: refused, by the reader or by the check of the
// document that opens them, or packed again to the same bytes.
#include "files/layout/packed.h"
#include "document/preset.h"
#include "document/text.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const document::State current = *document::preset("i-saw-a-saw");
  static const std::string valid = files::packed(current);
  const std::string bytes = fuzz::bytesOrChanged(valid, data, size);
  if (const auto tensors = files::unpackedTensors(bytes); !tensors) fuzz::checkSentence(tensors.error());
  const auto state = files::unpacked(bytes, current);
  if (!state) return fuzz::checkSentence(state.error()), 0;
  if (const auto ok = document::check(*state); !ok) return fuzz::checkSentence(ok.error()), 0;
  const auto again = files::unpacked(files::packed(*state), current);
  HOLDS(again);
  HOLDS(document::sameBits(*again, *state));
  return 0;
}
