#include "jitbag/engine.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "compiler/artifact.hpp"
#include "gpu.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "support/caught.hpp"
#include "support/forward_matrix.hpp"
#include "support/seed.hpp"
#include "support/suite_cache.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

ForwardCaseOptions options(std::int64_t dim = 64) {
  ForwardCaseOptions made;
  made.spec.dim = dim;
  made.spec.bags = FixedBags{4};
  made.spec.table_type = DataType::float16;
  made.spec.output_type = DataType::float16;
  made.spec.padding_id = 0;
  made.batch = 1023;
  made.num_rows = 5000;
  made.seed = seed();
  return made;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("the second process finds on disk what the first compiled, and computes the same",
          "[compiles]") {
  if (!gpu_is_here()) return;
  const TemporaryFolder folder;
  const device::Context context(0);
  const device::OwnedStream stream;
  const auto kernels = forward_matrix(seed());
  for (std::size_t i = 0; i < kernels.size(); i += 20) {
    if (kernels[i].spec.bad_ids == BadIds::report) continue;
    const ForwardCase forward_case = make_forward_case(launches_of(kernels[i]).back());
    std::vector<std::vector<std::byte>> outputs;
    std::vector<std::string> keys;
    for (const KernelOrigin origin : {KernelOrigin::compiled, KernelOrigin::disk}) {
      Engine engine({.cache = cache::CacheOptions{.directory = folder.path()}});
      const ForwardKernel& kernel = engine.forward(kernels[i].spec);
      CHECK(kernel.artifact().origin == origin);
      const DeviceCase on_device(forward_case);
      kernel.launch(on_device.arguments(), stream.get());
      stream.synchronize();
      CHECK(on_device.check() == "");
      outputs.push_back(on_device.output());
      keys.push_back(kernel.artifact().key);
    }
    INFO(describe(kernels[i], gpu_target()));
    CHECK(outputs[0] == outputs[1]);
    CHECK(keys[0] == keys[1]);
  }
}

TEST_CASE("threads with and without contexts share one Engine, and each kernel is made once",
          "[compiles]") {
  if (!gpu_is_here()) return;
  const TemporaryFolder folder;
  Engine engine({.cache = cache::CacheOptions{.directory = folder.path()}});
  constexpr std::size_t threads = 32;
  std::vector<const ForwardKernel*> found(threads);
  std::vector<std::string> problems(threads);
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      const std::string thrown = caught([&] {
        // A thread without a context gets that of device 0.
        std::optional<device::Context> context;
        if (i % 2 == 0) context.emplace(0);
        const ForwardKernel& kernel = engine.forward(options().spec);
        found[i] = &kernel;
        const device::OwnedStream stream;
        for (std::uint64_t repeat = 0; repeat < 10; ++repeat) {
          ForwardCaseOptions mine = options();
          mine.batch = 100;
          mine.seed = seed() + i * 1000 + repeat;
          const std::string problem = launch_and_check(kernel, mine, stream);
          if (!problem.empty()) problems[i] = problem;
        }
      });
      if (thrown != "nothing") problems[i] = thrown;
    });
  }
  for (std::thread& thread : running) thread.join();
  for (const std::string& problem : problems) CHECK(problem == "");
  CHECK(std::count(found.begin(), found.end(), found.front()) == threads);
  CHECK(found.front()->artifact().origin == KernelOrigin::compiled);
}

TEST_CASE("equal work finds one kernel, other work another") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  const ForwardKernel& kernel = engine.forward(options().spec);
  ForwardSpec same = options().spec;
  same.row_stride = same.dim;
  same.alignment = 256;
  CHECK(&engine.forward(same) == &kernel);
  CHECK(&engine.forward(same, {.expected_batch = 1'000'000}) == &kernel);
  CHECK(&engine.forward(same, {.strategy = kernel.strategy()}) == &kernel);
  Strategy other = kernel.strategy();
  other.rows_in_flight = 2;
  CHECK(&engine.forward(same, {.strategy = other}) != &kernel);
  CHECK(&engine.forward(options(65).spec) != &kernel);
}

TEST_CASE("machine code that the driver refuses is compiled again", "[compiles]") {
  if (!gpu_is_here()) return;
  const TemporaryFolder folder;
  const device::Context context(0);
  const device::OwnedStream stream;
  const Target target = gpu_target();
  const ForwardSpec spec = options().spec;
  Artifact artifact = Engine({.cache = cache::CacheOptions{.directory = folder.path()}})
                          .artifact(specialise(spec, default_strategy(spec, target), target));

  // Whole by every rule of the cache and of ELF, and yet for no machine.
  const cache::DiskCache disk(folder.path(), [](std::string_view) {});
  const auto key = cache::Digest::from_hex(artifact.key);
  REQUIRE(key.has_value());
  auto record = disk.find(*key);
  REQUIRE(record.has_value());
  std::fill(artifact.cubin.begin() + 16, artifact.cubin.begin() + 20, std::byte{0});
  record->payload = compiler::to_payload(artifact);
  disk.discard(*key);
  REQUIRE(disk.store(*record));

  for (const KernelOrigin origin : {KernelOrigin::compiled, KernelOrigin::disk}) {
    Engine engine({.cache = cache::CacheOptions{.directory = folder.path()}});
    const ForwardKernel& kernel = engine.forward(spec);
    CHECK(kernel.artifact().origin == origin);
    CHECK(launch_and_check(kernel, options(), stream) == "");
  }
}

