// Any JSON for any option, as scripts and `--set` pass it: either refused with a sentence without any change,
// or applied, read back as the same value, and undone bit for bit.
#include "document/document.h"
#include "document/preset.h"
#include "document/text.h"
#include "files/layout/tensors_file.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace document;
  static const State start = *preset("i-saw-a-saw");
  Document document(start);
  std::string_view rest = fuzz::text(data, size);
  for (int lines = 0; lines < 12 && !rest.empty(); ++lines) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    (void)files::settingFrom(line);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const Option* option = optionNamed(line.substr(0, equals));
    const auto value = valueFromJson(line.substr(equals + 1), "value");
    if (!value) fuzz::checkSentence(value.error());
    if (option == nullptr || !value) continue;
    const State before = document.state();
    const auto ok = document.apply(SetOption{option->id, *value});
    if (!ok) {
      fuzz::checkSentence(ok.error());
      HOLDS(sameBits(document.state(), before));
      continue;
    }
    HOLDS(check(document.state()));
    // An empty list may be one of numbers or of texts; both are written the same.
    const State set = document.state();
    const Value shown = get(set, option->id);
    const auto again = valueFromJson(toJson(shown), option->name);
    HOLDS(again && toJson(*again) == toJson(shown));
    HOLDS(document.apply(SetOption{option->id, *again}));
    HOLDS(sameBits(document.state(), set));
  }
  while (document.undo()) continue;
  State end = document.state();
  copyView(end, start);
  HOLDS(sameBits(end, start));
  return 0;
}
