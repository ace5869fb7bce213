#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "folder.hpp"

namespace jitbag::cache {

inline constexpr const char* total_name = "total";

/// How many bytes of records a folder holds, kept in its file `total` so that a store need not
/// list the folder. It may say too much, after a kill or a discard, which costs a count. Where it
/// says nothing, someone has to count. None of this throws, but for what `publish` does.
class Total {
 public:
  explicit Total(const Folder& root) : root_(root) {}

  /// Adds the bytes and has them published, in one step: no count begins in between, and so each
  /// lists what was added before it. Gives the sum, or nothing when the total is unknown.
  std::optional<std::uint64_t> add(std::uint64_t bytes, const std::function<void()>& publish) const;

  /// Nothing when nobody knows, or when someone is counting.
  [[nodiscard]] std::optional<std::uint64_t> known() const;

 private:
  const Folder& root_;
};

/// A count of the records of a folder, which begins with this: list them only then. An unknown
/// total is set to more than any limit, so that whoever comes after one who died while he counted
/// counts again. None of this throws.
class Count {
 public:
  explicit Count(const Folder& root);

  /// The total as it was.
  [[nodiscard]] std::uint64_t before() const { return before_; }
  /// Makes the total what was counted, and what was stored since this began; not where another
  /// count has ended meanwhile, which knows better.
  void end(std::uint64_t counted) const;

 private:
  const Folder& root_;
  std::uint64_t before_;
  std::uint64_t counts_ = 0;  ///< that had ended before
  Descriptor file_;           ///< of the total: kept open, so that no other file is taken for it
};

}  // namespace jitbag::cache
