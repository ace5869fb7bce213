#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "fiber_stacks.hpp"

namespace jitbag::test {

/// Runs the threads of one block as fibers of one thread, in a random order, so that they can meet
/// at shuffles and barriers.
class BlockRunner {
 public:
  explicit BlockRunner(std::uint64_t seed);

  /// `body` is what each thread does; `before_resume` is called with a thread's number each time
  /// that thread goes on. Returns nothing, or one sentence about threads that did not meet as CUDA
  /// demands.
  [[nodiscard]] std::string run(int threads, const std::function<void(int)>& before_resume,
                                const std::function<void()>& body);

  /// What a running thread calls.
  float shuffle_xor(float value, int mask);
  void barrier();

 private:
  /// One thread of the block.
  struct Lane {
    enum class State { ready, at_shuffle, at_barrier, ended };
    boost::context::fiber suspended;
    State state = State::ready;
    float value = 0;
    int mask = 0;
    int shuffles = 0;
    void* fake_stack = nullptr;
  };

  /// The threads of a warp that wait at a shuffle.
  struct Warp {
    int waiting = 0;
    int first_waiting = 0;
  };

  [[nodiscard]] boost::context::fiber make_fiber(int lane, const std::function<void()>& body);
  void resume(int lane);
  void suspend();
  void make_ready(int lane);
  void arrive_at_shuffle();
  void arrive_at_barrier();
  void exchange(int first_lane, int mask);
  void give_up(const std::string& sentence);
  [[nodiscard]] int count(Lane::State state) const;

  std::mt19937_64 random_;
  FiberStacks stacks_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  int at_barrier_ = 0;
  std::vector<int> ready_;
  int current_ = 0;
  boost::context::fiber scheduler_;
  const void* scheduler_stack_ = nullptr;
  std::size_t scheduler_stack_bytes_ = 0;
  std::string problem_;
};

}  // namespace jitbag::test
