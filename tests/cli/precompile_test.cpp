#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <thread>

#include "catch.hpp"
#include "checks.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

// Enough that it takes seconds, and each of them little.
const std::string long_line =
    "precompile --arch sm_90 --embedding-dim 16,24,32,40,48,56,64,72 --embedding-bag-size "
    "1,2,3,4,5,6,7,8,9,10 --dtype float16 --jobs 2";
constexpr std::size_t long_kernels = 80;

/// True as soon as it holds; false where it does not within half a minute.
bool comes_true(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (std::chrono::steady_clock::now() < end) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// Every file below a folder: its content, its mode and its times.
std::map<std::string, std::string> tree(const fs::path& folder) {
  std::map<std::string, std::string> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    struct stat info {};
    REQUIRE(::lstat(entry.path().c_str(), &info) == 0);
    std::ifstream file(entry.path(), std::ios::binary);
    files[entry.path().string()] =
        std::to_string(info.st_mode) + " " + std::to_string(info.st_mtim.tv_nsec) + " " +
        std::to_string(info.st_ctim.tv_nsec) + " " +
        std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return files;
}

std::string write_manifest(const TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder.file("kernels.json")) << text;
  return folder.file("kernels.json");
}

const std::string small_manifest = R"({"jitbag_manifest": 1, "arch": ["sm_80", "sm_90"],
  "kernels": [{"embedding_dim": 16, "embedding_bag_size": [1, 2], "dtype": "float16"},
              {"embedding_dim": 16, "layout": "csr"}]})";

void require_verified(const Program& program) {
  const Outcome outcome = program.run("cache verify");
  INFO(outcome.out << outcome.error);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome.error, "all whole"));
}

}  // namespace

TEST_CASE("precompile makes what a manifest says, and a second run compiles nothing") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const std::string manifest = write_manifest(program.folder(), small_manifest);
  const nlohmann::json cold = require_json(program.run("precompile --manifest " + manifest));
  CHECK(cold["compiled"] == 6);
  CHECK(cold["complete"] == true);
  CHECK(cold["architectures"] == nlohmann::json({"sm_80", "sm_90"}));
  CHECK(cold["places"][0]["place"] == program.cache_folder());
  CHECK(cold["places"][0]["kernels"] == 6);
  for (const char* name : {"arch", "spec", "strategy", "state", "kernel_source", "place", "key",
                           "cubin_bytes", "registers", "spill_bytes", "disk_ms", "compile_ms"})
    CHECK(cold["kernels"][0].contains(name));
  CHECK(program.records().size() == 6);
  const nlohmann::json warm = require_json(program.run("precompile --manifest " + manifest));
  CHECK(warm["compiled"] == 0);
  CHECK(warm["cached"] == 6);
  CHECK(warm["kernels"][0]["kernel_source"] == "disk");
  require_verified(program);
}

TEST_CASE("what workers compile is what one process compiles, byte for byte") {
  const Program apart;
  if (!has_nvrtc(apart)) return;
  const Program alone;
  require_json(apart.run("precompile --arch sm_90 --embedding-dim 16,24 --jobs 2"));
  for (const char* dim : {"16", "24"})
    require_json(alone.run(std::string("source --info --embedding-dim ") + dim));
  REQUIRE(apart.records().size() == 2);
  REQUIRE(alone.records().size() == 2);
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(content(apart.records()[i]) == content(alone.records()[i]));
}

TEST_CASE("a manifest is read from standard input, and --arch stands for its architectures") {
  const Program program;
  const std::string manifest = write_manifest(program.folder(), small_manifest);
  const std::string out = program.folder().file("plan.json");
  const std::string line = "JITBAG_CACHE_DIR='" + program.cache_folder() +
                           "' \"$JITBAG\" precompile --manifest - --arch sm_100 --dry-run <'" +
                           manifest + "' >'" + out + "'";
  REQUIRE(std::system(line.c_str()) == 0);
  std::ifstream file(out);
  const nlohmann::json plan = nlohmann::json::parse(file);
  CHECK(plan["architectures"] == nlohmann::json({"sm_100"}));
  CHECK(plan["missing"] == 3);
}

