#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitbag::cache {

/// A note has at most so many bytes.
inline constexpr std::size_t largest_note = std::size_t{16} << 20;

/// A folder of texts that people may read, such as what belongs beside the records and is none.
/// Each is whole or not there, whatever other threads and processes do. As private as a cache
/// folder, but one of root's may be read. Throws Error.
class Notes {
 public:
  /// Opens nothing and makes nothing.
  explicit Notes(std::filesystem::path directory);

  [[nodiscard]] const std::filesystem::path& directory() const noexcept { return directory_; }

  /// The notes there are, in the order of their names.
  [[nodiscard]] std::vector<std::string> names() const;

  /// Nothing when there is no such note.
  [[nodiscard]] std::optional<std::string> read(const std::string& name) const;

  /// Puts what `changed` makes of the note in its place (temporary file, fsync, rename). Others who
  /// want to change a note of this folder wait meanwhile, so that no change is lost. What is no
  /// file of this user's own counts as none, and is replaced. Makes the folder.
  void change(const std::string& name,
              const std::function<std::string(std::optional<std::string> before)>& changed) const;

 private:
  std::filesystem::path directory_;
};

/// Whether the text can be a note's name: 1 to 200 of 0-9 a-z A-Z . _ -, without a dot as the
/// first, and not "lock", which the folder has for itself.
[[nodiscard]] bool is_note_name(std::string_view text);

}  // namespace jitbag::cache
