#include "block_runner.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace jitbag::test {
namespace {

constexpr int warp_lanes = 32;

/// The block whose threads are running.
BlockRunner* running = nullptr;

BlockRunner& running_block() {
  if (!running) throw std::logic_error("A thread that runs alone called a shuffle or a barrier.");
  return *running;
}

/// The stacks belong to the runner.
struct KeepStack {
  boost::context::stack_context allocate() { throw std::bad_alloc(); }
  void deallocate(boost::context::stack_context&) noexcept {}
};

/// The address sanitizer must know which stack is in use.
void about_to_switch([[maybe_unused]] void** kept_fake_stack, [[maybe_unused]] const void* bottom,
                     [[maybe_unused]] std::size_t bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(kept_fake_stack, bottom, bytes);
#endif
}

void switched([[maybe_unused]] void* kept_fake_stack, [[maybe_unused]] const void** old_bottom,
              [[maybe_unused]] std::size_t* old_bytes) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(kept_fake_stack, old_bottom, old_bytes);
#endif
}

}  // namespace

BlockRunner::BlockRunner(std::uint64_t seed) : random_(seed) {}

boost::context::fiber BlockRunner::make_fiber(int lane, const std::function<void()>& body) {
  boost::context::stack_context stack;
  stack.size = FiberStacks::bytes_each();
  stack.sp = stacks_.bottom(lane) + stack.size;
  return {std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
          KeepStack{}, [this, lane, &body](boost::context::fiber&& scheduler) {
            switched(nullptr, &scheduler_stack_, &scheduler_stack_bytes_);
            scheduler_ = std::move(scheduler);
            body();
            lanes_[lane].state = Lane::State::ended;
            about_to_switch(nullptr, scheduler_stack_, scheduler_stack_bytes_);
            return std::move(scheduler_);
          }};
}

void BlockRunner::resume(int lane) {
  current_ = lane;
  void* fake_stack = nullptr;
  about_to_switch(&fake_stack, stacks_.bottom(lane), FiberStacks::bytes_each());
  lanes_[lane].suspended = std::move(lanes_[lane].suspended).resume();
  switched(fake_stack, nullptr, nullptr);
}

void BlockRunner::suspend() {
  Lane& lane = lanes_[current_];
  about_to_switch(&lane.fake_stack, scheduler_stack_, scheduler_stack_bytes_);
  scheduler_ = std::move(scheduler_).resume();
  switched(lane.fake_stack, &scheduler_stack_, &scheduler_stack_bytes_);
}

std::string BlockRunner::run(int threads, const std::function<void(int)>& before_resume,
                             const std::function<void()>& body) {
  if (threads > stacks_.threads()) stacks_ = FiberStacks(threads);
  problem_.clear();
  lanes_.clear();
  lanes_.resize(static_cast<std::size_t>(threads));
  warps_.assign(static_cast<std::size_t>(threads / warp_lanes + 1), Warp{});
  at_barrier_ = 0;
  for (int lane = 0; lane < threads; ++lane) {
    lanes_[lane].suspended = make_fiber(lane, body);
    ready_.push_back(lane);
  }
  running = this;
  while (!ready_.empty()) {
    std::swap(ready_[random_() % ready_.size()], ready_.back());
    const int lane = ready_.back();
    ready_.pop_back();
    before_resume(lane);
    resume(lane);
    if (lanes_[lane].state == Lane::State::at_shuffle) arrive_at_shuffle();
    if (lanes_[lane].state == Lane::State::at_barrier) arrive_at_barrier();
    if (ready_.empty() && count(Lane::State::ended) != threads) {
      give_up(
          fmt::format("Deadlock: {} threads wait at a shuffle and {} at a barrier that the "
                      "other {} never reach.",
                      count(Lane::State::at_shuffle), count(Lane::State::at_barrier),
                      count(Lane::State::ended)));
    }
  }
  running = nullptr;
  return problem_;
}

int BlockRunner::count(Lane::State state) const {
  return static_cast<int>(std::count_if(lanes_.begin(), lanes_.end(),
                                        [&](const Lane& lane) { return lane.state == state; }));
}

void BlockRunner::make_ready(int lane) {
  lanes_[lane].state = Lane::State::ready;
  ready_.push_back(lane);
}

/// After a failure nobody waits any more, so that every fiber comes to its end.
void BlockRunner::give_up(const std::string& sentence) {
  if (problem_.empty()) problem_ = sentence;
  std::fill(warps_.begin(), warps_.end(), Warp{});
  at_barrier_ = 0;
  for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) {
    const Lane::State state = lanes_[lane].state;
    if (state == Lane::State::at_shuffle || state == Lane::State::at_barrier) make_ready(lane);
  }
}

void BlockRunner::arrive_at_shuffle() {
  Warp& warp = warps_[static_cast<std::size_t>(current_ / warp_lanes)];
  if (warp.waiting == 0) warp.first_waiting = current_;
  // Those who wait already are at the same shuffle, so that one of them stands for all.
  const Lane& arrived = lanes_[current_];
  const Lane& other = lanes_[warp.first_waiting];
  if (other.mask != arrived.mask || other.shuffles != arrived.shuffles) {
    give_up(fmt::format(
        "Divergent shuffle: thread {} is at its shuffle {} with mask {}, thread {} "
        "of the same warp at its shuffle {} with mask {}.",
        current_, arrived.shuffles, arrived.mask, warp.first_waiting, other.shuffles, other.mask));
    return;
  }
  if (++warp.waiting < warp_lanes) return;
  warp.waiting = 0;
  exchange(current_ / warp_lanes * warp_lanes, arrived.mask);
}

void BlockRunner::exchange(int first_lane, int mask) {
  std::array<float, warp_lanes> values{};
  for (int lane = 0; lane < warp_lanes; ++lane) values[lane] = lanes_[first_lane + lane].value;
  for (int lane = 0; lane < warp_lanes; ++lane) {
    lanes_[first_lane + lane].value = values[lane ^ (mask % warp_lanes)];
    make_ready(first_lane + lane);
  }
}

void BlockRunner::arrive_at_barrier() {
  if (++at_barrier_ < static_cast<int>(lanes_.size())) return;
  at_barrier_ = 0;
  for (int lane = 0; lane < static_cast<int>(lanes_.size()); ++lane) make_ready(lane);
}

float BlockRunner::shuffle_xor(float value, int mask) {
  if (!problem_.empty()) return value;
  Lane& lane = lanes_[current_];
  lane.value = value;
  lane.mask = mask;
  lane.shuffles += 1;
  lane.state = Lane::State::at_shuffle;
  suspend();
  return lane.value;
}

void BlockRunner::barrier() {
  if (!problem_.empty()) return;
  lanes_[current_].state = Lane::State::at_barrier;
  suspend();
}

}  // namespace jitbag::test

/// What kernels call on the CPU.
extern "C" float simt_shuffle_xor(float value, int mask) {
  return jitbag::test::running_block().shuffle_xor(value, mask);
}
extern "C" void simt_block_barrier() {
  jitbag::test::running_block().barrier();
}
