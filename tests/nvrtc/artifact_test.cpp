#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "compiler_here.hpp"
#include "jitbag/engine.hpp"
#include "support/caught.hpp"
#include "support/temporary_folder.hpp"
#include "support/variable.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

constexpr Target h200{9, 0};
constexpr const char* mark = "jitbag test: the mark by which a record's file is found";

KernelTemplate fill() {
  return {.name = "fill.cu",
          .text = fmt::format("// {}\n", mark) +
                  "extern \"C\" __global__ void fill(int* x) { x[threadIdx.x] = value; }\n",
          .entry = "fill",
          .constants = {{"int", "value", "7"}}};
}

Specialisation fill_kernel() {
  return specialise(fill(), h200);
}

/// From an Engine that remembers nothing.
Artifact artifact(const fs::path& folder, const Specialisation& kernel = fill_kernel()) {
  return Engine({.cache = cache::CacheOptions{.directory = folder}}).artifact(kernel);
}

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// The files that hold a record of the kernel above.
std::vector<fs::path> records(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!fs::exists(folder)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && read(entry.path()).find(mark) != std::string::npos) {
      found.push_back(entry.path());
    }
  }
  return found;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool nvrtc_is_open() {
  return read("/proc/self/maps").find("libnvrtc.so") != std::string::npos;
}

/// What the child below found, one line for each process.
std::vector<std::string> run_children(int count, const fs::path& folder) {
  const std::string command =
      fmt::format("JITBAG_TEST_CHILD='{}' '{}' '[child]' > /dev/null 2>&1", folder.string(),
                  fs::read_symlink("/proc/self/exe").string());
  std::vector<std::thread> running;
  std::atomic<int> failed = 0;
  for (int i = 0; i < count; ++i) {
    running.emplace_back([&] { failed += std::system(command.c_str()) == 0 ? 0 : 1; });
  }
  for (std::thread& thread : running) thread.join();
  CHECK(failed == 0);
  std::vector<std::string> lines;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".found") {
      lines.push_back(read(entry.path()));
      fs::remove(entry.path());
    }
  }
  return lines;
}

TEST_CASE("a child process takes one artifact", "[.child]") {
  const fs::path folder = std::getenv("JITBAG_TEST_CHILD");
  const Artifact found = artifact(folder / "cache");
  write(folder / fmt::format("{}.found", ::getpid()),
        fmt::format("{}{}", name(found.origin), nvrtc_is_open() ? " nvrtc" : ""));
}

TEST_CASE("an artifact is compiled once, and then comes from disk as it was") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  const Artifact compiled = artifact(folder.path() / "cache");
  const Artifact from_disk = artifact(folder.path() / "cache");
  CHECK(compiled.origin == KernelOrigin::compiled);
  CHECK(from_disk.origin == KernelOrigin::disk);
  CHECK(from_disk.cubin == compiled.cubin);
  CHECK(from_disk.key == compiled.key);
  CHECK(from_disk.log == compiled.log);
  CHECK(from_disk.compiler == compiled.compiler);
  CHECK(from_disk.entry == compiled.entry);
  CHECK(from_disk.registers == compiled.registers);
  CHECK(from_disk.times.compile_ms == 0);
  CHECK(from_disk.times.open_ms == 0);
  CHECK(records(folder.path()).size() == 1);
}

TEST_CASE("everything that decides an artifact is part of its key") {
  if (!compiler_is_here()) return;
  Engine engine({.cache = cache::CacheOptions{}});
  std::vector<Specialisation> kernels(6, fill_kernel());
  kernels[1].source += "\n";
  kernels[2].target = {8, 0};
  kernels[3].options = {"-DX=1"};
  kernels[4].options = {"-DX=1", "-DY=1"};
  kernels[5].name = "other.cu";
  std::set<std::string> keys;
  for (const Specialisation& kernel : kernels) keys.insert(engine.artifact(kernel).key);
  CHECK(keys.size() == kernels.size());
  CHECK(engine.artifact(fill_kernel()).key == engine.artifact(fill_kernel()).key);
}

TEST_CASE("a record with one wrong byte anywhere is a miss, and is replaced") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  const fs::path cache = folder.path() / "cache";
  const Artifact right = artifact(cache);
  REQUIRE(records(cache).size() == 1);
  const fs::path path = records(cache).front();
  const std::string bytes = read(path);
  constexpr std::size_t places = 24;
  for (std::size_t i = 0; i <= places; ++i) {
    const std::size_t at = i * (bytes.size() - 1) / places;
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    write(path, damaged);
    INFO("byte " << at << " of " << bytes.size());
    const Artifact again = artifact(cache);
    CHECK(again.origin == KernelOrigin::compiled);
    CHECK(again.cubin == right.cubin);
    CHECK(read(path) == bytes);
    CHECK(artifact(cache).origin == KernelOrigin::disk);
  }
}