TEST_CASE("a manifest's mistakes are usage errors that name the file and the place") {
  const Program program;
  const std::string manifest = write_manifest(
      program.folder(), R"({"jitbag_manifest": 1, "kernels": [{"embedding_dim": [8, "x"]}]})");
  const Outcome outcome = program.run("precompile --arch sm_90 --manifest " + manifest);
  require_refused(outcome, manifest + ": kernels[0].embedding_dim[1] is \"x\"");
  require_failed(program.run("precompile --manifest /nonexistent/kernels.json"),
                 "/nonexistent/kernels.json cannot be read");
  require_failed(program.run("precompile --manifest " + program.folder().path().string()),
                 "cannot be read");
  CHECK(tree(program.cache_folder()).empty());
}

TEST_CASE("a dry run says what would be compiled, and leaves nothing behind") {
  const Program program;
  const nlohmann::json plan =
      require_json(program.run("precompile --arch sm_90 --embedding-dim 16,24 --dry-run"));
  CHECK(plan["missing"] == 2);
  CHECK(plan["compiled"] == 0);
  CHECK(plan["kernels"][0]["state"] == "missing");
  CHECK(tree(program.cache_folder()).empty());
}

TEST_CASE("--require-complete fails with what is missing, and passes when all is there") {
  const Program program;
  const std::string line = "precompile --arch sm_90 --embedding-dim 16,24 --require-complete";
  const Outcome missing = program.run(line);
  require_failed(missing, "2 of 2 kernels are missing");
  CHECK(missing.json()["complete"] == false);
  CHECK(tree(program.cache_folder()).empty());
  if (!has_nvrtc(program)) return;
  require_json(program.run("precompile --arch sm_90 --embedding-dim 16"));
  require_failed(program.run(line), "1 of 2 kernels are missing");
  require_json(program.run("precompile --arch sm_90 --embedding-dim 24"));
  CHECK(require_json(program.run(line))["complete"] == true);
}

TEST_CASE("without NVRTC and without a producer nothing can be looked up, and that is said") {
  Program program;
  program.set("JITBAG_NVRTC", "/nonexistent/libnvrtc.so");
  const Outcome plan = program.run("precompile --arch sm_90 --dry-run");
  CHECK(plan.status == 0);
  CHECK(contains(plan.error, "there is no NVRTC to be used here"));
  require_failed(program.run("precompile --arch sm_90 --require-complete"),
                 "there is no NVRTC to be used here");
  require_failed(program.run("precompile --arch sm_90"), "NVRTC");
}

TEST_CASE("where a layer covers the work nothing is written anywhere, with NVRTC and without") {
  const Program builder;
  if (!has_nvrtc(builder)) return;
  const std::string line = "precompile --arch sm_80,sm_90 --embedding-dim 16,24 --dtype float16 ";
  require_json(builder.run(line));
  const std::string bundle = builder.folder().file("kernels.jitbag");
  require_json(builder.run("cache export " + bundle));

  for (const auto& [layer, source] :
       {std::pair{builder.cache_folder(), "disk"}, std::pair{bundle, "bundle"}}) {
    for (const bool has_compiler : {true, false}) {
      Program user;
      user.set("JITBAG_CACHE_PATH", layer);
      if (!has_compiler) user.set("JITBAG_NVRTC", "/nonexistent/libnvrtc.so");
      const auto before = tree(builder.folder().path());
      for (const std::string more : {"", "--require-complete", "--dry-run"}) {
        const nlohmann::json report = require_json(user.run(line + more));
        CHECK(report["cached"] == 4);
        CHECK(report["kernels"][0]["kernel_source"] == source);
        CHECK(report["kernels"][0]["place"] == layer);
      }
      CHECK_FALSE(fs::exists(user.cache_folder()));
      // The builder's own outputs are written at each of its runs.
      CHECK(tree(builder.folder().path()) == before);
    }
  }
}

