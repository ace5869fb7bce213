#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "cache/key_pair.hpp"
#include "catch.hpp"
#include "checks.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

/// A record as the engine makes it, but for its payload.
cache::Record made_up_record(int dim, const std::string& arch = "sm_90",
                             const std::string& build = "b0") {
  const std::string spec = "embedding_bag_mean dim=" + std::to_string(dim) + " bags=4";
  const std::string source = "// " + spec + "\n// vector=16B vectors=1\n// " + arch +
                             "\n\nconstexpr int dim = " + std::to_string(dim) +
                             ";\n\n// The kernel.\nvoid kernel() {}\n";
  std::vector<cache::Field> fields = {{"artifact_version", "1"},    {"compiler", "nvrtc"},
                                      {"compiler_build", build},    {"target", arch},
                                      {"entry", "kernel"},          {"option", "--std=c++17"},
                                      {"name", "embedding_bag.cu"}, {"source", source}};
  std::vector<std::byte> payload(5000);  // more than a note
  for (std::size_t i = 0; i < payload.size(); ++i)
    payload[i] = static_cast<std::byte>(i * static_cast<std::size_t>(dim) % 251);
  return {std::move(fields), std::move(payload)};
}

cache::DiskCache folder_of(const Program& program) {
  return {program.cache_folder(), [](std::string_view sentence) { FAIL(std::string(sentence)); }};
}

void store(const Program& program, const std::vector<cache::Record>& records) {
  const cache::DiskCache folder = folder_of(program);
  for (const cache::Record& record : records) REQUIRE(folder.store(record));
  folder.remember({"b0", "NVRTC 13.0 (build b0)"});
}

void damage(const fs::path& path) {
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
}

}  // namespace

TEST_CASE("cache path tells of the folder, the layers, the limit and the remote") {
  Program program;
  nlohmann::json state = require_json(program.run("cache path"));
  CHECK(state["folder"]["directory"] == program.cache_folder());
  CHECK(state["folder"]["exists"] == false);
  CHECK(state["folder"]["max_bytes"] == 1 << 30);
  CHECK(state["layers"].empty());
  CHECK(state["remote"].is_null());
  CHECK_FALSE(fs::exists(program.cache_folder()));
  program.set("JITBAG_CACHE_REMOTE", "https://me:secret@127.0.0.1/kernels");
  program.set("JITBAG_CACHE_REMOTE_WRITE", "1");
  program.set("JITBAG_CACHE_PATH", "/nonexistent/layer");
  const Outcome outcome = program.run("cache path --json");
  state = require_json(outcome);
  CHECK(state["remote"]["writes"] == true);
  CHECK_FALSE(contains(outcome.out + outcome.error, "secret"));
  CHECK(contains(state["layers"][0]["problem"], "/nonexistent/layer"));
}

TEST_CASE("cache list speaks in specs, and is narrowed by architecture and text") {
  const Program program;
  CHECK(require_json(program.run("cache list"))["count"] == 0);
  store(program, {made_up_record(64), made_up_record(128), made_up_record(64, "sm_80")});
  const nlohmann::json all = require_json(program.run("cache list"));
  REQUIRE(all["count"] == 3);
  for (const char* name :
       {"key", "spec", "strategy", "arch", "compiler_build", "bytes", "last_used", "place"})
    CHECK(all["records"][0].at(name).is_null() == false);
  CHECK(all["records"][0]["spec"] == "embedding_bag_mean dim=128 bags=4");
  CHECK(all["records"][0]["strategy"] == "vector=16B vectors=1");
  CHECK(all["records"][0]["key"] == made_up_record(128).key().hex());
  CHECK(all["records"][0]["bytes"] == cache::encode(made_up_record(128)).size());
  CHECK(require_json(program.run("cache list --arch sm_80,sm_75"))["count"] == 1);
  CHECK(require_json(program.run("cache list --spec dim=64"))["count"] == 2);
  CHECK(require_json(program.run("cache list --spec dim=64 --arch sm_90"))["count"] == 1);
  CHECK(require_json(program.run("cache list --spec nothing"))["count"] == 0);
}

