// The board of a window with its undo history, in a file of its own: kept as it is edited, and there again at the next start,
// whether the window was closed, killed or crashed.
#pragma once

#include <filesystem>
#include <future>
#include <optional>
#include <string>

#include "base/result.h"
#include "document/document.h"
#include "files/keeper.h"

namespace shell {

class KeptSession {
 public:
  /// What a window left.
  struct Found {
    std::string bytes;           ///< of files::Keeper
    std::filesystem::path file;  ///< the file that was open in it, or none
    bool isSaved = false;        ///< is that file as the board was?
  };

  KeptSession() = default;
  KeptSession(const KeptSession&) = delete;
  KeptSession& operator=(const KeptSession&) = delete;
  ~KeptSession();

  /// Takes the newest session that no other window has, or begins a new one. With `file`: only one that has unsaved edits of it;
  /// without `mayTake` none.
  std::optional<Found> open(bool mayTake, const std::filesystem::path& file);
  /// Keeps this document, beside the window's work. Call it once isWriting() is false.
  void keep(const document::Document& document, const std::filesystem::path& file, bool isSaved);
  /// Is what was given last still being written? What became of it is told once by trouble(): a sentence, or "".
  bool isWriting() const;
  std::string trouble();
  /// Waits until all is written.
  void finish();
  /// There is nothing to come back to: what was edited is not wanted.
  void forget();
  /// "…/session-1"; empty where there is no folder for it.
  const std::filesystem::path& path() const { return path_; }

 private:
  bool take(const std::filesystem::path& path);
  void letGo();

  std::filesystem::path path_;
  int lock_ = -1;  ///< held while the window lives, also where it is killed
  files::Keeper keeper_;
  std::future<std::string> writing_;
  std::string trouble_;
};

}  // namespace shell
