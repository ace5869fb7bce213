#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace jitbag::test {

/// How a run of the command ended. Neither output was a terminal.
struct Outcome {
  int status = -1;
  std::string out;
  std::string error;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// The command at work, in a process group of its own, as a shell starts it.
class Running {
 public:
  Running(pid_t process, std::string out, std::string error)
      : process_(process), out_(std::move(out)), error_(std::move(error)) {}

  [[nodiscard]] pid_t process() const { return process_; }
  /// The processes that it has started.
  [[nodiscard]] std::vector<pid_t> children() const;
  /// To it and all that it has started, as Ctrl-C does.
  void signal_all(int signal) const;
  Outcome wait() const;

 private:
  pid_t process_;
  std::string out_;
  std::string error_;
};

/// The command under test: the program that the environment variable JITBAG names, with a cache
/// folder of its own.
class Program {
 public:
  Program();

  /// Runs it with the arguments of one line, separated by spaces, then those in `more`.
  Outcome run(const std::string& line, const std::vector<std::string>& more = {}) const;
  /// Starts it and does not wait. One at a time.
  Running start(const std::string& line, const std::vector<std::string>& more = {}) const;

  /// Sets a variable for later runs.
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }

  [[nodiscard]] std::string cache_folder() const { return folder_.file("cache"); }
  [[nodiscard]] const TemporaryFolder& folder() const { return folder_; }
  /// The files in the cache folder that are larger than a lock or a note.
  [[nodiscard]] std::vector<std::filesystem::path> records() const;

 private:
  TemporaryFolder folder_;
  std::string path_;
  std::map<std::string, std::string> variables_;
};

/// All that is in a file.
[[nodiscard]] std::string content(const std::filesystem::path& path);

/// Writes a .npy file, format 1.0, of int32 or int64.
template <typename Integer>
void write_npy(const std::string& path, const std::string& shape,
               const std::vector<Integer>& values);

extern template void write_npy(const std::string&, const std::string&,
                               const std::vector<std::int32_t>&);
extern template void write_npy(const std::string&, const std::string&,
                               const std::vector<std::int64_t>&);

}  // namespace jitbag::test
