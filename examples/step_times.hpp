#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <vector>

#include "machine.hpp"

/// What the parts of a step take, from one mark to the next: on the GPU in its stream, where a part
/// that is enqueued too late has waited for the host.
class StepTimes {
 public:
  StepTimes(const Machine& machine, std::size_t marks_of_a_step)
      : machine_(machine), marks_(marks_of_a_step) {}

  void mark() {
    if (machine_.is_gpu()) {
      events_.emplace_back().record(machine_.stream());
    } else {
      times_.push_back(std::chrono::steady_clock::now());
    }
  }

  /// Between two marks of a step, counted from 0; the median over the steps.
  [[nodiscard]] double median_us(std::size_t from, std::size_t to) const {
    std::vector<double> times;
    for (std::size_t first = 0; first < events_.size() + times_.size(); first += marks_) {
      times.push_back(elapsed_us(first + from, first + to));
    }
    const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
    std::nth_element(times.begin(), middle, times.end());
    return *middle;
  }

 private:
  [[nodiscard]] double elapsed_us(std::size_t from, std::size_t to) const {
    if (machine_.is_gpu())
      return 1000 * jitbag::device::Event::elapsed_ms(events_[from], events_[to]);
    return std::chrono::duration<double, std::micro>(times_[to] - times_[from]).count();
  }

  const Machine& machine_;
  std::size_t marks_;
  std::deque<jitbag::device::Event> events_;
  std::vector<std::chrono::steady_clock::time_point> times_;
};