TEST_CASE("a kernel from a bundle computes what it did where it was made, and nothing is written",
          "[compiles]") {
  if (!gpu_is_here()) return;
  const TemporaryFolder folder;
  const device::Context context(0);
  const device::OwnedStream stream;
  const ForwardSpec spec = options().spec;
  const ForwardCase forward_case = make_forward_case(options());
  const auto output_of = [&](Engine& engine, KernelOrigin origin) {
    const ForwardKernel& kernel = engine.forward(spec);
    CHECK(kernel.artifact().origin == origin);
    const DeviceCase on_device(forward_case);
    kernel.launch(on_device.arguments(), stream.get());
    stream.synchronize();
    CHECK(on_device.check() == "");
    return on_device.output();
  };
  Engine maker({.cache = cache::CacheOptions{.directory = folder.path() / "made"}});
  const auto made = output_of(maker, KernelOrigin::compiled);

  const cache::DiskCache disk(folder.path() / "made", {});
  const auto bundle = folder.path() / "shipped.bundle";
  cache::write_bundle(bundle,
                      {.keys = {disk.entries().front().key},
                       .producers = disk.producers(),
                       .read = [&disk](const cache::Digest& key) { return disk.find(key); }});
  Engine server(
      {.cache = cache::CacheOptions{.directory = folder.path() / "own", .layers = {bundle}}});
  CHECK(output_of(server, KernelOrigin::bundle) == made);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "own"));
}

TEST_CASE("threads that ask for a kernel that does not compile all get the compiler's log",
          "[compiles]") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = cache::CacheOptions{}});
  const KernelTemplate wrong{.name = "wrong.cu",
                             .text = "extern \"C\" __global__ void wrong() { no_such_name(); }",
                             .entry = "wrong"};
  std::vector<std::string> thrown(16);
  for (int round = 0; round < 2; ++round) {
    std::vector<std::thread> running;
    for (std::string& mine : thrown) {
      running.emplace_back([&engine, &wrong, &mine] {
        mine = caught([&] { static_cast<void>(engine.kernel(wrong)); });
      });
    }
    for (std::thread& thread : running) thread.join();
    for (const std::string& sentence : thrown)
      CHECK(contains(sentence, "compile_failed: wrong.cu"));
  }
}

TEST_CASE("a launch that cannot work is refused before anything is enqueued") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  const device::OwnedStream stream;
  Engine engine({.cache = suite_cache()});
  ForwardSpec narrow = options().spec;
  narrow.addressing = Addressing::bits32;
  const ForwardKernel& kernel = engine.forward(narrow);
  const ForwardCase forward_case = make_forward_case(options());
  const DeviceCase on_device(forward_case);
  const auto complaint = [&](auto change) {
    ForwardArguments arguments = on_device.arguments();
    change(arguments);
    return caught([&] { kernel.launch(arguments, stream.get()); });
  };
  CHECK(complaint([](ForwardArguments&) {}) == "nothing");
  CHECK(contains(complaint([](ForwardArguments& a) { a.table = nullptr; }),
                 "invalid_argument: table is a null pointer"));
  CHECK(contains(
      complaint([](ForwardArguments& a) { a.ids = static_cast<const std::byte*>(a.ids) + 8; }),
      "invalid_argument: ids is at "));
  CHECK(contains(complaint([](ForwardArguments& a) { a.batch = -1; }),
                 "invalid_argument: batch is -1"));
  CHECK(contains(complaint([](ForwardArguments& a) { a.num_rows = std::int64_t{1} << 31; }),
                 "allows fewer than 2^31"));
  stream.synchronize();
  CHECK(on_device.check() == "");
}

TEST_CASE("work on nothing is no work: dim 0 and batch 0 need no pointers") {
  if (!gpu_is_here()) return;
  const device::Context context(0);
  Engine engine({.cache = suite_cache()});
  ForwardSpec spec;
  spec.dim = 0;
  CHECK(caught([&] { engine.forward(spec).launch({}, nullptr); }) == "nothing");
  spec.dim = 5;
  CHECK(caught([&] { engine.forward(spec).launch({}, nullptr); }) == "nothing");
}

TEST_CASE("a device that is not there is refused by number") {
  if (!gpu_is_here()) return;
  CHECK(contains(caught([] { const device::Context context(99); }),
                 "no_device: There is no device 99; this machine has "));
}

}  // namespace
}  // namespace jitbag::test
