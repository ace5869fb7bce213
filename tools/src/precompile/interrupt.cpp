#include "precompile/interrupt.hpp"

namespace jitbag::tools {
namespace {

volatile std::sig_atomic_t interrupts = 0;

void count_interrupt(int /*signal*/) {
  interrupts = interrupts + 1;
}

}  // namespace

Interrupt::Interrupt() {
  interrupts = 0;
  struct sigaction action {};
  action.sa_handler = count_interrupt;  // without SA_RESTART: it ends the wait in poll()
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_, nullptr);
}

int Interrupt::count() const noexcept {
  return interrupts;
}

}  // namespace jitbag::tools
