// What must hold between launches, whatever the oracle says.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "kernel_on_cpu.hpp"
#include "support/elements.hpp"
#include "support/forward_case.hpp"
#include "support/seed.hpp"
#include "support/table_rows.hpp"

namespace jitbag::test {
namespace {

constexpr Target target{9, 0};
constexpr double unit = 0x1p-24;  // relative rounding error of float32

/// A kernel that gives float32 outputs.
class FloatKernel {
 public:
  explicit FloatKernel(const ForwardSpec& spec)
      : spec_(validated(spec)), kernel_(spec, default_strategy(spec, target), target, 1) {}

  [[nodiscard]] std::vector<float> launch(ForwardArguments arguments) {
    std::vector<float> output(static_cast<std::size_t>(output_rows(spec_, arguments)) *
                              static_cast<std::size_t>(spec_.output_stride));
    arguments.output = output.data();
    BadInputReport report{};
    CHECK(kernel_.launch(arguments, report) == "");
    return output;
  }

 private:
  ForwardSpec spec_;
  KernelOnCpu kernel_;
};

ForwardCaseOptions options_of(const ForwardSpec& spec, std::int64_t batch = 40) {
  return {.spec = spec, .batch = batch, .num_rows = 50, .longest_bag = 20, .seed = seed()};
}

ForwardSpec spec_of(const BagLayout& bags, const Poolings& pooling) {
  return {.dim = 24, .bags = bags, .pooling = pooling, .padding_id = 0};
}

/// How far two sums of so many ids, of numbers up to 4, may be from each other.
double rounding(std::int64_t ids) {
  return 2 * static_cast<double>(ids * ids) * 4 * unit;
}

void check_near(const std::vector<float>& actual, const std::vector<float>& expected,
                double allowed) {
  REQUIRE(actual.size() == expected.size());
  std::size_t far = 0;  // NaN is far from everything
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i] - expected[i]));
    far += difference <= allowed ? 0 : 1;
  }
  CHECK(far == 0);
}

/// The ids of each bag of one size in another order.
void permute_bags(ForwardCase& forward_case, std::int64_t size) {
  Random random(seed());
  std::byte* const ids = forward_case.input(Input::ids).data();
  const auto swap = [&](std::int64_t a, std::int64_t b) {
    std::swap_ranges(ids + 8 * a, ids + 8 * (a + 1), ids + 8 * b);
  };
  for (std::int64_t bag = 0; bag < forward_case.batch; ++bag) {
    for (std::int64_t i = 1; i < size; ++i) {
      const std::int64_t other = random.below(i);
      swap(bag * size + i, bag * size + other);
    }
  }
}

TEST_CASE("another order of a bag's ids changes sums by their rounding, and no maximum") {
  constexpr std::int64_t size = 17;
  for (const Pooling pooling : {Pooling::sum, Pooling::mean, Pooling::max}) {
    const ForwardSpec spec = spec_of(FixedBags{size}, pooling);
    ForwardCase forward_case = make_forward_case(options_of(spec));
    FloatKernel kernel(spec);
    const auto before = kernel.launch(forward_case.host_arguments());
    permute_bags(forward_case, size);
    const auto after = kernel.launch(forward_case.host_arguments());
    check_near(after, before, pooling == Pooling::max ? 0 : rounding(size));
  }
}

TEST_CASE("two parts of a batch give the bits of the whole") {
  constexpr std::int64_t first_part = 13;
  const std::array<BagLayout, 2> layouts{FixedBags{5}, CsrBags{}};
  for (const BagLayout& bags : layouts) {
    const ForwardSpec spec = spec_of(bags, {Pooling::mean, Pooling::max, Pooling::sum});
    const ForwardCase forward_case = make_forward_case(options_of(spec));
    FloatKernel kernel(spec);
    const ForwardArguments whole = forward_case.host_arguments();
    ForwardArguments first = whole;
    first.batch = first_part;
    ForwardArguments second = whole;
    second.batch -= first_part;
    if (std::holds_alternative<FixedBags>(bags)) {
      second.ids = static_cast<const std::int64_t*>(whole.ids) + first_part * 5;
    } else {
      second.offsets = static_cast<const std::int64_t*>(whole.offsets) + first_part;
    }
    auto parts = kernel.launch(first);
    const auto rest = kernel.launch(second);
    parts.insert(parts.end(), rest.begin(), rest.end());
    CHECK(parts == kernel.launch(whole));
  }
}

