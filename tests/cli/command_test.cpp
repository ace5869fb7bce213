#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "checks.hpp"
#include "kernel_axes.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

const std::string small_bench =
    "bench --device cpu --batch 5 --embedding-vocab-size 50 --embedding-dim 8 --steps 2 "
    "--warmup-steps 1 --repeats 3 ";

const std::string small_precompile =
    "precompile --arch sm_90 --embedding-dim 16 --embedding-bag-size 2 --dtype float16 ";

// Three bags, the middle one empty.
const std::vector<std::int32_t> some_ids = {3, 1, 4, 1, 5};
const std::vector<std::int64_t> some_offsets = {0, 2, 2, 5};

}  // namespace

TEST_CASE("help lists the subcommands that exist and no other") {
  const Outcome outcome = Program().run("--help");
  REQUIRE(outcome.status == 0);
  for (const char* name : {"bench", "precompile", "source", "cache", "wisdom", "doctor"})
    CHECK(contains(outcome.out, std::string("\n  ") + name));
  CHECK_FALSE(contains(outcome.out, "\n  tune"));
}

TEST_CASE("help of every subcommand says its flags with their defaults") {
  const std::string bench = Program().run("bench --help").out;
  for (const char* text : {"--operator",
                           "[embedding_bag_mean]",
                           "--device",
                           "[auto]",
                           "--batch",
                           "[8]",
                           "--embedding-vocab-size",
                           "[1000000]",
                           "--embedding-dim",
                           "[64]",
                           "--embedding-bag-size",
                           "[4]",
                           "--embedding-padding-prob",
                           "[0.25]",
                           "--dtype",
                           "[float32]",
                           "--backends",
                           "--steps",
                           "[100]",
                           "--warmup-steps",
                           "[20]",
                           "--repeats",
                           "[5]",
                           "--block-rows",
                           "--block-cols",
                           "--seed",
                           "[42]",
                           "--atol",
                           "--rtol",
                           "--json",
                           "--indices",
                           "--offsets",
                           "--id-type",
                           "--bad-ids",
                           "--strategy",
                           "--embedding-padding-id",
                           "--offsets-end",
                           "--tables",
                           "--layout"})
    CHECK(contains(bench, text));
  const std::string precompile = Program().run("precompile --help").out;
  for (const char* text :
       {"--arch", "--layout", "--embedding-dim", "--embedding-bag-size", "--dtype", "--id-type",
        "--offset-type", "--padding-id", "--bad-ids", "--addressing", "--expected-batch",
        "--strategy", "--manifest", "--jobs", "--dry-run", "--require-complete", "--json"})
    CHECK(contains(precompile, text));
  for (const tools::KernelAxis& axis : tools::kernel_axes())
    CHECK(contains(precompile, axis.flag()));
  const std::string source = Program().run("source --help").out;
  for (const char* text : {"--arch", "[sm_90]", "--info", "--why", "--out-cubin", "--json"})
    CHECK(contains(source, text));
  CHECK(Program().run("doctor --help").status == 0);
}

TEST_CASE("the version is told") {
  const Outcome outcome = Program().run("--version");
  CHECK(outcome.status == 0);
  CHECK(outcome.out.rfind("jitbag ", 0) == 0);
}

