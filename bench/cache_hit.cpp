// What a hit in the disk cache costs: a record of 25 KB found and verified, as JSON. The file is in
// the page cache, as it is for the second process of a job.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "jitbag/cache/disk_cache.hpp"

namespace {

using Clock = std::chrono::steady_clock;
namespace cache = jitbag::cache;

constexpr int samples = 2000;
constexpr std::size_t source_size = 15'000;
constexpr std::size_t payload_size = 10'000;

cache::Record record_like_a_kernel() {
  return {{{"target", "sm_90"}, {"source", std::string(source_size, 's')}},
          std::vector<std::byte>(payload_size, std::byte{0x5a})};
}

/// One hit in microseconds, each by a cache object of its own, as in a fresh process.
double hit_us(const std::filesystem::path& folder, const cache::Digest& key) {
  const auto start = Clock::now();
  const cache::DiskCache disk(folder, {});
  const bool found = disk.find(key).has_value();
  const double us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  if (!found) {
    std::fprintf(stderr, "cache_hit: the record was stored and is not found in %s.\n",
                 folder.c_str());
    std::exit(1);
  }
  return us;
}

nlohmann::json measure(const std::filesystem::path& folder) {
  const cache::Record record = record_like_a_kernel();
  if (!cache::DiskCache(folder, {}).store(record)) {
    std::fprintf(stderr, "cache_hit: no record can be stored in %s; set TMPDIR.\n", folder.c_str());
    std::exit(1);
  }
  const cache::Digest key = record.key();
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(hit_us(folder, key));
  std::sort(times.begin(), times.end());
  return {{"record_bytes", cache::encode(record).size()},
          {"hit_us_median", times[samples / 2]},
          {"hit_us_p95", times[samples * 95 / 100]},
          {"samples", samples}};
}

}  // namespace

int main() {
  const auto folder =
      std::filesystem::temp_directory_path() / ("jitbag-cache-hit-" + std::to_string(::getpid()));
  const nlohmann::json report = measure(folder);
  std::filesystem::remove_all(folder);
  std::printf("%s\n", report.dump(2).c_str());
  return 0;
}
