#include "jitbag/cache/bundle_layer.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cache/bundle_file.hpp"
#include "cache/key_pair.hpp"
#include "cache/refusal.hpp"
#include "catch.hpp"

namespace jitbag::cache {
namespace {

using test::contents_of;
using test::sample;
using test::says;
using test::TemporaryFolder;
namespace fs = std::filesystem;

const std::vector<std::string> three_names = {"a", "b", "c"};

struct Heard {
  std::vector<std::string> warnings;
  [[nodiscard]] Warn listener() {
    return [this](std::string_view sentence) { warnings.emplace_back(sentence); };
  }
};

TEST_CASE("a bundle is a layer with its records, keys and producers") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  static_cast<void>(write_bundle(path, contents_of(three_names)));
  Heard heard;
  const BundleLayer layer(path, {}, heard.listener());
  CHECK(layer.place() == Place::bundle);
  CHECK(layer.where() == path.string());
  for (const std::string& name : three_names) CHECK(layer.find(sample(name).key()) == sample(name));
  CHECK_FALSE(layer.find(sample("other").key()));
  CHECK(layer.keys().size() == 3);
  CHECK(std::ranges::is_sorted(layer.keys(), {}, &Digest::bytes));
  CHECK(layer.producers().size() == 2);
  CHECK(heard.warnings.empty());
}

TEST_CASE("a bundle layer opens nothing until the first look") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  Heard heard;
  const BundleLayer layer(path, {}, heard.listener());
  static_cast<void>(write_bundle(path, contents_of(three_names)));
  CHECK(layer.find(sample("a").key()));
  CHECK(heard.warnings.empty());
}

TEST_CASE("a bundle that cannot be used is a layer without records, with one warning") {
  const TemporaryFolder folder;
  const test::KeyPair pair(folder.path(), 1);
  const fs::path none = folder.path() / "none";
  const fs::path unsigned_one = folder.path() / "unsigned";
  static_cast<void>(write_bundle(unsigned_one, contents_of(three_names)));
  for (const fs::path& path : {none, unsigned_one}) {
    Heard heard;
    const BundleLayer layer(path, pair.trusted(), heard.listener());
    for (int i = 0; i < 3; ++i) {
      CHECK_FALSE(layer.find(sample("a").key()));
      CHECK(layer.keys().empty());
      CHECK(layer.producers().empty());
    }
    REQUIRE(heard.warnings.size() == 1);
    CHECK(says(heard.warnings.front(), path.string()));
  }
}

TEST_CASE("a bundle that is cut short while it is a layer is a miss, with one warning") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  static_cast<void>(write_bundle(path, contents_of(three_names)));
  Heard heard;
  const BundleLayer layer(path, {}, heard.listener());
  REQUIRE(layer.find(sample("a").key()));
  REQUIRE(::truncate(path.c_str(), 100) == 0);
  for (const std::string& name : three_names) CHECK_FALSE(layer.find(sample(name).key()));
  CHECK(layer.keys().empty());
  REQUIRE(heard.warnings.size() == 1);
  CHECK(says(heard.warnings.front(), "cut short"));
}

TEST_CASE("a listener that throws does no harm") {
  const BundleLayer layer("/nowhere/b", {}, [](std::string_view) { throw 1; });
  CHECK_FALSE(layer.find(sample("a").key()));
}

TEST_CASE("many threads look into one bundle, and one of them opens it") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) names.push_back("record " + std::to_string(i));
  static_cast<void>(write_bundle(path, contents_of(names)));
  Heard heard;
  const BundleLayer layer(path, {}, heard.listener());
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread)
    threads.emplace_back([&] {
      for (const std::string& name : names)
        if (layer.find(sample(name).key()) == sample(name)) ++right;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 8 * 50);
  CHECK(heard.warnings.empty());
}

}  // namespace
}  // namespace jitbag::cache
