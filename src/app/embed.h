// What the host page specifies about a playground.
#pragma once

#include <string>

namespace app {

/// The attributes of the custom element.
struct Embed {
  std::string hide;  ///< comma-separated: "share,export,panel,header,inspector,arcs,heads"
  /// comma-separated names of options, tensors and actions that a reader cannot use: "heads,q,reset", "all".
  std::string lock;
  /// comma-separated names of the only tensors and parts to show: "q,k,weights"; empty: all.
  std::string show{};
  bool fit = false;  ///< the page gives it the height that it needs: Screen::heightFor()
};

}  // namespace app
