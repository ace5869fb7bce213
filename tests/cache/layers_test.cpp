#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cache_folder.hpp"
#include "catch.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/cache.hpp"

namespace jitbag::test {
namespace {

namespace fs = std::filesystem;

/// Folders and bundles to be layers, and what a cache over them warned of.
class Layers {
 public:
  fs::path add_folder(const std::string& name, const std::vector<std::string>& samples) {
    const fs::path path = root_.path() / name;
    const cache::DiskCache disk(path, {});
    for (const std::string& sample_name : samples) REQUIRE(disk.store(sample(sample_name)));
    disk.remember({"build-of-" + name, "the compiler of " + name});
    return path;
  }
  fs::path add_bundle(const std::string& name, const std::vector<std::string>& samples) {
    const fs::path path = root_.path() / name;
    cache::BundleContents contents;
    for (const std::string& sample_name : samples)
      contents.keys.push_back(sample(sample_name).key());
    contents.producers = {{"build-of-" + name, "the compiler of " + name}};
    contents.read = [&](const cache::Digest& key) -> std::optional<cache::Record> {
      for (const std::string& sample_name : samples) {
        if (sample(sample_name).key() == key) return sample(sample_name);
      }
      return {};
    };
    cache::write_bundle(path, contents);
    return path;
  }

