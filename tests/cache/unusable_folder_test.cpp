// A cache that cannot work is a cache that misses, with one warning.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::sample;

/// Calls everything twice; true when all of it was a miss.
bool misses_everything(const DiskCache& cache) {
  bool missed = true;
  for (int i = 0; i < 2; ++i) {
    missed = missed && !cache.find(sample("a").key());
    const Claim claim = cache.claim(sample("a").key(), std::chrono::milliseconds(1));
    missed = missed && !cache.store(sample("a"));
    cache.remember({"build", "a compiler"});
    missed = missed && cache.producers().empty();
    cache.discard(sample("a").key());
    missed = missed && !cache.health().usable;
  }
  return missed;
}

std::string sentence(const fs::path& folder, const std::string& reason) {
  return "The cache folder " + folder.string() + " is not used: " + reason +
         "; set JITBAG_CACHE_DIR to a folder of your own that can be written.";
}

void check_unusable(CacheFolder& folder, const fs::path& path, const std::string& reason) {
  const DiskCache cache(path, folder.listener());
  CHECK(misses_everything(cache));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0] == sentence(path, reason));
  CHECK(cache.health().sentence == folder.warnings()[0]);
}

TEST_CASE("a folder that others can write to is refused, even by root") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const unsigned mode = GENERATE(0777u, 0720u, 0702u);
  REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
  const auto before = test::snapshot(folder.path());
  const std::string octal = mode == 0777u ? "0777" : mode == 0720u ? "0720" : "0702";
  check_unusable(folder, folder.path(),
                 folder.path().string() + " can be written by other users (mode " + octal + ")");
  CHECK(test::snapshot(folder.path()) == before);
}

TEST_CASE("a folder inside that others can write to is refused too") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const fs::path records = folder.path() / "records";
  REQUIRE(::chmod(records.c_str(), 0777) == 0);
  CHECK_FALSE(folder.cache().find(sample("a").key()));
  CHECK_FALSE(folder.cache().store(sample("b")));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0] ==
        sentence(folder.path(), records.string() + " can be written by other users (mode 0777)"));
}

TEST_CASE("another user's folder is refused, even by root") {
  if (::geteuid() != 0) return;  // only root can give a folder away
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  REQUIRE(::chown(folder.path().c_str(), 65534, 65534) == 0);
  check_unusable(folder, folder.path(),
                 folder.path().string() + " belongs to user 65534, not to user 0");
}

TEST_CASE("a file where the folder should be is one warning") {
  CacheFolder folder;
  test::write_content(folder.path(), "x");
  check_unusable(folder, folder.path(), folder.path().string() + " is not a folder");
  CHECK(test::content_of(folder.path()) == "x");
}

TEST_CASE("a file on the way to the folder is one warning") {
  CacheFolder folder;
  test::write_content(folder.path(), "x");
  const DiskCache cache(folder.path() / "a" / "b", folder.listener());
  CHECK(misses_everything(cache));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0].find("JITBAG_CACHE_DIR") != std::string::npos);
  CHECK(folder.warnings()[0].find(cache.directory().string()) != std::string::npos);
}

TEST_CASE("a folder that cannot be made is one warning") {
  for (const std::string path : {"", "/proc/jitbag/cache", "/dev/null/cache"}) {
    INFO(path);
    int warnings = 0;
    CHECK(misses_everything(DiskCache(path, [&](std::string_view) { ++warnings; })));
    CHECK(warnings == 1);
  }
}

TEST_CASE("a read-only folder is one warning, and its records are still found") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  fs::permissions(folder.parent(), fs::perms(0755));  // so that nobody gets there
  for (const std::string& name : test::names_below(folder.path())) {
    const fs::path path = folder.path() / name;
    if (::geteuid() == 0) REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
    REQUIRE(::chmod(path.c_str(), fs::is_directory(path) ? 0500 : 0400) == 0);
  }
  test::Child child([&] {
    test::become_nobody();
    int warnings = 0;
    const DiskCache cache(folder.path(), [&](std::string_view) { ++warnings; });
    if (cache.find(sample("a").key()) != sample("a") || !cache.store(sample("a"))) return 1;
    if (warnings != 0) return 2;
    const Claim claim = cache.claim(sample("b").key(), std::chrono::milliseconds(1));
    if (cache.store(sample("b")) || cache.health().usable) return 3;
    cache.remember({"build", "a compiler"});
    cache.discard(sample("a").key());
    if (cache.find(sample("a").key()) != sample("a")) return 4;
    return warnings == 1 ? 0 : 5;
  });
  CHECK(child.wait() == 0);
  for (const std::string& name : test::names_below(folder.path()))
    if (fs::is_directory(folder.path() / name)) ::chmod((folder.path() / name).c_str(), 0700);
}

TEST_CASE("a disk that is full leaves no part of a record, and is one warning") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const auto before = test::names_below(folder.path());
  test::Child child([&] {
    ::signal(SIGXFSZ, SIG_IGN);  // then a write past the limit fails as on a full disk
    const rlimit limit{40, 40};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    std::string warning;
    int warnings = 0;
    const DiskCache cache(folder.path(), [&](std::string_view said) {
      warning = said;
      ++warnings;
    });
    Record large = sample("a");
    large.fields.push_back({"more", std::string(100'000, 'x')});
    for (int i = 0; i < 2; ++i) {
      if (cache.store(large) || cache.find(large.key())) return 2;
      if (cache.find(sample("a").key()) != sample("a")) return 3;
    }
    if (warnings != 1) return 4;
    return warning.find("JITBAG_CACHE_DIR") != std::string::npos ? 0 : 5;
  });
  CHECK(child.wait() == 0);
  std::vector<std::string> after = test::names_below(folder.path());
  std::erase_if(after,
                [&](const std::string& name) {  // the shard was made before the disk was full
                  return fs::is_directory(folder.path() / name) &&
                         std::find(before.begin(), before.end(), name) == before.end();
                });
  CHECK(after == before);
}

TEST_CASE("a callback that throws, or none at all, breaks nothing") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  CHECK(misses_everything(DiskCache(folder.path(), {})));
  CHECK(misses_everything(
      DiskCache(folder.path(), [](std::string_view) { throw std::runtime_error("no"); })));
}

TEST_CASE("a callback may use the cache") {
  CacheFolder folder;
  REQUIRE(::mkdir(folder.path().c_str(), 0777) == 0);
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  const DiskCache* self = nullptr;
  int warnings = 0;
  const DiskCache cache(folder.path(), [&](std::string_view) {
    ++warnings;
    CHECK_FALSE(self->store(sample("a")));
  });
  self = &cache;
  CHECK_FALSE(cache.store(sample("a")));
  CHECK(warnings == 1);
}

}  // namespace
}  // namespace jitbag::cache
