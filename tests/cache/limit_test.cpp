// Bounded: the folder keeps to its limit, and the records used longest ago are those that leave.
#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bytes.hpp"
#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::set_age;

constexpr std::size_t record_size = 1000;

/// A record of exactly record_size bytes.
Record numbered(int number) {
  Record record{{{"number", std::to_string(number)}}, {}};
  record.payload.resize(record_size - encode(record).size(), std::byte{7});
  return record;
}

std::uint64_t bytes_in(const DiskCache& cache) {
  std::uint64_t sum = 0;
  for (const Entry& entry : cache.entries()) sum += entry.bytes;
  return sum;
}

/// What the file `total` says; nothing where it says nothing.
std::optional<std::uint64_t> total_in(const CacheFolder& folder) {
  const std::string content = test::content_of(folder.path() / "total");
  ByteReader reader(std::as_bytes(std::span(content)));
  if (content.size() != 32) return {};
  const std::uint64_t total = *reader.take_number();
  const std::uint64_t counts = *reader.take_number();
  if (*reader.take_number() != ~total || *reader.take_number() != ~counts) return {};
  return total;
}

/// Stores records that were used `number` days ago, so that the highest number is the oldest.
void fill(const CacheFolder& folder, int count) {
  const DiskCache unlimited(folder.path(), {}, 0);
  for (int i = 1; i <= count; ++i) {
    REQUIRE(unlimited.store(numbered(i)));
    set_age(unlimited.path_of(numbered(i).key()), i * 86400);
  }
}

bool has(const DiskCache& cache, int number) {
  return fs::exists(cache.path_of(numbered(number).key()));
}

TEST_CASE("above the limit the records used longest ago leave, until a tenth is free") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  fill(folder, 20);
  REQUIRE(cache.store(numbered(21)));
  CHECK(bytes_in(cache) == 18 * record_size);
  for (int i = 1; i <= 17; ++i) CHECK(has(cache, i));
  for (int i = 18; i <= 20; ++i) CHECK_FALSE(has(cache, i));
  CHECK(has(cache, 21));
  CHECK(total_in(folder) == 18 * record_size);
  CHECK(folder.warnings().empty());
}

TEST_CASE("at the limit nothing leaves") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  for (int i = 0; i < 20; ++i) REQUIRE(cache.store(numbered(i)));
  CHECK(cache.entries().size() == 20);
  CHECK(folder.warnings().empty());
}

TEST_CASE("a limit of 0 is none") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 0);
  for (int i = 0; i < 40; ++i) REQUIRE(cache.store(numbered(i)));
  CHECK(cache.entries().size() == 40);
  CHECK(total_in(folder).value_or(0) % record_size == 0);
}

TEST_CASE("a hit is a use: the record stays though it was made first") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  fill(folder, 20);
  CHECK(cache.find(numbered(20).key()) == numbered(20));
  CHECK(test::age_of(cache.path_of(numbered(20).key())) < 60);
  REQUIRE(cache.store(numbered(21)));
  CHECK(has(cache, 20));
  CHECK_FALSE(has(cache, 19));
}

TEST_CASE("the time of use is kept to the minute") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(numbered(1)));
  const fs::path path = folder.cache().path_of(numbered(1).key());
  set_age(path, 50);
  CHECK(folder.cache().find(numbered(1).key()));
  CHECK(test::age_of(path) >= 50);
  for (const std::time_t age : {70, 100'000, -100'000}) {
    set_age(path, age);
    CHECK(folder.cache().find(numbered(1).key()));
    CHECK(test::age_of(path) >= 0);
    CHECK(test::age_of(path) < 60);
  }
}

TEST_CASE("the record just stored stays, even where all others seem to have been used later") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), record_size + record_size / 2);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(cache.store(numbered(i)));
    CHECK(cache.find(numbered(i).key()) == numbered(i));
    CHECK(cache.entries().size() == 1);
    set_age(cache.path_of(numbered(i).key()), -100'000);
  }
}

TEST_CASE("a record larger than the limit is not kept, and that is said once") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), record_size - 1);
  CHECK_FALSE(cache.store(numbered(1)));
  CHECK_FALSE(cache.store(numbered(2)));
  CHECK_FALSE(fs::exists(folder.path()));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0] == "A record of 1000 bytes is not kept in " + folder.path().string() +
                                    ": at most 999 are allowed; raise JITBAG_CACHE_MAX_BYTES.");
}

TEST_CASE("a limit smaller than the work in hand is said, once (field finding 52)") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 10 * record_size);
  for (int i = 0; i < 40; ++i) REQUIRE(cache.store(numbered(i)));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0].find("JITBAG_CACHE_MAX_BYTES") != std::string::npos);
  CHECK(folder.warnings()[0].find("last hour") != std::string::npos);
}

