// What the engine adds to NVRTC and to the driver, as JSON:
//   cold    the engine's time to machine code with an empty cache, and NVRTC's own share of it
//   disk    a kernel's record taken from disk and verified, in a process that never opens NVRTC
//   memory  a lookup that finds the kernel in memory (needs a GPU)
//   launch  the host's time to enqueue a kernel (needs a GPU)
// Every cold compile has its own key and NVRTC's own cache off, so that none of them is warm.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "jitbag/jitbag.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

nlohmann::json summary(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return {{"median", at(0.5)}, {"p95", at(0.95)}, {"samples", values.size()}};
}

/// A folder that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(std::filesystem::temp_directory_path() /
              ("jitbag-engine-times-" + std::to_string(std::random_device{}()))) {}
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

const jitbag::Target sm_90 = {.major = 9, .minor = 0};

jitbag::ForwardSpec seed_spec(std::int64_t dim) {
  return {.dim = dim,
          .bags = jitbag::FixedBags{4},
          .table_type = jitbag::DataType::float16,
          .output_type = jitbag::DataType::float16,
          .padding_id = 0,
          .addressing = jitbag::Addressing::bits32};
}

jitbag::Artifact make(jitbag::Engine& engine, const jitbag::ForwardSpec& spec) {
  return engine.artifact(jitbag::specialise(spec, jitbag::default_strategy(spec, sm_90), sm_90));
}

nlohmann::json cold(const std::filesystem::path& cache) {
  jitbag::Engine engine({.cache = jitbag::cache::CacheOptions{.directory = cache}});
  static_cast<void>(make(engine, seed_spec(8)));  // opens NVRTC
  std::vector<double> engine_us, nvrtc_us, ratio;
  for (std::int64_t dim = 16; dim <= 320; dim += 16) {
    jitbag::Artifact artifact;
    engine_us.push_back(microseconds([&] { artifact = make(engine, seed_spec(dim)); }));
    nvrtc_us.push_back(artifact.times.compile_ms * 1000);
    ratio.push_back(engine_us.back() / nvrtc_us.back());
  }
  return {{"engine_us", summary(engine_us)},
          {"nvrtc_us", summary(nvrtc_us)},
          {"ratio", summary(ratio)}};
}

/// A fresh Engine for each: nothing is in memory.
nlohmann::json disk(const std::filesystem::path& cache) {
  std::vector<double> times;
  for (int repeat = 0; repeat < 200; ++repeat) {
    jitbag::Engine engine({.cache = jitbag::cache::CacheOptions{.directory = cache}});
    jitbag::Artifact artifact;
    times.push_back(microseconds([&] { artifact = make(engine, seed_spec(64)); }));
    if (artifact.origin != jitbag::KernelOrigin::disk) return "the record was not found";
  }
  return {{"engine_us", summary(times)}};
}

struct Launchable {
  jitbag::device::Context context{0};
  jitbag::device::OwnedStream stream;
  jitbag::device::Buffer table{64 * 1024 * 2};
  jitbag::device::Buffer ids{1024 * 4 * 8};
  jitbag::device::Buffer output{1024 * 64 * 2};
  jitbag::ForwardArguments arguments{.table = table.data(),
                                     .num_rows = 1024,
                                     .ids = ids.data(),
                                     .output = output.data(),
                                     .batch = 1024};
};

nlohmann::json memory_and_launch(const std::filesystem::path& cache) {
  const Launchable launchable;
  jitbag::device::fill_bytes(launchable.ids.data(), 0, launchable.ids.size(),
                             launchable.stream.get());
  jitbag::Engine engine({.cache = jitbag::cache::CacheOptions{.directory = cache}});
  const jitbag::ForwardSpec spec = seed_spec(64);
  const jitbag::ForwardKernel& kernel = engine.forward(spec);
  std::vector<double> lookup, launch;
  constexpr int at_once = 100;
  for (int repeat = 0; repeat < 200; ++repeat) {
    lookup.push_back(microseconds([&] {
                       for (int i = 0; i < at_once; ++i) {
                         if (&engine.forward(spec) != &kernel) std::abort();
                       }
                     }) *
                     1000 / at_once);
    launchable.stream.synchronize();
    launch.push_back(microseconds([&] {
                       for (int i = 0; i < at_once; ++i) {
                         kernel.launch(launchable.arguments, launchable.stream.get());
                       }
                     }) /
                     at_once);
    launchable.stream.synchronize();
  }
  return {{"lookup_ns", summary(lookup)}, {"launch_us", summary(launch)}};
}

}  // namespace

int main() {
  try {
    const TemporaryFolder cache;
    nlohmann::json report = {{"cold", cold(cache.path())}, {"disk", disk(cache.path())}};
    try {
      report["memory"] = memory_and_launch(cache.path());
    } catch (const jitbag::Error& error) {
      report["memory"] = error.what();
    }
    std::printf("%s\n", report.dump(2).c_str());
    return 0;
  } catch (const jitbag::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
