#include "runtime/sort_layout.hpp"

#include <algorithm>
#include <bit>

#include "codegen/sorted_kernels.hpp"
#include "runtime/forward_grid.hpp"
#include "runtime/places.hpp"
#include "runtime/sorted_arguments.hpp"
#include "spec/arguments.hpp"
#include "spec/refuse.hpp"

namespace jitbag {
namespace {

/// Long slices leave few pieces of a row that many ids name; short ones give few ids to many
/// groups.
std::int64_t slice_for(std::int64_t ids) {
  if (ids <= std::int64_t{1} << 17) return 8;
  return ids <= std::int64_t{1} << 21 ? 32 : 256;
}

void check_limits(std::int64_t ids, std::int64_t bags, std::int64_t rows) {
  constexpr std::int64_t most_ids = std::int64_t{1} << 30;
  constexpr std::int64_t most_bags = (std::int64_t{1} << 31) - 1;
  constexpr std::int64_t most_rows = (std::int64_t{1} << 32) - 2;
  if (ids > most_ids) {
    refuse("There are {} ids, but the sort method takes 2^30 at most; launch parts of the batch.",
           ids);
  }
  if (bags > most_bags) {
    refuse("There are {} bags, but the sort method takes 2^31 - 1 at most; launch parts of them.",
           bags);
  }
  if (rows > most_rows) {
    refuse("There are {} rows, but the sort method takes 2^32 - 2 at most; cut the table in two.",
           rows);
  }
}

}  // namespace

SortLayout::SortLayout(const BackwardSpec& spec, const ForwardSpec& table,
                       const BackwardArguments& arguments)
    : ids(num_ids(spec.forward, arguments.forward)) {
  const ForwardSpec& forward = spec.forward;
  const std::int64_t rows = arguments.forward.num_rows;
  check_limits(ids, arguments.forward.batch, rows);
  // The key of no row is one more than that of any row, in as many bits.
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows))));
  passes = static_cast<int>(divided_up(bits, most_digit_bits));
  digit_bits = static_cast<int>(divided_up(bits, passes));
  // Large tiles are for so many keys that small ones fill all multiprocessors many times.
  has_large_tiles = ids > std::int64_t{1} << 21;
  tiles = divided_up(
      ids, std::int64_t{pass_block_threads} *
               (has_large_tiles ? keys_per_thread_of_large_pass : keys_per_thread_of_small_pass));
  slice = slice_for(ids);
  slices = divided_up(ids, slice);

  constexpr std::int64_t word = 4;
  const bool has_rows = std::holds_alternative<SparseGradient>(spec.table_gradient);
  const bool is_csr = std::holds_alternative<CsrBags>(forward.bags);
  const std::int64_t value = table.table_type == DataType::float64 ? 8 : 4;
  Places places;
  digits = places.take(passes * word * most_digits);
  next_tiles = places.take((passes + 1) * word);
  long_rows_count = places.take(word);
  bytes_of_pass_tiles = tiles * most_digits * word;
  pass_tiles = places.take(passes * bytes_of_pass_tiles);
  const std::int64_t row_keys =
      std::int64_t{number_rows_block_threads} * keys_per_thread_of_number_rows;
  if (has_rows) row_tiles = places.take(divided_up(ids, row_keys) * 2 * word);
  zeroed_bytes = places.end();

  needs_ones = is_csr || forward.counts == Counts::on_device;
  keys[0] = places.take(ids * word);
  if (is_csr) bags = places.take(ids * word);
  bytes_of_ones = places.end() - keys[0];
  keys[1] = places.take(ids * word);
  positions[0] = places.take(ids * word);
  positions[1] = places.take(ids * word);
  const std::int64_t poolings = static_cast<std::int64_t>(forward.pooling.size());
  shares = places.take(arguments.forward.batch * poolings * value);
  if (has_rows) rows_before = places.take((slices + 1) * word);
  pieces = places.take(slices * 2 * forward.dim * value);
  long_rows = places.take(slices * word);
  bytes = places.end();
}

}  // namespace jitbag
