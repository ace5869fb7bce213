#pragma once

#include <csignal>

namespace jitbag::tools {

/// While it lives, Ctrl-C (SIGINT) is counted instead of ending the process. One at a time.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  /// How often Ctrl-C was pressed.
  [[nodiscard]] int count() const noexcept;

 private:
  struct sigaction before_ {};
};

}  // namespace jitbag::tools
