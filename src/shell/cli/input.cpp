#include "cli/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "cli/files.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

files::Format formatNamed(const std::string& argument, const std::string& path) {
  const std::optional<files::Format> format = files::formatOf(path);
  if (!format) throw Failure{kWrongUse, argument + " " + path + ": the name does not end in " + files::formatList() + "; use one of these."};
  return *format;
}

}  // namespace

Input::Input(const std::string& argument, const std::string& path) : path_(path) {
  const bool isStandard = path == "-";
  if (!isStandard) format_ = formatNamed(argument, path);
  // JSON is read once from beginning to end, so mapping would gain nothing.
  struct stat about {};
  const bool isMapped = !isStandard && format_ != files::Format::json && stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
  if (isMapped) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
      void* const map = mmap(nullptr, static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (map != MAP_FAILED) map_ = map, bytes_ = {static_cast<const char*>(map), static_cast<std::size_t>(about.st_size)};
    }
    if (file >= 0) close(file);
  }
  if (!map_) text_ = readText(path, isStandard || format_ != files::Format::json), bytes_ = text_;
  if (isStandard) path_ = "standard input", format_ = files::formatOfBytes(bytes_);
}

Input::~Input() {
  if (map_) munmap(map_, bytes_.size());
}

std::string Input::stem() const { return path_ == "standard input" ? "tensor" : fs::path(path_).stem().string(); }

std::string Input::takeText() {
  std::string text = map_ ? std::string(bytes_) : std::move(text_);
  if (!map_) bytes_ = {};
  return text;
}

files::Format formatToWrite(const std::string& argument, const std::string& path) {
  if (path.empty() || path == "-") return files::Format::json;
  if (fs::path(path).parent_path() == "/dev" && !files::formatOf(path)) return files::Format::json;
  return formatNamed(argument, path);
}

}  // namespace cli