TEST_CASE("wrong arguments are refused with the value and what is allowed") {
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"", "subcommand"},
      {"nonsense", "nonsense"},
      {"bench extra", "extra"},
      {"bench --unknown 3", "--unknown"},
      {"bench --operator nonsense", "embedding_bag_mean"},
      {"bench --device tpu", "cuda, cpu or auto"},
      {"bench --batch 0", "'0' is not possible"},
      {"bench --batch many", "'many'"},
      {"bench --batch 99999999999", "4294967296"},
      {"bench --embedding-vocab-size 0", "from 1"},
      {"bench --embedding-vocab-size 3000000000 --id-type int32", "int64"},
      {"bench --embedding-dim -3", "'-3' is not possible"},
      {"bench --embedding-dim 32,,64", "''"},
      {"bench --embedding-dim 32,x", "'x'"},
      {"bench --embedding-bag-size -1", "from 0"},
      {"bench --embedding-padding-prob 1.5", "from 0 to 1"},
      {"bench --embedding-padding-prob nan", "'nan'"},
      {"bench --dtype float7", "float32, float16, bfloat16 or float64"},
      {"bench --id-type int8", "int32 or int64"},
      {"bench --bad-ids ignore", "skip, report or trust"},
      {"bench --backends cpu,magic", "'magic'"},
      {"bench --steps 0", "'0' is not possible"},
      {"bench --steps 2.5", "'2.5'"},
      {"bench --warmup-steps -1", "'-1'"},
      {"bench --repeats 0", "'0'"},
      {"bench --block-rows 0", "'0'"},
      {"bench --block-cols x", "'x'"},
      {"bench --seed -1", "'-1'"},
      {"bench --atol -1", "'-1'"},
      {"bench --rtol inf", "'inf'"},
      {"bench --steps", "--steps"},
      {"bench --offsets f.npy", "--indices"},
      {"bench --offsets-end implied", "--indices"},
      {"bench --embedding-padding-id 0", "--indices"},
      {"bench --indices f.npy --batch 3", "--batch"},
      {"bench --indices f.npy --embedding-vocab-size 3", "--embedding-vocab-size"},
      {"bench --indices f.npy --embedding-bag-size 3", "--embedding-bag-size"},
      {"bench --indices f.npy --embedding-padding-prob 0", "--embedding-padding-prob"},
      {"bench --indices f.npy --embedding-padding-id x", "'x'"},
      {"bench --indices f.npy --offsets-end never", "included or implied"},
      {"bench --strategy vector=16B", "lacks vectors"},
      {"precompile", "--arch"},
      {"precompile --arch sm_1", "sm_1"},
      {"precompile --arch sm_90,gfx90a", "gfx90a"},
      {"precompile --arch sm_90 --operator nonsense", "nonsense"},
      {"precompile --arch sm_90 --embedding-dim 0", "'0'"},
      {"precompile --arch sm_90 --embedding-bag-size x", "'x'"},
      {"precompile --arch sm_90 --layout ragged", "fixed or csr"},
      {"precompile --arch sm_90 --dtype float16,float7", "'float7'"},
      {"precompile --arch sm_90 --id-type int", "'int'"},
      {"precompile --arch sm_90 --offset-type int", "'int'"},
      {"precompile --arch sm_90 --offsets-end maybe", "'maybe'"},
      {"precompile --arch sm_90 --padding-id zero", "'zero'"},
      {"precompile --arch sm_90 --bad-ids no", "'no'"},
      {"precompile --arch sm_90 --addressing 16", "'16'"},
      {"precompile --arch sm_90 --expected-batch 0", "'0'"},
      {"precompile --arch sm_90 --strategy fast", "fast"},
      {"precompile --arch sm_90 --jobs 0", "'0'"},
      {"precompile --arch sm_90 --dry-run --require-complete", "--dry-run"},
      {"precompile --manifest kernels.json --embedding-dim 8", "--embedding-dim"},
      {"source --why --info", "--info"},
      {"cache", "subcommand"},
      {"cache nonsense", "path, list, show, stats, verify, prune, clear, export or import"},
      {"cache list --arch gfx90a", "gfx90a"},
      {"cache list --all --in bundle", "--in"},
      {"cache show", "KEY"},
      {"cache prune --max-bytes much", "'much'"},
      {"cache prune --max-bytes -1", "'-1'"},
      {"cache export", "FILE"},
      {"cache import", "FILE"},
      {"source --arch sm_1", "sm_1"},
      {"source --embedding-dim 32,64", "'32,64'"},
      {"source --dtype int4", "'int4'"},
      {"doctor --fix", "--fix"},
  };
  for (const auto& [line, part] : refusals) {
    INFO(line);
    require_refused(Program().run(line), part);
  }
}

TEST_CASE("a strategy that the shape cannot use is refused before any work") {
  const Outcome outcome = Program().run(
      "precompile --arch sm_90 --embedding-dim 3",
      {"--strategy",
       "vector=16B vectors=1 lanes=8 bag_lanes=1 rows=4 bags=1 block=128 launch=plain"});
  CHECK(outcome.status == 2);
  CHECK(outcome.error.rfind("jitbag: ", 0) == 0);
}

