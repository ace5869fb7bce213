#include "fiber_stacks.hpp"

#include <sys/mman.h>

#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace jitbag::test {
namespace {

constexpr std::size_t stack_bytes = std::size_t{256} * 1024;
constexpr std::size_t guard_bytes = 4096;

/// A fiber's first functions never return, so what the address sanitizer noted of their frames
/// would stay, and be held against whatever lies there next.
void forget_frames([[maybe_unused]] std::byte* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __asan_unpoison_memory_region(memory, bytes);
#endif
}

}  // namespace

FiberStacks::FiberStacks(int threads) {
  const std::size_t bytes = static_cast<std::size_t>(threads) * stack_bytes;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  memory_ = {static_cast<std::byte*>(memory), Unmap{bytes}};
  for (int thread = 0; thread < threads; ++thread) {
    ::mprotect(bottom(thread) - guard_bytes, guard_bytes, PROT_NONE);
  }
}

void FiberStacks::Unmap::operator()(std::byte* memory) const {
  forget_frames(memory, bytes);
  ::munmap(memory, bytes);
}

int FiberStacks::threads() const {
  return static_cast<int>(memory_.get_deleter().bytes / stack_bytes);
}

std::byte* FiberStacks::bottom(int thread) const {
  return memory_.get() + static_cast<std::size_t>(thread) * stack_bytes + guard_bytes;
}

std::size_t FiberStacks::bytes_each() {
  return stack_bytes - guard_bytes;
}

}  // namespace jitbag::test