TEST_CASE("a sum is its mean times the count, and the mean by the root times the root") {
  const ForwardSpec spec = spec_of(CsrBags{}, {Pooling::sum, Pooling::mean, Pooling::mean_by_sqrt});
  const ForwardCase forward_case = make_forward_case(options_of(spec));
  FloatKernel kernel(spec);
  const auto outputs = kernel.launch(forward_case.host_arguments());

  ForwardSpec counting = spec_of(CsrBags{}, Pooling::sum);
  counting.dim = 1;
  const std::vector<float> ones(50, 1.0f);
  ForwardArguments arguments = forward_case.host_arguments();
  arguments.table = ones.data();
  const auto counts = FloatKernel(counting).launch(arguments);

  for (std::size_t bag = 0; bag < counts.size(); ++bag) {
    const float* const vectors = outputs.data() + bag * 3 * 24;
    for (std::size_t column = 0; column < 24; ++column) {
      const double sum = static_cast<double>(vectors[column]);
      const double allowed = 6 * unit * std::abs(sum);
      const auto count = static_cast<double>(counts[bag]);
      CHECK(std::abs(static_cast<double>(vectors[24 + column]) * count - sum) <= allowed);
      CHECK(std::abs(static_cast<double>(vectors[48 + column]) * std::sqrt(count) - sum) <=
            allowed);
    }
  }
}

TEST_CASE("sums over a table of ones are the counts") {
  constexpr std::int64_t size = 7;
  const ForwardSpec spec = spec_of(FixedBags{size}, Pooling::sum);
  const ForwardCase forward_case = make_forward_case(options_of(spec));
  const std::vector<float> ones(50 * 24, 1.0f);
  ForwardArguments arguments = forward_case.host_arguments();
  arguments.table = ones.data();
  const auto sums = FloatKernel(spec).launch(arguments);
  const auto* const ids = static_cast<const std::int64_t*>(arguments.ids);
  for (std::int64_t bag = 0; bag < arguments.batch; ++bag) {
    const auto counted = std::count_if(ids + bag * size, ids + (bag + 1) * size,
                                       [](std::int64_t id) { return id > 0 && id < 50; });
    for (std::int64_t column = 0; column < 24; ++column) {
      CHECK(sums[static_cast<std::size_t>(bag * 24 + column)] == static_cast<float>(counted));
    }
  }
}

TEST_CASE("pooling a quantised table is pooling the table of its elements") {
  struct Kind {
    DataType type;
    RowScale scale;
  };
  constexpr std::int64_t dim = 24;
  const std::array<Kind, 6> kinds{{
      {DataType::int8, fbgemm::inference_row()},
      {DataType::int8, fbgemm::fused_8bit_row(dim)},
      {DataType::int8, {RowScale::Place::apart, DataType::float32, false, 0, 0}},
      {DataType::int4, fbgemm::fused_4bit_row(dim)},
      {DataType::float8_e4m3, {RowScale::Place::apart, DataType::float16, false, 0, 0}},
      {DataType::float8_e5m2, {RowScale::Place::nowhere, DataType::float32, false, 0, 0}},
  }};
  for (const Kind& kind : kinds) {
    for (const Pooling pooling : {Pooling::sum, Pooling::max, Pooling::none}) {
      const ForwardSpec as_float = spec_of(FixedBags{9}, pooling);
      ForwardSpec spec = as_float;
      spec.table_type = kind.type;
      spec.row_scale = kind.scale;
      INFO(to_text(spec));
      const ForwardCase forward_case = make_forward_case(options_of(spec));
      ForwardArguments arguments = forward_case.host_arguments();
      const auto pooled = FloatKernel(spec).launch(arguments);

      const TableRows rows(forward_case.spec, arguments.table, arguments.scales);
      std::vector<float> elements;
      for (std::int64_t row = 0; row < forward_case.num_rows; ++row) {
        for (std::int64_t column = 0; column < dim; ++column) {
          elements.push_back(static_cast<float>(rows.value(row, column)));
        }
      }
      arguments.table = elements.data();
      const double dequantisation = 3 * unit * 4;
      check_near(pooled, FloatKernel(as_float).launch(arguments),
                 pooling == Pooling::sum ? rounding(9) + 9 * dequantisation : dequantisation);
    }
  }
}

}  // namespace
}  // namespace jitbag::test