TEST_CASE("cache list takes in the layers with --all, and another place with --in") {
  const Program layer;
  store(layer, {made_up_record(64)});
  Program program;
  store(program, {made_up_record(128)});
  program.set("JITBAG_CACHE_PATH", layer.cache_folder());
  CHECK(require_json(program.run("cache list"))["count"] == 1);
  const nlohmann::json all = require_json(program.run("cache list --all"));
  REQUIRE(all["count"] == 2);
  CHECK(all["records"][1]["place"] == layer.cache_folder());
  CHECK(all["records"][1]["last_used"].is_null());
  CHECK(
      require_json(program.run("cache list --in " + layer.cache_folder()))["records"][0]["spec"] ==
      "embedding_bag_mean dim=64 bags=4");
  require_failed(program.run("cache list --in /nonexistent/place"), "/nonexistent/place");
  std::ofstream(program.folder().file("text")) << "no bundle";
  require_failed(program.run("cache list --in " + program.folder().file("text")),
                 program.folder().file("text"));
}

TEST_CASE("cache show finds one kernel by its key or by its spec, and says when it cannot") {
  const Program program;
  const cache::Record record = made_up_record(64);
  store(program, {record, made_up_record(128), made_up_record(128, "sm_80")});
  const std::string key = record.key().hex();
  for (const std::string& wanted : {key, key.substr(0, 8), std::string("dim=64")}) {
    const nlohmann::json shown = require_json(program.run("cache show " + wanted));
    CHECK(shown["key"] == key);
    CHECK(shown["arch"] == "sm_90");
    CHECK(shown["place"] == program.cache_folder());
    CHECK(shown["kernel"].is_null());  // the payload is none of the engine's
    CHECK(shown["fields"].size() == record.fields.size());
    CHECK(contains(shown["constants"], "constexpr int dim = 64;"));
    CHECK_FALSE(contains(shown["constants"], "void kernel"));
  }
  CHECK(program.run("cache show dim=64 --source").out == record.fields.back().value);
  const Outcome several = program.run("cache show dim=128");
  require_failed(several, "fits 2 records");
  CHECK(contains(several.error, made_up_record(128).key().hex().substr(0, 12)));
  CHECK(contains(several.error, made_up_record(128, "sm_80").key().hex().substr(0, 12)));
  require_failed(program.run("cache show " + key.substr(0, 3)), "No record");
  require_failed(program.run("cache show 0123456789abcdef"), "No record");
  require_failed(program.run("cache show dim=64 --out-cubin /tmp/never"), "no machine code");
}

TEST_CASE("cache show knows what the compiler made") {
  const Program program;
  if (!has_nvrtc(program)) return;
  const nlohmann::json made =
      require_json(program.run("source --info --embedding-dim 16 --embedding-bag-size 2"));
  const std::string cubin = program.folder().file("kernel.cubin");
  const nlohmann::json shown = require_json(program.run(
      "cache show " + made["key"].get<std::string>().substr(0, 4) + " --out-cubin " + cubin));
  CHECK(shown["key"] == made["key"]);
  CHECK(shown["spec"] == made["spec"]);
  CHECK(shown["kernel"]["registers"] == made["registers"]);
  CHECK(shown["kernel"]["log"] == made["log"]);
  CHECK(fs::file_size(cubin) == made["cubin_bytes"]);
  CHECK(contains(shown["constants"], "constexpr int dim = 16;"));
  CHECK(program.run("cache show dim=16 --source").out ==
        program.run("source --embedding-dim 16 --embedding-bag-size 2").out);
}

TEST_CASE("cache stats counts without opening a record") {
  Program program;
  CHECK(require_json(program.run("cache stats"))["records"] == 0);
  store(program, {made_up_record(64), made_up_record(128)});
  program.set("JITBAG_CACHE_MAX_BYTES", "1M");
  const Program layer;
  store(layer, {made_up_record(32)});
  program.set("JITBAG_CACHE_PATH", layer.cache_folder());
  damage(program.records().front());
  const nlohmann::json stats = require_json(program.run("cache stats"));
  CHECK(stats["records"] == 2);
  const std::uintmax_t bytes =
      fs::file_size(program.records()[0]) + fs::file_size(program.records()[1]);
  CHECK(stats["bytes"] == bytes);
  CHECK(stats["max_bytes"] == 1 << 20);
  CHECK(stats["share"].get<double>() > 0);
  CHECK(stats["oldest_use"].is_string());
  CHECK(stats["newest_use"].is_string());
  CHECK(stats["producers"][0]["description"] == "NVRTC 13.0 (build b0)");
  CHECK(stats["layers"][0]["records"] == 1);
  CHECK(stats["leftovers"] == 0);

  const fs::path left = program.records().front().parent_path() / ".new+0123456789abcdef";
  std::ofstream(left) << "of a process that died";
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK(require_json(program.run("cache stats"))["leftovers"] == 1);
}

