#include <cstdint>
#include <string>
#include <vector>

#include "catch.hpp"
#include "gpu.hpp"
#include "support/caught.hpp"
#include "support/suite_cache.hpp"

namespace jitbag::test {
namespace {

/// A table of ones with 10 rows of 8 columns, and bags of 2 ids.
class ReportingKernel {
 public:
  ReportingKernel()
      : context_(0),
        engine_({.cache = suite_cache()}),
        kernel_(engine_.forward(spec())),
        table_(uploaded(std::vector<float>(10 * 8, 1.0f))),
        output_(sizeof(float) * 8 * 1000) {}

  /// Launches with these ids, two a bag, and returns what was thrown.
  std::string launch(const std::vector<std::int64_t>& ids) {
    ids_ = uploaded(ids);
    ForwardArguments arguments;
    arguments.table = table_.data();
    arguments.num_rows = 10;
    arguments.ids = ids_.data();
    arguments.output = output_.data();
    arguments.batch = static_cast<std::int64_t>(ids.size()) / 2;
    const std::string thrown = caught([&] { kernel_.launch(arguments, stream_.get()); });
    stream_.synchronize();
    return thrown;
  }

  std::string check() {
    return caught([&] { engine_.check(); });
  }

  [[nodiscard]] std::vector<float> output(std::size_t bags) const {
    return downloaded<float>(output_.data(), bags * 8);
  }

 private:
  static ForwardSpec spec() {
    ForwardSpec made;
    made.dim = 8;
    made.bags = FixedBags{2};
    made.bad_ids = BadIds::report;
    return made;
  }

  device::Context context_;
  Engine engine_;
  const ForwardKernel& kernel_;
  device::OwnedStream stream_;
  device::Buffer table_, ids_, output_;
};

const std::string sentence =
    "bad_id: id 10 at position 1 of bag 1 is outside the table's 10 rows; correct the ids, or set "
    "bad_ids to skip.";

TEST_CASE("a bad id is reported by the next check, once, and the other bags are right") {
  if (!gpu_is_here()) return;
  ReportingKernel kernel;
  CHECK(kernel.launch({1, 2, 3, 10, 4, -1, 10, -7}) == "nothing");
  CHECK(kernel.output(4) == [] {
    std::vector<float> expected(32, 1.0f);
    std::fill(expected.begin() + 24, expected.end(), 0.0f);
    return expected;
  }());
  CHECK(kernel.check() == sentence);
  CHECK(kernel.check() == "nothing");
}

TEST_CASE("a bad id is reported by the next launch, which is not made") {
  if (!gpu_is_here()) return;
  ReportingKernel kernel;
  CHECK(kernel.launch({1, 2, 3, 10}) == "nothing");
  CHECK(kernel.launch({1, 2, 3, 4}) == sentence);
  CHECK(kernel.launch({1, 2, 3, 4}) == "nothing");
  CHECK(kernel.check() == "nothing");
}

TEST_CASE("of many bad ids the first is reported, whatever the order of blocks") {
  if (!gpu_is_here()) return;
  ReportingKernel kernel;
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::vector<std::int64_t> ids(2000, 10);
    ids[0] = ids[1] = ids[2] = 5;
    CHECK(kernel.launch(ids) == "nothing");
    CHECK(kernel.check() == sentence);
  }
}

/// Three rows of ones and what is launched with them.
struct ThreeOnes {
  device::Buffer table = uploaded(std::vector<float>(3 * 8, 1.0f));
  device::Buffer ids = uploaded(std::vector<std::int64_t>{0, 1, 2, 0});
  device::Buffer offsets;
  device::Buffer output = uploaded(std::vector<float>(4 * 8, -7.0f));

  explicit ThreeOnes(const std::vector<std::int64_t>& offset_values)
      : offsets(uploaded(offset_values)) {}

  [[nodiscard]] ForwardArguments arguments(std::int64_t batch) const {
    ForwardArguments made;
    made.table = table.data();
    made.num_rows = 3;
    made.ids = ids.data();
    made.num_ids = 4;
    made.offsets = offsets.data();
    made.output = output.data();
    made.batch = batch;
    return made;
  }

  [[nodiscard]] std::vector<float> first_column(std::size_t bags) const {
    std::vector<float> column;
    const auto all = downloaded<float>(output.data(), bags * 8);
    for (std::size_t bag = 0; bag < bags; ++bag) column.push_back(all[bag * 8]);
    return column;
  }
};

ForwardSpec sums_of_csr_bags() {
  ForwardSpec spec;
  spec.dim = 8;
  spec.bags = CsrBags{};
  spec.pooling = Pooling::sum;
  spec.bad_ids = BadIds::report;
  return spec;
}

TEST_CASE("a bag that is not among the ids is reported, and the other bags are right") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  const ThreeOnes ones({0, 3, 1, 4, 99});
  engine.forward(sums_of_csr_bags()).launch(ones.arguments(4), stream.get());
  stream.synchronize();
  CHECK(caught([&] { engine.check(); }) ==
        "bad_offset: the offsets say that bag 1 begins at id 3 and ends before id 1, but there are "
        "4 ids and no bag ends before it begins; correct the offsets, or set bad_ids to skip.");
  CHECK(caught([&] { engine.check(); }) == "nothing");
  CHECK(ones.first_column(4) == std::vector<float>{3, 0, 3, 0});
}

TEST_CASE("of a set's bad input that of the lowest table is reported, and all tables are right") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  TablesSpec spec;
  spec.tables.assign(3, sums_of_csr_bags());
  const ThreeOnes good({0, 2, 4});
  const ThreeOnes bad({0, 2, 5});
  const ThreeOnes worse({-1, 2, 4});
  const std::vector<ForwardArguments> tables{good.arguments(2), bad.arguments(2),
                                             worse.arguments(2)};
  const TablesKernel& kernel = engine.tables(spec);
  kernel.launch(kernel.bind(tables), {}, stream.get());
  stream.synchronize();
  CHECK(caught([&] { engine.check(); }) ==
        "bad_offset: the offsets say that bag 1 of table 1 begins at id 2 and ends before id 5, "
        "but there are 4 ids and no bag ends before it begins; correct the offsets, or set bad_ids "
        "to skip.");
  CHECK(caught([&] { engine.check(); }) == "nothing");
  for (const ThreeOnes* table : {&good, &bad, &worse}) {
    CHECK(table->first_column(2) == std::vector<float>{2, 2});
  }
}

}  // namespace
}  // namespace jitbag::test
