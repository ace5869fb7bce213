#include "http_client.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <utility>

#include "curl.hpp"
#include "sigpipe_blocked.hpp"

namespace jitbag::cache {
namespace {

constexpr std::size_t most_kept_handles = 8;
constexpr long most_redirects = 3;
constexpr std::size_t largest_answer_to_put = 64 << 10;

struct Cleanup {
  void operator()(CURL* handle) const { curl().easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, Cleanup>;

struct FreeList {
  void operator()(curl_slist* list) const { curl().slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

/// What arrives, as far as it may.
struct Incoming {
  std::size_t largest;
  std::vector<std::byte> bytes;
  bool too_large = false;
};

/// libcurl calls these from C: nothing may be thrown.
std::size_t receive(char* data, std::size_t /*one*/, std::size_t size, void* to) noexcept {
  auto& incoming = *static_cast<Incoming*>(to);
  incoming.too_large = size > incoming.largest - incoming.bytes.size();
  if (incoming.too_large) return 0;
  try {
    const auto bytes = std::as_bytes(std::span(data, size));
    incoming.bytes.insert(incoming.bytes.end(), bytes.begin(), bytes.end());
  } catch (...) {
    incoming.too_large = true;  // for the memory that there is
    return 0;
  }
  return size;
}

struct Outgoing {
  std::span<const std::byte> bytes;
  std::size_t sent = 0;
};

std::size_t send(char* data, std::size_t one, std::size_t count, void* from) noexcept {
  auto& outgoing = *static_cast<Outgoing*>(from);
  const auto part = outgoing.bytes.subspan(
      outgoing.sent, std::min(one * count, outgoing.bytes.size() - outgoing.sent));
  std::ranges::copy(part, reinterpret_cast<std::byte*>(data));
  outgoing.sent += part.size();
  return part.size();
}

/// A redirect has the body sent once more.
int rewind(void* from, curl_off_t offset, int origin) noexcept {
  auto& outgoing = *static_cast<Outgoing*>(from);
  if (origin != SEEK_SET || offset < 0 || std::cmp_greater(offset, outgoing.bytes.size()))
    return CURL_SEEKFUNC_FAIL;
  outgoing.sent = static_cast<std::size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

/// One request on one handle.
class Request {
 public:
  Request(CURL* handle, const std::string& url, HttpTimeouts timeouts, std::size_t largest_body)
      : handle_(handle), incoming_{largest_body, {}} {
    curl().easy_reset(handle_);  // the connections stay
    set(CURLOPT_URL, url.c_str());
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_ERRORBUFFER, error_.data());
    set(CURLOPT_USERAGENT, "jitbag");
    // Nothing but the web, whatever a server redirects to: no file:, no ftp:.
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    set(CURLOPT_REDIR_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, most_redirects);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(timeouts.connect.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeouts.whole.count()));
    set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(largest_body));
    set(CURLOPT_WRITEFUNCTION, &receive);
    set(CURLOPT_WRITEDATA, &incoming_);
  }

  void upload(std::span<const std::byte> body) {
    outgoing_.bytes = body;
    // Without it, libcurl waits a second for a server that does not say "continue".
    headers_.reset(curl().slist_append(nullptr, "Expect:"));
    refused_ = refused_ || !headers_;
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(body.size()));
    set(CURLOPT_READFUNCTION, &send);
    set(CURLOPT_READDATA, &outgoing_);
    set(CURLOPT_SEEKFUNCTION, &rewind);
    set(CURLOPT_SEEKDATA, &outgoing_);
  }

  [[nodiscard]] HttpAnswer perform() {
    if (refused_) return {0, {}, "this libcurl does not take the options of a request"};
    const SigpipeBlocked no_signal;
    const CURLcode code = curl().easy_perform(handle_);
    HttpAnswer answer;
    if (code != CURLE_OK) {
      answer.problem = problem_of(code);
      return answer;
    }
    curl().easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &answer.status);
    answer.body = std::move(incoming_.bytes);
    return answer;
  }

 private:
  template <class Value>
  void set(CURLoption option, Value value) {
    refused_ = refused_ || curl().easy_setopt(handle_, option, value) != CURLE_OK;
  }
  [[nodiscard]] std::string problem_of(CURLcode code) const {
    if (incoming_.too_large || code == CURLE_FILESIZE_EXCEEDED)
      return fmt::format("it sent more than {} bytes", incoming_.largest);
    return error_.front() != '\0' ? error_.data() : curl().easy_strerror(code);
  }

  CURL* handle_;
  Incoming incoming_;
  Outgoing outgoing_;
  Headers headers_;
  std::array<char, CURL_ERROR_SIZE> error_{};
  bool refused_ = false;
};

}  // namespace

/// Handles that wait for the next request, each with its connections.
class HttpClient::Connections {
 public:
  ~Connections() { forget_those_of_the_parent(); }

  [[nodiscard]] Handle take() {
    {
      const std::lock_guard lock(mutex_);
      forget_those_of_the_parent();
      if (!idle_.empty()) {
        Handle handle = std::move(idle_.back());
        idle_.pop_back();
        return handle;
      }
    }
    return Handle(curl().easy_init());
  }
  void give_back(Handle handle) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_kept_handles) idle_.push_back(std::move(handle));
  }

 private:
  /// After a fork both processes have the connections, and answers would reach the wrong one. The
  /// child lets go of them without a word, for a word would reach the server.
  void forget_those_of_the_parent() {
    if (process_ == ::getpid()) return;
    for (Handle& handle : idle_) static_cast<void>(handle.release());
    idle_.clear();
    process_ = ::getpid();
  }

  std::mutex mutex_;
  std::vector<Handle> idle_;
  pid_t process_ = ::getpid();
};

HttpClient::HttpClient(HttpTimeouts timeouts)
    : timeouts_(timeouts), connections_(std::make_shared<Connections>()) {}

HttpAnswer HttpClient::get(const std::string& url, std::size_t largest_body) const {
  Handle handle = connections_->take();
  if (!handle) return {0, {}, "libcurl has no memory for a request"};
  HttpAnswer answer = Request(handle.get(), url, timeouts_, largest_body).perform();
  connections_->give_back(std::move(handle));
  return answer;
}

HttpAnswer HttpClient::put(const std::string& url, std::span<const std::byte> body) const {
  Handle handle = connections_->take();
  if (!handle) return {0, {}, "libcurl has no memory for a request"};
  Request request(handle.get(), url, timeouts_, largest_answer_to_put);
  request.upload(body);
  HttpAnswer answer = request.perform();
  connections_->give_back(std::move(handle));
  return answer;
}

}  // namespace jitbag::cache
