#include "runtime/mark_layout.hpp"

#include "catch.hpp"
#include "support/caught.hpp"

namespace jitbag::test {
namespace {

TEST_CASE("marks refuse more rows than their words count, and say what to do") {
  constexpr std::int64_t most_rows = (std::int64_t{1} << 32) - 2;
  CHECK(caught([] { static_cast<void>(MarkLayout(most_rows)); }) == "nothing");
  CHECK(
      caught([] { static_cast<void>(MarkLayout(most_rows + 1)); }) ==
      "invalid_argument: There are 4294967295 rows, but a sparse gradient takes 2^32 - 2 at most; "
      "cut the table in two.");
}

TEST_CASE("marks are three bits for each row, in few enough chunks for a block to add up") {
  for (const std::int64_t rows :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{1024}, std::int64_t{1'000'000},
        std::int64_t{4'194'305}, (std::int64_t{1} << 32) - 2}) {
    INFO(rows << " rows");
    const MarkLayout layout(rows);
    CHECK(layout.parts * 1024 >= rows);
    CHECK((layout.parts + layout.parts_of_chunk - 1) / layout.parts_of_chunk <= 4096);
    CHECK(std::int64_t{1} << layout.chunk_bits == layout.parts_of_chunk * 1024);
    CHECK(layout.named_in_chunk - layout.marks >= layout.parts * 32 * 8);
    CHECK(layout.bytes - layout.named_before >= layout.parts * 32 * 4);
    CHECK(layout.bytes <= rows / 8 * 3 + 20'000);
  }
}

}  // namespace
}  // namespace jitbag::test
