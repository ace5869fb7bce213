#include "program.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

/// Where a child's outputs go.
class Redirection {
 public:
  Redirection(const std::string& out, const std::string& error) {
    constexpr int flags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, out.c_str(), flags, 0600);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, error.c_str(), flags, 0600);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() { posix_spawn_file_actions_destroy(&actions_); }

  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// A process group of the child's own.
class OwnGroup {
 public:
  OwnGroup() {
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP);
  }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }

  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

std::vector<std::string> environment(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!changes.contains(text.substr(0, text.find('=')))) entries.push_back(text);
  }
  for (const auto& [name, value] : changes) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

template <typename Integer>
constexpr const char* descr = sizeof(Integer) == 4 ? "<i4" : "<i8";

}  // namespace

std::vector<pid_t> Running::children() const {
  const std::string id = std::to_string(process_);
  std::ifstream list("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child = 0; list >> child;) children.push_back(child);
  return children;
}

void Running::signal_all(int signal) const {
  ::kill(-process_, signal);
}

Outcome Running::wait() const {
  int status = 0;
  if (waitpid(process_, &status, 0) != process_) throw std::runtime_error("cannot wait for jitbag");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out_), content(error_)};
}

Program::Program() {
  const char* path = std::getenv("JITBAG");
  if (path == nullptr) throw std::runtime_error("set JITBAG to the jitbag program");
  path_ = path;
  set("JITBAG_CACHE_DIR", cache_folder());
}

Outcome Program::run(const std::string& line, const std::vector<std::string>& more) const {
  return start(line, more).wait();
}

Running Program::start(const std::string& line, const std::vector<std::string>& more) const {
  std::vector<std::string> arguments = {path_};
  std::istringstream words(line);
  for (std::string word; words >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<std::string> variables = environment(variables_);
  const std::string out = folder_.file("out");
  const std::string error = folder_.file("error");
  const Redirection redirection(out, error);
  const OwnGroup group;

  pid_t child = 0;
  const int problem = posix_spawn(&child, path_.c_str(), redirection.get(), group.get(),
                                  pointers(arguments).data(), pointers(variables).data());
  if (problem != 0) throw std::runtime_error("cannot start " + path_);
  return {child, out, error};
}

std::vector<fs::path> Program::records() const {
  constexpr std::uintmax_t larger_than_notes = 4096;
  std::vector<fs::path> files;
  if (!fs::exists(cache_folder())) return files;
  for (const auto& entry : fs::recursive_directory_iterator(cache_folder())) {
    if (entry.is_regular_file() && entry.file_size() > larger_than_notes)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

template <typename Integer>
void write_npy(const std::string& path, const std::string& shape,
               const std::vector<Integer>& values) {
  constexpr std::size_t header_size = 118;  // with the ten bytes before it, a multiple of 64
  std::string header = std::string("{'descr': '") + descr<Integer> +
                       "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize(header_size - 1, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file << "\x93NUMPY" << '\x01' << '\x00' << static_cast<char>(header_size) << '\x00' << header;
  file.write(reinterpret_cast<const char*>(values.data()),
             static_cast<std::streamsize>(values.size() * sizeof(Integer)));
}

template void write_npy(const std::string&, const std::string&, const std::vector<std::int32_t>&);
template void write_npy(const std::string&, const std::string&, const std::vector<std::int64_t>&);

}  // namespace jitbag::test
