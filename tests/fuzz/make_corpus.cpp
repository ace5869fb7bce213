// make_corpus FOLDER: writes the files that fuzzing starts from, the same ones every time. They are
// committed; run it again when a format changes.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/record.hpp"

namespace {

using namespace jitbag::cache;
namespace fs = std::filesystem;

Record record(std::vector<Field> fields, std::size_t payload_size) {
  Record result{std::move(fields), {}};
  for (std::size_t i = 0; i < payload_size; ++i)
    result.payload.push_back(static_cast<std::byte>(i * i % 251));
  return result;
}

const std::vector<Record>& records() {
  static const std::vector<Record> all = {
      record({}, 0),
      record({{"", ""}}, 1),
      record({{"target", "sm_90"}, {"entry", "k"}}, 40),
      record({{"target", "sm_90"}, {"source", std::string(600, 's')}}, 100),
  };
  return all;
}

BundleContents first_records(std::size_t count) {
  BundleContents contents;
  for (std::size_t i = 0; i < count; ++i) contents.keys.push_back(records()[i].key());
  contents.read = [](const Digest& key) -> std::optional<Record> {
    for (const Record& candidate : records())
      if (candidate.key() == key) return candidate;
    return {};
  };
  return contents;
}

void write_records(const fs::path& folder) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < records().size(); ++i) {
    const std::vector<std::byte> bytes = encode(records()[i]);
    std::ofstream(folder / ("record-" + std::to_string(i)), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
}

void write_bundles(const fs::path& folder) {
  fs::create_directories(folder);
  static_cast<void>(write_bundle(folder / "empty", first_records(0)));
  BundleContents all = first_records(records().size());
  static_cast<void>(write_bundle(folder / "no-producers", all));
  all.producers = {{"build-a", "the first"}, {"build-b", ""}};
  static_cast<void>(write_bundle(folder / "all", all));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "make_corpus: name the folder, such as tests/fuzz/corpus.\n");
    return 2;
  }
  const fs::path folder = arguments[1];
  write_records(folder / "record");
  write_bundles(folder / "bundle");
  return 0;
}
