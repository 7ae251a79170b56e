// Native file dialogs, shown by separate programs (zenity, kdialog, osascript), so that no GUI toolkit is
// linked.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace shell {

class Chooser {
 public:
  Chooser() = default;
  Chooser(const Chooser&) = delete;
  Chooser& operator=(const Chooser&) = delete;
  ~Chooser();

  enum class Purpose { open, save };
  /// Shows a dialog, starting at `path`. False if there is no such program, or a dialog is already shown.
  /// `wake` is called from another thread once the user has made a choice.
  bool show(Purpose purpose, const std::string& path, void (*wake)());
  /// The choice since the last call; "" if the dialog was closed.
  struct Answer {
    Purpose purpose = Purpose::open;
    std::string path;
  };
  std::optional<Answer> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< shared with the waiting thread
  Purpose purpose_ = Purpose::open;
};

}  // namespace shell