  [[nodiscard]] cache::Cache cache(cache::CacheOptions options) {
    return {std::move(options),
            [this](std::string_view sentence) { warnings_.emplace_back(sentence); }};
  }
  [[nodiscard]] const fs::path& root() const { return root_.path(); }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  TemporaryFolder root_;
  std::vector<std::string> warnings_;
};

std::string where(const cache::Cache& cache, const std::string& name) {
  const auto found = cache.find(sample(name).key());
  if (!found) return "nowhere";
  CHECK(found->record == sample(name));
  return found->where;
}

TEST_CASE("the folder is asked first, then the layers in their order") {
  Layers layers;
  const fs::path folder = layers.add_folder("folder", {"a"});
  const fs::path image = layers.add_folder("image", {"a", "b"});
  const fs::path bundle = layers.add_bundle("shipped.bundle", {"a", "b", "c"});
  const cache::Cache cache = layers.cache({.directory = folder, .layers = {image, bundle}});
  CHECK(where(cache, "a") == folder);
  CHECK(where(cache, "b") == image);
  CHECK(where(cache, "c") == bundle);
  CHECK(where(cache, "d") == "nowhere");
  CHECK(cache.find(sample("a").key())->place == cache::Place::folder);
  CHECK(cache.find(sample("b").key())->place == cache::Place::folder);
  CHECK(cache.find(sample("c").key())->place == cache::Place::bundle);
  const cache::Cache turned = layers.cache({.directory = folder, .layers = {bundle, image}});
  CHECK(where(turned, "b") == bundle);
  CHECK(layers.warnings().empty());
}

TEST_CASE("a record that is damaged in one layer is taken from the next") {
  Layers layers;
  const fs::path upper = layers.add_folder("upper", {"a"});
  const fs::path lower = layers.add_bundle("lower.bundle", {"a"});
  write_content(cache::DiskCache(upper, {}).path_of(sample("a").key()), "damage");
  const cache::Cache cache = layers.cache({.layers = {upper, lower}});
  CHECK(where(cache, "a") == lower);
  CHECK(layers.warnings().size() == 1);
}

TEST_CASE("when the layers cover what is asked for, nothing is written anywhere") {
  Layers layers;
  const fs::path image = layers.add_folder("image", {"a"});
  const fs::path bundle = layers.add_bundle("shipped.bundle", {"b"});
  const fs::path folder = layers.root() / "never made";
  const Snapshot before = snapshot(layers.root());
  const cache::Cache cache = layers.cache({.directory = folder, .layers = {image, bundle}});
  CHECK(where(cache, "a") == image);
  CHECK(where(cache, "b") == bundle);
  CHECK(cache.producers().size() == 2);
  CHECK(snapshot(layers.root()) == before);
}

TEST_CASE("what is stored goes into the folder alone") {
  Layers layers;
  const fs::path image = layers.add_folder("image", {"a"});
  const Snapshot before = snapshot(image);
  const fs::path folder = layers.root() / "folder";
  const cache::Cache cache = layers.cache({.directory = folder, .layers = {image}});
  CHECK(cache.store(sample("b")));
  CHECK(where(cache, "b") == folder);
  cache.discard(sample("a").key());
  CHECK(where(cache, "a") == image);
  CHECK(snapshot(image) == before);
}

TEST_CASE("without a folder nothing is stored, nothing is waited for, and the layers serve") {
  Layers layers;
  const fs::path image = layers.add_folder("image", {"a"});
  const cache::Cache cache = layers.cache({.layers = {image}});
  CHECK(cache.folder() == nullptr);
  CHECK_FALSE(cache.store(sample("b")));
  const cache::Claim first = cache.claim(sample("b").key(), std::chrono::hours(1));
  const cache::Claim second = cache.claim(sample("b").key(), std::chrono::hours(1));
  CHECK(where(cache, "a") == image);
  CHECK(layers.warnings().empty());
}

TEST_CASE("producers are those of the folder, then of the layers, each once") {
  Layers layers;
  const fs::path folder = layers.add_folder("folder", {"a"});
  const fs::path image = layers.add_folder("image", {"a"});
  cache::DiskCache(image, {}).remember({"build-of-folder", "the same one"});
  const fs::path bundle = layers.add_bundle("shipped.bundle", {"a"});
  const cache::Cache cache = layers.cache({.directory = folder, .layers = {image, bundle}});
  std::vector<std::string> ids;
  for (const cache::Producer& producer : cache.producers()) ids.push_back(producer.id);
  CHECK(ids ==
        std::vector<std::string>{"build-of-folder", "build-of-image", "build-of-shipped.bundle"});
}

TEST_CASE("a layer that is not there, or is no bundle, costs one warning that names it") {
  Layers layers;
  const fs::path image = layers.add_folder("image", {"a"});
  write_content(layers.root() / "text.bundle", "not a bundle");
  const cache::Cache cache =
      layers.cache({.layers = {layers.root() / "missing", layers.root() / "text.bundle", image}});
  for (int i = 0; i < 3; ++i) CHECK(where(cache, "a") == image);
  REQUIRE(layers.warnings().size() == 2);
  CHECK(layers.warnings()[0].find((layers.root() / "missing").string()) != std::string::npos);
  CHECK(layers.warnings()[1].find((layers.root() / "text.bundle").string()) != std::string::npos);
}

TEST_CASE("a key that is expected and cannot be read shuts bundles out, and says so") {
  Layers layers;
  const fs::path image = layers.add_folder("image", {"a"});
  const fs::path bundle = layers.add_bundle("shipped.bundle", {"a", "b"});
  const cache::Cache cache = layers.cache({.layers = {bundle, image},
                                           .remote = "http://127.0.0.1:1/",
                                           .trusted_key = layers.root() / "no.pem"});
  CHECK(where(cache, "a") == image);
  CHECK(where(cache, "b") == "nowhere");
  CHECK(cache.remote() == nullptr);
  REQUIRE(layers.warnings().size() == 1);
  CHECK(layers.warnings()[0].find("no.pem") != std::string::npos);
}

TEST_CASE("opening a cache reads and makes nothing") {
  Layers layers;
  const fs::path bundle = layers.add_bundle("shipped.bundle", {"a"});
  fs::permissions(bundle, fs::perms::none);
  const cache::Cache cache = layers.cache({.directory = layers.root() / "folder",
                                           .layers = {bundle, layers.root() / "missing"},
                                           .remote = "http://127.0.0.1:1/",
                                           .trusted_key = layers.root() / "no.pem"});
  CHECK(layers.warnings().empty());
  CHECK_FALSE(fs::exists(layers.root() / "folder"));
}

}  // namespace
}  // namespace jitbag::test