TEST_CASE("bench prints the names of the seed benchmark and the design's own") {
  const nlohmann::json document = require_json(Program().run(
      "bench --operator embedding_bag_mean --device cpu --batch 64 --embedding-vocab-size 1000 "
      "--embedding-dim 64 --embedding-bag-size 4 --embedding-padding-prob 0.25 --dtype float16 "
      "--backends cpu,reference --steps 3 --warmup-steps 1 --repeats 2 --block-rows 8 --block-cols "
      "64 --json"));
  for (const char* name : {"operator",
                           "batch",
                           "embedding_vocab_size",
                           "embedding_dim",
                           "embedding_bag_size",
                           "embedding_padding_prob",
                           "block_rows",
                           "block_cols",
                           "device",
                           "dtype",
                           "steps",
                           "warmup_steps",
                           "repeats",
                           "seed",
                           "atol",
                           "rtol",
                           "backends",
                           "results",
                           "ceiling_gb_per_s",
                           "jitbag_version",
                           "device_name",
                           "driver_version",
                           "nvrtc_version",
                           "cold",
                           "spec",
                           "rotating_sets"})
    CHECK(document.contains(name));
  CHECK(document["block_rows"] == 8);
  CHECK(document["block_cols"] == 64);
  CHECK(document["atol"] == 1e-2);
  CHECK(document["embedding_vocab_size"] == 1000);
  CHECK(document["nvrtc_version"].is_null());
  REQUIRE(document["results"].size() == 2);
  for (const nlohmann::json& result : document["results"]) {
    for (const std::string name : {"elapsed_sec", "step_time_ms", "ops_per_sec"}) {
      for (const char* statistic : {"", "_mean", "_median", "_p95"})
        CHECK(result.at(name + statistic).is_number());
    }
    for (const char* name : {"compile_sec", "device_time_us_median", "device_time_us_p95",
                             "host_time_us_median", "kernel_source", "kernel_source_path",
                             "load_ms", "break_even_steps", "share_of_ceiling", "error"})
      CHECK(result.at(name).is_null());
    CHECK(result["status"] == "ok");
    CHECK(result["measured_steps"] == 3);
    CHECK(result["warmup_steps"] == 1);
    CHECK(result["repeats"] == 2);
    CHECK(result["successful_repeats"] == 2);
    CHECK(result["runs"].size() == 2);
    CHECK(result["max_abs_error"].is_number());
    CHECK(result["max_rel_error"].is_number());
    CHECK(result["bytes_moved"].is_number());
    CHECK(result["gb_per_s"].is_number());
  }
  CHECK(document["results"][1]["resolved_backend"] == "reference:float64");
}

TEST_CASE("bench on the CPU takes cpu and reference when no backend is named") {
  const nlohmann::json document = require_json(Program().run(small_bench));
  CHECK(document["backends"] == nlohmann::json({"cpu", "reference"}));
  CHECK(document["device"] == "cpu");
}

TEST_CASE("bench tells the backends that are not there, with the reason") {
  const nlohmann::json document = require_json(Program().run(
      small_bench + "--backends jit,torch,torch_compile,triton,tilelang,cuembed,cpu"));
  REQUIRE(document["results"].size() == 7);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(document["results"][i]["status"] == "unsupported");
    CHECK_FALSE(document["results"][i]["error"].get<std::string>().empty());
    CHECK(document["results"][i]["successful_repeats"] == 0);
  }
  CHECK(document["results"][6]["status"] == "ok");
}

TEST_CASE("bench sweeps over dims and bag sizes, one whole document for each shape") {
  const nlohmann::json document = require_json(Program().run(
      "bench --device cpu --batch 4 --embedding-vocab-size 30 --embedding-dim 3,16 "
      "--embedding-bag-size 0,1,5 --steps 1 --warmup-steps 0 --repeats 1 --backends cpu"));
  CHECK(document["operator"] == "embedding_bag_mean");
  REQUIRE(document["sweep"].size() == 6);
  CHECK(document["sweep"][0]["embedding_dim"] == 3);
  CHECK(document["sweep"][0]["embedding_bag_size"] == 0);
  CHECK(document["sweep"][5]["embedding_dim"] == 16);
  CHECK(document["sweep"][5]["embedding_bag_size"] == 5);
  for (const nlohmann::json& shape : document["sweep"])
    CHECK(shape["results"][0]["status"] == "ok");
}

