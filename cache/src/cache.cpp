#include "jitbag/cache/cache.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <mutex>
#include <system_error>
#include <utility>

#include "jitbag/cache/bundle_layer.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/cache/folder_layer.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Layer> layer_at(const fs::path& path, const std::optional<TrustedKey>& trusted,
                                const Warn& warn) {
  std::error_code missing;
  if (fs::is_regular_file(path, missing)) return std::make_unique<BundleLayer>(path, trusted, warn);
  return std::make_unique<FolderLayer>(path, warn);
}

/// What reading the key file gives; where it cannot be read, nothing and a warning.
template <class Key>
std::optional<Key> read_key(const std::optional<fs::path>& pem, const Warn& warn,
                            std::string_view consequence) {
  if (!pem) return {};
  try {
    return Key::read(*pem);
  } catch (const Error& error) {
    warn(fmt::format("{} {}", error.what(), consequence));
    return {};
  }
}

}  // namespace

struct Cache::State {
  State(CacheOptions given, Warn to) : options(std::move(given)), warn(std::move(to)) {
    if (!warn) warn = [](std::string_view) {};
    if (options.directory) folder.emplace(*options.directory, warn, options.max_bytes);
  }

  /// Keys and layers are opened when a record is first missed in the folder: opening an engine
  /// reads no file.
  void open_lower() {
    std::call_once(opened, [this] {
      const auto trusted = read_key<TrustedKey>(options.trusted_key, warn,
                                                "Bundles and the remote are not used without it.");
      const bool is_key_missing = options.trusted_key && !trusted;
      for (const fs::path& path : options.layers) {
        auto layer = layer_at(path, trusted, warn);
        if (is_key_missing && layer->place() == Place::bundle) continue;
        layers.push_back(std::move(layer));
      }
      if (!options.remote || is_key_missing) return;
      const auto signing =
          options.remote_write
              ? read_key<SigningKey>(options.signing_key, warn,
                                     "Nothing is written to the remote without it.")
              : std::nullopt;
      const bool can_write = options.remote_write && (!options.signing_key || signing);
      remote.emplace(
          RemoteOptions{
              .url = *options.remote, .write = can_write, .trusted = trusted, .signing = signing},
          warn);
    });
  }

  CacheOptions options;
  Warn warn;
  std::optional<DiskCache> folder;
  std::once_flag opened;
  std::vector<std::unique_ptr<Layer>> layers;
  std::optional<Remote> remote;
};

Cache::Cache(CacheOptions options, Warn warn)
    : state_(std::make_shared<State>(std::move(options), std::move(warn))) {}

std::optional<Found> Cache::find(const Digest& key) const {
  if (state_->folder) {
    if (auto record = state_->folder->find(key))
      return Found{std::move(*record), Place::folder, state_->folder->directory().string()};
  }
  for (const auto& layer : layers()) {
    if (auto record = layer->find(key))
      return Found{std::move(*record), layer->place(), layer->where()};
  }
  return {};
}

std::optional<Found> Cache::fetch(const Digest& key) const {
  if (remote() == nullptr) return {};
  auto record = remote()->find(key);
  if (!record) return {};
  return Found{std::move(*record), Place::remote, remote()->where()};
}

bool Cache::store(const Record& record) const {
  return state_->folder && state_->folder->store(record);
}

void Cache::publish(const Record& record, const Producer& producer) const {
  if (remote() == nullptr || !remote()->writes()) return;
  if (remote()->store(record)) remote()->remember(producer);
}

void Cache::discard(const Digest& key) const {
  if (state_->folder) state_->folder->discard(key);
}

Claim Cache::claim(const Digest& key, std::chrono::milliseconds patience) const {
  return state_->folder ? state_->folder->claim(key, patience) : Claim();
}

void Cache::remember(const Producer& producer) const {
  if (state_->folder) state_->folder->remember(producer);
}

std::vector<Producer> Cache::producers() const {
  std::vector<Producer> all;
  const auto add = [&all](const Producer& producer) {
    const auto is_same = [&](const Producer& other) { return other.id == producer.id; };
    if (std::ranges::none_of(all, is_same)) all.push_back(producer);
  };
  if (state_->folder) std::ranges::for_each(state_->folder->producers(), add);
  for (const auto& layer : layers()) std::ranges::for_each(layer->producers(), add);
  if (all.empty() && remote() != nullptr) {
    if (const auto producer = remote()->latest_producer()) add(*producer);
  }
  return all;
}

const DiskCache* Cache::folder() const noexcept {
  return state_->folder ? &*state_->folder : nullptr;
}

const std::vector<std::unique_ptr<Layer>>& Cache::layers() const {
  state_->open_lower();
  return state_->layers;
}

const Remote* Cache::remote() const {
  state_->open_lower();
  return state_->remote ? &*state_->remote : nullptr;
}

}  // namespace jitbag::cache
