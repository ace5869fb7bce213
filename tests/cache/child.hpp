#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <stdexcept>
#include <utility>

namespace jitbag::test {

/// A forked process that does some work; killed with its owner if it still lives.
class Child {
 public:
  explicit Child(const std::function<int()>& work) : process_(::fork()) {
    if (process_ < 0) throw std::runtime_error("fork failed");
    if (process_ > 0) return;
    int status = 99;
    try {
      status = work();
    } catch (...) {
    }
    ::_exit(status);
  }
  Child(Child&& other) noexcept : process_(std::exchange(other.process_, -1)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (process_ < 0) return;
    signal(SIGKILL);
    static_cast<void>(wait());
  }

  void signal(int number) const { ::kill(process_, number); }

  /// Its exit status, or 128 and the signal that ended it.
  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t process_;
};

/// Lets one process wait for another.
class Gate {
 public:
  Gate() {
    if (::pipe(ends_.data()) != 0) throw std::runtime_error("pipe failed");
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    for (const int end : ends_) ::close(end);
  }

  /// Lets one waiter through.
  void open() const {
    const char any = 0;
    if (::write(ends_[1], &any, 1) != 1) throw std::runtime_error("the pipe broke");
  }
  /// False when nobody opened it for so long that nobody will.
  [[nodiscard]] bool wait() const {
    constexpr int forever_ms = 60000;
    pollfd end{ends_[0], POLLIN, 0};
    char any = 0;
    return ::poll(&end, 1, forever_ms) == 1 && ::read(ends_[0], &any, 1) == 1;
  }

 private:
  std::array<int, 2> ends_{};
};

/// Goes on as a user who is not root, so that mode bits count.
inline void become_nobody() {
  constexpr unsigned nobody = 65534;
  if (::geteuid() != 0) return;
  if (::setgid(nobody) != 0 || ::setuid(nobody) != 0) throw std::runtime_error("setuid failed");
}

}  // namespace jitbag::test
