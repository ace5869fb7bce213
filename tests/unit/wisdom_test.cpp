#include "jitbag/wisdom.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "cache/child.hpp"
#include "catch.hpp"
#include "jitbag/strategy.hpp"
#include "support/caught.hpp"
#include "support/seed.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

const std::string h200 = "NVIDIA H200";

Finding finding(const std::string& spec, std::int64_t batch, double median_us = 2.5,
                const std::string& date = "2026-12-03T07:30:00Z") {
  return {.spec = spec,
          .smallest_batch = batch_class(batch),
          .strategies = {to_text(Strategy{})},
          .time = {median_us, median_us + 0.1},
          .rule_time = {3.01, 3.12},
          .date = date,
          .l2 = L2Cache::warm,
          .ids = "uniform in [1, 1000000], padding 0.25",
          .driver = "580.159.04",
          .nvrtc = "13.0",
          .jitbag = "0.1.0",
          .commit = "5bb6901"};
}

Wisdom wisdom_of(const std::vector<Finding>& findings) {
  Wisdom wisdom(h200);
  for (const Finding& one : findings) wisdom.add(one);
  return wisdom;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of wisdom, with the file of the H200.
struct Folder {
  TemporaryFolder temporary;
  WisdomFolder wisdom{temporary.path() / "cache" / "wisdom"};
  fs::path file = wisdom.directory() / "NVIDIA-H200.json";

  void write(const std::string& text) const {
    static_cast<void>(wisdom.merge(Wisdom(h200)));
    std::ofstream(file, std::ios::binary) << text;
  }
};

/// A file with one finding, changed, and the sentences about it.
std::vector<std::string> problems_of(const std::function<void(nlohmann::ordered_json&)>& change) {
  auto document = nlohmann::ordered_json::parse(to_text(std::vector{wisdom_of({finding("a", 8)})}));
  change(document);
  return parse_wisdom(document.dump(), "x.json").problems;
}

std::string problem_of_finding(const std::function<void(nlohmann::ordered_json&)>& change) {
  const auto problems =
      problems_of([&](auto& document) { change(document["models"][0]["findings"][0]); });
  REQUIRE(problems.size() <= 1);
  return problems.empty() ? "nothing" : problems.front();
}

}  // namespace

TEST_CASE("of an expected batch wisdom knows the power of two below it") {
  CHECK(batch_class({}) == 0);
  CHECK(batch_class(0) == 0);
  CHECK(batch_class(1) == 1);
  CHECK(batch_class(8192) == 8192);
  CHECK(batch_class(16383) == 8192);
}

TEST_CASE("wisdom is found by spec and class of batch, and by nothing else") {
  const Wisdom wisdom = wisdom_of({finding("a", 8192), finding("b", 8192), finding("b", 0)});
  REQUIRE(wisdom.find("a", 9000) != nullptr);
  CHECK(*wisdom.find("a", 9000) == finding("a", 8192));
  CHECK(wisdom.find("a", 8191) == nullptr);
  CHECK(wisdom.find("a", 16384) == nullptr);
  CHECK(wisdom.find("a", {}) == nullptr);
  CHECK(wisdom.find("b", {}) != nullptr);
  CHECK(wisdom.find("c", 8192) == nullptr);
  CHECK(wisdom.find("", 8192) == nullptr);
}

TEST_CASE("wisdom of another strategy space is kept and not found") {
  Finding other = finding("a", 8);
  other.space = strategy_space() + 1;
  Wisdom wisdom = wisdom_of({other});
  CHECK(wisdom.find("a", 8) == nullptr);
  CHECK(wisdom.add(finding("a", 8)));
  CHECK(wisdom.find("a", 8)->space == strategy_space());
  CHECK(wisdom.findings().size() == 2);
}

TEST_CASE("of two findings the later stays, then the faster, in whatever order they come") {
  std::vector<Finding> findings = {
      finding("a", 8, 1.0, "2026-12-01T00:00:00Z"), finding("a", 8, 3.0, "2026-12-03T00:00:00Z"),
      finding("a", 8, 2.0, "2026-12-03T00:00:00Z"), finding("a", 8, 2.0, "2026-12-03T00:00:00Z"),
      finding("b", 8, 9.0, "2026-12-01T00:00:00Z")};
  findings[3].driver = "600";
  std::mt19937_64 random(seed());
  for (int i = 0; i < 50; ++i) {
    std::shuffle(findings.begin(), findings.end(), random);
    Wisdom wisdom = wisdom_of(findings);
    REQUIRE(wisdom.findings().size() == 2);
    CHECK(wisdom.findings()[0].date == "2026-12-03T00:00:00Z");
    CHECK(wisdom.findings()[0].time.median_us == 2.0);
    CHECK(wisdom.findings()[0].driver == "600");
    CHECK(wisdom.findings()[1].spec == "b");
    CHECK(wisdom.merge(wisdom_of(findings)) == 0);
  }
}