TEST_CASE("bench is right for every type, id type and policy") {
  for (const std::string type : {"float32", "float16", "bfloat16"}) {
    for (const std::string id_type : {"int32", "int64"}) {
      for (const std::string policy : {"skip", "report", "trust"}) {
        const nlohmann::json document =
            require_json(Program().run(small_bench + "--backends cpu --dtype " + type +
                                       " --id-type " + id_type + " --bad-ids " + policy));
        CHECK(document["results"][0]["status"] == "ok");
        CHECK(document["dtype"] == type);
      }
    }
  }
}

TEST_CASE("the seed decides the input") {
  const auto error_with = [](const std::string& seed) {
    return require_json(
               Program().run(small_bench + "--backends cpu --dtype float16 --seed " + seed))
        .at("results")[0]
        .at("max_abs_error");
  };
  CHECK(error_with("7") == error_with("7"));
  CHECK(error_with("7") != error_with("8"));
}

TEST_CASE("an output outside the tolerance is an error and no time") {
  const Outcome outcome =
      Program().run(small_bench + "--backends cpu,reference --dtype float16 --atol 0 --rtol 0");
  require_failed(outcome, "the oracle has");
  const nlohmann::json document = outcome.json();
  CHECK(document["atol"] == 0);
  CHECK(document["rtol"] == 0);
  CHECK(document["results"][0]["status"] == "error");
  CHECK(document["results"][0]["step_time_ms"].is_null());
  CHECK(document["results"][0]["runs"].empty());
  CHECK(document["results"][1]["status"] == "ok");
}

TEST_CASE("bench refuses an id that no table has room for, and ids from a pipe, at once") {
  const TemporaryFolder folder;
  write_npy<std::int64_t>(folder.file("ids.npy"), "(1, 1)",
                          {std::numeric_limits<std::int64_t>::max()});
  require_failed(Program().run("bench --device cpu --indices " + folder.file("ids.npy")),
                 "9223372036854775807");
  REQUIRE(::mkfifo(folder.file("pipe.npy").c_str(), 0600) == 0);
  require_failed(Program().run("bench --device cpu --indices " + folder.file("pipe.npy")),
                 "not a regular file");
}

TEST_CASE("output that cannot be written is a failure") {
  const int status = std::system("\"$JITBAG\" doctor --json >/dev/full 2>/dev/null");
  CHECK(WEXITSTATUS(status) == 1);
}

TEST_CASE("bench takes real ids in bags of any size") {
  const TemporaryFolder folder;
  write_npy(folder.file("ids.npy"), "(5,)", some_ids);
  write_npy(folder.file("offsets.npy"), "(4,)", some_offsets);
  const std::string line =
      "bench --device cpu --backends cpu,reference --steps 1 --warmup-steps 0 "
      "--repeats 1 --embedding-dim 4,48 --indices " +
      folder.file("ids.npy") + " --offsets " + folder.file("offsets.npy");
  for (const std::string padding :
       {"", " --embedding-padding-id none", " --embedding-padding-id 1", " --id-type int64"}) {
    const nlohmann::json document = require_json(Program().run(line + padding));
    REQUIRE(document["sweep"].size() == 2);
    const nlohmann::json& shape = document["sweep"][1];
    CHECK(shape["batch"] == 3);
    CHECK(shape["table_rows"] == 6);
    CHECK(shape["embedding_bag_size"].is_null());
    CHECK(shape["embedding_padding_prob"].is_null());
    CHECK(shape["indices"] == folder.file("ids.npy"));
    CHECK(shape["offsets"] == folder.file("offsets.npy"));
    CHECK(shape["results"][0]["status"] == "ok");
  }
}

