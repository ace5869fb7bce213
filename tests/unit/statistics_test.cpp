#include "statistics.hpp"

#include <array>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "support/caught.hpp"

namespace jitbag::tools {
namespace {

TEST_CASE("mean and median of a few values, in any order") {
  CHECK(mean(std::array{4.0}) == 4);
  CHECK(mean(std::array{3.0, 1.0, 8.0}) == 4);
  CHECK(median(std::array{4.0}) == 4);
  CHECK(median(std::array{8.0, 1.0, 3.0}) == 3);
  CHECK(median(std::array{8.0, 1.0, 3.0, 4.0}) == 3.5);
}

TEST_CASE("percentiles are interpolated as NumPy does by default") {
  const std::vector<double> values{40, 10, 30, 20};  // numpy.percentile gives the same
  CHECK(percentile(values, 0) == 10);
  CHECK(percentile(values, 25) == 17.5);
  CHECK(percentile(values, 50) == 25);
  CHECK(std::abs(percentile(values, 95) - 38.5) < 1e-12);
  CHECK(percentile(values, 100) == 40);
  CHECK(percentile(std::array{7.0}, 95) == 7);
}

TEST_CASE("no values and no percentile are refused with a sentence") {
  const std::vector<double> nothing;
  const auto complaint =
      "invalid_argument: There are no values to summarise; measure at least once.";
  CHECK(test::caught([&] { (void)mean(nothing); }) == complaint);
  CHECK(test::caught([&] { (void)median(nothing); }) == complaint);
  CHECK(test::caught([&] { (void)percentile(nothing, 95); }) == complaint);
  CHECK(test::caught([&] { (void)percentile(std::array{1.0}, 101); }) ==
        "invalid_argument: 101 is not a percentile; use 0 to 100.");
  CHECK(test::caught([&] { (void)percentile(std::array{1.0}, std::nan("")); }) ==
        "invalid_argument: nan is not a percentile; use 0 to 100.");
}

}  // namespace
}  // namespace jitbag::tools