TEST_CASE("the text of wisdom reads back as the wisdom, and is the same for the same wisdom") {
  Finding set = finding("2 tables", 0);
  set.strategies.push_back(to_text(Strategy{.rows_in_flight = 8}));
  set.time.median_us = 0.1 + 0.2;
  set.l2 = L2Cache::cold;
  set.commit.clear();
  set.ids = "\"quoted\"\nand broken";
  const std::vector<Wisdom> models = {Wisdom("AMD"), wisdom_of({finding("a", 8), set})};
  const WisdomText read = parse_wisdom(to_text(models), "x.json");
  CHECK(read.problems.empty());
  CHECK(read.models == models);
  CHECK(to_text(read.models) == to_text(models));
  CHECK(to_text(std::vector{wisdom_of({finding("b", 8), finding("a", 8)})}) ==
        to_text(std::vector{wisdom_of({finding("a", 8), finding("b", 8)})}));
}

TEST_CASE("what a file has beyond what is known is passed over") {
  CHECK(problems_of([](auto& document) {
          document["later"] = {{"a", 1}};
          document["models"][0]["later"] = 1;
          document["models"][0]["findings"][0]["later"] = nullptr;
        }).empty());
}

TEST_CASE("a damaged finding is ignored with its place and reason, and costs the others nothing") {
  const auto set = [](const char* name, const nlohmann::json& value) {
    return [=](nlohmann::ordered_json& finding) { finding[name] = value; };
  };
  const std::vector<std::pair<std::string, nlohmann::json>> damages = {
      {"spec", ""},
      {"spec", 7},
      {"smallest_batch", 6},
      {"smallest_batch", -8},
      {"smallest_batch", 8.5},
      {"smallest_batch", 18446744073709551615u},
      {"strategy_space", "1"},
      {"strategies", nlohmann::json::array()},
      {"strategies", "vector=16B"},
      {"strategies", {"a", 1}},
      {"median_us", 0},
      {"median_us", -1.0},
      {"p95_us", "2"},
      {"rule_median_us", nullptr},
      {"rule_p95_us", false},
      {"date", "yesterday"},
      {"date", "2026-12-03 07:30:00"},
      {"l2", "lukewarm"}};
  for (const auto& [name, value] : damages) {
    const std::string problem = problem_of_finding(set(name.c_str(), value));
    INFO(name << " = " << value << ": " << problem);
    CHECK(problem.find("x.json: models[0].findings[0] has ") == 0);
    CHECK(contains(problem, name));
  }
  CHECK(problem_of_finding([](auto& finding) { finding = 3; }) != "nothing");
  CHECK(problem_of_finding([](auto&) {}) == "nothing");

  auto document = nlohmann::ordered_json::parse(
      to_text(std::vector{wisdom_of({finding("a", 8), finding("b", 8)})}));
  document["models"][0]["findings"][0].erase("date");
  const WisdomText read = parse_wisdom(document.dump(), "x.json");
  CHECK(read.models == std::vector{wisdom_of({finding("b", 8)})});
}

TEST_CASE("a text that is no wisdom, or of another format, is ignored with a sentence") {
  const std::string whole = to_text(std::vector{wisdom_of({finding("a", 8)})});
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"),
        std::string("{\"jitbag_wisdom\": \"1\"}"), std::string("\xff\xfe"),
        std::string(100'000, '['), whole.substr(0, whole.size() / 2), whole + "x"}) {
    const WisdomText read = parse_wisdom(text, "x.json");
    CHECK(read.models.empty());
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0] == "x.json is no file of wisdom; it is ignored.");
    CHECK_FALSE(read.is_of_another_format);
  }
  const WisdomText later = parse_wisdom(R"({"jitbag_wisdom": 2, "models": 3})", "x.json");
  CHECK(later.is_of_another_format);
  CHECK(later.problems ==
        std::vector<std::string>{"x.json has format 2, and this jitbag reads 1; it is ignored."});
  for (const char* models : {"{}", "[{}]", R"([{"device": ""}])", R"([{"device": "X"}])"}) {
    const auto read =
        parse_wisdom(R"({"jitbag_wisdom": 1, "models": )" + std::string(models) + "}", "x.json");
    CHECK(read.problems.size() == 1);
  }
}

TEST_CASE("no prefix and no changed byte of a file does more than cost wisdom") {
  const std::string whole = to_text(std::vector{wisdom_of({finding("a", 8), finding("b", 0)})});
  std::mt19937_64 random(seed());
  for (int i = 0; i < 2000; ++i) {
    std::string text = whole;
    text[random() % text.size()] = static_cast<char>(random());
    if (i % 2 == 0) text.resize(random() % text.size());
    for (const Wisdom& wisdom : parse_wisdom(text, "x.json").models)
      CHECK(wisdom.findings().size() <= 2);
  }
}

