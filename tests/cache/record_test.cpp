#include "jitbag/cache/record.hpp"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::cache {
namespace {

using Bytes = std::vector<std::byte>;
using Failures = std::vector<std::string>;  // one check for thousands of cases

std::string hex(const Bytes& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte) / 16];
    text += digits[std::to_integer<unsigned>(byte) % 16];
  }
  return text;
}

Record tiny() {
  return {{{"target", "sm_90"}, {"entry", "k"}}, {std::byte{0}, std::byte{0xff}, std::byte{'J'}}};
}

/// The content under a checksum that fits, as someone who means harm would send it.
Bytes sealed(Bytes content) {
  const Digest digest = sha256(content);
  content.insert(content.end(), digest.bytes.begin(), digest.bytes.end());
  return content;
}

Bytes content_of(const Record& record) {
  const Bytes bytes = encode(record);
  return {bytes.begin(), bytes.end() - sizeof(Digest::bytes)};
}

bool is_refused(const Bytes& bytes) {
  const Decoded decoded = decode(bytes);
  return !decoded.record && !decoded.problem.empty();
}

TEST_CASE("the record format is what it was when it got its version") {
  CHECK(hex(encode(tiny())) ==
        "4a49544241475243"  // JITBAGRC
        "0100000000000000"  // format version
        "0200000000000000"  // two fields
        "0600000000000000"
        "746172676574"  // target
        "0500000000000000"
        "736d5f3930"  // sm_90
        "0500000000000000"
        "656e747279"  // entry
        "0100000000000000"
        "6b"  // k
        "0300000000000000"
        "00ff4a"  // payload
        "97869ff9f702bab9db16d7666231b065180a04426422d2684eb6318f8836906f");
}

TEST_CASE("a record reads back as it was written") {
  const Record record = GENERATE(Record{}, tiny(), Record{{{"", ""}}, {}},
                                 Record{{{"option", "-a"}, {"option", "-b"}}, Bytes(70'000)});
  const Bytes bytes = encode(record);
  CHECK(bytes == encode(record));
  const Decoded decoded = decode(bytes);
  REQUIRE(decoded.record);
  CHECK(*decoded.record == record);
  CHECK(decoded.record->key() == record.key());
  CHECK(decoded.problem.empty());
}

TEST_CASE("a record with any byte changed is refused") {
  const Bytes whole = encode(tiny());
  Failures unseen;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (unsigned change = 1; change < 256; ++change) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(change);
      if (!is_refused(bytes))
        unseen.push_back("byte " + std::to_string(at) + " xor " + std::to_string(change));
    }
  }
  CHECK(unseen == Failures{});
}

TEST_CASE("a record cut anywhere, or with more behind it, is refused") {
  const Bytes whole = encode(tiny());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO("cut after " << size);
    CHECK(is_refused({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
  for (const std::size_t more : {1, 7, 32, 4096}) {
    INFO(more << " more");
    Bytes bytes = whole;
    bytes.resize(whole.size() + more);
    CHECK(is_refused(bytes));
  }
}

TEST_CASE("a fitting checksum does not make up for lengths that lie") {
  const Bytes content = content_of(tiny());
  const auto with_number = [&](std::size_t at, std::uint64_t number) {
    Bytes bytes = content;
    for (unsigned i = 0; i < 8; ++i) bytes[at + i] = static_cast<std::byte>(number >> 8 * i & 0xff);
    return sealed(bytes);
  };
  for (const std::size_t at : {16, 24, 38, 51, 64, 73}) {  // the numbers after the version
    const auto right = std::to_integer<std::uint64_t>(content[at]);
    REQUIRE_FALSE(is_refused(with_number(at, right)));
    for (const std::uint64_t number :
         {right - 1, right + 1, right + 32, std::uint64_t{1} << 32, std::uint64_t{1} << 60,
          ~std::uint64_t{0} - 7, ~std::uint64_t{0} - 31, ~std::uint64_t{0}}) {
      INFO("number at " << at << " = " << number);
      CHECK(is_refused(with_number(at, number)));
    }
  }
  Bytes longer = content;
  longer.push_back(std::byte{0});
  CHECK(is_refused(sealed(longer)));
  CHECK(is_refused(sealed({})));
  CHECK(is_refused(sealed({content.begin(), content.begin() + 16})));
}

TEST_CASE("a record of another format version says so") {
  Bytes content = content_of(tiny());
  content[8] = std::byte{2};
  CHECK(decode(sealed(content)).problem == "Its format version is 2, and this program reads 1.");
}

TEST_CASE("random damage under a fitting checksum is refused or read for what it is") {
  INFO("JITBAG_TEST_SEED=" << test::seed());
  std::mt19937_64 random(test::seed());
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  const auto any_byte = [&] { return static_cast<std::byte>(random() & 0xffu); };
  const Bytes content = content_of(tiny());
  Failures unsound;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes = content;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = 16 + below(bytes.size() - 16);
      const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
      switch (below(4)) {
        case 0:
          *place = any_byte();
          break;
        case 1:
          bytes.insert(place, any_byte());
          break;
        case 2:
          if (bytes.size() > 20) bytes.erase(place);
          break;
        default:
          std::fill(place, bytes.end(), std::byte{0xff});
      }
    }
    const Bytes damaged = sealed(bytes);
    const Decoded decoded = decode(damaged);
    const bool sound = decoded.record ? encode(*decoded.record) == damaged  // another record, whole
                                      : !decoded.problem.empty();
    if (!sound) unsound.push_back(hex(damaged));
  }
  CHECK(unsound == Failures{});
}

TEST_CASE("random bytes are no record") {
  INFO("JITBAG_TEST_SEED=" << test::seed());
  std::mt19937_64 random(test::seed());
  Failures read;
  for (int round = 0; round < 5'000; ++round) {
    Bytes bytes(random() % 300);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xffu);
    if (!is_refused(bytes)) read.push_back(hex(bytes));
  }
  CHECK(read == Failures{});
}

}  // namespace
}  // namespace jitbag::cache
