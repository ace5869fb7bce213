#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace jitbag::cache {

/// An Ed25519 signature (RFC 8032).
using Signature = std::array<std::byte, 64>;

/// An Ed25519 private key, from a PEM file such as `openssl genpkey -algorithm ed25519` writes.
class SigningKey {
 public:
  /// Throws Error: not there, not a private Ed25519 key, encrypted, or readable by other users.
  [[nodiscard]] static SigningKey read(const std::filesystem::path& pem);
  /// Any thread may sign.
  [[nodiscard]] Signature sign(std::span<const std::byte> message) const;

 private:
  struct State;
  explicit SigningKey(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// An Ed25519 public key, from a PEM file such as `openssl pkey -pubout` writes.
class TrustedKey {
 public:
  /// Throws Error: not there, not a public Ed25519 key, or writable by other users.
  [[nodiscard]] static TrustedKey read(const std::filesystem::path& pem);
  /// Any thread may ask.
  [[nodiscard]] bool has_signed(std::span<const std::byte> message,
                                const Signature& signature) const;

 private:
  struct State;
  explicit TrustedKey(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace jitbag::cache
