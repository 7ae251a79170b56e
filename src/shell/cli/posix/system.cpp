#include "cli/system.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "replace.h"

namespace cli {

void startStreams() {}

long ownProcess() { return static_cast<long>(getpid()); }
bool hasEnded(long process) { return ::kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH; }

bool mayWrite(const std::filesystem::path& file) { return access(file.c_str(), W_OK) == 0; }

bool reachDisk(std::FILE* file) { return ::fsync(fileno(file)) == 0; }

int renameDurably(const std::string& part, const std::filesystem::path& target) {
  return shell::renameDurably(part, target);
}

std::string_view mapped(const std::string& path) {
  struct stat about{};  // asked before it is opened, because opening a pipe waits
  if (stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode) || about.st_size <= 0) return {};
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string_view bytes;
  if (fstat(file, &about) == 0 && about.st_size > 0) {
    const auto size = static_cast<std::size_t>(about.st_size);
    void* const map = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (map != MAP_FAILED) bytes = {static_cast<const char*>(map), size};
  }
  close(file);
  return bytes;
}

void unmap(std::string_view bytes) { munmap(const_cast<char*>(bytes.data()), bytes.size()); }

}  // namespace cli
