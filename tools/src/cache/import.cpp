#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "arguments.hpp"
#include "cache/commands.hpp"
#include "cache/record_place.hpp"
#include "cache_here.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/cache/folder_layer.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

struct ImportOptions {
  std::string file;
  std::string trusted_key;
  bool json = false;
};

struct Imported {
  std::size_t stored = 0;
  std::size_t already_there = 0;
  std::vector<std::string> problems = {};
};

/// Stores a record that is whole, and says how it went.
void import_record(const cache::Bundle& bundle, const cache::Digest& key,
                   const cache::DiskCache& folder, const cache::Layer& present,
                   Imported& imported) {
  if (present.find(key)) {
    ++imported.already_there;
    return;
  }
  try {
    const auto record = bundle.find(key);
    if (record && folder.store(*record))
      ++imported.stored;
    else
      imported.problems.push_back(fmt::format("the record {} could not be stored", key.hex()));
  } catch (const cache::Error& error) {
    imported.problems.emplace_back(error.what());
  }
}

Imported import_all(const cache::Bundle& bundle, const cache::DiskCache& folder) {
  const cache::FolderLayer present(folder.directory(), warn);
  const auto entries = bundle.entries();
  Progress progress("cache import", static_cast<std::int64_t>(entries.size()));
  Imported imported;
  for (const auto& entry : entries) {
    import_record(bundle, entry.key, folder, present, imported);
    progress.advance();
  }
  for (const cache::Producer& producer : bundle.producers()) folder.remember(producer);
  return imported;
}

void print_report(const ImportOptions& options, const cache::Bundle& bundle,
                  const cache::DiskCache& folder, const Imported& imported) {
  if (wants_json(options.json)) {
    print_json({{"file", options.file},
                {"signed", bundle.is_signed()},
                {"cache_directory", folder.directory().string()},
                {"records", bundle.size()},
                {"stored", imported.stored},
                {"already_there", imported.already_there},
                {"failed", imported.problems.size()}});
    return;
  }
  fmt::print("{} stored, {} already there, {} failed\n{}\n", imported.stored,
             imported.already_there, imported.problems.size(), folder.directory().string());
}

int run(const ImportOptions& options) {
  cache::CacheOptions cache_options = cache_options_here();
  if (!options.trusted_key.empty()) cache_options.trusted_key = options.trusted_key;
  const cache::Bundle bundle = cache::Bundle::open(options.file, trusted_key(cache_options));
  const cache::DiskCache folder = folder_of(cache_options);
  const auto health = folder.health();
  if (!health.usable) throw cache::Error(health.sentence);
  const Imported imported = import_all(bundle, folder);
  print_report(options, bundle, folder, imported);
  for (const std::string& problem : imported.problems) say_error(problem);
  return imported.problems.empty() ? exit_done : exit_failed;
}

}  // namespace

Command add_cache_import(CLI::App& cache) {
  CLI::App* arguments =
      cache.add_subcommand("import", "Put every kernel of a bundle into the cache folder");
  auto options = std::make_shared<ImportOptions>();
  arguments->add_option("FILE", options->file, "The bundle")->required();
  arguments
      ->add_option("--trust", options->trusted_key,
                   "Ed25519 public key; a bundle that it has not signed is refused. Without it: "
                   "$JITBAG_CACHE_TRUST, if set")
      ->check(file_name())
      ->type_name("KEY.pem");
  arguments->add_flag("--json", options->json, "JSON on a terminal too");
  return {arguments, [options] { return run(*options); }};
}

}  // namespace jitbag::tools
