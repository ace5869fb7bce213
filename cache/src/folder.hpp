#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "file.hpp"

namespace jitbag::cache {

/// Whether the folder is there. Throws Trouble when it is something else, cannot be looked at, or
/// is one that another user can write to.
[[nodiscard]] bool is_private_folder(const std::filesystem::path& path);

/// An open folder that only this user can write to. What fails throws Trouble.
class Folder {
 public:
  /// Nothing when there is none.
  [[nodiscard]] static std::optional<Folder> open(const std::filesystem::path& path);
  /// Made, with its parents, where there is none.
  [[nodiscard]] static Folder make(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }

  /// Puts a file under this name, in the place of whatever is there: all of it or none of it.
  void publish(const std::string& name, std::span<const std::byte> bytes) const;
  /// Removes what is under this name, be it a folder full of things.
  void remove(const std::string& name) const;
  /// Removes what processes that died left here more than an hour ago.
  void remove_leftovers() const;
  /// Whether a file can be written here: throws when not.
  void try_writing() const;

 private:
  class NewFile;
  Folder(std::filesystem::path path, Descriptor descriptor)
      : path_(std::move(path)), descriptor_(std::move(descriptor)) {}
  void move_aside(const std::string& name) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace jitbag::cache
