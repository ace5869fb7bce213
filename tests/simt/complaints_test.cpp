// What users of other embedding bags ran into, by the threads where they said so: the kernel's own
// text and the CPU backend must follow one and the same rule.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "given_bags.hpp"
#include "jitbag/host.hpp"
#include "kernel_on_cpu.hpp"
#include "support/caught.hpp"
#include "support/check_outputs.hpp"
#include "support/elements.hpp"
#include "support/forward_case.hpp"
#include "support/seed.hpp"

namespace jitbag::test {
namespace {

/// What a launch leaves: the first column of its output, and what it throws or reports.
struct Outcome {
  std::vector<double> pooled;
  std::string error = nothing;
};

/// Runs the kernel and the CPU backend; both must leave what the oracle says, report the same and
/// write to no input.
Outcome run(const ForwardCase& forward_case) {
  INFO(forward_case.description);
  const ForwardSpec& spec = forward_case.spec;
  KernelOnCpu kernel(spec, default_strategy(spec, target), target, 1);
  CHECK(kernel.check(forward_case) == "");

  const auto before = forward_case.inputs;
  PlacedArray output(forward_case.output_bytes(), 0);
  PlacedArray winners(forward_case.winners_bytes(), 0);
  ForwardArguments arguments = forward_case.host_arguments();
  arguments.output = output.data();
  arguments.winners = winners.data();
  Outcome outcome;
  outcome.error = caught([&] { host::forward(spec, arguments, 1); });
  CHECK(check_outputs(spec, arguments) == "");
  CHECK(outcome.error == expected_error(forward_case));
  CHECK(forward_case.inputs == before);
  CHECK(output.surroundings_are_poison());
  for (std::int64_t row = 0; spec.dim > 0 && row < output_rows(spec, arguments); ++row) {
    const std::int64_t at = row * spec.output_stride * size_of(spec.output_type);
    outcome.pooled.push_back(load_element(output.data() + at, spec.output_type));
  }
  return outcome;
}

TEST_CASE("offsets below 0, past the ids or decreasing: nothing is read outside (pytorch#193095)") {
  for (const auto type : {IntegerType::int32, IntegerType::int64}) {
    const CsrBags csr{type, OffsetsEnd::included};
    CHECK(run(case_of(sums(csr), 4, {1, 2, 3, 4}, {-5, 2, 1, 99, 4})).pooled ==
          std::vector<double>{5, 0, 3 + 4 + 5, 0});
    CHECK(run(case_of(sums(csr), 1, {1, 2, 3, 4}, {-7, -3})).pooled == std::vector<double>{0});
    CHECK(run(case_of(sums(csr), 1, {1, 2, 3, 4}, {5, 9})).pooled == std::vector<double>{0});
  }
  CHECK(run(case_of(sums(CsrBags{IntegerType::int64, OffsetsEnd::implied}), 2, {1, 2, 3}, {-2, 7}))
            .pooled == std::vector<double>{2 + 3 + 4, 0});
}

TEST_CASE(
    "bad offsets are reported by bag, without a synchronisation (pytorch#175368, PR#175964)") {
  const CsrBags csr;
  const ForwardSpec spec = sums(csr, BadIds::report);
  const auto sentence = [](const std::string& bag) {
    return "bad_offset: the offsets say that bag " + bag +
           " ids and no bag ends before it begins; correct the offsets, or set bad_ids to skip.";
  };
  CHECK(run(case_of(spec, 2, {1, 2, 3, 4}, {0, 2, 99})).error ==
        sentence("1 begins at id 2 and ends before id 99, but there are 4"));
  CHECK(run(case_of(spec, 2, {1, 2, 3, 4}, {-1, 2, 4})).error ==
        sentence("0 begins at id -1 and ends before id 2, but there are 4"));
  CHECK(run(case_of(spec, 3, {1, 2, 3, 4}, {0, 3, 1, 4})).error ==
        sentence("1 begins at id 3 and ends before id 1, but there are 4"));
  const Outcome good_bags = run(case_of(spec, 3, {1, 2, 3, 4}, {0, 3, 1, 4}));
  CHECK(good_bags.pooled == std::vector<double>{2 + 3 + 4, 0, 3 + 4 + 5});
}

TEST_CASE("one rule for a bad id on the CPU and on the GPU (pytorch#88563, #66750, FBGEMM#6215)") {
  const Integers ids{num_rows, num_rows - 1, -1, 0};
  CHECK(run(case_of(sums(FixedBags{1}), 4, ids)).pooled == std::vector<double>{0, num_rows, 0, 1});
  const Outcome reported = run(case_of(sums(FixedBags{1}, BadIds::report), 4, ids));
  CHECK(reported.pooled == std::vector<double>{0, num_rows, 0, 1});
  CHECK(reported.error ==
        "bad_id: id 10 at position 0 of bag 0 is outside the table's 10 rows; correct the ids, or "
        "set bad_ids to skip.");
}

TEST_CASE("an id past 2^31 is not cut to 32 bits (pytorch#192445, PR#193408)") {
  const Integers ids{(std::int64_t{1} << 31) + 3, (std::int64_t{1} << 32) + 3,
                     -(std::int64_t{1} << 32) + 3, 3};
  CHECK(run(case_of(sums(FixedBags{1}), 4, ids)).pooled == std::vector<double>{0, 0, 0, 4});
  CHECK(run(case_of(sums(FixedBags{4}, BadIds::report), 1, ids))
            .error.rfind("bad_id: id 2147483651 at position 0 of bag 0", 0) == 0);
}

TEST_CASE("keys of any value beyond the table are not read (HugeCTR#41, #46, #250, #417)") {
  using Int64 = std::numeric_limits<std::int64_t>;
  using Int32 = std::numeric_limits<std::int32_t>;
  CHECK(run(case_of(sums(FixedBags{3}), 1, {Int64::min(), Int64::max(), 2})).pooled ==
        std::vector<double>{3});
  ForwardSpec narrow = sums(FixedBags{3});
  narrow.id_type = IntegerType::int32;
  CHECK(run(case_of(narrow, 1, {Int32::min(), Int32::max(), 2})).pooled == std::vector<double>{3});
}

TEST_CASE("a bad id is not rewritten, and row 0 is not pooled for it (torchrec#575)") {
  // `run` compares the ids with what they were.
  const Integers ids{num_rows + 5, 3, -9, num_rows};
  for (const auto policy : {BadIds::skip, BadIds::report}) {
    CHECK(run(case_of(sums(FixedBags{2}, policy), 2, ids)).pooled == std::vector<double>{4, 0});
  }
}

TEST_CASE("the policy for bad ids is that of the spec on every path (FBGEMM#3979, #5523)") {
  for (const Pooling pooling : poolings) {
    for (const BagLayout& bags : {BagLayout(FixedBags{2}), BagLayout(CsrBags{})}) {
      ForwardSpec spec = with_pooling(sums(bags, BadIds::report), pooling);
      const Outcome outcome = run(case_of(spec, 2, {1, 2, 3, num_rows}, {0, 2, 4}, {1, 1, 1, 1}));
      CHECK(outcome.error.rfind("bad_id: id 10 at position 1 of bag 1 ", 0) == 0);
    }
  }
}

TEST_CASE("any dim, with every array one element off (HierarchicalKV#158, FBGEMM#1208, #1402)") {
  // torchrec#1495, FBGEMM#1388 and HierarchicalKV#125 as well.
  for (const std::int64_t dim : {1, 2, 3, 5, 7, 33}) {
    for (const auto type : {DataType::float32, DataType::float16, DataType::int8}) {
      ForwardCaseOptions options;
      options.spec = {.dim = dim, .bags = FixedBags{3}, .table_type = type};
      options.spec.alignment = size_of(type);
      options.batch = 5;
      options.num_rows = num_rows;
      options.table_misalignment = options.ids_misalignment = 1;
      options.poison_after = false;
      options.seed = seed();
      run(make_forward_case(options));
    }
  }
}

TEST_CASE("rows of more than 1024 columns have no zeros (torchrec#3673, FBGEMM PR#5569)") {
  // torchrec PR#3876 and torchrec#1125 as well.
  for (const std::int64_t dim : {1023, 1024, 1025, 2048, 4096}) {
    ForwardSpec spec = sums(FixedBags{2});
    spec.dim = dim;
    const ForwardCase forward_case = case_of(spec, 1, {0, 4});
    CHECK(run(forward_case).pooled == std::vector<double>{6});
  }
}

TEST_CASE("a dim of 0 does nothing (pytorch#189668)") {
  ForwardSpec spec = sums(FixedBags{2});
  spec.dim = 0;
  CHECK(run(case_of(spec, 2, {0, 4, 1, 2})).error == nothing);
  spec.bags = CsrBags{};
  CHECK(run(case_of(spec, 1, {0, 4}, {0, 2})).error == nothing);
}

TEST_CASE("padding does not divide a mean, whatever the layout (pytorch#3194, #47858, PR#49237)") {
  for (const std::int64_t padding : {0, 7, -1}) {
    const Integers ids{0 + (padding == 0 ? 1 : 0), 2, padding};
    const double mean = (static_cast<double>(ids[0] + 1) + 3) / 2;
    for (const BagLayout& bags : {BagLayout(FixedBags{3}), BagLayout(CsrBags{}),
                                  BagLayout(CsrBags{IntegerType::int32, OffsetsEnd::implied})}) {
      ForwardSpec spec = with_pooling(sums(bags), Pooling::mean);
      spec.padding_id = padding;
      const auto* csr = std::get_if<CsrBags>(&bags);
      const bool is_implied = csr != nullptr && csr->end == OffsetsEnd::implied;
      CHECK(run(case_of(spec, 1, ids, is_implied ? Integers{0} : Integers{0, 3})).pooled ==
            std::vector<double>{mean});
    }
  }
}

TEST_CASE("a bag of nothing but padding is zeros (pytorch#3506, PR#3842, #6211)") {
  for (const Pooling pooling : poolings) {
    for (const BagLayout& bags : {BagLayout(FixedBags{2}), BagLayout(CsrBags{})}) {
      ForwardSpec spec = with_pooling(sums(bags), pooling);
      spec.padding_id = 3;
      const auto pooled = run(case_of(spec, 2, {3, 3, 3, 3}, {0, 2, 4}, {1, 1, 1, 1})).pooled;
      CHECK(std::all_of(pooled.begin(), pooled.end(), [](double value) { return value == 0; }));
    }
  }
}

TEST_CASE("empty bags are zeros, at both ends, in a row, and all of them (pytorch#11739, #4169)") {
  // pytorch PR#7389, #21400 and PR#57446 as well.
  for (const Pooling pooling : poolings) {
    if (pooling == Pooling::none) continue;
    const ForwardSpec spec = with_pooling(sums(CsrBags{}), pooling);
    const auto pooled = run(case_of(spec, 6, {4, 4}, {0, 0, 1, 1, 1, 2, 2}, {1, 1})).pooled;
    for (const std::size_t bag : {0, 2, 3, 5}) CHECK(pooled[bag] == 0);
    for (const std::size_t bag : {1, 4}) CHECK(pooled[bag] != 0);
    CHECK(run(case_of(spec, 3, {}, {0, 0, 0, 0})).pooled == std::vector<double>{0, 0, 0});
  }
}

TEST_CASE("no offsets and one offset are legal (pytorch#175370, PR#187104)") {
  const CsrBags implied{IntegerType::int64, OffsetsEnd::implied};
  CHECK(run(case_of(sums(implied), 0, {1, 2}, {})).pooled.empty());
  CHECK(run(case_of(sums(implied), 1, {1, 2}, {0})).pooled == std::vector<double>{5});
  CHECK(run(case_of(sums(implied), 1, {}, {0})).pooled == std::vector<double>{0});
  CHECK(run(case_of(sums(CsrBags{}), 0, {1, 2}, {0})).pooled.empty());
  CHECK(run(case_of(sums(CsrBags{}), 1, {1, 2}, {0, 2})).pooled == std::vector<double>{5});
}

TEST_CASE("ids after the last offset are not read; offsets that decrease are bad (pytorch#52851)") {
  // pytorch#55549 as well.
  const ForwardSpec spec = sums(CsrBags{}, BadIds::report);
  const Outcome short_of_the_ids = run(case_of(spec, 2, {1, 2, 3, 99}, {0, 1, 3}));
  CHECK(short_of_the_ids.pooled == std::vector<double>{2, 3 + 4});
  CHECK(short_of_the_ids.error == nothing);
  CHECK(run(case_of(spec, 2, {1, 2, 3, 4}, {2, 1, 4})).error.rfind("bad_offset: ", 0) == 0);
}

TEST_CASE("bags of one size lose none of them (pytorch#167974, PR#168159)") {
  CHECK(run(case_of(sums(FixedBags{2}), 3, {0, 1, 2, 3, 4, 5})).pooled ==
        std::vector<double>{1 + 2, 3 + 4, 5 + 6});
}

TEST_CASE("ids and offsets have types of their own (pytorch#46758, #55189, PR#53655)") {
  for (const auto ids : {IntegerType::int32, IntegerType::int64}) {
    for (const auto offsets : {IntegerType::int32, IntegerType::int64}) {
      ForwardSpec spec = sums(CsrBags{offsets, OffsetsEnd::included});
      spec.id_type = ids;
      CHECK(run(case_of(spec, 2, {1, 2, 3}, {0, 1, 3})).pooled == std::vector<double>{2, 3 + 4});
    }
  }
}

TEST_CASE("64-bit offsets are not cut to 32 bits (cuEmbed)") {
  const std::int64_t far = (std::int64_t{1} << 32) + 1;  // 1, if it were
  CHECK(run(case_of(sums(CsrBags{}), 2, {1, 2, 3}, {0, far, far})).pooled ==
        std::vector<double>{2 + 3 + 4, 0});
}

TEST_CASE("a weighted mean by the weights, and one by the count (pytorch#4068)") {
  // recsys-examples#469 as well.
  const std::vector<double> weights{3, 1};
  for (const BagLayout& bags : {BagLayout(FixedBags{2}), BagLayout(CsrBags{})}) {
    ForwardSpec spec = sums(bags);
    spec.weight_type = DataType::float32;
    const auto pooled = [&](Pooling pooling) {
      return run(case_of(with_pooling(spec, pooling), 1, {0, 4}, {0, 2}, weights)).pooled.front();
    };
    CHECK(pooled(Pooling::sum) == 3 * 1 + 1 * 5);
    CHECK(pooled(Pooling::mean) == (3 * 1 + 1 * 5) / 2.0);
    CHECK(pooled(Pooling::mean_by_weights) == (3 * 1 + 1 * 5) / 4.0);
  }
}

TEST_CASE("a mean by weights whose sum is 0 is that division, and zeros where nothing counts") {
  ForwardSpec spec = with_pooling(sums(FixedBags{2}), Pooling::mean_by_weights);
  spec.padding_id = 3;
  const ForwardCase forward_case = case_of(spec, 3, {0, 4, 3, 3, 2, 2}, {}, {1, -1, 1, -1, 0, 0});
  PlacedArray output(forward_case.output_bytes(), 0);
  ForwardArguments arguments = forward_case.host_arguments();
  arguments.output = output.data();
  const auto first = [&](std::int64_t bag) {
    return load_element(output.data() + bag * spec.dim * 4, DataType::float32);
  };
  const auto check = [&] {
    CHECK(first(0) == -std::numeric_limits<double>::infinity());
    CHECK(first(1) == 0);
    CHECK(std::isnan(first(2)));
    poison(output.array());
  };
  host::forward(spec, arguments, 1);
  check();
  BadInputReport report{};
  KernelOnCpu kernel(spec, default_strategy(spec, target), target, 1);
  CHECK(kernel.launch(arguments, report) == "");
  check();
}

TEST_CASE("weights are part of the spec, and are not dropped (TorchEasyRec#648)") {
  ForwardSpec spec = sums(FixedBags{2});
  CHECK(run(case_of(spec, 1, {0, 1})).pooled == std::vector<double>{3});
  spec.weight_type = DataType::float32;
  CHECK(run(case_of(spec, 1, {0, 1}, {}, {70, 70})).pooled == std::vector<double>{210});
}

TEST_CASE("weights have a type of their own (torchrec#1758, FBGEMM#595, #2369)") {
  const std::array types{DataType::float32, DataType::float16, DataType::bfloat16,
                         DataType::float64};
  for (const auto table : types) {
    for (const auto weights : types) {
      if (table == weights) continue;
      ForwardSpec spec = sums(FixedBags{2});
      spec.table_type = table;
      spec.weight_type = weights;
      CHECK(run(case_of(spec, 1, {0, 3}, {}, {0.5, 2})).pooled == std::vector<double>{8.5});
    }
  }
}

TEST_CASE("more bags than a grid has in y or z (FBGEMM#4208, #3282, #2639)") {
  constexpr std::int64_t batch = 70'000;
  ForwardSpec spec = sums(FixedBags{1});
  spec.dim = 1;
  Integers ids(batch);
  for (std::int64_t bag = 0; bag < batch; ++bag) ids[bag] = bag % num_rows;
  const auto pooled = run(case_of(spec, batch, ids)).pooled;
  CHECK(pooled[65'535] == 6);
  CHECK(pooled[65'536] == 7);
  CHECK(pooled[batch - 1] == 10);
}

}  // namespace
}  // namespace jitbag::test
