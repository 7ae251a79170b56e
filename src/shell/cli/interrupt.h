// A file that is not whole yet goes when the program is told to end.
#pragma once

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>
#include <unistd.h>

namespace shell {

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the file and then end the program as they always do. A signal
/// that is ignored, as under nohup, stays so. One at a time: a handler can know of a file only by a global name.
class RemovedOnSignal {
 public:
  RemovedOnSignal() {
    for (int i = 0; i < kSignals; ++i) {
      struct sigaction action {};
      action.sa_handler = &RemovedOnSignal::handle;
      sigaction(signals()[i], nullptr, &before_[i]);
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals()[i], &action, nullptr);
    }
  }
  RemovedOnSignal(const RemovedOnSignal&) = delete;
  RemovedOnSignal& operator=(const RemovedOnSignal&) = delete;
  ~RemovedOnSignal() {
    path()[0] = '\0';
    for (int i = 0; i < kSignals; ++i)
      if (before_[i].sa_handler != SIG_IGN) sigaction(signals()[i], &before_[i], nullptr);
  }

  /// Makes a new file and knows of it before any signal comes; null where it cannot be made.
  std::FILE* create(const std::string& name) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &old);
    std::FILE* file = name.size() < PATH_MAX ? std::fopen(name.c_str(), "wbx") : nullptr;
    const int error = errno;
    if (file) std::memcpy(path(), name.c_str(), name.size() + 1);
    sigprocmask(SIG_SETMASK, &old, nullptr);
    errno = error;
    return file;
  }

 private:
  static constexpr int kSignals = 4;
  static const int* signals() {
    static constexpr int all[kSignals] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    return all;
  }
  static char* path() {
    static char name[PATH_MAX];
    return name;
  }
  static void handle(int signal) {
    if (path()[0] != '\0') unlink(path());
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }

  struct sigaction before_[kSignals] {};
};

}  // namespace shell
