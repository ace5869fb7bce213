#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitbag {

/// The kernels of backward's sort method, in the order of specialise(). Only a sparse gradient
/// numbers rows.
enum class SortedKernel : std::size_t { uses, small_pass, large_pass, reduce, join, number_rows };

/// Those that come before the additions to a sparse gradient by scatter or merge.
enum class MarkingKernel : std::size_t { mark, number };

/// The same of a transposition.
enum class TransposingKernel : std::size_t { uses, small_pass, large_pass, number_rows, transpose };

/// Kernels that sort share templates, of which none uses every constant.
inline constexpr std::string_view silence = "#pragma nv_diag_suppress 177\n";

/// What their launches must know of their text.
inline constexpr int uses_block_threads = 256;
inline constexpr int pass_block_threads = 512;
inline constexpr int keys_per_thread_of_small_pass = 4;
inline constexpr int keys_per_thread_of_large_pass = 16;
inline constexpr int number_rows_block_threads = 512;
inline constexpr int keys_per_thread_of_number_rows = 8;
inline constexpr int join_block_threads = 512;
inline constexpr int marking_block_threads = 256;
inline constexpr int transpose_block_threads = 256;
inline constexpr int transpose_warp_lanes = 32;

/// Bags of a block of the merge method, at most.
inline constexpr int most_merged_bags = 256;

struct BackwardSpec;
struct ForwardSpec;
struct Strategy;

/// Uses that a group of the reduction looks up together: up to four for each of its lanes, as many
/// as a warp has, and a multiple of those in flight.
[[nodiscard]] int chunk_uses(const Strategy& shape);

/// Shared memory of the reduction.
[[nodiscard]] std::int64_t reduce_shared_bytes(const BackwardSpec& validated_spec,
                                               const Strategy& shape);

/// Ids that a block of the merge method brings together at a time, at most: as many as its shared
/// memory has room for, in a power of two. `table` is gradient_table(spec).
[[nodiscard]] std::int64_t most_merged_ids(const ForwardSpec& table);

/// Of each of so many bags.
[[nodiscard]] std::int64_t merged_ids_of_bag(const ForwardSpec& table, std::int64_t bags);

/// Lanes that note the ids of a bag together: a power of two.
[[nodiscard]] int lanes_per_bag(const ForwardSpec& validated_spec);

}  // namespace jitbag
