#pragma once

#include <csignal>
#include <ctime>

namespace jitbag::cache {

/// While it lives, a write to a connection that the other side has closed is an error in this
/// thread and not the end of the process. The host's own handler and mask are as before after it.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    ::sigemptyset(&sigpipe_);
    ::sigaddset(&sigpipe_, SIGPIPE);
    sigset_t pending;
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    constexpr timespec no_time{};
    if (!was_pending_) ::sigtimedwait(&sigpipe_, nullptr, &no_time);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

}  // namespace jitbag::cache
