// What those need to know who put a fault right: a text that the user copies. Nothing is sent.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "app/host.h"

namespace shell {

class Report {
 public:
  /// Keeps the last errors.
  void note(const app::Event& event);
  /// Version, system, kernel, those errors, and the state, which is given as its text.
  std::string text(std::string_view state) const;

 private:
  std::deque<std::string> errors_;  ///< the details of their events
};

}  // namespace shell
