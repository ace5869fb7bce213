#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "block_runner.hpp"
#include "jitbag/specialisation.hpp"

namespace jitbag::test {

/// A kernel's source text, compiled by the C++ compiler and loaded.
class CompiledKernel {
 public:
  /// Throws std::runtime_error with what the compiler said.
  CompiledKernel(const std::string& source, const std::string& entry);
  CompiledKernel(const CompiledKernel&) = delete;
  CompiledKernel& operator=(const CompiledKernel&) = delete;
  ~CompiledKernel();

  struct Grid {
    std::int64_t blocks = 1;
    int block_threads = 32;
    /// Whether threads meet at shuffles or barriers, and so have to be fibers.
    bool threads_meet = true;
  };

  /// Runs `thread`, which calls the kernel, for every thread of every block. Returns nothing, or
  /// one sentence about threads that did not meet as CUDA demands.
  [[nodiscard]] std::string run(BlockRunner& runner, const Grid& grid,
                                const std::function<void()>& thread) const;

  /// The kernel as a function of the given type.
  template <class Function>
  [[nodiscard]] Function* entry() const {
    return reinterpret_cast<Function*>(entry_);
  }

 private:
  /// As simt.hpp declares it.
  struct Index {
    unsigned x, y, z;
  };
  [[nodiscard]] void* symbol(const char* name) const;

  void* library_ = nullptr;
  void* entry_ = nullptr;
  Index* thread_index_ = nullptr;
  Index* block_index_ = nullptr;
  Index* block_size_ = nullptr;
  Index* grid_size_ = nullptr;
  void (*poison_shared_)() = nullptr;
};

/// Each text is compiled once: many specs share kernels, and many tests specs.
[[nodiscard]] std::shared_ptr<const CompiledKernel> compiled(const Specialisation& one);

}  // namespace jitbag::test
