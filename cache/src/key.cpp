#include "jitbag/cache/key.hpp"

#include <openssl/evp.h>

#include <stdexcept>

#include "bytes.hpp"

namespace jitbag::cache {
namespace {

// What a key is the SHA-256 of: these 16 bytes, the version, the fields as a record holds them. A
// change of that form gets a new version, and so new keys for everything.
constexpr std::string_view key_domain = "jitbag cache key";
constexpr std::uint64_t key_version = 1;

/// Fetched once: a fetch takes longer than the hash of a record. Never freed, because threads may
/// still hash while the process ends.
const EVP_MD* sha256_method() {
  static const EVP_MD* const method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  return method;
}

std::optional<unsigned> hex_digit(char character) {
  if (character >= '0' && character <= '9') return static_cast<unsigned>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<unsigned>(character - 'a' + 10);
  return {};
}

}  // namespace

std::string Digest::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const std::byte byte : bytes) {
    text += digits[std::to_integer<unsigned>(byte >> 4)];
    text += digits[std::to_integer<unsigned>(byte & std::byte{15})];
  }
  return text;
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != 2 * digest.bytes.size()) return {};
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const auto high = hex_digit(text[2 * i]);
    const auto low = hex_digit(text[2 * i + 1]);
    if (!high || !low) return {};
    digest.bytes[i] = static_cast<std::byte>(*high << 4 | *low);
  }
  return digest;
}

Digest sha256(std::span<const std::byte> bytes) {
  Digest digest;
  auto* out = reinterpret_cast<unsigned char*>(digest.bytes.data());
  const EVP_MD* method = sha256_method();
  if (method == nullptr ||
      EVP_Digest(bytes.data(), bytes.size(), out, nullptr, method, nullptr) != 1)
    throw std::runtime_error(
        "OpenSSL's libcrypto offers no SHA-256 here; check its configuration (OPENSSL_CONF).");
  return digest;
}

Digest key_of(std::span<const Field> fields) {
  ByteWriter writer(key_domain.size() + 8 + size_of(fields));
  writer.add(key_domain);
  writer.add_number(key_version);
  writer.add_fields(fields);
  return sha256(writer.bytes());
}

}  // namespace jitbag::cache
