#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/target.hpp"

namespace jitbag {

enum class LaunchMode : std::uint8_t {
  plain,
  /// Programmatic dependent launch: the blocks start while the kernel before them in the stream
  /// drains, and wait for its end before they touch memory. Safe after any producer. sm_90 and
  /// later.
  dependent,
};

/// How to compute it. Never changes the meaning of the result, only the order of its additions.
///
/// A bag is computed by a group of `lanes_per_row * bag_lanes` lanes. Each lane loads
/// `vectors_per_lane` vectors of `vector_bytes` of a row; a row wider than the group can hold is
/// cut into tiles of columns. With `bag_lanes` over 1, the rows of a bag are dealt out over that
/// many subgroups, whose sums are then added.
struct Strategy {
  int vector_bytes = 16;
  int vectors_per_lane = 1;
  int lanes_per_row = 8;
  int bag_lanes = 1;
  /// Rows whose loads are issued before the first of them is added.
  int rows_in_flight = 4;
  /// Bags that a group computes. Where a bag has fewer rows than may be in flight, those of as many
  /// bags as there is room for are in flight together.
  int bags_per_group = 1;
  int block_threads = 128;
  LaunchMode launch_mode = LaunchMode::plain;

  bool operator==(const Strategy&) const = default;
};

/// The built-in rule. `expected_batch` is a hint: a small batch of large bags is better served by
/// lanes across the bag; without it the batch is taken to fill the device.
[[nodiscard]] Strategy default_strategy(const ForwardSpec& spec, const Target& target,
                                        std::optional<std::int64_t> expected_batch = {});

struct TablesSpec;

/// The same for each table of a set: what fits it, with one block size and launch mode for all.
[[nodiscard]] std::vector<Strategy> default_strategies(
    const TablesSpec& spec, const Target& target, std::optional<std::int64_t> expected_batch = {});

/// Strategies worth trying for the spec, the default among them; every one is valid.
[[nodiscard]] std::vector<Strategy> candidate_strategies(const ForwardSpec& spec,
                                                         const Target& target);

/// Throws Error(invalid_argument) that says which field cannot work for this spec and target.
void validate(const Strategy& strategy, const ForwardSpec& spec, const Target& target);

/// The same for those of a set, one for each table, which have one block size and launch mode.
void validate(const std::vector<Strategy>& strategies, const TablesSpec& spec,
              const Target& target);

/// "vector=16B vectors=1 lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=dependent".
[[nodiscard]] std::string to_text(const Strategy& strategy);

/// Reads what to_text writes: every field, each once, in any order. Throws Error(invalid_argument).
[[nodiscard]] Strategy parse_strategy(std::string_view text);

}  // namespace jitbag
