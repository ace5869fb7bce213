// Once: whoever makes a record claims its key, and nobody can keep it for ever.
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::CacheFolder;
using test::sample;

constexpr auto long_enough = 10min;

/// Counts who is between two points, for processes too.
class Counter {
 public:
  Counter() : inside_(new (shared_memory()) std::atomic<int>[3] {}) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { ::munmap(inside_, size); }

  void enter() const {
    if (inside_[0].fetch_add(1) != 0) ++inside_[1];
    ++inside_[2];
  }
  void leave() const { --inside_[0]; }
  [[nodiscard]] int clashes() const { return inside_[1]; }
  [[nodiscard]] int visits() const { return inside_[2]; }

 private:
  static constexpr std::size_t size = 3 * sizeof(std::atomic<int>);
  static void* shared_memory() {
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    return memory;
  }
  std::atomic<int>* inside_;
};

/// What a process does that wants a record: look, claim, look again, make it.
void get_or_make(const DiskCache& cache, const Record& record, const Counter& making) {
  if (cache.find(record.key())) return;
  const Claim claim = cache.claim(record.key(), long_enough);
  if (cache.find(record.key())) return;
  making.enter();
  std::this_thread::yield();
  static_cast<void>(cache.store(record));
  making.leave();
}

/// Whether the key can be claimed now: a claim in vain is one with a warning.
bool is_free(const CacheFolder& folder, const Digest& key, std::chrono::milliseconds patience) {
  int warnings = 0;
  const DiskCache cache(folder.path(), [&](std::string_view) { ++warnings; });
  const Claim claim = cache.claim(key, patience);
  return warnings == 0;
}

TEST_CASE("sixteen processes that want one record make it once") {
  CacheFolder folder;
  const Counter making;
  const test::Gate start;
  std::vector<test::Child> children;
  for (int i = 0; i < 16; ++i) {
    children.emplace_back([&] {
      if (!start.wait()) return 1;
      int warnings = 0;
      const DiskCache cache(folder.path(), [&](std::string_view) { ++warnings; });
      get_or_make(cache, sample("a"), making);
      return cache.find(sample("a").key()) == sample("a") && warnings == 0 ? 0 : 2;
    });
  }
  for (int i = 0; i < 16; ++i) start.open();
  for (test::Child& child : children) CHECK(child.wait() == 0);
  CHECK(making.visits() == 1);
}

TEST_CASE("eight processes on a folder that does not exist make one record (field finding 1)") {
  CacheFolder folder;
  const fs::path deep = folder.path() / "new" / "cache";
  const Counter making;
  const test::Gate start;
  std::vector<test::Child> children;
  for (int i = 0; i < 8; ++i) {
    children.emplace_back([&] {
      if (!start.wait()) return 1;
      int warnings = 0;
      const DiskCache cache(deep, [&](std::string_view) { ++warnings; });
      get_or_make(cache, sample("a"), making);
      return cache.find(sample("a").key()) == sample("a") && warnings == 0 ? 0 : 2;
    });
  }
  for (int i = 0; i < 8; ++i) start.open();
  for (test::Child& child : children) CHECK(child.wait() == 0);
  CHECK(making.visits() == 1);
}

TEST_CASE("the lock is one file over a thousand claims, stores and discards (field finding 4)") {
  CacheFolder folder;
  const auto inode = [&] {
    struct stat info {};
    return ::stat((folder.path() / "lock").c_str(), &info) == 0 ? info.st_ino : 0;
  };
  { const Claim claim = folder.cache().claim(sample("a").key(), 0ms); }
  const auto first = inode();
  REQUIRE(first != 0);
  for (int i = 0; i < 1000; ++i) {
    const Claim claim = folder.cache().claim(sample(std::to_string(i % 7)).key(), 0ms);
    if (i % 50 == 0) {
      CHECK(folder.cache().store(sample("a")));
      folder.cache().discard(sample("a").key());
      static_cast<void>(folder.cache().prune({.max_bytes = 1}));
    }
    if (i % 100 == 0) static_cast<void>(folder.cache().clear());
  }
  CHECK(inode() == first);
  CHECK(folder.warnings().empty());
}

TEST_CASE("processes hold one key's claim one at a time") {
  CacheFolder folder;
  const Counter holding;
  std::vector<test::Child> children;
  for (int i = 0; i < 8; ++i) {
    children.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const Claim claim = folder.cache().claim(sample("a").key(), long_enough);
        holding.enter();
        std::this_thread::yield();
        holding.leave();
      }
      return static_cast<int>(folder.warnings().size());
    });
  }
  for (test::Child& child : children) CHECK(child.wait() == 0);
  CHECK(holding.visits() == 80);
  CHECK(holding.clashes() == 0);
}