TEST_CASE("offsets without the end of the last bag have a bag for each") {
  const TemporaryFolder folder;
  write_npy(folder.file("ids.npy"), "(5,)", some_ids);
  write_npy(folder.file("offsets.npy"), "(4,)", some_offsets);
  const nlohmann::json document = require_json(Program().run(
      "bench --device cpu --backends cpu --steps 1 --repeats 1 --offsets-end implied --indices " +
      folder.file("ids.npy") + " --offsets " + folder.file("offsets.npy")));
  CHECK(document["batch"] == 4);
  CHECK(document["results"][0]["status"] == "ok");
}

TEST_CASE("bench takes real ids in bags of one size") {
  const TemporaryFolder folder;
  write_npy<std::int64_t>(folder.file("ids.npy"), "(2, 3)", {0, 9, 2, 7, 7, 1});
  const nlohmann::json document = require_json(
      Program().run("bench --device cpu --backends cpu --steps 1 --repeats 1 --indices " +
                    folder.file("ids.npy")));
  CHECK(document["batch"] == 2);
  CHECK(document["embedding_bag_size"] == 3);
  CHECK(document["table_rows"] == 10);
  CHECK(document["offsets"].is_null());
  CHECK(document["results"][0]["status"] == "ok");
}

TEST_CASE("files of ids that cannot be used fail with the file's name") {
  const TemporaryFolder folder;
  write_npy(folder.file("ids.npy"), "(5,)", some_ids);
  write_npy<std::int64_t>(folder.file("flat.npy"), "(5, 1)", {1, 2, 3, 4, 5});
  write_npy<std::int64_t>(folder.file("falling.npy"), "(3,)", {0, 4, 2});
  write_npy<std::int64_t>(folder.file("beyond.npy"), "(2,)", {0, 6});
  write_npy<std::int64_t>(folder.file("before.npy"), "(2,)", {-1, 5});
  write_npy<std::int64_t>(folder.file("one.npy"), "(1,)", {0});
  write_npy<std::int64_t>(folder.file("wide.npy"), "(1, 1)", {3'000'000'000});
  std::ofstream(folder.file("text.npy")) << "not an array";
  const auto run = [&](const std::string& ids, const std::string& more) {
    return Program().run("bench --device cpu --backends cpu --steps 1 --repeats 1 --indices " +
                         folder.file(ids) + more);
  };
  const auto offsets = [&](const std::string& name) { return " --offsets " + folder.file(name); };
  require_failed(run("missing.npy", ""), "missing.npy");
  require_failed(run("text.npy", ""), "text.npy");
  require_failed(run("ids.npy", ""), "--offsets");
  require_failed(run("flat.npy", offsets("falling.npy")), "flat.npy");
  require_failed(run("ids.npy", offsets("missing.npy")), "missing.npy");
  require_failed(run("ids.npy", offsets("falling.npy")), "falling.npy");
  require_failed(run("ids.npy", offsets("beyond.npy")), "beyond.npy");
  require_failed(run("ids.npy", offsets("before.npy")), "before.npy");
  require_failed(run("ids.npy", offsets("one.npy")), "one.npy");
  require_failed(run("ids.npy", offsets("flat.npy")), "flat.npy");
  require_failed(run("wide.npy", " --id-type int32"), "3000000000");
}

TEST_CASE("a negative id is skipped, or reported when that is asked for") {
  const TemporaryFolder folder;
  write_npy<std::int64_t>(folder.file("ids.npy"), "(2, 2)", {1, 2, -7, 3});
  const std::string line = "bench --device cpu --backends cpu --steps 1 --repeats 1 --indices " +
                           folder.file("ids.npy") + " --bad-ids ";
  CHECK(require_json(Program().run(line + "skip"))["results"][0]["status"] == "ok");
  require_failed(Program().run(line + "report"), "-7");
  require_failed(Program().run(line + "trust"), "-7");
}

TEST_CASE("asking for a GPU where there is none fails with a sentence that names the driver") {
  const Program program;
  if (!program.run("doctor").json().at("gpus").empty()) return;  // there is one
  const Outcome outcome = program.run("bench --device cuda --backends jit");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.error, "driver"));
  CHECK(require_json(program.run("bench --device auto --batch 2 --embedding-vocab-size 9 --steps 1 "
                                 "--repeats 1 --backends cpu"))["device"] == "cpu");
}

