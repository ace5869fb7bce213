#include "jitbag/cache/key.hpp"

#include <set>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

TEST_CASE("SHA-256 gives the values that NIST published") {
  CHECK(sha256({}).hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256(test::bytes_of("abc")).hex() ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256(test::bytes_of(std::string(1'000'000, 'a'))).hex() ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("a digest is read from exactly what it writes") {
  const Digest digest = sha256(test::bytes_of("abc"));
  CHECK(Digest::from_hex(digest.hex()) == digest);
  CHECK_FALSE(Digest::from_hex(""));
  CHECK_FALSE(Digest::from_hex(digest.hex().substr(1)));
  CHECK_FALSE(Digest::from_hex(digest.hex() + "0"));
  CHECK_FALSE(Digest::from_hex("g" + digest.hex().substr(1)));
  CHECK_FALSE(Digest::from_hex("A" + digest.hex().substr(1)));
}

TEST_CASE("a key is the same on every machine and for ever") {
  // Computed by another program from the form that docs/cache.md describes.
  const std::vector<Field> fields{{"target", "sm_90"}, {"entry", "k"}};
  CHECK(key_of(fields).hex() == "886c5901ba547a2aaf35e7b092829612f103a8717930885e639a2c7181c2b8e0");
  CHECK(key_of({}).hex() == "1c5799a330ed621d43cca722ab57f6d6fe40ba99bb71990eea86164c918c89ba");
}

TEST_CASE("fields that read alike when joined have different keys") {
  const std::vector<std::vector<Field>> lists{
      {},
      {{"", ""}},
      {{"", ""}, {"", ""}},
      {{"ab", "c"}},
      {{"a", "bc"}},
      {{"abc", ""}},
      {{"", "abc"}},
      {{"a", "b"}, {"c", ""}},
      {{"c", ""}, {"a", "b"}},
      {{"a", ""}, {"b", "c"}},
      {{"a", "b"}, {"", "c"}},
      {{"a", "bc"}, {"", ""}},
      {{"", ""}, {"a", "bc"}},
      {{"a", std::string("b\0c", 3)}},
      {{std::string("a\0b", 3), "c"}},
      {{"a", std::string("b\0", 2)}, {"c", ""}},
      {{"a", std::string("\1\0\0\0\0\0\0\0b", 9)}},
  };
  std::set<std::string> keys;
  for (const auto& fields : lists) keys.insert(key_of(fields).hex());
  CHECK(keys.size() == lists.size());
}

}  // namespace
}  // namespace jitbag::cache
