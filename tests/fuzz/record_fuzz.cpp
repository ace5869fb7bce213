// Whatever the bytes are, decode() says what they hold or what is wrong, and what it takes it gives
// back byte for byte.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "jitbag/cache/record.hpp"

namespace {

using jitbag::cache::Decoded;
using jitbag::cache::sha256;

constexpr std::size_t digest_size = sizeof(jitbag::cache::Digest::bytes);

void check(std::span<const std::byte> bytes) {
  const Decoded decoded = jitbag::cache::decode(bytes);
  if (decoded.record.has_value() != decoded.problem.empty()) std::abort();
  if (decoded.record && !std::ranges::equal(jitbag::cache::encode(*decoded.record), bytes))
    std::abort();
}

/// No fuzzer guesses a SHA-256: with it set right, the lengths behind it are reached.
std::vector<std::byte> with_its_checksum(std::span<const std::byte> bytes) {
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  if (sealed.size() < digest_size) return sealed;
  const auto end = std::span(sealed).last(digest_size);
  std::ranges::copy(sha256(std::span(sealed).first(sealed.size() - digest_size)).bytes,
                    end.begin());
  return sealed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  check(with_its_checksum(bytes));
  return 0;
}
