#include "remote/nginx.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "remote/lying_server.hpp"

namespace jitbag::test {
namespace {

constexpr const char* program = "/usr/sbin/nginx";

int free_port() {
  const LyingServer soon_gone([](const Connection&) {});
  const std::string url = soon_gone.url();
  return std::stoi(url.substr(url.rfind(':') + 1));
}

}  // namespace

bool Nginx::is_installed() {
  return ::access(program, X_OK) == 0;
}

Nginx::Nginx() : port_(free_port()) {
  std::filesystem::create_directory(data());
  std::filesystem::create_directory(folder_.path() / "temporary");
  write_configuration();
  start();
}

void Nginx::write_configuration() const {
  std::ofstream(folder_.path() / "users") << "user:{PLAIN}secret\n";
  std::ofstream file(folder_.path() / "nginx.conf");
  if (::geteuid() == 0) file << "user root;\n";
  // One process, so that a signal reaches all of it.
  file << "daemon off;\nmaster_process off;\npid pid;\nerror_log error.log;\n"
          "events { worker_connections 256; }\n"
          "http {\n"
          "  log_format line '$connection $request_method $status';\n"
          "  access_log access.log line;\n"
          "  client_max_body_size 300m;\n";
  for (const char* what : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"})
    file << "  " << what << "_temp_path temporary;\n";
  file << "  server {\n"
          "    listen 127.0.0.1:"
       << port_
       << ";\n"
          "    root "
       << data().string()
       << ";\n"
          "    dav_methods PUT;\n"
          "    create_full_put_path on;\n"
          "    location / { }\n"
          "    location /read_only/ { limit_except GET { deny all; } }\n"
          "    location /private/ { auth_basic jitbag; auth_basic_user_file users; }\n"
          "  }\n"
          "}\n";
}

void Nginx::start() {
  process_.emplace([&] {
    const std::string prefix = folder_.path().string();
    const std::string log = prefix + "/output";
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(output, STDERR_FILENO);
    ::execl(program, program, "-p", prefix.c_str(), "-e", "error.log", "-c", "nginx.conf",
            static_cast<char*>(nullptr));
    return 127;
  });
  for (int tries = 0; tries < 500; ++tries) {
    if (answers()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::ifstream log(folder_.path() / "error.log");
  throw std::runtime_error("nginx did not start: " +
                           std::string(std::istreambuf_iterator<char>(log), {}));
}

bool Nginx::answers() const {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port_));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected =
      ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(socket);
  return connected;
}

void Nginx::kill() {
  process_.reset();
}

void Nginx::freeze() const {
  process_->signal(SIGSTOP);
}

void Nginx::thaw() const {
  process_->signal(SIGCONT);
}

std::string Nginx::url() const {
  return "http://127.0.0.1:" + std::to_string(port_);
}

std::string Nginx::private_url(const std::string& credentials) const {
  return "http://" + credentials + "@127.0.0.1:" + std::to_string(port_) + "/private";
}

std::vector<std::string> Nginx::requests() const {
  std::ifstream log(folder_.path() / "access.log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(log, line);) lines.push_back(line);
  return lines;
}

}  // namespace jitbag::test
