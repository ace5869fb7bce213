#pragma once

#include <cstddef>
#include <memory>

namespace jitbag::test {

/// The stacks of a block's threads, each with a page below it that nobody may touch. Memory is used
/// only for what the threads reach.
class FiberStacks {
 public:
  FiberStacks() = default;
  explicit FiberStacks(int threads);

  [[nodiscard]] int threads() const;

  /// A stack's usable memory: `bytes_each()` bytes from `bottom(thread)` on.
  [[nodiscard]] std::byte* bottom(int thread) const;
  [[nodiscard]] static std::size_t bytes_each();

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Unmap> memory_{nullptr, Unmap{0}};
};

}  // namespace jitbag::test
