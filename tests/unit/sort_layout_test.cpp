#include "runtime/sort_layout.hpp"

#include "catch.hpp"
#include "spec/gradient_table.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

/// What the sort says of so many bags of 32 ids each, over so many rows.
std::string layout_of(std::int64_t bags, std::int64_t rows, const BagLayout& layout) {
  BackwardSpec spec;
  spec.forward.dim = 4;
  spec.forward.bags = layout;
  spec = validated(spec);
  BackwardArguments arguments;
  arguments.forward.batch = bags;
  arguments.forward.num_rows = rows;
  return caught([&] { static_cast<void>(SortLayout(spec, gradient_table(spec), arguments)); });
}

TEST_CASE("the sort refuses what its words do not hold, and says what to do (FBGEMM PR#5994)") {
  constexpr std::int64_t two_to_30 = std::int64_t{1} << 30;
  CHECK(layout_of(two_to_30 / 32, 4 * two_to_30 - 2, FixedBags{32}) == "nothing");
  CHECK(
      layout_of(two_to_30 / 32 + 1, 5, FixedBags{32}) ==
      "invalid_argument: There are 1073741856 ids, but the sort method takes 2^30 at most; launch "
      "parts of the batch.");
  CHECK(layout_of(1, 4 * two_to_30 - 1, FixedBags{32}) ==
        "invalid_argument: There are 4294967295 rows, but the sort method takes 2^32 - 2 at most; "
        "cut the table in two.");
  CHECK(layout_of(2 * two_to_30 - 1, 5, CsrBags{}) == "nothing");
  CHECK(layout_of(2 * two_to_30, 5, CsrBags{}) ==
        "invalid_argument: There are 2147483648 bags, but the sort method takes 2^31 - 1 at most; "
        "launch parts of them.");
}

TEST_CASE("the workspace of the largest launch is laid out in 64 bits") {
  constexpr std::int64_t ids = std::int64_t{1} << 30, dim = 128;
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = FixedBags{32};
  spec.table_gradient = SparseGradient{DataType::float64};
  spec = validated(spec);
  BackwardArguments arguments;
  arguments.forward.batch = ids / 32;
  arguments.forward.num_rows = (std::int64_t{1} << 32) - 2;
  const SortLayout layout(spec, gradient_table(spec), arguments);
  CHECK(layout.passes * layout.digit_bits >= 32);
  CHECK(layout.slices * layout.slice >= ids);
  for (const std::size_t i : {0, 1}) {
    CHECK(layout.keys[i] + ids * 4 <= layout.pieces);
    CHECK(layout.positions[i] + ids * 4 <= layout.pieces);
  }
  CHECK(layout.bytes - layout.pieces >= layout.slices * 2 * dim * 8);
}

}  // namespace
}  // namespace jitbag::test