TEST_CASE("precompile makes each kernel once and then finds it") {
  const Program program;
  if (!has_nvrtc(program)) {
    require_failed(program.run(small_precompile), "NVRTC");
    return;
  }
  const std::string line =
      "precompile --arch sm_80,sm_90 --embedding-dim 16,16,24 "
      "--embedding-bag-size 1,2 --dtype float16 --id-type int32";
  const nlohmann::json cold = require_json(program.run(line));
  CHECK(cold["compiled"] == 8);
  CHECK(cold["cached"] == 0);
  CHECK(cold["failed"] == 0);
  CHECK(cold["cache_directory"] == program.cache_folder());
  CHECK(cold["architectures"].size() == 2);
  CHECK(cold["kernels"].size() == 8);
  CHECK(program.records().size() == 8);
  const nlohmann::json warm = require_json(program.run(line));
  CHECK(warm["compiled"] == 0);
  CHECK(warm["cached"] == 8);
  CHECK(program.records().size() == 8);
}

TEST_CASE("precompile takes every kind of kernel") {
  const Program program;
  if (!has_nvrtc(program)) return;
  for (const std::string more :
       {"--layout csr --offset-type int32,int64 --padding-id none", "--embedding-bag-size 0",
        "--layout csr --offsets-end implied", "--bad-ids report", "--bad-ids trust --padding-id -1",
        "--addressing 32,64", "--expected-batch 1 --embedding-bag-size 64", "--dtype bfloat16"}) {
    const nlohmann::json report =
        require_json(program.run("precompile --arch sm_90 --embedding-dim 16 " + more));
    CHECK(report["failed"] == 0);
    CHECK(report["compiled"].get<int>() > 0);
  }
}

TEST_CASE("bench derives the very spec that precompile compiled") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const nlohmann::json made =
      require_json(program.run("precompile --arch sm_90 --embedding-dim 8 --embedding-bag-size 4"));
  CHECK(require_json(program.run(small_bench))["spec"] == made["kernels"][0]["spec"]);
}

TEST_CASE("an architecture that NVRTC does not know fails with those that it knows") {
  const Program program;
  if (!has_nvrtc(program)) return;
  require_failed(program.run("precompile --arch sm_90,sm_999 --embedding-dim 16"), "sm_999");
  require_failed(program.run("precompile --arch sm_90,sm_999 --embedding-dim 16"), "sm_90");
  CHECK(program.records().empty());
}

TEST_CASE("precompile fails where its kernels cannot be kept") {
  Program program;
  if (!has_nvrtc(program)) return;
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "in the way";
  program.set("JITBAG_CACHE_DIR", folder.file("file"));
  require_failed(program.run(small_precompile), folder.file("file"));
}

TEST_CASE("without NVRTC what is in the cache is still there, and the rest fails with a sentence") {
  Program program;
  const bool made = has_nvrtc(program);
  if (made) require_json(program.run(small_precompile));
  program.set("JITBAG_NVRTC", "/nonexistent/libnvrtc.so");
  if (made) CHECK(require_json(program.run(small_precompile))["cached"] == 1);
  require_failed(program.run("precompile --arch sm_90 --embedding-dim 40"), "NVRTC");
  require_failed(program.run("source --info --embedding-dim 40"), "NVRTC");
  CHECK(program.run("source --embedding-dim 40").status == 0);
  CHECK(program.run(small_bench).status == 0);
  const Outcome doctor = program.run("doctor");
  require_failed(doctor, "NVRTC");
  CHECK_FALSE(doctor.json()["nvrtc"]["searched"].empty());
}

TEST_CASE("source prints the same text every time, without NVRTC") {
  const Program program;
  const std::string line = "source --arch sm_80 --embedding-dim 36 --embedding-bag-size 3";
  const Outcome outcome = program.run(line);
  REQUIRE(outcome.status == 0);
  CHECK(contains(outcome.out, "__global__"));
  CHECK(program.run(line).out == outcome.out);
  CHECK(program.run("source --arch sm_80 --embedding-dim 40").out != outcome.out);
  CHECK(program.run("source --layout csr --dtype bfloat16 --id-type int32").status == 0);
  const nlohmann::json json = require_json(program.run(line + " --json"));
  CHECK(json["source"] == outcome.out);
  CHECK(json["arch"] == "sm_80");
  CHECK(contains(outcome.out, json["entry"].get<std::string>()));
}

