#pragma once

#include <cstdint>
#include <optional>

#include "folder.hpp"

namespace jitbag::cache {

inline constexpr const char* total_name = "total";

/// How many bytes of records a folder holds, kept in its file `total` so that a store need not
/// list the folder. It may say too much, after a kill or a discard, which costs a count. Where it
/// says nothing, someone has to count. None of this throws.
class Total {
 public:
  explicit Total(const Folder& root) : root_(root) {}

  /// Adds what is about to be stored. Gives the sum, or nothing when the total is unknown.
  std::optional<std::uint64_t> add(std::uint64_t bytes) const;

  /// Nothing when nobody knows, or when someone is counting.
  [[nodiscard]] std::optional<std::uint64_t> known() const;
  /// The total before a count. An unknown one is set to more than any limit, so that whoever
  /// comes after one who died while he counted counts again.
  [[nodiscard]] std::uint64_t before_count() const;
  /// Sets what was counted, and what was stored since `before`.
  void set_counted(std::uint64_t counted, std::uint64_t before) const;

 private:
  const Folder& root_;
};

}  // namespace jitbag::cache
