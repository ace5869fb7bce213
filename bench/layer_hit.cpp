// What a hit costs in each place that a record can be in, as JSON: a folder, a bundle, a signed
// bundle and, when a url is given that takes GET and PUT, a remote. A thousand records of about
// 17 KB, each found once, in no order; the files are in the page cache.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/cache/remote.hpp"

namespace {

using Clock = std::chrono::steady_clock;
namespace cache = jitbag::cache;
namespace fs = std::filesystem;

constexpr std::size_t record_count = 1000;
constexpr std::size_t source_words = 2500;
constexpr std::size_t payload_size = 10'000;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// Text and machine code pack to about a third; so do these.
cache::Record record_like_a_kernel(std::mt19937_64& random) {
  static constexpr const char* words[] = {"const ", "float ", "int ", "row", "lane", " = ", "[",
                                          "]",      ";\n",    "(",    ")",   "if ",  "+",   "0"};
  std::string source;
  for (std::size_t i = 0; i < source_words; ++i) source += words[random() % std::size(words)];
  cache::Record record{{{"target", "sm_90"}, {"source", source}}, {}};
  for (std::size_t i = 0; i < payload_size; ++i)
    record.payload.push_back(static_cast<std::byte>(i % 3 == 0 ? random() : 0));
  return record;
}

std::vector<cache::Record> make_records() {
  std::mt19937_64 random(1);
  std::vector<cache::Record> records;
  for (std::size_t i = 0; i < record_count; ++i) records.push_back(record_like_a_kernel(random));
  return records;
}

cache::BundleContents contents_of(const std::vector<cache::Record>& records) {
  std::map<std::string, const cache::Record*> by_key;
  cache::BundleContents contents;
  for (const cache::Record& record : records) {
    contents.keys.push_back(record.key());
    by_key[record.key().hex()] = &record;
  }
  contents.read = [by_key](const cache::Digest& key) { return *by_key.at(key.hex()); };
  return contents;
}

using Find = std::function<std::optional<cache::Record>(const cache::Digest&)>;

nlohmann::json hits(const std::vector<cache::Digest>& keys, const Find& find) {
  std::vector<double> times;
  for (const cache::Digest& key : keys) {
    const auto start = Clock::now();
    const bool found = find(key).has_value();
    times.push_back(microseconds_since(start));
    if (!found) {
      std::fprintf(stderr, "layer_hit: the record %s was kept and is not found.\n",
                   key.hex().c_str());
      std::exit(1);
    }
  }
  std::sort(times.begin(), times.end());
  return {{"hit_us_median", times[times.size() / 2]},
          {"hit_us_p95", times[times.size() * 95 / 100]},
          {"hit_us_p99", times[times.size() * 99 / 100]}};
}

/// A key pair as `openssl genpkey -algorithm ed25519` makes one.
struct Keys {
  cache::SigningKey signing;
  cache::TrustedKey trusted;

  static Keys in(const fs::path& folder) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"), EVP_PKEY_free);
    const auto write = [&](const fs::path& path, auto&& action) {
      std::FILE* file = std::fopen(path.c_str(), "w");
      if (file == nullptr || action(file) != 1) std::exit(1);
      std::fclose(file);
      fs::permissions(path, fs::perms(0600));
    };
    write(folder / "signing.pem", [&](std::FILE* file) {
      return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    write(folder / "trusted.pem",
          [&](std::FILE* file) { return PEM_write_PUBKEY(file, key.get()); });
    return {cache::SigningKey::read(folder / "signing.pem"),
            cache::TrustedKey::read(folder / "trusted.pem")};
  }
};

nlohmann::json bundle_hits(const fs::path& path, const std::vector<cache::Digest>& keys,
                           const std::optional<cache::TrustedKey>& trusted) {
  const auto start = Clock::now();
  const cache::Bundle bundle = cache::Bundle::open(path, trusted);
  const double open_us = microseconds_since(start);
  nlohmann::json report = hits(keys, [&](const cache::Digest& key) { return bundle.find(key); });
  report["open_us"] = open_us;
  return report;
}

nlohmann::json remote_hits(const std::string& url, const std::vector<cache::Record>& records,
                           const std::vector<cache::Digest>& keys) {
  const cache::Remote remote({.url = url, .write = true}, [](std::string_view sentence) {
    std::fprintf(stderr, "layer_hit: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
    std::exit(1);
  });
  for (const cache::Record& record : records) static_cast<void>(remote.store(record));
  return hits(keys, [&](const cache::Digest& key) { return remote.find(key); });
}

nlohmann::json measure(const fs::path& folder, const std::optional<std::string>& url) {
  const std::vector<cache::Record> records = make_records();
  cache::BundleContents contents = contents_of(records);
  const cache::DiskCache disk(folder / "cache", {});
  for (const cache::Record& record : records) static_cast<void>(disk.store(record));

  const Keys pair = Keys::in(folder);
  const auto start = Clock::now();
  const cache::BundleSummary summary =
      cache::write_bundle(folder / "bundle", contents, pair.signing);
  const double write_us = microseconds_since(start);

  std::vector<cache::Digest> keys = contents.keys;
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(2));
  nlohmann::json report = {
      {"records", summary.records},
      {"record_bytes", summary.record_bytes},
      {"bundle_bytes", summary.file_bytes},
      {"write_bundle_us_each", write_us / static_cast<double>(summary.records)},
      {"folder", hits(keys, [&](const cache::Digest& key) { return disk.find(key); })},
      {"bundle", bundle_hits(folder / "bundle", keys, {})},
      {"signed_bundle", bundle_hits(folder / "bundle", keys, pair.trusted)}};
  if (url) report["remote"] = remote_hits(*url, records, keys);
  return report;
}

}  // namespace

int main(int count, char** arguments) {
  const auto folder =
      fs::temp_directory_path() / ("jitbag-layer-hit-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const nlohmann::json report =
      measure(folder, count > 1 ? std::optional<std::string>(arguments[1]) : std::nullopt);
  fs::remove_all(folder);
  std::printf("%s\n", report.dump(2).c_str());
  return 0;
}
