// Text pasted into the board: printed tensors, lists, dictionaries.
#include "files/layout/opener.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  files::Opener opener;
  const files::Result<files::Opened> opened = opener.paste(fuzz::text(data, size));
  if (!opened) return fuzz::checkSentence(opened.error()), 0;
  if (opened->kind == files::Opened::Kind::state) HOLDS(document::check(opened->state));
  return 0;
}
