// Removes an incomplete file when the program is terminated by a signal.
#pragma once

#include <unistd.h>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace shell {

/// During the lifetime of this object, SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the file, and then
/// terminate the program as usual. Signals that are ignored, as under nohup, stay ignored. Only one object
/// may exist at a time, because a signal handler can only access global data.
class RemovedOnSignal {
 public:
  RemovedOnSignal() {
    for (int i = 0; i < kSignals; ++i) {
      struct sigaction action{};
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

  /// Creates a new file and registers it before any signal can arrive; null if it cannot be created.
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

  struct sigaction before_[kSignals]{};
};

}  // namespace shell
