#pragma once

#include <cstdint>
#include <limits>

#include "jitbag/forward_spec.hpp"

namespace jitbag::host {

/// What an id means: a row to pool, padding, or a mistake.
class IdRule {
 public:
  IdRule(const ForwardSpec& spec, std::int64_t num_rows)
      : has_padding_(spec.padding_id.has_value()),
        padding_(spec.padding_id.value_or(0)),
        limit_(spec.bad_ids == BadIds::trust ? std::numeric_limits<std::uint64_t>::max()
                                             : static_cast<std::uint64_t>(num_rows)) {}

  [[nodiscard]] bool is_padding(std::int64_t id) const { return has_padding_ && id == padding_; }
  [[nodiscard]] bool is_bad(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) >= limit_ && !is_padding(id);
  }
  [[nodiscard]] bool is_counted(std::int64_t id) const {
    return static_cast<std::uint64_t>(id) < limit_ && !is_padding(id);
  }

 private:
  bool has_padding_;
  std::int64_t padding_;
  std::uint64_t limit_;
};

}  // namespace jitbag::host
