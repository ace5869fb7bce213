#include "precompile/worker_processes.hpp"

#include <poll.h>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include "jitbag/error.hpp"

namespace jitbag::tools {
namespace {

constexpr int wait_ms = 200;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

template <typename Call>
ssize_t restarted(Call call) {
  while (true) {
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
  }
}

/// False when the other side is gone.
bool send_all(int socket, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = restarted([&] { return ::send(socket, bytes, size, MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    bytes += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int socket, void* data, std::size_t size) {
  if (size == 0) return true;  // recv() would wait for a byte
  return restarted([&] { return ::recv(socket, data, size, MSG_WAITALL); }) ==
         static_cast<ssize_t>(size);
}

/// A message is its length and its bytes.
bool send_text(int socket, const std::string& text) {
  const std::uint64_t size = text.size();
  return send_all(socket, &size, sizeof size) && send_all(socket, text.data(), text.size());
}

std::optional<std::string> receive_text(int socket) {
  std::uint64_t size = 0;
  if (!receive_all(socket, &size, sizeof size)) return std::nullopt;
  std::string text(size, '\0');
  if (!receive_all(socket, text.data(), text.size())) return std::nullopt;
  return text;
}

/// The life of a worker: ends when the other side of the socket is gone.
[[noreturn]] void serve(int socket, const ProcessWork& work) {
  std::signal(SIGINT, SIG_IGN);
  std::uint64_t piece = 0;
  try {
    while (receive_all(socket, &piece, sizeof piece)) {
      if (!send_text(socket, work.work(static_cast<std::size_t>(piece)))) break;
    }
  } catch (const std::exception&) {
    ::_exit(EXIT_FAILURE);
  }
  ::_exit(EXIT_SUCCESS);  // without the parent's buffers and destructors
}

struct Worker {
  pid_t process;
  Descriptor socket;
  std::optional<std::size_t> piece;
};

/// How a process ended.
std::string obituary(pid_t process) {
  int status = 0;
  restarted([&] { return ::waitpid(process, &status, 0); });
  if (WIFSIGNALED(status))
    return fmt::format("the compiler process died of signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("the compiler process ended with status {}", WEXITSTATUS(status));
}

class Workers {
 public:
  Workers(const ProcessWork& work, const Interrupt& interrupt)
      : work_(work), interrupt_(interrupt) {}
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (Worker& worker : workers_) {
      const pid_t process = worker.process;
      { const Descriptor closed(std::move(worker.socket)); }
      restarted([&] { return ::waitpid(process, nullptr, 0); });
    }
  }

  void run() {
    while (true) {
      deal_out();
      if (std::ranges::none_of(workers_,
                               [](const Worker& worker) { return worker.piece.has_value(); }))
        return;
      wait();
      if (interrupt_.count() > 1) return kill_all();
    }
  }

 private:
  void deal_out() {
    while (next_ < work_.pieces.size() && interrupt_.count() == 0) {
      Worker* const worker = idle_worker();
      if (worker == nullptr) return;
      worker->piece = work_.pieces[next_++];
      // Where the worker is gone already, its socket ends, and that is seen next.
      const std::uint64_t piece = *worker->piece;
      static_cast<void>(send_all(worker->socket.get(), &piece, sizeof piece));
    }
  }

  Worker* idle_worker() {
    const auto idle =
        std::ranges::find_if(workers_, [](const Worker& worker) { return !worker.piece; });
    if (idle != workers_.end()) return &*idle;
    return workers_.size() < work_.workers ? start() : nullptr;
  }

  /// Null where the system has no room for one more; those at work go on.
  Worker* start() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return failed();
    Descriptor here(ends[0]);
    const Descriptor there(ends[1]);
    const pid_t process = ::fork();
    if (process < 0) return failed();
    if (process == 0) {
      // What only the parent may hold: a worker ends when nobody holds the other side.
      ::close(here.get());
      for (const Worker& other : workers_) ::close(other.socket.get());
      serve(there.get(), work_);
    }
    workers_.push_back({process, std::move(here), std::nullopt});
    return &workers_.back();
  }

  Worker* failed() const {
    if (!workers_.empty()) return nullptr;
    throw Error(ErrorKind::io_failed,
                fmt::format("No process can be started ({}); raise the limits on processes and "
                            "open files.",
                            std::strerror(errno)));
  }

  void wait() {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers_) polled.push_back({worker.socket.get(), POLLIN, 0});
    const int ready = ::poll(polled.data(), polled.size(), wait_ms);
    if (ready <= 0) return work_.waiting();
    auto worker = workers_.begin();
    for (const pollfd& one : polled) {
      const auto next = std::next(worker);
      if (one.revents != 0 && !read_answer(*worker)) workers_.erase(worker);
      worker = next;
    }
  }

  /// False when the worker is gone.
  bool read_answer(Worker& worker) {
    auto text = receive_text(worker.socket.get());
    const auto piece = std::exchange(worker.piece, std::nullopt);
    const std::string problem = text ? "" : obituary(worker.process);
    if (piece) work_.answered({*piece, text.value_or(""), problem});
    return text.has_value();
  }

  void kill_all() {
    for (const Worker& worker : workers_) ::kill(worker.process, SIGKILL);
  }

  const ProcessWork& work_;
  const Interrupt& interrupt_;
  std::list<Worker> workers_;
  std::size_t next_ = 0;
};

}  // namespace

void run_in_processes(const ProcessWork& work, const Interrupt& interrupt) {
  Workers(work, interrupt).run();
}

}  // namespace jitbag::tools