TEST_CASE("a folder gives back what was merged into it, one file for each device model") {
  const Folder folder;
  CHECK(folder.wisdom.read().models.empty());
  CHECK_FALSE(fs::exists(folder.wisdom.directory()));
  CHECK(folder.wisdom.merge(wisdom_of({finding("a", 8)})) == 1);
  CHECK(folder.wisdom.merge(wisdom_of({finding("a", 8), finding("b", 8)})) == 1);
  Wisdom other("NVIDIA A100-SXM4-80GB");
  other.add(finding("c", 8));
  CHECK(folder.wisdom.merge(other) == 1);

  const WisdomText all = folder.wisdom.read();
  CHECK(all.problems.empty());
  CHECK(all.models == std::vector{other, wisdom_of({finding("a", 8), finding("b", 8)})});
  CHECK(fs::exists(folder.file));
  CHECK(fs::exists(folder.wisdom.directory() / "NVIDIA-A100-SXM4-80GB.json"));
  const auto warn = [](std::string_view sentence) { FAIL(std::string(sentence)); };
  CHECK(folder.wisdom.read(h200, warn) == all.models[1]);
  CHECK(folder.wisdom.read("another", warn) == Wisdom("another"));
}

TEST_CASE("models whose names are alike share a file and nothing else") {
  const Folder folder;
  Wisdom alike("NVIDIA/H200");
  alike.add(finding("b", 8));
  folder.wisdom.merge(wisdom_of({finding("a", 8)}));
  folder.wisdom.merge(alike);
  CHECK(folder.wisdom.read().models == std::vector{wisdom_of({finding("a", 8)}), alike});
}

TEST_CASE("a damaged file is told of, is as good as none, and gives way to what is found next") {
  const Folder folder;
  folder.write("{ damaged");
  std::vector<std::string> warnings;
  const auto warn = [&](std::string_view sentence) { warnings.emplace_back(sentence); };
  CHECK(folder.wisdom.read(h200, warn).findings().empty());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] == folder.file.string() + " is no file of wisdom; it is ignored.");
  CHECK(folder.wisdom.read().problems == warnings);
  folder.wisdom.merge(wisdom_of({finding("a", 8)}));
  CHECK(folder.wisdom.read().problems.empty());
  CHECK(folder.wisdom.read().models == std::vector{wisdom_of({finding("a", 8)})});
}

TEST_CASE("a file that a later jitbag has written is left as it is") {
  const Folder folder;
  const std::string later = R"({"jitbag_wisdom": 2, "more": []})";
  folder.write(later);
  const std::string sentence = caught([&] { folder.wisdom.merge(wisdom_of({finding("a", 8)})); });
  CHECK(sentence.find("io_failed: " + folder.file.string() + " was written by a later jitbag") ==
        0);
  CHECK(content(folder.file) == later);
}

TEST_CASE("wisdom in another model's file is told of and ignored") {
  const Folder folder;
  folder.wisdom.merge(wisdom_of({finding("a", 8)}));
  const fs::path moved = folder.wisdom.directory() / "NVIDIA-B200.json";
  fs::rename(folder.file, moved);
  const WisdomText all = folder.wisdom.read();
  CHECK(all.models.empty());
  REQUIRE(all.problems.size() == 1);
  CHECK(all.problems[0] == moved.string() +
                               " has wisdom for \"NVIDIA H200\", whose file is "
                               "NVIDIA-H200.json; it is ignored.");
}

TEST_CASE("a folder that others can write to is refused with a sentence, and not written to") {
  const Folder folder;
  folder.wisdom.merge(wisdom_of({finding("a", 8)}));
  fs::permissions(folder.wisdom.directory(), fs::perms(0777));
  CHECK(folder.wisdom.read().models.empty());
  REQUIRE(folder.wisdom.read().problems.size() == 1);
  CHECK(contains(folder.wisdom.read().problems[0], "can be written by other users"));
  CHECK(contains(caught([&] { folder.wisdom.merge(wisdom_of({finding("b", 8)})); }),
                 "io_failed: " + folder.wisdom.directory().string()));
}

TEST_CASE("two processes that write wisdom at the same time lose none of it") {
  const Folder folder;
  constexpr int each = 20;
  const auto write = [&](const std::string& name) {
    return [&folder, name] {
      for (int i = 0; i < each; ++i)
        folder.wisdom.merge(wisdom_of({finding(name + std::to_string(i), 8)}));
      return 0;
    };
  };
  {
    std::vector<Child> children;
    for (const char* name : {"a", "b"}) children.emplace_back(write(name));
    for (Child& child : children) CHECK(child.wait() == 0);
  }
  const WisdomText all = folder.wisdom.read();
  REQUIRE(all.models.size() == 1);
  CHECK(all.models[0].findings().size() == 2 * each);
}

TEST_CASE("wisdom lies in the cache folder, and nowhere without one") {
  CHECK(wisdom_directory({.directory = "/somewhere"}) == "/somewhere/wisdom");
  CHECK_FALSE(wisdom_directory({}));
}

}  // namespace jitbag::test
