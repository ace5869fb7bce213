#include "jitbag/cache/key.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"

namespace jitbag::cache {
namespace {

std::string sha256_of(std::string_view text) {
  return sha256(std::as_bytes(std::span(text.data(), text.size()))).hex();
}

std::string key(const std::vector<Field>& fields) {
  return key_of(fields).hex();
}

TEST_CASE("SHA-256 gives the digests of FIPS 180") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST_CASE("fields that read alike when joined have different keys") {
  const std::vector<std::vector<Field>> lists = {
      {},
      {{"", ""}},
      {{"a", "bc"}},
      {{"ab", "c"}},
      {{"abc", ""}},
      {{"", "abc"}},
      {{"a", ""}, {"bc", ""}},
      {{"a", "b"}, {"c", ""}},
      {{"c", ""}, {"a", "b"}},
      {{"a", std::string("b\0c", 3)}},
      {{"a", std::string("b\0", 2)}, {"c", ""}},
  };
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      INFO(i << " and " << j);
      CHECK(key(lists[i]) != key(lists[j]));
    }
  }
}

TEST_CASE("equal fields have equal keys") {
  CHECK(key({{"source", "text"}, {"target", "sm_90"}}) ==
        key({{"source", "text"}, {"target", "sm_90"}}));
}

TEST_CASE("a digest is read back from its 64 characters, and from nothing else") {
  const Digest digest = key_of(std::vector<Field>{{"a", "b"}});
  REQUIRE(digest.hex().size() == 64);
  CHECK(Digest::from_hex(digest.hex()) == digest);
  CHECK_FALSE(Digest::from_hex("").has_value());
  CHECK_FALSE(Digest::from_hex(digest.hex() + "0").has_value());
  CHECK_FALSE(Digest::from_hex(digest.hex().substr(1)).has_value());
  std::string wrong = digest.hex();
  wrong[10] = 'g';
  CHECK_FALSE(Digest::from_hex(wrong).has_value());
}

}  // namespace
}  // namespace jitbag::cache
