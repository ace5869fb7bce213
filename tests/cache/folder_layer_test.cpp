// A folder that is only read.
#include "jitbag/cache/folder_layer.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::contains;
using test::sample;

/// A folder that someone else has filled.
struct ShippedFolder {
  CacheFolder folder;
  FolderLayer layer{folder.path(), folder.listener()};

  ShippedFolder() {
    REQUIRE(folder.cache().store(sample("a")));
    REQUIRE(folder.cache().store(sample("b")));
    folder.cache().remember({"build", "a compiler"});
  }
  void give_to(uid_t user) const {
    for (const std::string& name : test::names_below(folder.path()))
      REQUIRE(::lchown((folder.path() / name).c_str(), user, user) == 0);
  }
};

TEST_CASE("a layer finds and lists what is in the folder") {
  ShippedFolder shipped;
  CHECK(shipped.layer.place() == Place::folder);
  CHECK(shipped.layer.where() == shipped.folder.path());
  CHECK(shipped.layer.find(sample("a").key()) == sample("a"));
  CHECK_FALSE(shipped.layer.find(sample("c").key()));
  const auto keys = shipped.layer.keys();
  CHECK(keys.size() == 2);
  CHECK(std::ranges::is_sorted(keys, {}, &Digest::bytes));
  CHECK(shipped.layer.producers() == std::vector<Producer>{{"build", "a compiler"}});
  CHECK(shipped.folder.warnings().empty());
}

TEST_CASE("a layer changes nothing, not even a time of use") {
  ShippedFolder shipped;
  test::set_age(shipped.folder.cache().path_of(sample("a").key()), 100'000);
  test::write_content(shipped.folder.cache().path_of(sample("b").key()), "damaged");
  const test::Snapshot before = test::snapshot(shipped.folder.path());
  CHECK(shipped.layer.find(sample("a").key()));
  CHECK_FALSE(shipped.layer.find(sample("b").key()));
  CHECK_FALSE(shipped.layer.keys().empty());
  CHECK_FALSE(shipped.layer.producers().empty());
  CHECK(test::snapshot(shipped.folder.path()) == before);
  REQUIRE(shipped.folder.warnings().size() == 1);
  CHECK(contains(shipped.folder.warnings()[0], "is not used: It does not start"));
}

TEST_CASE("a layer that does not exist is one warning and is not made") {
  CacheFolder folder;
  const FolderLayer layer(folder.path(), folder.listener());
  for (int i = 0; i < 2; ++i) {
    CHECK_FALSE(layer.find(sample("a").key()));
    CHECK(layer.keys().empty());
    CHECK(layer.producers().empty());
  }
  REQUIRE(folder.warnings().size() == 1);
  CHECK(folder.warnings()[0] ==
        "The layer " + folder.path().string() +
            " is not used: it does not exist; name in JITBAG_CACHE_PATH folders and bundles that "
            "this user can read and that nobody but this user and root can write to.");
  CHECK_FALSE(fs::exists(folder.path()));
}

TEST_CASE("an empty folder is a layer without records, and no warning") {
  CacheFolder folder;
  fs::create_directory(folder.path());
  fs::permissions(folder.path(), fs::perms(0755));
  const FolderLayer layer(folder.path(), folder.listener());
  CHECK_FALSE(layer.find(sample("a").key()));
  CHECK(layer.keys().empty());
  CHECK(folder.warnings().empty());
}

TEST_CASE("a layer that others can write to is refused") {
  ShippedFolder shipped;
  REQUIRE(::chmod((shipped.folder.path() / "records").c_str(), 0775) == 0);
  CHECK_FALSE(shipped.layer.find(sample("a").key()));
  CHECK(shipped.layer.keys().empty());
  REQUIRE(shipped.folder.warnings().size() == 1);
  CHECK(contains(shipped.folder.warnings()[0], "can be written by other users (mode 0775)"));
}

TEST_CASE("root's layer serves everyone who can read it, and another user's serves nobody else") {
  if (::geteuid() != 0) return;  // only root can give files away
  ShippedFolder shipped;
  fs::permissions(shipped.folder.parent(), fs::perms(0755));
  for (const std::string& name : test::names_below(shipped.folder.path())) {
    const fs::path path = shipped.folder.path() / name;
    REQUIRE(::chmod(path.c_str(), fs::is_directory(path) ? 0755 : 0644) == 0);
  }
  const auto found_by_nobody = [&] {
    test::Child child([&] {
      test::become_nobody();
      return shipped.layer.find(sample("a").key()) == sample("a") ? 0 : 1;
    });
    return child.wait() == 0;
  };
  CHECK(found_by_nobody());
  shipped.give_to(1234);
  CHECK_FALSE(found_by_nobody());
  CHECK_FALSE(shipped.layer.find(sample("a").key()));
  REQUIRE(shipped.folder.warnings().size() == 1);
  CHECK(contains(shipped.folder.warnings()[0], "belongs to user 1234, not to user 0"));
}

TEST_CASE("what root owns in a layer counts, and what another user owns does not") {
  if (::geteuid() != 0) return;
  ShippedFolder shipped;
  REQUIRE(::chown(shipped.folder.cache().path_of(sample("a").key()).c_str(), 1234, 0) == 0);
  CHECK_FALSE(shipped.layer.find(sample("a").key()));
  CHECK(shipped.layer.find(sample("b").key()) == sample("b"));
  CHECK(shipped.folder.warnings().size() == 1);
}

}  // namespace
}  // namespace jitbag::cache
