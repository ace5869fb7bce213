#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace jitbag::test {

/// One connection to a server of the tests.
class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  /// Up to the empty line.
  [[nodiscard]] std::string head() const {
    std::string text;
    char c = 0;
    while (text.find("\r\n\r\n") == std::string::npos && ::recv(socket_, &c, 1, 0) == 1) text += c;
    return text;
  }
  /// False when the other side has gone.
  bool say(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Waits until the other side has gone.
  void wait_for_the_end() const {
    char ignored = 0;
    while (::recv(socket_, &ignored, 1, 0) == 1) {
    }
  }

 private:
  int socket_;
};

/// What a plain web server says.
inline std::string answer(const std::string& status, std::string_view body) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

/// A server on a free port of this machine that says whatever a test wants, one connection after
/// the other.
class LyingServer {
 public:
  using Behaviour = std::function<void(const Connection&)>;

  explicit LyingServer(Behaviour behaviour)
      : behaviour_(std::move(behaviour)),
        socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, any, size) != 0 || ::listen(socket_, 16) != 0 ||
        ::getsockname(socket_, any, &size) != 0)
      throw std::runtime_error("no port is free");
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  LyingServer(const LyingServer&) = delete;
  LyingServer& operator=(const LyingServer&) = delete;
  ~LyingServer() {
    stopped_ = true;
    thread_.join();
    ::close(socket_);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] int requests() const { return requests_; }

 private:
  void serve() {
    constexpr int short_while_ms = 20;
    while (!stopped_) {
      pollfd ready{socket_, POLLIN, 0};
      if (::poll(&ready, 1, short_while_ms) != 1) continue;
      const Connection connection(::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
      ++requests_;
      behaviour_(connection);
    }
  }

  Behaviour behaviour_;
  int socket_;
  int port_ = 0;
  std::atomic<bool> stopped_ = false;
  std::atomic<int> requests_ = 0;
  std::thread thread_;
};

}  // namespace jitbag::test
