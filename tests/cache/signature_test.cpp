#include "jitbag/cache/signature.hpp"

#include <openssl/err.h>
#include <openssl/rsa.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "cache/key_pair.hpp"
#include "cache/refusal.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

using test::bytes_of;
using test::KeyPair;
using test::refusal;
using test::says;
using test::TemporaryFolder;
namespace fs = std::filesystem;

using Pkey = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

std::string signing_refusal(const fs::path& path) {
  return refusal([&] { static_cast<void>(SigningKey::read(path)); });
}
std::string trusted_refusal(const fs::path& path) {
  return refusal([&] { static_cast<void>(TrustedKey::read(path)); });
}

fs::path rsa_key(const fs::path& folder) {
  const Pkey key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const fs::path path = folder / "rsa.pem";
  std::FILE* file = std::fopen(path.c_str(), "w");
  PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  PEM_write_PUBKEY(file, key.get());
  std::fclose(file);
  fs::permissions(path, fs::perms(0600));
  return path;
}

fs::path encrypted_key(const fs::path& folder) {
  const std::vector<unsigned char> seed(32, 7);
  const Pkey key(EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()),
                 EVP_PKEY_free);
  const fs::path path = folder / "encrypted.pem";
  std::FILE* file = std::fopen(path.c_str(), "w");
  PEM_write_PrivateKey(file, key.get(), EVP_aes_128_cbc(),
                       reinterpret_cast<const unsigned char*>("secret"), 6, nullptr, nullptr);
  std::fclose(file);
  fs::permissions(path, fs::perms(0600));
  return path;
}

TEST_CASE("a signature is of one message by one key, and no other") {
  const TemporaryFolder folder;
  const KeyPair ours(folder.path(), 1);
  const KeyPair theirs(folder.path(), 2);
  const auto message = bytes_of("a message");
  const Signature signature = ours.signing().sign(message);

  CHECK(ours.trusted().has_signed(message, signature));
  CHECK_FALSE(theirs.trusted().has_signed(message, signature));
  CHECK_FALSE(ours.trusted().has_signed(bytes_of("a messagf"), signature));
  CHECK_FALSE(ours.trusted().has_signed({}, signature));
  for (std::size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    Signature changed = signature;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    if (ours.trusted().has_signed(message, changed)) FAIL("bit " << bit << " does not matter");
  }
  CHECK(ERR_peek_error() == 0);  // the list of errors is the caller's
}

TEST_CASE("the same message gets the same signature") {
  const TemporaryFolder folder;
  const KeyPair pair(folder.path(), 1);
  CHECK(pair.signing().sign(bytes_of("m")) == pair.signing().sign(bytes_of("m")));
}

TEST_CASE("threads sign and check with one key") {
  const TemporaryFolder folder;
  const KeyPair pair(folder.path(), 1);
  const SigningKey signing = pair.signing();
  const TrustedKey trusted = pair.trusted();
  std::vector<std::thread> threads;
  std::vector<int> good(4);
  for (std::size_t i = 0; i < good.size(); ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const auto message = bytes_of(std::to_string(i) + " " + std::to_string(round));
        good[i] += trusted.has_signed(message, signing.sign(message)) ? 1 : 0;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(good == std::vector<int>(4, 50));
}

TEST_CASE("every wrong key file is refused with what is wrong and what to do") {
  const TemporaryFolder folder;
  const KeyPair pair(folder.path(), 1);
  const fs::path rubbish = folder.path() / "rubbish.pem";
  test::write_content(rubbish, "not a key");
  const fs::path empty = folder.path() / "empty.pem";
  test::write_content(empty, "");
  const fs::path huge = folder.path() / "huge.pem";
  test::write_content(huge, std::string(100'000, 'x'));
  const fs::path cut = folder.path() / "cut.pem";
  test::write_content(cut, test::content_of(pair.signing_file()).substr(0, 60));

  for (const auto& refused : {signing_refusal, trusted_refusal}) {
    CHECK(says(refused(folder.path() / "none.pem"), "No such file"));
    CHECK(says(refused(folder.path()), "is not a plain file"));
    CHECK(says(refused(rubbish), "in PEM"));
    CHECK(says(refused(empty), "in PEM"));
    CHECK(says(refused(huge), "has 100000 bytes"));
    CHECK(says(refused(rsa_key(folder.path())), "is of type RSA"));
  }
  CHECK(says(signing_refusal(cut), "is no private key in PEM"));
  CHECK(says(signing_refusal(pair.trusted_file()), "is a public key"));
  CHECK(says(trusted_refusal(pair.signing_file()), "is a private key"));
  CHECK(says(signing_refusal(encrypted_key(folder.path())), "is encrypted"));
  CHECK(says(signing_refusal(rubbish), "The signing key " + rubbish.string()));
  CHECK(ERR_peek_error() == 0);
}

TEST_CASE("a fifo in the place of a key is refused and not waited for") {
  const TemporaryFolder folder;
  const fs::path fifo = folder.path() / "fifo.pem";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK(says(trusted_refusal(fifo), "is not a plain file"));
}

TEST_CASE("a private key that others can read is refused, a public one that others can write") {
  const TemporaryFolder folder;
  const KeyPair pair(folder.path(), 1);
  for (const unsigned mode : {0640u, 0604u, 0620u, 0602u, 0610u}) {
    fs::permissions(pair.signing_file(), fs::perms(mode));
    CHECK(says(signing_refusal(pair.signing_file()), "can be used by other users"));
  }
  for (const unsigned mode : {0660u, 0606u}) {
    fs::permissions(pair.trusted_file(), fs::perms(mode));
    CHECK(says(trusted_refusal(pair.trusted_file()), "can be written by other users"));
  }
  fs::permissions(pair.signing_file(), fs::perms(0400));
  fs::permissions(pair.trusted_file(), fs::perms(0644));
  CHECK(signing_refusal(pair.signing_file()) == "nothing");
  CHECK(trusted_refusal(pair.trusted_file()) == "nothing");
}

TEST_CASE("a key of another user is refused, one of root is not") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can give files away");
    return;
  }
  const TemporaryFolder folder;
  const KeyPair pair(folder.path(), 1);
  fs::permissions(folder.path(), fs::perms(0755));
  fs::permissions(pair.trusted_file(), fs::perms(0644));
  test::Child nobody([&] {
    test::become_nobody();
    return trusted_refusal(pair.trusted_file()) == "nothing" ? 0 : 1;
  });
  CHECK(nobody.wait() == 0);
  REQUIRE(::chown(pair.trusted_file().c_str(), 12345, 12345) == 0);
  REQUIRE(::chown(pair.signing_file().c_str(), 12345, 12345) == 0);
  CHECK(says(trusted_refusal(pair.trusted_file()), "belongs to user 12345"));
  CHECK(says(signing_refusal(pair.signing_file()), "belongs to user 12345"));
}

}  // namespace
}  // namespace jitbag::cache
