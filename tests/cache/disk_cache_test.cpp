#include "jitbag/cache/disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "cache/cache_folder.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::sample;
using test::set_age;

/// Sets an environment variable, or takes it away, for as long as this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value != nullptr)
      ::setenv(name_, value, 1);
    else
      ::unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> old_;
};

TEST_CASE("the folder is JITBAG_CACHE_DIR, else below XDG_CACHE_HOME, else below HOME, else none") {
  const auto with = [](const char* own, const char* caches, const char* home) {
    const Variable first("JITBAG_CACHE_DIR", own);
    const Variable second("XDG_CACHE_HOME", caches);
    const Variable third("HOME", home);
    return default_directory().value_or("none").string();
  };
  CHECK(with("/own", "/caches", "/home/a") == "/own");
  CHECK(with(nullptr, "/caches", "/home/a") == "/caches/jitbag");
  CHECK(with(nullptr, nullptr, "/home/a") == "/home/a/.cache/jitbag");
  CHECK(with(nullptr, nullptr, nullptr) == "none");
  CHECK(with("", "", "") == "none");
  CHECK(with("own", "./caches", "/home/a") == "/home/a/.cache/jitbag");
  CHECK(with("own", "caches", "~") == "none");
}

TEST_CASE("a stored record is found, by every cache on that folder") {
  CacheFolder folder;
  CHECK_FALSE(folder.cache().find(sample("a").key()));
  REQUIRE(folder.cache().store(sample("a")));
  CHECK(folder.cache().find(sample("a").key()) == sample("a"));
  CHECK_FALSE(folder.cache().find(sample("b").key()));
  CHECK(DiskCache(folder.path(), {}).find(sample("a").key()) == sample("a"));
  CHECK(folder.warnings().empty());
}

TEST_CASE("a record lies where the documentation says") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const std::string hex = sample("a").key().hex();
  const std::string shard = "records/" + hex.substr(0, 2);
  CHECK(test::names_below(folder.path()) == std::vector<std::string>{".", "lock", "records", shard,
                                                                     shard + "/" + hex + ".record",
                                                                     "total"});
  CHECK(folder.cache().path_of(sample("a").key()) ==
        folder.path() / "records" / hex.substr(0, 2) / (hex + ".record"));
}

TEST_CASE("asking makes nothing") {
  CacheFolder folder;
  CHECK_FALSE(folder.cache().find(sample("a").key()));
  CHECK(folder.cache().producers().empty());
  folder.cache().discard(sample("a").key());
  CHECK_FALSE(fs::exists(folder.path()));
  CHECK(folder.warnings().empty());
}

TEST_CASE("folders are made for this user alone, with their parents, whatever the umask") {
  CacheFolder folder;
  const fs::path deep = folder.parent() / "x" / "y" / "cache";
  const DiskCache cache(deep, folder.listener());
  const mode_t old = ::umask(0);
  const bool stored = cache.store(sample("a"));
  cache.remember({"build", "a compiler"});
  { const Claim claim = cache.claim(sample("a").key(), std::chrono::seconds(1)); }
  ::umask(old);
  REQUIRE(stored);
  for (const std::string& name : test::names_below(folder.parent() / "x")) {
    const fs::path path = folder.parent() / "x" / name;
    INFO(path);
    CHECK(test::mode_of(path) == (fs::is_directory(path) ? 0700 : 0600));
  }
  CHECK(folder.warnings().empty());
}

TEST_CASE("a hit leaves the folder untouched") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  folder.cache().remember({"build", "a compiler"});
  { const Claim claim = folder.cache().claim(sample("a").key(), std::chrono::seconds(1)); }
  const test::Snapshot before = test::snapshot(folder.path());

  const DiskCache warm(folder.path(), folder.listener());
  CHECK(warm.find(sample("a").key()) == sample("a"));
  CHECK(warm.producers() == std::vector<Producer>{{"build", "a compiler"}});
  CHECK(test::snapshot(folder.path()) == before);

  CHECK(warm.store(sample("a")));
  warm.remember({"build", "a compiler"});
  CHECK(test::snapshot(folder.path()) == before);
}

TEST_CASE("a whole record is left alone by a second store") {
  CacheFolder folder;
  Record second = sample("a");
  second.payload = test::bytes_of("the payload of the loser of a race");
  REQUIRE(folder.cache().store(sample("a")));
  CHECK(folder.cache().store(second));
  CHECK(folder.cache().find(second.key()) == sample("a"));
}

TEST_CASE("a discarded record is gone, and can be stored anew") {
  CacheFolder folder;
  Record better = sample("a");
  better.payload = test::bytes_of("better");
  REQUIRE(folder.cache().store(sample("a")));
  folder.cache().discard(sample("a").key());
  CHECK_FALSE(folder.cache().find(sample("a").key()));
  REQUIRE(folder.cache().store(better));
  CHECK(folder.cache().find(better.key()) == better);
  CHECK(folder.warnings().empty());
}

