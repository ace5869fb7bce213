#pragma once

#include <bit>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/target.hpp"

namespace jitbag {

/// What a caller of Engine::forward asks for, as a key of the memory cache.
struct ForwardRequest {
  ForwardSpec spec;
  Target target;
  std::optional<Strategy> strategy;
  /// Of the expected batch only the power of two counts, so that a batch of any size finds its
  /// kernel.
  int batch_bits = 0;

  bool operator==(const ForwardRequest&) const = default;
};

[[nodiscard]] inline int batch_bits(std::optional<std::int64_t> expected_batch) {
  return expected_batch && *expected_batch > 0
             ? static_cast<int>(std::bit_width(static_cast<std::uint64_t>(*expected_batch)))
             : 0;
}

/// The smallest batch with those bits: what the built-in rule is asked about.
[[nodiscard]] inline std::optional<std::int64_t> smallest_batch(int bits) {
  return bits == 0 ? std::nullopt : std::optional(std::int64_t{1} << (bits - 1));
}

struct ForwardRequestHash {
  std::size_t operator()(const ForwardRequest& request) const {
    std::uint64_t hash = 0;
    const auto mix = [&hash](std::uint64_t value) {
      // A multiplication by an odd constant (2^64 over the golden ratio) and a fold of its upper
      // half.
      hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    };
    const ForwardSpec& spec = request.spec;
    const auto* fixed = std::get_if<FixedBags>(&spec.bags);
    const auto* csr = std::get_if<CsrBags>(&spec.bags);
    mix(static_cast<std::uint64_t>(spec.dim));
    mix(fixed ? static_cast<std::uint64_t>(fixed->size)
              : ~static_cast<std::uint64_t>(csr->offset_type) ^ static_cast<std::uint64_t>(csr->end)
                                                                    << 8);
    mix(static_cast<std::uint64_t>(spec.padding_id.value_or(-0x123456789)));
    mix(static_cast<std::uint64_t>(spec.row_stride) ^ static_cast<std::uint64_t>(spec.alignment)
                                                          << 48);
    mix(static_cast<std::uint64_t>(spec.output_stride) ^
        static_cast<std::uint64_t>(spec.id_alignment) << 40 ^
        static_cast<std::uint64_t>(spec.output_alignment) << 48);
    mix(static_cast<std::uint64_t>(spec.mean_length) ^
        static_cast<std::uint64_t>(spec.weight_type ? static_cast<int>(*spec.weight_type) + 1 : 0)
            << 40 ^
        static_cast<std::uint64_t>(spec.winners) << 48 ^
        static_cast<std::uint64_t>(spec.counts) << 49);
    const RowScale& scale = spec.row_scale;
    mix(static_cast<std::uint64_t>(scale.place) | static_cast<std::uint64_t>(scale.type) << 4 |
        static_cast<std::uint64_t>(scale.has_bias) << 12 |
        static_cast<std::uint64_t>(scale.offset) << 13);
    mix(static_cast<std::uint64_t>(scale.codes_offset));
    if (!spec.end.empty()) {
      mix(std::hash<std::string>{}(spec.end.element));
      mix(std::hash<std::string>{}(spec.end.row_sum));
    }
    std::uint64_t poolings = 0;
    for (const Pooling pooling : spec.pooling)
      poolings = poolings << 4 | (static_cast<std::uint64_t>(pooling) + 1);
    mix(poolings | static_cast<std::uint64_t>(spec.table_type) << 24 |
        static_cast<std::uint64_t>(spec.output_type) << 32 |
        static_cast<std::uint64_t>(spec.id_type) << 40 |
        static_cast<std::uint64_t>(spec.bad_ids) << 44 |
        static_cast<std::uint64_t>(spec.addressing) << 48 |
        static_cast<std::uint64_t>(request.batch_bits) << 52);
    if (const auto& strategy = request.strategy) {
      mix(static_cast<std::uint64_t>(strategy->vector_bytes) |
          static_cast<std::uint64_t>(strategy->vectors_per_lane) << 8 |
          static_cast<std::uint64_t>(strategy->lanes_per_row) << 16 |
          static_cast<std::uint64_t>(strategy->bag_lanes) << 24 |
          static_cast<std::uint64_t>(strategy->rows_in_flight) << 36 |
          static_cast<std::uint64_t>(strategy->block_threads) << 44 |
          static_cast<std::uint64_t>(strategy->bags_per_group) << 55 |
          static_cast<std::uint64_t>(strategy->launch_mode) << 62);
    }
    mix(static_cast<std::uint64_t>(request.target.major) << 8 |
        static_cast<std::uint64_t>(request.target.minor));
    return static_cast<std::size_t>(hash);
  }
};

}  // namespace jitbag
