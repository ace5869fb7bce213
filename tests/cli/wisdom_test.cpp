#include "jitbag/wisdom.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "checks.hpp"
#include "jitbag/strategy.hpp"
#include "program.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

Finding finding(const std::string& spec, const std::string& date = "2026-12-03T07:30:00Z") {
  return {.spec = spec,
          .smallest_batch = 8192,
          .strategies = {to_text(Strategy{})},
          .time = {2.68, 2.70},
          .rule_time = {3.01, 3.12},
          .date = date,
          .ids = "uniform",
          .driver = "580.159.04"};
}

Wisdom wisdom_of(const std::string& device, const std::vector<Finding>& findings) {
  Wisdom wisdom(device);
  for (const Finding& one : findings) wisdom.add(one);
  return wisdom;
}

WisdomFolder wisdom_folder_of(const Program& program) {
  return WisdomFolder(fs::path(program.cache_folder()) / "wisdom");
}

void store(const Program& program, const Wisdom& wisdom) {
  REQUIRE(wisdom_folder_of(program).merge(wisdom) > 0);
}

std::string write(const Program& program, const std::string& name, const std::string& text) {
  const std::string path = program.folder().file(name);
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

}  // namespace

TEST_CASE("wisdom list speaks in devices and specs, and is narrowed by both") {
  const Program program;
  CHECK(require_json(program.run("wisdom list"))["count"] == 0);
  CHECK_FALSE(fs::exists(program.cache_folder()));
  store(program, wisdom_of("NVIDIA H200", {finding("dim=64"), finding("dim=128")}));
  store(program, wisdom_of("NVIDIA A100", {finding("dim=64")}));
  const nlohmann::json all = require_json(program.run("wisdom list"));
  CHECK(all["count"] == 3);
  CHECK(all["place"] == wisdom_folder_of(program).directory().string());
  CHECK(all["ignored"].empty());
  REQUIRE(all["models"].size() == 2);
  CHECK(all["models"][1]["device"] == "NVIDIA H200");
  const nlohmann::json& first = all["models"][1]["findings"][0];
  CHECK(first["spec"] == "dim=128");
  CHECK(first["smallest_batch"] == 8192);
  CHECK(first["strategies"] == nlohmann::json({to_text(Strategy{})}));
  CHECK(first["median_us"] == 2.68);
  CHECK(first["rule_median_us"] == 3.01);
  CHECK(first["ignored"].is_null());
  CHECK(require_json(program.run("wisdom list --spec dim=64"))["count"] == 2);
  CHECK(require_json(program.run("wisdom list", {"--device", "NVIDIA H200"}))["count"] == 2);
  CHECK(require_json(program.run("wisdom list --device nothing"))["count"] == 0);
}

TEST_CASE("wisdom goes from one folder to another in a file, with the same bytes each time") {
  const Program from;
  store(from, wisdom_of("NVIDIA H200", {finding("dim=64"), finding("dim=128")}));
  store(from, wisdom_of("NVIDIA A100", {finding("dim=64")}));
  const std::string file = from.folder().file("wisdom.json");
  const nlohmann::json exported = require_json(from.run("wisdom export " + file));
  CHECK(exported["findings"] == 3);
  CHECK(exported["models"] == 2);

  const Program to;
  const nlohmann::json imported = require_json(to.run("wisdom import " + file));
  CHECK(imported["findings"] == 3);
  CHECK(imported["taken"] == 3);
  CHECK(wisdom_folder_of(to).read().models == wisdom_folder_of(from).read().models);
  const nlohmann::json again = require_json(to.run("wisdom import " + file));
  CHECK(again["taken"] == 0);
  CHECK(again["already_there"] == 3);
  const std::string second = to.folder().file("second.json");
  require_json(to.run("wisdom export " + second));
  CHECK(content(second) == content(file));

  require_json(from.run("wisdom export " + file, {"--device", "NVIDIA A100"}));
  CHECK(require_json(to.run("wisdom list --in " + file))["count"] == 1);
  CHECK(require_json(to.run("wisdom list --in " + from.cache_folder() +
                            "/wisdom/NVIDIA-H200.json"))["count"] == 2);
}

TEST_CASE("clearing and pruning the cache leave wisdom alone") {
  const Program program;
  store(program, wisdom_of("NVIDIA H200", {finding("dim=64")}));
  require_json(program.run("cache prune"));
  require_json(program.run("cache clear"));
  CHECK(require_json(program.run("wisdom list"))["count"] == 1);
}

