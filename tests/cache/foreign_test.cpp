// Private: what another user may have planted is not followed, and a set-uid program takes nothing
// from its environment.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::contains;
using test::sample;

constexpr uid_t stranger = 1234;

/// A full cache folder elsewhere, and a link to it in the place of the folder.
struct Linked {
  CacheFolder folder;
  fs::path elsewhere = folder.parent() / "elsewhere";

  Linked() {
    REQUIRE(DiskCache(elsewhere, {}).store(sample("a")));
    fs::create_directory_symlink("elsewhere", folder.path());
  }
};

TEST_CASE("the folder may be a link that this user has made") {
  Linked linked;
  CHECK(linked.folder.cache().find(sample("a").key()) == sample("a"));
  CHECK(linked.folder.cache().store(sample("b")));
  CHECK(linked.folder.cache().entries().size() == 2);
  CHECK(linked.folder.warnings().empty());
}

TEST_CASE("the folder may be a link to a link, and a ring of links is one warning") {
  Linked linked;
  fs::create_directory_symlink(linked.folder.path(), linked.folder.parent() / "second");
  CHECK(DiskCache(linked.folder.parent() / "second", linked.folder.listener())
            .find(sample("a").key()));
  CHECK(linked.folder.warnings().empty());

  fs::create_directory_symlink("ring", linked.folder.parent() / "ring");
  const DiskCache ring(linked.folder.parent() / "ring", linked.folder.listener());
  CHECK_FALSE(ring.find(sample("a").key()));
  CHECK_FALSE(ring.store(sample("a")));
  CHECK(linked.folder.warnings().size() == 1);
}

TEST_CASE("a link that another user has planted is not followed") {
  if (::geteuid() != 0) return;  // only root can give a link away
  Linked linked;
  REQUIRE(::lchown(linked.folder.path().c_str(), stranger, stranger) == 0);
  const test::Snapshot before = test::snapshot(linked.elsewhere);
  // A slash at the end must not make the kernel follow it.
  const fs::path named = GENERATE(false, true) ? linked.folder.path() / "" : linked.folder.path();
  const DiskCache cache(named, linked.folder.listener());
  CHECK_FALSE(cache.find(sample("a").key()));
  CHECK_FALSE(cache.store(sample("b")));
  CHECK_FALSE(cache.health().usable);
  REQUIRE(linked.folder.warnings().size() == 1);
  CHECK(contains(linked.folder.warnings()[0], "is a symbolic link of user 1234"));
  CHECK(test::snapshot(linked.elsewhere) == before);
}

TEST_CASE("a link in the place of records or of a shard is refused, whoever made it") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const fs::path shard = folder.cache().path_of(sample("a").key()).parent_path();
  const fs::path moved = GENERATE(false, true) ? shard : shard.parent_path();
  const fs::path elsewhere = folder.parent() / "elsewhere";
  fs::rename(moved, elsewhere);
  fs::create_directory_symlink(elsewhere, moved);
  const test::Snapshot before = test::snapshot(elsewhere);
  CHECK_FALSE(folder.cache().find(sample("a").key()));
  CHECK_FALSE(folder.cache().store(sample("a")));
  REQUIRE(folder.warnings().size() == 1);
  CHECK(contains(folder.warnings()[0], moved.string() + " is not a folder"));
  CHECK(test::snapshot(elsewhere) == before);
}

TEST_CASE("a link in the place of the lock is not followed") {
  CacheFolder folder;
  const fs::path elsewhere = folder.parent() / "elsewhere";
  REQUIRE(folder.cache().health().usable);
  fs::create_symlink(elsewhere, folder.path() / "lock");
  { const Claim claim = folder.cache().claim(sample("a").key(), std::chrono::milliseconds(1)); }
  CHECK(folder.cache().store(sample("a")));
  CHECK_FALSE(fs::exists(elsewhere));
  CHECK(folder.warnings().size() == 1);
}

TEST_CASE("a leftover that is a link is removed, and not what it names") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const fs::path shard = folder.cache().path_of(sample("a").key()).parent_path();
  const fs::path elsewhere = folder.parent() / "elsewhere";
  fs::create_directory(elsewhere);
  test::write_content(elsewhere / "note", "the user's own");
  fs::create_directory_symlink(elsewhere, shard / ".old+1");
  fs::create_directory(shard / ".old+2");
  fs::create_directory_symlink(elsewhere, shard / ".old+2" / "inside");
  test::set_age(shard / ".old+1", 4000);
  test::set_age(shard / ".old+2", 4000);
  CHECK(folder.cache().prune({}).leftovers == 2);
  CHECK_FALSE(fs::exists(fs::symlink_status(shard / ".old+1")));
  CHECK_FALSE(fs::exists(fs::symlink_status(shard / ".old+2")));
  CHECK(test::content_of(elsewhere / "note") == "the user's own");
}

/// What environment_probe.cpp says where every variable names a place of an attacker's.
std::string probe(const fs::path& program, const fs::path& output) {
  test::Child child([&] {
    test::become_nobody();
    for (const char* name : {"JITBAG_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "JITBAG_NVRTC",
                             "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "PATH"})
      ::setenv(name, "/planted", 1);
    const std::string command = program.string() + " > " + output.string();
    return ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
  });
  REQUIRE(child.wait() == 0);
  return test::content_of(output);
}

TEST_CASE("a set-uid program takes neither a folder nor a compiler from its environment") {
  if (::geteuid() != 0) return;  // only root can make a program set-uid for another user
  const test::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0777));
  const fs::path program = folder.path() / "probe";
  fs::copy_file(JITBAG_TEST_ENVIRONMENT_PROBE, program);
  REQUIRE(::chmod(program.c_str(), 0755) == 0);
  const std::string plain = probe(program, folder.path() / "plain");
  CHECK(contains(plain, "secure no"));
  CHECK(contains(plain, "directory /planted"));
  CHECK(contains(plain, "compiler /planted"));

  REQUIRE(::chown(program.c_str(), stranger, stranger) == 0);
  REQUIRE(::chmod(program.c_str(), 06755) == 0);
  const std::string set_uid = probe(program, folder.path() / "set-uid");
  if (set_uid.find("secure no") != std::string::npos) {
    WARN("not tested: the temporary folder is on a file system that is mounted nosuid");
    return;
  }
  CHECK(contains(set_uid, "secure yes"));
  CHECK(contains(set_uid, "directory none"));
  CHECK_FALSE(contains(set_uid, "/planted"));
}

}  // namespace
}  // namespace jitbag::cache
