// What people do with a folder: list, verify, prune, clear.
#include <sys/stat.h>

#include <chrono>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "catch.hpp"
#include "jitbag/cache/error.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::contains;
using test::sample;
using test::set_age;

/// Three records, a producer, a damaged record and leftovers old and new.
struct Used {
  CacheFolder folder;
  fs::path damaged = folder.cache().path_of(sample("damaged").key());
  fs::path old_leftover = folder.path() / "records" / ".new+old";
  fs::path new_leftover = folder.path() / "records" / ".new+new";

  Used() {
    for (const std::string name : {"a", "b", "c", "damaged"})
      REQUIRE(folder.cache().store(sample(name)));
    test::write_content(damaged, "not a record");
    folder.cache().remember({"build", "a compiler"});
    test::write_content(old_leftover, "half");
    set_age(old_leftover, 4000);
    test::write_content(new_leftover, "half");
    test::write_content(folder.path() / "note", "the user's own");
    test::write_content(damaged.parent_path() / "x.record", "the user's own");
  }
  [[nodiscard]] const DiskCache& cache() const { return folder.cache(); }
};

TEST_CASE("a folder that does not exist has nothing to keep up, and is not made") {
  CacheFolder folder;
  CHECK(folder.cache().entries().empty());
  CHECK(folder.cache().verify().whole == 0);
  CHECK(folder.cache().prune({}).records == 0);
  CHECK(folder.cache().clear().records == 0);
  CHECK_FALSE(fs::exists(folder.path()));
}

TEST_CASE("a folder that is refused is an error with a sentence") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  REQUIRE(::chmod(folder.path().c_str(), 0777) == 0);
  const std::string reason = "can be written by other users (mode 0777)";
  try {
    static_cast<void>(folder.cache().entries());
    FAIL("a folder that others can write to was listed");
  } catch (const Error& error) {
    CHECK(contains(error.what(), reason));
  }
  CHECK_THROWS_AS(folder.cache().verify(), Error);
  CHECK_THROWS_AS(folder.cache().prune({}), Error);
  CHECK_THROWS_AS(folder.cache().clear(), Error);
}

TEST_CASE("the entries are the records, in the order of the keys, with size and time of use") {
  CacheFolder folder;
  for (int i = 0; i < 50; ++i) {
    const Record record = sample(std::to_string(i));
    REQUIRE(folder.cache().store(record));
    set_age(folder.cache().path_of(record.key()), 1000 + i);
  }
  const std::vector<Entry> entries = folder.cache().entries();
  REQUIRE(entries.size() == 50);
  for (std::size_t i = 1; i < entries.size(); ++i)
    CHECK(entries[i - 1].key.bytes < entries[i].key.bytes);
  for (const Entry& entry : entries) {
    const auto age = std::chrono::system_clock::now() - entry.last_used;
    CHECK(age >= std::chrono::seconds(999));
    CHECK(age < std::chrono::seconds(1100));
    CHECK(entry.bytes == fs::file_size(folder.cache().path_of(entry.key)));
  }
}

TEST_CASE("what only looks like a record is no entry") {
  CacheFolder folder;
  REQUIRE(folder.cache().store(sample("a")));
  const fs::path shard = folder.cache().path_of(sample("a").key()).parent_path();
  const std::string other = (shard.filename() == "00" ? "11" : "00") + std::string(62, '0');
  test::write_content(shard / (other + ".record"), "in the wrong place");
  test::write_content(shard / (std::string(63, 'a') + ".record"), "too short");
  test::write_content(shard / ".new+1", "half");
  test::write_content(folder.path() / "records" / "zz", "no shard");
  CHECK(folder.cache().entries().size() == 1);
}

