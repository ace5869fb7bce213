#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "jitbag/cache/cache.hpp"
#include "support/variable.hpp"

namespace jitbag::test {
namespace {

struct Read {
  cache::CacheOptions options;
  std::vector<std::string> warnings;
};

/// What the environment gives with this one variable set; JITBAG_CACHE_DIR is always there.
Read read_with(const char* name, const std::optional<std::string>& value) {
  const Variable folder("JITBAG_CACHE_DIR", "/some/folder");
  const Variable variable(name, value);
  Read read;
  read.options = cache::options_from_environment(
      [&](std::string_view sentence) { read.warnings.emplace_back(sentence); });
  return read;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The options are as without the variable, and the one warning has those words.
void check_left_out(const Read& read, const std::string& words) {
  REQUIRE(read.warnings.size() == 1);
  CHECK(contains(read.warnings[0], words));
}

TEST_CASE("a limit is a number of bytes, with K, M, G or T as powers of 1024") {
  const auto limit = [](const std::optional<std::string>& text) {
    const Read read = read_with("JITBAG_CACHE_MAX_BYTES", text);
    CHECK(read.warnings.empty());
    return read.options.max_bytes;
  };
  CHECK(limit({}) == std::uint64_t{1} << 30);
  CHECK(limit("") == std::uint64_t{1} << 30);
  CHECK(limit("0") == 0);
  CHECK(limit("1") == 1);
  CHECK(limit("7K") == 7 << 10);
  CHECK(limit("512M") == 512 << 20);
  CHECK(limit("3G") == std::uint64_t{3} << 30);
  CHECK(limit("2T") == std::uint64_t{2} << 40);
  CHECK(limit("18446744073709551615") == 18446744073709551615u);
}

TEST_CASE("a limit that is no number of bytes is said, with its value, and left out") {
  for (const char* text : {"many", "-1", "1.5G", "10 G", "1GB", "K", "18446744073709551616",
                           "18446744073709551615K", "0x10"}) {
    const Read read = read_with("JITBAG_CACHE_MAX_BYTES", text);
    check_left_out(read, "\"" + std::string(text) + "\"");
    CHECK(read.options.max_bytes == std::uint64_t{1} << 30);
  }
}

TEST_CASE("layers are the absolute paths between colons; others are said and left out") {
  const Read good = read_with("JITBAG_CACHE_PATH", "/a:/b/c.bundle::/d e:");
  CHECK(good.warnings.empty());
  CHECK(good.options.layers == std::vector<std::filesystem::path>{"/a", "/b/c.bundle", "/d e"});
  const Read mixed = read_with("JITBAG_CACHE_PATH", "/a:b:/c");
  check_left_out(mixed, "\"b\"");
  CHECK(mixed.options.layers == std::vector<std::filesystem::path>{"/a", "/c"});
  CHECK(read_with("JITBAG_CACHE_PATH", {}).options.layers.empty());
}

TEST_CASE("a remote is an http or https url; anything else is said, without its text") {
  CHECK(read_with("JITBAG_CACHE_REMOTE", "https://cache.example/jitbag").options.remote ==
        "https://cache.example/jitbag");
  const Read other = read_with("JITBAG_CACHE_REMOTE", "ftp://user:secret@cache.example");
  check_left_out(other, "JITBAG_CACHE_REMOTE");
  CHECK_FALSE(contains(other.warnings[0], "secret"));
  CHECK_FALSE(other.options.remote.has_value());
  CHECK_FALSE(read_with("JITBAG_CACHE_REMOTE", "").options.remote.has_value());
}

TEST_CASE("the remote is written to for 1 alone") {
  CHECK(read_with("JITBAG_CACHE_REMOTE_WRITE", "1").options.remote_write);
  CHECK_FALSE(read_with("JITBAG_CACHE_REMOTE_WRITE", "0").options.remote_write);
  CHECK_FALSE(read_with("JITBAG_CACHE_REMOTE_WRITE", {}).options.remote_write);
  const Read other = read_with("JITBAG_CACHE_REMOTE_WRITE", "yes");
  check_left_out(other, "\"yes\"");
  CHECK_FALSE(other.options.remote_write);
}

TEST_CASE("without any folder to be named there is one sentence that names the variable") {
  const Variable folder("JITBAG_CACHE_DIR", std::nullopt);
  const Variable caches("XDG_CACHE_HOME", std::nullopt);
  const Variable home("HOME", "not/absolute");
  std::vector<std::string> warnings;
  const auto options = cache::options_from_environment(
      [&](std::string_view sentence) { warnings.emplace_back(sentence); });
  CHECK_FALSE(options.directory.has_value());
  REQUIRE(warnings.size() == 1);
  CHECK(contains(warnings[0], "JITBAG_CACHE_DIR"));
}

}  // namespace
}  // namespace jitbag::test
