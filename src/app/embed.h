// What the page around a playground decides about it.
#pragma once

#include <string>

namespace app {

/// What the host page may switch off, as attributes of the custom element.
struct Embed {
  std::string hide;  ///< comma-separated: "share,export,panel,header,inspector,arcs,heads"
  std::string lock;  ///< comma-separated names of options, tensors and actions that a reader cannot change or do: "heads,q,reset", "all"
  std::string show{};  ///< comma-separated tensors and parts that are laid out, and nothing else: "q,k,weights"; empty: all
  bool fit = false;    ///< the page gives it the height that it takes: Screen::heightFor()
};

}  // namespace app
