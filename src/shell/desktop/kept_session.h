// The board of a window with its undo history, stored in its own file while it is edited, and restored at the
// next start, whether the window was closed, killed or crashed.
#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <string>

#include "base/result.h"
#include "document/document.h"
#include "files/layout/session_store.h"

namespace shell {

class KeptSession {
 public:
  /// A session left by a window.
  struct Found {
    std::string bytes;           ///< written by files::SessionStore
    std::filesystem::path file;  ///< the file that was open, if any
    bool isSaved = false;        ///< did that file contain the board as it was?
  };

  KeptSession() = default;
  KeptSession(const KeptSession&) = delete;
  KeptSession& operator=(const KeptSession&) = delete;
  ~KeptSession();

  /// Takes the newest session that is not in use by another window, or begins a new one. With `file`, only a
  /// session with unsaved edits of that file; if `mayTake` is false, none.
  std::optional<Found> open(bool mayTake, const std::filesystem::path& file);
  /// Stores the document in the background. Must only be called when isWriting() is false.
  void keep(const document::Document& document, const std::filesystem::path& file, bool isSaved);
  /// Is the last document still being written? trouble() returns the result once: an error sentence, or
  /// nothing.
  bool isWriting() const;
  base::Message trouble();
  /// Waits until everything has been written.
  void finish();
  /// Discards the session: the edits are not wanted.
  void forget();
  /// "…/session-1"; empty if there is no folder for it.
  const std::filesystem::path& path() const { return path_; }

 private:
  bool take(const std::filesystem::path& path);
  void letGo();

  std::filesystem::path path_;
  int lock_ = -1;  ///< a lock held during the lifetime of the process, even if that is killed
  files::SessionStore store_;
  std::future<base::Message> writing_;
  base::Message trouble_;
};

}  // namespace shell