TEST_CASE("cache verify lists the damaged, prune removes them, clear removes all") {
  const Program program;
  const Outcome none = program.run("cache verify");
  CHECK(none.status == 0);
  CHECK(contains(none.error, "0 records"));
  CHECK_FALSE(fs::exists(program.cache_folder()));

  store(program, {made_up_record(64), made_up_record(128), made_up_record(256)});
  const Outcome whole = program.run("cache verify");
  CHECK(require_json(whole)["whole"] == 3);
  CHECK(contains(whole.error, "3 records"));
  CHECK(contains(whole.error, "all whole"));

  const fs::path victim = program.records().front();
  damage(victim);
  const Outcome damaged = program.run("cache verify");
  CHECK(damaged.status == 1);
  CHECK(contains(damaged.error, "1 damaged"));
  REQUIRE(damaged.json()["damaged"].size() == 1);
  CHECK(damaged.json()["damaged"][0]["path"] == victim.string());

  CHECK(require_json(program.run("cache prune --dry-run"))["records"] == 1);
  CHECK(fs::exists(victim));
  CHECK(require_json(program.run("cache prune"))["records"] == 1);
  CHECK_FALSE(fs::exists(victim));
  CHECK(program.run("cache verify").status == 0);
  const nlohmann::json over = require_json(program.run("cache prune --max-bytes 6K"));
  CHECK(over["records"] == 1);
  CHECK(over["max_bytes"] == 6 * 1024);
  CHECK(program.records().size() == 1);
  CHECK(require_json(program.run("cache clear"))["records"] == 1);
  CHECK(program.records().empty());
  CHECK(require_json(program.run("cache clear"))["records"] == 0);
}

TEST_CASE("cache verify --all reads the layers too") {
  const Program layer;
  store(layer, {made_up_record(64), made_up_record(128)});
  Program program;
  program.set("JITBAG_CACHE_PATH", layer.cache_folder());
  CHECK(require_json(program.run("cache verify --all"))["whole"] == 2);
  damage(layer.records().front());
  CHECK(program.run("cache verify").status == 0);
  const Outcome damaged = program.run("cache verify --all");
  CHECK(damaged.status == 1);
  CHECK(damaged.json()["damaged"].size() == 1);
}

TEST_CASE("where there is no cache folder, the subcommands that need one say so") {
  Program program;
  program.set("JITBAG_CACHE_DIR", "");
  program.set("XDG_CACHE_HOME", "");
  program.set("HOME", "");
  for (const char* line : {"cache list", "cache stats", "cache verify", "cache prune",
                           "cache clear", "cache import nothing"}) {
    INFO(line);
    const Outcome outcome = program.run(line);
    CHECK(outcome.status == 1);
    CHECK_FALSE(outcome.error.empty());
  }
  CHECK(require_json(program.run("cache path"))["folder"].is_null());
}

