#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "backward_on_cpu.hpp"
#include "bad_input_report.cuh"
#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

constexpr Target target{9, 0};

/// The gradient of the weights of a sum, float32 as far as nothing else is said.
BackwardSpec weights_of_sum(std::int64_t dim, const BagLayout& bags) {
  BackwardSpec spec;
  spec.forward.dim = dim;
  spec.forward.bags = bags;
  spec.forward.pooling = Pooling::sum;
  spec.forward.alignment = 4;
  spec.forward.weight_type = DataType::float32;
  spec.table_gradient = std::monostate{};
  spec.weight_gradient_type = DataType::float32;
  return spec;
}

std::string launch(const BackwardSpec& spec, const BackwardArguments& arguments) {
  BadInputReport report{};
  return BackwardOnCpu(spec, default_strategy(spec, target), target, seed())
      .launch(arguments, report);
}

TEST_CASE(
    "columns that a row does not have, of a byte or of a lane, are neither read nor multiplied") {
  for (const DataType table_type : {DataType::int8, DataType::int4}) {
    BackwardSpec spec = weights_of_sum(3, FixedBags{1});
    spec.forward.table_type = table_type;
    spec.forward.row_scale = {.place = RowScale::Place::apart, .has_bias = false};
    spec.forward.alignment = 1;
    spec.forward.output_alignment = 4;
    // Its codes are 1, times infinity; 0 in the place of a column would be a NaN.
    const std::vector<std::uint8_t> table = table_type == DataType::int8
                                                ? std::vector<std::uint8_t>{1, 1, 1}
                                                : std::vector<std::uint8_t>{0x11, 0x01};
    const std::vector<float> scales{std::numeric_limits<float>::infinity()};
    const std::vector<std::int64_t> ids{0};
    const std::vector<float> weights{1};
    const std::vector<float> output_gradient{1, 1, 1};  // a sanitizer sees what is read behind it
    std::vector<float> gradient{0};
    BackwardArguments arguments;
    arguments.forward = {.table = table.data(),
                         .num_rows = 1,
                         .ids = ids.data(),
                         .batch = 1,
                         .weights = weights.data(),
                         .scales = scales.data()};
    arguments.output_gradient = output_gradient.data();
    arguments.weight_gradient = gradient.data();
    CHECK(launch(spec, arguments) == "");
    CHECK(gradient[0] == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("weights of rows without columns have the gradient 0") {
  const BackwardSpec spec = weights_of_sum(0, CsrBags{});
  const std::vector<std::int64_t> ids{3, 0, 1}, offsets{1, 2, 3};
  const std::vector<float> weights{1, 2, 3};
  std::vector<float> gradient{7, 7, 7};
  BackwardArguments arguments;
  arguments.forward = {.num_rows = 2,
                       .ids = ids.data(),
                       .num_ids = 3,
                       .offsets = offsets.data(),
                       .batch = 2,
                       .weights = weights.data()};
  arguments.weight_gradient = gradient.data();
  CHECK(launch(spec, arguments) == "");
  CHECK(gradient == std::vector<float>{7, 0, 0});
}

TEST_CASE("the gradient of the weights is that of the rows as they are before their step") {
  BackwardSpec spec = weights_of_sum(2, FixedBags{2});
  spec.table_gradient = AppliedGradient{};
  std::vector<float> table{1, 2, 3, 4, 5, 6};
  const std::vector<std::int64_t> ids{0, 2, 2, 0};
  const std::vector<float> weights{1, 2, 3, 4};
  const std::vector<float> output_gradient{1, 10, 100, 1000};
  const OptimizerParameters parameters{.learning_rate = 1};
  std::vector<float> gradient(4);
  BackwardArguments arguments;
  arguments.forward = {.table = table.data(),
                       .num_rows = 3,
                       .ids = ids.data(),
                       .batch = 2,
                       .weights = weights.data()};
  arguments.output_gradient = output_gradient.data();
  arguments.updated_table = table.data();
  arguments.parameters = &parameters;
  arguments.weight_gradient = gradient.data();
  CHECK(launch(spec, arguments) == "");
  CHECK(gradient == std::vector<float>{21, 65, 6500, 2100});
  CHECK(table == std::vector<float>{1 - 401, 2 - 4010, 3, 4, 5 - 302, 6 - 3020});
}

}  // namespace
}  // namespace jitbag::test
