#include "jitbag/cache/signature.hpp"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "file.hpp"
#include "jitbag/cache/error.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t largest_key_file = 64 << 10;
constexpr std::string_view how_to_make_one =
    "make a key by `openssl genpkey -algorithm ed25519 -out FILE`";
constexpr std::string_view how_to_publish_one =
    "write it by `openssl pkey -in PRIVATE -pubout -out FILE`";

template <auto function>
struct FreedBy {
  template <class Object>
  void operator()(Object* object) const {
    function(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;

/// OpenSSL's list of errors belongs to the whole thread: ours are taken off it again.
class OwnErrors {
 public:
  OwnErrors() { ERR_set_mark(); }
  OwnErrors(const OwnErrors&) = delete;
  OwnErrors& operator=(const OwnErrors&) = delete;
  ~OwnErrors() { ERR_pop_to_mark(); }
};

/// The text of a key's file, wiped with its owner.
class KeyText {
 public:
  explicit KeyText(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {
    // Of no bytes OpenSSL makes no BIO, and without a BIO some of its versions crash.
    if (bytes_.empty()) bytes_.push_back(std::byte{'\n'});
  }
  KeyText(const KeyText&) = delete;
  KeyText& operator=(const KeyText&) = delete;
  ~KeyText() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

  [[nodiscard]] Bio bio() const {
    return Bio(BIO_new_mem_buf(bytes_.data(), static_cast<int>(bytes_.size())));
  }
  [[nodiscard]] bool has(std::string_view words) const {
    return std::string_view(reinterpret_cast<const char*>(bytes_.data()), bytes_.size())
               .find(words) != std::string_view::npos;
  }

 private:
  std::vector<std::byte> bytes_;
};

struct KeyKind {
  const char* name;      ///< what the file is to hold
  mode_t refused_modes;  ///< what its group and others may not have
  const char* refused;   ///< the same in words
};
constexpr KeyKind signing_kind{"signing key", S_IRWXG | S_IRWXO, "can be used by other users"};
constexpr KeyKind trusted_kind{"trusted key", S_IWGRP | S_IWOTH, "can be written by other users"};

[[noreturn]] void refuse(const KeyKind& kind, const fs::path& path, std::string_view clause) {
  throw Error(fmt::format("The {} {} {}.", kind.name, path.string(), clause));
}

void require_safe(const KeyKind& kind, const fs::path& path, const struct stat& info) {
  if (!S_ISREG(info.st_mode)) refuse(kind, path, "is not a plain file");
  const uid_t user = ::geteuid();
  if (info.st_uid != user && info.st_uid != 0)
    refuse(kind, path,
           fmt::format("belongs to user {}, neither to user {} nor to root: copy it", info.st_uid,
                       user));
  if ((info.st_mode & kind.refused_modes) != 0)
    refuse(
        kind, path,
        fmt::format("{} (mode {:04o}): run `chmod go-{} {}`", kind.refused, info.st_mode & 07777u,
                    kind.refused_modes == signing_kind.refused_modes ? "rwx" : "w", path.string()));
  if (std::cmp_greater(info.st_size, largest_key_file))
    refuse(kind, path,
           fmt::format("has {} bytes, too many for a key: name a PEM file", info.st_size));
}

KeyText read_text(const KeyKind& kind, const fs::path& path) {
  const Descriptor file = open_at(AT_FDCWD, path.c_str(), O_RDONLY);
  if (!file) refuse(kind, path, fmt::format("cannot be opened ({})", system_reason()));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    refuse(kind, path, fmt::format("cannot be looked at ({})", system_reason()));
  require_safe(kind, path, info);
  auto bytes = read_file(file, static_cast<std::size_t>(info.st_size));
  if (!bytes) refuse(kind, path, fmt::format("cannot be read ({})", system_reason()));
  return KeyText(std::move(*bytes));
}

void require_ed25519(const KeyKind& kind, const fs::path& path, const Key& key) {
  if (EVP_PKEY_get_id(key.get()) == EVP_PKEY_ED25519) return;
  const char* type = EVP_PKEY_get0_type_name(key.get());
  refuse(kind, path,
         fmt::format("is of type {}, and signatures here are Ed25519: {}",
                     type != nullptr ? type : "unknown", how_to_make_one));
}

/// Asked for by OpenSSL when a key is encrypted. We have none to give, and never ask at a terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*for_writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Key private_key_from(const fs::path& path) {
  const KeyText text = read_text(signing_kind, path);
  bool asked = false;
  Key key(PEM_read_bio_PrivateKey(text.bio().get(), nullptr, no_password, &asked));
  if (key) return key;
  if (asked)
    refuse(signing_kind, path,
           "is encrypted: write it without a password by `openssl pkey -in FILE -out PLAIN`");
  if (text.has("PUBLIC KEY"))
    refuse(signing_kind, path, "is a public key: name the private key that belongs to it");
  refuse(signing_kind, path, fmt::format("is no private key in PEM: {}", how_to_make_one));
}

Key public_key_from(const fs::path& path) {
  const KeyText text = read_text(trusted_kind, path);
  Key key(PEM_read_bio_PUBKEY(text.bio().get(), nullptr, nullptr, nullptr));
  if (key) return key;
  if (text.has("PRIVATE KEY"))
    refuse(trusted_kind, path,
           fmt::format("is a private key, which has no place where one only checks: name the "
                       "public key, and {}",
                       how_to_publish_one));
  refuse(trusted_kind, path, fmt::format("is no public key in PEM: {}", how_to_publish_one));
}

const unsigned char* data_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

}  // namespace

struct SigningKey::State {
  Key key;
};

SigningKey SigningKey::read(const fs::path& pem) {
  const OwnErrors errors;
  Key key = private_key_from(pem);
  require_ed25519(signing_kind, pem, key);
  return SigningKey(std::make_shared<State>(State{std::move(key)}));
}

Signature SigningKey::sign(std::span<const std::byte> message) const {
  const OwnErrors errors;
  const DigestContext context(EVP_MD_CTX_new());
  Signature signature{};
  std::size_t size = signature.size();
  if (!context ||
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, state_->key.get()) != 1 ||
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     data_of(message), message.size()) != 1 ||
      size != signature.size())
    throw Error(
        "OpenSSL's libcrypto signs nothing with Ed25519 here; check its configuration "
        "(OPENSSL_CONF).");
  return signature;
}

struct TrustedKey::State {
  Key key;
};

TrustedKey TrustedKey::read(const fs::path& pem) {
  const OwnErrors errors;
  Key key = public_key_from(pem);
  require_ed25519(trusted_kind, pem, key);
  return TrustedKey(std::make_shared<State>(State{std::move(key)}));
}

bool TrustedKey::has_signed(std::span<const std::byte> message, const Signature& signature) const {
  const OwnErrors errors;
  const DigestContext context(EVP_MD_CTX_new());
  return context &&
         EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, state_->key.get()) == 1 &&
         EVP_DigestVerify(context.get(), data_of(signature), signature.size(), data_of(message),
                          message.size()) == 1;
}

}  // namespace jitbag::cache
