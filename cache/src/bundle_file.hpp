#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "file.hpp"

namespace jitbag::cache {

/// A bundle's file, open for reading at any place. It is never mapped: where someone cuts a mapped
/// file short, every process that reads it is killed.
class BundleFile {
 public:
  enum class Writers { this_user_and_root, anyone };

  /// Throws Error where there is no such file, or one that others could have written.
  BundleFile(const std::filesystem::path& path, Writers writers);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// When it was opened.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Exactly these bytes. Throws Error where the file has become shorter, or cannot be read.
  [[nodiscard]] std::vector<std::byte> read(std::uint64_t offset, std::uint64_t size) const;

  /// Throws Error: "The bundle <path> is not used: <clause>; …".
  [[noreturn]] void refuse(std::string_view clause) const;

 private:
  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace jitbag::cache