TEST_CASE("verify reads every record, says what is damaged, and touches nothing") {
  Used used;
  set_age(used.cache().path_of(sample("a").key()), 5000);
  const test::Snapshot before = test::snapshot(used.folder.path());
  std::vector<std::pair<std::size_t, std::size_t>> steps;
  const Verified verified = used.cache().verify(
      [&](std::size_t done, std::size_t all) { steps.emplace_back(done, all); });
  CHECK(verified.whole == 3);
  CHECK(verified.bytes ==
        encode(sample("a")).size() + encode(sample("b")).size() + encode(sample("c")).size());
  REQUIRE(verified.damaged.size() == 1);
  CHECK(verified.damaged[0].path == used.damaged);
  CHECK(verified.damaged[0].sentence == "It does not start as a record does.");
  CHECK(steps == std::vector<std::pair<std::size_t, std::size_t>>{{1, 4}, {2, 4}, {3, 4}, {4, 4}});
  CHECK(test::snapshot(used.folder.path()) == before);
}

TEST_CASE("prune removes damage and old leftovers, and without a limit nothing else") {
  Used used;
  const Removed removed = used.cache().prune({});
  CHECK(removed.records == 1);
  CHECK(removed.record_bytes == 12);
  CHECK(removed.leftovers == 1);
  CHECK_FALSE(fs::exists(used.damaged));
  CHECK_FALSE(fs::exists(used.old_leftover));
  CHECK(fs::exists(used.new_leftover));
  CHECK(fs::exists(used.folder.path() / "note"));
  CHECK(used.cache().entries().size() == 3);
  CHECK(used.cache().producers().size() == 1);
}

TEST_CASE("prune with a limit removes those used longest ago, as far as needed") {
  Used used;
  set_age(used.cache().path_of(sample("a").key()), 500);
  set_age(used.cache().path_of(sample("b").key()), 700);
  set_age(used.cache().path_of(sample("c").key()), 600);
  const std::uint64_t size = encode(sample("a")).size();
  const Removed removed = used.cache().prune({.max_bytes = 2 * size});
  CHECK(removed.records == 2);
  CHECK_FALSE(used.cache().find(sample("b").key()));
  CHECK(used.cache().find(sample("a").key()));
  CHECK(used.cache().find(sample("c").key()));
  CHECK(used.folder.warnings().empty());
}

TEST_CASE("a dry run says what prune would remove, and removes nothing") {
  Used used;
  const test::Snapshot before = test::snapshot(used.folder.path());
  const Removed would = used.cache().prune({.max_bytes = 1, .dry_run = true});
  CHECK(test::snapshot(used.folder.path()) == before);
  const Removed removed = used.cache().prune({.max_bytes = 1});
  CHECK(would.records == 4);
  CHECK(removed.records == would.records);
  CHECK(removed.record_bytes == would.record_bytes);
  CHECK(removed.leftovers == would.leftovers);
  CHECK(used.cache().entries().empty());
}

TEST_CASE("prune removes a folder and a link in a record's place, and not what the link names") {
  Used used;
  const fs::path elsewhere = used.folder.parent() / "elsewhere";
  test::write_content(elsewhere, "the user's own");
  fs::remove(used.damaged);
  fs::create_symlink(elsewhere, used.damaged);
  const fs::path folder = used.cache().path_of(sample("a").key());
  fs::remove(folder);
  fs::create_directories(folder / "inside");
  CHECK(used.cache().prune({}).records == 2);
  CHECK(test::content_of(elsewhere) == "the user's own");
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("clear removes all that the cache has made, and nothing else") {
  Used used;
  const Removed removed = used.cache().clear();
  CHECK(removed.records == 4);
  CHECK(removed.leftovers == 2);
  CHECK(used.cache().producers().empty());
  std::vector<std::string> files;
  for (const std::string& name : test::names_below(used.folder.path()))
    if (fs::is_regular_file(used.folder.path() / name)) files.push_back(name);
  const fs::path shard = used.damaged.parent_path().filename();
  CHECK(files ==
        std::vector<std::string>{"lock", "note", ("records" / shard / "x.record").string()});
  CHECK(used.cache().store(sample("a")));
  CHECK(used.cache().find(sample("a").key()) == sample("a"));
}

TEST_CASE("health removes what an old check left behind") {
  Used used;
  CHECK(used.cache().health().usable);
  CHECK_FALSE(fs::exists(used.old_leftover));
  CHECK(fs::exists(used.new_leftover));
}

}  // namespace
}  // namespace jitbag::cache