TEST_CASE("a record that is cut, too long, empty or of another kernel is a miss") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  const fs::path cache = folder.path() / "cache";
  const Artifact right = artifact(cache);
  const fs::path path = records(cache).front();
  const std::string bytes = read(path);

  KernelTemplate other = fill();
  other.constants.front().value = "8";
  artifact(folder.path() / "other", specialise(other, h200));
  const std::string of_other = read(records(folder.path() / "other").front());

  for (const std::string& content :
       {bytes.substr(0, bytes.size() / 2), bytes.substr(0, bytes.size() - 1), bytes + "x",
        std::string(), std::string(bytes.size(), '\0'), of_other}) {
    write(path, content);
    const Artifact again = artifact(cache);
    CHECK(again.origin == KernelOrigin::compiled);
    CHECK(again.cubin == right.cubin);
    CHECK(read(path) == bytes);
  }
}

TEST_CASE("a compile that fails leaves no record, and fails again") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  KernelTemplate syntax = fill();
  syntax.text += "this is no C++\n";
  KernelTemplate no_entry = fill();
  no_entry.entry = "full";
  for (const KernelTemplate& wrong : {syntax, no_entry}) {
    for (int i = 0; i < 2; ++i) {
      CHECK(contains(caught([&] { artifact(folder.path() / "cache", specialise(wrong, h200)); }),
                     "compile_failed: fill.cu "));
      CHECK(records(folder.path()).empty());
    }
  }
}

TEST_CASE("without NVRTC a warm cache serves, and a cold one names the places") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  const Artifact compiled = artifact(folder.path() / "warm");
  const std::string missing = (folder.path() / "libnvrtc.so.13").string();
  const Variable variable("JITBAG_NVRTC", missing);
  const Artifact found = artifact(folder.path() / "warm");
  CHECK(found.origin == KernelOrigin::disk);
  CHECK(found.cubin == compiled.cubin);
  CHECK(found.key == compiled.key);
  const std::string sentence = caught([&] { artifact(folder.path() / "cold"); });
  CHECK(contains(sentence, "missing_library: NVRTC"));
  CHECK(contains(sentence, missing));
  CHECK(contains(sentence, "JITBAG_NVRTC"));
  CHECK(contains(caught([&] {
                   static_cast<void>(
                       Engine({.cache = cache::CacheOptions{}}).artifact(fill_kernel()));
                 }),
                 "missing_library: NVRTC"));
}

TEST_CASE("a file that is no NVRTC is refused by a sentence that names it") {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "libnvrtc.so.13").string();
  write(file, "not a library");
  const Variable variable("JITBAG_NVRTC", file);
  const std::string sentence = caught([&] { artifact(folder.path() / "cache"); });
  CHECK(contains(sentence, "missing_library: NVRTC at " + file + " could not be opened"));
}

TEST_CASE("threads that ask for one artifact through one Engine or many compile it once") {
  if (!compiler_is_here()) return;
  for (const bool one_engine : {true, false}) {
    const TemporaryFolder folder;
    Engine shared({.cache = cache::CacheOptions{.directory = folder.path() / "cache"}});
    std::atomic<int> compiled = 0;
    std::atomic<int> from_disk = 0;
    std::vector<std::thread> running;
    for (int i = 0; i < 16; ++i) {
      running.emplace_back([&] {
        const Artifact found =
            one_engine ? shared.artifact(fill_kernel()) : artifact(folder.path() / "cache");
        ++(found.origin == KernelOrigin::compiled ? compiled : from_disk);
      });
    }
    for (std::thread& thread : running) thread.join();
    CHECK(compiled == 1);
    CHECK(from_disk == 15);
  }
}

TEST_CASE("processes that ask for one artifact compile it once, and a warm one opens no NVRTC") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  const auto cold = run_children(16, folder.path());
  CHECK(cold.size() == 16);
  CHECK(std::count(cold.begin(), cold.end(), "compiled nvrtc") == 1);
  CHECK(std::count(cold.begin(), cold.end(), "disk") == 15);
  CHECK(run_children(1, folder.path()) == std::vector<std::string>{"disk"});
}

TEST_CASE("a cache folder that cannot be made costs the records, not the kernel") {
  if (!compiler_is_here()) return;
  const TemporaryFolder folder;
  write(folder.path() / "file", "");
  const Artifact made = artifact(folder.path() / "file" / "cache");
  CHECK(made.origin == KernelOrigin::compiled);
  CHECK_FALSE(made.cubin.empty());
}

}  // namespace
}  // namespace jitbag::test