TEST_CASE("a total that is gone, torn, or something else is counted anew") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  const fs::path total = folder.path() / "total";
  fill(folder, 20);
  const int what = GENERATE(0, 1, 2, 3, 4, 5);
  INFO(what);
  fs::remove(total);
  if (what == 1) test::write_content(total, "");
  if (what == 2) test::write_content(total, std::string(32, '\0'));
  if (what == 3) test::write_content(total, std::string(33, 'x'));
  if (what == 4) fs::create_directories(total / "inside");
  if (what == 5) fs::create_symlink("nothing", total);
  REQUIRE(cache.store(numbered(21)));
  CHECK(bytes_in(cache) == 18 * record_size);
  CHECK(total_in(folder) == 18 * record_size);
  CHECK(folder.warnings().empty());
}

TEST_CASE("a total that is too high costs a count, and no record") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  fill(folder, 10);
  ByteWriter writer(32);
  for (const std::uint64_t number : {std::uint64_t{1'000'000}, std::uint64_t{7}})
    writer.add_number(number);
  for (const std::uint64_t number : {std::uint64_t{1'000'000}, std::uint64_t{7}})
    writer.add_number(~number);
  const auto bytes = std::move(writer).take();
  test::write_content(folder.path() / "total",
                      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  REQUIRE(cache.store(numbered(11)));
  CHECK(bytes_in(cache) == 11 * record_size);
  CHECK(total_in(folder) == 11 * record_size);
}

TEST_CASE("a store below the limit adds to the total and lists nothing") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 100 * record_size);
  REQUIRE(cache.store(numbered(1)));
  CHECK(total_in(folder) == record_size);
  fs::remove(cache.path_of(numbered(1).key()));  // a count would see it
  REQUIRE(cache.store(numbered(2)));
  CHECK(total_in(folder) == 2 * record_size);
  CHECK(cache.store(numbered(2)));
  CHECK(total_in(folder) == 2 * record_size);
}

TEST_CASE("leftovers go with an eviction, wherever they lie") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), folder.listener(), 20 * record_size);
  folder.cache().remember({"build", "a compiler"});
  fill(folder, 20);
  std::vector<fs::path> old;
  const fs::path shard = cache.path_of(numbered(1).key()).parent_path();
  for (const fs::path& in :
       {folder.path(), folder.path() / "records", folder.path() / "producers", shard}) {
    old.push_back(in / ".new+1");
    old.push_back(in / ".old+2");
    test::write_content(old[old.size() - 2], "half a rec");
    fs::create_directories(old.back() / "full");
    set_age(old[old.size() - 2], 4000);
    set_age(old.back(), 4000);
    test::write_content(in / ".new+3", "being written");
  }
  REQUIRE(cache.store(numbered(21)));
  for (const fs::path& path : old) CHECK_FALSE(fs::exists(path));
  CHECK(fs::exists(folder.path() / ".new+3"));
  CHECK(fs::exists(shard / ".new+3"));
  CHECK(cache.producers().size() == 1);
}

TEST_CASE("eight processes that store beyond the limit leave a folder within it") {
  CacheFolder folder;
  std::vector<test::Child> children;
  for (int child = 0; child < 8; ++child) {
    children.emplace_back([&folder, child] {
      int wrong = 0;
      const DiskCache cache(folder.path(), {}, 30 * record_size);
      std::mt19937_64 random(test::seed() + static_cast<unsigned>(child));
      for (int i = 0; i < 40; ++i) {
        const Record record = numbered(static_cast<int>(random() % 100));
        const auto found = cache.find(record.key());
        if (found && *found != record) ++wrong;
        if (!cache.store(record)) ++wrong;
      }
      return wrong;
    });
  }
  for (test::Child& child : children) CHECK(child.wait() == 0);
  const DiskCache cache(folder.path(), folder.listener(), 30 * record_size);
  CHECK(bytes_in(cache) <= 30 * record_size);
  CHECK(cache.verify().damaged.empty());
}

TEST_CASE("threads may store, find and evict at once") {
  CacheFolder folder;
  const DiskCache cache(folder.path(), {}, 10 * record_size);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&cache, &wrong, thread] {
      for (int i = 0; i < 25; ++i) {
        const Record record = numbered((7 * i + thread) % 30);
        if (!cache.store(record)) ++wrong;
        const auto found = cache.find(record.key());
        if (found && *found != record) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(bytes_in(cache) <= 10 * record_size);
}

}  // namespace
}  // namespace jitbag::cache
