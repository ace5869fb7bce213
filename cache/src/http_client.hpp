#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace jitbag::cache {

struct HttpTimeouts {
  std::chrono::milliseconds connect;
  std::chrono::milliseconds whole;
};

/// What a server said, or in a clause why it said nothing.
struct HttpAnswer {
  long status = 0;  ///< 0: there was no whole answer
  std::vector<std::byte> body;
  std::string problem;
};

/// Requests over libcurl. Any number of threads; connections are kept for the next request.
class HttpClient {
 public:
  explicit HttpClient(HttpTimeouts timeouts);

  /// An answer with a larger body than that is none.
  [[nodiscard]] HttpAnswer get(const std::string& url, std::size_t largest_body) const;
  [[nodiscard]] HttpAnswer put(const std::string& url, std::span<const std::byte> body) const;

 private:
  class Connections;
  HttpTimeouts timeouts_;
  std::shared_ptr<Connections> connections_;
};

}  // namespace jitbag::cache
