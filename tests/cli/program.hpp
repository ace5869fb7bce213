#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace jitbag::test {

/// A folder that goes when the test does.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

/// How a run of the command ended. Neither output was a terminal.
struct Outcome {
  int status = -1;
  std::string out;
  std::string error;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(out); }
};

/// The command under test: the program that the environment variable JITBAG names, with a cache
/// folder of its own.
class Program {
 public:
  Program();

  /// Runs it with the arguments of one line, separated by spaces, then those in `more`.
  Outcome run(const std::string& line, const std::vector<std::string>& more = {}) const;

  /// Sets a variable for later runs.
  void set(const std::string& variable, const std::string& value) { variables_[variable] = value; }

  [[nodiscard]] std::string cache_folder() const { return folder_.file("cache"); }
  /// The files in the cache folder that are larger than a lock or a note.
  [[nodiscard]] std::vector<std::filesystem::path> records() const;

 private:
  TemporaryFolder folder_;
  std::string path_;
  std::map<std::string, std::string> variables_;
};

/// Writes a .npy file, format 1.0, of int32 or int64.
template <typename Integer>
void write_npy(const std::string& path, const std::string& shape,
               const std::vector<Integer>& values);

extern template void write_npy(const std::string&, const std::string&,
                               const std::vector<std::int32_t>&);
extern template void write_npy(const std::string&, const std::string&,
                               const std::vector<std::int64_t>&);

}  // namespace jitbag::test
