#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file.hpp"

namespace jitbag::cache {

/// Leftovers older than this are of processes that died: none takes so long to write a file.
inline constexpr std::chrono::seconds leftover_age{3600};

/// Absolute, and without a slash at its end, which would follow a link unseen.
[[nodiscard]] std::filesystem::path tidied(std::filesystem::path path);

/// An open folder that nobody who is not trusted can write to. What fails throws Trouble.
class Folder {
 public:
  class NewFile;

  /// Nothing when there is none. A link to it is followed if a trusted user made it.
  [[nodiscard]] static std::optional<Folder> open(const std::filesystem::path& path, Trust trust);
  /// Made for this user, with its parents, where there is none.
  [[nodiscard]] static Folder make(const std::filesystem::path& path);

  /// A folder in this one, trusted as this one is. Nothing when there is none. A link is refused.
  [[nodiscard]] std::optional<Folder> open_inside(const std::string& name) const;
  [[nodiscard]] Folder make_inside(const std::string& name) const;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] Trust trust() const { return trust_; }

  [[nodiscard]] std::vector<std::string> names() const;
  /// About what has this name, itself if it is a link. Nothing when there is none.
  [[nodiscard]] std::optional<struct stat> information(const std::string& name) const;

  /// Puts a file under this name, in the place of whatever is there: all of it or none of it.
  void publish(const std::string& name, std::span<const std::byte> bytes) const;
  /// Has the kernel write its names out. Where this fails a power cut may take a name away, and
  /// never a part of a file.
  void sync() const;
  /// Removes what is under this name, be it a folder full of things.
  void remove(const std::string& name) const;
  /// What processes that died while they wrote or removed something left here, if it is older.
  [[nodiscard]] std::vector<std::string> leftovers(std::chrono::seconds age) const;
  /// Removes those older than leftover_age, as far as that works.
  void remove_leftovers() const;
  /// Whether a file can be written here: throws when not.
  void try_writing() const;

 private:
  Folder(std::filesystem::path path, Descriptor descriptor, Trust trust);
  void move_aside(const std::string& name) const;

  std::filesystem::path path_;
  Descriptor descriptor_;
  Trust trust_;
};

/// A whole file, written out, under a name that nobody can guess; removed with its owner unless it
/// was published. What fails throws Trouble.
class Folder::NewFile {
 public:
  NewFile(const Folder& folder, std::span<const std::byte> bytes);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  /// Gives it this name, in the place of whatever has it.
  void publish(const std::string& name);

 private:
  [[nodiscard]] bool rename(const std::string& name);

  const Folder& folder_;
  std::string name_;
  Descriptor file_;
  bool published_ = false;
};

}  // namespace jitbag::cache
