#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "jitbag/cache/signature.hpp"

namespace jitbag::test {

/// An Ed25519 key pair in PEM files, always the same one for the same number.
class KeyPair {
 public:
  KeyPair(const std::filesystem::path& folder, unsigned char number)
      : signing_file_(folder / ("signing-" + std::to_string(number) + ".pem")),
        trusted_file_(folder / ("trusted-" + std::to_string(number) + ".pem")) {
    std::array<unsigned char, 32> seed{};
    seed.fill(number);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
        EVP_PKEY_free);
    write(signing_file_, [&](std::FILE* file) {
      return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    });
    write(trusted_file_, [&](std::FILE* file) { return PEM_write_PUBKEY(file, key.get()); });
  }

  [[nodiscard]] const std::filesystem::path& signing_file() const { return signing_file_; }
  [[nodiscard]] const std::filesystem::path& trusted_file() const { return trusted_file_; }
  [[nodiscard]] cache::SigningKey signing() const { return cache::SigningKey::read(signing_file_); }
  [[nodiscard]] cache::TrustedKey trusted() const { return cache::TrustedKey::read(trusted_file_); }

 private:
  template <class Action>
  static void write(const std::filesystem::path& path, Action&& action) {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr || action(file) != 1) throw std::runtime_error("no key was written");
    std::fclose(file);
    std::filesystem::permissions(path, std::filesystem::perms(0600));
  }

  std::filesystem::path signing_file_;
  std::filesystem::path trusted_file_;
};

}  // namespace jitbag::test
