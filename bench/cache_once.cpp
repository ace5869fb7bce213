// What it costs that many processes make one record once, as JSON: 16 processes want a record at
// the same moment, and the one who makes it is killed while 15 wait.
//
//   bench_cache_once      in $TMPDIR
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jitbag/cache/disk_cache.hpp"

namespace {

using Clock = std::chrono::steady_clock;
namespace cache = jitbag::cache;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int processes = 16;
constexpr int rounds = 30;
constexpr auto compile_time = 50ms;  // of a stand-in for a compile, which needs no processor

cache::Record numbered(int number) {
  return {{{"number", std::to_string(number)}}, std::vector<std::byte>(25'000, std::byte{0x5a})};
}

/// As an engine does it. Every make adds a byte to the file `made`.
void get(const cache::DiskCache& disk, const cache::Record& record, const fs::path& made) {
  if (disk.find(record.key())) return;
  const cache::Claim claim = disk.claim(record.key(), 10s);
  if (disk.find(record.key())) return;
  const int file = ::open(made.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  static_cast<void>(!::write(file, "x", 1));
  ::close(file);
  std::this_thread::sleep_for(compile_time);
  disk.store(record);
}

/// A process that waits for the pipe to close, then gets the record.
pid_t start(const std::array<int, 2>& gate, const fs::path& folder, const cache::Record& record) {
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::close(gate[1]);
  char none = 0;
  static_cast<void>(!::read(gate[0], &none, 1));
  get(cache::DiskCache(folder, {}), record, folder.string() + ".made");
  ::_exit(0);
}

/// Milliseconds from the moment when all may begin until the last one has the record. With `kill`,
/// whoever makes it is killed in the middle, and the clock starts there.
double round_ms(const fs::path& folder, int number, bool kill) {
  std::array<int, 2> gate{};
  if (::pipe(gate.data()) != 0) throw std::runtime_error("there is no pipe to be had");
  const cache::Record record = numbered(number);
  std::vector<pid_t> running;
  // The one to be killed begins alone, so that it is known.
  if (kill) {
    running.push_back(start(gate, folder, record));
    for (const int end : gate) ::close(end);
    std::this_thread::sleep_for(compile_time / 4);
    if (::pipe(gate.data()) != 0) throw std::runtime_error("there is no pipe to be had");
  }
  for (int i = static_cast<int>(running.size()); i < processes; ++i)
    running.push_back(start(gate, folder, record));
  ::close(gate[1]);
  if (kill) {
    std::this_thread::sleep_for(compile_time / 4);
    ::kill(running.front(), SIGKILL);
  }
  const auto begin = Clock::now();
  for (const pid_t process : running) ::waitpid(process, nullptr, 0);
  const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  ::close(gate[0]);
  if (!cache::DiskCache(folder, {}).find(record.key()))
    throw std::runtime_error("the record is not there");
  return ms;
}

nlohmann::json measure(const fs::path& folder, bool kill) {
  std::vector<double> times;
  const fs::path made = folder.string() + ".made";
  fs::remove(made);
  for (int i = 0; i < rounds; ++i) times.push_back(round_ms(folder, kill ? rounds + i : i, kill));
  std::sort(times.begin(), times.end());
  return {{"ms_median", times[rounds / 2]},
          {"ms_p95", times[rounds * 95 / 100]},
          {"rounds", rounds},
          {"makes_begun", fs::file_size(made)}};
}

}  // namespace

int main() {
  const fs::path folder =
      fs::temp_directory_path() / ("jitbag-cache-once-" + std::to_string(::getpid()));
  int status = 0;
  try {
    const nlohmann::json report = {{"processes", processes},
                                   {"make_ms", compile_time.count()},
                                   {"together", measure(folder, false)},
                                   {"maker_killed", measure(folder, true)}};
    std::printf("%s\n", report.dump(2).c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "cache_once: %s.\n", problem.what());
    status = 1;
  }
  std::error_code left;
  fs::remove_all(folder, left);
  fs::remove(folder.string() + ".made", left);
  return status;
}
