#include "shell/file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace shell {
namespace {

using attention::Error;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

Error failure(const char* what, const std::filesystem::path& path, const std::error_code& reason) {
  return {Error::Kind::range, "file", std::string(what) + " " + path.string() + ": " + reason.message() + "."};
}

std::error_code lastError() { return {errno, std::generic_category()}; }

}  // namespace

attention::Result<std::string> readFile(const std::filesystem::path& path, std::size_t limit) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none))
    return failure("Cannot read", path, std::make_error_code(std::errc::is_a_directory));
  const File file(std::fopen(path.string().c_str(), "rb"));
  if (!file) return failure("Cannot read", path, lastError());
  std::string text;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, count);
    if (text.size() > limit)
      return Error{Error::Kind::memory, "file",
                   path.string() + " is larger than " + std::to_string(limit >> 20) + " MiB, the most that is read."};
  }
  if (std::ferror(file.get()) != 0) return failure("Cannot read", path, lastError());
  return text;
}

attention::Check writeFile(const std::filesystem::path& path, std::string_view content) {
  std::error_code wrong, none;
  // Through a link, so that the link stays one.
  const std::filesystem::path target = std::filesystem::exists(path, none) ? std::filesystem::canonical(path, none) : path;
  std::filesystem::path part = target;
  part += ".part";
  File file(std::fopen(part.string().c_str(), "wb"));
  if (!file) return failure("Cannot write", path, lastError());
  if (std::fwrite(content.data(), 1, content.size(), file.get()) != content.size()) wrong = lastError();
  if (std::fclose(file.release()) != 0 && !wrong) wrong = lastError();
  if (!wrong) std::filesystem::rename(part, target, wrong);
  if (!wrong) return std::nullopt;
  std::filesystem::remove(part, none);
  return failure("Cannot write", path, wrong);
}

std::filesystem::path freeName(const std::filesystem::path& path) {
  std::error_code none;
  std::filesystem::path name = path;
  for (int i = 1; std::filesystem::exists(name, none); ++i) {
    name = path.parent_path() / path.stem();
    name += "-" + std::to_string(i);
    name += path.extension();
  }
  return name;
}

}  // namespace shell