TEST_CASE("a bundle brings every record to another machine, and says what it covers") {
  const Program builder;
  const std::vector<cache::Record> records = {made_up_record(64), made_up_record(128),
                                              made_up_record(64, "sm_80")};
  store(builder, records);
  const std::string bundle = builder.folder().file("kernels.jitbag");
  const nlohmann::json exported = require_json(builder.run("cache export " + bundle));
  CHECK(exported["records"] == 3);
  CHECK(exported["signed"] == false);
  CHECK(exported["architectures"] == nlohmann::json({{"sm_80", 1}, {"sm_90", 2}}));
  CHECK(exported["kernels"].size() == 3);
  CHECK(exported["producers"][0]["id"] == "b0");
  CHECK(exported["file_bytes"] == fs::file_size(bundle));

  const Program user;
  CHECK(require_json(user.run("cache list --in " + bundle))["count"] == 3);
  const nlohmann::json imported = require_json(user.run("cache import " + bundle));
  CHECK(imported["stored"] == 3);
  CHECK(imported["already_there"] == 0);
  REQUIRE(user.records().size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(content(user.records()[i]) == content(builder.records()[i]));
  CHECK(folder_of(user).producers() == folder_of(builder).producers());
  const nlohmann::json again = require_json(user.run("cache import " + bundle));
  CHECK(again["stored"] == 0);
  CHECK(again["already_there"] == 3);
}

TEST_CASE("the same records give the same bundle, whatever order they were made in") {
  const std::vector<cache::Record> records = {made_up_record(64), made_up_record(128),
                                              made_up_record(64, "sm_80", "b1")};
  const Program one;
  store(one, records);
  folder_of(one).remember({"b1", "NVRTC 12.9 (build b1)"});
  const Program other;
  folder_of(other).remember({"b1", "NVRTC 12.9 (build b1)"});
  store(other, {records[2], records[1], records[0]});
  folder_of(other).remember({"b2", "one that made none of them"});
  const auto bundle_of = [](const Program& program, const std::string& name) {
    require_json(program.run("cache export " + program.folder().file(name)));
    return content(program.folder().file(name));
  };
  const std::string bytes = bundle_of(one, "first");
  CHECK(bundle_of(one, "second") == bytes);
  CHECK(bundle_of(other, "third") == bytes);
}

TEST_CASE("export takes one architecture, and each record of folder and layers once") {
  const Program layer;
  store(layer, {made_up_record(64), made_up_record(32, "sm_80")});
  Program program;
  store(program, {made_up_record(64), made_up_record(128)});
  program.set("JITBAG_CACHE_PATH", layer.cache_folder());
  const std::string bundle = program.folder().file("kernels.jitbag");
  CHECK(require_json(program.run("cache export " + bundle))["records"] == 3);
  CHECK(require_json(program.run("cache export --arch sm_80 " + bundle))["records"] == 1);
  CHECK(require_json(program.run("cache list --in " + bundle))["records"][0]["arch"] == "sm_80");
  require_failed(program.run("cache export --arch sm_75 " + bundle), "no record for sm_75");
  require_failed(program.run("cache export /nonexistent/kernels.jitbag"),
                 "/nonexistent/kernels.jitbag");
  CHECK(require_json(program.run("cache list --in " + bundle))["count"] == 1);
}

TEST_CASE("export says what is damaged, and takes it from a layer that has it whole") {
  const Program layer;
  store(layer, {made_up_record(64)});
  Program program;
  store(program, {made_up_record(64), made_up_record(128)});
  for (const fs::path& record : program.records()) damage(record);
  program.set("JITBAG_CACHE_PATH", layer.cache_folder());
  const Outcome outcome = program.run("cache export " + program.folder().file("kernels.jitbag"));
  CHECK(outcome.status == 1);
  CHECK(outcome.json()["records"] == 1);
  CHECK(contains(outcome.error, made_up_record(128).key().hex() + " cannot be used"));
  CHECK(outcome.json()["damaged"] == nlohmann::json({made_up_record(128).key().hex()}));
}

TEST_CASE("a key that is named by nothing is a wrong argument, and no signature goes unchecked") {
  Program program;
  store(program, {made_up_record(64)});
  const std::string bundle = program.folder().file("plain.jitbag");
  CHECK(program.run("cache export --sign= " + bundle).status == 2);
  CHECK_FALSE(fs::exists(bundle));
  require_json(program.run("cache export " + bundle));
  CHECK(program.run("cache import --trust= " + bundle).status == 2);
}

TEST_CASE("a closed or full standard error is no reason to stop") {
  const Program program;
  const auto status_of = [&](const std::string& arguments) {
    const std::string command = "JITBAG_CACHE_DIR='" + program.cache_folder() + "' " +
                                std::getenv("JITBAG") + " " + arguments + " >/dev/null";
    return WEXITSTATUS(std::system(command.c_str()));
  };
  for (const std::string error : {"2>&-", "2>/dev/full"}) {
    CHECK(status_of("cache verify " + error) == 0);
    CHECK(status_of("nonsense " + error) == 2);
  }
}

TEST_CASE("a layer that cannot be used fails export and verify --all") {
  Program program;
  store(program, {made_up_record(64)});
  const std::string missing = program.folder().file("missing.jitbag");
  program.set("JITBAG_CACHE_PATH", missing);
  CHECK(require_json(program.run("cache verify"))["damaged"].empty());
  const Outcome verified = program.run("cache verify --all");
  CHECK(verified.status == 1);
  REQUIRE(verified.json()["damaged"].size() == 1);
  CHECK(verified.json()["damaged"][0]["path"] == missing);
  const Outcome exported = program.run("cache export " + program.folder().file("new.jitbag"));
  CHECK(exported.status == 1);
  CHECK(exported.json()["records"] == 1);
  CHECK(contains(exported.error, missing));
}

TEST_CASE("a bundle is refused that the expected key has not signed") {
  const Program builder;
  store(builder, {made_up_record(64)});
  const KeyPair mine(builder.folder().path(), 1);
  const KeyPair other(builder.folder().path(), 2);
  const std::string plain = builder.folder().file("plain.jitbag");
  const std::string sealed = builder.folder().file("signed.jitbag");
  require_json(builder.run("cache export " + plain));
  CHECK(require_json(builder.run("cache export " + sealed + " --sign " +
                                 mine.signing_file().string()))["signed"] == true);
  const std::string trust = " --trust " + mine.trusted_file().string();

  const Program user;
  require_failed(user.run("cache import " + plain + trust), plain);
  require_failed(user.run("cache import " + sealed + " --trust " + other.trusted_file().string()),
                 sealed);
  require_failed(user.run("cache import " + sealed + " --trust /nonexistent/key.pem"),
                 "/nonexistent/key.pem");
  require_failed(user.run("cache export " + plain + " --sign /nonexistent/key.pem"),
                 "/nonexistent/key.pem");
  CHECK(user.records().empty());
  CHECK(require_json(user.run("cache import " + sealed + trust))["stored"] == 1);

  Program strict;
  strict.set("JITBAG_CACHE_TRUST", mine.trusted_file().string());
  require_failed(strict.run("cache import " + plain), plain);
  CHECK(require_json(strict.run("cache import " + sealed))["signed"] == true);
}

TEST_CASE("import fails where the folder cannot be written, and for what is no bundle") {
  const Program builder;
  store(builder, {made_up_record(64)});
  const std::string bundle = builder.folder().file("kernels.jitbag");
  require_json(builder.run("cache export " + bundle));
  Program user;
  require_failed(user.run("cache import /nonexistent/kernels.jitbag"),
                 "/nonexistent/kernels.jitbag");
  require_failed(user.run("cache import " + builder.records().front().string()), ".record");
  user.set("JITBAG_CACHE_DIR", bundle);  // a file in the way
  require_failed(user.run("cache import " + bundle), bundle);

  std::string bytes = content(bundle);
  bytes[bytes.size() / 3] = static_cast<char>(bytes[bytes.size() / 3] ^ 0x41);
  std::ofstream(builder.folder().file("damaged.jitbag"), std::ios::binary) << bytes;
  const Program careful;
  const Outcome outcome = careful.run("cache import " + builder.folder().file("damaged.jitbag"));
  CHECK(outcome.status == 1);
  CHECK(contains(outcome.error, "jitbag: "));
  CHECK(careful.records().empty());
}

TEST_CASE("source --why finds the kernel, or says what differs in the nearest record") {
  const Program program;
  const std::string line =
      "source --why --embedding-dim 16 --embedding-bag-size 2 --dtype float16 ";
  const nlohmann::json nothing = require_json(program.run(line));
  CHECK(nothing["found"] == false);
  CHECK(nothing["nearest"].is_null());
  if (!has_nvrtc(program)) return;
  require_json(program.run(
      "precompile --arch sm_90 --embedding-dim 16 --embedding-bag-size 2 --dtype float16"));
  const nlohmann::json hit = require_json(program.run(line));
  CHECK(hit["found"] == true);
  CHECK(hit["kernel_source"] == "disk");
  CHECK(hit["place"] == program.cache_folder());
  CHECK(hit.contains("since"));
  CHECK(hit["nearest"].is_null());

  const nlohmann::json miss = require_json(program.run(
      "source --why --embedding-dim 16 --embedding-bag-size 2 --dtype float16 --padding-id 7"));
  CHECK(miss["found"] == false);
  CHECK(miss["nearest"]["place"] == program.cache_folder());
  CHECK(miss["nearest"]["differences"] ==
        nlohmann::json::array({{{"name", "padding_id"}, {"wanted", "7ll"}, {"found", "0ll"}}}));
  const nlohmann::json other = require_json(program.run(line + "--arch sm_80"));
  const auto names_target = [](const nlohmann::json& difference) {
    return difference["name"] == "target" && difference["wanted"] == "sm_80" &&
           difference["found"] == "sm_90";
  };
  const auto& differences = other["nearest"]["differences"];
  CHECK(std::any_of(differences.begin(), differences.end(), names_target));
  CHECK(program.records().size() == 1);
}

}  // namespace jitbag::test
