#include "progress.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cstdio>

#include "output.hpp"

namespace jitbag::tools {
namespace {

constexpr std::string_view wipe_line = "\r\033[K";

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds);
  return fmt::format("{} min {:02} s", whole / 60, whole % 60);
}

}  // namespace

Progress::Progress(std::string what, std::int64_t total)
    : what_(std::move(what)), total_(total), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (terminal_ && drawn_) print_error(std::string(wipe_line));
}

void Progress::advance(std::int64_t count) {
  const std::lock_guard lock(mutex_);
  done_ += count;
  draw_if_due();
}

void Progress::now(std::string doing) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
  draw_if_due();
}

void Progress::draw_if_due() {
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + (terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000));
  drawn_ = true;
  draw(std::chrono::duration<double>(now - start_).count());
}

void Progress::draw(double elapsed_seconds) {
  std::string line =
      fmt::format("{}: {} of {}, {}", what_, done_, total_, duration(elapsed_seconds));
  if (done_ > 0 && done_ < total_) {
    const double left =
        elapsed_seconds / static_cast<double>(done_) * static_cast<double>(total_ - done_);
    line += fmt::format(", about {} left", duration(left));
  }
  if (!doing_.empty()) line += fmt::format(" ({})", doing_);
  if (terminal_)
    print_error(std::string(wipe_line) + line);
  else
    print_error(line + "\n");
  std::fflush(stderr);
}

}  // namespace jitbag::tools
