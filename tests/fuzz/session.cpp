// Kept sessions (what a window or tab stores) of arbitrary bytes: either refused, or a valid board whose
// history can be undone and redone.
#include "document/preset.h"
#include "files/layout/session_store.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const document::State current = *document::preset("i-saw-a-saw");
  static const std::string valid = [] {
    document::Document d(current);
    (void)d.apply(document::SetCells{attention::TensorId::q, 0, 1, 1, 1, 1, {2.5f}});
    (void)d.open(*document::preset("pronoun"), true);
    (void)d.apply(document::SetOption{document::OptionId::tokens, 3.0});
    d.undo();
    return files::SessionStore().write(d, std::size_t{1} << 20);
  }();
  const std::string bytes = fuzz::bytesOrChanged(valid, data, size);
  document::Document d(current);
  if (const auto ok = files::restore(bytes, d); !ok) {
    fuzz::checkSentence(ok.error());
    HOLDS(document::sameBits(d.state(), current));
    return 0;
  }
  HOLDS(document::check(d.state()));
  const std::string again = files::SessionStore().write(d, std::size_t{64} << 20);
  document::Document other(current);
  HOLDS(files::restore(again, other));
  HOLDS(document::sameBits(other.state(), d.state()));
  while (d.undo()) HOLDS(document::check(d.state()));
  return 0;
}
