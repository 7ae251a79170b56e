// Work that is done in slices: a coroutine that pauses where it may be left alone for a while.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

namespace base {

/// The work of a function that returns it, and pauses with `co_yield` after each part: how many parts are
/// done, and of how many. Nothing is done before the first call of next(). What its parameters refer to must
/// outlive it; destroying it ends the work where it is.
class Slices {
 public:
  struct Progress {
    int done = 0, total = 0;
  };

  struct promise_type {
    Progress progress;

    Slices get_return_object() { return Slices(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Progress now) noexcept { return progress = now, std::suspend_always(); }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };

  Slices() = default;
  Slices(Slices&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Slices& operator=(Slices&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Slices() {
    if (handle_) handle_.destroy();
  }

  /// Does the next part; returns whether there are more.
  bool next() {
    if (handle_ && !handle_.done()) handle_.resume();
    return handle_ && !handle_.done();
  }
  /// Does all that is left.
  void finish() {
    while (next()) {}
  }
  Progress progress() const { return handle_ ? handle_.promise().progress : Progress(); }

 private:
  using Handle = std::coroutine_handle<promise_type>;
  explicit Slices(Handle handle) : handle_(handle) {}

  Handle handle_;
};

}  // namespace base