TEST_CASE("threads hold one key's claim one at a time, with one cache or many") {
  CacheFolder folder;
  const Counter holding;
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i) {
    threads.emplace_back([&folder, &holding, i] {
      const DiskCache own(folder.path(), {});
      for (int round = 0; round < 5; ++round) {
        const DiskCache& cache = i % 2 == 0 ? own : folder.cache();
        const Claim claim = cache.claim(sample("a").key(), long_enough);
        holding.enter();
        std::this_thread::yield();
        holding.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(holding.visits() == 30);
  CHECK(holding.clashes() == 0);
  CHECK(folder.warnings().empty());
}

TEST_CASE("claims of different keys do not wait for each other") {
  CacheFolder folder;
  std::vector<Claim> claims;
  for (int i = 0; i < 50; ++i)
    claims.push_back(folder.cache().claim(sample(std::to_string(i)).key(), 0ms));
  CHECK(folder.warnings().empty());
}

TEST_CASE("a claim ends with its owner") {
  CacheFolder folder;
  const Digest key = sample("a").key();
  {
    Claim first = folder.cache().claim(key, 0ms);
    CHECK_FALSE(is_free(folder, key, 0ms));
    const Claim second = std::move(first);
    CHECK_FALSE(is_free(folder, key, 0ms));
  }
  CHECK(is_free(folder, key, 0ms));

  Claim assigned = folder.cache().claim(key, 0ms);
  assigned = folder.cache().claim(sample("b").key(), 0ms);
  CHECK(is_free(folder, key, 0ms));
  CHECK_FALSE(is_free(folder, sample("b").key(), 0ms));
  assigned = Claim();
  CHECK(is_free(folder, sample("b").key(), 0ms));
}

TEST_CASE("a claim ends with its owner even while a forked child lives on") {
  CacheFolder folder;
  const test::Gate done;
  auto claim = std::make_unique<Claim>(folder.cache().claim(sample("a").key(), 0ms));
  test::Child child([&] { return done.wait() ? 0 : 1; });
  claim.reset();
  CHECK(is_free(folder, sample("a").key(), 0ms));
  done.open();
  CHECK(child.wait() == 0);
}

TEST_CASE("a process that is killed while it holds a claim releases it") {
  CacheFolder folder;
  const test::Gate holds;
  const test::Gate never;
  test::Child holder([&] {
    const Claim claim = folder.cache().claim(sample("a").key(), long_enough);
    holds.open();
    return never.wait() ? 0 : 1;
  });
  REQUIRE(holds.wait());
  CHECK_FALSE(is_free(folder, sample("a").key(), 0ms));
  holder.signal(SIGKILL);
  CHECK(is_free(folder, sample("a").key(), long_enough));
  CHECK(holder.wait() == 128 + SIGKILL);
}

TEST_CASE("a holder that is stopped costs patience, and the record is made all the same") {
  CacheFolder folder;
  const test::Gate holds;
  const test::Gate never;
  test::Child holder([&] {
    const Claim claim = folder.cache().claim(sample("a").key(), long_enough);
    holds.open();
    return never.wait() ? 0 : 1;
  });
  REQUIRE(holds.wait());
  holder.signal(SIGSTOP);
  for (int i = 0; i < 2; ++i) {
    const Claim in_vain = folder.cache().claim(sample("a").key(), 30ms);
    CHECK(folder.cache().store(sample("a")));
  }
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0] == "Another process has held the record " +
                                    folder.cache().path_of(sample("a").key()).string() +
                                    " for over 30 ms; it is made here too.");
  CHECK(folder.cache().find(sample("a").key()) == sample("a"));
}

TEST_CASE("a process killed at any moment of a store leaves nothing that another one would trust") {
  CacheFolder folder;
  Record large = sample("large");
  large.payload.resize(1 << 20);
  for (int round = 0; round < 20; ++round) {
    const test::Gate storing;
    test::Child child([&] {
      storing.open();
      for (int i = 0;; ++i) {
        const Claim claim = folder.cache().claim(large.key(), long_enough);
        static_cast<void>(folder.cache().store(large));
        folder.cache().discard(large.key());
      }
      return 0;
    });
    REQUIRE(storing.wait());
    std::this_thread::sleep_for(std::chrono::microseconds(137 * round));
    child.signal(SIGKILL);
    CHECK(child.wait() == 128 + SIGKILL);
    const auto found = folder.cache().find(large.key());
    CHECK((!found || *found == large));
    CHECK(is_free(folder, large.key(), 0ms));
  }
  CHECK(folder.warnings().empty());
}

TEST_CASE("something else in the lock's place is one warning, and claims are given all the same") {
  CacheFolder folder;
  std::filesystem::create_directories(folder.path() / "lock");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0700));
  for (int i = 0; i < 2; ++i) const Claim claim = folder.cache().claim(sample("a").key(), 1ms);
  CHECK(folder.warnings().size() == 1);
  CHECK(folder.cache().store(sample("a")));
  CHECK(folder.cache().find(sample("a").key()) == sample("a"));
}

TEST_CASE("patience may be as long or as short as a number can say") {
  CacheFolder folder;
  { const Claim claim = folder.cache().claim(sample("a").key(), std::chrono::milliseconds::max()); }
  const Claim held = folder.cache().claim(sample("a").key(), std::chrono::milliseconds::min());
  CHECK(folder.warnings().empty());
  const Claim in_vain = folder.cache().claim(sample("a").key(), std::chrono::milliseconds::min());
  CHECK(folder.warnings().size() == 1);
}

}  // namespace
}  // namespace jitbag::cache