TEST_CASE("wisdom merge keeps the later findings of several files, and leaves the folder alone") {
  const Program program;
  const Wisdom old = wisdom_of("NVIDIA H200", {finding("a", "2026-12-01T00:00:00Z"), finding("b")});
  const Wisdom later = wisdom_of("NVIDIA H200", {finding("a", "2026-12-02T00:00:00Z")});
  const std::string a = write(program, "a.json", to_text(std::vector{old}));
  const std::string b = write(program, "b.json", to_text(std::vector{later}));
  const std::string one = program.folder().file("one.json");
  const std::string other = program.folder().file("other.json");
  const nlohmann::json merged =
      require_json(program.run("wisdom merge " + a + " " + b + " --out " + one));
  CHECK(merged["findings"] == 2);
  require_json(program.run("wisdom merge " + b + " " + a + " --out " + other));
  CHECK(content(one) == content(other));
  const WisdomText text = parse_wisdom(content(one), "one.json");
  REQUIRE(text.models.size() == 1);
  CHECK(text.models[0].findings()[0].date == "2026-12-02T00:00:00Z");
  CHECK_FALSE(fs::exists(program.cache_folder()));
}

TEST_CASE("what is damaged in a file is told, costs itself alone, and is exit status 1") {
  const Program program;
  nlohmann::json document = nlohmann::json::parse(
      to_text(std::vector{wisdom_of("NVIDIA H200", {finding("a"), finding("b")})}));
  document["models"][0]["findings"][0].erase("date");
  const std::string file = write(program, "half.json", document.dump());
  const Outcome outcome = program.run("wisdom import " + file);
  require_failed(outcome, file + ": models[0].findings[0] has no date");
  CHECK(outcome.json()["taken"] == 1);
  CHECK(outcome.json()["ignored"].size() == 1);
  require_failed(program.run("wisdom merge " + file + " --out " + program.folder().file("m.json")),
                 "has no date");
  CHECK(require_json(program.run("wisdom list"))["count"] == 1);
}

TEST_CASE("a file that holds no wisdom is refused in one sentence") {
  const Program program;
  const std::string file = write(program, "text", "no wisdom");
  const std::string later = write(program, "later", R"({"jitbag_wisdom": 2})");
  for (const std::string& line :
       {"import " + file, "list --in " + file, "merge " + file + " --out /tmp/never.json"}) {
    const Outcome outcome = program.run("wisdom " + line);
    require_failed(outcome, file + " is no file of wisdom");
    CHECK(outcome.out.empty());
    CHECK(outcome.error.find('\n') + 1 == outcome.error.size());
  }
  require_failed(program.run("wisdom import " + later), "format 2");
  require_failed(program.run("wisdom import /nonexistent/wisdom.json"), "/nonexistent/wisdom.json");
  require_failed(program.run("wisdom export " + program.folder().file("e.json")),
                 "There is no wisdom in " + wisdom_folder_of(program).directory().string());
  CHECK_FALSE(fs::exists(program.cache_folder()));
}

TEST_CASE("wrong arguments of wisdom are refused") {
  const Program program;
  require_refused(program.run("wisdom"), "subcommand");
  require_refused(program.run("wisdom nonsense"), "list");
  require_refused(program.run("wisdom export"), "FILE");
  require_refused(program.run("wisdom merge a.json"), "--out");
  require_refused(program.run("wisdom import", {""}), "''");
}

TEST_CASE("doctor says which wisdom is there, and what is ignored and why") {
  const Program program;
  nlohmann::json wisdom = program.run("doctor").json()["wisdom"];
  CHECK(wisdom["directory"] == wisdom_folder_of(program).directory().string());
  CHECK(wisdom["models"].empty());
  CHECK(wisdom["ignored"].empty());

  Finding of_another_space = finding("a");
  of_another_space.space = strategy_space() + 1;
  Finding unreadable = finding("b");
  unreadable.strategies = {"sort quickly"};
  store(program, wisdom_of("NVIDIA H200", {finding("a"), of_another_space, unreadable}));
  std::ofstream(wisdom_folder_of(program).directory() / "NVIDIA-A100.json") << "damaged";
  const Outcome outcome = program.run("doctor");
  wisdom = outcome.json()["wisdom"];
  CHECK(wisdom["models"] == nlohmann::json::parse(R"([{"device": "NVIDIA H200", "findings": 3}])"));
  REQUIRE(wisdom["ignored"].size() == 3);
  CHECK(contains(wisdom["ignored"][0], "NVIDIA-A100.json is no file of wisdom"));
  CHECK(wisdom["ignored"][1] ==
        "1 of 3 for NVIDIA H200: The strategy \"quickly\" has \"quickly\" "
        "without a value; write it as \"" +
            to_text(Strategy{}) + "\".");
  CHECK(wisdom["ignored"][2] ==
        "1 of 3 for NVIDIA H200: The strategy space is " + std::to_string(strategy_space() + 1) +
            ", and this jitbag's is " + std::to_string(strategy_space()) + ".");
  // It is a note, and no failure.
  CHECK_FALSE(contains(outcome.error, "wisdom"));
  CHECK(outcome.status == Program().run("doctor").status);
  const nlohmann::json listed = require_json(program.run("wisdom list"));
  CHECK(listed["ignored"].size() == 3);
  CHECK(listed["models"][0]["findings"][0]["ignored"].is_null());
  CHECK(contains(listed["models"][0]["findings"][1]["ignored"], "strategy space"));
}

}  // namespace jitbag::test
