#include "shell/desktop/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "shell/replace.h"
#include "shell/target.h"

namespace shell {
namespace {

using base::Error;
using base::Result;

Error failure(const char* what, const std::filesystem::path& path, const std::string& reason) {
  return {Error::Kind::range, "", {what, " ", path.string(), ": ", reason, "."}};
}

Error failure(const char* what, const std::filesystem::path& path, int error) {
  return failure(what, path, std::error_code(error, std::generic_category()).message());
}

/// An open file descriptor, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  /// Closes it, and returns whether everything was written. To be called once.
  bool close() { return ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

bool writeAll(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// Writes into a device or a pipe, which cannot be replaced by a file.
Result<void> writeInto(const std::filesystem::path& path, std::string_view content) {
  Descriptor file(::open(path.c_str(),
                         O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));  // fails for a pipe without a reader
  if (!file)
    return failure(
        "Cannot write", path,
        errno == ENXIO ? "nobody reads from it" : std::error_code(errno, std::generic_category()).message());
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) & ~O_NONBLOCK);
  if (!writeAll(file.get(), content) || !file.close()) return failure("Cannot write", path, errno);
  return {};
}

mode_t modeOfNewFiles() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

/// Writes a new file in the folder of `target` and renames it to that. `old` describes the existing file, or
/// is null.
int replaceFile(const std::filesystem::path& target, std::string_view content, const struct stat* old) {
  std::string part = (target.parent_path() / ".attention-XXXXXX").string();
  Descriptor file(
      ::mkostemp(part.data(), O_CLOEXEC));  // never opens an existing file, and never follows a link
  if (!file) return errno;
  // Users who may not change the owner become the owner, as with any editor.
  const bool owned = old != nullptr && ::fchown(file.get(), old->st_uid, old->st_gid) == 0;
  const mode_t mode = old == nullptr ? modeOfNewFiles() : old->st_mode & (owned ? 07777 : 0777);
  int error = 0;
  if (::fchmod(file.get(), mode) != 0 || !writeAll(file.get(), content) || ::fsync(file.get()) != 0)
    error = errno;
  if (!file.close() && error == 0) error = errno;
  if (error == 0) error = renameDurably(part, target);
  if (error != 0) ::unlink(part.c_str());
  return error;
}

}  // namespace

base::Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit) {
  // Without O_NONBLOCK, opening a pipe without a writer would block.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file) return failure("Cannot read", path, errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failure("Cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) return failure("Cannot read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return failure("Cannot read", path, "it is a pipe or a device; give a file");
  std::string text;
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.get(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("Cannot read", path, errno);
    if (count == 0) return text;
    text.append(block, static_cast<std::size_t>(count));
    if (text.size() > limit)
      return Error{
          Error::Kind::memory, "",
          base::message({path.string(), " is larger than ", limit >> 20, " MiB, the most that is read."})};
  }
}

MappedFile::~MappedFile() {
  if (map_ != nullptr) ::munmap(map_, size_);
}

Result<void> MappedFile::open(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) return failure("Cannot read", path, errno);
  if (S_ISDIR(status.st_mode)) return failure("Cannot read", path, EISDIR);
  if (!S_ISREG(status.st_mode)) return failure("Cannot read", path, "it is a pipe or a device; give a file");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const map = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (map == MAP_FAILED) return failure("Cannot read", path, errno);
  if (map_ != nullptr) ::munmap(map_, size_);
  map_ = map, size_ = size;
  return {};
}

Result<void> writeFile(const std::filesystem::path& path, std::string_view content) {
  // Follows links, so that they remain; those in /dev may lead to objects without a name, such as pipes.
  struct stat status{};
  const bool isThere = ::stat(path.c_str(), &status) == 0;
  if (isThere && S_ISDIR(status.st_mode)) return failure("Cannot write", path, EISDIR);
  if (isThere && (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode))) return writeInto(path, content);
  if (isThere && !S_ISREG(status.st_mode)) return failure("Cannot write", path, "it is no file");
  // An administrator could write it, but a read-only file is meant not to change.
  if (isThere && ((status.st_mode & 0222) == 0 || ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0))
    return failure("Cannot write", path, "it is read-only; save under another name, or allow writing");
  std::error_code lost;
  const std::filesystem::path target = targetOf(path, lost);
  if (const int error = lost ? lost.value() : replaceFile(target, content, isThere ? &status : nullptr))
    return failure("Cannot write", path, error);
  return {};
}

std::filesystem::path freeName(const std::filesystem::path& path) {
  std::error_code none;
  std::filesystem::path name = path;
  for (int i = 1; std::filesystem::exists(std::filesystem::symlink_status(name, none)); ++i) {
    name = path.parent_path() / path.stem();
    name += "-" + std::to_string(i);
    name += path.extension();
  }
  return name;
}

}  // namespace shell
