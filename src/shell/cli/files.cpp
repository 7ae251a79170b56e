#include "cli/files.h"

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "base/sentence.h"
#include "cli/command.h"
#include "cli/memory.h"
#include "cli/system.h"
#include "files/formats/format.h"
#include "target.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

std::string problem(const std::string& path, const char* what, int error) {
  return path + ": it cannot be " + what + ": " + std::strerror(error) + ".";
}

/// A run that was killed leaves its incomplete file. It is not deleted, because a run on another machine may
/// be writing it.
void sayLeftovers(const fs::path& target) {
  std::error_code none;
  const std::string begin = target.filename().string() + ".part";
  for (const auto& entry :
       fs::directory_iterator(target.has_parent_path() ? target.parent_path() : fs::path("."), none)) {
    const std::string name = entry.path().filename().string();
    const bool isPart = name.starts_with(begin) && name.size() > begin.size() &&
                        name.find_first_not_of("0123456789", begin.size()) == std::string::npos;
    if (!isPart || !hasEnded(std::atol(name.c_str() + begin.size()))) continue;
    std::fprintf(stderr,
                 "attn: %s was left behind by an interrupted run; it is incomplete and can be deleted.\n",
                 base::printable(entry.path().string()).c_str());
  }
}

}  // namespace

std::string readText(const std::string& path, bool isAnything) {
  std::error_code none;
  const bool isStandard = path == "-";
  if (!isStandard && fs::is_directory(path, none))
    throw Failure{kBadData, path + ": it is a folder; name a file in it."};
  struct Closer {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  const std::unique_ptr<std::FILE, Closer> file(isStandard ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) throw Failure{kBadData, problem(path, "read", errno)};
  const std::int64_t free = freeMemory();
  const auto most = static_cast<std::uintmax_t>(free > 0 ? free / 3 : INT64_MAX);
  const bool isRegular = !isStandard && fs::is_regular_file(path, none);
  const std::uintmax_t size = isRegular ? fs::file_size(path, none) : 0;
  std::string text;
  const Failure tooLarge{kBadData, path + ": it does not fit into the free memory; give smaller tensors."};
  if (size > most) throw tooLarge;
  text.reserve(size + 1);
  char piece[1 << 16];
  for (std::size_t count; (count = std::fread(piece, 1, sizeof piece, file.get())) > 0;) {
    text.append(piece, count);
    if (text.size() > most) throw tooLarge;
    // A device may have no end. If its beginning is neither JSON nor, where allowed, another format, no more
    // is needed to refuse it.
    if (isRegular || (isAnything && text.front() != '\0')) continue;
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] != '{' && !(isAnything && files::isSafetensors(text)))
      break;
  }
  if (std::ferror(file.get())) throw Failure{kBadData, problem(path, "read", errno)};
  return text;
}

Output::Output(const std::string& path) : path_(path) {
  if (path.empty() || path == "-") {
    file_ = stdout;
    return;
  }
  std::error_code none;
  if (fs::is_directory(path, none)) throw Failure{kBadData, path + ": it is a folder; name a file in it."};
  const bool isThere = fs::exists(path, none);
  const bool isFile = !isThere || fs::is_regular_file(path, none);
  // A link is kept, and the file that it leads to is replaced. A pipe's link does not lead to a name.
  std::error_code lost;
  target_ = isFile ? shell::targetOf(path, lost) : fs::path(path);
  if (lost) throw Failure{kBadData, problem(path, "written", lost.value())};
  if (isFile) sayLeftovers(target_);
  if (isFile) part_ = target_.string() + ".part" + std::to_string(ownProcess());
  if (isFile && isThere && !mayWrite(target_)) throw Failure{kBadData, problem(path, "written", errno)};
  file_ = isFile ? interrupt_.create(part_) : std::fopen(target_.string().c_str(), "wb");
  if (!file_) {
    part_.clear();
    throw Failure{kBadData, problem(path, "written", errno)};
  }
}

Output::~Output() {
  if (file_ && file_ != stdout) std::fclose(file_);
  std::error_code none;
  if (!part_.empty()) fs::remove(part_, none);
}

void Output::finish(bool isWritten) {
  isWritten = isWritten && std::fflush(file_) == 0 && (part_.empty() || reachDisk(file_));
  int error = errno;
  if (file_ != stdout && std::fclose(std::exchange(file_, nullptr)) != 0 && isWritten)
    isWritten = false, error = errno;
  if (!isWritten)
    throw Failure{kBadData,
                  problem(path_.empty() || path_ == "-" ? "standard output" : path_, "written", error)};
  if (part_.empty()) return;
  std::error_code none;
  if (fs::exists(target_, none)) fs::permissions(part_, fs::status(target_).permissions(), none);
  if (const int failed = renameDurably(part_, target_))
    throw Failure{kBadData, problem(path_, "written", failed)};
  part_.clear();
}

}  // namespace cli
