// What may stand in a record's place, each a miss that the next store heals.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "cache/cache_folder.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using test::CacheFolder;
using test::sample;

/// A folder with a record, and where the record lies.
struct StoredRecord {
  CacheFolder folder;
  Record record = sample("a");
  fs::path path = folder.cache().path_of(record.key());

  StoredRecord() { REQUIRE(folder.cache().store(record)); }

  void check_miss_then_healed(const std::string& reason) {
    CHECK_FALSE(folder.cache().find(record.key()));
    CHECK_FALSE(folder.cache().find(record.key()));
    REQUIRE(folder.warnings().size() == 1);
    CHECK(folder.warnings()[0] ==
          "The record " + path.string() + " is not used and will be replaced: " + reason);
    CHECK(folder.cache().store(record));
    CHECK(folder.cache().find(record.key()) == record);
    CHECK(fs::is_regular_file(fs::symlink_status(path)));
    CHECK(test::mode_of(path) == 0600);
    const auto names = test::names_below(path.parent_path());
    CHECK(names == std::vector<std::string>{".", path.filename().string()});
    CHECK(folder.warnings().size() == 1);
  }
};

TEST_CASE("an empty file is a miss and healed") {
  StoredRecord stored;
  test::write_content(stored.path, "");
  stored.check_miss_then_healed("It does not start as a record does.");
}

TEST_CASE("a torn record is a miss and healed") {
  StoredRecord stored;
  const std::string whole = test::content_of(stored.path);
  test::write_content(stored.path, whole.substr(0, whole.size() / 2));
  stored.check_miss_then_healed("Its checksum does not fit its content.");
}

TEST_CASE("a record with blocks of zeros, as a power cut leaves them, is a miss and healed") {
  StoredRecord stored;
  test::write_content(stored.path, std::string(test::content_of(stored.path).size(), '\0'));
  stored.check_miss_then_healed("It does not start as a record does.");
}

TEST_CASE("one flipped bit anywhere in a stored record is a miss") {
  StoredRecord stored;
  const std::string whole = test::content_of(stored.path);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    test::write_content(stored.path, damaged);
    if (stored.folder.cache().find(stored.record.key())) FAIL("byte " << at << " is not seen");
  }
  CHECK(stored.folder.warnings().size() == 1);
  CHECK(stored.folder.cache().store(stored.record));
  CHECK(test::content_of(stored.path) == whole);
}

TEST_CASE("a whole record under another key's name is a miss and healed") {
  StoredRecord stored;
  REQUIRE(stored.folder.cache().store(sample("b")));
  const fs::path other = stored.folder.cache().path_of(sample("b").key());
  test::write_content(stored.path, test::content_of(other));
  fs::remove(other);
  stored.check_miss_then_healed("It holds the record of another key.");
}

TEST_CASE("a full folder is a miss and healed") {
  StoredRecord stored;
  fs::remove(stored.path);
  fs::create_directories(stored.path / "more" / "inside");
  test::write_content(stored.path / "more" / "file", "x");
  stored.check_miss_then_healed("It is a folder.");
}

TEST_CASE("a fifo is a miss, does not hang, and is healed") {
  StoredRecord stored;
  fs::remove(stored.path);
  REQUIRE(::mkfifo(stored.path.c_str(), 0600) == 0);
  stored.check_miss_then_healed("It is a fifo.");
}

TEST_CASE("a symbolic link is a miss, even to the record, and healed without touching its target") {
  StoredRecord stored;
  const fs::path elsewhere = stored.folder.parent() / "elsewhere";
  fs::rename(stored.path, elsewhere);
  const std::string content = test::content_of(elsewhere);
  fs::create_symlink(elsewhere, stored.path);
  stored.check_miss_then_healed("It is a symbolic link.");
  CHECK(test::content_of(elsewhere) == content);
}

TEST_CASE("a link to nothing is a miss and healed") {
  StoredRecord stored;
  fs::remove(stored.path);
  fs::create_symlink("nothing", stored.path);
  stored.check_miss_then_healed("It is a symbolic link.");
}

TEST_CASE("a record that others could have written is a miss and healed") {
  StoredRecord stored;
  fs::permissions(stored.path, fs::perms(0620));
  stored.check_miss_then_healed("It can be written by other users (mode 0620).");
}

TEST_CASE("another user's record is a miss and healed") {
  if (::geteuid() != 0) return;  // only root can give a file away
  StoredRecord stored;
  REQUIRE(::chown(stored.path.c_str(), 65534, 0) == 0);
  stored.check_miss_then_healed("It belongs to user 65534, not to user 0.");
}

TEST_CASE("a file too large to be a record is a miss, is not read, and is healed") {
  StoredRecord stored;
  fs::resize_file(stored.path, std::uintmax_t{1} << 40);
  stored.check_miss_then_healed("It has 1099511627776 bytes, more than the 268435456 allowed.");
}

TEST_CASE("each damaged record has its own warning") {
  StoredRecord stored;
  REQUIRE(stored.folder.cache().store(sample("b")));
  test::write_content(stored.path, "x");
  test::write_content(stored.folder.cache().path_of(sample("b").key()), "x");
  for (int i = 0; i < 3; ++i) {
    CHECK_FALSE(stored.folder.cache().find(sample("a").key()));
    CHECK_FALSE(stored.folder.cache().find(sample("b").key()));
  }
  CHECK(stored.folder.warnings().size() == 2);
}

TEST_CASE("whatever stands in a record's place can be discarded") {
  StoredRecord stored;
  fs::remove(stored.path);
  fs::create_directories(stored.path / "inside");
  stored.folder.cache().discard(stored.record.key());
  CHECK_FALSE(fs::exists(stored.path));
  CHECK_FALSE(stored.folder.cache().find(stored.record.key()));
  CHECK(stored.folder.warnings().empty());
}

}  // namespace
}  // namespace jitbag::cache
