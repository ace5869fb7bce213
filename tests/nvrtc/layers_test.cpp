#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "catch.hpp"
#include "compiler_here.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/engine.hpp"
#include "support/caught.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

Specialisation kernel(int value, Target target = {9, 0}) {
  return specialise(
      KernelTemplate{
          .name = "fill.cu",
          .text = "extern \"C\" __global__ void fill(int* x) { x[threadIdx.x] = value; }\n",
          .entry = "fill",
          .constants = {{"int", "value", std::to_string(value)}}},
      target);
}

Engine engine_over(const std::optional<fs::path>& folder, std::vector<fs::path> layers = {}) {
  return Engine({.cache = cache::CacheOptions{.directory = folder, .layers = std::move(layers)}});
}

/// A folder with these kernels, as `jitbag precompile` leaves it.
void compile_into(const fs::path& folder, const std::vector<int>& values) {
  Engine engine = engine_over(folder);
  for (const int value : values) REQUIRE(engine.artifact(kernel(value)).is_on_disk);
}

fs::path bundle_of(const fs::path& folder) {
  const cache::DiskCache disk(folder, {});
  cache::BundleContents contents;
  for (const cache::Entry& entry : disk.entries()) contents.keys.push_back(entry.key);
  contents.producers = disk.producers();
  contents.read = [&disk](const cache::Digest& key) { return disk.find(key); };
  fs::path bundle = folder.string() + ".bundle";
  cache::write_bundle(bundle, contents);
  return bundle;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("a kernel from a layer is what was compiled, and says which layer it came from") {
  if (!compiler_is_here()) return;
  const TemporaryFolder root;
  compile_into(root.path() / "image", {1});
  compile_into(root.path() / "shipped", {2});
  const fs::path bundle = bundle_of(root.path() / "shipped");
  Engine engine = engine_over(root.path() / "own", {root.path() / "image", bundle});
  const Artifact from_folder = engine.artifact(kernel(1));
  CHECK(from_folder.origin == KernelOrigin::disk);
  CHECK(from_folder.place == root.path() / "image");
  const Artifact from_bundle = engine.artifact(kernel(2));
  CHECK(from_bundle.origin == KernelOrigin::bundle);
  CHECK(from_bundle.place == bundle);
  CHECK(from_bundle.is_on_disk);
  CHECK(from_bundle.times.compile_ms == 0);
  CHECK(from_bundle.cubin == engine_over(root.path() / "shipped").artifact(kernel(2)).cubin);
  CHECK_FALSE(fs::exists(root.path() / "own"));
  const Artifact compiled = engine.artifact(kernel(3));
  CHECK(compiled.origin == KernelOrigin::compiled);
  CHECK(compiled.place.empty());
  CHECK(fs::exists(root.path() / "own"));
}

TEST_CASE("a bundle serves where there is no NVRTC and no folder; what it lacks is said") {
  if (!compiler_is_here()) return;
  const TemporaryFolder root;
  compile_into(root.path() / "shipped", {1, 2});
  const fs::path bundle = bundle_of(root.path() / "shipped");
  for (const std::string turned_off : {"none", (root.path() / "missing").c_str()}) {
    const Variable variable("JITBAG_NVRTC", turned_off);
    Engine engine = engine_over({}, {bundle});
    CHECK(engine.artifact(kernel(1)).origin == KernelOrigin::bundle);
    CHECK(engine.artifact(kernel(2)).origin == KernelOrigin::bundle);
    const std::string sentence = caught([&] { static_cast<void>(engine.artifact(kernel(3))); });
    CHECK(contains(sentence, "missing_library: "));
    CHECK(contains(sentence, "fill.cu"));
    CHECK(contains(sentence, bundle.string()));
    CHECK(contains(sentence, "JITBAG_NVRTC"));
  }
}

TEST_CASE("a lookup alone finds what is there, and compiles and makes nothing") {
  if (!compiler_is_here()) return;
  const TemporaryFolder root;
  compile_into(root.path() / "image", {1});
  Engine engine = engine_over(root.path() / "own", {root.path() / "image"});
  CHECK(engine.find(kernel(1))->origin == KernelOrigin::disk);
  CHECK_FALSE(engine.find(kernel(2)).has_value());
  CHECK_FALSE(fs::exists(root.path() / "own"));
}

TEST_CASE("a miss is explained by the nearest record and what differs in it") {
  if (!compiler_is_here()) return;
  const TemporaryFolder root;
  CHECK_FALSE(engine_over(root.path() / "none").nearest(kernel(1)).has_value());
  compile_into(root.path() / "image", {1});
  compile_into(root.path() / "own", {2});
  Engine engine = engine_over(root.path() / "own", {root.path() / "image"});
  const auto other_target = engine.nearest(kernel(1, {8, 0}));
  REQUIRE(other_target.has_value());
  CHECK(other_target->where == root.path() / "image");
  REQUIRE(other_target->differences.size() == 1);
  CHECK(other_target->differences[0].field == "target");
  CHECK(other_target->differences[0].wanted == "sm_80");
  CHECK(other_target->differences[0].found == "sm_90");
  const auto other_value = engine.nearest(kernel(3));
  REQUIRE(other_value.has_value());
  REQUIRE(other_value->differences.size() == 1);
  CHECK(other_value->differences[0].wanted == "constexpr int value = 3;");
  CHECK(engine.nearest(kernel(2))->differences.empty());
}

TEST_CASE("a record whose payload is no kernel is a miss in any layer, and is compiled") {
  if (!compiler_is_here()) return;
  const TemporaryFolder root;
  compile_into(root.path() / "image", {1});
  const cache::DiskCache disk(root.path() / "image", {});
  auto record = *disk.find(disk.entries().front().key);
  record.payload.resize(record.payload.size() / 2);
  disk.discard(record.key());
  REQUIRE(disk.store(record));
  const fs::path own = root.path() / "own";
  REQUIRE(cache::DiskCache(own, {}).store(record));
  Engine engine = engine_over(own, {root.path() / "image"});
  for (int i = 0; i < 2; ++i) {  // once the one in the folder, once the one below it
    CHECK(engine.artifact(kernel(1)).origin == KernelOrigin::compiled);
    CHECK(engine.artifact(kernel(1)).origin == KernelOrigin::disk);
    CHECK(engine.artifact(kernel(1)).place == own);
    cache::DiskCache(own, {}).discard(record.key());
  }
}

}  // namespace
}  // namespace jitbag::test
