#include "shell/desktop/kept_session.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "document/json.h"
#include "document/text.h"
#include "shell/desktop/file.h"
#include "shell/desktop/shell_place.h"

namespace shell {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStem = "session-", kMagic = "attention window 1\n";
constexpr int kMostSessions = 100;
constexpr std::size_t kMostBytes = std::size_t{64} << 20, kMostRead = std::size_t{256} << 20;
constexpr std::chrono::hours kLongest{24 * 30};  // after which an unused session is deleted

fs::path lockOf(const fs::path& session) { return session.string() + ".lock"; }

/// All existing sessions, newest first.
std::vector<std::pair<fs::file_time_type, fs::path>> sessions() {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code wrong;
  for (fs::directory_iterator at(stateFolder(), wrong), end; !wrong && at != end; at.increment(wrong)) {
    std::error_code none;
    const bool isOne = at->path().filename().string().starts_with(kStem) && !at->path().has_extension() &&
                       at->is_regular_file(none);
    if (const auto written = at->last_write_time(none); isOne && !none)
      found.emplace_back(written, at->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

/// The first line is the file that was open, the second says whether it was saved.
std::string headOf(const fs::path& file, bool isSaved) {
  return std::string(kMagic) + document::jsonQuoted(file.string()) + (isSaved ? "\nsaved\n" : "\nunsaved\n");
}

std::optional<KeptSession::Found> read(const fs::path& path) {
  auto text = readFile(path, kMostRead);
  if (!text || !text->starts_with(kMagic)) return std::nullopt;
  const std::size_t name = kMagic.size(), saved = text->find('\n', name) + 1,
                    bytes = text->find('\n', saved) + 1;
  if (saved == 0 || bytes == 0) return std::nullopt;
  const auto file = document::valueFromJson(std::string_view(*text).substr(name, saved - 1 - name), "file");
  const std::string* words = file ? std::get_if<std::string>(&*file) : nullptr;
  if (words == nullptr) return std::nullopt;
  const bool isSaved = text->compare(saved, bytes - saved, "saved\n") == 0;
  fs::path place = *words;
  text->erase(0, bytes);
  return KeptSession::Found{std::move(*text), std::move(place), isSaved};
}

}  // namespace

KeptSession::~KeptSession() {
  finish();
  letGo();
}

// The lock is a separate file, because the session's file is replaced whenever it is written.
bool KeptSession::take(const fs::path& path) {
  const std::string name = lockOf(path);
  const int lock = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat held{}, there{};
  const bool isOurs = lock >= 0 && ::flock(lock, LOCK_EX | LOCK_NB) == 0 && ::fstat(lock, &held) == 0 &&
                      ::stat(name.c_str(), &there) == 0 && held.st_ino == there.st_ino;
  if (!isOurs) {
    if (lock >= 0) ::close(lock);
    return false;
  }
  letGo();
  path_ = path, lock_ = lock;
  return true;
}

void KeptSession::letGo() {
  if (lock_ < 0) return;
  ::unlink(lockOf(path_).c_str());
  ::close(std::exchange(lock_, -1));
}

std::optional<KeptSession::Found> KeptSession::open(bool mayTake, const fs::path& file) {
  const fs::path folder = stateFolder();
  if (folder.empty()) return std::nullopt;
  std::error_code none;
  fs::create_directories(folder, none);  // a failure will be reported when writing
  std::optional<Found> found;
  for (const auto& [written, path] : sessions()) {
    if (!take(path)) continue;
    if (fs::file_time_type::clock::now() - written > kLongest) {
      fs::remove(path, none);
      continue;
    }
    found = mayTake ? read(path) : std::nullopt;
    if (found && (file.empty() || (found->file == file && !found->isSaved))) return found;
    found.reset();
  }
  for (int i = 1; i <= kMostSessions; ++i) {
    const fs::path path = folder / (std::string(kStem) + std::to_string(i));
    if (!fs::exists(path, none) && take(path)) return found;
  }
  letGo();
  path_.clear();
  return found;
}

void KeptSession::keep(const document::Document& document, const fs::path& file, bool isSaved) {
  if (path_.empty()) return;
  finish();
  writing_ = std::async(std::launch::async, [this, copy = document, head = headOf(file, isSaved)] {
    const auto done = writeFile(path_, store_.write(copy, kMostBytes, head));
    return done ? base::Message() : done.error().said();
  });
}

bool KeptSession::isWriting() const {
  return writing_.valid() && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
}

base::Message KeptSession::trouble() {
  if (!isWriting()) finish();
  return std::exchange(trouble_, {});
}

void KeptSession::finish() {
  if (!writing_.valid()) return;
  if (base::Message said = writing_.get(); !said.empty()) trouble_ = std::move(said);
}

void KeptSession::forget() {
  finish();
  std::error_code none;
  if (!path_.empty()) fs::remove(path_, none);
}

}  // namespace shell
