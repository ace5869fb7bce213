#include "jitbag/engine.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "jitbag/device.hpp"
#include "runtime/forward_request.hpp"
#include "runtime/kernel_map.hpp"
#include "support/caught.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

ForwardSpec small_spec() {
  ForwardSpec spec;
  spec.dim = 8;
  return spec;
}

bool has_driver() {
  void* handle = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("making an Engine touches nothing on disk") {
  const TemporaryFolder folder;
  { const Engine engine({.cache = cache::CacheOptions{.directory = folder.path() / "cache"}}); }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE(
    "without a driver a kernel is refused by a sentence that names it, and disk is left alone") {
  if (has_driver()) {
    WARN("skipped: this machine has a CUDA driver");
    return;
  }
  const TemporaryFolder folder;
  Engine engine({.cache = cache::CacheOptions{.directory = folder.path() / "cache"}});
  for (int i = 0; i < 2; ++i) {
    const std::string sentence = caught([&] { static_cast<void>(engine.forward(small_spec())); });
    CHECK(contains(sentence, "missing_library: "));
    CHECK(contains(sentence, "libcuda"));
  }
  CHECK(contains(
      caught([&] { static_cast<void>(engine.kernel({.name = "x.cu", .text = "", .entry = "x"})); }),
      "missing_library: "));
  CHECK(contains(caught([] { static_cast<void>(device::devices()); }), "missing_library: "));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("an expected batch counts by its power of two") {
  CHECK(batch_bits({}) == 0);
  CHECK(batch_bits(0) == 0);
  CHECK(batch_bits(1) == 1);
  CHECK(batch_bits(1023) == batch_bits(512));
  CHECK(batch_bits(1023) != batch_bits(1024));
  CHECK_FALSE(smallest_batch(0).has_value());
  CHECK(smallest_batch(batch_bits(1023)) == 512);
}

TEST_CASE("the memory of kernels finds what many threads have put into it, and nothing else") {
  KernelMap<ForwardRequest, int, ForwardRequestHash> map;
  constexpr int threads = 4;
  constexpr int each = 200;
  const auto request = [](int number) {
    ForwardRequest made{small_spec(), {9, 0}, {}, 0};
    made.spec.dim = number + 1;
    return made;
  };
  std::vector<int> values(threads * each);
  std::vector<std::thread> running;
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      for (int i = 0; i < each; ++i) {
        const int number = i * threads + thread;
        map.insert(request(number), &values[number]);
        map.insert(request(0), &values[0]);
        static_cast<void>(map.find(request(number / 2)));
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  for (int number = 0; number < threads * each; ++number) {
    CHECK(map.find(request(number)) == &values[number]);
  }
  CHECK(map.find(request(threads * each)) == nullptr);
  ForwardRequest other = request(0);
  other.strategy = Strategy{};
  CHECK(map.find(other) == nullptr);
}

}  // namespace
}  // namespace jitbag::test