TEST_CASE("source says what the compiler made, and writes the machine code") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const TemporaryFolder folder;
  const std::string line = "source --embedding-dim 16 --info --out-cubin " + folder.file("k.cubin");
  const nlohmann::json first = require_json(program.run(line));
  CHECK(first["kernel_source"] == "compiled");
  CHECK(first["key"].get<std::string>().size() == 64);
  CHECK(first["registers"].get<int>() > 0);
  CHECK(std::filesystem::file_size(folder.file("k.cubin")) == first["cubin_bytes"]);
  const nlohmann::json second = require_json(program.run(line));
  CHECK(second["kernel_source"] == "disk");
  CHECK(second["key"] == first["key"]);
  require_failed(program.run("source --embedding-dim 16 --out-cubin /nonexistent/k.cubin"),
                 "/nonexistent/k.cubin");
}

TEST_CASE("doctor tells of the driver, NVRTC and the cache") {
  const Program program;
  const bool compiles = has_nvrtc(program);
  if (compiles) require_json(program.run(small_precompile));
  const nlohmann::json report = program.run("doctor --json").json();
  CHECK(report["cache"]["directory"] == program.cache_folder());
  CHECK(report["cache"]["mode"] == "0700");
  CHECK(report["cache"]["records"] == (compiles ? 1 : 0));
  CHECK((report["driver"]["path"].is_string() || report["driver"]["problem"].is_string()));
  if (!compiles) return;
  CHECK(report["nvrtc"]["path"].is_string());
  CHECK(report["nvrtc"]["version"].is_string());
  CHECK_FALSE(report["nvrtc"]["architectures"].empty());
}

TEST_CASE("doctor tells of the layers, the limit, the remote and the disk") {
  Program program;
  const TemporaryFolder layer;
  program.set("JITBAG_CACHE_PATH", layer.path().string() + ":/nonexistent/kernels.jitbag");
  program.set("JITBAG_CACHE_MAX_BYTES", "3M");
  program.set("JITBAG_CACHE_REMOTE", "http://reader:secret@127.0.0.1:9/kernels");
  const Outcome outcome = program.run("doctor");
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.error, "/nonexistent/kernels.jitbag"));
  CHECK_FALSE(contains(outcome.out + outcome.error, "secret"));
  const nlohmann::json cache = outcome.json()["cache"];
  CHECK(cache["max_bytes"] == 3 * 1024 * 1024);
  CHECK(cache["free_bytes"].get<double>() > 0);
  CHECK(cache["file_system"].is_string());
  REQUIRE(cache["layers"].size() == 2);
  CHECK(cache["layers"][0]["where"] == layer.path().string());
  CHECK(cache["layers"][0]["problem"].is_null());
  CHECK(cache["layers"][1]["problem"].is_string());
  CHECK(contains(cache["remote"]["where"].get<std::string>(), "127.0.0.1:9/kernels"));
}

TEST_CASE("doctor fails where the cache folder cannot be used") {
  Program program;
  const TemporaryFolder folder;
  std::ofstream(folder.file("file")) << "in the way";
  program.set("JITBAG_CACHE_DIR", folder.file("file"));
  const Outcome outcome = program.run("doctor");
  CHECK(outcome.status == 1);
  CHECK(outcome.json()["cache"]["problem"].is_string());
}

TEST_CASE("a damaged record is told on standard error and leaves the JSON whole") {
  const Program program;
  if (!has_nvrtc(program)) return;
  require_json(program.run(small_precompile));
  std::ofstream(program.records().front(), std::ios::binary | std::ios::app) << "more";
  const Outcome outcome = program.run(small_precompile);
  CHECK(require_json(outcome)["compiled"] == 1);
  CHECK_FALSE(outcome.error.empty());
}

}  // namespace jitbag::test
