// The desktop's dialogs for files. They are programs of their own (zenity, kdialog, osascript), so that no toolkit is linked.
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
  /// Shows one; false where there is no such program, or one is shown already. `path` is where it begins. `wake` is called, from another thread, once
  /// the user has chosen.
  bool show(Purpose purpose, const std::string& path, void (*wake)());
  /// What was chosen since; "" where the dialog was closed.
  struct Answer {
    Purpose purpose = Purpose::open;
    std::string path;
  };
  std::optional<Answer> take();

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;  ///< with the thread that waits
  Purpose purpose_ = Purpose::open;
};

}  // namespace shell
