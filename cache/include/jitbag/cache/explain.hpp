#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jitbag/cache/key.hpp"

namespace jitbag::cache {

/// One line of one field in which two keys differ. An empty side has no such line.
struct Difference {
  std::string field;
  std::string wanted;
  std::string found;
};

/// In which lines of which fields two keys differ, in the order of the fields.
[[nodiscard]] std::vector<Difference> differences(std::span<const Field> wanted,
                                                  std::span<const Field> found);

/// Finds, among records that are shown to it one after the other, the one whose fields differ in
/// the fewest lines from those wanted: the answer to "why was this a miss?".
class NearestRecord {
 public:
  explicit NearestRecord(std::vector<Field> wanted) : wanted_(std::move(wanted)) {}
  void consider(std::span<const Field> fields, const std::string& where);

  struct Answer {
    std::vector<Field> fields;
    std::string where;  ///< the folder or bundle that has it
    std::vector<Difference> differences;
  };
  /// Nothing when no record was shown.
  [[nodiscard]] const std::optional<Answer>& answer() const noexcept { return answer_; }

 private:
  std::vector<Field> wanted_;
  std::optional<Answer> answer_;
};

}  // namespace jitbag::cache
