#pragma once

#include <cstddef>

namespace jitbag::test {

/// The stacks of a block's threads, each with a page below it that nobody may touch. Memory is used
/// only for what the threads reach.
class FiberStacks {
 public:
  FiberStacks() = default;
  explicit FiberStacks(int threads);
  FiberStacks(FiberStacks&& other) noexcept;
  FiberStacks& operator=(FiberStacks&& other) noexcept;
  ~FiberStacks();

  [[nodiscard]] int threads() const { return threads_; }

  /// A stack's usable memory: `bytes_each()` bytes from `bottom(thread)` on.
  [[nodiscard]] std::byte* bottom(int thread) const;
  [[nodiscard]] static std::size_t bytes_each();

 private:
  std::byte* memory_ = nullptr;
  int threads_ = 0;
};

}  // namespace jitbag::test
