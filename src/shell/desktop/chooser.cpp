#include "shell/desktop/chooser.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>
#include <vector>

#include "files/formats/format.h"

extern char** environ;

namespace shell {
namespace {

std::string programNamed(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string found = folders.substr(begin, end - begin) + "/" + name;
    if (end > begin && ::access(found.c_str(), X_OK) == 0) return found;
    begin = end + 1;
  }
  return "";
}

std::vector<std::string> commandFor(Chooser::Purpose purpose, const std::string& path) {
  const bool saves = purpose == Chooser::Purpose::save;
  const std::string kinds = files::formatPatterns();
  if (const std::string zenity = programNamed("zenity"); !zenity.empty()) {
    std::vector<std::string> words{zenity, "--file-selection", "--title=Attention Playground",
                                   "--filename=" + path};
    if (saves) words.insert(words.end(), {"--save", "--confirm-overwrite"});
    else
      words.insert(words.end(),
                   {"--file-filter=Tensors and states | " + kinds, "--file-filter=All files | *"});
    return words;
  }
  if (const std::string kdialog = programNamed("kdialog"); !kdialog.empty())
    return {kdialog, saves ? "--getsavefilename" : "--getopenfilename", path,
            "Tensors and states (" + kinds + ")"};
  if (const std::string script = programNamed("osascript"); !script.empty())
    return {script, "-e",
            saves ? "POSIX path of (choose file name default name \"" +
                        std::filesystem::path(path).filename().string() + "\")"
                  : "POSIX path of (choose file)"};
  return {};
}

}  // namespace

struct Chooser::Shared {
  std::atomic<bool> isDone = false;
  std::string path;  ///< valid once isDone is set
  pid_t program = 0;
};

Chooser::~Chooser() {
  if (shared_ && !shared_->isDone) ::kill(shared_->program, SIGTERM);
}

bool Chooser::show(Purpose purpose, const std::string& path, void (*wake)()) {
  if (shared_) return false;
  std::vector<std::string> words = commandFor(purpose, path);
  int ends[2];
  if (words.empty() || ::pipe2(ends, O_CLOEXEC) != 0) return false;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  auto shared = std::make_shared<Shared>();
  const int failed =
      ::posix_spawn(&shared->program, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed != 0) return ::close(ends[0]), false;
  shared_ = shared, purpose_ = purpose;
  // The dialog may be open for hours, so a detached thread waits for it.
  std::thread([shared, from = ends[0], wake] {
    std::string answer;
    char block[4096];
    for (;;) {
      const ssize_t count = ::read(from, block, sizeof block);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      answer.append(block, static_cast<std::size_t>(count));
    }
    ::close(from);
    int status = 0;
    while (::waitpid(shared->program, &status, 0) < 0 && errno == EINTR) {}
    while (answer.ends_with('\n')) answer.pop_back();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) shared->path = answer;
    shared->isDone = true;
    wake();
  }).detach();
  return true;
}

std::optional<Chooser::Answer> Chooser::take() {
  if (!shared_ || !shared_->isDone) return std::nullopt;
  const Answer answer{purpose_, shared_->path};
  shared_.reset();
  return answer;
}

}  // namespace shell
