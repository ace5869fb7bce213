// What a large cache folder costs, as JSON: opening it, a hit, a store, what `jitbag cache stats`
// reads, verifying, an eviction.
//
//   bench_cache_scale [--records N]      in $TMPDIR; 100,000 records of 6 KB unless told otherwise
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "jitbag/cache/cache.hpp"

namespace {

using Clock = std::chrono::steady_clock;
namespace cache = jitbag::cache;
namespace fs = std::filesystem;

constexpr std::size_t record_size = 6000;  // of random text, which nothing can compress
constexpr int hits = 5000;
constexpr int stores = 200;

cache::Record numbered(std::uint64_t number) {
  std::mt19937_64 random(number);
  std::string text(record_size, ' ');
  for (char& letter : text) letter = static_cast<char>('a' + random() % 26);
  return {{{"number", std::to_string(number)}},
          std::vector<std::byte>{reinterpret_cast<const std::byte*>(text.data()),
                                 reinterpret_cast<const std::byte*>(text.data() + text.size())}};
}

/// Written as a store would, but not synced: 100,000 syncs would take minutes and are not measured.
void fill(const cache::DiskCache& disk, std::uint64_t records) {
  ::umask(0077);
  for (std::uint64_t i = 0; i < records; ++i) {
    const cache::Record record = numbered(i);
    const fs::path path = disk.path_of(record.key());
    fs::create_directories(path.parent_path());
    const auto bytes = cache::encode(record);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) throw std::runtime_error(path.string() + " cannot be written; set TMPDIR");
    if (i % 10'000 == 0)
      std::fprintf(stderr, "%llu of %llu records written\n", static_cast<unsigned long long>(i),
                   static_cast<unsigned long long>(records));
  }
}

template <class Action>
double seconds_of(Action&& action) {
  const auto start = Clock::now();
  action();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// In the unit that `scale` makes of seconds.
nlohmann::json distribution(std::vector<double> seconds, double scale) {
  std::sort(seconds.begin(), seconds.end());
  const auto at = [&](std::size_t percent) {
    return seconds[seconds.size() * percent / 100] * scale;
  };
  return {{"median", at(50)}, {"p95", at(95)}, {"p99", at(99)}, {"samples", seconds.size()}};
}

/// Each by a cache object of its own, as in a fresh process.
std::vector<double> hit_seconds(const fs::path& folder, std::uint64_t records) {
  std::mt19937_64 random(1);
  std::vector<double> times;
  for (int i = 0; i < hits; ++i) {
    const cache::Digest key = numbered(random() % records).key();
    bool found = false;
    times.push_back(
        seconds_of([&] { found = cache::DiskCache(folder, {}).find(key).has_value(); }));
    if (!found) throw std::runtime_error("a record that was written is not found");
  }
  return times;
}

/// A cache over the folder, as an engine opens it.
std::vector<double> open_seconds(const fs::path& folder) {
  std::vector<double> times;
  for (int i = 0; i < hits; ++i)
    times.push_back(seconds_of([&] { const cache::Cache opened({.directory = folder}, {}); }));
  return times;
}

std::vector<double> store_seconds(const cache::DiskCache& disk, std::uint64_t first) {
  std::vector<double> times;
  for (std::uint64_t i = first; i < first + stores; ++i) {
    const cache::Record record = numbered(i);
    bool stored = false;
    times.push_back(seconds_of([&] { stored = disk.store(record); }));
    if (!stored) throw std::runtime_error("a record cannot be stored; set TMPDIR");
  }
  return times;
}

nlohmann::json measure(const fs::path& folder, std::uint64_t records) {
  const cache::DiskCache unlimited(folder, {}, 0);
  fill(unlimited, records);
  nlohmann::json report{{"records", records}, {"record_bytes", encode(numbered(0)).size()}};

  report["hit_us"] = distribution(hit_seconds(folder, records), 1e6);
  std::vector<cache::Entry> entries;
  report["open_us"] = distribution(open_seconds(folder), 1e6);
  report["stats_seconds"] = seconds_of([&] {
    entries = unlimited.entries();
    static_cast<void>(unlimited.leftovers());
    static_cast<void>(unlimited.producers());
  });
  std::uint64_t bytes = 0;
  for (const cache::Entry& entry : entries) bytes += entry.bytes;
  report["verify_seconds"] = seconds_of([&] {
    if (unlimited.verify().whole != records) throw std::runtime_error("a record is damaged");
  });

  const cache::DiskCache roomy(folder, {}, 2 * bytes);
  report["first_store_counts_seconds"] =
      seconds_of([&] { static_cast<void>(roomy.store(numbered(records))); });
  report["store_ms"] = distribution(store_seconds(unlimited, records + 1), 1e3);
  report["store_below_limit_ms"] = distribution(store_seconds(roomy, records + 1 + stores), 1e3);

  const cache::DiskCache full(folder, {}, bytes);
  report["store_that_evicts_seconds"] =
      seconds_of([&] { static_cast<void>(full.store(numbered(records + 1 + 2 * stores))); });
  report["evicted_records"] = records + 2 + 2 * stores - full.entries().size();
  return report;
}

std::uint64_t records_from(int count, char** arguments) {
  if (count == 1) return 100'000;
  char* end = nullptr;
  const std::uint64_t records = count == 3 && std::strcmp(arguments[1], "--records") == 0
                                    ? std::strtoull(arguments[2], &end, 10)
                                    : 0;
  if (records == 0 || *end != '\0')
    throw std::invalid_argument("the only option is --records N, with N from 1 on");
  return records;
}

}  // namespace

int main(int count, char** arguments) {
  const fs::path folder =
      fs::temp_directory_path() / ("jitbag-cache-scale-" + std::to_string(::getpid()));
  int status = 0;
  try {
    const nlohmann::json report = measure(folder, records_from(count, arguments));
    std::printf("%s\n", report.dump(2).c_str());
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "cache_scale: %s.\n", problem.what());
    status = 1;
  }
  std::error_code left;
  fs::remove_all(folder, left);
  return status;
}
