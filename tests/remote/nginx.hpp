#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cache/child.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {

/// Debian's nginx with its WebDAV module, on a free port of this machine, with all its files in a
/// folder of its own. Stopped with its owner.
class Nginx {
 public:
  [[nodiscard]] static bool is_installed();

  Nginx();

  /// Takes GET and PUT.
  [[nodiscard]] std::string url() const;
  /// The same for "user" with "secret" only.
  [[nodiscard]] std::string private_url(const std::string& credentials) const;
  /// Where the files that it serves lie.
  [[nodiscard]] std::filesystem::path data() const { return folder_.path() / "data"; }
  /// A line for each request: "<connection> <method> <status>".
  [[nodiscard]] std::vector<std::string> requests() const;

  void start();
  void kill();
  void freeze() const;
  void thaw() const;

 private:
  void write_configuration() const;
  [[nodiscard]] bool answers() const;

  TemporaryFolder folder_;
  int port_ = 0;
  std::optional<Child> process_;
};

}  // namespace jitbag::test
