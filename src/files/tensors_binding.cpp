// All tensors of a state, for the Python package where no `attn` is built for the machine; it calls these
// functions in WebAssembly. What they give is what `attn convert` writes. Only compiled into that module.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/sentence.h"
#include "files/formats/format.h"
#include "files/layout/match.h"
#include "files/layout/read_layer.h"
#include "files/layout/state_tensors.h"

namespace {

/// What a call gave: a file, or a sentence.
struct Answer {
  const char* bytes = nullptr;
  std::size_t size = 0;
  int isFile = 0;
};

/// The tensors with these names, separated by commas, as .npz.
base::Result<std::string> tensorsOf(std::string_view text, std::string_view names) {
  std::size_t heading = 0;
  const auto state = files::readLayer(text, files::Format::json, "tensor", "", heading);
  if (!state) return state.error();
  const auto all = files::tensorsOfState(*state);
  if (!all) return all.error();
  files::StoredFile file;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find(','));
    names.remove_prefix(std::min(name.size() + 1, names.size()));
    const auto found = std::find_if(all->tensors.begin(), all->tensors.end(),
                                    [&](const files::Stored& one) { return one.name == name; });
    if (found == all->tensors.end())
      return base::Error{.field = "", .sentence = base::inQuotes(name) + " is none of its tensors."};
    auto whole = files::plain(*found);
    if (!whole) return whole.error();
    file.tensors.push_back(std::move(*whole));
  }
  std::string bytes;
  files::writeFile(file, files::Format::npz, [&](std::string_view piece) {
    bytes.append(piece);
    return true;
  });
  return bytes;
}

}  // namespace

extern "C" {

__attribute__((export_name("alloc"))) void* tensorsAlloc(std::size_t bytes) { return std::malloc(bytes); }
__attribute__((export_name("free"))) void tensorsFree(void* memory) { std::free(memory); }

/// The answer stands until the next call.
__attribute__((export_name("tensors"))) const Answer* tensorsOfText(const char* text, std::size_t size,
                                                                    const char* names,
                                                                    std::size_t namesSize) {
  static std::string kept;
  static Answer answer;
  auto made = tensorsOf({text, size}, {names, namesSize});
  const bool isFile = static_cast<bool>(made);
  kept = isFile ? std::move(*made) : made.error().message();
  answer = {kept.data(), kept.size(), isFile ? 1 : 0};
  return &answer;
}
}
