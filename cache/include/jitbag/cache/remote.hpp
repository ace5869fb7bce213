#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "jitbag/cache/layer.hpp"
#include "jitbag/cache/signature.hpp"
#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

struct RemoteOptions {
  std::string url;  ///< http(s)://[user:password@]host[:port][/path]
  bool write = false;
  std::optional<TrustedKey> trusted = {};  ///< records that it has not signed are misses
  std::optional<SigningKey> signing = {};  ///< signs what is written
  std::chrono::milliseconds connect_timeout{500};
  std::chrono::milliseconds timeout{2000};  ///< for one whole request
  std::chrono::seconds pause{60};           ///< how long a server that failed is left alone
};

/// Records by key on a web server, over plain GET and PUT: `<url>/records/<xx>/<key>.record`, as in
/// a folder. libcurl is opened at the first request. Any number of threads may use one. No method
/// throws; a server that is slow, dead or wrong costs one timeout and one warning, and is then left
/// alone for a while.
class Remote {
 public:
  /// Opens nothing.
  Remote(RemoteOptions options, Warn warn);

  /// The url without user and password.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] bool writes() const noexcept;

  [[nodiscard]] std::optional<Record> find(const Digest& key) const;
  /// True when the server took it.
  bool store(const Record& record) const;

  /// The producer that wrote here last: `<url>/producers/latest`.
  [[nodiscard]] std::optional<Producer> latest_producer() const;
  void remember(const Producer& producer) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace jitbag::cache
