#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace jitbag::tools {

/// Tells on standard error how far a long piece of work is: silent for the first second, then in
/// one place on a terminal, and a line every few seconds elsewhere. Any thread may advance it.
class Progress {
 public:
  Progress(std::string what, std::int64_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Wipes the line that it drew on a terminal.
  ~Progress();

  void advance(std::int64_t count = 1);
  /// What is being done now, such as "jit dim 64 bag 4".
  void now(std::string doing);

 private:
  using Clock = std::chrono::steady_clock;
  void draw_if_due();
  void draw(double elapsed_seconds);

  std::mutex mutex_;
  std::string what_;
  std::string doing_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool terminal_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_draw_ = start_ + std::chrono::seconds(1);
};

}  // namespace jitbag::tools