TEST_CASE("Ctrl-C leaves a good cache, and the same command goes on") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const Running running = program.start(long_line);
  REQUIRE(comes_true([&] { return program.records().size() >= 4; }));
  running.signal_all(SIGINT);
  const Outcome outcome = running.wait();
  require_failed(outcome, "run the same command to go on");
  const nlohmann::json report = outcome.json();
  CHECK(report["interrupted"] == true);
  CHECK(report["failed"] == 0);
  const std::size_t compiled = report["compiled"];
  CHECK(compiled == program.records().size());
  CHECK(report["missing"] == long_kernels - compiled);
  CHECK(compiled < long_kernels);
  require_verified(program);
  const nlohmann::json rest = require_json(program.run(long_line));
  CHECK(rest["cached"] == compiled);
  CHECK(rest["compiled"] == long_kernels - compiled);
}

TEST_CASE("a second Ctrl-C ends it at once, with the cache good") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const Running running = program.start(long_line);
  REQUIRE(comes_true([&] { return program.records().size() >= 2; }));
  running.signal_all(SIGINT);
  running.signal_all(SIGINT);
  const Outcome outcome = running.wait();
  CHECK(outcome.status == 1);
  CHECK(outcome.json()["interrupted"] == true);
  CHECK(outcome.json()["failed"] == 0);
  require_verified(program);
}

TEST_CASE("a compiler process that is killed costs its kernel alone") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const Running running = program.start(long_line);
  REQUIRE(comes_true([&] { return program.records().size() >= 2; }));
  const auto workers = running.children();
  REQUIRE(workers.size() == 2);
  REQUIRE(::kill(workers.front(), SIGKILL) == 0);
  const Outcome outcome = running.wait();
  require_failed(outcome, "the compiler process died of signal 9");
  CHECK(outcome.json()["failed"] == 1);
  CHECK(outcome.json()["compiled"] == long_kernels - 1);
  require_verified(program);
  const nlohmann::json rest = require_json(program.run(long_line));
  CHECK(rest["compiled"].get<int>() <= 1);  // it may have been kept before the end
  CHECK(rest["complete"] == true);
}

TEST_CASE("when the command is killed its compiler processes end, and the cache is good") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const Running running = program.start(long_line);
  REQUIRE(comes_true([&] { return program.records().size() >= 2; }));
  const auto workers = running.children();
  REQUIRE(workers.size() == 2);
  REQUIRE(::kill(running.process(), SIGKILL) == 0);
  static_cast<void>(running.wait());
  for (const pid_t worker : workers) {
    const std::string stat = "/proc/" + std::to_string(worker) + "/stat";
    CHECK(comes_true([&] {
      std::ifstream file(stat);
      std::string id, name, state;
      return !(file >> id >> name >> state) || state == "Z";
    }));
  }
  require_verified(program);
}

TEST_CASE("what a full cache lets go again is a failure, not a success") {
  Program program;
  if (!has_nvrtc(program)) return;
  program.set("JITBAG_CACHE_MAX_BYTES", "100K");
  const Outcome outcome = program.run("precompile --arch sm_90 --embedding-dim 16,24,32,40,48,56");
  require_failed(outcome, "JITBAG_CACHE_MAX_BYTES");
  CHECK(outcome.json()["failed"].get<int>() > 0);
  CHECK(outcome.json()["compiled"] == program.records().size());
}

TEST_CASE("one job and many make the same kernels") {
  const Program program;
  if (!has_nvrtc(program)) return;
  CHECK(require_json(program.run("precompile --arch sm_90 --embedding-dim 16,24,32 --jobs "
                                 "1"))["compiled"] == 3);
  const Program other;
  CHECK(require_json(other.run("precompile --arch sm_90 --embedding-dim 16,24,32 --jobs "
                               "64"))["compiled"] == 3);
}

}  // namespace jitbag::test
