#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "bad_input_report.cuh"

namespace jitbag {

/// The bad input that kernels have reported, one place for each context: host memory that the
/// device writes.
class Reports {
 public:
  Reports() = default;
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;
  ~Reports();

  /// The device's address of the calling thread's context's place.
  [[nodiscard]] BadInputReport* of_current_context();

  /// Throws Error, bad_id or bad_offset, for what the current context's kernels have found, and
  /// forgets it.
  void check();

  /// What a launch begins with: check(), and the place to report to. Null, and no check, for a
  /// kernel that does not report.
  [[nodiscard]] BadInputReport* before_launch(bool kernel_reports) {
    if (!kernel_reports) return nullptr;
    check();
    return of_current_context();
  }

 private:
  struct Place {
    BadInputReport* on_host = nullptr;
    BadInputReport* on_device = nullptr;
  };
  Place& current_place();

  std::mutex mutex_;
  std::map<unsigned long long, Place> places_;  // by the context's id, which is never used again
};

}  // namespace jitbag