TEST_CASE("threads that store and find the same records get them whole") {
  CacheFolder folder;
  constexpr int count = 8;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&folder, &wrong, i] {
      for (int round = 0; round < 20; ++round) {
        const Record record = sample(std::to_string((round + i) % 5));
        const auto before = folder.cache().find(record.key());
        if (before && *before != record) ++wrong;
        if (!folder.cache().store(record)) ++wrong;
        if (folder.cache().find(record.key()) != record) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(folder.warnings().empty());
  for (const std::string& name : test::names_below(folder.path()))
    CHECK(name.find('+') == std::string::npos);  // no temporary file is left
}

TEST_CASE("what a dead process left goes after an hour, and what a living one writes stays") {
  CacheFolder folder;
  const fs::path shard = folder.cache().path_of(sample("a").key()).parent_path();
  fs::create_directories(shard / ".old+1" / "full");
  for (const fs::path& made : {folder.path(), folder.path() / "records", shard})
    fs::permissions(made, fs::perms(0700));
  test::write_content(shard / ".new+1", "half a rec");
  test::write_content(shard / ".new+2", "half a rec");
  test::write_content(shard / "note", "the user's own");
  set_age(shard / ".old+1", 3700);
  set_age(shard / ".new+1", 3700);
  set_age(shard / ".new+2", 3500);
  set_age(shard / "note", 3700);
  REQUIRE(folder.cache().store(sample("a")));
  CHECK_FALSE(fs::exists(shard / ".old+1"));
  CHECK_FALSE(fs::exists(shard / ".new+1"));
  CHECK(fs::exists(shard / ".new+2"));
  CHECK(fs::exists(shard / "note"));
}

TEST_CASE("producers are remembered once and listed with the last first") {
  CacheFolder folder;
  folder.cache().remember({"first", "NVRTC 12.9"});
  folder.cache().remember({"2nd_one.x-y", "NVRTC 13.0"});
  set_age(folder.path() / "producers" / "first", 20);
  set_age(folder.path() / "producers" / "2nd_one.x-y", 10);
  folder.cache().remember({"first", "known already"});
  const std::vector<Producer> expected{{"2nd_one.x-y", "NVRTC 13.0"}, {"first", "NVRTC 12.9"}};
  CHECK(folder.cache().producers() == expected);
  CHECK(folder.warnings().empty());
}

TEST_CASE("a producer's id cannot name a file elsewhere") {
  CacheFolder folder;
  for (const std::string& id :
       {std::string(), std::string("."), std::string(".."), std::string("../x"), std::string("/x"),
        std::string("a b"), std::string("a\0b", 3), std::string("\xc3\xa9"), std::string(201, 'a')})
    folder.cache().remember({id, "bad"});
  CHECK_FALSE(fs::exists(folder.path()));
  CHECK(folder.warnings().size() == 1);
  CHECK(folder.cache().producers().empty());
}

TEST_CASE("a long description is cut below 4 KiB, between characters") {
  CacheFolder folder;
  std::string long_text = "x";
  while (long_text.size() < 10'000) long_text += "\xc3\xa9";
  folder.cache().remember({"build", long_text});
  const auto producers = folder.cache().producers();
  REQUIRE(producers.size() == 1);
  CHECK(producers[0].description == long_text.substr(0, 3071));
  folder.cache().remember({"build", long_text});
  CHECK(folder.cache().producers() == producers);
}

TEST_CASE("things that are no producers are not listed") {
  CacheFolder folder;
  folder.cache().remember({"build", "good"});
  const fs::path producers = folder.path() / "producers";
  test::write_content(producers / ".new+1", "half");
  test::write_content(producers / "open", "anyone's");
  fs::permissions(producers / "open", fs::perms(0666));
  test::write_content(producers / "large", std::string(10'000, 'x'));
  fs::create_directory(producers / "folder");
  fs::create_symlink("build", producers / "link");
  fs::create_symlink("nothing", producers / "dangling");
  CHECK(folder.cache().producers() == std::vector<Producer>{{"build", "good"}});
}

TEST_CASE("health says that records can be written, and leaves nothing behind") {
  CacheFolder folder;
  const auto health = folder.cache().health();
  CHECK(health.usable);
  CHECK(health.sentence == "Records are kept in " + folder.path().string() + ".");
  CHECK(test::names_below(folder.path()) == std::vector<std::string>{".", "records"});
}

TEST_CASE("a relative folder stays where it is when the program goes elsewhere") {
  const test::TemporaryFolder here;
  const fs::path before = fs::current_path();
  fs::current_path(here.path());
  const DiskCache cache("cache", {});
  fs::current_path(before);
  CHECK(cache.store(sample("a")));
  CHECK(fs::exists(here.path() / "cache" / "records"));
}

}  // namespace
}  // namespace jitbag::cache
