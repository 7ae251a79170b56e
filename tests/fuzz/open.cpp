// Files of any format, opened as on the board including the form: either refused with a sentence, or opened
// as a valid state.
#include "files/layout/opener.h"
#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::string_view kNames[] = {"t.npz",  "t.npy", "t.safetensors", "t.csv", "t.tsv",
                                                "t.json", "t",     "weights.npz"};
  fuzz::Bytes bytes(data, size);
  const std::string_view name = kNames[static_cast<std::size_t>(bytes.below(8))];
  const int choice = bytes.byte();
  files::Opener opener;
  files::Result<files::Opened> opened = opener.open(bytes.rest(), name);
  // Three answers are enough for all fields: after each of them the form is asked for again.
  for (int i = 0; opened && opened->kind == files::Opened::Kind::form && i < 3; ++i) {
    document::Choices choices;
    for (const document::Field& field : opened->form.fields) {
      if (!field.choices.empty())
        choices.emplace_back(field.name, (choice + i) % static_cast<int>(field.choices.size()));
    }
    opened = opener.choose(document::toLines(choices, i == 2));
  }
  if (!opened) return fuzz::checkSentence(opened.error()), 0;
  if (opened->kind == files::Opened::Kind::state) HOLDS(document::check(opened->state));
  return 0;
}
